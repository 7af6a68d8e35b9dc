package shop

import (
	"strings"
	"testing"
)

func BenchmarkScore(b *testing.B) {
	products, g := shelf()
	g.attributes[2] = products[5].attributes[0]
	s, chosen := newScorer(products), []string{"black", "small"}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.score(&products[i], g, chosen)
		i = (i + 1) % len(products)
	}
}

func BenchmarkNewScorer(b *testing.B) {
	products, _ := shelf()
	b.ReportAllocs()
	for b.Loop() {
		newScorer(products)
	}
}

func BenchmarkTokenSetRatio(b *testing.B) {
	for _, c := range []struct{ name, a, b string }{
		{"contained", "x-large", "large"},
		{"apart", "natural ingredients", "essential oils"},
		{"close", "long sleeve", "long sleeves"},
		{"bytes=1000", strings.Repeat("ab", 500), strings.Repeat("ba", 500)},
		{"bytes=10000", strings.Repeat("ab", 5000), strings.Repeat("ba", 5000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, y := tokens(c.a), tokens(c.b)
			b.ReportAllocs()
			for b.Loop() {
				tokenSetRatio(x, y)
			}
		})
	}
}
