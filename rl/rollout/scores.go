package rollout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
)

// Scores reads a recorded episode, of the agent or of anybody else, and returns how probable each admissible action was to m at each turn:
// out[k][i] is the log-probability, in nats, of saying the i-th action shown at turn k, EndAct included, in the context that the agent
// would have had. With Candidates it is that among the admissible actions: over actions that read differently the probabilities of a turn sum
// to 1. Actions that read alike have equal scores; one of more tokens than MaxResponse takes has -Inf. A turn that lists no actions has none.
//
// It costs one call of m.LogProbs for each turn, with one sequence for each action.
func (a *Agent) Scores(ctx context.Context, m rl.Backbone, t envharness.Trace) ([][]float64, error) {
	if m == nil {
		return nil, errors.New("rollout: the model is nil")
	}
	played := played(&t)
	out := make([][]float64, len(played))
	p := a.player(nil, nil)
	now := envharness.Turn{Shown: t.Shown}
	for k := range played {
		now.Index = k
		shown := p.prompt.read(now)
		p.encode(now.Shown.Actions)
		p.context = p.prompt.context(p.context[:0], shown)
		var err error
		if out[k], err = p.scores(ctx, m); err != nil {
			return nil, fmt.Errorf("rollout: scores of turn %d: %w", k, err)
		}
		if action := played[k].Proposed; action == nil {
			p.prompt.acted(shown, nil, false)
		} else {
			p.prompt.acted(shown, a.words.encode(nil, &p.prompt.names, action.Text(), false), true)
		}
		now.Shown, now.Error = played[k].Shown.Observation, played[k].Shown.Error
	}
	return out, nil
}

// scores returns the log-probabilities of the candidates p.tokens after p.context.
func (p *player) scores(ctx context.Context, m rl.Backbone) ([]float64, error) {
	p.choices.reset(p.tokens, p.agent.maxResponse)
	out := make([]float64, len(p.tokens))
	batch := make([]rl.Sequence, 0, len(p.choices.order))
	for _, i := range p.choices.order {
		s := rl.Sequence{Tokens: slices.Concat(p.context, p.tokens[i]), Start: len(p.context)}
		if p.agent.candidates {
			s.Allowed = p.choices.allowed(p.tokens[i])
		}
		batch = append(batch, s)
	}
	if len(batch) == 0 {
		for i := range out {
			out[i] = math.Inf(-1)
		}
		return out, nil
	}
	logp, err := m.LogProbs(ctx, batch)
	if err != nil {
		return nil, err
	}
	if len(logp) != len(batch) {
		return nil, fmt.Errorf("the model gives log-probabilities of %d of %d sequences", len(logp), len(batch))
	}
	sums := make(map[int]float64, len(batch)) // by candidate
	for k, i := range p.choices.order {
		if n := len(batch[k].Tokens) - batch[k].Start; len(logp[k]) != n {
			return nil, fmt.Errorf("the model gives log-probabilities of %d of %d tokens: %w", len(logp[k]), n, rl.ErrShape)
		}
		for _, l := range logp[k] {
			if l-l != 0 {
				return nil, fmt.Errorf("the model gives the log-probability %v: %w", l, rl.ErrNonFinite)
			}
			sums[i] += l
		}
	}
	for i := range out {
		out[i] = math.Inf(-1)
		if len(p.tokens[i]) <= p.agent.maxResponse {
			out[i] = sums[p.choices.chosen(p.tokens[i])]
		}
	}
	return out, nil
}
