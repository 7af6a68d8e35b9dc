// Package benefit has ready-made benefits for [bps.Select], besides [bps.NewCapability] and [bps.NewClauses]. Each is monotone and
// submodular for all input that its constructor accepts, so the guarantees of Select hold: a mixture if its parts are, and features if
// their functions are concave, which is checked at some amounts. Each has the fast path [bps.Incremental].
//
// In the table, S is a set of candidates, c is a weight, and sums without a range are over all points, elements, features or parts.
//
//	NewFacilityLocation         sum of c[v] * max(0, largest similarity[i][v] in S)   similarities given
//	NewCosineFacilityLocation   the same                                              cosines of vectors
//	NewNearestFacilityLocation  the same, for most similarities 0                     neighbors given
//	NewWeightedCoverage         sum of c[e] over the elements that S covers
//	NewProbabilisticCoverage    sum of c[e] * (1 - product of 1-p[i][e] in S)
//	NewFeatureBased             sum of c[k] * f[k](sum of amount[i][k] in S)          f concave; saturated coverage with Cap
//	NewModular                  sum of value[i] in S
//	NewMixture                  sum of c[j] * benefit j of S
//
// # Choosing one
//
// Facility location stands for every point by its most similar candidate: a set that represents the points. Coverage and features
// count what the candidates contain. A mixture adds any of them up; one part that is modular gives every candidate a bonus.
//
// # Parts
//
// The types behind the benefits have two more methods. Len() int is the number of candidates, which Select checks; a mixture has it if
// one of its parts has. Parts(set []int) []float64 is the value of every point, element, feature or part, in a new slice; they add up to
// Value(set) within rounding. A modular benefit has none but its candidates, and no method Parts.
//
// # What is not offered
//
// Disparity, the sum or the least of distances within a set, is not submodular. Graph cut, relevance less a share of the similarity
// within a set, falls with every further candidate once that share is large. The log-determinant of a kernel, the objective of
// determinantal point processes, is sure to be monotone only if no eigenvalue of the kernel is below 1, which is rare among similarities.
// Select would promise what does not hold for them.
//
// # Cost
//
// A gain reads what there is about one candidate: a row of similarities, its neighbors, its elements. On one core of a shared server,
// 100 greedy picks with lazy gains, of 4,000 candidates that are the points too, take about 80 ms of processor time for vectors in 40
// clusters (23,449 gains). For unstructured ones (57,468 gains) it is 160 ms with NewCosineFacilityLocation and 230 ms with
// NewFacilityLocation. Twice as many candidates have about twice as many gains, each of which takes twice as long. For 100,000
// candidates with 64 neighbors each, all gains together take 12 ms. Select in the mode [bps.Level0] takes 92 ms, 270 ms (with
// NewCosineFacilityLocation) and 45 ms in these three cases. The benchmarks of the package measure all of it:
//
//	go test -run '^$' -bench Level0 github.com/throughline-go/throughline/bps/benefit
//
// # Common rules
//
// Constructors copy their input, and return an error that wraps [bps.ErrBenefit] and names the entry for input that is out of range:
// weights, amounts and values must be finite and not negative. Any number of goroutines may use a benefit. Value, Parts and Gain panic,
// like an index into a slice, for a candidate that does not exist. There is no randomness; sums run in the order of indices. Gain
// allocates nothing, and Value keeps the little memory that it needs from call to call.
package benefit
