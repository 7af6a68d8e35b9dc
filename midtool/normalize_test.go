package midtool

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
	"pgregory.net/rapid"
)

func BenchmarkNormalize(b *testing.B) {
	t := clean().Tools[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Normalize(t); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNormalize(t *testing.T) {
	const in = `{"type":"object","properties":{"x":`
	const out = `}}`
	for _, tt := range []struct {
		name, in, want string
		lossy          []string
		reason         string
	}{
		{"null", `null`, `{"type":"object","properties":{}}`, nil, "no parameters"},
		{"empty", `{}`, `{"type":"object","properties":{}}`, nil, "no parameters"},
		{"no properties", `{"type":"object"}`, `{"type":"object","properties":{}}`, nil, "an object has properties"},
		{"schema dropped", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{}}`, `{"type":"object","properties":{}}`, nil, "the draft says nothing more"},
		{"property named type", in + `{"type":"dict","properties":{"type":{"type":"str"},"date":{"type":"date","description":"a date, not a string"}}}` + out,
			in + `{"type":"object","properties":{"type":{"type":"string"},"date":{"type":"string","description":"a date, not a string","format":"date"}}}` + out,
			nil, "names and prose stay"},
		{"java words", `{"type":"HashMap","properties":{"a":{"type":"long"},"b":{"type":"ArrayList","items":{"type":"Float"}},"c":{"type":"set","items":{"type":"char"}},"d":{"type":"any"},"e":{"type":"file"}}}`,
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array","items":{"type":"number"}},"c":{"type":"array","items":{"type":"string"},"uniqueItems":true},"d":{},"e":{"type":"string","format":"binary"}}}`,
			nil, "words of other languages"},
		{"composite words", `{"properties":{"a":{"type":"List[List[int]]"},"b":{"type":"Dict[str, float]"},"c":{"type":"Optional[str]"},"d":{"type":"Union[int, str[]]"},"e":{"type":"bool[]"}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},"b":{"type":"object","additionalProperties":{"type":"number"},"properties":{}},` +
				`"c":{"type":["string","null"]},"d":{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"string"}}]},"e":{"type":"array","items":{"type":"boolean"}}}}`,
			nil, "composite words"},
		{"optional suffix", `{"properties":{"a":{"type":"str, optional"},"b":{"type":"str"}},"required":["a","b"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]}`, nil, "removed from required"},
		{"unknown word", in + `{"type":"Banana"}` + out, in + `{}` + out, []string{"unknown_type:Banana"}, "type removed, lossy"},
		{"top anyOf", `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]},{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["b"]}`,
			[]string{"top_union_merged"}, "properties united, required intersected"},
		{"top allOf", `{"allOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}`, []string{"top_union_merged"}, "required united"},
		{"required-only branches", `{"type":"object","properties":{"a":{},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}}}`, []string{"top_union_merged"}, "nothing is required by all"},
		{"top enum", `{"type":"string","enum":["a","b"]}`, `{"type":"object","properties":{"value":{"type":"string","enum":["a","b"]}},"required":["value"]}`,
			[]string{"wrapped"}, "no object at the top"},
		{"wrapped references", `{"type":"array","items":{"$ref":"#/$defs/n"},"prefixItems":[{"$ref":"#"}],"$defs":{"n":{"type":"int"}}}`,
			`{"type":"object","properties":{"value":{"type":"array","items":{"$ref":"#/$defs/n"},"prefixItems":[{"$ref":"#/properties/value"}]}},"required":["value"],"$defs":{"n":{"type":"integer"}}}`,
			[]string{"wrapped"}, "references follow the schema"},
		{"top reference", `{"$ref":"#/$defs/args","$defs":{"args":{"type":"object","properties":{"a":{"type":"str"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"$defs":{"args":{"type":"object","properties":{"a":{"type":"string"}}}}}`, nil, "put in its place"},
		{"bad properties", `{"properties":{"a":"string","b":5,"c":[],"d":true,"e":false,"f":null},"required":["a","d"]}`,
			`{"type":"object","properties":{"d":{}},"required":["d"]}`,
			[]string{"property_dropped:a", "property_dropped:b", "property_dropped:c", "property_dropped:e", "property_dropped:f", "required_dropped:a"}, "no schemas, and what was required of them"},
		{"nullable", in + `{"type":"string","enum":["a"],"nullable":true}` + out, in + `{"type":["string","null"],"enum":["a",null]}` + out, nil, "the type and the enum gain null"},
		{"nullable beside $ref", `{"properties":{"x":{"$ref":"#/$defs/d","nullable":true,"description":"D"}},"$defs":{"d":{"type":"string"}}}`,
			`{"type":"object","properties":{"x":{"description":"D","anyOf":[{"$ref":"#/$defs/d"},{"type":"null"}]}},"$defs":{"d":{"type":"string"}}}`,
			nil, "a branch beside the reference"},
		{"nullable in oneOf", in + `{"oneOf":[{"type":"string"},{"type":"integer"}],"nullable":true}` + out,
			in + `{"anyOf":[{"oneOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}` + out, nil, "a branch beside the union"},
		{"nullable on items", in + `{"type":"array","items":{"type":"string","nullable":true}}` + out, in + `{"type":"array","items":{"type":["string","null"]}}` + out,
			nil, "as elsewhere"},
		{"3.1 null", in + `{"type":["string","null"]}` + out, in + `{"type":["string","null"]}` + out, nil, "same as nullable"},
		{"draft 4", in + `{"type":"integer","minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}` + out,
			in + `{"type":"integer","exclusiveMinimum":1,"maximum":9}` + out, nil, "numeric bounds"},
		{"no items", in + `{"type":"array"}` + out, in + `{"type":"array","items":{}}` + out, []string{"items_added"}, "items are added"},
		{"items list", in + `{"type":"array","items":[{"type":"str"},{"type":"int"}]}` + out,
			in + `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":{}}` + out, []string{"items_added"}, "the tuple of older drafts is kept"},
		{"optional tuple", in + `{"anyOf":[{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}]},{"type":"null"}]}` + out,
			in + `{"anyOf":[{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":{}},{"type":"null"}]}` + out,
			[]string{"items_added"}, "items are added to the tuple and null is kept"},
		{"default", in + `{"type":"integer","default":"5"}` + out, in + `{"type":"integer"}` + out, []string{"default_dropped"}, "of the wrong type"},
		{"default 1.0", in + `{"type":"integer","default":1.0}` + out, in + `{"type":"integer","default":1.0}` + out, nil, "1.0 is an integer"},
		{"default null", in + `{"type":"string","nullable":true,"default":null}` + out, in + `{"type":["string","null"],"default":null}` + out, nil, "null is allowed there"},
		{"enum", in + `{"enum":["a","b","a",1,1.0]}` + out, in + `{"enum":["a","b",1]}` + out, nil, "1 equals 1.0"},
		{"wrong kinds", in + `{"type":"string","minLength":"3","required":"yes","enum":[],"title":7}` + out, in + `{"type":"string"}` + out,
			[]string{"keyword_dropped:minLength", "keyword_dropped:required", "keyword_dropped:enum"}, "no reader agrees on them"},
		{"null keywords", in + `{"type":"object","enum":null,"required":null,"properties":[],"default":null,"items":null}` + out,
			in + `{"type":"object","items":{},"properties":{}}` + out, []string{"items_added", "default_dropped"}, "how some languages write that there is none"},
		{"draft 3 required", `{"properties":{"a":{"type":"string","required":true},"b":{"type":"string","required":false},"c":{"type":"object","properties":{"d":{"required":true}}}},"required":["c"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"object","properties":{"d":{}},"required":["d"]}},"required":["c","a"]}`,
			nil, "the word of the property goes to its parent"},
		{"draft 3 required elsewhere", in + `{"type":"array","items":{"type":"string","required":true}}` + out, in + `{"type":"array","items":{"type":"string"}}` + out,
			[]string{"keyword_dropped:required"}, "an item has no name to require"},
		{"draft 4 tuple", in + `{"type":"array","additionalItems":{"type":"int"},"items":[{"type":"str"}]}` + out,
			in + `{"type":"array","items":{"type":"integer"},"prefixItems":[{"type":"string"}]}` + out, nil, "the schema of further items becomes that of the items"},
		{"draft 4 closed tuple", in + `{"type":"array","items":[{"type":"str"}],"additionalItems":false}` + out,
			in + `{"type":"array","prefixItems":[{"type":"string"}],"items":{}}` + out, []string{"items_added"}, "items are always an object"},
		{"empty tuple", in + `{"type":"array","items":[]}` + out, in + `{"type":"array","items":{}}` + out, []string{"items_added"}, "nothing is said of the items"},
		{"unions in words", `{"properties":{"a":{"type":"str | None"},"b":{"type":"List[int|str]"},"c":{"type":"int|banana"}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"string"}]}},"c":{}}}`,
			[]string{"unknown_type:int|banana"}, "A | B is Union[A,B]"},
		{"angle brackets", in + `{"type":"Map<String, ArrayList<Integer>>"}` + out,
			in + `{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}},"properties":{}}` + out, nil, "generics of Java and TypeScript"},
		{"upper case", `{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
			nil, "the dialect of Gemini"},
		{"nullable everywhere", `{"properties":{"a":{"additionalProperties":{"type":"string","nullable":true}},"b":{"prefixItems":[{"type":"string","nullable":true}],"items":{}},` +
			`"c":{"allOf":[{"type":"string","nullable":true}]},"d":{"const":1,"nullable":true},"e":{"$ref":"#/definitions/x"}},"patternProperties":{"^z":{"type":"string","nullable":true}},` +
			`"definitions":{"x":{"enum":["y"],"nullable":true}}}`,
			`{"type":"object","properties":{"a":{"additionalProperties":{"type":["string","null"]}},"b":{"prefixItems":[{"type":["string","null"]}],"items":{}},` +
				`"c":{"allOf":[{"type":["string","null"]}]},"d":{"anyOf":[{"const":1},{"type":"null"}]},"e":{"$ref":"#/definitions/x"}},` +
				`"patternProperties":{"^z":{"type":["string","null"]}},"definitions":{"x":{"enum":["y",null]}}}`, nil, "every position"},
		{"property map", `{"type":{"type":"str","description":"kind"},"limit":{"type":"int, optional","default":5}}`,
			`{"type":"object","properties":{"type":{"type":"string","description":"kind"},"limit":{"type":"integer","default":5}}}`, []string{"property_map"},
			"bare properties in place of the schema"},
		{"no property map", `{"items":{"type":"string"}}`, `{"type":"object","properties":{"value":{"items":{"type":"string"}}},"required":["value"]}`,
			[]string{"wrapped"}, "a keyword, not a name"},
		{"reference with siblings", `{"properties":{"x":{"$ref":"#/$defs/d","description":"D","default":3}},"$defs":{"d":{"type":"string"}}}`,
			`{"type":"object","properties":{"x":{"$ref":"#/$defs/d","description":"D","default":3}},"$defs":{"d":{"type":"string"}}}`, nil, "they stay beside it"},
		{"recursive reference", `{"properties":{"x":{"$ref":"#"}}}`, `{"type":"object","properties":{"x":{"$ref":"#"}}}`, nil, "allowed"},
		{"no schema", in + `{"type":"string","not":5,"additionalProperties":"x"}` + out, in + `{"type":"string"}` + out,
			[]string{"keyword_dropped:not", "keyword_dropped:additionalProperties"}, "not true would refuse everything"},
		{"same branch again", `{"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"object","properties":{"x":{}},"required":["x"]}}}`,
			`{"type":"object","$defs":{"a":{"type":"object","properties":{"x":{}},"required":["x"]}},"properties":{"x":{}},"required":["x"]}`,
			[]string{"top_union_merged"}, "it says nothing new"},
		{"anyOf required stays", in + `{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}` + out,
			in + `{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}` + out, nil, "a branch names the properties of its parent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			got, err := Normalize(Tool{Name: "t", Parameters: []byte(tt.in)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got.Parameters)); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.lossy, got.Lossy); diff != "" {
				t.Errorf("lossy (-want +got):\n%s", diff)
			}
			checkNormalize(t, Tool{Name: "t", Parameters: []byte(tt.in)})
		})
	}
}

