package backbone

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// sessionLogits returns what a session has after some tokens, as a copy.
func sessionLogits(t testing.TB, s *Session, ids ...int) []float64 {
	t.Helper()
	if err := s.Append(ids...); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(s.Logits())
}

// The logits of a session are those of Forward, however the tokens are dealt out, after forks and resets too.
func TestSession(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m := testModel(t, a.make)
			s := m.NewSession()
			rapid.Check(t, func(rt *rapid.T) {
				tokens := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 3, 4, 5, 6, 8}), 1, 16).Draw(rt, "tokens")
				want := logits(t, m, []rl.Sequence{{Tokens: tokens, Start: 1}})[0]
				s.Reset()
				if s.Len() != 0 || s.Logits() != nil {
					rt.Fatalf("after a reset: %d tokens, %v", s.Len(), s.Logits())
				}
				for at := 0; at < len(tokens); {
					n := rapid.IntRange(1, len(tokens)-at).Draw(rt, "piece")
					if rapid.Bool().Draw(rt, "fork") {
						old := s
						s = s.Fork()
						if old.Len() < 16 {
							sessionLogits(t, old, 4) // must not matter to the fork
						}
					}
					got := sessionLogits(t, s, tokens[at:at+n]...)
					at += n
					if diff := cmp.Diff(want[at-1], got, cmpopts.EquateApprox(1e-10, 1e-10)); diff != "" || s.Len() != at {
						rt.Fatalf("%d of %d tokens (-want +got)\n%s", s.Len(), at, diff)
					}
				}
			})
		})
	}
}

// A fork and its origin see nothing of each other.
func TestFork(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m := testModel(t, a.make)
			s := m.NewSession()
			sessionLogits(t, s, 1, 1, 1, 1, 1, 1)
			s.Reset() // there is now memory for more tokens, which a fork must not share
			start := sessionLogits(t, s, 1, 3, 4)
			f := s.Fork()
			if diff := cmp.Diff(start, f.Logits()); diff != "" {
				t.Errorf("at once (-want +got)\n%s", diff)
			}
			view := s.Logits()
			sessionLogits(t, s.Fork(), 0)
			if diff := cmp.Diff(start, view); diff != "" {
				t.Errorf("the view of the origin (-want +got)\n%s", diff)
			}
			if err := errors.Join(s.Append(5), f.Append(6), s.Append(0), f.Append(0)); err != nil { // all before the logits of either
				t.Fatal(err)
			}
			left, right := slices.Clone(s.Logits()), slices.Clone(f.Logits())
			if cmp.Equal(left, right) {
				t.Error("other tokens, equal logits")
			}
			fresh := m.NewSession()
			if diff := cmp.Diff(sessionLogits(t, fresh, 1, 3, 4, 5, 0), left, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("origin (-want +got)\n%s", diff)
			}
			fresh.Reset()
			if diff := cmp.Diff(sessionLogits(t, fresh, 1, 3, 4, 6, 0), right, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("fork (-want +got)\n%s", diff)
			}
			if s.Len() != 5 || f.Len() != 5 {
				t.Errorf("%d and %d tokens", s.Len(), f.Len())
			}
		})
	}
}

func TestSessionRefuses(t *testing.T) {
	m := testModel(t, NewTransformer)
	s := m.NewSession()
	want := sessionLogits(t, s, 1, 3)
	for _, test := range []struct {
		name, reason string
		ids          []int
		want         string
		is           error
	}{
		{"id", "the vocabulary ends at 8", []int{1, 9}, "ids[1] is 9", nil},
		{"reserved", "reserved entries are not read", []int{7}, "ids[0] is 7", loss.ErrReservedToken},
		{"long", "two tokens are there, and 16 is the most", make([]int, 15), "ids is 15 after 2 tokens, want at most 16", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := s.Append(test.ids...)
			if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v, want an error with %q", err, test.want)
			}
			if diff := cmp.Diff(want, s.Logits()); diff != "" || s.Len() != 2 {
				t.Errorf("the session changed (-want +got)\n%s", diff)
			}
		})
	}
	if err := s.Append(); err != nil || s.Len() != 2 {
		t.Errorf("no tokens: %v", err)
	}
	if err := s.Append(make([]int, 14)...); err != nil {
		t.Errorf("up to MaxLen: %v", err)
	}
}

