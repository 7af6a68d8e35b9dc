package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
)

// e18 is the turn of E18: ratio 1, no reference and no Q.
func e18() (SAPOTurn, *SAPOOptions) {
	return SAPOTurn{
		Logits:     [][]float64{slices.Clone(e17)},
		Actions:    []int{0},
		OldLogProb: []float64{math.Log(math.E / (math.E + 2 + 1/math.E))},
		Advantage:  1, OldV: 4, TargetV: 8, NoQ: true,
	}, &SAPOOptions{Head: e17Head, KLWeight: new(0.0)}
}

// gradOf returns a gradient in the shape of turns, full of numbers that must go.
func gradOf(turns []SAPOTurn) []SAPOGrad {
	junk := func(z []float64) []float64 {
		out := make([]float64, len(z))
		for k := range out {
			out[k] = 7
		}
		return out
	}
	grad := make([]SAPOGrad, len(turns))
	for i := range turns {
		for _, z := range turns[i].Logits {
			grad[i].Logits = append(grad[i].Logits, junk(z))
		}
		grad[i].After = junk(turns[i].After)
	}
	return grad
}

func TestWorkedSAPO(t *testing.T) {
	turn, o := e18()
	want := []float64{-.465266, .196521, .196521, .072224, -.1, .1}
	grad := gradOf([]SAPOTurn{turn})
	loss, stats, err := SAPO(grad, []SAPOTurn{turn}, o)
	if diff := cmp.Diff(append([]float64{-.961164}, want...), append([]float64{loss}, grad[0].Logits[0]...), digits); diff != "" || err != nil {
		t.Errorf("E18: error %v (-want +got):\n%s", err, diff)
	}
	wantStats := SAPOStats{PolicyLoss: -1, ValueLoss: .08, Entropy: 1.164406, Policy: Stats{Tokens: 1, ESS: 1}, V: ReadoutStats{ValueStats: ValueStats{Values: 1}}}
	if diff := cmp.Diff(wantStats, stats, cmpopts.EquateApprox(0, 5.1e-7)); diff != "" {
		t.Errorf("E18: statistics (-want +got):\n%s", diff)
	}
	turn.Logits[0][4] = 3.4 // x = 1.5
	want[4], want[5] = 0, 0
	_, stats, err = SAPO(grad, []SAPOTurn{turn}, o)
	if diff := cmp.Diff(want, grad[0].Logits[0], digits); diff != "" || err != nil || grad[0].Logits[0][4] != 0 || !stats.AllSaturated || stats.V.Saturated != 1 {
		t.Errorf("E18, saturated: %+v, error %v (-want +got):\n%s", stats, err, diff)
	}
	o.Head.Inward = true // p = 1 is above the target .8, so that the step is inwards
	_, _, err = SAPO(grad, []SAPOTurn{turn}, o)
	want[4], want[5] = .05, -.05 // .5*(1-.8)/2
	if diff := cmp.Diff(want, grad[0].Logits[0], digits); diff != "" || err != nil {
		t.Errorf("E18, inward: error %v (-want +got):\n%s", err, diff)
	}
	turn, o = e18()
	turn.TargetV = 25 // scaled 2.5, clipped to 1
	_, stats, err = SAPO(grad, []SAPOTurn{turn}, o)
	if diff := cmp.Diff([]float64{.18, -.15}, []float64{stats.ValueLoss, grad[0].Logits[0][4]}, near); diff != "" || stats.V.OutOfRange != 1 || err != nil {
		t.Errorf("target clip: %+v, error %v (-want +got):\n%s", stats, err, diff)
	}
	o.NoTargetClip = true
	_, stats, err = SAPO(grad, []SAPOTurn{turn}, o)
	if diff := cmp.Diff([]float64{.5 * 2.1 * 2.1, -.525}, []float64{stats.ValueLoss, grad[0].Logits[0][4]}, near); diff != "" || stats.V.OutOfRange != 1 || err != nil {
		t.Errorf("no target clip: %+v, error %v (-want +got):\n%s", stats, err, diff)
	}
}

