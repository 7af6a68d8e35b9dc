package rigger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// Faults of problem and options are found before anything is opened or played, and all of them are told.
func TestRigFaults(t *testing.T) {
	for _, tt := range []struct {
		change func(p *rigger.Problem, o *rigger.Options)
		want   string
		reason string
	}{
		{func(p *rigger.Problem, _ *rigger.Options) { p.Tasks = nil }, "Problem.Tasks is empty", "nothing to do"},
		{func(p *rigger.Problem, _ *rigger.Options) { p.NewPolicy = nil }, "Problem.NewPolicy is nil", "nobody to work for"},
		{func(p *rigger.Problem, _ *rigger.Options) { p.World.New = nil }, "World.New is nil", "no world"},
		{func(p *rigger.Problem, _ *rigger.Options) { p.World.Verifier = nil }, "World.Verifier is nil", "nobody judges"},
		{func(p *rigger.Problem, _ *rigger.Options) { p.Tasks = append(p.Tasks, p.Tasks[0]) }, `tasks 0 and 1 are both "3,3,8,8"`, "twice"},
		{func(p *rigger.Problem, _ *rigger.Options) {
			p.Tasks = []envharness.Task{{ID: "3,3,8,8", Options: json.RawMessage(`{`)}}
		}, `Problem.Tasks[0]: rigger: task "3,3,8,8": options are not JSON`, "options that cannot be read"},
		{func(p *rigger.Problem, _ *rigger.Options) { p.Edges = make([]components.Edge, 1) }, "Problem.Edges[0]", "an edge between nothing"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Baseline = 1 }, "Options.Baseline is 1, want at least 2", "one rollout is no rate"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Screen = -1 }, "Options.Screen is -1, want at least 2", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Confirm = 7 }, "Options.Confirm is 7, want at least 8", "too few to confirm"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Attempts = 21 }, "Options.Attempts is 21, want at most 20", "too many"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Accept = -1 }, "Options.Accept is -1", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.NullEpisodes = -1 }, "Options.NullEpisodes is -1", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.MaxComponents = 9 }, "Options.MaxComponents is 9, want at most 8", "too many"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.SearchLimit = new(-1) }, "Options.SearchLimit is -1", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Alpha = new(.5) }, "Options.Alpha is 0.5", "not below one half"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Alpha = new(0.) }, "Options.Alpha is 0", "no error is no level"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Alpha = new(1e-300) }, "Options.Alpha is 1e-300, want at least 1e-12",
			"no level below 1 is that high"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Baseline = 1001 }, "Options.Baseline is 1001, want at most 1000", "too many"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Screen = math.MaxInt }, "want at most 1000", "too many to count"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Confirm = 1 << 40 }, "want at most 1000", "too many to try"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.NullEpisodes = 10001 }, "Options.NullEpisodes is 10001, want at most 10000", "too many"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Designer = (*rigger.Rules)(nil) }, "Options.Designer is a nil *rigger.Rules", "no designer"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Designer = (*rigger.Model)(nil) }, "Options.Designer is a nil *rigger.Model", "no model"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Designer = rigger.DesignerFunc(nil) }, "Options.Designer is a nil rigger.DesignerFunc",
			"no function"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Budget.Rollouts = 25 },
			"Options.Budget.Rollouts is 25, want at least 26: 5 of the baseline, and 21 that an attempt may take", "a baseline for nothing"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Confirm = 191 }, "Options.Budget.Rollouts is 200, want at least 201", "the default is too low"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Preset, o.Budget.Rollouts = rigger.Paper, 9 }, "Options.Budget.Rollouts is 9, want at least 10",
			"no confirmation"},
		{func(p *rigger.Problem, o *rigger.Options) {
			p.NewReference, o.Objective, o.Budget.Rollouts = p.NewPolicy, rigger.Regret{}, 51
		}, "Options.Budget.Rollouts is 51, want at least 52: 10 of the baseline, and 42 that an attempt may take", "a reference takes as many"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.AxisCap = new(math.NaN()) }, "Options.AxisCap is NaN", "no number"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Budget.Rollouts = -1 }, "Options.Budget.Rollouts is -1", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Budget.Turns = -1 }, "Options.Budget.Turns is -1", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Budget.Tokens = -1 }, "Options.Budget.Tokens is -1", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Preset = 4 }, "Options.Preset is 4, want at most 3", "unknown"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Rollout.Seed = 1 }, "Options.Rollout: Seed, Kind and Progress", "the run sets it"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Rollout.Kind = "x" }, "Options.Rollout: Seed, Kind and Progress", "the run sets it"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Rollout.Parallel = -1 }, "must not be negative", "negative"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Objective = rigger.Regret{} }, "Problem.NewReference is nil", "nobody to compare with"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Objective = &rigger.Regret{} }, "Problem.NewReference is nil", "the same by its address"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Objective = rigger.RedTeam{Least: new(2.)} }, "RedTeam.Least is 2", "its own check"},
		{func(_ *rigger.Problem, o *rigger.Options) {
			o.Objective, o.Preset = rigger.RedTeam{}, rigger.PaperALFWorld
		},
			"Options.Objective is given", "the preset has its own"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Preset, o.RigInBand = rigger.PaperALFWorld, true }, "Options.RigInBand is set",
			"half of these would have to be harder"},
		{func(p *rigger.Problem, o *rigger.Options) { p.Fingerprint, o.Journal = "", &rigger.Journal{} }, "Problem.Fingerprint is empty",
			"rollouts of another policy would be used again"},
		{func(_ *rigger.Problem, o *rigger.Options) {
			o.Journal, o.Designer = &rigger.Journal{}, rigger.DesignerFunc(func(context.Context, rigger.Brief) (rigger.Candidate, error) {
				return budget(7), nil
			})
		}, "the designer rigger.DesignerFunc has no method String", "all functions are of one type"},
		{func(_ *rigger.Problem, o *rigger.Options) { o.Objective = panicking{} }, "objective: panic", "a panic is an error"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p, o := problem(t, 7), quick(proposes(budget(7)))
		opened := 0
		p.World.New = func(context.Context) (envharness.Environment, error) {
			opened++
			return nil, errors.New("opened")
		}
		tt.change(&p, o)
		r, err := rigger.Rig(t.Context(), p, o)
		if r != nil || err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "rigger: ") || opened > 0 {
			t.Errorf("%v (opened %d times), want %q (%s)", err, opened, tt.want, tt.reason)
		}
	}
	_, err := rigger.Rig(t.Context(), rigger.Problem{}, &rigger.Options{Baseline: 1, Attempts: 99})
	for _, want := range []string{"World.New", "World.Verifier", "NewPolicy", "Tasks", "Baseline", "Attempts"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s in it", err, want)
		}
	}
}

