package backbone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// testConfig is of small models with two reserved entries.
func testConfig() Config {
	return Config{Vocab: 9, MaxLen: 16, Dim: 8, Heads: 2, Layers: 2, Seed: 3, Head: loss.Head{Plus: 7, Minus: 2, Tau: 2, Temperature: 1.3}}
}

// testBatch has all that a batch may: short and long, an empty response, one token of context, restrictions here and there.
func testBatch() []rl.Sequence {
	return []rl.Sequence{
		{Tokens: []int{1, 3, 4, 5, 6}, Start: 2},
		{Tokens: []int{0, 8}, Start: 2},
		{Tokens: []int{8, 0, 1}, Start: 1, Allowed: [][]int{{5, 0, 3}, nil}},
		{Tokens: []int{1, 1, 1, 1, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5}, Start: 13, Allowed: [][]int{{5}, {}, {6, 5}}},
	}
}

// scramble moves all parameters by a random amount, and the head by more, so that nothing is near uniform.
func scramble(params []*Param, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, p := range params {
		std := 0.2
		if p.Name == "head" {
			std = 0.7
		}
		for i := range p.W {
			p.W[i] += std * rng.NormFloat64()
		}
	}
}

func testModel(t testing.TB, make func(Config) (*Model, error)) *Model {
	t.Helper()
	m := mustModel(t, make, testConfig())
	scramble(m.Params(), 11)
	return m
}

// logits returns the vectors of all sequences.
func logits(t testing.TB, n rl.Network, batch []rl.Sequence) [][][]float64 {
	t.Helper()
	all := make([][][]float64, len(batch))
	err := n.Forward(context.Background(), batch, func(i int, out [][]float64) error {
		for _, z := range out {
			all[i] = append(all[i], append([]float64(nil), z...))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestConfig(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		c            Config
		want         string // "" means no error
	}{
		{"defaults", "only Vocab has none", Config{Vocab: 1}, ""},
		{"no vocabulary", "there is nothing to say", Config{}, "Config.Vocab is 0, want a number from 1"},
		{"negative", "each size is looked at", Config{Vocab: 3, MaxLen: -1, Dim: -2, Layers: -3, Heads: -4, Workers: -5}, "Config.MaxLen is -1"},
		{"heads", "4 does not divide 6", Config{Vocab: 3, Dim: 6}, "Config.Heads is 4, want a divisor of Dim 6"},
		{"reserved beyond", "entries 3 and 5 need six tokens",
			Config{Vocab: 5, Head: loss.Head{Plus: 5, Minus: 3}}, "Config.Vocab is 5, want a number from 6"},
		{"all reserved", "nothing is left to sample",
			Config{Vocab: 2, Head: loss.Head{Plus: 0, Minus: 1}}, "Config.Vocab is 2, want a number from 3"},
		{"one entry twice", "the value needs two", Config{Vocab: 5, Head: loss.Head{Plus: 1, Minus: 1}}, "want two different positions"},
		{"negative entry", "no token is negative", Config{Vocab: 5, Head: loss.Head{Plus: -1, Minus: 1}}, "want two different positions"},
		{"temperature", "a softmax divides by it", Config{Vocab: 5, Head: loss.Head{Temperature: -1}}, "Head.Temperature is -1"},
		{"optimiser", "its settings are checked as well", Config{Vocab: 5, AdamW: AdamW{Eps: -1}}, "AdamW.Eps is -1"},
		{"too large", "memory is bounded", Config{Vocab: 1 << 20, Dim: 1 << 12}, "parameters, want at most"},
		{"huge", "no product overflows",
			Config{Vocab: 1 << 60, Dim: 1 << 60, MaxLen: 1 << 60, Layers: 1 << 60}, "Config.Vocab is 1152921504606846976"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.reason == "" {
				t.Fatal("no reason")
			}
			m, err := NewTransformer(test.c)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || m != nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, %v, want an error with %q", m, err, test.want)
			}
		})
	}
	if _, err := NewGRU(Config{Vocab: 4, Dim: 6, Heads: -4, Layers: -1}); err != nil {
		t.Errorf("a GRU reads neither Heads nor Layers: %v", err)
	}
}

// Counts are those of the formulas: V D + L D + layers (12 D² + 9 D) + 2 D + D V, and V D + 6 D² + 4 D + D V.
func TestNumParams(t *testing.T) {
	c := Config{Vocab: 64, MaxLen: 32}
	m, g := mustModel(t, NewTransformer, c), mustModel(t, NewGRU, c)
	if got, want := m.NumParams(), 64*64+32*64+2*(12*64*64+9*64)+2*64+64*64; got != want {
		t.Errorf("transformer: %d, want %d", got, want)
	}
	if got, want := g.NumParams(), 64*64+6*64*64+4*64+64*64; got != want {
		t.Errorf("gru: %d, want %d", got, want)
	}
	critic, err := m.NewCritic(1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := critic.NumParams(), m.NumParams()-63*64; got != want {
		t.Errorf("critic: %d, want %d", got, want)
	}
	if m.Vocab() != 64 || m.MaxLen() != 32 {
		t.Errorf("%d tokens, %d long", m.Vocab(), m.MaxLen())
	}
	names := map[string]bool{}
	for _, p := range m.Params() {
		if names[p.Name] || len(p.W) != p.Rows*p.Cols || len(p.G) != len(p.W) {
			t.Errorf("%s: %d x %d, %d weights, %d of the gradient", p.Name, p.Rows, p.Cols, len(p.W), len(p.G))
		}
		names[p.Name] = true
	}
}

// The first policy is nearly uniform, and equal seeds give equal parameters.
func TestInitial(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			c := testConfig()
			m, same := mustModel(t, a.make, c), mustModel(t, a.make, c)
			c.Seed++
			other := mustModel(t, a.make, c)
			batch := testBatch()
			z := logits(t, m, batch)
			for i := range z {
				for _, row := range z[i] {
					for _, x := range row {
						if math.Abs(x) > 0.6 { // six standard deviations
							t.Errorf("logit %v", x)
						}
					}
				}
			}
			if !cmp.Equal(z, logits(t, same, batch)) {
				t.Error("equal seeds, other logits")
			}
			if cmp.Equal(z, logits(t, other, batch)) {
				t.Error("other seeds, equal logits")
			}
		})
	}
}

