// Package plr keeps tasks that were played and draws the ones to play again: those that teach most, and now and then those that have
// waited longest.
//
// # Source
//
// Prioritized Level Replay (arXiv:2010.03934, section 3). With n items of score S, rank 1 for the largest, the clock c of all draws and
// C the clock at which an item was drawn last, the probability of an item is
//
//	P = (1-rho) h(S)^(1/beta) / sum h(S)^(1/beta) + rho (c-C) / sum (c-C)
//
// where h is 1/rank, or the score itself. What the score is the caller decides; in the paper it is an estimate of what is left to learn.
//
// Removal, capacity, ties and the case in which all items were drawn just now are ours.
//
// # Cost
//
// A draw takes n log n steps for n items, anything else n at most.
//
// # Determinism
//
// There is no randomness but that of the generator given to [Buffer.Draw]. Equal calls in equal order give equal answers.
package plr
