package bfcl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// show writes calls as one text.
func show(calls []Call) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Name + string(c.Arguments))
		for _, p := range c.Positional {
			b.WriteString("+" + string(p))
		}
		b.WriteString(";")
	}
	return b.String()
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ in, want, fault, reason string }{
		{`[{"f": {"x": 1}}, {"f": {}}]`, `f{"x":1};f{};`, "", "the form of the reference"},
		{`[{"name": "f", "arguments": {"x": 5.0}}]`, `f{"x":5.0};`, "", "named calls keep 5.0"},
		{`[{"name": "f", "arguments": "{\"x\": 1}"}]`, `f{"x":1};`, "", "arguments in a string"},
		{`[{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]`, `f{};`, "", "a tool call"},
		{`{"role": "assistant", "tool_calls": null}`, ``, "", "a message without calls"},
		{`[{"function": {"name": "f", "arguments": {}}}]`, `function{"name":"f","arguments":{}};`, "", "one key is the name of the function"},
		{`"[{\"f\": {}}]"`, `f{};`, "", "JSON in a string"},
		{`"f(x=1)"`, `f{"x":1};`, "", "call text in a string"},
		{"```\n[f(x=1)]\n```", `f{"x":1};`, "", "backticks around call text"},
		{`[{"f": {"x": 1, "y": 2, "x": 3}}]`, `f{"x":3,"y":2};`, "", "the last of equal keys counts"},
		{`[]`, ``, "", "no calls"},
		{`[{"f": "{}"}]`, "", "want an object of arguments, got string", "a string is no object of arguments"},
		{`[{}]`, "", "want one key", "an empty object"},
		{`[{"a": {}, "b": {}}]`, "", "got 2 keys", "two keys"},
		{`[{"name": "f", "arguments": "{"}]`, "", `arguments of "f"`, "broken arguments"},
		{`{"f": {}}`, "", "another object", "an object"},
		{`[1]`, "", "call 0: want an object, got number", "a number"},
		{`5`, "", "want a list of calls, got number", "no list"},
		{`[{"f": {"x": NaN}}]`, "", "offset 13", "NaN"},
		{`[{"f": {"x": 1e999}}]`, "", "out of range", "beyond float64"},
		{"[{\"f\": {\"x\": \"\xff\"}}]", "", "invalid UTF-8", "invalid UTF-8"},
		{strings.Repeat("[", 1000), "", "nested deeper than 64", "depth"},
		{`[{"f": {"x": ` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + `}}]`, "", "nested deeper than 64", "the list and the objects count"},
		{`Which bed?`, "", "neither JSON nor call text", "prose"},
		{``, "", "unexpected end", "nothing"},
	} {
		calls, err := Decode([]byte(tt.in))
		if got := show(calls); got != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %.60s: %s, %v, want %s, %s", tt.reason, tt.in, got, err, tt.want, tt.fault)
		}
	}
}

