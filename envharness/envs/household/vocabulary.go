package household

import (
	"strconv"

	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
)

// spoken are the words of the full preset's texts besides names and the task, and of what a rewind adds; those of the small preset are in viewed.
const (
	spoken = nothingHappens + " " + helpText + ` Done so far: -> You are in the middle of a room. Looking quickly around you, you see a, and nothing. Your task is to:
arrive at. On the, you see. The is open. In it, you see. The is closed. You open close pick up from move to heat cool clean using sliced with.
You turn on off. You are carrying: a. You are not carrying anything. You are facing the. Next to it, you see nothing.
This is a hot and clean cool cold sliced. There's nothing special about.`
	viewed = `in the middle at open closed see nothing hold clean hot cool sliced places switched unused`
)

// words lists the closed vocabulary of texts, commands and task sentences with the given names.
func (o Options) words(names []string) []string {
	texts := []string{toolName, spoken}
	if o.Small {
		texts[1] = viewed
	}
	if o.LegacyPut {
		texts = append(texts, "put in/on") // in what was done before a rewind
	}
	for _, p := range phrases {
		texts = append(texts, p.first+p.second)
	}
	for _, k := range kinds {
		texts = append(texts, Goal{Kind: k}.sentence())
	}
	return rules.Vocabulary(append(texts, names...)...)
}

// vocabulary lists the words of all tasks.
func (p *preset) vocabulary(o Options) []string {
	var names []string
	most := mostOfAType
	var there objectSet
	add := func(typ receptacleType, n int) {
		names = append(names, typ.String())
		there |= canContain[typ]
		most = max(most, n)
	}
	for _, r := range p.rooms {
		for _, c := range r.always {
			n := c.n
			if c.varies {
				n += 2
			}
			add(c.typ, n)
		}
		for _, typ := range r.choice {
			add(typ, 1)
		}
		if len(r.lampOn) > 0 {
			names = append(names, r.lamp.String())
		}
	}
	for t := range (there & p.objects).all {
		names = append(names, t.String())
	}
	for i := range most {
		names = append(names, strconv.Itoa(i+1))
	}
	return o.words(names)
}

// vocabulary lists the words of a scene.
func (s Scene) vocabulary(o Options) []string {
	names := []string{s.Goal.Object, s.Goal.Receptacle}
	for _, r := range s.Receptacles {
		names = append(names, r.Name)
	}
	for _, t := range s.Objects {
		names = append(names, t.Name)
	}
	return o.words(names)
}
