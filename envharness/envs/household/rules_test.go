package household_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/sim"
)

// This file is a second telling of the rules, slow and plain, from which nothing of the package is used but the form of its states.

// common is what the table calls C: small things that nearly every surface takes.
const common = "alarmclock book bowl box candle cd cellphone cloth creditcard cup glassbottle keychain laptop mug newspaper pen pencil plate " +
	"remotecontrol soapbottle spraybottle statue tissuebox toiletpaper vase watch wateringcan winebottle"

const onTables = common + " apple bread egg lettuce potato tomato butterknife knife fork spoon spatula ladle dishsponge handtowel kettle pan " +
	"pot papertowel peppershaker saltshaker soapbar"

// takes says which types of objects each type of receptacle takes.
var takes = map[string][]string{
	"countertop":  strings.Fields(onTables),
	"diningtable": strings.Fields(onTables),
	"sidetable":   strings.Fields(onTables),
	"coffeetable": strings.Fields(onTables),
	"cart":        strings.Fields(onTables),
	"tvstand":     strings.Fields(onTables),
	"ottoman":     strings.Fields(onTables + " pillow"), // five walkthroughs put pillows there
	"desk":        strings.Fields(common),
	"dresser":     without(strings.Fields(common), "soapbottle"),
	"shelf": append(without(strings.Fields(common), "laptop"),
		strings.Fields("dishsponge handtowel kettle papertowel peppershaker saltshaker soapbar pot")...),
	"cabinet": strings.Fields("book bowl box candle cd cloth cup dishsponge glassbottle handtowel kettle ladle mug newspaper pan " +
		"peppershaker plate pot saltshaker soapbar soapbottle spraybottle tissuebox toiletpaper vase wateringcan winebottle"),
	"drawer": strings.Fields("book butterknife candle cd cellphone cloth creditcard dishsponge fork handtowel keychain knife ladle newspaper " +
		"pen pencil peppershaker remotecontrol saltshaker soapbar soapbottle spatula spoon spraybottle tissuebox toiletpaper watch wateringcan"),
	"fridge":        strings.Fields("apple bowl bread cup egg glassbottle lettuce mug pan plate pot potato tomato winebottle"),
	"microwave":     strings.Fields("apple bowl bread cup egg glassbottle mug plate potato tomato"),
	"sinkbasin":     strings.Fields("apple bowl butterknife cloth cup dishsponge egg fork glassbottle handtowel kettle knife ladle lettuce mug pan plate pot potato soapbar spatula spoon tomato"),
	"stoveburner":   strings.Fields("kettle pan pot"),
	"coffeemachine": strings.Fields("mug"),
	"garbagecan": strings.Fields("apple bread cd cloth dishsponge egg handtowel lettuce newspaper papertowel pen pencil potato soapbar " +
		"soapbottle spraybottle tissuebox toiletpaper tomato winebottle"),
	"sofa":              strings.Fields("book box cellphone cloth creditcard keychain laptop newspaper pillow remotecontrol"),
	"armchair":          strings.Fields("book box cellphone cloth creditcard keychain laptop newspaper pillow remotecontrol"),
	"bed":               strings.Fields("book cellphone laptop newspaper pillow"),
	"safe":              strings.Fields("cd cellphone creditcard keychain statue vase watch"),
	"toilet":            strings.Fields("candle cloth dishsponge handtowel newspaper papertowel soapbar soapbottle spraybottle tissuebox toiletpaper"),
	"bathtubbasin":      strings.Fields("cloth dishsponge handtowel soapbar"),
	"toiletpaperhanger": strings.Fields("toiletpaper"),
	"handtowelholder":   strings.Fields("handtowel"),
}

// What can be done with which types.
var (
	opening   = strings.Fields("fridge cabinet microwave drawer safe")
	heatable  = strings.Fields("apple bread cup egg mug plate potato tomato")
	coolable  = strings.Fields("apple bread cup egg mug plate potato tomato bowl lettuce pan pot winebottle")
	cleanable = strings.Fields("apple bowl butterknife cloth cup dishsponge egg fork kettle knife ladle lettuce mug pan plate pot potato soapbar spatula spoon tomato")
	lamps     = strings.Fields("desklamp floorlamp")
	sliceable = strings.Fields("apple bread egg lettuce potato tomato")
	knives    = strings.Fields("knife butterknife")
)

func without(list []string, one string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == one })
}

func typeOf(name string) string {
	kind, _, _ := strings.Cut(name, " ")
	return kind
}

// is reports whether the type of a name is in a list.
func is(list []string, name string) bool { return slices.Contains(list, typeOf(name)) }

