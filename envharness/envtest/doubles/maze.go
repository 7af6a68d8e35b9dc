package doubles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
)

// A maze is a small correct environment with every ability: a corridor in which one goes left or right and stops at the goal. A
// lamp flickers at random in each turn and means nothing.
type maze struct {
	closed atomic.Bool
	ready  bool
	now    mazeState
	own    ownStream
}

// mazeState is all that the future of an episode depends on.
type mazeState struct {
	Kind    string  `json:"kind"`
	Version int     `json:"version"`
	Seed    string  `json:"seed"` // of the lamp; a string, since it may be too long for a JSON number
	Draws   uint64  `json:"draws"`
	Width   int     `json:"width"`
	At      int     `json:"at"`
	Goal    int     `json:"goal"`
	Lamp    int     `json:"lamp"`
	Turn    int     `json:"turn"`
	Return  float64 `json:"return"`
	Stopped bool    `json:"stopped"`
}

// ownStream makes the seeds of resets without one.
type ownStream struct{ seed, count uint64 }

const (
	mazeKind  = "maze"
	mazeLimit = 12
)

func newMaze() *maze { return &maze{} }

// mazeWorld makes correct mazes, judged by where the episode stopped.
func mazeWorld() envharness.World {
	return envharness.World{
		New:      func(context.Context) (envharness.Environment, error) { return newMaze(), nil },
		Verifier: envharness.VerifierFunc(verifyMaze),
	}
}

// mazeTasks are corridors of several widths.
func mazeTasks() []envharness.Task {
	return []envharness.Task{{ID: "5", Split: "train"}, {ID: "7", Split: "train"}, {ID: "4", Split: "train"}}
}

func (m *maze) usable(ctx context.Context) error {
	if m.closed.Load() {
		return envharness.ErrClosed
	}
	return ctx.Err()
}

func (m *maze) playing(ctx context.Context) error {
	if err := m.usable(ctx); err != nil {
		return err
	}
	if !m.ready {
		return envharness.ErrNeedReset
	}
	return nil
}

// Reset implements [envharness.Environment]. The task is the width of the corridor.
func (m *maze) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if err := m.usable(ctx); err != nil {
		return envharness.Observation{}, err
	}
	width := 5
	if o.Task != "" {
		var err error
		if width, err = strconv.Atoi(o.Task); err != nil || width < 3 || width > 9 {
			return envharness.Observation{}, fmt.Errorf("%w: maze: %.20q", envharness.ErrNoTask, o.Task)
		}
	}
	var options struct{}
	if o.Options != nil {
		if err := decodeStrictly(o.Options, &options); err != nil {
			return envharness.Observation{}, fmt.Errorf("maze: options: %w", err)
		}
	}
	m.ready = true
	m.now = mazeState{Kind: mazeKind, Version: 1, Seed: strconv.FormatUint(m.nextSeed(o.Seed), 10), Width: width}
	m.now.Goal = 1 + m.now.draw(width-1)
	m.now.Lamp = m.now.draw(100)
	return m.observation(), nil
}

func (m *maze) nextSeed(given *uint64) uint64 {
	if given != nil {
		m.own = ownStream{seed: *given}
		return *given
	}
	m.own.count++
	return envharness.RandStream(m.own.seed, "env/next", m.own.count).Uint64()
}

// draw returns the next number of the episode's stream, below n.
func (s *mazeState) draw(n int) int {
	s.Draws++
	seed, _ := strconv.ParseUint(s.Seed, 10, 64) // checked by Restore
	return envharness.RandStream(seed, "env", s.Draws).IntN(n)
}

func (s *mazeState) over() bool { return s.Stopped || s.Turn >= mazeLimit }

