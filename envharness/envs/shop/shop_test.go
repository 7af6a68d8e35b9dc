package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/sim"
	splitter "github.com/throughline-go/throughline/internal/text"
)

func TestConformance(t *testing.T) {
	forPresets(func(name string, o *Options) {
		world := World(o)
		env := New(o)
		var tasks []envharness.Task
		for _, split := range splits {
			tasks = append(tasks, tasksOf(t, env, split)[0])
		}
		tasks[0], tasks[2] = tasks[3], tasks[0] // three are played: ood, validation and train
		t.Run(name, func(t *testing.T) {
			envtest.Environment{New: world.New, Tasks: tasks, SeedBlind: true}.Run(t)
		})
		t.Run(name+"/verifier", func(t *testing.T) {
			// The options may be clicked in any order.
			options := func(first, second envharness.Action) bool {
				values := slices.Concat(slices.Concat(fullCategories()[0].colors, smallCategories()[0].colors), []string{"small", "medium", "large"})
				return slices.Contains(values, strings.TrimPrefix(first.Text(), "click ")) &&
					slices.Contains(values, strings.TrimPrefix(second.Text(), "click "))
			}
			envtest.Verifier{World: world, Tasks: tasks, Independent: options}.Run(t)
		})
	})
}

// The oracle passes every task with actions that are listed when their turn comes, by the listed search that needs fewest pages, with the
// score as the reward of its last turn.
func TestOracle(t *testing.T) {
	forPresets(func(name string, o *Options) {
		env := New(o)
		s := shopOf(o)
		longest, sum := 0, 0
		tasks := allTasks(t, env)
		for _, k := range tasks {
			obs := reset(t, env, k.ID)
			p := plan(t, env)
			longest, sum = max(longest, len(p)), sum+len(p)
			e := newEpisode(t, s, k.ID)
			shortest := 100
			for _, a := range obs.Actions {
				e.Step(a)
				pages := 1
				for ; !slices.Contains(e.shown(), int32(e.task.goal.product.index)) && e.more(); pages++ {
					e.Step(clickOn(nextLink))
				}
				if slices.Contains(e.shown(), int32(e.task.goal.product.index)) {
					shortest = min(shortest, pages+1+len(e.task.goal.options)+1)
				}
				e.Step(clickOn(backLink))
			}
			if len(p) != shortest {
				t.Errorf("%s: a plan of %d actions, the best search needs %d", k.ID, len(p), shortest)
			}
			for i, a := range p {
				if !slices.ContainsFunc(obs.Actions, func(b envharness.Action) bool { return a.String() == b.String() }) {
					t.Errorf("%s: %s is not listed on turn %d", k.ID, a, i+1)
				}
				u := step(t, env, a)
				if last := i == len(p)-1; u.Error != nil || u.Terminated != last || u.Truncated || (u.Reward == 1) != last {
					t.Fatalf("%s: %s: %+v", k.ID, a, u)
				}
				obs = u.Observation
			}
			if v := s.verdict(t, k.ID, p); v.Status != envharness.Pass || v.Score != 1 {
				t.Errorf("%s: %v %v", k.ID, v.Status, v.Score)
			}
		}
		mean := fmt.Sprintf("%.2f", float64(sum)/float64(len(tasks)))
		wantLongest, wantMean := 9, "5.03" // as the package comment has them
		if name == "small" {
			wantLongest, wantMean = 6, "5.17"
		}
		if longest != wantLongest || mean != wantMean {
			t.Errorf("%s: the longest plan takes %d turns, want %d, the mean %s, want %s", name, longest, wantLongest, mean, wantMean)
		}
	})
}

// A product that no listed search finds is searched by its title, and without that there is no plan.
func TestPlanByTitle(t *testing.T) {
	s := shopOf(nil)
	p := s.products[7]
	p.noun = "zzz"
	k := &task{goal: goal{product: &p}, sentence: "zzz"}
	for _, q := range k.queries() {
		k.searches = append(k.searches, searchFor(q))
	}
	e := &episode{shop: s, task: k}
	e.toIndex()
	got, err := e.Plan()
	if want := "search " + p.title; err != nil || len(got) != 3 || got[0].Text() != want {
		t.Errorf("plan %v, %v, want it to begin with %q", got, err, want)
	}
	p.title = "zzz"
	if got, err := e.Plan(); !errors.Is(err, envharness.ErrNotProven) {
		t.Errorf("plan %v, %v, want %v", got, err, envharness.ErrNotProven)
	}
}

