package rigtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// Patience returns a maker of policies that waste some turns before they play the plan of the world: none with probability 1-stay, and each
// further one with probability stay, so w turns with probability (1-stay) stay^w. A wasted turn is a call that the world carries out and
// that changes nothing, else one that it refuses, else an answer that is no action. Behind a limit on turns they pass at the rate that
// [PatienceRate] gives. Each policy draws once for each wasted turn, and once more, before its first turn.
//
// Stay is from 0 to less than 1, else Patience returns an error.
func Patience(w envharness.World, stay float64) (Maker, error) {
	if !(stay >= 0 && stay < 1) {
		return nil, fmt.Errorf("rigtest: patience stays with probability %v, which is outside [0, 1)", stay)
	}
	known := newParts(w)
	var idle memo[move]
	return func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
		ctx := context.Background()
		p, err := known.of(ctx, task)
		if err != nil {
			return nil, err
		}
		waste, err := idle.of(task, func() (move, error) { return idleMove(ctx, w, p) })
		if err != nil {
			return nil, err
		}
		var moves []move
		for rng.Float64() < stay && len(moves) < wastedTurns {
			moves = append(moves, waste)
		}
		for i, a := range p.plan {
			moves = append(moves, move{action: a, at: i})
		}
		return &player{p: p, moves: moves}, nil
	}, nil
}

// wastedTurns bounds what is drawn; more turns than any limit leaves.
const wastedTurns = 1 << 16

// PatienceRate returns the rate at which policies of [Patience] pass a task with a plan of that many actions within that many turns, which
// is 1 - stay^(turns-plan+1), and 0 if the plan does not fit. It holds where nothing but the limit is in their way; the limit of the world
// itself counts too.
func PatienceRate(stay float64, plan, turns int) float64 {
	if turns < plan {
		return 0
	}
	return 1 - math.Pow(stay, float64(turns-plan+1))
}

// idleMove finds a move that can be made at the start as often as one likes, and leaves all as it is.
func idleMove(ctx context.Context, w envharness.World, p *part) (move, error) {
	l, err := openLab(ctx, w, p.task)
	if err != nil {
		return move{}, err
	}
	defer l.env.Close()
	candidates := slices.Concat(p.first.Actions, p.plan)
	for _, t := range p.about.Tools {
		if t.ReadOnly && noArguments(t) {
			candidates = append(candidates, envharness.Action{Name: t.Name})
		}
		candidates = append(candidates, envharness.Action{Name: t.Name, Args: json.RawMessage(`{}`)})
	}
	for _, refused := range []bool{false, true} {
		for _, a := range candidates {
			v, err := l.play(ctx, []envharness.Action{a, a, a})
			if err != nil {
				return move{}, err
			}
			if v.end != nil || (v.last() != nil) != refused || v.now().Text != p.first.Text && !refused {
				continue
			}
			rest, err := l.plan(ctx)
			if err == nil && slices.EqualFunc(rest, p.plan, same) {
				return move{action: a}, nil
			}
		}
	}
	return move{do: garble}, nil
}
