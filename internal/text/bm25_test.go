package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// slowBM25 is the textbook formula over documents in which every field is written out Weight times.
func slowBM25(docs [][]Field, query string) []float64 {
	written := make([][]string, len(docs))
	total := 0.0
	for i, fields := range docs {
		for _, f := range fields {
			for range max(f.Weight, 0) {
				written[i] = append(written[i], Tokens(f.Text)...)
			}
		}
		total += float64(len(written[i]))
	}
	n := float64(len(docs))
	scores := make([]float64, len(docs))
	for _, tok := range Tokens(query) {
		df := 0.0
		for _, w := range written {
			if slices.Contains(w, tok) {
				df++
			}
		}
		for i, w := range written {
			tf := 0.0
			for _, have := range w {
				if have == tok {
					tf++
				}
			}
			if tf > 0 {
				idf := math.Log(1 + (n-df+0.5)/(df+0.5))
				scores[i] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(len(w))/(total/n)))
			}
		}
	}
	return scores
}

func build(docs [][]Field) *BM25 {
	x := new(BM25)
	for _, d := range docs {
		x.Add(d...)
	}
	return x
}

// The index gives what the textbook formula gives, also when it is used again with a dirty destination.
func TestBM25Oracle(t *testing.T) {
	word := rapid.SampledFrom([]string{"alpha", "beta", "gamma", "delta", "the", "x", "getOrder", "order_id", "返金する", ""})
	phrase := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"), " ") })
	field := rapid.Custom(func(t *rapid.T) Field {
		return Field{Text: phrase.Draw(t, "text"), Weight: rapid.IntRange(-1, 3).Draw(t, "weight")}
	})
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(rapid.SliceOfN(field, 0, 3), 0, 6).Draw(t, "docs")
		x := build(docs)
		if x.Len() != len(docs) {
			t.Fatalf("Len() = %d, want %d", x.Len(), len(docs))
		}
		dst := []float64{math.NaN(), 7, 7, 7, 7, 7, 7}
		for range 2 {
			query := phrase.Draw(t, "query")
			dst = x.Score(dst, Tokens(query))
			few := NewBM25(Tokens(query))
			for _, d := range docs {
				few.Add(d...)
			}
			if got := few.Score(nil, Tokens(query)); !slices.Equal(got, dst) {
				t.Fatalf("an index of the tokens of %q gives %v, one of all %v", query, got, dst)
			}
			if diff := cmp.Diff(slowBM25(docs, query), dst, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Fatalf("query %q (-want +got):\n%s", query, diff)
			}
		}
	})
}

func TestBM25Table(t *testing.T) {
	// Two documents of 1 and 3 tokens (average 2); df = 1 of 2, so idf = ln(1 + 1.5/1.5) = ln 2.
	docs := [][]Field{{{"refund", 1}}, {{"order", 2}, {"status", 1}}}
	short := math.Ln2 * 2.2 / (1 + 1.2*(0.25+0.75*0.5))
	double := math.Ln2 * 2 * 2.2 / (2 + 1.2*(0.25+0.75*1.5))
	for _, tt := range []struct {
		name, query string
		want        []float64
		reason      string
	}{
		{"one token", "refund", []float64{short, 0}, "formula by hand"},
		{"weight", "order", []float64{0, double}, "weight 2 is a count of 2"},
		{"repeated", "refund, refund!", []float64{2 * short, 0}, "each occurrence in the query counts"},
		{"unknown", "invoice", []float64{0, 0}, "no document holds it"},
		{"empty", "", []float64{0, 0}, "no tokens"},
		{"stop words", "the of and", []float64{0, 0}, "stop words are no tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := build(docs).Score(nil, Tokens(tt.query))
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
	if got := new(BM25).Score(nil, []string{"refund"}); len(got) != 0 {
		t.Errorf("empty index: %v", got)
	}
	if got := NewBM25([]string{"refund"}).Score(nil, []string{"refund", "order"}); len(got) != 0 {
		t.Errorf("empty index of one token: %v", got)
	}
	one := NewBM25([]string{"refund"})
	one.Add(Field{Text: "refund the order", Weight: 1})
	if got := one.Score(nil, []string{"order"}); got[0] != 0 {
		t.Errorf("a token that is not in the index scores %v", got)
	}
	empty := build([][]Field{nil, {{"", 1}}})
	if diff := cmp.Diff([]float64{0, 0}, empty.Score(nil, []string{"refund"})); diff != "" {
		t.Errorf("documents without tokens (-want +got):\n%s", diff)
	}
}

func randomDocs(n int) [][]Field {
	rng := rand.New(rand.NewPCG(1, 2))
	docs := make([][]Field, n)
	for i := range docs {
		var b strings.Builder
		for range 80 {
			fmt.Fprintf(&b, "word%d ", int(rng.ExpFloat64()*300))
		}
		docs[i] = []Field{{b.String(), 1}}
	}
	return docs
}

func BenchmarkBM25Add(b *testing.B) {
	docs := randomDocs(1000)
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			build(docs)
		}
	})
	b.Run("few", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x := NewBM25(Tokens("word1 word7 word30 word110 word400 word900"))
			for _, d := range docs {
				x.Add(d...)
			}
		}
	})
}

func BenchmarkBM25Score(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := build(randomDocs(n))
			query := Tokens("word1 word7 word30 word110 word400 word900")
			var dst []float64
			b.ReportAllocs()
			for b.Loop() {
				dst = x.Score(dst, query)
			}
		})
	}
}
