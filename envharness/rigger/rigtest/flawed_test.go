package rigtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/envs/household"
	"github.com/throughline-go/throughline/envharness/envs/keydoor"
	"github.com/throughline-go/throughline/envharness/envs/shop"
	"github.com/throughline-go/throughline/envharness/envs/tooldesk"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
	"github.com/throughline-go/throughline/envharness/rigger/rigtest"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// An exam is what the definition of a flaw looks at, without package diagnosis.
type exam struct {
	about envharness.Description
	plan  []envharness.Action
	edges []components.Edge
	envharness.Trace
}

func (e exam) passed() bool { return e.Verdict.Status == envharness.Pass }

func (e exam) readOnly(tool string) bool {
	return slices.ContainsFunc(e.about.Tools, func(t envharness.Tool) bool { return t.Name == tool && t.ReadOnly })
}

func (e exam) planned(tool string) bool {
	return slices.ContainsFunc(e.plan, func(a envharness.Action) bool { return a.Name == tool })
}

// call is the proposed action of a turn in words, empty for none.
func (e exam) call(i int) string {
	if e.Turns[i].Proposed == nil {
		return ""
	}
	return e.Turns[i].Proposed.String()
}

func (e exam) tool(i int) string {
	if e.Turns[i].Proposed == nil {
		return ""
	}
	return e.Turns[i].Proposed.Name
}

func (e exam) refusal(i int) envharness.ActionError {
	if r := e.Turns[i].Shown.Error; r != nil {
		return *r
	}
	return envharness.ActionError{}
}

// count counts the turns for which is is true.
func (e exam) count(is func(i int) bool) int {
	n := 0
	for i := range e.Turns {
		if is(i) {
			n++
		}
	}
	return n
}

func (e exam) refusals(class envharness.ErrorClass) int {
	return e.count(func(i int) bool { return e.refusal(i).Class == class })
}

func (e exam) ranOut() bool {
	return e.End == envharness.EndTruncated || e.End == envharness.EndMaxTurns || strings.HasPrefix(string(e.End), "budget:")
}

