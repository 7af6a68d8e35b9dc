package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rltest"
	"github.com/throughline-go/throughline/rl/token"
)

// A property is a rule of section 6 of the specification that no law of package rltest covers, checked on random input.
type property struct {
	name  string // begins with its number there, or that of the section where it has none
	runs  int    // of a full run
	check func(rng *rand.Rand) error
}

// propertyRow is what became of a property.
type propertyRow struct {
	Name   string `json:"name"`
	Runs   int    `json:"runs"`
	Failed int    `json:"failed"`
	First  string `json:"first,omitempty"`
}

// properties returns those that are not about graphs or micro-batches.
func properties() []property {
	return []property{
		{"1 lambda 1 and V 0 give the return, lambda 0 the TD error, and y^V the lambda-return", 60_000, lambdaEnds},
		{"4 bootstrap with FinalValue 0 is terminal", 60_000, bootstrapZero},
		{"5 scores times k: mean-std as before with eps 0, Std None times k", 60_000, scaled},
		{"6 Norm: mean 0, std 1, equal numbers exactly 0, finite up to 1e100", 150_000, normal},
		{"7 RLOO is n/(n-1) times Dr.GRPO", 60_000, leaveOneOut},
		{"7 a group of one follows Singleton in every estimator", 15_000, singleton},
		{"9 groups of different sizes each sum to 0", 60_000, unevenGroups},
		{"10 Q_old changes no policy advantage", 60_000, ignoresQ},
		{"10 reserved logits change no policy, a constant on both no value", 60_000, reservedApart},
		{"14 expected gradients of k1, k2, k3 over a softmax", 60_000, expectedKL},
		{"15 gradients of log-probability and entropy sum to 0, entropy in [0, log n]", 60_000, softmaxSums},
		{"16 losses are finite down to -1e4, whatever the mask, and 0 without tokens", 60_000, lossesFinite},
		{"24 weights on full log-probabilities have the gradient of the restricted one", 60_000, remoteIdentity},
	}
}

// graphProperties are those about graphs that are no bounds.
func graphProperties() []property {
	return []property{
		{"3.8 b, psi, E and z follow from the edges into a milestone, self-loops left out", 60_000, evidenceOfEdges},
		{"3.8 l±, m, C, f-, L and the scores follow from visits and edges", 60_000, scoresOfNodes},
		{"17 the step part is (1-eta)*A^G + eta*A^mix", 60_000, mixes},
		{"18 one more trajectory lengthens no distance", 60_000, graphGrows},
		{"19 the same trajectory again changes no distance", 60_000, duplicate},
		{"19 Phi is that over all pairs of states", 30_000, allPairs},
		{"20 a cycle gains at least the range of the potential on it", 60_000, cycles},
	}
}

// runProperties checks properties on a share of their full runs. offset tells their random numbers from those of other lists.
func runProperties(ctx context.Context, s settings, offset int, all []property) ([]propertyRow, error) {
	const chunk = 50
	type task struct {
		property, from, to, failed int
		first                      string
	}
	rows := make([]propertyRow, len(all))
	var tasks []task
	for i, p := range all {
		rows[i] = propertyRow{Name: p.name, Runs: max(20, int(s.share*float64(p.runs)))}
		for from := 0; from < rows[i].Runs; from += chunk {
			tasks = append(tasks, task{property: i, from: from, to: min(from+chunk, rows[i].Runs)})
		}
	}
	err := parallel(ctx, s.workers, len(tasks), func(i int) {
		t := &tasks[i]
		for n := t.from; n < t.to; n++ {
			if err := all[t.property].check(stream(s.seed, propertyPurpose, offset+t.property, n)); err != nil {
				t.failed++
				if t.first == "" {
					t.first = fmt.Sprintf("input %d: %v", n, err)
				}
			}
		}
	})
	for _, t := range tasks {
		rows[t.property].Failed += t.failed
		if rows[t.property].First == "" {
			rows[t.property].First = t.first
		}
	}
	return rows, err
}

