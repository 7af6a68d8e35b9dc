package coevolve

import (
	"errors"
	"math"

	"github.com/throughline-go/throughline/envharness"
)

// draw makes the pool and draws from it: indices into it.
func (l *loop) draw(round int) ([]Member, []int, error) {
	pool := make([]Member, 0, len(l.tasks)+len(l.items))
	for _, t := range l.tasks {
		pool = append(pool, Member{Task: t})
	}
	place := make(map[string]int, len(l.items))
	for _, e := range l.items {
		stack, err := l.registry.Stack(e.item.Stack...)
		if err != nil {
			return nil, nil, err
		}
		place[e.key] = len(pool)
		pool = append(pool, Member{
			Task: e.item.Task, Stack: e.item.Stack, Hash: e.item.Hash, Components: stack, Counts: e.counts, Aid: e.item.Aid, RedTeam: e.item.RedTeam,
		})
	}
	unmodified := l.Draws
	if len(l.items) > 0 {
		unmodified = min(int(math.Ceil(l.mix*float64(l.Draws)-tolerance)), l.Draws)
	}
	share := float64(unmodified) / float64(l.Draws)
	for i := range l.tasks {
		pool[i].Weight = share / float64(len(l.tasks))
	}
	i := 0
	chances := l.replay.Probabilities()
	for key := range l.replay.All() {
		pool[place[key]].Weight = (1 - share) * chances[i]
		i++
	}

	rng := envharness.RandStream(l.rig.Seed, "coevolve/draw", uint64(round))
	draws := make([]int, 0, l.Draws)
	for len(draws) < unmodified {
		order := rng.Perm(len(l.tasks)) // one pass over the tasks after the other
		draws = append(draws, order[:min(len(order), unmodified-len(draws))]...)
	}
	for len(draws) < l.Draws {
		key, ok := l.replay.Draw(rng)
		if !ok {
			return nil, nil, errors.New("coevolve: nothing to draw") // cannot happen: there are items
		}
		draws = append(draws, place[key])
	}
	rng.Shuffle(len(draws), func(i, j int) { draws[i], draws[j] = draws[j], draws[i] })
	return pool, draws, nil
}
