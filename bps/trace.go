package bps

import "math"

// A trace is what the chain of a single candidate saw. Gains at its sets bound those at larger sets, so that the chain of a larger
// seed, which often makes the same picks, need compute only few.
type trace struct {
	picks []int32 // positions in search.items
	steps []step  // steps[t] is about the set after t picks; they may end early
}

// A step has upper bounds on the keys at one set. It is laid out for few cache lines: most of them are read once.
type step struct {
	best  []int32   // positions of what fits and gains something, by key, the largest first
	keys  []float64 // of best
	above []float32 // by position: rounded up, 0 for what is not in best
}

// trace is the chain of w.chosen, a single candidate with the state st. row has the gains at first, by position. More gains are computed than
// the chain needs, as closer bounds spare others more: those of candidates with a stale key of at least half the best. For pools of
// 31 to 200 candidates that is about the fewest in all.
func (w *walker) trace(st Gains, row []float64, o order) (*trace, error) {
	t := w.newTrace()
	w.open = w.open[:0]
	for _, j := range w.order {
		if !w.in[j] && w.fits(j) {
			w.open = append(w.open, candidate{key: w.key(j, row[j], o), gain: row[j], at: j})
		}
	}
	for open := w.open; ; {
		// Insertion is quick, as the order changes little from one step to the next.
		for i := 1; i < len(open); i++ {
			c, k := open[i], i
			for ; k > 0 && c.better(&open[k-1]); k-- {
				open[k] = open[k-1]
			}
			open[k] = c
		}
		if len(t.steps) < w.steps {
			s := w.newStep()
			for _, c := range open {
				if c.gain > 0 || w.full {
					s.best = append(s.best, c.at)
					s.keys = append(s.keys, c.key)
					s.above[c.at] = roundUp(c.key)
				}
			}
			t.steps = append(t.steps, s)
		}
		if len(open) == 0 || open[0].gain == 0 && !w.full {
			return t, nil
		}
		t.picks = append(t.picks, open[0].at)
		if err := w.add(st, &open[0]); err != nil {
			return nil, err
		}
		fit, enough := 0, -1.0
		for _, c := range open[1:] {
			if !w.fits(c.at) {
				continue
			}
			if c.key >= enough {
				var err error
				if c, err = w.fresh(st, c.at, c.key, o); err != nil {
					return nil, err
				}
				enough = max(enough, c.key*0.5)
			}
			open[fit] = c
			fit++
		}
		open = open[:fit]
	}
}

// newTrace returns an empty trace. Many are allocated together.
func (w *walker) newTrace() *trace {
	const many, usual = 32, 16 // traces at a time, steps of each
	if len(w.traces) == 0 {
		w.traces = make([]trace, many)
		steps, picks := make([]step, many*usual), make([]int32, many*usual)
		for k := range w.traces {
			w.traces[k] = trace{picks: picks[k*usual:][:0:usual], steps: steps[k*usual:][:0:usual]}
		}
	}
	t := &w.traces[0]
	w.traces = w.traces[1:]
	return t
}

// newStep returns an empty step. Many are allocated together.
func (w *walker) newStep() step {
	n := len(w.items)
	if len(w.best) < n {
		w.best, w.keys, w.above = make([]int32, 32*n), make([]float64, 32*n), make([]float32, 32*n)
	}
	s := step{w.best[:0:n], w.keys[:0:n], w.above[:n:n]}
	w.best, w.keys, w.above = w.best[n:], w.keys[n:], w.above[n:]
	return s
}

// roundUp returns a number that is not below x > 0 and needs half the memory.
func roundUp(x float64) float32 { return float32(max(x*(1+1.2e-7), 1e-30)) }

// A follower is a trace whose first picks are all in the set of a chain.
type follower struct {
	*trace
	picked int
}

// follow grows w.chosen, a seed with state st, by the best candidate that fits, and records it, until none fits or none gains. It
// leaves out those that are barred, if barred is not nil. Where the chain reaches a set of the trace of a candidate of the seed, it
// ends, as all that would follow is recorded already.
func (w *walker) follow(st Gains, o order, barred []bool, singles []single, d seed) error {
	var all [3]follower
	var bounds [3][]float32
	followers := all[:d.size]
	for k, a := range d.at[:d.size] {
		followers[k].trace = singles[a].traces[o]
	}
	for j := range w.stale {
		w.stale[j] = unbounded
	}
	for size := d.size; ; size++ {
		lead := 0
		for k := range followers {
			f := &followers[k]
			for f.picked+1 < len(f.steps) && w.in[f.picks[f.picked]] {
				f.picked++
			}
			if f.picked+1 == size && barred == nil {
				return nil
			}
			if f.picked > followers[lead].picked {
				lead = k
			}
		}
		// The bounds of the trace with the most common picks are the closest, and a bound of any kind will do to pass by a candidate.
		first := &followers[lead].steps[followers[lead].picked]
		others := bounds[:0]
		for k := range followers {
			if k != lead {
				others = append(others, followers[k].steps[followers[k].picked].above)
			}
		}
		if barred == nil && o == byDensity && w.cannotRise(first) {
			return nil
		}
		best, enough, left := candidate{key: -1}, -1.0, w.budget-w.used
	candidates:
		for k, j := range first.best {
			bound := first.keys[k]
			if bound < enough {
				break
			}
			if w.in[j] || w.sizes[j] > left || w.stale[j] < enough || barred != nil && barred[j] {
				continue
			}
			if w.stale[j] < bound {
				bound = w.stale[j]
			}
			for _, above := range others {
				if float64(above[j]) < enough {
					continue candidates
				}
			}
			c, err := w.fresh(st, j, bound, o)
			if err != nil {
				return err
			}
			w.stale[j] = c.key
			if c.better(&best) {
				best, enough = c, c.key*slack
			}
		}
		if best.key < 0 || best.gain == 0 && !w.full {
			return nil // nothing fits, or longer sets would have the same benefit and more tokens
		}
		if err := w.add(st, &best); err != nil {
			return err
		}
	}
}

// cannotRise reports whether no set that w.chosen grows into can be on the frontier: what the candidates of a step, whose keys are bounds by
// density, could add at most stays below what smaller seeds have reached with as many tokens.
func (w *walker) cannotRise(st *step) bool {
	if w.floor == nil {
		return false
	}
	value, used, left := w.search.value+w.value, w.used+w.offset, w.budget-w.used
	for k, j := range st.best {
		size := w.sizes[j]
		if w.in[j] || size > left {
			continue
		}
		next := min(used+size, len(w.floor)-1)
		value += st.keys[k] * float64(next-used)
		if !w.low(value, used) {
			return false
		}
		if used = next; used == len(w.floor)-1 {
			break
		}
	}
	return true
}

// low reports whether a benefit is below the floor at the given tokens.
func (w *walker) low(benefit float64, tokens int) bool {
	return benefit < w.floor[tokens]-1e-9*max(benefit, math.Abs(w.base))
}
