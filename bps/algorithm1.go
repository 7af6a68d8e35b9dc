package bps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// algorithm1 runs Algorithm 1 of arXiv:2608.19993 over items, ascending, each with tokens and fitting: one chain from every set of at
// most two, the empty one included. st is the state of s.free, and gains are those of items at it. The context is checked once a
// seed; when it ends, the sets found so far stay in the pool.
func (s *search) algorithm1(ctx context.Context, st Gains, items []int, gains []float64) error {
	n := len(items)
	seeds, done := 1+n+n*(n-1)/2, 0
	next := func() error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("bps: stopped after %d of at most %d seeds: %w", done, seeds, err)
		}
		done++
		return nil
	}

	// Chains look at likely candidates first: then fewer stale gains need to be computed again.
	order := make([]int, n)
	for a := range order {
		order[a] = a
	}
	slices.SortFunc(order, func(a, b int) int {
		keyA, keyB := gains[a]/float64(s.tokens[items[a]]), gains[b]/float64(s.tokens[items[b]])
		return cmp.Or(cmp.Compare(keyB, keyA), cmp.Compare(a, b))
	})
	seed := func(items ...int) { s.chosen = append(append(s.chosen[:0], s.free...), items...) }
	// offer sets s.open to what fits beside the chosen, except for positions a and b, with upper bounds on the gains.
	offer := func(used, a, b int, bound func(j int) float64) {
		s.open = s.open[:0]
		for _, j := range order {
			if t := s.tokens[items[j]]; j != a && j != b && t <= s.budget-used {
				s.open = append(s.open, newCandidate(items[j], t, bound(j)))
			}
		}
	}

	if err := next(); err != nil {
		return err
	}
	value := st.Value()
	seed()
	offer(0, -1, -1, func(j int) float64 { return gains[j] })
	if err := s.chain(st.Clone(), value, 0); err != nil {
		return err
	}

	states := make([]Gains, n)   // of each single candidate
	rows := make([][]float64, n) // rows[a][j]: gain of j at a, for those that fit beside a
	for a, i := range items {
		if err := next(); err != nil {
			return err
		}
		states[a] = st.Clone()
		states[a].Add(i)
		rows[a] = make([]float64, n)
		seed(i)
		used := s.tokens[i]
		for b, j := range items {
			if b == a || s.tokens[j] > s.budget-used {
				continue
			}
			g, err := s.gain(states[a], j, gains[b])
			if err != nil {
				return err
			}
			rows[a][b] = g
		}
		if err := s.record(used, value+gains[a]); err != nil {
			return err
		}
		offer(used, a, -1, func(j int) float64 { return rows[a][j] })
		if err := s.chain(states[a].Clone(), value+gains[a], used); err != nil {
			return err
		}
	}

	for a, i := range items {
		for b := a + 1; b < n; b++ {
			used := s.tokens[i]
			if s.tokens[items[b]] > s.budget-used {
				continue
			}
			if err := next(); err != nil {
				return err
			}
			used += s.tokens[items[b]]
			pair := states[a].Clone()
			pair.Add(items[b])
			both := value + gains[a] + rows[a][b]
			seed(i, items[b])
			if err := s.record(used, both); err != nil {
				return err
			}
			offer(used, a, b, func(j int) float64 { return min(rows[a][j], rows[b][j]) })
			if err := s.chain(pair, both, used); err != nil {
				return err
			}
		}
	}
	return nil
}
