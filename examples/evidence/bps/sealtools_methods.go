package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/bps/baseline"
	"github.com/throughline-go/throughline/internal/text"
)

// An offer is what can be selected from.
type offer struct {
	texts   []bps.Text
	tokens  []int
	named   map[string]int
	counted map[string]int // tokens by text, for bps.NewIndex
	index   text.BM25
	vectors [][]float64 // hashed n-grams of each text, of length 1
}

func (o *offer) add(t bps.Text, tokens int) error {
	if _, ok := o.named[t.Name]; ok {
		return fmt.Errorf("tool %q occurs twice", t.Name)
	}
	if o.named == nil {
		o.named, o.counted = map[string]int{}, map[string]int{}
	}
	o.named[t.Name] = len(o.texts)
	o.counted[t.String()] = tokens
	o.texts = append(o.texts, t)
	o.tokens = append(o.tokens, tokens)
	o.index.Add(text.Field{Text: t.Name, Weight: 3}, text.Field{Text: t.Description, Weight: 2}, text.Field{Text: t.Body, Weight: 1})
	o.vectors = append(o.vectors, text.Hash(make([]float64, hashDims), t.String()))
	return nil
}

// A request is a task with everything the methods may look at. Candidates are positions in pool.
type request struct {
	query string
	gold  []int // positions in the offer
	need  int   // tokens of gold

	pool    []int // positions in the offer, by relevance to the whole request
	tokens  []int
	whole   []float64   // share of the most relevant tool
	clauses [][]float64 // by candidate, then clause; shares likewise
	parts   int         // how many of the clauses are no sentences; they come first
	vectors [][]float64
	similar []float64 // memo of text similarities; NaN where not known
}

// A reading says how the words of a request are used.
type reading struct {
	repeats   bool // a word counts as often as it is there, not once a clause
	sentences bool // sentences of several parts are clauses too
}

// asShipped is what bps.FromTexts does.
var asShipped = reading{sentences: true}

// newRequest ranks the offer for a request. most and each bound the candidates by the whole request and by each clause.
func newRequest(o *offer, query string, parts, sentences [][]string, repeats bool, gold []int, most, each int) *request {
	q := &request{query: query, gold: gold, parts: len(parts)}
	clauses := slices.Concat(parts, sentences)
	for _, g := range gold {
		q.need += o.tokens[g]
	}
	share := func(words []string) []float64 {
		if !repeats {
			words = once(words)
		}
		scores := o.index.Score(nil, words)
		if best := slices.Max(scores); best > 0 {
			for i := range scores {
				scores[i] /= best
			}
		}
		return scores
	}
	best := func(scores []float64, n int) []int {
		var order []int
		for i, s := range scores {
			if s > 0 {
				order = append(order, i)
			}
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(i, j)) })
		return order[:min(n, len(order))]
	}
	whole := share(text.Tokens(query))
	q.pool = best(whole, most)
	scores := make([][]float64, len(clauses))
	for c, words := range clauses {
		scores[c] = share(words)
		q.pool = append(q.pool, best(scores[c], each)...)
	}
	slices.Sort(q.pool)
	q.pool = slices.Compact(q.pool)
	slices.SortStableFunc(q.pool, func(i, j int) int { return cmp.Compare(whole[j], whole[i]) })
	for _, i := range q.pool {
		q.tokens = append(q.tokens, o.tokens[i])
		q.whole = append(q.whole, whole[i])
		q.vectors = append(q.vectors, o.vectors[i])
		row := make([]float64, len(clauses))
		for c := range clauses {
			row[c] = scores[c][i]
		}
		q.clauses = append(q.clauses, row)
	}
	q.similar = make([]float64, len(q.pool)*len(q.pool))
	for k := range q.similar {
		q.similar[k] = math.NaN()
	}
	return q
}

// once removes repeated words.
func once(words []string) []string {
	seen := make(map[string]bool, len(words))
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}

