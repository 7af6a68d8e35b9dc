package skill

import "fmt"

// A ScoreKind is a formula for the numbers of a [SkillScore]. With s_j = max(0, c_j), the similarities of one skill to m
// tasks, KindSimple and KindNoiseFloored, which are ours, have
//
//	specificity = max s
//	utility     = specificity · abstractness
//
// so that a skill that matches nothing has a utility of 0. Where the sum that abstractness divides by is 0, abstractness is
// 0. Both stay as they are if every task is copied k times.
type ScoreKind int

const (
	// KindPaper is that of arXiv:2608.20274; see [Score].
	KindPaper ScoreKind = iota
	// KindSimple has abstractness = exp(H(p)) / m with p = s / sum of s and H the entropy in nats: the effective share of the
	// tasks that the skill is like.
	KindSimple
	// KindNoiseFloored has abstractness = 1 - Gini(max(0, s - f)), f the NoiseFloor: the evenness of what stands above the
	// likeness that any two texts have. Gini(x) = sum over r of (2r - m - 1)·x_(r), over m · sum of x, x ascending. Finding
	// the median as floor takes the score of each skill from the others in the memory.
	KindNoiseFloored
)

// String returns "paper", "simple" or "noise-floored".
func (k ScoreKind) String() string {
	switch k {
	case KindPaper:
		return "paper"
	case KindSimple:
		return "simple"
	case KindNoiseFloored:
		return "noise-floored"
	}
	return fmt.Sprintf("ScoreKind(%d)", int(k))
}
