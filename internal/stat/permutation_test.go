package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// permuted is a statistic of x and a permutation of y.
func permuted(f func(x, y []float64) (Correlation, error), x, y []float64) func(perm []int) float64 {
	return func(perm []int) float64 {
		p := make([]float64, len(y))
		for i, j := range perm {
			p[i] = y[j]
		}
		c, err := f(x, p)
		if err != nil {
			return math.NaN()
		}
		return c.Value
	}
}

func TestPermutation(t *testing.T) {
	score, success := []float64{.1, .2, .2, .4, .5}, []float64{0, 0, 1, 1, 1}
	up := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, tt := range []struct {
		name   string
		n      int
		stat   func([]int) float64
		o      *PermutationOptions
		want   PValue
		reason string
	}{
		{"five pairs with ties", 5, permuted(Spearman, score, success), nil, PValue{.3, true, 120},
			"worked by hand: 36 of the 120 orders are as far from 0 as 0.740436"},
		{"perfect order of seven", 7, permuted(Spearman, up[:7], up[:7]), nil, PValue{2. / 5040, true, 5040},
			"the order itself and its reverse"},
		{"perfect order of four, tau", 4, permuted(KendallB, up[:4], up[:4]), nil, PValue{2. / 24, true, 24}, "the same"},
		{"perfect order of ten", 10, permuted(Spearman, up, up), &PermutationOptions{Draws: 99}, PValue{.01, false, 99},
			"no draw of 99 among 3.6 million orders is one of the two that count: (1+0)/(99+1), not 0"},
		{"constant", 10, func([]int) float64 { return -3 }, &PermutationOptions{Draws: 99}, PValue{1, false, 99}, "(1+99)/(99+1)"},
		{"constant, exact", 3, func([]int) float64 { return 0 }, nil, PValue{1, true, 6}, "all 6 are as far from 0"},
		{"one", 1, func([]int) float64 { return 5 }, nil, PValue{1, true, 1}, "there is one order"},
		{"two strata", 4, permuted(Spearman, []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}), &PermutationOptions{Strata: []int{2, 2}},
			PValue{.25, true, 4}, "1234 has 1; 2134, 1243 have .8 and 2143 has .6"},
		{"strata of one", 10, permuted(Spearman, up, up), &PermutationOptions{Strata: []int{1, 0, 2, 1, 1, 1, 1, 1, 1, 1}},
			PValue{.5, true, 2}, "the two of the third run change places or not; a run of 0 is none"},
		{"rounding", 2, func(p []int) float64 { return 1 - float64(p[0])*1e-13 }, nil, PValue{1, true, 2}, "nearer to 0 by 1e-13 is equal"},
		{"no rounding", 2, func(p []int) float64 { return 1 - float64(p[0])*1e-11 }, nil, PValue{.5, true, 2}, "nearer by 1e-11 is not"},
		{"two-sided", 2, func(p []int) float64 { return 1 - 3*float64(p[0]) }, nil, PValue{1, true, 2}, "|-2| is at least |1|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			got, err := Permutation(tt.n, tt.stat, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, got, approx); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// An exact p-value is the share among all orders, listed by another method, that keep every item within its run.
func TestPermutationExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strata := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 3).Draw(t, "strata")
		var run []int // of each item
		for g, size := range strata {
			for range size {
				run = append(run, g)
			}
		}
		n := len(run)
		if n == 0 || n > 7 {
			t.Skip("no items, or too many orders to list")
		}
		if rapid.Bool().Draw(t, "one run") {
			strata, run = nil, make([]int, n)
		}
		strata0 := slices.Clone(strata)
		value := rapid.IntRange(-2, 2)
		x := rapid.SliceOfN(value, n, n).Draw(t, "x")
		y := rapid.SliceOfN(value, n, n).Draw(t, "y")
		statistic := func(perm []int) float64 {
			sum := 0
			for i, j := range perm {
				sum += x[i] * y[j]
			}
			return float64(sum)
		}
		got, err := Permutation(n, statistic, &PermutationOptions{Strata: strata})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(strata, strata0) {
			t.Fatal("the strata were changed")
		}
		var extreme, tried int
		observed := math.Abs(statistic(rangeTo(n)))
		for code := range int(math.Pow(float64(n), float64(n))) { // every function from places to items
			perm, seen, ok := make([]int, n), 0, true
			for i := range perm {
				perm[i] = code % n
				code /= n
				ok = ok && run[perm[i]] == run[i]
				seen |= 1 << perm[i]
			}
			if !ok || seen != 1<<n-1 {
				continue
			}
			tried++
			if math.Abs(statistic(perm)) >= observed {
				extreme++
			}
		}
		want := PValue{P: float64(extreme) / float64(tried), Exact: true, Tried: tried}
		if diff := gocmp.Diff(want, got, approx); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// A sampled p-value is near the exact one. From one draw to the next every item goes from every place of its run to every other, and
// stays, as often, and no item leaves its run.
func TestPermutationSample(t *testing.T) {
	const n = 9
	x, y := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{2, 1, 4, 5, 3, 9, 6, 7, 8}
	for _, tt := range []struct {
		strata []int
		reason string
	}{
		{nil, "362,880 orders"},
		{[]int{8, 1}, "40,320 orders"},
	} {
		f := permuted(Spearman, x, y)
		var at [n][n]int
		var place [n]int // of each item in the draw before
		for i := range place {
			place[i] = i
		}
		got, err := Permutation(n, func(perm []int) float64 {
			for i, j := range perm {
				at[i][place[j]]++
			}
			for i, j := range perm {
				place[j] = i
			}
			return f(perm)
		}, &PermutationOptions{Strata: tt.strata})
		if err != nil {
			t.Fatal(err)
		}
		if got.Exact || got.Tried != 9999 {
			t.Errorf("%v: exact %v after %d, want a sample of 9999", tt.strata, got.Exact, got.Tried)
		}
		run := n
		if tt.strata != nil {
			run = tt.strata[0]
		}
		for i := range run {
			for j := range n {
				want := 10_000. / float64(run)
				if j >= run {
					want = 0
				}
				// Five standard deviations, and the identity that is observed first.
				if d := math.Abs(float64(at[i][j]) - want); d > 5*math.Sqrt(want)+1 {
					t.Errorf("%v: the item at place %d came to place %d %d times, want about %g", tt.strata, j, i, at[i][j], want)
				}
			}
		}
		exact, all := 0, 0
		perm, bar := rangeTo(n), math.Abs(f(rangeTo(n)))-1e-12
		arrange(perm, []int{run, n - run}, func() bool {
			all++
			if math.Abs(f(perm)) >= bar {
				exact++
			}
			return true
		})
		p := float64(exact) / float64(all)
		if d := math.Abs(got.P - p); d > 5*math.Sqrt(p*(1-p)/9999)+1e-4 {
			t.Errorf("%v: p is %g, want about %g", tt.strata, got.P, p)
		}
	}
}

func TestPermutationSeed(t *testing.T) {
	x := rand.New(rand.NewPCG(3, 4)).Perm(30)
	run := func(o *PermutationOptions) []int {
		var last []int
		if _, err := Permutation(len(x), func(perm []int) float64 {
			last = slices.Clone(perm)
			return 0
		}, o); err != nil {
			t.Fatal(err)
		}
		return last
	}
	want := run(nil)
	for i, o := range []*PermutationOptions{{}, {Draws: 9999}, {Rand: rand.New(rand.NewPCG(1, 2))}, {Strata: []int{30}}} {
		if got := run(o); !slices.Equal(got, want) {
			t.Errorf("options %d give %v, want %v as without options", i, got, want)
		}
	}
	if slices.Equal(run(&PermutationOptions{Rand: rand.New(rand.NewPCG(5, 6))}), want) {
		t.Error("another seed gives the same permutations")
	}
}

func TestPermutationErrors(t *testing.T) {
	zero := func([]int) float64 { return 0 }
	_, err := Permutation(0, zero, &PermutationOptions{Draws: -1})
	wantError(t, err, "permutation", "0 items", "-1 draws")
	_, err = Permutation(3, zero, &PermutationOptions{Strata: []int{2, 2}})
	wantError(t, err, "permutation", "stratum 1", "size 2", "1 items")
	_, err = Permutation(3, zero, &PermutationOptions{Strata: []int{4, -1}})
	wantError(t, err, "permutation", "stratum 0", "size 4")
	_, err = Permutation(3, zero, &PermutationOptions{Strata: []int{-1, 4}})
	wantError(t, err, "permutation", "stratum 0", "size -1")
	_, err = Permutation(3, zero, &PermutationOptions{Strata: []int{}})
	wantError(t, err, "permutation", "have 0 items, want 3")
	_, err = Bootstrap(3, zero, &BootstrapOptions{Strata: []int{2}})
	wantError(t, err, "bootstrap", "have 2 items, want 3")
	_, err = Permutation(9, func([]int) float64 { return math.Inf(1) }, nil)
	wantError(t, err, "permutation", "statistic is +Inf")
	for _, n := range []int{3, 9} {
		calls := 0
		_, err = Permutation(n, func([]int) float64 {
			if calls++; calls == 3 {
				return math.NaN()
			}
			return 0
		}, nil)
		wantError(t, err, "permutation", "of a permutation is NaN")
		if calls != 3 {
			t.Errorf("n = %d: %d calls, want none after the third", n, calls)
		}
	}
}

// A draw within strata takes as many items of each run as it has, and every item of a run as often.
func TestBootstrapStrata(t *testing.T) {
	strata := []int{3, 0, 1, 4}
	var times [8]int
	_, err := Bootstrap(8, func(s []int) float64 {
		for i, j := range s {
			lo, hi := 0, 3
			switch {
			case i == 3:
				lo, hi = 3, 4
			case i > 3:
				lo, hi = 4, 8
			}
			if j < lo || j >= hi {
				t.Fatalf("place %d has item %d, want %d to %d", i, j, lo, hi-1)
			}
			times[j]++
		}
		return 0
	}, &BootstrapOptions{Strata: strata})
	if err != nil {
		t.Fatal(err)
	}
	for j, n := range times {
		if math.Abs(float64(n)-2000) > 5*math.Sqrt(2000) {
			t.Errorf("item %d was drawn %d times, want about 2000", j, n)
		}
	}
}

func BenchmarkPermutation(b *testing.B) {
	for _, n := range []int{100, 1_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Permutation(n, func([]int) float64 { return 0 }, nil)
			}
		})
	}
}
