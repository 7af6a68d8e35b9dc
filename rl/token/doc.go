// Package token gives credit where the time steps are tokens, and takes and returns the flat rows with masks that trainers
// elsewhere hold, so that they can use any estimator of package rl as well.
//
// # Estimators
//
// [GAE] is that of token-level PPO, [ReinforcePP] has the return of each token without a critic, or compares with a group, and
// [PPOPublished] is the layout behind the numbers called PPO in most tables about agents. They work on trajectories of package
// rl, as its own estimators do, and fill in Credit.TokenAdvantage. They use nothing of package rl that is not exported.
//
// # Rows
//
// A [Row] holds a trajectory, or one turn of it, as arrays over its tokens and turns. [ReadRows] reads what json.dumps of
// Python writes, [FromRows] builds the batch, any estimator gives credit, [SetCredit] puts it back beside the tokens, and
// [WriteRows] writes it, with all columns of the trainer's own. [ToRows] makes rows of trajectories.
//
// # Conventions
//
// Frameworks differ silently on these points.
//
//	time steps                 the trainable tokens of turns that are not excluded, and no others
//	masked tokens in GAE       no steps, as in verl and RAGEN: they cost no gamma or lambda and their values are not read.
//	                           OpenRLHF steps through them with value 0; slime does not skip them; TRL has no GAE in GRPO
//	reward of a turn           on its last policy token; a turn without one hands it to the turn before that has one, else
//	                           to the next: no reward is lost
//	end of a turn              where the data say, not where a reward differs from 0 (RAGEN)
//	end by a limit             GAE continues from FinalValue; terminal, as in verl and OpenRLHF, or dropped by option.
//	                           Rows of one turn each, and estimators without a critic, have nothing after them
//	target of the critic       V + A from before whitening
//	whitening                  over all policy tokens of the batch, sample deviation, sqrt(var + 1e-8), as in verl and, over
//	                           loss-mask tokens, RAGEN; OpenRLHF takes the population deviation
//	penalty of invalid turns   part of the reward, so that it is in the target as well; 0.1 except in GAE, where it is 0
//	KL in the reward           off; -beta*(LogProb - RefLogProb) per policy token by option
//	padding                    masked tokens like any others: they are in no mean
//
// # Cost and determinism
//
// Everything is linear in tokens, uses no random numbers and no goroutines, and sums in index order, so equal input gives
// equal bits on one architecture and Go version.
package token
