module github.com/throughline-go/throughline/midtool/pdfsource

go 1.26.0

require github.com/throughline-go/throughline v0.0.0

replace github.com/throughline-go/throughline => ../..
