package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func readMetrics(r io.Reader) (its []Iteration, err error) {
	for it, err := range ReadMetrics(r) {
		if err != nil {
			return its, err
		}
		its = append(its, it)
	}
	return its, nil
}

// What Options.Metrics is given is read as what Run yields, but for trajectories and traces.
func TestMetricsRoundTrip(t *testing.T) {
	for _, name := range []string{"sapo", "ppo", "grpo"} {
		p, o := tiny(t, name)
		var lines bytes.Buffer
		now := time.Unix(0, 0)
		o.Metrics, o.MaxEnvSteps, o.Clock = &lines, 50, func() time.Time { now = now.Add(time.Millisecond); return now }
		want := run(t, newTrainer(t, p, o), 0)
		got, err := readMetrics(iotest.OneByteReader(strings.NewReader("\n" + lines.String() + " \n")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Iteration{}, "Trajectories", "Traces"),
			cmpopts.IgnoreFields(Evaluation{}, "Traces")); diff != "" {
			t.Errorf("%s (-yielded +read):\n%s", name, diff)
		}
	}
}

func TestReadMetricsErrors(t *testing.T) {
	const good = `{"iteration":1}` + "\n"
	for _, tt := range []struct {
		name, data string
		n          int    // iterations before the end
		want       string // part of the error, "" for none
		reason     string
	}{
		{"nothing", "", 0, "", "no line"},
		{"no last line break", good + `{"iteration":2}`, 2, "", "still a line"},
		{"cut", good + `{"iteration":`, 1, "line 2", "a run that was killed"},
		{"unknown field", good + good + `{"iterations":1}`, 2, "line 3", "of a later library"},
		{"two objects", `{} {}`, 0, "line 1", "one a line"},
		{"no object", "\n7\n", 0, "line 2", "empty lines count"},
		{"too long", good + `{"done":"` + strings.Repeat("x", maxMetricsLine) + `"}`, 1, "line 2", "at most 1 MiB"},
		{"fraction", `{"iteration":1.5}`, 0, "line 1", "counts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			got, err := readMetrics(strings.NewReader(tt.data))
			if len(got) != tt.n || (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d iterations, error %v", len(got), err)
			}
		})
	}
	if _, err := readMetrics(iotest.ErrReader(errDown)); !errors.Is(err, errDown) {
		t.Errorf("reader that fails: %v", err)
	}
	for range ReadMetrics(strings.NewReader(good + good)) {
		break // leaving early is fine
	}
}

// What ReadMetrics takes comes back from what it is written as.
func FuzzReadMetrics(f *testing.F) {
	p, o := tiny(f, "ppo")
	var lines bytes.Buffer
	o.Metrics = &lines
	run(f, newTrainer(f, p, o), 3)
	f.Add(lines.Bytes())
	f.Add([]byte("\n{}\n{\"iteration\":1e3}\n"))
	f.Add([]byte(`{"credit":{"NoVote":{"":1},"ExplainedV":null},"evaluation":{},"seconds":{"update":1e-300}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		its, err := readMetrics(bytes.NewReader(data))
		if err != nil && (!strings.HasPrefix(err.Error(), "train: metrics, line ") || len(err.Error()) > 10_000+len(data)) {
			t.Fatalf("error %.1000v", err)
		}
		var out bytes.Buffer
		for _, it := range its {
			if err := writeLine(&out, it); err != nil {
				t.Fatal(err)
			}
		}
		again, err := readMetrics(&out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(its, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("written and read again (-want +got):\n%s", diff)
		}
	})
}

// failingWriter takes some lines and no more.
type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errDown
	}
	return len(b), nil
}

// Metrics that cannot be written end the run, without a trace of the iteration, and it can go on when they can.
func TestMetricsFail(t *testing.T) {
	p, o := tiny(t, "ppo")
	w := &failingWriter{2}
	o.Metrics, o.Iterations, o.Dir, o.CheckpointEvery = w, 3, t.TempDir(), 1
	tr := newTrainer(t, p, o)
	run(t, tr, 2)
	before := bytesOf(t, tr)
	for range 2 {
		if err := failsWith(t, tr.Run(t.Context())); !errors.Is(err, errDown) {
			t.Errorf("error %v", err)
		}
		same(t, "state", before, bytesOf(t, tr))
	}
	if n, err := tr.LoadLatest(); n != 1 || err != nil {
		t.Errorf("a checkpoint of iteration %d, %v", n, err)
	}
	w.left = 9
	run(t, tr, 0)
	p, o = tiny(t, "ppo")
	o.Iterations = 3
	whole := newTrainer(t, p, o)
	run(t, whole, 0)
	same(t, "in the end", bytesOf(t, whole), bytesOf(t, tr))
}

// A line names its fields in one way.
func TestMetricsNames(t *testing.T) {
	line, err := json.Marshal(Iteration{Number: 3, Algorithm: "sapo", EnvSteps: 120, Done: "iterations"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"iteration":3,"algorithm":"sapo","env_steps":120,"success":0,"score":0,"invalid":0,"policy_loss":0,"value_loss":0,"q_loss":0,"kl":0,` +
		`"beta":0,"entropy":0,"approx_kl":0,"mean_kl":0,"ess":0,"clip_fraction":0,"zero_gradient":0,"saturated_v":0,"saturated_q":0,` +
		`"clipped_v":0,"clipped_q":0,"grad_norm":0,"rate":0,"steps":0,"done":"iterations"}`
	if diff := cmp.Diff(want, string(line)); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}