// verdict plays without an environment.
func (s *shop) verdict(tb testing.TB, task string, actions []envharness.Action) envharness.Verdict {
	tb.Helper()
	e := newEpisode(tb, s, task)
	for _, a := range actions {
		e.Step(a)
	}
	return e.Verdict()
}

// From every state the oracle passes, or its plan does not fit into the turns that are left.
func TestOracleFromAnywhere(t *testing.T) {
	forPresets(func(name string, o *Options) {
		t.Run(name, func(t *testing.T) {
			env := New(o)
			tasks := allTasks(t, env)
			limit := env.Describe().MaxTurns
			rapid.Check(t, func(rt *rapid.T) {
				obs := reset(t, env, rapid.SampledFrom(tasks).Draw(rt, "task").ID)
				n := rapid.IntRange(0, limit-1).Draw(rt, "actions")
				for range n {
					free := slices.DeleteFunc(slices.Clone(obs.Actions), func(a envharness.Action) bool { return a.Text() == "click buy now" })
					obs = step(t, env, rapid.SampledFrom(free).Draw(rt, "action")).Observation
				}
				p, err := env.Plan(t.Context())
				if err != nil {
					// From anywhere: back, search, four pages, the product, two options, the purchase.
					if !errors.Is(err, envharness.ErrNotProven) || n+10 <= limit {
						rt.Fatal(err)
					}
					return
				}
				for i, a := range p {
					u := step(t, env, a)
					if u.Error != nil || (u.Reward == 1) != (i == len(p)-1) {
						rt.Fatalf("plan %v: %s: %+v", p, a, u)
					}
				}
			})
		})
	})
}

// Which plan is taken where.
func TestPlans(t *testing.T) {
	s := shopOf(nil)
	k := &s.tasks[0]
	p := k.goal.product
	id := s.ids[p.index]
	order := strings.Join(k.goal.options, ", ") + ", buy now"
	queries := k.queries()
	find := "?" + queries[len(queries)-2] + ", " + id + ", " + order
	hits := s.index.search(p.noun, 50, make([]float64, 1000))
	at := slices.Index(hits, int32(p.index))
	other := s.ids[hits[at/10*10+(at+1)%10]]
	pages := make([]string, at/10)
	for i := range pages {
		pages[i] = "next >"
	}
	toPage := append([]string{"?" + p.noun}, pages...)
	for _, tt := range []struct {
		name   string
		do     []string
		want   string
		reason string
	}{
		{"start", nil, find, "a search for all attributes"},
		{"nothing found", []string{"?zzz"}, "back to search, " + find, "the results do not have it"},
		{"on its page", []string{"?" + p.title, id}, order, "the options are left"},
		{"a page below", []string{"?" + p.title, id, "features"}, "< prev, " + order, "up to the options"},
		{"one chosen", []string{"?" + p.title, id, k.goal.options[0]}, strings.Join(k.goal.options[1:], ", ") + ", buy now", "the other is left"},
		{"wrong one chosen", append([]string{"?" + p.title, id}, p.groups[1].values...), order, "the last one is not wanted, or chosen already"},
		{"among the results", toPage, id + ", " + order, "it is on the page"},
		{"on a page of another", append(slices.Clone(toPage), other), "< prev, " + id + ", " + order, "up to the results"},
		{"below the page of another", append(slices.Clone(toPage), other, "reviews"), "< prev, < prev, " + id + ", " + order, "as short as a new search"},
		{"too far", []string{"?" + p.title, "next >", "next >", "next >"}, "back to search, " + find, "a new search is shorter than three pages back"},
		{"a page back", []string{"?" + p.title, "next >"}, "< prev, " + id + ", " + order, "a page back is shorter than a new search"},
	} {
		e := newEpisode(t, s, k.id)
		for _, do := range tt.do {
			a := clickOn(do)
			if query, ok := strings.CutPrefix(do, "?"); ok {
				a = searchFor(query)
			}
			if r := e.Step(a); r.Refusal != nil {
				t.Fatalf("%s: %s: %s", tt.name, do, r.Refusal.Message)
			}
		}
		actions, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range actions {
			got = append(got, strings.NewReplacer("click ", "", "search ", "?").Replace(a.Text()))
		}
		want := tt.want
		if k.goal.options[1] == p.groups[1].values[4] && tt.name == "wrong one chosen" {
			want = k.goal.options[0] + ", buy now"
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: %s, want %s: %s", tt.name, got, want, tt.reason)
		}
	}
}

