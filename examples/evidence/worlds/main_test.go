package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// tiny is enough to go through every part.
var tiny = effort{quick: true, tasks: 3, null: 40, train: 1500, heldOut: 100, timed: time.Millisecond, walkthroughs: 40}

func silent(string) {}

// Every reference world keeps every claim.
func TestReferenceWorlds(t *testing.T) {
	first, err := run(t.Context(), worlds.All(), tiny, os.Getenv("THROUGHLINE_DATA"), silent)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.failure(); err != nil || first.Claims != allHold() {
		t.Errorf("%q %+v", first.Failures, first.Claims)
	}
	for name, r := range first.Worlds {
		if !(r.StepsPerSecond > 0) || !(r.ResetMicros > 0) || len(r.ToolMicros) == 0 || !(r.Allocations >= 0) {
			t.Errorf("%s: speed %v, %v, %v, %v", name, r.StepsPerSecond, r.ResetMicros, r.ToolMicros, r.Allocations)
		}
		if r.Shown.Turns == 0 || r.Shown.Words == 0 || r.Shown.Actions == 0 || r.Oracle.MeanTurns == 0 {
			t.Errorf("%s: nothing was seen: %+v", name, r.Shown)
		}
		if d := cmp.Diff([]string{"first", "last"}, slices.Sorted(maps.Keys(r.Order))); d != "" {
			t.Errorf("%s: order (-want +got):\n%s", name, d)
		}
		if (r.Chance > 0) != (r.ChanceLower != nil) {
			t.Errorf("%s: chance %v and its bound %v", name, r.Chance, r.ChanceLower)
		}
	}
	w := first.Walkthroughs
	if w.Skipped == "" && (w.Total != 40 || w.Solved+len(w.Unsolved) != w.Total || w.OnePlace > w.Solved || 10*w.OnePlace < 9*w.Solved) {
		t.Errorf("walkthroughs %+v", w)
	}
}

// All but the speed is the same again.
func TestRepeats(t *testing.T) {
	var got [2]*evidence
	for i := range got {
		var some []worlds.World
		for _, name := range []string{"household_small", "keydoor_small", "umbrella_length_short"} {
			w, err := worlds.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			some = append(some, w)
		}
		var err error
		if got[i], err = run(t.Context(), some, tiny, "", silent); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(got[0], got[1], cmp.AllowUnexported(evidence{}),
		cmpopts.IgnoreFields(worldResult{}, "StepsPerSecond", "Allocations", "ResetMicros", "ToolMicros")); d != "" {
		t.Errorf("(-first +second):\n%s", d)
	}
}

func TestWalkthroughsWithoutData(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		got, err := runWalkthroughs(t.Context(), dir, tiny)
		if err != nil || got.Skipped == "" || got.Total != 0 {
			t.Errorf("%q: %+v, %v", dir, got, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "alfworld")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "expert_walkthroughs.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runWalkthroughs(t.Context(), filepath.Dir(dir), tiny); err == nil {
		t.Error("a broken file was read")
	}
}

// A guess is a world of one turn: the number that the task's id ends in is to be said. It can have faults.
type guess struct {
	id         string
	want, said int
	fault      string
}

func (g *guess) Step(a envharness.Action) sim.Result {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(string(a.Args), `{"n":`), "}"))
	if err != nil {
		return sim.Result{Refusal: sim.Refuse(envharness.ClassBadArgs, "no number")}
	}
	g.said = n
	return sim.Result{Ended: true}
}

func (g *guess) Text() string {
	switch g.fault {
	case "vocabulary":
		return "guess a thing"
	case "words":
		return strings.Repeat("guess ", 41)
	}
	return "guess a number"
}

func (g *guess) Data() map[string]any {
	switch {
	case g.fault == "vocabulary of the task":
		return map[string]any{"task": "win"}
	case g.fault == "sentence" && strings.HasPrefix(g.id, "ood"):
		return map[string]any{"task": "guess"}
	}
	return nil
}

