package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"text/tabwriter"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/baseline"
	"github.com/throughline-go/throughline/internal/stat"
)

// Pools shaped like those of arXiv:2608.19993: 31 documents, and tasks that need up to three of five capabilities. The optimum is that of
// branch and bound, which proves it.

const (
	capabilities = 5
	gridPools    = 5
	morePools    = 400
	otherGrids   = 50
	gridTarget   = 76 // exact instances of a grid
)

var (
	gridBudgets = []int{400, 800, 1200, 2000}
	gridPrices  = []float64{0, 1e-4, 3e-4, 1e-3} // of a token
)

// A documentPool is a library and a task.
type documentPool struct {
	tokens     []int
	benefit    bps.Benefit
	similarity baseline.Similarity
	clauses    [][]float64 // by document, what it alone gives of each capability that the task needs
}

// drawPool draws 18 documents with one capability, short or long, 7 handbooks with two and 6 documents with none; all say a little about
// other things.
func drawPool(rng *rand.Rand) (*documentPool, error) {
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	tokens := func(lo, hi int) int { return lo + rng.IntN(hi-lo+1) }
	d := &documentPool{}
	var supply [][]float64
	add := func(tokens int, about ...int) {
		u := make([]float64, capabilities)
		for _, k := range about {
			u[k] = between(0.5, 3.5)
			if len(about) > 1 {
				u[k] = between(0.5, 3)
			}
		}
		for k := range u {
			if rng.Float64() < 0.3 {
				u[k] += between(0, 0.05)
			}
		}
		supply = append(supply, u)
		d.tokens = append(d.tokens, tokens)
	}
	for i := range 18 {
		length := tokens(80, 250)
		if rng.IntN(2) == 0 {
			length = tokens(300, 1200)
		}
		add(length, i%capabilities)
	}
	for range 7 {
		add(tokens(300, 1500), rng.Perm(capabilities)[:2]...)
	}
	for range 6 {
		add(tokens(80, 1200))
	}

	demand := make([]float64, capabilities)
	d.clauses = make([][]float64, len(supply))
	for range 2 + rng.IntN(2) {
		demand[rng.IntN(capabilities)] = between(1, 4) // the last draw of a capability counts
	}
	for k, w := range demand {
		if w == 0 {
			continue
		}
		alone := make([]float64, len(demand))
		alone[k] = w
		b, err := bps.NewCapability(alone, supply)
		if err != nil {
			return nil, err
		}
		for i := range supply {
			d.clauses[i] = append(d.clauses[i], b.Value([]int{i}))
		}
	}
	var err error
	if d.benefit, err = bps.NewCapability(demand, supply); err != nil {
		return nil, err
	}
	d.similarity, err = baseline.Cosine(supply)
	return d, err
}

// A gridRule chooses a set for a task and returns its objective.
type gridRule struct {
	name string
	ours bool
	run  func(ctx context.Context, d *documentPool, p bps.Problem, rng *rand.Rand) (float64, error)
}

// The names of the rules with a key of their own.
const (
	gridPaper   = "bps"
	gridDensity = "density greedy"
	gridTopK    = "top-k"
	gridMMR     = "MMR 0.5"
	gridDPP     = "DPP-MAP"
)

func gridRules() []gridRule {
	type run = func(ctx context.Context, d *documentPool, p bps.Problem, rng *rand.Rand) (float64, error)
	mode := func(m bps.Mode) run {
		return func(ctx context.Context, _ *documentPool, p bps.Problem, _ *rand.Rand) (float64, error) {
			sel, err := bps.Select(ctx, p, &bps.Options{Mode: m, Certify: new(false)})
			if err != nil {
				return 0, err
			}
			return sel.Objective, nil
		}
	}
	rule := func(choose func(ctx context.Context, d *documentPool, p bps.Problem, rng *rand.Rand) (*baseline.Result, error)) run {
		return func(ctx context.Context, d *documentPool, p bps.Problem, rng *rand.Rand) (float64, error) {
			res, err := choose(ctx, d, p, rng)
			if err != nil {
				return 0, err
			}
			return res.Objective, nil
		}
	}
	return []gridRule{
		{gridPaper, true, mode(bps.Paper)},
		{"bps level 1", true, mode(bps.Level1)},
		{"bps level 2", true, mode(bps.Level2)},
		{"greedy max", false, rule(func(ctx context.Context, _ *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.GreedyMax(ctx, p)
		})},
		{"density greedy, stop", false, rule(func(ctx context.Context, _ *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.DensityGreedy(ctx, p, &baseline.GreedyOptions{Stop: true})
		})},
		{gridDensity, false, rule(func(ctx context.Context, _ *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.DensityGreedy(ctx, p, nil)
		})},
		{"gain greedy, stop", false, rule(func(ctx context.Context, _ *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.GainGreedy(ctx, p, &baseline.GreedyOptions{Stop: true})
		})},
		{"random best of 100", false, rule(func(ctx context.Context, _ *documentPool, p bps.Problem, rng *rand.Rand) (*baseline.Result, error) {
			return baseline.RandomBest(ctx, p, 100, rng)
		})},
		{"round robin", false, rule(func(ctx context.Context, d *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.RoundRobin(ctx, p, d.clauses)
		})},
		{gridTopK, false, rule(func(ctx context.Context, _ *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.TopK(ctx, p, nil)
		})},
		{gridMMR, false, rule(func(ctx context.Context, d *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.MMR(ctx, p, d.similarity, 0.5, nil)
		})},
		{gridDPP, false, rule(func(ctx context.Context, d *documentPool, p bps.Problem, _ *rand.Rand) (*baseline.Result, error) {
			return baseline.DPPMAP(ctx, p, d.similarity, nil)
		})},
	}
}

