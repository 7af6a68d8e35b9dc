package envharness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/throughline-go/throughline/internal/jsonl"
)

// KindImported is the kind of the traces of [ReadMessages].
const KindImported = "imported"

// maxMessagesLine is a quarter of what a trace may take: a name is written twice, and a line separator in it takes twice its bytes.
const maxMessagesLine = maxTraceLine / 4

// ReadMessages imports logs of agents as traces, one at a time: JSON Lines with the "messages" of one conversation a line, as the chat
// completions of OpenAI have them and most fine-tuning sets. What else there is in a line, a message or a call is ignored. A line of
// more than 16 MiB or one that breaks the rules below is an error that names the line and the message, counted from 0. The sequence ends
// after an error and can be ranged over once. What it yields comes back from [WriteTraces] and [ReadTraces] exactly as it is.
//
// The mapping is ours. Everything before the first message of the assistant is what the trace shows first. Each call is a turn: the
// action, proposed and applied, and the content of the message that answers it, shown. The calls of one message are turns in the
// order of the calls, and its content is what was Said in the first of them. A message of the assistant without a call is a turn with
// Said alone. What a system, a developer or a user says later is added to what the turn before it showed. Messages are joined with an
// empty line, the parts of one with a line break. The id of the task is "id" or else "task_id", a string or a number, or "line" and the
// number of the line.
//
// Arguments are a string with a JSON object in it, or that object; an empty string and null are none. Whatever else they are, the answer
// could not be read: the turn has no action, and its name and arguments are Said. Nesting deeper than 1000 is an error.
//
// All calls of a message must be answered, each once, before anybody else speaks. Only where the log breaks off before that, calls of the
// last message of the assistant may lack their answers: such a turn has an action that was proposed and not applied, and shows nothing. An
// answer with a tool_call_id belongs to the call with that id, of which a message must have one only. An answer without belongs to the next
// call that has no id, such as a function_call, and must not give another name. Calls and answers that are parts of a content, of type
// tool_use and tool_result as the messages of Anthropic have them, are an error.
//
// What was good or bad is not in such a log: each Verdict is [Invalid] and never counts. End is agent_stop where the last message is one
// of the assistant without a call, and empty where the log breaks off otherwise. Also lost are who said what was joined; the lists of
// tools; the ids of calls, and that the calls of one message were made together; parts that are not text, of which "[image_url]" or
// whatever their type is stays; rewards, refusals and what the environment itself answered (Raw is nil); and bytes that are not UTF-8,
// which become U+FFFD.
func ReadMessages(r io.Reader) iter.Seq2[Trace, error] {
	slot := 0
	return jsonl.Values(r, maxMessagesLine, "envharness: messages", func(line []byte, number int) (Trace, error) {
		t, err := importMessages(bytes.ToValidUTF8(line, []byte("\uFFFD")), number)
		t.Slot = slot
		slot++
		return t, err
	})
}

func importMessages(line []byte, number int) (Trace, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return Trace{}, err
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(fields["messages"], &messages); err != nil || len(messages) == 0 {
		return Trace{}, errors.New(`"messages" is not a list of at least one message`)
	}
	c := conversation{trace: Trace{
		Kind:    KindImported,
		Task:    Task{ID: importedID(fields, number)},
		Verdict: Verdict{Reason: "imported: not judged"},
	}}
	for i, raw := range messages {
		var m chatMessage
		err := json.Unmarshal(raw, &m)
		if err == nil {
			err = c.add(m)
		}
		if err != nil {
			return Trace{}, fmt.Errorf("message %d: %w", i, err)
		}
	}
	for turn := range c.names {
		c.trace.Turns[turn].Applied = nil // nothing says that it was carried out
	}
	c.show()
	return c.trace, nil
}

// importedID returns the first id among the fields that is text or a number.
func importedID(fields map[string]json.RawMessage, number int) string {
	for _, name := range []string{"id", "task_id"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return text
		}
		var n json.Number
		if json.Unmarshal(fields[name], &n) == nil && n != "" {
			return n.String()
		}
	}
	return fmt.Sprintf("line %d", number)
}

