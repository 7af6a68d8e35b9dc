package rl_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/rl"
	"pgregory.net/rapid"
)

// The files literal_*_test.go hold a second implementation of the estimators, slow and literal: one statement a formula, with the
// symbols of the papers, maps and sets instead of indices. It shares no code with the package beyond the data types. It is first
// held against the worked numbers alone, then the package is held against it on random batches. More runs:
//
//	go test ./rl -run Literal -rapid.checks=100000

var (
	errLiteralSingleton = errors.New("a set of one under SingletonError")
	errLiteralNonFinite = errors.New("a number that is not finite")
	errLiteralFinal     = errors.New("no final value")
)

// literalNormRule is rl.Norm with every default filled in.
type literalNormRule struct {
	std       rl.Std
	eps       float64
	inside    bool
	floor     float64
	singleton rl.Singleton
}

func literalRule(n rl.Norm, std rl.Std, eps float64) literalNormRule {
	rule := literalNormRule{std: std, eps: eps, floor: 1e-8, singleton: n.Singleton}
	if n.Std != rl.StdDefault {
		rule.std = n.Std
	}
	if n.Eps != nil {
		rule.eps = *n.Eps
	}
	if n.StdFloor != nil {
		rule.floor = *n.StdFloor
	}
	rule.inside = n.EpsPlace == rl.EpsInsideSqrt
	return rule
}

// literalDeviation returns mean and sigma by two passes.
func literalDeviation(x []float64, std rl.Std) (mu, sigma float64) {
	for _, v := range x {
		mu += v
	}
	mu /= float64(len(x))
	var squares float64
	for _, v := range x {
		squares += (v - mu) * (v - mu)
	}
	if std == rl.StdSample {
		return mu, math.Sqrt(squares / float64(len(x)-1))
	}
	return mu, math.Sqrt(squares / float64(len(x)))
}

func literalMax(x []float64) float64 {
	max := math.Inf(-1)
	for _, v := range x {
		if v > max {
			max = v
		}
	}
	return max
}

func literalNegated(x []float64) []float64 {
	var y []float64
	for _, v := range x {
		y = append(y, -v)
	}
	return y
}

// literalScale divides the centred c by the sigma of the numbers x, unless sigma is at or below the floor.
func literalScale(c, sigma float64, x []float64, rule literalNormRule) float64 {
	maxAbs := math.Max(literalMax(x), literalMax(literalNegated(x)))
	switch {
	case rule.std == rl.StdNone:
		return c
	case sigma <= rule.floor*math.Max(1, maxAbs):
		return c
	case rule.inside:
		return c / math.Sqrt(sigma*sigma+rule.eps)
	default:
		return c / (sigma + rule.eps)
	}
}

func literalNorm(x []float64, rule literalNormRule) ([]float64, error) {
	y := make([]float64, len(x))
	switch {
	case rule.std == rl.StdOff:
		copy(y, x)
		return y, nil
	case len(x) == 0:
		return y, nil
	case len(x) == 1 && rule.singleton == rl.SingletonRaw:
		y[0] = x[0]
		return y, nil
	case len(x) == 1 && rule.singleton == rl.SingletonError:
		return nil, errLiteralSingleton
	case len(x) == 1:
		return y, nil
	case literalMax(x) == -literalMax(literalNegated(x)):
		return y, nil
	}
	mu, sigma := literalDeviation(x, rule.std)
	for i := range x {
		y[i] = literalScale(x[i]-mu, sigma, x, rule)
	}
	return y, nil
}

func literalTrains(turn rl.Turn) bool {
	for _, token := range turn.Tokens {
		if token.Trainable {
			return true
		}
	}
	return false
}

func literalOr(p *float64, def float64) float64 {
	if p != nil {
		return *p
	}
	return def
}

func literalFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// literalTable is one number per turn of each trajectory.
type literalTable [][]float64

func newLiteralTable(batch []rl.Trajectory) literalTable {
	table := make(literalTable, len(batch))
	for i := range batch {
		table[i] = make([]float64, len(batch[i].Turns))
	}
	return table
}

