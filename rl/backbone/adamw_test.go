package backbone

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
)

// param returns a parameter with the given rows that all have one column.
func param(name string, w ...float64) *Param {
	return &Param{Name: name, Rows: len(w), Cols: 1, W: w, G: make([]float64, len(w))}
}

func TestAdamWWorked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      AdamW
		rows   int
		w, g   []float64
		want   [][]float64 // after each step with the same gradient, at rate 0.1
		norm   float64
		reason string
	}{
		{
			name: "two steps", rows: 2, w: []float64{1, 1}, g: []float64{.5, .5}, norm: math.Sqrt(.5),
			want:   [][]float64{{.899000002, .899000002}, {.798101004, .798101004}},
			reason: "worked number: 1 - .1(.5/(.5+1e-8) + .01), .899000002 - .1(.99999998 + .01*.899000002); nothing is clipped at .7071",
		},
		{
			name: "one-dimensional", rows: 1, w: []float64{1, 1}, g: []float64{.5, .5}, norm: math.Sqrt(.5),
			want:   [][]float64{{.900000002, .900000002}, {.800000004, .800000004}},
			reason: "the same without decay: 1 - .1*.99999998, twice",
		},
		{
			name: "clipped", o: AdamW{Eps: 1, WeightDecay: new(0.0)}, rows: 2, w: []float64{0, 0}, g: []float64{3, 4}, norm: 5,
			want:   [][]float64{{-.0375, -.1 * .8 / 1.8}},
			reason: "worked number: [3, 4] with bound 1 is [.6, .8]; the first step is -rate g/(|g|+eps), here -.1*.6/1.6",
		},
		{
			name: "no bound", o: AdamW{Eps: 1, WeightDecay: new(0.0), MaxGradNorm: new(0.0)}, rows: 2, w: []float64{0, 0}, g: []float64{3, 4}, norm: 5,
			want:   [][]float64{{-.075, -.08}},
			reason: "-.1*3/4 and -.1*4/5: 0 means no bound, not the default",
		},
		{
			name: "no memory", o: AdamW{Beta1: new(0.0), Beta2: new(0.0), Eps: 1, WeightDecay: new(0.0)}, rows: 2, w: []float64{0, 0}, g: []float64{.6, .8}, norm: 1,
			want:   [][]float64{{-.0375, -.1 * .8 / 1.8}, {-.075, -.2 * .8 / 1.8}},
			reason: "with b1 = b2 = 0 each step is -rate g/(|g|+eps); a norm of exactly 1 is not clipped",
		},
		{
			name: "no gradient", rows: 2, w: []float64{1, -2}, g: []float64{0, 0}, norm: 0,
			want:   [][]float64{{.999, -1.998}},
			reason: "what is left is the decay, 1 - .1*.01; 0/(0+eps) is 0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			if err := tt.o.check(); err != nil {
				t.Fatal(err)
			}
			p := param("w", tt.w...)
			p.Rows, p.Cols = tt.rows, len(tt.w)/tt.rows
			a := adam{AdamW: tt.o}
			for n, want := range tt.want {
				copy(p.G, tt.g)
				norm, err := a.step([]*Param{p}, .1)
				if err != nil || math.Abs(norm-tt.norm) > 1e-12 {
					t.Fatalf("step %d: norm %v, %v, want %v", n+1, norm, err, tt.norm)
				}
				// The worked numbers have nine digits.
				if diff := cmp.Diff(want, p.W, cmpopts.EquateApprox(0, 5e-10)); diff != "" {
					t.Errorf("parameters after step %d (-want +got):\n%s", n+1, diff)
				}
				if diff := cmp.Diff(make([]float64, len(tt.g)), p.G); diff != "" {
					t.Errorf("gradient after step %d (-want +got):\n%s", n+1, diff)
				}
			}
		})
	}
}

// slowAdam is the optimiser as its comment has it, with powers for the corrections and nothing drawn together.
type slowAdam struct {
	w, m, v []float64
	decays  []bool
	n       int
}

