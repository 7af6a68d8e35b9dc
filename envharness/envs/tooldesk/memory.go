package tooldesk

// A memory holds the values that the texts of an episode have shown, by kind, the newest last. Candidate calls are made
// from it and from nothing else, so they can tell a policy nothing that it could not read.
type memory struct {
	emails, customers, orders, skus, tickets, addresses []string

	wanted  []string // skus that a message names or get_product showed: what an item may be exchanged for
	cents   []string // amounts that a message names
	lines   []pair   // items of an order
	amounts []pair   // amounts of an order, in cents
	next    []next   // pages that a list announced

	stale listSet // what has changed since candidates were last made of it
	own   listSet // what may be written to, as no other memory has it
}

// A pair is an order with one of its values.
type pair struct{ order, value string }

type next struct {
	tool, customer string
	page           int
}

// A listSet is a set of the lists that candidate calls are made of.
type listSet uint16

const (
	ofEmail listSet = 1 << iota
	ofCustomer
	ofOrder
	ofSKU
	ofTicket
	ofAddress
	ofWanted
	ofCents
	ofLine
	ofAmount
	ofNext
	ofWritten // the session's, of what was written

	ofAll listSet = 1<<iota - 1
)

// share makes a copy that takes a list over when it first changes it. What it is a copy of may not be changed any more.
func (m *memory) share() memory {
	c := *m
	c.own = 0
	return c
}

// show puts the value last in a list.
func show[T comparable](m *memory, of listSet, list *[]T, v T) {
	l := *list
	n := len(l)
	if n > 0 && l[n-1] == v {
		return
	}
	m.stale |= of
	if m.own&of == 0 {
		l = append(make([]T, 0, n+3), l...)
		m.own |= of
	}
	for i := n - 2; i >= 0; i-- {
		if l[i] == v {
			copy(l[i:], l[i+1:])
			l[n-1] = v
			*list = l
			return
		}
	}
	*list = append(l, v)
}

func (m *memory) showEmail(v string)    { show(m, ofEmail, &m.emails, v) }
func (m *memory) showCustomer(v string) { show(m, ofCustomer, &m.customers, v) }
func (m *memory) showOrder(v string)    { show(m, ofOrder, &m.orders, v) }
func (m *memory) showSKU(v string)      { show(m, ofSKU, &m.skus, v) }
func (m *memory) showTicket(v string)   { show(m, ofTicket, &m.tickets, v) }
func (m *memory) showWanted(v string)   { show(m, ofWanted, &m.wanted, v) }
func (m *memory) showLine(v pair)       { show(m, ofLine, &m.lines, v) }
func (m *memory) showAmount(v pair)     { show(m, ofAmount, &m.amounts, v) }
func (m *memory) showNext(v next)       { show(m, ofNext, &m.next, v) }

// mention remembers a value of a customer's message.
func (m *memory) mention(v mention) {
	if v.lists&ofEmail != 0 {
		m.showEmail(v.value)
	}
	if v.lists&ofOrder != 0 {
		m.showOrder(v.value)
	}
	if v.lists&ofSKU != 0 {
		m.showSKU(v.value)
	}
	if v.lists&ofTicket != 0 {
		m.showTicket(v.value)
	}
	if v.lists&ofAddress != 0 {
		show(m, ofAddress, &m.addresses, v.value)
	}
	if v.lists&ofWanted != 0 {
		m.showWanted(v.value)
	}
	if v.lists&ofCents != 0 {
		show(m, ofCents, &m.cents, v.value)
	}
}