// LogProbs are those of the logits that Forward gives, read at the token before, over what is allowed.
func TestLogProbsAgainstLogits(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m, batch := testModel(t, a.make), testBatch()
			got, err := m.LogProbs(context.Background(), batch)
			if err != nil {
				t.Fatal(err)
			}
			z := logits(t, m, batch)
			want := make([][]float64, len(batch))
			for i, s := range batch {
				want[i] = []float64{}
				if len(z[i]) != len(s.Tokens)-s.Start+1 {
					t.Fatalf("sequence %d: %d vectors", i, len(z[i]))
				}
				for j, id := range s.Tokens[s.Start:] {
					allowed := []int{0, 1, 3, 4, 5, 6, 8} // all but the reserved
					if s.Allowed != nil && len(s.Allowed[j]) > 0 {
						allowed = s.Allowed[j]
					}
					var sum float64
					for _, k := range allowed {
						sum += math.Exp(z[i][j][k] / 1.3)
					}
					want[i] = append(want[i], z[i][j][id]/1.3-math.Log(sum))
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The logits at a position do not depend on what follows, nor on the other sequences.
func TestCausal(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m := testModel(t, a.make)
			full := rl.Sequence{Tokens: []int{1, 3, 4, 5, 6, 8, 0, 1}, Start: 1}
			want := logits(t, m, []rl.Sequence{full})[0]
			for n := 1; n < 8; n++ {
				cut := rl.Sequence{Tokens: full.Tokens[:n:n], Start: n}
				got := logits(t, m, append(testBatch(), cut))[4]
				if diff := cmp.Diff(want[n-1:n], got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
					t.Errorf("length %d (-want +got)\n%s", n, diff)
				}
			}
		})
	}
}

// AddGrad adds the gradient of its sum, by central differences for entries of every parameter.
func TestAddGrad(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m, batch := testModel(t, a.make), testBatch()
			weight := [][]float64{{1, -2, 0.5}, {}, {3, 0}, {-1, 1, 2}}
			value := func() (sum float64) {
				l, err := m.LogProbs(context.Background(), batch)
				if err != nil {
					t.Fatal(err)
				}
				for i := range l {
					for j := range l[i] {
						sum += weight[i][j] * l[i][j]
					}
				}
				return sum
			}
			for range 2 { // it adds: the second call doubles
				if err := m.AddGrad(context.Background(), batch, weight); err != nil {
					t.Fatal(err)
				}
			}
			checkGradient(t, m.Params(), halves(m.Params()), rand.New(rand.NewPCG(1, 1)), value)
		})
	}
}

