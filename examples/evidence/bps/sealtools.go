package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/throughline-go/throughline/bps"
)

// Seal-Tools: 4,076 tools and 700 requests, of which 500 need two to six tools. A task is complete if all tools it needs are in the
// selected set, the measure for sets of COLT (arXiv:2405.16089). Tokens of a tool are the bytes of its JSON divided by 4.
//
// Every method sees the same relevance: that of bps.FromTexts, BM25 over name, description and the rest of the JSON, for the whole
// request and for each of its clauses. Tasks with two or more tools are numbered in the order of the file: the even ones are the
// tuning half, the odd ones the reporting half.

const (
	maxQuery  = 60 // candidates by relevance to the whole request ...
	maxClause = 30 // ... and by relevance to each clause, besides
	paperKeep = 40 // candidates of paper mode, by the whole request: as bps.FromTexts does it
	hashDims  = 1024
	ratioStep = 20 // tokens
	ratioMost = 4000
	tries     = 12 // settings of every method that are tried on the tuning half
)

var sealBudgets = []int{500, 1000, 2000}

type sealToolsResult struct {
	Skipped string `json:"skipped,omitempty"` // why nothing was measured
	Tools   int    `json:"tools,omitempty"`
	Halves  string `json:"halves,omitempty"`

	Dev   *coverage `json:"dev,omitempty"`
	Split *coverage `json:"split,omitempty"` // the file of -split; settings chosen on the tuning half of dev

	TokenRatioTopK   float64      `json:"token_ratio_vs_top_k,omitempty"`
	TokenRatioBest   float64      `json:"token_ratio_vs_best_baseline,omitempty"`        // see Ratios: it may be a lower bound
	TokenRatioSimple float64      `json:"token_ratio_vs_best_simple_baseline,omitempty"` // of those without the set objective
	Ratios           []tokenRatio `json:"token_ratios,omitempty"`
	Curve            []curvePoint `json:"curve,omitempty"` // of paper mode, from the frontiers of searches under 4,000 tokens
	Targets          []target     `json:"targets,omitempty"`
}

// A coverage holds the tables of one file of tasks.
type coverage struct {
	File  string         `json:"file"`
	Tasks int            `json:"tasks"`
	Fit   map[string]int `json:"gold_fits"` // by budget: tasks whose tools fit at all
	// Covered is tasks complete by budget and method, with the default settings, over all tasks.
	Covered map[string]map[string]int `json:"tasks_covered"`
	Rows    []coverRow                `json:"rows"`
}

// A coverRow is one method with one setting.
type coverRow struct {
	Table     string      `json:"table"`
	Method    string      `json:"method"`
	Objective string      `json:"objective"`
	Setting   string      `json:"setting,omitempty"`
	Cells     []coverCell `json:"budgets"`

	Tried []triedSetting `json:"tried,omitempty"` // where the setting was chosen
}

type triedSetting struct {
	Setting  string `json:"setting"`
	Complete int    `json:"complete"` // tasks of the tuning half, summed over the budgets
}

type coverCell struct {
	Budget    int     `json:"budget"`
	Complete  int     `json:"complete"`
	Tuning    int     `json:"complete_tuning"`
	Reporting int     `json:"complete_reporting"`
	Recall    float64 `json:"recall"`
	Tokens    float64 `json:"tokens"`
	Value     float64 `json:"mean_objective"` // under the objective of the row; 0 where it is not known
	// Against paper mode of the same table and objective, with the p-value of the exact McNemar test; absent where it is not there.
	OnlyHere  int     `json:"only_here,omitempty"`
	OnlyPaper int     `json:"only_paper,omitempty"`
	P         float64 `json:"mcnemar_p,omitempty"`
}

// A tokenRatio says at which budget paper mode completes as many tasks as another method does at 2,000 tokens.
type tokenRatio struct {
	Against string  `json:"against"`
	Tasks   int     `json:"tasks"`            // that the other method completes at 2,000 tokens
	Budget  int     `json:"budget"`           // smallest multiple of 20 from which on paper mode completes as many
	Reached bool    `json:"reached"`          // or else it does not up to 4,000 tokens, which is Budget then
	Ratio   float64 `json:"ratio"`            // Budget / 2000
	Tokens  float64 `json:"tokens"`           // mean tokens of paper mode there
	Other   float64 `json:"tokens_of_other"`  // mean tokens of the other method at 2,000
	Best    bool    `json:"best,omitempty"`   // the baseline with the most tasks
	Simple  bool    `json:"simple,omitempty"` // it does not use the set objective
}

