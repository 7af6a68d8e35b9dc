package components

import (
	"fmt"
	"math/rand/v2"
)

// chances gives one draw for every turn of an episode, also for turns in which the component is not asked, so that what other
// components refuse never shifts the draws of later turns.
type chances struct {
	rand  *rand.Rand
	drawn int // turns drawn for
	last  float64
}

// at returns the draw in [0, 1) of a turn. Turns must not go backwards.
func (c *chances) at(turn int) float64 {
	for c.drawn <= turn {
		c.last = c.rand.Float64()
		c.drawn++
	}
	return c.last
}

// checkChance reports a probability outside [0, 1]; nil, the default, is in order.
func checkChance(name string, p *float64) error {
	if p != nil && !(*p >= 0 && *p <= 1) { // also NaN
		return fmt.Errorf("%s %v must be from 0 to 1", name, *p)
	}
	return nil
}
