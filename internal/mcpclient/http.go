package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// An endpoint is a connection over streamable HTTP: each message is a POST of its own, answered by JSON or by events.
type endpoint struct {
	*conn
	url     string
	header  http.Header
	client  *http.Client
	own     *http.Transport // nil if the client is the caller's
	grace   time.Duration
	life    context.Context // ends with the connection
	end     context.CancelFunc
	running sync.WaitGroup
	notices chan struct{} // a token for each notice that is under way

	state   sync.Mutex
	session string // as the server named it
	version string // of the protocol, as the server chose
	closing bool   // nothing more is started
}

// maxNotices bounds the notices of cancellation under way at a time; one more is dropped.
const maxNotices = 16

func dial(s Server, u *url.URL, c *conn) *endpoint {
	e := &endpoint{conn: c, header: s.Header.Clone(), grace: s.Grace, notices: make(chan struct{}, maxNotices)}
	if e.header == nil {
		e.header = http.Header{}
	}
	e.life, e.end = context.WithCancel(context.Background())
	address := *u
	address.Fragment = ""
	e.url = address.String()
	client := http.Client{}
	if s.HTTPClient != nil {
		client = *s.HTTPClient
	} else {
		e.own = &http.Transport{
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        time.Minute,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		}
		client.Transport = e.own
	}
	check := client.CheckRedirect
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		// Elsewhere the request would take Header and the arguments along.
		if first := via[0]; r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host || r.Method != first.Method || len(via) > 10 {
			return http.ErrUseLastResponse
		}
		if check != nil {
			return check(r, via)
		}
		return nil
	}
	e.client = &client
	return e
}

// Write sends a message. A request is sent in a goroutine of its own, which reads the answer too.
func (e *endpoint) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	r, ok := m.(*jsonrpc.Request)
	switch {
	case !ok:
		return errors.New("requests of the server are not the SDK's to answer")
	case r.Method == "server/discover":
		e.spawn(func() {
			e.hand(&jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not sent"}})
		})
	case r.Method == "notifications/cancelled": // a courtesy, for which nobody waits
		e.notice(data)
	case r.IsCall():
		e.expect(ctx, r)
		e.spawn(func() {
			ctx, cancel := e.within(ctx)
			defer cancel()
			if err := e.call(ctx, data, r); err != nil {
				e.lose(r.ID, err)
			}
		})
	default:
		ctx, cancel := e.within(ctx)
		defer cancel()
		if err := e.tell(ctx, data); err != nil {
			e.fail(err)
			return err
		}
	}
	return nil
}

// spawn runs f, which the end of the connection waits for.
func (e *endpoint) spawn(f func()) {
	e.state.Lock()
	defer e.state.Unlock()
	if !e.closing {
		e.running.Go(f)
	}
}

// within returns a context that ends with ctx and with the connection.
func (e *endpoint) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// notice tells the server that a call was given up, if it takes that in time.
func (e *endpoint) notice(data []byte) {
	select {
	case e.notices <- struct{}{}:
	default:
		return
	}
	e.spawn(func() {
		defer func() { <-e.notices }()
		ctx, cancel := context.WithTimeout(e.life, e.grace)
		defer cancel()
		e.tell(ctx, data)
	})
}

