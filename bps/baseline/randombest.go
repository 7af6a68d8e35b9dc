package baseline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

const defaultDraws = 100

// RandomBest shuffles the candidates that fit, fills the budget in that order, and does so draws times; 0 means 100. It returns the
// set with the largest objective, with the ties of [bps.Select]. A nil generator means one with a fixed seed, made anew for each call.
// Nothing is proven about it.
//
// Errors are those of [DensityGreedy], and another for negative draws.
func RandomBest(ctx context.Context, p bps.Problem, draws int, rng *rand.Rand) (*Result, error) {
	if draws < 0 {
		return nil, fmt.Errorf("baseline: RandomBest: %d draws, want >= 0", draws)
	}
	if draws == 0 {
		draws = defaultDraws
	}
	if rng == nil {
		rng = rand.New(rand.NewPCG(1, 2))
	}
	r, err := newRun("RandomBest", p)
	if err != nil {
		return nil, err
	}
	var best *Result
	order := make([]int, len(r.open))
	for range draws {
		if err := r.alive(ctx); err != nil {
			return nil, err
		}
		copy(order, r.open)
		rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		draw := *r
		draw.chosen = slices.Clip(r.chosen)
		draw.fill(order, 0)
		res, err := draw.result(draw.chosen)
		if err != nil {
			return nil, err
		}
		if best == nil || r.better(res, best) {
			best = res
		}
	}
	return best, nil
}
