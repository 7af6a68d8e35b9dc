package rl

// A Token is one position of a turn, in the order in which the model read or wrote it. For a policy that picks one of several
// candidate actions a turn is one trainable token whose ID is the index of the candidate.
type Token struct {
	ID         int     `json:"id"`
	Trainable  bool    `json:"trainable,omitempty"`   // sampled by the policy and trained on; the contents of other positions are never read
	LogProb    float64 `json:"logprob,omitempty"`     // log-probability, in nats, under the policy that sampled it
	RefLogProb float64 `json:"ref_logprob,omitempty"` // log-probability, in nats, under the reference policy
	Value      float64 `json:"value,omitempty"`       // token-level critics only
}

// A Turn is one decision of the policy and what it earned.
type Turn struct {
	// State is the canonical key of the state in which the turn began; turns with equal keys are compared by anchor-state methods.
	// Empty means unknown: such a turn is alone in its state. A raw observation is a bad key, since all failed calls look alike.
	State  string  `json:"state,omitempty"`
	Tokens []Token `json:"tokens,omitempty"`
	// Allowed lists, for each token from the first trainable one to the last, the tokens that could be drawn in its place where not all
	// could, as [Sequence] has it; nil, or an empty list for a token, means all. Estimators do not read it.
	Allowed  [][]int `json:"allowed,omitempty"`
	Reward   float64 `json:"reward,omitempty"`
	Value    float64 `json:"value,omitempty"`  // critic's V(s_t) at collection time, in units of reward
	QValue   float64 `json:"qvalue,omitempty"` // critic's Q(s_t, a_t) at collection time, in units of reward
	End      End     `json:"end,omitempty"`
	Invalid  bool    `json:"invalid,omitempty"`  // the action could not be carried out; it still counts
	Excluded bool    `json:"excluded,omitempty"` // stays in the sweep over time, has weight 0 everywhere else
}

// End says how a turn ended. Every turn but the last of a trajectory is Continue, the last one is not.
type End uint8

// The ends of a turn.
const (
	Continue   End = iota // another turn follows
	Terminated            // the state of the environment ended the episode: the value after it is 0
	Truncated             // a limit ended the episode: the state after it still has a value
)

var endNames = []string{Continue: "continue", Terminated: "terminated", Truncated: "truncated"}

// String returns "continue", "terminated" or "truncated", and "End(n)" for a value that is none of them.
func (e End) String() string { return enumString("End", endNames, uint8(e)) }

// MarshalText returns the name that [End.String] gives, or an error for a value without a name.
func (e End) MarshalText() ([]byte, error) { return enumText("End", endNames, uint8(e)) }

// UnmarshalText accepts exactly the three names of [End.String].
func (e *End) UnmarshalText(text []byte) error { return enumSet(e, "End", endNames, text) }

// A Trajectory is one rollout. Estimators read it and never change it.
type Trajectory struct {
	ID    string `json:"id,omitempty"`
	Group string `json:"group,omitempty"` // rollouts that are compared with each other: same task, same first state
	Task  string `json:"task,omitempty"`  // the problem; several groups may share one
	Split string `json:"split,omitempty"`
	Turns []Turn `json:"turns"` // in order of time, at least one
	// FinalState is the key of the state after the last turn, as Turn.State.
	FinalState string `json:"final_state,omitempty"`
	// FinalValue is V of that state, used after a truncation; nil means unknown.
	FinalValue *float64 `json:"final_value,omitempty"`
	// Success is the verifier's verdict; nil means that there is none, and the score decides instead.
	Success *bool `json:"success,omitempty"`
	// Excluded, if not empty, is the reason why the trajectory has no vote in any statistic and no gradient.
	Excluded string `json:"excluded,omitempty"`
}

// Score returns the undiscounted sum of rewards.
func (t *Trajectory) Score() float64 {
	var s float64
	for i := range t.Turns {
		s += t.Turns[i].Reward
	}
	return s
}
