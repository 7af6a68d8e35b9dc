package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestQuantile(t *testing.T) {
	for _, tt := range []struct {
		name   string
		x      []float64
		q      float64
		want   float64
		reason string
	}{
		{"median of four", []float64{.2, .4, .3, .1}, .5, .25, "mean of the middle two, .2 and .3"},
		{"median of three", []float64{9, 1, 5}, .5, 5, "the middle one"},
		{"first quartile", []float64{1, 2, 3, 4}, .25, 1.75, "position 3*.25 = .75 between 1 and 2"},
		{"third quartile", []float64{4, 3, 2, 1}, .75, 3.25, "position 2.25 between 3 and 4"},
		{"minimum", []float64{3, 1, 2}, 0, 1, "position 0"},
		{"maximum", []float64{3, 1, 2}, 1, 3, "position n-1"},
		{"one value", []float64{7}, .3, 7, "position 0 whatever q is"},
		{"no overflow", []float64{-math.MaxFloat64, math.MaxFloat64}, .5, 0, "the difference of the two is not a float64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			got, err := Quantile(tt.x, tt.q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, got, approx); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.q == .5 {
				if m, err := Median(tt.x); err != nil || m != got {
					t.Errorf("median %v (%v), want %v", m, err, got)
				}
			}
		})
	}
}

// A quantile lies between two order statistics with ranks around (n-1)q, and never falls when q rises.
func TestQuantileLaws(t *testing.T) {
	finite := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(finite, 1, 20).Draw(t, "x")
		x0 := slices.Clone(x)
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got, err := Quantile(x, q)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x, x0) {
			t.Fatal("the input was changed")
		}
		s := slices.Sorted(slices.Values(x))
		pos := q * float64(len(s)-1)
		if lo, hi := s[int(math.Floor(pos))], s[int(math.Ceil(pos))]; got < lo || got > hi {
			t.Fatalf("%v is not between its neighbours %v and %v", got, lo, hi)
		}
		more, err := Quantile(x, rapid.Float64Range(q, 1).Draw(t, "larger q"))
		if err != nil {
			t.Fatal(err)
		}
		if more < got {
			t.Fatalf("quantile falls from %v to %v", got, more)
		}
	})
}

