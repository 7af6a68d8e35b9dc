package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
)

// A Simulation is one world: what it is, how its episodes begin, and which tasks there are.
type Simulation struct {
	// Description must have a Name and MaxTurns, the turns after which an episode is truncated with the reason "max_turns". It is always
	// Deterministic.
	Description envharness.Description
	// Start begins the episode of a task; an id that is none is [envharness.ErrNoTask]. It must be safe for concurrent use, and episodes
	// may share only what nobody writes to.
	Start func(task string) (Episode, error)
	// DefaultTask is the task where none is named.
	DefaultTask string
	// Tasks lists a split, always in the same order; an unknown one is an error. Splits share no task. Nil means that there are none.
	// It must be safe for concurrent use.
	Tasks func(split string) ([]envharness.Task, error)
	// Shortest promises that a [Planner]'s plans are as short as can be, so that one which does not fit into the turns left proves that
	// none does.
	Shortest bool
}

// New returns an environment that waits for its first reset.
func (s *Simulation) New() *Env { return &Env{sim: s} }

// World returns the maker of environments and their verifier, [Simulation.Verify], for a harness.
func (s *Simulation) World() envharness.World {
	return envharness.World{
		New:      func(context.Context) (envharness.Environment, error) { return s.New(), nil },
		Verifier: envharness.VerifierFunc(s.Verify),
	}
}

// An Env is an [envharness.Environment] that plays the episodes of a [Simulation]. It also implements [envharness.Observer],
// [envharness.Stater], [envharness.Snapshotter], [envharness.Rewinder], [envharness.Describer], [envharness.TaskLister] and
// [envharness.Oracle]. The methods other than Close are for one goroutine at a time.
type Env struct {
	sim      *Simulation
	task     string
	episode  Episode // nil before the first reset
	observed envharness.Observation
	turn     int
	over     bool

	calls   []call
	args    []byte // of all calls
	rewound []int  // the number of calls at each rewind
	closed  atomic.Bool
}

var _ interface {
	envharness.Environment
	envharness.Observer
	envharness.Stater
	envharness.Snapshotter
	envharness.Rewinder
	envharness.Describer
	envharness.TaskLister
	envharness.Oracle
} = (*Env)(nil)

// A call is an action since the reset, refused or not.
type call struct {
	name     string
	from, to int    // where in args its arguments are
	reply    string // the text after it
}

// Reset starts the episode of a task. Every seed, and none, gives the same. There are no options: other than nil, null and {} are an
// error. After an error the episode under way, if any, goes on.
func (e *Env) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if err := e.usable(ctx); err != nil {
		return envharness.Observation{}, err
	}
	if err := e.sim.checkOptions(o.Options); err != nil {
		return envharness.Observation{}, err
	}
	fresh, err := e.sim.begin(o.Task, nil)
	if err != nil {
		return envharness.Observation{}, err
	}
	e.take(fresh)
	return e.observed, nil
}

// begin makes an environment at the start of a task, with settings unless they are nil.
func (s *Simulation) begin(task string, settings json.RawMessage) (*Env, error) {
	if s.Start == nil || s.Description.Name == "" || s.Description.MaxTurns <= 0 {
		return nil, fmt.Errorf("sim: simulation %q: Start, Description.Name and a positive Description.MaxTurns are needed", s.Description.Name)
	}
	if task == "" {
		task = s.DefaultTask
	}
	episode, err := s.Start(task)
	if err == nil && episode == nil {
		err = errors.New("Start returned no episode")
	}
	if err == nil && settings != nil {
		settable, ok := episode.(Settable)
		if !ok {
			return nil, s.fail(errors.New("there are no settings"))
		}
		err = settable.Set(settings)
	}
	if err != nil {
		return nil, s.fail(err)
	}
	e := &Env{sim: s, task: task, episode: episode}
	e.observe(episode.Text())
	return e, nil
}

func (s *Simulation) fail(err error) error { return fmt.Errorf("%s: %w", s.Description.Name, err) }

func (s *Simulation) checkOptions(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var options map[string]any
	if err := json.Unmarshal(raw, &options); err != nil {
		return s.fail(fmt.Errorf("options: %w", err))
	}
	if len(options) > 0 {
		return s.fail(fmt.Errorf("options: want none, got %.100s", raw))
	}
	return nil
}

// take makes the episode of a fresh environment that of e.
func (e *Env) take(fresh *Env) {
	e.task, e.episode, e.observed, e.turn, e.over = fresh.task, fresh.episode, fresh.observed, fresh.turn, fresh.over
	e.calls, e.args, e.rewound = fresh.calls, fresh.args, fresh.rewound
}

// observe makes the observation of the present state.
func (e *Env) observe(text string) {
	e.observed = envharness.Observation{Text: text, Data: e.episode.Data()}
	if e.over {
		e.observed.Actions = []envharness.Action{}
	} else {
		e.observed.Actions = e.episode.Actions()
	}
}