// near reports that two numbers agree within a share of the larger, or of 1.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// differ returns an error that names the first of two numbers that do not agree.
func differ(what string, got, want []float64, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !near(got[i], want[i], tolerance) {
			return fmt.Errorf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
	return nil
}

// change calls f for each turn of a copy of batch.
func change(batch []rl.Trajectory, f func(t *rl.Trajectory, u *rl.Turn)) []rl.Trajectory {
	batch = slices.Clone(batch)
	for i := range batch {
		batch[i].Turns = slices.Clone(batch[i].Turns)
		for k := range batch[i].Turns {
			f(&batch[i], &batch[i].Turns[k])
		}
	}
	return batch
}

func lambdaEnds(rng *rand.Rand) error {
	batch := rltest.RandomBatch(rng)
	blind := change(batch, func(t *rl.Trajectory, u *rl.Turn) { t.FinalValue, u.Value = new(0.0), 0 })
	gamma, lambda := rng.Float64(), rng.Float64()
	gae := func(b []rl.Trajectory, lambda float64) (*rl.Credit, error) {
		return rl.TurnGAE(nil, b, &rl.TurnGAEOptions{Gamma: &gamma, Lambda: &lambda, InvalidPenalty: new(0.0), Norm: rl.Norm{Std: rl.StdOff}})
	}
	full, err := gae(blind, 1)
	short, err2 := gae(batch, 0)
	c, err3 := gae(batch, lambda)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	for i := range batch {
		if batch[i].Excluded != "" {
			continue
		}
		after, err := batch[i].Bootstrap(rl.TruncationBootstrap)
		if err != nil {
			return err
		}
		g := blind[i].MonteCarlo(nil, gamma, 0)
		y := batch[i].LambdaReturns(nil, gamma, lambda, after)
		for k, u := range batch[i].Turns {
			at := c.Start[i] + k
			next := after
			if k+1 < len(batch[i].Turns) {
				next = batch[i].Turns[k+1].Value
			}
			switch {
			case c.Vote[at] && !near(full.Advantage[at], g[k], 1e-12):
				return fmt.Errorf("turn %d of trajectory %d: A %v for lambda 1 and V 0, want the return %v", k, i, full.Advantage[at], g[k])
			case c.Vote[at] && !near(short.Advantage[at], u.Reward+gamma*next-u.Value, 1e-12):
				return fmt.Errorf("turn %d of trajectory %d: A %v for lambda 0, want the TD error %v", k, i, short.Advantage[at], u.Reward+gamma*next-u.Value)
			case !near(c.ValueTarget[at], y[k], 1e-12):
				return fmt.Errorf("turn %d of trajectory %d: target %v, want the lambda-return %v", k, i, c.ValueTarget[at], y[k])
			case c.Vote[at] && !near(c.Advantage[at]+u.Value, y[k], 1e-12):
				return fmt.Errorf("turn %d of trajectory %d: A + V is %v, want the lambda-return %v", k, i, c.Advantage[at]+u.Value, y[k])
			}
		}
	}
	return nil
}

func bootstrapZero(rng *rand.Rand) error {
	batch := change(rltest.RandomBatch(rng), func(t *rl.Trajectory, _ *rl.Turn) { t.FinalValue = new(0.0) })
	for _, e := range []func(tr rl.Truncation) (*rl.Credit, error){
		func(tr rl.Truncation) (*rl.Credit, error) {
			return rl.SAPO(nil, batch, &rl.TurnGAEOptions{Truncation: tr})
		},
		func(tr rl.Truncation) (*rl.Credit, error) {
			return token.GAE(nil, batch, &token.GAEOptions{Truncation: tr, Lambda: new(.9)})
		},
	} {
		a, err := e(rl.TruncationBootstrap)
		b, err2 := e(rl.TruncationTerminal)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if err := errors.Join(differ("advantages", a.Advantage, b.Advantage, 0), differ("targets", a.ValueTarget, b.ValueTarget, 0),
			differ("targets of Q", a.QTarget, b.QTarget, 0), differ("targets of tokens", a.TokenTarget, b.TokenTarget, 0)); err != nil {
			return err
		}
	}
	return nil
}

// scaled multiplies rewards. Advantages that are divided by the deviation stay, those that are not grow with them.
func scaled(rng *rand.Rand) error {
	batch := change(rltest.RandomBatch(rng), func(_ *rl.Trajectory, u *rl.Turn) { u.Reward = math.Round(64*u.Reward) / 64 })
	k := math.Exp(2 * rng.NormFloat64())
	larger := change(batch, func(_ *rl.Trajectory, u *rl.Turn) { u.Reward *= k })
	norms := []rl.Norm{{Eps: new(0.0)}, {Std: rl.StdPopulation, Eps: new(0.0), EpsPlace: rl.EpsInsideSqrt}, {Std: rl.StdNone}}
	for _, n := range norms {
		factor := 1.0
		if n.Std == rl.StdNone {
			factor = k
		}
		for _, e := range []struct {
			name string
			f    func(b []rl.Trajectory) (*rl.Credit, error)
			ok   bool
		}{
			{"GRPO", func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.GRPO(nil, b, &rl.GRPOOptions{InvalidPenalty: new(0.0), Norm: n})
			}, true},
			{"GRPO over the batch", func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.GRPO(nil, b, &rl.GRPOOptions{InvalidPenalty: new(0.0), Norm: n, Scope: rl.ScopeBatch})
			}, true},
			{"GRPO with the deviation of the batch", func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.GRPO(nil, b, &rl.GRPOOptions{InvalidPenalty: new(0.0), Norm: n, Scope: rl.ScopeGroupMeanBatchStd})
			}, true},
			{"RLOO", func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.RLOO(nil, b, &rl.RLOOOptions{InvalidPenalty: new(0.0)})
			}, n.Std == rl.StdNone},
			{"GiGPO", func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.GiGPO(nil, b, &rl.GiGPOOptions{InvalidPenalty: new(0.0), Norm: n})
			}, true},
			{"GAGPO", func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.GAGPO(nil, b, &rl.GAGPOOptions{InvalidPenalty: new(0.0), Norm: n})
			}, true},
		} {
			if !e.ok {
				continue
			}
			a, err := e.f(batch)
			b, err2 := e.f(larger)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			for i := range a.Advantage {
				// What is next to 0 is rounding, and a deviation of rounding only centres.
				if got, want := b.Advantage[i], factor*a.Advantage[i]; math.Abs(got-want) > 1e-9*max(1, k, math.Abs(want)) {
					return fmt.Errorf("%s, rewards times %v: advantage %d is %v, want %v", e.name, k, i, got, want)
				}
			}
		}
	}
	return nil
}

