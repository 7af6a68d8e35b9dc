package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

// tiny is a run of a second.
var tiny = strings.Fields("-world umbrella_length_short -algo ppo -model gru -dim 8 -demos 4 -warm-epochs 2 -iterations 7 -tasks 2 -rollouts 2 " +
	"-batch 16 -eval-every 2 -eval-tasks 3 -rate 0.03 -seed 6 -workers 2")

// with returns args with more of them; the last value of a flag counts.
func with(args []string, more ...string) []string { return append(slices.Clone(args), more...) }

// files returns the content of all files below a folder by their paths.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compare reports files that are not the same.
func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name := range want {
		if want[name] != got[name] {
			t.Errorf("%s is another file", name)
			if name == metricsName || name == runName || name == resultName {
				t.Log(cmp.Diff(want[name], got[name]))
			}
		}
	}
}

// must runs the command, which is to end with a code.
func must(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	if got := run(t.Context(), args, &out, &log, false); got != code {
		t.Fatalf("exit code %d of %q, want %d: %s", got, args, code, log.String())
	}
	return out.String(), log.String()
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	foreign, pictures := filepath.Join(dir, "foreign"), filepath.Join(dir, "pictures")
	other, future := filepath.Join(dir, "other"), filepath.Join(dir, "future")
	put(t, filepath.Join(foreign, "notes.txt"), "mine")
	put(t, filepath.Join(pictures, "run.json"), `{"command":"examples/train","version":1,"settings":{"algo":"grpo","dim":"16"}}`)
	put(t, filepath.Join(pictures, "checkpoints", "holiday.jpg"), "mine")
	put(t, filepath.Join(other, "run.json"), `{"command":"jog","version":1}`)
	put(t, filepath.Join(future, "run.json"), `{"command":"examples/train","version":2}`)
	file := filepath.Join(foreign, "notes.txt")
	tests := []struct {
		name   string
		args   []string
		want   string // in what is printed to standard error
		reason string
	}{
		{"unknown flag", []string{"-nope"}, "-nope", "a flag that does not exist is named"},
		{"argument", []string{"extra"}, "extra", "there are no arguments"},
		{"no number", []string{"-dim", "wide"}, "wide", "a width is a number"},
		{"no width", []string{"-dim", "0"}, "-dim is 0", "a vector has an entry"},
		{"negative tasks", []string{"-tasks", "-1"}, "-tasks is -1", "a number of tasks is not negative"},
		{"no workers", []string{"-workers", "0"}, "-workers is 0", "someone has to do the work"},
		{"no context", []string{"-maxlen", "19"}, "MaxLen >= MaxResponse + 4", "the model has to be shown something"},
		{"no action", []string{"-maxresponse", "1"}, "MaxResponse is 1", "the end of an action takes a token alone"},
		{"no length", []string{"-maxlen", "0"}, "-maxlen is 0", "it stands for no default here"},
		{"rate zero", []string{"-rate", "0"}, "-rate is 0", "nothing would be learnt"},
		{"rate NaN", []string{"-warm-rate", "NaN"}, "-warm-rate is NaN", "no number at all"},
		{"rate infinite", []string{"-rate", "+Inf"}, "-rate is +Inf", "no finite number"},
		{"negative seed", []string{"-seed", "-3"}, "-3", "seeds are unsigned"},
		{"no end", []string{"-iterations", "0"}, "never end", "something has to end training"},
		{"no end, never evaluated", []string{"-iterations", "0", "-patience", "2", "-eval-every", "0"}, "never end", "patience needs evaluations"},
		{"unknown world", []string{"-world", "moon"}, `"moon", want one of household,`, "the worlds are listed"},
		{"unknown algorithm", []string{"-algo", "luck"}, `"luck", want one of sapo,`, "the algorithms are listed"},
		{"unknown model", []string{"-model", "oracle"}, `"oracle"`, "the model is named"},
		{"heads", []string{"-model", "transformer", "-dim", "8", "-heads", "3"}, "3", "the width is shared among the heads"},
		{"out holds other files", []string{"-out", foreign}, foreign, "files of the user are never mixed with a run"},
		{"out holds another command's run", []string{"-out", other}, other, "run.json alone proves nothing"},
		{"out holds a picture among checkpoints", []string{"-out", pictures}, pictures, "the folder would be replaced"},
		{"out is a file", []string{"-out", file}, file, "a run needs a folder"},
		{"out below a file", []string{"-out", filepath.Join(file, "x", "y")}, file, "the folder could not be made"},
		{"resume without out", []string{"-resume"}, "-out", "what is to be resumed?"},
		{"resume nothing", []string{"-resume", "-out", filepath.Join(dir, "absent")}, "no run to resume", "a wrong name must not begin a run"},
		{"resume other files", []string{"-resume", "-out", foreign}, "no run to resume", "it holds no run"},
		{"resume another command's run", []string{"-resume", "-out", other}, "another command", "it holds no run of this command"},
		{"resume a later version", []string{"-resume", "-out", future}, "version 2, want 1", "settings may mean something else there"},
		{"resume other settings", []string{"-resume", "-out", pictures, "-algo", "sapo", "-dim", "64"},
			"one with -algo grpo -dim 16, not -algo sapo -dim 64", "all that differs is named"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			before := files(t, dir)
			out := filepath.Join(t.TempDir(), "out")
			args := tt.args
			if !slices.Contains(args, "-resume") { // short, where the fault is not found
				args = with(with(tiny, "-out", out), args...)
			}
			stdout, stderr := must(t, 2, args...)
			if !strings.Contains(stderr, tt.want) {
				t.Errorf("printed %q, want it to name %q: %s", stderr, tt.want, tt.reason)
			}
			if stdout != "" {
				t.Errorf("printed %q on standard output", stdout)
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s was made", out)
			}
			compare(t, before, files(t, dir))
		})
	}
}

