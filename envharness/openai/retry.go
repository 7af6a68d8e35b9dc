package openai

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// backoff doubles from base to 16 times as much, and takes off up to half: requests that failed together do not come back together. The
// draw follows from the request and the attempt alone.
func backoff(base time.Duration, seed uint64, attempt int) time.Duration {
	d := time.Duration(math.MaxInt64)
	if shift := min(attempt, 4); base <= d>>shift {
		d = base << shift
	}
	return d - time.Duration(rand.New(rand.NewPCG(seed, uint64(attempt))).Float64()*float64(d/2))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// retryable tells whether the same request may succeed later.
func retryable(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooManyRequests ||
		status/100 == 5 && status != http.StatusNotImplemented // as llama.cpp says of what it was not started for
}

// statusError reads the body of an answer whose status is no success.
func (c *Client) statusError(res *http.Response, body []byte) *Error {
	e := c.bodyError(body)
	if e == nil {
		e = &Error{}
		if !strings.Contains(res.Header.Get("Content-Type"), "html") { // the pages of proxies say nothing in their first bytes
			e.Message = c.redact.text(string(body))
		}
	}
	if e.Message == "" {
		e.Message = http.StatusText(res.StatusCode)
	}
	if res.StatusCode == http.StatusNotFound && c.noPath {
		e.Message += " (is /v1 missing in the BaseURL?)"
	}
	e.Status = res.StatusCode
	e.tooLong = e.tooLong && (res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusRequestEntityTooLarge)
	// A quota that is used up comes with the status of a limit on the rate, but no waiting helps.
	e.retry = retryable(e.Status) && e.Code != "insufficient_quota" && e.Type != "insufficient_quota" &&
		res.Header.Get("X-Should-Retry") != "false"
	e.wait, e.asked = retryAfter(res.Header)
	return e
}

// bodyError reads an error as OpenAI has them, or as the servers that say they are compatible; nil if there is none.
func (c *Client) bodyError(body []byte) *Error {
	var outer struct {
		Error   json.RawMessage
		Message json.RawMessage
		Detail  json.RawMessage
		Code    json.RawMessage
		Type    json.RawMessage
	}
	if deep(body) || json.Unmarshal(body, &outer) != nil {
		return nil
	}
	message, code, kind := outer.Message, outer.Code, outer.Type
	switch {
	case len(outer.Error) > 0 && outer.Error[0] == '{':
		var inner struct{ Message, Code, Type json.RawMessage }
		if json.Unmarshal(outer.Error, &inner) != nil {
			return nil
		}
		message, code, kind = inner.Message, inner.Code, inner.Type
	case len(outer.Error) > 0 && outer.Error[0] == '"':
		message = outer.Error
	case message == nil && len(outer.Detail) > 0:
		message = outer.Detail
	case message == nil:
		return nil
	}
	e := &Error{Code: c.redact.text(plain(code)), Type: c.redact.text(plain(kind)), Message: c.redact.text(plain(message))}
	e.tooLong = e.Code == "context_length_exceeded" || e.Type == "exceed_context_size_error" || tooLong(plain(message))
	return e
}

// plain returns the text of a JSON string, and anything but null as it is written.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s // empty for null
	}
	return string(raw)
}

// tooLong tells by the words of servers without a code for it.
func tooLong(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{
		"context length", "context window", "context size", "exceeds the context", "maximum model length", "prompt is too long",
	}, func(words string) bool { return strings.Contains(message, words) })
}

// streamError is that of an error within an answer that began well.
func (c *Client) streamError(body []byte) *Error {
	e := c.bodyError(body)
	if e == nil {
		e = &Error{Message: "an error without a message"}
	}
	status, err := strconv.Atoi(e.Code)
	switch {
	case err == nil && status >= 400 && status < 600:
		e.Status, e.retry = status, retryable(status)
	case e.tooLong:
	default:
		switch e.Type {
		case "invalid_request_error", "authentication_error", "permission_error", "not_found_error", "insufficient_quota", "BadRequestError":
		default:
			e.retry = e.Code != "insufficient_quota"
		}
	}
	return e
}

// retryAfter reads how long a server asks to wait. A date is taken from the server's own, so that no clock is read.
func retryAfter(h http.Header) (time.Duration, bool) {
	for _, f := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		s := strings.TrimSpace(h.Get(f.name))
		if s == "" {
			continue
		}
		if v, err := strconv.ParseFloat(s, 64); err == nil || math.IsInf(v, 1) {
			switch d := v * float64(f.unit); {
			case !(d >= 0):
			case d >= math.MaxInt64:
				return math.MaxInt64, true
			default:
				return time.Duration(d), true
			}
			continue
		}
		until, err := http.ParseTime(s)
		now, err2 := http.ParseTime(h.Get("Date"))
		if err == nil && err2 == nil {
			return max(0, until.Sub(now)), true
		}
	}
	return 0, false
}
