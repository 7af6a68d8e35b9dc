package decontaminate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	insideWords = 5  // of a short item that is looked for inside of messages
	sharedItems = 5  // of a benchmark that may have a run of words before it says nothing of any of them
	maxRun      = 32 // words
	maxShort    = 64 // words; the last so many are remembered in a scan
)

// An Index finds the items of benchmarks. It is safe for concurrent use.
type Index struct {
	n          int
	maxRecords int
	maxShare   float64
	reportOnly []Rule

	benchmarks []benchmark
	ids        []string // of the items of all benchmarks

	grams  *table
	power  uint64             // base to the n
	shorts *table             // short items as a whole
	inside []span             // lengths of short items that are looked for inside of messages
	whole  []bool             // by length: short items that only a whole message can be
	tools  map[string][]int32 // items by toolKey, the first of each benchmark that has it
	names  map[string]bool    // of functions, to see fast that a tool is none
}

// A span is a number of words with the power of base that belongs to it.
type span struct {
	words int
	power uint64
}

// A benchmark is what is kept of one.
type benchmark struct {
	name      string
	first     int // of its items
	invisible float64
}

// NewIndex indexes benchmarks. The error names options that are out of range, a benchmark without a name or with that of another, and
// benchmarks whose texts are longer than 4 GiB.
func NewIndex(benchmarks []Benchmark, o *Options) (*Index, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	ix := &Index{n: opts.N, power: power(opts.N), maxRecords: opts.MaxRecords, maxShare: *opts.MaxShare, reportOnly: slices.Clone(opts.ReportOnly),
		tools: make(map[string][]int32), names: make(map[string]bool)}
	b := builder{ix: ix, opts: &opts}
	seen := make(map[string]bool)
	for i := range benchmarks {
		name := benchmarks[i].Name
		if name == "" || seen[name] {
			return nil, fmt.Errorf("decontaminate: benchmark %d: name %q is empty or that of another", i, name)
		}
		seen[name] = true
		if err := b.add(&benchmarks[i]); err != nil {
			return nil, err
		}
	}
	b.finish()
	return ix, nil
}

func (o *Options) withDefaults() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	var faults []error
	set := func(name string, value *int, def, least, most int) {
		if *value == 0 {
			*value = def
		}
		if *value < least || *value > most {
			faults = append(faults, fmt.Errorf("decontaminate: %s is %d, want %d to %d", name, *value, least, most))
		}
	}
	set("N", &opts.N, 8, 2, maxRun)
	set("ShortWords", &opts.ShortWords, 13, 1, maxShort)
	set("MaxRecords", &opts.MaxRecords, 10, 1, math.MaxInt)
	if opts.MaxShare == nil {
		opts.MaxShare = new(0.001)
	}
	if s := *opts.MaxShare; !(s >= 0 && s <= 1) {
		faults = append(faults, fmt.Errorf("decontaminate: MaxShare is %v, want 0 to 1", s))
	}
	for _, r := range opts.ReportOnly {
		if !slices.Contains(Rules(), r) {
			faults = append(faults, fmt.Errorf("decontaminate: ReportOnly has %q, which is no rule", r))
		}
	}
	return opts, errors.Join(faults...)
}

// A builder collects what an index is made of.
type builder struct {
	ix            *Index
	opts          *Options
	text          []byte // normalized, of all items
	grams, shorts []occurrence
	counted       []int32 // by item: the first that reads the same, whose runs of words it has
}

