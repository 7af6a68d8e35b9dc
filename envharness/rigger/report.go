package rigger

import (
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// A Report is what a run found and what it cost. Equal problems and options give equal reports, whatever the number of rollouts at once and
// however often the run was interrupted and resumed.
type Report struct {
	Tasks []TaskReport `json:"tasks"` // in the order of the problem
	Items []Item       `json:"items"` // accepted, in the order in which they were
	Cost  Cost         `json:"cost"`
}

// An Outcome says how the work on a task ended.
type Outcome string

// The outcomes.
const (
	Accepted      Outcome = "accepted"
	InBand        Outcome = "in_band"        // the unmodified task already is what the objective asks for
	Exhausted     Outcome = "exhausted"      // all attempts were spent
	NoCandidate   Outcome = "no_candidate"   // the designer has nothing (more) to propose
	DesignerError Outcome = "designer_error" // two in a row
	OutOfBudget   Outcome = "budget"         // the next attempt did not fit
	Infra         Outcome = "infra"          // too few rollouts of the baseline could be judged
	Broken        Outcome = "broken"         // the task or its world failed
)

// A TaskReport is what happened with one task.
type TaskReport struct {
	Task     envharness.Task  `json:"task"` // with the seed of its episodes
	Outcome  Outcome          `json:"outcome"`
	Reason   string           `json:"reason,omitempty"`
	Baseline Snapshot         `json:"baseline"`
	Flaws    []diagnosis.Flaw `json:"flaws,omitempty"`
	Attempts []Attempt        `json:"attempts,omitempty"`
	Cost     Cost             `json:"cost"`
	Pair     Pair             `json:"-"`
}

// A Pair is the shortest passed and the longest failed rollout of a task, of the baseline and of all screenings: what skill induction
// contrasts. One that there is not is nil. See [WritePairs].
type Pair struct {
	Success, Failure *envharness.Trace
}

// A Decision is what becomes of a candidate.
type Decision string

// The decisions.
const (
	Accept Decision = "accept"
	Refine Decision = "refine"
	Reject Decision = "reject"
)

// An Attempt is one candidate and what became of it.
type Attempt struct {
	Number    int          `json:"number"` // from 1
	Candidate Candidate    `json:"candidate"`
	Words     []string     `json:"words,omitempty"` // what each component of it does
	Hash      string       `json:"hash,omitempty"`  // SHA-256 of the stack in canonical form, lower-case hex
	Steps     []StepResult `json:"steps,omitempty"` // of the gate, in order, up to the first that failed
	Screen    Tally        `json:"screen"`
	Confirm   Tally        `json:"confirm"`
	Interval  *Band        `json:"interval,omitempty"` // Wilson, of the confirmation, at the level that was spent on this attempt
	Decision  Decision     `json:"decision"`
	Reason    string       `json:"reason,omitempty"`
	Cost      Cost         `json:"cost"`

	Traces []envharness.Trace `json:"-"` // of the screening
}

// An Item is an accepted change of a task.
type Item struct {
	Task      envharness.Task      `json:"task"` // with the seed that it was measured with
	Stack     []components.Entry   `json:"stack"`
	Words     []string             `json:"words"`
	Direction components.Direction `json:"direction"`
	Flaw      diagnosis.ID         `json:"flaw,omitempty"`
	Objective string               `json:"objective"`
	Baseline  Tally                `json:"baseline"`
	Counts    Tally                `json:"counts"` // of the rollouts that it was accepted on: the confirmation, or the screening where there is none
	Interval  *Band                `json:"interval,omitempty"`
	Score     float64              `json:"score"`
	Hash      string               `json:"hash"`
	// Aid marks a start that is part of a solution: success on it is not to be reported together with unaided success.
	Aid bool `json:"aid,omitempty"`
	// RedTeam marks what was made to find failures; training leaves it out unless told otherwise.
	RedTeam bool `json:"red_team,omitempty"`
}

// A Cost counts rollouts by what they were for, and what all of them took.
type Cost struct {
	Baseline  int `json:"baseline,omitempty"`  // rollouts of the policy on unmodified tasks,
	Screen    int `json:"screen,omitempty"`    // in screenings
	Confirm   int `json:"confirm,omitempty"`   // and in confirmations
	Reference int `json:"reference,omitempty"` // rollouts of the reference policy
	Checks    int `json:"checks,omitempty"`    // rollouts of policies that know nothing, which cost the world alone
	Turns     int `json:"turns,omitempty"`     // of the policy and the reference
	Tokens    int `json:"tokens,omitempty"`    // of the same, where a policy tells (envharness.Explainer)
	Designs   int `json:"designs,omitempty"`   // calls of the designer
}
