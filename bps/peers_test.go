package bps

import (
	"context"
	"slices"
	"testing"
)

// A candidate that goes back into the queue has its fresh gain; FastGPT #6021 kept the stale one and never came to an end. Here 1 and 2
// gain nothing after 0, and 3 less than at first.
func TestStaleGainIsReplaced(t *testing.T) {
	calls := 0
	b := BenefitFunc(func(set []int) float64 {
		if calls++; calls > 1000 {
			panic("an endless loop")
		}
		return coverage("abcd", "abc", "abc", "bcde", "f").Value(set)
	})
	for _, mode := range allModes {
		calls = 0
		sel := mustSelect(t, Problem{Tokens: repeat(1, 5), Budget: 5, Benefit: b}, &Options{Mode: mode})
		if !slices.Equal(sel.Items, []int{0, 3, 4}) || !slices.Equal(sel.Gains, []float64{4, 1, 1}) {
			t.Errorf("%v: %v with gains %v", mode, sel.Items, sel.Gains)
		}
	}
}

// Estimates that are as low as those of peers do no harm where the whole is counted again.
func TestRecheckOfLowEstimates(t *testing.T) {
	const query = "look up the order, refund the payment, read the policy, forecast the weather and send the customer a message"
	for _, tt := range []struct {
		peer     string
		estimate func(s string) int
		low      float64 // the tokens for one that is estimated
	}{
		{"gptscript #942: chars/3, 20k estimated, 60k real", func(s string) int { return len(s) / 3 }, 3},
		{"lossless-claw #961: chars/4, up to 2x", func(s string) int { return len(s) / 4 }, 2},
		{"repowise #2179: chars/4, 17.3 % low", func(s string) int { return len(s) / 4 }, 1 / (1 - 0.173)},
	} {
		count := func(set []int) int {
			total := 0.0
			for _, i := range set {
				total += tt.low * float64(tt.estimate(desk[i].String()))
			}
			return int(total)
		}
		all := count([]int{0, 1, 2, 3, 4})
		low, some := false, false
		for budget := all / 8; budget < all; budget += 3 {
			o := TextOptions{Count: tt.estimate}
			trusting, err := FromTexts(context.Background(), query, desk, budget, &o)
			if err != nil {
				t.Fatal(err)
			}
			o.Search = &Options{Recheck: count}
			sel, err := FromTexts(context.Background(), query, desk, budget, &o)
			if err != nil || count(sel.Items) > budget || sel.Rechecked.Tokens != count(sel.Items) {
				t.Errorf("%s, budget %d: %+v, %v", tt.peer, budget, sel, err)
			}
			low, some = low || count(trusting.Items) > budget, some || len(sel.Items) > 0
		}
		if !low || !some {
			t.Errorf("%s: some selections are too large without a recheck: %t, some are not empty with one: %t", tt.peer, low, some)
		}
	}
}
