// Package apportion shares a whole number out in proportion to weights, by largest remainders.
package apportion

import (
	"cmp"
	"math/bits"
	"slices"
)

// LargestRemainder shares n out in proportion to weights, which must have a positive sum: each gets the floor of its
// part, and the largest remainders one more, the first of equal ones. The result adds up to n, and whoever has no
// remainder gets exactly its part. Neither n nor a weight may be negative.
func LargestRemainder(n int, weights []int) []int {
	sum := uint64(0)
	for _, w := range weights {
		sum += uint64(w)
	}
	out := make([]int, len(weights))
	remainder := make([]uint64, len(weights))
	left := n
	for i, w := range weights {
		hi, lo := bits.Mul64(uint64(n), uint64(w))
		q, r := bits.Div64(hi, lo, sum)
		out[i], remainder[i] = int(q), r
		left -= int(q)
	}
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainder[b], remainder[a]) })
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}