// gridResult compares the rules with the optimum.
type gridResult struct {
	Instances    int       `json:"instances"`
	Proven       int       `json:"proven"` // instances whose optimum branch and bound has proved
	Exact        int       `json:"exact"`  // in paper mode: as good as the optimum, up to rounding
	DensityExact int       `json:"density_greedy_exact"`
	TopKExact    int       `json:"top_k_exact"`
	MMRExact     int       `json:"mmr_exact"`
	DPPExact     int       `json:"dpp_exact"`
	Above        bool      `json:"above_every_baseline"` // mean objective of paper mode
	Optimum      float64   `json:"mean_optimum"`
	Rules        []gridRow `json:"rules"`

	// Theorem 1 for the price of each instance, and for all prices at once for the frontier of each library and budget.
	Below     int `json:"below_theorem"`
	Frontiers int `json:"frontiers"`
	Envelopes int `json:"below_envelope"` // frontiers with an envelope that is somewhere below (1-1/e)*OPT

	Others *gridsResult `json:"other_grids,omitempty"` // not with -quick, as what follows
	More   *gridResult  `json:"pools,omitempty"`       // as many libraries as instances
}

// gridsResult is paper mode on the grids of the next seeds: what one grid shows depends on its five libraries.
type gridsResult struct {
	Grids  int     `json:"grids"`
	Mean   float64 `json:"mean_exact"`
	Min    int     `json:"min_exact"`
	Enough int     `json:"at_least_76_exact"`
}

type gridRow struct {
	Rule  string  `json:"rule"`
	Exact int     `json:"exact"`
	Mean  float64 `json:"mean_objective"`
	Short float64 `json:"mean_shortfall"` // from the optimum
	Most  float64 `json:"max_shortfall"`
}

// certificateResult says how much of the optimum the answers of paper mode are certified to have: objective / upper bound.
type certificateResult struct {
	Instances int     `json:"instances"`
	Min       float64 `json:"min"`
	Median    float64 `json:"median"`
	Optimal   int     `json:"proved_optimal"`  // gap 0, without branch and bound
	Violated  int     `json:"bounds_violated"` // upper bounds below the optimum; should be 0

	More *certificateResult `json:"pools,omitempty"`
}

// A gridCheck is one instance.
type gridCheck struct {
	optimum     float64
	proven      bool
	objectives  []float64 // by rule
	certificate bps.Certificate
	below       bool
	frontier    bool // its frontier was looked at
	envelope    bool // ... and its envelope is somewhere too low
}

// runGrid compares the rules on five libraries with all budgets and prices, and on many more libraries with one budget and one price each.
func runGrid(ctx context.Context, seed uint64, quick bool, progress func(string)) (*gridResult, *certificateResult, error) {
	progress("paper_grid: five libraries, all budgets and prices")
	checks := make([]gridCheck, gridSize())
	err := parallel(ctx, len(checks), func(i int) error {
		d, p, err := gridInstance(seed, i)
		if err != nil {
			return err
		}
		return d.check(ctx, p, i%len(gridPrices) == 0, stream(seed, drawPart, i), &checks[i])
	})
	if err != nil {
		return nil, nil, err
	}
	g, c, err := summarizeGrid(checks)
	if err != nil || quick {
		return g, c, err
	}

	progress(fmt.Sprintf("paper_grid: %d more grids", otherGrids))
	if g.Others, err = runOthers(ctx, seed+1, otherGrids); err != nil {
		return nil, nil, err
	}
	progress(fmt.Sprintf("paper_grid: %d more libraries", morePools))
	checks = make([]gridCheck, morePools)
	err = parallel(ctx, len(checks), func(i int) error {
		rng := stream(seed, poolPart, i)
		d, p, err := drawTask(rng)
		if err != nil {
			return err
		}
		return d.check(ctx, p, true, rng, &checks[i])
	})
	if err != nil {
		return nil, nil, err
	}
	g.More, c.More, err = summarizeGrid(checks)
	return g, c, err
}

