module github.com/throughline-go/throughline/examples

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/throughline-go/throughline v0.0.0
)

require (
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/throughline-go/throughline => ..