func TestNormalizeRejects(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 70) + `{}` + strings.Repeat(`}`, 70)
	for _, tt := range []struct {
		tool   Tool
		reason string
	}{
		{Tool{Parameters: []byte(`{}`)}, "no_name"},
		{Tool{Name: "a\xff"}, "invalid_utf8"},
		{Tool{Name: "a", Description: "\xff"}, "invalid_utf8"},
		{Tool{Name: "a", License: "\xff"}, "invalid_utf8"},
		{Tool{Name: "a", Parameters: []byte("{\"title\":\"\xff\"}")}, "bad_schema"},
		{Tool{Name: "a", Parameters: []byte(`{"maximum":NaN}`)}, "bad_schema"},
		{Tool{Name: "a", Parameters: []byte(`[]`)}, "bad_schema"},
		{Tool{Name: "a", Parameters: []byte(`{"properties":` + strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1001))}, "too_deep"},
		{Tool{Name: "a", Parameters: []byte(`{"properties":{"x":{"patternProperties":{"a":{"$ref":"#/x"}}}}}`)}, "bad_ref"},
		{Tool{Name: "a", Parameters: []byte(`"string"`)}, "bad_schema"},
		{Tool{Name: "a", Parameters: []byte(`false`)}, "bad_schema"},
		{Tool{Name: "a", Parameters: []byte(`{"type"`)}, "bad_schema"},
		{Tool{Name: "a", Parameters: []byte(`{"properties":{"x":{"$ref":"http://example.com/s.json"}}}`)}, "remote_ref"},
		{Tool{Name: "a", Parameters: []byte(`{"properties":{"x":{"$ref":"#/$defs/none"}}}`)}, "bad_ref"},
		{Tool{Name: "a", Parameters: []byte(`{"$ref":"#"}`)}, "bad_ref"},
		{Tool{Name: "a", Parameters: []byte(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`)}, "bad_ref"},
		{Tool{Name: "a", Parameters: []byte(deep)}, "too_deep"},
		{Tool{Name: "a", Parameters: []byte(`{"anyOf":[` + strings.Repeat(`{"required":["a"]},`, 256) + `{"required":["a"]}]}`)}, "bad_schema"},
	} {
		_, err := Normalize(tt.tool)
		var r *Rejection
		if !errors.As(err, &r) || r.Reason != tt.reason || r.Tool != tt.tool.Name {
			t.Errorf("Normalize(%q, %.60s) = %v, want reason %s", tt.tool.Name, tt.tool.Parameters, err, tt.reason)
		}
	}
}

func TestRejection(t *testing.T) {
	at := Origin{Locator: "t.jsonl", Line: 3}
	for _, tt := range []struct {
		r            Rejection
		want, reason string
	}{
		{Rejection{Reason: "bad_ref", Detail: "#/a"}, "midtool: bad_ref: #/a", "a schema alone"},
		{Rejection{Origin: at, Reason: "no_name"}, "midtool: t.jsonl:3: no_name", "a tool without a name"},
		{Rejection{Tool: "f", Origin: at, Reason: "too_deep", Detail: "65"}, `midtool: t.jsonl:3: tool "f": too_deep: 65`, "a tool"},
		{Rejection{Tool: "f", Sample: "s/1", Path: "/messages/1", Reason: "leak"}, `midtool: tool "f", sample "s/1": leak at /messages/1`, "a sample of a tool"},
		{Rejection{Sample: "s/1", Reason: "leak"}, `midtool: sample "s/1": leak`, "a sample of no one tool"},
	} {
		if got := tt.r.Error(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
}

func TestToolID(t *testing.T) {
	tool, err := Normalize(Tool{Name: "get_weather", Description: "Returns the current weather for a city.", Parameters: []byte(`{"type": "object",
		"properties": {"city": {"type": "string", "description": "City name."}, "units": {"type": "string", "enum": ["metric", "imperial"]}}, "required": ["city"]}`)})
	if err != nil || tool.ID != "t_6d0b22cff312d395" {
		t.Errorf("ID %s, %v", tool.ID, err)
	}
	moved := tool
	moved.Group, moved.License, moved.Origin = "g", "MIT", Origin{Kind: "mcp", Locator: "f", Line: 3, SHA256: "ab"}
	if again, _ := Normalize(moved); again.ID != tool.ID {
		t.Error("provenance changed the ID")
	}
}

// checkNormalize: a tool is rejected with a reason, or normal form is a fixed point that compiles.
func checkNormalize(t interface {
	Helper()
	Fatalf(string, ...any)
}, tool Tool) {
	t.Helper()
	once, err := Normalize(tool)
	if err != nil {
		var r *Rejection
		if !errors.As(err, &r) || r.Reason == "" {
			t.Fatalf("error without reason: %v", err)
		}
		return
	}
	twice, err := Normalize(once)
	if err != nil {
		t.Fatalf("second pass of %s: %v", once.Parameters, err)
	}
	if !reflect.DeepEqual(once, twice) {
		t.Fatalf("not idempotent for %s (-once +twice):\n%s", tool.Parameters, cmp.Diff(once, twice))
	}
	if _, err := schema.CompileRaw(once.Parameters); err != nil {
		t.Fatalf("%s does not compile: %v", once.Parameters, err)
	}
	root, _ := jsonval.Parse(once.Parameters)
	if jsonval.StringOf(root.Get("type")) != "object" || root.Get("properties") == nil {
		t.Fatalf("not an object with properties: %s", once.Parameters)
	}
}

// The normalizer is idempotent and its result compiles.
func TestNormalizeIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkNormalize(t, Tool{Name: "t", Parameters: []byte(marshal(schematest.Schema(3).Draw(t, "schema")))})
	})
}

func marshal(v any) string {
	n, err := jsonval.Parse([]byte(toJSON(v)))
	if err != nil {
		panic(err)
	}
	return n.Encode(jsonval.Canonical)
}

// A value valid before stays valid where no lossy step was taken. Only schemas in the standard dialect say what was valid before.
func TestNormalizeKeepsValues(t *testing.T) {
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		property := marshal(schematest.Schema(2).Draw(t, "schema"))
		for _, dialect := range []string{`"int`, `List`, `Optional`, `Dict`, `Union`, `"date"`, `tuple`, `banana`, `"str`, `"set"`, `"exclusiveMinimum":true`, `"type":7`,
			`int |`, `Map`, `"required":true`, `"items":[`} {
			if strings.Contains(strings.ReplaceAll(property, `"integer"`, ""), dialect) {
				return
			}
		}
		// Null that a schema allows is null that its negation, or an alternative beside it, refuses: before, a validator looks past nullable.
		if strings.Contains(property, `"nullable":true`) && (strings.Contains(property, `"not"`) || strings.Contains(property, `"oneOf"`)) {
			return
		}
		raw := `{"type":"object","properties":{"p":` + property + `},"$defs":{"d":{"type":"string"}}}`
		before, err := schema.CompileRaw([]byte(raw))
		if err != nil {
			return
		}
		n, err := Normalize(Tool{Name: "t", Parameters: []byte(raw)})
		if err != nil || len(n.Lossy) > 0 {
			return
		}
		after, err := schema.CompileRaw(n.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			m := schema.Maker{D: draw.New(uint64(i), "test", raw), Optional: 1}
			if v, ok := m.Value(before, "t", 0); ok {
				if checked++; !after.Accepts(&v) {
					t.Fatalf("%s was valid for %s and is not for %s", v.Encode(jsonval.Compact), raw, n.Parameters)
				}
			}
		}
	})
	if checked == 0 {
		t.Error("no value was checked")
	}
}

// FuzzNormalize: any schema text is rejected with a reason or has a normal form that is a fixed point; made values validate.
func FuzzNormalize(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"a":{"type":"List[Dict[str,Optional[int]]]"}},"required":["a"]}`,
		`{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}],"$defs":{"x":{"nullable":true,"oneOf":[{}]}}}`, `{"properties":{"p":{"pattern":"^[a-c]{2,5}\\d+$"}},"required":["p"]}`,
		`{"type":["int","null"],"exclusiveMinimum":true,"minimum":3}`, `{"properties":{"a":{"multipleOf":0.1,"minimum":1e18}},"required":["a"]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<14 {
			return
		}
		tool := Tool{Name: "t", Parameters: raw}
		checkNormalize(t, tool)
		n, err := Normalize(tool)
		if err != nil {
			return
		}
		s, err := schema.CompileRaw(n.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		m := schema.Maker{D: draw.New(1, "fuzz"), Optional: 0.5}
		if v, ok := m.Value(s, "t", 0); ok && !s.Accepts(&v) {
			t.Fatalf("made %s for %s", v.Encode(jsonval.Compact), n.Parameters)
		}
	})
}

// A schema of keywords alone is none of bare properties, whatever the keywords hold.
func TestPropertyMap(t *testing.T) {
	for in, want := range map[string]bool{
		`{"city":{"type":"string"},"days":{"type":"integer"}}`: true,
		`{"additionalItems":{"type":"string"}}`:                false,
		`{"unevaluatedProperties":{"type":"string"}}`:          false,
		`{"items":{"type":"string"}}`:                          false,
		`{"city":{}}`:                                          false,
	} {
		v, err := jsonval.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := isPropertyMap(&v); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}
