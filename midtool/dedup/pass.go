package dedup

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
)

// A pass goes through the records in the global order and decides which stay.
type pass struct {
	f       *finder
	order   []uint32 // records by place
	buckets *buckets
	cache   cache

	// Of each bucket the places of the records that were kept, ascending: kept[first[b]:][:filled[b]]. More than
	// MaxCandidates+1 are never looked at.
	first  []int
	filled []uint32
	kept   []uint32

	cursors  [][]uint32 // over the buckets of one record
	removed  map[uint32]near
	members  map[uint32]int // of a cluster besides the kept record at a place, those that stay too
	overflow int
}

type near struct {
	witness uint32 // its place
	jaccard float64
}

func newPass(f *finder, order []uint32, b *buckets) *pass {
	p := &pass{f: f, order: order, buckets: b, removed: make(map[uint32]near), members: make(map[uint32]int)}
	p.cache.limit = int(min(f.opts.Memory/8, math.MaxInt)) / 8
	p.first, p.filled = make([]int, len(b.sizes)), make([]uint32, len(b.sizes))
	total := 0
	for i, size := range b.sizes {
		p.first[i] = total
		total += p.room(size)
	}
	p.kept = make([]uint32, total)
	return p
}

func (p *pass) room(size uint32) int { return min(int(size), p.f.opts.MaxCandidates+1) }

func (p *pass) run(ctx context.Context) error {
	pairs := p.buckets.pairs
	for from := 0; from < len(pairs); {
		if err := ctx.Err(); err != nil {
			return err
		}
		place := uint32(pairs[from] >> 32)
		to := from + 1
		for to < len(pairs) && uint32(pairs[to]>>32) == place {
			to++
		}
		found, err := p.witness(ctx, place, pairs[from:to])
		if err != nil {
			return err
		}
		switch {
		case found == nil:
			for _, pair := range pairs[from:to] {
				b := uint32(pair)
				if int(p.filled[b]) < p.room(p.buckets.sizes[b]) {
					p.kept[p.first[b]+int(p.filled[b])] = place
					p.filled[b]++
				}
			}
		default:
			// A member that stays by ClusterCap is no candidate for others: the kept records are those of a cap of 1 and these.
			p.members[found.witness]++
			if p.members[found.witness] >= p.f.opts.ClusterCap {
				p.removed[place] = *found
			}
		}
		from = to
	}
	return nil
}

// witness returns the first kept record before a place that shares a bucket and is alike; nil for none.
func (p *pass) witness(ctx context.Context, place uint32, pairs []uint64) (*near, error) {
	p.cursors = p.cursors[:0]
	for _, pair := range pairs {
		b := uint32(pair)
		if n := int(p.filled[b]); n > 0 {
			p.cursors = append(p.cursors, p.kept[p.first[b]:][:n])
		}
	}
	least := *p.f.opts.Jaccard
	var own []uint64
	for compared := 0; len(p.cursors) > 0; compared++ {
		if compared == p.f.opts.MaxCandidates {
			p.overflow++
			return nil, nil
		}
		if compared%256 == 255 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		candidate := p.next()
		if own == nil {
			var err error
			if own, err = p.set(place); err != nil {
				return nil, err
			}
		}
		other, err := p.set(candidate)
		if err != nil {
			return nil, err
		}
		if j := jaccard(own, other, least); j >= least {
			return &near{candidate, j}, nil
		}
	}
	return nil, nil
}

// next takes the smallest place off all cursors.
func (p *pass) next() uint32 {
	least := uint32(none)
	for _, c := range p.cursors {
		least = min(least, c[0])
	}
	left := p.cursors[:0]
	for _, c := range p.cursors {
		for len(c) > 0 && c[0] == least {
			c = c[1:]
		}
		if len(c) > 0 {
			left = append(left, c)
		}
	}
	p.cursors = left
	return least
}

func (p *pass) set(place uint32) ([]uint64, error) {
	if set, ok := p.cache.get(place); ok {
		return set, nil
	}
	set, err := p.f.load(nil, p.order[place])
	if err != nil {
		return nil, err
	}
	p.cache.put(place, set)
	return set, nil
}

// A cache holds sets of the last places asked for: up to limit elements in a young and as many in an old generation. What is
// asked for becomes young; when the young are too many, they become the old, and the old are forgotten.
type cache struct {
	limit      int
	size       int // of young
	young, old map[uint32][]uint64
}

// elementsOfEntry is what an entry costs besides its elements.
const elementsOfEntry = 8

func (c *cache) get(place uint32) ([]uint64, bool) {
	if set, ok := c.young[place]; ok {
		return set, true
	}
	set, ok := c.old[place]
	if ok {
		c.put(place, set)
	}
	return set, ok
}

func (c *cache) put(place uint32, set []uint64) {
	if n := len(set) + elementsOfEntry; c.young == nil || c.size+n > c.limit {
		c.old, c.young, c.size = c.young, make(map[uint32][]uint64), 0
	}
	c.young[place] = set
	c.size += len(set) + elementsOfEntry
}

// A setStore holds the shingles of all records.
type setStore struct {
	store store
	ats   []int64  // where those of a record begin
	sizes []uint32 // how many there are
	raw   []byte
}

// add takes the shingles of the next record, 8 bytes each.
func (s *setStore) add(set []byte) error {
	at, err := s.store.append(set)
	if err != nil {
		return err
	}
	s.ats = append(s.ats, at)
	s.sizes = append(s.sizes, uint32(len(set)/8))
	return nil
}

func (s *setStore) load(dst []uint64, record uint32) ([]uint64, error) {
	n := 8 * int(s.sizes[record])
	if cap(s.raw) < n {
		s.raw = make([]byte, n)
	}
	raw := s.raw[:n]
	if err := s.store.read(raw, s.ats[record]); err != nil {
		return nil, err
	}
	dst = slices.Grow(dst, len(raw)/8)
	for ; len(raw) > 0; raw = raw[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(raw))
	}
	return dst, nil
}
