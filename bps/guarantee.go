package bps

import "math"

// factor is 1-1/e: that of Theorem 1, and of Level3 for any penalty.
const factor = 1 - 1/math.E

// plans returns the chains of a mode.
func plans(o *Options, mode Mode) plan {
	p := plan{size: 2, orders: []order{byDensity}}
	if o.BothOrders || mode == Level0 {
		p.orders = []order{byDensity, byGain}
	}
	switch mode {
	case Level0:
		p.size = 0
	case Level1, Level2, Level3:
		p.size, p.prune = int(mode-Level0), true
	}
	return p
}

// guarantee returns what is proven about the best set of a mode.
//
// Let T be any set of more than k candidates that fits, and Y its first k in the order of greedy marginal gains. Let y = G(Y), and let x say
// how far the chain from Y has come when a pick first takes it across the tokens of T. Pruning bounds that pick, as
// every other, by y/k. Balancing y against what is left of G(T) gives the factor
//
//	min over x in [0,1) of (1 + (1-exp(-x))*A) / (1+A), A = exp(x) / (k*(1-x))
//
// which is 1/2 for k = 1 (at x = 0), 0.6174 for k = 2 (at x = ln 2), and 1-1/e for k >= 3 (as x goes to 1). T of up to k candidates is a
// seed itself. It is about every budget at once, hence about any nondecreasing penalty of the tokens.
func guarantee(p Problem, o *Options, mode Mode, scope string) Guarantee {
	const (
		greedy = 0.427  // Feldman, Nutov and Shoham 2023, without a penalty: density greedy or the best single candidate
		pairs  = 0.6174 // k = 2
	)
	class := PenaltyLinear
	switch {
	case p.Penalty != nil && o.PenaltyConcave:
		class = PenaltyConcave
	case p.Penalty != nil:
		class = PenaltyAny
	}
	g := Guarantee{Penalty: class, Mode: mode, Scope: scope}
	switch {
	case mode == Level0 && p.Penalty == nil && p.PenaltyPerToken == 0:
		g.Factor, g.Penalty = greedy, PenaltyZero
	case mode == Level0:
		return Guarantee{Penalty: PenaltyNone, Mode: mode, Scope: "none: Level0 with a penalty"}
	case mode == Level1:
		g.Factor = 1. / 2
	case mode == Level3 || class != PenaltyAny:
		g.Factor = factor
	case mode == Level2:
		g.Factor = pairs
	default:
		return Guarantee{Penalty: PenaltyNone, Mode: mode, Scope: "none: the penalty may not be concave"}
	}
	return g
}

func certify(o *Options, mode Mode, n int) bool {
	if o.Certify != nil {
		return *o.Certify
	}
	return n <= defaultCertify && mode != Level0 && mode != Level3
}
