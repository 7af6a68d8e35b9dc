package jsonval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// canonical rewrites a JSON text as it is hashed and compared.
func canonical(data []byte) ([]byte, error) {
	n, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return n.Bytes(Canonical), nil
}

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ name, in, want, reason string }{
		{"call list", `[{"name":"get_weather","arguments":{"units":"metric","city":"Zürich"}}]`,
			`[{"arguments":{"city":"Zürich","units":"metric"},"name":"get_weather"}]`, "keys in order"},
		{"raw characters", `["<&>\u2028\u00e9\ud83d\ude00\/"]`, "[\"<&>\u2028é😀/\"]", "these stay raw"},
		{"control", `["\u0000\u001f\u007f\b\f\n\r\t\"\\"]`, `["\u0000\u001f` + "\x7f" + `\b\f\n\r\t\"\\"]`, "bytes below 0x20, quote and backslash"},
		{"integers", `[5,5.0,-0,123456789012345678901234567890]`, `[5,5.0,0,123456789012345678901234567890]`, "exact, and 5 is not 5.0"},
		{"floats", `[1e2,0.1,-0.0,1e-9]`, `[100.0,0.1,-0.0,1e-09]`, "shortest form, .0 if integral"},
		{"duplicate keys", `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`, "the last wins"},
		{"byte order", `{"é":1,"z":2,"😀":3,"Z":4}`, `{"Z":4,"z":2,"é":1,"😀":3}`, "sorted by UTF-8 bytes"},
		{"space", " {\n\"a\" : [ ] }\t", `{"a":[]}`, "no spaces"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := canonical([]byte(tt.in))
			if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil || tt.reason == "" {
				t.Errorf("canonical(%s) (-want +got):\n%s%v", tt.in, diff, err)
			}
		})
	}
}

func TestCanonicalRejects(t *testing.T) {
	for _, tt := range []struct{ in, reason string }{
		{"\"\xff\"", "invalid UTF-8"}, {`"\ud800"`, "lone surrogate"}, {`"\udc00\ud800"`, "lone surrogate"}, {`1e999`, "out of range"}, {strings.Repeat("9", 400), "out of range"},
		{`NaN`, "expected a value"}, {``, "unexpected end"}, {`{"a":1,}`, "expected a key"}, {`[1,]`, "expected a value"}, {`01`, "text after"},
		{`1.`, "bad number"}, {`-`, "bad number"}, {`"a`, "unexpected end"}, {"\"\n\"", "control character"}, {`"\x"`, "unknown escape"},
		{`"\u12g4"`, "bad \\u escape"}, {`1 2`, "text after"}, {`{"a" 1}`, "expected ':'"}, {`{1:2}`, "expected a key"}, {`[1 2]`, "expected ','"},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), "nested deeper than 64"}, {`"\`, "unexpected end"},
	} {
		if got, err := canonical([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("canonical(%q) = %q, %v; want an error with %q", tt.in, got, err, tt.reason)
		}
	}
	if _, err := canonical([]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64))); err != nil {
		t.Errorf("depth 64 is allowed: %v", err)
	}
}

// FuzzCanonical: what is accepted is valid JSON of the same value, and its canonical form is a fixed point.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.50,-0,1e400,"\ud83d\ude00<"],"a":null}`, `"\ud800"`, `{"a":1,"a":2}`, "[[[[1e-7]]]]", "\xff", `1E+2`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := canonical(data)
		if err != nil {
			return
		}
		again, err := canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not a fixed point: %q, %q, %v", got, again, err)
		}
		var want, have any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("accepted %q, which encoding/json refuses: %v", data, err)
		}
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("wrote %q: %v", got, err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatalf("another value (-want +got):\n%s", diff)
		}
	})
}

