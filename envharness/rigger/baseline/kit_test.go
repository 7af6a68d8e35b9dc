package baseline

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/chain"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/shop"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

type fataler interface{ Fatal(...any) }

// A reference is a reference world with two of its tasks; to list all takes a while.
type reference struct {
	name  string
	world envharness.World
	tasks [2]envharness.Task
}

func references(t fataler) []reference {
	umbrella, err := chain.World("umbrella_length_short")
	if err != nil {
		t.Fatal(err)
	}
	of := func(a, b string) [2]envharness.Task { return [2]envharness.Task{{ID: a}, {ID: b}} }
	return []reference{
		{"chain", umbrella, of("1-0", "2-0")},
		{"game24", game24.World(nil), of("1,1,1,8", "1,1,2,6")},
		{"household", household.World(&household.Options{Small: true}), of("small-pick_and_place_simple-7-0", "small-look_at_obj_in_light-307-0")},
		{"keydoor", keydoor.World(&keydoor.Options{Small: true}), of("small-2,2,0,0", "small-2,2,1,0")},
		{"shop", shop.World(&shop.Options{Small: true}), of("small-0000", "small-0001")},
		{"tooldesk", tooldesk.World(nil), of("T1-0000", "T2-0000")},
		{"tooldesk small", tooldesk.World(&tooldesk.Options{Small: true}), of("small-T1-0000", "small-T2-0000")},
	}
}

// play plays one episode.
func play(t fataler, w envharness.World, stack []envharness.Component, task envharness.Task, p envharness.Policy) envharness.Trace {
	traces, err := envharness.Rollouts(context.Background(), w, stack, func(int) (envharness.Policy, error) { return p, nil },
		[]envharness.Task{task}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return traces[0]
}

// brief is what a rigger would tell of a task, with one passed and one failed rollout.
func brief(t fataler, w envharness.World, task envharness.Task, d components.Direction, seed uint64) rigger.Brief {
	task.Seed = new(uint64(7))
	description, err := describe(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	b := rigger.Brief{
		World: description, Task: task, Registry: components.Catalogue(), Direction: d,
		Baseline: rigger.Snapshot{Tally: rigger.Tally{Pass: 1, Valid: 2}, Limit: description.MaxTurns},
		Rand:     rand.New(rand.NewPCG(seed, 1)),
	}
	if b.Plan, err = yardstick.Plan(context.Background(), w, task); err != nil {
		t.Fatal(err)
	}
	for _, p := range []envharness.Policy{yardstick.Oracle(w, task), yardstick.Nulls()[1].New(rand.New(rand.NewPCG(seed, 2)))} {
		switch trace := play(t, w, nil, task, p); trace.Verdict.Status {
		case envharness.Pass:
			b.Success = &trace
		case envharness.Fail:
			b.Failure = &trace
		}
		b.Text = ""
	}
	if b.Success != nil {
		b.Text = b.Success.Shown.Text
	}
	return b
}

// begins plays one turn behind the entries: whatever a component refuses to begin with makes the episode Invalid.
func begins(t *testing.T, w envharness.World, task envharness.Task, stack []components.Entry) {
	t.Helper()
	built, err := components.Catalogue().Stack(stack...)
	if err != nil {
		t.Fatalf("%s: %v", words(stack), err)
	}
	stop := envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
		return envharness.Action{}, envharness.ErrStop
	})
	if trace := play(t, w, built, task, stop); trace.Verdict.Status != envharness.Fail {
		t.Fatalf("%s: an episode that is given up at once is %v: %s %s", words(stack), trace.Verdict.Status, trace.Verdict.Reason, trace.Cause)
	}
}

func words(stack []components.Entry) string {
	var s strings.Builder
	for _, e := range stack {
		s.WriteString(e.Tag + string(e.Params) + " ")
	}
	return s.String()
}

// coin makes policies that pass the unmodified task with probability p and one with fewer turns with probability hardened: they see their
// turns left, decide at the first, and do as the oracle does or give up. Before the oracle they call what they can do without, so that limits
// on turns are near enough to be proposed.
func coin(w envharness.World, p, hardened float64) func(envharness.Task, *rand.Rand) (envharness.Policy, error) {
	return func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		oracle := yardstick.Oracle(w, task)
		passes := false
		return envharness.PolicyFunc(func(ctx context.Context, turn envharness.Turn) (envharness.Action, error) {
			if turn.Index == 0 {
				chance := p
				if turn.Left < game24.MaxTurns {
					chance = hardened
				}
				passes = rng.Float64() < chance
			}
			switch {
			case !passes:
				return envharness.Action{}, envharness.ErrStop
			case turn.Index == 0:
				return envharness.Action{Name: "restart"}, nil
			}
			turn.Index--
			return oracle.Act(ctx, turn)
		}), nil
	}
}

// hands is a problem of the game of 24 for a policy that is good until its turns are cut.
func hands(n int) rigger.Problem {
	world := game24.World(nil)
	p := rigger.Problem{World: world, NewPolicy: coin(world, 0.98, 0.5), Fingerprint: "coin"}
	for _, id := range []string{"1,1,1,8", "1,1,2,6", "1,1,2,7"}[:n] {
		p.Tasks = append(p.Tasks, envharness.Task{ID: id})
	}
	return p
}