// anySAPO draws turns with masks, and options, whose terms are away from their kinks.
func anySAPO(t *rapid.T) ([]SAPOTurn, *SAPOOptions) {
	const vocabulary = 6
	coefficient := func(name string) *float64 {
		return rapid.SampledFrom([]*float64{nil, new(0.0), new(.7)}).Draw(t, name)
	}
	o := &SAPOOptions{
		Head:          Head{Plus: 4, Minus: 1, Tau: 2, Temperature: rapid.SampledFrom([]float64{0, .5}).Draw(t, "T"), Inward: rapid.Bool().Draw(t, "inward")},
		RMax:          rapid.SampledFrom([]float64{0, 2}).Draw(t, "RMax"),
		NoTargetClip:  rapid.Bool().Draw(t, "target clip"),
		ValueClip:     rapid.SampledFrom([]*float64{nil, new(0.0), new(.05)}).Draw(t, "clip"),
		ValueWeight:   coefficient("V"),
		QWeight:       coefficient("Q"),
		KLWeight:      coefficient("beta"),
		EntropyWeight: coefficient("H"),
		KL:            rapid.SampledFrom([]KLKind{KL3, KL1, KL2}).Draw(t, "kind"),
	}
	vector := func() []float64 {
		z := make([]float64, vocabulary)
		for k := range z {
			z[k] = rapid.Float64Range(-2, 2).Draw(t, "z")
		}
		return z
	}
	turns := make([]SAPOTurn, rapid.IntRange(0, 4).Draw(t, "turns"))
	for i := range turns {
		x := &turns[i]
		x.NoPolicy, x.NoV, x.NoQ = rapid.IntRange(0, 3).Draw(t, "policy") == 0, rapid.IntRange(0, 3).Draw(t, "v") == 0, rapid.IntRange(0, 3).Draw(t, "q") == 0
		x.Advantage = rapid.SampledFrom([]float64{0, 1, -2, .5}).Draw(t, "A")
		x.After = vector()
		n := rapid.IntRange(1, 3).Draw(t, "n")
		if rapid.Bool().Draw(t, "masked") {
			x.Trainable = make([]bool, n)
		}
		for j := range n {
			z := vector()
			a := rapid.SampledFrom(o.Head.actions(vocabulary)).Draw(t, "a")
			l, err := o.Head.LogProb(nil, z, a, 0)
			if err != nil {
				t.Fatal(err)
			}
			d := max(l, rapid.Float64Range(-1.5, 1.5).Draw(t, "d")) // l - d is a log-probability
			if kink(d) {
				d = 0
			}
			x.Logits = append(x.Logits, z)
			x.Actions = append(x.Actions, a)
			x.OldLogProb = append(x.OldLogProb, l-d)
			x.RefLogProb = append(x.RefLogProb, min(0, l+rapid.Float64Range(-2, 2).Draw(t, "ref")))
			if x.Trainable != nil {
				x.Trainable[j] = rapid.Bool().Draw(t, "trains")
			}
		}
		rMax := o.RMax
		if rMax == 0 {
			rMax = 10
		}
		for _, v := range []struct {
			z           []float64
			clip        *float64
			old, target *float64
		}{{x.Logits[0], o.ValueClip, &x.OldV, &x.TargetV}, {x.After, nil, &x.OldQ, &x.TargetQ}} {
			*v.old, *v.target = rMax*rapid.Float64Range(-1, 1).Draw(t, "old"), rMax*rapid.Float64Range(-1.5, 1.5).Draw(t, "target")
			x := (v.z[4] - v.z[1]) / 2
			p, old, y, eps := min(max(x, -1), 1), *v.old/rMax, *v.target/rMax, orDefault(v.clip, .2)
			if !o.NoTargetClip {
				y = min(max(y, -1), 1)
			}
			near := old + min(max(p-old, -eps), eps)
			if math.Abs(math.Abs(x)-1) < 1e-3 {
				v.z[4] += .01
				p = min(max((v.z[4]-v.z[1])/2, -1), 1)
			}
			if eps > 0 && (math.Abs(math.Abs(p-old)-eps) < 1e-3 || math.Abs(p-old) > eps && math.Abs(math.Abs(p-y)-math.Abs(near-y)) < 1e-3) {
				*v.old = rMax * p
			}
		}
	}
	return turns, o
}

