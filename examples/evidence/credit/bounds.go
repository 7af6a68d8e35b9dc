package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rltest"
)

// zeroMix is what graphgpo_equals_milegpo_eta0 stands for.
func zeroMix() []property {
	return []property{{"17 MileGPO with eta 0 has the bits of GraphGPO", 150_000, equalsGraphGPO}}
}

// bounds are what bounds_hold stands for.
func bounds() []property {
	return []property{
		{"17 0 <= dlt± <= w± and -c*lambda_s*w_- <= r^M - r^G <= c*lambda_s*w_+", 150_000, shapingBounds},
		{"17 r^M - r^G in [-.625, 2.5] at the defaults", 60_000, defaultBounds},
		{"18 r^G in [0, c], and c exactly on transitions into a goal", 150_000, goalBounds},
	}
}

// rollouts draws a batch: small and full of special cases, or with groups of longer walks over more states.
func rollouts(rng *rand.Rand) []rl.Trajectory {
	if rng.IntN(2) == 0 {
		return rltest.RandomBatch(rng)
	}
	batch := make([]rl.Trajectory, 2+rng.IntN(12))
	states := 2 + rng.IntN(10)
	for i := range batch {
		path := make([]string, 2+rng.IntN(14))
		at := 0
		for k := range path {
			path[k] = fmt.Sprint("s", at)
			at = min(max(at+rng.IntN(4)-1, 0), states-1) // a drift to the last state
		}
		batch[i] = walk([]string{"a", "b"}[rng.IntN(2)], float64(rng.IntN(2)), path...)
		batch[i].Success = new(rng.IntN(3) > 0 == (batch[i].FinalState == fmt.Sprint("s", states-1)))
		batch[i].Turns[rng.IntN(len(path)-1)].Invalid = rng.IntN(3) == 0
		batch[i].Turns[rng.IntN(len(path)-1)].Excluded = rng.IntN(6) == 0
	}
	return batch
}

// mileOptions draws options of MileGPO.
func mileOptions(rng *rand.Rand) *rl.MileGPOOptions {
	switch rng.IntN(4) {
	case 0:
		return &rl.MileGPOOptions{}
	case 1:
		return rl.MileGPOWebShop()
	}
	weight := func() *float64 { return []*float64{nil, new(0.0), new(3 * rng.Float64())}[rng.IntN(3)] }
	part := func() *float64 { return []*float64{nil, new(.05 + .9*rng.Float64())}[rng.IntN(2)] }
	return &rl.MileGPOOptions{
		GraphGPOOptions: rl.GraphGPOOptions{
			GoalReturn: []*float64{nil, new(20 * rng.Float64())}[rng.IntN(2)], GoalDecay: part(), StepWeight: weight(), EpisodeWeight: weight(),
			InvalidPenalty: weight(), Norm: rl.Norm{Std: []rl.Std{0, rl.StdNone, rl.StdPopulation}[rng.IntN(3)]},
		},
		Stage: rl.Stage(rng.IntN(4)), PotentialDecay: part(), PotentialGamma: []*float64{nil, new(rng.Float64()), new(0.0)}[rng.IntN(3)],
		ShapingWeight: weight(), PositiveWeight: weight(), NegativeWeight: weight(),
		LiftWeight: weight(), SupportWeight: weight(), ConnectivityWeight: weight(), FailureWeight: weight(), LoopWeight: weight(),
		DistanceWeight: weight(), SuccessWeight: weight(), FailureLiftWeight: weight(),
		BranchWeight: weight(), ProgressWeight: weight(), CalibrationWeight: weight(),
		TrapScore: part(), TrapVisits: rng.IntN(4), KeepSupport: part(), KeepBranch: rng.IntN(2) == 0, DropFactor: rng.Float64(), Mix: part(),
	}
}

func orElse(p *float64, def float64) float64 {
	if p == nil {
		return def
	}
	return *p
}

