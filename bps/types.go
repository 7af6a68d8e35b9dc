package bps

import "fmt"

// A Benefit scores sets of candidates. It must be monotone (adding a candidate never lowers it) and submodular (a candidate adds
// no more to a set than to a part of that set); [Select] proves its guarantee under these assumptions and reports violations that it
// happens to see. Value(nil) need not be 0: Select subtracts it.
//
// Value gets candidates 0..n-1 in ascending order without duplicates. It must be a pure function of the set, must not keep or
// change the slice, and must be safe for concurrent use.
type Benefit interface {
	Value(set []int) float64
}

// BenefitFunc lets an ordinary function serve as a [Benefit]. It has no incremental fast path: every gain costs one call.
type BenefitFunc func(set []int) float64

// Value calls f.
func (f BenefitFunc) Value(set []int) float64 { return f(set) }

// Incremental is the optional fast path of a [Benefit]. Its gains must agree with differences of Value within 1e-9 relative.
type Incremental interface {
	Benefit
	// Start returns the state of the empty set. It must be safe for concurrent use; the states are independent.
	Start() Gains
}

// Gains is a growing set with its marginal gains. One goroutine uses it at a time. If it also has a method CopyFrom(src Gains) that makes
// it a copy of another state of the same benefit, as Clone would, states are reused.
type Gains interface {
	Gain(i int) float64 // G(S+i) - G(S) for i not in S; changes nothing
	Add(i int)          // S becomes S+i; i is not in S
	Value() float64     // G(S) - G(empty)
	Clone() Gains       // an independent copy
}

// A Problem asks for the set of candidates with the largest benefit less penalty whose tokens fit into a hard budget. Candidate i costs
// Tokens[i]; there are len(Tokens) candidates. Select changes nothing in it.
type Problem struct {
	Tokens  []int   // tokens of each candidate, separators included; not negative
	Budget  int     // most tokens of the whole selection, overhead included; not negative
	Benefit Benefit // required unless Tokens is empty; a nil pointer or function in it counts as none

	// PenaltyPerToken is the paper's kappa, in units of benefit per token; not negative and finite. Zero means no penalty.
	PenaltyPerToken float64
	// Penalty replaces the linear penalty by any nondecreasing function of the total tokens; nil means linear. +Inf marks a
	// forbidden length. Not together with PenaltyPerToken. It changes the default mode: see [Options].Mode.
	Penalty func(tokens int) float64
	// Overhead is the one-off cost in tokens of a selection that is not empty, for example a header; not negative.
	Overhead int

	Pinned   []int // candidates that are in every selection, each once; their tokens must fit into the budget
	Excluded []int // candidates that are in none, each once; not among Pinned
}

// A Mode names which sets [Select] looks at, and with them what is proven about the best of them.
type Mode int

// The modes. The levels and Exact are ours; see the package comment for what each costs and guarantees.
const (
	Auto   Mode = iota // Paper, or Level2 if Problem.Penalty is set
	Paper              // Algorithm 1: chains from all sets of at most two candidates
	Level0             // two plain greedy chains and every single candidate; for many candidates, as there is no prefilter
	Level1             // chains from all sets of at most one candidate, pruned and not
	Level2             // chains from all sets of at most two candidates, pruned and not
	Level3             // chains from all sets of at most three candidates, pruned and not
	Exact              // Paper, then branch and bound: the optimum, or what Paper found when Options.NodeLimit is reached
)

// String returns the name of the mode in lower case, for example "level2".
func (m Mode) String() string {
	names := [...]string{"auto", "paper", "level0", "level1", "level2", "level3", "exact"}
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return names[m]
}

// MarshalText returns the name of a valid mode, so that JSON has it.
func (m Mode) MarshalText() ([]byte, error) {
	if m < Auto || m > Exact {
		return nil, fmt.Errorf("bps: %v is not one of the modes", m)
	}
	return []byte(m.String()), nil
}

// UnmarshalText accepts what MarshalText returns.
func (m *Mode) UnmarshalText(text []byte) error {
	for k := Auto; k <= Exact; k++ {
		if k.String() == string(text) {
			*m = k
			return nil
		}
	}
	return fmt.Errorf("bps: %q is not the name of a mode", text)
}

// Options adjusts [Select]. A nil *Options equals &Options{}.
type Options struct {
	Mode Mode
	// BothOrders grows every chain a second time, by the largest gain instead of the largest gain per token, and keeps the sets of
	// both. It adds no proof, and protects against noisy benefits that favour short candidates. Level0 always does it.
	BothOrders bool
	// MaxPool is the most candidates that the search looks at; zero means 128, or 48 for Level3. When more fit into the budget, three
	// quarters of the places go to the largest benefits alone and the rest to the largest benefits per token, [Guarantee].Scope
	// says so, and a Certificate speaks of those alone too. The two chains of Level0 still look at all of them.
	MaxPool int
	// PenaltyConcave is the caller's word that Problem.Penalty is concave, to which the guarantee for linear penalties extends. Select
	// does not check it.
	PenaltyConcave bool
	// Certify computes Selection.Certificate; nil means where the search looks at no more than 64 candidates, except in Level0 and Level3.
	// It takes two to twelve times as long as the search itself: see the package comment.
	Certify *bool
	// NodeLimit is the most nodes that Exact visits; zero means 2,000,000.
	NodeLimit int
	// Workers is the number of goroutines; zero means 1. It does not change the result, if the benefit keeps its contract.
	Workers int

	// Recheck counts the tokens of a selection, ascending, as it will be rendered, overhead included; nil trusts Problem.Tokens. When it
	// counts more than the budget, the search is run again with a budget that is smaller by the excess, at most MaxReruns times, and
	// then candidates are removed, the last in order first; also from the selection before, where a smaller budget leaves nothing. See
	// Selection.Rechecked.
	Recheck   func(set []int) int
	MaxReruns int // zero means 3

	fullChains bool // go on where no candidate gains anything; for tests
}

