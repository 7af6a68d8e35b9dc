package dedup

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A cutter cuts texts into shingles. Its memory is used again for the next text.
type cutter struct {
	text   []byte // the words in lower case, a blank between two
	starts []int  // where each word begins in text
	set    []uint64
}

// shingles returns the hashes of the distinct shingles of k words, ascending: one of all words where there are fewer than k,
// none where there is none. They are valid until the next call.
func (c *cutter) shingles(text string, k int, zero bool) []uint64 {
	c.words(text, zero)
	n := len(c.starts)
	if 0 < n && n < k {
		k = n
	}
	c.set = slices.Grow(c.set[:0], max(0, n-k+1))
	for i := range n - k + 1 {
		end := len(c.text)
		if i+k < n {
			end = c.starts[i+k] - 1
		}
		c.set = append(c.set, shingleHash(c.text[c.starts[i]:end]))
	}
	slices.Sort(c.set)
	c.set = slices.Compact(c.set)
	return c.set
}

// words reads the words of a text: letters and digits in lower case, everything else is a blank. With zero a number with its
// fraction, such as 12 or 3.5 or 1,200, is the digit 0, also inside a word.
func (c *cutter) words(text string, zero bool) {
	c.text, c.starts = slices.Grow(c.text[:0], len(text)+1), c.starts[:0]
	inside := false
	begin := func() {
		if inside {
			return
		}
		if len(c.text) > 0 {
			c.text = append(c.text, ' ')
		}
		c.starts = append(c.starts, len(c.text))
		inside = true
	}
	for i := 0; i < len(text); {
		b := text[i]
		switch {
		case 'a' <= b && b <= 'z':
			begin()
			c.text = append(c.text, b)
			i++
		case 'A' <= b && b <= 'Z':
			begin()
			c.text = append(c.text, b+'a'-'A')
			i++
		case '0' <= b && b <= '9' && !zero:
			begin()
			c.text = append(c.text, b)
			i++
		case b < utf8.RuneSelf && (b < '0' || b > '9'):
			inside = false
			i++
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case unicode.IsDigit(r) && zero:
				begin()
				c.text = append(c.text, '0')
				i = numberEnd(text, i)
				continue
			case unicode.IsLetter(r), unicode.IsDigit(r):
				begin()
				c.text = utf8.AppendRune(c.text, unicode.ToLower(r))
			default:
				inside = false
			}
			i += size
		}
	}
}

// numberEnd is behind the digits that begin at i, and behind a fraction, that is a point or comma and digits.
func numberEnd(text string, i int) int {
	i = digitsEnd(text, i)
	if i < len(text) && (text[i] == '.' || text[i] == ',') {
		if end := digitsEnd(text, i+1); end > i+1 {
			return end
		}
	}
	return i
}

func digitsEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	return i
}

// shingleHash is FNV-1a of 64 bits, finished by mix, modulo prime.
func shingleHash(shingle []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range shingle {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return mix(h) % prime
}

// mix is the finisher of SplitMix64: a bijection after which every bit depends on all bits of z.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Similarity is the Jaccard similarity of two texts, in [0, 1]: the share of the shingles of either that both have. Zero or
// fewer shingleWords mean 5; with zero numbers are compared as 0. It is 0 where a text has no words. Shingles are taken as
// equal if their hashes of 61 bits are. Time grows as n log n in the length.
func Similarity(a, b string, shingleWords int, zero bool) float64 {
	if shingleWords <= 0 {
		shingleWords = 5
	}
	var ca, cb cutter
	return jaccard(ca.shingles(a, shingleWords, zero), cb.shingles(b, shingleWords, zero), 0)
}

// jaccard is the Jaccard similarity of two ascending sets, or any smaller number if it is below least. It stops as soon as
// that is certain.
func jaccard(a, b []uint64, least float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	// s/(n-s) >= least for s shared of n elements in all means s >= least/(1+least) n; one less is safe against rounding.
	need := int(least/(1+least)*float64(len(a)+len(b))) - 1
	spareA, spareB := len(a)-need, len(b)-need // elements that need not be shared
	i, j := 0, 0
	shared := 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			shared++
			i++
			j++
		case a[i] < b[j]:
			i++
			if spareA--; spareA < 0 {
				return 0
			}
		default:
			j++
			if spareB--; spareB < 0 {
				return 0
			}
		}
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}
