package rltest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/rl"
)

// Two numbers are the same if they differ by this share of the largest number in either credit, or of 1.
const (
	rounding  = 1e-12 // sums in another order
	shiftedBy = 1e-9  // differences of numbers that are larger by a few powers of ten
)

// A view is a credit of a batch that has the right shape.
type view struct {
	c     *rl.Credit
	first []int   // per turn, its first trainable token, and one entry more; nil where there is no number per token
	scale float64 // largest magnitude of a number, or 1
}

// estimate calls e for a copy of batch, so that an estimator that changes its input breaks the law about that alone.
func estimate(e rl.Estimator, dst *rl.Credit, batch []rl.Trajectory) (*view, error) {
	c, err := e(dst, clone(batch))
	if err != nil {
		return nil, fmt.Errorf("an error for a valid batch: %w", err)
	}
	return look(c, batch)
}

// look returns a view of c, or an error if its shape is not that of batch.
func look(c *rl.Credit, batch []rl.Trajectory) (*view, error) {
	if c == nil {
		return nil, errors.New("the credit is nil and so is the error")
	}
	if !c.Fits(batch) {
		return nil, fmt.Errorf("lengths %d, %d and %d of Start, Advantage and Vote do not fit the batch of %d trajectories",
			len(c.Start), len(c.Advantage), len(c.Vote), len(batch))
	}
	v := &view{c: c, scale: 1}
	turns, tokens := len(c.Advantage), 0
	if c.TokenAdvantage != nil || c.TokenTarget != nil {
		v.first = make([]int, 0, turns+1)
		for i := range batch {
			for k := range batch[i].Turns {
				v.first = append(v.first, tokens)
				for j := range batch[i].Turns[k].Tokens {
					if batch[i].Turns[k].Tokens[j].Trainable {
						tokens++
					}
				}
			}
		}
		v.first = append(v.first, tokens)
	}
	for _, s := range [...]struct {
		field string
		n     int
		ok    bool
		want  int
	}{
		{"NoVote", len(c.NoVote), false, len(batch)},
		{"Flat", len(c.Flat), c.Flat == nil, len(batch)},
		{"ValueTarget", len(c.ValueTarget), c.ValueTarget == nil, turns},
		{"QTarget", len(c.QTarget), c.QTarget == nil, turns},
		{"TokenAdvantage", len(c.TokenAdvantage), c.TokenAdvantage == nil, tokens},
		{"TokenTarget", len(c.TokenTarget), c.TokenTarget == nil, tokens},
	} {
		if !s.ok && s.n != s.want {
			return nil, fmt.Errorf("%s has %d elements, want %d", s.field, s.n, s.want)
		}
	}
	for _, x := range numbers(c) {
		for _, a := range x.of {
			if a = math.Abs(a); a > v.scale && !math.IsInf(a, 0) {
				v.scale = a
			}
		}
	}
	return v, nil
}

// snapshot returns v with memory of its own.
func (v *view) snapshot() *view {
	c := *v.c
	c.Start, c.Vote, c.NoVote, c.Flat = slices.Clone(c.Start), slices.Clone(c.Vote), slices.Clone(c.NoVote), slices.Clone(c.Flat)
	for _, x := range [...]*[]float64{&c.Advantage, &c.ValueTarget, &c.QTarget, &c.TokenAdvantage, &c.TokenTarget} {
		*x = slices.Clone(*x)
	}
	return &view{&c, v.first, v.scale}
}

// parts is a set of the numbers of a credit.
type parts uint8

const (
	advantages parts = 1 << iota // of turns
	tokens                       // advantages of tokens
	targets                      // of turns
	tokenTargets
	counts     // of groups
	everything = advantages | tokens | targets | tokenTargets | counts
)

type named struct {
	field string
	part  parts
	of    []float64
}

func numbers(c *rl.Credit) [5]named {
	return [...]named{
		{"Advantage", advantages, c.Advantage},
		{"ValueTarget", targets, c.ValueTarget},
		{"QTarget", targets, c.QTarget},
		{"TokenAdvantage", tokens, c.TokenAdvantage},
		{"TokenTarget", tokenTargets, c.TokenTarget},
	}
}

// same reports that numbers agree within a tolerance; what is not finite, another law reports.
func same(x, y, tolerance float64) bool {
	return x == y || math.Abs(x-y) <= tolerance || x != x && y != y
}