// Policies without skill pass at most 2%.
func TestNullPolicies(t *testing.T) {
	episodes := 4000
	if testing.Short() {
		episodes = 500
	}
	forPresets(func(name string, o *Options) {
		env := New(o)
		tasks := allTasks(t, env)
		for _, policy := range []struct {
			name string
			act  func(r *rand.Rand, obs envharness.Observation, first *envharness.Action) envharness.Action
		}{
			{"nothing", func(*rand.Rand, envharness.Observation, *envharness.Action) envharness.Action {
				return envharness.Action{Name: "nothing"}
			}},
			{"random", func(r *rand.Rand, obs envharness.Observation, _ *envharness.Action) envharness.Action {
				return obs.Actions[r.IntN(len(obs.Actions))]
			}},
			{"repeat", func(r *rand.Rand, obs envharness.Observation, first *envharness.Action) envharness.Action {
				if first.Name == "" {
					*first = obs.Actions[r.IntN(len(obs.Actions))]
				}
				return *first
			}},
			{"submit", func(*rand.Rand, envharness.Observation, *envharness.Action) envharness.Action {
				return clickOn(buyLink)
			}},
			{"a product and buy", func(_ *rand.Rand, obs envharness.Observation, _ *envharness.Action) envharness.Action {
				if a := obs.Actions[len(obs.Actions)-1]; a.Name == searchTool || a.Text() == "click buy now" {
					return a
				}
				return obs.Actions[min(2, len(obs.Actions)-1)]
			}},
		} {
			r := envharness.RandStream(1, "policy/"+policy.name, 0)
			passed := 0
			for i := range episodes {
				obs := reset(t, env, tasks[i*len(tasks)/episodes].ID)
				var first envharness.Action
				for {
					u := step(t, env, policy.act(r, obs, &first))
					if obs = u.Observation; u.Reward == 1 {
						passed++
					}
					if u.Ended() {
						break
					}
				}
			}
			if share := float64(passed) / float64(episodes); share > 0.02 {
				t.Errorf("%s: %s passes %v", name, policy.name, share)
			} else {
				t.Logf("%s: %s passes %v of %d", name, policy.name, share, episodes)
			}
		}
	})
}

// The verdict rests on what was bought with which options: these are fields of the state, and graded.
func TestDescription(t *testing.T) {
	forPresets(func(name string, o *Options) {
		env := New(o)
		d := env.Describe()
		if want := []string{"bought", "chosen", "product"}; !slices.Equal(d.Graded, want) {
			t.Errorf("%s: graded %q, want %q", name, d.Graded, want)
		}
		reset(t, env, "")
		state, err := env.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(state, &fields); err != nil {
			t.Fatal(err)
		}
		want := []string{"bought", "chosen", "page", "product", "query", "results_page", "turn"}
		if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
			t.Errorf("%s: the state has %q, want %q", name, got, want)
		}
		limit := map[string]int{"shop": MaxTurns, "shop_small": 12}[d.Name]
		if d.MaxTurns != limit || d.Chance != 0 || len(d.About) < 200 || len(d.Tools) != 2 {
			t.Errorf("%s: %+v", name, d)
		}
	})
}

