// Package linear has a small policy that chooses among candidate actions, to train with the losses of package rl on a
// CPU in seconds.
//
// # Model
//
// Each candidate action is a sparse vector of features, usually names put in their place by hashing ([Hash], [Cross]).
// With weights W and temperature T, p(a) is proportional to exp(W·features(a)/T). A second weight vector U gives state
// values, U·features(s), for estimators that need a critic. All weights start at 0, so an untrained policy is uniform.
//
// # Training
//
// [Policy.AddGrad], [Policy.AddEntropyGrad] and [Policy.AddValueGrad] collect the gradient of a loss from its
// derivatives with respect to log-probabilities, entropies and values. [Policy.Step] descends it with AdamW (arXiv
// 1711.05101), for weights that have a gradient only.
//
// # What to expect
//
// The scores are linear: the policy cannot learn what its features do not say, and hashing merges some of them.
// Imitating demonstrated choices is a convex problem; for the gradient of a reward nothing of the kind is known.
//
// # Cost and determinism
//
// Time grows with the number of features seen, memory with the dimension. Nothing depends on time, goroutines or map
// order: the same calls give the same bits on one architecture and Go version.
package linear
