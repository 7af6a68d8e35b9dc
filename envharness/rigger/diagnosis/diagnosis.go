// Package diagnosis finds what a policy does wrong, from the traces of its episodes: twenty flaws, each a rule that points at the turns
// where it holds.
//
// # Source
//
// EnvHarness (arXiv:2608.19880) lets a model diagnose in words; the taxonomy, its rules and their ranking are ours.
package diagnosis

import (
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// An ID names a flaw, such as F03. The empty one is that no rule fires.
type ID string

// The flaws.
const (
	Loop              ID = "F01" // the same action with the same result, over and over
	PrematureStop     ID = "F02" // stops early, and fails
	IgnoredError      ID = "F03" // goes on after a refusal as if nothing had happened, and fails
	NoRetry           ID = "F04" // never tries again what failed for no lasting reason
	BlindRetry        ID = "F05" // repeats what was refused for good
	UnreadPages       ID = "F06" // leaves pages unread, and fails
	OverLong          ID = "F07" // passes, on a long way round
	BudgetExhausted   ID = "F08" // runs into a limit
	WrongArgument     ID = "F09" // calls with arguments that are wrong
	NoPrecondition    ID = "F10" // acts before what is needed was done
	UnverifiedWrite   ID = "F11" // submits without looking at what it wrote
	UngroundedValue   ID = "F12" // uses values that nobody showed it
	StaleBelief       ID = "F13" // uses an old value where it was shown a newer one
	SingleSource      ID = "F14" // trusts one reading, and fails
	Unreadable        ID = "F15" // answers that are no action, or call no tool that there is
	Distracted        ID = "F16" // calls tools that no solution needs
	LittleExploration ID = "F17" // sees little, and fails
	OrderViolation    ID = "F18" // breaks an order that the rules ask for
	RepeatedWrite     ID = "F19" // makes the same write twice
	Hammering         ID = "F20" // calls again before a limit on the rate allows it
)

// Context is what is known of the task besides the traces. All of it may be left zero; rules that need what is missing stay silent.
type Context struct {
	World envharness.Description // of the base: without Tools every tool counts as one that reads and writes
	Plan  []envharness.Action    // a solution from the start; nil without one
	Edges []components.Edge      // orders that the rules of the world ask for
}

// A Flaw is one that was found.
type Flaw struct {
	ID      ID        `json:"id"`
	Support float64   `json:"support"` // share of the valid episodes that show it
	Lift    float64   `json:"lift"`    // share of the failed ones less that of the passed ones; a side that is missing counts 0
	Found   []Finding `json:"found"`   // in the order of the traces
}

// A Finding is where one episode shows a flaw.
type Finding struct {
	Slot  int    `json:"slot"`            // of the trace
	Turns []int  `json:"turns,omitempty"` // counted from 0, ascending
	Note  string `json:"note,omitempty"`  // what was seen there, in words
}

// Options adjusts [Diagnose]. A nil *Options equals &Options{}.
type Options struct {
	Support *float64 // least support of a flaw that is reported, in (0, 1]; nil means 0.4
	Most    int      // flaws in the report; zero means 3, negative means all
}

// Diagnose returns the flaws of the episodes of one task, ranked: by lift, then by support, then by id; if no episode failed by support
// alone. Episodes that could not be judged are left out.
func Diagnose(traces []envharness.Trace, c Context, o *Options) ([]Flaw, error) {
	panic("to be written")
}