// A thing is an object as a state has it.
type thing struct {
	in                                    []string // receptacles
	clean, hot, cool, sliced, on, toggled bool
}

// A view is a state, and the receptacles of its scene.
type view struct {
	scene   household.Scene
	at      string // the receptacle last gone to, "" for none
	holding string // an object or ""
	open    map[string]bool
	things  map[string]thing
}

// isHere reports whether a receptacle is within reach.
func (v view) isHere(receptacle string) bool {
	return v.at != "" && v.isReceptacle(receptacle) && v.location(receptacle) == v.location(v.at)
}

func (v view) isReceptacle(name string) bool {
	return slices.ContainsFunc(v.scene.Receptacles, func(r household.Receptacle) bool { return r.Name == name })
}

func (v view) location(receptacle string) int {
	for _, r := range v.scene.Receptacles {
		if r.Name == receptacle {
			return r.Location
		}
	}
	panic("no receptacle " + receptacle)
}

// accessible reports whether things can be seen in, taken out of and put into a receptacle.
func (v view) accessible(receptacle string) bool {
	return v.isHere(receptacle) && (!is(opening, receptacle) || v.open[receptacle])
}

// near reports whether something is in hand or within reach.
func (v view) near(name string) bool {
	return v.isHere(name) || name == v.holding || v.lies(name, v.isHere)
}

// lies reports whether an object is in one of the receptacles that pass.
func (v view) lies(object string, pass func(receptacle string) bool) bool {
	return slices.ContainsFunc(v.things[object].in, pass)
}

// applicable tells whether a command can be carried out; x and y are its first and second name.
func (v view) applicable(verb, x, y string) bool {
	_, xIsThing := v.things[x]
	switch verb {
	case "look", "inventory", "help":
		return true
	case "go to":
		return v.isReceptacle(x) && !v.isHere(x)
	case "open":
		return is(opening, x) && !v.open[x] && v.isHere(x)
	case "close":
		return is(opening, x) && v.open[x] && v.isHere(x)
	case "take":
		return v.holding == "" && xIsThing && !is(lamps, x) && slices.Contains(v.things[x].in, y) && v.accessible(y)
	case "move":
		return v.holding == x && slices.Contains(takes[typeOf(y)], typeOf(x)) && v.accessible(y)
	case "clean":
		return v.holding == x && is(cleanable, x) && typeOf(y) == "sinkbasin" && v.isHere(y)
	case "heat":
		return v.holding == x && is(heatable, x) && typeOf(y) == "microwave" && v.isHere(y)
	case "cool":
		return v.holding == x && is(coolable, x) && typeOf(y) == "fridge" && v.isHere(y)
	case "use":
		return xIsThing && is(lamps, x) && v.lies(x, v.isHere)
	case "slice":
		return v.holding == y && is(knives, y) && xIsThing && is(sliceable, x) && v.lies(x, v.isHere)
	case "examine":
		return v.isHere(x) || xIsThing && (v.holding == x || v.lies(x, v.accessible))
	}
	return false
}

// verbs are those with names, and the word between two names.
var verbs = []struct {
	verb, between string
}{
	{"go to", ""}, {"open", ""}, {"close", ""}, {"use", ""}, {"examine", ""},
	{"take", "from"}, {"move", "to"}, {"clean", "with"}, {"heat", "with"}, {"cool", "with"}, {"slice", "with"},
}

// A spoken command and its parts.
type spoken struct {
	text, verb, x, y string
}

// conceivable lists every command that can be said with the names of a scene.
func conceivable(s household.Scene) []spoken {
	var names []string
	for _, r := range s.Receptacles {
		names = append(names, r.Name)
	}
	for _, o := range s.Objects {
		names = append(names, o.Name)
	}
	list := []spoken{{"look", "look", "", ""}, {"inventory", "inventory", "", ""}, {"help", "help", "", ""}}
	for _, v := range verbs {
		for _, x := range names {
			if v.between == "" {
				list = append(list, spoken{v.verb + " " + x, v.verb, x, ""})
				continue
			}
			for _, y := range names {
				list = append(list, spoken{v.verb + " " + x + " " + v.between + " " + y, v.verb, x, y})
			}
		}
	}
	return list
}

