package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
)

// AgentOptions adjusts an [Agent]. A nil *AgentOptions equals &AgentOptions{}.
type AgentOptions struct {
	History     *int // turns before the present one that a context holds, >= 0; nil means 2 (verl-agent)
	MaxResponse int  // most tokens of a response, its EndAct among them, >= 2; zero means 16
	// MaxLen is the most tokens of context and response together, at least MaxResponse + 4. Zero means 256, or less where the model has a method
	// MaxLen() int and says so.
	MaxLen      int
	Temperature *float64 // >= 0, finite; nil means 1, 0 takes the most probable token
	// Candidates makes the agent choose among the admissible actions: token by token, each among the tokens with which one of them goes on.
	// Every response is then an admissible action. Of two that read alike it takes the first; those of more than MaxResponse-1 tokens it
	// cannot choose. Otherwise it may say what it will. Tokens without a choice, such as the EndAct of an action that no other one continues, are
	// drawn with probability 1: they have gradient 0, and count in means over tokens, so that such means depend on how actions are spelt.
	Candidates bool
	// Parse makes an action of a free response, which it is given in words with a space between any two, without the EndAct, and of the turn
	// that it answers. An error that wraps envharness.ErrBadAction uses up the turn, any other ends the episode. Nil means the first
	// admissible action with the same tokens, else an ErrBadAction. It must be safe for concurrent use. With Candidates it must be nil.
	Parse func(response string, t envharness.Turn) (envharness.Action, error)
}

// An Agent lets a language model act: it writes what a turn shows as a sequence of tokens, and reads an action from the model's response.
//
// Each turn is a sequence of its own, BOS task { Sep shown Act action EndAct } Sep shown Act response EndAct, with the last turns in
// braces, as agents of verl-agent have it. The task is Data["task"] where that is a string, else the first text. It stands in front once: a
// text that begins with it is shown without it (ours). An action is written as [envharness.Action.Text] gives it. A refusal of the last action
// is told by the words of its class before the text; an answer that could not be read leaves no action behind. A context that would not
// leave room for MaxResponse tokens loses first its oldest turns, then the beginning of what is shown, then the end of the task. [Agent.Given]
// adds notes.
//
// The response is what is trainable, EndAct included; its log-probabilities are not noted, since the learner's own pass gives them. A response
// without EndAct within MaxResponse tokens, or one that is not an action, is invalid and uses up the turn.
//
// An Agent does not change. It is safe for concurrent use if its model is.
type Agent struct {
	model       rl.Sampler
	words       *Tokenizer
	history     int
	maxResponse int
	room        int // tokens of a context
	temperature float64
	candidates  bool
	parse       func(response string, t envharness.Turn) (envharness.Action, error)
	notes       string
}

// NewAgent makes an agent. A model that has a method Vocab() int must have an entry for each id of t.
func NewAgent(m rl.Sampler, t *Tokenizer, o *AgentOptions) (*Agent, error) {
	if o == nil {
		o = &AgentOptions{}
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("rollout: "+format, args...)) }
	a := &Agent{model: m, words: t, history: 2, maxResponse: o.MaxResponse, temperature: 1, candidates: o.Candidates, parse: o.Parse}
	if m == nil {
		fault("the model is nil")
	}
	if t == nil {
		fault("the tokenizer is nil")
	}
	if v, ok := m.(interface{ Vocab() int }); ok && t != nil && v.Vocab() < t.Vocab() {
		fault("the model has %d tokens, want at least the %d of the tokenizer", v.Vocab(), t.Vocab())
	}
	if o.History != nil {
		a.history = *o.History
	}
	if a.history < 0 {
		fault("AgentOptions.History is %d, want at least 0", a.history)
	}
	if a.maxResponse == 0 {
		a.maxResponse = 16
	}
	if a.maxResponse < 2 {
		fault("AgentOptions.MaxResponse is %d, want at least 2, or 0 for the default", a.maxResponse)
	}
	limit := math.MaxInt
	if l, ok := m.(interface{ MaxLen() int }); ok {
		limit = l.MaxLen()
	}
	maxLen := o.MaxLen
	if maxLen == 0 {
		maxLen = min(256, limit)
	}
	if maxLen > limit {
		fault("AgentOptions.MaxLen is %d, and the model takes %d tokens", maxLen, limit)
	}
	if a.room = maxLen - a.maxResponse; a.room < 4 {
		fault("sequences of at most %d tokens with responses of %d leave too little for a context, want MaxLen >= MaxResponse + 4",
			maxLen, a.maxResponse)
	}
	if o.Temperature != nil {
		a.temperature = *o.Temperature
	}
	if !(a.temperature >= 0) || math.IsInf(a.temperature, 1) {
		fault("AgentOptions.Temperature is %v, want a finite number of at least 0", a.temperature)
	}
	if o.Candidates && o.Parse != nil {
		fault("AgentOptions.Candidates and Parse are both set")
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return a, nil
}

