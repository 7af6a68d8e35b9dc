package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/internal/stat"
)

// gateResult is what the gate did with candidates whose true success rate is known.
type gateResult struct {
	Candidates         int      `json:"candidates"`
	Attempts           int      `json:"attempts"`
	Accepted           int      `json:"accepted"`
	FalseAcceptFar     float64  `json:"false_accept_far"`    // share of the attempts at far candidates that came to rollouts
	FalseAcceptNear    float64  `json:"false_accept_near"`   // share of the near candidates, over all their attempts
	UnsolvableAccepted int      `json:"unsolvable_accepted"` // candidates that nothing can pass
	VerdictChanged     int      `json:"verdict_changed"`     // episodes whose log another verdict is given without the components
	FarAttempts        int      `json:"far_attempts"`        // the two numbers behind FalseAcceptFar, with a Wilson interval at 95 %
	FarAccepted        int      `json:"far_accepted"`        //
	FarInterval        interval `json:"false_accept_far_interval"`
	NearCandidates     int      `json:"near_candidates"` // with an attempt that came to rollouts; the far ones are among them
	NearAccepted       int      `json:"near_accepted"`   //
	NearInterval       interval `json:"false_accept_near_interval"`
	OnlyNear           int      `json:"near_and_not_far"` // candidates
	OnlyNearAccepted   int      `json:"near_and_not_far_accepted"`
	Unsolvable         int      `json:"unsolvable"`          // candidates
	BandCandidates     int      `json:"band_candidates"`     // with a true rate in the band of the confirmation
	BandAccepted       int      `json:"band_accepted"`       // that the gate should take
	Replayed           int      `json:"replayed_episodes"`   // that VerdictChanged is about
	LargestTruthError  float64  `json:"largest_truth_error"` // of a measured true rate from the computed one, in standard errors
	AttemptsPerTask    int      `json:"attempts_per_task"`   // at most
	TruthRollouts      int      `json:"rollouts_of_a_truth"`
	Refusals           counts   `json:"refusals,omitempty"` // attempts by the step that refused
	RolloutsPaid       int      `json:"rollouts_paid"`      // of the policies, by the gate
	ChecksPlayed       int      `json:"null_policy_episodes"`
}

type counts map[string]int

// presetResult is the same for a preset.
type presetResult struct {
	Attempts           int     `json:"attempts"`
	Accepted           int     `json:"accepted"`
	FalseAcceptFar     float64 `json:"false_accept_far"`
	FalseAcceptNear    float64 `json:"false_accept_near"`
	UnsolvableAccepted int     `json:"unsolvable_accepted"`
	BandCandidates     int     `json:"band_candidates"`
	BandAccepted       int     `json:"band_accepted"`
	RolloutsPaid       int     `json:"rollouts_paid"`
}

// A candidate is one stack around one task, with a policy whose success rate behind it is known.
type candidate struct {
	world      worlds.World
	task       envharness.Task
	stack      []components.Entry
	policy     rigtest.Maker
	want       float64 // computed
	unsolvable bool
	truth      float64 // measured
}

// rates are the true rates that policies are made for.
var rates = []float64{0, .01, .02, .03, .04, .06, .08, .12, .2, .3, .4, .5, .6, .7, .8, .88, .92, .94, .96, .97, .98, .99}

var gateWorlds = []string{"keydoor_small", "game24", "tooldesk_small", "household_small"}

// candidates makes all of them, every step-th one.
func candidates(ctx context.Context, least int) ([]*candidate, error) {
	var all []*candidate
	for _, name := range gateWorlds {
		w, err := worlds.Find(name)
		if err != nil {
			return nil, err
		}
		tasks, err := w.Tasks(ctx, "train")
		if err != nil {
			return nil, err
		}
		for i, rate := range rates {
			more, err := atRate(ctx, w, tasks[i], rate)
			if err != nil {
				return nil, fmt.Errorf("%s, task %s: %w", name, tasks[i].ID, err)
			}
			all = append(all, more...)
		}
		hopeless, err := unsolvable(ctx, w, tasks[len(rates)])
		if err != nil {
			return nil, err
		}
		all = append(all, hopeless...)
	}
	step := max(len(all)/least, 1)
	var some []*candidate
	for i := 0; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some, nil
}

