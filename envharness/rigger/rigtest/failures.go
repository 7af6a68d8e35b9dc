package rigtest

import (
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// failure is the index of the first turn that failed for the moment, -1 without one.
func failure(t envharness.Trace) int {
	return slices.IndexFunc(t.Turns, func(turn envharness.TurnTrace) bool { return turn.Shown.Error != nil && turn.Shown.Error.Retryable })
}

// goesOn reports whether a call failed for the moment and the next three neither repeat it nor look.
func goesOn(p *part, t envharness.Trace) bool {
	i := failure(t)
	if i < 0 || i == len(t.Turns)-1 {
		return false
	}
	failed := t.Turns[i].Proposed.Name
	return !slices.ContainsFunc(t.Turns[i+1:min(i+4, len(t.Turns))], func(turn envharness.TurnTrace) bool {
		return turn.Proposed == nil || turn.Proposed.Name == failed || p.readOnly(turn.Proposed.Name) || turn.Shown.Error != nil
	})
}

// droppedTool reports whether a call failed for the moment and its tool was never called again.
func droppedTool(t envharness.Trace) bool {
	i := failure(t)
	return i >= 0 && !slices.ContainsFunc(t.Turns[i+1:], func(turn envharness.TurnTrace) bool {
		return turn.Proposed != nil && turn.Proposed.Name == t.Turns[i].Proposed.Name
	})
}

// calls counts the moves from the start up to i, inclusive, that call the same tool.
func calls(moves []move, i int) int {
	n := 0
	for _, m := range moves[:i+1] {
		if m.action.Name == moves[i].action.Name {
			n++
		}
	}
	return n
}

func fail(moves []move, i int) []envharness.Component {
	return []envharness.Component{components.ToolFail{Tools: []string{moves[i].action.Name}, Nth: calls(moves, i)}}
}

// failingWrites lets a write fail once, the latest ones first, where the plan can go on without it.
func failingWrites(p *part) [][]envharness.Component {
	var all [][]envharness.Component
	for i := len(p.clean) - 2; i >= 0; i-- {
		if !p.readOnly(p.clean[i].action.Name) {
			all = append(all, fail(p.clean, i))
		}
	}
	return all
}

// failingCalls lets a call fail once: a read that the plan passes without, where that shows all that is used later; else the last one.
func failingCalls(p *part) [][]envharness.Component {
	var all [][]envharness.Component
	for i, m := range p.clean {
		if p.skippable[m.action.Name] && calls(p.clean, i) == 1 && p.groundedWithout(m.action.Name) {
			all = append(all, fail(p.clean, i))
		}
	}
	return append(all, fail(p.clean, len(p.clean)-1))
}

// groundedWithout reports whether the writes of the plan use nothing but what the first observation shows, or a read of another tool.
func (p *part) groundedWithout(tool string) bool {
	var shown []envharness.Observation
	rest := without(p.plan, tool)
	for range rest {
		shown = append(shown, p.first)
	}
	return grounded(shown, rest)
}

// pagedStart shows the first text on two pages.
func pagedStart(p *part) [][]envharness.Component {
	size := max(3, len(p.first.Text)/2+4)
	return [][]envharness.Component{{components.Paginate{MaxBytes: size, Window: components.Window{Until: 1}}}}
}

// limitedRates refuses the last call of a tool that is called more than once, for two turns.
func limitedRates(p *part) [][]envharness.Component {
	var all [][]envharness.Component
	for _, t := range p.about.Tools {
		var at []int
		for i, m := range p.clean {
			if m.action.Name == t.Name {
				at = append(at, i)
			}
		}
		if len(at) < 2 {
			continue
		}
		last := len(at) - 1
		all = append(all, []envharness.Component{
			components.RateLimit{Tools: []string{t.Name}, Calls: last, Per: at[last] - at[0] + 2},
		})
	}
	return all
}
