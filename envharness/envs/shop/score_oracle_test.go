package shop

import (
	"regexp"
	"slices"
	"strings"
)

// What follows is the rule of scoring once more, written down step by step without regard to speed: the oracle of scorer.

var slowWord = regexp.MustCompile(`[a-z0-9]+`)

func slowWords(text string) []string {
	ascii := strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return -1
		}
		return r
	}, text)
	return slowWord.FindAllString(strings.ToLower(ascii), -1)
}

// slowRatio compares all three pairs in full, with the whole table of the longest common subsequence.
func slowRatio(a, b string) float64 {
	inA, inB := map[string]bool{}, map[string]bool{}
	for _, w := range slowWords(a) {
		inA[w] = true
	}
	for _, w := range slowWords(b) {
		inB[w] = true
	}
	if len(inA) == 0 || len(inB) == 0 {
		return 0
	}
	var shared, restA, restB []string
	for w := range inA {
		if inB[w] {
			shared = append(shared, w)
		} else {
			restA = append(restA, w)
		}
	}
	for w := range inB {
		if !inA[w] {
			restB = append(restB, w)
		}
	}
	slices.Sort(shared)
	slices.Sort(restA)
	slices.Sort(restB)
	if len(shared) > 0 && (len(restA) == 0 || len(restB) == 0) {
		return 100
	}
	i := strings.Join(shared, " ")
	x := strings.Join(append(slices.Clone(shared), restA...), " ")
	y := strings.Join(append(slices.Clone(shared), restB...), " ")
	best := slowPair(x, y)
	if i != "" {
		best = max(best, slowPair(i, x), slowPair(i, y))
	}
	return best
}

func slowPair(x, y string) float64 {
	row := make([]int, len(y)+1) // by bytes of y, what they have in common with the bytes of x so far
	for i := range len(x) {
		next := make([]int, len(y)+1)
		for j := range len(y) {
			if x[i] == y[j] {
				next[j+1] = row[j] + 1
			} else {
				next[j+1] = max(row[j+1], next[j])
			}
		}
		row = next
	}
	return 200 * float64(row[len(y)]) / float64(len(x)+len(y))
}

func slowColour(option string) string {
	for _, c := range colours {
		if strings.Contains(strings.ToLower(option), c) {
			return c
		}
	}
	return option
}

// slowNouns has the words that are nouns in a catalogue.
func slowNouns(products []product) map[string]bool {
	noun := map[string]bool{}
	for _, p := range products {
		for _, w := range slowWords(p.noun) {
			noun[w] = true
		}
	}
	return noun
}

func slowKind(noun map[string]bool, bought, wanted *product) float64 {
	inBought, shared, total := map[string]bool{}, map[string]bool{}, 0
	for _, w := range slowWords(bought.title) {
		inBought[w] = noun[w]
	}
	for _, w := range slowWords(wanted.title) {
		if noun[w] {
			total++
			if inBought[w] {
				shared[w] = true
			}
		}
	}
	t := 0.2
	if total > 0 {
		t = float64(len(shared)) / float64(total)
	}
	categories := map[string]int{}
	for _, c := range bought.category {
		categories[c] |= 1
	}
	for _, c := range wanted.category {
		categories[c] |= 2
	}
	both := 0
	for _, sides := range categories {
		if sides == 3 {
			both++
		}
	}
	r := 0.5
	if bought.query == wanted.query || both >= 2 || t > 0.2 {
		r = 1
	}
	if t < 0.1 {
		r = 0.1
	}
	if t == 0 {
		r = 0
	}
	return r
}

func slowScore(noun map[string]bool, bought *product, g *goal, chosen []string) scored {
	var s scored
	for _, want := range g.attributes {
		hit := strings.Contains(strings.ToLower(bought.title), want) ||
			strings.Contains(strings.ToLower(strings.Join(bought.bullets, " ")), want) ||
			strings.Contains(strings.ToLower(bought.description), want)
		for _, have := range bought.attributes {
			hit = hit || slowRatio(have, want) > 85
		}
		if hit {
			s.attributes++
		}
	}
	for _, want := range g.options {
		hit := false
		for _, have := range chosen {
			hit = hit || slowRatio(slowColour(have), slowColour(want)) > 85
		}
		if hit {
			s.options++
		}
	}
	s.price = g.upper == 0 || float64(bought.cents)/100 <= float64(g.upper)
	hits := s.attributes + s.options
	if s.price {
		hits++
	}
	s.kind = slowKind(noun, bought, g.product)
	s.total = float64(hits) / float64(len(g.attributes)+len(g.options)+1) * s.kind
	return s
}
