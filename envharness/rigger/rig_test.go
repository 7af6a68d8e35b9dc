package rigger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// hand is a task of game24 whose shortest solution takes 4 turns; the limit is 12.
var hand = envharness.Task{ID: "3,3,8,8", Family: "hands"}

// wasters makes policies that know a solution of the hand and waste 0 to most turns before it, all equally likely: behind a budget of T turns
// they pass at a rate of (T-3)/(most+1).
func wasters(t testing.TB, most int) func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
	t.Helper()
	plan, err := yardstick.Plan(t.Context(), game24.World(nil), hand)
	if err != nil || len(plan) != 4 {
		t.Fatalf("the plan is %v: %v", plan, err)
	}
	return func(_ envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		return waster(plan, rng.IntN(most+1)), nil
	}
}

// waster is a policy that wastes turns before it does as planned.
func waster(plan []envharness.Action, turns int) envharness.Policy {
	return envharness.PolicyFunc(func(_ context.Context, turn envharness.Turn) (envharness.Action, error) {
		switch i := turn.Index - turns; {
		case i < 0:
			return envharness.Action{Name: "restart"}, nil
		case i < len(plan):
			return plan[i], nil
		}
		return envharness.Action{}, envharness.ErrStop
	})
}

// budget is a candidate of one step_budget.
func budget(turns int) rigger.Candidate {
	return rigger.Candidate{Stack: []components.Entry{{Tag: "step_budget", Params: fmt.Appendf(nil, `{"turns":%d}`, turns)}}}
}

// proposes is a designer that proposes the candidates in order, and then none.
func proposes(candidates ...rigger.Candidate) rigger.Designer {
	return named{rigger.DesignerFunc(func(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
		if n := len(b.Attempts); n < len(candidates) {
			return candidates[n], nil
		}
		return rigger.Candidate{}, nil
	}), fmt.Sprint("proposes ", candidates)}
}

// named is a designer with a name.
type named struct {
	rigger.Designer
	name string
}

func (n named) String() string { return n.name }

// problem is one hand of game24.
func problem(t testing.TB, most int) rigger.Problem {
	return rigger.Problem{World: game24.World(nil), Tasks: []envharness.Task{hand}, NewPolicy: wasters(t, most), Fingerprint: "waster"}
}

// quick are options under which the steps that are not about rollouts of the policy cost little.
func quick(d rigger.Designer) *rigger.Options {
	return &rigger.Options{Designer: d, NullEpisodes: 2, SearchLimit: new(100), Seed: 1}
}

func rig(t *testing.T, p rigger.Problem, o *rigger.Options) *rigger.Report {
	t.Helper()
	r, err := rigger.Rig(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, p, o, r)
	return r
}

