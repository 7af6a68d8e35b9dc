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

const (
	exactInstances = 2800
	limitedNodes   = 4
)

// exactResult compares branch and bound, and the certificates of the other modes, with every set of small instances.
type exactResult struct {
	Instances int    `json:"instances"`
	Agree     int    `json:"agree_with_brute_force"`
	All       bool   `json:"all_agree"`
	Linear    int    `json:"linear"` // instances with a price of a token; the others have a step or convex penalty
	First     string `json:"first_disagreement,omitempty"`

	Bounds   int     `json:"certificates"`          // of paper mode and level 2
	Violated int     `json:"certificates_violated"` // upper bounds below what some set reaches, of the objective or at a point of the frontier
	Limited  limited `json:"node_limit"`

	Nodes []nodeRow `json:"nodes"`
}

// limited is the same instances with a node limit of 4.
type limited struct {
	Runs     int `json:"runs"`
	Proven   int `json:"proven"`     // nevertheless
	Violated int `json:"violations"` // false claims of optimality, certificates below the optimum, answers below Theorem 1
}

// A nodeRow is the nodes that branch and bound visits, up to 2,000,000.
type nodeRow struct {
	Pools      string  `json:"pools"`
	Candidates int     `json:"candidates"`
	Instances  int     `json:"instances"`
	Proven     int     `json:"proven"`
	Mean       float64 `json:"mean"`
	Max        int     `json:"max"`
}

// An exactCheck is one instance.
type exactCheck struct {
	linear, agrees, violated bool
	limited                  limited
	first                    string
}

