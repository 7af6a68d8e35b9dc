package rigger

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A Preset is a way to accept candidates.
type Preset uint8

// The presets.
const (
	// Gated puts the paper's loop behind the whole gate (ours).
	Gated Preset = iota
	// Paper is the loop of the paper: a candidate that can be built is screened, and accepted, refined or rejected on the counts of that. The
	// decision of a [Decider] is final; without one the objective decides.
	Paper
	// PaperALFWorld is the rule of the released configuration for ALFWorld: a candidate is accepted if the success rate of its screening is
	// at least 0.2 above that of the baseline, and tasks with a rate of 0.8 or more are left alone. It is an objective of its own, all
	// candidates are to be easier, a Decider is not asked, and RigInBand is an error.
	PaperALFWorld
	// Unchecked accepts every candidate that can be built, without a rollout, not even one of the baseline: to compare with.
	Unchecked
)

// String returns "gated", "paper", "paper_alfworld" or "unchecked".
func (p Preset) String() string {
	switch p {
	case Gated:
		return "gated"
	case Paper:
		return "paper"
	case PaperALFWorld:
		return "paper_alfworld"
	case Unchecked:
		return "unchecked"
	}
	return "preset " + strconv.Itoa(int(p))
}

// Options adjusts [Rig]. A nil *Options equals &Options{}.
type Options struct {
	Preset    Preset
	Designer  Designer  // nil means &Rules{}
	Objective Objective // nil means Difficulty{}
	Seed      uint64    // of all that is drawn

	Baseline int // rollouts of the policy on each unmodified task, K, 2 to 1000; zero means 5
	Screen   int // in a screening, K1, 2 to 1000; zero means 5
	Confirm  int // in a confirmation, K2, 8 to 1000; zero means 16
	Attempts int // of a task, M; zero means 5, at most 20
	// Accept is how many candidates of a task are to be accepted before its attempts end; zero means 1.
	Accept int
	// RigInBand makes tasks whose baseline is within the objective be rigged too, which are left alone otherwise: harder for a policy that
	// passes at least half of the time, else easier.
	RigInBand bool

	Alpha         *float64 // error level of a task, spent evenly on its attempts, 1e-12 or more and below 0.5; nil means 0.05
	NullEpisodes  int      // of each policy that knows nothing, at most 10000; zero means 20
	SearchLimit   *int     // states that the search for a solution may visit; nil means 20000, 0 means no search
	MaxComponents int      // in a candidate; zero means 4, at most 8
	AxisCap       *float64 // largest share of the accepted on one axis, from 10 accepted on, in (0, 1]; nil means 0.4
	Transfer      bool     // require that what passed the candidate, without its start, also passes the unmodified task

	Budget Budget // of each task
	// Rollout adjusts the episodes: Parallel, MaxTurns, timeouts and Reruns. Seed, Kind and Progress must be zero.
	Rollout envharness.RolloutOptions
	// Journal keeps what is paid for; nil means that nothing is kept. It needs a Problem.Fingerprint, and a Designer with a method String()
	// string, whose answers it keeps under that name: change the name when what is behind it changes. A function gets one in a struct:
	//
	//	type halver struct{ rigger.DesignerFunc }
	//
	//	func (halver) String() string { return "halver 1" }
	Journal *Journal
	// Progress is told what is done, on the goroutine of the caller. Nil means nobody asks.
	// The last call of a run without an error says that all tasks are done.
	Progress func(Progress)
}

// A Budget bounds the rollouts of policy and reference on one task, baseline included, and what they take. An attempt begins only if its
// screening and confirmation fit into Rollouts, so that none is broken off. Zero means no limit, and 200 for Rollouts. Time is bounded by
// the context.
//
// Rollouts that infrastructure spoilt and that were played again count as well, but nothing is put by for them: an attempt that has begun may
// exceed Rollouts by Rollout.Reruns for each of its own. The turns and tokens of a spoilt one that was played again are not known, and
// count for nothing.
type Budget struct {
	Rollouts int // at least those of the baseline and of one attempt
	Turns    int // an attempt does not begin when they are used up
	Tokens   int // likewise
}