func TestList(t *testing.T) {
	stdout, _ := must(t, 0, "-list")
	for _, a := range train.Algorithms() {
		if !strings.Contains(stdout, "\n  "+a.Name+" ") || !strings.Contains(stdout, a.About) {
			t.Errorf("%s is not listed", a.Name)
		}
	}
	for _, world := range []string{"keydoor_small", "household", "deep_sea_short"} {
		if !strings.Contains(stdout, "\n  "+world+" ") {
			t.Errorf("%s is not listed", world)
		}
	}
	if _, stderr := must(t, 0, "-h"); !strings.Contains(stderr, "-warm-rate") {
		t.Errorf("help is %q", stderr)
	}
}

// What a run prints and writes.
func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	stdout, stderr := must(t, 0, with(tiny, "-out", out, "-json")...)
	var r result
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if dec.More() {
		t.Error("more than one value was printed")
	}
	if r.World != "umbrella_length_short" || r.Algorithm != "ppo" || r.Model != "gru" || r.Iterations != 7 ||
		r.Done != "iterations" || r.Params == 0 || r.Seconds <= 0 {
		t.Errorf("result %+v", r)
	}
	if r.EnvSteps < 7*4 || r.EnvSteps > 7*4*12 {
		t.Errorf("%d steps in 28 episodes of up to 12", r.EnvSteps)
	}
	var at []int
	for _, p := range r.Curve {
		at = append(at, p.Iteration)
		if (p.Train != nil) != (p.Iteration > 0) || p.Validation == nil {
			t.Errorf("point %+v", p)
		}
	}
	if diff := cmp.Diff([]int{0, 2, 4, 6, 7}, at); diff != "" {
		t.Errorf("evaluated after (-want +got):\n%s", diff)
	}
	if r.BestIteration == nil || *r.BestIteration == 0 || *r.BestIteration == 7 {
		t.Errorf("take a -seed for which the best iteration is neither the first nor the last, so that going back shows: %s", stdout)
	}
	var splits []string
	for _, e := range r.Evaluations {
		splits = append(splits, e.Split)
	}
	if diff := cmp.Diff([]string{"validation", "test", "ood"}, splits); diff != "" {
		t.Errorf("splits (-want +got):\n%s", diff)
	}

	got := files(t, out)
	want := []string{"checkpoints/iteration-000005.ckpt", "checkpoints/iteration-000007.ckpt", "curve.png", "metrics.jsonl",
		"model.bin", "result.json", "run.json", "tokenizer.json"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := png.Decode(strings.NewReader(got["curve.png"])); err != nil {
		t.Error(err)
	}
	// The best parameters are those whose evaluation the metrics have.
	var best *train.Evaluation
	lines := 0
	for it, err := range train.ReadMetrics(strings.NewReader(got["metrics.jsonl"])) {
		if err != nil {
			t.Fatal(err)
		}
		lines++
		if it.Best {
			best = it.Evaluation
		}
		if it.Seconds != nil {
			t.Errorf("iteration %d has timings", it.Number)
		}
	}
	if lines != 8 {
		t.Errorf("%d lines of metrics, want 8", lines)
	}
	if diff := cmp.Diff(best, &r.Evaluations[0]); diff != "" {
		t.Errorf("evaluation on validation (-at the best iteration +in the end):\n%s", diff)
	}
	m, err := backbone.Load(filepath.Join(out, "model.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if m.NumParams() != r.Params {
		t.Errorf("model.bin has %d parameters, want %d", m.NumParams(), r.Params)
	}
	playSaved(t, m, out)
	if n := strings.Count(stderr, "\n"); n != 1+2+8+3 || !strings.Contains(stderr, "\niteration 7: ") {
		t.Errorf("%d lines of progress, want one for the run, two before training, eight for iterations and three after them:\n%s", n, stderr)
	}

	// The same again in the same folder, by one worker and with tables and a bar; and what is prolonged.
	var table, bars bytes.Buffer
	if code := run(t.Context(), with(tiny, "-out", out, "-workers", "1"), &table, &bars, true); code != 0 {
		t.Fatalf("exit code %d: %s", code, bars.String())
	}
	compare(t, got, files(t, out))
	for _, want := range []string{"iteration   env steps", "With the parameters of iteration ", "ood        3 ", "files in " + out} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("printed %q, want %q in it", table.String(), want)
		}
	}
	if !strings.Contains(bars.String(), "\r2/7 play ") || strings.Contains(bars.String(), ": 3 of 3 done") {
		t.Errorf("bar %q", bars.String())
	}
	must(t, 0, "-out", out, "-resume", "-iterations", "8", "-times")
	longer := files(t, out)
	if !strings.HasPrefix(longer["metrics.jsonl"], got["metrics.jsonl"]) || !strings.Contains(longer["run.json"], `"iterations": "8"`) {
		t.Errorf("prolonged: metrics\n%s\nsettings %s", longer["metrics.jsonl"], longer["run.json"])
	}
	added := strings.TrimPrefix(longer["metrics.jsonl"], got["metrics.jsonl"])
	if !strings.Contains(added, `"iteration":8`) || !strings.Contains(added, `"seconds":{`) {
		t.Errorf("with -times the added metrics are %q", added)
	}
}

