package schema

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/midtool/internal/draw"
)

// What is made for a pattern without assertions matches it as a whole.
func TestFromPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom([]string{
			`[a-z]{3}-\d{2}`, `(foo|ba[rz])+`, `[^a-z]`, `a?b*c+`, `\w{1,20}`, `(a(b(c)?)?){0,3}`, `[A-F0-9]{32}`, `.{5}`, `(?i)abc`, `é+|ß`, `x{2,}`, ``, `[[:punct:]]`, `(?s).`,
		}).Draw(t, "pattern")
		s, ok := fromPattern(draw.New(rapid.Uint64().Draw(t, "seed"), "pattern"), pattern)
		if !ok || !regexp.MustCompile(`^(?:`+pattern+`)$`).MatchString(s) {
			t.Fatalf("%s: %q, %v", pattern, s, ok)
		}
	})
}

// Patterns out of bounds, of nothing, or outside the syntax end at once.
func TestFromPatternBounds(t *testing.T) {
	for _, pattern := range []string{`(((a{100}){100}){10})`, `a{1000}`, `[^\x00-\x{10FFFF}]`, `(?=x)`, `(`, `((((){1000}){10}){10})`} {
		if s, ok := fromPattern(draw.New(1, "pattern"), pattern); ok && len(s) > 256 {
			t.Errorf("%s: %d bytes", pattern, len(s))
		}
	}
}

func FuzzFromPattern(f *testing.F) {
	for _, seed := range []string{`^(a|b)*$`, `[a-`, `(?P<n>x){3}`, `\pL+`, `(x*)*`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if s, _ := fromPattern(draw.New(1, "pattern"), pattern); len(s) > 4096 {
			t.Errorf("%d bytes", len(s))
		}
	})
}
