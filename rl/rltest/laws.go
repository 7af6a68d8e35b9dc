// Package rltest checks whether an estimator of credit keeps the rules of [rl.Estimator], and whether a gradient is that of
// its function, for estimators and losses of one's own. A test of an estimator calls [Run]; [Laws] has the laws one by one, for
// programs that want to check more batches; [RandomBatch] draws the batches; [Gradient] compares with finite differences.
//
// # Laws of every estimator
//
//	shape            a valid batch gives a credit of its shape, optional slices being nil or complete
//	finite           numbers are finite, also where all rewards are equal, or of magnitude 1e100 or 1e-100
//	input            the batch is not changed
//	deterministic    a second call gives the same bits
//	reuse            a dst from a larger, a smaller or a failed batch, or full of other numbers, makes no difference
//	own memory       a result stays as it is when e is called again with another dst
//	concurrent       calls at the same time with different dst do not disturb each other
//	vote             who can vote does: turns with a trainable token of a trajectory that has no reason in NoVote
//	zero             turns without a vote have advantage 0, and trajectories that are excluded have targets 0
//	token mean       where tokens have advantages, that of a turn is their mean
//	non-voters       whatever is in trajectories without a vote, or if they are missing: no other advantage changes
//	masked tokens    masked tokens with any contents, anywhere, change nothing
//	order            the order of trajectories changes nothing but rounding
//	final value      FinalValue is not read after a termination
//	non-finite       a reward that is not finite gives an error around rl.ErrNonFinite, or takes the vote if so promised
//	open             a trajectory without turns or with an end in the wrong place gives an error
//	no voter         an empty batch, or one in which all is excluded, gives an empty or zero credit and no error
//
// The others hold for some estimators only: see [Promises].
//
// Numbers must agree within 1e-12 of the largest number in the credit, or of 1. Laws look at random batches: passing proves
// nothing about others. Where an estimator gives an error for a valid batch, or a credit of the wrong shape, only the law
// "shape" reports it. Each law takes O(tokens) time and a few calls of the estimator.
package rltest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/rl"
)

// Promises are what an estimator promises beyond the laws that hold for every one. The zero value promises nothing.
type Promises struct {
	// TurnLevel: the tokens of a turn share one advantage, whatever their number: repeating trainable tokens changes no
	// advantage and no target of a turn. Law "repeated tokens".
	TurnLevel bool
	// ShiftFree: a constant added to the scores of all trajectories of one group, through their last rewards, changes no
	// advantage by more than 1e-9 of the largest. Success is set before, so that no verdict depends on it. Law "shifted scores".
	ShiftFree bool
	// Renamable: IDs and the keys of groups, tasks, splits and states are but names, and others in their place change
	// nothing; the empty state stays. Law "names".
	Renamable bool
	// ApartByGroup: no trajectory has an influence on those of other groups. Law "other groups".
	ApartByGroup bool
	// Apart: no trajectory has an influence on any other. Law "other trajectories".
	Apart bool
	// SingletonZero: the only voter of a group, if it visits no state twice, has advantage 0. Law "group of one".
	SingletonZero bool
	// Centred says which advantages have mean 0. Law "centred".
	Centred Rows
	// ExcludesNonFinite: a trajectory with a reward that is not finite has no vote, as if it were excluded, and there is
	// no error. It changes the law "non-finite".
	ExcludesNonFinite bool

	// RandomBatch draws the batches, for an estimator that needs special ones; each must be valid, and a new copy. nil means
	// [RandomBatch].
	Batch func(rng *rand.Rand) []rl.Trajectory
}

// Rows says what the numbers are that an estimator centres together. Sets of one number are not looked at.
type Rows uint8

// The rows. A trajectory counts with the mean over its voting turns.
const (
	NoRows            Rows = iota
	GroupTrajectories      // the voters of each group
	GroupTurns             // the voting turns of each group
	BatchTrajectories      // the voters of the batch
	BatchTurns             // the voting turns of the batch
	BatchTokens            // the trainable tokens of voting turns of the batch
)

// A Law is one rule of estimators.
type Law struct {
	Name string
	// Check draws a batch and returns an error that names trajectory, turn and numbers if e breaks the law there, or nil, also
	// where the batch cannot tell. The same state of rng gives the same batch; nil means rand.New(rand.NewPCG(1, 2)), made
	// anew for each call. It is safe for concurrent use with different generators.
	Check func(e rl.Estimator, rng *rand.Rand) error
}

