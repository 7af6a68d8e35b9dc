package game24

import (
	"encoding/json"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// An episode is a hand being played.
type episode struct {
	loose   bool
	start   hand
	numbers hand
	history []any // of strings: what was done so far; like the reference, a restart does not clear it
	stopped bool

	// What is shown, where it has been made for the present state. None of it is written to later: the history grows beyond what was
	// handed out.
	text    string
	data    map[string]any
	actions []envharness.Action
}

var _ interface {
	sim.Episode
	sim.Planner
} = (*episode)(nil)

// Step implements [sim.Episode].
func (e *episode) Step(a envharness.Action) sim.Result {
	refusal := e.act(a)
	r := sim.Result{Refusal: refusal, Ended: refusal == nil && e.stopped}
	if r.Ended && e.numbers.won(e.loose) {
		r.Reward = 1
	}
	return r
}

func (e *episode) act(a envharness.Action) *envharness.ActionError {
	if a.Name == combineTool {
		return e.combine(a.Args)
	}
	if a.Name != restartTool && a.Name != stopTool {
		return rules.UnknownTool(a.Name)
	}
	if _, refusal := sim.Args(a.Args); refusal != nil {
		return refusal
	}
	if a.Name == stopTool {
		e.stopped = true
		return nil
	}
	e.become(e.start, restartTool)
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
		return sim.Refuse(envharness.ClassPrecondition, "%s cannot be divided by 0", a)
	}
	e.become(e.numbers.combine(m.i, m.j, r), a.String()+" "+m.op.String()+" "+b.String()+" = "+r.String())
	return nil
}

// become changes the numbers, with a line in the history.
func (e *episode) become(numbers hand, line string) {
	if numbers != e.numbers {
		e.numbers, e.text, e.actions = numbers, "", nil
	}
	e.history, e.data = append(e.history, line), nil
}

// Text implements [sim.Episode]. It shows the numbers, also after a refusal, which is told in Transition.Error alone.
func (e *episode) Text() string {
	if e.text == "" {
		b := append(make([]byte, 0, 64), "target=24, numbers=["...)
		for i, v := range e.numbers.v[:e.numbers.n] {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = v.append(b)
		}
		e.text = string(append(b, ']'))
	}
	return e.text
}

// Data implements [sim.Episode].
func (e *episode) Data() map[string]any {
	if e.data == nil {
		numbers := make([]any, e.numbers.n)
		for i, v := range e.numbers.v[:e.numbers.n] {
			numbers[i] = v.String()
		}
		done := e.history[:len(e.history):len(e.history)]
		if done == nil {
			done = []any{}
		}
		e.data = map[string]any{"target": float64(target), "numbers": numbers, "history": done}
	}
	return e.data
}

// Actions implements [sim.Episode].
func (e *episode) Actions() []envharness.Action {
	if e.actions == nil {
		e.actions = e.numbers.admissible()
	}
	return e.actions
}

// AppendState implements [sim.Episode]. The keys are in order and nothing in the strings needs an escape, so with the turn the state is
// canonical JSON.
func (e *episode) AppendState(b []byte) []byte {
	b = append(b, `{"history":[`...)
	for i, line := range e.history {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), line.(string)...), '"')
	}
	b = e.numbers.append(append(b, `],"numbers":`...))
	b = e.start.append(append(b, `,"start":`...))
	if e.stopped {
		return append(b, `,"stopped":true}`...)
	}
	return append(b, `,"stopped":false}`...)
}

// Verdict implements [sim.Episode].
func (e *episode) Verdict() envharness.Verdict {
	switch {
	case !e.stopped:
		return failed("the game was not stopped")
	case e.numbers.won(e.loose):
		return envharness.Verdict{Status: envharness.Pass, Score: 1}
	case e.loose:
		return failed("none of the numbers left is 24")
	case e.numbers.n > 1:
		return failed(fmt.Sprintf("%d numbers are left", e.numbers.n))
	}
	return failed(fmt.Sprintf("the number left is %s", e.numbers.v[0]))
}

func failed(reason string) envharness.Verdict {
	return envharness.Verdict{Status: envharness.Fail, Reason: reason}
}

// Plan implements [sim.Planner]. It returns the fewest calls that solve the hand from the present state, at most five: combines and a stop,
// after a restart if the numbers left cannot make 24. Among plans of this length it is the first in the order i ascending, j ascending, add
// before sub before mul before div. The search is complete, so [envharness.ErrNoPlan] is a proof.
func (e *episode) Plan() ([]envharness.Action, error) {
	var plan []envharness.Action
	s := solver{loose: e.loose}
	moves, ok := s.solve(e.numbers)
	if !ok {
		plan = append(plan, envharness.Action{Name: restartTool})
		if moves, ok = s.solve(e.start); !ok {
			return nil, fmt.Errorf("%w: %s cannot make %d", envharness.ErrNoPlan, e.start.taskID(), target)
		}
	}
	for _, m := range moves {
		plan = append(plan, m.action())
	}
	return append(plan, envharness.Action{Name: stopTool}), nil
}
