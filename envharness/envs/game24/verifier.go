package game24

import (
	"bytes"
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// A verifier replays the calls of the log on a fresh hand and looks at the numbers at the stop. What was shown or rewarded has no
// say.
type verifier struct{ loose bool }

// Verify implements [envharness.Verifier]. An unknown task, a log that does not begin with its only reset or goes on after the
// end, or a recorded end state other than the replay's is an error.
func (v verifier) Verify(ctx context.Context, ev envharness.Evidence) (envharness.Verdict, error) {
	h, err := dealOrDefault(ev.Task)
	if err != nil {
		return envharness.Verdict{}, err
	}
	if len(ev.Log) == 0 || ev.Log[0].Kind != envharness.LogReset {
		return envharness.Verdict{}, fmt.Errorf("game24: the log of %d entries does not begin with a reset", len(ev.Log))
	}
	e := newEpisode(h)
	for i, entry := range ev.Log[1:] {
		if err := ctx.Err(); err != nil {
			return envharness.Verdict{}, err
		}
		if e.over() {
			return envharness.Verdict{}, fmt.Errorf("game24: log entry %d: the episode was over", i+1)
		}
		switch entry.Kind {
		case envharness.LogReplay, envharness.LogStep:
			e.step(entry.Action)
		case envharness.LogRewind:
			e.turn = 0
		default:
			return envharness.Verdict{}, fmt.Errorf("game24: log entry %d: kind %.40q in mid-episode", i+1, entry.Kind)
		}
	}
	if ev.End != nil {
		if err := sameState(ev.End, e.state()); err != nil {
			return envharness.Verdict{}, err
		}
	}
	switch {
	case !e.stopped:
		return failed("the game was not stopped"), nil
	case e.numbers.won(v.loose):
		return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
	case v.loose:
		return failed("none of the numbers left is 24"), nil
	case e.numbers.n > 1:
		return failed(fmt.Sprintf("%d numbers are left", e.numbers.n)), nil
	}
	return failed(fmt.Sprintf("the number left is %s", e.numbers.v[0])), nil
}

func failed(reason string) envharness.Verdict {
	return envharness.Verdict{Status: envharness.Fail, Reason: reason}
}

// sameState compares as JSON, since a record may have ordered the keys anew.
func sameState(recorded, replayed envharness.State) error {
	if bytes.Equal(recorded, replayed) {
		return nil
	}
	a, err := envharness.CanonicalJSON(recorded)
	if err != nil {
		return fmt.Errorf("game24: recorded end state: %w", err)
	}
	if !bytes.Equal(a, replayed) {
		return fmt.Errorf("game24: the recorded end state is not the one that the log leads to")
	}
	return nil
}
