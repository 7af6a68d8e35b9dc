// Package rollout is where rl meets envharness: it plays episodes of a world and returns them as trajectories, with what the policy noted of
// each turn and success from the verdict.
//
// [Collect] runs the episodes. What plays them is a [Player], an envharness policy that also notes what rl needs of each turn. An [Agent]
// makes players of a language model: a [Tokenizer] turns what is shown into tokens, the model ([rl.Sampler]) responds with tokens, and these
// are read as an action, freely or among the admissible ones. Package rl/linear/play has players that choose with a linear policy.
//
// The reward is the verdict's, so that no component can earn any, unless [Options].Rewards asks for the world's own.
//
// # A language model in a world
//
//  1. [WorldTokenizer], or [NewTokenizer] of the [Words] of some episodes, with slots for names that an episode makes up.
//  2. [NewAgent] of a model with as many entries as Tokenizer.Vocab says.
//  3. [Demonstrations] of the world's oracle, or [Agent.Follow] with any other policy, for supervised learning.
//     [Agent.Given] adds notes, such as skills, to what the agent reads.
//  4. Collect with [Agent.Play], tasks repeated for groups ([Repeat], Options.GroupSize), for learning from rewards.
//
// Episodes cut by a limit have no value of their last state: their [Episode].Final is the context from which a critic can read one, for
// estimators that bootstrap.
//
// # Cost and determinism
//
// An episode depends on the world, the task, the seeds and the model alone, never on Options.Parallel. Texts are encoded once a turn, at
// some 50 nanoseconds a word: tens of microseconds a turn besides the model and the world themselves.
package rollout
