package bps

import (
	"math"
	"slices"
)

// maxCapacities is how many budgets a bound is kept for; between them the next larger one is used.
const maxCapacities = 256 // of small budgets; of large ones half as many

// A bound keeps upper bounds on what any set can reach, the least over all sets that it has seen. Every set S, feasible or not, gives
// one for every capacity b, because G is monotone and submodular: no set of at most b tokens has a benefit above
//
//	U(b) = G(S) + fractional knapsack of the gains G(i|S), capacity b
//
// and, for a price kappa of a token, none has an objective above the same with the positive G(i|S) - kappa*tokens(i).
// Benefits are over those of search.always, and capacities without its tokens.
type bound struct {
	kappa      float64   // 0 if the penalty is not linear
	capacities []int     // ascending; the last one is the budget
	at         []float64 // the same
	upper      []float64
	objective  float64

	rest  []share // scratch: what a set leaves, by gain per token, the largest first; upper bounds behind what fills the budget
	top   []share // scratch of see, as the next
	spare []share
	size  int // of the set seen last
	most  int // tokens of the largest candidate
}

type share struct {
	key    float64 // 0 for members of the set
	tokens float64
	at     int32
}

// newBounds makes every walker keep bounds.
func (s *search) newBounds(p Problem) {
	for _, w := range s.walkers {
		w.bound = newBound(s, p.PenaltyPerToken)
	}
}

func newBound(s *search, kappa float64) *bound {
	b := &bound{kappa: kappa, objective: math.Inf(1), rest: make([]share, 0, len(s.items))}
	step := 1
	if s.budget >= maxCapacities {
		step = s.budget/(maxCapacities/2) + 1
	}
	for c := s.budget; c >= 0; c -= step {
		b.capacities = append(b.capacities, c)
	}
	slices.Reverse(b.capacities)
	b.at, b.upper = make([]float64, len(b.capacities)), make([]float64, len(b.capacities))
	for k, c := range b.capacities {
		b.at[k], b.upper[k] = float64(c), math.Inf(1)
	}
	for _, i := range s.items {
		b.most = max(b.most, s.tokens[i])
	}
	return b
}

// see lowers the bounds by those that the set w.chosen gives, whose state is st.
func (b *bound) see(w *walker, st Gains) error {
	value := w.value
	small := len(w.chosen) <= len(w.always)+1        // only small sets give good bounds for small capacities
	if len(b.rest) == 0 || len(w.chosen) <= b.size { // a new chain
		b.rest = b.rest[:0]
		for _, j := range w.order {
			b.rest = append(b.rest, share{key: w.key(j, w.gains[j], byDensity), tokens: float64(w.sizes[j]), at: j})
		}
	}
	b.size = len(w.chosen)
	// Shares of the set before are upper bounds. Those that may fill the budget are computed again, the largest first, until the best of
	// them do fill it and are above what the others can be.
	top, sure, filled, k := b.top[:0], 0, 0.0, 0
	for ; k < len(b.rest); k++ {
		for ; sure < len(top) && top[sure].key >= b.rest[k].key; sure++ {
			filled += top[sure].tokens
		}
		if filled >= float64(w.budget) && !small {
			break
		}
		x := b.rest[k]
		x.key = 0
		if !w.in[x.at] {
			g, err := w.gain(st, w.items[x.at], unbounded)
			if err != nil {
				return err
			}
			x.key = g / x.tokens
		}
		top = append(top, x)
		i := len(top) - 1
		for ; i > 0 && top[i-1].key < x.key; i-- {
			top[i] = top[i-1]
		}
		top[i] = x
	}
	b.top = top
	b.spare = mergeShares(b.spare[:0], top, b.rest[k:])
	b.rest, b.spare = b.spare, b.rest

	b.objective = min(b.objective, value+knapsack(b.rest, float64(w.budget), b.kappa, math.Inf(1)))
	from := 0
	for ; small && from < len(b.capacities) && b.capacities[from] < b.most; from++ { // they exclude large candidates
		b.upper[from] = min(b.upper[from], value+knapsack(b.rest, b.at[from], 0, b.at[from]))
	}
	taken, used := value, 0.0
	for _, x := range b.rest {
		end := used + x.tokens
		for ; from < len(b.at) && b.at[from] < end; from++ {
			if u := taken + x.key*(b.at[from]-used); u < b.upper[from] {
				b.upper[from] = u
			}
		}
		if from == len(b.at) {
			return nil
		}
		taken += x.key * x.tokens
		used = end
	}
	for ; from < len(b.at); from++ {
		b.upper[from] = min(b.upper[from], taken)
	}
	return nil
}

