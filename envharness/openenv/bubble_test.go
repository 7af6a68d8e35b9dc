package openenv_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openenv"
)

// Pipes are a network in memory, so that a bubble of package synctest can hold both sides: its clock jumps to the next timer as soon as
// all wait, and what a test says of time holds on any machine.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newPipes() *pipes {
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.close(); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// pipeURL is the address of a server at the end of pipes.
const pipeURL = "http://pipe"

// servePiped is serve within a bubble, which fails a test that leaves a goroutine by itself.
func servePiped(t *testing.T, open func(context.Context) (envharness.Environment, error), o *openenv.ServerOptions) (*openenv.Server, *pipes) {
	t.Helper()
	s, err := openenv.NewServer(open, o)
	if err != nil {
		t.Fatal(err)
	}
	p := newPipes()
	h := &http.Server{Handler: s}
	go func() { _ = h.Serve(p) }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		_ = h.Close()
	})
	return s, p
}

// options are those of a client that goes through the pipes.
func (p *pipes) options() *openenv.ClientOptions {
	return &openenv.ClientOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true}}}
}

func (p *pipes) raw(t *testing.T) *raw {
	t.Helper()
	conn, err := p.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return handshake(t, conn)
}

// A session that the server ended while nobody asked for anything is an error that says so.
func TestReaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := servePiped(t, toys, &openenv.ServerOptions{Idle: 10 * time.Second})
		env := open(t, pipeURL, p.options())
		if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second - 1)
		if _, err := env.Step(t.Context(), envharness.Action{Name: "go"}); err != nil {
			t.Errorf("a step just in time: %v", err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		_, err := env.Step(t.Context(), envharness.Action{Name: "go"})
		if e, ok := errors.AsType[*openenv.Error](err); !ok || e.Code != "SESSION_ERROR" || !errors.Is(err, envharness.ErrInfra) {
			t.Errorf("got %v", err)
		}
	})
}

// A client that asks for what is known and does not take it does not hold up the end of the server.
func TestSlowReaderOfSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := []envharness.Tool{{Name: "go", Description: strings.Repeat("long ", 10_000)}}
		s, p := servePiped(t, func(context.Context) (envharness.Environment, error) { return &toy{tools: long}, nil }, nil)
		for _, path := range []string{"/schema", "/metadata"} {
			conn, err := p.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := conn.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: pipe\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
}

// A request whose body comes slowly is answered; where it stops coming, neither the slot nor the connection is held for long, even if the body
// is of no use.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := servePiped(t, toys, nil)
		for _, c := range []struct {
			request, sent string
			status        int
			reason        string
		}{
			{"POST /reset", `{"seed":7}`, http.StatusOK, "slow"},
			{"POST /reset", `{"seed"`, http.StatusBadRequest, "it stops"},
			{"POST /reset", ``, http.StatusBadRequest, "it does not begin"},
			{"POST /elsewhere", `{"seed"`, http.StatusNotFound, "nobody reads it"},
			{"PUT /reset", `{"seed"`, http.StatusMethodNotAllowed, "nobody reads it"},
			{"GET /health", `{"seed"`, http.StatusOK, "nobody reads it"},
		} {
			conn, err := p.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if _, err := conn.Write([]byte(c.request + " HTTP/1.1\r\nHost: pipe\r\nContent-Length: 10\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
			for i := range len(c.sent) {
				time.Sleep(90 * time.Millisecond)
				if _, err := conn.Write([]byte(c.sent[i : i+1])); err != nil {
					t.Fatal(err)
				}
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%s: %s: %v after %v", c.reason, c.request, err, time.Since(begin))
			}
			if took := time.Since(begin); resp.StatusCode != c.status || openenv.Slots(s) != 0 || took > 10*time.Second {
				t.Errorf("%s: %s: status %d after %v, %d slots in use", c.reason, c.request, resp.StatusCode, took, openenv.Slots(s))
			}
			_ = conn.Close()
		}
	})
}

// A server that stops reading, with the connection open, is given up after Timeout, and holds up neither the context of a call nor Close.
func TestServerStopsReading(t *testing.T) {
	for _, how := range []string{"timeout", "context", "close"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leave := make(chan struct{})
				p := newPipes()
				h := &http.Server{Handler: after(func(*websocket.Conn) error { <-leave; return errors.New("left") })}
				go func() { _ = h.Serve(p) }()
				defer func() { close(leave); _ = h.Close() }()
				env := open(t, pipeURL, p.options())
				if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
					t.Fatal(err)
				}
				if _, err := env.Step(within(t, time.Second), envharness.Action{Name: "go"}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a step that is read and not answered: %v", err)
				}
				// From here on nothing is read: what a reset sends is stuck.
				begin, ctx := time.Now(), t.Context()
				task := envharness.ResetOptions{Task: strings.Repeat("x", 1<<20)}
				want, took := envharness.ErrInfra, 90*time.Second
				switch how {
				case "context":
					ctx = within(t, 2*time.Second)
					want, took = context.DeadlineExceeded, 2*time.Second
				case "close":
					time.AfterFunc(3*time.Second, func() { _ = env.Close() })
					want, took = envharness.ErrClosed, 3*time.Second
				}
				if _, err := env.Reset(ctx, task); !errors.Is(err, want) || time.Since(begin) != took {
					t.Errorf("%v after %v, want %v after %v", err, time.Since(begin), want, took)
				}
				begin = time.Now()
				if err := env.Close(); err != nil || time.Since(begin) > 5*time.Second {
					t.Errorf("closed after %v: %v", time.Since(begin), err)
				}
			})
		})
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// In silence nothing happens, and the slot is taken back.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := servePiped(t, toys, &openenv.ServerOptions{Idle: 10 * time.Second})
		w := p.raw(t)
		begin := time.Now()
		w.expectError("SESSION_ERROR")
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if got := w.expectEnd(); got != 1001 {
			t.Errorf("farewell with status %d", got)
		}
		if got := openenv.Slots(s); got != 0 {
			t.Errorf("%d slots in use", got)
		}
	})
}

