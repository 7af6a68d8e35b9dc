package envharness

import "context"

// A Policy is a black box that acts. It sees the [Turn] it is shown and nothing else: no environment, harness or verifier.
// Act is called from one goroutine at a time; every rollout has a policy value of its own.
//
// Four kinds of error have a meaning, found with errors.Is: [ErrBadAction] (the answer could not be read as an action: the
// turn is used up, the world stays), [ErrStop] (the policy ends the episode), [ErrTokenBudget] (the episode no longer fits into what the
// policy can read: it is truncated) and [ErrInfra] (the service behind the policy failed: the episode is [Invalid]). Any other error
// ends the episode as the policy's failure.
type Policy interface {
	Act(ctx context.Context, t Turn) (Action, error)
}

// An Explainer is a [Policy] that can tell what its last answer was made of: the raw text, and the number of tokens that it took to read
// and write. It goes into the [TurnTrace] and nowhere else.
type Explainer interface {
	Explain() (text string, tokens int)
}

// PolicyFunc lets an ordinary function serve as a [Policy].
type PolicyFunc func(ctx context.Context, t Turn) (Action, error)

// Act calls f.
func (f PolicyFunc) Act(ctx context.Context, t Turn) (Action, error) { return f(ctx, t) }

// A Turn is what a policy is shown: a copy that the receiver owns, but for the bytes of the schemas.
type Turn struct {
	Index int          // 0 for the first decision of the episode
	Shown Observation  // after all components
	Error *ActionError // refusal of the previous action, as shown; nil if it was carried out or on the first turn
	// Tools are those after all components, nil when the environment does not describe itself. The turns of an episode share the bytes
	// of the schemas, which are read-only.
	Tools []Tool
	// Left is the number of turns left including this one; 0 means no limit is known. In a chain it is that of all legs together; see
	// [LinkOptions].MaxTurns.
	Left int
}
