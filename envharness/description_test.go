package envharness_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	eh "github.com/throughline-go/throughline/envharness"
)

func TestActionText(t *testing.T) {
	for _, tt := range []struct{ name, args, want, reason string }{
		{"look", "", "look", "no arguments"},
		{"look", "{}", "look", "no arguments either"},
		{"do", `{"text":"go to desk 1"}`, "do go to desk 1", "a string stands as it is"},
		{"combine", `{"op":"add","j":1,"i":0}`, "combine 0 1 add", "in the order of the keys, whatever that of the bytes"},
		{"set", `{"b":null,"a":true,"c":[1, "x"],"d":{"z":1}}`, `set true null [1, "x"] {"z":1}`, "other values as JSON"},
		{"say", `{"text":"\u00e9\n\"x\""}`, "say \u00e9\n\"x\"", "escapes are read"},
		{"say", `{"text":""}`, "say ", "the empty string is a value"},
		{"say", ` { "text" : "a" , "by" : 1.50 } `, "say 1.50 a", "spaces between tokens are not part of a value"},
		{"say", `{"a":1,"a":"two"}`, "say two", "of repeated keys the last one counts"},
		{"say", "null", "say null", "null is no object"},
		{"say", `"hello"`, `say "hello"`, "nor is a string"},
		{"say", "[1]", "say [1]", "nor is a list"},
		{"say", `{"a":`, `say {"a":`, "nor is what was cut short"},
		{"", `{"a":"b"}`, " b", "a name is not needed"},
	} {
		t.Run(tt.name+tt.args, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			a := eh.Action{Name: tt.name, Args: json.RawMessage(tt.args)}
			if got := a.Text(); got != tt.want {
				t.Errorf("%q, want %q (%s)", got, tt.want, tt.reason)
			}
			if string(a.Args) != tt.args {
				t.Errorf("the arguments are %q now", a.Args)
			}
		})
	}
}

// slowText is Action.Text by its words alone.
func slowText(a eh.Action) string {
	if len(a.Args) == 0 {
		return a.Name
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(a.Args, &args); err != nil || args == nil {
		return a.Name + " " + string(a.Args)
	}
	words := []string{a.Name}
	for _, k := range slices.Sorted(maps.Keys(args)) {
		var v any
		if err := json.Unmarshal(args[k], &v); err != nil {
			v = nil // a number that no float64 holds
		}
		if s, ok := v.(string); ok {
			words = append(words, s)
		} else {
			words = append(words, string(args[k]))
		}
	}
	return strings.Join(words, " ")
}

// Any bytes as arguments give the text that the slow one gives.
func FuzzActionText(f *testing.F) {
	for _, args := range []string{
		"", "{}", `{"a":"b"}`, `{"":""}`, `{"a":"b","c":"d"}`, `{"a":"\n"}`, `{"a\"":"b"}`, `{"a":"b" }`, `{ "a":"b"}`, `{"a": "b"}`, `{"a":1}`, `{"a":"é"}`,
		"{\"a\":\"\xff\"}", "{\"\t\":\"\"}", "{\"\":\"\x7f\"}", `{"a":":"}`, `{"a":"\":\""}`, `{":":"b"}`, `"a":"b"}`, `{a":"b"}`, `{"a":"b"`, `{"a":"b}`,
		`{"a":"}`, `{":"}`, `{"a":"b"}}`, "null", `{"a":1e999}`, `{"a":null,"b":[1, 2]}`, `{"b":"x","a":"y","a":"z"}`,
	} {
		f.Add([]byte(args))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		a := eh.Action{Name: "do", Args: args}
		if got, want := a.Text(), slowText(a); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	})
}

func BenchmarkActionText(b *testing.B) {
	for name, args := range map[string]string{"one": `{"text":"take bowl 2 from desk 1"}`, "three": `{"i":0,"j":1,"op":"add"}`} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			a := eh.Action{Name: "do", Args: json.RawMessage(args)}
			for b.Loop() {
				a.Text()
			}
		})
	}
}

// The text does not depend on how an object is written: keys in another order, or spaces.
func TestActionTextOfAnyForm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		args := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.String().AsAny(), rapid.Float64Range(-9, 9).AsAny(), rapid.Bool().AsAny())).Draw(rt, "args")
		a, b := []byte("{"), []byte(" {")
		for k, v := range args { // any order
			a = append(append(append(a, marshalled(k)...), ':'), append(marshalled(v), ',')...)
		}
		for k, v := range args {
			b = append(append(append(b, marshalled(k)...), " : "...), append(marshalled(v), " ,\n"...)...)
		}
		if len(args) > 0 {
			a, b = a[:len(a)-1], b[:len(b)-2]
		}
		x, y := eh.Action{Name: "n", Args: append(a, '}')}, eh.Action{Name: "n", Args: append(b, '}')}
		if !json.Valid(x.Args) || !json.Valid(y.Args) {
			rt.Fatalf("no JSON: %s %s", x.Args, y.Args)
		}
		if x.Text() != y.Text() {
			rt.Errorf("%s gives %q, %s gives %q", x.Args, x.Text(), y.Args, y.Text())
		}
	})
}

func marshalled(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers, booleans
	}
	return b
}
