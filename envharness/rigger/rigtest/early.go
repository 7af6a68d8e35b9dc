package rigtest

import (
	"context"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// stopsEarly submits what the plan does before anything was written, if that can be done with values that were shown; else it stops.
func stopsEarly(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	submit := p.plan[len(p.plan)-1]
	if p.submits() {
		reads := slices.IndexFunc(p.plan, func(a envharness.Action) bool { return !p.readOnly(a.Name) })
		reads = min(reads, p.limit/2-1)
		early := append(slices.Clone(p.plan[:reads]), submit)
		v, err := l.play(ctx, early)
		if err != nil {
			return nil, nil, err
		}
		if v.end != nil && v.last() == nil && len(v.refused) == len(early) && grounded(v.shown, early) {
			return append(slices.Clone(p.clean[:reads]), move{action: submit, at: reads}), nil, nil
		}
	}
	n := min(1, len(p.plan)-1)
	return append(slices.Clone(p.clean[:n]), move{do: stop, at: n}), nil, nil
}
