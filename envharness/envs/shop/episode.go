package shop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// none stands for no choice and no product.
const none = -1

// An episode is one visit to the shop.
type episode struct {
	shop *shop
	task *task
	data map[string]any

	page    page
	query   json.RawMessage // as a JSON string; empty on the index page
	hits    []int32         // products found, the best first
	at      int             // page of the results, from 0
	product int32           // opened or bought
	chosen  [2]int8         // value of each group of the product
	bought  bool
	got     scored // for what was bought

	// What to show of all that.
	text    string
	links   []string            // what can be clicked, in the order of the page
	actions []envharness.Action // the clicks, or on the index page the searches
	scratch []byte              // for the text
	scores  []float64           // for a search
	own     []string            // room for the links of results
}

func (s *shop) start(id string) (sim.Episode, error) {
	t, err := s.find(id)
	if err != nil {
		return nil, err
	}
	e := &episode{shop: s, task: t, data: map[string]any{"task": t.sentence}}
	e.toIndex()
	return e, nil
}

func (e *episode) item() *product { return &e.shop.products[e.product] }

// shown are the hits on the present page of the results.
func (e *episode) shown() []int32 {
	from := e.at * e.shop.perPage
	return e.hits[from:min(from+e.shop.perPage, len(e.hits))]
}

// lastResults is the number of the last page of the results, from 0, and -1 if there are none.
func (e *episode) lastResults() int { return (len(e.hits)+e.shop.perPage-1)/e.shop.perPage - 1 }

// more reports whether there is another page of results.
func (e *episode) more() bool { return e.at < e.lastResults() }

// Step implements [sim.Episode].
func (e *episode) Step(a envharness.Action) sim.Result {
	switch a.Name {
	case searchTool:
		return e.search(a.Args)
	case clickTool:
		return e.click(a.Args)
	}
	return sim.Result{Refusal: rules.UnknownTool(a.Name)}
}

func (e *episode) search(args json.RawMessage) sim.Result {
	query, refusal := sim.StringArg(args, "query")
	if refusal == nil && e.page != indexPage {
		refusal = sim.Refuse(envharness.ClassPrecondition, "there is no search bar on this page")
	}
	if refusal != nil {
		return sim.Result{Refusal: refusal}
	}
	if e.scores == nil {
		e.scores = make([]float64, len(e.shop.products))
	}
	e.query = quoted(query)
	e.hits = e.shop.index.search(query, e.shop.hits, e.scores)
	e.toResults()
	return sim.Result{}
}

// quoted returns s as a JSON string.
func quoted(s string) json.RawMessage {
	b, err := envharness.CanonicalJSON(s)
	if err != nil {
		panic(err) // a string
	}
	return b
}

func (e *episode) click(args json.RawMessage) sim.Result {
	if e.page != indexPage {
		for i := range e.actions {
			if bytes.Equal(args, e.actions[i].Args) {
				return e.follow(i)
			}
		}
	}
	text, refusal := sim.StringArg(args, "text")
	if refusal != nil {
		return sim.Result{Refusal: refusal}
	}
	lower := strings.ToLower(text)
	for i, l := range e.links {
		if l == lower {
			return e.follow(i)
		}
	}
	return sim.Result{Refusal: sim.Refuse(envharness.ClassPrecondition, "there is nothing to click named %q on this page", sim.Clip(text))}
}

// follow clicks a link.
func (e *episode) follow(i int) sim.Result {
	switch link := e.links[i]; link {
	case backLink:
		e.toIndex()
	case prevLink:
		switch e.page {
		case resultsPage:
			e.at--
			e.toResults()
		case itemPage:
			e.toResults()
		default:
			e.toItem()
		}
	case nextLink:
		e.at++
		e.toResults()
	case buyLink:
		return e.buy()
	default:
		if e.page == resultsPage {
			shown := e.shown()
			e.product = shown[i-(len(e.links)-len(shown))]
			e.toItem()
		} else {
			e.pick(i, link)
		}
	}
	return sim.Result{}
}

// pick chooses an option, or opens a page below that of the product.
func (e *episode) pick(i int, link string) {
	for p := descriptionPage; p <= reviewsPage; p++ {
		if link == p.String() {
			e.show(p, e.shop.below)
			return
		}
	}
	i -= 2 // the two links before the options
	for k, g := range e.item().groups {
		if i < len(g.values) {
			if e.chosen[k] != int8(i) {
				e.chosen[k] = int8(i)
				e.toItem()
			}
			return
		}
		i -= len(g.values)
	}
}

