package tooldesk

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/throughline-go/throughline/envharness"
)

// A card is a value that texts show, with the candidate calls that need no other. So a list of candidates is put together from calls that
// exist, and they are the same ones in all episodes of the task.
type card struct {
	value string
	of    string // the order of an item or an amount, the customer of a page
	calls []envharness.Action
}

// Where the calls of a card are.
const (
	getCall     = 0 // of a product, an order and a ticket; of an e-mail address and an amount the only one
	cancelCalls = 1 // of an order, for each reason
	resolveCall = 1 // of a ticket

	ordersCall    = 0 // of a customer
	ticketsCall   = 1
	transferCalls = 2 // for each reason
)

// A sheet is what a reading call shows as long as nobody has written to the rows that it reads: cards and the text. All but the text is
// there from the start.
type sheet struct {
	about, customer, order *card
	next                   *card   // page
	list                   []*card // the rows of a page, or the products of an order
	lines, amounts         []*card
	text                   atomic.Pointer[string]
}

// A refusal is one that is made often, with its text.
type refusal struct {
	envharness.ActionError

	text atomic.Pointer[string]
}

// A shelf keeps the cards and sheets of a task, each made when it is first needed. Which episode made it makes no difference.
type shelf struct {
	wrong []envharness.Action // answers that are offered in any case

	customers, emails, orders, products, tickets             []atomic.Pointer[card] // by row
	customerSheets, orderSheets, productSheets, ticketSheets []atomic.Pointer[sheet]
	orderLists, ticketLists                                  []atomic.Pointer[sheet]   // the first pages of each customer
	permissions                                              []atomic.Pointer[refusal] // for each customer
	statuses                                                 []atomic.Pointer[refusal] // for each order: it is not pending, not delivered
	transfers                                                []atomic.Pointer[string]  // replies for each customer and each reason
}

// keptPages is how many pages of a customer's list a shelf keeps.
const keptPages = 2

func newShelf(p *preset, w *world) *shelf {
	nc, no, np, nt, nr := len(w.Customers), len(w.Orders), len(w.Products), len(w.Tickets), len(transferReasons)
	cards := make([]atomic.Pointer[card], 2*nc+no+np+nt)
	sheets := make([]atomic.Pointer[sheet], (1+2*keptPages)*nc+no+np+nt)
	refusals := make([]atomic.Pointer[refusal], nc+2*no)
	return &shelf{
		wrong:     p.fill(filling{toolSubmit, arguments{nothingDone}}, filling{toolSubmit, arguments{transferred}}),
		customers: cut(&cards, nc), emails: cut(&cards, nc), orders: cut(&cards, no), products: cut(&cards, np), tickets: cut(&cards, nt),
		customerSheets: cut(&sheets, nc), orderSheets: cut(&sheets, no), productSheets: cut(&sheets, np), ticketSheets: cut(&sheets, nt),
		orderLists: cut(&sheets, keptPages*nc), ticketLists: cut(&sheets, keptPages*nc),
		permissions: cut(&refusals, nc), statuses: refusals, transfers: make([]atomic.Pointer[string], nr*nc),
	}
}

// cut takes the first n of a list.
func cut[T any](list *[]T, n int) []T {
	out := (*list)[:n:n]
	*list = (*list)[n:]
	return out
}

// keep returns what is kept at the place, or makes it. Of two that are made at a time one is kept, so that all use the same.
func keep[T any](place *atomic.Pointer[T], make func() *T) *T {
	if v := place.Load(); v != nil {
		return v
	}
	v := make()
	if !place.CompareAndSwap(nil, v) {
		return place.Load()
	}
	return v
}

// ofRow is keep at the row with the id. What has no row, as in no generated world, is made anew.
func ofRow[T, C any](places []atomic.Pointer[C], rows []*T, id string, key func(*T) string, make func() *C) *C {
	if i := find(rows, id, key); i >= 0 {
		return keep(&places[i], make)
	}
	return make()
}

// A filling is a call to be made: a tool, by its position, and its arguments.
type filling struct {
	tool int
	args arguments
}

// fill makes calls. All their arguments are in one piece of memory.
func (p *preset) fill(list ...filling) []envharness.Action {
	b := make([]byte, 0, 512)
	calls := make([]envharness.Action, len(list))
	var ends [8]int
	for i := range list {
		b = p.tools[list[i].tool].appendArgs(b, &list[i].args)
		ends[i] = len(b)
	}
	from := 0
	b = slices.Clip(bytes.Clone(b))
	for i := range list {
		calls[i] = envharness.Action{Name: p.tools[list[i].tool].name, Args: json.RawMessage(b[from:ends[i]:ends[i]])}
		from = ends[i]
	}
	return calls
}

func (t *task) emailCard(email string) *card {
	make := func() *card {
		return &card{value: email, calls: t.preset.fill(filling{toolFindCustomer, arguments{email}})}
	}
	for i, c := range t.start.Customers {
		if c.Email == email {
			return keep(&t.shelf.emails[i], make)
		}
	}
	return make()
}

func (t *task) customerCard(id string) *card {
	return ofRow(t.shelf.customers, t.start.Customers, id, customerID, func() *card {
		list := append(make([]filling, 0, 8), filling{toolListOrders, arguments{id}}, filling{toolListTickets, arguments{id}})
		for _, reason := range transferReasons {
			list = append(list, filling{toolTransfer, arguments{id, reason}})
		}
		return &card{value: id, calls: t.preset.fill(list...)}
	})
}

