module github.com/throughline-go/throughline/envharness/openenv

go 1.26.0

require github.com/throughline-go/throughline v0.0.0

require (
	github.com/coder/websocket v1.8.15
	github.com/google/go-cmp v0.7.0
	pgregory.net/rapid v1.3.0
)

require gonum.org/v1/gonum v0.17.0 // indirect

replace github.com/throughline-go/throughline => ../..
