package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
)

// A Simulation is one world: what it is, how its episodes begin, and which tasks there are. It is not changed once it is in use, and may
// then be used by any number of goroutines.
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

// fail names an error for the world.
func (s *Simulation) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", cmp.Or(s.Description.Name, "sim"), err)
}

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

// An Env is an [envharness.Environment] that plays the episodes of a [Simulation]. It also implements [envharness.Observer],
// [envharness.Stater], [envharness.Snapshotter], [envharness.Rewinder], [envharness.Describer], [envharness.TurnLimiter],
// [envharness.TaskLister] and [envharness.Oracle]. Use [Simulation.New]; the methods other than Close are for one goroutine at a time.
//
// An [Episode] that breaks its promises in Step, or panics there, has failed: that call returns an error, or the panic, and so does every
// later one that needs the episode, until the next Reset.
type Env struct {
	sim    *Simulation
	now    *run // nil before the first reset
	closed atomic.Bool
}

var _ interface {
	envharness.Environment
	envharness.Observer
	envharness.Stater
	envharness.Snapshotter
	envharness.Rewinder
	envharness.Describer
	envharness.TurnLimiter
	envharness.TaskLister
	envharness.Oracle
} = (*Env)(nil)

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
		return envharness.Observation{}, e.sim.fail(err)
	}
	if e.now != nil {
		fresh.log = e.now.log.emptied()
	}
	e.now = fresh
	fresh.show()
	return fresh.observed, nil
}

// Step carries out one action. A refused one changes nothing and uses up a turn, as any other does.
func (e *Env) Step(ctx context.Context, a envharness.Action) (t envharness.Transition, err error) {
	if err := e.playing(ctx); err != nil {
		return t, err
	}
	if e.now.over {
		return t, envharness.ErrEpisodeOver
	}
	if err := e.now.act(a, &t); err != nil {
		return t, e.sim.fail(err)
	}
	e.now.show()
	t.Observation = e.now.observed
	return t, nil
}

// Observe returns the last observation again, or the one that [Env.RewindCounters] speaks of.
func (e *Env) Observe(ctx context.Context) (envharness.Observation, error) {
	if err := e.playing(ctx); err != nil {
		return envharness.Observation{}, err
	}
	e.now.show()
	return e.now.observed, nil
}

// State returns the state of the episode with the turn as one JSON object.
func (e *Env) State(ctx context.Context) (envharness.State, error) {
	if err := e.playing(ctx); err != nil {
		return nil, err
	}
	state, err := e.now.state()
	return state, e.sim.fail(err)
}

// RewindCounters sets the turn to zero; the world stays. Where the episode is a [Narrator] the observation is its opening again, with
// the actions so far and their replies below it. An episode that is over stays over.
func (e *Env) RewindCounters(ctx context.Context) error {
	if err := e.playing(ctx); err != nil {
		return err
	}
	return e.now.rewind()
}

// Describe returns the simulation's description.
func (e *Env) Describe() envharness.Description {
	d := e.sim.Description
	d.Deterministic = true
	return d
}

// TurnLimit returns the turns after which the present episode is truncated: the limit of a [Limiter], or MaxTurns if that is lower; 0 before
// the first Reset. A rewind starts the count anew and leaves the limit.
func (e *Env) TurnLimit() int {
	if e.now == nil {
		return 0
	}
	return e.now.limit
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
	if e.now.over {
		return nil, envharness.ErrEpisodeOver
	}
	planner, ok := e.now.episode.(Planner)
	if !ok {
		return nil, e.sim.fail(fmt.Errorf("%w: its episodes have no plans", envharness.ErrNotProven))
	}
	plan, err := planner.Plan()
	if err != nil {
		return nil, e.sim.fail(err)
	}
	if left := e.now.limit - e.now.turn; len(plan) > left {
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
	if e.now == nil {
		return envharness.ErrNeedReset
	}
	return e.sim.fail(e.now.fault)
}
