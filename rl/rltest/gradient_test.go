package rltest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// crossEntropy is -log softmax(x)[0].
func crossEntropy(grad, x []float64) (float64, error) {
	sum, top := 0.0, slices.Max(x)
	for _, z := range x {
		sum += math.Exp(z - top)
	}
	for i, z := range x {
		grad[i] = math.Exp(z-top) / sum
	}
	grad[0]--
	return math.Log(sum) + top - x[0], nil
}

// each is the sum of one function over all components.
func each(f, df func(x float64) float64) func(grad, x []float64) (float64, error) {
	return func(grad, x []float64) (float64, error) {
		sum := 0.0
		for i, v := range x {
			sum += f(v)
			grad[i] = df(v)
		}
		return sum, nil
	}
}

// off is f with an error in one component of the gradient.
func off(f func(grad, x []float64) (float64, error), i int, by float64) func(grad, x []float64) (float64, error) {
	return func(grad, x []float64) (float64, error) {
		v, err := f(grad, x)
		grad[i] += by
		return v, err
	}
}

func hinge(slope float64) func(grad, x []float64) (float64, error) {
	return each(func(x float64) float64 { return max(0, x) }, func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return 0
		}
		return slope
	})
}

// clipped is the clipped policy loss for advantage 1, as a function of the log-ratio.
var clipped = each(func(d float64) float64 { return -min(math.Exp(d), 1.2) }, func(d float64) float64 {
	if math.Exp(d) <= 1.2 {
		return -math.Exp(d)
	}
	return 0
})

func TestGradient(t *testing.T) {
	square := each(func(x float64) float64 { return x * x }, func(x float64) float64 { return 2 * x })
	exp := each(math.Exp, math.Exp)
	log := each(math.Log, func(x float64) float64 { return 1 / x })
	root := each(math.Sqrt, func(x float64) float64 { return 0.5 / math.Sqrt(x) })
	edge := math.Log(1.2)
	for _, tt := range []struct {
		name     string
		f        func(grad, x []float64) (float64, error)
		x        []float64
		from, to float64 // bounds of worst
		at       int
		reason   string
	}{
		{"empty", square, nil, 0, 0, -1, "nothing to compare"},
		{"square", square, []float64{3, -2, 0}, 0, 1e-12, -2, "central differences are exact"},
		{"cross entropy", crossEntropy, []float64{1, -2, 0.5, 3}, 0, 1e-10, -2, "smooth"},
		{"far out", crossEntropy, []float64{-1e4, -9999, -1e4 - 3}, 0, 1e-9, -2, "the value keeps 12 digits after the point"},
		{"exp", exp, []float64{-700, -20, 0, 5}, 0, 1e-9, -2, "magnitudes from 0 to 148"},
		{"large", exp, []float64{20}, 0, 1e-9, -2, "5e8"},
		{"oscillating", each(func(x float64) float64 { return math.Sin(300 * x) }, func(x float64) float64 { return 300 * math.Cos(300*x) }),
			[]float64{0.1, 1, 2}, 0, 1e-9, -2, "the first steps are longer than a period"},
		{"edge of the domain", log, []float64{1e-3, 1e-6, 0.01}, 0, 1e-8, -2, "log of negative numbers is NaN: those steps are left out"},
		{"on the edge", each(func(x float64) float64 {
			if x < 0 {
				return math.NaN()
			}
			return x * x
		}, func(x float64) float64 { return 2 * x }), []float64{0}, 0, 1e-9, -2, "only one side exists"},
		{"close to the edge", root, []float64{1e-4}, 0, 1e-8, -2, "only short steps stay inside"},

		{"wrong component", off(crossEntropy, 2, 1e-5), []float64{1, -2, 0.5, 3}, 0.99e-5, 1.01e-5, 2, "the third is off by 1e-5"},
		{"slightly wrong", off(crossEntropy, 1, 1e-7), []float64{1, -2, 0.5, 3}, 0.9e-7, 1.1e-7, 1, "far below 1e-6 and still seen"},
		{"relative", off(square, 0, 1), []float64{50, 1}, 1 / 101.1, 1 / 100.9, 0, "1 of 101"},
		{"wrong sign", each(math.Exp, func(x float64) float64 { return -math.Exp(x) }), []float64{0, 1}, 1.99, 2.01, 0, "2 in 1, and 2e in e: the first counts"},

		{"kink, left", hinge(0), []float64{1, 0, -1}, 0, 1e-12, -2, "the derivative of the left side"},
		{"kink, right", hinge(1), []float64{1, 0, -1}, 0, 1e-12, -2, "the derivative of the right side"},
		{"kink, between", hinge(0.4), []float64{1, 0, -1}, 0.39, 0.41, 1, "neither side"},
		{"kink, mean", hinge(0.5), []float64{1, 0, -1}, 0.49, 0.51, 1, "what central differences alone would take for right"},
		{"close to a kink", hinge(0), []float64{1e-3, -1e-5, 1e-7, -1e-10}, 0, 1e-9, -2, "a side of it is free"},
		{"wrong close to a kink", off(hinge(0), 0, 0.1), []float64{1e-3}, 0.09, 0.11, 0, "but not every number will do"},
		{"clip", clipped, []float64{0, edge, math.Nextafter(edge, 1), 1, -3}, 0, 1e-9, -2, "the edge, and next to it"},
		{"clip, wrong branch", off(clipped, 0, -2), []float64{1}, 1, 1, 0, "gradient -2 where it is 0: 2 of 2"},
		{"plateau", each(func(x float64) float64 { return max(-1e-3, min(1e-3, x)) }, func(x float64) float64 { return 1 }),
			[]float64{0, 5e-4}, 0, 1e-9, -2, "kinks on both sides, closer than the first steps"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		x := slices.Clone(tt.x)
		worst, at, err := Gradient(tt.f, x)
		if err != nil {
			t.Errorf("%s (%s): %v", tt.name, tt.reason, err)
			continue
		}
		if worst < tt.from || worst > tt.to || tt.at != -2 && at != tt.at || at >= len(x) {
			t.Errorf("%s (%s): %v at component %d, want within [%v, %v] at %d", tt.name, tt.reason, worst, at, tt.from, tt.to, tt.at)
		}
		if !slices.Equal(x, tt.x) {
			t.Errorf("%s: x became %v", tt.name, x)
		}
	}
}

func TestGradientErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name   string
		f      func(grad, x []float64) (float64, error)
		x      []float64
		at     int
		is     error
		reason string
	}{
		{"error", func(grad, x []float64) (float64, error) { return 0, broken }, []float64{1}, -1, broken, "no value at x"},
		{"infinite value", func(grad, x []float64) (float64, error) { clear(grad); return math.Inf(1), nil }, []float64{1}, -1, nil, "no value at x"},
		{"NaN in the gradient", each(func(x float64) float64 { return x }, func(x float64) float64 { return 0 / x }), []float64{1, 0}, 1, nil, "0/0"},
		{"not written", func(grad, x []float64) (float64, error) { grad[0] = 1; return x[0], nil }, []float64{1, 2}, 1, nil, "a masked position must be set to 0"},
		{"added", func(grad, x []float64) (float64, error) { grad[0]++; return x[0], nil }, []float64{1}, 0, nil, "the gradient replaces what was there"},
		{"changes x", func(grad, x []float64) (float64, error) { grad[0], grad[1], x[1] = 1, 1, 3; return x[0] + x[1], nil }, []float64{1, 2}, 1, nil, "clips in place"},
		{"only here", func(grad, x []float64) (float64, error) {
			grad[0] = 0
			if x[0] != 1 {
				return 0, broken
			}
			return 0, nil
		}, []float64{1}, 0, broken, "no differences"},
		{"NaN around", func(grad, x []float64) (float64, error) {
			grad[0] = 0
			if x[0] != 1 {
				return math.NaN(), nil
			}
			return 0, nil
		}, []float64{1}, 0, nil, "no differences"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: case without a reason", tt.name)
		}
		worst, at, err := Gradient(tt.f, tt.x)
		if err == nil || strings.Contains(err.Error(), "%!") || worst != 0 || at != tt.at || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s (%s): %v, %d, %v; want an error at %d", tt.name, tt.reason, worst, at, err, tt.at)
		}
	}
}

