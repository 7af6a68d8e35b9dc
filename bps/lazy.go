package bps

import "slices"

// A queue is a binary heap of candidates, the best one first.
type queue []candidate

func (q queue) init() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// down moves the candidate at i, which may be too good for its place, to where it belongs.
func (q queue) down(i int) {
	c := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if right := child + 1; right < len(q) && q[right].better(&q[child]) {
			child = right
		}
		if !q[child].better(&c) {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = c
}

// pop removes the best candidate.
func (q queue) pop() queue {
	last := len(q) - 1
	q[0] = q[last]
	q = q[:last]
	if last > 1 {
		q.down(0)
	}
	return q
}

// lazy grows w.chosen, which is s.always with state st, by the best candidate that fits, and records it, until none fits or none
// gains. It is for one chain over many candidates: since a stale gain is an upper bound, few have to be computed again before
// the best is known.
func (w *walker) lazy(st Gains, o order) error {
	w.open = w.open[:0]
	for j, g := range w.gains {
		w.open = append(w.open, candidate{key: w.key(int32(j), g, o), gain: g, at: int32(j)})
	}
	q := queue(w.open)
	q.init()
	for step, tooLarge := int32(0), 0; len(q) > 0; {
		top := &q[0]
		switch {
		case !w.fits(top.at):
			// Near the end of the budget this is true of most: then all of them go at once.
			if tooLarge++; tooLarge < len(q)/16 {
				q = q.pop()
				continue
			}
			tooLarge = 0
			q = slices.DeleteFunc(q, func(c candidate) bool { return !w.fits(c.at) })
			q.init()
			continue
		case top.step < step:
			c, err := w.fresh(st, top.at, top.key, o)
			if err != nil {
				return err
			}
			c.step = step
			*top = c
			q.down(0)
			continue
		case top.gain == 0 && !w.full:
			return nil // longer sets would have the same benefit and more tokens
		}
		limit := top.key * slack
		if len(q) > 1 && q[1].key >= limit || len(q) > 2 && q[2].key >= limit {
			if err := w.settle(q, st, step, limit, o); err != nil {
				return err
			}
		}
		pick := q[0]
		q = q.pop()
		if err := w.add(st, &pick); err != nil {
			return err
		}
		step++
	}
	return nil
}

// settle makes fresh what may be as good as the fresh best of q, and so decides between equals. A stale key is below a fresh one by rounding
// alone, so that of many equals, where it would cost a pass over all for each pick, a few will do.
func (w *walker) settle(q queue, st Gains, step int32, limit float64, o order) error {
	const most = 64
	w.near = append(w.near[:0], 0)
	for k := 0; k < len(w.near); k++ {
		i := w.near[k]
		for child := 2*i + 1; child <= 2*i+2 && child < len(q) && len(w.near) < most; child++ {
			if q[child].key >= limit {
				w.near = append(w.near, child)
			}
		}
		c := &q[i]
		switch {
		case !w.fits(c.at):
			c.key = -1 // it never fits again, and must not hide what does
		case c.step < step:
			fresh, err := w.fresh(st, c.at, c.key, o)
			if err != nil {
				return err
			}
			fresh.step = step
			*c = fresh
		}
	}
	for k := len(w.near) - 1; k >= 0; k-- { // children before parents
		q.down(w.near[k])
	}
	return nil
}
