package vector_test

import (
	"context"
	"fmt"
	"testing"

	eh "github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/vector"
)

// plain costs next to nothing itself, so that what is measured is the vector.
type plain struct{}

func (plain) Reset(context.Context, eh.ResetOptions) (eh.Observation, error) {
	return eh.Observation{Text: "hello"}, nil
}
func (plain) Step(context.Context, eh.Action) (eh.Transition, error) {
	return eh.Transition{Observation: eh.Observation{Text: "hello"}}, nil
}
func (plain) Close() error { return nil }

func BenchmarkStep(b *testing.B) {
	w := eh.World{
		New: func(context.Context) (eh.Environment, error) { return plain{}, nil },
		Verifier: eh.VerifierFunc(func(context.Context, eh.Evidence) (eh.Verdict, error) {
			return eh.Verdict{Status: eh.Fail}, nil
		}),
	}
	const turns = 64 // between resets, so that the logs stay short
	for _, n := range []int{1, 8, 64} {
		for _, parallel := range []int{1, 8} {
			if parallel > n {
				continue
			}
			b.Run(fmt.Sprintf("n=%d/parallel=%d", n, parallel), func(b *testing.B) {
				b.ReportAllocs()
				v, err := vector.New(w, nil, n, &vector.Options{Parallel: parallel})
				if err != nil {
					b.Fatal(err)
				}
				defer v.Close()
				actions := make([]eh.Action, n)
				for turn := 0; b.Loop(); turn++ {
					if turn%turns == 0 {
						if _, err := v.Reset(b.Context(), nil); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := v.Step(b.Context(), actions); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "steps/s")
			})
		}
	}
}
