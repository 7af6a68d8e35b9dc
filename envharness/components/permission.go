package components

import (
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// Permission refuses calls of the chosen tools until an action that fits Grant was carried out by the base; the reason names that
// action. The grant itself is never refused, and may be renewed.
//
// Tag permission, axis A; the params are the struct. It is sound if the grant can be carried out from where the policy is, does no harm,
// and the limits on turns leave room for it. Outside the range of turns nothing is refused, but a grant counts.
type Permission struct {
	Tools   []string `json:"tools,omitempty"`   // patterns of tool names; none means all tools
	Grant   Match    `json:"grant"`             // needs a tool
	Expires int      `json:"expires,omitempty"` // turns after the grant for which it holds; zero means to the end
	Window
}

// Spec implements [envharness.Component].
func (p Permission) Spec() envharness.ComponentSpec {
	return spec("permission", envharness.AxisAction, p)
}

// Check reports a pattern that [path.Match] cannot read, a Grant without a tool or with arguments that are not JSON, negative Expires, and
// an empty range of turns.
func (p Permission) Check() error {
	var errs []error
	if p.Grant.Tool == "" {
		errs = append(errs, errors.New("grant needs a tool"))
	}
	if p.Expires < 0 {
		errs = append(errs, fmt.Errorf("expires %d must not be negative", p.Expires))
	}
	return errors.Join(append(errs, checkPatterns(p.Tools), p.Grant.check(), p.check())...)
}

// String says in words what the component does with its parameters.
func (p Permission) String() string {
	s := "calls of " + oneOf(p.Tools, "any tool") + " are refused until " + p.Grant.words() + " was carried out"
	if p.Expires > 0 {
		s += ", which holds for " + count(p.Expires, "turn")
	}
	return p.in(s)
}

// Requires returns what has to be carried out before a, which the component refused, is let through: the grant. It is none for an action
// that is never refused. The range of turns is not looked at. With Expires the grant must be no older than that.
func (p Permission) Requires(a envharness.Action) []Match {
	if !match(p.Tools, a.Name) || p.Grant.Fits(a) {
		return nil
	}
	return []Match{p.Grant}
}

// Begin implements [envharness.Component].
func (p Permission) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	run := &permissionRun{Permission: p, reason: "permission needed, first call " + describe(p.Grant)}
	return envharness.Hooks{Action: run.action, Result: run.result}, nil
}

// A permissionRun is one episode of a [Permission].
type permissionRun struct {
	Permission
	reason  string
	asked   bool // the action of this turn is the grant
	granted bool
	turn    int // of the last grant
}

func (r *permissionRun) action(_ context.Context, v envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
	r.asked = r.Grant.Fits(a)
	if r.asked || r.holds(v.Turn) || !r.open(v.Turn) || !match(r.Tools, a.Name) {
		return envharness.PassAction(), nil
	}
	return envharness.BlockAction(r.reason), nil
}

func (r *permissionRun) holds(turn int) bool {
	return r.granted && (r.Expires == 0 || turn-r.turn <= r.Expires)
}

func (r *permissionRun) result(_ context.Context, v envharness.View, refusal *envharness.ActionError) error {
	if r.asked && carriedOut(v, refusal) {
		r.granted, r.turn = true, v.Turn
	}
	return nil
}

// describe writes a pattern for a policy: the tool and the arguments it needs.
func describe(m Match) string {
	tool := m.Tool
	if tool == "" {
		tool = "*"
	}
	if len(m.Args) == 0 {
		return tool
	}
	args, _ := envharness.CanonicalJSON(m.Args) // checked
	return tool + " " + string(args)
}

func permissionKind() Kind {
	return Kind{
		Tag: "permission", Version: 1, Axis: envharness.AxisAction, Direction: Harder,
		About: "refuses calls until another action grants them",
		Sound: "the grant can be carried out and does no harm, and the limits on turns leave room for it",
		Schema: objectSchema("grant", toolsProperty, `"grant":`+matchSchema, `"expires":{"type":"integer","minimum":0,"default":0}`,
			windowProperty),
		New: build[Permission],
	}
}
