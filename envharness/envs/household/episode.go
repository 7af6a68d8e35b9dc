package household

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

const (
	maxReceptacles = 64 // a receptacleSet has as many bits
	maxObjects     = 255
	maxNumber      = 9999 // in a name
)

// A receptacleSet is a set of receptacles of an episode, a bit for each.
type receptacleSet uint64

func (s receptacleSet) has(r int) bool { return s>>r&1 == 1 }

// all yields the receptacles in order.
func (s receptacleSet) all(yield func(r int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}

func single(r int) receptacleSet { return 1 << r }

// A receptacle is what never changes about one.
type receptacle struct {
	name string
	typ  receptacleType
	near receptacleSet // with the same location, itself among them
}

// An object is what never changes about one.
type object struct {
	name string
	typ  objectType
}

// marks are what was done to an object.
type marks struct {
	clean, hot, cool, sliced bool
	on, switched             bool // of a lamp; switched stays true
}

// A goal is a [Goal] with its names looked up.
type goal struct {
	kind     Kind
	object   objectType
	place    receptacleType // but for LookInLight
	lamp     objectType     // for LookInLight
	places   receptacleSet  // the receptacles of type place
	sentence string
}

// An episode is a room in which a task is being done. Objects and receptacles are known by their positions in objects and receptacles, which
// are in the order of the names as strings, the order of the admissible commands.
type episode struct {
	legacyPut   bool
	goal        goal
	receptacles []receptacle
	objects     []object
	things      []thing // both, in the order of names
	byName      map[string]thing
	canOpen     receptacleSet
	start       start
	commands    commands
	data        map[string]any
	refused     sim.Result // of a command that is not applicable

	// The state.
	at      int             // the receptacle last gone to, or -1
	open    receptacleSet   // of those that can be opened
	in      []receptacleSet // of each object; more than one only with Object.Also
	marks   []marks         // of each object
	holding int             // an object, or -1

	// What to show. The state decides, but for last.
	last    command // the last one carried out, or one with the verb noCommand or refusedCommand
	text    string  // of the full preset; empty if not made yet
	view    string  // the text of the small preset; empty if not made yet
	actions []envharness.Action
	scratch []byte
}

// A start is what a component may change; see settings.go.
type start struct {
	in   []int // of each object, Object.In
	also []receptacleSet
	open receptacleSet
}

// A thing is a receptacle, or an object, in which case the receptacle is -1.
type thing struct{ receptacle, object int }

// newEpisode makes an episode at its start. Anything in the scene that cannot be is an error, other than that the goal is reached already.
func newEpisode(s Scene, legacyPut bool) (*episode, error) {
	if len(s.Receptacles) > maxReceptacles || len(s.Objects) > maxObjects {
		return nil, fmt.Errorf("%d receptacles and %d objects, at most %d and %d are possible",
			len(s.Receptacles), len(s.Objects), maxReceptacles, maxObjects)
	}
	e := &episode{legacyPut: legacyPut, byName: make(map[string]thing, len(s.Receptacles)+len(s.Objects))}
	if err := e.furnish(s.Receptacles); err != nil {
		return nil, err
	}
	if err := e.stock(s.Objects); err != nil {
		return nil, err
	}
	if err := e.aim(s.Goal); err != nil {
		return nil, err
	}
	e.mergeNames()
	e.data = map[string]any{"task": e.goal.sentence}
	e.refused.Refusal = sim.Refuse(envharness.ClassPrecondition, "no such command can be carried out here and now")
	e.commands.init(e)
	e.begin()
	return e, nil
}

// furnish takes over the receptacles.
func (e *episode) furnish(given []Receptacle) error {
	given = slices.Clone(given)
	slices.SortStableFunc(given, func(a, b Receptacle) int { return strings.Compare(a.Name, b.Name) })
	e.receptacles = make([]receptacle, len(given))
	for i, g := range given {
		name, err := splitName(g.Name)
		if err != nil {
			return fmt.Errorf("receptacle %q: %w", sim.Clip(g.Name), err)
		}
		typ, ok := receptacleTypeOf(name)
		switch _, twice := e.byName[g.Name]; {
		case !ok:
			return fmt.Errorf("receptacle %q: unknown type, want one of %s", sim.Clip(g.Name), strings.Join(receptacleNames[:], ", "))
		case twice:
			return fmt.Errorf("receptacle %q: the name occurs twice", g.Name)
		case g.Open && !typ.openable():
			return fmt.Errorf("receptacle %q: a %s cannot be opened", g.Name, typ)
		}
		e.byName[g.Name] = thing{i, -1}
		e.receptacles[i] = receptacle{name: g.Name, typ: typ}
		if typ.openable() {
			e.canOpen |= single(i)
		}
		if g.Open {
			e.start.open |= single(i)
		}
		for k := range given[:i+1] {
			if k == i || g.Location != 0 && given[k].Location == g.Location {
				e.receptacles[i].near |= single(k)
				e.receptacles[k].near |= single(i)
			}
		}
	}
	return nil
}

// stock takes over the objects.
func (e *episode) stock(given []Object) error {
	given = slices.Clone(given)
	slices.SortStableFunc(given, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	n := len(given)
	e.objects, e.marks, e.in = make([]object, n), make([]marks, n), make([]receptacleSet, n)
	e.start.in, e.start.also = make([]int, n), make([]receptacleSet, n)
	for i, g := range given {
		name, err := splitName(g.Name)
		if err != nil {
			return fmt.Errorf("object %q: %w", sim.Clip(g.Name), err)
		}
		typ, ok := objectTypeOf(name)
		if !ok {
			return fmt.Errorf("object %q: unknown type, want one of %s", sim.Clip(g.Name), strings.Join(objectNames[:], ", "))
		}
		if _, twice := e.byName[g.Name]; twice {
			return fmt.Errorf("object %q: the name occurs twice", g.Name)
		}
		e.byName[g.Name] = thing{-1, i}
		e.objects[i] = object{g.Name, typ}
		if e.start.in[i], ok = e.receptacle(g.In); !ok {
			return fmt.Errorf("object %q: no receptacle %q", g.Name, sim.Clip(g.In))
		}
		for _, name := range g.Also {
			r, ok := e.receptacle(name)
			if !ok {
				return fmt.Errorf("object %q: no receptacle %q", g.Name, sim.Clip(name))
			}
			e.start.also[i] |= single(r)
		}
	}
	return nil
}

// aim takes over the goal.
func (e *episode) aim(g Goal) error {
	object, known := objectTypeOf(g.Object)
	if !known || lamps.has(object) {
		return fmt.Errorf("goal: object %q is no type of objects to take", sim.Clip(g.Object))
	}
	if !slices.Contains(kinds[:], g.Kind) {
		return fmt.Errorf("goal: unknown kind %q", sim.Clip(string(g.Kind)))
	}
	e.goal = goal{kind: g.Kind, object: object, sentence: g.sentence()}
	if g.Kind == LookInLight {
		if e.goal.lamp, known = objectTypeOf(g.Receptacle); !known || !lamps.has(e.goal.lamp) {
			return fmt.Errorf("goal: %q is no type of lamps", sim.Clip(g.Receptacle))
		}
		return nil
	}
	if e.goal.place, known = receptacleTypeOf(g.Receptacle); !known {
		return fmt.Errorf("goal: %q is no type of receptacles", sim.Clip(g.Receptacle))
	}
	e.goal.places = e.ofType(e.goal.place)
	return nil
}

// splitName returns the type in a name.
func splitName(name string) (string, error) {
	typ, number, ok := strings.Cut(name, " ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || n > maxNumber || strconv.Itoa(n) != number {
		return "", fmt.Errorf("want a type, a space and a number from 1 to %d", maxNumber)
	}
	return typ, nil
}

// mergeNames lists receptacles and objects in one order of names.
func (e *episode) mergeNames() {
	e.things = make([]thing, 0, len(e.receptacles)+len(e.objects))
	o := 0
	for r := range e.receptacles {
		for ; o < len(e.objects) && e.objects[o].name < e.receptacles[r].name; o++ {
			e.things = append(e.things, thing{-1, o})
		}
		e.things = append(e.things, thing{r, -1})
	}
	for ; o < len(e.objects); o++ {
		e.things = append(e.things, thing{-1, o})
	}
}

// begin goes to the start.
func (e *episode) begin() {
	e.at, e.holding, e.open = -1, -1, e.start.open
	for o := range e.objects {
		e.in[o], e.marks[o] = single(e.start.in[o])|e.start.also[o], marks{}
	}
	e.last, e.text, e.view, e.actions = command{verb: noCommand}, "", "", nil
}

func (e *episode) receptacle(name string) (int, bool) {
	t, ok := e.byName[name]
	return t.receptacle, ok && t.receptacle >= 0
}

// ofType returns the receptacles of a type.
func (e *episode) ofType(typ receptacleType) receptacleSet {
	var s receptacleSet
	for r := range e.receptacles {
		if e.receptacles[r].typ == typ {
			s |= single(r)
		}
	}
	return s
}

// here returns the receptacles at the place where one is; in the middle of the room there are none.
func (e *episode) here() receptacleSet {
	if e.at < 0 {
		return 0
	}
	return e.receptacles[e.at].near
}

// accessible returns those of the receptacles that are open or cannot be opened.
func (e *episode) accessible(s receptacleSet) receptacleSet { return s & (e.open | ^e.canOpen) }

// Step carries out a command. Any other action is refused and leaves all but the text as it was.
func (e *episode) Step(a envharness.Action) sim.Result {
	if a.Name != toolName {
		return e.refuse(rules.UnknownTool(a.Name))
	}
	c, refusal := e.read(a.Args)
	if refusal != nil {
		return e.refuse(refusal)
	}
	if !e.applicable(c) {
		e.last, e.text = command{verb: refusedCommand}, ""
		return e.refused
	}
	e.last, e.text = c, ""
	if !c.verb.changes() {
		return sim.Result{}
	}
	e.view, e.actions = "", nil
	e.perform(c)
	if e.reached() {
		return sim.Result{Reward: 1, Ended: true}
	}
	return sim.Result{}
}

func (e *episode) refuse(refusal *envharness.ActionError) sim.Result {
	e.last, e.text = command{verb: refusedCommand}, ""
	return sim.Result{Refusal: refusal}
}

// applicable reports whether a command would be carried out.
func (e *episode) applicable(c command) bool {
	switch c.verb {
	case look, inventory, help:
		return true
	case goTo:
		return !e.here().has(c.r)
	case openIt:
		return e.canOpen.has(c.r) && e.here().has(c.r) && !e.open.has(c.r)
	case closeIt:
		return e.here().has(c.r) && e.open.has(c.r)
	case examine:
		if c.o < 0 {
			return e.here().has(c.r)
		}
		return c.o == e.holding || e.in[c.o]&e.accessible(e.here()) != 0
	case take:
		return e.holding < 0 && !lamps.has(e.objects[c.o].typ) && e.in[c.o].has(c.r) && e.accessible(e.here()).has(c.r)
	case move:
		return c.o == e.holding && e.accessible(e.here()).has(c.r) && canContain[e.receptacles[c.r].typ].has(e.objects[c.o].typ)
	case clean, cool, heat:
		return c.o == e.holding && e.here().has(c.r) && e.receptacles[c.r].typ == c.verb.appliance() &&
			c.verb.treatable().has(e.objects[c.o].typ)
	case slice: // as in ALFWorld's domain, also in what is closed, and again
		return c.r == e.holding && knives.has(e.objects[c.r].typ) && sliceable.has(e.objects[c.o].typ) && e.in[c.o]&e.here() != 0
	case use: // also in what is closed
		return lamps.has(e.objects[c.o].typ) && e.in[c.o]&e.here() != 0
	}
	return false
}

// perform carries out a command that is applicable.
func (e *episode) perform(c command) {
	switch c.verb {
	case goTo:
		e.at = c.r
	case openIt:
		e.open |= single(c.r)
	case closeIt:
		e.open &^= single(c.r)
	case take:
		e.in[c.o] &^= single(c.r)
		e.holding = c.o
	case move:
		e.in[c.o] |= single(c.r)
		e.holding = -1
	case clean:
		e.marks[c.o].clean = true
	case heat:
		e.marks[c.o].hot, e.marks[c.o].cool = true, false
	case cool:
		e.marks[c.o].cool, e.marks[c.o].hot = true, false
	case slice:
		e.marks[c.o].sliced = true
	case use:
		e.marks[c.o].on, e.marks[c.o].switched = !e.marks[c.o].on, true
	}
}

// Data holds the task sentence.
func (e *episode) Data() map[string]any { return e.data }

var errReached = errors.New("the goal is reached at the start")