func (t *task) orderCard(id string) *card {
	return ofRow(t.shelf.orders, t.start.Orders, id, orderID, func() *card {
		list := append(make([]filling, 0, 8), filling{toolGetOrder, arguments{id}})
		for _, reason := range cancelReasons {
			list = append(list, filling{toolCancelOrder, arguments{id, reason}})
		}
		return &card{value: id, calls: t.preset.fill(append(list, filling{toolSubmit, arguments{id}})...)}
	})
}

func (t *task) productCard(sku string) *card {
	return ofRow(t.shelf.products, t.start.Products, sku, productID, func() *card {
		return &card{value: sku, calls: t.preset.fill(filling{toolGetProduct, arguments{sku}})}
	})
}

func (t *task) ticketCard(id string) *card {
	return ofRow(t.shelf.tickets, t.start.Tickets, id, ticketID, func() *card {
		return &card{value: id, calls: t.preset.fill(filling{toolGetTicket, arguments{id}},
			filling{toolResolveTicket, arguments{closingNote, id}}, filling{toolSubmit, arguments{id}})}
	})
}

// answer is the call that submits the id of an order or a ticket: the last of its calls.
func (c *card) answer() envharness.Action { return c.calls[len(c.calls)-1] }

// The functions below return what a reading call shows. A row that is not the one of the start is new in this episode.

func (e *episode) customerSheet(i int) *sheet {
	return keep(&e.task.shelf.customerSheets[i], func() *sheet {
		c := e.world.Customers[i]
		return &sheet{about: e.task.emailCard(c.Email), customer: e.task.customerCard(c.ID)}
	})
}

func (e *episode) orderSheet(i int) *sheet {
	t, o := e.task, e.world.Orders[i]
	if o == t.start.Orders[i] {
		return keep(&t.shelf.orderSheets[i], func() *sheet { return t.readOrder(o) })
	}
	return t.readOrder(o)
}

func (t *task) readOrder(o *order) *sheet {
	s := &sheet{about: t.orderCard(o.ID), customer: t.customerCard(o.Customer)}
	amount := func(cents int) {
		value := strconv.Itoa(cents)
		s.amounts = append(s.amounts, &card{value: value, of: o.ID, calls: t.preset.fill(filling{toolRefund, arguments{value, o.ID}})})
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		s.list = append(s.list, t.productCard(l.SKU))
		s.lines = append(s.lines, &card{value: l.SKU, of: o.ID})
		amount(l.Cents)
	}
	if left := o.Paid - o.Refunded; left > 0 {
		amount(left)
	}
	return s
}

func (e *episode) productSheet(i int) *sheet {
	t, p := e.task, e.world.Products[i]
	read := func() *sheet { return &sheet{about: t.productCard(p.SKU)} }
	if p == t.start.Products[i] {
		return keep(&t.shelf.productSheets[i], read)
	}
	return read()
}

func (e *episode) ticketSheet(i int) *sheet {
	t, k := e.task, e.world.Tickets[i]
	read := func() *sheet {
		return &sheet{about: t.ticketCard(k.ID), customer: t.customerCard(k.Customer), order: t.orderCard(k.Order)}
	}
	if k == t.start.Tickets[i] {
		return keep(&t.shelf.ticketSheets[i], read)
	}
	return read()
}

// ordersSheet is for a page of the orders of the customer with the row c.
func (e *episode) ordersSheet(c, page int) *sheet {
	t, w := e.task, &e.world
	read := func() *sheet {
		return readPage(t, w.Customers[c].ID, page, toolListOrders, w.Orders, func(o *order) string { return o.Customer },
			func(o *order) *card { return t.orderCard(o.ID) })
	}
	if page <= keptPages && shared(w.Orders, t.start.Orders) {
		return keep(&t.shelf.orderLists[keptPages*c+page-1], read)
	}
	return read()
}

// ticketsSheet is for a page of the tickets of the customer with the row c.
func (e *episode) ticketsSheet(c, page int) *sheet {
	t, w := e.task, &e.world
	read := func() *sheet {
		return readPage(t, w.Customers[c].ID, page, toolListTickets, w.Tickets, func(k *ticket) string { return k.Customer },
			func(k *ticket) *card { return t.ticketCard(k.ID) })
	}
	if page <= keptPages && shared(w.Tickets, t.start.Tickets) {
		return keep(&t.shelf.ticketLists[keptPages*c+page-1], read)
	}
	return read()
}

func readPage[T any](t *task, customer string, page, tool int, rows []*T, owner func(*T) string, of func(*T) *card) *sheet {
	s := &sheet{}
	n, from := 0, (page-1)*pageSize
	for _, row := range rows {
		if owner(row) != customer {
			continue
		}
		switch {
		case n >= from+pageSize:
			if s.next == nil {
				value := strconv.Itoa(page + 1)
				s.next = &card{value: value, of: customer, calls: t.preset.fill(filling{tool, arguments{customer, value}})}
			}
		case n >= from:
			s.list = append(s.list, of(row))
		}
		n++
	}
	return s
}
