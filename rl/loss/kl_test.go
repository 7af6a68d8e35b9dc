package loss

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
)

var kinds = []KLKind{KL3, KL1, KLAbs, KL2, KL3Plus, KL1Plus, KLAbsPlus}

func TestKLToken(t *testing.T) {
	type pair struct{ value, grad float64 }
	e := math.Exp
	tests := []struct {
		name   string
		d      float64
		want   []pair // in the order of kinds
		reason string
	}{
		{"E15 up", .5, []pair{{.148721, -.648721}, {-.5, 1}, {.5, -1}, {.125, -.5}, {.148721, -.5}, {-.5, -.5}, {.5, -.5}}, "E15"},
		{"E15 down", -.5, []pair{{.106531, .393469}, {.5, 1}, {.5, 1}, {.125, .5}, {.106531, .5}, {.5, .5}, {.5, .5}}, "E15"},
		{"none", 0, []pair{{0, 0}, {0, 1}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}, "equal policies; |d| has gradient 0 at its kink"},
		{"case 23", 710, []pair{{10, 0}, {-710, 1}, {710, -1}, {710 * 710 / 2, -710}, {10, -710}, {-710, -710}, {710, -710}}, "case 23: no overflow"},
		{"far down", -710, []pair{{10, 0}, {710, 1}, {710, 1}, {710 * 710 / 2, 710}, {10, 710}, {710, 710}, {710, 710}}, "3.11: the cap binds for d < -10.99998"},
		{"below the cap", 2.6108, []pair{{e(2.6108) - 3.6108, 1 - e(2.6108)}}, "3.11: the cap binds for d > 2.6109"},
		{"above the cap", 2.611, []pair{{10, 0}}, "3.11: gradient 0 where the cap binds"},
		{"above the lower cap", -10.9999, []pair{{e(-10.9999) + 9.9999, 1 - e(-10.9999)}}, "3.11: and d < -10.99998"},
		{"below the lower cap", -11, []pair{{10, 0}}, "3.11"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		for i, want := range tt.want {
			weight := 2.0
			grad := []float64{7, 7}
			b := Batch{LogProb: []float64{-1e4, math.NaN()}, RefLogProb: []float64{-1e4 + tt.d, 1}, Weight: []float64{weight, 0}}
			loss, err := KL(grad, b, kinds[i])
			got := []float64{loss / weight, grad[0] / weight, grad[1]}
			if diff := cmp.Diff([]float64{want.value, want.grad, 0}, got, digits); diff != "" || err != nil {
				t.Errorf("%s: %s, %v: error %v (-want +got):\n%s", tt.name, tt.reason, kinds[i], err, diff)
			}
		}
	}
}

// Gradients agree with central differences away from kinks; those of a Plus are the ones of KL2 (property 13).
func TestKLGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		n := rapid.IntRange(1, 6).Draw(t, "n")
		logProb, ref, weight := make([]float64, n), make([]float64, n), make([]float64, n)
		b := Batch{LogProb: logProb, RefLogProb: ref, Weight: weight}
		for j := range n {
			logProb[j] = rapid.Float64Range(-36, -16).Draw(t, "l")
			ref[j] = logProb[j] + rapid.Float64Range(-15, 15).Draw(t, "d")
			for _, k := range []float64{0, 2.61091, -10.99998} {
				if d := ref[j] - logProb[j]; math.Abs(d-k) < 1e-3 {
					ref[j] += .01
				}
			}
			weight[j] = rapid.SampledFrom([]float64{0, .1, 1, 3}).Draw(t, "w")
		}
		grad := make([]float64, n)
		value, err := KL(grad, b, kind)
		if err != nil {
			t.Fatal(err)
		}
		base := kind
		if kind >= KL3Plus {
			base = KL2
			if named, err := KL(nil, b, map[KLKind]KLKind{KL3Plus: KL3, KL1Plus: KL1, KLAbsPlus: KLAbs}[kind]); named != value || err != nil {
				t.Fatalf("value %v, want %v", value, named)
			}
		}
		for j, g := range grad {
			want := central(logProb, j, func(x []float64) float64 {
				moved := b
				moved.LogProb = x
				v, err := KL(nil, moved, base)
				if err != nil {
					t.Fatal(err)
				}
				return v
			})
			if math.Abs(g-want) > 1e-6*math.Max(1, math.Abs(want)) {
				t.Fatalf("%v at %d: gradient %v, central difference %v", kind, j, g, want)
			}
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut") // micro-batches (property 12)
		parts := make([]float64, n)
		first, errA := KL(parts[:cut], Batch{LogProb: logProb[:cut], RefLogProb: ref[:cut], Weight: weight[:cut]}, kind)
		second, errB := KL(parts[cut:], Batch{LogProb: logProb[cut:], RefLogProb: ref[cut:], Weight: weight[cut:]}, kind)
		if diff := cmp.Diff(append(slices.Clone(grad), value), append(parts, first+second), near); diff != "" || errA != nil || errB != nil {
			t.Fatalf("%v %v (-whole +parts):\n%s", errA, errB, diff)
		}
		mean, err := KL(nil, Batch{LogProb: logProb, RefLogProb: ref}, kind) // without weights
		for j := range weight {
			weight[j] = 1 / float64(n)
		}
		if weighted, err2 := KL(nil, b, kind); mean != weighted || err != nil || err2 != nil {
			t.Fatalf("mean %v, %v; weighted %v, %v", mean, err, weighted, err2)
		}
	})
}

