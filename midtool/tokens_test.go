package midtool

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestApproxTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{ // counted by hand
		{"", 0}, {"hello world", 2}, {"get_weather", 3}, {`{"city": "Oslo"}`, 6}, {"Zürich", 3}, {"2027-03-03", 10},
		{"internationalisation", 2}, {"a  b", 3}, {"a\r\n\nb", 3}, {"******", 2}, {"\xff\xfe日", 3}, {" ", 0}, {"\t ", 1},
	} {
		if got := ApproxTokens(tt.text); got != tt.want {
			t.Errorf("ApproxTokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

// slowTokens counts run by run, as the comment of ApproxTokens says it.
func slowTokens(text string) int {
	class := func(r rune) int {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			return 1
		case r >= '0' && r <= '9':
			return 2
		case r == ' ' || r == '\t':
			return 3
		case r == '\n' || r == '\r':
			return 4
		case r >= 0x80:
			return 5
		}
		return 6
	}
	total, runes := 0, []rune(text)
	for i := 0; i < len(runes); {
		j := i
		for j < len(runes) && class(runes[j]) == class(runes[i]) {
			j++
		}
		switch n := j - i; class(runes[i]) {
		case 1:
			total += (n + 9) / 10
		case 2, 5:
			total += n
		case 3:
			if n > 1 {
				total++
			}
		case 4:
			total++
		case 6:
			total += (n + 4) / 5
		}
		i = j
	}
	return total
}

// The count is that of the definition, also for a text that comes in pieces of which some were counted before.
func TestTokenPieces(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab1 \t\n\"{},é日")))).Filter(func(s string) bool { return len(s) < 200 })
	rapid.Check(t, func(t *rapid.T) {
		var whole strings.Builder
		var c tokenCounter
		for range rapid.IntRange(0, 5).Draw(t, "pieces") {
			piece := text.Draw(t, "text")
			if rapid.Bool().Draw(t, "span") {
				piece = `{"a` + piece + `"}`
				c.join(spanOf([]byte(piece)))
			} else {
				countTokens(&c, piece)
			}
			whole.WriteString(piece)
		}
		want := slowTokens(whole.String())
		if got := c.sum(); got != want {
			t.Fatalf("in pieces %d, want %d: %q", got, want, whole.String())
		}
		if got := ApproxTokens(whole.String()); got != want {
			t.Fatalf("as a whole %d, want %d: %q", got, want, whole.String())
		}
	})
}

func BenchmarkApproxTokens(b *testing.B) {
	b.ReportAllocs()
	line := string((&messageWriter{}).sample(nil, new(clean())))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		ApproxTokens(line)
	}
}
