package mcpenv_test

import (
	"fmt"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// One start of a program, its handshake, three calls and its end.
func BenchmarkReset(b *testing.B) {
	env := open(b, restock(stockroom(mcptest.Options{})))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := env.Reset(b.Context(), envharness.ResetOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// One call, by the length of its result.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("items=", n), func(b *testing.B) {
			items := make([]mcptest.Item, n)
			for i := range items {
				items[i] = mcptest.Item{Name: fmt.Sprint("item", i), Shelf: "A1", Count: i}
			}
			c := restock(stockroom(mcptest.Options{Items: items}))
			c.MaxTurns = 1 << 30
			env := open(b, c)
			b.ReportAllocs()
			for b.Loop() {
				if t, err := env.Step(b.Context(), act("list_items", "")); err != nil || t.Error != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
