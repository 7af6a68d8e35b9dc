// Package forkbench is a testbed for choosing skill documents that is executed: a choice is right when a program that may use only the
// chosen documents passes the hidden tests of the task. It follows the idea of the private fork of BigCodeBench in arXiv:2608.19993 and
// shares no text or task with it.
//
// # What is in it
//
// There are five capabilities, each a private variant of a known operation: a query language, a calendar, a template language, a checksum
// and an encoding. The private rules are drawn anew for every seed, so they can be known only from a document. A [Library] has 31
// documents: for each capability a short and a long one and two look-alikes, whose rule has the same form and other parameters; five
// handbooks of two capabilities; six documents about something else. Every document is a text; its rule is a fenced block in it.
//
// A [Task] needs two or three capabilities. Its text says in plain words what is needed, without a name of a document. A [Bench] has one
// library and tasks to learn from, and another library, in other words and with other look-alikes, and other tasks to judge by.
//
// # The executor
//
// [Library.Passes] reads the chosen documents in the given order. The first definition of an operation that it meets is in force; an
// operation without one is done by its standard rule. A block that cannot be read is no definition. A task is admitted only if it passes
// with the private rules and fails with the standard ones, with every mixture of both, and with any look-alike's rule in place of a
// private one.
//
// # Limits
//
// It is synthetic. The executor follows a rule perfectly or not at all; a language model does neither, so no success of a model is claimed.
// Nothing in a task text says which of two documents on one subject is right. What does is who issued the document, and that can be learned
// from passed and failed executions only. A rule that looks at words alone therefore has to fall for look-alikes now and then: how much it
// loses by them is shown apart, with the same tasks and a library without them. Most of what a fitted rule gains over one by words comes
// from the fit; what the search for the set adds shows against the baselines on the same fitted benefit.
//
// Everything is deterministic for a seed.
package forkbench
