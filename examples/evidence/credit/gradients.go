package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rltest"
)

// A differentiable is a function that writes its gradient, and a point.
type differentiable struct {
	f func(grad, x []float64) (float64, error)
	x []float64
}

// A gradientCheck draws functions of one loss and points, away from its kinks unless it says otherwise.
type gradientCheck struct {
	name   string
	points int // of a full run
	draw   func(rng *rand.Rand) differentiable
}

// gradientResult is how far gradients are from finite differences: |g - d|/max(1, |g|, |d|) over all components.
type gradientResult struct {
	Checked int           `json:"checked"` // components
	Points  int           `json:"points"`
	Worst   float64       `json:"max_relative_error"`
	Failed  int           `json:"failed"` // points with an error above the limit, or without a number
	Losses  []gradientRow `json:"losses"`
}

type gradientRow struct {
	Name    string  `json:"name"`
	Points  int     `json:"points"`
	Checked int     `json:"checked"`
	Worst   float64 `json:"max_relative_error"`
	Failed  int     `json:"failed"`
	First   string  `json:"first,omitempty"`
}

// mostError is the limit for the error of a gradient.
const mostError = 1e-6

// gradients returns the checks of all losses.
func gradients() []gradientCheck {
	checks := []gradientCheck{
		{"PPO", 24_000, drawPPO},
		{"PPO on the edges of its clips, either side", 6_000, drawEdge},
		{"TurnRatio", 24_000, drawTurnRatio},
		{"CISPO, ratios held fixed", 24_000, drawCISPO},
		{"Reinforce", 6_000, drawReinforce},
		{"SoftGate", 24_000, drawSoftGate},
	}
	for kind := loss.KL3; kind <= loss.KLAbsPlus; kind++ {
		name := "KL " + kind.String()
		if kind >= loss.KL3Plus {
			name += ", against the value of k2"
		}
		checks = append(checks, gradientCheck{name, 12_000, drawKL(kind)})
	}
	return append(checks,
		gradientCheck{"Value", 24_000, drawValue},
		gradientCheck{"Head.LogProb", 12_000, drawHead(func(h loss.Head, dz, z, _ []float64, a int, scale float64) (float64, error) {
			return h.LogProb(dz, z, a, scale)
		})},
		gradientCheck{"Head.Entropy", 12_000, drawHead(func(h loss.Head, dz, z, _ []float64, _ int, scale float64) (float64, error) {
			return h.Entropy(dz, z, scale)
		})},
		gradientCheck{"Head.KL", 12_000, drawHead(func(h loss.Head, dz, z, ref []float64, _ int, scale float64) (float64, error) {
			return h.KL(dz, z, ref, scale)
		})},
		gradientCheck{"Head.Value", 12_000, drawHead(func(h loss.Head, dz, z, _ []float64, _ int, scale float64) (float64, error) {
			v, _, err := h.Value(dz, z, scale)
			return v, err
		})},
		gradientCheck{"SAPO, the joint loss by all logits", 6_000, drawSAPO},
	)
}

// runGradients checks a share of the points.
func runGradients(ctx context.Context, s settings, checks []gradientCheck) (gradientResult, error) {
	type point struct {
		check, number, components int
		worst                     float64
		failure                   string
	}
	var r gradientResult
	var points []point
	for i, c := range checks {
		n := max(20, int(s.share*float64(c.points)))
		r.Losses = append(r.Losses, gradientRow{Name: c.name})
		for number := range n {
			points = append(points, point{check: i, number: number})
		}
	}
	err := parallel(ctx, s.workers, len(points), func(i int) {
		p := &points[i]
		d := checks[p.check].draw(stream(s.seed, gradientPurpose, p.check, p.number))
		worst, at, err := rltest.Gradient(d.f, d.x)
		p.components, p.worst = len(d.x), worst
		switch {
		case err != nil:
			p.failure = fmt.Sprintf("point %d: component %d: %v", p.number, at, err)
		case !(worst <= mostError):
			p.failure = fmt.Sprintf("point %d: component %d of %v has a relative error of %v", p.number, at, d.x, worst)
		}
	})
	for _, p := range points {
		row := &r.Losses[p.check]
		row.Points++
		row.Checked += p.components
		row.Worst = max(row.Worst, p.worst)
		if p.failure != "" {
			row.Failed++
			if row.First == "" {
				row.First = p.failure
			}
		}
	}
	for _, row := range r.Losses {
		r.Points += row.Points
		r.Checked += row.Checked
		r.Failed += row.Failed
		r.Worst = max(r.Worst, row.Worst)
	}
	return r, err
}

