package rigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// A counted environment counts what is asked of it, and can fail.
type counted struct {
	envharness.Environment
	n *counts
}

type counts struct {
	opened, closed, calls   int
	failReset, failClose    error
	cancelAt                int
	cancel                  context.CancelFunc
	hideOracle, hideActions bool
	refuseSeeds             bool
}

func (n *counts) count() {
	if n.calls++; n.cancel != nil && n.calls >= n.cancelAt {
		n.cancel()
	}
}

func (c *counted) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	c.n.count()
	if c.n.failReset != nil {
		return envharness.Observation{}, c.n.failReset
	}
	if c.n.refuseSeeds && o.Seed != nil {
		return envharness.Observation{}, envharness.ErrSeedUnsupported
	}
	obs, err := c.Environment.Reset(ctx, o)
	if c.n.hideActions {
		obs.Actions = nil
	}
	return obs, err
}

func (c *counted) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	c.n.count()
	t, err := c.Environment.Step(ctx, a)
	if c.n.hideActions {
		t.Observation.Actions = nil
	}
	return t, err
}

func (c *counted) Close() error {
	c.n.closed++
	return errors.Join(c.Environment.Close(), c.n.failClose)
}

func (c *counted) Unwrap() envharness.Environment {
	if c.n.hideOracle {
		return nil
	}
	return c.Environment
}

// count wraps the environments of a world.
func count(w envharness.World, n *counts) envharness.World {
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		if err != nil {
			return nil, err
		}
		n.opened++
		return &counted{env, n}, nil
	}
	return w
}

func explore(t *testing.T, w envharness.World, b rigger.Brief) rigger.Candidate {
	t.Helper()
	var n counts
	c, err := rigger.Explorer{World: count(w, &n)}.Design(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCandidate(b, c); err != nil {
		t.Fatal(err)
	}
	if n.opened != n.closed || n.opened == 0 || n.calls > 1001 {
		t.Errorf("%d opened, %d closed, %d calls", n.opened, n.closed, n.calls)
	}
	return c
}

// actions are those of a candidate of the explorer.
func actions(t *testing.T, c rigger.Candidate) []envharness.Action {
	t.Helper()
	if len(c.Stack) == 0 {
		return nil
	}
	var s envharness.Setup
	if err := json.Unmarshal(c.Stack[0].Params, &s); err != nil || len(c.Stack) != 1 || c.Stack[0].Tag != "start_replay" {
		t.Fatalf("%v: %v", c, err)
	}
	if s.Aid != (c.Direction == components.Easier) {
		t.Errorf("%v: aid %v", c, s.Aid)
	}
	return s.Actions
}

// planFrom is the length of the oracle's plan after some actions.
func planFrom(t *testing.T, w envharness.World, b rigger.Brief, done []envharness.Action) int {
	t.Helper()
	ctx := context.Background()
	env, err := w.New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if _, err := env.Reset(ctx, envharness.ResetOptions{Task: b.Task.ID, Seed: b.Task.Seed}); err != nil {
		t.Fatal(err)
	}
	for _, a := range done {
		if tr, err := env.Step(ctx, a); err != nil || tr.Error != nil || tr.Ended() {
			t.Fatalf("%v: %v %+v", a, err, tr)
		}
	}
	oracle, _ := envharness.As[envharness.Oracle](env)
	plan, err := oracle.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return len(plan)
}

// Law: in every reference world, each start begins, is longer to solve than the unmodified one where it is to be harder and can be solved, and
// is the same for an equal brief.
func TestExplorerStarts(t *testing.T) {
	worlds := referenceWorlds(t)
	found := 0
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		for _, d := range []components.Direction{components.Harder, components.Easier} {
			b := newBrief(t, worlds[name], 3)
			b.Direction = d
			lengths := []int{}
			for n := range 4 {
				b.Rand = rand.New(rand.NewPCG(3, uint64(n)))
				c := explore(t, worlds[name], b)
				b.Rand = rand.New(rand.NewPCG(3, uint64(n)))
				if diff := cmp.Diff(c, explore(t, worlds[name], b)); diff != "" {
					t.Fatalf("%s: equal briefs\n%s", name, diff)
				}
				if len(c.Stack) == 0 {
					break
				}
				found++
				did := actions(t, c)
				lengths = append(lengths, len(did))
				begin(t, worlds[name], b, c)
				switch turns := planFrom(t, worlds[name], b, did); {
				case d == components.Harder && turns <= len(b.Plan):
					t.Errorf("%s: %d turns after %v, %d before", name, turns, did, len(b.Plan))
				case d == components.Easier && turns >= len(b.Plan):
					t.Errorf("%s: %d turns after %v, %d before", name, turns, did, len(b.Plan))
				}
				b = attempt(b, c, rigger.Refine)
				b.Refine = &rigger.Refinement{Harder: d == components.Harder}
			}
			if !slices.IsSorted(lengths) {
				t.Errorf("%s: lengths %v", name, lengths)
			}
			t.Logf("%s %v: lengths %v of a plan of %d", name, d, lengths, len(b.Plan))
		}
	}
	if found < 20 {
		t.Errorf("%d starts", found)
	}
}

