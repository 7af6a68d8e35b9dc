package diagnosis_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// ranked has 3 failed episodes, with F02 in 2 and F11 in 3, and 2 passed ones, with F11 in 2.
func ranked() []envharness.Trace {
	early := trace(failed, done, get, set, submit)
	late := trace(failed, done, slices.Concat(slices.Repeat([]step{get, {call: "list"}}, 5), []step{set, submit})...)
	for i := range late.Turns { // all different
		late.Turns[i].Shown.Observation.Text = strings.Repeat("x", i)
	}
	good := trace(pass, done, get, set, submit)
	out := []envharness.Trace{early, good, late, early, good}
	for i := range out {
		out[i].Slot = i
	}
	return out
}

func TestRanking(t *testing.T) {
	type row struct {
		ID            diagnosis.ID
		Support, Lift float64
		Slots         []int
	}
	rows := func(flaws []diagnosis.Flaw) (out []row) {
		for _, f := range flaws {
			r := row{ID: f.ID, Support: f.Support, Lift: f.Lift}
			for _, found := range f.Found {
				r.Slots = append(r.Slots, found.Slot)
			}
			out = append(out, r)
		}
		return out
	}
	passed := func(traces []envharness.Trace) []envharness.Trace {
		return slices.DeleteFunc(traces, func(t envharness.Trace) bool { return t.Verdict.Status != pass })
	}
	long := trace(pass, done, get, get, step{call: "list"}, get, get, set, submit)
	tests := []struct {
		name    string
		traces  []envharness.Trace
		context diagnosis.Context
		options *diagnosis.Options
		want    []row
		reason  string
	}{
		{"worked example", ranked(), plans(), nil, []row{{diagnosis.PrematureStop, .4, 2. / 3, []int{0, 3}}, {diagnosis.UnverifiedWrite, 1, 0, []int{0, 1, 2, 3, 4}}},
			"worked example: lift F02 2/3 and F11 0, support .4 and 1; .4 is enough"},
		{"more support", ranked(), plans(), &diagnosis.Options{Support: new(.41)}, []row{{diagnosis.UnverifiedWrite, 1, 0, []int{0, 1,
			2, 3, 4}}},
			"F02 has .4"},
		{"most", ranked(), plans(), &diagnosis.Options{Most: 1}, []row{{diagnosis.PrematureStop, .4, 2. / 3, []int{0, 3}}}, "the first"},
		{"no failure", append(passed(ranked()), long), plans(planned...), all(), []row{{diagnosis.UnverifiedWrite, 1, -1, []int{1, 4, 0}}, {diagnosis.Loop, 1. / 3, -1. / 3, []int{0}},
			{diagnosis.OverLong, 1. / 3, -1. / 3, []int{0}}}, "by support, though the lift of F11 is the lowest, then by id"},
		{"no pass", ranked()[:1], plans(), nil, []row{{diagnosis.PrematureStop, 1, 1, []int{0}}, {diagnosis.UnverifiedWrite, 1, 1,
			[]int{0}}},
			"a missing side counts 0; then by id"},
		{"none", nil, plans(), nil, nil, "nothing to say"},
		{"clean", []envharness.Trace{trace(pass, done, set, get, submit)}, plans(planned...), all(), nil, "no flaw"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("no reason")
			}
			flaws, err := diagnosis.Diagnose(tt.traces, tt.context, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, rows(flaws), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.reason, diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	other := trace(pass, done, get)
	other.Task.ID = "b"
	invalid := other
	invalid.Verdict.Status = envharness.Invalid
	tests := []struct {
		name    string
		traces  []envharness.Trace
		context diagnosis.Context
		options *diagnosis.Options
		want    []string // parts of the error; none means that there is no error
		reason  string
	}{
		{"zero support", nil, plans(), &diagnosis.Options{Support: new(0.0)}, []string{"support 0", "(0, 1]"}, "zero is not allowed"},
		{"high support", nil, plans(), &diagnosis.Options{Support: new(1.01)}, []string{"support 1.01"}, "above one"},
		{"no number", nil, plans(), &diagnosis.Options{Support: new(math.NaN())}, []string{"support NaN"}, "not a number"},
		{"full support", nil, plans(), &diagnosis.Options{Support: new(1.0)}, nil, "one is allowed"},
		{"patterns", nil, diagnosis.Context{Edges: []components.Edge{{}, {Before: components.Match{Tool: "["}, After: components.Match{Tool: "[a"}}}}, nil,
			[]string{`edge 1: before: tool pattern "["`, `edge 1: after: tool pattern "[a"`}, "both sides at once"},
		{"arguments", nil, diagnosis.Context{Edges: []components.Edge{{After: components.Match{Args: map[string]any{"a": math.Inf(1)}}}}}, nil,
			[]string{"edge 0: after: arguments"}, "not JSON"},
		{"tasks", []envharness.Trace{trace(pass, done, get), other}, plans(), nil, []string{`trace 1 is of task "b"`, `"a"`, "Summarize"}, "two tasks"},
		{"unjudged task", []envharness.Trace{trace(pass, done, get), invalid}, plans(), nil, nil, "what was not judged is not looked at"},
		{"options first", []envharness.Trace{trace(pass, done, get), other}, diagnosis.Context{Edges: []components.Edge{{Before: components.Match{Tool: "["}}}},
			&diagnosis.Options{Support: new(2.0)}, []string{"support 2", "edge 0"}, "all faults of the settings at once"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("no reason")
			}
			flaws, err := diagnosis.Diagnose(tt.traces, tt.context, tt.options)
			_, sumErr := diagnosis.Summarize([]diagnosis.Case{{Traces: tt.traces, Context: tt.context}}, tt.options)
			if len(tt.want) == 0 {
				if err != nil || sumErr != nil {
					t.Fatal(err, sumErr)
				}
				return
			}
			if err == nil || sumErr == nil || flaws != nil {
				t.Fatalf("no error, or a result: %v, %v, %v", err, sumErr, flaws)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) || !strings.HasPrefix(err.Error(), "diagnosis: ") {
					t.Errorf("error %q, want %q in it", err, part)
				}
			}
		})
	}
}

