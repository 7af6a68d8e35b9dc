package tooldesk

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// offers are the candidate calls of an episode.
type offers struct {
	list []envharness.Action // handed out: not written to
	ends [numTools]uint16    // where in the list the calls of each tool end
}

// A draft is what candidate calls and texts are made in. It is used again and again.
type draft struct {
	calls []envharness.Action        // of the tools whose calls may have changed
	bytes []byte                     // of the arguments of one call, or of a text
	kept  map[string]json.RawMessage // arguments that the task keeps
	most  int                        // calls of a tool

	tool   *tool               // whose calls are being added
	from   int                 // where they begin
	before []envharness.Action // its calls in the last list
}

// candidates returns the calls whose arguments were all shown, the tools in their order, with a bound on the calls of each. None of them is
// refused as an unknown tool, for bad arguments or as not found; the rules of the desk may still refuse it. The list is the last one where
// nothing came up that changes it, and the task's where nothing but gold actions were called.
func (e *episode) candidates() []envharness.Action {
	if e.memory.stale == 0 {
		return e.offers.list
	}
	if e.way > 0 {
		e.offers, e.memory.stale = e.task.way[e.way-1], 0
		return e.offers.list
	}
	d := e.drafts.Get().(*draft)
	o, tools := &e.offers, e.task.preset.tools
	d.calls, d.kept = d.calls[:0], e.task.args
	var ends [numTools]int // in the draft
	var changed [numTools]bool
	total, at, any := 0, 0, o.list == nil
	for i := range tools {
		t := &tools[i]
		before := o.list[at:o.ends[i]]
		at = int(o.ends[i])
		n := len(before)
		if e.memory.stale&t.needs != 0 {
			d.tool, d.from, d.before, d.most = t, len(d.calls), before, e.task.preset.perTool
			t.offer(e, d)
			if made := d.calls[d.from:]; equalCalls(before, made) {
				d.calls = d.calls[:d.from]
			} else {
				changed[i], any, n = true, true, len(made)
			}
		}
		total += n
		ends[i] = len(d.calls)
	}
	e.memory.stale = 0
	if any {
		o.merge(d, total, &changed, &ends)
	}
	e.drafts.Put(d)
	return o.list
}

func equalCalls(a, b []envharness.Action) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i].Args, b[i].Args) {
			return false
		}
	}
	return true
}

// merge makes a new list of total calls: those of the draft where they have changed, those of the last list for the other tools.
func (o *offers) merge(d *draft, total int, changed *[numTools]bool, ends *[numTools]int) {
	list := make([]envharness.Action, total)
	n, from, at := 0, 0, 0
	for i := range ends {
		if changed[i] {
			n += copy(list[n:], d.calls[from:ends[i]])
		} else {
			n += copy(list[n:], o.list[at:o.ends[i]])
		}
		from, at = ends[i], int(o.ends[i])
		o.ends[i] = uint16(n)
	}
	o.list = list
}

// add takes the arguments of one call.
func (d *draft) add(args arguments) {
	if len(d.calls)-d.from == d.most {
		return
	}
	d.bytes = d.tool.appendArgs(d.bytes[:0], &args)
	if !d.has(d.bytes) {
		d.calls = append(d.calls, envharness.Action{Name: d.tool.name, Args: d.written()})
	}
}

// has reports whether the tool's calls added so far have one with these arguments: an amount may be both named and owed.
func (d *draft) has(args []byte) bool {
	for i := d.from; i < len(d.calls); i++ {
		if bytes.Equal(d.calls[i].Args, args) {
			return true
		}
	}
	return false
}

// take takes a call of a card.
func (d *draft) take(a envharness.Action) {
	if len(d.calls)-d.from < d.most && !d.has(a.Args) {
		d.calls = append(d.calls, a)
	}
}

// written returns the arguments just written, in bytes that may be handed out: where there are any, those that were before.
func (d *draft) written() json.RawMessage {
	for i := range d.before {
		if bytes.Equal(d.before[i].Args, d.bytes) {
			return d.before[i].Args
		}
	}
	if kept, ok := d.kept[string(d.bytes)]; ok {
		return kept
	}
	return bytes.Clone(d.bytes)
}

// newest is where the last n of a list of so many begin.
func newest(length, n int) int { return max(length-n, 0) }

