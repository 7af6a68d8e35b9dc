package household

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

// act is the action of a command.
func act(text string) envharness.Action {
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err)
	}
	return envharness.Action{Name: toolName, Args: args}
}

// flat is a kitchen and a bedroom in one. Both shelves and the drawer are at one place, and the safe is open.
func flat() Scene {
	return Scene{
		Receptacles: []Receptacle{
			{Name: "countertop 1", Location: 1}, {Name: "fridge 1", Location: 2}, {Name: "microwave 1", Location: 3},
			{Name: "sinkbasin 1", Location: 4}, {Name: "shelf 1", Location: 5}, {Name: "shelf 2", Location: 5},
			{Name: "drawer 1", Location: 5}, {Name: "safe 1", Location: 6, Open: true}, {Name: "desk 1", Location: 7},
			{Name: "garbagecan 1", Location: 8}, {Name: "bed 1", Location: 9},
		},
		Objects: []Object{
			{Name: "mug 1", In: "countertop 1"}, {Name: "apple 1", In: "countertop 1"}, {Name: "knife 1", In: "countertop 1"},
			{Name: "potato 1", In: "fridge 1"}, {Name: "book 1", In: "shelf 1"}, {Name: "pen 1", In: "drawer 1"}, {Name: "watch 1", In: "safe 1"},
			{Name: "desklamp 1", In: "desk 1"}, {Name: "cd 1", In: "desk 1"}, {Name: "apple 2", In: "microwave 1"},
		},
		Goal: Goal{Kind: PickTwo, Object: "statue", Receptacle: "safe"}, // never reached
	}
}

