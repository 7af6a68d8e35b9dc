package format

import (
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// headerMark opens every header line of plain text, and headers are the words after it.
const headerMark = "### "

var headers = [...]string{"System", "Tools", "User", "Assistant", "Call", "Result"}

// Plain renders a record as plain text without control tokens, the main form of a corpus. The text of a document is
// itself and is learned as a whole. A conversation is a row of blocks, each a header line, a content and a line break:
//
//	### System
//	### Tools          one tool a line, {"name": ..., "description": ..., "parameters": ...}
//	### User
//	### Assistant      what it says, before its calls; left out where it only calls
//	### Call           one call a line, {"name": ..., "arguments": ...}
//	### Result NAME
//
// The tools come after the first system messages. A line of a content that would read as a header gets one space more
// in front. Everything is learned but the blocks of messages that are Untrained. The error is a [*SkipError].
func Plain(r *Record) (Rendering, error) {
	c, err := conversationOf(r)
	if err == nil && c == nil {
		return Rendering{r.Text, []Span{{0, len(r.Text)}}}, nil
	}
	if err != nil {
		err.Format, err.Record = "plain", idOf(r)
		return Rendering{}, err
	}
	return plainText(c), nil
}

func plainText(c *conversation) Rendering {
	var b []byte
	var loss []Span
	tools := len(c.tools) > 0
	for i := range c.messages {
		m := &c.messages[i]
		start := len(b)
		if tools && m.role != midtool.RoleSystem {
			b, tools = appendTools(b, c.tools), false
		}
		if m.untrained {
			loss = addSpan(loss, start, len(b))
			start = len(b)
		}
		switch m.role {
		case midtool.RoleSystem:
			b = appendBlock(b, "System", m.content)
		case midtool.RoleUser:
			b = appendBlock(b, "User", m.content)
		case midtool.RoleTool:
			b = appendBlock(b, "Result "+m.name, m.content)
		default:
			// A silent caller has no block of its own, except after another assistant, whose words would become its own.
			if m.content != "" || len(m.calls) == 0 || i > 0 && c.messages[i-1].role == midtool.RoleAssistant {
				b = appendBlock(b, "Assistant", m.content)
			}
			if len(m.calls) > 0 {
				b = append(b, headerMark+"Call\n"...)
				for j := range m.calls {
					b = append(appendCall(b, &m.calls[j]), '\n')
				}
			}
		}
		if !m.untrained {
			loss = addSpan(loss, start, len(b))
		}
	}
	if tools {
		start := len(b)
		b = appendTools(b, c.tools)
		loss = addSpan(loss, start, len(b))
	}
	return Rendering{string(b), loss}
}

func appendTools(dst []byte, tools []tool) []byte {
	dst = append(dst, headerMark+"Tools\n"...)
	for i := range tools {
		dst = append(appendTool(dst, &tools[i]), '\n')
	}
	return dst
}

func appendBlock(dst []byte, header, content string) []byte {
	dst = append(append(dst, headerMark...), header...)
	return append(appendShifted(append(dst, '\n'), content, 1), '\n')
}

// appendShifted appends a content whose lines that look like headers get one space more (by 1) or one less (by -1).
func appendShifted(dst []byte, s string, by int) []byte {
	atLine := true // s begins a line
	for {
		i := strings.Index(s, headerMark)
		if i < 0 {
			return append(dst, s...)
		}
		line := i
		for line > 0 && s[line-1] == ' ' {
			line--
		}
		if (line == 0 && atLine || line > 0 && s[line-1] == '\n') && headerAt(s[i:]) != "" {
			dst = append(dst, s[:line]...)
			if by > 0 {
				dst = append(dst, ' ')
			} else if line < i {
				line++
			}
			dst = append(dst, s[line:i]...)
		} else {
			dst = append(dst, s[:i]...)
		}
		dst = append(dst, headerMark...)
		s, atLine = s[i+len(headerMark):], false
	}
}

// headerAt returns the word of the header that a text begins with, "" for none.
func headerAt(s string) string {
	s, ok := strings.CutPrefix(s, headerMark)
	if !ok {
		return ""
	}
	for _, word := range headers {
		if rest, ok := strings.CutPrefix(s, word); ok && (rest == "" || !wordByte(rest[0])) {
			return word
		}
	}
	return ""
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// readPlain is a [textReader].
func readPlain(text string, _ *jsonval.Value, learned func(int) bool) (*conversation, error) {
	c := new(conversation)
	for at := 0; at < len(text); {
		word := headerAt(text[at:])
		if word == "" {
			return nil, fmt.Errorf("byte %d of the text: want a header", at)
		}
		header, _, ok := strings.Cut(text[at:], "\n")
		if !ok {
			return nil, fmt.Errorf("byte %d of the text: the header has no line break", at)
		}
		suffix := header[len(headerMark)+len(word):]
		name, named := strings.CutPrefix(suffix, " ")
		if suffix != "" && (word != "Result" || !named) {
			return nil, fmt.Errorf("byte %d of the text: unknown header %.40q", at, header)
		}
		start := at + len(header) + 1
		end := blockEnd(text, start)
		if end < 0 {
			return nil, fmt.Errorf("byte %d of the text: the block has no line break at its end", at)
		}
		if err := c.addBlock(word, name, text[start:end], !learned(at)); err != nil {
			return nil, fmt.Errorf("byte %d of the text: %w", at, err)
		}
		at = end + 1
	}
	return c, c.answered()
}

// blockEnd returns where the content that begins at start ends: at the line break before the next header or the end.
// It returns -1 if there is none.
func blockEnd(text string, start int) int {
	for at := start; ; at++ {
		i := strings.Index(text[at:], "\n"+headerMark)
		if i < 0 {
			break
		}
		if at += i; headerAt(text[at+1:]) != "" {
			return at
		}
	}
	if end := len(text) - 1; end >= start && text[end] == '\n' {
		return end
	}
	return -1
}

func (c *conversation) addBlock(word, name, content string, untrained bool) error {
	said := func(role midtool.Role) {
		m := message{role: role, content: string(appendShifted(nil, content, -1)), name: name}
		m.untrained = untrained && role == midtool.RoleAssistant
		c.messages = append(c.messages, m)
	}
	switch word {
	case "System":
		said(midtool.RoleSystem)
	case "User":
		said(midtool.RoleUser)
	case "Assistant":
		said(midtool.RoleAssistant)
	case "Result":
		said(midtool.RoleTool)
	case "Call":
		// The calls belong to the words before them.
		if n := len(c.messages); n == 0 || c.messages[n-1].role != midtool.RoleAssistant || len(c.messages[n-1].calls) > 0 {
			c.messages = append(c.messages, message{role: midtool.RoleAssistant, untrained: untrained})
		}
		last := &c.messages[len(c.messages)-1]
		for line := range strings.SplitSeq(content, "\n") {
			v, err := jsonval.ParseNested([]byte(line), jsonval.LineDepth)
			if err != nil {
				return fmt.Errorf("call: %w", err)
			}
			one, err := callFrom(&v)
			if err != nil {
				return err
			}
			last.calls = append(last.calls, one)
		}
	default:
		for line := range strings.SplitSeq(content, "\n") {
			v, err := jsonval.ParseNested([]byte(line), jsonval.LineDepth)
			if err != nil {
				return fmt.Errorf("tool: %w", err)
			}
			one, err := toolFrom(&v)
			if err != nil {
				return err
			}
			c.tools = append(c.tools, one)
		}
	}
	return nil
}

// callFrom reads what [appendCall] writes.
func callFrom(v *jsonval.Value) (call, error) {
	name, arguments := v.Get("name"), v.Get("arguments")
	switch {
	case name == nil || name.Kind != jsonval.String || name.Text == "":
		return call{}, fmt.Errorf("a call has no name")
	case arguments == nil || arguments.Kind != jsonval.Object:
		return call{}, fmt.Errorf("arguments of %q: want an object", name.Text)
	}
	return call{name: name.Text, arguments: *arguments}, nil
}

// toolFrom reads what [appendTool] writes.
func toolFrom(v *jsonval.Value) (tool, error) {
	if f := v.Get("function"); f != nil {
		v = f
	}
	name, parameters := v.Get("name"), v.Get("parameters")
	switch {
	case name == nil || name.Kind != jsonval.String || name.Text == "":
		return tool{}, fmt.Errorf("a tool has no name")
	case parameters == nil || parameters.Kind != jsonval.Object:
		return tool{}, fmt.Errorf("parameters of %q: want an object", name.Text)
	}
	return tool{name.Text, jsonval.StringOf(v.Get("description")), *parameters}, nil
}

// idOf returns the ID of a record.
func idOf(r *Record) string {
	if r.ID == "" && r.Sample != nil {
		return r.Sample.ID
	}
	return r.ID
}
