package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/internal/stat"
)

// RelateOptions adjusts [Relate]. A nil *RelateOptions equals &RelateOptions{}.
type RelateOptions struct {
	Permutations int        // random permutations of a p-value, at least 99; zero means 9,999
	Resamples    int        // of an interval, at least 99; zero means 2,000
	Level        float64    // of an interval, in (0, 1); zero means 0.95
	Rand         *rand.Rand // draws two seeds; nil means a fixed seed
}

// A Relation is the result of [Relate].
type Relation struct {
	Tasks   int           // outcomes with a score, which the numbers are of
	LeftOut int           // outcomes without
	Overall Associations  // over all tasks
	Groups  int           // distinct groups of the tasks
	Within  *Associations // within groups, pooled; nil with fewer than two groups
}

// Associations say how the utility goes with success, and how each of its factors does by itself.
type Associations struct {
	Specificity, Abstractness, Utility Association
}

// An Association holds two rank correlations of the same pairs.
type Association struct {
	Spearman, Kendall Coefficient
}

// A Coefficient is a rank correlation with its p-value and interval. Where one side is constant, or there are fewer than
// two tasks, it is not Defined and its numbers are 0 and mean nothing.
type Coefficient struct {
	Value   float64 // in [-1, 1]
	Defined bool
	P       float64 // two-sided, in (0, 1]
	Exact   bool    // P is over all permutations, otherwise over a sample
	Lo, Hi  float64 // ends of the interval
}

// Relate says how the scores of tasks go with their success, by Spearman's rho and Kendall's tau-b, over all tasks and, where
// tasks have two groups or more, within groups. Each has the p-value of a two-sided permutation test, exact up to 5,040
// permutations (7 tasks), otherwise of random ones, and a percentile bootstrap interval; below some twenty tasks that is too
// narrow. All coefficients see the same permutations and the same resamples, so their differences are not noise of the draws. The
// p-values are of one test each: with six of them, one below 0.05 is no surprise.
//
// Within groups, empty being a group like any other, only tasks of the same group are compared, so that a score does not look good
// because it tells easy tasks from hard ones. A group of one task adds nothing.
//
// The order of the outcomes does not matter. A success outside [0, 1], numbers that are not finite or without skills, options out
// of range, and a done ctx are errors. It takes O((Permutations + Resamples)·n log k) time for n tasks and k different successes: a second
// for 1,000 tasks.
func Relate(ctx context.Context, outcomes []TaskOutcome, o *RelateOptions) (*Relation, error) {
	opts, err := o.resolve()
	faults := []error{err}
	rel := &Relation{}
	var rows []TaskOutcome
	for i, t := range outcomes {
		if err := t.check(); err != nil {
			faults = append(faults, fmt.Errorf("analysis: relate: outcome %d of task %q: %w", i, t.TaskID, err))
		}
		if t.Score.Skills == 0 {
			rel.LeftOut++
			continue
		}
		rows = append(rows, t)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b TaskOutcome) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.Success, b.Success),
			cmp.Compare(a.Score.Utility, b.Score.Utility), cmp.Compare(a.Score.Specificity, b.Score.Specificity),
			cmp.Compare(a.Score.Abstractness, b.Score.Abstractness))
	})
	rel.Tasks = len(rows)
	var sizes []int // of the groups
	for i := range rows {
		if i == 0 || rows[i].Group != rows[i-1].Group {
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1]++
	}
	rel.Groups = len(sizes)
	if rel.Overall, err = opts.associations(ctx, rows, []int{len(rows)}); err != nil {
		return nil, err
	}
	if rel.Groups >= 2 {
		within, err := opts.associations(ctx, rows, sizes)
		if err != nil {
			return nil, err
		}
		rel.Within = &within
	}
	return rel, nil
}

// relater holds options of Relate with the defaults filled in.
type relater struct {
	permutations, resamples int
	level                   float64
	permute, resample       [2]uint64 // seeds
}

