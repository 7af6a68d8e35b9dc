package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A countdown is a context that ends when it is looked at for the n-th time.
type countdown struct {
	context.Context
	end  context.CancelFunc
	mu   sync.Mutex
	left int
}

func newCountdown(ctx context.Context, n int) *countdown {
	ctx, end := context.WithCancel(ctx)
	return &countdown{Context: ctx, end: end, left: n}
}

func (c *countdown) look() {
	c.mu.Lock()
	c.left--
	over := c.left <= 0
	c.mu.Unlock()
	if over {
		c.end()
	}
}

func (c *countdown) Err() error            { c.look(); return c.Context.Err() }
func (c *countdown) Done() <-chan struct{} { c.look(); return c.Context.Done() }

// ticking tells of each call of a model.
type ticking struct {
	*backbone.Model
	tick *func()
}

func (m ticking) Sample(ctx context.Context, dst, context []int, o rl.SampleOptions) ([]int, error) {
	(*m.tick)()
	return m.Model.Sample(ctx, dst, context, o)
}

func (m ticking) Forward(ctx context.Context, batch []rl.Sequence, f func(int, [][]float64) error) error {
	return m.Model.Forward(ctx, batch, func(i int, out [][]float64) error { (*m.tick)(); return f(i, out) })
}

func (m ticking) ForwardBackward(ctx context.Context, batch []rl.Sequence, f func(int, [][]float64, [][]float64) error) error {
	defer (*m.tick)()
	return m.Model.ForwardBackward(ctx, batch, func(i int, grad, out [][]float64) error { (*m.tick)(); return f(i, grad, out) })
}

func (m ticking) Step(ctx context.Context, rate float64) (float64, error) {
	defer (*m.tick)()
	return m.Model.Step(ctx, rate)
}

// An iteration that is cancelled, wherever that is, leaves no trace, and the run then goes on as if nothing had been.
func TestCancelledIteration(t *testing.T) {
	for _, name := range []string{"ppo", "sapo"} {
		t.Run(name, func(t *testing.T) {
			tick := func() {}
			start := func() (*Trainer, *bytes.Buffer) {
				p, o := tiny(t, name)
				p.Model = ticking{p.Model.(*backbone.Model), &tick}
				var lines bytes.Buffer
				o.Tasks, o.Rollouts, o.EvalEvery, o.Metrics = 2, 1, 1, &lines
				return newTrainer(t, p, o), &lines
			}
			whole, want := start()
			run(t, whole, 2)
			tr, lines := start()
			for item := range 2 { // the evaluation before training, and an iteration that makes the reference
				before, written := bytesOf(t, tr), lines.String()
				n := 1
				for done := false; !done; n++ {
					ctx := newCountdown(t.Context(), n)
					tick = ctx.look
					for _, err := range tr.Run(ctx) {
						if done = err == nil; done {
							break
						}
						if !errors.Is(err, context.Canceled) {
							t.Fatalf("check %d: error %v", n, err)
						}
						same(t, "state", before, bytesOf(t, tr))
						if lines.String() != written || t.Failed() {
							t.Fatalf("check %d of item %d: metrics %q", n, item, lines.String()[len(written):])
						}
					}
					ctx.end()
				}
				if least := []int{8, 30}[item]; n < least {
					t.Fatalf("item %d: cancelled at %d points, want at least %d", item, n, least)
				}
			}
			same(t, "state", bytesOf(t, whole), bytesOf(t, tr))
			same(t, "metrics", want.Bytes(), lines.Bytes())
		})
	}
}

// A caller who stops ranging stops the run, which goes on where it stood.
func TestRunIsTheCallers(t *testing.T) {
	var states [2][]byte
	for k, cut := range []int{0, 1} {
		p, o := tiny(t, "grpo")
		o.Iterations = 3
		tr := newTrainer(t, p, o)
		n := 0
		for len(run(t, tr, cut)) > 0 {
			n++
		}
		if want := []int{1, 4}[k]; n != want {
			t.Errorf("%d runs, want %d", n, want)
		}
		states[k] = bytesOf(t, tr)
	}
	same(t, "state", states[0], states[1])
}

