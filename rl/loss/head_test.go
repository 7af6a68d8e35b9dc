package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
)

var (
	e17     = []float64{1, 0, 0, -1, 1.2, .4}
	e17Head = Head{Plus: 4, Minus: 5, Tau: 2}
)

func TestWorkedHead(t *testing.T) {
	nan := math.NaN()
	noReserved := []float64{1, 0, 0, -1, nan, nan} // reserved entries are not read by the policy
	var logProbs []float64
	for a := range 4 {
		dz := make([]float64, 6)
		l, err := e17Head.LogProb(dz, noReserved, a, 1)
		if err != nil {
			t.Fatal(err)
		}
		logProbs = append(logProbs, l)
		if a == 0 {
			if diff := cmp.Diff([]float64{.465553, -.196612, -.196612, -.072329, 0, 0}, dz, digits); diff != "" {
				t.Errorf("E17: gradient of the log-probability (-want +got):\n%s", diff)
			}
		}
	}
	if diff := cmp.Diff([]float64{-.626523, -1.626523, -1.626523, -2.626523}, logProbs, digits); diff != "" {
		t.Errorf("E17: log-probabilities (-want +got):\n%s", diff)
	}
	dz := make([]float64, 6)
	h, err := e17Head.Entropy(dz, noReserved, 1)
	if diff := cmp.Diff([]float64{1.164406, -.287470, .090858, .090858, .105754, 0, 0}, append([]float64{h}, dz...), digits); diff != "" || err != nil {
		t.Errorf("E17: entropy and gradient: error %v (-want +got):\n%s", err, diff)
	}
	dz = make([]float64, 6)
	p, saturated, err := e17Head.Value(dz, []float64{nan, nan, nan, nan, 1.2, .4}, 1)
	if diff := cmp.Diff([]float64{.4, 0, 0, 0, 0, .5, -.5}, append([]float64{p}, dz...), near); diff != "" || saturated || err != nil {
		t.Errorf("E17: value and gradient: %v, error %v (-want +got):\n%s", saturated, err, diff)
	}
}