// halves returns half the gradients.
func halves(params []*Param) [][]float64 {
	grad := zerosLike(params)
	for i, p := range params {
		for k, g := range p.G {
			grad[i][k] = g / 2
		}
	}
	return grad
}

// jointLoss is the loss of SAPO with all its terms on, over the responses of testBatch as turns.
func jointLoss(batch []rl.Sequence, c Config, i int, out, grad [][]float64) (float64, error) {
	s := batch[i]
	actions := s.Tokens[s.Start:]
	n := len(actions)
	old, ref := make([]float64, n), make([]float64, n)
	for j := range actions {
		old[j], ref[j] = -1.9-0.1*float64(j), -2.2
	}
	turn := loss.SAPOTurn{
		Logits: out[:n], After: out[n], Actions: actions, OldLogProb: old, RefLogProb: ref,
		Advantage: 1 - float64(i), OldV: 0.3, OldQ: -0.4, TargetV: 2, TargetQ: -3,
	}
	turn.Logits = out[:max(n, 1)]
	turn.NoPolicy = n == 0
	o := loss.SAPOOptions{
		Head: c.Head, EntropyWeight: new(0.3), KLWeight: new(0.4), ValueClip: new(0.0), QClip: new(0.0),
		PPO: loss.PPOOptions{ClipLow: 0.9, ClipHigh: 50}, Total: loss.SAPOTotal{Tokens: 8, V: 4, Q: 4},
	}
	var g []loss.SAPOGrad
	if grad != nil {
		g = []loss.SAPOGrad{{Logits: grad[:max(n, 1)], After: grad[n]}}
		if n == 0 { // V and Q are read at one place, and a gradient overwrites
			g[0].After = make([]float64, len(grad[0]))
		}
	}
	value, _, err := loss.SAPO(g, []loss.SAPOTurn{turn}, &o)
	if grad != nil && n == 0 {
		addRows(grad[0], g[0].After)
	}
	return value, err
}

// ForwardBackward with SAPO's joint loss: policy, divergence and entropy, V at the end of the context and Q at the last token.
func TestJointLoss(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m, batch := testModel(t, a.make), testBatch()
			for i := range batch {
				batch[i].Allowed = nil
			}
			c := m.net.config
			value := func() (sum float64) {
				err := m.Forward(context.Background(), batch, func(i int, out [][]float64) error {
					x, err := jointLoss(batch, c, i, out, nil)
					sum += x
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return sum
			}
			err := m.ForwardBackward(context.Background(), batch, func(i int, grad, out [][]float64) error {
				_, err := jointLoss(batch, c, i, out, grad)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			grad := zerosLike(m.Params())
			for i, p := range m.Params() {
				copy(grad[i], p.G)
			}
			checkGradient(t, m.Params(), grad, rand.New(rand.NewPCG(1, 1)), value)
			if g := grad[len(grad)-1]; g[c.Head.Plus] == 0 {
				t.Error("no gradient reaches the value")
			}
		})
	}
}

// A critic has the gradient of its own loss, and shares nothing with its model.
func TestCritic(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m, batch := testModel(t, a.make), testBatch()
			before := logits(t, m, batch)
			c, err := m.NewCritic(5)
			if err != nil {
				t.Fatal(err)
			}
			scramble(c.Params(), 12)
			value := func() (sum float64) {
				for i, rows := range logits(t, c, batch) {
					for j, v := range rows {
						sum += (v[0] - float64(i+j)) * (v[0] - float64(i+j)) / 2
					}
				}
				return sum
			}
			err = c.ForwardBackward(context.Background(), batch, func(i int, grad, out [][]float64) error {
				for j, v := range out {
					if len(v) != 1 {
						t.Errorf("width %d", len(v))
					}
					grad[j][0] = v[0] - float64(i+j)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			grad := zerosLike(c.Params())
			for i, p := range c.Params() {
				copy(grad[i], p.G)
			}
			checkGradient(t, c.Params(), grad, rand.New(rand.NewPCG(1, 1)), value)

			clone, old := c.Clone(), value()
			if _, err := c.Step(context.Background(), 0.01); err != nil {
				t.Fatal(err)
			}
			if now := value(); !(now < old) {
				t.Errorf("a step takes the loss from %v to %v", old, now)
			}
			if _, err := clone.Step(context.Background(), 0.01); err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(logits(t, c, batch), logits(t, clone, batch)) {
				t.Error("a clone has another gradient")
			}
			if !cmp.Equal(before, logits(t, m, batch)) {
				t.Error("training the critic moved the model")
			}
			c.ZeroGrad()
			for _, p := range c.Params() {
				for _, g := range p.G {
					if g != 0 {
						t.Fatal("a gradient after ZeroGrad")
					}
				}
			}
		})
	}
}

// A critic starts as a policy of no seed does, its own among them.
func TestCriticIsNoPolicy(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			c := testConfig()
			models := map[string]uint64{}
			key := func(params []*Param) string { return fmt.Sprint(params[0].W) }
			for c.Seed = range 51 {
				models[key(mustModel(t, a.make, c).Params())] = c.Seed
			}
			m := mustModel(t, a.make, c)
			critics := map[string]bool{}
			for seed := range uint64(51) {
				critic, err := m.NewCritic(seed)
				if err != nil {
					t.Fatal(err)
				}
				k := key(critic.Params())
				if at, ok := models[k]; ok {
					t.Errorf("the critic of seed %d starts as the model of seed %d", seed, at)
				}
				critics[k] = true
			}
			if len(models) != 51 || len(critics) != 51 {
				t.Errorf("51 seeds make %d models and %d critics", len(models), len(critics))
			}
		})
	}
}

