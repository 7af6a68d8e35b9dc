package rigger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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
	Unreachable   Outcome = "unreachable"    // no outcome of an attempt would be accepted, given this baseline
	Exhausted     Outcome = "exhausted"      // all attempts were spent
	NoCandidate   Outcome = "no_candidate"   // the designer has nothing (more) to propose
	DesignerError Outcome = "designer_error" // two in a row
	OutOfBudget   Outcome = "budget"         // the next attempt did not fit
	Infra         Outcome = "infra"          // not all rollouts of the baseline could be judged
	Broken        Outcome = "broken"         // the task or its world failed
)

// A TaskReport is what happened with one task.
type TaskReport struct {
	Task     envharness.Task  `json:"task"` // with the seed of its episodes
	Outcome  Outcome          `json:"outcome"`
	Reason   string           `json:"reason,omitempty"` // why the work ended there
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

// add takes traces into account. Of equally long ones the first stays.
func (p *Pair) add(traces []envharness.Trace) {
	for i := range traces {
		t := &traces[i]
		switch n := turnsOf(t); {
		case t.Verdict.Status == envharness.Pass && (p.Success == nil || n < turnsOf(p.Success)):
			p.Success = new(*t)
		case t.Verdict.Status == envharness.Fail && (p.Failure == nil || n > turnsOf(p.Failure)):
			p.Failure = new(*t)
		}
	}
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

	// Traces are those of the screening, for designers; a [Report] has none, but for the Pair of its task.
	Traces []envharness.Trace `json:"-"`
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
	Counts    Tally                `json:"counts"` // that it was accepted on: of the confirmation, or the screening where there is none
	Interval  *Band                `json:"interval,omitempty"`
	Score     float64              `json:"score"`
	Hash      string               `json:"hash"`
	// Aid marks a start that is part of a solution: success on it is not to be reported together with unaided success.
	Aid bool `json:"aid,omitempty"`
	// Unproven marks an easier task of which no plan, search or replay showed before that it can be solved; the policy's passes do.
	Unproven bool `json:"unproven,omitempty"`
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

// Rollouts returns the number of all rollouts of policy and reference.
func (c Cost) Rollouts() int { return c.Baseline + c.Screen + c.Confirm + c.Reference }

// plus returns the sum.
func (c Cost) plus(d Cost) Cost {
	return Cost{
		c.Baseline + d.Baseline, c.Screen + d.Screen, c.Confirm + d.Confirm, c.Reference + d.Reference, c.Checks + d.Checks,
		c.Turns + d.Turns, c.Tokens + d.Tokens, c.Designs + d.Designs,
	}
}

// StackHash returns the SHA-256 of a stack in canonical form, with ids and defaults filled in, in lower-case hex: the Hash of an
// [Attempt] and an [Item]. A nil registry means [components.Catalogue]. A stack that the registry cannot build is an error.
func StackHash(r *components.Registry, stack []components.Entry) (string, error) {
	if r == nil {
		r = components.Catalogue()
	}
	built, err := r.Stack(stack...)
	if err != nil {
		return "", fmt.Errorf("rigger: %w", err)
	}
	_, hash, err := canonical(r, built)
	return hash, err
}

// canonical returns a stack as data, with all filled in, and its hash.
func canonical(r *components.Registry, stack []envharness.Component) ([]components.Entry, string, error) {
	entries, err := r.Entries(stack...)
	if err != nil {
		return nil, "", fmt.Errorf("rigger: %w", err)
	}
	doc, err := envharness.CanonicalJSON(entries)
	if err != nil {
		return nil, "", fmt.Errorf("rigger: %w", err)
	}
	sum := sha256.Sum256(doc)
	return entries, hex.EncodeToString(sum[:]), nil
}

// Components builds the stack of the item, innermost first, to train behind it. A nil registry means [components.Catalogue]; an item of
// another one must be built from that.
func (i Item) Components(r *components.Registry) ([]envharness.Component, error) {
	if r == nil {
		r = components.Catalogue()
	}
	stack, err := r.Stack(i.Stack...)
	if err != nil {
		return nil, fmt.Errorf("rigger: item %q: %w", i.Task.ID, err)
	}
	return stack, nil
}
