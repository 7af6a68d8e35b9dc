package tooldesk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A kind is what a request is about.
type kind int

const (
	cancelKind kind = iota
	addressKind
	exchangeKind
	refundKind
	numKinds = iota
)

// A request is a sentence of a customer and what has to be done about it.
type request struct {
	text    string
	kind    kind
	order   *order
	item    line              // of the order
	blanks  []string          // what fills the phrases: name and value in turn
	listed  bool              // the sentence does not name the order, so the orders have to be listed
	product *product          // wanted in exchange, else nil
	write   envharness.Action // fulfils the request where the rules allow it
	answer  string            // names what the write handles
}

// request puts a request about the order into words. It changes nothing.
func (g *generator) request(k kind, o *order) request {
	q := request{kind: k, order: o, answer: o.ID, item: pick(g.r, o.Lines)}
	q.blanks = []string{"{order}", o.ID, "{item}", q.item.Name}
	var phrases []string
	switch k {
	case cancelKind:
		i := g.r.IntN(len(cancelReasons))
		q.write = call("cancel_order", o.ID, cancelReasons[i])
		q.blanks = append(q.blanks, "{why}", pick(g.r, cancelWords[i]))
		phrases = cancelPhrases
	case addressKind:
		address := g.address(101)
		q.write = call("set_address", address, o.ID)
		q.blanks = append(q.blanks, "{address}", `"`+address+`"`)
		phrases = addressPhrases
	case exchangeKind:
		given := g.world.product(q.item.SKU)
		var others []*product // at least two, as an order has at most three items of the five in a family
		for i := range g.world.Products {
			if p := &g.world.Products[i]; p.Family == given.Family && o.line(p.SKU) < 0 {
				others = append(others, p)
			}
		}
		q.product = pick(g.r, others)
		q.write = call("exchange_item", q.product.SKU, o.ID, q.item.SKU)
		q.blanks = append(q.blanks, "{sku}", q.product.SKU)
		phrases = exchangePhrases
	case refundKind:
		left := o.Paid - o.Refunded
		if left == 0 {
			left = o.Paid // a request that cannot be fulfilled, as some tickets hold
		}
		var amount int
		switch style := g.r.IntN(3); {
		case style == 0 && q.item.Cents <= left:
			amount, phrases = q.item.Cents, refundItem
		case style == 1:
			amount, phrases = left*(1+g.r.IntN(4))/10, refundAmount
		default:
			amount, phrases = left, refundRest
		}
		q.answer = strconv.Itoa(amount)
		q.write = call("refund", q.answer, o.ID)
		q.blanks = append(q.blanks, "{amount}", q.answer)
	}
	q.text = g.fill(phrases, q.blanks)
	return q
}

// fill picks one of the phrases and fills its blanks; no value looks like a blank.
func (g *generator) fill(phrases, blanks []string) string {
	text := pick(g.r, phrases)
	for b := range slices.Chunk(blanks, 2) {
		text = strings.ReplaceAll(text, b[0], b[1])
	}
	return text
}

// allow arranges the order so that a request of this kind is within the rules.
func (g *generator) allow(k kind, o *order) {
	switch k {
	case cancelKind, addressKind:
		g.setPending(o)
	case exchangeKind:
		g.setDelivered(o, 1+g.r.IntN(60))
	case refundKind:
		g.setDelivered(o, 1+g.r.IntN(refundWindow))
		if g.r.IntN(2) == 0 {
			o.Refunded = o.Paid * (1 + g.r.IntN(4)) / 10
		}
	}
}

// forbid arranges the world so that the request is against the rules, and returns the reason.
func (g *generator) forbid(q request) string {
	switch q.kind {
	case exchangeKind:
		g.setDelivered(q.order, 1+g.r.IntN(60))
		q.product.Stock = 0
		return reasonStock
	case refundKind:
		g.setDelivered(q.order, refundWindow+1+g.r.IntN(30))
		return reasonWindow
	}
	if g.r.IntN(3) == 0 {
		g.setCancelled(q.order)
	} else {
		g.setDelivered(q.order, 1+g.r.IntN(60))
	}
	return reasonStatus
}

// allowed makes a request that can be fulfilled.
func (g *generator) allowed(k kind, o *order) request {
	g.allow(k, o)
	q := g.request(k, o)
	if q.product != nil {
		q.product.Stock = max(q.product.Stock, 1)
	}
	return q
}

