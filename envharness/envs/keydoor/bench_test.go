package keydoor

import (
	"context"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// One step of a shortest plan, with the text and the admissible actions, the resets of each episode counted in.
func BenchmarkStep(b *testing.B) {
	for _, o := range presets {
		b.Run(name(o), func(b *testing.B) {
			ctx := context.Background()
			env := New(o)
			id := splitOf(b, o, "ood")[0].ID
			reset(b, env, id)
			plan, err := env.Plan(ctx)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if i == len(plan) {
					i = 0
					reset(b, env, id)
				}
				if _, err := env.Step(ctx, plan[i]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkReset(b *testing.B) {
	for _, o := range presets {
		b.Run(name(o), func(b *testing.B) {
			env := New(o)
			list := splitOf(b, o, "ood")
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := env.Reset(context.Background(), envharness.ResetOptions{Task: list[i%len(list)].ID}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
