package chain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/sim"
	"github.com/throughline-go/throughline/internal/stat"
	"github.com/throughline-go/throughline/internal/text"
)

func open(t testing.TB, e Experiment) *sim.Env {
	t.Helper()
	env, err := New(e)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func reset(t testing.TB, env *sim.Env, id string) envharness.Observation {
	t.Helper()
	o, err := env.Reset(context.Background(), envharness.ResetOptions{Task: id})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func act(action int) envharness.Action {
	return envharness.Action{Name: "act", Args: fmt.Appendf(nil, `{"action":%d}`, action)}
}

func step(t testing.TB, env *sim.Env, a envharness.Action) envharness.Transition {
	t.Helper()
	got, err := env.Step(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// start begins an episode without the environment around it.
func start(t testing.TB, e Experiment, id string) *episode {
	t.Helper()
	s, err := e.simulation()
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Start(id)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := p.(memoryEpisode); ok {
		return m.episode
	}
	return p.(*episode)
}

// number returns the number that follows a word of a text.
func number(t testing.TB, text, word string) int {
	t.Helper()
	_, rest, _ := strings.Cut(text, word+" ")
	n, err := strconv.Atoi(strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' })[0])
	if err != nil {
		t.Fatalf("%q: no number after %q", text, word)
	}
	return n
}

func splitOf(t testing.TB, e Experiment, split string) []envharness.Task {
	t.Helper()
	list, err := open(t, e).Tasks(context.Background(), split)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var splits = []string{"train", "validation", "test", "ood"}

// The worked number of the specification: length 3 and the wrong umbrella: the last reward is -1. (The regret of 2 is in TestScore.)
func TestWorkedUmbrella(t *testing.T) {
	env := open(t, UmbrellaLength)
	for k := range 20 {
		for _, right := range []bool{true, false} {
			o := reset(t, env, fmt.Sprintf("3-%d", k))
			need := number(t, o.Text, "Need")
			first := need
			if !right {
				first = 1 - need
			}
			sum := 0.
			for i, a := range []int{first, need, need} { // later ones do nothing
				got := step(t, env, act(a))
				sum += got.Reward
				if has := number(t, got.Observation.Text, "has"); has != first {
					t.Fatalf("episode %d: has %d after the action %d", k, has, first)
				}
				if math.Abs(got.Reward) != 1 || got.Terminated != (i == 2) || i == 2 && (got.Reward == 1) != right {
					t.Fatalf("episode %d, right %v, action %d: %+v", k, right, i+1, got)
				}
			}
		}
	}
}

func TestTexts(t *testing.T) {
	for _, tt := range []struct {
		experiment Experiment
		id         string
		actions    []int
		want       []string
	}{
		{MemoryLen, "2-3", []int{0, 0, 1}, []string{
			"Bit 1, left 2 of 2", "Bit 1, left 2 of 2", "Bit hidden, left 1 of 2", "Bit hidden, left 0 of 2",
		}},
		{MemoryLen, "1-2", []int{0, 1}, []string{"Bit 0, left 1 of 1", "Bit 0, left 1 of 1", "Bit hidden, left 0 of 1"}},
		{DiscountingChain, "7-0", []int{3, 0}, []string{
			"Map c, chain none, left 100 of 100", "Map c, chain 3, left 99 of 100", "Map c, chain 3, left 98 of 100",
		}},
		{DeepSeaShort, "4-0", []int{0, 0, 0, 0}, nil},
	} {
		env := open(t, tt.experiment)
		texts := []string{reset(t, env, tt.id).Text}
		for _, a := range tt.actions {
			texts = append(texts, step(t, env, act(a)).Observation.Text)
		}
		task := env.Describe()
		for i := range texts {
			var ok bool
			texts[i], ok = strings.CutPrefix(texts[i], start(t, tt.experiment, tt.id).world.task+" ")
			if !ok {
				t.Errorf("%s: %q does not begin with the task", task.Name, texts[i])
			}
		}
		if tt.want == nil { // by the rule
			e := start(t, tt.experiment, tt.id).process.(*seaChain)
			column := 0
			for row := range 4 {
				tt.want = append(tt.want, fmt.Sprintf("Size 4, row %d, column %d", row, column))
				if e.rightward(row, column) == 0 {
					column++
				} else {
					column = max(column-1, 0)
				}
			}
			tt.want = append(tt.want, "Size 4, bottom")
		}
		if !slices.Equal(texts, tt.want) {
			t.Errorf("%s %s: got\n%s\nwant\n%s", tt.experiment, tt.id, strings.Join(texts, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// Behind a setup that takes the steps in which the bit is shown, the text still tells it, and one who reads it there passes. The other
// experiments show all that matters in each text.
func TestSetup(t *testing.T) {
	for _, e := range []Experiment{MemoryLen, MemoryLenShort} {
		w, err := World(e)
		if err != nil {
			t.Fatal(err)
		}
		known := open(t, e).Describe().Vocabulary
		h, err := envharness.New(w, envharness.Setup{Actions: []envharness.Action{act(1), act(0)}})
		if err != nil {
			t.Fatal(err)
		}
		bits := map[string]bool{}
		for k := range 20 {
			o, err := h.Reset(t.Context(), envharness.ResetOptions{Task: id(4, k)})
			if err != nil {
				t.Fatal(err)
			}
			bit := string(o.Text[strings.Index(o.Text, "Bit ")+len("Bit ")])
			bits[bit] = true
			task := o.Data["task"].(string)
			want := task + " Bit " + bit + ", left 4 of 4\nDone so far:\n" +
				"act 1 -> " + task + " Bit " + bit + ", left 4 of 4\n" +
				"act 0 -> " + task + " Bit hidden, left 3 of 4"
			if o.Text != want {
				t.Errorf("%s: %q, want %q", e, o.Text, want)
			}
			for _, word := range text.Words(o.Text) {
				if _, ok := slices.BinarySearch(known, word); !ok {
					t.Errorf("%s: %q is not in the vocabulary", e, word)
				}
			}
			for range 3 {
				if _, err := h.Step(t.Context(), act(int(bit[0]-'0'))); err != nil {
					t.Fatal(err)
				}
			}
			if v, err := h.Verdict(t.Context()); err != nil || v.Status != envharness.Pass {
				t.Errorf("%s %d: %+v, %v, want a pass with the bit that was told", e, k, v, err)
			}
		}
		if !bits["0"] || !bits["1"] {
			t.Errorf("%s: bits %v, want both", e, bits)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, e := range Experiments() {
		env := open(t, e)
		first := env.Describe()
		choices := start(t, e, id(e.Settings()[0].Number, 0)).world.choices()
		for _, tt := range []struct {
			action, args string
			class        envharness.ErrorClass
		}{
			{"move", `{"action":0}`, envharness.ClassUnknownTool},
			{"act", "", envharness.ClassBadArgs},
			{"act", `{"action":-1}`, envharness.ClassBadArgs},
			{"act", fmt.Sprintf(`{"action":%d}`, choices), envharness.ClassBadArgs},
			{"act", `{"action":0.5}`, envharness.ClassBadArgs},
			{"act", `{"action":"0"}`, envharness.ClassBadArgs},
			{"act", `{"action":null}`, envharness.ClassBadArgs},
			{"act", `{"action":0,"more":1}`, envharness.ClassBadArgs},
		} {
			before := reset(t, env, "")
			got := step(t, env, envharness.Action{Name: tt.action, Args: []byte(tt.args)})
			if got.Error == nil || got.Error.Class != tt.class || got.Reward != 0 || got.Observation.Text != before.Text {
				t.Errorf("%s: %s %s: %+v, want %s and nothing else", first.Name, tt.action, tt.args, got, tt.class)
			}
		}
		reset(t, env, "")
		if got := step(t, env, envharness.Action{Name: "act", Args: []byte(` { "action" : 1.0e0 } `)}); got.Error != nil {
			t.Errorf("%s: 1.0e0: %v", e, got.Error)
		}
	}
}

func TestNoTask(t *testing.T) {
	for _, tt := range []struct {
		experiment Experiment
		id, reason string
	}{
		{UmbrellaLength, "11-0", "no such length"},
		{UmbrellaLength, "20-10200", "past the last episode"},
		{UmbrellaLength, "25-10000", "out of distribution there is the run alone"},
		{UmbrellaLength, "20", "no episode"},
		{UmbrellaLength, "20-", "no episode"},
		{UmbrellaLength, "20-01", "not plain"},
		{UmbrellaLength, "+20-1", "not plain"},
		{UmbrellaLength, "20--1", "negative"},
		{UmbrellaLength, "20-1-1", "three numbers"},
		{UmbrellaLength, "20-99999999999999999999", "too large"},
		{UmbrellaLength, "\xff", "no number"},
		{DiscountingChain, "0-1200", "its run has 1,000 episodes"},
		{DiscountingChain, "20-0", "there are 20 settings"},
		{DeepSea, "11-0", "no such size"},
		{DeepSeaShort, "7-1040", "a short run has 1,000 episodes"},
	} {
		_, err := open(t, tt.experiment).Reset(t.Context(), envharness.ResetOptions{Task: tt.id})
		if !errors.Is(err, envharness.ErrNoTask) || tt.reason == "" || !strings.HasPrefix(err.Error(), string(tt.experiment)+": ") {
			t.Errorf("%s: %q (%s): %v, want %v", tt.experiment, tt.id, tt.reason, err, envharness.ErrNoTask)
		}
	}
	for _, tt := range []struct {
		experiment Experiment
		id         string
	}{
		{UmbrellaLength, "20-10199"}, {UmbrellaLength, "100-9999"}, {DiscountingChain, "0-1199"}, {DeepSeaShort, "7-1039"},
	} {
		reset(t, open(t, tt.experiment), tt.id)
	}
	if _, err := open(t, DeepSea).Tasks(t.Context(), "dev"); err == nil {
		t.Error("the split dev is listed")
	}
	for _, e := range []Experiment{"", "umbrella", "UMBRELLA_LENGTH"} {
		_, err1 := New(e)
		_, err2 := World(e)
		_, err3 := e.Score([]Result{{}})
		if err1 == nil || err2 == nil || err3 == nil || e.Settings() != nil {
			t.Errorf("experiment %q is known", e)
		}
	}
}

// The sweeps are those of bsuite, the splits have the stated sizes and share no id, and what is listed is all that can be played.
func TestSplits(t *testing.T) {
	for _, tt := range []struct {
		experiment  Experiment
		settings    int
		first, last int
		ood         int
		sizes       [4]int
	}{
		{UmbrellaLength, 23, 1, 100, 9, [4]int{140_000, 1400, 1400, 90_000}},
		{UmbrellaDistract, 23, 1, 100, 9, [4]int{140_000, 1400, 1400, 90_000}},
		{DiscountingChain, 20, 0, 19, 4, [4]int{16_000, 1600, 1600, 4000}},
		{MemoryLen, 23, 1, 100, 9, [4]int{140_000, 1400, 1400, 90_000}},
		{DeepSea, 21, 10, 50, 10, [4]int{110_000, 1100, 1100, 100_000}},
		{UmbrellaLengthShort, 10, 1, 10, 4, [4]int{6000, 120, 120, 4000}},
		{UmbrellaDistractShort, 13, 1, 17, 5, [4]int{8000, 160, 160, 5000}},
		{DiscountingChainShort, 20, 0, 19, 4, [4]int{16_000, 320, 320, 4000}},
		{MemoryLenShort, 9, 1, 9, 3, [4]int{6000, 120, 120, 3000}},
		{DeepSeaShort, 7, 4, 10, 3, [4]int{4000, 80, 80, 3000}},
	} {
		settings := tt.experiment.Settings()
		ood := 0
		for _, s := range settings {
			if s.OOD {
				ood++
			}
		}
		if len(settings) != tt.settings || settings[0].Number != tt.first || settings[len(settings)-1].Number != tt.last || ood != tt.ood {
			t.Errorf("%s: %d settings, %d of them ood: %+v", tt.experiment, len(settings), ood, settings)
		}
		d, _ := tt.experiment.design()
		if testing.Short() && !d.name.Short() {
			continue // the lists are long
		}
		playable := 0
		for i, split := range splits {
			list := splitOf(t, tt.experiment, split)
			if len(list) != tt.sizes[i] {
				t.Errorf("%s, %s: %d tasks, want %d", tt.experiment, split, len(list), tt.sizes[i])
			}
			playable += len(list)
			last := -1
			for _, task := range list {
				n, k, err := d.parse(task.ID)
				if err != nil || task.Split != split || task.Family != strconv.Itoa(n) || d.ood(n) != (split == "ood") {
					t.Fatalf("%s, %s: %+v, %v", tt.experiment, split, task, err)
				}
				if at := k*1000 + n; at <= last { // n is at most 100, so that none comes twice
					t.Fatalf("%s, %s: %s out of order", tt.experiment, split, task.ID)
				} else {
					last = at
				}
				from, to := 0, d.episodes
				switch split {
				case "validation":
					from, to = d.episodes, d.episodes+d.held
				case "test":
					from, to = d.episodes+d.held, d.episodes+2*d.held
				}
				if k < from || k >= to {
					t.Fatalf("%s, %s: episode %d", tt.experiment, split, k)
				}
			}
		}
		total := 0
		for _, s := range settings {
			total += d.playable(s.Number)
		}
		if total != playable {
			t.Errorf("%s: %d episodes can be played, %d are listed", tt.experiment, total, playable)
		}
	}
}

// play plays an episode and returns its rewards, and whether it came to its end.
func play(t testing.TB, env *sim.Env, id string, choose func(o envharness.Observation, turn int) envharness.Action) ([]float64, bool) {
	t.Helper()
	shown := reset(t, env, id)
	var rewards []float64
	for turn := 0; ; turn++ {
		got := step(t, env, choose(shown, turn))
		rewards = append(rewards, got.Reward)
		shown = got.Observation
		if got.Ended() {
			return rewards, got.Terminated
		}
	}
}

// An episode pays and passes as the slow oracles say, whatever the actions, and its plan is the best there is.
func TestAgreesWithSlowChains(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := rapid.SampledFrom(Experiments()).Draw(rt, "experiment")
		settings := e.Settings()
		s := rapid.SampledFrom(settings).Draw(rt, "setting")
		task := id(s.Number, rapid.IntRange(0, s.Episodes-1).Draw(rt, "episode"))
		p := start(t, e, task)
		// Mostly one action, so that the end of a sea comes up, and now and then another.
		best, err := p.Plan()
		if err != nil {
			rt.Fatal(err)
		}
		actions := make([]int, s.Steps)
		for i, a := range best {
			if a.Name != "act" {
				rt.Fatalf("plan %v", best)
			}
			actions[i], _ = p.world.read(a)
			if rapid.IntRange(0, s.Steps).Draw(rt, "other") == 0 {
				actions[i] = rapid.IntRange(0, p.world.choices()-1).Draw(rt, "action")
			}
		}
		o := p.Text()
		var want outcome
		switch c := p.process.(type) {
		case *umbrellaChain:
			want = slowUmbrella(number(t, o, "Need"), s.Steps, actions)
		case *discountingChain:
			times := []int{1, 3, 10, 30, 100}
			if e == DiscountingChainShort {
				times = []int{1, 2, 4, 6, 10}
			}
			want = slowDiscounting(s.Number, times, s.Steps, actions)
		case *memoryChain:
			want = slowMemory(number(t, o, "Bit"), s.Number, actions)
		case *seaChain:
			right := make([][]int, s.Number)
			for row := range right {
				right[row] = make([]int, s.Number)
				for column := range right[row] {
					right[row][column] = c.rightward(row, column)
				}
			}
			want = slowSea(right, actions)
		}
		lost := false
		for i, a := range actions {
			plan, err := p.Plan()
			if lost = errors.Is(err, envharness.ErrNoPlan); !lost && (err != nil || len(plan) != s.Steps-i) {
				rt.Fatalf("before action %d: plan %v, %v", i, plan, err)
			}
			if !lost && rapid.IntRange(0, 9).Draw(rt, "check plan") == 0 {
				q := start(t, e, task)
				for _, b := range actions[:i] {
					q.Step(act(b))
				}
				for _, b := range plan {
					q.Step(b)
				}
				if q.Verdict().Status != envharness.Pass {
					rt.Fatalf("the plan after %v does not pass: %v", actions[:i], plan)
				}
			}
			got := p.Step(act(a))
			if r := want.rewards[i]; !(got.Reward == r || math.IsNaN(r) && math.Abs(got.Reward) == 1) || got.Ended != (i == s.Steps-1) {
				rt.Fatalf("action %d of %v: %+v, want the reward %v", i, actions, got, r)
			}
		}
		v := p.Verdict()
		if (v.Status == envharness.Pass) != want.pass || lost && want.pass || (v.Score == 1) != want.pass || (v.Reason == "") != want.pass {
			rt.Fatalf("%v: %+v, want pass %v (plan lost: %v)", actions, v, want.pass, lost)
		}
	})
}

// Every chain of every setting pays what it says, when it says.
func TestPays(t *testing.T) {
	for e, times := range map[Experiment][]int{DiscountingChain: {1, 3, 10, 30, 100}, DiscountingChainShort: {1, 2, 4, 6, 10}} {
		for _, s := range e.Settings() {
			for arm := range arms {
				want := slowDiscounting(s.Number, times, s.Steps, []int{arm})
				p := start(t, e, id(s.Number, 0))
				for i, r := range want.rewards {
					if i == 1 {
						if _, err := p.Plan(); (err == nil) != want.pass {
							t.Fatalf("%s %d, chain %d: plan %v", e, s.Number, arm, err)
						}
					}
					if got := p.Step(act(max(arm-i, 0))); got.Reward != r { // later actions do nothing
						t.Fatalf("%s %d, chain %d, step %d: reward %v, want %v", e, s.Number, arm, i+1, got.Reward, r)
					}
				}
				if (p.Verdict().Status == envharness.Pass) != want.pass {
					t.Fatalf("%s %d, chain %d: %+v", e, s.Number, arm, p.Verdict())
				}
			}
		}
	}
}

// A sea is lost with the first step to the left, wherever that is, and its last column is the last.
func TestSeaLost(t *testing.T) {
	s := newSea(12, newRandom(1, "test/sea", 0))
	for wrong := range 13 {
		c := *s
		for i := range 12 {
			a := c.rightward(c.row, c.column)
			if i == wrong {
				a = 1 - a
			}
			c.step(a)
			if _, why := c.plan(); (why != "") != (i >= wrong) && !c.ended() {
				t.Errorf("left on step %d, after step %d: %q", wrong, i, why)
			}
		}
		if !c.ended() || c.passes() != (wrong == 12) || c.column > 11 {
			t.Errorf("left on step %d: ended %v, passes %v, column %d", wrong, c.ended(), c.passes(), c.column)
		}
	}
}

// All maps of the sea have both actions on the diagonal, so that no single action reaches the end, and half of all places each.
func TestMaps(t *testing.T) {
	for _, e := range []Experiment{DeepSea, DeepSeaShort} {
		ones, places := 0, 0
		for _, s := range e.Settings() {
			c := start(t, e, id(s.Number, 0)).process.(*seaChain)
			if d := start(t, e, id(s.Number, s.Episodes-1)).process.(*seaChain); !slices.Equal(c.right, d.right) {
				t.Errorf("%s, size %d: another map in another episode", e, s.Number)
			}
			diagonal := 0
			for i := range s.Number {
				diagonal += c.rightward(i, i)
				for j := range s.Number {
					ones += c.rightward(i, j)
				}
			}
			places += s.Number * s.Number
			if diagonal == 0 || diagonal == s.Number {
				t.Errorf("%s, size %d: one action goes right all along the diagonal", e, s.Number)
			}
		}
		if p := float64(ones) / float64(places); math.Abs(p-0.5) > 4*0.5/math.Sqrt(float64(places)) {
			t.Errorf("%s: action 1 goes right in %.3f of %d places", e, p, places)
		}
	}
}

// Coins, bits and signs are fair, and an episode is the same each time.
func TestFair(t *testing.T) {
	const episodes = 2000
	env := open(t, UmbrellaLength)
	var need, has, signs, coin float64
	for k := range episodes {
		o := reset(t, env, id(5, k))
		if again := reset(t, env, id(5, k)); again.Text != o.Text {
			t.Fatal("another first text")
		}
		need += float64(number(t, o.Text, "Need"))
		has += float64(number(t, o.Text, "has"))
		_, s, _ := strings.Cut(o.Text, "signs ")
		signs += float64(strings.Count(s, "1")) / 20
		next := step(t, env, act(0))
		coin += (next.Reward + 1) / 2
		if _, s2, _ := strings.Cut(next.Observation.Text, "signs "); k == 0 && s2 == s {
			t.Error("the signs stay the same")
		}
	}
	for name, sum := range map[string]float64{"need": need, "has": has, "coin": coin} {
		if d := sum/episodes - 0.5; math.Abs(d) > 4*0.5/math.Sqrt(episodes) {
			t.Errorf("%s is 1 in %.3f of the episodes", name, 0.5+d)
		}
	}
	if d := signs/episodes - 0.5; math.Abs(d) > 4*0.5/math.Sqrt(20*episodes) {
		t.Errorf("%.3f of the signs are 1", 0.5+d)
	}
	bits := 0.
	for k := range episodes {
		bits += float64(start(t, MemoryLen, id(5, k)).process.(*memoryChain).bit)
	}
	if d := bits/episodes - 0.5; math.Abs(d) > 4*0.5/math.Sqrt(episodes) {
		t.Errorf("%.3f of the bits are 1", 0.5+d)
	}
}

// Oracles pass every split within the limit; policies that know nothing pass no more than the declared chance, and none without a step.
func TestPolicies(t *testing.T) {
	for _, e := range Experiments() {
		env := open(t, e)
		chance := env.Describe().Chance
		for _, split := range splits {
			if d, _ := e.design(); testing.Short() && !d.name.Short() {
				continue
			}
			list := slices.Clip(splitOf(t, e, split)[:80])
			oracle := func(task string) bool {
				reset(t, env, task)
				plan, err := env.Plan(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				_, ended := play(t, env, task, func(_ envharness.Observation, turn int) envharness.Action { return plan[turn] })
				return ended && verdict(t, e, task, plan).Status == envharness.Pass
			}
			for _, task := range list[:40] {
				if !oracle(task.ID) {
					t.Fatalf("%s: %s: the plan does not pass", e, task.ID)
				}
			}
			for policy, allowed := range map[string]float64{"noop": 0, "submit": 0, "random": chance, "repeat": chance} {
				r := envharness.RandStream(3, "test/"+policy, 0)
				passed, played := 0, 0
				for _, task := range list {
					p := start(t, e, task.ID)
					repeated := r.IntN(p.world.choices())
					for i := range p.steps {
						a := repeated
						if policy == "random" {
							a = r.IntN(p.world.choices())
						}
						if policy == "noop" || policy == "submit" && i > 0 {
							break
						}
						p.Step(act(a))
					}
					if p.steps == 1 && policy == "submit" {
						continue // that is to repeat
					}
					played++
					if p.Verdict().Status == envharness.Pass {
						passed++
					}
				}
				interval, err := stat.Wilson(passed, played, 0.95)
				if err != nil || interval.Lo > allowed || allowed == 0 && passed > 0 {
					t.Errorf("%s, %s: %s passes %d of %d, %v", e, split, policy, passed, played, err)
				}
			}
		}
	}
}

func verdict(t testing.TB, e Experiment, task string, actions []envharness.Action) envharness.Verdict {
	t.Helper()
	w, err := World(e)
	if err != nil {
		t.Fatal(err)
	}
	log := []envharness.LogEntry{{Kind: envharness.LogReset}}
	for _, a := range actions {
		log = append(log, envharness.LogEntry{Kind: envharness.LogStep, Action: a})
	}
	v, err := w.Verifier.Verify(context.Background(), envharness.Evidence{Task: task, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Every word is in the vocabulary; a short sweep's texts have at most 40 words and tell the task, its episodes at most 12 turns.
func TestVocabulary(t *testing.T) {
	for _, e := range Experiments() {
		d, _ := e.design()
		env := open(t, e)
		desc := env.Describe()
		if !slices.IsSorted(desc.Vocabulary) || len(slices.Compact(slices.Clone(desc.Vocabulary))) != len(desc.Vocabulary) {
			t.Errorf("%s: the vocabulary is not sorted, or not unique", e)
		}
		if d.name.Short() && desc.MaxTurns > 12 {
			t.Errorf("%s: %d turns", e, desc.MaxTurns)
		}
		r := envharness.RandStream(4, "test/words", 0)
		for _, s := range e.Settings() {
			check := func(o envharness.Observation) {
				var all strings.Builder
				all.WriteString(o.Text + " " + o.Data["task"].(string))
				for _, a := range o.Actions {
					all.WriteString(" " + a.Text())
				}
				for _, w := range text.Words(all.String()) {
					if _, ok := slices.BinarySearch(desc.Vocabulary, w); !ok {
						t.Fatalf("%s: %q in %q is not in the vocabulary", e, w, all.String())
					}
				}
				if n := len(text.Words(o.Text)); d.name.Short() && n > 40 {
					t.Fatalf("%s: %d words: %q", e, n, o.Text)
				}
				if !strings.HasPrefix(o.Text, o.Data["task"].(string)+" ") {
					t.Fatalf("%s: %q does not tell the task", e, o.Text)
				}
			}
			shown := reset(t, env, id(s.Number, 0))
			check(shown)
			for len(shown.Actions) > 0 {
				shown = step(t, env, shown.Actions[r.IntN(len(shown.Actions))]).Observation
				check(shown)
			}
		}
	}
}

// An episode may have two calls refused and still come to its end, and no more.
func TestLimit(t *testing.T) {
	for _, e := range Experiments() {
		env := open(t, e)
		for _, s := range e.Settings() {
			for refused := range 4 {
				reset(t, env, id(s.Number, 1))
				plan, err := env.Plan(t.Context())
				if err != nil || len(plan) != s.Steps {
					t.Fatalf("%s, %d: a plan of %d actions, %v, want %d", e, s.Number, len(plan), err, s.Steps)
				}
				var last envharness.Transition
				for range refused {
					last = step(t, env, envharness.Action{Name: "wait"})
					if last.Ended() {
						break
					}
				}
				if _, err := env.Plan(t.Context()); !last.Ended() && errors.Is(err, envharness.ErrNoPlan) != (refused > 2) {
					t.Errorf("%s, %d: plan after %d refusals: %v", e, s.Number, refused, err)
				}
				for i := 0; !last.Ended(); i++ {
					last = step(t, env, plan[i])
				}
				if last.Terminated != (refused <= 2) || last.Truncated == last.Terminated {
					t.Errorf("%s, %d: after %d refusals %+v", e, s.Number, refused, last)
				}
			}
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, e := range Experiments() {
		settings := e.Settings()
		for _, s := range []Setting{settings[len(settings)/2], settings[len(settings)-1]} {
			t.Run(fmt.Sprint(e, " ", s.Number), func(t *testing.T) {
				w, err := World(e)
				if err != nil {
					t.Fatal(err)
				}
				envtest.Environment{
					New: w.New, Tasks: []envharness.Task{{ID: id(s.Number, 0)}, {ID: id(s.Number, 3)}}, SeedBlind: true, MaxTurns: s.Steps + 2,
				}.Run(t)
			})
		}
	}
}

func TestVerifier(t *testing.T) {
	for _, e := range Experiments() {
		t.Run(string(e), func(t *testing.T) {
			w, err := World(e)
			if err != nil {
				t.Fatal(err)
			}
			settings := e.Settings()
			at := settings[len(settings)/2]
			envtest.Verifier{
				World: w, Tasks: []envharness.Task{{ID: id(at.Number, 0)}, {ID: id(at.Number, 1)}}, Chance: open(t, e).Describe().Chance,
			}.Run(t)
		})
	}
}
