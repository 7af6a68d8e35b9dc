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
	near   = cmpopts.EquateApprox(1e-12, 1e-12)
	digits = cmpopts.EquateApprox(0, 5.1e-7) // worked examples are rounded to six decimals
)

// A policyLoss is one loss over a Batch, with default options.
type policyLoss struct {
	name     string
	f        func(grad []float64, b Batch, turn []int) (float64, Stats, error)
	detached bool // the ratio is a constant in the gradient
	ratios   bool // it reads OldLogProb
}

func policyLosses() []policyLoss {
	return []policyLoss{
		{"PPO", func(grad []float64, b Batch, _ []int) (float64, Stats, error) { return PPO(grad, b, nil) }, false, true},
		{"TurnRatio", func(grad []float64, b Batch, turn []int) (float64, Stats, error) {
			return TurnRatio(grad, b, turn, nil)
		}, false, true},
		{"CISPO", func(grad []float64, b Batch, _ []int) (float64, Stats, error) { return CISPO(grad, b, nil) }, true, true},
		{"SoftGate", func(grad []float64, b Batch, _ []int) (float64, Stats, error) { return SoftGate(grad, b, nil) }, false, true},
		{"Reinforce", func(grad []float64, b Batch, _ []int) (float64, Stats, error) {
			l, err := Reinforce(grad, b)
			return l, Stats{}, err
		}, false, false},
	}
}

// row is one token: what goes in, and the loss and gradient of it alone.
type row struct{ advantage, ratio, loss, grad float64 }

// base is the old log-probability of rows; log-ratios up to it leave a log-probability.
const base = -25

func rows(rs []row) (b Batch) {
	for _, r := range rs {
		b.LogProb = append(b.LogProb, base+math.Log(r.ratio))
		b.OldLogProb = append(b.OldLogProb, base)
		b.Advantage = append(b.Advantage, r.advantage)
		b.Weight = append(b.Weight, 1)
	}
	return b
}

