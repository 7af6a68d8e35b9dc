package rigger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

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

// String says for people what became of each task: how the work on it ended, and each attempt in words.
func (r *Report) String() string {
	var b strings.Builder
	for _, t := range r.Tasks {
		fmt.Fprintf(&b, "%s: %s", t.Task.ID, t.Outcome)
		if t.Reason != "" {
			b.WriteString(", " + t.Reason)
		}
		if t.Baseline.Valid > 0 {
			fmt.Fprintf(&b, "; baseline %v", t.Baseline.Tally)
		}
		b.WriteByte('\n')
		for _, a := range t.Attempts {
			fmt.Fprintf(&b, "  %d. %s: %s", a.Number, a.inWords(), a.Decision)
			switch {
			case a.Reason != "":
				b.WriteString(", " + a.Reason)
			case a.Confirm.Valid > 0:
				fmt.Fprintf(&b, ", %v passed", a.Confirm)
			case a.Screen.Valid > 0:
				fmt.Fprintf(&b, ", %v passed", a.Screen)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// inWords says what was proposed.
func (a Attempt) inWords() string {
	words := a.Words
	if len(words) == 0 { // it cannot be built
		for _, e := range a.Candidate.Stack {
			words = append(words, e.Tag)
		}
	}
	return cmp.Or(strings.Join(words, "; "), "no candidate")
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

// A Pair is the shortest passed and the longest failed rollout of a task behind one and the same stack: what skill induction contrasts. It is
// that of the baseline if both are there, else that of the first attempt whose screening has both, else what the baseline has. One that
// there is not is nil. See [WritePairs].
type Pair struct {
	Success, Failure *envharness.Trace
}

// complete reports whether both are there.
func (p Pair) complete() bool { return p.Success != nil && p.Failure != nil }

// pairOf finds the pair of rollouts of one stack. Of equally long ones the first is taken.
func pairOf(traces []envharness.Trace) (p Pair) {
	for i := range traces {
		t := &traces[i]
		switch n := turnsOf(t); {
		case t.Verdict.Status == envharness.Pass && (p.Success == nil || n < turnsOf(p.Success)):
			p.Success = new(*t)
		case t.Verdict.Status == envharness.Fail && (p.Failure == nil || n > turnsOf(p.Failure)):
			p.Failure = new(*t)
		}
	}
	return p
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
	// Task is to be kept whole: its Seed, which it was measured with, also fixes what the components draw. With another seed the same stack
	// makes another task.
	Task      envharness.Task      `json:"task"`
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

// A Cost counts rollouts by what they were for, and what all of them took. A rollout that infrastructure spoilt and that was played again
// counts each time, but for Checks, and what it took is not known and not in Turns and Tokens.
type Cost struct {
	Baseline  int `json:"baseline,omitempty"`  // rollouts of the policy on unmodified tasks,
	Screen    int `json:"screen,omitempty"`    // in screenings
	Confirm   int `json:"confirm,omitempty"`   // and in confirmations
	Reference int `json:"reference,omitempty"` // rollouts of the reference policy
	Checks    int `json:"checks,omitempty"`    // rollouts of policies that know nothing, which cost the world alone
	Turns     int `json:"turns,omitempty"`     // of the policy and the reference
	Tokens    int `json:"tokens,omitempty"`    // of the same, where a policy tells (envharness.Explainer)
	Designs   int `json:"designs,omitempty"`   // calls of Design and Decide; further calls of a model to repair a reply are not counted
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

// registryKey is the part of keys of a journal that stands for the kinds of a registry, as a designer is told of them.
func registryKey(r *components.Registry) (string, error) {
	var told [][]string
	for _, k := range r.Kinds() {
		kind := []string{k.Tag, strconv.Itoa(k.Version), string(k.Axis), k.Direction.String(), k.About, k.Sound, string(k.Schema)}
		for _, rung := range k.Ladder {
			kind = append(kind, string(rung))
		}
		told = append(told, kind)
	}
	return journalKey("registry", told)
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
	from := "the registry that was given"
	if r == nil {
		r, from = components.Catalogue(), "components.Catalogue, as no registry was given"
	}
	stack, err := r.Stack(i.Stack...)
	if err != nil {
		return nil, fmt.Errorf("rigger: item %q, built from %s: %w", i.Task.ID, from, err)
	}
	return stack, nil
}
