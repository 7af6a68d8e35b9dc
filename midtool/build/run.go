package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/dedup"
	"github.com/throughline-go/throughline/midtool/grounded"
	"github.com/throughline-go/throughline/midtool/mix"
	"github.com/throughline-go/throughline/midtool/native"
)

// ErrIncomplete says that the work of this rank is done as far as it can be, and that of others is not: run them, and then this
// one again.
var ErrIncomplete = errors.New("build: other ranks are not done")

// Run builds the corpus in Options.Dir, or goes on where an earlier run stopped: what is complete, and was made of the same
// inputs with the same options, is not made again. A canceled context, a failure and a killed process lose the part or file at
// hand, and no file under its final name is ever half written.
//
// With a World above 1, each rank does its share of the parts and of the files. Whoever comes to the stages between them when all parts are
// done does these; who comes earlier gets an [ErrIncomplete], and is run again later. The last to finish writes the report.
//
// The error is that of ctx, a source, an executor, a teacher or the disk; a [*dedup.LossError] where a source loses more than
// Options.Dedup allows; an [ErrConfiguration], [ErrLocked] or [ErrIncomplete]; or it lists the options that are out of range. The report is
// then nil. No goroutine outlives the call.
func Run(ctx context.Context, o *Options) (*Report, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	b := &builder{opts: &opts}
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	if b.dir, err = openFolder(&opts); err != nil {
		return nil, err
	}
	defer b.dir.close()
	b.library.dir = b.dir
	defer b.library.close()
	if err := b.configure(); err != nil {
		return nil, err
	}
	if err := b.plan(ctx); err != nil {
		return nil, err
	}
	for _, p := range b.parts {
		if p.index%opts.World == opts.Rank {
			if err := b.makePart(ctx, p); err != nil {
				return nil, err
			}
		}
	}
	b.native, b.ground = nil, nil // what they know of tools takes room
	if err := b.wait(); err != nil {
		return nil, err
	}
	selection, err := b.choose(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.writeFiles(ctx, selection); err != nil {
		return nil, err
	}
	return b.report(ctx, selection)
}

// A builder is one run.
type builder struct {
	opts    *Options
	config  configuration
	dir     *folder
	library library

	index    *decontaminate.Index
	sketcher *dedup.Sketcher
	ground   *grounded.Generator
	native   *native.Plan
	leftOut  []midtool.Rejection // tools
	used     int                 // tools

	parts []*part
	made  []*done // of the parts, by index
	read  int     // documents, for Progress

	digests map[string]string // of inputs whose parts have none
}

// prepare makes what the stages need, and finds the options that they refuse before any work is done.
func (b *builder) prepare(ctx context.Context) error {
	o := b.opts
	o.Dedup.Seed, o.Dedup.Workers = o.Seed, o.Workers
	o.Dedup.Memory = cmp.Or(o.Dedup.Memory, 64<<20) // a build has more to hold than what is compared
	o.Mix.Seed = o.Seed
	o.Native.Seed, o.Native.Licenses, o.Native.Own, o.Native.Workers = o.Seed, o.Licenses, o.Own, o.Workers
	o.Native.Emit, o.Native.Progress = nil, nil
	o.Grounded.Seed = o.Seed
	o.Grounded.MaxTokens = cmp.Or(o.Grounded.MaxTokens, o.Native.MaxTokens)
	o.Grounded.Tokens = b.sampleTokens
	trial := o.Mix
	if trial.Shortfall == mix.Strict {
		trial.Shortfall = mix.Under // there are no units yet
	}
	var errs []error
	refused := func(err error) { errs = append(errs, err) }
	var err error
	b.index, err = decontaminate.NewIndex(o.Benchmarks, &o.Decontaminate)
	refused(err)
	b.sketcher, err = dedup.NewSketcher(&o.Dedup)
	refused(err)
	_, err = native.NewPlan(ctx, nil, &o.Native)
	refused(err)
	_, err = mix.Select(nil, &trial)
	refused(err)
	for _, out := range o.Outputs {
		_, err = out.New(io.Discard)
		refused(err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	ground, err := grounded.New(&o.Grounded)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return ground.Close()
}
