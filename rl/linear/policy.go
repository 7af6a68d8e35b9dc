package linear

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// DefaultDim is the number of weights where none is given.
const DefaultDim = 1 << 16

const maxDim = 1 << 26

var errNil = errors.New("linear: the policy is nil")

// A Policy chooses among candidate actions by a softmax over linear scores of their features, and estimates values with
// a second weight vector. Make one with [New]; nil and the zero value read like a policy of dimension 0, which has a place
// for no feature. Methods that only read (LogProbs, Value) may run at the same time, as long as none runs that writes
// (AddGrad, AddEntropyGrad, AddValueGrad, Step, ZeroGrad, Load).
type Policy struct {
	dim     int
	actions block
	values  block

	logp []float64 // scratch of the methods that write
}

// New returns a policy with dim weights, all zero: every candidate has the same probability and every value is 0. Zero
// means [DefaultDim]; it returns an error for a negative dim and for one above 1<<26. Memory grows with dim: 37 bytes a
// weight once trained, as much again for the value weights once they are.
func New(dim int) (*Policy, error) {
	if dim < 0 || dim > maxDim {
		return nil, fmt.Errorf("linear: dim is %d, want a number in [1, %d], or 0 for %d", dim, maxDim, DefaultDim)
	}
	if dim == 0 {
		dim = DefaultDim
	}
	return &Policy{dim: dim}, nil
}

// Dim returns the number of weights, which is what [Hash] and [Cross] want to know. It is 0 for a nil policy.
func (p *Policy) Dim() int {
	if p == nil {
		return 0
	}
	return p.dim
}

// LogProbs writes the log-probability, in nats, of each candidate into dst, which grows if need be, and returns it: the
// log of the softmax of score/temperature, where the score is the sum of weight times value over the candidate's
// features. Temperature 0 is the limit: 0 for the first of the candidates with the largest score, minus infinity for
// the others.
//
// Without candidates the result is empty. All of it is NaN if temperature is negative or not finite, a feature has an
// index outside the dimension, or a score is not finite; losses and [Policy.Step] refuse such numbers. O(features)
// time.
func (p *Policy) LogProbs(dst []float64, candidates [][]Feature, temperature float64) []float64 {
	if p == nil {
		p = &Policy{}
	}
	dst = dst[:0]
	for _, c := range candidates {
		dst = append(dst, p.actions.dot(c, p.dim))
	}
	best := Greedy(dst)
	if best < 0 {
		return dst
	}
	var poison float64
	for _, z := range dst {
		poison += z - z // NaN for a score that is not finite
	}
	if !(temperature >= 0) || math.IsInf(temperature, 1) || poison != 0 {
		for i := range dst {
			dst[i] = math.NaN()
		}
		return dst
	}
	if temperature == 0 {
		for i := range dst {
			dst[i] = math.Inf(-1)
		}
		dst[best] = 0
		return dst
	}
	top := dst[best]
	var sum float64
	for i, z := range dst {
		dst[i] = (z - top) / temperature
		sum += math.Exp(dst[i])
	}
	norm := math.Log(sum)
	for i := range dst {
		dst[i] -= norm
	}
	return dst
}

// Sample draws an index with the probabilities whose logarithms are given, and which sum to 1. It uses one number of
// rng; nil means rand.New(rand.NewPCG(1, 2)), made anew for this call. It returns -1 if there is no candidate, or none
// with a probability above 0.
func Sample(rng *rand.Rand, logp []float64) int {
	if rng == nil {
		rng = rand.New(rand.NewPCG(1, 2))
	}
	u := rng.Float64()
	last := -1
	for i, l := range logp {
		q := math.Exp(l)
		if !(q > 0) {
			continue
		}
		if u < q {
			return i
		}
		u -= q
		last = i // rounding may leave u a little above the sum
	}
	return last
}

// Greedy returns the index of the largest number, the lowest one of several. Numbers that are NaN never win; it returns
// -1 if there is no other.
func Greedy(logp []float64) int {
	best := -1
	for i, l := range logp {
		if !math.IsNaN(l) && (best < 0 || l > logp[best]) {
			best = i
		}
	}
	return best
}

