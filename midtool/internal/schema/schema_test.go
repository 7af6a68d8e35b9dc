package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestSchemaFaults(t *testing.T) {
	for _, tt := range []struct {
		schema, value string
		want          string // path and keyword of the faults
		reason        string
	}{
		{`{"type":"integer"}`, `1.0`, ``, "1.0 is a valid integer"},
		{`{"type":"integer"}`, `1.5`, ` type`, ""},
		{`{"type":"integer"}`, `1e300`, ``, "every large float is integral"},
		{`{"type":"number"}`, `12345678901234567890`, ``, "integers are numbers"},
		{`{"type":["string","null"]}`, `null`, ``, "list of types"},
		{`{"maximum":9007199254740992}`, `9007199254740993`, ` maximum`, "compared without rounding"},
		{`{"enum":[9007199254740993]}`, `9007199254740992`, ` enum`, "compared without rounding"},
		{`{"enum":[1,"a"]}`, `1.0`, ``, "1 equals 1.0"},
		{`{"const":{"a":[1.0]}}`, `{"a":[1]}`, ``, "deep equality"},
		{`{"multipleOf":0.01}`, `0.07`, ``, "decimal, not binary, division"},
		{`{"multipleOf":0.01}`, `0.075`, ` multipleOf`, ""},
		{`{"minimum":1,"exclusiveMaximum":3}`, `3`, ` exclusiveMaximum`, ""},
		{`{"exclusiveMinimum":1,"maximum":3}`, `1`, ` exclusiveMinimum`, ""},
		{`{"minimum":1}`, `"a"`, ``, "bounds bind numbers only"},
		{`{"maxLength":2}`, `"日本"`, ``, "lengths in code points"},
		{`{"minLength":3,"pattern":"^x"}`, `"a"`, ` minLength| pattern`, "all faults"},
		{`{"pattern":"(?=x)"}`, `"a"`, ``, "a pattern outside Go's syntax is skipped"},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"],"additionalProperties":false}`, `{"a":1,"c":2}`,
			` required|/a type|/c false`, "places"},
		{`{"additionalProperties":{"type":"integer"},"properties":{"a":{}}}`, `{"a":"x","b":"y"}`, `/b type`, "schema for the rest"},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `["a",1,"b",2]`, `/2 type`, "items after the prefix"},
		{`{"minItems":2,"maxItems":3,"uniqueItems":true}`, `[1,1.0]`, ` uniqueItems`, "1 equals 1.0"},
		{`{"minItems":2}`, `[]`, ` minItems`, ""}, {`{"maxItems":1}`, `[1,2]`, ` maxItems`, ""},
		{`{"anyOf":[{"type":"string"},{"minimum":3}]}`, `2`, ` anyOf`, ""},
		{`{"oneOf":[{"type":"integer"},{"minimum":3}]}`, `5`, ` oneOf`, "both accept"},
		{`{"allOf":[{"type":"integer"},{"minimum":3}]}`, `2`, ` minimum`, "place of the branch's fault"},
		{`{"not":{"type":"string"}}`, `"a"`, ` not`, ""},
		{`{"properties":{"t":{"$ref":"#/$defs/tree"}},"$defs":{"tree":{"type":"object","properties":{"kids":{"items":{"$ref":"#/$defs/tree"}}}}}}`,
			`{"t":{"kids":[{"kids":[{}]},{"kids":[5]}]}}`, `/t/kids/1/kids/0 type`, "recursion along the value"},
		{`{"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"string"}}}`, `1`, ` type`, "escapes of pointer and address"},
		{`{"properties":{"a/b~c":{"type":"string"}}}`, `{"a/b~c":1}`, `/a~1b~0c type`, "escapes of the place"},
		{`{"properties":{"Enum":{"ENUM":["x"]}}}`, `{"Enum":"y"}`, ``, "keywords match by case"},
		{`{"allOf":[{"$ref":"#"}]}`, `1`, ` $ref`, "a recursion that consumes nothing ends"},
		{`{"not":{"$ref":"#"}}`, `1`, `*`, "ends"},
		{`{"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}`, `{"x1":"a","x2":1,"y":1}`, `/x1 type|/y false`, "names that match are spoken of"},
		{`{"patternProperties":{"(?=x)":false},"additionalProperties":false}`, `{"x":1}`, ``, "a pattern outside Go's syntax may match any name"},
		{`{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a":1,"B":2}`, `/B propertyNames`, "names are strings"},
		{`{"minProperties":1}`, `{}`, ` minProperties`, ""}, {`{"maxProperties":1}`, `{"a":1,"b":2}`, ` maxProperties`, ""}, {`{"maxProperties":0}`, `{}`, ``, "zero is a bound"},
		{`{"if":{"type":"string"},"then":false,"contains":false,"dependentRequired":{"a":["b"]}}`, `"a"`, ``, "annotations"},
		{`{"properties":{"a":true,"b":false}}`, `{"a":1,"b":2}`, `/b false`, "boolean schemas"},
	} {
		s, err := CompileRaw([]byte(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		v, err := jsonval.Parse([]byte(tt.value))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range s.Faults(&v) {
			got = append(got, f.Path+" "+f.Keyword)
		}
		if tt.want == "*" {
			continue
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s with %s (%s) (-want +got):\n%s", tt.schema, tt.value, tt.reason, diff)
		}
		if s.Accepts(&v) != (tt.want == "") {
			t.Errorf("%s with %s: accepts and faults disagree", tt.schema, tt.value)
		}
	}
}

// Schemas built to explode end in bounded time.
func TestSchemaBounds(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	s, err := CompileRaw([]byte(`{"$ref":"#/$defs/d0","$defs":{` + b.String() + `"d60":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Accepts(&jsonval.Value{Kind: jsonval.Number, Text: "1"}) {
		t.Error("2^60 branches that all refuse were accepted")
	}
	b.Reset()
	for i := range 100_000 {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	if _, err := CompileRaw([]byte(`{"$ref":"#/$defs/d0","$defs":{` + b.String() + `"d100000":{}}}`)); err == nil {
		t.Error("a chain of 100,000 references was accepted")
	}
}

func TestSchemaMember(t *testing.T) {
	s, err := CompileRaw([]byte(`{"properties":{"a":{"description":"property"}},"patternProperties":{"^a":{"description":"pattern"},"b$":{"description":"second"},
		"(?=c)":{"description":"unread"}},"allOf":[{"properties":{"ab":{"description":"branch"}},"patternProperties":{"^z":{"description":"inner"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ key, want, reason string }{
		{"a", "property", "a property counts before a pattern"}, {"ab", "branch", "that of a branch too"}, {"aab", "pattern", "the first pattern that matches"},
		{"bb", "second", "the second"}, {"z", "inner", "the pattern of a branch"}, {"q", "", "perhaps the pattern that cannot be read"},
	} {
		if m := s.Member(tt.key); m == nil || m.Description != tt.want || m.Never {
			t.Errorf("%s: %q gives %v, want %q", tt.reason, tt.key, m, tt.want)
		}
	}
	if m := s.Member("q"); !m.Accepts(&jsonval.Value{}) || !m.Accepts(&jsonval.Value{Kind: jsonval.String, Text: "x"}) {
		t.Error("what a pattern outside Go's syntax says is held against a value")
	}
	if s, _ = CompileRaw([]byte(`{"patternProperties":{"^a":{}}}`)); s.Member("b") != nil || s.Member("a") == nil {
		t.Error("a name that does not match, or one that does")
	}
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `"x%d$":{},`, i)
	}
	if s, _ = CompileRaw([]byte(`{"patternProperties":{` + b.String() + `"y":{}}}`)); s.Member("x7") == nil || s.Member("y") != nil {
		t.Error("the number of patterns tried has no bound")
	}
	if (*Schema)(nil).Member("a") != nil {
		t.Error("a member of nothing")
	}
}

// What patterns and enums read of a value again and again is bounded.
func TestSchemaReads(t *testing.T) {
	long := jsonval.NewString(strings.Repeat("a", 1<<16))
	for keyword, bytes := range map[string]int{`"pattern":"^a*$"`: patternBytes, `"enum":["a"]`: formBytes, `"const":"a"`: formBytes} {
		s, err := CompileRaw([]byte(`{"allOf":[` + strings.Repeat(`{"not":{`+keyword+`}},`, 2) + `{}]}`))
		if err != nil {
			t.Fatal(err)
		}
		var c checker
		c.check(s, &long, "", 0)
		if c.visits < 1<<16/bytes {
			t.Errorf("%s: %d visits for a text of 64 KiB", keyword, c.visits)
		}
	}
}
