package mix

import (
	"maps"
	"slices"
)

// merge reorders the entries of a pass over a source, so that every beginning has the tiers in proportion to their weights, and cuts
// the pass off where the tier whose turn it is has no more.
func (s *selector) merge(source string, entries []entry, weights map[string]int) []entry {
	type queue struct {
		name    string
		weight  int
		entries []entry
		taken   int
	}
	byTier := make(map[string][]entry)
	for _, e := range entries {
		tier := s.units[e.index].Tier
		byTier[tier] = append(byTier[tier], e)
	}
	var queues []queue
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		switch w := weights[name]; {
		case w == 0:
		case len(byTier[name]) > 0:
			queues = append(queues, queue{name, w, byTier[name], 0})
			sum += w
		case entries[0].pass == 0:
			s.note("source %q has no unit of tier %q; its weight of %d goes to the others", source, name, w)
		}
	}
	out := make([]entry, 0, len(entries))
	for n := 1; len(queues) > 0; n++ {
		next, behind := 0, 0 // the tier that lacks most of its share of n units
		for i := range queues {
			if lack := queues[i].weight*n - sum*queues[i].taken; i == 0 || lack > behind {
				next, behind = i, lack
			}
		}
		q := &queues[next]
		if q.taken == len(q.entries) {
			break
		}
		out = append(out, q.entries[q.taken])
		q.taken++
	}
	return out
}

// tiers sums up what was taken of a source, nil where no unit of that has a tier.
func (s *selector) tiers(src *source) map[string]Tier {
	var out map[string]Tier
	for _, e := range src.entries[:src.taken] {
		u := &s.units[e.index]
		if u.Tier == "" {
			continue
		}
		if out == nil {
			out = make(map[string]Tier)
		}
		t := out[u.Tier]
		t.Units++
		t.Tokens += u.Tokens
		out[u.Tier] = t
	}
	weights := s.opts.Tiers[src.name]
	if weights == nil {
		weights = DefaultTiers()[src.name]
	}
	if out == nil {
		return nil
	}
	sum := 0
	for name, w := range weights {
		sum += w
		if _, ok := out[name]; !ok {
			out[name] = Tier{} // that nothing was taken of it is part of the outcome
		}
	}
	for name, t := range out {
		t.Want, t.Got = ratio(weights[name], sum), ratio(t.Units, src.taken)
		out[name] = t
	}
	return out
}