// At the cap of KL3 the gradient of the side below it is that of the exponential, and beyond the value is constant.
func TestKLCapEdges(t *testing.T) {
	at := func(d float64) (float64, float64) {
		grad := []float64{0}
		v, err := KL(grad, Batch{LogProb: []float64{min(0, -d)}, RefLogProb: []float64{min(0, d)}}, KL3) // their difference is d, to the last bit
		if err != nil {
			t.Fatal(err)
		}
		return v, grad[0]
	}
	for _, tt := range []struct{ inside, outside float64 }{{2, 3}, {-10, -11}} {
		in, out := tt.inside, tt.outside
		for range 200 { // bisect to neighbours
			mid := (in + out) / 2
			if v, _ := at(mid); v < klMost {
				in = mid
			} else {
				out = mid
			}
		}
		v, g := at(in)
		if math.Abs(v-10) > 1e-9 || math.Abs(g-(1-math.Exp(in))) > 1e-12 {
			t.Errorf("inside at %v: %v, gradient %v", in, v, g)
		}
		const h = 1e-7
		toInside := math.Copysign(h, -in)
		if before, _ := at(in + toInside); math.Abs((before-v)/-toInside-g) > 1e-5 {
			t.Errorf("inside at %v: slope %v, gradient %v", in, (before-v)/-toInside, g)
		}
		if v, g := at(out - toInside); v != 10 || g != 0 {
			t.Errorf("outside at %v: %v, gradient %v", out, v, g)
		}
	}
}

// All estimates are finite for log-probabilities in [-1e4, 0], and 0 without a position that counts (property 16, case 25).
func TestKLFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logp := rapid.Float64Range(-1e4, 0)
		grad := []float64{0}
		for _, kind := range kinds {
			v, err := KL(grad, Batch{LogProb: []float64{logp.Draw(t, "l")}, RefLogProb: []float64{logp.Draw(t, "ref")}}, kind)
			if err != nil || !finite(v+grad[0]) || kind != KL1 && kind != KL1Plus && v < 0 {
				t.Fatalf("%v: %v, %v, %v", kind, v, grad, err)
			}
		}
	})
	for _, kind := range kinds {
		if v, err := KL(nil, Batch{}, kind); v != 0 || err != nil {
			t.Errorf("%v of nothing: %v, %v", kind, v, err)
		}
	}
}

