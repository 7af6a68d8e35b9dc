package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A Model is what plays and is trained. Where it also is an [rl.LogitModel], training takes one pass instead of two, and entropies and shared
// values become possible; where it is an encoding.BinaryMarshaler and BinaryUnmarshaler, iterations can be undone and saved; where it has a
// method Freeze() rl.Backbone, that makes the reference policy.
type Model interface {
	rl.Backbone
	rl.Sampler
}

// A Problem is what is to be trained on what. The trainer owns model and critic from [New] on.
type Problem struct {
	World     envharness.World
	Model     Model
	Critic    rl.Critic // for algorithms with a critic apart, else nil
	Tokenizer *rollout.Tokenizer
	Algorithm Algorithm

	// Stacks are components around the training episodes: group i of an iteration is played behind Stacks[i%len(Stacks)]. Nil means none.
	// Evaluations are of the bare world.
	Stacks [][]envharness.Component
	// Notes are what the agent is given for a task besides what the world shows, such as the skills that serve it; nil means nothing. It must
	// be safe for concurrent use. The tokenizer has to know its words (rollout.TokenizerOptions.More).
	Notes func(t envharness.Task) string
	// Tasks returns the tasks of a split; nil means those that the world lists itself (envharness.TaskLister).
	Tasks func(ctx context.Context, split string) ([]envharness.Task, error)
	// Items are what training episodes are drawn from instead of the training split and Stacks, which must then be nil: tasks, each behind
	// components of its own, such as a rigger accepts. One that is listed twice is drawn twice as often. Nil means none. The episodes of an
	// iteration that are behind different components are played one set after the other; Options.Workers beyond the size of a set wait.
	Items []Item
}

// An Item is a task with the components around it.
type Item struct {
	Task       envharness.Task
	Components []envharness.Component // innermost first; nil means none
}

