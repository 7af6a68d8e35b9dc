package rl

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
	if rows != nil {
		p.pack(rows)
		p.rows = append(p.rows[:0], p.packed...)
	}
	p.pack(x)
	from := 0
	for g, to := range p.end {
		if n.refuses(to - from) {
			for i := range p.group {
				if p.group[i] == g {
					return i, -1
				}
			}
		}
		var weight []float64
		if rows != nil {
			weight = p.rows[from:to]
		}
		f := n.apply(p.packed[from:to], weight)
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
