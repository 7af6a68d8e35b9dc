package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// A Model holds what [Fit] has learned. It never changes but by UnmarshalJSON, and any number of goroutines may use it. Methods that
// take names return an [ErrUnknown] for one that was in no record, unless it has features and the side of it was fitted with features:
// then an [ErrFeatures] if these are bad.
type Model struct {
	form            Form
	dim             int
	kappa           float64
	base            []float64 // c or b: one a query, or one for all if queries have a map
	skills, queries rows
}

// rows is one side of a model. Names ascend.
type rows struct {
	kind     string
	names    []string
	number   map[string]int // place in names
	row      [][]float64    // one a name
	weight   [][]float64    // the map, a row a feature; nil without one
	features Features
}

// model copies what t has learned.
func (t *trainer) model(skills, queries []string, o *Options) *Model {
	m := &Model{form: t.form, dim: t.p.dim, kappa: t.p.kappa}
	side := func(kind string, names []string, s *side, f Features) rows {
		r := rows{kind: kind, names: names, number: index(names), weight: s.weights(), features: f, row: make([][]float64, s.n)}
		for i := range r.row {
			r.row[i] = slices.Clone(s.row[i*s.dim:][:s.dim])
			clip(r.row[i])
		}
		return r
	}
	m.skills = side("skill", skills, &t.skill, o.SkillFeatures)
	m.queries = side("query", queries, &t.query, o.QueryFeatures)
	for q := range t.baseParam {
		m.base = append(m.base, t.base(q))
	}
	return m
}

func clip(row []float64) {
	for k, v := range row {
		row[k] = min(v, maxNumber)
	}
}

// find returns the row of name, which is not to be changed, and its place in names, -1 for a row made from features.
func (r *rows) find(name string, dim int) ([]float64, int, error) {
	if i, ok := r.number[name]; ok {
		return r.row[i], i, nil
	}
	if r.weight == nil {
		return nil, 0, fmt.Errorf("%w: %s %q was in no record", ErrUnknown, r.kind, name)
	}
	if r.features == nil {
		return nil, 0, fmt.Errorf("%w: %s %q was in no record and the model has no %[2]s features: WithFeatures gives it some",
			ErrUnknown, r.kind, name)
	}
	x := r.features(name)
	if x == nil {
		return nil, 0, fmt.Errorf("%w: %s %q was in no record and has no features", ErrUnknown, r.kind, name)
	}
	if err := checkFeatures(r.kind, name, x, len(r.weight)); err != nil {
		return nil, 0, err
	}
	row := make([]float64, dim)
	for j, v := range x {
		if v > 0 {
			for k, a := range r.weight[j] {
				row[k] += v * a
			}
		}
	}
	clip(row)
	return row, -1, nil
}

// WithFeatures returns a copy of m that asks these for names that were in no record. [Load] needs it, since functions cannot be saved;
// they must be those of the fit. Nil means that such names are unknown.
func (m *Model) WithFeatures(skills, queries Features) *Model {
	c := *m
	c.skills.features, c.queries.features = skills, queries
	return &c
}

// Supply returns the supplies u of a skill, one a capability, each >= 0.
func (m *Model) Supply(skill string) ([]float64, error) {
	row, _, err := m.skills.find(skill, m.dim)
	return slices.Clone(row), err
}

// Demand returns the demands w of a query, one a capability, each >= 0.
func (m *Model) Demand(query string) ([]float64, error) {
	row, _, err := m.queries.find(query, m.dim)
	return slices.Clone(row), err
}

// PenaltyPerToken returns kappa, for [bps.Problem]; it is in units of the benefit.
func (m *Model) PenaltyPerToken() float64 { return m.kappa }

// Benefit returns G(query,S), for [bps.Problem]: candidate i is skills[i]. It is the gain in the logarithm of the probability of a
// pass over that of no skills, before the price of tokens and, in the form [Offset], before z is cut off.
func (m *Model) Benefit(query string, skills []string) (bps.Incremental, error) {
	demand, _, err := m.queries.find(query, m.dim)
	if err != nil {
		return nil, err
	}
	supply := make([][]float64, len(skills))
	for i, name := range skills {
		if supply[i], _, err = m.skills.find(name, m.dim); err != nil {
			return nil, err
		}
	}
	return bps.NewCapability(demand, supply)
}

// Predict returns the probability that a run of query with these skills, of so many tokens together, passes. It lies strictly between 0 and
// 1. A skill that is named twice counts twice. Tokens below 0 are an error.
func (m *Model) Predict(query string, skills []string, tokens int) (float64, error) {
	if tokens < 0 {
		return 0, fmt.Errorf("learn: %d tokens, want >= 0", tokens)
	}
	w, q, err := m.queries.find(query, m.dim)
	if err != nil {
		return 0, err
	}
	x := make([]float64, m.dim)
	for _, name := range skills {
		row, _, err := m.skills.find(name, m.dim)
		if err != nil {
			return 0, err
		}
		for k, u := range row {
			x[k] += u
		}
	}
	if q < 0 || len(m.base) == 1 {
		q = 0
	}
	z := m.base[q] - m.kappa*float64(tokens)
	for k, w := range w {
		if m.form == Offset {
			z -= w * math.Expm1(-x[k])
		} else {
			z -= w * math.Exp(-x[k])
		}
	}
	return math.Exp(min(max(z, minZ), maxZ)), nil
}
