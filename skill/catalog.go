package skill

import (
	"fmt"
	"unicode/utf8"
)

const maxRetries = 64

// A Catalog lists skills for a model by name and description, as far as a budget goes.
type Catalog struct {
	// Text has one entry per skill, <skill name="...">description</skill> and a line end; empty if there is none.
	Text string

	Size    int      // of Text, as counted; 0 for an empty one
	Shown   []string // names of the skills in Text, in order
	Omitted []string // names of those that did not fit, in order
}

// NewCatalog lists skills in the order given, as far as they fit. An entry is shown whole or not at all: one that does not
// fit is left out and named, and the next is tried. In names and descriptions the characters & < > " ' are escaped as in
// XML, control characters but \n and \t are dropped, names have blanks for these two, and white space around both goes.
// Bodies are not shown, and nothing is scanned: see [Document.Scan].
//
// Size never exceeds the budget. Count measures it, for example in tokens; nil counts runes. A budget of zero is zero: nothing is
// shown but what counts as nothing. Expect 50 to 100 tokens an entry.
//
// Tokens do not add up exactly, but to count the whole text for each skill would take quadratic time. So each entry is
// counted once, alone, and these numbers are added up. The first 64 entries that do not fit by the sum are counted again,
// each with the text before it; where that fits, the sum goes on from there. In the end the whole text is counted; if it
// is too long, its last entries are left out, as few as a bisection finds. For a count that adds up exactly, as runes do,
// the result is that of trying every entry in turn. Cost: a count of each of n entries and of at most 66 + log2(n) texts
// about as long as the budget.
//
// A negative budget, a nil skill or one that embeds a nil *Document, and a count that is negative or panics, are errors. Count is never called with an empty
// text. The format is ours.
func NewCatalog[S Skill](skills []S, budget int, count func(string) int) (*Catalog, error) {
	if budget < 0 {
		return nil, fmt.Errorf("skill: catalog: budget is %d, want at least 0", budget)
	}
	if count == nil {
		count = utf8.RuneCountInString
	}
	c := catalog{budget: budget, count: count}
	names := make([]string, len(skills))
	retries := 0
	for i, s := range skills {
		if missing(s) {
			return nil, fmt.Errorf("skill: catalog: skill %d is nil", i)
		}
		names[i] = s.Name()
		entry := catalogEntry(s)
		size, err := c.measure(entry)
		if err != nil {
			return nil, fmt.Errorf("skill: catalog: entry of skill %d, %.80q: %w", i, names[i], err)
		}
		fits := size <= budget-c.used
		if !fits && len(c.shown) > 0 && retries < maxRetries {
			retries++
			whole, err := c.measure(string(c.text) + entry)
			if err != nil {
				return nil, fmt.Errorf("skill: catalog: text of %d skills: %w", len(c.shown)+1, err)
			}
			if fits = whole <= budget; fits {
				size, c.used = whole, 0
			}
		}
		if fits {
			c.shown, c.starts = append(c.shown, i), append(c.starts, len(c.text))
			c.text = append(c.text, entry...)
			c.used += size
		}
	}
	if err := c.settle(); err != nil {
		return nil, err
	}
	out := &Catalog{Text: string(c.text), Size: c.used}
	next := c.shown
	for i, name := range names {
		if len(next) > 0 && next[0] == i {
			out.Shown = append(out.Shown, name)
			next = next[1:]
		} else {
			out.Omitted = append(out.Omitted, name)
		}
	}
	return out, nil
}

// catalog is a catalog in the making.
type catalog struct {
	budget int
	count  func(string) int

	text   []byte
	shown  []int // skills in text
	starts []int // where their entries start
	used   int   // size of text, or what sums of sizes make of it; at most budget
}

func (c *catalog) measure(text string) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("count panics: %v", r)
		}
	}()
	if n = c.count(text); n < 0 {
		return 0, fmt.Errorf("count is %d, want at least 0", n)
	}
	return n, nil
}

// settle counts the text as a whole and leaves out its last entries while it is too long.
func (c *catalog) settle() error {
	end := func(entries int) int {
		if entries < len(c.starts) {
			return c.starts[entries]
		}
		return len(c.text)
	}
	// The first fit entries are known to fit, the first over are known not to; an empty text always does.
	if len(c.starts) == 0 {
		return nil
	}
	fit, used, over := 0, 0, len(c.starts)+1
	for try := len(c.starts); over-fit > 1; try = (fit + over) / 2 {
		n, err := c.measure(string(c.text[:end(try)]))
		if err != nil {
			return fmt.Errorf("skill: catalog: text of %d skills: %w", try, err)
		}
		if n <= c.budget {
			fit, used = try, n
		} else {
			over = try
		}
	}
	c.text, c.shown, c.starts = c.text[:end(fit)], c.shown[:fit], c.starts[:fit]
	c.used = used
	return nil
}

func catalogEntry(s Skill) string {
	return `<skill name="` + escape(s.Name(), true) + `">` + escape(s.Description(), false) + "</skill>\n"
}