// atRate makes three candidates for a task, with policies that pass behind them at the rate: one that plays as well as the world's oracle but
// where it sees a smaller limit on turns, one that wastes turns before it begins, and one that may not try again what failed.
func atRate(ctx context.Context, w worlds.World, task envharness.Task, rate float64) ([]*candidate, error) {
	task.Seed = new(uint64(1))
	plan, err := yardstick.Plan(ctx, w.World, task)
	if err != nil {
		return nil, err
	}
	limit, err := turnLimit(ctx, w, task)
	if err != nil {
		return nil, err
	}
	coin, err := rigtest.Coin(w.World, rate)
	if err != nil {
		return nil, err
	}
	dialled := func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		well, err := rigtest.Clean(w.World)(task, rng)
		if err != nil {
			return nil, err
		}
		badly, err := coin(task, rng)
		if err != nil {
			return nil, err
		}
		return &switching{limit: limit, well: well, badly: badly}, nil
	}
	out := []*candidate{{world: w, task: task, stack: budget(limit - 1), policy: dialled, want: rate}}

	turns := len(plan) + min(2, limit-len(plan)-1) // some room
	if turns >= len(plan) && rate > 0 && rate < 1 {
		stay := math.Pow(1-rate, 1/float64(turns-len(plan)+1))
		patience, err := rigtest.Patience(w.World, stay)
		if err != nil {
			return nil, err
		}
		out = append(out, &candidate{world: w, task: task, stack: budget(turns), policy: patience, want: rigtest.PatienceRate(stay, len(plan), turns)})
	}
	failures := min(3, limit-len(plan))
	if failures > 0 {
		again := math.Pow(rate, 1/float64(failures))
		retry, err := rigtest.Retry(w.World, again)
		if err != nil {
			return nil, err
		}
		out = append(out, &candidate{world: w, task: task, policy: retry, want: rigtest.RetryRate(again, failures),
			stack: []components.Entry{{Tag: "tool_fail", Version: 1, Params: raw(map[string]any{"count": failures})}}})
	}
	return out, nil
}

// unsolvable makes candidates that no policy passes, for one that plays as well as the oracle.
func unsolvable(ctx context.Context, w worlds.World, task envharness.Task) ([]*candidate, error) {
	task.Seed = new(uint64(1))
	plan, err := yardstick.Plan(ctx, w.World, task)
	if err != nil {
		return nil, err
	}
	var out []*candidate
	for _, e := range []components.Entry{
		{Tag: "step_budget", Version: 1, Params: raw(map[string]any{"turns": max(len(plan)-1, 1)})},
		{Tag: "block", Version: 1, Params: raw(map[string]any{})},
		{Tag: "tool_down", Version: 1, Params: raw(map[string]any{"tools": []string{plan[len(plan)-1].Name}})},
		{Tag: "call_cap", Version: 1, Params: raw(map[string]any{"max": max(len(plan)/2, 1)})},
	} {
		out = append(out, &candidate{world: w, task: task, stack: []components.Entry{e}, policy: rigtest.Clean(w.World), unsolvable: true})
	}
	return out, nil
}

// switching plays well where the limit on turns is the world's own, and else as the other one does.
type switching struct {
	limit       int
	well, badly envharness.Policy
	chosen      envharness.Policy
}

func (s *switching) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	if t.Index == 0 {
		s.chosen = s.badly
		if t.Left == s.limit {
			s.chosen = s.well
		}
	}
	return s.chosen.Act(ctx, t)
}

func budget(turns int) []components.Entry {
	return []components.Entry{{Tag: "step_budget", Version: 1, Params: raw(map[string]any{"turns": turns})}}
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of numbers and strings
	}
	return b
}

// turnLimit is what a policy is shown as its turns at the start of the task.
func turnLimit(ctx context.Context, w worlds.World, task envharness.Task) (int, error) {
	limit := 0
	_, err := envharness.Rollouts(ctx, w.World, nil, func(int) (envharness.Policy, error) {
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			limit = t.Left
			return envharness.Action{}, envharness.ErrStop
		}), nil
	}, []envharness.Task{task}, nil)
	return limit, err
}

const perTask = 5 // attempts

