package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/internal/text"
)

var approx = cmpopts.EquateApprox(1e-12, 1e-12)

// wantError fails the test unless err names all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not contain %q", err, p)
		}
	}
}

func fit(t interface{ Fatal(...any) }, corpus ...string) *TFIDF {
	e, err := FitTFIDF(corpus)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTFIDF(t *testing.T) {
	// N = 3; df: cabinet 1, go 2, open 2, sink 1.
	e := fit(t, "go sink", "open cabinet, go", "Open the OPEN")
	one, two := math.Log(4./2)+1, math.Log(4./3)+1
	double := (1 + math.Log(2)) * one
	for _, tt := range []struct {
		text   string
		want   []float64 // before division by the length
		reason string
	}{
		{"open sink", []float64{0, 0, two, one}, "one of each: ln(4/3)+1 and ln(4/2)+1"},
		{"sink of the sink", []float64{0, 0, 0, double}, "1+ln 2 times ln(4/2)+1; stop words count for nothing"},
		{"sink, open sink", []float64{0, 0, two, double}, "both"},
		{"openSink goto", []float64{0, 0, two, one}, "split at camelCase; a word that the corpus has not is ignored"},
		{"violin", []float64{0, 0, 0, 0}, "no word of the corpus"},
		{"", []float64{0, 0, 0, 0}, "no words"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		var norm float64
		for _, x := range tt.want {
			norm += x * x
		}
		if norm > 0 {
			for i := range tt.want {
				tt.want[i] /= math.Sqrt(norm)
			}
		}
		got, err := e.Embed(t.Context(), []string{tt.text})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff([][]float64{tt.want}, got, approx); diff != "" {
			t.Errorf("%q: %s (-want +got):\n%s", tt.text, tt.reason, diff)
		}
	}
}

// words draws a text of few words, so that they repeat.
func words(t *rapid.T, name string) string {
	word := rapid.SampledFrom([]string{"open", "Close", "take", "mug2", "the", "邮件", "x"})
	return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, name), " ")
}

// Vectors equal those of the formula counted word by word, have unit length or are 0, and depend on the bag of words alone; the order
// of the corpus does not matter, and the ID is the same exactly where the counts are.
func TestTFIDFLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		corpus := make([]string, rapid.IntRange(1, 8).Draw(t, "N"))
		for i := range corpus {
			corpus[i] = words(t, "corpus")
		}
		texts := make([]string, rapid.IntRange(0, 4).Draw(t, "n"))
		for i := range texts {
			texts[i] = words(t, "text")
		}
		var vocabulary []string
		for _, s := range corpus {
			vocabulary = append(vocabulary, text.Tokens(s)...)
		}
		slices.Sort(vocabulary)
		vocabulary = slices.Compact(vocabulary)
		e, err := FitTFIDF(corpus)
		if (err != nil) != (len(vocabulary) == 0) {
			t.Fatalf("%d words give the error %v", len(vocabulary), err)
		}
		if err != nil {
			return
		}
		count := func(s, word string) (n int) {
			for _, w := range text.Tokens(s) {
				if w == word {
					n++
				}
			}
			return n
		}
		got, err := e.Embed(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			want, sum := make([]float64, len(vocabulary)), 0.
			for k, word := range vocabulary {
				df := 0
				for _, c := range corpus {
					df += min(1, count(c, word))
				}
				if n := count(s, word); n > 0 {
					want[k] = (1 + math.Log(float64(n))) * (math.Log(float64(1+len(corpus))/float64(1+df)) + 1)
				}
				sum += want[k] * want[k]
			}
			for k := range want {
				if sum > 0 {
					want[k] /= math.Sqrt(sum)
				}
			}
			if diff := gocmp.Diff(want, got[i], approx); diff != "" {
				t.Fatalf("%q (-want +got):\n%s", s, diff)
			}
			mixed := strings.Join(rapid.Permutation(strings.Fields(s)).Draw(t, "mixed"), ", ")
			again, err := e.Embed(context.Background(), []string{mixed})
			if err != nil || !slices.Equal(again[0], got[i]) {
				t.Fatalf("%q has %v, %q has %v (%v)", s, got[i], mixed, again, err)
			}
		}
		other := fit(t, rapid.Permutation(corpus).Draw(t, "order")...)
		if e.ID() != other.ID() {
			t.Fatalf("IDs %s and %s for one corpus in two orders", e.ID(), other.ID())
		}
		if more := fit(t, append(corpus, "")...); more.ID() == e.ID() {
			t.Fatal("the same ID for a corpus with one more text")
		}
		if more := fit(t, append(corpus[1:len(corpus):len(corpus)], corpus[0]+" violin")...); more.ID() == e.ID() {
			t.Fatal("the same ID for a corpus with one more word")
		}
	})
}

// The order of the words does not even change the rounding.
func TestTFIDFOrder(t *testing.T) {
	texts := corpus(300)
	e := fit(t, texts...)
	for _, s := range texts {
		fields := strings.Fields(s)
		slices.Reverse(fields)
		got, err := e.Embed(t.Context(), []string{s, strings.Join(fields, " ")})
		if err != nil || !slices.Equal(got[0], got[1]) {
			t.Fatalf("%q backwards has another vector (%v)", s, err)
		}
	}
}

func TestTFIDFErrors(t *testing.T) {
	for _, corpus := range [][]string{nil, {}} {
		_, err := FitTFIDF(corpus)
		wantError(t, err, "embed: tf-idf", "no texts")
	}
	_, err := FitTFIDF([]string{"of the", "?"})
	wantError(t, err, "embed: tf-idf", "2 texts", "no words")
	_, err = new(TFIDF).Embed(t.Context(), []string{"a"})
	wantError(t, err, "embed: tf-idf", "FitTFIDF")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fit(t, "open").Embed(done, []string{"open"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a done context gives %v", err)
	}
}

func TestTFIDFConcurrent(t *testing.T) {
	e := fit(t, "open drawer", "close drawer")
	want, err := e.Embed(t.Context(), []string{"open drawer"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				got, err := e.Embed(t.Context(), []string{"open drawer"})
				if err != nil || !slices.Equal(got[0], want[0]) {
					t.Errorf("%v (%v), want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

// corpus returns n texts of 12 words out of n/10+100.
func corpus(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range 12 {
			fmt.Fprintf(&b, "word%d ", r.IntN(n/10+100))
		}
		out[i] = b.String()
	}
	return out
}

func BenchmarkFitTFIDF(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		texts := corpus(n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fit(b, texts...)
			}
		})
	}
}

func BenchmarkTFIDFEmbed(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		texts := corpus(n)
		e := fit(b, texts...)
		b.Run(fmt.Sprintf("words=%d/texts=256", len(e.idf)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Embed(b.Context(), texts[:256])
			}
		})
	}
}