// sapoOracle puts the joint loss together from the losses over slices, with means over what is in each mask.
func sapoOracle(turns []SAPOTurn, o *SAPOOptions) (float64, []SAPOGrad, error) {
	grad := gradOf(turns)
	var b Batch
	var entropies []float64
	var v, q ValueBatch
	var dz, z [][]float64
	var actions []int
	rMax := o.RMax
	if rMax == 0 {
		rMax = 10
	}
	scale := func(y float64) float64 {
		if y /= rMax; !o.NoTargetClip {
			y = min(max(y, -1), 1)
		}
		return y
	}
	var vdz, vz, qdz, qz [][]float64
	var errs []error
	for i, t := range turns {
		for _, g := range append(grad[i].Logits, grad[i].After) {
			clear(g)
		}
		for j := range t.Actions {
			if t.NoPolicy || t.Trainable != nil && !t.Trainable[j] {
				continue
			}
			l, err := o.Head.LogProb(nil, t.Logits[j], t.Actions[j], 0)
			h, err2 := o.Head.Entropy(nil, t.Logits[j], 0)
			errs = append(errs, err, err2)
			b.LogProb, b.OldLogProb, b.Advantage = append(b.LogProb, l), append(b.OldLogProb, t.OldLogProb[j]), append(b.Advantage, t.Advantage)
			b.RefLogProb, entropies = append(b.RefLogProb, t.RefLogProb[j]), append(entropies, h)
			dz, z, actions = append(dz, grad[i].Logits[j]), append(z, t.Logits[j]), append(actions, t.Actions[j])
		}
		if !t.NoV {
			p, _, err := o.Head.Value(nil, t.Logits[0], 0)
			errs = append(errs, err)
			v.Value, v.Old, v.Target = append(v.Value, p), append(v.Old, t.OldV/rMax), append(v.Target, scale(t.TargetV))
			vdz, vz = append(vdz, grad[i].Logits[0]), append(vz, t.Logits[0])
		}
		if !t.NoQ {
			p, _, err := o.Head.Value(nil, t.After, 0)
			errs = append(errs, err)
			q.Value, q.Old, q.Target = append(q.Value, p), append(q.Old, t.OldQ/rMax), append(q.Target, scale(t.TargetQ))
			qdz, qz = append(qdz, grad[i].After), append(qz, t.After)
		}
	}
	cV, cQ, beta, cH := orDefault(o.ValueWeight, .5), orDefault(o.QWeight, .5), orDefault(o.KLWeight, .01), orDefault(o.EntropyWeight, .001)
	gp, gk := make([]float64, len(z)), make([]float64, len(z))
	lp, _, err := PPO(gp, b, &o.PPO)
	lk, err2 := KL(gk, b, o.KL)
	gv, gq := make([]float64, len(vz)), make([]float64, len(qz))
	lv, _, err3 := Value(gv, v, &ValueOptions{Clip: o.ValueClip})
	lq, _, err4 := Value(gq, q, &ValueOptions{Clip: o.QClip})
	errs = append(errs, err, err2, err3, err4)
	loss := lp + beta*lk + cV*lv + cQ*lq
	for j, h := range entropies {
		loss -= cH * h / float64(len(entropies))
		_, err := o.Head.LogProb(dz[j], z[j], actions[j], gp[j]+beta*gk[j])
		_, err2 := o.Head.Entropy(dz[j], z[j], -cH/float64(len(entropies)))
		errs = append(errs, err, err2)
	}
	for j := range gv {
		_, _, err := o.Head.Value(vdz[j], vz[j], cV*gv[j])
		errs = append(errs, err)
	}
	for j := range gq {
		_, _, err := o.Head.Value(qdz[j], qz[j], cQ*gq[j])
		errs = append(errs, err)
	}
	return loss, grad, errors.Join(errs...)
}

// The joint loss is the sum of its terms, each over its own mask.
func TestSAPOOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns, o := anySAPO(t)
		want, wantGrad, err := sapoOracle(turns, o)
		if err != nil {
			t.Fatal(err)
		}
		grad := gradOf(turns)
		got, _, err := SAPO(grad, turns, o)
		if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
			t.Fatalf("loss: error %v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff(wantGrad, grad, near); diff != "" {
			t.Fatalf("gradient (-want +got):\n%s", diff)
		}
		if again, _, err := SAPO(nil, turns, o); again != got || err != nil {
			t.Fatalf("without a gradient %v, %v, want %v", again, err, got)
		}
	})
}

