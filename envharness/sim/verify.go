package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/jsonpointer"
)

// Verify replays the log on a fresh episode and returns the episode's verdict. What was shown or rewarded has no say. An unknown task, a
// log that does not begin with its only reset, in which anything but turns follows the first turn, or that goes on after the end, or a recorded end state other than the replay's is an error. It
// is safe for concurrent use.
func (s *Simulation) Verify(ctx context.Context, ev envharness.Evidence) (envharness.Verdict, error) {
	if err := s.checkOptions(ev.Options); err != nil {
		return envharness.Verdict{}, err
	}
	r, err := s.begin(ev.Task, nil)
	if err != nil {
		return envharness.Verdict{}, s.fail(err)
	}
	r.silent = true
	if len(ev.Log) == 0 || ev.Log[0].Kind != envharness.LogReset {
		return envharness.Verdict{}, s.fail(fmt.Errorf("the log of %d entries does not begin with a reset", len(ev.Log)))
	}
	played := false
	for i, entry := range ev.Log[1:] {
		err := ctx.Err()
		if played && entry.Kind != envharness.LogStep {
			err = fmt.Errorf("kind %.40q after the first turn", entry.Kind)
		}
		played = played || entry.Kind == envharness.LogStep
		if err == nil {
			err = r.redo(ctx, entry)
		}
		if err != nil {
			return envharness.Verdict{}, s.fail(fmt.Errorf("log entry %d: %w", i+1, err))
		}
	}
	if ev.End != nil {
		end, err := r.state()
		if err != nil {
			return envharness.Verdict{}, s.fail(err)
		}
		same, err := sameJSON(ev.End, end)
		if err == nil && !same {
			err = errors.New("it is not the one that the log leads to")
		}
		if err != nil {
			return envharness.Verdict{}, s.fail(fmt.Errorf("recorded end state: %w", err))
		}
	}
	return r.episode.Verdict(), nil
}

// redo carries out an entry of a log.
func (r *run) redo(ctx context.Context, entry envharness.LogEntry) error {
	if r.over {
		return errors.New("the episode was over")
	}
	switch entry.Kind {
	case envharness.LogReplay, envharness.LogStep:
		var t envharness.Transition
		if err := r.act(entry.Action, &t); err != nil {
			return err
		}
		if r.over && entry.Kind == envharness.LogReplay {
			return errors.New("an action before the first turn ends the episode")
		}
		return nil
	case envharness.LogRewind:
		return r.rewind()
	case envharness.LogPatch:
		return r.patch(ctx, entry.Action.Args)
	}
	return fmt.Errorf("kind %.40q in mid-episode", entry.Kind)
}

// patch sets values in the snapshot, as a harness does.
func (r *run) patch(ctx context.Context, args json.RawMessage) error {
	var set map[string]json.RawMessage
	if err := json.Unmarshal(args, &set); err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(set)) {
		if !slices.ContainsFunc(r.sim.Description.Mutable, func(m string) bool { return jsonpointer.Below(p, m) }) {
			return fmt.Errorf("%q is not mutable, and no harness sets it", p)
		}
	}
	snap, err := r.snapshot()
	if err != nil {
		return err
	}
	doc, err := jsonpointer.Decode(snap)
	if err != nil {
		return err
	}
	if doc, err = jsonpointer.Patch(doc, set); err != nil {
		return err
	}
	if snap, err = envharness.CanonicalJSON(doc); err != nil {
		return err
	}
	fresh, err := r.sim.restore(ctx, r.task, snap, r.silent)
	if err != nil {
		return err
	}
	*r = *fresh
	return nil
}
