package household

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// A preset is a family of generated tasks.
type preset struct {
	prefix  string // of the ids
	rooms   []room
	pairs   []pair    // of kinds and rooms, in the order of the lists
	objects objectSet // the types that there are, but for lamps
	few     bool      // there are so few scenes that a hash must keep the splits apart
}

// A room is a kind of room, with what does not depend on the scene.
type room struct {
	first     int // what is added to the numbers of its scenes, 1 to 30
	always    []count
	choice    []receptacleType // of these, one each, chosen are in a scene, and one more in an unseen scene
	chosen    int
	lamp      objectType
	lampOn    []receptacleType // none: no lamp
	scattered int              // objects that lie around, before those of the task are added
	stacked   bool             // some receptacles share a location
}

// A count is a number of receptacles of one type.
type count struct {
	typ    receptacleType
	n      int
	varies bool // one more in some scenes, two more in the unseen ones
}

// A pair is a kind of task in a room; it is a family of tasks.
type pair struct {
	kind Kind
	room int
}

// The numbers of scenes in a room and trials of a scene, after ALFWorld's numbering.
const (
	unseen = 6  // the first scenes, which are in the split "ood" and in no other
	scenes = 30 // in all; those after the unseen ones are in the other splits

	trainTrials      = 40
	validationTrials = 2 // the trials after those
	testTrials       = 2 // the trials after those
	oodTrials        = 8
)

// A task is what an id says.
type task struct {
	pair  pair
	scene int // from 1 to 30
	trial int
}

func (p *preset) id(t task) string {
	return p.prefix + string(t.pair.kind) + "-" + strconv.Itoa(p.rooms[t.pair.room].first+t.scene) + "-" + strconv.Itoa(t.trial)
}

// parse reads the id of a task that is in a split.
func (p *preset) parse(id string) (task, error) {
	fail := func(rule string) (task, error) {
		return task{}, fmt.Errorf("%w: %q, want %s", envharness.ErrNoTask, sim.Clip(id), rule)
	}
	rest, ok := strings.CutPrefix(id, p.prefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return fail("an id such as " + p.id(p.defaultTask()))
	}
	number, err := strconv.Atoi(parts[1])
	trial, err2 := strconv.Atoi(parts[2])
	if err != nil || err2 != nil {
		return fail("numbers for scene and trial")
	}
	t := task{trial: trial}
	for i, r := range p.rooms {
		if number > r.first && number <= r.first+scenes {
			t.scene, t.pair.room = number-r.first, i
		}
	}
	t.pair.kind = Kind(parts[0])
	if t.scene == 0 || !slices.Contains(p.pairs, t.pair) {
		return fail("a kind of task and a scene of a room that has such tasks")
	}
	if trial < 0 || t.scene <= unseen && trial >= oodTrials || trial >= trainTrials+validationTrials+testTrials {
		return fail(fmt.Sprintf("a trial from 0 to %d, or to %d in the unseen scenes 1 to %d of a room",
			trainTrials+validationTrials+testTrials-1, oodTrials-1, unseen))
	}
	if p.id(t) != id {
		return fail("numbers without signs and leading zeros")
	}
	return t, nil
}

// split returns the split of a task.
func (t task) split() string {
	switch {
	case t.scene <= unseen:
		return "ood"
	case t.trial < trainTrials:
		return "train"
	case t.trial < trainTrials+validationTrials:
		return "validation"
	}
	return "test"
}

func (p *preset) defaultTask() task { return task{p.pairs[0], unseen + 1, 0} }

// tasks lists a split: by trials, then scenes, then the pairs of kinds and rooms, so that any first part has tasks of all kinds.
func (p *preset) tasks(split string) ([]envharness.Task, error) {
	scene, lastScene, trial, n := unseen+1, scenes, 0, 0
	switch split {
	case "train":
		n = trainTrials
	case "validation":
		trial, n = trainTrials, validationTrials
	case "test":
		trial, n = trainTrials+validationTrials, testTrials
	case "ood":
		scene, lastScene, n = 1, unseen, oodTrials
	default:
		return nil, rules.UnknownSplit(split)
	}
	list := make([]envharness.Task, 0, n*(lastScene-scene+1)*len(p.pairs))
	for k := trial; k < trial+n; k++ {
		for s := scene; s <= lastScene; s++ {
			for _, pair := range p.pairs {
				list = append(list, envharness.Task{ID: p.id(task{pair, s, k}), Split: split, Family: string(pair.kind)})
			}
		}
	}
	return list, nil
}