// mergeShares appends two sorted lists to dst as one; of equal ones, those of x come first.
func mergeShares(dst, x, y []share) []share {
	for len(x) > 0 && len(y) > 0 {
		if x[0].key >= y[0].key {
			dst, x = append(dst, x[0]), x[1:]
		} else {
			dst, y = append(dst, y[0]), y[1:]
		}
	}
	return append(append(dst, x...), y...)
}

// knapsack returns the most that fractions of sorted shares are worth above a price kappa of a token, without shares of more tokens than
// largest.
func knapsack(q []share, capacity, kappa, largest float64) float64 {
	sum := 0.0
	for _, x := range q {
		if x.key <= kappa || capacity <= 0 {
			break
		}
		if x.tokens > largest {
			continue
		}
		t := min(x.tokens, capacity)
		sum += (x.key - kappa) * t
		capacity -= t
	}
	return sum
}

// within returns the bound on the benefit, over that of always, of sets of at most capacity tokens.
func (b *bound) within(capacity int) float64 {
	k, _ := slices.BinarySearch(b.capacities, capacity)
	return b.upper[k]
}

// certificate sets sel.Certificate and the upper bounds of its frontier, if bounds were kept.
func (s *search) certificate(sel *Selection, p Problem) {
	b := s.walkers[0].bound
	if b == nil {
		return
	}
	for _, w := range s.walkers[1:] {
		b.objective = min(b.objective, w.bound.objective)
		for k, u := range w.bound.upper {
			b.upper[k] = min(b.upper[k], u)
		}
	}
	penalty := p.penalty()
	tie := s.walkers[0].pool.tie(sel.Frontier[len(sel.Frontier)-1].Benefit)

	// Between two totals of the frontier, no set has more than the benefit that the tokens just below the second one may reach, or a
	// smaller penalty than the first.
	upper := math.Inf(-1)
	for j := range sel.Frontier {
		pt := &sel.Frontier[j]
		most := p.Budget
		if j+1 < len(sel.Frontier) {
			most = sel.Frontier[j+1].Tokens - 1
		}
		pt.UpperBound = pt.Benefit
		if most >= s.offset && s.budget >= 0 {
			if u := s.value + b.within(most-s.offset); u > pt.Benefit+tie {
				pt.UpperBound = u
			}
		}
		upper = max(upper, pt.UpperBound-penalty(pt.Tokens))
	}
	if p.Penalty == nil {
		linear := s.value + b.objective - p.PenaltyPerToken*float64(s.offset)
		if len(p.Pinned) == 0 {
			linear = max(linear, 0) // the empty set
		}
		upper = min(upper, linear)
	}
	if sel.Guarantee.Factor == 1 || upper <= sel.Objective+tie { // proven optimal, or equal up to rounding
		upper = sel.Objective
	}
	sel.Certificate = newCertificate(upper, sel.Objective)
}

func newCertificate(upper, objective float64) *Certificate {
	c := &Certificate{UpperBound: upper, Gap: upper - objective}
	switch {
	case c.Gap == 0:
		c.Ratio = 1
	case upper > 0:
		c.Ratio = max(0, objective/upper)
	}
	return c
}