// unnamed rewords every second request so that the order is described and not named, where the description is clear.
func (g *generator) unnamed(q request) request {
	if g.r.IntN(2) == 0 {
		return q
	}
	others := slices.DeleteFunc(slices.Clone(g.orders), func(o *order) bool { return o == q.order })
	switch q.kind {
	case cancelKind:
		if !slices.ContainsFunc(others, func(o *order) bool { return o.line(q.item.SKU) >= 0 }) {
			q.text, q.listed = g.fill(cancelUnnamed, q.blanks), true
		}
	case addressKind:
		for _, o := range others {
			if o.Status == pending {
				g.setDelivered(o, 1+g.r.IntN(60))
			}
		}
		q.text, q.listed = g.fill(addressUnnamed, q.blanks), true
	}
	return q
}

// greeting introduces the customer.
func (g *generator) greeting() string {
	return g.fill(greetings, []string{"{name}", g.target.Name, "{email}", g.target.Email})
}

// plan adds the reads that a request needs to the gold actions.
func (g *generator) plan(q request) {
	if q.listed {
		g.pages("list_orders", slices.IndexFunc(g.sortedOrders(), func(id string) bool { return id == q.order.ID }))
	}
	g.do(call("get_order", q.order.ID))
	if q.product != nil {
		g.do(call("get_product", q.product.SKU))
	}
}

func (g *generator) do(a envharness.Action) { g.task.gold = append(g.task.gold, a) }

// pages adds the calls that list the target's rows up to the one at the position.
func (g *generator) pages(tool string, position int) {
	g.do(call(tool, g.target.ID))
	for p := 2; p <= position/pageSize+1; p++ {
		g.do(call(tool, g.target.ID, strconv.Itoa(p)))
	}
}

func (g *generator) sortedOrders() []string {
	var ids []string
	for _, o := range g.orders {
		ids = insert(ids, o.ID)
	}
	return ids
}

// single is the task of one request.
func (g *generator) single(k kind) {
	q := g.unnamed(g.allowed(k, g.orders[0]))
	g.task.text = g.greeting() + " " + q.text
	g.do(call("find_customer", g.target.Email))
	g.plan(q)
	g.do(q.write)
	g.finish(q.answer)
}

// doubleTask is the task of two requests of different kinds about two orders.
func (g *generator) doubleTask() {
	kinds := g.r.Perm(numKinds)
	a := g.allowed(kind(kinds[0]), g.orders[0])
	b := g.allowed(kind(kinds[1]), g.orders[1])
	g.task.text = g.greeting() + " " + a.text + " " + pick(g.r, joints) + " " + b.text
	g.do(call("find_customer", g.target.Email))
	for _, q := range []request{a, b} {
		g.plan(q)
		g.do(q.write)
	}
	g.finish(a.answer, b.answer)
}

// ticketTask is the task of fulfilling the request of a ticket and closing it.
func (g *generator) ticketTask() {
	q := g.allowed(kind(g.r.IntN(numKinds)), g.orders[0])
	t := &g.world.Tickets[g.r.IntN(numTickets)]
	*t = ticket{
		ID: t.ID, Customer: g.target.ID, Order: q.order.ID, Status: open, Opened: g.world.Today - g.r.IntN(20), Body: q.text,
	}
	g.do(call("find_customer", g.target.Email))
	phrases := ticketPhrases
	if g.r.IntN(2) == 0 {
		phrases = ticketUnnamed
		position := 0
		for i := range g.world.Tickets {
			u := &g.world.Tickets[i]
			if u.Customer == g.target.ID && u.ID < t.ID {
				position++
			}
			if u.Customer == g.target.ID && u != t {
				u.Status, u.Note = resolved, "resolved"
			}
		}
		g.pages("list_tickets", position)
	}
	g.task.text = g.greeting() + " " + g.fill(phrases, []string{"{ticket}", t.ID})
	g.do(call("get_ticket", t.ID))
	g.plan(q)
	g.do(q.write)
	g.do(call("resolve_ticket", "resolved", t.ID))
	g.finish(q.answer, t.ID)
}

// forbiddenTask is the task of a request that the rules forbid: hand it over and touch nothing. The message alone does
// not show it.
func (g *generator) forbiddenTask() {
	k := kind(g.r.IntN(numKinds))
	g.allow(k, g.orders[0])
	q := g.request(k, g.orders[0])
	reason := g.forbid(q)
	g.task.text = g.greeting() + " " + q.text
	g.do(call("find_customer", g.target.Email))
	g.plan(q)
	g.do(call("transfer", g.target.ID, reason))
	g.finish(transferred)
}

// finish sets the answer to the words that it must have.
func (g *generator) finish(required ...string) {
	g.task.required = required
	g.task.answer = strings.Join(required, ", ")
}
