package envharness

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// An Environment is one fixed, resettable world. It is the whole contract that a custom environment has to fulfil; everything
// else ([Observer], [Stater], [Describer], ...) is optional and found with [As].
//
// All calls come from one goroutine at a time, except Close, which may arrive while a Step runs. Values handed over, in or out, are
// read-only for both sides from then on, so that an environment may hand out the same cached list many times; an implementation must
// not keep what it was given beyond the call. Two instances share nothing that can change.
type Environment interface {
	// Reset starts an episode and returns its first observation. Called in mid-episode it abandons that episode. The same
	// task and seed give the same episode; a nil seed continues the instance's own stream, as
	// RandStream(last seed, "env", resets since) does (a harness never passes nil to one that takes seeds). An environment that cannot be
	// seeded answers [ErrSeedUnsupported]; the harness then resets it without a seed.
	Reset(ctx context.Context, o ResetOptions) (Observation, error)
	// Step performs one action. An action that the world refuses is no error: the world stays as it was, the turn is used up
	// and [Transition.Error] says why. An error means that the environment itself failed. Before the first Reset it returns
	// [ErrNeedReset], after the end of the episode [ErrEpisodeOver], after Close [ErrClosed].
	Step(ctx context.Context, a Action) (Transition, error)
	// Close releases everything. It is idempotent and allowed at any time.
	Close() error
}

// ResetOptions says which episode to start. The zero value asks for the environment's default task on its own random stream.
type ResetOptions struct {
	Task    string          `json:"task,omitempty"`    // task id; empty means the environment's default task
	Seed    *uint64         `json:"seed,omitempty"`    // nil continues the environment's own stream; never a task index
	Options json.RawMessage `json:"options,omitempty"` // environment-specific settings of this episode, a JSON object or nil
}

// An Action is one tool call: a name and a JSON object of arguments. Nil Args mean the empty object.
type Action struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// String returns the name and the arguments as they are written.
func (a Action) String() string { return strings.TrimSpace(a.Name + " " + string(a.Args)) }

// Text returns the action in words: its name and the values of its arguments in the order of their keys, with spaces between them. Strings
// stand as they are, other values as JSON. Arguments that are no JSON object stand as they are. Two actions may have the same text: the keys
// are not told, nor where a string ends, nor a string from a number. Compare actions by their names and arguments.
func (a Action) Text() string {
	if len(a.Args) == 0 {
		return a.Name
	}
	if value, ok := onlyWord(a.Args); ok {
		return a.Name + " " + string(value)
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(a.Args, &args) != nil || args == nil {
		return a.Name + " " + string(a.Args)
	}
	b := []byte(a.Name)
	for _, k := range slices.Sorted(maps.Keys(args)) {
		b = append(b, ' ')
		var s string
		if json.Unmarshal(args[k], &s) == nil && args[k][0] == '"' {
			b = append(b, s...)
		} else {
			b = append(b, args[k]...)
		}
	}
	return string(b)
}

// onlyWord returns the value of {"name":"value"} where both are ASCII without escapes, as the arguments of most text worlds are.
func onlyWord(args []byte) (value []byte, ok bool) {
	key, value, found := bytes.Cut(args, []byte(`":"`))
	if !found || len(key) < 2 || key[0] != '{' || key[1] != '"' || !bytes.HasSuffix(value, []byte(`"}`)) {
		return nil, false
	}
	value = value[:len(value)-2]
	for _, part := range [][]byte{key[2:], value} {
		for _, c := range part {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				return nil, false
			}
		}
	}
	return value, true
}

// An Observation is what an environment shows.
type Observation struct {
	Text string `json:"text"`
	// Data holds further content as JSON values: nil, bool, float64, string, []any and map[string]any, nothing else.
	Data map[string]any `json:"data,omitzero"`
	// Actions lists admissible actions where the environment can enumerate them, in a fixed order; nil means free form, empty
	// that there are none. An action outside the list may still be accepted.
	Actions []Action `json:"actions,omitzero"`
}

