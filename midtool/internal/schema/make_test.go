package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
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

// What is made for a schema of a stranger is accepted by it, and the same choices make the same value.
func TestMakerAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, _ := json.Marshal(schematest.Schema(2).Draw(t, "schema"))
		s, err := CompileRaw(raw)
		if err != nil {
			t.Skip(err)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		made := func() (string, bool) {
			m := Maker{D: draw.New(seed, "test"), Optional: 0.5}
			v, ok := m.Value(s, "thing", 0)
			if ok && !s.Accepts(&v) {
				t.Fatalf("%s: made %s", raw, v.Encode(jsonval.Compact))
			}
			return v.Encode(jsonval.Compact), ok
		}
		first, ok := made()
		if again, ok2 := made(); first != again || ok != ok2 {
			t.Fatalf("%s: made %s, then %s", raw, first, again)
		}
	})
}

// speakable says what keeps a value from being said in a sentence and found there again.
func speakable(s string) string {
	switch {
	case strings.TrimSpace(s) != s || s == "":
		return "space around it, or nothing"
	case strings.ContainsAny(s, "<>{}\n\r\t") || strings.ContainsAny(s, "~^"):
		return "a mark"
	case strings.HasSuffix(s, "..") || strings.HasSuffix(s, "…"):
		return "an ellipsis"
	}
	return ""
}

// Every table makes sound values, and enough of them.
func TestTables(t *testing.T) {
	few := strings.Fields("order sortorder orderdirection direction gender day weekday month status unit units interval period timeframe range duration window network chain blockchain format extension filetype mimetype")
	for name, table := range valueTables {
		d := draw.New(1, "tables", name)
		seen := make(map[string]bool)
		for range 400 {
			v := table.value(d)
			if fault := speakable(v); fault != "" {
				t.Fatalf("%s: %q has %s", name, v, fault)
			}
			seen[v] = true
		}
		if len(seen) < 12 && !slices.Contains(few, name) {
			t.Errorf("%s: %d different values of 400", name, len(seen))
		}
		for _, f := range table {
			for _, p := range f {
				if p.text == "" && len(p.list) == 0 && p.from == 0 {
					t.Errorf("%s: a form names a list that is not there", name)
				}
			}
		}
	}
	prose := make(map[string]bool)
	m := Maker{D: draw.New(1, "prose")}
	for range 1000 {
		prose[m.Text("message")] = true
	}
	if len(prose) < 800 {
		t.Errorf("%d different messages of 1000", len(prose))
	}
}

func read(description string) *hint {
	var h hint
	h.read(description)
	return &h
}

