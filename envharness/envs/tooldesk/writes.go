package tooldesk

import (
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// Each writing tool checks everything before it writes anything, and writes only to rows that it took over with one of the writable
// functions of the world.

// wrote notes what a write has handled.
func (e *episode) wrote(what string) {
	if cap(e.session.Written) == 0 {
		e.session.Written = make([]string, 0, 4)
	}
	e.session.Written = append(e.session.Written, what)
	e.memory.stale |= ofWritten
}

func cancelOrder(e *episode, in *inputs) *envharness.ActionError {
	o, refusal := e.changeable(in[0].s, pending)
	if refusal != nil {
		return refusal
	}
	o = e.world.writableOrder(o.ID)
	o.Status, o.Reason, o.Refunded = cancelled, cancelReasons[listed(cancelReasons, in[1].s)], o.Paid
	for _, l := range o.Lines {
		e.world.writableProduct(l.SKU).Stock++
	}
	e.wrote(o.ID)
	e.outcome.order = o
	return nil
}

func setAddress(e *episode, in *inputs) *envharness.ActionError {
	o, refusal := e.changeable(in[1].s, pending)
	if refusal != nil {
		return refusal
	}
	o = e.world.writableOrder(o.ID)
	o.Address = string(in[0].s)
	e.wrote(o.ID)
	e.outcome.order = o
	return nil
}

func exchangeItem(e *episode, in *inputs) *envharness.ActionError {
	wanted, refusal := e.product(in[0].s)
	if refusal != nil {
		return refusal
	}
	o, refusal := e.changeable(in[1].s, delivered)
	if refusal != nil {
		return refusal
	}
	i := o.line(string(in[2].s))
	if i < 0 {
		return e.refuse(envharness.ClassPrecondition, ruleItem, "order ", o.ID, " has no item ", quoted(string(in[2].s)))
	}
	given := e.world.product(o.Lines[i].SKU)
	paid := o.Paid + wanted.Cents - o.Lines[i].Cents
	switch {
	case o.line(wanted.SKU) >= 0:
		return e.refuse(envharness.ClassPrecondition, ruleDuplicate, "order ", o.ID, " has item ", wanted.SKU, " already")
	case wanted.Family != given.Family:
		return e.refuse(envharness.ClassPrecondition, ruleFamily, wanted.SKU, " is not of the family ", given.Family)
	case wanted.Stock < 1:
		return e.refuse(envharness.ClassPrecondition, ruleStock, wanted.SKU, " is out of stock")
	case paid < o.Refunded:
		return e.refuse(envharness.ClassPrecondition, ruleBalance, "order ", o.ID, " would be refunded ", strconv.Itoa(o.Refunded), " cents of ",
			strconv.Itoa(paid), " paid")
	}
	wanted, given = e.world.writableProduct(wanted.SKU), e.world.writableProduct(given.SKU)
	wanted.Stock--
	given.Stock++
	o = e.world.writableOrder(o.ID)
	o.Lines = slices.Clone(o.Lines)
	o.Lines[i] = line{wanted.SKU, wanted.Name, wanted.Cents}
	o.Paid = paid
	e.wrote(o.ID)
	e.outcome.order, e.outcome.product, e.outcome.given = o, wanted, given
	return nil
}

func refund(e *episode, in *inputs) *envharness.ActionError {
	o, refusal := e.changeable(in[1].s, delivered)
	if refusal != nil {
		return refusal
	}
	if !e.world.refundable(o) {
		return e.refuse(envharness.ClassPrecondition, ruleWindow, "order ", o.ID, " was delivered more than ", strconv.Itoa(refundWindow),
			" days ago")
	}
	if left := o.Paid - o.Refunded; in[0].n > left {
		return e.refuse(envharness.ClassPrecondition, ruleAmount, "order ", o.ID, " has only ", strconv.Itoa(left), " cents left to refund")
	}
	o = e.world.writableOrder(o.ID)
	o.Refunded += in[0].n
	e.wrote(strconv.Itoa(in[0].n))
	e.outcome.order, e.outcome.amount = o, in[0].n
	return nil
}

func resolveTicket(e *episode, in *inputs) *envharness.ActionError {
	t, refusal := e.ticket(in[1].s)
	if refusal == nil {
		refusal = e.verified(t.Customer)
	}
	if refusal != nil {
		return refusal
	}
	if t.Status != open {
		return e.refuse(envharness.ClassPrecondition, ruleStatus, "ticket ", t.ID, " is ", t.Status)
	}
	t = e.world.writableTicket(t.ID)
	t.Status, t.Note = resolved, string(in[0].s)
	e.wrote(t.ID)
	e.outcome.ticket = t
	return nil
}

func transferCustomer(e *episode, in *inputs) *envharness.ActionError {
	i := find(e.world.Customers, in[0].s, customerID)
	if i < 0 {
		return e.noCustomer(string(in[0].s))
	}
	c := e.world.Customers[i]
	if refusal := e.verified(c.ID); refusal != nil {
		return refusal
	}
	reason := listed(transferReasons, in[1].s)
	e.world.Transfers = append(e.world.Transfers, transfer{c.ID, transferReasons[reason]})
	e.wrote(transferred)
	e.outcome.told = &e.task.shelf.transfers[len(transferReasons)*i+reason]
	return nil
}

// listed returns the position of a valid argument among the values that it may have.
func listed(values []string, arg []byte) int {
	return slices.IndexFunc(values, func(v string) bool { return v == string(arg) })
}

// closingNote is the note of candidate calls and of what generated worlds hold.
const closingNote = "resolved"

// transferred is the answer after a transfer.
const transferred = "transferred"

func submit(e *episode, in *inputs) *envharness.ActionError {
	e.answer = new(string(in[0].s))
	return nil
}
