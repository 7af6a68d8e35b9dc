package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/internal/filelock"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/dedup"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/mix"
)

// A Report says what a corpus consists of, where it came from, and what was left out. All shares are in [0, 1]. The same
// inputs and options give the same report.
type Report struct {
	Version       int    `json:"version"` // of the format of the folder
	Configuration string `json:"configuration"`
	Seed          uint64 `json:"seed"`
	Counter       string `json:"counter"` // of tokens: "approx-1", or Options.Names["tokens"]

	Units   int `json:"units"`   // documents with their samples, and native samples; each as often as it was taken
	Records int `json:"records"` // documents and samples
	Tokens  int `json:"tokens"`

	Inputs        map[string]Flow          `json:"inputs"` // by name; that of the samples made of tools is "native"
	Tools         ToolFlow                 `json:"tools"`
	Mix           Mix                      `json:"mix"`
	Branches      map[string]Branch        `json:"branches"` // "source": documents; "context": samples grounded in them; "native": samples of tools
	Duplicates    Duplicates               `json:"duplicates"`
	Contamination Contamination            `json:"contamination"`
	Percentiles   map[string]int           `json:"percentiles"` // tokens of a record: "p1", "p10", "p50", "p90", "p99"
	Repetition    map[string]Repetition    `json:"repetition"`  // by source
	Samples       *midtool.Summary         `json:"samples"`     // of all conversations
	Outputs       map[string]OutputSummary `json:"outputs"`     // by name
	Warnings      []string                 `json:"warnings"`    // what a person should look at, the most important first
}

// A Flow is what became of the records of an input: Read is the sum of Out and of all that Drops counts.
type Flow struct {
	Read     int                       `json:"read"` // documents, or planned samples
	Drops    map[string]map[string]int `json:"drops"`
	Out      int                       `json:"out"`      // distinct ones in the corpus
	Examples map[string][]Example      `json:"examples"` // the first that were left out, by "stage/reason"; at most 3
	Secrets  int                       `json:"secrets"`  // replaced in documents that passed the filters
	Tiers    map[string]int            `json:"tiers"`    // documents that passed the filters, as "kind/tier"
	Planned  map[string]int            `json:"planned"`  // pieces of augmentation by kind, or samples by family
	Missed   map[string]int            `json:"missed"`   // pieces of augmentation that were not made, by reason
}

// A ToolFlow is what became of the tools.
type ToolFlow struct {
	Read     int                  `json:"read"`
	Used     int                  `json:"used"`
	Drops    map[string]int       `json:"drops"`
	Examples map[string][]Example `json:"examples"`
}

// A Mix compares the corpus with the shares that it should have.
type Mix struct {
	Budget  int                  `json:"budget"`
	Sources map[string]SourceMix `json:"sources"`
	Notes   []string             `json:"notes"`
}

// A SourceMix is a source in a [Mix].
type SourceMix struct {
	Available int                `json:"available"` // tokens after all filters
	Target    int                `json:"target"`
	Tokens    int                `json:"tokens"`
	Units     int                `json:"units"`
	Want      float64            `json:"want"`
	Got       float64            `json:"got"`
	Tiers     map[string]TierMix `json:"tiers"`
}

// A TierMix compares the documents of a tier with the share of documents that they should be, or have in MidTool.
type TierMix struct {
	Units  int     `json:"units"`
	Tokens int     `json:"tokens"`
	Want   float64 `json:"want"`
	Got    float64 `json:"got"`
}

// A Branch is a part of the corpus by how it was made.
type Branch struct {
	Records int     `json:"records"`
	Tokens  int     `json:"tokens"`
	Share   float64 `json:"share"`
}

// Duplicates is what was found to repeat.
type Duplicates struct {
	Records  int                `json:"records"` // compared
	Exact    int                `json:"exact"`
	Near     int                `json:"near"`
	Largest  int                `json:"largest"`  // members of the largest cluster
	Overflow int                `json:"overflow"` // candidates that were not compared
	Loss     map[string]float64 `json:"loss"`     // share of the records of an input that are near-duplicates
	Curve    map[string]float64 `json:"curve"`    // probability that two texts are compared, by their similarity
	Warnings []string           `json:"warnings"`
}

// Contamination is what of the benchmarks was found.
type Contamination struct {
	Dropped   int                       `json:"dropped"`
	Counts    map[string]map[string]int `json:"counts"`    // hits by benchmark and rule
	Invisible map[string]float64        `json:"invisible"` // share of a benchmark's items that grams cannot see
	Ignored   []decontaminate.Ignored   `json:"ignored"`   // the first 100 runs of words that are too common
	Hits      []decontaminate.Hit       `json:"hits"`      // the first 100
}

// Repetition says how much a source repeats itself, on a cut of up to 100,000 words, for both figures depend on the length.
type Repetition struct {
	Words    int     `json:"words"`
	Gzip     float64 `json:"gzip"`     // compressed bytes by bytes
	Distinct float64 `json:"distinct"` // different runs of four words by all of them
}

