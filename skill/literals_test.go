package skill

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAbstraction(t *testing.T) {
	for _, c := range []struct{ in, want, reason string }{
		{"take mug 2 from cabinet 4 ; put mug 2 in/on shelf 1", "take mug <n> from cabinet <n_2> ; put mug <n> in/on shelf <n_3>", "worked example: a number belongs to the word before it"},
		{`send "Hi Bob" to bob@example.com and to amy@example.com on 2024-05-01 at 10:30`, "send <text> to <email> and to <email_2> on <date> at <time>", "worked example"},
		{"commit 9f1c2d3e4b in v2 of app3", "commit <id> in v2 of app3", "worked example: numbers inside words stay"},
		{"price -12.50 and 3", "price <n> and <n_2>", "worked example"},
		{"see https://x.example/a?b=1 now", "see <url> now", "url to white space"},
		{`say "a 'b' c" and 'it's ok' don't`, "say <text> and <text_2> don't", "an apostrophe inside a word quotes nothing"},
		{`"a" or 'a'`, "<text> or <text>", "quotation marks do not make two values"},
		{"'90s rock", "'90s rock", "no closing quote"},
		{`a "b` + "\n" + `c" d`, `a "b` + "\n" + `c" d`, "a quotation stays on its line"},
		{"550e8400-e29b-41d4-a716-446655440000 deadbeef decade12 12345678 0123456f", "<id> deadbeef <id_2> <n> <id_3>", "hexadecimal digits of both kinds, at least 8"},
		{"at 2024-05-01T10:30:00Z or 2024-05-01 9:05 or 2024-05-011", "at <date> or <date_2> or <n>-<n_2>-<n_3>", "date with time; 011 makes no date"},
		{"ls ./a/b.txt ~/x /etc/hosts and/or a/b 1/2 / .", "ls <path> <path_2> <path_3> and/or a/b <n>/<n_2> / .", "a path touches no word on its left"},
		{"x=5 y=5 x=5 1.2.3 3.", "x=<n> y=<n_2> x=<n> <n_3>.3 <n_4>.", "same word and number, same placeholder"},
		{"<n> and <n_2> 7", "<n> and <n_2> <n>", "placeholders are not touched"},
		{"<b>5<b>", "<b><n><b>", "other angle brackets are no placeholders"},
		{"5http://x.example 'a'", "5<url> <text>", "what touches a literal is no number"},
		{"a+bob@x.example/c", "<email>/c", "an e-mail ends where its domain does"},
	} {
		if got := newAbstraction(nil, nil).text(c.in); got != c.want {
			t.Errorf("%q -> %q, want %q (%s)", c.in, got, c.want, c.reason)
		}
	}
	a := newAbstraction(nil, nil)
	if got := []string{a.name("id_2", "x"), a.name("id", "y"), a.name("id", "z"), a.name("id", "y")}; got[0] != "id_2" || got[1] != "id" || got[2] != "id_3" || got[3] != "id" {
		t.Errorf("%q: a placeholder stands for two values", got)
	}
	keep := func(kind, value string) bool { return kind == "n" && value == "2" }
	if got := newAbstraction(keep, nil).text("mug 2 on shelf 3"); got != "mug 2 on shelf <n>" {
		t.Errorf("kept literal: %q", got)
	}
}

var leaks = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9]|https?://[^\s"'<>]|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// checkAbstraction states the law: a second pass changes nothing, and no e-mail, URL or UUID is left.
func checkAbstraction(t interface{ Fatalf(string, ...any) }, s string) {
	once := newAbstraction(nil, nil).text(s)
	if twice := newAbstraction(nil, nil).text(once); twice != once {
		t.Fatalf("%q -> %q -> %q", s, once, twice)
	}
	if l := leaks.FindString(once); l != "" {
		t.Fatalf("%q -> %q leaks %q", s, once, l)
	}
}

func TestAbstractionIdempotent(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"a@b.cd", "http://x", `"q"`, "'q'", "'", `"`, "550e8400-e29b-41d4-a716-446655440000", "0123456f", "2024-05-01", "10:30", "/a/b",
		"../", "5", "-5.5", ".", "x", "_", " ", "\n", "<n>", "<", ">", "<text_2>", "@", "é", ":", "-", "+"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		checkAbstraction(t, strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), ""))
	})
}

func FuzzAbstraction(f *testing.F) {
	for _, s := range []string{"mug 2 'a' \"b\" /c/d a@b.cd http://x 2024-05-01 10:30 0123456f", "5http://x'y'<n>_5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkAbstraction(t, s) })
}

// A description is found by its words: nothing of an identifier may be left behind.
func TestDescribe(t *testing.T) {
	for _, c := range []struct{ in, want, reason string }{
		{"Please send me HEA-22 for order #1234.", "Please send me for order", "prefixes joined to a number go with it"},
		{"Is ticket K-0012 done?", "Is ticket done?", "no blank before punctuation"},
		{"ask ann@example.com, then W-1-7; ok", "ask, then; ok", "several literals"},
		{"a well-known state-of-the-art tool", "a well-known state-of-the-art tool", "hyphens between words stay"},
		{"call find_customer(email) first", "call find customer first", "names become words, arguments go"},
	} {
		if got := describe(c.in, nil); got != c.want {
			t.Errorf("describe(%q) = %q, want %q: %s", c.in, got, c.want, c.reason)
		}
	}
	describe(strings.Repeat("a-", 1<<17), nil) // in linear time
}
