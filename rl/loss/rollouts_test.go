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

// An excluded rollout of 8 tokens beside two of one: without weights each of the two would count a tenth, and the contents of
// the excluded one would be read.
func TestNewBatchExcluded(t *testing.T) {
	batch := []rl.Trajectory{trajectory(1), trajectory(8), trajectory(1)}
	for i := range batch {
		batch[i].Group = "g"
		for j := range batch[i].Turns[0].Tokens {
			batch[i].Turns[0].Tokens[j].LogProb = -1
		}
	}
	batch[2].Turns[0].Reward = 1
	batch[1].Excluded = "broken"
	batch[1].Turns[0].Tokens[3].LogProb = math.NaN()
	c, err := rl.GRPO(nil, batch, &rl.GRPOOptions{Norm: rl.Norm{Std: rl.StdNone}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBatch(nil, batch, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{.25, 0, 0, 0, 0, 0, 0, 0, 0, -.25} // -A/2 at ratio 1, A = -.5 and .5
	for _, l := range policyLosses() {
		grad := make([]float64, 10)
		if _, _, err := l.f(grad, *b, Turns(nil, batch)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, grad, near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", l.name, diff)
		}
	}
}

// anyRollouts draws a batch with everything that takes a vote away, numbers included that must not be read.
func anyRollouts(t *rapid.T) []rl.Trajectory {
	number := rapid.Float64Range(-3, 0)
	reference := rapid.Float64Range(-3, -0.01) // 0 for all tokens would mean that there is none
	batch := make([]rl.Trajectory, rapid.IntRange(0, 5).Draw(t, "trajectories"))
	for i := range batch {
		tr := &batch[i]
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			turn := rl.Turn{
				Reward: number.Draw(t, "r"), Value: number.Draw(t, "V"), QValue: number.Draw(t, "Q"),
				Excluded: rapid.IntRange(0, 4).Draw(t, "excluded") == 0,
			}
			for range rapid.IntRange(0, 5).Draw(t, "tokens") {
				tok := rl.Token{ID: rapid.IntRange(0, 9).Draw(t, "id"), LogProb: math.NaN(), RefLogProb: math.NaN()}
				if rapid.Bool().Draw(t, "trainable") {
					tok.Trainable, tok.LogProb, tok.RefLogProb = true, number.Draw(t, "l"), reference.Draw(t, "ref")
				}
				turn.Tokens = append(turn.Tokens, tok)
			}
			tr.Turns = append(tr.Turns, turn)
		}
		tr.Turns[len(tr.Turns)-1].End = rapid.SampledFrom([]rl.End{rl.Terminated, rl.Truncated}).Draw(t, "end")
		switch rapid.IntRange(0, 6).Draw(t, "fate") {
		case 0:
			tr.Excluded = "so"
		case 1:
			tr.Turns[0].Reward = math.NaN() // with ExcludeNonFinite
		}
	}
	return batch
}

// sapoCredit is the credit of SAPO that drops what was cut off and what is not finite.
func sapoCredit(t *rapid.T, batch []rl.Trajectory) *rl.Credit {
	c, err := rl.SAPO(nil, batch, &rl.TurnGAEOptions{Truncation: rl.TruncationDrop, ExcludeNonFinite: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lost says whether the targets of a trajectory are given up, by what befell it.
func lost(tr rl.Trajectory) bool {
	return tr.Excluded != "" || tr.Turns[len(tr.Turns)-1].End == rl.Truncated || math.IsNaN(tr.Turns[0].Reward)
}

// A batch is the walk over trainable tokens, with the weights of Weights and advantages of TokenAdvantages; the memory of an
// earlier batch makes no difference, and what is returned shares nothing with the credit.
func TestNewBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := anyRollouts(t)
		reused, err := NewBatch(nil, before, sapoCredit(t, before), nil)
		if err != nil {
			t.Fatal(err)
		}
		batch := anyRollouts(t)
		if rapid.Bool().Draw(t, "without references") {
			for _, tr := range batch {
				for _, turn := range tr.Turns {
					for j := range turn.Tokens {
						turn.Tokens[j].RefLogProb = 0
					}
				}
			}
		}
		c := sapoCredit(t, batch)
		o := &WeightOptions{Aggregation: SeqMeanTokenMean, TurnSequences: rapid.Bool().Draw(t, "rows")}
		var want Batch
		want.Weight, err = Weights(nil, batch, c, o)
		if err != nil {
			t.Fatal(err)
		}
		want.Advantage = c.TokenAdvantages(nil, batch)
		for _, tr := range batch {
			for _, turn := range tr.Turns {
				for _, tok := range turn.Tokens {
					if tok.Trainable {
						want.LogProb, want.OldLogProb = append(want.LogProb, tok.LogProb), append(want.OldLogProb, tok.LogProb)
						want.RefLogProb = append(want.RefLogProb, tok.RefLogProb)
					}
				}
			}
		}
		if !slices.ContainsFunc(want.RefLogProb, func(l float64) bool { return l != 0 }) {
			want.RefLogProb = nil // 0 everywhere is what tokens without a reference hold
		}
		exact := cmp.Comparer(func(a, b []float64) bool { return slices.Equal(a, b) })
		for _, dst := range []*Batch{nil, reused} {
			got, err := NewBatch(dst, batch, c, o)
			if diff := cmp.Diff(&want, got, exact); diff != "" || err != nil || dst != nil && got != dst {
				t.Fatalf("error %v (-want +got):\n%s", err, diff)
			}
			_, stats, err := PPO(nil, *got, nil)
			if err != nil || stats.Tokens > 0 && (stats.ESS < 1-1e-12 || stats.ApproxKL != 0) {
				t.Fatalf("the first pass: %+v, %v", stats, err)
			}
			if _, err := KL(nil, *got, KL3); (err == nil) != (len(want.RefLogProb) == len(want.LogProb)) {
				t.Fatalf("%d of %d tokens have a reference: %v", len(want.RefLogProb), len(want.LogProb), err)
			}
			for j := range got.LogProb {
				got.LogProb[j], got.Advantage[j] = 8, 8
			}
			if !slices.Equal(got.OldLogProb, want.OldLogProb) || !slices.Equal(c.TokenAdvantages(nil, batch), want.Advantage) {
				t.Fatal("LogProb or Advantage shares memory")
			}
		}
	})
}

// A turn of a critic counts where its target may be trained on, whatever its tokens; weights sum to 1.
func TestTurnWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := anyRollouts(t)
		c := sapoCredit(t, batch)
		var counts []bool
		n := 0.0
		for _, tr := range batch {
			for _, turn := range tr.Turns {
				counts = append(counts, !lost(tr) && !turn.Excluded)
				if counts[len(counts)-1] {
					n++
				}
			}
		}
		want := make([]float64, len(counts))
		for k := range want {
			if counts[k] {
				want[k] = 1 / n
			}
		}
		got, err := TurnWeights([]float64{7, 7, 7}, batch, c)
		if err != nil || got == nil || !slices.Equal(want, got) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
		b, err := NewValueBatch(&ValueBatch{Value: []float64{7}, Old: []float64{7, 7}}, batch, c)
		if err != nil || !slices.Equal(b.Weight, want) || !slices.Equal(b.Target, c.ValueTarget) || !slices.Equal(b.Value, b.Old) {
			t.Fatalf("got %+v, %v", b, err)
		}
		if _, s, err := Value(nil, *b, nil); err != nil || s.Values != int(n) {
			t.Fatalf("%d values, %v, want %v", s.Values, err, n)
		}
		at := 0
		for _, tr := range batch {
			for _, turn := range tr.Turns {
				if b.Old[at] != turn.Value {
					t.Fatalf("turn %d: %v, want %v", at, b.Old[at], turn.Value)
				}
				at++
			}
		}
		for k := range b.Value {
			b.Value[k], b.Target[k] = 99, 99
		}
		if slices.Contains(b.Old, 99) || slices.Contains(c.ValueTarget, 99) {
			t.Fatal("slices share memory")
		}
	})
}

