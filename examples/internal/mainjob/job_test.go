package mainjob

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
	"github.com/throughline-go/throughline/skill"
)

// tiny is enough work to go through every stage.
var tiny = size{perTool: 2, samples: 100, demos: 24, train: 30, rigged: 2, mixedEpochs: 1, warmEpochs: 1, iterations: 2, evalEvery: 1, episodes: 16, eval: 12, queries: 5}

// tinier is tiny with one task for the rigger, which takes the most time.
var tinier = func() size { s := tiny; s.rigged = 1; return s }()

const ownTools = `{"server":"pings","licence":"MIT","tools":[
{"name":"ping_host","description":"Check whether a host answers to a ping.","input_schema":{"type":"object","properties":{"host":{"type":"string"}},"required":["host"]}},
{"name":"trace_route","description":"List the routers on the way to a host.","input_schema":{"type":"object","properties":{"host":{"type":"string"},"hops":{"type":"integer","minimum":1,"maximum":30}},"required":["host"]}}]}`

func runTiny(t *testing.T, cfg Config) *Result {
	t.Helper()
	res, err := start(context.Background(), cfg, tiny)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The same seed writes the same artifacts, whatever the number of workers; each can be read back.
func TestArtifacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run", "one")
	res := runTiny(t, Config{Seed: 7, Workers: 1})
	if err := res.Write(dir); err != nil {
		t.Fatal(err)
	}
	first := files(t, dir)
	again := runTiny(t, Config{Seed: 7, Workers: 5})
	if err := CheckOut(dir); err != nil {
		t.Fatalf("an earlier run cannot be replaced: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "skills", "stale"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := again.Write(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, files(t, dir)); diff != "" {
		t.Errorf("second run (-first +second):\n%s", diff)
	}
	if strings.Contains(first["metrics.json"], "seconds") {
		t.Error("metrics.json holds a timing")
	}

	var samples, trajectories int
	for _, err := range midtool.ReadMessages(strings.NewReader(first["corpus.jsonl"]), "corpus.jsonl") {
		if err != nil {
			t.Fatal(err)
		}
		samples++
	}
	for _, err := range rl.ReadTrajectories(strings.NewReader(first["trajectories.jsonl"])) {
		if err != nil {
			t.Fatal(err)
		}
		trajectories++
	}
	if samples != res.Report.Corpus.Samples || trajectories != tiny.episodes {
		t.Errorf("read %d samples and %d trajectories, want %d and %d", samples, trajectories, res.Report.Corpus.Samples, tiny.episodes)
	}
	set, err := skill.LoadFS(context.Background(), []skill.Source{{FS: os.DirFS(filepath.Join(dir, "skills"))}}, &skill.LoadOptions{Parse: skill.ParseOptions{Strict: true}})
	if err != nil || len(set.Skills) != res.Report.Skills.Count || len(set.Diagnostics) > 0 {
		t.Errorf("read %d skills of %d: %v %v", len(set.Skills), res.Report.Skills.Count, set.Diagnostics, err)
	}

	// The curve starts where the warm start ended, on the same tasks as the table.
	var at []int
	for i, p := range res.Curve {
		at = append(at, p.Iteration)
		if (p.Train == nil) != (i == 0) || (p.EnvSteps == 0) != (i == 0) {
			t.Errorf("point %d of the curve is %+v, want training from the second one on", i, p)
		}
	}
	if diff := cmp.Diff([]int{0, 1, 2}, at); diff != "" {
		t.Errorf("iterations of the curve (-want +got):\n%s", diff)
	}

	// What the trained policy is measured against: the oracle passes everything, knowing nothing next to nothing.
	i := slices.IndexFunc(res.Rows, func(r Row) bool { return strings.Contains(r.Did, "the oracle") })
	if i < 0 || res.Oracle != 1 || res.Null > 0.2 || res.Rows[i].Before != percent(res.Null) || res.Rows[i].After != "100.0 %" {
		t.Errorf("the oracle passes %v, the best policy that knows nothing %v; rows %+v", res.Oracle, res.Null, res.Rows)
	}
}

// Another seed gives another corpus and other trajectories.
func TestSeeds(t *testing.T) {
	ctx := context.Background()
	run := func(seed uint64) *Result {
		j := newJob(t, seed)
		j.iterations = 1
		if err := errors.Join(j.readInput(ctx), j.corpus(ctx)); err != nil {
			t.Fatal(err)
		}
		l, err := j.learner(ctx, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.train(ctx); err != nil {
			t.Fatal(err)
		}
		return &j.result
	}
	one, other := run(7), run(8)
	if reflect.DeepEqual(other.Samples, one.Samples) || reflect.DeepEqual(other.Trajectories, one.Trajectories) {
		t.Error("another seed gave the same corpus or the same trajectories")
	}
}

// newJob is a job that is about to train, on its own.
func newJob(t *testing.T, seed uint64) *job {
	t.Helper()
	algorithm, errAlgorithm := train.Find("sapo")
	desk, errDesk := worlds.Find(deskName)
	if err := errors.Join(errAlgorithm, errDesk); err != nil {
		t.Fatal(err)
	}
	return &job{Config: Config{Seed: seed, Workers: 2, Progress: func(string, int, int) {}, Warn: func(string) {}}, size: tiny, desk: desk, algorithm: algorithm}
}

// The policy reads the skill that was selected for its task, in recorded plans and in episodes of its own, and nothing of it without skills.
func TestNotes(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 1)
	tasks, _, _, _, err := j.splits(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const note = "transfer submit transfer"
	j.notes = map[string]string{}
	for _, task := range tasks {
		j.notes[task.ID] = note
	}
	for _, skills := range []bool{true, false} {
		l, err := j.learner(ctx, skills, nil)
		if err != nil {
			t.Fatal(err)
		}
		demos, err := l.Demonstrate(ctx, 3)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.train(ctx); err != nil {
			t.Fatal(err)
		}
		for _, tr := range append(rollout.Trajectories(demos), j.result.Trajectories...) {
			for k, turn := range tr.Turns {
				var ids []int
				for _, token := range turn.Tokens {
					ids = append(ids, token.ID)
				}
				if text := l.Problem.Tokenizer.Decode(nil, ids); strings.Contains(text, note) != skills {
					t.Fatalf("with skills %v, turn %d of %s reads %q", skills, k, tr.ID, text)
				}
			}
		}
	}
}

// What is left after training are the parameters of the best evaluation on the curve, also where that is not the last one.
func TestBest(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(6) {
		j := newJob(t, seed+3)
		j.demos, j.warmEpochs, j.eval, j.iterations = 60, 6, 40, 4
		if err := errors.Join(j.readInput(ctx), j.corpus(ctx)); err != nil {
			t.Fatal(err)
		}
		l, err := j.learner(ctx, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.warmStart(ctx, true); err != nil {
			t.Fatal(err)
		}
		if err := l.train(ctx); err != nil {
			t.Fatal(err)
		}
		best, last := 0.0, 0.0
		for _, p := range j.result.Curve {
			best, last = max(best, p.Validation), p.Validation
		}
		if got, err := l.success(ctx, "", "validation"); err != nil || got != best {
			t.Errorf("success %v, error %v, want the best of %+v", got, err, j.result.Curve)
		}
		if last < best {
			return
		}
	}
	t.Error("the last evaluation is always the best one: the test shows nothing")
}

// What the rigger accepts is a training task behind components that somebody passes, told in words.
func TestRigged(t *testing.T) {
	if testing.Short() {
		t.Skip("a policy that plays well enough takes seconds")
	}
	some := tiny
	some.demos, some.warmEpochs, some.train, some.rigged = 40, 8, 60, 8
	res, err := start(t.Context(), Config{Seed: 3, Workers: 2}, some)
	if err != nil {
		t.Fatal(err)
	}
	env := res.Report.Environment
	if env.Tasks != some.rigged || env.Accepted != len(res.Rigged.Items) || env.Accepted == 0 || env.Rollouts < 5*env.Tasks {
		t.Fatalf("%+v, %d items", env, len(res.Rigged.Items))
	}
	for _, it := range res.Rigged.Items {
		if it.Counts.Pass == 0 || len(it.Words) != len(it.Stack) {
			t.Errorf("task %s: %v passed behind %q", it.Task.ID, it.Counts, it.Words)
		}
	}
	var words strings.Builder
	if err := res.Accepted(&words, 1); err != nil || !strings.Contains(words.String(), res.Rigged.Items[0].Words[0]) {
		t.Errorf("%v: %s", err, words.String())
	}
}

// ownRun is a run with tools and skills of the caller's own, by an algorithm that compares groups.
var ownRun = sync.OnceValues(func() (*Result, error) {
	dir, err := os.MkdirTemp("", "mainjob")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tools, skills := filepath.Join(dir, "tools.jsonl"), filepath.Join(dir, "skills")
	doc := &skill.Document{Frontmatter: skill.Frontmatter{Name: "water-plants", Description: "Water the plants in the greenhouse at dawn."}, Content: "Use rain.\n"}
	if err := errors.Join(
		os.WriteFile(tools, []byte(strings.ReplaceAll(ownTools, "\n", "")+"\n"), 0o600),
		skill.WriteDir(context.Background(), skills, []*skill.Document{doc}),
	); err != nil {
		return nil, err
	}
	return start(context.Background(), Config{Seed: 1, Workers: 2, Algorithm: "milegpo", Tools: tools, Skills: skills, Budget: 150}, tinier)
})

// Algorithms that compare groups, and those with a critic apart, go through every stage as well.
func TestAlgorithms(t *testing.T) {
	for name, run := range map[string]func() (*Result, error){
		"milegpo": ownRun,
		"ppo": func() (*Result, error) {
			return start(context.Background(), Config{Seed: 1, Workers: 2, Algorithm: "ppo"}, tinier)
		},
	} {
		res, err := run()
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Trajectories) != tiny.episodes || res.Report.Training.Iterations != tiny.iterations {
			t.Errorf("%s: %d trajectories in the last of %d iterations, want %d and %d", name, len(res.Trajectories), res.Report.Training.Iterations,
				tiny.episodes, tiny.iterations)
		}
		if i := slices.IndexFunc(res.Rows, func(r Row) bool { return strings.Contains(r.Did, "2 iterations of "+name) }); i < 0 {
			t.Errorf("rows %+v do not name %s", res.Rows, name)
		}
	}
	if _, err := start(context.Background(), Config{Workers: 1, Algorithm: "magic"}, tiny); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "magic") {
		t.Errorf("error %v, want ErrInput that names the algorithm", err)
	}
}

// What a skill and a request for skills keep of a message.
func TestRequest(t *testing.T) {
	tests := []struct{ name, message, want, reason string }{
		{"customer", "ann: cancel order", "cancel order", "who asks is nobody's skill"},
		{"numbers", "eva: swap o1 kettle2 for kettle1", "swap for", "neither is which order and which product"},
		{"amount", "ben: refund 10 of o3", "refund of", "nor how much"},
		{"colon", "cancel: now", "now", "whatever stands before the first colon is taken for a name"},
		{"nothing", "", "", "an empty message asks for nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := request(tt.message); got != tt.want {
				t.Errorf("request(%q) = %q, want %q: %s", tt.message, got, tt.want, tt.reason)
			}
		})
	}
	if got, want := note([]string{"get_order", "cancel_order"}), "get order cancel order"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
}

