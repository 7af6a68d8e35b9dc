package tooldesk

import (
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

// A tool is described once: its schema, the validation of its arguments, its replies and its candidate calls all come from this value.
type tool struct {
	name    string
	text    string
	params  []param // sorted by name, so that arguments written in this order are canonical JSON
	write   bool
	submits bool
	run     func(e *episode, in *inputs) *envharness.ActionError
	reply   func(b []byte, e *episode) []byte // what run led to, as JSON
	needs   listSet                           // what candidate calls are made of
	offer   func(e *episode, to *draft)       // candidate calls, arguments in the order of params, best first
}

// A param is one argument: an integer if integer is set, else a string.
type param struct {
	name     string
	text     string
	integer  bool
	enum     []string
	max      int // longest string in characters, or largest integer
	multiple int // an integer is a multiple of it
	optional bool
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

// The tools by their positions.
const (
	toolFindCustomer = iota
	toolListOrders
	toolGetOrder
	toolGetProduct
	toolListTickets
	toolGetTicket
	toolCancelOrder
	toolSetAddress
	toolExchangeItem
	toolRefund
	toolResolveTicket
	toolTransfer
	toolSubmit
	numTools
)

// makeTools lists the desk's tools in the order in which they are shown: six that read, six that write, and submit. Amounts of money are
// multiples of whole.
func makeTools(whole int) []tool {
	return []tool{
		{
			name: "find_customer", text: "Look a customer up by e-mail address. Needed before any change to that customer's data.",
			params: []param{{name: "email", text: "e-mail address of the account", max: maxText}},
			run:    findCustomer, reply: replyCustomer, needs: ofEmail, offer: offerEmails,
		},
		{
			name: "list_orders", text: "List a customer's orders, five to a page, by order id.",
			params: []param{customerParam, pageParam},
			run:    listOrders, reply: replyOrders, needs: ofCustomer | ofNextOrders, offer: offerOrderPages,
		},
		{
			name: "get_order", text: "Show one order: items, payments, delivery and address.",
			params: []param{orderParam},
			run:    getOrder, reply: replyOrder, needs: ofOrder, offer: offerOrders,
		},
		{
			name: "get_product", text: "Show one product: price, family and stock.",
			params: []param{skuParam},
			run:    getProduct, reply: replyProduct, needs: ofSKU, offer: offerProducts,
		},
		{
			name: "list_tickets", text: "List a customer's support tickets, five to a page, by ticket id.",
			params: []param{customerParam, pageParam},
			run:    listTickets, reply: replyTickets, needs: ofCustomer | ofNextTickets, offer: offerTicketPages,
		},
		{
			name: "get_ticket", text: "Show one support ticket with the customer's message.",
			params: []param{ticketParam},
			run:    getTicket, reply: replyTicket, needs: ofTicket, offer: offerTickets,
		},
		{
			name: "cancel_order", text: "Cancel a pending order. Pays everything back and returns the items to stock.",
			params: []param{orderParam, {name: "reason", text: "why the customer cancels", enum: cancelReasons}},
			write:  true, run: cancelOrder, reply: replyCancelled, needs: ofOrder, offer: offerCancels,
		},
		{
			name: "set_address", text: "Change the delivery address of a pending order.",
			params: []param{{name: "address", text: "new delivery address", max: maxText}, orderParam},
			write:  true, run: setAddress, reply: replyAddress, needs: ofAddress | ofOrder, offer: offerAddresses,
		},
		{
			name: "exchange_item", text: "Exchange one item of a delivered order for another product of the same family that is in stock. " +
				"The price difference is charged or credited.",
			params: []param{
				{name: "new_sku", text: "product wanted instead", max: maxID}, orderParam,
				{name: "sku", text: "item of the order to give back", max: maxID},
			},
			write: true, run: exchangeItem, reply: replyExchanged, needs: ofWanted | ofLine, offer: offerExchanges,
		},
		{
			name: "refund", text: "Pay back part of a delivered order, at most what is left of the payment, within 30 days of delivery.",
			params: []param{
				{name: "amount_cents", text: "amount in cents", integer: true, max: maxCents, multiple: whole}, orderParam,
			},
			write: true, run: refund, reply: replyRefunded, needs: ofCents | ofOrder | ofAmount, offer: offerRefunds,
		},
		{
			name: "resolve_ticket", text: "Close an open support ticket.",
			params: []param{{name: "note", text: "what was done", max: maxText}, ticketParam},
			write:  true, run: resolveTicket, reply: replyResolved, needs: ofTicket, offer: offerResolves,
		},
		{
			name: "transfer", text: "Hand a request that the rules forbid over to a human agent.",
			params: []param{customerParam, {name: "reason", text: "why it is forbidden", enum: transferReasons}},
			write:  true, run: transferCustomer, reply: replyTransferred, needs: ofCustomer, offer: offerTransfers,
		},
		{
			name: "submit", text: "End the conversation with a final answer that names what was handled.",
			params:  []param{{name: "answer", text: "order ids, ticket ids and amounts in cents, or transferred", max: maxText}},
			submits: true, run: submit, reply: replySubmitted, needs: ofWritten | ofTicket | ofOrder, offer: offerAnswers,
		},
	}
}

var (
	customerParam = param{name: "customer_id", text: "customer id", max: maxID}
	orderParam    = param{name: "order_id", text: "order id", max: maxID}
	ticketParam   = param{name: "ticket_id", text: "ticket id", max: maxID}
	skuParam      = param{name: "sku", text: "stock keeping unit of a product", max: maxID}
	pageParam     = param{name: "page", text: "page number, 1 if absent", integer: true, max: maxPage, multiple: 1, optional: true}
)

// describe returns the descriptions of tools. The caller owns the result.
func describe(tools []tool) []envharness.Tool {
	out := make([]envharness.Tool, len(tools))
	for i := range tools {
		t := &tools[i]
		out[i] = envharness.Tool{
			Name: t.name, Description: t.text, Schema: t.schema(), ReadOnly: !t.write && !t.submits, Submits: t.submits,
		}
	}
	return out
}

// tool returns the tool with the name, or nil.
func (p *preset) tool(name string) *tool {
	for i := range p.tools {
		if p.tools[i].name == name {
			return &p.tools[i]
		}
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
			b = append(b, `,"minimum":1`...)
			if p.multiple > 1 {
				b = appendInt(b, `,"multipleOf":`, p.multiple)
			}
			b = append(b, `,"type":"integer"}`...)
		case p.enum != nil:
			b = appendEach(b, `,"enum":`, p.enum, quote)
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
	b = appendEach(b, `},"required":`, required, quote)
	return append(b, `,"type":"object"}`...)
}

// arguments are the arguments of a call in the order of params, integers in decimal. An empty one, at the end only, is
// left out.
type arguments [3]string

func call(name string, args ...string) envharness.Action {
	var a arguments
	copy(a[:], args)
	return envharness.Action{Name: name, Args: full.tool(name).appendArgs(nil, &a)}
}

// appendArgs writes arguments as canonical JSON. All strings are values of generated worlds, in which nothing needs an
// escape.
func (t *tool) appendArgs(b []byte, args *arguments) []byte {
	for i := range t.params {
		if args[i] == "" {
			break
		}
		p := &t.params[i]
		b = append(b, "{,"[min(i, 1)], '"')
		b = append(b, p.name...)
		b = append(b, '"', ':')
		if p.integer {
			b = append(b, args[i]...)
		} else {
			b = append(append(append(b, '"'), args[i]...), '"')
		}
	}
	return append(b, '}')
}
