package household

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// A situation is the state of an episode of at most four objects.
type situation struct {
	at, holding int
	open        receptacleSet
	in          [4]receptacleSet
	marks       [4]marks
}

func (e *episode) situation() situation {
	s := situation{at: e.at, holding: e.holding, open: e.open}
	copy(s.in[:], e.in)
	copy(s.marks[:], e.marks)
	return s
}

func (e *episode) restore(s situation) {
	e.at, e.holding, e.open = s.at, s.holding, s.open
	copy(e.in, s.in[:])
	copy(e.marks, s.marks[:])
}

// shortest counts the fewest commands to the goal by breadth-first search over all but slicing that change something, or returns -1 if there is no way.
// It gives up, with false, where there are too many situations. The episode is left as it was.
func shortest(e *episode) (int, bool) {
	var all []command
	for v := range verbs {
		if v.changes() && v != slice {
			all = slices.AppendSeq(all, everyCommand(e, v))
		}
	}
	start := e.situation()
	defer e.restore(start)
	turns := map[situation]int{start: 0}
	for queue := []situation{start}; len(queue) > 0; queue = queue[1:] {
		for _, c := range all {
			if e.restore(queue[0]); !e.applicable(c) {
				continue
			}
			if e.perform(c); e.reached() {
				return turns[queue[0]] + 1, true
			}
			s := e.situation()
			if _, ok := turns[s]; !ok {
				turns[s] = turns[queue[0]] + 1
				queue = append(queue, s)
				if len(turns) > 10000 {
					return 0, false
				}
			}
		}
	}
	return -1, true
}

// tiny draws a scene of at most five receptacles and four objects.
func tiny(r *rand.Rand) Scene {
	types := []string{"countertop", "shelf", "drawer", "fridge", "microwave", "sinkbasin", "garbagecan", "cabinet"}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var s Scene
	counts := map[string]int{}
	named := func(typ string) string {
		counts[typ]++
		return fmt.Sprint(typ, " ", counts[typ])
	}
	for range 3 + r.IntN(2) {
		name := named(pick(types))
		typ, _ := receptacleTypeOf(strings.Fields(name)[0])
		s.Receptacles = append(s.Receptacles, Receptacle{name, r.IntN(4), typ.openable() && r.IntN(3) == 0})
	}
	s.Goal = Goal{kinds[r.IntN(len(kinds))], pick([]string{"mug", "apple", "potato"}), ""}
	if treatment, ok := s.Goal.Kind.treatment(); ok && r.IntN(8) > 0 {
		s.Receptacles = append(s.Receptacles, Receptacle{Name: named(treatment.appliance().String()), Location: 1 + r.IntN(5)})
	}
	in := func() string { return s.Receptacles[r.IntN(len(s.Receptacles))].Name }
	s.Goal.Receptacle = strings.Fields(in())[0]
	if s.Goal.Kind == LookInLight {
		s.Goal.Receptacle = "desklamp"
		s.Objects = append(s.Objects, Object{Name: named("desklamp"), In: in()})
	}
	for i := range 2 + r.IntN(2) {
		typ := s.Goal.Object
		if i > 0 && s.Goal.Kind != PickTwo && r.IntN(3) > 0 {
			typ = pick([]string{"mug", "pen", "pot"})
		}
		o := Object{Name: named(typ), In: in()}
		if r.IntN(8) == 0 {
			o.Also = []string{in()}
		}
		s.Objects = append(s.Objects, o)
	}
	return s
}