// Descriptions tell values.
func TestHints(t *testing.T) {
	for _, tt := range []struct{ name, description, want string }{ // want: all values, or a pattern after "~"
		{"sorting", "Sort order, one of: asc, desc", "asc desc"}, {"order", "Must be 'low' or 'high'.", "high low"}, {"mode", "Mode (fast|safe|dry-run)", "dry-run fast safe"},
		{"kind", "Allowed values: \"big box\", \"bag\" and `can`.", "bag big box can"}, {"thing", "A thing, e.g. 'blue moon', red", "blue moon red"},
		{"thing", "A thing (for example foo, bar).", "bar foo"}, {"thing", "such as the weather of today", "~^[a-z]+ [a-z]+$"},
		{"value", "ISO 4217 code", "~^[A-Z]{3}$"}, {"value", "Two-letter country code.", "~^[A-Z]{2}$"}, {"value", "in the form YYYY-MM-DD", "~^20[0-9]{2}-[01][0-9]-[0-3][0-9]$"},
		{"value", "as ISO 8601", "~^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}Z$"}, {"shade", "a hex color", "~^#[0-9a-f]{6}$"}, {"from", "first date", "~^20..-..-..$"},
		{"from", "where to start", "~^[a-z]+ [a-z]+$"}, {"thing", "ends in e.g. 'a...'", "~^[a-z]+ [a-z]+$"}, {"thing", "e.g. '{id}', '<tool_call>'", "~^[a-z]+ [a-z]+$"},
		{"thing", "e.g.", "~^[a-z]+ [a-z]+$"}, {"thing", "one of", "~^[a-z]+ [a-z]+$"}, {"thing", "one of 'a", "~^[a-z]+ [a-z]+$"}, {"thing", "a|", "~^[a-z]+ [a-z]+$"},
	} {
		raw, _ := json.Marshal(map[string]any{"type": "string", "description": tt.description})
		s, err := CompileRaw(raw)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for i := range 60 {
			m := Maker{D: draw.New(1, "hint", fmt.Sprint(i))}
			v, ok := m.Value(s, tt.name, 1)
			if fault := speakable(v.Text); !ok || fault != "" {
				t.Fatalf("%s: %q has %s", tt.description, v.Text, fault)
			}
			seen[v.Text] = true
		}
		var got []string
		for v := range seen {
			got = append(got, v)
		}
		slices.Sort(got)
		if pattern, ok := strings.CutPrefix(tt.want, "~"); ok {
			for _, v := range got {
				if !regexp.MustCompile(pattern).MatchString(v) {
					t.Errorf("%s: %q does not match %s", tt.description, v, pattern)
				}
			}
		} else if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %s", tt.description, got, tt.want)
		}
	}
	for description, want := range map[string][2]float64{"between 3 and 7": {3, 7}, "how many (1-50)": {1, 50}, "Range 0.5 to 2": {0.5, 2}, "from -5 to 5": {-5, 5},
		"(2024-01-15)": {}, "between them": {}, "Unix timestamp (epoch)": {1_700_000_000, 1_900_000_000}, "": {}} {
		if lo, hi, ok := read(description).numbers(); lo != want[0] || hi != want[1] || ok != (want != [2]float64{}) {
			t.Errorf("%q: %v to %v, %v", description, lo, hi, ok)
		}
	}
}

// Whatever a description says, reading it ends and what it gives can be said.
func TestHintsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"e.g. ", "one of ", "'", "\"", "`", "|", ", ", " or ", "(", ")", "a", "between ", "1", "-", " and ", "é"}))
		text := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
		h := read(text)
		for _, list := range [][]string{h.choices(), h.examples()} {
			for _, v := range list {
				if fault := speakable(strings.NewReplacer("~", "", "^", "").Replace("x" + v + "x")); fault != "" {
					t.Fatalf("%q: %q has %s", text, v, fault)
				}
			}
		}
		h.numbers()
	})
}

func BenchmarkMaker(b *testing.B) {
	s, err := CompileRaw([]byte(`{"type":"object","properties":{"city":{"type":"string","description":"City name, e.g. Oslo"},"days":{"type":"integer","minimum":1,"maximum":7},
		"units":{"type":"string","enum":["metric","imperial"]},"message":{"type":"string","description":"What to say."},"tags":{"type":"array","items":{"type":"string"}}},
		"required":["city","days","units","message","tags"]}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m := Maker{D: draw.New(1, "bench", "t_0123456789abcdef"), Optional: 0.4}
		if _, ok := m.Value(s, "call", 0); !ok {
			b.Fatal("no value")
		}
	}
}

// What is made is the caller's: changing it changes neither the schema nor what is made next.
func TestMakerGivesAway(t *testing.T) {
	for _, keyword := range []string{`"const":{"a":[1,{"b":"x"}]}`, `"enum":[{"a":[1,{"b":"x"}]}]`, `"examples":[{"a":[1,{"b":"x"}]}]`} {
		s, err := CompileRaw([]byte(`{` + keyword + `}`))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m := Maker{D: draw.New(1, "test")}
			v, ok := m.Value(s, "x", 0)
			if got := v.Encode(jsonval.Compact); !ok || got != `{"a":[1,{"b":"x"}]}` {
				t.Fatalf("%s: %s", keyword, got)
			}
			v.Members[0].Value.List[1].Members[0].Value.Text = "changed"
			v.Members[0].Value.List[0].Text = "2"
		}
	}
}