// playSaved plays an episode with the agent that a folder holds, as the package comment says.
func playSaved(t *testing.T, m *backbone.Model, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var words rollout.Tokenizer
	if err := json.Unmarshal(data, &words); err != nil {
		t.Fatal(err)
	}
	if m.Vocab() != words.Vocab() {
		t.Errorf("model.bin has %d tokens, tokenizer.json %d", m.Vocab(), words.Vocab())
	}
	agent, err := rollout.NewAgent(m, &words, &rollout.AgentOptions{Candidates: true, History: new(1), MaxLen: 256, MaxResponse: 16})
	if err != nil {
		t.Fatal(err)
	}
	world, err := worlds.Find("umbrella_length_short")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := world.Tasks(t.Context(), "validation")
	if err != nil {
		t.Fatal(err)
	}
	episodes, err := rollout.Collect(t.Context(), world.World, nil, func(int) (rollout.Player, error) { return agent.Play(nil), nil }, tasks[:1], nil)
	if err != nil {
		t.Fatal(err)
	}
	turns := episodes[0].Trajectory.Turns
	if episodes[0].Trajectory.Excluded != "" || len(turns) == 0 {
		t.Errorf("the saved agent played %d turns, excluded as %q", len(turns), episodes[0].Trajectory.Excluded)
	}
	for _, s := range rl.Sequences(nil, rollout.Trajectories(episodes)) {
		if slices.Contains(s.Tokens, rollout.Unk) {
			t.Errorf("words that the saved tokenizer does not know: %s", words.Decode(nil, s.Tokens))
		}
	}
}

