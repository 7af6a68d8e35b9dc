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

func TestValue(t *testing.T) {
	off := &ValueOptions{Clip: new(0.0)}
	tests := []struct {
		name       string
		q, old, y  float64
		o          *ValueOptions
		loss, grad float64
		reason     string
	}{
		{"E16 a", .5, .1, .8, nil, .125, 0, "E16: q_c = .3 is further off"},
		{"E16 b", .5, .1, .2, nil, .045, .3, "E16: q is further off"},
		{"E16 c", .15, .1, .8, nil, .21125, -.65, "E16: inside the clip"},
		{"E16 d", -.4, .1, .8, nil, .72, -1.2, "E16: q is further off, below"},
		{"case 19", 3, 0, 1, off, 2, 2, "case 19: the loss holds the .5, which is .5*2²"},
		{"inside with rounding", .3, .1, .3 + 1e-9, nil, 5e-19, -1e-9, "3.11: inside the clip q_c is q itself, and .1 + (.3-.1) is not"},
		{"edge", .25, .5, 1, &ValueOptions{Clip: new(.25)}, .28125, -.75, "q - old is exactly -.25: not clipped, and the gradient passes"},
		{"tie", 1, 0, .75, &ValueOptions{Clip: new(.5)}, .03125, .25, "(q-y)² = (q_c-y)²: the gradient passes"},
		{"huber out", 3, 0, 1, &ValueOptions{Clip: new(0.0), Huber: .5}, .5 * (2 - .25), .5, "linear beyond .5"},
		{"huber in", 1.25, 0, 1, &ValueOptions{Clip: new(0.0), Huber: .5}, .03125, .25, "quadratic within"},
		{"huber edge", 1.5, 0, 1, &ValueOptions{Clip: new(0.0), Huber: .5}, .125, .5, "both agree"},
		{"huber clipped", .5, .1, .8, &ValueOptions{Huber: .1}, .1 * (.5 - .05), 0, "q_c is further off"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		grad := []float64{0, 7}
		nan := math.NaN()
		loss, _, err := Value(grad, ValueBatch{[]float64{tt.q, nan}, []float64{tt.old, nan}, []float64{tt.y, nan}, []float64{1, 0}}, tt.o)
		if diff := cmp.Diff([]float64{tt.loss, tt.grad, 0}, []float64{loss, grad[0], grad[1]}, near); diff != "" || err != nil {
			t.Errorf("%s: %s: error %v (-want +got):\n%s", tt.name, tt.reason, err, diff)
		}
	}
	// Inside the clip, to the last bit.
	grad := []float64{0}
	q := []float64{.3, .3 + 1e-9}
	if _, _, err := Value(grad, ValueBatch{Value: q[:1], Old: []float64{.1}, Target: q[1:]}, nil); err != nil || grad[0] != q[0]-q[1] {
		t.Errorf("gradient %v, %v", grad, err)
	}
	if loss, _, err := Value(grad, ValueBatch{Value: []float64{3}, Target: []float64{1}}, off); loss != 2 || err != nil {
		t.Errorf("without old: %v, %v", loss, err)
	}
	if loss, _, err := Value(grad, ValueBatch{Value: []float64{3}, Old: []float64{math.NaN()}, Target: []float64{1}}, off); loss != 2 || err != nil {
		t.Errorf("without a clip old is not read: %v, %v", loss, err)
	}
	for _, q := range []float64{.25, -.25} { // exactly at the edge
		if _, s, err := Value(nil, ValueBatch{Value: []float64{q}, Old: []float64{0}, Target: []float64{9}}, &ValueOptions{Clip: new(.25)}); s.Clipped != 0 || err != nil {
			t.Errorf("at %v: %+v, %v", q, s, err)
		}
	}
	_, got, err := Value(nil, ValueBatch{[]float64{.5, .5, .1, 9}, []float64{.1, .1, .1, 9}, []float64{.8, .2, .1, 9}, []float64{1, 1, 5, 0}}, nil)
	if diff := cmp.Diff(ValueStats{3, 2. / 3, 2. / 3}, got, near); diff != "" || err != nil {
		t.Errorf("statistics: error %v (-want +got):\n%s", err, diff)
	}
}

// Against the formula, and central differences away from kinks; micro-batches add up (properties 12, 13).
func TestValueGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		o := &ValueOptions{Clip: new(rapid.SampledFrom([]float64{0, .2, .5}).Draw(t, "clip")), Huber: rapid.SampledFrom([]float64{0, .3}).Draw(t, "huber")}
		eps, x := *o.Clip, rapid.Float64Range(-2, 2)
		pred, old, target, weight := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		var want float64
		for j := range n {
			pred[j], old[j], target[j] = x.Draw(t, "q"), x.Draw(t, "old"), x.Draw(t, "y")
			near := old[j] + min(max(pred[j]-old[j], -eps), eps)
			if eps == 0 {
				near = pred[j]
			}
			kinks := []float64{math.Abs(pred[j]-old[j]) - eps, pred[j] - target[j], math.Abs(pred[j]-target[j]) - math.Abs(near-target[j]), math.Abs(pred[j]-target[j]) - o.Huber}
			inside := math.Abs(pred[j]-old[j]) <= eps || eps == 0
			if slices.ContainsFunc(kinks[:2], func(k float64) bool { return math.Abs(k) < 1e-3 }) || !inside && math.Abs(kinks[2]) < 1e-3 || math.Abs(kinks[3]) < 1e-3 {
				pred[j], old[j], target[j], near = .5, .5, .1, .5
			}
			weight[j] = rapid.SampledFrom([]float64{0, .1, 1, 3}).Draw(t, "w")
			huber := func(e float64) float64 {
				if o.Huber > 0 && math.Abs(e) > o.Huber {
					return o.Huber*math.Abs(e) - o.Huber*o.Huber/2
				}
				return e * e / 2
			}
			want += weight[j] * max(huber(pred[j]-target[j]), huber(near-target[j]))
		}
		grad := make([]float64, n)
		b := ValueBatch{pred, old, target, weight}
		loss, _, err := Value(grad, b, o)
		if diff := cmp.Diff(want, loss, near); diff != "" || err != nil {
			t.Fatalf("error %v (-want +got):\n%s", err, diff)
		}
		for j, g := range grad {
			want := central(pred, j, func(x []float64) float64 {
				v, _, err := Value(nil, ValueBatch{x, old, target, weight}, o)
				if err != nil {
					t.Fatal(err)
				}
				return v
			})
			if math.Abs(g-want) > 1e-6*math.Max(1, math.Abs(want)) {
				t.Fatalf("position %d: gradient %v, central difference %v", j, g, want)
			}
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		parts := make([]float64, n)
		first, _, errA := Value(parts[:cut], ValueBatch{pred[:cut], old[:cut], target[:cut], weight[:cut]}, o)
		second, _, errB := Value(parts[cut:], ValueBatch{pred[cut:], old[cut:], target[cut:], weight[cut:]}, o)
		if diff := cmp.Diff(append(slices.Clone(grad), loss), append(parts, first+second), near); diff != "" || errA != nil || errB != nil {
			t.Fatalf("%v %v (-whole +parts):\n%s", errA, errB, diff)
		}
	})
}

