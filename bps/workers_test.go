package bps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var allModes = []Mode{Auto, Paper, Level0, Level1, Level2, Level3, Exact}

// bytesOf prints all that a search returns.
func bytesOf(t *rapid.T, p Problem, o Options, workers int) []byte {
	o.Workers = workers
	sel, err := Select(context.Background(), p, &o)
	out, jsonErr := json.Marshal(sel)
	if jsonErr != nil {
		t.Fatalf("%v: %+v", jsonErr, sel)
	}
	return fmt.Appendf(out, "\n%v", err)
}

// Any number of workers gives the same bytes, the number of gains computed and the last digit of every bound included.
func TestWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		n := 1 + rng.IntN(22)
		c, tokens := randomCapability(rng, n, 1+rng.IntN(5), 1, 1+rng.IntN(60))
		p := Problem{Tokens: tokens, Budget: rng.IntN(200), Benefit: c, PenaltyPerToken: 0.01 * rng.Float64()}
		o := Options{Mode: allModes[rng.IntN(len(allModes))], NodeLimit: 1 + rng.IntN(500)}
		o.BothOrders, o.fullChains = rng.IntN(2) == 0, rng.IntN(4) == 0
		if rng.IntN(3) == 0 {
			o.Certify = new(true)
		}
		if rng.IntN(2) == 0 {
			p.Benefit = BenefitFunc(c.Value)
		}
		one := bytesOf(t, p, o, 1)
		for _, workers := range []int{2, 3, 7} {
			if got := bytesOf(t, p, o, workers); !bytes.Equal(got, one) {
				t.Fatalf("%v, %d workers:\n%s\none worker:\n%s", o.Mode, workers, got, one)
			}
		}
	})
}

// So it is where everything ties, gains per token that are no binary fractions included: sums depend on their order then.
func TestWorkersTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		n := 2 + rng.IntN(14)
		tokens, values := make([]int, n), make([]float64, n)
		for i := range tokens {
			tokens[i] = 1 + rng.IntN(9)
			values[i] = 0.1 * float64(tokens[i])
			if rng.IntN(3) == 0 {
				values[i] = 0.3
			}
		}
		limit := 0.1 * float64(5+rng.IntN(100))
		b := BenefitFunc(func(set []int) float64 { return min(modular(values...).Value(set), limit) })
		p := Problem{Tokens: tokens, Budget: 5 + rng.IntN(50), Benefit: b, PenaltyPerToken: 0.01 * float64(rng.IntN(12))}
		o := Options{Mode: allModes[rng.IntN(len(allModes))], BothOrders: rng.IntN(2) == 0, Certify: new(true), NodeLimit: 100}
		one := bytesOf(t, p, o, 1)
		for _, workers := range []int{2, 3, 7} {
			if got := bytesOf(t, p, o, workers); !bytes.Equal(got, one) {
				t.Fatalf("%v, %d workers:\n%s\none worker:\n%s", o.Mode, workers, got, one)
			}
		}
	})
}

// A fault of the benefit is reported in the same words, whichever worker meets it first.
func TestWorkersErrors(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		n := 3 + rng.IntN(12)
		c, tokens := randomCapability(rng, n, 3, 1, 20)
		odd := rng.Uint64()
		fault := []float64{math.NaN(), math.Inf(1), -1, 50}[rng.IntN(4)]
		b := BenefitFunc(func(set []int) float64 {
			h := odd
			for _, i := range set {
				h ^= hash(i + 1)
			}
			if len(set) > 1 && h%uint64(n) == 0 {
				return fault
			}
			return c.Value(set)
		})
		p := Problem{Tokens: tokens, Budget: 10 + rng.IntN(60), Benefit: b}
		o := Options{Mode: allModes[rng.IntN(len(allModes))], BothOrders: rng.IntN(2) == 0, NodeLimit: 100}
		one := bytesOf(t, p, o, 1)
		if !bytes.HasSuffix(one, []byte("<nil>")) {
			met++
		}
		for _, workers := range []int{2, 3, 7} {
			if got := bytesOf(t, p, o, workers); !bytes.Equal(got, one) {
				t.Fatalf("%v, %d workers:\n%s\none worker:\n%s", o.Mode, workers, got, one)
			}
		}
	})
	if met == 0 && !testing.Short() { // few draws may meet none
		t.Error("no fault was met: the test shows nothing")
	}
}

