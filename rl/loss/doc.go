// Package loss has the losses that credit trains with: each returns its value and its gradient with respect to what a
// model gives, log-probabilities, logits or values. There is no automatic differentiation, and no model.
//
// # From rollouts to a gradient
//
// [NewBatch] makes the input of a policy loss of trajectories and their credit: one position per trainable token, with
// weight 0 where there is no vote. The log-probabilities of the model being trained go into LogProb, the gradient back into
// the model by the same order of tokens.
//
//	b, err := loss.NewBatch(nil, batch, credit, nil)
//	... b.LogProb[j] = log-probability of token j under the model being trained
//	value, stats, err := loss.PPO(grad, *b, nil)
//
// [NewValueBatch] does the same for a critic of turns and [Value], [SAPOTurns] for the logits of the joint loss [SAPO].
// [Weights], [TurnWeights] and [Turns] have what they are made of: an aggregation and the masks turned into weights, and which
// tokens are one turn. For micro-batches, parts of one step, cut the slices; the weights are those of the whole step. For
// mini-batches, each a step of its own, use [Batch.Take].
//
// # Losses
//
// l is the log-probability of a token under the policy being trained, l_old and l_ref those under the policy that sampled it
// and under a reference, A its advantage, ratio = exp(clamp(l - l_old, ±20)), d = l_ref - l. All terms are summed with one
// weight per token.
//
//	PPO        max(-A ratio, -A clip(ratio, .8, 1.2)), <= -3A if A < 0   arXiv:1707.06347, 1912.09729
//	TurnRatio  the same without the bound on A < 0,                      arXiv:2605.13217, 2507.18071
//	           ratio = exp(clamp(mean of l - l_old in the turn, ±20))
//	CISPO      -min(ratio, 1.2) A l, the ratio a constant                arXiv:2506.13585
//	SoftGate   -4/tau s(tau (ratio-1)) A, s the logistic function        arXiv:2511.20347 ("sapo" in verl and TRL)
//	Reinforce  -A l                                                      Williams, 1992
//	KL         e^d - 1 - d (k3), -d (k1), |d|, d²/2 (k2), and k1+, ...   joschu.net/blog/kl-approx.html, verl
//	Value      .5 max((q-y)², (q_c-y)²), q_c = old + clip(q-old, ±.2)    Stable-Baselines3, verl
//	SAPO       PPO + c_V Value + c_Q Value + beta KL - c_H entropy       arXiv:2608.19842
//
// GSPO and GAGPO, whose ratio TurnRatio has, weigh turns alike: Aggregation TurnMeanTokenMean.
//
// [Head] takes log-probability, entropy, exact divergence and a value out of the logits of one position, each with its
// gradient. [KLController] steers beta. [rl.ExplainedVariance] and the statistics that the losses return tell how training
// goes.
//
// # Conventions
//
//	positions of weight 0      never read, gradient exactly 0; no such position, loss 0
//	lengths                    equal, else an error: nothing is broadcast
//	on the edge of a clip      the gradient passes
//	where a clamp binds        the gradient is 0, but in CISPO, whose ratio is a constant
//	a saturated value          |x| >= 1, gradient exactly 0, or inwards only by option
//	advantages                 constants
//	log-probabilities          at most 0, with 1e-3 for rounding, else an error: a probability is none
//	values of turns            in units of reward; SAPO divides them by RMax
//	denominators               those of the whole optimiser step
//	numbers that are not finite or overflow   an error that names the position
//	the 0.5 of squares         inside Value; coefficients come on top
//
// # Cost and determinism
//
// Losses are pure functions of linear time and do not allocate; what makes their input allocates nothing if its destination
// is large enough. They use no random numbers and no goroutines and sum in index order, so equal input gives equal bits on
// one architecture and Go version.
package loss
