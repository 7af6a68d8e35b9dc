package embed

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/internal/vector"
)

// intents returns the public task texts and the template of each.
func intents(t *testing.T) (texts []string, template []int) {
	root := os.Getenv("THROUGHLINE_DATA")
	if root == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data")
	}
	b, err := os.ReadFile(filepath.Join(root, "skills", "webarena", "intents.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Intent   string
		Template int `json:"intent_template_id"`
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		texts, template = append(texts, r.Intent), append(template, r.Template)
	}
	return texts, template
}

// The figures that the documentation gives for the two lexical embedders, on 812 task texts of 190 templates: both tell texts of one
// template from others equally well, but only one of them sees that most others are a little alike.
func TestRanking(t *testing.T) {
	texts, template := intents(t)
	for _, tt := range []struct {
		name           string
		e              skill.Embedder
		auc, zeroPairs float64
	}{
		{"tf-idf of the texts", fit(t, texts...), 0.9948, 0.86},
		{"hashes", skill.HashEmbedder{}, 0.9945, 0.08},
	} {
		vs, err := vector.Embed(t.Context(), tt.e, texts)
		if err != nil {
			t.Fatal(err)
		}
		buf, row := make([]float64, vs[0].Dim), make([]float64, len(vs))
		var same, other []float64
		zero := 0
		for i, v := range vs {
			v.Cosines(row[:i], vs[:i], buf)
			for j, c := range row[:i] {
				switch {
				case template[i] == template[j]:
					same = append(same, c)
					continue
				case c <= 1e-12:
					zero++
				}
				other = append(other, c)
			}
		}
		slices.Sort(other)
		var auc float64 // share of the pairs of pairs in which that of one template is the more alike; half for equal ones
		for _, c := range same {
			below, _ := slices.BinarySearch(other, c)
			upTo, _ := slices.BinarySearch(other, math.Nextafter(c, 2))
			auc += float64(below+upTo) / 2
		}
		auc /= float64(len(same)) * float64(len(other))
		share := float64(zero) / float64(len(other))
		if math.Abs(auc-tt.auc) > 0.005 || math.Abs(share-tt.zeroPairs) > 0.005 {
			t.Errorf("%s: AUC %.4f and %.4f of unrelated pairs at 0, want %g and %g", tt.name, auc, share, tt.auc, tt.zeroPairs)
		}
	}
}

// On the first text of each template the score calls texts that match nothing useful: as useful as the share of task pairs that are
// no more alike than not at all.
func TestPlacebo(t *testing.T) {
	texts, template := intents(t)
	seen := map[int]bool{}
	var tasks []string
	for i, s := range texts {
		if !seen[template[i]] {
			seen[template[i]] = true
			tasks = append(tasks, s)
		}
	}
	if len(tasks) != 190 {
		t.Fatalf("%d templates, want 190", len(tasks))
	}
	d := &skill.Document{}
	d.Frontmatter.Name, d.Frontmatter.Description = "forum", "Open the forum and post a comment"
	r, err := skill.Score(t.Context(), []*skill.Document{d}, skill.Tasks(tasks...), &skill.ScoreOptions{Embedder: fit(t, tasks...)})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Summary.Placebo-0.869) > 0.005 || math.Abs(r.ZeroPairs-0.869) > 0.005 || r.Summary.Status != skill.StatusUnreliable {
		t.Errorf("placebo %.4f, zero pairs %.4f, status %v, want 0.869 twice and unreliable", r.Summary.Placebo, r.ZeroPairs, r.Summary.Status)
	}
}
