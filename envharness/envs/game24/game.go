package game24

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
)

const (
	// MaxTurns is the number of turns after which an episode is truncated with the reason "max_turns".
	MaxTurns = 12

	// defaultTask is played when no task is named.
	defaultTask = "1,2,3,4"
)

// Options adjusts [New] and [World]. A nil *Options equals &Options{}.
type Options struct {
	// LooseStop lets a stop pass if any of the numbers left is 24, as the reference code does; 1,564 hands have a solution then. It is
	// for comparison with data of the reference only: the game becomes another one, so it describes itself as "game24_loose". The
	// splits stay the same.
	LooseStop bool
}

func (o *Options) loose() bool { return o != nil && o.LooseStop }

// A Game is one table to play at, an [envharness.Environment]. It also implements [envharness.Observer],
// [envharness.Stater], [envharness.Snapshotter], [envharness.Rewinder], [envharness.Describer], [envharness.TaskLister] and
// [envharness.Oracle].
// Use [New]; the methods other than Close are for one goroutine at a time.
type Game struct {
	loose   bool
	episode *episode // nil before the first reset
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
} = (*Game)(nil)

// New returns a game that waits for its first reset. Games share nothing.
func New(o *Options) *Game { return &Game{loose: o.loose()} }

// World returns the maker of games and their verifier, for a harness.
func World(o *Options) envharness.World {
	loose := o.loose()
	return envharness.World{
		New:      func(context.Context) (envharness.Environment, error) { return &Game{loose: loose}, nil },
		Verifier: verifier{loose},
	}
}

// Reset deals the hand that the task id names. The episode is a function of the task id alone: every seed, and none, gives
// the same. An empty task means "1,2,3,4"; an id that is not four numbers from 1 to 13 in ascending order is
// [envharness.ErrNoTask]. A hand without a solution is dealt too. There are no options: other than nil, null and {} are an
// error. After an error the episode under way, if any, goes on.
func (g *Game) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if err := g.usable(ctx); err != nil {
		return envharness.Observation{}, err
	}
	if err := checkOptions(o.Options); err != nil {
		return envharness.Observation{}, err
	}
	h, err := dealOrDefault(o.Task)
	if err != nil {
		return envharness.Observation{}, err
	}
	g.episode = newEpisode(h)
	return g.episode.observation(), nil
}

func dealOrDefault(id string) (hand, error) {
	if id == "" {
		id = defaultTask
	}
	return deal(id)
}

func checkOptions(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var options map[string]any
	if err := json.Unmarshal(raw, &options); err != nil {
		return fmt.Errorf("game24: options: %w", err)
	}
	if len(options) > 0 {
		return fmt.Errorf("game24: options: want none, got %.100s", raw)
	}
	return nil
}

// Step carries out one call. The observation shows the numbers, also after a refusal, which is told in Transition.Error alone. A stop
// terminates the episode, with reward 1 if it passes and 0 otherwise; turn [MaxTurns] without a stop truncates it.
func (g *Game) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if err := g.playing(ctx); err != nil {
		return envharness.Transition{}, err
	}
	e := g.episode
	if e.over() {
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	var t envharness.Transition
	t.Error = e.step(a)
	switch {
	case e.stopped:
		t.Terminated = true
		if e.numbers.won(g.loose) {
			t.Reward = 1
		}
	case e.over():
		t.Truncated, t.Reason = true, "max_turns"
	}
	t.Observation = e.observation()
	return t, nil
}

// Observe returns the last observation again.
func (g *Game) Observe(ctx context.Context) (envharness.Observation, error) {
	if err := g.playing(ctx); err != nil {
		return envharness.Observation{}, err
	}
	return g.episode.observation(), nil
}

// State returns the numbers in play, those of the start, the history, whether the game was stopped,
// and the turn, as one object in canonical JSON. Numbers are strings such as "8/3".
func (g *Game) State(ctx context.Context) (envharness.State, error) {
	if err := g.playing(ctx); err != nil {
		return nil, err
	}
	return g.episode.state(), nil
}

// RewindCounters sets the turn to zero. The numbers and the history stay. An episode that is over stays over.
func (g *Game) RewindCounters(ctx context.Context) error {
	if err := g.playing(ctx); err != nil {
		return err
	}
	if g.episode.over() {
		return envharness.ErrEpisodeOver
	}
	g.episode.turn = 0
	return nil
}

func (g *Game) name() string {
	if g.loose {
		return "game24_loose"
	}
	return "game24"
}

// Describe lists the tools and names the numbers and the stop as graded. Nothing is mutable: other numbers would be another task, and a
// history or a turn that was made up tells a policy what is not so.
func (g *Game) Describe() envharness.Description {
	return envharness.Description{
		Name: g.name(), Tools: tools(), Graded: []string{"numbers", "stopped"}, MaxTurns: MaxTurns, Deterministic: true,
	}
}

// Tasks lists a split in ascending order: "train" with 436 hands, "validation" with 66, "test" with 64 and "ood" with 796. Each has a
// solution. No seed is set, as none is needed. Every hand of the split is solved anew, which takes milliseconds.
func (g *Game) Tasks(ctx context.Context, split string) ([]envharness.Task, error) {
	if err := g.usable(ctx); err != nil {
		return nil, err
	}
	return listTasks(split)
}

// Plan returns the fewest calls that solve the hand from the present state, at most five: combines and a stop, after a restart if the
// numbers left cannot make 24. Among plans of this length it is the first in the order i ascending, j ascending, add before sub
// before mul before div.
//
// The search is complete: [envharness.ErrNoPlan] is a proof that the hand has no solution, or none within the turns left. After
// the end the error is [envharness.ErrEpisodeOver].
func (g *Game) Plan(ctx context.Context) ([]envharness.Action, error) {
	if err := g.playing(ctx); err != nil {
		return nil, err
	}
	e := g.episode
	if e.over() {
		return nil, envharness.ErrEpisodeOver
	}
	var plan []envharness.Action
	s := solver{loose: g.loose}
	moves, ok := s.solve(e.numbers)
	if !ok {
		plan = append(plan, envharness.Action{Name: restartTool})
		if moves, ok = s.solve(e.start); !ok {
			return nil, fmt.Errorf("%w: game24: %s cannot make %d", envharness.ErrNoPlan, e.start.taskID(), target)
		}
	}
	for _, m := range moves {
		plan = append(plan, m.action())
	}
	plan = append(plan, envharness.Action{Name: stopTool})
	if left := MaxTurns - e.turn; len(plan) > left {
		return nil, fmt.Errorf("%w: game24: it takes %d turns and %d are left", envharness.ErrNoPlan, len(plan), left)
	}
	return plan, nil
}

// Close makes every later call but Close and Describe return [envharness.ErrClosed].
func (g *Game) Close() error {
	g.closed.Store(true)
	return nil
}

func (g *Game) usable(ctx context.Context) error {
	if g.closed.Load() {
		return envharness.ErrClosed
	}
	return ctx.Err()
}

func (g *Game) playing(ctx context.Context) error {
	if err := g.usable(ctx); err != nil {
		return err
	}
	if g.episode == nil {
		return envharness.ErrNeedReset
	}
	return nil
}
