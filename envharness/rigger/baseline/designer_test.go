package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

var ctx = context.Background()

func TestNone(t *testing.T) {
	c, err := None{}.Design(ctx, rigger.Brief{Direction: components.Easier})
	if err != nil || len(c.Stack) != 0 || c.Direction != components.Easier {
		t.Errorf("got %+v, %v", c, err)
	}
}

func tags(stack []components.Entry) []string {
	var out []string
	for _, e := range stack {
		out = append(out, e.Tag)
	}
	return out
}

// Stacks of several components begin too: their order is legal, no name is looked for that another component has changed, and no tag is there
// twice.
func TestStacksBegin(t *testing.T) {
	draws := 10
	if testing.Short() {
		draws = 6
	}
	for _, r := range references(t) {
		t.Run(r.name, func(t *testing.T) {
			for _, d := range []components.Direction{components.Harder, components.Easier} {
				b := brief(t, r.world, r.tasks[0], d, 5)
				for range draws {
					c, err := Random{Components: 6}.Design(ctx, b)
					if err != nil {
						t.Fatal(err)
					}
					got := tags(c.Stack)
					if most := min(6, len(newPalette(b).kinds)); len(got) < most-1 || len(got) > most {
						t.Fatalf("%q of %d kinds, want %d, or one less where two do not go together", got, len(newPalette(b).kinds), most)
					}
					if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(unique) != len(got) {
						t.Fatalf("a tag twice: %q", got)
					}
					if slices.Contains(got, "rename") && slices.Contains(got, "call_cap") {
						t.Fatalf("the cap of %q looks for names that are gone", got)
					}
					begins(t, r.world, b.Task, c.Stack)
				}
			}
		})
	}
}

// However often it is perturbed, a stack stays one that begins.
func TestPerturbedStacksBegin(t *testing.T) {
	steps := 20
	if testing.Short() {
		steps = 8
	}
	for _, r := range references(t) {
		t.Run(r.name, func(t *testing.T) {
			b := brief(t, r.world, r.tasks[0], components.Harder, 6)
			b.Baseline.Tally = rigger.Tally{Pass: 16, Valid: 16}
			for i := range steps {
				c, err := GenEnv{}.Design(ctx, b)
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Stack) < 1 || len(c.Stack) > 4 || c.Direction != components.Harder {
					t.Fatalf("step %d: %d components, %v", i, len(c.Stack), c.Direction)
				}
				begins(t, r.world, b.Task, c.Stack)
				// Always nearer to one half, so that the next one perturbs this one.
				b.Attempts = append(b.Attempts, rigger.Attempt{Number: i + 1, Candidate: c, Screen: rigger.Tally{Pass: 99 - i, Valid: 100}})
				if stack, from := parent(b); !reflect.DeepEqual(stack, c.Stack) || from != fmt.Sprintf("attempt %d", i+1) {
					t.Fatalf("step %d: the best is %s", i, from)
				}
			}
		})
	}
}

