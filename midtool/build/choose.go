package build

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/throughline-go/throughline/internal/filelock"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/dedup"
	"github.com/throughline-go/throughline/midtool/mix"
)

// A chosen unit is a line in the selection of a file.
type chosen struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Tier   string `json:"tier,omitempty"`
	Part   int    `json:"part"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Head   int64  `json:"head"`
	Tokens int    `json:"tokens"` // of all its lines
	Pass   int    `json:"pass,omitempty"`
}

// selected is what the stages that look at all units found.
type selected struct {
	Inputs        map[string]*inputCounts `json:"inputs"`
	Duplicates    Duplicates              `json:"duplicates"`
	Contamination Contamination           `json:"contamination"`
	Mix           Mix                     `json:"mix"`
}

// inputCounts is what became of the units of an input.
type inputCounts struct {
	Units    int      `json:"units"`
	Out      int      `json:"out"` // distinct ones in the corpus
	Drops    drops    `json:"drops"`
	Examples examples `json:"examples,omitempty"`
}

func (c *inputCounts) drop(stage, reason string, x Example) {
	c.Drops.add(stage, reason, 1)
	c.Examples.add(stage, reason, x)
}

// known is what is kept in memory of a unit: 56 bytes and its ID.
type known struct {
	id                   string
	offset, length, head int64
	part, tokens         int32
	kind, tier           uint8 // in names
	dropped              bool
}

// A chooser compares all units and chooses among them.
type chooser struct {
	*builder
	units   []known
	names   []string // of kinds and tiers
	matches map[int][]decontaminate.Match
	twice   map[int]bool // entries, in order, whose ID was there before
	out     selected
}

// choose finds duplicates and items of benchmarks, and chooses the mix, unless that is done already.
func (b *builder) choose(ctx context.Context) (*done, error) {
	const manifest = workDir + "/selection" + doneExt
	hashes := make([]string, 0, 2*len(b.made))
	for i, d := range b.made {
		hashes = append(hashes, b.parts[i].name)
		for _, f := range d.Files {
			hashes = append(hashes, f.SHA256)
		}
	}
	input := hashOf(hashes...)
	lock, err := b.dir.take("selection")
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%w: another one compares and chooses", ErrIncomplete)
	}
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	defer lock.Close()
	if d, err := b.dir.finished(manifest, b.config.Corpus, input, true); d != nil || err != nil {
		return d, err
	}
	c := &chooser{builder: b, matches: make(map[int][]decontaminate.Match), twice: make(map[int]bool)}
	c.out.Inputs = make(map[string]*inputCounts)
	if err := c.gather(ctx); err != nil {
		return nil, err
	}
	if err := c.compare(ctx); err != nil {
		return nil, err
	}
	if err := c.decontaminate(); err != nil {
		return nil, err
	}
	picks, err := c.mix()
	if err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(c.out.Inputs) {
		if in := c.out.Inputs[name]; in.Out+in.Drops.sum() != in.Units {
			return nil, fmt.Errorf("build: input %s: of %d units %d are out and %d were left out: a fault of this package", name, in.Units, in.Out,
				in.Drops.sum())
		}
	}
	d := &done{Stage: "selection", Shard: "all", Config: b.config.Corpus, Input: input, Drops: make(drops), Selection: &c.out, Records: len(picks)}
	for _, in := range c.out.Inputs {
		d.Drops.merge(in.Drops)
	}
	for _, s := range c.out.Mix.Sources {
		d.Tokens += s.Tokens
	}
	byFile := make([][]mix.Pick, b.opts.Shards)
	for _, p := range picks {
		i := mix.Shard(b.opts.Seed, c.units[p.Index].id, b.opts.Shards)
		byFile[i] = append(byFile[i], p)
	}
	for i, picks := range byFile {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := c.writeSelection(selectionFile(i), picks)
		if err != nil {
			return nil, err
		}
		d.Files = append(d.Files, f)
	}
	if err := b.dir.writeJSON(manifest, d); err != nil {
		return nil, err
	}
	return d, nil
}

func selectionFile(i int) string { return fmt.Sprintf("%s/%05d.jsonl", selectionDir, i) }

func (c *chooser) writeSelection(name string, picks []mix.Pick) (writtenFile, error) {
	f, err := c.dir.create(name)
	if err != nil {
		return writtenFile{}, err
	}
	defer f.abort()
	for _, p := range picks {
		u := &c.units[p.Index]
		line := chosen{ID: u.id, Kind: c.names[u.kind], Tier: c.names[u.tier], Part: int(u.part), Offset: u.offset, Length: u.length, Head: u.head,
			Tokens: int(u.tokens), Pass: p.Pass}
		if err := writeLine(f, line); err != nil {
			return writtenFile{}, err
		}
	}
	return f.commit()
}

func (c *chooser) name(s string) uint8 {
	i := slices.Index(c.names, s)
	if i < 0 {
		i = len(c.names)
		c.names = append(c.names, s)
	}
	return uint8(i)
}

func (c *chooser) input(p *part) *inputCounts {
	in := c.out.Inputs[p.input]
	if in == nil {
		in = &inputCounts{Drops: make(drops), Examples: make(examples)}
		c.out.Inputs[p.input] = in
	}
	return in
}

// gather reads the entries. Of units with one ID the first stays.
func (c *chooser) gather(ctx context.Context) error {
	total := 0
	for _, d := range c.made {
		total += d.Records
	}
	c.units = make([]known, 0, total)
	seen := make(map[string]bool, total)
	i := 0
	for _, p := range c.parts {
		in := c.input(p)
		for e, err := range c.dir.entries(p.entries()) {
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			in.Units++
			if seen[e.ID] {
				in.drop("dedup", "duplicate_id", Example{e.ID, ""})
				c.twice[i] = true
			} else {
				seen[e.ID] = true
				if len(e.Matches) > 0 {
					c.matches[len(c.units)] = e.Matches
				}
				c.units = append(c.units, known{id: e.ID, offset: e.Offset, length: e.Length, head: e.Head, part: int32(p.index),
					tokens: int32(min(e.Tokens, math.MaxInt32)), kind: c.name(e.Kind), tier: c.name(e.Tier)})
			}
			i++
		}
	}
	return nil
}

// sketches iterates over the sketches of the units, in order.
func (c *chooser) sketches(ctx context.Context) iter.Seq2[dedup.Sketch, error] {
	return func(yield func(dedup.Sketch, error) bool) {
		i := -1
		for _, p := range c.parts {
			for e, err := range c.dir.entries(p.entries()) {
				if err == nil {
					err = ctx.Err()
				}
				if i++; err == nil && c.twice[i] {
					continue
				}
				if !yield(e.sketched(p.input), err) || err != nil {
					return
				}
			}
		}
	}
}

// content reads the text of a unit that is compared.
func (c *chooser) content(i int) (string, error) {
	u := &c.units[i]
	data, err := c.library.read(c.parts[u.part].units(), u.offset, u.head)
	if err != nil {
		return "", err
	}
	decoded, err := decodeUnit(data)
	if err != nil {
		return "", fmt.Errorf("build: %q: %w", u.id, err)
	}
	return decoded.content(), nil
}

// compare finds the duplicates.
func (c *chooser) compare(ctx context.Context) error {
	o := c.opts.Dedup
	o.TempDir = c.dir.at(c.dir.temporary(c.dir.rank))
	o.Progress = func(n int) { c.opts.Progress("compare", min(n, len(c.units)), len(c.units)) }
	r, err := dedup.Find(ctx, c.sketches(ctx), c.content, &o)
	if _, lost := errors.AsType[*dedup.LossError](err); lost {
		return fmt.Errorf("build: %w; with Options.Redo another Dedup.MaxLoss or Jaccard keeps what was read and made", err)
	}
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	for _, x := range r.Removed {
		u := &c.units[x.Index]
		reason, detail := "near_duplicate", fmt.Sprintf("of %s, Jaccard %.3f", c.units[x.Witness].id, x.Jaccard)
		if x.Exact {
			reason, detail = "exact_duplicate", "of "+c.units[x.Witness].id
		}
		c.drop(u, "dedup", reason, detail)
	}
	c.out.Duplicates = duplicatesOf(r, &o)
	return nil
}

func (c *chooser) drop(u *known, stage, reason, detail string) {
	u.dropped = true
	c.input(c.parts[u.part]).drop(stage, reason, Example{u.id, detail})
}

// decontaminate leaves out the units that hold an item of a benchmark.
func (c *chooser) decontaminate() error {
	if len(c.opts.Benchmarks) == 0 {
		return nil
	}
	tally := c.index.Tally()
	place := make(map[string]int)
	for i := range c.units {
		if u := &c.units[i]; !u.dropped {
			if err := tally.Add(u.id, c.parts[u.part].input, c.matches[i]); err != nil {
				return fmt.Errorf("build: %q: %w", u.id, err)
			}
			if len(c.matches[i]) > 0 {
				place[u.id] = i
			}
		}
	}
	r := tally.Report()
	hit := make(map[string]decontaminate.Hit)
	for _, h := range r.Hits {
		if _, ok := hit[h.Record]; !ok && !slices.Contains(c.opts.Decontaminate.ReportOnly, h.Rule) {
			hit[h.Record] = h
		}
	}
	for _, id := range r.Dropped {
		h := hit[id]
		c.drop(&c.units[place[id]], "decontaminate", string(h.Rule), fmt.Sprintf("%s of %s: %s", h.Item, h.Benchmark, h.Text))
	}
	c.out.Contamination = contaminationOf(r)
	return nil
}

// sources that have a share.
var sources = []string{"web", "code", "pdf", nativeName}

// mix chooses among the units that are left.
func (c *chooser) mix() ([]mix.Pick, error) {
	left := 0
	for i := range c.units {
		if !c.units[i].dropped {
			left++
		}
	}
	units, at := make([]mix.Unit, 0, left), make([]int, 0, left)
	for i := range c.units {
		if u := &c.units[i]; !u.dropped {
			units = append(units, mix.Unit{ID: u.id, Source: mix.ShareOf(c.names[u.kind]), Tier: c.names[u.tier], Tokens: int(u.tokens)})
			at = append(at, i)
		}
	}
	o := c.opts.Mix
	if o.Shares != nil {
		// Who names some sources wants nothing of the others.
		o.Shares = maps.Clone(o.Shares)
		for _, name := range sources {
			o.Shares[name] += 0
		}
	}
	s, err := mix.Select(units, &o)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	taken := make([]bool, len(c.units))
	for i := range s.Picks {
		p := &s.Picks[i]
		p.Index = at[p.Index]
		if !taken[p.Index] {
			taken[p.Index] = true
			c.input(c.parts[c.units[p.Index].part]).Out++
		}
	}
	for _, i := range at {
		if u := &c.units[i]; !taken[i] {
			c.drop(u, "mix", "budget", "")
		}
	}
	c.out.Mix = mixOf(s)
	return s.Picks, nil
}