// Laws returns the laws of every estimator and those of p, in the order in which [Run] checks them.
func Laws(p Promises) []Law {
	var laws []Law
	add := func(holds bool, name string, check func(x *trial) error) {
		if holds {
			laws = append(laws, Law{name, func(e rl.Estimator, rng *rand.Rand) error {
				return check(newTrial(p, e, rng))
			}})
		}
	}
	add(true, "shape", shape)
	add(true, "finite", finite)
	add(true, "input", input)
	add(true, "deterministic", deterministic)
	add(true, "reuse", reuse)
	add(true, "own memory", ownMemory)
	add(true, "concurrent", concurrent)
	add(true, "vote", vote)
	add(true, "zero", zero)
	add(true, "token mean", tokenMean)
	add(true, "non-voters", nonVoters)
	add(true, "masked tokens", maskedTokens)
	add(true, "order", order)
	add(true, "final value", finalValue)
	if p.ExcludesNonFinite {
		add(true, "non-finite", nonFiniteExcluded)
	} else {
		add(true, "non-finite", nonFinite)
	}
	add(true, "open", open)
	add(true, "no voter", noVoter)
	add(p.TurnLevel, "repeated tokens", repeatedTokens)
	add(p.ShiftFree, "shifted scores", shiftedScores)
	add(p.Renamable, "names", names)
	add(p.ApartByGroup, "other groups", func(x *trial) error { return x.more("trajectories of other groups", "another ") })
	add(p.Apart, "other trajectories", func(x *trial) error { return x.more("other trajectories", "") })
	add(p.SingletonZero, "group of one", groupOfOne)
	add(p.Centred != NoRows, "centred", func(x *trial) error { return centred(x, p.Centred) })
	return laws
}

// Run checks each law in a subtest of its own, with 200 batches from a fixed seed, and reports the first batch that breaks
// it. The law "concurrent" finds more with the race detector.
func Run(t *testing.T, e rl.Estimator, p Promises) {
	t.Helper()
	for _, law := range Laws(p) {
		t.Run(law.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for n := range 200 {
				if err := law.Check(e, rng); err != nil {
					t.Fatalf("batch %d: %v", n, err)
				}
			}
		})
	}
}

// A trial is one batch for one law.
type trial struct {
	e     rl.Estimator
	d     draw
	draw  func(rng *rand.Rand) []rl.Trajectory
	batch []rl.Trajectory
}

func newTrial(p Promises, e rl.Estimator, rng *rand.Rand) *trial {
	rng = seeded(rng)
	x := &trial{e, draw{rng, false}, p.Batch, nil}
	if x.draw == nil {
		x.draw = RandomBatch
	}
	x.batch = x.draw(rng)
	return x
}

// first returns the credit of the batch, in memory of its own, or nil: then it is the law "shape" that is broken.
func (x *trial) first() *view {
	v, err := estimate(x.e, nil, x.batch)
	if err != nil || len(x.batch) == 0 { // laws change something of a batch
		return nil
	}
	return v.snapshot()
}

// then returns an error unless batch, made from the first one by what is said, has the credit that trajectories had
// there. from has the former position of each, or -1 for those that are not compared; nil means that none moved.
func (x *trial) then(v *view, batch []rl.Trajectory, from []int, which parts, relative float64, said string) error {
	w, err := estimate(x.e, nil, batch)
	for j := 0; err == nil && j < len(batch); j++ {
		i := j
		if from != nil {
			i = from[j]
		}
		if i >= 0 {
			err = v.compare(i, w, j, which, relative)
		}
	}
	if err == nil && which&counts != 0 {
		err = v.compareCounts(w)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", said, err)
	}
	return nil
}

func shape(x *trial) error {
	_, err := estimate(x.e, nil, x.batch)
	return err
}

// finite looks at all kinds of numbers, and at rewards that do not differ, where a deviation is 0.
func finite(x *trial) error {
	factor := [...]float64{1, 1, 1e100, 1e-100}[x.d.IntN(4)]
	level := x.d.oneIn(3)
	for i := range x.batch {
		t := &x.batch[i]
		for k := range t.Turns {
			u := &t.Turns[k]
			if level {
				u.Reward, u.Value, u.QValue, u.Invalid = 0, 0, 0, false
			}
			u.Reward *= factor
			u.Value *= factor
			u.QValue *= factor
			for j := range u.Tokens {
				u.Tokens[j].Value *= factor
			}
		}
		if level && len(t.Turns) > 0 {
			t.Turns[len(t.Turns)-1].Reward = factor
		}
		if t.FinalValue != nil {
			*t.FinalValue *= factor
		}
	}
	v := x.first()
	if v == nil {
		return nil
	}
	for _, s := range numbers(v.c) {
		for n, a := range s.of {
			if a-a != 0 {
				return fmt.Errorf("%s[%d] is %v for rewards and values of magnitude %v", s.field, n, a, factor)
			}
		}
	}
	return nil
}

