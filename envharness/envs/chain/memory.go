package chain

import "strconv"

// A memoryChain is bsuite's memory chain with one bit. As there, what is shown lags one step behind: the first action does not change it.
type memoryChain struct {
	bit, told int
	t, n      int // the last action is the one at t = n
}

func newMemory(n int, r *random) *memoryChain { return &memoryChain{bit: r.bit(), told: -1, n: n} }

func (c *memoryChain) step(action int) float64 {
	c.t++
	if c.t <= c.n {
		return 0
	}
	c.told = action
	if c.told == c.bit {
		return 1
	}
	return -1
}

func (c *memoryChain) ended() bool  { return c.t > c.n }
func (c *memoryChain) passes() bool { return c.told == c.bit }

func (c *memoryChain) plan() ([]int, string) {
	plan := make([]int, c.n+1-c.t) // what comes before the last does not matter
	plan[len(plan)-1] = c.bit
	return plan, ""
}

// shown is the time whose observation is seen.
func (c *memoryChain) shown() int { return max(c.t-1, 0) }

func (c *memoryChain) appendText(b []byte) []byte {
	b = append(b, "Bit "...)
	if c.shown() == 0 {
		b = strconv.AppendInt(b, int64(c.bit), 10)
	} else {
		b = append(b, "hidden"...)
	}
	return appendLeft(append(b, ", "...), c.n-c.shown(), c.n)
}

func (c *memoryChain) appendState(b []byte) []byte {
	b = append(b, `{"bit":`...)
	b = strconv.AppendInt(b, int64(c.bit), 10)
	b = append(b, `,"step":`...)
	b = strconv.AppendInt(b, int64(c.t), 10)
	b = append(b, `,"told":`...)
	b = strconv.AppendInt(b, int64(c.told), 10)
	return append(b, '}')
}
