package tooldesk

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// The state is written several times an episode and is long, so it is written here and not by encoding/json, byte for byte the same. A
// table that is as it was at the start, which most are, has been written once for all episodes of the task.

// written holds the tables as parts of the state in JSON.
type written struct{ customers, products, orders, tickets []byte }

func write(w *world) *written {
	b := make([]byte, 0, 16<<10)
	var ends [4]int
	b = appendRows(b, `{"customers":`, w.Customers, (*customer).appendJSON)
	ends[0] = len(b)
	b = appendRows(b, `,"products":`, w.Products, (*product).appendJSON)
	ends[1] = len(b)
	b = appendRows(b, `,"orders":`, w.Orders, (*order).appendJSON)
	ends[2] = len(b)
	b = appendRows(b, `,"tickets":`, w.Tickets, (*ticket).appendJSON)
	ends[3] = len(b)
	b = slices.Clone(b) // of the right size, as it is kept
	return &written{b[:ends[0]:ends[0]], b[ends[0]:ends[1]:ends[1]], b[ends[1]:ends[2]:ends[2]], b[ends[2]:ends[3]:ends[3]]}
}

// state is the episode as the JSON object that State returns.
func (e *episode) state() envharness.State {
	parts := e.stateParts()
	return slices.Concat(parts[:]...)
}

// inState reports whether the state is these bytes.
func (e *episode) inState(s envharness.State) bool {
	rest := []byte(s)
	for _, part := range e.stateParts() {
		var ok bool
		if rest, ok = bytes.CutPrefix(rest, part); !ok {
			return false
		}
	}
	return len(rest) == 0
}

// stateParts is the state in pieces. They are not to be changed: some are those of the task.
func (e *episode) stateParts() [5][]byte {
	w, start, done := e.world, e.task.start, e.task.written
	parts := [5][]byte{done.customers, done.products, done.orders, done.tickets}
	if !slices.Equal(w.Products, start.Products) {
		parts[1] = appendRows(make([]byte, 0, len(parts[1])+64), `,"products":`, w.Products, (*product).appendJSON)
	}
	if !slices.EqualFunc(w.Orders, start.Orders, order.equal) {
		parts[2] = appendRows(make([]byte, 0, len(parts[2])+256), `,"orders":`, w.Orders, (*order).appendJSON)
	}
	if !slices.Equal(w.Tickets, start.Tickets) {
		parts[3] = appendRows(make([]byte, 0, len(parts[3])+256), `,"tickets":`, w.Tickets, (*ticket).appendJSON)
	}
	b := appendRows(make([]byte, 0, 512), `,"transfers":`, w.Transfers, (*transfer).appendJSON)
	b = appendInt(b, `,"today":`, w.Today)
	b = e.session.appendJSON(append(b, `,"session":`...))
	parts[4] = append(appendInt(b, `,"turn":`, e.turn), '}')
	return parts
}

func appendRows[T any](b []byte, key string, rows []T, row func(*T, []byte) []byte) []byte {
	b = append(b, key...)
	if rows == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = row(&rows[i], b)
	}
	return append(b, ']')
}

func (c *customer) appendJSON(b []byte) []byte {
	b = appendString(b, `{"customer_id":`, c.ID)
	b = appendString(b, `,"name":`, c.Name)
	b = appendString(b, `,"email":`, c.Email)
	return append(appendString(b, `,"address":`, c.Address), '}')
}

func (p *product) appendJSON(b []byte) []byte {
	b = appendString(b, `{"sku":`, p.SKU)
	b = appendString(b, `,"name":`, p.Name)
	b = appendString(b, `,"family":`, p.Family)
	b = appendInt(b, `,"price_cents":`, p.Cents)
	return append(appendInt(b, `,"stock":`, p.Stock), '}')
}

func (o *order) appendJSON(b []byte) []byte {
	b = appendString(b, `{"order_id":`, o.ID)
	b = appendString(b, `,"customer_id":`, o.Customer)
	b = appendString(b, `,"status":`, o.Status)
	b = appendRows(b, `,"lines":`, o.Lines, (*line).appendJSON)
	b = appendInt(b, `,"paid_cents":`, o.Paid)
	b = appendInt(b, `,"refunded_cents":`, o.Refunded)
	b = appendInt(b, `,"delivered_day":`, o.Delivered)
	b = appendString(b, `,"address":`, o.Address)
	return append(appendString(b, `,"cancel_reason":`, o.Reason), '}')
}

func (l *line) appendJSON(b []byte) []byte {
	b = appendString(b, `{"sku":`, l.SKU)
	b = appendString(b, `,"name":`, l.Name)
	return append(appendInt(b, `,"price_cents":`, l.Cents), '}')
}

func (t *ticket) appendJSON(b []byte) []byte {
	b = appendString(b, `{"ticket_id":`, t.ID)
	b = appendString(b, `,"customer_id":`, t.Customer)
	b = appendString(b, `,"order_id":`, t.Order)
	b = appendString(b, `,"status":`, t.Status)
	b = appendInt(b, `,"opened_day":`, t.Opened)
	b = appendString(b, `,"body":`, t.Body)
	return append(appendString(b, `,"note":`, t.Note), '}')
}

func (t *transfer) appendJSON(b []byte) []byte {
	b = appendString(b, `{"customer_id":`, t.Customer)
	return append(appendString(b, `,"reason":`, t.Reason), '}')
}

func (s *session) appendJSON(b []byte) []byte {
	b = appendRows(b, `{"verified":`, s.Verified, quote)
	b = appendRows(b, `,"read":`, s.Read, quote)
	b = appendRows(b, `,"written":`, s.Written, quote)
	b = append(b, `,"answer":`...)
	if s.Answer == nil {
		b = append(b, "null"...)
	} else {
		b = quote(s.Answer, b)
	}
	return append(b, '}')
}

func appendInt(b []byte, key string, n int) []byte {
	return strconv.AppendInt(append(b, key...), int64(n), 10)
}

func appendString(b []byte, key, s string) []byte { return quote(&s, append(b, key...)) }

// quote writes a string. All that worlds are made of is plain; what a policy wrote may not be.
func quote(s *string, b []byte) []byte {
	if !plain(*s) {
		return append(b, marshal(*s)...)
	}
	return append(append(append(b, '"'), *s...), '"')
}

// plain reports whether JSON writes the text as it is.
func plain[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