// stopAt cancels when a text is written.
type stopAt struct {
	bytes.Buffer
	text   string
	cancel func()
}

func (s *stopAt) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.text)) {
		s.cancel()
	}
	return s.Buffer.Write(p)
}

// States are told apart by their texts where these say all.
func TestStates(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	again := envharness.Trace{Shown: envharness.Observation{Text: "here"}, Turns: []envharness.TurnTrace{
		{Applied: &envharness.Action{Name: "look"}, Raw: &envharness.Transition{}}}}
	again.Turns[0].Shown.Observation.Text = "here"
	for world, want := range map[string]bool{"keydoor_small": true, "shop_small": true, "deep_sea_short": true, "keydoor": false, "game24": false} {
		s, err := parse([]string{"-world", world}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := do(ctx, s, &progress{w: io.Discard}); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", world, err)
		}
		states := s.study.Options.Rollout.States
		if (states != nil) != want {
			t.Errorf("%s: states of its own is %v, want %v", world, states != nil, want)
		} else if want {
			if keys := states(again); len(keys) != 2 || keys[0] != keys[1] {
				t.Errorf("%s: states %q of one text", world, keys)
			}
		}
	}
}

// A run that was stopped, whenever and however, ends with the files of one that was not.
func TestResume(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, 0, with(tiny, "-out", whole)...)
	want := files(t, whole)
	copied := func(t *testing.T, without ...string) string {
		to := filepath.Join(t.TempDir(), "out")
		for file, data := range want {
			if !slices.Contains(without, file) {
				put(t, filepath.Join(to, file), data)
			}
		}
		return to
	}
	lines := strings.SplitAfter(want["metrics.jsonl"], "\n")

	// Interrupts.
	for _, tt := range []struct{ name, at, left, reason string }{
		{"warm start", "demonstrate: ", "begins anew", "no iteration is done"},
		{"before training", "before training", "begins anew", "nothing is learnt yet"},
		{"third", "iteration 3:", "goes on after iteration 3", "there is no checkpoint of it but for the interrupt"},
		{"fifth", "iteration 5:", "goes on after iteration 5", "there is one already"},
		{"end", "evaluate validation:", "goes on after iteration 7", "training is over, and its results are not there yet"},
	} {
		t.Run("interrupt/"+tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := filepath.Join(t.TempDir(), "out")
			log := &stopAt{text: tt.at, cancel: cancel}
			var stdout bytes.Buffer
			if code := run(ctx, with(tiny, "-out", out), &stdout, log, false); code != 130 {
				t.Fatalf("exit code %d, want 130: %s", code, log)
			}
			if stdout.Len() > 0 || !strings.HasSuffix(log.String(), tt.left+"\n") {
				t.Errorf("printed %q and %q, want it to end with %q: %s", &stdout, log, tt.left, tt.reason)
			}
			_, stderr := must(t, 0, "-out", out, "-resume")
			if after, ok := strings.CutPrefix(tt.left, "goes on "); ok && !strings.Contains(stderr, "going on "+after+"\n") {
				t.Errorf("printed %q, want it to go on %s", stderr, after)
			}
			got := files(t, out)
			delete(got, "checkpoints/iteration-000003.ckpt") // the one more
			compare(t, want, got)
		})
	}

	// Kills: what is there is as much as was written until then.
	for _, tt := range []struct {
		name   string
		lines  string   // of metrics
		gone   []string // besides the results
		again  bool     // from the beginning
		reason string
	}{
		{"at once", "", []string{"metrics.jsonl", "checkpoints/iteration-000005.ckpt", "checkpoints/iteration-000007.ckpt"}, true,
			"there is run.json alone"},
		{"before a checkpoint", strings.Join(lines[:4], ""), []string{"checkpoints/iteration-000005.ckpt", "checkpoints/iteration-000007.ckpt"}, true,
			"all iterations are done again"},
		{"between metrics and checkpoint", strings.Join(lines, ""), []string{"checkpoints/iteration-000007.ckpt"}, false, "the first checkpoint serves"},
		{"after a checkpoint", strings.Join(lines[:7], ""), []string{"checkpoints/iteration-000007.ckpt"}, false, "the line of iteration 6 is cut off"},
		{"in a line", strings.Join(lines[:6], "") + lines[6][:40], []string{"checkpoints/iteration-000007.ckpt"}, false, "a line cut short is no line"},
		{"in the end", strings.Join(lines, ""), nil, false, "there is nothing to train, only to evaluate"},
	} {
		t.Run("kill/"+tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			out := copied(t, append([]string{"tokenizer.json", "model.bin", "result.json", "curve.png"}, tt.gone...)...)
			if !slices.Contains(tt.gone, "metrics.jsonl") {
				put(t, filepath.Join(out, "metrics.jsonl"), tt.lines)
			}
			put(t, filepath.Join(out, ".ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"), "what was being written")
			put(t, filepath.Join(out, "checkpoints", ".ABCDEFGHIJKLMNOPQRSTUVWXY7.tmp"), "what was being written")
			_, stderr := must(t, 0, "-out", out, "-resume")
			if anew := !strings.Contains(stderr, "going on after"); anew != tt.again {
				t.Errorf("began anew is %v, want %v: %s", anew, tt.again, tt.reason)
			}
			compare(t, want, files(t, out))
		})
	}

	// What cannot be a run that was stopped is told, and stays as it is.
	for _, tt := range []struct{ name, file, content, want, reason string }{
		{"metrics lost", "metrics.jsonl", lines[0], "checkpoint of iteration 7, but no line", "hours of training may be in the checkpoint"},
		{"metrics changed", "metrics.jsonl", lines[0] + "{}}\n" + lines[2], "line 2", "a bad line is not the last one"},
		{"metrics out of order", "metrics.jsonl", lines[0] + lines[2], "iteration 2", "a line is missing"},
		{"empty line", "metrics.jsonl", want["metrics.jsonl"] + "\n", "empty", "nobody wrote one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			out := copied(t)
			put(t, filepath.Join(out, tt.file), tt.content)
			before := files(t, out)
			if _, stderr := must(t, 2, "-out", out, "-resume"); !strings.Contains(stderr, tt.want) {
				t.Errorf("printed %q, want it to name %q: %s", stderr, tt.want, tt.reason)
			}
			compare(t, before, files(t, out))
		})
	}
	t.Run("broken checkpoints", func(t *testing.T) {
		t.Parallel()
		out := copied(t)
		latest, first := filepath.Join(out, "checkpoints", "iteration-000007.ckpt"), filepath.Join(out, "checkpoints", "iteration-000005.ckpt")
		put(t, latest, want["checkpoints/iteration-000007.ckpt"][:1000])
		if _, stderr := must(t, 0, "-out", out, "-resume"); !strings.Contains(stderr, "going on after iteration 5") {
			t.Errorf("printed %q, want it to go on after the one before", stderr)
		}
		compare(t, want, files(t, out))
		put(t, latest, "")
		put(t, first, "")
		if _, stderr := must(t, 2, "-out", out, "-resume"); !strings.Contains(stderr, "none of the 2 checkpoints") {
			t.Errorf("printed %q", stderr)
		}
	})
}

