package rigger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/jsonpointer"
)

// integrity is the step that asks whether the components keep to the interface, whatever they are. Episodes are played behind the stack:
// what the policy did on the unmodified task and the plan, both put as the stack asks for, and calls of all tools that are listed. Of each
// it is required that
//
//   - no component fails, and none names a graded field as one to set;
//   - what reached the base does the same on a fresh base without the components: equal results, states and verdict;
//   - another episode with the same calls and another [canary] shows the same bytes, none of them from a canary: so nothing depends on
//     hidden state, or on chance that is not the episode's own;
//   - no component adds an action of the plan, or a graded value, to what the base has shown;
//   - no component tells that a call was carried out that did not come to the base; see [swallowed].
//
// The cost is two episodes and two replays a script. A stack that cannot be reset is for the step that looks at the start.
func (in *inspector) integrity(ctx context.Context, found *inspection) (StepResult, error) {
	step := StepResult{Step: StepIntegrity, Result: Failed}
	if step.Reason = in.gradedPatch(found.stack); step.Reason != "" {
		return step, nil
	}
	policies := []func() envharness.Policy{in.prober()}
	for _, calls := range in.scripts() {
		outer := make([]envharness.Action, len(calls))
		for i, a := range calls {
			outer[i] = outwards(found.stack, a)
		}
		policies = append(policies, script(outer))
	}
	unclear := ""
	for _, p := range policies {
		reason, doubt, begins, err := in.keeps(ctx, found.stack, p)
		switch {
		case err != nil:
			return StepResult{}, err
		case !begins:
			start, err := in.startOnce(ctx, found) // which is the word on it
			if err != nil || start.Result == Failed {
				return StepResult{StepIntegrity, Passed, "no episode begins: see the start"}, err
			}
			step.Reason = reason // so some do
			return step, nil
		case reason != "":
			step.Reason = reason
			return step, nil
		}
		unclear = cmp.Or(unclear, doubt)
	}
	return StepResult{StepIntegrity, Passed, unclear}, nil
}

// keeps plays one policy and says what was wrong, or why something could not be checked. Of an episode that fails before its first turn is
// over nothing can be checked; it does not begin.
func (in *inspector) keeps(
	ctx context.Context, stack []envharness.Component, p func() envharness.Policy,
) (reason, doubt string, begins bool, err error) {
	var traces [2]envharness.Trace
	var canaries [2]*canary
	for i := range traces {
		canaries[i] = newCanary(in.task, uint64(i))
		traces[i], err = in.trial(ctx, stack, canaries[i].world(in.world), func() envharness.Policy {
			canaries[i].forget()
			return p()
		})
		if err != nil {
			return "", "", false, err
		}
		if unbegun(&traces[i]) {
			return traces[i].Cause, "", false, nil
		}
	}
	t := &traces[0]
	for i := range traces {
		if canaries[i].sings(everything(&traces[i])) {
			return "hidden state is shown: " + culprit(&traces[i], canaries[i]), "", true, nil
		}
	}
	for i := range traces {
		if t := &traces[i]; t.End.Infra() || t.Verdict.Status == envharness.Invalid {
			return cmp.Or(t.Cause, t.Verdict.Reason), "", true, nil
		}
	}
	if reason := in.dishonest(stack, t, in.secrets(stack, canaries[0].seen())); reason != "" {
		return reason, "", true, nil
	}
	if t.Verdict.Unreplayed {
		reason, doubt, err = in.replays(ctx, t)
		if err != nil || reason != "" || doubt != "" {
			return reason, doubt, true, err
		}
	}
	if !bytes.Equal(appearance(t), appearance(&traces[1])) {
		return "the same calls with the same seed show something else the second time: " + firstDifference(t, &traces[1]), "", true, nil
	}
	return "", "", true, nil
}

