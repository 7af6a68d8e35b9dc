package plr

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// close1 compares up to rounding.
func close1(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

// fixed is a source whose next Float64 is the number.
type fixed float64

func (f fixed) Uint64() uint64 { return uint64(float64(f) * (1 << 53)) }

func drawAt[K comparable](b *Buffer[K], u float64) (K, bool) { return b.Draw(rand.New(fixed(u))) }

func must[K comparable](t interface{ Fatal(...any) }, o *Options) *Buffer[K] {
	b, err := New[K](o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put[K comparable](t interface{ Fatal(...any) }, b *Buffer[K], key K, score float64) bool {
	in, err := b.Put(key, score)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestProbabilities(t *testing.T) {
	for _, tt := range []struct {
		options *Options
		scores  []float64
		draws   []float64
		want    []float64
		reason  string
	}{
		{&Options{Beta: new(0.5), Rho: new(0.0)}, []float64{0.25, 0.10, 0.16}, nil, []float64{36. / 49, 4. / 49, 9. / 49},
			"ranks 1, 3, 2 to the power of -2 are 36, 4 and 9 thirty-sixths"},
		{&Options{Beta: new(1.0), Rho: new(0.0)}, []float64{0.25, 0.10, 0.16}, nil, []float64{6. / 11, 2. / 11, 3. / 11},
			"ranks to the power of -1 are 6, 2 and 3 sixths"},
		{&Options{Beta: new(0.5), Rho: new(0.3)}, []float64{0.25, 0.10, 0.16}, nil,
			[]float64{0.7*36/49 + 0.3*2/3, 0.7*4/49 + 0.3*1/3, 0.7 * 9 / 49}, "they came at 1, 2 and 3 and have waited 2, 1 and 0"},
		{&Options{Beta: new(1.0), Rho: new(1.0)}, []float64{1, 1, 1}, []float64{0}, []float64{0, 2. / 3, 1. / 3},
			"the first was drawn at 4, so they have waited 0, 2 and 1"},
		{&Options{Proportional: true, Beta: new(1.0), Rho: new(0.0)}, []float64{0.25, 0.10, 0.16}, nil, []float64{25. / 51, 10. / 51, 16. / 51},
			"the scores themselves"},
		{&Options{Proportional: true, Beta: new(0.5), Rho: new(0.0)}, []float64{0.3, 0.1}, nil, []float64{0.9, 0.1}, "their squares, 9 to 1"},
		{&Options{Proportional: true, Beta: new(1.0), Rho: new(0.0)}, []float64{0, 0.2}, nil, []float64{0, 1}, "0 is never drawn"},
		{&Options{Proportional: true, Beta: new(1.0), Rho: new(0.0)}, []float64{0, 0}, nil, []float64{0.5, 0.5}, "all scores 0"},
		{&Options{Beta: new(1.0), Rho: new(0.0)}, []float64{0.2, 0.2}, nil, []float64{2. / 3, 1. / 3}, "of equal scores the older has rank 1"},
		{&Options{Rho: new(1.0)}, []float64{0.2}, nil, []float64{1}, "a single item has waited for nothing"},
		{nil, []float64{0.2, 0.1}, nil, []float64{0.9*1024/1025 + 0.1, 0.9 / 1025}, "beta 0.1 is the tenth power, rho 0.1"},
		{&Options{Beta: new(1e-3), Rho: new(0.0)}, []float64{1, 2, 3}, nil, []float64{0, 0, 1}, "a power of a thousand does not overflow"},
		{&Options{Proportional: true, Beta: new(1e-3), Rho: new(0.0)}, []float64{1e300, 1e-300}, nil, []float64{1, 0}, "nor does that of a score"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		b := must[int](t, tt.options)
		for i, s := range tt.scores {
			put(t, b, i, s)
		}
		for _, u := range tt.draws {
			drawAt(b, u)
		}
		if got := b.Probabilities(); !slices.EqualFunc(got, tt.want, close1) {
			t.Errorf("%s: got %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// A model is a buffer as its documentation tells, without a care for speed.
type model struct {
	o     Options
	keys  []string
	score map[string]float64
	drawn map[string]int
	clock int
}

func (m *model) probabilities() []float64 {
	n := len(m.keys)
	p := make([]float64, n)
	var sum, waited float64
	h := make([]float64, n)
	for i, k := range m.keys {
		rank := 1
		for j, l := range m.keys {
			if m.score[l] > m.score[k] || m.score[l] == m.score[k] && j < i {
				rank++
			}
		}
		h[i] = math.Pow(1/float64(rank), 1 / *m.o.Beta)
		if m.o.Proportional {
			h[i] = math.Pow(m.score[k], 1 / *m.o.Beta)
		}
		sum += h[i]
		waited += float64(m.clock - m.drawn[k])
	}
	for i, k := range m.keys {
		p[i] = 1 / float64(n)
		if sum > 0 {
			p[i] = h[i] / sum
		}
		stale := 1 / float64(n)
		if waited > 0 {
			stale = float64(m.clock-m.drawn[k]) / waited
		}
		p[i] = (1-*m.o.Rho)*p[i] + *m.o.Rho*stale
	}
	return p
}

func TestBufferAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Capacity:     rapid.IntRange(0, 4).Draw(t, "capacity"),
			Proportional: rapid.Bool().Draw(t, "proportional"),
			Beta:         new(rapid.SampledFrom([]float64{0.1, 0.5, 1, 3}).Draw(t, "beta")),
			Rho:          new(rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "rho")),
		}
		b := must[string](t, &o)
		m := &model{o: o, score: map[string]float64{}, drawn: map[string]int{}}
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, s := key.Draw(t, "key"), rapid.SampledFrom([]float64{0, 0.01, 0.16, 0.24, 0.25, 0.26}).Draw(t, "score")
				want := true
				switch {
				case slices.Contains(m.keys, k):
					m.score[k] = s
				case o.Capacity > 0 && len(m.keys) == o.Capacity:
					low := slices.MinFunc(m.keys, func(x, y string) int { return cmp.Compare(m.score[x], m.score[y]) }) // the first of equal ones
					if want = s > m.score[low]; want {
						m.keys = slices.DeleteFunc(m.keys, func(x string) bool { return x == low })
					}
					fallthrough
				default:
					if want {
						m.clock++
						m.keys, m.score[k], m.drawn[k] = append(m.keys, k), s, m.clock
					}
				}
				if got := put(t, b, k, s); got != want {
					t.Fatalf("put %s %v: in the buffer %v, want %v", k, s, got, want)
				}
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				want := slices.Contains(m.keys, k)
				m.keys = slices.DeleteFunc(m.keys, func(x string) bool { return x == k })
				if got := b.Remove(k); got != want {
					t.Fatalf("remove %s: %v, want %v", k, got, want)
				}
			},
			"draw": func(t *rapid.T) {
				u := rapid.Float64Range(0, 0.999).Draw(t, "u")
				p := m.probabilities()
				got, ok := drawAt(b, u)
				if ok != (len(p) > 0) {
					t.Fatalf("draw from %d items: %v", len(p), ok)
				}
				if !ok {
					return
				}
				at := slices.Index(m.keys, got)
				below := 0.0
				for _, share := range p[:at] {
					below += share
				}
				if p[at] <= 0 || u < below-1e-9 || u > below+p[at]+1e-9 {
					t.Fatalf("%v of %v at %v gives item %d", u, p, below, at)
				}
				m.clock++
				m.drawn[got] = m.clock
			},
			"": func(t *rapid.T) {
				var keys []string
				for k, s := range b.All() {
					keys = append(keys, k)
					if got, ok := b.Score(k); !ok || got != s || s != m.score[k] {
						t.Fatalf("score of %s: %v and %v, want %v", k, s, got, m.score[k])
					}
				}
				if !slices.Equal(keys, m.keys) || b.Len() != len(keys) {
					t.Fatalf("items %v, want %v", keys, m.keys)
				}
				if got, want := b.Probabilities(), m.probabilities(); !slices.EqualFunc(got, want, close1) {
					t.Fatalf("probabilities %v, want %v", got, want)
				}
			},
		})
	})
}

// Every number that a generator can give falls to an item in the order of the items, as wide as its probability.
func TestDrawIsExact(t *testing.T) {
	const steps = 4900
	counts := make(map[int]int)
	for i := range steps {
		b := must[int](t, &Options{Beta: new(0.5), Rho: new(0.0)})
		for k, s := range []float64{0.25, 0.10, 0.16} {
			put(t, b, k, s)
		}
		k, _ := drawAt(b, (float64(i)+0.5)/steps)
		counts[k]++
	}
	if counts[0] != 3600 || counts[1] != 400 || counts[2] != 900 {
		t.Errorf("got %v of %d, want 36, 4 and 9 of 49", counts, steps)
	}
}

// With rho 1 nobody waits longer than it takes to draw all the others.
func TestStalenessServesAll(t *testing.T) {
	b := must[int](t, &Options{Rho: new(1.0)})
	for k := range 5 {
		put(t, b, k, 0)
	}
	last, _ := drawAt(b, 0)
	for i := range 20 {
		k, _ := drawAt(b, float64(i)/20)
		if k == last {
			t.Fatalf("draw %d: item %d twice in a row", i, k)
		}
		last = k
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		options Options
		want    string
		reason  string
	}{
		{Options{Capacity: -1}, "Capacity -1", "a capacity below zero"},
		{Options{Beta: new(0.0)}, "Beta 0", "no temperature"},
		{Options{Beta: new(math.NaN())}, "Beta NaN", "not a number"},
		{Options{Beta: new(math.Inf(1))}, "Beta +Inf", "not finite"},
		{Options{Rho: new(1.1)}, "Rho 1.1", "more than all"},
		{Options{Rho: new(math.NaN())}, "Rho NaN", "not a number"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		if _, err := New[int](&tt.options); err == nil || !strings.HasPrefix(err.Error(), "plr: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.reason, err, tt.want)
		}
	}
	var b Buffer[string]
	put(t, &b, "a", 1)
	for _, s := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := b.Put("a", s); err == nil {
			t.Errorf("score %v: no error", s)
		}
		if _, err := b.Put("b", s); err == nil {
			t.Errorf("score %v: no error", s)
		}
	}
	if got, _ := b.Score("a"); got != 1 || b.Len() != 1 {
		t.Errorf("a refused score changed the buffer: %v, %d items", got, b.Len())
	}
}

func TestZeroValue(t *testing.T) {
	var b Buffer[string]
	if k, ok := b.Draw(rand.New(rand.NewPCG(1, 2))); ok || k != "" || b.Probabilities() != nil {
		t.Errorf("an empty buffer gives %q %v", k, ok)
	}
	same := must[string](t, nil)
	for i := range 4 {
		put(t, &b, fmt.Sprint(i), float64(i))
		put(t, same, fmt.Sprint(i), float64(i))
	}
	if !slices.Equal(b.Probabilities(), same.Probabilities()) {
		t.Errorf("got %v, want the defaults %v", b.Probabilities(), same.Probabilities())
	}
}

func TestTies(t *testing.T) {
	b := must[string](t, &Options{Capacity: 2})
	put(t, b, "old", 1)
	put(t, b, "new", 1)
	if put(t, b, "equal", 1) {
		t.Error("an item that is no better took a place")
	}
	if !put(t, b, "better", 2) {
		t.Error("a better item got no place")
	}
	if _, ok := b.Score("old"); ok {
		t.Error("of two equal items the newer one went")
	}

	many := must[int](t, &Options{Beta: new(1.0), Rho: new(0.0)})
	for i := range 60 {
		put(t, many, i, float64(i*i%3))
	}
	p := many.Probabilities()
	for i := range p {
		for j := range i {
			if i*i%3 == j*j%3 && p[i] >= p[j] {
				t.Fatalf("of equal scores item %d has a lower rank than %d", i, j)
			}
		}
	}
}

// What rounding leaves over never falls to an item that is not to be drawn.
func TestDrawNeverTakesAnItemWithoutShare(t *testing.T) {
	for n := range 60 {
		b := must[int](t, &Options{Proportional: true, Beta: new(1.0), Rho: new(0.0)})
		for i := range n + 1 {
			put(t, b, i, 0.1+float64(i)/7)
		}
		put(t, b, n+1, 0)
		if k, _ := drawAt(b, 1-0x1p-53); k == n+1 {
			t.Fatalf("item %d of %d, whose score is 0", k, n+2)
		}
	}
}
