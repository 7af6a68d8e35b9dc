package shop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// A task is a goal as a policy gets to know it.
type task struct {
	id       string
	goal     goal
	sentence string
	split    string
	searches []envharness.Action // that a listing of actions offers
}

// tasks draws the goals, each from a stream of its own. One that reads as an earlier one is drawn again, from its next stream: otherwise
// two splits might share it.
func (p *preset) tasks(products []product) []task {
	tasks := make([]task, p.goals)
	taken := make(map[string]bool, p.goals)
	for n := range tasks {
		t := &tasks[n]
		t.id = fmt.Sprintf("%s%04d", p.prefix, n)
		for k := uint64(0); t.sentence == "" || taken[t.sentence]; k++ {
			t.goal = draw(envharness.RandStream(p.stream+1+uint64(n), "env", k), products)
			t.sentence = p.pages.sentence(&t.goal)
		}
		taken[t.sentence] = true
		t.split = p.split(t)
	}
	return tasks
}

// draw draws a goal: a product, one to three of its attributes, one value of each of its groups, and the bound.
func draw(r *rand.Rand, products []product) goal {
	p := &products[r.IntN(len(products))]
	g := goal{product: p}
	n := 1 + r.IntN(min(3, len(p.attributes)))
	chosen := r.Perm(len(p.attributes))[:n]
	slices.Sort(chosen)
	for _, k := range chosen {
		g.attributes = append(g.attributes, p.attributes[k])
	}
	for _, group := range p.groups {
		g.options = append(g.options, group.values[r.IntN(len(group.values))])
	}
	g.upper = bound(r, p.cents)
	return g
}

// bound draws the bound on a price in dollars as WebShop does: of the next four multiples of 10, from 10 to 990, above the price two
// are drawn, and the larger one is taken. With fewer than two there is none, which is 0.
func bound(r *rand.Rand, cents int) int {
	first := cents/1000 + 1 // in tens of dollars, above the price
	n := min(4, 99-first+1)
	if n < 2 {
		return 0
	}
	two := r.Perm(n)[:2]
	return 10 * (first + max(two[0], two[1]))
}

// split names the split of a task: by the product's category and the id.
func (p *preset) split(t *task) string {
	if t.goal.product.index%len(p.categories) >= len(p.categories)-p.heldOut {
		return "ood"
	}
	return rules.HashSplit(t.id)
}

// find returns the task of an id.
func (s *shop) find(id string) (*task, error) {
	if len(id) > len(s.prefix) && id[:len(s.prefix)] == s.prefix {
		n, err := strconv.Atoi(id[len(s.prefix):])
		if err == nil && n >= 0 && n < len(s.tasks) && s.tasks[n].id == id {
			return &s.tasks[n], nil
		}
	}
	return nil, fmt.Errorf("%w: %q, want %q and a number from 0000 to %04d", envharness.ErrNoTask, sim.Clip(id), s.prefix, len(s.tasks)-1)
}

// list lists a split in the order of the ids.
func (s *shop) list(split string) ([]envharness.Task, error) {
	switch split {
	case "train", "validation", "test", "ood":
	default:
		return nil, rules.UnknownSplit(split)
	}
	var out []envharness.Task
	for i := range s.tasks {
		if t := &s.tasks[i]; t.split == split {
			out = append(out, envharness.Task{ID: t.id, Split: split, Family: t.goal.product.noun})
		}
	}
	return out, nil
}
