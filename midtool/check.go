package midtool

import (
	"context"
	"slices"
)

// A Checker validates samples and finds their evidence. It keeps the compiled schemas of the tools it has seen, so one
// Checker for many samples is faster than [Validate] for each. The zero value is ready. It is not safe for concurrent
// use.
type Checker struct {
	MaxTokens int      // window of a sample in [Findings] Tokens, at least 256; zero means 8192
	Markers   []string // control markers of the formats to be written, which no text may contain; nil means none
	Skip      []string // rules that are not checked; nil means none
	Replay    Executor // executes the calls of each sample again, in a session opened with its ID: the results must be equal; nil means not
}

// Findings is what a [Checker] found in a sample.
type Findings struct {
	Violations []Violation // by rule and then by place; nil for a sound sample
	Evidence   []Evidence  // one per scalar argument of every trained call, in order
	Tokens     int         // [ApproxTokens] of the line that [WriteMessages] writes by default
}

// Check looks at one sample. The error is that of ctx or of Replay; what is wrong with the sample is a [Violation].
func (c *Checker) Check(ctx context.Context, s *Sample) (Findings, error) {
	v := validator{sample: s}
	v.run()
	f := Findings{Violations: v.found, Evidence: v.evidence}
	f.Violations = slices.DeleteFunc(f.Violations, func(v Violation) bool { return slices.Contains(c.Skip, v.Rule) })
	mw := messageWriter{}
	f.Tokens = ApproxTokens(string(mw.sample(nil, s)))
	return f, ctx.Err()
}