// panicking is an objective that fails.
type panicking struct{ rigger.Difficulty }

func (panicking) Place(rigger.Measure) rigger.Placement { panic("no idea") }

// never is an objective that nothing meets.
type never struct{ rigger.Difficulty }

func (never) Place(rigger.Measure) rigger.Placement { return rigger.TooHard }

// An objective that no outcome could meet is told of at once, and one that only this baseline rules out ends the task.
func TestRigUnreachable(t *testing.T) {
	for _, tt := range []struct {
		o      rigger.Options
		reason string
	}{
		{rigger.Options{Screen: 3}, "worked example: no rate of 3 lies in [0.4, 0.6]"},
		{rigger.Options{Screen: 3, Preset: rigger.Paper}, "the same without a confirmation"},
		{rigger.Options{Objective: rigger.Difficulty{Confirm: rigger.Band{Lo: .51, Hi: .55}}}, "no rate of 16 lies between 8/16 and 9/16"},
		{rigger.Options{Objective: rigger.Difficulty{Inside: rigger.Band{Lo: .3, Hi: .7}}}, "the interval of 8 of 16 at 0.99 is wider"},
		{rigger.Options{Objective: never{}}, "nothing is within"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p := problem(t, 7)
		p.NewPolicy = func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
			t.Fatal("a rollout was paid")
			return nil, nil
		}
		if _, err := rigger.Rig(t.Context(), p, &tt.o); !errors.Is(err, rigger.ErrBandUnreachable) {
			t.Errorf("%v (%s)", err, tt.reason)
		}
	}
	p := problem(t, 0)
	p.NewPolicy = scripted(t, "10000")
	o := quick(proposes(budget(7)))
	o.Objective, o.RigInBand = rigger.RedTeam{}, true
	if r := rig(t, p, o); r.Tasks[0].Outcome != rigger.Unreachable || r.Cost.Screen > 0 {
		t.Errorf("%+v", r.Tasks[0])
	}
}