// A Transition is the result of one Step. Terminated and Truncated are independent: a learner bootstraps from the last
// observation exactly when Terminated is false.
type Transition struct {
	Observation Observation    `json:"observation"`
	Reward      float64        `json:"reward"`           // finite; a training signal, never the verdict
	Terminated  bool           `json:"terminated"`       // the state of the task ended the episode
	Truncated   bool           `json:"truncated"`        // a limit or the caller ended the episode
	Reason      string         `json:"reason,omitempty"` // who truncated and why, for example "budget:step_budget"
	Error       *ActionError   `json:"error,omitempty"`  // the action was refused; nil means it was carried out
	Info        map[string]any `json:"info,omitzero"`    // JSON values as in Observation.Data
}

// Ended reports whether the episode is over.
func (t Transition) Ended() bool { return t.Terminated || t.Truncated }

// ErrorClass names the kind of refusal a policy can react to.
type ErrorClass string

// The classes of [ActionError].
const (
	ClassUnknownTool  ErrorClass = "unknown_tool" // no such tool
	ClassBadArgs      ErrorClass = "bad_args"     // arguments fail validation
	ClassNotFound     ErrorClass = "not_found"    // arguments name something that does not exist
	ClassPrecondition ErrorClass = "precondition" // conflict with the present state
	ClassPermission   ErrorClass = "permission"   // not allowed (yet)
	ClassRateLimit    ErrorClass = "rate_limit"   // too many calls; retry later
	ClassTimeout      ErrorClass = "timeout"      // a simulated timeout; a real one is an error of Step
	ClassTransient    ErrorClass = "transient"    // failed for no lasting reason; retry
	ClassOther        ErrorClass = "other"
)

// An ActionError is the refusal of one action, as a real API reports it: data for the policy, not a Go error.
type ActionError struct {
	Class     ErrorClass `json:"class"`
	Message   string     `json:"message"`
	Retryable bool       `json:"retryable,omitempty"` // the same call may succeed later
}

// State is the state of a world as one JSON object.
type State = json.RawMessage

// An Observer can show the present observation again. Observe changes nothing and equals the last observation returned.
// Without it the harness reuses the last raw observation.
type Observer interface {
	Observe(ctx context.Context) (Observation, error)
}

// A Stater exposes the full state of the world, graded fields included, as a copy. The harness puts it into the [Evidence]
// and removes the graded fields before a component sees it.
type Stater interface {
	State(ctx context.Context) (State, error)
}

// A Snapshotter can go back to where it was. A snapshot is one JSON object, with nothing in it that only this instance or this process
// understands, and holds all that the future of the episode depends on, counters and random streams included: after Restore, in this
// instance or another one of the same kind that was reset to the same task, the same actions give the same transitions. A snapshot
// that is not one of its own kind and version is an error, and changes nothing.
type Snapshotter interface {
	Snapshot(ctx context.Context) (State, error)
	Restore(ctx context.Context, s State) error
}

// A Rewinder sets counters such as turn limits to zero and keeps the world. The harness calls it after a [Setup], whose actions are then
// part of the start: the present observation should tell a policy that knows nothing else how things stand.
type Rewinder interface {
	RewindCounters(ctx context.Context) error
}

// A Describer lists the environment's tools and says which parts of its state are graded. The answer is constant for the life
// of the instance.
type Describer interface {
	Describe() Description
}

// A ToolLister has tools that change in the course of an episode. The harness asks after each Reset and Step, in place of
// [Description].Tools. The answer is nil before the first Reset.
type ToolLister interface {
	Tools() []Tool
}

// A TurnLimiter has a limit on turns that differs from one episode to the next. The harness asks after each Reset, and once more after a
// [Setup]; what it then does with the limit is what it does with [Description].MaxTurns. [Link] asks each of its legs.
type TurnLimiter interface {
	// TurnLimit is the number of turns after which the environment truncates the present episode, counted from its start or from the last
	// [Rewinder] call, and the same throughout. It is at most [Description].MaxTurns, unless that is zero. Zero means that no other limit
	// is known than that. It is not asked before the first Reset.
	TurnLimit() int
}

