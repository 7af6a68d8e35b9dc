// Package openenv speaks the wire of OpenEnv: it serves environments over HTTP and WebSocket, and drives those that others serve.
package openenv

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/throughline-go/throughline/envharness"
)

// ServerOptions adjusts a server. A nil *ServerOptions equals &ServerOptions{}.
type ServerOptions struct {
	Name, Description, Version, Author, Readme, URL string // for /metadata

	Sessions    int           // most episodes at once; zero means 1, as in the reference
	Idle        time.Duration // a session in which nothing happens for so long is ended; zero means 10 minutes
	StepTimeout time.Duration // of one call of the environment; zero means a minute
	MaxMessage  int           // longest message in bytes; zero means 4 MiB
	ExposeState bool          // serve /state and the message "state", graded fields included
	Origins     []string      // hosts that web pages may connect from; nil means none but the server's own
}

// A Server serves environments. It is an [http.Handler].
type Server struct{ _ *websocket.Conn }

// NewServer makes a server of the environments that open makes: each session gets one of its own.
func NewServer(open func(ctx context.Context) (envharness.Environment, error), o *ServerOptions) (*Server, error) {
	return nil, errors.New("openenv: not implemented")
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

// Shutdown takes no new sessions, ends the running ones after their present message, and returns when all are closed or ctx is done,
// after which they are cut off.
func (s *Server) Shutdown(ctx context.Context) error { return nil }

// ClientOptions adjusts a client. A nil *ClientOptions equals &ClientOptions{}.
type ClientOptions struct {
	Header     http.Header   // sent with each request
	HTTPClient *http.Client  // nil means a client of its own
	Timeout    time.Duration // of one message and its answer; zero means 90 seconds
	MaxMessage int           // longest message in bytes; zero means 4 MiB
}

// Open connects to a server at a base address such as http://localhost:8000 and returns an environment of it.
func Open(ctx context.Context, address string, o *ClientOptions) (envharness.Environment, error) {
	return nil, errors.New("openenv: not implemented")
}
