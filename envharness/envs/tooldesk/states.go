package tooldesk

import "strconv"

// The texts of the small desk tell how things stand, so that the last one is enough to go on with: the message, who was looked up, the newest
// order, product and ticket that were read, what was written last, and whether the last call was refused. That is 40 words at most: 13 of
// a message with two requests, 2 customers, 10 of an order, 2 of a product, 8 of a ticket, 3 of writes and 2 of a refusal.

// Words of such a text that are nowhere else.
const (
	wordNone      = "none"
	wordLeft      = "left"
	wordLate      = "late"
	wordGone      = "gone"
	wordStocked   = "stocked"
	wordDone      = "done"
	wordRefused   = "refused"
	wordSubmitted = "submitted"
)

var stateWords = []string{wordNone, wordLeft, wordLate, wordGone, wordStocked, wordDone, wordRefused, wordSubmitted}

// tellState writes the present state.
func tellState(e *episode, b []byte) []byte {
	b = append(b, e.task.text...)
	if len(e.session.Verified) > 0 {
		b = append(b, '\n')
		for i, c := range e.session.Verified {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(b, c...)
		}
	}
	switch {
	case e.seen.order != "":
		b = e.tellOrder(b, e.world.order(e.seen.order))
	case e.seen.ordersOf != "":
		b = append(append(b, '\n'), e.seen.ordersOf...)
		none := true
		for i := range e.world.Orders {
			if o := e.world.Orders[i]; o.Customer == e.seen.ordersOf {
				none = false
				b = word(word(b, o.ID), o.Status)
				for k := range o.Lines {
					b = word(b, o.Lines[k].SKU)
				}
			}
		}
		if none {
			b = word(b, wordNone)
		}
	}
	if e.seen.sku != "" {
		b = append(append(b, '\n'), e.seen.sku...)
		if e.world.product(e.seen.sku).Stock > 0 {
			b = word(b, wordStocked)
		} else {
			b = word(b, wordGone)
		}
	}
	switch {
	case e.seen.ticket != "":
		t := e.world.ticket(e.seen.ticket)
		b = append(append(b, '\n'), t.ID...)
		b = word(word(word(b, t.Customer), t.Status), t.Body)
	case e.seen.ticketsOf != "":
		b = append(append(b, '\n'), e.seen.ticketsOf...)
		none := true
		for i := range e.world.Tickets {
			if t := e.world.Tickets[i]; t.Customer == e.seen.ticketsOf {
				none = false
				b = word(word(b, t.ID), t.Status)
			}
		}
		if none {
			b = word(b, wordNone)
		}
	}
	if w := e.session.Written; len(w) > 0 {
		b = append(append(b, '\n'), wordDone...)
		for _, what := range w[newest(len(w), 2):] {
			b = word(b, what)
		}
	}
	switch {
	case e.answer != nil:
		b = append(append(b, '\n'), wordSubmitted...)
	case e.outcome.refusal != nil:
		b = word(append(append(b, '\n'), wordRefused...), e.outcome.rule)
	}
	return b
}

// tellOrder writes an order: its items with their prices, and what can be refunded.
func (e *episode) tellOrder(b []byte, o *order) []byte {
	b = append(append(b, '\n'), o.ID...)
	b = word(word(b, o.Customer), o.Status)
	for i := range o.Lines {
		b = word(b, o.Lines[i].SKU)
		b = strconv.AppendInt(append(b, ' '), int64(o.Lines[i].Cents), 10)
	}
	b = word(b, wordLeft)
	b = strconv.AppendInt(append(b, ' '), int64(o.Paid-o.Refunded), 10)
	if o.Status == delivered && !e.world.refundable(o) {
		b = word(b, wordLate)
	}
	return b
}

func word(b []byte, w string) []byte { return append(append(b, ' '), w...) }
