package decontaminate

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// base of the polynomial over the hashes of words, modulo 2^64: the hash of a run of words is that of the run without its last word times
// base, plus the hash of that word. It is odd, so that no word is lost.
const base = 0x9e3779b97f4a7c15

// power returns base to the n.
func power(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= base
	}
	return p
}

// An occurrence is a run of words in a text of an index.
type occurrence struct {
	hash       uint64
	start, end uint32 // in the normalized text
	item       int32
}

// A table finds runs of words by their hash. It is sorted by hash; a directory by the highest bits says where to look, and a filter by
// some bits more, small enough for a cache, that there is nothing to look for.
type table struct {
	text   []byte // normalized
	shift  int    // of a hash for the directory
	dir    []uint32
	filter []uint64
	hashes []uint64 // of the runs; apart from them, for it is looked at more often
	runs   []run
	items  []int32
}

// A run is a run of words that at least one item has.
type run struct {
	start, end uint32 // in the text of the table
	first      uint32 // of its items, which end where those of the next run begin
}

const filterBits = 4 // more than the directory has

// newTable sorts the occurrences in place. Those of equal words become one run, whose items are the given ones for which keep is true:
// keep gets them in ascending order, each once, and returns those that stay. A run without items is left out.
func newTable(text []byte, all []occurrence, keep func(items []int32) []int32) *table {
	words := func(o *occurrence) []byte { return text[o.start:o.end] }
	slices.SortFunc(all, func(a, b occurrence) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return cmp.Or(bytes.Compare(words(&a), words(&b)), cmp.Compare(a.item, b.item), cmp.Compare(a.start, b.start))
	})
	t := &table{text: text}
	var items []int32
	for i := 0; i < len(all); {
		o := all[i]
		items = items[:0]
		for ; i < len(all) && all[i].hash == o.hash && bytes.Equal(words(&all[i]), words(&o)); i++ {
			if len(items) == 0 || items[len(items)-1] != all[i].item {
				items = append(items, all[i].item)
			}
		}
		if kept := keep(items); len(kept) > 0 {
			t.hashes = append(t.hashes, o.hash)
			t.runs = append(t.runs, run{o.start, o.end, uint32(len(t.items))})
			t.items = append(t.items, kept...)
		}
	}
	width := max(6, bits.Len(uint(len(t.runs)))-1)
	t.shift = 64 - width
	t.dir = make([]uint32, 1<<width+1)
	t.filter = make([]uint64, 1<<(width+filterBits-6))
	for _, h := range t.hashes {
		t.dir[h>>t.shift+1]++
		f := h >> (t.shift - filterBits)
		t.filter[f>>6] |= 1 << (f & 63)
	}
	for i := 1; i < len(t.dir); i++ {
		t.dir[i] += t.dir[i-1]
	}
	return t
}

// may is false for a hash that no run has.
func (t *table) may(hash uint64) bool {
	f := hash >> (t.shift - filterBits)
	return t.filter[f>>6]&(1<<(f&63)) != 0
}

// find returns the run whose words are those of text, -1 for none. scratch is for its use.
func (t *table) find(hash uint64, text string, scratch *[]byte) int {
	bucket := hash >> t.shift
	normalized := false
	for i := int(t.dir[bucket]); i < int(t.dir[bucket+1]); i++ {
		if t.hashes[i] != hash {
			continue
		}
		if !normalized {
			*scratch, normalized = appendNormalized((*scratch)[:0], text), true
		}
		if bytes.Equal(*scratch, t.words(i)) {
			return i
		}
	}
	return -1
}

// words of a run, with a blank between them.
func (t *table) words(i int) []byte { return t.text[t.runs[i].start:t.runs[i].end] }

// itemsOf returns the items that have a run, in ascending order.
func (t *table) itemsOf(i int) []int32 {
	end := uint32(len(t.items))
	if i+1 < len(t.runs) {
		end = t.runs[i+1].first
	}
	return t.items[t.runs[i].first:end]
}