// compare returns an error that says where trajectory i of v and trajectory j of w, with the same turns, differ.
func (v *view) compare(i int, w *view, j int, which parts, relative float64) error {
	tolerance := relative * max(v.scale, w.scale)
	if a, b := v.c.NoVote[i], w.c.NoVote[j]; (a == "") != (b == "") {
		return fmt.Errorf("trajectory %d has NoVote %q, and then %q", i, a, b)
	}
	from, to, turns := v.c.Start[i], w.c.Start[j], v.c.Start[i+1]-v.c.Start[i]
	for k := range turns {
		if a, b := v.c.Vote[from+k], w.c.Vote[to+k]; a != b {
			return fmt.Errorf("turn %d of trajectory %d has Vote %v, and then %v", k, i, a, b)
		}
	}
	others := numbers(w.c)
	for n, x := range numbers(v.c) {
		y := others[n]
		if x.part&which == 0 {
			continue
		}
		if (x.of == nil) != (y.of == nil) {
			return fmt.Errorf("%s is nil: %v, and then %v", x.field, x.of == nil, y.of == nil)
		}
		if x.of == nil {
			continue
		}
		if x.part&(tokens|tokenTargets) == 0 {
			for k := range turns {
				if a, b := x.of[from+k], y.of[to+k]; !same(a, b, tolerance) {
					return fmt.Errorf("turn %d of trajectory %d has %s %v, and then %v", k, i, x.field, a, b)
				}
			}
			continue
		}
		at := w.first[to]
		for k := range turns {
			for l := v.first[from+k]; l < v.first[from+k+1]; l++ {
				if a, b := x.of[l], y.of[at]; !same(a, b, tolerance) {
					return fmt.Errorf("trainable token %d in turn %d of trajectory %d has %s %v, and then %v",
						l-v.first[from+k], k, i, x.field, a, b)
				}
				at++
			}
		}
	}
	return nil
}

// compareCounts returns an error if the groups were counted differently.
func (v *view) compareCounts(w *view) error {
	a := [...]int{v.c.Groups, v.c.ZeroVariance, v.c.Singletons}
	b := [...]int{w.c.Groups, w.c.ZeroVariance, w.c.Singletons}
	if a != b {
		return fmt.Errorf("counts Groups, ZeroVariance and Singletons are %v, and then %v", a, b)
	}
	return nil
}

// identical returns an error unless two credits have the same bits.
func identical(a, b *rl.Credit) error {
	others := numbers(b)
	for n, x := range numbers(a) {
		y := others[n]
		if len(x.of) != len(y.of) {
			return fmt.Errorf("%s has %d elements, and then %d", x.field, len(x.of), len(y.of))
		}
		for k, p := range x.of {
			if q := y.of[k]; math.Float64bits(p) != math.Float64bits(q) && !(p != p && q != q) {
				return fmt.Errorf("%s[%d] is %v, and then %v", x.field, k, p, q)
			}
		}
	}
	switch {
	case !slices.Equal(a.Start, b.Start):
		return fmt.Errorf("slice Start is %v, and then %v", a.Start, b.Start)
	case !slices.Equal(a.Vote, b.Vote):
		return fmt.Errorf("slice Vote is %v, and then %v", a.Vote, b.Vote)
	case !slices.Equal(a.NoVote, b.NoVote):
		return fmt.Errorf("slice NoVote is %q, and then %q", a.NoVote, b.NoVote)
	case !slices.Equal(a.Flat, b.Flat):
		return fmt.Errorf("slice Flat is %v, and then %v", a.Flat, b.Flat)
	}
	return (&view{c: a}).compareCounts(&view{c: b})
}

// unchanged returns an error that names the first difference between two batches. Numbers are compared by their bits.
func unchanged(got, want []rl.Trajectory) error {
	for i := range want {
		g, w := &got[i], &want[i]
		switch {
		case g.ID != w.ID, g.Group != w.Group, g.Task != w.Task, g.Split != w.Split, g.FinalState != w.FinalState,
			g.Excluded != w.Excluded, !equal(g.FinalValue, w.FinalValue, bits), !equal(g.Success, w.Success, is), len(g.Turns) != len(w.Turns):
			return fmt.Errorf("trajectory %d changed", i)
		}
		for k := range w.Turns {
			g, w := &g.Turns[k], &w.Turns[k]
			switch {
			case g.State != w.State, !bits(g.Reward, w.Reward), !bits(g.Value, w.Value), !bits(g.QValue, w.QValue), g.End != w.End,
				g.Invalid != w.Invalid, g.Excluded != w.Excluded, len(g.Tokens) != len(w.Tokens):
				return fmt.Errorf("turn %d of trajectory %d changed", k, i)
			}
			for j := range w.Tokens {
				g, w := &g.Tokens[j], &w.Tokens[j]
				if g.ID != w.ID || g.Trainable != w.Trainable || !bits(g.LogProb, w.LogProb) || !bits(g.RefLogProb, w.RefLogProb) ||
					!bits(g.Value, w.Value) {
					return fmt.Errorf("token %d in turn %d of trajectory %d changed", j, k, i)
				}
			}
		}
	}
	return nil
}

func bits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
func is(a, b bool) bool      { return a == b }

func equal[T any](a, b *T, same func(a, b T) bool) bool {
	return a == b || a != nil && b != nil && same(*a, *b)
}
