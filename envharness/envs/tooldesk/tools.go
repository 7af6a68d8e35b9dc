package tooldesk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// A tool is described once: its schema, the validation of its arguments and its candidate calls all come from this
// value.
type tool struct {
	name    string
	text    string
	params  []param // sorted by name, so that arguments written in this order are canonical JSON
	write   bool
	submits bool
	run     func(e *episode, in []value) (any, *envharness.ActionError)
	offer   func(e *episode, to *offers) // candidate calls, arguments in the order of params, best first
}

// A param is one argument: an integer if integer is set, else a string.
type param struct {
	name     string
	text     string
	integer  bool
	enum     []string
	max      int // longest string in characters, or largest integer
	optional bool
}

// A value is a validated argument; the zero value stands for an absent optional one.
type value struct {
	s string
	n int
}

const (
	maxArgs  = 8192 // bytes of arguments in one call
	maxID    = 64
	maxText  = 500
	maxCents = 100_000_000
	maxPage  = 1000
)

var (
	cancelReasons   = []string{"no longer needed", "ordered by mistake"}
	transferReasons = []string{reasonStatus, reasonWindow, reasonStock}
)

// What a human agent is told about a request that the rules forbid.
const (
	reasonStatus = "order status forbids it"
	reasonWindow = "refund window has passed"
	reasonStock  = "item is out of stock"
)

// tools lists the desk's tools in the order in which they are shown.
var tools = []tool{
	{
		name: "find_customer", text: "Look a customer up by e-mail address. Needed before any change to that customer's data.",
		params: []param{{name: "email", text: "e-mail address of the account", max: maxText}},
		run:    findCustomer, offer: func(e *episode, to *offers) { to.addIDs(e.memory.emails) },
	},
	{
		name: "list_orders", text: "List a customer's orders, five to a page, by order id.",
		params: []param{customerParam, pageParam},
		run:    listOrders, offer: offerPages,
	},
	{
		name: "get_order", text: "Show one order: items, payments, delivery and address.",
		params: []param{orderParam},
		run:    getOrder, offer: func(e *episode, to *offers) { to.addIDs(e.memory.orders) },
	},
	{
		name: "get_product", text: "Show one product: price, family and stock.",
		params: []param{skuParam},
		run:    getProduct, offer: func(e *episode, to *offers) { to.addIDs(e.memory.skus) },
	},
	{
		name: "list_tickets", text: "List a customer's support tickets, five to a page, by ticket id.",
		params: []param{customerParam, pageParam},
		run:    listTickets, offer: offerPages,
	},
	{
		name: "get_ticket", text: "Show one support ticket with the customer's message.",
		params: []param{ticketParam},
		run:    getTicket, offer: func(e *episode, to *offers) { to.addIDs(e.memory.tickets) },
	},
	{
		name: "cancel_order", text: "Cancel a pending order. Pays everything back and returns the items to stock.",
		params: []param{orderParam, {name: "reason", text: "why the customer cancels", enum: cancelReasons}},
		write:  true, run: cancelOrder, offer: offerCancels,
	},
	{
		name: "set_address", text: "Change the delivery address of a pending order.",
		params: []param{{name: "address", text: "new delivery address", max: maxText}, orderParam},
		write:  true, run: setAddress, offer: offerAddresses,
	},
	{
		name: "exchange_item", text: "Exchange one item of a delivered order for another product of the same family that is in stock. " +
			"The price difference is charged or credited.",
		params: []param{
			{name: "new_sku", text: "product wanted instead", max: maxID}, orderParam,
			{name: "sku", text: "item of the order to give back", max: maxID},
		},
		write: true, run: exchangeItem, offer: offerExchanges,
	},
	{
		name: "refund", text: "Pay back part of a delivered order, at most what is left of the payment, within 30 days of delivery.",
		params: []param{{name: "amount_cents", text: "amount in cents", integer: true, max: maxCents}, orderParam},
		write:  true, run: refund, offer: offerRefunds,
	},
	{
		name: "resolve_ticket", text: "Close an open support ticket.",
		params: []param{{name: "note", text: "what was done", max: maxText}, ticketParam},
		write:  true, run: resolveTicket, offer: offerResolves,
	},
	{
		name: "transfer", text: "Hand a request that the rules forbid over to a human agent.",
		params: []param{customerParam, {name: "reason", text: "why it is forbidden", enum: transferReasons}},
		write:  true, run: transferCustomer, offer: offerTransfers,
	},
	{
		name: "submit", text: "End the conversation with a final answer that names what was handled.",
		params:  []param{{name: "answer", text: "order ids, ticket ids and amounts in cents, or transferred", max: maxText}},
		submits: true, run: submit, offer: offerAnswers,
	},
}

