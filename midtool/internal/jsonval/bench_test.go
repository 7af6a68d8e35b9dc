package jsonval

import (
	"fmt"
	"strings"
	"testing"
)

// benchSchema is a tool schema of about 1,000 bytes.
func benchSchema() string {
	var props []string
	for i := range 10 {
		props = append(props, fmt.Sprintf(`"a%d":{"type":"string","description":"Name of the city, as on the map.","enum":["one","two"]}`, i))
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":["a0","a1"],"additionalProperties":false}`
}

const benchArguments = `{"city":"Zürich","units":"metric","days":7,"alerts":true,"near":[47.37,8.54],"filter":{"min":1,"max":9}}`

func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, text string }{{"schema", benchSchema()}, {"arguments", benchArguments},
		{"100 schemas", "[" + strings.Repeat(benchSchema()+",", 99) + benchSchema() + "]"}} {
		b.Run(bb.name, func(b *testing.B) {
			data := []byte(bb.text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	v, err := Parse([]byte(benchSchema()))
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct {
		name string
		form Form
	}{{"compact", Compact}, {"canonical", Canonical}} {
		b.Run(bb.name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(benchSchema())))
			b.ReportAllocs()
			for b.Loop() {
				dst = v.Append(dst[:0], bb.form)
			}
		})
	}
}
