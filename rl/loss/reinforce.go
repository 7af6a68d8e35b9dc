package loss

// Reinforce returns the policy-gradient loss without a ratio (Williams, 1992), summed with the weights of b, and its
// gradient with respect to LogProb. Each position adds Weight times
//
//	-Advantage * LogProb
//
// and to the gradient Weight times -Advantage. It suits tokens sampled by the policy being trained, once each. OldLogProb
// is not read and may be nil. Errors, cost and determinism are those of [PPO].
func Reinforce(grad []float64, b Batch) (loss float64, err error) {
	if err := b.check(grad, readAdvantage); err != nil {
		return 0, err
	}
	clear(grad)
	each := 1 / float64(len(b.LogProb))
	for j := range b.LogProb {
		w := each
		if b.Weight != nil {
			w = b.Weight[j]
		}
		if w == 0 || b.Advantage[j] == 0 {
			continue
		}
		g := -w * b.Advantage[j]
		if !finite(g) {
			return 0, nonFinite(at("the gradient at LogProb", j), g)
		}
		loss += g * b.LogProb[j]
		if grad != nil {
			grad[j] = g
		}
	}
	if !finite(loss) {
		return 0, nonFinite("the loss", loss)
	}
	return loss, nil
}
