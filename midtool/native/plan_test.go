package native

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

// However a plan is cut into runs, and whichever of them comes first, the runs give together what Generate gives, but for
// samples that say the same: Generate keeps the first of these.
func TestPlanRuns(t *testing.T) {
	tools := append(shop(), midtool.Tool{Name: "x", License: "GPL-2.0-only"})
	options := &Options{Samples: 150, Workers: 2}
	whole := generate(t, tools, options)
	rapid.Check(t, func(rt *rapid.T) {
		p, err := NewPlan(context.Background(), tools, options)
		if err != nil {
			rt.Fatal(err)
		}
		if p.Len() != 150 || p.Tools() != whole.Tools {
			rt.Fatalf("%d samples of %d tools", p.Len(), p.Tools())
		}
		cuts := rapid.SliceOfN(rapid.IntRange(0, p.Len()), 0, 4).Draw(rt, "cuts")
		cuts = append(cuts, 0, p.Len())
		slices.Sort(cuts)
		runs := make([]*midtool.Corpus, len(cuts)-1)
		order := make([]int, len(runs))
		for i := range order {
			order[i] = i
		}
		for _, i := range rapid.Permutation(order).Draw(rt, "order") {
			if runs[i], err = p.Generate(context.Background(), cuts[i], cuts[i+1]); err != nil {
				rt.Fatal(err)
			}
		}
		got := midtool.Corpus{Planned: make(map[midtool.Family]int), Rejected: p.Rejected()}
		seen := make(map[[sha256.Size]byte]string)
		twice := 0
		for _, c := range runs {
			for f, n := range c.Planned {
				got.Planned[f] += n
			}
			if c.Kept != len(c.Samples) {
				rt.Fatalf("%d kept, %d samples", c.Kept, len(c.Samples))
			}
			got.Rejected = append(got.Rejected, c.Rejected...)
			for _, s := range c.Samples {
				if seen[s.ContentHash()] != "" {
					twice++
					continue
				}
				seen[s.ContentHash()] = s.ID
				got.Samples = append(got.Samples, s)
			}
		}
		want := midtool.Corpus{Samples: whole.Samples}
		duplicates := 0
		for _, r := range whole.Rejected {
			if r.Reason == "duplicate" {
				duplicates++
				continue
			}
			want.Rejected = append(want.Rejected, r)
		}
		if twice != duplicates || encode(t, &got) != encode(t, &want) {
			rt.Fatalf("cut at %v the samples differ, or %d say the same, want %d", cuts, twice, duplicates)
		}
		if diff := cmp.Diff(whole.Planned, got.Planned); diff != "" {
			rt.Fatalf("planned (-whole +runs):\n%s", diff)
		}
	})
}

func TestPlanErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if p, err := NewPlan(ctx, shop(), &Options{Samples: -1}); p != nil || err == nil || !strings.Contains(err.Error(), "Samples -1") {
		t.Errorf("bad options: %v", err)
	}
	p, err := NewPlan(ctx, shop(), &Options{Samples: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int{{-1, 2}, {3, 2}, {0, 10}} {
		if c, err := p.Generate(ctx, r[0], r[1]); c != nil || err == nil || !strings.Contains(err.Error(), "of the 9 planned") {
			t.Errorf("%v: %v", r, err)
		}
	}
	cancel()
	if c, err := p.Generate(ctx, 0, 9); c != nil || err == nil {
		t.Errorf("canceled: %v", err)
	}
	if c, err := p.Generate(context.Background(), 0, 9); err != nil || c.Kept == 0 {
		t.Errorf("after a canceled run: %v", err)
	}
}