// randomScene makes a small crowded room in which most rules matter: several receptacles at a location, doors, appliances, lamps, knives,
// things where nobody would put them. Most goals are such that random play seldom reaches them.
func randomScene(r *rand.Rand) household.Scene {
	var s household.Scene
	number := map[string]int{}
	name := func(kind string) string {
		number[kind]++
		return kind + " " + strconv.Itoa(number[kind])
	}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	kinds := strings.Fields("countertop cabinet drawer fridge microwave sinkbasin stoveburner coffeemachine garbagecan diningtable sofa armchair " +
		"coffeetable sidetable shelf bed desk dresser safe toilet bathtubbasin toiletpaperhanger handtowelholder cart ottoman tvstand")
	locations := 1 + r.IntN(6)
	for _, kind := range append([]string{"sinkbasin", "microwave", "fridge", pick(opening), pick(opening)}, pick(kinds), pick(kinds), pick(kinds)) {
		if r.IntN(6) == 0 {
			continue
		}
		n := name(kind)
		s.Receptacles = append(s.Receptacles, household.Receptacle{Name: n, Location: 1 + r.IntN(locations), Open: is(opening, n) && r.IntN(2) == 0})
	}
	s.Receptacles = append(s.Receptacles, household.Receptacle{Name: name("shelf"), Location: locations})
	r.Shuffle(len(s.Receptacles), func(i, k int) { s.Receptacles[i], s.Receptacles[k] = s.Receptacles[k], s.Receptacles[i] })

	all := without(strings.Fields(onTables+" pillow"), "statue")
	for _, kind := range []string{pick(knives), pick(lamps), pick(lamps), pick(sliceable), pick(heatable), pick(coolable), pick(cleanable), pick(all), pick(all)} {
		if r.IntN(5) == 0 {
			continue
		}
		in := s.Receptacles[r.IntN(len(s.Receptacles))].Name
		for range 3 { // mostly where it belongs
			if slices.Contains(takes[typeOf(in)], kind) {
				break
			}
			in = s.Receptacles[r.IntN(len(s.Receptacles))].Name
		}
		s.Objects = append(s.Objects, household.Object{Name: name(kind), In: in})
	}
	if len(s.Objects) > 0 && r.IntN(4) == 0 { // in two receptacles
		o, k := &s.Objects[r.IntN(len(s.Objects))], r.IntN(len(s.Receptacles))
		o.Also = []string{s.Receptacles[k].Name}
	}
	statues := []household.Object{{Name: "statue 1", In: s.Receptacles[0].Name}, {Name: "statue 2", In: s.Receptacles[len(s.Receptacles)-1].Name}}
	s.Objects = append(s.Objects, statues...)
	s.Goal = household.Goal{Kind: household.PickTwo, Object: "statue", Receptacle: "shelf"}
	for range 8 { // or one that fits a thing that is there
		kinds := []household.Kind{
			household.PickAndPlace, household.LookInLight, household.PickClean, household.PickHeat, household.PickCool, household.PickTwo,
		}
		object, receptacle := typeOf(s.Objects[r.IntN(len(s.Objects))].Name), typeOf(s.Receptacles[r.IntN(len(s.Receptacles))].Name)
		goal := household.Goal{Kind: kinds[r.IntN(len(kinds))], Object: object, Receptacle: receptacle}
		if goal.Kind == household.LookInLight {
			goal.Receptacle = pick(lamps)
		} else if !slices.Contains(takes[receptacle], object) {
			continue
		}
		with := household.Scene{Receptacles: s.Receptacles, Objects: s.Objects, Goal: goal}
		if !slices.Contains(lamps, object) && r.IntN(2) == 0 && !startView(with).reached() {
			return with
		}
	}
	return s
}

// stateView reads a state, strictly.
func stateView(t testing.TB, scene household.Scene, state json.RawMessage) view {
	t.Helper()
	var in struct {
		At      string         `json:"at"`
		Goal    household.Goal `json:"goal"`
		Holding string         `json:"holding"`
		Objects map[string]struct {
			In       []string `json:"in"`
			Clean    *bool    `json:"clean"`
			Hot      *bool    `json:"hot"`
			Cool     *bool    `json:"cool"`
			Sliced   *bool    `json:"sliced"`
			On       *bool    `json:"on"`
			Switched *bool    `json:"switched"`
		} `json:"objects"`
		Open map[string]bool `json:"open"`
		Turn *int            `json:"turn"`
	}
	dec := json.NewDecoder(bytes.NewReader(state))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		t.Fatalf("state %s: %v", state, err)
	}
	if in.Goal != scene.Goal || len(in.Objects) != len(scene.Objects) || in.Turn == nil {
		t.Fatalf("state %s: goal, objects or turn are not those of %+v", state, scene)
	}
	v := view{scene: scene, at: in.At, holding: in.Holding, open: in.Open, things: map[string]thing{}}
	for name, o := range in.Objects {
		lamp := is(lamps, name)
		if (o.Clean == nil) != lamp || (o.Hot == nil) != lamp || (o.Cool == nil) != lamp || (o.Sliced == nil) != lamp ||
			(o.On != nil) != lamp || (o.Switched != nil) != lamp {
			t.Fatalf("state %s: %s has too few or too many marks", state, name)
		}
		flag := func(p *bool) bool { return p != nil && *p }
		v.things[name] = thing{o.In, flag(o.Clean), flag(o.Hot), flag(o.Cool), flag(o.Sliced), flag(o.On), flag(o.Switched)}
	}
	for _, r := range scene.Receptacles {
		if _, known := v.open[r.Name]; known != is(opening, r.Name) {
			t.Fatalf("state %s: open speaks of what cannot be opened, or leaves out what can: %s", state, r.Name)
		}
	}
	return v
}