func mustEpisode(t *testing.T, s Scene) *episode {
	t.Helper()
	e, err := newEpisode(s, false)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The commands before the last one are separated by semicolons; all must be carried out.
func TestRulesAndTexts(t *testing.T) {
	const no = envharness.ClassPrecondition
	tests := []struct {
		name, commands, want string
		class                envharness.ErrorClass
		reason               string
	}{
		{"arrive at a surface", "go to countertop 1", "You arrive at countertop 1. On the countertop 1, you see a apple 1, a knife 1, and a mug 1.", "", "names in order, a before each, and before the last"},
		{"arrive at a closed one", "go to fridge 1", "You arrive at fridge 1. The fridge 1 is closed.", "", "what is in it is not to be seen"},
		{"arrive at an open one", "go to safe 1", "You arrive at safe 1. The safe 1 is open. In it, you see a watch 1.", "", "In it, not On the"},
		{"arrive at an empty one", "go to bed 1", "You arrive at bed 1. On the bed 1, you see nothing.", "", "the empty list reads nothing"},
		{"two in a list", "go to desk 1", "You arrive at desk 1. On the desk 1, you see a cd 1, and a desklamp 1.", "", "a comma before and, as in ALFWorld"},
		{"go where one is", "go to desk 1;go to desk 1", "Nothing happens.", no, "one is there already"},
		{"go to the neighbour", "go to shelf 1;go to shelf 2", "Nothing happens.", no, "one is there already; so in ALFWorld's recordings"},
		{"go back", "go to desk 1;go to bed 1;go to desk 1", "You arrive at desk 1. On the desk 1, you see a cd 1, and a desklamp 1.", "", "one was elsewhere since"},
		{"go to an object", "go to mug 1", "Nothing happens.", no, "receptacles only"},
		{"go nowhere", "go to shelf 3", "Nothing happens.", no, "no such receptacle"},

		{"open", "go to fridge 1;open fridge 1", "You open the fridge 1. The fridge 1 is open. In it, you see a potato 1.", "", "what is in it is told"},
		{"open from afar", "open fridge 1", "Nothing happens.", no, "not here"},
		{"open the neighbour", "go to shelf 1;open drawer 1", "You open the drawer 1. The drawer 1 is open. In it, you see a pen 1.", "", "reach is by location"},
		{"open twice", "go to fridge 1;open fridge 1;open fridge 1", "Nothing happens.", no, "it is open"},
		{"open a shelf", "go to shelf 1;open shelf 1", "Nothing happens.", no, "it cannot be opened"},
		{"close", "go to safe 1;close safe 1", "You close the safe 1.", "", "it was open"},
		{"close twice", "go to safe 1;close safe 1;close safe 1", "Nothing happens.", no, "it is closed"},
		{"close from afar", "close safe 1", "Nothing happens.", no, "not here"},
		{"close a shelf", "go to shelf 1;close shelf 1", "Nothing happens.", no, "it cannot be closed"},
		{"closed again", "go to fridge 1;open fridge 1;close fridge 1;take potato 1 from fridge 1", "Nothing happens.", no, "the door counts now"},

		{"take", "go to countertop 1;take mug 1 from countertop 1", "You pick up the mug 1 from the countertop 1.", "", "the plain case"},
		{"take from afar", "take mug 1 from countertop 1", "Nothing happens.", no, "not here"},
		{"take from another", "go to shelf 1;take book 1 from shelf 2", "Nothing happens.", no, "it is on shelf 1"},
		{"take at the place", "go to shelf 2;take book 1 from shelf 1", "You pick up the book 1 from the shelf 1.", "", "reach is by location"},
		{"take through a door", "go to fridge 1;take potato 1 from fridge 1", "Nothing happens.", no, "closed"},
		{"take a second", "go to countertop 1;take mug 1 from countertop 1;take apple 1 from countertop 1", "Nothing happens.", no, "one object at a time"},
		{"take what is held", "go to countertop 1;take mug 1 from countertop 1;take mug 1 from countertop 1", "Nothing happens.", no, "it is not there any more"},
		{"take a lamp", "go to desk 1;take desklamp 1 from desk 1", "Nothing happens.", no, "lamps stay"},

		{"move", "go to countertop 1;take mug 1 from countertop 1;go to shelf 1;move mug 1 to shelf 2", "You move the mug 1 to the shelf 2.", "", "reach is by location"},
		{"move back", "go to countertop 1;take mug 1 from countertop 1;move mug 1 to countertop 1", "You move the mug 1 to the countertop 1.", "", "anywhere it may be"},
		{"move what is not held", "go to countertop 1;move mug 1 to countertop 1", "Nothing happens.", no, "it is not held"},
		{"move from afar", "go to countertop 1;take mug 1 from countertop 1;move mug 1 to shelf 1", "Nothing happens.", no, "not here"},
		{"move to where it cannot be", "go to countertop 1;take mug 1 from countertop 1;go to bed 1;move mug 1 to bed 1", "Nothing happens.", no, "a bed takes no mug"},
		{"move through a door", "go to countertop 1;take mug 1 from countertop 1;go to fridge 1;move mug 1 to fridge 1", "Nothing happens.", no, "closed"},
		{"move into", "go to countertop 1;take mug 1 from countertop 1;go to fridge 1;open fridge 1;move mug 1 to fridge 1;examine fridge 1", "The fridge 1 is open. In it, you see a mug 1, and a potato 1.", "", "it is there then"},

		{"clean", "go to countertop 1;take mug 1 from countertop 1;go to sinkbasin 1;clean mug 1 with sinkbasin 1", "You clean the mug 1 using the sinkbasin 1.", "", "at the sinkbasin"},
		{"clean elsewhere", "go to countertop 1;take mug 1 from countertop 1;clean mug 1 with sinkbasin 1", "Nothing happens.", no, "not here"},
		{"clean with a fridge", "go to countertop 1;take mug 1 from countertop 1;go to fridge 1;clean mug 1 with fridge 1", "Nothing happens.", no, "sinkbasins clean"},
		{"clean a book", "go to shelf 1;take book 1 from shelf 1;go to sinkbasin 1;clean book 1 with sinkbasin 1", "Nothing happens.", no, "books cannot be cleaned"},
		{"clean what is not held", "go to countertop 1;take mug 1 from countertop 1;go to sinkbasin 1;clean apple 1 with sinkbasin 1", "Nothing happens.", no, "not held"},
		{"heat behind a door", "go to countertop 1;take mug 1 from countertop 1;go to microwave 1;heat mug 1 with microwave 1", "You heat the mug 1 using the microwave 1.", "", "the appliance may be closed"},
		{"heat with an open door", "go to countertop 1;take mug 1 from countertop 1;go to microwave 1;open microwave 1;heat mug 1 with microwave 1", "You heat the mug 1 using the microwave 1.", "", "or open"},
		{"heat a knife", "go to countertop 1;take knife 1 from countertop 1;go to microwave 1;heat knife 1 with microwave 1", "Nothing happens.", no, "knives cannot be heated"},
		{"heat again", "go to countertop 1;take mug 1 from countertop 1;go to microwave 1;heat mug 1 with microwave 1;heat mug 1 with microwave 1", "You heat the mug 1 using the microwave 1.", "", "no rule against it"},
		{"cool", "go to countertop 1;take mug 1 from countertop 1;go to fridge 1;cool mug 1 with fridge 1", "You cool the mug 1 using the fridge 1.", "", "the fridge may be closed"},
		{"cool a pen", "go to drawer 1;open drawer 1;take pen 1 from drawer 1;go to fridge 1;cool pen 1 with fridge 1", "Nothing happens.", no, "pens cannot be cooled"},

		{"use", "go to desk 1;use desklamp 1", "You turn on the desklamp 1.", "", "off at the start"},
		{"use twice", "go to desk 1;use desklamp 1;use desklamp 1", "You turn off the desklamp 1.", "", "it toggles"},
		{"use from afar", "use desklamp 1", "Nothing happens.", no, "not here"},
		{"use a mug", "go to countertop 1;use mug 1", "Nothing happens.", no, "no lamp"},
		{"use a receptacle", "go to microwave 1;use microwave 1", "Nothing happens.", no, "no lamp"},
		{"use with full hands", "go to countertop 1;take mug 1 from countertop 1;go to desk 1;use desklamp 1", "You turn on the desklamp 1.", "", "hands do not matter"},

		{"slice", "go to countertop 1;take knife 1 from countertop 1;slice apple 1 with knife 1", "You sliced the apple 1 with the knife 1.", "", "the knife is held and the apple here"},
		{"slice a mug", "go to countertop 1;take knife 1 from countertop 1;slice mug 1 with knife 1", "Nothing happens.", no, "mugs cannot be sliced"},
		{"slice without a knife", "go to countertop 1;slice apple 1 with knife 1", "Nothing happens.", no, "the knife is not held"},
		{"slice with a mug", "go to countertop 1;take mug 1 from countertop 1;slice apple 1 with mug 1", "Nothing happens.", no, "a mug is no knife"},
		{"slice from afar", "go to countertop 1;take knife 1 from countertop 1;go to bed 1;slice apple 1 with knife 1", "Nothing happens.", no, "not here"},
		{"slice behind a door", "go to countertop 1;take knife 1 from countertop 1;go to fridge 1;slice potato 1 with knife 1", "You sliced the potato 1 with the knife 1.", "", "alfred.pddl asks for the place only"},

		{"examine a receptacle", "go to desk 1;examine desk 1", "On the desk 1, you see a cd 1, and a desklamp 1.", "", "what arriving tells"},
		{"examine a closed one", "go to fridge 1;examine fridge 1", "The fridge 1 is closed.", "", "it can be examined"},
		{"examine the neighbour", "go to shelf 1;examine drawer 1", "The drawer 1 is closed.", "", "reach is by location"},
		{"examine from afar", "examine desk 1", "Nothing happens.", no, "not here"},
		{"examine an object", "go to countertop 1;examine mug 1", "There's nothing special about mug 1.", "", "nothing was done to it"},
		{"examine what is hidden", "go to fridge 1;examine potato 1", "Nothing happens.", no, "closed"},
		{"examine what is held", "go to countertop 1;take mug 1 from countertop 1;go to bed 1;examine mug 1", "There's nothing special about mug 1.", "", "in the hand it is here"},
		{"examine a lamp", "go to desk 1;examine desklamp 1", "This desklamp 1 is off.", "", "lamps tell"},
		{"examine a lamp that is on", "go to desk 1;use desklamp 1;examine desklamp 1", "This desklamp 1 is on.", "", "lamps tell"},
		{"examine a hot one", "go to countertop 1;take mug 1 from countertop 1;go to microwave 1;heat mug 1 with microwave 1;examine mug 1", "This is a hot mug 1.", "", "ALFWorld's form"},
		{"examine a cool one", "go to countertop 1;take mug 1 from countertop 1;go to fridge 1;cool mug 1 with fridge 1;examine mug 1", "This is a cold mug 1.", "", "cold where it is nothing else"},
		{"cooling clears heat", "go to countertop 1;take mug 1 from countertop 1;go to microwave 1;heat mug 1 with microwave 1;go to fridge 1;cool mug 1 with fridge 1;examine mug 1", "This is a cold mug 1.", "", "not hot any more"},
		{"heating clears cool", "go to countertop 1;take mug 1 from countertop 1;go to fridge 1;cool mug 1 with fridge 1;go to microwave 1;heat mug 1 with microwave 1;examine mug 1", "This is a hot mug 1.", "", "not cool any more"},
		{"clean stays", "go to countertop 1;take mug 1 from countertop 1;go to sinkbasin 1;clean mug 1 with sinkbasin 1;go to microwave 1;heat mug 1 with microwave 1;examine mug 1", "This is a hot and clean mug 1.", "", "clean is never cleared"},
		{"clean alone", "go to countertop 1;take mug 1 from countertop 1;go to sinkbasin 1;clean mug 1 with sinkbasin 1;examine mug 1", "This is a clean mug 1.", "", "ALFWorld's form"},
		{"sliced alone", "go to countertop 1;take knife 1 from countertop 1;slice apple 1 with knife 1;examine apple 1", "This is a sliced apple 1.", "", "ALFWorld's form"},
		{"all at once", "go to countertop 1;take knife 1 from countertop 1;slice apple 1 with knife 1;move knife 1 to countertop 1;take apple 1 from countertop 1;go to sinkbasin 1;clean apple 1 with sinkbasin 1;go to fridge 1;cool apple 1 with fridge 1;examine apple 1", "This is a cool and clean sliced apple 1.", "", "cool, not cold, here"},
		{"examine nothing", "examine", "Nothing happens.", no, "a thing is missing"},

		{"look around", "look", "You are in the middle of a room. Looking quickly around you, you see a bed 1, a countertop 1, a desk 1, a drawer 1, a fridge 1, a garbagecan 1, a microwave 1, a safe 1, a shelf 1, a shelf 2, and a sinkbasin 1.", "", "as at the start, without the task"},
		{"look there", "go to bed 1;look", "You are facing the bed 1. Next to it, you see nothing.", "", "ALFWorld's form"},
		{"look at three", "go to shelf 2;look", "You are facing the drawer 1, shelf 1, and shelf 2. Next to it, you see nothing.", "", "all at the place"},
		{"carrying nothing", "inventory", "You are not carrying anything.", "", "empty hands"},
		{"carrying", "go to countertop 1;take apple 1 from countertop 1;inventory", "You are carrying: a apple 1.", "", "always a"},
		{"help", "help", helpText, "", "a fixed text"},

		{"empty", "", "Nothing happens.", no, "no command"},
		{"unknown word", "eat apple 1", "Nothing happens.", no, "no such command"},
		{"capitals", "Look", "Nothing happens.", no, "commands are exact"},
		{"space at the end", "look ", "Nothing happens.", no, "commands are exact"},
		{"two spaces", "go to  desk 1", "Nothing happens.", no, "commands are exact"},
		{"go without to", "go desk 1", "Nothing happens.", no, "commands are exact"},
		{"take without from", "go to countertop 1;take mug 1", "Nothing happens.", no, "the receptacle is missing"},
		{"receptacle as an object", "go to countertop 1;take shelf 1 from countertop 1", "Nothing happens.", no, "receptacles stay"},
		{"object as a receptacle", "go to countertop 1;take mug 1 from apple 1", "Nothing happens.", no, "no receptacle"},
		{"put", "go to countertop 1;take mug 1 from countertop 1;put mug 1 in/on countertop 1", "Nothing happens.", no, "only with LegacyPut"},
		{"help with more", "help me", "Nothing happens.", no, "commands are exact"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			e := mustEpisode(t, flat())
			commands := strings.Split(tt.commands, ";")
			for i, c := range commands {
				before := string(e.AppendState(nil))
				r := e.Step(act(c))
				if last := i == len(commands)-1; r.Refusal == nil != (!last || tt.class == "") {
					t.Fatalf("%q: refusal %+v (%s)", c, r.Refusal, tt.reason)
				}
				if r.Refusal != nil {
					if d := cmp.Diff(before, string(e.AppendState(nil))); d != "" {
						t.Errorf("the refusal changed the state (-want +got):\n%s", d)
					}
					if r.Refusal.Class != tt.class || r.Refusal.Message == "" || r.Refusal.Retryable {
						t.Errorf("refusal %+v, want class %s with a message, not retryable", r.Refusal, tt.class)
					}
				}
				if r.Ended || r.Reward != 0 {
					t.Errorf("%q: ended %v, reward %v; the goal is out of reach", c, r.Ended, r.Reward)
				}
			}
			if got := e.Text(); got != tt.want {
				t.Errorf("text %q, want %q (%s)", got, tt.want, tt.reason)
			}
		})
	}
}

