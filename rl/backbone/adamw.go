package backbone

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/rl"
)

// AdamW holds the settings of the optimiser behind [Model.Step] and [Critic.Step]. For each parameter w with gradient g in step n, which
// counts from 1 (arXiv:1711.05101, algorithm 2),
//
//	m = b1 m + (1-b1) g    v = b2 v + (1-b2) g²
//	w = w - rate (m/(1-b1^n) / (sqrt(v/(1-b2^n)) + eps) + decay w)
//
// where g has first been scaled to length MaxGradNorm if the whole gradient, of all parameters together, is longer. One-dimensional
// parameters, which are biases and the scales of norms, do not decay (ours). A gradient whose squares do not add up to a finite number
// is dropped: neither the parameters nor m, v and n change then.
type AdamW struct {
	Beta1, Beta2 *float64 // decay of the means of gradients and of their squares, in [0, 1); nil means 0.9 and 0.999
	Eps          float64  // added to the root, > 0; zero means 1e-8
	WeightDecay  *float64 // decoupled from the gradient, >= 0; nil means 0.01
	MaxGradNorm  *float64 // bound on the L2 norm of the whole gradient, >= 0; nil means 1, 0 means no bound
}

// adamSettings are those of an [AdamW] with the defaults filled in.
type adamSettings struct{ beta1, beta2, eps, decay, maxNorm float64 }

func (o AdamW) settings() adamSettings {
	or := func(p *float64, def float64) float64 {
		if p == nil {
			return def
		}
		return *p
	}
	s := adamSettings{or(o.Beta1, 0.9), or(o.Beta2, 0.999), o.Eps, or(o.WeightDecay, 0.01), or(o.MaxGradNorm, 1)}
	if s.eps == 0 {
		s.eps = 1e-8
	}
	return s
}

// check reports all settings out of range.
func (o AdamW) check() error {
	s := o.settings()
	var faults []error
	for _, f := range [...]struct {
		name, want string
		value      float64
		ok         bool
	}{
		{"Beta1", "a number in [0, 1)", s.beta1, s.beta1 >= 0 && s.beta1 < 1},
		{"Beta2", "a number in [0, 1)", s.beta2, s.beta2 >= 0 && s.beta2 < 1},
		{"Eps", "a finite number > 0, or 0 for the default", s.eps, s.eps > 0 && s.eps-s.eps == 0},
		{"WeightDecay", "a finite number >= 0", s.decay, s.decay >= 0 && s.decay-s.decay == 0},
		{"MaxGradNorm", "a finite number >= 0", s.maxNorm, s.maxNorm >= 0 && s.maxNorm-s.maxNorm == 0},
	} {
		if !f.ok {
			faults = append(faults, fmt.Errorf("backbone: AdamW.%s is %v, want %s", f.name, f.value, f.want))
		}
	}
	return errors.Join(faults...)
}

// clone returns settings that share no number with o.
func (o AdamW) clone() AdamW {
	for _, p := range []**float64{&o.Beta1, &o.Beta2, &o.WeightDecay, &o.MaxGradNorm} {
		if *p != nil {
			*p = new(**p)
		}
	}
	return o
}

// adam is an optimiser with its state. Its settings have been checked.
type adam struct {
	AdamW
	m, v [][]float64 // by parameter; nil, which reads as zeros, before the first step
	n    int         // steps so far
}

// step moves params, the same in each call, against their gradients, drops these, and returns the norm of the gradient before clipping. For
// a norm that is not finite the error is [rl.ErrNonFinite] and only the gradients are dropped; for a rate that is not a finite number
// >= 0 there is an error too, and nothing changes. It allocates in the first call alone.
func (a *adam) step(params []*Param, rate float64) (norm float64, err error) {
	if !(rate >= 0) || rate-rate != 0 {
		return 0, fmt.Errorf("backbone: the learning rate is %v, want a finite number >= 0", rate)
	}
	s := a.settings()
	var squares float64
	for _, p := range params {
		var sum float64
		for _, g := range p.G {
			sum += g * g
		}
		squares += sum
	}
	norm = math.Sqrt(squares)
	if norm-norm != 0 {
		for _, p := range params {
			clear(p.G)
		}
		return norm, fmt.Errorf("backbone: the norm of the gradient is %v: %w", norm, rl.ErrNonFinite)
	}
	if a.m == nil {
		a.m, a.v = zerosLike(params), zerosLike(params)
	}
	scale := 1.0
	if s.maxNorm > 0 && norm > s.maxNorm {
		scale = s.maxNorm / norm
	}
	a.n++
	// 1-b^n as -expm1(n log b), which is more exact for b near 1.
	n := float64(a.n)
	mean, square := -math.Expm1(n*math.Log(s.beta1)), -math.Expm1(n*math.Log(s.beta2))
	for i, p := range params {
		decay := s.decay
		if p.Rows == 1 {
			decay = 0
		}
		u := update{
			beta1: s.beta1, new1: 1 - s.beta1, beta2: s.beta2, new2: 1 - s.beta2,
			scale: scale, rate: rate / mean, root: 1 / math.Sqrt(square), eps: s.eps, keep: 1 - rate*decay,
		}
		u.apply(p.W, p.G, a.m[i], a.v[i])
	}
	return norm, nil
}

// update is one step of one parameter, its factors drawn together so that an element costs one root and one division.
type update struct{ beta1, new1, beta2, new2, scale, rate, root, eps, keep float64 }

func (u update) apply(w, g, m, v []float64) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	for i, x := range g {
		x *= u.scale
		mi := u.beta1*m[i] + u.new1*x
		vi := u.beta2*v[i] + u.new2*x*x
		w[i] = u.keep*w[i] - u.rate*mi/(math.Sqrt(vi)*u.root+u.eps)
		m[i], v[i], g[i] = mi, vi, 0
	}
}

func zerosLike(params []*Param) [][]float64 {
	out := make([][]float64, len(params))
	for i, p := range params {
		out[i] = make([]float64, len(p.W))
	}
	return out
}

// clone returns an optimiser in the same state that shares nothing with a.
func (a *adam) clone() adam {
	return adam{AdamW: a.AdamW.clone(), m: cloneAll(a.m), v: cloneAll(a.v), n: a.n}
}

func cloneAll(x [][]float64) [][]float64 {
	if x == nil {
		return nil
	}
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = slices.Clone(x[i])
	}
	return out
}