// A Description is static knowledge about an environment.
type Description struct {
	Name   string   `json:"name"`
	About  string   `json:"about,omitempty"`  // the world, its rules and what passes, in words, for whoever designs for it
	Tools  []Tool   `json:"tools,omitempty"`  // in a fixed order, names unique
	Graded []string `json:"graded,omitempty"` // top-level fields of State that the verifier reads; hidden from components
	// Mutable lists JSON pointers into the snapshot of a [Snapshotter] at and below which a component may set values at the start.
	Mutable []string `json:"mutable,omitempty"`
	// Volatile lists what may differ in a replay (see Deterministic), by JSON pointers, at and below which it is not compared. They begin with
	// /observation/text, /observation/data, /observation/actions, /reward, /reason, /error, /info or /state and go on, below data, info and
	// state, as deep as is needed; below error there are class, message and retryable.
	Volatile []string `json:"volatile,omitempty"`
	// Refusals are all classes with which the environment refuses actions; nil means that they are not known.
	Refusals []ErrorClass `json:"refusals,omitempty"`
	// Vocabulary lists, sorted, every word that the environment's texts and admissible actions are made of, an action read as
	// [Action.Text] gives it, and Data["task"] where that is a string, the task in words. Words are maximal runs of letters and decimal
	// digits, in lower case, and every other character that is not white space. What a policy is shown besides may have other words: the
	// Message of [Turn].Error, names and descriptions of tools, and what components write. Nil means that it is not known, as where names
	// are invented in each episode.
	Vocabulary []string `json:"vocabulary,omitempty"`
	// Chance is the pass rate, in [0, 1], that a policy which knows nothing may reach; 0 means about none.
	Chance float64 `json:"chance,omitempty"`
	// MaxTurns is the environment's own limit, at which it truncates; zero means none. The harness ends an episode after as many turns,
	// blocked ones included. To stand behind a [Setup], which takes turns of its own, the environment must be a [Rewinder]. Where some
	// episodes have a lower limit it is the highest of all, and the environment is a [TurnLimiter].
	MaxTurns int `json:"max_turns,omitempty"`
	// Deterministic promises that the same task, seed, options and actions give the same transitions and states, but for what is Volatile.
	// The harness takes the environment at its word and replays each episode before it believes the verdict; see [Harness.Verdict].
	Deterministic bool `json:"deterministic,omitempty"`
}

// A Tool describes one action name to a policy.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema,omitempty"` // JSON Schema of the arguments, an object schema; nil means no arguments
	ReadOnly    bool            `json:"read_only,omitempty"`    // the call never changes the world
	Submits     bool            `json:"submits,omitempty"`      // the call may end the episode
}

// A TaskLister enumerates tasks of a split ("train", "validation", "test", "ood" or a name of its own), always in the same
// order. An unknown split is an error. The splits share no task.
type TaskLister interface {
	Tasks(ctx context.Context, split string) ([]Task, error)
}

// A Task identifies one problem. ID and Seed together name the episode.
type Task struct {
	ID      string          `json:"id"`
	Seed    *uint64         `json:"seed,omitempty"`
	Options json.RawMessage `json:"options,omitempty"` // as in [ResetOptions]
	Split   string          `json:"split,omitempty"`
	Family  string          `json:"family,omitempty"`
}

// An Oracle plans: Plan returns actions that solve the present episode from the present state. It returns [ErrNoPlan] when it has
// proved that there are none, and [ErrNotProven] when it found none and proved nothing.
type Oracle interface {
	Plan(ctx context.Context) ([]Action, error)
}

// As finds the first environment in env's chain that implements T. A wrapper shows what it wraps through a method
// Unwrap() Environment, as errors.As expects of errors.
func As[T any](env Environment) (T, bool) {
	for env != nil {
		if t, ok := env.(T); ok {
			return t, true
		}
		u, ok := env.(interface{ Unwrap() Environment })
		if !ok {
			break
		}
		env = u.Unwrap()
	}
	var zero T
	return zero, false
}

// A World is all that is needed to open and judge episodes: a maker of environments and the verifier that stays.
type World struct {
	// New makes a fresh environment; it must not be or wrap a [Harness]. The context bounds the opening only: do not keep it. New must
	// be safe for concurrent use, and the environments share nothing: the one that replays an episode is another than the one that played.
	New func(ctx context.Context) (Environment, error)
	// Verifier is the only source of success. It must be safe for concurrent use.
	Verifier Verifier

	chains int // how deep chains made by Link are nested in it, 0 for none
}
