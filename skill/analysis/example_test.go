package analysis_test

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/analysis"
)

func ExampleRelate() {
	outcomes := []analysis.TaskOutcome{
		{TaskID: "a", Success: 0, Score: analysis.TaskScore{Skills: 2, Specificity: 0.2, Abstractness: 0.5, Utility: 0.1}},
		{TaskID: "b", Success: 0, Score: analysis.TaskScore{Skills: 1, Specificity: 0.8, Abstractness: 0.25, Utility: 0.2}},
		{TaskID: "c", Success: 1, Score: analysis.TaskScore{Skills: 3, Specificity: 0.4, Abstractness: 0.5, Utility: 0.2}},
		{TaskID: "d", Success: 1, Score: analysis.TaskScore{Skills: 1, Specificity: 0.5, Abstractness: 0.8, Utility: 0.4}},
		{TaskID: "e", Success: 1, Score: analysis.TaskScore{Skills: 2, Specificity: 1, Abstractness: 0.5, Utility: 0.5}},
		{TaskID: "f", Success: 1}, // no skill was retrieved
	}
	r, err := analysis.Relate(context.Background(), outcomes, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Tasks, "tasks,", r.LeftOut, "left out")
	u := r.Overall.Utility
	fmt.Printf("utility: rho %.6f (p = %.3f, exact: %v), tau-b %.6f\n", u.Spearman.Value, u.Spearman.P, u.Spearman.Exact, u.Kendall.Value)
	fmt.Printf("specificity: rho %.6f (p = %.3f)\n", r.Overall.Specificity.Spearman.Value, r.Overall.Specificity.Spearman.P)
	// Output:
	// 5 tasks, 1 left out
	// utility: rho 0.740436 (p = 0.300, exact: true), tau-b 0.680414
	// specificity: rho 0.288675 (p = 0.800)
}

func ExampleTaskScores() {
	scores := []skill.SkillScore{
		{Name: "find-object", Utility: 0.4, Defined: true},
		{Name: "cool-object", Utility: 0.2, Defined: true},
	}
	tasks, err := analysis.TaskScores(scores, [][]string{{"find-object", "cool-object"}, nil})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tasks {
		fmt.Printf("%d skills, utility %.1f\n", t.Skills, t.Utility)
	}
	// Output:
	// 2 skills, utility 0.3
	// 0 skills, utility 0.0
}

// From a report of the skills, the names that were retrieved for each task (of Retrieval.Selected of package memory, say) and what became
// of it, to correlations.
func ExampleTaskOutcomes() {
	report := &skill.Report{Skills: []skill.SkillScore{
		{Name: "find-object", Utility: 0.4, Defined: true},
		{Name: "cool-object", Utility: 0.2, Defined: true},
	}}
	tasks := []skill.Task{{ID: "t1"}, {ID: "t2"}, {ID: "t3"}}
	selected := [][]string{{"find-object"}, {"find-object", "cool-object"}, {"cool-object"}}
	outcomes, err := analysis.TaskOutcomes(tasks, report.Skills, selected, []float64{1, 1, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := analysis.Relate(context.Background(), outcomes, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	rho := r.Overall.Utility.Spearman
	fmt.Printf("rho %.2f over %d tasks, p = %.2f\n", rho.Value, r.Tasks, rho.P)
	// Output: rho 0.87 over 3 tasks, p = 0.67
}

func ExampleBins() {
	var outcomes []analysis.TaskOutcome
	for i, success := range []float64{0, 0, 1, 0, 1, 1, 1} {
		outcomes = append(outcomes, analysis.TaskOutcome{
			TaskID: fmt.Sprint(i), Success: success, Score: analysis.TaskScore{Skills: 1, Utility: float64(i) / 10},
		})
	}
	bins, err := analysis.Bins(outcomes, 3, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range bins {
		fmt.Printf("%.1f to %.1f: %d tasks, success %.2f\n", b.Min, b.Max, len(b.Outcomes), b.Success)
	}
	// Output:
	// 0.0 to 0.2: 3 tasks, success 0.33
	// 0.3 to 0.4: 2 tasks, success 0.50
	// 0.5 to 0.6: 2 tasks, success 1.00
}

func ExampleMedianSplit() {
	scores := []skill.SkillScore{
		{Name: "c", Utility: 0.3, Defined: true},
		{Name: "a", Utility: 0.1, Defined: true},
		{Name: "b", Utility: 0.3, Defined: true},
		{Name: "d"}, // its utility is not defined
	}
	s, err := analysis.MedianSplit(scores)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("low", s.Low, "high", s.High, "left out", s.LeftOut)
	// Output: low [1] high [2 0] left out [3]
}

func ExampleTransferDensity() {
	// Six tasks in three bins: 0 and 1, 2 and 3, 4 and 5.
	d, err := analysis.TransferDensity(6, []analysis.Transfer{
		{From: []int{0}, To: 3},
		{From: []int{1}, To: 2},
		{From: []int{0}, To: 1}, // within a bin
		{From: []int{2}, To: 5},
	}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d pairs of bins are linked: %.6f\n", d.Linked, d.Value)
	// Output: 2 pairs of bins are linked: 0.666667
}

func ExampleDependencyCost() {
	d, err := analysis.DependencyCost([]analysis.Call{{Input: 1000, Output: 100}, {Input: 2000, Output: 50}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.TokensSquared, "tokens²")
	// Output: 206250 tokens²
}

func ExampleSelfRetrieval() {
	ctx := context.Background()
	descriptions := []string{"Search a shop for a product", "Send a reply"}
	sources := []string{"Search for a shoe in the shop", "Answer the mail of Bob"}
	sims, err := analysis.Similarities(ctx, nil, descriptions, sources)
	if err != nil {
		fmt.Println(err)
		return
	}
	rate, err := analysis.SelfRetrieval([]analysis.SourceMatch{
		{Similarity: sims[0], Retrieved: []float64{0.52, 0.41, 0.38}},
		{Similarity: sims[1]}, // nothing was retrieved, so the bar is 0.30
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("similarities %.2f: %d of %d\n", sims, rate.Hits, rate.Items)
	// Output: similarities [0.60 0.00]: 1 of 2
}
