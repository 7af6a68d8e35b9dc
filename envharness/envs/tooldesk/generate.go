package tooldesk

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A generator builds one task.
type generator struct {
	*preset
	r      *rand.Rand
	names  *pool
	task   *task
	world  *world
	target *customer // who asks
	orders []*order  // the target's, in random order
}

func (p *preset) generate(id string, names *pool, r *rand.Rand, build func(*generator)) *task {
	g := &generator{preset: p, r: r, names: names, world: &world{}}
	g.task = &task{id: id, preset: p, start: g.world, bodies: make([][]mention, p.tickets)}
	w := g.world
	w.Today = 300 + r.IntN(100)
	w.Transfers = []transfer{}
	g.addCustomers()
	g.addProducts()
	g.addOrders()
	g.addTickets()
	build(g)
	return g.task
}

func (g *generator) addCustomers() {
	first, last := g.draw(g.names.first, g.customers), g.draw(g.names.last, g.customers)
	for i, id := range g.ids("C", g.customers, 100) {
		c := &customer{ID: id}
		g.world.Customers = append(g.world.Customers, c)
		c.Name, c.Email = g.person(first[i], last[i])
		c.Address = g.address(g, false)
	}
	g.target = g.world.Customers[g.r.IntN(g.customers)]
}

func (g *generator) addProducts() {
	for _, family := range g.draw(g.names.family, g.families) {
		prefix := family
		if !g.numbered {
			prefix = strings.ToUpper(family[:3])
		}
		skus := g.ids(prefix, g.perFamily, 100)
		for i, brand := range g.draw(g.names.brand, g.perFamily) {
			p := &product{SKU: skus[i], Name: brand + " " + family, Family: family, Cents: g.lowest + g.step*g.r.IntN(g.prices)}
			if brand == "" {
				p.Name = p.SKU
			}
			p.Stock = g.r.IntN(g.preset.stock)
			g.world.Products = append(g.world.Products, p)
		}
	}
	slices.SortFunc(g.world.Products, func(a, b *product) int { return cmp.Compare(a.SKU, b.SKU) })
}

// addOrders gives every customer at least two orders. Where there are more, one target in four has seven, which fill more than one page.
func (g *generator) addOrders() {
	owners := make([]*customer, 0, g.preset.orders)
	for _, c := range g.world.Customers {
		owners = append(owners, c, c)
	}
	if len(owners) < g.preset.orders {
		extra := g.r.IntN(3)
		if g.r.IntN(4) == 0 {
			extra = 5
		}
		for range extra {
			owners = append(owners, g.target)
		}
	}
	for len(owners) < g.preset.orders {
		if c := g.world.Customers[g.r.IntN(g.customers)]; c != g.target {
			owners = append(owners, c)
		}
	}
	g.r.Shuffle(len(owners), func(i, j int) { owners[i], owners[j] = owners[j], owners[i] })
	for i, id := range g.ids("O", len(owners), 1000) {
		o := &order{ID: id, Customer: owners[i].ID, Address: owners[i].Address}
		g.world.Orders = append(g.world.Orders, o)
		g.addLines(o)
		switch n := g.r.IntN(20); {
		case n < 8:
			g.setPending(o)
		case n < 17:
			g.setDelivered(o, 1+g.r.IntN(60))
		default:
			g.setCancelled(o)
		}
		if o.Customer == g.target.ID {
			g.orders = append(g.orders, o)
		}
	}
	g.r.Shuffle(len(g.orders), func(i, j int) { g.orders[i], g.orders[j] = g.orders[j], g.orders[i] })
}

// addLines fills an order. Two products of each family stay out of it, so that there is something to exchange for, or one where there are
// two.
func (g *generator) addLines(o *order) {
	products := g.r.Perm(len(g.world.Products))
	n := 1 + g.r.IntN(g.preset.lines)
	o.Lines = make([]line, 0, n)
	for _, j := range products {
		p := g.world.Products[j]
		same := 0
		for _, l := range o.Lines {
			if g.world.product(l.SKU).Family == p.Family {
				same++
			}
		}
		if len(o.Lines) < n && same < max(g.perFamily-2, 1) {
			o.Lines = append(o.Lines, line{p.SKU, p.Name, p.Cents})
			o.Paid += p.Cents
		}
	}
}

func (g *generator) addTickets() {
	for i, id := range g.ids("K", g.preset.tickets, 100) {
		o := g.world.Orders[g.r.IntN(len(g.world.Orders))]
		t := &ticket{ID: id, Customer: o.Customer, Order: o.ID, Status: open, Opened: g.world.Today - g.r.IntN(20)}
		if g.r.IntN(3) == 0 {
			t.Status, t.Note = resolved, closingNote
		}
		q := g.request(kind(g.r.IntN(numKinds)), o)
		t.Body, g.task.bodies[i] = q.text, q.mentions
		g.world.Tickets = append(g.world.Tickets, t)
	}
}

func (g *generator) setPending(o *order) {
	o.Status, o.Reason, o.Refunded, o.Delivered = pending, "", 0, 0
}

func (g *generator) setDelivered(o *order, daysAgo int) {
	o.Status, o.Reason, o.Refunded, o.Delivered = delivered, "", 0, g.world.Today-daysAgo
}

func (g *generator) setCancelled(o *order) {
	o.Status, o.Reason, o.Refunded, o.Delivered = cancelled, pick(g.r, cancelReasons), o.Paid, 0
}

// draw returns n different words, or n empty ones where there are no words.
func (g *generator) draw(words []string, n int) []string {
	out := make([]string, n)
	if len(words) > 0 {
		for i, j := range g.r.Perm(len(words))[:n] {
			out[i] = words[j]
		}
	}
	return out
}

// ids returns n different ids in ascending order, their numbers from low up to 10*low-1, or from 1 where ids are numbered.
func (g *generator) ids(prefix string, n, low int) []string {
	out := make([]string, 0, n)
	for len(out) < n {
		if g.numbered {
			out = append(out, strings.ToLower(prefix)+strconv.Itoa(len(out)+1))
		} else {
			out = insert(out, prefix+"-"+strconv.Itoa(low+g.r.IntN(9*low)))
		}
	}
	return out
}

// part draws a tenth to four tenths of an amount, rounded down to a whole one.
func (g *generator) part(cents int) int {
	cents = cents * (1 + g.r.IntN(4)) / 10
	return cents - cents%g.whole
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
