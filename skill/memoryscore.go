package skill

// A MemoryScore rates all skills together: each task is served by the most similar of them. Ours; with b_j the largest
// similarity, at least 0, of a skill to task j that is neither excluded nor held out for it, 0 if there is none,
//
//	specificity  = mean of b
//	abstractness = 1 - Gini(b), 0 if b is 0
//	utility      = specificity · abstractness
//
// Utility is high if every task is served, and equally well. A copy of a skill changes nothing, and neither does copying
// every task k times, so memories of skills of another granularity compare, which averages over skills do not under a
// lexical embedder. Specificity is monotone and submodular in the set of skills: times the number of tasks, with nothing
// held out, it is the facility location benefit of the package bps/benefit, so skills can be selected by it.
type MemoryScore struct {
	Specificity, Abstractness, Utility float64

	AbstractnessDefined bool      // false with fewer than two tasks: a share of one says nothing
	Best                []float64 // b, by task scored against
}

// scoreMemory rates a memory by what serves each of at least one task best. It keeps best.
func scoreMemory(best []float64) MemoryScore {
	m := MemoryScore{Best: best, AbstractnessDefined: len(best) > 1}
	for _, b := range best {
		m.Specificity += b
	}
	m.Specificity /= float64(len(best))
	m.Abstractness = evennessAbove(append([]float64(nil), best...), 0)
	m.Utility = m.Specificity * m.Abstractness
	return m
}