// tell sends a message that has no answer.
func (e *endpoint) tell(ctx context.Context, data []byte) error {
	resp, err := e.post(ctx, data)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// call sends a request and reads until its answer.
func (e *endpoint) call(ctx context.Context, data []byte, r *jsonrpc.Request) error {
	resp, err := e.post(ctx, data)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if r.Method == "initialize" {
		id := resp.Header.Get("Mcp-Session-Id")
		if len(id) > 4<<10 {
			return fmt.Errorf("the session's id has %d bytes, want at most %d", len(id), 4<<10)
		}
		e.state.Lock()
		e.session = id
		e.state.Unlock()
	}
	receive := func(text []byte) error {
		if r.Method == "initialize" {
			e.noteVersion(text)
		}
		return e.receive(text, func(m []byte) error { return e.tell(ctx, m) })
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		text, err := io.ReadAll(io.LimitReader(resp.Body, int64(e.max)+1))
		switch {
		case err != nil:
			return errors.New("the answer was cut off")
		case len(text) > e.max:
			return fmt.Errorf("an answer longer than %d bytes", e.max)
		}
		if err := receive(text); err != nil {
			return fmt.Errorf("the answer: %w", err)
		}
	case "text/event-stream":
		events := bufio.NewReaderSize(resp.Body, 16<<10)
		for number := 1; e.waits(r.ID); number++ {
			text, err := readEvent(events, e.max)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return errors.New("the events ended before the answer")
			}
			if err == nil && len(text) > 0 {
				err = receive(text)
			}
			if err != nil {
				return fmt.Errorf("event %d: %w", number, err)
			}
		}
		return nil
	default:
		return errors.New("the answer is neither JSON nor events")
	}
	if e.waits(r.ID) {
		return errors.New("the answer is to another request")
	}
	return nil
}

// waits reports whether a request has no answer yet.
func (e *endpoint) waits(id jsonrpc.ID) bool {
	n, _ := id.Raw().(int64)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pending[n] != nil
}

// noteVersion takes the version of the protocol from the answer to initialize; each later request must name it.
func (e *endpoint) noteVersion(text []byte) {
	var m struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if tooDeep(text, maxDepth) || json.Unmarshal(text, &m) != nil || len(m.Result.ProtocolVersion) > 64 {
		return
	}
	e.state.Lock()
	defer e.state.Unlock()
	e.version = m.Result.ProtocolVersion
}

// post sends a message and returns the response if its status is one of success.
func (e *endpoint) post(ctx context.Context, data []byte) (*http.Response, error) {
	return e.request(ctx, http.MethodPost, data)
}

func (e *endpoint) request(ctx context.Context, method string, data []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, e.url, bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("the address cannot be used")
	}
	r.Header = e.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	e.state.Lock()
	if e.session != "" {
		r.Header.Set("Mcp-Session-Id", e.session)
	}
	if e.version != "" {
		r.Header.Set("Mcp-Protocol-Version", e.version)
	}
	e.state.Unlock()
	resp, err := e.client.Do(r)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // its text without the address
		}
		return nil, err
	}
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return resp, nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		err = fmt.Errorf("status %d, a redirect to elsewhere or to another method, which is not followed", resp.StatusCode)
	case resp.StatusCode == http.StatusNotFound && r.Header.Get("Mcp-Session-Id") != "":
		err = errors.New("the server no longer knows the session")
		e.fail(err)
	default:
		err = fmt.Errorf("status %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	resp.Body.Close() // unread, for it may echo what was sent
	return nil, err
}

func (e *endpoint) shut(now bool) {
	e.state.Lock()
	e.closing = true
	named := e.session != "" && !now
	e.state.Unlock()
	e.end()
	e.running.Wait()
	if named {
		ctx, cancel := context.WithTimeout(context.Background(), e.grace)
		defer cancel()
		if resp, err := e.request(ctx, http.MethodDelete, nil); err == nil {
			resp.Body.Close()
		}
	}
	if e.own != nil {
		e.own.CloseIdleConnections()
	}
}

// readEvent reads the data of one event, which is empty for one that carries no message. All its lines together are bounded.
func readEvent(in *bufio.Reader, most int) ([]byte, error) {
	var data []byte
	name, size, some := "", 0, false
	for {
		text, err := readLine(in, most)
		if err != nil {
			return nil, err
		}
		if len(text) == 0 {
			if name != "" && name != "message" {
				data = nil
			}
			return data, nil
		}
		field, value, _ := strings.Cut(string(text), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			if size += len(value) + 1; size > most+1 {
				return nil, fmt.Errorf("longer than %d bytes", most)
			}
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, value...), true
		}
	}
}