// From any state, a plan is carried out without refusal, reaches the goal with its last command, and no list of commands is shorter; where
// there is no plan, there is no way.
func TestPlansAreShortest(t *testing.T) {
	t.Parallel()
	scenes := 120
	if testing.Short() {
		scenes = 15
	}
	r := envharness.RandStream(1, "test/plan", 0)
	plans, none := map[int]int{}, 0
	for i := range scenes {
		s := tiny(r)
		e := mustEpisode(t, s)
		if e.reached() {
			continue
		}
		over := false
		for range r.IntN(12) {
			list := e.Actions()
			if over = e.Step(list[r.IntN(len(list))]).Ended; over {
				break
			}
		}
		if over {
			continue
		}
		want, ok := shortest(e)
		if !ok {
			continue
		}
		plan, err := e.Plan()
		if errors.Is(err, envharness.ErrNoPlan) {
			if none++; want >= 0 {
				t.Errorf("scene %d: %+v\n%s\nno plan, want %d turns", i, s, e.AppendState(nil), want)
			}
			continue
		}
		if err != nil || len(plan) != want {
			t.Errorf("scene %d: %+v\n%s\nplan %v, %v, want %d turns", i, s, e.AppendState(nil), plan, err, want)
			continue
		}
		plans[len(plan)]++
		for k, a := range plan {
			if res := e.Step(a); res.Refusal != nil || res.Ended != (k == len(plan)-1) {
				t.Errorf("scene %d: command %d of %v: %+v", i, k, plan, res)
			}
		}
	}
	t.Log("plans by length:", plans, "none:", none)
	if !testing.Short() && (len(plans) < 7 || none == 0) {
		t.Errorf("plans by length %v, none %d: the test shows too little", plans, none)
	}
}

// Worked example 20 and the lengths of the specification.
func TestLengths(t *testing.T) {
	s := func(k Kind, object, receptacle string, open bool, objects ...Object) Scene {
		return Scene{
			Receptacles: []Receptacle{
				{Name: "drawer 1", Location: 1, Open: open}, {Name: "cabinet 1", Location: 2, Open: open}, {Name: "sinkbasin 1", Location: 3},
				{Name: "fridge 1", Location: 4}, {Name: "microwave 1", Location: 5}, {Name: "countertop 1", Location: 6},
				{Name: "drawer 2", Location: 7, Open: open},
			},
			Objects: objects, Goal: Goal{k, object, receptacle},
		}
	}
	cloth := Object{Name: "cloth 1", In: "drawer 1"}
	tests := []struct {
		name   string
		scene  Scene
		want   int
		reason string
	}{
		{"clean, both closed", s(PickClean, "cloth", "cabinet", false, cloth), 8, "worked example 20: 6+2"},
		{"clean, both open", s(PickClean, "cloth", "cabinet", true, cloth), 6, "go, take, go, clean, go, move"},
		{"simple, open", s(PickAndPlace, "cloth", "cabinet", true, cloth), 4, "go, take, go, move"},
		{"simple, source closed", s(PickAndPlace, "cloth", "countertop", false, cloth), 5, "one door"},
		{"look", s(LookInLight, "cloth", "desklamp", true, cloth, Object{Name: "desklamp 1", In: "countertop 1"}), 4, "go, take, go, use"},
		{"look, closed", s(LookInLight, "cloth", "desklamp", false, cloth, Object{Name: "desklamp 1", In: "countertop 1"}), 5, "one door"},
		{"heat", s(PickHeat, "mug", "countertop", false, Object{Name: "mug 1", In: "sinkbasin 1"}), 6, "the microwave stays closed"},
		{"cool", s(PickCool, "mug", "cabinet", false, Object{Name: "mug 1", In: "fridge 1"}), 7, "two doors, one way less: it is cooled where it is taken"},
		{"two", s(PickTwo, "cloth", "cabinet", true, cloth, Object{Name: "cloth 2", In: "countertop 1"}), 8, "twice four"},
		{"two, a door once", Scene{
			Receptacles: []Receptacle{{Name: "drawer 1", Location: 1, Open: true}, {Name: "cabinet 1", Location: 2, Open: true},
				{Name: "drawer 2", Location: 3, Open: true}, {Name: "cabinet 2", Location: 3}},
			Objects: []Object{cloth, {Name: "cloth 2", In: "drawer 2"}}, Goal: Goal{PickTwo, "cloth", "cabinet"},
		}, 7, "go, take, go, open, move, take, move; 8 by way of cabinet 1"},
		{"two, all closed", s(PickTwo, "cloth", "cabinet", false, cloth, Object{Name: "cloth 2", In: "drawer 2"}), 11, "the target's door once"},
	}
	for _, tt := range tests {
		e := mustEpisode(t, tt.scene)
		plan, err := e.Plan()
		if err != nil || len(plan) != tt.want || tt.reason == "" {
			t.Errorf("%s: %d commands %v, %v; want %d (%s)", tt.name, len(plan), plan, err, tt.want, tt.reason)
		}
	}
}

