package envtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envtest"
)

// noDivision is a sound component in a world that it fits.
func noDivision() envtest.Component {
	block := func(b components.Block) func() envharness.Component { return func() envharness.Component { return b } }
	return envtest.Component{
		World:    game24.World(nil),
		Tasks:    []envharness.Task{{ID: "3,3,8,8"}},
		New:      block(components.Block{Args: map[string]any{"op": "div"}, Reason: "no division"}),
		Identity: block(components.Block{Tools: []string{"no_such_tool"}}),
		Commutes: []func() envharness.Component{block(components.Block{Args: map[string]any{"op": "mul"}})},
	}
}

func TestSoundComponent(t *testing.T) { noDivision().Run(t) }

// What cannot be played is no violation.
func TestUnplayableComponent(t *testing.T) {
	none := func() envharness.Component { return nil }
	for _, tt := range []struct {
		name   string
		change func(c *envtest.Component)
		want   string
		reason string
	}{
		{"no component", func(c *envtest.Component) { c.New = nil }, "New is nil", "nothing to check"},
		{"nil component", func(c *envtest.Component) { c.New = none }, "New: envharness: component 0 is nil", "envharness.New refuses it"},
		{"no world", func(c *envtest.Component) { c.World = envharness.World{} }, "a World needs both", "nowhere to check"},
		{"parameter", func(c *envtest.Component) {
			c.Off = func() envharness.Component { return components.StepBudget{} }
		}, "Off: envharness: component \"step_budget\": turns 0", "its own Check refuses it"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.name)
		}
		c := noDivision()
		tt.change(&c)
		err := c.Check(t.Context())
		if _, violated := errors.AsType[envtest.Violation](err); err == nil || violated || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error about %q (%s)", tt.name, err, tt.want, tt.reason)
		}
	}
}

// Where no turn is eligible, probability 1 was not checked.
func TestComponentNeedsEligibleTurns(t *testing.T) {
	c := noDivision()
	c.On = c.New
	c.Eligible = func(*envharness.Trace, int) bool { return false }
	if v, ok := errors.AsType[envtest.Violation](c.Check(t.Context())); !ok || v.Rule != "C02" {
		t.Errorf("%v, want a violation of C02", v)
	}
}

func TestComponentCheckStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := noDivision().Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// A check waits for nothing but a millisecond for each hook that is to be late.
func TestComponentCheckDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := noDivision().Check(t.Context()); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d == 0 || d > 10*time.Millisecond {
			t.Errorf("waited %v, want a few milliseconds", d)
		}
	})
}

// A world that gives other episodes each time does not make violations of a component.
func TestMoodyWorld(t *testing.T) {
	c := noDivision()
	open, opened := c.World.New, 0
	c.World.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		opened++
		return &moody{env, opened}, err
	}
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

type moody struct {
	envharness.Environment
	n int
}

func (m *moody) Unwrap() envharness.Environment { return m.Environment }

func (m *moody) Describe() envharness.Description {
	d, _ := envharness.As[envharness.Describer](m.Environment)
	desc := d.Describe()
	desc.Deterministic = false
	return desc
}

func (m *moody) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	return m.shown(m.Environment.Reset(ctx, o))
}

func (m *moody) Observe(ctx context.Context) (envharness.Observation, error) {
	o, _ := envharness.As[envharness.Observer](m.Environment)
	return m.shown(o.Observe(ctx))
}

func (m *moody) shown(o envharness.Observation, err error) (envharness.Observation, error) {
	o.Text += fmt.Sprint(" at table ", m.n)
	return o, err
}

// A greeting belongs to the first observation of an episode. This component counts in the wrong place.
type greeting struct{ observations int }

func (g *greeting) Spec() envharness.ComponentSpec {
	return envharness.ComponentSpec{Tag: "greeting", Axis: envharness.AxisObservation, Params: json.RawMessage("{}")}
}

func (g *greeting) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{
		Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			if g.observations++; g.observations == 1 {
				o.Text = "Hello! " + o.Text
			}
			return o, nil
		},
	}, nil
}

// A test of a component says how to make it and where; Run does the same in subtests.
func ExampleComponent() {
	check := envtest.Component{
		World: game24.World(nil),
		Tasks: []envharness.Task{{ID: "3,3,8,8"}},
		New:   func() envharness.Component { return new(greeting) },
	}
	fmt.Println(check.Check(context.Background()))
	// Output:
	// C05: task "3,3,8,8", seed 2: first observation: "Hello! target=24, numbers=[3, 3, 8, 8]" and "target=24, numbers=[3, 3, 8, 8]"
}