func TestIDs(t *testing.T) {
	ids := diagnosis.IDs()
	if len(ids) != 20 || ids[0] != diagnosis.Loop || ids[19] != diagnosis.Hammering || !slices.IsSorted(ids) {
		t.Errorf("ids %v", ids)
	}
	names := make(map[string]bool)
	for _, id := range append(ids, "") {
		if id.Name() == "" || id.About() == "" || names[id.Name()] {
			t.Errorf("%s: name %q, about %q", id, id.Name(), id.About())
		}
		names[id.Name()] = true
	}
	if id := diagnosis.ID("F99"); id.Name() != "" || id.About() != "" {
		t.Error("an unknown flaw has a name")
	}
}

// Where the answer to a last call is only words, it is no turn; a trace may lack anything, or hold what no JSON is.
func TestOddTraces(t *testing.T) {
	loop := map[string]any{}
	loop["a"], loop["b"] = loop, []any{loop}
	deep := any("x")
	for range 5000 {
		deep = []any{deep}
	}
	nested := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	odd := trace(failed, "", step{}, step{call: `x {"a"`}, step{call: `x []`}, step{call: "x null"}, step{call: "x " + nested}, step{call: "x", shows: nested},
		step{call: "\xff\x00 {\"a\":\"\xff\"}", shows: "\xff{"}, step{call: "x", shows: "retry_after 99999999999999999999", class: rate})
	for _, data := range []map[string]any{{"n": math.NaN(), "i": math.Inf(-1)}, loop, {"d": deep}, {"f": func() {}, "s": struct{ X int }{1}, "has_more": true}} {
		odd.Turns = append(odd.Turns, envharness.TurnTrace{Proposed: &envharness.Action{}, Shown: envharness.Transition{Observation: envharness.Observation{Data: data}}})
	}
	said := trace(failed, stop, get)
	said.Turns = append(said.Turns, envharness.TurnTrace{Said: "I am done.", Tokens: 4})
	for name, tr := range map[string]envharness.Trace{"nothing": {Verdict: envharness.Verdict{Status: failed}}, "odd": odd, "said": said} {
		tr.Task.ID = "a"
		for _, c := range []diagnosis.Context{{}, plans(planned...), {World: hall(), Plan: actions("do", `do {"text":"\ud800"}`)}, plans("x " + nested)} {
			flaws, err := diagnosis.Diagnose([]envharness.Trace{tr, tr}, c, all())
			if err != nil {
				t.Error(name, err)
			}
			if f, ok := find(flaws, diagnosis.Unreadable); name == "said" && ok {
				t.Errorf("what was said at the end is no turn: %+v", f)
			}
		}
	}
	_, err := diagnosis.Diagnose([]envharness.Trace{{Verdict: envharness.Verdict{Status: 77}}}, diagnosis.Context{}, nil)
	if err != nil {
		t.Error(err)
	}
}

