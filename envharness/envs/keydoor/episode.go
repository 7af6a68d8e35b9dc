package keydoor

import (
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// An episode is one that is being played. Keys are the bits of lying and held; a spent one is in neither.
type episode struct {
	world *world
	task  task
	keys  []key
	data  map[string]any

	at          place // in room task.m one is out
	open        bool  // the door of the present room
	lying, held uint32
	text        string // empty until somebody asks
}

func (w *world) start(id string) (sim.Episode, error) {
	t, err := w.parse(id)
	if err != nil {
		return nil, err
	}
	e := &episode{world: w, task: t, keys: w.keys(t), data: map[string]any{"task": goal}}
	e.lying = 1<<len(e.keys) - 1
	return e, nil
}

// Limit is the turn on which the episode is truncated.
func (e *episode) Limit() int {
	if e.world.small {
		return smallTurns
	}
	return 3 * e.task.shortest()
}

// here returns the first key that lies on the present cell, or -1.
func (e *episode) here() int {
	for i := range e.keys {
		if e.lying>>i&1 == 1 && e.keys[i].place == e.at {
			return i
		}
	}
	return -1
}

// atDoor reports whether this is the last cell of the room.
func (e *episode) atDoor() bool { return e.at.cell == e.task.w-1 }

// admissible returns the bits of the tools that would be carried out.
func (e *episode) admissible() int {
	set := 1 << noop
	if e.at.cell > 0 {
		set |= 1 << left
	}
	if !e.atDoor() || e.open {
		set |= 1 << right
	}
	if e.here() >= 0 {
		set |= 1 << pickup
	}
	if e.atDoor() && !e.open && e.held>>e.at.room&1 == 1 {
		set |= 1 << use
	}
	return set
}

// Actions lists what would be carried out.
func (e *episode) Actions() []envharness.Action { return e.world.actions[e.admissible()] }

// Text tells how things stand.
func (e *episode) Text() string {
	if e.text == "" {
		e.text = e.tell()
	}
	return e.text
}

// Data is the task in words.
func (e *episode) Data() map[string]any { return e.data }

// Step carries out one action.
func (e *episode) Step(a envharness.Action) sim.Result {
	tool := -1
	for i, name := range names() {
		if a.Name == name {
			tool = i
		}
	}
	if tool < 0 {
		return refuse(rules.UnknownTool(a.Name))
	}
	if len(a.Args) > 0 && string(a.Args) != "{}" {
		if _, refusal := sim.Args(a.Args); refusal != nil {
			return refuse(refusal)
		}
	}
	if e.admissible()>>tool&1 == 0 {
		return refuse(sim.Refuse(envharness.ClassPrecondition, "%s", e.because(tool)))
	}
	if tool != noop {
		e.act(tool)
		e.text = ""
	}
	if e.at.room == e.task.m {
		return sim.Result{Reward: 1, Ended: true}
	}
	return sim.Result{}
}

func refuse(r *envharness.ActionError) sim.Result { return sim.Result{Refusal: r} }

// because says why a tool is not admissible.
func (e *episode) because(tool int) string {
	switch {
	case tool == left:
		return "there is nothing to the left of the first cell"
	case tool == pickup:
		return "no key lies here"
	case tool == right:
		return "the door is closed"
	case !e.atDoor():
		return "the door is in the last cell"
	case e.open:
		return "the door is open"
	}
	return "the key of this door is not held"
}

// act carries out an admissible action.
func (e *episode) act(tool int) {
	switch tool {
	case left:
		e.at.cell--
	case right:
		if !e.atDoor() {
			e.at.cell++
			return
		}
		e.at, e.open = place{room: e.at.room + 1}, false
	case pickup:
		bit := uint32(1) << e.here()
		e.lying, e.held = e.lying&^bit, e.held|bit
	case use:
		e.held, e.open = e.held&^(1<<e.at.room), true
	}
}

// tell makes the text of the present state.
func (e *episode) tell() string {
	if e.at.room == e.task.m {
		return out
	}
	var buf [192]byte
	b := buf[:0]
	if e.world.small {
		b = append(b, "Goal: leave room "...)
		b = strconv.AppendInt(b, int64(e.task.m-1), 10)
		b = append(b, ". Doors "...)
		for i, k := range e.keys[:e.task.m] {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(b, k.name...)
		}
		b = append(b, ". "...)
	}
	b = append(b, "Room "...)
	b = strconv.AppendInt(b, int64(e.at.room), 10)
	b = append(b, ", cell "...)
	b = strconv.AppendInt(b, int64(e.at.cell), 10)
	b = append(b, ". Door "...)
	if e.world.small {
		b = append(b, e.keys[e.at.room].name...)
		b = append(b, ' ')
	}
	if e.open {
		b = append(b, "open. Keys held: "...)
	} else {
		b = append(b, "closed. Keys held: "...)
	}
	b = e.appendNames(b, e.held, false)
	b = append(b, ". Keys here: "...)
	b = e.appendNames(b, e.lying, true)
	return string(append(b, '.'))
}

// appendNames appends the names of the keys in the set, or of those of them that lie on the present cell.
func (e *episode) appendNames(b []byte, set uint32, here bool) []byte {
	none := true
	for i := range e.keys {
		if set>>i&1 == 0 || here && e.keys[i].place != e.at {
			continue
		}
		if !none {
			b = append(b, ", "...)
		}
		none = false
		b = append(b, e.keys[i].name...)
	}
	if none {
		b = append(b, "none"...)
	}
	return b
}

// AppendState appends the whole state.
func (e *episode) AppendState(b []byte) []byte {
	b = append(b, `{"cell":`...)
	b = strconv.AppendInt(b, int64(e.at.cell), 10)
	b = append(b, `,"cells":`...)
	b = strconv.AppendInt(b, int64(e.task.w), 10)
	b = append(b, `,"door_open":`...)
	b = strconv.AppendBool(b, e.open)
	b = append(b, `,"keys":[`...)
	for i, k := range e.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":"`...)
		b = append(b, k.name...) // digits or letters
		switch {
		case e.held>>i&1 == 1:
			b = append(b, `","state":"held"}`...)
		case e.lying>>i&1 == 0:
			b = append(b, `","state":"spent"}`...)
		default:
			b = append(b, `","room":`...)
			b = strconv.AppendInt(b, int64(k.room), 10)
			b = append(b, `,"cell":`...)
			b = strconv.AppendInt(b, int64(k.cell), 10)
			b = append(b, `,"state":"lying"}`...)
		}
	}
	b = append(b, `],"room":`...)
	b = strconv.AppendInt(b, int64(e.at.room), 10)
	b = append(b, `,"rooms":`...)
	b = strconv.AppendInt(b, int64(e.task.m), 10)
	return append(b, '}')
}

// Verdict passes if the last room has been left. A failure scores the share of the rooms that have been.
func (e *episode) Verdict() envharness.Verdict {
	if e.at.room == e.task.m {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}
	}
	return envharness.Verdict{
		Status: envharness.Fail,
		Score:  float64(e.at.room) / float64(e.task.m),
		Reason: strconv.Itoa(e.at.room) + " of " + strconv.Itoa(e.task.m) + " rooms were left",
	}
}
