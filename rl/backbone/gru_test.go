package backbone

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// testGRU returns a small trunk whose biases are not zero, as after training.
func testGRU(t testing.TB, vocab, dim int) *gru {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	g := newGRU(Config{Vocab: vocab, Dim: dim}, rng).(*gru)
	for _, p := range []*Param{g.bias, g.inner} {
		for i := range p.W {
			p.W[i] = .3 * rng.NormFloat64()
		}
	}
	return g
}

// testTokens returns sequences of the given lengths, laid end to end, with repeated tokens.
func testTokens(vocab int, lens ...int) []int {
	rng := rand.New(rand.NewPCG(7, 8))
	var tokens []int
	for _, n := range lens {
		for range n {
			tokens = append(tokens, rng.IntN(vocab))
		}
	}
	return tokens
}

// slowGRU is the trunk as its comment has it, element by element.
func slowGRU(g *gru, tokens []int) [][]float64 {
	d := g.dim
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	h := make([]float64, d)
	var out [][]float64
	for _, id := range tokens {
		gate := func(k, j int) (fromInput, fromHidden float64) {
			fromInput = g.bias.W[k*d+j]
			for i := range d {
				fromInput += g.embedding.W[id*d+i] * g.input.W[i*3*d+k*d+j]
				fromHidden += h[i] * g.hidden.W[i*3*d+k*d+j]
			}
			return fromInput, fromHidden
		}
		next := make([]float64, d)
		for j := range d {
			xr, hr := gate(0, j)
			xz, hz := gate(1, j)
			xn, hn := gate(2, j)
			r, z := sigmoid(xr+hr), sigmoid(xz+hz)
			n := math.Tanh(xn + r*(hn+g.inner.W[j]))
			next[j] = (1-z)*n + z*h[j]
		}
		h = next
		out = append(out, h)
	}
	return out
}

// The sequences of the tests, and the first positions asked for: from the start on, none but the last, and some.
var testLens, testFrom = []int{5, 1, 9, 2}, []int{2, 0, 8, 0}

// asked is the number of positions asked for.
const asked = 3 + 1 + 1 + 2

// The pass and the session do what the plain formula does, whatever was computed before, and whatever else is in the batch.
func TestGRUAgainstFormula(t *testing.T) {
	const vocab, d = 7, 6
	g := testGRU(t, vocab, d)
	p := g.newPass()
	p.forward(testTokens(vocab, 30, 20), []int{30, 20}, []int{0, 0}) // larger than what follows: stale scratch must not show
	p.backward(make([]float64, 50*d), gradients(g))

	tokens := testTokens(vocab, testLens...)
	got := p.forward(tokens, testLens, testFrom)
	if len(got) != asked*d {
		t.Fatalf("%d numbers, want %d", len(got), asked*d)
	}
	approx := cmpopts.EquateApprox(1e-12, 1e-12)
	at := 0
	for i, n := range testLens {
		s := g.newState()
		hidden := make([]float64, d)
		want := slowGRU(g, tokens[at:at+n])
		for j := range n {
			if j >= testFrom[i] {
				if diff := cmp.Diff(want[j], got[:d], approx); diff != "" {
					t.Errorf("sequence %d, position %d (-want +got):\n%s", i, j, diff)
				}
				got = got[d:]
			}
			s.append(tokens[at+j:at+j+1], hidden)
			if diff := cmp.Diff(want[j], hidden, approx); diff != "" {
				t.Errorf("session of sequence %d, position %d (-want +got):\n%s", i, j, diff)
			}
		}
		s.reset()
		s.append(tokens[at:at+n], hidden)
		if diff := cmp.Diff(want[n-1], hidden, approx); diff != "" {
			t.Errorf("session of sequence %d at once (-want +got):\n%s", i, diff)
		}
		at += n
	}
}

