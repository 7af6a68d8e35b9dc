package bps

import (
	"cmp"
	"context"
	"fmt"
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

// TextOptions adjusts [FromTexts]. A nil *TextOptions equals &TextOptions{}.
type TextOptions struct {
	// Count returns the tokens of a text, given as [Text.String] prints it; not negative. Nil means [EstimateTokens].
	Count func(s string) int
	// Keep is how many texts are candidates: the most relevant that fit into the budget. Zero means 40.
	Keep int

	PenaltyPerToken float64                  // as in Problem; the benefit of a text that is fully relevant to one clause is about 1
	Penalty         func(tokens int) float64 // as in Problem
	Overhead        int                      // as in Problem
	Select          *Options                 // options of the search; nil means the defaults
}

const defaultKeep = 40

// FromTexts selects the texts to show to a model for a query, by their words alone. It returns positions in texts.
//
//  1. Relevance is BM25 (k1 = 1.2, b = 0.75, idf = ln(1 + (N-df+0.5)/(df+0.5))) over all texts, in which a word of the name counts
//     three times and one of the description twice. Words are lower-cased, cut at case changes and underscores, and not stemmed;
//     stop words are left out, and a word that the query repeats counts as often as it is there.
//  2. The candidates are the TextOptions.Keep texts that fit into the budget and are the most relevant to the whole query; of equal
//     ones, those that come first. Only texts looked at on the way are counted. All others are in Dropped.
//  3. The query is cut into clauses at newlines, at the words "and" and "then", and at the marks . ! ? ; , before a space or
//     the end (those of East Asian scripts anywhere). A clause with fewer than two words that are no stop words is left
//     out; if none is left, the whole query is one clause.
//  4. Relevance is divided by its maximum over all texts, for the query and for each clause, and [NewClauses] makes it the benefit.
//  5. [Select] does the rest.
//
// How relevance is computed may improve from one version to the next, and results may then change.
//
// A query that has no word in common with any text gives an empty selection without a guarantee. Words are compared as they
// are written, letter case aside: "services" does not find "service". Errors are those of Select; a counter that returns a
// negative number gives [ErrTokens]. When ctx ends before the search starts, the selection is nil.
//
// For a query of usual length the time goes mostly into reading the texts, once a call. Count is called about Keep times.
func FromTexts(ctx context.Context, query string, texts []Text, budget int, o *TextOptions) (*Selection, error) {
	if o == nil {
		o = &TextOptions{}
	}
	count := o.Count
	if count == nil {
		count = EstimateTokens
	}
	if o.Keep < 0 {
		return nil, fmt.Errorf("bps: TextOptions.Keep is %d, want >= 0", o.Keep)
	}
	keep := cmp.Or(o.Keep, defaultKeep)

	var index text.BM25
	for _, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("bps: stopped after %d of %d texts: %w", index.Len(), len(texts), err)
		}
		index.Add(text.Field{Text: t.Name, Weight: 3}, text.Field{Text: t.Description, Weight: 2}, text.Field{Text: t.Body, Weight: 1})
	}
	whole := index.Score(nil, text.Tokens(query))
	var matches []int
	var dropped []Drop
	for i, score := range whole {
		if score > 0 {
			matches = append(matches, i)
		} else {
			dropped = append(dropped, Drop{i, DropNoMatch})
		}
	}
	slices.SortStableFunc(matches, func(i, j int) int { return cmp.Compare(whole[j], whole[i]) })

	var kept, tokens []int
	for _, i := range matches {
		if len(kept) == keep {
			dropped = append(dropped, Drop{i, DropRelevance})
			continue
		}
		n := count(texts[i].String())
		switch {
		case n < 0:
			return nil, fmt.Errorf("%w: Count gives %d for text %d, %q, want >= 0", ErrTokens, n, i, texts[i].Name)
		case o.Overhead > budget:
			dropped = append(dropped, Drop{i, DropOverhead})
		case n > budget-o.Overhead: // it must not take the place of one that fits
			dropped = append(dropped, Drop{i, DropOverBudget})
		default:
			kept = append(kept, i)
			tokens = append(tokens, n)
		}
	}

	// pick returns the scores of the kept texts as shares of the best score of all texts.
	pick := func(scores []float64) []float64 {
		rel := make([]float64, len(kept))
		best := 0.0
		for _, score := range scores {
			best = max(best, score)
		}
		for c, i := range kept {
			if best > 0 {
				rel[c] = scores[i] / best
			}
		}
		return rel
	}
	rows := make([][]float64, len(kept))
	var scores []float64
	for _, clause := range clauses(query) { // at least one
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("bps: stopped before the search: %w", err)
		}
		scores = index.Score(scores, clause)
		for c, rel := range pick(scores) {
			rows[c] = append(rows[c], rel)
		}
	}
	benefit, err := NewClauses(rows, pick(whole), nil)
	if err != nil {
		return nil, err
	}
	sel, err := Select(ctx, Problem{
		Tokens:          tokens,
		Budget:          budget,
		Benefit:         benefit,
		PenaltyPerToken: o.PenaltyPerToken,
		Penalty:         o.Penalty,
		Overhead:        o.Overhead,
	}, o.Select)
	if sel == nil {
		return nil, err
	}

	// From positions in kept to positions in texts.
	inTexts := func(set []int) {
		for j, c := range set {
			set[j] = kept[c]
		}
	}
	inTexts(sel.Items)
	for _, pt := range sel.Frontier {
		inTexts(pt.Items)
		slices.Sort(pt.Items)
	}
	for _, d := range sel.Dropped {
		dropped = append(dropped, Drop{kept[d.Item], d.Reason})
	}
	slices.SortFunc(dropped, func(a, b Drop) int { return cmp.Compare(a.Item, b.Item) })
	sel.Dropped = dropped
	if len(matches) == 0 {
		sel.Guarantee = Guarantee{Penalty: PenaltyNone, Scope: "none: no text has a word of the query"}
	}
	if len(kept) < len(texts) && sel.Guarantee.Factor > 0 {
		sel.Guarantee.Scope += fmt.Sprintf(": the most relevant that fit, of %d texts", len(texts))
	}
	return sel, err
}

// clauses returns the content words of each clause of a query.
func clauses(query string) [][]string {
	var all [][]string
	var words []string
	end := func() {
		if len(words) >= 2 {
			all = append(all, words)
		}
		words = nil
	}
	eastAsian := func(r rune) bool { return r == '\n' || strings.ContainsRune("。！？；，、", r) }
	for part := range strings.FieldsFuncSeq(query, eastAsian) {
		for word := range strings.FieldsSeq(part) {
			bare := strings.TrimRight(word, ".!?;,")
			if joint := strings.ToLower(bare); joint == "and" || joint == "then" {
				end()
				continue
			}
			words = append(words, text.Tokens(word)...)
			if bare != word {
				end()
			}
		}
		end()
	}
	if len(all) == 0 {
		return [][]string{text.Tokens(query)}
	}
	return all
}