// A perturbation is one of the four moves, all of them equally likely.
func TestPerturbMoves(t *testing.T) {
	r := references(t)[5]
	b := brief(t, r.world, r.tasks[0], components.Harder, 7)
	p := newPalette(b)
	of := func(tags ...string) []components.Entry {
		var stack []components.Entry
		for _, tag := range tags {
			i := slices.IndexFunc(p.kinds, func(k components.Kind) bool { return k.Tag == tag })
			e, ok := p.entry(p.kinds[i], b.Rand)
			if !ok {
				t.Fatal(tag)
			}
			stack = append(stack, e)
		}
		return p.stack(stack)
	}
	for _, tt := range []struct {
		stack  []components.Entry
		most   int
		want   map[string]int // of 600 moves
		reason string
	}{
		{nil, 4, map[string]int{"grow": 600}, "of the unmodified task there is one more alone"},
		{of("obs_delay"), 1, map[string]int{"tune": 300, "swap": 300}, "no room for more, and not less than one"},
		{of("obs_delay"), 4, map[string]int{"tune": 200, "swap": 200, "grow": 200}, "not less than one"},
		{of("obs_delay", "sticky"), 4, map[string]int{"tune": 150, "swap": 150, "grow": 150, "shrink": 150}, "all four"},
		{of("obs_delay", "sticky"), 2, map[string]int{"tune": 200, "swap": 200, "shrink": 200}, "no room for more"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		before := slices.Clone(tt.stack)
		got := make(map[string]int)
		for i := range 600 {
			b.Rand = rand.New(rand.NewPCG(uint64(i), 9))
			after := p.perturb(tt.stack, tt.most, b)
			if !reflect.DeepEqual(tt.stack, before) {
				t.Fatalf("%s: the parent was changed", tt.reason)
			}
			got[move(tt.stack, after)]++
		}
		for name, n := range got {
			if math.Abs(float64(n-tt.want[name])) > 5*math.Sqrt(150) { // of fixed seeds; five deviations
				t.Errorf("%s: %s %d times of 600, want %d", tt.reason, name, n, tt.want[name])
			}
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: got moves %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// move names what happened, by the tags before and after; new parameters may be the old ones.
func move(before, after []components.Entry) string {
	a, b := slices.Sorted(slices.Values(tags(before))), slices.Sorted(slices.Values(tags(after)))
	common := 0
	for _, tag := range a {
		if slices.Contains(b, tag) {
			common++
		}
	}
	switch {
	case len(b) == len(a)+1 && common == len(a):
		return "grow"
	case len(b) == len(a)-1 && common == len(b):
		return "shrink"
	case len(b) == len(a) && common == len(a):
		return "tune"
	case len(b) == len(a) && common == len(a)-1:
		return "swap"
	}
	return fmt.Sprint(a, " to ", b)
}

func TestParent(t *testing.T) {
	attempt := func(number, pass, valid int) rigger.Attempt {
		return rigger.Attempt{
			Number: number, Screen: rigger.Tally{Pass: pass, Valid: valid},
			Candidate: rigger.Candidate{Stack: []components.Entry{{Tag: fmt.Sprint(number)}}},
		}
	}
	for _, tt := range []struct {
		baseline rigger.Tally
		attempts []rigger.Attempt
		want     string
		reason   string
	}{
		{rigger.Tally{Pass: 4, Valid: 5}, nil, "the unmodified task", "there is nothing else"},
		{rigger.Tally{Pass: 4, Valid: 5}, []rigger.Attempt{attempt(1, 5, 5)}, "the unmodified task", "0.8 is nearer than 1"},
		{rigger.Tally{Pass: 4, Valid: 5}, []rigger.Attempt{attempt(1, 1, 5)}, "the unmodified task", "0.8 and 0.2 are as near: the earlier one"},
		{rigger.Tally{Pass: 5, Valid: 5}, []rigger.Attempt{attempt(1, 1, 5), attempt(2, 4, 5), attempt(3, 0, 5)}, "attempt 1", "the earlier one"},
		{rigger.Tally{Pass: 5, Valid: 5}, []rigger.Attempt{attempt(1, 1, 5), attempt(2, 3, 5)}, "attempt 2", "0.6 is nearest"},
		{rigger.Tally{Pass: 5, Valid: 5}, []rigger.Attempt{attempt(1, 0, 0)}, "the unmodified task", "one without rollouts is nowhere"},
		{rigger.Tally{}, []rigger.Attempt{attempt(1, 0, 5)}, "attempt 1", "nor is a task that was not played"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		if _, got := parent(rigger.Brief{Baseline: rigger.Snapshot{Tally: tt.baseline}, Attempts: tt.attempts}); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.reason, got, tt.want)
		}
	}
}

func TestNearHalf(t *testing.T) {
	for _, tt := range []struct {
		n      NearHalf
		counts rigger.Tally
		place  rigger.Placement
		score  float64
		reason string
	}{
		{NearHalf{}, rigger.Tally{Pass: 2, Valid: 5}, rigger.Within, math.Exp(-0.02), "0.4 is on the bound; exp(-2 * 0.01)"},
		{NearHalf{}, rigger.Tally{Pass: 3, Valid: 5}, rigger.Within, math.Exp(-0.02), "0.6 is on the other"},
		{NearHalf{}, rigger.Tally{Pass: 1, Valid: 5}, rigger.TooHard, math.Exp(-0.18), "0.2"},
		{NearHalf{}, rigger.Tally{Pass: 4, Valid: 5}, rigger.TooEasy, math.Exp(-0.18), "0.8"},
		{NearHalf{}, rigger.Tally{Pass: 1, Valid: 2}, rigger.Within, 1, "one half"},
		{NearHalf{Tolerance: new(0.05)}, rigger.Tally{Pass: 11, Valid: 20}, rigger.Within, math.Exp(-0.005), "0.55 - 0.5 is more than 0.05 by rounding"},
		{NearHalf{}, rigger.Tally{Pass: 61, Valid: 100}, rigger.TooEasy, math.Exp(-0.0242), "0.61"},
		{NearHalf{}, rigger.Tally{}, rigger.TooHard, 0, "no rollout"},
		{NearHalf{Tolerance: new(0.0)}, rigger.Tally{Pass: 2, Valid: 5}, rigger.TooHard, math.Exp(-0.02), "one half alone"},
		{NearHalf{Tolerance: new(0.5), Beta: new(4.0)}, rigger.Tally{Pass: 0, Valid: 5}, rigger.Within, math.Exp(-1), "all; exp(-4 * 0.25)"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		m := rigger.Measure{Counts: tt.counts, Baseline: rigger.Tally{Pass: 5, Valid: 5}}
		if got := tt.n.Place(m); got != tt.place {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.place)
		}
		if got := tt.n.Score(m); math.Abs(got-tt.score) > 1e-12 {
			t.Errorf("%s: score %v, want %v", tt.reason, got, tt.score)
		}
		m.Confirmed = true
		if got := tt.n.Place(m); got != tt.place {
			t.Errorf("%s: confirmed %v, want %v", tt.reason, got, tt.place)
		}
	}
}

// Passing and failing change places when all outcomes do, and with the default tolerance the bounds are those of the paper's band.
func TestNearHalfIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		a, b := rigger.Measure{Counts: rigger.Tally{Pass: x, Valid: n}}, rigger.Measure{Counts: rigger.Tally{Pass: n - x, Valid: n}}
		var o NearHalf
		if o.Place(a) != -o.Place(b) || math.Abs(o.Score(a)-o.Score(b)) > 1e-12 {
			t.Fatalf("%v: %v %v, %v: %v %v", a.Counts, o.Place(a), o.Score(a), b.Counts, o.Place(b), o.Score(b))
		}
		if got, want := o.Place(a), (rigger.Difficulty{}).Place(a); got != want {
			t.Fatalf("%v: %v, in the band [0.4, 0.6] it is %v", a.Counts, got, want)
		}
	})
}

