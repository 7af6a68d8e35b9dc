package bps

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/internal/text"
)

// A Text is a skill, a tool or a passage to choose from. Any part may be empty.
type Text struct {
	Name        string
	Description string
	Body        string // the rest: instructions, a schema, an example
}

// String returns the parts that are not empty, each followed by a newline: what [FromTexts] counts the tokens of.
func (t Text) String() string {
	var b strings.Builder
	for _, part := range []string{t.Name, t.Description, t.Body} {
		if part != "" {
			b.WriteString(part)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TextOptions adjusts [FromTexts], [Index.Select] and [FromVectors]. A nil *TextOptions equals &TextOptions{}. Where it says texts,
// FromVectors has items.
type TextOptions struct {
	// Count returns the tokens of a text, given as [Text.String] prints it; not negative. Nil means [EstimateTokens]. It must be nil
	// for an [Index], which has counted its texts already, and for FromVectors.
	Count func(s string) int
	// Keep is how many texts are candidates: the most relevant that fit into the budget. Zero means 40. Pinned ones are beside them.
	Keep int

	// Clauses adjusts the benefit made of relevance; nil means the defaults.
	Clauses *ClauseOptions

	Pinned   []int // positions of texts that are in every selection, each once; they must fit into the budget
	Excluded []int // positions of texts that are in none, each once; not among Pinned
	// PinNamed pins the texts whose whole name the query has, as their users expect who write it out: the words of the name one after
	// another, so that "get order" names get_order, or, where a name has no words, like C++, the name as it is. A name within a longer
	// one that the query has does not count. Where not all fit, also as Select.Recheck counts them, or Penalty forbids their length,
	// those with longer names go first, then those that come first; the others are candidates like all texts. Not for FromVectors.
	PinNamed bool

	PenaltyPerToken float64                  // as in Problem; the benefit of a text that is fully relevant to one clause is about 1
	Penalty         func(tokens int) float64 // as in Problem
	Overhead        int                      // as in Problem: what all texts share, for example a prelude, is counted once
	Search          *Options                 // options of the search; nil means the defaults. Recheck gets positions of texts, ascending.
}

const defaultKeep = 40

// FromTexts selects the texts to show to a model for a query, by their words alone. It returns positions in texts.
//
//  1. Relevance is BM25 (k1 = 1.2, b = 0.75, idf = ln(1 + (N-df+0.5)/(df+0.5))) over all texts, in which a word of the name counts
//     three times and one of the description twice. Words are lower-cased, cut at case changes and underscores, and not stemmed;
//     stop words are left out, and a word that the query repeats counts once.
//  2. The candidates are the TextOptions.Keep texts that fit into the budget and are the most relevant to the whole query; of equal
//     ones, those that come first; and the pinned texts. Only texts looked at on the way are counted. All others are in Dropped.
//  3. The query is cut into sentences at newlines and at the marks . ! ? ; and these into parts at the words "and" and "then" and at
//     commas, all marks before a space or the end (those of East Asian scripts anywhere). The parts are the clauses, and so is a
//     sentence of several parts. A clause with fewer than two different words that are no stop words is left out;
//     if none is left, the whole query is one clause. Of more than 64 clauses the first 64 are used.
//  4. Relevance is divided by its maximum over all texts, for the query and for each clause, and [NewClauses] makes it the benefit.
//     So it is relative: where no text serves a clause, one that shares a stray word with it counts as fully relevant.
//  5. [Select] does the rest.
//
// How relevance is computed may improve from one version to the next, and results may then change.
//
// A query that has no word in common with any text gives the pinned texts alone, and no guarantee. Words are compared as they
// are written, letter case aside: "services" does not find "service". Errors are those of Select, where [ErrIndex] speaks of positions
// in texts; a counter that returns a negative number gives [ErrTokens]. When ctx ends before the search starts, the selection is nil.
//
// For a query of usual length the time goes mostly into reading the texts, once a call; an [Index] reads them once for all queries.
// Count is called about Keep times.
func FromTexts(ctx context.Context, query string, texts []Text, budget int, o *TextOptions) (*Selection, error) {
	if o == nil {
		o = &TextOptions{}
	}
	count := o.Count
	if count == nil {
		count = EstimateTokens
	}
	scores := text.NewBM25(text.Tokens(query)) // the statistics of other words do not matter
	for _, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("bps: stopped after %d of %d texts: %w", scores.Len(), len(texts), err)
		}
		read(scores, t)
	}
	return fromWords(ctx, query, scores, budget, o,
		func(i int) name { return newName(texts[i].Name) },
		func(i int) (int, error) { return counted(count, texts, i) })
}

// read adds a text to the statistics of words.
func read(scores *text.BM25, t Text) {
	scores.Add(text.Field{Text: t.Name, Weight: 3}, text.Field{Text: t.Description, Weight: 2}, text.Field{Text: t.Body, Weight: 1})
}

func counted(count func(string) int, texts []Text, i int) (int, error) {
	n := count(texts[i].String())
	if n < 0 {
		return 0, fmt.Errorf("%w: Count gives %d for text %d, %q, want >= 0", ErrTokens, n, i, texts[i].Name)
	}
	return n, nil
}

// fromWords is FromTexts for texts that were read.
func fromWords(ctx context.Context, query string, scores *text.BM25, budget int, o *TextOptions,
	nameOf func(i int) name, tokens func(i int) (int, error),
) (*Selection, error) {
	parts := clauses(query)
	r := &relevance{
		what:    "text",
		nothing: "no text has a word of the query",
		whole:   scores.Score(nil, distinct(text.Tokens(query))),
		tokens:  tokens,
	}
	for _, c := range parts {
		r.clauses = append(r.clauses, c.text)
	}
	var row []float64
	r.clause = func(k int) []float64 {
		row = scores.Score(row, parts[k].words)
		return row
	}
	if o.PinNamed {
		r.named = named(query, scores.Len(), nameOf)
	}
	return r.choose(ctx, budget, o)
}

// relevance is what a selection from texts or vectors starts from.
type relevance struct {
	what    string                   // an item is
	nothing string                   // why nothing is relevant, if so
	whole   []float64                // of each item for the whole query; finite and not negative
	clauses []string                 // what to call them
	clause  func(k int) []float64    // the same for clause k; good until the next call
	named   []int                    // items to pin if they fit, the most important first
	tokens  func(i int) (int, error) // of an item
	options *ClauseOptions
}

// choose selects items under the rules of FromTexts.
func (r *relevance) choose(ctx context.Context, budget int, o *TextOptions) (*Selection, error) {
	if o.Keep < 0 {
		return nil, fmt.Errorf("bps: TextOptions.Keep is %d, want >= 0", o.Keep)
	}
	r.options = o.Clauses
	c := &candidates{relevance: r, left: budget - o.Overhead, fate: make([]DropReason, len(r.whole))}
	if budget < 0 || o.Overhead < 0 {
		c.left = -1 // Select says what is wrong
	}
	if err := c.collect(budget, o); err != nil {
		return nil, err
	}
	benefit, err := c.benefit(ctx)
	if err != nil {
		return nil, err
	}
	options := Options{}
	if o.Search != nil {
		options = *o.Search
	}
	var negative error
	if recheck := options.Recheck; recheck != nil {
		options.Recheck = func(set []int) int {
			items := c.items(set)
			slices.Sort(items)
			n := recheck(items)
			if n < 0 && negative == nil { // Select would name it by the positions of candidates
				negative = fmt.Errorf("%w: Options.Recheck gives %d for %s, want >= 0", ErrTokens, n, show(c.items(set)))
			}
			return n
		}
	}
	pinned := make([]int, c.pinned)
	for j := range pinned {
		pinned[j] = j
	}
	if options.Recheck != nil {
		for len(pinned) > len(o.Pinned) && options.Recheck(pinned) > budget { // a name in the query is no reason to fail
			pinned = pinned[:len(pinned)-1]
		}
	}
	sel, err := Select(ctx, Problem{
		Tokens:          c.tokens,
		Budget:          budget,
		Benefit:         benefit,
		PenaltyPerToken: o.PenaltyPerToken,
		Penalty:         o.Penalty,
		Overhead:        o.Overhead,
		Pinned:          pinned,
	}, &options)
	if negative != nil {
		return nil, negative
	}
	if sel == nil {
		return nil, err
	}
	c.translate(sel)
	return sel, err
}

// candidates are the items that are left to choose from.
type candidates struct {
	*relevance
	kept   []int        // items, the pinned ones first, then the most relevant
	tokens []int        // of kept
	pinned int          // how many of kept are
	left   int          // of the budget, without the overhead and the pinned ones; negative if the overhead alone does not fit
	fate   []DropReason // of each item; empty for kept
}

const taken DropReason = "kept" // in candidates.fate alone

// collect decides which items are candidates.
func (c *candidates) collect(budget int, o *TextOptions) error {
	keep := func(i, tokens int) {
		c.fate[i] = taken
		c.kept = append(c.kept, i)
		c.tokens = append(c.tokens, tokens)
	}
	for _, i := range o.Excluded {
		switch {
		case i < 0 || i >= len(c.fate):
			return fmt.Errorf("%w: Excluded has %s %d, want one of 0..%d", ErrIndex, c.what, i, len(c.fate)-1)
		case c.fate[i] != "":
			return fmt.Errorf("%w: Excluded has %s %d twice", ErrIndex, c.what, i)
		}
		c.fate[i] = DropExcluded
	}
	for _, i := range o.Pinned {
		switch {
		case i < 0 || i >= len(c.fate):
			return fmt.Errorf("%w: Pinned has %s %d, want one of 0..%d", ErrIndex, c.what, i, len(c.fate)-1)
		case c.fate[i] == DropExcluded:
			return fmt.Errorf("%w: %s %d is in Pinned and in Excluded", ErrIndex, c.what, i)
		case c.fate[i] != "":
			return fmt.Errorf("%w: Pinned has %s %d twice", ErrIndex, c.what, i)
		}
		n, err := c.relevance.tokens(i)
		if err != nil {
			return err
		}
		keep(i, n)
	}
	for j, n := range c.tokens {
		if n > c.left && budget >= 0 && o.Overhead >= 0 {
			return fmt.Errorf("%w: %d tokens, but pinned %s %d needs %d, and the overhead and those before it leave %d",
				ErrBudget, budget, c.what, c.kept[j], n, c.left)
		}
		c.left -= n
	}
	for _, i := range c.named {
		if c.fate[i] != "" || c.left < 0 {
			continue
		}
		n, err := c.relevance.tokens(i)
		if err != nil {
			return err
		}
		if n <= c.left && (o.Penalty == nil || !math.IsInf(o.Penalty(budget-c.left+n), 1)) {
			keep(i, n)
			c.left -= n
		}
	}
	c.pinned = len(c.kept)

	var rank ranking
	for i, score := range c.whole {
		switch {
		case c.fate[i] != "":
		case score > 0:
			rank.items = append(rank.items, i)
			c.fate[i] = DropRelevance // until its turn comes
		default:
			c.fate[i] = DropNoMatch
		}
	}
	rank.start(c.whole)
	for most := cmp.Or(o.Keep, defaultKeep); len(rank.items) > 0 && len(c.kept)-c.pinned < most; {
		i := rank.next()
		if c.left < 0 {
			c.fate[i] = DropOverhead
			continue
		}
		n, err := c.relevance.tokens(i)
		if err != nil {
			return err
		}
		if n > c.left { // it must not take the place of one that fits
			c.fate[i] = DropOverBudget
			continue
		}
		keep(i, n)
	}
	return nil
}

// benefit makes relevance to the clauses and the query a benefit of the candidates.
func (c *candidates) benefit(ctx context.Context) (Benefit, error) {
	// share returns the scores of the candidates as shares of the best score of all items.
	share := func(scores []float64) []float64 {
		rel := make([]float64, len(c.kept))
		best := 0.0
		for _, score := range scores {
			best = max(best, score)
		}
		for j, i := range c.kept {
			if best > 0 {
				rel[j] = scores[i] / best
			}
		}
		return rel
	}
	rows := make([][]float64, len(c.kept))
	for k := range c.clauses {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("bps: stopped before the search: %w", err)
		}
		for j, rel := range share(c.clause(k)) {
			rows[j] = append(rows[j], rel)
		}
	}
	b, err := newClauses(rows, share(c.whole), c.options)
	if err != nil {
		return nil, err
	}
	b.names = append(slices.Clone(c.clauses), wholeQuery)
	return b, nil
}