// Nothing is written before training can begin, and nothing is kept without a folder.
func TestInterruptedEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	for _, args := range [][]string{with(tiny, "-out", out), tiny} {
		stderr.Reset()
		if code := run(ctx, args, &stdout, &stderr, false); code != 130 || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("exit code %d, want 130; printed %q", code, stderr.String())
		}
	}
	if _, err := os.Stat(filepath.Join(out, "metrics.jsonl")); err == nil && !strings.Contains(stderr.String(), "nothing was written") {
		t.Error("something was written")
	}
}

func TestCurve(t *testing.T) {
	e := func(success float64) *train.Evaluation { return &train.Evaluation{Success: success} }
	tests := []struct {
		name   string
		all    []train.Iteration
		want   []point
		reason string
	}{
		{"nothing", nil, nil, "there is no row for what was not done"},
		{"shares are of episodes", []train.Iteration{{Evaluation: e(0.25)}, {Number: 1, EnvSteps: 10, Episodes: 4, Excluded: 1, Success: 1},
			{Number: 2, EnvSteps: 30, Episodes: 9, Success: 0, Evaluation: e(0.5)}},
			[]point{{Validation: new(0.25)}, {Iteration: 2, EnvSteps: 30, Train: new(0.25), Validation: new(0.5)}}, "3 of 3 and 0 of 9 are 3 of 12"},
		{"what follows the last evaluation", []train.Iteration{{Evaluation: e(0)}, {Number: 1, EnvSteps: 5, Episodes: 2, Success: 0.5}},
			[]point{{Validation: new(0.0)}, {Iteration: 1, EnvSteps: 5, Train: new(0.5)}}, "an interrupt comes at any time"},
		{"no evaluations", []train.Iteration{{Number: 1, EnvSteps: 5, Episodes: 2, Success: 0.5}, {Number: 2, EnvSteps: 9, Episodes: 2, Success: 1}},
			[]point{{Iteration: 1, EnvSteps: 5, Train: new(0.5)}, {Iteration: 2, EnvSteps: 9, Train: new(1.0)}}, "each iteration is a row"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			if diff := cmp.Diff(tt.want, curve(tt.all)); diff != "" {
				t.Errorf("points (-want +got): %s\n%s", tt.reason, diff)
			}
		})
	}
}

