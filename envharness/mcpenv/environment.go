package mcpenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/mcpclient"
)

// An environment plays one episode after the other, each on a server of its own.
type environment struct {
	w *world

	mu      sync.Mutex // guards what Close looks at
	closed  bool
	abandon context.CancelFunc // ends the running Reset; nil unless one runs
	reset   chan struct{}      // closed when that Reset has returned
	live    *live              // nil without an episode

	// The rest belongs to the goroutine of Reset and Step.
	tools *toolbox // nil without an episode
	task  *Task
	last  envharness.Observation
	turn  int
	over  bool
	lost  error // why there is no going on
}

// A live is what an episode holds.
type live struct {
	session *mcpclient.Session // nil until it is connected
	dir     string

	ending sync.Once
	err    error // of that
}

// end releases all. It may be called again, and waits where it is at work.
func (l *live) end() error {
	l.ending.Do(func() {
		if l.session != nil {
			l.err = l.session.Close()
		}
		l.err = errors.Join(l.err, os.RemoveAll(l.dir)) // after the server, which may write to it until then
	})
	return l.err
}

// infra marks an error of the server or of the way to it.
func infra(err error) error { return fmt.Errorf("mcpenv: %w: %w", envharness.ErrInfra, err) }

// Reset implements [envharness.Environment]: a new folder, a new server, the calls of the task's start.
func (e *environment) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	none := envharness.Observation{}
	ctx, done, err := e.beginReset(ctx)
	if err != nil {
		return none, err
	}
	defer done()
	if o.Seed != nil && !e.w.Deterministic {
		return none, envharness.ErrSeedUnsupported
	}
	if !noOptions(o.Options) {
		return none, errors.New("mcpenv: there are no options of an episode")
	}
	t, err := e.w.task(o.Task)
	if err != nil {
		return none, err
	}
	if err := e.drop(); err != nil {
		return none, fmt.Errorf("mcpenv: end of the episode before: %w", err)
	}
	l, tools, err := e.open(ctx, t)
	if err == nil && !e.keep(l) {
		err = errors.Join(envharness.ErrClosed, l.end())
	}
	if err != nil {
		return none, e.orClosed(err)
	}
	e.tools, e.task, e.turn, e.over, e.lost = tools, t, 0, false, nil
	e.last = envharness.Observation{Text: t.Prompt}
	return e.last, nil
}

// beginReset lets Close end what follows. The caller calls done in the end.
func (e *environment) beginReset(ctx context.Context) (inner context.Context, done func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, nil, envharness.ErrClosed
	case e.abandon != nil:
		return nil, nil, envharness.ErrBusy
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	}
	inner, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	e.abandon, e.reset = cancel, finished
	return inner, func() {
		cancel()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.abandon = nil
		close(finished)
	}, nil
}

// drop ends the present episode.
func (e *environment) drop() error {
	e.mu.Lock()
	l := e.live
	e.live = nil
	e.mu.Unlock()
	e.tools = nil
	if l == nil {
		return nil
	}
	return l.end()
}

// keep hands an episode to Close. It reports whether there was none yet.
func (e *environment) keep(l *live) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.live = l
	}
	return !e.closed
}

