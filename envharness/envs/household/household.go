package household

import (
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

const (
	// MaxTurns is the number of turns after which an episode of the full preset is truncated with the reason "max_turns".
	MaxTurns = 50

	smallTurns = 12
)

// Options adjusts [New], [World] and [FromScene]. A nil *Options equals &Options{}.
type Options struct {
	// Small chooses the preset for studies of learning: small rooms, 12 turns, and a short text that tells how things stand. With [FromScene] it
	// chooses the limit and the text, whatever the size of the scene.
	Small bool
	// LegacyPut also accepts "put O in/on R" for "move O to R", as ALFWorld did before version 0.4.0. It is not listed among the admissible
	// commands. The name of the world then ends with "_put".
	LegacyPut bool
}

func (o *Options) orZero() Options {
	if o == nil {
		return Options{}
	}
	return *o
}

// New returns a household that waits for its first reset. Households share nothing that can change.
func New(o *Options) *sim.Env { return simulation(o.orZero()).New() }

// World returns the maker of households and their verifier, for a harness.
func World(o *Options) envharness.World { return simulation(o.orZero()).World() }

// simulation makes that of the generated tasks.
func simulation(o Options) *sim.Simulation {
	p := &fullPreset
	if o.Small {
		p = &smallPreset
	}
	return &sim.Simulation{
		Description: describe("household", o, p.vocabulary(o)),
		Start: func(task string) (sim.Episode, error) {
			t, err := p.parse(task)
			if err != nil {
				return nil, err
			}
			s, err := p.scene(t)
			if err != nil {
				return nil, err
			}
			return o.start(s)
		},
		DefaultTask: p.id(p.defaultTask()),
		Tasks:       p.tasks,
		Shortest:    true,
	}
}

// FromScene returns a simulation of the one scene, whose name begins with "household_scene". Its only task, in no split, is also the default:
// "scene-" and 16 hexadecimal digits of a hash of the scene, which is the same however the scene is written down and differs from that of any
// other. The texts and the limit on turns are those of the preset that o chooses. With Small nothing sees to it that the text has at most
// 40 words and that the task can be done within 12 turns: that is so in small scenes only.
//
// A scene is refused if it has an unknown type or kind, a name without a number from 1 or one that occurs twice, more than 64 receptacles or
// 255 objects, an object in a receptacle that it does not have, something open that cannot be opened, or a goal that is reached at the
// start. Objects may start where they could not be put, as some of ALFWorld's do; a goal that cannot be reached is accepted.
func FromScene(s Scene, o *Options) (*sim.Simulation, error) {
	options := o.orZero()
	if _, err := options.start(s); err != nil {
		return nil, fmt.Errorf("household: %w", err)
	}
	s = s.canonical()
	id := s.task()
	return &sim.Simulation{
		Description: describe("household_scene", options, s.vocabulary(options)),
		Start: func(task string) (sim.Episode, error) {
			if task != id {
				return nil, fmt.Errorf("%w: %q, want %q", envharness.ErrNoTask, sim.Clip(task), id)
			}
			return options.start(s)
		},
		DefaultTask: id,
		Shortest:    true,
	}, nil
}

// start makes the episode with the text of the preset.
func (o Options) start(s Scene) (sim.Episode, error) {
	e, err := newEpisode(s, o.LegacyPut)
	if err != nil {
		return nil, err
	}
	if e.reached() {
		return nil, errReached
	}
	if o.Small {
		return &compact{e}, nil
	}
	return e, nil
}

const toolName = "do"

func describe(name string, o Options, vocabulary []string) envharness.Description {
	d := envharness.Description{
		Name: name,
		About: "A room with receptacles and objects, told in words. One can go to a receptacle, open and close it, take and move one object at a " +
			"time, and clean an object at a sinkbasin, heat it at a microwave, cool it at a fridge, slice it with a knife and switch lamps. " +
			"An episode passes, and ends, when what the task asks for holds: an object of a type (clean, hot or cool where the task says so), or two " +
			"of them, in a receptacle of a type, or an object held at the place of a lamp that was switched. Objects can only be taken from and moved " +
			"to receptacles at the place where one is, and only if these are open. A component may move objects and open or close receptacles at " +
			"the start.",
		Tools: []envharness.Tool{{
			Name: toolName,
			Description: "Carry out a command: go to R, open R, close R, examine R or O, take O from R, move O to R, clean O with R, heat O with R, " +
				"cool O with R, slice O with K, use O, look, inventory, help. R is a receptacle, O an object and K a knife, such as mug 1.",
			Schema:  []byte(`{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`),
			Submits: true, // any command may be the one that reaches the goal
		}},
		Graded:     []string{"at", "goal", "holding", "objects"},
		Mutable:    []string{"/start/objects", "/start/open"},
		Refusals:   []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassPrecondition},
		Vocabulary: vocabulary,
		MaxTurns:   MaxTurns,
	}
	if o.Small {
		d.Name += "_small"
		d.MaxTurns = smallTurns
	}
	if o.LegacyPut {
		d.Name += "_put"
	}
	return d
}