func normal(rng *rand.Rand) error {
	n := rl.Norm{Std: []rl.Std{rl.StdSample, rl.StdPopulation}[rng.IntN(2)], Eps: new([]float64{0, 1e-8, 1e-4}[rng.IntN(3)])}
	magnitude := math.Pow(10, []float64{0, 0, 3, 100, -3}[rng.IntN(5)])
	x := make([]float64, 2+rng.IntN(30))
	for i := range x {
		x[i] = magnitude * (rng.NormFloat64() + float64(rng.IntN(3)))
	}
	equal := rng.IntN(5) == 0
	if equal {
		for i := range x {
			x[i] = x[0]
		}
	}
	sigma := deviation(x, n.Std)
	flat, err := n.Apply(x)
	if err != nil {
		return err
	}
	for i, v := range x {
		if v-v != 0 || equal && v != 0 {
			return fmt.Errorf("number %d is %v, all equal: %v", i, v, equal)
		}
	}
	if equal || flat {
		if flat != (equal || sigma <= 1e-8*max(1, magnitude)) {
			return fmt.Errorf("flat is %v for a deviation of %v", flat, sigma)
		}
		return nil
	}
	if want := sigma / (sigma + *n.Eps); !near(mean(x), 0, 1e-12) || !near(deviation(x, n.Std), want, 1e-9) {
		return fmt.Errorf("mean %v and deviation %v of %d numbers, want 0 and %v", mean(x), deviation(x, n.Std), len(x), want)
	}
	return nil
}

// deviation is the standard deviation of numbers that differ, relative to the largest before their squares are summed.
func deviation(x []float64, std rl.Std) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 0
	}
	m, sum, n := 0.0, 0.0, float64(len(x))
	for _, v := range x {
		m += v / largest / n
	}
	for _, v := range x {
		sum += (v/largest - m) * (v/largest - m)
	}
	if std == rl.StdSample {
		n--
	}
	return math.Sqrt(sum/n) * largest
}

