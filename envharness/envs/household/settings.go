package household

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/throughline-go/throughline/envharness/sim"
)

// AppendState writes the state with sorted keys. Names need no escapes.
func (e *episode) AppendState(b []byte) []byte {
	at, holding := "", ""
	if e.at >= 0 {
		at = e.receptacles[e.at].name
	}
	if e.holding >= 0 {
		holding = e.objects[e.holding].name
	}
	place := e.goal.place.String()
	if e.goal.kind == LookInLight {
		place = e.goal.lamp.String()
	}
	b = join(b, `{"at":"`, at, `","goal":{"kind":"`, string(e.goal.kind), `","object":"`, e.goal.object.String(),
		`","receptacle":"`, place, `"},"holding":"`, holding, `","objects":{`)
	for o := range e.objects {
		if o > 0 {
			b = append(b, ',')
		}
		b = join(b, `"`, e.objects[o].name, `":{`)
		m := e.marks[o]
		lamp := lamps.has(e.objects[o].typ)
		if !lamp {
			b = strconv.AppendBool(append(b, `"clean":`...), m.clean)
			b = strconv.AppendBool(append(b, `,"cool":`...), m.cool)
			b = strconv.AppendBool(append(b, `,"hot":`...), m.hot)
			b = append(b, ',')
		}
		b = append(b, `"in":[`...)
		i := 0
		for r := range e.in[o].all {
			if i > 0 {
				b = append(b, ',')
			}
			b = join(b, `"`, e.receptacles[r].name, `"`)
			i++
		}
		if lamp {
			b = strconv.AppendBool(append(b, `],"on":`...), m.on)
			b = strconv.AppendBool(append(b, `,"switched":`...), m.switched)
		} else {
			b = strconv.AppendBool(append(b, `],"sliced":`...), m.sliced)
		}
		b = append(b, '}')
	}
	b = append(b, `},"open":`...)
	return append(e.appendOpen(b, e.open), '}')
}

// appendOpen writes for each receptacle that can be opened whether it is.
func (e *episode) appendOpen(b []byte, open receptacleSet) []byte {
	b = append(b, '{')
	i := 0
	for r := range e.canOpen.all {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendBool(join(b, `"`, e.receptacles[r].name, `":`), open.has(r))
		i++
	}
	return append(b, '}')
}

// Settings tells where the objects are at the start and what is open, as {"objects":{name:receptacle},"open":{name:bool}}.
func (e *episode) Settings() json.RawMessage {
	b := append(make([]byte, 0, 1024), `{"objects":{`...)
	for o := range e.objects {
		if o > 0 {
			b = append(b, ',')
		}
		b = join(b, `"`, e.objects[o].name, `":"`, e.receptacles[e.start.in[o]].name, `"`)
	}
	return append(e.appendOpen(append(b, `},"open":`...), e.start.open), '}')
}

// Set moves objects and opens or closes receptacles at the start. All that [episode.Settings] tells must be there, and nothing else. An object may
// be moved to where a move could put it, a lamp to nowhere; the goal must not be reached.
func (e *episode) Set(settings json.RawMessage) error {
	var s struct {
		Objects map[string]string `json:"objects"`
		Open    map[string]bool   `json:"open"`
	}
	if err := json.Unmarshal(settings, &s); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if len(s.Objects) != len(e.objects) || len(s.Open) != e.canOpen.len() {
		return fmt.Errorf("settings: %d objects and %d receptacles to open, want those of the room, %d and %d",
			len(s.Objects), len(s.Open), len(e.objects), e.canOpen.len())
	}
	set := start{in: make([]int, len(e.objects)), also: e.start.also}
	for o := range e.objects {
		name := e.objects[o].name
		to, ok := s.Objects[name]
		if !ok {
			return fmt.Errorf("settings: objects: %q is missing", name)
		}
		r, ok := e.receptacle(to)
		if !ok {
			return fmt.Errorf("settings: objects: %q: no receptacle %q", name, sim.Clip(to))
		}
		if r != e.start.in[o] {
			if typ := e.objects[o].typ; lamps.has(typ) {
				return fmt.Errorf("settings: objects: %q cannot be moved", name)
			} else if !canContain[e.receptacles[r].typ].has(typ) {
				return fmt.Errorf("settings: objects: %q cannot be in %q", name, to)
			}
		}
		set.in[o] = r
	}
	for r := range e.canOpen.all {
		open, ok := s.Open[e.receptacles[r].name]
		if !ok {
			return fmt.Errorf("settings: open: %q is missing", e.receptacles[r].name)
		}
		if open {
			set.open |= single(r)
		}
	}
	before := e.start
	e.start = set
	e.begin()
	if e.reached() {
		e.start = before
		e.begin()
		return fmt.Errorf("settings: %w", errReached)
	}
	return nil
}
