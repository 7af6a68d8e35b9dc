package backbone

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// slowTransformer computes hidden vectors from the definition, one number after the other.
func slowTransformer(tr *transformer, tokens []int) [][]float64 {
	d := tr.dim
	byName := map[string]*Param{}
	for _, p := range tr.all {
		byName[p.Name] = p
	}
	times := func(x []float64, name, bias string) []float64 {
		p := byName[name]
		y := make([]float64, p.Cols)
		for j := range y {
			if bias != "" {
				y[j] = byName[bias].W[j]
			}
			for i := range x {
				y[j] += x[i] * p.W[i*p.Cols+j]
			}
		}
		return y
	}
	norm := func(x []float64, name string) []float64 {
		var mean, variance float64
		for _, v := range x {
			mean += v / float64(d)
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(d)
		}
		y := make([]float64, d)
		for i, v := range x {
			y[i] = byName[name+".scale"].W[i]*(v-mean)/math.Sqrt(variance+1e-5) + byName[name+".bias"].W[i]
		}
		return y
	}
	x := make([][]float64, len(tokens))
	for t, id := range tokens {
		x[t] = make([]float64, d)
		for i := range d {
			x[t][i] = byName["embedding"].W[id*d+i] + byName["positions"].W[t*d+i]
		}
	}
	for l := range tr.layers {
		name := func(s string) string { return fmt.Sprintf("block%d.%s", l, s) }
		var keyValues [][]float64
		for _, v := range x {
			keyValues = append(keyValues, times(norm(v, name("norm1")), name("keyvalue"), ""))
		}
		heads := tr.attention.heads
		w := d / heads
		for t := len(x) - 1; t >= 0; t-- {
			q := times(norm(x[t], name("norm1")), name("query"), "")
			read := make([]float64, d)
			for h := range heads {
				score := make([]float64, t+1)
				var sum float64
				for s := range score {
					for i := range w {
						score[s] += q[h*w+i] * keyValues[s][h*w+i] / math.Sqrt(float64(w))
					}
					score[s] = math.Exp(score[s])
					sum += score[s]
				}
				for s := range score {
					for i := range w {
						read[h*w+i] += score[s] / sum * keyValues[s][d+h*w+i]
					}
				}
			}
			for i, v := range times(read, name("out"), "") {
				x[t][i] += v
			}
			up := times(norm(x[t], name("norm2")), name("up"), name("up.bias"))
			for i, v := range up {
				up[i] = v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
			}
			for i, v := range times(up, name("down"), name("down.bias")) {
				x[t][i] += v
			}
		}
	}
	out := make([][]float64, len(x))
	for t := range x {
		out[t] = norm(x[t], "norm")
	}
	return out
}

// smallTransformer returns a transformer whose parameters, biases and scales too, are all drawn.
func smallTransformer(t testing.TB, vocab, dim, heads, layers int) *transformer {
	t.Helper()
	c, err := Config{Vocab: vocab, Dim: dim, Heads: heads, Layers: layers, MaxLen: 12}.filled(transformerKind)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	tr := newTransformer(c, rng).(*transformer)
	for _, p := range tr.all {
		for i := range p.W {
			p.W[i] += 0.3 * rng.NormFloat64()
		}
	}
	return tr
}

var transformerShapes = []struct {
	name                      string
	vocab, dim, heads, layers int
	lens, from                []int
	reason                    string
}{
	{"usual", 11, 8, 2, 2, []int{5, 1, 12, 3}, []int{2, 0, 11, 0}, "several sequences, the shortest and the longest, asked for in part"},
	{"one head, one block", 5, 4, 1, 1, []int{4, 4}, []int{0, 3}, "the first block is the last"},
	{"width 1", 3, 1, 1, 1, []int{3}, []int{1}, "a norm of one number is its bias"},
	{"heads of width 1", 6, 4, 4, 3, []int{7}, []int{5}, "the narrowest heads, three blocks"},
}

// A pass gives the hidden vectors of the definition, and those of the positions asked for alone.
func TestTransformerAgainstDefinition(t *testing.T) {
	for _, test := range transformerShapes {
		t.Run(test.name, func(t *testing.T) {
			if test.reason == "" {
				t.Fatal("no reason")
			}
			tr := smallTransformer(t, test.vocab, test.dim, test.heads, test.layers)
			tokens := testTokens(test.vocab, test.lens...)
			var want [][]float64
			at := 0
			for i, n := range test.lens {
				want = append(want, slowTransformer(tr, tokens[at:at+n])[test.from[i]:]...)
				at += n
			}
			p := tr.newPass()
			p.forward(testTokens(test.vocab, 12, 12), []int{12, 12}, []int{0, 0}) // scratch that is too large, and used
			hidden := p.forward(tokens, test.lens, test.from)
			var got [][]float64
			for ; len(hidden) > 0; hidden = hidden[test.dim:] {
				got = append(got, hidden[:test.dim])
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The gradient of a pass is that of central differences, for entries of every parameter.
func TestTransformerGradient(t *testing.T) {
	for _, test := range transformerShapes {
		t.Run(test.name, func(t *testing.T) {
			tr := smallTransformer(t, test.vocab, test.dim, test.heads, test.layers)
			tokens := testTokens(test.vocab, test.lens...)
			rng := rand.New(rand.NewPCG(3, 4))
			p := tr.newPass()
			weight := make([]float64, len(p.forward(tokens, test.lens, test.from)))
			for i := range weight {
				weight[i] = rng.NormFloat64()
			}
			value := func() (sum float64) {
				for i, h := range p.forward(tokens, test.lens, test.from) {
					sum += weight[i] * h
				}
				return sum
			}
			grad := zerosLike(tr.all)
			value()
			p.backward(append([]float64(nil), weight...), grad)
			checkGradient(t, tr.all, grad, rng, value)
		})
	}
}

// checkGradient compares up to 20 entries of each parameter with central differences of value.
func checkGradient(t *testing.T, params []*Param, grad [][]float64, rng *rand.Rand, value func() float64) {
	t.Helper()
	const h = 1e-5
	for i, p := range params {
		for range min(20, len(p.W)) {
			k := rng.IntN(len(p.W))
			w := p.W[k]
			p.W[k] = w + h
			up := value()
			p.W[k] = w - h
			down := value()
			p.W[k] = w
			want := (up - down) / (2 * h)
			if got := grad[i][k]; math.Abs(got-want) > 1e-6+1e-4*math.Abs(want) {
				t.Errorf("%s[%d]: gradient %v, want %v", p.Name, k, got, want)
			}
		}
	}
}

// A state gives the hidden vectors of a pass, however the tokens are dealt out.
func TestTransformerState(t *testing.T) {
	for _, test := range transformerShapes {
		t.Run(test.name, func(t *testing.T) {
			tr := smallTransformer(t, test.vocab, test.dim, test.heads, test.layers)
			tokens := testTokens(test.vocab, 12)
			want := slowTransformer(tr, tokens)
			s := tr.newState()
			got := make([]float64, test.dim)
			for _, cuts := range [][]int{{12}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {5, 7}, {11, 1}} {
				s.reset()
				at := 0
				for _, n := range cuts {
					s.append(tokens[at:at+n], got)
					at += n
					if diff := cmp.Diff(want[at-1], got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
						t.Errorf("cuts %v, after %d tokens (-want +got)\n%s", cuts, at, diff)
					}
				}
			}
		})
	}
}
