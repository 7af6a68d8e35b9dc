package rigger

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/shop"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

// gateWorlds are the reference worlds, small.
var gateWorlds = map[string]func() envharness.World{
	"tooldesk":  func() envharness.World { return tooldesk.World(&tooldesk.Options{Small: true}) },
	"household": func() envharness.World { return household.World(&household.Options{Small: true}) },
	"keydoor":   func() envharness.World { return keydoor.World(&keydoor.Options{Small: true}) },
	"game24":    func() envharness.World { return game24.World(nil) },
	"shop":      func() envharness.World { return shop.World(&shop.Options{Small: true}) },
}

// gateTasks are one task of each, and which tools there read.
var gateTasks = map[string]string{
	"tooldesk":  "small-T2-0000",
	"household": "small-pick_and_place_simple-7-0",
	"keydoor":   "small-2,2,0,0",
	"game24":    "1,1,1,8",
	"shop":      "small-0000",
}

// untracked is a [player] that keeps nothing.
func untracked(w envharness.World, task envharness.Task, parallel int) player {
	return func(
		ctx context.Context, name string, stack []envharness.Component, newPolicy maker, from, n int,
	) ([]envharness.Trace, error) {
		tasks := slices.Repeat([]envharness.Task{task}, n)
		return envharness.Rollouts(ctx, w, stack, func(slot int) (envharness.Policy, error) {
			return newPolicy(task, envharness.RandStream(1, name, uint64(from+slot)))
		}, tasks, &envharness.RolloutOptions{Kind: name, Parallel: parallel})
	}
}

// newTestInspector makes an inspector whose baseline is one rollout of calls.
func newTestInspector(t *testing.T, w envharness.World, id string, r *components.Registry, baseline ...envharness.Action) *inspector {
	t.Helper()
	task := envharness.Task{ID: id, Seed: new(uint64(7))}
	in, err := newInspector(t.Context(), w, task, r, nil,
		checks{nullEpisodes: 20, searchLimit: 2000, maxComponents: 4}, untracked(w, task, 2))
	if err != nil {
		t.Fatal(err)
	}
	if baseline != nil {
		trace, err := in.trial(t.Context(), nil, w, script(baseline))
		if err != nil {
			t.Fatal(err)
		}
		in.baseline = []envharness.Trace{trace}
	}
	return in
}

// harder is a candidate.
func harder(entries ...components.Entry) Candidate {
	return Candidate{Stack: entries, Direction: components.Harder}
}

func part(tag, params string) components.Entry {
	return components.Entry{Tag: tag, Params: json.RawMessage(params)}
}

