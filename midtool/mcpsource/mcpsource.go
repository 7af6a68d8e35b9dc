// Package mcpsource reads the tools of servers of the Model Context Protocol as tools of package midtool, and executes calls on them.
package mcpsource

import (
	"context"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/throughline-go/throughline/internal/mcpclient"
	"github.com/throughline-go/throughline/midtool"
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

// A Source is a [midtool.Source]: the tools of one server.
type Source struct {
	Server  Server
	Group   string // of the tools; empty means the name that the server gives itself
	License string // of the tools, which MCP does not state
}

// Tools connects, lists the tools, and disconnects.
func (s Source) Tools(ctx context.Context) iter.Seq2[midtool.Tool, error] { return nil }

var _ = mcpclient.Server(Server{})