// literalVotes lists the voting turns of the trajectories that are not out.
func literalVotes(batch []rl.Trajectory, out []bool) [][]bool {
	votes := make([][]bool, len(batch))
	for i, tr := range batch {
		votes[i] = make([]bool, len(tr.Turns))
		for t, turn := range tr.Turns {
			votes[i][t] = !out[i] && !turn.Excluded && literalTrains(turn)
		}
	}
	return votes
}

type literalSAPOResult struct {
	out            []bool // trajectories that are excluded
	votes          [][]bool
	advantage      literalTable // Â
	yV, yQ, before literalTable // before is A, ahead of penalty and norm
}

// literalSAPO is the sweep over turns, both targets, penalty, batch norm.
func literalSAPO(batch []rl.Trajectory, o rl.TurnGAEOptions, def rl.Truncation, readsQ bool) (*literalSAPOResult, error) {
	gamma, lambda, cInv := literalOr(o.Gamma, .95), literalOr(o.Lambda, .95), literalOr(o.InvalidPenalty, .1)
	truncation := o.Truncation
	if truncation == rl.TruncationDefault {
		truncation = def
	}
	res := &literalSAPOResult{
		out: make([]bool, len(batch)), advantage: newLiteralTable(batch),
		yV: newLiteralTable(batch), yQ: newLiteralTable(batch), before: newLiteralTable(batch),
	}
	for i, tr := range batch {
		if tr.Excluded != "" {
			res.out[i] = true
			continue
		}
		T := len(tr.Turns)
		bootstraps := tr.Turns[T-1].End == rl.Truncated && truncation == rl.TruncationBootstrap
		if tr.Turns[T-1].End == rl.Truncated && truncation == rl.TruncationDrop {
			res.out[i] = true
			continue
		}
		if bootstraps && tr.FinalValue == nil {
			return nil, errLiteralFinal // a fault of form, as an open trajectory: not left to ExcludeNonFinite
		}
		finite := !bootstraps || literalFinite(*tr.FinalValue)
		for _, turn := range tr.Turns {
			finite = finite && literalFinite(turn.Reward) && literalFinite(turn.Value) && (!readsQ || literalFinite(turn.QValue))
		}
		if !finite && !o.ExcludeNonFinite {
			return nil, errLiteralNonFinite
		}
		if !finite {
			res.out[i] = true
			continue
		}
		var A float64 // A_T = 0
		for t := T - 1; t >= 0; t-- {
			turn := tr.Turns[t]
			var nextV, nextQ float64
			switch {
			case turn.End == rl.Continue:
				nextV, nextQ = tr.Turns[t+1].Value, tr.Turns[t+1].QValue
			case turn.End == rl.Truncated && truncation == rl.TruncationBootstrap:
				nextV, nextQ = *tr.FinalValue, *tr.FinalValue
			}
			delta := turn.Reward + gamma*nextV - turn.Value
			A = delta + gamma*lambda*A
			res.before[i][t] = A
			res.yV[i][t] = turn.Value + A
			res.yQ[i][t] = turn.Reward + gamma*nextQ
		}
	}
	res.votes = literalVotes(batch, res.out)
	var tilde []float64
	for i, tr := range batch {
		for t, turn := range tr.Turns {
			if !res.votes[i][t] {
				continue
			}
			a := res.before[i][t]
			if turn.Invalid {
				a -= cInv
			}
			tilde = append(tilde, a)
		}
	}
	hat, err := literalNorm(tilde, literalRule(o.Norm, rl.StdPopulation, 1e-8))
	if err != nil {
		return nil, err
	}
	for i, tr := range batch {
		for t := range tr.Turns {
			if res.votes[i][t] {
				res.advantage[i][t] = hat[0]
				hat = hat[1:]
			}
		}
	}
	return res, nil
}

func literalNear(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// literalFatal is what *testing.T and *rapid.T have in common here.
type literalFatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// literalRow fails unless got and want agree to the digits of the worked examples.
func literalRow(t literalFatal, name string, got []float64, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %v, want %v", name, got, want)
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 5.1e-7 {
			t.Fatalf("%s[%d] = %v, want %v (all: %v)", name, i, got[i], want[i], got)
		}
	}
}

