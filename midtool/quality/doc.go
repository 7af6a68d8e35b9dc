// Package quality says which documents are fit for a corpus: rules with thresholds by kind of document.
//
// A [Rule] keeps a document while one [Measure] of its text lies within bounds. [Rules] has those of each kind, in the order
// in which they are checked; the first one that a document breaks is the reason why it is left out. [Check] finds it, [Values]
// gives all figures of a text. The table is a start: a caller copies it, changes bounds, takes rules out or adds some.
//
// # Where the rules come from
//
// Most measures are those of the Gopher rules (arXiv:2112.11446, appendix A.1.1), as the filters of FineWeb (arXiv:2406.17557)
// apply them; the bounds on lines, letters, digits and comments of code are of the kind that StarCoder (arXiv:2305.06161)
// used. Which of them apply to which kind, and the values for manuals, code and Markdown, are ours: MidTool (arXiv:2608.20314)
// names no thresholds. Rules that tell prose from code or lists, such as "a line ends in punctuation" or "no braces", are not
// here: they reject the pages about programming interfaces that such a corpus is made for.
//
// # Terms
//
//   - Characters are code points; a byte that is not UTF-8 counts as one U+FFFD.
//   - A word is a maximal run of letters and digits, with the marks that follow them. Its characters are the letters and digits.
//   - Lines end at "\n". Only those that hold more than white space count.
//   - A ratio whose denominator is 0 is 0.
//
// # Cost
//
// Each measure is linear in the text. Measures are taken when a rule asks for them, so that a text that breaks an early rule
// costs one pass over it. Repeated lines and n-grams are told apart by 64-bit hashes alone; two texts that share a hash, with a
// chance of about n²/2^65 for n of them, count as equal. A [Checker] keeps its memory from one document to the next: about 50
// bytes for each different run of words, and afterward no more than a few megabytes.
//
// The same text has the same figures everywhere; nothing is drawn at random.
package quality
