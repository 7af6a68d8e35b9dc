// Package decontaminate finds the items of benchmarks in a corpus, so that what was trained on them is not measured by them.
//
// # Method
//
// An item is one message of a user, or one function. [Normalize] turns texts into words: lower case, each number is 0, and whatever is
// no letter and no digit separates. Then
//
//   - [ShortItem]: an item of less than 13 words is found where a whole message of a user reads the same, and one of at least 5 words also
//     inside such a message.
//   - [NGram]: every run of 8 words of an item is looked for in all texts. Left out are runs in which half of the words are 0, and those
//     that more than 5 items of one benchmark share (for that benchmark). Runs that more than 10 records of a source hold, and more
//     than 0.1 % of them, are no sign of a benchmark either: [Tally] ignores them there, and says so.
//   - [SameTool]: a function is found where a tool has its name (in lower case, with "_" for ".", "-" and blank) and the same
//     names of parameters; without parameters the descriptions must read the same, too.
//
// Items of one benchmark that read the same are one item, that which comes first. Neither rule joins what stands in different
// messages or texts.
//
// # Use
//
// The question whether a run of words is common needs all of the corpus, so there are two steps: [Index.Scan] looks at each record, in
// any order and by any number of goroutines; [Tally.Add] gets all records with their matches in order, and [Tally.Report] says what
// counts. Both steps can be apart, with the matches in a file between them, as long as the index is made of the same benchmarks and
// options.
//
// # Source
//
// MidTool (arXiv:2608.20314) scans for runs of words, without more details. Runs of 13 words, which many use since GPT-3
// (arXiv:2005.14165), cannot see the third of the questions in the Berkeley leaderboard that have fewer: hence 8 words, and a rule
// of its own for short items. The rules for numbers, common runs and functions are ours.
//
// # Assumptions and guarantees
//
// A record without a hit has no item that these rules find in these files, no more: a translated or rephrased question is not found,
// and any two numbers are the same. Words are compared at each hit, so equal hashes of different words are none. A further
// benchmark never takes a hit away. Characters are compared as they are written: texts are best brought to one Unicode
// normalization form before, and combining marks separate words. Where a script has no blanks, all up to the next mark of punctuation is
// one word: of a question in Chinese or Thai hardly more is found than a message that reads the same. What is in more records than a
// common run may be in is taken for common: copies are best removed before.
//
// # Cost
//
// An index takes some 30 bytes for each run of words, and the normalized text; the questions and functions of the Berkeley leaderboard
// have 85,000 runs. Measured on one core of a server, for items of 20 words in a vocabulary of 20,000: 100,000 items took 0.4 seconds of
// processor time and give an index of 42 MB; a million items took 6 seconds, up to 1.3 GB beside the items, and give one of 415 MB.
//
// A scan reads a text once, however many items there are, but the larger the index the less of it is in the processor's caches: a
// text was read at 130 MB a second with 100,000 items, and at 40 MB with a million, and so was a message with as many short items. It
// allocates only for matches. A tally holds the matches, and some bytes for each source and each run of words that was found there.
//
// # Determinism
//
// There is no random choice: the same benchmarks, options and records give the same report. Its hits are in the order of the records.
package decontaminate
