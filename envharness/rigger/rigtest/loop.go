package rigtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// loops repeats, after the first action, a call that is carried out and shows what was shown before: best one that reads, of the plan.
func loops(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	start := p.plan[:min(1, len(p.plan)-1)]
	v, err := l.play(ctx, start)
	if err != nil {
		return nil, nil, err
	}
	best, rank := envharness.Action{}, 4
	for _, a := range v.now().Actions {
		r := 0
		if !p.inPlan(a.Name) {
			r = 1
		}
		if !p.readOnly(a.Name) {
			r += 2
		}
		if r >= rank {
			continue
		}
		v, err := l.play(ctx, append(slices.Clone(start), a, a, a, a))
		if err != nil {
			return nil, nil, err
		}
		n := len(v.shown)
		if v.end == nil && v.last() == nil && looksEqual(v.shown[n-1], v.shown[n-2]) && looksEqual(v.shown[n-2], v.shown[n-3]) {
			best, rank = a, r
		}
	}
	if rank == 4 {
		return nil, nil, fmt.Errorf("%w: no call changes nothing", ErrNoPlace)
	}
	moves := slices.Clone(p.clean[:len(start)])
	for range p.limit {
		moves = append(moves, move{action: best, at: len(start)})
	}
	return moves, nil, nil
}

func looksEqual(a, b envharness.Observation) bool {
	x, _ := envharness.CanonicalJSON(a.Data) // JSON values by contract
	y, _ := envharness.CanonicalJSON(b.Data)
	return a.Text == b.Text && string(x) == string(y)
}