var (
	customerParam = param{name: "customer_id", text: "customer id", max: maxID}
	orderParam    = param{name: "order_id", text: "order id", max: maxID}
	ticketParam   = param{name: "ticket_id", text: "ticket id", max: maxID}
	skuParam      = param{name: "sku", text: "stock keeping unit of a product", max: maxID}
	pageParam     = param{name: "page", text: "page number, 1 if absent", integer: true, max: maxPage, optional: true}
)

// Tools returns the descriptions of the desk's 13 tools in a fixed order: six that read, six that write, and submit,
// which ends the episode. The caller owns the result.
func Tools() []envharness.Tool {
	out := make([]envharness.Tool, len(tools))
	for i := range tools {
		t := &tools[i]
		out[i] = envharness.Tool{
			Name: t.name, Description: t.text, Schema: t.schema(), ReadOnly: !t.write && !t.submits, Submits: t.submits,
		}
	}
	return out
}

func toolNamed(name string) *tool {
	if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name }); i >= 0 {
		return &tools[i]
	}
	return nil
}

// schema returns the JSON Schema of the arguments in canonical form.
func (t *tool) schema() json.RawMessage {
	b := make([]byte, 0, 512)
	b = append(b, `{"additionalProperties":false,"properties":{`...)
	for i := range t.params {
		p := &t.params[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(quote(&p.name, b), ':'), '{')
		b = appendString(b, `"description":`, p.text)
		switch {
		case p.integer:
			b = appendInt(b, `,"maximum":`, p.max)
			b = append(b, `,"minimum":1,"type":"integer"}`...)
		case p.enum != nil:
			b = appendRows(b, `,"enum":`, p.enum, quote)
			b = append(b, `,"type":"string"}`...)
		default:
			b = appendInt(b, `,"maxLength":`, p.max)
			b = append(b, `,"minLength":1,"type":"string"}`...)
		}
	}
	required := make([]string, 0, len(t.params))
	for _, p := range t.params {
		if !p.optional {
			required = append(required, p.name)
		}
	}
	b = appendRows(b, `},"required":`, required, quote)
	return append(b, `,"type":"object"}`...)
}

// parse validates the arguments of a call; the result has one value for each parameter.
func (t *tool) parse(raw json.RawMessage) ([]value, *envharness.ActionError) {
	if len(raw) > maxArgs {
		return nil, refuse(envharness.ClassBadArgs, "arguments of %d bytes are longer than %d", len(raw), maxArgs)
	}
	if in, ok := t.parsePlain(raw); ok {
		return in, nil
	}
	return t.parseJSON(raw)
}

// parseJSON is parse for all that is not written plainly.
func (t *tool) parseJSON(raw json.RawMessage) ([]value, *envharness.ActionError) {
	var given map[string]any
	if len(raw) > 0 { // a log need not tell nil from empty
		if err := json.Unmarshal(raw, &given); err != nil || given == nil {
			return nil, refuse(envharness.ClassBadArgs, "arguments must be one JSON object")
		}
	}
	in := make([]value, len(t.params))
	known := 0
	for i, p := range t.params {
		v, ok := given[p.name]
		if !ok {
			if !p.optional {
				return nil, refuse(envharness.ClassBadArgs, "missing argument %s", p.name)
			}
			continue
		}
		known++
		var rule string
		if in[i], rule = p.check(v); rule != "" {
			return nil, refuse(envharness.ClassBadArgs, "argument %s %s", p.name, rule)
		}
	}
	if known < len(given) {
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
				return nil, refuse(envharness.ClassBadArgs, "unknown argument %q", clip(name))
			}
		}
	}
	return in, nil
}

