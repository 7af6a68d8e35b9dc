package bfcl

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEvaluate(t *testing.T) {
	var tasks []Task
	for i := range 4 {
		task := beds("simple_python", gold("garden.water", `{"bed": ["ferns"]}`))
		task.ID = fmt.Sprintf("simple_python_%d", i)
		tasks = append(tasks, task)
	}
	tasks = append(tasks, beds("irrelevance"))
	right, wrong := []byte(`[{"garden.water": {"bed": "ferns"}}]`), []byte(`[{"garden.water": {"bed": "moss"}}]`)
	outputs := []Output{{"simple_python_1", wrong}, {"simple_python_0", right}, {"simple_python_1", right}, {"other_0", right}, {"simple_python_2", []byte(`"no"`)},
		{"simple_python_3", nil}, {"irrelevance_0", []byte(`[dig(bed="")]`)}}
	r, err := Evaluate(t.Context(), tasks, outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Score{
		{Category: "simple_python", Rows: 4, Answered: 3, Correct: 1, Accuracy: 0.25, Errors: []Count{{"format", 1}, {"value_error:string", 1}}},
		{Category: "irrelevance", Rows: 1, Answered: 1, Blank: 1, Errors: []Count{{"blank_call", 1}}},
	}
	if diff := cmp.Diff(want, r.Scores); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ids := [][]string{nil, r.Missing, r.Unknown, r.Repeated}
	for _, f := range r.Failures {
		ids[0] = append(ids[0], f.ID)
	}
	if diff := cmp.Diff([][]string{{"simple_python_1", "simple_python_2", "irrelevance_0"}, {"simple_python_3"}, {"other_0"}, {"simple_python_1"}}, ids); diff != "" {
		t.Errorf("failures, missing, unknown, repeated (-want +got):\n%s", diff)
	}
	if _, err := Evaluate(t.Context(), append(tasks, tasks[0]), nil, nil); err == nil {
		t.Error("two tasks of one id")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Evaluate(ctx, tasks, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Parsing an output and checking it; sizes show that time grows with the output alone.
func BenchmarkCheckOutput(b *testing.B) {
	c := checker(b, beds("parallel", gold("garden.water", `{"bed": ["ferns", "fern"], "minutes": [4, ""], "gentle": [true, ""]}`),
		gold("dig", `{"bed": ["the bed at the fence", "fence bed"], "minutes": [15], "gentle": ["", false]}`)))
	for name, output := range map[string]string{
		"json": `[{"dig": {"bed": "The bed at the fence", "minutes": 15, "gentle": false}}, {"garden.water": {"bed": "ferns", "minutes": 4, "gentle": true}}]`,
		"text": `[dig(bed="The bed at the fence", minutes=15, gentle=False), garden.water(bed="ferns", minutes=4, gentle=True)]`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(output)))
			for b.Loop() {
				if v := c.CheckOutput([]byte(output)); !v.Valid {
					b.Fatal(v)
				}
			}
		})
	}
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("elements=%d", n), func(b *testing.B) {
			c := checker(b, one(listOf("integer"), `[[1, 2, 3]]`))
			output := []byte(`[{"f": {"x": [1, 2, 3`)
			for range n {
				output = append(output, ", 4"...)
			}
			output = append(output, "]}}]"...)
			b.ReportAllocs()
			b.SetBytes(int64(len(output)))
			for b.Loop() {
				c.CheckOutput(output)
			}
		})
	}
}
