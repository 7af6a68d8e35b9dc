// Package envharness wraps a fixed, resettable environment in components that change what an agent meets, while the environment's
// own verifier stays the only source of success.
//
// An [Environment] is anything with Reset, Step and Close. A [World] joins a maker of environments with the [Verifier] that judges
// them. [New] puts components around the environments of a world; the resulting [Harness] is an Environment again. [Rollouts] lets
// policies play and returns a [Trace] of each episode.
//
// # Components
//
// In the terms of EnvHarness (arXiv:2608.19880) an environment is E = (S, A, O, T, R, s0) and a component is a map w with E' = w(E)
// that works on the interface alone:
//
//   - [Setup] (the paper's Stage) replays actions a1..ak before the first turn: s0' = T(..T(s0, a1).., ak).
//   - [Rules] (Contract) edits actions on their way in and results on their way out; R and s0 stay.
//   - A budget truncates an episode.
//
// A stack lists components from inside to outside, in the order start, rules, budgets; the order matters, and among rules it is the
// caller's. Package components holds ready-made ones.
//
// A step goes like this: the action passes the Action hooks from the outermost to the innermost; the first that blocks, answers or
// ends stops it, otherwise the base is stepped; the result passes Transition and then Observe of each component from the
// innermost out; then the limits on turns are evaluated. Every turn counts, also one in which the base was not stepped. The turn that
// ends an episode shows the result as it was before the components.
//
// # The seal
//
// The [Evidence] for the verifier is the log of the calls that reached the base, with raw results, and the base's state: nothing that
// was only shown to the policy. Hooks and policies get copies. A component can truncate an episode, but there is no hook for the
// reward, for Terminated or for the verdict. The paper's reference code differs here: its hooks hold the state itself. The seal is
// against components and policies, not against an environment or a verifier that is wrong.
//
// An infrastructure failure (an error or panic of environment, component, verifier or of the service behind a policy) makes an episode
// [Invalid], never failed, and [SuccessRate] leaves it out.
//
// # Cost and determinism
//
// A stack whose components have no hooks adds no allocation to a step whose observations are plain text; other content is copied
// into the log, for the caller, and for every hook that sees it. The base's state is read at the start, at the end and when a hook
// asks. An episode is a function of world, components, task, seed and policy; with a deterministic environment its trace has the same
// bytes every time, whatever the number of workers. Each component draws from its own [RandStream].
//
// Contexts are passed on but nothing is interrupted by force: an environment, hook or policy that ignores its context can hang the caller.
package envharness
