package game24

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// brute tries all expressions over math/big fractions, in another way than the solver: it splits the numbers into two groups, and
// combines everything that one group makes with everything that the other does.
type brute struct {
	made map[string][]*big.Rat // what all returned, by the sorted numbers
	hit  map[string]bool       // what hits returned
}

func key(numbers []*big.Rat) string {
	k := make([]string, len(numbers))
	for i, v := range numbers {
		k[i] = v.RatString()
	}
	slices.Sort(k)
	return strings.Join(k, ",")
}

// all returns the distinct values that use each of the numbers once.
func (b *brute) all(numbers []*big.Rat) []*big.Rat {
	if len(numbers) == 1 {
		return numbers
	}
	id := key(numbers)
	if v, ok := b.made[id]; ok {
		return v
	}
	found := map[string]*big.Rat{}
	for mask := 1; mask < 1<<len(numbers)-1; mask++ {
		for _, x := range b.all(some(numbers, mask)) {
			for _, y := range b.all(some(numbers, ^mask)) {
				results := []*big.Rat{new(big.Rat).Add(x, y), new(big.Rat).Sub(x, y), new(big.Rat).Mul(x, y)}
				if y.Sign() != 0 {
					results = append(results, new(big.Rat).Quo(x, y))
				}
				for _, r := range results {
					found[r.RatString()] = r
				}
			}
		}
	}
	var out []*big.Rat
	for _, r := range found {
		out = append(out, r)
	}
	b.made[id] = out
	return out
}

func (h hand) big() []*big.Rat {
	var out []*big.Rat
	for _, v := range h.v[:h.n] {
		out = append(out, big.NewRat(v.num, v.den))
	}
	return out
}

// hits reports whether the target is among the values that use each of the numbers once, without listing them all.
func (b *brute) hits(numbers []*big.Rat) bool {
	goal, z := big.NewRat(target, 1), new(big.Rat)
	if len(numbers) == 1 {
		return numbers[0].Cmp(goal) == 0
	}
	id := key(numbers)
	if hit, ok := b.hit[id]; ok {
		return hit
	}
	b.hit[id] = false
	for mask := 1; mask < 1<<len(numbers)-1; mask++ {
		right := b.all(some(numbers, ^mask))
		for _, x := range b.all(some(numbers, mask)) {
			for _, y := range right {
				if z.Add(x, y).Cmp(goal) == 0 || z.Sub(x, y).Cmp(goal) == 0 || z.Mul(x, y).Cmp(goal) == 0 ||
					y.Sign() != 0 && z.Quo(x, y).Cmp(goal) == 0 {
					b.hit[id] = true
					return true
				}
			}
		}
	}
	return false
}

// makes reports whether the target can be made of all numbers or, if loose, of some of them.
func (b *brute) makes(numbers []*big.Rat, loose bool) bool {
	if !loose {
		return b.hits(numbers)
	}
	for mask := 1; mask < 1<<len(numbers); mask++ {
		if b.hits(some(numbers, mask)) {
			return true
		}
	}
	return false
}

// some returns the numbers whose bit is set.
func some(numbers []*big.Rat, mask int) []*big.Rat {
	var out []*big.Rat
	for i, v := range numbers {
		if mask>>i&1 == 1 {
			out = append(out, v)
		}
	}
	return out
}

