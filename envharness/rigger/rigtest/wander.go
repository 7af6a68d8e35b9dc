package rigtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// detours takes calls that lengthen the way until it is more than one and a half times as long as the plan.
func detours(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	var way []envharness.Action
	total := len(p.clean)
	var moves []move
	for !p.long(total) {
		v, err := l.play(ctx, way)
		if err != nil {
			return nil, nil, err
		}
		best := -1 // least cost: of calls that occur twice, and of a tool that the plan does not have
		if len(way) == p.limit {
			break
		}
		var next []move
		var step envharness.Action
		for _, a := range v.now().Actions {
			if !p.inPlan(a.Name) && !p.readOnly(a.Name) || slices.ContainsFunc(way, func(b envharness.Action) bool { return same(a, b) }) {
				continue
			}
			tried := append(slices.Clone(way), a)
			v, err := l.play(ctx, tried)
			if err != nil {
				return nil, nil, err
			}
			if v.end != nil || v.last() != nil {
				continue
			}
			rest, err := l.plan(ctx)
			if err != nil {
				continue // there is no way back
			}
			whole := p.finished(append(tried, rest...))
			if len(whole) < total || len(whole) > p.limit {
				continue
			}
			cost := 2 * repeats(whole)
			if len(whole) == total {
				cost += 2 * p.limit // no detour, but one may begin there
			}
			if !p.inPlan(a.Name) {
				cost++
			}
			if best < 0 || cost < best {
				best, next, step = cost, whole, a
			}
		}
		if best < 0 {
			return nil, nil, fmt.Errorf("%w: no way is long enough", ErrNoPlace)
		}
		way, moves, total = append(way, step), next, len(next)
	}
	if !p.long(total) {
		return nil, nil, fmt.Errorf("%w: no way is long enough", ErrNoPlace)
	}
	return elsewhere(moves), nil, nil
}

// repeats counts the moves that were made before.
func repeats(moves []move) int {
	n := 0
	for i, m := range moves {
		if slices.ContainsFunc(moves[:i], func(b move) bool { return same(m.action, b.action) }) {
			n++
		}
	}
	return n
}

// wander makes n moves that lead nowhere: of tools of the plan, those that read if it has any, no result of one call three times, and no
// cycle. Wide allows one call of another tool, where nothing else is left. Next to an [ErrNoPlace] it returns the moves that there are.
func wander(ctx context.Context, l *lab, p *part, n int, wide bool) ([]move, error) {
	rng := envharness.RandStream(1, "rigtest/wander", 0)
	var way []envharness.Action
	strayed := false
	moves := func() []move {
		var moves []move
		for _, a := range way {
			moves = append(moves, move{action: a, at: -1})
		}
		return moves
	}
	pairs, texts, used := make(map[string]int), make(map[string]int), make(map[string]int)
	for len(way) < n {
		v, err := l.play(ctx, way)
		if err != nil {
			return nil, err
		}
		type option struct {
			action    envharness.Action
			text      string
			cost, tie int
		}
		var best *option
		for _, a := range v.now().Actions {
			other := !p.inPlan(a.Name)
			if other && (!wide || strayed) || p.reads() && !p.readOnly(a.Name) {
				continue
			}
			tried := append(slices.Clone(way), a)
			v, err := l.play(ctx, tried)
			if err != nil {
				return nil, err
			}
			if v.last() != nil || v.end != nil && (v.end.Terminated || len(tried) < n) {
				continue
			}
			o := option{action: a, text: v.now().Text, tie: rng.IntN(1 << 20)}
			if pairs[a.String()+"\n"+o.text] == 2 || cycles(tried) {
				continue
			}
			o.cost = 4*used[a.String()] + texts[o.text]
			if other {
				o.cost += 8 * n
			}
			if best == nil || o.cost < best.cost || o.cost == best.cost && o.tie < best.tie {
				best = &o
			}
		}
		if best == nil {
			return moves(), fmt.Errorf("%w: no way of %d turns leads nowhere", ErrNoPlace, n)
		}
		way = append(way, best.action)
		strayed = strayed || !p.inPlan(best.action.Name)
		pairs[best.action.String()+"\n"+best.text]++
		texts[best.text]++
		used[best.action.String()]++
	}
	if 10*len(texts) <= 3*n {
		return moves(), fmt.Errorf("%w: %d turns show too little", ErrNoPlace, n)
	}
	return moves(), nil
}

// cycles reports whether the last calls are a cycle of at most four, three times.
func cycles(way []envharness.Action) bool {
	for period := 1; period <= 4; period++ {
		if len(way) < 3*period {
			break
		}
		tail := way[len(way)-3*period:]
		if !slices.ContainsFunc(slices.Collect(indices(period, 3*period)), func(i int) bool { return !same(tail[i], tail[i-period]) }) {
			return true
		}
	}
	return false
}

func indices(from, until int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := from; i < until; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// staysPut makes different calls that show what was shown already, none of them more than twice, for more than half of the turns.
func staysPut(ctx context.Context, l *lab, p *part) ([]move, []components.Edge, error) {
	n := p.limit/2 + 1
	for k := 0; k < len(p.plan) && 10*(k+1) <= 3*n; k++ {
		v, err := l.play(ctx, p.plan[:k])
		if err != nil {
			return nil, nil, err
		}
		here := v.now()
		way := slices.Clone(p.plan[:k])
		for _, a := range here.Actions {
			if !p.inPlan(a.Name) {
				continue
			}
			tried := append(slices.Clone(way), a, a)
			v, err := l.play(ctx, tried)
			if err != nil {
				return nil, nil, err
			}
			if v.end == nil && v.last() == nil && looksEqual(v.now(), here) && looksEqual(v.shown[len(way)+1], here) {
				way = append(way, a)
			}
		}
		idle := way[k:]
		if k+2*len(idle) < n || len(idle) < 3 {
			continue
		}
		moves := slices.Clone(p.clean[:k])
		for i := range n - k {
			moves = append(moves, move{action: idle[i%len(idle)], at: k})
		}
		return append(moves, move{do: stop, at: k}), nil, nil
	}
	return nil, nil, fmt.Errorf("%w: too few calls show nothing new", ErrNoPlace)
}
