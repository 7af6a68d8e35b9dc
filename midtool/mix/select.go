package mix

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/apportion"
)

// Select chooses units as the package comment says. It is an error if an option is out of range, an ID occurs twice, a unit has negative
// tokens, a source without a share or, where Tiers has its source, a tier without a weight; and, with [Strict], if a source falls
// short. No units give an empty selection.
func Select(units []Unit, o *Options) (*Selection, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(units) > math.MaxInt32 {
		return nil, fmt.Errorf("mix: %d units, want at most %d", len(units), math.MaxInt32)
	}
	s := &selector{units: units, opts: opts, keys: newKeyer(opts.Seed, "mix"), sel: &Selection{Sources: make(map[string]Share)}}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := s.queue(); err != nil {
		return nil, err
	}
	if err := s.divide(); err != nil {
		return nil, err
	}
	s.take()
	s.report()
	return s.sel, nil
}

// A selector goes through the steps of [Select].
type selector struct {
	units   []Unit
	opts    Options
	keys    *keyer
	sources []source // with a weight above 0, by name
	sel     *Selection
}

// A source has its units in the order in which they are taken.
type source struct {
	name      string
	weight    int
	first     []entry // by key
	entries   []entry // of the passes that were begun
	available int     // in all passes
	target    int
	taken     int // of entries
	tokens    int // of these
}

// An entry is a unit in a pass.
type entry struct {
	key         uint64
	index, pass int32
}

// check looks at each unit.
func (s *selector) check() error {
	total := 0
	for i := range s.units {
		u := &s.units[i]
		if _, ok := s.opts.Shares[u.Source]; !ok {
			return fmt.Errorf("mix: unit %q: source %q has no share, want one of %q", u.ID, u.Source, slices.Sorted(maps.Keys(s.opts.Shares)))
		}
		if u.Tokens < 0 {
			return fmt.Errorf("mix: unit %q: %d tokens, want at least 0", u.ID, u.Tokens)
		}
		if tiers := s.opts.Tiers[u.Source]; tiers != nil {
			if _, ok := tiers[u.Tier]; !ok {
				return fmt.Errorf("mix: unit %q: tier %q has no weight in source %q", u.ID, u.Tier, u.Source)
			}
		}
		if n := s.opts.passes(u.Source); u.Tokens > (math.MaxInt-total)/n {
			return fmt.Errorf("mix: unit %q: the tokens up to here are more than %d", u.ID, math.MaxInt)
		} else {
			total += n * u.Tokens
		}
	}
	return nil
}

// queue puts the units of each source in the order in which they are taken.
func (s *selector) queue() error {
	at := make(map[string]int)
	for _, name := range slices.Sorted(maps.Keys(s.opts.Shares)) {
		if w := s.opts.Shares[name]; w > 0 {
			at[name] = len(s.sources)
			s.sources = append(s.sources, source{name: name, weight: w})
		}
	}
	all := make([]entry, len(s.units))
	for i := range s.units {
		all[i] = entry{s.keys.key(s.units[i].ID), int32(i), 0}
	}
	s.sort(all)
	sizes := make([]int, len(s.sources))
	for i := range all {
		u := &s.units[all[i].index]
		if i > 0 && s.units[all[i-1].index].ID == u.ID {
			return fmt.Errorf("mix: unit %q occurs twice", u.ID)
		}
		if k, ok := at[u.Source]; ok {
			sizes[k]++
		}
	}
	for k := range s.sources {
		s.sources[k].first = make([]entry, 0, sizes[k])
	}
	for _, e := range all {
		if k, ok := at[s.units[e.index].Source]; ok {
			s.sources[k].first = append(s.sources[k].first, e)
		}
	}
	for k := range s.sources {
		src := &s.sources[k]
		src.entries = s.pass(src, 0)
		src.available = s.tokens(src.entries)
		passes := s.opts.passes(src.name)
		if s.opts.Tiers[src.name] == nil {
			src.available *= passes // none leaves a unit out
			continue
		}
		for number := 1; number < passes; number++ {
			src.available += s.tokens(s.pass(src, number))
		}
	}
	return nil
}

// pass returns the units of a source in the order in which a pass takes them. Passes are made when they are needed, for a source may be
// allowed many more than its part has room for.
func (s *selector) pass(src *source, number int) []entry {
	entries := src.first
	if number > 0 {
		entries = make([]entry, len(src.first))
		for i, e := range src.first {
			entries[i] = entry{s.keys.numbered(s.units[e.index].ID, number), e.index, int32(number)}
		}
		s.sort(entries)
	}
	if tiers := s.opts.Tiers[src.name]; tiers != nil && len(entries) > 0 {
		return s.merge(src.name, entries, tiers)
	}
	return entries
}

