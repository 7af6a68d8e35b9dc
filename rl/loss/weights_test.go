package loss

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
)

// credit returns the votes of batch, and no advantages.
func credit(t interface{ Fatal(...any) }, batch []rl.Trajectory) *rl.Credit {
	c, err := rl.NewCredit(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// trajectory returns one whose turns have so many trainable tokens, with one other token each.
func trajectory(trainable ...int) (t rl.Trajectory) {
	for _, n := range trainable {
		t.Turns = append(t.Turns, rl.Turn{Tokens: tokens(n, 1)})
	}
	t.Turns[len(t.Turns)-1].End = rl.Terminated
	return t
}

func TestWorkedWeights(t *testing.T) {
	// E19: sequence 1 has 2 tokens of loss 1, sequence 2 has 8 of loss 2. Here sequence 2 has turns of 2 and 6 tokens, and a
	// sequence and a turn without tokens that count are among them.
	excluded := trajectory(5)
	excluded.Excluded = "broken"
	partly := trajectory(2, 3, 6)
	partly.Turns[1].Excluded = true
	batch := []rl.Trajectory{trajectory(2), excluded, trajectory(0, 0), partly}
	losses := []float64{1, 1, -100, -100, -100, -100, -100, 2, 2, -100, -100, -100, 2, 2, 2, 2, 2, 2}
	tests := []struct {
		name   string
		o      *WeightOptions
		want   float64
		reason string
	}{
		{"default", nil, 1.8, "E19 token-mean; case 26: the mean of the means of two micro-batches is 1.5"},
		{"token-mean per turn", &WeightOptions{TurnSequences: true}, 1.8, "tokens are tokens"},
		{"seq-mean-token-sum", &WeightOptions{Aggregation: SeqMeanTokenSum}, 9, "E19"},
		{"seq-mean-token-mean", &WeightOptions{Aggregation: SeqMeanTokenMean}, 1.5, "E19"},
		{"seq-sum-norm", &WeightOptions{Aggregation: SeqSumNorm, Length: 8}, 2.25, "E19"},
		{"seq-mean-token-sum-norm", &WeightOptions{Aggregation: SeqMeanTokenSumNorm, Length: 8}, 1.125, "E19"},
		{"turn-mean-token-mean", &WeightOptions{Aggregation: TurnMeanTokenMean}, 5. / 3, "turns of mean 1, 2, 2"},
		{"turn-mean-token-mean per turn", &WeightOptions{Aggregation: TurnMeanTokenMean, TurnSequences: true}, 5. / 3, "the same"},
		{"rows: sum", &WeightOptions{Aggregation: SeqMeanTokenSum, TurnSequences: true}, 6, "18 over 3 rows"},
		{"rows: mean", &WeightOptions{Aggregation: SeqMeanTokenMean, TurnSequences: true}, 5. / 3, "rows of mean 1, 2, 2"},
		{"rows: sum norm", &WeightOptions{Aggregation: SeqSumNorm, Length: 8, TurnSequences: true}, 2.25, "no rows in it"},
		{"rows: norm", &WeightOptions{Aggregation: SeqMeanTokenSumNorm, Length: 8, TurnSequences: true}, .75, "18 over 3 rows and 8"},
	}
	c := credit(t, batch)
	c.Vote[2] = true // a vote without a token, as a credit of one's own may have
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		w, err := Weights([]float64{7}, batch, c, tt.o)
		if err != nil || len(w) != len(losses) {
			t.Fatalf("%s: %d weights, %v", tt.name, len(w), err)
		}
		var got float64
		for j := range w {
			if losses[j] < 0 && w[j] != 0 {
				t.Errorf("%s: token %d has weight %v", tt.name, j, w[j])
			}
			got += w[j] * losses[j]
		}
		if diff := cmp.Diff(tt.want, got, near); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.name, tt.reason, diff)
		}
	}
}

