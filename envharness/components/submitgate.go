package components

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// SubmitGate blocks a submission until the base carried out every required action since the last write; the reason names those that are
// missing. After MaxBlocks refusals it lets everything pass for the rest of the episode.
//
// A write is an action that the base carried out, that is not required, and whose tool is not declared [envharness.Tool].ReadOnly; where
// no tools are listed that is every action which is not required. Outside the range of turns nothing is refused, but actions count.
//
// Tag submit_gate, axis A; the params are the struct with its defaults filled in. It is sound if a solution can carry out what is
// required after its last write, or the limits on turns leave room for MaxBlocks refusals. It helps a policy that submits too early.
type SubmitGate struct {
	Submit    []string `json:"submit,omitempty"` // patterns of tool names; none means all tools that are declared to submit
	Require   []Match  `json:"require"`          // at least one
	MaxBlocks *int     `json:"max_blocks"`       // zero refuses nothing; nil means 2
	Window
}

func (g SubmitGate) withDefaults() SubmitGate {
	if g.MaxBlocks == nil {
		g.MaxBlocks = new(2)
	}
	return g
}

// Spec implements [envharness.Component].
func (g SubmitGate) Spec() envharness.ComponentSpec {
	return spec("submit_gate", envharness.AxisAction, g.withDefaults())
}

// Check reports that nothing is required, a pattern that [path.Match] cannot read, arguments that are not JSON, negative MaxBlocks, and an
// empty range of turns.
func (g SubmitGate) Check() error {
	var errs []error
	if len(g.Require) == 0 {
		errs = append(errs, errors.New("require needs at least one action"))
	}
	for i, m := range g.Require {
		if err := m.check(); err != nil {
			errs = append(errs, fmt.Errorf("require %d: %w", i, err))
		}
	}
	if g.MaxBlocks != nil && *g.MaxBlocks < 0 {
		errs = append(errs, fmt.Errorf("max_blocks %d must not be negative", *g.MaxBlocks))
	}
	return errors.Join(append(errs, checkPatterns(g.Submit), g.check())...)
}

// String says in words what the component does with its parameters.
func (g SubmitGate) String() string {
	g = g.withDefaults()
	if *g.MaxBlocks == 0 {
		return unchanged
	}
	needed := make([]string, len(g.Require))
	for i, m := range g.Require {
		needed[i] = m.words()
	}
	were := "was"
	if len(needed) > 1 {
		were = "were"
	}
	most := "once"
	if *g.MaxBlocks > 1 {
		most = count(*g.MaxBlocks, "time")
	}
	return g.in("calls of " + oneOf(g.Submit, "a tool that submits") + " are refused, at most " + most + ", until " + list("and", needed) +
		" " + were + " carried out since the last write")
}

// Requires returns what has to be carried out, with no write in between, before a, which the component refused, is let through: all that is
// required. It is none for an action that is never refused; without Submit, where the tools tell what submits, a is taken for a submission.
// The range of turns is not looked at.
func (g SubmitGate) Requires(a envharness.Action) []Match {
	if *g.withDefaults().MaxBlocks == 0 || !match(g.Submit, a.Name) {
		return nil
	}
	return slices.Clone(g.Require)
}

// Begin implements [envharness.Component].
func (g SubmitGate) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	g = g.withDefaults()
	if *g.MaxBlocks == 0 {
		return envharness.Hooks{}, nil
	}
	run := &submitGateRun{SubmitGate: g, done: make([]bool, len(g.Require)), fits: make([]bool, len(g.Require))}
	return envharness.Hooks{Tools: run.tools, Action: run.action, Result: run.result}, nil
}

// A submitGateRun is one episode of a [SubmitGate].
type submitGateRun struct {
	SubmitGate
	submits, readOnly map[string]bool // tools by what they are declared to be
	blocks            int
	done              []bool // by required action: carried out since the last write
	tool              string // called in this turn
	fits              []bool // the required actions that the one of this turn is
}

func (r *submitGateRun) tools(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
	r.submits, r.readOnly = toolsWith(tools, submits), toolsWith(tools, readOnly)
	return tools, nil
}

func (r *submitGateRun) submission(tool string) bool {
	if len(r.Submit) == 0 {
		return r.submits[tool]
	}
	return match(r.Submit, tool)
}

func (r *submitGateRun) action(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
	r.tool = a.Name
	for i, m := range r.Require {
		r.fits[i] = m.Fits(a)
	}
	if !r.submission(a.Name) || r.blocks >= *r.MaxBlocks || !r.open(v.Turn) || !slices.Contains(r.done, false) {
		return envharness.PassAction(), nil
	}
	r.blocks++
	return envharness.BlockAction("before " + a.Name + " first call " + r.missing()), nil
}

func (r *submitGateRun) missing() string {
	var names []string
	for i, m := range r.Require {
		if !r.done[i] {
			names = append(names, describe(m))
		}
	}
	return strings.Join(names, ", ")
}

func (r *submitGateRun) result(_ context.Context, v envharness.View, refusal *envharness.ActionError) error {
	if !carriedOut(v, refusal) {
		return nil
	}
	required := slices.Contains(r.fits, true)
	for i, fits := range r.fits {
		r.done[i] = r.done[i] || fits
	}
	if !required && !r.readOnly[r.tool] {
		clear(r.done)
	}
	return nil
}

func submitGateKind() Kind {
	return Kind{
		Tag: "submit_gate", Version: 1, Axis: envharness.AxisAction, Direction: Easier | Harder,
		About: "refuses to submit until what is required was done",
		Sound: "a solution can carry out what is required after its last write, or the limits on turns leave room for max_blocks refusals",
		Schema: objectSchema("require", `"submit":`+patternsSchema, `"require":{"type":"array","minItems":1,"items":`+matchSchema+`}`,
			`"max_blocks":{"type":"integer","minimum":0,"default":2}`, windowProperty),
		New: build[SubmitGate],
	}
}
