package rigger

// A Step is one step of the gate.
type Step string

// The steps, in order, the cheap ones first.
const (
	StepStatic    Step = "static"    // the stack can be built, and changes something
	StepNovelty   Step = "novelty"   // neither it nor one that differs in strength alone was accepted, and its axis is not used up
	StepBand      Step = "band"      // there are counts of passes that would be accepted
	StepIntegrity Step = "integrity" // no cheat is seen in episodes played for it; again, if it fails, in rollouts of the policy
	StepStart     Step = "start"     // every start is legal and unsolved
	StepOracle    Step = "oracle"    // somebody passes it within the limits
	StepNull      Step = "null"      // nobody passes it who knows nothing
	StepScreen    Step = "screen"    // a few rollouts place it within the objective
	StepConfirm   Step = "confirm"   // and so do more, fresh ones
	StepTransfer  Step = "transfer"  // what passes it passes the unmodified task
)

// A Result is how a step of the gate turned out.
type Result string

// The results.
const (
	Passed   Result = "pass"
	Failed   Result = "fail"
	Unproven Result = "unproven" // nothing was shown either way
)

// A StepResult is one step with its reason.
type StepResult struct {
	Step   Step   `json:"step"`
	Result Result `json:"result"`
	Reason string `json:"reason,omitempty"`
}