// deterministic is a policy that says so of itself.
type deterministic struct{ envharness.Policy }

func (deterministic) Deterministic() bool { return true }

func TestRigRefusesDeterministicPolicies(t *testing.T) {
	p := problem(t, 0)
	inner := p.NewPolicy
	acted := false
	p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		policy, err := inner(task, rng)
		return deterministic{envharness.PolicyFunc(func(ctx context.Context, turn envharness.Turn) (envharness.Action, error) {
			acted = true
			return policy.Act(ctx, turn)
		})}, err
	}
	if _, err := rigger.Rig(t.Context(), p, quick(proposes())); err == nil || !strings.Contains(err.Error(), "deterministic") || acted {
		t.Errorf("%v, acted: %v", err, acted)
	}
	p.World = worldOf(func(e envharness.Environment) envharness.Environment { return drawing{e} })
	if _, err := rigger.Rig(t.Context(), p, quick(proposes())); err != nil || !acted {
		t.Errorf("in a world that is not deterministic: %v", err)
	}
}

// drawing is an environment that does not call itself deterministic.
type drawing struct{ envharness.Environment }

func (d drawing) Describe() envharness.Description {
	e, _ := envharness.As[envharness.Describer](d.Environment)
	about := e.Describe()
	about.Deterministic = false
	return about
}

func (d drawing) Unwrap() envharness.Environment { return d.Environment }

// An attempt begins only if it fits into what is left.
func TestRigBudgets(t *testing.T) {
	for _, tt := range []struct {
		budget   rigger.Budget
		attempts int
		outcome  rigger.Outcome
		reason   string
	}{
		{rigger.Budget{}, 3, rigger.Exhausted, "200 rollouts are enough"},
		{rigger.Budget{Rollouts: 26}, 1, rigger.OutOfBudget, "5 and 21, of which 5 are used"},
		{rigger.Budget{Rollouts: 31}, 2, rigger.OutOfBudget, "5, 5 and 21"},
		{rigger.Budget{Rollouts: 36}, 3, rigger.Exhausted, "5, 5, 5 and 21"},
		{rigger.Budget{Turns: 25}, 0, rigger.OutOfBudget, "the baseline took 25"},
		{rigger.Budget{Turns: 26}, 1, rigger.OutOfBudget, "one more was left"},
		{rigger.Budget{Turns: 100}, 2, rigger.OutOfBudget, "25 for the baseline, 35 and 40 for two screenings"},
		{rigger.Budget{Turns: 101}, 3, rigger.Exhausted, "one more was left"},
		{rigger.Budget{Tokens: 250}, 0, rigger.OutOfBudget, "the baseline took 25 answers of 10 tokens"},
		{rigger.Budget{Tokens: 251}, 1, rigger.OutOfBudget, "one more was left"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p := problem(t, 0)
		inner := scripted(t, "11111"+"00000"+"00000"+"00000")
		p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			policy, err := inner(task, rng)
			return telling{policy}, err
		}
		o := quick(proposes(budget(7), budget(8), budget(9)))
		o.Attempts, o.Budget = 3, tt.budget
		r := rig(t, p, o)
		if task := r.Tasks[0]; len(task.Attempts) != tt.attempts || task.Outcome != tt.outcome {
			t.Errorf("%+v: %d attempts, %s: %s; want %d, %s (%s)", tt.budget, len(task.Attempts), task.Outcome, task.Reason, tt.attempts, tt.outcome, tt.reason)
		}
		if r.Cost.Tokens != 10*r.Cost.Turns || r.Cost.Rollouts() > 0 && r.Cost.Turns == 0 || tt.budget.Rollouts > 0 && r.Cost.Rollouts() > tt.budget.Rollouts {
			t.Errorf("%+v", r.Cost)
		}
	}
}

// telling is a policy each of whose answers takes 10 tokens.
type telling struct{ envharness.Policy }

func (telling) Explain() (string, int) { return "so be it", 10 }