// Saturated values have gradient exactly 0, or with Inward that of a step back; the edge belongs to the saturated side, and
// the difference from inside is 1/Tau.
func TestSaturation(t *testing.T) {
	tests := []struct {
		plus, scale float64
		p           float64
		hard, in    float64 // gradient at Plus
		saturated   bool
		reason      string
	}{
		{1.5, 1, .75, .5, .5, false, "inside"},
		{2, 1, 1, 0, .5, true, "|x| = 1 counts as saturated; a step down leads back"},
		{2, -1, 1, 0, 0, true, "a step up leads on"},
		{-2, -1, -1, 0, -.5, true, "the lower edge"},
		{-2, 1, -1, 0, 0, true, "the lower edge, on"},
		{3, 2, 1, 0, 1, true, "beyond"},
		{-3, 2, -1, 0, 0, true, "beyond, on"},
		{3, 0, 1, 0, 0, true, "no derivative"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		for _, inward := range []bool{false, true} {
			want := tt.hard
			if inward {
				want = tt.in
			}
			dz := []float64{0, 0, 0}
			p, saturated, err := Head{Plus: 1, Minus: 2, Tau: 2, Inward: inward}.Value(dz, []float64{0, tt.plus, 0}, tt.scale)
			if p != tt.p || saturated != tt.saturated || err != nil || dz[1] != want || dz[2] != -want || dz[0] != 0 {
				t.Errorf("%s, inward %v: %v, %v, %v, gradient %v, want %v", tt.reason, inward, p, saturated, err, dz, want)
			}
		}
	}
	if p, saturated, err := (Head{Plus: 1, Minus: 2}).Value(nil, []float64{0, 1e308, -1e308}, 1); p != 1 || !saturated || err != nil {
		t.Errorf("a difference that overflows: %v, %v, %v", p, saturated, err)
	}
}

// anyHead draws a head, with reserved entries or none, and logits.
func anyHead(t *rapid.T, reserved bool) (Head, []float64) {
	z := rapid.SliceOfN(rapid.Float64Range(-4, 4), 4, 9).Draw(t, "z")
	h := Head{Temperature: rapid.SampledFrom([]float64{0, .4, 1, 2.5}).Draw(t, "T"), Tau: rapid.SampledFrom([]float64{0, 2, 9}).Draw(t, "tau")}
	if reserved || rapid.Bool().Draw(t, "reserved") {
		h.Plus = rapid.IntRange(0, len(z)-1).Draw(t, "plus")
		h.Minus = (h.Plus + rapid.IntRange(1, len(z)-1).Draw(t, "minus")) % len(z)
	}
	return h, z
}

// actions returns the entries of n that are not reserved.
func (h Head) actions(n int) (out []int) {
	for k := range n {
		if h.Plus == h.Minus || k != h.Plus && k != h.Minus {
			out = append(out, k)
		}
	}
	return out
}

// probabilities returns the softmax, literally, 0 at reserved entries.
func (h Head) probabilities(z []float64) []float64 {
	temperature := h.Temperature
	if temperature == 0 {
		temperature = 1
	}
	p, sum := make([]float64, len(z)), 0.0
	for _, k := range h.actions(len(z)) {
		p[k] = math.Exp(z[k] / temperature)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// Log-probability, entropy, divergence and value equal their formulas; gradients agree with central differences, are added
// times scale, and sum to 0 over the actions; reserved and other entries do not touch each other (properties 10, 13, 15).
func TestHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, z := anyHead(t, false)
		ref := make([]float64, len(z))
		for k := range ref {
			ref[k] = rapid.Float64Range(-4, 4).Draw(t, "ref")
		}
		actions := h.actions(len(z))
		a := rapid.SampledFrom(actions).Draw(t, "a")
		p, q := h.probabilities(z), h.probabilities(ref)
		var entropy, kl float64
		for _, k := range actions {
			entropy -= p[k] * math.Log(p[k])
			kl += p[k] * math.Log(p[k]/q[k])
		}
		scale := rapid.Float64Range(-3, 3).Draw(t, "scale")
		terms := []struct {
			name string
			want float64
			f    func(dz, z []float64) (float64, error)
		}{
			{"log-probability", math.Log(p[a]), func(dz, z []float64) (float64, error) { return h.LogProb(dz, z, a, scale) }},
			{"entropy", entropy, func(dz, z []float64) (float64, error) { return h.Entropy(dz, z, scale) }},
			{"divergence", kl, func(dz, z []float64) (float64, error) { return h.KL(dz, z, ref, scale) }},
		}
		for _, term := range terms {
			dz := make([]float64, len(z))
			for k := range dz {
				dz[k] = float64(k)
			}
			got, err := term.f(dz, z)
			if diff := cmp.Diff(term.want, got, cmpopts.EquateApprox(1e-11, 1e-12)); diff != "" || err != nil {
				t.Fatalf("%s: error %v (-want +got):\n%s", term.name, err, diff)
			}
			sum := 0.0
			for k := range dz {
				g := dz[k] - float64(k)
				sum += g
				want := scale * central(z, k, func(x []float64) float64 { v, _ := term.f(nil, x); return v })
				if math.Abs(g-want) > 1e-6*math.Max(1, math.Abs(want)) {
					t.Fatalf("%s: gradient at %d is %v, central difference %v", term.name, k, g, want)
				}
				if !slices.Contains(actions, k) && g != 0 {
					t.Fatalf("%s: gradient at reserved entry %d is %v", term.name, k, g)
				}
			}
			if math.Abs(sum) > 1e-12*10 {
				t.Fatalf("%s: the gradient sums to %v", term.name, sum)
			}
			if h.Plus != h.Minus {
				moved := slices.Clone(z)
				moved[h.Plus], moved[h.Minus] = math.NaN(), 1e300
				if again, err := term.f(nil, moved); again != got || err != nil {
					t.Fatalf("%s: %v with other reserved logits, %v before, %v", term.name, again, got, err)
				}
			}
		}
		if got, _ := h.Entropy(nil, z, 0); got < 0 || got > math.Log(float64(len(actions)))*(1+1e-12) {
			t.Fatalf("entropy %v of %d actions", got, len(actions))
		}
		if h.Plus == h.Minus {
			return
		}
		x := z[h.Plus] - z[h.Minus]
		tau := h.Tau
		if tau == 0 {
			tau = 5
		}
		if math.Abs(math.Abs(x)/tau-1) < 1e-3 {
			return
		}
		dz := make([]float64, len(z))
		v, saturated, err := h.Value(dz, z, scale)
		if want := min(max(x/tau, -1), 1); math.Abs(v-want) > 1e-12 || saturated != (math.Abs(x) >= tau) || err != nil {
			t.Fatalf("value %v, %v, %v, want %v", v, saturated, err, want)
		}
		for k, g := range dz {
			want := scale * central(z, k, func(x []float64) float64 { v, _, _ := h.Value(nil, x, 0); return v })
			if math.Abs(g-want) > 1e-6 || saturated && g != 0 {
				t.Fatalf("value: gradient at %d is %v, central difference %v", k, g, want)
			}
		}
		moved := slices.Clone(z)
		moved[h.Plus] += 3
		moved[h.Minus] += 3
		if again, _, _ := h.Value(nil, moved, 0); math.Abs(again-v) > 1e-12 {
			t.Fatalf("a constant added to both moves the value from %v to %v", v, again)
		}
	})
}