// On all 1,820 hands the solver agrees with brute force, strict and loose, with the counts of the specification; a plan passes the
// verifier, and without one there is ErrNoPlan.
func TestSolverAgreesWithBruteForce(t *testing.T) {
	b := &brute{made: map[string][]*big.Rat{}, hit: map[string]bool{}}
	for _, loose := range []bool{false, true} {
		solved, restarts := 0, 0
		for h := range allHands {
			r := record(t, &Options{LooseStop: loose}, h.taskID())
			plan, err := r.g.Plan(ctx)
			if want := b.makes(h.big(), loose); want != (err == nil) || !want && !errors.Is(err, envharness.ErrNoPlan) {
				t.Fatalf("%s, loose %v: brute force says %v, plan %v, error %v", h.taskID(), loose, want, plan, err)
			}
			if err != nil {
				continue
			}
			solved++
			if !loose && len(plan) != 4 {
				t.Errorf("%s: %d calls", h.taskID(), len(plan))
			}
			if last := r.play(t, plan...); last.Reward != 1 || r.verdict(t).Status != envharness.Pass {
				t.Errorf("%s, loose %v: %v does not pass: %+v", h.taskID(), loose, plan, r.verdict(t))
			}
			// Away from the path the rest of it, or a restart.
			r = record(t, &Options{LooseStop: loose}, h.taskID())
			r.play(t, call("0 3 sub"))
			plan, err = r.g.Plan(ctx)
			if err != nil {
				t.Fatalf("%s: %v", h.taskID(), err)
			}
			dead := !b.makes(r.g.episode.numbers.big(), loose)
			if dead != (plan[0].Name == restartTool) {
				t.Errorf("%s after 0 3 sub: dead %v, plan %v", h.taskID(), dead, plan)
			}
			if dead {
				restarts++
			}
			if r.play(t, plan...); r.verdict(t).Status != envharness.Pass {
				t.Errorf("%s after 0 3 sub: %v does not pass", h.taskID(), plan)
			}
		}
		if want := map[bool]int{false: 1362, true: 1564}[loose]; solved != want {
			t.Errorf("loose %v: %d hands have a plan, want %d", loose, solved, want)
		}
		if restarts == 0 || restarts == solved {
			t.Errorf("loose %v: %d of %d plans restart", loose, restarts, solved)
		}
	}
}

