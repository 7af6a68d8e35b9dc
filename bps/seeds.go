package bps

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// An order is what a chain grows by.
type order int

const (
	byDensity order = iota // gain per token: the paper's
	byGain                 // gain: as if all candidates had the same tokens
)

// A plan says which chains a mode grows.
type plan struct {
	size   int     // of the largest seeds
	prune  bool    // grow each seed also by those candidates alone that gain no more there than its own did on average
	orders []order // a chain for each
}

// A search is what the chains of one run of [Select] share. Candidates are positions in tokens.
type search struct {
	benefit Benefit
	base    float64 // Value(nil)
	tokens  []int
	full    bool // go on at gain 0

	always []int   // in every set: the pinned candidates, then those without tokens that gain something
	mixed  uint64  // hash of always
	start  Gains   // state of always
	value  float64 // benefit of always
	budget int     // for candidates that are not in always
	offset int     // tokens of always, and the overhead

	items []int     // what chains choose from, ascending: each has tokens and fits
	sizes []int     // tokens of items
	gains []float64 // of items at always
	order []int32   // positions in items, by gain per token
	scope string    // of a guarantee
	floor []float64 // by tokens: the largest benefit of what was found with the smaller seeds; nil if all sets are to be seen

	walkers  []*walker // one a worker
	steps    int       // of a trace
	seeds    int       // at most
	finished atomic.Int64
}

// prepare makes the scratch for chains over s.items.
func (s *search) prepare() {
	n := len(s.items)
	s.sizes = make([]int, n)
	for j, i := range s.items {
		s.sizes[j] = s.tokens[i]
	}
	for _, w := range s.walkers {
		w.in, w.barred = make([]bool, n), make([]bool, n)
		w.stale, w.row = make([]float64, n), make([]float64, n)
	}
}

// raiseFloor sets s.floor to what was found so far. It is the same whatever the number of workers.
func (s *search) raiseFloor() {
	if s.full || s.walkers[0].bound != nil || s.walkers[0].pool.best == nil {
		return
	}
	s.floor = slices.Clone(s.walkers[0].pool.best)
	for _, w := range s.walkers[1:] {
		for t, b := range w.pool.best {
			s.floor[t] = max(s.floor[t], b)
		}
	}
}

// distinct leaves out orders that are the same where all candidates have the same tokens.
func (s *search) distinct(orders []order) []order {
	if n := len(s.sizes); n == 0 || slices.Min(s.sizes) == slices.Max(s.sizes) {
		return orders[:1]
	}
	return orders
}

// rank sets s.order, which only seeds, bounds and branch and bound need.
func (s *search) rank() {
	s.order = make([]int32, len(s.items))
	density := make([]float64, len(s.items))
	for j := range s.order {
		s.order[j] = int32(j)
		density[j] = s.key(int32(j), s.gains[j], byDensity)
	}
	slices.SortFunc(s.order, func(a, b int32) int { return cmp.Or(cmp.Compare(density[b], density[a]), cmp.Compare(a, b)) })
}

