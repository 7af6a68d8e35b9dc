package household

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func errorsIsNoTask(err error, id string) bool {
	return errors.Is(err, envharness.ErrNoTask) && strings.Contains(err.Error(), fmt.Sprintf("%q", id))
}

func TestFromSceneRefuses(t *testing.T) {
	many := func(n int) []Receptacle {
		var list []Receptacle
		for i := range n {
			list = append(list, Receptacle{Name: fmt.Sprintf("shelf %d", i+1), Location: i})
		}
		return list
	}
	tests := []struct {
		name   string
		change func(s *Scene)
		want   string // in the error; empty if it is accepted
		reason string
	}{
		{"as it is", func(*Scene) {}, "", "a scene like any other"},
		{"unknown receptacle", func(s *Scene) { s.Receptacles[0].Name = "table 1" }, `"table 1": unknown type`, "no such type"},
		{"no number", func(s *Scene) { s.Receptacles[0].Name = "countertop" }, `"countertop"`, "names have numbers"},
		{"number 0", func(s *Scene) { s.Receptacles[0].Name = "countertop 0" }, `"countertop 0"`, "numbers count from 1"},
		{"leading zero", func(s *Scene) { s.Objects[0].Name = "mug 01" }, `"mug 01"`, "one name for a thing"},
		{"huge number", func(s *Scene) { s.Objects[0].Name = "mug 99999999999999999999" }, "from 1 to 9999", "out of range"},
		{"twice", func(s *Scene) { s.Receptacles[5].Name = "shelf 1" }, `"shelf 1": the name occurs twice`, "names are unique"},
		{"object twice", func(s *Scene) { s.Objects[9].Name = "apple 1" }, `"apple 1": the name occurs twice`, "names are unique"},
		{"unknown object", func(s *Scene) { s.Objects[0].Name = "fork1 1" }, `"fork1 1": unknown type`, "no such type"},
		{"in nothing", func(s *Scene) { s.Objects[0].In = "" }, `"mug 1": no receptacle ""`, "everything is somewhere"},
		{"in an object", func(s *Scene) { s.Objects[0].In = "apple 1" }, `no receptacle "apple 1"`, "objects hold nothing"},
		{"also in nothing", func(s *Scene) { s.Objects[0].Also = []string{"shelf 3"} }, `no receptacle "shelf 3"`, "no such receptacle"},
		{"open shelf", func(s *Scene) { s.Receptacles[4].Open = true }, `"shelf 1": a shelf cannot be opened`, "not openable"},
		{"where it cannot be", func(s *Scene) { s.Objects[0].In = "bed 1" }, "", "ALFWorld has such"},
		{"lamp anywhere", func(s *Scene) { s.Objects[7].In = "fridge 1" }, "", "lamps stay where they are"},
		{"unknown kind", func(s *Scene) { s.Goal.Kind = "pick" }, `unknown kind "pick"`, "six kinds"},
		{"goal of no object", func(s *Scene) { s.Goal.Object = "statue 1" }, `"statue 1"`, "a type, not a name"},
		{"goal of a lamp", func(s *Scene) { s.Goal.Object = "desklamp" }, `"desklamp"`, "lamps cannot be taken"},
		{"goal in no receptacle", func(s *Scene) { s.Goal.Receptacle = "desklamp" }, `"desklamp"`, "a lamp is no receptacle"},
		{"goal at no lamp", func(s *Scene) { s.Goal = Goal{LookInLight, "mug", "desk"} }, `"desk" is no type of lamps`, "a desk is no lamp"},
		{"reached", func(s *Scene) { s.Goal = Goal{PickAndPlace, "mug", "countertop"} }, "reached at the start", "nothing would be to do"},
		{"reached, two", func(s *Scene) { s.Objects[9].In = "countertop 1"; s.Goal = Goal{PickTwo, "apple", "countertop"} }, "reached at the start", "nothing would be to do"},
		{"out of reach", func(s *Scene) { s.Goal = Goal{PickClean, "book", "shelf"} }, "", "ErrNoPlan tells"},
		{"empty", func(s *Scene) { s.Receptacles, s.Objects = nil, nil }, "", "an empty room"},
		{"64 receptacles", func(s *Scene) { s.Receptacles, s.Objects = many(64), nil }, "", "as many as a word has bits"},
		{"65 receptacles", func(s *Scene) { s.Receptacles, s.Objects = many(65), nil }, "65 receptacles", "one too many"},
		{"256 objects", func(s *Scene) { s.Objects = make([]Object, 256) }, "256 objects", "one too many"},
	}
	for _, tt := range tests {
		s := flat()
		tt.change(&s)
		made, err := FromScene(s, nil)
		if tt.want == "" && err == nil {
			_, err = made.New().Reset(t.Context(), envharness.ResetOptions{})
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || tt.reason == "" {
			t.Errorf("%s: error %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
		if (made == nil) != (err != nil) {
			t.Errorf("%s: simulation %v with error %v", tt.name, made, err)
		}
	}
}

func TestFromScene(t *testing.T) {
	s := flat()
	s.Goal = Goal{PickAndPlace, "mug", "shelf"}
	made, err := FromScene(s, &Options{LegacyPut: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Objects[0].In = "shelf 1" // the simulation has its own copy
	env, ctx := made.New(), t.Context()
	for _, id := range []string{"", made.DefaultTask} {
		if _, err := env.Reset(ctx, envharness.ResetOptions{Task: id}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := env.Reset(ctx, envharness.ResetOptions{Task: "other"}); !errorsIsNoTask(err, "other") {
		t.Errorf("another task: %v", err)
	}
	for _, c := range []string{"go to countertop 1", "take mug 1 from countertop 1", "go to shelf 2", "put mug 1 in/on shelf 1"} {
		tr, err := env.Step(ctx, act(c))
		if err != nil || tr.Error != nil || tr.Terminated != strings.HasPrefix(c, "put") {
			t.Fatalf("%s: %+v, %v", c, tr, err)
		}
	}
	if _, err := env.Tasks(ctx, "train"); err == nil {
		t.Error("it has splits")
	}
}

// Each scene is a world of its own: another one's snapshots and evidence are not taken. How a scene is written down is of no account.
func TestSceneIdentity(t *testing.T) {
	ctx := t.Context()
	base := Scene{
		Receptacles: []Receptacle{{Name: "shelf 1", Location: 3}, {Name: "drawer 1", Location: 3}, {Name: "bed 1", Location: 7}},
		Objects:     []Object{{Name: "pen 1", In: "bed 1", Also: []string{"shelf 1", "drawer 1"}}, {Name: "book 1", In: "bed 1"}},
		Goal:        Goal{PickAndPlace, "book", "shelf"},
	}
	made, err := FromScene(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile("^scene-[0-9a-f]{16}$"); !want.MatchString(made.DefaultTask) {
		t.Errorf("task %q, want %s", made.DefaultTask, want)
	}
	env := made.New()
	if _, err := env.Reset(ctx, envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	snapshot, err := env.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(s *Scene)
		same   bool
		reason string
	}{
		{"as it is", func(*Scene) {}, true, "the same scene"},
		{"order", func(s *Scene) {
			slices.Reverse(s.Receptacles)
			slices.Reverse(s.Objects)
			slices.Reverse(s.Objects[1].Also)
		}, true, "lists are sets"},
		{"locations", func(s *Scene) {
			s.Receptacles[0].Location, s.Receptacles[1].Location, s.Receptacles[2].Location = -1, -1, 9
		}, true, "only which are the same counts"},
		{"also twice", func(s *Scene) { s.Objects[0].Also = append(s.Objects[0].Also, "bed 1", "shelf 1") }, true, "it is there anyway"},
		{"apart", func(s *Scene) { s.Receptacles[0].Location = 4 }, false, "another location"},
		{"open", func(s *Scene) { s.Receptacles[1].Open = true }, false, "another start"},
		{"elsewhere", func(s *Scene) { s.Objects[1].In = "drawer 1" }, false, "another start"},
		{"only there", func(s *Scene) { s.Objects[0].Also = nil }, false, "another start"},
		{"swapped", func(s *Scene) { s.Objects[0].In, s.Objects[0].Also[0] = "shelf 1", "bed 1" }, false, "a component can move it from In only"},
		{"one more", func(s *Scene) { s.Receptacles = append(s.Receptacles, Receptacle{Name: "bed 2"}) }, false, "another room"},
		{"goal", func(s *Scene) { s.Goal.Receptacle = "drawer" }, false, "another task"},
	} {
		s := base
		s.Receptacles, s.Objects = slices.Clone(s.Receptacles), slices.Clone(s.Objects)
		s.Objects[0].Also = slices.Clone(s.Objects[0].Also)
		tt.change(&s)
		other, err := FromScene(s, nil)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if (other.DefaultTask == made.DefaultTask) != tt.same || tt.reason == "" {
			t.Errorf("%s: task %s, want the same as %s: %v (%s)", tt.name, other.DefaultTask, made.DefaultTask, tt.same, tt.reason)
		}
		fork := other.New()
		if _, err := fork.Reset(ctx, envharness.ResetOptions{}); err != nil {
			t.Fatal(tt.name, err)
		}
		if err := fork.Restore(ctx, snapshot); (err == nil) != tt.same {
			t.Errorf("%s: the snapshot is restored with %v (%s)", tt.name, err, tt.reason)
		}
	}
	for o, want := range map[Options]string{
		{}: "household_scene", {Small: true}: "household_scene_small", {LegacyPut: true}: "household_scene_put",
		{Small: true, LegacyPut: true}: "household_scene_small_put",
	} {
		if made, err := FromScene(base, &o); err != nil || made.Description.Name != want {
			t.Errorf("%+v: name %q, %v; want %q", o, made.Description.Name, err, want)
		}
	}
}

// The state tells everything, with sorted keys.
func TestState(t *testing.T) {
	s := Scene{
		Receptacles: []Receptacle{{Name: "desk 1", Location: 1}, {Name: "drawer 1", Location: 1}, {Name: "safe 1", Location: 2, Open: true}},
		Objects:     []Object{{Name: "watch 1", In: "safe 1"}, {Name: "desklamp 1", In: "desk 1"}},
		Goal:        Goal{LookInLight, "watch", "desklamp"},
	}
	const goal = `"goal":{"kind":"look_at_obj_in_light","object":"watch","receptacle":"desklamp"}`
	e := mustEpisode(t, s)
	tests := []struct{ command, want string }{
		{"look", `{"at":"",` + goal + `,"holding":"","objects":{"desklamp 1":{"in":["desk 1"],"on":false,"switched":false},` +
			`"watch 1":{"clean":false,"cool":false,"hot":false,"in":["safe 1"],"sliced":false}},"open":{"drawer 1":false,"safe 1":true}}`},
		{"go to safe 1", ""},
		{"take watch 1 from safe 1", ""},
		{"close safe 1", `{"at":"safe 1",` + goal + `,"holding":"watch 1","objects":{"desklamp 1":{"in":["desk 1"],"on":false,"switched":false},` +
			`"watch 1":{"clean":false,"cool":false,"hot":false,"in":[],"sliced":false}},"open":{"drawer 1":false,"safe 1":false}}`},
		{"go to drawer 1", ""},
		{"use desklamp 1", `{"at":"drawer 1",` + goal + `,"holding":"watch 1","objects":{"desklamp 1":{"in":["desk 1"],"on":true,"switched":true},` +
			`"watch 1":{"clean":false,"cool":false,"hot":false,"in":[],"sliced":false}},"open":{"drawer 1":false,"safe 1":false}}`},
	}
	for _, tt := range tests {
		if r := e.Step(act(tt.command)); r.Refusal != nil {
			t.Fatal(tt.command, r.Refusal)
		}
		got := string(e.AppendState(nil))
		if tt.want != "" && got != tt.want {
			t.Errorf("%s (-want +got):\n%s", tt.command, cmp.Diff(tt.want, got))
		}
		if canonical, err := envharness.CanonicalJSON(json.RawMessage(got)); err != nil || string(canonical) != got {
			t.Errorf("%s: not canonical, %v", tt.command, err)
		}
	}
	if e.Verdict().Status != envharness.Pass {
		t.Error("the lamp is not switched")
	}
}

func TestSettings(t *testing.T) {
	const before = `{"objects":{"desklamp 1":"desk 1","mug 1":"desk 1","pen 1":"drawer 1"},"open":{"drawer 1":false,"safe 1":true}}`
	tests := []struct {
		name, settings, want, reason string
	}{
		{"as it is", before, "", "what Settings says"},
		{"moved", `{"objects":{"desklamp 1":"desk 1","mug 1":"shelf 1","pen 1":"desk 1"},"open":{"drawer 1":true,"safe 1":false}}`, "", "legal places"},
		{"the lamp", `{"objects":{"desklamp 1":"shelf 1","mug 1":"desk 1","pen 1":"drawer 1"},"open":{"drawer 1":false,"safe 1":true}}`, `"desklamp 1" cannot be moved`, "lamps stay"},
		{"an illegal place", `{"objects":{"desklamp 1":"desk 1","mug 1":"drawer 1","pen 1":"drawer 1"},"open":{"drawer 1":false,"safe 1":true}}`, `"mug 1" cannot be in "drawer 1"`, "a drawer takes no mug"},
		{"reached", `{"objects":{"desklamp 1":"desk 1","mug 1":"desk 1","pen 1":"shelf 1"},"open":{"drawer 1":false,"safe 1":true}}`, "reached at the start", "the goal is a pen in a shelf"},
		{"unknown place", `{"objects":{"desklamp 1":"desk 1","mug 1":"bed 1","pen 1":"drawer 1"},"open":{"drawer 1":false,"safe 1":true}}`, `no receptacle "bed 1"`, "not in this room"},
		{"unknown object", `{"objects":{"desklamp 1":"desk 1","cup 1":"desk 1","pen 1":"drawer 1"},"open":{"drawer 1":false,"safe 1":true}}`, `"mug 1" is missing`, "not in this room"},
		{"one more", `{"objects":{"cup 1":"desk 1","desklamp 1":"desk 1","mug 1":"desk 1","pen 1":"drawer 1"},"open":{"drawer 1":false,"safe 1":true}}`, "4 objects", "not in this room"},
		{"door missing", `{"objects":{"desklamp 1":"desk 1","mug 1":"desk 1","pen 1":"drawer 1"},"open":{"drawer 1":false}}`, "1 receptacles to open", "all must be there"},
		{"no door", `{"objects":{"desklamp 1":"desk 1","mug 1":"desk 1","pen 1":"drawer 1"},"open":{"drawer 1":false,"shelf 1":true}}`, `open: "safe 1" is missing`, "a shelf cannot be opened"},
		{"another form", `{"objects":[],"open":{}}`, "settings", "not the form"},
		{"no bool", `{"objects":{"desklamp 1":"desk 1","mug 1":"desk 1","pen 1":"drawer 1"},"open":{"drawer 1":1,"safe 1":true}}`, "settings", "not the form"},
	}
	for _, tt := range tests {
		e := mustEpisode(t, Scene{
			Receptacles: []Receptacle{{Name: "desk 1", Location: 1}, {Name: "drawer 1", Location: 1}, {Name: "safe 1", Location: 2, Open: true}, {Name: "shelf 1", Location: 3}},
			Objects:     []Object{{Name: "pen 1", In: "drawer 1"}, {Name: "desklamp 1", In: "desk 1"}, {Name: "mug 1", In: "desk 1"}},
			Goal:        Goal{PickAndPlace, "pen", "shelf"},
		})
		if got := string(e.Settings()); got != before {
			t.Fatalf("settings %s, want %s", got, before)
		}
		err := e.Set([]byte(tt.settings))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || tt.reason == "" {
			t.Errorf("%s: error %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
		want := tt.settings
		if err != nil {
			want = before
		}
		if got := string(e.Settings()); got != want {
			t.Errorf("%s: settings %s, want %s", tt.name, got, want)
		}
		var in []string
		for o := range e.objects {
			in = append(in, fmt.Sprintf(`%q:%q`, e.objects[o].name, e.receptacles[e.start.in[o]].name))
			if e.in[o] != single(e.start.in[o]) {
				t.Errorf("%s: %s is not where the settings say", tt.name, e.objects[o].name)
			}
		}
		if e.open != e.start.open || !strings.Contains(want, strings.Join(in, ",")) {
			t.Errorf("%s: open %b, want %b; objects %v", tt.name, e.open, e.start.open, in)
		}
	}
}

// A component moves an object and opens a receptacle, and the settings tell that start whatever happens afterwards; what cannot be fails the
// start.
func TestStartPatch(t *testing.T) {
	ctx := t.Context()
	open := func(pointer, value string) (*envharness.Harness, error) {
		h, err := envharness.New(World(&Options{Small: true}), components.StartPatch{Set: map[string]json.RawMessage{pointer: []byte(value)}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		_, err = h.Reset(ctx, envharness.ResetOptions{Task: "small-pick_heat_then_place_in_recep-7-12"})
		return h, err
	}
	h, err := open("/start/open/fridge 1", "true")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := h.Step(ctx, act("go to fridge 1"))
	if err != nil || !strings.Contains(tr.Observation.Text, "\nat fridge 1 open\n") {
		t.Errorf("text %q, %v", tr.Observation.Text, err)
	}
	if v, err := h.Verdict(ctx); err != nil || v.Status != envharness.Fail {
		t.Errorf("verdict %+v, %v", v, err)
	}
	if h, err = open("/start/objects/egg 1", `"fridge 1"`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"go to fridge 1", "open fridge 1", "take egg 1 from fridge 1", "go to microwave 1", "heat egg 1 with microwave 1",
		"go to diningtable 1", "move egg 1 to diningtable 1"} {
		if tr, err = h.Step(ctx, act(c)); err != nil || tr.Error != nil {
			t.Fatalf("%s: %+v, %v", c, tr.Error, err)
		}
	}
	if v, err := h.Verdict(ctx); err != nil || v.Status != envharness.Pass {
		t.Errorf("verdict %+v, %v", v, err)
	}
	for _, bad := range [][2]string{
		{"/start/objects/egg 1", `"shelf 9"`}, {"/start/objects/egg 1", "null"}, {"/start/open/fridge 1", "null"}, {"/start/open/fridge 1", `"yes"`},
	} {
		if _, err := open(bad[0], bad[1]); !errors.Is(err, envharness.ErrStart) {
			t.Errorf("%v: %v, want ErrStart", bad, err)
		}
	}

	env := New(nil)
	if _, err := env.Reset(ctx, envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	start := func() string {
		s, err := env.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return string(s[:bytes.Index(s, []byte(`"calls"`))])
	}
	before := start()
	plan, err := env.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range plan {
		if _, err := env.Step(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	if after := start(); after != before {
		t.Errorf("start (-before +after):\n%s", cmp.Diff(before, after))
	}
}

// What a setup did stays done: values set after it that would undo it, or that solve the task with it, are the components' fault.
func TestStartPatchAfterSetup(t *testing.T) {
	world, err := FromScene(Scene{
		Receptacles: []Receptacle{{Name: "countertop 1"}, {Name: "desk 1"}, {Name: "fridge 1"}},
		Objects:     []Object{{Name: "mug 1", In: "countertop 1"}, {Name: "mug 2", In: "countertop 1"}, {Name: "pen 1", In: "countertop 1"}},
		Goal:        Goal{PickTwo, "mug", "desk"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	setup := envharness.Setup{Actions: []envharness.Action{
		act("go to countertop 1"), act("take mug 1 from countertop 1"), act("go to desk 1"), act("move mug 1 to desk 1"),
	}}
	for _, tt := range []struct{ object, place, says, reason string }{
		{"pen 1", "desk 1", "", "neither"},
		{"mug 1", "fridge 1", "refused is true, and was false", "the mug could not have been taken"},
		{"mug 2", "desk 1", "episode is over", "solved"},
	} {
		patch := components.StartPatch{Set: map[string]json.RawMessage{"/start/objects/" + tt.object: []byte(strconv.Quote(tt.place))}}
		traces, err := envharness.Rollouts(t.Context(), world.World(), []envharness.Component{setup, patch},
			func(int) (envharness.Policy, error) {
				return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
					return envharness.Action{}, envharness.ErrStop
				}), nil
			}, []envharness.Task{{}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := envharness.EndComponentError
		if tt.says == "" {
			want = envharness.EndAgentStop
		}
		if got := traces[0]; got.End != want || !strings.Contains(got.Verdict.Reason, tt.says) {
			t.Errorf("%s: ended by %s, %q; want %s, %q (%s)", tt.object, got.End, got.Verdict.Reason, want, tt.says, tt.reason)
		}
	}
}