// definitions say of an episode whether it shows the flaw that was planted, by its definition.
var definitions = map[diagnosis.ID]func(e exam) bool{
	diagnosis.Loop: func(e exam) bool {
		times := make(map[string]int)
		for i := range e.Turns {
			times[e.call(i)+"\n"+e.Turns[i].Shown.Observation.Text]++
		}
		for _, n := range times {
			if n >= 3 {
				return true
			}
		}
		for period := 2; period <= 4; period++ {
			for from := 0; from+3*period <= len(e.Turns); from++ {
				round := true
				for i := from + period; i < from+3*period; i++ {
					round = round && e.call(i) == e.call(i-period)
				}
				if round {
					return true
				}
			}
		}
		return false
	},
	diagnosis.PrematureStop: func(e exam) bool {
		return !e.passed() && !e.ranOut() && 2*len(e.Turns) <= e.Turns[0].Left
	},
	diagnosis.IgnoredError: func(e exam) bool {
		return !e.passed() && e.count(func(i int) bool {
			if e.refusal(i).Message == "" || i == len(e.Turns)-1 {
				return false
			}
			for j := i + 1; j < min(i+4, len(e.Turns)); j++ {
				if e.tool(j) == e.tool(i) || e.readOnly(e.tool(j)) {
					return false
				}
			}
			return true
		}) > 0
	},
	diagnosis.NoRetry: func(e exam) bool {
		return e.count(func(i int) bool {
			if !e.refusal(i).Retryable {
				return false
			}
			for j := i + 1; j < len(e.Turns); j++ {
				if e.tool(j) == e.tool(i) {
					return false
				}
			}
			return true
		}) > 0
	},
	diagnosis.BlindRetry: func(e exam) bool {
		return e.count(func(i int) bool {
			return i > 0 && e.call(i) == e.call(i-1) && e.refusal(i-1).Message != "" && !e.refusal(i-1).Retryable
		}) >= 2
	},
	diagnosis.UnreadPages: func(e exam) bool {
		more := e.Shown.Data["has_more"] == true
		read := e.count(func(i int) bool { return e.tool(i) == "next" })
		return !e.passed() && more && read == 0
	},
	diagnosis.OverLong: func(e exam) bool { return e.passed() && float64(len(e.Turns)) > 1.5*float64(len(e.plan)) },
	diagnosis.BudgetExhausted: func(e exam) bool {
		return !e.passed() && e.ranOut()
	},
	diagnosis.WrongArgument: func(e exam) bool {
		return e.refusals(envharness.ClassBadArgs)+e.refusals(envharness.ClassNotFound) >= 2
	},
	diagnosis.NoPrecondition: func(e exam) bool { return e.refusals(envharness.ClassPrecondition) >= 2 },
	diagnosis.UnverifiedWrite: func(e exam) bool {
		last := ""
		for i := range len(e.Turns) - 1 {
			last = e.tool(i)
		}
		return e.passed() && last != "" && !e.readOnly(last)
	},
	diagnosis.UngroundedValue: func(e exam) bool {
		shown := e.Trace.Shown.Text
		return e.count(func(i int) bool {
			word := strings.Contains(e.call(i), "quoxil7") && !strings.Contains(shown, "quoxil7")
			shown += e.Turns[i].Shown.Observation.Text
			return word
		}) > 0
	},
	diagnosis.Unreadable: func(e exam) bool {
		offered := func(name string) bool {
			return slices.ContainsFunc(e.Tools, func(t envharness.Tool) bool { return t.Name == name })
		}
		bad := e.count(func(i int) bool { return e.Turns[i].Proposed == nil || !offered(e.tool(i)) })
		return 10*bad > len(e.Turns)
	},
	diagnosis.Distracted: func(e exam) bool {
		return !e.passed() && e.count(func(i int) bool { return !e.planned(e.tool(i)) }) >= 2
	},
	diagnosis.LittleExploration: func(e exam) bool {
		texts := make(map[string]bool)
		for _, turn := range e.Turns {
			texts[turn.Shown.Observation.Text] = true
		}
		return !e.passed() && 10*len(texts) <= 3*len(e.Turns)
	},
	diagnosis.OrderViolation: func(e exam) bool {
		for _, edge := range e.edges {
			before, after := -1, -1
			for i := range e.Turns {
				if e.Turns[i].Proposed == nil {
					continue
				}
				var args map[string]any
				_ = json.Unmarshal(e.Turns[i].Proposed.Args, &args)
				if before < 0 && e.tool(i) == edge.Before.Tool && reflect.DeepEqual(args, edge.Before.Args) {
					before = i
				}
				if after < 0 && e.tool(i) == edge.After.Tool && reflect.DeepEqual(args, edge.After.Args) {
					after = i
				}
			}
			if after >= 0 && (before < 0 || after < before) {
				return true
			}
		}
		return false
	},
	diagnosis.RepeatedWrite: func(e exam) bool {
		done := make(map[string]bool)
		return e.count(func(i int) bool {
			if e.Turns[i].Applied == nil || e.refusal(i).Message != "" || e.readOnly(e.tool(i)) {
				return false
			}
			again := done[e.call(i)]
			done[e.call(i)] = true
			return again
		}) > 0
	},
	diagnosis.Hammering: func(e exam) bool {
		return e.count(func(i int) bool {
			return i > 0 && e.refusal(i-1).Class == envharness.ClassRateLimit && !strings.HasSuffix(e.refusal(i-1).Message, "retry_after 1") &&
				e.tool(i) == e.tool(i-1)
		}) > 0
	},
}