func literalEpisodeOf(group string, end rl.End, final string, states []string, rewards ...float64) rl.Trajectory {
	tr := rl.Trajectory{Group: group, FinalState: final}
	for t, r := range rewards {
		turn := rl.Turn{Reward: r, Tokens: []rl.Token{{Trainable: true}}}
		if states != nil {
			turn.State = states[t]
		}
		tr.Turns = append(tr.Turns, turn)
	}
	tr.Turns[len(tr.Turns)-1].End = end
	return tr
}

// The literal code alone gives the worked numbers E1 to E3.
func TestLiteralTurnsAlone(t *testing.T) {
	e1 := literalEpisodeOf("", rl.Terminated, "", nil, 0, 0, 0, 10)
	for k, v := range []float64{2, 3, 5, 8} {
		e1.Turns[k].Value = v
		e1.Turns[k].QValue = []float64{2.5, 4, 6, 9}[k]
	}
	run := func(tr rl.Trajectory, o rl.TurnGAEOptions, def rl.Truncation) *literalSAPOResult {
		t.Helper()
		res, err := literalSAPO([]rl.Trajectory{tr}, o, def, true)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := run(e1, rl.TurnGAEOptions{}, rl.TruncationTerminal)
	literalRow(t, "E1 A", res.before[0], 6.017275, 5.7255125, 4.405, 2)
	literalRow(t, "E1 y^V", res.yV[0], 8.017275, 8.7255125, 9.405, 10)
	literalRow(t, "E1 y^Q", res.yQ[0], 3.8, 5.7, 8.55, 10)
	literalRow(t, "E1 population", res.advantage[0], .933558, .749560, -.083211, -1.599907)
	res = run(e1, rl.TurnGAEOptions{Norm: rl.Norm{Std: rl.StdSample}}, rl.TruncationTerminal)
	literalRow(t, "E1 sample", res.advantage[0], .808485, .649138, -.072063, -1.385560)
	res = run(e1, rl.TurnGAEOptions{Norm: rl.Norm{Std: rl.StdOff}}, rl.TruncationTerminal)
	literalRow(t, "E1 without norm", res.advantage[0], 6.017275, 5.7255125, 4.405, 2)

	e1.Turns[1].Invalid = true
	res = run(e1, rl.TurnGAEOptions{}, rl.TruncationTerminal)
	literalRow(t, "E2 population", res.advantage[0], .960379, .710440, -.068231, -1.602589)
	literalRow(t, "E2 y^V", res.yV[0], 8.017275, 8.7255125, 9.405, 10)
	literalRow(t, "E2 y^Q", res.yQ[0], 3.8, 5.7, 8.55, 10)

	e3 := e1
	e3.Turns = append([]rl.Turn(nil), e1.Turns...)
	e3.Turns[3].End, e3.Turns[3].Reward = rl.Truncated, 0
	e3.FinalValue = new(7.0)
	res = run(e3, rl.TurnGAEOptions{Truncation: rl.TruncationBootstrap}, rl.TruncationTerminal)
	literalRow(t, "E3 bootstrap A", res.before[0], 3.554717, 2.996917, 1.381625, -1.35)
	literalRow(t, "E3 bootstrap y^Q", res.yQ[0], 3.8, 5.7, 8.55, 6.65)
	res = run(e3, rl.TurnGAEOptions{}, rl.TruncationTerminal)
	literalRow(t, "E3 terminal A", res.before[0], -1.333644, -2.41955, -4.62, -8)
	literalRow(t, "E3 terminal y^Q", res.yQ[0], 3.8, 5.7, 8.55, 0)
}

// literalWorld says what a random batch may hold.
type literalWorld struct {
	states   int  // different state keys besides the goal
	longest  int  // most turns
	least    int  // fewest trajectories
	most     int  // most trajectories
	groups   int  // most groups
	walk     bool // states lie in a row, and turns lead to neighbours: long distances
	blank    bool // some keys are empty
	goal     bool // episodes that succeed end in one state
	odd      bool // excluded and invalid turns, turns without trainable tokens, excluded trajectories
	noFinite bool // some numbers are not finite
}

func literalOneIn(t *rapid.T, n int, label string) bool {
	return rapid.IntRange(0, n-1).Draw(t, label) == n-1
}

func literalBatchOf(t *rapid.T, w literalWorld) []rl.Trajectory {
	n := rapid.IntRange(w.least, w.most).Draw(t, "trajectories")
	dense := rapid.Bool().Draw(t, "dense rewards")
	verdicts := rapid.Bool().Draw(t, "verdicts")
	var here int
	key := func(label string) string {
		if w.walk {
			here = min(max(here+rapid.IntRange(-1, 2).Draw(t, label), 0), w.states-1)
		} else {
			here = rapid.IntRange(0, w.states-1).Draw(t, label)
		}
		if w.blank && literalOneIn(t, 6, "blank") {
			return ""
		}
		return "abcdefghijklmnopqrstuvwxyz"[here:][:1]
	}
	batch := make([]rl.Trajectory, n)
	for i := range batch {
		tr := &batch[i]
		here = 0
		tr.Group = fmt.Sprint("q", rapid.IntRange(0, w.groups-1).Draw(t, "group"))
		tr.Turns = make([]rl.Turn, rapid.IntRange(1, w.longest).Draw(t, "turns"))
		won := rapid.Bool().Draw(t, "won")
		for k := range tr.Turns {
			turn := &tr.Turns[k]
			turn.State = key("state")
			turn.Value = rapid.SampledFrom([]float64{0, 1, -1, 2.5, .3, 10, -7}).Draw(t, "V")
			turn.QValue = rapid.SampledFrom([]float64{0, 1, -1, 2.5, .3, 10, -7}).Draw(t, "Q")
			if dense {
				turn.Reward = rapid.SampledFrom([]float64{0, 0, 1, -1, .5, 2}).Draw(t, "r")
			}
			turn.Tokens = []rl.Token{{Trainable: true}}
			if w.odd {
				turn.Invalid = rapid.Bool().Draw(t, "invalid")
				turn.Excluded = literalOneIn(t, 6, "excluded turn")
				turn.Tokens = nil
				for range rapid.IntRange(0, 3).Draw(t, "tokens") {
					turn.Tokens = append(turn.Tokens, rl.Token{Trainable: !literalOneIn(t, 3, "masked")})
				}
			}
			if w.noFinite && literalOneIn(t, 12, "not finite") {
				bad := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "bad")
				switch rapid.IntRange(0, 2).Draw(t, "which") {
				case 0:
					turn.Reward = bad
				case 1:
					turn.Value = bad
				case 2:
					turn.QValue = bad
				}
			}
		}
		last := &tr.Turns[len(tr.Turns)-1]
		last.End = rl.Terminated
		if rapid.Bool().Draw(t, "truncated") {
			last.End = rl.Truncated
		}
		tr.FinalState = key("final")
		if won && w.goal {
			tr.FinalState = "goal"
		}
		if won && !dense {
			last.Reward = 10
		}
		if verdicts {
			tr.Success = rapid.SampledFrom([]*bool{nil, new(won), new(true), new(false)}).Draw(t, "verdict")
		}
		if !w.noFinite || !literalOneIn(t, 12, "no final value") {
			tr.FinalValue = new(rapid.SampledFrom([]float64{0, 1, -1, 2.5, .3, 10, -7}).Draw(t, "final V"))
		}
		if w.odd && literalOneIn(t, 8, "excluded") {
			tr.Excluded = "by the test"
		}
	}
	return batch
}

