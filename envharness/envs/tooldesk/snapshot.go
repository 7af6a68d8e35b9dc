package tooldesk

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

// A snapshot tells an episode by its task and the calls made in it. The desk is deterministic, so that is the whole of it: the tables, the
// session, what was shown and what was answered come from carrying the calls out again. It is a few bytes a call where the tables take
// 14 kB, and what it leads to is always something that a desk can be in.
type snapshot struct {
	World   string   `json:"world"`
	Version int      `json:"version"`
	Task    string   `json:"task"`
	Calls   [][]made `json:"calls"` // refused ones too; a new list begins at each rewind
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

// Snapshot returns the task and the calls made so far, as one JSON object; see [Desk.Restore]. It can be taken after the end as well.
func (d *Desk) Snapshot(ctx context.Context) (envharness.State, error) {
	if err := d.playing(ctx); err != nil {
		return nil, err
	}
	return d.episode.snapshot(), nil
}

// Restore goes to where the desk was at the snapshot, which may be that of another desk. It carries all the calls out again, at about 5
// microseconds each. The desk must have been reset to the same task. What no desk can have written, in this version, is an error, and
// changes nothing.
func (d *Desk) Restore(ctx context.Context, s envharness.State) error {
	if err := d.playing(ctx); err != nil {
		return err
	}
	e, err := restore(ctx, d.episode.task, s)
	if err != nil {
		return fmt.Errorf("tooldesk: restore: %w", err)
	}
	d.episode = e
	return nil
}

func (e *episode) snapshot() envharness.State {
	s := snapshot{World: worldName, Version: snapshotVersion, Task: e.task.id, Calls: [][]made{}}
	from := 0
	for _, to := range append(slices.Clip(e.rewound), len(e.calls)) {
		list := []made{}
		for _, c := range e.calls[from:to] {
			list = append(list, made{text(c.name), text(c.args)})
		}
		s.Calls = append(s.Calls, list)
		from = to
	}
	return envharness.State(marshal(s))
}

// restore makes the episode of a snapshot.
func restore(ctx context.Context, t *task, state envharness.State) (*episode, error) {
	var s snapshot
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, err
	}
	switch {
	case s.World != worldName || s.Version != snapshotVersion:
		return nil, fmt.Errorf("version %d of %q, want version %d of %q", s.Version, clip(s.World), snapshotVersion, worldName)
	case s.Task != t.id:
		return nil, fmt.Errorf("it is of task %q, and the desk was reset to %q", clip(s.Task), t.id)
	}
	e := newEpisode(t)
	for i, list := range s.Calls {
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
	return e, e.wrote(state)
}

// wrote reports an error unless the snapshot is the one that the episode writes, spaces and the order of keys aside: one with an unknown
// or a missing field is not.
func (e *episode) wrote(s envharness.State) error {
	want, err := envharness.CanonicalJSON(e.snapshot())
	if err != nil {
		return err
	}
	got, err := envharness.CanonicalJSON(s)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("it holds fields that it should not, or lacks some")
	}
	return nil
}
