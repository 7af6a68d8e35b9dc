package sim

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

func TestArgs(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		names     []string
		want      map[string]any
		message   string
		reason    string
	}{
		{"none", "", nil, nil, "", "nil arguments are the empty object"},
		{"empty", "{}", nil, map[string]any{}, "", "as the schema says"},
		{"spaces", " { \"a\" : 1 } ", []string{"a"}, map[string]any{"a": 1.0}, "", "JSON"},
		{"two", `{"b":null,"a":"x"}`, []string{"a", "b"}, map[string]any{"a": "x", "b": nil}, "", "null is a value"},
		{"repeated", `{"a":1,"a":2}`, []string{"a"}, map[string]any{"a": 2.0}, "", "the last one counts"},
		{"missing", `{"a":1}`, []string{"a", "b"}, nil, "missing argument b", "the first in the order of names"},
		{"missing all", "", []string{"a", "b"}, nil, "missing argument a", "the first in the order of names"},
		{"unknown", `{"z":1,"a":1,"y":1}`, []string{"a"}, nil, `unknown argument "y"`, "the first by name"},
		{"unknown and missing", `{"b":1}`, []string{"a"}, nil, "missing argument a", "that is told first"},
		{"other letters", `{"A":1}`, []string{"a"}, nil, "missing argument a", "names are exact"},
		{"long name", `{"` + strings.Repeat("x", 100) + `":1}`, nil, nil, `unknown argument "` + strings.Repeat("x", 64) + `..."`, "it is cut"},
		{"null", "null", nil, nil, "arguments must be one JSON object", "null is none"},
		{"list", "[]", nil, nil, "arguments must be one JSON object", "nor is a list"},
		{"string", `"a"`, nil, nil, "arguments must be one JSON object", "nor is a string"},
		{"two objects", "{}{}", nil, nil, "arguments must be one JSON object", "nor are two"},
		{"cut", `{"a":`, []string{"a"}, nil, "arguments must be one JSON object", "nor is half"},
		{"space", " ", nil, nil, "arguments must be one JSON object", "nothing is no object, unless there are no bytes"},
		{"range", `{"a":1e999}`, []string{"a"}, nil, "arguments must be one JSON object", "no float64"},
		{"deep", strings.Repeat("[", 8000), nil, nil, "arguments must be one JSON object", "bounded"},
		{"8192 bytes", "{" + strings.Repeat(" ", 8190) + "}", nil, map[string]any{}, "", "that much"},
		{"8193 bytes", "{" + strings.Repeat(" ", 8191) + "}", nil, nil, "arguments of 8193 bytes are longer than 8192", "and no more"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		got, refusal := Args(json.RawMessage(tt.raw), tt.names...)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (%s, -want +got):\n%s", tt.name, tt.reason, d)
		}
		var want *envharness.ActionError
		if tt.message != "" {
			want = &envharness.ActionError{Class: envharness.ClassBadArgs, Message: tt.message}
		}
		if d := cmp.Diff(want, refusal); d != "" {
			t.Errorf("%s (%s, -want +got):\n%s", tt.name, tt.reason, d)
		}
	}
}

// slowString is StringArg by its words alone.
func slowString(raw []byte, name string) (string, *envharness.ActionError) {
	args, refusal := Args(raw, name)
	if refusal != nil {
		return "", refusal
	}
	s, ok := args[name].(string)
	if !ok {
		return "", Refuse(envharness.ClassBadArgs, "argument %s must be a string", name)
	}
	return s, nil
}

// StringArg is one argument of Args, for all bytes and all names.
func FuzzStringArg(f *testing.F) {
	for _, raw := range []string{
		"", "{}", `{"text":"go to desk 1"}`, `{"text":""}`, `{"text":"a\nb"}`, `{"text":"a","x":1}`, `{"text":"a","text":"b"}`, `{"text":"é"}`,
		"{\"text\":\"\xff\"}", "{\"text\":\"\x7f\"}", "{\"text\":\"\t\"}",
		`{"text":1}`, `{"text":null}`, ` {"text":"a"}`, `{"text": "a"}`, `{"text":"a"} `, `{"text":"a"`,
		`{"text":"a","b":"c"}`, `{"text":"a\\"}`, `{"text":"\""}`, `{"text":"}`, `{"text":"a"}}`, "null", `{"tex":"a"}`, `{"texts":"a"}`,
		`{"text":"` + strings.Repeat("a", maxArgs) + `"}`, `{"text":"` + strings.Repeat("a", maxArgs-11) + `"}`,
	} {
		f.Add([]byte(raw), "text")
	}
	f.Add([]byte(`{"a":"b","c":"d"}`), `a":"b","c`)
	f.Add([]byte(`{"":"d"}`), "")
	f.Add([]byte(`{"\u0061":"d"}`), `\u0061`)
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		got, refusal := StringArg(raw, name)
		want, slow := slowString(raw, name)
		if got != want || !cmp.Equal(refusal, slow) {
			t.Errorf("%q of %q: %q, %+v, want %q, %+v", name, raw, got, refusal, want, slow)
		}
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
	})
}

// The usual form is the fast one.
func TestPlainArg(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"text":"go to desk 1"}`: true, `{"text":""}`: true, `{"text":"é"}`: false, `{"text": "a"}`: false, `{"text":"\n"}`: false, `{"next":"a"}`: false,
	} {
		if _, ok := plainArg([]byte(raw), "text"); ok != want {
			t.Errorf("%s: plain %v", raw, ok)
		}
	}
}

// Args gives what encoding/json does, or a refusal that can be shown.
func FuzzArgs(f *testing.F) {
	for _, raw := range []string{"", "{}", `{"a":1,"b":[{}]}`, `{"a":1}`, `{"a":1,"b":2,"c":3}`, "null", "[", "{\"\xff\":1,\"a\":1,\"b\":1}"} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, refusal := Args(raw, "a", "b")
		var want map[string]any
		err := json.Unmarshal(raw, &want)
		_, a := want["a"]
		_, b := want["b"]
		if ok := err == nil && a && b && len(want) == 2 && len(raw) <= maxArgs; ok != (refusal == nil) || ok && !cmp.Equal(args, want) {
			t.Errorf("%q: %v, %+v, want %v", raw, args, refusal, want)
		}
		if refusal != nil && (refusal.Class != envharness.ClassBadArgs || refusal.Message == "" || len(refusal.Message) > 400 ||
			!utf8.ValidString(refusal.Message)) {
			t.Errorf("%q: %+v", raw, refusal)
		}
	})
}

func TestClip(t *testing.T) {
	for _, tt := range []struct{ s, want, reason string }{
		{"", "", "nothing"},
		{strings.Repeat("x", 64), strings.Repeat("x", 64), "as long as may be"},
		{strings.Repeat("x", 65), strings.Repeat("x", 64) + "...", "one more"},
		{strings.Repeat("é", 64), strings.Repeat("é", 64), "characters, not bytes"},
		{strings.Repeat("é", 65), strings.Repeat("é", 64) + "...", "characters, not bytes"},
		{"a\xffb", "a\uFFFDb", "what is shown is UTF-8"},
		{strings.Repeat("\xff", 100), "\uFFFD...", "a run of bytes that are none is one character when shown"},
	} {
		if got := Clip(tt.s); got != tt.want {
			t.Errorf("%q: %q, want %q (%s)", tt.s, got, tt.want, tt.reason)
		}
	}
}
