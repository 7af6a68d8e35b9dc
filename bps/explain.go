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
	Tokens  int     // 0 if it was dropped before they were counted
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
// again, about once a candidate.
//
// Serves is filled in for a benefit with a method Parts(set []int) []float64, whose results add up to Value(set), as that of
// [NewCapability] and most others of this module have; a method PartNames() []string names the parts.
//
// The result is nil if s was decoded or put together by hand. Explain must not run while something else changes s.
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
	for k, name := range s.Items {
		i := position[name]
		r := Reason{Item: name, Chosen: true, Gain: s.Gains[k], Tokens: p.Tokens[i], Serves: serves(p.Benefit, set, i)}
		r.Why = fmt.Sprintf("adds %.4g for %d tokens", r.Gain, r.Tokens)
		if slices.Contains(p.Pinned, i) {
			r.Why = "pinned: " + r.Why
		}
		reasons = append(reasons, r)
		known[name] = true
		st.Add(i)
		at, _ := slices.BinarySearch(set, i)
		set = slices.Insert(set, at, i)
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
			r.Serves = serves(p.Benefit, set, i)
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

// serves returns the parts of what candidate i adds to a set, ascending, that does not have it.
func serves(b Benefit, set []int, i int) []Part {
	sum, ok := b.(interface{ Parts(set []int) []float64 })
	if !ok {
		return nil
	}
	var names []string
	if b, ok := b.(interface{ PartNames() []string }); ok {
		names = b.PartNames()
	}
	at, _ := slices.BinarySearch(set, i)
	before := slices.Clone(sum.Parts(set)) // it may be scratch
	after := sum.Parts(slices.Insert(slices.Clone(set), at, i))
	var parts []Part
	for k := range min(len(before), len(after)) {
		if gain := after[k] - before[k]; gain > 0 {
			part := Part{Index: k, Gain: gain}
			if k < len(names) {
				part.Name = names[k]
			}
			parts = append(parts, part)
		}
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Gain, a.Gain) })
	return parts
}