// Episodes that infrastructure spoils are left out up to a fifth; more are an error, in training and in an evaluation, and leave no trace.
func TestSpoiltEpisodes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bad    string
		want   int // excluded, -1 for an error
		reason string
	}{
		{"none", "", 0, "the whole world works"},
		{"a fifth", "rrb", 2, "one of five tasks, two rollouts of each"},
		{"two fifths", "rrb bbb", -1, "more than a fifth"},
		{"validation", "brb", -1, "one of two tasks to be evaluated on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			p, o := tiny(t, "ppo")
			down := func(string) bool { return false }
			p.World = failing(p.World, func(task string) bool { return down(task) })
			o.Tasks, o.Rollouts, o.EvalEvery = 5, 2, 1
			tr := newTrainer(t, p, o)
			run(t, tr, 2)
			before := bytesOf(t, tr)
			down = func(task string) bool { return strings.Contains(tt.bad, task) && tt.bad != "" }
			if tt.want < 0 {
				err := failsWith(t, tr.Run(t.Context()))
				if !strings.Contains(err.Error(), "at most a fifth") || !strings.Contains(err.Error(), "env_error") {
					t.Errorf("error %v", err)
				}
				same(t, "state", before, bytesOf(t, tr))
				return
			}
			it := run(t, tr, 1)[0]
			if it.Excluded != tt.want || it.Episodes != 10 || it.Credit.Voters != 10-tt.want {
				t.Errorf("%d of %d excluded, %d voters", it.Excluded, it.Episodes, it.Credit.Voters)
			}
		})
	}
}

// mute makes a world that offers no actions after a step of some tasks, so that an agent that has to choose cannot go on.
func mute(w envharness.World, bad func(task string) bool) envharness.World {
	open := w.New
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		return &silent{down{Env: env.(*sim.Env), bad: bad}}, err
	}
	return w
}

type silent struct{ down }

func (s *silent) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	tr, err := s.Env.Step(ctx, a)
	if s.bad(s.task) {
		tr.Observation.Actions = nil
	}
	return tr, err
}

// An episode that the agent ends by an error says nothing of the model: it has no vote and no success, and more than a fifth of them are an error.
func TestAgentErrors(t *testing.T) {
	for _, name := range []string{"ppo", "sapo", "grpo"} {
		p, o := tiny(t, name)
		bad := func(task string) bool { return task == "brr" || task == "brb" }
		p.World = mute(p.World, func(task string) bool { return bad(task) })
		o.Tasks, o.Rollouts, o.EvalEvery = 5, 2, -1
		tr := newTrainer(t, p, o)
		all := 0
		for _, it := range run(t, tr, 3) {
			judged, passed := 0, 0
			for i, tj := range it.Trajectories {
				failed := it.Traces[i].End == envharness.EndAgentError
				if failed != (tj.Excluded == "agent_error") || failed && (tj.FinalValue != nil || tj.Task != "brr") {
					t.Errorf("%s: %q ends by %q, excluded %q, final value %v", name, tj.ID, it.Traces[i].End, tj.Excluded, tj.FinalValue)
				}
				if !failed {
					judged++
					if *tj.Success {
						passed++
					}
				}
			}
			if it.Excluded != 10-judged || it.Credit.Voters != judged || it.Success != float64(passed)/float64(judged) {
				t.Errorf("%s: %d excluded, %d voters, success %v, want %d, %d and %d of it", name, it.Excluded, it.Credit.Voters, it.Success, 10-judged, judged, passed)
			}
			all += it.Excluded
		}
		if all == 0 {
			t.Fatalf("%s: no such episode", name)
		}
		if e, err := tr.Evaluate(t.Context(), "train"); err != nil || e.Failed > 1 {
			t.Errorf("%s: evaluation %+v, %v", name, e, err)
		}
		before := bytesOf(t, tr)
		bad = func(string) bool { return true }
		_, evaluated := tr.Evaluate(t.Context(), "train")
		for _, err := range []error{failsWith(t, tr.Run(t.Context())), evaluated} {
			if err == nil || !strings.Contains(err.Error(), "agent_error") || !strings.Contains(err.Error(), "no admissible") {
				t.Errorf("%s: error %v, want one with the end and its cause", name, err)
			}
		}
		same(t, "state", before, bytesOf(t, tr))
	}
}

// What was played is told, episode by episode.
func TestTraces(t *testing.T) {
	p, o := tiny(t, "grpo")
	o.Iterations, o.EvalEvery = 1, 1
	its := run(t, newTrainer(t, p, o), 0)
	for _, it := range its {
		if n := len(it.Evaluation.Traces); n != it.Evaluation.Tasks || n != 2 {
			t.Errorf("iteration %d: %d traces of an evaluation of %d tasks", it.Number, n, it.Evaluation.Tasks)
		}
		if len(it.Traces) != len(it.Trajectories) {
			t.Fatalf("iteration %d: %d traces, %d trajectories", it.Number, len(it.Traces), len(it.Trajectories))
		}
		for i, trace := range it.Traces {
			if tj := it.Trajectories[i]; trace.Task.ID != tj.Task || len(trace.Turns) != len(tj.Turns) || (trace.Verdict.Status == envharness.Pass) != *tj.Success {
				t.Errorf("iteration %d: trace %d is of %q, its trajectory of %q", it.Number, i, trace.Task.ID, tj.Task)
			}
		}
	}
	if its[0].Traces != nil || len(its[1].Traces) != 8 {
		t.Errorf("%d and %d traces", len(its[0].Traces), len(its[1].Traces))
	}
}

