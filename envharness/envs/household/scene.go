package household

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// A Scene is a room with its receptacles and objects and what is to be done in it; see [FromScene].
type Scene struct {
	Receptacles []Receptacle `json:"receptacles"`
	Objects     []Object     `json:"objects"`
	Goal        Goal         `json:"goal"`
}

// A Receptacle is something that objects lie in or on. Its type is the name without the number.
type Receptacle struct {
	Name     string `json:"name"`           // type and number from 1, such as "countertop 1"; each once
	Location int    `json:"location"`       // who is at one receptacle reaches all with the same location; 0 stands for one of its own
	Open     bool   `json:"open,omitempty"` // at the start; only for types that can be opened
}

// An Object is something that can be taken, or a lamp.
type Object struct {
	Name string `json:"name"` // type and number from 1, such as "apple 2"; each once
	In   string `json:"in"`   // name of the receptacle that it is in or on at the start
	// Also are further receptacles that it is in or on at the same time, as a mug in a coffeemachine on a countertop is. It can be taken from
	// any of them, and stays in the others; goals count each. Generated scenes have none.
	Also []string `json:"also,omitempty"`
}

// A Goal is what is to be done.
type Goal struct {
	Kind       Kind   `json:"kind"`
	Object     string `json:"object"`     // type of the object to be handled
	Receptacle string `json:"receptacle"` // type of the receptacle to place it in, or of the lamp for LookInLight
}

// A Kind is one of ALFWorld's six types of tasks, under its name there.
type Kind string

// The kinds of tasks.
const (
	PickAndPlace Kind = "pick_and_place_simple"          // an object of the type is in or on a receptacle of the type
	LookInLight  Kind = "look_at_obj_in_light"           // an object of the type is held where a lamp of the type is that was switched
	PickClean    Kind = "pick_clean_then_place_in_recep" // as PickAndPlace, and that object is clean
	PickHeat     Kind = "pick_heat_then_place_in_recep"  // as PickAndPlace, and that object is hot
	PickCool     Kind = "pick_cool_then_place_in_recep"  // as PickAndPlace, and that object is cool
	PickTwo      Kind = "pick_two_obj_and_place"         // two objects of the type are in or on the same receptacle of the type
)

// kinds holds every kind, in the order of the task ids' streams.
var kinds = [...]Kind{PickAndPlace, LookInLight, PickClean, PickHeat, PickCool, PickTwo}

// canonical returns a copy that shares nothing with s and is the same for all ways to write the scene down: lists are in the order of names, and
// shared locations are numbered as they come.
func (s Scene) canonical() Scene {
	s.Receptacles, s.Objects = append([]Receptacle{}, s.Receptacles...), append([]Object{}, s.Objects...)
	slices.SortFunc(s.Receptacles, func(a, b Receptacle) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Objects, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	count, number := map[int]int{}, map[int]int{}
	for _, r := range s.Receptacles {
		count[r.Location]++
	}
	for i := range s.Receptacles {
		at := &s.Receptacles[i].Location
		if *at == 0 || count[*at] == 1 {
			*at = 0
			continue
		}
		if _, ok := number[*at]; !ok {
			number[*at] = 1 + len(number)
		}
		*at = number[*at]
	}
	for i := range s.Objects {
		o := &s.Objects[i]
		o.Also = slices.DeleteFunc(slices.Clone(o.Also), func(name string) bool { return name == o.In })
		slices.Sort(o.Also)
		o.Also = slices.Compact(o.Also)
	}
	return s
}

// task returns the id of a canonical scene's task.
func (s Scene) task() string {
	data, _ := json.Marshal(s) // strings and numbers
	sum := sha256.Sum256(data)
	return "scene-" + hex.EncodeToString(sum[:8])
}
