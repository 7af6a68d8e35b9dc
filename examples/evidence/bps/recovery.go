package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/throughline-go/throughline/bps/learn"
)

// recoveryResult says how well package learn finds the supplies that made synthetic logs.
type recoveryResult struct {
	AUC      float64       `json:"auc"` // mean of the seeds with the most records
	Records  int           `json:"records"`
	Seeds    int           `json:"seeds"`
	ByNumber []recoveryRow `json:"by_records"`
}

type recoveryRow struct {
	Records   int     `json:"records"`
	AUC       float64 `json:"auc"`         // mean of the seeds
	MinAUC    float64 `json:"auc_min"`     // of the seeds
	Deviation float64 `json:"p_deviation"` // mean absolute error of the probability for new sets of 3-5 skills
}

// The synthetic agent: 31 skills, 5 capabilities, 21 tasks.
const (
	logSkills       = 31
	logCapabilities = 5
	logTasks        = 21
	logKappa        = 1e-4
)

func (r *recoveryResult) print(w io.Writer) error {
	fmt.Fprintf(w, "Recovery of capabilities from logs: AUC %.4f at %d records, mean of %d seeds\n", r.AUC, r.Records, r.Seeds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "records\tAUC\tleast AUC\tmean error of p\t")
	for _, row := range r.ByNumber {
		fmt.Fprintf(t, "%d\t%.4f\t%.4f\t%.4f\t\n", row.Records, row.AUC, row.MinAUC, row.Deviation)
	}
	return t.Flush()
}

// runRecovery fits synthetic logs of 500 to 20,000 records with seeds 1-5; quick those of 2,000 and 20,000 alone.
func runRecovery(ctx context.Context, quick bool, progress func(string)) (*recoveryResult, error) {
	const seeds = 5
	numbers := []int{500, 1000, 2000, 5000, 20000}
	if quick {
		numbers = []int{2000, 20000}
	}
	res := &recoveryResult{Seeds: seeds}
	for _, n := range numbers {
		row := recoveryRow{Records: n, MinAUC: 1}
		for seed := uint64(1); seed <= seeds; seed++ {
			if progress != nil {
				progress(fmt.Sprintf("recovery: %d records, seed %d of %d", n, seed, seeds))
			}
			world := newLogWorld(seed)
			model, err := learn.Fit(ctx, world.records(n), &learn.Options{Seed: seed, Workers: runtime.GOMAXPROCS(0)})
			if err != nil {
				return nil, err
			}
			auc, err := world.auc(model)
			if err != nil {
				return nil, err
			}
			deviation, err := world.deviation(model)
			if err != nil {
				return nil, err
			}
			row.AUC += auc / seeds
			row.MinAUC = min(row.MinAUC, auc)
			row.Deviation += deviation / seeds
		}
		res.ByNumber = append(res.ByNumber, row)
		res.AUC, res.Records = row.AUC, n
	}
	return res, nil
}

// logWorld is the truth behind synthetic logs: skills 0-17 supply one capability each, 18-24 two, 25-30 none. It goes on drawing from rng.
type logWorld struct {
	rng     *rand.Rand
	supply  [logSkills][logCapabilities]float64
	tokens  [logSkills]int
	demand  [logTasks][logCapabilities]float64
	ceiling [logTasks]float64
}

func newLogWorld(seed uint64) *logWorld {
	rng := rand.New(rand.NewPCG(seed, 310))
	w := &logWorld{rng: rng}
	for i := range w.supply {
		var covers []int
		switch {
		case i < 18:
			covers = []int{i % logCapabilities}
		case i < 25:
			covers = rng.Perm(logCapabilities)[:2]
		}
		for _, k := range covers {
			w.supply[i][k] = 3 * (0.6 + 0.8*rng.Float64())
		}
		w.tokens[i] = 80 + rng.IntN(1121)
	}
	for q := range w.demand {
		for _, k := range rng.Perm(logCapabilities)[:2+rng.IntN(2)] {
			w.demand[q][k] = 2 + 2*rng.Float64()
		}
		w.ceiling[q] = math.Log(0.85 + 0.1*rng.Float64())
	}
	return w
}

