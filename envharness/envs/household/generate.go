package household

import (
	"bytes"
	"errors"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

const (
	mostOfAType = 3    // objects
	redraws     = 2000 // of a task's objects, of which one in 20 is enough
)

func (s objectSet) len() int { return bits.OnesCount64(uint64(s)) }

// all yields the types in order.
func (s objectSet) all(yield func(t objectType) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(objectType(bits.TrailingZeros64(uint64(s)))) {
			return
		}
	}
}

// A spot is a receptacle of a scene.
type spot struct {
	typ              receptacleType
	number, location int
}

// A drawn object is one of a task: where it is, by the position of the spot.
type drawn struct {
	typ objectType
	at  int
}

// scene makes the scene of a task. The receptacles follow from the number of the scene alone, all else from scene, kind and trial.
func (p *preset) scene(t task) (Scene, error) {
	r := &p.rooms[t.pair.room]
	number := uint64(r.first + t.scene)
	spots := r.layout(t.scene, envharness.RandStream(number, "env", 0))
	trials := uint64(trainTrials + validationTrials + testTrials)
	stream := 1 + uint64(slices.Index(kinds[:], t.pair.kind))*trials + uint64(t.trial)
	g := generator{room: r, types: p.objects, spots: spots, kind: t.pair.kind, r: envharness.RandStream(number, "env", stream)}
	if p.few {
		g.split = t.split()
	}
	return g.scene()
}

// layout draws the receptacles.
func (m *room) layout(scene int, r *rand.Rand) []spot {
	var spots []spot
	add := func(typ receptacleType, n int) {
		for i := range n {
			location := len(spots)
			if m.stacked {
				location = share(spots, typ, r, location)
			}
			spots = append(spots, spot{typ, i + 1, location})
		}
	}
	for _, c := range m.always {
		n := c.n
		switch {
		case c.varies && scene <= unseen:
			n += 2
		case c.varies:
			n += r.IntN(2)
		}
		add(c.typ, n)
	}
	chosen := m.chosen
	if scene <= unseen && len(m.choice) > 0 {
		chosen++
	}
	for _, i := range r.Perm(len(m.choice))[:chosen] {
		add(m.choice[i], 1)
	}
	return spots
}

// share returns the location of the next receptacle: a shelf may be above the one before, and a drawer above the one before or in the desk or
// the dresser.
func share(spots []spot, typ receptacleType, r *rand.Rand, own int) int {
	if typ != shelf && typ != drawer {
		return own
	}
	var near []int
	for _, s := range spots {
		if typ == drawer && (s.typ == desk || s.typ == dresser) {
			near = append(near, s.location)
		}
	}
	if last := spots[len(spots)-1]; near == nil && last.typ == typ {
		near = append(near, last.location)
	}
	if i := r.IntN(len(near) + 1); i < len(near) {
		return near[i]
	}
	return own
}

// A generator draws the objects of a task.
type generator struct {
	room  *room
	types objectSet // that there may be
	spots []spot
	kind  Kind
	split string // that the scene must belong to by its hash, or ""
	r     *rand.Rand

	object objectType     // the goal's
	place  receptacleType // the goal's, but for LookInLight
	found  []drawn
	number [objectTypes]int // of objects found, by type
	legal  []int            // room for a list of spots
}

// errNoScene would be that of a room in which a kind of task is hardly possible; the tests show that there is none.
var errNoScene = errors.New("no scene found in 2000 draws")

func (g *generator) scene() (Scene, error) {
	var there objectSet
	for _, s := range g.spots {
		there |= canContain[s.typ]
	}
	there &= g.types
	g.drawGoal(there)
	types := make([]objectType, 0, objectTypes)
	for t := range there.all {
		types = append(types, t)
	}
	for range redraws {
		g.found, g.number = g.found[:0], [objectTypes]int{}
		for len(g.found) < g.room.scattered {
			if t := types[g.r.IntN(len(types))]; g.number[t] < mostOfAType {
				g.put(t, receptacleTypes)
			}
		}
		need, elsewhere := 1, g.place
		if g.kind == PickTwo {
			need = 2
		}
		for g.number[g.object] < need {
			g.put(g.object, elsewhere)
		}
		if !g.reached() && (g.split == "" || g.split == g.hashSplit()) {
			return g.build(), nil
		}
	}
	return Scene{}, errNoScene
}