func TestWorkedTokens(t *testing.T) {
	ppo := func(o *PPOOptions) func([]float64, Batch) (float64, Stats, error) {
		return func(grad []float64, b Batch) (float64, Stats, error) { return PPO(grad, b, o) }
	}
	cispo := func(o *CISPOOptions) func([]float64, Batch) (float64, Stats, error) {
		return func(grad []float64, b Batch) (float64, Stats, error) { return CISPO(grad, b, o) }
	}
	gate := func(o *SoftGateOptions) func([]float64, Batch) (float64, Stats, error) {
		return func(grad []float64, b Batch) (float64, Stats, error) { return SoftGate(grad, b, o) }
	}
	off := new(0.0)
	l := func(ratio float64) float64 { return base + math.Log(ratio) }
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	tests := []struct {
		name   string
		f      func([]float64, Batch) (float64, Stats, error)
		rows   []row
		reason string
	}{
		{"PPO", ppo(nil), []row{
			{1, 1.1, -1.1, -1.1}, {1, 1.3, -1.2, 0}, {1, .5, -.5, -.5}, {-1, 1.1, 1.1, 1.1}, {-1, .7, .8, 0}, {-1, 2.5, 2.5, 2.5}, {-1, 10, 3, 0}, {0, 1.5, 0, 0},
		}, "E14; its (-1, 10) is case 28"},
		{"no dual clip", ppo(&PPOOptions{DualClip: off}), []row{{-1, 10, 10, 10}, {-1, .7, .8, 0}, {1, 10, -1.2, 0}},
			"case 28: without it the loss is 10"},
		{"one scale", ppo(nil), []row{{1, 1.1, -1.1, -1.1}, {2, 1.3, -2.4, 0}}, "case 17: both branches use the same advantage"},
		{"asymmetric", ppo(&PPOOptions{ClipLow: .1, ClipHigh: .4}), []row{{1, 1.3, -1.3, -1.3}, {1, 1.5, -1.4, 0}, {-1, .85, .9, 0}, {-1, .95, .95, .95}},
			"3.11: each side has its own width"},
		{"clamp", ppo(&PPOOptions{RatioClamp: 1, DualClip: off}), []row{
			{-1, math.Exp(2), math.E, 0}, {1, math.Exp(-3), -math.Exp(-1), 0}, {-1, math.Exp(.5), math.Exp(.5), math.Exp(.5)},
		}, "3.11: gradient 0 unless |D| < C"},
		{"clamp by default", ppo(&PPOOptions{DualClip: off}), []row{{-1, math.Exp(25), math.Exp(20), 0}}, "C is 20"},
		{"CISPO", cispo(nil), []row{{1, 1.1, -1.1 * l(1.1), -1.1}, {2, 1.5, -2.4 * l(1.5), -2.4}, {-2, 1.5, 2.4 * l(1.5), 2.4},
			{1, .1, -.1 * l(.1), -.1}, {0, 9, 0, 0}}, "3.11: -min(ratio, 1.2) A l; no lower bound, both signs"},
		{"CISPO wider", cispo(&CISPOOptions{ClipHigh: 2}), []row{{1, 5, -3 * l(5), -3}}, "at most 1+ClipHigh"},
		{"CISPO clamp", cispo(&CISPOOptions{ClipHigh: 1e300, RatioClamp: 1}), []row{{1, math.Exp(2), -math.E * l(math.Exp(2)), -math.E}}, "the clamp bounds the ratio but not the gradient"},
		{"SoftGate", gate(nil), []row{{1, 1.5, -4 * sigmoid(.5), -4 * sigmoid(.5) * sigmoid(-.5) * 1.5},
			{-1, 1.5, 4 / 1.05 * sigmoid(.525), 4 * sigmoid(.525) * sigmoid(-.525) * 1.5}, {0, 1.5, 0, 0}, {1, 1, -2, -1},
		}, "3.11: tau 1 above 0 and 1.05 elsewhere; at ratio 1 the gradient is that of PPO"},
		{"SoftGate tau", gate(&SoftGateOptions{TauPositive: 2, TauNegative: 3}), []row{{1, .5, -2 * sigmoid(-1), -4 * sigmoid(1) * sigmoid(-1) * .5},
			{-1, .5, 4. / 3 * sigmoid(-1.5), 4 * sigmoid(1.5) * sigmoid(-1.5) * .5}}, "each sign has its own"},
		{"SoftGate far", gate(nil), []row{{1, math.Exp(19), -4, 0}, {-1, math.Exp(-19), 4 / 1.05 * sigmoid(1.05*(math.Exp(-19)-1)), 4 * sigmoid(1.05) * sigmoid(-1.05) * math.Exp(-19)}},
			"the gate closes without overflow"},
		{"SoftGate clamp", gate(&SoftGateOptions{RatioClamp: 1}), []row{{-1, math.Exp(-2), 4 / 1.05 * sigmoid(1.05*(math.Exp(-1)-1)), 0}}, "3.11: gradient 0 unless |D| < C"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			b := rows(tt.rows)
			var want []float64
			var total float64
			for _, r := range tt.rows {
				want = append(want, r.grad)
				total += r.loss
			}
			grad := make([]float64, len(tt.rows))
			loss, stats, err := tt.f(grad, b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, grad, near); diff != "" {
				t.Errorf("%s: gradient (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(total, loss, near); diff != "" || stats.Tokens != len(grad) {
				t.Errorf("%s: loss (-want +got):\n%s", tt.reason, diff)
			}
			for j, r := range tt.rows { // one by one, and without weights
				one := Batch{LogProb: b.LogProb[j : j+1], OldLogProb: b.OldLogProb[j : j+1], Advantage: b.Advantage[j : j+1]}
				if loss, _, err := tt.f(nil, one); err != nil || math.Abs(loss-r.loss) > 1e-12*math.Max(1, math.Abs(r.loss)) {
					t.Errorf("%s: loss of row %d is %v, %v, want %v", tt.reason, j, loss, err, r.loss)
				}
				if g := grad[j]; g == 0 && math.Signbit(g) {
					t.Errorf("gradient of row %d is -0", j)
				}
			}
		})
	}
	// E15, the soft gate as rounded there.
	grad := []float64{0}
	l15, _, err := SoftGate(grad, rows([]row{{1, 1.5, 0, 0}}), nil)
	if diff := cmp.Diff([]float64{-2.489837, -1.410022}, []float64{l15, grad[0]}, digits); diff != "" || err != nil {
		t.Errorf("E15: error %v (-want +got):\n%s", err, diff)
	}
}

