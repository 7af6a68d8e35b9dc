package shop

import (
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// Plan implements [sim.Planner]: it goes to the wanted product by the present results or by a new search for its title, whatever takes
// fewer clicks, chooses the wanted options and buys.
func (e *episode) Plan() ([]envharness.Action, error) {
	wanted := int32(e.task.goal.product.index)
	var plan []envharness.Action
	if e.product == wanted {
		if e.page != itemPage {
			plan = append(plan, e.shop.prev)
		}
		return append(plan, e.order()...), nil
	}
	here := e.fromResults(wanted)
	if e.page != indexPage {
		plan = append(plan, e.shop.back)
	}
	title := e.task.goal.product.title
	hits := e.shop.index.search(title, e.shop.hits, make([]float64, len(e.shop.products)))
	if k := slices.Index(hits, wanted); k >= 0 {
		plan = append(plan, searchFor(title))
		plan = e.turnPages(plan, k/e.shop.perPage)
		plan = append(plan, e.shop.openHit(k, wanted).action)
	} else {
		plan = nil
	}
	switch {
	case here == nil && plan == nil:
		return nil, envharness.ErrNotProven
	case plan == nil || here != nil && len(here) <= len(plan):
		plan = here
	}
	return append(plan, e.order()...), nil
}

// fromResults returns the clicks that open the product by the present results, nil if it is not among them.
func (e *episode) fromResults(wanted int32) []envharness.Action {
	k := slices.Index(e.hits, wanted)
	if k < 0 {
		return nil
	}
	var plan []envharness.Action
	switch e.page {
	case itemPage:
		plan = append(plan, e.shop.prev)
	case descriptionPage, featuresPage, reviewsPage:
		plan = append(plan, e.shop.prev, e.shop.prev)
	}
	plan = e.turnPages(plan, k/e.shop.perPage-e.at)
	return append(plan, e.shop.openHit(k, wanted).action)
}

// turnPages appends the clicks that go n pages of results on, or back if n is negative.
func (e *episode) turnPages(plan []envharness.Action, n int) []envharness.Action {
	for ; n > 0; n-- {
		plan = append(plan, e.shop.next)
	}
	for ; n < 0; n++ {
		plan = append(plan, e.shop.prev)
	}
	return plan
}

// order returns the clicks on the wanted options that are not chosen yet, and on what buys.
func (e *episode) order() []envharness.Action {
	wanted := e.task.goal.product
	item := e.shop.items[wanted.index%len(e.shop.items)]
	var plan []envharness.Action
	for i, o := range e.task.goal.options {
		k := slices.Index(wanted.groups[i].values, o)
		if e.product != int32(wanted.index) || int(e.chosen[i]) != k {
			plan = append(plan, item.actions[slices.Index(item.links, o)])
		}
	}
	return append(plan, e.shop.buy)
}