func input(x *trial) error {
	before := clone(x.batch)
	if _, err := x.e(nil, x.batch); err != nil {
		return nil
	}
	if err := unchanged(x.batch, before); err != nil {
		return fmt.Errorf("the call changed its input: %w", err)
	}
	return nil
}

func deterministic(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	w, err := estimate(x.e, nil, x.batch)
	if err == nil {
		err = identical(v.c, w.c)
	}
	if err != nil {
		return fmt.Errorf("a second call for the same batch: %w", err)
	}
	return nil
}

// reuse compares with a result in new memory.
func reuse(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	larger := append(clone(x.batch), x.draw(x.d.Rand)...)
	dst, err := x.e(nil, larger)
	if err != nil || dst == nil {
		return nil // the batch may not be one for this estimator
	}
	smaller := x.batch[:1]
	failing := clone(larger)
	for i := range failing {
		if t := &failing[i]; t.Excluded == "" && i >= len(failing)/2 {
			t.Turns = nil
		}
	}
	other := &rl.Credit{Groups: 7, ZeroVariance: 7, Singletons: 7}
	for range len(v.c.Advantage) + 3 {
		other.Start, other.Vote = append(other.Start, 7), append(other.Vote, true)
		other.NoVote, other.Flat = append(other.NoVote, "another"), append(other.Flat, true)
		for _, s := range [...]*[]float64{&other.Advantage, &other.ValueTarget, &other.QTarget, &other.TokenAdvantage, &other.TokenTarget} {
			*s = append(*s, 7)
		}
	}
	for _, before := range [...]struct {
		said  string
		dst   *rl.Credit
		batch []rl.Trajectory
	}{
		{"a larger batch", dst, nil},
		{"a smaller batch", dst, smaller},
		{"a batch with an error", dst, failing},
		{"another estimator", other, nil},
	} {
		if before.batch != nil {
			x.e(before.dst, clone(before.batch)) // what comes of it is of no interest
		}
		w, err := estimate(x.e, before.dst, x.batch)
		for i := 0; err == nil && i < len(x.batch); i++ {
			if err = v.compare(i, w, i, everything, rounding); err == nil && (v.c.Flat == nil) != (w.c.Flat == nil) {
				err = fmt.Errorf("slice Flat is nil: %v, and then %v", v.c.Flat == nil, w.c.Flat == nil)
			}
		}
		if err == nil {
			err = v.compareCounts(w)
		}
		if err != nil {
			return fmt.Errorf("with a dst used before for %s: %w", before.said, err)
		}
	}
	return nil
}

func ownMemory(x *trial) error {
	c, err := x.e(nil, clone(x.batch))
	if err != nil {
		return nil
	}
	v, err := look(c, x.batch)
	if err != nil {
		return nil
	}
	v = v.snapshot()
	x.e(nil, x.draw(x.d.Rand))
	if err := identical(v.c, c); err != nil {
		return fmt.Errorf("after another call, whose dst was nil too, the first result is another: %w", err)
	}
	return nil
}

// concurrent lets two goroutines share a batch, and a third one use another.
func concurrent(x *trial) error {
	const goroutines = 3
	other := x.draw(x.d.Rand)
	batches := [goroutines][]rl.Trajectory{x.batch, x.batch, other}
	v := x.first()
	w, err := estimate(x.e, nil, other)
	if v == nil || err != nil {
		return nil
	}
	views := [goroutines]*view{v, v, w.snapshot()}
	x.e(nil, x.batch) // an estimator that changes its input has done so by now
	x.e(nil, other)
	var faults [goroutines]error
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			<-begin
			batch := batches[g]
			for range 2 {
				c, err := x.e(new(rl.Credit), batch)
				var now *view
				if err == nil {
					now, err = look(c, batch)
				}
				for i := 0; err == nil && i < len(batch); i++ {
					err = views[g].compare(i, now, i, everything, rounding)
				}
				if err != nil {
					faults[g] = fmt.Errorf("while other goroutines call, too: %w", err)
					return
				}
			}
		})
	}
	close(begin)
	wg.Wait()
	return errors.Join(faults[:]...)
}