// Options adjusts a [Trainer]. A nil *Options equals &Options{}.
type Options struct {
	Seed uint64 // of everything that is drawn
	// Workers is the number of episodes played at once; zero means 1. It changes the speed alone. Models have their own.
	Workers int

	// The amount of training. Without any of them Run goes on until its caller stops it.
	Iterations  int // Run ends after this many in all; zero means no limit
	MaxEnvSteps int // the iteration in which the steps of training episodes reach this is the last; zero means no limit
	// Patience is how many evaluations in a row may pass without a success rate more than MinDelta above the best so far before training ends;
	// zero means any number. See [Trainer.RestoreBest].
	Patience int
	MinDelta float64 // >= 0; smaller gains are kept as the best, but do not stop the count

	// Collection.
	Tasks, Rollouts int    // zero means those of the algorithm
	TrainSplit      string // empty means "train"
	TrainTasks      int    // the first so many tasks of it; zero means all
	// Agent adjusts the agent. Its Temperature must be nil: training samples at Head.Temperature, the learner's own, and evaluations at
	// EvalTemperature.
	Agent   rollout.AgentOptions
	Rollout rollout.Options // adjusts the episodes; Seed, Parallel, GroupSize, Group, Notes and Progress are the trainer's, and must be zero

	// InvalidPenalty is what the estimators of [Algorithms] subtract for an invalid turn, >= 0; nil means their default, 0.1. It replaces the
	// algorithm's Credit: leave it nil where that is your own.
	InvalidPenalty *float64

	// Update.
	Rate       float64   // learning rate, > 0; zero means 3e-4 (ours)
	CriticRate float64   // that of a critic apart; zero means Rate
	Schedule   *Schedule // factor of both by optimiser step; nil means &Schedule{}
	Epochs     int       // passes over a batch; zero means 1
	MiniBatch  int       // turns in an optimiser step, fewer in the last one of an epoch; zero means all
	PPO        loss.PPOOptions
	TurnRatio  loss.TurnRatioOptions
	// Head is how logits are read. Its Plus, Minus and Temperature must be those of the model: zeros mean what the model's method
	// Head() loss.Head says, or without one the entries rollout.ValuePlus and rollout.ValueMinus at temperature 1.
	Head loss.Head
	RMax float64 // the return at value 1 of the read-out, > 0; zero means the magnitude of Rollout.SuccessReward, 10 by default; set it for rewards of the world
	// Coefficients >= 0: of the losses of shared V and Q (nil means 0.5, ours; a critic apart has CriticRate), of the divergence from the
	// reference (nil means 0.01, paper), and of the entropy (nil means 0.001, verl-agent, or 0 for a model that is no LogitModel).
	ValueWeight, QWeight, KLWeight, EntropyWeight *float64
	KL                                            loss.KLKind
	// SkipFlat leaves trajectories whose scores did not differ in their group out of the policy loss, so that divergence and entropy do not
	// move the policy there (see loss.WeightOptions).
	SkipFlat bool
	// KLTarget > 0 makes the coefficient of the divergence adaptive, with KLHorizon trajectories (zero: 10000); zero means that it is fixed.
	KLTarget, KLHorizon float64
	// TargetKL ends the epochs of an iteration after the step whose mini-batch had an approximate KL(old||new) above 1.5 times it; zero means
	// never.
	TargetKL float64
	// ValueClip is the clip of the value loss, >= 0, 0 for none; nil means 0.2 in units of RMax for shared values (ours), 0.5 in units of reward for a
	// critic apart (verl).
	ValueClip *float64
	// Reference is the policy that the divergence is from; nil means a copy of the model as it is when the first iteration begins.
	Reference rl.Backbone

	// Evaluation.
	EvalEvery       int      // iterations between evaluations, the first of them before training; zero means 5, negative means none
	EvalSplit       string   // the split that training is steered by; empty means "validation"
	EvalTasks       int      // the first so many tasks of a split; zero means all
	EvalTemperature *float64 // nil means 0.4 (paper of MileGPO); 0 is greedy

	// Checkpoints go to the folder Dir, which is made, every CheckpointEvery iterations (zero means 5) and at the end; the last Keep stay (zero
	// means 3). Empty means none. A folder that holds checkpoints which this trainer has not loaded is an error. See [Trainer.LoadLatest].
	Dir                   string
	CheckpointEvery, Keep int

	// Metrics, if not nil, gets one JSON object per line for each iteration, before its checkpoint is written and Run yields it. A run that goes
	// on from a checkpoint writes the iterations after it anew: cut the lines back to the checkpoint's iteration first. See [ReadMetrics].
	Metrics io.Writer
	// Clock, if not nil, is read to report the time that phases take, such as time.Now; it changes nothing else.
	Clock func() time.Time
	// Progress, if not nil, is told of episodes and mini-batches done, on the goroutine of the caller.
	Progress func(stage string, done, total int)
}

// ErrUnsupported is the error of [New] for an algorithm or an option that the model cannot serve.
var ErrUnsupported = errors.New("train: the model does not support it")

// settings are Options with the defaults filled in.
type settings struct {
	Options
	valueWeight, qWeight, klWeight, entropyWeight float64
	valueClip                                     float64
	evalTemperature, temperature                  float64
	maxResponse, history                          int
	schedule                                      Schedule
}