// literalWorlds are the kinds of batch on which every estimator is compared.
var literalWorlds = []struct {
	name, reason string
	world        literalWorld
}{
	{"dense", "three states and eight rollouts: cycles, self loops, ties, shared edges",
		literalWorld{states: 3, longest: 5, most: 8, groups: 1, goal: true}},
	{"crowd", "shares with many denominators, several goals, siblings of all kinds",
		literalWorld{states: 5, longest: 6, least: 6, most: 14, groups: 1, goal: true}},
	{"tiny", "one or two states: nearly all turns share their source",
		literalWorld{states: 2, longest: 3, most: 5, groups: 2}},
	{"wide", "seven states: long distances, unreachable goals",
		literalWorld{states: 7, longest: 8, least: 2, most: 7, groups: 1, goal: true}},
	{"walk", "states in a row: potentials far from their source, many milestones and traps on one way",
		literalWorld{states: 16, longest: 14, least: 2, most: 6, groups: 1, goal: true, walk: true}},
	{"blank", "empty keys are nodes of their own",
		literalWorld{states: 3, longest: 5, most: 6, groups: 2, blank: true, goal: true}},
	{"odd", "turns and trajectories that do not vote, penalties, several groups",
		literalWorld{states: 3, longest: 5, most: 9, groups: 3, blank: true, goal: true, odd: true}},
	{"not finite", "numbers that are not finite, and missing final values",
		literalWorld{states: 3, longest: 4, most: 6, groups: 2, goal: true, odd: true, noFinite: true}},
}

