// Package play lets a linear policy act in a world: in each turn it describes the admissible actions by sparse features and draws one of them.
//
// [Collect] plays episodes and returns, beside the trajectories of package rl/rollout, the choices with the features that training needs. With a
// plan the player follows it instead of choosing, which gives supervised data in the same form. [CallFeatures] describes tool calls of
// any world.
//
// Worlds must list their admissible actions ([envharness.Observation].Actions). Results depend on the seed and the tasks alone, never on the
// number of workers: every episode draws from a stream of its own.
package play
