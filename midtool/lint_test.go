package midtool

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
	"pgregory.net/rapid"
)

// sound is a tool without advice, whose property x has the schema.
func sound(x string) Tool {
	return Tool{Name: "book_table", Description: "Books a table at a restaurant.", License: "MIT",
		Parameters: []byte(`{"type":"object","properties":{"x":` + x + `}}`)}
}

func TestLint(t *testing.T) {
	const at = "/parameters/properties/x"
	d := func(s string) string { return `{"description":"d",` + s + `}` }
	for _, tt := range []struct {
		name string
		tool Tool
		want []string // path, code and repair
		left string   // parameters after the repair; empty if unchanged
	}{
		{"sound", sound(d(`"type":"string"`)), nil, ""},
		{"nothing", Tool{}, []string{"/description description_missing", "/license license_missing", "/name name_missing",
			`/parameters parameters_missing {"type":"object","properties":{}}`}, `{"type":"object","properties":{}}`},
		{"words", Tool{Name: "a b.ä", Description: "short", License: "Apache License, Version 2.0", Parameters: []byte(`{}`)},
			[]string{"/description description_short", `/license license_spelling "Apache-2.0"`, `/name name_characters "a_b__"`}, ""},
		{"license", Tool{Name: "a", Description: "Books a table at a restaurant.", License: "my own", Parameters: []byte(`{}`)},
			[]string{"/license license_unknown"}, ""},
		{"invalid UTF-8", Tool{Name: "a", Description: strings.Repeat("\xff", 20), License: "MIT", Parameters: []byte(`{}`)},
			[]string{"/description invalid_utf8"}, ""},
		{"null", sound("").with(`null`), []string{`/parameters parameters_missing {"type":"object","properties":{}}`}, `{"type":"object","properties":{}}`},
		{"no JSON", sound("").with(`{`), []string{"/parameters bad_schema"}, ""},
		{"no schema", sound("").with(`[]`), []string{"/parameters bad_schema"}, ""},
		{"deep", sound("").with(strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000)), []string{"/parameters too_deep"}, ""},
		{"large", sound("").with(`{"title":"` + strings.Repeat("x", maxLintBytes) + `"}`), []string{"/parameters too_large"}, ""},
		{"remote", sound(d(`"$ref":"http://example.com/s"`)), []string{"/parameters remote_ref"}, ""},
		{"nowhere", sound(d(`"$ref":"#/$defs/x"`)), []string{"/parameters bad_ref"}, ""},
		{"recursive", sound(d(`"properties":{"y":{"$ref":"#/properties/x","description":"d"}}`)), []string{"/parameters recursive"}, ""},
		{"not recursive", sound(d(`"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]`)).with(
			`{"type":"object","properties":{"x":{"$ref":"#/$defs/a","description":"d"},"y":{"$ref":"#/$defs/a","description":"d"}},"$defs":{"a":{"type":"string"}}}`), nil, ""},
		{"top", sound("").with(`{"anyOf":[{"type":"object"},{"type":"object"}]}`), []string{"/parameters top_level"}, ""},
		{"top type", sound("").with(`{"type":"string"}`), []string{"/parameters top_level"}, ""},
		{"property map", sound("").with(`{"a":{"type":"str","description":"d"}}`), []string{`/parameters property_map {"type":"object","properties":{"a":{"type":"str","description":"d"}}}`},
			`{"type":"object","properties":{"a":{"type":"string","description":"d"}}}`},
		{"many", sound("").with(`{"type":"object","properties":{` + strings.Repeat(`"@":{"description":"d"},`, 15) + `"z":{"description":"d"}}}`),
			[]string{"/parameters many_parameters"}, ""},
		{"type word", sound(d(`"type":"List[int]"`)), []string{at + ` type_word {"description":"d","type":"array","items":{"type":"integer"}}`},
			`{"type":"object","properties":{"x":{"description":"d","type":"array","items":{"type":"integer"}}}}`},
		{"type list", sound(d(`"type":["str","none"]`)), []string{at + ` type_word {"description":"d","type":["string","null"]}`},
			`{"type":"object","properties":{"x":{"description":"d","type":["string","null"]}}}`},
		{"unknown type", sound(d(`"type":"banana"`)), []string{at + ` type_unknown {"description":"d"}`}, `{"type":"object","properties":{"x":{"description":"d"}}}`},
		{"nullable", sound(d(`"type":"string","nullable":true,"default":null`)), []string{at + ` nullable {"description":"d","type":["string","null"],"default":null}`},
			`{"type":"object","properties":{"x":{"description":"d","type":["string","null"],"default":null}}}`},
		{"draft 4", sound(d(`"minimum":3,"exclusiveMinimum":true`)), []string{at + ` draft4 {"description":"d","exclusiveMinimum":3}`},
			`{"type":"object","properties":{"x":{"description":"d","exclusiveMinimum":3}}}`},
		{"draft 3", sound(d(`"required":true`)), []string{`/parameters required_boolean {"type":"object","properties":{"x":{"description":"d"}},"required":["x"]}`},
			`{"type":"object","properties":{"x":{"description":"d"}},"required":["x"]}`},
		{"optional", sound("").with(`{"type":"object","properties":{"x":{"description":"d","type":"str, optional"}},"required":["x"]}`),
			[]string{`/parameters/properties/x type_word {"description":"d","type":"string"}`, `/parameters/required required_optional []`},
			`{"type":"object","properties":{"x":{"description":"d","type":"string"}},"required":[]}`},
		{"keyword", sound(d(`"minLength":"3","enum":null,"not":7`)), []string{at + ` keyword_kind {"description":"d","enum":null,"not":7}`,
			at + ` keyword_kind {"description":"d","minLength":"3","not":7}`, at + ` keyword_kind {"description":"d","minLength":"3","enum":null}`},
			`{"type":"object","properties":{"x":{"description":"d"}}}`},
		{"no property", sound(`"int"`), []string{at + ` not_a_schema {"type":"integer"}`}, `{"type":"object","properties":{"x":{"type":"integer"}}}`},
		{"no property at all", sound(`[]`), []string{at + ` not_a_schema`}, ""},
		{"items", sound(d(`"type":"array"`)), []string{at + "/items items_missing {}"}, `{"type":"object","properties":{"x":{"description":"d","type":"array","items":{}}}}`},
		{"required", sound("").with(`{"type":"object","properties":{"x":{"description":"d"}},"required":["x","y","x",5]}`),
			[]string{`/parameters/required required_unknown ["x"]`}, `{"type":"object","properties":{"x":{"description":"d"}},"required":["x"]}`},
		{"enum", sound(d(`"type":"integer","enum":["1",2,2.0]`)), []string{at + `/enum enum_duplicate ["1",2]`, at + "/enum enum_type"},
			`{"type":"object","properties":{"x":{"description":"d","type":"integer","enum":["1",2]}}}`},
		{"default text", sound(d(`"type":"integer","default":"5"`)), []string{at + "/default default_type 5"},
			`{"type":"object","properties":{"x":{"description":"d","type":"integer","default":5}}}`},
		{"default True", sound(d(`"type":"boolean","default":"True"`)), []string{at + "/default default_type true"},
			`{"type":"object","properties":{"x":{"description":"d","type":"boolean","default":true}}}`},
		{"default number", sound(d(`"type":"string","default":5`)), []string{at + `/default default_type "5"`},
			`{"type":"object","properties":{"x":{"description":"d","type":"string","default":"5"}}}`},
		{"default null", sound(d(`"type":"string","default":null`)), []string{at + ` default_type {"description":"d","type":"string"}`},
			`{"type":"object","properties":{"x":{"description":"d","type":"string"}}}`},
		{"default beside the enum", sound(d(`"enum":["a"],"default":"b"`)), []string{at + "/default default_enum"}, ""},
		{"pattern", sound(d(`"pattern":"(?=x)"`)), []string{at + "/pattern pattern_unsupported"}, ""},
		{"pattern of names", sound(d(`"patternProperties":{"^a":{},"(?=x)":{}}`)), []string{at + "/patternProperties pattern_unsupported"}, ""},
		{"reference into the repair", sound("").with(`{"type":"object","properties":{"x":{"description":"d","nullable":true,"oneOf":[{"type":"string"}]},` +
			`"y":{"description":"d","$ref":"#/properties/x/oneOf/0"}}}`), []string{at + " nullable"}, ""},
		{"reference into a list of items", sound("").with(`{"type":"object","properties":{"x":{"description":"d","items":[{"type":"string"}]},` +
			`"y":{"description":"d","$ref":"#/properties/x/items/0"}}}`), []string{at + " draft4"}, ""},
		{"reference to a definition", sound("").with(`{"type":"object","properties":{"x":{"description":"d","nullable":true,"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`),
			[]string{at + ` nullable {"description":"d","anyOf":[{"$ref":"#/$defs/s"},{"type":"null"}]}`},
			`{"type":"object","properties":{"x":{"description":"d","anyOf":[{"$ref":"#/$defs/s"},{"type":"null"}]}},"$defs":{"s":{"type":"string"}}}`},
		{"path with a slash", sound("").with(`{"type":"object","properties":{"a/b~":{"description":"d","type":"str"}}}`),
			[]string{"/parameters/properties/a~1b~0 parameter_name", `/parameters/properties/a~1b~0 type_word {"description":"d","type":"string"}`},
			`{"type":"object","properties":{"a/b~":{"description":"d","type":"string"}}}`},
		{"names", sound("").with(`{"type":"object","properties":{"a b":{"description":"d"},"c/d":{}}}`),
			[]string{"/parameters/properties/a b parameter_name", "/parameters/properties/c~1d parameter_description", "/parameters/properties/c~1d parameter_name"}, ""},
		{"date", sound(`{"type":"string","description":"Day of travel (YYYY-MM-DD)."}`), []string{at + `/format date_format "date"`},
			`{"type":"object","properties":{"x":{"type":"string","description":"Day of travel (YYYY-MM-DD).","format":"date"}}}`},
		{"date and time", sound(`{"type":"string","description":"Start date and time, ISO 8601."}`), []string{at + `/format date_format "date-time"`},
			`{"type":"object","properties":{"x":{"type":"string","description":"Start date and time, ISO 8601.","format":"date-time"}}}`},
		{"no stated form", sound(`{"type":"string","description":"A date range."}`), nil, ""},
		{"replaced word", sound("").with(`{"type":"object","properties":{"start_string":{"type":"string","description":"Start date."}}}`),
			[]string{"/parameters/properties/start_string type_in_name"}, ""},
		{"result", Tool{Name: "a", Description: "Books a table at a restaurant.", License: "MIT", Parameters: []byte(`{}`), Returns: []byte(`{"type":"array"}`)},
			[]string{"/returns/items items_missing {}"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if n := strings.Count(string(tt.tool.Parameters), `"@"`); n > 0 { // names that differ
				for i := range n {
					tt.tool.Parameters = []byte(strings.Replace(string(tt.tool.Parameters), "@", strings.Repeat("a", i+1), 1))
				}
			}
			var got []string
			for _, a := range Lint(tt.tool) {
				got = append(got, strings.TrimSpace(a.Path+" "+a.Code+" "+string(a.Repair)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			repaired, left := Repair(tt.tool)
			want := tt.left
			if want == "" {
				want = string(tt.tool.Parameters)
			}
			if diff := cmp.Diff(want, string(repaired.Parameters)); diff != "" {
				t.Errorf("repaired (-want +got):\n%s", diff)
			}
			if i := slices.IndexFunc(left, func(a Advice) bool { return a.Repair != nil }); i >= 0 {
				t.Errorf("a repair is left: %v", left[i])
			}
		})
	}
}

// with returns the tool with other parameters.
func (t Tool) with(parameters string) Tool {
	t.Parameters = []byte(parameters)
	return t
}

// checkRepair: the advice is in the order of its places, repairs make theirs go away and leave the rest of the tool as it is, and a
// repaired tool has a normal form, unless the tool itself had none. It returns the advice on the tool.
func checkRepair(t interface {
	Helper()
	Fatalf(string, ...any)
}, tool Tool) []Advice {
	t.Helper()
	advice := Lint(tool)
	if !slices.IsSortedFunc(advice, func(a, b Advice) int { return strings.Compare(a.Path, b.Path) }) {
		t.Fatalf("not in order: %v", advice)
	}
	known := func(a Advice) bool { return a.Repair != nil }
	repaired, left := Repair(tool)
	if i := slices.IndexFunc(left, known); i >= 0 {
		t.Fatalf("%v is left of %s", left[i], tool.Parameters)
	}
	if again := Lint(repaired); !reflect.DeepEqual(left, again) {
		t.Fatalf("(-left +lint):\n%s", cmp.Diff(left, again))
	}
	if !slices.ContainsFunc(advice, known) && !reflect.DeepEqual(tool, repaired) {
		t.Fatalf("%s changed to %s without a repair", tool.Parameters, repaired.Parameters)
	}
	rest := repaired
	rest.Name, rest.License, rest.Parameters, rest.Returns = tool.Name, tool.License, tool.Parameters, tool.Returns
	if !reflect.DeepEqual(tool, rest) {
		t.Fatalf("more changed than is advised (-before +after):\n%s", cmp.Diff(tool, rest))
	}
	checkNormalize(t, repaired)
	if _, err := Normalize(tool); err == nil {
		if _, err := Normalize(repaired); err != nil {
			t.Fatalf("%s repaired to %s: %v", tool.Parameters, repaired.Parameters, err)
		}
	}
	return advice
}

func TestRepair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := marshal(schematest.Schema(3).Draw(t, "schema"))
		checkRepair(t, Tool{Name: rapid.SampledFrom([]string{"a", "a b", "", "ä", "\xff"}).Draw(t, "name"), Parameters: []byte(raw), Returns: []byte(raw),
			Description: "d", Group: "g", License: rapid.SampledFrom([]string{"", "mit", "MIT License", "x"}).Draw(t, "license")})
	})
}

