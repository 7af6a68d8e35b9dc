package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/throughline-go/throughline/internal/text"
)

// TFIDF is a [skill.Embedder] whose vectors have one entry for each word of a corpus. It never changes. Get one from
// [FitTFIDF]; the zero value has no words, and its Embed fails.
type TFIDF struct {
	id    string
	index map[string]int32 // entry of each word, in bytewise order of the words
	idf   []float64        // of each entry
}

// FitTFIDF counts the words of a corpus, for example the texts of all tasks and the descriptions of all skills. The texts
// are split as by [skill.HashEmbedder]: at word, camelCase and script borders, in lower case, without stop words. Texts that
// repeat count each time; their order does not matter. A corpus without words is an error. The cost is linear in its
// length; memory grows with its vocabulary.
func FitTFIDF(corpus []string) (*TFIDF, error) {
	if len(corpus) == 0 {
		return nil, errors.New("embed: tf-idf: the corpus has no texts")
	}
	type count struct{ texts, last int } // texts that have the word; the last of them, plus 1
	counts := map[string]*count{}
	for i, s := range corpus {
		text.Scan(s, func(word string, _ bool) {
			c := counts[word]
			if c == nil {
				c = new(count)
				counts[word] = c
			}
			if c.last != i+1 {
				c.last = i + 1
				c.texts++
			}
		})
	}
	if len(counts) == 0 {
		return nil, fmt.Errorf("embed: tf-idf: the %d texts of the corpus have no words", len(corpus))
	}
	words := slices.Sorted(maps.Keys(counts))
	t := &TFIDF{index: make(map[string]int32, len(words)), idf: make([]float64, len(words))}
	// The hash is of all that the vectors depend on besides the text.
	hash := sha256.New()
	number := func(n int) { hash.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	number(len(corpus))
	for k, word := range words {
		df := counts[word].texts
		t.index[word] = int32(k)
		t.idf[k] = math.Log(float64(1+len(corpus))/float64(1+df)) + 1
		number(df)
		number(len(word))
		hash.Write([]byte(word))
	}
	t.id = fmt.Sprintf("tfidf-1/%x", hash.Sum(nil)[:8])
	return t, nil
}

// ID names the method and what it counted, for example "tfidf-1/5ddf8a0846c781b0": equal IDs, equal vectors.
func (t *TFIDF) ID() string { return t.id }

// Embed returns one vector per text, with an entry for each word of the corpus: 8 bytes for each word and text, so embed
// many texts in parts, as [skill.Score] does, when the vocabulary is large. Entries are never negative. Other words count for nothing; a
// text without a word of the corpus has the zero vector, every other one unit length. It fails only if ctx is done.
func (t *TFIDF) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	if len(t.idf) == 0 {
		return nil, errors.New("embed: tf-idf: no corpus, want one from FitTFIDF")
	}
	out := make([][]float64, len(texts))
	var at []int32 // entries that are not 0
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed: tf-idf: %w", err)
		}
		v := make([]float64, len(t.idf))
		at = at[:0]
		text.Scan(s, func(word string, _ bool) {
			k, ok := t.index[word]
			if !ok {
				return
			}
			if v[k] == 0 {
				at = append(at, k)
			}
			v[k]++
		})
		slices.Sort(at) // the sum, and so the vector, does not depend on the order of the words
		var sum float64
		for _, k := range at {
			v[k] = (1 + math.Log(v[k])) * t.idf[k]
			sum += v[k] * v[k]
		}
		norm := math.Sqrt(sum)
		for _, k := range at {
			v[k] /= norm
		}
		out[i] = v
	}
	return out, nil
}
