module github.com/throughline-go/throughline/midtool/openapisource

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/throughline-go/throughline v0.0.0
	go.yaml.in/yaml/v3 v3.0.6
	pgregory.net/rapid v1.3.0
)

replace github.com/throughline-go/throughline => ../..
