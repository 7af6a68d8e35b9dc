package midtool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
	"pgregory.net/rapid"
)

func TestCompileSchemaErrors(t *testing.T) {
	chain := func(n int) string { // definitions of which each refers to the next
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
		}
		return `{"$ref":"#/$defs/d0","$defs":{` + b.String() + fmt.Sprintf(`"d%d":{}}}`, n)
	}
	for _, tt := range []struct{ in, want, reason string }{
		{``, "bad_schema: offset 0: unexpected end", "no JSON"}, {`5`, "bad_schema: want a schema object, got number", "no schema"},
		{`null`, "bad_schema: want a schema object, got null", "no schema"}, {`{"type":`, "bad_schema: offset 8: unexpected end", "cut off"},
		{"\"\xff\"", "bad_schema: offset 1: invalid UTF-8", "no text"}, {`{"minimum":NaN}`, "bad_schema: offset 11: expected a value", "no number"},
		{strings.Repeat(`{"not":`, 1000), "too_deep: offset 448: nested deeper than 64", "nested"},
		{chain(600), "too_deep: references nested deeper than 512", "nested by references"},
		{`{"$ref":"other.json"}`, "remote_ref: other.json", "another file"}, {`{"items":{"$ref":"http://a/b"}}`, "remote_ref: http://a/b", "another document"},
		{`{"$ref":"#/a"}`, "bad_ref: #/a", "nowhere"}, {`{"$ref":"#a"}`, "bad_ref: #a", "no pointer"}, {`{"$ref":"#/title","title":"x"}`, "bad_ref: #/title", "no schema there"},
		{`{"$defs":{"unused":{"$ref":"#/x"}}}`, "bad_ref: #/x", "an unused definition"},
		{`{"allOf":[` + strings.Repeat(`{"$ref":"#"},`, 5000) + `{}]}`, "bad_ref: more than 4096 references", "too many"},
	} {
		s, err := CompileSchema([]byte(tt.in))
		r, ok := errors.AsType[*Rejection](err)
		if s != nil || !ok || err.Error() != "midtool: "+tt.want || !strings.HasPrefix(tt.want, r.Reason+": ") {
			t.Errorf("%s: %.40s: %v, want %s", tt.reason, tt.in, err, tt.want)
		}
	}
}

