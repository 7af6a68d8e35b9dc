package tooldesk

import (
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

const pageSize = 5

func findCustomer(e *episode, in *inputs) *envharness.ActionError {
	email := in[0].s
	for i, c := range e.world.Customers {
		if string(email) == c.Email || strings.EqualFold(c.Email, string(email)) {
			s := e.customerSheet(i)
			e.session.Verified = insert(e.session.Verified, c.ID)
			e.memory.showCustomer(s.customer)
			e.memory.showEmail(s.about)
			e.outcome.customer, e.outcome.told = c, &s.text
			return nil
		}
	}
	return e.refuse(envharness.ClassNotFound, ruleUnknown, "no customer with e-mail ", quoted(string(email)))
}

func listOrders(e *episode, in *inputs) *envharness.ActionError {
	c := find(e.world.Customers, in[0].s, customerID)
	if c < 0 {
		return e.noCustomer(string(in[0].s))
	}
	page := max(in[1].n, 1)
	s := e.ordersSheet(c, page)
	for _, o := range s.list {
		e.memory.showOrder(o)
	}
	if s.next != nil {
		e.memory.show(ofNextOrders, &e.memory.nextOrders, s.next)
	}
	id := e.world.Customers[c].ID
	e.outcome.customer, e.outcome.page, e.outcome.sheet, e.outcome.told = e.world.Customers[c], page, s, &s.text
	e.seen.order, e.seen.ordersOf = "", id
	return nil
}

func getOrder(e *episode, in *inputs) *envharness.ActionError {
	i := find(e.world.Orders, in[0].s, orderID)
	if i < 0 {
		return e.noOrder(string(in[0].s))
	}
	o, s := e.world.Orders[i], e.orderSheet(i)
	e.session.Read = insert(e.session.Read, o.ID)
	e.memory.showCustomer(s.customer)
	e.memory.showOrder(s.about)
	for k := range s.list {
		e.memory.showSKU(s.list[k])
		e.memory.showLine(s.lines[k])
	}
	for _, a := range s.amounts {
		e.memory.showAmount(a)
	}
	e.outcome.order, e.outcome.told, e.seen.order = o, &s.text, o.ID
	return nil
}

func getProduct(e *episode, in *inputs) *envharness.ActionError {
	i := find(e.world.Products, in[0].s, productID)
	if i < 0 {
		return e.noProduct(string(in[0].s))
	}
	p, s := e.world.Products[i], e.productSheet(i)
	e.session.Read = insert(e.session.Read, p.SKU)
	e.memory.showSKU(s.about)
	e.memory.showWanted(s.about)
	e.outcome.product, e.outcome.told, e.seen.sku = p, &s.text, p.SKU
	return nil
}

func listTickets(e *episode, in *inputs) *envharness.ActionError {
	c := find(e.world.Customers, in[0].s, customerID)
	if c < 0 {
		return e.noCustomer(string(in[0].s))
	}
	page := max(in[1].n, 1)
	s := e.ticketsSheet(c, page)
	for _, t := range s.list {
		e.memory.showTicket(t)
	}
	if s.next != nil {
		e.memory.show(ofNextTickets, &e.memory.nextTickets, s.next)
	}
	id := e.world.Customers[c].ID
	e.outcome.customer, e.outcome.page, e.outcome.sheet, e.outcome.told = e.world.Customers[c], page, s, &s.text
	e.seen.ticket, e.seen.ticketsOf = "", id
	return nil
}

func getTicket(e *episode, in *inputs) *envharness.ActionError {
	i := find(e.world.Tickets, in[0].s, ticketID)
	if i < 0 {
		return e.noTicket(string(in[0].s))
	}
	t, s := e.world.Tickets[i], e.ticketSheet(i)
	e.session.Read = insert(e.session.Read, t.ID)
	e.memory.showCustomer(s.customer)
	e.memory.showTicket(s.about)
	e.memory.showOrder(s.order)
	for _, m := range e.task.bodies[i] {
		e.memory.mention(e.task, m)
	}
	e.outcome.ticket, e.outcome.told, e.seen.ticket = t, &s.text, t.ID
	return nil
}
