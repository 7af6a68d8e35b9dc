package household

import (
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// An errand is one command at one receptacle. Plans are made of errands, each at its place and at an open receptacle where it needs that;
// going there and opening follow.
type errand struct {
	verb verb // noCommand for being there
	r, o int
}

func (d errand) throughDoor() bool { return d.verb == take || d.verb == move }

// A search tries every sensible list of errands and keeps the cheapest.
//
// A plan must put away what is held, if it is not what the task is about, take an object, treat it, and place it, in this order; nothing else
// brings the goal nearer, so only the choice of objects and receptacles is open. Each errand costs one turn, one more if it is at another
// place than the one before, and one more if it is the first at a receptacle that is closed. Lamps are switched last, where the plan ends
// anyway. So the cheapest list is the shortest plan.
type search struct {
	e     *episode
	path  []errand
	best  []errand
	turns int // of best
	tries int // errands put on the path so far
}

// maxTries is far beyond what rooms need, and reached in a tenth of a second.
const maxTries = 1 << 20

// Plan returns a shortest list of commands that reaches the goal, or [envharness.ErrNoPlan] if there is none: no object of the goal's type,
// no place that takes it, or nowhere to put what is held. Where a given scene has so many objects of the goal's type, each in many places,
// that the choices cannot be gone through, it is [envharness.ErrNotProven].
func (e *episode) Plan() ([]envharness.Action, error) {
	s := &search{e: e, turns: -1}
	switch e.goal.kind {
	case LookInLight:
		s.look()
	case PickTwo:
		s.two()
	default:
		s.one()
	}
	switch {
	case s.tries > maxTries:
		return nil, envharness.ErrNotProven
	case s.turns < 0:
		return nil, envharness.ErrNoPlan
	}
	return s.actions(), nil
}

// with puts an errand on the path while f runs, unless the path takes as many turns as the best one already.
func (s *search) with(d errand, f func()) {
	if s.tries++; s.tries > maxTries || s.turns >= 0 && d.verb != noCommand && len(s.path)+1 >= s.turns {
		return
	}
	s.path = append(s.path, d)
	f()
	s.path = s.path[:len(s.path)-1]
}

// end weighs the path.
func (s *search) end() {
	here, open, turns := s.e.here(), s.e.open, 0
	for _, d := range s.path {
		if !here.has(d.r) {
			here = s.e.receptacles[d.r].near
			turns++
		}
		if d.throughDoor() && s.e.canOpen.has(d.r) && !open.has(d.r) {
			open |= single(d.r)
			turns++
		}
		if d.verb != noCommand {
			turns++
		}
	}
	if s.turns < 0 || turns < s.turns {
		s.best, s.turns = append(s.best[:0], s.path...), turns
	}
}

// fetch tries all ways to have an object in hand when something, or -1, is held; f is told where the object is besides.
func (s *search) fetch(o, held int, f func(rest receptacleSet)) {
	e := s.e
	if held == o {
		f(e.in[o])
		return
	}
	pick := func() {
		for r := range e.in[o].all {
			s.with(errand{take, r, o}, func() { f(e.in[o] &^ single(r)) })
		}
	}
	if held < 0 {
		pick()
		return
	}
	for r := range e.receptacles {
		if canContain[e.receptacles[r].typ].has(e.objects[held].typ) {
			s.with(errand{move, r, held}, pick)
		}
	}
}

// each tries all objects that the goal is about.
func (s *search) each(f func(o int)) {
	for o := range s.e.objects {
		if s.e.objects[o].typ == s.e.goal.object {
			f(o)
		}
	}
}

// one plans for one object in a receptacle.
func (s *search) one() {
	e := s.e
	treatment, _ := e.goal.kind.treatment()
	place := func(o int, rest receptacleSet) {
		if rest&e.goal.places != 0 { // it is there already, besides being held
			s.end()
		}
		if canContain[e.goal.place].has(e.goal.object) {
			for r := range e.goal.places.all {
				s.with(errand{move, r, o}, s.end)
			}
		}
	}
	s.each(func(o int) {
		s.fetch(o, e.holding, func(rest receptacleSet) {
			if e.marks[o].has(treatment) {
				place(o, rest)
				return
			}
			if !treatment.treatable().has(e.goal.object) {
				return
			}
			for r := range e.ofType(treatment.appliance()).all {
				s.with(errand{treatment, r, o}, func() { place(o, rest) })
			}
		})
	})
}

// two plans for two objects in one receptacle.
func (s *search) two() {
	e := s.e
	if !canContain[e.goal.place].has(e.goal.object) {
		return
	}
	for r := range e.goal.places.all {
		there := 0
		s.each(func(o int) {
			if e.in[o].has(r) {
				there++
			}
		})
		s.each(func(first int) {
			if e.in[first].has(r) {
				return
			}
			s.fetch(first, e.holding, func(receptacleSet) {
				s.with(errand{move, r, first}, func() {
					if there > 0 {
						s.end()
						return
					}
					s.each(func(second int) {
						// Not where first was preceded by putting second away: to place second first takes fewer turns.
						if second != first {
							s.fetch(second, -1, func(receptacleSet) { s.with(errand{move, r, second}, s.end) })
						}
					})
				})
			})
		})
	}
}

// look plans for an object that is held at a lamp.
func (s *search) look() {
	e := s.e
	s.each(func(o int) {
		s.fetch(o, e.holding, func(receptacleSet) {
			for lamp := range e.objects {
				if e.objects[lamp].typ != e.goal.lamp {
					continue
				}
				d := errand{use, 0, lamp}
				if e.marks[lamp].switched {
					d.verb = noCommand
				}
				for d.r = range e.in[lamp].all {
					s.with(d, s.end)
				}
			}
		})
	})
}

// actions spells the best list out.
func (s *search) actions() []envharness.Action {
	e := s.e
	list := make([]envharness.Action, 0, s.turns)
	here, open := e.here(), e.open
	for _, d := range s.best {
		if !here.has(d.r) {
			here = e.receptacles[d.r].near
			list = append(list, e.action(command{goTo, d.r, -1}))
		}
		if d.throughDoor() && e.canOpen.has(d.r) && !open.has(d.r) {
			open |= single(d.r)
			list = append(list, e.action(command{openIt, d.r, -1}))
		}
		switch d.verb {
		case noCommand:
		case use:
			list = append(list, e.action(command{use, -1, d.o}))
		default:
			list = append(list, e.action(command(d)))
		}
	}
	return slices.Clip(list)
}
