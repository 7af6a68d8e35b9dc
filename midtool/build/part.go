package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/grounded"
	"github.com/throughline-go/throughline/midtool/native"
)

// A part is a piece of an input that is made as a whole: a run of documents, or of planned samples.
type part struct {
	index    int
	name     string
	input    string
	source   document.Source // nil for planned samples
	whole    document.Source // the input that it is a part of
	from, to int             // of these
}

func (p *part) units() string    { return partsDir + "/" + p.name + ".jsonl" }
func (p *part) entries() string  { return partsDir + "/" + p.name + ".index.jsonl" }
func (p *part) manifest() string { return partsDir + "/" + p.name + doneExt }

// plan divides the inputs into parts. All ranks find the same ones.
func (b *builder) plan(ctx context.Context) error {
	add := func(p part) {
		p.index = len(b.parts)
		b.parts = append(b.parts, &p)
	}
	for _, in := range b.opts.Documents {
		sources := []document.Source{in.Source}
		if s, ok := in.Source.(document.Splitter); ok {
			var err error
			if sources, err = s.Split(ctx, b.opts.ShardRecords); err != nil {
				return fmt.Errorf("build: input %q: %w", in.Name, err)
			}
		}
		for i, s := range sources {
			add(part{name: fmt.Sprintf("%s-%05d", in.Name, i), input: in.Name, source: s, whole: in.Source})
		}
	}
	if len(b.opts.Tools) > 0 {
		tools, contaminated, err := b.uncontaminated()
		if err != nil {
			return err
		}
		if b.native, err = native.NewPlan(ctx, tools, &b.opts.Native); err != nil {
			return fmt.Errorf("build: %w", err)
		}
		b.leftOut, b.used = append(b.native.Rejected(), contaminated...), b.native.Tools()
		for from, i := 0, 0; from < b.native.Len(); from, i = from+b.opts.ShardRecords, i+1 {
			add(part{name: fmt.Sprintf("%s-%05d", nativeName, i), input: nativeName, from: from, to: min(from+b.opts.ShardRecords, b.native.Len())})
		}
	}
	b.made = make([]*done, len(b.parts))
	return nil
}

// uncontaminated leaves out the tools that a benchmark has: one of them among those offered would cost the sample.
func (b *builder) uncontaminated() (kept []midtool.Tool, rejected []midtool.Rejection, err error) {
	if len(b.opts.Benchmarks) == 0 {
		return b.opts.Tools, nil, nil
	}
	tally := b.index.Tally()
	id := func(i int) string { return strconv.Itoa(i) }
	for i := range b.opts.Tools {
		matches := b.index.Scan(&decontaminate.Record{Tools: b.opts.Tools[i : i+1]})
		if err := tally.Add(id(i), "tools", matches); err != nil {
			return nil, nil, fmt.Errorf("build: %w", err)
		}
	}
	report := tally.Report()
	dropped := make(map[string]bool)
	for _, d := range report.Dropped {
		dropped[d] = true
	}
	rule := make(map[string]string)
	for _, h := range report.Hits {
		if _, ok := rule[h.Record]; !ok {
			rule[h.Record] = fmt.Sprintf("%s of %s", h.Item, h.Benchmark)
		}
	}
	for i, t := range b.opts.Tools {
		if dropped[id(i)] {
			rejected = append(rejected, midtool.Rejection{Tool: t.Name, ToolID: t.ID, Group: t.Group, Origin: t.Origin,
				Reason: "same_tool", Detail: rule[id(i)]})
			continue
		}
		kept = append(kept, t)
	}
	return kept, rejected, nil
}

// drops counts what was left out by stage and reason.
type drops map[string]map[string]int

func (d drops) add(stage, reason string, n int) {
	if d[stage] == nil {
		d[stage] = make(map[string]int)
	}
	d[stage][reason] += n
}

func (d drops) merge(other drops) {
	for stage, reasons := range other {
		for reason, n := range reasons {
			d.add(stage, reason, n)
		}
	}
}

func (d drops) sum() int {
	n := 0
	for _, reasons := range d {
		for _, k := range reasons {
			n += k
		}
	}
	return n
}

// An Example is one of the records that were left out for a reason.
type Example struct {
	ID     string `json:"id"` // or the place, of what has none
	Detail string `json:"detail,omitempty"`
}

// mostExamples is how many are shown for a reason.
const mostExamples = 3

// examples has the first records that were left out, by stage and reason.
type examples map[string][]Example

func (e examples) add(stage, reason string, x ...Example) {
	key := stage + "/" + reason
	for _, x := range x[:min(len(x), mostExamples-min(len(e[key]), mostExamples))] {
		x.Detail = cut(x.Detail, 200)
		e[key] = append(e[key], x)
	}
}

func (e examples) merge(other examples) {
	for key, x := range other {
		e[key] = append(e[key], x[:min(len(x), mostExamples-min(len(e[key]), mostExamples))]...)
	}
}

// partCounts is what was seen in a part besides its units.
type partCounts struct {
	Read     int            `json:"read"` // documents, also those that the source rejected, or planned samples
	Examples examples       `json:"examples,omitempty"`
	Secrets  int            `json:"secrets,omitempty"`
	Tiers    map[string]int `json:"tiers,omitempty"`   // documents of each kind and tier, as "web/qa"
	Planned  map[string]int `json:"planned,omitempty"` // pieces of augmentation by kind, or samples by family
	Missed   map[string]int `json:"missed,omitempty"`  // of these, the ones that were not made, by reason
}

