package envharness

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Verifier judges one finished episode from its [Evidence], and from nothing else. It is pure: the same evidence gives the same
// verdict, and neither the evidence nor any world is changed. It must be safe for concurrent use.
//
// A returned error, like a panic, makes the verdict [Invalid]; it never becomes a failure.
type Verifier interface {
	Verify(ctx context.Context, e Evidence) (Verdict, error)
}

// VerifierFunc lets an ordinary function serve as a [Verifier].
type VerifierFunc func(ctx context.Context, e Evidence) (Verdict, error)

// Verify calls f.
func (f VerifierFunc) Verify(ctx context.Context, e Evidence) (Verdict, error) { return f(ctx, e) }

// Evidence is what happened on the base environment, below every component. What a policy was shown is not evidence; an answer
// it submitted is, because it is an argument of a logged action. The receiver must not change it.
type Evidence struct {
	Task      string          `json:"task"`
	Seed      uint64          `json:"seed"` // the seed that the base was reset with
	Options   json.RawMessage `json:"options,omitempty"`
	Log       []LogEntry      `json:"log"`                 // every call that reached the base, in order, the reset first
	Start     State           `json:"start,omitempty"`     // after the setup, before the first turn; nil without a [Stater]
	End       State           `json:"end,omitempty"`       // when the episode ended, or now while it runs; nil without a [Stater]
	EndReason EndReason       `json:"end_reason,omitzero"` // empty while the episode runs
}

// A LogEntry is one call on the base environment with its raw result.
type LogEntry struct {
	Kind       LogKind    `json:"kind"`
	Action     Action     `json:"action,omitzero"` // zero for a reset
	Transition Transition `json:"transition"`      // for a reset only the observation is set
}

// LogKind says which call a [LogEntry] records.
type LogKind string

// The kinds of [LogEntry].
const (
	LogReset  LogKind = "reset"
	LogReplay LogKind = "replay" // an action of a [Setup], before the first turn
	LogPatch  LogKind = "patch"  // values set before the first turn; the arguments of Action are the object [StartEdit].Set
	LogRewind LogKind = "rewind" // counters set to zero after a [Setup]
	LogStep   LogKind = "step"   // an action of the policy, after the components
)

// Status is the tri-state outcome of an episode. The zero value is [Invalid], so that nothing passes by default.
type Status uint8

// The outcomes. Invalid episodes are excluded from every mean.
const (
	Invalid Status = iota // could not be judged: infrastructure failed
	Fail
	Pass
)

// String returns "invalid", "fail" or "pass".
func (s Status) String() string {
	switch s {
	case Fail:
		return "fail"
	case Pass:
		return "pass"
	}
	return "invalid"
}

// MarshalText writes the name that String returns.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads such a name and refuses any other.
func (s *Status) UnmarshalText(text []byte) error {
	for _, v := range []Status{Invalid, Fail, Pass} {
		if v.String() == string(text) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("envharness: status %q is none of invalid, fail, pass", text)
}

// A Verdict is the judgement of one episode.
type Verdict struct {
	Status Status             `json:"status"`
	Score  float64            `json:"score"`          // in [0, 1]; the harness makes it 1 on Pass and 0 on Invalid; partial credit on Fail
	Parts  map[string]float64 `json:"parts,omitzero"` // named partial scores in [0, 1]
	Reason string             `json:"reason,omitempty"`
	// Unreplayed marks a verdict that rests on what the environment said, without a replay; see [Harness.Verdict].
	Unreplayed bool `json:"unreplayed,omitempty"`
}

// EndReason says what ended an episode: one of the constants below, or "budget:" and the id of the component whose budget ran out.
type EndReason string

// The reasons. The class decides what follows: task, budget and agent go to the verifier, infra gives [Invalid].
const (
	EndTerminated     EndReason = "terminated"      // task
	EndTruncated      EndReason = "truncated"       // budget: the base hit a limit of its own
	EndMaxTurns       EndReason = "max_turns"       // budget
	EndTokenBudget    EndReason = "token_budget"    // budget: the policy ended the episode with [ErrTokenBudget]
	EndAgentStop      EndReason = "agent_stop"      // agent: the policy ended the episode with [ErrStop]
	EndAgentError     EndReason = "agent_error"     // agent
	EndEnvError       EndReason = "env_error"       // infra
	EndTimeout        EndReason = "timeout"         // infra: a real deadline
	EndComponentError EndReason = "component_error" // infra
	EndPolicyInfra    EndReason = "policy_infra"    // infra: [ErrInfra] or a panic of the policy, or there is none
	EndVerifierError  EndReason = "verifier_error"  // infra
	EndCanceled       EndReason = "canceled"        // infra
)

// Infra reports whether r is an infrastructure failure, so that the episode says nothing about the policy.
func (r EndReason) Infra() bool {
	switch r {
	case EndEnvError, EndTimeout, EndComponentError, EndPolicyInfra, EndVerifierError, EndCanceled:
		return true
	}
	return false
}
