package shop

import (
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// What the package comment says of goals, and that the product of a goal has the score 1.
func TestGoals(t *testing.T) {
	forPresets(func(name string, o *Options) {
		t.Run(name, func(t *testing.T) {
			s := shopOf(o)
			sizes := map[int]int{}
			for i := range s.tasks {
				k := &s.tasks[i]
				g, p := k.goal, k.goal.product
				sizes[len(g.attributes)]++
				for n, a := range g.attributes {
					if !slices.Contains(p.attributes, a) || slices.Contains(g.attributes[:n], a) {
						t.Errorf("%s: attribute %q of %q", k.id, a, p.attributes)
					}
					if !strings.Contains(k.sentence, a) {
						t.Errorf("%s: %q does not name %q", k.id, k.sentence, a)
					}
				}
				for n, v := range g.options {
					if !slices.Contains(p.groups[n].values, v) || !strings.Contains(k.sentence, v) {
						t.Errorf("%s: option %q of %q in %q", k.id, v, p.groups[n], k.sentence)
					}
				}
				if len(g.options) != len(p.groups) {
					t.Errorf("%s: %d options for %d groups", k.id, len(g.options), len(p.groups))
				}
				if g.upper%10 != 0 || 100*g.upper <= p.cents || g.upper > p.cents/100+40 {
					t.Errorf("%s: bound %d for %d cents", k.id, g.upper, p.cents)
				}
				if r := s.scorer.score(p, &k.goal, g.options); r.total != 1 {
					t.Errorf("%s: its own product scores %+v", k.id, r)
				}
			}
			for n := 1; n <= min(3, len(s.products[0].attributes)); n++ {
				if 4*sizes[n] < len(s.tasks) {
					t.Errorf("only %d of %d goals have %d attributes", sizes[n], len(s.tasks), n)
				}
			}
		})
	})
}

// The splits have the tasks that the rule says, together all of them, and no two that read the same.
func TestSplits(t *testing.T) {
	want := map[string]map[string]int{}
	forPresets(func(name string, o *Options) {
		s := shopOf(o)
		seen, read := map[string]bool{}, map[string]bool{}
		want[name] = map[string]int{}
		for _, split := range splits {
			tasks, err := s.list(split)
			if err != nil {
				t.Fatal(err)
			}
			want[name][split] = len(tasks)
			for _, k := range tasks {
				found, err := s.find(k.ID)
				if err != nil {
					t.Fatal(err)
				}
				if seen[k.ID] || read[found.sentence] {
					t.Errorf("%s, %s: %s, %q, is there twice", name, split, k.ID, found.sentence)
				}
				seen[k.ID], read[found.sentence] = true, true
				f := fnv.New64a()
				f.Write([]byte(k.ID))
				rule := map[uint64]string{0: "validation", 1: "test"}[f.Sum64()%10]
				if rule == "" {
					rule = "train"
				}
				if slices.Contains([]string{"bluetooth speaker", "bath towel", "garden hose", "winter gloves", "tent"}, k.Family) {
					rule = "ood"
				}
				if rule != split || k.Split != split {
					t.Errorf("%s: %s is in %s and says %s, want %s", name, k.ID, split, k.Split, rule)
				}
			}
		}
		if len(seen) != len(s.tasks) {
			t.Errorf("%s: %d of %d tasks are in a split", name, len(seen), len(s.tasks))
		}
		if _, err := s.list("dev"); err == nil || !strings.Contains(err.Error(), `unknown split "dev"`) {
			t.Errorf("%s: split dev: %v", name, err)
		}
	})
	if diff := cmp.Diff(map[string]map[string]int{
		"full":  {"train": 1267, "validation": 155, "test": 156, "ood": 422},
		"small": {"train": 649, "validation": 82, "test": 82, "ood": 187},
	}, want); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoTask(t *testing.T) {
	forPresets(func(name string, o *Options) {
		s := shopOf(o)
		for _, id := range []string{
			"goal", "goal-", "goal-17", "goal-2000", "goal-00017", "goal--001", "goal-+001", "goal-001x", "Goal-0017", " goal-0017", "small-1000", "small-001",
			"small-", "small", map[string]string{"full": "small-0001", "small": "goal-0001"}[name],
		} {
			if _, err := s.find(id); !errors.Is(err, envharness.ErrNoTask) {
				t.Errorf("%s: %q: %v", name, id, err)
			}
		}
		if _, err := New(o).Reset(t.Context(), envharness.ResetOptions{Task: "goal-2000"}); !errors.Is(err, envharness.ErrNoTask) ||
			!strings.Contains(err.Error(), `"goal-2000"`) {
			t.Errorf("%s: reset: %v", name, err)
		}
	})
}

// slowBounds are the bounds that WebShop's rule can give for a price.
func slowBounds(cents int) []int {
	var next []int
	for m := 10; m <= 990; m += 10 {
		if 100*m > cents && len(next) < 4 {
			next = append(next, m)
		}
	}
	if len(next) < 2 {
		return []int{0}
	}
	return next[1:] // the larger of two is never the first
}

// A bound is one that the rule can give, all of them occur, and the larger ones more often: of the six pairs of four, 1, 2 and 3.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.IntRange(0, 110_000).Draw(t, "cents")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		if got := bound(r, cents); !slices.Contains(slowBounds(cents), got) {
			t.Fatalf("price %d: bound %d, want one of %v", cents, got, slowBounds(cents))
		}
	})
	for _, tt := range []struct {
		cents  int
		want   map[int]int
		reason string
	}{
		{500, map[int]int{20: 1000, 30: 2000, 40: 3000}, "above 5: 10, 20, 30, 40"},
		{2000, map[int]int{40: 1000, 50: 2000, 60: 3000}, "above 20, itself left out: 30, 40, 50, 60"},
		{9999, map[int]int{110: 1000, 120: 2000, 130: 3000}, "above 99.99: 100, 110, 120, 130"},
		{96_000, map[int]int{980: 2000, 990: 4000}, "above 960: 970, 980, 990"},
		{97_500, map[int]int{990: 6000}, "above 975: 980 and 990"},
		{98_000, map[int]int{0: 6000}, "above 980 there is 990 alone"},
		{100_000, map[int]int{0: 6000}, "above 1000 there is none"},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		got := map[int]int{}
		for range 6000 {
			got[bound(r, tt.cents)]++
		}
		for _, b := range []int{0, 10, 20, 30, 40, 50, 60, 70, 110, 120, 130, 970, 980, 990} {
			if d := got[b] - tt.want[b]; d < -200 || d > 200 || tt.want[b] == 0 && got[b] != 0 {
				t.Errorf("price %d: bound %d occurs %d times of 6000, want about %d: %s", tt.cents, b, got[b], tt.want[b], tt.reason)
			}
		}
	}
}