// Everything that is listed is canonical JSON, as a policy that compares bytes expects, and so are the schemas.
func TestCanonical(t *testing.T) {
	forPresets(func(name string, o *Options) {
		s := shopOf(o)
		check := func(raw json.RawMessage) {
			t.Helper()
			if canon, err := envharness.CanonicalJSON(raw); err != nil || string(canon) != string(raw) {
				t.Errorf("%s: %s is not canonical: %s, %v", name, raw, canon, err)
			}
		}
		for _, tool := range s.describe().Tools {
			check(tool.Schema)
		}
		for _, l := range s.open {
			check(l.action.Args)
		}
		for _, m := range append(slices.Clone(s.items), s.below) {
			for _, a := range m.actions {
				check(a.Args)
			}
		}
		for i := range s.tasks {
			for _, a := range s.tasks[i].searches {
				check(a.Args)
			}
		}
		e := newEpisode(t, s, "")
		for _, query := range []string{"lamp \"red\" <&>", "é\u2028\x00"} {
			e.Step(searchFor(query))
			check(e.AppendState(nil))
			e.Step(clickOn(backLink))
		}
	})
}

// visit calls see with every observation of a walk through the shop: for every task the start, and for all of the small shop and every twentieth of
// the full one all pages of all queries, and the pages of the products on one of them with options chosen.
func visit(t *testing.T, o *Options, see func(task *task, obs envharness.Observation)) {
	t.Helper()
	s := shopOf(o)
	every := 20
	if s.numbered {
		every = 1
	}
	if testing.Short() {
		every *= 10
	}
	for i := range s.tasks {
		k := &s.tasks[i]
		e := newEpisode(t, s, k.id)
		show := func() {
			actions := e.Actions()
			see(k, envharness.Observation{Text: e.Text(), Data: e.Data(), Actions: actions})
		}
		do := func(a envharness.Action) {
			if r := e.Step(a); r.Refusal != nil {
				t.Fatalf("%s: %s: %s", k.id, a, r.Refusal.Message)
			}
			show()
		}
		show()
		if i%every > 0 {
			continue
		}
		for _, q := range append(slices.Clone(e.Actions()), searchFor("zzz")) {
			do(q)
			for e.more() {
				do(clickOn(nextLink))
			}
			do(clickOn(backLink))
		}
		do(k.searches[0])
		for range i / every % 5 {
			if e.more() {
				do(clickOn(nextLink))
			}
		}
		for n := range e.shown() {
			do(clickOn(s.openHit(n, e.shown()[n]).text))
			for _, g := range e.item().groups {
				do(clickOn(g.values[i%len(g.values)]))
			}
			for _, d := range s.pages.details() {
				do(clickOn(d))
				do(clickOn(prevLink))
			}
			do(clickOn(prevLink))
		}
		do(clickOn(s.openHit(0, e.shown()[0]).text))
		e.Step(clickOn(buyLink))
		see(k, envharness.Observation{Text: e.Text(), Data: e.Data()})
	}
}

// Every word of every text, action and task is in the vocabulary, and every one of its words but numbers occurs.
func TestVocabulary(t *testing.T) {
	forPresets(func(name string, o *Options) {
		vocabulary := New(o).Describe().Vocabulary
		if !slices.IsSorted(vocabulary) || len(slices.Compact(slices.Clone(vocabulary))) != len(vocabulary) {
			t.Errorf("%s: the vocabulary is not sorted and unique", name)
		}
		known, seen, unknown := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, w := range vocabulary {
			known[w] = true
		}
		done := map[string]bool{}
		add := func(s string) {
			if done[s] {
				return
			}
			done[s] = true
			for _, w := range splitter.Words(s) {
				if seen[w] = true; !known[w] {
					unknown[w] = true
				}
			}
		}
		visit(t, o, func(task *task, obs envharness.Observation) {
			for part := range strings.SplitSeq(obs.Text, separator) {
				add(part)
			}
			add(obs.Data["task"].(string))
			for _, a := range obs.Actions {
				add(a.Text())
			}
		})
		if name == "full" {
			add(separator)
		}
		if len(unknown) > 0 {
			t.Errorf("%s: the vocabulary lacks %q", name, slices.Sorted(maps.Keys(unknown)))
		}
		for _, w := range vocabulary {
			if !testing.Short() && !seen[w] && (w[0] < '0' || w[0] > '9') {
				t.Errorf("%s: the word %q of the vocabulary does not occur", name, w)
			}
		}
		t.Logf("%s: %d words", name, len(vocabulary))
	})
}

