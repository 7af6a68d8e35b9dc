package budget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
)

// An offer is a set of texts of a list, ascending.
type offer struct {
	list *list
	set  []int
}

// Offer chooses for one turn: the instructions with the chosen skills, empty without any, and the chosen ones of the turn's tools in their
// order. Where all are chosen, tools are those of the turn, nil if it has none.
//
// What has to be offered and does not fit is [bps.ErrBudget], and the text names it. Tools of one name, a schema that is no JSON and a
// counter that returns a negative number are errors too, and so are those of [bps.Index.Select] and of ctx. After an error the choice of
// the turn before is still the last one.
func (c *Chooser) Offer(ctx context.Context, t envharness.Turn) (instructions string, tools []envharness.Tool, err error) {
	choice, set, err := c.choose(ctx, t)
	if err != nil {
		return "", nil, fmt.Errorf("budget: %w", err)
	}
	first, _ := slices.BinarySearch(set, len(c.skills))
	choice.Skills = slices.Clone(set[:first])
	for _, k := range set[first:] {
		choice.Tools = append(choice.Tools, k-len(c.skills))
	}
	c.last = choice
	if len(choice.Tools) == len(t.Tools) {
		return c.instructions(choice.Skills), t.Tools, nil
	}
	tools = make([]envharness.Tool, len(choice.Tools))
	for i, k := range choice.Tools {
		tools[i] = t.Tools[k]
	}
	return c.instructions(choice.Skills), tools, nil
}

// choose returns the texts to offer, ascending, and all of the choice that does not follow from them.
func (c *Chooser) choose(ctx context.Context, t envharness.Turn) (choice Choice, set []int, err error) {
	if ctx == nil {
		return choice, nil, errors.New("the context is nil")
	}
	if err := ctx.Err(); err != nil {
		return choice, nil, err
	}
	l, err := c.read(t.Tools)
	if err != nil {
		return choice, nil, err
	}
	choice = Choice{Turn: t.Index, Query: c.follow(t), All: l.all}
	if l.all <= c.budget && !c.priced() {
		choice.Tokens = l.all
		c.before = &offer{l, l.whole}
		return choice, l.whole, nil
	}
	if err := c.fits(l, l.pinned); err != nil {
		return choice, nil, err
	}
	certain, err := c.certain(l)
	if err != nil {
		return choice, nil, err
	}
	if choice.Selection, set, err = c.search(ctx, l, choice.Query, certain); err != nil {
		return choice, nil, err
	}
	old, err := c.old(l, certain)
	if err != nil {
		return choice, nil, err
	}
	if old != nil && !slices.Equal(old, set) {
		floor := 0.0
		if l.complete { // the tools are the same in both: only what skills add counts, however much the tools are worth
			if floor, err = c.worth(ctx, l, choice.Query, certain); err != nil {
				return choice, nil, err
			}
		}
		worth, err := c.worth(ctx, l, choice.Query, old)
		best := choice.Selection.Objective
		switch {
		case errors.Is(err, bps.ErrPenalty) || errors.Is(err, bps.ErrBudget): // the penalty forbids as many tokens as it has now
		case err != nil:
			return choice, nil, err
		case worth >= best-(1-c.stay)*math.Abs(best-floor):
			set, choice.Stayed = old, true
		}
	}
	if choice.Tokens, err = l.count(set); err != nil {
		return choice, nil, err
	}
	c.before = &offer{l, set}
	return choice, set, nil
}

// priced reports whether tokens have a penalty.
func (c *Chooser) priced() bool { return c.text.PenaltyPerToken > 0 || c.text.Penalty != nil }

// fits returns an error that names the texts of a set if they do not fit into the budget.
func (c *Chooser) fits(l *list, set []int) error {
	n, err := l.count(set)
	if err != nil || n <= c.budget {
		return err
	}
	const most = 8 // names
	var names []string
	for _, k := range set[:min(len(set), most)] {
		names = append(names, l.name(k))
	}
	if len(set) > most {
		names = append(names, fmt.Sprintf("%d more", len(set)-most))
	}
	return fmt.Errorf("%w: %d tokens, but what has to be offered counts %d: %s", bps.ErrBudget, c.budget, n, strings.Join(names, ", "))
}