func (a *slowAdam) step(o AdamW, g []float64, rate float64) {
	value := func(p *float64, def float64) float64 {
		if p != nil {
			return *p
		}
		return def
	}
	b1, b2, bound := value(o.Beta1, .9), value(o.Beta2, .999), value(o.MaxGradNorm, 1)
	eps := o.Eps
	if eps == 0 {
		eps = 1e-8
	}
	var squares float64
	for _, x := range g {
		squares += x * x
	}
	norm := math.Sqrt(squares)
	a.n++
	for i, x := range g {
		if bound > 0 && norm > bound {
			x = x * bound / norm
		}
		a.m[i] = b1*a.m[i] + (1-b1)*x
		a.v[i] = b2*a.v[i] + (1-b2)*x*x
		mean, square := a.m[i]/(1-math.Pow(b1, float64(a.n))), a.v[i]/(1-math.Pow(b2, float64(a.n)))
		decay := 0.0
		if a.decays[i] {
			decay = value(o.WeightDecay, .01)
		}
		a.w[i] -= rate * (mean/(math.Sqrt(square)+eps) + decay*a.w[i])
	}
}

// The optimiser does what the plain formula does, over several tensors and steps.
func TestAdamWAgainstFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-3, 3)
		maybe := func(name string, g *rapid.Generator[float64]) *float64 {
			if rapid.Bool().Draw(t, name+" set") {
				return new(g.Draw(t, name))
			}
			return nil
		}
		o := AdamW{
			Beta1: maybe("beta1", rapid.Float64Range(0, .99)), Beta2: maybe("beta2", rapid.Float64Range(0, .9999)),
			Eps: rapid.SampledFrom([]float64{0, 1e-4, 1}).Draw(t, "eps"), WeightDecay: maybe("decay", rapid.Float64Range(0, 1)),
			MaxGradNorm: maybe("bound", rapid.SampledFrom([]float64{0, .1, 1, 100})),
		}
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		slow := &slowAdam{}
		var params []*Param
		for i := range rapid.IntRange(1, 4).Draw(t, "tensors") {
			p := param(fmt.Sprint("p", i), rapid.SliceOfN(number, 1, 6).Draw(t, "w")...)
			if rapid.Bool().Draw(t, "bias") {
				p.Rows, p.Cols = 1, len(p.W)
			}
			params = append(params, p)
			slow.w = append(slow.w, p.W...)
			for range p.W {
				slow.decays = append(slow.decays, p.Rows > 1)
			}
		}
		slow.m, slow.v = make([]float64, len(slow.w)), make([]float64, len(slow.w))
		fast := &adam{AdamW: o}
		for n := range rapid.IntRange(1, 8).Draw(t, "steps") {
			// No gradients below 1e-3 but 0: where a root is near eps, the order of operations shows.
			var g []float64
			for range slow.w {
				x := number.Draw(t, "g")
				if math.Abs(x) < 1e-3 {
					x = 0
				}
				g = append(g, x)
			}
			at := 0
			for _, p := range params {
				at += copy(p.G, g[at:])
			}
			rate := rapid.Float64Range(0, 1).Draw(t, "rate")
			if n == 2 { // from a copy on: it has the whole state
				c := fast.clone()
				fast = &c
			}
			if _, err := fast.step(params, rate); err != nil {
				t.Fatal(err)
			}
			slow.step(o, g, rate)
			var got []float64
			for _, p := range params {
				got = append(got, p.W...)
			}
			// Rounding of the two orders, over eight steps of size up to 1.
			if diff := cmp.Diff(slow.w, got, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
				t.Fatalf("parameters after step %d (-want +got):\n%s", n+1, diff)
			}
		}
	})
}

