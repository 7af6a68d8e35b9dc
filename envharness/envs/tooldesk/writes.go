package tooldesk

import (
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// Each writing tool checks everything before it writes anything, and writes only to rows that it took over with one of the writable
// functions of the world.

func cancelOrder(e *episode, in []value) (any, *envharness.ActionError) {
	o, refusal := e.changeable(in[0].s, pending)
	if refusal != nil {
		return nil, refusal
	}
	o = e.world.writableOrder(o.ID)
	o.Status, o.Reason, o.Refunded = cancelled, in[1].s, o.Paid
	for _, l := range o.Lines {
		e.world.writableProduct(l.SKU).Stock++
	}
	e.session.Written = append(e.session.Written, o.ID)
	return struct {
		ID       string `json:"order_id"`
		Status   string `json:"status"`
		Refunded int    `json:"refunded_cents"`
	}{o.ID, o.Status, o.Refunded}, nil
}

func setAddress(e *episode, in []value) (any, *envharness.ActionError) {
	o, refusal := e.changeable(in[1].s, pending)
	if refusal != nil {
		return nil, refusal
	}
	o = e.world.writableOrder(o.ID)
	o.Address = in[0].s
	e.session.Written = append(e.session.Written, o.ID)
	return struct {
		ID      string `json:"order_id"`
		Address string `json:"address"`
	}{o.ID, o.Address}, nil
}

func exchangeItem(e *episode, in []value) (any, *envharness.ActionError) {
	wanted := e.world.product(in[0].s)
	if wanted == nil {
		return nil, refuse(envharness.ClassNotFound, "no product with sku %q", in[0].s)
	}
	o, refusal := e.changeable(in[1].s, delivered)
	if refusal != nil {
		return nil, refusal
	}
	i := o.line(in[2].s)
	if i < 0 {
		return nil, refuse(envharness.ClassPrecondition, "order %s has no item %q", o.ID, in[2].s)
	}
	given := e.world.product(o.Lines[i].SKU)
	paid := o.Paid + wanted.Cents - o.Lines[i].Cents
	switch {
	case o.line(wanted.SKU) >= 0:
		return nil, refuse(envharness.ClassPrecondition, "order %s has item %s already", o.ID, wanted.SKU)
	case wanted.Family != given.Family:
		return nil, refuse(envharness.ClassPrecondition, "%s is not of the family %s", wanted.SKU, given.Family)
	case wanted.Stock < 1:
		return nil, refuse(envharness.ClassPrecondition, "%s is out of stock", wanted.SKU)
	case paid < o.Refunded:
		return nil, refuse(envharness.ClassPrecondition, "order %s would be refunded %d cents of %d paid", o.ID, o.Refunded, paid)
	}
	wanted, given = e.world.writableProduct(wanted.SKU), e.world.writableProduct(given.SKU)
	wanted.Stock--
	given.Stock++
	o = e.world.writableOrder(o.ID)
	o.Lines = slices.Clone(o.Lines)
	o.Lines[i] = line{wanted.SKU, wanted.Name, wanted.Cents}
	o.Paid = paid
	e.session.Written = append(e.session.Written, o.ID)
	return struct {
		ID     string `json:"order_id"`
		SKU    string `json:"sku"`
		NewSKU string `json:"new_sku"`
		Paid   int    `json:"paid_cents"`
	}{o.ID, given.SKU, wanted.SKU, o.Paid}, nil
}

func refund(e *episode, in []value) (any, *envharness.ActionError) {
	o, refusal := e.changeable(in[1].s, delivered)
	if refusal != nil {
		return nil, refusal
	}
	if !e.world.refundable(o) {
		return nil, refuse(envharness.ClassPrecondition, "order %s was delivered more than %d days ago", o.ID, refundWindow)
	}
	if left := o.Paid - o.Refunded; in[0].n > left {
		return nil, refuse(envharness.ClassPrecondition, "order %s has only %d cents left to refund", o.ID, left)
	}
	o = e.world.writableOrder(o.ID)
	o.Refunded += in[0].n
	e.session.Written = append(e.session.Written, strconv.Itoa(in[0].n))
	return struct {
		ID       string `json:"order_id"`
		Amount   int    `json:"amount_cents"`
		Refunded int    `json:"refunded_cents"`
	}{o.ID, in[0].n, o.Refunded}, nil
}

func resolveTicket(e *episode, in []value) (any, *envharness.ActionError) {
	t, refusal := e.ticket(in[1].s)
	if refusal == nil {
		refusal = e.verified(t.Customer)
	}
	if refusal != nil {
		return nil, refusal
	}
	if t.Status != open {
		return nil, refuse(envharness.ClassPrecondition, "ticket %s is %s", t.ID, t.Status)
	}
	t = e.world.writableTicket(t.ID)
	t.Status, t.Note = resolved, in[0].s
	e.session.Written = append(e.session.Written, t.ID)
	return struct {
		ID     string `json:"ticket_id"`
		Status string `json:"status"`
	}{t.ID, t.Status}, nil
}

func transferCustomer(e *episode, in []value) (any, *envharness.ActionError) {
	refusal := e.customer(in[0].s)
	if refusal == nil {
		refusal = e.verified(in[0].s)
	}
	if refusal != nil {
		return nil, refusal
	}
	row := transfer{in[0].s, in[1].s}
	e.world.Transfers = append(e.world.Transfers, row)
	e.session.Written = append(e.session.Written, transferred)
	return row, nil
}

// transferred is the answer after a transfer.
const transferred = "transferred"

func submit(e *episode, in []value) (any, *envharness.ActionError) {
	e.session.Answer = &in[0].s
	return struct {
		Status string `json:"status"`
	}{"submitted"}, nil
}
