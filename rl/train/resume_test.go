package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A run that is saved after any iteration and goes on in another trainer, with other models, has the lines of metrics and the state of one that
// was not interrupted.
func TestResume(t *testing.T) {
	for _, name := range []string{"sapo", "ppo", "grpo", "milegpo"} {
		t.Run(name, func(t *testing.T) {
			const n = 4
			start := func(seed uint64) (*Trainer, *bytes.Buffer) {
				p, o := tiny(t, name)
				p.Model = tinyModel(t, p.Tokenizer.Vocab(), 6, seed)
				var lines bytes.Buffer
				o.Iterations, o.Metrics, o.KLTarget, o.KLHorizon, o.Workers = n, &lines, .05, 50, int(seed)
				return newTrainer(t, p, o), &lines
			}
			whole, want := start(1)
			run(t, whole, 0)
			for k := range n {
				first, lines := start(1)
				run(t, first, k+1) // number 0 is an item of its own
				name := filepath.Join(t.TempDir(), "state")
				if err := first.Save(name); err != nil {
					t.Fatal(err)
				}
				second, more := start(2) // whatever its models were
				if err := second.Load(name); err != nil {
					t.Fatal(err)
				}
				same(t, "loaded", bytesOf(t, first), bytesOf(t, second))
				run(t, second, 0)
				if got := lines.String() + more.String(); got != want.String() {
					t.Errorf("interrupted after %d: metrics\n%s\nwant\n%s", k, got, want)
				}
				same(t, "state", bytesOf(t, whole), bytesOf(t, second))
			}
		})
	}
}

