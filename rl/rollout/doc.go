// Package rollout is where rl meets envharness: it plays episodes of a world with a candidate-choosing policy of package rl/linear
// and returns them as trajectories with log-probabilities, success from the verdict, and the features needed to train on them.
//
// [Collect] runs the episodes. In each turn a [Player] turns the admissible actions into sparse features with [CallFeatures] and draws one of
// them. [Batch] lays the episodes out for an estimator and a loss. With Options.Plan the player follows a plan instead, which gives supervised data in the same form.
//
// Worlds must list their admissible actions ([envharness.Observation].Actions). Results depend on the seed and the tasks alone, never on the number of
// workers: every episode draws from a stream of its own.
package rollout
