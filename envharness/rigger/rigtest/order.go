package rigtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// swaps does two actions of the plan in the other order, which a rule forbids.
func swaps(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	for i := range p.plan {
		for j := i + 1; j < len(p.plan); j++ {
			a, b := p.plan[i], p.plan[j]
			if len(a.Args) == 0 || len(b.Args) == 0 || occurrences(p.plan, a) > 1 || occurrences(p.plan, b) > 1 {
				continue
			}
			way := slices.Concat(p.plan[:i], []envharness.Action{b}, p.plan[i:j], p.plan[j+1:])
			v, err := l.play(ctx, way)
			if err != nil {
				return nil, nil, err
			}
			refused := slices.ContainsFunc(v.refused, func(e *envharness.ActionError) bool { return e != nil })
			if refused || v.end == nil || len(v.refused) < len(way) || !grounded(v.shown, way) || p.submitting(b.Name) && p.submits() && j == len(p.plan)-1 {
				continue
			}
			before, err := match(a)
			if err != nil {
				return nil, nil, err
			}
			after, err := match(b)
			if err != nil {
				return nil, nil, err
			}
			return elsewhere(p.finished(way)), []components.Edge{{Before: before, After: after}}, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: no two actions can be swapped", ErrNoPlace)
}

func occurrences(plan []envharness.Action, a envharness.Action) int {
	n := 0
	for _, b := range plan {
		if same(a, b) {
			n++
		}
	}
	return n
}

func match(a envharness.Action) (components.Match, error) {
	m := components.Match{Tool: a.Name}
	err := json.Unmarshal(a.Args, &m.Args)
	return m, err
}