// The metrics tell how far the policy and its values have gone from the old ones.
func TestDistances(t *testing.T) {
	for _, name := range []string{"sapo", "ppo", "gagpo"} {
		for _, clip := range []float64{0, 1e-9, 1e9} {
			p, o := tiny(t, name)
			o.Epochs, o.MiniBatch, o.EvalEvery, o.Rate, o.ValueClip = 3, 0, -1, .05, &clip
			it := run(t, newTrainer(t, p, o), 1)[0]
			// In gagpo all tokens of a turn have one ratio.
			if !(it.ESS > 0 && it.ESS <= 1) || (it.ESS == 1) != p.Algorithm.TurnLoss || it.MeanKL == 0 || !(it.ApproxKL > 0) {
				t.Errorf("%s: effective sample size %v, mean KL %v and %v", name, it.ESS, it.MeanKL, it.ApproxKL)
			}
			// Two of the three passes are with values that have moved.
			v := clip == 1e-9 && p.Algorithm.Values != NoValues
			q := v && p.Algorithm.Values == SharedValues
			if (it.ClippedV > .5 && it.ClippedV <= .67) != v || (it.ClippedQ > .5 && it.ClippedQ <= .67) != q || !v && it.ClippedV != 0 || !q && it.ClippedQ != 0 {
				t.Errorf("%s, clip %v: %v of V clipped, %v of Q", name, clip, it.ClippedV, it.ClippedQ)
			}
		}
	}
}

// nonFinite fails steps in the way of a gradient that is not finite.
type overflowing struct {
	*backbone.Model
	steps *int
	bad   func(step int) bool
}

func (o overflowing) Step(ctx context.Context, rate float64) (float64, error) {
	if *o.steps++; o.bad(*o.steps) {
		o.ZeroGrad()
		return math.NaN(), rl.ErrNonFinite
	}
	return o.Model.Step(ctx, rate)
}

type overflowingCritic struct {
	*backbone.Critic
	steps *int
	bad   func(step int) bool
}

func (o overflowingCritic) Step(ctx context.Context, rate float64) (float64, error) {
	if *o.steps++; o.bad(*o.steps) {
		o.ZeroGrad()
		return math.Inf(1), rl.ErrNonFinite
	}
	return o.Critic.Step(ctx, rate)
}

// Up to two steps in a row may be skipped because a gradient is not finite, of the model or the critic.
func TestSkippedSteps(t *testing.T) {
	never := func(int) bool { return false }
	for _, tt := range []struct {
		name          string
		algorithm     string
		model, critic func(step int) bool
		skipped       int // in the first iteration of six steps, -1 for an error
		reason        string
	}{
		{"none", "grpo", never, never, 0, "all is well"},
		{"two in a row", "grpo", func(n int) bool { return n%3 != 0 }, never, 4, "a good step in between starts the count anew"},
		{"three in a row", "grpo", func(n int) bool { return n > 1 }, never, -1, "it does not come back by itself"},
		{"beside a good critic", "ppo", func(n int) bool { return n > 1 }, never, -1, "steps of the critic do not start the count anew"},
		{"critic", "ppo", never, func(n int) bool { return n > 3 }, -1, "nor do those of the model"},
		{"both", "ppo", func(n int) bool { return n == 1 }, func(n int) bool { return n == 1 || n == 4 }, 2, "a step counts once"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			p, o := tiny(t, tt.algorithm)
			p.Model = overflowing{p.Model.(*backbone.Model), new(int), tt.model}
			if p.Critic != nil {
				p.Critic = overflowingCritic{p.Critic.(*backbone.Critic), new(int), tt.critic}
			}
			var lines bytes.Buffer
			o.Epochs, o.MiniBatch, o.EvalEvery, o.Metrics = 6, 0, -1, &lines
			tr := newTrainer(t, p, o)
			before := bytesOf(t, tr)
			if tt.skipped < 0 {
				if err := failsWith(t, tr.Run(t.Context())); !errors.Is(err, rl.ErrNonFinite) || !strings.Contains(err.Error(), "3 times in a row") {
					t.Errorf("error %v", err)
				}
				same(t, "state", before, bytesOf(t, tr))
				return
			}
			if it := run(t, tr, 1)[0]; it.Skipped != tt.skipped || it.Steps != 6 || !(it.GradNorm > 0) || math.IsInf(it.CriticGradNorm, 0) {
				t.Errorf("%d of %d steps skipped, norms %v and %v", it.Skipped, it.Steps, it.GradNorm, it.CriticGradNorm)
			}
		})
	}
}

