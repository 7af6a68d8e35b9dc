package vector_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill/internal/vector"
)

type embedderFunc func(ctx context.Context, texts []string) ([][]float64, error)

func (f embedderFunc) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	return f(ctx, texts)
}

// entry draws numbers of every size, zeros often.
func entry() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-2, 2),
		rapid.SampledFrom([]float64{math.MaxFloat64, -math.MaxFloat64, 1e-308, math.SmallestNonzeroFloat64, 1e200, -1e-200}))
}

func dense(u vector.Vector) []float64 {
	v := make([]float64, u.Dim)
	for i, at := range u.At {
		v[at] = u.Val[i]
	}
	return v
}

// A unit vector has length 1 and the direction of its vector, whatever the size of the numbers; the zero vector stays.
func TestUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(entry(), 1, 12).Draw(t, "v")
		u := vector.Unit(v)
		zero := true
		largest := 0.0
		for _, x := range v {
			zero = zero && x == 0
			largest = max(largest, math.Abs(x))
		}
		if u.Zero() != zero || u.Dim != len(v) {
			t.Fatalf("Unit(%v): Zero %v, Dim %d", v, u.Zero(), u.Dim)
		}
		if zero {
			return
		}
		var norm, scaled float64
		for _, x := range u.Val {
			norm += x * x
		}
		for _, x := range v {
			scaled += (x / largest) * (x / largest)
		}
		if math.Abs(norm-1) > 1e-12 {
			t.Fatalf("Unit(%v) has squared length %g", v, norm)
		}
		want := make([]float64, len(v))
		for i, x := range v {
			want[i] = x / largest / math.Sqrt(scaled)
		}
		if diff := cmp.Diff(want, dense(u), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Fatalf("Unit(%v) (-want +got):\n%s", v, diff)
		}
		for i, at := range u.At {
			if i > 0 && at <= u.At[i-1] || v[at] == 0 {
				t.Fatalf("Unit(%v) has indices %v", v, u.At)
			}
		}
	})
}

// Cosines are those of the dense vectors, lie in [-1, 1], and leave the buffer clean; a vector has cosine 1 with itself.
func TestCosines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 12).Draw(t, "dim")
		vs := make([]vector.Vector, rapid.IntRange(1, 6).Draw(t, "n"))
		for i := range vs {
			vs[i] = vector.Unit(rapid.SliceOfN(entry(), dim, dim).Draw(t, "v"))
		}
		u := vs[0]
		got, buf := make([]float64, len(vs)), make([]float64, dim)
		u.Cosines(got, vs, buf)
		want := make([]float64, len(vs))
		for j, v := range vs {
			a, b := dense(u), dense(v)
			for i := range a {
				want[j] += a[i] * b[i]
			}
			if got[j] < -1 || got[j] > 1 {
				t.Fatalf("cosine %g is out of range", got[j])
			}
		}
		if !u.Zero() {
			want[0] = 1
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Fatalf("cosines (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(make([]float64, dim), buf); diff != "" {
			t.Fatalf("buffer is not clean (-want +got):\n%s", diff)
		}
	})
}

// All texts are embedded in order, at most 256 in a call, and those of a call do not matter for the vectors.
func TestEmbedBatches(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 512, 600} {
		texts := make([]string, n)
		want := make([][]float64, n)
		for i := range texts {
			texts[i] = fmt.Sprint(i)
			want[i] = dense(vector.Unit([]float64{1, float64(i)}))
		}
		var seen []string
		e := embedderFunc(func(_ context.Context, batch []string) ([][]float64, error) {
			if len(batch) == 0 || len(batch) > 256 {
				t.Errorf("%d texts: a call has %d", n, len(batch))
			}
			seen = append(seen, batch...)
			out := make([][]float64, len(batch))
			for i, s := range batch {
				var x float64
				fmt.Sscan(s, &x)
				out[i] = []float64{1, x}
			}
			return out, nil
		})
		vs, err := vector.Embed(t.Context(), e, texts)
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]float64, len(vs))
		for i, v := range vs {
			got[i] = dense(v)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d texts (-want +got):\n%s", n, diff)
		}
		if diff := cmp.Diff(texts, seen, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%d texts seen (-want +got):\n%s", n, diff)
		}
	}
}

