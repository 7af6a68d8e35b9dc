package tooldesk

import "slices"

// A world is the tables of the desk. Every table but transfers is sorted by id and never grows or shrinks, so the
// tables after a set of independent writes do not depend on the order of the writes.
type world struct {
	Customers []*customer `json:"customers"`
	Products  []*product  `json:"products"`
	Orders    []*order    `json:"orders"`
	Tickets   []*ticket   `json:"tickets"`
	Transfers []transfer  `json:"transfers"`
	Today     int         `json:"today"` // a day number

	own tables
}

type customer struct {
	ID      string `json:"customer_id"`
	Name    string `json:"name"`
	Email   string `json:"email"`
	Address string `json:"address"`
}

type product struct {
	SKU    string `json:"sku"`
	Name   string `json:"name"`
	Family string `json:"family"`
	Cents  int    `json:"price_cents"`
	Stock  int    `json:"stock"`
}

// The states of an order.
const (
	pending   = "pending"
	delivered = "delivered"
	cancelled = "cancelled"
)

type order struct {
	ID        string `json:"order_id"`
	Customer  string `json:"customer_id"`
	Status    string `json:"status"`
	Lines     []line `json:"lines"` // one piece each, no sku twice
	Paid      int    `json:"paid_cents"`
	Refunded  int    `json:"refunded_cents"`
	Delivered int    `json:"delivered_day"` // 0 unless the status is delivered
	Address   string `json:"address"`
	Reason    string `json:"cancel_reason"` // empty unless cancelled
}

type line struct {
	SKU   string `json:"sku"`
	Name  string `json:"name"`
	Cents int    `json:"price_cents"`
}

// The states of a ticket.
const (
	open     = "open"
	resolved = "resolved"
)

type ticket struct {
	ID       string `json:"ticket_id"`
	Customer string `json:"customer_id"`
	Order    string `json:"order_id"`
	Status   string `json:"status"`
	Opened   int    `json:"opened_day"`
	Body     string `json:"body"`
	Note     string `json:"note"`
}

type transfer struct {
	Customer string `json:"customer_id"`
	Reason   string `json:"reason"`
}

// tables says which tables belong to one world alone. The others are those of the task's start and must not be written to.
type tables struct{ products, orders, tickets bool }

// share makes a copy that takes its tables over when it first writes to them. What it is a copy of may not be written to while it is in use.
func (w *world) share() world {
	c := *w
	c.Transfers = slices.Clip(w.Transfers)
	c.own = tables{}
	return c
}

// The functions below put a copy of a row into its place and return it. A row that is in a table is never written to: worlds share rows, and
// what was told last refers to them.

func (w *world) writableProduct(sku string) *product {
	if !w.own.products {
		w.Products, w.own.products = slices.Clone(w.Products), true
	}
	return replace(w.Products, w.product(sku))
}

func (w *world) writableOrder(id string) *order {
	if !w.own.orders {
		w.Orders, w.own.orders = slices.Clone(w.Orders), true
	}
	return replace(w.Orders, w.order(id))
}

func (w *world) writableTicket(id string) *ticket {
	if !w.own.tickets {
		w.Tickets, w.own.tickets = slices.Clone(w.Tickets), true
	}
	return replace(w.Tickets, w.ticket(id))
}

func replace[T any](rows []*T, row *T) *T {
	c := *row
	rows[slices.Index(rows, row)] = &c
	return &c
}

// equal compares what the verifier grades: all tables, without the wording of the tickets' notes.
func (w *world) equal(v *world) bool {
	return w.Today == v.Today && slices.EqualFunc(w.Customers, v.Customers, same) && slices.EqualFunc(w.Products, v.Products, same) &&
		slices.EqualFunc(w.Orders, v.Orders, (*order).equal) && slices.EqualFunc(w.Tickets, v.Tickets, (*ticket).equal) &&
		slices.Equal(w.Transfers, v.Transfers)
}

func same[T comparable](a, b *T) bool { return a == b || *a == *b }

func (o *order) equal(p *order) bool {
	return o == p || o.ID == p.ID && o.Customer == p.Customer && o.Status == p.Status && slices.Equal(o.Lines, p.Lines) &&
		o.Paid == p.Paid && o.Refunded == p.Refunded && o.Delivered == p.Delivered && o.Address == p.Address &&
		o.Reason == p.Reason
}

func (t *ticket) equal(u *ticket) bool {
	if t == u {
		return true
	}
	a, b := *t, *u
	a.Note, b.Note = "", ""
	return a == b
}

// find returns the position of the row with the id, or -1.
func find[T any, S string | []byte](rows []*T, id S, key func(*T) string) int {
	from, to := 0, len(rows)
	for from < to {
		mid := int(uint(from+to) / 2)
		switch k := key(rows[mid]); {
		case k < string(id):
			from = mid + 1
		case k > string(id):
			to = mid
		default:
			return mid
		}
	}
	return -1
}

func customerID(c *customer) string { return c.ID }
func productID(p *product) string   { return p.SKU }
func orderID(o *order) string       { return o.ID }
func ticketID(t *ticket) string     { return t.ID }

// The functions below return the row with the id, or nil.

func (w *world) product(sku string) *product { return at(w.Products, find(w.Products, sku, productID)) }
func (w *world) order(id string) *order      { return at(w.Orders, find(w.Orders, id, orderID)) }
func (w *world) ticket(id string) *ticket    { return at(w.Tickets, find(w.Tickets, id, ticketID)) }

func at[T any](rows []*T, i int) *T {
	if i < 0 {
		return nil
	}
	return rows[i]
}

// refundWindow is the number of days after delivery in which money can be paid back.
const refundWindow = 30

func (w *world) refundable(o *order) bool {
	return o.Status == delivered && w.Today-o.Delivered <= refundWindow
}

// line returns the position of the item in the order, or -1.
func (o *order) line(sku string) int {
	for i := range o.Lines {
		if o.Lines[i].SKU == sku {
			return i
		}
	}
	return -1
}
