package coevolve

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger"
)

// Errors that a caller may branch on with errors.Is.
var (
	// ErrOverlap reports a held-out task that is also one to train on.
	ErrOverlap = errors.New("coevolve: a held-out task is also rigged")
	// ErrFingerprint reports a policy without a fingerprint, or one of Train with that of a policy before the one to be improved.
	ErrFingerprint = errors.New("coevolve: the fingerprint is not a new one")
)

// A Problem is what is to be trained, and on what.
type Problem struct {
	// Rig is what is rigged: world, tasks and the policy before any training. The ids of its tasks are distinct, and they are what the
	// policy is trained on. A nil Seed of a task is replaced by one that follows from the seed of the options and the id.
	Rig rigger.Problem
	// HeldOut are tasks of the same world that nothing is designed for and nobody is trained on, at least one.
	HeldOut []envharness.Task
	// Train improves the policy. It is called in each round, also if the pool has no item and all draws are unmodified. If there was nothing
	// to learn it may return the policy that it was given.
	Train func(ctx context.Context, b Batch) (Policy, error)
}

// A Policy is one version of what is trained.
type Policy struct {
	// New makes the policy of one rollout; see [rigger.Problem].NewPolicy.
	New func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)
	// Fingerprint names the version, such as a hash of its weights. It must be another one whenever the policy is, and the same if the run
	// is repeated.
	Fingerprint string
}

// A Batch is what is trained on in a round. It is read-only.
type Batch struct {
	Round  int    // from 1
	Seed   uint64 // for what the trainer draws; another one in each round
	Policy Policy // to be improved

	Pool []Member // all there is, in the order of the tasks and then of the items
	// Draws is the training set: [Options].Draws members by their weights, in an order that is drawn too. A trainer that plays episodes
	// itself should take them one after the other, each equally often.
	Draws []Member
	// Traces are fresh rollouts of Policy, Traces[i] one of Draws[i], of kind [envharness.KindExploration]; nil unless [Options].Play is set.
	Traces []envharness.Trace
}

// A Member of the pool is a task, unmodified or behind components.
type Member struct {
	Task       envharness.Task        // with its seed
	Stack      []components.Entry     // innermost first; nil if unmodified
	Hash       string                 // of Stack; empty if unmodified
	Components []envharness.Component // built from Stack; nil if unmodified
	// Weight is the share of the draws that is for its like, items or unmodified tasks, times the chance of the first of these draws to be
	// this member; of the whole pool 1. Items get more likely while they wait (see [Options].Replay), so that later draws differ; without
	// that it is the expected share of all draws.
	Weight  float64
	Counts  rigger.Tally // of the latest measurement of an item; zero for an unmodified task
	Aid     bool         // see [rigger.Item]
	RedTeam bool         // likewise
}

// Unmodified reports whether the member is a task without components.
func (m Member) Unmodified() bool { return len(m.Stack) == 0 }

// check reports what is wrong with the problem.
func (p Problem) check() error {
	var errs []error
	if p.Train == nil {
		errs = append(errs, errors.New("coevolve: no Train"))
	}
	if p.Rig.NewPolicy == nil {
		errs = append(errs, errors.New("coevolve: no Rig.NewPolicy"))
	}
	if p.Rig.Fingerprint == "" {
		errs = append(errs, fmt.Errorf("%w: that of the first policy is empty", ErrFingerprint))
	}
	if len(p.Rig.Tasks) == 0 {
		errs = append(errs, errors.New("coevolve: no tasks"))
	}
	if len(p.HeldOut) == 0 {
		errs = append(errs, errors.New("coevolve: no held-out tasks"))
	}
	errs = append(errs, distinct("task", p.Rig.Tasks), distinct("held-out task", p.HeldOut))
	for i, t := range p.HeldOut {
		if slices.ContainsFunc(p.Rig.Tasks, func(o envharness.Task) bool { return o.ID == t.ID }) {
			errs = append(errs, fmt.Errorf("%w: held-out task %d, %q", ErrOverlap, i, t.ID))
		}
	}
	return errors.Join(errs...)
}

func distinct(what string, tasks []envharness.Task) error {
	var errs []error
	seen := make(map[string]int, len(tasks))
	for i, t := range tasks {
		if first, ok := seen[t.ID]; ok {
			errs = append(errs, fmt.Errorf("coevolve: %s %d has the id %q of %d", what, i, t.ID, first))
			continue
		}
		seen[t.ID] = i
	}
	return errors.Join(errs...)
}