// Training on one batch takes its loss below 0.05: what is learned are the responses, each after its context.
func TestOverfit(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			c := Config{Vocab: 12, MaxLen: 10, Dim: 16, Heads: 2, Layers: 1, Seed: 1}
			m := mustModel(t, a.make, c)
			batch := randomBatch(12, 8, 10, 5)
			weight := ones(batch)
			for i := range weight {
				for j := range weight[i] {
					weight[i][j] = -1.0 / 40
				}
			}
			var first, mean float64
			for step := range 300 {
				l, err := m.LogProbs(context.Background(), batch)
				if err != nil {
					t.Fatal(err)
				}
				mean = 0
				for i := range l {
					for _, x := range l[i] {
						mean -= x / 40
					}
				}
				if step == 0 {
					first = mean
				}
				if mean < 0.05 {
					return
				}
				if err := m.AddGrad(context.Background(), batch, weight); err != nil {
					t.Fatal(err)
				}
				if _, err := m.Step(context.Background(), 0.01); err != nil {
					t.Fatal(err)
				}
			}
			t.Errorf("the loss went from %v to %v in 300 steps, want less than 0.05", first, mean)
		})
	}
}

// trained returns the bytes of a model after a few steps on random batches.
func trained(t testing.TB, make func(Config) (*Model, error), workers int, ctx context.Context) []byte {
	t.Helper()
	c := testConfig()
	c.Head = loss.Head{}
	m := mustModel(t, make, c)
	m.SetWorkers(workers)
	for step := range 3 {
		batch := randomBatch(9, 100+step, 16, 5) // seven chunks
		if err := m.AddGrad(ctx, batch, ones(batch)); err != nil {
			t.Fatal(err)
		}
		err := m.ForwardBackward(ctx, batch, func(i int, grad, out [][]float64) error {
			for j := range out {
				for k, z := range out[j] {
					grad[j][k] = z * float64(i)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Step(ctx, 0.01); err != nil {
			t.Fatal(err)
		}
	}
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The number of workers changes no bit.
func TestWorkers(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			want := trained(t, a.make, 1, context.Background())
			for _, workers := range []int{2, 4, 100} {
				if !bytes.Equal(want, trained(t, a.make, workers, context.Background())) {
					t.Errorf("%d workers: other bytes", workers)
				}
			}
		})
	}
}

// How a batch is laid out, and which other sequences are in it, changes results by rounding alone.
func TestBatchLayout(t *testing.T) {
	m := testModel(t, NewTransformer)
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom([]int{0, 1, 3, 4, 5, 6, 8})
		batch := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rl.Sequence {
			tokens := rapid.SliceOfN(token, 1, 16).Draw(t, "tokens")
			return rl.Sequence{Tokens: tokens, Start: rapid.IntRange(1, len(tokens)).Draw(t, "start")}
		}), 1, 6).Draw(t, "batch")
		all, err := m.LogProbs(context.Background(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			alone, err := m.LogProbs(context.Background(), batch[i:i+1])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(all[i], alone[0], cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Fatalf("sequence %d (-in the batch +alone)\n%s", i, diff)
			}
		}
	})
}