// Logs that were imported have no verdict, so there is nothing to say about them.
func TestImported(t *testing.T) {
	log := `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"bye"}]}`
	for tr, err := range envharness.ReadMessages(strings.NewReader(log)) {
		if err != nil {
			t.Fatal(err)
		}
		if flaws, err := diagnosis.Diagnose([]envharness.Trace{tr}, diagnosis.Context{}, all()); err != nil || len(flaws) > 0 {
			t.Error(flaws, err)
		}
	}
}

// pool draws a step of a small world, so that things repeat.
func pool() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		return step{
			call: rapid.SampledFrom([]string{"", get.call, set.call, `set {"id":"a1","to":50}`, `list {"owner":"bob","page":1}`, `list {"owner":"bob","page":2}`, "next",
				submit.call, `get {"id":"zz9"}`, "news"}).Draw(t, "call"),
			shows: rapid.SampledFrom([]string{"x", `{"id":"a1","value":50}`, `{"id":"a1","value":60}`, `{"has_more":true}`, "retry_after 3"}).Draw(t, "shows"),
			class: rapid.SampledFrom([]envharness.ErrorClass{"", "", "", transient, permit, rate, precond, notFound}).Draw(t, "class"),
		}
	})
}

func episodes() *rapid.Generator[[]envharness.Trace] {
	return rapid.Custom(func(t *rapid.T) []envharness.Trace {
		var out []envharness.Trace
		for slot := range rapid.IntRange(1, 6).Draw(t, "episodes") {
			tr := trace(rapid.SampledFrom([]envharness.Status{pass, failed, envharness.Invalid}).Draw(t, "status"),
				rapid.SampledFrom([]envharness.EndReason{done, stop, limit, broke}).Draw(t, "end"), rapid.SliceOfN(pool(), 0, 12).Draw(t, "steps")...)
			tr.Slot = slot
			out = append(out, tr)
		}
		return out
	})
}

func contexts() *rapid.Generator[diagnosis.Context] {
	return rapid.Custom(func(t *rapid.T) diagnosis.Context {
		c := diagnosis.Context{Edges: []components.Edge{{Before: components.Match{Tool: "get"}, After: components.Match{Tool: "set"}}}}
		if rapid.Bool().Draw(t, "world") {
			c.World = desk()
		}
		if rapid.Bool().Draw(t, "plan") {
			c.Plan = actions(planned...)
		}
		return c
	})
}

// testingTB is what tests and properties have in common.
type testingTB interface {
	Helper()
	Fatal(args ...any)
}

