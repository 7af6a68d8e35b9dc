package document

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Parts of secrets are put together here, so that no scanner takes this file for a leak.
const (
	pemHead = "-----BEGIN " + "RSA PRIVATE KEY-----"
	pemTail = "-----END " + "RSA PRIVATE KEY-----"
	base64  = "MIIEowIBAAKCAQEAx0kV9bqTGmVq7cOeR5y0"
)

func TestRedact(t *testing.T) {
	aws, gh, sk, xox := "AK"+"IAABCDEFGHIJKLMNOP", "gh"+"p_"+strings.Repeat("a1", 18), "s"+"k-abcdefghij0123456789", "xo"+"xb-1234567890"
	for _, tt := range []struct {
		name, in, want string
		n              int
		reason         string
	}{
		{"none", "AKIA, ghp_, sk- and xoxb- are prefixes", "", 0, "nothing follows them"},
		{"aws", "id=" + aws + ".", "id=<SECRET>.", 1, "20 characters"},
		{"aws short", aws[:19], "", 0, "19 characters"},
		{"aws lower", "AKIAabcdefghijklmnop", "", 0, "lower case"},
		{"github", gh + "!", "<SECRET>!", 1, "36 after the prefix"},
		{"github long", "x" + strings.Replace(gh, "p", "s", 1) + "zz", "x<SECRET>", 1, "all that belongs to it"},
		{"github short", gh[:39], "", 0, "35 after the prefix"},
		{"sk", `"` + sk + `"`, `"<SECRET>"`, 1, "20 after the prefix"},
		{"sk in a word", "ta" + sk + " di" + sk + " _" + sk, "", 0, "the end of another word"},
		{"sk after a mark", "(" + sk, "(<SECRET>", 1, "a word starts after it"},
		{"slack", xox + "-x", "<SECRET>", 1, "dashes belong to it"},
		{"slack other", strings.Replace(xox, "b", "q", 1), "", 0, "no such kind"},
		{"pem", "a\n" + pemHead + "\n" + base64 + "\n" + pemTail + "\nb", "a\n<SECRET>\nb", 1, "the whole block"},
		{"pem in a string", `k = "` + pemHead + `\n` + base64 + `\n` + pemTail + `"`, `k = "<SECRET>"`, 1, "line breaks may be escaped"},
		{"pem cut", pemHead + "\n" + base64 + "\n" + base64 + "\n\nprose", "<SECRET>\n\nprose", 1, "the lines of base64"},
		{"pem in prose", "A line " + pemHead + " starts a key.\nShort prose.", "", 0, "no key follows"},
		{"pem public", strings.ReplaceAll(pemHead+"\n"+base64+"\n"+pemTail, "RSA PRIVATE", "PUBLIC"), "", 0, "not private"},
		{"pem far", pemHead + strings.Repeat(" prose", 20_000) + pemTail, "", 0, "the end belongs to something else"},
		{"pgp", strings.ReplaceAll(pemHead+"\nx\n"+pemTail, "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "<SECRET>", 1, "keys of PGP"},
		{"two", aws + sk + " " + gh, "<SECRET><SECRET> <SECRET>", 3, "side by side"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		if tt.n == 0 {
			tt.want = tt.in
		}
		if got, n := Redact(tt.in); got != tt.want || n != tt.n {
			t.Errorf("%s: %.200q, %d, want %.200q, %d (%s)", tt.name, got, n, tt.want, tt.n, tt.reason)
		}
	}
}

// The patterns as regular expressions, tried at every place from left to right.
var (
	slowSecret = regexp.MustCompile(`^(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|xox[abprs]-[A-Za-z0-9-]{10,})`)
	slowKey    = regexp.MustCompile(`^sk-[A-Za-z0-9_-]{20,}`)
	slowBefore = regexp.MustCompile(`[A-Za-z0-9_-]$`)
)

func slowRedact(text string) (string, int) {
	var out strings.Builder
	done, n := 0, 0
	for i := 0; i < len(text); {
		found := slowSecret.FindString(text[i:])
		if found == "" && !slowBefore.MatchString(text[done:i]) {
			found = slowKey.FindString(text[i:])
		}
		if found == "" {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(secretMark)
		i += len(found)
		done = i
		n++
	}
	return out.String(), n
}

// Without keys in PEM form, Redact does what the regular expressions do; it is idempotent and keeps UTF-8 valid.
func TestRedactAgainstRegexp(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"AKIA", "ghp_", "gho_", "s" + "k-", "xoxb-", "xoxa-", " ", "-", "_", "é", "\n", "A", "0"}),
		rapid.StringMatching(`[A-Z0-9]{10,40}`), rapid.StringMatching(`[a-z0-9-]{5,20}`))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		want, wantN := slowRedact(text)
		got, n := Redact(text)
		if got != want || n != wantN {
			t.Fatalf("%q: %q, %d, want %q, %d", text, got, n, want, wantN)
		}
		if again, more := Redact(got); again != got || more != 0 {
			t.Fatalf("%q: %q, then %q", text, got, again)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("%q: %q", text, got)
		}
	})
}

// Time is linear where prefixes come without end.
func TestRedactHostile(t *testing.T) {
	for _, piece := range []string{pemHead, pemHead + "\n", pemHead + "\n" + base64 + "\n", pemTail + pemHead, "AKIA", "ghp_", "sk-", " sk-", "xoxb-", "xox", "-----BEGIN ", "-"} {
		text := strings.Repeat(piece, 4<<20/len(piece))
		got, _ := Redact(text)
		if len(got) > len(text) {
			t.Errorf("%q: %d bytes of %d", piece, len(got), len(text))
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	line := "The client sends a request with the token in its header and sk-ips lines; the task-runner asks AKIN to it.\n"
	for _, n := range []int{1 << 16, 1 << 20, 1 << 24} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := strings.Repeat(line, n/len(line))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Redact(text)
			}
		})
	}
}
