package household_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/household"
)

// On random states the admissible commands are those of all conceivable ones that the rules allow, in the order of strings; each of them leads to
// the state that the rules say, tells what they say, and ends the episode when the goal holds; every other one is answered "Nothing happens." and changes nothing but
// the turn.
func TestAdmissibleEqualsRules(t *testing.T) {
	t.Parallel()
	want := 10_000
	if testing.Short() {
		want = 1_000
	}
	r := rand.New(rand.NewPCG(6, 20))
	var apply []spoken
	count := map[string]int{} // carried out, by verb
	states, refused, reached, scenes := 0, 0, 0, 0
	for ; states < want; scenes++ {
		scene := randomScene(r)
		all := conceivable(scene)
		env, obs := play(t, scene, nil)
		now := see(t, env, scene)
		if start := startView(scene); !sameView(now, start) {
			t.Fatalf("scene %+v\nstarts as %+v\nwant %+v", scene, now, start)
		}
		for over := false; !over; states++ {
			apply := apply[:0]
			for _, c := range all {
				if now.applicable(c.verb, c.x, c.y) {
					apply = append(apply, c)
				}
			}
			slices.SortFunc(apply, func(a, b spoken) int { return strings.Compare(a.text, b.text) })
			if got, want := texts(t, obs.Actions), spokenTexts(apply); !slices.Equal(got, want) {
				t.Fatalf("state %+v\nadmissible %q\nwant       %q", now, got, want)
			}
			c := choose(r, apply)
			if r.IntN(4) == 0 {
				c = all[r.IntN(len(all))] // one of the others, nearly always
				for range 200 {           // and mostly of what is within reach
					if now.near(c.x) && (c.y == "" || now.near(c.y)) && !now.applicable(c.verb, c.x, c.y) {
						break
					}
					c = all[r.IntN(len(all))]
				}
			}
			if k := slices.IndexFunc(apply, func(c spoken) bool { return now.after(c).reached() }); k >= 0 && r.IntN(4) == 0 {
				c = apply[k]
			}
			applies := slices.Contains(apply, c)
			tr := step(t, env, c.text)
			next := now
			if applies {
				next = now.after(c)
				count[c.verb]++
			} else {
				refused++
			}
			now = see(t, env, scene)
			switch {
			case !sameView(now, next):
				t.Fatalf("%s leads to %+v\nwant %+v", c.text, now, next)
			case applies != (tr.Error == nil):
				t.Fatalf("%s in state %+v: error %+v", c.text, now, tr.Error)
			case !applies && (tr.Error.Class != envharness.ClassPrecondition || tr.Observation.Text != "Nothing happens." || tr.Reward != 0):
				t.Fatalf("%s in state %+v is refused with %+v", c.text, now, tr)
			case applies && c.verb == "help" && !aboutHelp(tr.Observation.Text):
				t.Fatalf("help tells %q", tr.Observation.Text)
			case applies && c.verb != "help" && !read(tr.Observation.Text).equal(now.tells(c)):
				t.Fatalf("%s in state %+v tells %q\nwant %+v", c.text, now, tr.Observation.Text, now.tells(c))
			case tr.Terminated != now.reached() || (tr.Reward == 1) != tr.Terminated:
				t.Fatalf("%s in state %+v: terminated %v with reward %v, goal %v", c.text, now, tr.Terminated, tr.Reward, now.reached())
			}
			if tr.Terminated {
				reached++
			}
			obs, over = tr.Observation, tr.Ended()
		}
	}
	t.Logf("%d states of %d scenes, %d goals reached, %d refused, carried out %v", states, scenes, reached, refused, count)
	for _, v := range append(verbs, verbs[0]) {
		if count[v.verb] < want/500 {
			t.Errorf("%q was carried out %d times only", v.verb, count[v.verb])
		}
	}
	if refused < want/10 || reached < want/1000 {
		t.Errorf("%d refusals and %d goals reached are too few", refused, reached)
	}
}

// Every admissible command is accepted, from one and the same state.
func TestEveryAdmissibleIsAccepted(t *testing.T) {
	t.Parallel()
	episodes := 30
	if testing.Short() {
		episodes = 6
	}
	r := rand.New(rand.NewPCG(6, 21))
	tried := 0
	for range episodes {
		scene := randomScene(r)
		env, obs := play(t, scene, nil)
		fork, _ := play(t, scene, nil)
		for over := false; !over; {
			snapshot, err := env.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(10) == 0 {
				for _, a := range obs.Actions {
					if err := fork.Restore(t.Context(), snapshot); err != nil {
						t.Fatal(err)
					}
					tr, err := fork.Step(t.Context(), a)
					if err != nil || tr.Error != nil {
						t.Fatalf("%s: %v %+v", a, err, tr.Error)
					}
					tried++
				}
			}
			tr, err := env.Step(t.Context(), obs.Actions[r.IntN(len(obs.Actions))])
			if err != nil {
				t.Fatal(err)
			}
			obs, over = tr.Observation, tr.Ended()
		}
	}
	if tried < 50*episodes {
		t.Errorf("%d commands tried", tried)
	}
}

