package backbone

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/throughline-go/throughline/rl"
)

// randomBatch returns n sequences of a length whose last tokens are the response.
func randomBatch(vocab, n, length, response int) []rl.Sequence {
	rng := rand.New(rand.NewPCG(5, 6))
	batch := make([]rl.Sequence, n)
	for i := range batch {
		tokens := make([]int, length)
		for j := range tokens {
			tokens[j] = rng.IntN(vocab)
		}
		batch[i] = rl.Sequence{Tokens: tokens, Start: length - response}
	}
	return batch
}

func ones(batch []rl.Sequence) [][]float64 {
	out := make([][]float64, len(batch))
	for i, s := range batch {
		out[i] = make([]float64, len(s.Tokens)-s.Start)
		for j := range out[i] {
			out[i][j] = 1
		}
	}
	return out
}

// BenchmarkTrain measures forward, backward and AdamW. The first two sizes are those that have a target; in the others the response is
// short, as in rollouts.
func BenchmarkTrain(b *testing.B) {
	for _, size := range []struct {
		name              string
		make              func(Config) (*Model, error)
		c                 Config
		n, length, answer int
	}{
		{"transformer 110k", NewTransformer, Config{Vocab: 64, MaxLen: 32}, 16, 32, 31},
		{"transformer 19k", NewTransformer, Config{Vocab: 64, Dim: 32, Layers: 1, MaxLen: 64}, 16, 32, 31},
		{"transformer 384k", NewTransformer, Config{Vocab: 128, Dim: 96, Layers: 3, MaxLen: 256}, 16, 32, 31},
		{"transformer rollouts", NewTransformer, Config{Vocab: 200}, 64, 80, 4},
		{"transformer rollouts 160", NewTransformer, Config{Vocab: 200}, 64, 160, 4},
		{"transformer rollouts 240", NewTransformer, Config{Vocab: 200}, 64, 240, 4},
		{"gru rollouts", NewGRU, Config{Vocab: 200}, 64, 80, 4},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", size.name, workers), func(b *testing.B) {
				size.c.Workers = workers
				m, err := size.make(size.c)
				if err != nil {
					b.Fatal(err)
				}
				batch := randomBatch(size.c.Vocab, size.n, size.length, size.answer)
				weight := ones(batch)
				b.ReportAllocs()
				for b.Loop() {
					if err := m.AddGrad(context.Background(), batch, weight); err != nil {
						b.Fatal(err)
					}
					if _, err := m.Step(context.Background(), 1e-4); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(size.n*size.length)*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
				b.ReportMetric(float64(m.NumParams()), "params")
			})
		}
	}
}

func BenchmarkLogProbs(b *testing.B) {
	m, err := NewTransformer(Config{Vocab: 200})
	if err != nil {
		b.Fatal(err)
	}
	batch := randomBatch(200, 64, 80, 4)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.LogProbs(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(64*80)*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkSample measures one response of the length that is named, after one token. Cost grows with the length only in the attention.
func BenchmarkSample(b *testing.B) {
	for _, length := range []int{16, 64, 128, 255} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			m, err := NewTransformer(Config{Vocab: 64})
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]int, 0, 256)
			o := rl.SampleOptions{Temperature: 1, Stop: -1, Limit: length, Rand: rand.New(rand.NewPCG(1, 2))}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Sample(context.Background(), dst, []int{1}, o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(length)*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// BenchmarkSampleUncached is BenchmarkSample at length 128 with a pass over all tokens so far in place of the cache.
func BenchmarkSampleUncached(b *testing.B) {
	m, err := NewTransformer(Config{Vocab: 64})
	if err != nil {
		b.Fatal(err)
	}
	tokens := randomBatch(64, 1, 129, 0)[0].Tokens
	b.ReportAllocs()
	for b.Loop() {
		for n := 1; n <= 128; n++ {
			err := m.Forward(context.Background(), []rl.Sequence{{Tokens: tokens[:n], Start: n}}, func(int, [][]float64) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(128*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}