// grow grows the chains of a plan from every seed, smaller ones first. When ctx ends, the sets found so far stay in the pools.
func (s *search) grow(ctx context.Context, p plan) error {
	const room = 1 << 20 // positions in the steps of all traces of an order, of 16 bytes each
	n := len(s.items)
	s.steps = max(1, room/max(1, n*n))
	s.seeds = 1
	for k, ways := 1, 1; k <= p.size; k++ {
		ways = ways * max(n-k+1, 0) / k
		s.seeds += ways
	}
	s.prepare()
	p.orders = s.distinct(p.orders)
	if p.size > 0 || s.walkers[0].bound != nil {
		s.rank()
	}

	// next is called before each seed.
	next := func() error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("bps: stopped after %d of at most %d seeds: %w", s.finished.Load(), s.seeds, err)
		}
		s.finished.Add(1)
		return nil
	}
	if err := next(); err != nil {
		return err
	}
	if err := s.walkers[0].fromNothing(p); err != nil {
		return err
	}
	singles := make([]single, n)
	if p.size >= 1 {
		err := s.each(n, func(w *walker, a int) error {
			if err := next(); err != nil {
				return err
			}
			return w.fromSingle(p, singles, int32(a))
		})
		if err != nil {
			return err
		}
	}
	s.raiseFloor()
	for size := 2; size <= p.size; size++ {
		err := s.each(n, func(w *walker, a int) error {
			return w.fromLarger(next, p, singles, s.single(int32(a), singles[a].state), size)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A seed is a set that chains start from.
type seed struct {
	at    [3]int32 // positions in items, ascending
	size  int
	state Gains
	value float64 // benefit over always
	used  int     // tokens
}

// A single is what larger seeds take from one of a single candidate.
type single struct {
	state  Gains
	traces [2]*trace // by order
}

// single returns the seed of the candidate at position a, with its state.
func (s *search) single(a int32, state Gains) seed {
	return seed{at: [3]int32{a}, size: 1, state: state, value: s.gains[a], used: s.sizes[a]}
}

// with returns the seed with one more candidate, which gains the given amount. Its state is made of the spare one, if that is not
// nil and can be.
func (d seed) with(s *search, b int32, gain float64, spare Gains) seed {
	d.at[d.size] = b
	d.size++
	if c, ok := spare.(interface{ CopyFrom(Gains) }); ok {
		c.CopyFrom(d.state)
		d.state = spare
	} else {
		d.state = d.state.Clone()
	}
	d.state.Add(s.items[b])
	d.value += gain
	d.used += s.sizes[b]
	return d
}

// choose makes a seed the current set.
func (w *walker) choose(d seed) {
	if w.shared {
		w.chosen, w.shared = make([]int, 0, len(w.always)+16), false
	}
	w.chosen, w.hash = append(w.chosen[:0], w.always...), w.mixed
	clear(w.in)
	for _, a := range d.at[:d.size] {
		i := w.items[a]
		w.chosen = append(w.chosen, i)
		w.hash += hash(i)
		w.in[a] = true
	}
	w.value, w.used = d.value, d.used
	if w.bound != nil {
		w.bound.size = math.MaxInt // whatever the walker did before: a sum of equals depends on their order
	}
}

// fromNothing records the empty seed, grows its chains, and in mode Level0 records each single candidate too.
func (w *walker) fromNothing(p plan) error {
	w.choose(seed{})
	if err := w.record(w.start); err != nil {
		return err
	}
	for _, o := range p.orders {
		w.choose(seed{})
		if err := w.lazy(w.start.Clone(), o); err != nil {
			return err
		}
	}
	if p.size > 0 {
		return nil
	}
	var alone []int32
	for a, i := range w.items {
		if w.bound != nil || !w.pool.hopeless(w.tokens[i]+w.offset, w.search.value+w.gains[a]) {
			alone = append(alone, int32(a))
		}
	}
	slices.SortFunc(alone, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.tokens[w.items[a]], w.tokens[w.items[b]]), cmp.Compare(a, b))
	})
	w.choose(seed{})
	best := 0.0
	for _, a := range alone {
		if w.bound == nil && w.gains[a] <= best {
			continue // one that is as good has no more tokens
		}
		best = max(best, w.gains[a])
		i := w.items[a]
		if w.shared {
			w.chosen, w.shared = slices.Clone(w.always), false
		}
		w.chosen, w.hash = append(w.chosen[:len(w.always)], i), w.mixed+hash(i)
		w.value, w.used = w.gains[a], w.tokens[i]
		st := w.start
		if w.bound != nil { // nothing else needs the state
			st = st.Clone()
			st.Add(i)
		}
		w.in[a] = true
		if err := w.record(st); err != nil {
			return err
		}
		w.in[a] = false
	}
	return nil
}

// fromSingle records the seed of the candidate at position a and grows its chains.
func (w *walker) fromSingle(p plan, singles []single, a int32) error {
	d := w.single(a, w.start.Clone())
	d.state.Add(w.items[a])
	singles[a].state = d.state
	w.choose(d)
	if err := w.record(d.state); err != nil {
		return err
	}
	if err := w.gainsAt(d); err != nil {
		return err
	}
	for _, o := range p.orders {
		w.choose(d)
		t, err := w.trace(d.state.Clone(), w.row, o)
		if err != nil {
			return err
		}
		singles[a].traces[o] = t
	}
	return w.pruned(p, singles, d)
}

