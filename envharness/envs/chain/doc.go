// Package chain has five experiments of bsuite (Osband et al. 2020, arXiv:1908.03568) as text worlds: two on the assignment of credit
// under noise, one on discounting, one on memory and one on exploration. Each has a short sweep of ours as well, under a name of its own.
//
// # Experiments
//
// Dynamics, rewards, sweeps and scores follow bsuite's specification, not its random numbers, and bsuite's observations are told in
// words, so that no score is to be compared with one of its tables.
//
//   - umbrella_length, umbrella_distract: need and has are fair bits. The first action sets has; others do nothing. Each step but the
//     last pays +1 or -1 by a fair coin; the last pays +1 if has is need, else -1. Each text shows need, has, the steps left of N and
//     fair bits, new at each step, that mean nothing: 20 of them, and N is swept; or N is 20 and their number is swept.
//   - discounting_chain: the first of 100 actions chooses one of 5 chains. They pay once, on step 1, 3, 10, 30 or 100: one of them 1.1,
//     which is chain n mod 5 in setting n, the others 1.
//   - memory_len: a fair bit is shown before and after the first action only, as in bsuite. With length N the action N+1, the last,
//     pays +1 if it is the bit, else -1; the others pay 0.
//   - deep_sea: on a square of N rows and columns each action goes down a row, and a column to the left or to the right. Which of the
//     two actions goes right is drawn for each place, once for each N. Going right costs 0.01/N; going right in the last column of the
//     last row pays 1.
//
// The short ones ([Experiment.Short]) have episodes of at most 12 turns: umbrella_length_short has lengths 1 to 10 and 10 bits,
// umbrella_distract_short length 10 and up to 17 bits, discounting_chain_short 10 steps that pay on 1, 2, 4, 6 or 10, memory_len_short
// lengths 1 to 9, deep_sea_short sizes 4 to 10.
//
// # Tasks
//
// An id is "n-k", the swept number and the episode: the same k is the same episode always, and a seed at Reset changes nothing.
// [Experiment.Settings] lists what is swept. A run of bsuite is the episodes from 0 to Episodes-1 of each setting, 10,000 of them or
// 1,000 in discounting_chain and in short sweeps. Of the settings that count as in distribution these are the split train, and further
// ones are validation and test (100 each a setting, 20 in a short sweep). All episodes of the others are ood: N above 20 in umbrella_length
// and memory_len, more than 20 bits in umbrella_distract, N above 30 in deep_sea, n mod 5 = 4 (the bonus on the last step) in
// discounting_chain; in the short sweeps lengths above 6, more than 8 bits, N above 7 in deep_sea_short.
//
// The splits share no id. In discounting_chain and deep_sea the episodes of a setting are all alike, as they are in bsuite, where each
// setting has a learner of its own and what it meets in the episodes is to be learnt by trying. As one policy may here play all
// settings, the text tells which one it is, by a letter for the map or by the size. So validation and test ask there whether a policy
// still knows what it tried, and ood, of which it knows nothing, it can pass by chance only; but in discounting_chain the bonus of
// all ood settings is on the last chain, so that a policy which always takes that one passes them.
//
// # Calls
//
// The one tool is act{action}, with an integer from 0: two actions, in discounting_chain five. All are admissible in each turn. Other
// calls are refused, which takes a turn but no step of the chain; an episode is truncated two turns after as many as the chain has steps.
// Text tells the task and what bsuite's observation holds, so that a text is enough to act on, but for the bit that memory_len hides;
// Data["task"] is the task alone. Behind an [envharness.Setup] the first text of memory_len has that of the start, with the bit, and what
// was done since ([sim.Narrator]).
//
// # Verdict
//
// An episode passes if it came to its end and was the best possible: has is need, the chain with the bonus was chosen, the bit was
// told, the last place of the sea was reached. By chance that is 0.5, 0.2, 0.5 and 2^-N; the description declares that of the easiest
// setting. Rewards are bsuite's, noise included. [Experiment.Score] has bsuite's scores.
//
// # Cost
//
// A step takes one allocation, for its text.
package chain
