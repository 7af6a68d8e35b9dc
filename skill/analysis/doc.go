// Package analysis relates the scores of a skill memory to what happened when it was used.
//
//   - [Relate] says how the score of a task goes with its success: rank correlations with p-values and intervals, for the
//     utility and for each of its factors, over all tasks and within groups of tasks that are as hard.
//   - [TaskScores] makes the score of a task from those of the skills that were retrieved for it, [TaskOutcomes] what Relate and
//     Bins need of it. [Bins] and [MedianSplit] cut tasks and skills into equal parts by score.
//   - [TransferDensity] is the share of pairs of stages of a stream of tasks that are linked by a skill, [DependencyCost]
//     what the calls of a model cost when all that was read is read again, and [SelfRetrieval] the share of skills that
//     are found for the task that they come from. [Similarities] compares texts for it.
//
// # Formulas
//
// With rank the average rank among equals, C concordant and D discordant pairs among n0 = n(n-1)/2, n1 of them tied in x
// and n2 in y:
//
//	Spearman rho   Pearson's coefficient of rank(x) and rank(y)
//	Kendall tau-b  (C - D) / sqrt((n0 - n1) (n0 - n2))
//	p              share of the permutations of y with |r*| >= |r|; of a sample of R, (1 + their number) / (R + 1)
//	interval       percentiles of r over resamples of the tasks
//	density        pairs of bins i < j with a skill of bin i retrieved in bin j, over n(n-1)/2
//	dependency     sum over the calls of (2p + o) o / 2, with p tokens in and o tokens out
//
// Within groups, ranks are taken among the tasks of a group and divided by its size, pairs of tasks of two groups do not
// count, and permutations and resamples keep every task in its group.
//
// # Sources
//
// The score of a task, bins of equal size, the split at the median, transfer density, dependency cost and self-retrieval
// are those of arXiv:2608.20274 ("Break It Down, Pass It On: Cross-Task Skill Transfer in LLM Agents"). The cases that it
// leaves open are decided here and stated at each function. The tests of permutation, the bootstrap intervals, tau-b, and
// the pooled coefficients within groups are ours.
//
// # What is not claimed
//
// These are diagnoses. A correlation over tasks does not say that a better score causes success: easy tasks can have both.
// Nor does it predict one task: the paper itself reports a Spearman coefficient of 0.095 and 0.075 within tasks that are
// as hard. Scores under two embedders do not compare.
//
// # Cost and determinism
//
// Every function but Relate takes O(n log n) time or the time of the embedder. Equal arguments, with a generator in an equal state,
// give equal results. Nothing here runs an agent.
package analysis