type curvePoint struct {
	Budget int     `json:"budget"`
	Tasks  int     `json:"tasks"`
	Tokens float64 `json:"tokens"` // mean
}

type target struct {
	What string  `json:"what"`
	Got  float64 `json:"got"`
	Want float64 `json:"want"` // at least, or at most for a ratio
	Met  bool    `json:"met"`
}

// runSealTools measures which share of the tasks of Seal-Tools is complete. Without the data, the result says so.
func runSealTools(ctx context.Context, dataDir, splitFile string, quick bool, progress func(string)) (*sealToolsResult, error) {
	res := &sealToolsResult{}
	toolFile, devFile := filepath.Join(dataDir, "sealtools", "tool.jsonl"), filepath.Join(dataDir, "sealtools", "dev.jsonl")
	if res.Skipped = absent(dataDir, toolFile, devFile); res.Skipped != "" {
		return res, nil
	}
	o, err := readTools(toolFile)
	if err != nil {
		return nil, err
	}
	dev, err := readRequests(ctx, o, devFile, asShipped)
	if err != nil {
		return nil, err
	}
	res.Tools = len(o.texts)
	res.Halves = "of the tasks with two or more tools, in the order of the file: even ones for tuning, odd ones for reporting"

	// The defaults, and with them the first file of the report.
	progress("sealtools: default settings")
	if res.Dev, err = measureDefaults(ctx, o, "dev.jsonl", dev, quick); err != nil {
		return nil, err
	}
	var chosen []method
	if !quick {
		progress("sealtools: settings on the tuning half")
		var half []*request
		for i := 0; i < len(dev); i += 2 {
			half = append(half, dev[i])
		}
		for _, m := range tuned() {
			if err := m.choose(ctx, half); err != nil {
				return nil, err
			}
			chosen = append(chosen, m)
		}
		if err := res.Dev.measure(ctx, "tuned", "", chosen, dev, sealBudgets); err != nil {
			return nil, err
		}
	}
	if !quick {
		progress("sealtools: what the parts of relevance add")
		for _, part := range []struct {
			name string
			how  reading
		}{
			{"repeated words count", reading{repeats: true}},
			{"a word counts once", reading{}},
			{"sentences are clauses too", asShipped},
		} {
			requests, err := readRequests(ctx, o, devFile, part.how)
			if err != nil {
				return nil, err
			}
			for _, objective := range objectives() {
				var methods []method
				for _, m := range optimizers(objective.form, 0, true) {
					if m.name == topKName && objective.form == modular || m.set && m.name != bothOrders && objective.form == defaultForm {
						methods = append(methods, m)
					}
				}
				if err := res.Dev.measure(ctx, part.name, objective.name, methods, requests, sealBudgets); err != nil {
					return nil, err
				}
			}
		}
	}
	var simple []method // a tuned set objective is compared in the tables
	for _, m := range chosen {
		if !m.set {
			simple = append(simple, m)
		}
	}
	progress("sealtools: token ratios")
	if err := res.ratios(ctx, dev, simple, quick); err != nil {
		return nil, err
	}
	if splitFile != "" {
		progress("sealtools: " + filepath.Base(splitFile))
		split, err := readRequests(ctx, o, splitFile, asShipped)
		if err != nil {
			return nil, err
		}
		if res.Split, err = measureDefaults(ctx, o, filepath.Base(splitFile), split, quick); err != nil {
			return nil, err
		}
		if err := res.Split.measure(ctx, "tuned", "", chosen, split, sealBudgets); err != nil {
			return nil, err
		}
	}
	res.check()
	return res, nil
}

// absent says which of the files under a folder of data is missing; "" if none is.
func absent(dataDir string, files ...string) string {
	if dataDir == "" {
		return "no folder of data is given"
	}
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%s is not there", file)
		}
	}
	return ""
}