// The rounds of repairs follow the nesting, so a deep tool with faults at every level takes the most of them.
func TestRepairDeep(t *testing.T) {
	const level = `{"nullable":true,"type":"dict","title":7,"enum":null,"required":["x","y"],"default":5,"minimum":1,"exclusiveMinimum":true,"additionalProperties":`
	raw := strings.Repeat(level, 50) + `{"type":"str, optional","maxLength":"` + strings.Repeat("9", 10_000) + `"}` + strings.Repeat("}", 50)
	advice := checkRepair(t, Tool{Name: "a", Parameters: []byte(raw)})
	if len(advice) < 150 {
		t.Errorf("%d pieces of advice", len(advice))
	}
}

// FuzzRepair: any text for a schema can be advised on and repaired.
func FuzzRepair(f *testing.F) {
	f.Add("a b", []byte(`{"properties":{"a":"str","b":{"type":"List[int], optional","nullable":true,"default":"5"}},"required":["a","b",5]}`))
	f.Add("", []byte(`{"$ref":"#/$defs/x","$defs":{"x":{"items":[{"$ref":"#/$defs/x/items/0"}],"nullable":true}}}`))
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		if len(raw) < 1<<14 {
			checkRepair(t, Tool{Name: name, Parameters: raw})
		}
	})
}