// The oracle passes the first 1,000 tasks of every split, and in the small preset within its limit.
func TestOraclePasses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, small := range []bool{false, true} {
		env := New(&Options{Small: small})
		longest := 0
		for _, split := range []string{"train", "validation", "test", "ood"} {
			tasks, err := env.Tasks(ctx, split)
			if err != nil {
				t.Fatal(err)
			}
			n := 1000
			if testing.Short() {
				n = 100
			}
			tasks = tasks[:min(n, len(tasks))]
			for i := range tasks {
				if _, err := env.Reset(ctx, envharness.ResetOptions{Task: tasks[i].ID}); err != nil {
					t.Fatal(err)
				}
				plan, err := env.Plan(ctx)
				if err != nil {
					t.Fatal(tasks[i].ID, err)
				}
				longest = max(longest, len(plan))
				for k, a := range plan {
					tr, err := env.Step(ctx, a)
					if err != nil || tr.Error != nil || tr.Terminated != (k == len(plan)-1) || tr.Reward != truth(tr.Terminated) {
						t.Fatalf("%s: command %d of %v: %+v, %v", tasks[i].ID, k, plan, tr, err)
					}
				}
			}
		}
		if longest > smallTurns { // eleven is the most in both, see TestLengths
			t.Errorf("small %v: a plan takes %d turns", small, longest)
		}
		t.Log("longest plan:", longest)
	}
}

// From wherever random commands lead in the generated scenes, a plan reaches the goal.
func TestOracleFromAnyState(t *testing.T) {
	r := envharness.RandStream(2, "test/plan", 0)
	for _, p := range []*preset{&fullPreset, &smallPreset} {
		for _, pair := range p.pairs {
			for n := range 12 {
				s, err := p.scene(task{pair, 1 + r.IntN(scenes), r.IntN(oodTrials)})
				if err != nil {
					t.Fatal(err)
				}
				e, over := mustEpisode(t, s), false
				for k := 0; k < n*6 && !over; k++ {
					list := e.Actions()
					over = e.Step(list[r.IntN(len(list))]).Ended
				}
				if over {
					continue
				}
				plan, err := e.Plan()
				if err != nil {
					t.Fatalf("%+v: %v\n%s", pair, err, e.AppendState(nil))
				}
				for k, a := range plan {
					if res := e.Step(a); res.Refusal != nil || res.Ended != (k == len(plan)-1) {
						t.Fatalf("%+v: command %d of %v: %+v", pair, k, plan, res)
					}
				}
			}
		}
	}
}

// A scene with far more choices than a room has is given up, and not searched for minutes.
func TestPlanGivesUp(t *testing.T) {
	var s Scene
	everywhere := make([]string, 0, 31)
	for i := range 32 {
		table := fmt.Sprintf("diningtable %d", i+1)
		s.Receptacles = append(s.Receptacles, Receptacle{Name: table}, Receptacle{Name: fmt.Sprintf("countertop %d", i+1)})
		if i > 0 {
			everywhere = append(everywhere, table)
		}
	}
	for i := range 254 {
		s.Objects = append(s.Objects, Object{Name: fmt.Sprintf("mug %d", i+1), In: "diningtable 1", Also: everywhere})
	}
	s.Objects = append(s.Objects, Object{Name: "pen 1", In: "diningtable 1"})
	s.Goal = Goal{PickTwo, "mug", "countertop"}
	e := mustEpisode(t, s)
	for _, c := range []string{"go to diningtable 1", "take pen 1 from diningtable 1"} {
		if r := e.Step(act(c)); r.Refusal != nil {
			t.Fatal(c, r.Refusal)
		}
	}
	if plan, err := e.Plan(); !errors.Is(err, envharness.ErrNotProven) {
		t.Errorf("%d commands, %v", len(plan), err)
	}
}
