package forkbench

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/throughline-go/throughline/bps"
)

func newBench(t *testing.T, seed uint64) *Bench {
	t.Helper()
	b, err := New(seed)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A library has 31 documents of the kinds that the package comment lists, with different names and lengths, and what a document is said to
// define is what its text defines.
func TestLibrary(t *testing.T) {
	for seed := range uint64(3) {
		b := newBench(t, seed)
		names := map[string]bool{}
		for _, l := range []*Library{b.Train, b.Unseen} {
			if len(l.Documents) != Documents || Documents != 31 {
				t.Fatalf("seed %d: %d documents, want 31", seed, len(l.Documents))
			}
			right, wrong, handbooks, irrelevant := map[Kind][]int{}, map[Kind]int{}, map[Kind]int{}, 0
			for i, d := range l.Documents {
				if names[d.Name] {
					t.Errorf("seed %d: two documents are named %s", seed, d.Name)
				}
				names[d.Name] = true
				if got := bps.EstimateTokens(d.Text().String()); got != d.Tokens || got < 50 || got > 1000 {
					t.Errorf("seed %d: %s has %d tokens, estimated %d, want 50 to 1000", seed, d.Name, d.Tokens, got)
				}
				var defines Set
				defs, err := definitions(d.Body)
				for _, def := range defs {
					defines |= setOf(def.kind)
				}
				if err != nil || defines != d.Defines || !reflect.DeepEqual(defs, l.definitions[i]) || office(d.Body) != d.Office {
					t.Errorf("seed %d: %s by %s defines %s (%v), want %s by %s", seed, d.Name, office(d.Body), defines, err, d.Defines, d.Office)
				}
				switch members := d.Defines.members(); {
				case len(members) == 0:
					irrelevant++
				case len(members) == 2 && !d.LookAlike:
					handbooks[members[0]]++
					handbooks[members[1]]++
				case d.LookAlike:
					wrong[members[0]]++
				default:
					right[members[0]] = append(right[members[0]], d.Tokens)
				}
			}
			for k := range kinds {
				slices.Sort(right[k])
				if len(right[k]) != 2 || 2*right[k][1] < 3*right[k][0] || wrong[k] != 2 || handbooks[k] != 2 {
					t.Errorf("seed %d: %s has documents of %v tokens, %d look-alikes and %d handbooks, want a short and a long one, 2 and 2",
						seed, k, right[k], wrong[k], handbooks[k])
				}
			}
			if irrelevant != 6 {
				t.Errorf("seed %d: %d irrelevant documents, want 6", seed, irrelevant)
			}
		}
	}
}

// A task passes with the right documents of just the kinds that it needs; with documents of fewer kinds it fails, and with a look-alike
// before the right document it fails if it needs that kind, but not with the look-alike behind.
func TestAdmission(t *testing.T) {
	for seed := range uint64(2) {
		b := newBench(t, seed)
		for _, side := range []struct {
			l     *Library
			tasks []*Task
		}{{b.Train, b.TrainTasks}, {b.Unseen, b.UnseenTasks}, {b.Unseen, b.TrainTasks}} {
			l := side.l
			right, wrong := map[Kind]int{}, map[Kind][]int{}
			for i, d := range l.Documents {
				if members := d.Defines.members(); d.LookAlike {
					wrong[members[0]] = append(wrong[members[0]], i)
				} else if len(members) == 1 {
					right[members[0]] = i
				}
			}
			for _, task := range side.tasks {
				for known := range Set(1 << kinds) {
					var chosen []int
					for _, k := range known.members() {
						chosen = append(chosen, right[k])
					}
					if got, want := l.Passes(task, chosen), task.Needs&^known == 0; got != want {
						t.Fatalf("seed %d: %q needs %s and has %s: passes is %v", seed, task.Text, task.Needs, known, got)
					}
				}
				var chosen []int
				for k := range kinds {
					chosen = append(chosen, right[k])
				}
				for k, list := range wrong {
					for _, w := range list {
						if got := l.Passes(task, append([]int{w}, chosen...)); got == task.Needs.Has(k) {
							t.Fatalf("seed %d: %q needs %s, a look-alike of %s in front: passes is %v", seed, task.Text, task.Needs, k, got)
						}
						if !l.Passes(task, append(slices.Clone(chosen), w)) {
							t.Fatalf("seed %d: %q fails with a look-alike of %s behind all right documents", seed, task.Text, k)
						}
					}
				}
			}
		}
	}
}

// What can be done without one of the needed private rules, or with a wrong one in its place, is no task.
func TestAdmitted(t *testing.T) {
	private := standardRules()
	private.template = templateRule{open: "<<", close: ">>", upper: "!", reverse: "+", first: "?"}
	private.checksum = checksumRule{poly: 0x8005}
	near := private.template
	near.first = "@"
	for _, tt := range []struct {
		name   string
		form   string
		needs  Set
		wrong  []definition
		want   bool
		reason string
	}{
		{"both needed", "<<!town>>", setOf(Template, Checksum), nil, true, "neither standard rule gives the text or its code"},
		{"no placeholder", "line", setOf(Template, Checksum), nil, false, "any template language copies plain text"},
		{"not private", "<<!town>>", setOf(Template, Calendar), nil, false, "the calendar is the standard one"},
		{"harmless look-alike", "<<!town>>", setOf(Template, Checksum), []definition{{Template, near}}, false, "the wrong mark is not used"},
		{"look-alike", "<<?town>>", setOf(Template, Checksum), []definition{{Template, near}}, true, "the wrong mark is used"},
		{"of another kind", "<<!town>>", setOf(Template, Checksum), []definition{{Calendar, private.calendar}}, true, "no dates are needed"},
	} {
		in := input{rows: drawRows(rand.New(rand.NewPCG(1, 1)), 3), form: tt.form}
		want, err := private.run(tt.needs, in)
		if err != nil {
			t.Fatal(err)
		}
		task := &Task{Needs: tt.needs, tests: []test{{in, want}}}
		if got := admitted(task, private, tt.wrong); got != tt.want {
			t.Errorf("%s: admitted is %v (%s)", tt.name, got, tt.reason)
		}
		task.tests[0].want += "x"
		if admitted(task, private, tt.wrong) {
			t.Errorf("%s: admitted although the private rules fail", tt.name)
		}
	}
}

// Tasks to judge by need all 20 combinations, those to learn from 15 of them; no text occurs twice.
func TestTasks(t *testing.T) {
	b := newBench(t, 3)
	texts := map[string]bool{}
	for _, side := range []struct {
		tasks               []*Task
		count, combinations int
	}{{b.TrainTasks, TrainTasks, 15}, {b.UnseenTasks, UnseenTasks, 20}} {
		seen := map[Set]bool{}
		for _, task := range side.tasks {
			if n := len(task.Needs.members()); n < 2 || n > 3 || texts[task.Text] {
				t.Errorf("%q needs %s; want two or three kinds and a text of its own", task.Text, task.Needs)
			}
			texts[task.Text] = true
			seen[task.Needs] = true
		}
		if len(side.tasks) != side.count || len(seen) != side.combinations {
			t.Errorf("%d tasks with %d combinations, want %d with %d", len(side.tasks), len(seen), side.count, side.combinations)
		}
	}
}

// No three documents with fewer tokens than the oracle's, in any order and look-alikes included, pass.
func TestOracle(t *testing.T) {
	b := newBench(t, 4)
	l := b.Unseen
	for _, task := range b.UnseenTasks[:6] {
		best := l.Oracle(task)
		if best == nil || !l.Passes(task, best) {
			t.Fatalf("%q: the oracle's %v does not pass", task.Text, best)
		}
		var grow func(chosen []int)
		grow = func(chosen []int) {
			if l.Tokens(chosen) >= l.Tokens(best) {
				return
			}
			if l.Passes(task, chosen) {
				t.Fatalf("%q: %v passes with %d tokens, the oracle's %v has %d", task.Text, chosen, l.Tokens(chosen), best, l.Tokens(best))
			}
			for i := range l.Documents {
				if len(chosen) < 3 && l.Documents[i].Defines&task.Needs != 0 && !slices.Contains(chosen, i) {
					grow(append(slices.Clone(chosen), i))
				}
			}
		}
		grow(nil)
	}
}

func TestRedundant(t *testing.T) {
	l := &Library{Documents: []Document{
		{Tokens: 1, Defines: setOf(Query)},
		{Tokens: 10, Defines: setOf(Query), LookAlike: true},
		{Tokens: 100, Defines: setOf(Query, Encoding)},
		{Tokens: 1000},
	}}
	for _, tt := range []struct {
		chosen []int
		want   int
		reason string
	}{
		{[]int{0, 1}, 10, "the second definition of a query changes nothing"},
		{[]int{1, 0}, 1, "right or wrong"},
		{[]int{0, 2}, 0, "the handbook also defines an encoding"},
		{[]int{2, 0, 1}, 11, "both are in the handbook"},
		{[]int{3, 3}, 0, "what defines nothing is not redundant but useless"},
	} {
		if got := l.Redundant(tt.chosen); got != tt.want {
			t.Errorf("%v: got %d, want %d (%s)", tt.chosen, got, tt.want, tt.reason)
		}
	}
}

// Equal seeds give equal benches and records, others do not.
func TestDeterminism(t *testing.T) {
	a, b, c := newBench(t, 5), newBench(t, 5), newBench(t, 6)
	if !reflect.DeepEqual(a, b) {
		t.Error("equal seeds give different benches")
	}
	if reflect.DeepEqual(a, c) {
		t.Error("different seeds give equal benches")
	}
	records := func(b *Bench, seed uint64) string { return fmt.Sprint(b.Records(rand.New(rand.NewPCG(seed, 0)), 200)) }
	if records(a, 1) != records(b, 1) || records(a, 1) == records(a, 2) {
		t.Error("records do not follow from their seed")
	}
}

// Records hold at most four different documents, their tokens, and passes as well as failures, which executing them again confirms.
func TestRecords(t *testing.T) {
	b := newBench(t, 7)
	at := map[string]int{}
	for i, d := range b.Train.Documents {
		at[d.Name] = i
	}
	tasks := map[string]*Task{}
	for _, task := range b.TrainTasks {
		tasks[task.Text] = task
	}
	passes := 0
	for _, rec := range b.Records(rand.New(rand.NewPCG(1, 0)), 1000) {
		var chosen []int
		for _, name := range rec.Skills {
			chosen = append(chosen, at[name])
		}
		sorted := slices.Compact(slices.Sorted(slices.Values(chosen)))
		task := tasks[rec.Query]
		if len(chosen) > 4 || len(sorted) != len(chosen) || b.Train.Tokens(chosen) != rec.Tokens || b.Train.Passes(task, chosen) != rec.Pass {
			t.Fatalf("record %+v does not fit its execution", rec)
		}
		if rec.Pass {
			passes++
		}
	}
	if passes < 30 || passes > 500 {
		t.Errorf("%d of 1000 records pass, want some and not most", passes)
	}
}

// A document of a known office has features, one of an unknown office none but zeros, and one of neither library is unknown.
func TestFeatures(t *testing.T) {
	b := newBench(t, 8)
	f := NewFeatures(b)
	known := map[string]bool{}
	for _, d := range b.Train.Documents {
		known[d.Office] = true
	}
	zeros := 0
	for _, d := range slices.Concat(b.Train.Documents, b.Unseen.Documents) {
		zero := !slices.ContainsFunc(f.Document(d.Name), func(x float64) bool { return x > 0 })
		if zero == known[d.Office] {
			t.Errorf("%s by %s: features are all zero is %v", d.Name, d.Office, zero)
		}
		if zero {
			zeros++
		}
	}
	if zeros == 0 {
		t.Error("no look-alike is by an unknown office")
	}
	if f.Document("nothing") != nil {
		t.Error("a name of neither library has features")
	}
}
