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
