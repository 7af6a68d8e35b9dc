package rigger

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// clues are what a brief tells about its task, as parameters of components are made of it.
type clues struct {
	Brief
	registry *components.Registry
	tools    []envharness.Tool   // of the world, or else those that were shown
	way      []envharness.Action // a solution: the plan, or what was carried out in the shortest passed rollout
	length   int                 // turns of it; 0 if there is none
	passed   []*envharness.Trace // of the baseline and of screenings
	traces   []*envharness.Trace // the failed one and the passed one of the baseline, as far as they are there
}

func newClues(b Brief) *clues {
	c := &clues{Brief: b, registry: b.Registry, tools: b.World.Tools, way: b.Plan}
	if c.registry == nil {
		c.registry = components.Catalogue()
	}
	for _, t := range []*envharness.Trace{b.Failure, b.Success} {
		if t != nil {
			c.traces = append(c.traces, t)
			if c.tools == nil {
				c.tools = t.Tools
			}
		}
	}
	if b.Success != nil {
		c.passed = append(c.passed, b.Success)
	}
	for i := range b.Attempts {
		for j := range b.Attempts[i].Traces {
			if t := &b.Attempts[i].Traces[j]; t.Verdict.Status == envharness.Pass {
				c.passed = append(c.passed, t)
			}
		}
	}
	switch {
	case len(c.way) > 0:
		c.length = len(c.way)
	case b.Success != nil:
		c.way = carriedOut(b.Success)
		c.length = turnsUsed(b.Success)
	}
	return c
}

// turnsUsed counts the turns of a trace without a last answer that used up none.
func turnsUsed(t *envharness.Trace) int {
	n := len(t.Turns)
	if n > 0 && t.Turns[n-1].Proposed == nil && t.Turns[n-1].Shown.Observation.Text == "" && t.Turns[n-1].Shown.Error == nil {
		n--
	}
	return n
}

// carriedOut returns the actions of a trace that the base did not refuse.
func carriedOut(t *envharness.Trace) []envharness.Action {
	var out []envharness.Action
	for _, turn := range t.Turns {
		if turn.Applied != nil && turn.Raw != nil && turn.Raw.Error == nil {
			out = append(out, *turn.Applied)
		}
	}
	return out
}

func (c *clues) has(id diagnosis.ID) bool {
	return slices.ContainsFunc(c.Flaws, func(f diagnosis.Flaw) bool { return f.ID == id })
}

func (c *clues) tool(name string) (envharness.Tool, bool) {
	i := slices.IndexFunc(c.tools, func(t envharness.Tool) bool { return t.Name == name })
	if i < 0 {
		return envharness.Tool{}, false
	}
	return c.tools[i], true
}

func (c *clues) reads(name string) bool   { t, _ := c.tool(name); return t.ReadOnly }
func (c *clues) submits(name string) bool { t, _ := c.tool(name); return t.Submits }

