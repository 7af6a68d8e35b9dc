package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rltest"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A lesson is all that one update learns from.
type lesson struct {
	tr      *Trainer
	model   *backbone.Model
	b       *batch
	c       *rl.Credit
	tokens  *loss.Batch
	shared  []loss.SAPOTurn
	targets *loss.ValueBatch
	at      []int
}

// collected plays one iteration for an algorithm, with weights at which every term of the loss counts, and moves the model afterwards, so that it
// is no longer the old policy.
func collected(t testing.TB, name string, candidates bool, change func(*Options)) *lesson {
	t.Helper()
	p, o := tiny(t, name)
	o.Agent.Candidates = candidates
	o.KLWeight, o.EntropyWeight, o.ValueWeight, o.QWeight = new(.3), new(.2), new(.7), new(.4)
	o.Reference = tinyModel(t, p.Tokenizer.Vocab(), 6, 5).Freeze()
	if change != nil {
		change(o)
	}
	l := &lesson{tr: newTrainer(t, p, o), model: p.Model.(*backbone.Model)}
	ctx := t.Context()
	episodes, err := l.tr.collect(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.b = newBatch(episodes)
	if err := l.tr.readOld(ctx, l.b, &Seconds{}); err != nil {
		t.Fatal(err)
	}
	// Spread advantages and targets, which are all 0 where no episode passed.
	rng := rand.New(rand.NewPCG(3, 1))
	if l.c, err = p.Algorithm.Credit(nil, l.b.trajectories); err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]float64{l.c.Advantage, l.c.TokenAdvantage, l.c.ValueTarget, l.c.QTarget, l.c.TokenTarget} {
		for i := range list {
			list[i] += rng.NormFloat64()
		}
	}
	if l.tokens, err = loss.NewBatch(nil, l.b.trajectories, l.c, l.tr.weights()); err != nil {
		t.Fatal(err)
	}
	if p.Algorithm.Values == SharedValues {
		if l.shared, err = loss.SAPOTurns(nil, l.b.trajectories, l.c); err != nil {
			t.Fatal(err)
		}
	}
	if l.targets, err = l.tr.criticTargets(l.b, l.c, l.tokens.Weight); err != nil {
		t.Fatal(err)
	}
	l.at = l.tr.counted(l.b, l.c, l.tokens, l.shared, l.targets)
	params := l.model.Params()
	if c, ok := p.Critic.(*backbone.Critic); ok {
		params = slices.Concat(params, c.Params())
	}
	for _, q := range params {
		for i := range q.W {
			q.W[i] += .3 * rng.NormFloat64()
		}
	}
	return l
}

// policy computes the loss of the policy for all rows that count, with its gradient in the model, and returns it with all coefficients.
func (l *lesson) policy(ctx context.Context) (float64, error) {
	s := &l.tr.s
	if l.shared != nil {
		p, err := l.tr.sharedLoss(ctx, l.b, l.at, l.shared)
		return p.policy + s.valueWeight*p.value + s.qWeight*p.q + s.klWeight*p.kl - s.entropyWeight*p.entropy, err
	}
	var positions []int
	for _, i := range l.at {
		for j := l.b.offset[i]; j < l.b.offset[i+1]; j++ {
			positions = append(positions, j)
		}
	}
	mb, err := l.tokens.Take(nil, positions)
	if err != nil {
		return 0, err
	}
	p, err := l.tr.policyLoss(ctx, l.b, l.at, mb)
	return p.policy + total(mb.Weight)*(s.klWeight*p.kl-s.entropyWeight*p.entropy), err
}

// total undoes the means that policyLoss reports.
func total(weights []float64) (s float64) {
	for _, w := range weights {
		s += w
	}
	return s
}