// literalOnWorlds runs a property on every kind of batch, twice -rapid.checks each.
func literalOnWorlds(t *testing.T, property func(t *rapid.T, batch []rl.Trajectory)) {
	for _, w := range literalWorlds {
		if w.reason == "" {
			t.Fatalf("%s has no reason", w.name)
		}
		for range 2 {
			t.Run(w.name, rapid.MakeCheck(func(t *rapid.T) { property(t, literalBatchOf(t, w.world)) }))
		}
	}
}

func literalPointer(t *rapid.T, label string, values ...float64) *float64 {
	i := rapid.IntRange(0, len(values)).Draw(t, label)
	if i == 0 {
		return nil
	}
	return new(values[i-1])
}

func literalNormOf(t *rapid.T, whole bool) rl.Norm {
	stds := []rl.Std{rl.StdDefault, rl.StdSample, rl.StdPopulation, rl.StdNone}
	if whole {
		stds = append(stds, rl.StdOff)
	}
	return rl.Norm{
		Std:       rapid.SampledFrom(stds).Draw(t, "std"),
		Eps:       literalPointer(t, "eps", 1e-4, 1e-6, .3),
		EpsPlace:  rapid.SampledFrom([]rl.EpsPlace{rl.EpsDefault, rl.EpsAdded, rl.EpsInsideSqrt}).Draw(t, "eps place"),
		StdFloor:  literalPointer(t, "floor", 1e-8, 0, .0123, .4567),
		Singleton: rapid.SampledFrom([]rl.Singleton{rl.SingletonZero, rl.SingletonZero, rl.SingletonRaw, rl.SingletonError}).Draw(t, "singleton"),
	}
}

// literalErrors fails unless both sides failed or neither did, for the same kind of fault; it reports whether both failed.
func literalErrors(t *rapid.T, got, want error) bool {
	t.Helper()
	if (got == nil) != (want == nil) {
		t.Fatalf("error %v, literal error %v", got, want)
	}
	// Where several faults are in one batch either may be the first one found.
	return want != nil
}

// literalAgree fails unless the credit has the votes and advantages of the literal code, at turns and at trainable tokens.
func literalAgree(t *rapid.T, batch []rl.Trajectory, got *rl.Credit, advantage literalTable, votes [][]bool) {
	t.Helper()
	var row int
	var tokens []float64
	for i, tr := range batch {
		if (got.NoVote[i] == "") != slices.Contains(votes[i], true) {
			t.Fatalf("NoVote of trajectory %d is %q, literal votes %v", i, got.NoVote[i], votes[i])
		}
		for k, turn := range tr.Turns {
			if got.Vote[row] != votes[i][k] {
				t.Fatalf("vote of trajectory %d turn %d is %v, literal %v", i, k, got.Vote[row], votes[i][k])
			}
			if !literalNear(got.Advantage[row], advantage[i][k], 1e-9) {
				t.Fatalf("advantage of trajectory %d turn %d is %v, literal %v", i, k, got.Advantage[row], advantage[i][k])
			}
			for _, token := range turn.Tokens {
				if token.Trainable {
					tokens = append(tokens, advantage[i][k])
				}
			}
			row++
		}
	}
	if len(got.Advantage) != row || len(got.Vote) != row {
		t.Fatalf("%d advantages and %d votes for %d turns", len(got.Advantage), len(got.Vote), row)
	}
	broadcast := got.TokenAdvantages(nil, batch)
	if len(broadcast) != len(tokens) {
		t.Fatalf("%d token advantages for %d trainable tokens", len(broadcast), len(tokens))
	}
	for j := range tokens {
		if !literalNear(broadcast[j], tokens[j], 1e-9) {
			t.Fatalf("advantage of token %d is %v, literal %v", j, broadcast[j], tokens[j])
		}
	}
}