func (e *episode) buy() sim.Result {
	var values [len(e.chosen)]string
	e.got = e.shop.scorer.score(e.item(), &e.task.goal, e.values(values[:0]))
	e.bought = true
	e.show(donePage, menu{})
	return sim.Result{Reward: e.got.total, Ended: true}
}

// values appends the chosen values.
func (e *episode) values(to []string) []string {
	if e.product == none {
		return to
	}
	for i, g := range e.item().groups {
		if k := e.chosen[i]; k != none {
			to = append(to, g.values[k])
		}
	}
	return to
}

// toIndex opens the page with the search bar, on which nothing is searched, found or chosen.
func (e *episode) toIndex() {
	e.query, e.hits, e.at = json.RawMessage(`""`), nil, 0
	e.leaveItem()
	e.show(indexPage, menu{actions: e.task.searches})
}

// leaveItem drops the options: they are those of one product.
func (e *episode) leaveItem() {
	e.product, e.chosen = none, [2]int8{none, none}
}

func (e *episode) toResults() {
	e.leaveItem()
	shown := e.shown()
	links := append(e.own[:0], backLink)
	actions := append(make([]envharness.Action, 0, 3+len(shown)), e.shop.back)
	if e.at > 0 {
		links, actions = append(links, prevLink), append(actions, e.shop.prev)
	}
	if e.more() {
		links, actions = append(links, nextLink), append(actions, e.shop.next)
	}
	for k, i := range shown {
		l := e.shop.openHit(k, i)
		links, actions = append(links, l.text), append(actions, l.action)
	}
	e.own = links
	e.show(resultsPage, menu{links, actions})
}

// toItem opens the page of the product.
func (e *episode) toItem() { e.show(itemPage, e.shop.items[int(e.product)%len(e.shop.items)]) }

// show makes what to show of a page.
func (e *episode) show(p page, m menu) {
	e.page, e.links, e.actions = p, m.links, m.actions
	e.scratch = e.shop.pages.appendText(e.scratch[:0], e)
	e.text = string(e.scratch)
}

// Text implements [sim.Episode].
func (e *episode) Text() string { return e.text }

// Data implements [sim.Episode].
func (e *episode) Data() map[string]any { return e.data }

// Actions implements [sim.Episode].
func (e *episode) Actions() []envharness.Action { return e.actions }

// AppendState implements [sim.Episode]. The hits follow from the query.
func (e *episode) AppendState(to []byte) []byte {
	to = strconv.AppendBool(append(to, `{"bought":`...), e.bought)
	to = append(to, `,"chosen":{`...)
	if e.product != none {
		first := true
		for i, g := range e.item().groups {
			if k := e.chosen[i]; k != none {
				if !first {
					to = append(to, ',')
				}
				first = false
				to = append(append(append(to, '"'), g.name...), `":"`...)
				to = append(append(to, g.values[k]...), '"')
			}
		}
	}
	to = append(append(to, `},"page":"`...), e.page.String()...)
	to = append(to, `","product":`...)
	if e.product == none {
		to = append(to, "null"...)
	} else {
		to = append(append(append(to, '"'), e.shop.ids[e.product]...), '"')
	}
	to = append(append(to, `,"query":`...), e.query...)
	return append(strconv.AppendInt(append(to, `,"results_page":`...), int64(e.at+1), 10), '}')
}

// Verdict implements [sim.Episode].
func (e *episode) Verdict() envharness.Verdict {
	if !e.bought {
		return envharness.Verdict{Status: envharness.Fail, Reason: "nothing was bought"}
	}
	g, got := &e.task.goal, e.got
	within := 0.0
	if got.price {
		within = 1
	}
	options := 1.0 // none is wanted
	if len(g.options) > 0 {
		options = float64(got.options) / float64(len(g.options))
	}
	v := envharness.Verdict{Status: envharness.Pass, Score: got.total, Parts: map[string]float64{
		"attributes": float64(got.attributes) / float64(len(g.attributes)), "options": options, "price": within, "type": got.kind,
	}}
	if got.total == 1 {
		return v
	}
	v.Status = envharness.Fail
	v.Reason = fmt.Sprintf("%d of %d attributes and %d of %d options fit", got.attributes, len(g.attributes), got.options, len(g.options))
	if !got.price {
		v.Reason += ", it is too expensive"
	}
	if got.kind < 1 {
		v.Reason += fmt.Sprintf(", and the kind of product counts as %v", got.kind)
	}
	return v
}
