package diagnosis

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// unreadPages is F06: Fail, has_more shown, and the continuation never called. A list as the world itself shows it need not be read on if
// the plan reads only its beginning.
func unreadPages(e *episode) sign {
	if !e.failed {
		return sign{}
	}
	enough := e.enoughForPlan()
	open := make(map[string]int) // listings that have more, by what they list, with their positions
	last := ""                   // of them
	if more(jsonOf(&e.trace.Shown)) {
		open[last] = start
	}
	for i := range e.turns {
		c := e.callOf(i)
		if c == nil {
			continue
		}
		listing := c.listing()
		if c.readsOn() {
			delete(open, last)
			listing = last
		} else if at, ok := open[listing]; ok && e.turns[at].call != e.turns[i].call {
			delete(open, listing)
		}
		if more(e.shownValues(i)) && !(enough[listing] && e.untouched(i)) {
			last, open[listing] = listing, i
		}
	}
	if len(open) == 0 {
		return sign{}
	}
	var found []int
	for _, listing := range sortedKeys(open) {
		if at := open[listing]; at >= 0 {
			found = append(found, at)
		}
	}
	if len(found) == 0 {
		return sign{note: "there was more than the first text and it was not read"}
	}
	return e.at(found, "there was more after %s and it was not read", e.callOf(found[0]).words())
}

// enoughForPlan returns the listings that the plan reads the beginning of, and no further.
func (e *episode) enoughForPlan() map[string]bool {
	if !e.fits {
		return nil
	}
	calls := make(map[string]map[int]bool)
	for _, id := range e.plan {
		c := &e.calls[id]
		if c.readsOn() {
			return nil // which one is not told
		}
		listing := c.listing()
		if calls[listing] == nil {
			calls[listing] = make(map[int]bool)
		}
		calls[listing][id] = true
	}
	enough := make(map[string]bool)
	for listing, different := range calls {
		enough[listing] = len(different) == 1
	}
	return enough
}

// untouched reports whether turn i showed what the world showed.
func (e *episode) untouched(i int) bool {
	return !slices.ContainsFunc(e.trace.Turns[e.turns[i].at].Layers, func(l envharness.Layer) bool { return l.ObservationOut != nil })
}

// more reports whether values have a field has_more that is true.
func more(values []any) bool {
	found := false
	for _, v := range values {
		walk(v, func(field, _ string, _ map[string]any, v any) {
			is, _ := v.(bool)
			found = found || is && field == "has_more"
		})
	}
	return found
}

// pageArgument reports whether an argument says which part of a list is asked for.
func pageArgument(name string) bool {
	switch strings.ToLower(name) {
	case "page", "page_number", "page_token", "offset", "cursor", "start", "skip", "after", "next", "token":
		return true
	}
	return false
}

// listing names what a call lists, whichever page of it.
func (c *call) listing() string {
	rest := make(map[string]any, len(c.args))
	for k, v := range c.args {
		if !pageArgument(k) {
			rest[k] = v
		}
	}
	b, _ := appendValue([]byte(c.action.Name+"\x00"), rest, 0)
	return string(b)
}

// readsOn reports whether a call asks for what comes next, by its name or, where it is spoken, by its text.
func (c *call) readsOn() bool {
	s := strings.ReplaceAll(c.action.Name, "_", " ")
	if text, ok := onlyString(c.args); ok && c.spoken {
		s += " " + text
	}
	for _, w := range split(s) {
		if w.text == "next" || w.text == "more" {
			return true
		}
	}
	return false
}
