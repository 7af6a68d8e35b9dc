package game24

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// snapshotVersion is the form of the snapshots below.
const snapshotVersion = 1

// A snapshot tells an episode by its hand and the calls that were carried out, as all else follows from them. Numbers are not in it, so
// none can be restored that no game leads to and whose arithmetic might overflow.
type snapshot struct {
	World   string              `json:"world"`
	Version int                 `json:"version"`
	Task    string              `json:"task"`
	Calls   []envharness.Action `json:"calls"` // combines and restarts since the reset
	Stopped bool                `json:"stopped"`
	Turn    int                 `json:"turn"` // since the reset or the last rewind, with refused calls
}

// Snapshot returns the hand, the calls carried out and the turn as one JSON object; see [Game.Restore]. It can be taken after the end as
// well.
func (g *Game) Snapshot(ctx context.Context) (envharness.State, error) {
	if err := g.playing(ctx); err != nil {
		return nil, err
	}
	return g.snapshot(g.episode)
}

// Restore goes to where the game was at the snapshot, which may be that of another game with the same Options. The game must have been
// reset to the same task. What no such game can have written, in this version, is an error, and changes nothing.
func (g *Game) Restore(ctx context.Context, s envharness.State) error {
	if err := g.playing(ctx); err != nil {
		return err
	}
	e, err := g.restore(s)
	if err != nil {
		return fmt.Errorf("game24: restore: %w", err)
	}
	g.episode = e
	return nil
}

func (g *Game) snapshot(e *episode) (envharness.State, error) {
	s := snapshot{
		World: g.name(), Version: snapshotVersion, Task: e.start.taskID(), Calls: make([]envharness.Action, len(e.history)),
		Stopped: e.stopped, Turn: e.turn,
	}
	for i, h := range e.history {
		if s.Calls[i].Name = restartTool; h != restartTool {
			s.Calls[i] = e.moves[i].action()
		}
	}
	return json.Marshal(s)
}

// restore makes the episode of a snapshot.
func (g *Game) restore(state envharness.State) (*episode, error) {
	var s snapshot
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, err
	}
	task := g.episode.start.taskID()
	switch {
	case s.World != g.name() || s.Version != snapshotVersion:
		return nil, fmt.Errorf("version %d of %q, want version %d of %q", s.Version, clip(s.World), snapshotVersion, g.name())
	case s.Task != task:
		return nil, fmt.Errorf("it is of task %q, and the game was reset to %q", clip(s.Task), task)
	case s.Turn < 0 || s.Turn > MaxTurns:
		return nil, fmt.Errorf("turn %d, want 0 to %d", s.Turn, MaxTurns)
	case s.Stopped && s.Turn == 0:
		return nil, errors.New("stopped in turn 0, but a stop takes a turn")
	}
	e := newEpisode(g.episode.start)
	for i, c := range s.Calls {
		if refusal := e.step(c); refusal != nil {
			return nil, fmt.Errorf("call %d: %s", i, refusal.Message)
		}
	}
	e.stopped, e.turn = s.Stopped, s.Turn
	wrote, err := g.snapshot(e)
	if err != nil {
		return nil, err
	}
	return e, sameSnapshot(state, wrote)
}

// sameSnapshot reports an error unless both are the same, spaces and the order of keys aside: one with an unknown or a missing field is
// not.
func sameSnapshot(got, want envharness.State) error {
	var canon [2][]byte
	for i, s := range []envharness.State{got, want} {
		var err error
		if canon[i], err = envharness.CanonicalJSON(s); err != nil {
			return err
		}
	}
	if !bytes.Equal(canon[0], canon[1]) {
		return errors.New("it holds fields that it should not, or lacks some")
	}
	return nil
}
