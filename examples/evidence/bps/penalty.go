package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"

	"github.com/throughline-go/throughline/bps"
)

// The levels promise a factor for every nondecreasing penalty g:
//
//	F(answer) >= factor*G(T) - g(tokens(T)) for every set T that fits
//
// For all penalties at once that is the same as: the frontier, a step function, is at every number of tokens b at least the factor times
// OPT(b), the largest benefit of a set with at most b tokens. (One penalty is 0 up to b and forbids the rest.)

// A promise is the factor of one level for every nondecreasing penalty.
type promise struct {
	mode   bps.Mode
	factor float64
}

func promises() []promise {
	return []promise{{bps.Level1, 1. / 2}, {bps.Level2, 0.6174}, {bps.Level3, alpha}}
}

// penaltyResult is what the promises were checked on.
type penaltyResult struct {
	Instances  int        `json:"instances"`
	Violations int        `json:"violations"` // at level 3, numbers of tokens and runs with a penalty together
	Levels     []levelRow `json:"levels"`
	First      string     `json:"first_violation,omitempty"`

	StepBreaksPaper bool        `json:"step_penalty_breaks_paper_mode"`
	Step            stepPenalty `json:"step_penalty"`
}

// A levelRow is one level. All its counts but instances and runs should be 0.
type levelRow struct {
	Level       string  `json:"level"`
	Factor      float64 `json:"factor"`
	Violations  int     `json:"violations"` // numbers of tokens at which the frontier is below factor*OPT
	Ratio       float64 `json:"worst_frontier_ratio"`
	Runs        int     `json:"penalty_runs"`       // with a random step, convex or mixed penalty
	Broken      int     `json:"penalty_violations"` // inequalities of these runs, over all sets that fit
	Differences int     `json:"differences"`        // runs with another objective than the frontier has, or another factor
	Untrue      int     `json:"misreported"`        // frontiers whose sets do not have the tokens and the benefit that they claim
}

// A stepPenalty is what was found on an instance on which Algorithm 1 fails for a penalty that is not linear: four candidates of one token
// and benefit 1, one of 5 tokens and benefit 5.01, budget 10, no penalty up to 4 tokens and 100 beyond.
type stepPenalty struct {
	Optimum  float64 `json:"optimum"`
	Required float64 `json:"required"` // by 1-1/e
	Paper    float64 `json:"paper"`
	Claimed  float64 `json:"paper_factor"` // must be 0
	Level1   float64 `json:"level1"`
	Level2   float64 `json:"level2"`
	Level3   float64 `json:"level3"`
}