// checkReport checks what holds for every report: costs add up, what is accepted passed all steps on enough rollouts, nothing else is.
func checkReport(t *testing.T, p rigger.Problem, o *rigger.Options, r *rigger.Report) {
	t.Helper()
	sum := func(costs ...rigger.Cost) (c rigger.Cost) {
		for _, d := range costs {
			c.Baseline += d.Baseline
			c.Screen += d.Screen
			c.Confirm += d.Confirm
			c.Reference += d.Reference
			c.Checks += d.Checks
			c.Turns += d.Turns
			c.Tokens += d.Tokens
			c.Designs += d.Designs
		}
		return c
	}
	gate := []rigger.Step{
		rigger.StepStatic, rigger.StepNovelty, rigger.StepBand, rigger.StepIntegrity, rigger.StepStart, rigger.StepOracle, rigger.StepNull,
		rigger.StepScreen, rigger.StepConfirm,
	}
	if o.Transfer {
		gate = append(gate, rigger.StepTransfer)
	}
	confirm := o.Confirm
	if confirm == 0 {
		confirm = 16
	}
	if len(r.Tasks) != len(p.Tasks) {
		t.Fatalf("%d reports of %d tasks", len(r.Tasks), len(p.Tasks))
	}
	var all rigger.Cost
	items := 0
	for _, task := range r.Tasks {
		parts := task.Cost
		var attempts rigger.Cost
		accepted := 0
		for i, a := range task.Attempts {
			if a.Number != i+1 || a.Traces != nil {
				t.Errorf("attempt %d has number %d and %d traces", i+1, a.Number, len(a.Traces))
			}
			attempts = sum(attempts, a.Cost)
			var steps []rigger.Step
			for i, s := range a.Steps {
				steps = append(steps, s.Step)
				if s.Result == rigger.Failed && (i != len(a.Steps)-1 || a.Decision == rigger.Accept) {
					t.Errorf("attempt %d went on after step %s failed", a.Number, s.Step)
				}
				if s.Result == rigger.Failed && s.Reason == "" {
					t.Errorf("attempt %d: step %s failed without a reason", a.Number, s.Step)
				}
			}
			if o.Preset == rigger.Gated && !slices.Equal(steps, gate[:len(steps)]) {
				t.Errorf("attempt %d: steps %v", a.Number, steps)
			}
			if a.Decision != rigger.Accept {
				if a.Reason == "" {
					t.Errorf("attempt %d: %s without a reason", a.Number, a.Decision)
				}
				continue
			}
			accepted++
			if items == len(r.Items) {
				t.Fatal("too few items")
			}
			item := r.Items[items]
			items++
			if item.Hash != a.Hash || item.Task.ID != task.Task.ID || len(item.Words) != len(item.Stack) {
				t.Errorf("item %+v is not that of attempt %+v", item, a)
			}
			if o.Preset == rigger.Gated && (len(steps) != len(gate) || a.Confirm.Valid != confirm || item.Counts != a.Confirm || a.Interval == nil) {
				t.Errorf("attempt %d was accepted on %v, steps %v", a.Number, a.Confirm, steps)
			}
			if aided := item.Direction == components.Easier && item.Stack[0].Tag == "start_replay"; item.Aid != aided {
				t.Errorf("an aid: %v, want %v: %+v", item.Aid, aided, item)
			}
			if _, err := item.Components(p.Registry); err != nil {
				t.Error(err)
			}
			if hash, err := rigger.StackHash(p.Registry, item.Stack); err != nil || hash != item.Hash {
				t.Errorf("hash %s of the stack, want %s: %v", hash, item.Hash, err)
			}
		}
		if (task.Outcome == rigger.Accepted) != (accepted > 0) {
			t.Errorf("outcome %s with %d accepted", task.Outcome, accepted)
		}
		if parts.Confirm != attempts.Confirm || parts.Screen != attempts.Screen || parts.Checks != attempts.Checks || parts.Designs < attempts.Designs ||
			parts.Turns < attempts.Turns {
			t.Errorf("cost of the task %+v, of its attempts %+v", parts, attempts)
		}
		all = sum(all, task.Cost)
	}
	if items != len(r.Items) {
		t.Errorf("%d items, %d were accepted", len(r.Items), items)
	}
	if d := cmp.Diff(all, r.Cost); d != "" {
		t.Errorf("the costs do not add up (-parts +total)\n%s", d)
	}
}

// scripted makes policies whose rollouts turn out as written, in the order in which they are made: 1 passes, 0 fails on a limit of turns, s
// stops at once and fails, i is a failure of infrastructure, p panics, a passes behind the aid only. After the last one all pass. It is for one
// rollout at once.
func scripted(t testing.TB, outcomes string) func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
	t.Helper()
	plan, err := yardstick.Plan(t.Context(), game24.World(nil), hand)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	return func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
		c := byte('1')
		if next < len(outcomes) {
			c = outcomes[next]
		}
		next++
		switch c {
		case '1':
			return waster(plan, 1), nil // takes back what a start did
		case 'a':
			return waster(plan[1:], 0), nil // goes on from it
		}
		return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			switch c {
			case '0':
				return envharness.Action{Name: "restart"}, nil
			case 'i':
				return envharness.Action{}, envharness.ErrInfra
			case 'p':
				panic("the policy panics")
			}
			return envharness.Action{}, envharness.ErrStop
		}), nil
	}
}

// aid is a start with the first action of the solution.
func aid(t testing.TB) rigger.Candidate {
	plan, err := yardstick.Plan(t.Context(), game24.World(nil), hand)
	if err != nil {
		t.Fatal(err)
	}
	return rigger.Candidate{Stack: []components.Entry{{
		Tag: "start_replay", Params: fmt.Appendf(nil, `{"actions":[{"name":%q,"args":%s}]}`, plan[0].Name, plan[0].Args),
	}}, Direction: components.Easier}
}

// chatty is a designer with a say: it proposes as proposes does, and decides what was given.
type chatty struct {
	rigger.Designer
	decide func() (rigger.Decision, error)
}

