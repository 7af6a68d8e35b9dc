package skill

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestParseTextBody(t *testing.T) {
	for _, c := range []struct {
		in     string
		steps  []string
		notes  []string
		want   string // in canonical form
		reason string
	}{
		{"", nil, nil, "", "no body"},
		{"- Procedure: a → b -> c\n- note\n", []string{"a", "b", "c"}, []string{"note"}, "- Procedure: a → b → c\n- note\n", "both arrows"},
		{"intro\nof two lines\n\n* a note\n* PROCEDURE:\n  a ->\n\n  b\n* more\n", []string{"a", "b"}, []string{"intro of two lines", "a note", "more"},
			"- Procedure: a → b\n- intro of two lines\n- a note\n- more\n", "any case, any place, continued over lines; text before the first bullet is one note"},
		{"   • procedure: a\nb → c", []string{"a b", "c"}, nil, "- Procedure: a b → c\n", "three spaces and another sign; a line without bullet continues"},
		{"    - Procedure: a\n", nil, []string{"- Procedure: a"}, "- - Procedure: a\n", "four spaces make no bullet"},
		{"- x\n    - y\n\t- z\n-w\n", nil, []string{"x - y - z -w"}, "- x - y - z -w\n", "nor does a tab, nor a sign without a space"},
		{"+ a\n1. b\n", nil, []string{"+ a 1. b"}, "- + a 1. b\n", "other lists are none"},
		{"Procedure: a → b", []string{"a", "b"}, nil, "- Procedure: a → b\n", "text before the first bullet counts as one"},
		{"- Procedure: a\n- x\n- procedure: b -> c", []string{"a"}, []string{"x", "procedure: b -> c"}, "- Procedure: a\n- x\n- procedure: b -> c\n", "a second procedure is a note as it stands"},
		{"- Procedure: → ->  →\n- Procedure: a", []string{"a"}, nil, "- Procedure: a\n", "one without steps says nothing"},
		{"- Procedure: a\n- Procedure: →\n", []string{"a"}, nil, "- Procedure: a\n", "and no note either"},
		{"- Procedures: a → b", nil, []string{"Procedures: a → b"}, "- Procedures: a → b\n", "another word"},
		{"- Procedure: a → b\r\n- c\r\n", []string{"a", "b"}, []string{"c"}, "- Procedure: a → b\n- c\n", "line ends"},
		{"- \n-  \n- a  b\n", nil, []string{"a  b"}, "- a  b\n", "empty bullets; white space inside stays"},
	} {
		got := ParseTextBody(c.in)
		if diff := cmp.Diff(TextBody{c.steps, c.notes}, got); diff != "" || c.reason == "" {
			t.Errorf("%q (%s) (-want +got):\n%s", c.in, c.reason, diff)
		}
		if diff := cmp.Diff(c.want, got.String()); diff != "" {
			t.Errorf("%q (%s) (-want +got):\n%s", c.in, c.reason, diff)
		}
		if diff := cmp.Diff(c.steps, ParseTextBody(c.in).Procedure); diff != "" {
			t.Errorf("%q (%s) (-want +got):\n%s", c.in, c.reason, diff)
		}
	}
	for _, c := range []struct {
		in     TextBody
		want   string
		reason string
	}{
		{TextBody{[]string{"a -> b", " c\n\n d ", "\n", "e → f"}, []string{"x\n- y", "", "a -> b"}}, "- Procedure: a => b → c d → e => f\n- x - y\n- a -> b\n",
			"a text of the caller is one step or one note"},
		{TextBody{Procedure: []string{" "}}, "", "nothing"},
		{ParseTextBody(TextBody{Notes: []string{"x", "Procedure: a -> b"}}.String()), "- Procedure: a → b\n- x\n", "a note of the caller that is a procedure reads back as one"},
	} {
		if got := c.in.String(); got != c.want || c.reason == "" {
			t.Errorf("%q, want %q (%s)", got, c.want, c.reason)
		}
	}
	for body, two := range map[string]bool{"- Procedure: a": false, "- Procedure: a\n- x": false, "- Procedure:\n- Procedure: a": false, "- Procedure: a\n- PROCEDURE: b": true} {
		if _, err := readTextBody(body); (err == errTwoProcedures) != two {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// What is read is written and read again without change, and every word of the body is kept.
func FuzzParseTextBody(f *testing.F) {
	for _, s := range []string{"- Procedure: a → b -> c\n- note\n", "x\n * procedure: a\n\n  ->b\n", "• Procedure:→", "- Procedure: a\n- procedure: b", "a\n- \n\x00- b", "--> - procedure: →x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := ParseTextBody(s)
		for _, x := range append(append([]string(nil), b.Procedure...), b.Notes...) {
			if x == "" || x != strings.TrimSpace(x) || strings.Contains(x, "\n") {
				t.Fatalf("%q of %q", x, s)
			}
		}
		if diff := cmp.Diff(b, ParseTextBody(b.String())); diff != "" {
			t.Fatalf("%q -> %q (-want +got):\n%s", s, b.String(), diff)
		}
		letters := func(s string) (n int) {
			for _, r := range s {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					n++
				}
			}
			return n
		}
		if lost := letters(s) - letters(b.String()); lost > 0 && !strings.Contains(strings.ToLower(s), "procedure:") {
			t.Fatalf("%q -> %q loses %d signs", s, b.String(), lost)
		}
	})
}
