package shop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

const (
	lowest  = 500  // least price in cents
	highest = 9999 // greatest
)

// catalogue makes the products. Product i belongs to category i modulo their number and is drawn from a stream of its own, until it is
// not the same as an earlier one to who sees it among the results.
func (p *preset) catalogue() []product {
	products := make([]product, p.each*len(p.categories))
	seen := make(map[string]bool)
	for i := range products {
		r := envharness.RandStream(p.stream, "env", uint64(i))
		c := p.categories[i%len(p.categories)]
		for products[i].title == "" || seen[p.pages.name(&products[i])] {
			products[i] = p.pages.product(r, c)
		}
		seen[p.pages.name(&products[i])] = true
	}
	p.pages.arrange(products, len(p.categories))
	for i := range products {
		products[i].index = i
	}
	return products
}

// common makes a product with what the presets have in common, and n attributes.
func (c *category) common(r *rand.Rand, n int) product {
	p := product{noun: c.noun, query: c.query, category: c.path[:]}
	for _, k := range r.Perm(len(c.attributes))[:n] {
		p.attributes = append(p.attributes, c.attributes[k])
	}
	if c.colors != nil {
		p.groups = append(p.groups, group{"color", c.colors})
	}
	if c.sizes != nil {
		p.groups = append(p.groups, group{"size", c.sizes})
	}
	return p
}

// product draws a product with three to five attributes. The first two are in its title and one each in the first bullet and, among others,
// in the description, which a search looks through; the bullets tell them all.
func (fullPages) product(r *rand.Rand, c category) product {
	p := c.common(r, 3+r.IntN(3))
	p.cents = lowest + r.IntN(highest-lowest+1)
	brand := brands()[r.IntN(len(brands()))]
	a := p.attributes
	p.title = strings.Join([]string{a[0], a[1], c.noun, brand}, " ")
	p.description = fmt.Sprintf(descriptions[r.IntN(len(descriptions))], c.noun, brand, a[2], a[0], c.use)
	for i, k := range r.Perm(len(a)) {
		p.bullets = append(p.bullets, fmt.Sprintf(bullets[i], a[k]))
	}
	p.bullets = append(p.bullets, closings[r.IntN(len(closings))])
	return p
}

func (fullPages) name(p *product) string { return p.title }

func (fullPages) arrange([]product, int) {}

// The sentences of the full catalogue. A description has the noun, the brand, two attributes and the use.
var (
	descriptions = [...]string{
		"this %s by %s is known for being %s and %s. people buy it for %s.",
		"meet the %s from the workshop of %s: %s, %s and made for %s.",
		"a %s that %s has sold for years. it is %s and %s, and a good choice for %s.",
	}
	bullets = [...]string{"made to be: %s", "also: %s", "buyers praise: %s", "tested for: %s", "not to forget: %s"}

	closings = [...]string{
		"comes in a plain box without plastic.", "can be returned within a month.", "the maker answers every question.",
	}
)

// smallStep is from one price to the next in the small catalogue, in cents: ten words for prices are enough to tell which are below a bound.
const smallStep = 1000

// product draws a product with two attributes, both in its title, and one of ten prices.
func (smallPages) product(r *rand.Rand, c category) product {
	p := c.common(r, 2)
	slices.Sort(p.attributes) // two titles with the same words are the same
	p.title = strings.Join(append(slices.Clone(p.attributes), c.noun), " ")
	p.cents = lowest + smallStep*r.IntN((highest-lowest)/smallStep+1)
	return p
}

func (smallPages) name(p *product) string { return p.title + " " + strconv.Itoa(p.cents) }

// arrange puts the products of each of n categories in order, from the dearest to the cheapest. Of those that fit equally well the search then
// shows the dearest first, which makes it necessary to mind the price.
func (smallPages) arrange(products []product, n int) {
	for c := range n {
		var list []product
		for i := c; i < len(products); i += n {
			list = append(list, products[i])
		}
		slices.SortStableFunc(list, func(a, b product) int { return b.cents - a.cents })
		for k, p := range list {
			products[c+n*k] = p
		}
	}
}
