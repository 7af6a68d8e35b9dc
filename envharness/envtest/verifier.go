package envtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/stat"
)

// A Verifier says which verifier to check, on which world, and what it does not promise. Only World is needed.
type Verifier struct {
	// World is the verifier with the environments whose episodes it judges.
	World envharness.World
	// Tasks are the tasks to play, the first three of them; each must have a solution. A task without a seed is played with seed 1 and
	// others. None means the default task.
	Tasks []envharness.Task
	// Actions makes the actions of random episodes; nil as described at [Source].
	Actions Source
	// Plan solves a task from its start with the seed; nil means the environment's [envharness.Oracle], and without that the rules that need
	// a solution are skipped.
	Plan func(ctx context.Context, t envharness.Task, seed uint64) ([]envharness.Action, error)
	// Chance is the share, in [0, 1], of episodes that a policy may pass which takes no notice of what it is shown. 0 means the Chance
	// of the [envharness.Description], and none where the environment is no [envharness.Describer]. With a chance above 0 rule V03 is
	// broken where the lower end of the Wilson interval at level 0.95 is above it.
	Chance float64
	// Threshold is the least score of a pass; 0 means 1. A pass with the score 0 counts as one with 1, as in the harness.
	Threshold float64
	// Independent reports whether two actions of a solution, that follow one another, could change places; nil skips rule V09.
	Independent func(first, second envharness.Action) bool
	// Episodes is the number of episodes of each task that a policy without skill plays, each with a seed of its own; 0 means 20.
	Episodes int
}

// Check returns a joined error with the first [Violation] of each broken rule V01 to V11, in order, or nil. If the context ends, its
// cause is joined last. A world that cannot be played counts as a violation of V01. If no actions can be made, an error that is no
// Violation is all that is returned.
func (v Verifier) Check(ctx context.Context) error {
	if err := v.playable(ctx); err != nil {
		return err
	}
	return checkAll(ctx, v, verifierTable())
}

// Run checks each rule in a subtest of its own, named by its id.
func (v Verifier) Run(t *testing.T) {
	t.Helper()
	if err := v.playable(t.Context()); err != nil {
		t.Fatal(err)
	}
	runAll(t, v, verifierTable())
}

func (v Verifier) playable(ctx context.Context) error {
	if v.Actions != nil {
		return nil
	}
	return playableWorld(ctx, v.World, v.tasks())
}

func verifierRules() []Rule { return listed(verifierTable()) }

func verifierTable() []rule[Verifier] {
	return []rule[Verifier]{
		{"V01", "the same evidence gives the same verdict, also at the same time", sameAgain},
		{"V02", "the oracle's plan passes, and none of its actions is refused", oraclePasses},
		{"V03", "policies without skill fail: refused actions, a submit at once, the first action again and again, random ones", skilllessFail},
		{"V04", "the start of an episode fails", startFails},
		{"V05", "what was shown, and the reward where there is a state, have no say", textHasNoSay},
		{"V06", "evidence that cannot be judged is an error or invalid, and no failure", unjudgeable},
		{"V07", "scores are in [0, 1], that of a pass is 1 (0 stands for it) or above the threshold, and that of an invalid episode 0",
			scoresInRange},
		{"V08", "the replay of an episode gets the verdict of the episode", replayAgrees},
		{"V09", "the order of actions declared independent has no say", orderHasNoSay},
		{"V10", "an episode under way fails", runningFails},
		{"V11", "neither the evidence nor the world is changed", nothingChanged},
	}
}

func (v Verifier) tasks() []envharness.Task {
	if len(v.Tasks) == 0 {
		return []envharness.Task{{}}
	}
	return v.Tasks[:min(len(v.Tasks), 3)]
}

func (v Verifier) episodes() int {
	if v.Episodes > 0 {
		return v.Episodes
	}
	return 20
}

// verify asks the verifier itself, without the harness, which would correct it. As in the harness, a panic is an error, and a
// pass without a score scores 1.
func (v Verifier) verify(ctx context.Context, e envharness.Evidence) (verdict envharness.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	verdict, err = v.World.Verifier.Verify(ctx, e)
	if verdict.Status == envharness.Pass && verdict.Score == 0 {
		verdict.Score = 1
	}
	return verdict, err
}

// A player makes the next action of an episode, or reports that it has no more.
type player func(u envharness.Turn) (envharness.Action, bool)

// longest bounds an episode of a world without a limit.
const longest = 100

