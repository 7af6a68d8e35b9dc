package openai

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Options says which model to use and how. Nothing is read from the environment.
type Options struct {
	// BaseURL is the address that "/chat/completions" and "/embeddings" are added to, such as "http://localhost:8000/v1", with the path
	// that nearly all servers have; empty means that of OpenAI. A query is sent with each request; a user and password in it are sent as
	// basic authorization.
	BaseURL string
	APIKey  string // sent as a bearer token; empty means none. It is in no error, trace or log.
	Model   string // required
	// Header is sent with each request. It may hold an Authorization of its own in place of APIKey; the values are secrets as the key is.
	Header http.Header
	// AllowHTTP lets what may be secret (a key, a header, or a user or query in BaseURL) pass unencrypted to another machine. Without it
	// New refuses that; addresses of this machine need it not.
	AllowHTTP bool
	// HTTPClient sends the requests. Nil means one of the client's own, which uses no proxy. Redirects are followed to the same scheme,
	// host and port alone.
	HTTPClient *http.Client

	Stream      bool     // ask for answers in pieces: some servers answer long requests in no other way
	Temperature *float64 // in [0, 2]; nil means that of the server
	Seed        *int64   // nil sends none
	MaxTokens   int      // of one answer; zero means that of the server
	NoParallel  bool     // ask for at most one call an answer
	Batch       int      // texts in one request for embeddings; zero means 256

	Timeout time.Duration // of one attempt; zero means 2 minutes
	Retries *int          // further attempts after 408, 409, 429, 5xx but 501, and broken connections; nil means 4
	// Backoff is about what is waited before the first further attempt; it doubles with each, up to 16 times as much. Zero means half a
	// second.
	Backoff time.Duration
	// MaxWait is the longest Retry-After of a server that is waited for; one who asks for more is not asked again. Zero means a minute.
	MaxWait time.Duration

	Price   Price   // for [Usage].Cost; the zero value makes it 0
	MaxCost float64 // needs a Price: once [Usage].Cost is as much, requests fail with [ErrCost] and nothing is sent; zero means no limit
}

// A Price is what a million tokens cost, in a currency of the caller's. Input tokens that the server had in its cache cost Cached, or as
// much as others where Cached is zero.
type Price struct{ Input, Cached, Output float64 }

const (
	openAI = "https://api.openai.com/v1"

	defaultTimeout = 2 * time.Minute
	defaultRetries = 4
	defaultBackoff = 500 * time.Millisecond
	defaultMaxWait = time.Minute
	defaultBatch   = 256
	maxBatch       = 2048 // texts that OpenAI takes in one request
	maxRetries     = 100
)

// check returns all faults of o, and its base URL without what is secret in it.
func (o *Options) check() (*url.URL, error) {
	var faults []error
	authorized := false
	for name := range o.Header {
		authorized = authorized || strings.EqualFold(name, "Authorization")
	}
	bad := func(format string, args ...any) { faults = append(faults, fmt.Errorf("openai: "+format, args...)) }
	base := o.BaseURL
	if base == "" {
		base = openAI
	}
	u, err := url.Parse(base)
	switch { // the URL itself may hold a secret, also one that cannot be parsed
	case err != nil:
		bad("BaseURL is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		bad("BaseURL must begin with http:// or https://")
	case u.Hostname() == "" || u.Opaque != "":
		bad("BaseURL has no host")
	case u.Fragment != "":
		bad("BaseURL must have no fragment")
	default:
		if u.User != nil && (o.APIKey != "" || authorized) {
			bad("a user in BaseURL excludes APIKey and a header Authorization")
		}
		secret := o.APIKey != "" || len(o.Header) > 0 || u.User != nil || u.RawQuery != ""
		if u.Scheme == "http" && secret && !o.AllowHTTP && !loopback(u.Hostname()) {
			bad("BaseURL must begin with https:// to send a key, a header, a user or a query to another machine; AllowHTTP permits it")
		}
	}
	if strings.TrimSpace(o.Model) == "" {
		bad("Model is empty")
	}
	if unprintable(o.APIKey) {
		bad("APIKey has a space or a character that is not printable ASCII")
	}
	if o.APIKey != "" && authorized {
		bad("APIKey excludes a header Authorization")
	}
	for name, values := range o.Header {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r > '~' || !isToken(byte(r)) }) {
			bad("Header: %q is not a name", name)
		}
		if http.CanonicalHeaderKey(name) == "Content-Type" || http.CanonicalHeaderKey(name) == "Content-Length" {
			bad("Header: %s is set by the client", name)
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
				bad("Header: the value of %s has a control character", name)
			}
		}
	}
	if o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= 2) {
		bad("Temperature %v is not in [0, 2]", *o.Temperature)
	}
	if o.Retries != nil && (*o.Retries < 0 || *o.Retries > maxRetries) {
		bad("Retries %d is not in [0, %d]", *o.Retries, maxRetries)
	}
	if o.Batch < 0 || o.Batch > maxBatch {
		bad("Batch %d is not in [0, %d]", o.Batch, maxBatch)
	}
	for name, v := range map[string]float64{
		"MaxTokens": float64(o.MaxTokens), "Timeout": float64(o.Timeout), "Backoff": float64(o.Backoff), "MaxWait": float64(o.MaxWait),
		"Price.Input": o.Price.Input, "Price.Cached": o.Price.Cached, "Price.Output": o.Price.Output, "MaxCost": o.MaxCost,
	} {
		if !(v >= 0) || math.IsInf(v, 0) {
			bad("%s is negative or not finite", name)
		}
	}
	if o.MaxCost > 0 && o.Price == (Price{}) {
		bad("MaxCost needs a Price")
	}
	if len(faults) > 0 {
		// The order of the maps above is no order.
		slices.SortFunc(faults, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
		return nil, errors.Join(faults...)
	}
	return u, nil
}

// withDefaults fills in the defaults of what was checked.
func (o Options) withDefaults() Options {
	o.Header = o.Header.Clone()
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Retries == nil {
		o.Retries = new(defaultRetries)
	} else {
		o.Retries = new(*o.Retries)
	}
	if o.Backoff == 0 {
		o.Backoff = defaultBackoff
	}
	if o.MaxWait == 0 {
		o.MaxWait = defaultMaxWait
	}
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.Temperature != nil {
		o.Temperature = new(*o.Temperature)
	}
	if o.Seed != nil {
		o.Seed = new(*o.Seed)
	}
	return o
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

func unprintable(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func isToken(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}

func basic(u *url.Userinfo) string {
	password, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
}