// wayTools returns the tools of the solution in the order of their first calls.
func (c *clues) wayTools() []string {
	var names []string
	for _, a := range c.way {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// acting returns the tools of the solution that do not end it, or all of them if there are no others; nil, for all tools, without a solution.
func (c *clues) acting() []string {
	names := c.wayTools()
	if acting := slices.DeleteFunc(slices.Clone(names), c.submits); len(acting) > 0 {
		return acting
	}
	return names
}

// writes returns the tools of the solution that change something and do not end it, or else those of acting.
func (c *clues) writes() []string {
	if c.anyReads() {
		if w := slices.DeleteFunc(c.acting(), c.reads); len(w) > 0 {
			return w
		}
	}
	return c.acting()
}

// anyReads reports whether the world tells reading tools from others.
func (c *clues) anyReads() bool {
	return slices.ContainsFunc(c.tools, func(t envharness.Tool) bool { return t.ReadOnly })
}

// cited returns the calls at the turns that a flaw points at, in the rollouts that the brief has.
func (c *clues) cited(f diagnosis.Flaw) []envharness.Action {
	var out []envharness.Action
	for _, found := range f.Found {
		for _, t := range c.traces {
			if t.Slot != found.Slot {
				continue
			}
			for _, i := range found.Turns {
				if i >= 0 && i < len(t.Turns) && t.Turns[i].Proposed != nil {
					out = append(out, *t.Turns[i].Proposed)
				}
			}
		}
	}
	return out
}

// citedTools returns the tools of the calls that a flaw points at, in order, as far as the world has them.
func (c *clues) citedTools(f diagnosis.Flaw) []string {
	var names []string
	for _, a := range c.cited(f) {
		if _, known := c.tool(a.Name); (known || c.tools == nil) && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// targets returns the tools of the solution that a flaw points at, or else those of acting.
func (c *clues) targets(f diagnosis.Flaw) []string {
	names := c.wayTools()
	cited := slices.DeleteFunc(c.citedTools(f), func(name string) bool { return !slices.Contains(names, name) })
	if len(cited) > 0 {
		return cited
	}
	return c.acting()
}

// repeated returns the call that a flaw points at most often, the first of several, or else the one made most often in a rollout, if that
// was at least three times.
func (c *clues) repeated(f diagnosis.Flaw) (envharness.Action, bool) {
	if a, n := mostFrequent(c.cited(f)); n > 0 {
		return a, true
	}
	for _, t := range c.traces {
		var calls []envharness.Action
		for _, turn := range t.Turns {
			if turn.Proposed != nil {
				calls = append(calls, *turn.Proposed)
			}
		}
		if a, n := mostFrequent(calls); n >= 3 {
			return a, true
		}
	}
	return envharness.Action{}, false
}

func mostFrequent(calls []envharness.Action) (best envharness.Action, most int) {
	counts := make(map[string]int)
	for _, a := range calls {
		counts[actionKey(a)]++
	}
	for _, a := range calls {
		if n := counts[actionKey(a)]; n > most {
			best, most = a, n
		}
	}
	return best, most
}

// actionKey tells actions apart; the spelling of arguments makes no difference.
func actionKey(a envharness.Action) string {
	args, err := envharness.CanonicalJSON(a.Args)
	if err != nil || len(a.Args) == 0 {
		args = a.Args
	}
	if string(args) == "{}" {
		args = nil
	}
	return a.Name + " " + string(args)
}

// onWay reports whether a solution that is known makes the call.
func (c *clues) onWay(a envharness.Action) bool {
	key := actionKey(a)
	same := func(o envharness.Action) bool { return actionKey(o) == key }
	return slices.ContainsFunc(c.way, same) || slices.ContainsFunc(c.passed, func(t *envharness.Trace) bool {
		return slices.ContainsFunc(carriedOut(t), same)
	})
}

// toolOnWay reports whether a solution that is known uses the tool.
func (c *clues) toolOnWay(name string) bool {
	uses := func(a envharness.Action) bool { return a.Name == name }
	return slices.ContainsFunc(c.way, uses) || slices.ContainsFunc(c.passed, func(t *envharness.Trace) bool {
		return slices.ContainsFunc(carriedOut(t), uses)
	})
}

// observations returns what the rollouts of the brief were shown, in order.
func (c *clues) observations() []envharness.Observation {
	var out []envharness.Observation
	for _, t := range c.traces {
		out = append(out, t.Shown)
		for _, turn := range t.Turns {
			out = append(out, turn.Shown.Observation)
		}
	}
	return out
}

// document returns the JSON object or list that a text is, nil if it is none.
func document(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	switch v.(type) {
	case map[string]any, []any:
		return v
	}
	return nil
}

// arguments reads the arguments of an action with numbers as they are written; nil if they are no object.
func arguments(a envharness.Action) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(a.Args))
	dec.UseNumber()
	var args map[string]any
	if dec.Decode(&args) != nil {
		return nil
	}
	return args
}

var patternSigns = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// literal is the pattern that fits the tool of this name alone.
func literal(name string) string { return patternSigns.Replace(name) }

func literals(names []string) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = literal(name)
	}
	return out
}

// free returns a name that no tool has, made of the given one.
func (c *clues) free(name string) string {
	for {
		if _, taken := c.tool(name); !taken && !envharness.ReservedTool(name) {
			return name
		}
		name += "_2"
	}
}
