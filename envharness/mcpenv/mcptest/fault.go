package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Kind says how a server breaks off.
type Kind string

// The kinds. Over HTTP, Exit and Close cut the connection without an answer.
const (
	Exit      Kind = "exit"      // the process ends with status 3, in the middle of the call
	Hang      Kind = "hang"      // the call is not answered before the client cancels it or, over HTTP, goes away; others are
	Close     Kind = "close"     // standard output is closed, the process goes on and reads: a half-open connection
	Malformed Kind = "malformed" // the answer is a line that is no JSON
	Oversized Kind = "oversized" // the answer is one line of Size bytes
	Flood     Kind = "flood"     // Size notifications come before the answer
)

// A Fault is one way to break off, at one message of the client. The zero Fault never does.
type Fault struct {
	Kind   Kind   `json:"kind,omitempty"`
	Method string `json:"method,omitempty"` // of the message; empty means tools/call
	Call   int    `json:"call,omitempty"`   // it is the Call-th of that method, counted from 1; zero means 1
	Size   int    `json:"size,omitempty"`   // zero means 16 MiB for Oversized and 10,000 for Flood
}

// counter returns a function that reports whether the fault is due at a message of the method.
func (f Fault) counter() func(method string) bool {
	at, want := f.Method, int64(max(f.Call, 1))
	if at == "" {
		at = "tools/call"
	}
	var seen atomic.Int64
	return func(method string) bool { return f.Kind != "" && method == at && seen.Add(1) == want }
}

func (f Fault) size(standard int) int {
	if f.Size > 0 {
		return f.Size
	}
	return standard
}

// inside reports whether the fault is one of the server, not of the transport.
func (f Fault) inside() bool { return f.Kind == Hang || f.Kind == Flood }

// middleware hangs and floods.
func (f Fault) middleware() mcp.Middleware {
	due := f.counter()
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if !f.inside() || !due(method) {
				return next(ctx, method, req)
			}
			if f.Kind == Hang {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			session, ok := req.GetSession().(*mcp.ServerSession)
			for i := range f.size(10_000) {
				if !ok {
					break
				}
				if err := session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "flood", Progress: float64(i)}); err != nil {
					return nil, err
				}
			}
			return next(ctx, method, req)
		}
	}
}

// transport puts the faults of frames into a transport that writes to out.
func (f Fault) transport(t mcp.Transport, out io.WriteCloser) mcp.Transport {
	if f.Kind == "" || f.inside() {
		return t
	}
	return faultyTransport{t, f, out}
}

type faultyTransport struct {
	mcp.Transport
	fault Fault
	out   io.WriteCloser
}

func (t faultyTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &faultyConn{c, t.fault, t.out, t.fault.counter()}, nil
}

type faultyConn struct {
	mcp.Connection
	fault Fault
	out   io.WriteCloser
	due   func(method string) bool
}

func (c *faultyConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		req, ok := m.(*jsonrpc.Request)
		if !ok || !c.due(req.Method) {
			return m, nil
		}
		switch c.fault.Kind {
		case Exit:
			os.Exit(3)
		case Close:
			err = c.out.Close()
		case Malformed:
			_, err = io.WriteString(c.out, "{\"jsonrpc\":\n")
		case Oversized:
			_, err = io.WriteString(c.out, c.fault.oversized()+"\n")
		}
		if err != nil {
			return nil, err
		}
	}
}

// oversized is a message that would be a good one but for its length.
func (f Fault) oversized() string {
	const head, tail = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"`, `"}}`
	return head + strings.Repeat("x", max(f.size(16<<20)-len(head)-len(tail), 0)) + tail
}

// handler puts the faults of frames, and a hang, into a handler.
func (f Fault) handler(next http.Handler) http.Handler {
	if f.Kind == "" || f.Kind == Flood {
		return next
	}
	due := f.counter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
		if err != nil {
			http.Error(w, "unreadable body", http.StatusBadRequest)
			return
		}
		var m struct{ Method string }
		if json.Unmarshal(body, &m) != nil || !due(m.Method) { // the SDK says what is wrong with a body that is no JSON
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
			return
		}
		switch f.Kind {
		case Hang:
			<-r.Context().Done()
		case Malformed:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":`)
		case Oversized:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, f.oversized())
		default:
			panic(http.ErrAbortHandler) // the documented way to cut a connection
		}
	})
}
