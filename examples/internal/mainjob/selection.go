package mainjob

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/budget"
)

const (
	skillBudget = 200  // tokens of skills chosen for an episode; of them the policy sees the names of the tools of the best one
	ownBudget   = 2000 // tokens of the user's tools and skills in one selection
)

// selection chooses skills for every task under the token budget. With files of the user's own it also selects among those, and reports that instead.
func (j *job) selection(ctx context.Context) error {
	limit := j.Budget
	if limit == 0 {
		limit = skillBudget
	}
	train, validation, test, ood, err := j.splits(ctx)
	if err != nil {
		return err
	}
	tasks := slices.Concat(train, validation, test, ood)
	picked := make([]*bps.Selection, len(tasks))
	notes, prompts := make([]string, len(tasks)), make([]string, len(tasks))
	err = j.each(ctx, "select skills", len(tasks), func(i int) error {
		text, err := j.requestOf(ctx, tasks[i])
		if err != nil {
			return err
		}
		var o bps.TextOptions
		for k, s := range j.result.Skills {
			if onlyFrom(s, tasks[i].ID) {
				o.Excluded = append(o.Excluded, k) // it must not help with the very task that it was made of
			}
		}
		chosen, err := budget.Select(ctx, text, j.result.Skills, limit, &o)
		if err != nil {
			return err
		}
		picked[i], prompts[i] = chosen.Selection, chosen.Text
		if len(chosen.Skills) > 0 {
			notes[i] = note(procedureTools(chosen.Skills[0])) // the best one; the rest would make every turn longer
		}
		return nil
	})
	if err != nil {
		return err
	}
	j.notes = make(map[string]string, len(tasks))
	for i, t := range tasks {
		j.notes[t.ID] = notes[i]
		if j.prompts != nil {
			j.prompts[t.ID] = prompts[i]
		}
	}
	all := bps.EstimateTokens(skill.Render(j.result.Skills))
	j.report(picked, limit)
	gets := "the policy gets the best one"
	if j.Model != nil {
		gets = "the model is told them"
	}
	j.row("selection", fmt.Sprintf("choose skills for %d tasks under %d tokens; %s", len(tasks), limit, gets),
		"tokens of prompt text, all skills and chosen",
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
	err = j.each(ctx, stage, len(queries), func(i int) (err error) {
		var o bps.TextOptions
		if q := queries[i]; q.without >= 0 {
			o.Excluded = []int{q.without}
		}
		picked[i], err = index.Select(ctx, queries[i].text, budget, &o)
		return err
	})
	return picked, err
}

// each does n things on all workers.
func (j *job) each(ctx context.Context, stage string, n int, do func(i int) error) error {
	errs := make([]error, n)
	work := make(chan int)
	var wait sync.WaitGroup
	for range j.Workers {
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
		j.Progress(stage, i+1, n)
	}
	close(work)
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: request %d: %w", stage, i, err)
		}
	}
	return nil
}

// onlyFrom says whether a skill was made of nothing but episodes of one task.
func onlyFrom(d *skill.Document, task string) bool {
	r, err := d.ParseRecord()
	return err == nil && len(r.Origins) > 0 && !slices.ContainsFunc(r.Origins, func(o skill.Origin) bool { return o.Task != task })
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