// play plays a task inside a harness without components until the player stops or the episode ends, and passes the harness to f.
func (v Verifier) play(ctx context.Context, t envharness.Task, n uint64, p player, f func(h *envharness.Harness) error) (err error) {
	h, err := envharness.New(v.World)
	if err != nil {
		return blame("V01", "the world: %w", err)
	}
	defer func() {
		if cerr := h.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("close: %w", cerr)
		}
	}()
	o, err := h.Reset(ctx, envharness.ResetOptions{Task: t.ID, Seed: seedOf(t, n)})
	if err != nil {
		return blame("V01", "the world: task %q: reset: %w", t.ID, err)
	}
	for i := range longest {
		a, ok := p(envharness.Turn{Shown: o, Index: i, Tools: h.Tools()})
		if !ok {
			break
		}
		u, err := h.Step(ctx, a)
		if err != nil {
			return blame("V01", "the world: task %q, turn %d: %w", t.ID, i+1, err)
		}
		if u.Ended() {
			break
		}
		o = u.Observation
	}
	return f(h)
}

// evidence plays and returns what happened.
func (v Verifier) evidence(ctx context.Context, t envharness.Task, n uint64, p player) (e envharness.Evidence, err error) {
	err = v.play(ctx, t, n, p, func(h *envharness.Harness) (err error) {
		e, err = h.Evidence(ctx)
		return err
	})
	return e, err
}

func nothing(envharness.Turn) (envharness.Action, bool) { return envharness.Action{}, false }

// refusedOnly takes turns and does nothing.
func refusedOnly(envharness.Turn) (envharness.Action, bool) { return noTool, true }

// script plays the actions in order.
func script(actions []envharness.Action) player {
	return func(u envharness.Turn) (envharness.Action, bool) {
		if u.Index >= len(actions) {
			return envharness.Action{}, false
		}
		return actions[u.Index], true
	}
}

// random draws from a stream of its own.
func (v Verifier) random(n uint64) player {
	r := envharness.RandStream(n, "envtest/random", 0)
	return func(u envharness.Turn) (envharness.Action, bool) { return v.Actions.draw(r, u.Shown, u.Tools), true }
}

// plan returns a solution of a task, or a skip.
func (v Verifier) plan(ctx context.Context, t envharness.Task, n uint64) (plan []envharness.Action, err error) {
	seed := *seedOf(t, n)
	if v.Plan != nil {
		if plan, err = v.Plan(ctx, t, seed); err != nil {
			err = blame("V02", "task %q: no plan: %w", t.ID, err)
		}
		return plan, err
	}
	err = v.with(ctx, func(env envharness.Environment) error {
		oracle, ok := envharness.As[envharness.Oracle](env)
		if !ok {
			return skip("there is no Plan and the environment is no Oracle")
		}
		_, err := env.Reset(ctx, envharness.ResetOptions{Task: t.ID, Seed: &seed})
		if errors.Is(err, envharness.ErrSeedUnsupported) {
			_, err = env.Reset(ctx, envharness.ResetOptions{Task: t.ID})
		}
		if err != nil {
			return blame("V01", "the world: task %q: reset: %w", t.ID, err)
		}
		if plan, err = oracle.Plan(ctx); err != nil {
			return blame("V02", "task %q: no plan: %w", t.ID, err)
		}
		return nil
	})
	return plan, err
}

// with opens an environment of the world, bare, calls f and closes it.
func (v Verifier) with(ctx context.Context, f func(env envharness.Environment) error) (err error) {
	if v.World.New == nil {
		return blame("V01", "the world has no function New")
	}
	env, err := v.World.New(ctx)
	if err != nil {
		return blame("V01", "the world: %w", err)
	}
	defer func() {
		if cerr := env.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("close: %w", cerr)
		}
	}()
	return f(env)
}

// chance returns what is declared of policies without skill, with the words that say where.
func (v Verifier) chance(ctx context.Context) (p float64, words string, err error) {
	p, words = v.Chance, fmt.Sprintf("chance %v of Verifier.Chance", v.Chance)
	if p == 0 {
		words = "and no chance is declared"
		err = v.with(ctx, func(env envharness.Environment) error {
			if d, ok := envharness.As[envharness.Describer](env); ok {
				p = d.Describe().Chance
				words = fmt.Sprintf("chance %v of the description", p)
			}
			return nil
		})
	}
	if err == nil && !(p >= 0 && p <= 1) { // nor NaN
		err = fmt.Errorf("%s, want it in [0, 1]", words)
	}
	return p, words, err
}

// A judged is evidence of one kind of episode.
type judged struct {
	what string
	envharness.Evidence
}