func equalsGraphGPO(rng *rand.Rand) error {
	batch, o := rollouts(rng), mileOptions(rng)
	o.Mix = new(0.0)
	m, err := rl.MileGPO(nil, batch, o)
	g, err2 := rl.GraphGPO(nil, batch, &o.GraphGPOOptions)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for k := range g.Advantage {
		if math.Float64bits(m.Advantage[k]) != math.Float64bits(g.Advantage[k]) {
			return fmt.Errorf("advantage %d is %v, want %v", k, m.Advantage[k], g.Advantage[k])
		}
	}
	if len(m.Advantage) != len(g.Advantage) || m.Groups != g.Groups || m.ZeroVariance != g.ZeroVariance || m.Singletons != g.Singletons ||
		!slices.Equal(m.Flat, g.Flat) || !slices.Equal(m.Vote, g.Vote) {
		return errors.New("votes, flat trajectories or counts of groups differ")
	}
	return nil
}

// scoresOfNodes computes the scores of milestones and traps from visits and edges.
func scoresOfNodes(rng *rand.Rand) error {
	o := mileOptions(rng)
	graphs, err := rl.MileGraphs(rollouts(rng), o)
	if err != nil {
		return err
	}
	visits := o.TrapVisits
	if visits == 0 {
		visits = 2
	}
	for _, g := range graphs {
		degree, largest := make([]int, len(g.Nodes)), 0
		for _, e := range g.Edges {
			if e.From != e.To {
				degree[e.From]++
				degree[e.To]++
			}
		}
		for v, n := range g.Nodes {
			if n.Successes > 0 {
				largest = max(largest, degree[v])
			}
		}
		success := float64(g.Successes) / float64(g.Successes+g.Failures)
		for v, n := range g.Nodes {
			share := float64(n.Successes) / float64(n.Successes+n.Failures)
			want := make([]float64, 8) // of a node that is neither
			switch {
			case n.Milestone != (n.Successes > 0 && !n.Goal):
				return fmt.Errorf("node %d of group %q: %d successes, goal %v, milestone %v", v, g.Group, n.Successes, n.Goal, n.Milestone)
			case n.Milestone:
				want[0], want[1] = max(share-success, 0), float64(n.Successes)/float64(g.Successes)
				if largest > 0 {
					want[2] = float64(degree[v]) / float64(largest)
				}
				want[3] = orElse(o.LiftWeight, 1)*want[0] + orElse(o.SupportWeight, 1)*want[1] + orElse(o.ConnectivityWeight, .25)*want[2]
			case n.Successes == 0 && (n.Failures >= visits || n.Revisits > 0):
				want[4], want[5] = max(success-share, 0), float64(n.Failures)/float64(g.Failures)
				want[6] = float64(n.Revisits) / float64(n.Failures)
				want[7] = orElse(o.FailureWeight, 1)*want[4] + orElse(o.LoopWeight, .25)*want[5]*want[6]
				if least := orElse(o.TrapScore, .1); !near(want[7], least, 1e-9) && n.Trap != (want[7] > least) {
					return fmt.Errorf("node %d of group %q: trap %v with the score %v, at least %v", v, g.Group, n.Trap, want[7], least)
				}
			case n.Trap:
				return fmt.Errorf("node %d of group %q: a trap with %d successes, %d failures, %d revisits", v, g.Group, n.Successes, n.Failures, n.Revisits)
			}
			if err := differ(fmt.Sprintf("node %d of group %q", v, g.Group), []float64{n.Lift, n.Support, n.Connectivity, n.MilestoneScore,
				n.FailureLift, n.FailureSupport, n.Loop, n.TrapScore}, want, 1e-12); err != nil {
				return err
			}
		}
	}
	return nil
}

