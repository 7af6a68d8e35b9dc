package rl

import "hash/maphash"

// partition splits rows into groups that are normalised apart. Its memory is reused.
type partition struct {
	group  []int // per row, numbered in order of first appearance; -1 for a row in no group
	size   []int // per group
	end    []int // per group, its end among packed rows
	packed []float64
	rows   []float64
}

// reset prepares p for n rows in no group.
func (p *partition) reset(n int) {
	p.group = resize(p.group, n)
	for i := range p.group {
		p.group[i] = -1
	}
	p.size = p.size[:0]
}

// put puts row i into group g, which is at most one above the largest so far.
func (p *partition) put(i, g int) {
	if g == len(p.size) {
		p.size = append(p.size, 0)
	}
	p.group[i] = g
	p.size[g]++
}

// pack sorts the rows of x by group, stably, into p.packed and sets p.end.
func (p *partition) pack(x []float64) {
	p.end = resize(p.end, len(p.size))
	sum := 0
	for g, size := range p.size {
		p.end[g] = sum
		sum += size
	}
	p.packed = resize(p.packed, sum)
	for i, g := range p.group {
		if g >= 0 {
			p.packed[p.end[g]] = x[i]
			p.end[g]++
		}
	}
}

// unpack is the reverse of pack. It leaves p.end at the start of each group.
func (p *partition) unpack(x []float64) {
	for i := len(p.group) - 1; i >= 0; i-- { // rows leave a group in the reverse of the order in which they came
		if g := p.group[i]; g >= 0 {
			p.end[g]--
			x[i] = p.packed[p.end[g]]
		}
	}
}

// normalise applies n to each group of x, where row i counts rows[i] times, or once where rows is nil. flat, if not nil, is
// called for each group. It returns a row whose group is one that n refuses, or else one whose number overflowed, or -1.
func (p *partition) normalise(n norm, x, rows []float64, flat func(g, size int, flat bool)) (refused, overflowed int) {
	p.load(x, rows)
	return p.replace(n, x, flat, n.apply)
}

// normaliseJointly is normalise with the standard deviation of the rows of all groups together; each group keeps its own
// mean, and flat is about its own deviation.
func (p *partition) normaliseJointly(n norm, x, rows []float64, flat func(g, size int, flat bool)) (refused, overflowed int) {
	p.load(x, rows)
	var all spread
	if len(p.packed) > 0 {
		all = measure(p.packed, p.weight(0, len(p.packed)), n.std)
	}
	return p.replace(n, x, flat, func(x, rows []float64) bool {
		if len(x) < 2 || n.std == StdOff || n.std == StdNone {
			return n.apply(x, rows)
		}
		own := measure(x, rows, n.std)
		if own.equal {
			clear(x)
			return true
		}
		up, down := own.scale, 1.0 // centres only
		if all.sigma > n.floor*max(1, all.largest) {
			up, down = own.scale/all.scale, n.divisor(all)
		}
		for i, v := range x {
			x[i] = (v/own.scale - own.mean) * up / down
		}
		return own.sigma <= n.floor*max(1, own.largest)
	})
}

// load packs x, and rows unless that is nil.
func (p *partition) load(x, rows []float64) {
	p.rows = p.rows[:0]
	if rows != nil {
		p.pack(rows)
		p.rows = append(p.rows, p.packed...)
	}
	p.pack(x)
}

// weight returns how often packed rows count; nil means once.
func (p *partition) weight(from, to int) []float64 {
	if len(p.rows) == 0 {
		return nil
	}
	return p.rows[from:to]
}

// replace replaces the numbers of each group as apply does, once they are loaded, and stores them in x. The rest is as in
// normalise.
func (p *partition) replace(n norm, x []float64, flat func(g, size int, flat bool), apply func(x, rows []float64) bool) (refused, overflowed int) {
	from := 0
	for g, to := range p.end {
		if n.refuses(to - from) {
			for i := range p.group {
				if p.group[i] == g {
					return i, -1
				}
			}
		}
		f := apply(p.packed[from:to], p.weight(from, to))
		if flat != nil {
			flat(g, to-from, f)
		}
		from = to
	}
	p.unpack(x)
	for i, g := range p.group {
		if g >= 0 && !finite(x[i]) {
			return -1, i
		}
	}
	return -1, -1
}

// numbering numbers keys, each within the group it belongs to, in order of first appearance. Its memory is reused, which
// that of a map would not always be: one that is cleared and filled again hashes otherwise, and may grow.
type numbering struct {
	seed maphash.Seed // differs from run to run, against keys made to collide; numbers do not depend on it
	slot []int        // 1 + number of a key, 0 where free; the length is a power of two
	keys []numbered
}

type numbered struct {
	hash  uint64
	group int
	key   string
}

// reset forgets all keys and makes room for n.
func (m *numbering) reset(n int) {
	size := 16
	for size < 2*n { // at most half of the slots are taken, so that a free one is near
		size *= 2
	}
	if m.slot == nil {
		m.seed = maphash.MakeSeed()
	}
	m.slot = resize(m.slot, size)
	m.keys = m.keys[:0]
}

// number returns the number of key within group, and whether it is new.
func (m *numbering) number(group int, key string) (n int, added bool) {
	h := maphash.String(m.seed, key) ^ uint64(group)*0x9e3779b97f4a7c15 // odd: the low bits of neighbours differ
	mask := uint64(len(m.slot) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		n := m.slot[i] - 1
		if n < 0 {
			m.slot[i] = len(m.keys) + 1
			m.keys = append(m.keys, numbered{h, group, key})
			return len(m.keys) - 1, true
		}
		if k := &m.keys[n]; k.hash == h && k.group == group && k.key == key {
			return n, false
		}
	}
}

// numberState is number for the key of a state: an empty one is a new state each time.
func (m *numbering) numberState(group int, state string) (n int, added bool) {
	if state != "" {
		return m.number(group, state)
	}
	m.keys = append(m.keys, numbered{group: group})
	return len(m.keys) - 1, true
}
