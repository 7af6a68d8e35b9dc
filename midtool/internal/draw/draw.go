// Package draw makes random choices that depend on nothing but what they are made for: each is a hash of a seed, a
// stage, an item and the number of the choice, so that none depends on the order of work.
package draw

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
)

// Prefix writes each part after its length, four bytes with the highest first.
func Prefix(parts ...string) []byte {
	var b []byte
	for _, p := range parts {
		b = appendPart(b, p)
	}
	return b
}

func appendPart(b []byte, p string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
}

// Hash is the first 8 bytes of SHA-256, the highest first.
func Hash(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8])
}

// choose maps a key to one of n items: the high half of the 128-bit product.
func choose(k uint64, n int) int {
	hi, _ := bits.Mul64(k, uint64(n))
	return int(hi)
}

// Draws numbers the choices made for one item. It is not safe for concurrent use.
type Draws struct {
	buf  []byte // the prefix and, behind it, the number of the last choice
	head int    // length of the prefix
	n    uint64
}

// New starts the choices of a stage for an item under a seed.
func New(seed uint64, stage string, id ...string) *Draws {
	d := new(Draws)
	d.Start(seed, stage, id...)
	return d
}

// Start makes d what [New] returns, in the room of what it was.
func (d *Draws) Start(seed uint64, stage string, id ...string) {
	size := 4*(len(id)+4) + 2*20 + len("midtool/1") + len(stage) // of the prefix and any number after it
	for _, p := range id {
		size += len(p)
	}
	b := appendPart(slices.Grow(d.buf[:0], size), "midtool/1")
	b = appendNumber(b, seed)
	b = appendPart(b, stage)
	for _, p := range id {
		b = appendPart(b, p)
	}
	d.buf, d.head, d.n = b, len(b), 0
}

func appendNumber(b []byte, n uint64) []byte {
	at := len(b)
	b = strconv.AppendUint(append(b, 0, 0, 0, 0), n, 10)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// Key returns the hash of the next choice.
func (d *Draws) Key() uint64 {
	d.buf = appendNumber(d.buf[:d.head], d.n) // in place: a key costs no allocation
	d.n++
	return Hash(d.buf)
}

// Pick returns an index in [0, n); n must be positive.
func (d *Draws) Pick(n int) int { return choose(d.Key(), n) }

// Between returns an integer in [lo, hi].
func (d *Draws) Between(lo, hi int) int { return lo + d.Pick(hi-lo+1) }

// Chance is true with probability p.
func (d *Draws) Chance(p float64) bool { return float64(d.Key()>>11)/(1<<53) < p }

// One returns one of the items, of which there must be some.
func One[T any](d *Draws, items []T) T { return items[d.Pick(len(items))] }
