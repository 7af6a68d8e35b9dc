package game24

import (
	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

const (
	// MaxTurns is the number of turns after which an episode is truncated with the reason "max_turns".
	MaxTurns = 12

	// defaultTask is played when no task is named.
	defaultTask = "1,2,3,4"
)

// Options adjusts [New] and [World]. A nil *Options equals &Options{}.
type Options struct {
	// LooseStop lets a stop pass if any of the numbers left is 24, as the reference code does; 1,564 hands have a solution then. It is
	// for comparison with data of the reference only: the game becomes another one, so it describes itself as "game24_loose". The
	// splits stay the same.
	LooseStop bool
}

// New returns a game that waits for its first reset. Games share nothing that can change.
func New(o *Options) *sim.Env { return simulation(o).New() }

// World returns the maker of games and their verifier, for a harness.
func World(o *Options) envharness.World { return simulation(o).World() }

func simulation(o *Options) *sim.Simulation {
	loose := o != nil && o.LooseStop
	return &sim.Simulation{
		Description: description(loose),
		Start: func(task string) (sim.Episode, error) {
			h, err := deal(task)
			if err != nil {
				return nil, err
			}
			return &episode{loose: loose, start: h, numbers: h}, nil
		},
		DefaultTask: defaultTask,
		Tasks:       taskLists(),
		Shortest:    true,
	}
}

// description names the numbers and the stop as graded. Nothing is mutable: other numbers would be another task, and a history that was
// made up tells a policy what is not so.
func description(loose bool) envharness.Description {
	name, passes := "game24", "An episode passes if it is stopped with one number left and that number is 24."
	if loose {
		name, passes = "game24_loose", "An episode passes if it is stopped with 24 among the numbers left."
	}
	return envharness.Description{
		Name: name,
		About: "Four numbers from 1 to 13 are to be combined into 24. A combine takes two of the numbers in play out and appends their sum, " +
			"difference, product or quotient, in exact fractions; a restart brings the four back; a stop ends the episode. " + passes +
			" The text shows the numbers, after a refused call as well.",
		Tools:    tools(),
		Graded:   []string{"numbers", "stopped"},
		Refusals: []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassPrecondition},
		MaxTurns: MaxTurns,
	}
}
