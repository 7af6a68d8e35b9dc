package tooldesk

import (
	"bytes"
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// verify replays the calls of the log on a fresh world and compares the tables with those that the gold actions leave
// on another one (part db), and the submitted answer with the words that it needs (part comm). The score is the product
// of both. Notes of tickets, the session and everything that was shown have no say.
//
// An unknown task, a log that does not begin with its only reset or goes on after the end, or a recorded end state other
// than the replay's is an error.
func (c *catalogue) verify(ctx context.Context, ev envharness.Evidence) (envharness.Verdict, error) {
	t, err := c.task(ev.Task)
	if err != nil {
		return envharness.Verdict{}, err
	}
	if len(ev.Log) == 0 || ev.Log[0].Kind != envharness.LogReset {
		return envharness.Verdict{}, fmt.Errorf("tooldesk: the log of %d entries does not begin with a reset", len(ev.Log))
	}
	e := newEpisode(t)
	for i, entry := range ev.Log[1:] {
		if err := ctx.Err(); err != nil {
			return envharness.Verdict{}, err
		}
		if e.over {
			return envharness.Verdict{}, fmt.Errorf("tooldesk: log entry %d: the episode was over", i+1)
		}
		switch entry.Kind {
		case envharness.LogReplay, envharness.LogStep:
			e.apply(entry.Action)
		case envharness.LogRewind:
			e.turn = 0
		default:
			return envharness.Verdict{}, fmt.Errorf("tooldesk: log entry %d: kind %.40q in mid-episode", i+1, entry.Kind)
		}
	}
	if ev.End != nil {
		if err := e.ledTo(ev.End); err != nil {
			return envharness.Verdict{}, err
		}
	}

	v := envharness.Verdict{Status: envharness.Fail, Parts: map[string]float64{"db": 0, "comm": 0}}
	if e.session.Answer == nil {
		v.Reason = "nothing was submitted"
		return v, nil
	}
	db, comm := e.passed()
	if db {
		v.Parts["db"] = 1
	}
	if comm {
		v.Parts["comm"] = 1
	}
	switch {
	case db && comm:
		v.Status, v.Score = envharness.Pass, 1
	case db:
		v.Reason = fmt.Sprintf("the answer does not name all of %q", t.required)
	default:
		v.Reason = "the tables differ from those of the solution"
	}
	return v, nil
}

// ledTo reports an error if the state is not the recorded one. It compares as JSON, since a record may have ordered the keys anew.
func (e *episode) ledTo(recorded envharness.State) error {
	if e.inState(recorded) {
		return nil
	}
	a, err := envharness.CanonicalJSON(recorded)
	if err != nil {
		return fmt.Errorf("tooldesk: recorded end state: %w", err)
	}
	b, err := envharness.CanonicalJSON(e.state())
	if err != nil {
		return fmt.Errorf("tooldesk: replayed end state: %w", err)
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("tooldesk: the recorded end state is not the one that the log leads to")
	}
	return nil
}
