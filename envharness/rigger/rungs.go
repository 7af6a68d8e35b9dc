package rigger

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/internal/schema"
	"github.com/throughline-go/throughline/internal/jsonpointer"
)

func params(stack ...envharness.Component) []json.RawMessage {
	out := make([]json.RawMessage, len(stack))
	for i, c := range stack {
		out[i] = c.Spec().Params
	}
	return out
}

// ladder puts the rungs of the registry over the parameters of a component.
func (c *clues) ladder(base envharness.Component) []json.RawMessage {
	spec := base.Spec()
	k, _ := c.registry.Kind(spec.Tag)
	if k.Ladder == nil {
		return []json.RawMessage{spec.Params}
	}
	var out []json.RawMessage
	for _, rung := range k.Ladder {
		var merged, over map[string]json.RawMessage
		if json.Unmarshal(spec.Params, &merged) != nil || json.Unmarshal(rung, &over) != nil || merged == nil {
			continue
		}
		maps.Copy(merged, over)
		if raw, err := json.Marshal(merged); err == nil {
			out = append(out, raw)
		}
	}
	return out
}

// cumulative returns the first 1, 2 and 4 of the items, as far as there are as many, and all if there are 3.
func cumulative[T any](items []T) [][]T {
	var out [][]T
	for _, n := range []int{1, 2, 4} {
		if n = min(n, len(items)); n > 0 && (len(out) == 0 || n > len(out[len(out)-1])) {
			out = append(out, items[:n])
		}
	}
	return out
}

// aidRungs begin at 25, 50 and 75 % of a solution, rounded down, and after one action at least.
func (c *clues) aidRungs(diagnosis.Flaw) []json.RawMessage {
	var out []json.RawMessage
	for _, n := range aidLengths(len(c.way)) {
		out = append(out, envharness.Setup{Actions: c.way[:n], Aid: true}.Spec().Params)
	}
	return out
}