// startView is the state that a scene says it begins with.
func startView(s household.Scene) view {
	v := view{scene: s, open: map[string]bool{}, things: map[string]thing{}}
	for _, r := range s.Receptacles {
		if is(opening, r.Name) {
			v.open[r.Name] = r.Open
		}
	}
	for _, o := range s.Objects {
		in := append([]string{o.In}, o.Also...)
		slices.Sort(in)
		v.things[o.Name] = thing{in: slices.Compact(in)}
	}
	return v
}

// after is the state after an applicable command.
func (v view) after(c spoken) view {
	v.open, v.things = maps.Clone(v.open), maps.Clone(v.things)
	x := v.things[c.x]
	switch c.verb {
	case "go to":
		v.at = c.x
	case "open":
		v.open[c.x] = true
	case "close":
		v.open[c.x] = false
	case "take":
		v.holding = c.x
		x.in = without(slices.Clone(x.in), c.y)
	case "move":
		v.holding = ""
		x.in = append(without(slices.Clone(x.in), c.y), c.y)
		slices.Sort(x.in)
	case "clean":
		x.clean = true
	case "heat":
		x.hot, x.cool = true, false
	case "cool":
		x.hot, x.cool = false, true
	case "use":
		x.on, x.toggled = !x.on, true
	case "slice":
		x.sliced = true
	}
	if _, ok := v.things[c.x]; ok {
		v.things[c.x] = x
	}
	return v
}

// reached tells whether the goal holds.
func (v view) reached() bool {
	g := v.scene.Goal
	in := map[string]int{} // how many of the goal's objects are in each of the goal's receptacles
	for name, o := range v.things {
		if typeOf(name) != g.Object ||
			g.Kind == household.PickClean && !o.clean || g.Kind == household.PickHeat && !o.hot || g.Kind == household.PickCool && !o.cool {
			continue
		}
		if g.Kind == household.LookInLight && name == v.holding {
			for lamp, l := range v.things {
				if typeOf(lamp) == g.Receptacle && l.toggled && v.lies(lamp, v.isHere) {
					return true
				}
			}
		}
		for _, r := range o.in {
			if typeOf(r) == g.Receptacle {
				in[r]++
			}
		}
	}
	need := 1
	if g.Kind == household.PickTwo {
		need = 2
	}
	for _, n := range in {
		if n >= need {
			return g.Kind != household.LookInLight
		}
	}
	return false
}

// sameView compares states of one scene.
func sameView(v, w view) bool {
	return v.at == w.at && v.holding == w.holding && maps.Equal(v.open, w.open) && maps.EqualFunc(v.things, w.things, func(a, b thing) bool {
		in := slices.Equal(a.in, b.in)
		a.in, b.in = nil, nil
		return in && a.clean == b.clean && a.hot == b.hot && a.cool == b.cool && a.sliced == b.sliced && a.on == b.on && a.toggled == b.toggled
	})
}

// do is the action of a command.
func do(text string) envharness.Action {
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err)
	}
	return envharness.Action{Name: "do", Args: args}
}

// play starts the world of a scene.
func play(t testing.TB, s household.Scene, o *household.Options) (*sim.Env, envharness.Observation) {
	t.Helper()
	world, err := household.FromScene(s, o)
	if err != nil {
		t.Fatalf("scene %+v: %v", s, err)
	}
	env := world.New()
	obs, err := env.Reset(t.Context(), envharness.ResetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return env, obs
}

// see reads the present state.
func see(t testing.TB, env *sim.Env, s household.Scene) view {
	t.Helper()
	state, err := env.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stateView(t, s, state)
}

func step(t testing.TB, env *sim.Env, text string) envharness.Transition {
	t.Helper()
	tr, err := env.Step(t.Context(), do(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tr
}