func TestOpening(t *testing.T) {
	const want = "You are in the middle of a room. Looking quickly around you, you see a countertop 1, and a shelf 1.\n\n" +
		"Your task is to: put a hot mug in shelf."
	e := mustEpisode(t, Scene{
		Receptacles: []Receptacle{{Name: "shelf 1"}, {Name: "countertop 1", Location: 1}},
		Goal:        Goal{Kind: PickHeat, Object: "mug", Receptacle: "shelf"},
	})
	if d := cmp.Diff(want, e.Text()); d != "" {
		t.Errorf("opening (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]any{"task": "put a hot mug in shelf."}, e.Data()); d != "" {
		t.Errorf("data (-want +got):\n%s", d)
	}
	if e.Step(act("look")); e.Text() == want || e.Opening() != want {
		t.Error("the opening stays, the text does not")
	}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name, args, reason string
		class              envharness.ErrorClass
	}{
		{"spaces and escapes", ` { "text" : "lo\u006fk" } `, "any JSON of the same value", ""},
		{"key by an escape", `{"t\u0065xt":"look"}`, "any JSON of the same value", ""},
		{"a quote in the text", `{"text":"look\""}`, "a well-formed text that is no command", envharness.ClassPrecondition},
		{"no UTF-8 name", `{"text":"go to café 1"}`, "a well-formed text that is no command", envharness.ClassPrecondition},
		{"long", `{"text":"` + strings.Repeat("look ", 100) + `"}`, "a well-formed text that is no command", envharness.ClassPrecondition},
		{"nothing", "", "the text is missing", envharness.ClassBadArgs},
		{"null", "null", "no object", envharness.ClassBadArgs},
		{"a number", `{"text":1}`, "no string", envharness.ClassBadArgs},
		{"a null text", `{"text":null}`, "no string", envharness.ClassBadArgs},
		{"one more", `{"text":"look","why":"so"}`, "an unknown argument", envharness.ClassBadArgs},
		{"another key", `{"command":"look"}`, "the text is missing", envharness.ClassBadArgs},
		{"cut off", `{"text":"look"`, "no JSON", envharness.ClassBadArgs},
		{"two values", `{"text":"look"}{}`, "no JSON", envharness.ClassBadArgs},
		{"a plain start", `{"text":"look","text":"}`, "no JSON", envharness.ClassBadArgs},
		{"a list", `["look"]`, "no object", envharness.ClassBadArgs},
	}
	for _, tt := range tests {
		e := mustEpisode(t, flat())
		r := e.Step(envharness.Action{Name: toolName, Args: []byte(tt.args)})
		var class envharness.ErrorClass
		if r.Refusal != nil {
			class = r.Refusal.Class
		}
		if class != tt.class || tt.reason == "" {
			t.Errorf("%s: class %q, want %q (%s)", tt.name, class, tt.class, tt.reason)
		}
		if class != "" && e.Text() != nothingHappens {
			t.Errorf("%s: text %q", tt.name, e.Text())
		}
	}
	e := mustEpisode(t, flat())
	for _, name := range []string{"", "Do", "look", "go to desk 1"} {
		r := e.Step(envharness.Action{Name: name, Args: []byte(`{"text":"look"}`)})
		if r.Refusal == nil || r.Refusal.Class != envharness.ClassUnknownTool || e.Text() != nothingHappens {
			t.Errorf("tool %q: %+v, text %q, want unknown_tool", name, r.Refusal, e.Text())
		}
	}
}

