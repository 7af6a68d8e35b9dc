package bps

import "testing"

// Where many candidates that the prefilter leaves out are together worth more, a chain of Level0 finds them: by gain per token where they
// are short, by gain where they are what fills the budget.
func TestPrefilterLeavesNoneOut(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tokens []int
		values []float64
		want   float64
		reason string
	}{
		{"short", append(repeat(100, 8), repeat(2, 50)...), append(repeat(10.0, 8), repeat(1.0, 50)...), 50,
			"three places go to long candidates, and one short one is not enough"},
		{"long", append(repeat(20, 5), repeat(1, 9)...), append(repeat(10.0, 5), repeat(0.6, 9)...), 50,
			"four of the five long ones have a place, and the short ones are better per token"},
	} {
		p := Problem{Tokens: tt.tokens, Budget: 100, Benefit: modular(tt.values...)}
		for _, mode := range []Mode{Paper, Level1, Level2, Level3} {
			sel := mustSelect(t, p, &Options{Mode: mode, MaxPool: 4})
			if sel.Benefit < tt.want {
				t.Errorf("%s, %v: %v, want %v: %s", tt.name, mode, sel.Benefit, tt.want, tt.reason)
			}
		}
	}
}