// Progress says where a run is.
type Progress struct {
	Task, Tasks int    // tasks that are done, and all
	ID          string // of the task at hand; empty when all are done
	Attempt     int    // from 1; 0 for the baseline
	Phase       string // "baseline", "design", "check", "screen", "confirm"; empty when all are done
	Done, Total int    // rollouts of the phase; those of a confirmation may end before Total
}

// The defaults: K, K1 and M are the paper's, the others ours. With K1 alone a candidate of rate 0.2 is accepted in one of 5 attempts 77 %
// of the time, which K2 brings down to 42 %, and 0.1 from 34 % to 3 %.
const (
	defaultBaseline      = 5
	defaultScreen        = 5
	defaultConfirm       = 16
	defaultAttempts      = 5
	defaultAlpha         = .05
	defaultNullEpisodes  = 20 // 0 of 20: the rate is below 0.14 at 95 %
	defaultSearchLimit   = 20_000
	defaultMaxComponents = 4
	defaultAxisCap       = .4
	defaultRollouts      = 200
	defaultReruns        = 2 // as envharness.RolloutOptions has it

	leastAlpha     = 1e-12 // spent on 20 attempts that is a level that is still below 1
	leastConfirm   = 8
	mostRollouts   = 1000 // in a baseline, screening or confirmation
	mostPlayed     = 10_000
	mostNull       = 10_000
	mostAttempts   = 20
	mostComponents = 8
	axisCapFrom    = 10 // accepted
)

// settings are the options with the defaults filled in.
type settings struct {
	Options
	alpha       float64
	searchLimit int
	axisCap     float64
	registry    *components.Registry
	reference   bool // there is a reference policy that the objective uses
}