// Play returns the player of an episode, who samples with draws from rng; nil means rand.New(rand.NewPCG(1, 2)). To play an episode that
// does not depend on others, give it a stream of its own: envharness.RandStream(seed, "agent", uint64(slot)).
//
// The player is a [Finisher] and an [envharness.Explainer]. An error of the model is an [envharness.ErrInfra]; so is a response that keeps
// to neither the limit nor the tokens allowed. With Candidates, and without Parse, a turn that lists no admissible actions is an error.
func (a *Agent) Play(rng *rand.Rand) Player {
	if rng == nil {
		rng = rand.New(rand.NewPCG(1, 2))
	}
	return a.player(rng, nil)
}

// Follow returns the player of an episode that does what teacher does, and notes the words of its actions as a response of the agent:
// demonstrations to imitate. An action that the agent could not have taken is an error: one whose tokens are too many, or are read back as
// another action or none. Errors of teacher end the episode as they do in [envharness.Policy], but for ErrBadAction, which is a failure too.
func (a *Agent) Follow(teacher envharness.Policy) Player {
	if teacher == nil {
		teacher = envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			return envharness.Action{}, errors.New("rollout: the teacher is nil")
		})
	}
	return a.player(nil, teacher)
}

func (a *Agent) player(rng *rand.Rand, teacher envharness.Policy) *player {
	return &player{agent: a, rng: rng, teacher: teacher, prompt: a.prompt()}
}

func (a *Agent) prompt() prompt {
	return prompt{words: a.words, history: a.history, room: a.room, notes: a.notes}
}

// Given returns an agent like a that is given notes in every episode besides what the world shows, such as the skills that serve its task.
// They stand after the task in each context, BOS task Sep notes; where they do not fit, their end is left out before that of the task is. A word
// of theirs that is not in the vocabulary has a slot, after those of the first text. Empty notes mean none. Words that the
// tokenizer does not know get slots, or are Unk: name them in TokenizerOptions.More.
func (a *Agent) Given(notes string) *Agent {
	b := *a
	b.notes = notes
	return &b
}

// A Finisher is a [Player] that can tell the context of the turn that would follow its last one. t is what that turn would show. It is
// called at most once, after the episode; the result is the caller's.
type Finisher interface {
	Finish(t envharness.Turn) []int
}

// A player plays one episode at a time.
type player struct {
	agent   *Agent
	rng     *rand.Rand
	teacher envharness.Policy // nil: the model acts
	prompt  prompt
	turns   []rl.Turn
	err     error // that ended the episode

	said  string
	spent int

	known    map[call][]int // tokens of actions with EndAct
	tokens   [][]int        // of the admissible actions
	choices  choices
	context  []int
	response []int
}

// A call is an action as a key.
type call struct{ name, args string }

// Act implements envharness.Policy.
func (p *player) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	p.said, p.spent, p.err = "", 0, nil
	if t.Index == 0 {
		p.turns = nil
		clear(p.known)
	}
	shown := p.prompt.read(t)
	if p.agent.parse == nil {
		if len(t.Shown.Actions) == 0 {
			return p.fail(fmt.Errorf("rollout: turn %d: the environment lists no admissible actions, and AgentOptions.Parse is not set", t.Index))
		}
		p.encode(t.Shown.Actions)
		if p.agent.candidates {
			p.choices.reset(p.tokens, p.agent.maxResponse)
			if len(p.choices.order) == 0 {
				return p.fail(fmt.Errorf("rollout: turn %d: no admissible action has less than AgentOptions.MaxResponse, %d tokens",
					t.Index, p.agent.maxResponse))
			}
		}
	}
	p.context = p.prompt.context(p.context[:0], shown)
	var (
		action envharness.Action
		err    error
	)
	if p.teacher != nil {
		action, err = p.follow(ctx, t)
	} else if err = p.sample(ctx); err == nil {
		action, err = p.parse(t)
	}
	bad := errors.Is(err, envharness.ErrBadAction) && !errors.Is(err, envharness.ErrInfra)
	if err != nil && !bad {
		return p.fail(err)
	}
	p.note()
	if bad {
		p.prompt.acted(shown, nil, false)
	} else {
		p.prompt.acted(shown, p.agent.words.encode(nil, &p.prompt.names, action.Text(), false), true)
	}
	return action, err
}

func (p *player) fail(err error) (envharness.Action, error) {
	p.err = err
	return envharness.Action{}, err
}

// encode sets p.tokens. Between what it may choose an agent must see a difference, so there new words get slots.
func (p *player) encode(actions []envharness.Action) {
	p.tokens = p.tokens[:0]
	for i := range actions {
		ids, ok := p.known[call{actions[i].Name, string(actions[i].Args)}]
		if !ok {
			ids = p.agent.encode(&p.prompt.names, actions[i], p.agent.candidates)
			// Without a new slot a word may be unknown today and known tomorrow.
			if p.agent.candidates || !slices.Contains(ids, Unk) {
				if p.known == nil {
					p.known = make(map[call][]int)
				}
				p.known[call{actions[i].Name, string(actions[i].Args)}] = ids
			}
		}
		p.tokens = append(p.tokens, ids)
	}
}

