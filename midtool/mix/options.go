package mix

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

const (
	maxWeight = 1_000_000_000 // so that products with a number of units fit
	maxEpochs = 1000
)

// withDefaults checks everything and fills in what is left out. The maps are the caller's own, and are not changed.
func (o *Options) withDefaults() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	var faults []error
	fail := func(format string, of ...any) { faults = append(faults, fmt.Errorf("mix: "+format, of...)) }
	if opts.Budget < 0 {
		fail("Budget is %d, want at least 0", opts.Budget)
	}
	if opts.Shares == nil {
		opts.Shares = DefaultShares()
	}
	checkWeights("Shares", opts.Shares, fail)
	switch opts.Shortfall {
	case "":
		opts.Shortfall = Scale
	case Scale, Under, Strict, Repeat:
	default:
		fail("Shortfall is %q, want %q, %q, %q or %q", opts.Shortfall, Scale, Under, Strict, Repeat)
	}
	for _, source := range slices.Sorted(maps.Keys(opts.Epochs)) {
		if n := opts.Epochs[source]; n < 1 || n > maxEpochs {
			fail("Epochs of %q is %d, want 1 to %d", source, n, maxEpochs)
		}
		if _, ok := opts.Shares[source]; !ok {
			fail("Epochs has %q, which has no share", source)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(opts.Tiers)) {
		checkWeights(fmt.Sprintf("Tiers of %q", source), opts.Tiers[source], fail)
	}
	return opts, errors.Join(faults...)
}

func checkWeights(what string, weights map[string]int, fail func(string, ...any)) {
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		w := weights[name]
		if w < 0 || w > maxWeight {
			fail("%s: weight of %q is %d, want 0 to %d", what, name, w, maxWeight)
			return
		}
		sum += w
	}
	switch {
	case sum == 0:
		fail("%s: no weight is above 0", what)
	case sum > maxWeight:
		fail("%s: the weights add up to %d, want at most %d", what, sum, maxWeight)
	}
}

// passes over a source.
func (o *Options) passes(source string) int {
	if o.Shortfall == Repeat {
		return max(1, o.Epochs[source])
	}
	return 1
}