// An OutputSummary adds up the files of an output.
type OutputSummary struct {
	Files   int            `json:"files"`
	Records int            `json:"records"`
	Bytes   int64          `json:"bytes"`
	Tokens  int            `json:"tokens"`
	Trained int            `json:"trained"` // as the Counts of its Sink
	Skipped map[string]int `json:"skipped"`
}

// mostHits is how many hits of benchmarks, and common runs of words, a report has.
const mostHits = 100

func duplicatesOf(r *dedup.Result, o *dedup.Options) Duplicates {
	d := Duplicates{Records: r.Records, Exact: r.Exact, Near: r.Near, Largest: r.Largest, Overflow: r.Overflow, Warnings: r.Warnings,
		Loss: make(map[string]float64), Curve: make(map[string]float64)}
	for name, c := range r.Sources {
		if c.Records > 0 {
			d.Loss[name] = round4(float64(c.Near) / float64(c.Records))
		}
	}
	bands, rows := o.Bands, o.Rows
	if bands == 0 {
		bands = 14
	}
	if rows == 0 {
		rows = 8
	}
	for _, s := range []float64{0.5, 0.6, 0.7, 0.8, 0.9} {
		d.Curve[fmt.Sprintf("%.1f", s)] = round4(dedup.CandidateProbability(s, bands, rows))
	}
	return d
}

func contaminationOf(r *decontaminate.Report) Contamination {
	c := Contamination{Dropped: len(r.Dropped), Counts: make(map[string]map[string]int), Invisible: make(map[string]float64),
		Ignored: r.Ignored[:min(len(r.Ignored), mostHits)], Hits: r.Hits[:min(len(r.Hits), mostHits)]}
	for name, rules := range r.Counts {
		c.Counts[name] = make(map[string]int)
		for rule, n := range rules {
			c.Counts[name][string(rule)] = n
		}
	}
	for name, share := range r.Invisible {
		c.Invisible[name] = round4(share)
	}
	return c
}

func mixOf(s *mix.Selection) Mix {
	m := Mix{Budget: s.Budget, Sources: make(map[string]SourceMix), Notes: s.Notes}
	for name, x := range s.Sources {
		source := SourceMix{Available: x.Available, Target: x.Target, Tokens: x.Tokens, Units: x.Units, Want: round4(x.Want), Got: round4(x.Got)}
		source.Tiers = make(map[string]TierMix)
		for tier, y := range x.Tiers {
			source.Tiers[tier] = TierMix{y.Units, y.Tokens, round4(y.Want), round4(y.Got)}
		}
		m.Sources[name] = source
	}
	return m
}

// round4 keeps what a reader can use, so that reports do not differ in the last bit of a float.
func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// report writes the report once all files of all ranks are there.
func (b *builder) report(ctx context.Context, selection *done) (*Report, error) {
	const manifest = workDir + "/report" + doneExt
	lock, err := b.dir.take("report")
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%w: another one writes the report", ErrIncomplete)
	}
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	defer lock.Close()
	written, err := b.written(selection)
	if err != nil {
		return nil, err
	}
	hashes := []string{selection.Input}
	for _, files := range written {
		for _, d := range files {
			hashes = append(hashes, d.Shard)
			for _, f := range d.Files {
				hashes = append(hashes, f.SHA256)
			}
		}
	}
	input := hashOf(hashes...)
	var r Report
	if d, err := b.dir.finished(manifest, b.config.Corpus, input, true); err != nil {
		return nil, err
	} else if d != nil {
		found, err := b.dir.readJSON(reportJSON, &r)
		if err != nil {
			return nil, err
		}
		if found {
			return &r, nil
		}
	}
	r = Report{Version: formatVersion, Configuration: b.config.Corpus, Seed: b.opts.Seed, Counter: "approx-1", Units: selection.Records,
		Mix: selection.Selection.Mix, Duplicates: selection.Selection.Duplicates, Contamination: selection.Selection.Contamination,
		Outputs: make(map[string]OutputSummary)}
	if name := b.opts.Names["tokens"]; name != "" {
		r.Counter = name
	}
	for i, files := range written {
		r.Outputs[b.opts.Outputs[i].Name] = outputSummary(files)
	}
	if err := b.flows(&r, selection); err != nil {
		return nil, err
	}
	if err := b.look(ctx, &r, selection); err != nil {
		return nil, err
	}
	r.Warnings = r.warnings()
	data, err := sortedJSON(&r)
	if err != nil {
		return nil, err
	}
	d := &done{Stage: "report", Shard: "all", Config: b.config.Corpus, Input: input, Records: r.Records, Tokens: r.Tokens}
	for _, f := range []struct {
		name string
		data []byte
	}{{reportJSON, data}, {reportText, r.markdown()}} {
		w, err := b.dir.write(f.name, f.data)
		if err != nil {
			return nil, err
		}
		d.Files = append(d.Files, w)
	}
	if err := b.dir.writeJSON(manifest, d); err != nil {
		return nil, err
	}
	return &r, nil
}