func diagnose(t testingTB, traces []envharness.Trace, c diagnosis.Context, o *diagnosis.Options) []diagnosis.Flaw {
	t.Helper()
	flaws, err := diagnosis.Diagnose(traces, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return flaws
}

// The order of the traces changes the order of what was found and nothing else; episodes that were not judged change nothing at all, and
// neither do the traces change.
func TestOrderAndInvalid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		traces, c := episodes().Draw(t, "traces"), contexts().Draw(t, "context")
		before, err := json.Marshal(traces)
		if err != nil {
			t.Fatal(err)
		}
		want := diagnose(t, traces, c, all())
		judged := slices.DeleteFunc(slices.Clone(traces), func(tr envharness.Trace) bool { return tr.Verdict.Status == envharness.Invalid })
		if diff := cmp.Diff(want, diagnose(t, judged, c, all())); diff != "" {
			t.Error("without those not judged\n", diff)
		}
		mixed := diagnose(t, rapid.Permutation(traces).Draw(t, "mixed"), c, all())
		for _, f := range mixed {
			slices.SortFunc(f.Found, func(a, b diagnosis.Finding) int { return a.Slot - b.Slot })
		}
		if diff := cmp.Diff(want, mixed); diff != "" {
			t.Error("in another order\n", diff)
		}
		if after, err := json.Marshal(traces); err != nil || !bytes.Equal(before, after) {
			t.Error("the traces were changed")
		}
	})
}

// Support and lift are the shares that the findings tell; flaws are in order; options cut the whole list.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		traces, c := episodes().Draw(t, "traces"), contexts().Draw(t, "context")
		flaws := diagnose(t, traces, c, all())
		failures := 0
		count := func(status envharness.Status, f *diagnosis.Flaw) (n float64) {
			for _, tr := range traces {
				if tr.Verdict.Status == status && (f == nil || slices.ContainsFunc(f.Found, func(x diagnosis.Finding) bool { return x.Slot == tr.Slot })) {
					n++
				}
			}
			return n
		}
		failures = int(count(failed, nil))
		for i, f := range flaws {
			lift := 0.0
			if n := count(failed, nil); n > 0 {
				lift += count(failed, &f) / n
			}
			if n := count(pass, nil); n > 0 {
				lift -= count(pass, &f) / n
			}
			support := float64(len(f.Found)) / (count(failed, nil) + count(pass, nil))
			if math.Abs(f.Lift-lift) > 1e-12 || math.Abs(f.Support-support) > 1e-12 {
				t.Errorf("%s: support %v, lift %v, want %v and %v", f.ID, f.Support, f.Lift, support, lift)
			}
			for _, x := range f.Found {
				if x.Note == "" || !slices.IsSorted(x.Turns) || len(slices.Compact(slices.Clone(x.Turns))) != len(x.Turns) ||
					len(x.Turns) > 0 && (x.Turns[0] < 0 || x.Turns[len(x.Turns)-1] >= len(traces[x.Slot].Turns)) {
					t.Errorf("%s: %+v", f.ID, x)
				}
			}
			if i == 0 {
				continue
			}
			p := flaws[i-1]
			better := p.Support > f.Support || p.Support == f.Support && p.ID < f.ID
			if failures > 0 {
				better = p.Lift > f.Lift || p.Lift == f.Lift && better
			}
			if !better {
				t.Errorf("%s (%v, %v) before %s (%v, %v)", p.ID, p.Lift, p.Support, f.ID, f.Lift, f.Support)
			}
		}
		least, most := rapid.Float64Range(0.01, 1).Draw(t, "support"), rapid.IntRange(1, 4).Draw(t, "most")
		want := slices.DeleteFunc(slices.Clone(flaws), func(f diagnosis.Flaw) bool { return f.Support < least-1e-9 })
		want = want[:min(most, len(want))]
		if diff := cmp.Diff(want, diagnose(t, traces, c, &diagnosis.Options{Support: &least, Most: most}), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// One more passed episode that shows no flaw raises no support where a solution is known already, and raises the lift of a flaw only by
// making it rarer among the passed.
func TestOneMorePass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		traces := episodes().Draw(t, "traces")
		c := plans(planned...)
		clean := trace(pass, done, get, set, get, submit)
		clean.Slot = len(traces)
		was := diagnose(t, append(slices.Clone(traces), clean), c, all())
		now := diagnose(t, append(slices.Clone(traces), clean, clean), c, all())
		if len(was) != len(now) {
			t.Fatalf("%d flaws, then %d", len(was), len(now))
		}
		for _, a := range was {
			b, _ := find(now, a.ID)
			if b.Support > a.Support || b.Lift < a.Lift || len(a.Found) != len(b.Found) {
				t.Errorf("%s: %v %v, then %v %v", a.ID, a.Support, a.Lift, b.Support, b.Lift)
			}
			passes := slices.ContainsFunc(a.Found, func(x diagnosis.Finding) bool { return x.Slot < len(traces) && traces[x.Slot].Verdict.Status == pass })
			if !passes && a.Lift != b.Lift {
				t.Errorf("%s: shown by no passed episode, and the lift is %v, then %v", a.ID, a.Lift, b.Lift)
			}
		}
	})
}