// Samples come with the frequencies of the softmax at the temperature asked for, over what is allowed: each count within five standard
// deviations of its mean.
func TestSampleFrequencies(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		temperature  float64
		allowed      []int
	}{
		{"plain", "all seven that are not reserved", 1, nil},
		{"cold", "probabilities are sharper", 0.5, nil},
		{"hot", "and flatter", 3, nil},
		{"allowed", "in any order", 1, []int{8, 0, 4}},
		{"one allowed", "what must come comes", 1, []int{3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := testModel(t, NewTransformer)
			z := sessionLogits(t, m.NewSession(), 1, 3)
			allowed := test.allowed
			if allowed == nil {
				allowed = []int{0, 1, 3, 4, 5, 6, 8}
			}
			want := make([]float64, 9)
			var sum float64
			for _, k := range allowed {
				want[k] = math.Exp(z[k] / test.temperature)
				sum += want[k]
			}
			const n = 20000
			count := make([]float64, 9)
			o := rl.SampleOptions{Temperature: test.temperature, Stop: -1, Limit: 1, Rand: rand.New(rand.NewPCG(4, 4))}
			if test.allowed != nil {
				o.Allowed = func([]int) []int { return test.allowed }
			}
			for range n {
				got, err := m.Sample(context.Background(), nil, []int{1, 3}, o)
				if err != nil || len(got) != 1 {
					t.Fatal(got, err)
				}
				count[got[0]]++
			}
			for k := range want {
				p := want[k] / sum
				if math.Abs(count[k]-n*p) > 5*math.Sqrt(n*p*(1-p))+1e-9 {
					t.Errorf("token %d: %v of %d, want about %v", k, count[k], n, n*p)
				}
			}
		})
	}
}

// Reserved entries are never drawn, however large their logits.
func TestSampleReserved(t *testing.T) {
	m := testModel(t, NewTransformer)
	head := m.Params()[len(m.Params())-1]
	for i := range head.Rows {
		head.W[i*head.Cols+7] *= 100
		head.W[i*head.Cols+2] *= -100
	}
	for _, temperature := range []float64{0, 1, 1e9} {
		for seed := range uint64(30) {
			o := rl.SampleOptions{Temperature: temperature, Stop: -1, Limit: 15, Rand: rand.New(rand.NewPCG(seed, 0))}
			got, err := m.Sample(context.Background(), nil, []int{1}, o)
			if err != nil || len(got) != 15 || slices.Contains(got, 7) || slices.Contains(got, 2) {
				t.Fatalf("temperature %v: %v, %v", temperature, got, err)
			}
		}
	}
}

// A greedy response takes the largest logit at each place, the lowest id among equals, and no number of Rand; a response ends with Stop.
func TestSampleGreedy(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			m := testModel(t, a.make)
			s := m.NewSession()
			z := sessionLogits(t, s, 4, 1)
			var want []int
			for range 6 {
				best := -1
				for _, k := range []int{0, 1, 3, 4, 5, 6, 8} {
					if best < 0 || z[k] > z[best] {
						best = k
					}
				}
				want = append(want, best)
				z = sessionLogits(t, s, best)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			got, err := m.Sample(context.Background(), []int{77}, []int{4, 1}, rl.SampleOptions{Stop: -1, Limit: 6, Rand: rng})
			if diff := cmp.Diff(append([]int{77}, want...), got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			if rng.Uint64() != rand.New(rand.NewPCG(1, 1)).Uint64() {
				t.Error("a greedy choice took a number")
			}
			got, err = m.Sample(context.Background(), nil, []int{4, 1}, rl.SampleOptions{Stop: want[0], Limit: 6})
			if diff := cmp.Diff(want[:1], got); diff != "" || err != nil {
				t.Errorf("stop: %v (-want +got)\n%s", err, diff)
			}
		})
	}
	m := testModel(t, NewTransformer)
	clear(m.Params()[len(m.Params())-1].W) // all logits are 0
	got, err := m.Sample(context.Background(), nil, []int{1}, rl.SampleOptions{Limit: 1, Allowed: func([]int) []int { return []int{8, 3, 5} }})
	if err != nil || got[0] != 3 {
		t.Errorf("among equals: %v, %v", got, err)
	}
}

// Allowed sees the response so far, and an empty list allows all.
func TestSampleAllowed(t *testing.T) {
	m := testModel(t, NewTransformer)
	o := rl.SampleOptions{Temperature: 1, Stop: 8, Limit: 9, Allowed: func(response []int) []int {
		switch len(response) {
		case 0:
			return []int{5}
		case 1:
			if response[0] != 5 {
				t.Errorf("response %v", response)
			}
			return nil
		}
		return []int{8}
	}}
	got, err := m.Sample(context.Background(), []int{9, 9}, []int{1}, o)
	if err != nil || len(got) != 5 || got[2] != 5 || got[4] != 8 && got[3] != 8 {
		t.Errorf("%v, %v", got, err)
	}
}