// away draws a number in [-most, most] that is not within 1e-3 of a kink.
func away(rng *rand.Rand, most float64, kinks ...float64) float64 {
	for {
		x := most * (2*rng.Float64() - 1)
		if !slices.ContainsFunc(kinks, func(k float64) bool { return math.Abs(x-k) < 1e-3 }) {
			return x
		}
	}
}

// drawTokens draws a few tokens whose log-ratios, with most as their bound, avoid the kinks. Some have weight 0 and contents that must not be
// read.
func drawTokens(rng *rand.Rand, most float64, kinks ...float64) loss.Batch {
	n := 1 + rng.IntN(5)
	b := loss.Batch{LogProb: make([]float64, n), OldLogProb: make([]float64, n), Advantage: make([]float64, n), Weight: make([]float64, n)}
	for j := range n {
		old := -.1 - 4*rng.Float64()
		d := away(rng, most, kinks...)
		b.OldLogProb[j] = old - max(0, d) // so that both are log-probabilities
		b.LogProb[j] = b.OldLogProb[j] + d
		b.Advantage[j] = 2 * rng.NormFloat64()
		b.Weight[j] = rng.Float64()
		if rng.IntN(6) == 0 {
			b.Weight[j], b.OldLogProb[j], b.Advantage[j] = 0, math.NaN(), math.Inf(1)
		}
	}
	return b
}

// byLogProb makes a function of the log-probabilities of a batch.
func byLogProb(b loss.Batch, f policyLoss) differentiable {
	x := slices.Clone(b.LogProb)
	return differentiable{func(grad, x []float64) (float64, error) {
		b := b
		b.LogProb = x
		return f(grad, b)
	}, x}
}

// clips draws options of PPO and returns their kinks too.
func clips(rng *rand.Rand) (*loss.PPOOptions, []float64) {
	o := &loss.PPOOptions{
		ClipLow: .1 + .5*rng.Float64(), ClipHigh: .1 + rng.Float64(),
		DualClip: []*float64{nil, new(0.0), new(1.5 + rng.Float64())}[rng.IntN(3)], RatioClamp: []float64{0, 1.75}[rng.IntN(2)],
	}
	kinks := []float64{math.Log(1 - o.ClipLow), math.Log(1 + o.ClipHigh), math.Log(3), -20, 20}
	if o.DualClip != nil && *o.DualClip > 0 {
		kinks = append(kinks, math.Log(*o.DualClip))
	}
	return o, append(kinks, -o.RatioClamp, o.RatioClamp)
}

func drawPPO(rng *rand.Rand) differentiable {
	o, kinks := clips(rng)
	most := []float64{1, 3, 22}[rng.IntN(3)]
	b := drawTokens(rng, most, kinks...)
	if most > 3 { // a ratio of 1e8 in the sum would take the digits that the differences of others need
		b = loss.Batch{LogProb: b.LogProb[:1], OldLogProb: b.OldLogProb[:1], Advantage: b.Advantage[:1], Weight: b.Weight[:1]}
	}
	return byLogProb(b, ppo(o))
}

// drawEdge puts a ratio on an edge, as well as rounding lets it.
func drawEdge(rng *rand.Rand) differentiable {
	o, kinks := clips(rng)
	return byLogProb(tokensOf(2*rng.NormFloat64(), min(max(kinks[rng.IntN(len(kinks))], -3), 3)), ppo(o))
}

