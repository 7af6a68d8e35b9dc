package train

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
)

// Every field of the options that can be wrong is checked by New, by name.
func TestOptionsAreChecked(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	covered := map[string]bool{}
	for _, tt := range []struct {
		field  string
		change func(o *Options)
		want   string // part of the error
	}{
		{"Workers", func(o *Options) { o.Workers = -1 }, "Workers is -1"},
		{"Iterations", func(o *Options) { o.Iterations = -1 }, "Iterations is -1"},
		{"MaxEnvSteps", func(o *Options) { o.MaxEnvSteps = -1 }, "MaxEnvSteps is -1"},
		{"Patience", func(o *Options) { o.Patience = -1 }, "Patience is -1"},
		{"MinDelta", func(o *Options) { o.MinDelta = -.1 }, "MinDelta is -0.1"},
		{"MinDelta", func(o *Options) { o.MinDelta = nan }, "MinDelta is NaN"},
		{"Tasks", func(o *Options) { o.Tasks = -1 }, "Tasks is -1"},
		{"Rollouts", func(o *Options) { o.Rollouts = -1 }, "Rollouts is -1"},
		{"TrainTasks", func(o *Options) { o.TrainTasks = -1 }, "TrainTasks is -1"},
		{"Agent", func(o *Options) { o.Agent.MaxResponse = 1 }, "MaxResponse is 1"},
		{"Agent", func(o *Options) { o.Agent.MaxLen = 1000 }, "MaxLen is 1000"},
		{"Agent", func(o *Options) { o.Agent.History = new(-1) }, "History is -1"},
		{"Agent", func(o *Options) { o.Agent.Temperature = new(1.) }, "Options.Agent.Temperature is set"},
		{"InvalidPenalty", func(o *Options) { o.InvalidPenalty = new(-.1) }, "InvalidPenalty is -0.1"},
		{"InvalidPenalty", func(o *Options) { o.InvalidPenalty = new(nan) }, "InvalidPenalty is NaN"},
		{"Rate", func(o *Options) { o.Rate = -1 }, "Rate is -1"},
		{"Rate", func(o *Options) { o.Rate = nan }, "Rate is NaN"},
		{"Rate", func(o *Options) { o.Rate = inf }, "Rate is +Inf"},
		{"CriticRate", func(o *Options) { o.CriticRate = -1 }, "CriticRate is -1"},
		{"Schedule", func(o *Options) { o.Schedule = &Schedule{Kind: Cosine} }, "Schedule.Steps"},
		{"Epochs", func(o *Options) { o.Epochs = -1 }, "Epochs is -1"},
		{"MiniBatch", func(o *Options) { o.MiniBatch = -1 }, "MiniBatch is -1"},
		{"PPO", func(o *Options) { o.PPO.ClipLow = 1 }, "PPOOptions.ClipLow"},
		{"TurnRatio", func(o *Options) { o.TurnRatio.ClipLow = 1 }, "TurnRatioOptions.ClipLow"},
		{"Head", func(o *Options) { o.Head.Temperature = -1 }, "temperature -1"},
		{"Head", func(o *Options) { o.Head.Tau = nan }, "Tau"},
		{"Head", func(o *Options) { o.Head.Plus = 99 }, "Options.Head has entries 99 and 0"},
		{"Head", func(o *Options) { o.Head.Plus, o.Head.Minus = rollout.ValueMinus, rollout.ValuePlus }, "Options.Head has entries 8 and 7"},
		{"Head", func(o *Options) { o.Head.Temperature = 2 }, "temperature 2, and the model has 7, 8 and 1"},
		{"RMax", func(o *Options) { o.RMax = -1 }, "RMax is -1"},
		{"RMax", func(o *Options) { o.RMax = inf }, "RMax is +Inf"},
		{"Rollout", func(o *Options) { o.Rollout.SuccessReward = nan }, "NaN"},
		{"Rollout", func(o *Options) { o.Rollout.Seed = 1 }, "Options.Rollout has Seed"},
		{"Rollout", func(o *Options) { o.Rollout.Parallel = 1 }, "Options.Rollout has Seed, Parallel"},
		{"Rollout", func(o *Options) { o.Rollout.GroupSize = 2 }, "GroupSize"},
		{"Rollout", func(o *Options) { o.Rollout.Group = func(int, envharness.Task) string { return "" } }, "Options.Rollout has"},
		{"Rollout", func(o *Options) { o.Rollout.Notes = func(envharness.Task) string { return "" } }, "Options.Rollout has"},
		{"Rollout", func(o *Options) { o.Rollout.Progress = func(int, int) {} }, "Options.Rollout has"},
		{"ValueWeight", func(o *Options) { o.ValueWeight = new(-1.) }, "ValueWeight is -1"},
		{"ValueWeight", func(o *Options) { o.ValueWeight = new(nan) }, "ValueWeight is NaN"},
		{"QWeight", func(o *Options) { o.QWeight = new(-1.) }, "QWeight is -1"},
		{"KLWeight", func(o *Options) { o.KLWeight = new(-1.) }, "KLWeight is -1"},
		{"KLWeight", func(o *Options) { o.KLWeight = new(inf) }, "KLWeight is +Inf"},
		{"EntropyWeight", func(o *Options) { o.EntropyWeight = new(-1.) }, "EntropyWeight is -1"},
		{"KL", func(o *Options) { o.KL = 99 }, "KLKind is 99"},
		{"KLTarget", func(o *Options) { o.KLTarget = -1 }, "KLTarget is -1"},
		{"KLTarget", func(o *Options) { o.KLTarget = nan }, "KLTarget is NaN"},
		{"KLTarget", func(o *Options) { o.KLTarget, o.KLWeight = .1, new(0.) }, "KLTarget is 0.1 with KLWeight 0"},
		{"KLHorizon", func(o *Options) { o.KLHorizon = -1 }, "KLHorizon is -1"},
		{"KLHorizon", func(o *Options) { o.KLTarget, o.KLHorizon = .1, 1 }, "Options.KLHorizon"},
		{"InvalidPenalty", func(o *Options) { o.InvalidPenalty = new(-1.) }, "InvalidPenalty is -1"},
		{"TargetKL", func(o *Options) { o.TargetKL = -1 }, "TargetKL is -1"},
		{"ValueClip", func(o *Options) { o.ValueClip = new(-1.) }, "ValueClip is -1"},
		{"EvalTasks", func(o *Options) { o.EvalTasks = -1 }, "EvalTasks is -1"},
		{"EvalTemperature", func(o *Options) { o.EvalTemperature = new(-1.) }, "EvalTemperature is -1"},
		{"EvalTemperature", func(o *Options) { o.EvalTemperature = new(nan) }, "EvalTemperature is NaN"},
		{"CheckpointEvery", func(o *Options) { o.CheckpointEvery = -1 }, "CheckpointEvery is -1"},
		{"Keep", func(o *Options) { o.Keep = -1 }, "Keep is -1"},
	} {
		covered[tt.field] = true
		p, o := tiny(t, "sapo")
		tt.change(o)
		if tr, err := New(p, o); tr != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.field, err, tt.want)
		}
	}
	// These take any value; splits and Dir are found to be wrong when they are used.
	for _, field := range []string{"Seed", "TrainSplit", "SkipFlat", "Reference", "EvalEvery", "EvalSplit", "Dir", "Metrics", "Clock", "Progress"} {
		covered[field] = true
	}
	for field := range reflect.TypeFor[Options]().Fields() {
		if !covered[field.Name] {
			t.Errorf("no case for field %s", field.Name)
		}
	}
	// All faults at once.
	p, o := tiny(t, "sapo")
	o.Workers, o.Rate, o.Keep = -1, -1, -1
	_, err := New(p, o)
	for _, want := range []string{"Workers is -1", "Rate is -1", "Keep is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// Nil options are those of the documentation.
func TestDefaults(t *testing.T) {
	for _, tt := range []struct {
		algorithm       string
		tasks, rollouts int
		clip            float64
		reason          string
	}{
		{"sapo", 128, 1, .2, "in units of RMax"}, {"ppo", 128, 1, .5, "verl"}, {"milegpo", 16, 8, .5, "the paper of MileGPO"},
	} {
		a, err := Find(tt.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := tiny(t, tt.algorithm)
		s, err := (*Options)(nil).read(a, p.Model)
		if err != nil || tt.reason == "" {
			t.Fatal(err)
		}
		if s.Tasks != tt.tasks || s.Rollouts != tt.rollouts || s.valueClip != tt.clip || s.RMax != 10 || s.Rate != 3e-4 || s.CriticRate != 3e-4 ||
			s.Epochs != 1 || s.Workers != 1 || s.klWeight != .01 || s.entropyWeight != .001 || s.valueWeight != .5 || s.qWeight != .5 ||
			s.EvalEvery != 5 || s.EvalSplit != "validation" || s.TrainSplit != "train" || s.evalTemperature != .4 || s.temperature != 1 ||
			s.history != 2 || s.Rollout.SuccessReward != 10 || s.CheckpointEvery != 5 || s.Keep != 3 || s.maxResponse != 16 || s.Head.Plus != rollout.ValuePlus || s.Head.Minus != rollout.ValueMinus {
			t.Errorf("%s: %+v", tt.algorithm, s)
		}
		s, err = (&Options{Rate: 2, Rollout: rollout.Options{SuccessReward: -3}, EvalTemperature: new(0.0), KLWeight: new(0.0)}).read(a, p.Model)
		if err != nil || s.CriticRate != 2 || s.Rollout.SuccessReward != -3 || s.RMax != 3 || s.evalTemperature != 0 || s.klWeight != 0 {
			t.Errorf("%s: %+v, %v", tt.algorithm, s, err)
		}
		m := p.Model.(*backbone.Model)
		if s, err = (*Options)(nil).read(a, plain{m, m}); err != nil || s.entropyWeight != 0 || s.Head.Plus != rollout.ValuePlus || s.Head.Minus != rollout.ValueMinus {
			t.Errorf("%s without logits: %+v, %v", tt.algorithm, s, err)
		}
	}
}

// What Options.Head leaves out is the model's, field by field.
func TestHeadIsTheModels(t *testing.T) {
	own := loss.Head{Plus: 9, Minus: 5, Temperature: 2, Tau: 3, Inward: true}
	for _, tt := range []struct {
		name        string
		model, head loss.Head
		want        loss.Head
		reason      string
	}{
		{"nothing", own, loss.Head{}, own, "all of the model's"},
		{"entries", own, loss.Head{Plus: 9, Minus: 5}, own, "they agree"},
		{"temperature", own, loss.Head{Temperature: 2}, own, "it agrees"},
		{"read-out", own, loss.Head{Tau: 1}, loss.Head{Plus: 9, Minus: 5, Temperature: 2, Tau: 1}, "it is the loss's alone, and may differ"},
		{"inward", loss.Head{Plus: 9, Minus: 5}, loss.Head{Inward: true}, loss.Head{Plus: 9, Minus: 5, Inward: true}, "the same"},
		{"no entries", loss.Head{}, loss.Head{}, loss.Head{}, "they are not made up"},
		{"one is zero", loss.Head{}, loss.Head{Temperature: 1}, loss.Head{Temperature: 1}, "zero means 1"},
	} {
		a, err := Find("grpo")
		if err != nil {
			t.Fatal(err)
		}
		s, err := (&Options{Head: tt.head}).read(a, modelWith(t, 20, tt.model))
		s.Head.Temperature, tt.want.Temperature = orOne(s.Head.Temperature), orOne(tt.want.Temperature)
		if err != nil || s.Head != tt.want || tt.reason == "" {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, s.Head, err, tt.want)
		}
	}
}

// A problem that lacks something, or whose parts do not go together, is refused.
func TestProblemIsChecked(t *testing.T) {
	for _, tt := range []struct {
		name      string
		algorithm string
		change    func(p *Problem, o *Options)
		want      string
		reason    string
	}{
		{"no world", "grpo", func(p *Problem, _ *Options) { p.World = envharness.World{} }, "Problem.World", "nothing to play"},
		{"no verifier", "grpo", func(p *Problem, _ *Options) { p.World.Verifier = nil }, "no Verifier", "nobody judges"},
		{"no model", "grpo", func(p *Problem, _ *Options) { p.Model = nil }, "Problem.Model", "nobody plays"},
		{"no tokenizer", "grpo", func(p *Problem, _ *Options) { p.Tokenizer = nil }, "Problem.Tokenizer", "nothing to read with"},
		{"small model", "grpo", func(p *Problem, _ *Options) { p.Model = tinyModel(t, 9, 4, 1) }, "want at least the", "words without a logit"},
		{"no credit", "grpo", func(p *Problem, _ *Options) { p.Algorithm.Credit = nil }, "no Credit", "an algorithm is its credit"},
		{"bad credit", "grpo", func(p *Problem, _ *Options) {
			p.Algorithm.Credit = bind(rl.GRPO, rl.GRPOOptions{Norm: rl.Norm{Eps: new(-1.)}})
		}, "Eps", "its options are checked at once"},
		{"values", "grpo", func(p *Problem, _ *Options) { p.Algorithm.Values = 9 }, "Values is 9", "no such source"},
		{"aggregation", "grpo", func(p *Problem, _ *Options) { p.Algorithm.Aggregation = 99 }, "ggregation", "no such aggregation"},
		{"critic missing", "ppo", func(p *Problem, _ *Options) { p.Critic = nil }, "needs Problem.Critic", "it reads one"},
		{"critic too many", "grpo", func(p *Problem, _ *Options) {
			c, err := p.Model.(*backbone.Model).NewCritic(1)
			if err != nil {
				t.Fatal(err)
			}
			p.Critic = c
		}, "has no critic apart", "nobody trains it"},
		{"shared values with another loss", "sapo", func(p *Problem, _ *Options) { p.Algorithm.TurnLoss = true }, "shared values", "the joint loss is PPO's"},
		{"shared values with another mean", "sapo", func(p *Problem, _ *Options) { p.Algorithm.Aggregation = loss.SeqMeanTokenSum }, "shared values", "it is a mean"},
		{"shared values with a loss of the caller's", "sapo", func(p *Problem, _ *Options) { p.Algorithm.Loss = cispo(nil) }, "shared values", "the joint loss is PPO's"},
		{"shared values without entries", "sapo", func(p *Problem, _ *Options) {
			p.Model = modelWith(t, p.Tokenizer.Vocab(), loss.Head{})
		}, "the head has none", "there is nothing to read them off"},
		{"two losses", "gagpo", func(p *Problem, _ *Options) { p.Algorithm.Loss = cispo(nil) }, "both Loss and TurnLoss", "which of them"},
		{"penalty of the caller's own credit", "grpo", func(p *Problem, o *Options) {
			p.Algorithm, o.InvalidPenalty = Algorithm{Name: "mine", Credit: p.Algorithm.Credit}, new(0.)
		}, "InvalidPenalty is set", "the trainer does not know its options"},
		{"bad loss", "grpo", func(p *Problem, _ *Options) { p.Algorithm.Loss = cispo(&loss.CISPOOptions{ClipHigh: -1}) }, "CISPOOptions.ClipHigh",
			"its options are checked at once"},
		{"no tasks", "grpo", func(p *Problem, o *Options) { p.Algorithm.Tasks, o.Tasks = 0, 0 }, "Tasks", "an algorithm says how many"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			p, o := tiny(t, tt.algorithm)
			tt.change(&p, o)
			if tr, err := New(p, o); tr != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name, algorithm string
		change          func(o *Options, m *backbone.Model)
		want            string // "" for no error
		reason          string
	}{
		{"shared values", "sapo", func(o *Options, m *backbone.Model) { o.Reference = m.Freeze() }, "reads values off logits", "a service gives none"},
		{"entropy", "grpo", func(o *Options, m *backbone.Model) { o.Reference, o.EntropyWeight = m.Freeze(), new(.1) }, "EntropyWeight", "nor an entropy"},
		{"reference", "grpo", func(*Options, *backbone.Model) {}, "KLWeight", "nor a copy of itself"},
		{"with a reference", "grpo", func(o *Options, m *backbone.Model) { o.Reference = m.Freeze() }, "", "without logits there is no entropy by default"},
		{"no divergence", "grpo", func(o *Options, _ *backbone.Model) { o.KLWeight = new(0.0) }, "", "it needs no reference"},
	} {
		t.Run("plain model, "+tt.name, func(t *testing.T) {
			p, o := tiny(t, tt.algorithm)
			m := p.Model.(*backbone.Model)
			p.Model = plain{m, m}
			tt.change(o, m)
			_, err := New(p, o)
			if tt.want == "" && err == nil {
				return
			}
			if !errors.Is(err, ErrUnsupported) || tt.want == "" || !strings.Contains(err.Error(), tt.want) || tt.reason == "" {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// unlisted hides that a world lists its tasks.
type unlisted struct{ envharness.Environment }

// Tasks come from the problem or the world, are asked for once a split, and there must be some.
func TestTasks(t *testing.T) {
	p, o := tiny(t, "grpo")
	asked := map[string]int{}
	fails := errDown
	p.Tasks = func(_ context.Context, split string) ([]envharness.Task, error) {
		asked[split]++
		switch split {
		case "train", "validation":
			return []envharness.Task{{ID: "bbb", Split: split}}, nil
		case "error":
			return nil, fails
		}
		return nil, nil
	}
	o.Iterations = 3
	tr := newTrainer(t, p, o)
	for _, it := range run(t, tr, 0)[1:] {
		for _, tj := range it.Trajectories {
			if tj.Task != "bbb" {
				t.Errorf("task %q", tj.Task)
			}
		}
	}
	if asked["train"] != 1 || asked["validation"] != 1 {
		t.Errorf("asked %v", asked)
	}
	for split, want := range map[string]string{"error": "the server is down", "none": "has no tasks"} {
		if _, err := tr.Evaluate(t.Context(), split); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), split) {
			t.Errorf("split %q: error %v", split, err)
		}
	}
	p, o = tiny(t, "grpo")
	open := p.World.New
	p.World.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := open(ctx)
		return unlisted{env}, err
	}
	if err := failsWith(t, newTrainer(t, p, o).Run(t.Context())); !strings.Contains(err.Error(), "Problem.Tasks") {
		t.Errorf("a world that lists none: %v", err)
	}
	if _, err := newTrainer(t, p, o).Demonstrate(t.Context(), 1); err == nil {
		t.Error("demonstrations of no tasks")
	}
	p.World.New = func(context.Context) (envharness.Environment, error) { return nil, errDown }
	if err := failsWith(t, newTrainer(t, p, o).Run(t.Context())); !errors.Is(err, errDown) {
		t.Errorf("a world that does not open: %v", err)
	}
}
