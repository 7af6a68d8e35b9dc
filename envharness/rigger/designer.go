package rigger

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// A Designer writes candidates: sets of components that are judged as a whole.
type Designer interface {
	// Design returns a candidate for the task of the brief. One without components ends the task: there is nothing to propose. An error is a
	// rejected attempt, and two in a row end the task. The same brief must give the same candidate, with randomness from b.Rand alone, or the
	// run cannot be repeated; see [Journal] for one that is resumed.
	Design(ctx context.Context, b Brief) (Candidate, error)
}

// DesignerFunc lets an ordinary function serve as a Designer. It has no name, which a run with a journal needs: see [Options].Journal.
type DesignerFunc func(ctx context.Context, b Brief) (Candidate, error)

// Design calls f.
func (f DesignerFunc) Design(ctx context.Context, b Brief) (Candidate, error) { return f(ctx, b) }

// A Decider is a [Designer] that also has a say in what becomes of its candidate after the screening, as the model of the paper has. Its
// Accept is needed and never enough: the gate decides. An error rejects, and so does any other decision than the three.
type Decider interface {
	Decide(ctx context.Context, b Brief, a Attempt) (Decision, error)
}

// A Candidate is a set of components to put around a task, as data.
type Candidate struct {
	Stack     []components.Entry   `json:"stack"`               // innermost first
	Direction components.Direction `json:"direction"`           // Harder or Easier
	Flaw      diagnosis.ID         `json:"flaw,omitempty"`      // that it is aimed at
	Rationale string               `json:"rationale,omitempty"` // at most 1000 bytes
}

// A Brief is all that a designer knows. Registry and traces are read-only; the rest is a copy of its own.
type Brief struct {
	World     envharness.Description // of the base
	Task      envharness.Task
	Text      string               // the first observation of the unmodified task
	Registry  *components.Registry // read-only
	Direction components.Direction // Harder for a policy that is too good for the task, Easier for one that struggles
	Objective string               // in words

	Baseline Snapshot            // of the policy on the unmodified task
	Flaws    []diagnosis.Flaw    // of the policy there, the gravest first
	Plan     []envharness.Action // of the base's oracle from the unmodified start; nil without one
	Edges    []components.Edge   // orders of actions that the rules of the world ask for; see [Problem]
	Success  *envharness.Trace   // the shortest passed rollout of the baseline; nil if there is none
	Failure  *envharness.Trace   // the longest failed one; nil if there is none

	MaxComponents int // in a candidate; zero means 4

	// Attempts are the ones before, in order, with their screening rollouts. What a confirmation showed is not in them.
	Attempts []Attempt
	// Refine is not nil if the last attempt is to be refined, and says how.
	Refine *Refinement
	// Axes are weights to choose an axis by, in proportion to 1/(accepted so far + 1) over S0, A, T and O.
	Axes map[envharness.Axis]float64
	// Rand is the designer's own stream for this attempt.
	Rand *rand.Rand
}

// most is the largest number of components.
func (b Brief) most() int { return cmp.Or(b.MaxComponents, defaultMaxComponents) }

// A Refinement says how a candidate missed.
type Refinement struct {
	// Harder asks for a harder task than the last candidate left: more of what hardens, less of an aid. Else the task is to become easier.
	Harder bool
	// RelaxBudgets comes with an easier task, where most episodes were ended by a budget: the next candidate must leave more turns.
	RelaxBudgets bool
}

// A Snapshot is what the policy did on the unmodified task.
type Snapshot struct {
	Tally
	Turns   float64 `json:"turns"`             // mean of passed rollouts; 0 without any
	Optimal int     `json:"optimal,omitempty"` // turns of the oracle's plan; 0 without one
	Limit   int     `json:"limit,omitempty"`   // on the turns of the unmodified task; 0 if there is none
}

func cloneDescription(d envharness.Description) envharness.Description {
	d.Tools = slices.Clone(d.Tools)
	for i := range d.Tools {
		d.Tools[i].Schema = slices.Clone(d.Tools[i].Schema)
	}
	d.Graded, d.Mutable, d.Volatile = slices.Clone(d.Graded), slices.Clone(d.Mutable), slices.Clone(d.Volatile)
	d.Refusals, d.Vocabulary = slices.Clone(d.Refusals), slices.Clone(d.Vocabulary)
	return d
}

func cloneActions(actions []envharness.Action) []envharness.Action {
	actions = slices.Clone(actions)
	for i := range actions {
		actions[i].Args = slices.Clone(actions[i].Args)
	}
	return actions
}

func cloneEdges(edges []components.Edge) []components.Edge {
	edges = slices.Clone(edges)
	for i := range edges {
		e := &edges[i]
		e.Before.Args, e.After.Args = maps.Clone(e.Before.Args), maps.Clone(e.After.Args)
	}
	return edges
}

func cloneFlaws(flaws []diagnosis.Flaw) []diagnosis.Flaw {
	flaws = slices.Clone(flaws)
	for i := range flaws {
		found := slices.Clone(flaws[i].Found)
		for k := range found {
			found[k].Turns = slices.Clone(found[k].Turns)
		}
		flaws[i].Found = found
	}
	return flaws
}

func cloneAttempt(a Attempt) Attempt {
	stack := slices.Clone(a.Candidate.Stack)
	for i := range stack {
		stack[i].Params = slices.Clone(stack[i].Params)
	}
	a.Candidate.Stack = stack
	a.Words, a.Steps, a.Traces = slices.Clone(a.Words), slices.Clone(a.Steps), slices.Clone(a.Traces)
	if a.Interval != nil {
		a.Interval = new(*a.Interval)
	}
	return a
}