func schemaOf(t interface{ Fatal(...any) }, raw string) *Schema {
	s, err := CompileSchema([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaCheck(t *testing.T) {
	const order = `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"tags":{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true},
		"to/from":{"type":"string","maxLength":2}},"patternProperties":{"^x-":{"type":"string"}},"required":["n"],"additionalProperties":false}`
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	for _, tt := range []struct {
		schema, value string
		want          []Violation
		reason        string
	}{
		{order, `{"n":5.0,"tags":["b"],"to/from":"äö","x-id":"1"}`, nil, "valid"},
		{order, `{"tags":["a","c","a"],"to/from":"abc","x-id":1,"y":2}`, []Violation{{"required", "", `missing "n"`}, {"uniqueItems", "/tags", "item 2 occurs before"},
			{"enum", "/tags/1", "not a member of the enum"}, {"maxLength", "/to~1from", "3 code points, want at most 2"}, {"type", "/x-id", "number is not string"},
			{"false", "/y", "no value is allowed here"}}, "all faults, from the outside in"},
		{order, `{"n":5.5}`, []Violation{{"type", "/n", "number is not integer"}}, "no integer"},
		{order, `{"n":1,"n":"x"}`, []Violation{{"type", "/n", "string is not integer"}}, "of equal keys the last counts"},
		{order, `[]`, []Violation{{"type", "", "list is not object"}}, "no object"},
		{`true`, ``, []Violation{{"json", "", "offset 0: unexpected end"}}, "nothing"}, {`true`, `{`, []Violation{{"json", "", "offset 1: expected a key"}}, "cut off"},
		{`true`, "\"\xff\"", []Violation{{"json", "", "offset 1: invalid UTF-8"}}, "no text"}, {`true`, `NaN`, []Violation{{"json", "", "offset 0: expected a value"}}, "no number"},
		{`true`, deep, []Violation{{"json", "", "offset 64: nested deeper than 64"}}, "too deep"}, {`true`, `5`, nil, "anything"},
		{`false`, `1`, []Violation{{"false", "", "no value is allowed here"}}, "a boolean schema"},
		{`{"$ref":"#"}`, `1`, []Violation{{"$ref", "", "the schema is recursive without end or too costly to check"}}, "no end"},
		{`{"const":123456789012345678901234567890}`, `123456789012345678901234567891`, []Violation{{"const", "", "not the constant"}}, "exact"},
		{`{"const":5}`, `5.0`, nil, "1 equals 1.0"}, {`{"anyOf":[{"type":"string"},{"minimum":3}]}`, `2`, []Violation{{"anyOf", "", "no branch accepts the value"}}, "a union is one violation"},
		{`{"allOf":[{"minimum":3},{"multipleOf":2}]}`, `1`, []Violation{{"minimum", "", "1 against 3"}, {"multipleOf", "", "1 is no multiple of 2"}}, "each for itself"},
		{`{"pattern":"(?=x)"}`, `"y"`, nil, "a pattern outside Go's syntax is skipped"}, {`{"format":"date","minLength":"3"}`, `""`, nil, "no keyword that refuses"},
	} {
		if diff := cmp.Diff(tt.want, schemaOf(t, tt.schema).Check([]byte(tt.value))); diff != "" || tt.reason == "" {
			t.Errorf("%s: %s with %s (-want +got):\n%s", tt.reason, tt.schema, tt.value, diff)
		}
	}
	if found := schemaOf(t, `{"items":{"type":"string"}}`).Check([]byte("[" + strings.Repeat("1,", 99) + "1]")); len(found) != 32 {
		t.Errorf("%d violations, want at most 32", len(found))
	}
	long := schemaOf(t, `{"pattern":"^`+strings.Repeat("ä", 400)+`$"}`).Check([]byte(`"x"`))
	if len(long) != 1 || len(long[0].Detail) > 300 || !strings.HasSuffix(long[0].Detail, "ä…") {
		t.Errorf("a long detail: %v", long)
	}
	if p := schemaOf(t, `{"items":{"pattern":"(?=x)"},"properties":{"a":{"pattern":"^a"}}}`).Unchecked(); p != "(?=x)" {
		t.Errorf("unchecked: %q", p)
	}
	if p := schemaOf(t, order).Unchecked(); p != "" {
		t.Errorf("unchecked: %q, want none", p)
	}
}

func TestSchemaInstance(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	for _, tt := range []struct{ schema, want, fault, reason string }{ // want: the value, if there is one only
		{`{"const":{"b":1.0,"a":[]}}`, `{"b":1.0,"a":[]}`, "", "a const as it is written"}, {`{"enum":[null,"","x"]}`, `"x"`, "", "no null or blank where there is more"},
		{`{"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"required":["b"],"minProperties":2}`, `{"a":1,"b":2}`, "", "all members, if half are too few"},
		{`{"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"required":["b"],"maxProperties":1}`, `{"b":2}`, "", "no optional ones, if half are too many"},
		{`{"type":"string","pattern":"^ab{3}$"}`, `"abbb"`, "", "a pattern"}, {`{"type":"integer","minimum":7,"maximum":7.9}`, `7`, "", "bounds"},
		{`{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}`, `{}`, "", "an optional member that cannot be made"},
		{`{"type":"object","properties":{"a":{"pattern":"(?=x)"}},"required":["a"]}`, "", "pattern_unsupported: (?=x)", "a required one"},
		{`{"properties":{"a":{"type":"integer","minimum":5,"maximum":4}},"required":["a"]}`, "", `no_value: none found for "thing"`, "there is none"},
		{`false`, "", `no_value: none found for "thing"`, "there is none"}, {`{"type":"string","format":"binary"}`, "", `no_value: none found for "thing"`, "no text"},
		{`{"properties":{"a":{"$ref":"#"}},"required":["a"]}`, "", `no_value: none found for "thing"`, "an endless one"},
		{`{"$ref":"#"}`, "", `no_value: none found for "thing"`, "a circle"},
		{strings.Repeat(`{"properties":{"a":`, 3) + `{"examples":[` + nested(50) + `]}` + strings.Repeat(`},"required":["a"]}`, 3), "", "", "deep"},
		{`{"items":{"items":{"items":{"items":{"items":{"$ref":"#/$defs/d"}}}}},"$defs":{"d":{"examples":[` + nested(60) + `]}}}`, "", `no_value: none found for "thing"`,
			"deeper than Check reads"},
	} {
		s := schemaOf(t, tt.schema)
		for seed := range uint64(10) {
			v, err := s.Instance(seed, "thing")
			switch {
			case err == nil && tt.fault == "":
				if tt.want != "" && string(v) != tt.want {
					t.Errorf("%s: %s, want %s", tt.reason, v, tt.want)
				}
				if found := s.Check(v); found != nil {
					t.Errorf("%s: made %s: %v", tt.reason, v, found)
				}
			case v != nil || err == nil || err.Error() != "midtool: "+tt.fault:
				t.Errorf("%s: %s, %v, want %q", tt.reason, v, err, tt.fault)
			}
		}
	}
}

// An argument whose name matches a pattern is expected, and held to the schema of the pattern.
func TestPatternArguments(t *testing.T) {
	sample := func(schema, arguments string) Sample {
		return Sample{Tools: []Tool{{Name: "tag_page", Parameters: []byte(schema)}}, Messages: []Message{
			{Role: RoleUser, Content: "Tag the page with blue and 7, please."},
			{Role: RoleAssistant, Calls: []Call{{ID: "c1", Name: "tag_page", Arguments: []byte(arguments)}}},
			{Role: RoleTool, CallID: "c1", Content: `{"status":"ok"}`}, {Role: RoleAssistant, Content: "The status is ok."}}}
	}
	const closed = `{"type":"object","properties":{},"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`
	for _, tt := range []struct{ schema, arguments, want, reason string }{
		{closed, `{"x-color":"blue"}`, "", "the name matches"}, {closed, `{"color":"blue"}`, "unexpected_argument /color", "it does not"},
		{closed, `{"x-color":7}`, "schema /x-color", "its value is refused"},
		{`{"type":"object","patternProperties":{"^x-":{}}}`, `{"x-color":"blue"}`, "", "without a word on others"},
		{`{"type":"object","patternProperties":{"^x-":{}}}`, `{"color":"blue"}`, "unexpected_argument /color", "others are no properties"},
		{`{"type":"object","patternProperties":{"(?=x)":{"type":"integer"}}}`, `{"color":"blue"}`, "", "a pattern that cannot be read may match"},
		{`{"type":"object","allOf":[{"patternProperties":{"^x-":{"enum":["blue"]}}}]}`, `{"x-color":"blue"}`, "", "the pattern of a branch"},
	} {
		var got []string
		for _, v := range Validate(sample(tt.schema, tt.arguments)) {
			got = append(got, v.Rule+" "+strings.TrimPrefix(v.Path, "/messages/1/calls/0/arguments"))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// The seed and the name decide, and nothing else; other seeds and names give other values.
func TestSchemaInstanceSeeds(t *testing.T) {
	s := schemaOf(t, `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"]}`)
	made := func(seed uint64, name string) string {
		v, err := s.Instance(seed, name)
		if err != nil {
			t.Error(err)
		}
		return string(v)
	}
	seen := make(map[string]bool)
	for seed := range uint64(50) {
		seen[made(seed, "a")], seen[made(seed, "b")] = true, true
	}
	if len(seen) < 80 {
		t.Errorf("%d different values of 100", len(seen))
	}
	want := made(1, "a")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := made(1, "a"); got != want || s.Check([]byte(got)) != nil {
				t.Errorf("%s beside others, want %s", got, want)
			}
		})
	}
	wg.Wait()
}

// Whatever a schema says, what is made for it is accepted, and again the same; else a reason is given.
func TestSchemaInstanceAccepted(t *testing.T) {
	made := 0
	rapid.Check(t, func(t *rapid.T) {
		raw := marshal(schematest.Schema(3).Draw(t, "schema"))
		s, err := CompileSchema([]byte(raw))
		if err != nil {
			if r, ok := errors.AsType[*Rejection](err); !ok || r.Reason == "" {
				t.Fatalf("%s: %v", raw, err)
			}
			return
		}
		seed, name := rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]string{"city", "", "a_b"}).Draw(t, "name")
		v, err := s.Instance(seed, name)
		if again, _ := s.Instance(seed, name); string(v) != string(again) {
			t.Fatalf("%s: made %s, then %s", raw, v, again)
		}
		if err != nil {
			if r, ok := errors.AsType[*Rejection](err); !ok || r.Reason != "no_value" && r.Reason != "pattern_unsupported" || v != nil {
				t.Fatalf("%s: %s, %v", raw, v, err)
			}
			return
		}
		if found := s.Check(v); found != nil || !json.Valid(v) {
			t.Fatalf("%s: made %s: %v", raw, v, found)
		}
		made++
	})
	if made == 0 {
		t.Error("no value was made")
	}
}

// Spaces and the order of keys change no verdict.
func TestSchemaCheckForm(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalar := rapid.SampledFrom([]any{nil, true, false, 0, 1, -1, 2.5, 1e20, "", "a", "ab", "äö"})
		if depth == 0 {
			return scalar
		}
		return rapid.OneOf(scalar, rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d/e"}), value(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		s, err := CompileSchema([]byte(marshal(schematest.Schema(2).Draw(t, "schema"))))
		if err != nil {
			return
		}
		v, err := jsonval.Parse([]byte(toJSON(value(3).Draw(t, "value"))))
		if err != nil {
			t.Fatal(err)
		}
		verdict := func(form jsonval.Form) (out []string) {
			for _, f := range s.Check(v.Bytes(form)) {
				out = append(out, f.Rule+" at "+f.Path)
			}
			slices.Sort(out)
			return out
		}
		want := verdict(jsonval.Compact)
		for _, form := range []jsonval.Form{jsonval.Display, jsonval.Canonical} {
			if diff := cmp.Diff(want, verdict(form)); diff != "" {
				t.Fatalf("%s (-compact +other):\n%s", v.Bytes(form), diff)
			}
		}
	})
}

