// Package loss has the losses that credit trains with: each returns its value and its gradient with respect to what a
// model gives, log-probabilities, logits or values. There is no automatic differentiation, and no model.
//
// # Losses
//
// l is the log-probability of a token under the policy being trained, l_old and l_ref those under the policy that sampled it
// and under a reference, A its advantage, ratio = exp(clamp(l - l_old, ±20)), d = l_ref - l. All terms are summed with one
// weight per token.
//
//	PPO        max(-A ratio, -A clip(ratio, .8, 1.2)), <= -3A if A < 0   arXiv:1707.06347, 1912.09729
//	TurnRatio  the same, ratio = exp(mean of l - l_old in the turn)      arXiv:2605.13217, 2507.18071
//	CISPO      -min(ratio, 1.2) A l, the ratio a constant                arXiv:2506.13585
//	SoftGate   -4/tau s(tau (ratio-1)) A, s the logistic function        arXiv:2511.20347 ("sapo" in verl and TRL)
//	Reinforce  -A l                                                      Williams, 1992
//	KL         e^d - 1 - d (k3), -d (k1), |d|, d²/2 (k2), and k1+, ...   joschu.net/blog/kl-approx.html, verl
//	Value      .5 max((q-y)², (q_c-y)²), q_c = old + clip(q-old, ±.2)    Stable-Baselines3, verl
//	SAPO       PPO + c_V Value + c_Q Value + beta KL - c_H entropy       arXiv:2608.19842
//
// [Head] takes log-probability, entropy, exact divergence and a value out of the logits of one position, each with its
// gradient. [Weights] turns an aggregation and the masks into the weights. [KLController] steers beta.
// [rl.ExplainedVariance] and the statistics that the losses return tell how training goes.
//
// # Conventions
//
//	positions of weight 0      never read, gradient exactly 0; no such position, loss 0
//	lengths                    equal, else an error: nothing is broadcast
//	on the edge of a clip      the gradient passes
//	where a clamp binds        the gradient is 0
//	a saturated value          |x| >= 1, gradient exactly 0, or inwards only by option
//	advantages                 constants
//	denominators               those of the whole optimiser step
//	numbers that are not finite or overflow   an error that names the position
//	the 0.5 of squares         inside Value; coefficients come on top
//
// # Cost and determinism
//
// Losses are pure functions of linear time and do not allocate. They use no random numbers and no goroutines and sum in
// index order, so equal input gives equal bits on one architecture and Go version.
package loss
