package openenv

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/throughline-go/throughline/envharness"
)

// A fullError says that no slot is free.
type fullError struct{ active, limit int }

func (e *fullError) Error() string {
	return fmt.Sprintf("openenv: %d of %d environments are in use", e.active, e.limit)
}

// instance opens an environment in a slot of its own. The error is a [*fullError] if none is free.
func (s *Server) instance(ctx context.Context) (*instance, error) {
	active, ok := s.acquire()
	if !ok {
		return nil, &fullError{active, s.o.Sessions}
	}
	return s.newInstance(ctx)
}

// A play is an environment with the episode that is played in it.
type play struct {
	*instance
	begun, over bool
	episode     string // the episode_id it was given
	steps       int
	sent        []envharness.Tool // the tools that were told last
}

// A reply is an encoded answer with what it means for the play.
type reply struct {
	message []byte
	ended   bool
	sent    []envharness.Tool
}

// reset starts an episode and encodes what wrap makes of the result.
func (p *play) reset(ctx context.Context, o envharness.ResetOptions, episode string, wrap func(result) any) ([]byte, error) {
	p.begun, p.over, p.steps, p.episode = false, false, 0, episode
	r, err := guarded(ctx, p.instance, "reset", func(ctx context.Context) (reply, error) {
		obs, err := p.env.Reset(ctx, o)
		if err != nil {
			return reply{}, err
		}
		res := resetResult(obs)
		if l, ok := envharness.As[envharness.TurnLimiter](p.env); ok {
			res.Observation.TurnLimit = l.TurnLimit()
		}
		return p.encode(res, nil, wrap)
	})
	if err != nil {
		return nil, err
	}
	p.begun, p.sent = true, r.sent
	return r.message, nil
}

// step performs one action and encodes what wrap makes of the result. After a failure of the environment nobody knows how things stand: the
// episode is given up.
func (p *play) step(ctx context.Context, a envharness.Action, wrap func(result) any) ([]byte, error) {
	switch {
	case p.over:
		return nil, envharness.ErrEpisodeOver
	case !p.begun:
		return nil, envharness.ErrNeedReset
	}
	r, err := guarded(ctx, p.instance, "step", func(ctx context.Context) (reply, error) {
		t, err := p.env.Step(ctx, a)
		if err != nil {
			return reply{}, err
		}
		return p.encode(stepResult(t), p.sent, wrap)
	})
	if err != nil {
		p.begun = false
		return nil, err
	}
	p.steps++
	p.over, p.sent = r.ended, r.sent
	return r.message, nil
}

// encode adds the tools if they are others than the client knows, and writes the message. It touches foreign values and is called under
// guard, possibly after p was given up: it changes nothing of p.
func (p *play) encode(res result, sent []envharness.Tool, wrap func(result) any) (reply, error) {
	if l, ok := envharness.As[envharness.ToolLister](p.env); ok {
		tools := l.Tools()
		if tools == nil {
			tools = []envharness.Tool{}
		}
		if sent == nil || !reflect.DeepEqual(sent, tools) {
			res.Observation.Tools = tools
		}
		sent = tools
	}
	b, err := encode(wrap(res))
	if err != nil {
		return reply{}, err
	}
	if len(b) > p.s.o.MaxMessage {
		return reply{}, errTooLong
	}
	return reply{message: b, ended: res.Done, sent: sent}, nil
}

// A state is the data of a state message.
type state struct {
	Episode *string         `json:"episode_id"`
	Steps   int             `json:"step_count"`
	State   json.RawMessage `json:"state,omitempty"`
}

// state reads the state and encodes what wrap makes of it.
func (p *play) state(ctx context.Context, wrap func(state) any) ([]byte, error) {
	return guarded(ctx, p.instance, "state", func(ctx context.Context) ([]byte, error) {
		st := state{Episode: orNull(p.episode), Steps: p.steps}
		if stater, ok := envharness.As[envharness.Stater](p.env); ok {
			var err error
			if st.State, err = stater.State(ctx); err != nil {
				return nil, err
			}
		}
		b, err := encode(wrap(st))
		if err == nil && len(b) > p.s.o.MaxMessage {
			err = errTooLong
		}
		return b, err
	})
}

// An outgoing is a message of the server.
type outgoing struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

func observed(r result) any { return outgoing{"observation", r} }

func stated(s state) any { return outgoing{"state", s} }

// errorMessage encodes an error with more fields than code and message.
func errorMessage(code, text string, more map[string]any) []byte {
	data := map[string]any{"message": text, "code": code}
	maps.Copy(data, more)
	b, _ := encode(outgoing{"error", data}) // strings, numbers and what was JSON before
	return b
}

// answer answers one message; more is false after the last.
func (p *play) answer(ctx context.Context, frame []byte) (message []byte, more bool) {
	m, f := readMessage(frame)
	if f != nil {
		var more map[string]any
		if f.code == codeValidation {
			more = map[string]any{"errors": f.problems}
		}
		return errorMessage(f.code, f.text, more), true
	}
	var err error
	switch m.kind {
	case "reset":
		message, err = p.reset(ctx, m.reset, m.episode, observed)
	case "step":
		message, err = p.take(ctx, m.step, func(v any) any { return outgoing{"observation", v} })
	case "state":
		if !p.s.o.ExposeState {
			return errorMessage(codeUnknownType, "this server does not tell its state", nil), true
		}
		message, err = p.state(ctx, stated)
	case "mcp":
		return p.call(ctx, m.rpc, func(r response) any { return outgoing{"mcp", r} }), true
	case "close":
		return nil, false
	}
	if err != nil {
		class, text := classify(err)
		return errorMessage(codeExecution, text, map[string]any{"class": class}), true
	}
	return message, true
}

// tools lists the tools as they stand. Where they do not change, that is what the first environment told.
func (p *play) tools(ctx context.Context) ([]envharness.Tool, error) {
	if l, ok := envharness.As[envharness.ToolLister](p.env); ok {
		return guarded(ctx, p.instance, "describe", func(context.Context) ([]envharness.Tool, error) { return l.Tools(), nil })
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if a := p.s.about; a != nil && a.Description != nil {
		return a.Description.Tools, nil
	}
	return nil, nil
}
