package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool/format"
)

// outputCounts is what a file of an output holds.
type outputCounts struct {
	Given   int            `json:"given"` // records
	Written int            `json:"written"`
	Bytes   int64          `json:"bytes"`
	Tokens  int            `json:"tokens"`
	Trained int            `json:"trained"`
	Skipped map[string]int `json:"skipped,omitempty"`
}

func (b *builder) outputFile(out *Output, shard int) string {
	return fmt.Sprintf("%s/%05d-of-%05d%s", out.Name, shard, b.opts.Shards, out.Ext)
}

func outputManifest(out *Output, shard int) string {
	return fmt.Sprintf("%s/%s-%05d%s", doneOutputs, out.Name, shard, doneExt)
}

// outputInput is what decides the files of a shard, besides the options.
func outputInput(selection *done, shard int) string {
	return hashOf(selection.Input, selection.Files[shard].SHA256)
}

// writeFiles writes the files of this rank, several at once.
func (b *builder) writeFiles(ctx context.Context, selection *done) error {
	for i := range b.opts.Outputs {
		if err := os.MkdirAll(b.dir.at(b.opts.Outputs[i].Name), 0o755); err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	var shards []int
	for i := b.opts.Rank; i < b.opts.Shards; i += b.opts.World {
		shards = append(shards, i)
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	next, written := 0, 0
	for range min(b.opts.Workers, len(shards)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(shards) || inner.Err() != nil {
					return
				}
				if err := b.writeShard(inner, selection, shards[i]); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				written++
				b.opts.Progress("write", written, len(shards))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return context.Cause(inner)
}

// An openOutput is a file in the making.
type openOutput struct {
	of    *Output
	file  *newFile
	sink  Sink
	given int
}

// writeShard writes one file of each output.
func (b *builder) writeShard(ctx context.Context, selection *done, shard int) error {
	var open []*openOutput
	defer func() {
		for _, o := range open {
			o.file.abort()
		}
	}()
	input := outputInput(selection, shard)
	for i := range b.opts.Outputs {
		out := &b.opts.Outputs[i]
		d, err := b.dir.finished(outputManifest(out, shard), b.config.Corpus, input, true)
		if err != nil {
			return err
		}
		if d != nil {
			continue
		}
		file, err := b.dir.create(b.outputFile(out, shard))
		if err != nil {
			return err
		}
		o := &openOutput{of: out, file: file}
		open = append(open, o)
		if o.sink, err = out.New(file); err != nil {
			return fmt.Errorf("build: output %q: %w", out.Name, err)
		}
	}
	if len(open) == 0 {
		return nil
	}
	for c, err := range b.chosen(selection.Files[shard].Name) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		u, err := b.unit(&c, 0)
		if err != nil {
			return err
		}
		for _, r := range u.records(c.ID, c.Kind, c.Pass) {
			for _, o := range open {
				o.given++
				if err := o.sink.Write(&r); err != nil {
					if _, skipped := errors.AsType[*format.SkipError](err); !skipped {
						return fmt.Errorf("build: output %q: record %q: %w", o.of.Name, r.ID, err)
					}
				}
			}
		}
	}
	for _, o := range open {
		if err := b.finishOutput(o, shard, input); err != nil {
			return err
		}
	}
	return nil
}

// finishOutput closes a file and says that it is done. A file without a record is not made: some forms have no empty file.
func (b *builder) finishOutput(o *openOutput, shard int, input string) error {
	err := o.sink.Close()
	n := o.sink.Counts()
	if err != nil && n.Written > 0 {
		return fmt.Errorf("build: output %q: %w", o.of.Name, err)
	}
	d := &done{Stage: "output", Shard: fmt.Sprintf("%s-%05d", o.of.Name, shard), Config: b.config.Corpus, Input: input, Records: n.Written, Tokens: n.Tokens,
		Drops: make(drops), Output: &outputCounts{o.given, n.Written, n.Bytes, n.Tokens, n.Trained, n.Skipped}}
	skipped := 0
	for _, reason := range sortedKeys(n.Skipped) {
		d.Drops.add("write", reason, n.Skipped[reason])
		skipped += n.Skipped[reason]
	}
	if n.Written+skipped != o.given {
		return fmt.Errorf("build: output %q: of %d records %d were written and %d skipped: a fault of the sink", o.of.Name, o.given, n.Written,
			skipped)
	}
	if n.Written > 0 {
		f, err := o.file.commit()
		if err != nil {
			return err
		}
		d.Files = []writtenFile{f}
	} else if err := os.RemoveAll(b.dir.at(b.outputFile(o.of, shard))); err != nil { // of an earlier run, on other inputs
		return fmt.Errorf("build: %w", err)
	}
	return b.dir.writeJSON(outputManifest(o.of, shard), d)
}

// chosen iterates over a file of the selection.
func (b *builder) chosen(name string) iter.Seq2[chosen, error] {
	return func(yield func(chosen, error) bool) {
		in, err := os.Open(b.dir.at(name))
		if err != nil {
			yield(chosen{}, fmt.Errorf("build: %w", err))
			return
		}
		defer in.Close()
		for line, err := range jsonl.Lines(in, maxLine) {
			var c chosen
			if err == nil {
				err = json.Unmarshal(line, &c)
			}
			if err == nil && (c.Part < 0 || c.Part >= len(b.parts)) {
				err = fmt.Errorf("no part %d", c.Part)
			}
			if err != nil {
				yield(chosen{}, fmt.Errorf("build: %s: %w", name, err))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// unit reads a chosen unit, without its first bytes.
func (b *builder) unit(c *chosen, skip int64) (*unit, error) {
	data, err := b.library.read(b.parts[c.Part].units(), c.Offset+skip, c.Length-skip)
	if err != nil {
		return nil, err
	}
	u, err := decodeUnit(data)
	if err != nil {
		return nil, fmt.Errorf("build: %q: %w", c.ID, err)
	}
	return u, nil
}

// written gathers the manifests of all files, by output and shard.
func (b *builder) written(selection *done) ([][]*done, error) {
	out := make([][]*done, len(b.opts.Outputs))
	missing, first := 0, ""
	for i := range b.opts.Outputs {
		o := &b.opts.Outputs[i]
		records := 0
		reasons := make(map[string]int)
		for shard := range b.opts.Shards {
			d, err := b.dir.finished(outputManifest(o, shard), b.config.Corpus, outputInput(selection, shard), false)
			if err != nil {
				return nil, err
			}
			if d == nil {
				if missing++; missing == 1 {
					first = b.outputFile(o, shard)
				}
				continue
			}
			records += d.Records
			addCounts(reasons, d.Output.Skipped)
			out[i] = append(out[i], d)
		}
		if missing == 0 && records == 0 && selection.Records > 0 {
			return nil, fmt.Errorf("build: output %q has no record: %s", o.Name, countsText(reasons))
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%w: %d files, %s first", ErrIncomplete, missing, first)
	}
	return out, nil
}

// countsText lists counts, the largest first.
func countsText(counts map[string]int) string {
	keys := sortedKeys(counts)
	slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, counts[k])
	}
	return strings.Join(keys, ", ")
}
