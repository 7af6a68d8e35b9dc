package tooldesk

// A memory holds the values that the texts of an episode have shown, by kind, the newest last. Candidate calls are made
// from it and from nothing else, so they can tell a policy nothing that it could not read.
type memory struct {
	emails, customers, orders, skus, tickets, addresses []*card

	wanted      []*card // products that a message names or get_product showed: what an item may be exchanged for
	cents       []*card // amounts that a message names
	lines       []*card // items of an order
	amounts     []*card // amounts of an order, in cents
	nextOrders  []*card // pages that a list announced
	nextTickets []*card

	stale listSet // what has changed since candidates were last made of it
	own   listSet // what may be written to, as no other memory has it
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
	ofNextOrders
	ofNextTickets
	ofWritten // the session's, of what was written

	ofAll listSet = 1<<iota - 1
)

// share makes a copy that takes a list over when it first changes it. What it is a copy of may not be changed any more.
func (m *memory) share() memory {
	c := *m
	c.own = 0
	return c
}

// show puts the card last in a list.
func (m *memory) show(of listSet, list *[]*card, v *card) {
	l := *list
	n := len(l)
	if n > 0 && l[n-1].same(v) {
		return
	}
	m.stale |= of
	if m.own&of == 0 {
		l = append(make([]*card, 0, max(n+4, 8)), l...)
		m.own |= of
	}
	for i := n - 2; i >= 0; i-- {
		if l[i].same(v) {
			copy(l[i:], l[i+1:])
			l[n-1] = v
			*list = l
			return
		}
	}
	*list = append(l, v)
}

func (c *card) same(d *card) bool { return c == d || c.value == d.value && c.of == d.of }

func (m *memory) showEmail(v *card)    { m.show(ofEmail, &m.emails, v) }
func (m *memory) showCustomer(v *card) { m.show(ofCustomer, &m.customers, v) }
func (m *memory) showOrder(v *card)    { m.show(ofOrder, &m.orders, v) }
func (m *memory) showSKU(v *card)      { m.show(ofSKU, &m.skus, v) }
func (m *memory) showTicket(v *card)   { m.show(ofTicket, &m.tickets, v) }
func (m *memory) showWanted(v *card)   { m.show(ofWanted, &m.wanted, v) }
func (m *memory) showLine(v *card)     { m.show(ofLine, &m.lines, v) }
func (m *memory) showAmount(v *card)   { m.show(ofAmount, &m.amounts, v) }

// mention remembers a value of a customer's message in the task.
func (m *memory) mention(t *task, v mention) {
	if v.lists&ofEmail != 0 {
		m.showEmail(t.emailCard(v.value))
	}
	if v.lists&ofOrder != 0 {
		m.showOrder(t.orderCard(v.value))
	}
	if v.lists&ofSKU != 0 {
		m.showSKU(t.productCard(v.value))
	}
	if v.lists&ofTicket != 0 {
		m.showTicket(t.ticketCard(v.value))
	}
	if v.lists&ofAddress != 0 {
		m.show(ofAddress, &m.addresses, &card{value: v.value})
	}
	if v.lists&ofWanted != 0 {
		m.showWanted(t.productCard(v.value))
	}
	if v.lists&ofCents != 0 {
		m.show(ofCents, &m.cents, &card{value: v.value})
	}
}
