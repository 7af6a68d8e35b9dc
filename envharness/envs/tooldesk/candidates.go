package tooldesk

import (
	"bytes"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A memory holds the values that the texts of an episode have shown, by kind, the newest last. Candidate calls are made
// from it and from nothing else, so they can tell a policy nothing that it could not read.
type memory struct {
	emails, customers, orders, skus, tickets, addresses []string

	wanted  []string // skus that a message names or get_product showed: what an item may be exchanged for
	lines   []pair   // items of an order
	amounts []pair   // amounts of an order, in cents
	named   []string // amounts that a message names, in cents
	next    []next   // pages that a list announced
}

// clone makes a copy that can be written to.
func (m *memory) clone() memory {
	return memory{
		emails: slices.Clone(m.emails), customers: slices.Clone(m.customers), orders: slices.Clone(m.orders), skus: slices.Clone(m.skus),
		tickets: slices.Clone(m.tickets), addresses: slices.Clone(m.addresses), wanted: slices.Clone(m.wanted),
		lines: slices.Clone(m.lines), amounts: slices.Clone(m.amounts), named: slices.Clone(m.named), next: slices.Clone(m.next),
	}
}

// A pair is an order with one of its values.
type pair struct{ order, value string }

type next struct {
	tool, customer string
	page           int
}

// show puts the value last in the list.
func show[T comparable](list *[]T, v T) {
	l := *list
	if i := slices.Index(l, v); i >= 0 {
		copy(l[i:], l[i+1:])
		l[len(l)-1] = v
		return
	}
	*list = append(l, v)
}

var (
	quoted = regexp.MustCompile(`"([^"]+)"`)
	cents  = regexp.MustCompile(`([0-9]+) cents`)
	word   = regexp.MustCompile(`[A-Za-z0-9.@-]*[A-Za-z0-9]`)
)

// scan remembers the values in a customer's message.
func (m *memory) scan(text string) {
	for _, q := range quoted.FindAllStringSubmatch(text, -1) {
		show(&m.addresses, q[1])
	}
	for _, c := range cents.FindAllStringSubmatch(text, -1) {
		show(&m.named, c[1])
	}
	for _, w := range word.FindAllString(text, -1) {
		head, tail, _ := strings.Cut(w, "-")
		_, err := strconv.ParseUint(tail, 10, 64)
		switch {
		case strings.Contains(w, "@"):
			show(&m.emails, w)
		case err != nil:
		case head == "O":
			show(&m.orders, w)
		case head == "K":
			show(&m.tickets, w)
		case len(head) == 3:
			show(&m.skus, w)
			show(&m.wanted, w)
		}
	}
}

// paged remembers which page comes after the one just listed.
func (m *memory) paged(tool string, in []value, more bool) {
	if more {
		show(&m.next, next{tool, in[0].s, max(in[1].n, 1) + 1})
	}
}

// perTool bounds the candidate calls of one tool.
const perTool = 8

// offers collects candidate calls. An episode has one, so that the memory for them is found only once.
type offers struct {
	list []envharness.Action
	args []byte // of all of them
	tool *tool  // whose calls are being added
	from int    // where in the list they begin
}

// candidates returns the calls whose arguments were all shown, the tools in their order, at most perTool of each. None
// of them is refused as an unknown tool, for bad arguments or as not found; the rules of the desk may still refuse it.
func (e *episode) candidates() []envharness.Action {
	o := &e.offers
	o.list, o.args = o.list[:0], o.args[:0]
	for i := range tools {
		o.tool, o.from = &tools[i], len(o.list)
		o.tool.offer(e, o)
	}
	return o.copy()
}

// add takes the arguments of one call.
func (o *offers) add(args arguments) {
	if len(o.list)-o.from == perTool {
		return
	}
	start := len(o.args)
	o.args = o.tool.appendArgs(o.args, args)
	for _, c := range o.list[o.from:] {
		if bytes.Equal(c.Args, o.args[start:]) { // an amount may be both named and owed
			o.args = o.args[:start]
			return
		}
	}
	o.list = append(o.list, envharness.Action{Name: o.tool.name, Args: o.args[start:]})
}

// copy returns what was collected.
func (o *offers) copy() []envharness.Action {
	list, args := slices.Clone(o.list), slices.Clone(o.args)
	at := 0
	for i := range list {
		end := at + len(list[i].Args)
		list[i].Args = args[at:end:end]
		at = end
	}
	return list
}

// all entries.
const all = math.MaxInt

// newest goes through the last n entries, the last one first.
func newest[T any](list []T, n int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := len(list) - 1; i >= max(len(list)-n, 0) && yield(list[i]); i-- {
		}
	}
}

// addIDs adds a call for each of the ids, the newest first.
func (o *offers) addIDs(ids []string) {
	for id := range newest(ids, perTool) {
		o.add(arguments{id})
	}
}

func offerPages(e *episode, to *offers) {
	for n := range newest(e.memory.next, all) {
		if n.tool == to.tool.name {
			to.add(arguments{n.customer, strconv.Itoa(n.page)})
		}
	}
	to.addIDs(e.memory.customers)
}

func offerCancels(e *episode, to *offers) {
	for o := range newest(e.memory.orders, all) {
		for _, reason := range cancelReasons {
			to.add(arguments{o, reason})
		}
	}
}

func offerAddresses(e *episode, to *offers) {
	for a := range newest(e.memory.addresses, all) {
		for o := range newest(e.memory.orders, perTool/2) {
			to.add(arguments{a, o})
		}
	}
}

func offerExchanges(e *episode, to *offers) {
	for sku := range newest(e.memory.wanted, all) {
		for l := range newest(e.memory.lines, perTool/2) {
			if l.value != sku {
				to.add(arguments{sku, l.order, l.value})
			}
		}
	}
}

func offerRefunds(e *episode, to *offers) {
	for c := range newest(e.memory.named, all) {
		for o := range newest(e.memory.orders, 2) {
			to.add(arguments{c, o})
		}
	}
	for a := range newest(e.memory.amounts, all) {
		to.add(arguments{a.value, a.order})
	}
}

func offerResolves(e *episode, to *offers) {
	for t := range newest(e.memory.tickets, all) {
		to.add(arguments{"resolved", t})
	}
}

func offerTransfers(e *episode, to *offers) {
	for c := range newest(e.memory.customers, 2) {
		for _, reason := range transferReasons {
			to.add(arguments{c, reason})
		}
	}
}

// offerAnswers offers a summary of the writes first, and then answers that claim something else.
func offerAnswers(e *episode, to *offers) {
	done := strings.Join(e.session.Written, ", ")
	if done != "" && len(done) <= maxText {
		to.add(arguments{done})
	}
	to.add(arguments{"nothing"})
	to.add(arguments{transferred})
	for _, list := range [][]string{e.memory.tickets, e.memory.orders} {
		for id := range newest(list, 2) {
			to.add(arguments{id})
		}
	}
}