// pass returns the probability that task q passes with the skills of set, and their tokens.
func (w *logWorld) pass(q int, set []int) (p float64, tokens int) {
	for _, i := range set {
		tokens += w.tokens[i]
	}
	z := w.ceiling[q] - logKappa*float64(tokens)
	for k, demand := range w.demand[q] {
		x := 0.0
		for _, i := range set {
			x += w.supply[i][k]
		}
		z -= demand * math.Exp(-x)
	}
	return math.Exp(z), tokens
}

// records draws runs of random tasks. Half of them have a supplier of each demanded capability with probability 0.8, and one more skill
// with probability 0.3; the others have up to four skills of any kind.
func (w *logWorld) records(n int) []learn.Record {
	suppliers := make([][]int, logCapabilities)
	for i, row := range w.supply {
		for k, u := range row {
			if u > 0 {
				suppliers[k] = append(suppliers[k], i)
			}
		}
	}
	records := make([]learn.Record, n)
	for r := range records {
		q := w.rng.IntN(logTasks)
		var set []int
		if w.rng.Float64() < 0.5 {
			for k, demand := range w.demand[q] {
				if demand > 0 && w.rng.Float64() < 0.8 {
					set = append(set, suppliers[k][w.rng.IntN(len(suppliers[k]))])
				}
			}
			if w.rng.Float64() < 0.3 {
				set = append(set, w.rng.IntN(logSkills))
			}
			slices.Sort(set)
			set = slices.Compact(set)
		} else {
			set = w.rng.Perm(logSkills)[:w.rng.IntN(5)]
		}
		p, tokens := w.pass(q, set)
		records[r] = learn.Record{Query: logTask(q), Skills: logNames(set), Tokens: tokens, Pass: w.rng.Float64() < p}
	}
	return records
}

func logTask(q int) string { return fmt.Sprintf("task-%02d", q) }

func logNames(set []int) []string {
	names := make([]string, len(set))
	for j, i := range set {
		names[j] = fmt.Sprintf("skill-%02d", i)
	}
	return names
}

// auc is the probability that the fitted supply of a capability by a skill that has it is above one by a skill that has not, ties
// counting one half. Fitted capabilities come in any order: they are matched to the true ones by the permutation with the highest
// Pearson correlation of all supplies, which is the one with the largest sum of products.
func (w *logWorld) auc(model *learn.Model) (float64, error) {
	fitted := make([][]float64, logSkills)
	for i, name := range logNames(upTo(logSkills)) {
		var err error
		if fitted[i], err = model.Supply(name); err != nil {
			return 0, err
		}
	}
	best, most := []int(nil), math.Inf(-1)
	for _, perm := range allPermutations(logCapabilities) {
		sum := 0.0
		for i, row := range w.supply {
			for k, u := range row {
				sum += u * fitted[i][perm[k]]
			}
		}
		if sum > most {
			best, most = perm, sum
		}
	}
	var with, without []float64
	for i, row := range w.supply {
		for k, u := range row {
			if u > 0 {
				with = append(with, fitted[i][best[k]])
			} else {
				without = append(without, fitted[i][best[k]])
			}
		}
	}
	wins := 0.0
	for _, a := range with {
		for _, b := range without {
			switch {
			case a > b:
				wins++
			case a == b:
				wins += 0.5
			}
		}
	}
	return wins / float64(len(with)*len(without)), nil
}

// deviation is the mean absolute error of the probability over 2,000 new sets.
func (w *logWorld) deviation(model *learn.Model) (float64, error) {
	const sets = 2000
	sum := 0.0
	for range sets {
		q, set := w.rng.IntN(logTasks), w.rng.Perm(logSkills)[:3+w.rng.IntN(3)]
		want, tokens := w.pass(q, set)
		got, err := model.Predict(logTask(q), logNames(set), tokens)
		if err != nil {
			return 0, err
		}
		sum += math.Abs(got - want)
	}
	return sum / sets, nil
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// allPermutations returns the permutations of 0..n-1.
func allPermutations(n int) [][]int {
	all := [][]int{{}}
	for last := range n {
		var longer [][]int
		for _, p := range all {
			for at := range last + 1 {
				longer = append(longer, slices.Insert(slices.Clone(p), at, last))
			}
		}
		all = longer
	}
	return all
}
