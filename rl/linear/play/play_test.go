package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/linear"
	"github.com/throughline-go/throughline/rl/rollout"
)

const dim = 1 << 12

func tasks(t *testing.T, n int) []envharness.Task {
	t.Helper()
	all, err := tooldesk.New(nil).Tasks(context.Background(), "train")
	if err != nil {
		t.Fatal(err)
	}
	return all[:n]
}

func plan(ctx context.Context, t envharness.Task) ([]envharness.Action, error) {
	d := tooldesk.New(nil)
	if _, err := d.Reset(ctx, envharness.ResetOptions{Task: t.ID}); err != nil {
		return nil, err
	}
	return d.Plan(ctx)
}

func untrained(t testing.TB) *linear.Policy {
	t.Helper()
	p, err := linear.New(dim)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// trained returns a policy that prefers some actions, so that sampling has something to do.
func trained(t testing.TB) *linear.Policy {
	t.Helper()
	p := untrained(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		c := [][]linear.Feature{{{Index: rng.Uint32N(dim), Value: 1}}, {{Index: rng.Uint32N(dim), Value: 1}}}
		if err := p.AddGrad(c, rng.IntN(2), -1, 1); err != nil {
			panic(err)
		}
		if _, err := p.Step(nil); err != nil {
			panic(err)
		}
	}
	return p
}

// The result does not depend on the number of workers, and another seed gives other episodes.
func TestCollectDeterministic(t *testing.T) {
	p := trained(t)
	type result struct {
		episodes []rollout.Episode
		choices  [][]Choice
	}
	collect := func(seed uint64, parallel int) result {
		es, cs, err := Collect(context.Background(), tooldesk.World(nil), []envharness.Component{components.ToolFail{Nth: 2}}, p, tasks(t, 24),
			&Options{Rollout: &rollout.Options{Seed: seed, Parallel: parallel}})
		if err != nil {
			t.Fatal(err)
		}
		return result{es, cs}
	}
	one := collect(1, 1)
	// Episodes hold millions of numbers, too many for cmp.
	if !reflect.DeepEqual(one, collect(1, 8)) {
		t.Error("1 and 8 workers gave different episodes")
	}
	if reflect.DeepEqual(one, collect(2, 1)) {
		t.Error("another seed gave the same episodes")
	}
}

// What Collect returns is consistent: valid trajectories, one token a turn with the log-probability that the policy gives to the choice, the
// reward on the last turn of a passed episode and nowhere else.
func TestCollectTrajectories(t *testing.T) {
	p := trained(t)
	for _, mode := range []struct {
		name string
		o    Options
	}{
		{"sampled", Options{Rollout: &rollout.Options{Seed: 3}}},
		{"planned", Options{Plan: plan, Rollout: &rollout.Options{SuccessReward: 4}}},
		{"greedy", Options{Temperature: new(0.0)}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			es, choices, err := Collect(context.Background(), tooldesk.World(nil), nil, p, tasks(t, 18), &mode.o)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range es {
				if n := len(choices[i]); n != len(e.Trajectory.Turns) || n != len(e.Trace.Turns) {
					t.Fatalf("episode %d: %d choices, %d turns of the trajectory, %d of the trace", i, n, len(e.Trajectory.Turns), len(e.Trace.Turns))
				}
				want := 0.0
				if e.Trace.Verdict.Status == envharness.Pass {
					if want = 10; mode.o.Plan != nil {
						want = 4
					}
				} else if mode.o.Plan != nil {
					t.Errorf("episode %d: the plan failed: %s %s", i, e.Trace.Verdict.Reason, e.Trace.Cause)
				}
				if got := e.Trajectory.Score(); got != want || *e.Trajectory.Success != (want > 0) {
					t.Errorf("episode %d: score %v, success %v, want score %v", i, got, *e.Trajectory.Success, want)
				}
				for k, c := range choices[i] {
					got := p.LogProbs(nil, c.Candidates, 1)
					tok := e.Trajectory.Turns[k].Tokens[0]
					if tok.ID != c.Chosen || tok.LogProb != got[c.Chosen] || !tok.Trainable {
						t.Errorf("episode %d turn %d: token %+v, choice %d with log-probability %v", i, k, tok, c.Chosen, got[c.Chosen])
					}
					if mode.name == "greedy" && c.Chosen != linear.Greedy(got) {
						t.Errorf("episode %d turn %d: chose %d, the most probable is %d", i, k, c.Chosen, linear.Greedy(got))
					}
					if invalid := e.Trace.Turns[k].Shown.Error != nil; e.Trajectory.Turns[k].Invalid != invalid {
						t.Errorf("episode %d turn %d: invalid %v, want %v", i, k, !invalid, invalid)
					}
				}
			}
			if err := rl.Validate(rollout.Trajectories(es)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A planned step that fails for no lasting reason is tried again.
func TestPlanRetries(t *testing.T) {
	es, _, err := Collect(context.Background(), tooldesk.World(nil), []envharness.Component{components.ToolFail{Tools: []string{"get_order"}, Count: 2}},
		untrained(t), tasks(t, 6), &Options{Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range es {
		if e.Trace.Verdict.Status != envharness.Pass {
			t.Errorf("episode %d (%s): %s %s", i, e.Trace.Task.ID, e.Trace.Verdict.Reason, e.Trace.Cause)
		}
	}
}

func TestPlanFaults(t *testing.T) {
	steps := func(as ...envharness.Action) func(context.Context, envharness.Task) ([]envharness.Action, error) {
		return func(context.Context, envharness.Task) ([]envharness.Action, error) { return as, nil }
	}
	tests := []struct {
		name, want, reason string
		plan               func(context.Context, envharness.Task) ([]envharness.Action, error)
	}{
		{"unknown action", "planned action fly", "a plan that cannot be played must not become data", steps(envharness.Action{Name: "fly"})},
		{"too short", "did not end the episode", "an unfinished plan is no demonstration", steps()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			es, _, err := Collect(context.Background(), tooldesk.World(nil), nil, untrained(t), tasks(t, 1), &Options{Plan: tt.plan})
			if err != nil {
				t.Fatal(err)
			}
			if got := es[0].Trace.Cause; !strings.Contains(got, tt.want) || es[0].Trace.Verdict.Status == envharness.Pass {
				t.Errorf("verdict %s, cause %q, want %q: %s", es[0].Trace.Verdict.Status, got, tt.want, tt.reason)
			}
		})
	}
	boom := errors.New("boom")
	_, _, err := Collect(context.Background(), tooldesk.World(nil), nil, untrained(t), tasks(t, 1), &Options{
		Plan: func(context.Context, envharness.Task) ([]envharness.Action, error) { return nil, boom },
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "T1-0000") {
		t.Errorf("error of a planner: %v, want it wrapped with the task", err)
	}
}

// mute is an environment without admissible actions, broken one whose steps fail.
type mute struct{ broken bool }

func (m mute) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	if m.broken {
		return envharness.Observation{Actions: []envharness.Action{{Name: "go"}}}, nil
	}
	return envharness.Observation{Text: "anything goes"}, nil
}
func (mute) Step(context.Context, envharness.Action) (envharness.Transition, error) {
	return envharness.Transition{}, errors.New("cable cut")
}
func (mute) Close() error { return nil }

func world(m mute) envharness.World {
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return m, nil },
		Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

// An episode that says nothing about the policy has no vote, whatever went wrong.
func TestExcluded(t *testing.T) {
	for _, m := range []mute{{broken: true}, {}} {
		es, _, err := Collect(context.Background(), world(m), nil, untrained(t), []envharness.Task{{ID: "a"}, {ID: "a"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		batch := rollout.Trajectories(es)
		for i, tr := range batch {
			if tr.Excluded == "" {
				t.Errorf("broken %v, episode %d: %+v is not excluded", m.broken, i, tr)
			}
		}
		if _, err := rl.GRPO(nil, batch, nil); err != nil {
			t.Errorf("broken %v: excluded trajectories must not stop an estimator: %v", m.broken, err)
		}
	}
}

func TestCollectArguments(t *testing.T) {
	for _, temperature := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, _, err := Collect(context.Background(), tooldesk.World(nil), nil, untrained(t), tasks(t, 1), &Options{Temperature: &temperature})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(temperature)) {
			t.Errorf("temperature %v: error %v, want one that names it", temperature, err)
		}
	}
	if _, _, err := Collect(context.Background(), tooldesk.World(nil), nil, nil, tasks(t, 1), nil); err == nil {
		t.Error("no policy was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done atomic.Int64
	es, _, err := Collect(ctx, tooldesk.World(nil), nil, untrained(t), tasks(t, 200), &Options{Rollout: &rollout.Options{Progress: func(n, _ int) {
		done.Store(int64(n))
		if n == 3 {
			cancel()
		}
	}}})
	if es != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled after 3: %d episodes, error %v", len(es), err)
	}
	if n := done.Load(); n > 10 {
		t.Errorf("%d episodes were played after the cancellation", n)
	}
	es, _, err = Collect(context.Background(), tooldesk.World(nil), nil, untrained(t), nil, nil)
	if err != nil || len(es) != 0 {
		t.Errorf("no tasks: %d episodes, error %v", len(es), err)
	}
}

func situation(task string, past []Past, actions ...envharness.Action) *Situation {
	return &Situation{Task: task, Past: past, Turn: envharness.Turn{Shown: envharness.Observation{Actions: actions}}}
}

func call(name string, kv ...string) envharness.Action {
	args := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		args[kv[i]] = kv[i+1]
	}
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return envharness.Action{Name: name, Args: raw}
}

// Renaming an identifier everywhere changes no feature: names never seen in training look like those that were.
func TestFeaturesRename(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := func(label string) string { return rapid.StringMatching(`[A-Z]-[0-9]{4}`).Draw(rt, label) }
		a, b := id("a"), id("b")
		make := func(id string) [][]linear.Feature {
			return CallFeatures(1 << 20)(situation("Please cancel order "+id+" for me.",
				[]Past{{Action: call("get_order", "id", id), Shown: `{"order":"` + id + `","status":"pending"}`}},
				call("cancel", "id", id), call("get_order", "id", id)))
		}
		if diff := cmp.Diff(make(a), make(b)); diff != "" {
			rt.Errorf("%s and %s differ:\n%s", a, b, diff)
		}
	})
}

// What a decision needs can be told apart: each pair of situations must not have equal features.
// A player whose features do not fit says so; the episode says nothing about the policy.
func TestUnfitFeatures(t *testing.T) {
	tests := []struct {
		name, want, reason string
		features           func(n int) [][]linear.Feature
		plan               func(context.Context, envharness.Task) ([]envharness.Action, error)
	}{
		{"index", "dimension 4096", "an index outside the dimension gives no probabilities", func(n int) [][]linear.Feature {
			return slices.Repeat([][]linear.Feature{{{Index: dim, Value: 1}}}, n)
		}, nil},
		{"infinite", "dimension 4096", "nor does an infinite value, also not for a plan", func(n int) [][]linear.Feature {
			return slices.Repeat([][]linear.Feature{{{Value: math.Inf(1)}}}, n)
		}, plan},
		{"too few", "features for 0 of", "one vector for each action", func(int) [][]linear.Feature { return nil }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			es, _, err := Collect(context.Background(), tooldesk.World(nil), nil, untrained(t), tasks(t, 1), &Options{
				Features: func(s *Situation) [][]linear.Feature { return tt.features(len(s.Turn.Shown.Actions)) }, Plan: tt.plan,
			})
			if err != nil {
				t.Fatal(err)
			}
			if e := es[0]; e.Trace.End != envharness.EndPolicyInfra || e.Trajectory.Excluded == "" || !strings.Contains(e.Trace.Cause, tt.want) {
				t.Errorf("%s: end %s, excluded %q, cause %q", tt.reason, e.Trace.End, e.Trajectory.Excluded, e.Trace.Cause)
			}
		})
	}
}

// A plan names an action as JSON, not as bytes.
func TestSame(t *testing.T) {
	tests := []struct {
		a, b, reason string
		want         bool
	}{
		{`{"x":1,"y":2}`, `{ "y": 2.0, "x": 1 }`, "order, spaces and form of numbers", true},
		{``, `{}`, "no arguments are the empty object", true},
		{``, `{"x":1}`, "different arguments", false},
		{`{"x":9007199254740992}`, `{"x":9007199254740993}`, "integers that are one as floats", false},
		{`{`, `{`, "equal bytes, whatever they are", true},
		{`{`, `[`, "no JSON", false},
	}
	for _, tt := range tests {
		got := same(envharness.Action{Name: "a", Args: json.RawMessage(tt.a)}, envharness.Action{Name: "a", Args: json.RawMessage(tt.b)})
		if got != tt.want || tt.reason == "" {
			t.Errorf("%s: same(%s, %s) = %v", tt.reason, tt.a, tt.b, got)
		}
	}
}

func TestFeaturesDistinguish(t *testing.T) {
	read := Past{Action: call("get", "id", "A-1"), Shown: `{"id":"A-1","status":"open"},{"id":"B-2","status":"closed"}`}
	refused := Past{Action: call("cancel", "id", "A-1"), Error: &envharness.ActionError{Class: envharness.ClassPrecondition}, Shown: "conflict"}
	with := func(s *Situation, procedures ...[]string) *Situation { s.Procedures = procedures; return s }
	cancelA, cancelB := call("cancel", "id", "A-1"), call("cancel", "id", "B-2")
	tests := []struct {
		name, reason string
		a, b         *Situation
	}{
		{"tools", "different tools", situation("do it", nil, call("get")), situation("do it", nil, call("put"))},
		{"task words", "the request decides", situation("cancel it", nil, call("get")), situation("refund it", nil, call("get"))},
		{"neighbours", "the row around a value decides", situation("x", []Past{read}, cancelA), situation("x", []Past{read}, cancelB)},
		{"shown in task", "a value in the task is the one meant", situation("cancel A-1", nil, cancelA), situation("cancel A-1", nil, cancelB)},
		{"part of a longer id", "A-1 does not stand in A-12", situation("cancel A-12", nil, cancelA), situation("cancel A-1", nil, cancelA)},
		{"closed set", "a value shown nowhere counts by itself", situation("x", nil, call("set", "v", "red")), situation("x", nil, call("set", "v", "blue"))},
		{"refused", "a refusal is remembered", situation("x", []Past{read}, cancelA), situation("x", []Past{refused}, cancelA)},
		{"skills", "a skill's next step is marked", with(situation("x", nil, cancelA), []string{"cancel"}), with(situation("x", nil, cancelA), []string{"get", "cancel"})},
		{"flags", "true is not false", situation("x", nil, envharness.Action{Name: "set", Args: json.RawMessage(`{"v":true}`)}),
			situation("x", nil, envharness.Action{Name: "set", Args: json.RawMessage(`{"v":false}`)})},
		{"unreadable", "arguments that are no JSON object", situation("x", nil, envharness.Action{Name: "get", Args: json.RawMessage("{")}), situation("x", nil, call("get"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			f := CallFeatures(1 << 24)
			if cmp.Equal(f(tt.a), f(tt.b)) {
				t.Errorf("equal features: %s", tt.reason)
			}
		})
	}
}

func TestNextStep(t *testing.T) {
	tests := []struct {
		proc, done, want, reason string
	}{
		{"a b c", "", "a", "nothing is done"},
		{"a b c", "a", "b", "one step is done"},
		{"a b c", "x a y", "b", "other calls in between do not matter"},
		{"a b c", "b", "a", "steps count in order only"},
		{"a b c", "a b c", "", "all is done"},
		{"a a", "a", "a", "a step may stand twice"},
		{"", "a", "", "an empty procedure has no step"},
	}
	for _, tt := range tests {
		if got := nextStep(strings.Fields(tt.proc), strings.Fields(tt.done)); got != tt.want || tt.reason == "" {
			t.Errorf("nextStep(%s, %s) = %q, want %q: %s", tt.proc, tt.done, got, tt.want, tt.reason)
		}
	}
}

// Whatever is shown, there is one vector per action with indices below the dimension.
func FuzzCallFeatures(f *testing.F) {
	f.Add("cancel A-1 please", `{"id":"A-1","n":[1,2]}`, "get", `{"id":"A-1","n":5,"b":true,"o":{}}`)
	f.Add("\xff\u0301漢字", "\x00", "", "null")
	f.Fuzz(func(t *testing.T, task, shown, name, args string) {
		a := envharness.Action{Name: name, Args: json.RawMessage(args)}
		s := situation(task, []Past{{Action: a, Shown: shown}}, a, a)
		got := CallFeatures(64)(s)
		if len(got) != 2 || !slices.Equal(got[0], got[1]) || len(got[0]) == 0 {
			t.Fatalf("%d vectors for two equal actions", len(got))
		}
		for _, x := range got[0] {
			if x.Index >= 64 || x.Value != 1 {
				t.Fatalf("feature %+v", x)
			}
		}
	})
}

func BenchmarkCollect(b *testing.B) {
	all, err := tooldesk.New(nil).Tasks(context.Background(), "train")
	if err != nil {
		b.Fatal(err)
	}
	p, err := linear.New(1 << 18)
	if err != nil {
		b.Fatal(err)
	}
	turns := 0
	b.ReportAllocs()
	for b.Loop() {
		es, _, err := Collect(context.Background(), tooldesk.World(nil), nil, p, all[:12], &Options{Plan: plan})
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range es {
			turns += len(e.Trajectory.Turns)
		}
	}
	b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
}
