package household_test

import (
	"regexp"
	"slices"
	"strings"
)

// A telling is what a text says. The same grammar reads ALFWorld's texts and ours.
type telling struct {
	form  string   // which sentence, with the names left out
	names []string // named in it, in order
	items []string // listed in it; nil where nothing can be listed
}

var (
	oneName = regexp.MustCompile(`\b[a-z]+ [0-9]+\b`)
	// a list stands after "you see" and "facing the": "a mug 1, a pen 2, and a cup 1" or "nothing"
	seen = regexp.MustCompile(`(you see|facing the) (nothing|(?:a )?[a-z]+ [0-9]+(?:,(?: and)? (?:a )?[a-z]+ [0-9]+)*)([,.]|$)`)
)

func read(text string) telling {
	var out telling
	text = seen.ReplaceAllStringFunc(text, func(part string) string {
		m := seen.FindStringSubmatch(part)
		if m[1] == "you see" {
			out.items = append([]string{}, oneName.FindAllString(m[2], -1)...)
			slices.Sort(out.items)
			return m[1] + " LIST" + m[3]
		}
		out.names = append(out.names, oneName.FindAllString(m[2], -1)...)
		slices.Sort(out.names)
		return m[1] + " LIST" + m[3]
	})
	out.names = append(out.names, oneName.FindAllString(text, -1)...)
	out.form = oneName.ReplaceAllString(text, "N")
	return out
}

// tells is what the text after an applicable command has to say, after the rules and ALFWorld's grammar, alfred.twl2; v is the state that it led to.
func (v view) tells(c spoken) telling {
	switch c.verb {
	case "go to":
		there := v.receptacle(c.x)
		return telling{"You arrive at N. " + there.form, append([]string{c.x}, there.names...), there.items}
	case "open":
		there := v.receptacle(c.x)
		return telling{"You open the N. " + there.form, append([]string{c.x}, there.names...), there.items}
	case "close":
		return telling{form: "You close the N.", names: []string{c.x}}
	case "take":
		return telling{form: "You pick up the N from the N.", names: []string{c.x, c.y}}
	case "move":
		return telling{form: "You move the N to the N.", names: []string{c.x, c.y}}
	case "clean", "heat", "cool":
		return telling{form: "You " + c.verb + " the N using the N.", names: []string{c.x, c.y}}
	case "slice":
		return telling{form: "You sliced the N with the N.", names: []string{c.x, c.y}}
	case "use": // ALFWorld's grammar asks whether the lamp was ever switched, so that there it is never off again
		if v.things[c.x].on {
			return telling{form: "You turn on the N.", names: []string{c.x}}
		}
		return telling{form: "You turn off the N.", names: []string{c.x}}
	case "inventory":
		if v.holding == "" {
			return telling{form: "You are not carrying anything."}
		}
		return telling{form: "You are carrying: a N.", names: []string{v.holding}}
	case "look":
		var all, here []string
		for _, r := range v.scene.Receptacles {
			all = append(all, r.Name)
			if v.isHere(r.Name) {
				here = append(here, r.Name)
			}
		}
		slices.Sort(all)
		slices.Sort(here)
		if v.at == "" {
			return telling{form: "You are in the middle of a room. Looking quickly around you, you see LIST.", items: all}
		}
		return telling{"You are facing the LIST. Next to it, you see LIST.", here, []string{}} // nothing lies on the floor
	case "examine":
		if v.isReceptacle(c.x) {
			return v.receptacle(c.x)
		}
		return telling{form: v.things[c.x].looks(is(lamps, c.x)), names: []string{c.x}}
	}
	return telling{} // of help
}

// receptacle tells how a receptacle is and what is in it.
func (v view) receptacle(name string) telling {
	items := []string{}
	for object, o := range v.things {
		if slices.Contains(o.in, name) {
			items = append(items, object)
		}
	}
	slices.Sort(items)
	switch {
	case !is(opening, name):
		return telling{"On the N, you see LIST.", []string{name}, items}
	case v.open[name]:
		return telling{"The N is open. In it, you see LIST.", []string{name}, items}
	}
	return telling{form: "The N is closed.", names: []string{name}}
}

// looks tells how an object is, the first line that holds.
func (o thing) looks(lamp bool) string {
	for _, line := range []struct {
		holds bool
		form  string
	}{
		{o.clean && o.hot && o.sliced, "This is a hot and clean sliced N."},
		{o.clean && o.cool && o.sliced, "This is a cool and clean sliced N."},
		{o.clean && o.sliced, "This is a clean sliced N."},
		{o.hot && o.sliced, "This is a hot sliced N."},
		{o.cool && o.sliced, "This is a cool sliced N."},
		{o.clean && o.hot, "This is a hot and clean N."},
		{o.clean && o.cool, "This is a cool and clean N."},
		{o.hot, "This is a hot N."},
		{o.clean, "This is a clean N."},
		{o.cool, "This is a cold N."},
		{lamp && o.on, "This N is on."}, // again, ALFWorld asks whether it was ever switched
		{lamp, "This N is off."},
		{o.sliced, "This is a sliced N."},
	} {
		if line.holds {
			return line.form
		}
	}
	return "There's nothing special about N."
}

func (a telling) equal(b telling) bool {
	return a.form == b.form && slices.Equal(a.names, b.names) && (a.items == nil) == (b.items == nil) && slices.Equal(a.items, b.items)
}

// aboutHelp reports whether a text names every verb.
func aboutHelp(text string) bool {
	for _, v := range verbs {
		if !strings.Contains(text, "\n  "+v.verb+" (") {
			return false
		}
	}
	return strings.HasPrefix(text, "Available commands:\n") && strings.Contains(text, "\n  look:") && strings.Contains(text, "\n  inventory:")
}