// broken models.
type brokenModel struct {
	rl.Backbone
	rl.Sampler
	logProbs func([]rl.Sequence) ([][]float64, error)
}

func (b brokenModel) LogProbs(_ context.Context, batch []rl.Sequence) ([][]float64, error) {
	return b.logProbs(batch)
}

// What a model or a reference answers is checked.
func TestBrokenModels(t *testing.T) {
	errService := errors.New("the service is down")
	short := func(batch []rl.Sequence) [][]float64 {
		out := make([][]float64, len(batch))
		for i, s := range batch {
			out[i] = make([]float64, len(s.Tokens)-s.Start)
			for j := range out[i] {
				out[i][j] = -1
			}
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		f      func([]rl.Sequence) ([][]float64, error)
		want   error
		reason string
	}{
		{"error", func([]rl.Sequence) ([][]float64, error) { return nil, errService }, errService, "it is passed on"},
		{"too few", func(b []rl.Sequence) ([][]float64, error) { return short(b)[1:], nil }, rl.ErrShape, "a sequence is missing"},
		{"too short", func(b []rl.Sequence) ([][]float64, error) {
			out := short(b)
			out[0] = out[0][1:]
			return out, nil
		}, rl.ErrShape, "a token is missing"},
		{"NaN", func(b []rl.Sequence) ([][]float64, error) {
			out := short(b)
			out[0][0] = math.NaN()
			return out, nil
		}, rl.ErrNonFinite, "no number"},
	} {
		for _, reference := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				if tt.reason == "" {
					t.Fatal("case without a reason")
				}
				p, o := tiny(t, "grpo")
				m := p.Model.(*backbone.Model)
				o.EntropyWeight, o.EvalEvery, o.Reference = new(0.0), -1, m.Freeze()
				if bad := (brokenModel{m, m, tt.f}); reference {
					o.Reference = bad
				} else {
					p.Model = bad
				}
				tr := newTrainer(t, p, o)
				if err := failsWith(t, tr.Run(t.Context())); !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
			})
		}
	}
}

// Training ends by what comes first: iterations, steps in the world, or evaluations without progress.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name      string
		change    func(o *Options)
		done      string
		iteration int // 0 for any
		reason    string
	}{
		{"iterations", func(o *Options) { o.Iterations, o.MaxEnvSteps, o.Patience = 3, 1e9, 99 }, "iterations", 3, "the least of the limits"},
		{"steps", func(o *Options) { o.Iterations, o.MaxEnvSteps = 99, 60 }, "env_steps", 0, "8 episodes of 1 to 5 turns an iteration"},
		{"one step", func(o *Options) { o.Iterations, o.MaxEnvSteps = 99, 1 }, "env_steps", 1, "an iteration is not cut"},
		{"patience", func(o *Options) { o.Patience, o.MinDelta = 2, 1 }, "patience", 2, "nothing can be better by more than 1"},
		{"patience, rare evaluations", func(o *Options) { o.Patience, o.MinDelta, o.EvalEvery = 3, 1, 2 }, "patience", 6, "it counts evaluations"},
		{"no evaluations", func(o *Options) { o.Patience, o.EvalEvery, o.Iterations = 1, -1, 4 }, "iterations", 4, "nothing to be patient about"},
		{"steps and patience", func(o *Options) { o.Patience, o.MinDelta, o.MaxEnvSteps = 1, 1, 1 }, "env_steps", 1, "the first reason is told"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			p, o := tiny(t, "grpo")
			o.EvalEvery = 1
			tt.change(o)
			tr := newTrainer(t, p, o)
			its := run(t, tr, 0)
			last := its[len(its)-1]
			if last.Done != tt.done || tt.iteration > 0 && last.Number != tt.iteration {
				t.Fatalf("done by %q in iteration %d, want %q in %d", last.Done, last.Number, tt.done, tt.iteration)
			}
			if (last.Evaluation != nil) != (o.EvalEvery > 0) {
				t.Errorf("evaluation at the end: %v", last.Evaluation)
			}
			for _, it := range its[:len(its)-1] {
				if it.Done != "" || it.Overshoot != 0 || o.MaxEnvSteps > 0 && it.EnvSteps >= o.MaxEnvSteps {
					t.Errorf("iteration %d: %+v", it.Number, it)
				}
			}
			if over := last.EnvSteps - o.MaxEnvSteps; last.Done == "env_steps" && (over < 0 || last.Overshoot != over) {
				t.Errorf("%d steps of %d, overshoot %d", last.EnvSteps, o.MaxEnvSteps, last.Overshoot)
			}
			if more := run(t, tr, 0); len(more) > 0 {
				t.Errorf("it goes on: %+v", more)
			}
		})
	}
}

