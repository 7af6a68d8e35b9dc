package stat

import (
	"cmp"
	"slices"
)

// KendallB returns Kendall's tau-b of the pairs (x[i], y[i]):
//
//	(C - D) / sqrt((n0 - n1) (n0 - n2))
//
// with C concordant and D discordant ones among the n0 = n(n-1)/2 pairs of rows, n1 of which are tied in x and n2 in y. It counts them
// with one merge sort in O(n log n) time (Knight 1966). Infinities count as the largest and smallest values, and -0 equals +0. Unequal
// lengths and NaN are errors.
func KendallB(x, y []float64) (Correlation, error) {
	if err := checkPairs("kendall", x, y); err != nil {
		return Correlation{}, err
	}
	type row struct{ x, y float64 }
	rows := make([]row, len(x))
	for i := range x {
		rows[i] = row{x[i], y[i]}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	n1 := tied(len(rows), func(i, j int) bool { return rows[i].x == rows[j].x })
	both := tied(len(rows), func(i, j int) bool { return rows[i] == rows[j] })

	// Rows tied in x stand in the order of y, so the inversions of y that are left are the discordant pairs.
	ys := make([]float64, len(rows))
	for i, r := range rows {
		ys[i] = r.y
	}
	discordant := inversions(ys, make([]float64, len(ys)))
	n2 := tied(len(ys), func(i, j int) bool { return ys[i] == ys[j] })

	n0 := pairs(len(rows))
	concordant := n0 - n1 - n2 + both - discordant
	return correlation(float64(concordant-discordant), float64(n0-n1), float64(n0-n2)), nil
}

// pairs returns the number of pairs among n items.
func pairs(n int) int64 { return int64(n) * int64(n-1) / 2 }

// tied returns the number of pairs of equal items among n sorted ones.
func tied(n int, equal func(i, j int) bool) int64 {
	var sum int64
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && equal(lo, hi) {
			hi++
		}
		sum += pairs(hi - lo)
		lo = hi
	}
	return sum
}

// inversions sorts v and returns the number of pairs i < j with v[i] > v[j]. The contents of tmp, as long as v, are lost.
func inversions(v, tmp []float64) int64 {
	if len(v) < 2 {
		return 0
	}
	mid := len(v) / 2
	sum := inversions(v[:mid], tmp[:mid]) + inversions(v[mid:], tmp[mid:])
	copy(tmp, v)
	left, right := tmp[:mid], tmp[mid:]
	for i := range v {
		if len(right) == 0 || len(left) > 0 && left[0] <= right[0] {
			v[i], left = left[0], left[1:]
		} else {
			v[i], right = right[0], right[1:]
			sum += int64(len(left))
		}
	}
	return sum
}
