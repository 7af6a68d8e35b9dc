// Package skill turns finished episodes into reusable skills, reads and writes them in the Agent Skills format
// (SKILL.md), and scores them against tasks without running anything.
//
// # What it does
//
//   - [ReadTrajectories] reads finished episodes from JSON Lines.
//   - [Segment] cuts a trajectory into subtasks: by given spans, by a language model, by markers, or by rules.
//   - [Induce] makes one skill of one span, as text (a line "Procedure: a → b → c" with the values of the episode
//     abstracted, and notes on what failed) or as code (one function), by rules or by a language model whose reply is
//     checked. [InduceAll] does both for a trajectory, [Contrast] learns from a success and a failure of one task. A success
//     of the episode is not required, as in the paper; a gate can require it.
//   - [Document.ParseRecord] says where a skill comes from: it is kept in the metadata of its file.
//   - [LoadFS] reads every skill of a folder tree; one bad file never hides another. [Parse] reads one file, [Marshal]
//     and [WriteDir] write.
//   - [Score] rates every skill by the paper's utility, with guards beside it, and all of them together as a memory;
//     [ScoreMatrix] does so from similarities.
//   - [Render] writes skills as they are shown to a model, [NewCatalog] a list of names and descriptions under a budget.
//
// With c_j the similarity of the skill's description to task j of N,
//
//	utility = specificity · abstractness
//	specificity = share of the pairs of tasks i < k with cos(i, k) <= max c
//	abstractness = exp(H(softmax(c/0.1))) / N
//
// Skills at the level of subtasks and the score are those of arXiv:2608.20274 ("Break It Down, Pass It On: Cross-Task
// Skill Transfer in LLM Agents"). The inducer by rules, the rules of segmentation, the lexical embedder, the guards of the
// score and the score of the memory are ours.
//
// Sub-packages: memory keeps skills, merges those that are alike and finds those that fit; loop is the agent that works
// subtask by subtask and learns; budget chooses skills under a token budget with package bps; analysis relates scores to
// outcomes; embed has further embedders and a cache; scan looks for text that tries to steer an agent.
//
// # What a score means
//
// The score is a diagnosis of a memory, not a prediction for a task or a skill, and it depends on the embedder, whose ID
// every report carries. Nothing that the paper measured, under a semantic embedder, is claimed for [HashEmbedder]. Where
// unrelated texts look orthogonal, as they do under lexical embedders, the formula rewards skills that match nothing: on
// 190 public task texts, descriptions that are off topic by construction reach a median utility of 0.90. Read
// [SkillScore].Gated and [Report].Memory first; the status of the [Summary] says whether utilities tell the skills from
// such texts. Averages over skills do not compare memories of another granularity either: the texts of 18 public
// demonstrations have a median utility of 0.45 as wholes and of 0.22 cut in 73 pieces, while Report.Memory says 0.21 and
// 0.34.
//
// # Cost and determinism
//
// Parsing, segmentation and induction by rules are near linear in the text. Score multiplies the common entries of vectors
// and holds the vectors: 1,000 skills and 1,000 tasks take 0.1 s and 15 MB on one core with HashEmbedder
// (GOMAXPROCS=1 go test -bench Score). Above 4,000 tasks it samples their pairs. Equal arguments give equal results; nothing
// depends on the order of maps, on a clock or on the network, and no goroutine is started. Sums run in index order, so
// results are equal to the bit on one architecture and one Go version.
//
// # Trust
//
// LoadFS scans every field of a skill and the names of the files beside it ([Document.Scan]): one with a finding of severity
// scan.High is quarantined. Induce scans an episode before it looks at it, and looks for its values in the skill. Parse,
// Render and NewCatalog do not scan. A scan is a filter, no proof that a text is safe to follow. Code is never run here.
// Names that could leave a folder are refused, links are not followed, nothing but regular files is opened, and a file that
// states allowed-tools as a key is never loaded without them.
//
// # The YAML library
//
// The frontmatter is YAML, and the most reported bugs of hand-written readers are in what YAML makes hard: block scalars,
// quoting, continuation lines. Hence the one dependency outside the standard library and this module, go.yaml.in/yaml/v3:
// the maintained successor of gopkg.in/yaml.v3, MIT and Apache-2.0, one module without requirements, go 1.16. It
// decodes to nodes, never into Go values, so that every scalar keeps its text. To leave it, replace decodeYAML and encode by a
// reader and a writer of the few forms that vet lets through.
package skill
