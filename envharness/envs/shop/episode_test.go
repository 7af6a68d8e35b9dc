package shop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// The pages of a visit, link by link.
func TestPages(t *testing.T) {
	s := shopOf(nil)
	p := &s.products[0] // a desk lamp
	id := s.ids[0]
	for _, tt := range []struct {
		name   string
		do     []string // a search begins with "?"
		want   string   // page, number of the results' page, product, chosen
		reason string
	}{
		{"start", nil, "index 1 - []", "a visit begins at the search bar"},
		{"search", []string{"?desk lamp"}, "results 1 - []", "a search leads to results"},
		{"nothing found", []string{"?zzz"}, "results 1 - []", "also if there are none"},
		{"next", []string{"?desk lamp", "next >"}, "results 2 - []", "ten a page"},
		{"previous", []string{"?desk lamp", "next >", "next >", "< prev"}, "results 2 - []", "one page up"},
		{"open", []string{"?" + p.title, id}, "item 1 " + id + " []", "an id leads to the product"},
		{"upper case", []string{"?" + p.title, strings.ToUpper(id), "BLACK"}, "item 1 " + id + " [black]", "clicks are put in lower case"},
		{"option", []string{"?" + p.title, id, "giant", "red"}, "item 1 " + id + " [red giant]", "options are told in the order of the groups"},
		{"other option", []string{"?" + p.title, id, "red", "blue", "mini"}, "item 1 " + id + " [blue mini]", "one value a group"},
		{"description", []string{"?" + p.title, id, "red", "description"}, "description 1 " + id + " [red]", "a page below keeps the options"},
		{"features", []string{"?" + p.title, id, "features"}, "features 1 " + id + " []", "a page below"},
		{"reviews", []string{"?" + p.title, id, "reviews", "< prev"}, "item 1 " + id + " []", "one page up"},
		{"kept", []string{"?" + p.title, id, "red", "reviews", "< prev", "mini"}, "item 1 " + id + " [red mini]", "options survive a page below"},
		{"dropped", []string{"?" + p.title, id, "red", "< prev", id}, "item 1 " + id + " []", "but not the results"},
		{"page kept", []string{"?desk lamp", "next >", "#0", "< prev"}, "results 2 - []", "up is the page of the results that the product was on"},
		{"back", []string{"?" + p.title, id, "red", "features", "back to search"}, "index 1 - []", "query and options are cleared"},
		{"buy", []string{"?" + p.title, id, "red", "buy now"}, "done 1 " + id + " [red]", "the end"},
	} {
		e := newEpisode(t, s, "")
		for _, do := range tt.do {
			a := clickOn(do)
			if query, ok := strings.CutPrefix(do, "?"); ok {
				a = searchFor(query)
			}
			if do == "#0" {
				a = clickOn(s.ids[e.shown()[0]])
			}
			if r := e.Step(a); r.Refusal != nil {
				t.Errorf("%s: %s is refused: %s", tt.name, do, r.Refusal.Message)
			}
		}
		product := "-"
		if e.product != none {
			product = s.ids[e.product]
		}
		got := fmt.Sprintf("%s %d %s %v", e.page, e.at+1, product, e.values(nil))
		if got != tt.want {
			t.Errorf("%s: %s, want %s: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}

func TestTexts(t *testing.T) {
	s := shopOf(nil)
	k := &s.tasks[0]
	p := k.goal.product
	e := newEpisode(t, s, k.id)
	instruction := "Instruction: [SEP] " + k.sentence + " [SEP] "
	price := fmt.Sprintf("$%d.%02d", p.cents/100, p.cents%100)
	check := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, e.Text()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	check("Shop [SEP] " + instruction + "Search")
	e.Step(searchFor("zzz"))
	check(instruction + "Back to Search [SEP] Page 1 (Total results: 0)")
	e.Step(clickOn(backLink))
	e.Step(searchFor(p.title))
	first := instruction + "Back to Search [SEP] Page 1 (Total results: 50) [SEP] Next > [SEP] " + s.ids[p.index] + " [SEP] " + p.title +
		" [SEP] " + price
	if !strings.HasPrefix(e.Text(), first) || strings.Count(e.Text(), "$") != 10 {
		t.Errorf("%q, want ten products after %q", e.Text(), first)
	}
	e.Step(clickOn(nextLink))
	if want := instruction + "Back to Search [SEP] Page 2 (Total results: 50) [SEP] < Prev [SEP] Next > [SEP] b-"; !strings.HasPrefix(e.Text(), want) {
		t.Errorf("%q, want %q", e.Text(), want)
	}
	for range 3 {
		e.Step(clickOn(nextLink))
	}
	if want := instruction + "Back to Search [SEP] Page 5 (Total results: 50) [SEP] < Prev [SEP] b-"; !strings.HasPrefix(e.Text(), want) {
		t.Errorf("%q, want %q", e.Text(), want)
	}
	for range 4 {
		e.Step(clickOn(prevLink))
	}
	e.Step(clickOn(s.ids[p.index]))
	var options strings.Builder
	for _, g := range p.groups {
		options.WriteString(g.name + " [SEP] " + strings.Join(g.values, " [SEP] ") + " [SEP] ")
	}
	item := "Back to Search [SEP] < Prev [SEP] " + options.String() + p.title + " [SEP] Price: " + price +
		" [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now"
	check(instruction + item)
	v := p.groups[0].values[3]
	e.Step(clickOn(v))
	check("You have clicked " + v + ". [SEP] " + instruction + item)
	for _, d := range []struct{ link, text string }{
		{"description", p.description}, {"features", strings.Join(p.bullets, " [SEP] ")}, {"reviews", "No buyer has written a review yet."},
	} {
		e.Step(clickOn(d.link))
		check(instruction + "Back to Search [SEP] < Prev [SEP] " + d.text)
		e.Step(clickOn(prevLink))
	}
	e.Step(clickOn(buyLink))
	check("Thank you for shopping with us!")
}

// A model is the rules of the pages once more, written for clearness.
type model struct {
	s       *shop
	page    string
	query   string
	hits    []int32
	at      int
	product int
	chosen  map[string]string
}

// clickable lists what can be clicked, in the order of the page.
func (m *model) clickable() []string {
	var out []string
	switch m.page {
	case "results":
		out = append(out, "back to search")
		if m.at > 0 {
			out = append(out, "< prev")
		}
		if (m.at+1)*m.s.perPage < len(m.hits) {
			out = append(out, "next >")
		}
		for k, i := range m.shown() {
			if m.s.numbered {
				out = append(out, fmt.Sprint(k+1))
			} else {
				out = append(out, m.s.ids[i])
			}
		}
	case "item":
		out = append(out, "back to search", "< prev")
		for _, g := range m.s.products[m.product].groups {
			out = append(out, g.values...)
		}
		if !m.s.numbered {
			out = append(out, "description", "features", "reviews")
		}
		out = append(out, "buy now")
	case "description", "features", "reviews":
		out = append(out, "back to search", "< prev")
	}
	return out
}

func (m *model) shown() []int32 {
	var out []int32
	for k, i := range m.hits {
		if k/m.s.perPage == m.at {
			out = append(out, i)
		}
	}
	return out
}

func (m *model) click(text string) {
	switch {
	case text == "back to search":
		*m = model{s: m.s, page: "index", product: none}
	case text == "< prev" && m.page == "results":
		m.at--
	case text == "next >":
		m.at++
	case text == "< prev" && m.page == "item":
		m.page, m.product, m.chosen = "results", none, nil
	case text == "< prev":
		m.page = "item"
	case text == "buy now":
		m.page = "done"
	case m.page == "results":
		links := m.clickable()
		shown := m.shown()
		m.product = int(shown[slices.Index(links, text)-(len(links)-len(shown))])
		m.page, m.chosen = "item", map[string]string{}
	case text == "description" || text == "features" || text == "reviews":
		m.page = text
	default:
		for _, g := range m.s.products[m.product].groups {
			if slices.Contains(g.values, text) {
				m.chosen[g.name] = text
			}
		}
	}
}

// state is what AppendState gives.
func (m *model) state() string {
	state := map[string]any{
		"page": m.page, "query": m.query, "results_page": m.at + 1, "bought": m.page == "done", "product": nil, "chosen": map[string]string{},
	}
	if m.product != none {
		state["product"], state["chosen"] = m.s.ids[m.product], m.chosen
	}
	b, err := envharness.CanonicalJSON(state)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// At random states the listed clicks are those that the model allows, exactly they are carried out, and they lead to where the model goes.
func TestModel(t *testing.T) {
	forPresets(func(name string, o *Options) {
		t.Run(name, func(t *testing.T) {
			s := shopOf(o)
			universe := []string{"", "search", "click", "buy", "done", "index", "results", "item", "color", "size", "0", "5"}
			for i := range s.items {
				universe = append(universe, s.items[i].links...)
			}
			for _, l := range s.open {
				universe = append(universe, l.text)
			}
			universe = append(universe, s.ids[:50]...)
			universe = append(universe, "next >")
			rapid.Check(t, func(t *rapid.T) {
				e, err := s.start(rapid.SampledFrom(s.tasks).Draw(t, "task").id)
				if err != nil {
					t.Fatal(err)
				}
				x := e.(*episode)
				m := &model{s: s, page: "index", product: none}
				for m.page != "done" {
					if got := string(x.AppendState(nil)); got != m.state() {
						t.Fatalf("state %s, want %s", got, m.state())
					}
					links := m.clickable()
					var listed []string
					for _, a := range x.Actions() {
						if a.Name == clickTool {
							listed = append(listed, strings.TrimPrefix(a.Text(), "click "))
						}
					}
					if !slices.Equal(listed, links) {
						t.Fatalf("%s: listed %q, want %q", m.state(), listed, links)
					}
					text := x.Text()
					for _, u := range universe {
						if !slices.Contains(links, u) {
							if r := x.Step(clickOn(u)); r.Refusal == nil || r.Refusal.Class != envharness.ClassPrecondition {
								t.Fatalf("%s: %q can be clicked: %+v", m.state(), u, r)
							}
						}
					}
					if m.page != "index" {
						if r := x.Step(searchFor("lamp")); r.Refusal == nil || r.Refusal.Class != envharness.ClassPrecondition {
							t.Fatalf("%s: a search is carried out", m.state())
						}
					}
					if x.Text() != text || string(x.AppendState(nil)) != m.state() {
						t.Fatalf("%s: refusals have changed it to %s", m.state(), x.AppendState(nil))
					}
					if m.page == "index" {
						if !rapid.Bool().Draw(t, "go on") {
							return
						}
						a := rapid.SampledFrom(x.Actions()).Draw(t, "search")
						m.query = strings.TrimPrefix(a.Text(), "search ")
						m.page, m.hits = "results", s.index.search(m.query, s.hits, make([]float64, len(s.products)))
						x.Step(a)
						continue
					}
					link := rapid.SampledFrom(links).Draw(t, "link")
					spelled := link
					if rapid.Bool().Draw(t, "upper case") {
						spelled = strings.ToUpper(link)
					}
					m.click(link)
					if r := x.Step(clickOn(spelled)); r.Refusal != nil || r.Ended != (m.page == "done") {
						t.Fatalf("%q: %+v", spelled, r)
					}
				}
				if got := string(x.AppendState(nil)); got != m.state() {
					t.Fatalf("state %s, want %s", got, m.state())
				}
			})
		})
	})
}

func TestRefusals(t *testing.T) {
	s := shopOf(nil)
	for _, tt := range []struct {
		name, args string
		class      envharness.ErrorClass
		message    string
	}{
		{"buy", `{}`, envharness.ClassUnknownTool, `no tool named "buy"`},
		{"search", `{}`, envharness.ClassBadArgs, "missing argument query"},
		{"search", `{"query":3}`, envharness.ClassBadArgs, "argument query must be a string"},
		{"search", `{"query":"lamp","page":"2"}`, envharness.ClassBadArgs, `unknown argument "page"`},
		{"click", string(s.tasks[0].searches[0].Args), envharness.ClassBadArgs, "missing argument text"},
		{"click", `[]`, envharness.ClassBadArgs, "arguments must be one JSON object"},
		{"click", `{"text":"Buy Now"}`, envharness.ClassPrecondition, `there is nothing to click named "Buy Now" on this page`},
		{"click", `{"text":"` + strings.Repeat("x", 70) + `"}`, envharness.ClassPrecondition,
			`there is nothing to click named "` + strings.Repeat("x", 64) + `..." on this page`},
	} {
		e := newEpisode(t, s, s.tasks[0].id)
		r := e.Step(envharness.Action{Name: tt.name, Args: json.RawMessage(tt.args)})
		if r.Refusal == nil || r.Refusal.Class != tt.class || r.Refusal.Message != tt.message || r.Ended || r.Reward != 0 {
			t.Errorf("%s %s: %+v %+v, want %s: %s", tt.name, tt.args, r, r.Refusal, tt.class, tt.message)
		}
	}
}

// A purchase has the formula's score as its reward and verdict, and passes with 1 alone.
func TestPurchases(t *testing.T) {
	p := full()
	products := p.catalogue()
	s := shopOf(nil)
	lamp := products[0]
	g := goal{product: &s.products[0], attributes: s.products[0].attributes[:2], options: []string{"red", "mini"}, upper: 100}
	for _, tt := range []struct {
		name   string
		change func(g *goal)
		do     []string
		score  float64
		parts  map[string]float64
		why    string
		reason string
	}{
		{"nothing bought", nil, []string{"red", "mini"}, 0, nil, "nothing was bought", "no purchase has no score"},
		{"all", nil, []string{"red", "mini", "buy now"}, 1, map[string]float64{"attributes": 1, "options": 1, "price": 1, "type": 1}, "", "5/5"},
		{"one option", nil, []string{"mini", "buy now"}, .8, map[string]float64{"attributes": 1, "options": .5, "price": 1, "type": 1},
			"2 of 2 attributes and 1 of 2 options fit", "4/5"},
		{"wrong option", nil, []string{"red", "mini", "giant", "buy now"}, .8,
			map[string]float64{"attributes": 1, "options": .5, "price": 1, "type": 1}, "2 of 2 attributes and 1 of 2 options fit", "the last click counts"},
		{"too expensive", func(g *goal) { g.upper = lamp.cents / 100 }, []string{"red", "mini", "buy now"}, .8,
			map[string]float64{"attributes": 1, "options": 1, "price": 0, "type": 1},
			"2 of 2 attributes and 2 of 2 options fit, it is too expensive", "4/5"},
		{"no bound", func(g *goal) { g.upper = 0 }, []string{"red", "mini", "buy now"}, 1,
			map[string]float64{"attributes": 1, "options": 1, "price": 1, "type": 1}, "", "no bound is kept"},
		{"another kind", func(g *goal) { g.product = &s.products[1] }, []string{"red", "mini", "buy now"}, 0,
			map[string]float64{"attributes": 1, "options": 1, "price": 1, "type": 0},
			"2 of 2 attributes and 2 of 2 options fit, and the kind of product counts as 0", "no noun in common"},
		{"half a noun", func(g *goal) { g.product = &s.products[6] }, []string{"red", "mini", "buy now"}, 1,
			map[string]float64{"attributes": 1, "options": 1, "price": 1, "type": 1}, "", "desk lamp for desk chair: one noun of two"},
		{"no options", func(g *goal) { g.options = nil }, []string{"buy now"}, 1,
			map[string]float64{"attributes": 1, "options": 1, "price": 1, "type": 1}, "", "3/3"},
		{"an attribute", func(g *goal) { g.attributes = []string{"dishwasher safe"} }, []string{"red", "mini", "buy now"}, .75,
			map[string]float64{"attributes": 0, "options": 1, "price": 1, "type": 1}, "0 of 1 attributes and 2 of 2 options fit", "3/4"},
	} {
		task := task{id: "x", goal: g}
		if tt.change != nil {
			tt.change(&task.goal)
		}
		e := &episode{shop: s, task: &task}
		e.toIndex()
		e.Step(searchFor(lamp.title))
		reward := 0.0
		for _, do := range append([]string{s.ids[0]}, tt.do...) {
			r := e.Step(clickOn(do))
			if r.Refusal != nil || r.Ended != (do == "buy now") {
				t.Fatalf("%s: %s: %+v", tt.name, do, r)
			}
			reward += r.Reward
		}
		want := envharness.Verdict{Status: envharness.Fail, Score: tt.score, Parts: tt.parts, Reason: tt.why}
		if tt.score == 1 {
			want.Status = envharness.Pass
		}
		if diff := cmp.Diff(want, e.Verdict()); diff != "" || reward != tt.score {
			t.Errorf("%s: reward %v, %s (-want +got):\n%s", tt.name, reward, tt.reason, diff)
		}
	}
}

// A click that changes nothing takes no memory.
func TestUnchangedAllocates(t *testing.T) {
	forPresets(func(name string, o *Options) {
		e := newEpisode(t, shopOf(o), "")
		p, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p[:len(p)-1] {
			e.Step(a)
		}
		if n := testing.AllocsPerRun(100, func() { e.Step(p[len(p)-2]); e.Text(); e.Actions(); e.Data() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	})
}
