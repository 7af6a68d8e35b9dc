package judge

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/internal/stat"
)

// everything lists all tasks of all seeds as pairs of a seed and a task.
func everything(seeds [][]outcome) [][2]int {
	var all [][2]int
	for s, tasks := range seeds {
		for t := range tasks {
			all = append(all, [2]int{s, t})
		}
	}
	return all
}

// rate is the share of passes in a sample of pairs.
func rate(seeds [][]outcome, sample [][2]int) float64 {
	passes := 0
	for _, at := range sample {
		if seeds[at[0]][at[1]].pass {
			passes++
		}
	}
	return float64(passes) / float64(len(sample))
}

// resample returns the bootstrap interval of a statistic: seeds are drawn with replacement, and of each drawn one the tasks.
func resample(seeds [][]outcome, statistic func(sample [][2]int) float64) (stat.Interval, error) {
	rng := rand.New(rand.NewPCG(3, 4))
	var sample [][2]int
	return stat.Bootstrap(len(seeds), func(drawn []int) float64 {
		sample = sample[:0]
		for _, s := range drawn {
			for range seeds[s] {
				sample = append(sample, [2]int{s, rng.IntN(len(seeds[s]))})
			}
		}
		return statistic(sample)
	}, &stat.BootstrapOptions{Draws: 500})
}

// fill turns outcomes into the figures of r.
func (r *Result) fill(all outcomes, budgets []int) error {
	r.Executed, r.Known, r.Kappas, r.Harm = map[string]map[string]Row{}, map[string]Row{}, map[string][]Kappa{}, map[string]map[string]Harm{}
	tightest := r.Testbed.Tightest
	for _, budget := range budgets {
		rows, harm := map[string]Row{}, map[string]Harm{}
		for _, rule := range rules() {
			with := all[cell{unseen, budget, rule.name, rule.kappa}]
			var err error
			if rows[rule.name], err = summarize(with); err != nil {
				return err
			}
			if other := all[cell{without, budget, rule.name, rule.kappa}]; other != nil {
				if harm[rule.name], err = compareLibraries(with, other); err != nil {
					return err
				}
			}
			if rule.varied(budget, tightest) {
				for _, kappa := range kappaGrid() {
					row := describe(all[cell{unseen, budget, rule.name, kappa}])
					r.Kappas[rule.name] = append(r.Kappas[rule.name], Kappa{budget, kappa, row.Success, row.Tokens})
				}
			}
		}
		key := strconv.Itoa(budget)
		r.Executed[key] = rows
		if len(harm) > 0 {
			r.Harm[key] = harm
		}
	}
	for _, rule := range rules() {
		var err error
		if r.Known[rule.name], err = summarize(all[cell{known, tightest, rule.name, rule.kappa}]); err != nil {
			return err
		}
	}
	r.savings(budgets)
	return r.compare(all)
}

// describe averages outcomes; there is no interval yet.
func describe(seeds [][]outcome) Row {
	all := everything(seeds)
	row := Row{Success: rate(seeds, all)}
	tokens, redundant, lookAlikes := 0, 0, 0
	for _, at := range all {
		o := seeds[at[0]][at[1]]
		tokens += o.tokens
		redundant += o.redundant
		if o.lookAlike {
			lookAlikes++
		}
	}
	n := float64(len(all))
	row.Tokens, row.Redundant, row.LookAlike = float64(tokens)/n, float64(redundant)/n, float64(lookAlikes)/n
	return row
}

func summarize(seeds [][]outcome) (Row, error) {
	row := describe(seeds)
	iv, err := resample(seeds, func(sample [][2]int) float64 { return rate(seeds, sample) })
	row.Low, row.High = iv.Lo, iv.Hi
	return row, err
}