// The corpus and the selection work on files of the caller's own, and the own ones are found again.
func TestOwnFiles(t *testing.T) {
	res, err := ownRun()
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Report.Corpus.Samples; got != 4 {
		t.Errorf("%d samples of 2 tools, want 4", got)
	}
	s := res.Report.Selection
	if s.Budget != 150 || s.MeanTokens <= 0 || s.MeanTokens > 150 || s.Guarantee < 0.632 {
		t.Errorf("selection %+v", s)
	}
	i := slices.IndexFunc(res.Rows, func(r Row) bool { return r.Stage == "own selection" })
	if i < 0 || res.Rows[i+1].Before != "4" || res.Rows[i+1].After != "4" {
		t.Errorf("rows %+v: want all 4 requests that are answered with a call at once to find what they were made from", res.Rows)
	}
}

// A folder that the run would replace holds an earlier run alone: a metrics.json beside a folder of skills may be anybody's.
func TestCheckOut(t *testing.T) {
	tests := []struct {
		name   string
		made   string // entries; those that end in / are folders
		inputs []string
		ok     bool
		reason string
	}{
		{"empty", "", nil, true, "nothing to lose"},
		{"earlier run", "corpus.jsonl documents.jsonl environments.json metrics.json skills/ trajectories.jsonl", []string{"", ""}, true, "it is replaced"},
		{"other metrics", "metrics.json skills/", nil, false, "these skills are somebody's own"},
		{"file beside a run", "corpus.jsonl documents.jsonl environments.json metrics.json notes.txt skills/ trajectories.jsonl", nil, false, "artifacts stay apart"},
		{"skills is a file", "corpus.jsonl documents.jsonl environments.json metrics.json skills trajectories.jsonl", nil, false, "no run wrote it"},
		{"metrics is a folder", "corpus.jsonl documents.jsonl environments.json metrics.json/ skills/ trajectories.jsonl", nil, false, "it could not be replaced after the run"},
		{"own skills", "corpus.jsonl documents.jsonl environments.json metrics.json skills/ trajectories.jsonl", []string{"", "skills"}, false, "the run would delete its own input"},
		{"whole folder as skills", "corpus.jsonl documents.jsonl environments.json metrics.json skills/ trajectories.jsonl", []string{"."}, false, "the same, from above"},
		{"inputs elsewhere", "corpus.jsonl documents.jsonl environments.json metrics.json skills/ trajectories.jsonl", []string{"..", "../absent"}, true, "not in the folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name := range strings.FieldsSeq(tt.made) {
				path := filepath.Join(dir, name)
				var err error
				if strings.HasSuffix(name, "/") {
					err = os.Mkdir(path, 0o700)
				} else {
					err = os.WriteFile(path, nil, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			var inputs []string
			for _, in := range tt.inputs {
				if in != "" {
					in = filepath.Join(dir, in)
				}
				inputs = append(inputs, in)
			}
			t.Chdir(dir) // an input that is not given is not the working folder
			if err := CheckOut(dir, inputs...); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrInput) {
				t.Errorf("CheckOut: %v, want accepted %v: %s", err, tt.ok, tt.reason)
			}
		})
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(link, "nowhere"), link+"2"); err != nil {
		t.Skipf("no links can be made here: %v", err)
	}
	for _, dir := range []string{link + "2", filepath.Join(link+"2", "below")} {
		if err := CheckOut(dir); !errors.Is(err, ErrInput) {
			t.Errorf("CheckOut(%s), a dangling link: %v, want ErrInput", dir, err)
		}
	}
}