// Over the tokens of the policy itself the mean gradient of KL1 is 0, that of KL2 and of every Plus is that of the exact
// KL(policy||reference), and that of KL3 is p - q (property 14). With a temperature all are over T.
func TestKLExpectation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, z := anyHead(t, false)
		ref := make([]float64, len(z))
		for k := range ref {
			ref[k] = z[k] + rapid.Float64Range(-1, 1).Draw(t, "shift") // within the cap of KL3
		}
		if h.Temperature == .4 {
			h.Temperature = 1
		}
		p, q := h.probabilities(z), h.probabilities(ref)
		exact := make([]float64, len(z))
		if _, err := h.KL(exact, z, ref, 1); err != nil {
			t.Fatal(err)
		}
		reverse := make([]float64, len(z))
		for k := range z {
			reverse[k] = (p[k] - q[k]) / max(h.Temperature, 1)
		}
		for _, kind := range kinds {
			got := make([]float64, len(z))
			for _, a := range h.actions(len(z)) {
				l, err := h.LogProb(nil, z, a, 0)
				lRef, err2 := h.LogProb(nil, ref, a, 0)
				grad := []float64{0}
				_, err3 := KL(grad, Batch{LogProb: []float64{l}, RefLogProb: []float64{lRef}, Weight: []float64{p[a]}}, kind)
				_, err4 := h.LogProb(got, z, a, grad[0])
				if err := errors.Join(err, err2, err3, err4); err != nil {
					t.Fatal(err)
				}
			}
			want := exact
			switch kind {
			case KL1:
				want = make([]float64, len(z))
			case KL3:
				want = reverse
			case KLAbs:
				continue // of no divergence
			}
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Fatalf("%v (-want +got):\n%s", kind, diff)
			}
		}
	})
}

// Logits far apart and up to 1e300 do no harm.
func TestHeadExtremes(t *testing.T) {
	h := Head{Plus: 3, Minus: 4}
	tests := []struct {
		z       []float64
		logProb float64 // of entry 1
		entropy float64
		kl      float64 // from the uniform distribution
		reason  string
	}{
		{[]float64{1e300, -1e300, 0, 0, 0}, -2e300, 0, math.Log(3), "one entry has all"},
		{[]float64{1e300, 1e300, 1e300, 0, 0}, -math.Log(3), math.Log(3), 0, "equal, however large"},
		{[]float64{-1e4, 0, -1e4, 9, 0}, 0, 0, math.Log(3), "probability 1"},
		{[]float64{0, -700, 0, 9, 0}, -700 - math.Ln2, math.Ln2, math.Log(1.5), "a probability that nearly vanishes"},
	}
	for _, tt := range tests {
		dz := make([]float64, 5)
		l, err := h.LogProb(dz, tt.z, 1, 1)
		e, err2 := h.Entropy(dz, tt.z, 1)
		kl, err3 := h.KL(dz, tt.z, make([]float64, 5), 1)
		if diff := cmp.Diff([]float64{tt.logProb, tt.entropy, tt.kl}, []float64{l, e, kl}, near); diff != "" || errors.Join(err, err2, err3) != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.reason, errors.Join(err, err2, err3), diff)
		}
		if slices.ContainsFunc(dz, func(g float64) bool { return !finite(g) }) {
			t.Errorf("%s: gradient %v", tt.reason, dz)
		}
	}
}

