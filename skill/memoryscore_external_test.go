package skill_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/bps/benefit"
	"github.com/throughline-go/throughline/skill"
)

// Without held-out tasks the specificity of a memory is the facility location benefit of its skills, over the number of tasks: what
// selects skills by that benefit selects them by this score.
func TestMemoryScoreIsFacilityLocation(t *testing.T) {
	words := []string{"refund", "order", "orders", "ticket", "close", "customer", "stock", "the"}
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4), func(w []string) (s string) {
		for _, x := range w {
			s += x + " "
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		tasks, descriptions := rapid.SliceOfN(text, 1, 8).Draw(t, "tasks"), rapid.SliceOfN(text, 1, 6).Draw(t, "skills")
		var docs []*skill.Document
		var set []int
		for i, d := range descriptions {
			docs, set = append(docs, &skill.Document{Frontmatter: skill.Frontmatter{Description: d}}), append(set, i)
		}
		ctx, e := context.Background(), skill.HashEmbedder{Dim: 256}
		rep, err := skill.Score(ctx, docs, skill.Tasks(tasks...), &skill.ScoreOptions{Embedder: e, HoldOut: skill.HoldOutNone})
		if err != nil {
			t.Fatal(err)
		}
		candidates, err := e.Embed(ctx, descriptions)
		if err != nil {
			t.Fatal(err)
		}
		points, err := e.Embed(ctx, tasks)
		if err != nil {
			t.Fatal(err)
		}
		location, err := benefit.NewCosineFacilityLocation(candidates, points, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := location.Value(set) / float64(len(tasks)); math.Abs(rep.Memory.Specificity-want) > 1e-6 {
			t.Fatalf("specificity %g, facility location per task %g", rep.Memory.Specificity, want)
		}
	})
}
