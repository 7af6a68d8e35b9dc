package bps

import (
	"fmt"
	"math"
)

// LexicalClauses is a benefit made of relevance scores, for selection without a model (ours):
//
//	G(S) = sum over clauses r of (1 - exp(-sum over i in S of Scale*rel[i][r]^Power)) + QueryWeight * sum over i in S of query[i]
//
// Each clause of a query is a need that one good candidate nearly fills, so a second good one for the same clause adds little; the
// last term rewards relevance to the whole query. It is monotone and submodular, and G(empty) = 0. It does not change once made,
// and any number of goroutines may use it.
type LexicalClauses struct {
	clauses Capability
	bonus   []float64
}

// ClauseOptions adjusts [LexicalClauses]. The defaults were measured once on tool retrieval and not tuned. A nil *ClauseOptions
// equals &ClauseOptions{}.
type ClauseOptions struct {
	Scale       float64  // how far one fully relevant candidate fills a clause; positive, zero means 2
	Power       float64  // how fast partial relevance fades; at least 1, zero means 3
	QueryWeight *float64 // weight of relevance to the whole query; not negative, nil means 0.3
}

// NewLexicalClauses returns the benefit for len(clauses) candidates. Row clauses[i] holds the relevance of candidate i for each
// clause, query[i] its relevance for the whole query; all lie in [0, 1], and the rows have one length. Otherwise, and for options
// outside their range, the error is [ErrBenefit] or [ErrOptions].
func NewLexicalClauses(clauses [][]float64, query []float64, o *ClauseOptions) (*LexicalClauses, error) {
	scale, power, weight := 2.0, 3.0, 0.3
	if o != nil {
		if o.Scale != 0 {
			scale = o.Scale
		}
		if o.Power != 0 {
			power = o.Power
		}
		if o.QueryWeight != nil {
			weight = *o.QueryWeight
		}
	}
	switch {
	case !finite(scale) || scale < 0:
		return nil, fmt.Errorf("%w: Scale is %v, want a finite number > 0", ErrOptions, scale)
	case !finite(power) || power < 1:
		return nil, fmt.Errorf("%w: Power is %v, want a finite number >= 1", ErrOptions, power)
	case !finite(weight) || weight < 0:
		return nil, fmt.Errorf("%w: QueryWeight is %v, want a finite number >= 0", ErrOptions, weight)
	case len(clauses) != len(query):
		return nil, fmt.Errorf("%w: %d rows of clause relevance for %d candidates", ErrBenefit, len(clauses), len(query))
	}
	bonus := make([]float64, len(query))
	for i, rel := range query {
		if !(rel >= 0 && rel <= 1) {
			return nil, fmt.Errorf("%w: query relevance %v of candidate %d, want a number in [0, 1]", ErrBenefit, rel, i)
		}
		bonus[i] = weight * rel
	}
	supply := make([][]float64, len(clauses))
	for i, row := range clauses {
		if len(row) != len(clauses[0]) {
			return nil, fmt.Errorf("%w: %d clauses for candidate %d, want %d", ErrBenefit, len(row), i, len(clauses[0]))
		}
		supply[i] = make([]float64, len(row))
		for r, rel := range row {
			if !(rel >= 0 && rel <= 1) {
				return nil, fmt.Errorf("%w: relevance %v of candidate %d for clause %d, want a number in [0, 1]", ErrBenefit, rel, i, r)
			}
			supply[i][r] = scale * math.Pow(rel, power)
		}
	}
	var demand []float64
	if len(clauses) > 0 {
		demand = make([]float64, len(clauses[0]))
		for r := range demand {
			demand[r] = 1
		}
	}
	c, err := NewCapability(demand, supply)
	if err != nil {
		return nil, err
	}
	return &LexicalClauses{clauses: *c, bonus: bonus}, nil
}

// Len returns the number of candidates.
func (l *LexicalClauses) Len() int { return len(l.bonus) }

// Value returns G(set). Like an index into a slice it panics if set holds a number outside 0..Len()-1.
func (l *LexicalClauses) Value(set []int) float64 {
	value := l.clauses.Value(set)
	for _, i := range set {
		value += l.bonus[i]
	}
	return value
}

// Start returns the state of the empty set, whose gains cost one multiplication a clause.
func (l *LexicalClauses) Start() Gains {
	return &clauseGains{clauses: l.clauses.Start(), bonus: l.bonus}
}

type clauseGains struct {
	clauses Gains
	bonus   []float64 // shared, never written
	extra   float64   // bonus of the set
}

func (g *clauseGains) Gain(i int) float64 { return g.clauses.Gain(i) + g.bonus[i] }

func (g *clauseGains) Add(i int) {
	g.clauses.Add(i)
	g.extra += g.bonus[i]
}

func (g *clauseGains) Value() float64 { return g.clauses.Value() + g.extra }

func (g *clauseGains) Clone() Gains {
	return &clauseGains{clauses: g.clauses.Clone(), bonus: g.bonus, extra: g.extra}
}