// What is drawn where: the dots of the points are in their places, in the frame and on its edges.
func TestDrawCurve(t *testing.T) {
	e := func(success float64) *train.Evaluation { return &train.Evaluation{Success: success} }
	type place struct{ x, y float64 } // shares of the frame
	tests := []struct {
		name                 string
		all                  []train.Iteration
		training, validation []place
		reason               string
	}{
		{"nothing", nil, nil, nil, "an interrupt before anything is no error"},
		{"before training", []train.Iteration{{Evaluation: e(0.25)}}, nil, []place{{0, 0.25}}, "one point has no range of steps"},
		{"both", []train.Iteration{{Evaluation: e(0)}, {Number: 1, EnvSteps: 40, Success: 0.25},
			{Number: 2, EnvSteps: 100, Success: 0.5, Evaluation: e(1)}},
			[]place{{0.4, 0.25}, {1, 0.5}}, []place{{0, 0}, {1, 1}}, "what is 0 or 1 lies on an edge"},
		{"no evaluations", []train.Iteration{{Number: 1, EnvSteps: 5, Success: 1}}, []place{{1, 1}}, nil, "there is nothing to tell of validation"},
	}
	draw := func(t *testing.T, title string, all []train.Iteration) *image.RGBA {
		dir := t.TempDir()
		if err := drawCurve(dir, title, all); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(strings.NewReader(files(t, dir)["curve.png"]))
		if err != nil {
			t.Fatal(err)
		}
		return picture.(*image.RGBA)
	}
	count := func(of *image.RGBA, c color.Color, in image.Rectangle) (n int) {
		want := color.RGBAModel.Convert(c)
		for y := in.Min.Y; y < in.Max.Y; y++ {
			for x := in.Min.X; x < in.Max.X; x++ {
				if of.RGBAAt(x, y) == want {
					n++
				}
			}
		}
		return n
	}
	dots := func(l vg.Length) int { return int(l.Dots(96)) }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			picture := draw(t, tt.name, tt.all)
			page := picture.Bounds()
			if page.Dx() != 605 || page.Dy() != 378 {
				t.Fatalf("the page is %v, want 16 by 10 cm at 96 dots an inch", page)
			}
			frame := image.Rect(dots(leftMargin), dots(topMargin), page.Max.X-dots(rightMargin), page.Max.Y-dots(lowMargin))
			for _, series := range []struct {
				color  color.Color
				places []place
			}{{vermillion, tt.training}, {blue, tt.validation}} {
				if n := count(picture, series.color, page); (n > 0) != (len(series.places) > 0) {
					t.Errorf("%d pixels of colour %v for the points %v: %s", n, series.color, series.places, tt.reason)
				}
				for _, p := range series.places {
					at := image.Pt(frame.Min.X+int(p.x*float64(frame.Dx())), frame.Max.Y-int(p.y*float64(frame.Dy())))
					if count(picture, series.color, image.Rectangle{Min: at, Max: at}.Inset(-2)) < 8 {
						t.Errorf("no dot of colour %v at %v, where the point %v is: %s", series.color, at, p, tt.reason)
					}
				}
			}
			for name, margin := range map[string]image.Rectangle{
				"title":       image.Rect(0, 0, page.Max.X, frame.Min.Y-2),
				"success":     image.Rect(0, frame.Min.Y, frame.Min.X/2, frame.Max.Y),
				"shares":      image.Rect(frame.Min.X/2, frame.Min.Y, frame.Min.X-2, frame.Max.Y),
				"numbers":     image.Rect(frame.Min.X, frame.Max.Y+2, page.Max.X, (frame.Max.Y+page.Max.Y)/2),
				"environment": image.Rect(frame.Min.X, (frame.Max.Y+page.Max.Y)/2, page.Max.X, page.Max.Y),
			} {
				if count(picture, color.Black, margin) == 0 {
					t.Errorf("%s is not written in %v", name, margin)
				}
			}
		})
	}
	if bytes.Equal(draw(t, "one", nil).Pix, draw(t, "two", nil).Pix) {
		t.Error("two titles look alike")
	}
}

