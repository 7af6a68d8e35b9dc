// Package bps chooses which skills, tools or passages to put into a context window: the set with the largest benefit less a price for its
// tokens, under a hard token budget.
//
// [FromTexts] needs only texts and a query. [Select] takes any benefit: [NewCapability], [NewClauses] or a function.
//
// # Method
//
// The method is Best Prefix Selection, arXiv:2608.19993. Let G(S) be the benefit of a set S of candidates, l(S) its tokens, B
// the budget and kappa the price of a token. The task (equations 1 and 7) is
//
//	maximise F(S) = G(S) - kappa*l(S)  over all S with l(S) <= B
//
// Algorithm 1 starts from every set of at most two candidates that fits, the empty one included. It grows each of them by the candidate
// with the largest gain per token among those that still fit, until none does, and records every set on the way. The recorded
// set with the largest F is the answer. Two things are left out that cannot change it: the rest of a chain once no candidate gains
// anything, and gains that an older, larger gain of the same candidate shows to be beaten (ours).
//
// # Guarantee
//
// Theorem 1: if G is monotone (a candidate never lowers it), submodular (a candidate adds no more to a set than to a part of it),
// and 0 for the empty set, then for every set T that fits into the budget
//
//	F(answer) >= (1-1/e)*G(T) - kappa*l(T)
//
// No polynomial algorithm has a larger factor unless P = NP. The same holds for any nondecreasing concave penalty of the tokens
// (ours; see Options.PenaltyConcave), but not for steps and other shapes: for them Guarantee.Factor is 0. It holds within the
// prefiltered candidates only where there is a prefilter. Without its assumptions the answer is still feasible and as good as the
// best set that was recorded, and no more is known. Select cannot prove them; it reports the violations that it comes across.
//
// A larger F does not by itself mean more success: that depends on how well the benefit describes the task.
//
// # Cost
//
// For n candidates there are up to n*n/2 chains of at most n steps, each with up to n gains: time grows like n^4 at worst. Memory
// is n*n gains and the frontier, which can have thousands of sets. A hundred candidates of which about ten fit together take tens
// of milliseconds; where most of them fit together, it is about a second. For larger n a prefilter keeps Options.MaxPool candidates.
//
// # Determinism
//
// There is no randomness, and no result depends on map order or time: the same arguments give the same bytes on one architecture and
// version of Go. Ties are broken by documented rules.
package bps
