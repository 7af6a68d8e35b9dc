package tooldesk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/internal/text"
)

var presets = []struct {
	options *Options
	preset  *preset
}{{nil, &full}, {&Options{Small: true}, &small}}

// sampled returns tasks of all families and splits.
func sampled(p *preset) []envharness.Task {
	var out []envharness.Task
	for _, split := range splits {
		tasks, err := p.list(split)
		if err != nil {
			panic(err)
		}
		for i := range 6 {
			out = append(out, tasks[(i*len(tasks)/6)/6*6+i]) // the families take turns
		}
	}
	return out
}

// Both desks keep all rules of environments and verifiers, with tasks of every family among them.
func TestConformance(t *testing.T) {
	for _, x := range presets {
		for _, families := range [][3]string{{"T1", "T2", "T3"}, {"T4", "T5", "T6"}, {"T7", "T5", "T1"}} {
			if testing.Short() && families[0] != "T4" {
				continue
			}
			var tasks []envharness.Task
			for i, f := range families {
				tasks = append(tasks, envharness.Task{ID: x.preset.taskID(f, 3+i)})
			}
			t.Run(fmt.Sprint(x.preset.name, families), func(t *testing.T) {
				err := envtest.Environment{
					New: World(x.options).New, Tasks: tasks, SeedBlind: true, Steps: 200,
					Refusals: []envharness.ErrorClass{envharness.ClassPrecondition, envharness.ClassPermission},
				}.Check(t.Context())
				if err != nil {
					t.Error(err)
				}
				err = envtest.Verifier{
					World: World(x.options), Tasks: tasks, Episodes: 5,
					Independent: func(a, b envharness.Action) bool {
						return strings.HasPrefix(a.Name, "get") && strings.HasPrefix(b.Name, "get")
					},
				}.Check(t.Context())
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// What is described fits to what is played.
func TestDescription(t *testing.T) {
	for _, x := range presets {
		d := New(x.options).Describe()
		if d.Name != x.preset.name || d.MaxTurns != x.preset.maxTurns || len(d.Tools) != numTools || d.Chance != 0 || d.Mutable != nil {
			t.Errorf("%+v", d)
		}
		if n := strings.Count(d.About, ". ") + 1; n < 2 || n > 6 {
			t.Errorf("%s: %d sentences about it", d.Name, n)
		}
		if want := []string{"customers", "products", "orders", "tickets", "transfers", "answer"}; !slices.Equal(d.Graded, want) {
			t.Errorf("%s: graded %v, want %v: what the verdict rests on", d.Name, d.Graded, want)
		}
		if (d.Vocabulary != nil) != (x.options != nil) {
			t.Errorf("%s: %d words", d.Name, len(d.Vocabulary))
		}
	}
	if full.maxTurns != 30 || small.maxTurns != 12 {
		t.Error("the limits are 30 and 12")
	}
}

// The splits of the small desk have as many tasks as those of the full one, under ids of their own, and its default task is one of them.
func TestSmallSplits(t *testing.T) {
	seen := map[string]bool{}
	for _, split := range splits {
		fulls, err := full.list(split)
		if err != nil {
			t.Fatal(err)
		}
		smalls, err := small.list(split)
		if err != nil {
			t.Fatal(err)
		}
		if len(smalls) != len(fulls) {
			t.Errorf("%s: %d tasks, want %d", split, len(smalls), len(fulls))
		}
		for i, task := range smalls {
			if seen[task.ID] || task.ID != "small-"+fulls[i].ID || task.Split != split || task.Family != fulls[i].Family {
				t.Fatalf("%+v", task)
			}
			seen[task.ID] = true
		}
	}
	d := New(&Options{Small: true})
	for _, id := range []string{"T1-0000", "small-T1-0280", "small-T7-0170", "small-small-T1-0000", "small-"} {
		if _, err := d.Reset(ctx, envharness.ResetOptions{Task: id}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", id)) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := d.Reset(ctx, envharness.ResetOptions{}); err != nil {
		t.Error(err)
	}
}

// The law of the small desk: every text has at most 40 words, all words of texts, tasks and candidates are in the vocabulary, there are at
// most 26 candidates, and an episode takes at most 12 turns. It holds on the way of the oracle in every task, and wherever random calls
// lead, those included that nobody offers.
func TestSmallLaw(t *testing.T) {
	d := newCatalogue(&small, true).simulation().New()
	vocabulary := map[string]bool{}
	for _, w := range d.Describe().Vocabulary {
		vocabulary[w] = false
	}
	if words := d.Describe().Vocabulary; !slices.IsSorted(words) || len(vocabulary) != len(words) {
		t.Error("the vocabulary is not sorted, or has a word twice")
	}
	longest, most, mostOffered, strayed := 0, 0, 0, false
	check := func(id string, o envharness.Observation) {
		words := text.Words(o.Text)
		longest, most = max(longest, len(words)), max(most, len(o.Actions))
		if !strayed {
			mostOffered = max(mostOffered, len(o.Actions))
		}
		if len(words) > 40 {
			t.Fatalf("%s: %d words: %s", id, len(words), o.Text)
		}
		words = append(words, text.Words(o.Data["task"].(string))...)
		for _, a := range o.Actions {
			words = append(words, text.Words(a.Text())...)
		}
		for _, w := range words {
			if _, ok := vocabulary[w]; !ok {
				t.Fatalf("%s: %q is not in the vocabulary: %s %v", id, w, o.Text, o.Actions)
			}
			vocabulary[w] = true
		}
	}
	r := rand.New(rand.NewPCG(8, 9))
	for _, split := range splits {
		tasks, err := small.list(split)
		if err != nil {
			t.Fatal(err)
		}
		for i, task := range tasks {
			if testing.Short() && i%9 > 0 {
				continue
			}
			o, err := d.Reset(ctx, envharness.ResetOptions{Task: task.ID})
			if err != nil {
				t.Fatal(err)
			}
			check(task.ID, o)
			plan, err := d.Plan(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range plan {
				if !slices.ContainsFunc(o.Actions, func(c envharness.Action) bool { return sameCall(c, a) }) {
					t.Fatalf("%s: %s is no candidate", task.ID, a)
				}
				tr, err := d.Step(ctx, a)
				if err != nil || tr.Error != nil || (tr.Reward == 1) != (i == len(plan)-1) {
					t.Fatalf("%s: call %d, %s: %+v, %v", task.ID, i, a, tr, err)
				}
				o = tr.Observation
				check(task.ID, o)
			}
			if o, err = d.Reset(ctx, envharness.ResetOptions{Task: task.ID}); err != nil {
				t.Fatal(err)
			}
			for strayed = false; i%3 == 0; {
				a := o.Actions[r.IntN(len(o.Actions))]
				switch n := r.IntN(20); {
				case n == 0:
					a = garbage(r)
				case n < 3 && i%2 == 0: // things that nobody has shown
					strayed = true
					list := wild(r)
					a = list[r.IntN(len(list))]
				case a.Name == "submit":
					a = o.Actions[0]
				}
				tr, err := d.Step(ctx, a)
				if err != nil {
					t.Fatal(err)
				}
				o = tr.Observation
				if check(task.ID, o); tr.Ended() {
					break
				}
			}
		}
	}
	t.Logf("%d words in all, at most %d in a text, at most %d candidates, %d where only candidates are called", len(vocabulary), longest, most,
		mostOffered)
	if most > 28 || mostOffered > 25 {
		t.Errorf("up to %d candidates, %d where only candidates are called", most, mostOffered)
	}
	if testing.Short() {
		return // few tasks show less
	}
	if longest < 30 {
		t.Errorf("the longest text has %d words: nothing that is long was seen", longest)
	}
	var never []string
	for w, used := range vocabulary {
		if !used {
			never = append(never, w)
		}
	}
	if !slices.Equal(never, []string{ruleBalance}) { // after a refund, exchange for something cheaper
		t.Errorf("words that no text has: %q", never)
	}
}

// wild makes calls about any row.
func wild(r *rand.Rand) []envharness.Action {
	n := func(most int) string { return fmt.Sprint(1 + r.IntN(most)) }
	order, product := "o"+n(5), small.inside.family[r.IntN(3)]
	return []envharness.Action{
		call("find_customer", small.inside.first[r.IntN(6)]), call("list_orders", "c"+n(3), n(2)), call("get_order", order),
		call("get_product", product+n(2)), call("list_tickets", "c"+n(3)), call("get_ticket", "k"+n(3)),
		call("cancel_order", order, cancelReasons[0]), call("set_address", "nowhere at all", order),
		call("exchange_item", product+n(2), order, product+n(2)), call("refund", n(3)+"0", order), call("refund", n(30), order),
		call("resolve_ticket", "a note", "k"+n(2)), call("transfer", "c"+n(2), transferReasons[r.IntN(3)]),
	}
}

// What the text of the small desk tells after reads, writes and refusals of every sort.
func TestSmallTextTells(t *testing.T) {
	d := New(&Options{Small: true})
	if _, err := d.Reset(ctx, envharness.ResetOptions{Task: "small-T3-0002"}); err != nil {
		t.Fatal(err)
	}
	steps := []struct{ name, args, want string }{
		{"get_product", `{"sku":"kettle1"}`, "ann: swap o1 kettle2 for kettle1\nkettle1 stocked"},
		{"cancel_order", `{"order_id":"o1","reason":"no longer needed"}`, "ann: swap o1 kettle2 for kettle1\nkettle1 stocked\nrefused permission"},
		{"find_customer", `{"email":"ANN"}`, "ann: swap o1 kettle2 for kettle1\nc2\nkettle1 stocked"},
		{"get_order", `{"order_id":"o1"}`, "ann: swap o1 kettle2 for kettle1\nc2\no1 c2 delivered kettle2 20 left 20\nkettle1 stocked"},
		{"refund", `{"amount_cents":15,"order_id":"o1"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\no1 c2 delivered kettle2 20 left 20\nkettle1 stocked\nrefused arguments"},
		{"exchange_item", `{"new_sku":"kettle1","order_id":"o1","sku":"kettle2"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\no1 c2 delivered kettle1 30 left 30\nkettle1 stocked\ndone o1"},
		{"refund", `{"amount_cents":10,"order_id":"o1"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\no1 c2 delivered kettle1 30 left 20\nkettle1 stocked\ndone o1 10"},
		{"transfer", `{"customer_id":"c2","reason":"item is out of stock"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\no1 c2 delivered kettle1 30 left 20\nkettle1 stocked\ndone 10 transferred"},
		{"list_orders", `{"customer_id":"c2"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\nc2 o1 delivered kettle1 o3 delivered kettle1 chair2\nkettle1 stocked\ndone 10 transferred"},
		{"get_ticket", `{"ticket_id":"k1"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\nc2 o1 delivered kettle1 o3 delivered kettle1 chair2\nkettle1 stocked\nk1 c1 open cancel o4 needless\ndone 10 transferred"},
		{"list_tickets", `{"customer_id":"c2"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\nc2 o1 delivered kettle1 o3 delivered kettle1 chair2\nkettle1 stocked\nc2 none\ndone 10 transferred"},
		{"submit", `{"answer":"o1"}`,
			"ann: swap o1 kettle2 for kettle1\nc2\nc2 o1 delivered kettle1 o3 delivered kettle1 chair2\nkettle1 stocked\nc2 none\ndone 10 transferred\nsubmitted"},
	}
	for _, s := range steps {
		tr, err := d.Step(ctx, raw(s.name, s.args))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.want, tr.Observation.Text); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", s.name, s.args, diff)
		}
	}
}

// sampleSize bounds the tasks of a split in a short run.
func sampleSize() int {
	if testing.Short() {
		return 40
	}
	return 1 << 30
}

// Policies without a thought pass at most 2 in 100 tasks of either desk.
func TestPoliciesWithoutAThought(t *testing.T) {
	for _, x := range presets {
		d := newCatalogue(x.preset, true).simulation().New()
		var tasks []envharness.Task
		for _, split := range splits {
			list, err := x.preset.list(split)
			if err != nil {
				t.Fatal(err)
			}
			tasks = append(tasks, list[:min(len(list), 200, sampleSize())]...)
		}
		var r *rand.Rand
		var again envharness.Action
		for name, act := range map[string]func(shown []envharness.Action, turn int) envharness.Action{
			"no-op":  func([]envharness.Action, int) envharness.Action { return envharness.Action{Name: "noop"} },
			"random": func(shown []envharness.Action, _ int) envharness.Action { return shown[r.IntN(len(shown))] },
			"submit at once": func(shown []envharness.Action, _ int) envharness.Action {
				return shown[slices.IndexFunc(shown, func(a envharness.Action) bool { return a.Name == "submit" })]
			},
			"repeat": func(shown []envharness.Action, turn int) envharness.Action {
				if turn == 0 {
					again = shown[r.IntN(len(shown))]
				}
				return again
			},
		} {
			passed := 0
			r = rand.New(rand.NewPCG(5, 6))
			for _, task := range tasks {
				o, err := d.Reset(ctx, envharness.ResetOptions{Task: task.ID})
				if err != nil {
					t.Fatal(err)
				}
				for turn := 0; ; turn++ {
					tr, err := d.Step(ctx, act(o.Actions, turn))
					if err != nil {
						t.Fatal(err)
					}
					if o = tr.Observation; tr.Reward > 0 {
						passed++
					}
					if tr.Ended() {
						break
					}
				}
			}
			t.Logf("%s, %s: %d of %d", x.preset.name, name, passed, len(tasks))
			if passed*50 > len(tasks) || name != "random" && passed > 0 {
				t.Errorf("%s, %s: passes %d of %d", x.preset.name, name, passed, len(tasks))
			}
		}
	}
}

// Whoever looks the customer up and transfers everything, with whatever reason pays most, passes at most one task in seven of a split.
func TestAlwaysTransfer(t *testing.T) {
	for _, x := range presets {
		d := newCatalogue(x.preset, true).simulation().New()
		for _, split := range splits {
			tasks, err := x.preset.list(split)
			if err != nil {
				t.Fatal(err)
			}
			best, forbidden := 0, 0
			for _, reason := range transferReasons {
				passed := 0
				for _, task := range tasks {
					o, err := d.Reset(ctx, envharness.ResetOptions{Task: task.ID})
					if err != nil {
						t.Fatal(err)
					}
					find := slices.IndexFunc(o.Actions, func(a envharness.Action) bool { return a.Name == "find_customer" })
					tr, err := d.Step(ctx, o.Actions[find])
					if err != nil {
						t.Fatal(err)
					}
					i := slices.IndexFunc(tr.Observation.Actions, func(a envharness.Action) bool {
						return a.Name == "transfer" && strings.Contains(string(a.Args), reason)
					})
					for _, a := range []envharness.Action{tr.Observation.Actions[i], call("submit", transferred)} {
						if tr, err = d.Step(ctx, a); err != nil || tr.Error != nil {
							t.Fatalf("%s: %s: %+v, %v", task.ID, a, tr, err)
						}
					}
					passed += int(tr.Reward)
				}
				best = max(best, passed)
				forbidden += passed
			}
			t.Logf("%s, %s: the best reason passes %d of %d, the right one %d", x.preset.name, split, best, len(tasks), forbidden)
			if 7*forbidden > len(tasks) || (best == 0) != (split == "ood") {
				t.Errorf("%s, %s: the best reason passes %d of %d, the right one %d", x.preset.name, split, best, len(tasks), forbidden)
			}
		}
	}
}

// A step that shows what was shown before makes nothing anew.
func TestStepWithoutNews(t *testing.T) {
	for _, x := range presets {
		d := newCatalogue(x.preset, true).simulation().New()
		if _, err := d.Reset(ctx, envharness.ResetOptions{Task: x.preset.taskID("T1", 0)}); err != nil {
			t.Fatal(err)
		}
		plan, err := d.Plan(ctx)
		if err != nil {
			t.Fatal(err)
		}
		first := do(t, &desk{Env: d}, plan[0])
		second := do(t, &desk{Env: d}, plan[0])
		if &first.Observation.Actions[0] != &second.Observation.Actions[0] {
			t.Errorf("%s: the candidates were made again", x.preset.name)
		}
	}
}

// slowCandidates makes the candidate calls anew, of values alone.
func slowCandidates(e *episode) []envharness.Action {
	p, m := e.task.preset, &e.memory
	var out []envharness.Action
	offer := func(tool string, most int, list ...[]string) {
		n := 0
		for _, args := range list {
			a := call(tool, args...)
			if n < most && !slices.ContainsFunc(out, func(b envharness.Action) bool { return sameCall(a, b) }) {
				out = append(out, a)
				n++
			}
		}
	}
	last := func(cards []*card, n int) []*card { // the newest first
		cards = slices.Clone(cards[max(len(cards)-n, 0):])
		slices.Reverse(cards)
		return cards
	}
	each := func(cards []*card, n int, args func(v *card) [][]string) [][]string {
		var list [][]string
		for _, c := range last(cards, n) {
			list = append(list, args(c)...)
		}
		return list
	}
	alone := func(v *card) [][]string { return [][]string{{v.value}} }
	paged := func(v *card) [][]string { return [][]string{{v.of, v.value}} }
	with := func(all []string, after bool) func(*card) [][]string {
		return func(v *card) [][]string {
			var list [][]string
			for _, x := range all {
				if after {
					list = append(list, []string{v.value, x})
				} else {
					list = append(list, []string{x, v.value})
				}
			}
			return list
		}
	}
	values := func(cards []*card) []string {
		var list []string
		for _, c := range cards {
			list = append(list, c.value)
		}
		return list
	}
	offer("find_customer", p.ids, each(m.emails, 99, alone)...)
	offer("list_orders", p.ids, append(each(m.nextOrders, 99, paged), each(m.customers, 99, alone)...)...)
	offer("get_order", p.ids, each(m.orders, 99, alone)...)
	offer("get_product", p.ids, each(m.skus, 99, alone)...)
	offer("list_tickets", p.ids, append(each(m.nextTickets, 99, paged), each(m.customers, 99, alone)...)...)
	offer("get_ticket", p.ids, each(m.tickets, 99, alone)...)
	offer("cancel_order", p.perTool, each(m.orders, p.perTool/2, with(cancelReasons, true))...)
	offer("set_address", p.combined, each(m.addresses, 99, with(values(last(m.orders, p.pairs)), true))...)
	offer("exchange_item", p.combined, each(m.wanted, 99, func(v *card) [][]string {
		var list [][]string
		for _, l := range last(m.lines, p.pairs) {
			if l.value != v.value {
				list = append(list, []string{v.value, l.of, l.value})
			}
		}
		return list
	})...)
	offer("refund", p.perTool, append(each(m.cents, 99, with(values(last(m.orders, p.others)), true)),
		each(m.amounts, 99, func(v *card) [][]string { return [][]string{{v.value, v.of}} })...)...)
	offer("resolve_ticket", p.perTool, each(m.tickets, p.perTool, with([]string{"resolved"}, false))...)
	offer("transfer", p.perTool, each(m.customers, p.others, with(transferReasons, true))...)
	answers := [][]string{{"nothing"}, {"transferred"}}
	if done := strings.Join(e.session.Written, ", "); done != "" && len(done) <= maxText {
		answers = slices.Insert(answers, 0, []string{done})
	}
	answers = append(append(answers, each(m.tickets, p.others, alone)...), each(m.orders, p.others, alone)...)
	offer("submit", p.perTool, answers...)
	return out
}

// The candidates are those of the slow list, and the text is the one written anew, wherever random calls lead, on the way of the solution
// and off it, and whatever the task keeps already.
func TestCandidatesAreNotStale(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, x := range presets {
		for _, task := range sampled(x.preset) {
			m, err := x.preset.makeTask(task.ID, drafts())
			if err != nil {
				t.Fatal(err)
			}
			for k := range 4 {
				e := begin(m)
				for i := range 40 {
					calls := e.candidates()
					if slow := slowCandidates(e); !slices.EqualFunc(slow, calls, sameCall) {
						t.Fatalf("%s: from scratch %v, kept %v", task.ID, slow, calls)
					}
					if got, want := e.Text(), string(x.preset.tell(e, nil)); got != want {
						t.Fatalf("%s: text %q, written anew %q", task.ID, got, want)
					}
					a := calls[r.IntN(len(calls))]
					if i < k && i < len(m.gold) {
						a = m.gold[i]
					}
					if k == 3 && i%2 == 0 { // shown by nobody
						list := anything(r, m)
						a = list[r.IntN(len(list))]
					}
					e.do(a)
				}
			}
		}
	}
}

// anything makes calls about any row of the task.
func anything(r *rand.Rand, m *task) []envharness.Action {
	w := m.start
	o, p, k, c := pick(r, w.Orders), pick(r, w.Products), pick(r, w.Tickets), pick(r, w.Customers)
	return []envharness.Action{
		call("find_customer", strings.ToUpper(c.Email)), call("list_orders", c.ID, fmt.Sprint(1+r.IntN(3))), call("get_order", o.ID),
		call("get_product", p.SKU), call("list_tickets", c.ID, fmt.Sprint(1+r.IntN(3))), call("get_ticket", k.ID),
		call("cancel_order", o.ID, pick(r, cancelReasons)), call("set_address", "Somewhere 1", o.ID),
		call("exchange_item", p.SKU, o.ID, pick(r, o.Lines).SKU), call("refund", "10", o.ID), call("resolve_ticket", "a note", k.ID),
		call("transfer", c.ID, pick(r, transferReasons)), call("submit", k.ID),
	}
}

// No two splits share a message, on either desk, though the small one has few.
func TestMessagesAreOfOneSplit(t *testing.T) {
	for _, x := range presets {
		owner := map[string]string{}
		for _, split := range splits {
			tasks, err := x.preset.list(split)
			if err != nil {
				t.Fatal(err)
			}
			families := map[string]map[string]bool{}
			for i, task := range tasks {
				if testing.Short() && i%4 > 0 {
					continue
				}
				m, err := x.preset.makeTask(task.ID, drafts())
				if err != nil {
					t.Fatal(err)
				}
				if o, ok := owner[m.text]; ok && o != split {
					t.Fatalf("%s: %q is of %s as well", task.ID, m.text, o)
				}
				owner[m.text] = split
				if families[task.Family] == nil {
					families[task.Family] = map[string]bool{}
				}
				families[task.Family][m.text] = true
			}
			for family, messages := range families {
				t.Logf("%s, %s, %s: %d messages", x.preset.name, split, family, len(messages))
				if len(messages) < 15 && !testing.Short() {
					t.Errorf("%s, %s, %s: only %d messages", x.preset.name, split, family, len(messages))
				}
			}
		}
	}
	for message, want := range map[string]string{"": "train", "ann: cancel o1 unneeded": "test"} {
		if got := messageSplit(message); got != want {
			t.Errorf("%q: %s, want %s: FNV-1a modulo 10", message, got, want)
		}
	}
}

// What a task keeps of refusals is of the order as it was at the start, and of the status that was asked for.
func TestRefusalsOfTheSameOrder(t *testing.T) {
	e := sample()
	for _, s := range []struct{ tool, order, want string }{
		{"cancel_order", "O-4", "order O-4 is cancelled, not pending"},
		{"refund", "O-4", "order O-4 is cancelled, not delivered"},
		{"cancel_order", "O-4", "order O-4 is cancelled, not pending"},
		{"refund", "O-1", "order O-1 is pending, not delivered"},
		{"cancel_order", "O-1", ""},
		{"refund", "O-1", "order O-1 is cancelled, not delivered"},
		{"cancel_order", "O-1", "order O-1 is cancelled, not pending"},
		{"cancel_order", "O-5", "customer C-2 has not been looked up with find_customer"},
	} {
		a := call("refund", "10", s.order)
		if s.tool == "cancel_order" {
			a = call(s.tool, s.order, cancelReasons[0])
		}
		got := ""
		if refusal := e.do(a); refusal != nil {
			got = refusal.Message
		}
		if got != s.want || s.want != "" && !strings.Contains(e.Text(), s.want) {
			t.Errorf("%s: %q, text %s, want %q", a, got, e.Text(), s.want)
		}
	}
}
