package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/quality"
)

// Documents are worked on in batches, of which there are so many bytes for each worker: enough that no worker waits, and a
// bound on memory whatever the documents are like.
const (
	batchRecords = 64
	batchBytes   = 1 << 20
	bytesInWork  = 16 << 20 // a worker; a longer document is worked on alone
)

// A batch is a run of what a source yields.
type batch struct {
	documents []document.Document
	outcomes  []outcome
	rejected  []midtool.Rejection
	before    []int // documents before each rejected one
	size      int
	done      chan struct{}
}

// An outcome is what became of a document: it is dropped, or it is a unit.
type outcome struct {
	stage, reason string // of a dropped one
	example       Example
	entry         entry
	lines         []byte
	secrets       int
	planned       []string
	missed        []string
}

// readDocuments makes the units of a part of an input. One goroutine reads, the workers work on batches, and the caller's writes in
// the order of the source.
func (b *builder) readDocuments(ctx context.Context, p *part, w *partWriter) error {
	inner, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	room := newRoom(int64(b.opts.Workers) * bytesInWork)
	defer room.close() // its reader may be waiting
	defer cancel(context.Canceled)
	defer context.AfterFunc(inner, room.close)()
	work := make(chan *batch)
	order := make(chan *batch, 4*b.opts.Workers)
	for range b.opts.Workers {
		wg.Go(func() {
			var check quality.Checker
			for batch := range work {
				if err := b.workOn(inner, p, &check, batch); err != nil {
					cancel(err)
				}
				close(batch.done)
			}
		})
	}
	wg.Go(func() {
		defer close(order)
		defer close(work)
		if err := b.batches(inner, p, room, func(batch *batch) bool {
			select {
			case order <- batch:
			case <-inner.Done():
				return false
			}
			select {
			case work <- batch:
				return true
			case <-inner.Done():
				return false
			}
		}); err != nil {
			cancel(err)
		}
	})
	for batch := range order {
		select {
		case <-batch.done:
		case <-inner.Done():
		}
		if err := context.Cause(inner); err != nil {
			return err
		}
		if err := w.take(batch); err != nil {
			return err
		}
		room.give(int64(batch.size))
		b.read += len(batch.documents) + len(batch.rejected)
		b.opts.Progress("read", b.read, 0)
	}
	return context.Cause(inner)
}

// batches cuts what the source yields.
func (b *builder) batches(ctx context.Context, p *part, room *room, send func(*batch) bool) error {
	next := &batch{done: make(chan struct{})}
	flush := func() bool {
		full := next
		next = &batch{done: make(chan struct{})}
		return len(full.documents)+len(full.rejected) == 0 || send(full)
	}
	reject := func(r midtool.Rejection) {
		next.rejected = append(next.rejected, r)
		next.before = append(next.before, len(next.documents))
		if len(next.rejected) >= batchRecords {
			flush() // if nobody takes it, ctx is done, and the source or the next document finds that out
		}
	}
	for d, err := range p.source.Documents(ctx, reject) {
		if err != nil {
			return fmt.Errorf("build: input %q: %w", p.input, err)
		}
		size := len(d.Text) + 256
		if next.size > 0 && next.size+size > batchBytes && !flush() {
			return ctx.Err()
		}
		// While it waits, the workers go on with what they have.
		if !room.take(int64(size)) {
			return ctx.Err()
		}
		next.documents = append(next.documents, d)
		next.size += size
		if len(next.documents)+len(next.rejected) >= batchRecords && !flush() {
			return ctx.Err()
		}
	}
	flush()
	return nil
}

// take writes a batch.
func (w *partWriter) take(batch *batch) error {
	w.counts.Read += len(batch.documents) + len(batch.rejected)
	rejected := 0
	reject := func(before int) {
		for ; rejected < len(batch.rejected) && batch.before[rejected] <= before; rejected++ {
			r := &batch.rejected[rejected]
			w.drop("ingest", r.Reason, Example{place(r), r.Detail})
		}
	}
	for i := range batch.outcomes {
		reject(i)
		o := &batch.outcomes[i]
		w.counts.Secrets += o.secrets
		if o.reason != "" {
			w.drop(o.stage, o.reason, o.example)
			continue
		}
		for _, kind := range o.planned {
			w.counts.Planned[kind]++
		}
		for _, reason := range o.missed {
			w.counts.Missed[reason]++
		}
		w.counts.Tiers[o.entry.Kind+"/"+o.entry.Tier]++
		if err := w.put(&o.entry, o.lines); err != nil {
			return err
		}
	}
	reject(len(batch.documents))
	return nil
}