// The tables are those of the rules: each type of objects, in hand, can be put into, cleaned, heated, cooled and sliced where they say so, and in no
// other receptacle.
func TestTables(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("some four million commands are judged")
	}
	kinds := strings.Fields(onTables + " pillow")
	pairs := 0
	for _, kind := range slices.Sorted(maps.Keys(takes)) {
		for group := range slices.Chunk(kinds, 20) {
			// An ottoman takes everything back. All is at the same place and open.
			scene := household.Scene{
				Receptacles: []household.Receptacle{{Name: "ottoman 1", Location: 2}, {Name: kind + " 2", Location: 2, Open: is(opening, kind)}, {Name: "bed 3", Location: 1}},
				Objects:     []household.Object{{Name: "desklamp 1", In: "bed 3"}},
				Goal:        household.Goal{Kind: household.LookInLight, Object: "pen", Receptacle: "desklamp"},
			}
			for _, object := range group {
				scene.Objects = append(scene.Objects, household.Object{Name: object + " 1", In: "ottoman 1"})
			}
			all := conceivable(scene)
			env, _ := play(t, scene, nil)
			step(t, env, "go to ottoman 1")
			for _, object := range group {
				obs := step(t, env, "take "+object+" 1 from ottoman 1").Observation
				now := see(t, env, scene)
				apply := slices.DeleteFunc(slices.Clone(all), func(c spoken) bool { return !now.applicable(c.verb, c.x, c.y) })
				got, want := texts(t, obs.Actions), spokenTexts(apply)
				slices.Sort(want)
				if now.holding != object+" 1" || !slices.Equal(got, want) {
					t.Errorf("%s in hand at a %s\nadmissible %q\nwant       %q", object, kind, got, want)
				}
				step(t, env, "move "+object+" 1 to ottoman 1")
				pairs++
			}
		}
	}
	if pairs != 26*50 { // lamps stay where they are
		t.Errorf("%d pairs of types", pairs)
	}
}

// What is not precisely a command is refused: nothing is trimmed, guessed or lowered in case.
func TestNearlyCommands(t *testing.T) {
	scene := household.Scene{
		Receptacles: []household.Receptacle{{Name: "shelf 1", Location: 2}, {Name: "drawer 1", Location: 2}, {Name: "desk 1", Location: 1}},
		Objects:     []household.Object{{Name: "mug 1", In: "shelf 1"}, {Name: "desklamp 1", In: "desk 1"}},
		Goal:        household.Goal{Kind: household.PickAndPlace, Object: "mug", Receptacle: "desk"},
	}
	env, _ := play(t, scene, nil)
	step(t, env, "go to shelf 1")
	for _, text := range []string{
		"", " ", "look ", " look", "Look", "look around", "inventory 1", "help me", "go", "go to", "go to ", "go to desk", "go to desk 01", "go to desk 2",
		"go to  desk 1", "go to shelf 1", "goto desk 1", "go desk 1", "go to mug 1", "take mug 1", "take mug 1 from", "take mug 1 from shelf", "take mug 1 from desk 1",
		"take mug 1 from shelf 1 ", "take mug 1 from shelf 1 from shelf 1", "take shelf 1 from mug 1", "move mug 1 to desk 1", "put mug 1 in/on shelf 1",
		"open shelf 1", "open drawer", "close drawer 1", "use desklamp 1", "use mug 1", "examine desk 1", "examine", "slice mug 1 with mug 1", "do look",
		"take mug 1 with shelf 1", "go to desk 1\n", "go to desk\t1", "GO TO DESK 1", "go to desk +1", "go to desk 1.0", "go to desk １",
	} {
		before := see(t, env, scene)
		fork, _ := play(t, scene, nil)
		step(t, fork, "go to shelf 1")
		if tr := step(t, fork, text); tr.Error == nil || tr.Observation.Text != "Nothing happens." || !sameView(see(t, fork, scene), before) {
			t.Errorf("%q: error %+v, text %q", text, tr.Error, tr.Observation.Text)
		}
	}
}

// choose takes a verb of the applicable commands first, so that no rule is drowned by the many ways to go.
func choose(r *rand.Rand, apply []spoken) spoken {
	var kinds []string
	for _, c := range apply {
		if !slices.Contains(kinds, c.verb) && (c.x != "" || r.IntN(4) == 0) {
			kinds = append(kinds, c.verb)
		}
	}
	if len(kinds) == 0 {
		return apply[r.IntN(len(apply))]
	}
	kind := kinds[r.IntN(len(kinds))]
	own := slices.DeleteFunc(slices.Clone(apply), func(c spoken) bool { return c.verb != kind })
	return own[r.IntN(len(own))]
}

func texts(t *testing.T, actions []envharness.Action) []string {
	t.Helper()
	list := make([]string, len(actions))
	for i, a := range actions {
		list[i] = a.Text()
		if a.Name != "do" {
			t.Fatalf("action %s", a)
		}
		list[i] = list[i][len("do "):]
	}
	return list
}

func spokenTexts(list []spoken) []string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.text
	}
	return out
}
