package rigtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness/components"
)

// writesTwice makes a write a second time at once, where the world lets it.
func writesTwice(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	if !p.reads() {
		return nil, nil, fmt.Errorf("%w: the plan does not tell writes from reads", ErrNoPlace)
	}
	for k, a := range p.plan {
		if p.readOnly(a.Name) || p.submitting(a.Name) {
			continue
		}
		v, err := l.play(ctx, append(slices.Clone(p.plan[:k+1]), a))
		if err != nil {
			return nil, nil, err
		}
		if v.end == nil && len(v.refused) == k+2 && v.last() == nil {
			return inserted(p.clean, k, move{action: a}), nil, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: no write is accepted twice", ErrNoPlace)
}
