package tooldesk

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
)

const (
	// MaxTurns is the number of turns after which an episode is truncated with the reason "max_turns".
	MaxTurns = 30

	worldName = "tooldesk"

	// defaultTask is played when no task is named.
	defaultTask = "T1-0000"
)

// A Desk is one service desk, an [envharness.Environment]. It also implements [envharness.Observer],
// [envharness.Stater], [envharness.Snapshotter], [envharness.Rewinder], [envharness.Describer], [envharness.TaskLister] and
// [envharness.Oracle].
// Use [New]; the methods other than Close are for one goroutine at a time.
type Desk struct {
	catalogue *catalogue // nil for a desk that belongs to no world
	episode   *episode   // nil before the first reset
	closed    atomic.Bool
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
} = (*Desk)(nil)

// New returns a desk that waits for its first reset. It shares nothing with other desks.
func New() *Desk { return &Desk{} }

// World returns the maker of desks and their verifier, for a harness. What was made of a task is kept for the next use and shared by all
// of them; nothing that they share is ever written to.
func World() envharness.World {
	c := &catalogue{}
	return envharness.World{
		New:      func(context.Context) (envharness.Environment, error) { return &Desk{catalogue: c}, nil },
		Verifier: envharness.VerifierFunc(c.verify),
	}
}

// Reset starts the episode of a task. The episode is a function of the task id alone: every seed, and none, gives the
// same. An empty task means "T1-0000"; a task that is in no split is [envharness.ErrNoTask]. There are no options:
// other than nil, null and {} are an error. After an error the episode under way, if any, goes on.
func (d *Desk) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if err := d.usable(ctx); err != nil {
		return envharness.Observation{}, err
	}
	if err := checkOptions(o.Options); err != nil {
		return envharness.Observation{}, err
	}
	t, err := d.catalogue.task(o.Task)
	if err != nil {
		return envharness.Observation{}, err
	}
	d.episode = newEpisode(t)
	return d.episode.observation(), nil
}

func checkOptions(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var options map[string]any
	if err := json.Unmarshal(raw, &options); err != nil {
		return fmt.Errorf("tooldesk: options: %w", err)
	}
	if len(options) > 0 {
		return fmt.Errorf("tooldesk: options: want none, got %.100s", raw)
	}
	return nil
}

// Step carries out one call. The text of the observation is the reply as compact JSON,
// {"error":{"class":..,"message":..}} after a refusal. The reward is 1 for a submit that solves the task, else 0; a
// submit terminates the episode, turn [MaxTurns] without one truncates it.
func (d *Desk) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if err := d.playing(ctx); err != nil {
		return envharness.Transition{}, err
	}
	e := d.episode
	if e.over {
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	var t envharness.Transition
	t.Error = e.step(a)
	switch {
	case e.session.Answer != nil:
		t.Terminated = true
		if db, comm := e.passed(); db && comm {
			t.Reward = 1
		}
	case e.over:
		t.Truncated, t.Reason = true, "max_turns"
	}
	t.Observation = e.observation()
	return t, nil
}

// Observe returns the last observation again.
func (d *Desk) Observe(ctx context.Context) (envharness.Observation, error) {
	if err := d.playing(ctx); err != nil {
		return envharness.Observation{}, err
	}
	return d.episode.observation(), nil
}

// State returns the tables customers, products, orders, tickets and transfers, the day number today, the session (who
// was looked up, what was read and written, the answer) and the turn as one JSON object.
func (d *Desk) State(ctx context.Context) (envharness.State, error) {
	if err := d.playing(ctx); err != nil {
		return nil, err
	}
	return d.episode.state(), nil
}

// RewindCounters sets the turn to zero. The tables and the session stay. The calls made so far have become part of the start: the
// observation is the first one again, with these calls and their replies below it. An episode that is over stays over.
func (d *Desk) RewindCounters(ctx context.Context) error {
	if err := d.playing(ctx); err != nil {
		return err
	}
	return d.episode.rewind()
}

// Describe lists the tools and names the tables as graded. Nothing is mutable: all tables are graded, and a session that was made up would
// let a policy write without having looked the customer up.
func (d *Desk) Describe() envharness.Description {
	return envharness.Description{
		Name: worldName, Tools: Tools(), Graded: []string{"customers", "products", "orders", "tickets", "transfers"},
		MaxTurns: MaxTurns, Deterministic: true,
	}
}

// Tasks lists a split: "train" with 200 tasks of each of T1 to T5 and T7, "validation" and "test" with 40 of each, and
// "ood" with the 80 tasks of T6. The families take turns, so that a prefix of a split has all of them. No seed is set,
// as none is needed.
func (d *Desk) Tasks(ctx context.Context, split string) ([]envharness.Task, error) {
	if err := d.usable(ctx); err != nil {
		return nil, err
	}
	return listTasks(split)
}

// Close makes every later call but Close and Describe return [envharness.ErrClosed].
func (d *Desk) Close() error {
	d.closed.Store(true)
	return nil
}

func (d *Desk) usable(ctx context.Context) error {
	if d.closed.Load() {
		return envharness.ErrClosed
	}
	return ctx.Err()
}

func (d *Desk) playing(ctx context.Context) error {
	if err := d.usable(ctx); err != nil {
		return err
	}
	if d.episode == nil {
		return envharness.ErrNeedReset
	}
	return nil
}