// evidenceOfEdges computes the evidence for milestones from contrasts and progress of edges.
func evidenceOfEdges(rng *rand.Rand) error {
	o := mileOptions(rng)
	graphs, err := rl.MileGraphs(rollouts(rng), o)
	if err != nil {
		return err
	}
	for _, g := range graphs {
		branch, progress := make([]float64, len(g.Nodes)), make([]float64, len(g.Nodes))
		furthest := 0.0
		for _, e := range g.Edges {
			if e.From == e.To || !g.Nodes[e.To].Milestone {
				continue
			}
			branch[e.To] = max(branch[e.To], e.BranchContrast)
			if e.Successes > 0 {
				progress[e.To] = max(progress[e.To], e.Progress)
				furthest = max(furthest, progress[e.To])
			}
		}
		for v, n := range g.Nodes {
			if !n.Milestone {
				continue
			}
			if furthest > 0 {
				progress[v] /= furthest
			}
			evidence := orElse(o.BranchWeight, 1)*branch[v] + orElse(o.ProgressWeight, 1)*progress[v]
			kept := progress[v] > 0 || n.Support >= orElse(o.KeepSupport, 1.1) || o.KeepBranch && branch[v] > 0
			calibrated := o.DropFactor * n.MilestoneScore
			if kept {
				calibrated = n.MilestoneScore * (1 + orElse(o.CalibrationWeight, 1)*evidence)
			}
			if n.Kept != kept {
				return fmt.Errorf("milestone %d of group %q: kept is %v, want %v", v, g.Group, n.Kept, kept)
			}
			if err := differ(fmt.Sprintf("milestone %d of group %q", v, g.Group), []float64{n.Branch, n.Progress, n.Evidence, n.CalibratedScore},
				[]float64{branch[v], progress[v], evidence, calibrated}, 1e-12); err != nil {
				return err
			}
		}
	}
	return nil
}

// mixes compares with the norms of the two returns that the graph shows, over the voting turns that start in one state of a group.
func mixes(rng *rand.Rand) error {
	batch, o := rollouts(rng), mileOptions(rng)
	o.EpisodeWeight, o.Mix = new(0.0), new(rng.Float64())
	unknown := 0
	name := func(state string) string { // unknown states are like no other: names of their own change nothing
		if state == "" {
			unknown++
			return fmt.Sprint("unknown ", unknown)
		}
		return state
	}
	batch = change(batch, func(t *rl.Trajectory, u *rl.Turn) { u.State, t.FinalState = name(u.State), name(t.FinalState) })
	c, err := rl.MileGPO(nil, batch, o)
	graphs, err2 := rl.MileGraphs(batch, o)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	edges := map[[3]string]rl.MileEdge{} // by group and states
	for _, g := range graphs {
		for _, e := range g.Edges {
			edges[[3]string{g.Group, g.Nodes[e.From].State, g.Nodes[e.To].State}] = e
		}
	}
	type state struct {
		turns      []int
		far, mixed []float64
	}
	var states []*state
	known := map[[2]string]*state{}
	for i := range batch {
		t := &batch[i]
		for k := range t.Turns {
			if !c.Vote[c.Start[i]+k] {
				continue
			}
			next := t.FinalState
			if k+1 < len(t.Turns) {
				next = t.Turns[k+1].State
			}
			key := [2]string{t.Group, t.Turns[k].State}
			x := known[key]
			if x == nil {
				x = &state{}
				known[key], states = x, append(states, x)
			}
			e := edges[[3]string{t.Group, t.Turns[k].State, next}]
			x.turns, x.far, x.mixed = append(x.turns, c.Start[i]+k), append(x.far, e.GoalReturn), append(x.mixed, e.MilestoneReturn)
		}
	}
	for _, x := range states {
		_, err := o.Norm.Apply(x.far)
		_, err2 := o.Norm.Apply(x.mixed)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for n, at := range x.turns {
			want := orElse(o.StepWeight, 1) * ((1-*o.Mix)*x.far[n] + *o.Mix*x.mixed[n])
			if got := c.Advantage[at]; !near(got, want, 1e-12) {
				return fmt.Errorf("turn %d of the batch has the step part %v, want %v", at, got, want)
			}
		}
	}
	return nil
}

// slack is what rounding may add to a bound.
const slack = 1e-12

func shapingBounds(rng *rand.Rand) error { return checkShaping(rollouts(rng), mileOptions(rng)) }