func (g *guess) Actions() []envharness.Action {
	var all []envharness.Action
	for n := range 100 {
		if g.fault != "unlisted" || n != 7 {
			all = append(all, say(n))
		}
	}
	return all
}

func say(n int) envharness.Action {
	return envharness.Action{Name: "say", Args: json.RawMessage(`{"n":` + strconv.Itoa(n) + `}`)}
}

func (g *guess) AppendState(b []byte) []byte {
	id := g.id
	if g.fault == "start" && g.want == 8 {
		id = "eight"
	}
	b = strconv.AppendQuote(append(b, `{"id":`...), id)
	return append(strconv.AppendInt(append(b, `,"said":`...), int64(g.said), 10), '}')
}

func (g *guess) Verdict() envharness.Verdict {
	if g.said == g.want || g.fault == "easy" && g.said >= 0 || g.fault == "even" && g.said%2 == 0 {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}
	}
	return envharness.Verdict{Status: envharness.Fail, Reason: "wrong"}
}

func (g *guess) Plan() ([]envharness.Action, error) {
	switch {
	case g.fault == "no plan":
		return nil, envharness.ErrNoPlan
	case g.fault == "plan" && g.want%5 == 0:
		return []envharness.Action{say(g.want + 1)}, nil
	}
	return []envharness.Action{say(g.want)}, nil
}

// guessing makes the world with a fault.
func guessing(fault string) worlds.World {
	number := func(id string) (int, error) { return strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:]) }
	vocabulary := []string{"a", "guess", "number", "say"}
	for n := range 100 {
		vocabulary = append(vocabulary, strconv.Itoa(n))
	}
	slices.Sort(vocabulary)
	s := &sim.Simulation{
		Description: envharness.Description{
			Name: "guess", MaxTurns: 3, Vocabulary: vocabulary,
			Tools: []envharness.Tool{{Name: "say", Submits: true, Schema: json.RawMessage(
				`{"additionalProperties":false,"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}`)}},
		},
		DefaultTask: "train-1",
		Start: func(id string) (sim.Episode, error) {
			n, err := number(id)
			return &guess{id: id, want: n, said: -1, fault: fault}, err
		},
		Tasks: func(split string) ([]envharness.Task, error) {
			var tasks []envharness.Task
			for n := 1; n < 100; n++ {
				tasks = append(tasks, envharness.Task{ID: split + "-" + strconv.Itoa(n)})
			}
			switch {
			case fault == "empty" && split == "ood":
				return nil, nil
			case fault == "twice" && split == "test":
				tasks[3].ID = "validation-3"
			}
			return tasks, nil
		},
	}
	switch fault {
	case "turns":
		s.Description.MaxTurns = 13
	case "unsorted":
		slices.Reverse(s.Description.Vocabulary)
	case "name":
		s.Description.Name = "other"
	case "even":
		s.Description.Chance = 0.3
	}
	return worlds.World{Name: "guess", Small: true, World: s.World()}
}

