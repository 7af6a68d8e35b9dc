package tooldesk

import (
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// A preset is all in which one sort of desk differs from another: sizes, names and texts. The rules are the same.
type preset struct {
	name, about string
	prefix      string // of task ids
	stream      uint64 // of the random numbers of the first family; the others follow
	maxTurns    int

	// Sizes of a generated world.
	customers, families, perFamily, orders, tickets int
	lines                                           int // most of an order
	lowest, step, prices                            int // a price is lowest + step*n, with n below prices
	whole                                           int // amounts are multiples of it, in cents
	stock                                           int // of a product is below it

	inside, outside *pool // of names
	numbered        bool  // ids are numbered from 1, and do not tell by their look that they are ids
	dealt           bool  // each message is one split's, by its hash
	wording         *wording

	// Bounds of the candidate calls: of one tool, of one that is given just one id, of one that combines two things, of either of these, and
	// of customers and wrong answers.
	perTool, ids, combined, pairs, others int

	tools   []tool
	episode func(e *episode) sim.Episode
	replies bool                                      // texts are replies to the last call, and not the present state
	opening func(t *task) string                      // the text of a start, nil if it is told like any other
	tell    func(e *episode, b []byte) []byte         // the text of the present
	address func(g *generator, moved bool) string     // moved addresses differ from those of customers
	person  func(first, last string) (string, string) // name and e-mail address
}

var full = preset{
	name: "tooldesk", maxTurns: MaxTurns,
	about:     " Replies are JSON; the first text holds the message and the rules.",
	customers: 8, families: 4, perFamily: 5, orders: 30, tickets: 12, lines: 3,
	lowest: 500, step: 5, prices: 3900, whole: 1, stock: 10,
	inside: &familiar, outside: &unfamiliar, wording: &sentences,
	perTool: 8, ids: 8, combined: 8, pairs: 4, others: 2,
	tools:   makeTools(1),
	episode: func(e *episode) sim.Episode { return narrated{e} },
	replies: true,
	opening: openFull,
	tell:    tellReply,
	address: func(g *generator, moved bool) string {
		low := 1
		if moved {
			low = 101
		}
		number := strconv.Itoa(low + g.r.IntN(99))
		street := pick(g.r, g.names.street)
		return number + " " + street + " Street, " + pick(g.r, g.names.town)
	},
	person: func(first, last string) (string, string) {
		return first + " " + last, strings.ToLower(first+"."+last) + "@example.com"
	},
}

var small = preset{
	name: "tooldesk_small", prefix: "small-", stream: 16, maxTurns: 12,
	about:     " This desk is small. Its text tells the message and what was learned so far, newest reads only, in a closed vocabulary.",
	customers: 2, families: 2, perFamily: 2, orders: 4, tickets: 2, lines: 2,
	lowest: 10, step: 10, prices: 4, whole: 10, stock: 3,
	inside: &few, outside: &few, numbered: true, dealt: true, wording: &words,
	perTool: 3, ids: 4, combined: 2, pairs: 2, others: 1,
	tools:   makeTools(10),
	episode: func(e *episode) sim.Episode { return e },
	tell:    tellState,
	address: func(g *generator, moved bool) string {
		number := 1 + g.r.IntN(houses)
		if moved {
			number += houses
		}
		return pick(g.r, g.names.street) + " " + strconv.Itoa(number)
	},
	person: func(first, _ string) (string, string) { return first, first },
}

// houses is how many house numbers there are in a street of the small desk, for customers and again for those who move.
const houses = 4

// vocabulary returns every word of the texts and candidates, or nil for the full desk, whose ids and amounts are of any number.
func (p *preset) vocabulary() []string {
	if !p.numbered {
		return nil
	}
	var all []string
	add := func(texts ...string) { all = append(all, texts...) }
	ids := func(prefix string, n int) {
		for i := range n {
			add(prefix + strconv.Itoa(i+1))
		}
	}
	ids("c", p.customers)
	ids("o", p.orders)
	ids("k", p.tickets)
	for _, family := range p.inside.family {
		ids(family, p.perFamily)
	}
	for i := range houses {
		add(strconv.Itoa(houses + 1 + i)) // of customers who move: where they live is not told
	}
	for cents := 0; cents <= p.lines*(p.lowest+p.step*(p.prices-1)); cents += p.whole {
		add(strconv.Itoa(cents))
	}
	for _, t := range p.tools {
		add(t.name)
	}
	add(p.inside.first...)
	add(p.inside.street...)
	add(p.wording.all()...)
	add(cancelReasons...)
	add(transferReasons...)
	add(pending, delivered, cancelled, open, resolved, closingNote, nothingDone, transferred, ",")
	add(stateWords...)
	add(ruleWords...)
	return rules.Vocabulary(all...)
}
