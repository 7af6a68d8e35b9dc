package openapisource

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

var (
	dotted = regexp.MustCompile(`^[vV]?(\d+(?:\.\d+)*)`)
	dated  = regexp.MustCompile(`(\d{4})-?(\d{2})-?(\d{2})`)
)

// compareVersions orders versions of one API: by the dotted number that each begins with, then by a date in it, then a
// release above what says more than a number, such as 1.0.0-beta. Versions that say nothing of the kind are equal.
func compareVersions(a, b string) int {
	x, y := dotted.FindStringSubmatch(a), dotted.FindStringSubmatch(b)
	switch {
	case x == nil || y == nil:
		if c := cmp.Compare(len(x), len(y)); c != 0 {
			return c
		}
	default:
		if c := slices.CompareFunc(numbers(x[1]), numbers(y[1]), (*big.Int).Cmp); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(date(a), date(b)); c != 0 {
		return c
	}
	if x != nil && y != nil {
		return cmp.Compare(boolInt(len(x[0]) == len(a)), boolInt(len(y[0]) == len(b)))
	}
	return 0
}

// numbers splits a dotted number, without zeros at its end: 1.0 is 1.
func numbers(s string) []*big.Int {
	var out []*big.Int
	for part := range strings.SplitSeq(s, ".") {
		n, _ := new(big.Int).SetString(part, 10)
		out = append(out, n)
	}
	for len(out) > 0 && out[len(out)-1].Sign() == 0 {
		out = out[:len(out)-1]
	}
	return out
}

func date(s string) string {
	d := dated.FindStringSubmatch(s)
	if d == nil {
		return ""
	}
	return d[1] + d[2] + d[3]
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
