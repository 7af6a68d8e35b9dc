package rigger_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/rigger"
)

func TestWritePairs(t *testing.T) {
	call := func(name, args string) *envharness.Action {
		return &envharness.Action{Name: name, Args: json.RawMessage(args)}
	}
	shows := func(text string) envharness.Transition {
		return envharness.Transition{Observation: envharness.Observation{Text: text}}
	}
	refused := func(text, message string) envharness.Transition {
		r := shows(text)
		r.Error = &envharness.ActionError{Message: message}
		return r
	}
	deep := strings.Repeat(`{"a":`, 95) + "1" + strings.Repeat("}", 95)
	for _, tt := range []struct {
		trace  envharness.Trace
		want   string
		reason string
	}{
		{envharness.Trace{
			Task: envharness.Task{ID: "t", Family: "f"}, Seed: 3, Shown: envharness.Observation{Text: "a room", Data: map[string]any{"task": "Leave <it>."}},
			Turns: []envharness.TurnTrace{
				{Said: "Out.", Proposed: call("go", `{"to":12345678901234567890}`), Shown: shows("a hall")},
				{Proposed: call("wait", ""), Shown: shows("")},
			}, Verdict: envharness.Verdict{Status: envharness.Pass, Score: 1},
		}, `{"id":"t/3/pass","task_id":"t","task":"Leave <it>.","group":"f","reward":1,"steps":[` +
			`{"thought":"Out.","name":"go","args":{"to":12345678901234567890},"observation":"a hall"},{"name":"wait","args":{}}]}`,
			"the task in words, every digit of an argument, no arguments"},
		{envharness.Trace{Task: envharness.Task{ID: "t"}, Shown: envharness.Observation{Text: "a room"},
			Turns: []envharness.TurnTrace{
				{Proposed: call("go", `{}`), Shown: refused("", "no way")},
				{Proposed: call("go", `{}`), Shown: refused("still here", "no way")},
			}, Verdict: envharness.Verdict{Status: envharness.Fail, Score: .25},
		}, `{"id":"t/0/fail","task_id":"t","task":"a room","reward":0.25,"steps":[{"name":"go","args":{},"observation":"no way","err":true},` +
			`{"name":"go","args":{},"observation":"still here","err":true}]}`, "refusals"},
		{envharness.Trace{Task: envharness.Task{ID: "t"}, Turns: []envharness.TurnTrace{
			{Said: "gibberish", Shown: refused("", "no action")},
			{Proposed: call("go", `[1]`), Shown: shows("x")},
			{Said: "So:", Proposed: call("go", deep), Shown: shows("y")},
			{Proposed: call(" ", `{}`), Shown: shows("z")},
			{Proposed: call("go", `{"a":"`+strings.Repeat("{}}[", 50)+`\""}`), Shown: shows("w")},
			{Proposed: call("go", `null`), Shown: shows("v")},
			{Proposed: call("go", `{}]`), Shown: shows("u")},
			{Proposed: call("go", `{"a":"\"`+strings.Repeat("[", 95)+`"}`), Shown: shows("t")},
		}, Verdict: envharness.Verdict{Status: envharness.Fail},
		}, `{"id":"t/0/fail","task_id":"t","task":"","reward":0,"steps":[{"thought":"gibberish","observation":"no action","err":true},` +
			`{"thought":"go [1]","observation":"x"},{"thought":"So:\ngo ` + strings.ReplaceAll(deep, `"`, `\"`) + `","observation":"y"},` +
			`{"thought":"{}","observation":"z"},{"name":"go","args":{"a":"` + strings.Repeat("{}}[", 50) + `\""},"observation":"w"},` +
			`{"thought":"go null","observation":"v"},{"thought":"go {}]","observation":"u"},` +
			`{"name":"go","args":{"a":"\"` + strings.Repeat("[", 95) + `"},"observation":"t"}]}`, "what is no call becomes a thought; brackets in texts are no nesting"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		task := rigger.TaskReport{Pair: rigger.Pair{Failure: &tt.trace}}
		if tt.trace.Verdict.Status == envharness.Pass {
			task.Pair = rigger.Pair{Success: &tt.trace}
		}
		var out bytes.Buffer
		if err := rigger.WritePairs(&out, []rigger.TaskReport{task, {}}); err != nil || out.String() != tt.want+"\n" {
			t.Errorf("%v\n got %s\nwant %s\n(%s)", err, &out, tt.want, tt.reason)
		}
	}
	huge := rigger.TaskReport{Task: envharness.Task{ID: "huge"}, Pair: rigger.Pair{Success: &envharness.Trace{
		Shown: envharness.Observation{Text: strings.Repeat("x", 64<<20)},
	}}}
	if !testing.Short() {
		if err := rigger.WritePairs(&bytes.Buffer{}, []rigger.TaskReport{huge}); err == nil || !strings.Contains(err.Error(), `task "huge"`) {
			t.Errorf("a line that is too long: %v", err)
		}
	}
	small := rigger.TaskReport{Pair: rigger.Pair{Success: &envharness.Trace{}}}
	if err := rigger.WritePairs(full{}, []rigger.TaskReport{small}); !errors.Is(err, errFull) {
		t.Errorf("a writer that fails: %v", err)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// The pair of a task is the shortest success and the longest failure behind one stack: the baseline, or the first attempt whose screening has
// both. Nothing of a confirmation is in it.
func TestPairs(t *testing.T) {
	none := "0000000000000"
	for _, tt := range []struct {
		outcomes string
		want     string // kinds and slots of success and failure
		reason   string
	}{
		{"11111" + "10101" + none, "1/screen 0, 1/screen 1", "the first screening has both"},
		{"11110" + "00000" + "10101" + none, "baseline 0, baseline 4", "the baseline has both"},
		{"11111" + "00000" + "10101" + none, "2/screen 0, 2/screen 1", "the second screening has both"},
		{"11111" + "00000" + "00000", "baseline 0, none", "no stack has both"},
	} {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		p := problem(t, 0)
		p.NewPolicy = scripted(t, tt.outcomes)
		o := quick(proposes(budget(7), budget(8)))
		o.Attempts = 2
		at := func(trace *envharness.Trace) string {
			if trace == nil {
				return "none"
			}
			return fmt.Sprint(trace.Kind, " ", trace.Slot)
		}
		pair := rig(t, p, o).Tasks[0].Pair
		if got := at(pair.Success) + ", " + at(pair.Failure); got != tt.want {
			t.Errorf("%s, want %s (%s)", got, tt.want, tt.reason)
		}
	}
}

// Tasks of equal id that differ by their seeds have lines with other ids.
func TestPairIDs(t *testing.T) {
	p := problem(t, 7)
	p.Tasks = []envharness.Task{{ID: hand.ID, Seed: new(uint64(1))}, {ID: hand.ID, Seed: new(uint64(2))}}
	var out bytes.Buffer
	if err := rigger.WritePairs(&out, rig(t, p, quick(proposes(budget(7)))).Tasks); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		var e struct{ ID string }
		if err := json.Unmarshal([]byte(line), &e); err != nil || seen[e.ID] {
			t.Errorf("%q a second time: %v", e.ID, err)
		}
		seen[e.ID] = true
	}
	if len(lines) < 2 {
		t.Errorf("%d lines", len(lines))
	}
}