// A Selection is the answer of [Select]. Candidates are positions in Problem.Tokens, or in the texts of [FromTexts].
type Selection struct {
	// Items are the chosen candidates, best first: each has the largest gain per token after those before it.
	Items []int
	Gains []float64 // what each of Items adds to those before it; not below 0

	Tokens    int     // tokens of Items and the overhead; never above the budget; 0 if Items is empty
	Benefit   float64 // Value(Items) - Base
	Penalty   float64 // penalty of Tokens
	Objective float64 // Benefit - Penalty, the number that was maximised
	Base      float64 // Value(nil)

	// Frontier is the best benefit found for every token total, both strictly increasing, whatever the penalty. The first point is
	// the empty set, or the pinned and the free candidates where there are some. Where its sets would have more than 4 million members
	// together, only every second, third and so on is given.
	Frontier []Point
	// Dropped lists the candidates that are not in Items for a reason from before the search, in ascending order. All others were
	// considered. One that the prefilter leaves out may still be in a set of the frontier.
	Dropped     []Drop
	Guarantee   Guarantee    // what is proven about the mode
	Certificate *Certificate // what this search has shown about the optimum; nil if it was not asked for
	Rechecked   *Recheck     // what Options.Recheck counted; nil without it
	Evaluations int          // marginal gains that were computed, in all searches
	Nodes       int          // visited by Exact, in all searches

	explain *explanation // what Explain needs
}

// A Point is one set on the frontier of a [Selection].
type Point struct {
	Tokens  int     // overhead included
	Benefit float64 // Value(Items) - Base
	Items   []int   // ascending
	// UpperBound is not below the benefit of any set in Guarantee.Scope with fewer tokens than the next point, or, at the last one,
	// within the budget; 0 without a certificate and after reruns for a recheck.
	UpperBound float64
}

// A Certificate bounds the optimum from what a search has seen. It holds if the benefit is monotone and submodular, in the scope of the
// [Guarantee], and often says much more than the factor of it.
type Certificate struct {
	UpperBound float64 // no set that fits has a larger objective
	Gap        float64 // UpperBound - Objective; 0 proves the answer optimal
	Ratio      float64 // Objective / UpperBound; 1 if Gap is 0, else 0 if UpperBound is not positive
}

// A Recheck says how a selection came to fit when it was counted as a whole.
type Recheck struct {
	Tokens  int   // of the selection, by Options.Recheck
	Budget  int   // of the last search; the Guarantee is about it
	Reruns  int   // searches after the first
	Removed []int // candidates taken out after the last search, in this order; if there are any, nothing is guaranteed
}

// A Drop says why a candidate was not considered.
type Drop struct {
	Item   int
	Reason DropReason
}

// A DropReason is a short text for people and for comparison with the constants.
type DropReason string

// Why candidates are dropped.
const (
	DropOverBudget DropReason = "over budget"   // alone, and with the overhead, it is larger than the budget
	DropOverhead   DropReason = "overhead"      // the overhead alone is larger than the budget
	DropExcluded   DropReason = "excluded"      // in Problem.Excluded
	DropPrefilter  DropReason = "prefilter"     // more than Options.MaxPool candidates fit
	DropNoMatch    DropReason = "no match"      // FromTexts: no word in common with the query
	DropRelevance  DropReason = "less relevant" // FromTexts: not among the TextOptions.Keep most relevant that fit
)

// A Guarantee is a proven bound on the answer of [Select]: for every set T of candidates in Scope that fits into the budget,
//
//	Objective >= Factor*G(T) - penalty(tokens of T)
//
// where G is the benefit less Base. With pinned candidates M it speaks of the sets T that contain them, and the bound is
//
//	Objective >= G(M) + Factor*(G(T)-G(M)) - penalty(tokens of T)
//
// It holds if the benefit is monotone and submodular, which Select does not prove.
type Guarantee struct {
	Factor  float64      // 0 if nothing is proven
	Penalty PenaltyClass // the kind of penalty that the proof covers
	Mode    Mode         // what ran; never Auto
	Scope   string       // the candidates it speaks of, or why there is no guarantee
}

// A PenaltyClass names a kind of penalty function.
type PenaltyClass string

// The kinds of penalty a [Guarantee] tells apart.
const (
	PenaltyNone    PenaltyClass = "none"    // no guarantee
	PenaltyZero    PenaltyClass = "zero"    // no penalty at all
	PenaltyLinear  PenaltyClass = "linear"  // a fixed price per token, zero included
	PenaltyConcave PenaltyClass = "concave" // nondecreasing and concave, on the word of the caller
	PenaltyAny     PenaltyClass = "any"     // any nondecreasing function of the tokens
)
