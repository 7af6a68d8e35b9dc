package baseline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// GenEnv is a designer in the manner of GenEnv (arXiv:2512.19682): of the unmodified task and the candidates before it takes the one with
// the largest reward, which is that of [NearHalf], the earliest of equal ones, and perturbs it. One of these is drawn, all that are
// possible being equally likely: new parameters for one of its components, another one in place of one, one more, one less.
//
// In GenEnv a language model writes tasks, and is trained by regression weighted with that reward; here random changes and selection are in
// its place (ours), so that what is compared is the aim, not the writer. Use it with NearHalf and the preset [rigger.Paper].
type GenEnv struct {
	// Components is how many a candidate may have, at most 8; zero means 4.
	Components int
}

// Design implements [rigger.Designer]. A candidate without components says that nothing can be drawn. A nil b.Rand has a fixed seed.
func (d GenEnv) Design(ctx context.Context, b rigger.Brief) (rigger.Candidate, error) {
	c := rigger.Candidate{Direction: b.Direction}
	if err := ctx.Err(); err != nil {
		return c, err
	}
	if d.Components < 0 || d.Components > maxComponents {
		return c, fmt.Errorf("baseline: GenEnv: %d components, want 0 to %d", d.Components, maxComponents)
	}
	b = withDefaults(b)
	p := newPalette(b)
	best, from := parent(b)
	c.Stack, c.Rationale = p.perturb(best, cmp.Or(d.Components, 4), b), "perturbs "+from
	return c, nil
}

// String names the designer.
func (d GenEnv) String() string {
	return fmt.Sprintf("perturbs the best, up to %d", cmp.Or(d.Components, 4))
}

// parent returns the stack that is nearest to one half.
func parent(b rigger.Brief) ([]components.Entry, string) {
	var stack []components.Entry
	from, best := "the unmodified task", distance(b.Baseline.Tally)
	for _, a := range b.Attempts {
		if d := distance(a.Screen); d < best {
			stack, from, best = a.Candidate.Stack, fmt.Sprintf("attempt %d", a.Number), d
		}
	}
	return stack, from
}

// distance of a success rate from one half; more than any rate has without a rollout.
func distance(t rigger.Tally) float64 {
	if t.Valid < 1 {
		return 1
	}
	return math.Abs(float64(2*t.Pass-t.Valid)) / float64(2*t.Valid) // equal for rates that are equally near
}

// perturb returns a changed copy of the stack.
func (p palette) perturb(stack []components.Entry, most int, b rigger.Brief) []components.Entry {
	const (
		tune = iota
		swap
		grow
		shrink
	)
	_, more := p.another(stack, withDefaults(rigger.Brief{Registry: b.Registry}).Rand) // drawn only to see whether there is one
	var moves []int
	if len(stack) > 0 {
		moves = append(moves, tune)
	}
	if len(stack) > 0 && more {
		moves = append(moves, swap)
	}
	if len(stack) < most && more {
		moves = append(moves, grow)
	}
	if len(stack) > 1 {
		moves = append(moves, shrink)
	}
	if len(moves) == 0 {
		return nil
	}
	out := slices.Clone(stack)
	move, at := pick(moves, b.Rand), 0
	if len(out) > 0 {
		at = b.Rand.IntN(len(out))
	}
	switch move {
	case tune:
		i := slices.IndexFunc(p.kinds, func(k components.Kind) bool { return k.Tag == out[at].Tag })
		if i < 0 {
			return out
		}
		if e, ok := p.entry(p.kinds[i], b.Rand); ok {
			out[at] = e
		}
	case swap:
		if e, ok := p.another(out, b.Rand); ok {
			out[at] = e
		}
	case grow:
		if e, ok := p.another(out, b.Rand); ok {
			out = append(out, e)
		}
	case shrink:
		out = slices.Delete(out, at, at+1)
	}
	return p.stack(out)
}
