package envharness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/internal/jsonpointer"
)

// patch sets values in the base's state at the start: it takes a snapshot, edits it and restores it.
func (h *Harness) patch(ctx context.Context, set map[string]json.RawMessage) error {
	args, err := CanonicalJSON(set)
	if err != nil {
		return err
	}
	if err := h.desc.allows(set); err != nil {
		return err
	}
	if h.snapshotter == nil || h.observer == nil {
		return errors.New("setting values needs an environment that is a Snapshotter and an Observer")
	}
	h.public = nil
	err = h.callBase("patch", func() error { return applyPatch(ctx, h.snapshotter, set) })
	if err != nil {
		return err
	}
	obs, err := h.observe(ctx)
	if err != nil {
		return err
	}
	_, err = h.record(LogPatch, Action{Name: string(LogPatch), Args: args}, Transition{Observation: obs})
	return err
}

// allows refuses to set what the environment does not declare mutable, and what it declares graded.
func (d Description) allows(set map[string]json.RawMessage) error {
	for _, p := range slices.Sorted(maps.Keys(set)) {
		if !slices.ContainsFunc(d.Mutable, func(m string) bool { return jsonpointer.Below(p, m) }) {
			return fmt.Errorf("%q is not declared mutable", p)
		}
		for _, g := range d.Graded {
			if path := "/" + jsonpointer.Escape(g); jsonpointer.Below(p, path) || jsonpointer.Below(path, p) {
				return fmt.Errorf("%q is graded", p)
			}
		}
	}
	return nil
}

func applyPatch(ctx context.Context, s Snapshotter, set map[string]json.RawMessage) error {
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return baseFailed(fmt.Errorf("snapshot: %w", err))
	}
	doc, err := jsonpointer.Decode(snap)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if doc, err = jsonpointer.Patch(doc, set); err != nil {
		return err
	}
	if snap, err = CanonicalJSON(doc); err != nil {
		return err
	}
	if err := s.Restore(ctx, snap); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}
