package chain

import (
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/envharness/sim"
)

// A Result is how one episode ended.
type Result struct {
	Setting int     // its number; see [Setting]
	Pass    bool    // whether the verdict was a pass
	Return  float64 // the sum of the rewards
}

// What the scores compare with (bsuite's analyses).
const (
	umbrellaRegret = 0.5  // regret an episode below which a setting counts
	memoryRatio    = 0.75 // misses below which a setting counts, in those of a guess
	seaBad         = 0.8  // share of bad episodes below which a sea is solved
	seaForgiven    = 100  // episodes
)

// maxReturn bounds what an episode can return: 100 steps pay at most 1 each, and the chain with the bonus 1.1 once.
const maxReturn = 101

// Score returns bsuite's score of a learner, in [0, 1], from its episodes in the order in which they were played. The settings may
// be mixed; only the first [Setting].Episodes of each count, and only settings that were played.
//
//   - umbrella: the share of settings whose mean regret is below 0.5, where an episode that does not pass has a regret of 2
//   - discounting_chain: 1 - 10*(1.1 - r), not below 0 or above 1, where r is the mean over the settings of the mean return
//   - memory_len: the share of settings where the share of misses is below 0.75 of that of a guess, which is 0.5
//   - deep_sea: the share of sizes N where, after some number of episodes below 2^N + 100, less than 0.8 of them have not passed. bsuite
//     asks after the episodes that it logs, here it is asked after each.
//
// What is optimal scores 1; what draws its actions scores 0.2 in discounting_chain, and else, in a whole run, about 0. The short sweeps
// score in the same way; drawn actions solve the smallest of their seas now and then. An unknown experiment or setting, a return that is
// out of reach and no results are errors.
func (e Experiment) Score(results []Result) (float64, error) {
	d, ok := e.design()
	if !ok {
		return 0, fmt.Errorf("chain: unknown experiment %q, want one of %q", sim.Clip(string(e)), Experiments())
	}
	if len(results) == 0 {
		return 0, fmt.Errorf("chain: %s: no results", e)
	}
	runs := make([]tally, len(d.numbers))
	for i, r := range results {
		at, ok := slices.BinarySearch(d.numbers, r.Setting)
		if !ok {
			return 0, fmt.Errorf("chain: %s: result %d: setting %d is none of %v", e, i, r.Setting, d.numbers)
		}
		if !(math.Abs(r.Return) <= maxReturn) {
			return 0, fmt.Errorf("chain: %s: result %d: return %v, want a number from -%d to %[4]d", e, i, r.Return, maxReturn)
		}
		if runs[at].episodes < d.episodes {
			runs[at].add(r)
		}
	}
	sum, played := 0.0, 0
	for i, run := range runs {
		if run.episodes > 0 {
			sum += d.worth(d.numbers[i], run)
			played++
		}
	}
	score := sum / float64(played)
	if d.kind == discounting {
		score = min(max(1-10*(1.1-score), 0), 1)
	}
	return score, nil
}

// A tally sums up the episodes of a setting.
type tally struct {
	episodes, passed int
	returned         float64
	solved           int // the first number of episodes after which few enough were bad, 0 for none
}

func (t *tally) add(r Result) {
	t.episodes++
	t.returned += r.Return
	if r.Pass {
		t.passed++
	}
	if t.solved == 0 && float64(t.episodes-t.passed) < seaBad*float64(t.episodes) {
		t.solved = t.episodes
	}
}

// worth is what a setting adds to the mean.
func (d *design) worth(n int, t tally) float64 {
	missed := float64(t.episodes-t.passed) / float64(t.episodes)
	good := false
	switch d.kind {
	case umbrella:
		good = 2*missed < umbrellaRegret
	case discounting:
		return t.returned / float64(t.episodes)
	case memory:
		good = missed/0.5 < memoryRatio
	case sea:
		good = t.solved > 0 && float64(t.solved) < math.Pow(2, float64(n))+seaForgiven
	}
	if good {
		return 1
	}
	return 0
}
