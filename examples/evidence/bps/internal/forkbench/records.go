package forkbench

import (
	"math/rand/v2"

	"github.com/throughline-go/throughline/bps/learn"
	"github.com/throughline-go/throughline/internal/text"
)

// mostLogged is the largest number of documents in a record.
const mostLogged = 4

// Records runs n executions of tasks to learn from and logs whether they passed. The sets are what a careless agent might have had in its
// context, not what the testbed knows to be right: half of them are up to 4 documents drawn with chances as the square of the BM25
// relevance of their text for the task, the other half are drawn evenly. Their order is random.
func (b *Bench) Records(r *rand.Rand, n int) []learn.Record {
	relevance := make([][]float64, len(b.TrainTasks))
	index := b.Train.Index()
	for i, t := range b.TrainTasks {
		relevance[i] = index.Score(nil, text.Tokens(t.Text))
		for j, x := range relevance[i] {
			relevance[i][j] = x * x
		}
	}
	even := make([]float64, len(b.Train.Documents))
	for i := range even {
		even[i] = 1
	}
	records := make([]learn.Record, n)
	for i := range records {
		at := r.IntN(len(b.TrainTasks))
		weight, size := relevance[at], 2+r.IntN(mostLogged-1)
		if i%2 == 1 {
			weight, size = even, r.IntN(mostLogged+1)
		}
		chosen := drawSet(r, weight, size)
		task := b.TrainTasks[at]
		rec := learn.Record{Query: task.Text, Tokens: b.Train.Tokens(chosen), Pass: b.Train.Passes(task, chosen)}
		for _, j := range chosen {
			rec.Skills = append(rec.Skills, b.Train.Documents[j].Name)
		}
		records[i] = rec
	}
	return records
}

// Index returns the texts of a library as [bps.FromTexts] weighs them.
func (l *Library) Index() *text.BM25 {
	var index text.BM25
	for _, d := range l.Documents {
		index.Add(text.Field{Text: d.Name, Weight: 3}, text.Field{Text: d.Description, Weight: 2}, text.Field{Text: d.Body, Weight: 1})
	}
	return &index
}

// drawSet draws up to n different places, one after another, with chances in proportion to their weights; places of weight 0 never.
func drawSet(r *rand.Rand, weight []float64, n int) []int {
	var chosen []int
	taken := make([]bool, len(weight))
	for range n {
		sum := 0.0
		for i, w := range weight {
			if !taken[i] {
				sum += w
			}
		}
		x := r.Float64() * sum
		last := -1
		for i, w := range weight {
			if taken[i] || w == 0 {
				continue
			}
			last = i
			if x -= w; x < 0 {
				break
			}
		}
		if last < 0 {
			break
		}
		taken[last] = true
		chosen = append(chosen, last)
	}
	return chosen
}
