package envtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/text"
)

// declared is what a description says of words and refusals.
type declared struct {
	words    map[string]bool // nil if there is no vocabulary
	refusals []envharness.ErrorClass
	seen     map[string]bool // texts without a foreign word
}

// newDeclared reads a description. A vocabulary that is not one, or a class that is none, is an error.
func newDeclared(desc envharness.Description) (declared, error) {
	d := declared{refusals: desc.Refusals, seen: make(map[string]bool)}
	for _, c := range desc.Refusals {
		if !slices.Contains(classes, c) {
			return d, fmt.Errorf("the description declares refusals of the class %q, want one of %q", c, classes)
		}
	}
	if desc.Vocabulary == nil {
		return d, nil
	}
	d.words = make(map[string]bool, len(desc.Vocabulary))
	for i, w := range desc.Vocabulary {
		if i > 0 && w <= desc.Vocabulary[i-1] {
			return d, fmt.Errorf("the vocabulary has %q after %q, want it sorted and each word once", w, desc.Vocabulary[i-1])
		}
		if got := text.Words(w); len(got) != 1 || got[0] != w {
			return d, fmt.Errorf("the vocabulary has %q, which is no word but %q", w, got)
		}
		d.words[w] = true
	}
	return d, nil
}

// check looks at what was returned for an action.
func (d declared) check(u turn) error {
	if r := u.got.Error; r != nil && d.refusals != nil && slices.Contains(classes, r.Class) && !slices.Contains(d.refusals, r.Class) {
		return fmt.Errorf("%s: refused with the class %q, the description declares %q", describe(u.action), r.Class, d.refusals)
	}
	return d.observation(u.got.Observation)
}

// observation reports a word that is not in the vocabulary.
func (d declared) observation(o envharness.Observation) error {
	if d.words == nil {
		return nil
	}
	if err := d.text("the text", o.Text); err != nil {
		return err
	}
	if task, ok := o.Data["task"].(string); ok {
		if err := d.text(`Data["task"]`, task); err != nil {
			return err
		}
	}
	for i, a := range o.Actions {
		if err := d.text(fmt.Sprintf("admissible action %d", i), a.Text()); err != nil {
			return err
		}
	}
	return nil
}

func (d declared) text(what, s string) error {
	if d.seen[s] {
		return nil
	}
	for _, w := range text.Words(s) {
		if !d.words[w] {
			return fmt.Errorf("%s has the word %q, which is not in the vocabulary: %.200q", what, w, s)
		}
	}
	d.seen[s] = true
	return nil
}

func declaredKept(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		if b.desc.Vocabulary == nil && b.desc.Refusals == nil {
			return skip("the environment declares neither a vocabulary nor classes of refusals")
		}
		d, err := newDeclared(b.desc)
		if err != nil {
			return err
		}
		for n := range uint64(3) {
			tr, err := b.play(ctx, t, seedOf(t, n+1), e.short())
			if err != nil {
				return err
			}
			for i, u := range tr {
				if err := d.check(u); err != nil {
					return fmt.Errorf("task %q, turn %d: %w", t.ID, i, err)
				}
			}
		}
		if err := b.refusedDeclared(ctx, t, d); err != nil {
			return err
		}
		return b.rewoundDeclared(ctx, t, d)
	})
}

// refusedDeclared looks at what comes of actions that have to be refused. Where they are not, other rules say so.
func (b *bench) refusedDeclared(ctx context.Context, t envharness.Task, d declared) error {
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	bad := []envharness.Action{noTool, {Name: "envtest no such tool", Args: []byte(`{"a":1}`)}, {}}
	for _, tool := range b.callable() {
		bad = append(bad, malformed(tool)...)
	}
	for _, a := range bad {
		if b.stage == ended {
			if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
				return err
			}
		}
		u, err := b.step(ctx, a)
		if err != nil {
			return nil
		}
		if err := d.check(u); err != nil {
			return fmt.Errorf("task %q: %w", t.ID, err)
		}
	}
	return nil
}

// rewoundDeclared looks at what is shown after a setup, whose actions are all admissible: it may tell them.
func (b *bench) rewoundDeclared(ctx context.Context, t envharness.Task, d declared) error {
	rewinder, rewinds := envharness.As[envharness.Rewinder](b.env)
	observer, observes := envharness.As[envharness.Observer](b.env)
	if !rewinds || !observes {
		return nil
	}
	tr, err := b.play(ctx, t, seedOf(t, 1), 3)
	if err != nil {
		return err
	}
	foreign := func(u turn) bool { return !u.reset && !u.listed }
	if b.stage == ended || slices.ContainsFunc(tr, foreign) || rewinder.RewindCounters(ctx) != nil {
		return nil
	}
	o, err := observer.Observe(ctx)
	if err != nil {
		return fmt.Errorf("task %q: Observe after RewindCounters: %w", t.ID, err)
	}
	if err := d.observation(o); err != nil {
		return fmt.Errorf("task %q, after RewindCounters: %w", t.ID, err)
	}
	return nil
}