func TestWorkedTurns(t *testing.T) {
	d := func(ds ...float64) Batch {
		var b Batch
		for _, d := range ds {
			b.LogProb, b.OldLogProb = append(b.LogProb, -4+d), append(b.OldLogProb, -4)
			b.Advantage, b.Weight = append(b.Advantage, 2), append(b.Weight, .5)
		}
		return b
	}
	nan := math.NaN()
	masked := Batch{
		LogProb: []float64{-3.9, nan, -3.8, 7}, OldLogProb: []float64{-4, nan, -4, nan},
		Advantage: []float64{2, nan, 2, nan}, Weight: []float64{.5, 0, .5, 0},
	}
	uneven := d(.1, .2)
	uneven.Weight = []float64{.25, 1.75}
	two := d(.1, .3, .1, .2) // one clipped, one not
	negative := d(.3, .3, -.5)
	negative.Advantage = []float64{-2, -2, -2}
	tests := []struct {
		name   string
		b      Batch
		turn   []int
		o      *TurnRatioOptions
		loss   float64
		grad   []float64
		reason string
	}{
		{"E14 active", d(.1, .2), []int{0, 0}, nil, -2.323668, []float64{-1.161834, -1.161834}, "E14: rho = e^.15"},
		{"E14 clipped", d(.1, .3), []int{4, 4}, nil, -2.4, []float64{0, 0}, "E14: rho = e^.2 > 1.2"},
		{"masked inside", masked, []int{0, 9, 0, 9}, nil, -2.323668, []float64{-1.161834, 0, -1.161834, 0}, "positions of weight 0 are not in the mean"},
		{"uneven weights", uneven, []int{0, 0}, nil, -4.647337, []float64{-2.323668, -2.323668}, "the weight of the turn is the sum, 2: -4 e^.15"},
		{"two turns", two, []int{0, 0, 1, 1}, nil, -4.723668, []float64{0, 0, -1.161834, -1.161834}, "each turn has its own ratio"},
		{"number again", two, []int{5, 5, 1, 1}, nil, -4.723668, []float64{0, 0, -1.161834, -1.161834}, "the numbers need no order"},
		{"negative", negative, []int{0, 0, 1}, nil, 2*1.349859 + .5*1.6, []float64{1.349859, 1.349859, 0}, "A < 0: active above 1.2, clipped below .8, no dual clip"},
		{"narrow", d(.1, .2), []int{0, 0}, &TurnRatioOptions{ClipHigh: 4e-4}, -2 * 1.0004, []float64{0, 0}, "GSPO's band"},
		{"clamped", d(2, 2), []int{0, 0}, &TurnRatioOptions{ClipHigh: 1e9, RatioClamp: 1}, -2 * 2.718282, []float64{0, 0}, "3.11: gradient 0 unless |mean D| < C"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		grad := make([]float64, len(tt.turn))
		loss, _, err := TurnRatio(grad, tt.b, tt.turn, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]float64{tt.loss}, tt.grad...), append([]float64{loss}, grad...), digits); diff != "" {
			t.Errorf("%s: %s: loss and gradient (-want +got):\n%s", tt.name, tt.reason, diff)
		}
	}
	apart := d(.1, .3, .1)
	grad := make([]float64, 3)
	if _, s, err := TurnRatio(grad, apart, []int{3, 4, 3}, nil); err != nil || grad[0] == 0 || grad[1] != 0 || grad[2] == 0 || s.Tokens != 3 {
		t.Errorf("equal numbers that are apart are not one turn: gradient %v, %v", grad, err)
	}
	apart.Advantage[1] = 3
	if _, _, err := TurnRatio(nil, apart, []int{0, 0, 0}, nil); err == nil || !strings.Contains(err.Error(), "Advantage[1] is 3, want 2 as at position 0") {
		t.Errorf("advantages that differ in a turn: %v", err)
	}
	if _, _, err := TurnRatio(nil, apart, []int{0, 0}, nil); !errors.Is(err, rl.ErrShape) {
		t.Errorf("turn too short: %v", err)
	}
}

