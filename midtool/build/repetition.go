package build

import (
	"compress/gzip"
	"hash/fnv"
	"strings"
)

// cutWords bounds the words that count, and cutBytes their bytes: the figures depend on the length.
const (
	cutWords = 100_000
	cutBytes = 1 << 20
)

// A repetition counts on a cut of a source.
type repetition struct {
	words, bytes, all int
	grams             map[uint64]struct{}
	zip               *gzip.Writer
	zipped            byteCounter
}

type byteCounter int

func (c *byteCounter) Write(p []byte) (int, error) { *c += byteCounter(len(p)); return len(p), nil }

func newRepetition() *repetition {
	r := &repetition{grams: make(map[uint64]struct{})}
	r.zip = gzip.NewWriter(&r.zipped)
	return r
}

func (r *repetition) full() bool { return r.words >= cutWords || r.bytes >= cutBytes }

// add counts a text, or as much of it as there is room for. Runs of words do not cross its border.
func (r *repetition) add(text string) {
	var last [4]string
	n, end := 0, 0
	for word := range strings.FieldsSeq(text) {
		if r.full() {
			break
		}
		end += strings.Index(text[end:], word) + len(word)
		r.words++
		r.bytes += len(word) + 1
		copy(last[:], last[1:])
		last[3] = word
		if n++; n < 4 {
			continue
		}
		h := fnv.New64a() // two different ones in 100,000 are equal with a probability below 1e-9
		for _, w := range last {
			h.Write([]byte(w))
			h.Write([]byte{' '})
		}
		r.grams[h.Sum64()] = struct{}{}
		r.all++
	}
	r.zip.Write([]byte(text[:end])) // to a counter, which takes everything
}

func (r *repetition) figures() Repetition {
	r.zip.Close()
	out := Repetition{Words: r.words}
	if r.bytes > 0 {
		out.Gzip = round4(float64(r.zipped) / float64(r.bytes))
	}
	if r.all > 0 {
		out.Distinct = round4(float64(len(r.grams)) / float64(r.all))
	}
	return out
}
