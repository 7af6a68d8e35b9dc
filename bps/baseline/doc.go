// Package baseline holds the usual rules for choosing skills, tools or passages under a token budget, for honest comparison with
// [bps.Select].
//
// All rules take the same [bps.Problem] and return a [Result] whose fields mean what those of a [bps.Selection] mean: the hard
// budget, the overhead, the penalty, pinned and excluded candidates hold for every rule, and each candidate is chosen at most once.
//
//   - [TopK], [MMR] and [DPPMAP] rank candidates by relevance. They do not look at the benefit, unless relevance is left to it.
//   - [RoundRobin] serves the clauses of a query in turn.
//   - [DensityGreedy], [GainGreedy] and [GreedyMax] look at the marginal gains of the benefit, [RandomBest] at its values.
//
// To fill means to take the next candidate, in the order of the rule, that still fits, and to skip the others: a candidate that is too
// large does not end the rule.
//
// # Guarantees
//
// None of the rules has a guarantee for a benefit less a penalty. What is proven about some of them without a penalty, if the benefit
// is monotone, submodular and 0 for the empty set, stands at the rule. The rules do not check these properties.
//
// # Cost
//
// The rules are plain on purpose: full scans, no lazy gains. For n candidates of which k are chosen, ranking takes n log n steps, MMR
// and the greedy rules n*k similarities or gains, DPPMAP n*k*k steps and n*k numbers of memory.
//
// # Determinism
//
// There is no randomness but that of the generator given to [RandomBest], and ties go to the lower index unless a rule says
// otherwise: the same arguments give the same bytes on one architecture and version of Go.
package baseline