func TestAdamWRefuses(t *testing.T) {
	for _, tt := range []struct {
		name      string
		g         []float64
		rate      float64
		nonFinite bool
		reason    string
	}{
		{"NaN", []float64{.1, math.NaN()}, .1, true, "one bad number spoils the norm"},
		{"infinity", []float64{math.Inf(-1), 0}, .1, true, "the same"},
		{"both infinities", []float64{math.Inf(-1), math.Inf(1)}, .1, true, "they do not cancel"},
		{"overflow", []float64{1e200, 0}, .1, true, "the square is not finite, and v would not be"},
		{"rate NaN", []float64{.1, .2}, math.NaN(), false, "no rate"},
		{"rate below 0", []float64{.1, .2}, -1, false, "no rate"},
		{"rate infinite", []float64{.1, .2}, math.Inf(1), false, "no rate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			for _, steps := range []int{0, 2} {
				p, q := param("p", 1), param("q", 2, 3)
				params := []*Param{p, q}
				var a adam
				for range steps {
					p.G[0], q.G[1] = .3, -.2
					if _, err := a.step(params, .1); err != nil {
						t.Fatal(err)
					}
				}
				before, w := a.clone(), []float64{p.W[0], q.W[0], q.W[1]}
				p.G[0], q.G[1] = tt.g[0], tt.g[1]
				norm, err := a.step(params, tt.rate)
				if err == nil || errors.Is(err, rl.ErrNonFinite) != tt.nonFinite || !strings.HasPrefix(err.Error(), "backbone: ") {
					t.Errorf("error %v, want one that is rl.ErrNonFinite: %v", err, tt.nonFinite)
				}
				want := []float64{tt.g[0], 0, tt.g[1]}
				if tt.nonFinite {
					want = []float64{0, 0, 0}
					if norm-norm == 0 {
						t.Errorf("norm %v, want one that is not finite", norm)
					}
				}
				if diff := cmp.Diff(want, []float64{p.G[0], q.G[0], q.G[1]}); diff != "" {
					t.Errorf("gradient (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(w, []float64{p.W[0], q.W[0], q.W[1]}); diff != "" {
					t.Errorf("parameters (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(before, a.clone(), cmp.AllowUnexported(adam{})); diff != "" {
					t.Errorf("state (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAdamWCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      AdamW
		want   []string
		reason string
	}{
		{"zero", AdamW{}, nil, "the defaults"},
		{"zeros that are settings", AdamW{Beta1: new(0.0), Beta2: new(0.0), WeightDecay: new(0.0), MaxGradNorm: new(0.0)}, nil, "all are legal"},
		{"beta1", AdamW{Beta1: new(1.0)}, []string{"Beta1 is 1"}, "the mean would never move"},
		{"beta2", AdamW{Beta2: new(-.5)}, []string{"Beta2 is -0.5"}, "v would be negative"},
		{"eps", AdamW{Eps: -1e-8}, []string{"Eps is -1e-08"}, "the divisor could be 0"},
		{"eps infinite", AdamW{Eps: math.Inf(1)}, []string{"Eps is +Inf"}, "nothing would ever move"},
		{"NaN", AdamW{Beta1: new(math.NaN()), WeightDecay: new(math.NaN())}, []string{"Beta1 is NaN", "WeightDecay is NaN"}, "all faults at once"},
		{"bound", AdamW{MaxGradNorm: new(-1.0)}, []string{"MaxGradNorm is -1"}, "no length"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			err := tt.o.check()
			if (err != nil) != (len(tt.want) > 0) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), "backbone: AdamW."+part) {
					t.Errorf("error %q, want one with %q", err, part)
				}
			}
		})
	}
}

// A copy shares nothing: neither its settings nor its state follow the original.
func TestAdamWClone(t *testing.T) {
	p := param("p", 1, 2)
	a := &adam{AdamW: AdamW{Beta1: new(.5)}}
	p.G[0] = 1
	if _, err := a.step([]*Param{p}, .1); err != nil {
		t.Fatal(err)
	}
	b := a.clone()
	want := b.clone()
	*a.Beta1 = .9
	p.G[1] = 1
	if _, err := a.step([]*Param{p}, .1); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b, cmp.AllowUnexported(adam{})); diff != "" {
		t.Errorf("the copy changed (-want +got):\n%s", diff)
	}
	if got := b.settings().beta1; got != .5 {
		t.Errorf("Beta1 of the copy is %v, want 0.5", got)
	}
}

func TestAdamWAllocations(t *testing.T) {
	p := []*Param{param("p", 1, 2, 3), param("q", 4)}
	var a adam
	if _, err := a.step(p, .1); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(20, func() { a.step(p, .1) }); n != 0 {
		t.Errorf("%v allocations in a step, want 0", n)
	}
}

func BenchmarkAdamW(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6} {
		b.Run(fmt.Sprint("params=", n), func(b *testing.B) {
			p := []*Param{param("p", make([]float64, n)...)}
			g := make([]float64, n)
			for i := range g {
				g[i] = float64(i%7) - 3
			}
			var a adam
			if _, err := a.step(p, 1e-3); err != nil { // makes the state
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				copy(p[0].G, g)
				if _, err := a.step(p, 1e-3); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/param")
		})
	}
}