// RestoreBest brings back the model of the best evaluation, which later training does not change.
func TestRestoreBest(t *testing.T) {
	for _, delta := range []float64{0, 1} { // which patience alone minds
		restoreBest(t, delta)
	}
}

func restoreBest(t *testing.T, delta float64) {
	p, o := tiny(t, "ppo")
	o.EvalEvery, o.Iterations, o.Rate, o.MinDelta, o.Seed = 1, 6, .05, delta, 2
	tr := newTrainer(t, p, o)
	if err := tr.RestoreBest(); err == nil {
		t.Error("no error before the first evaluation")
	}
	var best []byte
	top, n := -1.0, 0
	for it, err := range tr.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if it.Best != (it.Evaluation.Success > top) {
			t.Errorf("iteration %d: success %v after %v, best %v", it.Number, it.Evaluation.Success, top, it.Best)
		}
		if it.Best {
			top = it.Evaluation.Success
			if best, err = saved(tr.model); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	if n == 1 || n == 7 {
		t.Fatalf("%d of 7 evaluations are better than those before them: nothing to be tested", n)
	}
	if err := tr.RestoreBest(); err != nil {
		t.Fatal(err)
	}
	got, err := saved(tr.model)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "model", best, got)
}

// The coefficient of the divergence moves as its controller says.
func TestAdaptiveKL(t *testing.T) {
	for _, adaptive := range []bool{true, false} {
		p, o := tiny(t, "sapo")
		if o.KLHorizon = 20; adaptive {
			o.KLTarget = 1e-3
		}
		o.KLWeight = new(.1)
		want := loss.KLController{Beta: .1, Adaptive: adaptive, Target: 1e-3, Horizon: 20}
		for _, it := range run(t, newTrainer(t, p, o), 6)[1:] {
			if it.Beta != want.Beta || !(it.KL >= 0) {
				t.Errorf("iteration %d: beta %v, want %v; divergence %v", it.Number, it.Beta, want.Beta, it.KL)
			}
			if err := want.Update(it.KL, it.Episodes); err != nil {
				t.Fatal(err)
			}
		}
		if (want.Beta != .1) != adaptive {
			t.Errorf("beta ends at %v", want.Beta)
		}
	}
}

// The epochs of an iteration end once the policy has moved too far.
func TestTargetKL(t *testing.T) {
	for _, tt := range []struct {
		target float64
		early  bool
		reason string
	}{{1e-6, true, "any step is too far"}, {1e6, false, "no step is"}, {0, false, "nobody asks"}} {
		p, o := tiny(t, "ppo")
		o.Epochs, o.MiniBatch, o.TargetKL, o.EvalEvery = 5, 0, tt.target, -1
		it := run(t, newTrainer(t, p, o), 1)[0]
		if it.StoppedEarly != tt.early || (it.Steps < 5) != tt.early || tt.early && it.Steps != 2 || tt.reason == "" {
			t.Errorf("target %v: stopped early is %v after %d steps", tt.target, it.StoppedEarly, it.Steps)
		}
	}
}

// Credit that votes for nothing leaves nothing to be learnt, and is no error.
func TestNothingToLearn(t *testing.T) {
	p, o := tiny(t, "grpo")
	credit := p.Algorithm.Credit
	p.Algorithm.Credit = func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		c, err := credit(dst, batch)
		if err == nil {
			for i := range c.Vote {
				c.Vote[i] = false
			}
			for i := range c.NoVote {
				c.NoVote[i] = "test"
			}
		}
		return c, err
	}
	m := p.Model.(*backbone.Model)
	before := parameters(m)
	o.KLTarget, o.KLHorizon = .1, 20
	for _, it := range run(t, newTrainer(t, p, o), 4)[1:] {
		if it.Steps != 0 || farthest(t, before, parameters(m)) != 0 || it.Beta != .01 { // no divergence was measured
			t.Errorf("%d steps, beta %v", it.Steps, it.Beta)
		}
	}
	failing := errors.New("no credit today")
	p, o = tiny(t, "grpo")
	p.Algorithm.Credit = func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) {
		if len(batch) > 0 {
			return nil, failing
		}
		return credit(dst, batch)
	}
	o.EvalEvery = -1
	if err := failsWith(t, newTrainer(t, p, o).Run(t.Context())); !errors.Is(err, failing) {
		t.Errorf("error %v", err)
	}
}