func TestLegacyPut(t *testing.T) {
	for _, legacy := range []bool{true, false} {
		known := New(&Options{LegacyPut: legacy}).Describe().Vocabulary
		if slices.Contains(known, "/") != legacy { // it is told after a rewind
			t.Errorf("LegacyPut %t: vocabulary %q", legacy, known)
		}
	}
	e, err := newEpisode(flat(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"go to countertop 1", "take mug 1 from countertop 1", "put mug 1 in/on countertop 1"} {
		if r := e.Step(act(c)); r.Refusal != nil {
			t.Fatalf("%s: %+v", c, r.Refusal)
		}
	}
	if want := "You move the mug 1 to the countertop 1."; e.Text() != want {
		t.Errorf("text %q, want %q", e.Text(), want)
	}
	if r := e.Step(act("put mug 1 in/on countertop 1")); r.Refusal == nil {
		t.Error("put is carried out though nothing is held")
	}
	for _, a := range e.Actions() {
		if strings.Contains(string(a.Args), "put") {
			t.Errorf("put is listed: %s", a)
		}
	}
	for o, want := range map[Options]string{
		{}: "household", {Small: true}: "household_small", {LegacyPut: true}: "household_put", {Small: true, LegacyPut: true}: "household_small_put",
	} {
		if got := New(&o).Describe().Name; got != want {
			t.Errorf("%+v: name %q, want %q", o, got, want)
		}
	}
}

// The last command is the one that reaches the goal, and none before does.
func TestGoals(t *testing.T) {
	tests := []struct {
		name     string
		goal     Goal
		move     map[string]string // objects that start elsewhere
		commands string
		reached  bool
		score    float64
		why      string // of the verdict
		reason   string
	}{
		{"simple", Goal{PickAndPlace, "mug", "shelf"}, nil, "go to countertop 1;take mug 1 from countertop 1;go to shelf 1;move mug 1 to shelf 2", true, 1, "", "any of the type"},
		{"simple, not placed", Goal{PickAndPlace, "mug", "shelf"}, nil, "go to countertop 1;take mug 1 from countertop 1;go to shelf 1", false, 0, "no mug is in a shelf", "held at the shelf"},
		{"simple, wrong object", Goal{PickAndPlace, "cd", "shelf"}, nil, "go to countertop 1;take mug 1 from countertop 1;go to shelf 1;move mug 1 to shelf 2", false, 0, "no cd is in a shelf", "another type"},
		{"clean", Goal{PickClean, "mug", "shelf"}, nil, "go to countertop 1;take mug 1 from countertop 1;go to sinkbasin 1;clean mug 1 with sinkbasin 1;go to shelf 1;move mug 1 to shelf 1", true, 1, "", "clean and placed"},
		{"placed dirty", Goal{PickClean, "mug", "shelf"}, nil, "go to countertop 1;take mug 1 from countertop 1;go to shelf 1;move mug 1 to shelf 1", false, .5, "no mug that is clean is in a shelf", "half of it"},
		{"clean in hand", Goal{PickClean, "mug", "shelf"}, nil, "go to countertop 1;take mug 1 from countertop 1;go to sinkbasin 1;clean mug 1 with sinkbasin 1", false, .5, "no mug that is clean is in a shelf", "half of it"},
		{"another one is clean", Goal{PickClean, "apple", "microwave"}, nil, "go to countertop 1;take apple 1 from countertop 1;go to sinkbasin 1;clean apple 1 with sinkbasin 1", false, .5, "no apple that is clean is in a microwave", "apple 2 is in the microwave, apple 1 is clean"},
		{"heat", Goal{PickHeat, "potato", "garbagecan"}, nil, "go to fridge 1;open fridge 1;take potato 1 from fridge 1;go to microwave 1;heat potato 1 with microwave 1;go to garbagecan 1;move potato 1 to garbagecan 1", true, 1, "", "hot and placed"},
		{"heated and cooled", Goal{PickHeat, "apple", "garbagecan"}, nil, "go to countertop 1;take apple 1 from countertop 1;go to microwave 1;heat apple 1 with microwave 1;go to fridge 1;cool apple 1 with fridge 1;go to garbagecan 1;move apple 1 to garbagecan 1", false, .5, "no apple that is hot is in a garbagecan", "not hot any more"},
		{"cooled and heated", Goal{PickCool, "apple", "garbagecan"}, nil, "go to countertop 1;take apple 1 from countertop 1;go to fridge 1;cool apple 1 with fridge 1;go to microwave 1;heat apple 1 with microwave 1;go to garbagecan 1;move apple 1 to garbagecan 1", false, .5, "no apple that is cool is in a garbagecan", "not cool any more"},
		{"cool", Goal{PickCool, "mug", "countertop"}, nil, "go to countertop 1;take mug 1 from countertop 1;go to fridge 1;cool mug 1 with fridge 1;go to countertop 1;move mug 1 to countertop 1", true, 1, "", "back where it was"},
		{"two, where none can be", Goal{PickTwo, "apple", "shelf"}, map[string]string{"apple 2": "shelf 2"}, "go to countertop 1;take apple 1 from countertop 1;go to shelf 1;move apple 1 to shelf 2", false, .5, "", "a shelf takes no apple"},
		{"two", Goal{PickTwo, "apple", "fridge"}, map[string]string{"apple 2": "fridge 1"}, "go to countertop 1;take apple 1 from countertop 1;go to fridge 1;open fridge 1;move apple 1 to fridge 1", true, 1, "", "both in the same"},
		{"look", Goal{LookInLight, "book", "desklamp"}, nil, "go to shelf 1;take book 1 from shelf 1;go to desk 1;use desklamp 1", true, 1, "", "held where the lamp is switched"},
		{"lamp first", Goal{LookInLight, "cd", "desklamp"}, nil, "go to desk 1;use desklamp 1;take cd 1 from desk 1", true, 1, "", "the flag stays"},
		{"arrive at a lamp", Goal{LookInLight, "book", "desklamp"}, nil, "go to desk 1;use desklamp 1;go to shelf 1;take book 1 from shelf 1;go to desk 1", true, 1, "", "going there is the last thing"},
		{"lamp off again", Goal{LookInLight, "cd", "desklamp"}, nil, "go to desk 1;use desklamp 1;use desklamp 1;take cd 1 from desk 1", true, 1, "", "the flag stays set, as ALFWorld's isToggled"},
		{"lamp not switched", Goal{LookInLight, "cd", "desklamp"}, nil, "go to desk 1;take cd 1 from desk 1", false, 1. / 3, "no cd is held at a desklamp that was switched", "held"},
		{"lamp left", Goal{LookInLight, "book", "desklamp"}, nil, "go to desk 1;use desklamp 1;go to shelf 1;take book 1 from shelf 1", false, 2. / 3, "no book is held at a desklamp that was switched", "held and switched, but elsewhere"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := flat()
			s.Goal = tt.goal
			for i, o := range s.Objects {
				if to, ok := tt.move[o.Name]; ok {
					s.Objects[i].In = to
				}
			}
			e := mustEpisode(t, s)
			commands := strings.Split(tt.commands, ";")
			for i, c := range commands {
				if v := e.Verdict(); v.Status != envharness.Fail || v.Score >= 1 || v.Reason == "" {
					t.Errorf("before %q: verdict %+v", c, v)
				}
				r := e.Step(act(c))
				if done := tt.reached && i == len(commands)-1; r.Ended != done || r.Reward != truth(done) {
					t.Errorf("%q: ended %v with reward %v (%s)", c, r.Ended, r.Reward, tt.reason)
				}
			}
			v := e.Verdict()
			if (v.Status == envharness.Pass) != tt.reached || v.Score < tt.score-1e-12 || v.Score > tt.score+1e-12 || tt.why != "" && v.Reason != tt.why {
				t.Errorf("verdict %+v, want score %v, reason %q (%s)", v, tt.score, tt.why, tt.reason)
			}
		})
	}
}