// Step implements [envharness.Environment].
func (m *maze) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if err := m.playing(ctx); err != nil {
		return envharness.Transition{}, err
	}
	s := &m.now
	if s.over() {
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	s.Turn++
	var t envharness.Transition
	t.Reward, t.Error = s.act(a)
	if t.Error == nil {
		s.Lamp = s.draw(100)
	}
	s.Return += t.Reward
	t.Terminated = s.Stopped
	if s.over() && !s.Stopped {
		t.Truncated, t.Reason = true, "max_turns"
	}
	t.Observation = m.observation()
	t.Info = map[string]any{"return": s.Return}
	return t, nil
}

func (s *mazeState) act(a envharness.Action) (reward float64, refusal *envharness.ActionError) {
	var args struct {
		By *int `json:"by"`
	}
	if len(a.Args) > 0 {
		if err := decodeStrictly(a.Args, &args); err != nil {
			return 0, refuse(envharness.ClassBadArgs, "arguments do not fit")
		}
	}
	if a.Name != "move" && args.By != nil {
		return 0, refuse(envharness.ClassBadArgs, "only move takes an argument")
	}
	switch a.Name {
	case "move":
		switch {
		case args.By == nil || *args.By != 1 && *args.By != -1:
			return 0, refuse(envharness.ClassBadArgs, "by must be 1 or -1")
		case s.At+*args.By < 0 || s.At+*args.By >= s.Width:
			return 0, refuse(envharness.ClassPrecondition, "there is a wall")
		}
		s.At += *args.By
		return -0.125, nil
	case "look":
		return 0, nil
	case "stop":
		s.Stopped = true
		if s.At == s.Goal {
			return 1, nil
		}
		return 0, nil
	}
	return 0, refuse(envharness.ClassUnknownTool, "no such tool")
}

func refuse(class envharness.ErrorClass, message string) *envharness.ActionError {
	return &envharness.ActionError{Class: class, Message: message}
}

// decodeStrictly reads one JSON object without unknown fields.
func decodeStrictly(doc []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	if trimmed := bytes.TrimLeft(doc, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errors.New("not a JSON object")
	}
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one JSON object")
	}
	return nil
}

var (
	moveLeft  = envharness.Action{Name: "move", Args: json.RawMessage(`{"by":-1}`)}
	moveRight = envharness.Action{Name: "move", Args: json.RawMessage(`{"by":1}`)}
	look      = envharness.Action{Name: "look"}
	stop      = envharness.Action{Name: "stop"}
)

func (m *maze) observation() envharness.Observation {
	s := &m.now
	o := envharness.Observation{
		Text: fmt.Sprintf("at %d of %d, goal %d", s.At, s.Width, s.Goal),
		Data: map[string]any{"at": float64(s.At), "goal": float64(s.Goal), "lamp": float64(s.Lamp)},
	}
	if s.over() {
		o.Actions = []envharness.Action{}
		return o
	}
	if s.At > 0 {
		o.Actions = append(o.Actions, clone(moveLeft))
	}
	if s.At < s.Width-1 {
		o.Actions = append(o.Actions, clone(moveRight))
	}
	o.Actions = append(o.Actions, look, stop)
	return o
}

func clone(a envharness.Action) envharness.Action {
	return envharness.Action{Name: a.Name, Args: slices.Clone(a.Args)}
}

// Close implements [envharness.Environment].
func (m *maze) Close() error {
	m.closed.Store(true)
	return nil
}

// Observe implements [envharness.Observer].
func (m *maze) Observe(ctx context.Context) (envharness.Observation, error) {
	if err := m.playing(ctx); err != nil {
		return envharness.Observation{}, err
	}
	return m.observation(), nil
}

// State implements [envharness.Stater].
func (m *maze) State(ctx context.Context) (envharness.State, error) { return m.Snapshot(ctx) }

// Snapshot implements [envharness.Snapshotter].
func (m *maze) Snapshot(ctx context.Context) (envharness.State, error) {
	if err := m.playing(ctx); err != nil {
		return nil, err
	}
	return json.Marshal(m.now)
}

