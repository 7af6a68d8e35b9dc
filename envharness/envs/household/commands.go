package household

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

// A verb is a kind of command. The constants are in the order in which the commands sort as strings.
type verb uint8

const (
	clean verb = iota
	closeIt
	cool
	examine
	goTo
	heat
	help
	inventory
	look
	move
	openIt
	slice
	take
	use
	verbs

	noCommand      // yet
	refusedCommand // was the last one
)

// changes reports whether the command may change which commands are applicable, or the state.
func (v verb) changes() bool {
	switch v {
	case examine, help, inventory, look:
		return false
	}
	return true
}

// appliance returns the type of receptacles that treat objects so.
func (v verb) appliance() receptacleType {
	switch v {
	case clean:
		return sinkbasin
	case heat:
		return microwave
	}
	return fridge
}

// treatable returns the types of objects that can be treated so.
func (v verb) treatable() objectSet {
	switch v {
	case clean:
		return cleanable
	case heat:
		return heatable
	}
	return coolable
}

// phrases are the words of the commands, around the first thing and before the second.
var phrases = [verbs]struct{ first, second string }{
	clean: {"clean", " with "}, closeIt: {"close", ""}, cool: {"cool", " with "}, examine: {"examine", ""}, goTo: {"go to", ""},
	heat: {"heat", " with "}, help: {"help", ""}, inventory: {"inventory", ""}, look: {"look", ""}, move: {"move", " to "},
	openIt: {"open", ""}, slice: {"slice", " with "}, take: {"take", " from "}, use: {"use", ""},
}

// A command names its things by their positions, -1 for none. The knife of slice stands in r.
type command struct {
	verb verb
	r, o int
}

// commands makes the actions of an episode's commands, each once, those of goTo at once and others when they are first needed.
type commands struct {
	made  [verbs][][]envharness.Action // by one thing, then by the other
	bytes []byte                       // room for arguments
}

func (c *commands) init(e *episode) {
	for v := range verbs {
		rows := 1
		switch v {
		case clean, cool, heat, move, take:
			rows = len(e.receptacles)
		case slice:
			rows = len(e.objects)
		}
		c.made[v] = make([][]envharness.Action, rows)
	}
	for r := range e.receptacles { // always needed
		e.action(command{goTo, r, -1})
	}
}

// action returns the action of a command.
func (e *episode) action(c command) envharness.Action {
	row, column, columns := 0, 0, 1
	switch c.verb {
	case goTo, openIt, closeIt:
		column, columns = c.r, len(e.receptacles)
	case examine:
		columns = len(e.receptacles) + len(e.objects)
		if column = c.r; c.r < 0 {
			column = len(e.receptacles) + c.o
		}
	case use:
		column, columns = c.o, len(e.objects)
	case clean, cool, heat, move, take, slice:
		row, column, columns = c.r, c.o, len(e.objects)
	}
	rows := e.commands.made[c.verb]
	if rows[row] == nil {
		rows[row] = make([]envharness.Action, columns)
	}
	a := &rows[row][column]
	if a.Args == nil {
		*a = envharness.Action{Name: toolName, Args: e.commands.arguments(e, c)}
	}
	return *a
}

// arguments writes the arguments of a command, which need no escapes.
func (c *commands) arguments(e *episode, cmd command) json.RawMessage {
	const most = 128 // types, numbers and words are shorter
	if cap(c.bytes)-len(c.bytes) < most {
		c.bytes = make([]byte, 0, 4096)
	}
	from := len(c.bytes)
	b := append(c.bytes, plainBefore...)
	b = e.appendCommand(b, cmd)
	c.bytes = append(b, plainAfter...)
	return json.RawMessage(slices.Clip(c.bytes[from:]))
}

func (e *episode) appendCommand(b []byte, c command) []byte {
	b = append(b, phrases[c.verb].first...)
	first, second := c.things(e)
	if first != "" {
		b = append(append(b, ' '), first...)
	}
	return append(append(b, phrases[c.verb].second...), second...)
}

// things returns the names in the order in which the command says them.
func (c command) things(e *episode) (first, second string) {
	if c.o >= 0 {
		first = e.objects[c.o].name
	}
	switch {
	case c.r < 0:
	case c.verb == slice:
		second = e.objects[c.r].name
	case c.o < 0:
		first = e.receptacles[c.r].name
	default:
		second = e.receptacles[c.r].name
	}
	return first, second
}

const plainBefore, plainAfter = `{"text":"`, `"}`

// read returns the command in the arguments of an action. A text that is none has the verb refusedCommand, which is never applicable.
func (e *episode) read(raw json.RawMessage) (command, *envharness.ActionError) {
	text, ok := plainText(raw)
	if !ok {
		s, refusal := sim.StringArg(raw, "text")
		if refusal != nil {
			return command{}, refusal
		}
		text = []byte(s)
	}
	c, ok := e.parse(text)
	if !ok {
		c = command{verb: refusedCommand}
	}
	return c, nil
}