// Every fault of a world breaks its claim and no other, is named, and fails the program.
func TestFaults(t *testing.T) {
	effort := effort{tasks: 1000, null: 100, timed: time.Millisecond}
	for _, tt := range []struct {
		fault  string
		breaks func(*claims) *bool // nil: none
		says   string
	}{
		{"", nil, ""},
		{"name", func(c *claims) *bool { return &c.Splits }, "calls itself other"},
		{"empty", func(c *claims) *bool { return &c.Splits }, "ood is empty"},
		{"twice", func(c *claims) *bool { return &c.Splits }, "task validation-3 is in validation and in test"},
		{"start", func(c *claims) *bool { return &c.Starts }, "1 of 99 ood tasks start as one of train does, such as ood-8"},
		{"plan", func(c *claims) *bool { return &c.Oracle }, "train task train-5: fail wrong"},
		{"no plan", func(c *claims) *bool { return &c.Oracle }, "unsolvable"},
		{"unlisted", func(c *claims) *bool { return &c.Listed }, `train task train-7: say {"n":7} is not among the admissible actions`},
		{"easy", func(c *claims) *bool { return &c.Null }, "random passes 100 of 100"},
		{"even", func(c *claims) *bool { return &c.Null }, "the chance rate 0.3"},
		{"turns", func(c *claims) *bool { return &c.Small }, "declared 13"},
		{"words", func(c *claims) *bool { return &c.Small }, "a text of 41 words"},
		{"vocabulary", func(c *claims) *bool { return &c.Vocabulary }, `"thing"`},
		{"vocabulary of the task", func(c *claims) *bool { return &c.Vocabulary }, `"win"`},
		{"unsorted", func(c *claims) *bool { return &c.Vocabulary }, "not sorted"},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			e, err := run(t.Context(), []worlds.World{guessing(tt.fault)}, effort, "", silent)
			if err != nil {
				t.Fatal(err)
			}
			want := allHold()
			if tt.breaks != nil {
				*tt.breaks(&want) = false
			}
			if d := cmp.Diff(want, e.Claims); d != "" {
				t.Errorf("claims (-want +got):\n%s\n%v", d, e.Failures)
			}
			var out bytes.Buffer
			if err := e.write(&out, false); err != nil {
				t.Fatal(err)
			}
			if err := e.failure(); tt.fault == "" != (err == nil) || !strings.Contains(strings.Join(e.Failures, "\n"), tt.says) {
				t.Errorf("%v, failures %q, want %q", err, e.Failures, tt.says)
			}
			if strings.Contains(out.String(), "FAILED") != (tt.fault != "") {
				t.Errorf("the table:\n%s", out.String())
			}
		})
	}
}

// The numbers of a world are those that can be counted by hand.
func TestCounts(t *testing.T) {
	e, err := run(t.Context(), []worlds.World{guessing("")}, effort{tasks: 50, null: 1000, timed: time.Millisecond}, "", silent)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Worlds["guess"]
	if r.Tasks != (counts{99, 99, 99, 99}) || r.Oracle.Passed != 1 || r.Oracle.MeanTurns != 1 || r.Oracle.BySplit["ood"] != (splitResult{50, 50}) {
		t.Errorf("tasks %+v, oracle %+v", r.Tasks, r.Oracle)
	}
	// 297 tasks in three splits: the policies that draw play 1,000 episodes, the others each task once. Saying 0 is never right.
	if d := cmp.Diff(map[string]int{"noop": 297, "random": 1000, "submit": 297, "repeat": 1000}, r.NullEpisodes); d != "" {
		t.Errorf("episodes (-want +got):\n%s", d)
	}
	if r.Null["noop"] != 0 || r.Null["submit"] != 0 || r.Null["random"] == 0 || r.Null["random"] > 0.02 {
		t.Errorf("null %v", r.Null)
	}
	if r.SharedStart != (heldOut{}) || r.SharedText != (heldOut{1, 1, 1}) || r.SharedPlan != (heldOut{1, 1, 1}) {
		t.Errorf("shared: start %v, text %v, plan %v", r.SharedStart, r.SharedText, r.SharedPlan)
	}
	if d := cmp.Diff(map[string]float64{"first": 0, "last": 3. / 297}, r.Order); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	if r.Shown != (sizes{Turns: 1, Words: 3, Actions: 100}) || r.Vocabulary != 104 {
		t.Errorf("shown %+v, %d words", r.Shown, r.Vocabulary)
	}
}

