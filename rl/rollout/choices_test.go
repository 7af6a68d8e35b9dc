package rollout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowNext looks at all candidates.
func slowNext(candidates [][]int, limit int, prefix []int) []int {
	var out []int
	for _, c := range candidates {
		if len(c) <= limit && len(c) > len(prefix) && slices.Equal(c[:len(prefix)], prefix) {
			out = append(out, c[len(prefix)])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Whatever is asked in whatever order, the tokens that may come next are those with which a candidate goes on, ascending, each once; a complete
// candidate is the first with its tokens; lists handed out stay as they are.
func TestChoices(t *testing.T) {
	var c choices
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.SampledFrom([]int{Unk, 9, 10, 11})
		var candidates [][]int
		for range rapid.IntRange(1, 40).Draw(rt, "n") {
			candidates = append(candidates, append(rapid.SliceOfN(word, 0, 4).Draw(rt, "candidate"), EndAct))
		}
		limit := rapid.IntRange(1, 6).Draw(rt, "limit")
		c.reset(candidates, limit)
		type handed struct{ list, copy []int }
		var lists []handed
		for range rapid.IntRange(1, 8).Draw(rt, "queries") {
			prefix := rapid.SliceOfN(rapid.SampledFrom([]int{Unk, EndAct, 9, 10, 11, 99}), 0, 4).Draw(rt, "prefix")
			if rapid.Bool().Draw(rt, "of a candidate") {
				of := rapid.SampledFrom(candidates).Draw(rt, "of")
				prefix = of[:rapid.IntRange(0, len(of)).Draw(rt, "length")]
			}
			got, want := c.next(prefix), slowNext(candidates, limit, prefix)
			if !slices.Equal(got, want) {
				rt.Fatalf("after %v: %v, want %v", prefix, got, want)
			}
			lists = append(lists, handed{got, slices.Clone(got)})
			first := slices.IndexFunc(candidates, func(x []int) bool { return len(x) <= limit && slices.Equal(x, prefix) })
			if got := c.chosen(prefix); got != first {
				rt.Errorf("%v is candidate %d, want %d", prefix, got, first)
			}
			if first < 0 {
				continue
			}
			allowed := c.allowed(prefix)
			if len(allowed) != len(prefix) {
				rt.Fatalf("%d lists for %d tokens", len(allowed), len(prefix))
			}
			for j := range allowed {
				if want := slowNext(candidates, limit, prefix[:j]); !slices.Equal(allowed[j], want) {
					rt.Errorf("token %d of %v: %v, want %v", j, prefix, allowed[j], want)
				}
				lists = append(lists, handed{allowed[j], slices.Clone(allowed[j])})
			}
		}
		c.reset([][]int{{8, EndAct}, {7, EndAct}}, limit)
		c.next([]int{8})
		for _, l := range lists {
			if !slices.Equal(l.list, l.copy) {
				rt.Errorf("a list became %v, was %v", l.list, l.copy)
			}
		}
	})
}