// Progress tells the phases in order, with rollouts that never go back.
func TestRigProgress(t *testing.T) {
	for _, parallel := range []int{1, 4} {
		var phases []string
		last := rigger.Progress{}
		p := problem(t, 7)
		p.Tasks = append(p.Tasks, envharness.Task{ID: "1,2"})
		o := quick(proposes(budget(7)))
		o.Rollout.Parallel = parallel
		o.Progress = func(now rigger.Progress) {
			if now.Tasks != 2 || now.Done > now.Total {
				t.Errorf("%+v", now)
			}
			if now.Phase != last.Phase || now.Attempt != last.Attempt || now.ID != last.ID {
				phases = append(phases, fmt.Sprintf("%d %s %d", now.Task, now.Phase, now.Attempt))
			} else if now.Phase != "check" && now.Done != last.Done+1 && now.Done != 0 {
				t.Errorf("%+v after %+v", now, last)
			}
			last = now
		}
		rig(t, p, o)
		want := []string{"0 baseline 0", "0 design 1", "0 check 1", "0 screen 1", "0 confirm 1", "2  0"}
		if d := cmp.Diff(want, phases); d != "" {
			t.Errorf("%d at once (-want +got)\n%s", parallel, d)
		}
	}
	p, o := problem(t, 7), quick(proposes())
	o.Progress = func(rigger.Progress) { panic("the caller's own") }
	defer func() {
		if got := recover(); got != "the caller's own" {
			t.Errorf("%v", got)
		}
	}()
	_, _ = rigger.Rig(t.Context(), p, o)
	t.Error("a panic of the caller was swallowed")
}

// Objectives around others.
type (
	louder struct{ rigger.RedTeam }
	keener struct{ rigger.Regret }
)

// A reference that the objective does not use is never played.
func TestRigSparesReference(t *testing.T) {
	p := problem(t, 0)
	p.NewPolicy = scripted(t, "11111"+"10101"+"1010101010101010")
	p.NewReference = func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
		t.Error("it was played")
		return nil, errors.New("it was played")
	}
	o := quick(proposes(budget(7)))
	o.Budget.Rollouts = 26
	if r := rig(t, p, o); len(r.Items) != 1 || r.Cost.Reference > 0 {
		t.Errorf("%v%+v", r, r.Cost)
	}
}

// What makes infrastructure fail is told, wherever it does.
func TestRigTellsTheCause(t *testing.T) {
	for _, tt := range []struct {
		good   int // policies that are made
		want   string
		reason string
	}{
		{0, "3,3,8,8: infra, infrastructure failed: 0 of 5 rollouts of the policy could be judged: ", "the baseline"},
		{5, "reject, infrastructure failed: 0 of 5 rollouts of the policy could be judged: ", "the screening"},
		{10, "reject, the confirmation: infrastructure failed: 0 of 13 rollouts of the policy could be judged: ", "the confirmation"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p := problem(t, 0)
		inner := scripted(t, "11111"+"10101")
		made := 0
		p.NewPolicy = func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			if made++; made > tt.good {
				return nil, errors.New("no key for the service")
			}
			return inner(task, rng)
		}
		o := quick(proposes(budget(7)))
		o.Rollout.Reruns, o.Attempts = new(0), 1
		got := rig(t, p, o).String()
		_, after, found := strings.Cut(got, tt.want)
		if line, _, _ := strings.Cut(after, "\n"); !found || !strings.Contains(line, "no key for the service") {
			t.Errorf("%s\nwant %q and the cause (%s)", got, tt.want, tt.reason)
		}
	}
}

// unplanned is an environment whose oracle finds nothing.
type unplanned struct{ envharness.Environment }

func (u unplanned) Unwrap() envharness.Environment { return u.Environment }

func (unplanned) Plan(context.Context) ([]envharness.Action, error) {
	return nil, envharness.ErrNotProven
}