// Every value that encoding/json can write has one canonical form, whatever the order of keys and the escaping it came with.
func TestCanonicalIsUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		escaped, _ := json.Marshal(v)
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		x, err1 := canonical(escaped)
		y, err2 := canonical(b.Bytes())
		if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Fatalf("%s and %s: %v %v", x, y, err1, err2)
		}
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	gens := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).AsAny(),
		rapid.SampledFrom([]any{"<tool>", "a\u2028b", "### User", "😀", "日本語", "&&"}),
	}
	if depth > 0 {
		gens = append(gens, rapid.SliceOfN(anyValue(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(gens...)
}

// Of equal keys the last value counts, at the place of the first, in objects of any size and at any depth.
func TestParseDuplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, rapid.SampledFrom([]int{3, 40, 200}).Draw(t, "range")), 0, 120).Draw(t, "keys")
		var text []string
		want := NewObject()
		for i, k := range keys {
			key := fmt.Sprint(k)
			value := NewList(NewString("x"), NewObject(Pair("i", Value{Kind: Number, Text: fmt.Sprint(i)})))
			text = append(text, fmt.Sprintf("%q:%s", key, value.Encode(Compact)))
			if at := slices.IndexFunc(want.Members, func(m Member) bool { return m.Key == key }); at >= 0 {
				want.Members[at].Value = value
			} else {
				want.Members = append(want.Members, Pair(key, value))
			}
		}
		// Behind members of an object that is still open, and items of a list.
		got, err := Parse([]byte(`{"0":[],"1":[[],{` + strings.Join(text, ",") + `}]}`))
		outer := NewObject(Pair("0", NewList()), Pair("1", NewList(NewList(), want)))
		if diff := cmp.Diff(outer, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// What is written in any form and read again is the same value.
func TestParseAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, _ := json.Marshal(anyValue(3).Draw(t, "value"))
		v, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []Form{Compact, Display} {
			again, err := Parse(v.Append([]byte(" "), f))
			if diff := cmp.Diff(v, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
		}
		if c := v.Clone(); EqualForm(&c) != EqualForm(&v) || string(AppendEqualForm([]byte("x"), &v)) != "x"+EqualForm(&v) {
			t.Fatal("a copy is not equal")
		}
	})
}

// A failure is told by structure.
func TestReportsError(t *testing.T) {
	for _, tt := range []struct {
		result string
		want   bool
		reason string
	}{
		{`{"error": "x"}`, true, "a message"}, {`{"error": {"code": 1}}`, true, "an object"}, {`{"error": null}`, false, "none"},
		{`{"error": ""}`, false, "none"},
		{`{"error": false}`, false, "none"}, {`{"error": {}}`, false, "none"}, {`{"status": 404}`, true, "of HTTP"},
		{`{"statusCode": 200}`, false, "of HTTP"},
		{`{"status": "404"}`, false, "a text"}, {`{"isError": true, "content": []}`, true, "of MCP"}, {`{"isError": false}`, false, "of MCP"},
		{`{"isError": false, "error": null}`, false, "of MCP"}, {`{"isError": true, "error": null}`, true, "of MCP"},
		{`{"isError": "true"}`, false, "a text"},
		{`{"a": {"isError": true}}`, false, "not at the top"}, {`[{"error": "x"}]`, false, "not at the top"}, {`"error"`, false, "a text"},
	} {
		v, err := Parse([]byte(tt.result))
		if got := ReportsError(&v); got != tt.want || err != nil || tt.reason == "" {
			t.Errorf("%s: %v, want %v (%s), %v", tt.result, got, tt.want, tt.reason, err)
		}
	}
}

func TestEqualForm(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		equal bool
	}{
		{"1", "1.0", true}, {"1", "1.5", false}, {"9007199254740993", "9007199254740992", false}, {`{"a":[1,2.0],"b":null}`, `{"b":null,"a":[1.0,2]}`, true},
		{`"1"`, "1", false}, {`[1,2]`, `[2,1]`, false}, {"1e2", "100", true}, {"true", `"true"`, false}, {"-0", "0.0", true},
	} {
		a, err1 := Parse([]byte(tt.a))
		b, err2 := Parse([]byte(tt.b))
		if err1 != nil || err2 != nil || (EqualForm(&a) == EqualForm(&b)) != tt.equal {
			t.Errorf("%s and %s: equal is not %v: %v %v", tt.a, tt.b, tt.equal, err1, err2)
		}
	}
}
