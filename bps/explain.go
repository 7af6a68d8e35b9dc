package bps

import (
	"cmp"
	"fmt"
	"slices"
)

// A Reason says why a candidate is in a [Selection] or not.
type Reason struct {
	Item    int
	Chosen  bool
	Gain    float64 // what it adds to the chosen ones before it, or, if it is left out, to all of them; 0 if it was dropped
	Tokens  int     // 0 if FromTexts, Index.Select or FromVectors dropped it before the search
	Density float64 // Gain per token; 0 for a candidate without tokens
	Serves  []Part  // where the gain comes from, the largest part first; nil if it is 0 or the benefit does not tell
	Why     string  // for people
}

// A Part is the share of a gain that one clause, capability or other part of a benefit accounts for.
type Part struct {
	Index int
	Name  string // empty if the benefit names no parts
	Gain  float64
}

// explanation is what [Selection.Explain] needs of a search.
type explanation struct {
	problem Problem
	index   []int // what the caller calls each candidate; nil if it is the same
}

// Explain gives the reasons for all candidates: those chosen in the order of s.Items, then the others, ascending. It asks the benefit
// again, about once a candidate, and for the parts of each set that gains something.
//
// Serves is filled in for a benefit with a method Parts(set []int) []float64, whose results add up to Value(set), as that of
// [NewCapability] and most others of this module have; a method PartNames() []string names the parts.
//
// The result is nil if s was decoded or put together by hand. Items may have been put into another order, but not changed otherwise, and
// the slices of the Problem of [Select] must be as they were: Explain reads them again. It must not run while something else changes s.
func (s *Selection) Explain() []Reason {
	if s.explain == nil {
		return nil
	}
	p, index := s.explain.problem, s.explain.index
	if index == nil {
		index = make([]int, len(p.Tokens))
		for i := range index {
			index[i] = i
		}
	}
	position := make(map[int]int, len(index)) // by what the caller says
	for i, name := range index {
		position[name] = i
	}
	known := make(map[int]bool) // what has a reason already
	var reasons []Reason

	st := Start(p.Benefit)
	var set []int
	before := parts(p.Benefit, set)
	for _, name := range s.Items {
		i := position[name]
		// Where nothing was moved, the gain is that of s.Gains.
		r := Reason{Item: name, Chosen: true, Gain: max(0, st.Gain(i)), Tokens: p.Tokens[i]}
		at, _ := slices.BinarySearch(set, i)
		set = slices.Insert(set, at, i)
		after := parts(p.Benefit, set)
		r.Serves, before = served(p.Benefit, before, after), after
		r.Why = fmt.Sprintf("adds %.4g for %d tokens", r.Gain, r.Tokens)
		if slices.Contains(p.Pinned, i) {
			r.Why = "pinned: " + r.Why
		}
		reasons = append(reasons, r)
		known[name] = true
		st.Add(i)
	}

	for _, d := range s.Dropped {
		r := Reason{Item: d.Item, Why: "dropped: " + string(d.Reason)}
		if i, ok := position[d.Item]; ok {
			r.Tokens = p.Tokens[i]
		}
		reasons = append(reasons, r)
		known[d.Item] = true
	}
	penalty := p.penalty()
	for i, name := range index {
		if known[name] {
			continue
		}
		r := Reason{Item: name, Gain: max(0, st.Gain(i)), Tokens: p.Tokens[i]}
		if r.Gain > 0 {
			at, _ := slices.BinarySearch(set, i)
			r.Serves = served(p.Benefit, before, parts(p.Benefit, slices.Insert(slices.Clone(set), at, i)))
		}
		total := s.Tokens + r.Tokens
		if len(s.Items) == 0 {
			total += p.Overhead
		}
		switch {
		case s.Rechecked != nil && slices.Contains(s.Rechecked.Removed, name):
			r.Why = "removed, as the selection as a whole had too many tokens"
		case r.Gain == 0:
			r.Why = "adds nothing to those chosen"
		case r.Tokens > p.Budget-(total-r.Tokens):
			r.Why = fmt.Sprintf("would add %.4g, but has %d tokens where %d are left", r.Gain, r.Tokens, p.Budget-(total-r.Tokens))
		case penalty(total)-s.Penalty >= r.Gain:
			r.Why = fmt.Sprintf("would add %.4g, but its tokens cost %.4g", r.Gain, penalty(total)-s.Penalty)
		case s.Rechecked != nil && len(s.Rechecked.Removed) > 0:
			r.Why = fmt.Sprintf("would add %.4g and may fit, but others were removed after the search", r.Gain)
		default:
			r.Why = fmt.Sprintf("would add %.4g and fits, but the search found no better set with it", r.Gain)
		}
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons[len(s.Items):], func(a, b Reason) int { return cmp.Compare(a.Item, b.Item) })
	for k := range reasons {
		if r := &reasons[k]; r.Tokens > 0 {
			r.Density = r.Gain / float64(r.Tokens)
		}
	}
	return reasons
}

// parts returns the values of the parts of a set, ascending; nil if b does not tell.
func parts(b Benefit, set []int) []float64 {
	if b, ok := b.(interface{ Parts(set []int) []float64 }); ok {
		return slices.Clone(b.Parts(set)) // it may be scratch
	}
	return nil
}

// served returns the parts of a gain, given their values before and after it.
func served(b Benefit, before, after []float64) []Part {
	var names []string
	if b, ok := b.(interface{ PartNames() []string }); ok {
		names = b.PartNames()
	}
	var gains []Part
	for k := range min(len(before), len(after)) {
		if gain := after[k] - before[k]; gain > 0 {
			part := Part{Index: k, Gain: gain}
			if k < len(names) {
				part.Name = names[k]
			}
			gains = append(gains, part)
		}
	}
	slices.SortStableFunc(gains, func(a, b Part) int { return cmp.Compare(b.Gain, a.Gain) })
	return gains
}