func TestTicks(t *testing.T) {
	tests := []struct {
		most   float64
		want   string
		reason string
	}{
		{1, "0 0.2 0.4 0.6 0.8 1", "shares"},
		{9, "0 1 2 3 4 5 6 7 8 9", "steps of a power of ten"},
		{28441, "0 5000 10000 15000 20000 25000", "half a power of ten"},
		{150000, "0 20000 40000 60000 80000 100000 120000 140000", "a fifth of one, and no exponents"},
	}
	for _, tt := range tests {
		var got []string
		for _, mark := range ticks(tt.most) {
			got = append(got, mark.label)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("up to %v (-want +got): %s\n%s", tt.most, tt.reason, diff)
		}
	}
}

func TestNoEvaluations(t *testing.T) {
	stdout, _ := must(t, 0, "-algo", "grpo", "-dim", "8", "-heads", "2", "-layers", "1", "-env-steps", "30", "-tasks", "1", "-rollouts", "2",
		"-eval-every", "0", "-eval-tasks", "2")
	if !strings.Contains(stdout, "With the last parameters") || !strings.Contains(stdout, " -\n") {
		t.Errorf("printed %q", stdout)
	}
}

func TestProgress(t *testing.T) {
	var plain, bar bytes.Buffer
	for _, p := range []*progress{{w: &plain, iterations: 2}, {w: &bar, bar: true, iterations: 2}} {
		for i := range 3 {
			p.show("count", i+1, 3)
		}
		p.show("next", 0, 0)
		p.training = true
		p.show("play", 1, 2)
		p.show("play", 2, 2)
		p.iteration(train.Iteration{Number: 1, EnvSteps: 12, Success: 0.5, Evaluation: &train.Evaluation{Split: "validation", Success: 0.25}, Best: true})
		p.clear()
	}
	const line = "iteration 1: 12 steps, train 50.0 %, validation 25.0 % (best)\n"
	if got, want := plain.String(), "count: 3 of 3 done\nnext: 0 of 0 done\n"+line; got != want {
		t.Errorf("plain progress %q, want %q", got, want)
	}
	got := bar.String()
	if !strings.Contains(got, "[##########....................] 1/3") || !strings.Contains(got, "\r1/2 play ") || !strings.HasSuffix(got, " \r"+line) {
		t.Errorf("bar %q", got)
	}
}
