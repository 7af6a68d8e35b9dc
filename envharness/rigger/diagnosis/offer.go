package diagnosis

import "github.com/throughline-go/throughline/envharness"

// unreadable is F15: more than 0.1 of the turns are no action, or a call of a tool that is not offered.
func unreadable(e *episode) sign {
	var found []int
	var last []envharness.Tool
	var offered map[string]bool
	offer := func(tools []envharness.Tool) {
		if len(tools) == 0 || len(tools) == len(last) && &tools[0] == &last[0] {
			return
		}
		last, offered = tools, make(map[string]bool, len(tools))
		for _, t := range tools {
			offered[t.Name] = true
		}
	}
	offer(e.trace.Tools)
	for i, u := range e.turns {
		c := e.callOf(i)
		if c == nil || u.refusal != nil && u.refusal.Class == envharness.ClassUnknownTool || offered != nil && !offered[c.action.Name] {
			found = append(found, i)
		}
		offer(e.trace.Turns[u.at].Tools)
	}
	if 10*len(found) <= len(e.turns) {
		return sign{}
	}
	return e.at(found, "%d of %d answers are no action that is offered", len(found), len(e.turns))
}

// distracted is F16: at least 2 calls of tools that neither the plan nor a passed episode calls. Reading on is left out, and so is what
// showed something first that was used in a call afterwards.
func distracted(e *episode) sign {
	if e.toolsFor == nil || len(e.plan) > 0 && !e.fits {
		return sign{}
	}
	var found []int
	for i := range e.turns {
		if c := e.callOf(i); c != nil && e.counts(i) && !e.toolsFor[c.action.Name] && !c.readsOn() {
			found = append(found, i)
		}
	}
	if len(found) < 2 {
		return sign{}
	}
	useful := e.useful()
	idle := found[:0]
	for _, i := range found {
		if !useful[i] {
			idle = append(idle, i)
		}
	}
	if len(idle) < 2 {
		return sign{}
	}
	return e.at(idle, "%d calls of tools that no solution has, the first %s", len(idle), e.callOf(idle[0]).words())
}

// useful returns the positions of the turns that first showed something that was used in a call afterwards.
func (e *episode) useful() map[int]bool {
	positions := make(map[int]bool)
	asked := make(map[int]bool) // calls
	for i, u := range e.turns {
		c := e.callOf(i)
		if c == nil || asked[u.call] || !e.done(i) {
			continue
		}
		asked[u.call] = true
		for _, w := range c.claims(c.args, false) {
			if at := e.first(w); at >= 0 && at < i {
				positions[at] = true
			}
		}
	}
	return positions
}