// gridSize is the instances of a grid.
func gridSize() int { return gridPools * len(gridBudgets) * len(gridPrices) }

// gridInstance returns instance i of the grid of a seed: the price changes first, then the budget, then the library.
func gridInstance(seed uint64, i int) (*documentPool, bps.Problem, error) {
	price, i := i%len(gridPrices), i/len(gridPrices)
	budget, i := i%len(gridBudgets), i/len(gridBudgets)
	d, err := drawPool(stream(seed, gridPart, i))
	if err != nil {
		return nil, bps.Problem{}, err
	}
	return d, d.problem(gridBudgets[budget], gridPrices[price]), nil
}

// drawTask draws a library with one of the budgets and one of the prices.
func drawTask(rng *rand.Rand) (*documentPool, bps.Problem, error) {
	d, err := drawPool(rng)
	if err != nil {
		return nil, bps.Problem{}, err
	}
	return d, d.problem(gridBudgets[rng.IntN(len(gridBudgets))], gridPrices[rng.IntN(len(gridPrices))]), nil
}

func (d *documentPool) problem(budget int, price float64) bps.Problem {
	return bps.Problem{Tokens: d.tokens, Budget: budget, Benefit: d.benefit, PenaltyPerToken: price}
}

// runOthers counts where paper mode is exact on the grids of seeds from first on.
func runOthers(ctx context.Context, first uint64, grids int) (*gridsResult, error) {
	exact := make([]bool, grids*gridSize())
	err := parallel(ctx, len(exact), func(i int) error {
		_, p, err := gridInstance(first+uint64(i/gridSize()), i%gridSize())
		if err != nil {
			return err
		}
		best, err := exactly(ctx, p)
		if err != nil {
			return err
		}
		sel, err := bps.Select(ctx, p, &bps.Options{Mode: bps.Paper, Certify: new(false)})
		if err != nil {
			return err
		}
		exact[i] = near(best.Objective, sel.Objective)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := &gridsResult{Grids: grids, Min: gridSize()}
	for grid := range slices.Chunk(exact, gridSize()) {
		n := 0
		for _, ok := range grid {
			if ok {
				n++
			}
		}
		r.Mean += float64(n) / float64(grids)
		r.Min = min(r.Min, n)
		if n >= gridTarget {
			r.Enough++
		}
	}
	return r, nil
}

// check runs all rules on one instance, and with frontier also looks at all prices at once.
func (d *documentPool) check(ctx context.Context, p bps.Problem, frontier bool, rng *rand.Rand, c *gridCheck) error {
	best, err := exactly(ctx, p)
	if err != nil {
		return err
	}
	c.optimum, c.proven = best.Objective, best.Guarantee.Factor == 1
	for _, r := range gridRules() {
		f, err := r.run(ctx, d, p, rng)
		if err != nil {
			return err
		}
		c.objectives = append(c.objectives, f)
	}
	sel, err := bps.Select(ctx, p, nil)
	if err != nil {
		return err
	}
	c.certificate = *sel.Certificate
	required, err := requiredObjective(ctx, p)
	if err != nil {
		return err
	}
	c.below = sel.Objective < required-slack
	if !frontier {
		return nil
	}

	// The best of the frontier is, as a function of the price, made of straight pieces, between the slopes of its envelope; what the theorem
	// requires is convex in the price. So if it is met at both ends of each piece, it is met everywhere; beyond the largest slope, where the
	// empty set is best, the requirement only falls.
	c.frontier = true
	points := make([]corner, len(sel.Frontier))
	for j, pt := range sel.Frontier {
		points[j] = corner{pt.Tokens, pt.Benefit}
	}
	prices := []float64{0}
	h := hull(points)
	for j := 1; j < len(h); j++ {
		prices = append(prices, (h[j].benefit-h[j-1].benefit)/float64(h[j].tokens-h[j-1].tokens))
	}
	for _, p.PenaltyPerToken = range prices {
		f := choose(points, func(tokens int) float64 { return p.PenaltyPerToken * float64(tokens) })
		required, err := requiredObjective(ctx, p)
		if err != nil {
			return err
		}
		c.envelope = c.envelope || f < required-slack
	}
	return nil
}

// exactly returns the answer of branch and bound.
func exactly(ctx context.Context, p bps.Problem) (*bps.Selection, error) {
	return bps.Select(ctx, p, &bps.Options{Mode: bps.Exact, Certify: new(false)})
}

// requiredObjective returns the objective that Theorem 1 requires: the largest (1-1/e)*G(T) - price*tokens(T), which is 1-1/e times
// the optimum for a price that is higher by as much. The optimum must be proven.
func requiredObjective(ctx context.Context, p bps.Problem) (float64, error) {
	p.PenaltyPerToken /= alpha
	sel, err := exactly(ctx, p)
	if err != nil {
		return 0, err
	}
	if sel.Guarantee.Factor != 1 {
		return 0, fmt.Errorf("no optimum of %d candidates within %d nodes", len(p.Tokens), sel.Nodes)
	}
	return alpha * sel.Objective, nil
}

func summarizeGrid(checks []gridCheck) (*gridResult, *certificateResult, error) {
	n := float64(len(checks))
	g := &gridResult{Instances: len(checks), Above: true}
	c := &certificateResult{Instances: len(checks)}
	var ratios []float64
	for _, x := range checks {
		g.Optimum += x.optimum / n
		if x.proven {
			g.Proven++
		}
		if x.below {
			g.Below++
		}
		if x.frontier {
			g.Frontiers++
		}
		if x.envelope {
			g.Envelopes++
		}
		ratios = append(ratios, x.certificate.Ratio)
		if x.certificate.Gap == 0 {
			c.Optimal++
		}
		if x.certificate.UpperBound < x.optimum-slack {
			c.Violated++
		}
	}
	for j, r := range gridRules() {
		row := gridRow{Rule: r.name}
		for _, x := range checks {
			short := x.optimum - x.objectives[j]
			if near(x.optimum, x.objectives[j]) {
				row.Exact++
				short = 0
			}
			row.Mean += x.objectives[j] / n
			row.Short += short / n
			row.Most = max(row.Most, short)
		}
		g.Rules = append(g.Rules, row)
		g.Above = g.Above && (r.ours || g.Rules[0].Mean > row.Mean)
	}
	for _, row := range g.Rules {
		switch row.Rule {
		case gridPaper:
			g.Exact = row.Exact
		case gridDensity:
			g.DensityExact = row.Exact
		case gridTopK:
			g.TopKExact = row.Exact
		case gridMMR:
			g.MMRExact = row.Exact
		case gridDPP:
			g.DPPExact = row.Exact
		}
	}
	c.Min = slices.Min(ratios)
	var err error
	c.Median, err = stat.Median(ratios)
	return g, c, err
}

func (r *gridResult) print(w io.Writer) error {
	for _, g := range []*gridResult{r, r.More} {
		if g == nil {
			continue
		}
		what := fmt.Sprintf("Grid like the paper's: %d libraries, %d budgets, %d prices", gridPools, len(gridBudgets), len(gridPrices))
		if g != r {
			what = "\nMore libraries, a budget and a price each"
		}
		fmt.Fprintf(w, "%s: %d instances of 31 documents, %d with a proven optimum\n", what, g.Instances, g.Proven)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "rule\texact\tshare\tmean F\tmean shortfall\tmax shortfall\t")
		for _, row := range g.Rules {
			share := float64(row.Exact) / float64(g.Instances)
			fmt.Fprintf(t, "%s\t%d\t%.3f\t%.4f\t%.2g\t%.2g\t\n", row.Rule, row.Exact, share, row.Mean, row.Short, row.Most)
		}
		fmt.Fprintf(t, "optimum\t%d\t%.3f\t%.4f\t\t\t\n", g.Instances, 1.0, g.Optimum)
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(w, "paper mode above every baseline in mean F: %v; below Theorem 1: %d of %d; envelope too low: %d of %d frontiers\n",
			g.Above, g.Below, g.Instances, g.Envelopes, g.Frontiers)
		if o := g.Others; o != nil {
			fmt.Fprintf(w, "paper mode on the grids of the next %d seeds: exact on %.1f of %d on average, at least %d; %d or more in %d\n",
				o.Grids, o.Mean, gridSize(), o.Min, gridTarget, o.Enough)
		}
	}
	return nil
}

func (r *certificateResult) print(w io.Writer) error {
	for _, c := range []*certificateResult{r, r.More} {
		if c == nil {
			continue
		}
		where := "the grid"
		if c != r {
			where = "more libraries"
		}
		_, err := fmt.Fprintf(w, "Certified share of the optimum, %s: min %.3f, median %.3f; proved optimal %d of %d; false bounds: %d\n",
			where, c.Min, c.Median, c.Optimal, c.Instances, c.Violated)
		if err != nil {
			return err
		}
	}
	return nil
}
