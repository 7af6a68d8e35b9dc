package text

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"
)

// Weights of the feature kinds of [Hash]: whole words carry most of the meaning, pairs of neighbours some of the order, and
// trigrams of runes keep related forms ("order", "orders") near each other.
const (
	wordWeight    = 1
	bigramWeight  = 0.5
	trigramWeight = 0.25
)

// Hash writes the hashed n-gram vector of s into dst, whose length is the number of dimensions and must not be 0, and
// returns dst. The features of the tokens t of s (see [Tokens]) are "w:t", "b:t u" for neighbouring tokens t, u, and
// "c:xyz" for every rune trigram xyz of "^t$" where t is not of a script written without spaces. A feature that occurs n
// times adds weight·(1 + ln n), in bytewise order of the features, to the entry FNV-1a-64(feature) mod len(dst); then the
// vector is divided by its Euclidean norm. The entries are never negative; a text without tokens gives the zero vector.
func Hash(dst []float64, s string) []float64 {
	clear(dst)
	var fs features
	fs.scan(s)
	slices.SortFunc(fs.at, func(a, b [2]int) int { return bytes.Compare(fs.buf[a[0]:a[1]], fs.buf[b[0]:b[1]]) })
	for i := 0; i < len(fs.at); {
		f := fs.feature(i)
		n := 1
		for i+n < len(fs.at) && bytes.Equal(f, fs.feature(i+n)) {
			n++
		}
		dst[fnv1a(f)%uint64(len(dst))] += weight(f[0]) * (1 + math.Log(float64(n)))
		i += n
	}
	var sum float64
	for _, v := range dst {
		sum += v * v
	}
	if sum > 0 {
		norm := math.Sqrt(sum)
		for i := range dst {
			dst[i] /= norm
		}
	}
	return dst
}

// features holds the features of one text in one buffer: feature i is buf[at[i][0]:at[i][1]].
type features struct {
	buf []byte
	at  [][2]int
}

func (fs *features) feature(i int) []byte { return fs.buf[fs.at[i][0]:fs.at[i][1]] }

func (fs *features) add(parts ...string) {
	start := len(fs.buf)
	for _, p := range parts {
		fs.buf = append(fs.buf, p...)
	}
	fs.at = append(fs.at, [2]int{start, len(fs.buf)})
}

func (fs *features) scan(s string) {
	prev := ""
	Scan(s, func(tok string, dense bool) {
		fs.add("w:", tok)
		if prev != "" {
			fs.add("b:", prev, " ", tok)
		}
		prev = tok
		if dense {
			return
		}
		framed := "^" + tok + "$"
		for a := 0; ; {
			// a, b and c are the offsets of three neighbouring runes, end is the offset after them.
			_, n := utf8.DecodeRuneInString(framed[a:])
			b := a + n
			_, n = utf8.DecodeRuneInString(framed[b:])
			c := b + n
			if c == len(framed) {
				return
			}
			_, n = utf8.DecodeRuneInString(framed[c:])
			fs.add("c:", framed[a:c+n])
			a = b
		}
	})
}

func weight(kind byte) float64 {
	switch kind {
	case 'w':
		return wordWeight
	case 'b':
		return bigramWeight
	default:
		return trigramWeight
	}
}

// fnv1a is the 64-bit FNV-1a hash, as hash/fnv computes it, without its allocation.
func fnv1a(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h ^= uint64(c)
		h *= 1099511628211
	}
	return h
}
