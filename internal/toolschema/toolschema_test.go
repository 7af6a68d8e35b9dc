package toolschema_test

import (
	"encoding/json"
	"testing"

	"github.com/throughline-go/throughline/internal/toolschema"
)

func TestObject(t *testing.T) {
	for _, c := range []struct{ schema, want, reason string }{
		{"", toolschema.None, "no schema"},
		{" null ", toolschema.None, "null"},
		{"{}", toolschema.None, "anything"},
		{"{ }", `{"type":"object","properties":{} }`, "with a space"},
		{`{"type":"object"}`, `{"properties":{},"type":"object"}`, "as MCP servers have it"},
		{` {"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`, "neither"},
		{`{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, "no type"},
		{`{ "properties" : {}, "type": "object" }`, `{ "properties" : {}, "type": "object" }`, "complete: byte for byte"},
		{`{"type":"string"}`, `{"type":"string"}`, "another type"},
		{`true`, `true`, "no object"},
		{`{"type":`, `{"type":`, "no JSON"},
	} {
		got := toolschema.Object(json.RawMessage(c.schema))
		if string(got) != c.want {
			t.Errorf("%s: %s gives %s, want %s", c.reason, c.schema, got, c.want)
		}
	}
}

// What goes in is not written over.
func TestInputStays(t *testing.T) {
	backing := []byte(`{"type":"object"}`)
	toolschema.Object(backing)
	if string(backing) != `{"type":"object"}` {
		t.Errorf("%s", backing)
	}
}
