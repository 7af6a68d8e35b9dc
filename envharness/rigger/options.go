package rigger

import (
	"github.com/throughline-go/throughline/envharness"
)

// A Preset is a way to accept candidates.
type Preset uint8

// The presets.
const (
	// Gated puts the paper's loop behind the whole gate (ours).
	Gated Preset = iota
	// Paper is the loop of the paper: a candidate that can be built is screened, and accepted, refined or rejected on the counts of that.
	Paper
	// PaperALFWorld is the rule of the released configuration for ALFWorld: a candidate is accepted if the success rate of its screening is
	// at least 0.2 above that of the baseline, and tasks with a rate of 0.8 or more are left alone.
	PaperALFWorld
	// Unchecked accepts every candidate that can be built, without a rollout: random components, to compare with.
	Unchecked
)

// Options adjusts [Rig]. A nil *Options equals &Options{}.
type Options struct {
	Preset    Preset
	Designer  Designer  // nil means &Rules{}
	Objective Objective // nil means Difficulty{}
	Seed      uint64    // of all that is drawn

	Baseline int // rollouts of the policy on each unmodified task, K; zero means 5
	Screen   int // in a screening, K1; zero means 5
	Confirm  int // in a confirmation, K2, at least 8; zero means 16
	Attempts int // of a task, M; zero means 5, at most 20
	// Accept is how many candidates of a task are to be accepted before its attempts end; zero means 1.
	Accept int
	// RigInBand makes tasks whose baseline is within the objective be rigged too, which are left alone otherwise.
	RigInBand bool

	Alpha         *float64 // error level of a task, spent evenly on its attempts, in (0, 0.5); nil means 0.05
	NullEpisodes  int      // of each policy that knows nothing; zero means 20
	SearchLimit   *int     // states that the search for a solution may visit; nil means 20000, 0 means no search
	MaxComponents int      // in a candidate; zero means 4, at most 8
	AxisCap       *float64 // largest share of the accepted on one axis, from 10 accepted on, in (0, 1]; nil means 0.4
	Transfer      bool     // require that what passed the candidate, without its start, also passes the unmodified task

	Budget Budget // of each task
	// Rollout adjusts the episodes: Parallel, MaxTurns, timeouts and Reruns. Seed, Kind and Progress must be zero.
	Rollout envharness.RolloutOptions
	Journal *Journal // nil means that nothing is kept
	// Progress is told what is done, on the goroutine of the caller. Nil means nobody asks.
	Progress func(Progress)
}

// A Budget bounds the rollouts of policy and reference on one task, baseline included, and what they take. An attempt begins only if its screening and
// confirmation fit into Rollouts. Zero means no limit, and 200 for Rollouts. Time is bounded by the context.
type Budget struct {
	Rollouts int
	Turns    int // an attempt does not begin when they are used up
	Tokens   int // likewise
}

// Progress says where a run is.
type Progress struct {
	Task, Tasks int    // tasks that are done, and all
	ID          string // of the task at hand
	Attempt     int    // from 1; 0 for the baseline
	Phase       string // "baseline", "design", "check", "screen", "confirm"
	Done, Total int    // rollouts of the phase
}
