package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// What an environment returns is read-only, so that it may return the same list many times; only the bytes of State and Snapshot are
// copies that a caller may write to.
func aliasesNothing(ctx context.Context, e Environment) error {
	for _, t := range e.tasks() {
		want, err := e.reference(ctx, t, e.short())
		if err != nil {
			return err
		}
		err = e.with(ctx, func(b *bench) error { return b.keepsOut(ctx, t, want) })
		if err == nil {
			err = e.with(ctx, func(b *bench) error { return b.keepsIn(ctx, t, want) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepsOut reports results that change after they were returned.
func (b *bench) keepsOut(ctx context.Context, t envharness.Task, want trace) error {
	var out, copies []envharness.Transition
	keep := func() { out, copies = append(out, b.raw), append(copies, copyTransition(b.raw)) }
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	keep()
	for _, w := range want[1:] {
		if b.stage == ended {
			break // earlier than the reference, which rule E06 reports
		}
		if _, err := b.step(ctx, w.action); err != nil {
			return err
		}
		keep()
	}
	if _, err := b.reset(ctx, t, nil); err != nil {
		return err
	}
	for i := range out {
		if d := difference("", document(copies[i]), document(out[i]), 0); d != "" {
			return fmt.Errorf("task %q: what turn %d returned was changed later: %s", t.ID, i, d)
		}
	}
	return nil
}

// keepsIn writes to what was handed in, and to copies that were handed out, after each call.
func (b *bench) keepsIn(ctx context.Context, t envharness.Task, want trace) error {
	snap, _ := envharness.As[envharness.Snapshotter](b.env)
	if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
		return err
	}
	for i, w := range want[1:] {
		args := slices.Clone(w.action.Args)
		t, err := b.env.Step(ctx, envharness.Action{Name: w.action.Name, Args: args})
		if err != nil {
			return fmt.Errorf("turn %d, after arguments and states were written to by the caller: %w", i+1, err)
		}
		if !bytes.Equal(args, w.action.Args) {
			return fmt.Errorf("turn %d: Step changed the arguments that it was given", i+1)
		}
		scribble(args)
		if d := b.diff(w.got, t); d != "" {
			return fmt.Errorf("after arguments and states were written to by the caller: %w", differs{i + 1, d})
		}
		if b.state != nil {
			if s, err := b.state.State(ctx); err == nil {
				scribble(s)
			}
		}
		if snap != nil {
			if s, err := snap.Snapshot(ctx); err == nil {
				scribble(s)
			}
		}
	}
	return nil
}

func scribble(b []byte) {
	for i := range b {
		b[i] = 'x'
	}
}

func restores(ctx context.Context, e Environment) error {
	for _, t := range e.tasks() {
		if _, err := e.reference(ctx, t, e.short()); err != nil {
			return err
		}
		for _, before := range []int{0, 3} {
			if err := e.restoresAfter(ctx, t, before); err != nil {
				return fmt.Errorf("task %q, snapshot after %d turns: %w", t.ID, before, err)
			}
		}
	}
	return nil
}

func (e Environment) restoresAfter(ctx context.Context, t envharness.Task, before int) error {
	return e.with(ctx, func(b *bench) error {
		snap, ok := envharness.As[envharness.Snapshotter](b.env)
		if !ok {
			return skip("the environment is no Snapshotter")
		}
		if _, err := b.play(ctx, t, seedOf(t, 1), before); err != nil {
			return err
		}
		if b.stage == ended {
			return nil
		}
		s, err := snap.Snapshot(ctx)
		if err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		at := *b
		future, err := b.goOn(ctx, nil, generator(), e.short())
		if err != nil {
			return err
		}
		if err := at.restored(ctx, snap, s, future); err != nil {
			return fmt.Errorf("in the same instance: %w", err)
		}
		return e.with(ctx, func(b *bench) error {
			other, ok := envharness.As[envharness.Snapshotter](b.env)
			if !ok {
				return errors.New("another instance is no Snapshotter")
			}
			if _, err := b.reset(ctx, t, seedOf(t, 2)); err != nil {
				return err
			}
			if err := b.restored(ctx, other, s, future); err != nil {
				return fmt.Errorf("in another instance: %w", err)
			}
			return nil
		})
	})
}

// restored restores a snapshot and compares the future with the one that followed it. What fails in it is not blamed on another rule.
func (b *bench) restored(ctx context.Context, snap envharness.Snapshotter, s envharness.State, future trace) error {
	if err := snap.Restore(ctx, slices.Clone(s)); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := b.follow(ctx, future); err != nil {
		return unblamed(err)
	}
	return nil
}

func restoreStrict(ctx context.Context, e Environment) error {
	return e.forTasks(ctx, func(b *bench, t envharness.Task) error {
		snap, ok := envharness.As[envharness.Snapshotter](b.env)
		if !ok {
			return skip("the environment is no Snapshotter")
		}
		if _, err := b.play(ctx, t, seedOf(t, 1), 1); err != nil {
			return err
		}
		if b.stage == ended { // a snapshot may be of episodes under way alone
			if _, err := b.reset(ctx, t, seedOf(t, 1)); err != nil {
				return err
			}
		}
		s, err := snap.Snapshot(ctx)
		if err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		var doc map[string]any
		if err := json.Unmarshal(s, &doc); err != nil || doc == nil {
			return fmt.Errorf("the snapshot %.60q is not one JSON object", string(s))
		}
		for _, bad := range damaged(s, doc) {
			if err := snap.Restore(ctx, bad); err == nil {
				return fmt.Errorf("taken by Restore:  %.80q, made from %.80q", string(bad), string(s))
			}
			now, err := snap.Snapshot(ctx)
			if err != nil {
				return fmt.Errorf("snapshot after a Restore that was refused: %w", err)
			}
			if !bytes.Equal(canonical(now), canonical(s)) {
				return fmt.Errorf("refused by Restore, %.80q changed the state", string(bad))
			}
		}
		return nil
	})
}

// versionFields are the names under which the version of a snapshot is looked for.
var versionFields = []string{"version", "schema_version", "format", "v"}

// damaged returns what is no snapshot of this kind and version.
func damaged(s envharness.State, doc map[string]any) []envharness.State {
	out := []envharness.State{nil, envharness.State("{}"), envharness.State("[]"), envharness.State("null"), s[:len(s)/2],
		envharness.State(`{"envtest":"no snapshot"}`)}
	for _, name := range versionFields {
		d := maps.Clone(doc)
		switch v := d[name].(type) {
		case float64:
			d[name] = v + 1000
		case string:
			d[name] = v + "-envtest"
		default:
			continue
		}
		out = append(out, envharness.State(marshal(d)))
	}
	return out
}

// canonical returns JSON in canonical form, or what is none as it is.
func canonical(s envharness.State) []byte {
	if c, err := envharness.CanonicalJSON(s); err == nil {
		return c
	}
	return s
}

// As finds the harness inside wrappers too.
func bare(ctx context.Context, e Environment) error {
	return e.with(ctx, func(b *bench) error {
		if _, ok := envharness.As[*envharness.Harness](b.env); ok {
			return errors.New("the environment is a Harness: check the environment without one")
		}
		return nil
	})
}