type chatMessage struct {
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"`
	Refusal      string          `json:"refusal"` // in place of the content
	ToolCalls    []chatCall      `json:"tool_calls"`
	FunctionCall *chatFunction   `json:"function_call"` // the older form of one call
	ToolCallID   string          `json:"tool_call_id"`
	Name         string          `json:"name"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// calls returns what the message calls, in order.
func (m *chatMessage) calls() []chatCall {
	if len(m.ToolCalls) == 0 && m.FunctionCall != nil {
		return []chatCall{{Type: "function", Function: *m.FunctionCall}}
	}
	return m.ToolCalls
}

// text returns the content as one string.
func (m *chatMessage) text() (string, error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return m.Refusal, nil
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text, Refusal string }
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", errors.New("content is neither text nor a list of parts")
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			texts[i] = p.Text
		case "refusal":
			texts[i] = p.Refusal
		case "tool_use", "tool_result":
			return "", fmt.Errorf("content part %d is of type %q: calls are read from tool_calls, answers from messages of role tool", i, p.Type)
		default:
			texts[i] = "[" + p.Type + "]"
		}
	}
	return strings.Join(texts, "\n"), nil
}

// action returns the action of a call. It is nil if the arguments cannot be read; said is then what there is of it.
func (f *chatFunction) action() (a *Action, said string, err error) {
	args := []byte(f.Arguments)
	var text string
	if json.Unmarshal(args, &text) == nil { // also of null
		args = []byte(text)
	}
	args = bytes.Trim(args, " \t\r\n")
	switch {
	case len(args) == 0:
		return &Action{Name: f.Name}, "", nil
	case args[0] == '{' && nesting(args) > maxDepth:
		return nil, "", fmt.Errorf("arguments of %s: nested deeper than %d", f.Name, maxDepth)
	case args[0] != '{' || !json.Valid(args):
		return nil, f.Name + " " + string(args), nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, args); err != nil {
		return nil, "", err
	}
	return &Action{Name: f.Name, Args: compact.Bytes()}, "", nil
}

// nesting returns how deep the brackets in doc are nested.
func nesting(doc []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(doc); i++ {
		switch b := doc[i]; {
		case b == '"':
			quoted = !quoted
		case quoted && b == '\\':
			i++
		case quoted:
		case b == '{' || b == '[':
			depth++
			deepest = max(deepest, depth)
		case b == '}' || b == ']':
			depth--
		}
	}
	return deepest
}

// A conversation is the trace of the messages so far.
type conversation struct {
	trace Trace
	heard []string // said by others than the assistant and not shown yet

	// Calls that wait for their answer: the turn of each by id, and in order the turns of those without an id.
	byID    map[string]int
	unnamed []int
	names   map[int]string // of all that wait, by turn
}

func (c *conversation) add(m chatMessage) error {
	text, err := m.text()
	if err != nil {
		return err
	}
	c.trace.End = "" // more came
	switch m.Role {
	case "tool", "function":
		return c.answer(&m, text)
	case "system", "developer", "user":
		if text != "" {
			c.heard = append(c.heard, text)
		}
		return c.settled()
	case "assistant":
		if err := c.settled(); err != nil {
			return err
		}
		c.show()
		return c.say(&m, text)
	}
	return fmt.Errorf("role %q is unknown", m.Role)
}

// say adds the turns of a message of the assistant.
func (c *conversation) say(m *chatMessage, text string) error {
	calls := m.calls()
	if len(calls) == 0 {
		c.trace.Turns = append(c.trace.Turns, TurnTrace{Said: text})
		c.trace.End = EndAgentStop
		return nil
	}
	c.byID, c.unnamed, c.names = make(map[string]int), nil, make(map[int]string, len(calls))
	for i, call := range calls {
		if call.Function.Name == "" {
			return fmt.Errorf("call %d of type %q has no name of a function", i, call.Type)
		}
		a, said, err := call.Function.action()
		if err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		turn := len(c.trace.Turns)
		if _, twice := c.byID[call.ID]; twice {
			return fmt.Errorf("call %d: id %q is used twice", i, call.ID)
		}
		if call.ID != "" {
			c.byID[call.ID] = turn
		} else {
			c.unnamed = append(c.unnamed, turn)
		}
		c.names[turn] = call.Function.Name
		c.trace.Turns = append(c.trace.Turns, TurnTrace{Said: joined(text, said), Proposed: a, Applied: a})
		text = ""
	}
	return nil
}

// answer shows the answer to a call in its turn.
func (c *conversation) answer(m *chatMessage, text string) error {
	turn, ok := c.byID[m.ToolCallID]
	switch {
	case ok:
		delete(c.byID, m.ToolCallID)
	case m.ToolCallID != "":
		return fmt.Errorf("no call with id %q waits for an answer", m.ToolCallID)
	case len(c.unnamed) == 0:
		return errors.New("no call without an id waits for an answer")
	default:
		turn, c.unnamed = c.unnamed[0], c.unnamed[1:]
		if m.Name != "" && m.Name != c.names[turn] {
			return fmt.Errorf("an answer of %s, where one of %s is due", m.Name, c.names[turn])
		}
	}
	delete(c.names, turn)
	c.trace.Turns[turn].Shown.Observation.Text = text
	return nil
}

// settled returns an error if calls wait for their answers. It names the first.
func (c *conversation) settled() error {
	if len(c.names) == 0 {
		return nil
	}
	turn := len(c.trace.Turns)
	for t := range c.names {
		turn = min(turn, t)
	}
	return fmt.Errorf("turn %d, the call of %s, has no answer", turn, c.names[turn])
}

// show adds what was heard to what was shown last.
func (c *conversation) show() {
	if len(c.heard) == 0 {
		return
	}
	o := &c.trace.Shown
	if n := len(c.trace.Turns); n > 0 {
		o = &c.trace.Turns[n-1].Shown.Observation
	}
	o.Text = joined(o.Text, strings.Join(c.heard, "\n\n"))
	c.heard = nil
}

// joined puts an empty line between two texts.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
