package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill"
)

// function returns an item whose name is that of its function.
func function(name string, calls ...string) *item {
	return &item{
		Entry: Entry{
			Document: &skill.Document{Frontmatter: skill.Frontmatter{Name: name}},
			Record:   skill.Record{Function: name, Calls: calls},
		},
		slot: -1,
	}
}

func namesOf(items []*item) []string {
	var names []string
	for _, it := range items {
		names = append(names, it.Name())
	}
	return names
}

func TestReach(t *testing.T) {
	tests := []struct {
		name    string
		calls   string // "f:g,h k:g"
		start   []string
		callees string // closure
		callers string // cascade
		reason  string
	}{
		{"chain and side caller", "f:g g:h k:g,k m: h:", []string{"h"}, "h", "f k g h", "worked example: h fails to load, m stays"},
		{"from the top", "f:g g:h k:g,k m: h:", []string{"f", "m"}, "h m g f", "f m", "what calls nothing comes first, by name"},
		{"cycle", "c:a a:b b:c d:a e:", []string{"b"}, "a b c", "d a b c", "a cycle stands together by name"},
		{"cycle over a leaf", "b:a a:b,z z:", []string{"b"}, "z a b", "a b", "z is called, so it is first although its name is last"},
		{"unknown and self", "f:f,print g:print", []string{"f", "g"}, "f g", "f g", "calls of itself and of what is not stored are no edges"},
		{"diamond", "a:b,c b:d c:d d:", []string{"a"}, "d b c a", "a", "each once"},
		{"diamond upwards", "a:b,c b:d c:d d:", []string{"d"}, "d", "a b c d", "each once"},
		{"ways of unequal length", "a:b,c b:d c: d:", []string{"a"}, "c d b a", "a", "the longest way counts"},
		{"nothing", "a:", nil, "", "", "an empty start reaches nothing"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatalf("%s: no reason", tt.name)
		}
		var g graph
		items := make(map[string]*item)
		for f := range strings.FieldsSeq(tt.calls) {
			name, calls, _ := strings.Cut(f, ":")
			items[name] = function(name, strings.FieldsFunc(calls, func(r rune) bool { return r == ',' })...)
			g.add(items[name])
		}
		var start []*item
		for _, s := range tt.start {
			start = append(start, items[s])
		}
		for range 2 {
			if got := strings.Join(namesOf(reach(start, g.calls)), " "); got != tt.callees {
				t.Errorf("%s: callees of %v are %q, want %q: %s", tt.name, tt.start, got, tt.callees, tt.reason)
			}
			if got := strings.Join(namesOf(reach(start, g.calledBy)), " "); got != tt.callers {
				t.Errorf("%s: callers of %v are %q, want %q: %s", tt.name, tt.start, got, tt.callers, tt.reason)
			}
			slices.Reverse(start)
		}
	}
}

// slowReach is reach by the transitive closure of a matrix.
func slowReach(start []int, edge [][]bool, names []string) []string {
	n := len(edge)
	far := make([][]bool, n)
	for i := range far {
		far[i] = slices.Clone(edge[i])
		far[i][i] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				far[i][j] = far[i][j] || far[i][k] && far[k][j]
			}
		}
	}
	same := func(i, j int) bool { return far[i][j] && far[j][i] }
	var level func(i int) int
	level = func(i int) int {
		l := 0
		for j := range n {
			if far[i][j] && !same(i, j) {
				l = max(l, level(j)+1)
			}
		}
		return l
	}
	first := func(i int) string {
		least := names[i]
		for j := range n {
			if same(i, j) {
				least = min(least, names[j])
			}
		}
		return least
	}
	type key struct{ sort, name string }
	var keys []key
	for j := range n {
		if slices.ContainsFunc(start, func(i int) bool { return far[i][j] }) {
			keys = append(keys, key{fmt.Sprintf("%03d %s %s", level(j), first(j), names[j]), names[j]})
		}
	}
	slices.SortFunc(keys, func(a, b key) int { return strings.Compare(a.sort, b.sort) })
	var out []string
	for _, k := range keys {
		out = append(out, k.name)
	}
	return out
}

