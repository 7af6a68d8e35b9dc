package household

import (
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

// A compact is an episode whose text tells how things stand, in few words, so that it is enough to act on: the task, where one is, what is
// there to see, what one holds and how it was treated, and where one can go.
type compact struct{ e *episode }

var _ interface {
	sim.Episode
	sim.Planner
	sim.Settable
} = (*compact)(nil)

func (c *compact) Step(a envharness.Action) sim.Result      { return c.e.Step(a) }
func (c *compact) Data() map[string]any                     { return c.e.Data() }
func (c *compact) Actions() []envharness.Action             { return c.e.Actions() }
func (c *compact) AppendState(b []byte) []byte              { return c.e.AppendState(b) }
func (c *compact) Verdict() envharness.Verdict              { return c.e.Verdict() }
func (c *compact) Plan() ([]envharness.Action, error)       { return c.e.Plan() }
func (c *compact) Settings() json.RawMessage                { return c.e.Settings() }
func (c *compact) Set(settings json.RawMessage) (err error) { return c.e.Set(settings) }

// Text tells how things stand. It is a function of the state.
func (c *compact) Text() string {
	if c.e.view == "" {
		c.e.scratch = c.e.appendView(c.e.scratch[:0])
		c.e.view = string(c.e.scratch)
	}
	return c.e.view
}

// appendView writes a line for each matter; the words are counted, see the package documentation.
func (e *episode) appendView(b []byte) []byte {
	b = append(b, e.goal.sentence...)
	if e.at < 0 {
		b = append(b, "\nin the middle"...)
	} else {
		b = append(b, "\nat"...)
		for r := range e.here().all {
			b = join(b, " ", e.receptacles[r].name)
			if e.open.has(r) {
				b = append(b, " open"...)
			} else if e.canOpen.has(r) {
				b = append(b, " closed"...)
			}
		}
		b = append(b, "\nsee"...)
		before := len(b)
		for o, in := range e.in {
			if in&e.accessible(e.here()) != 0 {
				b = e.appendLamp(join(b, " ", e.objects[o].name), o)
			}
		}
		if len(b) == before {
			b = append(b, " nothing"...)
		}
	}
	b = append(b, "\nhold"...)
	if e.holding < 0 {
		b = append(b, " nothing"...)
	} else {
		b = join(e.appendMarks(b, e.marks[e.holding]), " ", e.objects[e.holding].name)
	}
	b = append(b, "\nplaces"...)
	for _, r := range e.receptacles {
		b = join(b, " ", r.name)
	}
	return b
}

func (e *episode) appendLamp(b []byte, o int) []byte {
	if lamps.has(e.objects[o].typ) {
		if e.marks[o].switched {
			return append(b, " switched"...)
		}
		return append(b, " unused"...)
	}
	return b
}

func (e *episode) appendMarks(b []byte, m marks) []byte {
	for _, mark := range [...]struct {
		set  bool
		word string
	}{{m.clean, " clean"}, {m.hot, " hot"}, {m.cool, " cool"}, {m.sliced, " sliced"}} {
		if mark.set {
			b = append(b, mark.word...)
		}
	}
	return b
}