func (e *evidence) gate(ctx context.Context, s size) error {
	all, err := candidates(ctx, s.candidates)
	if err != nil {
		return err
	}
	g := &e.Gate
	g.Candidates, g.AttemptsPerTask, g.TruthRollouts, g.Refusals = len(all), perTask, s.truth, counts{}
	for i, c := range all {
		if err := c.measure(ctx, s.truth, uint64(i)); err != nil {
			return err
		}
		if !c.unsolvable {
			g.LargestTruthError = max(g.LargestTruthError, c.error(s.truth))
		}
		changed, replayed, err := c.verdicts(ctx)
		if err != nil {
			return err
		}
		g.VerdictChanged, g.Replayed = g.VerdictChanged+changed, g.Replayed+replayed
	}
	e.Presets = make(map[string]presetResult)
	for _, preset := range []rigger.Preset{rigger.Gated, rigger.Paper} {
		r := presetResult{}
		var far, farAttempts, near, nearAll, only, onlyAll, band, bandAll, hopeless int
		for i, c := range all {
			task, cost, err := c.rig(ctx, preset, uint64(i))
			if err != nil {
				return err
			}
			r.RolloutsPaid += cost.Rollouts()
			isFar, isNear := c.truth < .05 || c.truth > .95, c.truth < .1 || c.truth > .9
			isBand := !c.unsolvable && c.truth >= .25 && c.truth <= .75
			accepted, played := false, false
			for _, a := range task.Attempts {
				r.Attempts++
				took := a.Decision == rigger.Accept
				accepted, played = accepted || took, played || a.Screen.Valid > 0
				if preset == rigger.Gated {
					if n := len(a.Steps); n > 0 && a.Steps[n-1].Result == rigger.Failed {
						g.Refusals[string(a.Steps[n-1].Step)]++
					}
				}
				if isFar && !c.unsolvable && a.Screen.Valid > 0 {
					farAttempts++
					if took {
						far++
					}
				}
			}
			if accepted {
				r.Accepted++
			}
			count(&nearAll, &near, isNear && !c.unsolvable && played, accepted)
			count(&onlyAll, &only, isNear && !isFar && !c.unsolvable && played, accepted)
			count(&bandAll, &band, isBand && played, accepted)
			if c.unsolvable && accepted {
				hopeless++
			}
			if preset == rigger.Gated {
				g.ChecksPlayed += cost.Checks
				if c.unsolvable {
					g.Unsolvable++
				}
			}
		}
		r.FalseAcceptFar, r.FalseAcceptNear = share(far, farAttempts), share(near, nearAll)
		r.UnsolvableAccepted, r.BandCandidates, r.BandAccepted = hopeless, bandAll, band
		e.Presets[preset.String()] = r
		if preset == rigger.Gated {
			g.Attempts, g.Accepted, g.FalseAcceptFar, g.FalseAcceptNear, g.UnsolvableAccepted = r.Attempts, r.Accepted, r.FalseAcceptFar,
				r.FalseAcceptNear, hopeless
			g.FarAttempts, g.FarAccepted, g.NearCandidates, g.NearAccepted = farAttempts, far, nearAll, near
			g.OnlyNear, g.OnlyNearAccepted = onlyAll, only
			g.BandCandidates, g.BandAccepted, g.RolloutsPaid = bandAll, band, r.RolloutsPaid
			if g.FarInterval, err = wilson(far, farAttempts); err != nil {
				return err
			}
			if g.NearInterval, err = wilson(near, nearAll); err != nil {
				return err
			}
		}
	}
	e.claim(g.FalseAcceptFar <= .01, "gate: %.4f of the attempts at far candidates were accepted, want at most 0.01", g.FalseAcceptFar)
	e.claim(g.FalseAcceptNear <= .05, "gate: %.4f of the near candidates were accepted, want at most 0.05", g.FalseAcceptNear)
	e.claim(g.UnsolvableAccepted == 0, "gate: %d unsolvable candidates were accepted, want none", g.UnsolvableAccepted)
	e.claim(g.VerdictChanged == 0, "gate: %d verdicts changed, want none", g.VerdictChanged)
	e.claim(2*g.BandAccepted > g.BandCandidates, "gate: %d of %d candidates in the band were accepted, want more than half", g.BandAccepted,
		g.BandCandidates)
	e.claim(g.LargestTruthError < 4.5, "gate: a measured rate is %.1f standard errors off", g.LargestTruthError)
	return nil
}

func count(all, some *int, in, hit bool) {
	if in {
		*all++
		if hit {
			*some++
		}
	}
}

// wilson is the interval of a share at 95 %, nothing without trials.
func wilson(x, n int) (interval, error) {
	if n == 0 {
		return interval{}, nil
	}
	i, err := stat.Wilson(x, n, .95)
	return interval{share(x, n), i.Lo, i.Hi}, err
}

func share(x, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(x) / float64(n)
}

// measure plays the policy behind the candidate, on streams that no gate draws from.
func (c *candidate) measure(ctx context.Context, n int, seed uint64) error {
	stack, err := components.Catalogue().Stack(c.stack...)
	if err != nil {
		return err
	}
	pass := 0
	tasks := func(yield func(envharness.Task) bool) {
		for range n {
			if !yield(c.task) {
				return
			}
		}
	}
	for t, err := range envharness.Stream(ctx, c.world.World, stack, func(slot int) (envharness.Policy, error) {
		return c.policy(c.task, envharness.RandStream(seed, "truth", uint64(slot)))
	}, tasks, &envharness.RolloutOptions{Parallel: runtime.NumCPU()}) {
		if err != nil {
			return err
		}
		switch t.Verdict.Status {
		case envharness.Pass:
			pass++
		case envharness.Invalid:
			return fmt.Errorf("%s, task %s: %s", c.world.Name, c.task.ID, t.Cause)
		}
	}
	c.truth = float64(pass) / float64(n)
	return nil
}

