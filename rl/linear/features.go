package linear

import "math/bits"

// A Feature is one non-zero entry of a sparse vector. Entries with the same index add up.
type Feature struct {
	Index uint32
	Value float64
}

// Hash appends one feature of value 1 for each name, at a place in [0, dim) that depends on the name alone: FNV-1a with
// a finalising mixer, scaled to dim. Different names may share a place; with k names in use a name is alone with
// probability about exp(-k/dim). Choose dim as in [New]; dim < 1 or > 1<<32 appends nothing. It allocates only to grow
// dst.
func Hash(dst []Feature, dim int, names ...string) []Feature {
	for _, name := range names {
		dst = place(dst, dim, fnv(fnvBasis, name))
	}
	return dst
}

// Cross appends one feature of value 1 for each pair of a name in a and a name in b, as Hash does for single names.
// Since features that all candidates share cancel out of a softmax, a policy learns what to do in which state only from
// such pairs of a name of the state and a name of the action.
func Cross(dst []Feature, dim int, a, b []string) []Feature {
	for _, x := range a {
		h := fnv(fnvBasis, x)
		h = (h ^ 0xff) * fnvPrime // a byte that UTF-8 does not use keeps "ab","c" and "a","bc" apart
		for _, y := range b {
			dst = place(dst, dim, fnv(h, y))
		}
	}
	return dst
}

const (
	fnvBasis = 0xcbf29ce484222325
	fnvPrime = 0x100000001b3
)

func fnv(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

func place(dst []Feature, dim int, h uint64) []Feature {
	if dim < 1 || dim > 1<<32 {
		return dst
	}
	// The finaliser of MurmurHash3 (fmix64): the high bits of FNV-1a, which the scaling uses, are weak for short names.
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	hi, _ := bits.Mul64(h, uint64(dim))
	return append(dst, Feature{uint32(hi), 1})
}
