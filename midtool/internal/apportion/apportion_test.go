package apportion

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLargestRemainder(t *testing.T) {
	tests := []struct {
		name    string
		n       int
		weights []int
		want    []int
		reason  string
	}{
		{"one left over", 1_000_001, []int{26, 9, 23, 42}, []int{260_000, 90_000, 230_000, 420_001}, "0.42 is the largest remainder of .26, .09, .23, .42"},
		{"seven", 7, []int{26, 9, 23, 42}, []int{2, 1, 1, 3}, "1.82, 0.63, 1.61, 2.94: the remainders .94, .82, .63 get one more each"},
		{"scaled", 714_285, []int{26, 9, 23, 42}, []int{185_714, 64_286, 164_285, 300_000}, "185714.1, 64285.65, 164285.55, 299999.7"},
		{"equal", 2, []int{1, 1, 1}, []int{1, 1, 0}, "equal remainders: the first"},
		{"nothing", 0, []int{3, 4}, []int{0, 0}, "nothing to share"},
		{"no weight", 5, []int{0, 2}, []int{0, 5}, "without a weight there is no part"},
	}
	for _, tt := range tests {
		if got := LargestRemainder(tt.n, tt.weights); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

// The parts add up, and each is its exact share rounded down or up.
func TestLargestRemainderProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<62).Draw(t, "n")
		weights := append(rapid.SliceOfN(rapid.IntRange(0, 1<<40), 0, 9).Draw(t, "weights"), rapid.IntRange(1, 1<<40).Draw(t, "last"))
		sum, total := 0, 0
		for _, w := range weights {
			sum += w
		}
		for i, got := range LargestRemainder(n, weights) {
			total += got
			product := new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(weights[i])))
			floor, rest := new(big.Int).DivMod(product, big.NewInt(int64(sum)), new(big.Int))
			up := got - int(floor.Int64())
			if up < 0 || up > 1 || up == 1 && rest.Sign() == 0 {
				t.Fatalf("part %d of %d with %v is %d, its exact share is %v and %v/%d", i, n, weights, got, floor, rest, sum)
			}
		}
		if total != n {
			t.Fatalf("%v of %d add up to %d", weights, n, total)
		}
	})
}
