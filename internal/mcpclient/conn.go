package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A conn is the part of a connection that both transports share: it judges what the server sends, keeps the results that were asked for,
// and hands the rest to the SDK.
type conn struct {
	max    int // bytes in a message of the server
	redact *redactor
	in     chan jsonrpc.Message
	done   chan struct{} // closed by the first failure

	mu      sync.Mutex
	cause   error // the first failure
	last    int64 // the largest id of a request
	pending map[int64]*answer
}

func newConn(most int, r *redactor) *conn {
	return &conn{max: most, redact: r, in: make(chan jsonrpc.Message), done: make(chan struct{}), pending: map[int64]*answer{}}
}

// An answer is what the server said to one request. It travels in the context of the request, so that it is known to which of them an
// id belongs. Its fields are guarded by the lock of the connection.
type answer struct {
	id      int64
	method  string
	raw     json.RawMessage // the result, byte for byte
	refused *Error          // the server's JSON-RPC error
	lost    error           // why there is none
}

type answerKey struct{}

// expect notes that a request has been made.
func (c *conn) expect(ctx context.Context, r *jsonrpc.Request) {
	id, ok := r.ID.Raw().(int64)
	if !ok {
		return // a notification
	}
	a, _ := ctx.Value(answerKey{}).(*answer)
	if a == nil {
		a = new(answer) // of the SDK's own
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.id, a.method = id, r.Method
	c.last = max(c.last, id)
	c.pending[id] = a
}

// forget lets go of a request that has ended.
func (c *conn) forget(a *answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, a.id)
}

func (c *conn) result(a *answer) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return a.raw
}

// fail breaks the connection for good; the first cause counts.
func (c *conn) fail(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
		close(c.done)
	}
}

// failed reports whether the connection is broken.
func (c *conn) failed() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Read gives the SDK what is left for it. It ends with io.EOF, for the cause is ours to word.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	case <-c.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// SessionID is of no use to the SDK's client.
func (c *conn) SessionID() string { return "" }

// Close breaks the connection. The SDK calls it with a lock held, so that it must not wait for anything.
func (c *conn) Close() error {
	c.fail(errClosed)
	return nil
}

func (c *conn) base() *conn { return c }

// hand passes a message to the SDK.
func (c *conn) hand(m jsonrpc.Message) {
	select {
	case c.in <- m:
	case <-c.done:
	}
}

// lose ends one request without an answer, and leaves the connection as it is.
func (c *conn) lose(id jsonrpc.ID, why error) {
	n, _ := id.Raw().(int64)
	c.mu.Lock()
	a := c.pending[n]
	delete(c.pending, n)
	if a != nil {
		a.lost = why
	}
	c.mu.Unlock()
	if a != nil {
		c.hand(&jsonrpc.Response{ID: id, Error: errors.New("no answer")})
	}
}

// maxDepth bounds nested values: those that package midtool reads in a line, and the message around them.
const maxDepth = 80

// receive takes the bytes of a message of the server, which it keeps no part of. A request of the server is answered through reply. The
// error says what is wrong with the message, without its text.
func (c *conn) receive(raw []byte, reply func(message []byte) error) error {
	raw = bytes.TrimSpace(raw)
	if tooDeep(raw, maxDepth) {
		return fmt.Errorf("more than %d nested values", maxDepth)
	}
	if len(raw) > 0 && raw[0] == '[' { // a batch, as protocol 2025-03-26 has it
		var batch []json.RawMessage
		if err := json.Unmarshal(raw, &batch); err != nil {
			return errNotJSONRPC
		}
		for _, one := range batch {
			if err := c.receiveOne(one, reply); err != nil {
				return err
			}
		}
		return nil
	}
	return c.receiveOne(raw, reply)
}

var errNotJSONRPC = errors.New("not a JSON-RPC message")

func (c *conn) receiveOne(raw []byte, reply func(message []byte) error) error {
	var m map[string]json.RawMessage // not a struct, whose fields would match without regard to case
	if err := json.Unmarshal(raw, &m); err != nil || string(m["jsonrpc"]) != `"2.0"` {
		return errNotJSONRPC
	}
	id := m["id"]
	if string(id) == "null" {
		id = nil
	}
	if method, ok := m["method"]; ok {
		switch {
		case id == nil:
			return nil // a notification
		case len(id) > 256 || id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9'):
			return errors.New("a request whose id is no number and no short string")
		case string(method) == `"ping"`:
			return reply(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
		}
		return reply(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, id))
	}
	refused, err := c.wireError(m["error"])
	switch {
	case err != nil:
		return err
	case id == nil && refused != nil:
		return fmt.Errorf("an error without id: %w", refused)
	case id == nil:
		return errNotJSONRPC
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return c.settle(n, err == nil, m["result"], refused)
}

// wireError reads a JSON-RPC error; nil stands for none.
func (c *conn) wireError(raw json.RawMessage) (*Error, error) {
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	var m map[string]json.RawMessage
	var e Error
	if json.Unmarshal(raw, &m) != nil || json.Unmarshal(m["code"], &e.Code) != nil {
		return nil, errors.New("an error that is no JSON-RPC error")
	}
	if text := m["message"]; text != nil && json.Unmarshal(text, &e.Message) != nil {
		return nil, errors.New("an error whose message is no string")
	}
	e.Message = c.redact.text(e.Message)
	return &e, nil
}

// settle gives the answer with an id to whom it belongs. An answer to a request that has been given up is dropped.
func (c *conn) settle(id int64, isNumber bool, result json.RawMessage, refused *Error) error {
	c.mu.Lock()
	known := isNumber && id >= 1 && id <= c.last
	a := c.pending[id] // 0 for what is no number is never an id
	delete(c.pending, id)
	if a != nil {
		a.refused, a.raw = refused, result
		if refused == nil && result == nil {
			a.lost = errors.New("an answer with neither a result nor an error")
		}
	}
	c.mu.Unlock()
	switch {
	case !known:
		return errors.New("an answer to a request that was never made")
	case a == nil:
		return nil
	}
	back := &jsonrpc.Response{Result: result}
	back.ID, _ = jsonrpc.MakeID(float64(id)) // a float64 is always an id
	if a.lost != nil {
		back.Error = errors.New("no answer")
	} else if refused != nil {
		back.Result, back.Error = nil, &jsonrpc.Error{Code: refused.Code, Message: refused.Message}
	} else if a.method != "initialize" {
		back.Result = json.RawMessage(`{}`) // the SDK need not decode what is kept
	}
	c.hand(back)
	return nil
}

// tooDeep reports whether JSON nests more than most values. It looks at brackets outside strings alone, so that it is cheap and never
// recurses.
func tooDeep(text []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > most {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}
