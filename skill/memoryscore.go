package skill

// A MemoryScore rates all skills together: each task is served by the most similar of them. Ours; with b_j the largest
// similarity, at least 0, of a skill to task j that is neither excluded nor held out for it, 0 if there is none,
//
//	specificity  = mean of b
//	abstractness = 1 - Gini(b), 0 if b is 0
//	utility      = specificity · abstractness
//
// Utility is high if every task is served, and equally well. A copy of a skill changes none of these numbers, and neither does copying
// every task k times, so memories of skills of another granularity compare, which averages over skills do not under a
// lexical embedder. Specificity is monotone and submodular in the set of skills: times the number of tasks, with nothing
// held out, it is the facility location benefit of the package bps/benefit, so skills can be selected by it.
type MemoryScore struct {
	Specificity, Abstractness, Utility float64

	AbstractnessDefined bool      // false with fewer than two tasks: a share of one says nothing
	Best                []float64 // b, by task scored against

	Covered float64 // share of the tasks for which that largest similarity is above MinSim: retrieval would find a skill
	Placebo float64 // Utility of a memory of the 12 texts of Summary.Placebo, with nothing held out; 0 from ScoreMatrix
	// HeldOut counts the pairs of a skill and a task that were left out, excluded or held out. Zero beside skills that were made from
	// these tasks means that their IDs did not meet: each skill is then credited for its own task.
	HeldOut int
}

// A coverage finds what serves each task best.
type coverage struct {
	best    []float64
	covered []bool
	left    int // pairs left out
}

func newCoverage(tasks int) *coverage {
	return &coverage{make([]float64, tasks), make([]bool, tasks), 0}
}

// add takes the similarities of one skill, but for those that a mask leaves out.
func (m *coverage) add(c []float64, minSim float64, masks ...[]bool) {
	for j, x := range c {
		out := false
		for _, mask := range masks {
			out = out || mask[j]
		}
		if out {
			m.left++
			continue
		}
		m.best[j] = max(m.best[j], x)
		m.covered[j] = m.covered[j] || x > minSim
	}
}

// score rates the memory of the skills that were added, for at least one task. It keeps best.
func (m *coverage) score() MemoryScore {
	s := MemoryScore{Best: m.best, AbstractnessDefined: len(m.best) > 1, HeldOut: m.left}
	for j, b := range m.best {
		s.Specificity += b
		if m.covered[j] {
			s.Covered++
		}
	}
	n := float64(len(m.best))
	s.Specificity /= n
	s.Covered /= n
	s.Abstractness = evennessAbove(append([]float64(nil), m.best...), 0)
	s.Utility = s.Specificity * s.Abstractness
	return s
}
