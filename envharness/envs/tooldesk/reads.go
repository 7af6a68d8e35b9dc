package tooldesk

import (
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

const pageSize = 5

func findCustomer(e *episode, in *inputs) *envharness.ActionError {
	email := string(in[0].s)
	for _, c := range e.world.Customers {
		if strings.EqualFold(c.Email, email) {
			e.session.Verified = insert(e.session.Verified, c.ID)
			e.memory.showCustomer(c.ID)
			e.memory.showEmail(c.Email)
			e.outcome.customer = c
			return nil
		}
	}
	return e.refuse(envharness.ClassNotFound, ruleUnknown, "no customer with e-mail ", quoted(email))
}

// take puts a row onto the page, if it is there that the n-th of a customer's rows belongs.
func (o *outcome) take(n, row int) {
	switch from := (o.page - 1) * pageSize; {
	case n >= from && o.count < pageSize:
		o.rows[o.count] = row
		o.count++
	case n >= from:
		o.more = true
	}
}

func listOrders(e *episode, in *inputs) *envharness.ActionError {
	c, refusal := e.customer(string(in[0].s))
	if refusal != nil {
		return refusal
	}
	out, n := &e.outcome, 0
	out.page = max(in[1].n, 1)
	for i, row := range e.world.Orders {
		if row.Customer == c.ID {
			out.take(n, i)
			n++
		}
	}
	for _, i := range out.rows[:out.count] {
		e.memory.showOrder(e.world.Orders[i].ID)
	}
	if out.more {
		e.memory.showNext(next{"list_orders", c.ID, out.page + 1})
	}
	out.customer, e.seen.order, e.seen.ordersOf = c, "", c.ID
	return nil
}

func getOrder(e *episode, in *inputs) *envharness.ActionError {
	o, refusal := e.order(string(in[0].s))
	if refusal != nil {
		return refusal
	}
	e.session.Read = insert(e.session.Read, o.ID)
	e.memory.showCustomer(o.Customer)
	e.memory.showOrder(o.ID)
	for i := range o.Lines {
		l := &o.Lines[i]
		e.memory.showSKU(l.SKU)
		e.memory.showLine(pair{o.ID, l.SKU})
		e.memory.showAmount(pair{o.ID, strconv.Itoa(l.Cents)})
	}
	if left := o.Paid - o.Refunded; left > 0 {
		e.memory.showAmount(pair{o.ID, strconv.Itoa(left)})
	}
	e.outcome.order, e.seen.order = o, o.ID
	return nil
}

func getProduct(e *episode, in *inputs) *envharness.ActionError {
	p, refusal := e.product(string(in[0].s))
	if refusal != nil {
		return refusal
	}
	e.session.Read = insert(e.session.Read, p.SKU)
	e.memory.showSKU(p.SKU)
	e.memory.showWanted(p.SKU)
	e.outcome.product, e.seen.sku = p, p.SKU
	return nil
}

func listTickets(e *episode, in *inputs) *envharness.ActionError {
	c, refusal := e.customer(string(in[0].s))
	if refusal != nil {
		return refusal
	}
	out, n := &e.outcome, 0
	out.page = max(in[1].n, 1)
	for i, row := range e.world.Tickets {
		if row.Customer == c.ID {
			out.take(n, i)
			n++
		}
	}
	for _, i := range out.rows[:out.count] {
		e.memory.showTicket(e.world.Tickets[i].ID)
	}
	if out.more {
		e.memory.showNext(next{"list_tickets", c.ID, out.page + 1})
	}
	out.customer, e.seen.ticket, e.seen.ticketsOf = c, "", c.ID
	return nil
}

func getTicket(e *episode, in *inputs) *envharness.ActionError {
	t, refusal := e.ticket(string(in[0].s))
	if refusal != nil {
		return refusal
	}
	e.session.Read = insert(e.session.Read, t.ID)
	e.memory.showCustomer(t.Customer)
	e.memory.showTicket(t.ID)
	e.memory.showOrder(t.Order)
	for i := range e.world.Tickets {
		if e.world.Tickets[i] == t {
			for _, m := range e.task.bodies[i] {
				e.memory.mention(m)
			}
		}
	}
	e.outcome.ticket, e.seen.ticket = t, t.ID
	return nil
}