// The closure and the cascade are those of a slow search, whatever the order in which functions came, went and are asked for; and in
// both every function stands after all that it must follow, but for cycles.
func TestReachAgainstMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		names := make([]string, n)
		items := make([]*item, n)
		calls, calledBy := make([][]bool, n), make([][]bool, n)
		for i := range n {
			names[i] = string(rune('a' + i))
			calls[i], calledBy[i] = make([]bool, n), make([]bool, n)
		}
		for i := range n {
			list := rapid.SliceOfNDistinct(rapid.IntRange(0, n), 0, 3, rapid.ID).Draw(t, "calls")
			var to []string
			for _, j := range list {
				to = append(to, string(rune('a'+j))) // n is not stored
			}
			slices.Sort(to)
			items[i] = function(names[i], to...)
		}
		var g graph
		for _, i := range rapid.Permutation(slices.Collect(upTo(n))).Draw(t, "order") {
			g.add(items[i])
		}
		stored := make([]bool, n)
		for i := range n {
			stored[i] = !rapid.Bool().Draw(t, "removed")
			if !stored[i] {
				g.remove(items[i])
			}
		}
		var start []int
		for i := range n {
			for _, c := range items[i].Record.Calls {
				if j := int(c[0] - 'a'); j < n && j != i && stored[i] && stored[j] {
					calls[i][j], calledBy[j][i] = true, true
				}
			}
			if stored[i] && rapid.Bool().Draw(t, "start") {
				start = append(start, i)
			}
		}
		start = rapid.Permutation(start).Draw(t, "start order")
		from := make([]*item, len(start))
		for k, i := range start {
			from[k] = items[i]
		}
		if diff := cmp.Diff(slowReach(start, calls, names), namesOf(reach(from, g.calls))); diff != "" {
			t.Fatalf("callees (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(slowReach(start, calledBy, names), namesOf(reach(from, g.calledBy))); diff != "" {
			t.Fatalf("callers (-want +got):\n%s", diff)
		}
	})
}

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// A chain of many functions is walked from end to end.
func TestReachDeep(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 1000
	}
	var g graph
	items := make([]*item, n)
	for i := range items {
		items[i] = function(fmt.Sprintf("f%06d", i), fmt.Sprintf("f%06d", i+1))
		g.add(items[i])
	}
	got := reach(items[:1], g.calls)
	if len(got) != n || got[0] != items[n-1] || got[n-1] != items[0] {
		t.Errorf("%d of %d reached", len(got), n)
	}
}

// What runs is what leads to no quarantined function, whatever was put in and taken out before.
func TestRunsAgainstReach(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	rapid.Check(t, func(t *rapid.T) {
		var g graph
		var items []*item
		for range rapid.IntRange(5, 30).Draw(t, "steps") {
			if len(items) > 0 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				i := rapid.IntRange(0, len(items)-1).Draw(t, "which")
				g.remove(items[i])
				items = append(items[:i], items[i+1:]...)
			} else {
				it := function(rapid.SampledFrom(names).Draw(t, "name"), rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, "calls")...)
				it.Quarantined = rapid.IntRange(0, 3).Draw(t, "quarantined") == 0
				g.add(it)
				items = append(items, it)
			}
			for _, it := range items {
				if g.functions[it.Record.Function] != it { // a function that another skill has: it is quarantined, and not asked about
					continue
				}
				want := true
				for _, to := range reach([]*item{it}, g.calls) {
					want = want && !to.Quarantined
				}
				if got := g.runs(it); got != want {
					t.Fatalf("%s runs: %v, want %v", it.Record.Function, got, want)
				}
			}
		}
	})
}

// Asking about all functions walks the graph once, not once for each.
func TestRunsWalksOnce(t *testing.T) {
	var g graph
	bad := function("bad")
	bad.Quarantined = true
	g.add(bad)
	chain := make([]*item, 500)
	for i := range chain {
		chain[i] = function(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d", i+1))
		g.add(chain[i])
	}
	g.runs(chain[0])
	if n := testing.AllocsPerRun(1, func() {
		for _, it := range chain {
			if !g.runs(it) {
				t.Errorf("%s does not run", it.Record.Function)
			}
		}
	}); n > 0 {
		t.Errorf("asking again about %d functions takes %v allocations", len(chain), n)
	}
}
