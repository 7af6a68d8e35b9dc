// Package rl turns trajectories of an agent into training signal: which turns, or tokens, helped, and by how much. It needs
// no model and no automatic differentiation; a policy, in this process or elsewhere, gives log-probabilities and takes
// gradients.
//
// # Steps
//
//  1. Collect rollouts as [Trajectory] values, with the log-probability of each token that the policy sampled.
//     [Validate] them. [WriteTrajectories] and [ReadTrajectories] keep batches as JSON lines; package token has the flat
//     rows with masks of other trainers.
//  2. Estimate credit, once per collected batch, with one of the estimators below. Each returns a [Credit]: an advantage
//     per turn, targets of critics where it has them, and who has a vote. [Credit.Diagnose] says what it can teach.
//  3. Give each trainable token its advantage and its weight, which is 0 where there is no vote: NewBatch of package
//     [github.com/throughline-go/throughline/rl/loss] does. A loss of that package returns its value and its gradient with
//     respect to the log-probability of each token, to logits or to values.
//  4. Carry that gradient into the parameters of a [Backbone]: package [github.com/throughline-go/throughline/rl/backbone] has
//     small transformers and recurrent networks, and a training service can be one. Package
//     [github.com/throughline-go/throughline/rl/linear] has a linear policy.
//
// Package [github.com/throughline-go/throughline/rl/train] does all of that, over and over, for models that act in the
// environments of package envharness; package [github.com/throughline-go/throughline/rl/rollout] is its first step alone.
//
// # Estimators
//
//	function           compares                              needs             source
//	TurnGAE            turns with a critic                   Value             arXiv:1506.02438 over turns
//	SAPO               turns with two critics                Value, QValue     arXiv:2608.19842
//	GRPO               scores in a group                     Group             arXiv:2402.03300, Dr.GRPO arXiv:2503.20783
//	RLOO               a score with the others of its group  Group             arXiv:2402.14740
//	GiGPO              scores, and returns in a state        Group, State      arXiv:2505.10978
//	GAGPO              turns, with mean returns of states    Group, State      arXiv:2605.13217
//	GraphGPO           scores, and distances to the goal     Group, State (+)  arXiv:2605.26684
//	MileGPO            the same, shaped by milestones        Group, State (+)  arXiv:2608.19803
//	token.GAE          tokens with a critic                  Token.Value       arXiv:1506.02438
//	token.ReinforcePP  tokens, over the batch                -                 arXiv:2501.03262
//	token.PPOPublished tokens of one turn, with the score    Token.Value       verl-agent
//
// (+) FinalState too, and Success where a score above 0 is none.
//
// Each is an [Estimator] once its options are bound; [Trajectory.MonteCarlo], [Trajectory.LambdaReturns],
// [Trajectory.SARSATargets], [NewCredit], [Norm.Apply] and [Credit.Normalize] are the parts to build others, and package
// [github.com/throughline-go/throughline/rl/rltest] has the laws that all of them keep. Groups are rollouts of one task
// from one first state. TurnGAE, SAPO and package token need none (token.ReinforcePP does with its group baseline); the others
// compare all trajectories without a Group with each other, as one group. The State keys are the caller's
// and decide what anchor-state methods see: a raw observation is a bad key, since all failed calls look alike.
//
// # Conventions
//
// Frameworks differ silently on these points. Here each is an option, or is fixed as said.
//
//	discount                    per turn, not per token, except in package token
//	end by a limit              bootstrap from FinalValue in TurnGAE and token.GAE; in the others nothing follows
//	who votes                   not excluded, and with a trainable token; invalid turns do vote
//	invalid turn                costs 0.1 of: its advantage before the norm (TurnGAE, SAPO); the score (GRPO, RLOO, GraphGPO,
//	                            MileGPO, token.ReinforcePP); its reward and so the score (GiGPO, GAGPO); the score of its
//	                            row (token.PPOPublished). token.GAE: nothing. The papers of GRPO, RLOO and REINFORCE++
//	                            have no such cost: InvalidPenalty 0 there
//	value target                V + A, before the penalty of invalid turns and before any norm
//	normalisation set           turns: all voting turns of the batch; groups: the voters of a group, each trajectory once;
//	                            states: the voting turns of a group that begin in it
//	standard deviation          turns: population, eps 1e-8; groups and states: sample, eps 1e-6; tokens: sample, eps 1e-8
//	                            inside the root; by option
//	no variance                 equal numbers give exact zeros; a deviation that is rounding residue only centres
//	group of one                0; the raw score or an error by option
//	tokens that are not trained no time steps, never read, gradient exactly 0
//	success                     the verdict; a score above a threshold only where there is none
//	mean of the loss            over tokens of the whole step of the optimiser; by option. GRPO's paper has the mean over
//	                            responses of the mean over tokens, Dr. GRPO's a constant instead of lengths
//	numbers that are not finite an error that names trajectory and turn; exclusion of the trajectory by option
//
// The same points elsewhere, as of the versions that were read in 2026. Package
// [github.com/throughline-go/throughline/rl/peers] has options that come closest to what these compute.
//
//	                     group of one  deviation        eps              normalised over          after a limit  masked tokens
//	verl GRPO            raw score     sample           1e-6 added       group                    -              -
//	verl GAE             -             sample           1e-8 in root     tokens of the batch      0              skipped
//	verl RLOO            raw or 0      none             -                -                        -              -
//	verl-agent GiGPO     raw, state 0  sample           1e-6 added       rows of the group, state 0              -
//	TRL GRPO             0             sample           1e-4 added       group or batch           -              -
//	OpenRLHF             refused       sample, batch:   1e-9, batch:     group, tokens of the     0              steps of value 0
//	                                   population       variance >= 1e-8 batch
//	Stable-Baselines3    -             sample           1e-8 added       mini-batch               final value    -
//	this package         0, by option  by option        by option        by option                by option      skipped
//
// Equal scores give 0 in all of them; the divergence from a reference still acts on such groups, in TRL and here, unless
// SkipFlat of package loss takes it away.
//
// In verl and TRL the name sapo means the soft-gated loss of arXiv:2511.20347; here that is SoftGate of package loss.
//
// # Cost and determinism
//
// Estimators are pure functions, of linear time unless they say otherwise. They use no random numbers and no goroutines,
// process groups and states in order of first appearance and sum in index order, so equal input gives equal bits on one
// architecture and Go version. They do not change their input; they may be called at the same time for different
// destinations.
//
// # What is not claimed
//
// Formulas and numbers are tested against second, literal implementations and worked examples. Nothing here says that a
// method learns better than another, and none of the papers' results is reproduced.
package rl
