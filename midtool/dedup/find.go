package dedup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
)

// Find finds the duplicates among sketches, which a [Sketcher] made under the same options. For records that share a band it
// calls content, which returns the Content of the record with an index, from 0, in the order given; one call at a time, in the
// global order but for what it asks again. See the package comment for the rules.
//
// The result is not nil with a [*LossError], which says that a source loses too much. Other errors, with a nil result: that of
// ctx, of sketches or of content; two records of one ID; a sketch with another number of bands than the options; bad
// options; a temporary file. No records give an empty result. No file and no goroutine is left behind.
func Find(ctx context.Context, sketches iter.Seq2[Sketch, error], content func(i int) (string, error), o *Options) (*Result, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return find(ctx, sketches, content, &opts)
}

func find(ctx context.Context, sketches iter.Seq2[Sketch, error], content func(i int) (string, error), o *Options) (*Result, error) {
	f := newFinder(o)
	defer f.close()
	for k, err := range sketches {
		if err != nil {
			return nil, fmt.Errorf("dedup: after %d records: %w", f.records(), err)
		}
		if f.records()%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f.progress()
		}
		if err := f.add(&k); err != nil {
			return nil, err
		}
	}
	f.progress()
	var c cutter
	f.load = func(dst []uint64, record uint32) ([]uint64, error) {
		text, err := content(int(record))
		if err != nil {
			return nil, fmt.Errorf("dedup: content of record %d (%q): %w", record, f.ids.at(record), err)
		}
		return append(dst, c.shingles(text, o.ShingleWords, f.facts[record].zero)...), nil
	}
	return f.find(ctx)
}

// Run sketches records and finds the duplicates: [Find] for records that are read once. It writes 8 bytes for each shingle to a
// temporary file if they are more than a quarter of Options.Memory. Errors are those of [Find]. The records are read by the
// calling goroutine, and their Content is not kept.
func Run(ctx context.Context, records iter.Seq2[Record, error], o *Options) (*Result, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return run(ctx, records, &opts)
}

func run(ctx context.Context, records iter.Seq2[Record, error], o *Options) (*Result, error) {
	f := newFinder(o)
	defer f.close()
	sets := setStore{store: store{dir: o.TempDir, limit: int(min(o.Memory/4, math.MaxInt))}}
	defer sets.store.close()
	s := newSketcher(o)
	var wg sync.WaitGroup
	defer wg.Wait()
	start := func(b *batch) {
		for w := range o.Workers {
			wg.Go(func() {
				for i := w; i < len(b.records); i += o.Workers {
					b.sketch(s, i)
				}
			})
		}
	}
	read, sketched := new(batch), new(batch) // the workers sketch the second while the first is filled
	take := func() error {
		wg.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range sketched.records {
			if err := f.add(&sketched.sketches[i]); err != nil {
				return err
			}
			if err := sets.add(sketched.sets[i]); err != nil {
				return err
			}
		}
		f.progress()
		read, sketched = sketched, read
		read.clear()
		start(sketched)
		return nil
	}
	for r, err := range records {
		if err != nil {
			return nil, fmt.Errorf("dedup: after %d records: %w", f.records()+len(sketched.records)+len(read.records), err)
		}
		if read.add(r) {
			if err := take(); err != nil {
				return nil, err
			}
		}
	}
	for range 2 {
		if err := take(); err != nil {
			return nil, err
		}
	}
	f.load = sets.load
	return f.find(ctx)
}

// A batch of records is sketched in parallel.
type batch struct {
	records  []Record
	bytes    int
	sketches []Sketch
	sets     [][]byte
}

// Bounds of a batch: waiting for the slowest worker costs little, and so do long texts in memory.
const (
	batchRecords = 2048
	batchBytes   = 4 << 20
)