func drawTurnRatio(rng *rand.Rand) differentiable {
	o := &loss.TurnRatioOptions{ClipLow: .1 + .5*rng.Float64(), ClipHigh: .1 + rng.Float64(), RatioClamp: []float64{0, 1.25}[rng.IntN(2)]}
	kinks := []float64{math.Log(1 - o.ClipLow), math.Log(1 + o.ClipHigh), -o.RatioClamp, o.RatioClamp}
	var b loss.Batch
	var turn []int
	for k := range 1 + rng.IntN(3) {
		n, a, ratio := 1+rng.IntN(3), 2*rng.NormFloat64(), away(rng, 2, kinks...)
		d := make([]float64, n)
		for j := range d {
			d[j] = rng.NormFloat64()
		}
		m := mean(d)
		for j := range d {
			if rng.IntN(6) == 0 { // belongs to no turn
				b.LogProb, b.OldLogProb = append(b.LogProb, 0), append(b.OldLogProb, math.NaN())
				b.Advantage, b.Weight, turn = append(b.Advantage, math.NaN()), append(b.Weight, 0), append(turn, k)
			}
			old := -12 - 4*rng.Float64() // no log-ratio comes near to 12
			b.LogProb, b.OldLogProb = append(b.LogProb, old+d[j]-m+ratio), append(b.OldLogProb, old)
			b.Advantage, b.Weight, turn = append(b.Advantage, a), append(b.Weight, .1+rng.Float64()), append(turn, k)
		}
	}
	return byLogProb(b, func(grad []float64, b loss.Batch) (float64, error) {
		l, _, err := loss.TurnRatio(grad, b, turn, o)
		return l, err
	})
}

// drawCISPO compares with the loss in which the clipped ratios at the point are constants: Reinforce with them inside the advantages. At
// the point itself both have the same value.
func drawCISPO(rng *rand.Rand) differentiable {
	o := &loss.CISPOOptions{ClipHigh: .1 + rng.Float64(), RatioClamp: []float64{0, 1.5}[rng.IntN(2)]}
	b := drawTokens(rng, 2)
	clamp := o.RatioClamp
	if clamp == 0 {
		clamp = 20
	}
	fixed := b
	fixed.Advantage = slices.Clone(b.Advantage)
	for j := range fixed.Advantage {
		fixed.Advantage[j] *= min(math.Exp(max(-clamp, min(clamp, b.LogProb[j]-b.OldLogProb[j]))), 1+o.ClipHigh)
	}
	at := slices.Clone(b.LogProb)
	return byLogProb(fixed, func(grad []float64, fixed loss.Batch) (float64, error) {
		l, err := loss.Reinforce(nil, fixed)
		if err != nil || !slices.Equal(fixed.LogProb, at) {
			return l, err
		}
		own, _, err := loss.CISPO(grad, b, o)
		if err == nil && !near(own, l, 1e-12) {
			err = fmt.Errorf("the value is %v, want %v", own, l)
		}
		return l, err
	})
}

func drawReinforce(rng *rand.Rand) differentiable {
	return byLogProb(drawTokens(rng, 2), loss.Reinforce)
}

func drawSoftGate(rng *rand.Rand) differentiable {
	o := &loss.SoftGateOptions{
		TauPositive: []float64{0, .3 + 3*rng.Float64()}[rng.IntN(2)], TauNegative: []float64{0, .3 + 3*rng.Float64()}[rng.IntN(2)],
		RatioClamp: []float64{0, 1.5}[rng.IntN(2)],
	}
	return byLogProb(drawTokens(rng, 2, -o.RatioClamp, o.RatioClamp), func(grad []float64, b loss.Batch) (float64, error) {
		l, _, err := loss.SoftGate(grad, b, o)
		return l, err
	})
}

