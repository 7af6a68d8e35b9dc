// Package worlds lists the reference worlds of envharness/envs by name, with policies to measure others against: the oracle, and four that
// know nothing.
package worlds

import (
	"context"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/chain"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/shop"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
)

// A World is one preset of a reference world.
type World struct {
	Name  string
	Small bool // the compact preset, for learning studies
	envharness.World

	// hasty is the action of a policy that wants to end the episode soon, where the tools alone do not tell which does.
	hasty func(actions []envharness.Action) envharness.Action
}

// Splits returns the names of the splits that every world has.
func Splits() []string { return []string{"train", "validation", "test", "ood"} }

// A preset is a world that is not opened yet, as a shop has to be stocked first.
type preset struct {
	name  string
	small bool
	open  func() envharness.World
	hasty func(actions []envharness.Action) envharness.Action
}

func (p preset) world() World { return World{p.name, p.small, p.open(), p.hasty} }

func presets() []preset {
	all := []preset{
		{"household", false, func() envharness.World { return household.World(nil) }, nil},
		{"household_small", true, func() envharness.World { return household.World(&household.Options{Small: true}) }, nil},
		{"shop", false, func() envharness.World { return shop.World(nil) }, buyFirst},
		{"shop_small", true, func() envharness.World { return shop.World(&shop.Options{Small: true}) }, buyFirst},
		{"tooldesk", false, func() envharness.World { return tooldesk.World(nil) }, nil},
		{"tooldesk_small", true, func() envharness.World { return tooldesk.World(&tooldesk.Options{Small: true}) }, nil},
		{"keydoor", false, func() envharness.World { return keydoor.World(nil) }, nil},
		{"keydoor_small", true, func() envharness.World { return keydoor.World(&keydoor.Options{Small: true}) }, nil},
		{"game24", false, func() envharness.World { return game24.World(nil) }, nil},
	}
	for _, e := range chain.Experiments() {
		open := func() envharness.World {
			w, err := chain.World(e)
			if err != nil {
				panic(err) // the list is the package's own
			}
			return w
		}
		all = append(all, preset{string(e), strings.HasSuffix(string(e), "_short"), open, nil})
	}
	return all
}

// All returns the worlds in a fixed order.
func All() []World {
	var all []World
	for _, p := range presets() {
		all = append(all, p.world())
	}
	return all
}

// Find returns the world of a name.
func Find(name string) (World, error) {
	var names []string
	for _, p := range presets() {
		if p.name == name {
			return p.world(), nil
		}
		names = append(names, p.name)
	}
	return World{}, fmt.Errorf("no world %q, want one of %s", name, strings.Join(names, ", "))
}

// Describe returns the description of the world's environments.
func (w World) Describe(ctx context.Context) (envharness.Description, error) {
	env, err := w.New(ctx)
	if err != nil {
		return envharness.Description{}, err
	}
	defer env.Close()
	d, ok := envharness.As[envharness.Describer](env)
	if !ok {
		return envharness.Description{}, fmt.Errorf("%s does not describe itself", w.Name)
	}
	return d.Describe(), nil
}

// Tasks lists the tasks of a split.
func (w World) Tasks(ctx context.Context, split string) ([]envharness.Task, error) {
	env, err := w.New(ctx)
	if err != nil {
		return nil, err
	}
	defer env.Close()
	l, ok := envharness.As[envharness.TaskLister](env)
	if !ok {
		return nil, fmt.Errorf("%s does not list its tasks", w.Name)
	}
	return l.Tasks(ctx, split)
}