func TestInterquartileMean(t *testing.T) {
	for _, tt := range []struct {
		name   string
		x      []float64
		want   float64
		reason string
	}{
		{"four", []float64{100, 1, 2, -50}, 1.5, "one of each end goes: mean of 1 and 2"},
		{"eight", []float64{8, 7, 6, 5, 4, 3, 2, 1}, 4.5, "two of each end go: mean of 3, 4, 5, 6"},
		{"seven", []float64{1, 2, 3, 4, 5, 6, 700}, 4, "floor(7/4) = 1 of each end goes: mean of 2..6"},
		{"three", []float64{1, 2, 6}, 3, "floor(3/4) = 0: the plain mean"},
		{"one", []float64{-2}, -2, "itself"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			got, err := InterquartileMean(tt.x)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, got, approx); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// With a quarter of the values at each end replaced by anything beyond them the interquartile mean stays the same.
func TestInterquartileMeanIgnoresOutliers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 30).Draw(t, "x")
		want, err := InterquartileMean(x)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(x)
		for i := range len(x) / 4 {
			x[i] -= rapid.Float64Range(0, 1e9).Draw(t, "low")
			x[len(x)-1-i] += rapid.Float64Range(0, 1e9).Draw(t, "high")
		}
		got, err := InterquartileMean(x)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestWilson(t *testing.T) {
	five := 1 - .05/5
	for _, tt := range []struct {
		x, n   int
		level  float64
		want   Interval
		reason string
	}{
		{2, 5, .95, Interval{.1176, .7693}, "z = 1.95996, worked by hand to four places"},
		{5, 10, .95, Interval{.2366, .7634}, "the same; symmetric around a half"},
		{16, 32, .95, Interval{.3363, .6637}, "the same; narrower with n"},
		{0, 5, .95, Interval{0, .4345}, "lower end exactly 0; upper z²/(n+z²)"},
		{5, 5, .95, Interval{.5655, 1}, "mirror image of 0 of 5"},
		{3, 16, five, Interval{.0488, .5094}, "z = 2.57583 for five intervals at once"},
		{4, 16, five, Interval{.0777, .5689}, "the same"},
		{12, 16, five, Interval{.4311, .9223}, "mirror image of 4 of 16"},
		{13, 16, five, Interval{.4906, .9512}, "mirror image of 3 of 16"},
	} {
		t.Run(fmt.Sprintf("%d of %d", tt.x, tt.n), func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			got, err := Wilson(tt.x, tt.n, tt.level)
			if err != nil {
				t.Fatal(err)
			}
			// The expected ends are rounded to four places.
			if diff := gocmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 5e-5)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got, err := Wilson(0, 5, .95); err != nil || got.Lo != 0 {
		t.Errorf("0 of 5: %v (%v), want a lower end of exactly 0", got, err)
	}
	if got, err := Wilson(5, 5, .95); err != nil || got.Hi != 1 {
		t.Errorf("5 of 5: %v (%v), want an upper end of exactly 1", got, err)
	}
}

// The interval holds the observed rate, lies in [0, 1], mirrors with failures for successes, shrinks when all counts are doubled, grows
// with the level, and its ends solve (p - rate)² = z² p(1-p)/n, the equation that Wilson inverts.
func TestWilsonLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1_000).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		level := rapid.Float64Range(.01, .9999).Draw(t, "level")
		call := func(x, n int, level float64) Interval {
			iv, err := Wilson(x, n, level)
			if err != nil {
				t.Fatal(err)
			}
			return iv
		}
		iv := call(x, n, level)
		rate := float64(x) / float64(n)
		if iv.Lo < 0 || iv.Hi > 1 || iv.Lo > rate || iv.Hi < rate {
			t.Fatalf("%v does not hold %v within [0, 1]", iv, rate)
		}
		mirror := call(n-x, n, level)
		if diff := gocmp.Diff(iv, Interval{1 - mirror.Hi, 1 - mirror.Lo}, approx); diff != "" {
			t.Fatalf("mirror (-want +got):\n%s", diff)
		}
		if twice := call(2*x, 2*n, level); !(twice.Hi-twice.Lo < iv.Hi-iv.Lo) {
			t.Fatalf("%v is not narrower than %v", twice, iv)
		}
		if wide := call(x, n, level+(1-level)/2); wide.Lo > iv.Lo || wide.Hi < iv.Hi {
			t.Fatalf("%v at a higher level does not hold %v", wide, iv)
		}
		z := math.Sqrt2 * math.Erfinv(level)
		for _, p := range []float64{iv.Lo, iv.Hi} {
			// Both sides are of the order of z²/n; the quantile itself is good to some 1e-14.
			l, r := (p-rate)*(p-rate), z*z*p*(1-p)/float64(n)
			if math.Abs(l-r) > 1e-11*(1+z*z/float64(n)) {
				t.Fatalf("end %v of %v does not solve the equation: %v and %v", p, iv, l, r)
			}
		}
	})
}

func TestBootstrap(t *testing.T) {
	// Of two values 0 and 1 a draw has the mean 0, 1/2 or 1 with probabilities 1/4, 1/2 and 1/4.
	x := []float64{0, 1}
	mean := func(s []int) float64 { return (x[s[0]] + x[s[1]]) / 2 }
	for _, tt := range []struct {
		level  float64
		want   Interval
		reason string
	}{
		{.95, Interval{0, 1}, "both tails of 2.5 % lie within the outer quarters"},
		{.3, Interval{.5, .5}, "both tails of 35 % lie within the middle half"},
	} {
		got, err := Bootstrap(2, mean, &BootstrapOptions{Level: tt.level})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("level %v (-want +got):\n%s", tt.level, diff)
		}
	}

	// Draws without a value are left out: with an odd one out in every second draw the rest is what remains.
	draw := 0
	got, err := Bootstrap(3, func([]int) float64 {
		draw++
		if draw%2 == 0 {
			return math.NaN()
		}
		return float64(draw)
	}, &BootstrapOptions{Draws: 5, Level: .5})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(Interval{2, 4}, got); diff != "" { // of 1, 3, 5 at positions .5 and 1.5
		t.Errorf("NaN (-want +got):\n%s", diff)
	}
}

