package quality

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxGram is the length of the longest run of words that is looked at.
const maxGram = 10

// grams finds repeated runs of words. A run is known by a polynomial in the hashes of its words, whose value for any run is the
// difference of two prefixes: so each costs one step, however many words it has.
type grams struct {
	split  bool // whether the lists below are those of this text
	prefix []uint64
	chars  []int // letters and digits before each word
	clean  int   // no run of so many words or more is repeated; 0 if that is not known
	powers [maxGram + 1]uint64
}

// base is the point at which the polynomials are taken: odd and without a pattern in its bits.
const base = 0x9e3779b97f4a7c15

func (g *grams) reset() {
	g.split, g.clean = false, 0
	g.prefix, g.chars = g.prefix[:0], g.chars[:0]
}

func (g *grams) trim() {
	if cap(g.prefix) > keep {
		g.prefix, g.chars = nil, nil
	}
}

// read splits a text of so many words, once.
func (g *grams) read(text string, words int) {
	if g.split {
		return
	}
	g.split = true
	g.powers[0] = 1
	for i := range maxGram {
		g.powers[i+1] = g.powers[i] * base
	}
	g.prefix, g.chars = append(slices.Grow(g.prefix, words+1), 0), append(slices.Grow(g.chars, words+1), 0)
	h, length, total, poly := uint64(fnvOffset), 0, 0, uint64(0)
	within := false
	end := func() {
		total += length
		poly = poly*base + mixed(h)
		g.prefix, g.chars = append(g.prefix, poly), append(g.chars, total)
		h, length, within = fnvOffset, 0, false
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			if asciiClasses[c] >= digitClass {
				h, length, within = (h^uint64(c))*fnvPrime, length+1, true
			} else if within {
				end()
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			length++
			within = true
		case within && unicode.IsMark(r):
		default:
			if within {
				end()
			}
			i += size
			continue
		}
		for range size {
			h = (h ^ uint64(text[i])) * fnvPrime
			i++
		}
	}
	if within {
		end()
	}
}

// key returns the hash of the n words from the i-th on.
func (g *grams) key(i, n int) uint64 {
	return mixed(g.prefix[i+n] - g.prefix[i]*g.powers[n])
}

// top returns the characters of the most frequent run of n words, times how often it occurs, if that is more than once.
func (g *grams) top(text string, words int, seen *table64, n int) int {
	g.read(text, words)
	runs := len(g.prefix) - n
	if runs < 2 || g.clean > 0 && n >= g.clean {
		return 0
	}
	seen.reset(runs)
	most, chars := uint32(1), 0
	for i := range runs {
		if count := seen.add(g.key(i, n)); count >= most && count > 1 {
			if length := g.chars[i+n] - g.chars[i] + n - 1; count > most || length > chars {
				most, chars = count, length
			}
		}
	}
	if most == 1 {
		g.clean = n
		return 0
	}
	return int(most) * chars
}

// repeated returns the letters and digits of the words in runs of n that occurred before, without counting one twice.
func (g *grams) repeated(text string, words int, seen *table64, n int) int {
	g.read(text, words)
	runs := len(g.prefix) - n
	if runs < 2 || g.clean > 0 && n >= g.clean {
		return 0
	}
	seen.reset(runs)
	chars := 0
	for i := 0; i < runs; {
		if seen.add(g.key(i, n)) > 1 {
			chars += g.chars[i+n] - g.chars[i]
			i += n
		} else {
			i++
		}
	}
	if chars == 0 {
		// A longer run that is repeated has a repeated run of n at its start.
		g.clean = n
	}
	return chars
}