func vote(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	for i := range x.batch {
		t := &x.batch[i]
		reason := v.c.NoVote[i]
		if reason == "" && !voter(t) {
			return fmt.Errorf("trajectory %d has no turn that can vote, but NoVote gives no reason", i)
		}
		for k := range t.Turns {
			got, want := v.c.Vote[v.c.Start[i]+k], reason == "" && votes(t, &t.Turns[k])
			if got != want {
				return fmt.Errorf("turn %d of trajectory %d has Vote %v, want %v, with NoVote %q", k, i, got, want, reason)
			}
		}
	}
	return nil
}

func zero(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	for i := range x.batch {
		t := &x.batch[i]
		for k := range t.Turns {
			at := v.c.Start[i] + k
			if votes(t, &t.Turns[k]) && v.c.NoVote[i] == "" {
				continue
			}
			if a := v.c.Advantage[at]; a != 0 {
				return fmt.Errorf("turn %d of trajectory %d cannot vote and has advantage %v, want 0", k, i, a)
			}
			if v.c.TokenAdvantage != nil {
				for _, a := range v.c.TokenAdvantage[v.first[at]:v.first[at+1]] {
					if a != 0 {
						return fmt.Errorf("turn %d of trajectory %d cannot vote and has a token with advantage %v, want 0", k, i, a)
					}
				}
			}
			if t.Excluded == "" {
				continue
			}
			if got := v.c.NoVote[i]; got != t.Excluded {
				return fmt.Errorf("trajectory %d is excluded by %q and has NoVote %q", i, t.Excluded, got)
			}
			if v.c.TokenTarget != nil {
				for _, x := range v.c.TokenTarget[v.first[at]:v.first[at+1]] {
					if x != 0 {
						return fmt.Errorf("turn %d of trajectory %d, which is excluded, has a token with target %v, want 0", k, i, x)
					}
				}
			}
			for _, s := range numbers(v.c) {
				if s.part == targets && s.of != nil && s.of[at] != 0 {
					return fmt.Errorf("turn %d of trajectory %d, which is excluded, has %s %v, want 0", k, i, s.field, s.of[at])
				}
			}
		}
	}
	return nil
}

func tokenMean(x *trial) error {
	v := x.first()
	if v == nil || v.c.TokenAdvantage == nil {
		return nil
	}
	for i := range x.batch {
		for k := range x.batch[i].Turns {
			at := v.c.Start[i] + k
			of := v.c.TokenAdvantage[v.first[at]:v.first[at+1]]
			if !v.c.Vote[at] || len(of) == 0 {
				continue
			}
			if got, want := v.c.Advantage[at], mean(of); !same(got, want, rounding*v.scale) {
				return fmt.Errorf("turn %d of trajectory %d has advantage %v, want %v, the mean over its tokens", k, i, got, want)
			}
		}
	}
	return nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, a := range x {
		sum += a
	}
	return sum / float64(len(x))
}

// nonVoters puts other contents into trajectories without a vote, or takes them out.
func nonVoters(x *trial) error {
	if i := x.d.IntN(len(x.batch) + 1); i < len(x.batch) { // or else there may be none
		x.batch[i].Excluded = "to have one"
	}
	v := x.first()
	if v == nil {
		return nil
	}
	fresh := x.draw(x.d.Rand)
	var batch []rl.Trajectory
	var from []int
	for i, t := range clone(x.batch) {
		switch {
		case voter(&t):
			from = append(from, i)
		case x.d.oneIn(4):
			continue
		case t.Excluded != "":
			t = x.nonsense(fresh)
			from = append(from, -1)
		default:
			x.rewrite(&t)
			from = append(from, -1)
		}
		batch = append(batch, t)
	}
	if len(batch) == 0 {
		return nil // see noVoter
	}
	return x.then(v, batch, from, everything, rounding, "after a change of trajectories without a vote")
}

