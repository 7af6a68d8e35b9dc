package walkthrough

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/envharness/envs/household"
)

func TestScene(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		id           string
		actions      []string
		want         household.Scene
		cause        string // of Replay
	}{
		{
			name:    "cool",
			reason:  "a fridge that is opened is closed at first; everything has a location of its own",
			id:      "pick_cool_then_place_in_recep-Apple-None-CounterTop-3_trial_a",
			actions: []string{"go to fridge 1", "open fridge 1", "take apple 2 from fridge 1", "cool apple 2 with fridge 1", "go to countertop 1", "move apple 2 to countertop 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{{Name: "fridge 1", Location: 1}, {Name: "countertop 1", Location: 2}},
				Objects:     []household.Object{{Name: "apple 2", In: "fridge 1"}},
				Goal:        household.Goal{Kind: household.PickCool, Object: "apple", Receptacle: "countertop"},
			},
		},
		{
			name:    "shared",
			reason:  "who goes to drawer 2 and takes from desk 1 and drawer 1 finds them at the same place; drawer 1 was open",
			id:      "pick_two_obj_and_place-Pen-None-Shelf-3_trial_a",
			actions: []string{"go to shelf 1", "go to drawer 2", "take pen 1 from drawer 1", "go to shelf 1", "move pen 1 to shelf 1", "go to drawer 2", "take pen 2 from desk 1", "go to shelf 1", "move pen 2 to shelf 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{
					{Name: "shelf 1", Location: 1}, {Name: "drawer 2", Location: 2}, {Name: "drawer 1", Location: 2, Open: true}, {Name: "desk 1", Location: 2},
				},
				Objects: []household.Object{{Name: "pen 1", In: "drawer 1"}, {Name: "pen 2", In: "desk 1"}},
				Goal:    household.Goal{Kind: household.PickTwo, Object: "pen", Receptacle: "shelf"},
			},
		},
		{
			name:    "lamp",
			reason:  "a lamp is where it is switched",
			id:      "look_at_obj_in_light-Book-None-DeskLamp-303_trial_a",
			actions: []string{"go to desk 1", "use desklamp 1", "take book 1 from desk 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{{Name: "desk 1", Location: 1}},
				Objects:     []household.Object{{Name: "desklamp 1", In: "desk 1"}, {Name: "book 1", In: "desk 1"}},
				Goal:        household.Goal{Kind: household.LookInLight, Object: "book", Receptacle: "desklamp"},
			},
		},
		{
			name:    "two places",
			reason:  "the heated mug is never put down, so it lay in the coffeemachine as well",
			id:      "pick_heat_then_place_in_recep-Mug-None-CoffeeMachine-3_trial_a",
			actions: []string{"go to countertop 1", "take mug 1 from countertop 1", "go to microwave 1", "heat mug 1 with microwave 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{
					{Name: "countertop 1", Location: 1}, {Name: "microwave 1", Location: 2}, {Name: "coffeemachine 1", Location: 1},
				},
				Objects: []household.Object{{Name: "mug 1", In: "countertop 1", Also: []string{"coffeemachine 1"}}},
				Goal:    household.Goal{Kind: household.PickHeat, Object: "mug", Receptacle: "coffeemachine"},
			},
		},
		{
			name:    "two burners",
			reason:  "the pan is taken from a burner of the goal's type, so it lay on another one, the first that is not known to be elsewhere",
			id:      "pick_clean_then_place_in_recep-Pan-None-StoveBurner-3_trial_a",
			actions: []string{"go to stoveburner 1", "go to stoveburner 4", "take pan 1 from stoveburner 2", "go to sinkbasin 1", "clean pan 1 with sinkbasin 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{
					{Name: "stoveburner 1", Location: 1}, {Name: "stoveburner 4", Location: 2}, {Name: "stoveburner 2", Location: 2},
					{Name: "sinkbasin 1", Location: 4}, {Name: "stoveburner 3", Location: 2},
				},
				Objects: []household.Object{{Name: "pan 1", In: "stoveburner 2", Also: []string{"stoveburner 3"}}},
				Goal:    household.Goal{Kind: household.PickClean, Object: "pan", Receptacle: "stoveburner"},
			},
		},
		{
			name:    "merged",
			reason:  "that drawer 1 is with drawer 2 is learned last, and the desk was with drawer 1",
			id:      "pick_and_place_simple-Pen-None-Shelf-3_trial_a",
			actions: []string{"go to drawer 1", "take pen 1 from desk 1", "go to shelf 1", "go to drawer 2", "open drawer 1", "go to shelf 1", "move pen 1 to shelf 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{
					{Name: "drawer 1", Location: 4}, {Name: "desk 1", Location: 4}, {Name: "shelf 1", Location: 3}, {Name: "drawer 2", Location: 4},
				},
				Objects: []household.Object{{Name: "pen 1", In: "desk 1"}},
				Goal:    household.Goal{Kind: household.PickAndPlace, Object: "pen", Receptacle: "shelf"},
			},
		},
		{
			name:    "treated otherwise",
			reason:  "a mug that was cleaned is not hot, so nothing explains the end",
			id:      "pick_heat_then_place_in_recep-Mug-None-CoffeeMachine-3_trial_a",
			actions: []string{"go to countertop 1", "take mug 1 from countertop 1", "go to sinkbasin 1", "clean mug 1 with sinkbasin 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{{Name: "countertop 1", Location: 1}, {Name: "sinkbasin 1", Location: 2}},
				Objects:     []household.Object{{Name: "mug 1", In: "countertop 1"}},
				Goal:        household.Goal{Kind: household.PickHeat, Object: "mug", Receptacle: "coffeemachine"},
			},
			cause: "the goal is not reached",
		},
		{
			name:    "not reached",
			reason:  "a pen is no mug, and nothing is added that would help",
			id:      "pick_and_place_simple-Mug-None-Desk-303_trial_a",
			actions: []string{"go to shelf 1", "take pen 1 from shelf 1", "go to desk 1", "move pen 1 to desk 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{{Name: "shelf 1", Location: 1}, {Name: "desk 1", Location: 2}},
				Objects:     []household.Object{{Name: "pen 1", In: "shelf 1"}},
				Goal:        household.Goal{Kind: household.PickAndPlace, Object: "mug", Receptacle: "desk"},
			},
			cause: "the goal is not reached",
		},
		{
			name:    "refused",
			reason:  "nobody can lay a pillow into a fridge",
			id:      "pick_and_place_simple-Pillow-None-Fridge-3_trial_a",
			actions: []string{"go to sofa 1", "take pillow 1 from sofa 1", "go to fridge 1", "open fridge 1", "move pillow 1 to fridge 1"},
			want: household.Scene{
				Receptacles: []household.Receptacle{{Name: "sofa 1", Location: 1}, {Name: "fridge 1", Location: 2}},
				Objects:     []household.Object{{Name: "pillow 1", In: "sofa 1"}},
				Goal:        household.Goal{Kind: household.PickAndPlace, Object: "pillow", Receptacle: "fridge"},
			},
			cause: "refused: move to fridge",
		},
		{
			name:    "too early",
			reason:  "the pen is on the desk before the last command",
			id:      "pick_and_place_simple-Pen-None-Desk-303_trial_a",
			actions: []string{"go to shelf 1", "take pen 1 from shelf 1", "go to desk 1", "move pen 1 to desk 1", "look"},
			want: household.Scene{
				Receptacles: []household.Receptacle{{Name: "shelf 1", Location: 1}, {Name: "desk 1", Location: 2}},
				Objects:     []household.Object{{Name: "pen 1", In: "shelf 1"}},
				Goal:        household.Goal{Kind: household.PickAndPlace, Object: "pen", Receptacle: "desk"},
			},
			cause: "the goal is reached before the last command",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, _, _ := strings.Cut(c.id, "-")
			g := Game{c.id, household.Kind(kind), c.actions}
			got, err := Scene(g)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || c.reason == "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			if cause, err := Replay(t.Context(), g); err != nil || cause != c.cause {
				t.Errorf("Replay = %q, %v, want %q: %s", cause, err, c.cause, c.reason)
			}
		})
	}
}