// drawKL compares the gradient of a kind with its value, that of a kind with Plus with the value of k2, as documented.
func drawKL(kind loss.KLKind) func(rng *rand.Rand) differentiable {
	value := kind
	var kinks []float64
	switch {
	case kind >= loss.KL3Plus:
		value = loss.KL2
	case kind == loss.KLAbs:
		kinks = []float64{0}
	case kind == loss.KL3:
		kinks = []float64{-2.610917, 10.99998, 20, -20} // of l - ref
	}
	return func(rng *rand.Rand) differentiable {
		b := drawTokens(rng, []float64{1, 4, 25}[rng.IntN(3)], kinks...)
		b.OldLogProb, b.RefLogProb = nil, b.OldLogProb
		return byLogProb(b, func(grad []float64, b loss.Batch) (float64, error) {
			if _, err := loss.KL(grad, b, kind); err != nil {
				return 0, err
			}
			return loss.KL(nil, b, value)
		})
	}
}

func drawValue(rng *rand.Rand) differentiable {
	n := 1 + rng.IntN(5)
	o := &loss.ValueOptions{Clip: []*float64{nil, new(0.0), new(.05 + rng.Float64())}[rng.IntN(3)], Huber: []float64{0, .3}[rng.IntN(2)]}
	old, y, w, x := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	clip := orElse(o.Clip, .2)
	for j := range n {
		old[j], y[j], w[j] = 2*rng.Float64()-1, 2*rng.Float64()-1, rng.Float64()
		up, down := old[j]+clip, old[j]-clip // beyond them both squares are equal at q = 2y - q_c, too
		x[j] = away(rng, 2, up, down, 2*y[j]-up, 2*y[j]-down, y[j]-o.Huber, y[j]+o.Huber)
		if rng.IntN(6) == 0 {
			w[j], old[j], y[j] = 0, math.NaN(), math.Inf(1)
		}
	}
	return differentiable{func(grad, x []float64) (float64, error) {
		l, _, err := loss.Value(grad, loss.ValueBatch{Value: x, Old: old, Target: y, Weight: w}, o)
		return l, err
	}, x}
}

// drawHead makes a function of logits of one that adds scale times its gradient. A value is no closer to saturation than 1e-3.
func drawHead(of func(h loss.Head, dz, z, ref []float64, action int, scale float64) (float64, error)) func(rng *rand.Rand) differentiable {
	return func(rng *rand.Rand) differentiable {
		h, z := logits(rng)
		z[h.Plus] = z[h.Minus] + h.Tau*away(rng, 2, -1, 1)
		all, ref, scale := actions(h, len(z)), make([]float64, len(z)), 2*rng.NormFloat64()
		for k := range ref {
			ref[k] = 2 * rng.NormFloat64()
		}
		a := all[rng.IntN(len(all))]
		return differentiable{func(grad, z []float64) (float64, error) {
			clear(grad)
			v, err := of(h, grad, z, ref, a, scale)
			return scale * v, err
		}, z}
	}
}

// drawSAPO draws turns with masks, and options, until no term is close to a kink.
func drawSAPO(rng *rand.Rand) differentiable {
	const vocabulary = 5
	for {
		weight := func() *float64 { return []*float64{nil, new(0.0), new(.7)}[rng.IntN(3)] }
		h := loss.Head{Plus: 4, Minus: 1, Tau: 1 + 2*rng.Float64(), Temperature: []float64{0, .5}[rng.IntN(2)]}
		clipped, kinks := clips(rng)
		o := &loss.SAPOOptions{
			Head: h, PPO: *clipped, RMax: []float64{0, 2}[rng.IntN(2)], NoTargetClip: rng.IntN(2) == 0,
			ValueClip: []*float64{nil, new(0.0), new(.05)}[rng.IntN(3)], QClip: []*float64{nil, new(0.0)}[rng.IntN(2)],
			ValueWeight: weight(), QWeight: weight(), KLWeight: weight(), EntropyWeight: weight(),
			KL: []loss.KLKind{loss.KL3, loss.KL1, loss.KLAbs, loss.KL2}[rng.IntN(4)],
		}
		turns := drawTurns(rng, h, vocabulary, cmp.Or(o.RMax, 10))
		if turns != nil && smooth(turns, o, kinks) {
			return byLogits(turns, o)
		}
	}
}

