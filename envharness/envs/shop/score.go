package shop

import (
	"slices"
	"strings"
)

// enough is what [tokenSetRatio] must exceed for a hit.
const enough = 85

// A scorer scores purchases from one catalogue by WebShop's formula. It holds what can be worked out beforehand, is not written to
// after [newScorer] and serves any number of goroutines.
type scorer struct {
	prepared []prepared          // by index of the product
	tokens   map[string][]string // of every attribute
	options  map[string][]string // tokens of every option's colour, or of the option if it has none
}

// prepared is what scoring needs of a product.
type prepared struct {
	attributes [][]string // tokens of each
	texts      [3]string  // title, bullets (joined by spaces) and description in lower case
	nouns      nounSet
}

// newScorer prepares a catalogue, in which each product's index is its place.
func newScorer(products []product) *scorer {
	s := &scorer{
		prepared: make([]prepared, len(products)),
		tokens:   make(map[string][]string),
		options:  make(map[string][]string),
	}
	lex := newLexicon(products)
	for i := range products {
		p, q := &products[i], &s.prepared[i]
		for _, a := range p.attributes {
			if _, ok := s.tokens[a]; !ok {
				s.tokens[a] = tokens(a)
			}
			q.attributes = append(q.attributes, s.tokens[a])
		}
		for _, g := range p.groups {
			for _, v := range g.values {
				if _, ok := s.options[v]; !ok {
					s.options[v] = tokens(colourOf(v))
				}
			}
		}
		q.texts = [3]string{strings.ToLower(p.title), strings.ToLower(strings.Join(p.bullets, " ")), strings.ToLower(p.description)}
		q.nouns = lex.nouns(p.title)
	}
	return s
}

// score scores the purchase of a product with the chosen options:
//
//	(attributes hit + options hit + 1 if the price is within the bound) / (attributes + options + 1) * kind
//
// A goal without a bound has the price's part for nothing. The score is 1 exactly if everything is hit and the kind is 1. It takes
// no memory if the goal's attributes and the options are the catalogue's.
func (s *scorer) score(bought *product, g *goal, chosen []string) scored {
	b := &s.prepared[bought.index]
	r := scored{
		price: g.upper <= 0 || bought.cents <= 100*g.upper,
		kind:  kind(bought, g.product, s.prepared[g.product.index].nouns.share(b.nouns)),
	}
	for _, a := range g.attributes {
		if s.hasAttribute(b, a) {
			r.attributes++
		}
	}
	for _, o := range g.options {
		if s.isChosen(o, chosen) {
			r.options++
		}
	}
	hits := r.attributes + r.options
	if r.price {
		hits++
	}
	// The division comes first: equal whole numbers give 1 without rounding.
	r.total = float64(hits) / float64(len(g.attributes)+len(g.options)+1) * r.kind
	return r
}

// hasAttribute reports whether a product has an attribute: whether it is close enough to one of the product's own, or is found in
// the title, the bullets or the description as it is written.
func (s *scorer) hasAttribute(b *prepared, attribute string) bool {
	want, ok := s.tokens[attribute]
	if !ok {
		want = tokens(attribute)
	}
	for _, have := range b.attributes {
		if tokenSetRatio(have, want) > enough {
			return true
		}
	}
	for _, text := range b.texts {
		if strings.Contains(text, attribute) {
			return true
		}
	}
	return false
}

// isChosen reports whether an option is close enough to a chosen one, of whatever group. Since a ratio is 100 where one token set
// holds the other, "x-large" satisfies "large", as it does in WebShop.
func (s *scorer) isChosen(option string, chosen []string) bool {
	want := s.optionTokens(option)
	for _, c := range chosen {
		if tokenSetRatio(s.optionTokens(c), want) > enough {
			return true
		}
	}
	return false
}

func (s *scorer) optionTokens(option string) []string {
	if t, ok := s.options[option]; ok {
		return t
	}
	return tokens(colourOf(option))
}

// kind is WebShop's r_type: how near what was bought is to the kind of thing that was wanted, where share is that of the wanted
// title's nouns. Little in common in the titles outweighs a category or query in common.
func kind(bought, wanted *product, share float64) float64 {
	switch {
	case share == 0:
		return 0
	case share < 0.1:
		return 0.1
	case bought.query == wanted.query || sharedCategories(bought.category, wanted.category) >= 2 || share > 0.2:
		return 1
	}
	return 0.5
}

// sharedCategories counts the distinct categories of two paths, at whatever level.
func sharedCategories(a, b []string) int {
	n := 0
	for i, c := range a {
		if slices.Contains(b, c) && !slices.Contains(a[:i], c) {
			n++
		}
	}
	return n
}
