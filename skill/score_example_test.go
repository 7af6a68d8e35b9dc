package skill_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/skill"
)

func ExampleScore() {
	skills := []skill.Skill{
		&skill.Document{Frontmatter: skill.Frontmatter{Name: "orders", Description: "Look up and refund orders of a customer"}},
		&skill.Document{Frontmatter: skill.Frontmatter{Name: "violin", Description: "Tune a violin"}},
	}
	tasks := skill.Tasks("Refund the last order of customer Bo", "Look up orders of Amy", "Restock the red mug", "Close ticket 7", "Look up a ticket")
	report, err := skill.Score(context.Background(), skills, tasks, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Skills {
		fmt.Printf("%s: utility %.2f, gated %.2f\n", s.Name, s.Utility, s.Gated)
	}
	fmt.Printf("median %.2f, placebo %.2f: %s\n", report.Summary.Median, report.Summary.Placebo, report.Summary.Status)
	// Output:
	// orders: utility 0.45, gated 0.45
	// violin: utility 0.77, gated 0.00
	// median 0.61, placebo 0.60: passed
}

// The memory is rated as a whole, too, and no skill is credited for the task that it was made from. Here the only skill serves one
// other task of two: what to expect of it is in the numbers with the task held out.
func ExampleScore_memory() {
	call := func(name string) skill.Step { return skill.Step{Name: name, Args: map[string]any{}} }
	tasks := []skill.Task{
		{ID: "t1", Text: "Refund the last order of customer Bo"},
		{ID: "t2", Text: "Refund an order that is damaged"},
		{ID: "t3", Text: "Close ticket 7"},
	}
	refund, err := skill.Induce(context.Background(), skill.Trajectory{
		TaskID: "t1", Task: tasks[0].Text, Steps: []skill.Step{call("find_order"), call("refund_order")},
	}, skill.Span{Start: 0, End: 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	skills := []*skill.Document{refund.Document}
	for _, hold := range []skill.HoldOut{skill.HoldOutNone, skill.HoldOutTask} {
		report, err := skill.Score(context.Background(), skills, tasks, &skill.ScoreOptions{HoldOut: hold})
		if err != nil {
			log.Fatal(err)
		}
		m := report.Memory
		fmt.Printf("hold out %v: utility %.2f (off topic %.2f), covered %.2f of the tasks, served %.2f, pairs left out: %d\n",
			hold, m.Utility, m.Placebo, m.Covered, m.Best, m.HeldOut)
	}
	// Output:
	// hold out none: utility 0.26 (off topic 0.07), covered 0.67 of the tasks, served [1.00 0.46 0.00], pairs left out: 0
	// hold out task: utility 0.05 (off topic 0.07), covered 0.33 of the tasks, served [0.00 0.46 0.00], pairs left out: 1
}

func ExampleScoreMatrix() {
	sims := [][]float64{{.45, .35, .30, .20}, {.9, .1, .1, .1}}
	pairs := []float64{.1, .2, .3, .4, .5, .6}
	for _, kind := range []skill.ScoreKind{skill.KindPaper, skill.KindNoiseFloored} {
		report, err := skill.ScoreMatrix(sims, pairs, &skill.ScoreOptions{Kind: kind})
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range report.Skills {
			fmt.Printf("%s: %.6f · %.6f = %.6f\n", kind, s.Specificity, s.Abstractness, s.Utility)
		}
	}
	// Output:
	// paper: 0.666667 · 0.719614 = 0.479743
	// paper: 1.000000 · 0.252272 = 0.252272
	// noise-floored: 0.450000 · 0.535714 = 0.241071
	// noise-floored: 0.900000 · 0.250000 = 0.225000
}

func ExampleHashEmbedder() {
	v, err := skill.HashEmbedder{}.Embed(context.Background(), []string{"Place an order", "Place orders"})
	if err != nil {
		log.Fatal(err)
	}
	var cosine float64
	for i := range v[0] {
		cosine += v[0][i] * v[1][i]
	}
	fmt.Printf("%.6f\n", cosine)
	// Output:
	// 0.537665
}

// A client of any embedding service is an Embedder; here one that counts letters.
func ExampleEmbedderFunc() {
	letters := skill.EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		out := make([][]float64, len(texts))
		for i, text := range texts {
			out[i] = make([]float64, 26)
			for _, r := range text {
				if r >= 'a' && r <= 'z' {
					out[i][r-'a']++
				}
			}
		}
		return out, nil
	})
	skills := []*skill.Document{{Frontmatter: skill.Frontmatter{Name: "refund", Description: "refund an order"}}}
	report, err := skill.Score(context.Background(), skills, skill.Tasks("refund order", "close ticket"), &skill.ScoreOptions{Embedder: letters})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("nearest task %d, similarity %.2f\n", report.Skills[0].Nearest, report.Skills[0].MaxSim)
	// Output:
	// nearest task 0, similarity 0.96
}
