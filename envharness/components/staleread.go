package components

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/throughline-go/throughline/envharness"
)

// StaleRead answers a call of a read-only tool as a cache would: with the newest result of the same call that is at least Age writes
// old. Without one, as for the first call, the result is fresh. A write is an action of a tool not declared ReadOnly that was carried out.
// Text and Data are those of the old result; the list of actions is always the present one.
//
// A pattern that fits a tool not declared ReadOnly is refused when the episode begins.
//
// Tag stale_read, axis O; the params are the struct with its defaults filled in. It is sound if all that a solution needs can be read
// fresh, by another tool or before the first write.
type StaleRead struct {
	Tools []string `json:"tools,omitempty"` // patterns of names of read-only tools; none means all of them
	Age   int      `json:"age"`             // 1 to 3; zero means 1
	Window
}

func (s StaleRead) withDefaults() StaleRead {
	s.Age = cmp.Or(s.Age, 1)
	return s
}

// Spec implements [envharness.Component].
func (s StaleRead) Spec() envharness.ComponentSpec {
	return spec("stale_read", envharness.AxisObservation, s.withDefaults())
}

// Check reports a window or pattern that is none and an Age outside 1 to 3.
func (s StaleRead) Check() error {
	s = s.withDefaults()
	var err error
	if s.Age < 1 || s.Age > 3 {
		err = fmt.Errorf("age %d must be 1 to 3", s.Age)
	}
	return errors.Join(s.check(), checkPatterns(s.Tools), err)
}

// A readResult is what a call gave when so many writes had been made.
type readResult struct {
	writes int
	seen   envharness.Observation
}

// staleEpisode is a StaleRead in one episode.
type staleEpisode struct {
	StaleRead
	reads   map[string]bool
	call    envharness.Action
	writes  int
	results map[string][]readResult // by call, oldest first, one for each number of writes
	fresh   *envharness.Observation // the result that old stands in for; nil for none
	old     envharness.Observation
}

// String says in words what the component does with its parameters.
func (s StaleRead) String() string {
	s = s.withDefaults()
	before := "write"
	if s.Age != 1 {
		before = count(s.Age, "write")
	}
	return s.in("a repeated call of " + oneOf(s.Tools, "a tool that only reads") + " shows its result from before the last " + before)
}

// Begin implements [envharness.Component].
func (s StaleRead) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	reads, err := readOnlyTools(e.Base().Tools, s.Tools)
	if err != nil {
		return envharness.Hooks{}, err
	}
	ep := &staleEpisode{StaleRead: s.withDefaults(), reads: reads, results: make(map[string][]readResult)}
	writes := writeTools(e.Base().Tools)
	return envharness.Hooks{
		Tools: func(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
			writes = writeTools(tools)
			ep.reads, err = readOnlyTools(tools, s.Tools)
			return tools, err
		},
		Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
			ep.call = a
			return envharness.PassAction(), nil
		},
		Transition: func(_ context.Context, v envharness.View, t envharness.Transition) (envharness.TransitionEdit, error) {
			if t.Error != nil {
				return envharness.TransitionEdit{}, nil
			}
			ep.fresh = nil
			switch {
			case writes(ep.call.Name):
				ep.writes++
			case ep.reads[ep.call.Name]:
				ep.read(t.Observation, v.Turn)
			}
			return envharness.TransitionEdit{}, nil
		},
		Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			if ep.fresh != nil && o.Text == ep.fresh.Text && reflect.DeepEqual(o.Data, ep.fresh.Data) {
				o.Text, o.Data = ep.old.Text, ep.old.Data
			}
			return o, nil
		},
	}, nil
}

// writeTools tells the tools that are not known to be read-only.
func writeTools(tools []envharness.Tool) func(name string) bool {
	reads := toolsWith(tools, readOnly)
	return func(name string) bool { return !reads[name] }
}

// read remembers a result and looks for one to show in its place.
func (s *staleEpisode) read(now envharness.Observation, turn int) {
	args, err := envharness.CanonicalJSON(s.call.Args)
	if err != nil || len(s.call.Args) == 0 {
		args = []byte("{}") // what is no JSON would have been refused
	}
	key := s.call.Name + " " + string(args)
	past := s.results[key]
	if n := len(past); n > 0 && past[n-1].writes == s.writes {
		past = past[:n-1]
	}
	past = append(past, readResult{s.writes, now})
	found := -1
	for i, r := range past {
		if r.writes <= s.writes-s.Age {
			found = i
		}
	}
	if found >= 0 {
		past = past[found:] // older ones will never be asked for
		if s.open(turn) {
			s.fresh, s.old = &now, past[0].seen
		}
	}
	s.results[key] = past
}

func staleReadKind() Kind {
	return Kind{
		Tag: "stale_read", Version: 1, Axis: envharness.AxisObservation, Direction: Harder,
		About:  "shows the result of a read as it was some writes ago",
		Sound:  "All that a solution needs can be read fresh, by another tool or before the first write.",
		Schema: objectSchema("", toolsProperty, `"age":{"type":"integer","minimum":1,"maximum":3}`, windowProperty),
		Ladder: ladder(`{"age":1}`, `{"age":2}`, `{"age":3}`),
		New:    build[StaleRead],
	}
}
