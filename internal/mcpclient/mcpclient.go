// Package mcpclient connects to a server of the Model Context Protocol, over the standard streams of a program that it owns or over
// streamable HTTP, with bounds on all that the server sends. It is the common part of midtool/mcpsource and envharness/mcpenv.
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Server says how to reach a server: Command or URL.
type Server struct {
	Command []string // program and arguments; the server speaks on its standard streams
	Dir     string   // working folder of the program; empty means that of the caller
	// Env is the whole environment of the program. Nil means the few variables without which programs do not run, as this process has
	// them, and none that may hold a secret.
	Env    []string
	Grace  time.Duration // how long the program may take to end by itself before it is killed; zero means 2 seconds
	Stderr io.Writer     // gets what the program writes there; nil discards it

	URL        string       // address of a streamable HTTP endpoint
	Header     http.Header  // sent with each request, such as Authorization
	HTTPClient *http.Client // nil means a client of its own without a proxy or cookies

	MaxMessage int // longest message of the server in bytes; zero means 4 MiB
}

// A Session is a connection to a server that has been initialized. Its methods may be called concurrently.
type Session struct{ _ *mcp.ClientSession }

// Connect starts or reaches the server and initializes the session. The context bounds that alone.
func Connect(ctx context.Context, s Server) (*Session, error) {
	return nil, errors.New("mcpclient: not implemented")
}

// Name returns what the server calls itself, and its version.
func (s *Session) Name() (name, version string) { return "", "" }

// Pages yields the results of tools/list as the server sent them, byte for byte, until no cursor follows. A cursor that comes again
// and more than 1,000 pages are errors.
func (s *Session) Pages(ctx context.Context) iter.Seq2[json.RawMessage, error] { return nil }

// A Result is the answer to one call of a tool.
type Result struct {
	Text       string          // the parts of text, joined with a line break; other parts are named in brackets, such as [image image/png]
	Structured json.RawMessage // structuredContent; nil without
	IsError    bool            // the tool, or the server on behalf of the tool, reports a failure
	// BadArguments says that the failure is one of name or arguments: code -32602, as a JSON-RPC error or in the text of the result.
	BadArguments bool
}

// Call calls a tool. Arguments are a JSON object; nil means none. A JSON-RPC error with code -32602 is a Result; any other,
// a broken connection and a message beyond the bounds are errors.
func (s *Session) Call(ctx context.Context, name string, arguments json.RawMessage) (*Result, error) {
	return nil, errors.New("mcpclient: not implemented")
}

// Close ends the session, and the program that serves it with all that it started. It is idempotent and unblocks all calls.
func (s *Session) Close() error { return nil }
