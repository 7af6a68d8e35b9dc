package schema

import (
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A made value validates, for every schema keyword alone and for their mixtures.
func TestMaker(t *testing.T) {
	for _, tt := range []struct {
		schema string
		ok     bool
		reason string
	}{
		{`{"const":7}`, true, ""}, {`{"enum":[null,""," ","a"]}`, true, ""}, {`{"examples":["a","b"]}`, true, ""},
		{`{"type":"string","format":"date"}`, true, ""}, {`{"type":"string","format":"date-time"}`, true, ""}, {`{"type":"string","format":"time"}`, true, ""},
		{`{"type":"string","format":"email"}`, true, ""}, {`{"type":"string","format":"uri"}`, true, ""}, {`{"type":"string","format":"uuid"}`, true, ""},
		{`{"type":"string","format":"ipv4"}`, true, ""}, {`{"type":"string","format":"ipv6"}`, true, ""}, {`{"type":"string","format":"hostname"}`, true, ""},
		{`{"type":"string","format":"binary"}`, false, "cannot be said in words"},
		{`{"type":"integer","minimum":1000,"maximum":1003}`, true, ""}, {`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.05}`, true, "narrow"},
		{`{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}`, false, "none exists"}, {`{"type":"integer","maximum":-5}`, true, ""},
		{`{"type":"number","multipleOf":0.01,"minimum":1}`, true, ""}, {`{"type":"integer","multipleOf":7}`, true, ""}, {`{"type":"integer","minimum":1e30}`, false, "out of reach"},
		{`{"type":"string","minLength":40,"maxLength":60}`, true, ""}, {`{"type":"string","maxLength":3}`, true, ""}, {`{"type":"string","minLength":100000}`, false, "too long"},
		{`{"type":"string","pattern":"^(foo|ba[rz])-\\d{2,4}(x|y)?$","maxLength":10}`, true, ""}, {`{"type":"string","pattern":"^[^a-z]+$"}`, true, ""},
		{`{"type":"string","pattern":"^a$","minLength":2}`, false, "none exists"}, {`{"pattern":"(?=x)"}`, false, "outside Go's syntax"},
		{`{"type":"array","items":{"type":"boolean"},"minItems":2,"uniqueItems":true}`, true, ""}, {`{"type":"array","items":{"enum":["a"]},"minItems":2,"uniqueItems":true}`, false, "none exists"},
		{`{"type":"array","maxItems":0}`, true, "empty"}, {`{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"items":{}}`, true, "tuple"},
		{`{"anyOf":[{"type":"string","format":"binary"},{"type":"integer"}]}`, true, "first branch that yields a value"},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, true, "2.5 fits one branch only"},
		{`{"allOf":[{"type":"integer"},{"minimum":50},{"maximum":51}]}`, true, ""}, {`{"type":["null","string"]}`, true, ""}, {`{"type":"null"}`, true, ""},
		{`{"not":{"type":"string"}}`, false, "ours: no search beyond the first kind"}, {`false`, false, ""}, {`true`, true, ""},
		{`{"type":"object","properties":{"a":{"$ref":"#"}}}`, true, "optional recursion ends"},
		{`{"type":"object","properties":{"kind":{"const":"x"}},"required":["kind"],"anyOf":[{"required":["kind"]}]}`, true, ""},
	} {
		s, err := CompileRaw([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		good := 0
		for i := range 20 {
			m := Maker{D: draw.New(1, "test", fmt.Sprint(i)), Optional: 0.5}
			if v, ok := m.Value(s, "thing", 0); ok {
				good++
				if !s.Accepts(&v) {
					t.Errorf("%s: made %s", tt.schema, v.Encode(jsonval.Compact))
				}
			}
		}
		if tt.ok && good < 10 || !tt.ok && good > 0 {
			t.Errorf("%s (%s): %d of 20 values, want some: %v", tt.schema, tt.reason, good, tt.ok)
		}
	}
}

// An optional member that comes out empty is left out: nobody asks for it.
func TestMakerNoEmptyMember(t *testing.T) {
	s, err := CompileRaw([]byte(`{"type":"object","properties":{"a":{"type":"object","properties":{}},"b":{"type":"object","properties":{}}},"required":["b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	m := Maker{D: draw.New(1, "test"), Optional: 1}
	if v, _ := m.Value(s, "x", 0); v.Encode(jsonval.Compact) != `{"b":{}}` {
		t.Errorf("made %s", v.Encode(jsonval.Compact))
	}
}
