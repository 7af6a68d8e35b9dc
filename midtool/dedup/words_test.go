package dedup

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// slowWords says in other words what a word is.
func slowWords(text string, zero bool) []string {
	text = strings.ToLower(text)
	if zero {
		text = number.ReplaceAllString(text, "0")
	}
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// slowShingles are the distinct shingles themselves.
func slowShingles(text string, k int, zero bool) map[string]bool {
	words := slowWords(text, zero)
	set := make(map[string]bool)
	if 0 < len(words) && len(words) < k {
		k = len(words)
	}
	for i := 0; i+k <= len(words); i++ {
		set[strings.Join(words[i:i+k], " ")] = true
	}
	return set
}

func slowJaccard(a, b map[string]bool) float64 {
	shared := 0
	for s := range a {
		if b[s] {
			shared++
		}
	}
	if shared == 0 {
		return 0
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}

// anyText has what words are made of and what parts them, in and out of ASCII, and bytes that are no UTF-8.
var anyText = rapid.Custom(func(t *rapid.T) string {
	pieces := []string{"a", "B", "ab", "7", "42", ".", ",", " ", "  ", "\n", "_", "-",
		"Ä", "ß", "İ", "猫", "٣", "²", "\u0301", "\u2028", "😀",
		"\xff", "\xe4", "3.5", "1,200", "x1.y2"}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
})

// Words and shingles are those of the slow reading, on any text.
func TestWords(t *testing.T) {
	var c cutter // used again and again
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(anyText, rapid.String()).Draw(t, "text")
		zero := rapid.Bool().Draw(t, "zero")
		k := rapid.IntRange(1, 6).Draw(t, "k")
		c.words(text, zero)
		if got, want := string(c.text), strings.Join(slowWords(text, zero), " "); got != want {
			t.Fatalf("words of %q: %q, want %q", text, got, want)
		}
		var want []uint64
		for s := range slowShingles(text, k, zero) {
			want = append(want, shingleHash([]byte(s)))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, c.shingles(text, k, zero), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("shingles of %q (-want +got):\n%s", text, diff)
		}
	})
}

// The numbers of the published functions, by a calculation of their own.
func TestHashes(t *testing.T) {
	const text = "get weather in oslo now"
	if got, want := shingleHash([]byte(text)), uint64(2261130962092902239); got != want {
		t.Errorf("shingle hash %d, want %d", got, want)
	}
	s, err := NewSketcher(&Options{Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	if s.factors[0] != 2150242486686805664 || s.addends[0] != 643983082913198340 {
		t.Errorf("first function %d h + %d", s.factors[0], s.addends[0])
	}
	minima := make([]uint64, len(s.factors))
	s.minHash(minima, new(cutter).shingles("Get weather in Oslo, now!", 5, false))
	if minima[0] != 499992365557094104 {
		t.Errorf("first value %d", minima[0])
	}
}

// Every value is the least of (f h + c) mod p in exact arithmetic, also at the ends of the range and over many blocks.
func TestMinHash(t *testing.T) {
	p := big.NewInt(prime)
	value := rapid.OneOf(rapid.Uint64Range(0, prime-1), rapid.SampledFrom([]uint64{0, 1, 2, prime - 2, prime - 1}))
	rapid.Check(t, func(t *rapid.T) {
		s := &Sketcher{rows: 1}
		for range 3 {
			s.factors = append(s.factors, max(1, value.Draw(t, "factor")))
			s.addends = append(s.addends, value.Draw(t, "addend"))
		}
		set := rapid.SliceOfN(value, 1, 20).Draw(t, "set")
		r := rand.New(rand.NewPCG(1, uint64(len(set))))
		for range rapid.SampledFrom([]int{0, 0, 0, 3000}).Draw(t, "more") {
			set = append(set, r.Uint64N(prime))
		}
		got := make([]uint64, 3)
		s.minHash(got, set)
		for i := range got {
			want := uint64(math.MaxUint64)
			f, c := new(big.Int).SetUint64(s.factors[i]), new(big.Int).SetUint64(s.addends[i])
			var v big.Int
			for _, h := range set {
				v.SetUint64(h)
				v.Mod(v.Add(v.Mul(&v, f), c), p)
				want = min(want, v.Uint64())
			}
			if got[i] != want {
				t.Fatalf("function %d: %d, want %d", i, got[i], want)
			}
		}
	})
}

// The curve at the usual settings, to the four digits that are usually given.
func TestCandidateProbability(t *testing.T) {
	for _, tt := range []struct {
		bands, rows int
		want        [5]float64
	}{
		{14, 8, [5]float64{0.0533, 0.2111, 0.5645, 0.9235, 0.9996}},
		{26, 11, [5]float64{0.0126, 0.0902, 0.4050, 0.9032, 0.9999}},
		{20, 13, [5]float64{0.0024, 0.0258, 0.1769, 0.6773, 0.9972}},
	} {
		for i, want := range tt.want {
			s := 0.5 + float64(i)/10
			if got := CandidateProbability(s, tt.bands, tt.rows); math.Abs(got-want) > 5e-5 {
				t.Errorf("%d bands of %d at %.1f: %f, want %f", tt.bands, tt.rows, s, got, want)
			}
		}
		if CandidateProbability(0, tt.bands, tt.rows) != 0 || CandidateProbability(1, tt.bands, tt.rows) != 1 {
			t.Error("the curve does not run from 0 to 1")
		}
	}
}

func TestSimilarity(t *testing.T) {
	const a = "get weather returns the current weather for a city city name of the city units metric or imperial"
	for _, tt := range []struct {
		name, a, b string
		words      int
		zero       bool
		want       float64
		reason     string
	}{
		{"last word", a, strings.Replace(a, "imperial", "kelvin", 1), 0, false, 13.0 / 15, "of 14 and 14 shingles 13 are shared"},
		{"other tool", a, "get forecast returns the daily forecast for a city city name of the city days number of days", 5, false,
			4.0 / 24, "shingles 13 to 16 of the first"},
		{"case and punctuation", "A b, c!", "(a) B C", -1, false, 1, "the same words, fewer than a shingle"},
		{"number", "open port 80", "open port 8,080", 2, false, 1.0 / 4, "open port; port 80, port 8, 8 080"},
		{"number as 0", "open port 80", "open port 8,080", 2, true, 1, "open port 0"},
		{"no words", "", "...", 5, false, 0, "nothing is like nothing"},
		{"one side", "", "a", 5, false, 0, "nothing is like a text"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		if got := Similarity(tt.a, tt.b, tt.words, tt.zero); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%s: %v, want %v: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}

// jaccard is that of the sets, and with a bound it is right wherever it reaches the bound.
func TestJaccard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.Custom(func(t *rapid.T) []uint64 {
			s := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 40), 0, 40, rapid.ID).Draw(t, "set")
			slices.Sort(s)
			return s
		})
		a, b := set.Draw(t, "a"), set.Draw(t, "b")
		least := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0.5, 0.75, 0.8, 1})).Draw(t, "least")
		shared := 0
		for _, v := range a {
			if slices.Contains(b, v) {
				shared++
			}
		}
		want := 0.0
		if shared > 0 {
			want = float64(shared) / float64(len(a)+len(b)-shared)
		}
		if got := jaccard(a, b, 0); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		if got := jaccard(a, b, least); got != want && (want >= least || got >= least) {
			t.Fatalf("%v with the bound %v, want %v", got, least, want)
		}
	})
}

