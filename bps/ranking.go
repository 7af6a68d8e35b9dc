package bps

// A ranking gives items by score, the largest first, and of equal ones the first. It is a heap: few are asked for.
type ranking struct {
	items []int
	score []float64 // by item
}

func (r *ranking) start(score []float64) {
	r.score = score
	for at := len(r.items)/2 - 1; at >= 0; at-- {
		r.sink(at)
	}
}

func (r *ranking) next() int {
	best, last := r.items[0], len(r.items)-1
	r.items[0] = r.items[last]
	r.items = r.items[:last]
	r.sink(0)
	return best
}

func (r *ranking) sink(at int) {
	before := func(a, b int) bool {
		i, j := r.items[a], r.items[b]
		return r.score[i] > r.score[j] || r.score[i] == r.score[j] && i < j
	}
	for {
		top := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(r.items); child++ {
			if before(child, top) {
				top = child
			}
		}
		if top == at {
			return
		}
		r.items[at], r.items[top] = r.items[top], r.items[at]
		at = top
	}
}