// checkGradient compares the gradient that f leaves in params with differences of its value, at every step-th of all parameters.
func checkGradient(t *testing.T, params []*backbone.Param, step int, zero func(), f func(context.Context) (float64, error)) {
	t.Helper()
	type place struct{ w, g *float64 }
	var places []place
	n := 0
	for _, p := range params {
		for i := range p.W {
			if n++; n%step == 0 {
				places = append(places, place{&p.W[i], &p.G[i]})
			}
		}
	}
	x := make([]float64, len(places))
	for i, p := range places {
		x[i] = *p.w
	}
	moved := 0
	worst, at, err := rltest.Gradient(func(grad, x []float64) (float64, error) {
		for i, p := range places {
			*p.w = x[i]
		}
		zero()
		v, err := f(t.Context())
		for i, p := range places {
			if grad[i] = *p.g; grad[i] != 0 {
				moved++
			}
		}
		return v, err
	}, x)
	if err != nil || !(worst < 1e-6) {
		t.Errorf("gradient: off by %v at %d of %d, %v", worst, at, len(x), err)
	}
	if moved == 0 {
		t.Error("the gradient is 0")
	}
}

// The gradients of the losses are the differences of their values, through all parameters, with and without restricted choices.
func TestLossGradients(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reason string
	}{
		{"sapo", "the joint loss"}, {"ppo-shared", "without Q"}, {"ppo", "policy and values of turns"}, {"ppo-published", "policy and values of tokens"},
		{"drgrpo", "another aggregation"}, {"gagpo", "one ratio a turn"},
	} {
		for _, candidates := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, candidates), func(t *testing.T) {
				if tt.reason == "" {
					t.Fatal("case without a reason")
				}
				l := collected(t, tt.name, candidates, func(o *Options) { o.Tasks, o.Rollouts = 2, 2 })
				checkGradient(t, l.model.Params(), 13, l.model.ZeroGrad, l.policy)
				if l.targets == nil {
					return
				}
				c := l.tr.critic.(*backbone.Critic)
				checkGradient(t, c.Params(), 13, c.ZeroGrad, func(ctx context.Context) (float64, error) {
					p, err := l.tr.criticLoss(ctx, l.b, l.at, l.targets)
					return p.value, err
				})
			})
		}
	}
}

