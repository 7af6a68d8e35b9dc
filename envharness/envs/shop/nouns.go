package shop

import "slices"

// A lexicon numbers the nouns of a catalogue.
//
// The noun rule: a word of a title is a noun if it is a word of some product's head noun, in any category of the catalogue ("table
// lamp" makes "table" and "lamp" nouns). What a product is like ("rubber sole") and who made it are not what it is: words of
// attributes and brands count only if they are in a head noun as well. WebShop asks a tagger for the nouns and proper nouns of a
// title instead, so its counts are higher and differ with the tagger's version.
type lexicon map[string]int

// newLexicon takes the head nouns of the products.
func newLexicon(products []product) lexicon {
	l := make(lexicon)
	for i := range products {
		for _, word := range words(products[i].noun) {
			if _, ok := l[word]; !ok {
				l[word] = len(l)
			}
		}
	}
	return l
}

// A nounSet has the nouns of a title.
type nounSet struct {
	distinct []int // in ascending order
	count    int   // with repeats
}

// nouns finds the nouns of a title.
func (l lexicon) nouns(title string) nounSet {
	var s nounSet
	for _, word := range words(title) {
		if n, ok := l[word]; ok {
			s.distinct = append(s.distinct, n)
			s.count++
		}
	}
	slices.Sort(s.distinct)
	s.distinct = slices.Compact(s.distinct)
	return s
}

// share returns the number of distinct nouns that a wanted title shares with a bought one, over the number of nouns in the wanted
// one with repeats. Without a noun in the wanted title it is 0.2. As in WebShop, a title that repeats a noun does not reach 1 even
// against itself.
func (wanted nounSet) share(bought nounSet) float64 {
	if wanted.count == 0 {
		return 0.2
	}
	shared := 0
	for i, j := 0, 0; i < len(wanted.distinct) && j < len(bought.distinct); {
		switch a, b := wanted.distinct[i], bought.distinct[j]; {
		case a < b:
			i++
		case a > b:
			j++
		default:
			shared, i, j = shared+1, i+1, j+1
		}
	}
	return float64(shared) / float64(wanted.count)
}
