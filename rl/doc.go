// Package rl turns trajectories of an agent into training signal: one advantage per turn, and a policy loss with its
// gradient. It needs no model and no automatic differentiation; a policy, in this process or elsewhere, gives
// log-probabilities and takes gradients.
//
// # Steps
//
//  1. Collect rollouts as [Trajectory] values, with the log-probability of each token that the policy sampled.
//     [Validate] them.
//  2. Estimate credit, once per collected batch: [TurnGAE] over turns (arXiv:1506.02438, with the batch norm over turns of
//     SAPO, arXiv:2608.19842) where there is a critic, or [GRPO] (arXiv:2402.03300) where rollouts of one task are
//     compared. Both return a [Credit], one advantage per turn.
//  3. Give each trainable token the advantage of its turn, [Credit.TokenAdvantages], and call [PPOLoss], which returns
//     the loss and its gradient with respect to the log-probability of each token.
//  4. Carry that gradient into the parameters. Package [github.com/throughline-go/throughline/rl/linear] has a small
//     policy to do so.
//
// [WriteTrajectories] and [ReadTrajectories] keep batches as JSON lines.
//
// # Conventions
//
// Frameworks differ silently on these points. Here each is an option, or is fixed as said.
//
//	discount                    per turn, not per token
//	end by a limit              bootstrap from FinalValue; terminal or dropped by option
//	who votes                   not excluded, and with a trainable token; invalid turns do vote
//	value target                V + A, before the penalty of invalid turns and before any norm
//	normalisation set           TurnGAE: all voting turns of the batch; GRPO: the voters of a group, each trajectory once
//	standard deviation          TurnGAE: population, eps 1e-8; GRPO: sample, eps 1e-6 (added to it); by option
//	no variance                 equal numbers give exact zeros; a deviation that is rounding residue only centres
//	group of one                0; the raw score or an error by option
//	mean of the loss            over tokens; other means, masks and micro-batches by one weight per token
//	ratio on the edge           the gradient passes
//	positions of weight 0       never read, gradient exactly 0
//	numbers that are not finite an error that names trajectory and turn; exclusion of the trajectory by option
//
// # Cost and determinism
//
// Estimators and losses are pure functions of linear time. They use no random numbers and no goroutines, process groups
// in order of first appearance and sum in index order, so equal input gives equal bits on one architecture and Go
// version. They do not change their input; they may be called at the same time for different destinations.
package rl