// open starts a server and makes the task's start on it. It leaves nothing behind when it fails.
func (e *environment) open(ctx context.Context, t *Task) (_ *live, _ *toolbox, err error) {
	if e.w.Fresh != nil {
		if err := e.w.Fresh(ctx); err != nil {
			return nil, nil, fmt.Errorf("mcpenv: fresh: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "mcpenv-")
	if err != nil {
		return nil, nil, infra(err)
	}
	l := &live{dir: dir}
	defer func() {
		if l != nil { // also if a function of the caller panics
			err = errors.Join(err, l.end())
		}
	}()
	if l.session, err = mcpclient.Connect(ctx, mcpclient.Server(e.w.Server(dir))); err != nil {
		return nil, nil, infra(err)
	}
	tools, err := e.w.list(ctx, l.session)
	if err != nil {
		return nil, nil, err
	}
	for i, a := range t.Start {
		if err := start(ctx, l.session, tools, a); err != nil {
			return nil, nil, fmt.Errorf("mcpenv: task %q: start %d %.200s: %w", t.ID, i, a, err)
		}
	}
	opened := l
	l = nil
	return opened, tools, nil
}

// start makes one call of a task's start.
func start(ctx context.Context, s *mcpclient.Session, tools *toolbox, a envharness.Action) error {
	if !tools.listed(a.Name) {
		return errors.New("the server lists no such tool")
	}
	r, err := s.Call(ctx, a.Name, a.Args)
	if err != nil {
		return fmt.Errorf("%w: %w", envharness.ErrInfra, err)
	}
	if r.IsError {
		return fmt.Errorf("refused: %s: %.200s", class(r), s.Redact(r.Text))
	}
	return nil
}

// orClosed is the error of a call that Close may have ended.
func (e *environment) orClosed(err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return envharness.ErrClosed
	}
	return err
}

// playing returns the session of the present episode.
func (e *environment) playing(ctx context.Context) (*mcpclient.Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, envharness.ErrClosed
	case e.tools == nil:
		return nil, envharness.ErrNeedReset
	case e.lost != nil:
		return nil, e.lost
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return e.live.session, nil
}

// Step implements [envharness.Environment]: one call of a tool.
func (e *environment) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	s, err := e.playing(ctx)
	if err != nil {
		return envharness.Transition{}, err
	}
	if e.over {
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	t, err := e.carryOut(ctx, s, a)
	if err != nil {
		return envharness.Transition{}, e.lose(err)
	}
	if e.turn++; e.turn >= e.w.MaxTurns && !t.Terminated {
		t.Truncated, t.Reason = true, string(envharness.EndMaxTurns)
	}
	e.over, e.last = t.Ended(), t.Observation
	return t, nil
}

// lose ends the episode with an error: nobody knows what the server has done.
func (e *environment) lose(err error) error {
	e.lost = e.orClosed(infra(err))
	return e.lost
}

func (e *environment) carryOut(ctx context.Context, s *mcpclient.Session, a envharness.Action) (envharness.Transition, error) {
	if e.w.Answer && a.Name == submitTool.Name {
		if _, err := submitted(a.Args); err != nil {
			return refusal(envharness.ClassBadArgs, err.Error()), nil
		}
		return envharness.Transition{
			Observation: envharness.Observation{Text: "submitted"}, Terminated: true, Info: map[string]any{"submitted": true},
		}, nil
	}
	name, ok := e.tools.server[a.Name]
	switch {
	case !ok:
		return refusal(envharness.ClassUnknownTool, fmt.Sprintf("there is no tool %.80q", a.Name)), nil
	case !isObject(a.Args):
		return refusal(envharness.ClassBadArgs, "the arguments are no JSON object"), nil
	}
	r, err := s.Call(ctx, name, a.Args)
	if err != nil {
		return envharness.Transition{}, err
	}
	t := envharness.Transition{Observation: envharness.Observation{Text: r.Text}}
	if t.Observation.Data, err = data(r.Structured); err != nil {
		return envharness.Transition{}, fmt.Errorf("call %q: structured content: %w", name, err)
	}
	if r.IsError {
		t.Error = &envharness.ActionError{Class: class(r), Message: r.Text}
	}
	return t, nil
}

func refusal(c envharness.ErrorClass, message string) envharness.Transition {
	return envharness.Transition{
		Observation: envharness.Observation{Text: message}, Error: &envharness.ActionError{Class: c, Message: message},
	}
}

// class is the class of a result that reports a failure.
func class(r *mcpclient.Result) envharness.ErrorClass {
	if r.BadArguments {
		return envharness.ClassBadArgs
	}
	return envharness.ClassOther
}

// data makes structured content the data of an observation. What is no object, which newer servers may send, becomes its "result".
func data(structured json.RawMessage) (map[string]any, error) {
	if structured == nil {
		return nil, nil
	}
	var v any
	if err := json.Unmarshal(structured, &v); err != nil {
		return nil, err
	}
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	return map[string]any{"result": v}, nil
}

// Observe implements [envharness.Observer].
func (e *environment) Observe(ctx context.Context) (envharness.Observation, error) {
	if _, err := e.playing(ctx); err != nil {
		return envharness.Observation{}, err
	}
	return e.last, nil
}

// RewindCounters implements [envharness.Rewinder]. What is shown is the task again, which a policy has not seen yet.
func (e *environment) RewindCounters(ctx context.Context) error {
	if _, err := e.playing(ctx); err != nil {
		return err
	}
	if e.over {
		return envharness.ErrEpisodeOver
	}
	e.turn, e.last = 0, envharness.Observation{Text: e.task.Prompt}
	return nil
}

// Tools implements [envharness.ToolLister]: what the server listed at the last Reset.
func (e *environment) Tools() []envharness.Tool {
	if e.tools == nil {
		return nil
	}
	return e.tools.shown
}

// Tasks implements [envharness.TaskLister].
func (e *environment) Tasks(ctx context.Context, split string) ([]envharness.Task, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, envharness.ErrClosed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return e.w.split(split)
}

// Describe implements [envharness.Describer]. The tools are those of [environment.Tools]: no server runs yet.
func (e *environment) Describe() envharness.Description {
	d := envharness.Description{
		Name: e.w.Name, About: e.w.About, Volatile: slices.Clone(e.w.Volatile), MaxTurns: e.w.MaxTurns, Deterministic: e.w.Deterministic,
		Refusals: []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassOther},
	}
	if e.w.Read.Name != "" {
		d.Graded = []string{graded}
	}
	return d
}

// Close implements [envharness.Environment]. It ends a Reset or Step that runs, and waits where another Close is at work.
func (e *environment) Close() error {
	e.mu.Lock()
	e.closed = true
	l := e.live // it stays, for another Close
	var reset chan struct{}
	if e.abandon != nil {
		e.abandon()
		reset = e.reset
	}
	e.mu.Unlock()
	if reset != nil {
		<-reset // it cleans up what it has opened
	}
	if l == nil {
		return nil
	}
	return l.end()
}

// A stateful environment has a tool that reads its state.
type stateful struct{ *environment }

// State implements [envharness.Stater]: a call of the read tool that is in no log.
func (e stateful) State(ctx context.Context) (envharness.State, error) {
	s, err := e.playing(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.Call(ctx, e.w.Read.Name, e.w.Read.Args)
	if err != nil {
		return nil, e.lose(err)
	}
	if r.IsError {
		return nil, e.lose(fmt.Errorf("read %q: refused: %s: %.200s", e.w.Read.Name, class(r), strings.TrimSpace(s.Redact(r.Text))))
	}
	st, err := e.w.readState(r)
	if err != nil {
		return nil, e.lose(fmt.Errorf("read %q: %w", e.w.Read.Name, err))
	}
	return st, nil
}
