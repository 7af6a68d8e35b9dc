package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// each calls f with 0 to n-1, on as many goroutines.
func each(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
}

// many opens n sessions at once, makes a call in each while all are open, and closes them.
func many(t *testing.T, n int, server func(i int) Server, check func(i int, r *Result, err error) error) {
	t.Helper()
	sessions := make([]*Session, n)
	each(t, n, func(i int) (err error) {
		sessions[i], err = Connect(t.Context(), server(i))
		return err
	})
	each(t, n, func(i int) error {
		r, err := sessions[i].Call(t.Context(), "tool_00001", fmt.Appendf(nil, `{"n":%d}`, i))
		return errors.Join(check(i, r, err), sessions[i].Close())
	})
}

// A thousand sessions with the SDK's server at once each get their own answer, and leave nothing.
func TestManySessions(t *testing.T) {
	noLeaks(t)
	n := 1000
	if testing.Short() { // the server is what takes the time
		n = 250
	}
	server := sdkServer(2, 0)
	h := httptest.NewUnstartedServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	var open atomic.Int64
	h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	h.Start()
	t.Cleanup(h.Close)
	many(t, n, func(int) Server { return Server{URL: h.URL} }, func(i int, r *Result, err error) error {
		if want := fmt.Sprintf(`got {"n":%d}`, i); err != nil || r.Text != want {
			return fmt.Errorf("%+v, %w, want %s", r, err, want)
		}
		return nil
	})
	for deadline := time.Now().Add(5 * time.Second); open.Load() > 0; runtime.Gosched() { // while the server is still there
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are open after all sessions were closed", open.Load())
		}
	}
}

// Neither do a thousand programs, four fifths of which break off, in as many ways.
func TestManyPrograms(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed")
	}
	n := 1000
	if runtime.GOOS != "linux" { // others allow a user fewer
		n = 100
	}
	noLeaks(t)
	const script = `say() { id=${l#*'"id":'}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "${id%%[,\}]*}" "$1"; }
while read -r l; do
	case $l in
	*'"initialize"'*) say "$1";;
	*'"tools/call"'*) `
	ends := []string{`say "$2"`, `exit 3`, `kill -9 $$`, `exec 1>&-; read l`, `echo garbage`}
	many(t, n, func(i int) Server {
		answer := said(fmt.Sprint("I am ", i))
		return Server{Command: []string{sh, "-c", script + ends[i%len(ends)] + ";;\n\tesac\ndone", "sh", initialized, answer}}
	}, func(i int, r *Result, err error) error {
		if i%len(ends) > 0 {
			if r != nil || !errors.Is(err, ErrNoAnswer) {
				return fmt.Errorf("%+v, %w, want no answer", r, err)
			}
		} else if want := fmt.Sprint("I am ", i); err != nil || r.Text != want {
			return fmt.Errorf("%+v, %w, want %s", r, err, want)
		}
		return nil
	})
}

// A server that takes a call byte by byte gets it; one that stops taking it, with the connection open, holds up neither the context of the
// call nor Close.
func TestHTTPSlowReader(t *testing.T) {
	noLeaks(t)
	begun, gone := make(chan struct{}, 1), make(chan struct{})
	inner := byHand(func(w http.ResponseWriter, r *http.Request, m message) {
		asJSON(w, result(m.ID, said(fmt.Sprint(r.ContentLength))))
	})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := make([]byte, 256)
		n, _ := io.ReadFull(r.Body, start)
		if strings.Contains(string(start[:n]), `"stuck"`) {
			begun <- struct{}{}
			<-gone
			return
		}
		r.Body = io.NopCloser(iotest.OneByteReader(io.MultiReader(bytes.NewReader(start[:n]), r.Body)))
		inner.ServeHTTP(w, r)
	})}
	l := pipes{make(chan net.Conn), gone}
	go server.Serve(l)
	client := &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
	t.Cleanup(func() { close(gone); server.Close() })

	long := json.RawMessage(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`)
	s := connect(t, Server{URL: "http://pipe", HTTPClient: client, Grace: 50 * time.Millisecond})
	if r, err := s.Call(t.Context(), "slow", long); err != nil || len(r.Text) != 5 {
		t.Errorf("%+v, %v, want how long it was", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := s.Call(ctx, "stuck", long); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNoAnswer) {
		t.Errorf("%v, want the error of the context", err)
	}
	go func() { <-begun; s.Close() }()
	if _, err := s.Call(t.Context(), "stuck", long); !errors.Is(err, ErrNoAnswer) || !says(err, "the session is closed") {
		t.Errorf("%v, want that the session is closed", err)
	}
	s.Close()
}

// Pipes are a network without buffers: what is not read cannot be sent.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