func (c chatty) Decide(context.Context, rigger.Brief, rigger.Attempt) (rigger.Decision, error) {
	return c.decide()
}

func says(d rigger.Decision) func() (rigger.Decision, error) {
	return func() (rigger.Decision, error) { return d, nil }
}

// The loop, by the outcomes of rollouts in the order baseline, screening, confirmation, screening and so on.
func TestRigLoop(t *testing.T) {
	const (
		pass5, half5 = "11111", "10101"
		half16       = "1010101010101010"
	)
	failing := func(error) func() (rigger.Decision, error) {
		return func() (rigger.Decision, error) { return rigger.Accept, errors.New("no reply") }
	}(nil)
	panics := func() (rigger.Decision, error) { panic("the designer panics") }
	for _, tt := range []struct {
		name     string
		outcomes string
		designer rigger.Designer
		change   func(o *rigger.Options)
		outcome  rigger.Outcome
		attempts string // decision and last step of each
		cost     string // baseline, screenings, confirmations
		reason   string
	}{
		{"accepts", pass5 + half5 + half16, proposes(budget(7)), nil, rigger.Accepted, "accept confirm", "5 5 16", "3 of 5, then 8 of 16"},
		{"in band", "11000", proposes(budget(7)), nil, rigger.InBand, "", "5 0 0", "2 of 5 already is what is asked for"},
		{"rigs in band", half5 + half5 + "1111" + "000000000000", proposes(budget(7)), func(o *rigger.Options) { o.RigInBand = true }, rigger.Accepted,
			"accept confirm", "5 5 16", "3 of 5 passes at least half of the time: harder"},
		{"rigs in band, easier", "11000" + half5 + half16, proposes(aid(t)), func(o *rigger.Options) { o.RigInBand = true }, rigger.Accepted,
			"accept confirm", "5 5 16", "2 of 5 passes less than half of the time: easier"},
		{"wrong way", half5 + half5 + "1111111111111111", proposes(budget(7)), func(o *rigger.Options) { o.RigInBand = true }, rigger.Exhausted,
			"reject confirm", "5 5 10", "0.6 of 16 is 9.6: the tenth pass shows that it is no harder"},
		{"no candidate", pass5, proposes(), nil, rigger.NoCandidate, "", "5 0 0", "an empty candidate ends the task"},
		{"no other candidate", pass5 + "00000", proposes(budget(7)), func(o *rigger.Options) { o.Attempts = 2 }, rigger.NoCandidate, "refine screen",
			"5 5 0", "nothing milder"},
		{"too hard", pass5 + "00001", proposes(budget(7)), nil, rigger.Exhausted, "refine screen", "5 5 0", "1 of 5"},
		{"too easy", pass5 + pass5, proposes(budget(7)), nil, rigger.Exhausted, "refine screen", "5 5 0", "5 of 5"},
		{"refined", pass5 + pass5 + half5 + half16, proposes(budget(9), budget(7)), func(o *rigger.Options) { o.Attempts = 2 }, rigger.Accepted,
			"refine screen, accept confirm", "5 10 16", "the second is in the band"},
		{"lucky", pass5 + half5 + "0000000000000000", proposes(budget(7)), nil, rigger.Exhausted, "reject confirm", "5 5 13",
			"3 of 5, then 0 of 13: not even 3 more would do"},
		{"lucky the other way", pass5 + half5 + "1111111111111111", proposes(budget(7)), nil, rigger.Exhausted, "reject confirm", "5 5 13", "13 passes are too many"},
		{"infra in the baseline", "110ii" + "ii", proposes(budget(7)), func(o *rigger.Options) { o.Rollout.Reruns = new(1) }, rigger.Infra, "", "7 0 0",
			"worked example: reruns stay invalid, no rate"},
		{"rerun in the baseline", "110i0i1", proposes(budget(7)), nil, rigger.InBand, "", "7 0 0", "worked example: reruns give Fail and Pass, 3 of 5"},
		{"only infra", "iiiiiiiiiiiiiii", proposes(budget(7)), nil, rigger.Infra, "", "15 0 0", "worked example: insufficient, not a rate of 0"},
		{"panics of the policy", "pppppppppppppppppp", proposes(budget(7)), nil, rigger.Infra, "", "15 0 0", "a panic is infrastructure"},
		{"infra in the screening", pass5 + "10i01", proposes(budget(7)), func(o *rigger.Options) { o.Rollout.Reruns = new(0) }, rigger.Exhausted,
			"reject screen", "5 5 0", "4 of 5 is no screening, though 2 of 4 passed"},
		{"infra in the confirmation", pass5 + half5 + "101010101010i010", proposes(budget(7)), func(o *rigger.Options) { o.Rollout.Reruns = new(0) },
			rigger.Exhausted, "reject confirm", "5 5 13", "never accepted with fewer than 16, though no outcome of the other 3 would matter"},
		{"easier", "00000" + half5 + half16, proposes(aid(t)), nil, rigger.Accepted, "accept confirm", "5 5 16", "a policy that struggles gets an aid"},
		{"transfers", pass5 + half5 + half16, proposes(budget(7)), func(o *rigger.Options) { o.Transfer = true }, rigger.Accepted, "accept transfer",
			"5 5 16", "what passes within 7 turns passes within 12"},
		{"does not transfer", "00000" + "a0a0a" + "a0a0a0a0a0a0a0a0", proposes(aid(t)), func(o *rigger.Options) { o.Transfer = true }, rigger.Exhausted,
			"reject transfer", "5 5 16", "without the start the same calls fail"},
		{"does not transfer later", "00000" + "10101" + "a0a0a0a0a0a0a0a0", proposes(aid(t)), func(o *rigger.Options) { o.Transfer = true }, rigger.Exhausted,
			"reject transfer", "5 5 16", "the passes of the confirmation count as well"},
		{"needs no transfer", "00000" + "a0a0a" + "a0a0a0a0a0a0a0a0", proposes(aid(t)), nil, rigger.Accepted, "accept confirm", "5 5 16", "as it was not asked for"},
		{"two of a kind", pass5 + half5 + half16 + half5 + half16, proposes(budget(7), budget(6), rigger.Candidate{Stack: budget(7).Stack, Flaw: "F01"},
			rigger.Candidate{Stack: budget(6).Stack, Flaw: "F01"}), func(o *rigger.Options) { o.Attempts, o.Accept = 4, 2 }, rigger.Accepted,
			"accept confirm, reject novelty, reject novelty, accept confirm", "5 10 32",
			"the second differs in strength alone, the third in its flaw alone, the fourth in both"},
		{"one is enough", pass5 + half5 + half16, proposes(budget(7), aid(t)), func(o *rigger.Options) { o.Attempts = 2 }, rigger.Accepted, "accept confirm",
			"5 5 16", "the attempts end with the first"},
		{"easier the wrong way", "11000" + half5 + "0000000000000000", proposes(aid(t)), func(o *rigger.Options) {
			o.RigInBand, o.Objective = true, rigger.Difficulty{Inside: rigger.Band{Lo: 0, Hi: 1}}
		}, rigger.Exhausted, "reject confirm", "5 5 10", "0.4 of 16 is 6.4: the tenth failure shows that it is no easier"},
		{"reruns in the screening", pass5 + "1i0i101" + half16, proposes(budget(7)), nil, rigger.Accepted, "accept confirm", "5 7 16", "two were paid twice"},
		{"reruns in the confirmation", pass5 + half5 + "ii" + half16, proposes(budget(7)), nil, rigger.Accepted, "accept confirm", "5 5 18", "one was paid three times"},
		{"reruns use up the budget", "111i11" + "00000", proposes(budget(7)), func(o *rigger.Options) { o.Budget.Rollouts = 26 }, rigger.OutOfBudget, "", "6 0 0",
			"20 are left, and an attempt may take 21"},
		{"wrong direction", "00000", proposes(rigger.Candidate{Stack: budget(7).Stack, Direction: components.Harder}), nil, rigger.Exhausted, "reject static",
			"5 0 0", "easier was asked for"},
		{"not built", pass5, proposes(rigger.Candidate{Stack: []components.Entry{{Tag: "no_such"}}}), nil, rigger.Exhausted, "reject static", "5 0 0", "unknown tag"},
		{"says accept", pass5 + half5 + half16, chatty{proposes(budget(7)), says(rigger.Accept)}, nil, rigger.Accepted, "accept confirm", "5 5 16", "both accept"},
		{"says accept to nothing", pass5 + "00000", chatty{proposes(budget(7)), says(rigger.Accept)}, nil, rigger.Exhausted, "refine screen", "5 5 0",
			"its accept is not enough"},
		{"says reject", pass5 + half5, chatty{proposes(budget(7)), says(rigger.Reject)}, nil, rigger.Exhausted, "reject screen", "5 5 0", "its accept is needed"},
		{"says refine", pass5 + half5, chatty{proposes(budget(7)), says(rigger.Refine)}, nil, rigger.Exhausted, "refine screen", "5 5 0", "its accept is needed"},
		{"says nothing", pass5 + half5, chatty{proposes(budget(7)), says("")}, nil, rigger.Exhausted, "reject screen", "5 5 0", "a missing decision rejects"},
		{"says ACCEPT", pass5 + half5, chatty{proposes(budget(7)), says("ACCEPT")}, nil, rigger.Exhausted, "reject screen", "5 5 0", "unknown decision"},
		{"fails to say", pass5 + half5, chatty{proposes(budget(7)), failing}, nil, rigger.Exhausted, "reject screen", "5 5 0", "an error rejects, whatever comes with it"},
		{"panics to say", pass5 + half5, chatty{proposes(budget(7)), panics}, nil, rigger.Exhausted, "reject screen", "5 5 0", "a panic rejects"},

		{"paper accepts", pass5 + half5, proposes(budget(7)), func(o *rigger.Options) { o.Preset = rigger.Paper }, rigger.Accepted, "accept screen", "5 5 0", "3 of 5"},
		{"paper rejects the unsolvable", pass5 + "00000", proposes(budget(7)), func(o *rigger.Options) { o.Preset = rigger.Paper }, rigger.Exhausted,
			"reject screen", "5 5 0", "nobody passed"},
		{"paper refines", pass5 + "10000" + half5, proposes(budget(7), budget(8)), func(o *rigger.Options) { o.Preset, o.Attempts = rigger.Paper, 2 }, rigger.Accepted,
			"refine screen, accept screen", "5 10 0", "badly scaled"},
		{"paper obeys accept", pass5 + "00000", chatty{proposes(budget(7)), says(rigger.Accept)}, func(o *rigger.Options) { o.Preset = rigger.Paper },
			rigger.Accepted, "accept screen", "5 5 0", "the decision of the model is final"},
		{"paper obeys reject", pass5 + half5, chatty{proposes(budget(7)), says(rigger.Reject)}, func(o *rigger.Options) { o.Preset = rigger.Paper },
			rigger.Exhausted, "reject screen", "5 5 0", "the decision of the model is final"},
		{"paper obeys refine", pass5 + "00000", chatty{proposes(budget(7)), says(rigger.Refine)}, func(o *rigger.Options) { o.Preset = rigger.Paper },
			rigger.Exhausted, "refine screen", "5 5 0", "the decision of the model is final"},
		{"paper without a decision", pass5 + half5, chatty{proposes(budget(7)), says("maybe")}, func(o *rigger.Options) { o.Preset = rigger.Paper },
			rigger.Exhausted, "reject screen", "5 5 0", "unknown decision"},
		{"paper counts no infrastructure", pass5 + "10i01", proposes(budget(7)), func(o *rigger.Options) { o.Preset, o.Rollout.Reruns = rigger.Paper, new(0) },
			rigger.Exhausted, "reject screen", "5 5 0", "insufficient"},
		{"alfworld", "10000" + "11000", proposes(aid(t)), func(o *rigger.Options) { o.Preset = rigger.PaperALFWorld }, rigger.Accepted, "accept screen", "5 5 0",
			"0.4 is 0.2 more than 0.2"},
		{"alfworld stays below", "11000" + "11000", proposes(aid(t)), func(o *rigger.Options) { o.Preset = rigger.PaperALFWorld }, rigger.Exhausted,
			"refine screen", "5 5 0", "no gain"},
		{"alfworld asks nobody", "10000" + "11000", chatty{proposes(aid(t)), says(rigger.Reject)}, func(o *rigger.Options) {
			o.Preset = rigger.PaperALFWorld
		}, rigger.Accepted, "accept screen", "5 5 0", "the rule decides"},
		{"alfworld skips", "11110", proposes(aid(t)), func(o *rigger.Options) { o.Preset = rigger.PaperALFWorld }, rigger.InBand, "", "5 0 0", "0.8 is left alone"},
		{"unchecked", "", proposes(budget(1)), func(o *rigger.Options) { o.Preset = rigger.Unchecked }, rigger.Accepted, "accept static", "0 0 0", "no rollout at all"},
		{"paper wants its direction", pass5, proposes(rigger.Candidate{Stack: budget(7).Stack, Direction: components.Easier}), func(o *rigger.Options) {
			o.Preset = rigger.Paper
		}, rigger.Exhausted, "reject static", "5 0 0", "harder was asked for"},
		{"unchecked wants its direction", "", proposes(rigger.Candidate{Stack: budget(7).Stack, Direction: components.Easier}), func(o *rigger.Options) {
			o.Preset = rigger.Unchecked
		}, rigger.Exhausted, "reject static", "0 0 0", "harder is all that it asks for"},
		{"paper has no score", pass5 + half5, proposes(budget(7)), func(o *rigger.Options) {
			o.Preset, o.Objective = rigger.Paper, scores{math.Inf(1)}
		}, rigger.Exhausted, "reject screen", "5 5 0", "a score that is no number cannot be written"},
		{"has no score", pass5 + half5 + half16, proposes(budget(7)), func(o *rigger.Options) { o.Objective = scores{math.NaN()} }, rigger.Exhausted,
			"reject confirm", "5 5 16", "the same behind the gate"},
		{"needs no score", "", proposes(budget(1)), func(o *rigger.Options) { o.Preset, o.Objective = rigger.Unchecked, scores{math.NaN()} }, rigger.Accepted,
			"accept static", "0 0 0", "it is not asked for"},
		{"unchecked is built", "", proposes(rigger.Candidate{Stack: []components.Entry{{Tag: "no_such"}}}), func(o *rigger.Options) { o.Preset = rigger.Unchecked },
			rigger.Exhausted, "reject static", "0 0 0", "what cannot be built is no component"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.reason == "" {
				t.Fatal("a row without a reason")
			}
			if testing.Short() && strings.Contains(tt.name, " ") {
				t.Skip("the race detector learns nothing from more of them")
			}
			p := problem(t, 0)
			p.NewPolicy = scripted(t, tt.outcomes)
			o := quick(tt.designer)
			o.Attempts = 1
			if tt.change != nil {
				tt.change(o)
			}
			r := rig(t, p, o)
			task := r.Tasks[0]
			var attempts []string
			for _, a := range task.Attempts {
				attempts = append(attempts, fmt.Sprintf("%s %s", a.Decision, a.Steps[len(a.Steps)-1].Step))
			}
			if doc, err := json.Marshal(r); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
			c := r.Cost
			if got := strings.Join(attempts, ", "); task.Outcome != tt.outcome || got != tt.attempts {
				t.Errorf("%s (%s), %q, want %s, %q (%s)\n%+v", task.Outcome, task.Reason, got, tt.outcome, tt.attempts, tt.reason, task.Attempts)
			}
			if got := fmt.Sprint(c.Baseline, c.Screen, c.Confirm); got != tt.cost {
				t.Errorf("cost %s, want %s (%s)", got, tt.cost, tt.reason)
			}
		})
	}
}

// scores is an objective of a fixed score.
type scores struct{ score float64 }

func (scores) Place(m rigger.Measure) rigger.Placement { return rigger.Difficulty{}.Place(m) }
func (s scores) Score(rigger.Measure) float64          { return s.score }
func (scores) String() string                          { return "a success rate of 0.4 to 0.6" }

func TestRigAccepts(t *testing.T) {
	r := rig(t, problem(t, 7), quick(proposes(budget(7))))
	task := r.Tasks[0]
	if len(r.Items) != 1 {
		t.Fatalf("%s: %s\n%+v", task.Outcome, task.Reason, task.Attempts)
	}
	item := r.Items[0]
	if item.Baseline != (rigger.Tally{Pass: 5, Valid: 5}) || item.Direction != components.Harder || item.Counts.Pass < 4 || item.Counts.Pass > 12 ||
		item.Aid || item.RedTeam || item.Unproven || item.Task.Seed == nil {
		t.Errorf("%+v", item)
	}
	if task.Baseline.Optimal != 4 || task.Baseline.Limit != 12 || task.Baseline.Turns < 4 {
		t.Errorf("%+v", task.Baseline)
	}
}

var _ = errors.Is
var _ = bytes.Equal