// place is where a rejected record stands, or its name.
func place(r *midtool.Rejection) string {
	switch {
	case r.Origin.Locator != "" && r.Origin.Line > 0:
		return fmt.Sprintf("%s:%d", r.Origin.Locator, r.Origin.Line)
	case r.Origin.Locator != "":
		return r.Origin.Locator
	case r.Sample != "":
		return r.Sample
	}
	return r.Tool
}

func (b *builder) workOn(ctx context.Context, p *part, check *quality.Checker, batch *batch) error {
	batch.outcomes = make([]outcome, len(batch.documents))
	for i := range batch.documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.workOnDocument(ctx, p, check, &batch.documents[i], &batch.outcomes[i]); err != nil {
			return err
		}
		batch.documents[i] = document.Document{} // its lines are what is needed from here on
	}
	return nil
}

func (b *builder) workOnDocument(ctx context.Context, p *part, check *quality.Checker, d *document.Document, o *outcome) error {
	o.example.ID = p.input + "/" + d.ID
	if o.stage, o.reason, o.example.Detail = b.filter(d, check); o.reason != "" {
		return nil
	}
	d.ID = p.input + "/" + d.ID
	o.secrets = d.Secrets
	made, err := b.ground.Generate(ctx, d)
	if err != nil {
		return fmt.Errorf("build: document %q: %w", d.ID, err)
	}
	for _, item := range made.Outline.Items {
		o.planned = append(o.planned, item.Kind)
	}
	for i := range made.Rejected {
		o.missed = append(o.missed, made.Rejected[i].Reason)
	}
	u := &unit{document: d, samples: made.Samples}
	o.entry = entry{ID: d.ID, Kind: string(d.Kind), Tier: string(made.Outline.Tier), Tokens: b.opts.Tokens(d.Text)}
	return b.finish(u, o)
}

// finish encodes a unit and looks for what the later stages compare.
func (b *builder) finish(u *unit, o *outcome) error {
	for i := range u.samples {
		o.entry.Tokens += b.sampleTokens(&u.samples[i])
	}
	o.entry.sketch(b.sketcher, u)
	if len(b.opts.Benchmarks) > 0 {
		o.entry.Matches = b.index.Scan(u.searched())
	}
	var lines bytes.Buffer
	head, err := u.encode(&lines)
	if err != nil {
		return fmt.Errorf("build: %q: %w", o.entry.ID, err)
	}
	o.entry.Head, o.lines = head, lines.Bytes()
	return nil
}

// filter says why a document is not fit, or returns no reason.
func (b *builder) filter(d *document.Document, check *quality.Checker) (stage, reason, detail string) {
	switch {
	case d.ID == "":
		return "ingest", "no_id", ""
	case !slices.Contains(kinds, d.Kind):
		return "ingest", "unknown_kind", string(d.Kind)
	case d.Text == "":
		return "ingest", "no_text", ""
	case !utf8.ValidString(d.Text) || !utf8.ValidString(d.ID):
		return "ingest", "invalid_utf8", ""
	case d.License == "" && !b.opts.Own:
		return "filter", "license", "not stated; Options.Own lets documents of your own pass"
	case d.License != "" && !slices.Contains(b.opts.Licenses, d.License):
		return "filter", "license", d.License
	}
	if f := check.Check(d, b.opts.Rules[d.Kind]); f != nil {
		return "filter", f.Reason(), f.String()
	}
	if b.opts.Classifier != nil {
		if score := b.opts.Classifier(d); !(score >= *b.opts.MinScore) {
			return "filter", "classifier", fmt.Sprintf("%.4g is below %.4g", score, *b.opts.MinScore)
		}
	}
	return "", "", ""
}

// writeLine writes a value as a line of JSON.
func writeLine(w *newFile, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