// Schemas and values that are built to take forever end; the test runner's limit is the judge.
func TestSchemaHostile(t *testing.T) {
	list := func(n int, item string) string { // item has %d for its number
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(",", min(i, 1)) + strings.ReplaceAll(item, "%d", fmt.Sprint(i)))
		}
		return b.String()
	}
	var doubling strings.Builder
	for i := range 60 {
		fmt.Fprintf(&doubling, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	names := "{" + list(20_000, `"n%d":1`) + "}"
	text := `"` + strings.Repeat("a", 1<<19) + `"`
	for _, tt := range []struct {
		schema, value string
		refused       bool
		reason        string
	}{
		{`{"$ref":"#/$defs/d0","$defs":{` + doubling.String() + `"d60":{"type":"integer"}}}`, `"x"`, true, "2^60 branches"},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, `1`, true, "a circle of references"},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}},"required":["l","r"]}}}`, `{"l":{},"r":{}}`, true, "an endless tree"},
		{`{"patternProperties":{` + list(20_000, `"x%d":{}`) + `}}`, names, true, "20,000 patterns for 20,000 names"},
		{`{"anyOf":[` + list(10_000, `{"pattern":"x%d$"}`) + `]}`, text, true, "10,000 patterns for a long text"},
		{`{"anyOf":[` + list(10_000, `{"enum":["x%d"]}`) + `]}`, text, true, "10,000 enums for a long text"},
		{`{"required":[` + list(20_000, `"n%d"`) + `]}`, names, false, "20,000 required names"},
		{`{"pattern":"^(a+)+b$"}`, text, true, "a pattern that would backtrack"}, {`{"pattern":"^a*$"}`, text, false, "one that does not"},
		{`{"uniqueItems":true}`, "[" + list(50_000, "%d") + "]", false, "50,000 items"},
	} {
		s := schemaOf(t, tt.schema)
		if found := s.Check([]byte(tt.value)); (found != nil) != tt.refused {
			t.Errorf("%s: %d violations, want some: %v", tt.reason, len(found), tt.refused)
		}
		if v, err := s.Instance(1, "x"); err == nil && s.Check(v) != nil {
			t.Errorf("%s: made %.80s", tt.reason, v)
		}
	}
}

func BenchmarkSchemaCheck(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var props, values []string
			for i := range n {
				props = append(props, fmt.Sprintf(`"a%d":{"type":"string","enum":["one","two"]},"b%d":{"type":"integer","minimum":1,"maximum":9}`, i, i))
				values = append(values, fmt.Sprintf(`"a%d":"two","b%d":7`, i, i))
			}
			s := schemaOf(b, `{"type":"object","additionalProperties":false,"required":["a0"],"properties":{`+strings.Join(props, ",")+`}}`)
			value := []byte("{" + strings.Join(values, ",") + "}")
			b.ReportAllocs()
			for b.Loop() {
				if s.Check(value) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