// search returns what bps finds for a query beside the texts that are certain, and the set of it.
func (c *Chooser) search(ctx context.Context, l *list, query string, certain []int) (*bps.Selection, []int, error) {
	o, search := c.text, *c.text.Search
	o.Search, o.Pinned, o.Excluded = &search, certain, c.excluded
	var err error
	if o.Overhead, err = c.overhead(); err != nil {
		return nil, nil, err
	}
	// What is certain fits when it is counted as a whole. If its parts count more than the budget together, that much is added on both sides.
	budget := max(c.budget, l.parts(certain, o.Overhead))
	var failed error
	search.Recheck = func(set []int) int {
		n, err := l.count(set)
		if err != nil && failed == nil {
			failed = err
		}
		return sum(n, budget-c.budget)
	}
	sel, err := l.index.Select(ctx, query, budget, &o)
	if err = errors.Join(failed, err); err != nil {
		return nil, nil, err
	}
	set := slices.Sorted(slices.Values(sel.Items))
	if !c.priced() && len(set) == len(certain) && len(set)+len(sel.Dropped) == len(l.tokens) { // there was nothing to choose from
		set, err = c.fill(l, set)
	}
	return sel, set, err
}

// certain returns the texts that are chosen whatever the query is: the pinned ones, and of the tools that were called, the latest first,
// those that fit into half of the room that is left. They fit into the budget, and are ascending.
func (c *Chooser) certain(l *list) ([]int, error) {
	set := slices.Clone(l.pinned)
	used, err := l.count(set)
	if err != nil {
		return nil, err
	}
	most := used + (c.budget-used)/2
	for _, name := range c.called {
		k, ok := l.position[name]
		if !ok {
			continue
		}
		at, found := slices.BinarySearch(set, k)
		if found {
			continue
		}
		more := slices.Insert(slices.Clone(set), at, k)
		switch n, err := l.count(more); {
		case err != nil:
			return nil, err
		case n <= most:
			set = more
		}
	}
	return set, nil
}

// overhead returns what a search sets aside: the lines around the tools, and those around the skills where there are some.
func (c *Chooser) overhead() (int, error) {
	texts := []string{"[]"}
	if len(c.skills) > 0 {
		texts = append(texts, heading)
	}
	total := c.text.Overhead
	for _, text := range texts {
		n, err := c.counted(text)
		if err != nil {
			return 0, err
		}
		total = sum(total, n)
	}
	return total, nil
}

// fill adds tools in their order, while they fit and are no more than the candidates of a search.
func (c *Chooser) fill(l *list, set []int) ([]int, error) {
	used, err := l.count(set)
	if err != nil {
		return nil, err
	}
	var added []int
	for k := len(c.skills); k < len(l.tokens) && len(added) < c.most; k++ {
		if n := l.tokens[k]; n <= c.budget-used && !slices.Contains(set, k) {
			added = append(added, k)
			used += n
		}
	}
	for ; ; added = added[:len(added)-1] { // what fits part by part may not fit as a whole
		all := slices.Sorted(slices.Values(slices.Concat(set, added)))
		if n, err := l.count(all); err != nil || n <= c.budget || len(added) == 0 {
			return all, err
		}
	}
}

// old returns the choice of the turn before as texts of l, nil if it cannot be made again or lacks one that is certain.
func (c *Chooser) old(l *list, certain []int) ([]int, error) {
	if c.before == nil {
		return nil, nil
	}
	set := c.before.set
	if c.before.list != l {
		set = slices.Clone(set)
		for i, k := range set {
			if k < len(c.skills) {
				continue
			}
			var ok bool
			if set[i], ok = l.position[c.before.list.tools[k-len(c.skills)].Name]; !ok {
				return nil, nil
			}
		}
		slices.Sort(set)
	}
	for _, k := range certain {
		if _, ok := slices.BinarySearch(set, k); !ok {
			return nil, nil
		}
	}
	if n, err := l.count(set); err != nil || n > c.budget {
		return nil, err
	}
	return set, nil
}

// worth returns the objective of a set for a query.
func (c *Chooser) worth(ctx context.Context, l *list, query string, set []int) (float64, error) {
	o := c.text
	o.Pinned = set
	for k := range l.tokens {
		if _, ok := slices.BinarySearch(set, k); !ok {
			o.Excluded = append(o.Excluded, k)
		}
	}
	var err error
	if o.Overhead, err = c.overhead(); err != nil {
		return 0, err
	}
	sel, err := l.index.Select(ctx, query, l.parts(set, o.Overhead), &o)
	if err != nil {
		return 0, err
	}
	return sel.Objective, nil
}