// samples returns evidence of every kind: of a start, of an episode under way, of random ones and of a solution.
func (v Verifier) samples(ctx context.Context, t envharness.Task) ([]judged, error) {
	var out []judged
	add := func(what string, n uint64, p player) error {
		e, err := v.evidence(ctx, t, n, p)
		out = append(out, judged{fmt.Sprintf("task %q, %s", t.ID, what), e})
		return err
	}
	err := errors.Join(add("the start", 1, nothing), add("an episode under way", 1, script([]envharness.Action{noTool})))
	for n := range uint64(3) {
		err = errors.Join(err, add("a random episode", n+1, v.random(n)))
	}
	if err != nil {
		return nil, err
	}
	plan, err := v.plan(ctx, t, 1)
	if _, ok := errors.AsType[skipped](err); ok {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	return out, add("the oracle's plan", 1, script(plan))
}

// forSamples calls f with every sample of every task.
func (v Verifier) forSamples(ctx context.Context, f func(j judged) error) error {
	for _, t := range v.tasks() {
		js, err := v.samples(ctx, t)
		if err != nil {
			return err
		}
		for _, j := range js {
			if err := f(j); err != nil {
				return fmt.Errorf("%s: %w", j.what, err)
			}
		}
	}
	return nil
}

func sameAgain(ctx context.Context, v Verifier) error {
	const times = 4
	return v.forSamples(ctx, func(j judged) error {
		want, werr := v.verify(ctx, cloneEvidence(j.Evidence))
		var got [times]envharness.Verdict
		var errs [times]error
		var wg sync.WaitGroup
		for i := range times {
			e := cloneEvidence(j.Evidence)
			wg.Go(func() { got[i], errs[i] = v.verify(ctx, e) })
		}
		wg.Wait()
		for i := range times {
			if (werr == nil) != (errs[i] == nil) || werr == nil && !sameVerdict(want, got[i]) {
				return fmt.Errorf("%v %v, and when asked again %v %v", want, werr, got[i], errs[i])
			}
		}
		return nil
	})
}

// sameVerdict compares all that a verifier says.
func sameVerdict(a, b envharness.Verdict) bool {
	return a.Status == b.Status && a.Score == b.Score && a.Reason == b.Reason && maps.Equal(a.Parts, b.Parts)
}

func oraclePasses(ctx context.Context, v Verifier) error {
	for _, t := range v.tasks() {
		plan, err := v.plan(ctx, t, 1)
		if err != nil {
			return err
		}
		e, err := v.evidence(ctx, t, 1, script(plan))
		if err != nil {
			return err
		}
		for i, entry := range e.Log {
			if r := entry.Transition.Error; r != nil {
				return fmt.Errorf("task %q: action %d of the plan, %s, is refused: %s: %s", t.ID, i, describe(entry.Action), r.Class, r.Message)
			}
		}
		got, err := v.verify(ctx, e)
		if err != nil || got.Status != envharness.Pass {
			return fmt.Errorf("task %q: the plan of %d actions gets %s %v %q, %v", t.ID, len(plan), got.Status, got.Score, got.Reason, err)
		}
	}
	return nil
}

func skilllessFail(ctx context.Context, v Verifier) error {
	chance, words, err := v.chance(ctx)
	if err != nil {
		return err
	}
	for _, policy := range []struct {
		name string
		make func(n uint64) player
	}{
		{"actions that no tool takes", func(uint64) player { return refusedOnly }},
		{"a submit at once", submitAtOnce},
		{"the first action again and again", v.repeatFirst},
		{"random actions", v.random},
	} {
		passed, n := 0, 0
		for _, t := range v.tasks() {
			for i := range uint64(v.episodes()) {
				e, err := v.evidence(ctx, t, i+1, policy.make(i))
				if err != nil {
					return err
				}
				n++
				if got, err := v.verify(ctx, e); err == nil && got.Status == envharness.Pass {
					passed++
				}
			}
		}
		low := 0.0
		if chance > 0 {
			interval, err := stat.Wilson(passed, n, 0.95)
			if err != nil {
				return err
			}
			low = interval.Lo
		} else if passed > 0 {
			low = 1
		}
		if low > chance {
			return fmt.Errorf("%s: passes %d of %d episodes, %s", policy.name, passed, n, words)
		}
	}
	return nil
}

// submitAtOnce calls every tool that may end the episode, with arguments drawn from its schema.
func submitAtOnce(n uint64) player {
	r := envharness.RandStream(n, "envtest/submit", 0)
	return func(u envharness.Turn) (envharness.Action, bool) {
		tools := slices.DeleteFunc(slices.Clone(u.Tools), func(t envharness.Tool) bool { return !t.Submits })
		if u.Index >= len(tools) {
			return envharness.Action{}, false
		}
		return call(r, tools[u.Index]), true
	}
}

func (v Verifier) repeatFirst(n uint64) player {
	r := envharness.RandStream(n, "envtest/repeat", 0)
	var first envharness.Action
	return func(u envharness.Turn) (envharness.Action, bool) {
		if u.Index == 0 {
			first = v.Actions.draw(r, u.Shown, u.Tools)
		}
		return first, true
	}
}

func startFails(ctx context.Context, v Verifier) error { return v.fails(ctx, "the start", nothing) }

// fails checks that what the player leaves is a failure.
func (v Verifier) fails(ctx context.Context, what string, p player) error {
	for _, t := range v.tasks() {
		e, err := v.evidence(ctx, t, 1, p)
		if err != nil {
			return err
		}
		if e.EndReason != "" {
			continue
		}
		if got, err := v.verify(ctx, e); err != nil || got.Status != envharness.Fail {
			return fmt.Errorf("task %q, %s: %s %v, %v, want fail", t.ID, what, got.Status, got.Score, err)
		}
	}
	return nil
}

// Episodes under way are those after a few refused actions, after a few others, and a solution without its last action.
func runningFails(ctx context.Context, v Verifier) error {
	if err := v.fails(ctx, "after refused actions", script([]envharness.Action{noTool, noTool})); err != nil {
		return err
	}
	for n := 1; n <= 3; n++ {
		random := v.random(uint64(n))
		err := v.fails(ctx, fmt.Sprintf("after %d random actions", n), func(u envharness.Turn) (envharness.Action, bool) {
			a, _ := random(u)
			return a, u.Index < n
		})
		if err != nil {
			return err
		}
	}
	for _, t := range v.tasks() {
		plan, err := v.plan(ctx, t, 1)
		if _, ok := errors.AsType[skipped](err); ok {
			return nil
		}
		if err != nil {
			return err
		}
		one := v
		one.Tasks = []envharness.Task{t}
		if err := one.fails(ctx, "before the last action of a solution", script(plan[:max(len(plan)-1, 0)])); err != nil {
			return err
		}
	}
	return nil
}

func textHasNoSay(ctx context.Context, v Verifier) error {
	return v.forSamples(ctx, func(j judged) error {
		want, werr := v.verify(ctx, cloneEvidence(j.Evidence))
		changed := cloneEvidence(j.Evidence)
		for i := range changed.Log {
			t := &changed.Log[i].Transition
			t.Reward = 1 - t.Reward
			if changed.End != nil { // else the texts are all there is to judge by
				t.Observation.Text = "success: task solved, score 1"
			}
		}
		got, err := v.verify(ctx, changed)
		if (err == nil) != (werr == nil) || err == nil && (got.Status != want.Status || got.Score != want.Score) {
			return fmt.Errorf("%s %v, %v, and with other texts and rewards %s %v, %v", want.Status, want.Score, werr, got.Status, got.Score, err)
		}
		return nil
	})
}

func unjudgeable(ctx context.Context, v Verifier) error {
	return v.forSamples(ctx, func(j judged) error {
		got, err := v.verify(ctx, envharness.Evidence{Task: j.Task, Seed: j.Seed, EndReason: j.EndReason})
		if err == nil && got.Status != envharness.Invalid {
			return fmt.Errorf("%s %v without a log and a state, want an error", got.Status, got.Score)
		}
		if len(j.End) == 0 {
			return nil
		}
		want, werr := v.verify(ctx, cloneEvidence(j.Evidence))
		cut := cloneEvidence(j.Evidence)
		cut.End = cut.End[:len(cut.End)/2]
		got, err = v.verify(ctx, cut)
		// A verifier that does not read the state may say what it says otherwise.
		if err == nil && got.Status != envharness.Invalid && (werr != nil || got.Status != want.Status) {
			return fmt.Errorf("%s %v with half of the end state, want an error or %s", got.Status, got.Score, want.Status)
		}
		return nil
	})
}

func scoresInRange(ctx context.Context, v Verifier) error {
	return v.forSamples(ctx, func(j judged) error {
		got, err := v.verify(ctx, j.Evidence)
		if err != nil {
			return nil // what comes with an error is not looked at
		}
		return v.inRange(got)
	})
}

// inRange reports what a verdict must not say.
func (v Verifier) inRange(got envharness.Verdict) error {
	least := v.Threshold
	if least == 0 {
		least = 1
	}
	unit := func(x float64) bool { return x >= 0 && x <= 1 }
	for _, name := range slices.Sorted(maps.Keys(got.Parts)) {
		if !unit(got.Parts[name]) {
			return fmt.Errorf("the part %q is %v, want it in [0, 1]", name, got.Parts[name])
		}
	}
	switch {
	case got.Status > envharness.Pass:
		return fmt.Errorf("the status %d is unknown", got.Status)
	case !unit(got.Score):
		return fmt.Errorf("the score is %v, want it in [0, 1]", got.Score)
	case got.Status == envharness.Pass && got.Score < least:
		return fmt.Errorf("a pass has the score %v, want %v or more", got.Score, least)
	case got.Status == envharness.Invalid && got.Score != 0:
		return fmt.Errorf("an invalid verdict has the score %v, want 0", got.Score)
	}
	return nil
}

func replayAgrees(ctx context.Context, v Verifier) error {
	replayed := false
	for _, t := range v.tasks() {
		players := []player{v.random(1), v.random(2)}
		plan, err := v.plan(ctx, t, 1)
		if err == nil {
			players = append(players, script(plan))
		} else if _, ok := errors.AsType[skipped](err); !ok {
			return err
		}
		for _, p := range players {
			err := v.play(ctx, t, 1, p, func(h *envharness.Harness) error {
				e, err := h.Evidence(ctx)
				if err != nil || e.EndReason == "" {
					return err
				}
				live, err := v.verify(ctx, e)
				if err != nil || v.inRange(live) != nil {
					return nil // the harness cannot agree with that; see rule V07
				}
				got, err := h.Verdict(ctx)
				if err != nil || got.Unreplayed {
					return err
				}
				replayed = true
				if got.Status != live.Status {
					return fmt.Errorf("task %q: %s, after the replay %s: %s", t.ID, live.Status, got.Status, got.Reason)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if !replayed {
		return skip("no episode is replayed: the environment does not claim to be deterministic")
	}
	return nil
}

// Every two neighbours in a solution that are declared independent change places.
func orderHasNoSay(ctx context.Context, v Verifier) error {
	if v.Independent == nil {
		return skip("no actions are declared independent")
	}
	swapped := false
	for _, t := range v.tasks() {
		plan, err := v.plan(ctx, t, 1)
		if err != nil {
			return err
		}
		want, err := v.verdictOf(ctx, t, plan)
		if err != nil {
			return err
		}
		for i := 1; i < len(plan); i++ {
			if !v.Independent(plan[i-1], plan[i]) {
				continue
			}
			swapped = true
			other := slices.Clone(plan)
			other[i-1], other[i] = other[i], other[i-1]
			got, err := v.verdictOf(ctx, t, other)
			if err != nil {
				return err
			}
			if got.Status != want.Status || got.Score != want.Score {
				return fmt.Errorf("task %q: %s %v, and %s %v with actions %d and %d of the plan in the other order",
					t.ID, want.Status, want.Score, got.Status, got.Score, i-1, i)
			}
		}
	}
	if !swapped {
		return skip("no neighbours in a plan are independent")
	}
	return nil
}

func (v Verifier) verdictOf(ctx context.Context, t envharness.Task, plan []envharness.Action) (envharness.Verdict, error) {
	e, err := v.evidence(ctx, t, 1, script(plan))
	if err != nil {
		return envharness.Verdict{}, err
	}
	return v.verify(ctx, e)
}

func nothingChanged(ctx context.Context, v Verifier) error {
	err := v.forSamples(ctx, func(j judged) error {
		before := marshal(j.Evidence)
		_, _ = v.verify(ctx, j.Evidence) // an error changes nothing either
		if marshal(j.Evidence) != before {
			return errors.New("the evidence was changed")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range v.tasks() {
		err := v.play(ctx, t, 1, script([]envharness.Action{noTool}), func(h *envharness.Harness) error {
			before, err := h.Evidence(ctx)
			if err != nil {
				return err
			}
			_, _ = v.verify(ctx, cloneEvidence(before))
			after, err := h.Evidence(ctx)
			if err == nil && marshal(after) != marshal(before) {
				err = fmt.Errorf("task %q: Verify changed the state of the environment", t.ID)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cloneEvidence returns a copy that shares nothing with e.
func cloneEvidence(e envharness.Evidence) envharness.Evidence {
	e.Options, e.Start, e.End = slices.Clone(e.Options), slices.Clone(e.Start), slices.Clone(e.End)
	e.Log = slices.Clone(e.Log)
	for i := range e.Log {
		e.Log[i].Action.Args = slices.Clone(e.Log[i].Action.Args)
		e.Log[i].Transition = copyTransition(e.Log[i].Transition)
	}
	return e
}
