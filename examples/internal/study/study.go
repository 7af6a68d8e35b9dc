// Package study sets up a training run on a reference world from names and a few numbers: what examples/train, examples/evidence/training and
// the pipeline share.
package study

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// A Config names a run.
type Config struct {
	World     string
	Algorithm string
	Model     string // "transformer" or "gru"; empty means transformer
	Dim       int    // width; zero means 64
	Heads     int    // zero means 4
	Layers    int    // zero means 2
	Slots     int    // names that an episode may make up; zero means none, or 40 in worlds with an open vocabulary
	Demos     int    // training tasks whose plans are imitated first; zero means none
	Warm      train.WarmStartOptions
	Options   train.Options // Seed fixes the initial parameters, too

	Stacks [][]envharness.Component       // as in train.Problem
	Notes  func(t envharness.Task) string // likewise
	Items  []train.Item                   // likewise
}

// A Study is a run that is set up.
type Study struct {
	*train.Trainer
	Problem train.Problem
	Model   *backbone.Model
	config  Config
}

// New sets up a run.
func New(ctx context.Context, c Config) (*Study, error) {
	world, err := worlds.Find(c.World)
	if err != nil {
		return nil, err
	}
	algorithm, err := train.Find(c.Algorithm)
	if err != nil {
		return nil, err
	}
	words, err := tokenizer(ctx, world, c.Slots)
	if err != nil {
		return nil, err
	}
	config := backbone.Config{
		Vocab: words.Vocab(), MaxLen: c.Options.Agent.MaxLen, Dim: c.Dim, Heads: c.Heads, Layers: c.Layers, Seed: c.Options.Seed,
		Workers: c.Options.Workers, Head: loss.Head{Plus: rollout.ValuePlus, Minus: rollout.ValueMinus},
	}
	var model *backbone.Model
	switch c.Model {
	case "", "transformer":
		model, err = backbone.NewTransformer(config)
	case "gru":
		model, err = backbone.NewGRU(config)
	default:
		err = fmt.Errorf("no model %q, want transformer or gru", c.Model)
	}
	if err != nil {
		return nil, err
	}
	s := &Study{config: c, Model: model, Problem: train.Problem{World: world.World, Model: model, Tokenizer: words, Algorithm: algorithm,
		Stacks: c.Stacks, Notes: c.Notes, Items: c.Items}}
	if algorithm.Values == train.TurnCritic || algorithm.Values == train.TokenCritic {
		var critic rl.Critic
		if critic, err = model.NewCritic(c.Options.Seed + 1); err != nil {
			return nil, err
		}
		s.Problem.Critic = critic
	}
	if c.Options.Rollout.States == nil && world.Small { // the texts of these hold the whole state
		c.Options.Rollout.States = rollout.ShownTexts
	}
	s.Trainer, err = train.New(s.Problem, &c.Options)
	return s, err
}

// An open vocabulary has names that are made up for each task: words that fewer than so many tasks have in common get slots.
const (
	sampled   = 64 // training tasks whose plans are read for their words
	common    = 8
	openSlots = 40
)

// tokenizer returns one of the vocabulary of the world, or of what its oracle is shown where it has none.
func tokenizer(ctx context.Context, w worlds.World, slots int) (*rollout.Tokenizer, error) {
	d, err := w.Describe(ctx)
	if err != nil {
		return nil, err
	}
	if d.Vocabulary != nil {
		return rollout.WorldTokenizer(ctx, w.World, &rollout.TokenizerOptions{Slots: slots})
	}
	tasks, err := w.Tasks(ctx, "train")
	if err != nil {
		return nil, err
	}
	tasks = tasks[:min(len(tasks), sampled)]
	traces, err := envharness.Rollouts(ctx, w.World, nil, func(slot int) (envharness.Policy, error) { return w.Oracle(tasks[slot]), nil }, tasks, nil)
	if err != nil {
		return nil, err
	}
	if slots == 0 {
		slots = openSlots
	}
	return rollout.NewTokenizer(rollout.Words(traces, common), &rollout.TokenizerOptions{Slots: slots})
}

// Pool is what training draws from: all tasks as they are and, each equally often, what the rigger accepted, behind its components. Rigged is the share
// of the pool that these are, at most the share that is asked for.
func Pool(tasks []envharness.Task, accepted []rigger.Item, share float64) (items []train.Item, rigged float64, err error) {
	items = make([]train.Item, len(tasks))
	for i, t := range tasks {
		items[i].Task = t
	}
	if len(accepted) == 0 {
		return items, 0, nil
	}
	var behind []train.Item
	for _, it := range accepted {
		stack, err := it.Components(nil)
		if err != nil {
			return nil, 0, err
		}
		behind = append(behind, train.Item{Task: it.Task, Components: stack})
	}
	copies := max(int(share/(1-share)*float64(len(tasks))/float64(len(behind))), 1)
	items = append(items, slices.Repeat(behind, copies)...)
	return items, float64(copies*len(behind)) / float64(len(items)), nil
}

// Prepare imitates the demonstrations, if there are to be any.
func (s *Study) Prepare(ctx context.Context) error {
	if s.config.Demos == 0 {
		return nil
	}
	demos, err := s.Demonstrate(ctx, s.config.Demos)
	if err != nil {
		return err
	}
	_, err = s.WarmStart(ctx, demos, &s.config.Warm)
	return err
}
