package diagnosis

// unverifiedWrite is F11: the last write, then a submit, and no read in between. It needs a tool that does nothing but submit. A plan that
// does not look back shows it too: it knows what it wrote, a policy can only see.
func unverifiedWrite(e *episode) sign {
	if !e.split {
		return sign{}
	}
	write := -1
	for i := range e.turns {
		switch r := e.role(i); {
		case r == writes:
			write = i
		case r == reads:
			write = -1
		case r == submits && write >= 0 && e.done(i) && e.finals[e.callOf(i).action.Name]:
			return e.at([]int{write, i}, "%s and then %s, with no look at what was written", e.callOf(write).words(), e.callOf(i).words())
		}
	}
	return sign{}
}

// repeatedWrite is F19: the same write carried out twice, and more often than in the plan. A call without arguments is a step, of which the
// next may look the same.
func repeatedWrite(e *episode) sign {
	if !e.split {
		return sign{}
	}
	planned := make(map[int]int)
	for _, id := range e.plan {
		planned[id]++
	}
	times := make(map[int]int)
	var found []int
	for i, u := range e.turns {
		if !e.done(i) || e.role(i) != writes || len(e.callOf(i).args) == 0 {
			continue
		}
		if times[u.call]++; times[u.call] > max(1, planned[u.call]) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	return e.at(found, "%s carried out again", e.callOf(found[0]).words())
}
