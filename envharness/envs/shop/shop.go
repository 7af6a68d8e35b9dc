package shop

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// Options adjusts [New] and [World]. A nil *Options equals &Options{}.
type Options struct {
	// Small asks for the small shop, with episodes of at most 12 turns and texts of at most 40 words, under the name "shop_small". False is
	// the full one.
	Small bool
}

// New returns an environment that waits for its first reset. It shares nothing with any other, and to fill its shop takes some
// milliseconds: for many of them take [World] and its New.
func New(o *Options) *sim.Env { return simulation(o).New() }

// World returns the maker of environments and their verifier, for a harness. The environments share one shop, which nobody writes to.
func World(o *Options) envharness.World { return simulation(o).World() }

// A shop is what all episodes share. It is not written to once it is made.
type shop struct {
	*preset
	products []product
	tasks    []task
	index    *index
	scorer   *scorer

	ids                   []string
	open                  []link // by product, or by place on the page where the hits are numbered
	items                 []menu // the page of a product, by category
	below                 menu   // a page below that
	back, prev, next, buy envharness.Action
}

// A link is what can be clicked, with the action that does it.
type link struct {
	text   string
	action envharness.Action
}

// A menu is what can be done on a page. On all pages but the index the actions are the clicks on the links.
type menu struct {
	links   []string
	actions []envharness.Action
}

func (m *menu) add(texts ...string) {
	for _, t := range texts {
		m.links, m.actions = append(m.links, t), append(m.actions, clickOn(t))
	}
}

func newShop(p *preset) *shop {
	s := &shop{preset: p, products: p.catalogue(), back: clickOn(backLink), prev: clickOn(prevLink), next: clickOn(nextLink), buy: clickOn(buyLink)}
	s.index, s.scorer = newIndex(s.products), newScorer(s.products)
	s.tasks = p.tasks(s.products)
	for i := range s.tasks {
		t := &s.tasks[i]
		for _, q := range t.queries() {
			t.searches = append(t.searches, searchFor(q))
		}
	}
	for i := range s.products {
		id := p.pages.id(i)
		s.ids = append(s.ids, id)
		if p.numbered {
			id = strconv.Itoa(i + 1)
		}
		s.open = append(s.open, link{id, clickOn(id)})
	}
	for i := range p.categories {
		var m menu
		m.add(backLink, prevLink)
		for _, g := range s.products[i].groups {
			m.add(g.values...)
		}
		m.add(p.pages.details()...)
		m.add(buyLink)
		s.items = append(s.items, m)
	}
	s.below.add(backLink, prevLink)
	return s
}

// The names of the tools.
const (
	searchTool = "search"
	clickTool  = "click"
)

func searchFor(query string) envharness.Action {
	return envharness.Action{Name: searchTool, Args: slices.Concat(json.RawMessage(`{"query":`), quoted(query), json.RawMessage(`}`))}
}

func clickOn(text string) envharness.Action {
	return envharness.Action{Name: clickTool, Args: slices.Concat(json.RawMessage(`{"text":`), quoted(text), json.RawMessage(`}`))}
}

func (o *Options) preset() *preset {
	if o != nil && o.Small {
		return small()
	}
	return full()
}

func simulation(o *Options) *sim.Simulation {
	s := newShop(o.preset())
	return &sim.Simulation{Description: s.describe(), Start: s.start, DefaultTask: s.firstOf("train"), Tasks: s.list}
}

// firstOf returns the id of the first task of a split.
func (s *shop) firstOf(split string) string {
	i := slices.IndexFunc(s.tasks, func(t task) bool { return t.split == split })
	return s.tasks[i].id
}

// openHit is the link of hit k, a product.
func (s *shop) openHit(k int, product int32) *link {
	if s.numbered {
		return &s.open[k%s.perPage]
	}
	return &s.open[product]
}

func (s *shop) describe() envharness.Description {
	return envharness.Description{
		Name: s.name,
		About: "A web shop with a catalogue of its own, with the pages and the score of WebShop. The task is a sentence that asks for a kind of product " +
			"with attributes, options such as color and size, and a price below a bound. A search leads to pages of results, a result to " +
			"the page of a product, where options are chosen by clicking them. Buying ends the episode; the reward is then the share of wanted " +
			"attributes, options and price that fit, times a factor for the kind of product. " +
			"Only a purchase with a score of exactly 1 passes, whichever product it is.",
		Tools: []envharness.Tool{
			{
				Name: searchTool, Description: "Search the shop. It works on the page with the search bar alone.",
				Schema: json.RawMessage(`{"additionalProperties":false,"properties":{` +
					`"query":{"description":"words to search for","type":"string"}},"required":["query"],"type":"object"}`),
			},
			{
				Name: clickTool, Description: "Click a button, product or option that the page shows. Clicking buy now ends the episode.",
				Schema: json.RawMessage(`{"additionalProperties":false,"properties":{` +
					`"text":{"description":"the text of what to click, in upper or lower case","type":"string"}},"required":["text"],"type":"object"}`),
				Submits: true,
			},
		},
		Graded:     []string{"bought", "chosen", "product"},
		Refusals:   []envharness.ErrorClass{envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassPrecondition},
		Vocabulary: s.vocabulary(),
		MaxTurns:   s.turns,
	}
}

// vocabulary lists the words that texts and admissible actions can be made of.
func (s *shop) vocabulary() []string {
	texts := append(s.pages.phrases(), searchTool, clickTool, backLink, prevLink, nextLink, buyLink)
	for _, c := range s.categories {
		texts = slices.Concat(texts, []string{c.noun, c.use}, c.attributes, c.colors, c.sizes)
	}
	for dollars := 10; dollars <= highest/1000*10+40; dollars += 10 { // bounds
		texts = append(texts, strconv.Itoa(dollars))
	}
	return rules.Vocabulary(texts...)
}