func TestTurns(t *testing.T) {
	got := Turns([]int{9, 9, 9, 9, 9, 9, 9}, []rl.Trajectory{
		{Turns: []rl.Turn{{Tokens: tokens(2, 1)}, {}, {Tokens: tokens(0, 2)}, {Tokens: tokens(1, 0), Excluded: true}}},
		{},
		{Turns: []rl.Turn{{Tokens: tokens(1, 3)}}},
	})
	if diff := cmp.Diff([]int{0, 0, 3, 4}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// tokens returns tokens that are trainable, then others.
func tokens(trainable, other int) (out []rl.Token) {
	for range trainable {
		out = append(out, rl.Token{Trainable: true})
	}
	for range other {
		out = append(out, rl.Token{LogProb: math.NaN()})
	}
	return out
}

// At the edges of the clip the gradient passes and equals the one-sided difference towards the unclipped side; towards
// the other side the loss is constant (property 13).
func TestClipEdges(t *testing.T) {
	high, low := math.Exp(.25), math.Exp(-.25)
	dual := math.Exp(1.5)
	// 1+(high-1) is exactly high, since high is in [1, 2); likewise 1-(1-low), since low is in [1/2, 1].
	o := &PPOOptions{ClipHigh: high - 1, ClipLow: 1 - low, DualClip: &dual}
	turn := &TurnRatioOptions{ClipHigh: high - 1, ClipLow: 1 - low}
	tests := []struct {
		name         string
		d, advantage float64
		inside       float64 // direction in which the unclipped term is active
		turns        bool    // whether TurnRatio has it
	}{
		{"upper", .25, 1, -1, true},
		{"lower", -.25, -1, 1, true},
		{"dual", 1.5, -1, -1, false},
	}
	for _, tt := range tests {
		for _, perTurn := range []bool{false, tt.turns} {
			at := func(d float64) (float64, float64) {
				b := Batch{LogProb: []float64{-2 + d}, OldLogProb: []float64{-2}, Advantage: []float64{tt.advantage}} // at the edges d survives the sum
				grad := []float64{0}
				loss, _, err := PPO(grad, b, o)
				if perTurn {
					loss, _, err = TurnRatio(grad, b, []int{0}, turn)
				}
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
}

// At the clamp of the log-ratio the gradient is 0, and the loss is constant beyond.
func TestClampEdge(t *testing.T) {
	for _, d := range []float64{-1, 1} {
		for _, beyond := range []float64{0, 1e-6, 5} {
			b := Batch{LogProb: []float64{-8 + d*(1+beyond)}, OldLogProb: []float64{-8}, Advantage: []float64{-1}}
			if d < 0 {
				b.Advantage[0] = 1
			}
			grad := []float64{7}
			for _, f := range []func() (float64, Stats, error){
				func() (float64, Stats, error) { return PPO(grad, b, &PPOOptions{RatioClamp: 1}) },
				func() (float64, Stats, error) { return SoftGate(grad, b, &SoftGateOptions{RatioClamp: 1}) },
				func() (float64, Stats, error) {
					return TurnRatio(grad, b, []int{0}, &TurnRatioOptions{RatioClamp: 1})
				},
			} {
				if _, _, err := f(); err != nil || grad[0] != 0 {
					t.Errorf("D %v: gradient %v, %v", b.LogProb, grad, err)
				}
			}
		}
	}
}

// anyBatch draws turns of tokens whose log-ratios, and the mean of these in each turn, are away from the kinks of the
// default options by at least 1e-3. Advantages are those of turns.
func anyBatch(t *rapid.T) (b Batch, turn []int) {
	b.Weight = []float64{}
	for k := range rapid.IntRange(1, 4).Draw(t, "turns") {
		n := rapid.IntRange(1, 4).Draw(t, "tokens")
		a := rapid.SampledFrom([]float64{0, -1, 1, 2.5, -.3}).Draw(t, "advantage")
		ds, w := make([]float64, n), make([]float64, n)
		mean, read := 0.0, 0.0
		for j := range n {
			ds[j] = rapid.Float64Range(-2, 2).Draw(t, "d")
			w[j] = rapid.SampledFrom([]float64{0, 1e-3, .25, 1, 37.5}).Draw(t, "weight")
			if w[j] > 0 {
				mean += ds[j]
				read++
			}
		}
		if kink(mean/max(1, read)) || slices.ContainsFunc(ds, kink) {
			clear(ds)
		}
		for j := range n {
			old := rapid.Float64Range(-5, -2.1).Draw(t, "old")
			b.OldLogProb = append(b.OldLogProb, old)
			b.LogProb = append(b.LogProb, old+ds[j])
			b.Advantage = append(b.Advantage, a)
			b.Weight = append(b.Weight, w[j])
			turn = append(turn, 3*k)
		}
	}
	return b, turn
}

func kink(d float64) bool {
	return slices.ContainsFunc([]float64{math.Log(.8), math.Log(1.2), math.Log(3)}, func(k float64) bool { return math.Abs(d-k) < 1e-3 })
}

// central returns the central difference of f at x in direction j.
func central(x []float64, j int, f func([]float64) float64) float64 {
	const h = 1e-5
	moved := slices.Clone(x)
	moved[j] = x[j] + h
	up := f(moved)
	moved[j] = x[j] - h
	return (up - f(moved)) / (2 * h)
}

// The gradient equals central differences of the loss (property 13). That of CISPO has a constant ratio: log-probabilities
// before and after move together.
func TestPolicyGradients(t *testing.T) {
	for _, l := range policyLosses() {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b, turn := anyBatch(t)
				grad := make([]float64, len(b.LogProb))
				if _, _, err := l.f(grad, b, turn); err != nil {
					t.Fatal(err)
				}
				for j, g := range grad {
					want := central(b.LogProb, j, func(x []float64) float64 {
						moved := b
						moved.LogProb = x
						if l.detached {
							moved.OldLogProb = slices.Clone(b.OldLogProb)
							moved.OldLogProb[j] += x[j] - b.LogProb[j]
						}
						loss, _, err := l.f(nil, moved, turn)
						if err != nil {
							t.Fatal(err)
						}
						return loss
					})
					if math.Abs(g-want) > 1e-6*math.Max(1, math.Abs(want)) {
						t.Fatalf("position %d: gradient %v, central difference %v", j, g, want)
					}
					if b.Weight[j] == 0 && (g != 0 || math.Signbit(g)) {
						t.Fatalf("position %d of weight 0 has gradient %v", j, g)
					}
				}
			})
		})
	}
}

// PPO is the smaller of the objective and of the clipped objective, literally.
func TestPPOOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, turn := anyBatch(t)
		o := &PPOOptions{
			ClipLow:  rapid.Float64Range(.01, .9).Draw(t, "low"),
			ClipHigh: rapid.Float64Range(.01, 3).Draw(t, "high"),
			DualClip: new(rapid.SampledFrom([]float64{0, 1.5, 3}).Draw(t, "dual")),
		}
		surrogate := func(ratio, a, dual float64) float64 {
			l := -min(ratio*a, min(max(ratio, 1-o.ClipLow), 1+o.ClipHigh)*a)
			if a < 0 && dual > 0 {
				l = min(l, -dual*a)
			}
			return l
		}
		var want, wantTurn float64
		for j := range turn {
			if b.Weight[j] > 0 {
				want += b.Weight[j] * surrogate(math.Exp(b.LogProb[j]-b.OldLogProb[j]), b.Advantage[j], *o.DualClip)
			}
			var n, mean float64 // of the turn of j, anew for each of its tokens
			for i := range turn {
				if turn[i] == turn[j] && b.Weight[i] > 0 {
					n++
					mean += b.LogProb[i] - b.OldLogProb[i]
				}
			}
			if b.Weight[j] > 0 {
				wantTurn += b.Weight[j] * surrogate(math.Exp(mean/n), b.Advantage[j], 0)
			}
		}
		got, _, err := PPO(nil, b, o)
		if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
			t.Fatalf("PPO: %v (-want +got):\n%s", err, diff)
		}
		got, _, err = TurnRatio(nil, b, turn, &TurnRatioOptions{ClipLow: o.ClipLow, ClipHigh: o.ClipHigh})
		if diff := cmp.Diff(wantTurn, got, near); diff != "" || err != nil {
			t.Fatalf("TurnRatio: %v (-want +got):\n%s", err, diff)
		}
	})
}

