package tooldesk

// The wordings of requests. T7 draws from those of T1 to T4. No word occurs in all wordings of one kind and in none of
// another kind, what fills the blanks aside, so that a message has to be read as a whole.

var greetings = []string{
	"Hello, this is {name}, my e-mail address is {email}.",
	"Hi! I am {name} and my account is under {email}.",
	"Good morning, {name} here. You will find me as {email}.",
	"{name} writes from {email}:",
	"Dear team, I have an account with {email} ({name}).",
}

var joints = []string{"And one more thing.", "Besides, I have a second request.", "While you are at it:", "Also, please look at this."}

var cancelPhrases = []string{
	"Please cancel order {order}, {why}.",
	"My reason for calling off {order} before it leaves your house: {why}.",
	"I want to stop order {order}: {why}.",
	"Order {order} should not be sent any more, {why}.",
	"Please take {order} out of the queue and give me my money back, {why}.",
}

var cancelUnnamed = []string{
	"Please cancel the order with the {item}, {why}.",
	"My reason for calling off the {item} that I am waiting for: {why}.",
	"I want to stop the order that has the {item} in it: {why}.",
	"The order of the {item} should not be sent any more, {why}.",
}

// cancelWords holds wordings of the reasons, in the order of cancelReasons.
var cancelWords = [][]string{
	{"I do not need it any longer", "my plans have changed and it is not needed now", "I found that I can do without it"},
	{"I ordered it by mistake", "I pressed the wrong button", "my child bought it by accident"},
}

var addressPhrases = []string{
	"Please send order {order} to {address}.",
	"I have moved. Can {order} go to {address} instead?",
	"The delivery address of {order} is wrong, it should read {address}.",
	"Could {order} be delivered to my office? It is at {address}.",
	"I will be staying at {address}, so {order} has to arrive there.",
}

var addressUnnamed = []string{
	"Please send the order that is still pending to {address}.",
	"I have moved. Can the order that is on its way go to {address} instead?",
	"The delivery address of my open order is wrong, it should read {address}.",
	"I will be staying at {address}, so what I am waiting for has to arrive there.",
}

var exchangePhrases = []string{
	"The {item} from order {order} does not suit me, can I swap it for {sku}?",
	"I would like to exchange the {item} in {order} for {sku}.",
	"Please send me {sku} and take the {item} of {order} back.",
	"I picked the wrong {item} in {order} and would rather have {sku}.",
	"Could the {item} that came with {order} be replaced by {sku}?",
}

var refundItem = []string{
	"The {item} in order {order} arrived broken, I want my money back for it.",
	"Please refund the {item} from {order}, it never worked.",
	"One piece of order {order}, the {item}, was damaged. Can you pay it back?",
}

var refundRest = []string{
	"Please pay back all that is left of order {order}.",
	"I send everything from {order} back and want the full remaining amount refunded.",
	"Nothing in order {order} is as described, I want all the remaining money back.",
}

var refundAmount = []string{
	"You promised me {amount} cents back for the late delivery of order {order}.",
	"Order {order} came a week late, please refund {amount} cents as agreed.",
	"As settled on the phone, {amount} cents of {order} should be returned to me.",
}

var ticketPhrases = []string{
	"Please do what my ticket {ticket} asks for and close it.",
	"Nobody has looked at {ticket} yet, could you handle it?",
	"I am still waiting for an answer to {ticket}, please settle it.",
	"Can you work through ticket {ticket}?",
}

var ticketUnnamed = []string{
	"Please do what my open ticket asks for and close it.",
	"Nobody has looked at the ticket that I opened, could you handle it?",
	"I wrote to you and am still waiting, please settle my support case.",
	"Can you work through what I sent to support?",
}
