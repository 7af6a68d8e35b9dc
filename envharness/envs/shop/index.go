package shop

import (
	"math"
	"strings"
)

// The constants of BM25 that WebShop's search engine is set to.
const (
	k1 = 0.9
	b  = 0.4
)

// An index finds products by BM25 with idf = ln(1 + (N-df+0.5)/(df+0.5)) over the tokens [a-z0-9]+ of the title, the description, the
// first bullet and the values of the options. It is not written to once it is made.
type index struct {
	terms    map[string]int
	postings [][]posting // by term, products in ascending order
	products int
}

// A posting is what one token of a query adds to the score of a product.
type posting struct {
	product int32
	weight  float64
}

func newIndex(products []product) *index {
	x := &index{terms: make(map[string]int), products: len(products)}
	lengths, total := make([]int, len(products)), 0
	for i := range products {
		x.texts(&products[i], func(token []byte) {
			lengths[i]++
			t, ok := x.terms[string(token)]
			if !ok {
				t = len(x.postings)
				x.terms[string(token)] = t
				x.postings = append(x.postings, nil)
			}
			if list := x.postings[t]; len(list) > 0 && list[len(list)-1].product == int32(i) {
				list[len(list)-1].weight++ // the count, until all are known
				return
			}
			x.postings[t] = append(x.postings[t], posting{int32(i), 1})
		})
		total += lengths[i]
	}
	average := float64(total) / float64(len(products))
	for _, list := range x.postings {
		df := float64(len(list))
		idf := math.Log1p((float64(len(products)) - df + 0.5) / (df + 0.5))
		for k, p := range list {
			norm := k1 * (1 - b + b*float64(lengths[p.product])/average)
			list[k].weight = idf * p.weight * (k1 + 1) / (p.weight + norm)
		}
	}
	return x
}

// texts calls emit for each token of a product.
func (*index) texts(p *product, emit func(token []byte)) {
	eachToken(p.title, emit)
	eachToken(p.description, emit)
	if len(p.bullets) > 0 {
		eachToken(p.bullets[0], emit)
	}
	for _, g := range p.groups {
		for _, v := range g.values {
			eachToken(v, emit)
		}
	}
}

// eachToken calls emit for every run of ASCII letters and digits, in lower case. The bytes are good until emit returns.
func eachToken(s string, emit func(token []byte)) {
	var space [64]byte
	token := space[:0]
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			token = append(token, c)
		case 'A' <= c && c <= 'Z':
			token = append(token, c+('a'-'A'))
		case len(token) > 0:
			emit(token)
			token = token[:0]
		}
	}
	if len(token) > 0 {
		emit(token)
	}
}

// search returns the products with a score above 0, the best first and of equals the one with the lower index, at most limit of them. A
// token that stands twice in the query counts twice. Scores has a place for each product.
func (x *index) search(query string, limit int, scores []float64) []int32 {
	clear(scores)
	eachToken(query, func(token []byte) {
		if t, ok := x.terms[string(token)]; ok {
			for _, p := range x.postings[t] {
				scores[p.product] += p.weight
			}
		}
	})
	hits := make([]int32, 0, limit)
	for i, score := range scores {
		if score == 0 || len(hits) == limit && score <= scores[hits[limit-1]] {
			continue
		}
		if len(hits) < limit {
			hits = append(hits, 0)
		}
		k := len(hits) - 1
		for ; k > 0 && scores[hits[k-1]] < score; k-- {
			hits[k] = hits[k-1]
		}
		hits[k] = int32(i)
	}
	return hits
}

// queries are the searches that a listing of actions offers. They are made of words of the goal's sentence: the noun, each wanted
// attribute with the noun, all of them with the noun, and the whole sentence.
func (t *task) queries() []string {
	noun := t.goal.product.noun
	out := []string{noun}
	for _, a := range t.goal.attributes {
		out = append(out, a+" "+noun)
	}
	if len(t.goal.attributes) > 1 {
		out = append(out, strings.Join(t.goal.attributes, " ")+" "+noun)
	}
	return append(out, t.sentence)
}
