package openenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/throughline-go/throughline/envharness"
)

// ClientOptions adjusts a client. A nil *ClientOptions equals &ClientOptions{}.
type ClientOptions struct {
	// Header is sent with each request; it is the place for a token. Its values appear in no error.
	Header http.Header
	// HTTPClient makes the requests; redirects are not followed, whatever it says. Nil means one without a proxy.
	HTTPClient *http.Client
	// Timeout bounds the opening, and each message with its answer; zero means 90 seconds, which is more than a server of ours takes.
	Timeout time.Duration
	// MaxMessage is the length in bytes of the longest answer; zero means 4 MiB.
	MaxMessage int
}

// An Error is one that a server reported. Of its text only the code and the class are kept: the rest is the server's own, and may quote
// what must not be told. It wraps [envharness.ErrInfra], or where the class says so ErrNeedReset, ErrEpisodeOver, ErrNoTask or
// ErrSeedUnsupported of that package.
type Error struct {
	Code  string // such as CAPACITY_REACHED, or UNKNOWN if it is no word of capitals
	Class string // of an EXECUTION_ERROR of our server, such as "timeout"; else empty
}

// Error names the code and the class.
func (e *Error) Error() string {
	if e.Class != "" {
		return fmt.Sprintf("openenv: the server reports %s (%s)", e.Code, e.Class)
	}
	return "openenv: the server reports " + e.Code
}

// Unwrap returns what kind of error it is.
func (e *Error) Unwrap() error {
	if e.Code == codeExecution {
		for _, c := range classes {
			if c.name == e.Class && c.err != errLate && c.err != errTooLong { // the table itself
				return c.err
			}
		}
	}
	return envharness.ErrInfra
}

// fatal reports whether the session is over.
func (e *Error) fatal() bool {
	return e.Code == codeCapacity || e.Code == codeFactory || e.Code == codeSession
}

// A client is an environment at the other end of a WebSocket.
type client struct {
	conn    *websocket.Conn
	peer    peer
	timeout time.Duration
	gone    chan struct{} // closed when the reader has ended

	mu     sync.Mutex
	busy   bool
	closed bool
	owed   int         // answers still to come
	waiter chan []byte // takes the last of them; nil if nobody waits any more
	cause  error       // why nothing can come any more

	tools     []envharness.Tool // nil before the first reset
	turnLimit int               // of the present episode

	// The rest belongs to whoever made busy true.
	begun, over bool
	last        envharness.Observation
}

// grace is how long a farewell may take.
const grace = time.Second

// enter begins a call.
func (c *client) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return envharness.ErrClosed
	case c.busy:
		return envharness.ErrBusy
	}
	c.busy = true
	return nil
}

func (c *client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
}

// Reset starts an episode at the server.
func (c *client) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if err := c.enter(); err != nil {
		return envharness.Observation{}, err
	}
	defer c.leave()
	c.begun, c.over = false, false
	message, err := resetMessage(o)
	if err != nil {
		return envharness.Observation{}, err
	}
	a, err := c.play(ctx, message)
	if err != nil {
		return envharness.Observation{}, fmt.Errorf("openenv: reset: %w", err)
	}
	if a.transition.Ended() {
		return envharness.Observation{}, fmt.Errorf("openenv: reset: the episode is over before its first turn: %w", envharness.ErrInfra)
	}
	c.begun = true
	c.note(a)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turnLimit = a.turnLimit
	return a.transition.Observation, nil
}

