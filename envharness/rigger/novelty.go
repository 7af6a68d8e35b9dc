package rigger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// signature says what a candidate is about: the tag, axis and targets of each component in sorted order, and the flaw that it is aimed at.
// Two with one signature differ in strength alone.
func signature(r *components.Registry, c Candidate) string {
	parts := make([]string, len(c.Stack))
	for i, e := range c.Stack {
		kind, _ := r.Kind(e.Tag)
		parts[i] = fmt.Sprintf("%s/%s%q", e.Tag, kind.Axis, targetsOf(e.Params))
	}
	slices.Sort(parts)
	return strings.Join(append(parts, string(c.Flaw)), " ")
}

// targetFields are the parameters that say what a component is about, and not how strong it is.
var targetFields = []string{"tools", "edges", "require", "submit", "grant", "match", "actions", "fields", "keys", "lines", "set"}

// targetsOf returns what parameters name: the items of a list, sorted but for actions, which are carried out in their order; the keys of an
// object under "tools" or "set", whatever becomes of them; anything else as it is.
func targetsOf(params json.RawMessage) []string {
	var p map[string]json.RawMessage
	if len(params) == 0 || json.Unmarshal(params, &p) != nil {
		return nil
	}
	var targets []string
	for _, field := range targetFields {
		raw, ok := p[field]
		if !ok || string(raw) == "null" {
			continue
		}
		parts := []json.RawMessage{raw}
		var list []json.RawMessage
		var object map[string]json.RawMessage
		switch {
		case json.Unmarshal(raw, &list) == nil:
			parts = list
		case (field == "tools" || field == "set") && json.Unmarshal(raw, &object) == nil:
			parts = nil
			for name := range object {
				quoted, _ := json.Marshal(name) // a string can be written
				parts = append(parts, quoted)
			}
		}
		named := make([]string, len(parts))
		for i, part := range parts {
			if canonical, err := envharness.CanonicalJSON(part); err == nil {
				part = canonical
			}
			named[i] = field + " " + string(part)
		}
		if field != "actions" {
			slices.Sort(named)
			named = slices.Compact(named)
		}
		targets = append(targets, named...)
	}
	return targets
}

// axesOf returns the axes of a candidate, each once, in the order of the stack.
func axesOf(r *components.Registry, stack []components.Entry) []envharness.Axis {
	var axes []envharness.Axis
	for _, e := range stack {
		if kind, ok := r.Kind(e.Tag); ok && !slices.Contains(axes, kind.Axis) {
			axes = append(axes, kind.Axis)
		}
	}
	return axes
}

// weights are those of Brief.Axes.
func weights(accepted map[envharness.Axis]int) map[envharness.Axis]float64 {
	axes := []envharness.Axis{envharness.AxisStart, envharness.AxisAction, envharness.AxisTransition, envharness.AxisObservation}
	sum := 0.0
	for _, a := range axes {
		sum += 1 / float64(accepted[a]+1)
	}
	w := make(map[envharness.Axis]float64, len(axes))
	for _, a := range axes {
		w[a] = 1 / float64(accepted[a]+1) / sum
	}
	return w
}

// An archive is what was accepted so far, in all tasks.
type archive struct {
	items int
	axes  map[envharness.Axis]int // items that are on an axis; one may be on several
}

// novel is the step that keeps accepted candidates apart: accepted are the hashes and signatures of those on the same task.
func (a *archive) novel(r *components.Registry, c Candidate, hash string, accepted []string, axisCap float64) StepResult {
	switch {
	case slices.Contains(accepted, hash):
		return StepResult{StepNovelty, Failed, "the same stack was accepted on this task"}
	case slices.Contains(accepted, signature(r, c)):
		return StepResult{StepNovelty, Failed, "one with the same components and targets for the same flaw was accepted on this task"}
	}
	if a.items >= axisCapFrom {
		for _, axis := range axesOf(r, c.Stack) {
			if n := a.axes[axis] + 1; float64(n) > axisCap*float64(a.items+1)+bandTolerance {
				return StepResult{StepNovelty, Failed, fmt.Sprintf("%d of %d accepted would be on axis %s, at most a share of %v may",
					n, a.items+1, axis, axisCap)}
			}
		}
	}
	return StepResult{StepNovelty, Passed, ""}
}

// add notes an accepted candidate.
func (a *archive) add(r *components.Registry, stack []components.Entry) {
	a.items++
	for _, axis := range axesOf(r, stack) {
		a.axes[axis]++
	}
}
