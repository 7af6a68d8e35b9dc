package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"

	"github.com/throughline-go/throughline/bps"
)

// Theorem 1 of arXiv:2608.19993 says of paper mode, for every price kappa of a token and every set T that fits,
//
//	F(answer) >= (1-1/e)*G(T) - kappa*tokens(T)
//
// For all prices at once that is the same as: the upper concave envelope of the frontier, flat behind its end, is at every number of
// tokens b at least 1-1/e times OPT(b), the largest benefit of a set with at most b tokens.

const (
	alpha = 1 - 1/math.E

	manyInstances  = 100_080 // multiples of 72, so that of what takes turns nothing comes short
	quickInstances = 20_160
	directEvery    = 8
)

// theoremResult is what Theorem 1 was checked on. All counts but instances, inequalities and direct runs should be 0.
type theoremResult struct {
	Instances    int `json:"instances"`
	Violations   int `json:"violations"`   // of the inequality, over all prices and sets that fit
	Inequalities int `json:"inequalities"` // that were checked
	// Envelope is how many numbers of tokens, over all instances, have the envelope of the frontier below (1-1/e)*OPT.
	Envelope    int     `json:"envelope_violations"`
	Ratio       float64 `json:"worst_envelope_ratio"`
	StepRatio   float64 `json:"worst_frontier_ratio"` // of the step function, about which Theorem 1 says nothing
	Direct      int     `json:"direct_runs"`          // with a price, beside the run whose frontier serves all prices
	Differences int     `json:"direct_differences"`   // direct runs with another objective than the frontier has
	Untrue      int     `json:"misreported"`          // frontiers whose sets do not have the tokens and the benefit that they claim
	First       string  `json:"first_violation,omitempty"`

	Families []familyRow `json:"families"`
}

type familyRow struct {
	Family     string  `json:"family"`
	Instances  int     `json:"instances"`
	Violations int     `json:"violations"`
	Ratio      float64 `json:"worst_envelope_ratio"`
}

// A theoremCheck is one instance.
type theoremCheck struct {
	inequalities, violations, envelope, direct, differences, untrue int
	ratio, step                                                     float64
	first                                                           string
}

// runTheorem checks Theorem 1 on random instances.
func runTheorem(ctx context.Context, seed uint64, instances int, progress func(string)) (*theoremResult, error) {
	progress("theorem1: every set of small instances")
	checks := make([]theoremCheck, instances)
	err := parallel(ctx, len(checks), func(i int) error {
		rng := stream(seed, theoremPart, i)
		in, err := drawInstance(rng, i)
		if err != nil {
			return err
		}
		checks[i], err = in.theorem(ctx, rng, i%directEvery == 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	r := &theoremResult{Instances: len(checks), Ratio: 1, StepRatio: 1}
	for _, f := range families {
		r.Families = append(r.Families, familyRow{Family: f, Ratio: 1})
	}
	for i, c := range checks {
		r.Violations += c.violations
		r.Inequalities += c.inequalities
		r.Envelope += c.envelope
		r.Direct += c.direct
		r.Differences += c.differences
		r.Untrue += c.untrue
		r.Ratio, r.StepRatio = min(r.Ratio, c.ratio), min(r.StepRatio, c.step)
		if r.First == "" && c.first != "" {
			r.First = fmt.Sprintf("instance %d: %s", i, c.first)
		}
		f := &r.Families[i%len(families)]
		f.Instances++
		f.Violations += c.violations + c.envelope
		f.Ratio = min(f.Ratio, c.ratio)
	}
	return r, nil
}

// theorem checks an instance in paper mode, if direct with a run for one of the prices too.
func (in *instance) theorem(ctx context.Context, rng *rand.Rand, direct bool) (theoremCheck, error) {
	var c theoremCheck
	p := in.problem()
	sel, err := bps.Select(ctx, p, &bps.Options{Mode: bps.Paper, Certify: new(false)})
	if err != nil {
		return c, fmt.Errorf("%v: %w", in, err)
	}
	points, truth := in.frontier(sel)
	if !truth {
		c.untrue++
	}
	prices := in.prices()
	for _, kappa := range prices {
		f := choose(points, func(tokens int) float64 { return kappa * float64(tokens) })
		for m, l := range in.lengths {
			if l > in.budget {
				continue
			}
			c.inequalities++
			if need := alpha*in.values[m] - kappa*float64(l); f < need-slack {
				c.violations++
				if c.first == "" {
					c.first = fmt.Sprintf("%v: price %v, objective %v < %v for the set with mask %b", in, kappa, f, need, m)
				}
			}
		}
	}
	optima := in.optima()
	step, envelope := steps(points, in.budget)
	c.envelope, c.ratio = worst(envelope, optima, alpha)
	_, c.step = worst(step, optima, 0)
	if c.envelope > 0 && c.first == "" {
		c.first = fmt.Sprintf("%v: envelope %v of the optimum", in, c.ratio)
	}
	if direct {
		p.PenaltyPerToken = prices[rng.IntN(len(prices))]
		if sel, err = bps.Select(ctx, p, nil); err != nil {
			return c, fmt.Errorf("%v, price %v: %w", in, p.PenaltyPerToken, err)
		}
		c.direct++
		want := choose(points, func(tokens int) float64 { return p.PenaltyPerToken * float64(tokens) })
		if !near(sel.Objective, want) || sel.Guarantee.Factor != alpha {
			c.differences++
			c.first = fmt.Sprintf("%v: price %v: objective %v, but %v on the frontier; factor %v",
				in, p.PenaltyPerToken, sel.Objective, want, sel.Guarantee.Factor)
		}
	}
	return c, nil
}

func (r *theoremResult) print(w io.Writer) error {
	fmt.Fprintf(w, "Theorem 1 in paper mode: %d violations of %d inequalities on %d instances; the envelope is too low %d times\n",
		r.Violations, r.Inequalities, r.Instances, r.Envelope)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "family\tinstances\tviolations\tworst envelope / optimum\t")
	for _, f := range r.Families {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.3f\t\n", f.Family, f.Instances, f.Violations, f.Ratio)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "worst frontier / optimum, of which nothing is claimed: %.3f\n", r.StepRatio)
	_, err := fmt.Fprintf(w, "runs with one price that differ from the frontier: %d of %d; misreported frontiers: %d\n",
		r.Differences, r.Direct, r.Untrue)
	if r.First != "" {
		_, err = fmt.Fprintln(w, "first violation:", r.First)
	}
	return err
}