// add reports whether the batch is full.
func (b *batch) add(r Record) bool {
	b.records = append(b.records, r)
	b.bytes += len(r.Content)
	if len(b.sketches) < len(b.records) {
		b.sketches, b.sets = append(b.sketches, Sketch{}), append(b.sets, nil)
	}
	return len(b.records) == batchRecords || b.bytes >= batchBytes
}

func (b *batch) clear() {
	clear(b.records)
	for i, set := range b.sets {
		if cap(set) > 1<<16 {
			b.sets[i] = nil
		}
	}
	b.records, b.bytes = b.records[:0], 0
}

func (b *batch) sketch(s *Sketcher, i int) {
	w := s.workspaces.Get().(*workspace)
	defer s.workspaces.Put(w)
	b.sketches[i] = s.sketch(w, &b.records[i])
	set := b.sets[i][:0]
	for _, h := range w.set {
		set = binary.LittleEndian.AppendUint64(set, h)
	}
	b.sets[i] = set
}

// A finder holds what is known of all records.
type finder struct {
	opts  *Options
	ids   texts
	exact [][32]byte
	facts []fact
	bands bandIndex

	sources   []string
	sourceNum map[string]uint32

	// load appends the shingles of a record to dst.
	load func(dst []uint64, record uint32) ([]uint64, error)
}

// A fact is what else is kept of a record.
type fact struct {
	length int
	source uint32
	zero   bool
}

func newFinder(o *Options) *finder {
	f := &finder{opts: o, sourceNum: make(map[string]uint32)}
	f.bands.limit = int(min(o.Memory/4, math.MaxInt)) // half of Memory with the room to grow
	f.bands.store.dir = o.TempDir
	return f
}

func (f *finder) close() { f.bands.store.close() }

func (f *finder) records() int { return len(f.facts) }

func (f *finder) progress() {
	if f.opts.Progress != nil {
		f.opts.Progress(f.records())
	}
}

func (f *finder) add(k *Sketch) error {
	n := f.records()
	if uint64(n) == none {
		return fmt.Errorf("dedup: more than %d records", n)
	}
	if len(k.Bands) != 0 && len(k.Bands) != f.opts.Bands {
		return fmt.Errorf("dedup: record %d (%q) has %d bands, the options say %d", n, k.ID, len(k.Bands), f.opts.Bands)
	}
	source, ok := f.sourceNum[k.Source]
	if !ok {
		source = uint32(len(f.sources))
		f.sources = append(f.sources, k.Source)
		f.sourceNum[k.Source] = source
	}
	f.ids.add(k.ID)
	f.exact = append(f.exact, k.Exact)
	f.facts = append(f.facts, fact{k.Length, source, k.Zero})
	return f.bands.add(uint32(n), k.Bands)
}

// find looks for duplicates among the records that were added.
func (f *finder) find(ctx context.Context) (*Result, error) {
	ranks, err := f.ranks()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	originals := f.originals(ranks)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	order, places := f.order(ranks, originals)
	b, err := f.bands.shared(ctx, places, f.opts.Workers)
	if err != nil {
		return nil, err
	}
	p := newPass(f, order, b)
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	r := f.result(p, originals, places)
	return r, f.losses(r)
}

// ranks numbers the records in the order of their IDs.
func (f *finder) ranks() ([]uint32, error) {
	sorted := f.numbers()
	slices.SortFunc(sorted, func(a, b uint32) int {
		return cmp.Or(bytes.Compare(f.ids.at(a), f.ids.at(b)), cmp.Compare(a, b))
	})
	ranks := make([]uint32, len(sorted))
	for i, r := range sorted {
		if i > 0 && bytes.Equal(f.ids.at(r), f.ids.at(sorted[i-1])) {
			return nil, fmt.Errorf("dedup: records %d and %d have the same ID %q", sorted[i-1], r, f.ids.at(r))
		}
		ranks[r] = uint32(i)
	}
	return ranks, nil
}

func (f *finder) numbers() []uint32 {
	n := make([]uint32, f.records())
	for i := range n {
		n[i] = uint32(i)
	}
	return n
}

