// Package yardstick has policies to measure others against: four that know nothing of their task, and the oracle that sees all of it. What
// one of the first passes is a task that teaches nothing; what the oracle does not pass, nobody need.
//
// # Determinism
//
// A policy here is a function of what it is shown and of the random stream that it was given.
//
// # Source
//
// The choice of policies and what each of them does are ours.
package yardstick
