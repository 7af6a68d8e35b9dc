package bps

import (
	"fmt"
	"math"
)

type clauseBenefit struct {
	clauses int       // how many
	supply  []float64 // a row of clauses a candidate: Scale*rel^Power
	covers  []float64 // 1-exp(-supply): the share of what is still missing that a candidate covers
	bonus   []float64 // by candidate: WholeWeight*whole
	names   []string  // of the clauses and of the whole query; nil if they have none
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
// There are len(whole) candidates, and the rows have one length; otherwise, for a relevance outside [0, 1], and if the last term can
// be more than the largest number, the error is [ErrBenefit]. An option outside its range is an error too. The slices are copied. Any
// number of goroutines may use the benefit. Like an index into a slice, Value panics if set holds a number outside 0..len(whole)-1;
// [Select] refuses the benefit for another number of candidates.
func NewClauses(clauses [][]float64, whole []float64, o *ClauseOptions) (Incremental, error) {
	b, err := newClauses(clauses, whole, o)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func newClauses(clauses [][]float64, whole []float64, o *ClauseOptions) (*clauseBenefit, error) {
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
	b := &clauseBenefit{bonus: make([]float64, len(whole))}
	all := 0.0
	for i, rel := range whole {
		if !(rel >= 0 && rel <= 1) {
			return nil, fmt.Errorf("%w: relevance %v of candidate %d for the whole query, want a number in [0, 1]", ErrBenefit, rel, i)
		}
		b.bonus[i] = weight * rel
		all += b.bonus[i]
	}
	if !finite(all) {
		return nil, fmt.Errorf("%w: WholeWeight %v and relevance to the whole query add up to %v, want a finite number", ErrBenefit, weight, all)
	}
	if len(clauses) > 0 {
		b.clauses = len(clauses[0])
	}
	for i, row := range clauses {
		if len(row) != b.clauses {
			return nil, fmt.Errorf("%w: %d clauses for candidate %d, want %d", ErrBenefit, len(row), i, b.clauses)
		}
		for r, rel := range row {
			if !(rel >= 0 && rel <= 1) {
				return nil, fmt.Errorf("%w: relevance %v of candidate %d for clause %d, want a number in [0, 1]", ErrBenefit, rel, i, r)
			}
			u := scale * math.Pow(rel, power)
			b.supply = append(b.supply, u)
			b.covers = append(b.covers, -math.Expm1(-u))
		}
	}
	return b, nil
}

// Len returns the number of candidates, which Select checks.
func (b *clauseBenefit) Len() int { return len(b.bonus) }

func (b *clauseBenefit) Value(set []int) float64 {
	value := 0.0
	for r := range b.clauses {
		value += b.clause(r, set)
	}
	return value + b.extra(set)
}

// clause returns the value of clause r alone.
func (b *clauseBenefit) clause(r int, set []int) float64 {
	x := 0.0
	for _, i := range set {
		x += b.supply[i*b.clauses+r]
	}
	return -math.Expm1(-x)
}

// extra returns the term for the whole query.
func (b *clauseBenefit) extra(set []int) float64 {
	value := 0.0
	for _, i := range set {
		value += b.bonus[i]
	}
	return value
}

// Parts returns the value of each clause, then the term for the whole query. Explain asks for it.
func (b *clauseBenefit) Parts(set []int) []float64 {
	parts := make([]float64, b.clauses+1)
	for r := range b.clauses {
		parts[r] = b.clause(r, set)
	}
	parts[b.clauses] = b.extra(set)
	return parts
}

// PartNames returns what to call the parts: for [FromTexts], the words of the clauses.
func (b *clauseBenefit) PartNames() []string { return b.names }

func (b *clauseBenefit) Start() Gains {
	g := &clauseGains{b: b, missing: make([]float64, b.clauses)}
	for r := range g.missing {
		g.missing[r] = 1
	}
	return g
}

type clauseGains struct {
	b       *clauseBenefit
	missing []float64 // exp(-sum of supply): what is left to gain in a clause
	value   float64
}

func (g *clauseGains) Gain(i int) float64 {
	missing := g.missing
	covers := g.b.covers[i*len(missing):][:len(missing)]
	gain := g.b.bonus[i]
	for r, m := range missing {
		gain += m * covers[r]
	}
	return gain
}

func (g *clauseGains) Add(i int) {
	missing := g.missing
	covers := g.b.covers[i*len(missing):][:len(missing)]
	gain := g.b.bonus[i]
	for r, m := range missing {
		part := m * covers[r]
		gain += part
		missing[r] = m - part
	}
	g.value += gain
}

func (g *clauseGains) Value() float64 { return g.value }

func (g *clauseGains) Clone() Gains {
	return &clauseGains{b: g.b, missing: append([]float64(nil), g.missing...), value: g.value}
}

// CopyFrom makes g a copy of another state of the same benefit.
func (g *clauseGains) CopyFrom(src Gains) {
	from := src.(*clauseGains)
	copy(g.missing, from.missing)
	g.value = from.value
}