func TestKLErrors(t *testing.T) {
	one := []float64{-1}
	tests := []struct {
		name string
		grad []float64
		b    Batch
		kind KLKind
		is   error
		text string
	}{
		{"ref", nil, Batch{LogProb: one}, KL3, rl.ErrShape, "RefLogProb is of length 0"},
		{"old", nil, Batch{LogProb: one, OldLogProb: one}, KL3, rl.ErrShape, "RefLogProb is of length 0"},
		{"weight", nil, Batch{LogProb: one, RefLogProb: one, Weight: []float64{}}, KL3, rl.ErrShape, "Weight is of length 0"},
		{"negative", nil, Batch{LogProb: one, RefLogProb: one, Weight: []float64{-1}}, KL3, nil, "Weight[0] is -1"},
		{"grad", []float64{}, Batch{LogProb: one, RefLogProb: one}, KL3, rl.ErrShape, "grad is of length 0"},
		{"NaN", nil, Batch{LogProb: []float64{math.NaN()}, RefLogProb: one}, KL3, rl.ErrNonFinite, "LogProb[0] is NaN"},
		{"Inf", nil, Batch{LogProb: one, RefLogProb: []float64{math.Inf(-1)}}, KL3, rl.ErrNonFinite, "RefLogProb[0] is -Inf"},
		{"probability", nil, Batch{LogProb: []float64{.5}, RefLogProb: one}, KL3, nil, "LogProb[0] is 0.5, want a log-probability, at most 0"},
		{"ref probability", nil, Batch{LogProb: one, RefLogProb: []float64{.5}}, KL3, nil, "RefLogProb[0] is 0.5, want a log-probability, at most 0"},
		{"square", nil, Batch{LogProb: []float64{-1e200}, RefLogProb: one}, KL2, rl.ErrNonFinite, "the loss is +Inf"},
		{"gradient", []float64{0}, Batch{LogProb: []float64{-2.5}, RefLogProb: []float64{0}, Weight: []float64{1.7e307}}, KL3, rl.ErrNonFinite, "the gradient at LogProb[0] is -Inf"},
		{"kind", nil, Batch{LogProb: one, RefLogProb: one}, 7, nil, "KLKind is 7"},
	}
	for _, tt := range tests {
		if _, err := KL(tt.grad, tt.b, tt.kind); err == nil || !strings.Contains(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
	}
}

func TestKLController(t *testing.T) {
	tests := []struct {
		name   string
		c      KLController
		kl     float64
		n      int
		want   float64
		reason string
	}{
		{"E20 up", KLController{Beta: .01, Adaptive: true, Target: .01, Horizon: 10000}, .03, 128, .0100256, "E20: clipped at .2"},
		{"E20 down", KLController{Beta: .01, Adaptive: true, Target: .01, Horizon: 10000}, .009, 128, .0099872, "E20: -.1"},
		{"defaults", KLController{Beta: 1, Adaptive: true}, .105, 1000, 1.005, "target .1, horizon 10000"},
		{"negative", KLController{Beta: 1, Adaptive: true}, -3, 1000, .98, "an estimate below 0 is far below the target: -.2"},
		{"fixed", KLController{Beta: .3}, 7, 128, .3, "not adaptive"},
		{"fixed too", KLController{Beta: .2, Target: .01}, 7, 128, .2, "not adaptive, whatever else is set"},
		{"horizon", KLController{Beta: 1, Adaptive: true, Target: 1, Horizon: 10}, 2, 20, 1.4, "1 + .2*20/10"},
		{"nothing", KLController{Beta: .3, Adaptive: true}, 7, 0, .3, "no trajectories"},
		{"zero", KLController{Adaptive: true}, 7, 100, 0, "the factor keeps 0"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		c := tt.c
		err := c.Update(tt.kl, tt.n)
		tt.c.Beta = tt.want
		if diff := cmp.Diff(tt.c, c, near); diff != "" || err != nil {
			t.Errorf("%s: %s: error %v (-want +got):\n%s", tt.name, tt.reason, err, diff)
		}
	}
	faults := []struct {
		c    KLController
		kl   float64
		n    int
		text string
	}{
		{KLController{Beta: 1, Adaptive: true, Target: -1}, 1, 1, "KLController.Target is -1"},
		{KLController{Beta: 1, Adaptive: true, Target: math.NaN()}, 1, 1, "KLController.Target is NaN"},
		{KLController{Beta: 1, Adaptive: true, Horizon: -1}, 1, 1, "KLController.Horizon is -1"},
		{KLController{Beta: 1, Adaptive: true, Horizon: math.Inf(1)}, 1, 1, "KLController.Horizon is +Inf"},
		{KLController{Beta: -1}, 1, 1, "KLController.Beta is -1"},
		{KLController{Beta: 1}, math.NaN(), 1, "kl is NaN"},
		{KLController{Beta: 1}, 1, -1, "n is -1"},
		{KLController{Beta: 1, Adaptive: true, Horizon: 10}, 1, 50, "n is 50"},
		{KLController{Beta: 1.7e308, Adaptive: true}, 1, 10000, "Beta after the update is +Inf"},
	}
	for _, tt := range faults {
		c := tt.c
		if err := c.Update(tt.kl, tt.n); err == nil || !strings.Contains(err.Error(), tt.text) || c.Beta != tt.c.Beta {
			t.Errorf("%+v: got %v, want %q", c, err, tt.text)
		}
	}
}

func BenchmarkKL(b *testing.B) {
	for _, kind := range []KLKind{KL3, KL2} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%v/tokens=%d", kind, n), func(b *testing.B) {
				in, _ := benchmarkBatch(n)
				grad := make([]float64, n)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := KL(grad, in, kind); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