// settle fills in the defaults of the options and checks all that can be checked without a rollout. The faults are joined.
func settle(p Problem, o *Options) (*settings, error) {
	if o == nil {
		o = &Options{}
	}
	s := &settings{
		Options: *o, alpha: defaultAlpha, searchLimit: defaultSearchLimit, axisCap: defaultAxisCap, registry: p.Registry,
	}
	var faults []error
	within := func(name string, value *int, fallback, least, most int) {
		if *value == 0 {
			*value = fallback
		}
		switch {
		case *value < least:
			faults = append(faults, fmt.Errorf("rigger: Options.%s is %d, want at least %d", name, *value, least))
		case most > 0 && *value > most:
			faults = append(faults, fmt.Errorf("rigger: Options.%s is %d, want at most %d", name, *value, most))
		}
	}
	within("Baseline", &s.Baseline, defaultBaseline, 2, mostRollouts)
	within("Screen", &s.Screen, defaultScreen, 2, mostRollouts)
	within("Confirm", &s.Confirm, defaultConfirm, leastConfirm, mostRollouts)
	within("Attempts", &s.Attempts, defaultAttempts, 1, mostAttempts)
	within("Accept", &s.Accept, 1, 1, 0)
	within("NullEpisodes", &s.NullEpisodes, defaultNullEpisodes, 1, mostNull)
	within("MaxComponents", &s.MaxComponents, defaultMaxComponents, 1, mostComponents)
	within("Budget.Rollouts", &s.Budget.Rollouts, defaultRollouts, 1, 0)
	within("Budget.Turns", &s.Budget.Turns, 0, 0, 0)
	within("Budget.Tokens", &s.Budget.Tokens, 0, 0, 0)
	if o.Alpha != nil {
		if s.alpha = *o.Alpha; !(s.alpha >= leastAlpha && s.alpha < .5) {
			faults = append(faults, fmt.Errorf("rigger: Options.Alpha is %v, want at least %v and below 0.5", s.alpha, leastAlpha))
		}
	}
	if o.AxisCap != nil {
		if s.axisCap = *o.AxisCap; !(s.axisCap > 0 && s.axisCap <= 1) {
			faults = append(faults, fmt.Errorf("rigger: Options.AxisCap is %v, want above 0 and at most 1", s.axisCap))
		}
	}
	if o.SearchLimit != nil {
		if s.searchLimit = *o.SearchLimit; s.searchLimit < 0 {
			faults = append(faults, fmt.Errorf("rigger: Options.SearchLimit is %d, want at least 0", s.searchLimit))
		}
	}
	if s.Preset > Unchecked {
		faults = append(faults, fmt.Errorf("rigger: Options.Preset is %d, want at most %d", s.Preset, Unchecked))
	}
	if s.Designer == nil {
		s.Designer = &Rules{}
	}
	if v := reflect.ValueOf(s.Designer); (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
		faults = append(faults, fmt.Errorf("rigger: Options.Designer is a nil %T", s.Designer))
	}
	if _, named := s.Designer.(fmt.Stringer); s.Journal != nil && !named {
		faults = append(faults, fmt.Errorf("rigger: Options.Journal is given, and the designer %T has no method String: its answers are kept "+
			"under that name", s.Designer))
	}
	if s.registry == nil {
		s.registry = components.Catalogue()
	}
	if s.Preset == PaperALFWorld {
		if s.RigInBand {
			faults = append(faults, fmt.Errorf("rigger: Options.RigInBand is set, and all candidates of %v are easier", s.Preset))
		}
		if s.Objective != nil {
			faults = append(faults, fmt.Errorf("rigger: Options.Objective is given, and %v has one of its own", s.Preset))
		}
		s.Objective = uplift{}
	}
	if s.Objective == nil {
		s.Objective = Difficulty{}
	}
	faults = append(faults, checkRollout(s.Rollout), p.check(s.Seed), p.journalled(s.Journal))
	err := errors.Join(faults...)
	if err == nil {
		err = s.checkObjective(p)
	}
	if err == nil {
		err = s.checkBudget()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkRollout reports what Rig sets itself or what makes no sense.
func checkRollout(o envharness.RolloutOptions) error {
	var faults []error
	if o.Seed != 0 || o.Kind != "" || o.Progress != nil {
		faults = append(faults, errors.New("rigger: Options.Rollout: Seed, Kind and Progress are not the caller's to set"))
	}
	if o.Parallel < 0 || o.MaxTurns < 0 || o.Reruns != nil && *o.Reruns < 0 {
		faults = append(faults, errors.New("rigger: Options.Rollout: Parallel, MaxTurns and Reruns must not be negative"))
	}
	return errors.Join(faults...)
}

// level is the confidence level of the intervals of a confirmation.
func (s *settings) level() float64 { return 1 - s.alpha/float64(s.Attempts) }

// reserved is how many rollouts an attempt may take.
func (s *settings) reserved() int {
	n := 0
	switch s.Preset {
	case Gated:
		n = s.Screen + s.Confirm
	case Paper, PaperALFWorld:
		n = s.Screen
	}
	if s.reference {
		n *= 2
	}
	return n
}

// checkBudget reports a budget that the first attempt would not fit into, so that a baseline would be paid for nothing.
func (s *settings) checkBudget() error {
	baseline := s.Baseline
	switch {
	case s.Preset == Unchecked:
		baseline = 0
	case s.reference:
		baseline *= 2
	}
	if need := baseline + s.reserved(); need > s.Budget.Rollouts {
		return fmt.Errorf("rigger: Options.Budget.Rollouts is %d, want at least %d: %d of the baseline, and %d that an attempt may take",
			s.Budget.Rollouts, need, baseline, s.reserved())
	}
	return nil
}

// reruns is how often what infrastructure spoilt is tried again.
func (s *settings) reruns() int { return *cmp.Or(s.Rollout.Reruns, new(defaultReruns)) }
