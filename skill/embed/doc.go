// Package embed has what package skill does not need by itself: an embedder that weighs words by a corpus, and a cache
// around any embedder.
//
//   - [FitTFIDF] weighs words by how few texts of a corpus have them. With n the times that a word occurs in a text, N
//     the texts of the corpus and df those that have the word, its entry is (1 + ln n)·(ln((1+N)/(1+df)) + 1), and vectors
//     are divided by their length.
//   - [NewCache] keeps the vectors of an embedder in memory and on disk, so that no text is embedded twice.
//
// # A real model
//
// An ordinary function that asks a model server, on this machine or another, is an embedder: skill.EmbedderFunc. Put a
// cache around it, named for the model and its version: NewCache(f, dir, &CacheOptions{ID: "all-MiniLM-L6-v2/1"}).
//
// # TF-IDF or hashes
//
// On 812 public task texts the two rank pairs equally well, but TF-IDF leaves 86 % of the pairs of unrelated texts at
// similarity exactly 0, hashing 8 %, and [skill.Score] degenerates under such ties. A vector of TF-IDF also changes with
// the corpus, so fit once and keep the corpus beside the skills. Hence [skill.HashEmbedder] is the default. Both compare
// words, not meanings, and neither is the embedder of arXiv:2608.20274.
//
// # Determinism
//
// Equal corpora and texts give equal vectors, to the bit on one architecture. Nothing depends on the order of maps, on the
// clock or on the network, and no goroutine is started. All embedders here are safe for concurrent use.
package embed
