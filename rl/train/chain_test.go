package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A chain of three steps, each with a colour: naming it goes on, naming another one ends the episode, and waiting does nothing, until the fifth
// turn. The id of a task is its colours, such as "rbr".
type chain struct {
	code   string
	at     int
	failed bool
}

var colours = map[byte]string{'r': "red", 'b': "blue"}

func (c *chain) Step(a envharness.Action) sim.Result {
	switch {
	case a.Name == "wait":
	case a.Name != "red" && a.Name != "blue":
		return sim.Result{Refusal: sim.Refuse(envharness.ClassUnknownTool, "no tool %q", sim.Clip(a.Name))}
	case a.Name == colours[c.code[c.at]]:
		c.at++
	default:
		c.failed = true
	}
	return sim.Result{Ended: c.failed || c.at == len(c.code)}
}

func (c *chain) Text() string {
	if c.at == len(c.code) {
		return "step 3"
	}
	return fmt.Sprintf("step %d %s", c.at, colours[c.code[c.at]])
}

func (c *chain) Data() map[string]any { return nil }

func (c *chain) Actions() []envharness.Action {
	return []envharness.Action{{Name: "blue"}, {Name: "red"}, {Name: "wait"}}
}

func (c *chain) AppendState(b []byte) []byte {
	return fmt.Appendf(b, `{"code":%q,"at":%d,"failed":%t}`, c.code, c.at, c.failed)
}

func (c *chain) Verdict() envharness.Verdict {
	if c.at == len(c.code) {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}
	}
	return envharness.Verdict{Status: envharness.Fail, Reason: "the chain is not done"}
}

func (c *chain) Plan() ([]envharness.Action, error) {
	var plan []envharness.Action
	if c.failed {
		return nil, envharness.ErrNoPlan
	}
	for i := c.at; i < len(c.code); i++ {
		plan = append(plan, envharness.Action{Name: colours[c.code[i]]})
	}
	return plan, nil
}

// chainWorld is the world of chains.
func chainWorld() envharness.World {
	return (&sim.Simulation{
		Description: envharness.Description{
			Name: "chain", Tools: []envharness.Tool{{Name: "blue"}, {Name: "red"}, {Name: "wait"}},
			Refusals:   []envharness.ErrorClass{envharness.ClassUnknownTool},
			Vocabulary: []string{"0", "1", "2", "3", "blue", "red", "step", "wait"},
			MaxTurns:   5,
		},
		DefaultTask: "rrr",
		Start: func(task string) (sim.Episode, error) {
			if len(task) != 3 || strings.Trim(task, "rb") != "" {
				return nil, fmt.Errorf("%w: %q", envharness.ErrNoTask, task)
			}
			return &chain{code: task}, nil
		},
		Tasks: func(split string) ([]envharness.Task, error) {
			splits := map[string][]string{"train": {"rrb", "brr", "bbr", "rbb", "bbb"}, "validation": {"rrr", "brb"}, "test": {"rbr"}}
			var tasks []envharness.Task
			for _, id := range splits[split] {
				tasks = append(tasks, envharness.Task{ID: id, Split: split})
			}
			if tasks == nil {
				return nil, fmt.Errorf("no split %q", split)
			}
			return tasks, nil
		},
	}).World()
}

var errDown = errors.New("the server is down")

// failing makes a world in which episodes of some tasks cannot be played.
func failing(w envharness.World, bad func(task string) bool) envharness.World {
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		return &down{Env: env.(*sim.Env), bad: bad}, err
	}
	return w
}

type down struct {
	*sim.Env
	bad  func(task string) bool
	task string
}

func (d *down) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	d.task = o.Task
	return d.Env.Reset(ctx, o)
}

func (d *down) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if d.bad(d.task) {
		return envharness.Transition{}, errDown
	}
	return d.Env.Step(ctx, a)
}