// parsePlain reads arguments that are written as candidate calls are, which most are: in the order of params, without spaces, escapes or
// fractions. For others, and for arguments that break a rule, ok is false and says nothing.
func (t *tool) parsePlain(raw json.RawMessage) (in []value, ok bool) {
	in = make([]value, len(t.params))
	rest, comma := []byte(raw), []byte("{")
	for i := range t.params {
		p := &t.params[i]
		after, ok := bytes.CutPrefix(rest, comma)
		if !ok {
			return in, p.optional && i > 0 && i == len(t.params)-1 && string(rest) == "}"
		}
		if len(after) < len(p.name)+3 || after[0] != '"' || string(after[1:len(p.name)+1]) != p.name {
			return nil, false
		}
		after, ok = bytes.CutPrefix(after[len(p.name)+1:], []byte(`":`))
		if !ok {
			return nil, false
		}
		if in[i], rest, ok = p.readPlain(after); !ok {
			return nil, false
		}
		comma = []byte(",")
	}
	return in, string(rest) == "}"
}

// readPlain reads one argument that keeps the rules, and returns what comes after it.
func (p *param) readPlain(b []byte) (v value, rest []byte, ok bool) {
	if p.integer {
		n := 0
		for n < len(b) && n < len("999999999") && '0' <= b[n] && b[n] <= '9' {
			v.n = 10*v.n + int(b[n]-'0')
			n++
		}
		return v, b[n:], n > 0 && b[0] != '0' && v.n <= p.max
	}
	if len(b) == 0 || b[0] != '"' {
		return value{}, nil, false
	}
	text, rest, ok := bytes.Cut(b[1:], []byte{'"'})
	if !ok || len(text) == 0 || len(text) > p.max && p.enum == nil || !plain(text) {
		return value{}, nil, false
	}
	v.s = string(text)
	return v, rest, p.enum == nil || slices.Contains(p.enum, v.s)
}

// check returns the validated argument, or the rule that it breaks.
func (p *param) check(v any) (value, string) {
	if p.integer {
		f, ok := v.(float64)
		if !ok || f != math.Trunc(f) {
			return value{}, "must be an integer"
		}
		if f < 1 || f > float64(p.max) {
			return value{}, fmt.Sprintf("must be from 1 to %d", p.max)
		}
		return value{n: int(f)}, ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		return value{}, "must be a string"
	case p.enum != nil:
		if !slices.Contains(p.enum, s) {
			return value{}, "must be one of: " + strings.Join(p.enum, ", ")
		}
	case s == "":
		return value{}, "must not be empty"
	case utf8.RuneCountInString(s) > p.max:
		return value{}, fmt.Sprintf("must not be longer than %d characters", p.max)
	}
	return value{s: s}, ""
}

// arguments are the arguments of a call in the order of params, integers in decimal. An empty one, at the end only, is
// left out.
type arguments [3]string

func call(name string, args ...string) envharness.Action {
	var a arguments
	copy(a[:], args)
	return envharness.Action{Name: name, Args: toolNamed(name).appendArgs(nil, a)}
}

// appendArgs writes arguments as canonical JSON. All strings are values of generated worlds, in which nothing needs an
// escape.
func (t *tool) appendArgs(b []byte, args arguments) []byte {
	for i, a := range args {
		if a == "" {
			break
		}
		b = append(b, "{,"[min(i, 1)], '"')
		b = append(b, t.params[i].name...)
		b = append(b, '"', ':')
		if t.params[i].integer {
			b = append(b, a...)
		} else {
			b = append(append(append(b, '"'), a...), '"')
		}
	}
	return append(b, '}')
}

func refuse(class envharness.ErrorClass, format string, args ...any) *envharness.ActionError {
	return &envharness.ActionError{Class: class, Message: fmt.Sprintf(format, args...)}
}

// clip shortens what a policy sent before it is quoted in a message.
func clip(s string) string {
	if utf8.RuneCountInString(s) > maxID {
		s = string([]rune(s)[:maxID]) + "..."
	}
	return s
}
