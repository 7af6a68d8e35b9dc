package tooldesk

import (
	"slices"
	"strings"
)

// A wording is how customers of one sort of desk put things. T7 draws from the phrases of T1 to T4.
type wording struct {
	greetings, joints               []string // what a message begins with, and what leads over to a second request
	cancel, cancelUnnamed           []string
	why                             [][]string // wordings of the reasons, in the order of cancelReasons
	address, addressUnnamed         []string
	exchange                        []string
	refundItem, refundRest, refunds []string
	ticket, ticketUnnamed           []string
}

// all returns the phrases without their blanks.
func (w *wording) all() []string {
	list := slices.Concat(w.greetings, w.joints, w.cancel, w.cancelUnnamed, slices.Concat(w.why...), w.address, w.addressUnnamed, w.exchange,
		w.refundItem, w.refundRest, w.refunds, w.ticket, w.ticketUnnamed)
	for i, phrase := range list {
		for strings.Contains(phrase, "{") {
			head, tail, _ := strings.Cut(phrase, "{")
			_, tail, _ = strings.Cut(tail, "}")
			phrase = head + tail
		}
		list[i] = phrase
	}
	return list
}

// sentences are the wording of the full desk. No word occurs in all phrases of one kind and in none of another kind, what fills the blanks
// aside, so that a message has to be read as a whole.
var sentences = wording{
	greetings: []string{
		"Hello, this is {name}, my e-mail address is {email}.",
		"Hi! I am {name} and my account is under {email}.",
		"Good morning, {name} here. You will find me as {email}.",
		"{name} writes from {email}:",
		"Dear team, I have an account with {email} ({name}).",
	},
	joints: []string{"And one more thing.", "Besides, I have a second request.", "While you are at it:", "Also, please look at this."},
	cancel: []string{
		"Please cancel order {order}, {why}.",
		"My reason for calling off {order} before it leaves your house: {why}.",
		"I want to stop order {order}: {why}.",
		"Order {order} should not be sent any more, {why}.",
		"Please take {order} out of the queue and give me my money back, {why}.",
	},
	cancelUnnamed: []string{
		"Please cancel the order with the {item}, {why}.",
		"My reason for calling off the {item} that I am waiting for: {why}.",
		"I want to stop the order that has the {item} in it: {why}.",
		"The order of the {item} should not be sent any more, {why}.",
	},
	why: [][]string{
		{"I do not need it any longer", "my plans have changed and it is not needed now", "I found that I can do without it"},
		{"I ordered it by mistake", "I pressed the wrong button", "my child bought it by accident"},
	},
	address: []string{
		"Please send order {order} to \"{address}\".",
		"I have moved. Can {order} go to \"{address}\" instead?",
		"The delivery address of {order} is wrong, it should read \"{address}\".",
		"Could {order} be delivered to my office? It is at \"{address}\".",
		"I will be staying at \"{address}\", so {order} has to arrive there.",
	},
	addressUnnamed: []string{
		"Please send the order that is still pending to \"{address}\".",
		"I have moved. Can the order that is on its way go to \"{address}\" instead?",
		"The delivery address of my open order is wrong, it should read \"{address}\".",
		"I will be staying at \"{address}\", so what I am waiting for has to arrive there.",
	},
	exchange: []string{
		"The {item} from order {order} does not suit me, can I swap it for {sku}?",
		"I would like to exchange the {item} in {order} for {sku}.",
		"Please send me {sku} and take the {item} of {order} back.",
		"I picked the wrong {item} in {order} and would rather have {sku}.",
		"Could the {item} that came with {order} be replaced by {sku}?",
	},
	refundItem: []string{
		"The {item} in order {order} arrived broken, I want my money back for it.",
		"Please refund the {item} from {order}, it never worked.",
		"One piece of order {order}, the {item}, was damaged. Can you pay it back?",
	},
	refundRest: []string{
		"Please pay back all that is left of order {order}.",
		"I send everything from {order} back and want the full remaining amount refunded.",
		"Nothing in order {order} is as described, I want all the remaining money back.",
	},
	refunds: []string{
		"You promised me {amount} cents back for the late delivery of order {order}.",
		"Order {order} came a week late, please refund {amount} cents as agreed.",
		"As settled on the phone, {amount} cents of {order} should be returned to me.",
	},
	ticket: []string{
		"Please do what my ticket {ticket} asks for and close it.",
		"Nobody has looked at {ticket} yet, could you handle it?",
		"I am still waiting for an answer to {ticket}, please settle it.",
		"Can you work through ticket {ticket}?",
	},
	ticketUnnamed: []string{
		"Please do what my open ticket asks for and close it.",
		"Nobody has looked at the ticket that I opened, could you handle it?",
		"I wrote to you and am still waiting, please settle my support case.",
		"Can you work through what I sent to support?",
	},
}

// words are the wording of the small desk, in as few words as will do.
var words = wording{
	greetings:      []string{"{email}:"},
	joints:         []string{"and"},
	cancel:         []string{"cancel {order} {why}", "stop {order} {why}"},
	cancelUnnamed:  []string{"cancel order with {part} {why}", "stop order with {part} {why}"},
	why:            [][]string{{"unneeded", "needless"}, {"mistake", "accident"}},
	address:        []string{"send {order} to {address}", "ship {order} to {address}"},
	addressUnnamed: []string{"send pending order to {address}", "ship pending order to {address}"},
	exchange:       []string{"swap {order} {part} for {sku}", "exchange {order} {part} for {sku}"},
	refundItem:     []string{"refund {part} of {order}", "repay {part} of {order}"},
	refundRest:     []string{"refund rest of {order}", "repay rest of {order}"},
	refunds:        []string{"refund {amount} of {order}", "repay {amount} of {order}"},
	ticket: []string{"do {ticket}", "finish {ticket}", "do ticket {ticket}", "finish ticket {ticket}", "do open {ticket}",
		"finish open {ticket}", "do open ticket {ticket}", "finish open ticket {ticket}"},
	ticketUnnamed: []string{"do open ticket", "finish open ticket", "do ticket", "finish ticket"},
}
