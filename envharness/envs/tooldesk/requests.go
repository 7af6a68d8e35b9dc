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
	text     string
	mentions []mention // what the sentence names
	kind     kind
	order    *order
	item     line // of the order
	blanks   []blank
	listed   bool              // the sentence does not name the order, so the orders have to be listed
	product  *product          // wanted in exchange, else nil
	write    envharness.Action // fulfils the request where the rules allow it
	answer   string            // names what the write handles
}

// request puts a request about the order into words. It changes nothing.
func (g *generator) request(k kind, o *order) request {
	q := request{kind: k, order: o, answer: o.ID, item: pick(g.r, o.Lines)}
	q.blanks = make([]blank, 0, 5)
	q.blanks = append(q.blanks, blank{"order", o.ID, ofOrder}, blank{"item", q.item.Name, 0}, blank{"part", q.item.SKU, ofSKU})
	var phrases []string
	switch k {
	case cancelKind:
		i := g.r.IntN(len(cancelReasons))
		q.write = call("cancel_order", o.ID, cancelReasons[i])
		q.blanks = append(q.blanks, blank{"why", pick(g.r, g.wording.why[i]), 0})
		phrases = g.wording.cancel
	case addressKind:
		address := g.address(g, true)
		q.write = call("set_address", address, o.ID)
		q.blanks = append(q.blanks, blank{"address", address, ofAddress})
		phrases = g.wording.address
	case exchangeKind:
		given := g.world.product(q.item.SKU)
		others := make([]*product, 0, len(g.world.Products)) // at least one, see addLines
		for _, p := range g.world.Products {
			if p.Family == given.Family && o.line(p.SKU) < 0 {
				others = append(others, p)
			}
		}
		q.product = pick(g.r, others)
		q.write = call("exchange_item", q.product.SKU, o.ID, q.item.SKU)
		q.blanks = append(q.blanks, blank{"sku", q.product.SKU, ofSKU | ofWanted})
		phrases = g.wording.exchange
	case refundKind:
		left := o.Paid - o.Refunded
		if left == 0 {
			left = o.Paid // a request that cannot be fulfilled, as some tickets hold
		}
		var amount int
		switch style := g.r.IntN(3); {
		case style == 0 && q.item.Cents <= left:
			amount, phrases = q.item.Cents, g.wording.refundItem
		case style == 1:
			amount, phrases = max(g.part(left), g.whole), g.wording.refunds
		default:
			amount, phrases = left, g.wording.refundRest
		}
		q.answer = strconv.Itoa(amount)
		q.write = call("refund", q.answer, o.ID)
		q.blanks = append(q.blanks, blank{"amount", q.answer, ofCents})
	}
	q.text, q.mentions = g.fill(phrases, q.blanks)
	return q
}

// A blank is what a phrase leaves open, and what it is filled with.
type blank struct {
	name, value string
	lists       listSet // where a memory keeps the value
}

// A mention is a value that a message names.
type mention struct {
	value string
	lists listSet
}

// fill picks one of the phrases and fills its blanks. It returns what the text mentions, in order.
func (g *generator) fill(phrases []string, blanks []blank) (string, []mention) {
	phrase := pick(g.r, phrases)
	b := make([]byte, 0, len(phrase)+64)
	mentions := make([]mention, 0, len(blanks))
	for {
		head, tail, ok := strings.Cut(phrase, "{")
		b = append(b, head...)
		if !ok {
			return string(b), mentions
		}
		name, rest, _ := strings.Cut(tail, "}")
		for _, x := range blanks {
			if x.name == name {
				b = append(b, x.value...)
				if x.lists != 0 {
					mentions = append(mentions, mention{x.value, x.lists})
				}
			}
		}
		phrase = rest
	}
}

// say adds words to the customer's message.
func (g *generator) say(text string, mentions []mention) {
	if g.task.text != "" {
		g.task.text += " "
	}
	g.task.text += text
	g.task.mentions = append(g.task.mentions, mentions...)
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
			o.Refunded = g.part(o.Paid)
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
			q.text, q.mentions = g.fill(g.wording.cancelUnnamed, q.blanks)
			q.listed = true
		}
	case addressKind:
		for _, o := range others {
			if o.Status == pending {
				g.setDelivered(o, 1+g.r.IntN(60))
			}
		}
		q.text, q.mentions = g.fill(g.wording.addressUnnamed, q.blanks)
		q.listed = true
	}
	return q
}

// greet introduces the customer.
func (g *generator) greet() {
	g.say(g.fill(g.wording.greetings, []blank{{"name", g.target.Name, 0}, {"email", g.target.Email, ofEmail}}))
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
	g.greet()
	g.say(q.text, q.mentions)
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
	g.greet()
	g.say(a.text, a.mentions)
	g.say(pick(g.r, g.wording.joints), nil)
	g.say(b.text, b.mentions)
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
	i := g.r.IntN(g.preset.tickets)
	t := g.world.Tickets[i]
	*t = ticket{
		ID: t.ID, Customer: g.target.ID, Order: q.order.ID, Status: open, Opened: g.world.Today - g.r.IntN(20), Body: q.text,
	}
	g.task.bodies[i] = q.mentions
	g.do(call("find_customer", g.target.Email))
	phrases := g.wording.ticket
	if g.r.IntN(2) == 0 {
		phrases = g.wording.ticketUnnamed
		position := 0
		for _, u := range g.world.Tickets {
			if u.Customer == g.target.ID && u.ID < t.ID {
				position++
			}
			if u.Customer == g.target.ID && u != t {
				u.Status, u.Note = resolved, closingNote
			}
		}
		g.pages("list_tickets", position)
	}
	g.greet()
	g.say(g.fill(phrases, []blank{{"ticket", t.ID, ofTicket}}))
	g.do(call("get_ticket", t.ID))
	g.plan(q)
	g.do(q.write)
	g.do(call("resolve_ticket", closingNote, t.ID))
	g.finish(q.answer, t.ID)
}

// forbiddenTask is the task of a request that the rules forbid: hand it over and touch nothing. The message alone does
// not show it.
func (g *generator) forbiddenTask() {
	k := kind(g.r.IntN(numKinds))
	g.allow(k, g.orders[0])
	q := g.request(k, g.orders[0])
	reason := g.forbid(q)
	g.greet()
	g.say(q.text, q.mentions)
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
