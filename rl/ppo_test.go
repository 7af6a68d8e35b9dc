package rl

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestPPOLoss(t *testing.T) {
	type row struct{ advantage, ratio, loss, grad float64 }
	off := &PPOOptions{DualClip: new(0.0)}
	tests := []struct {
		name   string
		o      *PPOOptions
		rows   []row
		reason string
	}{
		{"defaults", nil, []row{
			{1, 1.1, -1.1, -1.1}, {1, 1.3, -1.2, 0}, {1, .5, -.5, -.5}, {-1, 1.1, 1.1, 1.1}, {-1, .7, .8, 0}, {-1, 2.5, 2.5, 2.5}, {-1, 10, 3, 0}, {0, 1.5, 0, 0},
		}, "E14"},
		{"no dual clip", off, []row{{-1, 10, 10, 10}, {-1, .7, .8, 0}, {1, 10, -1.2, 0}},
			"case 28: without it the loss is 10"},
		{"one scale", nil, []row{{1, 1.1, -1.1, -1.1}, {2, 1.3, -2.4, 0}}, "case 17: both branches use the same advantage"},
		{"asymmetric", &PPOOptions{ClipLow: .1, ClipHigh: .4}, []row{{1, 1.3, -1.3, -1.3}, {1, 1.5, -1.4, 0}, {-1, .85, .9, 0}, {-1, .95, .95, .95}},
			"3.11: each side has its own width"},
		{"clamp", &PPOOptions{RatioClamp: 1, DualClip: new(0.0)}, []row{
			{-1, math.Exp(2), math.E, 0}, {1, math.Exp(-3), -math.Exp(-1), 0}, {-1, math.Exp(.5), math.Exp(.5), math.Exp(.5)},
		}, "3.11: gradient 0 unless |D| < C"},
		{"clamp by default", off, []row{{-1, math.Exp(25), math.Exp(20), 0}}, "C is 20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b LossBatch
			var want []float64
			var total float64
			for _, r := range tt.rows {
				b.LogProb = append(b.LogProb, -2+math.Log(r.ratio))
				b.OldLogProb = append(b.OldLogProb, -2)
				b.Advantage = append(b.Advantage, r.advantage)
				want = append(want, r.grad)
				total += r.loss
			}
			grad := make([]float64, len(tt.rows))
			loss, stats, err := PPOLoss(grad, b, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			for j := range grad {
				grad[j] *= float64(len(grad))
			}
			tol := cmpopts.EquateApprox(1e-12, 1e-12)
			if diff := cmp.Diff(want, grad, tol); diff != "" {
				t.Errorf("%s: gradient (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(total, loss*float64(len(grad)), tol); diff != "" || stats.Tokens != len(grad) {
				t.Errorf("%s: loss (-want +got):\n%s", tt.reason, diff)
			}
			for j, r := range tt.rows { // one by one
				one := LossBatch{LogProb: b.LogProb[j : j+1], OldLogProb: b.OldLogProb[j : j+1], Advantage: b.Advantage[j : j+1]}
				if loss, _, err := PPOLoss(nil, one, tt.o); err != nil || math.Abs(loss-r.loss) > 1e-12*math.Max(1, math.Abs(r.loss)) {
					t.Errorf("%s: loss of row %d is %v, %v, want %v", tt.reason, j, loss, err, r.loss)
				}
			}
		})
	}
}

// At the edges of the clip the gradient passes and equals the one-sided difference towards the unclipped side; towards
// the other side the loss is constant (property 13).
func TestPPOEdges(t *testing.T) {
	high, low := math.Exp(.25), math.Exp(-.25)
	dual := math.Exp(1.5)
	// 1+(high-1) is exactly high, since high is in [1, 2); likewise 1-(1-low), since low is in [1/2, 1].
	o := &PPOOptions{ClipHigh: high - 1, ClipLow: 1 - low, DualClip: &dual}
	tests := []struct {
		name         string
		d, advantage float64
		inside       float64 // direction in which the unclipped term is active
	}{
		{"upper", .25, 1, -1},
		{"lower", -.25, -1, 1},
		{"dual", 1.5, -1, -1},
	}
	for _, tt := range tests {
		at := func(d float64) (float64, float64) {
			grad := []float64{0}
			loss, _, err := PPOLoss(grad, LossBatch{LogProb: []float64{d}, OldLogProb: []float64{0}, Advantage: []float64{tt.advantage}}, o)
			if err != nil {
				t.Fatal(err)
			}
			return loss, grad[0]
		}
		const h = 1e-7
		loss, grad := at(tt.d)
		in, gradIn := at(tt.d + h*tt.inside)
		out, gradOut := at(tt.d - h*tt.inside)
		if want := -tt.advantage * math.Exp(tt.d); math.Abs(grad-want) > 1e-12 {
			t.Errorf("%s: gradient at the edge is %v, want %v", tt.name, grad, want)
		}
		if slope := (in - loss) / (h * tt.inside); math.Abs(slope-grad) > 1e-5 || math.Abs(gradIn-grad) > 1e-5 {
			t.Errorf("%s: inside, slope %v and gradient %v, want %v", tt.name, slope, gradIn, grad)
		}
		if out != loss || gradOut != 0 {
			t.Errorf("%s: outside, loss %v and gradient %v, want %v and 0", tt.name, out, gradOut, loss)
		}
	}
}

// anyLossBatch draws log-probabilities near each other, away from the kinks of the default options by at least 1e-3.
func anyLossBatch(t *rapid.T) LossBatch {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	b := LossBatch{Weight: make([]float64, n)}
	kinks := []float64{math.Log(.8), math.Log(1.2), math.Log(3), -20, 20}
	for j := range n {
		d := rapid.Float64Range(-2, 2).Draw(t, "d")
		if slices.ContainsFunc(kinks, func(k float64) bool { return math.Abs(d-k) < 1e-3 }) {
			d = 0
		}
		old := rapid.Float64Range(-5, 0).Draw(t, "old")
		b.OldLogProb = append(b.OldLogProb, old)
		b.LogProb = append(b.LogProb, old+d)
		b.Advantage = append(b.Advantage, anyFloat(3).Draw(t, "advantage"))
		b.Weight[j] = rapid.SampledFrom([]float64{0, 1e-3, .25, 1, 37.5}).Draw(t, "weight")
	}
	return b
}

// The gradient equals central differences of the loss (property 13).
func TestPPOGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyLossBatch(t)
		grad := make([]float64, len(b.LogProb))
		if _, _, err := PPOLoss(grad, b, nil); err != nil {
			t.Fatal(err)
		}
		const h = 1e-5
		for j := range grad {
			at := func(d float64) float64 {
				moved := b
				moved.LogProb = slices.Clone(b.LogProb)
				moved.LogProb[j] += d
				loss, _, err := PPOLoss(nil, moved, nil)
				if err != nil {
					t.Fatal(err)
				}
				return loss
			}
			if want := (at(h) - at(-h)) / (2 * h); math.Abs(grad[j]-want) > 1e-6*math.Max(1, math.Abs(want)) {
				t.Fatalf("position %d: gradient %v, central difference %v", j, grad[j], want)
			}
			if b.Weight[j] == 0 && (grad[j] != 0 || math.Signbit(grad[j])) {
				t.Fatalf("position %d of weight 0 has gradient %v", j, grad[j])
			}
		}
	})
}