// With the weights of the whole step, micro-batches add up to the whole, however it is cut (between turns for TurnRatio);
// contents of weight 0 are never read (properties 2, 12).
func TestPolicyMicroBatches(t *testing.T) {
	for _, l := range policyLosses() {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b, turn := anyBatch(t)
				grad := make([]float64, len(turn))
				loss, stats, err := l.f(grad, b, turn)
				if err != nil {
					t.Fatal(err)
				}
				noisy := Batch{
					LogProb: slices.Clone(b.LogProb), OldLogProb: slices.Clone(b.OldLogProb), Advantage: slices.Clone(b.Advantage), Weight: b.Weight,
					RefLogProb: []float64{math.NaN()}, // policy losses do not read it at all
				}
				for j, w := range b.Weight {
					if w == 0 {
						noisy.LogProb[j], noisy.OldLogProb[j], noisy.Advantage[j] = math.NaN(), 7, math.Inf(1)
					}
				}
				parts := make([]float64, len(grad))
				var sum float64
				var tokens int
				for from := 0; from < len(grad); {
					to := rapid.IntRange(from+1, len(grad)).Draw(t, "to")
					for l.name == "TurnRatio" && to < len(grad) && turn[to] == turn[to-1] {
						to++
					}
					part := cut(noisy, from, to)
					l, s, err := l.f(parts[from:to], part, turn[from:to])
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
		})
	}
}

// cut returns a micro-batch of what policy losses read.
func cut(b Batch, from, to int) Batch {
	return Batch{LogProb: b.LogProb[from:to], OldLogProb: b.OldLogProb[from:to], Advantage: b.Advantage[from:to], Weight: b.Weight[from:to]}
}

// Without weights each position has 1/len, and a masked mean is 1/N at the N positions that count.
func TestNoWeight(t *testing.T) {
	for _, l := range policyLosses() {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				masked, turn := anyBatch(t)
				var b Batch
				var turns []int
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
						turns = append(turns, turn[j])
					}
				}
				want, wantStats, err := l.f(nil, masked, turn)
				got, stats, err2 := l.f(nil, b, turns)
				if err != nil || err2 != nil || got != want || stats != wantStats || l.ratios && stats.Tokens != n {
					t.Fatalf("loss %v, %+v, error %v; with weights %v, %+v, %v", got, stats, err2, want, wantStats, err)
				}
			})
		})
	}
}

func TestMasked(t *testing.T) {
	for _, l := range policyLosses() {
		// Case 24: at a pad the log-ratio is 200, and exp(200) times 0 is no gradient to have.
		grad := []float64{7, 7}
		_, stats, err := l.f(grad, Batch{LogProb: []float64{0, -1}, OldLogProb: []float64{-200, -1}, Advantage: []float64{1, 1}, Weight: []float64{0, 1}}, []int{0, 0})
		if diff := cmp.Diff([]float64{0, -1}, grad); diff != "" || err != nil || stats.ApproxKL != 0 || l.ratios && stats.Tokens != 1 {
			t.Errorf("%s: %+v, error %v, gradient (-want +got):\n%s", l.name, stats, err, diff)
		}
		// Case 25 and property 16: no position counts.
		for _, b := range []Batch{{}, {LogProb: []float64{math.NaN()}, OldLogProb: []float64{0}, Advantage: []float64{0}, Weight: []float64{0}}} {
			grad := make([]float64, len(b.LogProb))
			loss, stats, err := l.f(grad, b, make([]int, len(b.LogProb)))
			if loss != 0 || stats != (Stats{}) || err != nil || slices.ContainsFunc(grad, func(g float64) bool { return g != 0 }) {
				t.Errorf("%s: %+v: loss %v, %+v, error %v, gradient %v; want zeros", l.name, b, loss, stats, err, grad)
			}
		}
	}
	// Reinforce reads no old log-probability.
	if l, err := Reinforce(nil, Batch{LogProb: []float64{-2}, Advantage: []float64{3}}); l != 6 || err != nil {
		t.Errorf("Reinforce without OldLogProb: %v, %v", l, err)
	}
}

