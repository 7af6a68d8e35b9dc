package decontaminate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Tally collects the matches of a corpus. It is not safe for concurrent use.
type Tally struct {
	ix      *Index
	sources map[string]*sourceTally
	matched []matched
}

// A sourceTally counts the records of a source, and those of them that hold a run of words.
type sourceTally struct {
	records int
	grams   map[int]int
}

// A matched record is one with matches.
type matched struct {
	id, source string
	matches    []Match
}

// Tally starts a collection.
func (ix *Index) Tally() *Tally { return &Tally{ix: ix, sources: make(map[string]*sourceTally)} }

// Add adds a record of a source with its matches, which it keeps. All records must be added, for the share of those with a run of words
// matters. It is an error if a match is not one of this index, and the record is not added then.
func (t *Tally) Add(id, source string, matches []Match) error {
	for _, m := range matches {
		ok := m.Item >= 0 && m.Item < len(t.ix.ids)
		switch m.Rule {
		case ShortItem, SameTool:
		case NGram:
			ok = ok && m.Gram >= 0 && m.Gram < len(t.ix.grams.runs)
		default:
			ok = false
		}
		if !ok {
			return fmt.Errorf("decontaminate: record %q: a match of rule %q, item %d, gram %d is not of this index", id, m.Rule, m.Item, m.Gram)
		}
	}
	s := t.sources[source]
	if s == nil {
		s = &sourceTally{grams: make(map[int]int)}
		t.sources[source] = s
	}
	s.records++
	if len(matches) == 0 {
		return nil
	}
	counted := make(map[int]bool) // a run counts once, however many items have it
	for _, m := range matches {
		if m.Rule == NGram && !counted[m.Gram] {
			counted[m.Gram] = true
			s.grams[m.Gram]++
		}
	}
	t.matched = append(t.matched, matched{id, source, matches})
	return nil
}

// common says whether so many of a source's records hold a run of words that it is no sign of a benchmark.
func (t *Tally) common(s *sourceTally, gram int) bool {
	n := s.grams[gram]
	return n > t.ix.maxRecords && float64(n) > t.ix.maxShare*float64(s.records)
}

// Report says what counts of what was added. It changes nothing: more can be added, and reported again.
func (t *Tally) Report() *Report {
	r := &Report{Counts: make(map[string]map[Rule]int), Invisible: make(map[string]float64)}
	for _, b := range t.ix.benchmarks {
		r.Invisible[b.name] = b.invisible
		r.Counts[b.name] = make(map[Rule]int)
		for _, rule := range Rules() {
			r.Counts[b.name][rule] = 0
		}
	}
	for _, m := range t.matched {
		t.hits(r, &m)
	}
	for _, name := range slices.Sorted(maps.Keys(t.sources)) {
		s := t.sources[name]
		from := len(r.Ignored)
		for gram, n := range s.grams {
			if t.common(s, gram) {
				r.Ignored = append(r.Ignored, Ignored{name, string(t.ix.grams.words(gram)), n})
			}
		}
		slices.SortFunc(r.Ignored[from:], func(a, b Ignored) int { return cmp.Compare(a.Text, b.Text) })
	}
	return r
}

// hits adds those of a record.
func (t *Tally) hits(r *Report, m *matched) {
	type key struct {
		rule Rule
		item int
	}
	type place struct {
		benchmark string
		rule      Rule
	}
	at := make(map[key]int) // of the hit
	counted := make(map[place]bool)
	drop := false
	s := t.sources[m.source]
	for _, match := range m.matches {
		if match.Rule == NGram && t.common(s, match.Gram) {
			continue
		}
		k := key{match.Rule, match.Item}
		i, ok := at[k]
		if !ok {
			i = len(r.Hits)
			at[k] = i
			name := t.ix.benchmarks[t.ix.benchmarkOf(match.Item)].name
			r.Hits = append(r.Hits, Hit{Record: m.id, Source: m.source, Benchmark: name, Item: t.ix.ids[match.Item], Rule: match.Rule, Text: match.Text})
			if p := (place{name, match.Rule}); !counted[p] {
				counted[p] = true
				r.Counts[name][match.Rule]++
			}
		}
		if match.Rule == NGram {
			r.Hits[i].Grams++
		}
		drop = drop || !slices.Contains(t.ix.reportOnly, match.Rule)
	}
	if drop {
		r.Dropped = append(r.Dropped, m.id)
	}
}