// AddGrad adds coef * dlog p(chosen)/dW to the gradient that the next [Policy.Step] descends, where p is the softmax of
// [Policy.LogProbs]:
//
//	dlog p(a)/dW = (features of a - sum over candidates k of p(k) * features of k)/temperature
//
// With coef = dL/dlog p from a loss this is that loss's gradient. Coef = -1/N over N demonstrated choices is the mean
// cross-entropy, which imitates them: a warm start. It returns an error, and adds nothing, if chosen is not a
// candidate, temperature is not above 0, coef is not finite, the log-probabilities are NaN or the policy is nil.
// O(features) time.
func (p *Policy) AddGrad(candidates [][]Feature, chosen int, coef, temperature float64) error {
	if chosen < 0 || chosen >= len(candidates) {
		return fmt.Errorf("linear: chosen candidate is %d, want an index below %d", chosen, len(candidates))
	}
	if err := p.prepareGrad(candidates, coef, temperature); err != nil || coef == 0 {
		return err
	}
	coef /= temperature
	p.actions.addGrad(candidates[chosen], coef)
	for k, c := range candidates {
		p.actions.addGrad(c, -coef*math.Exp(p.logp[k]))
	}
	return nil
}

// AddEntropyGrad adds coef * dH/dW, where H = -sum p log p is the entropy of the choice in nats. A loss that holds
// -c*H, to keep a policy from narrowing too early, has coef = -c. Errors and cost are those of [Policy.AddGrad].
func (p *Policy) AddEntropyGrad(candidates [][]Feature, coef, temperature float64) error {
	if err := p.prepareGrad(candidates, coef, temperature); err != nil || coef == 0 {
		return err
	}
	var entropy float64
	for _, l := range p.logp {
		if q := math.Exp(l); q > 0 {
			entropy -= q * l
		}
	}
	for k, c := range candidates {
		if q := math.Exp(p.logp[k]); q > 0 {
			p.actions.addGrad(c, -coef/temperature*q*(p.logp[k]+entropy))
		}
	}
	return nil
}

// prepareGrad checks the arguments of a gradient and leaves the log-probabilities in p.logp.
func (p *Policy) prepareGrad(candidates [][]Feature, coef, temperature float64) error {
	if p == nil {
		return errNil
	}
	if !(temperature > 0) || math.IsInf(temperature, 1) {
		return fmt.Errorf("linear: temperature is %v, want a finite number > 0", temperature)
	}
	if !finite(coef) {
		return fmt.Errorf("linear: coefficient is %v, want a finite number", coef)
	}
	p.logp = p.LogProbs(p.logp, candidates, temperature)
	if len(p.logp) > 0 && math.IsNaN(p.logp[0]) {
		return fmt.Errorf("linear: the candidates have a feature index outside [0, %d), or a score that is not finite", p.dim)
	}
	p.actions.grow(p.dim)
	return nil
}

// Value returns the value of a state, in whatever unit its targets had: the sum of value weight times value over its
// features. It is NaN if a feature has an index outside the dimension.
func (p *Policy) Value(features []Feature) float64 {
	if p == nil {
		p = &Policy{}
	}
	return p.values.dot(features, p.dim)
}

// AddValueGrad adds coef * dValue/dU to the gradient that the next [Policy.Step] descends. For the squared loss
// (Value-target)²/2 over N states coef is (Value-target)/N. It returns an error, and adds nothing, if coef or the value
// is not finite or the policy is nil.
func (p *Policy) AddValueGrad(features []Feature, coef float64) error {
	if p == nil {
		return errNil
	}
	if !finite(coef) {
		return fmt.Errorf("linear: coefficient is %v, want a finite number", coef)
	}
	if !finite(p.Value(features)) {
		return fmt.Errorf("linear: the state has a feature index outside [0, %d), or a value that is not finite", p.dim)
	}
	p.values.grow(p.dim)
	p.values.addGrad(features, coef)
	return nil
}

// Clone returns an independent copy, with the state of the optimiser and the gradient; nil of nil.
func (p *Policy) Clone() *Policy {
	if p == nil {
		return nil
	}
	return &Policy{dim: p.dim, actions: p.actions.clone(), values: p.values.clone()}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