// The gradient equals central differences in every logit (property 13). A saturated value that passes its gradient
// inwards has none by differences.
func TestSAPOGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns, o := anySAPO(t)
		o.Head.Inward = false
		grad := gradOf(turns)
		if _, _, err := SAPO(grad, turns, o); err != nil {
			t.Fatal(err)
		}
		for i := range turns {
			for j, z := range append(slices.Clone(turns[i].Logits), turns[i].After) {
				g := append(slices.Clone(grad[i].Logits), grad[i].After)[j]
				for k := range z {
					before := slices.Clone(z)
					want := central(before, k, func(x []float64) float64 {
						copy(z, x)
						l, _, err := SAPO(nil, turns, o)
						if err != nil {
							t.Fatal(err)
						}
						return l
					})
					copy(z, before)
					if math.Abs(g[k]-want) > 1e-6*math.Max(1, math.Abs(want)) {
						t.Fatalf("turn %d, vector %d, entry %d: gradient %v, central difference %v", i, j, k, g[k], want)
					}
				}
			}
		}
	})
}

// With the totals of the whole, micro-batches add up, losses, terms and gradients (property 12); what no mask needs is not
// read (property 2).
func TestSAPOMicroBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns, o := anySAPO(t)
		grad := gradOf(turns)
		want, wantStats, err := SAPO(grad, turns, o)
		if err != nil {
			t.Fatal(err)
		}
		nan := math.NaN()
		for i := range turns {
			x := &turns[i]
			readV, readQ := !x.NoV && orDefault(o.ValueWeight, .5) > 0, !x.NoQ && orDefault(o.QWeight, .5) > 0
			for j := range x.Actions {
				trains := !x.NoPolicy && x.trains(j)
				if !trains {
					x.Actions[j], x.OldLogProb[j], x.RefLogProb[j] = -5, nan, nan
				}
				if orDefault(o.KLWeight, .01) == 0 {
					x.RefLogProb[j] = nan
				}
				for k := range x.Logits[j] {
					if reserved := k == 4 || k == 1; reserved && !(readV && j == 0) || !reserved && !trains {
						x.Logits[j][k] = nan
					}
				}
				if !trains && !(readV && j == 0) {
					x.Logits[j] = nil
				}
			}
			if x.NoPolicy {
				x.Advantage, x.Actions, x.OldLogProb, x.RefLogProb = nan, nil, nil, nil
			}
			if !readV {
				x.OldV, x.TargetV = nan, nan
			}
			if !readQ {
				x.OldQ, x.TargetQ, x.After = nan, nan, nil
			}
		}
		whole := *o
		parts := slices.Clone(grad)
		for i := range parts {
			parts[i] = gradOf([]SAPOTurn{{Logits: grad[i].Logits, After: grad[i].After}})[0]
		}
		whole.Total = CountSAPO(turns)
		if total := whole.Total; total.Tokens != wantStats.Policy.Tokens || orDefault(o.ValueWeight, 1) > 0 && total.V != wantStats.V.Values || orDefault(o.QWeight, 1) > 0 && total.Q != wantStats.Q.Values {
			t.Fatalf("totals %+v, statistics %+v", total, wantStats)
		}
		if whole.Total == (SAPOTotal{}) {
			return // then every term is empty
		}
		var got float64
		var terms [5]float64
		for from := 0; from < len(turns); {
			to := rapid.IntRange(from+1, len(turns)).Draw(t, "to")
			l, s, err := SAPO(parts[from:to], turns[from:to], &whole)
			if err != nil {
				t.Fatal(err)
			}
			got += l
			for i, x := range []float64{s.PolicyLoss, s.ValueLoss, s.QLoss, s.KL, s.Entropy} {
				terms[i] += x
			}
			from = to
		}
		wantTerms := [5]float64{wantStats.PolicyLoss, wantStats.ValueLoss, wantStats.QLoss, wantStats.KL, wantStats.Entropy}
		if diff := cmp.Diff(append(wantTerms[:], want), append(terms[:], got), near); diff != "" {
			t.Fatalf("terms (-whole +parts):\n%s", diff)
		}
		if diff := cmp.Diff(grad, parts, near); diff != "" {
			t.Fatalf("gradient (-whole +parts):\n%s", diff)
		}
	})
}

