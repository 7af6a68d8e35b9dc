// Package simulate answers calls of tools that cannot or must not be run, from what the tools say about themselves.
//
// # The two simulators
//
// [Schema] draws each answer from the result schema of the tool and remembers nothing: equal calls of a tool get equal
// answers, whatever comes between them. [World] gives every session tables of records that calls create, read, update
// and delete: the answer depends on the calls before it, and equal calls need not get equal answers. Both are a
// [midtool.Executor] and need neither a model nor a network. Their zero values have the seed 0.
//
// # Failures
//
// A call that fails changes nothing. Its result has IsError and the form {"error": {"type": ..., "message": ...}}:
//
//   - bad_argument: the arguments break the parameters, or lead to a result that breaks the result schema. The message
//     names the argument and the rule in the words of JSON Schema: "city: is required", "limit: want integer, got string".
//   - not_found: no record has the identifier.
//   - conflict: the identifier to create under was used before or there is none left, or the records that the call asks
//     for do not fit into the result schema.
//
// # Values that exist
//
// Arguments drawn at random name nothing that exists. A session that is a [Knower] says which values do, so that a
// caller can use them; those of a World are.
//
// # Source
//
// All rules are ours; MidTool (arXiv:2608.20314) does not say how calls were answered. What is simulated follows the
// schemas and the names of the tools and nothing else: it says nothing about what a real tool would have answered. A
// schema that cannot be read counts as none. Whether the samples made with it are sound is for [midtool.Checker].
//
// # Cost
//
// What is derived from a tool, and from the tools that speak of one noun, is kept for later sessions, up to 32,768 of
// them or 16 MiB of definitions each; then it is derived anew. Opening a session costs next to nothing: tables are made
// when they are first asked for. A call takes time linear in the records of its table, some microseconds for the few that
// there usually are; see BenchmarkWorld.
//
// # Determinism
//
// Every random choice is a hash of the seed and of what it is made for. The same seed, session identifier, tools in any
// order and calls give the same answers, whatever other sessions do at the same time.
//
// The examples of [NewSchema] and [NewWorld] show both at work.
package simulate
