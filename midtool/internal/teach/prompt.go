package teach

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// How much of what went wrong goes back.
const (
	maxShown      = 16 << 10 // bytes of an answer
	maxViolations = 20
	maxDetail     = 300 // bytes of a violation
)

// A prompt asks for the words of one sample. Its text depends on the sample and on the answers rejected so far alone, and
// differs from the text before every answer: it counts them.
type prompt struct {
	texts    []int // messages to be written
	head     string
	rejected int
	answer   string // the last one rejected
	found    []midtool.Violation
}

func (p *prompt) reject(answer string, found []midtool.Violation) {
	p.rejected++
	p.answer, p.found = answer, found
}

func (p *prompt) text() string {
	if p.rejected == 0 {
		return p.head
	}
	var b strings.Builder
	b.WriteString(p.head)
	fmt.Fprintf(&b, "\nAnswers rejected so far: %d. The last one, as a JSON string:\n", p.rejected)
	shown := cut(p.answer, maxShown)
	line := jsonval.NewString(strings.ToValidUTF8(shown, "\uFFFD"))
	b.Write(line.Append(nil, jsonval.Compact))
	b.WriteString("\nWhat is wrong with it:\n")
	for i, v := range p.found {
		if i == maxViolations {
			fmt.Fprintf(&b, "- and %d more\n", len(p.found)-i)
			break
		}
		b.WriteString("- " + oneLine(cut(v.String(), maxDetail)) + "\n")
	}
	b.WriteString("Write all messages again, without these faults.\n")
	return b.String()
}

// cut takes at most n bytes of s, and no part of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for k := n; k > n-utf8.UTFMax; k-- {
		if utf8.RuneStart(s[k]) {
			return s[:k]
		}
	}
	return s[:n] // not UTF-8
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// tasks say what a sample of a family is about.
var tasks = map[midtool.Family]string{
	midtool.Single:          "The user wants one thing, which takes one call.",
	midtool.Parallel:        "The user wants several things at once, none of which needs another; the assistant calls for them in one turn.",
	midtool.Sequential:      "The user makes one request that takes several calls, later ones with what earlier ones returned.",
	midtool.MultiTurn:       "The user makes several requests, later ones building on what came before.",
	midtool.MissingInfo:     "The request leaves out what the call needs. The assistant asks, the user supplies it, the assistant calls.",
	midtool.MissingFunction: "No tool at hand does what the user wants, and the assistant says so. More are offered, and it calls.",
	midtool.Irrelevance:     "The user wants what no tool can do. The assistant says what is lacking and makes no call.",
	midtool.Recovery:        "A call fails. The assistant repairs it, tries again, or reports the failure.",
	midtool.Clarification:   "The request leaves out what the call needs. The assistant asks for it, and the conversation ends there.",
	midtool.QA:              "The user asks about the text shown. The assistant answers from it, word for word where it matters.",
	midtool.NoCall:          "The assistant answers without a call.",
}

const rules = `- Write English.
- Write as people do, each message anew: other words than those in place, the same meaning.
- Values keep their exact form: names, numbers, dates, codes.
- A user never says the name of a tool or its group, in any spelling, and says nothing that only a result can tell.
- A user message has 3 to 400 words, ends with ".", "?" or "!", and has no placeholders in braces.
- An assistant's text has no number that does not stand in a message before it, and makes up no facts.
- No markup, and no tags in angle brackets.
`

func newPrompt(s *midtool.Sample) *prompt {
	p := &prompt{texts: textsOf(s)}
	var b strings.Builder
	b.WriteString("Write the words of a conversation between a user and an assistant that calls tools. Calls and results are settled; " +
		"what the user and the assistant say is to be written.\n\nSample: ")
	b.WriteString(oneLine(s.ID))
	b.WriteString("\nTask: ")
	if task, ok := tasks[s.Family]; ok {
		b.WriteString(task)
	} else {
		b.WriteString("The assistant serves the user, with calls where they help.")
	}
	b.WriteString("\n\nTools, one JSON object a line:\n")
	tools(&b, s.Tools)
	b.WriteString("\nConversation, one JSON object a line; \"write\" marks the messages to be written, " +
		"with the words in place now:\n")
	for i := range s.Messages {
		message(&b, i, &s.Messages[i], slices.Contains(p.texts, i))
	}
	b.WriteString("\nWhat each message to be written does:\n")
	d := dutiesOf(s)
	for _, i := range p.texts {
		fmt.Fprintf(&b, "- Message %d, the %s: %s\n", i, s.Messages[i].Role, d.duty(i))
	}
	b.WriteString("\nRules:\n" + rules + "\nAnswer with one JSON object of this form and with nothing around it, each of the indexes once:\n")
	form := jsonval.NewList()
	for _, i := range p.texts {
		content := jsonval.NewString("...")
		form.List = append(form.List, jsonval.NewObject(jsonval.Pair("index", integer(i)), jsonval.Pair("content", content)))
	}
	object := jsonval.NewObject(jsonval.Pair("messages", form))
	b.Write(object.Append(nil, jsonval.Compact))
	b.WriteString("\n")
	p.head = b.String()
	return p
}

