package dedup

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
)

// partitions is how many parts the bands are sorted into by their hash, so that one after the other fits in memory.
const partitions = 256

// entryBytes is the size of a hash and a record.
const entryBytes = 8 + 4

// A bandIndex collects the bands of all records and says which records share one.
type bandIndex struct {
	store    store
	parts    [partitions][]byte    // entries in memory
	segments [partitions][]segment // entries in store
	size     int                   // bytes in parts
	limit    int
}

type segment struct {
	at   int64
	size int
}

func (x *bandIndex) add(record uint32, bands []uint64) error {
	for _, h := range bands {
		p := &x.parts[h>>56]
		*p = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(*p, h), record)
	}
	x.size += entryBytes * len(bands)
	if x.size <= x.limit {
		return nil
	}
	for i, p := range x.parts {
		if len(p) == 0 {
			continue
		}
		at, err := x.store.append(p)
		if err != nil {
			return err
		}
		x.segments[i] = append(x.segments[i], segment{at, len(p)})
		x.parts[i] = p[:0]
	}
	x.size = 0
	return nil
}

// Buckets are bands that two or more records share. The records are told by their places in the global order.
type buckets struct {
	sizes []uint32 // records of each
	pairs []uint64 // place of a record in the high half, bucket in the low; ascending
}

// An entry is a band of a record, by its place in the global order.
type entry struct {
	hash  uint64
	place uint32
}

// none is the place of a record that does not take part.
const none = math.MaxUint32

// shared returns the buckets of two or more records. The places of the records are none for those that do not take part.
func (x *bandIndex) shared(ctx context.Context, places []uint32, workers int) (*buckets, error) {
	var sizes, members [partitions][]uint32
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var raw []byte
			var entries []entry
			for p := w; p < partitions; p += workers {
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				if entries, raw, errs[w] = x.load(p, places, entries, raw); errs[w] != nil {
					return
				}
				slices.SortFunc(entries, func(a, b entry) int {
					return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.place, b.place))
				})
				for from := 0; from < len(entries); {
					to := from + 1
					for to < len(entries) && entries[to].hash == entries[from].hash {
						to++
					}
					if to > from+1 {
						sizes[p] = append(sizes[p], uint32(to-from))
						for _, e := range entries[from:to] {
							members[p] = append(members[p], e.place)
						}
					}
					from = to
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	b := new(buckets)
	n, count := 0, 0
	for p := range sizes {
		n, count = n+len(members[p]), count+len(sizes[p])
	}
	if uint64(count) > math.MaxUint32 {
		return nil, fmt.Errorf("dedup: %d bands are shared, more than %d", count, uint32(math.MaxUint32))
	}
	b.pairs = make([]uint64, 0, n)
	for p := range sizes {
		rest := members[p]
		for _, size := range sizes[p] {
			for _, place := range rest[:size] {
				b.pairs = append(b.pairs, uint64(place)<<32|uint64(len(b.sizes)))
			}
			rest = rest[size:]
			b.sizes = append(b.sizes, size)
		}
		sizes[p], members[p] = nil, nil
	}
	slices.Sort(b.pairs)
	return b, nil
}

// load takes the entries of a partition out into the memory of dst, by way of raw.
func (x *bandIndex) load(p int, places []uint32, dst []entry, raw []byte) ([]entry, []byte, error) {
	dst = dst[:0]
	read := func(b []byte) {
		for ; len(b) > 0; b = b[entryBytes:] {
			if place := places[binary.LittleEndian.Uint32(b[8:])]; place != none {
				dst = append(dst, entry{binary.LittleEndian.Uint64(b), place})
			}
		}
	}
	for _, s := range x.segments[p] {
		raw = slices.Grow(raw[:0], s.size)[:s.size]
		if err := x.store.read(raw, s.at); err != nil {
			return nil, nil, err
		}
		read(raw)
	}
	read(x.parts[p])
	x.parts[p] = nil
	return dst, raw, nil
}