// The number of workers, of the trainer and of the models, changes no byte.
func TestWorkers(t *testing.T) {
	for _, name := range []string{"sapo", "ppo", "gigpo", "ppo-published"} {
		t.Run(name, func(t *testing.T) {
			var states, lines [2][]byte
			for k, workers := range []int{1, 4} {
				p, o := tiny(t, name)
				m, err := backbone.NewGRU(backbone.Config{Vocab: p.Tokenizer.Vocab(), MaxLen: 32, Dim: 6, Head: testHead, Seed: 1, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				p.Model = m
				if p.Critic != nil {
					if p.Critic, err = m.NewCritic(2); err != nil {
						t.Fatal(err)
					}
				}
				var out bytes.Buffer
				o.Workers, o.Iterations, o.Metrics, o.Tasks, o.Rollouts, o.MiniBatch = workers, 2, &out, 4, 4, 0
				tr := newTrainer(t, p, o)
				run(t, tr, 0)
				states[k], lines[k] = bytesOf(t, tr), out.Bytes()
			}
			same(t, "state", states[0], states[1])
			same(t, "metrics", lines[0], lines[1])
		})
	}
}

// Evaluations between iterations, of any split, change nothing, and equal models have equal ones.
func TestEvaluateChangesNothing(t *testing.T) {
	var states [2][]byte
	for k := range 2 {
		p, o := tiny(t, "ppo")
		o.Iterations = 3
		tr := newTrainer(t, p, o)
		for _, err := range tr.Run(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				continue
			}
			for _, split := range []string{"train", "test", "validation"} {
				a, err := tr.Evaluate(t.Context(), split)
				b, err2 := tr.Evaluate(t.Context(), split)
				if err != nil || err2 != nil || !cmp.Equal(a, b) || a.Split != split || a.Tasks == 0 || a.Turns < 1 || a.Turns > 5 || a.Tokens < a.Turns {
					t.Fatalf("%+v, %v; %+v, %v", a, err, b, err2)
				}
			}
		}
		states[k] = bytesOf(t, tr)
	}
	same(t, "state", states[0], states[1])
	p, o := tiny(t, "ppo")
	if _, err := newTrainer(t, p, o).Evaluate(t.Context(), "spring"); err == nil || !strings.Contains(err.Error(), `"spring"`) {
		t.Errorf("split without tasks: %v", err)
	}
}

// A greedy evaluation of the split of a single task is its one episode.
func TestEvaluateGreedy(t *testing.T) {
	p, o := tiny(t, "grpo")
	o.EvalTemperature = new(0.0)
	tr := newTrainer(t, p, o)
	e, err := tr.Evaluate(t.Context(), "test")
	if err != nil || e.Tasks != 1 || e.Success != 0 && e.Success != 1 || e.Score != 10*e.Success || e.Tokens != 2*e.Turns || e.Invalid != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	o.EvalTasks = 1
	if e, err := newTrainer(t, p, o).Evaluate(t.Context(), "validation"); err != nil || e.Tasks != 1 {
		t.Errorf("one task of two: %+v, %v", e, err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	got, err := checkpoints(dir)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Checkpoints are written when they should be, the last ones stay, and the latest that is whole is gone on from.
func TestCheckpointFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	start := func(iterations int) *Trainer {
		p, o := tiny(t, "grpo")
		o.Dir, o.CheckpointEvery, o.Keep, o.Iterations, o.EvalEvery = dir, 2, 2, iterations, -1
		return newTrainer(t, p, o)
	}
	tr := start(7)
	if n, err := tr.LoadLatest(); n != 0 || err != nil {
		t.Fatalf("no folder: %d, %v", n, err)
	}
	run(t, tr, 0)
	if got := names(t, dir); !slices.Equal(got, []string{"iteration-000007.ckpt", "iteration-000006.ckpt"}) {
		t.Errorf("checkpoints %q", got)
	}
	want := bytesOf(t, tr)

	for _, other := range []string{"iteration-x.ckpt", "iteration-000009", "metrics.jsonl"} { // not checkpoints
		if err := os.WriteFile(filepath.Join(dir, other), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "iteration-000010.ckpt"), 0o777); err != nil {
		t.Fatal(err)
	}
	tr = start(7)
	if n, err := tr.LoadLatest(); n != 7 || err != nil {
		t.Fatalf("latest: %d, %v", n, err)
	}
	same(t, "latest", want, bytesOf(t, tr))
	if its := run(t, tr, 0); len(its) != 0 {
		t.Errorf("a run that is done goes on: %+v", its)
	}

	latest := filepath.Join(dir, "iteration-000007.ckpt")
	data, err := os.ReadFile(latest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(latest, data[:len(data)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	tr = start(7)
	if n, err := tr.LoadLatest(); n != 6 || err != nil {
		t.Fatalf("the latest is cut: %d, %v", n, err)
	}
	run(t, tr, 0)
	same(t, "from the one before", want, bytesOf(t, tr))

	for _, name := range names(t, dir) {
		if err := os.WriteFile(filepath.Join(dir, name), data[:40], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tr = start(7)
	if n, err := tr.LoadLatest(); n != 0 || !errors.Is(err, ErrCheckpoint) {
		t.Errorf("none is whole: %d, %v", n, err)
	}
	p, o := tiny(t, "grpo")
	if n, err := newTrainer(t, p, o).LoadLatest(); n != 0 || err != nil {
		t.Errorf("no Dir: %d, %v", n, err)
	}
	o.Dir, o.Seed = dir, 8
	if err := os.WriteFile(latest, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := newTrainer(t, p, o).LoadLatest(); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("another run's: %v", err)
	}
	if err := newTrainer(t, p, o).Load(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// The checkpoints of another run are neither written over nor removed, and those of a run that was taken back are.
func TestCheckpointFolderOwner(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	start := func(dir string, seed uint64, iterations int) *Trainer {
		p, o := tiny(t, "grpo")
		o.Dir, o.CheckpointEvery, o.Keep, o.Iterations, o.EvalEvery, o.Seed = dir, 1, 3, iterations, -1, seed
		return newTrainer(t, p, o)
	}
	four := []string{"iteration-000004.ckpt", "iteration-000003.ckpt", "iteration-000002.ckpt"}
	run(t, start(dir, 7, 4), 0)
	run(t, start(other, 8, 1), 0)

	tr := start(dir, 8, 2) // it has loaded none of them
	before := bytesOf(t, tr)
	if err := failsWith(t, tr.Run(t.Context())); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), dir) {
		t.Errorf("another run's folder: %v", err)
	}
	same(t, "state", before, bytesOf(t, tr))
	if err := tr.Load(filepath.Join(other, "iteration-000001.ckpt")); err != nil { // from elsewhere
		t.Fatal(err)
	}
	if err := failsWith(t, tr.Run(t.Context())); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("another run's folder, after a checkpoint from elsewhere: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, four) {
		t.Errorf("checkpoints %q, want %q", got, four)
	}

	tr = start(dir, 7, 3)
	if err := tr.Load(filepath.Join(dir, four[2])); err != nil {
		t.Fatal(err)
	}
	run(t, tr, 0)
	if got := names(t, dir); !slices.Equal(got, four[1:]) {
		t.Errorf("taken back to 2 and gone on to 3: checkpoints %q, want %q", got, four[1:])
	}
	again := start(dir, 7, 3)
	if n, err := again.LoadLatest(); n != 3 || err != nil {
		t.Errorf("latest: %d, %v", n, err)
	}
	same(t, "latest", bytesOf(t, tr), bytesOf(t, again))
}

// A folder that cannot be made ends the run, without a trace of the iteration.
func TestCheckpointFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	p, o := tiny(t, "grpo")
	o.Dir, o.CheckpointEvery = filepath.Join(file, "dir"), 1
	tr := newTrainer(t, p, o)
	run(t, tr, 1)
	before := bytesOf(t, tr)
	failsWith(t, tr.Run(t.Context()))
	same(t, "state", before, bytesOf(t, tr))
}

// A checkpoint of another problem, or of options that shape the numbers, is refused; amounts and watchers may differ.
func TestCheckpointOfAnotherRun(t *testing.T) {
	p, o := tiny(t, "ppo")
	tr := newTrainer(t, p, o)
	run(t, tr, 2)
	name := filepath.Join(t.TempDir(), "state")
	if err := tr.Save(name); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(p *Problem, o *Options)
		fits   bool
		reason string
	}{
		{"nothing", func(*Problem, *Options) {}, true, "the same run"},
		{"amounts", func(_ *Problem, o *Options) { o.Iterations, o.MaxEnvSteps, o.Patience, o.Workers = 100, 1e6, 9, 3 }, true, "how much of it"},
		{"watchers", func(_ *Problem, o *Options) { o.Dir, o.Keep, o.Progress = t.TempDir(), 9, func(string, int, int) {} }, true, "how it is watched"},
		{"seed", func(_ *Problem, o *Options) { o.Seed++ }, false, "other draws"},
		{"rate", func(_ *Problem, o *Options) { o.Rate *= 2 }, false, "other steps"},
		{"schedule", func(_ *Problem, o *Options) { o.Schedule = nil }, false, "other steps"},
		{"epochs", func(_ *Problem, o *Options) { o.Epochs++ }, false, "other steps"},
		{"tasks", func(_ *Problem, o *Options) { o.Tasks++ }, false, "other batches"},
		{"split", func(_ *Problem, o *Options) { o.TrainSplit = "test" }, false, "other tasks"},
		{"coefficient", func(_ *Problem, o *Options) { o.KLWeight = new(.5) }, false, "another loss"},
		{"clip", func(_ *Problem, o *Options) { o.PPO.ClipLow = .1 }, false, "another loss"},
		{"history", func(_ *Problem, o *Options) { o.Agent.History = new(1) }, false, "other contexts"},
		{"turns", func(_ *Problem, o *Options) { o.Rollout.MaxTurns = 3 }, false, "other episodes"},
		{"reward", func(_ *Problem, o *Options) { o.Rollout.SuccessReward = 1 }, false, "other returns"},
		{"rewards", func(_ *Problem, o *Options) { o.Rollout.Rewards = rollout.RewardWorld }, false, "other returns"},
		{"reference", func(p *Problem, o *Options) { o.Reference = tinyModel(t, p.Tokenizer.Vocab(), 6, 1).Freeze() }, false, "a reference of the caller's"},
		{"notes", func(p *Problem, _ *Options) { p.Notes = func(envharness.Task) string { return "red" } }, false, "other contexts"},
		{"states", func(_ *Problem, o *Options) { o.Rollout.States = rollout.ShownTexts }, false, "other groups of turns"},
		{"flat groups", func(_ *Problem, o *Options) { o.SkipFlat = true }, false, "another loss"},
		{"penalty", func(_ *Problem, o *Options) { o.InvalidPenalty = new(0.) }, false, "other credit"},
		{"loss", func(p *Problem, _ *Options) { p.Algorithm.Loss = cispo(nil) }, false, "another loss"},
		{"response", func(_ *Problem, o *Options) { o.Agent.Candidates = false }, false, "other choices"},
		{"evaluation", func(_ *Problem, o *Options) { o.EvalEvery = 3 }, false, "another best model"},
		{"algorithm", func(p *Problem, _ *Options) { p.Algorithm.Name = "mine" }, false, "other credit"},
		{"stacks", func(p *Problem, _ *Options) { p.Stacks = [][]envharness.Component{nil, nil} }, false, "other worlds"},
		{"size of the model", func(p *Problem, _ *Options) { p.Model = tinyModel(t, p.Tokenizer.Vocab(), 8, 1) }, false, "the model refuses it"},
		{"size of the critic", func(p *Problem, _ *Options) {
			c, err := tinyModel(t, p.Tokenizer.Vocab(), 8, 1).NewCritic(1)
			if err != nil {
				t.Fatal(err)
			}
			p.Critic = c
		}, false, "the critic refuses it"},
		{"words", func(p *Problem, _ *Options) {
			tok, err := rollout.NewTokenizer([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Tokenizer = tok
		}, false, "ids mean other words"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			p, o := tiny(t, "ppo")
			tt.change(&p, o)
			tr := newTrainer(t, p, o)
			before := bytesOf(t, tr)
			err := tr.Load(name)
			if tt.fits {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrCheckpoint) {
				t.Errorf("error %v", err)
			}
			same(t, "state", before, bytesOf(t, tr))
		})
	}
}

// What is left out and what is given as its default are the same run; a parser makes another one.
func TestConfigOfDefaults(t *testing.T) {
	config := func(change func(*Options)) string {
		p, o := tiny(t, "grpo")
		o.Agent = rollout.AgentOptions{MaxLen: 32}
		change(o)
		c, err := newTrainer(t, p, o).config()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	left := config(func(*Options) {})
	if given := config(func(o *Options) {
		o.Agent.History, o.Agent.MaxResponse, o.Rollout.SuccessReward = new(2), 16, 10
		o.EvalSplit, o.TrainSplit, o.KLWeight, o.EvalTemperature = "validation", "train", new(.01), new(.4)
	}); given != left {
		t.Error("defaults that are written out make another run")
	}
	if parsed := config(func(o *Options) {
		o.Agent.Parse = func(response string, _ envharness.Turn) (envharness.Action, error) {
			return envharness.Action{Name: response}, nil
		}
	}); parsed == left {
		t.Error("a parser makes no other run")
	}
}

// sealed makes a checkpoint of a body with the right checksum.
func sealed(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}

// A checkpoint that is cut anywhere, or has one byte changed anywhere, is refused, and so is one with a good checksum and bad content. The trainer
// stays what it was.
func TestBrokenCheckpoint(t *testing.T) {
	p, o := tiny(t, "ppo")
	tr := newTrainer(t, p, o)
	run(t, tr, 3)
	good := bytesOf(t, tr)
	p, o = tiny(t, "ppo")
	tr = newTrainer(t, p, o)
	run(t, tr, 2)
	before := bytesOf(t, tr)
	refused := func(what string, at int, data []byte) {
		t.Helper()
		if err := tr.load(data); !errors.Is(err, ErrCheckpoint) {
			t.Fatalf("%s %d: error %v", what, at, err)
		}
	}
	next := func(i int) int {
		if i < 700 && !testing.Short() { // the header, and what is around it
			return i + 1
		}
		return i + 41
	}
	for n := 0; n < len(good); n = next(n) {
		refused("cut at", n, good[:n])
	}
	for i := 0; i < len(good); i = next(i) {
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		refused("changed at", i, bad)
	}
	refused("longer by", 1, append(slices.Clone(good), 0))
	same(t, "state", before, bytesOf(t, tr))

	body := good[:len(good)-sha256.Size]
	n := binary.LittleEndian.Uint32(body[12:])
	head, rest := body[16:16+n], body[16+n:]
	with := func(head []byte, rest []byte) []byte {
		out := append([]byte(magic), 1, 0, 0, 0)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(head)))
		return sealed(append(append(out, head...), rest...))
	}
	if err := tr.load(with(head, rest)); err != nil {
		t.Fatal(err)
	}
	same(t, "written anew", good, bytesOf(t, tr))
	if err := tr.load(before); err != nil {
		t.Fatal(err)
	}
	change := func(key string, value any) []byte {
		var h map[string]any
		dec := json.NewDecoder(bytes.NewReader(head))
		dec.UseNumber()
		if err := dec.Decode(&h); err != nil {
			t.Fatal(err)
		}
		h[key] = value
		out, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return with(out, rest)
	}
	parts := func(change func(parts [][]byte)) []byte {
		_, p, err := parse(good)
		if err != nil {
			t.Fatal(err)
		}
		list := p[:]
		change(list)
		var out []byte
		for _, part := range list {
			out = append(binary.LittleEndian.AppendUint64(out, uint64(len(part))), part...)
		}
		return with(head, out)
	}
	wrongVersion := slices.Clone(body)
	wrongVersion[8] = 2
	longHeader := slices.Clone(body)
	binary.LittleEndian.PutUint32(longHeader[12:], 1<<31)
	longPart := slices.Clone(rest)
	binary.LittleEndian.PutUint64(longPart, 1<<63)
	for _, tt := range []struct {
		name   string
		data   []byte
		reason string
	}{
		{"version", sealed(wrongVersion), "of a later library"},
		{"length of the header", sealed(longHeader), "more than there is"},
		{"length of a part", with(head, longPart), "more than there is"},
		{"parts missing", with(head, rest[:0]), "there are four"},
		{"something behind", with(head, append(slices.Clone(rest), 1)), "there are four"},
		{"header is no JSON", with([]byte("{"), rest), "cut"},
		{"two headers", with(append(slices.Clone(head), "{}"...), rest), "one object"},
		{"unknown field", change("more", 1), "of a later library"},
		{"negative counter", change("steps", -1), "counts"},
		{"beta", change("beta", uint64(0x7ff8000000000001)), "NaN"},
		{"success", change("best_success", uint64(0x4000000000000000)), "a share of 2"},
		{"no model", parts(func(p [][]byte) { p[0] = nil }), "nothing to go on from"},
		{"no critic", parts(func(p [][]byte) { p[1] = nil }), "the algorithm needs one"},
		{"model cut", parts(func(p [][]byte) { p[0] = p[0][:len(p[0])-1] }), "the model refuses it"},
		{"critic is a model", parts(func(p [][]byte) { p[1] = p[0] }), "the critic refuses it"},
		{"reference is a critic", parts(func(p [][]byte) { p[2] = p[1] }), "the reference refuses it"},
		{"best is a critic", parts(func(p [][]byte) { p[3] = p[1] }), "the model refuses it"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		if err := tr.load(tt.data); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s: error %v", tt.name, err)
		}
		same(t, tt.name, before, bytesOf(t, tr))
	}
}

// Whatever a file holds, parse does not panic, takes nothing whose parts do not lie in it, and a header that it takes is in range.
func FuzzCheckpoint(f *testing.F) {
	p, o := tiny(f, "ppo")
	tr := newTrainer(f, p, o)
	run(f, tr, 2)
	good := bytesOf(f, tr)
	body := good[:len(good)-sha256.Size]
	n := binary.LittleEndian.Uint32(body[12:])
	f.Add(body[:16+n])
	f.Add(append(slices.Clone(body[:16+n]), make([]byte, 32)...))
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range [][]byte{data, sealed(data)} {
			h, parts, err := parse(file)
			if err != nil {
				if !errors.Is(err, ErrCheckpoint) || len(err.Error()) > 1000 {
					t.Fatalf("error %v", err)
				}
				continue
			}
			size := 0
			for _, part := range parts {
				size += len(part)
			}
			if size > len(file) || min(h.Iteration, h.EnvSteps, h.Drawn, h.Steps, h.Skipped, h.Evaluated, h.Stale) < 0 {
				t.Fatalf("%d bytes of %d, header %+v", size, len(file), h)
			}
		}
	})
}

// What cannot be saved says so: a model without the two methods, a critic, a reference.
func TestSaveUnsupported(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *Problem, o *Options)
		reason string
	}{
		{"the model", func(p *Problem, o *Options) {
			m := p.Model.(*backbone.Model)
			p.Model, o.Reference, o.EntropyWeight = plain{m, m}, m.Freeze(), new(0.0)
		}, "plain has no MarshalBinary"},
		{"critic", func(p *Problem, _ *Options) { p.Critic = struct{ rl.Critic }{p.Critic} }, "the critic has none"},
		{"reference", func(p *Problem, _ *Options) { p.Model = oddFreezer{p.Model.(*backbone.Model)} }, "the reference has none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, o := tiny(t, "ppo")
			tt.change(&p, o)
			tr := newTrainer(t, p, o)
			run(t, tr, 2)
			name := filepath.Join(t.TempDir(), "state")
			err := tr.Save(name)
			if _, missing := os.Stat(name); !errors.Is(err, ErrUnsupported) || missing == nil || tt.reason == "" {
				t.Errorf("error %v, file %v", err, missing)
			}
		})
	}
	// A reference that was given is not saved, and given again.
	p, o := tiny(t, "grpo")
	o.Reference = struct{ rl.Backbone }{p.Model.(*backbone.Model).Freeze()}
	tr := newTrainer(t, p, o)
	run(t, tr, 2)
	before := bytesOf(t, tr)
	if err := tr.load(before); err != nil || tr.reference != o.Reference {
		t.Errorf("%v, reference %v", err, tr.reference)
	}
	same(t, "state", before, bytesOf(t, tr))
}

// oddFreezer makes references that cannot be saved.
type oddFreezer struct{ *backbone.Model }

func (o oddFreezer) Freeze() rl.Backbone { return struct{ rl.Backbone }{o.Model.Freeze()} }

// Components stand around training episodes in turn, and not around evaluations.
func TestStacks(t *testing.T) {
	p, o := tiny(t, "grpo")
	p.Stacks = [][]envharness.Component{nil, {components.StepBudget{Turns: 1}}}
	o.Tasks, o.Rollouts = 3, 2
	tr := newTrainer(t, p, o)
	its := run(t, tr, 3)
	e, err := tr.Evaluate(t.Context(), "train")
	if err != nil || e.Turns <= 1 {
		t.Errorf("evaluation %+v, %v", e, err)
	}
	for _, it := range its[1:] {
		groups := map[string]int{}
		for _, tr := range it.Trajectories {
			groups[tr.Group]++
			if tr.Group[0] == '1' && len(tr.Turns) != 1 {
				t.Errorf("group %s: %d turns behind a budget of one", tr.Group, len(tr.Turns))
			}
		}
		if len(groups) != 3 || len(it.Trajectories) != 6 {
			t.Errorf("groups %v", groups)
		}
	}
}

// Training draws from items in passes, each behind its own components; other items are another run.
func TestItems(t *testing.T) {
	p, o := tiny(t, "grpo")
	short := []envharness.Component{components.StepBudget{Turns: 1}}
	p.Items = []Item{{Task: envharness.Task{ID: "bbr"}}, {envharness.Task{ID: "bbr"}, short}, {envharness.Task{ID: "rrb"}, short}}
	o.Tasks, o.Rollouts, o.EvalEvery = 2, 2, -1
	tr := newTrainer(t, p, o)
	drawn := map[string]int{}
	for _, it := range run(t, tr, 3) { // two passes
		for i := 0; i < len(it.Trajectories); i += 2 {
			a, b := it.Trajectories[i], it.Trajectories[i+1]
			if a.Group != b.Group || a.Task != b.Task {
				t.Fatalf("no group: %q %q", a.Group, b.Group)
			}
			drawn[fmt.Sprintf("%s, short: %t", a.Task, len(a.Turns) == 1 && len(b.Turns) == 1)]++
		}
	}
	if d := cmp.Diff(map[string]int{"bbr, short: false": 2, "bbr, short: true": 2, "rrb, short: true": 2}, drawn); d != "" {
		t.Error(d)
	}
	path := filepath.Join(t.TempDir(), "run")
	if err := tr.Save(path); err != nil {
		t.Fatal(err)
	}
	for _, turns := range []int{1, 2} {
		q, o2 := tiny(t, "grpo")
		q.Items = slices.Clone(p.Items)
		q.Items[1].Components = []envharness.Component{components.StepBudget{Turns: turns}}
		o2.Tasks, o2.Rollouts, o2.EvalEvery = 2, 2, -1
		if err := newTrainer(t, q, o2).Load(path); (err == nil) != (turns == 1) {
			t.Errorf("load with a budget of %d: %v", turns, err)
		}
	}
	p.Stacks = [][]envharness.Component{nil}
	if _, err := New(p, o); err == nil || !strings.Contains(err.Error(), "both set") {
		t.Errorf("items and stacks: %v", err)
	}
}

// Without items the settings hash to what they did before there were items, so that checkpoints from then can be loaded.
func TestConfigWithoutItems(t *testing.T) {
	p, o := tiny(t, "grpo")
	got, err := newTrainer(t, p, o).config()
	if want := "54d81afdbda6231c732bdc87057c1c42e464715c7b6909d2baeba0d79411b00b"; got != want || err != nil {
		t.Errorf("%s, want %s; %v", got, want, err)
	}
}

// Each pass over the split takes every task once.
func TestTasksAreDrawnInPasses(t *testing.T) {
	p, o := tiny(t, "grpo")
	o.Tasks, o.Rollouts, o.EvalEvery, o.TrainTasks = 3, 2, -1, 4
	tr := newTrainer(t, p, o)
	var drawn []string
	for _, it := range run(t, tr, 4) {
		for i := 0; i < len(it.Trajectories); i += 2 {
			a, b := it.Trajectories[i], it.Trajectories[i+1]
			if a.Task != b.Task || a.Group != b.Group {
				t.Fatalf("no group: %q %q", a.Group, b.Group)
			}
			drawn = append(drawn, a.Task)
		}
	}
	for pass := range 3 {
		got := slices.Sorted(slices.Values(drawn[4*pass : 4*pass+4]))
		if !slices.Equal(got, []string{"bbr", "brr", "rbb", "rrb"}) {
			t.Errorf("pass %d: %q", pass, got)
		}
	}
	if slices.Equal(drawn[:4], drawn[4:8]) && slices.Equal(drawn[4:8], drawn[8:12]) {
		t.Errorf("every pass has the order %q", drawn[:4])
	}
}