func TestPlans(t *testing.T) {
	block := blockOp("div", "division disabled")
	tests := []struct {
		id     string
		played []string
		want   []string // nil for ErrNoPlan
		reason string
	}{
		{"3,3,8,8", nil, []string{"2 0 div", "0 2 sub", "0 1 div", "stop"}, "worked example 2: 8/3, 1/3, 24"},
		{"1,5,5,5", nil, []string{"0 1 div", "0 2 sub", "0 1 mul", "stop"}, "worked example 2: (5-1/5)*5"},
		{"4,4,6,6", nil, nil, "worked example 2: the reference lists it as easy"},
		{"1,1,1,1", nil, nil, "at most 4"},
		{"6,6,6,6", nil, []string{"0 1 add", "0 1 add", "0 1 add", "stop"}, "add comes first"},
		{"1,2,3,4", []string{"0 1 mul", "0 2 mul"}, []string{"0 1 mul", "stop"}, "4 and 6: what is left"},
		{"1,2,3,4", []string{"0 1 mul", "0 2 mul", "0 1 mul"}, []string{"stop"}, "24 is made"},
		{"3,3,8,8", []string{"0 1 add"}, []string{"restart", "2 0 div", "0 2 sub", "0 1 div", "stop"}, "no way from 8, 8, 6"},
		{"4,4,6,6", []string{"0 1 add", "0 1 add"}, nil, "a restart does not help"},
		{"1,2,3,4", slices.Repeat([]string{"restart"}, 8), []string{"0 1 add", "0 2 add", "0 1 mul", "stop"}, "four turns are left: (3+(1+2))*4"},
		{"1,2,3,4", slices.Repeat([]string{"restart"}, 9), nil, "three turns are too few"},
	}
	for _, tt := range tests {
		r := record(t, nil, tt.id)
		r.play(t, calls(tt.played...)...)
		before := state(t, r.g)
		got, err := r.g.Plan(ctx)
		if tt.want == nil && !errors.Is(err, envharness.ErrNoPlan) || tt.want != nil && err != nil {
			t.Errorf("%s after %v: error %v (%s)", tt.id, tt.played, err, tt.reason)
		}
		if d := cmp.Diff(calls(tt.want...), got); d != "" {
			t.Errorf("%s after %v (%s, -want +got):\n%s", tt.id, tt.played, tt.reason, d)
		}
		if state(t, r.g) != before {
			t.Errorf("%s: planning changed the state", tt.id)
		}
	}

	// Worked example 2: without division some hands lose all solutions. The oracle plans for the bare game, so what passes through
	// the block is searched for here.
	for id, want := range map[string]bool{"3,3,8,8": false, "1,5,5,5": false, "6,7,8,9": false, "6,6,6,6": true, "2,4,4,8": true} {
		h, err := envharness.New(World(nil), block)
		if err != nil {
			t.Fatal(err)
		}
		passed := false
		for _, plan := range plansWithout(div, id) {
			if _, err := h.Reset(ctx, envharness.ResetOptions{Task: id}); err != nil {
				t.Fatal(err)
			}
			for _, m := range plan {
				if _, err := h.Step(ctx, m.action()); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := h.Step(ctx, call("stop")); err != nil {
				t.Fatal(err)
			}
			v, err := h.Verdict(ctx)
			passed = passed || err == nil && v.Status == envharness.Pass
		}
		if passed != want {
			t.Errorf("%s without division: passed %v, want %v", id, passed, want)
		}
	}
}

// plansWithout lists the paths of three moves without an operator that end in the target.
func plansWithout(op operator, id string) [][]move {
	start, err := deal(id)
	if err != nil {
		panic(err)
	}
	var out [][]move
	var walk func(h hand, path []move)
	walk = func(h hand, path []move) {
		if h.n == 1 {
			if h.won(false) {
				out = append(out, slices.Clone(path))
			}
			return
		}
		for i := range h.n {
			for j := range h.n {
				for o := add; i != j && o <= div; o++ {
					if r, ok := o.apply(h.v[i], h.v[j]); ok && o != op {
						walk(h.combine(i, j, r), append(path, move{i, j, o}))
					}
				}
			}
		}
	}
	walk(start, nil)
	return out
}

// The plan of a fresh hand is the first solution in the stated order, without any shortcut of the solver.
func TestPlanIsTheFirst(t *testing.T) {
	hands := slices.Collect(allHands)
	rapid.Check(t, func(rt *rapid.T) {
		h := rapid.SampledFrom(hands).Draw(rt, "hand")
		all := plansWithout(div+1, h.taskID())
		var s solver
		got, ok := s.solve(h)
		if ok != (len(all) > 0) {
			rt.Fatalf("%s: %d plans, solved %v", h.taskID(), len(all), ok)
		}
		if ok && !slices.Equal(got, all[0]) {
			rt.Errorf("%s: %v, want %v", h.taskID(), got, all[0])
		}
	})
}

// Loose plans are the shortest: no shorter sequence of calls ends with a pass.
func TestLoosePlanIsShortest(t *testing.T) {
	for _, tt := range []struct {
		id     string
		want   int
		reason string
	}{
		{"4,6,11,13", 2, "4*6, stop"},
		{"11,11,12,12", 2, "12+12, stop"},
		{"1,1,1,8", 4, "8*(1+1+1)"},
		{"1,1,4,5", 3, "(1+5)*4 and a 1 left"},
	} {
		g := open(&Options{LooseStop: true})
		reset(t, g, tt.id)
		plan, err := g.Plan(ctx)
		if err != nil || len(plan) != tt.want {
			t.Errorf("%s: %v, %v, want %d calls (%s)", tt.id, plan, err, tt.want, tt.reason)
		}
	}
}

// The operations agree with math/big on all fractions that a hand can lead to.
func TestArithmetic(t *testing.T) {
	hands := slices.Collect(allHands)
	rapid.Check(t, func(rt *rapid.T) {
		h := rapid.SampledFrom(hands).Draw(rt, "hand")
		for h.n > 1 {
			i := rapid.IntRange(0, h.n-1).Draw(rt, "i")
			j := (i + rapid.IntRange(1, h.n-1).Draw(rt, "j")) % h.n
			op := operator(rapid.IntRange(0, 3).Draw(rt, "op"))
			a, b := h.v[i], h.v[j]
			r, ok := op.apply(a, b)
			if ok != (op != div || b.num != 0) {
				rt.Fatalf("%v %v %v: ok %v", a, op, b, ok)
			}
			if !ok {
				return
			}
			x, y := big.NewRat(a.num, a.den), big.NewRat(b.num, b.den)
			want := map[operator]func(x, y *big.Rat) *big.Rat{
				add: new(big.Rat).Add, sub: new(big.Rat).Sub, mul: new(big.Rat).Mul, div: new(big.Rat).Quo,
			}[op](x, y)
			if r.String() != want.RatString() || r != reduced(r.num, r.den) {
				rt.Fatalf("%v %v %v = %v, want %v", a, op, b, r, want.RatString())
			}
			if a.less(b) != (x.Cmp(y) < 0) {
				rt.Fatalf("%v less than %v: %v", a, b, a.less(b))
			}
			h = h.combine(i, j, r)
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	for _, bm := range []struct{ name, id string }{{"easy", "6,6,6,6"}, {"hard", "3,3,8,8"}, {"none", "8,10,11,13"}, {"equal", "1,1,1,1"}} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			g := open(nil)
			reset(b, g, bm.id)
			for b.Loop() {
				g.Plan(ctx)
			}
		})
	}
}
