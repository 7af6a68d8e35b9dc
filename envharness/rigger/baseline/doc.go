// Package baseline holds what is usually done instead of [rigger.Rig] with its whole gate, for honest comparison.
//
// All procedures have the signature of Rig and return its report, so that what was accepted and what it cost can be compared: [Procedures]
// lists them. They are put together of designers ([None], [Random], [GenEnv]), an objective ([NearHalf]) and the presets of the rigger; [PLR]
// has a loop of its own. Designers and objective can be used with any preset, behind the whole gate too.
//
// # What is drawn
//
// [RandomEntry] is the only place where components are drawn. It makes valid ones for the task at hand, so that a comparison with random
// components is not one with broken files: what is drawn differs from what [rigger.Rules] proposes in that nobody looked at the policy, and
// what is accepted in that nobody looked for a solution.
//
// # Cost
//
// The random preset plays nothing; the others play the unmodified tasks first. Each attempt takes Options.Screen rollouts, and those of the
// whole gate a confirmation. The costs stand in the reports.
//
// # Determinism
//
// Equal problems and options give equal reports. All that is drawn follows from the seed of the options.
package baseline