// Step carries out one action. A refused one changes nothing and uses up a turn, as any other does.
func (e *Env) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if err := e.playing(ctx); err != nil {
		return envharness.Transition{}, err
	}
	if e.over {
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	return e.step(a), nil
}

func (e *Env) step(a envharness.Action) envharness.Transition {
	from := len(e.args)
	e.args = append(e.args, a.Args...)
	r := e.episode.Step(a)
	e.turn++
	t := envharness.Transition{Reward: r.Reward, Terminated: r.Ended, Error: r.Refusal, Info: r.Info}
	if !r.Ended && e.turn >= e.sim.Description.MaxTurns {
		t.Truncated, t.Reason = true, "max_turns"
	}
	e.over = t.Ended()
	text := e.episode.Text()
	e.calls = append(e.calls, call{a.Name, from, len(e.args), text})
	e.observe(text)
	t.Observation = e.observed
	return t
}

// Observe returns the last observation again.
func (e *Env) Observe(ctx context.Context) (envharness.Observation, error) {
	if err := e.playing(ctx); err != nil {
		return envharness.Observation{}, err
	}
	return e.observed, nil
}

// State returns the state of the episode with the turn as one JSON object.
func (e *Env) State(ctx context.Context) (envharness.State, error) {
	if err := e.playing(ctx); err != nil {
		return nil, err
	}
	return e.state(), nil
}

func (e *Env) state() envharness.State {
	b := e.episode.AppendState(make([]byte, 0, 512))
	b = b[:len(b)-1] // the bracket that closes the object
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(strconv.AppendInt(append(b, `"turn":`...), int64(e.turn), 10), '}')
}

// RewindCounters sets the turn to zero; the world stays. Where the episode is a [Narrator] the observation is its opening again, with
// the actions so far and their replies below it. An episode that is over stays over.
func (e *Env) RewindCounters(ctx context.Context) error {
	if err := e.playing(ctx); err != nil {
		return err
	}
	return e.rewind()
}

func (e *Env) rewind() error {
	if e.over {
		return envharness.ErrEpisodeOver
	}
	e.turn, e.rewound = 0, append(e.rewound, len(e.calls))
	narrator, ok := e.episode.(Narrator)
	if !ok {
		return nil
	}
	var b strings.Builder
	b.WriteString(narrator.Opening())
	for i, c := range e.calls {
		if i == 0 {
			b.WriteString("\nDone so far:")
		}
		b.WriteString("\n" + e.action(c).Text() + " -> " + c.reply)
	}
	e.observed.Text = b.String()
	return nil
}

// action returns the action of a call; its arguments must not be changed.
func (e *Env) action(c call) envharness.Action {
	return envharness.Action{Name: c.name, Args: e.args[c.from:c.to:c.to]}
}

// Describe returns the simulation's description.
func (e *Env) Describe() envharness.Description {
	d := e.sim.Description
	d.Deterministic = true
	return d
}

// Tasks lists the tasks of a split.
func (e *Env) Tasks(ctx context.Context, split string) ([]envharness.Task, error) {
	if err := e.usable(ctx); err != nil {
		return nil, err
	}
	if e.sim.Tasks == nil {
		return nil, e.sim.fail(fmt.Errorf("unknown split %q, there are none", Clip(split)))
	}
	tasks, err := e.sim.Tasks(split)
	if err != nil {
		return nil, e.sim.fail(err)
	}
	return tasks, nil
}

// Plan returns actions that pass from the present state. An episode that is no [Planner], or whose plan does not fit into the turns left,
// is [envharness.ErrNotProven], or [envharness.ErrNoPlan] where plans are the shortest. After the end the error is
// [envharness.ErrEpisodeOver].
func (e *Env) Plan(ctx context.Context) ([]envharness.Action, error) {
	if err := e.playing(ctx); err != nil {
		return nil, err
	}
	if e.over {
		return nil, envharness.ErrEpisodeOver
	}
	planner, ok := e.episode.(Planner)
	if !ok {
		return nil, e.sim.fail(envharness.ErrNotProven)
	}
	plan, err := planner.Plan()
	if err != nil {
		return nil, e.sim.fail(err)
	}
	if left := e.sim.Description.MaxTurns - e.turn; len(plan) > left {
		proof := envharness.ErrNotProven
		if e.sim.Shortest {
			proof = envharness.ErrNoPlan
		}
		return nil, e.sim.fail(fmt.Errorf("%w: it takes %d turns and %d are left", proof, len(plan), left))
	}
	return plan, nil
}

// Close makes every later call but Close and Describe return [envharness.ErrClosed].
func (e *Env) Close() error {
	e.closed.Store(true)
	return nil
}

func (e *Env) usable(ctx context.Context) error {
	if e.closed.Load() {
		return envharness.ErrClosed
	}
	return ctx.Err()
}

func (e *Env) playing(ctx context.Context) error {
	if err := e.usable(ctx); err != nil {
		return err
	}
	if e.episode == nil {
		return envharness.ErrNeedReset
	}
	return nil
}