// An episode that a limit cuts off is worth what the values say of the state after it.
func TestBootstrap(t *testing.T) {
	for _, name := range []string{"ppo", "ppo-shared", "sapo", "ppo-published"} {
		t.Run(name, func(t *testing.T) {
			p, o := tiny(t, name)
			o.Rollout.MaxTurns, o.Tasks = 1, 8
			tr := newTrainer(t, p, o)
			ctx := t.Context()
			episodes, err := tr.collect(ctx, 1)
			if err != nil {
				t.Fatal(err)
			}
			b := newBatch(episodes)
			if tr.s.klWeight > 0 {
				tr.reference = p.Model.(freezer).Freeze()
			}
			if err := tr.readOld(ctx, b, &Seconds{}); err != nil {
				t.Fatal(err)
			}
			c, err := p.Algorithm.Credit(nil, b.trajectories)
			if err != nil {
				t.Fatal(err)
			}
			cut := 0
			for i := range b.trajectories {
				tj := &b.trajectories[i]
				if tj.Turns[len(tj.Turns)-1].End != rl.Truncated || !p.Algorithm.Bootstraps {
					if tj.FinalValue != nil {
						t.Errorf("episode %d has a final value", i)
					}
					continue
				}
				cut++
				var want float64
				rows := []rl.Sequence{{Tokens: episodes[i].Final, Start: len(episodes[i].Final)}}
				read := func(_ int, out [][]float64) error {
					if p.Critic != nil {
						want = out[0][0]
						return nil
					}
					v, _, err := testHead.Value(nil, out[0], 0)
					want = 10 * v
					return err
				}
				if p.Critic != nil {
					err = p.Critic.Forward(ctx, rows, read)
				} else {
					err = p.Model.(rl.LogitModel).Forward(ctx, rows, read)
				}
				if err != nil || tj.FinalValue == nil || math.Abs(*tj.FinalValue-want) > 1e-12 {
					t.Fatalf("episode %d: final value %v, want %v, %v", i, tj.FinalValue, want, err)
				}
				// One turn without a reward: the target is what follows, discounted.
				if got := c.ValueTarget[c.Start[i]]; want == 0 || got/want > 1 || got/want < .9 {
					t.Errorf("episode %d: target %v, final value %v", i, got, want)
				}
			}
			if (cut > 0) != p.Algorithm.Bootstraps {
				t.Errorf("%d episodes cut off", cut)
			}
			if !p.Algorithm.Bootstraps {
				return
			}
			b.final = make([][]int, len(b.final)) // of a player that is no Finisher
			if err := tr.readFinal(ctx, b); !errors.Is(err, rl.ErrNoFinalValue) {
				t.Errorf("no context: %v", err)
			}
		})
	}
	p, o := tiny(t, "grpo")
	p.Algorithm.Bootstraps = true
	o.Rollout.MaxTurns, o.EvalEvery = 1, -1
	if err := failsWith(t, newTrainer(t, p, o).Run(t.Context())); !errors.Is(err, rl.ErrNoFinalValue) {
		t.Errorf("no values: %v", err)
	}
}

// The old policy is read by the path that the learner takes: before the first step every ratio is 1 and nothing has moved.
func TestFirstStepIsOnPolicy(t *testing.T) {
	for _, name := range []string{"sapo", "ppo", "gagpo"} {
		for _, temperature := range []float64{1, .7} {
			p, o := tiny(t, name)
			m, err := backbone.NewGRU(backbone.Config{Vocab: p.Tokenizer.Vocab(), MaxLen: 32, Dim: 6, Seed: 1,
				Head: loss.Head{Plus: rollout.ValuePlus, Minus: rollout.ValueMinus, Temperature: temperature}})
			if err != nil {
				t.Fatal(err)
			}
			p.Model = m
			o.Epochs, o.MiniBatch, o.EvalEvery = 1, 0, -1
			it := run(t, newTrainer(t, p, o), 1)[0]
			if math.Abs(it.ApproxKL) > 1e-12 || math.Abs(it.MeanKL) > 1e-12 || math.Abs(it.ESS-1) > 1e-12 || it.ClippedV != 0 || it.ClippedQ != 0 || math.Abs(it.KL) > 1e-12 || it.ClipFraction != 0 || !(it.Entropy > 0) || it.Entropy > math.Log(3) {
				t.Errorf("%s at %v: KL %v to the old policy, %v to the reference, %v clipped, entropy %v",
					name, temperature, it.ApproxKL, it.KL, it.ClipFraction, it.Entropy)
			}
		}
	}
}