// Which turns of a critic count, one by one.
func TestWorkedTurnWeights(t *testing.T) {
	excluded, truncated, nonFinite, partly := trajectory(1, 1), trajectory(1), trajectory(1), trajectory(1, 1, 1)
	excluded.Excluded = "no trainable token" // its own words, which are no verdict of the estimator
	truncated.Turns[0].End = rl.Truncated
	nonFinite.Turns[0].Value = math.NaN()
	partly.Turns[1].Excluded = true
	batch := []rl.Trajectory{excluded, trajectory(0, 0), truncated, partly, nonFinite}
	c, err := rl.TurnGAE(nil, batch, &rl.TurnGAEOptions{Truncation: rl.TruncationDrop, ExcludeNonFinite: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"no trainable token", "no trainable token", "truncated", "", "non-finite"}, c.NoVote); diff != "" {
		t.Fatalf("reasons (-want +got):\n%s", diff)
	}
	want := []float64{0, 0, .25, .25, 0, .25, 0, .25, 0}
	got, err := TurnWeights(nil, batch, c)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for _, batch := range [][]rl.Trajectory{nil, {excluded}} { // no turn counts
		c, err := rl.TurnGAE(nil, batch, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := TurnWeights(nil, batch, c)
		if got == nil || slices.ContainsFunc(got, func(w float64) bool { return w != 0 }) || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestWorkedSAPOTurns(t *testing.T) {
	tok := func(id int, trainable bool) rl.Token {
		return rl.Token{ID: id, Trainable: trainable, LogProb: -float64(id), RefLogProb: -float64(id) / 2}
	}
	tr := rl.Trajectory{Turns: []rl.Turn{
		{Value: 2, QValue: 3, Tokens: []rl.Token{tok(1, false), tok(2, false), tok(3, true), tok(4, false), tok(5, true), tok(6, false)}},
		{Value: 4, QValue: 5, Tokens: []rl.Token{tok(7, false)}},
		{Value: 6, QValue: 7, Excluded: true, Tokens: []rl.Token{tok(8, true)}},
		{Value: 8, QValue: 9, Reward: 10, End: rl.Terminated, Tokens: []rl.Token{tok(9, true)}},
	}}
	batch := []rl.Trajectory{{Excluded: "so"}, tr}
	credits := func(f func(*rl.Credit, []rl.Trajectory, *rl.TurnGAEOptions) (*rl.Credit, error)) *rl.Credit {
		c, err := f(nil, batch, &rl.TurnGAEOptions{Gamma: new(1.0), Lambda: new(1.0), Norm: rl.Norm{Std: rl.StdOff}})
		if err != nil {
			t.Fatal(err)
		}
		c.Vote[1] = true // a vote without a token, as a credit of one's own may have
		return c
	}
	// Targets of V are the return, 10; those of Q the Q of the next turn; advantages 10 - V where there is a vote.
	want := []SAPOTurn{
		{Actions: []int{3, 4, 5}, OldLogProb: []float64{-3, -4, -5}, RefLogProb: []float64{-1.5, -2, -2.5}, Trainable: []bool{true, false, true},
			Advantage: 8, OldV: 2, OldQ: 3, TargetV: 10, TargetQ: 5},
		{OldV: 4, OldQ: 5, TargetV: 10, TargetQ: 7, NoPolicy: true},
		{Actions: []int{8}, OldLogProb: []float64{-8}, RefLogProb: []float64{-4}, Trainable: []bool{true},
			OldV: 6, OldQ: 7, TargetV: 10, TargetQ: 9, NoPolicy: true, NoV: true, NoQ: true},
		{Actions: []int{9}, OldLogProb: []float64{-9}, RefLogProb: []float64{-4.5}, Trainable: []bool{true},
			Advantage: 2, OldV: 8, OldQ: 9, TargetV: 10, TargetQ: 10},
	}
	empty := cmp.Transformer("nil", func(x []float64) []float64 { return append([]float64{}, x...) })
	emptyInts := cmp.Transformer("nilInts", func(x []int) []int { return append([]int{}, x...) })
	emptyBools := cmp.Transformer("nilBools", func(x []bool) []bool { return append([]bool{}, x...) })
	opts := cmp.Options{
		cmp.FilterValues(func(a, b []float64) bool { return len(a)+len(b) == 0 }, empty),
		cmp.FilterValues(func(a, b []int) bool { return len(a)+len(b) == 0 }, emptyInts),
		cmp.FilterValues(func(a, b []bool) bool { return len(a)+len(b) == 0 }, emptyBools),
	}
	got, err := SAPOTurns(nil, batch, credits(rl.SAPO))
	if diff := cmp.Diff(want, got, opts); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for i := range want {
		want[i].TargetQ, want[i].NoQ = 0, true
	}
	logits := [][]float64{{1, 2, 3}}
	got[0].Logits = logits
	want[0].Logits = logits // not touched
	got, err = SAPOTurns(got[:1], batch, credits(rl.TurnGAE))
	if diff := cmp.Diff(want, got, opts); diff != "" || err != nil {
		t.Errorf("without QTarget: error %v (-want +got):\n%s", err, diff)
	}
}

// The policy part of the joint loss over SAPOTurns is PPO over NewBatch, and its parts for V and Q are Value over
// NewValueBatch with values divided by RMax: the three bridges agree on masks, means and order.
func TestBridgesAgree(t *testing.T) {
	h := Head{Plus: 10, Minus: 11}
	rapid.Check(t, func(t *rapid.T) {
		batch := anyRollouts(t)
		c := sapoCredit(t, batch)
		turns, err := SAPOTurns(nil, batch, c)
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewBatch(nil, batch, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := NewValueBatch(nil, batch, c)
		if err != nil {
			t.Fatal(err)
		}
		vector := func() []float64 {
			z := make([]float64, 12)
			for k := range z {
				z[k] = rapid.Float64Range(-2, 2).Draw(t, "z")
			}
			return z
		}
		token, values := 0, [][]float64{v.Value, slices.Clone(v.Value)}
		old := [][]float64{v.Old, slices.Clone(v.Old)}
		target := [][]float64{v.Target, slices.Clone(c.QTarget)}
		for k := range turns {
			x := &turns[k]
			for range max(1, len(x.Actions)) {
				x.Logits = append(x.Logits, vector())
			}
			x.After = vector()
			for j := range x.Actions {
				if x.Trainable[j] {
					if b.LogProb[token], err = h.LogProb(nil, x.Logits[j], x.Actions[j], 0); err != nil {
						t.Fatal(err)
					}
					token++
				}
			}
			old[1][k] = x.OldQ
			for i, z := range [][]float64{x.Logits[0], x.After} {
				p, _, err := h.Value(nil, z, 0)
				if err != nil {
					t.Fatal(err)
				}
				values[i][k] = p
				old[i][k] /= 10
				target[i][k] = min(max(target[i][k]/10, -1), 1)
			}
		}
		if token != len(b.LogProb) {
			t.Fatalf("%d of %d tokens", token, len(b.LogProb))
		}
		policy, stats, err := PPO(nil, *b, nil)
		kl, err2 := KL(nil, *b, KL3)
		lv, sv, err3 := Value(nil, *v, nil)
		lq, sq, err4 := Value(nil, ValueBatch{values[1], old[1], target[1], v.Weight}, nil)
		grad := NewSAPOGrad(turns)
		_, got, err5 := SAPO(grad, turns, &SAPOOptions{Head: h})
		if err := errors.Join(err, err2, err3, err4, err5); err != nil {
			t.Fatal(err)
		}
		want := SAPOStats{PolicyLoss: policy, ValueLoss: lv, QLoss: lq, KL: kl, Policy: stats,
			V: ReadoutStats{ValueStats: sv}, Q: ReadoutStats{ValueStats: sq}}
		got.Entropy, got.AllSaturated = 0, false
		got.V.Saturated, got.V.OutOfRange, got.Q.Saturated, got.Q.OutOfRange = 0, 0, 0, 0
		if diff := cmp.Diff(want, got, near); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Old values are in units of reward: with RMax 10 a V of 2 was read as .2.
func TestSAPOOldValues(t *testing.T) {
	turn, o := e18()
	turn.Logits[0][4], turn.Logits[0][5] = 1.2, 0 // p = .6
	turn.TargetV = 10
	tests := []struct {
		name       string
		old, rMax  float64
		clip       *float64
		loss, grad float64 // of V, by p
		text       string
		reason     string
	}{
		{"2 of 10", 2, 10, nil, .5 * .6 * .6, 0, "", "q_c = .2 + .2 is further from 1 than .6"},
		{"5 of 10", 5, 10, nil, .5 * .4 * .4, -.4, "", ".6 is within .2 of .5"},
		{"no clip", 20, 10, new(0.0), .5 * .4 * .4, -.4, "", "old is not read"},
		{"at RMax", -10, 10, nil, .5 * 1.8 * 1.8, 0, "", "p = -1; q_c = -.8"},
		{"rounding", 10 * (1 + 5e-10), 10, nil, .5 * .4 * .4, -.4, "", "RMax*p may round"},
		{"20 of 10", 20, 10, nil, 0, 0, "turns[0].OldV is 20, want a magnitude of at most RMax, 10", "no read-out gives it"},
		{"just beyond", -10.2, 10, nil, 0, 0, "turns[0].OldV is -10.2, want", "more than rounding"},
		{"rounding of eight bits", 10 * (1 + 1./256), 10, nil, .5 * .4 * .4, -.4, "", "a collector in bfloat16"},
		{"2 of 1", 2, 1, nil, 0, 0, "turns[0].OldV is 2, want a magnitude of at most RMax, 1", "another RMax than the collector's"},
		{"20 of 100", 20, 100, nil, .5 * .5 * .5, .5, "", "target .1; .6 is further off than q_c = .4"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		turn.OldV, o.RMax, o.ValueClip = tt.old, tt.rMax, tt.clip
		grad := NewSAPOGrad([]SAPOTurn{turn})
		_, stats, err := SAPO(grad, []SAPOTurn{turn}, o)
		if tt.text != "" {
			if f := (*rl.FieldError)(nil); !errors.As(err, &f) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: %s: got %v, want %q", tt.name, tt.reason, err, tt.text)
			}
			continue
		}
		got := []float64{stats.ValueLoss, grad[0].Logits[0][4] * o.Head.Tau / .5}
		if diff := cmp.Diff([]float64{tt.loss, tt.grad}, got, near); diff != "" || err != nil {
			t.Errorf("%s: %s: error %v (-want +got):\n%s", tt.name, tt.reason, err, diff)
		}
	}
}

func TestNewSAPOGrad(t *testing.T) {
	turns := benchmarkTurns(3, 2, 9)
	turns[1].After, turns[2].Logits[1], turns[0].Logits = nil, nil, nil
	turns[0].NoPolicy, turns[0].NoV, turns[1].NoQ, turns[2].Trainable = true, true, true, []bool{true, false}
	grad := NewSAPOGrad(turns)
	for i, g := range grad {
		if len(g.Logits) != len(turns[i].Logits) || len(g.After) != len(turns[i].After) {
			t.Errorf("turn %d: %d vectors, After of length %d", i, len(g.Logits), len(g.After))
		}
	}
	if _, _, err := SAPO(grad, turns, &SAPOOptions{Head: Head{Plus: 7, Minus: 8}}); err != nil {
		t.Error(err)
	}
	if g := NewSAPOGrad(nil); len(g) != 0 {
		t.Errorf("of nothing: %v", g)
	}
}

func TestRolloutsErrors(t *testing.T) {
	batch := []rl.Trajectory{trajectory(1), trajectory(2)}
	c, err := rl.SAPO(nil, batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(c *rl.Credit)) *rl.Credit {
		d := *c
		change(&d)
		return &d
	}
	short := with(func(c *rl.Credit) { c.NoVote = nil })
	noV := with(func(c *rl.Credit) { c.ValueTarget = nil })
	shortV := with(func(c *rl.Credit) { c.ValueTarget = c.ValueTarget[:1] })
	tests := []struct {
		name string
		err  func() error
		is   error
		text string
	}{
		{"batch of another", func() error { _, err := NewBatch(nil, batch[:1], c, nil); return err }, rl.ErrShape, "the credit is of another batch"},
		{"batch of nil", func() error { _, err := NewBatch(nil, batch, nil, nil); return err }, rl.ErrShape, "the credit is of another batch"},
		{"options", func() error { _, err := NewBatch(nil, batch, c, &WeightOptions{Aggregation: 9}); return err }, nil, "WeightOptions.Aggregation is 9"},
		{"tokens", func() error {
			_, err := NewBatch(nil, batch, with(func(c *rl.Credit) { c.TokenAdvantage = []float64{1} }), nil)
			return err
		}, rl.ErrShape, "the credit is of another batch"},
		{"turns of another", func() error { _, err := TurnWeights(nil, batch[:1], c); return err }, rl.ErrShape, "the credit is of another batch"},
		{"turns of nil", func() error { _, err := TurnWeights(nil, batch, nil); return err }, rl.ErrShape, "the credit is of another batch"},
		{"reasons", func() error { _, err := TurnWeights(nil, batch, short); return err }, rl.ErrShape, "the credit is of another batch"},
		{"values", func() error { _, err := NewValueBatch(nil, batch, noV); return err }, nil, "Credit.ValueTarget is nil, want the targets of an estimator with a critic"},
		{"short values", func() error { _, err := NewValueBatch(nil, batch, shortV); return err }, rl.ErrShape, "the credit is of another batch"},
		{"values of another", func() error { _, err := NewValueBatch(nil, batch[:1], c); return err }, rl.ErrShape, "the credit is of another batch"},
		{"SAPO of another", func() error { _, err := SAPOTurns(nil, batch[:1], c); return err }, rl.ErrShape, "the credit is of another batch"},
		{"SAPO reasons", func() error { _, err := SAPOTurns(nil, batch, short); return err }, rl.ErrShape, "the credit is of another batch"},
		{"SAPO without V", func() error { _, err := SAPOTurns(nil, batch, noV); return err }, nil, "Credit.ValueTarget is nil"},
		{"SAPO short Q", func() error {
			_, err := SAPOTurns(nil, batch, with(func(c *rl.Credit) { c.QTarget = []float64{} }))
			return err
		}, rl.ErrShape, "the credit is of another batch"},
		{"SAPO tokens", func() error {
			_, err := SAPOTurns(nil, batch, with(func(c *rl.Credit) { c.TokenAdvantage = []float64{1, 2, 3} }))
			return err
		}, nil, "Credit.TokenAdvantage is set, want credit per turn alone"},
	}
	for _, tt := range tests {
		if err := tt.err(); err == nil || !strings.Contains(err.Error(), tt.text) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
	}
}

func TestRolloutsAllocations(t *testing.T) {
	batch := []rl.Trajectory{trajectory(2, 0, 3), trajectory(4)}
	c, err := rl.SAPO(nil, batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, v, turns, w := new(Batch), new(ValueBatch), []SAPOTurn(nil), []float64(nil)
	for name, f := range map[string]func() error{
		"NewBatch":      func() error { _, err := NewBatch(b, batch, c, nil); return err },
		"NewValueBatch": func() error { _, err := NewValueBatch(v, batch, c); return err },
		"TurnWeights":   func() (err error) { w, err = TurnWeights(w, batch, c); return err },
		"SAPOTurns":     func() (err error) { turns, err = SAPOTurns(turns, batch, c); return err },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() { _ = f() }); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkRollouts(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		var batch []rl.Trajectory
		for i := range n / 10 {
			batch = append(batch, trajectory(8, 8, 8, 8, 8, 8, 8, 8, 8, 8))
			batch[i].Turns[i%10].Excluded = true
		}
		c, err := rl.SAPO(nil, batch, nil)
		if err != nil {
			b.Fatal(err)
		}
		tokens, values, turns := new(Batch), new(ValueBatch), []SAPOTurn(nil)
		for _, f := range []struct {
			name string
			f    func() error
		}{
			{"NewBatch", func() error { _, err := NewBatch(tokens, batch, c, nil); return err }},
			{"NewValueBatch", func() error { _, err := NewValueBatch(values, batch, c); return err }},
			{"SAPOTurns", func() (err error) { turns, err = SAPOTurns(turns, batch, c); return err }},
		} {
			b.Run(fmt.Sprintf("%s/turns=%d", f.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f.f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Mini-batches have the gradients of batches of their own.
func TestTake(t *testing.T) {
	b := &Batch{LogProb: []float64{-1, -2, -3}, OldLogProb: []float64{-1.1, -2.2, -2.9}, Advantage: []float64{1, 9, -1}, Weight: []float64{.5, 0, .5}}
	got, err := b.Take(nil, []int{2, 1})
	if err != nil {
		t.Fatal(err)
	}
	want := &Batch{LogProb: []float64{-3, -2}, OldLogProb: []float64{-2.9, -2.2}, Advantage: []float64{-1, 9}, Weight: []float64{1, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.RefLogProb = []float64{-4, -5, -6}
	again, err := b.Take(got, []int{0, 2})
	want = &Batch{LogProb: []float64{-1, -3}, OldLogProb: []float64{-1.1, -2.9}, RefLogProb: []float64{-4, -6}, Advantage: []float64{1, -1}, Weight: []float64{.5, .5}}
	if diff := cmp.Diff(want, again); diff != "" || err != nil || again != got {
		t.Errorf("memory used again: %v (-want +got):\n%s", err, diff)
	}
	if got, err := b.Take(nil, []int{1}); err != nil || got.Weight[0] != 0 {
		t.Errorf("nothing that counts: %+v, %v", got, err)
	}
	if got, err := b.Take(nil, nil); err != nil || got.Weight == nil {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	b.Weight = nil
	if got, err := b.Take(got, []int{0}); err != nil || got.Weight != nil {
		t.Errorf("without weights: %+v, %v", got, err)
	}
	for _, bad := range [][]int{{-1}, {0, 3}} {
		if _, err := b.Take(nil, bad); err == nil || !strings.Contains(err.Error(), "positions[") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	for _, w := range [][]float64{{-5, 1, 1}, {math.NaN(), 1, 1}, {1e308, 5e-324, 0}} {
		b.Weight = w
		if _, err := b.Take(nil, []int{1}); err == nil {
			t.Errorf("weights %v are taken", w)
		}
	}
	b.Weight = nil
	b.Advantage = b.Advantage[:2]
	if _, err := b.Take(nil, []int{0}); !errors.Is(err, rl.ErrShape) {
		t.Errorf("ragged: %v", err)
	}
	// The mean over the whole is that of its mini-batches, each with its share of the tokens.
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "tokens")
		b := &Batch{}
		var parts [2][]int
		for j := range n {
			b.LogProb = append(b.LogProb, -rapid.Float64Range(0, 3).Draw(t, "log-prob"))
			b.Advantage = append(b.Advantage, rapid.Float64Range(-2, 2).Draw(t, "advantage"))
			b.Weight = append(b.Weight, 1/float64(n))
			p := rapid.IntRange(0, 1).Draw(t, "part")
			parts[p] = append(parts[p], j)
		}
		whole, err := Reinforce(nil, *b)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, p := range parts {
			mini, err := b.Take(nil, p)
			if err != nil {
				t.Fatal(err)
			}
			value, err := Reinforce(nil, *mini)
			if err != nil {
				t.Fatal(err)
			}
			sum += value * float64(len(p)) / float64(n)
		}
		if math.Abs(sum-whole) > 1e-12 {
			t.Fatalf("mini-batches %v, whole %v", sum, whole)
		}
	})
}

// Where no token has a reference, there is none.
func TestNewBatchReference(t *testing.T) {
	turn := func(ref float64) rl.Trajectory {
		return rl.Trajectory{Turns: []rl.Turn{{Reward: 1, End: rl.Terminated, Tokens: []rl.Token{{Trainable: true, LogProb: -1, RefLogProb: ref}}}}}
	}
	for _, ref := range []float64{0, -2} {
		batch := []rl.Trajectory{turn(0), turn(ref)}
		c, err := rl.GRPO(nil, batch, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewBatch(nil, batch, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = KL(nil, *b, KL3)
		if ref == 0 && !errors.Is(err, rl.ErrShape) || ref != 0 && (err != nil || len(b.RefLogProb) != 2) {
			t.Errorf("reference %v: %v, error of KL %v", ref, b.RefLogProb, err)
		}
	}
}