func orOne(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

func orDefault(p *float64, def float64) float64 {
	if p == nil {
		return def
	}
	return *p
}

// read checks the options and fills in the defaults.
func (o *Options) read(a Algorithm, m Model) (settings, error) {
	if o == nil {
		o = &Options{}
	}
	s := settings{Options: *o}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("train: "+format, args...)) }
	count := func(name string, p *int, def, least int) {
		if *p == 0 {
			*p = def
		}
		if *p < least {
			fault("Options.%s is %d, want at least %d, or 0 for the default", name, *p, least)
		}
	}
	positive := func(name string, p *float64, def float64) {
		if *p == 0 {
			*p = def
		}
		if !(*p > 0) || math.IsInf(*p, 1) {
			fault("Options.%s is %v, want a finite number > 0, or 0 for the default", name, *p)
		}
	}
	weight := func(name string, p *float64, def float64) float64 {
		x := orDefault(p, def)
		if !(x >= 0) || math.IsInf(x, 1) {
			fault("Options.%s is %v, want a finite number >= 0", name, x)
		}
		return x
	}
	count("Workers", &s.Workers, 1, 1)
	count("Iterations", &s.Iterations, 0, 0)
	count("MaxEnvSteps", &s.MaxEnvSteps, 0, 0)
	count("Patience", &s.Patience, 0, 0)
	weight("MinDelta", &s.MinDelta, 0)
	count("Tasks", &s.Tasks, a.Tasks, 1)
	count("Rollouts", &s.Rollouts, a.Rollouts, 1)
	if s.TrainSplit == "" {
		s.TrainSplit = "train"
	}
	count("TrainTasks", &s.TrainTasks, 0, 0)
	if s.Agent.Temperature != nil {
		fault("Options.Agent.Temperature is set, want nil: it follows from Head and EvalTemperature")
	}
	if r := s.Rollout; r.Seed != 0 || r.Parallel != 0 || r.GroupSize != 0 || r.Group != nil || r.Notes != nil || r.Progress != nil {
		fault("Options.Rollout has Seed, Parallel, GroupSize, Group, Notes or Progress set, want the trainer's own")
	}
	positive("Rate", &s.Rate, 3e-4)
	positive("CriticRate", &s.CriticRate, s.Rate)
	if s.Schedule != nil {
		s.schedule = *s.Schedule
	}
	if err := s.schedule.check(); err != nil {
		faults = append(faults, err)
	}
	count("Epochs", &s.Epochs, 1, 1)
	count("MiniBatch", &s.MiniBatch, 0, 0)
	if h, ok := m.(interface{ Head() loss.Head }); ok {
		own := h.Head()
		if s.Head.Plus == 0 && s.Head.Minus == 0 {
			s.Head.Plus, s.Head.Minus = own.Plus, own.Minus
		}
		if s.Head.Temperature == 0 {
			s.Head.Temperature = own.Temperature
		}
		if s.Head.Tau == 0 {
			s.Head.Tau, s.Head.Inward = own.Tau, s.Head.Inward || own.Inward
		}
		if got := s.Head; got.Plus != own.Plus || got.Minus != own.Minus || orOne(got.Temperature) != orOne(own.Temperature) {
			fault("Options.Head has entries %d and %d and temperature %v, and the model has %d, %d and %v", got.Plus, got.Minus, orOne(got.Temperature),
				own.Plus, own.Minus, orOne(own.Temperature))
		}
	} else if s.Head.Plus == 0 && s.Head.Minus == 0 {
		s.Head.Plus, s.Head.Minus = rollout.ValuePlus, rollout.ValueMinus
	}
	if s.Rollout.SuccessReward == 0 {
		s.Rollout.SuccessReward = 10
	}
	positive("RMax", &s.RMax, math.Abs(s.Rollout.SuccessReward))
	s.valueWeight = weight("ValueWeight", s.ValueWeight, 0.5)
	s.qWeight = weight("QWeight", s.QWeight, 0.5)
	s.klWeight = weight("KLWeight", s.KLWeight, 0.01)
	if s.InvalidPenalty != nil {
		weight("InvalidPenalty", s.InvalidPenalty, 0)
	}
	entropy := 0.001
	if _, ok := m.(rl.LogitModel); !ok {
		entropy = 0
	}
	s.entropyWeight = weight("EntropyWeight", s.EntropyWeight, entropy)
	clip := 0.5
	if a.Values == SharedValues {
		clip = 0.2
	}
	s.valueClip = weight("ValueClip", s.ValueClip, clip)
	weight("TargetKL", &s.TargetKL, 0)
	weight("KLTarget", &s.KLTarget, 0)
	weight("KLHorizon", &s.KLHorizon, 0)
	if s.KLTarget > 0 && s.klWeight == 0 {
		fault("Options.KLTarget is %v with KLWeight 0: an adaptive coefficient that is 0 stays 0", s.KLTarget)
	}
	if s.EvalEvery == 0 {
		s.EvalEvery = 5
	}
	if s.EvalSplit == "" {
		s.EvalSplit = "validation"
	}
	count("EvalTasks", &s.EvalTasks, 0, 0)
	s.evalTemperature = weight("EvalTemperature", s.EvalTemperature, 0.4)
	s.temperature = orOne(s.Head.Temperature)
	count("CheckpointEvery", &s.CheckpointEvery, 5, 1)
	count("Keep", &s.Keep, 3, 1)
	s.maxResponse = s.Agent.MaxResponse
	if s.maxResponse == 0 {
		s.maxResponse = 16
	}
	s.history = 2
	if s.Agent.History != nil {
		s.history = *s.Agent.History
	}
	return s, errors.Join(faults...)
}