// makePart makes the units of a part, unless they are there already.
func (b *builder) makePart(ctx context.Context, p *part) error {
	digest, err := b.digest(ctx, p)
	if err != nil {
		return fmt.Errorf("build: input %q: %w", p.input, err)
	}
	d, err := b.dir.finished(p.manifest(), b.config.Parts, digest, true)
	if d != nil || err != nil {
		b.made[p.index] = d
		return err
	}
	w, err := b.writePart(p)
	if err != nil {
		return err
	}
	defer w.abort()
	if p.source != nil {
		// Each part has a generator of its own, for what one learns of the tools of documents is of no use to the next.
		if b.ground, err = grounded.New(&b.opts.Grounded); err != nil {
			return fmt.Errorf("build: %w", err)
		}
		defer b.ground.Close()
		err = b.readDocuments(ctx, p, w)
	} else {
		err = b.makeSamples(ctx, p, w)
	}
	if err != nil {
		return err
	}
	d, err = w.commit(&done{Stage: "part", Shard: p.name, Config: b.config.Parts, Input: digest})
	if err != nil {
		return err
	}
	b.made[p.index] = d
	return nil
}

// digest stands for what a part is made of: for its own content if it can be told, else for that of the whole input, else it is empty.
func (b *builder) digest(ctx context.Context, p *part) (string, error) {
	if d, ok := p.source.(document.Digester); ok {
		return supported(d.Digest(ctx))
	}
	d, ok := p.whole.(document.Digester)
	if !ok {
		return "", nil
	}
	if b.digests == nil {
		b.digests = make(map[string]string)
	}
	if b.digests[p.input] == "" {
		var err error
		if b.digests[p.input], err = supported(d.Digest(ctx)); err != nil {
			return "", err
		}
	}
	return b.digests[p.input], nil
}

// supported turns the error of a source that is made of one without a digest into none.
func supported(digest string, err error) (string, error) {
	if errors.Is(err, errors.ErrUnsupported) {
		return "", nil
	}
	return digest, err
}

// wait gathers the manifests of the parts of other ranks.
func (b *builder) wait() error {
	missing, first := 0, ""
	for _, p := range b.parts {
		if b.made[p.index] != nil {
			continue
		}
		var d done
		found, err := b.dir.readJSON(p.manifest(), &d)
		if err != nil {
			return err
		}
		if found && d.Config == b.config.Parts && !slices.ContainsFunc(d.Files, func(w writtenFile) bool { return !b.dir.holds(w, false) }) {
			b.made[p.index] = &d
			continue
		}
		if missing++; missing == 1 {
			first = p.name
		}
	}
	if missing > 0 {
		return fmt.Errorf("%w: %d of %d parts, %s first", ErrIncomplete, missing, len(b.parts), first)
	}
	return nil
}

// A partWriter writes the units of a part and their index.
type partWriter struct {
	part         *part
	units, index *newFile
	dir          *folder
	offset       int64
	counts       partCounts
	drops        drops
	kept, tokens int
}

func (b *builder) writePart(p *part) (*partWriter, error) {
	w := &partWriter{part: p, dir: b.dir, drops: make(drops), counts: partCounts{
		Examples: make(examples), Tiers: make(map[string]int), Planned: make(map[string]int), Missed: make(map[string]int)}}
	var err error
	if w.units, err = b.dir.create(p.units()); err != nil {
		return nil, err
	}
	if w.index, err = b.dir.create(p.entries()); err != nil {
		w.units.abort()
		return nil, err
	}
	return w, nil
}

func (w *partWriter) abort() {
	w.units.abort()
	w.index.abort()
}

func (w *partWriter) drop(stage, reason string, x Example) {
	w.drops.add(stage, reason, 1)
	w.counts.Examples.add(stage, reason, x)
}

// put writes a unit that was encoded.
func (w *partWriter) put(e *entry, lines []byte) error {
	e.Offset, e.Length = w.offset, int64(len(lines))
	w.offset += e.Length
	w.kept++
	w.tokens += e.Tokens
	if _, err := w.units.Write(lines); err != nil {
		return err
	}
	return writeLine(w.index, e)
}

// commit finishes both files and says so.
func (w *partWriter) commit(d *done) (*done, error) {
	if out := w.kept + w.drops.sum(); out != w.counts.Read {
		return nil, fmt.Errorf("build: part %s: %d records were read, and %d were kept or left out: a fault of this package", w.part.name,
			w.counts.Read, out)
	}
	d.Records, d.Tokens, d.Drops, d.Part = w.kept, w.tokens, w.drops, &w.counts
	for _, f := range []*newFile{w.units, w.index} {
		written, err := f.commit()
		if err != nil {
			return nil, err
		}
		d.Files = append(d.Files, written)
	}
	if err := w.dir.writeJSON(w.part.manifest(), d); err != nil {
		return nil, err
	}
	return d, nil
}

// sampleTokens is the length of a sample in the corpus: that of its plain text.
func (b *builder) sampleTokens(s *midtool.Sample) int {
	r, err := format.Plain(&format.Record{Sample: s})
	if err != nil {
		return 0
	}
	return b.opts.Tokens(r.Text)
}

// addCounts adds up counts by name.
func addCounts(to, from map[string]int) {
	for _, k := range slices.Sorted(maps.Keys(from)) {
		to[k] += from[k]
	}
}