// drawTurns draws turns for the joint loss, whose old values are up to rMax.
func drawTurns(rng *rand.Rand, h loss.Head, vocabulary int, rMax float64) []loss.SAPOTurn {
	vector := func() []float64 {
		z := make([]float64, vocabulary)
		for k := range z {
			z[k] = 1.5 * rng.NormFloat64()
		}
		return z
	}
	all := actions(h, vocabulary)
	turns := make([]loss.SAPOTurn, 1+rng.IntN(3))
	for i := range turns {
		t := loss.SAPOTurn{
			After: vector(), Advantage: 2 * rng.NormFloat64(), OldV: rMax * (2*rng.Float64() - 1), OldQ: rMax * (2*rng.Float64() - 1),
			TargetV: 6 * rng.NormFloat64(), TargetQ: 6 * rng.NormFloat64(),
			NoPolicy: rng.IntN(6) == 0, NoV: rng.IntN(6) == 0, NoQ: rng.IntN(6) == 0,
		}
		for range 1 + rng.IntN(3) {
			t.Logits = append(t.Logits, vector())
			t.Actions = append(t.Actions, all[rng.IntN(len(all))])
			t.OldLogProb, t.RefLogProb = append(t.OldLogProb, -3*rng.Float64()), append(t.RefLogProb, -3*rng.Float64())
			t.Trainable = append(t.Trainable, rng.IntN(4) > 0)
		}
		turns[i] = t
	}
	return turns
}

// smooth reports that no token and no value of turns is within 1e-3 of a kink.
func smooth(turns []loss.SAPOTurn, o *loss.SAPOOptions, kinks []float64) bool {
	off := func(x float64, kinks ...float64) bool {
		return !slices.ContainsFunc(kinks, func(k float64) bool { return math.Abs(x-k) < 1e-3 })
	}
	rMax := cmp.Or(o.RMax, 10)
	value := func(z []float64, old, target float64, clip *float64) bool {
		x := (z[o.Head.Plus] - z[o.Head.Minus]) / o.Head.Tau
		y := target / rMax
		if !o.NoTargetClip {
			y = max(-1, min(1, y))
		}
		up, down := old/rMax+orElse(clip, .2), old/rMax-orElse(clip, .2)
		return off(x, -1, 1) && off(max(-1, min(1, x)), up, down, 2*y-up, 2*y-down)
	}
	for i := range turns {
		t := &turns[i]
		for j, z := range t.Logits {
			l, err := o.Head.LogProb(nil, z, t.Actions[j], 0)
			if err != nil || !off(l-t.OldLogProb[j], kinks...) || !off(l-t.RefLogProb[j], 0, -2.610917, 10.99998) {
				return false
			}
		}
		if !value(t.Logits[0], t.OldV, t.TargetV, o.ValueClip) || !value(t.After, t.OldQ, t.TargetQ, o.QClip) {
			return false
		}
	}
	return true
}

// vectors returns all vectors of logits, or of their gradients, in one order.
func vectors(turns []loss.SAPOTurn) [][]float64 {
	var all [][]float64
	for i := range turns {
		all = append(all, turns[i].Logits...)
		all = append(all, turns[i].After)
	}
	return all
}

// gradientOf returns room for the gradient of turns and its vectors, in the order of vectors.
func gradientOf(turns []loss.SAPOTurn) ([]loss.SAPOGrad, [][]float64) {
	grad := loss.NewSAPOGrad(turns)
	var all [][]float64
	for i := range grad {
		all = append(append(all, grad[i].Logits...), grad[i].After)
	}
	return grad, all
}

// byLogits makes a function of all logits of turns.
func byLogits(turns []loss.SAPOTurn, o *loss.SAPOOptions) differentiable {
	to := vectors(turns)
	x := slices.Concat(to...)
	grads, from := gradientOf(turns)
	return differentiable{func(grad, x []float64) (float64, error) {
		at := 0
		for _, z := range to {
			at += copy(z, x[at:])
		}
		l, _, err := loss.SAPO(grads, turns, o)
		copy(grad, slices.Concat(from...))
		return l, err
	}, x}
}