// Sampling is the same from the same generator, at the same time as other calls too.
func TestSampleConcurrent(t *testing.T) {
	m := testModel(t, NewTransformer)
	draw := func(seed uint64) []int {
		got, err := m.Sample(context.Background(), nil, []int{1, 3}, rl.SampleOptions{Temperature: 1, Stop: -1, Limit: 12, Rand: rand.New(rand.NewPCG(seed, 2))})
		if err != nil {
			t.Error(err)
		}
		return got
	}
	want := make([][]int, 40)
	for i := range want {
		want[i] = draw(uint64(i))
	}
	got := make([][]int, len(want))
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() {
			got[i] = draw(uint64(i))
			if _, err := m.LogProbs(context.Background(), testBatch()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	one, err := m.Sample(context.Background(), nil, []int{1, 3}, rl.SampleOptions{Temperature: 1, Stop: -1, Limit: 12})
	if diff := cmp.Diff(draw(1), one); diff != "" || err != nil {
		t.Errorf("without Rand: %v (-want +got)\n%s", err, diff)
	}
}

func TestSampleRefuses(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		context      []int
		o            rl.SampleOptions
		want         string
		is           error
	}{
		{"no context", "logits stand at a token", nil, rl.SampleOptions{Limit: 1}, "context is empty", nil},
		{"context id", "the vocabulary ends at 8", []int{9}, rl.SampleOptions{Limit: 1}, "ids[0] is 9", nil},
		{"context reserved", "reserved entries are not read", []int{2}, rl.SampleOptions{Limit: 1}, "ids[0] is 2", loss.ErrReservedToken},
		{"temperature", "it is not negative", []int{1}, rl.SampleOptions{Temperature: -1, Limit: 1}, "SampleOptions.Temperature is -1", nil},
		{"NaN", "nor NaN", []int{1}, rl.SampleOptions{Temperature: math.NaN(), Limit: 1}, "SampleOptions.Temperature is NaN", nil},
		{"infinite", "nor infinite", []int{1}, rl.SampleOptions{Temperature: math.Inf(1), Limit: 1}, "SampleOptions.Temperature is +Inf", nil},
		{"limit", "at least one token", []int{1}, rl.SampleOptions{}, "SampleOptions.Limit is 0, want a number from 1 to 15", nil},
		{"limit beyond", "16 tokens in all", []int{1}, rl.SampleOptions{Limit: 16}, "SampleOptions.Limit is 16, want a number from 1 to 15", nil},
		{"allowed id", "lists have tokens",
			[]int{1}, rl.SampleOptions{Limit: 1, Allowed: func([]int) []int { return []int{3, -1} }}, "SampleOptions.Allowed()[1] is -1", nil},
		{"allowed reserved", "that can be drawn",
			[]int{1}, rl.SampleOptions{Limit: 1, Allowed: func([]int) []int { return []int{7} }}, "SampleOptions.Allowed()[0] is 7", loss.ErrReservedToken},
		{"allowed twice", "each once",
			[]int{1}, rl.SampleOptions{Limit: 1, Allowed: func([]int) []int { return []int{3, 3} }}, "SampleOptions.Allowed()[1] is 3", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.reason == "" {
				t.Fatal("no reason")
			}
			got, err := testModel(t, NewTransformer).Sample(context.Background(), []int{5}, test.context, test.o)
			if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) || !cmp.Equal(got, []int{5}) {
				t.Errorf("%v, %v, want an error with %q", got, err, test.want)
			}
		})
	}
}

// Sampling allocates nothing once there is a session of the length.
func TestSampleAllocations(t *testing.T) {
	for _, a := range architectures {
		m := mustModel(t, a.make, Config{Vocab: 30, Dim: 16})
		dst := make([]int, 0, 256)
		prompt := []int{1, 2, 3, 4, 5}
		allowed := []int{1, 2, 3}
		o := rl.SampleOptions{Temperature: 1, Stop: -1, Limit: 100, Rand: rand.New(rand.NewPCG(1, 2)), Allowed: func(response []int) []int {
			return allowed[:len(response)%4]
		}}
		got := testing.AllocsPerRun(5, func() {
			if _, err := m.Sample(context.Background(), dst, prompt, o); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations in 100 tokens", a.name, got)
		}
		s := m.NewSession()
		ids := []int{3}
		if got := testing.AllocsPerRun(50, func() {
			if s.Len() == 100 {
				s.Reset()
			}
			if err := s.Append(ids...); err != nil || s.Logits() == nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("%s: %v allocations a token of a session", a.name, got)
		}
	}
}
