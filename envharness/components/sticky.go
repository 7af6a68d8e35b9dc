package components

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// Sticky repeats, with probability P in each turn, the action before for Duration turns in place of what the policy asks for. The
// policy is shown the repeated action in Data["applied"], as {"name", "args"}, when it differs from its own.
//
// An action to repeat is the last one that went through this component and came to the base. Tools that may end the
// episode ([envharness.Tool].Submits) and those of Exempt neither are replaced nor repeated; an environment that lists no tools needs
// Exempt. Every turn has one draw of its own, used or not.
//
// Tag sticky, axis A; the params are the struct with its defaults filled in. It is sound if all tools that can end the episode are
// exempt, and no repeated action can undo for good what a solution needs. The idea is that of sticky actions in the Arcade Learning
// Environment (arXiv:1709.06009).
type Sticky struct {
	P        *float64 `json:"p"`                // from 0, which changes nothing, to 1; nil means 0.1
	Duration int      `json:"duration"`         // turns for which an action sticks; zero means 1
	Exempt   []string `json:"exempt,omitempty"` // patterns of tool names; none means no tools but those that submit
	Window
}

func (s Sticky) withDefaults() Sticky {
	if s.P == nil {
		s.P = new(0.1)
	}
	if s.Duration == 0 {
		s.Duration = 1
	}
	return s
}

// Spec implements [envharness.Component].
func (s Sticky) Spec() envharness.ComponentSpec {
	return spec("sticky", envharness.AxisAction, s.withDefaults())
}

// Check reports a P outside [0, 1], a negative Duration, a pattern that [path.Match] cannot read, and an empty range of turns.
func (s Sticky) Check() error {
	var err error
	if s.Duration < 0 {
		err = fmt.Errorf("duration %d must not be negative", s.Duration)
	}
	return errors.Join(checkChance("p", s.P), err, checkPatterns(s.Exempt), s.check())
}

// String says in words what the component does with its parameters.
func (s Sticky) String() string {
	s = s.withDefaults()
	if *s.P == 0 {
		return unchanged
	}
	length := ""
	if s.Duration > 1 {
		length = " for " + count(s.Duration, "turn")
	}
	except := "tools that submit"
	if len(s.Exempt) > 0 {
		except = list("or", append(words(s.Exempt), except))
	}
	return s.in("in each turn the action before is repeated" + length + ", " + probability(*s.P) + ", in place of the one asked for, " +
		"except for calls of " + except)
}

// Begin implements [envharness.Component].
func (s Sticky) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	s = s.withDefaults()
	if *s.P == 0 {
		return envharness.Hooks{}, nil
	}
	run := &stickyRun{Sticky: s, chances: chances{rand: e.Rand}}
	return envharness.Hooks{Tools: run.tools, Action: run.action, Transition: run.transition}, nil
}

// A stickyRun is one episode of a [Sticky].
type stickyRun struct {
	Sticky
	chances  chances
	ending   map[string]bool   // tools that may end the episode
	last     envharness.Action // that came to the base; without a name if none did
	sent     envharness.Action // in this turn; without a name if it is exempt
	replaced bool              // sent is not what the policy asked for
	stuck    int               // turns left for which last sticks, counted down each turn
	turn     int               // of the last call, to count down the turns in between
}

func (r *stickyRun) tools(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
	r.ending = toolsWith(tools, submits)
	return tools, nil
}

func (r *stickyRun) exempt(tool string) bool {
	return tool == "" || r.ending[tool] || len(r.Exempt) > 0 && match(r.Exempt, tool)
}

func (r *stickyRun) action(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
	draw := r.chances.at(v.Turn)
	r.stuck = max(0, r.stuck-(v.Turn-r.turn))
	r.turn, r.sent, r.replaced = v.Turn, envharness.Action{}, false
	if r.exempt(a.Name) {
		return envharness.PassAction(), nil
	}
	r.sent = a
	if r.last.Name == "" || !r.open(v.Turn) {
		return envharness.PassAction(), nil
	}
	if r.stuck == 0 && draw < *r.P {
		r.stuck = r.Duration
	}
	if r.stuck == 0 || r.last.Name == a.Name && bytes.Equal(r.last.Args, a.Args) {
		return envharness.PassAction(), nil
	}
	r.sent, r.replaced = r.last, true
	return envharness.ReplaceAction(r.last), nil
}

func (r *stickyRun) transition(_ context.Context, v envharness.View, t envharness.Transition) (envharness.TransitionEdit, error) {
	if r.sent.Name != "" && v.Stepped {
		r.last = r.sent
	}
	if !r.replaced {
		return envharness.TransitionEdit{}, nil
	}
	if t.Observation.Data == nil {
		t.Observation.Data = make(map[string]any)
	}
	t.Observation.Data["applied"] = shownAction(r.sent)
	return envharness.TransitionEdit{Observation: &t.Observation}, nil
}

// shownAction turns an action into a JSON value. Arguments that are none, or that are nested so deep that they might be no
// observation, are shown as the text that they are.
func shownAction(a envharness.Action) map[string]any {
	shown := map[string]any{"name": a.Name}
	if len(a.Args) == 0 {
		return shown
	}
	const depth = 500 // half of what an observation may have
	var args any
	if bytes.Count(a.Args, []byte("{"))+bytes.Count(a.Args, []byte("[")) > depth || json.Unmarshal(a.Args, &args) != nil {
		args = string(a.Args)
	}
	shown["args"] = args
	return shown
}

func stickyKind() Kind {
	return Kind{
		Tag: "sticky", Version: 1, Axis: envharness.AxisAction, Direction: Harder,
		About: "repeats the action before now and then",
		Sound: "all tools that can end the episode submit or are exempt, and no repeated action undoes for good what a solution needs",
		Schema: objectSchema("", `"p":`+chanceSchema, `"duration":{"type":"integer","minimum":0,"default":1}`,
			`"exempt":`+patternsSchema, windowProperty),
		Ladder: []json.RawMessage{json.RawMessage(`{"p":0.05}`), json.RawMessage(`{"p":0.1}`), json.RawMessage(`{"p":0.25}`)},
		New:    build[Sticky],
	}
}
