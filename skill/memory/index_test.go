package memory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill/internal/vector"
)

// randomVector returns a unit vector with a share of entries that are not 0.
func randomVector(rng *rand.Rand, dim int, share float64) vector.Vector {
	v := make([]float64, dim)
	for i := range v {
		if rng.Float64() < share {
			v[i] = rng.NormFloat64()
		}
	}
	v[rng.IntN(dim)] = 1
	return vector.Unit(v)
}

// After any adding and removing, the cosines of sparse and dense queries with sparse and dense vectors are those of [vector.Vector].
func TestIndex(t *testing.T) {
	sparse, dense := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		draw := func() vector.Vector {
			return randomVector(rng, dim, rapid.SampledFrom([]float64{0, 0.1, 0.3, 1}).Draw(t, "share"))
		}
		var x index
		buf := new(scratch)
		stored := make(map[*item]vector.Vector)
		var order []*item
		check := func() {
			q := draw()
			sims := x.cosines(q, buf, nil)
			want, zeros := make([]float64, 1), make([]float64, dim)
			var best *item
			var most float64
			for _, it := range order {
				q.Cosines(want, []vector.Vector{stored[it]}, zeros)
				if got := sims[it.slot]; got != want[0] {
					t.Fatalf("cosine is %v, want %v", got, want[0])
				}
				if x.items[it.slot] != it {
					t.Fatalf("slot %d holds another", it.slot)
				}
				if best == nil || want[0] > most || want[0] == most && it.Name() < best.Name() {
					best, most = it, want[0]
				}
			}
			if got, c := x.nearest(q, buf); got != best || c != most {
				t.Fatalf("nearest is %v at %v, want %v at %v", got, c, best, most)
			}
			if got, c := x.nearest(vector.Vector{Dim: dim}, buf); got != nil || c != 0 {
				t.Fatalf("the zero vector is near to %v", got)
			}
			n := 0
			for _, it := range x.items {
				if it != nil {
					n++
				}
			}
			if n != len(order) || len(x.items) > 30 {
				t.Fatalf("%d items in %d slots, want %d", n, len(x.items), len(order))
			}
		}
		for i := range 30 {
			if len(order) > 0 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				k := rapid.IntRange(0, len(order)-1).Draw(t, "which")
				x.remove(order[k])
				x.remove(order[k]) // without effect
				delete(stored, order[k])
				order = append(order[:k], order[k+1:]...)
			} else {
				it, v := function(fmt.Sprint(rng.IntN(1000), "-", i)), draw()
				x.add(it, v)
				stored[it] = v
				order = append(order, it)
				if it.dims == nil {
					dense++
				} else {
					sparse++
				}
			}
			check()
		}
	})
	if !testing.Short() && (sparse == 0 || dense == 0) {
		t.Errorf("%d sparse and %d dense vectors: both kinds are to be tried", sparse, dense)
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, kind := range []struct {
		name  string
		dim   int
		share float64
	}{{"sparse4096", 4096, 0.02}, {"dense384", 384, 1}} {
		for _, n := range []int{100, 1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				var x index
				for i := range n {
					x.add(function(fmt.Sprint(i)), randomVector(rng, kind.dim, kind.share))
				}
				q, buf := randomVector(rng, kind.dim, kind.share), new(scratch)
				b.ReportAllocs()
				for b.Loop() {
					x.nearest(q, buf)
				}
			})
		}
	}
}