func integer(n int) jsonval.Value { return jsonval.Value{Kind: jsonval.Number, Text: strconv.Itoa(n)} }

func tools(b *strings.Builder, list []midtool.Tool) {
	for i := range list {
		b.Write(toolLine(&list[i]).Append(nil, jsonval.Display))
		b.WriteString("\n")
	}
}

func toolLine(t *midtool.Tool) *jsonval.Value {
	description := jsonval.NewString(t.Description)
	v := jsonval.NewObject(jsonval.Pair("name", jsonval.NewString(t.Name)), jsonval.Pair("description", description))
	if t.Group != "" {
		v.Members = append(v.Members, jsonval.Pair("group", jsonval.NewString(t.Group)))
	}
	return &v
}

func message(b *strings.Builder, i int, m *midtool.Message, write bool) {
	v := jsonval.NewObject(jsonval.Pair("index", integer(i)), jsonval.Pair("role", jsonval.NewString(string(m.Role))))
	if len(m.Offers) > 0 {
		offers := jsonval.NewList()
		for k := range m.Offers {
			offers.List = append(offers.List, *toolLine(&m.Offers[k]))
		}
		v.Members = append(v.Members, jsonval.Pair("more_tools", offers))
	} else if m.Content != "" {
		v.Members = append(v.Members, jsonval.Pair("content", jsonval.NewString(m.Content)))
	}
	if m.Name != "" {
		v.Members = append(v.Members, jsonval.Pair("name", jsonval.NewString(m.Name)))
	}
	if len(m.Calls) > 0 {
		calls := jsonval.NewList()
		for _, c := range m.Calls {
			arguments, err := jsonval.Parse(c.Arguments)
			if err != nil {
				arguments = jsonval.NewString(strings.ToValidUTF8(string(c.Arguments), "\uFFFD"))
			}
			name := jsonval.NewString(c.Name)
			calls.List = append(calls.List, jsonval.NewObject(jsonval.Pair("name", name), jsonval.Pair("arguments", arguments)))
		}
		v.Members = append(v.Members, jsonval.Pair("calls", calls))
	}
	if write {
		v.Members = append(v.Members, jsonval.Pair("write", jsonval.NewBool(true)))
	}
	b.Write(v.Append(nil, jsonval.Display))
	b.WriteString("\n")
}

// duties knows what each message has to do.
type duties struct {
	sample   *midtool.Sample
	values   map[int][]string // by user message: what it says word for word
	question int              // message that asks for what was withheld; -1 if none does
	supply   int              // message that supplies it
	withheld []string
	asked    string // what is asked for
}

func dutiesOf(s *midtool.Sample) *duties {
	d := &duties{sample: s, values: make(map[int][]string), question: -1, supply: -1}
	var hidden func(midtool.Evidence) bool
	if s.Plan != nil && len(s.Plan.Withheld) > 0 && len(s.Plan.Calls) > 0 {
		d.question = slices.IndexFunc(s.Messages, func(m midtool.Message) bool { return m.Role == midtool.RoleAssistant })
		d.supply = next(s, d.question, midtool.RoleUser)
		var asked []string
		for _, w := range s.Plan.Withheld {
			asked = append(asked, spoken(w))
		}
		d.asked = strings.Join(asked, ", ")
		hidden = func(e midtool.Evidence) bool {
			return e.CallID == s.Plan.Calls[0].ID && slices.ContainsFunc(s.Plan.Withheld, func(w string) bool {
				return e.Path == w || strings.HasPrefix(e.Path, w+"/")
			})
		}
	}
	at := make(map[string]int) // message of each call
	for i, m := range s.Messages {
		for _, c := range m.Calls {
			at[c.ID] = i
		}
	}
	for _, e := range s.Evidence {
		if e.Text == "" {
			continue
		}
		value := strconv.Quote(e.Text) + " (" + spoken(e.Path) + ")"
		if hidden != nil && hidden(e) {
			d.withheld = append(d.withheld, value)
		}
		if i := whoSays(s, e.Text, at[e.CallID]); i >= 0 && !slices.Contains(d.values[i], value) {
			d.values[i] = append(d.values[i], value)
		}
	}
	return d
}

