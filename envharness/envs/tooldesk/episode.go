package tooldesk

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// An episode is a task being worked on: the tables, what the desk remembers of the conversation, and what was shown so
// far.
type episode struct {
	task    *task
	world   world
	session session
	answer  *string // nil until submitted
	memory  memory
	seen    seen

	outcome outcome
	text    string // of the outcome; empty if nobody has asked for it yet
	offers  offers
	way     int        // how many of the gold actions were called, and nothing else; -1 if something else was
	drafts  *sync.Pool // of *draft

	refusal *envharness.ActionError // the last one, for the next if that is the same
	inputs  inputs
}

// narrated is an episode whose texts tell what the last call led to.
type narrated struct{ *episode }

// Opening implements [sim.Narrator].
func (n narrated) Opening() string { return n.task.opening }

// A session is what the desk remembers of the conversation. The verifier reads none of it.
type session struct {
	Verified []string `json:"verified"` // customers found by e-mail, sorted
	Read     []string `json:"read"`     // ids of the orders, products and tickets shown in full, sorted
	Written  []string `json:"written"`  // what the writes carried out so far have handled, in order
}

// An outcome is what the last call led to, as far as its reply needs it. Rows are those of the tables at that time.
type outcome struct {
	tool    *tool                   // nil before the first call, and after one of no tool
	refusal *envharness.ActionError // nil if it was carried out
	rule    string                  // that was broken, one of ruleWords

	customer       *customer
	order          *order
	ticket         *ticket
	product, given *product
	page, amount   int
	sheet          *sheet                  // of a list
	told           *atomic.Pointer[string] // where the task keeps the text, nil if it does not
}

// seen are the reads that the text of the small desk tells: of each sort the newest. An order may be one or a customer's list of them, and so
// may a ticket.
type seen struct {
	order, ordersOf   string
	ticket, ticketsOf string
	sku               string
}

func newEpisode(t *task, drafts *sync.Pool) *episode {
	return &episode{
		task: t, world: t.start.share(), session: session{Verified: []string{}, Read: []string{}, Written: []string{}},
		memory: t.named.share(), text: t.opening, offers: t.first, drafts: drafts,
	}
}

// Step implements [sim.Episode]. A submit ends the episode, with the reward 1 if it passes.
func (e *episode) Step(a envharness.Action) sim.Result {
	r := sim.Result{Refusal: e.do(a)}
	if e.answer != nil {
		r.Ended = true
		if db, comm := e.passed(); db && comm {
			r.Reward = 1
		}
	}
	return r
}

// do carries out a call or refuses it.
func (e *episode) do(a envharness.Action) *envharness.ActionError {
	t := e.task.preset.tool(a.Name)
	e.outcome, e.text = outcome{tool: t}, ""
	switch {
	case t == nil:
		e.outcome.refusal, e.outcome.rule = rules.UnknownTool(a.Name), ruleTool
	default:
		if broken := t.parse(a.Args, &e.inputs); broken != "" {
			e.refuse(envharness.ClassBadArgs, ruleArguments, broken)
		} else {
			t.run(e, &e.inputs)
		}
		e.inputs = inputs{} // arguments may not be kept
	}
	if e.way >= 0 && e.way < len(e.task.way) && sameCall(a, e.task.gold[e.way]) {
		e.way++
	} else {
		e.way = -1
	}
	return e.outcome.refusal
}

// quoted is what somebody sent, as a message quotes it.
func quoted(s string) string { return fmt.Sprintf("%q", sim.Clip(s)) }

// refuse says why a call is refused, in the parts of a message and in one word. Nothing may have been written.
func (e *episode) refuse(class envharness.ErrorClass, rule string, message ...string) *envharness.ActionError {
	b := make([]byte, 0, 128)
	for _, m := range message {
		b = append(b, m...)
	}
	if e.refusal == nil || e.refusal.Class != class || e.refusal.Message != string(b) {
		e.refusal = &envharness.ActionError{Class: class, Message: string(b)}
	}
	e.outcome.refusal, e.outcome.rule = e.refusal, rule
	return e.refusal
}

// Text implements [sim.Episode].
func (e *episode) Text() string {
	if e.text == "" {
		if told := e.outcome.told; told == nil || !e.task.preset.replies {
			e.text = e.written()
		} else {
			e.text = *keep(told, func() *string { return new(e.written()) })
		}
	}
	return e.text
}

func (e *episode) written() string {
	d := e.drafts.Get().(*draft)
	d.bytes = e.task.preset.tell(e, d.bytes[:0])
	text := string(d.bytes)
	e.drafts.Put(d)
	return text
}

// Data implements [sim.Episode]: the customer's message as "task".
func (e *episode) Data() map[string]any { return e.task.data }

// Actions implements [sim.Episode].
func (e *episode) Actions() []envharness.Action { return e.candidates() }