func TestRefuses(t *testing.T) {
	ok := rl.Sequence{Tokens: []int{1, 3}, Start: 1}
	for _, test := range []struct {
		name, reason string
		s            rl.Sequence
		want         string
		is           error
	}{
		{"empty", "there is nothing to read", rl.Sequence{Start: 1}, "batch[1].Tokens is of length 0, want a length from 1 to 16", nil},
		{"long", "positions end at MaxLen",
			rl.Sequence{Tokens: make([]int, 17), Start: 1}, "batch[1].Tokens is of length 17, want a length from 1 to 16", nil},
		{"no context", "the first token has no token before it", rl.Sequence{Tokens: []int{1, 3}}, "batch[1].Start is 0", nil},
		{"start beyond", "a response begins at the end at the latest",
			rl.Sequence{Tokens: []int{1, 3}, Start: 3}, "batch[1].Start is 3, want a position from 1 to the length 2", nil},
		{"id", "the vocabulary ends at 8", rl.Sequence{Tokens: []int{1, 9}, Start: 1}, "batch[1].Tokens[1] is 9, want a token from 0 to 8", nil},
		{"negative id", "no token is negative", rl.Sequence{Tokens: []int{-1, 1}, Start: 1}, "batch[1].Tokens[0] is -1", nil},
		{"reserved target", "reserved entries are no actions",
			rl.Sequence{Tokens: []int{1, 7}, Start: 1}, "batch[1].Tokens[1] is 7", loss.ErrReservedToken},
		{"reserved context", "nor are they read", rl.Sequence{Tokens: []int{2, 1}, Start: 1}, "batch[1].Tokens[0] is 2", loss.ErrReservedToken},
		{"allowed length", "one list a token",
			rl.Sequence{Tokens: []int{1, 3}, Start: 1, Allowed: [][]int{nil, nil}}, "batch[1].Allowed is of length 2", rl.ErrShape},
		{"allowed id", "lists have tokens",
			rl.Sequence{Tokens: []int{1, 3}, Start: 1, Allowed: [][]int{{3, 9}}}, "batch[1].Allowed[0][1] is 9", nil},
		{"allowed reserved", "that can be drawn",
			rl.Sequence{Tokens: []int{1, 3}, Start: 1, Allowed: [][]int{{3, 7}}}, "batch[1].Allowed[0][1] is 7", loss.ErrReservedToken},
		{"allowed twice", "each once",
			rl.Sequence{Tokens: []int{1, 3}, Start: 1, Allowed: [][]int{{3, 1, 3}}}, "batch[1].Allowed[0][2] is 3, want each token once", nil},
		{"not allowed", "what was drawn is among them",
			rl.Sequence{Tokens: []int{1, 3}, Start: 1, Allowed: [][]int{{1, 4}}}, "batch[1].Allowed[0] is [1 4], want the token 3", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.reason == "" {
				t.Fatal("no reason")
			}
			m := testModel(t, NewTransformer)
			batch := []rl.Sequence{ok, test.s}
			check := func(name string, err error) {
				t.Helper()
				var field *rl.FieldError
				if err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, &field) || test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("%s: %v, want an error with %q", name, err, test.want)
				}
			}
			_, err := m.LogProbs(context.Background(), batch)
			check("LogProbs", err)
			check("AddGrad", m.AddGrad(context.Background(), batch, [][]float64{{1}, {1}}))
			check("Forward", m.Forward(context.Background(), batch, func(int, [][]float64) error { return nil }))
			check("ForwardBackward", m.ForwardBackward(context.Background(), batch, func(int, [][]float64, [][]float64) error { return nil }))
			for _, p := range m.Params() {
				for _, g := range p.G {
					if g != 0 {
						t.Fatal("a gradient from a batch that was refused")
					}
				}
			}
		})
	}
	m := testModel(t, NewTransformer)
	batch := []rl.Sequence{ok}
	for _, test := range []struct {
		weight [][]float64
		want   string
		is     error
	}{
		{nil, "weight is of length 0, want length 1 of the batch", rl.ErrShape},
		{[][]float64{{1, 2}}, "weight[0] is of length 2, want length 1 of the response", rl.ErrShape},
		{[][]float64{{math.NaN()}}, "weight[0][0] is NaN, want a finite number", rl.ErrNonFinite},
	} {
		err := m.AddGrad(context.Background(), batch, test.weight)
		if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, test.is) {
			t.Errorf("%v, want an error with %q", err, test.want)
		}
	}
	if m.Forward(context.Background(), batch, nil) == nil || m.ForwardBackward(context.Background(), batch, nil) == nil {
		t.Error("a nil callback gives no error")
	}
}