// Where nobody knows a way there is nothing to make a scaffold of, which is told; where there is a plan, the designer has just nothing to say.
func TestRigWithoutAWay(t *testing.T) {
	for _, tt := range []struct {
		world  envharness.World
		plays  string
		told   bool
		reason string
	}{
		{worldOf(func(e envharness.Environment) envharness.Environment { return unplanned{e} }), "00000", true, "no pass and no plan"},
		{worldOf(func(e envharness.Environment) envharness.Environment { return unplanned{e} }), "00001", false, "a pass"},
		{worldOf(func(e envharness.Environment) envharness.Environment { return e }), "00000", false, "a plan"},
		{worldOf(func(e envharness.Environment) envharness.Environment { return unplanned{e} }), "11111", false, "harder"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p := problem(t, 0)
		p.World, p.NewPolicy = tt.world, scripted(t, tt.plays)
		task := rig(t, p, quick(proposes())).Tasks[0]
		if task.Outcome != rigger.NoCandidate || strings.Contains(task.Reason, "envharness.Oracle") != tt.told {
			t.Errorf("%s: %s (%s)", task.Outcome, task.Reason, tt.reason)
		}
	}
}

// Design and Decide are both paid.
func TestRigCountsDecisions(t *testing.T) {
	p := problem(t, 0)
	p.NewPolicy = scripted(t, "11111"+"00000"+"10101")
	o := quick(chatty{proposes(budget(7), budget(8)), says(rigger.Refine)})
	o.Preset, o.Attempts = rigger.Paper, 2
	if r := rig(t, p, o); r.Cost.Designs != 4 {
		t.Errorf("%v%+v", r, r.Cost)
	}
}

// A panic of the caller's own Progress leaves no worker behind: one that did would end the test.
func TestProgressPanics(t *testing.T) {
	for _, parallel := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			p, o := problem(t, 7), quick(proposes())
			o.Rollout.Parallel = parallel
			o.Progress = func(now rigger.Progress) {
				if now.Done == 1 {
					panic("the caller's own")
				}
			}
			func() {
				defer func() {
					if got := recover(); got != "the caller's own" {
						t.Errorf("%v", got)
					}
				}()
				_, _ = rigger.Rig(t.Context(), p, o)
			}()
			synctest.Wait()
			var stacks bytes.Buffer
			if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(stacks.String(), "created by github.com/throughline-go/throughline/envharness/rigger.(*table).play"); n > 0 {
				t.Errorf("%d at once: %d workers are left", parallel, n)
			}
		})
	}
}

// Other objectives, by the outcomes of rollouts.
func TestRigObjectives(t *testing.T) {
	half := "1010101010101010"
	for _, tt := range []struct {
		name      string
		objective rigger.Objective
		outcomes  string
		reference string // of the reference policy
		outcome   rigger.Outcome
		score     float64
		reason    string
	}{
		{"red team", rigger.RedTeam{}, "11111" + "00000" + "0000000000000000", "", rigger.Accepted, 1, "all fail, and the oracle passes"},
		{"red team by address", &rigger.RedTeam{}, "11111" + "00000" + "0000000000000000", "", rigger.Accepted, 1, "the same"},
		{"red team within another", louder{}, "11111" + "00000" + "0000000000000000", "", rigger.Accepted, 1, "the mark stays"},
		{"red team by luck", rigger.RedTeam{}, "11111" + "00011" + "1111111111000000", "", rigger.NoCandidate, 0, "6 failures of 16 are too few"},
		{"red team fails already", rigger.RedTeam{}, "10000", "", rigger.InBand, 0, "failures need not be found"},
		{"learnability", rigger.Learnability{}, "11111" + "10000" + "1111000000000000", "", rigger.Accepted, 4 * 12. / (16 * 15), "1 of 5 and 4 of 16 do"},
		{"learnability is low", rigger.Learnability{}, "11111" + "10000" + "1110000000000000", "", rigger.NoCandidate, 0, "3 of 16 does not"},
		{"regret", rigger.Regret{}, "11111" + "10101" + half, "11111" + "11111" + "1111111111111111", rigger.Accepted, .5, "16 less 8 of 16"},
		{"regret within another", keener{}, "11111" + "10101" + half, "11111" + "11111" + "1111111111111111", rigger.Accepted, .5,
			"the reference is played for it as well"},
		{"regret is low", rigger.Regret{}, "11111" + "10101" + half, "11111" + "11111" + "1111111111000000", rigger.NoCandidate, 0, "10 less 8 of 16"},
		{"regret already", rigger.Regret{}, "10100", "11111", rigger.InBand, 0, "0.6 on the unmodified task"},
		{"reference fails", rigger.Regret{}, "11111", "1111i", rigger.Infra, 0, "a reference that cannot be judged"},
		{"reference fails in the confirmation", rigger.Regret{}, "11111" + "10101" + half, "11111" + "11111" + "111111111111111i", rigger.NoCandidate, 0,
			"15 of 16 are no measure"},
		{"reference fails later", rigger.Regret{}, "11111" + "10101" + half, "11111" + "1111i", rigger.NoCandidate, 0, "rejected, and not for the difficulty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.reason == "" {
				t.Fatal("a row without a reason")
			}
			p := problem(t, 0)
			p.NewPolicy = scripted(t, tt.outcomes)
			if tt.reference != "" {
				p.NewReference = scripted(t, tt.reference)
			}
			o := quick(proposes(budget(7)))
			o.Objective, o.Rollout.Reruns = tt.objective, new(0)
			r := rig(t, p, o)
			if r.Tasks[0].Outcome != tt.outcome {
				t.Fatalf("%s: %s, want %s (%s)\n%+v", r.Tasks[0].Outcome, r.Tasks[0].Reason, tt.outcome, tt.reason, r.Tasks[0].Attempts)
			}
			red := strings.HasPrefix(tt.name, "red team")
			for _, item := range r.Items {
				if math.Abs(item.Score-tt.score) > 1e-12 || item.RedTeam != red || item.Objective != tt.objective.String() {
					t.Errorf("%+v", item)
				}
			}
			if (r.Cost.Reference > 0) != (tt.reference != "") {
				t.Errorf("%+v", r.Cost)
			}
		})
	}
}

