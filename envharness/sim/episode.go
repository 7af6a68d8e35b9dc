package sim

import (
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

// An Episode is one that is being played: a deterministic state machine. Its methods are called from one goroutine at a time. What they
// return is handed on as it is, so nothing in it may change afterwards; returning the same value again is fine. All but Step change
// nothing that any of them shows, and are called as often as there is a use for the answer.
//
// Optional abilities are found by type assertion: [Narrator], [Planner], [Settable], [Limiter].
type Episode interface {
	// Step carries out one action, or refuses it, which changes nothing but what Text tells. It is not called after the end. The
	// arguments may not be kept; they are nil where there are none.
	Step(a envharness.Action) Result
	// Text is what to show now: what the last action led to, or how things stand. When a setup has become part of the start it is all that
	// a policy is shown at first: if it does not say what the task is, have the episode be a [Narrator].
	Text() string
	// Data is what to show besides, of JSON values as in [envharness.Observation]; nil for nothing.
	Data() map[string]any
	// Actions lists the admissible actions in a fixed order; nil means that they cannot be listed. It is not called after the end.
	Actions() []envharness.Action
	// AppendState appends the whole state as one JSON object, without a key "turn".
	AppendState(b []byte) []byte
	// Verdict judges the episode as it stands. It changes nothing.
	Verdict() envharness.Verdict
}

// A Result is what an action led to.
type Result struct {
	Reward  float64                 // finite; 0 after a refusal
	Ended   bool                    // the state of the task ended the episode; false after a refusal
	Refusal *envharness.ActionError // nil if the action was carried out
	Info    map[string]any          // JSON values or nil
}

// A Narrator is an [Episode] whose text tells what the last action led to and not how things stand. When a setup has become part of the
// start, its opening is shown with what was done so far below it, each action as [envharness.Action.Text] gives it:
//
//	You are in the hall.
//	Done so far:
//	go north -> You are in the garden.
//
// A [envharness.Description] with a Vocabulary lists the words of this form too: done, so, far, ":", "-" and ">".
type Narrator interface {
	// Opening is the text of the episode's first observation.
	Opening() string
}

// A Planner is an [Episode] that can solve itself.
type Planner interface {
	// Plan returns actions that pass from the present state, [envharness.ErrNoPlan] if it has proved that there are none, or
	// [envharness.ErrNotProven]. The limit on turns is not its business. It changes nothing.
	Plan() ([]envharness.Action, error)
}

// A Settable is an [Episode] whose start a component may change: [Env.Snapshot] shows the settings below "/start", and what the
// [envharness.Description] lists as Mutable there can be set.
type Settable interface {
	// Settings returns those of the start, whatever happened since, as one JSON object.
	Settings() json.RawMessage
	// Set makes the episode one with these settings, which Settings returns from then on. It is called before the first Step only. An
	// error says what is wrong; the episode is then thrown away.
	Set(settings json.RawMessage) error
}

// A Limiter is an [Episode] with a limit of its own on its turns, where tasks need more or fewer of them. Policies and components are shown
// the turns left of this limit; see [envharness.TurnLimiter].
type Limiter interface {
	// Limit is that limit, 1 or more, asked once at the start. The lower one of it and MaxTurns of the [envharness.Description] holds.
	Limit() int
}
