package tooldesk

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// An episode is a task being worked on: the tables, what the desk remembers of the conversation, and what was shown so
// far.
type episode struct {
	task    *task
	world   *world
	session session
	memory  memory
	turn    int
	over    bool // submitted or out of turns

	reply   string // text of the last observation; empty if nobody has asked for that of a start, see text
	calls   []past // since the reset; what a setup did has to be told to whoever takes over
	rewound []int  // the number of calls at each rewind

	offers offers
}

// A past call is one that was made, with its reply.
type past struct{ name, args, reply string }

// A session is what the desk remembers of the conversation. The verifier reads none of it but the answer.
type session struct {
	Verified []string `json:"verified"` // customers found by e-mail, sorted
	Read     []string `json:"read"`     // ids of the orders, products and tickets shown in full, sorted
	Written  []string `json:"written"`  // what the writes carried out so far have handled, in order
	Answer   *string  `json:"answer"`   // nil until submitted
}

func newEpisode(t *task) *episode {
	return &episode{
		task: t, world: t.start.share(), session: session{Verified: []string{}, Read: []string{}, Written: []string{}},
		memory: t.named.clone(),
	}
}

// clone makes a copy whose tables and session can be written to; what was shown and said is left behind.
func (e *episode) clone() *episode {
	c := *e
	c.world = e.world.clone()
	c.session.Verified = slices.Clone(e.session.Verified)
	c.session.Read = slices.Clone(e.session.Read)
	c.session.Written = slices.Clone(e.session.Written)
	c.memory, c.offers, c.calls, c.rewound = memory{}, offers{}, nil, nil
	return &c
}

// step uses one turn for the action and keeps the reply. A refused action changes nothing else.
func (e *episode) step(a envharness.Action) *envharness.ActionError {
	reply, refusal := e.apply(a)
	if refusal != nil {
		reply = struct {
			Error *envharness.ActionError `json:"error"`
		}{refusal}
	}
	e.reply = marshal(reply)
	e.calls = append(e.calls, past{a.Name, string(a.Args), e.reply})
	return refusal
}

// rewind makes what was done part of the start.
func (e *episode) rewind() error {
	if e.over {
		return envharness.ErrEpisodeOver
	}
	e.turn, e.rewound, e.reply = 0, append(e.rewound, len(e.calls)), ""
	return nil
}

// text is the last reply, or what a start shows: the message, and below it what was done before a rewind.
func (e *episode) text() string {
	if e.reply != "" {
		return e.reply
	}
	var b strings.Builder
	b.WriteString(e.task.opening)
	for i, c := range e.calls {
		if i == 0 {
			b.WriteString("\nDone so far:")
		}
		b.WriteString("\n" + c.name + " " + c.args + " -> " + c.reply)
	}
	e.reply = b.String()
	return e.reply
}

// observation shows the text, the customer's message as Data["task"], and the candidate calls unless the episode is over.
func (e *episode) observation() envharness.Observation {
	o := envharness.Observation{Text: e.text(), Data: map[string]any{"task": e.task.text}}
	if !e.over {
		o.Actions = e.candidates()
	}
	return o
}

// apply is step without the reply.
func (e *episode) apply(a envharness.Action) (any, *envharness.ActionError) {
	e.turn++
	reply, refusal := e.do(a)
	e.over = e.session.Answer != nil || e.turn >= MaxTurns
	return reply, refusal
}

func (e *episode) do(a envharness.Action) (any, *envharness.ActionError) {
	t := toolNamed(a.Name)
	if t == nil {
		return nil, refuse(envharness.ClassUnknownTool, "no tool named %q", clip(a.Name))
	}
	in, refusal := t.parse(a.Args)
	if refusal != nil {
		return nil, refusal
	}
	return t.run(e, in)
}

// passed reports whether the tables are those of the gold writes, and whether the answer names all it has to.
func (e *episode) passed() (db, comm bool) {
	comm = e.session.Answer != nil
	for _, want := range e.task.required {
		comm = comm && mentions(*e.session.Answer, want)
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

// marshal writes v as JSON without the escapes for HTML.
func marshal(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // replies are structs of strings, integers and booleans
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// insert adds s to the sorted set.
func insert(set []string, s string) []string {
	i, found := slices.BinarySearch(set, s)
	if found {
		return set
	}
	return slices.Insert(set, i, s)
}

func contains(set []string, s string) bool {
	_, found := slices.BinarySearch(set, s)
	return found
}

func (e *episode) customer(id string) *envharness.ActionError {
	if e.world.customer(id) == nil {
		return refuse(envharness.ClassNotFound, "no customer %q", id)
	}
	return nil
}

func (e *episode) order(id string) (*order, *envharness.ActionError) {
	if o := e.world.order(id); o != nil {
		return o, nil
	}
	return nil, refuse(envharness.ClassNotFound, "no order %q", id)
}

func (e *episode) ticket(id string) (*ticket, *envharness.ActionError) {
	if t := e.world.ticket(id); t != nil {
		return t, nil
	}
	return nil, refuse(envharness.ClassNotFound, "no ticket %q", id)
}

// changeable finds an order of a known customer with the status that a change needs.
func (e *episode) changeable(id, status string) (*order, *envharness.ActionError) {
	o, refusal := e.order(id)
	if refusal == nil {
		refusal = e.verified(o.Customer)
	}
	if refusal == nil && o.Status != status {
		refusal = refuse(envharness.ClassPrecondition, "order %s is %s, not %s", id, o.Status, status)
	}
	return o, refusal
}

// verified lets a write pass only for a customer who was looked up in this episode.
func (e *episode) verified(customer string) *envharness.ActionError {
	if contains(e.session.Verified, customer) {
		return nil
	}
	return refuse(envharness.ClassPermission, "customer %s has not been looked up with find_customer", customer)
}
