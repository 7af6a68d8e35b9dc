package chain

import (
	"context"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// One step with the text, the resets of each episode counted in, in the longest setting.
func BenchmarkStep(b *testing.B) {
	for _, e := range Experiments() {
		b.Run(string(e), func(b *testing.B) {
			ctx := context.Background()
			env := open(b, e)
			settings := e.Settings()
			task := id(settings[len(settings)-1].Number, 0)
			shown := reset(b, env, task)
			b.ReportAllocs()
			for b.Loop() {
				got, err := env.Step(ctx, shown.Actions[0])
				if err != nil {
					b.Fatal(err)
				}
				if got.Ended() {
					reset(b, env, task)
				}
			}
		})
	}
}

func BenchmarkReset(b *testing.B) {
	for _, e := range Experiments() {
		b.Run(string(e), func(b *testing.B) {
			env := open(b, e)
			settings := e.Settings()
			o := envharness.ResetOptions{Task: id(settings[len(settings)-1].Number, 0)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := env.Reset(context.Background(), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTasks(b *testing.B) {
	env := open(b, UmbrellaLength)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := env.Tasks(context.Background(), "train"); err != nil {
			b.Fatal(err)
		}
	}
}
