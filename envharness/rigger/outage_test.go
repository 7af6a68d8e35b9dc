package rigger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

var errDown = errors.New("the network is down")

// frail is an environment that fails when it is told to; down is asked at every call, with its number from 1 on.
type frail struct {
	envharness.Environment
	calls *int
	down  func(n int) bool
}

func (f *frail) Unwrap() envharness.Environment { return f.Environment }

func (f *frail) fails() error {
	*f.calls++
	if f.down(*f.calls) {
		return fmt.Errorf("%w at call %d", errDown, *f.calls)
	}
	return nil
}

func (f *frail) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if err := f.fails(); err != nil {
		return envharness.Observation{}, err
	}
	return f.Environment.Reset(ctx, o)
}

func (f *frail) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if err := f.fails(); err != nil {
		return envharness.Transition{}, err
	}
	return f.Environment.Step(ctx, a)
}

func frailWorld(w envharness.World, calls *int, down func(n int) bool) envharness.World {
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return &frail{env, calls, down}, nil
	}
	return w
}

// TestOutages: a base that is down for good, from whatever call of an inspection on, is an error and no fault of the candidate, and one that
// is down now and then changes nothing, as episodes are played again.
func TestOutages(t *testing.T) {
	tests := []struct {
		world  string
		limit  int // of the search
		c      Candidate
		every  int // the most that are tried
		reason string
	}{
		{"keydoor", 30, harder(part("tool_fail", `{"count":1}`)), 40, "all steps"},
		{"keydoor", 400, harder(part("block", `{"tools":["use"]}`)), 40, "a search that finds nothing"},
		{"tooldesk", 1500, harder(part("tool_down", `{"tools":["get_order"]}`)), 20, "a search that finds something"},
	}
	for _, tt := range tests {
		if testing.Short() {
			tt.every /= 4
		}
		c := tt.c
		inspect := func(down func(n int) bool) (string, int, error) {
			calls, armed := 0, false
			w := frailWorld(gateWorlds[tt.world](), &calls, func(n int) bool { return armed && down(n) })
			in := newTestInspector(t, w, gateTasks[tt.world], components.Catalogue())
			in.searchLimit, in.nullEpisodes, in.play = tt.limit, 1, untrackedOne(w, in.task)
			calls, armed = 0, true
			found, err := in.inspect(t.Context(), 1, c)
			return fmt.Sprint(found.steps), calls, err
		}
		want, total, err := inspect(func(int) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		for from := 1; from <= total; from += 1 + total/tt.every {
			if got, _, err := inspect(func(n int) bool { return n >= from }); err == nil || !strings.Contains(err.Error(), errDown.Error()) {
				t.Errorf("%s, down from call %d of %d on: %s, %v", tt.reason, from, total, got, err)
			}
			if got, _, err := inspect(func(n int) bool { return n == from }); err != nil || got != want {
				t.Errorf("%s, down at call %d of %d: %s, %v, want %s", tt.reason, from, total, got, err, want)
			}
		}
	}
}

// TestOutageOfComponent: what spoils the base only behind components is put down to them.
func TestOutageOfComponent(t *testing.T) {
	calls, broken := 0, false
	w := frailWorld(gateWorlds["keydoor"](), &calls, func(int) bool { return broken })
	k := kindOf("breaker", envharness.AxisAction, func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
		broken = false
		return envharness.Hooks{Action: func(_ context.Context, v view, _ envharness.Action) (envharness.ActionEdit, error) {
			broken = v.Turn == 1
			return envharness.PassAction(), nil
		}}, nil
	})
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		broken = false
		return open(ctx)
	}
	in := newTestInspector(t, w, gateTasks["keydoor"], registryWith(t, k))
	found, err := in.inspect(t.Context(), 1, harder(part("breaker", `{}`)))
	if err != nil || lastStep(found) != "integrity fail" || !strings.Contains(found.steps[1].Reason, errDown.Error()) {
		t.Errorf("%v, %v", found.steps, err)
	}
}
