package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/memory"
)

// description returns a sentence of frequent and rare words, 6 to 12 of them.
func description(rng *rand.Rand) string {
	var b strings.Builder
	for i := range 6 + rng.IntN(7) {
		if i > 0 {
			b.WriteByte(' ')
		}
		x := rng.Float64()
		fmt.Fprintf(&b, "%s%s", syllables[int(x*x*float64(len(syllables)))], syllables[rng.IntN(len(syllables))])
	}
	return b.String()
}

var syllables = strings.Fields("or pay cart mail note find ship book task user name date file page send open list move take show edit copy turn clean heat cool fold " +
	"bri sto ken lam pru tiv ost ung qua fli gro dre sna whi plu")

// randomEmbedder stands for a model: dense vectors that depend on the text.
func randomEmbedder(dim int) skill.Embedder {
	return skill.EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		out := make([][]float64, len(texts))
		for i, s := range texts {
			rng := rand.New(rand.NewPCG(uint64(len(s)), uint64(s[0])*31+uint64(s[len(s)-1])*37+uint64(s[len(s)/2])*41))
			out[i] = make([]float64, dim)
			for k := range out[i] {
				out[i][k] = rng.NormFloat64()
			}
		}
		return out, nil
	})
}

func benchmark(b *testing.B, f func(b *testing.B, m *memory.Memory, rng *rand.Rand)) {
	for _, kind := range []struct {
		name  string
		embed skill.Embedder
	}{{"words", nil}, {"dense384", randomEmbedder(384)}} {
		for _, n := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				m, err := memory.New(b.Context(), &memory.Options{Embedder: kind.embed})
				if err != nil {
					b.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				fill(b, m, n, rng)
				f(b, m, rng)
			})
		}
	}
}

func fill(b *testing.B, m *memory.Memory, n int, rng *rand.Rand) {
	for i := range n {
		if _, err := m.Put(b.Context(), text(fmt.Sprint("s", i), description(rng), "- Procedure: open → send", "- a note")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRetrieve(b *testing.B) {
	benchmark(b, func(b *testing.B, m *memory.Memory, rng *rand.Rand) {
		q := memory.Query{Task: description(rng)}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Retrieve(b.Context(), q); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Adding of skills that are new or nearly so.
func BenchmarkAdd(b *testing.B) {
	benchmark(b, func(b *testing.B, m *memory.Memory, rng *rand.Rand) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Add(b.Context(), text("s", description(rng), "- Procedure: open → send", "- a note")); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Merging into one skill of many, which changes each time.
func BenchmarkMerge(b *testing.B) {
	benchmark(b, func(b *testing.B, m *memory.Memory, rng *rand.Rand) {
		e, _ := m.Get("s0")
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			i++
			a, err := m.Add(b.Context(), text("s", e.Description(), fmt.Sprintf("- Procedure: open → send %d", i)))
			if err != nil || a.Action != memory.Merged {
				b.Fatal(a, err)
			}
		}
	})
}

func BenchmarkAddOnDisk(b *testing.B) {
	for _, noSync := range []bool{true, false} {
		for _, n := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("sync=%v/%d", !noSync, n), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				dir := b.TempDir()
				m, err := memory.Open(b.Context(), dir, &memory.Options{NoSync: true})
				if err != nil {
					b.Fatal(err)
				}
				fill(b, m, n, rng)
				if err := m.Close(); err != nil {
					b.Fatal(err)
				}
				m, err = memory.Open(b.Context(), dir, &memory.Options{NoSync: noSync})
				if err != nil {
					b.Fatal(err)
				}
				defer m.Close()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Add(b.Context(), text("s", description(rng), "- Procedure: open → send", "- a note")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			m, err := memory.Open(b.Context(), dir, &memory.Options{NoSync: true})
			if err != nil {
				b.Fatal(err)
			}
			fill(b, m, n, rand.New(rand.NewPCG(1, 2)))
			if err := m.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				m, err := memory.Open(b.Context(), dir, &memory.Options{ReadOnly: true})
				if err != nil {
					b.Fatal(err)
				}
				m.Close()
			}
		})
	}
}