// dishonest says what components told in an episode that is not so, or that they must not tell, as far as the record shows it. The cost is
// linear in the turns.
func (in *inspector) dishonest(stack []envharness.Component, t *envharness.Trace, secrets []secret) string {
	if reason := in.swallowed(stack, t); reason != "" {
		return reason
	}
	if reason := in.leak(stack, t, secrets); reason != "" {
		return "a component tells what the base has not shown, " + reason
	}
	if reason := in.hint(stack, t); reason != "" {
		return "a component tells what the base has not shown: " + reason
	}
	return ""
}

// review is the step of integrity once more, on rollouts of the policy that could be judged, as their record shows them: who knows that its
// first episodes are played to check it can behave in those alone. What takes a second episode, a replay or a canary is not checked again.
// The name says what the rollouts are for.
func (in *inspector) review(ctx context.Context, name string, stack []envharness.Component, traces []envharness.Trace) (StepResult, error) {
	states, err := in.bareStates(ctx)
	if err != nil {
		return StepResult{}, err
	}
	return contained(StepIntegrity, func() (StepResult, error) { return in.reviewed(name, stack, traces, states), nil })
}

// reviewed is review with the states that the unmodified base has.
func (in *inspector) reviewed(name string, stack []envharness.Component, traces []envharness.Trace, states []envharness.State) StepResult {
	secrets := in.secrets(stack, states)
	for i := range traces {
		t := &traces[i]
		if t.Verdict.Status == envharness.Invalid {
			continue
		}
		if reason := in.dishonest(stack, t, secrets); reason != "" {
			return StepResult{StepIntegrity, Failed, fmt.Sprintf("rollout %d of the %s: %s", t.Slot, name, reason)}
		}
	}
	return StepResult{Step: StepIntegrity, Result: Passed}
}

// bareStates returns the states of the unmodified base in the episodes that are played again.
func (in *inspector) bareStates(ctx context.Context) ([]envharness.State, error) {
	if in.states != nil {
		return in.states, nil
	}
	states := []envharness.State{}
	for _, calls := range in.scripts() {
		c := newCanary(in.task, 0)
		if _, err := in.trial(ctx, nil, c.world(in.world), func() envharness.Policy {
			c.forget()
			return script(calls)()
		}); err != nil {
			return nil, err
		}
		states = append(states, c.seen()...)
	}
	in.states = states
	return states, nil
}

// unbegun reports whether a component failed, or hung, before the first turn was over.
func unbegun(t *envharness.Trace) bool {
	return len(t.Turns) == 0 && t.End == envharness.EndComponentError
}

// everything is all that a policy was shown in an episode, and what is recorded next to it.
func everything(t *envharness.Trace) string {
	return string(appearance(t)) + t.Cause + t.Verdict.Reason
}

// culprit names the component that shows a canary first, as far as the record tells.
func culprit(t *envharness.Trace, c *canary) string {
	look := func(layers []envharness.Layer) string {
		for _, l := range layers {
			if b, err := json.Marshal(l); err == nil && c.sings(string(b)) {
				return l.Component
			}
		}
		return ""
	}
	if id := look(t.Layers); id != "" {
		return id + ", at the start"
	}
	for i := range t.Turns {
		if id := look(t.Turns[i].Layers); id != "" {
			return fmt.Sprintf("%s, in turn %d", id, i)
		}
	}
	return "nobody knows by which component"
}

// firstDifference names the first turn that two episodes differ in.
func firstDifference(a, b *envharness.Trace) string {
	one := func(t *envharness.Trace, turns int) []byte {
		c := *t
		c.Turns, c.End = c.Turns[:min(turns, len(c.Turns))], ""
		return appearance(&c)
	}
	for n := range max(len(a.Turns), len(b.Turns)) + 1 {
		if !bytes.Equal(one(a, n), one(b, n)) {
			if n == 0 {
				return "at the start"
			}
			return fmt.Sprintf("in turn %d", n-1)
		}
	}
	return "at the end"
}