// A panic of the benefit reaches the caller of Select, with its value, and leaves no goroutine behind: also one about the last two
// candidates, which only the goroutines of the last seeds ask for.
func TestWorkersPanic(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, mode := range []Mode{Paper, Level1, Level2, Level3, Exact} {
		for _, workers := range []int{1, 2, 3, 7} {
			p := Problem{Tokens: repeat(5, 10), Budget: 20, Benefit: BenefitFunc(func(set []int) float64 {
				if slices.Equal(set, []int{8, 9}) {
					panic("eight and nine")
				}
				return modular(10, 9, 8, 7, 6, 5, 4, 3, 2, 1).Value(set)
			})}
			got := func() (v any) {
				defer func() { v = recover() }()
				_, err := Select(context.Background(), p, &Options{Mode: mode, Workers: workers})
				return err
			}()
			if got != "eight and nine" {
				t.Errorf("%v, %d workers: recovered %v", mode, workers, got)
			}
		}
	}
	if after := settled(before); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

// A benefit that ends its goroutine, as T.FailNow does, must not leave seeds out in silence.
func TestWorkersGoexit(t *testing.T) {
	p := Problem{Tokens: repeat(5, 10), Budget: 20, Benefit: BenefitFunc(func(set []int) float64 {
		if slices.Equal(set, []int{8, 9}) {
			runtime.Goexit()
		}
		return modular(10, 9, 8, 7, 6, 5, 4, 3, 2, 1).Value(set)
	})}
	got := func() (v any) {
		defer func() { v = recover() }()
		_, err := Select(context.Background(), p, &Options{Workers: 3})
		return err
	}()
	if s, ok := got.(string); !ok || !strings.Contains(s, "runtime.Goexit") {
		t.Errorf("recovered %v", got)
	}
}

// There are never more goroutines than candidates to share among them.
func TestWorkersMany(t *testing.T) {
	before := int64(runtime.NumGoroutine())
	var most atomic.Int64
	b := BenefitFunc(func(set []int) float64 {
		for n := int64(runtime.NumGoroutine()); ; {
			if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		runtime.Gosched()
		return float64(len(set))
	})
	p := Problem{Tokens: repeat(1, 4), Budget: 3, Benefit: b}
	sel := mustSelect(t, p, &Options{Workers: 5000, Mode: Level3})
	if got := most.Load(); len(sel.Items) != 3 || got > before+4 {
		t.Errorf("%d goroutines, %d before; chose %v", got, before, sel.Items)
	}
}

// settled gives goroutines that are about to end the chance to: a busy machine may take a while over it.
func settled(want int) int {
	for start := time.Now(); runtime.NumGoroutine() > want && time.Since(start) < 10*time.Second; {
		runtime.Gosched()
	}
	return runtime.NumGoroutine()
}

// cancelAfter is a context that ends when it was asked some times, by any number of goroutines.
type cancelAfter struct {
	context.Context
	left atomic.Int64
}

func (c *cancelAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// With workers too a search that is stopped returns the best so far, which is feasible and worth what it says.
func TestWorkersCancel(t *testing.T) {
	c, tokens := randomCapability(newRand(7), 14, 4, 5, 40)
	before := runtime.NumGoroutine()
	for _, mode := range []Mode{Paper, Level0, Level1, Level2, Level3, Exact} {
		p := Problem{Tokens: tokens, Budget: 100, Benefit: c, PenaltyPerToken: 0.001}
		full := mustSelect(t, p, &Options{Mode: mode})
		for _, left := range []int64{0, 5, 14, 15, 16, 20, 40, 80, 100} {
			ctx := &cancelAfter{Context: context.Background()}
			ctx.left.Store(left)
			sel, err := Select(ctx, p, &Options{Mode: mode, Workers: 3})
			if err == nil {
				if sel.Objective != full.Objective {
					t.Errorf("%v, not stopped: %v, want %v", mode, sel.Objective, full.Objective)
				}
				continue
			}
			if !errors.Is(err, context.Canceled) || sel == nil || !strings.Contains(err.Error(), "bps: stopped") {
				t.Fatalf("%v, after %d: %v, %v", mode, left, sel, err)
			}
			value := c.Value(slices.Sorted(slices.Values(sel.Items)))
			if sel.Tokens > 100 || sel.Objective > full.Objective+1e-12 || math.Abs(value-0.001*float64(sel.Tokens)-sel.Objective) > 1e-9 {
				t.Errorf("%v, after %d: %+v", mode, left, sel)
			}
			if left >= 16 && sel.Objective <= 0 {
				t.Errorf("%v, after %d: nothing of the first seed is there: %+v", mode, left, sel)
			}
			if sel.Guarantee.Factor != 0 || sel.Guarantee.Penalty != PenaltyNone || sel.Certificate != nil {
				t.Errorf("%v, after %d: guarantee %+v, certificate %v", mode, left, sel.Guarantee, sel.Certificate)
			}
		}
	}
	if after := settled(before); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}
