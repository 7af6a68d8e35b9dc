package keydoor

import (
	"fmt"

	"github.com/throughline-go/throughline/envharness"
)

// Plan returns the shortest way out. In the present room all keys of doors are still needed, and so the way goes left to the outermost of
// them that lies there, and from there only to the right: in the present room and in those to come every cell has to be crossed anyway.
// A needed key that lies in a room behind is out of reach, which proves that there is no way.
func (e *episode) Plan() ([]envharness.Action, error) {
	at, open := e.at, e.open
	lying, first := e.lying, at.cell
	for i, k := range e.keys[:e.task.m] { // spare keys are left where they are
		if lying>>i&1 == 0 {
			continue
		}
		if k.room < at.room {
			return nil, fmt.Errorf("%w: key %s was left behind in room %d", envharness.ErrNoPlan, k.name, k.room)
		}
		if k.room == at.room {
			first = min(first, k.cell)
		}
	}
	name := names()
	var plan []envharness.Action
	do := func(tool int) { plan = append(plan, envharness.Action{Name: name[tool]}) }
	for at.cell > first {
		do(left)
		at.cell--
	}
	for at.room < e.task.m {
		for i, k := range e.keys[:e.task.m] {
			if lying>>i&1 == 1 && k.place == at {
				do(pickup)
				lying &^= 1 << i
			}
		}
		if at.cell < e.task.w-1 {
			do(right)
			at.cell++
			continue
		}
		if !open {
			do(use)
		}
		do(right)
		at, open = place{room: at.room + 1}, false
	}
	return plan, nil
}