// Restore implements [envharness.Snapshotter].
func (m *maze) Restore(ctx context.Context, doc envharness.State) error {
	if err := m.playing(ctx); err != nil {
		return err
	}
	var s mazeState
	if err := decodeStrictly(doc, &s); err != nil {
		return fmt.Errorf("maze: restore: %w", err)
	}
	if s.Kind != mazeKind || s.Version != 1 {
		return fmt.Errorf("maze: restore: kind %q, version %d, want %q, 1", s.Kind, s.Version, mazeKind)
	}
	if _, err := strconv.ParseUint(s.Seed, 10, 64); err != nil {
		return fmt.Errorf("maze: restore: %w", err)
	}
	m.now = s
	return nil
}

// RewindCounters implements [envharness.Rewinder].
func (m *maze) RewindCounters(ctx context.Context) error {
	if err := m.playing(ctx); err != nil {
		return err
	}
	if m.now.over() {
		return envharness.ErrEpisodeOver
	}
	m.now.Turn = 0
	return nil
}

// TurnLimit implements [envharness.TurnLimiter].
func (m *maze) TurnLimit() int {
	if !m.ready {
		return 0
	}
	return mazeLimit
}

// Describe implements [envharness.Describer].
func (m *maze) Describe() envharness.Description {
	return envharness.Description{
		Name: mazeKind, Tools: mazeTools(), Graded: []string{"goal", "stopped"}, Mutable: []string{"/at"}, MaxTurns: mazeLimit,
		Refusals:      []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassPrecondition},
		Vocabulary:    strings.Fields(", - 0 1 2 3 4 5 6 7 8 9 at goal look move of stop"),
		Deterministic: true,
	}
}

func mazeTools() []envharness.Tool {
	none := json.RawMessage(`{"additionalProperties":false,"properties":{},"type":"object"}`)
	return []envharness.Tool{
		{Name: "move", Schema: json.RawMessage(`{"additionalProperties":false,"properties":{"by":{"enum":[-1,1],"type":"integer"}},` +
			`"required":["by"],"type":"object"}`)},
		{Name: "look", Schema: none, ReadOnly: true},
		{Name: "stop", Schema: slices.Clone(none), Submits: true},
	}
}

// Tools implements [envharness.ToolLister].
func (m *maze) Tools() []envharness.Tool {
	if !m.ready {
		return nil
	}
	return mazeTools()
}

// Tasks implements [envharness.TaskLister].
func (m *maze) Tasks(ctx context.Context, split string) ([]envharness.Task, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	if split != "train" {
		return nil, fmt.Errorf("maze: no split %.20q", split)
	}
	return mazeTasks(), nil
}

// Plan implements [envharness.Oracle].
func (m *maze) Plan(ctx context.Context) ([]envharness.Action, error) {
	if err := m.playing(ctx); err != nil {
		return nil, err
	}
	s := m.now
	if s.over() {
		return nil, envharness.ErrEpisodeOver
	}
	var plan []envharness.Action
	for ; s.At < s.Goal; s.At++ {
		plan = append(plan, clone(moveRight))
	}
	for ; s.At > s.Goal; s.At-- {
		plan = append(plan, clone(moveLeft))
	}
	if plan = append(plan, stop); len(plan) > mazeLimit-s.Turn {
		return nil, fmt.Errorf("%w: maze: the goal is too far", envharness.ErrNoPlan)
	}
	return plan, nil
}

// verifyMaze passes an episode that stopped at the goal, by the end state.
func verifyMaze(_ context.Context, e envharness.Evidence) (envharness.Verdict, error) {
	var s mazeState
	if err := decodeStrictly(e.End, &s); err != nil {
		return envharness.Verdict{}, fmt.Errorf("maze: end state: %w", err)
	}
	if s.Stopped && s.At == s.Goal {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
	}
	return envharness.Verdict{Status: envharness.Fail}, nil
}
