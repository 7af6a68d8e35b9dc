package decontaminate

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// prose makes text of n words out of a vocabulary of 20,000, the frequent ones more often.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		w := int(20_000 * r.Float64() * r.Float64() * r.Float64())
		for {
			b.WriteByte("etaoinshrdlcumwfgypbvk"[w%22])
			if w /= 22; w == 0 {
				break
			}
		}
		b.WriteByte(" .\n"[max(0, r.IntN(20)-17)])
	}
	return b.String()
}

func BenchmarkScan(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	text := prose(r, 200_000)
	for _, items := range []int{1000, 10_000, 100_000} {
		bench := Benchmark{Name: "b"}
		for i := range items {
			bench.Items = append(bench.Items, Item{ID: fmt.Sprint(i), Text: prose(r, 20)})
		}
		ix, err := NewIndex([]Benchmark{bench}, nil)
		if err != nil {
			b.Fatal(err)
		}
		for name, record := range map[string]*Record{"text": {Texts: []string{text}}, "message": {Messages: []string{text}}} {
			b.Run(fmt.Sprintf("%s/%d", name, items), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					ix.Scan(record)
				}
			})
		}
	}
}

func BenchmarkNewIndex(b *testing.B) {
	for _, items := range []int{1000, 10_000, 100_000} {
		r := rand.New(rand.NewPCG(1, 2))
		bench := Benchmark{Name: "b"}
		for i := range items {
			bench.Items = append(bench.Items, Item{ID: fmt.Sprint(i), Text: prose(r, 20)})
		}
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			b.ReportAllocs()
			var ix *Index
			for b.Loop() {
				var err error
				if ix, err = NewIndex([]Benchmark{bench}, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(ix.size())/float64(items), "B/item")
			runtime.KeepAlive(ix)
		})
	}
}

// size of the tables, in bytes.
func (ix *Index) size() int {
	n := len(ix.grams.text)
	for _, t := range []*table{ix.grams, ix.shorts} {
		n += 20*len(t.runs) + 4*len(t.items) + 4*len(t.dir) + 8*len(t.filter)
	}
	return n
}