// A designer that accepts everything, over a world in which nobody passes, leads nowhere.
func TestRigAcceptsNothingThatFails(t *testing.T) {
	p := problem(t, 0)
	p.World.Verifier = envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
		return envharness.Verdict{Status: envharness.Fail}, nil
	})
	for _, objective := range []rigger.Objective{rigger.Difficulty{}, rigger.RedTeam{}, rigger.Learnability{}} {
		o := quick(chatty{proposes(aid(t), aid(t), aid(t), aid(t), aid(t)), says(rigger.Accept)})
		o.Objective, o.RigInBand = objective, true
		if r := rig(t, p, o); len(r.Items) > 0 || r.Cost.Baseline != 5 {
			t.Errorf("%v: %+v", objective, r)
		}
	}
}

// A reference takes as many rollouts as the policy, and they are reserved as well.
func TestRigReservesReference(t *testing.T) {
	for rollouts, want := range map[int]int{10 + 42: 1, 20 + 41: 1, 20 + 42: 2} {
		p := problem(t, 0)
		p.NewPolicy, p.NewReference = scripted(t, "11111"+"11111"+"11111"), scripted(t, "")
		o := quick(proposes(budget(8), budget(7)))
		o.Objective, o.Attempts, o.Budget.Rollouts = rigger.Regret{}, 2, rollouts
		if r := rig(t, p, o); len(r.Tasks[0].Attempts) != want || r.Cost.Rollouts() > rollouts {
			t.Errorf("%d rollouts: %d attempts, want %d: %+v", rollouts, len(r.Tasks[0].Attempts), want, r.Cost)
		}
	}
}

// never is also what an objective with a reference is at worst: with hundreds of rollouts there are too many outcomes to try for every
// baseline, and the tasks find out.
type neverWithReference struct{ never }

func (neverWithReference) UsesReference() bool { return true }

func TestCheckEnds(t *testing.T) {
	p := problem(t, 7)
	p.NewReference = p.NewPolicy
	o := &rigger.Options{Objective: neverWithReference{}, Budget: rigger.Budget{Rollouts: 6000}}
	if err := o.Check(p); !errors.Is(err, rigger.ErrBandUnreachable) {
		t.Errorf("with few rollouts: %v", err)
	}
	o.Baseline, o.Screen, o.Confirm = 1000, 1000, 1000
	if err := o.Check(p); err != nil { // it would take hours
		t.Errorf("with many rollouts: %v", err)
	}
	if testing.Short() {
		return
	}
	o.Objective = never{}
	if err := o.Check(p); !errors.Is(err, rigger.ErrBandUnreachable) {
		t.Errorf("without a reference: %v", err)
	}
}

// The smallest error level still has intervals, whatever the attempts.
func TestRigSmallestAlpha(t *testing.T) {
	p := problem(t, 0)
	p.NewPolicy = scripted(t, "11111"+"10101"+"1010101010101010")
	o := quick(proposes(budget(7)))
	o.Alpha, o.Attempts = new(1e-12), 20
	if r := rig(t, p, o); len(r.Items) != 1 || !(r.Items[0].Interval.Lo > 0 && r.Items[0].Interval.Lo < .1) {
		t.Errorf("%v%+v", r, r.Items)
	}
}