func TestHeadErrors(t *testing.T) {
	z := []float64{0, 0, 0, 0, 0, 0}
	with := func(k int, v float64) []float64 {
		z := slices.Clone(z)
		z[k] = v
		return z
	}
	logProb := func(h Head, z []float64, a int) func() error {
		return func() error { _, err := h.LogProb(make([]float64, 6), z, a, 1); return err }
	}
	value := func(h Head, z []float64) func() error {
		return func() error { _, _, err := h.Value(make([]float64, 6), z, 1); return err }
	}
	tests := []struct {
		name string
		err  func() error
		is   error
		text string
	}{
		{"plus", logProb(e17Head, z, 4), ErrReservedToken, "action is 4"},
		{"minus", logProb(e17Head, z, 5), ErrReservedToken, "action is 5"},
		{"range", logProb(e17Head, z, 6), nil, "action is 6, want a position in 6 logits"},
		{"negative", logProb(e17Head, z, -1), nil, "action is -1"},
		{"negative without reserved entries", logProb(Head{}, z, -1), nil, "action is -1, want a position in 6 logits"},
		{"NaN", logProb(e17Head, with(2, math.NaN()), 0), rl.ErrNonFinite, "z[2] is NaN"},
		{"Inf", logProb(e17Head, with(2, math.Inf(-1)), 0), rl.ErrNonFinite, "z[2] is -Inf"},
		{"overflow", logProb(e17Head, []float64{1e308, -1e308, 0, 0, 0, 0}, 1), rl.ErrNonFinite, "the log-probability is -Inf"},
		{"dz", func() error { _, err := e17Head.Entropy(make([]float64, 5), z, 1); return err }, rl.ErrShape, "dz is of length 5"},
		{"scale", func() error { _, err := e17Head.Entropy(make([]float64, 6), z, math.NaN()); return err }, rl.ErrNonFinite, "scale"},
		{"NaN in entropy", func() error { _, err := e17Head.Entropy(nil, with(0, math.NaN()), 1); return err }, rl.ErrNonFinite, "z[0] is NaN"},
		{"NaN in divergence", func() error { _, err := e17Head.KL(nil, with(0, math.NaN()), z, 1); return err }, rl.ErrNonFinite, "z[0] is NaN"},
		{"NaN in reference", func() error { _, err := e17Head.KL(nil, z, with(0, math.NaN()), 1); return err }, rl.ErrNonFinite, "ref[0] is NaN"},
		{"infinite divergence", func() error {
			_, err := Head{}.KL(nil, []float64{-1e308, 1e308}, []float64{1e308, -1e308}, 1)
			return err
		}, rl.ErrNonFinite, "the divergence is +Inf"},
		{"head", func() error { _, err := Head{Tau: -1}.KL(nil, z, z, 1); return err }, nil, "loss: Head.Tau is -1"},
		{"reference", func() error { _, err := e17Head.KL(nil, z, z[:5], 1); return err }, rl.ErrShape, "ref is of length 5"},
		{"short", func() error { _, err := e17Head.LogProb(nil, z[:5], 0, 1); return err }, rl.ErrShape, "z is of length 5, want a length above 5"},
		{"no action", func() error { _, err := Head{Minus: 1}.Entropy(nil, z[:2], 1); return err }, rl.ErrShape, "z is of length 2, want length 3"},
		{"empty", func() error { _, err := Head{}.Entropy(nil, nil, 1); return err }, rl.ErrShape, "z is of length 0"},
		{"NaN plus", value(e17Head, with(4, math.NaN())), rl.ErrNonFinite, "z[4] is NaN"},
		{"NaN minus", value(e17Head, with(5, math.NaN())), rl.ErrNonFinite, "z[5] is NaN"},
		{"no reserved entries", value(Head{}, z), nil, "loss: Head.Plus and Head.Minus are 0"},
		{"same", value(Head{Plus: 2, Minus: 2}, z), nil, "loss: Head.Plus is 2 and Head.Minus is 2"},
		{"below", value(Head{Plus: 2, Minus: -1}, z), nil, "Head.Minus is -1"},
		{"temperature", value(Head{Plus: 1, Temperature: -1}, z), nil, "loss: Head.Temperature is -1"},
		{"tiny temperature", value(Head{Plus: 1, Temperature: 1e-310}, z), nil, "Head.Temperature is 1e-310"},
		{"tau", value(Head{Plus: 1, Tau: math.Inf(1)}, z), nil, "loss: Head.Tau is +Inf"},
	}
	for _, tt := range tests {
		if err := tt.err(); err == nil || !strings.Contains(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
	}
}

// The linear loss of FullWeights over log-probabilities of the full vocabulary has the gradient of the loss over the
// restricted log-probability and the value (property 24).
func TestFullWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, z := anyHead(t, true)
		h.Temperature, h.Inward = 0, rapid.Bool().Draw(t, "inward")
		a := rapid.SampledFrom(h.actions(len(z))).Draw(t, "a")
		w, u := rapid.Float64Range(-3, 3).Draw(t, "w"), rapid.SampledFrom([]float64{0, -1, 2.5}).Draw(t, "u")
		want := make([]float64, len(z))
		l, err := h.LogProb(want, z, a, w)
		v, _, err2 := h.Value(want, z, u)
		full := Head{}
		f := make([]float64, len(z))
		for k := range z {
			f[k], _ = full.LogProb(nil, z, k, 0)
		}
		gotL, gotV, err3 := h.FromFull(f[a], f[h.Plus], f[h.Minus])
		onAction, onPlus, onMinus, err4 := h.FullWeights(f[h.Plus], f[h.Minus], w, u)
		if err := errors.Join(err, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]float64{l, v}, []float64{gotL, gotV}, near); diff != "" {
			t.Fatalf("log-probability and value (-want +got):\n%s", diff)
		}
		got := make([]float64, len(z))
		for k, w := range map[int]float64{a: onAction, h.Plus: onPlus, h.Minus: onMinus} {
			if _, err := full.LogProb(got, z, k, w); err != nil {
				t.Fatal(err)
			}
		}
		if x := math.Abs(f[h.Plus]-f[h.Minus]) - max(h.Tau, 1); math.Abs(x) < 1e-9 {
			return // the normaliser cancels up to rounding only
		}
		if diff := cmp.Diff(want, got, near); diff != "" {
			t.Fatalf("gradient (-want +got):\n%s", diff)
		}
	})
	tests := []struct {
		h           Head
		plus, minus float64
		text        string
	}{
		{Head{Plus: 1, Temperature: 2}, -2, -2, "Head.Temperature is 2, want 1"},
		{Head{}, -2, -2, "Head.Plus and Head.Minus are 0"},
		{Head{Plus: -1}, -2, -2, "Head.Plus is -1"},
		{Head{Plus: 1}, math.NaN(), -2, "plus is NaN"},
		{Head{Plus: 1}, -2, math.Inf(-1), "minus is -Inf"},
		{Head{Plus: 1}, 0, -2, "the probability of the reserved entries is 1.1353"},
	}
	for _, tt := range tests {
		if _, _, _, err := tt.h.FullWeights(tt.plus, tt.minus, 1, 1); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("got %v, want %q", err, tt.text)
		}
		if _, _, err := tt.h.FromFull(-1, tt.plus, tt.minus); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("got %v, want %q", err, tt.text)
		}
	}
	if _, _, err := (Head{Plus: 1}).FromFull(.4, -2, -2); err == nil || !strings.Contains(err.Error(), "action is 0.4, want a log-probability, at most 0") {
		t.Errorf("a probability: %v", err)
	}
	if _, _, err := (Head{Plus: 1}).FromFull(math.NaN(), -2, -2); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("action NaN: %v", err)
	}
	if _, _, _, err := (Head{Plus: 1}).FullWeights(-2, -2, math.NaN(), 1); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("derivative NaN: %v", err)
	}
}