// whoSays finds the user message before a call that has the text: the last one, for it is nearest to the call.
func whoSays(s *midtool.Sample, text string, call int) int {
	for i := call - 1; i >= 0; i-- {
		if m := &s.Messages[i]; m.Role == midtool.RoleUser && strings.Contains(m.Content, text) {
			return i
		}
	}
	return -1
}

// next is the first message of a role after i, or -1.
func next(s *midtool.Sample, i int, r midtool.Role) int {
	for i++; i < len(s.Messages); i++ {
		if s.Messages[i].Role == r {
			return i
		}
	}
	return -1
}

// spoken turns a JSON Pointer into words: "/filter/from" into "filter from".
func spoken(pointer string) string {
	return oneLine(strings.NewReplacer("~1", "/", "~0", "~", "/", " ").Replace(pointer))
}

func (d *duties) duty(i int) string {
	if d.sample.Messages[i].Role == midtool.RoleUser {
		return d.user(i)
	}
	return d.assistant(i)
}

func (d *duties) user(i int) string {
	var b strings.Builder
	switch {
	case i == d.supply:
		b.WriteString("Answers the question.")
	case next(d.sample, -1, midtool.RoleUser) == i:
		b.WriteString("Asks for what the words in place ask for.")
	default:
		b.WriteString("Goes on from what came before, with what the words in place say.")
	}
	if v := d.values[i]; len(v) > 0 {
		b.WriteString(" Says word for word: " + oneLine(strings.Join(v, ", ")) + ".")
	}
	if len(d.withheld) > 0 && i < d.supply {
		b.WriteString(" Neither says nor hints at: " + oneLine(strings.Join(d.withheld, ", ")) + ".")
	}
	return b.String()
}

func (d *duties) assistant(i int) string {
	s := d.sample
	if len(s.Messages[i].Calls) > 0 {
		return "Says in short what its calls are for, before their results are known."
	}
	if d.asks(i) {
		return "Asks for " + d.asked + " in a sentence that ends with a question mark, says no value for it, and makes no call."
	}
	if i > 0 && s.Messages[i-1].Role == midtool.RoleTool {
		v, err := jsonval.Parse([]byte(s.Messages[i-1].Content))
		if err == nil && jsonval.ReportsError(&v) {
			return "Says that it did not work, with the message of the error word for word."
		}
		return "Answers the request from the results, with at least one of their values word for word."
	}
	if pieces := d.pieces(i); len(pieces) > 0 {
		return "Answers the question before it, with these word for word and in this order: " + strings.Join(pieces, ", ") + "."
	}
	if d.refuses(i) {
		return "Says that no tool it has does this and what is lacking, with a plain negation (no, not, none, cannot), and makes no call."
	}
	return "Says what the words in place say, without a call."
}

// pieces are those of a planned answer that a message has now, quoted.
func (d *duties) pieces(i int) []string {
	if d.sample.Plan == nil {
		return nil
	}
	var out []string
	for _, piece := range d.sample.Plan.Answer {
		if strings.Contains(d.sample.Messages[i].Content, piece) {
			out = append(out, strconv.Quote(piece))
		}
	}
	return out
}

// asks says whether an assistant's message is the question for what was withheld.
func (d *duties) asks(i int) bool { return i == d.question && len(d.sample.Messages[i].Calls) == 0 }

// refuses says whether an assistant's message has to tell that no tool at hand does what the user wants.
func (d *duties) refuses(i int) bool {
	s := d.sample
	if len(s.Messages[i].Calls) > 0 || i > 0 && s.Messages[i-1].Role == midtool.RoleTool || d.asks(i) {
		return false
	}
	offered := func(m midtool.Message) bool { return len(m.Offers) > 0 }
	return s.Family == midtool.Irrelevance || s.Family == midtool.MissingFunction && slices.ContainsFunc(s.Messages[i:], offered)
}
