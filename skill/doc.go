// Package skill turns finished episodes into reusable skills, reads and writes them in the Agent Skills format
// (SKILL.md), and scores them against tasks without running anything.
//
// # What it does
//
//   - [Segment] cuts a trajectory into subtasks: by given spans, by markers, or by rules.
//   - [Induce] makes one text skill of one span: a line "Procedure: a → b → c" with the values of the episode abstracted,
//     and notes on what failed. [Procedure] reads the steps again. A success of the episode is not required.
//   - [LoadFS] reads every skill of a folder tree; one bad file never hides another. [Parse] reads one file, [Marshal]
//     and [WriteDir] write.
//   - [Score] rates every skill by the paper's utility, and [ScoreMatrix] does so from similarities.
//
// With c_j the similarity of the skill's description to task j of N,
//
//	utility = specificity · abstractness
//	specificity = share of the pairs of tasks i < k with cos(i, k) <= max c
//	abstractness = exp(H(softmax(c/0.1))) / N
//
// Skills at the level of subtasks and the score are those of arXiv:2608.20274 ("Break It Down, Pass It On: Cross-Task
// Skill Transfer in LLM Agents"). The inducer, the rules of segmentation, the lexical embedder and the guards of the
// score are ours.
//
// # What a score means
//
// The score is a diagnosis of a memory, not a prediction for a task or a skill, and it depends on the embedder, whose ID
// every report carries. Nothing that the paper measured, under a semantic embedder, is claimed for [HashEmbedder]. Where
// unrelated texts look orthogonal, as they do under lexical embedders, the formula rewards skills that match nothing: on
// 190 public task texts, descriptions that are off topic by construction reach a median utility of 0.90. Read
// [SkillScore].Gated and the status of the [Summary], which compares the memory with such texts.
//
// # Cost and determinism
//
// Parsing, segmentation and induction are near linear in the text. Score takes O((M+N)·N) sparse products for M skills
// and N tasks and holds N(N-1)/2 numbers, up to 4,000 tasks; above it samples pairs. Equal arguments give equal results;
// nothing depends on the order of maps, on a clock or on the network, and no goroutine is started. Sums run in index
// order, so results are equal to the bit on one architecture and one Go version.
//
// # Trust
//
// Reading a file does not make it safe to follow: descriptions and bodies are not scanned for instructions to an agent.
// Names that could leave a folder are refused, and a file that states allowed-tools is never loaded without them.
//
// # The YAML library
//
// The frontmatter is YAML, and the most reported bugs of hand-written readers are in what YAML makes hard: block scalars,
// quoting, continuation lines. Hence the one dependency outside the standard library and this module, go.yaml.in/yaml/v3:
// the maintained successor of gopkg.in/yaml.v3, MIT and Apache-2.0, one module without requirements, go 1.16. It is
// called from parse.go and write.go only and decodes to nodes, never into Go values, so that every scalar keeps its text.
// To leave it, replace decodeYAML and encode by a reader and a writer of the few forms that vet lets through.
package skill