// Step sends one action.
func (c *client) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if err := c.enter(); err != nil {
		return envharness.Transition{}, err
	}
	defer c.leave()
	switch {
	case c.over:
		return envharness.Transition{}, envharness.ErrEpisodeOver
	case !c.begun:
		return envharness.Transition{}, envharness.ErrNeedReset
	}
	data, refusal := c.peer.encode(a)
	if refusal != nil {
		return c.refused(refusal), nil
	}
	ans, err := c.play(ctx, join(`{"type":"step","data":`, data, `}`))
	if e, ok := errors.AsType[*Error](err); ok && e.Code == codeValidation {
		// The action broke the server's schema and was not carried out: the policy's fault.
		return c.refused(&envharness.ActionError{Class: envharness.ClassBadArgs, Message: "the server refuses these arguments"}), nil
	}
	if err != nil {
		c.begun = false // nobody knows how things stand
		return envharness.Transition{}, fmt.Errorf("openenv: step: %w", err)
	}
	c.over = ans.transition.Ended()
	c.note(ans)
	return ans.transition, nil
}

// refused is the transition of an action that the server did not carry out or was not sent.
func (c *client) refused(e *envharness.ActionError) envharness.Transition {
	return envharness.Transition{Observation: c.last, Error: e}
}

// note keeps what an answer tells for later.
func (c *client) note(a answer) {
	c.last = a.transition.Observation
	if a.tools != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tools = a.tools
	}
}

// state asks for the state of the world.
func (c *client) state(ctx context.Context) (envharness.State, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	if !c.begun && !c.over {
		return nil, envharness.ErrNeedReset
	}
	data, err := c.ask(ctx, []byte(`{"type":"state"}`), "state")
	if err != nil {
		return nil, fmt.Errorf("openenv: state: %w", err)
	}
	fields, _ := object(data)
	if _, ok := object(fields["state"]); !ok {
		return nil, fmt.Errorf("openenv: state: %w", c.broke(errMalformed))
	}
	return fields["state"], nil
}

// play sends a message that is answered by an observation.
func (c *client) play(ctx context.Context, message []byte) (answer, error) {
	data, err := c.ask(ctx, message, "observation")
	if err != nil {
		return answer{}, err
	}
	a, err := readResult(data)
	if err != nil {
		return answer{}, c.broke(err)
	}
	return a, nil
}

// ask sends a message and waits for its answer, which must be of the given type.
func (c *client) ask(ctx context.Context, message []byte, want string) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	frame, err := c.exchange(ctx, message)
	if err != nil {
		return nil, err
	}
	kind, data, err := readFrame(frame)
	if err != nil {
		return nil, c.broke(err)
	}
	switch kind {
	case want:
		return data, nil
	case "error":
		e := readError(data)
		if e.fatal() {
			_ = c.broke(e)
		}
		return nil, e
	}
	return nil, c.broke(errMalformed)
}

// exchange sends a message and waits for its answer. When ctx ends the answer is left to come, and the connection stays as it is.
func (c *client) exchange(ctx context.Context, message []byte) ([]byte, error) {
	waiter := make(chan []byte, 1)
	c.mu.Lock()
	if c.cause != nil {
		defer c.mu.Unlock()
		return nil, c.cause
	}
	c.owed++
	c.waiter = waiter
	c.mu.Unlock()
	limit := time.NewTimer(c.timeout)
	defer limit.Stop()

	// A write that its context interrupts would cost the connection, so it is bounded by the timeout alone.
	sent := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		sent <- c.conn.Write(ctx, websocket.MessageText, message)
	}()
	for {
		select {
		case frame := <-waiter:
			return frame, nil
		case err := <-sent:
			if err != nil {
				// The reader knows better why, such as a message that came before the end.
				select {
				case <-c.gone:
				case <-limit.C:
				}
				return nil, c.broke(err)
			}
			sent = nil
		case <-c.gone:
			select {
			case frame := <-waiter:
				return frame, nil // it came before the end
			default:
			}
			return nil, c.broke(errLost)
		case <-limit.C:
			return nil, c.broke(context.DeadlineExceeded)
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			c.waiter = nil
			return nil, ctx.Err()
		}
	}
}

// read takes what the server sends, and answers its pings, until the connection ends.
func (c *client) read() {
	defer close(c.gone)
	for {
		kind, frame, err := c.conn.Read(context.Background())
		if err != nil {
			_ = c.broke(err)
			return
		}
		if kind != websocket.MessageText || !c.deliver(frame) {
			_ = c.broke(errMalformed)
			return
		}
	}
}