func TestDesignerErrors(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, tt := range []struct {
		err    error
		want   string
		reason string
	}{
		{second(Random{Components: -1}.Design(ctx, rigger.Brief{})), "baseline: Random: -1 components, want 0 to 8", "less than none"},
		{second(Random{Components: 9}.Design(ctx, rigger.Brief{})), "baseline: Random: 9 components, want 0 to 8", "more than a candidate may have"},
		{second(GenEnv{Components: 9}.Design(ctx, rigger.Brief{})), "baseline: GenEnv: 9 components, want 0 to 8", "more than a candidate may have"},
		{NearHalf{Tolerance: new(0.6)}.Check(), "baseline: NearHalf: Tolerance 0.6, want 0 to 0.5", "more than all"},
		{NearHalf{Tolerance: new(math.NaN())}.Check(), "Tolerance NaN", "not a number"},
		{NearHalf{Beta: new(0.0)}.Check(), "baseline: NearHalf: Beta 0, want a number > 0", "no reward has a peak"},
		{NearHalf{Beta: new(math.Inf(1))}.Check(), "Beta +Inf", "not finite"},
		{second(Random{}.Design(ended, rigger.Brief{})), context.Canceled.Error(), "the context has ended"},
		{second(GenEnv{}.Design(ended, rigger.Brief{})), context.Canceled.Error(), "the context has ended"},
		{second(None{}.Design(ended, rigger.Brief{})), context.Canceled.Error(), "the context has ended"},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.reason, tt.err, tt.want)
		}
	}
	if err := errors.Join(NearHalf{}.Check(), NearHalf{Tolerance: new(0.0), Beta: new(1e-9)}.Check()); err != nil {
		t.Error(err)
	}
}

func second(_ rigger.Candidate, err error) error { return err }

// Without a kind to draw there is nothing to propose.
func TestNothingToDraw(t *testing.T) {
	b := rigger.Brief{Registry: components.NewRegistry(), Direction: components.Harder}
	for _, d := range []rigger.Designer{Random{}, GenEnv{}} {
		if c, err := d.Design(ctx, b); err != nil || len(c.Stack) != 0 {
			t.Errorf("%v: got %v, %v", d, c.Stack, err)
		}
	}
}
