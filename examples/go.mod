module github.com/throughline-go/throughline/examples

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/google/go-cmp v0.7.0
	github.com/modelcontextprotocol/go-sdk v1.7.0
	github.com/throughline-go/throughline v0.0.0
	github.com/throughline-go/throughline/envharness/mcpenv v0.0.0
	github.com/throughline-go/throughline/envharness/openai v0.0.0
	github.com/throughline-go/throughline/envharness/openenv v0.0.0
	github.com/throughline-go/throughline/midtool/mcpsource v0.0.0
	github.com/throughline-go/throughline/midtool/openapisource v0.0.0
	github.com/throughline-go/throughline/midtool/parquetsink v0.0.0
	github.com/throughline-go/throughline/midtool/pdfsource v0.0.0
	golang.org/x/image v0.30.0
	gonum.org/v1/plot v0.17.0
)

require (
	codeberg.org/go-latex/latex v0.2.0 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jolestar/go-commons-pool/v2 v2.1.2 // indirect
	github.com/klauspost/compress v1.17.9 // indirect
	github.com/klippa-app/go-pdfium v1.21.4 // indirect
	github.com/openai/openai-go/v3 v3.100.0 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/parquet-go/parquet-go v0.32.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/throughline-go/throughline/internal/mcpclient v0.0.0 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)

replace (
	github.com/throughline-go/throughline => ..
	github.com/throughline-go/throughline/envharness/mcpenv => ../envharness/mcpenv
	github.com/throughline-go/throughline/envharness/openai => ../envharness/openai
	github.com/throughline-go/throughline/envharness/openenv => ../envharness/openenv
	github.com/throughline-go/throughline/internal/mcpclient => ../internal/mcpclient
	github.com/throughline-go/throughline/midtool/mcpsource => ../midtool/mcpsource
	github.com/throughline-go/throughline/midtool/openapisource => ../midtool/openapisource
	github.com/throughline-go/throughline/midtool/parquetsink => ../midtool/parquetsink
	github.com/throughline-go/throughline/midtool/pdfsource => ../midtool/pdfsource
)