// Every plant shows its flaw where it is planted, and the clean policy behind the same components does not.
func TestPlantsShowTheirFlaw(t *testing.T) {
	each := 3
	if testing.Short() {
		each = 1
	}
	kinds := make(map[diagnosis.ID]bool)
	for _, w := range worlds() {
		about := describe(t, w.world)
		for _, task := range tasks(t, w.world, each) {
			plan, err := yardstick.Plan(context.Background(), w.world, task)
			if err != nil {
				t.Fatal(err)
			}
			plants, err := rigtest.Plants(context.Background(), w.world, task)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range plants {
				kinds[p.Flaw] = true
				defined := definitions[p.Flaw]
				if defined == nil {
					t.Fatalf("no definition of %s", p.Flaw)
				}
				flawed, err := rigtest.Flawed(w.world, p.Flaw, &rigtest.Options{Rate: new(1.0)})
				if err != nil {
					t.Fatal(err)
				}
				e := exam{about, plan, p.Edges, play(t, w.world, p.Stack, task, flawed, 1)[0]}
				if !defined(e) {
					t.Errorf("%s, task %s: the policy of %s (%s) does not show it: %s", w.name, task.ID, p.Flaw, p.About, told(e.Trace))
				}
				if wanders := p.Flaw == diagnosis.BudgetExhausted || p.Flaw == diagnosis.LittleExploration; wanders && definitions[diagnosis.Loop](e) {
					t.Errorf("%s, task %s: the policy of %s goes round: %s", w.name, task.ID, p.Flaw, told(e.Trace))
				}
				e.Trace = play(t, w.world, p.Stack, task, rigtest.Clean(w.world), 1)[0]
				if !e.passed() || defined(e) {
					t.Errorf("%s, task %s: the clean policy shows %s or fails: %s", w.name, task.ID, p.Flaw, told(e.Trace))
				}
				if p.About == "" || slices.Contains(p.Entails, p.Flaw) || !slices.IsSorted(p.Entails) {
					t.Errorf("%s, task %s: %s: about %q, entails %v", w.name, task.ID, p.Flaw, p.About, p.Entails)
				}
			}
		}
	}
	if !testing.Short() && len(kinds) != len(definitions) {
		t.Errorf("%d kinds of flaws were planted, want %d", len(kinds), len(definitions))
	}
}

// told is an episode in words.
func told(tr envharness.Trace) string {
	var b strings.Builder
	for _, turn := range tr.Turns {
		b.WriteString("\n  ")
		if turn.Proposed != nil {
			b.WriteString(turn.Proposed.String())
		}
		if turn.Shown.Error != nil {
			b.WriteString(" refused: " + turn.Shown.Error.Message)
		}
	}
	return b.String() + "\n  " + string(tr.End) + " " + tr.Verdict.Status.String()
}