// nonsense returns an excluded trajectory that nobody may read, like one of fresh or empty.
func (x *trial) nonsense(fresh []rl.Trajectory) rl.Trajectory {
	t := clone(fresh[x.d.IntN(len(fresh)):][:1])[0]
	t.Excluded = "nonsense"
	t.Group = x.batch[x.d.IntN(len(x.batch))].Group
	if x.d.oneIn(4) {
		t.Turns = nil
	}
	for k := range t.Turns {
		u := &t.Turns[k]
		u.Reward, u.Value, u.QValue, u.End = x.d.junk(), x.d.junk(), x.d.junk(), rl.End(x.d.IntN(5))
		for j := range u.Tokens {
			u.Tokens[j].LogProb, u.Tokens[j].Value = x.d.junk(), x.d.junk()
		}
	}
	return t
}

// rewrite gives other valid contents to a trajectory of which no token is trained on.
func (x *trial) rewrite(t *rl.Trajectory) {
	t.Group, t.FinalState = x.batch[x.d.IntN(len(x.batch))].Group, x.d.of(states)
	t.Success = new(x.d.oneIn(2))
	t.FinalValue = new(10 * x.d.number())
	for k := range t.Turns {
		u := &t.Turns[k]
		u.State, u.Invalid = x.d.of(states), x.d.oneIn(2)
		u.Reward, u.Value, u.QValue = 10*x.d.number(), 10*x.d.number(), 10*x.d.number()
		for j := range u.Tokens {
			u.Tokens[j].LogProb, u.Tokens[j].RefLogProb, u.Tokens[j].Value = -x.d.Float64(), -x.d.Float64(), 10*x.d.number()
		}
	}
}

func maskedTokens(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	batch := clone(x.batch)
	for i := range batch {
		for k := range batch[i].Turns {
			u := &batch[i].Turns[k]
			var with []rl.Token
			for j := range len(u.Tokens) + 1 {
				for x.d.oneIn(3) {
					with = append(with, rl.Token{ID: -x.d.IntN(9), LogProb: x.d.junk(), RefLogProb: x.d.junk(), Value: x.d.junk()})
				}
				if j == len(u.Tokens) {
					break
				}
				token := u.Tokens[j]
				if !token.Trainable || u.Excluded {
					token.LogProb, token.RefLogProb, token.Value = x.d.junk(), x.d.junk(), x.d.junk()
				}
				with = append(with, token)
			}
			u.Tokens = with
		}
	}
	return x.then(v, batch, nil, everything, rounding, "with more masked tokens, and other contents in them")
}

func order(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	from := x.d.Perm(len(x.batch))
	batch := make([]rl.Trajectory, len(from))
	for j, i := range from {
		batch[j] = x.batch[i]
	}
	return x.then(v, batch, from, everything, rounding, fmt.Sprintf("with the trajectories in the order %v", from))
}

func finalValue(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	batch := clone(x.batch)
	for i := range batch {
		t := &batch[i]
		if n := len(t.Turns); n == 0 || t.Turns[n-1].End != rl.Terminated {
			continue
		}
		t.FinalValue = nil
		if !x.d.oneIn(3) {
			t.FinalValue = new(x.d.junk())
		}
	}
	return x.then(v, batch, nil, everything, rounding, "with other final values after terminations")
}

// spoil puts a reward that is not finite into one turn that has a vote, and returns where; -1 if none has a vote.
func (x *trial) spoil(v *view, batch []rl.Trajectory) (i, k int) {
	i = pick(x.d.Rand, batch, func(t *rl.Trajectory) bool { return voter(t) })
	if i < 0 || v.c.NoVote[i] != "" {
		return -1, -1
	}
	t := &batch[i]
	for k = x.d.IntN(len(t.Turns)); !votes(t, &t.Turns[k]); k = (k + 1) % len(t.Turns) {
	}
	t.Turns[k].Reward = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[x.d.IntN(3)]
	return i, k
}

func nonFinite(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	batch := clone(x.batch)
	i, k := x.spoil(v, batch)
	if i < 0 {
		return nil
	}
	reward := batch[i].Turns[k].Reward
	switch _, err := x.e(nil, batch); {
	case err == nil:
		return fmt.Errorf("turn %d of trajectory %d has reward %v, but there is no error", k, i, reward)
	case !errors.Is(err, rl.ErrNonFinite):
		return fmt.Errorf("turn %d of trajectory %d has reward %v, and the error is not around rl.ErrNonFinite: %w", k, i, reward, err)
	}
	return nil
}

