package memory

import (
	"slices"

	"github.com/throughline-go/throughline/skill/internal/vector"
)

// denseShare is the share of entries other than 0 above which a vector is kept as a row: a scan of rows then beats lists, which need
// 12 bytes and a scattered write for each entry. Hashed descriptions have about 1 entry in 50, vectors of a model all.
const denseShare = 0.25

// An index finds the cosines of a query with all stored vectors: a list of vectors per dimension for sparse ones, rows for dense ones.
// Both sum in the order of the dimensions, so a cosine does not depend on how a vector is kept.
type index struct {
	items []*item    // by slot; nil is a free one
	free  []int32    // slots
	lists []postings // by dimension
	dim   int
	slots []int32     // of the rows
	rows  [][]float64 // blocks of rowBlock rows, each row dim long
}

// rowBlock rows lie side by side in memory; more would make it dearer to add the first of a block.
const rowBlock = 64

type postings struct {
	slots []int32 // ascending
	vals  []float64
}

// add gives it a slot for its vector, which must not be the zero vector and must have the dimension of the others.
func (x *index) add(it *item, v vector.Vector) {
	if len(x.lists) < v.Dim {
		x.lists = append(x.lists, make([]postings, v.Dim-len(x.lists))...)
	}
	var slot int32
	if n := len(x.free); n > 0 {
		slot = x.free[n-1]
		x.free = x.free[:n-1]
		x.items[slot] = it
	} else {
		slot = int32(len(x.items))
		x.items = append(x.items, it)
	}
	it.slot = slot
	if float64(len(v.At)) > denseShare*float64(v.Dim) {
		x.dim = v.Dim
		k := len(x.slots)
		x.slots = append(x.slots, slot)
		if k/rowBlock == len(x.rows) {
			x.rows = append(x.rows, make([]float64, rowBlock*v.Dim))
		}
		vals := x.row(k)
		for i, at := range v.At {
			vals[at] = v.Val[i]
		}
		it.dims = nil
		return
	}
	it.dims = v.At
	for i, at := range v.At {
		l := &x.lists[at]
		k := len(l.slots)
		if k > 0 && l.slots[k-1] > slot { // a slot that was free
			k, _ = slices.BinarySearch(l.slots, slot)
		}
		l.slots = slices.Insert(l.slots, k, slot)
		l.vals = slices.Insert(l.vals, k, v.Val[i])
	}
}

func (x *index) row(k int) []float64 {
	start := k % rowBlock * x.dim
	return x.rows[k/rowBlock][start : start+x.dim]
}

// remove takes the vector of it out; it may have none.
func (x *index) remove(it *item) {
	slot := it.slot
	if slot < 0 {
		return
	}
	if it.dims == nil {
		k, last := slices.Index(x.slots, slot), len(x.slots)-1
		copy(x.row(k), x.row(last))
		clear(x.row(last))
		x.slots[k] = x.slots[last]
		x.slots = x.slots[:last]
	}
	for _, at := range it.dims {
		l := &x.lists[at]
		if k, ok := slices.BinarySearch(l.slots, slot); ok {
			l.slots = slices.Delete(l.slots, k, k+1)
			l.vals = slices.Delete(l.vals, k, k+1)
		}
	}
	x.items[slot] = nil
	x.free = append(x.free, slot)
	it.slot, it.dims = -1, nil
}

// cosines returns the cosine of q with the vector of each slot, in buf.sims grown as needed; those of free slots mean nothing.
func (x *index) cosines(q vector.Vector, buf *scratch, dst []float64) []float64 {
	dst = slices.Grow(dst[:0], len(x.items))[:len(x.items)]
	clear(dst)
	for i, at := range q.At {
		if int(at) >= len(x.lists) {
			break
		}
		l, w := &x.lists[at], q.Val[i]
		vals := l.vals
		for k, slot := range l.slots {
			dst[slot] += float64(w * vals[k]) // the conversion keeps it from being fused with the sum
		}
	}
	if len(x.slots) > 0 {
		buf.query = slices.Grow(buf.query[:0], q.Dim)[:q.Dim]
		clear(buf.query)
		for i, at := range q.At {
			buf.query[at] = q.Val[i]
		}
		x.scan(buf.query, dst)
	}
	for i, c := range dst {
		dst[i] = max(-1, min(1, c))
	}
	return dst
}

// scan computes the products of q with all rows, four rows at a time: the sums of each are in order, the four go on side by side.
func (x *index) scan(q, dst []float64) {
	k, n := 0, len(x.slots)
	for ; k+4 <= n; k += 4 { // a block holds a multiple of four
		rows := x.rows[k/rowBlock][k%rowBlock*len(q):]
		a, b, c, d := rows[:len(q)], rows[len(q):][:len(q)], rows[2*len(q):][:len(q)], rows[3*len(q):][:len(q)]
		var sa, sb, sc, sd float64
		for i, w := range q {
			sa += float64(w * a[i])
			sb += float64(w * b[i])
			sc += float64(w * c[i])
			sd += float64(w * d[i])
		}
		dst[x.slots[k]], dst[x.slots[k+1]], dst[x.slots[k+2]], dst[x.slots[k+3]] = sa, sb, sc, sd
	}
	for ; k < n; k++ {
		row := x.row(k)
		var s float64
		for i, w := range q {
			s += float64(w * row[i])
		}
		dst[x.slots[k]] = s
	}
}

// nearest returns the stored skill that is most similar to q, of equals the first by name; nil if there is none.
func (x *index) nearest(q vector.Vector, buf *scratch) (best *item, similarity float64) {
	if q.Zero() {
		return nil, 0
	}
	buf.sims = x.cosines(q, buf, buf.sims)
	for slot, it := range x.items {
		if it == nil {
			continue
		}
		c := buf.sims[slot]
		if best == nil || c > similarity || c == similarity && it.Name() < best.Name() {
			best, similarity = it, c
		}
	}
	return best, similarity
}

// scratch holds what a search writes; memories keep some to reuse.
type scratch struct {
	sims, more []float64
	query      []float64
	matches    []match
}

// A match is a skill that a search found.
type match struct {
	it         *item
	similarity float64
}
