package learn

import (
	"context"
	"fmt"
	"testing"
)

// Ten steps of a fit of synthetic logs, numbering and grouping included.
func BenchmarkFit(b *testing.B) {
	for _, n := range []int{5000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			records := newWorld(1).records(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Fit(context.Background(), records, &Options{Epochs: 10}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One step over the groups of synthetic logs: the derivatives of the loss.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{5000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			runs, skills, queries, err := enumerate(newWorld(1).records(n))
			if err != nil {
				b.Fatal(err)
			}
			o, err := (*Options)(nil).fill()
			if err != nil {
				b.Fatal(err)
			}
			tr := newTrainer(o, len(skills), len(queries), nil, nil, newWorld(1).rng)
			tr.forward()
			data := group(runs)
			sums := newSummer(&tr.p, data, want{slope: true}, 1)
			b.ReportAllocs()
			for b.Loop() {
				sums.sum()
			}
			b.ReportMetric(float64(len(data.query)), "groups")
		})
	}
}
