package midtool

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
	"pgregory.net/rapid"
)

func TestDropNullUnions(t *testing.T) {
	const in = `{"type":"object","properties":{"x":`
	const out = `}}`
	for _, tt := range []struct {
		name, in, want string
		lossy          int
		reason         string
	}{
		{"slice", in + `{"type":["null","array"],"items":{"type":["null","string"]}}` + out, in + `{"type":"array","items":{"type":"string"}}` + out, 2, "a slice of pointers"},
		{"pointer", in + `{"anyOf":[{"type":"object","properties":{"y":{}}},{"type":"null"}],"description":"d","default":null}` + out,
			in + `{"type":"object","properties":{"y":{}},"description":"d"}` + out, 1, "the branch in the place of the union, without the default"},
		{"three types", in + `{"type":["string","integer","null"]}` + out, in + `{"type":["string","integer"]}` + out, 1, "other types stay a list"},
		{"three branches", in + `{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}` + out, in + `{"anyOf":[{"type":"string"},{"type":"integer"}]}` + out, 1, "others stay a union"},
		{"enum", in + `{"type":["string","null"],"enum":["a",null]}` + out, in + `{"type":"string","enum":["a"]}` + out, 1, "the member goes with the type"},
		{"enum alone", in + `{"enum":["a",null]}` + out, in + `{"enum":["a"]}` + out, 1, "without a type"},
		{"only null", in + `{"type":["string","null"],"enum":[null]}` + out, in + `{"type":["string","null"],"enum":[null]}` + out, 0, "nothing else is allowed"},
		{"null", in + `{"anyOf":[{"type":"null"}]}` + out, in + `{"anyOf":[{"type":"null"}]}` + out, 0, "nothing else is allowed"},
		{"closed beside", in + `{"anyOf":[{"properties":{"y":{}}},{"type":"null"}],"additionalProperties":false}` + out,
			in + `{"anyOf":[{"properties":{"y":{}}}],"additionalProperties":false}` + out, 1, "inside, the properties would be known to additionalProperties"},
		{"not", in + `{"not":{"type":["string","null"]}}` + out, in + `{"not":{"type":["string","null"]}}` + out, 0, "there it would allow more"},
		{"reference below", `{"type":"object","properties":{"x":{"not":{"$ref":"#/$defs/d"}},"y":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":["string","null"]}}}`,
			`{"type":"object","properties":{"x":{"not":{"$ref":"#/$defs/d"}},"y":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":["string","null"]}}}`, 0, "one schema in both places"},
		{"nullable", in + `{"type":"string","nullable":true}` + out, in + `{"type":"string"}` + out, 1, "the older form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DropNullUnions(Tool{Name: "t", Parameters: []byte(tt.in)})
			if err != nil || tt.reason == "" {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got.Parameters)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := len(got.Lossy); n != tt.lossy || slices.Contains(got.Lossy, "default_dropped") {
				t.Errorf("lossy %v, want %d", got.Lossy, tt.lossy)
			}
		})
	}
	if _, err := DropNullUnions(Tool{}); err == nil {
		t.Error("a tool without a name has no error")
	}
}

// What the result accepts the tool accepts, and a second time changes nothing.
func TestDropNullUnionsNarrows(t *testing.T) {
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		raw := `{"type":"object","properties":{"p":` + marshal(schematest.Schema(3).Draw(t, "schema")) + `},"required":["p"],"$defs":{"d":{"type":["string","null"]}}}`
		before, err := Normalize(Tool{Name: "t", Parameters: []byte(raw)})
		if err != nil {
			return
		}
		after, err := DropNullUnions(before)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := DropNullUnions(after); err != nil || cmp.Diff(after, again) != "" {
			t.Fatalf("not idempotent: %v\n%s", err, cmp.Diff(after, again))
		}
		if len(after.Lossy) == len(before.Lossy) {
			return
		}
		wide, err1 := schema.CompileRaw(before.Parameters)
		narrow, err2 := schema.CompileRaw(after.Parameters)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		values := []jsonval.Value{jsonval.NewObject(), jsonval.NewObject(jsonval.Pair("p", jsonval.Value{}))}
		for i := range 4 {
			m := schema.Maker{D: draw.New(uint64(i), "test", raw), Optional: 0.5}
			if v, ok := m.Value(narrow, "t", 0); ok {
				values = append(values, v)
			}
		}
		for i := range values {
			if checked++; narrow.Accepts(&values[i]) && !wide.Accepts(&values[i]) {
				t.Fatalf("%s is new in %s for %s", values[i].Encode(jsonval.Compact), after.Parameters, before.Parameters)
			}
		}
	})
	if checked == 0 {
		t.Error("no value was checked")
	}
}
