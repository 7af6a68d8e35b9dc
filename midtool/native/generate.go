package native

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/schema"
	"github.com/throughline-go/throughline/midtool/internal/teach"
	"github.com/throughline-go/throughline/midtool/internal/wording"
)

// Generate makes samples of all families from tools, which need not be normalized. Tools that state no license are left out
// unless Own says that they are the caller's: see Rejected. For each planned sample the calls
// are made first, from the schemas of the tools, and executed; the words follow, so that each argument is grounded in
// what was said or answered before it. Each sample has passed a [midtool.Checker], whose proofs show that it is of its
// family (MidTool, arXiv:2608.20314, native branch; the details are ours).
//
// Nothing is dropped without a [midtool.Rejection]: every given tool is counted in Tools or rejected, and every planned
// sample is kept or rejected. Reasons for tools: those of [midtool.Normalize]; license; duplicate (same ID);
// pattern_unsupported (a pattern outside Go's syntax); window (a definition beyond half of MaxTokens); group_quality.
// For samples, after 8 tries each: no_value (no arguments, or no answer without an error, were found), no_chain (no
// tools that feed each other, after 2), recoverable (nothing can be withheld), window, duplicate (the same [midtool.Sample]
// ContentHash as one before), or the first rule of the checker that the last try broke. After the last answer of a
// teacher: teacher (it failed), bad_answer, no_fact, new_number, unsaid, no_question, no_refusal (in the form, and in
// what a final answer, a question or a refusal must have), or a rule of the checker.
//
// The same tools, options and seed give the same bytes, whatever the order of the tools and the number of workers,
// where Executor and Teacher answer alike. The time grows linearly with the number of samples; with Emit, memory grows
// by some 160 bytes a sample. The error is that of ctx, of Executor, of Emit or of the file Answers, or names bad
// options; the result is then nil. No tools give an empty corpus. No goroutine outlives the call.
func Generate(ctx context.Context, tools []midtool.Tool, o *Options) (*midtool.Corpus, error) {
	p, err := NewPlan(ctx, tools, o)
	if err != nil {
		return nil, err
	}
	c, err := p.generate(ctx, 0, p.Len(), make(map[[sha256.Size]byte]string))
	if err != nil {
		return nil, err
	}
	c.Rejected = append(p.Rejected(), c.Rejected...)
	return c, nil
}

// generate makes the samples from one number up to another. Of those that say the same only the first is kept if seen is
// not nil.
func (p *Plan) generate(ctx context.Context, from, to int, seen map[[sha256.Size]byte]string) (*midtool.Corpus, error) {
	opts := &p.g.opts
	if opts.Teacher != nil {
		ask := opts.Teacher
		if opts.Answers != "" {
			remembered, journal, err := teach.Remember(ask, opts.Answers)
			if err != nil {
				return nil, err
			}
			defer journal.Close()
			ask = remembered
		}
		p.g.teacher = &teach.Teacher{Generate: ask, Attempts: opts.Attempts}
	}
	r := run{Plan: p, seen: seen, corpus: &midtool.Corpus{Tools: p.g.tools, Planned: make(map[midtool.Family]int)}}
	items := p.items[from:to]
	for _, it := range items {
		r.corpus.Planned[it.family]++
	}
	if err := r.all(ctx, items); err != nil {
		return nil, err
	}
	return r.corpus, nil
}

// sortRejected brings rejected tools into an order that does not depend on that of the tools.
func sortRejected(rejected []midtool.Rejection) {
	slices.SortFunc(rejected, func(a, b midtool.Rejection) int {
		return cmp.Or(cmp.Compare(a.ToolID, b.ToolID), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Group, b.Group),
			compareOrigin(a.Origin, b.Origin), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
	})
}

type generator struct {
	opts    Options
	groups  []*group  // by descending size, then name
	weight  []float64 // of the groups, summed up from the first
	teacher *teach.Teacher

	rejected []midtool.Rejection // tools
	tools    int                 // those that are left
}

// A run makes a part of the planned samples.
type run struct {
	*Plan
	corpus *midtool.Corpus
	seen   map[[sha256.Size]byte]string // samples by content; nil keeps all
}

// How many samples a worker makes between two looks at the others, so that waiting for the slowest costs little; with a
// teacher each takes so long that it costs little all the same.
const (
	batchSize  = 256
	taughtSize = 4
)