// A goal that reads as an earlier one is drawn again: of a catalogue with one product and many goals all differ.
func TestGoalsDiffer(t *testing.T) {
	p := small()
	products := p.catalogue()[:1]
	products[0].groups = products[0].groups[1:] // 3 subsets of the attributes, 3 sizes, 3 bounds: 27 goals
	p.goals = 20
	read := map[string]bool{}
	for _, k := range p.tasks(products) {
		read[k.sentence] = true
	}
	if len(read) != 20 {
		t.Errorf("20 goals have %d sentences", len(read))
	}
}

// How much of the test split a policy can have met in training, in percent of the goals, as the package comment tells it: the product, with the
// attributes, with the options as well. The sentences, which have the bound too, all differ.
func TestOverlap(t *testing.T) {
	forPresets(func(name string, o *Options) {
		s := shopOf(o)
		keys := func(k *task) [3]string {
			product := strconv.Itoa(k.goal.product.index)
			attributes := product + "|" + strings.Join(k.goal.attributes, ",")
			return [3]string{product, attributes, attributes + "|" + strings.Join(k.goal.options, ",")}
		}
		met := map[string]bool{}
		for i := range s.tasks {
			if k := &s.tasks[i]; k.split == "train" {
				for _, key := range keys(k) {
					met[key] = true
				}
			}
		}
		var shared [3]float64
		count := 0.
		for i := range s.tasks {
			if k := &s.tasks[i]; k.split == "test" {
				count++
				for n, key := range keys(k) {
					if met[key] {
						shared[n]++
					}
				}
			}
		}
		for n := range shared {
			shared[n] = math.Round(1000*shared[n]/count) / 10
		}
		want := map[string][3]float64{"full": {78.2, 12.2, 0.6}, "small": {100, 98.8, 25.6}}[name]
		if shared != want {
			t.Errorf("%s: shared with train %v, want %v", name, shared, want)
		}
	})
}
