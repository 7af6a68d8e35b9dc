package components

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// Words says in words what the component of an entry does with its parameters: what its String method says, or without one the About of its
// kind, or else its tag, and the parameters. It fails for no entry: of one that cannot be built it says the same, from what it can read.
func (r *Registry) Words(e Entry) string {
	k, known := r.find(e.Tag)
	if known {
		if c, err := k.make(e.Params); err == nil {
			if s, ok := c.(fmt.Stringer); ok {
				return s.String()
			}
		}
	}
	about := k.About
	if about == "" {
		about = shorten(e.Tag)
	}
	if params := strings.TrimSpace(string(e.Params)); params != "" && params != "{}" {
		about += " " + shortened(params, 200)
	}
	return about
}

// String says in words what the component does.
func (n named) String() string {
	if s, ok := n.Component.(fmt.Stringer); ok {
		return s.String()
	}
	return n.Component.Spec().Tag
}

// unchanged is what a component does whose parameters ask for nothing.
const unchanged = "nothing changes"

// in says in which turns a sentence holds, counted from 0.
func (w Window) in(sentence string) string {
	switch {
	case w.From == 0 && w.Until == 0:
		return sentence
	case w.Until == 0:
		return fmt.Sprintf("from turn %d on, %s", w.From, sentence)
	case w.Until-w.From == 1:
		return fmt.Sprintf("in turn %d, %s", w.From, sentence)
	case w.From == 0:
		return fmt.Sprintf("before turn %d, %s", w.Until, sentence)
	}
	return fmt.Sprintf("from turn %d to turn %d, %s", w.From, w.Until-1, sentence)
}

// words says which actions fit.
func (m Match) words() string {
	tool := "any tool"
	if m.Tool != "" {
		tool = word(m.Tool)
	}
	return "a call of " + tool + withArgs(m.Args)
}

// withArgs says which arguments a call has; nothing for none.
func withArgs(args map[string]any) string {
	if len(args) == 0 {
		return ""
	}
	raw, err := envharness.CanonicalJSON(args)
	if err != nil {
		raw = []byte("arguments that are not JSON") // which Check refuses
	}
	return " with " + shorten(string(raw))
}

// with says what a refusal tells the policy; nothing for an empty text.
func with(message string) string {
	if message == "" {
		return ""
	}
	return " with " + strconv.Quote(shorten(message))
}

// oneOf says which tools the patterns fit; every says so for none.
func oneOf(patterns []string, every string) string {
	if len(patterns) == 0 {
		return every
	}
	return list("or", words(patterns))
}

var plainName = regexp.MustCompile(`^[\pL\pN_.:/-]+$`)

// word writes a name, in quotation marks if it is a pattern or could be taken for more than a name.
func word(name string) string {
	name = shorten(name)
	if plainName.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

func words(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = word(name)
	}
	return out
}

// list writes the items of a sentence, of many the first five.
func list(and string, items []string) string {
	const most = 5
	if n := len(items); n > most+1 {
		items = append(items[:most:most], fmt.Sprintf("%d more", n-most))
	}
	last := len(items) - 1
	if last <= 0 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:last], ", ") + " " + and + " " + items[last]
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// ordinal writes a place from 1 on.
func ordinal(n int) string {
	names := [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n >= 1 && n <= len(names) {
		return names[n-1]
	}
	end := "th"
	if tens := n % 100 / 10; tens != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

func probability(p float64) string { return "with probability " + strconv.FormatFloat(p, 'g', -1, 64) }
