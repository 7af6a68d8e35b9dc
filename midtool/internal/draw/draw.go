package draw

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// keyPrefix writes each part after its length. The hash of what is chosen for is the source of every random choice, so
// that none depends on the order of work.
func Prefix(parts ...string) []byte {
	var b []byte
	for _, p := range parts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// hashKey is the first 8 bytes of SHA-256.
func Hash(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8])
}

// choose maps a key to one of n items: the high half of the 128-bit product.
func choose(k uint64, n int) int {
	hi, _ := bits.Mul64(k, uint64(n))
	return int(hi)
}

// draws numbers the choices made for one sample.
type Draws struct {
	prefix []byte
	n      uint64
}

// newDraws starts the choices of a stage for an item under a seed.
func New(seed uint64, stage string, id ...string) *Draws {
	return &Draws{prefix: Prefix(append([]string{"midtool/1", strconv.FormatUint(seed, 10), stage}, id...)...)}
}

func (d *Draws) Key() uint64 {
	b := strconv.AppendUint(binary.BigEndian.AppendUint32(d.prefix, 0), d.n, 10)
	binary.BigEndian.PutUint32(b[len(d.prefix):], uint32(len(b)-len(d.prefix)-4))
	d.n++
	return Hash(b)
}

// pick returns an index in [0, n); n must be positive.
func (d *Draws) Pick(n int) int { return choose(d.Key(), n) }

// between returns an integer in [lo, hi].
func (d *Draws) Between(lo, hi int) int { return lo + d.Pick(hi-lo+1) }

// chance is true with probability p.
func (d *Draws) Chance(p float64) bool { return float64(d.Key()>>11)/(1<<53) < p }

func One[T any](d *Draws, items []T) T { return items[d.Pick(len(items))] }