// Where a turn has no restricted choice, the joint loss is that of package loss on the same logits.
func TestSharedLossIsSAPO(t *testing.T) {
	for _, name := range []string{"sapo", "ppo-shared"} {
		t.Run(name, func(t *testing.T) {
			l := collected(t, name, false, nil)
			ctx := t.Context()
			l.model.ZeroGrad()
			got, err := l.policy(ctx)
			if err != nil {
				t.Fatal(err)
			}
			gotGrad := gradients(l.model)

			rows := take(l.b.rows, l.at)
			turns := make([]loss.SAPOTurn, len(rows))
			if err := l.model.Forward(ctx, rows, func(k int, out [][]float64) error {
				turn := l.shared[l.at[k]]
				for j := range len(out) - 1 {
					turn.Logits = append(turn.Logits, slices.Clone(out[j]))
				}
				turn.After = slices.Clone(out[len(out)-1])
				turns[k] = turn
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			grad := loss.NewSAPOGrad(turns)
			want, _, err := loss.SAPO(grad, turns, l.tr.s.sapo(l.tr.kl.Beta, l.tr.algorithm.NoQ))
			if err != nil {
				t.Fatal(err)
			}
			l.model.ZeroGrad()
			if err := l.model.ForwardBackward(ctx, rows, func(k int, dz, _ [][]float64) error {
				for j := range grad[k].Logits {
					copy(dz[j], grad[k].Logits[j])
				}
				copy(dz[len(dz)-1], grad[k].After)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if d := farthest(t, gotGrad, gradients(l.model)); math.Abs(got-want) > 1e-12 || d > 1e-12 {
				t.Errorf("loss %v, want %v; gradients differ by %v", got, want, d)
			}
		})
	}
}

// With all tokens allowed a restricted turn is an unrestricted one.
func TestSharedLossAllAllowed(t *testing.T) {
	l := collected(t, "sapo", false, nil)
	ctx := t.Context()
	l.model.ZeroGrad()
	want, err := l.policy(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wantGrad := gradients(l.model)
	var all []int
	for id := range l.model.Vocab() {
		if id != testHead.Plus && id != testHead.Minus {
			all = append(all, id)
		}
	}
	for i := range l.b.rows {
		r := &l.b.rows[i]
		for j := range len(r.Tokens) - r.Start {
			if j%2 == 0 {
				r.Allowed = append(r.Allowed, all)
			} else {
				r.Allowed = append(r.Allowed, nil)
			}
		}
	}
	l.model.ZeroGrad()
	got, err := l.policy(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d := farthest(t, wantGrad, gradients(l.model)); math.Abs(got-want) > 1e-12 || d > 1e-12 {
		t.Errorf("loss %v, want %v; gradients differ by %v", got, want, d)
	}
}

// A turn without a response teaches V alone, whatever else is said about it.
func TestSharedLossWithoutResponse(t *testing.T) {
	l := collected(t, "sapo", true, nil)
	l.at = l.at[:2]
	i := l.at[0]
	r := &l.b.rows[i]
	r.Tokens, r.Allowed = r.Tokens[:r.Start], nil
	l.b.turns[i].Tokens = l.b.turns[i].Tokens[:r.Start]
	l.shared[i].Actions, l.shared[i].OldLogProb, l.shared[i].RefLogProb, l.shared[i].Trainable = nil, nil, nil, nil
	p, err := l.tr.sharedLoss(t.Context(), l.b, l.at, l.shared)
	if err != nil {
		t.Fatal(err)
	}
	if p.v.Values != 2 || p.qv.Values != 1 || p.stats.Tokens != len(l.b.rows[l.at[1]].Tokens)-l.b.rows[l.at[1]].Start {
		t.Errorf("%d values V, %d Q, %d tokens", p.v.Values, p.qv.Values, p.stats.Tokens)
	}
	checkGradient(t, l.model.Params(), 29, l.model.ZeroGrad, l.policy)
}

// A model that shows log-probabilities alone learns the same as one that gives logits, by two passes instead of one.
func TestPlainModel(t *testing.T) {
	for _, name := range []string{"grpo", "gagpo", "ppo", "reinforce++"} {
		for _, candidates := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", name, candidates), func(t *testing.T) {
				var parameter [2][]float64
				var lines [2]Iteration
				for k := range 2 {
					p, o := tiny(t, name)
					m := p.Model.(*backbone.Model)
					o.EntropyWeight, o.Reference, o.EvalEvery, o.Agent.Candidates = new(0.0), m.Freeze(), -1, candidates
					if k == 1 {
						p.Model = plain{m, m}
					}
					lines[k] = run(t, newTrainer(t, p, o), 1)[0]
					lines[k].Entropy = 0 // known from logits alone
					parameter[k] = parameters(m)
				}
				if d := farthest(t, parameter[0], parameter[1]); d > 1e-9 {
					t.Errorf("parameters differ by %v", d)
				}
				if diff := cmp.Diff(lines[0], lines[1], cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
					t.Errorf("metrics (-logits +plain):\n%s", diff)
				}
			})
		}
	}
}

// A plain model imitates as one with logits does.
func TestPlainWarmStart(t *testing.T) {
	var parameter [2][]float64
	var nats [2]float64
	for k := range 2 {
		p, o := tiny(t, "grpo")
		m := p.Model.(*backbone.Model)
		o.EntropyWeight, o.Reference = new(0.0), m.Freeze()
		if k == 1 {
			p.Model = plain{m, m}
		}
		tr := newTrainer(t, p, o)
		es, err := tr.Demonstrate(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if nats[k], err = tr.WarmStart(t.Context(), es, &WarmStartOptions{Epochs: 2, MiniBatch: 4}); err != nil {
			t.Fatal(err)
		}
		parameter[k] = parameters(m)
	}
	if d := farthest(t, parameter[0], parameter[1]); d > 1e-9 || math.Abs(nats[0]-nats[1]) > 1e-9 {
		t.Errorf("parameters differ by %v, nats are %v", d, nats)
	}
}

// Gradients of micro-batches with the weights of the whole step add up to those of the whole: the losses are sums over rows. Mini-batches, which are
// steps of their own, have weights with the same sum.
func TestSplittingAStep(t *testing.T) {
	for _, name := range []string{"grpo", "drgrpo", "gagpo"} {
		t.Run(name, func(t *testing.T) {
			l := collected(t, name, true, nil)
			ctx := t.Context()
			l.model.ZeroGrad()
			want, err := l.policy(ctx)
			if err != nil {
				t.Fatal(err)
			}
			wantGrad := gradients(l.model)
			l.model.ZeroGrad()
			var got float64
			for lo := 0; lo < len(l.at); lo += 5 {
				at := l.at[lo:min(lo+5, len(l.at))]
				var micro loss.Batch
				var positions []int
				for _, i := range at {
					a, b := l.b.offset[i], l.b.offset[i+1]
					micro.LogProb = append(micro.LogProb, l.tokens.LogProb[a:b]...)
					micro.OldLogProb = append(micro.OldLogProb, l.tokens.OldLogProb[a:b]...)
					micro.RefLogProb = append(micro.RefLogProb, l.tokens.RefLogProb[a:b]...)
					micro.Advantage = append(micro.Advantage, l.tokens.Advantage[a:b]...)
					micro.Weight = append(micro.Weight, l.tokens.Weight[a:b]...)
					for j := a; j < b; j++ {
						positions = append(positions, j)
					}
				}
				p, err := l.tr.policyLoss(ctx, l.b, at, &micro)
				if err != nil {
					t.Fatal(err)
				}
				got += p.policy + total(micro.Weight)*(l.tr.s.klWeight*p.kl-l.tr.s.entropyWeight*p.entropy)
				mini, err := l.tokens.Take(nil, positions)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := total(mini.Weight), total(l.tokens.Weight); math.Abs(a-b) > 1e-12 {
					t.Errorf("weights of a mini-batch add up to %v, those of all to %v", a, b)
				}
			}
			if d := farthest(t, wantGrad, gradients(l.model)); math.Abs(got-want) > 1e-12 || d > 1e-12 {
				t.Errorf("loss %v, want %v; gradients differ by %v", got, want, d)
			}
		})
	}
}

// One mini-batch of all turns, or of more than there are, is no mini-batch at all.
func TestMiniBatchOfAll(t *testing.T) {
	var states [3][]byte
	for k, size := range []int{0, 40, 1000} { // 4*2 episodes of at most 5 turns
		p, o := tiny(t, "ppo")
		o.MiniBatch, o.EvalEvery = size, -1
		tr := newTrainer(t, p, o)
		if it := run(t, tr, 1)[0]; it.Steps != 2 {
			t.Errorf("mini-batch %d: %d steps in two epochs", size, it.Steps)
		}
		for _, m := range []any{tr.model, tr.critic} {
			state, err := saved(m)
			if err != nil {
				t.Fatal(err)
			}
			states[k] = append(states[k], state...)
		}
	}
	same(t, "mini-batch of 40", states[0], states[1])
	same(t, "mini-batch of 1000", states[0], states[2])
}

// The weights of a mini-batch are those of a batch of its own: where tokens are added up, neither their number nor that of other turns counts.
// A loss of the caller's own is told them.
func TestMiniBatchWeights(t *testing.T) {
	const length = 4 // MaxResponse
	for _, tt := range []struct {
		aggregation loss.Aggregation
		want        func(turns int) float64
		reason      string
	}{
		{loss.SeqMeanTokenSum, func(turns int) float64 { return 1 / float64(turns) }, "1/S"},
		{loss.SeqMeanTokenSumNorm, func(turns int) float64 { return 1 / float64(turns) / length }, "1/(S*K), arXiv:2503.20783"},
		{loss.SeqSumNorm, func(int) float64 { return 1. / length }, "1/K"},
	} {
		for _, size := range []int{1, 4, 0} {
			t.Run(fmt.Sprintf("%v/%d", tt.aggregation, size), func(t *testing.T) {
				p, o := tiny(t, "grpo")
				var mu sync.Mutex
				var weights []float64
				turns, longest := 0, 0
				p.Algorithm.Aggregation = tt.aggregation
				p.Algorithm.Loss = func(grad []float64, b loss.Batch) (float64, loss.Stats, error) {
					mu.Lock()
					defer mu.Unlock()
					weights = append(weights, b.Weight...)
					longest = max(longest, len(b.Weight))
					if len(b.Weight) > 0 {
						turns++
					}
					return loss.PPO(grad, b, nil)
				}
				o.Agent.Candidates, o.Epochs, o.MiniBatch, o.EvalEvery = false, 1, size, -1
				it := run(t, newTrainer(t, p, o), 1)[0]
				if size == 0 {
					size = turns
				}
				if longest < 2 || turns != it.Turns || it.Steps != (turns+size-1)/size || tt.reason == "" {
					t.Fatalf("%d turns of at most %d tokens, %d steps", turns, longest, it.Steps)
				}
				full, last := tt.want(size), tt.want(max(1, turns%size))
				rest := 0
				for _, w := range weights {
					switch {
					case math.Abs(w-full) <= 1e-12:
					case math.Abs(w-last) <= 1e-12:
						rest++
					default:
						t.Fatalf("weight %v, want %v, or %v in the last mini-batch of %d turns", w, full, last, turns%size)
					}
				}
				if full != last && turns%size > 0 && (rest < turns%size || rest > length*(turns%size)) {
					t.Errorf("%d tokens in the last mini-batch of %d turns", rest, turns%size)
				}
			})
		}
	}
}

// A loss of the caller's own takes the place of PPO's, with logits and without.
func TestOwnLoss(t *testing.T) {
	after := func(own func([]float64, loss.Batch) (float64, loss.Stats, error), logits bool) []float64 {
		p, o := tiny(t, "grpo")
		m := p.Model.(*backbone.Model)
		o.EntropyWeight, o.Reference, o.EvalEvery, o.Rate, p.Algorithm.Loss = new(0.0), m.Freeze(), -1, .05, own
		credit := p.Algorithm.Credit
		p.Algorithm.Credit = func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
			c, err := credit(dst, batch)
			if err == nil {
				for i := range c.Advantage { // whether an episode passed or not
					c.Advantage[i] = float64(i%3 - 1)
				}
			}
			return c, err
		}
		if !logits {
			p.Model = plain{m, m}
		}
		run(t, newTrainer(t, p, o), 1)
		return parameters(m)
	}
	want := after(nil, true)
	got := after(func(grad []float64, b loss.Batch) (float64, loss.Stats, error) { return loss.PPO(grad, b, nil) }, true)
	if d := farthest(t, want, got); d != 0 {
		t.Errorf("PPO given as a loss: parameters differ by %v", d)
	}
	got = after(cispo(nil), true)
	if d := farthest(t, want, got); d == 0 {
		t.Error("CISPO is PPO")
	}
	more := after(cispo(nil), false)
	if d := farthest(t, got, more); d > 1e-9 {
		t.Errorf("CISPO without logits: parameters differ by %v", d)
	}

	p, o := tiny(t, "grpo")
	bad := errors.New("no loss today")
	p.Algorithm.Loss = func(_ []float64, b loss.Batch) (float64, loss.Stats, error) {
		if len(b.LogProb) == 0 {
			return 0, loss.Stats{}, nil
		}
		return 0, loss.Stats{}, bad
	}
	tr := newTrainer(t, p, o)
	if err := failsWith(t, tr.Run(t.Context())); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
}

// With SkipFlat the divergence does not move the policy where scores do not differ.
func TestSkipFlat(t *testing.T) {
	for _, skip := range []bool{false, true} {
		p, o := tiny(t, "grpo")
		m := p.Model.(*backbone.Model)
		o.Reference = tinyModel(t, p.Tokenizer.Vocab(), 6, 5).Freeze() // another policy
		o.Rollout.MaxTurns, o.SkipFlat, o.EvalEvery = 1, skip, -1      // no episode passes
		before := parameters(m)
		it := run(t, newTrainer(t, p, o), 1)[0]
		if moved := farthest(t, before, parameters(m)) > 0; moved == skip || (it.Steps == 0) != skip {
			t.Errorf("skip is %v: %d steps, the model has moved: %v", skip, it.Steps, moved)
		}
	}
	// Among others they take no room in mini-batches, and have no gradient.
	l := collected(t, "grpo", true, func(o *Options) { o.SkipFlat, o.Tasks, o.Rollouts = true, 5, 2 })
	c, err := l.tr.algorithm.Credit(nil, l.b.trajectories) // without noise
	if err != nil {
		t.Fatal(err)
	}
	c.Flat[0], c.Flat[1] = true, true
	for i := range c.Start[2] {
		c.Advantage[i] = 0
	}
	if l.tokens, err = loss.NewBatch(nil, l.b.trajectories, c, l.tr.weights()); err != nil {
		t.Fatal(err)
	}
	flat := 0
	for i := range l.b.trajectories {
		in := slices.ContainsFunc(l.tr.counted(l.b, c, l.tokens, nil, nil), func(row int) bool { return row >= c.Start[i] && row < c.Start[i+1] })
		if in == c.Flat[i] {
			t.Errorf("trajectory %d is flat: %v, and learnt from: %v", i, c.Flat[i], in)
		}
		if c.Flat[i] {
			flat++
		}
	}
	if flat < 2 || flat == 10 {
		t.Fatalf("%d of 10 trajectories are flat", flat)
	}
}

// A model without reserved entries plays and learns by all of its logits.
func TestNoReservedEntries(t *testing.T) {
	for _, candidates := range []bool{true, false} {
		p, o := tiny(t, "grpo")
		m := modelWith(t, p.Tokenizer.Vocab(), loss.Head{})
		p.Model, o.Agent.Candidates, o.Epochs, o.MiniBatch = m, candidates, 1, 0
		if it := run(t, newTrainer(t, p, o), 2)[1]; it.Steps != 1 || math.Abs(it.ApproxKL) > 1e-12 || !(it.Entropy > 0) {
			t.Errorf("candidates %v: %d steps, KL %v, entropy %v", candidates, it.Steps, it.ApproxKL, it.Entropy)
		}
	}
	// The first two entries are tokens as any others.
	grad := make([]float64, 4)
	z := []float64{.1, .2, .3, .4}
	v := look(loss.Head{}, &rl.Sequence{Tokens: []int{1, 1}, Start: 1, Allowed: [][]int{{1, 0}}}, 0, z, grad)
	got, err := v.head.LogProb(v.dz, v.z, v.action, 1)
	if err != nil {
		t.Fatal(err)
	}
	v.scatter(grad)
	q := 1 / (1 + math.Exp(.2-.1)) // of token 0
	if diff := cmp.Diff([]float64{math.Log(1 - q), -q, q, 0, 0}, append([]float64{got}, grad...), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("log-probability and gradient (-want +got):\n%s", diff)
	}
}

// A view gives the softmax over what could be drawn, and its gradient at these entries alone; without a restriction it is the head itself.
func TestViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const vocab = 8
		z := rapid.SliceOfN(rapid.Float64Range(-5, 5), vocab, vocab).Draw(t, "z")
		allowed := rapid.Permutation([]int{0, 1, 4, 5, 6, 7}).Draw(t, "order")[:rapid.IntRange(1, 6).Draw(t, "n")]
		action := rapid.SampledFrom(allowed).Draw(t, "action")
		head := loss.Head{Plus: 2, Minus: 3, Temperature: rapid.Float64Range(.5, 2).Draw(t, "temperature"), Tau: 3}
		s := &rl.Sequence{Tokens: []int{1, action}, Start: 1, Allowed: [][]int{allowed}}
		var norm float64
		for _, id := range allowed {
			norm += math.Exp(z[id] / head.Temperature)
		}
		want := z[action]/head.Temperature - math.Log(norm)
		wantGrad := make([]float64, vocab)
		for _, id := range allowed {
			wantGrad[id] = -math.Exp(z[id]/head.Temperature) / norm / head.Temperature
		}
		wantGrad[action] += 1 / head.Temperature
		approx := cmpopts.EquateApprox(1e-9, 1e-12)

		grad := make([]float64, vocab)
		v := look(head, s, 0, z, grad)
		got, err := v.head.LogProb(v.dz, v.z, v.action, 1)
		if err != nil {
			t.Fatal(err)
		}
		v.scatter(grad)
		if diff := cmp.Diff(want, got, approx) + cmp.Diff(wantGrad, grad, approx); diff != "" {
			t.Fatalf("restricted (-want +got):\n%s", diff)
		}
		p, _, err := head.Value(nil, z, 0)
		if q, _, err2 := v.head.Value(nil, v.z, 0); err != nil || err2 != nil || p != q {
			t.Fatalf("value %v, %v, want %v, %v", q, err2, p, err)
		}

		s.Allowed = nil
		wantGrad, grad = make([]float64, vocab), make([]float64, vocab)
		want, err = head.LogProb(wantGrad, z, action, 1)
		if err != nil {
			t.Fatal(err)
		}
		v = look(head, s, 0, z, grad)
		v.all(grad)
		if got, err = v.head.LogProb(v.dz, v.z, v.action, 1); err != nil {
			t.Fatal(err)
		}
		v.scatter(grad)
		if diff := cmp.Diff(want, got, approx) + cmp.Diff(wantGrad, grad, approx); diff != "" {
			t.Fatalf("all (-want +got):\n%s", diff)
		}
	})
}