func readTools(file string) (*offer, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	o := new(offer)
	for line := range bytes.Lines(data) {
		var t struct {
			Name        string          `json:"api_name"`
			Description string          `json:"api_description"`
			Field       string          `json:"field"`
			Parameters  json.RawMessage `json:"parameters"`
			Required    json.RawMessage `json:"required"`
			Responses   json.RawMessage `json:"responses"`
		}
		line = bytes.TrimSpace(line)
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("%s: tool %d: %w", file, len(o.texts), err)
		}
		body := fmt.Sprintf("%s\n%s\n%s\n%s", t.Field, t.Parameters, t.Required, t.Responses)
		if err := o.add(bps.Text{Name: t.Name, Description: t.Description, Body: body}, len(line)/4); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return o, nil
}

// readRequests reads the tasks that need two or more tools.
func readRequests(ctx context.Context, o *offer, file string, how reading) ([]*request, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	type task struct {
		query string
		gold  []int
	}
	var tasks []task
	n := 0
	for line := range bytes.Lines(data) {
		var t struct {
			Query   string `json:"query"`
			Calling []struct {
				API string `json:"api"`
			} `json:"calling"`
		}
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("%s: task %d: %w", file, n, err)
		}
		var gold []int
		for _, c := range t.Calling {
			i, ok := o.named[c.API]
			if !ok {
				return nil, fmt.Errorf("%s: task %d calls %q, which is no tool", file, n, c.API)
			}
			if !slices.Contains(gold, i) {
				gold = append(gold, i)
			}
		}
		if n++; len(gold) >= 2 {
			tasks = append(tasks, task{t.Query, gold})
		}
	}
	requests := make([]*request, len(tasks))
	err = parallel(ctx, len(tasks), func(i int) error {
		parts, sentences := splitClauses(tasks[i].query)
		if !how.sentences && len(parts) > 0 {
			sentences = nil
		}
		requests[i] = newRequest(o, tasks[i].query, parts, sentences, how.repeats, tasks[i].gold, maxQuery, maxClause)
		return nil
	})
	return requests, err
}

