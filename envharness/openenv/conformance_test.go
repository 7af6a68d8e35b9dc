package openenv_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/openenv"
)

func TestConformance(t *testing.T) {
	game, desk := game24.World(nil), tooldesk.World(nil)
	for _, c := range []struct {
		name  string
		world envharness.World
		state bool
		tasks []envharness.Task
		env   envtest.Environment
	}{
		{"game24", game, true, []envharness.Task{{ID: "3,3,8,8"}, {ID: "1,2,3,4"}}, envtest.Environment{SeedBlind: true}},
		{"game24 without state", game, false, []envharness.Task{{ID: "3,3,8,8"}}, envtest.Environment{SeedBlind: true}},
		{"tooldesk", desk, true, []envharness.Task{{ID: "T2-0001"}}, envtest.Environment{
			SeedBlind: true, Refusals: []envharness.ErrorClass{envharness.ClassPermission, envharness.ClassPrecondition},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "game24" {
				t.Skip("one world is enough for a short test")
			}
			_, url := serve(t, c.world.New, &openenv.ServerOptions{Sessions: 64, ExposeState: c.state})
			e := c.env
			e.Tasks, e.Steps = c.tasks, 40
			e.Counters = []string{"/turn"}
			e.New = func(ctx context.Context) (envharness.Environment, error) { return openenv.Open(ctx, url, nil) }
			e.Run(t)
		})
	}
}

// What is played over the wire leaves the traces that it leaves in process, to the byte.
func TestTraces(t *testing.T) {
	for _, c := range []struct {
		name  string
		world envharness.World
		tasks []envharness.Task
	}{
		{"game24", game24.World(nil), []envharness.Task{{ID: "3,3,8,8"}, {ID: "1,2,3,4"}}},
		{"tooldesk", tooldesk.World(nil), []envharness.Task{{ID: "T1-0001"}, {ID: "T5-0002"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, url := serve(t, c.world.New, &openenv.ServerOptions{Sessions: 8, ExposeState: true})
			want := play(t, c.world, c.tasks)
			got := play(t, openenv.World(url, c.world.Verifier, nil), c.tasks)
			if !bytes.Equal(got, want) {
				t.Errorf("traces differ\n got %s\nwant %s", got, want)
			}
		})
	}
}

// play returns the traces of policies that choose among the admissible actions, as they are written.
func play(t *testing.T, w envharness.World, tasks []envharness.Task) []byte {
	t.Helper()
	policy := func(slot int) (envharness.Policy, error) {
		r := envharness.RandStream(7, "policy/test", uint64(slot))
		return envharness.PolicyFunc(func(_ context.Context, turn envharness.Turn) (envharness.Action, error) {
			as := turn.Shown.Actions
			return as[r.IntN(len(as))], nil
		}), nil
	}
	traces, err := envharness.Rollouts(t.Context(), w, nil, policy, tasks, &envharness.RolloutOptions{Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := envharness.WriteTraces(&b, traces); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
