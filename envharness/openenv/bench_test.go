package openenv_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openenv"
)

// A step over loopback, client and server in one process, by the length of what is shown.
func BenchmarkStep(b *testing.B) {
	for _, size := range []int{100, 10_000, 1_000_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			_, url := serve(b, func(context.Context) (envharness.Environment, error) {
				return &toy{shown: strings.Repeat("x", size)}, nil
			}, nil)
			env, err := openenv.Open(b.Context(), url, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = env.Close() }()
			if _, err := env.Reset(b.Context(), envharness.ResetOptions{}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := env.Step(b.Context(), envharness.Action{Name: "go"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