// parallel calls do for 0..n-1 on all processors. It returns the error of the lowest number.
func parallel(ctx context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	work := make(chan int)
	var wait sync.WaitGroup
	for range runtime.NumCPU() {
		wait.Go(func() {
			for i := range work {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = do(i)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A tally is what one selector did for all requests under one budget.
type tally struct {
	complete []bool
	recall   []float64
	tokens   []float64
	value    []float64
}

func (s selector) tally(ctx context.Context, requests []*request, budget int) (*tally, error) {
	n := len(requests)
	t := &tally{make([]bool, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	err := parallel(ctx, n, func(i int) error {
		p, err := s(ctx, requests[i], budget)
		if err != nil {
			return err
		}
		found := 0
		for _, g := range requests[i].gold {
			if slices.Contains(p.items, g) {
				found++
			}
		}
		t.complete[i] = found == len(requests[i].gold)
		t.recall[i] = float64(found) / float64(len(requests[i].gold))
		t.tokens[i], t.value[i] = float64(p.tokens), p.value
		return nil
	})
	return t, err
}

// count returns the complete tasks from the first one on in steps.
func (t *tally) count(first, step int) int {
	n := 0
	for i := first; i < len(t.complete); i += step {
		if t.complete[i] {
			n++
		}
	}
	return n
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}

// choose leaves m the setting that completes the most tasks, summed over the budgets; the first of equal ones. It notes all sums.
func (m *method) choose(ctx context.Context, requests []*request) error {
	best := 0
	for k, s := range m.settings {
		sum := 0
		for _, budget := range sealBudgets {
			t, err := s.selector.tally(ctx, requests, budget)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", m.name, s.name, err)
			}
			sum += t.count(0, 1)
		}
		m.tried = append(m.tried, triedSetting{s.name, sum})
		if sum > m.tried[best].Complete {
			best = k
		}
	}
	m.settings = m.settings[best : best+1]
	return nil
}

// An objective is a form with a name.
type objective struct {
	name string
	form form
}

func objectives() []objective {
	return []objective{{"relevance", modular}, {"clauses", defaultForm}}
}

func newCoverage(file string, requests []*request, budgets []int) *coverage {
	c := &coverage{File: file, Tasks: len(requests), Fit: map[string]int{}, Covered: map[string]map[string]int{}}
	for _, budget := range budgets {
		fit := 0
		for _, q := range requests {
			if q.need <= budget {
				fit++
			}
		}
		c.Fit[fmt.Sprint(budget)] = fit
	}
	return c
}

// headlines fills Covered: methods that rank do so by relevance, the others serve the set objective.
func (c *coverage) headlines() {
	for _, row := range c.Rows {
		ranks := row.Method == topKName || strings.HasPrefix(row.Method, "MMR") || row.Method == "DPP-MAP"
		if row.Table != "default" || ranks != (row.Objective == "relevance") {
			continue
		}
		for _, cell := range row.Cells {
			b := fmt.Sprint(cell.Budget)
			if c.Covered[b] == nil {
				c.Covered[b] = map[string]int{}
			}
			c.Covered[b][row.Method] = cell.Complete
		}
	}
}

// measureDefaults makes the table of optimizers and objectives, and those with a penalty.
func measureDefaults(ctx context.Context, o *offer, file string, requests []*request, quick bool) (*coverage, error) {
	c := newCoverage(file, requests, sealBudgets)
	own, err := shipped(o)
	if err != nil {
		return nil, err
	}
	for _, objective := range objectives() {
		methods := optimizers(objective.form, 0, quick)
		if objective.form == defaultForm && !quick { // it chooses what paper mode does
			methods = append(methods, own)
		}
		if err := c.measure(ctx, "default", objective.name, methods, requests, sealBudgets); err != nil {
			return nil, err
		}
	}
	c.headlines()
	prices := []float64{0.0003, 0.001}
	if quick {
		prices = nil
	}
	for _, kappa := range prices {
		var priced []method
		for _, m := range optimizers(defaultForm, kappa, quick) {
			if m.set {
				priced = append(priced, m)
			}
		}
		if err := c.measure(ctx, fmt.Sprintf("kappa %g", kappa), "clauses", priced, requests, sealBudgets); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// measure adds a row for the first setting of each method.
func (c *coverage) measure(ctx context.Context, table, objective string, methods []method, requests []*request, budgets []int) error {
	tallies := make([][]*tally, len(methods))
	paper := -1
	for m, method := range methods {
		if method.name == paperMode {
			paper = m
		}
		for _, budget := range budgets {
			t, err := method.settings[0].selector.tally(ctx, requests, budget)
			if err != nil {
				return fmt.Errorf("%s: %w", method.name, err)
			}
			tallies[m] = append(tallies[m], t)
		}
	}
	for m, method := range methods {
		row := coverRow{Table: table, Method: method.name, Objective: objective, Setting: method.settings[0].name, Tried: method.tried}
		for b, t := range tallies[m] {
			cell := coverCell{
				Budget: budgets[b], Complete: t.count(0, 1), Tuning: t.count(0, 2), Reporting: t.count(1, 2),
				Recall: mean(t.recall), Tokens: mean(t.tokens), Value: mean(t.value),
			}
			if paper >= 0 {
				for i, done := range t.complete {
					switch other := tallies[paper][b].complete[i]; {
					case done && !other:
						cell.OnlyHere++
					case other && !done:
						cell.OnlyPaper++
					}
				}
				cell.P = mcnemar(cell.OnlyHere, cell.OnlyPaper)
			}
			row.Cells = append(row.Cells, cell)
		}
		c.Rows = append(c.Rows, row)
	}
	return nil
}

// mcnemar returns the two-sided p-value of the exact McNemar test: twice the smaller tail of Binomial(b+c, 1/2) at b and c, the
// numbers of tasks that only one of two methods completes; at most 1.
func mcnemar(b, c int) float64 {
	n, k := b+c, min(b, c)
	total, _ := math.Lgamma(float64(n + 1))
	tail := 0.0
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(i + 1))
		r, _ := math.Lgamma(float64(n - i + 1))
		tail += math.Exp(total - a - r - float64(n)*math.Ln2)
	}
	return min(1, 2*tail)
}

// ratios compares the budgets at which paper mode and the other methods complete equally many tasks, with the default settings. One
// search a task under the largest budget gives the sets for all smaller ones: those of its frontier.
func (r *sealToolsResult) ratios(ctx context.Context, requests []*request, chosen []method, quick bool) error {
	const at = 2000
	frontiers := make([][]bps.Point, len(requests))
	few := defaultForm
	few.keep = paperKeep
	err := parallel(ctx, len(requests), func(i int) error {
		p, err := requests[i].problem(few, ratioMost, 0)
		if err != nil {
			return err
		}
		s, err := bps.Select(ctx, p, &bps.Options{Mode: bps.Paper, Certify: new(false)})
		if err != nil {
			return err
		}
		frontiers[i] = s.Frontier
		return nil
	})
	if err != nil {
		return err
	}
	for budget := ratioStep; budget <= ratioMost; budget += ratioStep {
		done := 0
		var tokens []float64
		for i, q := range requests {
			at, exact := slices.BinarySearchFunc(frontiers[i], budget, func(p bps.Point, b int) int { return cmp.Compare(p.Tokens, b) })
			if !exact {
				at--
			}
			p := frontiers[i][at]
			tokens = append(tokens, float64(p.Tokens))
			if !slices.ContainsFunc(q.gold, func(g int) bool {
				return !slices.ContainsFunc(p.Items, func(c int) bool { return q.pool[c] == g })
			}) {
				done++
			}
		}
		r.Curve = append(r.Curve, curvePoint{budget, done, mean(tokens)})
	}

	var list []method
	for _, m := range optimizers(modular, 0, quick) {
		if !m.set {
			list = append(list, m)
		}
	}
	for _, m := range optimizers(defaultForm, 0, quick) {
		if m.set && m.name != paperMode && m.name != bothOrders || m.name == roundRobinName {
			list = append(list, m)
		}
	}
	list = append(list, chosen...)
	best, simple := 0, 0
	for k, m := range list {
		t, err := m.settings[0].selector.tally(ctx, requests, at)
		if err != nil {
			return err
		}
		last := r.Curve[len(r.Curve)-1]
		row := tokenRatio{Against: m.name, Simple: !m.set, Tasks: t.count(0, 1), Other: mean(t.tokens), Budget: last.Budget, Tokens: last.Tokens}
		if m.tried != nil {
			row.Against += ", tuned"
		}
		// From here on paper mode never completes fewer, so that one lucky budget does not count.
		for n := len(r.Curve); n > 0 && r.Curve[n-1].Tasks >= row.Tasks; n-- {
			row.Budget, row.Tokens, row.Reached = r.Curve[n-1].Budget, r.Curve[n-1].Tokens, true
		}
		row.Ratio = float64(row.Budget) / at
		r.Ratios = append(r.Ratios, row)
		if row.Against == topKName {
			r.TokenRatioTopK = row.Ratio
		}
		if row.Tasks > r.Ratios[best].Tasks {
			best = k
		}
		if row.Simple && row.Tasks > r.Ratios[simple].Tasks {
			simple = k
		}
	}
	r.Ratios[best].Best = true
	r.TokenRatioBest, r.TokenRatioSimple = r.Ratios[best].Ratio, r.Ratios[simple].Ratio
	return nil
}

// check compares with what was aimed at.
func (r *sealToolsResult) check() {
	add := func(what string, got, want float64, least bool) {
		r.Targets = append(r.Targets, target{what, got, want, least && got >= want || !least && got > 0 && got <= want})
	}
	gain := func(part string, budget string, rows func(coverRow) bool, count func(coverCell) int, want float64) {
		paper, others := -1, 0
		for _, row := range r.Dev.Rows {
			for _, c := range row.Cells {
				if fmt.Sprint(c.Budget) != budget || !rows(row) {
					continue
				}
				if row.Method == paperMode {
					paper = count(c)
				} else {
					others = max(others, count(c))
				}
			}
		}
		if paper >= 0 && others > 0 {
			add(fmt.Sprintf("%s at %s tokens", part, budget), float64(paper)/float64(others)-1, want, true)
		}
	}
	all := func(c coverCell) int { return c.Complete }
	reporting := func(c coverCell) int { return c.Reporting }
	defaults := func(of ...string) func(coverRow) bool {
		return func(row coverRow) bool {
			paper := row.Method == paperMode && row.Objective == "clauses"
			return row.Table == "default" && (paper || row.Method != paperMode && slices.Contains(of, row.Objective+" "+row.Method))
		}
	}
	after := func(of ...string) func(coverRow) bool {
		return func(row coverRow) bool {
			return row.Table == "tuned" && (row.Method == paperMode || slices.Contains(of, row.Method))
		}
	}
	topk := "relevance " + topKName
	rest := []string{"relevance MMR 0.5", "relevance MMR 0.7", "relevance DPP-MAP", "clauses round robin"}
	gain("more tasks than top-k", "500", defaults(topk), all, 0.3)
	gain("more tasks than top-k", "1000", defaults(topk), all, 0.2)
	for _, b := range sealBudgets {
		gain("more tasks than MMR, DPP-MAP and round robin", fmt.Sprint(b), defaults(rest...), all, 0.001)
	}
	plain := func(row coverRow) bool {
		return row.Table == "tuned" && row.Method == paperMode || row.Table == "default" && row.Objective+" "+row.Method == topk
	}
	gain("tuned, reporting half: more tasks than top-k by relevance", "500", plain, reporting, 0.3)
	gain("tuned, reporting half: more tasks than top-k by relevance", "1000", plain, reporting, 0.2)
	gain("tuned, reporting half: more tasks than tuned top-k, which may rank by the set objective", "500", after(topKName), reporting, 0.3)
	gain("tuned, reporting half: more tasks than tuned top-k, which may rank by the set objective", "1000", after(topKName), reporting, 0.2)
	for _, b := range sealBudgets {
		gain("tuned, reporting half: more tasks than MMR, DPP-MAP and round robin", fmt.Sprint(b),
			after("MMR", "DPP-MAP", "round robin"), reporting, 0.001)
	}
	add("share of top-k's 2000 tokens that its coverage takes", r.TokenRatioTopK, 0.72, false)
}

func (r *sealToolsResult) print(w io.Writer) error {
	if r.Skipped != "" {
		_, err := fmt.Fprintf(w, "Seal-Tools: skipped: %s\n", r.Skipped)
		return err
	}
	fmt.Fprintf(w, "Seal-Tools: %d tools\nhalves: %s\n", r.Tools, r.Halves)
	for _, c := range []*coverage{r.Dev, r.Split} {
		if c != nil {
			if err := c.print(w); err != nil {
				return err
			}
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\npaper mode against\ttasks at 2000\tbudget of paper mode\tratio\ttokens\tof the other\t")
	for _, x := range r.Ratios {
		over := ""
		if !x.Reached {
			over = "over "
		}
		fmt.Fprintf(t, "%s\t%d\t%s%d\t%s%.2f\t%.0f\t%.0f\t\n", x.Against, x.Tasks, over, x.Budget, over, x.Ratio, x.Tokens, x.Other)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, x := range r.Targets {
		verdict := "met"
		if !x.Met {
			verdict = "missed"
		}
		fmt.Fprintf(w, "%s: %.3f, want %.3g: %s\n", x.What, x.Got, x.Want, verdict)
	}
	return nil
}

func (c *coverage) print(w io.Writer) error {
	fmt.Fprintf(w, "\n%s: %d tasks; the tools fit at all in", c.File, c.Tasks)
	for _, cell := range c.Rows[0].Cells {
		fmt.Fprintf(w, " %d (%d tokens)", c.Fit[fmt.Sprint(cell.Budget)], cell.Budget)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "settings\tobjective\tmethod")
	for _, cell := range c.Rows[0].Cells {
		fmt.Fprintf(t, "\t%d: tasks (tuning+reporting) recall tokens F p", cell.Budget)
	}
	fmt.Fprintln(t)
	for _, row := range c.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s", row.Table, row.Objective, row.Method)
		for _, x := range row.Cells {
			fmt.Fprintf(t, "\t%d (%d+%d) %.3f %.0f %.2f", x.Complete, x.Tuning, x.Reporting, x.Recall, x.Tokens, x.Value)
			if x.P > 0 {
				fmt.Fprintf(t, " %.2g", x.P)
			}
		}
		fmt.Fprintf(t, "\t%s\n", row.Setting)
	}
	return t.Flush()
}