// replays carries out what reached the base twice without the components. For a world that promises to be deterministic the harness has
// done so already. One that does not may still be, for the same calls; where it is not nothing can be compared, which is the doubt.
func (in *inspector) replays(ctx context.Context, t *envharness.Trace) (reason, doubt string, err error) {
	var calls []envharness.Action
	var raw []envharness.Transition
	for i := range t.Turns {
		if u := &t.Turns[i]; u.Raw != nil {
			calls, raw = append(calls, *u.Applied), append(raw, *u.Raw)
		}
	}
	var bare [2]envharness.Trace
	for i := range bare {
		if bare[i], err = in.trial(ctx, startOf(t), in.world, script(calls)); err != nil {
			return "", "", err
		}
	}
	if !bytes.Equal(appearance(&bare[0]), appearance(&bare[1])) || bare[0].Verdict.Status != bare[1].Verdict.Status {
		return "", "the world does the same thing in different ways, so that results cannot be compared", nil
	}
	for i := range min(len(raw), len(bare[0].Turns)) {
		if b := bare[0].Turns[i].Raw; b != nil && !sameTransition(raw[i], *b) {
			return fmt.Sprintf("the base did something else than without the components on call %d, %s", i, calls[i]), "", nil
		}
	}
	// Without its components an episode may be too short for all the calls.
	if len(raw) == len(bare[0].Turns) && t.Verdict.Status != bare[0].Verdict.Status {
		return fmt.Sprintf("the verdict is %s, and %s without the components", t.Verdict.Status, bare[0].Verdict.Status), "", nil
	}
	return "", "", nil
}

func sameTransition(a, b envharness.Transition) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// startOf returns a component that makes the edits of the start that an episode had; none if it had none.
func startOf(t *envharness.Trace) []envharness.Component {
	var edits []envharness.StartEdit
	for _, e := range t.Log {
		switch e.Kind {
		case envharness.LogReplay:
			edits = append(edits, envharness.StartEdit{Action: e.Action})
		case envharness.LogPatch:
			var set map[string]json.RawMessage
			if json.Unmarshal(e.Action.Args, &set) == nil {
				edits = append(edits, envharness.StartEdit{Set: set})
			}
		}
	}
	if edits == nil {
		return nil
	}
	return []envharness.Component{envharness.Rules(envharness.ComponentSpec{Tag: "start", Axis: envharness.AxisStart},
		func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{Start: func(context.Context, envharness.View) ([]envharness.StartEdit, error) { return edits, nil }}, nil
		})}
}

// gradedPatch says which component names a graded field to set. The harness refuses such an edit of any component; this is for the
// parameters.
func (in *inspector) gradedPatch(stack []envharness.Component) string {
	for _, c := range stack {
		spec := c.Spec()
		if spec.Tag != "start_patch" {
			continue
		}
		var params struct {
			Set map[string]json.RawMessage `json:"set"`
		}
		if json.Unmarshal(spec.Params, &params) != nil {
			continue
		}
		for _, field := range in.about.Graded {
			for _, pointer := range slices.Sorted(maps.Keys(params.Set)) {
				if pointer == "" || jsonpointer.Below(pointer, "/"+jsonpointer.Escape(field)) {
					return fmt.Sprintf("%s sets %q, and the verifier reads %q", cmp.Or(spec.ID, spec.Tag), pointer, field)
				}
			}
		}
	}
	return ""
}