// Where the clipped prediction takes over, the gradient is that of the side where q is further off, and 0 beyond.
func TestValueEdge(t *testing.T) {
	at := func(q float64) (float64, float64) {
		grad := []float64{0}
		l, _, err := Value(grad, ValueBatch{Value: []float64{q}, Old: []float64{0}, Target: []float64{.75}}, &ValueOptions{Clip: new(.5)})
		if err != nil {
			t.Fatal(err)
		}
		return l, grad[0]
	}
	const h = 1e-7
	loss, grad := at(1) // a tie
	up, gradUp := at(1 + h)
	down, gradDown := at(1 - h)
	if grad != .25 || math.Abs((up-loss)/h-.25) > 1e-5 || math.Abs(gradUp-.25) > 1e-6 || down != loss || gradDown != 0 {
		t.Errorf("tie: %v, %v, %v; gradients %v, %v, %v", down, loss, up, gradDown, grad, gradUp)
	}
	loss, grad = at(.5) // the edge of the clip, towards the target
	up, gradUp = at(.5 + h)
	down, gradDown = at(.5 - h)
	if grad != -.25 || math.Abs((loss-down)/h+.25) > 1e-5 || math.Abs(gradDown+.25) > 1e-6 || up != loss || gradUp != 0 {
		t.Errorf("clip: %v, %v, %v; gradients %v, %v, %v", down, loss, up, gradDown, grad, gradUp)
	}
}