// With the weights of the whole step, micro-batches add up to the whole, however it is cut; contents of weight 0 are never
// read (properties 2, 12).
func TestPPOMicroBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyLossBatch(t)
		grad := make([]float64, len(b.LogProb))
		loss, stats, err := PPOLoss(grad, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		noisy := LossBatch{slices.Clone(b.LogProb), slices.Clone(b.OldLogProb), slices.Clone(b.Advantage), b.Weight}
		for j, w := range b.Weight {
			if w == 0 {
				noisy.LogProb[j], noisy.OldLogProb[j], noisy.Advantage[j] = math.NaN(), math.Inf(-1), math.Inf(1)
			}
		}
		parts := make([]float64, len(grad))
		var sum float64
		var tokens int
		for from := 0; from < len(grad); {
			to := rapid.IntRange(from+1, len(grad)).Draw(t, "to")
			part := LossBatch{noisy.LogProb[from:to], noisy.OldLogProb[from:to], noisy.Advantage[from:to], noisy.Weight[from:to]}
			l, s, err := PPOLoss(parts[from:to], part, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum += l
			tokens += s.Tokens
			from = to
		}
		if diff := cmp.Diff(loss, sum, near); diff != "" || tokens != stats.Tokens {
			t.Fatalf("loss, %d of %d tokens (-whole +parts):\n%s", tokens, stats.Tokens, diff)
		}
		if diff := cmp.Diff(grad, parts, near); diff != "" {
			t.Fatalf("gradient (-whole +parts):\n%s", diff)
		}
	})
}

