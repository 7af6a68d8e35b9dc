package diagnosis

import (
	"bytes"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// wrongArgument is F09: class bad_args or not_found on at least 2 turns; or Fail, and a write whose tool is in the plan with other
// arguments: one that was carried out, or one that was refused for good where no right one was carried out. Free text is not compared: an
// argument whose value in the plan was not shown.
func wrongArgument(e *episode) sign {
	var found []int
	for i, u := range e.turns {
		if u.call < 0 || u.again || u.refusal == nil {
			continue
		}
		if c := u.refusal.Class; c == envharness.ClassBadArgs || c == envharness.ClassNotFound {
			found = append(found, i)
		}
	}
	if len(found) >= 2 {
		return e.at(found, "%d calls with arguments that are malformed or name nothing, the first %s", len(found), e.callOf(found[0]).words())
	}
	if !e.failed || !e.split || !e.fits {
		return sign{}
	}
	planned := make(map[string][]*call)
	for _, id := range e.plan {
		if c := &e.calls[id]; c.role == writes {
			planned[c.action.Name] = append(planned[c.action.Name], c)
		}
	}
	verdicts := make(map[int]bool) // by call: right
	right := func(id int) bool {
		is, ok := verdicts[id]
		if !ok {
			for _, p := range planned[e.calls[id].action.Name] {
				is = is || e.sameArguments(p, &e.calls[id])
			}
			verdicts[id] = is
		}
		return is
	}
	managed := make(map[string]bool) // tools with a right write that was carried out
	for i, u := range e.turns {
		if e.done(i) && right(u.call) {
			managed[e.callOf(i).action.Name] = true
		}
	}
	found = nil
	for i, u := range e.turns {
		c := e.callOf(i)
		if c == nil || u.passes || planned[c.action.Name] == nil || right(u.call) {
			continue
		}
		if u.refusal == nil || !managed[c.action.Name] {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	return e.at(found, "%s, with other arguments than a solution has", e.callOf(found[0]).words())
}

// sameArguments compares a call with one of the plan, but for free text.
func (e *episode) sameArguments(plan, c *call) bool {
	if len(plan.args) != len(c.args) {
		return false
	}
	for k, want := range plan.args {
		got, ok := c.args[k]
		if !ok {
			return false
		}
		a, _ := appendValue(nil, want, 0)
		b, _ := appendValue(nil, got, 0)
		if !bytes.Equal(a, b) && !e.freeText(want) {
			return false
		}
	}
	return true
}

// freeText reports whether a value is a string with a word that was never shown, and without a digit.
func (e *episode) freeText(v any) bool {
	s, ok := v.(string)
	if !ok || hasDigit(s) {
		return false
	}
	for _, w := range split(s) {
		if !e.shownBefore(w.text, never) {
			return true
		}
	}
	return false
}

// ungroundedValue is F12: an argument with a name or number that nothing has shown before; see [call.claims]. Where the plan's value of an
// argument was shown, all words of it must have been; and the plan's own values may be known from elsewhere.
func ungroundedValue(e *episode) sign {
	type place struct{ tool, argument string }
	planned := make(map[place][]string) // values of the plan
	known := make(map[place]bool)       // they were shown
	for _, id := range e.plan {
		c := &e.calls[id]
		for k, v := range c.args {
			at := place{c.action.Name, k}
			form, _ := appendValue(nil, v, 0)
			if len(planned[at]) == 0 {
				known[at] = true
			}
			planned[at] = append(planned[at], string(form))
			known[at] = known[at] && !e.freeText(v)
		}
	}
	claims := make(map[int][]string) // by call
	var found []int
	example := ""
	for i, u := range e.turns {
		c := e.callOf(i)
		if c == nil || c.role == submits && !c.spoken {
			continue // what is submitted may be worked out
		}
		list, ok := claims[u.call]
		if !ok {
			for _, k := range sortedKeys(c.args) {
				at := place{c.action.Name, k}
				form, _ := appendValue(nil, c.args[k], 0)
				if slices.Contains(planned[at], string(form)) {
					continue
				}
				for _, w := range c.claims(c.args[k], known[at]) {
					if hasDigit(w) || len(planned[at]) == 0 || known[at] {
						list = append(list, w)
					}
				}
			}
			claims[u.call] = list
		}
		for _, w := range list {
			if !e.shownBefore(w, i) {
				if example == "" {
					example = w
				}
				found = append(found, i)
				break
			}
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	return e.at(found, "%s uses %q, which nothing had shown", e.callOf(found[0]).words(), clip(example))
}
