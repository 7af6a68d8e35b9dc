module github.com/throughline-go/throughline/midtool/pdfsource

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/klippa-app/go-pdfium v1.21.4
	github.com/tetratelabs/wazero v1.12.0
	github.com/throughline-go/throughline v0.0.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/jolestar/go-commons-pool/v2 v2.1.2 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/throughline-go/throughline => ../..