// The policy and the values share a vector and no entry: with both coefficients 0 reserved entries have gradient exactly 0,
// whatever the advantages (case 30), and the gradient at actions is the same whatever old values and targets are (property
// 10). A value moves a logit by at most its coefficient times 2/Tau over the turns, whatever the rewards (case 29).
func TestSAPODisjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns, o := anySAPO(t)
		o.NoTargetClip = false
		grad, other, off := gradOf(turns), gradOf(turns), gradOf(turns)
		_, _, err := SAPO(grad, turns, o)
		moved := slices.Clone(turns)
		for i := range moved {
			moved[i].OldV, moved[i].OldQ, moved[i].TargetV, moved[i].TargetQ = .3, -.3, 1e6, -1e6
		}
		_, _, err2 := SAPO(other, moved, o)
		without := *o
		without.ValueWeight, without.QWeight = new(0.0), new(0.0)
		_, stats, err3 := SAPO(off, turns, &without)
		if err := errors.Join(err, err2, err3); err != nil || stats.AllSaturated {
			t.Fatal(err, stats)
		}
		n := CountSAPO(turns)
		boundV, boundQ := orDefault(o.ValueWeight, .5)*2/2/float64(max(1, n.V)), orDefault(o.QWeight, .5)*2/2/float64(max(1, n.Q))
		for i := range turns {
			for j := range grad[i].Logits {
				for k, g := range grad[i].Logits[j] {
					reserved := k == 4 || k == 1
					if reserved && off[i].Logits[j][k] != 0 || !reserved && (g != other[i].Logits[j][k] || g != off[i].Logits[j][k]) {
						t.Fatalf("turn %d, token %d, entry %d: %v, %v, %v", i, j, k, g, other[i].Logits[j][k], off[i].Logits[j][k])
					}
					if reserved && math.Abs(other[i].Logits[j][k]) > boundV*(1+1e-12) {
						t.Fatalf("V moves a logit by %v, more than %v", other[i].Logits[j][k], boundV)
					}
				}
			}
			for k, g := range other[i].After {
				if reserved := k == 4 || k == 1; !reserved && g != 0 || math.Abs(g) > boundQ*(1+1e-12) {
					t.Fatalf("Q moves logit %d by %v, more than %v", k, g, boundQ)
				}
			}
		}
	})
}