// One answer of every kind that cannot be used, in the first and in a later batch, is an error that names the embedder, the place of the text and the rule.
func TestEmbedFaults(t *testing.T) {
	good := []float64{1, 2}
	tests := []struct {
		name   string
		change func(batch [][]float64) [][]float64 // of the batch with the fault
		index  int                                 // in the batch, or -1
		word   string
		reason string
	}{
		{"none", func(b [][]float64) [][]float64 { return nil }, -1, "0 vectors", "a missing answer"},
		{"one too few", func(b [][]float64) [][]float64 { return b[1:] }, -1, "vectors for", "it is not known which is missing"},
		{"one too many", func(b [][]float64) [][]float64 { return append(b, good) }, -1, "vectors for", "it is not known which is extra"},
		{"short", func(b [][]float64) [][]float64 { b[3] = []float64{1}; return b }, 3, "has 1 entries", "vectors of different spaces"},
		{"long", func(b [][]float64) [][]float64 { b[3] = []float64{1, 2, 3}; return b }, 3, "has 3 entries", "vectors of different spaces"},
		{"empty", func(b [][]float64) [][]float64 { b[3] = nil; return b }, 3, "has 0 entries", "an empty vector has no direction"},
		{"not a number", func(b [][]float64) [][]float64 { b[3] = []float64{1, math.NaN()}; return b }, 3, "NaN", "a sum with it is none"},
		{"infinite", func(b [][]float64) [][]float64 { b[3] = []float64{math.Inf(-1), 1}; return b }, 3, "-Inf", "it has no direction"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatalf("%s: no reason", tt.name)
		}
		for batch := range 3 {
			call := 0
			e := embedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
				out := make([][]float64, len(texts))
				for i := range out {
					out[i] = good
				}
				if call++; call == batch+1 {
					out = tt.change(out)
				}
				return out, nil
			})
			vs, err := vector.Embed(t.Context(), e, make([]string, 600))
			var f *vector.Error
			if !errors.As(err, &f) || vs != nil {
				t.Fatalf("%s: got %v, %v", tt.name, vs, err)
			}
			want := -1
			if tt.index >= 0 {
				want = batch*256 + tt.index
			}
			if f.Index != want || f.Texts != 600 || f.Embedder != "" || !strings.Contains(f.Reason, tt.word) {
				t.Errorf("%s in batch %d: got %v, want index %d and %q", tt.name, batch, f, want, tt.word)
			}
		}
	}
}

// The error of the embedder comes through, and a done ctx ends the calls.
func TestEmbedStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	e := embedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		calls++
		cancel()
		out := make([][]float64, len(texts))
		for i := range out {
			out[i] = []float64{1}
		}
		return out, nil
	})
	if _, err := vector.Embed(ctx, e, make([]string, 600)); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("canceled: %d calls, %v", calls, err)
	}
	broken := errors.New("no connection")
	e = func(context.Context, []string) ([][]float64, error) { return nil, broken }
	if _, err := vector.Embed(t.Context(), e, make([]string, 1)); !errors.Is(err, broken) {
		t.Errorf("got %v, want it to wrap %v", err, broken)
	}
}

type named struct{ embedderFunc }

func (named) ID() string { return "mine" }

func TestErrorText(t *testing.T) {
	e := named{func(_ context.Context, texts []string) ([][]float64, error) {
		return [][]float64{{1}, {math.NaN()}}, nil
	}}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{second(vector.Embed(t.Context(), e, []string{"a", "b"})), `embedder "mine": vector of text 1 of 2 has entry 0 = NaN, want a finite number`},
		{second(vector.Embed(t.Context(), e, []string{"a"})), `embedder "mine": 2 vectors for 1 texts`},
		{&vector.Error{Embedder: "x", Index: 3, Reason: "is wrong"}, `embedder "x": vector of text 3 is wrong`},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("%v, want %s", tt.err, tt.want)
		}
	}
}

func second(_ []vector.Vector, err error) error { return err }

// What an embedder appends to its argument does not reach the texts of later calls.
func TestEmbedAppending(t *testing.T) {
	texts := make([]string, 600)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	want := slices.Clone(texts)
	var seen []string
	e := embedderFunc(func(_ context.Context, batch []string) ([][]float64, error) {
		seen = append(seen, batch...)
		_ = append(batch, "spoiled")
		out := make([][]float64, len(batch))
		for i := range out {
			out[i] = []float64{1}
		}
		return out, nil
	})
	if _, err := vector.Embed(t.Context(), e, texts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

// The first entry that is not finite is named, wherever it stands and whatever is beside it.
func TestEmbedNotFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(entry(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}))
		v := rapid.SliceOfN(any, 1, 8).Draw(t, "v")
		bad := slices.IndexFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		vs, err := vector.Embed(context.Background(), embedderFunc(func(context.Context, []string) ([][]float64, error) { return [][]float64{v}, nil }), []string{"a"})
		if bad < 0 {
			if err != nil || !cmp.Equal(vs, []vector.Vector{vector.Unit(v)}) {
				t.Fatalf("%v: %v, %v", v, vs, err)
			}
			return
		}
		var f *vector.Error
		if want := fmt.Sprintf("has entry %d = %g, want a finite number", bad, v[bad]); !errors.As(err, &f) || f.Reason != want {
			t.Fatalf("%v: %v, want %s", v, err, want)
		}
	})
}

func BenchmarkCosines(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			vs := make([]vector.Vector, n)
			for i := range vs {
				v := make([]float64, 4096)
				for k := range 80 {
					v[(i*31+k*k*97)%4096] = 1
				}
				vs[i] = vector.Unit(v)
			}
			dst, buf := make([]float64, n), make([]float64, 4096)
			b.ReportAllocs()
			for b.Loop() {
				vs[0].Cosines(dst, vs, buf)
			}
		})
	}
}