// Verdict implements [sim.Episode]. It compares the tables with those that the gold actions leave (part db), and the submitted answer with
// the words that it needs (part comm). The score is the product of both. Notes of tickets and the session have no say.
func (e *episode) Verdict() envharness.Verdict {
	v := envharness.Verdict{Status: envharness.Fail, Parts: map[string]float64{"db": 0, "comm": 0}}
	if e.answer == nil {
		v.Reason = "nothing was submitted"
		return v
	}
	db, comm := e.passed()
	if db {
		v.Parts["db"] = 1
	}
	if comm {
		v.Parts["comm"] = 1
	}
	switch {
	case db && comm:
		v.Status, v.Score = envharness.Pass, 1
	case db:
		v.Reason = fmt.Sprintf("the answer does not name all of %q", e.task.required)
	default:
		v.Reason = "the tables differ from those of the solution"
	}
	return v
}

// passed reports whether the tables are those of the gold writes, and whether the answer names all it has to.
func (e *episode) passed() (db, comm bool) {
	comm = e.answer != nil
	for _, want := range e.task.required {
		comm = comm && mentions(*e.answer, want)
	}
	return e.world.equal(e.task.end), comm
}

// mentions reports whether the text holds the word, letter case aside, with no letter or digit directly before or after
// it.
func mentions(text, word string) bool {
	text, word = strings.ToLower(text), strings.ToLower(word)
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !alphanumeric(before) && !alphanumeric(after) {
			return true
		}
		from = i + 1
	}
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// insert adds s to the sorted set.
func insert(set []string, s string) []string {
	i, found := slices.BinarySearch(set, s)
	if found {
		return set
	}
	if cap(set) == 0 {
		set = make([]string, 0, 4)
	}
	return slices.Insert(set, i, s)
}

func contains(set []string, s string) bool {
	_, found := slices.BinarySearch(set, s)
	return found
}

// The words by which the small desk tells which rule was broken.
const (
	ruleTool       = "tool"
	ruleArguments  = "arguments"
	ruleUnknown    = "unknown"
	rulePermission = "permission"
	ruleStatus     = "status"
	ruleItem       = "item"
	ruleDuplicate  = "duplicate"
	ruleFamily     = "family"
	ruleStock      = "stock"
	ruleBalance    = "balance"
	ruleWindow     = "window"
	ruleAmount     = "amount"
)

var ruleWords = []string{
	ruleTool, ruleArguments, ruleUnknown, rulePermission, ruleStatus, ruleItem, ruleDuplicate, ruleFamily, ruleStock, ruleBalance, ruleWindow,
	ruleAmount,
}

// The functions below find a row, or refuse the call.

func (e *episode) product(sku []byte) (*product, *envharness.ActionError) {
	if i := find(e.world.Products, sku, productID); i >= 0 {
		return e.world.Products[i], nil
	}
	return nil, e.noProduct(string(sku))
}

func (e *episode) ticket(id []byte) (*ticket, *envharness.ActionError) {
	if i := find(e.world.Tickets, id, ticketID); i >= 0 {
		return e.world.Tickets[i], nil
	}
	return nil, e.noTicket(string(id))
}

func (e *episode) noCustomer(id string) *envharness.ActionError {
	return e.refuse(envharness.ClassNotFound, ruleUnknown, "no customer ", quoted(id))
}

func (e *episode) noOrder(id string) *envharness.ActionError {
	return e.refuse(envharness.ClassNotFound, ruleUnknown, "no order ", quoted(id))
}

func (e *episode) noProduct(sku string) *envharness.ActionError {
	return e.refuse(envharness.ClassNotFound, ruleUnknown, "no product with sku ", quoted(sku))
}

func (e *episode) noTicket(id string) *envharness.ActionError {
	return e.refuse(envharness.ClassNotFound, ruleUnknown, "no ticket ", quoted(id))
}

// changeable finds an order of a known customer with the status that a change needs.
func (e *episode) changeable(id []byte, status string) (*order, *envharness.ActionError) {
	i := find(e.world.Orders, id, orderID)
	if i < 0 {
		return nil, e.noOrder(string(id))
	}
	o := e.world.Orders[i]
	if refusal := e.verified(o.Customer); refusal != nil {
		return nil, refusal
	}
	if o.Status == status {
		return o, nil
	}
	make := func() *refusal {
		return &refusal{ActionError: envharness.ActionError{
			Class: envharness.ClassPrecondition, Message: "order " + o.ID + " is " + o.Status + ", not " + status,
		}}
	}
	if o != e.task.start.Orders[i] {
		return nil, e.refuseAgain(make(), ruleStatus)
	}
	place := &e.task.shelf.statuses[2*i]
	if status == delivered {
		place = &e.task.shelf.statuses[2*i+1]
	}
	return nil, e.refuseAgain(keep(place, make), ruleStatus)
}

// verified lets a write pass only for a customer who was looked up in this episode.
func (e *episode) verified(customer string) *envharness.ActionError {
	if contains(e.session.Verified, customer) {
		return nil
	}
	make := func() *refusal {
		return &refusal{ActionError: envharness.ActionError{
			Class: envharness.ClassPermission, Message: "customer " + customer + " has not been looked up with find_customer",
		}}
	}
	return e.refuseAgain(ofRow(e.task.shelf.permissions, e.task.start.Customers, customer, customerID, make), rulePermission)
}

// refuseAgain is refuse with a refusal that may have been made before.
func (e *episode) refuseAgain(r *refusal, rule string) *envharness.ActionError {
	e.outcome.refusal, e.outcome.rule, e.outcome.told = &r.ActionError, rule, &r.text
	return &r.ActionError
}
