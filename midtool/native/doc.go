// Package native makes training samples for tool use from tool definitions: the native branch of a mid-training
// corpus.
//
// # Steps
//
//  1. Tools are normalized, sorted by group and checked for their license; a group of poor definitions is left out.
//  2. Each group gets a budget of samples by its quality, its number of tools and its parameters, shared out over
//     eight families: single, parallel, sequential, multi_turn, missing_info, missing_function, irrelevance and
//     recovery (the constants of type [midtool.Family]).
//  3. For each sample the tools are offered among others, the arguments are made from the schemas, and the calls are
//     executed: in a small world of records ([simulate.World]) unless the caller has a [midtool.Executor].
//  4. The words follow the calls: requests, questions, refusals and answers from a grammar of templates. A language
//     model can write them instead ([Options] Teacher).
//  5. A [midtool.Checker] looks at every sample: turn order, schemas, the answers by executing the calls again, the
//     evidence of each argument, and the proof that the sample is of its family. What fails is begun anew and at last
//     dropped with a reason.
//
// # Source
//
// MidTool (arXiv:2608.20314) describes the branch: supervision from tool schemas with budgets by quality, size and
// argument structure, in three families (single, multi or parallel calls, clarification of missing information), with
// static checks. Its thresholds, prompts and shares are not disclosed: all numbers, templates and tables here are ours,
// and so are the families beyond those three. Template text is less varied than what people or models write;
// [midtool.Summary] says how much.
//
// # Determinism and cost
//
// Every random choice is a hash of the seed, the family, the group and the number of the sample, never a shared
// generator: the same tools, options and seed give the same bytes for any order of the tools and any number of
// workers. Time is linear in the number of samples: with two workers on two cores some 20,000 a second of the small tools of
// BenchmarkGenerate at 1,000, 10,000 and 100,000 samples, and 13,000 to 17,000 of 3,404 tools of MCP servers, once these are
// prepared in a third of a second (go run ./examples/evidence/midtool). A fifth of that is the garbage collector's.
package native
