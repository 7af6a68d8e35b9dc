package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

func TestSummarize(t *testing.T) {
	loops := trace(failed, limit, get, get, get, set, get)
	loops.Task.ID, loops.Slot = "b", 5
	clean := trace(pass, done, set, get, submit)
	clean.Task.ID = "b"
	invalid := trace(envharness.Invalid, "", get)
	cases := []diagnosis.Case{
		{Traces: ranked(), Context: plans()},
		{Name: "second", Traces: []envharness.Trace{clean, loops}, Context: plans()},
		{Traces: []envharness.Trace{invalid}, Context: plans()},
		{Name: "third", Traces: []envharness.Trace{clean, loops}, Context: plans()},
		{},
	}
	got, err := diagnosis.Summarize(cases, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Of three tasks with judged episodes one shows F02 and F11 as worked out for the ranking, the others F01 and F08 in their one failure of
	// two episodes.
	note := func(id diagnosis.ID, c diagnosis.Case) diagnosis.Finding {
		flaws, err := diagnosis.Diagnose(c.Traces, c.Context, all())
		if err != nil {
			t.Fatal(err)
		}
		f, _ := find(flaws, id)
		return f.Found[0]
	}
	want := &diagnosis.Summary{Tasks: 3, Episodes: 9, Passed: 4, Flaws: []diagnosis.CommonFlaw{
		{ID: diagnosis.Loop, Tasks: 2, Support: 1. / 3, Lift: 2. / 3, Case: "second", Example: note(diagnosis.Loop, cases[1])},
		{ID: diagnosis.BudgetExhausted, Tasks: 2, Support: 1. / 3, Lift: 2. / 3, Case: "second", Example: note(diagnosis.BudgetExhausted, cases[1])},
		{ID: diagnosis.PrematureStop, Tasks: 1, Support: .4 / 3, Lift: 2. / 9, Case: "a", Example: note(diagnosis.PrematureStop, cases[0])},
	}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got, err := diagnosis.Summarize(cases, all()); err != nil || len(got.Flaws) < 4 {
		t.Errorf("all flaws: %v, %v", got, err)
	}
	if text := got.String(); !strings.Contains(text, "4 of 9 episodes passed, on 3 tasks\nF01 loop: on 2 of 3 tasks, support 0.33, lift +0.67; for example second: get a1") {
		t.Error(text)
	}
	empty, err := diagnosis.Summarize(nil, nil)
	if err != nil || empty.Tasks != 0 || len(empty.Flaws) != 0 || !strings.HasSuffix(empty.String(), "\nno flaw was found") {
		t.Errorf("%v %v", empty, err)
	}
	// Where no episode failed the flaws are ranked by support: all have no retry, one of two has an answer that is no action.
	gives := trace(pass, done, refused(get, transient), set, submit)
	both := trace(pass, done, refused(step{}, badArgs), refused(get, transient), set, submit)
	passed, err := diagnosis.Summarize([]diagnosis.Case{{Traces: []envharness.Trace{gives, both}, Context: plans()}}, nil)
	if err != nil || len(passed.Flaws) != 3 || passed.Flaws[0].ID != diagnosis.NoRetry || passed.Flaws[2].ID != diagnosis.Unreadable {
		t.Errorf("%v, %v", passed, err)
	}
	mixed := []envharness.Trace{trace(pass, done, get), loops}
	if _, err := diagnosis.Summarize([]diagnosis.Case{{}, {Traces: mixed}}, nil); err == nil || !strings.Contains(err.Error(), "case 1: ") {
		t.Errorf("error %v names no case", err)
	}
}