// originals returns for each record the one with the smallest ID of those with the same Exact.
func (f *finder) originals(ranks []uint32) []uint32 {
	type exact struct {
		head   uint64 // of the hash: decides nearly always
		record uint32
	}
	sorted := make([]exact, 0, f.records())
	for i := range f.exact {
		if f.exact[i] != ([32]byte{}) {
			sorted = append(sorted, exact{binary.BigEndian.Uint64(f.exact[i][:]), uint32(i)})
		}
	}
	slices.SortFunc(sorted, func(a, b exact) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return cmp.Or(bytes.Compare(f.exact[a.record][:], f.exact[b.record][:]), cmp.Compare(ranks[a.record], ranks[b.record]))
	})
	originals := f.numbers()
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; a.head == b.head && f.exact[a.record] == f.exact[b.record] {
			originals[b.record] = originals[a.record]
		}
	}
	f.exact = nil
	return originals
}

// order returns the originals in the global order, and for each record its place there.
func (f *finder) order(ranks, originals []uint32) (order, places []uint32) {
	for i, o := range originals {
		if int(o) == i {
			order = append(order, o)
		}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(f.facts[b].length, f.facts[a].length), cmp.Compare(ranks[a], ranks[b]))
	})
	places = ranks // of no use from here on
	for i := range places {
		places[i] = none
	}
	for place, r := range order {
		places[r] = uint32(place)
	}
	return order, places
}

// result counts what the pass and the exact copies come to.
func (f *finder) result(p *pass, originals, places []uint32) *Result {
	r := &Result{Records: f.records(), Overflow: p.overflow, Sources: make(map[string]Counts, len(f.sources))}
	counts := make([]Counts, len(f.sources))
	for i := range f.facts {
		c := &counts[f.facts[i].source]
		c.Records++
		original := originals[i]
		near, removed := p.removed[places[original]]
		switch {
		case int(original) != i:
			x := Removal{Index: i, Witness: int(original), Exact: true, Jaccard: 1}
			if removed {
				x.Witness, x.Jaccard = int(p.order[near.witness]), near.jaccard
			}
			r.Removed = append(r.Removed, x)
			c.Exact++
		case removed:
			r.Removed = append(r.Removed, Removal{Index: i, Witness: int(p.order[near.witness]), Jaccard: near.jaccard})
			c.Near++
		default:
			c.Largest = max(c.Largest, 1+p.members[places[i]])
		}
	}
	for i, c := range counts {
		r.Exact += c.Exact
		r.Near += c.Near
		r.Largest = max(r.Largest, c.Largest)
		r.Sources[f.sources[i]] = c
	}
	slices.Sort(f.sources)
	for _, source := range f.sources {
		if c := r.Sources[source]; c.Largest > max(50, c.Records/100) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("source %q: the largest cluster has %d members of %d records; "+
				"such texts may share a form and be no copies", source, c.Largest, c.Records))
		}
	}
	if r.Overflow > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d records have more than %d candidates and were compared with the first ones alone",
			r.Overflow, f.opts.MaxCandidates))
	}
	return r
}

// losses are the sources that lose too much; the sources are sorted.
func (f *finder) losses(r *Result) error {
	var errs []error
	for _, source := range f.sources {
		if c := r.Sources[source]; float64(c.Near)/float64(c.Records) > *f.opts.MaxLoss {
			errs = append(errs, &LossError{source, c.Records, c.Near, *f.opts.MaxLoss})
		}
	}
	return errors.Join(errs...)
}

// texts are strings in one piece of memory, which the garbage collector need not look into.
type texts struct {
	bytes []byte
	ends  []uint64
}

func (t *texts) add(s string) {
	t.bytes = append(t.bytes, s...)
	t.ends = append(t.ends, uint64(len(t.bytes)))
}

func (t *texts) at(i uint32) []byte {
	from := uint64(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.bytes[from:t.ends[i]]
}