// aidLengths returns how many actions of a solution are given away; never all of them.
func aidLengths(solution int) []int {
	var out []int
	for _, percent := range []int{25, 50, 75} {
		if n := max(1, solution*percent/100); n < solution && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// budgetRungs are 2, 1.5 and 1.2 times the length of a solution, rounded up, as far as that is less than what there is. A policy that is
// slow already (F07) begins at 1.5, and limits that a policy would hardly meet, a quarter or more above the turns it takes to pass, are left out.
func (c *clues) budgetRungs(f diagnosis.Flaw) []json.RawMessage {
	tenths := []int{20, 15, 12}
	if f.ID == diagnosis.OverLong {
		tenths = tenths[1:]
	}
	var out []json.RawMessage
	for _, t := range tenths {
		turns := (c.length*t + 9) / 10
		met := c.Baseline.Turns == 0 || float64(turns) < 1.25*c.Baseline.Turns
		if turns > 0 && met && (c.Baseline.Limit == 0 || turns < c.Baseline.Limit) {
			out = append(out, components.StepBudget{Turns: turns}.Spec().Params)
		}
	}
	return out
}

// fewRefusalRungs refuse the call of a loop once, twice, or always where a solution is known that does without it.
func (c *clues) fewRefusalRungs(f diagnosis.Flaw) []json.RawMessage {
	a, ok := c.repeated(f)
	if !ok {
		return nil
	}
	out := c.ladder(components.Block{Tools: []string{literal(a.Name)}, Args: arguments(a)})
	return slices.DeleteFunc(out, func(raw json.RawMessage) bool {
		var b components.Block
		err := json.Unmarshal(raw, &b)
		return err != nil || b.Max == 0 && (len(c.way) == 0 || c.onWay(a))
	})
}

// noLoopRungs refuse the call of a loop always and say so, if a solution is known that does without it.
func (c *clues) noLoopRungs(f diagnosis.Flaw) []json.RawMessage {
	a, ok := c.repeated(f)
	if !ok || len(c.way) == 0 || c.onWay(a) {
		return nil
	}
	return params(components.Block{Tools: []string{literal(a.Name)}, Args: arguments(a), Reason: "nothing new comes of this call"})
}

// noUnknownToolRungs refuse calls of tools that there are not, and say so.
func (c *clues) noUnknownToolRungs(f diagnosis.Flaw) []json.RawMessage {
	if c.tools == nil {
		return nil
	}
	var names []string
	for _, a := range c.cited(f) {
		if _, known := c.tool(a.Name); !known && a.Name != "" && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return params(components.Block{Tools: literals(names), Reason: "there is no such tool"})
}

// noDetourRungs refuse the tools that a flaw points at and no known solution uses.
func (c *clues) noDetourRungs(f diagnosis.Flaw) []json.RawMessage {
	if len(c.way) == 0 {
		return nil
	}
	names := slices.DeleteFunc(c.citedTools(f), c.toolOnWay)
	if len(names) == 0 {
		return nil
	}
	return params(components.Block{Tools: literals(names), Reason: "not needed here"})
}

// edges returns orders that a solution keeps: those of the rules, if the flaw is to break them, or else from each tool to the one that
// the solution uses next for the first time. Those that end at a tool which the flaw points at come first, then those that end at a write.
func (c *clues) edges(f diagnosis.Flaw) []components.Edge {
	if f.ID == diagnosis.OrderViolation && len(c.Edges) > 0 {
		return c.Edges
	}
	names, cited := c.wayTools(), c.citedTools(f)
	var out []components.Edge
	for i := range max(0, len(names)-1) {
		out = append(out, components.Edge{Before: components.Match{Tool: literal(names[i])}, After: components.Match{Tool: literal(names[i+1])}})
	}
	rank := func(e components.Edge) int {
		name := names[slices.IndexFunc(names, func(n string) bool { return literal(n) == e.After.Tool })]
		switch {
		case slices.Contains(cited, name):
			return 0
		case slices.Contains(c.writes(), name):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b components.Edge) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// toldOrderRungs lock 1, 2 and 4 orders and say what is missing. Where a world has one tool alone the reason would be a part of a solution,
// word for word, so that there are none.
func (c *clues) toldOrderRungs(f diagnosis.Flaw) []json.RawMessage {
	var out []json.RawMessage
	for _, edges := range cumulative(c.edges(f)) {
		out = append(out, components.OrderLock{Edges: edges}.Spec().Params)
	}
	return out
}

// untoldOrderRungs lock 1, 2 and 4 orders and do not say what is missing. Where a solution uses one tool alone they are those of its calls,
// from the end.
func (c *clues) untoldOrderRungs(f diagnosis.Flaw) []json.RawMessage {
	edges := c.edges(f)
	if len(edges) == 0 {
		edges = c.callEdges()
	}
	var out []json.RawMessage
	for _, edges := range cumulative(edges) {
		out = append(out, components.OrderLock{Edges: edges, Hide: true}.Spec().Params)
	}
	return out
}

// callEdges returns orders of calls that differ in their arguments, each made for the first time right after the other, from the end.
func (c *clues) callEdges() []components.Edge {
	var calls []envharness.Action
	for _, a := range c.way {
		if len(arguments(a)) > 0 && !slices.ContainsFunc(calls, func(o envharness.Action) bool { return actionKey(o) == actionKey(a) }) {
			calls = append(calls, a)
		}
	}
	match := func(a envharness.Action) components.Match {
		return components.Match{Tool: literal(a.Name), Args: arguments(a)}
	}
	var out []components.Edge
	for i := len(calls) - 1; i > 0; i-- {
		out = append(out, components.Edge{Before: match(calls[i-1]), After: match(calls[i])})
	}
	return out
}

// gateRungs hold a submission back, 2 or 4 times, until the reading tool that the solution used last was called after the last write.
func (c *clues) gateRungs(diagnosis.Flaw) []json.RawMessage {
	if !slices.ContainsFunc(c.tools, func(t envharness.Tool) bool { return t.Submits }) {
		return nil
	}
	for _, a := range slices.Backward(c.way) {
		if !c.reads(a.Name) || c.submits(a.Name) {
			continue
		}
		var out []json.RawMessage
		for _, blocks := range []int{2, 4} {
			gate := components.SubmitGate{Require: []components.Match{{Tool: literal(a.Name)}}, MaxBlocks: new(blocks)}
			out = append(out, gate.Spec().Params)
		}
		return out
	}
	return nil
}

// failureRungs make the first calls of tools fail that the flaw points at and a solution uses.
func (c *clues) failureRungs(f diagnosis.Flaw) []json.RawMessage {
	return c.ladder(components.ToolFail{Tools: literals(c.targets(f))})
}

// randomFailureRungs make writes fail at random, with probability 0.2, 0.4 or 0.6: a longer row of failures is of no use where none begins.
func (c *clues) randomFailureRungs(diagnosis.Flaw) []json.RawMessage {
	var out []json.RawMessage
	for _, p := range []float64{0.2, 0.4, 0.6} {
		out = append(out, components.ToolFail{Tools: literals(c.writes()), Mode: "rate", P: new(p)}.Spec().Params)
	}
	return out
}

// outageRungs take tools out of service that the policy used and no known solution needs: those that the flaw points at, or else all.
func (c *clues) outageRungs(f diagnosis.Flaw) []json.RawMessage {
	if len(c.way) == 0 {
		return nil
	}
	names := slices.DeleteFunc(c.citedTools(f), c.toolOnWay)
	if len(names) == 0 {
		for _, t := range c.traces {
			for _, turn := range t.Turns {
				if a := turn.Proposed; a != nil && !slices.Contains(names, a.Name) && !c.toolOnWay(a.Name) {
					if _, known := c.tool(a.Name); known {
						names = append(names, a.Name)
					}
				}
			}
		}
	}
	var out []json.RawMessage
	for _, down := range cumulative(names) {
		out = append(out, components.ToolDown{Tools: literals(down)}.Spec().Params)
	}
	return out
}

// permissionRungs refuse what the flaw points at and a solution needs, or else writes, until a reading tool was called; then to the end, for
// 8 turns, or for 4. The reading tool is the first that the solution uses, or one that can be called without arguments.
func (c *clues) permissionRungs(f diagnosis.Flaw) []json.RawMessage {
	grant := ""
	for _, name := range c.wayTools() {
		if c.reads(name) && !c.submits(name) {
			grant = name
			break
		}
	}
	for _, t := range c.tools {
		if grant == "" && t.ReadOnly && !t.Submits && takesNothing(t.Schema) {
			grant = t.Name
		}
	}
	if grant == "" {
		return nil
	}
	isGrant := func(name string) bool { return name == grant }
	names := slices.DeleteFunc(c.targets(f), isGrant)
	if len(c.citedTools(f)) == 0 || len(names) == 0 {
		names = slices.DeleteFunc(c.writes(), isGrant)
	}
	if len(names) == 0 {
		return nil
	}
	var out []json.RawMessage
	for _, turns := range []int{0, 8, 4} {
		p := components.Permission{Tools: literals(names), Grant: components.Match{Tool: literal(grant)}, Expires: turns}
		out = append(out, p.Spec().Params)
	}
	return out
}

// pageRungs page lists that are longer than a page, or else texts that are no JSON by a half, a third and a fourth of the longest.
func (c *clues) pageRungs(diagnosis.Flaw) []json.RawMessage {
	list, text := 0, 0
	for _, o := range c.observations() {
		doc := document(o.Text)
		list = max(list, longestList(o.Data), longestList(doc))
		if doc == nil {
			text = max(text, len(o.Text))
		}
	}
	next := c.free("next")
	rungs := slices.DeleteFunc(c.ladder(components.Paginate{Next: next}), func(raw json.RawMessage) bool {
		var p components.Paginate
		return json.Unmarshal(raw, &p) != nil || p.PageSize >= list
	})
	if len(rungs) == 0 && list >= 4 {
		rungs = params(components.Paginate{PageSize: (list + 1) / 2, Next: next})
	}
	if len(rungs) == 0 && text >= 100 { // less is not worth a page
		for _, part := range []int{2, 3, 4} {
			rungs = append(rungs, components.Paginate{MaxBytes: (text + part - 1) / part, Next: next}.Spec().Params)
		}
	}
	return rungs
}

// longestList returns the length of the longest list that paging would find by itself.
func longestList(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		longest := 0
		for _, item := range v {
			if list, ok := item.([]any); ok {
				longest = max(longest, len(list))
			}
		}
		return longest
	}
	return 0
}

// hidingRungs hide the list of admissible actions, where there is one: for the turns of half a solution, then to the end.
func (c *clues) hidingRungs(diagnosis.Flaw) []json.RawMessage {
	if !slices.ContainsFunc(c.observations(), func(o envharness.Observation) bool { return len(o.Actions) > 0 }) {
		return nil
	}
	whole := components.HideKeys{Actions: true}
	if half := (c.length + 1) / 2; half > 0 {
		return params(components.HideKeys{Actions: true, Window: components.Window{Until: half}}, whole)
	}
	return params(whole)
}

// distractionRungs offer tools of no use that are named like the ones there are.
func (c *clues) distractionRungs(diagnosis.Flaw) []json.RawMessage {
	var pool []envharness.Tool
	for _, suffix := range []string{"archived", "draft", "legacy", "external", "sample", "history", "backup", "preview", "remote", "summary"} {
		for _, t := range c.tools {
			name := t.Name + "_" + suffix
			if _, taken := c.tool(name); taken || len(pool) >= 10 {
				continue
			}
			pool = append(pool, envharness.Tool{
				Name: name, Description: "As " + t.Name + ", on " + suffix + " entries.", Schema: t.Schema, ReadOnly: true,
			})
		}
	}
	if len(pool) == 0 {
		return nil
	}
	return c.ladder(components.Distractor{Pool: pool})
}

// delayRungs show everything some turns late.
func (c *clues) delayRungs(diagnosis.Flaw) []json.RawMessage { return c.ladder(components.ObsDelay{}) }

// staleRungs answer reading tools of the solution, or else all, from before the last writes.
func (c *clues) staleRungs(diagnosis.Flaw) []json.RawMessage {
	if !c.anyReads() {
		return nil
	}
	reads := slices.DeleteFunc(c.wayTools(), func(name string) bool { return !c.reads(name) })
	return c.ladder(components.StaleRead{Tools: literals(reads)})
}

// corruptionRungs show a wrong value in what a reading tool answers: the first number that one was seen to answer, or else the first text.
func (c *clues) corruptionRungs(diagnosis.Flaw) []json.RawMessage {
	for _, numbers := range []bool{true, false} {
		for _, t := range c.traces {
			for _, turn := range t.Turns {
				if turn.Applied == nil || turn.Raw == nil || turn.Raw.Error != nil || !c.reads(turn.Applied.Name) {
					continue
				}
				field := leaf(document(turn.Raw.Observation.Text), "", numbers)
				if field == "" {
					data := maps.Clone(turn.Raw.Observation.Data)
					delete(data, "task")
					field = leaf(data, "", numbers)
				}
				if field != "" {
					return c.ladder(components.CorruptRead{Tools: []string{literal(turn.Applied.Name)}, Field: field})
				}
			}
		}
	}
	return nil
}

// leaf returns a pointer to the first number, or else text, in an object, by the names of its fields; items of a list are "*".
func leaf(v any, at string, numbers bool) string {
	switch v := v.(type) {
	case float64:
		if numbers {
			return at
		}
	case string:
		if !numbers && v != "" {
			return at
		}
	case []any:
		if len(v) > 0 {
			return leaf(v[0], at+"/*", numbers)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if p := leaf(v[k], at+"/"+jsonpointer.Escape(k), numbers); p != "" {
				return p
			}
		}
	}
	return ""
}

// stickyRungs repeat actions, where there are tools that cannot end an episode.
func (c *clues) stickyRungs(diagnosis.Flaw) []json.RawMessage {
	if !slices.ContainsFunc(c.tools, func(t envharness.Tool) bool { return !t.Submits }) {
		return nil
	}
	return c.ladder(components.Sticky{})
}

// writeCapRungs admit a write that the flaw points at as often as the solution makes it.
func (c *clues) writeCapRungs(f diagnosis.Flaw) []json.RawMessage {
	for _, name := range c.citedTools(f) {
		n := 0
		for _, a := range c.way {
			if a.Name == name {
				n++
			}
		}
		if n > 0 && !c.reads(name) {
			return params(components.CallCap{Tools: []string{literal(name)}, Max: n})
		}
	}
	return nil
}

// cooldownRungs hold tools back that the flaw points at, for some turns after some calls.
func (c *clues) cooldownRungs(f diagnosis.Flaw) []json.RawMessage {
	names := literals(c.citedTools(f))
	if len(names) == 0 {
		return nil
	}
	return params(
		components.CallCap{Tools: names, Max: 3, Cooldown: 2},
		components.CallCap{Tools: names, Max: 2, Cooldown: 3},
		components.CallCap{Tools: names, Max: 1, Cooldown: 4},
	)
}

// rateRungs limit the rate of calls of tools that the flaw points at and a solution uses.
func (c *clues) rateRungs(f diagnosis.Flaw) []json.RawMessage {
	return c.ladder(components.RateLimit{Tools: literals(c.targets(f))})
}

// renameRungs give 1, 2 and 4 tools of the solution new names.
func (c *clues) renameRungs(diagnosis.Flaw) []json.RawMessage {
	names := slices.DeleteFunc(c.wayTools(), func(name string) bool { _, known := c.tool(name); return !known })
	var out []json.RawMessage
	for _, some := range cumulative(names) {
		tools := make(map[string]string)
		for _, name := range some {
			tools[name] = c.free(name + "_v2")
		}
		out = append(out, components.Rename{Tools: tools}.Spec().Params)
	}
	return out
}

// driftRungs give 1, 2 and 4 arguments of the solution's tools new names.
func (c *clues) driftRungs(diagnosis.Flaw) []json.RawMessage {
	type argument struct{ tool, name, to string }
	var all []argument
	for _, name := range c.wayTools() {
		t, _ := c.tool(name)
		args := schema.Arguments(t.Schema)
		for _, arg := range args {
			to := arg + "_v2"
			if !slices.Contains(args, to) {
				all = append(all, argument{name, arg, to})
			}
		}
	}
	var out []json.RawMessage
	for _, some := range cumulative(all) {
		tools := make(map[string]components.Drift)
		for _, a := range some {
			d, ok := tools[a.tool]
			if !ok {
				d = components.Drift{Rename: make(map[string]string), Version: "v2"}
			}
			d.Rename[a.name] = a.to
			tools[a.tool] = d
		}
		out = append(out, components.SchemaDrift{Tools: tools}.Spec().Params)
	}
	return out
}

// takesNothing reports whether a tool of this schema can be called without arguments.
func takesNothing(schema json.RawMessage) bool {
	var s struct{ Required []string }
	return len(schema) == 0 || json.Unmarshal(schema, &s) == nil && len(s.Required) == 0
}
