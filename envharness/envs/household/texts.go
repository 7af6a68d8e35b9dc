package household

// Text tells what the last command led to, in ALFWorld's words.
func (e *episode) Text() string {
	if e.text == "" {
		switch e.last.verb {
		case noCommand:
			e.text = e.Opening()
		case refusedCommand:
			e.text = nothingHappens
		case help:
			e.text = helpText
		default:
			e.scratch = e.appendReply(e.scratch[:0])
			e.text = string(e.scratch)
		}
	}
	return e.text
}

const (
	nothingHappens = "Nothing happens."
	helpText       = `Available commands:
  look: look around
  inventory: tell what you are carrying
  go to (receptacle): go to a receptacle
  open (receptacle): open a receptacle
  close (receptacle): close a receptacle
  take (object) from (receptacle): take an object from a receptacle
  move (object) to (receptacle): place an object in or on a receptacle
  examine (something): look at a receptacle or an object
  use (object): switch a lamp
  heat (object) with (receptacle): heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle): cool an object using a receptacle
  slice (object) with (object): slice an object using a knife`
)

// Opening is the room and the task.
func (e *episode) Opening() string {
	b := e.appendRoom(make([]byte, 0, 512))
	b = append(b, "\n\nYour task is to: "...)
	return string(append(b, e.goal.sentence...))
}

func (e *episode) appendReply(b []byte) []byte {
	c := e.last
	first, second := c.things(e)
	switch c.verb {
	case inventory:
		if e.holding < 0 {
			return append(b, "You are not carrying anything."...)
		}
		b = join(b, "You are carrying: a ", e.objects[e.holding].name, ".")
	case look:
		b = e.appendLook(b)
	case goTo:
		b = e.appendReceptacle(join(b, "You arrive at ", first, ". "), c.r)
	case openIt:
		b = e.appendReceptacle(join(b, "You open the ", first, ". "), c.r)
	case closeIt:
		b = join(b, "You close the ", first, ".")
	case examine:
		if c.o < 0 {
			return e.appendReceptacle(b, c.r)
		}
		b = e.appendObject(b, c.o)
	case take:
		b = join(b, "You pick up the ", first, " from the ", second, ".")
	case move:
		b = join(b, "You move the ", first, " to the ", second, ".")
	case clean, cool, heat:
		b = join(b, "You ", phrases[c.verb].first, " the ", first, " using the ", second, ".")
	case slice:
		b = join(b, "You sliced the ", first, " with the ", second, ".")
	case use:
		turned := "You turn off the "
		if e.marks[c.o].on {
			turned = "You turn on the "
		}
		b = join(b, turned, first, ".")
	}
	return b
}

func join(b []byte, parts ...string) []byte {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// listed appends what stands before item i of n in a list.
func listed(b []byte, i, n int) []byte {
	switch {
	case i == 0:
		return b
	case i == n-1:
		return append(b, ", and "...)
	}
	return append(b, ", "...)
}

func (e *episode) appendRoom(b []byte) []byte {
	b = append(b, "You are in the middle of a room. Looking quickly around you, you see "...)
	for i, r := range e.receptacles {
		b = join(listed(b, i, len(e.receptacles)), "a ", r.name)
	}
	if len(e.receptacles) == 0 {
		b = append(b, "nothing"...)
	}
	return append(b, '.')
}

func (e *episode) appendLook(b []byte) []byte {
	if e.at < 0 {
		return e.appendRoom(b)
	}
	b = append(b, "You are facing the "...)
	i, here := 0, e.here()
	for r := range here.all {
		b = append(listed(b, i, here.len()), e.receptacles[r].name...)
		i++
	}
	return append(b, ". Next to it, you see nothing."...)
}

// appendReceptacle tells how a receptacle is and what is in or on it.
func (e *episode) appendReceptacle(b []byte, r int) []byte {
	name := e.receptacles[r].name
	if e.canOpen.has(r) && !e.open.has(r) {
		return join(b, "The ", name, " is closed.")
	}
	if e.canOpen.has(r) {
		b = join(b, "The ", name, " is open. In it, you see ")
	} else {
		b = join(b, "On the ", name, ", you see ")
	}
	n := 0
	for _, in := range e.in {
		if in.has(r) {
			n++
		}
	}
	if n == 0 {
		b = append(b, "nothing"...)
	}
	i := 0
	for o, in := range e.in {
		if in.has(r) {
			b = join(listed(b, i, n), "a ", e.objects[o].name)
			i++
		}
	}
	return append(b, '.')
}

// appendObject tells how an object is.
func (e *episode) appendObject(b []byte, o int) []byte {
	name, m := e.objects[o].name, e.marks[o]
	warmth := ""
	if m.hot {
		warmth = "hot"
	} else if m.cool {
		warmth = "cool"
	}
	switch {
	case lamps.has(e.objects[o].typ) && m.on:
		return join(b, "This ", name, " is on.")
	case lamps.has(e.objects[o].typ):
		return join(b, "This ", name, " is off.")
	case !m.clean && !m.sliced && warmth == "cool":
		return join(b, "This is a cold ", name, ".") // as in ALFWorld, only here
	case !m.clean && !m.sliced && warmth == "":
		return join(b, "There's nothing special about ", name, ".")
	}
	b = append(b, "This is a "...)
	if warmth != "" {
		b = append(b, warmth...)
	}
	if warmth != "" && m.clean {
		b = append(b, " and "...)
	}
	if m.clean {
		b = append(b, "clean"...)
	}
	if m.sliced {
		if warmth != "" || m.clean {
			b = append(b, ' ')
		}
		b = append(b, "sliced"...)
	}
	return join(b, " ", name, ".")
}
