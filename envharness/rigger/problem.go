package rigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A Problem is what is to be rigged: tasks of a world, for a policy.
type Problem struct {
	World envharness.World
	// Tasks are at least one, with ids and options as the world takes them, no two of them with equal id and seed. A nil Seed is replaced by one
	// that follows from Options.Seed and the id. All rollouts of a task have its seed; they differ in the streams of the policies alone.
	Tasks []envharness.Task

	// NewPolicy makes the policy of one rollout. All its randomness must come from rng, whose stream belongs to this rollout alone; a service
	// that cannot be seeded may ignore it. It must be safe for concurrent use. The policy is a black box: it is shown turns, and that is all.
	// An Act that fails for want of a service must return an error that wraps [envharness.ErrInfra], or it counts as a failure of the policy.
	// One with a method Deterministic() bool that returns true is refused where the world is deterministic, as its rates are 0 or 1.
	NewPolicy func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)
	// Fingerprint names the version of the policy. Rollouts in a [Journal] are used again for equal fingerprints only; with a journal it must
	// not be empty.
	Fingerprint string
	// NewReference makes policies of another kind, a stronger one, that [Regret] compares with; nil means that there is none. If the objective
	// uses it, it is measured wherever the policy is, as often; else it is never played. Its rollouts are journalled under the same
	// Fingerprint.
	NewReference func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)

	// Registry has the components that designers may use; nil means [components.Catalogue].
	Registry *components.Registry
	// Edges are orders of actions that the rules of the world ask for and a policy should keep, for flaw F18; nil means none.
	Edges []components.Edge
}

// check reports what is missing or stands twice. Seed is that of the run.
func (p Problem) check(seed uint64) error {
	faults := []error{checkWorld(p.World)}
	if p.NewPolicy == nil {
		faults = append(faults, errors.New("rigger: Problem.NewPolicy is nil"))
	}
	if len(p.Tasks) == 0 {
		faults = append(faults, errors.New("rigger: Problem.Tasks is empty"))
	}
	type name struct {
		id   string
		seed uint64
	}
	first := make(map[name]int, len(p.Tasks))
	for i, task := range p.Tasks {
		n := name{task.ID, *seeded(task, seed).Seed}
		if j, ok := first[n]; ok {
			faults = append(faults, fmt.Errorf("rigger: tasks %d and %d are both %q with seed %d", j, i, n.id, n.seed))
		} else {
			first[n] = i
		}
		if err := checkTask(task); err != nil {
			faults = append(faults, fmt.Errorf("rigger: Problem.Tasks[%d]: %w", i, err))
		}
	}
	for i, e := range p.Edges {
		if e.Before.Tool == "" || e.After.Tool == "" {
			faults = append(faults, fmt.Errorf("rigger: Problem.Edges[%d]: both sides need a tool", i))
		}
	}
	return errors.Join(faults...)
}

// journalled reports a policy of which a journal could not tell the versions apart.
func (p Problem) journalled(j *Journal) error {
	if j != nil && p.Fingerprint == "" {
		return errors.New("rigger: there is a journal, and Problem.Fingerprint is empty: rollouts of another policy would be used again")
	}
	return nil
}

func checkWorld(w envharness.World) error {
	var faults []error
	if w.New == nil {
		faults = append(faults, errors.New("rigger: World.New is nil"))
	}
	if w.Verifier == nil {
		faults = append(faults, errors.New("rigger: World.Verifier is nil"))
	}
	return errors.Join(faults...)
}

func checkTask(t envharness.Task) error {
	if len(t.Options) > 0 && !json.Valid(t.Options) {
		return fmt.Errorf("rigger: task %q: options are not JSON", t.ID)
	}
	return nil
}

// seeded returns the task with a seed, and shares nothing with it.
func seeded(t envharness.Task, seed uint64) envharness.Task {
	t = cloneTask(t)
	if t.Seed == nil {
		t.Seed = new(envharness.RandStream(seed, "rigger/task/"+t.ID, 0).Uint64())
	}
	return t
}

func cloneTask(t envharness.Task) envharness.Task {
	if t.Seed != nil {
		t.Seed = new(*t.Seed)
	}
	t.Options = slices.Clone(t.Options)
	return t
}

// aboutWorld returns what a world says of itself, whatever it does. Each call has the limit of a rollout's. That an environment does not close
// well is no matter, as in a rollout; that it hangs there is, for each rollout would wait for it.
func aboutWorld(ctx context.Context, w envharness.World, o envharness.RolloutOptions) (envharness.Description, error) {
	limit := stepTimeout(o)
	fault := func(call string, err error) (envharness.Description, error) {
		return envharness.Description{}, fmt.Errorf("rigger: the world: %s: %w", call, err)
	}
	env, err := bounded(ctx, limit, w.New, func(env envharness.Environment) { _ = env.Close() })
	if err == nil && env == nil {
		err = errors.New("the function New returned none")
	}
	if err != nil {
		return fault("open", err)
	}
	d, err := bounded(ctx, limit, func(context.Context) (d envharness.Description, _ error) {
		if e, ok := envharness.As[envharness.Describer](env); ok {
			d = e.Describe()
		}
		return d, nil
	}, nil)
	_, closed := bounded(ctx, limit, func(context.Context) (struct{}, error) { return struct{}{}, env.Close() }, nil)
	switch {
	case err != nil:
		return fault("describe", err)
	case errors.Is(closed, errGivenUp):
		return fault("close", closed)
	case !(d.Chance >= 0 && d.Chance <= 1): // nor NaN
		return fault("describe", fmt.Errorf("Description.Chance is %v, want 0 to 1", d.Chance))
	}
	return d, nil
}

// aboutKey is the part of keys of a journal that stands for the world.
func aboutKey(d envharness.Description) (string, error) { return journalKey("world", d) }
