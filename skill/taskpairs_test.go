package skill

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill/internal/vector"
)

// A tally counts as a sorted list does, ties, many limits in one cell and values outside [-1, 1] included.
func TestTallyMatchesSorting(t *testing.T) {
	value := rapid.OneOf(genCosine(), rapid.Float64Range(0.4999, 0.5001), rapid.SampledFrom([]float64{-1 - 1e-10, 1 + 1e-10, 0.5 + 1e-12, 0.5 - 1e-12, 0.5 + 3e-12}))
	rapid.Check(t, func(t *rapid.T) {
		limits := rapid.SliceOfN(rapid.Map(value, clamp), 1, 30).Draw(t, "limits")
		values := rapid.SliceOfN(value, 1, 60).Draw(t, "values")
		tl := newTally(limits)
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		tl.add(values[:cut])
		tl.add(values[cut:])
		tl.sum()
		for _, x := range limits {
			n := 0
			for _, v := range values {
				if clamp(v) <= x+pairTolerance {
					n++
				}
			}
			if got := tl.share(x); got != float64(n)/float64(len(values)) {
				t.Fatalf("share up to %g is %g, want %d of %d", x, got, n, len(values))
			}
		}
	})
}

// genVectors draws vectors of one length, sparse or dense, zero vectors among them.
func genVectors(t *rapid.T, least int) []vector.Vector {
	dim := rapid.IntRange(1, 12).Draw(t, "dim")
	entry := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-1, 1))
	if rapid.Bool().Draw(t, "dense") {
		entry = rapid.Float64Range(0.1, 1)
	}
	var vs []vector.Vector
	for _, v := range rapid.SliceOfN(rapid.SliceOfN(entry, dim, dim), least, 9).Draw(t, "vectors") {
		vs = append(vs, vector.Unit(v))
	}
	return vs
}

// The index gives the cosines of the plain product, to the bit.
func TestPostingsMatchProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := genVectors(t, 1)
		p := newPostings(vs)
		buf := make([]float64, vs[0].Dim)
		got, want := slices.Repeat([]float64{7}, len(vs)), make([]float64, len(vs))
		var pairs, wantPairs []float64
		for i, v := range vs {
			p.cosines(got, v)
			v.Cosines(want, vs, buf)
			if !slices.Equal(got, want) {
				t.Fatalf("cosines of vector %d: %v, want %v", i, got, want)
			}
			wantPairs = append(wantPairs, want[i+1:]...)
		}
		if err := p.pairs(context.Background(), vs, func(x []float64) { pairs = append(pairs, x...) }); err != nil {
			t.Fatal(err)
		}
		for i := range pairs {
			pairs[i] = clamp(pairs[i])
		}
		if !slices.Equal(pairs, wantPairs) {
			t.Fatalf("pairs %v, want %v", pairs, wantPairs)
		}
	})
}

// Sampled pairs are those that the generator draws, two different vectors each.
func TestSamplePairsMatchesDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := genVectors(t, 2)
		seed := rapid.Uint64().Draw(t, "seed")
		o := &ScoreOptions{PairSamples: rapid.IntRange(1, 40).Draw(t, "samples"), Rand: rand.New(rand.NewPCG(seed, 0))}
		var got, want []float64
		if err := samplePairs(context.Background(), vs, o, func(x []float64) { got = append(got, x...) }); err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(seed, 0))
		for range o.PairSamples {
			i, k := rnd.IntN(len(vs)), rnd.IntN(len(vs)-1)
			if k >= i {
				k++
			}
			one := []float64{0}
			vs[i].Cosines(one, vs[k:k+1], make([]float64, vs[0].Dim))
			want = append(want, one[0])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// A sample of the pairs comes near the exact specificity, is named as a sample, and depends on the seed alone.
func TestScoreSampled(t *testing.T) {
	var tasks []string
	words := strings.Fields("place order refund ticket customer ship stock cancel item invoice")
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 25 {
		tasks = append(tasks, words[rnd.IntN(10)]+" "+words[rnd.IntN(10)]+" "+words[rnd.IntN(10)])
	}
	skills := documents("order and refund", "cancel an invoice", "ship it")
	exact, err := Score(context.Background(), skills, Tasks(tasks...), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := func(seed uint64) *ScoreOptions {
		return &ScoreOptions{MaxExactTasks: 20, PairSamples: 40000, Rand: rand.New(rand.NewPCG(seed, 2))}
	}
	a, err := Score(context.Background(), skills, Tasks(tasks...), o(1))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Score(context.Background(), skills, Tasks(tasks...), o(1))
	if diff := gocmp.Diff(a, b); diff != "" || !a.Sampled || a.Pairs != 40000 {
		t.Errorf("same seed, sampled %v of %d pairs (-first +second):\n%s", a.Sampled, a.Pairs, diff)
	}
	if c, _ := Score(context.Background(), skills, Tasks(tasks...), &ScoreOptions{MaxExactTasks: 20, PairSamples: 300}); !c.Sampled {
		t.Error("a sample of as many pairs as there are, 300, is still a sample")
	}
	if c, _ := Score(context.Background(), skills, Tasks(tasks...), &ScoreOptions{MaxExactTasks: 25, PairSamples: 7}); c.Sampled || c.Pairs != 300 {
		t.Errorf("as many tasks as MaxExactTasks: sampled %v, %d pairs", c.Sampled, c.Pairs)
	}
	for i, s := range a.Skills {
		if !near(s.Specificity, exact.Skills[i].Specificity, 0.02) { // 0.0025 is the largest standard error
			t.Errorf("skill %d: sampled specificity %g, exact %g", i, s.Specificity, exact.Skills[i].Specificity)
		}
	}
}