// addEach adds n calls of each of the newest cards, from the one at the position on, the newest card first. All differ.
func (d *draft) addEach(cards []*card, most, from, n int) {
	for i := len(cards) - 1; i >= newest(len(cards), most) && len(d.calls)-d.from < d.most; i-- {
		calls := cards[i].calls[from : from+n]
		d.calls = append(d.calls, calls[:min(n, d.most-(len(d.calls)-d.from))]...)
	}
}

func offerEmails(e *episode, to *draft) {
	to.most = e.task.preset.ids
	to.addEach(e.memory.emails, to.most, getCall, 1)
}

func offerOrders(e *episode, to *draft) {
	to.most = e.task.preset.ids
	to.addEach(e.memory.orders, to.most, getCall, 1)
}

func offerProducts(e *episode, to *draft) {
	to.most = e.task.preset.ids
	to.addEach(e.memory.skus, to.most, getCall, 1)
}

func offerTickets(e *episode, to *draft) {
	to.most = e.task.preset.ids
	to.addEach(e.memory.tickets, to.most, getCall, 1)
}

func offerOrderPages(e *episode, to *draft) {
	to.addEach(e.memory.nextOrders, to.most, getCall, 1)
	to.most = e.task.preset.ids
	to.addEach(e.memory.customers, to.most, ordersCall, 1)
}

func offerTicketPages(e *episode, to *draft) {
	to.addEach(e.memory.nextTickets, to.most, getCall, 1)
	to.most = e.task.preset.ids
	to.addEach(e.memory.customers, to.most, ticketsCall, 1)
}

func offerCancels(e *episode, to *draft) {
	to.addEach(e.memory.orders, to.most/len(cancelReasons), cancelCalls, len(cancelReasons))
}

func offerAddresses(e *episode, to *draft) {
	addresses, orders := e.memory.addresses, e.memory.orders
	to.most = e.task.preset.combined
	for i := len(addresses) - 1; i >= newest(len(addresses), to.most); i-- {
		for k := len(orders) - 1; k >= newest(len(orders), e.task.preset.pairs); k-- {
			to.add(arguments{addresses[i].value, orders[k].value})
		}
	}
}

func offerExchanges(e *episode, to *draft) {
	wanted, lines := e.memory.wanted, e.memory.lines
	to.most = e.task.preset.combined
	for i := len(wanted) - 1; i >= 0; i-- {
		for k := len(lines) - 1; k >= newest(len(lines), e.task.preset.pairs); k-- {
			if l := lines[k]; l.value != wanted[i].value {
				to.add(arguments{wanted[i].value, l.of, l.value})
			}
		}
	}
}

func offerRefunds(e *episode, to *draft) {
	cents, orders, amounts := e.memory.cents, e.memory.orders, e.memory.amounts
	for i := len(cents) - 1; i >= 0; i-- {
		for k := len(orders) - 1; k >= newest(len(orders), e.task.preset.others); k-- {
			to.add(arguments{cents[i].value, orders[k].value})
		}
	}
	for i := len(amounts) - 1; i >= 0 && len(to.calls)-to.from < to.most; i-- {
		to.take(amounts[i].calls[0])
	}
}

func offerResolves(e *episode, to *draft) {
	to.addEach(e.memory.tickets, to.most, resolveCall, 1)
}

func offerTransfers(e *episode, to *draft) {
	to.addEach(e.memory.customers, e.task.preset.others, transferCalls, len(transferReasons))
}

// nothingDone is a wrong answer in every task.
const nothingDone = "nothing"

// offerAnswers offers a summary of the writes first, and then answers that claim something else.
func offerAnswers(e *episode, to *draft) {
	switch w := e.session.Written; len(w) {
	case 0:
	case 1:
		to.add(arguments{w[0]})
	default:
		if done := strings.Join(w, ", "); len(done) <= maxText {
			to.add(arguments{done})
		}
	}
	for _, a := range e.task.shelf.wrong {
		to.take(a)
	}
	for _, list := range [2][]*card{e.memory.tickets, e.memory.orders} {
		for i := len(list) - 1; i >= newest(len(list), e.task.preset.others); i-- {
			to.take(list[i].answer())
		}
	}
}
