package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Bounds of an answer. Each value takes far more memory than the two bytes in which it can be written.
const (
	maxDepth  = 1000    // of nested JSON
	maxValues = 1 << 18 // values in one body, or in one piece of a stream
	maxCalls  = 1000
	maxAgain  = 64 << 20 // bytes of arguments that are read again to tell calls with one index apart
)

// An answer is what a model said, put together.
type answer struct {
	content string
	refusal string
	finish  string // empty if the server gave none
	calls   []call
	used    tokens
	counted bool // the server told what was used
}

// A call is one tool call as it was received.
type call struct {
	id, name string
	args     string // as written; JSON if the model kept to it
}

// wire types take what servers send: null or nothing in any place, text or parts, arguments as text or as what they stand for.
type (
	wireAnswer struct {
		Object  json.RawMessage
		Choices []wireChoice
		Usage   json.RawMessage
		Error   json.RawMessage
	}
	wireChoice struct {
		Index        int
		Message      *wireMessage
		Delta        *wireMessage
		FinishReason string `json:"finish_reason"`
	}
	wireMessage struct {
		Content      json.RawMessage
		Refusal      string
		ToolCalls    []wireCall    `json:"tool_calls"`
		FunctionCall *wireFunction `json:"function_call"`
	}
	wireCall struct {
		Index    *int
		ID       json.RawMessage
		Function wireFunction
	}
	wireFunction struct {
		Name      string
		Arguments json.RawMessage
	}
	wireUsage struct {
		PromptTokens     json.Number `json:"prompt_tokens"`
		CompletionTokens json.Number `json:"completion_tokens"`
		Details          *struct {
			CachedTokens json.Number `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
)

// answer reads one whole answer, in one body or in pieces: what the server sends counts, not what it was asked for.
func (c *Client) answer(res *http.Response) (answer, error) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	var a answer
	var err error
	if kind == "text/event-stream" {
		a, err = c.readStream(res)
	} else {
		var body []byte
		if body, err = io.ReadAll(res.Body); err == nil {
			a, err = c.parseAnswer(body)
		}
	}
	if err != nil {
		return answer{}, err
	}
	said := c.redact.said
	a.content, a.refusal = said.Replace(a.content), said.Replace(a.refusal)
	for i := range a.calls {
		k := &a.calls[i]
		k.id, k.name, k.args = said.Replace(k.id), said.Replace(k.name), said.Replace(k.args)
	}
	return a, nil
}

// parseAnswer reads an answer in one body.
func (c *Client) parseAnswer(body []byte) (answer, error) {
	w, err := c.parse(body)
	if err != nil {
		return answer{}, err
	}
	choice := first(w.Choices)
	if choice == nil || choice.Message == nil && choice.Delta == nil {
		return answer{}, &Error{Message: "the answer has no choice with a message"}
	}
	var g gatherer
	message := choice.Message
	if message == nil {
		message = choice.Delta
	}
	for i := range message.ToolCalls {
		message.ToolCalls[i].Index = &i // each is a whole one, whatever number it has
	}
	g.add(message)
	g.finish = choice.FinishReason
	g.use(w.Usage)
	if err := g.fault(); err != nil {
		return answer{}, err
	}
	return g.answer(), nil
}

// readStream reads an answer in pieces. One that breaks off before its end is an error that another attempt may cure.
func (c *Client) readStream(res *http.Response) (answer, error) {
	var g gatherer
	d := ssestream.NewDecoder(res)
	done, chosen := false, false
	for !done && d.Next() {
		data := bytes.TrimSpace(d.Event().Data)
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			done = true
			continue
		}
		if len(data) == 0 {
			continue
		}
		if d.Event().Type == "error" {
			return answer{}, c.streamError(data)
		}
		w, err := c.parse(data)
		if err != nil {
			return answer{}, err
		}
		g.use(w.Usage)
		choice := first(w.Choices)
		if choice == nil {
			continue
		}
		chosen = true
		switch {
		case choice.Delta != nil:
			g.add(choice.Delta)
		case choice.Message != nil:
			g.add(choice.Message)
		}
		if choice.FinishReason != "" {
			g.finish = choice.FinishReason
		}
		if err := g.fault(); err != nil {
			return answer{}, err
		}
	}
	if err := d.Err(); err != nil {
		return answer{}, err
	}
	if !done && g.finish == "" {
		return answer{}, &Error{Message: "the answer breaks off", retry: true}
	}
	if !chosen {
		return answer{}, &Error{Message: "the answer has no choice with a message"}
	}
	return g.answer(), nil
}

func (c *Client) parse(body []byte) (wireAnswer, error) {
	var w wireAnswer
	if deep(body) {
		return w, &Error{Message: fmt.Sprintf("the answer is nested deeper than %d", maxDepth)}
	}
	if wide(body, maxDepth) {
		return w, errWide()
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return w, &Error{
			Message: "the answer is not the JSON of a chat completion: " + c.redact.text(err.Error()), retry: cutOff(body),
		}
	}
	failed := len(w.Error) > 0 && string(w.Error) != "null" || string(w.Object) == `"error"` // the latter of older versions of vLLM
	if choice := first(w.Choices); failed && (choice == nil || gaveUp(choice.FinishReason)) {
		return w, c.streamError(body)
	}
	return w, nil
}

// cutOff tells whether JSON ends too early, as when a connection is cut that does not tell its length.
func cutOff(body []byte) bool {
	var whole json.RawMessage
	err := json.NewDecoder(bytes.NewReader(body)).Decode(&whole)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// first returns the choice with index 0, else the first.
func first(choices []wireChoice) *wireChoice {
	for i := range choices {
		if choices[i].Index == 0 {
			return &choices[i]
		}
	}
	if len(choices) > 0 {
		return &choices[0]
	}
	return nil
}

// A gatherer puts the pieces of an answer together.
type gatherer struct {
	content, refusal strings.Builder
	finish           string
	calls            []*piece
	byIndex          map[int]*piece
	used             tokens
	counted          bool
	again            int  // bytes of arguments that were read again
	crowded          bool // there are more calls
}

// fault says why nothing more is to be read; nil if there is no reason.
func (g *gatherer) fault() error { // of this type, for a nil *Error is no nil error
	switch {
	case g.crowded:
		return &Error{Message: fmt.Sprintf("the answer has more than %d calls", maxCalls)}
	case gaveUp(g.finish):
		return &Error{Message: "the server gave the answer up: " + g.finish, retry: true}
	}
	return nil
}

// gaveUp tells the reasons that are no word of the model but a failure of the server: those of OpenRouter, of vLLM and SGLang, of DeepSeek
// and of GLM. To take what there is for an answer would blame the model.
func gaveUp(finish string) bool {
	switch finish {
	case "error", "abort", "insufficient_system_resource", "network_error":
		return true
	}
	return false
}

// A piece is a call of which more may come.
type piece struct {
	id, name string
	args     strings.Builder
}

func (g *gatherer) add(m *wireMessage) {
	g.content.WriteString(text(m.Content))
	g.refusal.WriteString(m.Refusal)
	for _, w := range m.ToolCalls {
		g.call(w)
	}
	if f := m.FunctionCall; f != nil { // what calls were before there could be several
		g.call(wireCall{Index: new(-1), Function: *f})
	}
}

// call adds a piece of a call. Which one it belongs to says its index, or where there is none, that it has an id or a name of its own.
func (g *gatherer) call(w wireCall) {
	id := strings.TrimSpace(plain(w.ID))
	var p *piece
	if w.Index != nil {
		if p = g.byIndex[*w.Index]; p != nil && w.Function.Name != "" && p.name != "" && g.other(p, id, plain(w.Function.Arguments)) {
			p = nil // a server that gives every call the same index
		}
	} else if n := len(g.calls); n > 0 && (id == "" || id == g.calls[n-1].id) && w.Function.Name == "" {
		p = g.calls[n-1]
	}
	if p == nil && len(g.calls) == maxCalls {
		g.crowded = true
		return
	}
	if p == nil {
		p = &piece{}
		g.calls = append(g.calls, p)
		if w.Index != nil {
			if g.byIndex == nil {
				g.byIndex = map[int]*piece{}
			}
			g.byIndex[*w.Index] = p
		}
	}
	if p.id == "" {
		p.id = id
	}
	if name := w.Function.Name; name != p.name && len(p.name) <= 4*maxName { // some servers repeat it; no tool's is so long
		p.name += name
	}
	p.args.WriteString(plain(w.Function.Arguments))
}

// other tells whether a piece with a name of its own belongs to another call than p, by its id, or by arguments after those that are whole.
func (g *gatherer) other(p *piece, id, args string) bool {
	if id != "" && p.id != "" {
		return id != p.id
	}
	if args == "" || g.again > maxAgain { // by then it has repeated the name in very many pieces
		return false
	}
	g.again += p.args.Len()
	return json.Valid([]byte(p.args.String()))
}

func (g *gatherer) use(raw json.RawMessage) {
	var u wireUsage
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return // what cannot be read is estimated
	}
	n := tokens{input: count(u.PromptTokens), output: count(u.CompletionTokens)}
	if u.Details != nil {
		n.cached = min(count(u.Details.CachedTokens), n.input)
	}
	if n != (tokens{}) { // some servers send zeros until the end
		g.used, g.counted = n, true
	}
}

// count reads a number of tokens; what is none is 0.
func count(n json.Number) int {
	f, err := n.Float64()
	if err != nil || !(f >= 0) || f > math.MaxInt32 {
		return 0
	}
	return int(f)
}

func (g *gatherer) answer() answer {
	a := answer{content: g.content.String(), refusal: g.refusal.String(), finish: g.finish, used: g.used, counted: g.counted}
	for _, p := range g.calls {
		a.calls = append(a.calls, call{id: p.id, name: p.name, args: p.args.String()})
	}
	return a
}

// text returns a content that is a string, null or a list of parts, of which those with text count.
func text(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '[' {
		var s string
		_ = json.Unmarshal(raw, &s) // anything else is no text
		return s
	}
	var parts []struct {
		Text json.RawMessage
	}
	_ = json.Unmarshal(raw, &parts)
	var b strings.Builder
	for _, p := range parts {
		var s string
		if json.Unmarshal(p.Text, &s) == nil {
			b.WriteString(s)
		}
	}
	return b.String()
}

// deep tells whether JSON is nested deeper than maxDepth. What is not JSON may be counted wrongly.
func deep(b []byte) bool {
	depth, _ := measure(b, 0)
	return depth > maxDepth
}

// wide tells whether more than maxValues values of JSON lie within at most so many others, likewise.
func wide(b []byte, within int) bool {
	_, commas := measure(b, within)
	return commas >= maxValues
}

func errWide() *Error {
	return &Error{Message: fmt.Sprintf("the answer has more than %d values", maxValues)}
}

// measure returns the depth of JSON, and how many commas lie within at most so many lists and objects.
func measure(b []byte, within int) (deepest, commas int) {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= within:
			commas++
		}
	}
	return deepest, commas
}
