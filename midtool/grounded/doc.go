// Package grounded makes training samples out of documents: questions that a document answers in its own words, and
// conversations in which the tools that it documents are called.
//
// # Steps
//
//  1. [Read] profiles a document. It counts, by rules, what the document shows about the use of tools: n different endpoints,
//     commands, signatures, parameters, steps, values and errors. With a weight w and a cap c for each of these features
//     the score is 10,000 (1 - prod(1 - w min(1, n/c))).
//  2. [Plan] sets a budget of tokens by the score and the length of the document and buys items with it: at most one
//     conversation of several turns, up to two of one turn, and questions of six kinds.
//  3. A [Generator] writes the items. What a sample must do is fixed first, as a [midtool.Plan]: the calls with their
//     arguments, or the pieces of the answer, each of which is a range of bytes of the document or a call made of its words.
//     The words around follow from tables, or from a teacher, and each sample passes a [midtool.Checker] with its proofs.
//
// # Source
//
// MidTool (arXiv:2608.20314), its context-grounded branch: it scores documents, keeps the text alone of those below a
// threshold, and plans the rest by rules with a budget and one multi-turn chain a document at most. There a model does the
// scoring and the writing; features, weights, thresholds, costs, kinds of questions and all tables here are ours.
//
// # Assumptions and guarantees
//
// English text in Markdown, or source code. The rules look at form: what reads like a signature is one. An answer is grounded,
// which means that the document says it, and not that it is true. The samples of a document never cost more than its budget,
// all of them have its ID in [midtool.Sample] Document, and nothing that was bought is left out without a
// [midtool.Rejection].
//
// # Cost, determinism
//
// Reading is linear in the text (BenchmarkRead), and a sample costs some tenths of a millisecond, however long the document
// is. Every choice is drawn from seed, document and item: the same document, options and seed give the same samples, whatever
// was made before and by how many goroutines.
package grounded
