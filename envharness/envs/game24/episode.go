package game24

import (
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

// An episode is a hand being played.
type episode struct {
	start   hand
	numbers hand
	history []string // what was done so far; like the reference, a restart does not clear it
	moves   []move   // the combines in it, at the same places
	stopped bool
	turn    int
}

func newEpisode(h hand) *episode { return &episode{start: h, numbers: h} }

func (e *episode) over() bool { return e.stopped || e.turn >= MaxTurns }

// step uses one turn for the action. A refused action changes nothing else.
func (e *episode) step(a envharness.Action) *envharness.ActionError {
	e.turn++
	if a.Name == combineTool {
		return e.combine(a.Args)
	}
	if a.Name != restartTool && a.Name != stopTool {
		return refuse(envharness.ClassUnknownTool, "no tool named %q", clip(a.Name))
	}
	if _, refusal := parseArgs(a.Args); refusal != nil {
		return refusal
	}
	if a.Name == stopTool {
		e.stopped = true
		return nil
	}
	e.numbers = e.start
	e.history, e.moves = append(e.history, restartTool), append(e.moves, move{})
	return nil
}

func (e *episode) combine(args json.RawMessage) *envharness.ActionError {
	m, refusal := parseMove(args, e.numbers.n)
	if refusal != nil {
		return refusal
	}
	a, b := e.numbers.v[m.i], e.numbers.v[m.j]
	r, ok := m.op.apply(a, b)
	if !ok {
		return refuse(envharness.ClassPrecondition, "%s cannot be divided by 0", a)
	}
	e.numbers = e.numbers.combine(m.i, m.j, r)
	e.history = append(e.history, a.String()+" "+m.op.String()+" "+b.String()+" = "+r.String())
	e.moves = append(e.moves, m)
	return nil
}

// observation shows the numbers; it is a function of the state.
func (e *episode) observation() envharness.Observation {
	numbers := make([]any, e.numbers.n)
	text := make([]byte, 0, 64)
	text = append(text, "target=24, numbers=["...)
	for i, v := range e.numbers.v[:e.numbers.n] {
		s := v.String()
		numbers[i] = s
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(text, s...)
	}
	history := make([]any, len(e.history))
	for i, s := range e.history {
		history[i] = s
	}
	o := envharness.Observation{
		Text:    string(append(text, ']')),
		Data:    map[string]any{"target": float64(target), "numbers": numbers, "history": history},
		Actions: []envharness.Action{},
	}
	if !e.over() {
		o.Actions = e.numbers.admissible()
	}
	return o
}

// state is the episode as the canonical JSON object that State returns.
func (e *episode) state() envharness.State {
	b, err := json.Marshal(struct {
		History []string   `json:"history"`
		Numbers []rational `json:"numbers"`
		Start   []rational `json:"start"`
		Stopped bool       `json:"stopped"`
		Turn    int        `json:"turn"`
	}{append([]string{}, e.history...), e.numbers.v[:e.numbers.n], e.start.v[:e.start.n], e.stopped, e.turn})
	if err != nil {
		panic(err) // strings, integers and booleans
	}
	return b
}