// deliver hands an answer to who waits for it. It reports false if nothing was asked.
func (c *client) deliver(frame []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owed == 0 {
		if kind, data, err := readFrame(frame); err == nil && kind == "error" && c.cause == nil {
			c.cause = readError(data) // a session may be ended unasked, and that is why
		}
		return false
	}
	if c.owed--; c.owed == 0 && c.waiter != nil {
		c.waiter <- frame
		c.waiter = nil
	}
	return true
}

// broke gives the connection up and returns why, which is what was found first.
func (c *client) broke(err error) error {
	c.mu.Lock()
	if c.closed {
		err = envharness.ErrClosed
	} else {
		if c.cause == nil {
			c.cause = infra(err)
		}
		err = c.cause
	}
	c.mu.Unlock()
	go func() { _ = c.conn.CloseNow() }() // which waits for the reader, and the reader may be who calls
	return err
}

// Close ends the session and waits a second at most for the server to do the same. In mid-call it ends the call.
func (c *client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		<-c.gone
		return nil
	}
	c.closed = true
	polite := !c.busy && c.cause == nil
	c.mu.Unlock()
	if polite {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if c.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"close"}`)) == nil {
			select {
			case <-c.gone:
			case <-ctx.Done():
			}
		}
	}
	_ = c.conn.CloseNow()
	<-c.gone
	return nil
}

// resetMessage writes the options of a reset: the task as episode_id, the seed, and the environment's own options beside them.
func resetMessage(o envharness.ResetOptions) ([]byte, error) {
	data := map[string]json.RawMessage{}
	if len(o.Options) > 0 && string(bytes.TrimSpace(o.Options)) != "null" {
		fields, ok := object(o.Options)
		if !ok {
			return nil, errors.New("openenv: the options of a reset are no JSON object")
		}
		for _, k := range []string{"seed", "episode_id", "task"} {
			if _, ok := fields[k]; ok {
				return nil, fmt.Errorf("openenv: the options of a reset have a field %q, which the wire uses itself", k)
			}
		}
		data = fields
	}
	if o.Seed != nil {
		data["seed"], _ = json.Marshal(*o.Seed) // a number
	}
	if o.Task != "" {
		key := "episode_id"
		if utf8.RuneCountInString(o.Task) > maxName {
			key = "task" // only a server of ours can read it
		}
		data[key], _ = encode(o.Task) // a string
	}
	b, err := encode(map[string]any{"type": "reset", "data": data})
	if err != nil {
		return nil, fmt.Errorf("openenv: the options of a reset are no JSON: %w", err)
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD")), nil
}

func join(before string, middle []byte, after string) []byte {
	b := make([]byte, 0, len(before)+len(middle)+len(after))
	return append(append(append(b, before...), middle...), after...)
}

// readFrame reads a message of a server.
func readFrame(frame []byte) (kind string, data json.RawMessage, err error) {
	if wellFormed(frame) != nil {
		return "", nil, errMalformed
	}
	fields, ok := object(frame)
	if !ok || json.Unmarshal(fields["type"], &kind) != nil {
		return "", nil, errMalformed
	}
	return kind, fields["data"], nil
}

// readError reads the data of an error message. Nothing in it is repeated but words.
func readError(data json.RawMessage) *Error {
	fields, _ := object(data)
	e := &Error{Code: "UNKNOWN"}
	var code, class string
	if json.Unmarshal(fields["code"], &code) == nil && isWord(code, 'A', 'Z') {
		e.Code = code
	}
	if json.Unmarshal(fields["class"], &class) == nil && e.Code == codeExecution {
		for _, c := range classes {
			if c.name == class {
				e.Class = class
			}
		}
		e.Class = or(e.Class, "failed")
	}
	return e
}

func isWord(s string, from, to byte) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < from || c > to) {
			return false
		}
	}
	return s != "" && len(s) <= 32
}
