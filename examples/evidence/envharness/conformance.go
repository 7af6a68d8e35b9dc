package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/envtest/doubles"
	"github.com/throughline-go/throughline/envharness/vector"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// conformanceResult counts what went through the kit.
type conformanceResult struct {
	Envs       int      `json:"envs"`       // reference worlds, and one variant
	Components int      `json:"components"` // kinds of the catalogue
	Verifiers  int      `json:"verifiers"`
	Runners    int      `json:"runners"`
	Rules      int      `json:"rules"`  // of the kit
	Failed     int      `json:"failed"` // broken rules
	Failures   []string `json:"failures,omitempty"`
}

// doublesResult counts the doubles of which the kit found the one fault and no other.
type doublesResult struct {
	Doubles  int      `json:"doubles"`
	Rules    int      `json:"rules"` // that have a double
	Caught   int      `json:"caught"`
	Failures []string `json:"failures,omitempty"`
}

// mostNull is what a policy without skill may pass in a world without a chance rate. The kit plays too few episodes to allow for none.
const mostNull = 0.02

func runConformance(ctx context.Context) (conformanceResult, error) {
	r := conformanceResult{Rules: len(envtest.Rules())}
	hand := []envharness.Task{{ID: "3,3,8,8"}, {ID: "1,5,5,5"}, {ID: "6,6,6,6"}}
	r.world(ctx, "game24_loose", game24.World(&game24.Options{LooseStop: true}), hand, 0)
	for _, w := range worlds.All() {
		d, err := w.Describe(ctx)
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.Name, err)
		}
		tasks, err := threeTasks(ctx, w)
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.Name, err)
		}
		r.world(ctx, w.Name, w.World, tasks, max(d.Chance, mostNull))
	}
	for _, kind := range components.Catalogue().Kinds() {
		c, err := componentCheck(kind)
		if err != nil {
			return r, fmt.Errorf("%s: %w", kind.Tag, err)
		}
		r.Components++
		r.note(kind.Tag, c.Check(ctx))
	}
	r.Runners++
	r.note("vector", envtest.Runner{New: func(w envharness.World, n int, o *vector.Options) (envtest.Vector, error) {
		return vector.New(w, nil, n, o)
	}}.Check(ctx))
	return r, ctx.Err()
}

// threeTasks returns a task of each of three splits. The first is one's first, the second another's second and so on, as lists of tasks go
// through the kinds of a world in turn.
func threeTasks(ctx context.Context, w worlds.World) ([]envharness.Task, error) {
	var three []envharness.Task
	for i, split := range []string{"train", "test", "ood"} {
		tasks, err := w.Tasks(ctx, split)
		if err != nil {
			return nil, err
		}
		if len(tasks) <= i {
			return nil, fmt.Errorf("split %s has %d tasks", split, len(tasks))
		}
		three = append(three, tasks[i])
	}
	return three, nil
}

// world checks a world and its verifier.
func (r *conformanceResult) world(ctx context.Context, name string, w envharness.World, tasks []envharness.Task, chance float64) {
	env := envtest.Environment{New: w.New, Tasks: tasks, SeedBlind: true}
	if strings.HasPrefix(name, "tooldesk") { // calls are listed by the records that they name; the desk's rules may forbid them
		env.Refusals = []envharness.ErrorClass{envharness.ClassPrecondition, envharness.ClassPermission}
	}
	r.Envs++
	r.note(name, env.Check(ctx))
	r.Verifiers++
	r.note(name+" verifier", envtest.Verifier{World: w, Tasks: tasks, Chance: chance}.Check(ctx))
}

// note counts the broken rules in what the kit says.
func (r *conformanceResult) note(what string, err error) {
	if err == nil {
		return
	}
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, e := range errs {
		r.Failed++
		r.Failures = append(r.Failures, what+": "+e.Error())
	}
}

// kindParams are ordinary parameters of each kind, for the desk unless kindWorlds has another world.
var kindParams = map[string]string{
	"start_replay": `{"actions":[{"name":"combine","args":{"i":1,"j":2,"op":"mul"}}]}`,
	"start_patch":  `{"set":{"/cell":1}}`,
	"block":        `{"tools":["transfer"]}`,
	"rename":       `{"tools":{"get_order":"show_order"},"args":{"get_order":{"order_id":"id"}}}`,
	"sticky":       `{}`,
	"tool_fail":    `{"tools":["find_customer"]}`,
	"tool_down":    `{"tools":["transfer"]}`,
	"corrupt_read": `{"tools":["get_order"],"field":"/status"}`,
	"rate_limit":   `{"tools":["find_*","get_*"]}`,
	"permission":   `{"tools":["set_address"],"grant":{"tool":"get_product"}}`,
	"stale_read":   `{"tools":["get_order"]}`,
	"paginate":     `{"max_bytes":200}`,
	"obs_noise":    `{"fields":["text"]}`,
	"obs_delay":    `{}`,
	"hide_keys":    `{"keys":["/history"]}`,
	"distractor":   `{"pool":[{"name":"get_weather"},{"name":"get_news"},{"name":"get_time"}]}`,
	"step_budget":  `{"turns":6}`,
	"call_cap":     `{"tools":["get_*"]}`,
	"submit_gate":  `{"require":[{"tool":"get_order"}]}`,
	"order_lock":   `{"edges":[{"before":{"tool":"find_customer"},"after":{"tool":"list_orders"}}]}`,
	"schema_drift": `{"tools":{"get_order":{"rename":{"order_id":"id"}}}}`,
}

// componentCheck puts a kind with its ordinary parameters into a world that it fits. What else the kit can ask of single kinds (identity,
// probabilities 0 and 1, order) is a test of package components.
func componentCheck(kind components.Kind) (envtest.Component, error) {
	c := envtest.Component{World: tooldesk.World(nil), Tasks: []envharness.Task{{ID: "T6-0000"}}, Build: kind.New, Idle: true}
	switch kind.Tag {
	case "start_replay":
		c.World, c.Tasks = game24.World(nil), []envharness.Task{{ID: "3,3,7,7"}}
	case "hide_keys":
		c.World, c.Tasks = game24.World(nil), []envharness.Task{{ID: "3,3,8,8"}}
	case "start_patch":
		c.World, c.Tasks = corridors(new(calls), nil), nil
	case "chain": // a world: any component around it
		leg := envharness.Leg{World: game24.World(nil), Task: "3,3,8,8"}
		w, err := envharness.Link([]envharness.Leg{leg, {World: tooldesk.World(nil), Task: "T6-0000"}}, nil)
		if err != nil {
			return c, err
		}
		c.World, c.Tasks, c.Build = w, nil, nil
		c.New = func() envharness.Component { return components.ObsDelay{} }
		return c, nil
	}
	params, ok := kindParams[kind.Tag]
	if !ok {
		return c, errors.New("no parameters to check it with")
	}
	if _, err := kind.New(json.RawMessage(params)); err != nil {
		return c, err
	}
	c.New = func() envharness.Component {
		made, _ := kind.New(json.RawMessage(params)) // as above
		return made
	}
	return c, nil
}

func runDoubles(ctx context.Context) doublesResult {
	var r doublesResult
	rules := make(map[string]bool)
	for _, d := range doubles.All() {
		r.Doubles++
		if err := d.Caught(ctx); err != nil {
			r.Failures = append(r.Failures, err.Error())
			continue
		}
		r.Caught++
		rules[d.Rule] = true
	}
	r.Rules = len(rules)
	return r
}