// Imitation makes the demonstrations more probable, and repeats itself.
func TestWarmStart(t *testing.T) {
	var states [2][]byte
	for k := range 2 {
		p, o := tiny(t, "sapo")
		o.Workers = 1 + 3*k
		tr := newTrainer(t, p, o)
		es, err := tr.Demonstrate(t.Context(), 3)
		if err != nil || len(es) != 3 {
			t.Fatalf("%d demonstrations, %v", len(es), err)
		}
		before := math.Inf(1)
		for range 3 {
			nats, err := tr.WarmStart(t.Context(), es, &WarmStartOptions{Epochs: 10, Rate: 1e-2, MiniBatch: 4})
			if err != nil || !(nats < before) || nats <= 0 {
				t.Fatalf("%v nats after %v, %v", nats, before, err)
			}
			before = nats
		}
		if before > .1 {
			t.Errorf("%v nats in the end", before)
		}
		states[k] = bytesOf(t, tr)
	}
	same(t, "state", states[0], states[1])
}

// A warm start that is cancelled, or fails, leaves the model as it was.
func TestWarmStartUndone(t *testing.T) {
	p, o := tiny(t, "ppo")
	steps, bad := new(int), false
	p.Model = overflowing{p.Model.(*backbone.Model), steps, func(int) bool { return bad }}
	tr := newTrainer(t, p, o)
	es, err := tr.Demonstrate(t.Context(), 0)
	if err != nil || len(es) != 5 {
		t.Fatalf("%d demonstrations, %v", len(es), err)
	}
	before := bytesOf(t, tr)
	w := &WarmStartOptions{Epochs: 2, MiniBatch: 6}
	n := 1
	for ; ; n++ {
		ctx := newCountdown(t.Context(), n)
		_, err := tr.WarmStart(ctx, es, w)
		ctx.end()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if same(t, "state", before, bytesOf(t, tr)); t.Failed() {
			t.Fatalf("check %d", n)
		}
	}
	if n < 5 {
		t.Errorf("the context was looked at %d times", n)
	}
	before, bad = bytesOf(t, tr), true
	if _, err := tr.WarmStart(t.Context(), es, w); !errors.Is(err, rl.ErrNonFinite) {
		t.Errorf("error %v", err)
	}
	same(t, "state", before, bytesOf(t, tr))

	failed := slices.Clone(es)
	for i := range failed {
		failed[i].Trajectory.Success = new(false)
	}
	for _, tt := range []struct {
		name   string
		es     []rollout.Episode
		o      *WarmStartOptions
		reason string
	}{
		{"no demonstrations", nil, nil, "nothing to imitate"},
		{"none passed", failed, nil, "failures are no example"},
		{"epochs", es, &WarmStartOptions{Epochs: -1}, "a number"},
		{"mini-batch", es, &WarmStartOptions{MiniBatch: -1}, "a number"},
		{"rate", es, &WarmStartOptions{Rate: -1}, "above 0"},
		{"rate NaN", es, &WarmStartOptions{Rate: math.NaN()}, "finite"},
		{"rate infinite", es, &WarmStartOptions{Rate: math.Inf(1)}, "finite"},
	} {
		if _, err := tr.WarmStart(t.Context(), tt.es, tt.o); err == nil || tt.reason == "" {
			t.Errorf("%s: no error", tt.name)
		}
	}
	same(t, "state", before, bytesOf(t, tr))
}