// A world in which starts repeat reports it, and breaks no claim. Of what is shared each part counts alone.
func TestShared(t *testing.T) {
	w := guessing("start")
	w.Repeats = true
	e, err := run(t.Context(), []worlds.World{w}, effort{tasks: 5, null: 10, timed: time.Millisecond}, "", silent)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Worlds["guess"]
	if !e.Claims.Starts || !r.Repeats || r.SharedStart != (heldOut{1. / 99, 1. / 99, 1. / 99}) {
		t.Errorf("claim %v, repeats %v, shared starts %v", e.Claims.Starts, r.Repeats, r.SharedStart)
	}
	// The same plan for another sentence is not the same.
	if e, err = run(t.Context(), []worlds.World{guessing("sentence")}, effort{tasks: 5, null: 10, timed: time.Millisecond}, "", silent); err != nil {
		t.Fatal(err)
	}
	if r = e.Worlds["guess"]; r.SharedPlan != (heldOut{1, 1, 0}) || r.SharedText != (heldOut{1, 1, 1}) {
		t.Errorf("shared plans %v, texts %v", r.SharedPlan, r.SharedText)
	}
	// Half of the training tasks: a sample of the held-out ones finds about half of the plans, and all of the one text.
	half := effort{tasks: 5, null: 10, train: 50, heldOut: 60, timed: time.Millisecond}
	if e, err = run(t.Context(), []worlds.World{guessing("")}, half, "", silent); err != nil {
		t.Fatal(err)
	}
	r = e.Worlds["guess"]
	if p := r.SharedPlan.Test; p < 0.2 || p > 0.9 || math.Abs(60*p-math.Round(60*p)) > 1e-9 || r.SharedText != (heldOut{1, 1, 1}) {
		t.Errorf("shared plans %v, texts %v", r.SharedPlan, r.SharedText)
	}
}

func TestSample(t *testing.T) {
	var tasks []envharness.Task
	for n := range 10 {
		tasks = append(tasks, envharness.Task{ID: strconv.Itoa(n)})
	}
	for _, tt := range []struct {
		n          int
		again      bool
		want, most int // tasks, and how often the same
	}{{4, false, 4, 1}, {4, true, 4, 1}, {10, true, 10, 1}, {25, false, 10, 1}, {25, true, 25, 3}} {
		times := make(map[string]int)
		most := 0
		got := sample(tasks, tt.n, tt.again)
		for _, task := range got {
			times[task.ID]++
			most = max(most, times[task.ID])
		}
		if len(got) != tt.want || most != tt.most {
			t.Errorf("%d of 10, again %v: %d tasks, up to %d times, want %d, %d", tt.n, tt.again, len(got), most, tt.want, tt.most)
		}
	}
	if got := sample(nil, 5, true); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

// The keys of -json are those that are promised.
func TestJSON(t *testing.T) {
	e, err := run(t.Context(), []worlds.World{guessing("even")}, tiny, "", silent)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.write(&out, true); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq("worlds.guess.tasks.train worlds.guess.tasks.val worlds.guess.tasks.test worlds.guess.tasks.ood " +
		"worlds.guess.oracle.passed worlds.guess.oracle.mean_turns worlds.guess.null.noop worlds.guess.null.random worlds.guess.null.submit " +
		"worlds.guess.null.repeat worlds.guess.chance worlds.guess.chance_lower worlds.guess.steps_per_second worlds.guess.small " +
		"worlds.guess.shared_start.val worlds.guess.shared_start.test worlds.guess.shared_start.ood worlds.guess.shared_text.val " +
		"worlds.guess.shared_plan.val worlds.guess.order.first worlds.guess.order.last " +
		"walkthroughs.total walkthroughs.solved walkthroughs.solved_in_one_place walkthroughs.by_cause walkthroughs.skipped " +
		"claims.oracle claims.starts claims.listed quick") {
		var at any = got
		for key := range strings.SplitSeq(path, ".") {
			m, _ := at.(map[string]any)
			at = m[key]
		}
		if at == nil {
			t.Errorf("%s is missing", path)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, worlds.All()[:1], tiny, "", silent); err == nil {
		t.Error("an interrupted run gave a result")
	}
}
