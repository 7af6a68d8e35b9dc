package linear

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var near = cmpopts.EquateApprox(1e-12, 1e-12)

func TestHash(t *testing.T) {
	const dim = 1000
	got := Hash(nil, dim, "open", "close", "open", "")
	if len(got) != 4 || got[0] != got[2] || got[0] == got[1] || got[3] == got[0] {
		t.Errorf("got %v: equal names have equal places, these others do not", got)
	}
	cross := Cross(nil, dim, []string{"ab", "a"}, []string{"c", "bc"})
	if len(cross) != 4 || cross[0] == cross[3] { // "ab","c" and "a","bc"
		t.Errorf("got %v: where a name ends must matter", cross)
	}
	for _, f := range slices.Concat(got, cross) {
		if f.Index >= dim || f.Value != 1 {
			t.Errorf("%v is not in [0, %d) with value 1", f, dim)
		}
	}
	// Frozen, since saved weights depend on it. Computed apart from this code, of the bytes "take" and "s\xfftake".
	if diff := cmp.Diff([]Feature{{40453, 1}, {33120, 1}}, append(Hash(nil, 1<<16, "take"), Cross(nil, 1<<16, []string{"s"}, []string{"take"})...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, dim := range []int{0, -1, 1<<32 + 1} {
		if got := Hash(nil, dim, "x"); got != nil {
			t.Errorf("dimension %d: got %v, want nothing", dim, got)
		}
	}
	buf := make([]Feature, 0, 8)
	a, b := []string{"s", "t"}, []string{"u"}
	if n := testing.AllocsPerRun(10, func() { Cross(Hash(buf, dim, "one", "two"), dim, a, b) }); n != 0 {
		t.Errorf("hashing into a large enough slice allocates %v times", n)
	}
}

// Names spread evenly: no place of 256 gets more than twice its share of 64 k names.
func TestHashSpreads(t *testing.T) {
	var count [256]int
	for i := range 1 << 16 {
		for _, f := range Hash(nil, 256, fmt.Sprint(i)) {
			count[f.Index]++
		}
	}
	if lo, hi := slices.Min(count[:]), slices.Max(count[:]); lo < 128 || hi > 512 {
		t.Errorf("between %d and %d names at a place, want about 256", lo, hi)
	}
}

func mustNew(dim int) *Policy {
	p, err := New(dim)
	if err != nil {
		panic(err)
	}
	return p
}

// with returns a policy of dimension dim whose action and value weights are w.
func with(w ...float64) *Policy {
	p := mustNew(len(w))
	p.actions.grow(len(w))
	copy(p.actions.w, w)
	p.values.grow(len(w))
	copy(p.values.w, w)
	return p
}

func TestLogProbs(t *testing.T) {
	inf := math.Inf(-1)
	one := func(i ...uint32) (out [][]Feature) {
		for _, i := range i {
			out = append(out, []Feature{{i, 1}})
		}
		return out
	}
	nan := []float64{math.NaN(), math.NaN()}
	tests := []struct {
		name        string
		p           *Policy
		candidates  [][]Feature
		temperature float64
		want        []float64
		reason      string
	}{
		{"untrained", mustNew(4), one(0, 1, 2), 1, []float64{-math.Log(3), -math.Log(3), -math.Log(3)}, "uniform"},
		{"spec", with(1, 0, 0, -1), one(0, 1, 2, 3), 1, []float64{-.626523, -1.626523, -1.626523, -2.626523}, "E17"},
		{"temperature", with(1, 0), one(0, 1), .5, []float64{-math.Log1p(math.Exp(-2)), -2 - math.Log1p(math.Exp(-2))},
			"scores 2 and 0"},
		{"greedy", with(1, 0, 1), one(1, 2, 0), 0, []float64{inf, 0, inf}, "temperature 0: the first of the best"},
		{"far apart", with(1e308, -1e308), one(0, 1), 1, []float64{0, inf}, "no overflow"},
		{"no features", with(1), [][]Feature{nil, {{0, 1}}}, 1, []float64{-math.Log1p(math.E), 1 - math.Log1p(math.E)},
			"an empty vector scores 0"},
		{"repeated", with(1, 0), [][]Feature{{{0, 1}, {0, 1}}, {{1, 5}}}, 1, []float64{-math.Log1p(math.Exp(-2)), -2 - math.Log1p(math.Exp(-2))},
			"entries add up"},
		{"none", with(1), nil, 1, []float64{}, "nothing to choose"},
		{"outside", with(1), one(0, 1), 1, nan, "index 1 of dimension 1"},
		{"outside, untrained", mustNew(1), one(0, 1), 1, nan, "as above"},
		{"NaN", mustNew(2), [][]Feature{{{0, math.NaN()}}, nil}, 1, nan, "not a score"},
		{"all NaN", mustNew(2), [][]Feature{{{0, math.NaN()}}, {{0, math.NaN()}}}, 1, nan, "not a score"},
		{"Inf", with(1), [][]Feature{{{0, math.Inf(1)}}, nil}, 1, nan, "not a score"},
		{"negative temperature", mustNew(2), one(0, 1), -1, nan, "out of range"},
		{"NaN temperature", mustNew(2), one(0, 1), math.NaN(), nan, "out of range"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.p.LogProbs([]float64{9, 9, 9, 9, 9}, tt.candidates, tt.temperature)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-12, 5.1e-7), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestSampleAndGreedy(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	rng := rand.New(rand.NewPCG(3, 4))
	var count [3]int
	const n = 30_000
	for range n {
		count[Sample(rng, []float64{math.Log(.2), math.Log(.5), math.Log(.3)})]++
	}
	for i, p := range []float64{.2, .5, .3} {
		if got := float64(count[i]) / n; math.Abs(got-p) > .01 { // more than three standard deviations
			t.Errorf("index %d drawn with frequency %v, want %v", i, got, p)
		}
	}
	for _, tt := range []struct {
		logp           []float64
		sample, greedy int
	}{{nil, -1, -1}, {[]float64{nan, nan}, -1, -1}, {[]float64{inf, 0, inf}, 1, 1}, {[]float64{inf, inf}, -1, 0}, {[]float64{nan, -1, -1}, 2, 1}} {
		if got := Greedy(tt.logp); got != tt.greedy {
			t.Errorf("Greedy(%v) is %d, want %d", tt.logp, got, tt.greedy)
		}
		if got := Sample(nil, tt.logp); got != tt.sample && !(tt.sample == 2 && got == 1) {
			t.Errorf("Sample(%v) is %d, want %d", tt.logp, got, tt.sample)
		}
	}
	if a, b := Sample(nil, []float64{math.Log(.5), math.Log(.5)}), Sample(nil, []float64{math.Log(.5), math.Log(.5)}); a != b {
		t.Error("without a generator each call draws the same")
	}
}

const testDim = 12

func anyFeatures(t *rapid.T) []Feature {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Feature {
		return Feature{rapid.Uint32Range(0, testDim-1).Draw(t, "index"), rapid.Float64Range(-2, 2).Draw(t, "value")}
	}), 0, 5).Draw(t, "features")
}

// The gradients of log-probability, entropy and value equal central differences, for every weight (property 13).
func TestGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := with(rapid.SliceOfN(rapid.Float64Range(-1, 1), testDim, testDim).Draw(t, "w")...)
		candidates := make([][]Feature, rapid.IntRange(1, 5).Draw(t, "candidates"))
		for k := range candidates {
			candidates[k] = anyFeatures(t)
		}
		chosen := rapid.IntRange(0, len(candidates)-1).Draw(t, "chosen")
		temperature := rapid.Float64Range(.3, 3).Draw(t, "temperature")
		coef := rapid.Float64Range(-2, 2).Draw(t, "coef")
		state := anyFeatures(t)
		for _, kind := range []struct {
			name string
			of   func() float64
			add  func() error
			b    *block
		}{
			{"log-probability", func() float64 { return p.LogProbs(nil, candidates, temperature)[chosen] },
				func() error { return p.AddGrad(candidates, chosen, coef, temperature) }, &p.actions},
			{"entropy", func() float64 {
				var h float64
				for _, l := range p.LogProbs(nil, candidates, temperature) {
					h -= math.Exp(l) * l
				}
				return h
			}, func() error { return p.AddEntropyGrad(candidates, coef, temperature) }, &p.actions},
			{"value", func() float64 { return p.Value(state) }, func() error { return p.AddValueGrad(state, coef) }, &p.values},
		} {
			if err := kind.add(); err != nil {
				t.Fatal(err)
			}
			const h = 1e-5
			for i := range testDim {
				w := kind.b.w[i]
				kind.b.w[i] = w + h
				up := kind.of()
				kind.b.w[i] = w - h
				down := kind.of()
				kind.b.w[i] = w
				want := coef * (up - down) / (2 * h)
				if got := kind.b.g[i]; math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
					t.Fatalf("%s, weight %d: gradient %v, central difference %v", kind.name, i, got, want)
				}
			}
			p.ZeroGrad()
			if slices.ContainsFunc(kind.b.g, func(g float64) bool { return g != 0 }) || len(kind.b.touched) > 0 {
				t.Fatalf("ZeroGrad leaves %v", kind.b.g)
			}
		}
	})
}

