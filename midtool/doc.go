// Package midtool builds a training corpus for agentic tool use from tool definitions: it reads tools, brings their
// schemas into one dialect, makes grounded samples of single calls, checks them and writes them for a trainer.
//
// # Steps
//
// [ToolsJSONL] reads tools from MCP tools/list results, OpenAI functions or one line per server. [Generate] normalizes
// each tool ([Normalize]), makes a call that follows its schema, puts the call into the words of a user, offers the
// tool among others, simulates the answer and keeps what [Validate] finds sound. [WriteMessages] writes the samples
// as JSON Lines in the OpenAI form and [ReadMessages] reads them back.
//
// Calls first, words second: the arguments are chosen before the request is written, and each is realized in it once.
// So the request supports the call by construction, and the class of its support is recorded for every scalar
// ([Evidence]).
//
// # Source
//
// The pipeline follows MidTool (arXiv:2608.20314), which describes two branches of synthetic supervision beside raw
// text, with static checks of turn order, schema grounding, required arguments and tool responses. This is a part of
// its native branch. The paper does not disclose its thresholds, prompts, planner rules or serialization: all
// numbers, templates and tables here are ours. No gain on a benchmark is claimed; "grounded" names a class of
// evidence, not truth; [ApproxTokens] is an estimate and no tokenizer; the license filter repeats what a record says
// and is no legal finding. Template text is less varied than what people or models write.
//
// # Assumptions, cost, determinism
//
// Everything runs without a model and without a network. Nothing is dropped without a [Rejection]. Reading,
// generating and writing take time linear in their input; a corpus is held in memory. A sample costs a fraction of a
// millisecond, most of it for checking it and for the tools offered beside the called one.
//
// Every random choice is a hash of the seed, the tool's ID and the number of the choice, never a shared generator:
// the same tools, options and seed give the same bytes in any order of the tools, and another tool in the set changes
// what is offered beside a call, seldom the call or its wording.
//
// # JSON Schema
//
// Schemas come from strangers, so the package has a validator of its own instead of a dependency. It knows the
// keywords that real tools use (see [Validate] and the list at its source), bounds recursive and exponential schemas,
// compares numbers without rounding, and says where in the arguments a fault lies. github.com/google/jsonschema-go
// v0.4.3 was tried and is not used: a reference that leads back to itself ends the whole process with a stack
// overflow, the numbers of a schema are rounded to float64, keywords match without regard to case, and only the
// first fault is reported, by its place in the schema.
package midtool
