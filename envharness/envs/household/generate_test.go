package household

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
)

// everyTask yields each step-th task of a preset with its scene.
func everyTask(t *testing.T, p *preset, step int, f func(id string, k task, s Scene)) {
	t.Helper()
	for _, split := range []string{"train", "validation", "test", "ood"} {
		tasks, err := p.tasks(split)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(tasks); i += step {
			k, err := p.parse(tasks[i].ID)
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.scene(k)
			if err != nil {
				t.Fatal(tasks[i].ID, err)
			}
			f(tasks[i].ID, k, s)
		}
	}
}

// typeIn returns the type in a name.
func typeIn(name string) string { return strings.Fields(name)[0] }

// Every scene is legal: objects where their types may be, at most three of a type, numbered from 1, enough of the task's type, the goal false, all
// closed, the lamp where it belongs, and what the task needs in the room.
func TestGenerationLaw(t *testing.T) {
	t.Parallel()
	for p, step := range map[*preset]int{&fullPreset: 5, &smallPreset: 1} {
		everyTask(t, p, step, func(id string, k task, s Scene) {
			e, err := newEpisode(s, false)
			if err != nil {
				t.Fatal(id, err)
			}
			if e.reached() || e.open != 0 {
				t.Errorf("%s: reached %v, open %b", id, e.reached(), e.open)
			}
			room := p.rooms[k.pair.room]
			counts := map[string]int{}
			for _, r := range s.Receptacles {
				counts[typeIn(r.Name)]++
				if want := strconv.Itoa(counts[typeIn(r.Name)]); !strings.HasSuffix(r.Name, " "+want) || r.Open {
					t.Errorf("%s: receptacle %+v, want number %s and closed", id, r, want)
				}
			}
			for _, o := range s.Objects {
				counts[typeIn(o.Name)]++
				n := counts[typeIn(o.Name)]
				typ, _ := objectTypeOf(typeIn(o.Name))
				in, _ := receptacleTypeOf(typeIn(o.In))
				legal := canContain[in].has(typ) && n <= 3
				if lamps.has(typ) {
					places := map[string]string{"300 desklamp": "desk sidetable", "200 floorlamp": "sidetable", "300 small- desklamp": "desk"}
					key := strconv.Itoa(room.first) + " " + p.prefix + " " + typeIn(o.Name)
					legal = slices.Contains(strings.Fields(places[strings.ReplaceAll(key, "  ", " ")]), typeIn(o.In)) && n == 1
				}
				if !legal || !strings.HasSuffix(o.Name, " "+strconv.Itoa(n)) || o.Also != nil {
					t.Errorf("%s: object %+v", id, o)
				}
			}
			if (len(room.lampOn) > 0) != (counts[room.lamp.String()] == 1 && lamps.has(room.lamp)) {
				t.Errorf("%s: lamps %v", id, counts)
			}
			need := 1
			if s.Goal.Kind == PickTwo {
				need = 2
			}
			if counts[s.Goal.Object] < need || counts[s.Goal.Receptacle] < 1 {
				t.Errorf("%s: goal %+v among %v", id, s.Goal, counts)
			}
			n := len(s.Objects)
			if len(room.lampOn) > 0 {
				n--
			}
			if n < room.scattered || n > room.scattered+need {
				t.Errorf("%s: %d objects, want %d and at most %d more", id, n, room.scattered, need)
			}
			if treatment, ok := s.Goal.Kind.treatment(); ok {
				typ, _ := objectTypeOf(s.Goal.Object)
				if counts[treatment.appliance().String()] == 0 || !treatment.treatable().has(typ) ||
					s.Goal.Receptacle == treatment.appliance().String() {
					t.Errorf("%s: goal %+v", id, s.Goal)
				}
			}
		})
	}
}

