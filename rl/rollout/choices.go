package rollout

import (
	"slices"
	"sort"
)

// choices are the token sequences between which an agent chooses token by token. Each ends with EndAct and has it nowhere else, so that none
// is the beginning of another.
type choices struct {
	tokens [][]int // by candidate
	order  []int   // candidates, distinct and short enough, by their tokens
	// What was walked so far: after path, the candidates order[bounds[d][0]:bounds[d][1]] go on at depth d = len(path), by the tokens lists[d].
	path   []int
	bounds [][2]int
	lists  [][]int
	store  []int // of the lists
}

// reset begins a choice. Of candidates with equal tokens the first counts; those of more than limit tokens cannot be chosen. Lists that
// were handed out stay as they are.
func (c *choices) reset(tokens [][]int, limit int) {
	c.tokens, c.order, c.store = tokens, c.order[:0], nil
	for i := range tokens {
		if len(tokens[i]) <= limit {
			c.order = append(c.order, i)
		}
	}
	slices.SortStableFunc(c.order, func(a, b int) int { return slices.Compare(tokens[a], tokens[b]) })
	c.order = slices.CompactFunc(c.order, func(a, b int) bool { return slices.Equal(tokens[a], tokens[b]) })
	c.path, c.bounds, c.lists = c.path[:0], append(c.bounds[:0], [2]int{0, len(c.order)}), c.lists[:0]
	c.list()
}

// list adds the tokens that may come next.
func (c *choices) list() {
	d, b := len(c.path), c.bounds[len(c.bounds)-1]
	start := len(c.store)
	for _, i := range c.order[b[0]:b[1]] {
		if d == len(c.tokens[i]) { // complete
			break
		}
		if id := c.tokens[i][d]; len(c.store) == start || c.store[len(c.store)-1] != id {
			c.store = append(c.store, id)
		}
	}
	c.lists = append(c.lists, c.store[start:len(c.store):len(c.store)])
}

// next returns the tokens that may follow a prefix, ascending, and none where it is complete or no candidate begins so.
func (c *choices) next(prefix []int) []int {
	same := 0
	for same < len(prefix) && same < len(c.path) && prefix[same] == c.path[same] {
		same++
	}
	c.path, c.bounds, c.lists = c.path[:same], c.bounds[:same+1], c.lists[:same+1]
	for d := same; d < len(prefix); d++ {
		b := c.bounds[d]
		part := c.order[b[0]:b[1]]
		at := func(i int) int { // candidates that are complete come first, and there is one only
			if d >= len(c.tokens[part[i]]) {
				return -1
			}
			return c.tokens[part[i]][d]
		}
		lo := sort.Search(len(part), func(i int) bool { return at(i) >= prefix[d] })
		hi := lo + sort.Search(len(part)-lo, func(i int) bool { return at(lo+i) > prefix[d] })
		c.path = append(c.path, prefix[d])
		c.bounds = append(c.bounds, [2]int{b[0] + lo, b[0] + hi})
		c.list()
	}
	return c.lists[len(prefix)]
}

// chosen returns the candidate whose tokens these are, or -1.
func (c *choices) chosen(response []int) int {
	c.next(response)
	if b := c.bounds[len(response)]; b[1]-b[0] == 1 && len(c.tokens[c.order[b[0]]]) == len(response) {
		return c.order[b[0]]
	}
	return -1
}

// allowed returns the lists along a response.
func (c *choices) allowed(response []int) [][]int {
	c.next(response)
	return slices.Clone(c.lists[:len(response)])
}
