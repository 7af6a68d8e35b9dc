// Package peers has options under which the estimators of package rl and package token come closest to what other frameworks
// compute, so that numbers can be compared one by one and a switch of frameworks does not move a baseline unseen. Where a
// preset differs, its comment says so. Where a framework is known to be wrong on some input, the fault is not reproduced.
//
// The facts are from reading these frameworks in 2026; they change. Every preset is tested on the numbers that it gives.
// Options may be changed after the call, each call makes new ones.
package peers

import (
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

// VerlGRPO is grpo of volcengine/verl: sample deviation, 1e-6 added, no penalty of invalid turns, and the score of a group
// of one as it is. Its option norm_adv_by_std_in_grpo=False is Norm.Std StdNone, the advantage of Dr. GRPO.
func VerlGRPO() *rl.GRPOOptions {
	return &rl.GRPOOptions{InvalidPenalty: new(0.0), Norm: rl.Norm{Singleton: rl.SingletonRaw}}
}

// VerlRLOO is rloo of volcengine/verl, which keeps the score of a group of one; rloo_vectorized gives 0 there, which is
// the zero Singleton.
func VerlRLOO() *rl.RLOOOptions {
	return &rl.RLOOOptions{InvalidPenalty: new(0.0), Singleton: rl.SingletonRaw}
}

// VerlGAE is gae of volcengine/verl over tokens: gamma and lambda 1, nothing after a limit, whitened over all tokens of the
// batch by the sample deviation with 1e-8 under the root. Masked tokens are skipped, as since its change #2337; before it
// their values took part.
func VerlGAE() *token.GAEOptions {
	return &token.GAEOptions{Truncation: rl.TruncationTerminal}
}

// VerlReinforcePP is reinforce_plus_plus of volcengine/verl, without a penalty of invalid turns.
func VerlReinforcePP() *token.ReinforcePPOptions {
	return &token.ReinforcePPOptions{InvalidPenalty: new(0.0)}
}

// VerlAgentGRPO is grpo of langfengQ/verl-agent, whose rows are turns: the mean of a group counts a trajectory once for
// each of its turns. An invalid turn lowers the score of its own row by 0.1 there, before the norm, and here that of the
// trajectory.
func VerlAgentGRPO() *rl.GRPOOptions {
	return &rl.GRPOOptions{PerTurn: true, Norm: rl.Norm{Singleton: rl.SingletonRaw}}
}

// VerlAgentGiGPO is gigpo of langfengQ/verl-agent in its mode mean_std_norm; mean_norm is Norm.Std StdNone. Its episode part
// counts a trajectory once for each of its turns, and a group of one keeps its score there and gets 0 in a state. An invalid
// turn lowers the score of its own row by 0.1 there, before the norm of the episode part, and here that of the trajectory;
// the step returns agree.
func VerlAgentGiGPO() *rl.GiGPOOptions {
	return &rl.GiGPOOptions{PerTurn: true, Norm: rl.Norm{Singleton: rl.SingletonRaw}, StepSingleton: new(rl.SingletonZero)}
}

// VerlAgentPPO is what langfengQ/verl-agent trains as PPO: see [token.PPOPublished], whose default it is.
func VerlAgentPPO() *token.PPOPublishedOptions { return &token.PPOPublishedOptions{} }

// TRLGRPO is GRPO of huggingface/trl: sample deviation, 1e-4 added, 0 for a group of one. Its scale_rewards="batch" is
// Scope ScopeGroupMeanBatchStd, and "none" is Norm.Std StdNone.
func TRLGRPO() *rl.GRPOOptions {
	return &rl.GRPOOptions{InvalidPenalty: new(0.0), Norm: rl.Norm{Eps: new(1e-4)}}
}

// OpenRLHFGRPO is group_norm of OpenRLHF/OpenRLHF: sample deviation, 1e-9 added; a group of one is refused.
func OpenRLHFGRPO() *rl.GRPOOptions {
	return &rl.GRPOOptions{InvalidPenalty: new(0.0), Norm: rl.Norm{Eps: new(1e-9), Singleton: rl.SingletonError}}
}

// OpenRLHFGAE is gae of OpenRLHF/OpenRLHF: population deviation over all action tokens, whose variance is at least 1e-8
// there; here 1e-8 is under the root, which differs for advantages that hardly vary. Observation tokens are steps of value 0
// there, which shifts the credit of the tokens before them; here they are skipped.
func OpenRLHFGAE() *token.GAEOptions {
	return &token.GAEOptions{Truncation: rl.TruncationTerminal, Norm: rl.Norm{Std: rl.StdPopulation}}
}

// StableBaselines3GAE is the GAE of DLR-RM/stable-baselines3 with turns as steps: gamma 0.99, lambda 0.95, the final value
// after a limit, and the sample deviation with 1e-8 added. It normalises every mini-batch apart; here the whole batch is one.
func StableBaselines3GAE() *rl.TurnGAEOptions {
	return &rl.TurnGAEOptions{
		Gamma: new(0.99), InvalidPenalty: new(0.0), Truncation: rl.TruncationBootstrap, Norm: rl.Norm{Std: rl.StdSample},
	}
}