// A copy of a session goes its own way.
func TestGRUStateClone(t *testing.T) {
	g := testGRU(t, 7, 6)
	a, hidden := g.newState(), make([]float64, 6)
	a.append([]int{1, 2, 3}, hidden)
	b := a.clone()
	a.append([]int{4}, hidden)
	b.append([]int{5}, hidden)
	if diff := cmp.Diff(slowGRU(g, []int{1, 2, 3, 5})[3], hidden, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	a.append([]int{6}, hidden)
	if diff := cmp.Diff(slowGRU(g, []int{1, 2, 3, 4, 6})[4], hidden, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("original (-want +got):\n%s", diff)
	}
}

// gradients returns zeros for the gradient of each parameter.
func gradients(tr trunk) [][]float64 { return zerosLike(tr.params()) }

// The gradient through time agrees with central differences, and is added to what was collected before.
func TestGRUGradient(t *testing.T) {
	const vocab, d = 7, 6
	g := testGRU(t, vocab, d)
	tokens := testTokens(vocab, testLens...)
	rng := rand.New(rand.NewPCG(9, 10))
	weight := make([]float64, asked*d)
	for i := range weight {
		weight[i] = rng.NormFloat64()
	}
	p := g.newPass()
	value := func() float64 {
		var sum float64
		for i, x := range p.forward(tokens, testLens, testFrom) {
			sum += weight[i] * x
		}
		return sum
	}
	p.forward(testTokens(vocab, 30), []int{30}, []int{0})
	stale := make([]float64, 30*d)
	for i := range stale {
		stale[i] = 1
	}
	p.backward(stale, gradients(g)) // with stale scratch from here on
	value()
	grad := gradients(g)
	for _, x := range grad {
		for i := range x {
			x[i] = 100
		}
	}
	p.backward(append([]float64(nil), weight...), grad)
	for k, param := range g.params() {
		for range 20 {
			i := rng.IntN(len(param.W))
			const h = 1e-5
			w := param.W[i]
			param.W[i] = w + h
			up := value()
			param.W[i] = w - h
			down := value()
			param.W[i] = w
			want, got := (up-down)/(2*h), grad[k][i]-100
			if !(math.Abs(got-want) <= 1e-6+1e-4*math.Abs(want)) {
				t.Errorf("%s[%d]: gradient %v, want %v", param.Name, i, got, want)
			}
		}
	}
}

// Numbers far from 0 saturate the gates; they make no NaN.
func TestGRUSaturates(t *testing.T) {
	for _, scale := range []float64{1e3, 1e100, -1e100} {
		g := testGRU(t, 7, 6)
		for _, p := range g.params() {
			for i := range p.W {
				p.W[i] *= scale
			}
		}
		tokens := testTokens(7, testLens...)
		p := g.newPass()
		for i, x := range p.forward(tokens, testLens, testFrom) {
			if !(math.Abs(x) <= 1) {
				t.Fatalf("scale %v: vector element %d is %v, want a number in [-1, 1]", scale, i, x)
			}
		}
		dHidden := make([]float64, asked*6)
		for i := range dHidden {
			dHidden[i] = 1
		}
		grad := gradients(g)
		p.backward(dHidden, grad)
		for k := range grad {
			for i, x := range grad[k] {
				if math.IsNaN(x) {
					t.Fatalf("scale %v: gradient of %s[%d] is NaN", scale, g.params()[k].Name, i)
				}
			}
		}
	}
}

func TestGRUAllocations(t *testing.T) {
	g := testGRU(t, 40, 64)
	tokens := testTokens(40, 20, 12)
	p, grad, dHidden := g.newPass(), gradients(g), make([]float64, 30*64)
	lens, from := []int{20, 12}, []int{0, 10}
	step := func() {
		p.forward(tokens, lens, from)
		p.backward(dHidden, grad)
	}
	step()
	if n := testing.AllocsPerRun(10, step); n != 0 {
		t.Errorf("%v allocations in a pass, want 0", n)
	}
	s, hidden, ids := g.newState(), make([]float64, 64), []int{3}
	if n := testing.AllocsPerRun(10, func() { s.append(ids, hidden) }); n != 0 {
		t.Errorf("%v allocations in a step of a session, want 0", n)
	}
}

func BenchmarkGRU(b *testing.B) {
	for _, d := range []int{32, 64, 128} {
		for _, length := range []int{8, 32, 128} {
			b.Run(fmt.Sprintf("dim=%d/len=%d", d, length), func(b *testing.B) {
				g := testGRU(b, 64, d)
				lens := make([]int, 256/length)
				for i := range lens {
					lens[i] = length
				}
				tokens := testTokens(64, lens...)
				p, grad, dHidden := g.newPass(), gradients(g), make([]float64, len(tokens)*d)
				for i := range dHidden {
					dHidden[i] = 1
				}
				from := make([]int, len(lens))
				p.forward(tokens, lens, from)
				p.backward(dHidden, grad) // grows the scratch
				b.ReportAllocs()
				for b.Loop() {
					p.forward(tokens, lens, from)
					p.backward(dHidden, grad)
				}
				b.ReportMetric(float64(len(tokens)*b.N)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}

func BenchmarkGRUSession(b *testing.B) {
	for _, d := range []int{32, 64, 128} {
		b.Run(fmt.Sprint("dim=", d), func(b *testing.B) {
			g := testGRU(b, 64, d)
			s, hidden, ids := g.newState(), make([]float64, d), []int{3}
			b.ReportAllocs()
			for b.Loop() {
				s.append(ids, hidden)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// A model on the trunk: the gradient of weighted log-probabilities agrees with central differences, sessions agree with Forward, and the number
// of workers changes no bit.
func TestGRUModel(t *testing.T) {
	ctx := context.Background()
	c := Config{Vocab: 9, Dim: 6, MaxLen: 200, Seed: 4, Head: loss.Head{Plus: 7, Minus: 8, Temperature: 1.3}}
	m, err := NewGRU(c)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	var batch []rl.Sequence
	var weight [][]float64
	for range 12 { // several chunks
		s := rl.Sequence{Tokens: testTokens(7, 90+rng.IntN(20)), Start: 85}
		rng.Shuffle(len(s.Tokens), func(i, j int) { s.Tokens[i], s.Tokens[j] = s.Tokens[j], s.Tokens[i] })
		s.Allowed = make([][]int, len(s.Tokens)-s.Start)
		w := make([]float64, len(s.Allowed))
		for j := range w {
			w[j] = rng.NormFloat64()
			if id := s.Tokens[s.Start+j]; id > 2 && j%2 == 0 {
				s.Allowed[j] = []int{id, 1}
			}
		}
		batch, weight = append(batch, s), append(weight, w)
	}
	value := func() float64 {
		l, err := m.LogProbs(ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for i := range l {
			for j := range l[i] {
				sum += weight[i][j] * l[i][j]
			}
		}
		return sum
	}
	other := m.Clone()
	other.SetWorkers(4)
	want := value()
	for _, n := range []*Model{m, other} {
		if err := n.AddGrad(ctx, batch, weight); err != nil {
			t.Fatal(err)
		}
	}
	for k, p := range m.Params() {
		if !same(p.G, other.Params()[k].G) {
			t.Errorf("%s: four workers give another gradient than one", p.Name)
		}
		for range 20 {
			i := rng.IntN(len(p.W))
			const h = 1e-5
			w := p.W[i]
			p.W[i] = w + h
			up := value()
			p.W[i] = w - h
			down := value()
			p.W[i] = w
			if want := (up - down) / (2 * h); !(math.Abs(p.G[i]-want) <= 1e-6+1e-4*math.Abs(want)) {
				t.Errorf("%s[%d]: gradient %v, want %v", p.Name, i, p.G[i], want)
			}
		}
	}
	m = other
	if got := value(); got != want {
		t.Errorf("four workers give %v, one gives %v", got, want)
	}

	session := m.NewSession()
	err = m.Forward(ctx, batch[:1], func(_ int, out [][]float64) error {
		s := batch[0]
		if err := session.Append(s.Tokens[:s.Start]...); err != nil {
			return err
		}
		for j, z := range out {
			if diff := cmp.Diff(z, session.Logits(), cmpopts.EquateApprox(1e-10, 1e-10)); diff != "" {
				return fmt.Errorf("logits before token %d of the response (-want +got):\n%s", j, diff)
			}
			if j < len(out)-1 {
				if err := session.Append(s.Tokens[s.Start+j]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The vector carries what the task needs over the distance: the answer is the first token, after others that say nothing.
func TestGRULearns(t *testing.T) {
	ctx := context.Background()
	m, err := NewGRU(Config{Vocab: 8, Dim: 16, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(13, 14))
	var batch []rl.Sequence
	var weight [][]float64
	for i := range 24 {
		tokens := testTokens(8, 12)
		for j := range tokens {
			tokens[j] = 4 + rng.IntN(4)
		}
		tokens[0], tokens[11] = i%4, i%4
		batch, weight = append(batch, rl.Sequence{Tokens: tokens, Start: 11}), append(weight, []float64{-1. / 24})
	}
	var mean float64
	for range 150 {
		if err := m.AddGrad(ctx, batch, weight); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Step(ctx, 1e-2); err != nil {
			t.Fatal(err)
		}
	}
	l, err := m.LogProbs(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	for i := range l {
		mean -= l[i][0] / 24
	}
	if !(mean < .05) {
		t.Errorf("loss %v after 150 steps on one batch, want less than 0.05", mean)
	}
}