// At a kink of a curved function the mean of both slopes is wrong, although central differences settle on it before those of the
// sides do.
func TestGradientCurvedKink(t *testing.T) {
	for c := 0.5; c < 200; c *= 1.1 {
		f := func(slope float64) func(grad, x []float64) (float64, error) {
			return each(func(x float64) float64 { return math.Exp(c*x) + c*max(0, x) }, func(x float64) float64 { return c + slope*c })
		}
		for _, slope := range []float64{0, 0.5, 1} {
			worst, _, err := Gradient(f(slope), []float64{0})
			if want := slope != 0.5; err != nil || (worst < 1e-7) != want {
				t.Errorf("curvature %v, slope %v: error %v, %v; below 1e-7: want %v", c, slope, worst, err, want)
			}
		}
	}
}

// For random smooth functions differences and gradient agree to 1e-9, and f is called as often as Gradient says.
func TestGradientSmooth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	top, calls, most := 0.0, 0, 0
	for range 300 {
		x := make([]float64, 1+rng.IntN(6))
		for i := range x {
			x[i] = 4 * rng.NormFloat64()
		}
		a, b := rng.NormFloat64(), 3*rng.NormFloat64()
		calls = 0
		worst, _, err := Gradient(func(grad, x []float64) (float64, error) {
			calls++
			v, _ := crossEntropy(grad, x)
			for i, z := range x {
				v += a * math.Tanh(z) * math.Sin(b*z)
				grad[i] += a * (math.Sin(b*z)/math.Pow(math.Cosh(z), 2) + b*math.Tanh(z)*math.Cos(b*z))
			}
			return v, nil
		}, x)
		if err != nil {
			t.Fatal(err)
		}
		top, most = max(top, worst), max(most, (calls-1)/len(x))
	}
	if top > 1e-9 || most > 40 {
		t.Errorf("the largest error is %v, want 1e-9 or less; up to %d calls for a component, want 40 or less", top, most)
	}
	t.Logf("largest error %.2g, up to %d calls for each component", top, most)
}

func BenchmarkGradient(b *testing.B) {
	for _, n := range []int{8, 64} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i%5) - 2
		}
		b.Run("components="+string(rune('0'+n/10))+string(rune('0'+n%10)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Gradient(crossEntropy, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