// compareLibraries compares one rule with and without look-alikes, task by task.
func compareLibraries(with, without [][]outcome) (Harm, error) {
	all := everything(with)
	h := Harm{With: rate(with, all), Without: rate(without, all), LookAlike: describe(with).LookAlike}
	h.Loss = h.Without - h.With
	for _, at := range all {
		if with[at[0]][at[1]].harmed {
			h.Harmed += 1 / float64(len(all))
		}
	}
	iv, err := resample(with, func(sample [][2]int) float64 { return rate(without, sample) - rate(with, sample) })
	h.Low, h.High = iv.Lo, iv.Hi
	return h, err
}

// savings compares bps_fitted with every baseline over all budgets.
func (r *Result) savings(budgets []int) {
	most := func(rule string) float64 {
		most := 0.0
		for _, budget := range budgets {
			most = max(most, r.Executed[strconv.Itoa(budget)][rule].Success)
		}
		return most
	}
	fewest := func(rule string, success float64) float64 {
		fewest := math.Inf(1)
		for _, budget := range budgets {
			if row := r.Executed[strconv.Itoa(budget)][rule]; row.Success >= success {
				fewest = min(fewest, row.Tokens)
			}
		}
		return fewest
	}
	r.Saving = map[string]Saving{}
	for _, rule := range rules() {
		if !rule.baseline {
			continue
		}
		s := Saving{Best: most(rule.name)}
		s.Success = min(s.Best, most(ours))
		s.Tokens, s.Ours = fewest(rule.name, s.Success), fewest(ours, s.Success)
		if s.Tokens > 0 {
			s.Saved = 1 - s.Ours/s.Tokens
		}
		r.Saving[rule.name] = s
	}
}

// compare finds the best baselines and sets bps_fitted against them, task by task.
func (r *Result) compare(all outcomes) error {
	tightest := r.Testbed.Tightest
	rows := r.Executed[strconv.Itoa(tightest)]
	at := map[string][][]outcome{}
	best, strongest, closest := map[bool]string{}, map[bool]string{}, ""
	for _, rule := range rules() {
		at[rule.name] = all[cell{unseen, tightest, rule.name, rule.kappa}]
		if !rule.baseline {
			continue
		}
		if old := best[rule.fitted]; old == "" || rows[rule.name].Success > rows[old].Success {
			best[rule.fitted] = rule.name
		}
		now, before := r.Saving[rule.name], r.Saving[strongest[rule.fitted]]
		if strongest[rule.fitted] == "" || cmp.Or(cmp.Compare(now.Best, before.Best), cmp.Compare(before.Tokens, now.Tokens)) > 0 {
			strongest[rule.fitted] = rule.name
		}
		if closest == "" || now.Saved < r.Saving[closest].Saved {
			closest = rule.name
		}
	}
	c := Comparison{Budget: tightest, Success: rows[ours].Success, ModelFree: best[false], Fitted: best[true],
		StrongestModelFree: strongest[false], StrongestFitted: strongest[true], Closest: closest}
	us, free, fitted := at[ours], at[c.ModelFree], at[c.Fitted]
	above := func(sample [][2]int) float64 {
		base := rate(free, sample)
		if base == 0 {
			return math.NaN() // such a draw is left out
		}
		return rate(us, sample)/base - 1
	}
	difference := func(sample [][2]int) float64 { return rate(us, sample) - rate(fitted, sample) }
	c.Difference = difference(everything(us))
	if free := rows[c.ModelFree].Success; free > 0 {
		c.Above = c.Success/free - 1
		iv, err := resample(us, above)
		if err != nil {
			return err
		}
		c.AboveLow, c.AboveHigh = iv.Lo, iv.Hi
	}
	iv, err := resample(us, difference)
	c.DiffLow, c.DiffHigh = iv.Lo, iv.Hi
	r.Best = c
	return err
}

// budgets lists the keys of r.Executed in ascending order.
func (r *Result) budgets() []int {
	var list []int
	for key := range r.Executed {
		if n, err := strconv.Atoi(key); err == nil { // they were made by Itoa
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}