// The batch knows where the trainable tokens of a turn are, also where others stand between them.
func TestBatchLayout(t *testing.T) {
	token := func(id int, trainable bool) rl.Token { return rl.Token{ID: id, Trainable: trainable} }
	b := newBatch([]rollout.Episode{
		{Trajectory: rl.Trajectory{Turns: []rl.Turn{
			{Tokens: []rl.Token{token(9, false), token(10, true), token(11, false), token(12, true), token(13, false)}},
			{Tokens: []rl.Token{token(9, false)}},
		}}},
		{Trajectory: rl.Trajectory{Turns: []rl.Turn{
			{}, {Tokens: []rl.Token{token(9, false), token(10, true)}},
		}}, Final: []int{1, 2}},
	})
	if diff := cmp.Diff([]int{0, 2, 2, 2, 3}, b.offset) + cmp.Diff([]int{0, 2, 0}, b.place) + cmp.Diff([]int{0, 1, 3}, b.readable()); diff != "" {
		t.Errorf("layout (-want +got):\n%s", diff)
	}
	if got := b.token(0, 1).ID; got != 12 || len(b.rows[0].Tokens) != 4 || b.final[1][1] != 2 {
		t.Errorf("token %d, row %+v, final %v", got, b.rows[0], b.final)
	}
}