func (o *RelateOptions) resolve() (relater, error) {
	var in RelateOptions
	if o != nil {
		in = *o
	}
	r := relater{cmp.Or(in.Permutations, 9999), cmp.Or(in.Resamples, 2000), cmp.Or(in.Level, 0.95), [2]uint64{1, 2}, [2]uint64{1, 2}}
	var faults []error
	if r.permutations < 99 {
		faults = append(faults, fmt.Errorf("analysis: relate: Permutations is %d, want 0 or at least 99", in.Permutations))
	}
	if r.resamples < 99 {
		faults = append(faults, fmt.Errorf("analysis: relate: Resamples is %d, want 0 or at least 99", in.Resamples))
	}
	if !(r.level > 0 && r.level < 1) {
		faults = append(faults, fmt.Errorf("analysis: relate: Level is %g, want it in (0, 1)", in.Level))
	}
	if err := errors.Join(faults...); err != nil {
		return relater{}, err
	}
	if in.Rand == nil {
		in.Rand = rand.New(rand.NewPCG(1, 2))
	}
	for _, seed := range []*[2]uint64{&r.permute, &r.resample} {
		seed[0], seed[1] = in.Rand.Uint64(), in.Rand.Uint64()
	}
	return r, nil
}

func (r relater) associations(ctx context.Context, rows []TaskOutcome, strata []int) (Associations, error) {
	var a Associations
	success := make([]float64, len(rows))
	for i, t := range rows {
		success[i] = t.Success
	}
	score := make([]float64, len(rows))
	for _, f := range []struct {
		dst *Association
		of  func(TaskScore) float64
	}{
		{&a.Specificity, func(s TaskScore) float64 { return s.Specificity }},
		{&a.Abstractness, func(s TaskScore) float64 { return s.Abstractness }},
		{&a.Utility, func(s TaskScore) float64 { return s.Utility }},
	} {
		for i, t := range rows {
			score[i] = f.of(t.Score)
		}
		p := newRankPairs(score, success, strata)
		var err error
		if f.dst.Spearman, err = r.coefficient(ctx, p, p.spearman); err != nil {
			return Associations{}, err
		}
		if f.dst.Kendall, err = r.coefficient(ctx, p, p.kendall); err != nil {
			return Associations{}, err
		}
	}
	return a, nil
}

// coefficient tests one coefficient of p.
func (r relater) coefficient(ctx context.Context, p *rankPairs, of func(xs, ys []int) stat.Correlation) (Coefficient, error) {
	n := len(p.x)
	same := make([]int, n)
	for i := range same {
		same[i] = i
	}
	if err := ctx.Err(); err != nil {
		return Coefficient{}, fmt.Errorf("analysis: relate: %w", err)
	}
	c := of(same, same)
	if !c.Defined {
		return Coefficient{}, nil
	}
	test, err := stat.Permutation(n, func(perm []int) float64 {
		if ctx.Err() != nil {
			return math.Inf(1) // which is refused, so that the draws end
		}
		return of(same, perm).Value
	}, &stat.PermutationOptions{
		Draws: r.permutations, Strata: p.strata, Rand: rand.New(rand.NewPCG(r.permute[0], r.permute[1])),
	})
	if err := ctx.Err(); err != nil {
		return Coefficient{}, fmt.Errorf("analysis: relate: %w", err)
	}
	if err != nil {
		return Coefficient{}, fmt.Errorf("analysis: relate: %w", err)
	}
	interval, err := stat.Bootstrap(n, func(sample []int) float64 {
		if ctx.Err() != nil {
			return math.Inf(1)
		}
		if c := of(sample, sample); c.Defined {
			return c.Value
		}
		return math.NaN()
	}, &stat.BootstrapOptions{
		Draws: r.resamples, Level: r.level, Strata: p.strata, Rand: rand.New(rand.NewPCG(r.resample[0], r.resample[1])),
	})
	if err := ctx.Err(); err != nil {
		return Coefficient{}, fmt.Errorf("analysis: relate: %w", err)
	}
	if err != nil {
		return Coefficient{}, fmt.Errorf("analysis: relate: %w", err)
	}
	return Coefficient{Value: c.Value, Defined: true, P: test.P, Exact: test.Exact, Lo: interval.Lo, Hi: interval.Hi}, nil
}