// error is how far the measured rate is from the computed one, in standard errors of the latter.
func (c *candidate) error(n int) float64 {
	d := math.Abs(c.truth - c.want)
	if d < 1e-12 {
		return 0
	}
	return d / math.Sqrt(max(c.want*(1-c.want), 1e-12)/float64(n))
}

// verdicts plays some episodes behind the candidate, carries out what reached the base without the components, and counts those of which the verifier
// then says something else.
func (c *candidate) verdicts(ctx context.Context) (changed, replayed int, err error) {
	stack, err := components.Catalogue().Stack(c.stack...)
	if err != nil {
		return 0, 0, err
	}
	makers := []rigtest.Maker{c.policy, rigtest.Clean(c.world.World)}
	for _, n := range yardstick.Nulls() {
		makers = append(makers, func(_ envharness.Task, rng *rand.Rand) (envharness.Policy, error) { return n.New(rng), nil })
	}
	tasks := make([]envharness.Task, len(makers))
	for i := range tasks {
		tasks[i] = c.task
	}
	traces, err := envharness.Rollouts(ctx, c.world.World, stack, func(slot int) (envharness.Policy, error) {
		return makers[slot](c.task, envharness.RandStream(1, "verdicts", uint64(slot)))
	}, tasks, nil)
	if err != nil {
		return 0, 0, err
	}
	bare, err := envharness.Rollouts(ctx, c.world.World, nil, func(slot int) (envharness.Policy, error) {
		var log []envharness.Action
		for _, t := range traces[slot].Turns {
			if t.Raw != nil {
				log = append(log, *t.Applied)
			}
		}
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			if t.Index == len(log) {
				return envharness.Action{}, envharness.ErrStop
			}
			return log[t.Index], nil
		}), nil
	}, tasks, nil)
	if err != nil {
		return 0, 0, err
	}
	for i := range traces {
		replayed++
		if traces[i].Verdict.Status != bare[i].Verdict.Status {
			changed++
		}
	}
	return changed, replayed, nil
}

// rig lets the gate, or a preset without one, see the candidate again and again until it is accepted.
func (c *candidate) rig(ctx context.Context, preset rigger.Preset, seed uint64) (rigger.TaskReport, rigger.Cost, error) {
	same := rigger.DesignerFunc(func(context.Context, rigger.Brief) (rigger.Candidate, error) {
		return rigger.Candidate{Stack: c.stack}, nil
	})
	report, err := rigger.Rig(ctx, rigger.Problem{World: c.world.World, Tasks: []envharness.Task{c.task}, NewPolicy: c.policy}, &rigger.Options{
		Preset: preset, Designer: same, Seed: seed, Attempts: perTask, RigInBand: true, Rollout: envharness.RolloutOptions{Parallel: runtime.NumCPU()},
	})
	if err != nil {
		return rigger.TaskReport{}, rigger.Cost{}, err
	}
	return report.Tasks[0], report.Cost, nil
}

func (e *evidence) writeGate(line func(string, ...any)) {
	g := e.Gate
	if g.Candidates > 0 {
		line("gate: %d candidates with rates measured by %d rollouts each, at most %d attempts at each; %d unsolvable ones", g.Candidates, g.TruthRollouts,
			g.AttemptsPerTask, g.Unsolvable)
		line("\tattempts\taccepted\tof the far, per attempt\tof the near, over all attempts\tof those in the band\tunsolvable\trollouts")
		for _, name := range []string{"gated", "paper"} {
			p := e.Presets[name]
			line("%s\t%d\t%d\t%.4f\t%.4f\t%d of %d\t%d\t%d", name, p.Attempts, p.Accepted, p.FalseAcceptFar, p.FalseAcceptNear, p.BandAccepted,
				p.BandCandidates,
				p.UnsolvableAccepted, p.RolloutsPaid)
		}
		line("95 %% intervals for the gate: far at most %.4f of %d attempts, near at most %.4f of %d candidates; near and not far: %d of %d",
			g.FarInterval.High,
			g.FarAttempts, g.NearInterval.High, g.NearCandidates, g.OnlyNearAccepted, g.OnlyNear)
		line("%d of %d episodes behind components get another verdict without them", g.VerdictChanged, g.Replayed)
	}
	for i, h := range e.Hostile {
		if i == 0 {
			line("\nhostile component\trefused by\tmeant for it\treason")
		}
		line("%s\t%s\t%s\t%.90s", h.Name, h.Step, h.Want, h.Reason)
	}
}
