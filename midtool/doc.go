// Package midtool builds a training corpus for agentic tool use: it reads tool definitions, brings their schemas into one
// dialect, advises their authors, finds which tools feed which, checks samples and reads and writes them for a trainer.
// Its sub-packages read documents, make samples of tools and documents, and build whole corpora.
//
// # Steps
//
//  1. [ToolsJSONL] reads tools as MCP servers and model APIs list them; [Lint] says what is wrong with a definition and
//     [Repair] mends what can be mended; [Normalize] makes one dialect of JSON Schema of all.
//  2. Package native makes samples from the tools: calls first, words second, of eight families ([Family]), which teach
//     four abilities ([Ability]). Package traces takes samples from conversations that agents had.
//  3. A [Checker] finds what is wrong with a sample ([Validate] lists the rules), where each argument of each call comes
//     from ([Evidence]), and whether the sample is of the family it is said to be. It trusts nothing that the sample
//     says about itself.
//  4. [Summary] counts what a corpus consists of, and how often its texts repeat themselves.
//  5. [WriteMessages] writes the samples as JSON Lines in the OpenAI form and [ReadMessages] reads them back.
//
// Package simulate answers calls without a network; package bfcl scores calls against the gold answers of a benchmark.
//
// # A whole corpus
//
// Package build does all of this and what follows, in parts that a stopped run takes up again; each step is a package that
// can be used alone:
//
//   - document reads Markdown, HTML, source code, notebooks and web text; skillsource reads folders of skills. The
//     modules openapisource, mcpsource and pdfsource read OpenAPI documents and live MCP servers as tools, and PDF files.
//   - quality says which documents are fit to be learned from, by rules for each kind.
//   - grounded makes questions, answers and conversations of what a document says about the use of tools.
//   - dedup finds texts that repeat one another, decontaminate those that hold the items of benchmarks.
//   - mix chooses by shares of a budget of tokens; format writes the result in nine forms, and the module parquetsink in one more.
//
// # Source
//
// The pipeline follows MidTool (arXiv:2608.20314), which describes two branches of synthetic supervision beside raw
// text, with static checks of turn order, schema grounding, required arguments and tool responses: native, from tools
// alone, and grounded in documents. The paper does not disclose its thresholds, prompts, planner rules or serialization: all numbers, templates
// and tables here are ours, and so are most families. No gain on a benchmark is claimed; "grounded" names a class of
// evidence, not truth; [ApproxTokens] is an estimate and no tokenizer; the license filter repeats what a record says
// and is no legal finding. Template text is less varied than what people or models write.
//
// # Assumptions, cost, determinism
//
// Everything runs without a model and without a network. Nothing is dropped without a [Rejection]. Reading, checking
// and writing take time linear in their input; a sample of one call is checked in some ten microseconds
// (BenchmarkCheck), most of it for its texts. Nothing depends on the clock or the order of maps: equal input gives equal output.
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
