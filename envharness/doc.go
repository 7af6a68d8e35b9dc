// Package envharness wraps a fixed, resettable environment in components that change what an agent meets, while the environment's
// own verifier stays the only source of success.
//
// An [Environment] is anything with Reset, Step and Close. A [World] joins a maker of environments with the [Verifier] that judges
// them. [New] puts components around the environments of a world; the resulting [Harness] is an Environment again. [Rollouts] and
// [Stream] let policies play and return a [Trace] of each episode.
//
// # Components
//
// In the terms of EnvHarness (arXiv:2608.19880) an environment is E = (S, A, O, T, R, s0) and a component is a map w with E' = w(E)
// that works on the interface alone:
//
//   - [Setup] (the paper's Stage) replays actions a1..ak before the first turn: s0' = T(..T(s0, a1).., ak).
//   - [Rules] (Contract) edits actions on their way in and results on their way out; R and s0 stay.
//   - [Link] (Chain) plays several worlds one after the other; success is the conjunction R1 and R2.
//   - A budget truncates an episode.
//
// A stack lists components from inside to outside, in the order start, rules, budgets; the order matters, and among rules it is the
// caller's. [Canonical] sorts one. A chain is a world of its own: components may be around each leg and around the whole. Package
// components has a catalogue of ready-made ones, and reads and writes stacks as files.
//
// A step goes like this: the action passes the Action hooks from the outermost to the innermost; the first that blocks, answers or
// ends stops it, otherwise the base is stepped; the result passes Result, Transition and then Observe of each component from the
// innermost out; then the limits on turns are evaluated. Every turn counts, also one in which the base was not stepped. The turn that
// ends an episode shows the result as it was before the components.
//
// # The seal
//
// The [Evidence] for the verifier is the log of the calls that reached the base, with raw results, and the base's state: nothing that
// was only shown to the policy. Hooks and policies get copies. A component can truncate an episode, but there is no hook for the
// reward, for Terminated or for the verdict. The paper's reference code differs here: its hooks hold the state itself.
//
// An environment that declares itself deterministic is not taken at its word: the log is carried out on a fresh one, which must give the
// same results, states and verdict, else the episode is [Invalid] with [ErrTamper]. So an environment that drops its seed, shares state
// with another or hands out buffers that it writes to again is found out, and not blamed on the policy. The seal is against components,
// policies and environments that are not what they say, not against a verifier that is wrong.
//
// An infrastructure failure (an error of environment, component or verifier, a panic or a hang of any foreign code, or an [ErrInfra] of
// the policy) makes an episode [Invalid], never failed; [SuccessRate] leaves it out, and gives no rate if too few are left. [Rollouts]
// plays it again first, but not where a replay differed. Any other error of a policy is its own failure.
//
// The components, their order, the black-box policy and the verifier that stays are the paper's. The replay, [Invalid] apart from [Fail],
// reruns and deadlines, budgets that count every turn, the seeds of legs and of streams, and chains of more than two are ours.
//
// Package envtest checks environments, components, verifiers and vector runners for all that this package expects of them. Package sim makes
// complete environments of small simulations. Below envs are worlds made so: household, shop, tooldesk, keydoor, chain and game24. Package
// vector plays many episodes in step.
//
// # Connections
//
// Package stdio joins environments in any language by lines of JSON, and package budget has bps choose the tools and skills that a policy
// is offered. The modules mcpenv, openai and openenv, which need other modules, make an environment of an MCP server, a policy of a model
// behind an endpoint, and serve and drive environments over the wire of OpenEnv.
//
// # Cost and determinism
//
// A stack whose components have no hooks adds no allocation to a step whose observations are plain text, and a few nanoseconds a
// component; other content is copied once into the log, once for the caller, and for every hook that sees it. The base's state is read at
// the start, at the end and when a hook asks. A replay costs one more Reset, the same Steps, and one more verdict.
//
// An episode is a function of world, components, task, seed and policy; with a deterministic environment its trace has the
// same bytes every time, whatever the number of workers. Each component draws from its own [RandStream].
//
// A [Harness] passes contexts on and interrupts nothing by force. [Rollouts] and [Stream] do: they read the clock to bound each call of
// foreign code, as their options say, and give up an episode that hangs.
package envharness
