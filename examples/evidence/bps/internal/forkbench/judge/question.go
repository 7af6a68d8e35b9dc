package judge

import (
	"cmp"
	"math"
	"regexp"
	"slices"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/baseline"
	"github.com/throughline-go/throughline/bps/learn"
	"github.com/throughline-go/throughline/examples/evidence/bps/internal/forkbench"
	"github.com/throughline-go/throughline/internal/text"
)

// A shelf is a library with what is computed of it once.
type shelf struct {
	*forkbench.Library
	tokens []int
	names  []string
	texts  *bps.Index // for what bps.FromTexts does
	index  *text.BM25
	supply [][]float64         // fitted
	alike  baseline.Similarity // of the texts, by their words
	equal  baseline.Similarity // of the fitted supplies
}

func newShelf(l *forkbench.Library, m *learn.Model) (*shelf, error) {
	s := &shelf{Library: l, index: l.Index()}
	var texts []bps.Text
	var vectors [][]float64
	for _, d := range l.Documents {
		s.tokens = append(s.tokens, d.Tokens)
		s.names = append(s.names, d.Name)
		texts = append(texts, d.Text())
		vectors = append(vectors, text.Hash(make([]float64, 512), d.Text().String()))
		supply, err := m.Supply(d.Name)
		if err != nil {
			return nil, err
		}
		s.supply = append(s.supply, supply)
	}
	var err error
	if s.texts, err = bps.NewIndex(texts, nil); err != nil {
		return nil, err
	}
	if s.alike, err = baseline.Cosine(vectors); err != nil {
		return nil, err
	}
	s.equal, err = baseline.Cosine(s.supply)
	return s, err
}

// A view is what a baseline is given to choose by.
type view struct {
	benefit    bps.Benefit
	relevance  []float64 // nil for the benefit of a document alone
	similarity baseline.Similarity
	clauses    [][]float64 // a row a document
}

func (v *view) problem(q *question, budget int, kappa float64) bps.Problem {
	return bps.Problem{Tokens: q.tokens, Budget: budget, Benefit: v.benefit, PenaltyPerToken: kappa}
}

// A question is one task before one shelf, seen by words and through the fitted model.
type question struct {
	*shelf
	task       *forkbench.Task
	words, fit view
}

// clauseEnd cuts the text of a task into what it asks for.
var clauseEnd = regexp.MustCompile(`[.:,](?:\s|$)|\b(?:and|then|first)\b`)

func newQuestion(s *shelf, t *forkbench.Task, m *learn.Model) (*question, error) {
	q := &question{shelf: s, task: t}
	relevance := shares(s.index.Score(nil, text.Tokens(t.Text)))
	clauses := make([][]float64, len(s.tokens))
	for _, part := range clauseEnd.Split(t.Text, -1) {
		words := text.Tokens(part)
		if len(words) < 2 {
			continue
		}
		for i, x := range shares(s.index.Score(nil, words)) {
			clauses[i] = append(clauses[i], x)
		}
	}
	byWords, err := bps.NewClauses(clauses, relevance, nil)
	if err != nil {
		return nil, err
	}
	q.words = view{byWords, relevance, s.alike, clauses}

	demand, err := m.Demand(t.Text)
	if err != nil {
		return nil, err
	}
	byFit, err := m.Benefit(t.Text, s.names)
	if err != nil {
		return nil, err
	}
	q.fit = view{byFit, nil, s.equal, capabilities(demand, s.supply)}
	return q, nil
}

// capabilities makes clauses of a fit: the capabilities with a demand of at least a tenth of the largest, in descending order of it, and
// the share of each that a document covers.
func capabilities(demand []float64, supply [][]float64) [][]float64 {
	var order []int
	for k, w := range demand {
		if w > 0 && w >= slices.Max(demand)/10 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(demand[b], demand[a]) })
	rows := make([][]float64, len(supply))
	for i, u := range supply {
		for _, k := range order {
			rows[i] = append(rows[i], -math.Expm1(-u[k]))
		}
	}
	return rows
}

// shares divides by the largest entry.
func shares(x []float64) []float64 {
	best := 0.0
	for _, v := range x {
		best = max(best, v)
	}
	for i := range x {
		if best > 0 {
			x[i] /= best
		}
	}
	return x
}
