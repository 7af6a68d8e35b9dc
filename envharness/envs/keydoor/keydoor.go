package keydoor

import (
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// MaxTurns is the limit of the longest tasks; see the package comment for that of each.
const MaxTurns = 126

// smallTurns is the limit of every task of the small preset.
const smallTurns = 12

// Options chooses the preset. A nil *Options equals &Options{}.
type Options struct {
	// Small is the compact preset: two rooms, episodes of at most 12 turns, keys named by colours, and a spare key in each room. Its
	// tasks are its own.
	Small bool
}

// New returns an environment that waits for its first reset.
func New(o *Options) *sim.Env { return simulation(o).New() }

// World returns the maker of environments and their verifier, for a harness.
func World(o *Options) envharness.World { return simulation(o).World() }

// The tools, in the order in which they are listed.
const (
	left = iota
	right
	pickup
	use
	noop
	tools
)

// names has the name of each tool.
func names() [tools]string {
	return [tools]string{left: "left", right: "right", pickup: "pickup", use: "use", noop: "noop"}
}

func simulation(o *Options) *sim.Simulation {
	if o == nil {
		o = &Options{}
	}
	w := &world{small: o.Small, actions: actionLists()}
	if w.small {
		w.colouring = envharness.RandStream(colourSeed, "env", 0).Perm(colourings)
	}
	s := &sim.Simulation{Description: w.description(), Start: w.start, DefaultTask: "2,5,0,0", Tasks: w.tasks, Shortest: true}
	if w.small {
		s.DefaultTask = smallPrefix + "2,2,0,0"
	}
	return s
}

// A world is what all episodes of a preset share; nobody writes to it.
type world struct {
	small     bool
	actions   [1 << tools][]envharness.Action // by the bits of the tools that are admissible
	colouring []int                           // of the small preset, by the number of the drawing: a permutation of [0, colourings)
}

// actionLists makes the list of admissible actions for every set of tools.
func actionLists() (lists [1 << tools][]envharness.Action) {
	for set := range lists {
		for i, name := range names() {
			if set>>i&1 == 1 {
				lists[set] = append(lists[set], envharness.Action{Name: name})
			}
		}
	}
	return lists
}

const (
	goal = "Walk to the right through all rooms and leave the last one. Every door needs a key of its own."
	out  = "You are out."
)

func (w *world) description() envharness.Description {
	d := envharness.Description{
		Name: "keydoor",
		About: "Rooms in a row, each a row of cells. At the end of each room a door leads to the next, and the last one out. " +
			"Key r opens door r and is spent; it lies in that room or in one before, and doors are one-way, so a key that is left behind " +
			"is lost. The text tells the present room and cell, whether the door is open, the keys that are held and those that lie here; " +
			"there is no map. It passes to leave the last room.",
		Graded:     []string{"room"},
		Refusals:   []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassPrecondition},
		Vocabulary: w.vocabulary(),
		Chance:     0.03,
		MaxTurns:   MaxTurns,
	}
	if w.small {
		d.Name, d.MaxTurns, d.Chance = "keydoor_small", smallTurns, 0.015
		d.About = "Two rooms in a row, each a row of cells. At the end of each a door leads on. Doors and keys have colours: a key opens " +
			"the door of its colour and is spent. It lies in that room or in the one before, and doors are one-way, so a key that is left " +
			"behind is lost. In each room lies a spare key that opens nothing. The text tells the colours of all doors, the present room " +
			"and cell, the keys that are held and those that lie here. It passes to leave the last room within 12 turns."
	}
	described := [tools]string{
		left:   "Go one cell to the left.",
		right:  "Go one cell to the right, or through the open door of the last cell.",
		pickup: "Pick up a key that lies here; of several the first one listed.",
		use:    "Open the door of this room with its key, in the last cell.",
		noop:   "Do nothing.",
	}
	for i, name := range names() {
		d.Tools = append(d.Tools, envharness.Tool{
			Name: name, Description: described[i], Submits: i == right, ReadOnly: i == noop,
			Schema: rules.NoArgs(),
		})
	}
	return d
}

// vocabulary lists the words of all texts.
func (w *world) vocabulary() []string {
	name := names()
	words := append(name[:], goal, out, "Goal: leave room. Room, cell. Door closed. Door open. Keys held: none. Keys here: none.")
	last := maxCells
	if w.small {
		last = maxSmallCells
		words = append(append(words, "Doors,"), colours()...)
	}
	for i := range last {
		words = append(words, strconv.Itoa(i))
	}
	return rules.Vocabulary(words...)
}