// splitClauses returns the content words of the clauses of a request: of its parts, and of its sentences of several parts. Both are
// clauses of bps.FromTexts.
func splitClauses(query string) (parts, sentences [][]string) {
	const marks = ".!?;,"
	var part, sentence []string
	n := 0 // parts of the sentence
	endPart := func() {
		if len(part) > 0 {
			n++
		}
		if len(part) >= 2 {
			parts = append(parts, part)
		}
		part = nil
	}
	endSentence := func() {
		endPart()
		if n >= 2 && len(sentence) >= 2 {
			sentences = append(sentences, sentence)
		}
		sentence, n = nil, 0
	}
	for line := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '\n' || strings.ContainsRune("。！？；", r) }) {
		for chunk := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune("，、", r) }) {
			for word := range strings.FieldsSeq(chunk) {
				words := text.Tokens(word)
				sentence = append(sentence, words...)
				bare := strings.TrimRight(word, marks)
				if joint := strings.ToLower(bare); joint == "and" || joint == "then" {
					endPart()
				} else {
					part = append(part, words...)
				}
				if strings.ContainsAny(word[len(bare):], ".!?;") {
					endSentence()
				} else if bare != word {
					endPart()
				}
			}
			endPart()
		}
		endSentence()
	}
	if len(parts)+len(sentences) == 0 {
		parts = [][]string{text.Tokens(query)}
	}
	return parts, sentences
}

// A form is one setting of the clause objective.
type form struct {
	scale, power, weight float64
	keep                 int // candidates by the whole request; 0 means all
}

var defaultForm = form{2, 3, 0.3, 0}

func (f form) String() string {
	s := fmt.Sprintf("a %g, p %g, beta %g", f.scale, f.power, f.weight)
	if f.power < 0 {
		s = "whole request"
	}
	if f.keep > 0 {
		s += fmt.Sprintf(", keep %d", f.keep)
	}
	return s
}

// modular is relevance to the whole request alone: sums of it are the objective.
var modular = form{power: -1}

// problem sets up a request under a form.
func (q *request) problem(f form, budget int, kappa float64) (bps.Problem, error) {
	n := len(q.pool)
	if f.keep > 0 {
		n = min(n, f.keep)
	}
	var benefit bps.Incremental
	var err error
	if f.power < 0 {
		benefit, err = bps.NewClauses(make([][]float64, n), q.whole[:n], &bps.ClauseOptions{WholeWeight: new(1.0)})
	} else {
		o := &bps.ClauseOptions{Scale: f.scale, Power: f.power, WholeWeight: &f.weight}
		benefit, err = bps.NewClauses(q.clauses[:n], q.whole[:n], o)
	}
	return bps.Problem{Tokens: q.tokens[:n], Budget: budget, Benefit: benefit, PenaltyPerToken: kappa}, err
}

// textSimilarity is the cosine of hashed n-grams. One goroutine at a time may use it.
func (q *request) textSimilarity(i, j int) float64 {
	v := &q.similar[i*len(q.pool)+j]
	if math.IsNaN(*v) {
		// Four sums at a time, which do not wait for each other.
		var sums [4]float64
		x, y := q.vectors[i], q.vectors[j]
		for k := 0; k < hashDims; k += 4 {
			a, b := x[k:k+4:k+4], y[k:k+4:k+4]
			sums[0] += a[0] * b[0]
			sums[1] += a[1] * b[1]
			sums[2] += a[2] * b[2]
			sums[3] += a[3] * b[3]
		}
		*v = sums[0] + sums[1] + sums[2] + sums[3]
		q.similar[j*len(q.pool)+i] = *v
	}
	return *v
}

// A pick is what a selector selects.
type pick struct {
	items  []int // positions in the offer
	tokens int
	value  float64 // objective; 0 if it is not known
}

// A selector selects for a request under a budget.
type selector func(ctx context.Context, q *request, budget int) (pick, error)

// A setting is a selector with its parameters.
type setting struct {
	name     string
	selector selector
}

// A method is what a row shows. The first setting is the default.
type method struct {
	name     string
	set      bool // it maximizes the set objective
	settings []setting
	tried    []triedSetting // by choose
}

// An onProblem solves the problem of a request.
type onProblem func(ctx context.Context, q *request, p bps.Problem) (*baseline.Result, error)

// byProblem makes a selector of a solver and a form.
func byProblem(f form, kappa float64, run onProblem) selector {
	return func(ctx context.Context, q *request, budget int) (pick, error) {
		p, err := q.problem(f, budget, kappa)
		if err != nil {
			return pick{}, err
		}
		r, err := run(ctx, q, p)
		if err != nil {
			return pick{}, err
		}
		out := pick{tokens: r.Tokens, value: r.Objective}
		for _, c := range r.Items {
			out.items = append(out.items, q.pool[c])
		}
		return out, nil
	}
}

// selectWith runs bps.Select and shows its answer like that of a baseline.
func selectWith(o bps.Options) onProblem {
	o.Certify = new(false)
	return func(ctx context.Context, _ *request, p bps.Problem) (*baseline.Result, error) {
		s, err := bps.Select(ctx, p, &o)
		if err != nil {
			return nil, err
		}
		return &baseline.Result{Items: s.Items, Tokens: s.Tokens, Benefit: s.Benefit, Penalty: s.Penalty, Objective: s.Objective}, nil
	}
}