// all makes the planned samples in batches and hands them out in the order of the plan.
func (r *run) all(ctx context.Context, items []item) error {
	g, workers := r.g, r.workers
	inner, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait() // where the samples are no longer wanted
	defer cancel(context.Canceled)
	size := batchSize * len(workers)
	if g.teacher != nil {
		size = taughtSize * len(workers)
	}
	begin := func(from int, made []outcome) []outcome {
		batch := items[from:min(len(items), from+size)]
		made = slices.Grow(made[:0], len(batch))[:len(batch)]
		for k, w := range workers {
			wg.Go(func() {
				// Worker k takes every n-th item: neighbors are alike, and so is their cost.
				for i := k; i < len(batch); i += len(workers) {
					if made[i] = w.make(inner, batch[i]); made[i].err != nil {
						cancel(made[i].err) // of the first, which stops the others
						return
					}
				}
			})
		}
		return made
	}
	var before []outcome // those that are handed out while the next batch is made
	next := begin(0, nil)
	for done := 0; done < len(items); {
		wg.Wait()
		if err := context.Cause(inner); err != nil {
			return err
		}
		before, next = next, before
		if from := done + len(before); from < len(items) {
			next = begin(from, next)
		}
		for i := range before {
			if err := r.take(&before[i]); err != nil {
				return err
			}
		}
		done += len(before)
		if g.opts.Progress != nil {
			g.opts.Progress(done, len(items))
		}
	}
	return ctx.Err()
}

// An outcome is what became of a planned sample.
type outcome struct {
	item     item
	sample   midtool.Sample
	key      [sha256.Size]byte // of the content
	tokens   int
	rejected *midtool.Rejection
	err      error
}

func (r *run) take(o *outcome) error {
	if o.rejected == nil && r.seen != nil {
		if first, twice := r.seen[o.key]; twice {
			o.rejected = r.g.reject(o.item, miss{reason: "duplicate", detail: "of " + strconv.Quote(first)})
		} else {
			r.seen[o.key] = o.sample.ID
		}
	}
	if o.rejected != nil {
		r.corpus.Rejected = append(r.corpus.Rejected, *o.rejected)
		return nil
	}
	r.corpus.Kept++
	r.corpus.Tokens += o.tokens
	if r.g.opts.Emit != nil {
		if err := r.g.opts.Emit(o.sample); err != nil {
			return fmt.Errorf("native: sample %q: emit: %w", o.sample.ID, err)
		}
		return nil
	}
	r.corpus.Samples = append(r.corpus.Samples, o.sample)
	return nil
}

// A worker makes one sample after the other.
type worker struct {
	g     *generator
	check midtool.Checker

	// Of the draft at hand, in the room of the one before.
	values, wording, offering draw.Draws // of tools and arguments, of words, of offered tools
	words                     wording.Writer
	leaves                    []schema.Leaf
}

// tries is how often a sample is begun anew, with choices of its own, before it is dropped.
const tries = 8

// A miss is why a try did not become a sample.
type miss struct{ reason, path, detail string }

func (w *worker) make(ctx context.Context, it item) outcome {
	var last miss
	for try := range tries {
		if err := ctx.Err(); err != nil {
			return outcome{err: err}
		}
		d := &draft{worker: w, item: it, key: []string{string(it.family), it.group.name, strconv.Itoa(it.n), strconv.Itoa(try)}}
		var err error
		if last, err = d.build(ctx); err != nil {
			return outcome{err: err}
		}
		if last.reason == "no_chain" && try == 1 {
			break // what the tools answer will not change
		}
		if last.reason != "" {
			continue
		}
		found, err := w.check.Check(ctx, &d.sample)
		if err != nil {
			return outcome{err: err}
		}
		if len(found.Violations) > 0 {
			v := found.Violations[0]
			last = miss{v.Rule, v.Path, v.Detail}
			continue
		}
		d.sample.Evidence = found.Evidence
		o := outcome{item: it, sample: d.sample, tokens: found.Tokens}
		if w.g.teacher != nil && draw.New(w.g.opts.Seed, "teacher", it.id()).Chance(*w.g.opts.TeacherShare) {
			w.teach(ctx, it, &o)
		}
		o.key = o.sample.ContentHash()
		return o
	}
	return outcome{rejected: w.g.reject(it, last)}
}

// reject names the tool that a dropped sample was to be built around.
func (g *generator) reject(it item, m miss) *midtool.Rejection {
	r := g.center(it).rejection(m.reason, m.detail)
	r.Sample, r.Path = it.id(), m.path
	return &r
}

// teach has the teacher write the words anew, under the same checks.
func (w *worker) teach(ctx context.Context, it item, o *outcome) {
	var found midtool.Findings
	check := func(s *midtool.Sample) (violations []midtool.Violation, err error) {
		found, err = w.check.Check(ctx, s)
		s.Evidence = found.Evidence
		return found.Violations, err
	}
	var rejected *midtool.Rejection
	if o.sample, rejected, o.err = w.g.teacher.Rewrite(ctx, o.sample, check); rejected != nil {
		o.rejected = w.g.reject(it, miss{rejected.Reason, rejected.Path, rejected.Detail})
	}
	o.tokens = found.Tokens
}
