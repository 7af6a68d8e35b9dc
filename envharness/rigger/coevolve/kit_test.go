package coevolve

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

var ctx = context.Background()

// Skills are the chances of a toy policy: on an unmodified task, with fewer turns than the game allows, and from a start that is aided.
type skills struct{ Plain, Cut, Aided float64 }

// policy sees its turns left and the numbers on the table, decides at its first turn, and does as the oracle does or gives up. From an aided
// start the rest of the plan is left.
func (s skills) policy(w envharness.World) Policy {
	return Policy{
		Fingerprint: fmt.Sprint(s),
		New: func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			plan, err := yardstick.Plan(ctx, w, task)
			if err != nil {
				return nil, err
			}
			passes := false
			return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
				if t.Index == 0 {
					chance := s.Plain
					switch numbers, _ := t.Shown.Data["numbers"].([]any); {
					case len(numbers) < 4:
						plan = plan[4-len(numbers):]
						chance = s.Aided
					case t.Left < game24.MaxTurns:
						chance = s.Cut
					}
					passes = rng.Float64() < chance
				}
				if !passes || t.Index >= len(plan) {
					return envharness.Action{}, envharness.ErrStop
				}
				return plan[t.Index], nil
			}), nil
		},
	}
}

var (
	cut   = components.Entry{Tag: "step_budget", Params: json.RawMessage(`{"turns":8}`)}
	aided = func(task envharness.Task) components.Entry {
		plan, err := yardstick.Plan(ctx, game24.World(nil), task)
		if err != nil {
			panic(err)
		}
		params, err := json.Marshal(map[string]any{"actions": plan[:1], "aid": true})
		if err != nil {
			panic(err)
		}
		return components.Entry{Tag: "start_replay", Params: params}
	}
)

// Tasks of the splits train and test; to list all takes a while.
var (
	trainHands = [...]string{"1,1,1,8", "1,1,2,6", "1,1,2,7", "1,1,2,8", "1,1,2,9"}
	testHands  = [...]string{
		"1,1,3,9", "1,1,4,4", "1,2,2,10", "1,2,3,8", "1,2,4,9", "1,2,6,7", "1,2,6,10", "1,2,8,9", "1,3,5,10", "1,3,8,8",
	}
)

// toy is a problem with some tasks, whose policy has the skills that Train says, round by round, the last ones from then on.
func toy(tasks, heldOut int, s ...skills) Problem {
	w := game24.World(nil)
	list := func(ids []string) []envharness.Task {
		var out []envharness.Task
		for _, id := range ids {
			out = append(out, envharness.Task{ID: id})
		}
		return out
	}
	first := s[0].policy(w)
	return Problem{
		Rig:     rigger.Problem{World: w, Tasks: list(trainHands[:tasks]), NewPolicy: first.New, Fingerprint: first.Fingerprint},
		HeldOut: list(testHands[:heldOut]),
		Train: func(_ context.Context, b Batch) (Policy, error) {
			p := s[min(b.Round, len(s)-1)].policy(w)
			p.Fingerprint += fmt.Sprint(" after ", b.Round)
			return p, nil
		},
	}
}

// unchecked accepts what the designer says without a rollout.
func unchecked(entries func(task envharness.Task) []components.Entry) *rigger.Options {
	return &rigger.Options{
		Preset:   rigger.Unchecked,
		Designer: always(entries),
	}
}

// Always is a designer that proposes the same for a task, whatever the policy does.
type always func(task envharness.Task) []components.Entry

func (a always) Design(_ context.Context, b rigger.Brief) (rigger.Candidate, error) {
	return rigger.Candidate{Stack: a(b.Task), Direction: b.Direction}, nil
}

func (a always) String() string { return "always the same" }

func cutting() *rigger.Options {
	return unchecked(func(envharness.Task) []components.Entry { return []components.Entry{cut} })
}

// collect runs to the end.
func collect(t *testing.T, p Problem, o *Options) []Round {
	t.Helper()
	var out []Round
	for r, err := range Run(ctx, p, o) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}
