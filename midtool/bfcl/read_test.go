package bfcl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTasks(t *testing.T) {
	in := "\ufeff" + `{"id": "multi_turn_miss_func_3", "question": [[{"role": "user", "content": "Hi"}], []], "initial_config": {"G": {"b": 1, "a": 5.0}},` +
		` "path": ["G.f"], "involved_classes": ["G"], "missed_function": {"1": ["f"]}, "excluded_function": ["g"]}` + "\n\n" +
		`{"id": "live_simple_0-0-0", "question": [[]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict"}}]}`
	var got []Task
	for task, err := range ReadTasks(strings.NewReader(in), "rows") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, task)
	}
	want := []Task{
		{ID: "multi_turn_miss_func_3", Category: "multi_turn_miss_func", Turns: [][]Message{{{"user", "Hi"}}, {}}, InitialConfig: []byte(`{"G":{"b":1,"a":5.0}}`),
			Path: []string{"G.f"}, Classes: []string{"G"}, Missed: map[int][]string{1: {"f"}}, Excluded: []string{"g"}},
		{ID: "live_simple_0-0-0", Category: "live_simple", Turns: [][]Message{{}}, Functions: []Function{{Name: "f", Description: "d", Parameters: []byte(`{"type":"dict"}`)}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A bad row is named by its file, its line and the rule.
func TestReadErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{`:                                      "byte 1",
		`[]`:                                     "want an object, got list",
		`{"question":[]}`:                        "no id",
		`{"id":"x"}`:                             "no category",
		"{\"id\":\"a_0\",\"question\":\"\xff\"}": "invalid UTF-8",
		`{"id":"a_0","question":[1]}`:            "want list, got number",
		`{"id":"a_0","question":[[1]]}`:          "want object, got number",
		`{"id":"a_0","function":[{"name":"f"}]}`: `"f" has no parameters`,
		`{"id":"a_0","function":[{"parameters":{}}]}`: "has no name",
		`{"id":"a_0","function":{}}`:                  `"function": want list, got object`,
		`{"id":"a_0","missed_function":{"-1":[]}}`:    "no number from 0",
		`{"id":"a_0","path":[1]}`:                     `member 0 of "path"`,
		`{"id":"a_0","x":NaN}`:                        "byte 16",
		strings.Repeat(`{"a":`, 1000):                 "nested deeper than 72",
	} {
		n := 0
		for task, err := range ReadTasks(strings.NewReader(`{"id":"a_0"}`+"\n"+in+"\n"+`{"id":"a_1"}`), "rows") {
			if n++; n == 2 && (err == nil || !strings.Contains(err.Error(), "bfcl: rows line 2: ") || !strings.Contains(err.Error(), want)) {
				t.Errorf("%.40s: %+v, %v, want %s", in, task, err, want)
			}
		}
		if n != 2 {
			t.Errorf("%.40s: %d rows", in, n)
		}
	}
	for _, in := range []string{`{"id":"a_0"}`, `{"id":"a_0","ground_truth":[{}]}`, `{"id":"a_0","ground_truth":[{"f":{}},[]]}`, `{"id":"a_0","ground_truth":[[],{"f":{}}]}`,
		`{"id":"a_0","ground_truth":[[1]]}`, `{"id":"a_0","ground_truth":["f()"]}`} {
		for a, err := range ReadAnswers(strings.NewReader(in), "rows") {
			if err == nil {
				t.Errorf("%s: %+v", in, a)
			}
		}
	}
	if err := Join(nil, []Answer{{ID: "a"}, {ID: "a"}}); err == nil {
		t.Error("two answers of one id")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"id": "a_0", "question": [[{"role": "user", "content": "x"}]], "function": [{"name": "f", "parameters": {}}], "ground_truth": [{"f": {"x": [1]}}], "result": []}`)
	f.Add(`{"id": "a_0", "missed_function": {"2": ["f"]}, "ground_truth": [["f(x=1)"], []], "name": "f", "parameters": {}}`)
	f.Fuzz(func(t *testing.T, in string) {
		for task, err := range ReadTasks(strings.NewReader(in), "rows") {
			if err == nil && (task.ID == "" || !strings.HasPrefix(task.ID, task.Category+"_")) {
				t.Fatalf("%+v", task)
			}
		}
		for a, err := range ReadAnswers(strings.NewReader(in), "rows") {
			if err == nil && (a.ID == "" || len(a.Gold) > 0 && len(a.Turns) > 0) {
				t.Fatalf("%+v", a)
			}
		}
		for fn, err := range ReadFunctions(strings.NewReader(in), "rows") {
			if err == nil && (fn.Name == "" || fn.Parameters == nil) {
				t.Fatalf("%+v", fn)
			}
		}
		for o, err := range ReadOutputs(strings.NewReader(in), "rows") {
			if err == nil && o.ID == "" {
				t.Fatalf("%+v", o)
			}
		}
	})
}
