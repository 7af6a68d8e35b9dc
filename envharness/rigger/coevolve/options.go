package coevolve

import (
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/plr"
)

// Options adjusts [Run]. A nil *Options equals &Options{}.
type Options struct {
	// Rig adjusts the rigging; nil means &rigger.Options{}. Its Seed is that of the whole run, its Rollout and Journal serve all rollouts.
	Rig *rigger.Options

	Rounds int // most rounds; zero means 10
	// Tasks is how many tasks are rigged in a round, in turn; zero means all. One that has as many items as Rig.Accept asks for is left alone
	// until one of them is retired.
	Tasks int

	Draws int      // members of the pool that are drawn for training in a round; zero means 64
	Mix   *float64 // least share of them that is unmodified, in [0, 1]; nil means 0.3
	Play  bool     // play an episode of each draw and give the traces to Train; else it plays itself
	// Replay adjusts how items are drawn, by their scores p(1-p)+0.01. Nil means in proportion to them (Beta 1), with a tenth of the draws by
	// how long an item has waited (Rho 0.1). Its Capacity must be zero.
	Replay  *plr.Options
	RedTeam bool // train on items that were made to find failures too

	Measure int         // rollouts when an item is measured again; zero means 5
	Keep    rigger.Band // of success rates, bounds included, with which an item is kept; the zero Band means [0.1, 0.9]
	// Evaluate is the number of rollouts of each held-out task after each round; zero means 1.
	Evaluate int

	// Progress is told what is done, on the goroutine of the caller; Rig.Progress has the details of the rigging. Nil means nobody asks.
	Progress func(Progress)
}

// Progress says where a run is.
type Progress struct {
	Round, Rounds int    // from 1; 0 while the first policy is evaluated
	Phase         string // "evaluate", "measure", "rig", "explore" or "train"
	Done, Total   int    // tasks or items of the phase; 0 where there are none to count
}

const (
	retireAfter = 2    // times in a row that an item is outside of Keep
	stopAfter   = 2    // rounds in a row in which the held-out success rate fell
	leastWeight = 0.01 // of an item, so that none is never drawn
	level       = 0.95 // of the interval of the held-out success rate
)

// settings are options with the defaults filled in.
type settings struct {
	Options
	rig rigger.Options
	mix float64
}

func (o *Options) settings() (settings, error) {
	var s settings
	if o != nil {
		s.Options = *o
	}
	if s.Rig != nil {
		s.rig = *s.Rig
	}
	var errs []error
	number := func(name string, n *int, fallback int) {
		if *n < 0 {
			errs = append(errs, fmt.Errorf("coevolve: %s %d, want >= 0", name, *n))
		}
		if *n == 0 {
			*n = fallback
		}
	}
	number("Rounds", &s.Rounds, 10)
	number("Tasks", &s.Tasks, 0)
	number("Draws", &s.Draws, 64)
	number("Measure", &s.Measure, 5)
	number("Evaluate", &s.Evaluate, 1)
	s.mix = 0.3
	if s.Mix != nil {
		s.mix = *s.Mix
	}
	if !(s.mix >= 0 && s.mix <= 1) {
		errs = append(errs, fmt.Errorf("coevolve: Mix %v, want 0 to 1", s.mix))
	}
	if s.Keep == (rigger.Band{}) {
		s.Keep = rigger.Band{Lo: 0.1, Hi: 0.9}
	}
	if !(s.Keep.Lo >= 0 && s.Keep.Lo <= s.Keep.Hi && s.Keep.Hi <= 1) {
		errs = append(errs, fmt.Errorf("coevolve: Keep [%v, %v] is not in [0, 1]", s.Keep.Lo, s.Keep.Hi))
	}
	if s.Replay == nil {
		s.Replay = &plr.Options{Proportional: true, Beta: new(1.0), Rho: new(0.1)}
	}
	if s.Replay.Capacity != 0 {
		errs = append(errs, fmt.Errorf("coevolve: Replay.Capacity %d, want 0", s.Replay.Capacity))
	}
	if _, err := plr.New[string](s.Replay); err != nil {
		errs = append(errs, fmt.Errorf("coevolve: Replay: %w", err))
	}
	return s, errors.Join(errs...)
}

// tell reports progress.
func (s *settings) tell(round int, phase string, done, total int) {
	if s.Progress != nil {
		s.Progress(Progress{Round: round, Rounds: s.Rounds, Phase: phase, Done: done, Total: total})
	}
}