func TestGradientErrors(t *testing.T) {
	good := [][]Feature{{{0, 1}}, {{1, 1}}}
	outside := [][]Feature{{{0, 1}}, {{2, 1}}}
	p := mustNew(2)
	for _, tt := range []struct {
		name string
		err  error
		text string
	}{
		{"chosen", p.AddGrad(good, 2, 1, 1), "chosen candidate is 2"},
		{"chosen", p.AddGrad(good, -1, 1, 1), "chosen candidate is -1"},
		{"none", p.AddGrad(nil, 0, 1, 1), "chosen candidate is 0"},
		{"coef", p.AddGrad(good, 0, math.NaN(), 1), "coefficient is NaN"},
		{"temperature", p.AddGrad(good, 0, 1, 0), "temperature is 0"},
		{"temperature", p.AddGrad(good, 0, 1, math.Inf(1)), "temperature is +Inf"},
		{"index", p.AddGrad(outside, 0, 1, 1), "feature index outside [0, 2)"},
		{"index, coef 0", p.AddGrad(outside, 0, 0, 1), "feature index outside [0, 2)"},
		{"entropy index", p.AddEntropyGrad(outside, 1, 1), "feature index outside [0, 2)"},
		{"entropy coef", p.AddEntropyGrad(good, math.Inf(1), 1), "coefficient is +Inf"},
		{"value coef", p.AddValueGrad(good[0], math.NaN()), "coefficient is NaN"},
		{"value index", p.AddValueGrad(outside[1], 1), "feature index outside [0, 2)"},
	} {
		if tt.err == nil || !strings.HasPrefix(tt.err.Error(), "linear: ") || !strings.Contains(tt.err.Error(), tt.text) {
			t.Errorf("%s: got %v, want %q", tt.name, tt.err, tt.text)
		}
	}
	if norm, err := p.Step(nil); norm != 0 || err != nil {
		t.Errorf("after refused gradients a step has norm %v and error %v", norm, err)
	}
	if err := p.AddEntropyGrad(nil, 1, 1); err != nil {
		t.Errorf("no candidates have entropy 0 and no gradient: %v", err)
	}
}