// A text is the same for its exact hash whatever its line ends and trailing blanks, and nothing else is dropped.
func TestFold(t *testing.T) {
	blanks := regexp.MustCompile(`[ \t]+\n`)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", " ", "\t", "\n", "\r", "\r\n", "é", "\xff"})).Draw(t, "text"), "")
		want := strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		want = strings.TrimRight(blanks.ReplaceAllString(want, "\n"), " \t\n")
		if got := fold([]byte("x"), text); !bytes.Equal(got, []byte("x"+want)) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
}

// At each similarity two texts become candidates as often as the curve says, within three standard errors.
func TestRecall(t *testing.T) {
	s, err := NewSketcher(&Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 1500
	next := 0
	for _, tt := range []struct {
		similarity       float64
		shingles, shared int // shared / (2 shingles - shared)
	}{
		{0.5, 30, 20}, {0.6, 40, 30}, {0.7, 34, 28}, {0.8, 36, 32}, {0.9, 38, 36},
	} {
		found := 0
		for range pairs {
			a := make([]string, tt.shingles+4)
			for i := range a {
				a[i] = fmt.Sprint("w", next) // in no other pair, so that pairs do not depend on one another
				next++
			}
			b := slices.Clone(a)
			for i := tt.shared + 4; i < len(b); i++ { // each word that differs is one of the last shingles
				b[i] += "q"
			}
			first, second := strings.Join(a, " "), strings.Join(b, " ")
			if got := Similarity(first, second, 5, false); got != tt.similarity {
				t.Fatalf("similarity %v, want %v", got, tt.similarity)
			}
			x, y := s.Sketch(&Record{Content: first}), s.Sketch(&Record{Content: second})
			for i := range x.Bands {
				if x.Bands[i] == y.Bands[i] {
					found++
					break
				}
			}
		}
		p := CandidateProbability(tt.similarity, 14, 8)
		if got, bound := float64(found)/pairs, 3*math.Sqrt(p*(1-p)/pairs); math.Abs(got-p) > bound {
			t.Errorf("at %v: %.4f found, want %.4f within %.4f", tt.similarity, got, p, bound)
		}
	}
}
