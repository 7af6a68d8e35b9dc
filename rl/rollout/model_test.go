package rollout

import (
	"context"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
)

// guess responds with tokens at random, all that are allowed equally likely.
type guess struct{ vocab int }

func (g guess) Vocab() int { return g.vocab }

func (g guess) Sample(_ context.Context, dst, _ []int, o rl.SampleOptions) ([]int, error) {
	for start := len(dst); len(dst)-start < o.Limit; {
		id := o.Rand.IntN(g.vocab)
		if o.Allowed != nil {
			if list := o.Allowed(dst[start:]); len(list) > 0 {
				id = list[o.Rand.IntN(len(list))]
			}
		}
		if dst = append(dst, id); id == o.Stop {
			break
		}
	}
	return dst, nil
}

// hashed is a language model without parameters: the logit of a token follows from the tokens before it. It samples and gives the same
// log-probabilities, over all tokens but the two of values, or those allowed.
type hashed struct {
	vocab int
	seen  func(batch []rl.Sequence, logp [][]float64) // if not nil, gets each call of LogProbs
}

func (h hashed) logProbs(before, allowed []int) map[int]float64 {
	if len(allowed) == 1 {
		return map[int]float64{allowed[0]: 0}
	}
	if len(allowed) == 0 {
		for id := range h.vocab {
			if id != ValuePlus && id != ValueMinus {
				allowed = append(allowed, id)
			}
		}
	}
	x := uint64(14695981039346656037)
	for _, id := range before {
		x = (x ^ uint64(id)) * 1099511628211
	}
	out, sum := map[int]float64{}, 0.0
	for _, id := range allowed {
		y := (x ^ uint64(id)*2654435761) * 0x9E3779B97F4A7C15
		out[id] = float64(y>>40) / (1 << 23)
		sum += math.Exp(out[id])
	}
	for id := range out {
		out[id] -= math.Log(sum)
	}
	return out
}

func (h hashed) Sample(_ context.Context, dst, before []int, o rl.SampleOptions) ([]int, error) {
	start := len(dst)
	all := append([]int(nil), before...)
	for len(dst)-start < o.Limit {
		var list []int
		if o.Allowed != nil {
			list = o.Allowed(dst[start:])
		}
		logp := h.logProbs(all, list)
		if len(list) == 0 {
			for id := range h.vocab {
				if _, ok := logp[id]; ok {
					list = append(list, id)
				}
			}
		}
		pick := list[len(list)-1]
		if o.Temperature == 0 {
			pick = list[0]
			for _, id := range list {
				if logp[id] > logp[pick] {
					pick = id
				}
			}
		} else {
			u := o.Rand.Float64()
			for _, id := range list {
				if u -= math.Exp(logp[id]); u < 0 {
					pick = id
					break
				}
			}
		}
		dst, all = append(dst, pick), append(all, pick)
		if pick == o.Stop {
			break
		}
	}
	return dst, nil
}

func (h hashed) LogProbs(_ context.Context, batch []rl.Sequence) ([][]float64, error) {
	out := make([][]float64, len(batch))
	for i, s := range batch {
		if s.Start < 1 || s.Start > len(s.Tokens) || s.Allowed != nil && len(s.Allowed) != len(s.Tokens)-s.Start {
			return nil, fmt.Errorf("sequence %d: start %d of %d, %d lists", i, s.Start, len(s.Tokens), len(s.Allowed))
		}
		for j := s.Start; j < len(s.Tokens); j++ {
			var list []int
			if s.Allowed != nil {
				list = s.Allowed[j-s.Start]
			}
			l, ok := h.logProbs(s.Tokens[:j], list)[s.Tokens[j]]
			if !ok {
				return nil, fmt.Errorf("sequence %d: token %d is not allowed", i, j)
			}
			out[i] = append(out[i], l)
		}
	}
	if h.seen != nil {
		h.seen(batch, out)
	}
	return out, nil
}

func (hashed) AddGrad(context.Context, []rl.Sequence, [][]float64) error { return nil }
func (hashed) Step(context.Context, float64) (float64, error)            { return 0, nil }

// says responds with the lines of a text, one after the other, each ended by EndAct unless it ends with "...".
type says struct {
	tok   *Tokenizer
	lines [][]int
	n     *int
	asked [][]int // contexts
}

func (s *says) Sample(_ context.Context, dst, before []int, o rl.SampleOptions) ([]int, error) {
	s.asked = append(s.asked, append([]int(nil), before...))
	line := s.lines[min(*s.n, len(s.lines)-1)]
	*s.n++
	return append(dst, line[:min(len(line), o.Limit)]...), nil
}

func saying(tok *Tokenizer, lines ...string) *says {
	s := &says{tok: tok, n: new(int)}
	for _, l := range lines {
		s.lines = append(s.lines, append(tok.Encode(nil, nil, l), EndAct))
	}
	return s
}

// a broken model.
type broken struct {
	response []int
	err      error
}

func (b broken) Sample(_ context.Context, dst, _ []int, _ rl.SampleOptions) ([]int, error) {
	return append(dst, b.response...), b.err
}

// corridor is a world whose observations are listed, one after the other; each action is accepted but those named "no", and the episode ends
// after the last. It passes if the last action is "win".
type corridor struct {
	shown []envharness.Observation
	at    int
}

func (c *corridor) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	c.at = 0
	return c.shown[0], nil
}

func (c *corridor) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	if a.Name == "no" {
		e := &envharness.ActionError{Class: envharness.ClassNotFound, Message: "not here"}
		return envharness.Transition{Observation: c.shown[c.at], Reward: -1, Error: e}, nil
	}
	c.at++
	return envharness.Transition{Observation: c.shown[c.at], Reward: float64(c.at), Terminated: c.at == len(c.shown)-1}, nil
}

func (c *corridor) Close() error { return nil }

// walk makes a world of a corridor with the given texts; actions are admissible in each.
func walk(data map[string]any, actions []envharness.Action, texts ...string) envharness.World {
	var shown []envharness.Observation
	for _, s := range texts {
		shown = append(shown, envharness.Observation{Text: s, Data: data, Actions: actions})
	}
	return envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return &corridor{shown: shown}, nil },
		Verifier: envharness.VerifierFunc(func(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
			if e.Log[len(e.Log)-1].Action.Name == "win" {
				return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}
}

func actions(names ...string) []envharness.Action {
	var out []envharness.Action
	for _, n := range names {
		out = append(out, envharness.Action{Name: n})
	}
	return out
}

// playing makes players who draw from streams of their own.
func playing(a *Agent, seed uint64) func(slot int) (Player, error) {
	return func(slot int) (Player, error) { return a.Play(envharness.RandStream(seed, "agent", uint64(slot))), nil }
}
