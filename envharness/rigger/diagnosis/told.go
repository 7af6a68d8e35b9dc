package diagnosis

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/envharness"
)

// told is what an episode has shown, by words: when each was shown first, and for the second time.
type told struct {
	words  map[string]sighting
	listed map[string]int // words of the listed actions, with the position of the turn that showed them first
}

// A sighting has positions of turns; what was there before the first turn is at start.
type sighting struct{ first, second int }

const (
	start = -1
	never = math.MaxInt
)

// tell reads what was shown.
func (e *episode) tell() *told {
	if e.told != nil {
		return e.told
	}
	t := &told{words: make(map[string]sighting)}
	e.told = t
	t.observation(&e.trace.Shown, start)
	if t.tools(e.trace.Tools, start); len(e.trace.Tools) == 0 {
		t.tools(e.World.Tools, start) // nothing says that they were not shown
	}
	t.text(e.trace.Task.ID, start) // what is asked for may be named there
	for i, u := range e.turns {
		tt := &e.trace.Turns[u.at]
		t.observation(&tt.Shown.Observation, i)
		if u.refusal != nil {
			t.text(u.refusal.Message, i)
		}
		t.tools(tt.Tools, i)
	}
	return t
}

func (t *told) observation(o *envharness.Observation, at int) {
	t.text(o.Text, at)
	walk(o.Data, func(_, _ string, _ map[string]any, v any) {
		if s, ok := v.(string); ok {
			t.text(s, at)
		} else if n, ok := number(v); ok {
			t.note(n, at)
		}
	})
}

func (t *told) tools(tools []envharness.Tool, at int) {
	for _, tool := range tools {
		t.text(tool.Name, at)
		t.text(tool.Description, at)
		t.text(string(tool.Schema), at)
	}
}

func (t *told) text(s string, at int) {
	for _, w := range split(s) {
		t.note(w.text, at)
		if w.named() {
			t.note(w.name, at)
		}
	}
}

func (t *told) note(word string, at int) {
	s, ok := t.words[word]
	switch {
	case !ok:
		t.words[word] = sighting{at, never}
	case s.second == never && s.first != at:
		t.words[word] = sighting{s.first, at}
	}
}

// first returns the position of the turn that first showed a word, start if it was there before, never if no turn did. Listed actions count.
func (e *episode) first(word string) int {
	at := never
	if s, ok := e.tell().words[word]; ok {
		at = s.first
	}
	if at != start {
		if e.told.listed == nil {
			e.list()
		}
		if listed, ok := e.told.listed[word]; ok {
			at = min(at, listed)
		}
	}
	return at
}

// shownBefore reports whether a word was shown before turn i. It is first, at less cost.
func (e *episode) shownBefore(word string, i int) bool {
	s, ok := e.tell().words[word]
	return ok && s.first < i || e.first(word) < i
}

// list reads the listed actions, which are many and say the same again and again.
func (e *episode) list() {
	t := e.told
	t.listed = make(map[string]int)
	read := make(map[string]bool)
	var last []envharness.Action
	add := func(actions []envharness.Action, at int) {
		if len(actions) == 0 || len(actions) == len(last) && &actions[0] == &last[0] {
			return
		}
		last = actions
		for _, a := range actions {
			if read[string(a.Args)] {
				continue
			}
			read[string(a.Args)] = true
			for _, w := range split(string(a.Args)) {
				for _, text := range []string{w.text, w.name} {
					if _, ok := t.listed[text]; !ok && text != "" {
						t.listed[text] = at
					}
				}
			}
		}
	}
	add(e.trace.Shown.Actions, start)
	for i, u := range e.turns {
		add(e.trace.Turns[u.at].Shown.Observation.Actions, i)
	}
}

// A word is one of a text, in lower case. The name of a short number is it with the word before it, as in "mug 1".
type word struct{ text, name string }

func (w word) named() bool { return w.name != "" }

// split returns the words of a text: runs of letters and digits, with hyphens and the like inside.
func split(s string) []word {
	var words []word
	s = strings.ToLower(s)
	end := 0 // of the word before
	for from := 0; from < len(s); {
		n := strings.IndexFunc(s[from:], alphanumeric)
		if n < 0 {
			break
		}
		from += n
		to := len(s)
		if n := strings.IndexFunc(s[from:], func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("-_.@'", r) }); n >= 0 {
			to = from + n
		}
		text := strings.TrimRight(s[from:to], "-_.@'")
		w := word{text: plain(text)}
		if k := len(words); k > 0 && digits(text) && len(text) <= 3 && from == end+1 && s[end] == ' ' && !hasDigit(words[k-1].text) {
			w.name = words[k-1].text + " " + text
		}
		words = append(words, w)
		end = from + len(text)
		from = to
	}
	return words
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// plain returns a decimal fraction in the form of a number, and any other word as it is.
func plain(w string) string {
	if whole, part, ok := strings.Cut(w, "."); ok && digits(whole) && digits(part) {
		if f, err := strconv.ParseFloat(w, 64); err == nil {
			return numeral(f)
		}
	}
	return w
}

// claims returns the words of an argument that somebody must have shown: those with a digit or an @ and numbers, but for the whole numbers
// from 0 to 9, which nobody has to look up; and a string of one word, since it may be a name. Of a spoken call, or if all is set, it is every
// word, but for verbs that nothing describes.
func (c *call) claims(v any, all bool) []string {
	var out []string
	walk(v, func(_, _ string, _ map[string]any, v any) {
		if n, ok := number(v); ok {
			if len(n) > 1 {
				out = append(out, n)
			}
			return
		}
		s, _ := v.(string)
		words := split(s)
		for i, w := range words {
			switch {
			case c.spoken && w.named() && i > 1: // not the verb and a number
				out = append(out, w.name)
			case digits(w.text) && len(w.text) == 1 && !c.spoken, i == 0 && c.verbs:
			case all || c.spoken || len(words) == 1 || hasDigit(w.text) || strings.Contains(w.text, "@"):
				out = append(out, w.text)
			}
		}
	})
	return out
}