func TestExplorerOrder(t *testing.T) {
	w := household.World(nil)
	b := newBrief(t, w, 0)
	b.Direction = components.Easier
	length := func(b rigger.Brief) int { return len(actions(t, explore(t, w, b))) }
	step := func(b rigger.Brief, r *rigger.Refinement) rigger.Brief {
		b = attempt(b, explore(t, w, b), rigger.Reject)
		b.Refine = r
		return b
	}
	more, less := &rigger.Refinement{}, &rigger.Refinement{Harder: true}
	for _, tt := range []struct {
		name   string
		b      rigger.Brief
		want   int
		reason string
	}{
		{"first", b, 1, "25 % of 6, rounded down"},
		{"more", step(b, more), 3, "50 %"},
		{"most", step(step(b, more), more), 4, "75 %, 4.5 rounded down"},
		{"no more", step(step(step(b, more), more), more), 0, "all of it is never given away"},
		{"less", step(step(b, more), less), 0, "it was tried"},
		{"rejected", step(b, nil), 3, "the next longer"},
	} {
		if got := length(tt.b); got != tt.want || tt.reason == "" {
			t.Errorf("%s: %d actions, want %d (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
	b.Direction = components.Harder
	first := explore(t, w, b)
	again := explore(t, w, attempt(b, first, rigger.Reject))
	if len(actions(t, again)) != len(actions(t, first)) || cmp.Equal(first.Stack, again.Stack) {
		t.Errorf("%v after %v: want another one of the same length", again, first)
	}
}

// Of all single actions it takes the one after which a solution is longest.
func TestExplorerHardest(t *testing.T) {
	w := game24.World(nil)
	b := newBrief(t, w, 0)
	c := explore(t, w, b)
	got := planFrom(t, w, b, actions(t, c))
	most := 0
	for _, a := range b.Failure.Shown.Actions { // every first action there is
		most = max(most, tryPlan(t, w, b, a))
	}
	if got != most {
		t.Errorf("%d turns, %d are possible", got, most)
	}
}

// tryPlan is the length of the oracle's plan after one action, 0 if there is none.
func tryPlan(t *testing.T, w envharness.World, b rigger.Brief, a envharness.Action) int {
	ctx := context.Background()
	env, err := w.New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if _, err := env.Reset(ctx, envharness.ResetOptions{Task: b.Task.ID, Seed: b.Task.Seed}); err != nil {
		t.Fatal(err)
	}
	if tr, err := env.Step(ctx, a); err != nil || tr.Error != nil || tr.Ended() {
		return 0
	}
	oracle, _ := envharness.As[envharness.Oracle](env)
	plan, _ := oracle.Plan(ctx)
	return len(plan)
}

// Without an oracle a start leads to what no passed rollout showed; without listed actions it is made of those of the rollouts.
func TestExplorerBlind(t *testing.T) {
	w := keydoor.World(nil)
	b := newBrief(t, w, 0)
	seen := map[string]bool{b.Success.Shown.Text: true}
	for _, turn := range b.Success.Turns {
		seen[turn.Shown.Observation.Text] = true
	}
	for _, listless := range []bool{false, true} {
		n := counts{hideOracle: true, hideActions: listless}
		c, err := rigger.Explorer{World: count(w, &n)}.Design(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		did := actions(t, c)
		if len(did) == 0 {
			t.Fatalf("listless %v: nothing found", listless)
		}
		h, err := envharness.New(w, envharness.Setup{Actions: did})
		if err != nil {
			t.Fatal(err)
		}
		o, err := h.Reset(context.Background(), envharness.ResetOptions{Task: b.Task.ID, Seed: b.Task.Seed})
		if err != nil || seen[o.Text] {
			t.Errorf("listless %v: %v, %q was shown before", listless, err, o.Text)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An environment that takes no seed is reset without one.
func TestExplorerSeeds(t *testing.T) {
	w := game24.World(nil)
	b := newBrief(t, w, 0)
	for _, seed := range []*uint64{nil, new(uint64(9))} {
		b.Task.Seed = seed
		want := explore(t, w, b)
		got, err := rigger.Explorer{World: count(w, &counts{refuseSeeds: true})}.Design(context.Background(), b)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || len(got.Stack) == 0 {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
}

func TestExplorerFaults(t *testing.T) {
	w := household.World(nil)
	b := newBrief(t, w, 0)
	boom := errors.New("boom")
	broken := w
	broken.New = func(context.Context) (envharness.Environment, error) { return nil, boom }
	empty := w
	empty.New = func(context.Context) (envharness.Environment, error) { return nil, nil }
	none := b
	none.Direction = components.Neutral
	small := b
	small.Registry = components.NewRegistry()
	for _, tt := range []struct {
		name   string
		e      rigger.Explorer
		b      rigger.Brief
		want   string
		reason string
	}{
		{"world", rigger.Explorer{}, b, "the world needs", "nothing to play on"},
		{"steps", rigger.Explorer{World: w, Steps: -1}, b, "-1 steps", "negative"},
		{"direction", rigger.Explorer{World: w}, none, "direction", "neither"},
		{"open", rigger.Explorer{World: broken}, b, "boom", "cannot be opened"},
		{"nil", rigger.Explorer{World: empty}, b, "there is none", "opened nothing"},
		{"reset", rigger.Explorer{World: count(w, &counts{failReset: boom})}, b, "boom", "cannot be reset"},
		{"close", rigger.Explorer{World: count(w, &counts{failClose: boom})}, b, "boom", "cannot be closed"},
		{"registry", rigger.Explorer{World: w}, small, "start_replay", "the registry has no start_replay"},
	} {
		c, err := tt.e.Design(context.Background(), tt.b)
		if err == nil || !strings.HasPrefix(err.Error(), "rigger: explorer: ") || !strings.Contains(err.Error(), tt.want) || len(c.Stack) > 0 {
			t.Errorf("%s: %v %v (%s)", tt.name, c, err, tt.reason)
		}
	}
	if c, err := (rigger.Explorer{World: w, Steps: 1}).Design(context.Background(), b); err != nil || len(c.Stack) > 0 {
		t.Errorf("one step: %v %v, want nothing found", c, err)
	}

	for _, at := range []int{1, 5, 40} {
		ctx, cancel := context.WithCancel(context.Background())
		n := counts{cancel: cancel, cancelAt: at}
		c, err := rigger.Explorer{World: count(w, &n)}.Design(ctx, b)
		if !errors.Is(err, context.Canceled) || len(c.Stack) > 0 || n.opened != n.closed {
			t.Errorf("cancelled at call %d: %v %v, %d opened, %d closed", at, c, err, n.opened, n.closed)
		}
		if n.calls > at {
			t.Errorf("cancelled at call %d, %d calls were made", at, n.calls)
		}
		cancel()
	}
}

// Steps bound what is asked of the environments.
func TestExplorerSteps(t *testing.T) {
	for _, name := range []string{"household", "keydoor", "shop"} {
		w := referenceWorlds(t)[name]
		b := newBrief(t, w, 0)
		for _, steps := range []int{1, 10, 100} {
			var n counts
			if _, err := (rigger.Explorer{World: count(w, &n), Steps: steps}).Design(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			if n.calls > steps {
				t.Errorf("%s: %s", name, fmt.Sprint(n.calls, " calls, ", steps, " allowed"))
			}
		}
	}
}
