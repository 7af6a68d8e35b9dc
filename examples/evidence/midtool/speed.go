package main

import (
	"context"
	"time"

	"github.com/throughline-go/throughline/midtool"
)

// A speedResult says how fast this machine was just now.
type speedResult struct {
	Samples map[string]float64 `json:"samples_per_second"` // generated and checked, by the size of the corpus: 1x is 1,000
	Checks  float64            `json:"checks_per_second"`  // of the checker, outputs read and compared; 0 without data
}

// speed times the generator. Nothing is claimed of it.
func (e *evidence) speed(ctx context.Context, in *inputs, s effort) error {
	tools := in.realTools
	if len(tools) == 0 {
		tools = in.ownTools
	}
	e.Speed.Samples = make(map[string]float64)
	for _, size := range s.sizes {
		made := 0
		start := time.Now()
		if _, err := generate(ctx, tools, size.samples, func(midtool.Sample) error {
			made++
			return nil
		}); err != nil {
			return err
		}
		e.Speed.Samples[size.name] = float64(made) / time.Since(start).Seconds()
	}
	return nil
}