// swallowed says which call a component told to be carried out though it did not come to the base, or nothing. An answer without an error
// is for calls of tools that the component added itself, or that only read; and who sends another call than one that writes must say so, in
// Data["applied"] as [components.Sticky] does, or be a translation, with a method Outward that leads back.
func (in *inspector) swallowed(stack []envharness.Component, t *envharness.Trace) string {
	lists := toolLists{t.Components, t.Layers, t.Tools}
	for i := range t.Turns {
		u := &t.Turns[i]
		for _, l := range u.Layers {
			n := slices.IndexFunc(t.Components, func(s envharness.ComponentSpec) bool { return s.ID == l.Component })
			if u.Shown.Error != nil || n < 0 || l.ActionIn == nil || !lists.writes(n, l.ActionIn.Name) {
				continue
			}
			switch {
			case l.Edit == "answer":
				return fmt.Sprintf("%s tells in turn %d that %s was carried out, and it did not come to the base", l.Component, i, l.ActionIn)
			case l.Edit == "replace" && l.ActionOut != nil && !sameCall(*l.ActionIn, *l.ActionOut) && !disclosed(stack[n], l):
				return fmt.Sprintf("%s sends %s in place of %s in turn %d, and does not tell", l.Component, l.ActionOut, l.ActionIn, i)
			}
		}
		if u.Tools != nil {
			lists.layers, lists.shown = u.Layers, u.Tools
		}
	}
	return ""
}

// toolLists are the lists of tools in the stack at present.
type toolLists struct {
	stack  []envharness.ComponentSpec
	layers []envharness.Layer // with the lists that components changed, innermost first
	shown  []envharness.Tool
}

// inside returns the tools that the component at a level saw, and those that it made of them if it changed them.
func (t toolLists) inside(n int) (seen, made []envharness.Tool) {
	seen, found := t.shown, false
	for _, l := range t.layers {
		if l.ToolsIn == nil && l.ToolsOut == nil {
			continue
		}
		at := slices.IndexFunc(t.stack, func(s envharness.ComponentSpec) bool { return s.ID == l.Component })
		if at == n {
			made = l.ToolsOut
		}
		switch {
		case at < n:
			seen, found = l.ToolsOut, true
		case !found:
			seen, found = l.ToolsIn, true
		}
	}
	return seen, made
}

// writes reports whether a call at a level is one that is not the component's own to answer: of a tool that may write, or that nobody
// knows.
func (t toolLists) writes(n int, tool string) bool {
	named := func(t envharness.Tool) bool { return t.Name == tool }
	seen, made := t.inside(n)
	if i := slices.IndexFunc(seen, named); i >= 0 {
		return !seen[i].ReadOnly
	}
	return !slices.ContainsFunc(made, named)
}

// disclosed reports whether a component that sent another call says so.
func disclosed(c envharness.Component, l envharness.Layer) bool {
	if t, ok := c.(interface {
		Outward(a envharness.Action) envharness.Action
	}); ok && sameCall(t.Outward(*l.ActionOut), *l.ActionIn) {
		return true
	}
	if l.ObservationOut == nil {
		return false
	}
	_, told := l.ObservationOut.Data["applied"]
	return told
}

// mostProbes is how many calls a prober makes.
const mostProbes = 24

// prober makes policies that call every tool that is listed: an admissible action of the tool that was called least, one that was not made
// yet where there is one; where none of a tool is listed, the tool without arguments. What may end the episode comes last.
func (in *inspector) prober() func() envharness.Policy {
	return func() envharness.Policy {
		calls := make(map[string]int)
		made := make(map[string]int)
		return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
			if t.Index >= mostProbes {
				return envharness.Action{}, envharness.ErrStop
			}
			options := slices.Clone(t.Shown.Actions)
			ends := make(map[string]bool)
			for _, tool := range t.Tools {
				ends[tool.Name] = tool.Submits
				if !slices.ContainsFunc(options, func(a envharness.Action) bool { return a.Name == tool.Name }) {
					options = append(options, envharness.Action{Name: tool.Name})
				}
			}
			if len(options) == 0 {
				options = append(options, envharness.Action{Name: "noop"})
			}
			last := t.Left == 1 || t.Index == mostProbes-1
			rank := func(a envharness.Action) int {
				if ends[a.Name] != last {
					return calls[a.Name] + mostProbes
				}
				return calls[a.Name]
			}
			best := slices.MinFunc(options, func(a, b envharness.Action) int {
				return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(made[a.String()], made[b.String()]))
			})
			calls[best.Name]++
			made[best.String()]++
			return best, nil
		})
	}
}