// Losses, gradients and statistics are finite for log-probabilities in [-1e4, 0] (property 16).
func TestPolicyFinite(t *testing.T) {
	losses := append(policyLosses(), policyLoss{"no dual clip", func(grad []float64, b Batch, _ []int) (float64, Stats, error) {
		return PPO(grad, b, &PPOOptions{DualClip: new(0.0), RatioClamp: 300})
	}, false, true})
	for _, l := range losses {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				logp := rapid.OneOf(rapid.Float64Range(-1e4, 0), rapid.Float64Range(-1e-6, 0))
				a := rapid.Float64Range(-1e3, 1e3).Draw(t, "a")
				b := Batch{
					LogProb: []float64{logp.Draw(t, "new"), logp.Draw(t, "new")}, OldLogProb: []float64{logp.Draw(t, "old"), logp.Draw(t, "old")},
					Advantage: []float64{a, a},
				}
				grad := []float64{0, 0}
				loss, s, err := l.f(grad, b, []int{0, 0})
				if err != nil || !finite(loss+grad[0]+grad[1]+s.MeanKL+s.ApproxKL) || s.ApproxKL < 0 {
					t.Fatalf("loss %v, gradient %v, %+v, %v", loss, grad, s, err)
				}
				if l.ratios && !(s.ESS > 0 && s.ESS <= 1+1e-12) {
					t.Fatalf("ESS %v", s.ESS)
				}
			})
		})
	}
}

func TestStats(t *testing.T) {
	// Ratios 1, 1.5 (outside above), .5 (outside below, A > 0: still has a gradient) and one of weight 0.
	b := Batch{
		LogProb:    []float64{-1, -1 + math.Log(1.5), -1 + math.Log(.5), 0},
		OldLogProb: []float64{-1, -1, -1, -1},
		Advantage:  []float64{0, 1, 1, 1},
		Weight:     []float64{.1, 2, 3, 0}, // shares and means count each once
	}
	kl, approx := -math.Log(.75)/3, (0+.5-math.Log(1.5)-.5-math.Log(.5))/3
	ess := 9. / (3 * 3.5)
	_, got, err := PPO(nil, b, nil)
	want := Stats{3, 2. / 3, 2. / 3, kl, approx, ess}
	if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
		t.Errorf("PPO: error %v (-want +got):\n%s", err, diff)
	}
	_, got, err = CISPO(nil, b, nil)
	want = Stats{3, 1. / 3, 1. / 3, kl, approx, ess} // nothing is outside below
	if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
		t.Errorf("CISPO: error %v (-want +got):\n%s", err, diff)
	}
	_, got, err = SoftGate(nil, b, nil)
	want = Stats{3, 0, 1. / 3, kl, approx, ess}
	if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
		t.Errorf("SoftGate: error %v (-want +got):\n%s", err, diff)
	}
	b.Advantage[0] = 1
	_, got, err = TurnRatio(nil, b, []int{0, 1, 1, 1}, nil)
	mean := math.Sqrt(.75) // of the second turn
	want = Stats{3, 0, 0, kl, approx, (1 + 2*mean) * (1 + 2*mean) / (3 * (1 + 2*.75))}
	if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
		t.Errorf("TurnRatio: error %v (-want +got):\n%s", err, diff)
	}
	// E21: ratios 1, 1, 2, .5.
	_, got, err = PPO(nil, rows([]row{{1, 1, 0, 0}, {1, 1, 0, 0}, {1, 2, 0, 0}, {1, .5, 0, 0}}), nil)
	if diff := cmp.Diff(.81, got.ESS, near); diff != "" || err != nil {
		t.Errorf("E21: error %v (-want +got):\n%s", err, diff)
	}
}

// The series for small log-ratios and the exponential meet.
func TestK3(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Float64Range(-.02, .02).Draw(t, "d")
		want := 0.0
		for n, term := 2, d*d/2; n < 20; n++ {
			want += term
			term *= d / float64(n+1)
		}
		tolerance := 1e-13
		if math.Abs(d) >= 1e-2 {
			tolerance = 1e-11
		}
		if got := k3(d, math.Exp(d)); math.Abs(got-want) > tolerance*want {
			t.Fatalf("k3(%v) is %v, want %v", d, got, want)
		}
	})
}

