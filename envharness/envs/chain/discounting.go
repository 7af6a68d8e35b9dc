package chain

import (
	"slices"
	"strconv"
)

// A discountingChain is bsuite's discounting chain: the first action chooses when to be paid.
type discountingChain struct {
	bonus  int // the arm that pays more
	pays   [arms]int
	chosen int // -1 before the first action
	t, n   int
}

// maps names the map by the arm that pays more, so that the name does not say which one that is.
const maps = "abcde"

func newDiscounting(bonus int, pays [arms]int, steps int) *discountingChain {
	return &discountingChain{bonus: bonus, pays: pays, chosen: -1, n: steps}
}

func (c *discountingChain) step(action int) float64 {
	if c.t == 0 {
		c.chosen = action
	}
	c.t++
	switch {
	case c.t != c.pays[c.chosen]:
		return 0
	case c.chosen == c.bonus:
		return 1.1
	}
	return 1
}

func (c *discountingChain) ended() bool  { return c.t == c.n }
func (c *discountingChain) passes() bool { return c.chosen == c.bonus }

func (c *discountingChain) plan() ([]int, string) {
	if c.t > 0 && c.chosen != c.bonus {
		return nil, "another chain was chosen"
	}
	return slices.Repeat([]int{c.bonus}, c.n-c.t), ""
}

func (c *discountingChain) appendText(b []byte) []byte {
	b = append(b, "Map "...)
	b = append(b, maps[c.bonus])
	b = append(b, ", chain "...)
	if c.chosen < 0 {
		b = append(b, "none"...)
	} else {
		b = strconv.AppendInt(b, int64(c.chosen), 10)
	}
	return appendLeft(append(b, ", "...), c.n-c.t, c.n)
}

func (c *discountingChain) appendState(b []byte) []byte {
	b = append(b, `{"bonus":`...)
	b = strconv.AppendInt(b, int64(c.bonus), 10)
	b = append(b, `,"chain":`...)
	b = strconv.AppendInt(b, int64(c.chosen), 10)
	b = append(b, `,"left":`...)
	b = strconv.AppendInt(b, int64(c.n-c.t), 10)
	return append(b, '}')
}
