package bps

import (
	"fmt"
	"math"
)

type clauseBenefit struct {
	clauses Incremental
	bonus   []float64
}

// ClauseOptions adjusts [NewClauses]. The defaults were measured once on tool retrieval and not tuned. A nil *ClauseOptions equals
// &ClauseOptions{}.
type ClauseOptions struct {
	Scale       float64  // how far one fully relevant candidate fills a clause; positive, zero means 2
	Power       float64  // how fast partial relevance fades; at least 1, zero means 3
	WholeWeight *float64 // weight of relevance to the whole query; not negative, nil means 0.3
}

// NewClauses returns a benefit made of relevance scores, for selection without a model (ours):
//
//	G(S) = sum over clauses r of (1 - exp(-sum over i in S of Scale*clauses[i][r]^Power)) + WholeWeight * sum over i in S of whole[i]
//
// Row clauses[i] holds the relevance of candidate i for each clause of a query, whole[i] its relevance for the whole query: any
// similarity in [0, 1], of words or of meanings. Each clause is a need that one good candidate nearly fills, so a second good one
// for the same clause adds little; the last term rewards relevance to the whole query. G is monotone and submodular, and
// G(empty) = 0. A gain costs one multiplication a clause.
//
// There are len(whole) candidates, and the rows have one length; otherwise, and for a relevance outside [0, 1], the error is
// [ErrBenefit]. An option outside its range is an error too. The slices are copied. Any number of goroutines may use the benefit.
// Like an index into a slice, Value panics if set holds a number outside 0..len(whole)-1; [Select] refuses the benefit for another
// number of candidates.
func NewClauses(clauses [][]float64, whole []float64, o *ClauseOptions) (Incremental, error) {
	scale, power, weight := 2.0, 3.0, 0.3
	if o != nil {
		if o.Scale != 0 {
			scale = o.Scale
		}
		if o.Power != 0 {
			power = o.Power
		}
		if o.WholeWeight != nil {
			weight = *o.WholeWeight
		}
	}
	switch {
	case !finite(scale) || scale < 0:
		return nil, fmt.Errorf("bps: ClauseOptions.Scale is %v, want a finite number > 0", scale)
	case !finite(power) || power < 1:
		return nil, fmt.Errorf("bps: ClauseOptions.Power is %v, want a finite number >= 1", power)
	case !finite(weight) || weight < 0:
		return nil, fmt.Errorf("bps: ClauseOptions.WholeWeight is %v, want a finite number >= 0", weight)
	case len(clauses) != len(whole):
		return nil, fmt.Errorf("%w: %d rows of clause relevance for %d candidates", ErrBenefit, len(clauses), len(whole))
	}
	bonus := make([]float64, len(whole))
	for i, rel := range whole {
		if !(rel >= 0 && rel <= 1) {
			return nil, fmt.Errorf("%w: relevance %v of candidate %d for the whole query, want a number in [0, 1]", ErrBenefit, rel, i)
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
	return &clauseBenefit{clauses: c, bonus: bonus}, nil
}

// Len returns the number of candidates, which Select checks.
func (b *clauseBenefit) Len() int { return len(b.bonus) }

func (b *clauseBenefit) Value(set []int) float64 {
	value := b.clauses.Value(set)
	for _, i := range set {
		value += b.bonus[i]
	}
	return value
}

func (b *clauseBenefit) Start() Gains {
	return &clauseGains{clauses: b.clauses.Start(), bonus: b.bonus}
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
