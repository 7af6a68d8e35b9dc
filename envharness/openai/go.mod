module github.com/throughline-go/throughline/envharness/openai

go 1.26.0

require (
	github.com/openai/openai-go/v3 v3.100.0
	github.com/throughline-go/throughline v0.0.0
)

require go.yaml.in/yaml/v3 v3.0.6 // indirect

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/google/go-cmp v0.7.0
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	pgregory.net/rapid v1.3.0
)

replace github.com/throughline-go/throughline => ../..