func TestBootstrapDefaultsAndSeed(t *testing.T) {
	x := rand.New(rand.NewPCG(3, 4)).Perm(30)
	calls := 0
	mean := func(s []int) float64 {
		calls++
		var sum int
		for _, i := range s {
			sum += x[i]
		}
		return float64(sum) / float64(len(s))
	}
	run := func(o *BootstrapOptions) Interval {
		iv, err := Bootstrap(len(x), mean, o)
		if err != nil {
			t.Fatal(err)
		}
		return iv
	}
	nilOptions := run(nil)
	if calls != 2000 {
		t.Errorf("%d draws, want 2000", calls)
	}
	for i, o := range []*BootstrapOptions{
		{},
		{Draws: 2000, Level: .95},
		{Rand: rand.New(rand.NewPCG(1, 2))},
	} {
		if got := run(o); got != nilOptions {
			t.Errorf("options %d: %v, want %v as without options", i, got, nilOptions)
		}
	}
	if got := run(&BootstrapOptions{Rand: rand.New(rand.NewPCG(5, 6))}); got == nilOptions {
		t.Error("another seed gives the same interval")
	}
}

// A 95 % interval of the mean of 40 normal values misses the true mean in some 5 to 8 % of samples (the percentile interval is
// known to be a little narrow).
func TestBootstrapCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const samples, n = 400, 40
	missed := 0
	x := make([]float64, n)
	for range samples {
		for i := range x {
			x[i] = r.NormFloat64()
		}
		iv, err := Bootstrap(n, func(s []int) float64 {
			var sum float64
			for _, i := range s {
				sum += x[i]
			}
			return sum / n
		}, &BootstrapOptions{Draws: 400, Rand: r})
		if err != nil {
			t.Fatal(err)
		}
		if iv.Lo > 0 || iv.Hi < 0 {
			missed++
		}
	}
	if rate := float64(missed) / samples; rate < .03 || rate > .1 {
		t.Errorf("the interval misses in %v of samples, want about .065", rate)
	}
}

func TestPairedDifference(t *testing.T) {
	got, err := PairedDifference([]float64{11, 102, 1003}, []float64{10, 100, 1000}, &BootstrapOptions{Level: .5})
	if err != nil {
		t.Fatal(err)
	}
	// The differences are 1, 2, 3; the 27 equally likely draws have sums from 3 to 9 with 1, 3, 6, 7, 6, 3, 1 cases each: the quarters
	// lie at sums 5 and 7.
	want := Difference{Mean: 2, Interval: Interval{5.0 / 3, 7.0 / 3}}
	if diff := gocmp.Diff(want, got, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever two equal series share cancels, and swapping them mirrors mean and interval for one seed.
func TestPairedDifferenceLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		ints := rapid.SliceOfN(rapid.IntRange(-1000, 1000), n, n) // exact in float64
		a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
		for i, v := range ints.Draw(t, "a") {
			a[i] = float64(v)
		}
		for i, v := range ints.Draw(t, "b") {
			b[i] = float64(v)
			c[i] = a[i] + b[i]
		}
		o := func() *BootstrapOptions { return &BootstrapOptions{Draws: 50} }
		zero, err := PairedDifference(a, a, o())
		if err != nil {
			t.Fatal(err)
		}
		if zero != (Difference{}) {
			t.Fatalf("a less a is %v", zero)
		}
		rest, err := PairedDifference(c, b, o())
		if err != nil {
			t.Fatal(err)
		}
		alone, err := PairedDifference(a, make([]float64, n), o())
		if err != nil {
			t.Fatal(err)
		}
		if rest != alone {
			t.Fatalf("a+b less b is %v, a less 0 is %v", rest, alone)
		}
		if rest.Mean < slices.Min(a) || rest.Interval.Lo < slices.Min(a) || rest.Interval.Hi > slices.Max(a) ||
			rest.Interval.Lo > rest.Interval.Hi {
			t.Fatalf("%v leaves the range of the differences %v", rest, a)
		}
		mirrored, err := PairedDifference(b, c, o())
		if err != nil {
			t.Fatal(err)
		}
		want := Difference{-rest.Mean, Interval{-rest.Interval.Hi, -rest.Interval.Lo}}
		if diff := gocmp.Diff(want, mirrored, cmpopts.EquateApprox(1e-12, 1e-9)); diff != "" {
			t.Fatalf("mirror (-want +got):\n%s", diff)
		}
	})
}

func TestEstimateErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	one := func([]int) float64 { return 1 }
	second := func(_ any, err error) error { return err }
	for _, tt := range []struct {
		name  string
		err   error
		parts []string
	}{
		{"quantile of none", second(Quantile(nil, .5)), []string{"quantile", "no values"}},
		{"quantile of NaN", second(Quantile([]float64{1, nan}, .5)), []string{"value 1", "NaN", "finite"}},
		{"quantile of Inf", second(Quantile([]float64{-inf}, .5)), []string{"value 0", "-Inf"}},
		{"quantile above 1", second(Quantile([]float64{1}, 1.5)), []string{"q is 1.5", "[0, 1]"}},
		{"quantile at NaN", second(Quantile([]float64{1}, nan)), []string{"q is NaN"}},
		{"median of none", second(Median(nil)), []string{"no values"}},
		{"interquartile mean of none", second(InterquartileMean(nil)), []string{"interquartile mean", "no values"}},
		{"interquartile mean of NaN", second(InterquartileMean([]float64{nan})), []string{"value 0", "NaN"}},
		{"interquartile mean overflow", second(InterquartileMean([]float64{math.MaxFloat64, math.MaxFloat64})), []string{"overflows"}},
		{"wilson without trials", second(Wilson(0, 0, .95)), []string{"wilson", "0 trials"}},
		{"wilson too many", second(Wilson(3, 2, .95)), []string{"3 successes", "0 to 2"}},
		{"wilson negative", second(Wilson(-1, 2, .95)), []string{"-1 successes"}},
		{"wilson level 1", second(Wilson(1, 2, 1)), []string{"level is 1", "(0, 1)"}},
		{"wilson level NaN", second(Wilson(1, 2, nan)), []string{"level is NaN"}},
		{"bootstrap of none", second(Bootstrap(0, one, nil)), []string{"bootstrap", "0 items"}},
		{"bootstrap, all at once", second(Bootstrap(-1, one, &BootstrapOptions{Draws: -2, Level: 95})),
			[]string{"-1 items", "-2 draws", "level is 95"}},
		{"bootstrap of NaN", second(Bootstrap(2, func([]int) float64 { return nan }, nil)), []string{"NaN in all 2000 draws"}},
		{"bootstrap of Inf", second(Bootstrap(2, func([]int) float64 { return inf }, nil)), []string{"+Inf"}},
		{"paired, ragged", second(PairedDifference([]float64{1, 2}, []float64{1}, nil)), []string{"2 values of a", "1 of b"}},
		{"paired, none", second(PairedDifference(nil, nil, nil)), []string{"paired difference", "no pairs"}},
		{"paired, NaN", second(PairedDifference([]float64{nan}, []float64{inf}, nil)), []string{"of a: value 0 is NaN", "of b: value 0 is +Inf"}},
		{"paired, overflow", second(PairedDifference([]float64{math.MaxFloat64}, []float64{-math.MaxFloat64}, nil)), []string{"value 0 is +Inf"}},
		{"paired, options", second(PairedDifference([]float64{1}, []float64{1}, &BootstrapOptions{Draws: -1})), []string{"-1 draws"}},
	} {
		t.Run(tt.name, func(t *testing.T) { wantError(t, tt.err, tt.parts...) })
	}
}

func BenchmarkBootstrap(b *testing.B) {
	x := make([]float64, 100)
	b.ReportAllocs()
	for b.Loop() {
		PairedDifference(x, x, nil)
	}
}