func nonFiniteExcluded(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	batch := clone(x.batch)
	i, k := x.spoil(v, batch)
	if i < 0 {
		return nil
	}
	said := fmt.Sprintf("turn %d of trajectory %d has reward %v", k, i, batch[i].Turns[k].Reward)
	x.batch[i].Excluded = "in the law's own copy"
	v = x.first()
	if v == nil {
		return nil
	}
	return x.then(v, batch, nil, everything, rounding, said+", and is compared with a batch in which it is excluded")
}

func open(x *trial) error {
	if x.first() == nil {
		return nil
	}
	batch := clone(x.batch)
	i := pick(x.d.Rand, batch, voter)
	if i < 0 {
		return nil
	}
	t := &batch[i]
	last := len(t.Turns) - 1
	said, want := "", rl.ErrOpenTrajectory
	switch n := x.d.IntN(4); {
	case n == 0:
		t.Turns, said, want = nil, "has no turns", nil
	case n == 1:
		t.Turns[last].End, said, want = rl.End(3), "has an end without a name", nil
	case n == 2 && last > 0:
		t.Turns[x.d.IntN(last)].End, said = rl.Terminated, "ends before its last turn"
	default:
		t.Turns[last].End, said = rl.Continue, "does not end"
	}
	switch _, err := x.e(nil, batch); {
	case err == nil:
		return fmt.Errorf("trajectory %d %s, but there is no error", i, said)
	case want != nil && !errors.Is(err, want):
		return fmt.Errorf("trajectory %d %s, and the error is not around rl.ErrOpenTrajectory: %w", i, said, err)
	}
	return nil
}

func noVoter(x *trial) error {
	excluded := clone(x.batch)
	for i := range excluded {
		excluded[i] = x.nonsense(x.batch)
	}
	for _, s := range [...]struct {
		said  string
		batch []rl.Trajectory
	}{
		{"a nil batch", nil},
		{"an empty batch", []rl.Trajectory{}},
		{"a batch in which all is excluded", excluded},
	} {
		c, err := x.e(nil, s.batch)
		if err != nil {
			return fmt.Errorf("%s gives an error: %w", s.said, err)
		}
		v, err := look(c, s.batch)
		if err != nil {
			return fmt.Errorf("%s: %w", s.said, err)
		}
		for k, a := range v.c.Advantage {
			if a != 0 {
				return fmt.Errorf("%s gives Advantage[%d] %v, want 0", s.said, k, a)
			}
		}
	}
	return nil
}

func repeatedTokens(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	batch := clone(x.batch)
	for i := range batch {
		for k := range batch[i].Turns {
			u := &batch[i].Turns[k]
			var with []rl.Token
			for _, token := range u.Tokens {
				with = append(with, token)
				for token.Trainable && x.d.oneIn(2) {
					with = append(with, token)
				}
			}
			u.Tokens = with
		}
	}
	const said = "with trainable tokens repeated"
	if err := x.then(v, batch, nil, advantages|targets|counts, rounding, said); err != nil || v.c.TokenAdvantage == nil {
		return err
	}
	w, err := estimate(x.e, nil, batch)
	if err != nil {
		return fmt.Errorf("%s: %w", said, err)
	}
	for k, want := range w.c.Advantage {
		for _, got := range w.c.TokenAdvantage[w.first[k]:w.first[k+1]] {
			if !same(got, want, rounding*w.scale) {
				return fmt.Errorf("a token of turn %d of the batch has advantage %v, want %v, that of the turn", k, got, want)
			}
		}
	}
	return nil
}

// shiftedScores rounds rewards first: where scores differ by next to nothing, an estimator may take them for equal beside a
// large number.
func shiftedScores(x *trial) error {
	for i := range x.batch {
		t := &x.batch[i]
		for k := range t.Turns {
			t.Turns[k].Reward = math.Round(64*t.Turns[k].Reward) / 64
		}
		if t.Success == nil {
			t.Success = new(t.Score() > 0)
		}
	}
	v := x.first()
	i := pick(x.d.Rand, x.batch, voter)
	if v == nil || i < 0 {
		return nil
	}
	batch := clone(x.batch)
	by := float64(x.d.IntN(2001) - 1000)
	for j := range batch {
		if t := &batch[j]; t.Group == batch[i].Group && len(t.Turns) > 0 {
			t.Turns[len(t.Turns)-1].Reward += by
		}
	}
	return x.then(v, batch, nil, advantages|tokens, shiftedBy, fmt.Sprintf("with %v added to all scores of group %q", by, batch[i].Group))
}