func TestTokenMean(t *testing.T) {
	// E19 and case 26: two sequences, 2 tokens of loss 1 and 8 of loss 2. Averaging the means of two micro-batches
	// gives 1.5.
	mk := func(n int, loss float64) LossBatch {
		b := LossBatch{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
		for j := range n {
			b.Advantage[j], b.Weight[j] = -loss, .1
		}
		return b
	}
	a, _, err := PPOLoss(nil, mk(2, 1), nil)
	c, _, err2 := PPOLoss(nil, mk(8, 2), nil)
	if err != nil || err2 != nil || math.Abs(a+c-1.8) > 1e-12 {
		t.Errorf("got %v, %v, %v, want a sum of 1.8", a+c, err, err2)
	}
}

// Without weights each position has 1/len, and a masked mean is 1/N at the N positions that count.
func TestNoWeight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		masked := anyLossBatch(t)
		var b LossBatch
		n := 0
		for _, w := range masked.Weight {
			if w > 0 {
				n++
			}
		}
		for j, w := range masked.Weight {
			if w > 0 {
				masked.Weight[j] = 1 / float64(n)
				b.LogProb = append(b.LogProb, masked.LogProb[j])
				b.OldLogProb = append(b.OldLogProb, masked.OldLogProb[j])
				b.Advantage = append(b.Advantage, masked.Advantage[j])
			}
		}
		want, wantStats, err := PPOLoss(nil, masked, nil)
		got, stats, err2 := PPOLoss(nil, b, nil)
		if err != nil || err2 != nil || got != want || stats != wantStats || stats.Tokens != n {
			t.Fatalf("loss %v, %+v, error %v; with weights %v, %+v, %v", got, stats, err2, want, wantStats, err)
		}
	})
}

func TestPPOMasked(t *testing.T) {
	// Case 24: at a pad the log-ratio is 200, and exp(200) times 0 is no gradient to have.
	grad := []float64{7, 7}
	loss, stats, err := PPOLoss(grad, LossBatch{[]float64{0, -1}, []float64{-200, -1}, []float64{1, 1}, []float64{0, 1}}, nil)
	if diff := cmp.Diff([]float64{0, -1}, grad); diff != "" || loss != -1 || err != nil || stats.Tokens != 1 || stats.ApproxKL != 0 {
		t.Errorf("loss %v, %+v, error %v, gradient (-want +got):\n%s", loss, stats, err, diff)
	}
	// Case 25: no position counts.
	for _, b := range []LossBatch{{}, {[]float64{math.NaN()}, []float64{0}, []float64{0}, []float64{0}}} {
		grad := make([]float64, len(b.LogProb))
		loss, stats, err := PPOLoss(grad, b, nil)
		if loss != 0 || stats != (PPOStats{}) || err != nil || slices.ContainsFunc(grad, func(g float64) bool { return g != 0 }) {
			t.Errorf("%+v: loss %v, %+v, error %v, gradient %v; want zeros", b, loss, stats, err, grad)
		}
	}
}

// Losses and gradients are finite for log-probabilities in [-1e4, 0] (property 16).
func TestPPOFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logp := rapid.Float64Range(-1e4, 0)
		b := LossBatch{[]float64{logp.Draw(t, "new")}, []float64{logp.Draw(t, "old")}, []float64{rapid.Float64Range(-1e3, 1e3).Draw(t, "a")}, nil}
		grad := []float64{0}
		loss, s, err := PPOLoss(grad, b, &PPOOptions{DualClip: new(0.0)})
		if err != nil || !finite(loss+grad[0]+s.MeanKL+s.ApproxKL) || s.ApproxKL < 0 {
			t.Fatalf("loss %v, gradient %v, %+v, %v", loss, grad[0], s, err)
		}
	})
}