// The receptacles are those of the specification, and the same in all tasks of a scene.
func TestLayouts(t *testing.T) {
	t.Parallel()
	base := map[string]map[string]int{
		"kitchen": {"countertop": 2, "cabinet": 4, "drawer": 3, "fridge": 1, "microwave": 1, "sinkbasin": 1, "stoveburner": 2,
			"coffeemachine": 1, "garbagecan": 1, "diningtable": 1},
		"livingroom": {"sofa": 1, "armchair": 1, "coffeetable": 1, "sidetable": 2, "drawer": 2, "shelf": 2, "garbagecan": 1},
		"bedroom":    {"bed": 1, "desk": 1, "dresser": 1, "drawer": 3, "shelf": 2, "sidetable": 1, "safe": 1, "garbagecan": 1},
		"bathroom":   {"sinkbasin": 1, "countertop": 1, "cabinet": 2, "toilet": 1, "bathtubbasin": 1, "garbagecan": 1},
	}
	names := []string{"kitchen", "livingroom", "bedroom", "bathroom"}
	layouts := map[string][]Receptacle{}
	shared, apart, more, same := 0, 0, 0, 0
	everyTask(t, &fullPreset, 1, func(id string, k task, s Scene) {
		place := id[strings.Index(id, "-"):strings.LastIndex(id, "-")]
		if first, ok := layouts[place]; ok {
			if !slices.Equal(first, s.Receptacles) {
				t.Errorf("%s: another layout (-first +now):\n%s", id, cmp.Diff(first, s.Receptacles))
			}
			return
		}
		layouts[place] = s.Receptacles
		got := map[string]int{}
		at := map[int]string{}
		for _, r := range s.Receptacles {
			got[typeIn(r.Name)]++
			if other, ok := at[r.Location]; ok {
				shared++
				pair := typeIn(other) + " " + typeIn(r.Name)
				if !slices.Contains([]string{"shelf shelf", "drawer drawer", "desk drawer", "dresser drawer"}, pair) {
					t.Errorf("%s: %s and %s share a location", id, other, r.Name)
				}
			} else {
				apart++
				at[r.Location] = r.Name
			}
		}
		for typ, n := range base[names[k.pair.room]] {
			varies := typ == "cabinet" || typ == "drawer" || typ == "shelf"
			extra := got[typ] - n
			switch {
			case !varies && extra != 0, varies && k.scene <= 6 && extra != 2, varies && k.scene > 6 && (extra < 0 || extra > 1):
				t.Errorf("%s: %d of %s, base %d", id, got[typ], typ, n)
			case varies && k.scene > 6 && extra == 1:
				more++
			case varies && k.scene > 6:
				same++
			}
			delete(got, typ)
		}
		if len(got) > 0 {
			t.Errorf("%s: further receptacles %v", id, got)
		}
	})
	if len(layouts) != 120 || shared < 50 || apart < 500 || more < 50 || same < 50 {
		t.Errorf("%d layouts, locations %d shared and %d not, counts %d one more and %d not", len(layouts), shared, apart, more, same)
	}
}

// A task is the same for ever, as everything follows from its id.
func TestScenesStay(t *testing.T) {
	k, err := smallPreset.parse("small-pick_heat_then_place_in_recep-7-12")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := smallPreset.scene(k)
		if err != nil {
			t.Fatal(err)
		}
		want := Scene{
			Receptacles: []Receptacle{{Name: "countertop 1", Location: 1}, {Name: "fridge 1", Location: 2}, {Name: "microwave 1", Location: 3},
				{Name: "sinkbasin 1", Location: 4}, {Name: "diningtable 1", Location: 5}},
			Objects: []Object{{Name: "egg 1", In: "diningtable 1"}, {Name: "apple 1", In: "diningtable 1"}, {Name: "mug 1", In: "countertop 1"}},
			Goal:    Goal{PickHeat, "egg", "diningtable"},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("scene (-want +got):\n%s", d)
		}
	}
}

// Splits have the sizes of the rule, share no task, list every task of every kind early, and hold what Reset takes; nothing else is taken.
func TestSplits(t *testing.T) {
	tests := []struct {
		options *Options
		split   string
		want    int
		reason  string
	}{
		{nil, "train", 13440, "14 kinds in rooms, 24 scenes, 40 trials"},
		{nil, "validation", 672, "14, 24, 2"},
		{nil, "test", 672, "14, 24, 2"},
		{nil, "ood", 672, "14, 6 scenes, 8 trials"},
		{&Options{Small: true}, "train", 7680, "8 kinds in rooms, 24 scenes, 40 trials"},
		{&Options{Small: true}, "validation", 384, "8, 24, 2"},
		{&Options{Small: true}, "test", 384, "8, 24, 2"},
		{&Options{Small: true}, "ood", 384, "8, 6, 8"},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		env := New(tt.options)
		tasks, err := env.Tasks(t.Context(), tt.split)
		if err != nil || len(tasks) != tt.want {
			t.Fatalf("%+v %s: %d tasks, %v; want %d (%s)", tt.options, tt.split, len(tasks), err, tt.want, tt.reason)
		}
		first := map[string]bool{}
		for i, task := range tasks {
			if other, ok := seen[task.ID]; ok {
				t.Errorf("%s is in %s and %s", task.ID, other, tt.split)
			}
			seen[task.ID] = tt.split
			if task.Split != tt.split || task.Seed != nil || task.Options != nil || !strings.Contains(task.ID, task.Family+"-") {
				t.Errorf("task %+v", task)
			}
			if i < 6 {
				first[task.Family] = true
			}
			parts := strings.Split(strings.TrimPrefix(task.ID, "small-"), "-")
			scene, _ := strconv.Atoi(parts[1])
			trial, _ := strconv.Atoi(parts[2])
			n := scene % 100
			in := map[string]bool{"train": n >= 7 && trial <= 39, "validation": n >= 7 && trial >= 40 && trial <= 41,
				"test": n >= 7 && trial >= 42 && trial <= 43, "ood": n <= 6 && trial <= 7}[tt.split]
			if !in || n < 1 || n > 30 || trial < 0 {
				t.Errorf("%s is in %s", task.ID, tt.split)
			}
		}
		if len(first) != 6 {
			t.Errorf("%+v %s: the first six tasks are of kinds %v", tt.options, tt.split, first)
		}
	}
	if _, err := New(nil).Tasks(t.Context(), "seen"); err == nil || !strings.Contains(err.Error(), "seen") {
		t.Errorf("unknown split: %v", err)
	}
}