func TestStep(t *testing.T) {
	spec := &AdamW{LearningRate: .1, MaxGradNorm: new(0.0)}
	p := with(1)
	for _, want := range []float64{.899000002, .798101004} { // E20
		if err := p.AddValueGrad([]Feature{{0, 1}}, .5); err != nil {
			t.Fatal(err)
		}
		if norm, err := p.Step(spec); norm != .5 || err != nil {
			t.Errorf("norm %v, error %v", norm, err)
		}
		if got := p.values.w[0]; math.Abs(got-want) > 5e-10 {
			t.Errorf("weight %.9f, want %v", got, want)
		}
	}

	// E20, clip: action gradient 3 and value gradient 4 have norm 5 together, and are scaled to .6 and .8.
	p = mustNew(2)
	err := p.AddGrad([][]Feature{{{0, 6}}, nil}, 0, 1, 1) // (1-1/2)*6
	err2 := p.AddValueGrad([]Feature{{1, 4}}, 1)
	norm, err3 := p.Step(nil)
	if err := errors.Join(err, err2, err3); err != nil || math.Abs(norm-5) > 1e-12 {
		t.Fatalf("norm %v, error %v", norm, err)
	}
	if diff := cmp.Diff([]float64{.06, .08}, []float64{p.actions.m[0], p.values.m[1]}, near); diff != "" {
		t.Errorf("first moments, a tenth of the gradient (-want +got):\n%s", diff)
	}

	// A weight without a gradient stays as it is, momentum and decay or not.
	p = with(1, 1)
	for i := range 5 {
		if err := p.AddValueGrad([]Feature{{uint32(min(i, 1)), 1}}, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := p.values.w[0], 1-.05*(1/(1+1e-8)+.01); math.Abs(got-want) > 1e-12 || p.values.n[0] != 1 || p.values.n[1] != 4 {
		t.Errorf("weight of one step %v, want %v; steps %v", got, want, p.values.n)
	}
	if p.actions.w[0] != 1 {
		t.Errorf("action weight moved to %v", p.actions.w[0])
	}
}

func TestStepErrors(t *testing.T) {
	p := with(1)
	grad := func(v float64) {
		if err := p.AddValueGrad([]Feature{{0, 1}}, v); err != nil {
			t.Fatal(err)
		}
	}
	grad(1)
	for _, o := range []*AdamW{
		{LearningRate: -1}, {LearningRate: math.NaN()}, {Beta1: new(1.0)}, {Beta2: new(-.1)}, {Eps: -1}, {WeightDecay: new(-1.0)},
		{MaxGradNorm: new(math.Inf(1))},
	} {
		if _, err := p.Step(o); err == nil || !strings.HasPrefix(err.Error(), "linear: AdamW.") || p.values.w[0] != 1 || p.values.g[0] != 1 {
			t.Errorf("%+v: error %v, weight %v, gradient %v", *o, err, p.values.w[0], p.values.g[0])
		}
	}
	p.ZeroGrad()
	grad(1e308)
	grad(1e308)
	if _, err := p.Step(nil); !errors.Is(err, ErrNonFinite) || p.values.w[0] != 1 {
		t.Errorf("error %v, weight %v", err, p.values.w[0])
	}
	grad(.5)
	if norm, err := p.Step(nil); norm != .5 || err != nil {
		t.Errorf("after a skipped step: norm %v, error %v", norm, err)
	}
}

// The number of steps of a weight stops at its largest value and does not start again.
func TestStepCount(t *testing.T) {
	p := with(1)
	if err := p.AddValueGrad([]Feature{{0, 1}}, 1); err != nil {
		t.Fatal(err)
	}
	p.values.n[0] = math.MaxUint32
	if _, err := p.Step(nil); err != nil || p.values.n[0] != math.MaxUint32 || !finite(p.values.w[0]) {
		t.Errorf("error %v, %d steps, weight %v", err, p.values.n[0], p.values.w[0])
	}
}

// trained returns a policy with action and value weights at many places.
func trained(t testing.TB, dim int) *Policy {
	p := mustNew(dim)
	rng := rand.New(rand.NewPCG(5, 6))
	random := func() (out []Feature) {
		for range 40 {
			out = append(out, Feature{uint32(rng.IntN(dim)), rng.NormFloat64()})
		}
		return out
	}
	for range 30 {
		err := p.AddGrad([][]Feature{random(), random()}, rng.IntN(2), rng.NormFloat64(), 1)
		err2 := p.AddValueGrad(random(), rng.NormFloat64())
		_, err3 := p.Step(nil)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func same(a, b *Policy) bool {
	return cmp.Equal(a.actions.w, b.actions.w) && cmp.Equal(a.actions.m, b.actions.m) && cmp.Equal(a.actions.v, b.actions.v) &&
		cmp.Equal(a.actions.n, b.actions.n) && cmp.Equal(a.values.w, b.values.w) && cmp.Equal(a.values.m, b.values.m) &&
		cmp.Equal(a.values.v, b.values.v) && cmp.Equal(a.values.n, b.values.n)
}

func save(t testing.TB, p *Policy) []byte {
	var b bytes.Buffer
	if err := p.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSaveLoad(t *testing.T) {
	const dim = 3000 // more entries than one chunk
	p := trained(t, dim)
	data := save(t, p)
	q := trained(t, dim)
	if err := q.AddValueGrad([]Feature{{1, 1}}, 1); err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(append(slices.Clone(data), "rest"...))
	if err := q.Load(r); err != nil || !same(p, q) || r.Len() != 4 {
		t.Errorf("error %v, equal %v, %d bytes left of 4", err, same(p, q), r.Len())
	}
	if norm, err := q.Step(nil); norm != 0 || err != nil {
		t.Errorf("the gradient survives with norm %v, %v", norm, err)
	}
	if !bytes.Equal(save(t, q), data) {
		t.Error("saving again gives other bytes")
	}
	fresh := mustNew(dim)
	if err := q.Load(bytes.NewReader(save(t, fresh))); err != nil || !same(fresh, q) {
		t.Errorf("an untrained policy does not come back: %v", err)
	}
	if err := mustNew(dim + 1).Load(bytes.NewReader(data)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "dimension is 3000, want 3001") {
		t.Errorf("other dimension: %v", err)
	}
	broken := errors.New("broken")
	if err := fresh.Load(io.MultiReader(bytes.NewReader(data[:50]), errReader{broken})); !errors.Is(err, broken) {
		t.Errorf("reader's error: %v", err)
	}
	if err := p.Save(failing{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writer's error: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A saved policy that is cut anywhere, or has any bit of a byte changed, is refused, and leaves the policy as it was.
func TestLoadDamaged(t *testing.T) {
	p := trained(t, 8)
	data := save(t, p)
	q := mustNew(8)
	if err := q.Load(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if err := q.Load(bytes.NewReader(data[:i])); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: %v", i, err)
		}
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if err := q.Load(bytes.NewReader(bad)); !errors.Is(err, ErrFormat) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	if !same(p, q) {
		t.Error("the policy changed")
	}
	// With a checksum that fits: numbers that no training produces.
	entry := len(magic) + 8 + 4
	for name, change := range map[string]func([]byte){
		"index":    func(b []byte) { binary.LittleEndian.PutUint32(b[entry:], 8) },
		"order":    func(b []byte) { binary.LittleEndian.PutUint32(b[entry+entrySize:], 0) },
		"steps":    func(b []byte) { binary.LittleEndian.PutUint32(b[entry+4:], 0) },
		"weight":   func(b []byte) { binary.LittleEndian.PutUint64(b[entry+8:], math.Float64bits(math.NaN())) },
		"variance": func(b []byte) { binary.LittleEndian.PutUint64(b[entry+24:], math.Float64bits(-1)) },
		"count":    func(b []byte) { binary.LittleEndian.PutUint32(b[entry-4:], 1<<31) },
		"version":  func(b []byte) { b[len(magic)] = 2 },
	} {
		bad := slices.Clone(data)
		change(bad)
		if err := q.Load(bytes.NewReader(seal(bad))); !errors.Is(err, ErrFormat) || strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// seal replaces the last 32 bytes by the checksum of the others.
func seal(data []byte) []byte {
	body := data[:max(0, len(data)-sha256.Size)]
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}

// Whatever Load takes, also under a checksum that fits, is saved as the same bytes and can be trained on.
func FuzzLoad(f *testing.F) {
	f.Add(save(f, trained(f, 8)))
	f.Add(save(f, mustNew(8)))
	f.Add([]byte("TLlinear"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := mustNew(8)
		for _, in := range [][]byte{data, seal(data)} {
			if err := p.Load(bytes.NewReader(in)); err != nil {
				if !errors.Is(err, ErrFormat) {
					t.Fatal(err)
				}
				continue
			}
			if out := save(t, p); !bytes.HasPrefix(in, out) {
				t.Fatalf("read %x, wrote %x", in, out)
			}
		}
		p.Value([]Feature{{7, 1}})
		if err := p.AddValueGrad([]Feature{{0, 1}}, 1); err == nil {
			if _, err := p.Step(nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestClone(t *testing.T) {
	p := trained(t, 20)
	err := p.AddValueGrad([]Feature{{3, 1}}, 1)
	q := p.Clone()
	if err != nil || !same(p, q) {
		t.Fatalf("error %v, or a clone that differs", err)
	}
	before := save(t, p)
	if norm, err := q.Step(nil); norm != 1 || err != nil {
		t.Errorf("the clone's gradient has norm %v, %v", norm, err)
	}
	if !bytes.Equal(save(t, p), before) {
		t.Error("training the clone changes the original")
	}
	if _, err := p.Step(nil); err != nil || !same(p, q) {
		t.Errorf("the same step gives other weights: %v", err)
	}
}

func TestNew(t *testing.T) {
	for in, want := range map[int]int{0: DefaultDim, 1: 1, 7: 7, maxDim: maxDim} {
		if p, err := New(in); p.Dim() != want || err != nil {
			t.Errorf("New(%d) has dimension %d and error %v, want %d", in, p.Dim(), err, want)
		}
	}
	for _, in := range []int{-1, math.MinInt, maxDim + 1, math.MaxInt} {
		if p, err := New(in); p != nil || err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("linear: dim is %d, want", in)) {
			t.Errorf("New(%d) is %v, error %v", in, p, err)
		}
	}
}

// A nil policy and the zero value have no weight: they read like a policy of dimension 0 and refuse the rest.
func TestNoPolicy(t *testing.T) {
	one := [][]Feature{{{0, 1}}, nil}
	for name, p := range map[string]*Policy{"nil": nil, "zero": {}} {
		if got := p.LogProbs(nil, one, 1); len(got) != 2 || !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
			t.Errorf("%s: log-probabilities %v, want NaN", name, got)
		}
		if diff := cmp.Diff([]float64{0}, p.LogProbs(nil, [][]Feature{nil}, 1)); diff != "" {
			t.Errorf("%s: a single candidate without features (-want +got):\n%s", name, diff)
		}
		if v := p.Value(one[0]); p.Dim() != 0 || !math.IsNaN(v) || p.Value(nil) != 0 {
			t.Errorf("%s: dimension %d, value %v", name, p.Dim(), v)
		}
		if p.AddGrad(one, 0, 1, 1) == nil || p.AddEntropyGrad(one, 1, 1) == nil || p.AddValueGrad(one[0], 1) == nil {
			t.Errorf("%s: a gradient is taken", name)
		}
		p.ZeroGrad()
		clone := p.Clone()
		if (clone == nil) != (p == nil) {
			t.Errorf("%s: cloned to %v", name, clone)
		}
		var file bytes.Buffer
		_, err := p.Step(nil)
		for what, err := range map[string]error{"step": err, "save": p.Save(&file), "load": p.Load(&file)} {
			if (err != nil) != (p == nil) {
				t.Errorf("%s: %s gives %v", name, what, err)
			}
		}
	}
}

func BenchmarkLogProbs(b *testing.B) {
	p := trained(b, DefaultDim)
	rng := rand.New(rand.NewPCG(7, 8))
	candidates := make([][]Feature, 32)
	for k := range candidates {
		for range 64 {
			candidates[k] = append(candidates[k], Feature{uint32(rng.IntN(DefaultDim)), 1})
		}
	}
	var dst []float64
	b.Run("32x64", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = p.LogProbs(dst, candidates, 1)
		}
	})
	b.Run("with gradient", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := p.AddGrad(candidates, 3, 1, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := p.AddGrad(candidates, 3, 1, 1); err != nil {
				b.Fatal(err)
			}
			if _, err := p.Step(nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCross(b *testing.B) {
	state, action := strings.Fields("desk order 17 is shipped ticket open customer gold"), strings.Fields("refund order 17 partial")
	var dst []Feature
	b.ReportAllocs()
	for b.Loop() {
		dst = Cross(dst[:0], DefaultDim, state, action)
	}
}

// Any number of goroutines may read while nobody writes (to be run with -race).
func TestConcurrentReads(t *testing.T) {
	p := trained(t, 50)
	candidates := [][]Feature{{{1, 1}, {7, 2}}, {{3, 1}}, {{4, -1}}}
	want := p.LogProbs(nil, candidates, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if diff := cmp.Diff(want, p.LogProbs(nil, candidates, 1)); diff != "" || p.Value(candidates[0]) != p.Value(candidates[0]) {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	wg.Wait()
}
