// Command corpus builds a training corpus for agentic tool use out of documents and tools, in a folder in which it goes on where it
// stopped.
//
//	go run ./examples/corpus -out DIR [-tools FILE.jsonl] [-openapi FILE|DIR] [-skills DIR] [-docs DIR] [-code DIR] [-web FILE.jsonl]
//		[-benchmarks FILE,FILE] [-budget N] [-format plain,openai,parquet] [-license ID] [-own] [-seed N] [-workers N]
//		[-rank N -world N] [-redo] [-json]
//
// Documents are filtered, get questions, answers and conversations that are grounded in them, and are compared with one another and with
// the benchmarks; tools get conversations of their own. Then -budget tokens are chosen by the shares of MidTool (arXiv:2608.20314): web,
// Markdown and skills 42 %, code 26 %, PDF 23 %, conversations about tools 9 %. Without any input it builds from a small service desk
// that it brings along.
//
// Nothing of an unknown license is taken: -license names that of files which state none, -own says that they are yours. What is left
// out, and why, is in report.md and report.json in the folder.
//
// Interrupt it, or let it be killed, and run the same command again: it loses the work on the parts at hand. Of -world processes on
// one folder, each takes a share of the parts by its -rank; those that come before the others are done say so with exit code 3, and are run
// again. The same inputs, flags and seed give the same bytes, whatever -workers and -world are.
//
// Exit codes: 0 done, 1 failed, 2 bad flags or input, 3 other ranks are not done, 130 interrupted.
package main
