package mcpenv_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

func spyHooks(seen *atomic.Value) func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
		return envharness.Hooks{Observe: func(_ context.Context, v envharness.View, o envharness.Observation) (envharness.Observation, error) {
			st, err := v.State()
			seen.Store(string(st))
			return o, err
		}}, nil
	}
}

// A world that is declared deterministic is played again on a fresh server before it is believed. One that is not what it is declared
// to be is found out, unless what differs is named as volatile.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	steady := stockroom(mcptest.Options{})
	var starts atomic.Int64
	fickle := func(dir string) mcpenv.Server { // the name of one shelf is another one in each process
		shelf := "shelf-" + string(rune('A'+starts.Add(1)))
		return stockroom(mcptest.Options{Items: []mcptest.Item{{Name: "odd", Shelf: shelf, Count: 1}}})(dir)
	}
	look := append(solution(), act("get_item", `{"name":"odd"}`), act("delete_item", `{"name":"odd"}`))
	for _, c := range []struct {
		name     string
		server   func(string) mcpenv.Server
		volatile []string
		actions  []envharness.Action
		want     envharness.Status
		tampered bool
	}{
		{"steady", steady, nil, solution(), envharness.Pass, false},
		{"steady, failed", steady, nil, nil, envharness.Fail, false},
		{"fickle", fickle, nil, look, envharness.Invalid, true},
		{"fickle, excused", fickle, []string{"/observation/text", "/observation/data/shelf", "/state/world/items"}, look, envharness.Pass, false},
	} {
		starts.Store(0)
		cfg := restock(c.server)
		cfg.Deterministic, cfg.Volatile = true, c.volatile
		tr := play(t, world(t, cfg), nil, c.actions...)
		if tr.Verdict.Status != c.want || tr.Verdict.Unreplayed || strings.Contains(tr.Cause, "replay differs") != c.tampered {
			t.Errorf("%s: %+v: %s", c.name, tr.Verdict, tr.Cause)
		}
	}
}