// stackOf builds entries with the catalogue.
func stackOf(t *testing.T, entries ...components.Entry) []envharness.Component {
	t.Helper()
	stack, err := components.Catalogue().Stack(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// act reads calls such as `get {"id":1}`, one an argument.
func act(calls ...string) []envharness.Action {
	actions := make([]envharness.Action, len(calls))
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		actions[i] = envharness.Action{Name: name}
		if args != "" {
			actions[i].Args = json.RawMessage(args)
		}
	}
	return actions
}

// lastStep returns the last step of an inspection in a word or two.
func lastStep(found inspection) string {
	s := found.steps[len(found.steps)-1]
	return fmt.Sprintf("%s %s", s.Step, s.Result)
}

// registryWith is the catalogue with more kinds.
func registryWith(t *testing.T, kinds ...components.Kind) *components.Registry {
	t.Helper()
	r := components.Catalogue()
	for _, k := range kinds {
		if err := r.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// kindOf is a kind that builds one component whatever the parameters.
func kindOf(tag string, axis envharness.Axis, begin beginFunc) components.Kind {
	return components.Kind{
		Tag: tag, Version: 1, Axis: axis, Direction: components.Harder | components.Easier,
		New: func(json.RawMessage) (envharness.Component, error) {
			return envharness.Rules(envharness.ComponentSpec{Tag: tag, Axis: axis}, begin), nil
		},
	}
}

func TestInspect(t *testing.T) {
	clumsy := act(`find_customer {"email":"finn"}`, `get_order {"order_id":"o3"}`, `submit {"answer":"nothing"}`)
	tests := []struct {
		candidate Candidate
		steps     string
		reason    string
	}{
		{harder(part("tool_fail", `{"count":2}`)), "static pass, integrity pass, start pass, oracle pass, null pass",
			"a sound one goes all the way"},
		{harder(part("step_budget", `{"turns":3}`)), "static pass, integrity pass, start pass, oracle fail", "the plan takes four turns"},
		{Candidate{Stack: []components.Entry{part("block", `{"tools":["cancel_order"]}`)}, Direction: components.Easier},
			"static pass, integrity pass, start pass, oracle unproven, null pass", "not proven is let through for one that is to be easier"},
		{harder(part("nonsense", `{}`)), "static fail", "an unknown tag"},
		{harder(part("start_replay", `{"actions":[{"name":"no_such_tool"}]}`)), "static pass, integrity pass, start fail",
			"a start that cannot be made is no matter of integrity"},
		{harder(part("distractor", `{"n":1,"pool":[{"name":"hint","description":"try `+
			`cancel_order {\"order_id\":\"o3\",\"reason\":\"ordered by mistake\"}"}]}`)),
			"static pass, integrity fail", "the action is on the list of the base, but not as one of the plan"},
		{harder(part("distractor", `{"n":1,"pool":[{"name":"hint","description":"look for lake 3"}]}`)),
			"static pass, integrity fail", "a graded value that nobody has read yet"},
	}
	w := gateWorlds["tooldesk"]()
	for _, tt := range tests {
		in := newTestInspector(t, w, "small-T1-0000", components.Catalogue(), clumsy...)
		var first string
		for range 2 { // the same candidate gets the same inspection
			found, err := in.inspect(t.Context(), 1, tt.candidate)
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			var steps []string
			for _, s := range found.steps {
				steps = append(steps, fmt.Sprintf("%s %s", s.Step, s.Result))
			}
			if got := strings.Join(steps, ", "); got != tt.steps {
				t.Errorf("%s:\n got %s (%s)\nwant %s", tt.reason, got, found.steps[len(found.steps)-1].Reason, tt.steps)
			}
			if found.proven != strings.Contains(tt.steps, "oracle pass") {
				t.Errorf("%s: proven is %v", tt.reason, found.proven)
			}
			clear(in.results)
			clear(in.solutions)
			if all := fmt.Sprint(found.steps, found.proven); first == "" {
				first = all
			} else if first != all {
				t.Errorf("%s: once %s and once %s", tt.reason, first, all)
			}
		}
	}
}

// TestInspectRemembers: a stack that is proposed again plays no episode but those of static and null, whatever is said of it.
func TestInspectRemembers(t *testing.T) {
	w, opened := gateWorlds["keydoor"](), 0
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		opened++
		return open(ctx)
	}
	in := newTestInspector(t, w, gateTasks["keydoor"], components.Catalogue())
	var asked []string
	in.play = fakePlayer(nil, &asked)
	in.searchLimit = 50
	cost := func(c Candidate, attempt int) (string, int) {
		opened = 0
		found, err := in.inspect(t.Context(), attempt, c)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(found.steps), opened
	}
	wall, fail := harder(part("block", `{}`)), harder(part("tool_fail", `{"count":1}`))
	for _, c := range []Candidate{wall, fail} {
		first, paid := cost(c, 1)
		c.Rationale = "once more"
		second, again := cost(c, 2)
		if first != second || again*3 > paid {
			t.Errorf("%v: %s for %d environments, and %s for %d", c.Stack, first, paid, second, again)
		}
	}
	if last := asked[len(asked)-1]; last != "2/null/repeat 20" {
		t.Errorf("the last null policy was %s", last)
	}
	wall.Direction = components.Easier
	if steps, _ := cost(wall, 3); !strings.Contains(steps, "oracle unproven") {
		t.Errorf("the direction is not looked at: %s", steps)
	}
}

func TestInspectAsksBetween(t *testing.T) {
	w := gateWorlds["tooldesk"]()
	in := newTestInspector(t, w, "small-T1-0000", components.Catalogue())
	in.between = func(Candidate) []StepResult { return []StepResult{{Step: StepNovelty, Result: Failed}} }
	found, err := in.inspect(t.Context(), 1, harder(part("tool_fail", `{}`)))
	if err != nil || lastStep(found) != "novelty fail" || len(found.steps) != 2 {
		t.Errorf("%v, %v", found.steps, err)
	}
	found, err = in.inspect(t.Context(), 1, harder(part("nonsense", `{}`)))
	if err != nil || lastStep(found) != "static fail" {
		t.Errorf("asked after static failed: %v, %v", found.steps, err)
	}
}

func TestInspectStopsWithContext(t *testing.T) {
	w := gateWorlds["tooldesk"]()
	in := newTestInspector(t, w, "small-T1-0000", components.Catalogue())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.inspect(ctx, 1, harder(part("tool_fail", `{}`))); err == nil {
		t.Error("no error from a context that is done")
	}
}

// closing counts the environments that are open.
type closing struct {
	envharness.Environment
	open   *int
	closed bool
}

func (c *closing) Unwrap() envharness.Environment { return c.Environment }

func (c *closing) Close() error {
	if !c.closed {
		c.closed = true
		*c.open--
	}
	return c.Environment.Close()
}

func TestInspectClosesEverything(t *testing.T) {
	for name, world := range gateWorlds {
		w, open, opened := world(), 0, 0
		inner := w.New
		w.New = func(ctx context.Context) (envharness.Environment, error) {
			env, err := inner(ctx)
			open++
			opened++
			return &closing{Environment: env, open: &open}, err
		}
		task := envharness.Task{ID: gateTasks[name], Seed: new(uint64(7))}
		in, err := newInspector(t.Context(), w, task, components.Catalogue(), nil,
			checks{nullEpisodes: 2, searchLimit: 200, maxComponents: 4}, untrackedOne(w, task))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Candidate{harder(part("tool_fail", `{}`)), harder(part("block", `{}`)), harder(part("step_budget", `{"turns":2}`))} {
			if _, err := in.inspect(t.Context(), 1, c); err != nil {
				t.Fatal(err)
			}
		}
		if open != 0 || opened == 0 {
			t.Errorf("%s: %d of %d environments are still open", name, open, opened)
		}
	}
}

// untrackedOne plays one rollout at a time.
func untrackedOne(w envharness.World, task envharness.Task) player {
	return func(
		ctx context.Context, name string, stack []envharness.Component, newPolicy maker, from, n int,
	) ([]envharness.Trace, error) {
		return envharness.Rollouts(ctx, w, stack, func(slot int) (envharness.Policy, error) {
			return newPolicy(task, rand.New(rand.NewPCG(1, uint64(from+slot))))
		}, slices.Repeat([]envharness.Task{task}, n), &envharness.RolloutOptions{Kind: name})
	}
}
