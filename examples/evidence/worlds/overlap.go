package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// heldOut has a share for each split but train.
type heldOut struct {
	Validation float64 `json:"val"`
	Test       float64 `json:"test"`
	OOD        float64 `json:"ood"`
}

// at returns the place of a split.
func (h *heldOut) at(split string) *float64 {
	switch split {
	case "validation":
		return &h.Validation
	case "test":
		return &h.Test
	}
	return &h.OOD
}

// String has a column for each split.
func (h heldOut) String() string {
	return percent(h.Validation) + "\t" + percent(h.Test) + "\t" + percent(h.OOD)
}

// A beginning is what two tasks may have in common, each part as its hash.
type beginning struct{ start, text, plan [sha256.Size]byte }

// overlap counts the tasks of each split that begin as a training task does. Another id alone does not make another task.
func (e *evidence) overlap(ctx context.Context, w worlds.World, s effort, of map[string][]envharness.Task, r *worldResult) error {
	env, err := w.New(ctx)
	if err != nil {
		return err
	}
	defer env.Close()
	type set = map[[sha256.Size]byte]bool
	starts, texts, plans := make(set), make(set), make(set)
	for _, split := range worlds.Splits() {
		most := s.heldOut
		if split == "train" {
			most = s.train
		}
		tasks := of[split]
		if most > 0 && most < len(tasks) {
			tasks = sample(tasks, most, false)
		}
		var sharedStarts, sharedTexts, sharedPlans int
		example := ""
		for i, task := range tasks {
			if i%1000 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			b, err := begin(ctx, env, task)
			if err != nil {
				return fmt.Errorf("task %s: %w", task.ID, err)
			}
			if split == "train" {
				starts[b.start], texts[b.text], plans[b.plan] = true, true, true
				continue
			}
			if starts[b.start] {
				sharedStarts++
				example = task.ID
			}
			if texts[b.text] {
				sharedTexts++
			}
			if plans[b.plan] {
				sharedPlans++
			}
		}
		if split == "train" {
			continue
		}
		*r.SharedStart.at(split) = share(sharedStarts, len(tasks))
		*r.SharedText.at(split) = share(sharedTexts, len(tasks))
		*r.SharedPlan.at(split) = share(sharedPlans, len(tasks))
		e.claim(&e.Claims.Starts, w.Repeats || sharedStarts == 0, "%s: %d of %d %s tasks start as one of train does, such as %s",
			w.Name, sharedStarts, len(tasks), split, example)
	}
	return nil
}

// begin looks at the start of a task. The text belongs to it, as a state need not say what is to be done. A task without a plan has an empty
// one; that is the oracle's claim to break.
func begin(ctx context.Context, env envharness.Environment, task envharness.Task) (beginning, error) {
	o, err := env.Reset(ctx, envharness.ResetOptions{Task: task.ID, Seed: task.Seed, Options: task.Options})
	if err != nil {
		return beginning{}, err
	}
	stater, ok := envharness.As[envharness.Stater](env)
	if !ok {
		return beginning{}, fmt.Errorf("the world shows no state")
	}
	state, err := stater.State(ctx)
	if err != nil {
		return beginning{}, err
	}
	b := beginning{
		start: sha256.Sum256(bytes.Join([][]byte{state, []byte(o.Text)}, []byte{0})),
		text:  sha256.Sum256([]byte(o.Text)),
	}
	sentence, _ := o.Data["task"].(string)
	plan := []byte(sentence)
	if oracle, ok := envharness.As[envharness.Oracle](env); ok {
		actions, err := oracle.Plan(ctx)
		if err != nil {
			actions = nil
		}
		for _, a := range actions {
			plan = append(append(plan, 0), a.String()...)
		}
	}
	b.plan = sha256.Sum256(plan)
	return b, nil
}