func outputSummary(files []*done) OutputSummary {
	s := OutputSummary{Skipped: make(map[string]int)}
	for _, d := range files {
		s.Files += len(d.Files)
		s.Records += d.Output.Written
		s.Bytes += d.Output.Bytes
		s.Tokens += d.Output.Tokens
		s.Trained += d.Output.Trained
		addCounts(s.Skipped, d.Output.Skipped)
	}
	return s
}

// flows adds up what became of the records of each input.
func (b *builder) flows(r *Report, selection *done) error {
	r.Inputs = make(map[string]Flow)
	start := func(name string) {
		r.Inputs[name] = Flow{Drops: make(drops), Examples: make(examples), Tiers: make(map[string]int), Planned: make(map[string]int),
			Missed: make(map[string]int)}
	}
	for _, in := range b.opts.Documents {
		start(in.Name) // also one that has no part
	}
	if len(b.opts.Tools) > 0 {
		start(nativeName)
	}
	for i, p := range b.parts {
		f, d := r.Inputs[p.input], b.made[i]
		f.Read += d.Part.Read
		drops(f.Drops).merge(d.Drops)
		examples(f.Examples).merge(d.Part.Examples)
		f.Secrets += d.Part.Secrets
		addCounts(f.Tiers, d.Part.Tiers)
		addCounts(f.Planned, d.Part.Planned)
		addCounts(f.Missed, d.Part.Missed)
		r.Inputs[p.input] = f
	}
	for name, in := range selection.Selection.Inputs {
		f := r.Inputs[name]
		f.Out = in.Out
		drops(f.Drops).merge(in.Drops)
		examples(f.Examples).merge(in.Examples)
		r.Inputs[name] = f
	}
	for _, name := range sortedKeys(r.Inputs) {
		if f := r.Inputs[name]; f.Out+drops(f.Drops).sum() != f.Read {
			return fmt.Errorf("build: input %s: %d records were read, %d are out and %d were left out: a fault of this package", name, f.Read, f.Out,
				drops(f.Drops).sum())
		}
	}
	r.Tools = ToolFlow{Read: len(b.opts.Tools), Drops: make(map[string]int), Examples: make(map[string][]Example)}
	r.Tools.Used = b.used
	for i := range b.leftOut {
		x := &b.leftOut[i]
		r.Tools.Drops[x.Reason]++
		examples(r.Tools.Examples).add("tools", x.Reason, Example{x.Tool, x.Detail})
	}
	return nil
}

// look goes through the corpus once more, in the order of its files. It reads all samples, and of the documents as much as
// the figures on repetition need.
func (b *builder) look(ctx context.Context, r *Report, selection *done) error {
	r.Samples = new(midtool.Summary)
	r.Branches = make(map[string]Branch)
	r.Repetition = make(map[string]Repetition)
	cuts := make(map[string]*repetition)
	var lengths []int32
	count := func(branch string, tokens int) {
		x := r.Branches[branch]
		x.Records++
		x.Tokens += tokens
		r.Branches[branch] = x
		lengths = append(lengths, int32(min(tokens, math.MaxInt32)))
		r.Records++
		r.Tokens += tokens
	}
	for _, f := range selection.Files[:b.opts.Shards] {
		for c, err := range b.chosen(f.Name) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			source := mix.ShareOf(c.Kind)
			cut := cuts[source]
			if cut == nil {
				cut = newRepetition()
				cuts[source] = cut
			}
			document := c.Kind != nativeName
			skip := int64(0)
			if document && cut.full() {
				skip = c.Head
			}
			u, err := b.unit(&c, skip)
			if err != nil {
				return err
			}
			branch := nativeName
			if document {
				branch = "context"
				if u.document != nil {
					cut.add(u.document.Text)
				}
			}
			left := c.Tokens
			for i := range u.samples {
				n := b.sampleTokens(&u.samples[i])
				left -= n
				count(branch, n)
				r.Samples.Add(&u.samples[i], n)
				if !cut.full() {
					if text, err := format.Plain(&format.Record{Sample: &u.samples[i]}); err == nil {
						cut.add(text.Text)
					}
				}
			}
			if document {
				count("source", left)
			}
		}
	}
	for name, x := range r.Branches {
		x.Share = round4(float64(x.Tokens) / float64(max(r.Tokens, 1)))
		r.Branches[name] = x
	}
	for name, cut := range cuts {
		r.Repetition[name] = cut.figures()
	}
	slices.Sort(lengths)
	r.Percentiles = make(map[string]int)
	for _, p := range []int{1, 10, 50, 90, 99} {
		if n := len(lengths); n > 0 {
			r.Percentiles[fmt.Sprintf("p%d", p)] = int(lengths[(n-1)*p/100])
		}
	}
	return nil
}

// sortedJSON writes a value with sorted keys.
func sortedJSON(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("build: report: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("build: report: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil {
		return nil, fmt.Errorf("build: report: %w", err)
	}
	return b.Bytes(), nil
}

// cut shortens a text to whole characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
