package keydoor

import (
	"fmt"
	"maps"
	"slices"
)

// A slowWorld is the rules once more, spelt out: values in maps, one rule a line, nothing shared with the world but the drawn layout.
type slowWorld struct {
	rooms, cells int
	room, cell   int
	lies         map[int][2]int // key to room and cell
	held         map[int]bool
	opened       map[int]bool
}

func newSlow(t task, keys []key) slowWorld {
	s := slowWorld{rooms: t.m, cells: t.w, lies: map[int][2]int{}, held: map[int]bool{}, opened: map[int]bool{}}
	for i, k := range keys {
		s.lies[i] = [2]int{k.room, k.cell}
	}
	return s
}

func (s slowWorld) id() string {
	return fmt.Sprint(s.room, s.cell, s.lies, s.held, s.opened) // fmt sorts maps
}

// do returns the world after an action, and whether that is another world. In the last room there is no next one, so that leaving it is
// to be in a room of that number.
func (s slowWorld) do(action string) (slowWorld, bool) {
	n := slowWorld{s.rooms, s.cells, s.room, s.cell, map[int][2]int{}, map[int]bool{}, map[int]bool{}}
	maps.Copy(n.lies, s.lies)
	for k := range s.held {
		n.held[k] = true
	}
	for k := range s.opened {
		n.opened[k] = true
	}
	switch action {
	case "left":
		if s.cell > 0 {
			n.cell = s.cell - 1
		}
	case "right":
		if s.cell < s.cells-1 {
			n.cell = s.cell + 1
		}
		if s.cell == s.cells-1 && s.opened[s.room] {
			n.room, n.cell = s.room+1, 0
		}
	case "pickup":
		var here []int
		for k, p := range s.lies {
			if p == [2]int{s.room, s.cell} {
				here = append(here, k)
			}
		}
		if len(here) > 0 {
			delete(n.lies, slices.Min(here))
			n.held[slices.Min(here)] = true
		}
	case "use":
		if s.cell == s.cells-1 && s.held[s.room] && !s.opened[s.room] {
			delete(n.held, s.room)
			n.opened[s.room] = true
		}
	}
	return n, n.id() != s.id()
}

var allActions = []string{"left", "right", "pickup", "use", "noop"}

// admissible lists what changes something, and noop.
func (s slowWorld) admissible() []string {
	return slices.DeleteFunc(slices.Clone(allActions), func(a string) bool {
		_, changed := s.do(a)
		return !changed && a != "noop"
	})
}

// distance is the length of the shortest way out, by breadth, or -1.
func (s slowWorld) distance() int {
	seen := map[string]bool{s.id(): true}
	front := []slowWorld{s}
	for d := 0; len(front) > 0; d++ {
		var next []slowWorld
		for _, at := range front {
			if at.room == at.rooms {
				return d
			}
			for _, a := range allActions {
				if n, changed := at.do(a); changed && !seen[n.id()] {
					seen[n.id()] = true
					next = append(next, n)
				}
			}
		}
		front = next
	}
	return -1
}

// chance is the probability that drawn admissible actions lead out within the turns.
func (s slowWorld) chance(turns int, known map[string]float64) float64 {
	if s.room == s.rooms {
		return 1
	}
	if turns == 0 {
		return 0
	}
	id := fmt.Sprint(turns, " ", s.id())
	if p, ok := known[id]; ok {
		return p
	}
	sum := 0.
	list := s.admissible()
	for _, a := range list {
		n, _ := s.do(a)
		sum += n.chance(turns-1, known)
	}
	known[id] = sum / float64(len(list))
	return known[id]
}