func topK(ctx context.Context, _ *request, p bps.Problem) (*baseline.Result, error) {
	return baseline.TopK(ctx, p, nil)
}

// similarity is that of texts, or the cosine of the supplies of a form: of the powers of clause relevance.
func (q *request) similarity(byClause bool, power float64) (baseline.Similarity, error) {
	if !byClause {
		return q.textSimilarity, nil
	}
	rows := make([][]float64, len(q.clauses))
	for i, row := range q.clauses {
		rows[i] = make([]float64, len(row))
		for c, rel := range row {
			rows[i][c] = math.Pow(rel, power)
		}
	}
	return baseline.Cosine(rows)
}

func mmr(lambda float64, byClause bool) onProblem {
	return func(ctx context.Context, q *request, p bps.Problem) (*baseline.Result, error) {
		s, err := q.similarity(byClause, defaultForm.power)
		if err != nil {
			return nil, err
		}
		return baseline.MMR(ctx, p, s, lambda, nil)
	}
}

// dpp raises the relevance, which is that of candidates alone, to a power: the usual way to weigh it against diversity.
func dpp(power float64, byClause bool) onProblem {
	return func(ctx context.Context, q *request, p bps.Problem) (*baseline.Result, error) {
		s, err := q.similarity(byClause, defaultForm.power)
		if err != nil {
			return nil, err
		}
		relevance := make([]float64, len(p.Tokens))
		for i := range relevance {
			relevance[i] = math.Pow(p.Benefit.Value([]int{i}), power)
		}
		return baseline.DPPMAP(ctx, p, s, &baseline.RankOptions{Relevance: relevance})
	}
}

// roundRobin serves the parts of the request; whole adds the whole request as the first or the last one. A relevance below least
// counts as none.
func roundRobin(whole string, least float64) onProblem {
	return func(ctx context.Context, q *request, p bps.Problem) (*baseline.Result, error) {
		rows := make([][]float64, len(p.Tokens))
		for i := range rows {
			row := q.clauses[i][:q.parts]
			switch whole {
			case "first":
				row = slices.Concat(q.whole[i:i+1], row)
			case "last":
				row = slices.Concat(row, q.whole[i:i+1])
			}
			rows[i] = slices.Clone(row)
			for c, rel := range rows[i] {
				if rel < least {
					rows[i][c] = 0
				}
			}
		}
		return baseline.RoundRobin(ctx, p, rows)
	}
}

func densityGreedy(ctx context.Context, _ *request, p bps.Problem) (*baseline.Result, error) {
	return baseline.DensityGreedy(ctx, p, &baseline.GreedyOptions{Stop: p.PenaltyPerToken > 0})
}

func gainGreedy(ctx context.Context, _ *request, p bps.Problem) (*baseline.Result, error) {
	return baseline.GainGreedy(ctx, p, &baseline.GreedyOptions{Stop: p.PenaltyPerToken > 0})
}

func greedyMax(ctx context.Context, _ *request, p bps.Problem) (*baseline.Result, error) {
	return baseline.GreedyMax(ctx, p)
}

func randomBest(ctx context.Context, _ *request, p bps.Problem) (*baseline.Result, error) {
	return baseline.RandomBest(ctx, p, 100, rand.New(rand.NewPCG(1, 2)))
}

const (
	paperMode      = "paper mode"
	bothOrders     = "both orders"
	topKName       = "top-k"
	roundRobinName = "round robin"
)

// optimizers are the rows of the tables of one objective f. With quick the ones that take long and say little are left out.
func optimizers(f form, kappa float64, quick bool) []method {
	few := f
	few.keep = paperKeep
	one := func(name string, set bool, f form, run onProblem) method {
		return method{name: name, set: set, settings: []setting{{f.String(), byProblem(f, kappa, run)}}}
	}
	list := []method{
		one(topKName, false, f, topK),
		one("MMR 0.5", false, f, mmr(0.5, false)),
		one("MMR 0.7", false, f, mmr(0.7, false)),
		one("DPP-MAP", false, f, dpp(1, false)),
	}
	if f != modular { // the next ones know nothing of the objective but its value
		list = append(list, one(roundRobinName, false, f, roundRobin("", 0)))
		if !quick {
			list = append(list, one("random best of 100", false, f, randomBest))
		}
	}
	list = append(list, one("gain greedy", true, f, gainGreedy), one("density greedy", true, f, densityGreedy))
	if !quick {
		list = append(list, one("greedy+max", true, f, greedyMax))
	}
	if !quick || f != modular {
		list = append(list,
			one("gain greedy, 40 best", true, few, gainGreedy),
			one(paperMode, true, few, selectWith(bps.Options{Mode: bps.Paper})))
	}
	if !quick {
		list = append(list, one(bothOrders, true, few, selectWith(bps.Options{Mode: bps.Paper, BothOrders: true})))
	}
	return list
}