// plainText returns the text in arguments that are written as the listed actions are.
func plainText(raw []byte) ([]byte, bool) {
	const least = len(plainBefore) + len(plainAfter)
	if len(raw) < least || len(raw) > 128 || string(raw[:len(plainBefore)]) != plainBefore ||
		string(raw[len(raw)-len(plainAfter):]) != plainAfter {
		return nil, false
	}
	text := raw[len(plainBefore) : len(raw)-len(plainAfter)]
	for _, c := range text {
		if c != ' ' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return nil, false
		}
	}
	return text, true
}

// parse reads a command, to the byte.
func (e *episode) parse(text []byte) (command, bool) {
	word, rest, more := bytes.Cut(text, []byte(" "))
	c := command{r: -1, o: -1}
	between := ""
	switch string(word) {
	case "look":
		c.verb = look
	case "inventory":
		c.verb = inventory
	case "help":
		c.verb = help
	case "go":
		c.verb = goTo
		rest, more = bytes.CutPrefix(rest, []byte("to "))
	case "open":
		c.verb = openIt
	case "close":
		c.verb = closeIt
	case "examine":
		c.verb = examine
	case "use":
		c.verb = use
	case "take":
		c.verb, between = take, " from "
	case "move":
		c.verb, between = move, " to "
	case "clean":
		c.verb, between = clean, " with "
	case "heat":
		c.verb, between = heat, " with "
	case "cool":
		c.verb, between = cool, " with "
	case "slice":
		c.verb, between = slice, " with "
	case "put":
		c.verb, between = move, " in/on "
		if !e.legacyPut {
			return c, false
		}
	default:
		return c, false
	}
	if c.verb == look || c.verb == inventory || c.verb == help {
		return c, !more
	}
	if !more {
		return c, false
	}
	if between == "" {
		t, ok := e.byName[string(rest)]
		c.r, c.o = t.receptacle, t.object
		return c, ok && (c.verb == examine || (c.verb == use) == (t.object >= 0))
	}
	first, second, ok := bytes.Cut(rest, []byte(between))
	if !ok {
		return c, false
	}
	a, known := e.byName[string(first)]
	b, also := e.byName[string(second)]
	if !known || !also || a.object < 0 || (b.object >= 0) != (c.verb == slice) {
		return c, false
	}
	if c.o, c.r = a.object, b.receptacle; c.verb == slice {
		c.r = b.object
	}
	return c, true
}

// Actions lists the commands that are applicable, in the order of their texts as strings.
func (e *episode) Actions() []envharness.Action {
	if e.actions != nil {
		return e.actions
	}
	here := e.here()
	accessible := e.accessible(here)
	held, heldType := e.holding, objectType(0)
	if held >= 0 {
		heldType = e.objects[held].typ
	}
	list := make([]envharness.Action, 0, e.most(here))
	treat := func(v verb) {
		if held >= 0 && v.treatable().has(heldType) {
			for r := range here.all {
				if e.receptacles[r].typ == v.appliance() {
					list = append(list, e.action(command{v, r, held}))
				}
			}
		}
	}
	treat(clean)
	for r := range (here & e.open).all {
		list = append(list, e.action(command{closeIt, r, -1}))
	}
	treat(cool)
	for _, t := range e.things {
		if t.object < 0 && here.has(t.receptacle) || t.object >= 0 && (t.object == held || e.in[t.object]&accessible != 0) {
			list = append(list, e.action(command{examine, t.receptacle, t.object}))
		}
	}
	gotos, from := e.commands.made[goTo][0], 0 // nil in a room without receptacles
	for r := range here.all {
		list = append(list, gotos[from:r]...)
		from = r + 1
	}
	list = append(list, gotos[from:]...)
	treat(heat)
	for _, v := range [...]verb{help, inventory, look} {
		list = append(list, e.action(command{v, -1, -1}))
	}
	if held >= 0 {
		for r := range accessible.all {
			if canContain[e.receptacles[r].typ].has(heldType) {
				list = append(list, e.action(command{move, r, held}))
			}
		}
	}
	for r := range (here & e.canOpen &^ e.open).all {
		list = append(list, e.action(command{openIt, r, -1}))
	}
	if held >= 0 && knives.has(heldType) {
		for o := range e.objects {
			if sliceable.has(e.objects[o].typ) && e.in[o]&here != 0 {
				list = append(list, e.action(command{slice, held, o}))
			}
		}
	}
	if held < 0 {
		for o := range e.objects {
			if in := e.in[o] & accessible; in != 0 && !lamps.has(e.objects[o].typ) {
				for r := range in.all {
					list = append(list, e.action(command{take, r, o}))
				}
			}
		}
	}
	for o := range e.objects {
		if lamps.has(e.objects[o].typ) && e.in[o]&here != 0 {
			list = append(list, e.action(command{use, -1, o}))
		}
	}
	e.actions = list
	return list
}

// most returns at least the number of applicable commands, but for objects in several receptacles.
func (e *episode) most(here receptacleSet) int {
	n := len(e.receptacles) + 3 + 2*here.len() // help, inventory, look; go to those elsewhere, examine, clean, cool, heat, open or close those here
	if e.holding >= 0 {
		n += 1 + here.len()
	}
	for _, in := range e.in {
		if in&here != 0 {
			n += 2 // examine; take, use or slice
		}
	}
	return n
}