// Parameters that are not numbers give errors, not numbers.
func TestNonFinite(t *testing.T) {
	m := testModel(t, NewTransformer)
	m.Params()[0].W[8*1] = math.NaN() // of token 1
	if _, err := m.LogProbs(context.Background(), testBatch()); !errors.Is(err, rl.ErrNonFinite) || !strings.Contains(err.Error(), "batch[0], token 0") {
		t.Errorf("LogProbs: %v", err)
	}
	if _, err := m.Sample(context.Background(), nil, []int{1}, rl.SampleOptions{Limit: 1}); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("Sample: %v", err)
	}
	m = testModel(t, NewTransformer)
	err := m.ForwardBackward(context.Background(), testBatch(), func(_ int, grad, _ [][]float64) error {
		grad[0][0] = math.Inf(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := logits(t, m, testBatch())
	if _, err := m.Step(context.Background(), 0.1); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("Step: %v", err)
	}
	if !cmp.Equal(want, logits(t, m, testBatch())) {
		t.Error("the step was made")
	}
}

// The error of a callback is that of the first chunk, and the gradient then that of the chunks before it, whatever the number of workers.
func TestCallbackError(t *testing.T) {
	batch := randomBatch(9, 100, 32, 2) // 8 a chunk
	var want [][]float64
	for _, workers := range []int{1, 4} {
		m := mustModel(t, NewGRU, Config{Vocab: 9, Dim: 4, Workers: workers})
		later := make(chan struct{})
		err := m.ForwardBackward(context.Background(), batch, func(i int, grad, out [][]float64) error {
			grad[0][0] = 1
			switch i {
			case 24:
				close(later)
				return nil
			case 20:
				if workers > 1 {
					<-later // a later chunk is under way, and will fail as well
				}
			case 31, 32, 99:
			default:
				return nil
			}
			return fmt.Errorf("sequence %d", i)
		})
		if err == nil || err.Error() != "sequence 20" {
			t.Errorf("%d workers: %v", workers, err)
		}
		got := zerosLike(m.Params())
		for i, p := range m.Params() {
			copy(got[i], p.G)
		}
		if workers == 1 {
			want = got
		} else if !cmp.Equal(want, got) {
			t.Errorf("%d workers: another gradient", workers)
		}
	}
}

// Cancelled calls return the error of the context, and no model changes by a Step.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := testModel(t, NewTransformer)
	batch := testBatch()
	want := logits(t, m, batch)
	cancel()
	if _, err := m.LogProbs(ctx, batch); !errors.Is(err, context.Canceled) {
		t.Errorf("LogProbs: %v", err)
	}
	if err := m.AddGrad(ctx, batch, ones(batch)); !errors.Is(err, context.Canceled) {
		t.Errorf("AddGrad: %v", err)
	}
	if _, err := m.Step(ctx, 0.1); !errors.Is(err, context.Canceled) {
		t.Errorf("Step: %v", err)
	}
	if _, err := m.Sample(ctx, nil, []int{1}, rl.SampleOptions{Limit: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("Sample: %v", err)
	}
	if !cmp.Equal(want, logits(t, m, batch)) {
		t.Error("the model changed")
	}
	// In the middle of a call, with workers that wait for each other.
	ctx, cancel = context.WithCancel(context.Background())
	long := randomBatch(2, 200, 16, 1)
	m.SetWorkers(4)
	err := m.Forward(ctx, long, func(i int, _ [][]float64) error {
		if i == 40 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Forward: %v", err)
	}
}

// A clone goes its own way with the same state of the optimiser; a frozen copy stays.
func TestCloneAndFreeze(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m, batch := testModel(t, a.make), testBatch()
			move := func(m *Model) {
				t.Helper()
				if err := m.AddGrad(context.Background(), batch, ones(batch)); err != nil {
					t.Fatal(err)
				}
				if _, err := m.Step(context.Background(), 0.01); err != nil {
					t.Fatal(err)
				}
			}
			move(m)
			clone, frozen, before := m.Clone(), m.Freeze(), logits(t, m, batch)
			if want := testConfig().Head; m.Head() != want || clone.Head() != want {
				t.Errorf("heads %+v and %+v, want %+v", m.Head(), clone.Head(), want)
			}
			move(m)
			if !cmp.Equal(before, logits(t, clone, batch)) {
				t.Error("training moved the clone")
			}
			move(clone)
			if !cmp.Equal(logits(t, m, batch), logits(t, clone, batch)) {
				t.Error("the clone learns something else")
			}
			if !cmp.Equal(before, logits(t, frozen.(rl.Network), batch)) {
				t.Error("training moved the frozen copy")
			}
			if _, err := frozen.LogProbs(context.Background(), batch); err != nil {
				t.Error(err)
			}
			_, err := frozen.Step(context.Background(), 1)
			if err == nil || frozen.AddGrad(context.Background(), batch, ones(batch)) == nil ||
				frozen.(rl.Network).ForwardBackward(context.Background(), batch, nil) == nil {
				t.Error("a frozen model lets itself be trained")
			}
		})
	}
}

