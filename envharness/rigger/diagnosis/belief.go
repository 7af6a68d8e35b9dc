package diagnosis

import (
	"strconv"
	"strings"
)

// staleBelief is F13: an argument that was shown at some place of the answer to a call, where the same call has shown another value since,
// and that is shown nowhere else that was not replaced. Reads are left out where they can be told: to look at an old thing is no belief
// in it.
func staleBelief(e *episode) sign {
	now := make(map[string]string)   // the newest value, by call and place
	current := make(map[string]int)  // in how many places a value is the newest
	replaced := make(map[string]int) // by value, the position of the turn that replaced it last
	var found []int
	example := ""
	for i, u := range e.turns {
		c := e.callOf(i)
		if c == nil {
			continue
		}
		if !(e.split && c.role == reads) {
			for _, k := range sortedKeys(c.args) {
				v, ok := belief(c.args[k])
				if _, was := replaced[v]; !ok || !was || current[v] > 0 || pageArgument(k) || e.inPlainText(v, i) {
					continue
				}
				if example == "" {
					example = v
				}
				found = append(found, replaced[v], i)
			}
		}
		if u.refusal != nil {
			continue
		}
		for part, v := range e.shownValues(i) {
			source := strconv.Itoa(u.call) + " " + strconv.Itoa(part)
			walk(v, func(_, place string, _ map[string]any, v any) {
				s, ok := belief(v)
				if !ok {
					return
				}
				at := source + place
				if old, known := now[at]; known && old != s {
					current[old]--
					replaced[old] = i
				} else if known {
					return
				}
				now[at] = s
				current[s]++
			})
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	return e.at(found, "%s was used after a newer value was shown in its place", clip(example))
}

// belief returns a string or number as text. Words of one letter and numbers of one digit say too little, and are not ok.
func belief(v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		s, ok = number(v)
	}
	return s, ok && len(s) > 1
}

// inPlainText reports whether a text that is no JSON, or the start, showed a value before turn i.
func (e *episode) inPlainText(v string, i int) bool {
	if strings.Contains(e.trace.Shown.Text, v) {
		return true
	}
	if s, ok := e.trace.Shown.Data["task"].(string); ok && strings.Contains(s, v) {
		return true
	}
	for k := range i {
		if e.shownValues(k)[1] == nil && strings.Contains(e.trace.Turns[e.turns[k].at].Shown.Observation.Text, v) {
			return true
		}
	}
	return false
}

// singleSource is F14: Fail, and a write of a value that one read has shown, and nothing else before it, where another read is never made
// that has an argument named like a field beside the value. A value that the plan has, or a write of a passed episode, is the right one,
// whoever told it.
func singleSource(e *episode) sign {
	if !e.failed || !e.split {
		return sign{}
	}
	called := make(map[string]bool)
	for i := range e.turns {
		if c := e.callOf(i); c != nil {
			called[c.action.Name] = true
		}
	}
	checked := make(map[string]bool)
	for i := range e.turns {
		c := e.callOf(i)
		if c == nil || !e.done(i) || c.role != writes {
			continue
		}
		for _, w := range c.claims(c.args, false) {
			if e.right[w] || checked[w] || !hasDigit(w) {
				continue
			}
			checked[w] = true
			s, ok := e.tell().words[w]
			if !ok || s.first < 0 || s.first >= i || s.second < i || e.role(s.first) != reads {
				continue
			}
			if other := e.otherSource(s.first, w, called); other != "" {
				return e.at([]int{s.first, i}, "%s was read once, by %s, and written; %s was never asked",
					clip(w), e.callOf(s.first).words(), clip(other))
			}
		}
	}
	return sign{}
}

// otherSource returns a tool that reads, was not called, and has an argument named like a field of an object of turn i that holds the word.
func (e *episode) otherSource(i int, w string, called map[string]bool) string {
	beside := make(map[string]bool)
	for _, v := range e.shownValues(i) {
		walk(v, func(_, _ string, in map[string]any, v any) {
			if n, ok := number(v); ok && n != w {
				return
			} else if s, _ := v.(string); !ok && !strings.Contains(strings.ToLower(s), w) {
				return
			}
			for k := range in {
				beside[k] = true
			}
		})
	}
	for _, t := range e.World.Tools {
		if !t.ReadOnly || called[t.Name] {
			continue
		}
		for _, k := range sortedKeys(e.params[t.Name]) {
			if beside[k] && !pageArgument(k) {
				return t.Name
			}
		}
	}
	return ""
}
