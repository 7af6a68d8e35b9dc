package household_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// alfred reads ALFWorld's planning domain.
func alfred(t *testing.T) *domain {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data (alfworld)")
	}
	text, err := os.ReadFile(filepath.Join(dir, "alfworld", "alfred.pddl"))
	if os.IsNotExist(err) {
		t.Skip("the folder of THROUGHLINE_DATA has no alfworld/alfred.pddl")
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := readDomain(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// said turns a ground action into the command of the household.
func (g ground) said() string {
	forms := map[string]string{
		"look": "look", "inventory": "inventory", "help": "help", "examinereceptacle": "examine ?r", "examineobject": "examine ?o",
		"gotolocation": "go to ?r", "openobject": "open ?r", "closeobject": "close ?r", "pickupobject": "take ?o from ?r",
		"putobject": "move ?o to ?r", "cleanobject": "clean ?o with ?r", "heatobject": "heat ?o with ?r", "coolobject": "cool ?o with ?r",
		"toggleobject": "use ?o", "sliceobject": "slice ?co with ?ko",
	}
	form, ok := forms[g.action.name]
	if !ok {
		return "no command: " + g.action.name
	}
	words := strings.Fields(form)
	for i, w := range words {
		if value, ok := g.bind[w]; ok {
			words[i] = strings.ReplaceAll(value, "_", " ")
		}
	}
	return strings.Join(words, " ")
}

// ids have no spaces in PDDL.
func id(name string) string { return strings.ReplaceAll(name, " ", "_") }

func place(location int) string { return fmt.Sprintf("place_%d", location) }

// objects lists what there is in a scene, for the domain.
func (v view) problem() problem {
	p := problem{"agent": {"agent"}, "location": {"middle"}}
	add := func(typ, name string) {
		if !slices.Contains(p[typ], name) {
			p[typ] = append(p[typ], name)
		}
	}
	for _, r := range v.scene.Receptacles {
		add("receptacle", id(r.Name))
		add("rtype", typeOf(r.Name)+"type")
		add("location", place(r.Location))
	}
	for _, o := range v.scene.Objects {
		add("object", id(o.Name))
		add("otype", typeOf(o.Name)+"type")
	}
	return p
}

// facts tells a state in the predicates of the domain. Those that nothing depends on (checked, examined, wasInReceptacle, and full, with
// which no condition is left) are not among them; nor is isReceptacleObject, as no object holds another here.
func (v view) facts() facts {
	f := facts{}
	say := func(words ...string) { f[strings.Join(words, " ")] = true }
	at := "middle"
	if v.at != "" {
		at = place(v.location(v.at))
	}
	say("atlocation", "agent", at)
	for _, r := range v.scene.Receptacles {
		kind := typeOf(r.Name)
		say("receptacleatlocation", id(r.Name), place(r.Location))
		say("receptacletype", id(r.Name), kind+"type")
		for _, o := range takes[kind] {
			say("cancontain", kind+"type", o+"type")
		}
		if is(opening, r.Name) {
			say("openable", id(r.Name))
		}
		if v.open[r.Name] {
			say("opened", id(r.Name))
		}
	}
	if v.holding != "" {
		say("holds", "agent", id(v.holding))
		say("holdsany", "agent")
	}
	for name, o := range v.things {
		say("objecttype", id(name), typeOf(name)+"type")
		for _, r := range o.in {
			say("inreceptacle", id(name), id(r))
			say("objectatlocation", id(name), place(v.location(r)))
		}
		for predicate, holds := range map[string]bool{
			"pickupable": !is(lamps, name), "toggleable": is(lamps, name), "ison": o.on, "istoggled": o.toggled,
			"cleanable": is(cleanable, name), "isclean": o.clean, "heatable": is(heatable, name), "ishot": o.hot,
			"coolable": is(coolable, name), "iscool": o.cool, "sliceable": is(sliceable, name), "issliced": o.sliced,
		} {
			if holds {
				say(predicate, id(name))
			}
		}
	}
	return f
}

// On random states the commands that are accepted are the ground actions of ALFWorld's domain whose preconditions hold, and they lead to the
// states of their effects. What differs, and why, is listed in the two tables.
func TestAgreesWithALFWorldsDomain(t *testing.T) {
	t.Parallel()
	d := alfred(t)
	if len(d.actions) != 15 || len(d.types) != 6 || len(d.predicates) != 32 {
		t.Fatalf("%d actions, %d types, %d predicates", len(d.actions), len(d.types), len(d.predicates))
	}
	// Where the domain allows what we refuse.
	refused := map[string]struct {
		reason  string
		applies func(v view, command string) bool
		seen    int
	}{
		"go to where one is already": {
			reason: "the action changes nothing, and ALFWorld answers it with Nothing happens, as a demonstration in ReAct's prompts shows",
			applies: func(v view, command string) bool {
				r, ok := strings.CutPrefix(command, "go to ")
				return ok && v.isHere(r)
			},
		},
	}
	// Where an effect differs.
	effects := map[string]struct {
		reason  string
		applies func(before, after view, command, fact string) bool
		seen    int
	}{
		"taken from one of two receptacles at a location": {
			reason: "the domain says that the object is at the location no more, although it is in the other receptacle there; here location follows " +
				"from the receptacles",
			applies: func(before, after view, command, fact string) bool {
				var name string
				for object := range after.things {
					if strings.HasPrefix(command, "take "+object+" from ") {
						name = object
					}
				}
				return name != "" && fact == "objectatlocation "+id(name)+" "+place(after.location(after.at)) && after.lies(name, after.isHere)
			},
		},
	}

	want := 2_000
	if testing.Short() {
		want = 150
	}
	r := rand.New(rand.NewPCG(6, 22))
	count := map[string]int{} // ground actions compared, by action
	for states := 0; states < want; {
		scene := randomScene(r)
		env, obs := play(t, scene, nil)
		now := see(t, env, scene)
		p, all := now.problem(), conceivable(scene)
		for over := false; !over && states < want; states++ {
			before := now.facts()
			can := map[string][]ground{} // by command
			for _, a := range d.actions {
				for _, g := range p.applicable(d, a, before) {
					can[g.said()] = append(can[g.said()], g)
				}
			}
			admissible := texts(t, obs.Actions)
			for name, e := range refused {
				for command := range can {
					if e.applies(now, command) {
						if slices.Contains(admissible, command) {
							t.Fatalf("%s: %q is accepted after all", name, command)
						}
						delete(can, command)
						e.seen++
						refused[name] = e
					}
				}
			}
			if got := slices.Sorted(slices.Values(admissible)); !slices.Equal(got, slices.Sorted(maps.Keys(can))) {
				t.Fatalf("state %+v: commands of the domain and ours (-domain +ours)\n%s", now, cmp.Diff(slices.Sorted(maps.Keys(can)), got))
			}

			var apply []spoken
			for _, c := range all {
				if can[c.text] != nil {
					apply = append(apply, c)
				}
			}
			command := choose(r, apply).text
			tr := step(t, env, command)
			next := see(t, env, scene)
			for _, g := range can[command] {
				domain, ours := p.apply(d, g, before), next.facts()
				maps.DeleteFunc(domain, func(fact string, _ bool) bool { return strings.HasPrefix(fact, "checked ") })
				for name, e := range effects {
					for fact := range ours {
						if !domain[fact] && e.applies(now, next, command, fact) {
							domain[fact] = true
							e.seen++
							effects[name] = e
						}
					}
				}
				if !maps.Equal(domain, ours) {
					t.Fatalf("%s in state %+v (-domain +ours)\n%s", command, now, cmp.Diff(domain, ours))
				}
				count[g.action.name]++
			}
			now, obs, over = next, tr.Observation, tr.Ended()
		}
	}
	t.Logf("%d states, ground actions compared %v", want, count)
	for _, a := range d.actions {
		if !testing.Short() && count[a.name] < want/300 {
			t.Errorf("%s was carried out %d times only", a.name, count[a.name])
		}
	}
	for name, e := range refused {
		if e.seen == 0 || e.reason == "" {
			t.Errorf("%s: not seen, or without a reason", name)
		}
	}
	for name, e := range effects {
		if e.seen == 0 || e.reason == "" {
			t.Errorf("%s: not seen, or without a reason", name)
		}
	}
}

// The reader and the evaluator, on a domain of our own.
func TestReadDomain(t *testing.T) {
	const text = `
(define (domain lights) ; a comment )
 (:types room lamp)
 (:predicates (in ?l - lamp ?r - room) (on ?l - lamp) (dark ?r - room) (last ?l - lamp))
 (:action Darken
  :parameters (?r - room)
  :precondition (and (not (dark ?r)) (exists (?l - lamp) (and (in ?l ?r) (on ?l))) (forall (?l - lamp, ?x - room) (or (in ?l ?x) (not (in ?l ?x)))))
  :effect (and (dark ?r) (forall (?l - lamp) (when (in ?l ?r) (not (on ?l))))))
 (:action toggle
  :parameters (?l - lamp ?r - room)
  :precondition (in ?l ?r)
  :effect (and (when (on ?l) (not (on ?l))) (when (not (on ?l)) (on ?l)) (not (last ?l)) (last ?l) (not (dark ?r))))
 (:action wait :parameters () :precondition () :effect (and)))`
	d, err := readDomain(text)
	if err != nil {
		t.Fatal(err)
	}
	p := problem{"room": {"hall", "den"}, "lamp": {"a", "b"}}
	start := facts{"in a hall": true, "in b den": true, "on a": true, "last a": true}
	names := func(s facts) (list []string) {
		for _, a := range d.actions {
			for _, g := range p.applicable(d, a, s) {
				list = append(list, g.action.name+g.bind["?l"]+g.bind["?r"])
			}
		}
		return list
	}
	if got, want := names(start), []string{"darkenhall", "toggleahall", "togglebden", "wait"}; !slices.Equal(got, want) {
		t.Errorf("applicable %q, want %q", got, want)
	}
	dark := p.apply(d, p.applicable(d, d.actions[0], start)[0], start)
	if want := (facts{"in a hall": true, "in b den": true, "last a": true, "dark hall": true}); !maps.Equal(dark, want) {
		t.Errorf("darken leads to %v, want %v", dark, want)
	}
	if got, want := names(dark), []string{"toggleahall", "togglebden", "wait"}; !slices.Equal(got, want) {
		t.Errorf("applicable %q, want %q", got, want)
	}
	if back := p.apply(d, p.applicable(d, d.actions[1], dark)[0], dark); !maps.Equal(back, start) {
		t.Errorf("toggle leads to %v, want %v: conditions are those of before, and what is deleted and added is added", back, start)
	}

	for reason, text := range map[string]string{
		"a bracket is missing":        "(define (domain x)",
		"one is too many":             "(define (domain x)))",
		"no domain":                   "(domain x)",
		"unknown part":                "(define (domain x) (:init))",
		"unknown type":                "(define (domain x) (:predicates (on ?l - lamp)))",
		"no type":                     "(define (domain x) (:types lamp) (:predicates (on ?l)))",
		"unknown predicate":           "(define (domain x) (:action a :precondition (on) :effect ()))",
		"wrong number of arguments":   "(define (domain x) (:types lamp) (:predicates (on ?l - lamp)) (:action a :precondition (on) :effect ()))",
		"unbound variable":            "(define (domain x) (:types lamp) (:predicates (on ?l - lamp)) (:action a :precondition (on ?x) :effect ()))",
		"argument of another type":    "(define (domain x) (:types lamp room) (:predicates (on ?l - lamp)) (:action a :parameters (?r - room) :precondition (on ?r) :effect ()))",
		"a word for a formula":        "(define (domain x) (:action a :precondition on :effect ()))",
		"a predicate occurs twice":    "(define (domain x) (:predicates (on) (on)))",
		"not with two parts":          "(define (domain x) (:predicates (on)) (:action a :precondition (not (on) (on)) :effect ()))",
		"nested too deeply":           strings.Repeat("(", 200) + strings.Repeat(")", 200),
		"keys and values do not pair": "(define (domain x) (:action a :precondition))",
	} {
		if _, err := readDomain(text); err == nil {
			t.Errorf("%s: read without an error", reason)
		}
	}
}
