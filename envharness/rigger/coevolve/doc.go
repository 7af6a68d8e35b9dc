// Package coevolve alternates rigging and training: what the policy is weak at becomes what it trains on, and what it has learnt is taken
// out again (the co-evolution of EnvHarness, arXiv:2608.19880; the rules below are ours where they say so).
//
// # A round
//
//  1. Every item that was accepted in an earlier round is measured again with the present policy. One whose success rate is outside
//     [0.1, 0.9] twice in a row is retired (ours).
//  2. [rigger.Rig] works on tasks with the present policy; what it accepts becomes an item. Aims at failures alone ([rigger.RedTeam]) are
//     left out, unless [Options].RedTeam says otherwise. Its designer is told nothing of earlier rounds: where the flaws of the policy are
//     still the same, [rigger.Rules] proposes the same again, and the gate judges it with the present policy.
//  3. Members of the pool are drawn, items and unmodified tasks, at least 0.3 of them unmodified. An item weighs p(1-p)+0.01 for its latest
//     success rate p, mixed with how long it has waited (package plr; ours).
//  4. The caller's Train gets the draws, and a fresh episode of each if it wants them, and returns the next policy. No rollout that Rig
//     accepted anything on is among them. It is called also if the pool has no item; the draws are unmodified tasks then.
//  5. The new policy plays the held-out tasks, unmodified. No task of Rig is among them, which is checked by their ids. If the success rate
//     falls by more than half the width of its Wilson interval in two rounds in a row, the loop stops (ours).
//
// # Aid
//
// A start that is part of a solution makes success cheap. What was reached with such an aid is counted by itself, see [Round].Explored,
// and the held-out tasks have none.
//
// # Determinism and resuming
//
// All that is drawn follows from the seed. With [rigger.Options].Journal no rollout is paid for twice: a run that was interrupted is
// started anew, asks for the same and finds it. Train is called again and must do the same again; what it made it can keep under
// [Batch].Round. Policies are told apart by their fingerprints, and each new one needs a new one.
//
// # Cost
//
// A round takes what Rig takes, 5 rollouts for each item, one for each draw if Train wants episodes, and the held-out ones.
package coevolve