// An object in two receptacles can be taken from either, stays in the other, and counts in both.
func TestAlso(t *testing.T) {
	s := Scene{
		Receptacles: []Receptacle{{Name: "coffeemachine 1", Location: 1}, {Name: "countertop 1", Location: 2}, {Name: "microwave 1", Location: 3}},
		Objects:     []Object{{Name: "mug 1", In: "countertop 1", Also: []string{"coffeemachine 1"}}},
		Goal:        Goal{PickHeat, "mug", "coffeemachine"},
	}
	e := mustEpisode(t, s)
	plan, err := e.Plan()
	if err != nil || len(plan) != 4 {
		t.Fatalf("plan %v, %v; want 4 commands, as the mug stays in the coffeemachine", plan, err)
	}
	for i, c := range []string{"go to countertop 1", "take mug 1 from countertop 1", "go to microwave 1", "heat mug 1 with microwave 1"} {
		if r := e.Step(act(c)); r.Refusal != nil || r.Ended != (i == 3) {
			t.Errorf("%s: %+v", c, r)
		}
		if i == 1 {
			if e.Step(act("go to coffeemachine 1")); e.Text() != "You arrive at coffeemachine 1. On the coffeemachine 1, you see a mug 1." {
				t.Errorf("text %q", e.Text())
			}
			if r := e.Step(act("take mug 1 from coffeemachine 1")); r.Refusal == nil {
				t.Error("a second object is in the hand")
			}
		}
	}
}

