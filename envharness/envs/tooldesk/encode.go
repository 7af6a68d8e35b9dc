package tooldesk

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// States and replies are written here and not by encoding/json, byte for byte the same. A table that is as it was at the start, which most
// are, has been written once for all episodes of the task.

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

// AppendState implements [sim.Episode]. The state holds the tables customers, products, orders, tickets and transfers, the day number today,
// the answer, null until it is submitted, and the session: who was looked up, what was read and what was written.
func (e *episode) AppendState(b []byte) []byte {
	w, start, done := &e.world, e.task.start, e.task.written
	b = slices.Grow(b, len(done.customers)+len(done.products)+len(done.orders)+len(done.tickets)+1024)
	b = append(b, done.customers...)
	if !shared(w.Products, start.Products) {
		b = appendRows(b, `,"products":`, w.Products, (*product).appendJSON)
	} else {
		b = append(b, done.products...)
	}
	if !shared(w.Orders, start.Orders) {
		b = appendRows(b, `,"orders":`, w.Orders, (*order).appendJSON)
	} else {
		b = append(b, done.orders...)
	}
	if !shared(w.Tickets, start.Tickets) {
		b = appendRows(b, `,"tickets":`, w.Tickets, (*ticket).appendJSON)
	} else {
		b = append(b, done.tickets...)
	}
	b = appendEach(b, `,"transfers":`, w.Transfers, (*transfer).appendJSON)
	b = appendInt(b, `,"today":`, w.Today)
	b = append(b, `,"answer":`...)
	if e.answer == nil {
		b = append(b, "null"...)
	} else {
		b = quote(e.answer, b)
	}
	return append(e.session.appendJSON(append(b, `,"session":`...)), '}')
}

// shared reports whether two tables are one in memory.
func shared[T any](a, b []*T) bool { return len(a) == 0 || &a[0] == &b[0] }

func appendRows[T any](b []byte, key string, rows []*T, row func(*T, []byte) []byte) []byte {
	b = append(b, key...)
	b = append(b, '[')
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = row(r, b)
	}
	return append(b, ']')
}

// appendEach is appendRows for rows in place.
func appendEach[T any](b []byte, key string, rows []T, row func(*T, []byte) []byte) []byte {
	b = append(b, key...)
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
	b = appendEach(b, `,"lines":`, o.Lines, (*line).appendJSON)
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
	return append(appendString(t.appendHead(b), `,"note":`, t.Note), '}')
}

// appendHead writes all but the note.
func (t *ticket) appendHead(b []byte) []byte {
	b = appendString(b, `{"ticket_id":`, t.ID)
	b = appendString(b, `,"customer_id":`, t.Customer)
	b = appendString(b, `,"order_id":`, t.Order)
	b = appendString(b, `,"status":`, t.Status)
	b = appendInt(b, `,"opened_day":`, t.Opened)
	return appendString(b, `,"body":`, t.Body)
}

func (t *transfer) appendJSON(b []byte) []byte {
	b = appendString(b, `{"customer_id":`, t.Customer)
	return append(appendString(b, `,"reason":`, t.Reason), '}')
}

func (s *session) appendJSON(b []byte) []byte {
	b = appendEach(b, `{"verified":`, s.Verified, quote)
	b = appendEach(b, `,"read":`, s.Read, quote)
	return append(appendEach(b, `,"written":`, s.Written, quote), '}')
}

func appendInt(b []byte, key string, n int) []byte {
	return strconv.AppendInt(append(b, key...), int64(n), 10)
}

func appendString(b []byte, key, s string) []byte { return quote(&s, append(b, key...)) }

// quote writes a string. All that worlds are made of is plain; what a policy wrote may not be.
func quote(s *string, b []byte) []byte {
	if plain(*s) {
		return append(append(append(b, '"'), *s...), '"')
	}
	var escaped bytes.Buffer
	enc := json.NewEncoder(&escaped)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(*s) // a string is always encoded
	return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte("\n"))...)
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