func TestPolicyErrors(t *testing.T) {
	ok := func() Batch {
		return Batch{LogProb: []float64{-1, -1}, OldLogProb: []float64{-1, -1}, Advantage: []float64{1, 1}, Weight: []float64{1, 1}}
	}
	tests := []struct {
		name   string
		change func(*Batch)
		is     error
		text   string
		ratio  bool // of losses with a ratio only
	}{
		{"old", func(b *Batch) { b.OldLogProb = b.OldLogProb[:1] }, rl.ErrShape, "OldLogProb is of length 1", true},
		{"advantage, case 18", func(b *Batch) { b.Advantage = append(b.Advantage, 1) }, rl.ErrShape, "Advantage is of length 3", false},
		{"weight", func(b *Batch) { b.Weight = []float64{} }, rl.ErrShape, "Weight is of length 0", false},
		{"negative weight", func(b *Batch) { b.Weight[1] = -.5 }, nil, "Weight[1] is -0.5, want a number >= 0", false},
		{"NaN weight", func(b *Batch) { b.Weight[0] = math.NaN() }, rl.ErrNonFinite, "Weight[0] is NaN", false},
		{"Inf weight", func(b *Batch) { b.Weight[1] = math.Inf(1) }, rl.ErrNonFinite, "Weight[1] is +Inf", false},
		{"gradient", func(b *Batch) { *b = Batch{} }, rl.ErrShape, "grad is of length 2", false},
		{"NaN", func(b *Batch) { b.LogProb[1] = math.NaN() }, rl.ErrNonFinite, "LogProb[1] is NaN", false},
		{"Inf", func(b *Batch) { b.OldLogProb[0] = math.Inf(-1) }, rl.ErrNonFinite, "OldLogProb[0] is -Inf", true},
		{"NaN advantage", func(b *Batch) { b.Advantage[0] = math.NaN() }, rl.ErrNonFinite, "Advantage[0]", false},
		{"overflow", func(b *Batch) { b.Advantage[0], b.Advantage[1] = 1e308, 1e308; b.Weight[0], b.Weight[1] = 2, 2 }, rl.ErrNonFinite, "is -Inf", false},
		{"probability", func(b *Batch) { b.LogProb[1] = .7 }, nil, "LogProb[1] is 0.7, want a log-probability, at most 0", false},
		{"above rounding", func(b *Batch) { b.LogProb[0] = 1.1e-3 }, nil, "LogProb[0] is 0.0011, want a log-probability", false},
		{"old probability", func(b *Batch) { b.OldLogProb[1] = 1 }, nil, "OldLogProb[1] is 1, want a log-probability, at most 0", true},
		{"positive Inf", func(b *Batch) { b.LogProb[1] = math.Inf(1) }, rl.ErrNonFinite, "LogProb[1] is +Inf", false},
	}
	for _, l := range policyLosses() {
		for _, tt := range tests {
			if tt.ratio && !l.ratios {
				continue
			}
			b := ok()
			tt.change(&b)
			loss, stats, err := l.f(make([]float64, 2), b, make([]int, 2))
			if field := (*rl.FieldError)(nil); !errors.As(err, &field) || !strings.Contains(err.Error(), tt.text) || (tt.is != nil && !errors.Is(err, tt.is)) {
				t.Errorf("%s: %s: got %v, want %q", l.name, tt.name, err, tt.text)
			}
			if loss != 0 || stats != (Stats{}) {
				t.Errorf("%s: %s: loss %v and %+v beside an error", l.name, tt.name, loss, stats)
			}
		}
	}
	// Terms that would cancel.
	b := Batch{LogProb: []float64{-1, -1}, OldLogProb: []float64{-1, -1}, Advantage: []float64{10, -10}, Weight: []float64{1e308, 1e308}}
	if _, _, err := PPO(nil, b, nil); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("got %v", err)
	}
	if _, err := Reinforce(nil, Batch{LogProb: []float64{-1e300}, Advantage: []float64{1e300}}); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("got %v", err)
	}
	// Gradients that overflow where the loss does not, at log-probability 0.
	b = Batch{LogProb: []float64{0}, OldLogProb: []float64{0}, Advantage: []float64{1e308}, Weight: []float64{10}}
	if _, err := Reinforce(nil, b); !errors.Is(err, rl.ErrNonFinite) || !strings.Contains(err.Error(), "the gradient at LogProb[0]") {
		t.Errorf("got %v", err)
	}
	if _, _, err := CISPO([]float64{0}, b, nil); !errors.Is(err, rl.ErrNonFinite) || !strings.Contains(err.Error(), "the gradient at LogProb[0]") {
		t.Errorf("got %v", err)
	}
	// Log-ratios are finite for any log-probabilities, but can overflow in their sum.
	b = Batch{LogProb: []float64{0, 0}, OldLogProb: []float64{-math.MaxFloat64, -math.MaxFloat64}, Advantage: []float64{1, 1}}
	if _, _, err := PPO(nil, Batch{LogProb: b.LogProb[:1], OldLogProb: b.OldLogProb[:1], Advantage: b.Advantage[:1]}, nil); err != nil {
		t.Errorf("got %v", err)
	}
	if _, _, err := PPO(nil, b, nil); !errors.Is(err, rl.ErrNonFinite) || !strings.Contains(err.Error(), "the sum of OldLogProb - LogProb is -Inf") {
		t.Errorf("got %v", err)
	}
	if _, _, err := TurnRatio(nil, b, []int{0, 0}, nil); !errors.Is(err, rl.ErrNonFinite) || !strings.Contains(err.Error(), "in the turn up to position 1") {
		t.Errorf("got %v", err)
	}
	// Rounding above 0 is let through, and positions of weight 0 are not looked at.
	b = Batch{LogProb: []float64{1e-3, 7}, OldLogProb: []float64{9e-4, 7}, Advantage: []float64{1, 1}, Weight: []float64{1, 0}}
	for _, l := range policyLosses() {
		if _, _, err := l.f(nil, b, []int{0, 0}); err != nil {
			t.Errorf("%s: %v", l.name, err)
		}
	}
	one := ok()
	options := []struct {
		err  func() error
		text string
	}{
		{func() error { _, _, err := PPO(nil, one, &PPOOptions{ClipLow: 1}); return err }, "PPOOptions.ClipLow is 1"},
		{func() error { _, _, err := PPO(nil, one, &PPOOptions{ClipHigh: -.1}); return err }, "PPOOptions.ClipHigh is -0.1"},
		{func() error { _, _, err := PPO(nil, one, &PPOOptions{DualClip: new(1.0)}); return err }, "PPOOptions.DualClip is 1"},
		{func() error { _, _, err := PPO(nil, one, &PPOOptions{DualClip: new(.5)}); return err }, "PPOOptions.DualClip is 0.5"},
		{func() error { _, _, err := PPO(nil, one, &PPOOptions{RatioClamp: 301}); return err }, "PPOOptions.RatioClamp is 301, want a number in (0, 300]"},
		{func() error { _, _, err := PPO(nil, one, &PPOOptions{RatioClamp: math.NaN()}); return err }, "PPOOptions.RatioClamp is NaN"},
		{func() error {
			_, _, err := TurnRatio(nil, one, []int{0, 0}, &TurnRatioOptions{ClipLow: -1})
			return err
		}, "TurnRatioOptions.ClipLow is -1"},
		{func() error { _, _, err := CISPO(nil, one, &CISPOOptions{ClipHigh: math.Inf(1)}); return err }, "CISPOOptions.ClipHigh is +Inf"},
		{func() error { _, _, err := CISPO(nil, one, &CISPOOptions{RatioClamp: -1}); return err }, "CISPOOptions.RatioClamp is -1"},
		{func() error { _, _, err := SoftGate(nil, one, &SoftGateOptions{TauPositive: -1}); return err }, "SoftGateOptions.TauPositive is -1"},
		{func() error { _, _, err := SoftGate(nil, one, &SoftGateOptions{TauNegative: -1}); return err }, "SoftGateOptions.TauNegative is -1"},
	}
	for _, tt := range options {
		if err := tt.err(); err == nil || !strings.HasPrefix(err.Error(), "loss: "+tt.text) {
			t.Errorf("got %v, want %q", err, tt.text)
		}
	}
	if _, _, err := PPO(nil, one, &PPOOptions{ClipLow: 1, RatioClamp: 301}); err == nil || strings.Count(err.Error(), "PPOOptions") != 2 {
		t.Errorf("two faults: %v", err)
	}
}

