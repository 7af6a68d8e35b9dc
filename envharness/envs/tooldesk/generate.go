package tooldesk

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Sizes of a generated world.
const (
	numCustomers = 8
	numFamilies  = 4
	perFamily    = 5 // products
	numOrders    = 30
	numTickets   = 12
)

// A generator builds one task.
type generator struct {
	r      *rand.Rand
	names  *pool
	task   *task
	world  *world
	target *customer // who asks
	orders []*order  // the target's, in random order
}

func generate(id string, names *pool, r *rand.Rand, build func(*generator)) *task {
	g := &generator{r: r, names: names, world: &world{}, task: &task{id: id}}
	w := g.world
	g.task.start = w
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
	first, last := g.draw(g.names.first, numCustomers), g.draw(g.names.last, numCustomers)
	for i, id := range g.ids("C", numCustomers, 100) {
		g.world.Customers = append(g.world.Customers, customer{
			ID: id, Name: first[i] + " " + last[i], Email: strings.ToLower(first[i]+"."+last[i]) + "@example.com",
			Address: g.address(1),
		})
	}
	g.target = &g.world.Customers[g.r.IntN(numCustomers)]
}

func (g *generator) addProducts() {
	for _, family := range g.draw(g.names.family, numFamilies) {
		skus := g.ids(strings.ToUpper(family[:3]), perFamily, 100)
		for i, brand := range g.draw(g.names.brand, perFamily) {
			g.world.Products = append(g.world.Products, product{
				SKU: skus[i], Name: brand + " " + family, Family: family, Cents: 500 + 5*g.r.IntN(3900), Stock: g.r.IntN(10),
			})
		}
	}
	slices.SortFunc(g.world.Products, func(a, b product) int { return cmp.Compare(a.SKU, b.SKU) })
}

// addOrders gives every customer at least two orders. One target in four has seven, which fill more than one page.
func (g *generator) addOrders() {
	var owners []*customer
	for i := range g.world.Customers {
		owners = append(owners, &g.world.Customers[i], &g.world.Customers[i])
	}
	extra := g.r.IntN(3)
	if g.r.IntN(4) == 0 {
		extra = 5
	}
	for range extra {
		owners = append(owners, g.target)
	}
	for len(owners) < numOrders {
		if c := pick(g.r, g.world.Customers); c.ID != g.target.ID {
			owners = append(owners, &c)
		}
	}
	g.r.Shuffle(len(owners), func(i, j int) { owners[i], owners[j] = owners[j], owners[i] })
	g.world.Orders = make([]order, numOrders) // addresses of its elements are kept
	for i, id := range g.ids("O", numOrders, 1000) {
		o := &g.world.Orders[i]
		*o = order{ID: id, Customer: owners[i].ID, Address: owners[i].Address}
		for _, j := range g.r.Perm(len(g.world.Products))[:1+g.r.IntN(3)] {
			p := g.world.Products[j]
			o.Lines = append(o.Lines, line{p.SKU, p.Name, p.Cents})
			o.Paid += p.Cents
		}
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

func (g *generator) addTickets() {
	for _, id := range g.ids("K", numTickets, 100) {
		o := &g.world.Orders[g.r.IntN(numOrders)]
		t := ticket{ID: id, Customer: o.Customer, Order: o.ID, Status: open, Opened: g.world.Today - g.r.IntN(20)}
		if g.r.IntN(3) == 0 {
			t.Status, t.Note = resolved, "resolved"
		}
		t.Body = g.request(kind(g.r.IntN(numKinds)), o).text
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

// address draws an address with a house number from low up to low+98, so that new addresses differ from old ones.
func (g *generator) address(low int) string {
	return fmt.Sprintf("%d %s Street, %s", low+g.r.IntN(99), pick(g.r, g.names.street), pick(g.r, g.names.town))
}

// draw returns n different words.
func (g *generator) draw(words []string, n int) []string {
	out := make([]string, n)
	for i, j := range g.r.Perm(len(words))[:n] {
		out[i] = words[j]
	}
	return out
}

// ids returns n different ids in ascending order, their numbers from low up to 10*low-1.
func (g *generator) ids(prefix string, n, low int) []string {
	var out []string
	for len(out) < n {
		out = insert(out, prefix+"-"+strconv.Itoa(low+g.r.IntN(9*low)))
	}
	return out
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
