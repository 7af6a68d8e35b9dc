package vector_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	eh "github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/vector"
)

var errBoom = errors.New("boom")

// A field is where tracks are, one for each environment. What happens is counted by task.
type field struct {
	onReset func(ctx context.Context, t *track) error // before the reset; t.resets counts it already
	onStep  func(ctx context.Context, t *track, a eh.Action) error
	onClose func(t *track) error
	judge   func(ctx context.Context, e eh.Evidence) (eh.Verdict, error)
	desc    eh.Description

	mu           sync.Mutex
	open, opened int
	resets       map[string]int
	actions      map[string][]string // that reached an environment
}

// A track is an environment whose task is a name and a number of turns, "a/3", after which it terminates. The reward of turn k is k.
type track struct {
	f      *field
	order  int // in which it was opened, from 1
	name   string
	length int
	turn   int
	resets int // of this instance
	seed   uint64
	closed bool
}

func (f *field) world() eh.World {
	w := eh.World{
		New: func(context.Context) (eh.Environment, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.open++
			f.opened++
			return &track{f: f, order: f.opened}, nil
		},
		Verifier: eh.VerifierFunc(f.verify),
	}
	return w
}

func (f *field) verify(ctx context.Context, e eh.Evidence) (eh.Verdict, error) {
	if f.judge != nil {
		return f.judge(ctx, e)
	}
	if e.EndReason == eh.EndTerminated {
		return eh.Verdict{Status: eh.Pass}, nil
	}
	return eh.Verdict{Status: eh.Fail}, nil
}

// counts returns what happened to a task.
func (f *field) counts(task string) (resets, steps int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resets[task], len(f.actions[task])
}

func (f *field) stillOpen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

func (t *track) Reset(ctx context.Context, o eh.ResetOptions) (eh.Observation, error) {
	name, length, ok := strings.Cut(o.Task, "/")
	n, err := strconv.Atoi(length)
	if !ok || err != nil {
		return eh.Observation{}, fmt.Errorf("%w: %q", eh.ErrNoTask, o.Task)
	}
	t.name, t.length, t.turn, t.seed = name, n, 0, *o.Seed
	t.resets++
	t.f.mu.Lock()
	if t.f.resets == nil {
		t.f.resets, t.f.actions = map[string]int{}, map[string][]string{}
	}
	t.f.resets[name]++
	t.f.mu.Unlock()
	if t.f.onReset != nil {
		if err := t.f.onReset(ctx, t); err != nil {
			return eh.Observation{}, err
		}
	}
	return t.show(), nil
}

func (t *track) show() eh.Observation {
	return eh.Observation{
		Text: fmt.Sprintf("%s %d/%d", t.name, t.turn, t.length),
		Data: map[string]any{"seed": strconv.FormatUint(t.seed, 16)},
	}
}

func (t *track) Step(ctx context.Context, a eh.Action) (eh.Transition, error) {
	t.f.mu.Lock()
	t.f.actions[t.name] = append(t.f.actions[t.name], a.Name)
	t.f.mu.Unlock()
	t.turn++
	if t.f.onStep != nil {
		if err := t.f.onStep(ctx, t, a); err != nil {
			return eh.Transition{}, err
		}
	}
	turn := float64(t.turn)
	return eh.Transition{Observation: t.show(), Reward: turn, Terminated: t.turn >= t.length, Info: map[string]any{"turn": turn}}, nil
}

func (t *track) Close() error {
	t.f.mu.Lock()
	if !t.closed {
		t.f.open--
	}
	t.closed = true
	t.f.mu.Unlock()
	if t.f.onClose != nil {
		return t.f.onClose(t)
	}
	return nil
}

func (t *track) Describe() eh.Description { return t.f.desc }

// tasks are reset options for each of the tasks, without seeds.
func tasks(names ...string) []eh.ResetOptions {
	var os []eh.ResetOptions
	for _, n := range names {
		os = append(os, eh.ResetOptions{Task: n})
	}
	return os
}

// acts is one action for each of n slots.
func acts(n int, name string) []eh.Action {
	as := make([]eh.Action, n)
	for i := range as {
		as[i].Name = name
	}
	return as
}

func mustNew(t testing.TB, w eh.World, n int, o *vector.Options) *vector.Vector {
	t.Helper()
	v, err := vector.New(w, nil, n, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func mustReset(t testing.TB, v *vector.Vector, os []eh.ResetOptions, slots ...int) []vector.Result {
	t.Helper()
	rs, err := v.Reset(t.Context(), os, slots...)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func mustStep(t testing.TB, v *vector.Vector, as []eh.Action) []vector.Result {
	t.Helper()
	rs, err := v.Step(t.Context(), as)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// brief writes a result on one line: what is shown, the reward, T for terminated, X for truncated, and what else is there.
func brief(r vector.Result) string {
	s := r.Observation.Text
	if r.Reward != 0 {
		s += fmt.Sprint(" +", r.Reward)
	}
	if r.Terminated {
		s += " T"
	}
	if r.Truncated {
		s += " X"
	}
	if r.AutoReset {
		s += " auto"
	}
	if r.Final != nil {
		s += " final(" + brief(vector.Result{Transition: *r.Final}) + ")"
	}
	if e := r.Episode; e != nil {
		s += fmt.Sprintf(" episode(%s return %v turns %d %s)", e.Task, e.Return, e.Turns, e.Verdict.Status)
	}
	for name, err := range known {
		if errors.Is(r.Err, err) {
			return strings.TrimSpace(s + " " + name)
		}
	}
	if r.Err != nil {
		s += " " + r.Err.Error()
	}
	return strings.TrimSpace(s)
}

var known = map[string]error{
	"!over": eh.ErrEpisodeOver, "!reset": eh.ErrNeedReset, "!boom": errBoom, "!late": context.DeadlineExceeded, "!cancelled": context.Canceled,
	"!closed": eh.ErrClosed, "!task": eh.ErrNoTask,
}

func briefs(rs []vector.Result) []string {
	out := make([]string, len(rs))
	for i, r := range rs {
		out[i] = brief(r)
	}
	return out
}
