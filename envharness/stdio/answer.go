package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// maxMessage bounds the message of an error in a reply, in bytes.
const maxMessage = 1 << 10

func (s *server) answer(ctx context.Context, m message) reply {
	if m.err != nil {
		return reply{ID: m.id, Error: &wireError{codeBadMessage, clip(m.err.Error())}}
	}
	ok, err := guard(func() (any, error) { return s.call(ctx, m.req) })
	if err != nil {
		return reply{ID: m.id, Error: failed(err)}
	}
	return reply{ID: m.id, OK: ok}
}

// A panicked environment tells nothing of it.
var errPanic = errors.New("the environment panicked")

// guard calls foreign code.
func guard(f func() (any, error)) (v any, err error) {
	defer func() {
		if recover() != nil {
			v, err = nil, errPanic
		}
	}()
	v, err = f()
	if err != nil {
		_ = err.Error() // its methods are foreign, too
		_ = codeOf(err)
	}
	return v, err
}

// failed is the answer for an error that guard let pass.
func failed(err error) *wireError {
	if bad, ok := errors.AsType[badRequest](err); ok {
		return &wireError{codeBadMessage, clip(string(bad))}
	}
	return &wireError{codeOf(err), clip(err.Error())}
}

func clip(s string) string { return s[:min(len(s), maxMessage)] }

// A badRequest can be read and not carried out.
type badRequest string

func (b badRequest) Error() string { return string(b) }

// call carries out one request.
func (s *server) call(ctx context.Context, q request) (any, error) {
	switch q.Op {
	case "hello":
		return s.hello(), nil
	case "reset":
		o, err := s.env.Reset(ctx, envharness.ResetOptions{Task: q.Task, Seed: q.Seed, Options: q.Options})
		if err != nil {
			return nil, err
		}
		s.tools = nil
		now, err := s.situation(true)
		return started{Obs: &o, Seed: q.Seed, situation: now}, err
	case "step":
		a, err := q.Action.inward()
		if err != nil {
			return nil, badRequest(err.Error())
		}
		t, err := s.env.Step(ctx, a)
		if err != nil {
			return nil, err
		}
		now, err := s.situation(false)
		return stepped{
			Obs: &t.Observation, Reward: &t.Reward, Terminated: &t.Terminated, Truncated: &t.Truncated, Reason: t.Reason, Error: t.Error,
			Info: t.Info, situation: now,
		}, err
	case "close":
		return struct{}{}, s.close()
	}
	return s.callOptional(ctx, q)
}

// callOptional carries out what not every environment can do.
func (s *server) callOptional(ctx context.Context, q request) (any, error) {
	switch q.Op {
	case "observe":
		if e, ok := envharness.As[envharness.Observer](s.env); ok {
			o, err := e.Observe(ctx)
			return observed{&o}, err
		}
	case "state":
		if e, ok := envharness.As[envharness.Stater](s.env); ok {
			state, err := e.State(ctx)
			return stated{state}, err
		}
	case "tasks":
		if e, ok := envharness.As[envharness.TaskLister](s.env); ok {
			tasks, err := e.Tasks(ctx, *q.Split)
			if tasks == nil {
				tasks = []envharness.Task{}
			}
			return listed{&tasks}, err
		}
	case "rewind":
		if e, ok := envharness.As[envharness.Rewinder](s.env); ok {
			if err := e.RewindCounters(ctx); err != nil {
				return nil, err
			}
			return s.situation(true)
		}
	case "snapshot":
		if e, ok := envharness.As[envharness.Snapshotter](s.env); ok {
			state, err := e.Snapshot(ctx)
			return snapped{state}, err
		}
	case "restore":
		if e, ok := envharness.As[envharness.Snapshotter](s.env); ok {
			if err := e.Restore(ctx, q.Snapshot); err != nil {
				return nil, err
			}
			return s.situation(true)
		}
	case "plan":
		if e, ok := envharness.As[envharness.Oracle](s.env); ok {
			actions, err := e.Plan(ctx)
			if actions == nil {
				actions = []envharness.Action{}
			}
			return planned{&actions}, err
		}
	}
	return nil, badRequest("this environment has no " + q.Op)
}

func (s *server) hello() greeting {
	var d envharness.Description
	if e, ok := envharness.As[envharness.Describer](s.env); ok {
		d = e.Describe()
		if d.Tools == nil {
			d.Tools = []envharness.Tool{} // so that it is told from none
		}
	}
	return greet(abilities{
		Observe:   has[envharness.Observer](s.env),
		State:     has[envharness.Stater](s.env),
		Tasks:     has[envharness.TaskLister](s.env),
		Rewind:    has[envharness.Rewinder](s.env),
		Snapshot:  has[envharness.Snapshotter](s.env),
		Plan:      has[envharness.Oracle](s.env),
		Tools:     has[envharness.ToolLister](s.env),
		TurnLimit: has[envharness.TurnLimiter](s.env),
	}, d)
}

func has[T any](env envharness.Environment) bool {
	_, ok := envharness.As[T](env)
	return ok
}

// situation asks for the tools, to be told if they are others than were told last, and, where it may have changed, for the limit.
func (s *server) situation(limit bool) (now situation, err error) {
	if e, ok := envharness.As[envharness.TurnLimiter](s.env); ok && limit {
		now.TurnLimit = new(e.TurnLimit())
	}
	if e, ok := envharness.As[envharness.ToolLister](s.env); ok {
		tools := e.Tools()
		if tools == nil {
			tools = []envharness.Tool{}
		}
		list, err := json.Marshal(tools)
		if err != nil {
			return now, fmt.Errorf("tools: %w", err)
		}
		if !bytes.Equal(list, s.tools) {
			s.tools, now.Tools = list, &tools
		}
	}
	return now, nil
}
