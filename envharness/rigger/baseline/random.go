package baseline

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// maxComponents is how many components a candidate may have at all; see [rigger.Options].
const maxComponents = 8

// Random is a designer that draws components, each as [RandomEntry] does and no tag twice. It looks neither at what the policy did wrong
// nor at what became of the candidates before. With [rigger.Unchecked] that is domain randomisation.
type Random struct {
	// Components in a candidate, at most 8; fewer if there are not so many kinds to draw. Zero means 1.
	Components int
}

// Design implements [rigger.Designer]. A candidate without components says that nothing can be drawn. A nil b.Rand has a fixed seed.
func (d Random) Design(ctx context.Context, b rigger.Brief) (rigger.Candidate, error) {
	c := rigger.Candidate{Direction: b.Direction, Rationale: "drawn at random"}
	if err := ctx.Err(); err != nil {
		return c, err
	}
	if d.Components < 0 || d.Components > maxComponents {
		return c, fmt.Errorf("baseline: Random: %d components, want 0 to %d", d.Components, maxComponents)
	}
	b = withDefaults(b)
	p := newPalette(b)
	for range cmp.Or(d.Components, 1) {
		e, ok := p.another(c.Stack, b.Rand)
		if !ok {
			break
		}
		c.Stack = p.stack(append(c.Stack, e))
	}
	return c, nil
}

// String names the designer.
func (d Random) String() string { return fmt.Sprintf("random, %d at once", cmp.Or(d.Components, 1)) }

// another draws an entry of a kind that can be added to the stack. It reports false if there is none.
func (p palette) another(stack []components.Entry, rng *rand.Rand) (components.Entry, bool) {
	kinds := slices.DeleteFunc(slices.Clone(p.kinds), func(k components.Kind) bool {
		return slices.ContainsFunc(stack, func(e components.Entry) bool { return e.Tag == k.Tag || apart(e.Tag, k.Tag) })
	})
	if len(kinds) == 0 {
		return components.Entry{}, false
	}
	return p.entry(kinds[rng.IntN(len(kinds))], rng)
}

// apart reports whether two tags are not to be in one stack: a cap on calls stands outside of new names and would look for the old ones.
func apart(a, b string) bool {
	return a == "rename" && b == "call_cap" || a == "call_cap" && b == "rename"
}

// stack orders entries as [envharness.New] asks for. What changes names and arguments stands outside of what looks for them.
func (p palette) stack(entries []components.Entry) []components.Entry {
	place := func(e components.Entry) int {
		switch e.Tag {
		case "schema_drift":
			return 2
		case "rename":
			return 3
		}
		i := slices.IndexFunc(p.kinds, func(k components.Kind) bool { return k.Tag == e.Tag })
		switch {
		case i >= 0 && p.kinds[i].Axis == envharness.AxisStart:
			return 0
		case i >= 0 && p.kinds[i].Axis == envharness.AxisBudget:
			return 4
		}
		return 1
	}
	slices.SortStableFunc(entries, func(a, b components.Entry) int { return cmp.Compare(place(a), place(b)) })
	return entries
}
