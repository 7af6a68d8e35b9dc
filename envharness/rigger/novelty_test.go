package rigger

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func entry(tag, params string) components.Entry {
	return components.Entry{Tag: tag, Params: []byte(params)}
}

func TestSignature(t *testing.T) {
	r := components.Catalogue()
	base := Candidate{Stack: []components.Entry{
		entry("block", `{"tools":["a","b"],"reason":"x"}`), entry("rename", `{"tools":{"c":"d"}}`), entry("step_budget", `{"turns":5}`),
	}, Flaw: "F01"}
	with := func(change func(c *Candidate)) Candidate {
		c := base
		c.Stack = append([]components.Entry(nil), base.Stack...)
		change(&c)
		return c
	}
	for _, tt := range []struct {
		c      Candidate
		same   bool
		reason string
	}{
		{base, true, "itself"},
		{with(func(c *Candidate) { c.Stack[0] = entry("block", `{"tools":["b","a"],"reason":"y"}`) }), true, "the order of tools and the words are no matter"},
		{with(func(c *Candidate) { c.Stack[2] = entry("step_budget", `{"turns":4}`) }), true, "only stronger"},
		{with(func(c *Candidate) { c.Stack[0], c.Stack[1] = c.Stack[1], c.Stack[0] }), true, "the order of the stack is no matter"},
		{with(func(c *Candidate) { c.Rationale = "because" }), true, "nor the rationale"},
		{with(func(c *Candidate) { c.Stack[0] = entry("block", `{"tools":["a"],"reason":"x"}`) }), false, "other tools"},
		{with(func(c *Candidate) { c.Stack[1] = entry("rename", `{"tools":{"e":"d"}}`) }), false, "another tool is renamed"},
		{with(func(c *Candidate) { c.Stack[0] = entry("tool_down", `{"tools":["a","b"]}`) }), false, "another component"},
		{with(func(c *Candidate) { c.Flaw = "F02" }), false, "another flaw"},
		{with(func(c *Candidate) { c.Stack = c.Stack[:2] }), false, "one less"},
		{with(func(c *Candidate) { c.Stack[0].Params = []byte(`{"tools":["a\" \"b"]}`) }), false, "a name with quotes in it is one name"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		if got := signature(r, tt.c) == signature(r, base); got != tt.same {
			t.Errorf("%s: the same is %v, want %v (%s)", signature(r, tt.c), got, tt.same, tt.reason)
		}
	}
}

// Two of a kind are about the same thing if they name the same, in each of the fields that say so.
func TestTargets(t *testing.T) {
	for _, tt := range []struct {
		a, b   string
		same   bool
		reason string
	}{
		{`{"edges":[{"before":{"tool":"a"},"after":{"tool":"b"}}]}`, `{"edges":[{"after":{"tool":"b"},"before":{"tool":"a"}}]}`, true, "keys have no order"},
		{`{"edges":[{"before":{"tool":"a"},"after":{"tool":"b"}}]}`, `{"edges":[{"before":{"tool":"a"},"after":{"tool":"c"}}]}`, false, "other edges"},
		{`{"require":[{"tool":"a"},{"tool":"b"}]}`, `{"require":[{"tool":"b"},{"tool":"a"}]}`, true, "all are required"},
		{`{"require":[{"tool":"a"}],"max_blocks":1}`, `{"require":[{"tool":"a"}],"max_blocks":2}`, true, "only stronger"},
		{`{"require":[{"tool":"a"}]}`, `{"require":[{"tool":"b"}]}`, false, "something else is required"},
		{`{"grant":{"tool":"a"}}`, `{"grant":{"tool":"b"}}`, false, "something else grants"},
		{`{"match":{"args":{"x":1}}}`, `{"match":{"args":{"x":2}}}`, false, "other calls"},
		{`{"actions":[{"name":"a"},{"name":"b"}]}`, `{"actions":[{"name":"b"},{"name":"a"}]}`, false, "another start"},
		{`{"actions":true}`, `{}`, false, "something is hidden, or not"},
		{`{"fields":["/a"]}`, `{"fields":["/b"]}`, false, "other fields"},
		{`{"keys":["/a","/b"]}`, `{"keys":["/b","/a","/a"]}`, true, "the same keys"},
		{`{"keys":["/a"]}`, `{"keys":["/b"]}`, false, "other keys"},
		{`{"keys":["/a"]}`, `{"fields":["/a"]}`, false, "another parameter"},
		{`{"set":{"/a":1}}`, `{"set":{"/a":2}}`, true, "another value of the same place"},
		{`{"set":{"/a":1}}`, `{"set":{"/b":1}}`, false, "another place"},
		{`{"lines":["a"]}`, `{"lines":["b"]}`, false, "other lines"},
		{`{"tools":null}`, ``, true, "nothing is named"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		a, b := targetsOf([]byte(tt.a)), targetsOf([]byte(tt.b))
		if slices.Equal(a, b) != tt.same {
			t.Errorf("%q and %q: the same is %v, want %v (%s)", a, b, !tt.same, tt.same, tt.reason)
		}
	}
}

func TestNovel(t *testing.T) {
	r := components.Catalogue()
	budget := Candidate{Stack: []components.Entry{entry("step_budget", `{"turns":5}`)}}
	block := Candidate{Stack: []components.Entry{entry("block", `{"reason":"x"}`)}}
	both := Candidate{Stack: append(append([]components.Entry(nil), block.Stack...), budget.Stack...)}
	archiveOf := func(items, b, a int) *archive {
		return &archive{items, map[envharness.Axis]int{envharness.AxisBudget: b, envharness.AxisAction: a}}
	}
	for _, tt := range []struct {
		a        *archive
		c        Candidate
		accepted []string
		share    float64
		want     Result
		reason   string
	}{
		{archiveOf(0, 0, 0), budget, nil, .4, Passed, "the first"},
		{archiveOf(1, 1, 0), budget, []string{signature(r, budget)}, .4, Failed, "accepted on this task"},
		{archiveOf(1, 1, 0), budget, []string{"its hash", "another signature"}, .4, Failed, "the same stack, whatever flaw it is for"},
		{archiveOf(1, 1, 0), both, []string{signature(r, budget)}, .4, Passed, "one more component"},
		{archiveOf(9, 9, 0), budget, nil, .4, Passed, "the cap holds from 10 on"},
		{archiveOf(10, 4, 6), budget, nil, .4, Failed, "5 of 11 is above 0.4"},
		{archiveOf(10, 3, 6), budget, nil, .4, Passed, "4 of 11 is not"},
		{archiveOf(14, 5, 9), budget, nil, .4, Passed, "6 of 15 is 0.4"},
		{archiveOf(10, 0, 10), both, nil, .4, Failed, "one axis is enough"},
		{archiveOf(10, 10, 0), budget, nil, 1, Passed, "no cap"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		got := tt.a.novel(r, tt.c, "its hash", tt.accepted, tt.share)
		if got.Step != StepNovelty || got.Result != tt.want || (got.Reason == "") != (tt.want == Passed) {
			t.Errorf("%+v, want %s (%s)", got, tt.want, tt.reason)
		}
	}
}

// However candidates come, from 10 accepted on no axis grows beyond its share.
func TestAxisCap(t *testing.T) {
	r := components.Catalogue()
	tags := []components.Entry{
		entry("step_budget", `{"turns":5}`), entry("block", `{"reason":"x"}`), entry("tool_fail", `{}`), entry("hide_keys", `{"actions":true}`),
	}
	rapid.Check(t, func(t *rapid.T) {
		share := float64(rapid.IntRange(20, 100).Draw(t, "percent")) / 100
		a := &archive{axes: make(map[envharness.Axis]int)}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(tags)-1), 1, 60).Draw(t, "proposed") {
			c := Candidate{Stack: tags[i : i+1]}
			axis := axesOf(r, c.Stack)[0]
			got := a.novel(r, c, "", nil, share).Result == Passed
			after := float64(a.axes[axis]+1) / float64(a.items+1)
			if want := a.items < 10 || after <= share+1e-9; got != want {
				t.Fatalf("%d of %d on axis %s at a cap of %v: %v", a.axes[axis]+1, a.items+1, axis, share, got)
			}
			if got {
				a.add(r, c.Stack)
			}
		}
	})
}

// Worked example: weights with two on A and one on O.
func TestAxisWeights(t *testing.T) {
	got := weights(map[envharness.Axis]int{envharness.AxisAction: 2, envharness.AxisObservation: 1, envharness.AxisBudget: 7})
	want := map[envharness.Axis]float64{
		envharness.AxisStart: .3529, envharness.AxisAction: .1176, envharness.AxisTransition: .3529, envharness.AxisObservation: .1765,
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	for axis, w := range want {
		if math.Abs(got[axis]-w) > 5.1e-5 {
			t.Errorf("%s: %v, want %v", axis, got[axis], w)
		}
	}
}

// The table of the screening, by the outcomes and how the episodes ended.
func TestRule(t *testing.T) {
	milder, relaxed, stronger := &Refinement{}, &Refinement{RelaxBudgets: true}, &Refinement{Harder: true}
	for _, tt := range []struct {
		pass    int
		budgets int // of the failed ones, how many were ended by a limit
		proven  bool
		want    Decision
		refine  *Refinement
		reason  string
	}{
		{0, 0, true, Refine, milder, "proven solvable: milder"},
		{0, 2, true, Refine, milder, "2 of 5 is not more than 40 %"},
		{0, 3, true, Refine, relaxed, "3 of 5 is"},
		{0, 3, false, Reject, nil, "nobody is known to pass"},
		{1, 4, true, Refine, milder, "somebody passed, so the limit is not what is in the way of all"},
		{1, 0, false, Refine, milder, "the policy itself has passed"},
		{2, 0, true, Accept, nil, "in the band"},
		{3, 2, true, Accept, nil, "in the band"},
		{4, 0, true, Refine, stronger, "too easy"},
		{5, 0, true, Refine, stronger, "too easy"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		for _, end := range []envharness.EndReason{envharness.EndTruncated, envharness.EndMaxTurns, envharness.EndTokenBudget, "budget:step_budget"} {
			s := defaults(Options{})
			traces := make([]envharness.Trace, 5)
			for i := range traces {
				traces[i].Verdict.Status, traces[i].End = envharness.Fail, envharness.EndAgentStop
				if i < tt.pass {
					traces[i].Verdict.Status, traces[i].End = envharness.Pass, envharness.EndTerminated
				} else if i < tt.pass+tt.budgets {
					traces[i].End = end
				}
			}
			m := s.measure(false, components.Harder, Tally{5, 5})
			m.Counts = tally(traces)
			got := s.rule(m, traces, tt.proven)
			if got.decision != tt.want || (got.refine == nil) != (tt.refine == nil) || got.refine != nil && *got.refine != *tt.refine ||
				(got.reason == "") != (tt.want == Accept) || strings.Contains(got.reason, "%!") {
				t.Errorf("%d passed, %d ended with %s, proven %v: %+v, want %s %+v (%s)", tt.pass, tt.budgets, end, tt.proven, got, tt.want, tt.refine, tt.reason)
			}
		}
	}
	s := defaults(Options{Objective: RedTeam{}})
	m := s.measure(false, components.Harder, Tally{5, 5})
	m.Counts = Tally{0, 5}
	if got := s.rule(m, nil, false); got.decision != Reject {
		t.Errorf("failures of a task that nobody is known to pass: %+v", got)
	}
}
