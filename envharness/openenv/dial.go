package openenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/throughline-go/throughline/envharness"
)

// Open connects to a server at a base address, such as http://localhost:8000 or wss://lab.example.com/desk, and returns an environment of
// it: a session of its own until Close. The context bounds the opening only.
//
// What the environment can do besides is found with [envharness.As]: it is an envharness.Describer where the server tells its tools, and
// at a server of ours also an envharness.ToolLister, an envharness.TurnLimiter and an envharness.Stater if the environment there is one
// and the server lets it be seen. Nothing else crosses the wire.
//
// An error of the connection, the server or the environment wraps [envharness.ErrInfra], see [Error]; after it the episode is given
// up, and after one of the connection every call returns it. Calls that overlap return [envharness.ErrBusy], apart from Close.
func Open(ctx context.Context, address string, o *ClientOptions) (envharness.Environment, error) {
	if o == nil {
		o = new(ClientOptions)
	}
	base, err := url.Parse(address)
	var errs []error
	if err != nil || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		errs = append(errs, errors.New("openenv: the address is no base URL such as http://localhost:8000"))
	} else if _, ok := schemes[base.Scheme]; !ok {
		errs = append(errs, fmt.Errorf("openenv: the scheme of the address is %q, want http, https, ws or wss", base.Scheme))
	}
	if o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("openenv: Timeout is %v, want at least 0", o.Timeout))
	}
	if o.MaxMessage < 0 {
		errs = append(errs, fmt.Errorf("openenv: MaxMessage is %d, want at least 0", o.MaxMessage))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	d := dialer{base: base, header: o.Header, limit: or(o.MaxMessage, defaultMaxMessage)}
	d.base.Scheme = schemes[base.Scheme]
	if o.HTTPClient != nil {
		d.http = new(*o.HTTPClient)
	} else {
		// One connection for each request: nothing is left when the environment is closed. No proxy: that would be read from the process.
		d.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	}
	// A header with a token must not go where the caller did not send it.
	d.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	timeout := or(o.Timeout, 90*time.Second)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, d.base.JoinPath("ws").String(), &websocket.DialOptions{
		HTTPClient: d.http, HTTPHeader: o.Header.Clone(),
	})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, fmt.Errorf("openenv: connecting: the server answers with status %d: %w", resp.StatusCode, envharness.ErrInfra)
		}
		return nil, fmt.Errorf("openenv: connecting: %w", infra(err))
	}
	conn.SetReadLimit(int64(d.limit))
	c := &client{conn: conn, timeout: timeout, gone: make(chan struct{})}
	go c.read()
	env, err := c.meet(ctx, d)
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("openenv: meeting the server: %w", err)
	}
	return env, nil
}

var schemes = map[string]string{"http": "http", "https": "https", "ws": "http", "wss": "https"}

// World makes a world of the environments of a server, judged by a verifier of one's own: the server tells no verdict, and the state
// only if it was made to, so that what the verifier has is usually the log of the actions and their results. The arguments are looked at
// when the first environment is opened.
func World(address string, v envharness.Verifier, o *ClientOptions) envharness.World {
	return envharness.World{
		New:      func(ctx context.Context) (envharness.Environment, error) { return Open(ctx, address, o) },
		Verifier: v,
	}
}

// A dialer makes the requests of one client.
type dialer struct {
	base   *url.URL
	http   *http.Client
	header http.Header
	limit  int
}

// get fetches a document of the server, nil if there is none.
func (d dialer) get(ctx context.Context, path string) []byte {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base.JoinPath(path).String(), nil)
	if err != nil {
		return nil
	}
	if d.header != nil {
		r.Header = d.header.Clone()
	}
	resp, err := d.http.Do(r)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, int64(d.limit)+1))
	if err != nil || resp.StatusCode != http.StatusOK || len(b) > d.limit || wellFormed(b) != nil {
		return nil
	}
	return b
}

var errLost = errors.New("the connection is lost")

// infra says what happened to a connection, in words that hold nothing of an address, a header or an answer: the texts of the packages
// below quote all of them.
func infra(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	var told error
	errno, isErrno := errors.AsType[syscall.Errno](err)
	closed, isClose := errors.AsType[websocket.CloseError](err)
	netErr, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errMalformed):
		told = errMalformed
	case errors.Is(err, websocket.ErrMessageTooBig):
		told = errors.New("the server's answer is too long")
	case errors.Is(err, context.Canceled):
		told = context.Canceled
	case errors.Is(err, context.DeadlineExceeded) || isNet && netErr.Timeout():
		told = context.DeadlineExceeded
	case isClose:
		told = fmt.Errorf("the server closed the connection with status %d", closed.Code)
	case isErrno:
		told = errno
	default:
		told = errLost
	}
	return fmt.Errorf("openenv: %w: %w", told, envharness.ErrInfra)
}
