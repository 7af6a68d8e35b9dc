package baseline

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/internal/schema"
	"github.com/throughline-go/throughline/internal/jsonpointer"
)

// A material is what a brief offers to make components of. All lists are without repeats and in an order that follows from the brief.
type material struct {
	direction components.Direction
	taken     []string            // names of all tools
	tools     []string            // those that do not submit
	reads     []string            // those that are read-only
	submits   []string            // those that may end the episode
	arguments map[string][]string // by tool: arguments that can be told one by one
	solution  []envharness.Action // the plan, or else what was carried out in the passed rollout, what ended the episode included; nil without
	calls     []envharness.Action // of the solution, or else carried out in the failed rollout
	wrong     []envharness.Action // carried out in the failed rollout, without what ended it
	fields    []string            // pointers into what was shown; Data["task"], the task in words, is no part of it
	numbers   []string            // those of numbers
	read      []string            // pointers into what read-only tools showed
	listed    bool                // admissible actions are shown
	turns     int                 // of the solution; 0 without
	limit     int                 // on turns; 0 without
}

func newMaterial(b rigger.Brief) material {
	m := material{direction: b.Direction, arguments: make(map[string][]string), limit: cmp.Or(b.Baseline.Limit, b.World.MaxTurns)}
	for _, t := range b.World.Tools {
		m.taken = append(m.taken, t.Name)
		if t.Submits {
			m.submits = append(m.submits, t.Name)
		} else {
			m.tools = append(m.tools, t.Name)
		}
		if t.ReadOnly {
			m.reads = append(m.reads, t.Name)
		}
		if args := schema.Arguments(t.Schema); len(args) > 0 {
			m.arguments[t.Name] = args
		}
	}
	m.solution = b.Plan
	if len(m.solution) == 0 && b.Success != nil {
		m.solution = carriedOut(b.Success)
	}
	m.turns = len(m.solution)
	calls := m.solution
	if b.Failure != nil {
		wrong := carriedOut(b.Failure)
		if len(calls) == 0 {
			calls = wrong
		}
		if n := len(b.Failure.Turns); n > 0 && b.Failure.Turns[n-1].Raw != nil && b.Failure.Turns[n-1].Raw.Ended() && len(wrong) > 0 {
			wrong = wrong[:len(wrong)-1]
		}
		m.wrong = wrong
	}
	for _, a := range calls {
		if !slices.ContainsFunc(m.calls, func(c envharness.Action) bool { return c.String() == a.String() }) {
			m.calls = append(m.calls, a)
		}
	}
	m.see(envharness.Observation{Text: b.Text}, false)
	for _, t := range []*envharness.Trace{b.Success, b.Failure} {
		if t != nil {
			m.look(t)
		}
	}
	return m
}

// carriedOut lists the actions that the base did not refuse.
func carriedOut(t *envharness.Trace) []envharness.Action {
	var out []envharness.Action
	for _, turn := range t.Turns {
		if turn.Applied != nil && turn.Raw != nil && turn.Raw.Error == nil {
			out = append(out, *turn.Applied)
		}
	}
	return out
}

// look collects the places of what a trace shows.
func (m *material) look(t *envharness.Trace) {
	m.see(t.Shown, false)
	for _, turn := range t.Turns {
		if turn.Raw != nil && turn.Raw.Error == nil {
			m.see(turn.Raw.Observation, turn.Applied != nil && slices.Contains(m.reads, turn.Applied.Name))
		}
	}
}

func (m *material) see(o envharness.Observation, read bool) {
	m.listed = m.listed || len(o.Actions) > 0
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		if key != "task" {
			m.place("/"+jsonpointer.Escape(key), o.Data[key], read)
		}
	}
	if trimmed := strings.TrimSpace(o.Text); strings.HasPrefix(trimmed, "{") {
		var doc map[string]any
		if json.Unmarshal([]byte(trimmed), &doc) == nil {
			for _, key := range slices.Sorted(maps.Keys(doc)) {
				m.place("/"+jsonpointer.Escape(key), doc[key], read)
			}
		}
	}
}

// place notes the leaves at and below a place.
func (m *material) place(pointer string, v any, read bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			m.place(pointer+"/"+jsonpointer.Escape(key), v[key], read)
		}
		return
	case []any:
		for _, item := range v {
			m.place(pointer+"/*", item, read)
		}
		return
	case nil:
		return
	case float64:
		m.numbers = add(m.numbers, pointer)
	}
	m.fields = add(m.fields, pointer)
	if read {
		m.read = add(m.read, pointer)
	}
}

func add(list []string, s string) []string {
	if len(list) >= 64 || slices.Contains(list, s) { // enough to choose from; keys may be data
		return list
	}
	return append(list, s)
}
