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
	// Repeats says that tasks of different splits may start alike: there are few starts (keydoor), or episodes of a setting are alike or
	// differ in a few bits, as bsuite has it (the chains).
	Repeats bool
	envharness.World

	// hasty is the action of a policy that wants to end the episode soon, where the tools alone do not tell which does.
	hasty func(actions []envharness.Action) envharness.Action
}

// Splits returns the names of the splits that every world has.
func Splits() []string { return []string{"train", "validation", "test", "ood"} }

// A preset is a world that is not opened yet, as a shop has to be stocked first.
type preset struct {
	name           string
	small, repeats bool
	open           func() (envharness.World, error)
	hasty          func(actions []envharness.Action) envharness.Action
}

// world opens the preset. If that fails, New of the world returns the error.
func (p preset) world() World {
	opened, err := p.open()
	if err != nil {
		opened = envharness.World{New: func(context.Context) (envharness.Environment, error) { return nil, err }}
	}
	return World{Name: p.name, Small: p.small, Repeats: p.repeats, World: opened, hasty: p.hasty}
}

func presets() []preset {
	of := func(w envharness.World) (envharness.World, error) { return w, nil }
	all := []preset{
		{name: "household", open: func() (envharness.World, error) { return of(household.World(nil)) }},
		{name: "household_small", small: true, open: func() (envharness.World, error) { return of(household.World(&household.Options{Small: true})) }},
		{name: "shop", open: func() (envharness.World, error) { return of(shop.World(nil)) }, hasty: buyFirst},
		{name: "shop_small", small: true, open: func() (envharness.World, error) { return of(shop.World(&shop.Options{Small: true})) }, hasty: buyFirst},
		{name: "tooldesk", open: func() (envharness.World, error) { return of(tooldesk.World(nil)) }},
		{name: "tooldesk_small", small: true, open: func() (envharness.World, error) { return of(tooldesk.World(&tooldesk.Options{Small: true})) }},
		{name: "keydoor", repeats: true, open: func() (envharness.World, error) { return of(keydoor.World(nil)) }},
		{name: "keydoor_small", small: true, open: func() (envharness.World, error) { return of(keydoor.World(&keydoor.Options{Small: true})) }},
		{name: "game24", open: func() (envharness.World, error) { return of(game24.World(nil)) }},
	}
	for _, e := range chain.Experiments() {
		all = append(all, preset{
			name: string(e), small: e.Short(), repeats: true,
			open: func() (envharness.World, error) { return chain.World(e) },
		})
	}
	return all
}

// All returns the worlds in a fixed order. One that cannot be opened says why when an environment of it is asked for.
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