func defaultBounds(rng *rand.Rand) error {
	batch := rollouts(rng)
	graphs, err := rl.MileGraphs(batch, nil)
	if err != nil {
		return err
	}
	for _, g := range graphs {
		for i, e := range g.Edges {
			if d := e.MilestoneReturn - e.GoalReturn; d < -.625-slack || d > 2.5+slack {
				return fmt.Errorf("edge %d of group %q: r^M - r^G is %v", i, g.Group, d)
			}
		}
	}
	return nil
}

// checkShaping returns an error unless gains, potentials and shaped returns are within their bounds.
func checkShaping(batch []rl.Trajectory, o *rl.MileGPOOptions) error {
	graphs, err := rl.MileGraphs(batch, o)
	if err != nil {
		return err
	}
	c, lambda := orElse(o.GoalReturn, 10), orElse(o.ShapingWeight, .25)
	plus, minus := orElse(o.PositiveWeight, 1), orElse(o.NegativeWeight, .25)
	for _, g := range graphs {
		for i, n := range g.Nodes {
			for _, p := range []float64{n.MilestonePotential, n.TrapPotential, n.MilestoneWeight, n.TrapWeight} {
				if !(p >= 0 && p <= 1) {
					return fmt.Errorf("node %d of group %q: weight or potential %v, want one in [0, 1]", i, g.Group, p)
				}
			}
		}
		for i, e := range g.Edges {
			d := e.MilestoneReturn - e.GoalReturn
			large := slack * max(1, c, c*lambda*max(plus, minus))
			switch {
			case !(e.MilestoneGain >= 0 && e.MilestoneGain <= plus*(1+slack)):
				return fmt.Errorf("edge %d of group %q: dlt+ is %v for w_+ %v", i, g.Group, e.MilestoneGain, plus)
			case !(e.TrapGain >= 0 && e.TrapGain <= minus*(1+slack)):
				return fmt.Errorf("edge %d of group %q: dlt- is %v for w_- %v", i, g.Group, e.TrapGain, minus)
			case !(d >= -c*lambda*minus-large && d <= c*lambda*plus+large):
				return fmt.Errorf("edge %d of group %q: r^M - r^G is %v, want one in [%v, %v]", i, g.Group, d, -c*lambda*minus, c*lambda*plus)
			}
		}
	}
	return nil
}

func goalBounds(rng *rand.Rand) error {
	batch, o := rollouts(rng), mileOptions(rng)
	graphs, err := rl.MileGraphs(batch, o)
	if err != nil {
		return err
	}
	c, decay := orElse(o.GoalReturn, 10), orElse(o.GoalDecay, .2)
	for _, g := range graphs {
		for i, e := range g.Edges {
			to := g.Nodes[e.To]
			want := 0.0
			if to.Distance >= 0 {
				want = c * math.Pow(decay, float64(to.Distance))
			}
			switch {
			case !(e.GoalReturn >= 0 && e.GoalReturn <= c):
				return fmt.Errorf("edge %d of group %q: r^G is %v for c %v", i, g.Group, e.GoalReturn, c)
			case to.Goal != (to.Distance == 0) || to.Goal && e.GoalReturn != c || !to.Goal && c > 0 && e.GoalReturn == c:
				return fmt.Errorf("edge %d of group %q: r^G is %v, into a goal: %v", i, g.Group, e.GoalReturn, to.Goal)
			case !near(e.GoalReturn, want, 1e-12):
				return fmt.Errorf("edge %d of group %q: r^G is %v, want %v", i, g.Group, e.GoalReturn, want)
			}
		}
	}
	return nil
}

// distances returns the distances of the states of each group, by group and key.
func distances(batch []rl.Trajectory) (map[[2]string]int, error) {
	graphs, err := rl.MileGraphs(batch, nil)
	d := map[[2]string]int{}
	for _, g := range graphs {
		for _, n := range g.Nodes {
			if n.State != "" {
				d[[2]string{g.Group, n.State}] = n.Distance
			}
		}
	}
	return d, err
}

