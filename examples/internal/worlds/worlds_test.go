package worlds

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// Every world calls itself by its name, describes itself, and has tasks in every split, which its oracle plans for.
func TestAll(t *testing.T) {
	seen := make(map[string]bool)
	for _, w := range All() {
		d, err := w.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d.Name != w.Name || seen[w.Name] {
			t.Errorf("%s calls itself %s", w.Name, d.Name)
		}
		seen[w.Name] = true
		if d.About == "" || len(d.Tools) == 0 || d.MaxTurns == 0 || len(d.Graded) == 0 {
			t.Errorf("%s: about %q, %d tools, %d turns, graded %q: something is missing", w.Name, d.About, len(d.Tools), d.MaxTurns, d.Graded)
		}
		if w.Small && d.MaxTurns > 12 {
			t.Errorf("%s: %d turns", w.Name, d.MaxTurns)
		}
		for _, split := range Splits() {
			tasks, err := w.Tasks(t.Context(), split)
			if err != nil || len(tasks) == 0 {
				t.Errorf("%s: %s: %d tasks, %v", w.Name, split, len(tasks), err)
				continue
			}
			if plan, err := w.Plan(t.Context(), tasks[0]); err != nil || len(plan) == 0 || len(plan) > d.MaxTurns {
				t.Errorf("%s: plan of %s: %d actions, %v", w.Name, tasks[0].ID, len(plan), err)
			}
		}
		if _, err := w.Tasks(t.Context(), "none"); err == nil {
			t.Errorf("%s has a split none", w.Name)
		}
		if _, err := w.Plan(t.Context(), envharness.Task{ID: "no such task"}); !errors.Is(err, envharness.ErrNoTask) {
			t.Errorf("%s: plan of no task: %v", w.Name, err)
		}
		found, err := Find(w.Name)
		if err != nil || found.Name != w.Name || found.Small != w.Small || found.Repeats != w.Repeats {
			t.Errorf("found %+v, %v", found, err)
		}
	}
	if _, err := Find("none"); err == nil || !strings.Contains(err.Error(), "game24") {
		t.Errorf("found none: %v", err)
	}
}

func act(name, args string) envharness.Action {
	return envharness.Action{Name: name, Args: json.RawMessage(args)}
}

func TestOrders(t *testing.T) {
	a, b := act("go", `{"to":"a"}`), act("go", `{"to":"b"}`)
	want := map[string]string{"first": "go a, go b, noop", "last": "go b, go b, noop"}
	orders := World{}.Orders()
	for _, n := range orders {
		var got []string
		p := n.New(nil)
		for _, actions := range [][]envharness.Action{{a, b}, {b}, nil} {
			action, err := p.Act(t.Context(), envharness.Turn{Shown: envharness.Observation{Actions: actions}})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, action.Text())
		}
		if n.Draws || strings.Join(got, ", ") != want[n.Name] {
			t.Errorf("%s: %q, want %q", n.Name, got, want[n.Name])
		}
	}
	if len(orders) != len(want) {
		t.Errorf("%d orders, want %d", len(orders), len(want))
	}
}

// A world that cannot be opened is listed, and says why when it is used.
func TestNotOpened(t *testing.T) {
	broken := errors.New("out of stock")
	w := preset{name: "bazaar", open: func() (envharness.World, error) { return envharness.World{}, broken }}.world()
	if _, err := w.Describe(t.Context()); w.Name != "bazaar" || !errors.Is(err, broken) {
		t.Errorf("%s: %v", w.Name, err)
	}
}

func TestBuyFirst(t *testing.T) {
	click := func(text string) envharness.Action { return act("click", `{"text":"`+text+`"}`) }
	for _, tt := range []struct {
		reason  string
		actions []envharness.Action
		want    string
	}{
		{"the first search", []envharness.Action{act("search", `{"query":"mug"}`), act("search", `{"query":"blue mug"}`)}, "search mug"},
		{"no way back, no other page", []envharness.Action{click("back to search"), click("< prev"), click("next >"), click("b1"), click("b2")}, "click b1"},
		{"bought as soon as that goes", []envharness.Action{click("back to search"), click("red"), click("buy now")}, "click buy now"},
		{"there is nothing else", []envharness.Action{click("back to search")}, "click back to search"},
	} {
		if got := buyFirst(tt.actions).Text(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
	shop, err := Find("shop")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := shop.Tasks(t.Context(), "train")
	if err != nil {
		t.Fatal(err)
	}
	nulls := yardstick.Nulls()
	for i, n := range shop.Nulls() {
		if n.Name != nulls[i].Name || n.Draws != nulls[i].Draws {
			t.Errorf("%s stands for %s", n.Name, nulls[i].Name)
		}
		if n.Name != "submit" {
			continue
		}
		policy := func(int) (envharness.Policy, error) { return n.New(nil), nil }
		traces, err := envharness.Rollouts(t.Context(), shop.World, nil, policy, tasks[:5], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, trace := range traces {
			if trace.End != envharness.EndTerminated || len(trace.Turns) != 3 { // search, product, buy
				t.Errorf("%s ends with %s after %d turns", trace.Task.ID, trace.End, len(trace.Turns))
			}
		}
		if a, err := n.New(nil).Act(t.Context(), envharness.Turn{}); err != nil || a.Name != "submit" {
			t.Errorf("without admissible actions: %s, %v", a, err)
		}
	}
}

// The oracle's policy follows its plan, fails the episode where there is none, and does not go on after it.
func TestOracle(t *testing.T) {
	w, err := Find("game24")
	if err != nil {
		t.Fatal(err)
	}
	tasks := []envharness.Task{{ID: "3,3,8,8"}, {ID: "1,1,1,1"}}
	policy := func(slot int) (envharness.Policy, error) { return w.Oracle(tasks[slot]), nil }
	traces, err := envharness.Rollouts(t.Context(), w.World, nil, policy, tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	if traces[0].Verdict.Status != envharness.Pass || len(traces[0].Turns) != 4 {
		t.Errorf("solvable: %+v after %d turns", traces[0].Verdict, len(traces[0].Turns))
	}
	if traces[1].Verdict.Status != envharness.Fail || traces[1].End != envharness.EndAgentError || !strings.Contains(traces[1].Cause, "unsolvable") {
		t.Errorf("unsolvable: %+v, %s, %s", traces[1].Verdict, traces[1].End, traces[1].Cause)
	}
	p := w.Oracle(tasks[0])
	for i := range 4 {
		if _, err := p.Act(t.Context(), envharness.Turn{Index: i}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Act(t.Context(), envharness.Turn{Index: 4}); err == nil {
		t.Error("there is a fifth action")
	}
}