// unevenly draws groups of 1 to 40 trajectories of one turn, in any order, with scores of which some are equal.
func unevenly(rng *rand.Rand) []rl.Trajectory {
	var batch []rl.Trajectory
	for g := range 1 + rng.IntN(5) {
		for range 1 + rng.IntN([]int{3, 8, 40}[rng.IntN(3)]) {
			score := rng.NormFloat64()
			if rng.IntN(2) == 0 {
				score = float64(rng.IntN(2))
			}
			batch = append(batch, long(fmt.Sprint(g), 1+rng.IntN(3), score))
		}
	}
	rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	return batch
}

// sizes returns the number of trajectories of each group.
func sizes(batch []rl.Trajectory) map[string]int {
	n := map[string]int{}
	for i := range batch {
		n[batch[i].Group]++
	}
	return n
}

func leaveOneOut(rng *rand.Rand) error {
	batch := unevenly(rng)
	rloo, err := rl.RLOO(nil, batch, nil)
	dr, err2 := rl.GRPO(nil, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	size := sizes(batch)
	for i := range batch {
		n := float64(size[batch[i].Group])
		want := 0.0
		if n > 1 {
			want = n / (n - 1) * dr.Advantage[dr.Start[i]]
		}
		if got := rloo.Advantage[rloo.Start[i]]; !near(got, want, 1e-12) {
			return fmt.Errorf("trajectory %d of a group of %v: RLOO %v, want %v", i, n, got, want)
		}
	}
	return nil
}

// singleton checks each estimator on a lone voter among others who have none.
func singleton(rng *rand.Rand) error {
	score := rng.NormFloat64()
	t := long("alone", 1+rng.IntN(3), score)
	for k := range t.Turns {
		t.Turns[k].State = fmt.Sprint(k)
	}
	excluded := long("alone", 2, 5)
	excluded.Excluded = "no vote"
	batch := append([]rl.Trajectory{excluded, t}, scored("others", 1, 2, 2)...)
	one := []rl.Trajectory{excluded, long("alone", 1, score)}
	for _, s := range []rl.Singleton{rl.SingletonZero, rl.SingletonRaw, rl.SingletonError} {
		n := rl.Norm{Singleton: s}
		graph := rl.GraphGPOOptions{StepWeight: new(0.0), Norm: n}
		for _, e := range []struct {
			name  string
			batch []rl.Trajectory
			f     func(b []rl.Trajectory) (*rl.Credit, error)
		}{
			{"GRPO", batch, func(b []rl.Trajectory) (*rl.Credit, error) { return rl.GRPO(nil, b, &rl.GRPOOptions{Norm: n}) }},
			{"RLOO", batch, func(b []rl.Trajectory) (*rl.Credit, error) { return rl.RLOO(nil, b, &rl.RLOOOptions{Singleton: s}) }},
			{"GiGPO", batch, func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.GiGPO(nil, b, &rl.GiGPOOptions{StepWeight: new(0.0), Norm: n})
			}},
			{"GraphGPO", batch, func(b []rl.Trajectory) (*rl.Credit, error) { return rl.GraphGPO(nil, b, &graph) }},
			{"MileGPO", batch, func(b []rl.Trajectory) (*rl.Credit, error) {
				return rl.MileGPO(nil, b, &rl.MileGPOOptions{GraphGPOOptions: graph})
			}},
			{"REINFORCE++-baseline", batch, func(b []rl.Trajectory) (*rl.Credit, error) {
				return token.ReinforcePP(nil, b, &token.ReinforcePPOptions{GroupBaseline: true, Singleton: s, Norm: rl.Norm{Std: rl.StdOff}})
			}},
			{"TurnGAE", one, func(b []rl.Trajectory) (*rl.Credit, error) { return rl.TurnGAE(nil, b, &rl.TurnGAEOptions{Norm: n}) }},
			{"SAPO", one, func(b []rl.Trajectory) (*rl.Credit, error) { return rl.SAPO(nil, b, &rl.TurnGAEOptions{Norm: n}) }},
			{"token GAE", one, func(b []rl.Trajectory) (*rl.Credit, error) { return token.GAE(nil, b, &token.GAEOptions{Norm: n}) }},
			{"REINFORCE++", one, func(b []rl.Trajectory) (*rl.Credit, error) {
				return token.ReinforcePP(nil, b, &token.ReinforcePPOptions{Norm: n})
			}},
			{"PPO as published", one, func(b []rl.Trajectory) (*rl.Credit, error) {
				return token.PPOPublished(nil, b, &token.PPOPublishedOptions{Norm: n})
			}},
		} {
			c, err := e.f(e.batch)
			if s == rl.SingletonError {
				if err == nil {
					return fmt.Errorf("%s accepts a lone voter", e.name)
				}
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			want := 0.0
			if s == rl.SingletonRaw {
				want = score
			}
			for k := c.Start[1]; k < c.Start[2]; k++ {
				if !near(c.Advantage[k], want, 1e-12) {
					return fmt.Errorf("%s with %v: advantage %v of a lone voter, want %v", e.name, s, c.Advantage[k], want)
				}
			}
		}
		// GAGPO compares turns: a lone voter of one turn is its own baseline under either policy.
		c, err := rl.GAGPO(nil, one, &rl.GAGPOOptions{Norm: n})
		switch {
		case s == rl.SingletonError && err == nil:
			return errors.New("GAGPO accepts a lone voter")
		case s != rl.SingletonError && (err != nil || !near(c.Advantage[c.Start[1]], 0, 1e-12)):
			return fmt.Errorf("GAGPO with %v: %v, error %v", s, c, err)
		}
	}
	return nil
}

func unevenGroups(rng *rand.Rand) error {
	batch := unevenly(rng)
	for _, e := range []struct {
		name string
		f    func() (*rl.Credit, error)
	}{
		{"GRPO", func() (*rl.Credit, error) { return rl.GRPO(nil, batch, nil) }},
		{"Dr. GRPO", func() (*rl.Credit, error) {
			return rl.GRPO(nil, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
		}},
		{"RLOO", func() (*rl.Credit, error) { return rl.RLOO(nil, batch, nil) }},
		{"GiGPO", func() (*rl.Credit, error) {
			return rl.GiGPO(nil, batch, &rl.GiGPOOptions{StepWeight: new(0.0)})
		}},
	} {
		c, err := e.f()
		if err != nil {
			return err
		}
		size, sums := sizes(batch), map[string]float64{}
		for i := range batch {
			sums[batch[i].Group] += c.Advantage[c.Start[i]]
		}
		for i := range batch {
			g := batch[i].Group
			if n := size[g]; !near(sums[g]/float64(n), 0, 1e-12) {
				return fmt.Errorf("%s: the advantages of the %d trajectories of group %s sum to %v", e.name, n, g, sums[g])
			}
		}
	}
	return nil
}

func ignoresQ(rng *rand.Rand) error {
	batch := rltest.RandomBatch(rng)
	other := change(batch, func(_ *rl.Trajectory, u *rl.Turn) { u.QValue = 10 * rng.NormFloat64() })
	a, err := rl.SAPO(nil, batch, nil)
	b, err2 := rl.SAPO(nil, other, nil)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	return errors.Join(differ("advantages", b.Advantage, a.Advantage, 0), differ("targets of V", b.ValueTarget, a.ValueTarget, 0))
}

// logits draws a Head and logits for it.
func logits(rng *rand.Rand) (loss.Head, []float64) {
	z := make([]float64, 4+rng.IntN(5))
	for k := range z {
		z[k] = 2 * rng.NormFloat64()
	}
	reserved := rng.Perm(len(z))[:2]
	return loss.Head{Plus: reserved[0], Minus: reserved[1], Temperature: []float64{0, .5, 2}[rng.IntN(3)], Tau: 1 + 4*rng.Float64()}, z
}

// actions returns the entries that are not reserved.
func actions(h loss.Head, n int) []int {
	var a []int
	for k := range n {
		if k != h.Plus && k != h.Minus {
			a = append(a, k)
		}
	}
	return a
}

func reservedApart(rng *rand.Rand) error {
	h, z := logits(rng)
	other, shifted := slices.Clone(z), slices.Clone(z)
	other[h.Plus], other[h.Minus] = 50*rng.NormFloat64(), 50*rng.NormFloat64()
	by := 10 * rng.NormFloat64()
	shifted[h.Plus] += by
	shifted[h.Minus] += by
	a := actions(h, len(z))[0]
	dz, dOther := make([]float64, len(z)), make([]float64, len(z))
	l, err := h.LogProb(dz, z, a, 1)
	lOther, err2 := h.LogProb(dOther, other, a, 1)
	entropy, err3 := h.Entropy(dz, z, .5)
	entropyOther, err4 := h.Entropy(dOther, other, .5)
	v, _, err5 := h.Value(nil, z, 0)
	vShifted, _, err6 := h.Value(nil, shifted, 0)
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil {
		return err
	}
	switch {
	case l != lOther || entropy != entropyOther || !slices.Equal(dz, dOther) || dz[h.Plus] != 0 || dz[h.Minus] != 0:
		return fmt.Errorf("log-probability %v and entropy %v, with other reserved logits %v and %v", l, entropy, lOther, entropyOther)
	case !near(v, vShifted, 1e-12):
		return fmt.Errorf("value %v, with %v added to both logits %v", v, by, vShifted)
	}
	return nil
}

func expectedKL(rng *rand.Rand) error {
	h, z := logits(rng)
	ref := make([]float64, len(z))
	t := h.Temperature
	if t == 0 {
		t = 1
	}
	for k := range z { // differences of log-probabilities stay below 2.4, and k3 below its bound
		z[k], ref[k] = .6*t*(2*rng.Float64()-1), .6*t*(2*rng.Float64()-1)
	}
	forward, backward := make([]float64, len(z)), make([]float64, len(z)) // gradients of KL(pi||ref) and KL(ref||pi)
	if _, err := h.KL(forward, z, ref, 1); err != nil {
		return err
	}
	all := actions(h, len(z))
	got := map[loss.KLKind][]float64{}
	kinds := []loss.KLKind{loss.KL1, loss.KL2, loss.KL3, loss.KL1Plus, loss.KL3Plus, loss.KLAbsPlus}
	for _, kind := range kinds {
		got[kind] = make([]float64, len(z))
	}
	for _, a := range all {
		l, err := h.LogProb(nil, z, a, 0)
		r, err2 := h.LogProb(nil, ref, a, 0)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		p := math.Exp(l)
		backward[a] = (p - math.Exp(r)) / t
		for _, kind := range kinds {
			g := make([]float64, 1)
			if _, err := loss.KL(g, loss.Batch{LogProb: []float64{l}, RefLogProb: []float64{r}}, kind); err != nil {
				return err
			}
			if _, err := h.LogProb(got[kind], z, a, p*g[0]); err != nil {
				return err
			}
		}
	}
	want := map[loss.KLKind][]float64{loss.KL1: make([]float64, len(z)), loss.KL3: backward}
	for _, kind := range kinds {
		if want[kind] == nil {
			want[kind] = forward
		}
		if err := differ("expected gradient of "+kind.String(), got[kind], want[kind], 1e-12); err != nil {
			return err
		}
	}
	return nil
}

func softmaxSums(rng *rand.Rand) error {
	h, z := logits(rng)
	for k := range z {
		z[k] *= []float64{1, 10, 100}[rng.IntN(3)]
	}
	all := actions(h, len(z))
	dl, dh := make([]float64, len(z)), make([]float64, len(z))
	_, err := h.LogProb(dl, z, all[rng.IntN(len(all))], 1)
	entropy, err2 := h.Entropy(dh, z, 1)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	var sumL, sumH float64
	for k := range z {
		sumL += dl[k]
		sumH += dh[k]
	}
	if !near(sumL, 0, 1e-12) || !near(sumH, 0, 1e-12) || entropy < 0 || entropy > math.Log(float64(len(all)))*(1+1e-12) {
		return fmt.Errorf("gradients sum to %v and %v, entropy %v of %d actions", sumL, sumH, entropy, len(all))
	}
	return nil
}

func lossesFinite(rng *rand.Rand) error {
	n := rng.IntN(8)
	draw := func() []float64 {
		x := make([]float64, n)
		for j := range x {
			x[j] = -math.Pow(10, 8*rng.Float64()-4)
		}
		return x
	}
	b := loss.Batch{LogProb: draw(), OldLogProb: draw(), Advantage: draw(), RefLogProb: draw(), Weight: make([]float64, n)}
	turn, kept := make([]int, n), 0
	for j := range n {
		b.Advantage[j] = 10 * rng.NormFloat64()
		turn[j] = j / 2
		if j%2 == 1 {
			b.Advantage[j] = b.Advantage[j-1]
		}
		if rng.IntN(2) == 0 {
			b.Weight[j] = rng.Float64()
			kept++
			continue
		}
		b.LogProb[j], b.RefLogProb[j] = math.NaN(), math.Inf(1) // never read
	}
	for _, f := range []struct {
		name string
		loss func(grad []float64) (float64, error)
	}{
		{"PPO", func(grad []float64) (float64, error) { l, _, err := loss.PPO(grad, b, nil); return l, err }},
		{"TurnRatio", func(grad []float64) (float64, error) { l, _, err := loss.TurnRatio(grad, b, turn, nil); return l, err }},
		{"CISPO", func(grad []float64) (float64, error) { l, _, err := loss.CISPO(grad, b, nil); return l, err }},
		{"SoftGate", func(grad []float64) (float64, error) { l, _, err := loss.SoftGate(grad, b, nil); return l, err }},
		{"Reinforce", func(grad []float64) (float64, error) { return loss.Reinforce(grad, b) }},
		{"KL", func(grad []float64) (float64, error) {
			return loss.KL(grad, b, loss.KLKind(rng.IntN(7)))
		}},
		{"Value", func(grad []float64) (float64, error) {
			l, _, err := loss.Value(grad, loss.ValueBatch{Value: b.LogProb, Old: b.OldLogProb, Target: b.RefLogProb, Weight: b.Weight}, nil)
			return l, err
		}},
	} {
		grad := make([]float64, n)
		for j := range grad {
			grad[j] = 7
		}
		l, err := f.loss(grad)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if l-l != 0 || kept == 0 && l != 0 {
			return fmt.Errorf("%s is %v with %d tokens", f.name, l, kept)
		}
		for j, g := range grad {
			if g-g != 0 || b.Weight[j] == 0 && g != 0 {
				return fmt.Errorf("%s has gradient %v at position %d of weight %v", f.name, g, j, b.Weight[j])
			}
		}
	}
	return nil
}

func remoteIdentity(rng *rand.Rand) error {
	h, z := logits(rng)
	h.Temperature, h.Inward = 0, rng.IntN(2) == 0
	all := actions(h, len(z))
	a := all[rng.IntN(len(all))]
	w, u := rng.NormFloat64(), rng.NormFloat64()
	want := make([]float64, len(z))
	l, err := h.LogProb(want, z, a, w)
	v, _, err2 := h.Value(want, z, u)
	var full loss.Head
	f := make([]float64, len(z)) // log-probabilities over the full vocabulary
	var err3 error
	for k := range z {
		var e error
		f[k], e = full.LogProb(nil, z, k, 0)
		err3 = errors.Join(err3, e)
	}
	gotL, gotV, err4 := h.FromFull(f[a], f[h.Plus], f[h.Minus])
	onAction, onPlus, onMinus, err5 := h.FullWeights(f[h.Plus], f[h.Minus], w, u)
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		return err
	}
	if math.Abs(math.Abs(f[h.Plus]-f[h.Minus])-h.Tau) < 1e-9 {
		return nil // at the edge of saturation rounding decides
	}
	got := make([]float64, len(z))
	for _, x := range []struct {
		k int
		w float64
	}{{a, onAction}, {h.Plus, onPlus}, {h.Minus, onMinus}} {
		if _, err := full.LogProb(got, z, x.k, x.w); err != nil {
			return err
		}
	}
	return errors.Join(differ("log-probability and value", []float64{gotL, gotV}, []float64{l, v}, 1e-12), differ("gradient", got, want, 1e-12))
}
