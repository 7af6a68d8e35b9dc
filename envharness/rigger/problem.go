package rigger

import (
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A Problem is what is to be rigged: tasks of a world, for a policy.
type Problem struct {
	World envharness.World
	Tasks []envharness.Task // ids and options as the world takes them; a nil Seed is replaced by one that follows from Options.Seed and the id

	// NewPolicy makes the policy of one rollout. All its randomness must come from rng, whose stream belongs to this rollout alone; a service
	// that cannot be seeded may ignore it. It must be safe for concurrent use. The policy is a black box: it is shown turns, and that is all.
	// One with a method Deterministic() bool that returns true is refused where the world is deterministic, as its rates are 0 or 1.
	NewPolicy func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)
	// Fingerprint names the version of the policy. Rollouts in a [Journal] are used again for equal fingerprints only.
	Fingerprint string
	// NewReference makes policies of another kind, a stronger one, that [Regret] compares with; nil means that there is none. Its rollouts
	// are journalled under the same Fingerprint.
	NewReference func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error)

	// Registry has the components that designers may use; nil means [components.Catalogue].
	Registry *components.Registry
	// Edges are orders of actions that the rules of the world ask for and a policy should keep, for flaw F18; nil means none.
	Edges []components.Edge
}
