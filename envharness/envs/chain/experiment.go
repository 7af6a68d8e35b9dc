package chain

import (
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

// An Experiment is the name of a world with a sweep of settings.
type Experiment string

// The experiments of bsuite, and short sweeps of ours.
const (
	UmbrellaLength   Experiment = "umbrella_length"
	UmbrellaDistract Experiment = "umbrella_distract"
	DiscountingChain Experiment = "discounting_chain"
	MemoryLen        Experiment = "memory_len"
	DeepSea          Experiment = "deep_sea"

	UmbrellaLengthShort   Experiment = "umbrella_length_short"
	UmbrellaDistractShort Experiment = "umbrella_distract_short"
	DiscountingChainShort Experiment = "discounting_chain_short"
	MemoryLenShort        Experiment = "memory_len_short"
	DeepSeaShort          Experiment = "deep_sea_short"
)

// Experiments lists all: first those of bsuite, then the short ones.
func Experiments() []Experiment {
	return []Experiment{
		UmbrellaLength, UmbrellaDistract, DiscountingChain, MemoryLen, DeepSea,
		UmbrellaLengthShort, UmbrellaDistractShort, DiscountingChainShort, MemoryLenShort, DeepSeaShort,
	}
}

// Short reports whether the sweep is a short one of ours, with episodes of at most 12 turns. An unknown experiment is not.
func (e Experiment) Short() bool {
	all := Experiments()
	return slices.Index(all, e) >= len(all)/2
}

// New returns an environment that waits for its first reset. An unknown experiment is an error.
func New(e Experiment) (*sim.Env, error) {
	s, err := e.simulation()
	if err != nil {
		return nil, err
	}
	return s.New(), nil
}

// World returns the maker of environments and their verifier, for a harness. An unknown experiment is an error.
func World(e Experiment) (envharness.World, error) {
	s, err := e.simulation()
	if err != nil {
		return envharness.World{}, err
	}
	return s.World(), nil
}

// A Setting is one point of an experiment's sweep.
type Setting struct {
	Number   int     // what is swept, and the first number of the ids
	Steps    int     // of an episode, as long as no call is refused
	Episodes int     // of a run
	OOD      bool    // out of distribution: its episodes are in the split ood, others' in train, validation and test
	Chance   float64 // the pass rate of a policy that draws its actions
}

// Settings lists the sweep in ascending order, nil for an unknown experiment.
func (e Experiment) Settings() []Setting {
	d, ok := e.design()
	if !ok {
		return nil
	}
	list := make([]Setting, len(d.numbers))
	for i, n := range d.numbers {
		list[i] = Setting{Number: n, Steps: d.steps(n), Episodes: d.episodes, OOD: d.ood(n), Chance: d.chance(n)}
	}
	return list
}

// kind is a sort of chain.
type kind int

const (
	umbrella kind = iota
	discounting
	memory
	sea
)

// A design is all that distinguishes an experiment.
type design struct {
	name     Experiment
	kind     kind
	numbers  []int // swept, ascending
	ood      func(int) bool
	episodes int // of a run
	held     int // further episodes in validation and in test, each
	steps    func(int) int
	signs    func(int) int // of an umbrella
	pays     [arms]int     // of discounting: the steps
}

const arms = 5

func (e Experiment) design() (*design, bool) {
	spaced := func(from, to int) []int { // bsuite's spacing, nearly logarithmic
		var list []int
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100} {
			if from <= n && n <= to {
				list = append(list, n)
			}
		}
		return list
	}
	count := func(from, to, by int) []int {
		var list []int
		for n := from; n <= to; n += by {
			list = append(list, n)
		}
		return list
	}
	above := func(last int) func(int) bool { return func(n int) bool { return n > last } }
	same := func(n int) int { return n }
	plus1 := func(n int) int { return n + 1 }
	always := func(n int) func(int) int { return func(int) int { return n } }
	lastArm := func(n int) bool { return n%arms == arms-1 }

	d := &design{name: e, episodes: 10_000, held: 100}
	switch e {
	case UmbrellaLength:
		d.kind, d.numbers, d.ood, d.steps, d.signs = umbrella, spaced(1, 100), above(20), same, always(20)
	case UmbrellaDistract:
		d.kind, d.numbers, d.ood, d.steps, d.signs = umbrella, spaced(1, 100), above(20), always(20), same
	case DiscountingChain:
		d.kind, d.numbers, d.ood, d.steps, d.pays = discounting, count(0, 19, 1), lastArm, always(100), [arms]int{1, 3, 10, 30, 100}
		d.episodes = 1000
	case MemoryLen:
		d.kind, d.numbers, d.ood, d.steps = memory, spaced(1, 100), above(20), plus1
	case DeepSea:
		d.kind, d.numbers, d.ood, d.steps = sea, count(10, 50, 2), above(30), same
	case UmbrellaLengthShort:
		d.kind, d.numbers, d.ood, d.steps, d.signs = umbrella, spaced(1, 10), above(6), same, always(10)
	case UmbrellaDistractShort:
		d.kind, d.numbers, d.ood, d.steps, d.signs = umbrella, spaced(1, 17), above(8), always(10), same
	case DiscountingChainShort:
		d.kind, d.numbers, d.ood, d.steps, d.pays = discounting, count(0, 19, 1), lastArm, always(10), [arms]int{1, 2, 4, 6, 10}
	case MemoryLenShort:
		d.kind, d.numbers, d.ood, d.steps = memory, count(1, 9, 1), above(6), plus1
	case DeepSeaShort:
		d.kind, d.numbers, d.ood, d.steps = sea, count(4, 10, 1), above(7), same
	default:
		return nil, false
	}
	if e.Short() {
		d.episodes, d.held = 1000, 20
	}
	return d, true
}

// chance is the pass rate of drawn actions.
func (d *design) chance(n int) float64 {
	switch d.kind {
	case discounting:
		return 1. / arms
	case sea:
		return math.Pow(2, -float64(n))
	}
	return 0.5
}

// slack is how many calls may be refused before an episode is cut off.
const slack = 2

// longest is the most steps of a setting.
func (d *design) longest() int {
	most := 0
	for _, n := range d.numbers {
		most = max(most, d.steps(n))
	}
	return most
}

func (e Experiment) simulation() (*sim.Simulation, error) {
	d, ok := e.design()
	if !ok {
		return nil, fmt.Errorf("chain: unknown experiment %q, want one of %q", sim.Clip(string(e)), Experiments())
	}
	w := &world{design: d, task: d.sentence(), actions: d.actions()}
	w.data = map[string]any{"task": w.task}
	return &sim.Simulation{
		Description: d.description(w.task),
		Start:       w.start,
		DefaultTask: id(d.numbers[0], 0),
		Tasks:       d.tasks,
		Shortest:    true, // all episodes of a setting have the same length
	}, nil
}