// fromLarger grows the chains of all seeds of the given size that start with d and go on with candidates behind it.
func (w *walker) fromLarger(next func() error, p plan, singles []single, d seed, size int) error {
	var spare Gains // of the seed before
	for b := d.at[d.size-1] + 1; int(b) < len(w.items); b++ {
		if w.sizes[b] > w.budget-d.used {
			continue
		}
		w.evaluations++
		gain := d.state.Gain(w.items[b])
		if !(gain >= 0 && gain <= w.gains[b]) {
			w.choose(d)
			var err error
			if gain, err = w.oddGain(d.state, w.items[b], gain, w.gains[b]); err != nil {
				return err
			}
		}
		larger := d.with(w.search, b, gain, spare)
		spare = larger.state
		var err error
		if larger.size < size {
			err = w.fromLarger(next, p, singles, larger, size)
		} else if err = next(); err == nil {
			err = w.fromSeed(p, singles, larger)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fromSeed records a seed of two or three candidates and grows its chains. Without pruning it uses up the state of the seed.
func (w *walker) fromSeed(p plan, singles []single, d seed) error {
	w.choose(d)
	if err := w.record(d.state); err != nil {
		return err
	}
	for k, o := range p.orders {
		state := d.state
		if p.prune || k < len(p.orders)-1 {
			state = state.Clone()
		}
		if k > 0 {
			w.choose(d)
		}
		if err := w.follow(state, o, nil, singles, d); err != nil {
			return err
		}
	}
	if !p.prune {
		return nil
	}
	if err := w.gainsAt(d); err != nil {
		return err
	}
	return w.pruned(p, singles, d)
}

// gainsAt sets w.row to the gain of every candidate that fits beside a seed, and to 0 for all others.
func (w *walker) gainsAt(d seed) error {
	w.choose(d)
	for j, i := range w.items {
		w.row[j] = 0
		if w.in[j] || !w.fits(int32(j)) {
			continue
		}
		g, err := w.gain(d.state, i, w.gains[j])
		if err != nil {
			return err
		}
		w.row[j] = g
	}
	return nil
}

// pruned grows the chains of a seed once more if p says so and w.row, the gains at the seed, shows that it makes a difference: without
// the candidates that gain more there than those of the seed did on average.
func (w *walker) pruned(p plan, singles []single, d seed) error {
	if !p.prune {
		return nil
	}
	limit := (d.value + 1e-12*max(d.value, math.Abs(w.base))) / float64(d.size) // the slack is for rounding
	some := false
	for j, g := range w.row {
		w.barred[j] = g > limit
		some = some || w.barred[j]
	}
	if !some {
		return nil
	}
	for _, o := range p.orders {
		w.choose(d)
		if err := w.follow(d.state.Clone(), o, w.barred, singles, d); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for 0..n-1, on as many goroutines as there are walkers, and returns the error of the smallest number for which f
// failed; then it need not be called for larger ones.
func (s *search) each(n int, f func(w *walker, a int) error) error {
	if len(s.walkers) == 1 {
		for a := range n {
			if err := f(s.walkers[0], a); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		wg     sync.WaitGroup
		next   atomic.Int64
		failed atomic.Int64
		panics = make([]any, len(s.walkers))
		errs   = make([]error, n)
	)
	failed.Store(int64(n))
	for k, w := range s.walkers {
		wg.Go(func() {
			finished := false
			defer func() {
				panics[k] = recover()
				if panics[k] == nil && !finished {
					panics[k] = "bps: a benefit called runtime.Goexit" // or its seeds would be lost in silence
				}
				if panics[k] != nil {
					failed.Store(-1)
				}
			}()
			for {
				a := next.Add(1) - 1
				if a >= failed.Load() || a >= int64(n) {
					finished = true
					return
				}
				if errs[a] = f(w, int(a)); errs[a] != nil {
					for old := failed.Load(); a < old && !failed.CompareAndSwap(old, a); old = failed.Load() {
					}
				}
			}
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p) // of the caller's benefit: it belongs to the caller's goroutine
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