func TestSAPOStats(t *testing.T) {
	// Reserved entries 1 and 2, Tau 5. V: x = 1 (saturated), .2; Q: x = -2 (saturated) only.
	at := func(x float64) []float64 { return []float64{0, 5 * x, 0, 0} }
	turns := []SAPOTurn{
		{Logits: [][]float64{at(1)}, Actions: []int{0}, OldLogProb: []float64{-math.Ln2}, RefLogProb: []float64{-math.Ln2}, OldV: 5, TargetV: 20, After: at(-2), TargetQ: -11, OldQ: -10},
		{Logits: [][]float64{at(.2), nil}, Actions: []int{3, 0}, OldLogProb: []float64{-2 * math.Ln2, 0}, RefLogProb: []float64{-math.Ln2, 0}, Trainable: []bool{true, false}, Advantage: 1, OldV: 2, TargetV: 2, NoQ: true},
		{NoPolicy: true, NoV: true, NoQ: true},
	}
	_, got, err := SAPO(nil, turns, &SAPOOptions{Head: Head{Plus: 1, Minus: 2}})
	want := SAPOStats{
		PolicyLoss: -.6, // the ratios are 1, with A = 0, and 2
		ValueLoss:  .5 * (.5 * .3 * .3) / 1,
		QLoss:      0,
		Entropy:    math.Ln2,
		Policy:     Stats{2, .5, 1, -math.Ln2 / 2, (1 - math.Ln2) / 2, 9. / 10},
		V:          ReadoutStats{ValueStats{2, .5, 1}, .5, 1},
		Q:          ReadoutStats{ValueStats{1, 0, 1}, 1, 1},
	}
	if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestSAPOErrors(t *testing.T) {
	nan := math.NaN()
	reserved := func(h Head) func(*SAPOTurn, *SAPOOptions, *SAPOGrad) {
		return func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.Head = h }
	}
	tests := []struct {
		name   string
		change func(*SAPOTurn, *SAPOOptions, *SAPOGrad)
		is     error
		text   string
	}{
		{"actions", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Actions = []int{0, 0} }, rl.ErrShape, "turns[0].Actions is of length 2"},
		{"old", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.OldLogProb = nil }, rl.ErrShape, "turns[0].OldLogProb is of length 0"},
		{"ref", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.RefLogProb = nil }, rl.ErrShape, "turns[0].RefLogProb is of length 0"},
		{"trainable", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Trainable = []bool{} }, rl.ErrShape, "turns[0].Trainable is of length 0"},
		{"long", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Trainable = []bool{true, true} }, rl.ErrShape, "turns[0].Trainable is of length 2"},
		{"vocabulary", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Logits[0] = x.Logits[0][:5] }, rl.ErrShape, "turns[0].Logits[0] is of length 5"},
		{"after", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.After = nil }, rl.ErrShape, "turns[0].After is of length 0"},
		{"no position of V", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.NoPolicy, x.Logits = true, nil }, rl.ErrShape, "turns[0].Logits is empty"},
		{"no gradient of V", func(x *SAPOTurn, _ *SAPOOptions, g *SAPOGrad) { x.NoPolicy, g.Logits = true, nil }, rl.ErrShape, "turns[0].gradient of Logits is empty"},
		{"gradient", func(_ *SAPOTurn, _ *SAPOOptions, g *SAPOGrad) { g.Logits = nil }, rl.ErrShape, "turns[0].gradient of Logits is of length 0"},
		{"gradient of a token", func(_ *SAPOTurn, _ *SAPOOptions, g *SAPOGrad) { g.Logits[0] = nil }, rl.ErrShape, "turns[0].gradient of Logits[0] is of length 0"},
		{"gradient after", func(_ *SAPOTurn, _ *SAPOOptions, g *SAPOGrad) { g.After = nil }, rl.ErrShape, "turns[0].gradient of After is of length 0"},
		{"reserved", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Actions[0] = 5 }, ErrReservedToken, "turns[0].Actions[0] is 5"},
		{"range", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Actions[0] = 6 }, nil, "turns[0].Actions[0] is 6"},
		{"below", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Actions[0] = -1 }, nil, "turns[0].Actions[0] is -1"},
		{"logit", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Logits[0][2] = nan }, rl.ErrNonFinite, "turns[0].Logits[0][2] is NaN"},
		{"V", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Logits[0][4] = nan }, rl.ErrNonFinite, "turns[0].Logits[0][4] is NaN"},
		{"Q", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.After[5] = nan }, rl.ErrNonFinite, "turns[0].After[5] is NaN"},
		{"NaN old", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.OldLogProb[0] = nan }, rl.ErrNonFinite, "OldLogProb[0] is NaN"},
		{"old probability", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.OldLogProb[0] = .4 }, nil, "turns[0].OldLogProb[0] is 0.4, want a log-probability, at most 0"},
		{"ref probability", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.RefLogProb[0] = .4 }, nil, "turns[0].RefLogProb[0] is 0.4, want a log-probability, at most 0"},
		{"NaN ref", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.RefLogProb[0] = nan }, rl.ErrNonFinite, "turns[0].RefLogProb[0]"},
		{"advantage", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.Advantage = nan }, rl.ErrNonFinite, "turns[0].Advantage is NaN"},
		{"old V", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.OldV = nan }, rl.ErrNonFinite, "turns[0].OldV is NaN"},
		{"old V beyond RMax", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.OldV = 20 }, nil, "turns[0].OldV is 20, want a magnitude of at most RMax, 10"},
		{"old Q beyond RMax", func(x *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { x.OldQ, o.RMax = -5.1, 5 }, nil, "turns[0].OldQ is -5.1, want a magnitude of at most RMax, 5"},
		{"target of V", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.TargetV = nan }, rl.ErrNonFinite, "turns[0].TargetV is NaN"},
		{"old Q", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.OldQ = nan }, rl.ErrNonFinite, "turns[0].OldQ is NaN"},
		{"target of Q", func(x *SAPOTurn, _ *SAPOOptions, _ *SAPOGrad) { x.TargetQ = nan }, rl.ErrNonFinite, "turns[0].TargetQ is NaN"},
		{"overflow", func(x *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { x.TargetV, o.NoTargetClip = 1e200, true }, rl.ErrNonFinite, "the loss is +Inf"},
		{"gradient", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) {
			o.Head.Temperature, o.KL, o.KLWeight = 1e-308, KL1, new(100.0)
		}, rl.ErrNonFinite, "turns[0].the gradient of Logits[0]"},
		{"gradient of V", func(x *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) {
			x.Logits[0][4], x.Logits[0][5], o.Head.Tau, o.ValueWeight = 0, 0, 1e-308, new(100.0)
		}, rl.ErrNonFinite, "turns[0].the gradient of V"},
		{"total", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.Total = SAPOTotal{Tokens: 1, V: 1} }, nil, "SAPOOptions.Total.Q is 0, want at least 1"},
		{"negative total", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.Total = SAPOTotal{-1, 1, 1} }, nil, "SAPOOptions.Total.Tokens is -1"},
		{"no reserved entries", reserved(Head{}), nil, "loss: Head.Plus and Head.Minus are 0"},
		{"head", reserved(Head{Plus: 1, Minus: 1}), nil, "loss: Head.Plus is 1"},
		{"clip", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.PPO.ClipLow = 2 }, nil, "loss: SAPOOptions.PPO.ClipLow is 2"},
		{"value clip", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.ValueClip = new(-1.0) }, nil, "loss: SAPOOptions.ValueClip is -1"},
		{"Q clip", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.QClip = new(-1.0) }, nil, "loss: SAPOOptions.QClip is -1"},
		{"RMax", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.RMax = -1 }, nil, "loss: SAPOOptions.RMax is -1"},
		{"kind", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.KL = 9 }, nil, "loss: SAPOOptions.KL is 9"},
		{"c_V", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.ValueWeight = new(-1.0) }, nil, "loss: SAPOOptions.ValueWeight is -1"},
		{"c_Q", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.QWeight = new(-1.0) }, nil, "loss: SAPOOptions.QWeight is -1"},
		{"beta", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.KLWeight = new(-1.0) }, nil, "loss: SAPOOptions.KLWeight is -1"},
		{"c_H", func(_ *SAPOTurn, o *SAPOOptions, _ *SAPOGrad) { o.EntropyWeight = &nan }, nil, "loss: SAPOOptions.EntropyWeight is NaN"},
	}
	for _, tt := range tests {
		x, o := e18()
		x.NoQ, x.After, x.RefLogProb = false, slices.Clone(e17), []float64{-1}
		o.KLWeight = nil
		grad := gradOf([]SAPOTurn{x})
		tt.change(&x, o, &grad[0])
		l, s, err := SAPO(grad, []SAPOTurn{x}, o)
		if err == nil || !strings.Contains(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
		if l != 0 || s != (SAPOStats{}) {
			t.Errorf("%s: %v and %+v beside an error", tt.name, l, s)
		}
	}
	x, o := e18()
	if _, _, err := SAPO([]SAPOGrad{{}, {}}, []SAPOTurn{x}, o); !errors.Is(err, rl.ErrShape) {
		t.Errorf("grad too long: %v", err)
	}
	// Case 25: nothing at all, and nothing in a mask; a Head without reserved entries is then no error.
	for _, turns := range [][]SAPOTurn{nil, {{NoPolicy: true, NoV: true, NoQ: true}}} {
		if l, s, err := SAPO(make([]SAPOGrad, len(turns)), turns, nil); l != 0 || s != (SAPOStats{}) || err != nil {
			t.Errorf("%+v: %v, %+v, %v", turns, l, s, err)
		}
	}
	if n := CountSAPO([]SAPOTurn{{Actions: []int{1, 2, 3}, Trainable: []bool{true}}}); n != (SAPOTotal{1, 1, 1}) {
		t.Errorf("a mask that is too short: %+v", n)
	}
}

