// Package vector steps several episodes at once, as trainers do: n slots, each a [envharness.Harness] of its own, one action for each
// in a call of [Vector.Step], and one [Result] for each back, in the order of the slots.
//
// # Ends of episodes
//
// What a slot does when its episode has ended is its [Mode], with the names and the meaning of Gymnasium's AutoresetMode:
//
//	mode       the call that ends the episode             the call after it
//	NextStep   shows the last transition                  ignores its action, shows the new first observation, marked AutoReset
//	SameStep   shows the new first observation; the last  is the first turn of the new episode
//	           transition is in Final
//	Disabled   shows the last transition                  ErrEpisodeOver, until a Reset of the slot
//
// A call marked AutoReset carried out no action: it has no reward and belongs to no return and to no count of actions. With the
// result that ends an episode comes an [Episode], its return, its number of turns and the verdict of the sealed verifier, in which
// that call cannot be counted by mistake (Gymnasium#1451, envpool#33).
//
// # Failures
//
// An error or a panic in a slot becomes the Err of its [Result], and the others go on. A call that takes longer than
// [Options].StepTimeout has its context cancelled, and its environment closed a second later; if it has not returned after another
// second, its goroutine is left behind, and Err says so. After an Err that came from a failure the slot has no episode, and its
// environment has been closed. The next Step ignores its action and opens a fresh one, marked AutoReset, in NextStep and SameStep
// alike; with Disabled a Reset of the slot does.
//
// # Cost and determinism
//
// A call starts as many goroutines as [Options].Parallel, one if that is 1, and all have returned when it returns, but for those left
// behind. Verdicts of environments that declare themselves deterministic cost a replay of the episode; [Options].Unjudged saves it.
//
// Results depend on the world, components, actions, seeds and tasks alone, never on Parallel. A slot that is reset without a seed, by
// itself or by the caller, gets [envharness.RandStream](root, "vector/<slot>", k).Uint64() as its seed (ours), where root is the last
// seed given for the slot, or [Options].Seed, and k = 1, 2, ... counts the resets without a seed since then. So neither a failure in
// another slot nor the number of slots shifts the seeds of a slot.
package vector
