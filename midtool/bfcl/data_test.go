package bfcl

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/internal/jsonl"
)

// data opens a file of the public test data, and skips the test where there is none.
func data(t testing.TB, name ...string) *os.File {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set")
	}
	f, err := os.Open(filepath.Join(append([]string{dir}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// category reads the tasks of a category with their gold.
func category(t testing.TB, name string) []Task {
	t.Helper()
	var tasks []Task
	var answers []Answer
	file := "BFCL_v4_" + name + ".json"
	for task, err := range ReadTasks(data(t, "bfcl", file), file) {
		if err != nil {
			t.Fatal(err)
		}
		if task.Category != name {
			t.Fatalf("%s: category %q, want %q", task.ID, task.Category, name)
		}
		tasks = append(tasks, task)
	}
	gold := filepath.Join("bfcl", "possible_answer", file)
	if _, err := os.Stat(filepath.Join(os.Getenv("THROUGHLINE_DATA"), gold)); errors.Is(err, fs.ErrNotExist) {
		return tasks
	}
	for a, err := range ReadAnswers(data(t, gold), file) {
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if err := Join(tasks, answers); err != nil {
		t.Fatal(err)
	}
	return tasks
}

func checker(t testing.TB, task Task) *Checker {
	t.Helper()
	c, err := NewChecker(task, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The verdicts of the reference on 18,061 changed answers: every kind of fault agrees.
func TestGoldenVerdicts(t *testing.T) {
	type row struct {
		Category, ID, Mutation string
		Output                 json.RawMessage
		Valid                  bool
		ErrorType              string `json:"error_type"`
	}
	checkers := map[string]*Checker{}
	for _, name := range []string{"simple_python", "multiple", "parallel", "parallel_multiple", "live_simple", "live_multiple", "live_parallel",
		"live_parallel_multiple"} {
		for _, task := range category(t, name) {
			checkers[task.ID] = checker(t, task)
		}
	}
	rows, valid, wrong := 0, 0, 0
	for line, err := range jsonl.Lines(data(t, "bfcl_golden", "golden.jsonl"), 1<<20) {
		if err != nil {
			t.Fatal(err)
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		rows++
		v := checkers[r.ID].CheckOutput(r.Output)
		if v.Valid {
			valid++
		}
		if v.Valid != r.Valid || v.Error != r.ErrorType {
			if wrong++; wrong <= 10 {
				t.Errorf("%s, %s: %+v, want %v %q\n%s", r.ID, r.Mutation, v, r.Valid, r.ErrorType, r.Output)
			}
		}
	}
	if rows != 18061 || valid != 6207 || wrong > 0 {
		t.Errorf("%d rows, %d valid, %d wrong; want 18061, 6207, 0", rows, valid, wrong)
	}
}

// Gold fed back as output: the rows in which gold and schema disagree.
func TestGoldPasses(t *testing.T) {
	for _, tt := range []struct {
		category    string
		rows        int
		full, short []string // failing ids without the category
	}{
		{"simple_python", 400, nil, []string{"17", "200"}},
		{"multiple", 200, nil, nil},
		{"parallel", 200, nil, []string{"88"}},
		{"parallel_multiple", 200, []string{"12", "26"}, []string{"87", "119"}},
		{"live_simple", 258, []string{"106-63-0", "112-68-0"}, []string{"106-63-0", "112-68-0"}},
		{"live_multiple", 1053, []string{"507-149-4", "862-181-3", "964-207-0"}, []string{"68-29-0", "69-30-0", "77-35-1", "114-44-1",
			"144-56-0", "507-149-4", "834-178-9", "862-181-3", "905-186-2", "906-186-3", "964-207-0"}},
		{"live_parallel", 16, nil, nil},
		{"live_parallel_multiple", 24, nil, nil},
	} {
		tasks := category(t, tt.category)
		if len(tasks) != tt.rows {
			t.Errorf("%s: %d rows, want %d", tt.category, len(tasks), tt.rows)
		}
		for short, want := range map[bool][]string{false: tt.full, true: tt.short} {
			var failing []string
			for _, task := range tasks {
				calls, err := task.GoldCalls(short)
				if err != nil {
					t.Fatal(err)
				}
				v := checker(t, task).Check(calls)
				if v.Valid {
					continue
				}
				failing = append(failing, strings.TrimPrefix(task.ID, tt.category+"_"))
				want := "simple_function_checker:missing_required"
				switch {
				case strings.Contains(tt.category, "parallel"):
					want = "parallel_function_checker_no_order:cannot_find_match"
				case task.ID == "live_multiple_862-181-3":
					want = "simple_function_checker:unexpected_param"
				}
				if v.Error != want {
					t.Errorf("%s: %+v, want %s", task.ID, v, want)
				}
			}
			if diff := cmp.Diff(want, failing); diff != "" {
				t.Errorf("%s, short %v (-want +got):\n%s", tt.category, short, diff)
			}
		}
	}
}

// Gold in the source text of a language: rows whose accepted values are no lists and no objects.
func TestGoldPassesAsSource(t *testing.T) {
	for name, want := range map[string][3]int{"simple_java": {100, 82, 82}, "simple_javascript": {50, 33, 33}} {
		tasks := category(t, name)
		scalar, pass := 0, 0
		for _, task := range tasks {
			calls, err := task.GoldCalls(false)
			if err != nil {
				continue
			}
			scalar++
			if v := checker(t, task).Check(calls); v.Valid {
				pass++
			} else {
				t.Errorf("%s: %+v", task.ID, v)
			}
		}
		if got := [3]int{len(tasks), scalar, pass}; got != want {
			t.Errorf("%s: %v rows, of scalars, passing; want %v", name, got, want)
		}
	}
}

// All files are read, and the call text of each multi-turn row.
func TestMultiTurnFiles(t *testing.T) {
	empty := map[string]int{}
	for _, name := range []string{"multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"} {
		tasks := category(t, name)
		if len(tasks) != 200 || tasks[0].InitialConfig == nil || len(tasks[0].Classes) == 0 {
			t.Errorf("%s: %d rows", name, len(tasks))
		}
		turns := map[string]int{}
		for _, task := range tasks {
			turns[task.ID] = len(task.Turns)
			if (len(task.Missed) > 0) != (name == "multi_turn_miss_func") {
				t.Errorf("%s: missed functions %v", task.ID, task.Missed)
			}
		}
		rows := 0
		file := "BFCL_v4_" + name + ".json"
		for a, err := range ReadAnswers(data(t, "bfcl", "possible_answer", file), file) {
			if err != nil {
				t.Fatal(err)
			}
			rows++
			if len(a.Turns) != turns[a.ID] {
				t.Errorf("%s: %d turns of gold, %d of questions", a.ID, len(a.Turns), turns[a.ID])
			}
			for _, turn := range a.Turns {
				if len(turn) == 0 {
					empty[name]++
				}
				for _, text := range turn {
					if calls, err := ParseCalls(text); err != nil || len(calls) != 1 {
						t.Errorf("%s: %q: %v", a.ID, text, err)
					}
				}
			}
		}
		if rows != 200 {
			t.Errorf("%s: %d answers", name, rows)
		}
	}
	if empty["multi_turn_miss_func"] != 203 || empty["multi_turn_miss_param"] != 203 {
		t.Errorf("empty turns: %v", empty)
	}
	docs, err := filepath.Glob(filepath.Join(os.Getenv("THROUGHLINE_DATA"), "bfcl", "multi_turn_func_doc", "*.json"))
	if err != nil || len(docs) != 12 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	for _, doc := range docs {
		n := 0
		for f, err := range ReadFunctions(data(t, "bfcl", "multi_turn_func_doc", filepath.Base(doc)), filepath.Base(doc)) {
			if err != nil || f.Response == nil && !strings.Contains(doc, "memory") && !strings.Contains(doc, "web_search") {
				t.Errorf("%s: %+v, %v", doc, f, err)
			}
			n++
		}
		if n == 0 {
			t.Errorf("%s is empty", doc)
		}
	}
}

// Where no call is wanted the rules are about calls alone.
func TestIrrelevanceFiles(t *testing.T) {
	for name, rows := range map[string]int{"irrelevance": 240, "live_irrelevance": 884, "live_relevance": 16} {
		tasks := category(t, name)
		if len(tasks) != rows {
			t.Errorf("%s: %d rows, want %d", name, len(tasks), rows)
		}
		for _, task := range tasks {
			c := checker(t, task)
			silent, calling := c.CheckOutput([]byte(`"I would need to know more."`)), c.CheckOutput([]byte(`[{"f": {"x": 1}}]`))
			if silent.Valid != (name != "live_relevance") || calling.Valid != (name == "live_relevance") {
				t.Errorf("%s: %+v, %+v", task.ID, silent, calling)
			}
		}
	}
}

// Every gold answer stays invalid after a change that no rule forgives.
func TestChangedGold(t *testing.T) {
	tasks := slices.Concat(category(t, "simple_python"), category(t, "multiple"), category(t, "live_parallel_multiple"))
	for _, task := range tasks {
		c := checker(t, task)
		calls, err := task.GoldCalls(false)
		if err != nil {
			t.Fatal(err)
		}
		changed := func(what string, calls []Call) {
			if v := c.Check(calls); v.Valid {
				t.Errorf("%s: valid after %s", task.ID, what)
			}
		}
		changed("all calls are gone", nil)
		changed("a call is repeated", append(slices.Clone(calls), calls[0]))
		renamed := slices.Clone(calls)
		renamed[0].Name += "_"
		changed("a function is renamed", renamed)
		extra := slices.Clone(calls)
		extra[0].Arguments = slices.Concat([]byte(`{"no such parameter": 1, `), extra[0].Arguments[1:])
		extra[0].Arguments = []byte(strings.Replace(string(extra[0].Arguments), ", }", "}", 1))
		changed("an argument is added", extra)
	}
}