// runExact checks branch and bound on small instances and counts its nodes on larger ones.
func runExact(ctx context.Context, seed uint64, quick bool, progress func(string)) (*exactResult, error) {
	progress("exact: every set of small instances")
	checks := make([]exactCheck, exactInstances)
	err := parallel(ctx, len(checks), func(i int) error {
		rng := stream(seed, exactPart, i)
		in, err := drawInstance(rng, i)
		if err != nil {
			return err
		}
		p := in.problem()
		if checks[i].linear = i%7 < 5; checks[i].linear {
			prices := in.prices()
			p.PenaltyPerToken = prices[rng.IntN(len(prices))]
		} else {
			p.Penalty = drawPenalty(rng, in)
		}
		return in.exact(ctx, p, &checks[i])
	})
	if err != nil {
		return nil, err
	}
	r := &exactResult{Instances: len(checks), Bounds: len(checks)}
	for i, c := range checks {
		if c.linear {
			r.Linear++
		}
		if c.agrees {
			r.Agree++
		}
		if c.violated {
			r.Violated++
		}
		if r.First == "" && c.first != "" {
			r.First = fmt.Sprintf("instance %d: %s", i, c.first)
		}
		r.Limited.Runs += c.limited.Runs
		r.Limited.Proven += c.limited.Proven
		r.Limited.Violated += c.limited.Violated
	}
	r.All = r.Agree == r.Instances

	progress("exact: nodes")
	for _, pools := range []struct {
		name             string
		n, all, forQuick int
		draw             func(rng *rand.Rand) (bps.Problem, error)
	}{
		{"like the grid's", 31, 400, 40, func(rng *rand.Rand) (bps.Problem, error) { _, p, err := drawTask(rng); return p, err }},
		{"random", 31, 40, 10, func(rng *rand.Rand) (bps.Problem, error) { return denseProblem(rng, 31) }},
		{"random", 60, 20, 0, func(rng *rand.Rand) (bps.Problem, error) { return denseProblem(rng, 60) }},
	} {
		instances := pools.all
		if quick {
			instances = pools.forQuick
		}
		if instances == 0 {
			continue
		}
		row := nodeRow{Pools: pools.name, Candidates: pools.n, Instances: instances}
		nodes, proven := make([]int, instances), make([]bool, instances)
		err := parallel(ctx, instances, func(i int) error {
			p, err := pools.draw(stream(seed, densePart+uint64(pools.n), i))
			if err != nil {
				return err
			}
			sel, err := exactly(ctx, p)
			if err != nil {
				return err
			}
			nodes[i], proven[i] = sel.Nodes, sel.Guarantee.Factor == 1
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, k := range nodes {
			row.Mean += float64(k) / float64(instances)
			row.Max = max(row.Max, k)
			if proven[i] {
				row.Proven++
			}
		}
		r.Nodes = append(r.Nodes, row)
	}
	return r, nil
}

// exact checks an instance.
func (in *instance) exact(ctx context.Context, p bps.Problem, c *exactCheck) error {
	penalty := p.Penalty
	if penalty == nil {
		penalty = func(tokens int) float64 { return p.PenaltyPerToken * float64(tokens) }
	}
	optimum := math.Inf(-1)
	for m, l := range in.lengths {
		if l <= in.budget {
			optimum = max(optimum, in.values[m]-penalty(l))
		}
	}
	sel, err := exactly(ctx, p)
	if err != nil {
		return fmt.Errorf("%v: %w", in, err)
	}
	m := maskOf(sel.Items)
	own := in.values[m] - penalty(in.lengths[m])
	if c.agrees = in.lengths[m] <= in.budget && near(own, optimum) && near(sel.Objective, optimum) && sel.Guarantee.Factor == 1; !c.agrees {
		c.first = fmt.Sprintf("%v: objective %v of %v, really %v; optimum %v; factor %v",
			in, sel.Objective, sel.Items, own, optimum, sel.Guarantee.Factor)
	}

	// Between two points of the frontier, their bound must hold for all sets with fewer tokens than the second one.
	if sel, err = bps.Select(ctx, p, nil); err != nil {
		return fmt.Errorf("%v: %w", in, err)
	}
	optima := in.optima()
	c.violated = sel.Certificate.UpperBound < optimum-slack
	for j, pt := range sel.Frontier {
		most := in.budget
		if j+1 < len(sel.Frontier) {
			most = sel.Frontier[j+1].Tokens - 1
		}
		c.violated = c.violated || pt.UpperBound < optima[most]-slack
	}

	if sel, err = bps.Select(ctx, p, &bps.Options{Mode: bps.Exact, NodeLimit: limitedNodes}); err != nil {
		return fmt.Errorf("%v: %w", in, err)
	}
	c.limited.Runs++
	switch {
	case sel.Guarantee.Factor == 1:
		c.limited.Proven++
		if !near(sel.Objective, optimum) {
			c.limited.Violated++
		}
	case sel.Certificate.UpperBound < optimum-slack || sel.Objective > optimum+slack:
		c.limited.Violated++
	default:
		for m, l := range in.lengths {
			if l <= in.budget && sel.Objective < sel.Guarantee.Factor*in.values[m]-penalty(l)-slack {
				c.limited.Violated++
				break
			}
		}
	}
	return nil
}

// denseProblem draws n candidates that all compete: each gives a little of two of five capabilities that are all needed.
func denseProblem(rng *rand.Rand, n int) (bps.Problem, error) {
	demand := make([]float64, capabilities)
	for k := range demand {
		demand[k] = 0.5 + 3*rng.Float64()
	}
	tokens, supply := make([]int, n), make([][]float64, n)
	for i := range supply {
		tokens[i] = 80 + rng.IntN(521)
		supply[i] = make([]float64, capabilities)
		for k := range supply[i] {
			if rng.Float64() < 0.4 {
				supply[i][k] = rng.Float64()
			}
		}
	}
	b, err := bps.NewCapability(demand, supply)
	return bps.Problem{Tokens: tokens, Budget: 2000, Benefit: b}, err
}

func (r *exactResult) print(w io.Writer) error {
	fmt.Fprintf(w, "Branch and bound agrees with brute force on %d of %d instances, %d with a price, the others with another penalty\n",
		r.Agree, r.Instances, r.Linear)
	if r.First != "" {
		fmt.Fprintln(w, "first disagreement:", r.First)
	}
	fmt.Fprintf(w, "certificates of paper mode and level 2 below what some set reaches: %d of %d\n", r.Violated, r.Bounds)
	fmt.Fprintf(w, "with a limit of %d nodes: %d of %d proven, %d false claims\n",
		limitedNodes, r.Limited.Proven, r.Limited.Runs, r.Limited.Violated)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "pools\tcandidates\tinstances\tproven\tmean nodes\tmax nodes\t")
	for _, row := range r.Nodes {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.0f\t%d\t\n", row.Pools, row.Candidates, row.Instances, row.Proven, row.Mean, row.Max)
	}
	return t.Flush()
}
