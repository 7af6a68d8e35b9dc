package bps

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

// Gains is a growing set with its marginal gains. One goroutine uses it at a time.
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
	// forbidden length. Not together with PenaltyPerToken. A penalty function alone runs the paper's Algorithm 1 without a guarantee
	// today (see [Options].PenaltyConcave); a later version may give it another default mode, with a proven factor.
	Penalty func(tokens int) float64
	// Overhead is the one-off cost in tokens of a selection that is not empty, for example a header; not negative.
	Overhead int
}

// Options adjusts [Select]. A nil *Options equals &Options{}.
type Options struct {
	// MaxPool is the most candidates that the search looks at; zero means 128. When more fit into the budget, three quarters of the
	// places go to the largest benefits alone and the rest to the largest benefits per token, and [Guarantee].Scope says so.
	MaxPool int
	// PenaltyConcave is the caller's word that Problem.Penalty is concave, which keeps the guarantee. Select does not check it.
	PenaltyConcave bool
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
	// the empty set, or the free candidates where there are some and no overhead.
	Frontier []Point
	// Dropped lists the candidates that were never considered, in ascending order. All others were, chosen or not.
	Dropped     []Drop
	Guarantee   Guarantee
	Evaluations int // values and gains of the benefit that were computed
}

// A Point is one set on the frontier of a [Selection].
type Point struct {
	Tokens  int     // overhead included
	Benefit float64 // Value(Items) - Base
	Items   []int   // ascending
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
	DropPrefilter  DropReason = "prefilter"     // more than Options.MaxPool candidates fit
	DropNoMatch    DropReason = "no match"      // FromTexts: no word in common with the query
	DropRelevance  DropReason = "less relevant" // FromTexts: not among the TextOptions.Keep most relevant that fit
)

// A Guarantee is a proven bound on the answer of [Select]: for every set T of candidates in Scope that fits into the budget,
//
//	Objective >= Factor*G(T) - penalty(tokens of T)
//
// where G is the benefit less Base. It holds if the benefit is monotone and submodular, which Select does not prove.
type Guarantee struct {
	Factor  float64      // 1-1/e, or 0 if nothing is proven
	Penalty PenaltyClass // the kind of penalty that the proof covers
	Scope   string       // the candidates it speaks of, or why there is no guarantee
}

// A PenaltyClass names a kind of penalty function.
type PenaltyClass string

// The kinds of penalty a [Guarantee] tells apart.
const (
	PenaltyNone    PenaltyClass = "none"    // no guarantee
	PenaltyLinear  PenaltyClass = "linear"  // a fixed price per token, zero included
	PenaltyConcave PenaltyClass = "concave" // nondecreasing and concave, on the word of the caller
)
