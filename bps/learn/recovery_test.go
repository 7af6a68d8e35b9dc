package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// world is the generator of synthetic logs: 31 skills, 5 capabilities, 21 tasks. Skills 0-17 supply one capability, 18-24 two, the others
// none.
type world struct {
	rng     *rand.Rand
	supply  [31][5]float64
	tokens  [31]int
	demand  [21][5]float64
	ceiling [21]float64
}

const worldKappa = 1e-4

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 310))}
	rng := w.rng
	for i := range w.supply {
		var covers []int
		switch {
		case i < 18:
			covers = []int{i % 5}
		case i < 25:
			covers = rng.Perm(5)[:2]
		}
		for _, k := range covers {
			w.supply[i][k] = 3 * (0.6 + 0.8*rng.Float64())
		}
		w.tokens[i] = 80 + rng.IntN(1121)
	}
	for q := range w.demand {
		for _, k := range rng.Perm(5)[:2+rng.IntN(2)] {
			w.demand[q][k] = 2 + 2*rng.Float64()
		}
		w.ceiling[q] = math.Log(0.85 + 0.1*rng.Float64())
	}
	return w
}

func (w *world) z(q int, set []int) float64 {
	z := w.ceiling[q] - worldKappa*float64(w.total(set))
	for k, d := range w.demand[q] {
		x := 0.0
		for _, i := range set {
			x += w.supply[i][k]
		}
		z -= d * math.Exp(-x)
	}
	return min(z, -1e-6)
}

func (w *world) total(set []int) int {
	n := 0
	for _, i := range set {
		n += w.tokens[i]
	}
	return n
}

// set draws the candidates of a record: half of the time suppliers of what q demands, else anything.
func (w *world) set(q int) []int {
	if w.rng.Float64() >= 0.5 {
		return w.rng.Perm(31)[:w.rng.IntN(5)]
	}
	var set []int
	for k, d := range w.demand[q] {
		if d == 0 || w.rng.Float64() >= 0.8 {
			continue
		}
		var suppliers []int
		for i := range w.supply {
			if w.supply[i][k] > 0 {
				suppliers = append(suppliers, i)
			}
		}
		set = append(set, suppliers[w.rng.IntN(len(suppliers))])
	}
	if w.rng.Float64() < 0.3 {
		set = append(set, w.rng.IntN(31))
	}
	slices.Sort(set)
	return slices.Compact(set)
}

func (w *world) records(n int) []Record {
	records := make([]Record, n)
	for r := range records {
		q := w.rng.IntN(21)
		set := w.set(q)
		records[r] = Record{Query: task(q), Skills: names(set), Tokens: w.total(set), Pass: w.rng.Float64() < math.Exp(w.z(q, set))}
	}
	return records
}

func task(q int) string { return fmt.Sprintf("task-%02d", q) }

func names(set []int) []string {
	var s []string
	for _, i := range set {
		s = append(s, fmt.Sprintf("skill-%02d", i))
	}
	return s
}

// auc matches fitted to true capabilities by the permutation of the highest Pearson correlation and returns the probability that a covered
// entry has a larger fitted supply than an uncovered one.
func (w *world) auc(t testing.TB, m *Model) float64 {
	t.Helper()
	var fitted [31][]float64
	for i := range fitted {
		var err error
		if fitted[i], err = m.Supply(names([]int{i})[0]); err != nil {
			t.Fatal(err)
		}
	}
	// The mean and the variance do not depend on the permutation, so the highest sum of products will do.
	var best []int
	most := math.Inf(-1)
	permutations(5, func(perm []int) {
		sum := 0.0
		for i, row := range w.supply {
			for k, u := range row {
				sum += u * fitted[i][perm[k]]
			}
		}
		if sum > most {
			most, best = sum, slices.Clone(perm)
		}
	})
	wins, pairs := 0.0, 0.0
	var covered, uncovered []float64
	for i, row := range w.supply {
		for k, u := range row {
			if v := fitted[i][best[k]]; u > 0 {
				covered = append(covered, v)
			} else {
				uncovered = append(uncovered, v)
			}
		}
	}
	for _, a := range covered {
		for _, b := range uncovered {
			pairs++
			if a > b {
				wins++
			} else if a == b {
				wins += 0.5
			}
		}
	}
	return wins / pairs
}

func permutations(n int, visit func([]int)) {
	perm := make([]int, 0, n)
	var extend func()
	extend = func() {
		if len(perm) == n {
			visit(perm)
			return
		}
		for k := range n {
			if !slices.Contains(perm, k) {
				perm = append(perm, k)
				extend()
				perm = perm[:len(perm)-1]
			}
		}
	}
	extend()
}

// deviation is the mean absolute error of the probability over 2,000 new sets of 3-5 skills.
func (w *world) deviation(t testing.TB, m *Model) float64 {
	t.Helper()
	sum := 0.0
	for range 2000 {
		q := w.rng.IntN(21)
		set := w.rng.Perm(31)[:3+w.rng.IntN(3)]
		p, err := m.Predict(task(q), names(set), w.total(set))
		if err != nil {
			t.Fatal(err)
		}
		sum += math.Abs(p - math.Exp(w.z(q, set)))
	}
	return sum / 2000
}

// The supplies that made the records come back: with 5,000 of them a covered entry is almost surely above one that is not covered.
func TestRecovery(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		w := newWorld(seed)
		m, err := Fit(context.Background(), w.records(5000), &Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if auc := w.auc(t, m); auc < 0.99 {
			t.Errorf("seed %d: AUC %.4f, want at least 0.99", seed, auc)
		}
		if dev := w.deviation(t, m); dev > 0.08 {
			t.Errorf("seed %d: the probabilities of new sets are off by %.3f on average, want at most 0.08", seed, dev)
		}
	}
}
