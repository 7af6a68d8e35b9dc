package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// A Client is one model behind one endpoint. It is safe for concurrent use.
type Client struct {
	o          Options
	chat       sdk.ChatCompletionService
	embeddings sdk.EmbeddingService
	redact     redactor
	isOpenAI   bool
	noPath     bool // of the base URL
	sleep      func(ctx context.Context, d time.Duration) error

	mu   sync.Mutex
	used Usage
}

// New checks the options and makes a client. Nothing is sent. All faults of the options are joined in the error.
func New(o Options) (*Client, error) {
	base, err := o.check()
	if err != nil {
		return nil, err
	}
	c := &Client{o: o.withDefaults(), sleep: sleep, redact: newRedactor(o.APIKey, o.Header, base)}
	host := strings.ToLower(base.Hostname())
	c.isOpenAI = strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
	c.noPath = strings.Trim(base.Path, "/") == ""
	opts := []option.RequestOption{
		option.WithMaxRetries(0), // we do that ourselves: an answer that breaks off counts as well
		option.WithMiddleware(c.receive),
		option.WithHTTPClient(httpClient(o.HTTPClient)),
	}
	if o.APIKey != "" {
		opts = append(opts, option.WithAPIKey(o.APIKey))
	}
	if base.User != nil {
		opts = append(opts, option.WithHeader("Authorization", basic(base.User)))
	}
	for name, values := range base.Query() {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	for name, values := range c.o.Header {
		for i, v := range values {
			if i == 0 {
				opts = append(opts, option.WithHeader(name, v))
			} else {
				opts = append(opts, option.WithHeaderAdd(name, v))
			}
		}
	}
	base.User, base.RawQuery, base.ForceQuery = nil, "", false
	opts = append(opts, option.WithBaseURL(base.String()))
	// The constructors of services, unlike that of the whole client, read nothing from the environment.
	c.chat, c.embeddings = sdk.NewChatCompletionService(opts...), sdk.NewEmbeddingService(opts...)
	return c, nil
}

// Usage returns what was used so far, by all policies of the client as well.
func (c *Client) Usage() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.used
	u.Cost = c.o.Price.cost(u)
	return u
}

var (
	errRedirect = errors.New("redirected to another host, which is not followed")
	errTooLarge = fmt.Errorf("the answer has more than %d bytes", maxBody)
)

const (
	maxBody      = 16 << 20 // bytes of an answer
	maxErrorBody = 64 << 10 // bytes read of an error's
	maxRedirects = 3

	maxRest     = 4 << 10 // bytes after an answer that are read, for so long; if there is more the connection is closed
	restTimeout = 100 * time.Millisecond
)

// httpClient returns a client that stays where it was sent to.
func httpClient(given *http.Client) *http.Client {
	var h http.Client
	if given != nil {
		h = *given
	} else {
		h.Transport = &http.Transport{
			DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    64,
			IdleConnTimeout:        30 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		}
	}
	further := h.CheckRedirect
	h.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0].URL
		if !strings.EqualFold(req.URL.Scheme, first.Scheme) || !strings.EqualFold(req.URL.Host, first.Host) {
			return errRedirect
		}
		if len(via) > maxRedirects || req.Method != http.MethodPost {
			return errors.New("redirected more than 3 times, or to another method")
		}
		if further != nil {
			return further(req, via)
		}
		return nil
	}
	return &h
}

// receive bounds what is read of an answer and turns a status that is no success into an Error. Nothing but the official client's name
// and version goes out about this machine.
func (c *Client) receive(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	res, err := next(req)
	if err != nil || res == nil {
		return res, err
	}
	if res.StatusCode/100 == 2 {
		res.Body = &boundedBody{ReadCloser: res.Body, left: maxBody}
		return res, nil
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what there is of it serves
	return nil, c.statusError(res, body)
}

// A boundedBody fails once more than left bytes were read.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > b.left {
		return b.left, errTooLarge
	}
	b.left -= n
	return n, err
}

// A send makes one request with the given further options.
type send func(ctx context.Context, opts ...option.RequestOption) error

// A read takes what is needed from an answer with a status of success.
type read func(res *http.Response) (tokens, error)

// do sends a request until an answer was read, an error is final, the attempts are used up or ctx is done. The seed is of the request.
func (c *Client) do(ctx context.Context, seed func() uint64, s send, r read) error {
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("openai: %w", err)
		}
		if !c.begin(attempt > 0) {
			return ErrCost
		}
		used, err := c.attempt(ctx, s, r)
		if err == nil {
			c.mu.Lock()
			c.used.add(used)
			c.mu.Unlock()
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("openai: %w", ctx.Err())
		}
		failed := c.classify(err)
		failed.Attempts = attempt + 1
		if !failed.retry || attempt >= *c.o.Retries {
			return failed
		}
		wait := backoff(c.o.Backoff, seed(), attempt)
		if failed.asked {
			if failed.wait > c.o.MaxWait {
				return failed
			}
			wait = max(wait, failed.wait)
		}
		if err := c.sleep(ctx, wait); err != nil {
			return fmt.Errorf("openai: %w", err)
		}
	}
}

// begin counts a request unless the costs are at their limit.
func (c *Client) begin(again bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.MaxCost > 0 && c.o.Price.cost(c.used) >= c.o.MaxCost {
		return false
	}
	c.used.Requests++
	if again {
		c.used.Retries++
	}
	return true
}

func (c *Client) attempt(ctx context.Context, s send, r read) (tokens, error) {
	bounded, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	var res *http.Response
	err := s(bounded, option.WithResponseBodyInto(&res))
	if err == nil {
		defer res.Body.Close()
		var used tokens
		if used, err = r(res); err == nil {
			// What is left, as the end after the last event of a stream, is read too: else the connection cannot be used again.
			late := time.AfterFunc(restTimeout, cancel)
			defer late.Stop()
			_, _ = io.CopyN(io.Discard, res.Body, maxRest)
			return used, nil
		}
	}
	if bounded.Err() != nil && ctx.Err() == nil {
		return tokens{}, &Error{Message: fmt.Sprintf("no whole answer within %v", c.o.Timeout), retry: true}
	}
	return tokens{}, err
}

// classify makes an Error of any other failure of an attempt, without what may be secret in it.
func (c *Client) classify(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the outer one holds the URL
	}
	e := &Error{Message: c.redact.failure(err), retry: true}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	unknown, ok := errors.AsType[*net.DNSError](err)
	if errors.Is(err, errRedirect) || errors.Is(err, errTooLarge) || untrusted || ok && unknown.IsNotFound {
		e.retry = false
	}
	return e
}