// items returns the items that are the candidates of a set; nil for nil.
func (c *candidates) items(set []int) []int {
	if set == nil {
		return nil
	}
	items := make([]int, len(set))
	for j, k := range set {
		items[j] = c.kept[k]
	}
	return items
}

// translate makes a selection of candidates one of items.
func (c *candidates) translate(sel *Selection) {
	sel.Items = c.items(sel.Items)
	for j, pt := range sel.Frontier {
		pt.Items = c.items(pt.Items)
		slices.Sort(pt.Items)
		sel.Frontier[j] = pt
	}
	if sel.Rechecked != nil {
		sel.Rechecked.Removed = c.items(sel.Rechecked.Removed)
	}
	if sel.explain != nil {
		sel.explain.index = c.kept
	}
	for _, d := range sel.Dropped {
		c.fate[c.kept[d.Item]] = d.Reason
	}
	sel.Dropped = nil
	for i, reason := range c.fate {
		if reason != taken {
			sel.Dropped = append(sel.Dropped, Drop{i, reason})
		}
	}
	if len(c.whole) == 0 || slices.Max(c.whole) == 0 {
		sel.Guarantee = Guarantee{Penalty: PenaltyNone, Mode: sel.Guarantee.Mode, Scope: "none: " + c.nothing}
		sel.Certificate = nil // all of nothing is no achievement
	}
	if len(c.kept) < len(c.whole) && sel.Guarantee.Factor > 0 {
		sel.Guarantee.Scope += fmt.Sprintf(": the most relevant that fit, of %d %ss", len(c.whole), c.what)
	}
}
