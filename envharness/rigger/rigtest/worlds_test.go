package rigtest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/shop"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

type namedWorld struct {
	name  string
	world envharness.World
}

// worlds are the reference worlds that flaws are planted in.
func worlds() []namedWorld {
	return []namedWorld{
		{"tooldesk_small", tooldesk.World(&tooldesk.Options{Small: true})},
		{"household_small", household.World(&household.Options{Small: true})},
		{"shop_small", shop.World(&shop.Options{Small: true})},
		{"keydoor_small", keydoor.World(&keydoor.Options{Small: true})},
		{"game24", game24.World(nil)},
		{"tooldesk", tooldesk.World(nil)},
	}
}

// tasks returns n tasks of the split train, spread over it.
func tasks(t testing.TB, w envharness.World, n int) []envharness.Task {
	t.Helper()
	env, err := w.New(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	lister, ok := envharness.As[envharness.TaskLister](env)
	if !ok {
		t.Fatal("the world lists no tasks")
	}
	all, err := lister.Tasks(context.Background(), "train")
	if err != nil {
		t.Fatal(err)
	}
	var some []envharness.Task
	for i := range n {
		// Lists go through kinds of tasks quickest: a step that has no factor with their number meets all kinds.
		some = append(some, all[i*37%len(all)])
	}
	for i := range some {
		some[i].Seed = new(uint64(7))
	}
	return slices.Clip(some)
}
