package shop

import (
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// Plan implements [sim.Planner]: it goes to the wanted product by the present results or by one of the searches that are listed, whatever
// takes fewest clicks, chooses the wanted options and buys. It knows which product that is, and opens no other. Each action is one that is
// listed when its turn comes, as long as a listed search finds the product, which for every task one does.
func (e *episode) Plan() ([]envharness.Action, error) {
	wanted := int32(e.task.goal.product.index)
	if e.product == wanted {
		var plan []envharness.Action
		if e.page != itemPage {
			plan = append(plan, e.shop.prev)
		}
		return append(plan, e.order()...), nil
	}
	best := e.fromResults(wanted)
	if s := e.fromSearch(wanted); best == nil || s != nil && len(s) < len(best) {
		best = s
	}
	if best == nil {
		return nil, envharness.ErrNotProven
	}
	return append(best, e.order()...), nil
}

// fromSearch returns the actions that search anew and open the product: by the listed search that takes fewest pages, or for want of any by
// the product's title, which only an oracle knows. It is nil if that does not find it either. Of several the one with all attributes and the
// noun is taken, which is what a buyer would try, and the whole sentence last.
func (e *episode) fromSearch(wanted int32) []envharness.Action {
	scores := make([]float64, len(e.shop.products))
	place := func(query string) int { return slices.Index(e.shop.index.search(query, e.shop.hits, scores), wanted) }
	var search envharness.Action
	at := none
	queries := e.task.queries()
	n := len(queries)
	for i := range n {
		i = (2*n - 2 - i) % n // from the last but one back to the first, then the last
		if k := place(queries[i]); k >= 0 && (at == none || k/e.shop.perPage < at/e.shop.perPage) {
			search, at = e.task.searches[i], k
		}
		if at >= 0 && at < e.shop.perPage {
			break // no search takes fewer pages than one
		}
	}
	if at == none {
		title := e.task.goal.product.title
		if at = place(title); at < 0 {
			return nil
		}
		search = searchFor(title)
	}
	var plan []envharness.Action
	if e.page != indexPage {
		plan = append(plan, e.shop.back)
	}
	plan = e.turnPages(append(plan, search), at/e.shop.perPage)
	return append(plan, e.shop.openHit(at, wanted).action)
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