// shipped is what bps.Index selects with its defaults, but for the certificate, which changes nothing in the selection.
func shipped(o *offer) (method, error) {
	x, err := bps.NewIndex(o.texts, func(s string) int { return o.counted[s] })
	if err != nil {
		return method{}, err
	}
	options := &bps.TextOptions{Search: &bps.Options{Certify: new(false)}}
	run := func(ctx context.Context, q *request, budget int) (pick, error) {
		s, err := x.Select(ctx, q.query, budget, options)
		if err != nil {
			return pick{}, err
		}
		return pick{s.Items, s.Tokens, s.Objective}, nil
	}
	return method{name: "bps.Index, defaults", set: true, settings: []setting{{"", run}}}, nil
}

// tuned are the methods whose settings are chosen on the tuning half, each among the same number.
func tuned() []method {
	ranks := []struct {
		name string
		form form
	}{{"whole request", modular}, {"best alone", defaultForm}}
	similarities := []struct {
		name     string
		byClause bool
	}{{"texts", false}, {"clauses", true}}

	top := method{name: topKName}
	top.settings = append(top.settings, setting{"whole request", byProblem(modular, 0, topK)})
	for _, f := range forms(0)[:tries-1] {
		top.settings = append(top.settings, setting{"best alone, " + f.String(), byProblem(f, 0, topK)})
	}
	relevant, diverse := method{name: "MMR"}, method{name: "DPP-MAP"}
	for _, r := range ranks {
		for _, s := range similarities {
			for _, lambda := range []float64{0.5, 0.7, 0.9} {
				relevant.settings = append(relevant.settings, setting{
					fmt.Sprintf("%s, lambda %g, similar %s", r.name, lambda, s.name), byProblem(r.form, 0, mmr(lambda, s.byClause)),
				})
			}
			for _, power := range []float64{1, 2, 4} {
				diverse.settings = append(diverse.settings, setting{
					fmt.Sprintf("%s to the power %g, similar %s", r.name, power, s.name), byProblem(r.form, 0, dpp(power, s.byClause)),
				})
			}
		}
	}
	turns := method{name: roundRobinName}
	for _, whole := range []string{"", "first", "last"} {
		for _, least := range []float64{0, 0.2, 0.4, 0.6} {
			name := fmt.Sprintf("relevance from %g", least)
			if whole != "" {
				name += ", whole request " + whole
			}
			turns.settings = append(turns.settings, setting{name, byProblem(defaultForm, 0, roundRobin(whole, least))})
		}
	}
	list := []method{top, relevant, diverse, turns}
	for _, m := range []struct {
		name string
		keep int
		run  onProblem
	}{
		{"gain greedy", 0, gainGreedy},
		{"density greedy", 0, densityGreedy},
		{"greedy+max", 0, greedyMax},
		{paperMode, paperKeep, selectWith(bps.Options{Mode: bps.Paper})},
		{bothOrders, paperKeep, selectWith(bps.Options{Mode: bps.Paper, BothOrders: true})},
	} {
		out := method{name: m.name, set: true}
		for _, f := range forms(m.keep) {
			out.settings = append(out.settings, setting{f.String(), byProblem(f, 0, m.run)})
		}
		list = append(list, out)
	}
	return list
}

// forms are the settings of the set objective that are tried; the default comes first. Some keep fewer candidates than keep.
func forms(keep int) []form {
	list := []form{
		{2, 3, 0.3, 0}, {2, 2, 0.3, 0}, {2, 4, 0.3, 0}, {1, 3, 0.3, 0}, {4, 3, 0.3, 0}, {2, 3, 0.1, 0}, {2, 3, 1, 0},
		{2, 3, 0.3, 20}, {2, 4, 0.3, 20}, {2, 4, 0.3, 30}, {4, 6, 0.3, 0}, {4, 6, 0.1, 0},
	}
	for k := range list {
		if list[k].keep == 0 {
			list[k].keep = keep
		}
	}
	return list
}