// All is finite for logits whose log-probabilities are in [-1e4, 0] (property 16).
func TestSAPOFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, logp := rapid.Float64Range(-1e4, 0), rapid.Float64Range(-1e4, 0)
		turn := SAPOTurn{Logits: [][]float64{{0, x.Draw(t, "z"), 0, x.Draw(t, "+"), x.Draw(t, "-")}}, Actions: []int{1}, After: []float64{0, 0, 0, x.Draw(t, "+"), x.Draw(t, "-")},
			OldLogProb: []float64{logp.Draw(t, "old")}, RefLogProb: []float64{logp.Draw(t, "ref")}, Advantage: rapid.Float64Range(-1e3, 1e3).Draw(t, "A"), TargetV: 3, TargetQ: -3}
		grad := gradOf([]SAPOTurn{turn})
		l, _, err := SAPO(grad, []SAPOTurn{turn}, &SAPOOptions{Head: Head{Plus: 3, Minus: 4}, KL: rapid.SampledFrom(kinds).Draw(t, "kind")})
		if err != nil || !finite(l) || slices.ContainsFunc(append(grad[0].Logits[0], grad[0].After...), func(g float64) bool { return !finite(g) }) {
			t.Fatalf("%v, %v, %v", l, grad, err)
		}
	})
}

