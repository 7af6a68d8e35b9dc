package rigger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// mostRationale is how many bytes a rationale may have.
const mostRationale = 1000

// static is the step that asks whether the candidate is one: it can be built, goes in the direction that it says, and changes something.
func (in *inspector) static(ctx context.Context, c Candidate, found *inspection) (StepResult, error) {
	step := StepResult{Step: StepStatic, Result: Passed}
	err := in.valid(c)
	if err == nil {
		found.stack, err = in.build(c)
	}
	if err == nil {
		_, err = envharness.New(in.world, found.stack...) // a start cannot be put around a chain, for example
	}
	if err == nil {
		found.key, err = specsKey(found.stack)
	}
	if err != nil {
		step.Result, step.Reason = Failed, err.Error()
		return step, nil
	}
	changes, reason, err := in.changes(ctx, found.stack)
	if err != nil {
		return StepResult{}, err
	}
	step.Reason = reason
	if !changes {
		step.Result = Failed
	}
	return step, nil
}

// specsKey is what tells a stack from others.
func specsKey(stack []envharness.Component) (string, error) {
	specs := make([]envharness.ComponentSpec, len(stack))
	for i, c := range stack {
		specs[i] = c.Spec()
	}
	return journalKey("stack", specs)
}

// valid checks what takes no component to see.
func (in *inspector) valid(c Candidate) error {
	var errs []error
	if c.Direction != components.Harder && c.Direction != components.Easier {
		errs = append(errs, fmt.Errorf("direction %q must be harder or easier", c.Direction))
	}
	if n := len(c.Stack); n == 0 || n > in.maxComponents {
		errs = append(errs, fmt.Errorf("%d components, want 1 to %d", n, in.maxComponents))
	}
	if len(c.Rationale) > mostRationale {
		errs = append(errs, fmt.Errorf("the rationale has %d bytes, at most %d are allowed", len(c.Rationale), mostRationale))
	}
	fit, known := false, true
	for i, e := range c.Stack {
		k, ok := in.registry.Kind(e.Tag)
		switch {
		case !ok:
			known = false // building tells more
		case k.Axis == envharness.AxisLink:
			errs = append(errs, fmt.Errorf("component %d: %q is a chain of worlds, which makes other tasks", i, e.Tag))
		}
		// One that only makes the task another one may do either, and one that does not say may, too.
		fit = fit || ok && (k.Direction == 0 || k.Direction&(c.Direction|components.Neutral) != 0)
	}
	if known && !fit && len(c.Stack) > 0 {
		errs = append(errs, fmt.Errorf("no component can make the task %s: %s", c.Direction, tags(c.Stack)))
	}
	return errors.Join(errs...)
}

func tags(entries []components.Entry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Tag
	}
	return strings.Join(names, ", ")
}

// changes plays scripts with and without the components: what the policy did on the unmodified task, the plan, and wrong calls. They must
// change at least one byte of what is shown, an action on its way to the base, the start, or the turns that are left.
func (in *inspector) changes(ctx context.Context, stack []envharness.Component) (changed bool, reason string, err error) {
	scripts := in.scripts()
	for _, calls := range scripts {
		bare, err := in.unmodified(ctx, calls)
		if err != nil {
			return false, "", err
		}
		t, err := in.trial(ctx, stack, in.world, script(calls))
		if err != nil {
			return false, "", err
		}
		if !in.about.Deterministic {
			again, err := in.trial(ctx, nil, in.world, script(calls))
			if err != nil {
				return false, "", err
			}
			if !bytes.Equal(appearance(&again), appearance(&bare)) {
				return true, "the world does the same thing in different ways, so that nobody can tell whether the components change anything", nil
			}
		}
		if !bytes.Equal(appearance(&t), appearance(&bare)) {
			return true, "", nil
		}
	}
	return false, fmt.Sprintf("no_op: %s changed nothing in %d episodes that were played again", ids(stack), len(scripts)), nil
}

// ids lists the ids of components.
func ids(stack []envharness.Component) string {
	names := make([]string, len(stack))
	for i, c := range stack {
		spec := c.Spec()
		if names[i] = spec.ID; spec.ID == "" {
			names[i] = spec.Tag
		}
	}
	return strings.Join(names, ", ")
}

// mostScripts is how many episodes of the policy are played again. More of them cost more and rarely show more.
const mostScripts = 8

// scripts returns different lists of calls on the unmodified base: those of the policy, the plan, calls of the same tools that are refused,
// and no calls at all.
func (in *inspector) scripts() [][]envharness.Action {
	var scripts [][]envharness.Action
	known := make(map[string]bool)
	add := func(calls []envharness.Action) {
		if key := textOf(calls); !known[key] {
			known[key] = true
			scripts = append(scripts, calls)
		}
	}
	for i := range in.baseline {
		if len(scripts) < mostScripts {
			add(proposals(&in.baseline[i]))
		}
	}
	if in.plan != nil {
		add(in.plan)
	}
	add(wrongCalls(scripts))
	add(nil)
	return scripts
}

// wrongCalls returns a call of a tool that there is not, and calls of each tool in the scripts, in the order of their names, with arguments
// that it does not have.
func wrongCalls(scripts [][]envharness.Action) []envharness.Action {
	used := make(map[string]bool)
	for _, calls := range scripts {
		for _, a := range calls {
			used[a.Name] = true
		}
	}
	wrong := []envharness.Action{{Name: "no_such_tool"}}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		wrong = append(wrong, envharness.Action{Name: name, Args: json.RawMessage(`{"no_such_argument":0}`)})
	}
	return wrong
}

func textOf(calls []envharness.Action) string {
	var b strings.Builder
	for _, a := range calls {
		fmt.Fprintf(&b, "%q ", a)
	}
	return b.String()
}

// unmodified plays a script on the unmodified base, once.
func (in *inspector) unmodified(ctx context.Context, calls []envharness.Action) (envharness.Trace, error) {
	key := textOf(calls)
	if t, ok := in.bare[key]; ok {
		return t, nil
	}
	t, err := in.trial(ctx, nil, in.world, script(calls))
	if err != nil {
		return t, err
	}
	if t.End.Infra() {
		return t, fmt.Errorf("rigger: task %q: the unmodified world failed: %s", in.task.ID, t.Cause)
	}
	in.bare[key] = t
	return t, nil
}

// appearance is all of an episode that components can change, as bytes.
func appearance(t *envharness.Trace) []byte {
	seen := envharness.Trace{Log: t.Log, Shown: t.Shown, Tools: t.Tools, Turns: make([]envharness.TurnTrace, len(t.Turns)), End: t.End}
	for i := range t.Turns {
		u := &t.Turns[i]
		seen.Turns[i] = envharness.TurnTrace{Left: u.Left, Applied: u.Applied, Shown: u.Shown, Tools: u.Tools}
	}
	var b bytes.Buffer
	if err := envharness.WriteTraces(&b, []envharness.Trace{seen}); err != nil { // too long, or no JSON values
		fmt.Fprintf(&b, "%v %+v", err, seen.End)
	}
	return b.Bytes()
}
