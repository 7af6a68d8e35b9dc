package dedup

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime/metrics"
	"strings"
	"testing"
)

// vocabulary is of made-up words of some six letters.
func vocabulary(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		var b strings.Builder
		for range 2 + r.IntN(2) {
			b.WriteByte("bcdfghklmnprstvz"[r.IntN(16)])
			b.WriteByte("aeiou"[r.IntN(5)])
			b.WriteByte("lmnrst"[r.IntN(6)])
		}
		words[i] = b.String()
	}
	return words
}

// shortTexts are n records of 30 to 80 words each; every tenth is the one before it with a word changed.
func shortTexts(n int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		words := vocabulary(r, 20_000)
		text := make([]string, 0, 80)
		for i := range n {
			if i%10 == 9 {
				text[r.IntN(len(text))] = words[r.IntN(len(words))]
			} else {
				text = text[:0]
				for range 30 + r.IntN(51) {
					text = append(text, words[r.IntN(len(words))])
				}
			}
			if !yield(Record{ID: fmt.Sprintf("text-%08d", i), Source: "web", Content: strings.Join(text, " ")}, nil) {
				return
			}
		}
	}
}

// The cost of a sketch is that of its hash functions on each shingle.
func BenchmarkSketch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := vocabulary(r, 20_000)
	s, err := NewSketcher(nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{50, 500, 5_000, 50_000} {
		b.Run(fmt.Sprintf("words=%d", n), func(b *testing.B) {
			words := make([]string, n)
			for i := range words {
				words[i] = vocabulary[r.IntN(len(vocabulary))]
			}
			record := Record{ID: "a", Content: strings.Join(words, " ")}
			b.SetBytes(int64(len(record.Content)))
			b.ReportAllocs()
			for b.Loop() {
				s.Sketch(&record)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n-4), "ns/shingle")
		})
	}
}

// A search grows as its records do, and its memory as the IDs and what is shared. Those of a million leave themselves out under
// -short.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("a million records take half a minute")
			}
			b.ReportAllocs()
			most := uint64(0)
			for b.Loop() {
				r, err := Run(b.Context(), shortTexts(n), &Options{Workers: 2, Progress: func(int) { most = max(most, heap()) }})
				if err != nil || r.Near < n/20 {
					b.Fatalf("%+v, %v", r, err)
				}
				most = max(most, heap())
			}
			b.ReportMetric(float64(most)/(1<<20), "MiB-heap")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
		})
	}
}

// heap is what the process has from the system for objects.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