// The list of commands is that of all applicable ones, sorted, each once, in scenes of all kinds.
func TestActionsAreTheApplicableCommands(t *testing.T) {
	t.Parallel()
	r := envharness.RandStream(4, "test/actions", 0)
	for _, p := range []*preset{&fullPreset, &smallPreset} {
		everyTask(t, p, 301, func(id string, _ task, s Scene) {
			e := mustEpisode(t, s)
			for range 30 {
				var want []string
				for v := range verbs {
					for c := range everyCommand(e, v) {
						if e.applicable(c) {
							want = append(want, string(e.appendCommand(nil, c)))
						}
					}
				}
				slices.Sort(want)
				var got []string
				list := e.Actions()
				for _, a := range list {
					got = append(got, strings.TrimPrefix(a.Text(), toolName+" "))
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("%s: %s\ncommands (-want +got):\n%s", id, e.AppendState(nil), d)
				}
				if e.Step(list[r.IntN(len(list))]).Ended {
					break
				}
			}
		})
	}
}

// everyCommand yields all commands with a verb that name what there is.
func everyCommand(e *episode, v verb) iter.Seq[command] {
	receptacles, objects := len(e.receptacles), len(e.objects)
	return func(yield func(command) bool) {
		c := command{v, -1, -1}
		each := func(n int, x *int, then func() bool) bool {
			for *x = range n {
				if !then() {
					return false
				}
			}
			*x = -1
			return true
		}
		give := func() bool { return yield(c) }
		switch v {
		case help, inventory, look:
			give()
		case goTo, openIt, closeIt:
			each(receptacles, &c.r, give)
		case use:
			each(objects, &c.o, give)
		case examine:
			_ = each(receptacles, &c.r, give) && each(objects, &c.o, give)
		case slice:
			each(objects, &c.r, func() bool { return each(objects, &c.o, give) })
		default:
			each(receptacles, &c.r, func() bool { return each(objects, &c.o, give) })
		}
	}
}
