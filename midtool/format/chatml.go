package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// Control texts of hermes and qwen. What stands between the tags of a tag pair is on lines of its own.
const (
	turnStart, turnEnd      = "<|im_start|>", "<|im_end|>"
	callOpen, callClose     = "<tool_call>", "</tool_call>"
	resultOpen, resultClose = "<tool_response>", "</tool_response>"
	toolsOpen, toolsClose   = "<tools>", "</tools>"
	emptyThinking           = "<think>\n\n</think>\n\n"
	resultSeparator         = "\n" + resultClose + "\n" + resultOpen + "\n"
	defaultPreamble         = "# Tools\n\nThe functions that can be called stand between <tools> and </tools>, one JSON schema a line:"
	defaultInstructions     = "To call a function, write its name and its arguments as one JSON object, " +
		"{\"name\": ..., \"arguments\": {...}}, between <tool_call> and </tool_call>. Several calls follow one another."
)

// markers are the texts that no content may hold, for they would read as control.
var markers = []string{turnStart, turnEnd, callOpen, callClose, resultOpen, resultClose, toolsOpen, toolsClose,
	"<think>", "</think>", "<|endoftext|>"}

// markerIn returns the first marker in a text, "" for none.
func markerIn(s string) string {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return ""
		}
		s = s[i:]
		for _, m := range markers {
			if strings.HasPrefix(s, m) {
				return m
			}
		}
		s = s[1:]
	}
}

// A chatML renders conversations in turns <|im_start|>role ... <|im_end|>.
type chatML struct {
	results                string // role of the turns that hold results
	preamble, instructions string
	thinking               bool
}

// render returns the text, and the length of the system message that stands before the tools: -1 if there is none, or
// no tools.
func (f *chatML) render(c *conversation) (Rendering, int, *SkipError) {
	var b []byte
	var loss []Span
	shown := -1
	messages := c.messages
	if len(c.tools) > 0 {
		b = append(b, turnStart+"system\n"...)
		if len(messages) > 0 && messages[0].role == midtool.RoleSystem {
			b = append(append(b, messages[0].content...), "\n\n"...)
			shown = len(messages[0].content)
			if m := markerIn(messages[0].content); m != "" {
				return Rendering{}, 0, skip("marker", "a system message holds %s", m)
			}
			messages = messages[1:]
		}
		b = append(append(b, f.preamble...), "\n"+toolsOpen+"\n"...)
		start := len(b)
		for i := range c.tools {
			b = append(b, `{"type": "function", "function": `...)
			b = append(appendTool(b, &c.tools[i]), "}\n"...)
		}
		if m := markerIn(string(b[start:])); m != "" {
			return Rendering{}, 0, skip("marker", "a tool holds %s", m)
		}
		b = append(b, toolsClose+"\n\n"...)
		b = append(append(b, f.instructions...), turnEnd+"\n"...)
	}
	asked := -1 // the last request
	for i := range messages {
		if messages[i].role == midtool.RoleUser {
			asked = i
		}
	}
	for i := range messages {
		m := &messages[i]
		if found := markerIn(m.content); found != "" {
			return Rendering{}, 0, skip("marker", "a message of %s holds %s", m.role, found)
		}
		switch m.role {
		case midtool.RoleTool:
			if messages[i-1].role != midtool.RoleTool {
				b = append(append(append(b, turnStart...), f.results...), '\n')
			} else {
				b = append(b, '\n')
			}
			b = append(append(append(b, resultOpen+"\n"...), m.content...), "\n"+resultClose...)
			if i+1 == len(messages) || messages[i+1].role != midtool.RoleTool {
				b = append(b, turnEnd+"\n"...)
			}
		case midtool.RoleAssistant:
			b = append(b, turnStart+"assistant\n"...)
			start := len(b)
			if f.thinking && i > asked {
				b = append(b, emptyThinking...)
			}
			b = append(b, m.content...)
			for j := range m.calls {
				if j > 0 || m.content != "" {
					b = append(b, '\n')
				}
				b = append(b, callOpen+"\n"...)
				from := len(b)
				b = appendCall(b, &m.calls[j])
				if found := markerIn(string(b[from:])); found != "" {
					return Rendering{}, 0, skip("marker", "call %s holds %s", m.calls[j].id, found)
				}
				b = append(b, "\n"+callClose...)
			}
			b = append(b, turnEnd...)
			if m.trained() {
				loss = addSpan(loss, start, len(b))
			}
			b = append(b, '\n')
		default:
			b = append(append(append(b, turnStart...), m.role...), '\n')
			b = append(append(b, m.content...), turnEnd+"\n"...)
		}
	}
	return Rendering{string(b), loss}, shown, nil
}

// readChatML is a [textReader] of all that a chatML renders.
func readChatML(text string, meta *jsonval.Value, learned func(int) bool) (*conversation, error) {
	c := new(conversation)
	shown := -1
	if v := meta.Get("system"); v != nil && v.Kind == jsonval.Number {
		if n, ok := jsonval.Count(v.Text); ok {
			shown = n
		}
	}
	for at := 0; at < len(text); {
		n, err := c.addTurn(text, at, shown, learned)
		if err != nil {
			return nil, fmt.Errorf("turn at byte %d of the text: %w", at, err)
		}
		at = n
	}
	return c, c.answered()
}