func TestSceneRefuses(t *testing.T) {
	const id = "pick_and_place_simple-Pen-None-Desk-303_trial_a"
	for reason, g := range map[string]Game{
		"nothing was gone to":        {id, household.PickAndPlace, []string{"take pen 1 from desk 1"}},
		"taken from two receptacles": {id, household.PickAndPlace, []string{"go to desk 1", "take pen 1 from desk 1", "move pen 1 to desk 1", "take pen 1 from shelf 1"}},
		"taken twice":                {id, household.PickAndPlace, []string{"go to desk 1", "take pen 1 from desk 1", "take pen 1 from desk 1"}},
		"moved and not held":         {id, household.PickAndPlace, []string{"go to desk 1", "move pen 1 to desk 1"}},
		"sliced":                     {id, household.PickAndPlace, []string{"go to desk 1", "slice apple 1 with knife 1"}},
		"no command":                 {id, household.PickAndPlace, []string{"dance"}},
		"another kind":               {id, household.PickTwo, []string{"go to desk 1"}},
	} {
		if _, err := Scene(g); err == nil {
			t.Errorf("%s: no error", reason)
		}
		if cause, err := Replay(t.Context(), g); err != nil || cause != "no scene fits the commands" {
			t.Errorf("%s: Replay = %q, %v", reason, cause, err)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]command{
		"look": {verb: "look"}, "inventory": {verb: "inventory"}, "help": {verb: "help"},
		"go to shelf 10":           {"go", "", "shelf 10"},
		"open safe 1":              {"open", "", "safe 1"},
		"close safe 1":             {"close", "", "safe 1"},
		"use desklamp 1":           {"use", "desklamp 1", ""},
		"examine mug 99":           {"examine", "mug 99", ""},
		"take mug 1 from shelf 2":  {"take", "mug 1", "shelf 2"},
		"move mug 1 to shelf 2":    {"move", "mug 1", "shelf 2"},
		"clean mug 1 with sink 2":  {"clean", "mug 1", "sink 2"},
		"heat mug 1 with sink 2":   {"heat", "mug 1", "sink 2"},
		"cool mug 1 with sink 2":   {"cool", "mug 1", "sink 2"},
		"slice egg 1 with knife 2": {"slice", "egg 1", "knife 2"},
	} {
		if got, ok := parse(text); !ok || got != want {
			t.Errorf("parse(%q) = %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", " ", "go", "go to", "go to shelf", "go to shelf 0", "go to shelf 01", "go to shelf 100", "go to Shelf 1", "go  to shelf 1", "go to shelf 1 ", "open",
		"take mug 1", "take mug 1 to shelf 1", "move mug 1 from shelf 1", "put mug 1 on shelf 1", "walk mug 1  shelf 1", "heat mug 1 with", "look 1", "dance",
		"go to shelf +1", "go to shelf 1\n", "go to " + strings.Repeat("x", 41) + " 1",
	} {
		if c, ok := parse(text); ok {
			t.Errorf("parse(%q) = %+v", text, c)
		}
	}
}

// encode writes games as a file of walkthroughs.
func encode(games ...Game) string {
	type game struct {
		ID      string         `json:"id"`
		Kind    household.Kind `json:"task_type"`
		Actions []string       `json:"actions"`
	}
	list, kinds, total := []game{}, map[household.Kind]int{}, 0
	for _, g := range games {
		list = append(list, game(g))
		kinds[g.Kind]++
		total += len(g.Actions)
	}
	mean := 0.0
	if total > 0 {
		mean = float64(total) / float64(len(games))
	}
	data, err := json.Marshal(map[string]any{"trajectories": list, "metadata": map[string]any{
		"source": "test", "total_trajectories": len(games), "total_actions": total, "average_actions": mean, "task_type_distribution": kinds,
	}})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestDecode(t *testing.T) {
	a := Game{"pick_and_place_simple-Pen-None-Desk-303_trial_a", household.PickAndPlace, []string{"go to desk 1", "look"}}
	b := Game{"look_at_obj_in_light-Book-None-DeskLamp-303_trial_b", household.LookInLight, []string{"help"}}
	for _, games := range [][]Game{{}, {a}, {a, b}} {
		if got, err := decode([]byte(encode(games...))); err != nil || cmp.Diff(games, got) != "" {
			t.Errorf("%v come back as %v, %v", games, got, err)
		}
	}
	good := encode(a, b)
	wrong := func(id string, kind household.Kind, actions ...string) string {
		return encode(a, Game{id, kind, actions})
	}
	for reason, text := range map[string]string{
		"empty": "", "no object": "[]", "cut": good[:len(good)-1], "something follows": good + "{}",
		"unknown field":        strings.Replace(good, `"id"`, `"more":1,"id"`, 1),
		"twice":                encode(a, a),
		"wrong number":         strings.Replace(good, `"total_trajectories":2`, `"total_trajectories":3`, 1),
		"wrong total":          strings.Replace(good, `"total_actions":3`, `"total_actions":4`, 1),
		"wrong mean":           strings.Replace(good, `"average_actions":1.5`, `"average_actions":1.6`, 1),
		"wrong kinds":          strings.Replace(good, `"look_at_obj_in_light":1`, `"look_at_obj_in_light":2`, 1),
		"missing kind":         strings.Replace(good, `"look_at_obj_in_light":1,`, ``, 1),
		"unknown kind":         wrong("pick-Pen-None-Desk-303_trial_b", "pick", "look"),
		"another kind":         wrong("pick_two_obj_and_place-Pen-None-Desk-303_trial_b", household.PickHeat, "look"),
		"no trial":             wrong("pick_two_obj_and_place-Pen-None-Desk-303", household.PickTwo, "look"),
		"empty trial":          wrong("pick_two_obj_and_place-Pen-None-Desk-303_trial_", household.PickTwo, "look"),
		"a movable receptacle": wrong("pick_two_obj_and_place-Pen-Cup-Desk-303_trial_b", household.PickTwo, "look"),
		"no scene":             wrong("pick_two_obj_and_place-Pen-None-Desk-x_trial_b", household.PickTwo, "look"),
		"no object type":       wrong("pick_two_obj_and_place--None-Desk-303_trial_b", household.PickTwo, "look"),
		"no actions":           wrong("pick_two_obj_and_place-Pen-None-Desk-303_trial_b", household.PickTwo),
		"too many actions":     wrong("pick_two_obj_and_place-Pen-None-Desk-303_trial_b", household.PickTwo, slices.Repeat([]string{"look"}, 51)...),
		"no command":           wrong("pick_two_obj_and_place-Pen-None-Desk-303_trial_b", household.PickTwo, "dance"),
		"too long":             good + strings.Repeat(" ", maxBytes),
	} {
		if text == good {
			t.Fatalf("%s: nothing is wrong", reason)
		}
		if _, err := decode([]byte(text)); err == nil {
			t.Errorf("%s: decoded without an error", reason)
		}
	}
	if _, err := Read("no such file"); err == nil {
		t.Error("a file that is not there is read")
	}
}

// What is decoded is complete: ids are unique, and every scene that can be built is played without an error.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(encode()))
	f.Add([]byte(encode(Game{
		"pick_heat_then_place_in_recep-Mug-None-CoffeeMachine-3_trial_a", household.PickHeat,
		[]string{"go to countertop 1", "take mug 1 from countertop 1", "go to microwave 1", "heat mug 1 with microwave 1"},
	})))
	f.Add([]byte(encode(Game{
		"look_at_obj_in_light-Book-None-DeskLamp-303_trial_a", household.LookInLight, []string{"go to desk 1", "use desklamp 1", "take book 1 from desk 1"},
	})))
	f.Fuzz(func(t *testing.T, data []byte) {
		games, err := decode(data)
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, g := range games {
			ids[g.ID] = true
			if _, err := Replay(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		if len(ids) != len(games) {
			t.Fatalf("%d ids of %d games", len(ids), len(games))
		}
	})
}
