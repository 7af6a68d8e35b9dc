package envharness

import (
	"context"
	"encoding/json"
	"math/rand/v2"
)

// A Component changes what a policy meets (start state, actions, results, observations, number of turns) and never what counts as
// success. It is an immutable recipe: Begin makes the hooks of one episode, so nothing survives a reset. It must be safe for
// concurrent use.
//
// A component that can tell beforehand that it cannot work, for example from a parameter out of range, also has a method
// Check() error, which [New] calls.
type Component interface {
	Spec() ComponentSpec
	// Begin returns the hooks for one episode. The context is that of the Reset. An error makes the episode [Invalid].
	Begin(ctx context.Context, e EpisodeInfo) (Hooks, error)
}

// Axis says which part of the interface a component changes. There is no reward axis.
type Axis string

// The axes, in the order in which components must be stacked from inside to outside: start, then interface, then budget.
const (
	AxisStart       Axis = "S0" // start state
	AxisAction      Axis = "A"
	AxisTransition  Axis = "T"
	AxisObservation Axis = "O"
	AxisBudget      Axis = "B"
	AxisLink        Axis = "L" // of a chain of worlds, which is a [World] of its own; see [Link]
)

// A ComponentSpec identifies a component: enough to name it in a record and, where its tag is registered, to build it again.
type ComponentSpec struct {
	Tag    string          `json:"tag"`
	ID     string          `json:"id,omitempty"`     // unique in a stack; empty means Tag, or Tag#2, Tag#3, ... for repeated tags
	Axis   Axis            `json:"axis"`             // the first axis of a mixed component
	Params json.RawMessage `json:"params,omitempty"` // a JSON object or nil
}

// EpisodeInfo is what a component knows about the episode it serves.
type EpisodeInfo struct {
	Task string
	Seed uint64
	// Rand is the component's own stream, a function of the seed and the component's id alone: adding or removing another
	// component never shifts its draws.
	Rand *rand.Rand

	base  Description
	tools []Tool
}

// Base describes the base environment, with the tools as this component sees them from its place in the stack. Each call returns a copy
// that the caller owns; without a [Describer] it is the zero value.
func (e EpisodeInfo) Base() Description {
	d := e.base
	d.Tools = e.tools
	return copyDescription(d)
}

// Hooks are the functions of one component in one episode. A nil func is the identity. Arguments are copies that the hook owns;
// no hook sees the environment, the verifier or another component. The context is that of the Reset or Step that calls the hook. A hook
// that panics or returns an error makes the episode [Invalid].
type Hooks struct {
	// Start returns edits to the start, made on the base before the first turn, below all components. Each must be carried out
	// without a refusal and none may end or solve the episode, else the reset fails with [ErrStart]. Edits of a component that is not of axis
	// S0 are an [ErrOrder].
	Start func(ctx context.Context, v View) ([]StartEdit, error)
	// Tools changes the tools that the policy is shown. It is called at the start of an episode, and again when a [ToolLister] changed
	// its tools.
	Tools func(ctx context.Context, tools []Tool) ([]Tool, error)
	// Action decides about an action on its way in, outermost component first.
	Action func(ctx context.Context, v View, a Action) (ActionEdit, error)
	// Result is told how the action of this turn fared, on the way out and before Transition: refusal is nil if it was carried out. For a
	// component that only keeps count this costs least, as nothing is copied.
	Result func(ctx context.Context, v View, refusal *ActionError) error
	// Transition changes a result on its way out, innermost component first.
	Transition func(ctx context.Context, v View, t Transition) (TransitionEdit, error)
	// Observe changes an observation on its way out, after this component's Transition, and the first observation.
	Observe func(ctx context.Context, v View, o Observation) (Observation, error)
	// MaxTurns truncates the episode after so many turns, blocked and unreadable ones included; zero means no limit. The lowest
	// limit of a stack is what a policy sees as [Turn].Left.
	MaxTurns int
}

// A View is the read-only situation that a hook sees. It is valid until the hook returns.
type View struct {
	Turn int // turns used before this one; 0 in Start and for the first observation
	Left int // turns left, this one included; 0 means that no limit is known
	// Stepped tells Transition and Observe that the action of this turn reached the base, so that the result is the base's own and not the
	// answer of another component or of the harness.
	Stepped bool

	ctx   context.Context // of the running call; a view does not outlive it
	h     *Harness
	shown *Observation
}

// Shown returns a copy of what the policy was shown last; in Start the present raw observation, before the first observation zero.
func (v View) Shown() Observation {
	if v.shown == nil {
		return Observation{}
	}
	o, _ := copyObservation(*v.shown) // checked where it came from
	return o
}

// State returns the base's state without its graded fields, as a copy; nil without a [Stater]. It is read when first asked for after
// a step, so that components without interest in it cost nothing.
func (v View) State() (State, error) {
	if v.h == nil {
		return nil, nil
	}
	return v.h.publicState(v.ctx)
}

// A StartEdit is one change to the start of an episode: an action to carry out or values to set.
type StartEdit struct {
	Action Action // carried out unless Set is given
	// Set holds new values by the JSON pointer of their place in the snapshot of a [Snapshotter]. Each place must exist, be among those that
	// the base declares as [Description].Mutable, and not be graded.
	Set map[string]json.RawMessage
}

// ActionEdit is the decision about one action. Use [PassAction], [ReplaceAction], [BlockAction], [AnswerAction] or [EndEpisode].
type ActionEdit struct {
	kind   editKind
	action Action
	text   string
	err    *ActionError
	reason string
}

type editKind uint8

const (
	editPass editKind = iota
	editReplace
	editBlock
	editAnswer
	editEnd
	editInvalid // by the harness: the policy's answer was no action
)

func (k editKind) String() string {
	return [...]string{"", "replace", "block", "answer", "end", "invalid"}[k]
}

// PassAction lets the action through unchanged. It is the zero [ActionEdit].
func PassAction() ActionEdit { return ActionEdit{} }

// ReplaceAction sends a in place of the action.
func ReplaceAction(a Action) ActionEdit { return ActionEdit{kind: editReplace, action: a} }

// BlockAction refuses the action. The base is not stepped, the turn is used up, and the policy is shown "[blocked] ", the reason and
// an empty line above the present observation, Data.blocked and Data.blocked_reason, and an error of class
// [ClassPermission].
func BlockAction(reason string) ActionEdit { return ActionEdit{kind: editBlock, reason: reason} }

// AnswerAction answers in place of the base with the given text and error; a nil error tells the policy that the action was carried
// out. Other content of the present observation stays. The base is not stepped and the turn is used up.
func AnswerAction(text string, err *ActionError) ActionEdit {
	return ActionEdit{kind: editAnswer, text: text, err: copyError(err)}
}

// EndEpisode truncates the episode; the reason is recorded as "budget:" and the component's id, followed by a colon and reason
// if it is not empty.
func EndEpisode(reason string) ActionEdit { return ActionEdit{kind: editEnd, reason: reason} }

// TransitionEdit changes a result. It has no field for the reward, for Terminated or for the verdict: those stay the base's.
//
// On the turn that ends an episode the policy is shown the result as it was before all components: hooks see nothing of a result
// with which the base ended, and a truncation takes back the edits of its turn.
type TransitionEdit struct {
	Observation *Observation // nil keeps the observation
	// Error replaces the refusal of the action; nil keeps what there is. An Error for an action that was carried out is a failure of
	// the component: neither a success nor a refusal can be made of the other.
	Error    *ActionError
	Truncate string // not empty: the episode is truncated, with a reason as in [EndEpisode]
}
