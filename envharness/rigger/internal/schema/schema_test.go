package schema

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		schema string
		want   []string
		reason string
	}{
		{`{"type":"object","properties":{"b":{},"a":{}},"required":["a"],"additionalProperties":false}`, []string{"a", "b"}, "in order of their names"},
		{`{"$schema":"x","$defs":{},"title":"t","properties":{"a":{}},"additionalProperties":true}`, []string{"a"}, "what says nothing of arguments"},
		{`{"type":"object","properties":{"a":{}},"oneOf":[]}`, nil, "a schema that says more cannot be changed in one place"},
		{`{"type":"array","properties":{"a":{}}}`, nil, "no object"},
		{`{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, nil, "arguments without a name here"},
		{`{"properties":{"a":{}},"required":["b"]}`, nil, "one that is needed and not described"},
		{`{"properties":{"a":{}},"required":"a"}`, nil, "no list"},
		{`{"type":"object"}`, nil, "no arguments"},
		{``, nil, "no schema, no arguments"},
		{`[]`, nil, "no schema at all"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		if got := Arguments(json.RawMessage(tt.schema)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}
