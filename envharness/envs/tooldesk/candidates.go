package tooldesk

import (
	"bytes"
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

// An adder takes the arguments of one candidate call.
type adder func(arguments)

// candidates returns the calls whose arguments were all shown, the tools in their order, at most perTool of each. None
// of them is refused as an unknown tool, for bad arguments or as not found; the rules of the desk may still refuse it.
func (e *episode) candidates() []envharness.Action {
	out := make([]envharness.Action, 0, 40)
	b := make([]byte, 0, 2048) // one block for the arguments of all
	for i := range tools {
		t := &tools[i]
		first := len(out)
		t.offer(e, func(args arguments) {
			if len(out)-first == perTool {
				return
			}
			start := len(b)
			b = t.appendArgs(b, args)
			for _, c := range out[first:] {
				if bytes.Equal(c.Args, b[start:]) { // an amount may be both named and owed
					b = b[:start]
					return
				}
			}
			out = append(out, envharness.Action{Name: t.name, Args: b[start:len(b):len(b)]})
		})
	}
	return out
}

func offerIDs(list func(*episode) []string) func(*episode, adder) {
	return func(e *episode, add adder) {
		for _, id := range slices.Backward(list(e)) {
			add(arguments{id})
		}
	}
}

func offerPages(tool string) func(*episode, adder) {
	return func(e *episode, add adder) {
		for _, n := range slices.Backward(e.memory.next) {
			if n.tool == tool {
				add(arguments{n.customer, strconv.Itoa(n.page)})
			}
		}
		for _, c := range slices.Backward(e.memory.customers) {
			add(arguments{c})
		}
	}
}

func offerCancels(e *episode, add adder) {
	for _, o := range slices.Backward(e.memory.orders) {
		for _, reason := range cancelReasons {
			add(arguments{o, reason})
		}
	}
}

func offerAddresses(e *episode, add adder) {
	for _, a := range slices.Backward(e.memory.addresses) {
		for _, o := range newest(e.memory.orders, perTool/2) {
			add(arguments{a, o})
		}
	}
}

func offerExchanges(e *episode, add adder) {
	for _, sku := range slices.Backward(e.memory.wanted) {
		for _, l := range newest(e.memory.lines, perTool/2) {
			if l.value != sku {
				add(arguments{sku, l.order, l.value})
			}
		}
	}
}

func offerRefunds(e *episode, add adder) {
	for _, c := range slices.Backward(e.memory.named) {
		for _, o := range newest(e.memory.orders, 2) {
			add(arguments{c, o})
		}
	}
	for _, a := range slices.Backward(e.memory.amounts) {
		add(arguments{a.value, a.order})
	}
}

func offerResolves(e *episode, add adder) {
	for _, t := range slices.Backward(e.memory.tickets) {
		add(arguments{"resolved", t})
	}
}

func offerTransfers(e *episode, add adder) {
	for _, c := range newest(e.memory.customers, 2) {
		for _, reason := range transferReasons {
			add(arguments{c, reason})
		}
	}
}

// offerAnswers offers a summary of the writes first, and then answers that claim something else.
func offerAnswers(e *episode, add adder) {
	done := strings.Join(e.session.Written, ", ")
	if done != "" && len(done) <= maxText {
		add(arguments{done})
	}
	add(arguments{"nothing"})
	add(arguments{transferred})
	for _, list := range [][]string{e.memory.tickets, e.memory.orders} {
		for _, id := range newest(list, 2) {
			add(arguments{id})
		}
	}
}

// newest returns the last n entries, the last one first.
func newest[T any](list []T, n int) []T {
	out := slices.Clone(list[max(len(list)-n, 0):])
	slices.Reverse(out)
	return out
}