// Slow and obvious forms of some rules.
func TestAgainstBruteForce(t *testing.T) {
	repeats := func(tr envharness.Trace) bool { // F01, its first half, without limits on the rate
		for i, u := range tr.Turns {
			n := 0
			for _, v := range tr.Turns[i:] {
				if u.Proposed != nil && v.Proposed != nil && u.Proposed.String() == v.Proposed.String() && cmp.Equal(u.Shown.Error, v.Shown.Error) &&
					u.Shown.Observation.Text == v.Shown.Observation.Text && (u.Shown.Error == nil || u.Shown.Error.Class != transient) {
					n++
				}
			}
			if n >= 3 {
				return true
			}
		}
		return false
	}
	blind := func(tr envharness.Trace) bool { // F05
		n := 0
		for i, u := range tr.Turns {
			for k := i - 1; k >= 0 && u.Proposed != nil && u.Shown.Error != nil && u.Shown.Error.Class != transient; k-- {
				v := tr.Turns[k]
				if v.Proposed == nil || v.Shown.Error != nil && v.Shown.Error.Class == transient {
					continue
				}
				if v.Shown.Error != nil && v.Proposed.String() == u.Proposed.String() {
					n++
					break
				}
				if v.Shown.Error == nil && v.Proposed.Name != "get" && v.Proposed.Name != "list" {
					break
				}
			}
		}
		return n >= 2
	}
	dropped := func(tr envharness.Trace) bool { // F04
		for i, u := range tr.Turns {
			if u.Proposed == nil || u.Shown.Error == nil || u.Shown.Error.Class != transient || i == len(tr.Turns)-1 && tr.End != stop {
				continue
			}
			if !slices.ContainsFunc(tr.Turns[i+1:], func(v envharness.TurnTrace) bool { return v.Proposed != nil && v.Proposed.Name == u.Proposed.Name }) {
				return true
			}
		}
		return false
	}
	again := func(tr envharness.Trace) bool { // F19
		seen := make(map[string]bool)
		for _, u := range tr.Turns {
			if u.Proposed != nil && u.Proposed.Name == "set" && u.Shown.Error == nil {
				if seen[string(u.Proposed.Args)] {
					return true
				}
				seen[string(u.Proposed.Args)] = true
			}
		}
		return false
	}
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(pool().Filter(func(s step) bool { return s.class != rate }), 0, 12).Draw(t, "steps")
		tr := trace(pass, rapid.SampledFrom([]envharness.EndReason{stop, limit}).Draw(t, "end"), steps...)
		c := diagnosis.Context{World: desk()}
		// A circle is known where it was passed, so that only the first half of F01 is left.
		flaws := diagnose(t, []envharness.Trace{tr}, c, all())
		for id, want := range map[diagnosis.ID]bool{
			diagnosis.Loop: repeats(tr), diagnosis.BlindRetry: blind(tr), diagnosis.NoRetry: dropped(tr), diagnosis.RepeatedWrite: again(tr),
			diagnosis.BudgetExhausted: tr.End == limit,
		} {
			if _, got := find(flaws, id); got != want {
				t.Errorf("%s: %v, want %v", id, got, want)
			}
		}
	})
}
