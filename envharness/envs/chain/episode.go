package chain

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// A world is what all episodes of an experiment share; nobody writes to it.
type world struct {
	*design
	task    string
	data    map[string]any
	actions []envharness.Action
}

// A process is one of the chains, without the calls around it. A step of it is made only before it has ended.
type process interface {
	step(action int) (reward float64)
	ended() bool
	passes() bool // asked of one that has ended
	// plan returns the actions that pass from here, or why there are none.
	plan() (actions []int, why string)
	appendText(b []byte) []byte
	appendState(b []byte) []byte
}

// An episode is one that is being played.
type episode struct {
	world   *world
	steps   int
	process process
	text    string // empty until somebody asks
	scratch []byte
}

func (w *world) start(task string) (sim.Episode, error) {
	n, k, err := w.parse(task)
	if err != nil {
		return nil, err
	}
	// A stream of its own for each experiment, setting and episode.
	r := func(k int) *random { return newRandom(uint64(k), "chain/"+string(w.name), uint64(n)) }
	e := &episode{world: w, steps: w.steps(n)}
	switch w.kind {
	case umbrella:
		e.process = newUmbrella(e.steps, w.signs(n), r(k))
	case discounting:
		e.process = newDiscounting(n%arms, w.pays, e.steps)
	case memory:
		e.process = newMemory(n, r(k))
		return memoryEpisode{e, e.Text()}, nil
	case sea:
		e.process = newSea(n, r(0)) // all episodes on the same map
	}
	return e, nil
}

// A memoryEpisode is a [sim.Narrator]: the bit that its first text shows is hidden later, and has to be known still when the steps of a setup
// have become part of the start.
type memoryEpisode struct {
	*episode
	opening string
}

// Opening is the first text.
func (e memoryEpisode) Opening() string { return e.opening }

// Limit is the turn on which the episode is truncated.
func (e *episode) Limit() int { return e.steps + slack }

// Text is the task and what is seen.
func (e *episode) Text() string {
	if e.text == "" {
		b := append(append(e.scratch[:0], e.world.task...), ' ')
		e.scratch = e.process.appendText(b)
		e.text = string(e.scratch)
	}
	return e.text
}

// Data is the task in words.
func (e *episode) Data() map[string]any { return e.world.data }

// Actions lists all actions.
func (e *episode) Actions() []envharness.Action { return e.world.actions }

// Step carries out one action.
func (e *episode) Step(a envharness.Action) sim.Result {
	action, refusal := e.world.read(a)
	if refusal != nil {
		return sim.Result{Refusal: refusal}
	}
	e.text = ""
	reward := e.process.step(action)
	return sim.Result{Reward: reward, Ended: e.process.ended()}
}

// AppendState appends the whole state.
func (e *episode) AppendState(b []byte) []byte { return e.process.appendState(b) }

// Verdict passes the best episode.
func (e *episode) Verdict() envharness.Verdict {
	switch {
	case !e.process.ended():
		return envharness.Verdict{Status: envharness.Fail, Reason: "the chain has not come to its end"}
	case !e.process.passes():
		return envharness.Verdict{Status: envharness.Fail, Reason: e.world.missed()}
	}
	return envharness.Verdict{Status: envharness.Pass, Score: 1}
}

// Plan returns the best actions to the end.
func (e *episode) Plan() ([]envharness.Action, error) {
	actions, why := e.process.plan()
	if why != "" {
		return nil, fmt.Errorf("%w: %s", envharness.ErrNoPlan, why)
	}
	plan := make([]envharness.Action, len(actions))
	for i, a := range actions {
		plan[i] = e.world.actions[a]
	}
	return plan, nil
}

// The one tool and its argument.
const (
	tool     = "act"
	argument = "action"
)

// choices counts the actions.
func (d *design) choices() int {
	if d.kind == discounting {
		return arms
	}
	return 2
}

func (d *design) actions() []envharness.Action {
	list := make([]envharness.Action, d.choices())
	for i := range list {
		list[i] = envharness.Action{Name: tool, Args: json.RawMessage(`{"` + argument + `":` + strconv.Itoa(i) + `}`)}
	}
	return list
}

// read returns the number of an action.
func (w *world) read(a envharness.Action) (int, *envharness.ActionError) {
	if a.Name != tool {
		return 0, rules.UnknownTool(a.Name)
	}
	for i := range w.actions { // the usual form
		if string(a.Args) == string(w.actions[i].Args) {
			return i, nil
		}
	}
	args, refusal := sim.Args(a.Args, argument)
	if refusal != nil {
		return 0, refusal
	}
	for i := range w.actions {
		if args[argument] == float64(i) {
			return i, nil
		}
	}
	return 0, sim.Refuse(envharness.ClassBadArgs, "argument %s must be an integer from 0 to %d", argument, len(w.actions)-1)
}