// encode returns the response that is an action.
func (a *Agent) encode(names *Names, action envharness.Action, note bool) []int {
	return append(a.words.encode(nil, names, action.Text(), note), EndAct)
}

// sample lets the model respond.
func (p *player) sample(ctx context.Context) error {
	o := rl.SampleOptions{Temperature: p.agent.temperature, Stop: EndAct, Limit: p.agent.maxResponse, Rand: p.rng}
	if p.agent.candidates {
		o.Allowed = p.choices.next
	}
	var err error
	p.response, err = p.agent.model.Sample(ctx, p.response[:0], p.context, o)
	if err != nil {
		return fmt.Errorf("%w: %w", envharness.ErrInfra, err)
	}
	if n := len(p.response); n == 0 || n > p.agent.maxResponse {
		return fmt.Errorf("%w: the model responds with %d tokens, want 1 to %d", envharness.ErrInfra, n, p.agent.maxResponse)
	}
	return nil
}

var (
	errNoEnd    = fmt.Errorf("%w: no end", envharness.ErrBadAction)
	errNoAction = fmt.Errorf("%w: no action", envharness.ErrBadAction)
)

// parse reads the response.
func (p *player) parse(t envharness.Turn) (envharness.Action, error) {
	switch n := len(p.response); {
	case p.agent.candidates:
		i := p.choices.chosen(p.response)
		if i < 0 {
			return envharness.Action{}, fmt.Errorf("%w: the model responds with %v, which is not among the tokens allowed",
				envharness.ErrInfra, p.response)
		}
		return t.Shown.Actions[i], nil
	case n == 0 || p.response[n-1] != EndAct:
		return envharness.Action{}, errNoEnd
	case p.agent.parse != nil:
		return p.agent.parse(p.agent.words.Decode(&p.prompt.names, p.response[:n-1]), t)
	}
	for i, ids := range p.tokens {
		if slices.Equal(ids, p.response) {
			return t.Shown.Actions[i], nil
		}
	}
	return envharness.Action{}, errNoAction
}

// follow lets the teacher act, and checks that its action is read back as what it is.
func (p *player) follow(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	action, err := p.teacher.Act(ctx, t)
	switch {
	case errors.Is(err, envharness.ErrBadAction):
		return action, fmt.Errorf("rollout: turn %d: the teacher: %v", t.Index, err)
	case err != nil:
		return action, err
	}
	fault := func(format string, args ...any) error {
		return fmt.Errorf("rollout: turn %d: the teacher's action %s %s", t.Index, action, fmt.Sprintf(format, args...))
	}
	p.response = append(p.response[:0], p.agent.encode(&p.prompt.names, action, false)...)
	if n := len(p.response); n > p.agent.maxResponse {
		return action, fault("takes %d tokens, and AgentOptions.MaxResponse is %d", n, p.agent.maxResponse)
	}
	if p.agent.parse == nil && !slices.ContainsFunc(t.Shown.Actions, func(b envharness.Action) bool { return same(action, b) }) {
		return action, fault("is not admissible")
	}
	unknown := ""
	if slices.Contains(p.response, Unk) {
		unknown = "; it has unknown words, " + p.agent.words.Decode(&p.prompt.names, p.response[:len(p.response)-1])
	}
	switch got, err := p.parse(t); {
	case err != nil:
		return action, fault("is not read back: %v%s", err, unknown)
	case !same(got, action):
		return action, fault("is read back as %s%s", got, unknown)
	}
	return action, nil
}

// same reports whether two actions are one, however their arguments are written.
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

// note keeps the turn for training.
func (p *player) note() {
	turn := rl.Turn{Tokens: make([]rl.Token, len(p.context)+len(p.response))}
	for i, id := range p.context {
		turn.Tokens[i].ID = id
	}
	for i, id := range p.response {
		turn.Tokens[len(p.context)+i] = rl.Token{ID: id, Trainable: true}
	}
	if p.agent.candidates {
		turn.Allowed = p.choices.allowed(p.response)
	}
	p.turns = append(p.turns, turn)
	p.spent = len(turn.Tokens)
	words := p.response
	if words[len(words)-1] == EndAct {
		words = words[:len(words)-1]
	}
	p.said = p.agent.words.Decode(&p.prompt.names, words)
}

// Turns implements Player.
func (p *player) Turns() []rl.Turn { return p.turns }

// Explain implements envharness.Explainer: the last response in words, and the number of tokens of its turn. There is nothing to tell of
// an answer that ended the episode.
func (p *player) Explain() (string, int) { return p.said, p.spent }

// Finish implements Finisher.
func (p *player) Finish(t envharness.Turn) []int { return p.prompt.context(nil, p.prompt.read(t)) }
