package jsonpointer

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const document = `{"":"none","0":"zero","a":{"b":1,"c":[10,[20]]},"a/b":"slash","m~n":"tilde","n":9007199254740993}`

func decoded(t testing.TB, s string) any {
	t.Helper()
	v, err := Decode([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPatch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		set    map[string]string
		want   []string // replaced by turns in the document
		reason string
	}{
		{"field", map[string]string{"/n": "2"}, []string{"9007199254740993", "2"}, "at the top"},
		{"nested", map[string]string{"/a/b": `{"x":null}`}, []string{`"b":1`, `"b":{"x":null}`}, "any JSON value"},
		{"item", map[string]string{"/a/c/0": "11"}, []string{"[10,", "[11,"}, "counted from 0"},
		{"item of an item", map[string]string{"/a/c/1/0": "21"}, []string{"[20]", "[21]"}, "each token is one step"},
		{"list", map[string]string{"/a/c": "[]"}, []string{"[10,[20]]", "[]"}, "the whole of it"},
		{"slash", map[string]string{"/a~1b": `"x"`}, []string{`"slash"`, `"x"`}, "RFC 6901: ~1 is a slash"},
		{"tilde", map[string]string{"/m~0n": `"x"`}, []string{`"tilde"`, `"x"`}, "RFC 6901: ~0 is a tilde"},
		{"empty name", map[string]string{"/": `"x"`}, []string{`"none"`, `"x"`}, "RFC 6901: the field with no name"},
		{"name like an index", map[string]string{"/0": `"x"`}, []string{`"zero"`, `"x"`}, "of an object"},
		{"everything", map[string]string{"": `[1]`}, []string{document, "[1]"}, "RFC 6901: the document"},
		{"several", map[string]string{"/a": `{"b":5}`, "/a/b": "6", "/n": "2"},
			[]string{`{"b":1,"c":[10,[20]]}`, `{"b":6}`, "9007199254740993", "2"}, "what is above comes first"},
		{"none", nil, nil, "nothing is set"},
		{"large number", map[string]string{"/a/b": "9007199254740995"}, []string{`"b":1`, `"b":9007199254740995`}, "digits are kept"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			set := map[string]json.RawMessage{}
			for p, v := range tt.set {
				set[p] = json.RawMessage(v)
			}
			got, err := Patch(decoded(t, document), set)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.NewReplacer(tt.want...).Replace(document); encoded(t, got) != want {
				t.Errorf("%s, want %s (%s)", encoded(t, got), want, tt.reason)
			}
		})
	}
}

func TestPatchRefuses(t *testing.T) {
	for _, tt := range []struct{ pointer, value, want, reason string }{
		{"/a/x", "1", `"/a/x": there is no field "x"`, "nothing is added"},
		{"/x/b", "1", `"/x/b": there is no field "x"`, "nothing is added in between"},
		{"/a~1c", "1", `"/a~1c": there is no field "a/c"`, "the field's name, not the token"},
		{"/a/c/2", "1", `there is no item "2" among 2`, "lists keep their length"},
		{"/a/c/-", "1", `there is no item "-" among 2`, "RFC 6901: the item after the last, which is none"},
		{"/a/c/01", "1", `there is no item "01" among 2`, "RFC 6901: no leading zero"},
		{"/a/c/-1", "1", `there is no item "-1" among 2`, "RFC 6901: no sign"},
		{"/a/c/+1", "1", `there is no item "+1" among 2`, "RFC 6901: no sign"},
		{"/a/c/", "1", `there is no item "" among 2`, "no index"},
		{"/a/c/99999999999999999999", "1", "there is no item", "no overflow"},
		{"/a/c/0/x", "1", `there is nothing below a value at "x"`, "a number"},
		{"/a~1b/x", "1", `there is nothing below a value at "x"`, "a string"},
		{"n", "1", "a JSON pointer begins with a slash", "RFC 6901"},
		{"/a~", "1", `"~" is no escape of a JSON pointer`, "RFC 6901: a tilde is followed by 0 or 1"},
		{"/a~2", "1", `"~2" is no escape of a JSON pointer`, "RFC 6901: a tilde is followed by 0 or 1"},
		{"/n", "{", `value of "/n": unexpected EOF`, "a value is JSON"},
		{"/n", "1 2", `value of "/n": there is more after the JSON value`, "one value"},
		{"/n", "1]", `value of "/n": there is more after the JSON value`, "one value"},
		{"/n", "", `value of "/n": EOF`, "nothing is none"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.pointer)
		}
		got, err := Patch(decoded(t, document), map[string]json.RawMessage{tt.pointer: json.RawMessage(tt.value)})
		if err == nil || !strings.Contains(err.Error(), tt.want) || got != nil {
			t.Errorf("%s = %s: %v, %v, want an error with %q (%s)", tt.pointer, tt.value, got, err, tt.want, tt.reason)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		pointer, parent, rest string
		ok                    bool
		reason                string
	}{
		{"/a", "/a", "", true, "itself"},
		{"/a/b", "/a", "/b", true, "below"},
		{"/a/", "/a", "/", true, "the field with no name"},
		{"/ab", "/a", "b", false, "another field"},
		{"/a~1b", "/a", "~1b", false, "another field"},
		{"/a", "/a/b", "/a", false, "above"},
		{"/a", "", "/a", true, "all is below the document"},
		{"", "", "", true, "the document"},
		{"", "/", "", false, "the document is not below its field"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.pointer)
		}
		rest, ok := Cut(tt.pointer, tt.parent)
		if ok != tt.ok || ok && rest != tt.rest || Below(tt.pointer, tt.parent) != tt.ok {
			t.Errorf("%q after %q: %q, %v, want %q, %v (%s)", tt.pointer, tt.parent, rest, ok, tt.rest, tt.ok, tt.reason)
		}
	}
}