// words are those of the chain.
func words(t testing.TB) *rollout.Tokenizer {
	t.Helper()
	tok, err := rollout.WorldTokenizer(t.Context(), chainWorld(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

var testHead = loss.Head{Plus: rollout.ValuePlus, Minus: rollout.ValueMinus}

func tinyModel(t testing.TB, vocab, dim int, seed uint64) *backbone.Model {
	t.Helper()
	m, err := backbone.NewGRU(backbone.Config{Vocab: vocab, MaxLen: 32, Dim: dim, Head: testHead, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// modelWith is a small model that reads its logits by a head.
func modelWith(t testing.TB, vocab int, head loss.Head) *backbone.Model {
	t.Helper()
	m, err := backbone.NewGRU(backbone.Config{Vocab: vocab, MaxLen: 32, Dim: 6, Head: head, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// cispo is a loss of the caller's own.
func cispo(o *loss.CISPOOptions) func([]float64, loss.Batch) (float64, loss.Stats, error) {
	return func(grad []float64, b loss.Batch) (float64, loss.Stats, error) { return loss.CISPO(grad, b, o) }
}

// tiny is a problem of the chain, with new models, for an algorithm of some name, and options that make it quick.
func tiny(t testing.TB, name string) (Problem, *Options) {
	t.Helper()
	a, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	tok := words(t)
	m := tinyModel(t, tok.Vocab(), 6, 1)
	p := Problem{World: chainWorld(), Model: m, Tokenizer: tok, Algorithm: a}
	if a.Values == TurnCritic || a.Values == TokenCritic {
		c, err := m.NewCritic(2)
		if err != nil {
			t.Fatal(err)
		}
		p.Critic = c
	}
	o := &Options{
		Seed: 7, Tasks: 4, Rollouts: 2, Rate: 1e-2, Schedule: &Schedule{Warmup: new(0)}, Epochs: 2, MiniBatch: 10, EvalEvery: 2,
		Agent: rollout.AgentOptions{Candidates: true, History: new(0), MaxResponse: 4, MaxLen: 32},
	}
	return p, o
}

func newTrainer(t testing.TB, p Problem, o *Options) *Trainer {
	t.Helper()
	tr, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// run goes on until n items were yielded, or the end if n is 0.
func run(t testing.TB, tr *Trainer, n int) []Iteration {
	t.Helper()
	var out []Iteration
	for it, err := range tr.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, it); len(out) == n {
			break
		}
	}
	return out
}

// bytesOf is the whole state of a trainer, as Save writes it.
func bytesOf(t testing.TB, tr *Trainer) []byte {
	t.Helper()
	data, err := tr.encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// failsWith drains a run that has to end with an error and returns it.
func failsWith(t testing.TB, run iter.Seq2[Iteration, error]) error {
	t.Helper()
	var last error
	n := 0
	for _, err := range run {
		if last != nil {
			t.Fatal("the run goes on after an error")
		}
		if last = err; err == nil {
			if n++; n > 100 {
				t.Fatal("no error in 100 iterations")
			}
		}
	}
	if last == nil {
		t.Fatal("the run ends without an error")
	}
	return last
}

// plain shows no more of a model than a service offers: Backbone and Sampler.
type plain struct {
	rl.Backbone
	rl.Sampler
}

func parameters(m interface{ Params() []*backbone.Param }) []float64 {
	var out []float64
	for _, p := range m.Params() {
		out = append(out, p.W...)
	}
	return out
}

func gradients(m interface{ Params() []*backbone.Param }) []float64 {
	var out []float64
	for _, p := range m.Params() {
		out = append(out, p.G...)
	}
	return out
}

// farthest is the largest difference between numbers at the same place.
func farthest(t testing.TB, a, b []float64) float64 {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d and %d numbers", len(a), len(b))
	}
	var d float64
	for i := range a {
		if x := math.Abs(a[i] - b[i]); !(x <= d) {
			d = x
		}
	}
	return d
}

func same(t testing.TB, what string, a, b []byte) {
	t.Helper()
	if !bytes.Equal(a, b) {
		t.Errorf("%s: %d and %d bytes that differ", what, len(a), len(b))
	}
}
