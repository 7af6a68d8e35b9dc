package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Where the parameters start; ours.
const (
	startSupply  = -0.5 // before softplus, which makes it 0.47
	startDemand  = 0.5  // 0.97
	startSpread  = 0.3  // standard deviation of both
	startCeiling = -1.5 // c = -0.20
	startOffset  = -6   // b; from higher up z is cut off for many passes at once, and nothing pulls it down
	startKappa   = -3   // 4.9e-5
	kappaUnit    = 1e-3 // kappa = kappaUnit*softplus
)

// The end of a fit is made of small steps: lastShare of them, lastRate as large.
const (
	lastShare = 0.3
	lastRate  = 0.2
)

// trainer holds a fit: its parameters and what they lead to.
type trainer struct {
	form              Form
	l1Skill, l1Query  float64
	theta, der        []float64 // all parameters, and the derivatives of the objective by them
	skill, query      side      // their parameters come first, in this order
	baseParam         []float64 // then one a query, or one for all if queries have features
	kappaParam        []float64 // then one, unless kappa is fixed
	active            int       // steps change the first active parameters only
	epochs, firstStep int       // of all fits that make one Fit, for Progress
	p                 point
}

func newTrainer(o *Options, skills, queries int, skillFeatures, queryFeatures *features, rng *rand.Rand) *trainer {
	t := &trainer{form: o.Form, l1Skill: rowL1, l1Query: rowL1}
	if skillFeatures != nil {
		t.l1Skill = mapL1
	}
	nBase, nKappa := queries, 1
	if queryFeatures != nil {
		t.l1Query, nBase = mapL1, 1
	}
	if o.L1 != nil {
		t.l1Skill, t.l1Query = *o.L1, *o.L1
	}
	t.skill = newSide(o.Dim, skills, skillFeatures)
	t.query = newSide(o.Dim, queries, queryFeatures)
	t.p = point{dim: o.Dim, remain: make([]float64, skills*o.Dim), demand: t.query.row, base: make([]float64, queries)}
	if o.Kappa != nil {
		t.p.kappa, nKappa = *o.Kappa, 0
	}
	t.theta = make([]float64, t.skill.size()+t.query.size()+nBase+nKappa)
	t.der = make([]float64, len(t.theta))
	t.active, t.epochs = len(t.theta), o.Epochs
	t.skill.param, t.query.param, t.baseParam, t.kappaParam = t.parts(t.theta)

	begin := func(s *side, x float64) {
		if s.features != nil {
			v, _ := softplus(x)
			x = math.Log(v)
		}
		for i := range s.param {
			s.param[i] = x + startSpread*rng.NormFloat64()
		}
	}
	begin(&t.skill, startSupply)
	begin(&t.query, startDemand)
	for i := range t.baseParam {
		t.baseParam[i] = startCeiling
		if t.form == Offset {
			t.baseParam[i] = startOffset
		}
	}
	for i := range t.kappaParam {
		t.kappaParam[i] = startKappa
	}
	return t
}

// mapSkills returns a trainer that goes on where t ended, with all of it fixed but the supplies, which become a map of features.
func (t *trainer) mapSkills(o *Options, f *features, rng *rand.Rand) *trainer {
	next := newTrainer(o, t.skill.n, t.query.n, f, t.query.features, rng)
	copy(next.query.param, t.query.param)
	copy(next.baseParam, t.baseParam)
	copy(next.kappaParam, t.kappaParam)
	next.active = next.skill.size()
	next.firstStep, next.epochs = o.Epochs, t.epochs
	return next
}

// parts cuts x, as long as theta, into the parts of it.
func (t *trainer) parts(x []float64) (skill, query, base, kappa []float64) {
	a := t.skill.size()
	b := a + t.query.size()
	c := b + t.query.n
	if t.query.features != nil {
		c = b + 1
	}
	return x[:a:a], x[a:b:b], x[b:c:c], x[c:]
}

// forward computes the point that the parameters stand for.
func (t *trainer) forward() {
	t.skill.forward()
	t.query.forward()
	for i, u := range t.skill.row {
		t.p.remain[i] = math.Exp(-u)
	}
	for q := range t.p.base {
		// In both forms z = base - sum of w*exp(-x) - kappa*tokens.
		base := t.base(q)
		if t.form == Offset {
			for _, w := range t.p.demand[q*t.p.dim:][:t.p.dim] {
				base += w
			}
		}
		t.p.base[q] = base
	}
	if len(t.kappaParam) > 0 {
		v, _ := softplus(t.kappaParam[0])
		t.p.kappa = kappaUnit * v
	}
}

// base returns c or b of query q.
func (t *trainer) base(q int) float64 {
	x := t.baseParam[min(q, len(t.baseParam)-1)]
	if t.form == Ceiling {
		c, _ := softplus(x)
		return -c
	}
	return x
}

// backward turns the derivatives of the sum of the losses of records, which it changes, into those of the objective: the mean loss
// and the terms for L1.
func (t *trainer) backward(s *slope, records float64) {
	skill, query, base, kappa := t.parts(t.der)
	scale := 1 / records
	for i := range s.supply {
		s.supply[i] *= scale
	}
	t.skill.backward(skill, s.supply, t.l1Skill)
	for i := range s.demand {
		if t.form == Offset {
			s.demand[i] += s.base[i/t.p.dim]
		}
		s.demand[i] *= scale
	}
	t.query.backward(query, s.demand, t.l1Query)
	clear(base)
	for q, d := range s.base {
		i := min(q, len(base)-1)
		if t.form == Ceiling {
			_, slope := softplus(t.baseParam[i])
			d *= -slope
		}
		base[i] += d * scale
	}
	if len(kappa) > 0 {
		_, slope := softplus(t.kappaParam[0])
		kappa[0] = s.kappa * scale * kappaUnit * slope
	}
}

// fit runs the steps and leaves the best point of the validation part, or the last point without one.
func (t *trainer) fit(ctx context.Context, train, held *outcomes, o *Options) error {
	sums := newSummer(&t.p, train, want{loss: o.Progress != nil, slope: true}, o.Workers)
	defer sums.stop()
	var heldSums *summer
	if held.records > 0 {
		heldSums = newSummer(&t.p, held, want{loss: true}, o.Workers)
		defer heldSums.stop()
	}
	opt := newAdam(t.active)
	best, bestTheta, since := math.Inf(1), slices.Clone(t.theta), 0
	last := o.Epochs - int(lastShare*float64(o.Epochs))
	for epoch := 0; ; epoch++ {
		now := Progress{Epoch: t.firstStep + epoch, Epochs: t.epochs}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("learn: stopped after %d of at most %d steps: %w", now.Epoch, now.Epochs, err)
		}
		t.forward()
		if heldSums != nil {
			now.Validation = heldSums.sum().loss / held.records
			if since++; now.Validation < best {
				best, since = now.Validation, 0
				copy(bestTheta, t.theta)
			}
			if since >= o.Patience {
				if epoch >= last {
					break
				}
				last, since = epoch, 0
			}
		}
		if epoch == o.Epochs {
			break
		}
		s := sums.sum()
		if o.Progress != nil {
			now.Loss = s.loss / train.records
			o.Progress(now)
		}
		t.backward(s, train.records)
		rate := o.LearningRate
		if epoch >= last {
			rate *= lastRate
		}
		opt.step(t.theta[:t.active], t.der[:t.active], rate)
	}
	if heldSums != nil {
		copy(t.theta, bestTheta)
		t.forward()
	}
	return nil
}