// Which flaws have room in a task, world by world, and what they entail.
func TestPlantsOfWorlds(t *testing.T) {
	tests := []struct {
		world  envharness.World
		task   string
		want   string
		reason string
	}{
		{tooldesk.World(&tooldesk.Options{Small: true}), "small-T1-0000",
			"F01[F08 F17] F02 F03[F04 F11] F04 F05[F07] F06 F07 F09[F07] F10[F07] F11 F12 F15[F07] F16 F18", "reads, writes and a submit; a cancelled order takes no second write"},
		{tooldesk.World(&tooldesk.Options{Small: true}), "small-T2-0000",
			"F01[F08 F17] F02 F03[F04 F11] F04 F05[F07] F06 F07 F09[F07] F10[F07] F11 F12 F15[F07] F16 F18 F19", "an address can be set twice"},
		{tooldesk.World(&tooldesk.Options{Small: true}), "small-T5-0024",
			"F01[F08 F17] F02 F03[F04 F11] F04 F05[F07 F10] F06 F07 F08 F09 F10 F11 F12 F15 F16 F18 F20", "a plan that is long enough to wait in, and tables to wander about in"},
		{household.World(&household.Options{Small: true}), "small-pick_and_place_simple-7-0",
			"F01[F08 F17] F02 F04 F05[F07 F10] F06[F02] F07 F08 F09 F10 F12 F15 F16 F17",
			"one tool: no error of it can be left alone, and there is nothing to wait with"},
		{household.World(nil), "pick_two_obj_and_place-209-0",
			"F01[F08 F17] F02 F04 F05[F01 F10] F06[F02] F07 F08 F09 F10 F12 F15 F16", "the call that is refused is the same four times: F05 is F01 too"},
		{shop.World(&shop.Options{Small: true}), "small-0000",
			"F02 F04 F05[F07 F10] F06[F02] F07 F08 F09 F10 F12 F15 F16 F18", "every page is another; options come in any order"},
		{keydoor.World(&keydoor.Options{Small: true}), "small-2,2,1,0",
			"F01[F08 F16 F17] F02 F03[F04 F10] F04 F05[F10] F06 F09 F10 F15 F16 F20",
			"noop to wait with; no words to invent; 12 turns are no detour of a plan of 8"},
		{game24.World(nil), "1,1,1,8",
			"F02 F03[F04] F04 F05[F07 F09] F06[F02] F07 F09 F15 F16", "all calls are shown in the data, so that no loop is one"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		plants, err := rigtest.Plants(context.Background(), tt.world, envharness.Task{ID: tt.task})
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, p := range plants {
			s := string(p.Flaw)
			if len(p.Entails) > 0 {
				s += fmt.Sprint(p.Entails)
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s (%s)", tt.task, s, tt.want, tt.reason)
		}
	}
}

// What policies do whose flaw is how they take an error, where that is not the one they were made for.
func TestFlawedReactions(t *testing.T) {
	desk := tooldesk.World(&tooldesk.Options{Small: true})
	house := household.World(&household.Options{Small: true})
	tests := []struct {
		world  envharness.World
		task   string
		flaw   diagnosis.ID
		stack  envharness.Component
		want   string // tools
		passes bool
		reason string
	}{
		{desk, "small-T1-0000", diagnosis.NoRetry, components.ToolFail{Tools: []string{"get_order"}},
			"find_customer get_order cancel_order find_customer submit", true, "it does without, and looks at what it wrote in another way"},
		{desk, "small-T1-0000", diagnosis.NoRetry, components.ToolFail{Tools: []string{"find_customer"}}, "find_customer", false, "it cannot do without"},
		{house, "small-pick_and_place_simple-7-0", diagnosis.NoRetry, components.ToolFail{}, "do", false, "the only tool failed"},
		{desk, "small-T1-0000", diagnosis.IgnoredError, components.ToolFail{Tools: []string{"get_order"}},
			"find_customer get_order get_order cancel_order get_order submit", true, "a read that failed has nothing to go on with"},
		{desk, "small-T1-0000", diagnosis.IgnoredError, components.ToolFail{Tools: []string{"cancel_order"}},
			"find_customer get_order cancel_order submit", false, "nothing is looked at either"},
		{desk, "small-T1-0000", diagnosis.Hammering, components.RateLimit{Tools: []string{"get_order"}, Calls: 1, Per: 4},
			"find_customer get_order cancel_order get_order get_order get_order submit", true, "it calls until it is let through"},
		{desk, "small-T1-0000", diagnosis.Distracted, components.Distractor{N: new(1), Pool: []envharness.Tool{{Name: "gossip"}}},
			"find_customer gossip gossip get_order cancel_order get_order", false, "twice, and it gives up"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		flawed, err := rigtest.Flawed(tt.world, tt.flaw, &rigtest.Options{Rate: new(1.0)})
		if err != nil {
			t.Fatal(err)
		}
		e := exam{Trace: play(t, tt.world, []envharness.Component{tt.stack}, envharness.Task{ID: tt.task}, flawed, 1)[0]}
		var got []string
		for i := range e.Turns {
			got = append(got, e.tool(i))
		}
		if s := strings.Join(got, " "); s != tt.want || e.passed() != tt.passes {
			t.Errorf("%s: %s, passed %t, want %s, %t (%s)", tt.flaw, s, e.passed(), tt.want, tt.passes, tt.reason)
		}
	}
}

// A task is planned once, however many policies are made for it.
func TestMakersPlanOnce(t *testing.T) {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	open, opened := w.New, 0
	w.New = func(ctx context.Context) (envharness.Environment, error) {
		opened++
		return open(ctx)
	}
	coin, err := rigtest.Coin(w, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	after := make([]int, 3)
	for i, id := range []string{"small-T1-0000", "small-T1-0000", "small-T2-0000"} {
		if _, err := coin(envharness.Task{ID: id}, rng); err != nil {
			t.Fatal(err)
		}
		after[i] = opened
	}
	if after[0] == 0 || after[1] != after[0] || after[2] != 2*after[0] {
		t.Errorf("environments opened after one, two and three policies: %v", after)
	}
}

// The share of flawed episodes is the rate, and the others are played as the clean policy plays.
func TestFlawedRate(t *testing.T) {
	w := keydoor.World(&keydoor.Options{Small: true})
	task := tasks(t, w, 1)[0]
	clean := play(t, w, nil, task, rigtest.Clean(w), 1)[0]
	const n = 300
	for _, rate := range []float64{0, 0.3, 0.8, 1} {
		flawed, err := rigtest.Flawed(w, diagnosis.PrematureStop, &rigtest.Options{Rate: &rate})
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for _, tr := range play(t, w, nil, task, flawed, n) {
			if tr.Verdict.Status != envharness.Pass {
				shown++
				continue
			}
			if tr.Slot, tr.Kind = 0, clean.Kind; !reflect.DeepEqual(tr, clean) {
				t.Fatalf("rate %g: a sound episode is not that of the clean policy: %s", rate, told(tr))
			}
		}
		within(t, "flawed at rate", shown, n, rate)
	}
}

// within checks a count against three standard deviations of the binomial distribution.
func within(t *testing.T, what string, x, n int, p float64) {
	t.Helper()
	if math.Abs(float64(x)-float64(n)*p) > 3*math.Sqrt(float64(n)*p*(1-p)) {
		t.Errorf("%s %g: %d of %d", what, p, x, n)
	}
}

// Traces do not depend on how many are played at once: makers may be used by several goroutines.
func TestMakersConcurrent(t *testing.T) {
	w := tooldesk.World(&tooldesk.Options{Small: true})
	some := slices.Repeat(tasks(t, w, 4), 3)
	for _, maker := range []struct {
		name string
		make func() (rigtest.Maker, error)
	}{
		{"clean", func() (rigtest.Maker, error) { return rigtest.Clean(w), nil }},
		{"flawed", func() (rigtest.Maker, error) {
			return rigtest.Flawed(w, diagnosis.BlindRetry, &rigtest.Options{Rate: new(0.5)})
		}},
		{"patience", func() (rigtest.Maker, error) { return rigtest.Patience(w, 0.6) }},
		{"retry", func() (rigtest.Maker, error) { return rigtest.Retry(w, 0.6) }},
		{"coin", func() (rigtest.Maker, error) { return rigtest.Coin(w, 0.6) }},
	} {
		var traces [2][]envharness.Trace
		for i, parallel := range []int{1, 4} {
			newPolicy, err := maker.make()
			if err != nil {
				t.Fatal(err)
			}
			traces[i], err = envharness.Rollouts(context.Background(), w, []envharness.Component{components.ToolFail{}}, func(slot int) (envharness.Policy, error) {
				return newPolicy(some[slot], envharness.RandStream(3, "rigtest/test", uint64(slot)))
			}, some, &envharness.RolloutOptions{Parallel: parallel})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, tr := range traces[1] {
			if maker.name == "clean" && tr.Verdict.Status != envharness.Pass {
				t.Errorf("task %s: %s", tr.Task.ID, told(tr))
			}
		}
		if !reflect.DeepEqual(traces[0], traces[1]) {
			t.Errorf("%s: traces differ with four rollouts at once", maker.name)
		}
	}
}

func TestFlawedErrors(t *testing.T) {
	w := game24.World(nil)
	nan := math.NaN()
	tests := []struct {
		flaw   diagnosis.ID
		o      *rigtest.Options
		want   string
		reason string
	}{
		{"F99", nil, `rigtest: flaw "F99" cannot be planted, want one of [F01 F02`, "no flaw"},
		{diagnosis.StaleBelief, nil, `rigtest: flaw "F13" cannot be planted`, "one that no policy here has"},
		{diagnosis.Loop, &rigtest.Options{Rate: new(1.5)}, "rigtest: rate 1.5 of flaw F01 is outside [0, 1]", "too high"},
		{diagnosis.Loop, &rigtest.Options{Rate: new(-0.1)}, "rigtest: rate -0.1 of flaw F01 is outside [0, 1]", "negative"},
		{diagnosis.Loop, &rigtest.Options{Rate: &nan}, "rigtest: rate NaN of flaw F01 is outside [0, 1]", "no number"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		if _, err := rigtest.Flawed(w, tt.flaw, tt.o); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.reason, err, tt.want)
		}
	}
}

// What is wrong with a world or a task is an error of the maker, for each of them.
func TestMakerErrors(t *testing.T) {
	closed := errors.New("closed for today")
	good := game24.World(nil)
	bare := good
	bare.New = func(ctx context.Context) (envharness.Environment, error) {
		env, err := good.New(ctx)
		return plain{env}, err
	}
	broken := good
	broken.New = func(context.Context) (envharness.Environment, error) { return nil, closed }
	tests := []struct {
		world  envharness.World
		task   string
		want   error
		reason string
	}{
		{good, "9,9,9", envharness.ErrNoTask, "no such task"},
		{good, "4,4,6,6", envharness.ErrNoPlan, "a task without a solution"},
		{bare, "3,3,8,8", envharness.ErrNotProven, "a world without an oracle"},
		{broken, "3,3,8,8", closed, "a world that does not open"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a case needs a reason")
		}
		task := envharness.Task{ID: tt.task}
		flawed, err1 := rigtest.Flawed(tt.world, diagnosis.NoRetry, nil)
		patience, err2 := rigtest.Patience(tt.world, 0.5)
		retry, err3 := rigtest.Retry(tt.world, 0.5)
		coin, err4 := rigtest.Coin(tt.world, 0.5)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		for i, maker := range []rigtest.Maker{rigtest.Clean(tt.world), flawed, patience, retry, coin} {
			if _, err := maker(task, rand.New(rand.NewPCG(1, 1))); !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), "rigtest: task") {
				t.Errorf("%s: maker %d: error %v, want %v", tt.reason, i, err, tt.want)
			}
		}
		if _, err := rigtest.Plants(context.Background(), tt.world, task); !errors.Is(err, tt.want) {
			t.Errorf("%s: plants: error %v, want %v", tt.reason, err, tt.want)
		}
	}
	loop, err := rigtest.Flawed(good, diagnosis.Loop, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loop(envharness.Task{ID: "3,3,8,8"}, rand.New(rand.NewPCG(1, 1))); !errors.Is(err, rigtest.ErrNoPlace) {
		t.Errorf("a loop in game24: error %v, want %v", err, rigtest.ErrNoPlace)
	}
	if _, err := rigtest.Clean(envharness.World{})(envharness.Task{ID: "x"}, nil); err == nil {
		t.Error("a world without New is no error")
	}
}

// A plain environment hides what it can do besides.
type plain struct{ env envharness.Environment }

func (p plain) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	return p.env.Reset(ctx, o)
}
func (p plain) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	return p.env.Step(ctx, a)
}
func (p plain) Close() error { return p.env.Close() }