// runPenalty checks the levels on random instances and on those that were made to fail them.
func runPenalty(ctx context.Context, seed uint64, instances int, progress func(string)) (*penaltyResult, error) {
	progress("any_penalty: every set of small instances, three levels")
	type check struct {
		levels [3]levelRow
		first  string
	}
	checks := make([]check, instances)
	err := parallel(ctx, len(checks), func(i int) error {
		rng := stream(seed, penaltyPart, i)
		in, err := drawInstance(rng, i)
		if err != nil {
			return err
		}
		optima := in.optima()
		penalty := drawPenalty(rng, in)
		for j, p := range promises() {
			row := &checks[i].levels[j]
			run := penalty
			if i/len(families)%len(promises()) != j {
				run = nil
			}
			what, err := in.level(ctx, p, optima, run, row)
			if err != nil {
				return fmt.Errorf("%v: %v: %w", in, p.mode, err)
			}
			checks[i].first = cmp.Or(checks[i].first, what)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := &penaltyResult{Instances: len(checks)}
	for _, p := range promises() {
		r.Levels = append(r.Levels, levelRow{Level: p.mode.String(), Factor: p.factor, Ratio: 1})
	}
	for i, c := range checks {
		for j := range c.levels {
			r.Levels[j].add(&c.levels[j])
		}
		if r.First == "" && c.first != "" {
			r.First = fmt.Sprintf("instance %d: %s", i, c.first)
		}
	}
	if err := r.runFixed(ctx); err != nil {
		return nil, err
	}
	last := r.Levels[len(r.Levels)-1]
	r.Violations = last.Violations + last.Broken
	if r.Step, err = breakPaper(ctx); err != nil {
		return nil, err
	}
	r.StepBreaksPaper = r.Step.Paper < r.Step.Required-slack && r.Step.Claimed == 0
	return r, nil
}

func (r *levelRow) add(c *levelRow) {
	r.Violations += c.Violations
	r.Ratio = min(r.Ratio, c.Ratio)
	r.Runs += c.Runs
	r.Broken += c.Broken
	r.Differences += c.Differences
	r.Untrue += c.Untrue
}

// level checks one promise on an instance, and with a penalty that is not nil also a run with that penalty. It describes the first
// violation.
func (in *instance) level(
	ctx context.Context, pr promise, optima []float64, penalty func(int) float64, row *levelRow,
) (what string, err error) {
	p := in.problem()
	sel, err := bps.Select(ctx, p, &bps.Options{Mode: pr.mode, Certify: new(false)})
	if err != nil {
		return "", err
	}
	points, truth := in.frontier(sel)
	if !truth {
		row.Untrue++
	}
	step, _ := steps(points, in.budget)
	if row.Violations, row.Ratio = worst(step, optima, pr.factor); row.Violations > 0 {
		what = fmt.Sprintf("%v: %v: frontier %v of the optimum", in, pr.mode, row.Ratio)
	}
	if penalty == nil {
		return what, nil
	}
	p.Penalty = penalty
	if sel, err = bps.Select(ctx, p, &bps.Options{Mode: pr.mode, Certify: new(false)}); err != nil {
		return "", err
	}
	row.Runs++
	if !near(sel.Objective, choose(points, penalty)) || math.Abs(sel.Guarantee.Factor-pr.factor) > 1e-12 {
		row.Differences++
		what = cmp.Or(what, fmt.Sprintf("%v: %v with a penalty: objective %v, but %v on the frontier; factor %v",
			in, pr.mode, sel.Objective, choose(points, penalty), sel.Guarantee.Factor))
	}
	for m, l := range in.lengths {
		if l <= in.budget && sel.Objective < pr.factor*in.values[m]-penalty(l)-slack {
			row.Broken++
			what = cmp.Or(what, fmt.Sprintf("%v: %v with a penalty: objective %v too low for the set with mask %b", in, pr.mode, sel.Objective, m))
		}
	}
	return what, nil
}

// drawPenalty draws a penalty on the scale of the instance: steps, the last of which may forbid what is behind it, a power from 1 to 4, or
// both.
func drawPenalty(rng *rand.Rand, in *instance) func(tokens int) float64 {
	kind := rng.IntN(3)
	type rise struct {
		behind int // tokens
		by     float64
	}
	var rises []rise
	if kind != 1 {
		for range 1 + rng.IntN(4) {
			rises = append(rises, rise{rng.IntN(in.budget + 1), in.all() * rng.Float64()})
		}
		slices.SortFunc(rises, func(a, b rise) int { return cmp.Compare(a.behind, b.behind) })
		if rng.IntN(4) == 0 {
			rises[len(rises)-1].by = math.Inf(1)
		}
	}
	height, power := 0.0, 1+3*rng.Float64()
	if kind != 0 {
		height = in.all() * 2 * rng.Float64()
	}
	return func(tokens int) float64 {
		g := height * math.Pow(float64(tokens)/float64(in.budget), power)
		for _, r := range rises {
			if tokens > r.behind {
				g += r.by
			}
		}
		return g
	}
}

// decoy returns k candidates of one token and benefit 1, and last one of k+1 tokens and benefit k+1.01, budget 2k+2. Every chain takes the
// last one up as soon as it may, so that without pruning a seed of j candidates has no more than j of the first k tokens' worth.
func decoy(k int) *instance {
	tokens, worth := make([]int, k+1), make([]float64, k+1)
	for i := range k {
		tokens[i], worth[i] = 1, 1
	}
	tokens[k], worth[k] = k+1, float64(k)+1.01
	return additive(fmt.Sprintf("decoy %d", k), 2*k+2, tokens, worth)
}

// crowd returns m candidates of 10 tokens and benefit 10, and first one of 1 token and benefit 1.1, budget 10m. Seeds of fewer than m
// candidates have at most m-1 of the large ones, which shows that the factors of the levels are nearly as high as they can be.
func crowd(m int) *instance {
	tokens, worth := make([]int, m+1), make([]float64, m+1)
	tokens[0], worth[0] = 1, 1.1
	for i := 1; i <= m; i++ {
		tokens[i], worth[i] = 10, 10
	}
	return additive(fmt.Sprintf("crowd %d", m), 10*m, tokens, worth)
}

// freeUpTo is a penalty that allows so many tokens.
func freeUpTo(free int) func(tokens int) float64 {
	return func(tokens int) float64 {
		if tokens <= free {
			return 0
		}
		return 100
	}
}

// runFixed checks the levels on the instances that they were made for.
func (r *penaltyResult) runFixed(ctx context.Context) error {
	var fixed []*instance
	for k := 2; k <= largest; k++ {
		fixed = append(fixed, decoy(k))
	}
	for m := 2; m <= 4; m++ {
		fixed = append(fixed, crowd(m))
	}
	for _, in := range fixed {
		free := in.budget
		if in.tokens[0] == in.tokens[1] {
			free = len(in.tokens) - 1
		}
		for j, p := range promises() {
			row := levelRow{}
			what, err := in.level(ctx, p, in.optima(), freeUpTo(free), &row)
			if err != nil {
				return fmt.Errorf("%v: %v: %w", in, p.mode, err)
			}
			r.Levels[j].add(&row)
			r.First = cmp.Or(r.First, what)
		}
	}
	r.Instances += len(fixed)
	return nil
}

// breakPaper runs paper mode and the levels on the decoy with k = 4 and a penalty from the fifth token on.
func breakPaper(ctx context.Context) (stepPenalty, error) {
	p := decoy(4).problem()
	p.Penalty = freeUpTo(4)
	s := stepPenalty{Optimum: 4, Required: alpha * 4}
	for _, run := range []struct {
		mode      bps.Mode
		objective *float64
	}{{bps.Paper, &s.Paper}, {bps.Level1, &s.Level1}, {bps.Level2, &s.Level2}, {bps.Level3, &s.Level3}} {
		sel, err := bps.Select(ctx, p, &bps.Options{Mode: run.mode})
		if err != nil {
			return s, err
		}
		*run.objective = sel.Objective
		if run.mode == bps.Paper {
			s.Claimed = sel.Guarantee.Factor
		}
	}
	return s, nil
}

func (r *penaltyResult) print(w io.Writer) error {
	fmt.Fprintf(w, "Any nondecreasing penalty: %d violations at level 3 on %d instances\n", r.Violations, r.Instances)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "level\tfactor\tviolations\tworst frontier / optimum\truns with a penalty\tviolations\tdifferences\tmisreported\t")
	for _, l := range r.Levels {
		fmt.Fprintf(t, "%s\t%.4f\t%d\t%.3f\t%d\t%d\t%d\t%d\t\n",
			l.Level, l.Factor, l.Violations, l.Ratio, l.Runs, l.Broken, l.Differences, l.Untrue)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	s := r.Step
	_, err := fmt.Fprintf(w, "a step penalty breaks paper mode: %v (optimum %g, required %.3f; paper %g, factor %g; levels %g, %g, %g)\n",
		r.StepBreaksPaper, s.Optimum, s.Required, s.Paper, s.Claimed, s.Level1, s.Level2, s.Level3)
	if r.First != "" {
		_, err = fmt.Fprintln(w, "first violation:", r.First)
	}
	return err
}
