package linear

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNonFinite is the error of [Policy.Step] for a gradient whose norm is not a finite number.
var ErrNonFinite = errors.New("linear: the gradient is not finite")

// AdamW holds the settings of [Policy.Step]. A nil *AdamW equals &AdamW{}.
type AdamW struct {
	LearningRate float64  // > 0; zero means 0.05 (ours, for linear weights)
	Beta1        *float64 // decay of the mean of gradients, in [0, 1); nil means 0.9
	Beta2        *float64 // decay of the mean of their squares, in [0, 1); nil means 0.999
	Eps          float64  // added to the root of that mean, > 0; zero means 1e-8
	WeightDecay  *float64 // decoupled, >= 0; nil means 0.01
	MaxGradNorm  *float64 // bound on the norm of the whole gradient, > 0; nil means 1, 0 means no bound
}

// Step moves the weights against the gradient collected since the last step, clears it, and returns its L2 norm before
// clipping. A gradient longer than MaxGradNorm is scaled to that length; action and value weights count together. Then,
// for each weight w with gradient g in this step (arXiv:1711.05101, algorithm 2),
//
//	m = b1*m + (1-b1)*g    v = b2*v + (1-b2)*g²
//	w = w - rate*(m/(1-b1^n)/(sqrt(v/(1-b2^n)) + eps) + decay*w)
//
// A weight that no candidate touched in a step keeps its value, m and v, and n counts the steps that did touch it: each
// weight runs AdamW on its own steps (ours), so the cost is that of the features seen and rare features are neither
// decayed nor moved by old momentum.
//
// It returns an error for settings out of range or a nil policy, leaving all as it is, and [ErrNonFinite], after
// clearing the gradient, if the norm is not finite; weights do not change then. O(t) for t weights touched.
func (p *Policy) Step(o *AdamW) (norm float64, err error) {
	if p == nil {
		return 0, errNil
	}
	if o == nil {
		o = &AdamW{}
	}
	s, err := o.settings()
	if err != nil {
		return 0, err
	}
	norm = math.Sqrt(p.actions.squaredGrad() + p.values.squaredGrad())
	if !finite(norm) {
		p.ZeroGrad()
		return norm, ErrNonFinite
	}
	scale := 1.0
	if s.maxNorm > 0 && norm > s.maxNorm {
		scale = s.maxNorm / norm
	}
	p.actions.step(s, scale)
	p.values.step(s, scale)
	p.ZeroGrad()
	return norm, nil
}

// ZeroGrad drops the gradient collected since the last step.
func (p *Policy) ZeroGrad() {
	if p == nil {
		return
	}
	p.actions.zeroGrad()
	p.values.zeroGrad()
}

type settings struct{ rate, beta1, beta2, eps, decay, maxNorm float64 }

func (o *AdamW) settings() (settings, error) {
	or := func(v *float64, def float64) float64 {
		if v == nil {
			return def
		}
		return *v
	}
	s := settings{o.LearningRate, or(o.Beta1, 0.9), or(o.Beta2, 0.999), o.Eps, or(o.WeightDecay, 0.01), or(o.MaxGradNorm, 1)}
	if s.rate == 0 {
		s.rate = 0.05
	}
	if s.eps == 0 {
		s.eps = 1e-8
	}
	for _, f := range [...]struct {
		name, want string
		value      float64
		ok         bool
	}{
		{"LearningRate", "> 0", s.rate, s.rate > 0},
		{"Beta1", "in [0, 1)", s.beta1, s.beta1 >= 0 && s.beta1 < 1},
		{"Beta2", "in [0, 1)", s.beta2, s.beta2 >= 0 && s.beta2 < 1},
		{"Eps", "> 0", s.eps, s.eps > 0},
		{"WeightDecay", ">= 0", s.decay, s.decay >= 0},
		{"MaxGradNorm", ">= 0", s.maxNorm, s.maxNorm >= 0},
	} {
		if !f.ok || !finite(f.value) {
			return s, fmt.Errorf("linear: AdamW.%s is %v, want a finite number %s", f.name, f.value, f.want)
		}
	}
	return s, nil
}

// block is one weight vector with its gradient and optimiser state. Its slices are nil, which reads as zeros, until the
// first gradient.
type block struct {
	w, g, m, v []float64
	n          []uint32 // steps of each weight
	touched    []uint32 // weights with a gradient, each once
	marked     []bool   // whether a weight is in touched
}

func (b *block) grow(dim int) {
	if b.w != nil {
		return
	}
	b.w, b.g, b.m, b.v = make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
	b.n, b.marked = make([]uint32, dim), make([]bool, dim)
}

// dot returns the sum of weight times value, NaN for an index from dim on.
func (b *block) dot(features []Feature, dim int) float64 {
	var sum float64
	for _, f := range features {
		switch {
		case uint64(f.Index) >= uint64(dim):
			return math.NaN()
		case b.w == nil:
			sum += 0 * f.Value // NaN if the value is not finite, as with weights
		default:
			sum += b.w[f.Index] * f.Value
		}
	}
	return sum
}

// addGrad adds coef times the features, whose indices have been checked.
func (b *block) addGrad(features []Feature, coef float64) {
	for _, f := range features {
		if !b.marked[f.Index] {
			b.marked[f.Index] = true
			b.touched = append(b.touched, f.Index)
		}
		b.g[f.Index] += coef * f.Value
	}
}

func (b *block) squaredGrad() float64 {
	var sum float64
	for _, i := range b.touched {
		sum += b.g[i] * b.g[i]
	}
	return sum
}

func (b *block) zeroGrad() {
	for _, i := range b.touched {
		b.g[i] = 0
		b.marked[i] = false
	}
	b.touched = b.touched[:0]
}

func (b *block) step(s settings, scale float64) {
	// 1-b^n as -expm1(n*log b), which is faster than a power and more exact for b near 1.
	log1, log2 := math.Log(s.beta1), math.Log(s.beta2)
	for _, i := range b.touched {
		g := b.g[i] * scale
		if b.n[i] < math.MaxUint32 { // from where on the corrections no longer matter
			b.n[i]++
		}
		n := float64(b.n[i])
		b.m[i] = s.beta1*b.m[i] + (1-s.beta1)*g
		b.v[i] = s.beta2*b.v[i] + (1-s.beta2)*g*g
		mean := -b.m[i] / math.Expm1(n*log1)
		square := -b.v[i] / math.Expm1(n*log2)
		b.w[i] -= s.rate * (mean/(math.Sqrt(square)+s.eps) + s.decay*b.w[i])
	}
}

func (b *block) clone() block {
	return block{
		w: slices.Clone(b.w), g: slices.Clone(b.g), m: slices.Clone(b.m), v: slices.Clone(b.v),
		n: slices.Clone(b.n), touched: slices.Clone(b.touched), marked: slices.Clone(b.marked),
	}
}
