package diagnosis

import "github.com/throughline-go/throughline/envharness"

// noPrecondition is F10: class precondition on at least 2 turns.
func noPrecondition(e *episode) sign {
	var found []int
	for i, u := range e.turns {
		if u.call >= 0 && !u.again && u.refusal != nil && u.refusal.Class == envharness.ClassPrecondition {
			found = append(found, i)
		}
	}
	if len(found) < 2 {
		return sign{}
	}
	return e.at(found, "%d calls before what they need was done, the first %s", len(found), e.callOf(found[0]).words())
}

// orderViolation is F18: a call that fits After of an edge, made before one that fits Before was carried out. The names are those of the
// world, so the call as it came to the base is looked at, if it did and nothing else than its name and arguments was changed.
func orderViolation(e *episode) sign {
	var found []int
	broken := -1
	for k, edge := range e.Edges {
		for i := range e.turns {
			c := e.baseCall(i)
			if c == nil {
				continue
			}
			if edge.After.Fits(c.action) {
				found = append(found, i)
				if broken < 0 {
					broken = k
				}
			}
			if e.done(i) && edge.Before.Fits(c.action) {
				break
			}
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	edge := e.Edges[broken]
	return e.at(found, "%s called before %s was carried out", clip(edge.After.Tool), clip(edge.Before.Tool))
}

// baseCall returns the call of turn i in the names of the world: as it reached the base where its tool was renamed, else as proposed. That
// something else was called in its place is not the policy's doing.
func (e *episode) baseCall(i int) *call {
	c := e.callOf(i)
	if c == nil {
		return nil
	}
	_, own := e.roles[c.action.Name]
	if a := e.trace.Turns[e.turns[i].at].Applied; a != nil && !own && len(e.roles) > 0 {
		args, _ := object(a.Args)
		return &call{action: *a, args: args}
	}
	return c
}