func TestPPOStats(t *testing.T) {
	// Ratios 1, 1.5 (outside above), .5 (outside below, A > 0: still has a gradient) and one of weight 0.
	b := LossBatch{
		LogProb:    []float64{-1, -1 + math.Log(1.5), -1 + math.Log(.5), 0},
		OldLogProb: []float64{-1, -1, -1, -1},
		Advantage:  []float64{0, 1, 1, 1},
		Weight:     []float64{.1, 2, 3, 0}, // shares and means count each once
	}
	_, got, err := PPOLoss(nil, b, nil)
	want := PPOStats{Tokens: 3, ClipFraction: 2. / 3, ZeroGradient: 2. / 3, MeanKL: -math.Log(.75) / 3, ApproxKL: (0 + .5 - math.Log(1.5) - .5 - math.Log(.5)) / 3}
	if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestPPOErrors(t *testing.T) {
	ok := func() LossBatch {
		return LossBatch{[]float64{-1, -1}, []float64{-1, -1}, []float64{1, 1}, []float64{1, 1}}
	}
	tests := []struct {
		name   string
		change func(*LossBatch, *PPOOptions)
		is     error
		text   string
	}{
		{"old", func(b *LossBatch, _ *PPOOptions) { b.OldLogProb = b.OldLogProb[:1] }, ErrShape,
			"OldLogProb is of length 1"},
		{"advantage", func(b *LossBatch, _ *PPOOptions) { b.Advantage = append(b.Advantage, 1) }, ErrShape, "Advantage is of length 3"}, // case 18
		{"weight", func(b *LossBatch, _ *PPOOptions) { b.Weight = []float64{} }, ErrShape, "Weight is of length 0"},
		{"negative weight", func(b *LossBatch, _ *PPOOptions) { b.Weight[1] = -.5 }, nil,
			"Weight[1] is -0.5, want a number >= 0"},
		{"NaN weight", func(b *LossBatch, _ *PPOOptions) { b.Weight[0] = math.NaN() }, ErrNonFinite, "Weight[0] is NaN"},
		{"Inf weight", func(b *LossBatch, _ *PPOOptions) { b.Weight[1] = math.Inf(1) }, ErrNonFinite, "Weight[1] is +Inf"},
		{"gradient", func(b *LossBatch, _ *PPOOptions) { *b = LossBatch{} }, ErrShape, "grad is of length 2"},
		{"NaN", func(b *LossBatch, _ *PPOOptions) { b.LogProb[1] = math.NaN() }, ErrNonFinite, "LogProb[1] is NaN"},
		{"Inf", func(b *LossBatch, _ *PPOOptions) { b.OldLogProb[0] = math.Inf(-1) }, ErrNonFinite, "OldLogProb[0] is -Inf"},
		{"NaN advantage", func(b *LossBatch, _ *PPOOptions) { b.Advantage[0] = math.NaN() }, ErrNonFinite, "Advantage[0]"},
		{"overflow", func(b *LossBatch, _ *PPOOptions) { b.Advantage[0], b.Advantage[1] = 1e308, 1e308 }, ErrNonFinite,
			"the loss is -Inf"},
		{"ratio overflow", func(b *LossBatch, _ *PPOOptions) { b.LogProb[1], b.OldLogProb[1] = 1e308, -1e308 }, ErrNonFinite,
			"LogProb[1] - OldLogProb[1] is +Inf"},
		{"weight overflow", func(b *LossBatch, _ *PPOOptions) {
			*b = LossBatch{b.LogProb, b.OldLogProb, []float64{10, -10}, []float64{1e308, 1e308}}
		}, ErrNonFinite, "the loss is NaN"}, // terms that would cancel
		{"low", func(_ *LossBatch, o *PPOOptions) { o.ClipLow = 1 }, nil, "PPOOptions.ClipLow is 1"},
		{"high", func(_ *LossBatch, o *PPOOptions) { o.ClipHigh = -.1 }, nil, "PPOOptions.ClipHigh is -0.1"},
		{"dual", func(_ *LossBatch, o *PPOOptions) { o.DualClip = new(1.0) }, nil, "PPOOptions.DualClip is 1"},
		{"clamp", func(_ *LossBatch, o *PPOOptions) { o.RatioClamp = 701 }, nil, "PPOOptions.RatioClamp is 701"},
	}
	for _, tt := range tests {
		b, o := ok(), &PPOOptions{}
		tt.change(&b, o)
		loss, stats, err := PPOLoss(make([]float64, 2), b, o)
		if err == nil || !strings.HasPrefix(err.Error(), "rl: ") || !strings.Contains(err.Error(), tt.text) || (tt.is != nil && !errors.Is(err, tt.is)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
		if loss != 0 || stats != (PPOStats{}) {
			t.Errorf("%s: loss %v and %+v beside an error", tt.name, loss, stats)
		}
	}
}

func BenchmarkPPOLoss(b *testing.B) {
	const n = 10_000
	rng := rand.New(rand.NewPCG(1, 2))
	in := LossBatch{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	for j := range n {
		in.OldLogProb[j] = -3 * rng.Float64()
		in.LogProb[j] = in.OldLogProb[j] + .3*rng.NormFloat64()
		in.Advantage[j] = rng.NormFloat64()
		in.Weight[j] = float64(min(rng.IntN(4), 1)) / n
	}
	grad := make([]float64, n)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := PPOLoss(grad, in, nil); err != nil {
			b.Fatal(err)
		}
	}
}
