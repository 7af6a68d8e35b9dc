package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// ErrScore reports a relevance, a similarity or a vector that is not usable: not finite, negative where that has no meaning, or a
// number of them that is not that of the candidates. Faults of the [bps.Problem] are the errors of package bps, such as
// [bps.ErrTokens].
var ErrScore = errors.New("invalid relevance or similarity")

// invalid returns an ErrScore of a rule.
func invalid(rule, format string, args ...any) error {
	return fmt.Errorf("baseline: %s: %w: %s", rule, ErrScore, fmt.Sprintf(format, args...))
}

// A Result is what a rule has chosen. Its fields mean what those of [bps.Selection] mean.
type Result struct {
	Items     []int   // in the order in which they were chosen, after Problem.Pinned
	Tokens    int     // of Items and the overhead; never above the budget; 0 if Items is empty
	Benefit   float64 // Value(Items) - Value(nil)
	Penalty   float64 // of Tokens
	Objective float64 // Benefit - Penalty
}

// A run is one rule on its way through a problem.
type run struct {
	rule     string // for errors
	tokens   []int
	overhead int
	benefit  bps.Benefit
	base     float64 // Value(nil)
	penalty  func(tokens int) float64

	chosen []int
	used   int   // tokens of chosen, without the overhead
	left   int   // tokens for more candidates; below 0 only if not even the overhead fits
	open   []int // what may be chosen and fits, ascending
}

func newRun(rule string, p bps.Problem) (*run, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("baseline: %s: %w", rule, err)
	}
	if missing(p.Benefit) { // no candidates, else Validate has found it
		p.Benefit = bps.BenefitFunc(func([]int) float64 { return 0 })
	}
	r := &run{
		rule:     rule,
		tokens:   p.Tokens,
		overhead: p.Overhead,
		benefit:  p.Benefit,
		base:     p.Benefit.Value(nil),
		penalty:  p.Penalty,
		left:     p.Budget - p.Overhead,
	}
	if !finite(r.base) {
		return nil, fmt.Errorf("baseline: %s: %w: the value of the empty set is %v", rule, bps.ErrBenefit, r.base)
	}
	if r.penalty == nil {
		r.penalty = func(tokens int) float64 { return p.PenaltyPerToken * float64(tokens) }
	}
	taken := make([]bool, len(p.Tokens))
	for _, i := range p.Excluded {
		taken[i] = true
	}
	for _, i := range p.Pinned {
		taken[i] = true
		r.chosen = append(r.chosen, i)
		r.used += p.Tokens[i]
		r.left -= p.Tokens[i]
	}
	for i, t := range p.Tokens {
		if !taken[i] && t <= r.left {
			r.open = append(r.open, i)
		}
	}
	return r, nil
}

// missing also finds a nil function or pointer inside the interface.
func missing(b bps.Benefit) bool {
	v := reflect.ValueOf(b)
	return b == nil || (v.Kind() == reflect.Func || v.Kind() == reflect.Pointer) && v.IsNil()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// alive returns the error of a context that has ended.
func (r *run) alive(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("baseline: %s: stopped after %d candidates were chosen: %w", r.rule, len(r.chosen), err)
	}
	return nil
}

// take chooses r.open[at]. What does not fit any more leaves r.open.
func (r *run) take(at int) {
	i := r.open[at]
	r.add(i)
	r.open = slices.DeleteFunc(r.open, func(j int) bool { return j == i || r.tokens[j] > r.left })
}

// add chooses i, which fits, and leaves r.open as it is.
func (r *run) add(i int) {
	r.chosen = append(r.chosen, i)
	r.used += r.tokens[i]
	r.left -= r.tokens[i]
}

// fill chooses of order, which holds some of r.open, what fits, but not more than most; 0 means no limit.
func (r *run) fill(order []int, most int) {
	taken := 0
	for _, i := range order {
		if r.tokens[i] > r.left {
			continue
		}
		r.add(i)
		if taken++; taken == most {
			return
		}
	}
}

// total is the tokens of a set that holds items and costs used without the overhead.
func (r *run) total(items, used int) int {
	if items == 0 {
		return 0
	}
	return used + r.overhead
}

// fine returns the penalty of a token total.
func (r *run) fine(tokens int) (float64, error) {
	g := r.penalty(tokens)
	if math.IsNaN(g) || math.IsInf(g, -1) {
		return 0, fmt.Errorf("baseline: %s: %w: Penalty(%d) is %v", r.rule, bps.ErrPenalty, tokens, g)
	}
	return g, nil
}

// result rates a set, given in the order in which it was chosen.
func (r *run) result(items []int) (*Result, error) {
	used := 0
	for _, i := range items {
		used += r.tokens[i]
	}
	v := r.benefit.Value(slices.Sorted(slices.Values(items))) - r.base
	if !finite(v) {
		return nil, fmt.Errorf("baseline: %s: %w: the value of the set %v is %v", r.rule, bps.ErrBenefit, items, v+r.base)
	}
	res := &Result{Items: slices.Clone(items), Tokens: r.total(len(items), used), Benefit: v}
	var err error
	if res.Penalty, err = r.fine(res.Tokens); err != nil {
		return nil, err
	}
	res.Objective = res.Benefit - res.Penalty
	return res, nil
}

// better reports whether a is to be preferred to b, by the rules of [bps.Select]: the larger objective, and of those that are equal
// up to rounding the one with fewer tokens, then fewer candidates, then the smaller ascending list. Rounding is relative to the numbers
// that the benefits are differences of, so that their unit does not matter.
func (r *run) better(a, b *Result) bool {
	if diff := a.Objective - b.Objective; math.Abs(diff) > 1e-12*max(a.Benefit, b.Benefit, math.Abs(r.base)) {
		return diff > 0
	}
	if a.Tokens != b.Tokens {
		return a.Tokens < b.Tokens
	}
	if len(a.Items) != len(b.Items) {
		return len(a.Items) < len(b.Items)
	}
	return slices.Compare(slices.Sorted(slices.Values(a.Items)), slices.Sorted(slices.Values(b.Items))) < 0
}

// gain returns what i adds to the set of st.
func (r *run) gain(st bps.Gains, i int) (float64, error) {
	g := st.Gain(i)
	if !finite(g) {
		return 0, fmt.Errorf("baseline: %s: %w: the gain of candidate %d is %v", r.rule, bps.ErrBenefit, i, g)
	}
	return g, nil
}
