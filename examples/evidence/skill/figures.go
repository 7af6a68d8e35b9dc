package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/embed"
)

// An absent is a number that was measured before and cannot be compared.
type absent struct {
	Figure string `json:"figure"`
	Reason string `json:"reason"`
}

// figures compares embedders on the intents of WebArena: pairs of one template should be more alike than others. Under an embedder for which
// most of the others are not alike at all, texts that are off topic reach a high utility.
func (e *evidence) figures(ctx context.Context, data string) error {
	intents, err := webArena(data)
	if err != nil {
		return err
	}
	texts := make([]string, len(intents))
	for i, t := range intents {
		texts[i] = t.Text
	}
	tfidf, err := embed.FitTFIDF(texts)
	if err != nil {
		return err
	}
	var first []skill.Task // of each template
	seen := make(map[int]bool)
	for _, t := range intents {
		if !seen[t.Template] {
			seen[t.Template] = true
			first = append(first, t.task())
		}
	}
	for _, f := range []struct {
		name                     string
		embedder                 skill.Embedder
		auc, zero, p99, p10, off float64
	}{
		{"hashed", skill.HashEmbedder{}, 0.9945, 0.08, 0.241, 0.326, 0.896},
		{"TF-IDF", tfidf, 0.9948, 0.86, -1, -1, 0.869},
	} {
		p, err := templatePairs(ctx, f.embedder, intents, texts)
		if err != nil {
			return err
		}
		e.figure(f.name+": AUC of pairs of one template", f.auc, 0.005, p.auc)
		e.figure(f.name+": share of other pairs at 0", f.zero, 0.005, p.zero)
		if f.p99 >= 0 {
			e.figure(f.name+": 99th percentile of other pairs", f.p99, 0.005, p.p99)
			e.figure(f.name+": 10th percentile of pairs of one template", f.p10, 0.005, p.p10)
		}
		rep, err := skill.Score(ctx, []*skill.Document(nil), first, &skill.ScoreOptions{Embedder: f.embedder})
		if err != nil {
			return err
		}
		e.figure(f.name+": utility of off-topic texts on one intent a template", f.off, 0.005, rep.Summary.Placebo)
	}
	e.NotHere = []absent{
		{"0.452 and 0.290, medians of whole and cut demonstrations in ALFWorld, hashed", noGoals},
		{"0.144, 0.029, 0.226, 0.186 and 0.134, memory level of five renderings of them, TF-IDF", noGoals},
		{"0.54 and 0.55, precision and recall of the rules of segmentation", "0.53 and 0.53 after short spans are merged, a test of package skill"},
		{"0.566, 0.601, 0.545 and 0.370, utilities of two descriptions on topic", "which two is not stated"},
	}
	return nil
}

const noGoals = "the 134 goals are not in the data; alfworld_task and alfworld_subtask have the 550 goals of the training games"

type pairFigures struct{ auc, zero, p99, p10 float64 }

// templatePairs compares the pairs of intents of one template with all others.
func templatePairs(ctx context.Context, e skill.Embedder, intents []intent, texts []string) (pairFigures, error) {
	vs, err := e.Embed(ctx, texts)
	if err != nil {
		return pairFigures{}, err
	}
	type pair struct {
		cos  float64
		same bool
	}
	var pairs []pair
	var same, other []float64
	zero := 0.0
	for i, v := range vs {
		var at []int // where v has an entry
		for k, x := range v {
			if x != 0 {
				at = append(at, k)
			}
		}
		for k := i + 1; k < len(vs); k++ {
			cos := 0.0 // of vectors of length 1
			for _, d := range at {
				cos += v[d] * vs[k][d]
			}
			s := intents[i].Template == intents[k].Template
			pairs = append(pairs, pair{cos, s})
			if s {
				same = append(same, cos)
				continue
			}
			other = append(other, cos)
			if cos <= 1e-12 {
				zero++
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.cos, b.cos) })
	var auc, below float64
	for i := 0; i < len(pairs); { // ties count half
		j, s, o := i, 0.0, 0.0
		for ; j < len(pairs) && pairs[j].cos == pairs[i].cos; j++ {
			if pairs[j].same {
				s++
			} else {
				o++
			}
		}
		auc += s * (below + o/2)
		below += o
		i = j
	}
	slices.Sort(same)
	slices.Sort(other)
	return pairFigures{
		auc: auc / (float64(len(same)) * float64(len(other))), zero: zero / float64(len(other)),
		p99: other[len(other)*99/100], p10: same[len(same)/10],
	}, nil
}

// median returns the middle of x, of an even number the mean of the middle two; 0 of none.
func median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return (s[(n-1)/2] + s[n/2]) / 2
}
