package build

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/throughline-go/throughline/midtool"
)

// samplesAtOnce is how many native samples are made before they are written: a few megabytes.
const samplesAtOnce = 2048

// makeSamples makes the units of a run of planned samples.
func (b *builder) makeSamples(ctx context.Context, p *part, w *partWriter) error {
	for from := p.from; from < p.to; from += samplesAtOnce {
		made, err := b.native.Generate(ctx, from, min(from+samplesAtOnce, p.to))
		if err != nil {
			return fmt.Errorf("build: %w", err)
		}
		for family, n := range made.Planned {
			w.counts.Planned[string(family)] += n
			w.counts.Read += n
		}
		for i := range made.Rejected {
			r := &made.Rejected[i]
			w.drop("generate", r.Reason, Example{nativeName + "/" + r.Sample, r.Detail})
		}
		outcomes := make([]outcome, len(made.Samples))
		errs := make([]error, b.opts.Workers)
		var wg sync.WaitGroup
		for k := range b.opts.Workers {
			wg.Go(func() {
				for i := k; i < len(outcomes) && errs[k] == nil; i += b.opts.Workers {
					outcomes[i].entry = entry{ID: nativeName + "/" + made.Samples[i].ID, Kind: nativeName}
					errs[k] = b.finish(&unit{samples: []midtool.Sample{made.Samples[i]}}, &outcomes[i])
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		for i := range outcomes {
			if err := w.put(&outcomes[i].entry, outcomes[i].lines); err != nil {
				return err
			}
		}
		b.opts.Progress("make", min(from+samplesAtOnce, p.to), b.native.Len())
	}
	return ctx.Err()
}