func TestDecode(t *testing.T) {
	for s, ok := range map[string]bool{
		"1": true, " {} ": true, "{}{}": false, "{}]": false, "[": false, "": false, "nul": false, "1.": false, `{"a":1e999}`: true,
	} {
		if v, err := Decode([]byte(s)); (err == nil) != ok {
			t.Errorf("%q: %v, %v", s, v, err)
		}
	}
	if got := encoded(t, decoded(t, `[12345678901234567890,1.50,1e2]`)); got != `[12345678901234567890,1.50,1e2]` {
		t.Errorf("%s: numbers are kept as they are written", got)
	}
}

// A token is read as it was written, is free of slashes and bad escapes, and names an index only in the one form that there is.
func TestTokens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("~/01a")), 0, 9, -1)).Draw(rt, "key")
		token := Escape(key)
		if Unescape(token) != key || strings.Contains(token, "/") || BadEscape("/"+token) != "" {
			rt.Errorf("%q becomes %q, which is read as %q (bad escape %q)", key, token, Unescape(token), BadEscape(token))
		}
		n := rapid.IntRange(0, 12).Draw(rt, "n")
		var want bool
		for i := range n {
			want = want || strconv.Itoa(i) == key
		}
		i, ok := Index(key, n)
		if ok != want || ok && strconv.Itoa(i) != key {
			rt.Errorf("%q of %d: %d, %v", key, n, i, ok)
		}
	})
	for pointer, want := range map[string]string{"/a~0b~1": "", "/a~": "~", "/~2": "~2", "/~/x": "~/", "/~~0": "~~"} {
		if got := BadEscape(pointer); got != want {
			t.Errorf("%q: bad escape %q, want %q", pointer, got, want)
		}
	}
}

// places lists every pointer into a value, with what is there.
func places(v any, pointer string, to map[string]any) {
	to[pointer] = v
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			places(e, pointer+"/"+Escape(k), to)
		}
	case []any:
		for i, e := range v {
			places(e, pointer+"/"+strconv.Itoa(i), to)
		}
	}
}

// Any document, pointer and value: what is accepted is a place of the document, which has the value then, and all else is as it was.
func FuzzPatch(f *testing.F) {
	for _, p := range []string{"", "/", "/a", "/a/b", "/a/c/1/0", "/a~1b", "/m~0n", "/a/c/-", "/a/c/01", "/x", "a", "/~"} {
		f.Add([]byte(document), p, []byte("7"))
	}
	f.Add([]byte(`[[[]]]`), "/0/0", []byte(`{"a":1}`))
	f.Add([]byte(`1`), "", []byte(`[`))
	f.Fuzz(func(t *testing.T, doc []byte, pointer string, value []byte) {
		start, err := Decode(doc)
		if err != nil {
			if json.Valid(doc) {
				t.Fatalf("%s is JSON: %v", doc, err)
			}
			return
		}
		if !json.Valid(doc) {
			t.Fatalf("%s is no JSON", doc)
		}
		before := map[string]any{}
		places(decoded(t, string(doc)), "", before)
		got, err := Patch(start, map[string]json.RawMessage{pointer: value})
		_, known := before[pointer]
		if (err == nil) != (known && json.Valid(value)) {
			t.Fatalf("%s: %q = %s: %v, a place %v", doc, pointer, value, err, known)
		}
		if err != nil {
			return
		}
		after := map[string]any{}
		places(got, "", after)
		if !reflect.DeepEqual(after[pointer], decoded(t, string(value))) {
			t.Fatalf("%s: %q = %s: it is %v", doc, pointer, value, after[pointer])
		}
		for p, v := range before {
			if !Below(p, pointer) && !Below(pointer, p) && !cmp.Equal(after[p], v) {
				t.Fatalf("%s: %q = %s: %q was %v and is %v", doc, pointer, value, p, v, after[p])
			}
		}
		for p := range after {
			if _, ok := before[p]; !ok && !Below(p, pointer) {
				t.Fatalf("%s: %q = %s: %q is new", doc, pointer, value, p)
			}
		}
		if bytes.Equal(doc, value) && pointer == "" && !reflect.DeepEqual(got, decoded(t, string(doc))) {
			t.Fatalf("%s in place of itself is %v", doc, got)
		}
	})
}
