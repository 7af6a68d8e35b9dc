package quality

import (
	"strings"
	"unicode/utf8"
)

// lineCounts says how much of a text are lines that occurred before.
type lineCounts struct {
	repeated int // lines
	chars    int // their characters
}

// countLines finds the repeated lines of a text that has so many lines.
func countLines(text string, lines int, seen *table64) lineCounts {
	var n lineCounts
	seen.reset(lines)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if seen.add(hash(line)) > 1 {
			n.repeated++
			n.chars += utf8.RuneCountInString(line)
		}
	}
	return n
}

// FNV-1a of 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hash is FNV-1a with its bits mixed.
func hash(text string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return mixed(h)
}

// mixed makes every bit of the result depend on every bit of h: the last steps of SplitMix64.
func mixed(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// A table64 counts keys of 64 bits. It is emptied by moving on to the next epoch, which costs nothing.
type table64 struct {
	slots []slot64
	mask  uint64 // slots in use, less one
	epoch uint32
	used  uint64 // slots of this epoch
}

type slot64 struct {
	key   uint64
	epoch uint32 // in which the slot was filled; in another one it is free
	count uint32
}

// keep is how many entries of a table or a list are kept for the next document: enough for 100,000 words.
const keep = 1 << 18

// reset empties the table and makes room for n keys, or for as many as fit into what is kept: more of them may be equal.
func (t *table64) reset(n int) {
	size := uint64(16)
	for size < keep && size < uint64(n)+uint64(n)/2 {
		size *= 2
	}
	if t.mask, t.used = size-1, 0; uint64(len(t.slots)) < size {
		t.slots, t.epoch = make([]slot64, size), 0
	}
	if t.epoch++; t.epoch == 0 {
		clear(t.slots)
		t.epoch = 1
	}
}

// add counts a key, of which the low bits are mixed well, and returns how often it has been counted.
func (t *table64) add(key uint64) uint32 {
	s := t.find(key)
	if s.epoch == t.epoch {
		s.count++
		return s.count
	}
	*s = slot64{key, t.epoch, 1}
	if t.used++; t.used > t.mask-t.mask/4 {
		t.grow()
	}
	return 1
}

// find returns the slot of a key, or the free one where it belongs.
func (t *table64) find(key uint64) *slot64 {
	for i := key & t.mask; ; i = (i + 1) & t.mask {
		if s := &t.slots[i]; s.epoch != t.epoch || s.key == key {
			return s
		}
	}
}

func (t *table64) grow() {
	old, epoch := t.slots[:t.mask+1], t.epoch
	t.mask = 2*t.mask + 1
	t.slots, t.epoch = make([]slot64, t.mask+1), 1
	for _, s := range old {
		if s.epoch == epoch {
			s.epoch = 1
			*t.find(s.key) = s
		}
	}
}

func (t *table64) trim() {
	if len(t.slots) > keep {
		t.slots = nil
	}
}