// E19 and case 26 through a loss: two sequences, 2 tokens of loss 1 and 8 of loss 2, in a micro-batch each. The mean of
// their means is 1.5.
func TestTokenMean(t *testing.T) {
	batch := []rl.Trajectory{trajectory(2), trajectory(8)}
	w, err := Weights(nil, batch, credit(t, batch), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := Batch{LogProb: make([]float64, 10), OldLogProb: make([]float64, 10), Advantage: []float64{-1, -1, -2, -2, -2, -2, -2, -2, -2, -2}, Weight: w}
	one, _, err := PPO(nil, cut(b, 0, 2), nil)
	two, _, err2 := PPO(nil, cut(b, 2, 10), nil)
	if err != nil || err2 != nil || math.Abs(one+two-1.8) > 1e-12 {
		t.Errorf("got %v, %v, %v, want a sum of 1.8", one+two, err, err2)
	}
}

// Any aggregation over any cut of the optimiser step gives the loss and gradient of the whole: the weights are global
// (property 12; cases 26 and 27, there with 1 or 4 rows a micro-batch).
func TestWeightsMicroBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var batch []rl.Trajectory
		for range rapid.IntRange(1, 8).Draw(t, "trajectories") {
			tr := trajectory(rapid.SliceOfN(rapid.IntRange(0, 4), 1, 4).Draw(t, "tokens")...)
			if rapid.IntRange(0, 4).Draw(t, "excluded") == 0 {
				tr.Excluded = "so"
			}
			for k := range tr.Turns {
				tr.Turns[k].Excluded = rapid.IntRange(0, 4).Draw(t, "turn") == 0
			}
			batch = append(batch, tr)
		}
		c := credit(t, batch)
		o := &WeightOptions{Aggregation: Aggregation(rapid.IntRange(0, len(aggregationNames)-1).Draw(t, "mode")), TurnSequences: rapid.Bool().Draw(t, "rows"), Length: 7}
		w, err := Weights(nil, batch, c, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(weightsOracle(batch, c, o), w, near); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		n := len(w)
		b := Batch{LogProb: make([]float64, n), OldLogProb: make([]float64, n), Advantage: make([]float64, n), Weight: w}
		for j := range n {
			b.OldLogProb[j] = -1
			b.LogProb[j] = -1 + rapid.Float64Range(-.4, .4).Draw(t, "d")
			b.Advantage[j] = rapid.Float64Range(-2, 2).Draw(t, "a")
		}
		grad, parts := make([]float64, n), make([]float64, n)
		whole, _, err := PPO(grad, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		size, sum := rapid.IntRange(1, 4).Draw(t, "size"), 0.0
		turns := Turns(nil, batch)
		for from := 0; from < n; {
			to := from + 1
			for rows := 1; to < n; to++ { // a micro-batch of size turns
				if turns[to] != turns[to-1] {
					if rows++; rows > size {
						break
					}
				}
			}
			l, _, err := PPO(parts[from:to], cut(b, from, to), nil)
			if err != nil {
				t.Fatal(err)
			}
			sum += l
			from = to
		}
		if diff := cmp.Diff(append(grad, whole), append(parts, sum), near); diff != "" {
			t.Fatalf("(-whole +parts):\n%s", diff)
		}
	})
}

// weightsOracle lists the tokens that count, with their sequence and turn, and counts them anew for each.
func weightsOracle(batch []rl.Trajectory, c *rl.Credit, o *WeightOptions) []float64 {
	type token struct {
		sequence, turn string
		counts         bool
	}
	var all []token
	for i, t := range batch {
		for k, turn := range t.Turns {
			for _, tok := range turn.Tokens {
				if !tok.Trainable {
					continue
				}
				x := token{fmt.Sprint(i), fmt.Sprint(i, " ", k), t.Excluded == "" && !turn.Excluded}
				if o.TurnSequences {
					x.sequence = x.turn
				}
				all = append(all, x)
			}
		}
	}
	var n float64
	sequences, turns := map[string]float64{}, map[string]float64{}
	for _, x := range all {
		if x.counts {
			n++
			sequences[x.sequence]++
			turns[x.turn]++
		}
	}
	out := make([]float64, 0, len(all))
	for _, x := range all {
		s, k := float64(len(sequences)), float64(o.Length)
		w := []float64{1 / n, 1 / s, 1 / s / sequences[x.sequence], 1 / float64(len(turns)) / turns[x.turn], 1 / k, 1 / s / k}[o.Aggregation]
		if !x.counts {
			w = 0
		}
		out = append(out, w)
	}
	return out
}

