package shop

import (
	"slices"
	"testing"
)

// In the world's own catalogues every goal is reached by its own product with the wanted options, and any other purchase scores what the oracle
// says.
func TestScoreOnCatalogues(t *testing.T) {
	for _, p := range []*preset{full(), small()} {
		products := p.catalogue()
		tasks := p.tasks(products)
		s, noun := newScorer(products), slowNouns(products)
		kinds := map[float64]int{}
		for i := range tasks {
			g := &tasks[i].goal
			if got := s.score(g.product, g, g.options); got.total != 1 || got.attributes != len(g.attributes) || got.options != len(g.options) {
				t.Errorf("%s: %s scores %+v for what it wants", p.name, tasks[i].id, got)
			}
			if i%20 != 0 {
				continue
			}
			for j := i % 7; j < len(products); j += 37 {
				b := &products[j]
				chosen := slices.Clone(g.options)
				for _, group := range b.groups {
					chosen = append(chosen, group.values[(i+j)%len(group.values)])
				}
				chosen = chosen[min(j%3, len(chosen)):] // all that is wanted, a part, or nothing of it
				got := s.score(b, g, chosen)
				if want := slowScore(noun, b, g, chosen); got != want {
					t.Errorf("%s: %s, %q with %q: %+v, the oracle says %+v", p.name, tasks[i].id, b.title, chosen, got, want)
				}
				kinds[got.kind]++
			}
		}
		if kinds[0] == 0 || kinds[1] == 0 {
			t.Errorf("%s: kinds %v, want purchases of the wanted kind and of others", p.name, kinds)
		}
	}
}

// The goals that a product of another kind satisfies, as the package comment tells them: desk lamps and desk chairs stand in for each other.
func TestOtherKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of pairs")
	}
	for _, tt := range []struct {
		p           *preset
		goals, want int // pairs of goal and product
	}{{full(), 12, 162}, {small(), 0, 0}} {
		products := tt.p.catalogue()
		tasks := tt.p.tasks(products)
		s := newScorer(products)
		goals, pairs := map[string]bool{}, 0
		for i := range tasks {
			g := &tasks[i].goal
			for j := range products {
				b := &products[j]
				if b.noun == g.product.noun {
					continue
				}
				if kind(b, g.product, s.prepared[g.product.index].nouns.share(s.prepared[j].nouns)) < 1 {
					continue
				}
				if r := s.score(b, g, nil); r.attributes < len(g.attributes) || !r.price {
					continue // whatever is chosen
				}
				chosen := [][]string{nil} // all that can be chosen
				for _, group := range b.groups {
					var more [][]string
					for _, c := range chosen {
						for _, v := range group.values {
							more = append(more, append(slices.Clone(c), v))
						}
					}
					chosen = more
				}
				if slices.ContainsFunc(chosen, func(c []string) bool { return s.score(b, g, c).total == 1 }) {
					goals[tasks[i].id] = true
					pairs++
					if kinds := []string{b.noun, g.product.noun}; !slices.Contains(kinds, "desk lamp") || !slices.Contains(kinds, "desk chair") {
						t.Errorf("%s: %q is taken for %q", tt.p.name, b.noun, g.product.noun)
					}
				}
			}
		}
		if len(goals) != tt.goals || pairs != tt.want {
			t.Errorf("%s: %d goals and %d pairs, want %d and %d", tt.p.name, len(goals), pairs, tt.goals, tt.want)
		}
	}
}