// Notes are in the contexts of training, evaluation and demonstrations.
func TestNotes(t *testing.T) {
	p, o := tiny(t, "grpo")
	var mu sync.Mutex
	asked := map[string]int{}
	p.Notes = func(task envharness.Task) string {
		mu.Lock()
		defer mu.Unlock()
		asked[task.Split]++
		return "wait wait wait"
	}
	tr := newTrainer(t, p, o)
	it := run(t, tr, 2)[1]
	es, err := tr.Demonstrate(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	noted := func(tj rl.Trajectory) bool {
		var ids []int
		for _, tok := range tj.Turns[0].Tokens {
			if !tok.Trainable {
				ids = append(ids, tok.ID)
			}
		}
		return strings.Contains(p.Tokenizer.Decode(nil, ids), "wait wait wait")
	}
	if !noted(it.Trajectories[0]) || !noted(es[0].Trajectory) || asked["validation"] == 0 || asked["train"] == 0 {
		t.Errorf("notes asked for %v", asked)
	}
}

// Times are told with a clock alone, and progress of each stage counts up to its end.
func TestClockAndProgress(t *testing.T) {
	p, o := tiny(t, "ppo")
	now := time.Unix(0, 0)
	o.Clock = func() time.Time { now = now.Add(time.Second); return now }
	last := map[string][2]int{}
	o.Progress = func(stage string, done, total int) {
		if before := last[stage]; done < 1 || done > total || before[0] < before[1] && done != before[0]+1 {
			t.Errorf("%s: %d of %d after %v", stage, done, total, before)
		}
		last[stage] = [2]int{done, total}
	}
	tr := newTrainer(t, p, o)
	its := run(t, tr, 3)
	want := []*Seconds{{Evaluation: 1}, {Generation: 1, LogProbs: 1, Values: 1, Update: 1}, {Generation: 1, LogProbs: 1, Values: 1, Update: 1, Evaluation: 1}}
	for k, it := range its {
		if diff := cmp.Diff(want[k], it.Seconds); diff != "" {
			t.Errorf("seconds of %d (-want +got):\n%s", k, diff)
		}
	}
	if got := its[2].Seconds.Training(); got != 4 {
		t.Errorf("%v seconds of training", got)
	}
	es, err := tr.Demonstrate(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.WarmStart(t.Context(), es, nil); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"play", "update", "evaluate validation", "demonstrate", "warm start"} {
		if got := last[stage]; got[0] == 0 || got[0] != got[1] {
			t.Errorf("%s ends at %d of %d", stage, got[0], got[1])
		}
	}
	// With a clock nothing else differs.
	p, o = tiny(t, "ppo")
	for k, it := range run(t, newTrainer(t, p, o), 3) {
		if diff := cmp.Diff(its[k], it, cmpopts.IgnoreFields(Iteration{}, "Seconds")); diff != "" || it.Seconds != nil {
			t.Errorf("without a clock (-with +without):\n%s", diff)
		}
	}
}

// A fifth of the episodes may be of no use, and not one more.
func TestSpoiltShare(t *testing.T) {
	for _, tt := range []struct {
		bad, all int
		fails    bool
	}{{0, 0, false}, {0, 4, false}, {1, 4, true}, {1, 5, false}, {2, 9, true}, {2, 10, false}, {4, 4, true}} {
		episodes := make([]rollout.Episode, tt.all)
		for i := range tt.bad {
			episodes[i].Trajectory.Excluded = "timeout"
		}
		if err := spoilt(episodes); (err != nil) != tt.fails || err != nil && !strings.Contains(err.Error(), "timeout") {
			t.Errorf("%d of %d: error %v", tt.bad, tt.all, err)
		}
	}
}

// Patience counts evaluations in a row: a better one starts it anew.
func TestPatienceStartsAnew(t *testing.T) {
	p, o := tiny(t, "grpo")
	o.Patience = 2
	tr := newTrainer(t, p, o)
	tr.evaluated, tr.bestSuccess, tr.stale = 1, -1, 1
	for k, want := range []struct {
		best  bool
		stale int
		done  string
	}{{true, 0, ""}, {false, 1, ""}, {false, 2, "patience"}} {
		var it Iteration
		if err := tr.evaluate(t.Context(), &it, &Seconds{}); err != nil {
			t.Fatal(err)
		}
		if it.Best != want.best || tr.stale != want.stale || tr.done != want.done {
			t.Errorf("evaluation %d: best is %v, stale %d, done %q, want %+v", k, it.Best, tr.stale, tr.done, want)
		}
	}
	// A gain within MinDelta is the best so far, and does not.
	p, o = tiny(t, "grpo")
	o.Patience, o.MinDelta = 2, 2
	tr = newTrainer(t, p, o)
	tr.evaluated, tr.bestSuccess, tr.stale = 1, -1, 1
	var it Iteration
	if err := tr.evaluate(t.Context(), &it, &Seconds{}); err != nil || !it.Best || tr.stale != 2 || tr.done != "patience" {
		t.Errorf("a small gain: %v, best is %v, stale %d, done %q", err, it.Best, tr.stale, tr.done)
	}
}
