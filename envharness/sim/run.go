package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A run is an episode under way.
type run struct {
	sim      *Simulation
	task     string
	episode  Episode
	narrator Narrator // the episode, or nil
	silent   bool     // nothing will be shown, so that no replies are kept
	limit    int
	turn     int
	over     bool
	fault    error // the episode cannot go on

	observed envharness.Observation // as of the last call of show
	dirty    bool                   // something happened since
	retold   bool                   // the last thing that happened was a rewind

	log callLog
}

// A callLog tells the actions since the reset, refused or not.
type callLog struct {
	calls   []call
	args    []byte // of all calls
	rewound []int  // the number of calls at each rewind
}

// A call is one action. A log of many has no pointers but those to names and texts that exist anyway.
type call struct {
	name     string
	from, to int    // where in args its arguments are
	reply    string // the text after it, of a narrator
	refused  bool
}

// keptArgs bounds the memory for arguments that a log keeps for the next episode.
const keptArgs = 64 << 10

// emptied returns an empty log in the memory of l, which must not be used any more.
func (l callLog) emptied() callLog {
	if cap(l.args) > keptArgs {
		return callLog{}
	}
	clear(l.calls)
	return callLog{l.calls[:0], l.args[:0], l.rewound[:0]}
}

// action returns the action of a call; its arguments must not be changed.
func (l *callLog) action(c call) envharness.Action {
	return envharness.Action{Name: c.name, Args: l.args[c.from:c.to:c.to]}
}

// errFailed is the fault of an episode that did not return from Step.
var errFailed = errors.New("the episode panicked in Step, a Reset is needed")

// begin starts the episode of a task, with settings unless they are nil. Its errors, like those of a run, are yet to be named for the world.
func (s *Simulation) begin(task string, settings json.RawMessage) (*run, error) {
	if s.Start == nil || s.Description.Name == "" || s.Description.MaxTurns <= 0 {
		return nil, errors.New("a simulation needs Start, Description.Name and a positive Description.MaxTurns")
	}
	if task == "" {
		task = s.DefaultTask
	}
	episode, err := s.Start(task)
	if err == nil && episode == nil {
		err = errors.New("there is no episode, and no error from Start")
	}
	if err == nil && settings != nil {
		if settable, ok := episode.(Settable); ok {
			err = settable.Set(settings)
		} else {
			err = errors.New("there are no settings")
		}
	}
	if err != nil {
		return nil, err
	}
	r := &run{sim: s, task: task, episode: episode, limit: s.Description.MaxTurns, dirty: true}
	r.narrator, _ = episode.(Narrator)
	if l, ok := episode.(Limiter); ok {
		if r.limit = min(r.limit, l.Limit()); r.limit <= 0 {
			return nil, fmt.Errorf("task %q: a limit of %d turns, want 1 or more", Clip(task), r.limit)
		}
	}
	return r, nil
}

// act carries out an action. The observation is left out of the transition: who replays a log has no use for it.
func (r *run) act(a envharness.Action, t *envharness.Transition) error {
	if len(a.Args) == 0 {
		a.Args = nil // so that a replay cannot differ, whose log does not tell nil from empty
	}
	r.fault = errFailed // until Step has returned
	from := len(r.log.args)
	r.log.args = append(r.log.args, a.Args...)
	res := r.episode.Step(a)
	switch {
	case math.IsNaN(res.Reward) || math.IsInf(res.Reward, 0):
		r.fault = r.broken(a, "the reward is %v, want a finite one", res.Reward)
	case res.Refusal != nil && (res.Ended || res.Reward != 0):
		r.fault = r.broken(a, "refused, and yet the reward is %v and Ended is %t", res.Reward, res.Ended)
	default:
		r.fault = nil
	}
	if r.fault != nil {
		return r.fault
	}
	r.turn++
	t.Reward, t.Terminated, t.Error, t.Info = res.Reward, res.Ended, res.Refusal, res.Info
	if !res.Ended && r.turn >= r.limit {
		t.Truncated, t.Reason = true, "max_turns"
	}
	r.over, r.dirty, r.retold = t.Ended(), true, false
	c := call{name: a.Name, from: from, to: len(r.log.args), refused: res.Refusal != nil}
	if r.narrator != nil && !r.silent {
		c.reply = r.episode.Text()
	}
	r.log.calls = append(r.log.calls, c)
	return nil
}

// broken says what promise the episode broke when it carried out an action.
func (r *run) broken(a envharness.Action, format string, args ...any) error {
	return fmt.Errorf("task %q, turn %d, %.40q: %s", Clip(r.task), r.turn+1, a.Name, fmt.Sprintf(format, args...))
}

// rewind sets the turn to zero. It costs nothing, so that a snapshot with many rewinds does not.
func (r *run) rewind() error {
	if r.over {
		return envharness.ErrEpisodeOver
	}
	r.turn, r.log.rewound = 0, append(r.log.rewound, len(r.log.calls))
	r.dirty, r.retold = true, true
	return nil
}

// show makes the observation of the present state unless it is made.
func (r *run) show() {
	if !r.dirty {
		return
	}
	r.dirty = false
	r.observed.Data = r.episode.Data()
	if r.over {
		r.observed.Actions = []envharness.Action{}
	} else {
		r.observed.Actions = r.episode.Actions()
	}
	switch calls := r.log.calls; {
	case r.narrator != nil && r.retold:
		r.observed.Text = r.story()
	case r.narrator != nil && len(calls) > 0:
		r.observed.Text = calls[len(calls)-1].reply
	default:
		r.observed.Text = r.episode.Text()
	}
}

// story tells a narrator's episode from its opening on, without what was refused.
func (r *run) story() string {
	var b strings.Builder
	b.WriteString(r.narrator.Opening())
	heading := "\nDone so far:"
	for _, c := range r.log.calls {
		if c.refused {
			continue
		}
		b.WriteString(heading)
		heading = ""
		b.WriteByte('\n')
		b.WriteString(r.log.action(c).Text())
		b.WriteString(" -> ")
		b.WriteString(c.reply)
	}
	return b.String()
}

// state returns the episode's state with the turn in it.
func (r *run) state() (envharness.State, error) {
	b := r.episode.AppendState(make([]byte, 0, 512))
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' { // that the rest is JSON is the episode's promise: to read it all each time costs more than an episode
		return nil, fmt.Errorf("task %q: AppendState wrote no JSON object: %.100q", Clip(r.task), b)
	}
	b = b[:len(b)-1]
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(strconv.AppendInt(append(b, `"turn":`...), int64(r.turn), 10), '}'), nil
}
