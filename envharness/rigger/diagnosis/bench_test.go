package diagnosis_test

import (
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// long makes an episode of n turns that are of all kinds: reads, writes, refusals, values that change, names that nobody showed.
func long(n int) envharness.Trace {
	var steps []step
	for i := range n {
		switch i % 5 {
		case 0:
			steps = append(steps, step{call: fmt.Sprintf(`get {"id":"a%d"}`, i%7), shows: fmt.Sprintf(`{"id":"a%d","value":%d,"owner":"bob"}`, i%7, i)})
		case 1:
			steps = append(steps, step{call: fmt.Sprintf(`list {"owner":"bob","page":%d}`, i), shows: fmt.Sprintf(`{"items":["x%d","y%d"],"has_more":true}`, i, i)})
		case 2:
			steps = append(steps, step{call: fmt.Sprintf(`set {"id":"a%d","to":%d}`, i%7, i-3), shows: "done"})
		case 3:
			steps = append(steps, step{call: fmt.Sprintf(`note {"id":"q%d","text":"as it was %d"}`, i, i), shows: "no such thing", class: notFound})
		case 4:
			steps = append(steps, step{call: set.call, shows: "busy", class: transient})
		}
	}
	t := trace(failed, limit, steps...)
	t.Tools = desk().Tools
	return t
}

// The time grows about as the turns do.
func BenchmarkDiagnose(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("turns=%d", n), func(b *testing.B) {
			traces := []envharness.Trace{long(n), long(n), long(n), long(n), long(n)}
			c := plans(planned...)
			b.ReportAllocs()
			for b.Loop() {
				diagnose(b, traces, c, all())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*len(traces)), "ns/turn")
		})
	}
}
