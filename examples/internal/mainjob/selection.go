package mainjob

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
)

const (
	skillBudget = 200  // tokens of skills given to the policy in an episode
	ownBudget   = 2000 // tokens of the user's tools and skills in one selection
)

// selection chooses skills for every task under the token budget. With files of the user's own it also selects among those, and reports that instead.
func (j *job) selection(ctx context.Context) error {
	budget := j.Budget
	if budget == 0 {
		budget = skillBudget
	}
	train, validation, test, ood, err := j.splits(ctx)
	if err != nil {
		return err
	}
	tasks := slices.Concat(train, validation, test, ood)
	texts := make([]bps.Text, len(j.skills))
	all := 0
	for i, s := range j.skills {
		texts[i] = bps.Text{Name: s.doc.Name(), Description: s.doc.Description(), Body: s.doc.Body()}
		all += bps.EstimateTokens(texts[i].String())
	}
	queries := make([]query, len(tasks))
	for i, t := range tasks {
		text, err := j.requestOf(ctx, t)
		if err != nil {
			return err
		}
		// A skill must not help with the very task that it was made from.
		queries[i] = query{text: text, without: slices.IndexFunc(j.skills, func(s learned) bool { return s.source == t.ID }), gold: -1}
	}
	picked, err := j.selectAll(ctx, "select skills", queries, texts, budget)
	if err != nil {
		return err
	}
	j.notes = make(map[string]string, len(tasks))
	for i, t := range tasks {
		if items := picked[i].Items; len(items) > 0 {
			j.notes[t.ID] = note(j.skills[items[0]].procedure) // the best one; the rest would make every turn longer
		}
	}
	j.report(picked, budget)
	j.row("selection", fmt.Sprintf("choose skills for %d tasks under %d tokens", len(tasks), budget), "tokens, all skills and chosen",
		fmt.Sprint(all), fmt.Sprintf("%.1f", j.result.Report.Selection.MeanTokens))
	worst, mean := proven(picked)
	j.row("", "prove how near each choice is to the largest possible benefit", "share of it, guaranteed and mean certified",
		percent(worst), percent(mean))
	if j.own == nil {
		return nil
	}
	return j.selectOwn(ctx)
}

// selectOwn selects among the user's tools and skills. The requests are those of the corpus for tools, and each skill's own description;
// found is the share of requests whose own tool or skill was chosen.
func (j *job) selectOwn(ctx context.Context) error {
	budget := j.Budget
	if budget == 0 {
		budget = ownBudget
	}
	all := 0
	for _, t := range j.own {
		all += bps.EstimateTokens(t.String())
	}
	queries := j.ownQueries
	if len(queries) > j.queries {
		spread := make([]query, j.queries)
		for i := range spread {
			spread[i] = queries[i*len(queries)/j.queries]
		}
		queries = spread
	}
	picked, err := j.selectAll(ctx, "select your own", queries, j.own, budget)
	if err != nil {
		return err
	}
	found := 0
	for i, sel := range picked {
		if slices.Contains(sel.Items, queries[i].gold) {
			found++
		}
	}
	j.report(picked, budget)
	j.row("own selection", fmt.Sprintf("choose among %d of your tools and skills for %d requests under %d tokens", len(j.own), len(queries), budget),
		"tokens, all and chosen", fmt.Sprint(all), fmt.Sprintf("%.1f", j.result.Report.Selection.MeanTokens))
	j.row("", "check: is the one chosen whose own words the request was made of?", "requests, yes", fmt.Sprint(len(queries)), fmt.Sprint(found))
	return nil
}

// query is one request; without and gold are indices of texts, or -1.
type query struct {
	text          string
	without, gold int
}

// selectAll answers the queries on all workers; the results are in order.
func (j *job) selectAll(ctx context.Context, stage string, queries []query, texts []bps.Text, budget int) ([]*bps.Selection, error) {
	index, err := bps.NewIndex(texts, nil)
	if err != nil {
		return nil, err
	}
	picked := make([]*bps.Selection, len(queries))
	errs := make([]error, len(queries))
	work := make(chan int)
	var wait sync.WaitGroup
	for range j.Workers {
		wait.Go(func() {
			for i := range work {
				var o bps.TextOptions
				if q := queries[i]; q.without >= 0 {
					o.Excluded = []int{q.without}
				}
				picked[i], errs[i] = index.Select(ctx, queries[i].text, budget, &o)
			}
		})
	}
	for i := range queries {
		work <- i
		j.Progress(stage, i+1, len(queries))
	}
	close(work)
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("select for request %d: %w", i, err)
		}
	}
	return picked, nil
}

func (j *job) report(picked []*bps.Selection, budget int) {
	s := &j.result.Report.Selection
	s.Budget, s.MeanTokens = budget, 0
	s.Guarantee, _ = proven(picked)
	for _, sel := range picked {
		s.MeanTokens += float64(sel.Tokens) / float64(len(picked))
	}
}

// proven returns the smallest share of the largest possible benefit that was guaranteed before the search, and the mean of what the
// searches themselves proved. Empty selections prove nothing.
func proven(picked []*bps.Selection) (guaranteed, certified float64) {
	n := 0.0
	for _, sel := range picked {
		if len(sel.Items) == 0 {
			continue
		}
		if guaranteed == 0 || sel.Guarantee.Factor < guaranteed {
			guaranteed = sel.Guarantee.Factor
		}
		if sel.Certificate != nil {
			certified += sel.Certificate.Ratio
			n++
		}
	}
	return guaranteed, certified / max(n, 1)
}

// requestOf is the customer's request of a task.
func (j *job) requestOf(ctx context.Context, t envharness.Task) (string, error) {
	desk, err := j.desk.New(ctx)
	if err != nil {
		return "", err
	}
	defer desk.Close()
	o, err := desk.Reset(ctx, envharness.ResetOptions{Task: t.ID})
	return request(message(o)), err
}
