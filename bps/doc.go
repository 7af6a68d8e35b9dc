// Package bps chooses which skills, tools or passages to put into a context window: the set with the largest benefit less a price for its
// tokens, under a hard token budget.
//
// [FromTexts] needs only texts and a query; an [Index] answers many queries over the same texts, and [FromVectors] takes embeddings.
// [Select] takes any benefit: [NewCapability], [NewClauses], those of package bps/benefit, one that package bps/learn fitted to logs,
// or a function, which package bps/bpstest tests. Package bps/baseline has the rules that people use instead, for comparison.
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
// set with the largest F is the answer. What is left out cannot change it while G is submodular (ours): the rest of a chain once no
// candidate gains anything, once another chain had the same set, or once nothing that fits could lift it to the frontier; and
// gains that an older, larger gain of the same candidate shows to be beaten.
//
// # Modes and guarantees
//
// Theorem 1 of the paper: if G is monotone (a candidate never lowers it), submodular (a candidate adds no more to a set than to a part
// of it), and 0 for the empty set, then for every set T that fits into the budget
//
//	F(answer) >= (1-1/e)*G(T) - kappa*l(T)
//
// No polynomial algorithm has a larger factor unless P = NP. The same holds for any nondecreasing concave penalty of the tokens
// (ours; see Options.PenaltyConcave), but not for steps and other shapes. For them the levels (ours) also grow a chain from those
// candidates alone that gain no more at the seed than its own members did on average, so that no large outsider can spoil a chain.
// What is proven about the recorded sets then holds at every budget up to B at once, which is the same as for every nondecreasing
// penalty. Chains per seed and proven factors are:
//
//	Mode     seeds                               linear or concave   any nondecreasing penalty
//	Paper    <= 2                                1-1/e               none
//	Level0   empty, both orders; all singles     none*               none
//	Level1   <= 1, pruned and not                1/2                 1/2
//	Level2   <= 2, pruned and not                1-1/e               0.6174
//	Level3   <= 3, pruned and not                1-1/e               1-1/e
//	Exact    as Paper, then branch and bound     1**                 1**
//	* 0.427 without a penalty  ** as Paper if it reaches Options.NodeLimit
//
// With Problem.Overhead, tokens are those of the candidates and the overhead on both sides. The penalty for pinned, excluded and free
// candidates is as for others; see [Guarantee] for the bound with pinned ones.
//
// Guarantee says which of them holds for a selection. After a prefilter it holds within the prefiltered candidates only. With a
// benefit that breaks the assumptions the answer is still feasible and as good as the best set that was recorded, and no more is
// known. Select cannot prove them; it reports the violations that it comes across, and [CheckSubmodular] looks for more. Select
// takes for rounding a fall of 1e-9 and a rise of 1e-6 of the largest of 1, the value and the base.
//
// The factor is about the worst case. A [Certificate] is about the search at hand: an upper bound on the optimum from every set that
// was recorded, and so a ratio that the answer is known to reach. Upper bounds stand on the points of the frontier too. It takes two
// to twelve times as long as the search: switch it off with Options.Certify where milliseconds count.
//
// A larger F does not by itself mean more success: that depends on how well the benefit describes the task. On Seal-Tools, for example
// (go run ./examples/evidence/bps), greedy by gain, with the benefit of [FromTexts], finds all needed tools for more requests than
// Algorithm 1 does at 1,000 and 2,000 tokens. A likely cause: gain per token favours short candidates, and relevance by words is a noisy
// benefit, so that two short tools which share a word with the request can look better than the long one that is needed.
//
// # Choosing the price of a token
//
// PenaltyPerToken has the unit of the benefit per token. There are three ways to it.
//
//   - From a price: if a solved task is worth v and a token of context costs c, both in money, and the benefit is a log
//     probability of success as that of [NewCapability], then kappa = c/(v*p) for a success rate of about p.
//   - From logs: package bps/learn fits it together with the benefit, as far as the logs show it. It is only weakly identified: compare
//     it with the first way.
//   - From the frontier: search once without a penalty, and ask [Selection.At] for rising prices. The tokens fall in jumps; the knee is
//     where they fall and the benefit hardly does. A price chooses only points on the upper concave envelope of the frontier, and
//     such a point for the kappas between its slopes to the next and from the last point of the envelope. Other points are for a
//     budget, not for a price.
//
// Zero is a fair default: the budget is a price as well. A positive kappa keeps candidates out that add next to nothing, which
// helps where a model is confused by irrelevant text.
//
// # Cost
//
// For n candidates there are up to n*n/2 chains of at most n steps, and Level3 has n*n*n/6; the levels and BothOrders each double them. A
// step looks at the few candidates whose bounds, from the chains of the single candidates, leave them in question. Memory is
// 16*n*n bytes for every step of those chains, up to 16 MiB for each order or for one step if that is more, and the frontier, which can
// have thousands of sets. For larger n a prefilter keeps Options.MaxPool candidates, except in Level0, which takes time linear in n
// for a start and then little more than the square of the number of picks.
//
// Times in ms with the benefit of [NewCapability] for d capabilities, 80 to 600 tokens a candidate and a budget of 2,000, with and
// without a certificate, on one core of a shared server (AMD EPYC, December 2026): the best of 15 runs, where others took up to 70 % longer:
//
//	n    d   search  with certificate
//	10   5     0.10    0.21
//	31   5     0.62    3.3
//	60   5     3.0     25
//	100  5     9.8     115
//	128  5    19       250
//	100  64   23       195
//	200  64  170       1,600
//
// From 31 to 100 candidates that is growth by the power of 2.4, from 100 to 200 of 2.9. FromTexts takes 11 ms for 1,000 texts of 200 words, an
// Index 1 ms, both with 2,000 tokens and without a certificate. Level0 takes 45 ms for 100,000 candidates with a sparse benefit. The
// benchmarks of this package and of bps/benefit measure them:
//
//	go test -run '^$' -bench . github.com/throughline-go/throughline/bps/...
//
// # Determinism
//
// There is no randomness, and no result depends on map order, time or the number of workers: the same arguments give the same bytes on
// one architecture and version of Go. Ties are broken by documented rules.
package bps