func benchmarkTurns(n, tokens, vocabulary int) []SAPOTurn {
	rng := rand.New(rand.NewPCG(1, 2))
	vector := func() []float64 {
		z := make([]float64, vocabulary)
		for k := range z {
			z[k] = rng.NormFloat64()
		}
		return z
	}
	turns := make([]SAPOTurn, n)
	for i := range turns {
		x := &turns[i]
		for range tokens {
			x.Logits = append(x.Logits, vector())
			x.Actions = append(x.Actions, rng.IntN(7))
			x.OldLogProb, x.RefLogProb = append(x.OldLogProb, -math.Log(float64(vocabulary))), append(x.RefLogProb, -math.Log(float64(vocabulary)))
		}
		x.After, x.Advantage, x.TargetV, x.TargetQ = vector(), rng.NormFloat64(), 3, 4
	}
	return turns
}

func TestHeadAllocations(t *testing.T) {
	turns := benchmarkTurns(3, 2, 9)
	grad := gradOf(turns)
	o := &SAPOOptions{Head: Head{Plus: 7, Minus: 8}}
	z, dz := turns[0].After, grad[0].After
	for name, f := range map[string]func(){
		"SAPO":    func() { _, _, _ = SAPO(grad, turns, o) },
		"LogProb": func() { _, _ = o.Head.LogProb(dz, z, 1, 1) },
		"Entropy": func() { _, _ = o.Head.Entropy(dz, z, 1) },
		"KL":      func() { _, _ = o.Head.KL(dz, z, z, 1) },
		"Value":   func() { _, _, _ = o.Head.Value(dz, z, 1) },
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkSAPO(b *testing.B) {
	for _, size := range [][3]int{{16, 4, 64}, {128, 4, 64}, {1024, 4, 64}, {16, 4, 512}, {16, 4, 4096}} {
		turns := benchmarkTurns(size[0], size[1], size[2])
		grad := gradOf(turns)
		o := &SAPOOptions{Head: Head{Plus: 7, Minus: 8}}
		b.Run(fmt.Sprintf("turns=%d/tokens=%d/vocabulary=%d", size[0], size[0]*size[1], size[2]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := SAPO(grad, turns, o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size[0]*size[1]*size[2]), "ns/logit")
		})
	}
}

// Where the clamp of the log-ratio binds, exactly at its bound too, no gradient of the policy loss passes.
func TestSAPOClampEdge(t *testing.T) {
	turn, o := e18()
	turn.NoV = true
	o.EntropyWeight = new(0.0)
	o.PPO.RatioClamp = 2
	logProb, err := e17Head.LogProb(nil, e17, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.PPO.ClipHigh = 10 // so that the clip does not bind
	for _, tt := range []struct {
		d     float64
		still bool
	}{{2, true}, {-2, true}, {1.9375, false}, {-1.9375, false}} {
		old := logProb - tt.d
		if old > 0 { // such a log-ratio cannot be
			continue
		}
		turn.OldLogProb[0] = old
		if got := logProb - old; got != tt.d {
			t.Fatalf("the log-ratio %v is not exact: %v", tt.d, got)
		}
		grad := NewSAPOGrad([]SAPOTurn{turn})
		if _, _, err := SAPO(grad, []SAPOTurn{turn}, o); err != nil {
			t.Fatal(err)
		}
		if still := grad[0].Logits[0][0] == 0; still != tt.still {
			t.Errorf("log-ratio %v: gradient %v, want none: %v", tt.d, grad[0].Logits[0], tt.still)
		}
	}
}

// A target on the edge of the band is in it.
func TestSAPOTargetEdge(t *testing.T) {
	for _, target := range []float64{10, -10} {
		turn, o := e18()
		turn.TargetV = target
		if _, stats, err := SAPO(nil, []SAPOTurn{turn}, o); err != nil || stats.V.OutOfRange != 0 {
			t.Errorf("target %v with RMax 10: %d out of range, %v", target, stats.V.OutOfRange, err)
		}
	}
}