// The loss of a critic apart is the mean over what counts in the mini-batch: turns, or tokens.
func TestCriticLossIsAMean(t *testing.T) {
	for _, name := range []string{"ppo", "ppo-published"} {
		t.Run(name, func(t *testing.T) {
			l := collected(t, name, true, nil)
			at := l.at[:3]
			got, err := l.tr.criticLoss(t.Context(), l.b, at, l.targets)
			if err != nil {
				t.Fatal(err)
			}
			var want float64
			n := 0
			rows := take(l.b.rows, at)
			if err := l.tr.critic.Forward(t.Context(), rows, func(k int, out [][]float64) error {
				add := func(value float64, i int) {
					old, target := l.targets.Old[i], l.targets.Target[i]
					clipped := old + min(max(value-old, -.5), .5)
					want += max(math.Pow(value-target, 2), math.Pow(clipped-target, 2)) / 2
					n++
				}
				if name == "ppo" {
					add(out[0][0], at[k])
					return nil
				}
				for j, p := range l.b.places(at[k]) {
					add(out[p][0], l.b.offset[at[k]]+j)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if want /= float64(n); math.Abs(got.value-want) > 1e-12 || got.v.Values != n || n < len(at) {
				t.Errorf("loss %v over %d, want %v over %d", got.value, got.v.Values, want, n)
			}
		})
	}
}