// An empty selection proves nothing and counts for the mean alone.
func TestSelectionReport(t *testing.T) {
	empty := &bps.Selection{Guarantee: bps.Guarantee{Factor: 0.5}}
	one := &bps.Selection{Items: []int{0}, Tokens: 30, Guarantee: bps.Guarantee{Factor: 0.7}}
	two := &bps.Selection{Items: []int{0, 1}, Tokens: 60, Guarantee: bps.Guarantee{Factor: 0.632}}
	for _, tt := range []struct {
		picked       []*bps.Selection
		mean, factor float64
	}{{nil, 0, 0}, {[]*bps.Selection{empty}, 0, 0}, {[]*bps.Selection{empty, one}, 15, 0.7}, {[]*bps.Selection{two, empty, one}, 30, 0.632}} {
		var j job
		j.report(tt.picked, 99)
		if s := j.result.Report.Selection; s.Budget != 99 || s.MeanTokens != tt.mean || s.Guarantee != tt.factor {
			t.Errorf("%d selections: %+v, want mean %v, guarantee %v", len(tt.picked), s, tt.mean, tt.factor)
		}
	}
}

func TestReadInput(t *testing.T) {
	tools := filepath.Join(t.TempDir(), "tools.jsonl")
	if err := os.WriteFile(tools, []byte(`{"name":"a","description":"A.","inputSchema":{}}`+"\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Run(context.Background(), Config{Workers: 1, Tools: tools})
	if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), tools+":2") {
		t.Errorf("error %v, want ErrInput that names line 2", err)
	}
	var syntax *midtool.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 2 {
		t.Errorf("error %v does not wrap the syntax error", err)
	}
}

