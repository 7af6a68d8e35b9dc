package bfcl

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// jsonText draws a JSON value over few scalars, so that values meet.
func jsonText(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		scalars := []string{`""`, `"a"`, `"A b"`, `"Σ"`, `"it's"`, `0`, `1`, `2`, `-1`, `1.0`, `0.0`, `-0.0`, `2.5`,
			`9007199254740992.0`, `9007199254740993`, `9007199254740992`, `1e30`, `1000000000000000000000000000000`, `1000000000000000019884624838656`, `true`, `false`, `null`}
		kind := 0
		if depth > 0 {
			kind = rapid.IntRange(0, 3).Draw(t, "kind")
		}
		switch kind {
		case 2:
			return "[" + strings.Join(rapid.SliceOfN(jsonText(depth-1), 0, 3).Draw(t, "list"), ",") + "]"
		case 3:
			var members []string
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, "keys") {
				members = append(members, `"`+key+`":`+jsonText(depth-1).Draw(t, key))
			}
			return "{" + strings.Join(members, ",") + "}"
		default:
			return rapid.SampledFrom(scalars).Draw(t, "scalar")
		}
	})
}

// drawTask draws a task with gold of any shape.
func drawTask(t *rapid.T) Task {
	task := Task{ID: "t_0", Category: rapid.SampledFrom([]string{"simple_python", "multiple", "parallel"}).Draw(t, "category")}
	types := []string{"string", "integer", "float", "boolean", "array", "tuple", "dict", "any"}
	properties := map[string]any{}
	required := []string{}
	options := map[string]any{}
	for _, name := range []string{"x", "y", "z"}[:rapid.IntRange(0, 3).Draw(t, "parameters")] {
		p := map[string]any{"type": rapid.SampledFrom(types).Draw(t, "type")}
		if p["type"] == "array" || p["type"] == "tuple" {
			p["items"] = map[string]any{"type": rapid.SampledFrom(types).Draw(t, "element")}
		}
		properties[name] = p
		if rapid.Bool().Draw(t, "required") {
			required = append(required, name)
		}
		var list []json.RawMessage
		for _, text := range rapid.SliceOfN(jsonText(3), 1, 3).Draw(t, "gold") {
			list = append(list, json.RawMessage(text))
		}
		options[name] = list
	}
	raw := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	task.Functions = []Function{{Name: "f", Parameters: raw(map[string]any{"properties": properties, "required": required})}}
	n := 1
	if task.Category == "parallel" {
		n = rapid.IntRange(1, 3).Draw(t, "calls")
	}
	for range n {
		task.Gold = append(task.Gold, Gold{"f", raw(options)})
	}
	return task
}

func parsed(t *rapid.T, text []byte) jsonval.Value {
	v, err := jsonval.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func addKey(t *rapid.T, args json.RawMessage) json.RawMessage {
	v := parsed(t, args)
	v.Set("unknown", jsonval.NewBool(true))
	return v.Bytes(jsonval.Compact)
}

// reverseKeys turns the order of members around, at every depth.
func reverseKeys(t *rapid.T, args json.RawMessage) json.RawMessage {
	var turn func(v jsonval.Value) jsonval.Value
	turn = func(v jsonval.Value) jsonval.Value {
		w := jsonval.Value{Kind: v.Kind, Text: v.Text}
		for i := range v.List {
			w.List = append(w.List, turn(v.List[i]))
		}
		for i := len(v.Members) - 1; i >= 0; i-- {
			w.Members = append(w.Members, jsonval.Pair(v.Members[i].Key, turn(v.Members[i].Value)))
		}
		return w
	}
	v := turn(parsed(t, args))
	return v.Bytes(jsonval.Compact)
}

// slowEqual writes each value in one form: numbers as fractions of exact float64, keys sorted.
func slowEqual(a, b *jsonval.Value) bool {
	var form func(v *jsonval.Value) string
	form = func(v *jsonval.Value) string {
		switch v.Kind {
		case jsonval.Bool:
			if v.Text == "true" {
				return "1/1"
			}
			return "0/1"
		case jsonval.Number:
			r, _ := new(big.Rat).SetString(v.Text)
			if strings.ContainsAny(v.Text, ".eE") {
				f, _ := r.Float64()
				r.SetFloat64(f)
			}
			return r.String()
		case jsonval.List:
			var s strings.Builder
			s.WriteString("[")
			for i := range v.List {
				s.WriteString(form(&v.List[i]) + ",")
			}
			return s.String() + "]"
		case jsonval.Object:
			var s strings.Builder
			s.WriteString("{")
			for _, key := range []string{"a", "b", "c"} {
				if m := v.Get(key); m != nil {
					s.WriteString(key + ":" + form(m) + ",")
				}
			}
			return s.String() + "}"
		default:
			return v.Encode(jsonval.Compact)
		}
	}
	return form(a) == form(b)
}

// equal is the slow comparison.
func TestEqualAgreesWithExactFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := parsed(t, []byte(jsonText(3).Draw(t, "a"))), parsed(t, []byte(jsonText(3).Draw(t, "b")))
		if got, want := equal(&a, &b), slowEqual(&a, &b); got != want {
			t.Fatalf("%s == %s: %v, want %v", a.Encode(jsonval.Compact), b.Encode(jsonval.Compact), got, want)
		}
		if !equal(&a, &a) || equal(&a, &b) != equal(&b, &a) {
			t.Fatal("not reflexive, or not symmetric")
		}
	})
}

// Folding twice changes nothing, and what is folded away does not count.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if again := fold(fold(s)); again != fold(s) && !strings.ContainsAny(s, "İΣ") {
			t.Fatalf("%q, again %q", fold(s), again)
		}
		at := rapid.IntRange(0, len([]rune(s))).Draw(t, "at")
		sign := rapid.SampledFrom([]string{" ", ",", ".", "/", "-", "_", "*", "^"}).Draw(t, "sign")
		if with := string([]rune(s)[:at]) + sign + string([]rune(s)[at:]); fold(with) != fold(s) {
			t.Fatalf("%q and %q", fold(with), fold(s))
		}
	})
	for _, tt := range []struct{ in, want, reason string }{
		{"New York, NY", "newyorkny", "spaces and punctuation"},
		{"it's", `it"s`, "single quotes become double ones"},
		{"a\tb(c)", "a\tb(c)", "tabs and brackets stay"},
		{"İX", "i̇x", "the dot stays as a combining character"},
		{"ΟΔΟΣ", "οδος", "a sigma at the end of a word"},
		{"ΟΔΟΣ Α", "οδοσα", "the space is gone before the case is looked at"},
		{"ΟΔΟΣ'", `οδος"`, "an apostrophe does not go on with a word"},
		{"ΟΔΟΣ:Α", "οδοσ:α", "a colon between letters does"},
		{"Σ", "σ", "a sigma alone ends no word"},
		{"ẞ", "ß", "as Unicode says"},
	} {
		if got := fold(tt.in); got != tt.want {
			t.Errorf("%s: fold(%q) = %q, want %q", tt.reason, tt.in, got, tt.want)
		}
	}
}
