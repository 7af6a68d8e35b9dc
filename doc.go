// Package throughline is the root of a library for the pipeline around an agent: the data that teaches it tools, the skills it carries,
// the environment it practises in and the credit it learns from. The root holds no code; each stage is a package that can be used,
// measured and replaced on its own.
//
// # The five packages
//
//   - midtool turns tool definitions, documents and recorded conversations into training samples whose calls are grounded in what was
//     said, shown and answered before them, checks samples, and builds clean, mixed corpora (arXiv:2608.20314).
//   - skill reads and writes skills as SKILL.md documents, induces them from finished episodes, keeps them in a memory and scores it
//     without running anything (arXiv:2608.20274).
//   - bps selects the set of skills or tools that is worth its place in the context window under a hard token budget, with a guarantee
//     under stated assumptions (arXiv:2608.19993).
//   - envharness wraps an environment in components that change what an agent meets while the verifier of the environment stays the
//     judge of success (arXiv:2608.19880).
//   - rl turns recorded episodes into advantages, losses and gradients, and trains with them (arXiv:2608.19842, arXiv:2608.19803 and
//     the methods they are compared with).
//
// Each package documentation says which part of its paper is there, where it differs, and under which assumptions a guarantee holds.
// Numbers reported in a paper are the paper's; nothing here claims to reproduce them.
//
// # How they compose
//
// Tools of an environment become a corpus. Episodes played there become skills. For each task a set of skills is selected under the
// budget of the context window. The wrapped environment yields rollouts, the rollouts become credit, and credit trains the policy,
// whose episodes become skills again. What flows between the stages is plain data: slices, small structs and interfaces of one
// to three methods.
//
// The five packages never import one another, so that a program pays for what it uses. A bridge is a sub-package named for what it
// joins, such as rl/rollout, which turns episodes of envharness into trajectories of rl. The module in the examples folder runs the
// whole pipeline on a small world.
//
// # Conventions
//
// Nothing here reads the clock, the network, the environment variables or global state unless its documentation says so, and no
// goroutine outlives the call that started it. Randomness comes from a generator or seed of the caller: the same seed gives the same
// bytes on one architecture and Go version, whatever the number of workers. Language models are optional everywhere. Bad data is an
// error that names the item, the value and the rule, never a panic.
package throughline
