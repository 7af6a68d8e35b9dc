package tooldesk

// The texts of the full desk: replies as JSON.

// tellReply writes the reply to the last call, or the opening where there was none.
func tellReply(e *episode, b []byte) []byte {
	out := &e.outcome
	if r := out.refusal; r != nil {
		class := string(r.Class)
		b = appendString(b, `{"error":{"class":`, class)
		return append(appendString(b, `,"message":`, r.Message), "}}"...)
	}
	if out.tool == nil {
		return append(b, e.task.preset.opening(e.task)...)
	}
	return out.tool.reply(b, e)
}

func replyCustomer(b []byte, e *episode) []byte { return e.outcome.customer.appendJSON(b) }

func appendBool(b []byte, key string, v bool) []byte {
	b = append(b, key...)
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}

func replyOrders(b []byte, e *episode) []byte {
	out := &e.outcome
	b = appendString(b, `{"customer_id":`, out.customer.ID)
	b = appendInt(b, `,"page":`, out.page)
	b = append(b, `,"orders":[`...)
	for i, c := range out.sheet.list {
		if i > 0 {
			b = append(b, ',')
		}
		o := e.world.order(c.value)
		b = appendString(b, `{"order_id":`, o.ID)
		b = appendString(b, `,"status":`, o.Status)
		b = append(b, `,"items":"`...)
		for k := range o.Lines {
			if k > 0 {
				b = append(b, ", "...)
			}
			b = append(b, o.Lines[k].Name...) // of products, which are plain
		}
		b = append(b, `"}`...)
	}
	return append(appendBool(b, `],"has_more":`, out.sheet.next != nil), '}')
}

func replyOrder(b []byte, e *episode) []byte {
	o := e.outcome.order
	b = appendString(b, `{"order_id":`, o.ID)
	b = appendString(b, `,"customer_id":`, o.Customer)
	b = appendString(b, `,"status":`, o.Status)
	b = appendInt(b, `,"paid_cents":`, o.Paid)
	b = appendInt(b, `,"refunded_cents":`, o.Refunded)
	b = appendString(b, `,"address":`, o.Address)
	b = appendEach(b, `,"lines":`, o.Lines, (*line).appendJSON)
	b = appendInt(b, `,"refundable_cents":`, o.Paid-o.Refunded)
	if o.Status == delivered {
		b = appendInt(b, `,"delivered_day":`, o.Delivered)
	}
	if o.Reason != "" {
		b = appendString(b, `,"cancel_reason":`, o.Reason)
	}
	if o.Status == delivered {
		window := "closed"
		if e.world.refundable(o) {
			window = "open"
		}
		b = appendString(b, `,"refund_window":`, window)
	}
	return append(b, '}')
}

func replyProduct(b []byte, e *episode) []byte {
	p := e.outcome.product
	availability := "out of stock"
	if p.Stock > 0 {
		availability = "in stock"
	}
	b = p.appendJSON(b)
	return append(appendString(b[:len(b)-1], `,"availability":`, availability), '}')
}

func replyTickets(b []byte, e *episode) []byte {
	out := &e.outcome
	b = appendString(b, `{"customer_id":`, out.customer.ID)
	b = appendInt(b, `,"page":`, out.page)
	b = append(b, `,"tickets":[`...)
	for i, c := range out.sheet.list {
		if i > 0 {
			b = append(b, ',')
		}
		t := e.world.ticket(c.value)
		b = appendString(b, `{"ticket_id":`, t.ID)
		b = appendString(b, `,"status":`, t.Status)
		b = append(appendInt(b, `,"opened_day":`, t.Opened), '}')
	}
	return append(appendBool(b, `],"has_more":`, out.sheet.next != nil), '}')
}

func replyTicket(b []byte, e *episode) []byte {
	t := e.outcome.ticket
	b = t.appendHead(b)
	if t.Note != "" {
		b = appendString(b, `,"note":`, t.Note)
	}
	return append(b, '}')
}

func replyCancelled(b []byte, e *episode) []byte {
	o := e.outcome.order
	b = appendString(b, `{"order_id":`, o.ID)
	b = appendString(b, `,"status":`, o.Status)
	return append(appendInt(b, `,"refunded_cents":`, o.Refunded), '}')
}

func replyAddress(b []byte, e *episode) []byte {
	b = appendString(b, `{"order_id":`, e.outcome.order.ID)
	return append(appendString(b, `,"address":`, e.outcome.order.Address), '}')
}

func replyExchanged(b []byte, e *episode) []byte {
	b = appendString(b, `{"order_id":`, e.outcome.order.ID)
	b = appendString(b, `,"sku":`, e.outcome.given.SKU)
	b = appendString(b, `,"new_sku":`, e.outcome.product.SKU)
	return append(appendInt(b, `,"paid_cents":`, e.outcome.order.Paid), '}')
}

func replyRefunded(b []byte, e *episode) []byte {
	b = appendString(b, `{"order_id":`, e.outcome.order.ID)
	b = appendInt(b, `,"amount_cents":`, e.outcome.amount)
	return append(appendInt(b, `,"refunded_cents":`, e.outcome.order.Refunded), '}')
}

func replyResolved(b []byte, e *episode) []byte {
	b = appendString(b, `{"ticket_id":`, e.outcome.ticket.ID)
	return append(appendString(b, `,"status":`, e.outcome.ticket.Status), '}')
}

func replyTransferred(b []byte, e *episode) []byte {
	return e.world.Transfers[len(e.world.Transfers)-1].appendJSON(b)
}

func replySubmitted(b []byte, _ *episode) []byte { return append(b, `{"status":"submitted"}`...) }
