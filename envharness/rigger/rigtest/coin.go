package rigtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// Coin returns a maker of policies that play as those of [Clean] do with probability p, and else look about in different places for more
// than half of the limit on turns, and give up: a failure that is none of the flaws of package diagnosis. In a task without that many places
// they also play the plan, and give up before its last action, which may be early where that is too short. They pass at the rate p, behind
// whatever the clean ones pass behind. Each policy draws once.
//
// P is in [0, 1], else Coin returns an error.
func Coin(w envharness.World, p float64) (Maker, error) {
	if !(p >= 0 && p <= 1) {
		return nil, fmt.Errorf("rigtest: coin plays the plan with probability %v, which is outside [0, 1]", p)
	}
	known := newParts(w)
	var lost memo[[]move]
	return func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		q, err := known.of(context.Background(), task)
		if err != nil {
			return nil, err
		}
		moves, err := lost.of(task, func() ([]move, error) { return losing(context.Background(), w, q) })
		switch {
		case err != nil:
			return nil, err
		case rng.Float64() < p:
			moves = q.clean
		}
		return &player{p: q, moves: moves}, nil
	}, nil
}

// losing makes moves that end in giving up.
func losing(ctx context.Context, w envharness.World, p *part) ([]move, error) {
	l, err := openLab(ctx, w, p.task)
	if err != nil {
		return nil, err
	}
	defer l.env.Close()
	n := p.limit/2 + 1
	var moves []move
	for _, wide := range []bool{false, true} {
		if moves, err = wander(ctx, l, p, n, wide); err == nil {
			return append(moves, move{do: stop, at: -1}), nil
		}
		if !errors.Is(err, ErrNoPlace) {
			return nil, err
		}
	}
	// There are too few places: what is left of the plan makes it long enough, if anything does.
	var way []envharness.Action
	for _, m := range moves {
		way = append(way, m.action)
	}
	if _, err := l.play(ctx, way); err != nil {
		return nil, err
	}
	if rest, err := l.plan(ctx); err == nil {
		whole := p.finished(append(way, rest...))
		if len(whole) > n && len(whole) <= p.limit {
			moves = elsewhere(whole)
			moves[len(moves)-1].do = stop
			return moves, nil
		}
	}
	moves = slices.Clone(p.clean)
	moves[len(moves)-1].do = stop
	return moves, nil
}
