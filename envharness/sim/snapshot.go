package sim

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// snapshotVersion is the form of the snapshots below.
const snapshotVersion = 1

// A snapshot tells an episode by its task, the settings of its start and the actions. That is the whole of it, as all else follows.
type snapshot struct {
	World   text            `json:"world"`
	Version int             `json:"version"`
	Task    text            `json:"task"`
	Start   json.RawMessage `json:"start,omitempty"`
	Calls   [][]made        `json:"calls"` // refused ones too; a new list begins at each rewind
}

// A made call is an action as it came, whatever its bytes were.
type made struct {
	Name    text `json:"name"`
	Args    text `json:"args"`
	Refused bool `json:"refused,omitempty"` // so that another start cannot undo what was done, or do what was not
}

// text is a string that JSON cannot hold if it is not UTF-8. It is then an object.
type text string

// appendText appends s as a text.
func appendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		b = append(b, `{"base64":"`...)
		return append(base64.StdEncoding.AppendEncode(b, []byte(s)), `"}`...)
	}
	start := len(b)
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			quoted, _ := json.Marshal(s) // a string
			return append(b[:start], quoted...)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		return json.Unmarshal(b, (*string)(t))
	}
	var raw struct {
		Base64 []byte `json:"base64"`
	}
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
	snap, err := e.now.snapshot()
	return snap, e.sim.fail(err)
}

func (r *run) snapshot() (envharness.State, error) {
	b := make([]byte, 0, 256+len(r.log.args)+64*len(r.log.calls))
	b = append(appendText(append(b, `{"world":`...), r.sim.Description.Name), `,"version":`...)
	b = append(strconv.AppendInt(b, snapshotVersion, 10), `,"task":`...)
	b = appendText(b, r.task)
	if settable, ok := r.episode.(Settable); ok {
		buf := bytes.NewBuffer(append(b, `,"start":`...))
		if err := json.Compact(buf, settable.Settings()); err != nil {
			return nil, fmt.Errorf("snapshot: settings: %w", err)
		}
		b = buf.Bytes()
	}
	b = append(b, `,"calls":[[`...)
	args, from, rewound := string(r.log.args), 0, r.log.rewound
	for i, c := range r.log.calls {
		for ; len(rewound) > 0 && rewound[0] == i; rewound = rewound[1:] {
			b, from = append(b, `],[`...), i
		}
		if i > from {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"name":`...), c.name)
		b = appendText(append(b, `,"args":`...), args[c.from:c.to])
		if c.refused {
			b = append(b, `,"refused":true`...)
		}
		b = append(b, '}')
	}
	for range rewound {
		b = append(b, `],[`...)
	}
	return append(b, `]]}`...), nil
}

// Restore goes to where an environment of the same simulation was at the snapshot, by carrying out its actions again. It must have been
// reset to the same task. What no such environment can have written, read as JSON and in this version, is an error, and changes nothing; so
// is another start with which an action would be refused that was not, or carried out though it was refused.
func (e *Env) Restore(ctx context.Context, s envharness.State) error {
	if err := e.playing(ctx); err != nil {
		return err
	}
	fresh, err := e.sim.restore(ctx, e.now.task, s, false)
	if err != nil {
		return e.sim.fail(fmt.Errorf("restore: %w", err))
	}
	e.now = fresh
	return nil
}

// restore makes the run of a snapshot, a silent one if nothing of it will be shown.
func (s *Simulation) restore(ctx context.Context, task string, state envharness.State, silent bool) (*run, error) {
	var snap snapshot
	if err := json.Unmarshal(state, &snap); err != nil {
		return nil, err
	}
	name := s.Description.Name
	switch {
	case string(snap.World) != name || snap.Version != snapshotVersion:
		return nil, fmt.Errorf("version %d of %q, want version %d of %q", snap.Version, Clip(string(snap.World)), snapshotVersion, name)
	case string(snap.Task) != task:
		return nil, fmt.Errorf("it is of task %q, and the environment was reset to %q", Clip(string(snap.Task)), Clip(task))
	}
	r, err := s.begin(task, snap.Start)
	if err != nil {
		return nil, err
	}
	r.silent = silent
	var t envharness.Transition
	for i, list := range snap.Calls {
		if i > 0 {
			if err := r.rewind(); err != nil {
				return nil, fmt.Errorf("rewind %d: %w", i, err)
			}
		}
		for k, c := range list {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if r.over {
				return nil, fmt.Errorf("list %d, call %d: %w", i, k, envharness.ErrEpisodeOver)
			}
			if err := r.act(envharness.Action{Name: string(c.Name), Args: json.RawMessage(c.Args)}, &t); err != nil {
				return nil, err
			}
			if refused := t.Error != nil; refused != c.Refused {
				return nil, fmt.Errorf("list %d, call %d, %.40q: refused is %t, and was %t", i, k, c.Name, refused, c.Refused)
			}
		}
	}
	// The snapshot must be the one that the run writes, spaces and the order of keys aside: one with an unknown or a missing field is not.
	wrote, err := r.snapshot()
	if err != nil {
		return nil, err
	}
	same, err := sameJSON(state, wrote)
	if err == nil && !same {
		err = errors.New("it holds what it should not, or lacks something")
	}
	if err != nil {
		return nil, err
	}
	return r, nil
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