func names(x *trial) error {
	v := x.first()
	if v == nil {
		return nil
	}
	renamed := make(map[string]string)
	rename := func(kind, name string) string {
		key := kind + name
		if _, ok := renamed[key]; !ok {
			renamed[key] = strconv.FormatUint(x.d.Uint64(), 36)
		}
		return renamed[key]
	}
	state := func(name string) string {
		if name == "" {
			return ""
		}
		return rename("state ", name)
	}
	batch := clone(x.batch)
	for i := range batch {
		t := &batch[i]
		t.ID, t.Group, t.Task, t.Split = rename("id ", t.ID), rename("group ", t.Group), rename("task ", t.Task), rename("split ", t.Split)
		t.FinalState = state(t.FinalState)
		for k := range t.Turns {
			t.Turns[k].State = state(t.Turns[k].State)
		}
	}
	return x.then(v, batch, nil, everything, rounding, "with other IDs, groups, tasks, splits and states")
}

// more puts other trajectories in between, their groups renamed by a prefix.
func (x *trial) more(said, prefix string) error {
	v := x.first()
	if v == nil {
		return nil
	}
	others := x.draw(x.d.Rand)
	if _, err := estimate(x.e, nil, others); err != nil {
		return nil
	}
	var batch []rl.Trajectory
	var from []int
	for i, j := 0, 0; i < len(x.batch) || j < len(others); {
		if j == len(others) || i < len(x.batch) && x.d.oneIn(2) {
			batch, from = append(batch, x.batch[i]), append(from, i)
			i++
			continue
		}
		others[j].Group = prefix + others[j].Group
		batch, from = append(batch, others[j]), append(from, -1)
		j++
	}
	return x.then(v, batch, from, everything&^counts, rounding, "with "+said+" in between")
}

func groupOfOne(x *trial) error {
	i := pick(x.d.Rand, x.batch, voter)
	if i < 0 {
		return nil
	}
	t := &x.batch[i]
	t.Group, t.FinalState = "a group of its own", "a state of its own"
	for k := range t.Turns {
		t.Turns[k].State = "its own state " + strconv.Itoa(k)
	}
	v := x.first()
	if v == nil {
		return nil
	}
	from, to := v.c.Start[i], v.c.Start[i+1]
	for k, a := range v.c.Advantage[from:to] {
		if !same(a, 0, rounding) {
			return fmt.Errorf("trajectory %d is the only one of its group, and its turn %d has advantage %v, want 0", i, k, a)
		}
	}
	if v.c.TokenAdvantage != nil {
		for _, a := range v.c.TokenAdvantage[v.first[from]:v.first[to]] {
			if !same(a, 0, rounding) {
				return fmt.Errorf("trajectory %d is the only one of its group, and one of its tokens has advantage %v, want 0", i, a)
			}
		}
	}
	return nil
}

func centred(x *trial, rows Rows) error {
	v := x.first()
	if v == nil {
		return nil
	}
	var keys []string
	sets := make(map[string][]float64)
	add := func(key string, a ...float64) {
		if _, ok := sets[key]; !ok {
			keys = append(keys, key)
		}
		sets[key] = append(sets[key], a...)
	}
	perToken := v.c.TokenAdvantages(nil, x.batch)
	next := 0 // among the tokens
	for i := range x.batch {
		t := &x.batch[i]
		key := ""
		if rows == GroupTrajectories || rows == GroupTurns {
			key = t.Group
		}
		var turns []float64
		for k := range t.Turns {
			from := next
			for _, token := range t.Turns[k].Tokens {
				if token.Trainable {
					next++
				}
			}
			if at := v.c.Start[i] + k; v.c.Vote[at] {
				turns = append(turns, v.c.Advantage[at])
				if rows == BatchTokens {
					add(key, perToken[from:next]...)
				}
			}
		}
		switch {
		case len(turns) == 0 || rows == BatchTokens:
		case rows == GroupTrajectories || rows == BatchTrajectories:
			add(key, mean(turns))
		default:
			add(key, turns...)
		}
	}
	for _, key := range keys {
		of := sets[key]
		if m := mean(of); len(of) > 1 && !same(m, 0, shiftedBy*v.scale) && m-m == 0 {
			where := "the batch"
			if rows == GroupTrajectories || rows == GroupTurns {
				where = fmt.Sprintf("group %q", key)
			}
			return fmt.Errorf("the mean of %d advantages in %s is %v, want 0", len(of), where, m)
		}
	}
	return nil
}