func TestCalibrateTau(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-20, 20), 1, 300).Draw(t, "x")
		before := slices.Clone(x)
		tau, err := CalibrateTau(x)
		inside, less := 0, 0
		for _, d := range x {
			if math.Abs(d/tau) <= .5 {
				inside++
			}
			if math.Abs(d) < tau/2 {
				less++
			}
		}
		if err != nil || tau < 1 || 100*inside < 99*len(x) {
			t.Fatalf("tau %v, %v: %d of %d inside", tau, err, inside, len(x))
		}
		if tau > 1 && 100*less >= 99*len(x) {
			t.Fatalf("tau %v is not the smallest: %d of %d inside", tau, less, len(x))
		}
		if !slices.Equal(before, x) {
			t.Fatal("the input changed")
		}
	})
	for _, x := range [][]float64{nil, {math.NaN()}, {1e308}} {
		if _, err := CalibrateTau(x); err == nil {
			t.Errorf("%v: no error", x)
		}
	}
}

func BenchmarkHead(b *testing.B) {
	for _, n := range []int{64, 1_024, 32_768} {
		rng := rand.New(rand.NewPCG(1, 2))
		z, ref, dz := make([]float64, n), make([]float64, n), make([]float64, n)
		for k := range z {
			z[k], ref[k] = rng.NormFloat64(), rng.NormFloat64()
		}
		h := Head{Plus: 7, Minus: 8}
		for name, f := range map[string]func() error{
			"LogProb": func() error { _, err := h.LogProb(dz, z, 3, 1); return err },
			"Entropy": func() error { _, err := h.Entropy(dz, z, 1); return err },
			"KL":      func() error { _, err := h.KL(dz, z, ref, 1); return err },
			"Value":   func() error { _, _, err := h.Value(dz, z, 1); return err },
		} {
			b.Run(fmt.Sprintf("%s/vocabulary=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// What overflows is an error, also in a gradient alone; an index beyond all logits is none of a panic.
func TestHeadOverflow(t *testing.T) {
	far := Head{Plus: math.MaxInt, Minus: 1}
	if _, _, err := far.Value(nil, []float64{1, 1, 1}, 1); !errors.Is(err, rl.ErrShape) {
		t.Errorf("Value: %v", err)
	}
	if _, err := far.LogProb(nil, []float64{1, 1, 1}, 0, 1); !errors.Is(err, rl.ErrShape) {
		t.Errorf("LogProb: %v", err)
	}
	turn := SAPOTurn{Logits: [][]float64{{1, 1, 1}}, Actions: []int{0}, OldLogProb: []float64{-1}, NoQ: true}
	if _, _, err := SAPO(nil, []SAPOTurn{turn}, &SAPOOptions{Head: far, KLWeight: new(0.0)}); !errors.Is(err, rl.ErrShape) {
		t.Errorf("SAPO: %v", err)
	}
	if _, err := (Head{}).KL(make([]float64, 2), []float64{0, 0}, []float64{0, -1e300}, 1e10); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("gradient of the divergence: %v", err)
	}
	z := make([]float64, 1000)
	z[0] = 6
	if _, err := (Head{}).Entropy(make([]float64, 1000), z, 1.5e308); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("gradient of the entropy: %v", err)
	}
	turn = SAPOTurn{Logits: [][]float64{{0, 1, 1, 0, 0}}, Actions: []int{0}, OldLogProb: []float64{-1}, NoV: true, NoQ: true}
	o := &SAPOOptions{Head: Head{Plus: 3, Minus: 4, Temperature: 1e-10}, KLWeight: new(0.0), EntropyWeight: new(1e300)}
	grad := NewSAPOGrad([]SAPOTurn{turn})
	if _, _, err := SAPO(grad, []SAPOTurn{turn}, o); err == nil {
		for _, g := range grad[0].Logits[0] {
			if g-g != 0 {
				t.Errorf("gradient %v without an error", grad[0].Logits[0])
			}
		}
	}
	if _, _, err := (Head{Plus: 1, Minus: 2}).FromFull(-.0001, -1, -1); err == nil || !strings.Contains(err.Error(), "log-probability") {
		t.Errorf("an action more likely than all that is not reserved: %v", err)
	}
	b := Batch{LogProb: []float64{-1e308, -1e308}, OldLogProb: []float64{0, 0}, Advantage: []float64{0, 0}}
	for name, f := range map[string]func() error{
		"PPO":       func() error { _, _, err := PPO(nil, b, nil); return err },
		"TurnRatio": func() error { _, _, err := TurnRatio(nil, b, []int{0, 1}, nil); return err },
		"CISPO":     func() error { _, _, err := CISPO(nil, b, nil); return err },
	} {
		if err := f(); !errors.Is(err, rl.ErrNonFinite) {
			t.Errorf("%s: log-ratios that overflow: %v", name, err)
		}
	}
}

// Gradients are added to what is there, at both reserved entries.
func TestHeadValueAdds(t *testing.T) {
	dz := []float64{1, 2, 3, 4, 5, 6}
	if _, _, err := e17Head.Value(dz, e17, 3); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1, 2, 3, 4, 6.5, 4.5}, dz, near); diff != "" {
		t.Errorf("3/2 added to 5 and taken from 6 (-want +got):\n%s", diff)
	}
}

// Tau is twice the magnitude that 99 of 100 do not exceed.
func TestCalibrateTauRank(t *testing.T) {
	for n, want := range map[int]float64{1: 2, 99: 198, 100: 198, 101: 200, 200: 396} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i + 1)
		}
		if tau, err := CalibrateTau(x); err != nil || tau != want {
			t.Errorf("1 to %d: %v, %v, want %v", n, tau, err, want)
		}
	}
}

// A divergence is not negative, however rounding falls.
func TestHeadKLNotNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 6).Draw(t, "z")
		ref := slices.Clone(z)
		for k := range ref {
			ref[k] += rapid.Float64Range(-1e-15, 1e-15).Draw(t, "difference")
		}
		for _, other := range [][]float64{z, ref} {
			if kl, err := (Head{}).KL(nil, z, other, 1); err != nil || !(kl >= 0) {
				t.Fatalf("divergence %v, %v", kl, err)
			}
		}
	})
}