func TestNoTask(t *testing.T) {
	tests := []struct{ id, reason string }{
		{"pick_and_place_simple-31-0", "no such kitchen"},
		{"pick_and_place_simple-0-0", "scenes count from 1"},
		{"pick_and_place_simple-100-0", "no such room"},
		{"pick_and_place_simple-7-44", "trials are 0 to 43"},
		{"pick_and_place_simple-6-8", "trials of unseen scenes are 0 to 7"},
		{"pick_and_place_simple-7--1", "a sign"},
		{"pick_and_place_simple-7-+1", "a sign"},
		{"pick_and_place_simple-07-1", "a leading zero"},
		{"pick_and_place_simple-7-01", "a leading zero"},
		{"pick_and_place_simple-7", "no trial"},
		{"pick_and_place_simple-7-1-1", "a part too many"},
		{"pick_and_place_simple-a-1", "no number"},
		{"pick_and_place-7-1", "no kind"},
		{"look_at_obj_in_light-7-1", "kitchens have no lamp"},
		{"pick_heat_then_place_in_recep-401-1", "bathrooms have no microwave"},
		{"pick_clean_then_place_in_recep-301-1", "bedrooms have no sinkbasin"},
		{"small-pick_and_place_simple-7-1", "another preset's"},
		{"scene-2c16b04710cfeab8", "one of FromScene"},
	}
	env := New(nil)
	for _, tt := range tests {
		_, err := env.Reset(t.Context(), envharness.ResetOptions{Task: tt.id})
		if !errorsIsNoTask(err, tt.id) || tt.reason == "" {
			t.Errorf("%s: %v, want ErrNoTask with the id (%s)", tt.id, err, tt.reason)
		}
	}
	small := New(&Options{Small: true})
	for _, id := range []string{"pick_and_place_simple-7-1", "small-pick_and_place_simple-207-1", "small-pick_clean_then_place_in_recep-307-1"} {
		if _, err := small.Reset(t.Context(), envharness.ResetOptions{Task: id}); !errorsIsNoTask(err, id) {
			t.Errorf("small: %s: %v", id, err)
		}
	}
}

// Small rooms have five receptacles, and six in unseen scenes, each of its own type and at its own place, and not always the same.
func TestSmallLayouts(t *testing.T) {
	always := [][]string{{"countertop 1", "fridge 1", "microwave 1", "sinkbasin 1"}, {"bed 1", "desk 1", "drawer 1"}}
	choice := [][]string{{"cabinet 1", "diningtable 1", "shelf 1"}, {"dresser 1", "safe 1", "shelf 1", "sidetable 1"}}
	seen := map[string]bool{}
	everyTask(t, &smallPreset, 7, func(id string, k task, s Scene) {
		n := 5
		if k.scene <= 6 {
			n = 6
		}
		must := slices.Clone(always[k.pair.room])
		for i, r := range s.Receptacles {
			if at := slices.Index(must, r.Name); at >= 0 {
				must = slices.Delete(must, at, at+1)
			} else if seen[r.Name] = true; !slices.Contains(choice[k.pair.room], r.Name) {
				t.Errorf("%s: receptacle %+v", id, r)
			}
			if r.Location != i+1 {
				t.Errorf("%s: %+v is not at its own place", id, r)
			}
		}
		if len(s.Receptacles) != n || len(must) > 0 {
			t.Errorf("%s: %d receptacles, want %d; missing %v", id, len(s.Receptacles), n, must)
		}
	})
	if len(seen) != 6 {
		t.Errorf("chosen %v, want all six", seen)
	}
}