func TestValueErrors(t *testing.T) {
	one, nan := []float64{1}, []float64{math.NaN()}
	tests := []struct {
		name string
		grad []float64
		b    ValueBatch
		o    *ValueOptions
		is   error
		text string
	}{
		{"target", nil, ValueBatch{Value: one, Old: one}, nil, rl.ErrShape, "Target is of length 0"},
		{"old", nil, ValueBatch{Value: one, Target: one}, nil, rl.ErrShape, "Old is of length 0"},
		{"old, not read", nil, ValueBatch{Value: one, Target: one, Old: []float64{}}, &ValueOptions{Clip: new(0.0)}, rl.ErrShape, "Old is of length 0"},
		{"weight", nil, ValueBatch{one, one, one, []float64{}}, nil, rl.ErrShape, "Weight is of length 0"},
		{"negative", nil, ValueBatch{one, one, one, []float64{-1}}, nil, nil, "Weight[0] is -1"},
		{"grad", []float64{}, ValueBatch{one, one, one, nil}, nil, rl.ErrShape, "grad is of length 0"},
		{"NaN", nil, ValueBatch{nan, one, one, nil}, nil, rl.ErrNonFinite, "Value[0] is NaN"},
		{"NaN old", nil, ValueBatch{one, nan, one, nil}, nil, rl.ErrNonFinite, "Old[0] is NaN"},
		{"NaN target", nil, ValueBatch{one, one, nan, nil}, nil, rl.ErrNonFinite, "Target[0] is NaN"},
		{"overflow", nil, ValueBatch{[]float64{1e200}, one, one, nil}, nil, rl.ErrNonFinite, "the loss is +Inf"},
		{"gradient", []float64{0}, ValueBatch{[]float64{11}, one, one, []float64{1e308}}, &ValueOptions{Huber: 10}, rl.ErrNonFinite, "the gradient at Value[0] is +Inf"},
		{"clip", nil, ValueBatch{one, one, one, nil}, &ValueOptions{Clip: new(-1.0)}, nil, "loss: ValueOptions.Clip is -1"},
		{"huber", nil, ValueBatch{one, one, one, nil}, &ValueOptions{Huber: math.NaN()}, nil, "loss: ValueOptions.Huber is NaN"},
	}
	for _, tt := range tests {
		if _, _, err := Value(tt.grad, tt.b, tt.o); err == nil || !strings.Contains(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
	}
	for _, w := range [][]float64{nil, {}} { // case 25
		if l, s, err := Value(nil, ValueBatch{Weight: w}, nil); l != 0 || s != (ValueStats{}) || err != nil {
			t.Errorf("nothing: %v, %v, %v", l, s, err)
		}
	}
}

func TestValueAllocations(t *testing.T) {
	x, grad := []float64{-.1, -.2, -.3}, make([]float64, 3)
	w := []float64{1, 2, 3}
	if n := testing.AllocsPerRun(10, func() { _, _, _ = Value(grad, ValueBatch{x, x, x, w}, nil) }); n != 0 {
		t.Errorf("Value allocates %v times", n)
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = KL(grad, Batch{LogProb: x, RefLogProb: x, Weight: w}, KL3) }); n != 0 {
		t.Errorf("KL allocates %v times", n)
	}
}

func BenchmarkValue(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		in, _ := benchmarkBatch(n)
		grad := make([]float64, n)
		b.Run(fmt.Sprintf("values=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Value(grad, ValueBatch{in.LogProb, in.OldLogProb, in.Advantage, in.Weight}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
