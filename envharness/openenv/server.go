package openenv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// ServerOptions adjusts a server. A nil *ServerOptions equals &ServerOptions{}.
type ServerOptions struct {
	// What /metadata tells. An empty Name means that of the environment's description, or else "environment"; an empty Description means
	// the name, and what else is empty is null. URL is that of a documentation.
	Name, Description, Version, Author, Readme, URL string

	// Sessions is the most environments open at once, those of requests over HTTP included; zero means 1, as in the reference.
	Sessions int
	// Idle is the time after which a session ends from which no message came; zero means 10 minutes.
	Idle time.Duration
	// StepTimeout bounds each call of the environment and of the function that opens it; zero means a minute.
	StepTimeout time.Duration
	// MaxMessage is the length in bytes of the longest message, in and out; zero means 4 MiB.
	MaxMessage int
	// ExposeState serves /state and the message "state", and the graded fields' names: the whole state, with what the verifier reads. It is
	// for trainers that keep it from the policy.
	ExposeState bool
	// Origins lists hosts from whose web pages browsers may connect, such as "lab.example.com" or "*.example.com" (see path.Match). Nil
	// means the server's own host alone. What is no browser sends no Origin and is not asked.
	Origins []string
	// Failed is told of every failure of an environment, which the client learns only the kind of: the call (open, describe, reset, step,
	// state or close) and the error as it is, with whatever secrets are in its text, or the value and the stack of a panic. It must be safe
	// for concurrent use and return soon. Nil means that nobody is told.
	Failed func(call string, err error)
}

// A Server serves environments over HTTP and WebSocket. It is an [http.Handler] for the paths /ws, /reset, /step, /state, /mcp, /metadata,
// /schema and /health; use [http.StripPrefix] to have it elsewhere. Its methods are safe for concurrent use.
type Server struct {
	open        func(context.Context) (envharness.Environment, error)
	o           ServerOptions
	stepTimeout time.Duration
	idle        time.Duration
	grace       time.Duration // for what has to end soon: a canceled call, a farewell
	patience    time.Duration // for a peer to take or to send one message

	ending context.Context // done when no new session may begin, and those that are end after their message
	end    context.CancelFunc
	cut    context.Context // done when those that are left are cut off
	sever  context.CancelFunc

	mu       sync.Mutex
	active   int           // slots in use
	requests int           // handlers that run
	changed  chan struct{} // closed and made anew when one of both falls
	about    *about        // what is known of the environments, nil before the first was opened
}

// NewServer makes a server of the environments that open makes. Each session gets one of its own, so open must be safe for concurrent use
// as [envharness.World].New is. The context bounds the opening only. What is open may be anything that implements [envharness.Environment]:
// a bare one shows a policy all that it shows, and an [envharness.Harness] what its components let through.
//
// All faults in the options are one joined error.
func NewServer(open func(ctx context.Context) (envharness.Environment, error), o *ServerOptions) (*Server, error) {
	s := &Server{open: open, grace: time.Second, patience: 10 * time.Second, changed: make(chan struct{})}
	if o != nil {
		s.o = *o
	}
	var errs []error
	if open == nil {
		errs = append(errs, errors.New("openenv: open is nil"))
	}
	for _, d := range []struct {
		name  string
		value int64
	}{
		{"Sessions", int64(s.o.Sessions)}, {"Idle", int64(s.o.Idle)},
		{"StepTimeout", int64(s.o.StepTimeout)}, {"MaxMessage", int64(s.o.MaxMessage)},
	} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("openenv: %s is %d, want at least 0", d.name, d.value))
		}
	}
	for _, p := range s.o.Origins {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			errs = append(errs, fmt.Errorf("openenv: origin %q is no pattern of hosts", p))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.o.Sessions = or(s.o.Sessions, 1)
	s.o.MaxMessage = or(s.o.MaxMessage, defaultMaxMessage)
	s.idle = or(s.o.Idle, 10*time.Minute)
	s.stepTimeout = or(s.o.StepTimeout, time.Minute)
	s.ending, s.end = context.WithCancel(context.Background())
	s.cut, s.sever = context.WithCancel(context.Background())
	return s, nil
}

const defaultMaxMessage = 4 << 20

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// ServeHTTP answers a request, or holds a session until it ends. When the context of the request ends, so does the session.
//
// Answers to requests are JSON. A request that breaks a rule is answered 422 with {"detail":[{"type","loc","msg","input"}]}; others that
// fail have {"detail":text} and a status that tells why: 403 a page of another origin, 404 and 405 as ever, 413 a body above MaxMessage,
// 500 a failure of the environment, with its class, 503 no free slot (with active_sessions and max_sessions) or a shutdown.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		// Before an answer package net/http reads what is left of a body, which may never come.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.grace)) // not all kinds of connections have one
	}
	if !s.enter() {
		if r.URL.Path == "/health" {
			s.respond(w, http.StatusServiceUnavailable, map[string]string{"status": "unhealthy"})
			return
		}
		s.refuse(w, http.StatusServiceUnavailable, "the server is shutting down")
		return
	}
	defer s.exit()
	if !s.fromHere(r) {
		s.refuse(w, http.StatusForbidden, "requests from pages of this origin are not allowed")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.cut, cancel)()
	s.route(w, r.WithContext(ctx))
}

// fromHere reports whether a request comes from a page that may make it, or from no page at all.
func (s *Server) fromHere(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if strings.EqualFold(u.Host, r.Host) {
		return true
	}
	for _, p := range s.o.Origins {
		if ok, _ := path.Match(strings.ToLower(p), strings.ToLower(u.Host)); ok {
			return true
		}
	}
	return false
}

// Shutdown takes no new sessions, ends the running ones after their present message, and returns when all are closed or ctx is done,
// after which they are cut off: the contexts of their calls end, and so do the connections. The error then wraps that of ctx, and says
// how many environments are still open because their code does not return. Nothing else is left behind. Calling it again waits again.
//
// It does not stop the [http.Server] around it, whose own Shutdown does not wait for sessions: call this one first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end()
	if s.drained(ctx.Done()) {
		return nil
	}
	s.sever()
	// Calls get a grace after their context ended and another with the environment closed, closing it as much, and a farewell one.
	late, cancel := context.WithTimeout(context.Background(), 5*s.grace)
	defer cancel()
	if s.drained(late.Done()) {
		return fmt.Errorf("openenv: sessions were cut off: %w", ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Errorf("openenv: %d environments do not close: %w", s.active, ctx.Err())
}

// drained waits until nothing runs any more, or until done.
func (s *Server) drained(done <-chan struct{}) bool {
	for {
		s.mu.Lock()
		idle, changed := s.active == 0 && s.requests == 0, s.changed
		s.mu.Unlock()
		if idle {
			return true
		}
		select {
		case <-changed:
		case <-done:
			return false
		}
	}
}

// enter counts a request, unless the server shuts down.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending.Err() != nil {
		return false
	}
	s.requests++
	return true
}

func (s *Server) exit() { s.fall(&s.requests) }

// acquire takes a slot, and says how many are in use if none is free.
func (s *Server) acquire() (active int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active >= s.o.Sessions {
		return s.active, false
	}
	s.active++
	return s.active, true
}

func (s *Server) release() { s.fall(&s.active) }

func (s *Server) fall(n *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n--
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) failed(call string, err error) {
	if s.o.Failed != nil {
		s.o.Failed(call, err)
	}
}
