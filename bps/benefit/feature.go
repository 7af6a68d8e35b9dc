package benefit

import (
	"math"
	"slices"

	"github.com/throughline-go/throughline/bps"
)

// A Feature is something of which candidates have amounts, and a set should have much, with less use of every further unit.
type Feature struct {
	Weight float64 // not negative
	// Concave turns the amount of a set into its use: nondecreasing and concave, 0 at 0, for example [math.Sqrt], [math.Log1p],
	// [Ratio], [Saturation] or [Cap]. It must be a pure function and safe for concurrent use.
	Concave func(amount float64) float64
}

// Ratio returns x/(1+x), for [Feature]: half of the use comes from the first unit.
func Ratio(x float64) float64 { return x / (1 + x) }

// Saturation returns 1-exp(-x), for [Feature]: the function of the capability benefit.
func Saturation(x float64) float64 { return -math.Expm1(-x) }

// Cap returns the function min(x, limit), for [Feature]: amounts beyond the limit have no use. limit must not be negative.
func Cap(limit float64) func(x float64) float64 {
	return func(x float64) float64 { return min(x, limit) }
}

type featureBased struct {
	features []Feature
	start    []int // amounts of candidate i are start[i] to start[i+1]
	feature  []int
	amount   []float64 // positive
	scratch  scratch
}

// NewFeatureBased returns a concave function of a sum for every feature:
//
//	G(S) = sum over features k of Weight[k] * Concave[k](sum over i in S of amounts[i][k])
//
// With [Cap] it is the saturated coverage benefit: features are points, amounts[i][k] is the similarity of candidate i to point k, and the
// limit is a share of the sum of all similarities to the point.
//
// There are len(amounts) candidates; a row has one entry a feature. Amounts and weights must be finite and not negative, and rows as long
// as features; otherwise, if a sum overflows, or if Concave is missing, is not 0 at 0, or is seen to fall, to bend upwards or to be
// not finite at 33 equally spaced amounts from 0 to that of all candidates (2 if that is below 1e-300), the error is [bps.ErrBenefit].
// The slices are copied. A gain costs one call of Concave for every amount of the candidate that is not 0.
func NewFeatureBased(amounts [][]float64, features []Feature) (bps.Incremental, error) {
	f := &featureBased{
		features: slices.Clone(features),
		start:    make([]int, 1, len(amounts)+1),
		scratch:  scratch{size: len(features)},
	}
	total := make([]float64, len(features))
	for i, row := range amounts {
		if len(row) != len(features) {
			return nil, invalid("amounts[%d] has %d entries, want %d", i, len(row), len(features))
		}
		for k, x := range row {
			if err := notNegative(x, "amounts[%d][%d]", i, k); err != nil {
				return nil, err
			}
			total[k] += x
			if x > 0 && features[k].Weight > 0 {
				f.feature = append(f.feature, k)
				f.amount = append(f.amount, x)
			}
		}
		f.start = append(f.start, len(f.feature))
	}
	all := 0.0
	for k, ft := range features {
		if err := notNegative(ft.Weight, "the weight of feature %d", k); err != nil {
			return nil, err
		}
		if !finite(total[k]) {
			return nil, invalid("the amounts of feature %d add up to %v, want a finite number", k, total[k])
		}
		if err := checkConcave(ft.Concave, total[k], k); err != nil {
			return nil, err
		}
		all += ft.Weight * ft.Concave(total[k])
	}
	if !finite(all) {
		return nil, invalid("the features add up to %v, want a finite number", all)
	}
	return f, nil
}

func checkConcave(f func(float64) float64, total float64, k int) error {
	if f == nil {
		return invalid("feature %d has no function", k)
	}
	if v := f(0); v != 0 {
		return invalid("the function of feature %d is %v at 0, want 0", k, v)
	}
	parts := 32.0
	if total < 1e-300 {
		parts = 1 // smaller steps would not be equal after rounding
	}
	end := f(total)
	last, slope := 0.0, math.Inf(1)
	for j := 1.0; j <= parts; j++ {
		x := total * (j / parts)
		v := f(x)
		tol := 1e-9 * math.Abs(end)
		switch step := v - last; {
		case !finite(v):
			return invalid("the function of feature %d is %v at %v, want a finite number", k, v, x)
		case step < -tol:
			return invalid("the function of feature %d falls from %v to %v at %v, want nondecreasing", k, last, v, x)
		case step > slope+tol:
			return invalid("the function of feature %d is not concave below %v: it rises by %v, and by %v just before", k, x, step, slope)
		default:
			last, slope = v, step
		}
	}
	return nil
}

// Len returns the number of candidates, which Select checks.
func (f *featureBased) Len() int { return len(f.start) - 1 }

func (f *featureBased) list(i int) (features []int, amounts []float64) {
	from, to := f.start[i], f.start[i+1]
	return f.feature[from:to], f.amount[from:to]
}

// add adds the amounts of set to those in x.
func (f *featureBased) add(x []float64, set []int) {
	for _, i := range set {
		features, amounts := f.list(i)
		for j, k := range features {
			x[k] += amounts[j]
		}
	}
}

func (f *featureBased) Value(set []int) float64 {
	s := f.scratch.get()
	x, value := *s, 0.0
	f.add(x, set)
	for _, i := range set {
		features, _ := f.list(i)
		for _, k := range features {
			if x[k] > 0 {
				value += f.features[k].Weight * f.features[k].Concave(x[k])
				x[k] = 0
			}
		}
	}
	f.scratch.put(s)
	return value
}

// Parts returns the value of every feature.
func (f *featureBased) Parts(set []int) []float64 {
	parts := make([]float64, len(f.features))
	f.add(parts, set)
	for k, x := range parts {
		if x > 0 {
			parts[k] = f.features[k].Weight * f.features[k].Concave(x)
		}
	}
	return parts
}

func (f *featureBased) Start() bps.Gains {
	return &featureGains{f: f, amount: make([]float64, len(f.features)), use: make([]float64, len(f.features))}
}

type featureGains struct {
	f      *featureBased
	amount []float64 // of the set
	use    []float64 // Concave of it
	value  float64
}

func (g *featureGains) Gain(i int) float64 {
	features, amounts := g.f.list(i)
	gain := 0.0
	for j, k := range features {
		ft := &g.f.features[k]
		gain += ft.Weight * (ft.Concave(g.amount[k]+amounts[j]) - g.use[k])
	}
	return gain
}

func (g *featureGains) Add(i int) {
	features, amounts := g.f.list(i)
	for j, k := range features {
		ft := &g.f.features[k]
		g.amount[k] += amounts[j]
		use := ft.Concave(g.amount[k])
		g.value += ft.Weight * (use - g.use[k])
		g.use[k] = use
	}
}

func (g *featureGains) Value() float64 { return g.value }

func (g *featureGains) Clone() bps.Gains {
	return &featureGains{f: g.f, amount: slices.Clone(g.amount), use: slices.Clone(g.use), value: g.value}
}