// lengthened returns an error if a state is further from the goal in the second batch, or, if equal is set, at another distance.
func lengthened(before, after []rl.Trajectory, equal bool) error {
	a, err := distances(before)
	b, err2 := distances(after)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for key, d := range a {
		now, ok := b[key]
		if !ok || equal && now != d || d >= 0 && (now < 0 || now > d) {
			return fmt.Errorf("state %q of group %q was at distance %d and is at %d, found: %v", key[1], key[0], d, now, ok)
		}
	}
	return nil
}

func graphGrows(rng *rand.Rand) error {
	batch, more := rollouts(rng), rollouts(rng)
	one := more[rng.IntN(len(more))]
	one.Group = batch[rng.IntN(len(batch))].Group
	return lengthened(batch, slices.Insert(slices.Clone(batch), rng.IntN(len(batch)+1), one), false)
}

func duplicate(rng *rand.Rand) error {
	batch := rollouts(rng)
	return lengthened(batch, append(slices.Clone(batch), batch[rng.IntN(len(batch))]), true)
}

// allPairs compares the potentials with those over the distances of all pairs of states.
func allPairs(rng *rand.Rand) error {
	o := mileOptions(rng)
	graphs, err := rl.MileGraphs(rollouts(rng), o)
	if err != nil {
		return err
	}
	decay := orElse(o.PotentialDecay, .2)
	for _, g := range graphs {
		n := len(g.Nodes)
		d := make([][]float64, n)
		for u := range d {
			d[u] = make([]float64, n)
			for v := range d[u] {
				if u != v {
					d[u][v] = math.Inf(1)
				}
			}
		}
		for _, e := range g.Edges {
			if e.From != e.To {
				d[e.From][e.To] = 1
			}
		}
		for k := range n {
			for u := range n {
				for v := range n {
					d[u][v] = min(d[u][v], d[u][k]+d[k][v])
				}
			}
		}
		for u := range n {
			milestone, trap, goal := 0.0, 0.0, math.Inf(1)
			for v, node := range g.Nodes {
				f := math.Pow(decay, d[u][v])
				milestone, trap = max(milestone, f*node.MilestoneWeight), max(trap, f*node.TrapWeight)
				if node.Goal {
					goal = min(goal, d[u][v])
				}
			}
			node := g.Nodes[u]
			switch {
			case !near(node.MilestonePotential, milestone, 1e-12) || !near(node.TrapPotential, trap, 1e-12):
				return fmt.Errorf("node %d of group %q: Phi+ %v and Phi- %v, want %v and %v", u, g.Group,
					node.MilestonePotential, node.TrapPotential, milestone, trap)
			case math.IsInf(goal, 1) && node.Distance != -1 || !math.IsInf(goal, 1) && node.Distance != int(goal):
				return fmt.Errorf("node %d of group %q: distance %d, want %v", u, g.Group, node.Distance, goal)
			}
		}
	}
	return nil
}

// cycles follows a success that goes around in a circle: with gamma_Phi 1 each round gains what the potential rises by, which is positive
// unless the potential is the same all around.
func cycles(rng *rand.Rand) error {
	round := []string{"m"}
	for k := range 1 + rng.IntN(4) {
		round = append(round, fmt.Sprint("n", k))
	}
	path := []string{"s0"}
	for range 1 + rng.IntN(3) {
		path = append(path, round...)
	}
	path = append(path, "m", "g")
	batch := []rl.Trajectory{walk("", 10, path...), walk("", 0, "s0", round[rng.IntN(len(round))])}
	g, err := graphOf(batch, nil)
	if err != nil {
		return err
	}
	at := map[string]int{}
	for v, n := range g.Nodes {
		at[n.State] = v
	}
	gain, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for k, s := range round {
		phi := g.Nodes[at[s]].MilestonePotential
		low, high = min(low, phi), max(high, phi)
		for _, e := range g.Edges {
			if e.From == at[s] && e.To == at[round[(k+1)%len(round)]] {
				gain += e.MilestoneGain
			}
		}
	}
	if gain < high-low-slack || !(gain > 0) {
		return fmt.Errorf("a round of %d states gains %v, the potential is between %v and %v", len(round), gain, low, high)
	}
	return nil
}