// addTurn reads the turn that starts at a byte and returns where the next one starts.
func (c *conversation) addTurn(text string, at, shown int, learned func(int) bool) (int, error) {
	rest, ok := strings.CutPrefix(text[at:], turnStart)
	role, rest, lined := strings.Cut(rest, "\n")
	if !ok || !lined {
		return 0, errors.New("want " + turnStart + " and a role")
	}
	if role == "assistant" {
		var err error
		if rest, err = c.addAssistant(rest, !learned(len(text)-len(rest))); err != nil {
			return 0, err
		}
	} else {
		body, after, ended := strings.Cut(rest, turnEnd)
		if !ended {
			return 0, errors.New("no " + turnEnd)
		}
		rest = after
		var err error
		switch results, isResults := strings.CutPrefix(body, resultOpen+"\n"); {
		case isResults && (role == "user" || role == "tool"):
			if results, ok = strings.CutSuffix(results, "\n"+resultClose); !ok {
				return 0, errors.New("results end without " + resultClose)
			}
			for result := range strings.SplitSeq(results, resultSeparator) {
				c.messages = append(c.messages, message{role: midtool.RoleTool, content: result})
			}
		case role == "user":
			c.messages = append(c.messages, message{role: midtool.RoleUser, content: body})
		case role == "system":
			err = c.addSystem(body, shown)
		default:
			err = fmt.Errorf("unknown role %.40q", role)
		}
		if err != nil {
			return 0, err
		}
	}
	if rest != "" {
		if rest, ok = strings.CutPrefix(rest, "\n"); !ok {
			return 0, errors.New("no line break after " + turnEnd)
		}
	}
	return len(text) - len(rest), nil
}

// addSystem reads a system turn, with the tools if it shows them. The message before those has shown bytes, -1 for none.
func (c *conversation) addSystem(body string, shown int) error {
	const open = "\n" + toolsOpen + "\n"
	at := strings.Index(body, open)
	if at < 0 || len(c.messages) > 0 {
		c.messages = append(c.messages, message{role: midtool.RoleSystem, content: body})
		return nil
	}
	if shown >= 0 {
		if shown > at || !strings.HasPrefix(body[shown:], "\n\n") {
			return fmt.Errorf("the system message does not have %d bytes", shown)
		}
		c.messages = append(c.messages, message{role: midtool.RoleSystem, content: body[:shown]})
	}
	for line := range strings.SplitSeq(body[at+len(open):], "\n") {
		if line == toolsClose {
			return nil
		}
		v, err := jsonval.ParseNested([]byte(line), jsonval.LineDepth)
		if err != nil {
			return fmt.Errorf("tool: %w", err)
		}
		t, err := toolFrom(&v)
		if err != nil {
			return err
		}
		c.tools = append(c.tools, t)
	}
	return errors.New("no " + toolsClose)
}

// addAssistant reads an assistant's turn and returns what comes after its end. A call is one JSON value after its tag:
// where it ends only JSON can say, since a string in it may hold any tag.
func (c *conversation) addAssistant(s string, untrained bool) (string, error) {
	s = strings.TrimPrefix(s, emptyThinking)
	m := message{role: midtool.RoleAssistant, untrained: untrained}
	end := strings.Index(s, turnEnd)
	if end < 0 {
		return "", errors.New("no " + turnEnd)
	}
	call := strings.Index(s[:end], callOpen)
	if call < 0 {
		m.content = s[:end]
		c.messages = append(c.messages, m)
		return s[end+len(turnEnd):], nil
	}
	m.content = strings.TrimSuffix(s[:call], "\n")
	for s = s[call:]; ; s = strings.TrimLeft(s, " \t\r\n") {
		if after, ok := strings.CutPrefix(s, turnEnd); ok {
			c.messages = append(c.messages, m)
			return after, nil
		}
		rest, ok := strings.CutPrefix(s, callOpen)
		if !ok {
			return "", fmt.Errorf("after a call: want another or %s, got %.40q", turnEnd, s)
		}
		var raw json.RawMessage
		dec := json.NewDecoder(strings.NewReader(rest))
		if err := dec.Decode(&raw); err != nil {
			return "", fmt.Errorf("call: %w", err)
		}
		v, err := jsonval.ParseNested(raw, jsonval.LineDepth)
		if err != nil {
			return "", fmt.Errorf("call: %w", err)
		}
		one, err := callFrom(&v)
		if err != nil {
			return "", err
		}
		m.calls = append(m.calls, one)
		if s, ok = strings.CutPrefix(strings.TrimLeft(rest[dec.InputOffset():], " \t\r\n"), callClose); !ok {
			return "", errors.New("a call ends without " + callClose)
		}
	}
}
