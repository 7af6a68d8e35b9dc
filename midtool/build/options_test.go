package build

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/quality"
)

// Everything that is wrong is told at once, before anything is written.
func TestOptions(t *testing.T) {
	empty := list{}
	for _, tt := range []struct {
		name   string
		change func(*Options)
		want   []string
	}{
		{"nothing", func(o *Options) { *o = Options{} }, []string{"Dir is empty", "Documents and Tools are empty", "Outputs is empty"}},
		{"ranges", func(o *Options) { o.World, o.Rank, o.Workers, o.Shards, o.ShardRecords = -1, 3, -1, 10_001, -2 },
			[]string{"World -1", "Rank 3 is outside [0, 0]", "Workers -1", "Shards 10001", "ShardRecords -2"}},
		{"rank", func(o *Options) { o.World, o.Rank = 3, 3 }, []string{"Rank 3 is outside [0, 2]"}},
		{"inputs", func(o *Options) {
			o.Documents = []Input{{"a/b", empty}, {"native", empty}, {"x", nil}, {"x", empty}, {"..", empty}}
		},
			[]string{`"a/b"`, `Name "native", want`, `Source of "x" is nil`, `"x" is given twice`, `".."`}},
		{"outputs", func(o *Options) {
			o.Outputs = []Output{{"work", "", sink("plain")}, {"a", "/x", sink("plain")}, {"a", "", sink("plain")}, {"b", "", nil}}
		}, []string{`Name "work"`, `Ext "/x"`, `"a" is given twice`, `New of "b"`}},
		{"functions", func(o *Options) {
			o.Classifier = func(*document.Document) float64 { return 1 }
			o.Tokens = func(string) int { return 1 }
			o.Native.Teacher = func(context.Context, string) (string, error) { return "", nil }
			o.Native.Executor = midtool.ExecutorFunc(nil)
		}, []string{`no "classifier"`, `no "tokens"`, `no "teacher"`, `no "executor"`}},
		{"score", func(o *Options) { o.MinScore = new(1.5) }, []string{"MinScore 1.5"}},
		{"rules", func(o *Options) {
			o.Rules = map[document.Kind][]quality.Rule{"song": nil, document.Web: {{Measure: "verve"}}}
		}, []string{`"song"`, "verve"}},
		{"shares", func(o *Options) { o.Mix.Shares = map[string]int{"md": 1, "code": 1} }, []string{`"md" is no source`}},
		{"dedup", func(o *Options) { o.Dedup.Bands = -1 }, []string{"Bands"}},
		{"decontaminate", func(o *Options) { o.Decontaminate.N = -1 }, []string{"N"}},
		{"benchmarks", func(o *Options) { o.Benchmarks = []decontaminate.Benchmark{{}} }, []string{"name"}},
	} {
		o := world(t)
		tt.change(o)
		r, err := Run(context.Background(), o)
		if r != nil || err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not name %s", tt.name, err, want)
			}
		}
		if _, err := os.Stat(o.Dir); o.Dir != "" && err == nil {
			t.Errorf("%s: a folder was made", tt.name)
		}
	}
	if _, err := Run(context.Background(), nil); err == nil {
		t.Error("nil: no error")
	}
}

// Options that are refused by the stages are refused before the work on the inputs.
func TestLateOptions(t *testing.T) {
	for _, change := range []func(*Options){
		func(o *Options) { o.Native.MaxTokens = 5 },
		func(o *Options) { o.Mix.Budget = -1 },
		func(o *Options) { o.Outputs[0].New = sink("songs") },
		func(o *Options) { o.Grounded.Attempts = -1 },
	} {
		o := world(t)
		o.Outputs = append([]Output(nil), o.Outputs...)
		change(o)
		read := 0
		o.Progress = func(string, int, int) { read++ }
		if _, err := Run(context.Background(), o); err == nil || read > 0 {
			t.Errorf("%v after %d steps", err, read)
		}
	}
}
