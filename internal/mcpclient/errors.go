package mcpclient

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrNoAnswer says that the server gave no answer that can be used: it is gone, out of reach, or does not keep to the protocol; or the
// session is closed.
var ErrNoAnswer = errors.New("no answer")

var errClosed = errors.New("the session is closed")

// An Error is a JSON-RPC error that the server answered with.
type Error struct {
	Code    int64  // such as -32601 for a method that the server does not have
	Message string // as the server wrote it, without secrets, control characters, and what is beyond 1,000 bytes
}

// Error gives the code and the message.
func (e *Error) Error() string { return fmt.Sprintf("code %d: %s", e.Code, e.Message) }

// fault words an error of the SDK. Nothing of its chain is handed out, since it holds addresses and what the server said.
func (c *conn) fault(ctx context.Context, a *answer, what string, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ctx.Err() != nil: // first, for a server may answer to being canceled
		return fmt.Errorf("mcpclient: %s: %w", what, ctx.Err())
	case a.refused != nil:
		return fmt.Errorf("mcpclient: %s: %w", what, a.refused)
	case a.lost != nil && !errors.Is(a.lost, context.Canceled): // as the end of the connection cancels them
		err = a.lost
	case c.cause != nil:
		err = c.cause
	}
	return fmt.Errorf("mcpclient: %s: %w: %s", what, ErrNoAnswer, c.redact.text(err.Error()))
}

// maxExcerpt bounds what is quoted of a server, in bytes.
const maxExcerpt = 1000

// A redactor takes secrets out of texts.
type redactor struct{ r *strings.Replacer }

// minSecret is the length below which a value is taken for a setting, not for a secret: to take each "1" out of the errors would leave
// nothing of them.
const minSecret = 4

func newRedactor(s *Server, u *url.URL) *redactor {
	var secrets []string
	add := func(values ...string) {
		for _, v := range values {
			if len(v) < minSecret {
				continue
			}
			quoted := strconv.Quote(v)
			escaped, _ := json.Marshal(v) // a string always has a JSON form
			secrets = append(secrets, v, quoted[1:len(quoted)-1], string(escaped[1:len(escaped)-1]), url.QueryEscape(v), url.PathEscape(v))
		}
	}
	for _, values := range s.Header {
		for _, v := range values {
			add(v)
			if fields := strings.Fields(v); len(fields) > 1 {
				add(fields[1:]...) // the token after its scheme
			}
			if scheme, coded, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "basic") {
				plain, _ := base64.StdEncoding.DecodeString(coded)
				_, password, _ := strings.Cut(string(plain), ":")
				add(string(plain), password)
			}
		}
	}
	if u != nil {
		if u.User != nil {
			password, _ := u.User.Password()
			add(u.User.String(), u.User.Username(), password)
			add(base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))) // as net/http sends it
		}
		add(u.RawQuery)
		for pair := range strings.SplitSeq(u.RawQuery, "&") {
			_, v, _ := strings.Cut(pair, "=")
			add(v)
			if plain, err := url.QueryUnescape(v); err == nil {
				add(plain)
			}
		}
	}
	setting := func(name, v string) {
		if speaksOfSecret(name) || speaksOfSecret(v) && strings.Contains(v, "=") { // the latter as "host=db password=..."
			add(v)
		}
		if u, err := url.Parse(v); err == nil && u.Scheme != "" && u.User != nil { // as of a database
			password, _ := u.User.Password()
			add(v, u.User.String(), password)
		}
	}
	for _, pair := range s.Env {
		name, v, _ := strings.Cut(pair, "=")
		setting(name, v)
	}
	before := ""
	for _, arg := range s.Command[min(1, len(s.Command)):] { // "--token=x", "--token x" or what is recognized by itself
		name, v, ok := strings.Cut(arg, "=")
		switch {
		case ok && strings.HasPrefix(arg, "-"):
			setting(name, v)
		case !strings.HasPrefix(arg, "-"):
			setting(before, arg)
		}
		before = ""
		if strings.HasPrefix(arg, "-") && !ok {
			before = arg
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { // a secret before its parts
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, "[redacted]")
	}
	return &redactor{strings.NewReplacer(pairs...)}
}

func speaksOfSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "PWD", "AUTH", "CREDENTIAL", "COOKIE", "BEARER", "DSN"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// text returns s without secrets, on one line, and cut to a length that a reader bears.
func (r *redactor) text(s string) string {
	s = printable(r.r.Replace(s))
	if len(s) <= maxExcerpt {
		return s
	}
	n := maxExcerpt
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// printable replaces what would break a line or steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
