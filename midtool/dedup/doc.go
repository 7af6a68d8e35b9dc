// Package dedup finds texts that repeat one another, word for word or nearly so, among more of them than fit in memory.
//
// # Steps
//
//  1. Records with equal Exact are exact copies: the one with the smallest ID is left.
//  2. A text is lower-cased, all but letters and digits become blanks, and each run of five words is a shingle, hashed to 61
//     bits (FNV-1a, mixed). A text of fewer words is one shingle. 112 random functions (a h + c) mod 2^61-1 are evaluated on all
//     shingles, and of each the least value is kept: two texts share it with a probability equal to their Jaccard similarity,
//     the share of shingles that both have. The values are grouped in 14 bands of 8; texts that agree on a whole band are
//     candidates, which happens with the probability 1-(1-s^8)^14 at similarity s: see [CandidateProbability].
//  3. Records pass once in the global order: long content first, then by ID. Each is compared with the candidates before it that
//     were kept. If the true similarity with one of them is at least 0.8, the record is removed, and the first such one is its
//     witness.
//
// # Guarantees
//
// Every record that is removed has a witness that is kept; a near-duplicate and its witness are at least as similar as the
// bound. Likeness is not passed on: of texts a, b, c where only neighbors are alike, a and c both stay. An exact copy of a
// record is always removed. What is kept depends on the records, the seed and the options, not on the order in which the
// records come, the workers, the memory, or what else is on the disk. A pair can be missed: at similarity 0.8 with a
// probability of 0.08, at 0.9 of 0.0004, and where more than Options.MaxCandidates come before it, which is counted.
//
// Shingles of words, of content alone, keep apart what shares a form: on the JSON of 3,404 real tools, shingles of five characters
// and passing likeness on would call half of them copies, and join some 600 to 1,200 in one cluster (see TestRealTools). Compare
// [ToolContent] and [SampleContent], not the JSON. A cluster that is large all the same is reported as a warning, and a source that
// loses too much is a [LossError].
//
// Words are runs of letters and digits: a sentence in a script without blanks is one word, so such texts are found only where
// whole sentences repeat.
//
// # Source
//
// MinHash and the similarity it estimates: Broder, "On the resemblance and containment of documents" (1997). Bands: Leskovec,
// Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3. Five words, 14 bands of 8 are the numbers of FineWeb
// (arXiv:2406.17557). MidTool (arXiv:2608.20314) removes duplicates by MinHash and does not say how; the order, the check of every
// pair, the guards and the rest are ours.
//
// # Cost
//
// A sketch takes some 0.2 microseconds a shingle. Memory is proportional to the IDs (some 130 bytes a record and the ID) and to
// the bands that records share; everything else is bounded by Options.Memory and goes to temporary files beyond it. [Run] needs
// 8 bytes of disk a shingle. On two cores 10,000, 100,000 and a million texts of 30 to 80 words take 0.11, 1.1 and 11 seconds, the last
// half a gigabyte: see BenchmarkRun. Records that share a band and are not alike, however many, cost
// Options.MaxCandidates comparisons each, some tenths of a millisecond for texts of that length.
package dedup
