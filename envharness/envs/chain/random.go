package chain

import (
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
)

// random draws fair bits too, 64 from each number.
type random struct {
	*rand.Rand
	bits uint64
	left int
}

func newRandom(seed uint64, path string, episode uint64) *random {
	return &random{Rand: envharness.RandStream(seed, path, episode)}
}

func (r *random) bit() int {
	if r.left == 0 {
		r.bits, r.left = r.Uint64(), 64
	}
	b := r.bits & 1
	r.bits >>= 1
	r.left--
	return int(b)
}
