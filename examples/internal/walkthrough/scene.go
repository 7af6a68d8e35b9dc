package walkthrough

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness/envs/household"
)

// opens lists the types of receptacles that can be opened.
var opens = [...]string{"cabinet", "drawer", "fridge", "microwave", "safe"}

func canOpen(name string) bool { return slices.Contains(opens[:], typeOf(name)) }

// Scene builds the room that a walkthrough speaks of. It holds the receptacles and objects of the commands and nothing else:
//
//   - An object lies at first where it is taken from. A lamp is where it is used.
//   - A receptacle that can be opened is closed at first if it is opened before anything is taken out of it or put into it, and else open
//     if something is; one at which nothing of this happens is closed.
//   - A command at a receptacle that no go to named means that it shares its location with the one that was gone to. Others share none.
//   - Where the walkthrough ends with the object in hand, cleaned, heated or cooled, and the task is to place it, it lay in two receptacles
//     at once: the one that it was taken from and one of the goal, with the same location.
//
// The last rule is for 91 of the public walkthroughs. In ALFWorld's domain an object may be in a coffee machine and on the counter below
// it, and taking it from the counter leaves it in the machine as well; as soon as it is heated the goal holds.
//
// A walkthrough that cannot have happened, such as one that takes an object from where it cannot be, is an error.
func Scene(g Game) (household.Scene, error) {
	goal, err := g.goal()
	if err != nil {
		return household.Scene{}, err
	}
	commands, err := g.commands()
	if err != nil {
		return household.Scene{}, err
	}
	r := room{scene: household.Scene{Goal: goal}, used: map[string]bool{}, now: map[string]string{}}
	for i, c := range commands {
		if err := r.play(c); err != nil {
			return household.Scene{}, fmt.Errorf("game %.100q: action %d, %q: %w", g.ID, i, g.Actions[i], err)
		}
	}
	r.twoPlaces(commands)
	return r.scene, nil
}

// A room grows as the commands are followed.
type room struct {
	scene household.Scene
	at    string            // the receptacle last gone to
	used  map[string]bool   // receptacles whose door was seen to be open
	now   map[string]string // where objects are now, "" in the hand
}

// play adds what a command tells of the start.
func (r *room) play(c command) error {
	switch c.verb {
	case "go":
		r.receptacle(c.at)
		r.at = c.at
		return nil
	case "slice":
		return fmt.Errorf("slicing is no part of any task") // and where the object is is not said
	case "look", "inventory", "help", "examine":
		return nil // nothing is learned of the start
	}
	if r.at == "" {
		return fmt.Errorf("no receptacle was gone to")
	}
	if c.at != "" {
		r.share(c.at)
	}
	switch c.verb {
	case "open":
		r.used[c.at] = true
	case "close", "move":
		r.door(c.at)
		if c.verb == "move" {
			if in, known := r.now[c.object]; !known || in != "" {
				return fmt.Errorf("%s is not held", c.object)
			}
			r.now[c.object] = c.at
		}
	case "take":
		r.door(c.at)
		if in, known := r.now[c.object]; !known {
			r.object(c.object, c.at)
		} else if in != c.at {
			return fmt.Errorf("%s is not there", c.object)
		}
		r.now[c.object] = ""
	case "use":
		if _, known := r.now[c.object]; !known {
			r.object(c.object, r.at)
			r.now[c.object] = r.at
		}
	}
	return nil
}

// receptacle returns the index of a receptacle, added with a location of its own if it is new.
func (r *room) receptacle(name string) int {
	for i := range r.scene.Receptacles {
		if r.scene.Receptacles[i].Name == name {
			return i
		}
	}
	n := len(r.scene.Receptacles)
	r.scene.Receptacles = append(r.scene.Receptacles, household.Receptacle{Name: name, Location: n + 1})
	return n
}

// share gives a receptacle the location of the one last gone to, and with it all that share its own.
func (r *room) share(name string) {
	i, k := r.receptacle(name), r.receptacle(r.at)
	from, to := r.scene.Receptacles[i].Location, r.scene.Receptacles[k].Location
	for j := range r.scene.Receptacles {
		if r.scene.Receptacles[j].Location == from {
			r.scene.Receptacles[j].Location = to
		}
	}
}

// door notes that a receptacle is open: from the start if nobody opened it.
func (r *room) door(name string) {
	if canOpen(name) && !r.used[name] {
		r.used[name] = true
		r.scene.Receptacles[r.receptacle(name)].Open = true
	}
}

func (r *room) object(name, in string) {
	r.scene.Objects = append(r.scene.Objects, household.Object{Name: name, In: in})
}

// InTwoPlaces reports whether a walkthrough makes sense only if its object lies in two receptacles at once; see [Scene].
func InTwoPlaces(g Game) bool {
	scene, err := Scene(g)
	return err == nil && slices.ContainsFunc(scene.Objects, func(o household.Object) bool { return len(o.Also) > 0 })
}

// twoPlaces puts the object of a walkthrough that ends with the appliance into a receptacle of the goal as well.
func (r *room) twoPlaces(commands []command) {
	last, goal := commands[len(commands)-1], r.scene.Goal
	done := map[household.Kind]string{household.PickClean: "clean", household.PickHeat: "heat", household.PickCool: "cool"}
	if last.verb != done[goal.Kind] || typeOf(last.object) != goal.Object || r.now[last.object] != "" || goal.Object == "" {
		return
	}
	for i := range r.scene.Objects {
		o := &r.scene.Objects[i]
		if o.Name != last.object {
			continue
		}
		from := r.scene.Receptacles[r.receptacle(o.In)].Location
		for number := 1; number <= maxNumber; number++ { // the first that is not known to be elsewhere
			name := goal.Receptacle + " " + strconv.Itoa(number)
			known := slices.ContainsFunc(r.scene.Receptacles, func(k household.Receptacle) bool { return k.Name == name })
			k := &r.scene.Receptacles[r.receptacle(name)]
			if !known {
				k.Location = from
			}
			if name != o.In && k.Location == from {
				o.Also = []string{name}
				return
			}
		}
	}
}
