package shop

import (
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

func BenchmarkNew(b *testing.B) {
	forPresets(func(name string, o *Options) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				New(o)
			}
		})
	})
}

// forPresets calls f for both shops.
func forPresets(f func(name string, o *Options)) {
	f("full", nil)
	f("small", &Options{Small: true})
}

func BenchmarkReset(b *testing.B) {
	forPresets(func(name string, o *Options) {
		b.Run(name, func(b *testing.B) {
			env := New(o)
			tasks := tasksOf(b, env, "train")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := env.Reset(b.Context(), envharness.ResetOptions{Task: tasks[i%len(tasks)].ID}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// Searches without the pages around them, for a short and the longest of the queries that are offered.
func BenchmarkSearch(b *testing.B) {
	forPresets(func(name string, o *Options) {
		s := shopOf(o)
		scores := make([]float64, len(s.products))
		for _, which := range []string{"noun", "sentence"} {
			b.Run(name+"/"+which, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					t := &s.tasks[i%len(s.tasks)]
					query := t.goal.product.noun
					if which == "sentence" {
						query = t.sentence
					}
					s.index.search(query, s.hits, scores)
				}
			})
		}
	})
}

// A step is one of whole episodes of the oracle, reset included, or a click.
func BenchmarkStep(b *testing.B) {
	forPresets(func(name string, o *Options) {
		b.Run(name+"/oracle", func(b *testing.B) {
			env := New(o)
			tasks := tasksOf(b, env, "train")
			plans := make([][]envharness.Action, len(tasks))
			for i, t := range tasks {
				reset(b, env, t.ID)
				plans[i] = plan(b, env)
			}
			b.ReportAllocs()
			steps := 0
			for i := 0; b.Loop(); i++ {
				k := i % len(tasks)
				reset(b, env, tasks[k].ID)
				for _, a := range plans[k] {
					step(b, env, a)
					steps++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
		})
		b.Run(name+"/click", func(b *testing.B) { // from the results to a product and back
			e := newEpisode(b, shopOf(o), "")
			p, err := e.Plan()
			if err != nil {
				b.Fatal(err)
			}
			e.Step(p[0])
			there := []envharness.Action{p[1], clickOn(prevLink)}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e.Step(there[i%2])
			}
		})
		b.Run(name+"/unchanged", func(b *testing.B) {
			e := newEpisode(b, shopOf(o), "")
			p, err := e.Plan()
			if err != nil {
				b.Fatal(err)
			}
			for _, a := range p[:len(p)-1] {
				e.Step(a)
			}
			option := p[len(p)-2] // chosen already
			b.ReportAllocs()
			for b.Loop() {
				e.Step(option)
			}
		})
	})
}
