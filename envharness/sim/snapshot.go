package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// snapshotVersion is the form of the snapshots below.
const snapshotVersion = 1

// A snapshot tells an episode by its task, the settings of its start and the actions. That is the whole of it, as all else follows.
type snapshot struct {
	World   string          `json:"world"`
	Version int             `json:"version"`
	Task    string          `json:"task"`
	Start   json.RawMessage `json:"start,omitempty"`
	Calls   [][]made        `json:"calls"` // refused ones too; a new list begins at each rewind
}

// A made call is an action as it came, whatever its bytes were.
type made struct {
	Name text `json:"name"`
	Args text `json:"args"`
}

// text is a string that JSON cannot hold if it is not UTF-8. It is then an object.
type text string

type rawText struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements [json.Marshaler].
func (t text) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return json.Marshal(rawText{[]byte(t)})
	}
	return json.Marshal(string(t))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		return json.Unmarshal(b, (*string)(t))
	}
	var raw rawText
	err := json.Unmarshal(b, &raw)
	*t = text(raw.Base64)
	return err
}

// Snapshot returns the task, the settings of the start and the actions so far as one JSON object; see [Env.Restore]. It can be taken after
// the end as well.
func (e *Env) Snapshot(ctx context.Context) (envharness.State, error) {
	if err := e.playing(ctx); err != nil {
		return nil, err
	}
	return e.snapshot()
}

func (e *Env) snapshot() (envharness.State, error) {
	s := snapshot{World: e.sim.Description.Name, Version: snapshotVersion, Task: e.task, Calls: [][]made{}}
	if settable, ok := e.episode.(Settable); ok {
		s.Start = settable.Settings()
	}
	from := 0
	for _, to := range append(slices.Clip(e.rewound), len(e.calls)) {
		list := make([]made, 0, to-from)
		for _, c := range e.calls[from:to] {
			list = append(list, made{text(c.name), text(e.args[c.from:c.to])})
		}
		s.Calls = append(s.Calls, list)
		from = to
	}
	return json.Marshal(s)
}

// Restore goes to where an environment of the same simulation was at the snapshot, by carrying out its actions again. It must have been
// reset to the same task. What no such environment can have written, in this version, is an error, and changes nothing.
func (e *Env) Restore(ctx context.Context, s envharness.State) error {
	if err := e.playing(ctx); err != nil {
		return err
	}
	fresh, err := e.sim.restore(ctx, e.task, s)
	if err != nil {
		return e.sim.fail(fmt.Errorf("restore: %w", err))
	}
	e.take(fresh)
	return nil
}

// restore makes the environment of a snapshot.
func (s *Simulation) restore(ctx context.Context, task string, state envharness.State) (*Env, error) {
	var snap snapshot
	if err := json.Unmarshal(state, &snap); err != nil {
		return nil, err
	}
	name := s.Description.Name
	switch {
	case snap.World != name || snap.Version != snapshotVersion:
		return nil, fmt.Errorf("version %d of %q, want version %d of %q", snap.Version, Clip(snap.World), snapshotVersion, name)
	case snap.Task != task:
		return nil, fmt.Errorf("it is of task %q, and the environment was reset to %q", Clip(snap.Task), task)
	}
	e, err := s.begin(task, snap.Start)
	if err != nil {
		return nil, err
	}
	for i, list := range snap.Calls {
		if i > 0 {
			if err := e.rewind(); err != nil {
				return nil, fmt.Errorf("rewind %d: %w", i, err)
			}
		}
		for k, c := range list {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if e.over {
				return nil, fmt.Errorf("list %d, call %d: %w", i, k, envharness.ErrEpisodeOver)
			}
			e.step(envharness.Action{Name: string(c.Name), Args: json.RawMessage(c.Args)})
		}
	}
	// The snapshot must be the one that the environment writes, spaces and the order of keys aside: one with an unknown or a missing field
	// is not.
	wrote, err := e.snapshot()
	if err != nil {
		return nil, err
	}
	same, err := sameJSON(state, wrote)
	if err == nil && !same {
		err = errors.New("it holds what it should not, or lacks something")
	}
	return e, err
}

// sameJSON compares as JSON, since a record may have ordered the keys anew.
func sameJSON(a, b []byte) (bool, error) {
	if bytes.Equal(a, b) {
		return true, nil
	}
	var canon [2][]byte
	for i, s := range [][]byte{a, b} {
		var err error
		if canon[i], err = envharness.CanonicalJSON(json.RawMessage(s)); err != nil {
			return false, err
		}
	}
	return bytes.Equal(canon[0], canon[1]), nil
}
