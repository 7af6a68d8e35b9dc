// Package rigtest has what a test of a diagnosis, a designer or a gate needs: policies with one planted flaw, policies whose rate of
// success is known exactly, and components that a gate must refuse.
//
//   - [Flawed] makes policies with a flaw of package diagnosis; [Plants] says which flaws a task has room for, what to put around the
//     world so that they show, and which flaws come with them. [Clean] makes policies without any.
//   - [Patience], [Retry] and [Coin] make policies that pass at random, at a rate that can be computed: [PatienceRate], [RetryRate], and the
//     parameter itself.
//   - [Hostiles] returns components that cheat, each with the step of the gate that is meant to refuse it. Some need the environments that a
//     world opens, which [Tap] hands out.
//
// The policies know their world: they plan with its oracle on an environment of their own, once for each task, and remember it for as long
// as the maker lives. So the task must have the seed of the episode, if the world takes seeds. They know of no components, but do what a
// sensible caller does: they try again what failed for the moment, wait where they are told to, and read on where there is more. An episode
// whose first text shows the plan as partly done, as behind an [envharness.Setup], is taken up from there.
//
// Everything is deterministic: a policy is a function of world, task and the stream that it draws from. All makers are safe for concurrent
// use.
//
// # Source
//
// All of it is ours.
package rigtest
