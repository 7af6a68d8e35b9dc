package tooldesk

import (
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// A sight is what a text of the small desk tells, and nothing else.
type sight struct {
	name     string
	requests []string
	customer string   // looked up
	order    []string // words about it
	orders   []string // words of a customer's list
	product  []string
	ticket   []string
	tickets  []string
	done     []string
}

func look(shown string) sight {
	lines := strings.Split(shown, "\n")
	var s sight
	var request string
	s.name, request, _ = strings.Cut(lines[0], ": ")
	s.requests = strings.Split(request, " and ")
	for i, l := range lines[1:] {
		w := strings.Fields(l)
		switch {
		case i == 0 && len(w) == 1 && w[0][0] == 'c':
			s.customer = w[0]
		case w[0] == "done":
			s.done = w[1:]
		case w[0] == "refused" || w[0] == "submitted":
		case isID(w[0], 'o'):
			s.order = w
		case isID(w[0], 'k'):
			s.ticket = w
		case isID(w[0], 'c') && isID(w[1], 'o'):
			s.orders = w
		case isID(w[0], 'c'):
			s.tickets = w
		default:
			s.product = w
		}
	}
	return s
}

func isID(w string, kind byte) bool { return len(w) == 2 && w[0] == kind }

// rows cuts a list into the words of each row.
func rows(list []string, kind byte) [][]string {
	var out [][]string
	for _, w := range list {
		if isID(w, kind) {
			out = append(out, nil)
		}
		if len(out) > 0 {
			out[len(out)-1] = append(out[len(out)-1], w)
		}
	}
	return out
}

// next is the call to make, as its text. It follows the rules by what is seen.
func (s *sight) next() string {
	if s.customer == "" {
		return "find_customer " + s.name
	}
	requests := s.requests
	ticket := strings.HasPrefix(requests[0], "do ") || strings.HasPrefix(requests[0], "finish ")
	if ticket {
		if s.ticket == nil {
			if w := strings.Fields(requests[0]); isID(w[len(w)-1], 'k') {
				return "get_ticket " + w[len(w)-1]
			}
			for _, row := range rows(s.tickets, 'k') {
				if row[1] == open {
					return "get_ticket " + row[0]
				}
			}
			return "list_tickets " + s.customer
		}
		requests = []string{strings.Join(s.ticket[3:], " ")}
	}
	for _, r := range requests {
		if call := s.handle(r); call != "" {
			return call
		}
	}
	if ticket && s.ticket[2] == open && !slices.Contains(s.done, transferred) {
		return "resolve_ticket resolved " + s.ticket[0]
	}
	return "submit " + strings.Join(s.done, ", ")
}

// handle is the call that a request needs next, or "".
func (s *sight) handle(request string) string {
	if slices.Contains(s.done, transferred) {
		return ""
	}
	w := strings.Fields(request)
	refund := w[0] == "refund" || w[0] == "repay"
	id := ""
	for _, x := range w {
		if isID(x, 'o') {
			id = x
		}
	}
	if refund && slices.ContainsFunc(s.done, func(d string) bool { return d[0] <= '9' }) || !refund && slices.Contains(s.done, id) {
		return ""
	}
	if id == "" {
		if s.order != nil {
			if slices.Contains(s.done, s.order[0]) {
				return ""
			}
			id = s.order[0]
		}
		for _, row := range rows(s.orders, 'o') {
			if w[0] == "cancel" || w[0] == "stop" {
				if slices.Contains(row, w[3]) {
					id = row[0]
				}
			} else if row[1] == pending {
				id = row[0]
			}
		}
		if id == "" {
			return "list_orders " + s.customer
		}
	}
	if s.order == nil || s.order[0] != id {
		return "get_order " + id
	}
	transfer := func(reason string) string { return "transfer " + s.customer + " " + reason }
	status, late := s.order[2], s.order[len(s.order)-1] == wordLate
	after := func(word string) string { return s.order[slices.Index(s.order, word)+1] }
	switch w[0] {
	case "cancel", "stop":
		if status != pending {
			return transfer(reasonStatus)
		}
		reason := cancelReasons[0]
		if why := w[len(w)-1]; why == "mistake" || why == "accident" {
			reason = cancelReasons[1]
		}
		return "cancel_order " + id + " " + reason
	case "send", "ship":
		if status != pending {
			return transfer(reasonStatus)
		}
		return "set_address " + strings.Join(w[len(w)-2:], " ") + " " + id
	case "swap", "exchange":
		wanted := w[len(w)-1]
		switch {
		case s.product == nil || s.product[0] != wanted:
			return "get_product " + wanted
		case s.product[1] == wordGone:
			return transfer(reasonStock)
		}
		return "exchange_item " + wanted + " " + id + " " + w[2]
	}
	amount := w[1]
	switch {
	case late:
		return transfer(reasonWindow)
	case amount == "rest":
		amount = after(wordLeft)
	case slices.Contains(s.order, amount) && amount[0] > '9':
		amount = after(amount)
	}
	return "refund " + amount + " " + id
}

// The text of the small desk is enough to act on: a policy that remembers nothing, and sees the present text and the candidates only, passes
// every task within the limit.
func TestPresentTextIsEnough(t *testing.T) {
	d := newCatalogue(&small, true).simulation().New()
	for _, split := range splits {
		tasks, err := small.list(split)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks[:min(len(tasks), sampleSize())] {
			o, err := d.Reset(ctx, envharness.ResetOptions{Task: task.ID})
			if err != nil {
				t.Fatal(err)
			}
			for {
				s := look(o.Text)
				call := s.next()
				i := slices.IndexFunc(o.Actions, func(a envharness.Action) bool { return a.Text() == call })
				if i < 0 {
					t.Fatalf("%s: %q is no candidate of %v at\n%s", task.ID, call, o.Actions, o.Text)
				}
				tr, err := d.Step(ctx, o.Actions[i])
				if err != nil || tr.Error != nil {
					t.Fatalf("%s: %q: %+v, %v", task.ID, call, tr.Error, err)
				}
				if o = tr.Observation; tr.Ended() {
					if tr.Reward != 1 {
						t.Fatalf("%s: failed at\n%s", task.ID, o.Text)
					}
					break
				}
			}
		}
	}
}