// literalTargets compares targets where the value masks are set: at turns that are not excluded.
func literalTargets(t *rapid.T, name string, batch []rl.Trajectory, out []bool, got []float64, want literalTable) {
	t.Helper()
	var row int
	for i, tr := range batch {
		for k, turn := range tr.Turns {
			if !out[i] && !turn.Excluded && !literalNear(got[row], want[i][k], 1e-9) {
				t.Fatalf("%s of trajectory %d turn %d is %v, literal %v", name, i, k, got[row], want[i][k])
			}
			row++
		}
	}
}

// rl.Norm is literalNorm.
func TestLiteralNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, -1, .5, 10, .1, .3, 1e-9, 1e6}), 0, 8).Draw(t, "x")
		n := literalNormOf(t, true)
		if n.Std == rl.StdDefault {
			n.Std = rl.StdSample
		}
		if n.Eps == nil {
			n.Eps = new(1e-6)
		}
		want, wantErr := literalNorm(x, literalRule(n, rl.StdSample, 1e-6))
		got := append([]float64(nil), x...)
		_, err := n.Apply(got)
		if literalErrors(t, err, wantErr) {
			return
		}
		for i := range x {
			if !literalNear(got[i], want[i], 1e-9) {
				t.Fatalf("Apply(%v)[%d] = %v, literal %v", x, i, got[i], want[i])
			}
		}
	})
}

func literalTurnOptions(t *rapid.T) *rl.TurnGAEOptions {
	if literalOneIn(t, 4, "default options") {
		return nil
	}
	return &rl.TurnGAEOptions{
		Gamma:          literalPointer(t, "gamma", 0, 1, .9),
		Lambda:         literalPointer(t, "lambda", 0, 1, .9),
		InvalidPenalty: literalPointer(t, "penalty", 0, .5),
		Truncation: rapid.SampledFrom([]rl.Truncation{rl.TruncationDefault, rl.TruncationBootstrap, rl.TruncationTerminal,
			rl.TruncationDrop}).Draw(t, "truncation"),
		Norm:             literalNormOf(t, true),
		ExcludeNonFinite: rapid.Bool().Draw(t, "exclude"),
	}
}

func literalOptions[O any](o *O) (zero O) {
	if o == nil {
		return zero
	}
	return *o
}

// rl.TurnGAE and rl.SAPO are literalSAPO with their own truncation.
func TestLiteralSAPO(t *testing.T) {
	var dst *rl.Credit // of another batch, to be written over
	literalOnWorlds(t, func(t *rapid.T, batch []rl.Trajectory) {
		o := literalTurnOptions(t)
		for _, c := range []struct {
			estimate func(*rl.Credit, []rl.Trajectory, *rl.TurnGAEOptions) (*rl.Credit, error)
			def      rl.Truncation
			q        bool
		}{{rl.TurnGAE, rl.TruncationBootstrap, false}, {rl.SAPO, rl.TruncationTerminal, true}} {
			want, wantErr := literalSAPO(batch, literalOptions(o), c.def, c.q)
			for _, reused := range []*rl.Credit{nil, dst} {
				got, err := c.estimate(reused, batch, o)
				if literalErrors(t, err, wantErr) {
					continue
				}
				literalAgree(t, batch, got, want.advantage, want.votes)
				literalTargets(t, "y^V", batch, want.out, got.ValueTarget, want.yV)
				if c.q {
					literalTargets(t, "y^Q", batch, want.out, got.QTarget, want.yQ)
				}
				dst = got
			}
		}
	})
}
