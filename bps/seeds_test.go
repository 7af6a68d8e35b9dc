package bps

import "testing"

// Where all candidates have the same tokens, the two orders are one, and no chain is grown twice.
func TestOneOrderOfEqualTokens(t *testing.T) {
	c, _ := randomCapability(newRand(1), 12, 3, 1, 1)
	for _, mode := range []Mode{Paper, Level1, Level2, Level3} {
		evaluations := func(tokens []int, both bool) int {
			return mustSelect(t, Problem{Tokens: tokens, Budget: 30, Benefit: c}, &Options{Mode: mode, BothOrders: both}).Evaluations
		}
		equal := repeat(5, 12)
		if one, both := evaluations(equal, false), evaluations(equal, true); one != both {
			t.Errorf("%v: %d gains computed in both orders, %d in one", mode, both, one)
		}
		equal[3] = 6
		if one, both := evaluations(equal, false), evaluations(equal, true); one >= both {
			t.Errorf("%v: %d gains computed in both orders of different tokens, %d in one", mode, both, one)
		}
	}
}
