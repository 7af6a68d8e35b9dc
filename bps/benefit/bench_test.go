package benefit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/bps"
)

// randomVectors draws vectors around centers, or unstructured ones if there are none.
func randomVectors(r *rand.Rand, n, d, clusters int) [][]float64 {
	centers := make([][]float64, clusters)
	for c := range centers {
		centers[c] = make([]float64, d)
		for k := range d {
			centers[c][k] = r.NormFloat64()
		}
	}
	vectors := make([][]float64, n)
	for i := range vectors {
		vectors[i] = make([]float64, d)
		for k := range d {
			vectors[i][k] = r.NormFloat64()
		}
		if clusters > 0 {
			center := centers[r.IntN(clusters)]
			for k := range d {
				vectors[i][k] = center[k] + 0.3*vectors[i][k]
			}
		}
	}
	return vectors
}

// lazyGreedy picks the largest gains with a heap of stale ones. It returns the picks and the number of gains computed.
func lazyGreedy(b bps.Incremental, n, picks int) (chosen []int, evaluations int) {
	type entry struct {
		item, at int
		gain     float64
	}
	st := b.Start()
	heap := make([]entry, n)
	less := func(x, y entry) bool { return x.gain > y.gain || x.gain == y.gain && x.item < y.item }
	down := func(j int) {
		for {
			c := 2*j + 1
			if c >= len(heap) {
				return
			}
			if c+1 < len(heap) && less(heap[c+1], heap[c]) {
				c++
			}
			if !less(heap[c], heap[j]) {
				return
			}
			heap[j], heap[c] = heap[c], heap[j]
			j = c
		}
	}
	for i := range heap {
		heap[i] = entry{i, 0, st.Gain(i)}
	}
	evaluations = n
	for j := n / 2; j >= 0; j-- {
		down(j)
	}
	for len(chosen) < picks && len(heap) > 0 {
		if top := &heap[0]; top.at < len(chosen) {
			top.gain, top.at = st.Gain(top.item), len(chosen)
			evaluations++
		} else {
			st.Add(top.item)
			chosen = append(chosen, top.item)
			*top = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		down(0)
	}
	return chosen, evaluations
}

func benchmarkGreedy(b *testing.B, f bps.Incremental, n int) {
	evaluations := 0
	b.ReportAllocs()
	for b.Loop() {
		_, evaluations = lazyGreedy(f, n, 100)
	}
	b.ReportMetric(float64(evaluations), "gains/op")
}

// 100 greedy picks of 4,000 candidates, every one of which is a point too. Building the benefit is not timed.
func BenchmarkFacilityLocationGreedy(b *testing.B) {
	for _, clusters := range []int{0, 40} {
		for _, n := range []int{1000, 2000, 4000} {
			vectors := randomVectors(rand.New(rand.NewPCG(1, 2)), n, 64, clusters)
			b.Run(fmt.Sprintf("clusters=%d/n=%d/cosine", clusters, n), func(b *testing.B) {
				f, err := NewCosineFacilityLocation(vectors, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				benchmarkGreedy(b, f, n)
			})
			b.Run(fmt.Sprintf("clusters=%d/n=%d/given", clusters, n), func(b *testing.B) {
				f, err := NewFacilityLocation(cosineRows(b, vectors), nil)
				if err != nil {
					b.Fatal(err)
				}
				benchmarkGreedy(b, f, n)
			})
		}
	}
}

func cosineRows(tb testing.TB, vectors [][]float64) [][]float64 {
	a, _, err := unit(vectors, nil)
	if err != nil {
		tb.Fatal(err)
	}
	rows := make([][]float64, len(a))
	for i := range rows {
		rows[i] = make([]float64, len(a))
		dots(rows[i], a[i], a)
	}
	return rows
}

func BenchmarkNewCosineFacilityLocation(b *testing.B) {
	for _, n := range []int{500, 1000, 2000} {
		vectors := randomVectors(rand.New(rand.NewPCG(1, 2)), n, 64, 40)
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := NewCosineFacilityLocation(vectors, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// randomNeighbors makes lists of k points, half of them close to i.
func randomNeighbors(r *rand.Rand, n, k int) [][]Neighbor {
	lists := make([][]Neighbor, n)
	seen := make(map[int]bool, k)
	for i := range lists {
		clear(seen)
		for len(lists[i]) < min(k, n) {
			v := r.IntN(n)
			if r.IntN(2) == 0 {
				v = (i + r.IntN(2*k)) % n
			}
			if !seen[v] {
				seen[v] = true
				lists[i] = append(lists[i], Neighbor{v, r.Float64()})
			}
		}
	}
	return lists
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// The gains of all candidates with 64 neighbors each, at the empty set and at one of ten candidates.
func BenchmarkNearestGains(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		f, err := NewNearestFacilityLocation(randomNeighbors(rand.New(rand.NewPCG(1, 2)), n, 64), ones(n))
		if err != nil {
			b.Fatal(err)
		}
		for _, size := range []int{0, 10} {
			st := f.Start()
			for i := range size {
				st.Add(i * 997 % n)
			}
			b.Run(fmt.Sprintf("n=%d/set=%d", n, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for i := range n {
						st.Gain(i)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("n=%d/clone", n), func(b *testing.B) {
			st := f.Start()
			b.ReportAllocs()
			for b.Loop() {
				st = st.Clone()
			}
		})
		b.Run(fmt.Sprintf("n=%d/greedy", n), func(b *testing.B) { benchmarkGreedy(b, f, n) })
	}
}

// Select in the mode Level0 with a budget for about 100 candidates: of 100,000 with 64 neighbors each, and of 4,000 vectors that are
// the points too, without a certificate. Building the benefit is not timed.
func BenchmarkLevel0(b *testing.B) {
	// Of equal tokens there is one chain, of 100 picks; else there are two, by gain per token and by gain.
	level0 := func(b *testing.B, f bps.Incremental, n int, equal bool) {
		r := rand.New(rand.NewPCG(3, 4))
		p := bps.Problem{Tokens: make([]int, n), Budget: 20_000, Benefit: f}
		for i := range p.Tokens {
			p.Tokens[i] = 200
			if !equal {
				p.Tokens[i] = 150 + r.IntN(101)
			}
		}
		o := &bps.Options{Mode: bps.Level0, Certify: new(false)}
		var sel *bps.Selection
		b.ReportAllocs()
		for b.Loop() {
			var err error
			if sel, err = bps.Select(context.Background(), p, o); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(sel.Items)), "picks")
		b.ReportMetric(float64(sel.Evaluations), "evaluations/op")
	}
	b.Run("nearest/n=100000", func(b *testing.B) {
		const n = 100_000
		f, err := NewNearestFacilityLocation(randomNeighbors(rand.New(rand.NewPCG(1, 2)), n, 64), nil)
		if err != nil {
			b.Fatal(err)
		}
		level0(b, f, n, false)
	})
	for _, clusters := range []int{0, 40} {
		for _, equal := range []bool{true, false} {
			b.Run(fmt.Sprintf("cosine/n=4000/clusters=%d/equal=%t", clusters, equal), func(b *testing.B) {
				const n = 4000
				f, err := NewCosineFacilityLocation(randomVectors(rand.New(rand.NewPCG(1, 2)), n, 64, clusters), nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				level0(b, f, n, equal)
			})
		}
	}
}

// One gain, in a state with one candidate, by the number of points, elements or features.
func BenchmarkGain(b *testing.B) {
	const n = 200
	for _, d := range []int{16, 64, 256} {
		r := rand.New(rand.NewPCG(1, 2))
		rows := make([][]float64, n)
		covers := make([][]int, n)
		lists := make([][]Neighbor, n)
		features := make([]Feature, d)
		for i := range rows {
			for k := range d {
				rows[i] = append(rows[i], r.Float64())
				covers[i] = append(covers[i], k)
				lists[i] = append(lists[i], Neighbor{k, r.Float64()})
			}
		}
		for k := range features {
			features[k] = Feature{1, math.Sqrt}
		}
		build := func(f bps.Incremental, err error) bps.Incremental {
			if err != nil {
				b.Fatal(err)
			}
			return f
		}
		location := build(NewFacilityLocation(rows, nil))
		for _, bm := range []struct {
			name    string
			benefit bps.Incremental
		}{
			{"location", location},
			{"nearest", build(NewNearestFacilityLocation(lists, ones(d)))},
			{"coverage", build(NewWeightedCoverage(covers, ones(d)))},
			{"probabilistic", build(NewProbabilisticCoverage(rows, nil))},
			{"features", build(NewFeatureBased(rows, features))},
			{"mixture", build(NewMixture([]bps.Benefit{location, location}, ones(2)))},
		} {
			b.Run(fmt.Sprintf("%s/d=%d", bm.name, d), func(b *testing.B) {
				st := bm.benefit.Start()
				st.Add(0)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					st.Gain(i % n)
				}
			})
		}
	}
}