func TestPolicyAllocations(t *testing.T) {
	b := rows([]row{{1, 1.1, 0, 0}, {1, .5, 0, 0}, {1, 3, 0, 0}})
	grad, turn := make([]float64, 3), []int{0, 0, 1}
	for _, l := range policyLosses() {
		if n := testing.AllocsPerRun(10, func() { _, _, _ = l.f(grad, b, turn) }); n != 0 {
			t.Errorf("%s allocates %v times", l.name, n)
		}
	}
}

func benchmarkBatch(n int) (b Batch, turn []int) {
	rng := rand.New(rand.NewPCG(1, 2))
	for j := range n {
		old := -2 - 3*rng.Float64()
		b.OldLogProb = append(b.OldLogProb, old)
		b.RefLogProb = append(b.RefLogProb, old)
		b.LogProb = append(b.LogProb, old+.3*rng.NormFloat64())
		b.Advantage = append(b.Advantage, float64(j/16%7)-3)
		b.Weight = append(b.Weight, float64(min(rng.IntN(4), 1))/float64(n))
		turn = append(turn, j/16)
	}
	return b, turn
}

func BenchmarkPolicy(b *testing.B) {
	for _, l := range policyLosses() {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/tokens=%d", l.name, n), func(b *testing.B) {
				in, turn := benchmarkBatch(n)
				grad := make([]float64, n)
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := l.f(grad, in, turn); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/token")
			})
		}
	}
}