// add takes the items of a benchmark.
func (b *builder) add(bench *Benchmark) error {
	ix := b.ix
	first := len(ix.ids)
	ix.benchmarks = append(ix.benchmarks, benchmark{name: bench.Name, first: first})
	if len(bench.Items) > math.MaxInt32-first {
		return fmt.Errorf("decontaminate: benchmark %q: more than %d items", bench.Name, math.MaxInt32)
	}
	texts := make(map[string]int32)
	tools := make(map[string]bool)
	var list []occurrence // of the words of an item, one each
	for i := range bench.Items {
		it := &bench.Items[i]
		item := int32(first + i)
		ix.ids = append(ix.ids, strings.Clone(it.ID))
		if it.Function != "" {
			name := toolName(it.Function)
			ix.names[name] = true
			if key := toolKey(name, it.Parameters, it.Description); !tools[key] {
				tools[key] = true
				ix.tools[key] = append(ix.tools[key], item)
			}
		}
		start := len(b.text)
		b.text = appendNormalized(b.text, it.Text)
		if len(b.text) > math.MaxUint32 {
			return fmt.Errorf("decontaminate: benchmark %q: the texts up to item %q are longer than 4 GiB", bench.Name, it.ID)
		}
		text := string(b.text[start:])
		if same, ok := texts[text]; ok || text == "" {
			b.text = b.text[:start]
			if !ok {
				same = item
			}
			b.counted = append(b.counted, same)
			continue
		}
		texts[text] = item
		b.counted = append(b.counted, item)
		list = list[:0]
		for w := (words{text: text}); w.next(); {
			list = append(list, occurrence{w.hash, uint32(start + w.start), uint32(start + w.end), item})
		}
		b.index(list)
	}
	return nil
}

// index adds the runs of words of an item, and the item as a whole if it is short.
func (b *builder) index(words []occurrence) {
	n := b.opts.N
	zero := func(o *occurrence) bool { return o.end-o.start == 1 && b.text[o.start] == '0' }
	hash, zeros := uint64(0), 0
	for i := range words {
		hash = hash*base + words[i].hash
		if zero(&words[i]) {
			zeros++
		}
		if i >= n {
			hash -= words[i-n].hash * b.ix.power
			if zero(&words[i-n]) {
				zeros--
			}
		}
		if i >= n-1 && zeros < (n+1)/2 {
			b.grams = append(b.grams, occurrence{hash, words[i-n+1].start, words[i].end, words[i].item})
		}
	}
	if len(words) < b.opts.ShortWords {
		hash = 0
		for i := range words {
			hash = hash*base + words[i].hash
		}
		b.shorts = append(b.shorts, occurrence{hash, words[0].start, words[len(words)-1].end, words[0].item})
	}
}

// finish makes the tables.
func (b *builder) finish() {
	ix := b.ix
	b.text = slices.Clip(b.text)
	visible := make([]bool, len(ix.ids))
	ix.grams = newTable(b.text, b.grams, func(items []int32) []int32 {
		kept := items[:0]
		for i := 0; i < len(items); {
			end := i + 1
			for of := ix.benchmarkOf(int(items[i])); end < len(items) && ix.benchmarkOf(int(items[end])) == of; {
				end++
			}
			if end-i <= sharedItems {
				kept = append(kept, items[i:end]...)
			}
			i = end
		}
		for _, item := range kept {
			visible[item] = true
		}
		return kept
	})
	lengths := make(map[int]bool)
	ix.shorts = newTable(b.text, b.shorts, func(items []int32) []int32 { return items })
	for i := range ix.shorts.runs {
		lengths[strings.Count(string(ix.shorts.words(i)), " ")+1] = true
	}
	ix.whole = make([]bool, insideWords)
	for words := range maxShort {
		switch {
		case !lengths[words]:
		case words < insideWords:
			ix.whole[words] = true
		default:
			ix.inside = append(ix.inside, span{words, power(words)})
		}
	}
	for k := range ix.benchmarks {
		bench := &ix.benchmarks[k]
		end := len(ix.ids)
		if k+1 < len(ix.benchmarks) {
			end = ix.benchmarks[k+1].first
		}
		unseen := 0
		for i := bench.first; i < end; i++ {
			if !visible[b.counted[i]] {
				unseen++
			}
		}
		if end > bench.first {
			bench.invisible = float64(unseen) / float64(end-bench.first)
		}
	}
}

// benchmarkOf returns the number of an item's benchmark.
func (ix *Index) benchmarkOf(item int) int {
	at, found := slices.BinarySearchFunc(ix.benchmarks, item, func(b benchmark, item int) int { return b.first - item })
	if !found {
		return at - 1
	}
	for at+1 < len(ix.benchmarks) && ix.benchmarks[at+1].first == item { // those before it are empty
		at++
	}
	return at
}