// hashSplit returns the split that the scene belongs to by a hash of the goal and of what lies where. It does not depend on the order in which the
// objects were drawn, and so not on their numbers, nor on what else is in the room, so that no state of one split is one of another.
func (g *generator) hashSplit() string {
	lie := make([][3]byte, len(g.found))
	for i, o := range g.found {
		spot := g.spots[o.at]
		lie[i] = [3]byte{byte(o.typ), byte(spot.typ), byte(spot.number)}
	}
	slices.SortFunc(lie, func(a, b [3]byte) int { return bytes.Compare(a[:], b[:]) })
	h := fnv.New64a()
	h.Write([]byte{byte(slices.Index(kinds[:], g.kind)), byte(g.object), byte(g.place)})
	for i := range lie {
		h.Write(lie[i][:])
	}
	switch h.Sum64() % 20 {
	case 17:
		return "ood"
	case 18:
		return "validation"
	case 19:
		return "test"
	}
	return "train"
}

// drawGoal draws a type of objects and one of receptacles uniformly from those that go together in this room. An object can be in or on something
// else than what it is to be placed in, or it would be there from the start, and is not to be placed in what treats it.
func (g *generator) drawGoal(there objectSet) {
	g.place = receptacleTypes // none
	if g.kind == LookInLight {
		n := g.r.IntN(there.len())
		for t := range there.all {
			if n == 0 {
				g.object = t
			}
			n--
		}
		return
	}
	allowed := there
	treatment, treated := g.kind.treatment()
	if treated {
		allowed &= treatment.treatable()
	}
	type pair struct {
		object objectType
		place  receptacleType
	}
	pairs := make([]pair, 0, 128)
	for i, s := range g.spots {
		if s.number > 1 || treated && s.typ == treatment.appliance() {
			continue
		}
		var elsewhere objectSet
		for k := range g.spots {
			if g.spots[k].typ != g.spots[i].typ {
				elsewhere |= canContain[g.spots[k].typ]
			}
		}
		for t := range (allowed & canContain[s.typ] & elsewhere).all {
			pairs = append(pairs, pair{t, s.typ})
		}
	}
	drawn := pairs[g.r.IntN(len(pairs))]
	g.object, g.place = drawn.object, drawn.place
}

// put draws a legal receptacle for one more object, not of the type besides.
func (g *generator) put(t objectType, besides receptacleType) {
	g.legal = g.legal[:0]
	for i, s := range g.spots {
		if s.typ != besides && canContain[s.typ].has(t) {
			g.legal = append(g.legal, i)
		}
	}
	g.found = append(g.found, drawn{t, g.legal[g.r.IntN(len(g.legal))]})
	g.number[t]++
}

// reached reports whether the goal is reached at the start; only what needs no treatment and no lamp can be.
func (g *generator) reached() bool {
	if g.kind != PickAndPlace && g.kind != PickTwo {
		return false
	}
	for i, o := range g.found {
		if o.typ != g.object || g.spots[o.at].typ != g.place {
			continue
		}
		if g.kind == PickAndPlace {
			return true
		}
		if slices.Contains(g.found[i+1:], o) {
			return true
		}
	}
	return false
}

// build names what was drawn, in the order in which it was.
func (g *generator) build() Scene {
	s := Scene{
		Receptacles: make([]Receptacle, len(g.spots)),
		Objects:     make([]Object, 0, len(g.found)+1),
		Goal:        Goal{Kind: g.kind, Object: g.object.String()},
	}
	for i, spot := range g.spots {
		s.Receptacles[i] = Receptacle{Name: spot.typ.String() + " " + strconv.Itoa(spot.number), Location: 1 + spot.location}
	}
	if g.kind == LookInLight {
		s.Goal.Receptacle = g.room.lamp.String()
	} else {
		s.Goal.Receptacle = g.place.String()
	}
	if len(g.room.lampOn) > 0 {
		g.legal = g.legal[:0]
		for i, spot := range g.spots {
			if slices.Contains(g.room.lampOn, spot.typ) {
				g.legal = append(g.legal, i)
			}
		}
		on := g.legal[g.r.IntN(len(g.legal))]
		s.Objects = append(s.Objects, Object{Name: g.room.lamp.String() + " 1", In: s.Receptacles[on].Name})
	}
	g.number = [objectTypes]int{}
	for _, o := range g.found {
		g.number[o.typ]++
		s.Objects = append(s.Objects, Object{Name: o.typ.String() + " " + strconv.Itoa(g.number[o.typ]), In: s.Receptacles[o.at].Name})
	}
	return s
}
