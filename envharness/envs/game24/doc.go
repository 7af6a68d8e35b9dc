// Package game24 is the game of 24 as a small world: four numbers from 1 to 13 are to be combined into 24, each used
// once, with three tools and exact arithmetic.
//
// # Tasks
//
// A task is a hand, and its id is the numbers in ascending order, such as "3,3,8,8". There are 1,820 hands, of which
// 1,362 have a solution. Every hand can be played; the splits list the solvable ones, in ascending order:
//
//   - ood: 796 hands with a number above 10
//   - validation, test, train: 66, 64 and 436 hands without one, where the FNV-1a hash (64 bits) of the id modulo 10 is
//     0, 1 or more
//
// # Calls
//
//   - combine{i,j,op} takes the numbers at the positions i and j, from 0, out of the list and appends their sum, difference,
//     product or quotient, for op add, sub, mul or div
//   - restart{} brings the numbers of the hand back
//   - stop{} ends the episode
//
// Every observation lists all calls that would be carried out. Any other is refused: it changes nothing and uses up a
// turn. The classes are unknown_tool, bad_args (no JSON object, a missing or unknown argument, no such position, the same
// position twice, no such op) and precondition (division by zero).
//
// The text is "target=24, numbers=[1, 8/3]"; the same numbers stand as strings in Data["numbers"], and what
// was done so far in Data["history"], as "3 div 8 = 3/8" or "restart".
//
// # Verdict
//
// An episode passes if it was stopped with one number left and that number is 24. The verifier replays the logged calls;
// the log must lead to the recorded end state, else the verdict is an error. The reward is 1 on the stop that passes and
// 0 otherwise. After [MaxTurns] turns without a stop the episode is truncated.
//
// World, tools and texts follow the toy-24 environment of EnvHarness (arXiv:2608.19880); its code accepts a stop with 24
// among several numbers, see [Options], and calls restart "reset". Arithmetic, tasks and solver are ours.
//
// The environment is a [sim.Env]: it has snapshots, in which nothing can be set, as other numbers would be another task, and plans, the
// fewest calls that pass. There is no vocabulary: fractions have thousands of numerators.
//
// # Exactness
//
// A number in play is a fraction over at most four of the numbers of the hand, each used once, so before it is reduced neither
// numerator nor denominator exceeds 2*2*2*13*13*13*13 = 228,488: 64-bit integers cannot overflow, and nothing is rounded.
package game24