// Case 22: where all scores of a group are equal only the divergence moves the policy; by option it does not.
func TestSkipFlat(t *testing.T) {
	var batch []rl.Trajectory
	for i, score := range []float64{1, 1, 0, 2, 5} {
		tr := trajectory(2)
		tr.Group = []string{"equal", "equal", "differ", "differ", "alone"}[i]
		tr.Turns[0].Reward = score
		batch = append(batch, tr)
	}
	c, err := rl.GRPO(nil, batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Weights(nil, batch, c, nil)
	wFlat, err2 := Weights(nil, batch, c, &WeightOptions{SkipFlat: true})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	want := []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}
	if diff := cmp.Diff(want, w, near); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	want = []float64{0, 0, 0, 0, .1, .1, .1, .1, .1, .1} // the denominators stay
	if diff := cmp.Diff(want, wFlat, near); diff != "" {
		t.Errorf("by option (-want +got):\n%s", diff)
	}
	advantage := c.TokenAdvantages(nil, batch)
	l, ref := []float64{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, make([]float64, 10)
	policy, kl, masked := make([]float64, 10), make([]float64, 10), make([]float64, 10)
	_, _, err = PPO(policy, Batch{LogProb: l, OldLogProb: l, Advantage: advantage, Weight: w}, nil)
	_, err2 = KL(kl, Batch{LogProb: l, RefLogProb: ref, Weight: w}, KL3)
	_, err3 := KL(masked, Batch{LogProb: l, RefLogProb: ref, Weight: wFlat}, KL3)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for j := range 10 {
		flat := j < 4
		if (policy[j] == 0) != (flat || j >= 8) || kl[j] == 0 || (masked[j] == 0) != flat {
			t.Errorf("token %d: policy %v, KL %v, masked %v", j, policy[j], kl[j], masked[j])
		}
	}
	c.Flat = nil // an estimator that compares no scores
	if got, err := Weights(nil, batch, c, &WeightOptions{SkipFlat: true}); err != nil || !cmp.Equal(w, got) {
		t.Errorf("without Flat: %v, %v", got, err)
	}
}

// A trajectory is skipped only if none of its turns, nor of its tokens, has an advantage.
func TestSkipFlatKeepsCredit(t *testing.T) {
	// Two rollouts of equal score that took another action in the state "s", whose returns there are 0 and 1.
	steps := func(rewards ...float64) rl.Trajectory {
		tr := trajectory(1, 1)
		tr.Group = "g"
		for k, r := range rewards {
			tr.Turns[k].State, tr.Turns[k].Reward = []string{"s", "end"}[k], r
		}
		return tr
	}
	same := []rl.Trajectory{steps(1, 0), steps(1, 0)}
	other := []rl.Trajectory{steps(1, 0), steps(0, 1)}
	residue := []rl.Trajectory{steps(.1, .2), steps(.3, 0), steps(.3, 0)} // .1+.2 is not .3
	gigpo, grpo := rl.GiGPO, rl.GRPO
	perToken := func(advantages ...float64) rl.Estimator {
		return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			c, err := rl.NewCredit(dst, batch)
			c.Flat = []bool{true, true}
			c.TokenAdvantage = advantages
			return c, err
		}
	}
	tests := []struct {
		name     string
		batch    []rl.Trajectory
		estimate rl.Estimator
		skipped  bool
		reason   string
	}{
		{"GRPO", other, func(d *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return grpo(d, b, nil) }, true, "compares scores alone"},
		{"GiGPO", other, func(d *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return gigpo(d, b, nil) }, false, "the discounted returns in s differ"},
		{"GiGPO, equal steps", same, func(d *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return gigpo(d, b, nil) }, true, "neither scores nor steps differ"},
		{"rounding", residue, func(d *rl.Credit, b []rl.Trajectory) (*rl.Credit, error) { return grpo(d, b, nil) }, true, "centred rounding is no advantage"},
		{"tokens", same, perToken(0, 0, 0, 0), true, "no token has one"},
		{"small", same, perToken(1e-6, 0, 0, 1e-6), false, "more than rounding"},
		{"tokens that cancel", same, perToken(1, 0, 0, -1), false, "Advantage, the mean, is 0, the tokens are not"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		c, err := tt.estimate(nil, tt.batch)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Flat[0] || !c.Flat[1] {
			t.Fatalf("%s: not flat", tt.name)
		}
		w, err := Weights(nil, tt.batch, c, &WeightOptions{SkipFlat: true})
		if err != nil || (w[0] == 0) != tt.skipped || (w[len(w)-1] == 0) != tt.skipped {
			t.Errorf("%s: %s: weights %v, error %v", tt.name, tt.reason, w, err)
		}
	}
	// Each trajectory is looked at alone, its excluded tokens and all.
	mixed := []rl.Trajectory{steps(1, 0), steps(1, 0)}
	mixed[0].Turns[0].Excluded = true
	c, err := perToken(0, 0, 0, 2)(nil, mixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Weights(nil, mixed, c, &WeightOptions{SkipFlat: true})
	if diff := cmp.Diff([]float64{0, 0, 1. / 3, 1. / 3}, w, near); diff != "" || err != nil {
		t.Errorf("one of two: error %v (-want +got):\n%s", err, diff)
	}
}

func TestWeightsErrors(t *testing.T) {
	batch := []rl.Trajectory{trajectory(1), trajectory(2)}
	c := credit(t, batch)
	flat := *c
	flat.Flat = []bool{true}
	tokens := *c
	tokens.TokenAdvantage = []float64{1, 2}
	tests := []struct {
		name  string
		batch []rl.Trajectory
		c     *rl.Credit
		o     *WeightOptions
		is    error
		text  string
	}{
		{"batch", batch[:1], c, nil, rl.ErrShape, "the credit is of another batch"},
		{"nil", batch, nil, nil, rl.ErrShape, "the credit is of another batch"},
		{"flat", batch, &flat, &WeightOptions{SkipFlat: true}, rl.ErrShape, "the credit is of another batch"},
		{"tokens", batch, &tokens, nil, rl.ErrShape, "the credit is of another batch"},
		{"mode", batch, c, &WeightOptions{Aggregation: 6}, nil, "loss: WeightOptions.Aggregation is 6"},
		{"length", batch, c, &WeightOptions{Aggregation: SeqSumNorm}, nil, "loss: WeightOptions.Length is 0"},
		{"negative", batch, c, &WeightOptions{Aggregation: SeqMeanTokenSumNorm, Length: -1}, nil, "loss: WeightOptions.Length is -1"},
	}
	for _, tt := range tests {
		if _, err := Weights(nil, tt.batch, tt.c, tt.o); err == nil || !strings.Contains(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
	}
	// Case 25: no token counts.
	batch[0].Excluded, batch[1].Excluded = "a", "b"
	for mode := range Aggregation(len(aggregationNames)) {
		w, err := Weights(nil, batch, credit(t, batch), &WeightOptions{Aggregation: mode, Length: 3})
		if diff := cmp.Diff([]float64{0, 0, 0}, w); diff != "" || err != nil {
			t.Errorf("mode %d: error %v (-want +got):\n%s", mode, err, diff)
		}
		nan := []float64{math.NaN(), math.NaN(), math.NaN()}
		if l, _, err := PPO(nil, Batch{LogProb: nan, OldLogProb: nan, Advantage: nan, Weight: w}, nil); l != 0 || err != nil {
			t.Errorf("mode %d: loss %v, %v", mode, l, err)
		}
	}
}

func BenchmarkWeights(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		var batch []rl.Trajectory
		for i := range n / 10 {
			batch = append(batch, trajectory(8, 8, 8, 8, 8, 8, 8, 8, 8, 8))
			batch[i].Turns[i%10].Excluded = true
		}
		c := credit(b, batch)
		dst, err := Weights(nil, batch, c, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("turns=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Weights(dst, batch, c, &WeightOptions{Aggregation: SeqMeanTokenMean}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