// tokens of entries.
func (s *selector) tokens(entries []entry) int {
	n := 0
	for _, e := range entries {
		n += s.units[e.index].Tokens
	}
	return n
}

// sort orders by key and then ID.
func (s *selector) sort(entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), strings.Compare(s.units[a.index].ID, s.units[b.index].ID))
	})
}

// divide finds the budget and its parts.
func (s *selector) divide() error {
	var present []*source
	for k := range s.sources {
		src := &s.sources[k]
		if src.available > 0 || s.opts.Shortfall == Strict {
			present = append(present, src)
		} else {
			s.note("source %q has nothing to take; its share of %d goes to the others", src.name, src.weight)
		}
	}
	if len(present) == 0 {
		return nil
	}
	weights := make([]int, len(present))
	sum := 0
	for i, src := range present {
		weights[i] = src.weight
		sum += src.weight
	}
	apportioned := func(budget int) {
		s.sel.Budget = budget
		for i, n := range apportion.LargestRemainder(budget, weights) {
			present[i].target = n
		}
	}
	most := math.MaxInt // at which no source falls short
	for _, src := range present {
		most = min(most, floorShare(sum, src.available, src.weight))
	}
	if s.opts.Shortfall == Strict && most == 0 {
		for _, src := range present {
			if src.available == 0 {
				return fmt.Errorf("mix: source %q has a share of %d and no tokens", src.name, src.weight)
			}
		}
	}
	if s.opts.Budget == 0 {
		apportioned(most)
		return nil
	}
	apportioned(s.opts.Budget)
	var short []error
	for _, src := range present {
		if src.available < src.target {
			short = append(short, fmt.Errorf("mix: source %q has %d tokens, its part of %d is %d",
				src.name, src.available, s.opts.Budget, src.target))
		}
	}
	switch {
	case len(short) == 0:
	case s.opts.Shortfall == Strict:
		return errors.Join(short...)
	case s.opts.Shortfall == Scale:
		apportioned(most)
	}
	return nil
}

// floorShare is the floor of sum times available over weight, or the largest int.
func floorShare(sum, available, weight int) int {
	hi, lo := bits.Mul64(uint64(sum), uint64(available))
	if hi >= uint64(weight) {
		return math.MaxInt
	}
	q, _ := bits.Div64(hi, lo, uint64(weight))
	return int(min(q, math.MaxInt))
}

// take fills the parts, and puts what was taken in its final order.
func (s *selector) take() {
	n := 0
	for k := range s.sources {
		src := &s.sources[k]
		for number := 1; ; number++ {
			for src.taken < len(src.entries) {
				t := s.units[src.entries[src.taken].index].Tokens
				if t > src.target-src.tokens {
					break
				}
				src.tokens += t
				src.taken++
			}
			if src.taken < len(src.entries) || number >= s.opts.passes(src.name) {
				break
			}
			src.entries = append(src.entries, s.pass(src, number)...)
		}
		n += src.taken
		s.sel.Tokens += src.tokens
	}
	keys := newKeyer(s.opts.Seed, "order")
	picks := make([]Pick, 0, n)
	for k := range s.sources {
		for _, e := range s.sources[k].entries[:s.sources[k].taken] {
			picks = append(picks, Pick{int(e.index), int(e.pass), keys.numbered(s.units[e.index].ID, int(e.pass))})
		}
	}
	slices.SortFunc(picks, func(a, b Pick) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), strings.Compare(s.units[a.Index].ID, s.units[b.Index].ID), cmp.Compare(a.Pass, b.Pass))
	})
	s.sel.Picks = picks
}

// report sums up what was taken.
func (s *selector) report() {
	for k := range s.sources {
		src := &s.sources[k]
		share := Share{Available: src.available, Target: src.target, Tokens: src.tokens, Units: src.taken,
			Want: ratio(src.target, s.sel.Budget), Got: ratio(src.tokens, s.sel.Tokens)}
		share.Tiers = s.tiers(src)
		s.sel.Sources[src.name] = share
	}
	for i := range s.units { // of sources with a weight of 0
		u := &s.units[i]
		if s.opts.Shares[u.Source] == 0 {
			share := s.sel.Sources[u.Source]
			share.Available += u.Tokens
			s.sel.Sources[u.Source] = share
		}
	}
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func (s *selector) note(format string, of ...any) {
	s.sel.Notes = append(s.sel.Notes, fmt.Sprintf(format, of...))
}
