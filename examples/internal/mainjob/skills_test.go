package mainjob

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/skill"
)

// An episode is cut where it first writes, and only there; the skills of the second part are described by the request, without whose it is.
func TestInduceFromSubtasks(t *testing.T) {
	j := newJob(t, 1)
	j.demos, j.Progress = 12, func(string, int, int) {}
	if err := j.readInput(context.Background()); err != nil {
		t.Fatal(err)
	}
	train, _, _, _, err := j.splits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range train[:j.demos] {
		episode, err := j.record(context.Background(), task)
		if err != nil {
			t.Fatal(err)
		}
		first := slices.IndexFunc(episode.Steps, func(s skill.Step) bool { return !j.readOnly[s.Name] })
		for i, s := range episode.Steps {
			if (s.Marker != "") != (i == first) {
				t.Errorf("%s: step %d, %s, has the marker %q; the first that writes is %d", task.ID, i, s.Name, s.Marker, first)
			}
		}
	}
	if err := j.induce(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := j.result.Report.Skills
	if r.Parts != 2*j.demos || r.Count != len(j.result.Skills) || r.Count >= r.Parts || r.Count < 5 {
		t.Errorf("%+v of %d episodes with two subtasks each", r, j.demos)
	}
	origins := 0
	for _, d := range j.result.Skills {
		rec, err := d.ParseRecord()
		if err != nil || rec.Level != skill.LevelSubtask || strings.ContainsAny(d.Description(), "0123456789@") {
			t.Errorf("%s: %q, %+v, %v", d.Name(), d.Description(), rec, err)
		}
		origins += len(rec.Origins)
	}
	if origins != r.Parts {
		t.Errorf("%d origins of %d subtasks: merging must lose none", origins, r.Parts)
	}
	for _, v := range []float64{r.MedianUtility, r.Placebo, r.Gated, r.MemoryLevel} {
		if v < 0 || v > 1 {
			t.Errorf("scores %+v", r)
		}
	}
}

func TestOnlyFrom(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tasks  []string
		want   bool
		reason string
	}{
		{"one", []string{"a"}, true, "it would help with the task that it was made of"},
		{"twice", []string{"a", "a"}, true, "both times from that task"},
		{"others too", []string{"a", "b"}, false, "another task taught it as well"},
		{"other", []string{"b"}, false, "it was made elsewhere"},
		{"none", nil, false, "nobody knows"},
	} {
		d := new(skill.Document)
		var r skill.Record
		for _, task := range tt.tasks {
			r.Origins = append(r.Origins, skill.Origin{Task: task, End: 1, Level: skill.LevelSubtask})
		}
		if err := d.SetRecord(r); err != nil {
			t.Fatal(err)
		}
		if got := onlyFrom(d, "a"); got != tt.want {
			t.Errorf("%s: %v, want %v: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}
