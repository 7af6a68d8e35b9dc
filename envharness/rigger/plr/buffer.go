package plr

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Options adjusts a [Buffer]. A nil *Options equals &Options{}.
type Options struct {
	Capacity int // most items; zero means no limit
	// Proportional takes the score itself for h, in place of 1/rank. If all scores are 0 all items are equally likely then.
	Proportional bool
	Beta         *float64 // temperature, > 0: the smaller, the more the best items are preferred; nil means 0.1, that of the paper
	Rho          *float64 // share of draws by how long an item has waited, in [0, 1]; nil means 0.1, that of the paper
}

// A Buffer holds items with their scores. The zero value has the default options and is ready for use. It is not safe for concurrent use.
type Buffer[K comparable] struct {
	capacity     int
	proportional bool
	beta, rho    float64
	set          bool // beta and rho are

	items []item[K] // in the order in which they came
	clock int       // of draws and arrivals
}

type item[K comparable] struct {
	key   K
	score float64
	drawn int // clock at which it was drawn last, or came
}

// New returns an empty buffer. Options out of range are an error.
func New[K comparable](o *Options) (*Buffer[K], error) {
	if o == nil {
		o = &Options{}
	}
	b := &Buffer[K]{capacity: o.Capacity, proportional: o.Proportional}
	b.defaults()
	var errs []error
	if o.Capacity < 0 {
		errs = append(errs, fmt.Errorf("plr: Capacity %d, want >= 0", o.Capacity))
	}
	if o.Beta != nil {
		if b.beta = *o.Beta; !(b.beta > 0) || math.IsInf(b.beta, 1) {
			errs = append(errs, fmt.Errorf("plr: Beta %v, want a number > 0", b.beta))
		}
	}
	if o.Rho != nil {
		if b.rho = *o.Rho; !(b.rho >= 0 && b.rho <= 1) {
			errs = append(errs, fmt.Errorf("plr: Rho %v, want 0 to 1", b.rho))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Buffer[K]) defaults() {
	if !b.set {
		b.beta, b.rho, b.set = 0.1, 0.1, true
	}
}

// Len returns the number of items.
func (b *Buffer[K]) Len() int { return len(b.items) }

// All yields the items with their scores in the order in which they came.
func (b *Buffer[K]) All() iter.Seq2[K, float64] {
	return func(yield func(K, float64) bool) {
		for _, it := range b.items {
			if !yield(it.key, it.score) {
				return
			}
		}
	}
}

// Score returns the score of an item, and false if it is not there.
func (b *Buffer[K]) Score(key K) (float64, bool) {
	if i := b.index(key); i >= 0 {
		return b.items[i].score, true
	}
	return 0, false
}

// Put gives an item a new score, and adds it if it is not there. A new one counts as drawn now. If the buffer is full it takes the place of
// the item with the lowest score, the oldest of equal ones, if its own is higher, and stays out otherwise. Put reports whether the item
// is in the buffer. A score that is negative or not finite is an error, and changes nothing.
func (b *Buffer[K]) Put(key K, score float64) (bool, error) {
	if !(score >= 0) || math.IsInf(score, 1) {
		return false, fmt.Errorf("plr: score %v of item %v, want a number >= 0", score, key)
	}
	if i := b.index(key); i >= 0 {
		b.items[i].score = score
		return true, nil
	}
	if b.capacity > 0 && len(b.items) == b.capacity {
		low := 0
		for i, it := range b.items {
			if it.score < b.items[low].score {
				low = i
			}
		}
		if score <= b.items[low].score {
			return false, nil
		}
		b.items = slices.Delete(b.items, low, low+1)
	}
	b.clock++
	b.items = append(b.items, item[K]{key, score, b.clock})
	return true, nil
}

// Remove takes an item out, and reports whether it was there.
func (b *Buffer[K]) Remove(key K) bool {
	i := b.index(key)
	if i < 0 {
		return false
	}
	b.items = slices.Delete(b.items, i, i+1)
	return true
}

func (b *Buffer[K]) index(key K) int {
	return slices.IndexFunc(b.items, func(it item[K]) bool { return it.key == key })
}

// Probabilities returns the probability of each item at the next draw, in the order of [Buffer.All]. They add up to 1 but for rounding.
// Items with equal scores have ranks in the order in which they came. It is nil for an empty buffer.
func (b *Buffer[K]) Probabilities() []float64 {
	b.defaults()
	n := len(b.items)
	if n == 0 {
		return nil
	}
	h := b.priorities()
	total, waited := 0.0, 0.0
	for i := range h {
		total += h[i]
		waited += float64(b.clock - b.items[i].drawn)
	}
	for i := range h {
		wait := 1 / float64(n) // nobody has waited: a single item that was drawn just now
		if waited > 0 {
			wait = float64(b.clock-b.items[i].drawn) / waited
		}
		h[i] = (1-b.rho)*h[i]/total + b.rho*wait
	}
	return h
}

// priorities returns h(S)^(1/beta) of each item, divided by that of the best, so that nothing overflows and the best has 1.
func (b *Buffer[K]) priorities() []float64 {
	out := make([]float64, len(b.items))
	if b.proportional {
		best := 0.0
		for _, it := range b.items {
			best = max(best, it.score)
		}
		for i, it := range b.items {
			out[i] = 1
			if best > 0 {
				out[i] = math.Pow(it.score/best, 1/b.beta)
			}
		}
		return out
	}
	order := make([]int, len(b.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(b.items[j].score, b.items[i].score) })
	for rank, i := range order {
		out[i] = math.Pow(1/float64(rank+1), 1/b.beta)
	}
	return out
}

// Draw draws an item, with one number from rng, and notes that it was drawn. It reports false if the buffer is empty, and draws nothing
// then.
func (b *Buffer[K]) Draw(rng *rand.Rand) (K, bool) {
	p := b.Probabilities()
	if len(p) == 0 {
		var none K
		return none, false
	}
	u := rng.Float64()
	at := -1
	for i, share := range p {
		if share <= 0 {
			continue
		}
		at = i // the last with a share takes what rounding leaves over
		if u -= share; u < 0 {
			break
		}
	}
	b.clock++
	b.items[at].drawn = b.clock
	return b.items[at].key, true
}