// check reports what is missing or does not fit together.
func (p *Problem) check(s *settings) error {
	a := p.Algorithm
	switch {
	case p.World.New == nil || p.World.Verifier == nil:
		return errors.New("train: Problem.World has no New or no Verifier")
	case p.Model == nil:
		return errors.New("train: Problem.Model is nil")
	case p.Tokenizer == nil:
		return errors.New("train: Problem.Tokenizer is nil")
	case len(p.Items) > 0 && len(p.Stacks) > 0:
		return errors.New("train: Problem.Items and Problem.Stacks are both set, want one of them")
	case a.Credit == nil:
		return fmt.Errorf("train: algorithm %q has no Credit", a.Name)
	case s.InvalidPenalty != nil && a.penalised == nil:
		return fmt.Errorf("train: Options.InvalidPenalty is set, and the Credit of algorithm %q is the caller's own", a.Name)
	case a.Values > TokenCritic:
		return fmt.Errorf("train: algorithm %q: Values is %d, want a named value", a.Name, a.Values)
	case a.Values == SharedValues && (a.TurnLoss || a.Loss != nil || a.Aggregation != loss.TokenMean):
		return fmt.Errorf("train: algorithm %q: shared values go with the loss of PPO and TokenMean alone", a.Name)
	case a.TurnLoss && a.Loss != nil:
		return fmt.Errorf("train: algorithm %q has both Loss and TurnLoss", a.Name)
	case a.Values == SharedValues && s.Head.Plus == s.Head.Minus:
		return fmt.Errorf("train: algorithm %q reads values off two reserved entries, and the head has none", a.Name)
	case (a.Values == TurnCritic || a.Values == TokenCritic) && p.Critic == nil:
		return fmt.Errorf("train: algorithm %q needs Problem.Critic, a critic apart, and it is nil", a.Name)
	case a.Values != TurnCritic && a.Values != TokenCritic && p.Critic != nil:
		return fmt.Errorf("train: algorithm %q has no critic apart, and Problem.Critic is set", a.Name)
	}
	for _, id := range []int{s.Head.Plus, s.Head.Minus} {
		switch used := id > rollout.Pad && id < rollout.ValuePlus && id != rollout.EOS || id > rollout.ValueMinus && id < p.Tokenizer.Vocab(); {
		case s.Head.Plus != s.Head.Minus && used:
			return fmt.Errorf("train: the reserved entry %d of the head is a token that texts or contexts have; want rollout.ValuePlus and ValueMinus", id)
		}
	}
	_, logits := p.Model.(rl.LogitModel)
	_, freezes := p.Model.(freezer)
	switch {
	case a.Values == SharedValues && !logits:
		return fmt.Errorf("%w: algorithm %q reads values off logits, which the model does not give (rl.LogitModel)", ErrUnsupported, a.Name)
	case s.entropyWeight > 0 && !logits:
		return fmt.Errorf("%w: Options.EntropyWeight is %v, and the model gives no logits (rl.LogitModel); set it to 0", ErrUnsupported, s.entropyWeight)
	case s.klWeight > 0 && s.Reference == nil && !freezes:
		return fmt.Errorf("%w: Options.KLWeight is %v, and the model makes no reference (Freeze); set Reference, or KLWeight to 0", ErrUnsupported, s.klWeight)
	}
	return nil
}

// A freezer makes a copy of itself that stays.
type freezer interface{ Freeze() rl.Backbone }
