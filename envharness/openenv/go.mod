module github.com/throughline-go/throughline/envharness/openenv

go 1.26.0

require github.com/throughline-go/throughline v0.0.0

require github.com/coder/websocket v1.8.15

replace github.com/throughline-go/throughline => ../..