// A step that is late is an error, after which the episode is given up and the session goes on.
func TestStepTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		slow.Store(true)
		_, p := servePiped(t, func(context.Context) (envharness.Environment, error) {
			return &toy{onStep: func(ctx context.Context, _ envharness.Action) error {
				if slow.Load() {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}}, nil
		}, &openenv.ServerOptions{StepTimeout: 5 * time.Second})
		w := p.raw(t)
		w.send(`{"type":"reset"}`)
		w.expect("observation")
		w.send(`{"type":"step","data":{"name":"go"}}`)
		if data := w.expectError("EXECUTION_ERROR"); data["class"] != "timeout" {
			t.Errorf("told %v", data)
		}
		w.send(`{"type":"step","data":{"name":"go"}}`)
		if data := w.expectError("EXECUTION_ERROR"); data["class"] != "need_reset" {
			t.Errorf("told %v", data)
		}
		slow.Store(false)
		w.send(`{"type":"reset"}`)
		w.expect("observation")
	})
}

// A client may ask for less time than the server grants for a step.
func TestRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := servePiped(t, func(context.Context) (envharness.Environment, error) {
			return &toy{onStep: func(ctx context.Context, _ envharness.Action) error { <-ctx.Done(); return ctx.Err() }}, nil
		}, nil)
		begin := time.Now()
		status, body := postWith(t, p.options().HTTPClient, pipeURL+"/step", `{"action":{"name":"go"},"timeout_s":2.5}`)
		if status != http.StatusInternalServerError || body != `{"class":"timeout","detail":"the environment took too long"}` {
			t.Errorf("got %d %s", status, body)
		}
		if took := time.Since(begin); took != 2500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// Code that does not return at all ends its session, and keeps its slot until it does: hanging environments do not pile up.
func TestHangingEnvironment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		s, p := servePiped(t, func(context.Context) (envharness.Environment, error) {
			return &toy{onStep: func(context.Context, envharness.Action) error { <-leave; return nil }}, nil
		}, &openenv.ServerOptions{StepTimeout: 5 * time.Second})
		w := p.raw(t)
		w.send(`{"type":"reset"}`)
		w.expect("observation")
		w.send(`{"type":"step","data":{"name":"go"}}`)
		w.expectError("SESSION_ERROR")
		if got := w.expectEnd(); got != 1011 {
			t.Errorf("farewell with status %d", got)
		}
		late := p.raw(t)
		late.expectError("CAPACITY_REACHED")
		late.expectEnd()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 environments do not close") {
			t.Errorf("got %v", err)
		}
		close(leave)
	})
}

// An environment that cannot describe itself is served without a description, and a client takes the server for one of ours all the same.
func TestNoDescription(t *testing.T) {
	for _, how := range []string{"panics", "hangs"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leave := make(chan struct{})
				var failures atomic.Int64
				s, p := servePiped(t, func(context.Context) (envharness.Environment, error) {
					return mute{new(toy), func() {
						if how == "panics" {
							panic("s3cr3t-m4rk3r")
						}
						<-leave
					}}, nil
				}, &openenv.ServerOptions{Sessions: 2, StepTimeout: 5 * time.Second, Failed: func(call string, _ error) {
					if call == "describe" {
						failures.Add(1)
					}
				}})
				t.Cleanup(func() { close(leave) })
				env, err := openenv.Open(t.Context(), pipeURL, p.options())
				if how == "hangs" {
					if e, ok := errors.AsType[*openenv.Error](err); !ok || e.Code != "FACTORY_ERROR" || openenv.Slots(s) != 1 {
						t.Errorf("got %v, %d slots", err, openenv.Slots(s))
					}
					env = open(t, pipeURL, p.options()) // the next is not asked
				}
				if env == nil {
					t.Fatal(err)
				}
				if _, ok := envharness.As[envharness.Describer](env); ok {
					t.Error("described")
				}
				if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
					t.Error(err)
				}
				if err := env.Close(); err != nil || failures.Load() == 0 {
					t.Errorf("close: %v, %d failures", err, failures.Load())
				}
			})
		})
	}
}

// A mute environment fails to describe itself.
type mute struct {
	*toy
	fail func()
}

func (m mute) Describe() envharness.Description {
	m.fail()
	return envharness.Description{}
}
