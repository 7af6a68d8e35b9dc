package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Server says how to reach a server: Command or URL.
type Server struct {
	Command []string // program and arguments; the server speaks on its standard streams
	Dir     string   // working folder of the program; empty means that of the caller
	// Env are variables of the program, as "NAME=value", besides the few of this process without which programs do not run (PATH, HOME,
	// TMPDIR, ...). No other variable of this process is passed on, so that secrets go to those alone that they are given to.
	Env    []string
	Grace  time.Duration // how long the program may take to end by itself before it is killed; zero means 2 seconds
	Stderr io.Writer     // gets what the program writes there; nil discards it

	URL        string       // address of a streamable HTTP endpoint
	Header     http.Header  // sent with each request, such as Authorization
	HTTPClient *http.Client // nil means a client of its own without a proxy or cookies

	MaxMessage int // longest message of the server in bytes; zero means 4 MiB
}

const (
	defaultMaxMessage = 4 << 20 // as a line of the bridges of envharness
	defaultGrace      = 2 * time.Second
)

// check returns the parsed URL, which is nil for a program. The text of no error holds the URL.
func (s *Server) check() (*url.URL, error) {
	var faults []error
	if (len(s.Command) > 0) == (s.URL != "") {
		faults = append(faults, errors.New("want one of Command and URL"))
	}
	if len(s.Command) > 0 && s.Command[0] == "" {
		faults = append(faults, errors.New("the program, Command[0], is empty"))
	}
	if s.Grace < 0 {
		faults = append(faults, fmt.Errorf("a Grace of %v, want 0 or more", s.Grace))
	}
	if s.MaxMessage < 0 {
		faults = append(faults, fmt.Errorf("a MaxMessage of %d, want 0 or more", s.MaxMessage))
	}
	var u *url.URL
	if s.URL != "" {
		var err error
		u, err = url.Parse(s.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			faults = append(faults, errors.New("URL is not an address with http or https and a host"))
		}
	}
	return u, errors.Join(faults...)
}

// A link is a connection with all that lies below it.
type link interface {
	mcp.Connection
	base() *conn
	// shut releases all that the connection holds, once it has failed. It is called once; now means without any grace.
	shut(now bool)
}

// transport hands a connection to the SDK.
type transport struct{ link }

func (t transport) Connect(context.Context) (mcp.Connection, error) { return t.link, nil }

// A Session is a connection to a server that has been initialized. Its methods may be called concurrently.
type Session struct {
	sdk           *mcp.ClientSession
	link          link
	name, version string
	close         func()
}

// Connect starts or reaches the server and initializes the session. The context bounds that alone. When it ends early the
// program is killed at once.
func Connect(ctx context.Context, s Server) (*Session, error) {
	u, err := s.check()
	if err != nil {
		return nil, fmt.Errorf("mcpclient: server: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mcpclient: connect: %w", err)
	}
	if s.MaxMessage == 0 {
		s.MaxMessage = defaultMaxMessage
	}
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	c := newConn(s.MaxMessage, newRedactor(&s, u))
	var l link
	if u != nil {
		l = dial(s, u, c)
	} else if l, err = start(s, c); err != nil {
		return nil, fmt.Errorf("mcpclient: connect: %w: %s", ErrNoAnswer, c.redact.text(err.Error()))
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "throughline", Version: "0"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	a := new(answer)
	sdk, err := client.Connect(context.WithValue(ctx, answerKey{}, a), transport{l}, nil)
	if err != nil {
		err = c.fault(ctx, a, "connect", err)
		c.fail(errClosed)
		l.shut(ctx.Err() != nil)
		return nil, err
	}
	c.forget(a)
	session := &Session{sdk: sdk, link: l}
	if info := sdk.InitializeResult().ServerInfo; info != nil {
		session.name, session.version = info.Name, info.Version
	}
	session.close = sync.OnceFunc(func() {
		c.fail(errClosed)
		l.shut(false)
		_ = sdk.Close() // that of a connection which has ended
	})
	return session, nil
}

// Name returns what the server calls itself, and its version. Both may be empty.
func (s *Session) Name() (name, version string) { return s.name, s.version }

// Redact makes a short line of what a tool answered, without the secrets of the server's description, for an error.
func (s *Session) Redact(text string) string { return s.link.base().redact.text(text) }

// Close ends the session, and the program that serves it with all that it started. It is idempotent and unblocks all calls, which then
// return [ErrNoAnswer]. It takes no longer than Server.Grace and what it takes to kill the program.
// Its error is always nil.
func (s *Session) Close() error {
	s.close()
	return nil
}

// ask makes a request by send, and returns the raw result.
func (s *Session) ask(ctx context.Context, what string, send func(context.Context) error) (json.RawMessage, error) {
	c := s.link.base()
	a := new(answer)
	err := send(context.WithValue(ctx, answerKey{}, a))
	c.forget(a)
	if err != nil {
		return nil, c.fault(ctx, a, what, err)
	}
	return c.result(a), nil
}
