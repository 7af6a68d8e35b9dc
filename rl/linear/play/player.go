package play

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/linear"
	"github.com/throughline-go/throughline/rl/rollout"
)

var _ rollout.Player = (*Player)(nil)

// A Choice is one decision with what is needed to train on it.
type Choice struct {
	Candidates [][]linear.Feature // one sparse vector per admissible action; read only
	Chosen     int                // index of the action taken
	LogProb    float64            // its log-probability, in nats, when it was taken
}

// A Player is a [rollout.Player] that chooses among the admissible actions of each turn with a linear policy. It serves one episode at a time
// and remembers that episode; the linear policy is only read, so many players may share it.
type Player struct {
	policy      *linear.Policy
	features    Features
	temperature float64
	rng         *rand.Rand
	planned     bool // the plan is followed, nothing is chosen
	plan        []envharness.Action
	s           Situation
	choices     []Choice
	logp        []float64
}

// NewPlayer returns a player that samples from p at the given temperature (0 means the most probable action, ties by lowest index)
// with draws from rng. Nil features mean CallFeatures(p.Dim()). Procedures are the skills it is given, most relevant first; see [Situation].
func NewPlayer(p *linear.Policy, features Features, temperature float64, rng *rand.Rand, procedures [][]string) *Player {
	if features == nil {
		features = CallFeatures(p.Dim())
	}
	if rng == nil {
		rng = rand.New(rand.NewPCG(1, 2))
	}
	return &Player{policy: p, features: features, temperature: temperature, rng: rng, s: Situation{Procedures: procedures}}
}

// Act picks one of t.Shown.Actions. It fails when there are none, and with an [envharness.ErrInfra] when the features do not fit the
// actions or the linear policy: that says nothing about the policy.
func (p *Player) Act(_ context.Context, t envharness.Turn) (envharness.Action, error) {
	if len(t.Shown.Actions) == 0 {
		return envharness.Action{}, fmt.Errorf("play: turn %d: the environment lists no admissible actions", t.Index)
	}
	if t.Index == 0 {
		p.s.Task, p.s.Past, p.choices = t.Shown.Text, nil, nil
	} else if n := len(p.s.Past); n > 0 {
		p.s.Past[n-1].Error, p.s.Past[n-1].Shown = t.Error, t.Shown.Text
	}
	p.s.Turn = t
	candidates := p.features(&p.s)
	if len(candidates) != len(t.Shown.Actions) {
		return envharness.Action{}, fmt.Errorf("play: turn %d: features for %d of %d actions: %w",
			t.Index, len(candidates), len(t.Shown.Actions), envharness.ErrInfra)
	}
	// The recorded log-probability is that of the distribution sampled from; a greedy choice is recorded at temperature 1.
	temperature := p.temperature
	if temperature == 0 {
		temperature = 1
	}
	p.logp = p.policy.LogProbs(p.logp, candidates, temperature)
	if math.IsNaN(p.logp[0]) {
		return envharness.Action{}, fmt.Errorf("play: turn %d: no probabilities: temperature %v, or a feature outside dimension %d or not finite: %w",
			t.Index, temperature, p.policy.Dim(), envharness.ErrInfra)
	}
	var chosen int
	switch {
	case p.planned:
		var err error
		if chosen, err = p.follow(t); err != nil {
			return envharness.Action{}, err
		}
	case p.temperature == 0:
		chosen = linear.Greedy(p.logp)
	default:
		chosen = linear.Sample(p.rng, p.logp)
	}
	a := t.Shown.Actions[chosen]
	p.choices = append(p.choices, Choice{Candidates: candidates, Chosen: chosen, LogProb: p.logp[chosen]})
	p.s.Past = append(p.s.Past, Past{Action: a})
	return a, nil
}

// follow returns the candidate that is next in the plan: the step after the last one carried out, so a refused step is tried again.
func (p *Player) follow(t envharness.Turn) (int, error) {
	done := 0
	for _, past := range p.s.Past {
		if past.Error == nil {
			done++
		}
	}
	if n := len(p.s.Past); n > 0 && t.Error != nil && !t.Error.Retryable {
		return 0, fmt.Errorf("play: turn %d: planned action %s was refused: %s", t.Index, p.s.Past[n-1].Action.Name, t.Error.Message)
	}
	if done >= len(p.plan) {
		return 0, fmt.Errorf("play: turn %d: the plan of %d actions did not end the episode", t.Index, len(p.plan))
	}
	want := p.plan[done]
	for i, a := range t.Shown.Actions {
		if same(a, want) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("play: turn %d: planned action %s %s is not admissible", t.Index, want.Name, want.Args)
}

func same(a, b envharness.Action) bool {
	if a.Name != b.Name {
		return false
	}
	if bytes.Equal(a.Args, b.Args) {
		return true
	}
	x, errX := canonicalArgs(a)
	y, errY := canonicalArgs(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func canonicalArgs(a envharness.Action) ([]byte, error) {
	if len(a.Args) == 0 {
		return []byte("{}"), nil
	}
	return envharness.CanonicalJSON(a.Args)
}

// Turns returns one turn with one token for each choice.
func (p *Player) Turns() []rl.Turn {
	turns := make([]rl.Turn, len(p.choices))
	for i, c := range p.choices {
		turns[i] = rl.Turn{Tokens: []rl.Token{{ID: c.Chosen, Trainable: true, LogProb: c.LogProb}}}
	}
	return turns
}

// Choices returns the choices of the episode so far, one for each turn.
func (p *Player) Choices() []Choice { return p.choices }
