package tooldesk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

const pageSize = 5

// page returns the bounds of a page of n rows.
func page(n, number int) (from, to int) {
	from = min((max(number, 1)-1)*pageSize, n)
	return from, min(from+pageSize, n)
}

func findCustomer(e *episode, in []value) (any, *envharness.ActionError) {
	i := slices.IndexFunc(e.world.Customers, func(c customer) bool { return strings.EqualFold(c.Email, in[0].s) })
	if i < 0 {
		return nil, refuse(envharness.ClassNotFound, "no customer with e-mail %q", clip(in[0].s))
	}
	c := e.world.Customers[i]
	e.session.Verified = insert(e.session.Verified, c.ID)
	show(&e.memory.customers, c.ID)
	show(&e.memory.emails, c.Email)
	return c, nil
}

func listOrders(e *episode, in []value) (any, *envharness.ActionError) {
	if refusal := e.customer(in[0].s); refusal != nil {
		return nil, refusal
	}
	type row struct {
		ID     string `json:"order_id"`
		Status string `json:"status"`
		Items  string `json:"items"`
	}
	rows := []row{}
	for _, o := range e.world.Orders {
		if o.Customer == in[0].s {
			names := make([]string, len(o.Lines))
			for i, l := range o.Lines {
				names[i] = l.Name
			}
			rows = append(rows, row{o.ID, o.Status, strings.Join(names, ", ")})
		}
	}
	from, to := page(len(rows), in[1].n)
	for _, r := range rows[from:to] {
		show(&e.memory.orders, r.ID)
	}
	e.memory.paged("list_orders", in, to < len(rows))
	return struct {
		Customer string `json:"customer_id"`
		Page     int    `json:"page"`
		Orders   []row  `json:"orders"`
		More     bool   `json:"has_more"`
	}{in[0].s, max(in[1].n, 1), rows[from:to], to < len(rows)}, nil
}

func getOrder(e *episode, in []value) (any, *envharness.ActionError) {
	o, refusal := e.order(in[0].s)
	if refusal != nil {
		return nil, refusal
	}
	e.session.Read = insert(e.session.Read, o.ID)
	window := ""
	if o.Status == delivered {
		window = "closed"
		if e.world.refundable(o) {
			window = "open"
		}
	}
	left := o.Paid - o.Refunded
	show(&e.memory.customers, o.Customer)
	show(&e.memory.orders, o.ID)
	for _, l := range o.Lines {
		show(&e.memory.skus, l.SKU)
		show(&e.memory.lines, pair{o.ID, l.SKU})
		show(&e.memory.amounts, pair{o.ID, strconv.Itoa(l.Cents)})
	}
	if left > 0 {
		show(&e.memory.amounts, pair{o.ID, strconv.Itoa(left)})
	}
	return struct {
		order
		Lines     []line `json:"lines"`
		Left      int    `json:"refundable_cents"`
		Delivered int    `json:"delivered_day,omitempty"`
		Reason    string `json:"cancel_reason,omitempty"`
		Window    string `json:"refund_window,omitempty"`
	}{*o, o.Lines, left, o.Delivered, o.Reason, window}, nil
}

func getProduct(e *episode, in []value) (any, *envharness.ActionError) {
	p := e.world.product(in[0].s)
	if p == nil {
		return nil, refuse(envharness.ClassNotFound, "no product with sku %q", in[0].s)
	}
	e.session.Read = insert(e.session.Read, p.SKU)
	show(&e.memory.skus, p.SKU)
	show(&e.memory.wanted, p.SKU)
	availability := "out of stock"
	if p.Stock > 0 {
		availability = "in stock"
	}
	return struct {
		product
		Availability string `json:"availability"`
	}{*p, availability}, nil
}

func listTickets(e *episode, in []value) (any, *envharness.ActionError) {
	if refusal := e.customer(in[0].s); refusal != nil {
		return nil, refusal
	}
	type row struct {
		ID     string `json:"ticket_id"`
		Status string `json:"status"`
		Opened int    `json:"opened_day"`
	}
	rows := []row{}
	for _, t := range e.world.Tickets {
		if t.Customer == in[0].s {
			rows = append(rows, row{t.ID, t.Status, t.Opened})
		}
	}
	from, to := page(len(rows), in[1].n)
	for _, r := range rows[from:to] {
		show(&e.memory.tickets, r.ID)
	}
	e.memory.paged("list_tickets", in, to < len(rows))
	return struct {
		Customer string `json:"customer_id"`
		Page     int    `json:"page"`
		Tickets  []row  `json:"tickets"`
		More     bool   `json:"has_more"`
	}{in[0].s, max(in[1].n, 1), rows[from:to], to < len(rows)}, nil
}

func getTicket(e *episode, in []value) (any, *envharness.ActionError) {
	t, refusal := e.ticket(in[0].s)
	if refusal != nil {
		return nil, refusal
	}
	e.session.Read = insert(e.session.Read, t.ID)
	show(&e.memory.customers, t.Customer)
	show(&e.memory.tickets, t.ID)
	show(&e.memory.orders, t.Order)
	e.memory.scan(t.Body)
	return struct {
		ticket
		Note string `json:"note,omitempty"`
	}{*t, t.Note}, nil
}