// What was not made by a function of this package gives errors and zeros.
func TestZero(t *testing.T) {
	var nilModel *Model
	var nilCritic *Critic
	ctx := context.Background()
	for _, m := range []*Model{nilModel, {}} {
		_, e1 := m.LogProbs(ctx, nil)
		_, e2 := m.Step(ctx, 0)
		_, e3 := m.Sample(ctx, nil, nil, rl.SampleOptions{})
		_, e4 := m.NewCritic(1)
		for i, err := range []error{e1, e2, e3, e4, m.AddGrad(ctx, nil, nil), m.Forward(ctx, nil, nil), m.ForwardBackward(ctx, nil, nil), m.NewSession().Append(1)} {
			if err == nil {
				t.Errorf("call %d of %v: no error", i, m)
			}
		}
		m.ZeroGrad()
		m.SetWorkers(2)
		if m.Head() != (loss.Head{}) {
			t.Error("a head")
		}
		if m.Vocab()+m.MaxLen()+m.NumParams()+len(m.Params())+m.NewSession().Len() != 0 || m.NewSession() != nil || m.NewSession().Logits() != nil {
			t.Error("numbers")
		}
		if _, err := m.Freeze().LogProbs(ctx, nil); err == nil || m.Clone().ready() == nil {
			t.Error("copies work")
		}
	}
	for _, c := range []*Critic{nilCritic, {}} {
		_, e1 := c.Step(ctx, 0)
		for i, err := range []error{e1, c.Forward(ctx, nil, nil), c.ForwardBackward(ctx, nil, nil), c.Clone().ready()} {
			if err == nil {
				t.Errorf("call %d: no error", i)
			}
		}
		c.ZeroGrad()
		if c.NumParams()+len(c.Params()) != 0 {
			t.Error("numbers")
		}
	}
}

// A call on a batch of a size seen before allocates a fixed, small number of objects.
func TestAllocations(t *testing.T) {
	m := mustModel(t, NewTransformer, Config{Vocab: 9, Dim: 8, Layers: 1})
	batch := randomBatch(9, 40, 16, 5)
	weight := ones(batch)
	got := testing.AllocsPerRun(10, func() {
		if err := m.AddGrad(context.Background(), batch, weight); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Step(context.Background(), 0.01); err != nil {
			t.Fatal(err)
		}
	})
	if got > 12 {
		t.Errorf("%v allocations for 40 sequences, want at most 12", got)
	}
}

// A panic of a callback reaches the caller, whichever goroutine it happened in, and after all of them have ended.
func TestCallbackPanics(t *testing.T) {
	for _, workers := range []int{1, 4} {
		m, err := NewGRU(Config{Vocab: 9, Dim: 4, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		batch := make([]rl.Sequence, 40) // several chunks
		for i := range batch {
			batch[i] = rl.Sequence{Tokens: make([]int, 100), Start: 99}
			for j := range batch[i].Tokens {
				batch[i].Tokens[j] = 1 + j%8
			}
		}
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "out of luck") {
					t.Errorf("%d workers: recovered %v, want the panic of the callback", workers, v)
				}
			}()
			_ = m.Forward(t.Context(), batch, func(i int, _ [][]float64) error {
				if i == 17 {
					panic("out of luck")
				}
				return nil
			})
		}()
		if err := m.Forward(t.Context(), batch, func(int, [][]float64) error { return nil }); err != nil {
			t.Errorf("%d workers: afterwards: %v", workers, err)
		}
	}
}
