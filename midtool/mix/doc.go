// Package mix chooses what goes into a corpus by shares of a token budget.
//
// # Method
//
// [Select] takes the units of each source, a unit being a document with all that was made of it or one sample of the native branch,
// in these steps:
//
//  1. The budget is divided over the sources in proportion to their shares, by largest remainders; ties go by name. The shares
//     are those of MidTool unless told otherwise: web 42, code 26, pdf 23, native 9.
//  2. Where a source has less than its part, [Policy] says what happens. By default the whole budget shrinks to the largest at
//     which no source falls short.
//  3. The units of a source are put in the order of a hash of the seed and their ID, and taken while the running sum stays within
//     the part. The first that would exceed it ends the source. So a larger part keeps all that a smaller one chose, and a source
//     whose first unit is larger than its part gives nothing, as may happen in a small budget.
//  4. All that was taken is put in its final order by a second hash, which mixes the sources.
//
// [Shard] spreads the records over files by a third hash.
//
// Where Tiers has weights, step 3 first merges the units of the tiers so that every beginning of the order has them in these
// proportions, by number of documents: next comes the tier that is furthest behind its share. The order ends where the tier whose turn it
// is has no more.
//
// # Source
//
// The shares, and the tiers of [DefaultTiers], are those that MidTool (arXiv:2608.20314) states of its corpus. It does not say how
// they were reached, nor of what the tiers are shares: the algorithm, the policies, and shares of documents are ours.
//
// # Guarantees
//
// The tokens of a source are at most its part, and more than the part less the largest unit where the source has enough; so the
// shares are met up to a unit a source. With policy [Under] a larger budget selects all that a smaller one does. (Other shares than the
// default ones can, by a paradox of largest remainders, give a source one token less in a larger budget, and so cost it its last unit.)
//
// A source that has nothing is not part of the corpus: its share goes to the others, with a note, except under [Strict]. Otherwise
// whoever has only tools would get an empty corpus.
//
// # Cost
//
// Time is that of two SHA-256 and two sorts a unit. Besides the units themselves 32 bytes are held for each unit, 16 more for each in every
// further pass that is begun and, where Tiers has weights, some 75 more, most of them for a while; and 24 for each that is chosen.
// Measured on a busy server, with half of the tokens taken: a million units took 1.3 seconds of processor time and 42 MB, ten million 25
// seconds and 420 MB. Where Tiers has weights, every pass that is allowed is ordered to see what it has, and only those that are begun
// are kept.
//
// # Determinism
//
// The selection depends on the units and the options alone, not on the order of the units: Index apart, any order gives the same picks.
package mix