func TestParseCalls(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{`a.b_c(x=1)`, `a.b_c{"x":1};`, "a dotted name"},
		{`[f(), g(), ]`, `f{};g{};`, "commas at the end"},
		{`f(), g()`, `f{};g{};`, "without brackets"},
		{`f(1, 'a', x=None)`, `f{"x":null}+1+"a";`, "positional before named"},
		{`f(x='it\'s', y="a\nb", z='''c"'d''')`, `f{"x":"it's","y":"a\nb","z":"c\"'d"};`, "quotes and escapes"},
		{`f(x='\x41\u00e9\U0001F600\101\q')`, `f{"x":"Aé😀A\\q"};`, "escapes by number; unknown ones stay"},
		{`f(x='a' "b")`, `f{"x":"ab"};`, "strings side by side"},
		{`f(x=-0, y=- 5, z=1_000)`, `f{"x":0,"y":-5,"z":1000};`, "integers"},
		{`f(x=.5, y=1., z=-0.0, w=1e3)`, `f{"x":0.5,"y":1.0,"z":-0.0,"w":1000.0};`, "floats keep their kind"},
		{`f(x=100000000000000000000000000000001)`, `f{"x":100000000000000000000000000000001};`, "integers of any length"},
		{`f(x=(1, [2]), y=(), z=(3), w=(4,))`, `f{"x":[1,[2]],"y":[],"z":3,"w":[4]};`, "tuples"},
		{`f(x={'a': {}, "b": True, 'a': 2})`, `f{"x":{"a":2,"b":true}};`, "the last of equal keys counts"},
		{`f(x=name)`, `f{"x":"name"};`, "a bare name is a string"},
		{`f(größe=1)`, `f{"größe":1};`, "a name in any script"},
	} {
		calls, err := ParseCalls(tt.in)
		if got := show(calls); err != nil || got != tt.want {
			t.Errorf("%s: %s: %s, %v, want %s", tt.reason, tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"", "f", "f(", "f(x=)", "f(x=1", "[f()", "f())", "f() g()", "f(x=1, x=2)", "f(x=1, 2)", "f(*a)", "f(**a)", "f(x=g())", "f(x=a.b)",
		"f(x=a[0])", "f(x=1+2)", "f(x=+1)", "f(x=--1)", "f(x=f'a')", "f(x='a\nb')", "f(x='a)", "f(x={1: 2})", "f(x={1})", "f(x=007)", "f(x=0x10)", "f(x=1j)",
		"f(x=1__0)", "f(x=1e999)", `f(x='\ud800')`, `f(x='\N{DOT}')`, `f(x='\xg0')`, "f(x==1)", "f(x=\xff)", "1f()", "f.(x=1)", "f(x=[1 2])", "f(x=,)", "[f(),,]",
		"f(x=" + strings.Repeat("[", 100) + strings.Repeat("]", 100) + ")", "f(x=not y)", `f(x='\1` + "\x10" + `a`} {
		if calls, err := ParseCalls(in); err == nil {
			t.Errorf("%.40q: %s, want an error", in, show(calls))
		}
	}
}

// A line of the greatest length is read in one pass, whatever it holds.
func TestLongOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, part := range []string{"[", `"a" `, "f(x=1),", "'", `\`, `{"a":`, "(", "a"} {
		in := []byte("f(x=" + strings.Repeat(part, 1<<20/len(part)))
		if calls, err := Decode(in); err == nil {
			t.Errorf("%q: %.40s", part, show(calls))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`[{"f": {"x": 1}}]`, `[f(x=1, y="a")]`, `"f()"`, `{"tool_calls": [{"function": {"name": "f", "arguments": "{}"}, "id": 1}]}`, `[{}]`, "[f(x='\\x41')]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		calls, err := Decode(in)
		if err != nil {
			return
		}
		// What was read is calls of the first form, and reads back as such.
		list := []map[string]json.RawMessage{}
		for _, c := range calls {
			if !utf8.ValidString(c.Name) || !json.Valid(c.Arguments) || !bytes.HasPrefix(c.Arguments, []byte("{")) {
				t.Fatalf("%q: %+v", in, c)
			}
			list = append(list, map[string]json.RawMessage{c.Name: c.Arguments})
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		if err := enc.Encode(list); err != nil {
			t.Fatal(err)
		}
		again, err := Decode(b.Bytes())
		if err != nil {
			if strings.Contains(err.Error(), "nested deeper") {
				return // tool calls and text have other levels around their arguments
			}
			t.Fatalf("%q: %v", b.Bytes(), err)
		}
		for i := range calls {
			calls[i].Positional = nil
		}
		if diff := cmp.Diff(calls, again); diff != "" && len(calls) > 0 {
			t.Fatalf("%q (-read +again):\n%s", in, diff)
		}
	})
}

// No output of any shape panics, in any language, against gold of any shape.
func FuzzCheck(f *testing.F) {
	f.Add("simple_python", `{"type": "array", "items": {"type": "dict"}}`, `[[{"a": ["p"]}], ""]`, []byte(`[{"f": {"x": [{"a": "P"}]}}]`))
	f.Add("simple_java", `{"type": "HashMap"}`, `[{"a": [1]}]`, []byte(`[{"f": {"x": "new HashMap<>() {{ put(\"a\", 1); }}"}}]`))
	f.Add("simple_javascript", `{"type": "array", "items": {"type": "float"}}`, `[[1.0]]`, []byte(`[{"f": {"x": "[[1, 2], [3]]"}}]`))
	f.Add("simple_javascript", `{"type": "dict"}`, `[{"a": [1]}]`, []byte(`[{"f": {"x": "{a: [1, 2], b: 'c'}"}}]`))
	f.Fuzz(func(t *testing.T, category, schema, gold string, output []byte) {
		task := one(schema, gold)
		task.Category = category
		c, err := NewChecker(task, nil)
		if err != nil {
			return
		}
		if v := c.CheckOutput(output); v.Valid != (v.Error == "") || v.Valid && v.Detail != "" {
			t.Fatalf("%+v", v)
		}
		for _, short := range []bool{false, true} {
			if calls, err := task.GoldCalls(short); err == nil {
				c.Check(calls)
			}
		}
	})
}
