// Package rollout is where rl meets envharness: it plays episodes of a world and returns them as trajectories, with the log-probabilities that
// the policy noted and success from the verdict.
//
// [Collect] runs the episodes. What plays them is a [Player], an envharness policy that also notes what rl needs of each turn; package
// rl/linear/play has one that chooses among the admissible actions. The reward is the verdict's, so that no component can earn any.
//
// Episodes cut by a limit have no value of their last state: estimators that bootstrap from it need another rule for truncation.
package rollout
