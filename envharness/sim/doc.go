// Package sim makes complete environments of small simulations. Who writes one gives an [Episode], a plain state machine of a few methods;
// the [Env] around it counts turns, refuses what comes at the wrong time, remembers, goes back, replays and judges, as the conformance
// rules of package envtest ask for.
//
//	world := (&sim.Simulation{Description: description, Start: start, Tasks: tasks}).World()
//
// # Assumption
//
// An episode is a function of its task and the actions: no clock, no seed, no map order. Whatever is drawn is drawn from a generator that
// the task's id seeds, see [envharness.RandStream], so that a task that is named is always the same one and two splits that share no id
// share no episode. A seed at Reset changes nothing.
//
// So a snapshot needs no more than the task, what was set at its start and the actions, which are carried out again: anything that comes
// of it is a state that the simulation itself leads to. It costs as much as the actions did. The verifier replays the log in the same way,
// compares the end with the recorded one, and asks the episode it arrived at.
//
// # Cost
//
// Of its own an Env allocates nothing in a step but the memory for the log, which grows by doubling and serves one episode after the other,
// and spends less than 100 ns. A verifier that replays does not ask for what would be shown; nor does a snapshot, but for the texts of a
// [Narrator], which may be told again. A snapshot has about 50 bytes and the arguments for each action.
//
// All of this is ours; EnvHarness (arXiv:2608.19880) asks for environments with deterministic resets.
package sim
