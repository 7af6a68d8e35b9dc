package baseline

import (
	"context"

	"github.com/throughline-go/throughline/bps"
)

// RoundRobin serves the clauses of a query in turn, the first one first: each chooses, of the candidates that fit, the one that is the
// most relevant to it. A clause to which none of them is relevant is passed over, and the rule ends when all are. Row clauses[i]
// holds the relevance of candidate i for each clause, as for [bps.NewClauses], but any finite numbers that are not negative will do.
//
// It looks at the benefit only to rate what it has chosen. Nothing is proven about it.
//
// Rows that are not one a candidate, or of different lengths, are [ErrScore]; else errors are those of [TopK].
func RoundRobin(ctx context.Context, p bps.Problem, clauses [][]float64) (*Result, error) {
	r, err := newRun("RoundRobin", p)
	if err != nil {
		return nil, err
	}
	if len(clauses) != len(p.Tokens) {
		return nil, invalid(r.rule, "%d rows of relevance for %d candidates", len(clauses), len(p.Tokens))
	}
	for i, row := range clauses {
		if len(row) != len(clauses[0]) {
			return nil, invalid(r.rule, "%d clauses for candidate %d, want %d", len(row), i, len(clauses[0]))
		}
		for c, q := range row {
			if !finite(q) || q < 0 {
				return nil, invalid(r.rule, "the relevance of candidate %d for clause %d is %v, want a finite number >= 0", i, c, q)
			}
		}
	}
	if len(r.open) == 0 {
		return r.result(r.chosen)
	}
	queues := make([][]int, len(clauses[0])) // what each clause would still like
	relevance := make([]float64, len(clauses))
	for c := range queues {
		for i, row := range clauses {
			relevance[i] = row[c]
		}
		queues[c] = descending(r.open, relevance)
	}
	taken := make([]bool, len(clauses))
	for chosen := -1; chosen < len(r.chosen); {
		if err := r.alive(ctx); err != nil {
			return nil, err
		}
		chosen = len(r.chosen)
		for c, queue := range queues {
			for len(queue) > 0 && (taken[queue[0]] || r.tokens[queue[0]] > r.left) {
				queue = queue[1:]
			}
			if len(queue) > 0 && clauses[queue[0]][c] > 0 {
				taken[queue[0]] = true
				r.add(queue[0])
				queue = queue[1:]
			}
			queues[c] = queue
		}
	}
	return r.result(r.chosen)
}
