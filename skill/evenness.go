package skill

import (
	"math"
	"slices"
)

// softmaxShare returns exp(H(softmax(c/temperature)))/n for n values, at least one: with x = (c - max c)/temperature and z
// the sum of exp(x), the entropy is ln z - sum(x exp(x))/z. It lies in [1/n, 1].
func softmaxShare(c []float64, largest, temperature float64) float64 {
	var z, zx float64
	for _, v := range c {
		x := (v - largest) / temperature
		if e := math.Exp(x); e > 0 {
			z += e
			zx += e * x
		}
	}
	return share(math.Exp(math.Log(z)-zx/z), len(c))
}

// effectiveShare returns exp(H(p))/n for p in proportion to the values, at least one, of which negative ones count as 0; 0
// if all are 0. With x the values over the largest and z their sum, the entropy is ln z - sum(x ln x)/z.
func effectiveShare(c []float64) float64 {
	largest := slices.Max(c)
	if largest <= 0 {
		return 0
	}
	var z, zx float64
	for _, v := range c {
		if x := v / largest; x > 0 {
			z += x
			zx += x * math.Log(x)
		}
	}
	return share(math.Exp(math.Log(z)-zx/z), len(c))
}

// evennessAbove returns 1 - Gini of what the values, at least one, have above the floor, which is not negative; 0 if none
// has. It lies in [1/n, 1] otherwise. What rounding alone lifts above the floor, often a value itself, is not above it. It
// overwrites c.
func evennessAbove(c []float64, floor float64) float64 {
	above := c[:0]
	for _, v := range c {
		if v-floor > pairTolerance*floor {
			above = append(above, v-floor)
		}
	}
	if len(above) == 0 {
		return 0
	}
	slices.Sort(above)
	n := len(c)
	r := n - len(above) // the others are 0 and come first
	var sum, ranked float64
	for _, x := range above {
		r++
		sum += x
		ranked += float64(2*r-n-1) * x
	}
	return share(float64(n)-ranked/sum, n)
}

// share returns effective/n, with what rounding adds removed.
func share(effective float64, n int) float64 {
	return max(1/float64(n), min(1, effective/float64(n)))
}