func TestCanceled(t *testing.T) {
	for _, at := range []string{"build corpus", "record conversations", "read documents", "induce skills", "select skills", "evaluate untrained", "record plans", "warm start", "train"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			res, err := start(ctx, Config{Seed: 1, Workers: 2, Progress: func(stage string, _, _ int) {
				if stage == at {
					cancel()
				}
			}}, tinier)
			if res != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("result %v, error %v, want the cancellation", res, err)
			}
		})
	}
}

// A skill never helps with the task that it was made from, and leaving it out does not shift the others.
func TestSelectWithout(t *testing.T) {
	texts := []bps.Text{{Name: "mow the lawn"}, {Name: "paint the fence"}, {Name: "paint the wall"}}
	j := &job{Config: Config{Workers: 1, Progress: func(string, int, int) {}}}
	for without, want := range map[int][]int{-1: {1, 2}, 0: {1, 2}, 1: {2}, 2: {1}} {
		picked, err := j.selectAll(context.Background(), "select", []query{{text: "paint something", without: without}}, texts, 1000)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(slices.Values(picked[0].Items))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("without %d (-want +got):\n%s", without, diff)
		}
	}
}

func TestLearningCurve(t *testing.T) {
	r := Result{Curve: []Point{{Validation: 0.5}, {Iteration: 4, EnvSteps: 2750, Train: new(0.25), Validation: 0.625}}}
	var b bytes.Buffer
	if err := r.LearningCurve(&b); err != nil {
		t.Fatal(err)
	}
	want := `
  ITERATION  ENV STEPS  TRAIN SUCCESS  VALIDATION SUCCESS
          0          0              -              50.0 %
          4       2750         25.0 %              62.5 %
`
	if diff := cmp.Diff(want[1:], b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	r := Result{Rows: []Row{{"corpus", "make samples", "samples", "0", "12"}, {"", "count tokens", "tokens", "10", "900"}}}
	var b bytes.Buffer
	if err := r.Table(&b); err != nil {
		t.Fatal(err)
	}
	want := "STAGE   WHAT IT DID   NUMBER   BEFORE  AFTER\ncorpus  make samples  samples  0       12\n        count tokens  tokens   10      900\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