// Texts of the small shop have at most 40 words and tell the goal; at most 25 actions are listed; episodes have at most 12 turns.
func TestSmall(t *testing.T) {
	longest, most := "", 0
	visit(t, &Options{Small: true}, func(task *task, obs envharness.Observation) {
		if n := len(splitter.Words(obs.Text)); n > len(splitter.Words(longest)) {
			longest = obs.Text
		}
		most = max(most, len(obs.Actions))
		if obs.Text != "bought" && !strings.HasPrefix(obs.Text, task.sentence+"\n") {
			t.Fatalf("%s: the text %q does not tell %q", task.id, obs.Text, task.sentence)
		}
	})
	if n := len(splitter.Words(longest)); n > 40 {
		t.Errorf("%d words in %q", n, longest)
	}
	d := New(&Options{Small: true}).Describe()
	if most > 25 || d.MaxTurns > 12 || d.Name != "shop_small" {
		t.Errorf("%d actions, %d turns, %s", most, d.MaxTurns, d.Name)
	}
	t.Logf("at most %d actions; the longest text has %d words: %q", most, len(splitter.Words(longest)), longest)
}

// The text of the small shop is all that is needed to act: a policy which reads nothing but the text and the actions passes.
func TestSmallTextIsEnough(t *testing.T) {
	env := New(&Options{Small: true})
	for _, k := range allTasks(t, env) {
		obs := reset(t, env, k.ID)
		for {
			u := step(t, env, reader(obs))
			obs = u.Observation
			if u.Ended() {
				if u.Reward != 1 {
					t.Fatalf("%s: %q ends with %+v", k.ID, obs.Data["task"], u)
				}
				break
			}
		}
	}
}

// reader searches for the noun, takes the first result that fits and turns the page if there is none.
func reader(obs envharness.Observation) envharness.Action {
	lines := strings.Split(obs.Text, "\n")
	var bound int
	want, _, _ := strings.Cut(lines[0], " under ")
	fmt.Sscanf(lines[0][len(want):], " under %d", &bound)
	words := strings.Fields(want)[1:]
	options, wanted := words[len(words)-2:], words[:len(words)-2]
	switch {
	case lines[1] == "search":
		return obs.Actions[0]
	case strings.HasPrefix(lines[1], "results"):
		for _, l := range lines[2:] {
			f := strings.Fields(l)
			var price int
			fmt.Sscan(f[len(f)-1], &price)
			fits := price <= bound
			for _, w := range wanted {
				fits = fits && slices.Contains(f, w)
			}
			if fits {
				return clickOn(f[0])
			}
		}
		return clickOn(nextLink)
	}
	for i, o := range options {
		if !strings.HasSuffix(lines[2+i], " chosen "+o) {
			return clickOn(o)
		}
	}
	return clickOn(buyLink)
}

// Environments of one world, at the same time, play as one does alone.
func TestConcurrent(t *testing.T) {
	world := World(&Options{Small: true})
	single := New(&Options{Small: true})
	tasks := tasksOf(t, single, "test")
	const players = 4
	// play plays every fourth task at random and tells all that is shown.
	play := func(env envharness.Environment, player int) ([]string, error) {
		var log []string
		for i := player; i < len(tasks); i += players {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			obs, err := env.Reset(context.Background(), envharness.ResetOptions{Task: tasks[i].ID})
			for ended := false; err == nil && !ended; {
				log = append(log, obs.Text)
				var u envharness.Transition
				u, err = env.Step(context.Background(), obs.Actions[r.IntN(len(obs.Actions))])
				obs, ended = u.Observation, u.Ended()
			}
			if err != nil {
				return nil, err
			}
		}
		return log, nil
	}
	var logs [players][]string
	var errs [players]error
	var wg sync.WaitGroup
	for n := range players {
		wg.Go(func() {
			var env envharness.Environment
			if env, errs[n] = world.New(context.Background()); errs[n] == nil {
				logs[n], errs[n] = play(env, n)
			}
		})
	}
	wg.Wait()
	for n := range players {
		want, err := play(single, n)
		if err != nil {
			t.Fatal(err)
		}
		if errs[n] != nil || !slices.Equal(logs[n], want) {
			t.Errorf("player %d: %v, or it was shown something else", n, errs[n])
		}
	}
}

var _ sim.Planner = (*episode)(nil)
