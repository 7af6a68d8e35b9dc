package stdio

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
)

// wild acts at random: what is admissible, what is not, and what cannot be read.
func wild(slot int) (envharness.Policy, error) {
	r := envharness.RandStream(1, fmt.Sprintf("policy/%d", slot), 0)
	return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
		switch r.IntN(8) {
		case 0:
			return envharness.Action{Name: "combine", Args: []byte(`{"i":0`)}, nil
		case 1:
			return envharness.Action{Name: "nothing", Args: []byte(`[]`)}, nil
		case 2:
			return envharness.Action{}, fmt.Errorf("%w: what?", envharness.ErrBadAction)
		case 3:
			if r.IntN(4) == 0 {
				return envharness.Action{}, envharness.ErrStop
			}
		}
		return t.Shown.Actions[r.IntN(len(t.Shown.Actions))], nil
	}), nil
}

// played returns the traces of a world as they are written, and how many episodes are Invalid.
func played(t *testing.T, w envharness.World, parallel int) (written string, invalid int) {
	t.Helper()
	var tasks []envharness.Task
	for i := range 16 {
		tasks = append(tasks, hands[i%2])
	}
	stack := []envharness.Component{
		envharness.Setup{Actions: []envharness.Action{{Name: "combine", Args: []byte(`{"i":0,"j":1,"op":"add"}`)}}},
	}
	traces, err := envharness.Rollouts(t.Context(), w, stack, wild, tasks, &envharness.RolloutOptions{Parallel: parallel})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := envharness.WriteTraces(&b, traces); err != nil {
		t.Fatal(err)
	}
	for _, tr := range traces {
		if tr.Verdict.Status == envharness.Invalid {
			invalid++
			t.Log(tr.Cause)
		}
	}
	return b.String(), invalid
}

// An episode over the wire leaves the same bytes as one in this process.
func TestTracesAreTheSameBytes(t *testing.T) {
	local := game24.World(nil)
	want, invalid := played(t, local, 1)
	if invalid > 0 {
		t.Fatal("invalid in this process")
	}
	got, invalid := played(t, World(program(t, "game24"), local.Verifier), 8)
	if invalid > 0 || got != want {
		t.Errorf("%d invalid\ngot  %.2000s\nwant %.2000s", invalid, got, want)
	}
}
