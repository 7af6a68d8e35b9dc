package openai_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openai"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
)

// key must never be seen where it does not belong.
const key = "sk-marker+7f3a/9c0815=="

// escaped is key as part of an address.
var escaped = url.QueryEscape(key)

// serve starts a fake whose requests must all be right.
func serve(t *testing.T, reply func(openaitest.Request) openaitest.Reply, o *openaitest.Options) *openaitest.Server {
	t.Helper()
	s := openaitest.New(reply, o)
	t.Cleanup(func() {
		s.Close()
		for _, v := range s.Violations() {
			t.Error("violation:", v)
		}
	})
	return s
}

// always gives the same reply.
func always(r openaitest.Reply) func(openaitest.Request) openaitest.Reply {
	return func(openaitest.Request) openaitest.Reply { return r }
}

// connect makes a client that does not wait between attempts.
func connect(t *testing.T, o openai.Options) *openai.Client {
	t.Helper()
	if o.Model == "" {
		o.Model = "m"
	}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.SetSleep(func(ctx context.Context, _ time.Duration) error { return ctx.Err() })
	return c
}

// both runs a test with whole answers and with those in pieces.
func both(t *testing.T, f func(t *testing.T, stream bool)) {
	t.Run("whole", func(t *testing.T) { f(t, false) })
	t.Run("stream", func(t *testing.T) { f(t, true) })
}

func TestOptions(t *testing.T) {
	ok := openai.Options{BaseURL: "http://localhost:1/v1", Model: "m"}
	for _, c := range []struct {
		name   string
		change func(*openai.Options)
		want   string // empty: no fault
	}{
		{"least", func(*openai.Options) {}, ""},
		{"address of OpenAI", func(o *openai.Options) { o.BaseURL, o.APIKey = "", key }, ""},
		{"no model", func(o *openai.Options) { o.Model = " " }, "Model is empty"},
		{"no scheme", func(o *openai.Options) { o.BaseURL = "localhost:8000/v1" }, "BaseURL must begin with"},
		{"no host", func(o *openai.Options) { o.BaseURL = "http:///v1" }, "BaseURL has no host"},
		{"no URL", func(o *openai.Options) { o.BaseURL = "http://u:" + escaped + "@[::1/v1" }, "BaseURL is not a URL"},
		{"fragment", func(o *openai.Options) { o.BaseURL += "#" + escaped }, "BaseURL must have no fragment"},
		{"a key over http", func(o *openai.Options) { o.BaseURL, o.APIKey = "http://192.0.2.1/v1", key }, "must begin with https://"},
		{"a key over http, permitted", func(o *openai.Options) { o.BaseURL, o.APIKey, o.AllowHTTP = "http://192.0.2.1/v1", key, true }, ""},
		{"no key over http", func(o *openai.Options) { o.BaseURL = "http://192.0.2.1/v1" }, ""},
		{"a user over http", func(o *openai.Options) { o.BaseURL = "http://u:" + escaped + "@192.0.2.1/v1" }, "must begin with https://"},
		{"a key to this machine", func(o *openai.Options) { o.BaseURL, o.APIKey = "http://[::1]:8000/v1", key }, ""},
		{"key with a line break", func(o *openai.Options) { o.APIKey = key + "\n" }, "APIKey has a space"},
		{"two authorizations", func(o *openai.Options) {
			o.APIKey, o.Header = key, http.Header{"authorization": {"Bearer " + key}}
		}, "APIKey excludes"},
		{"user and key", func(o *openai.Options) { o.APIKey, o.BaseURL = "k", "http://u:"+escaped+"@localhost" }, "a user in BaseURL excludes"},
		{"header name", func(o *openai.Options) { o.Header = http.Header{"X Key": {key}} }, `Header: "X Key" is not a name`},
		{"header value", func(o *openai.Options) { o.Header = http.Header{"X-Key": {key + "\r\nX: y"}} }, "the value of X-Key has a control"},
		{"content type", func(o *openai.Options) { o.Header = http.Header{"Content-Type": {"text/plain"}} }, "Content-Type is set by"},
		{"temperature", func(o *openai.Options) { o.Temperature = new(2.5) }, "Temperature 2.5 is not in [0, 2]"},
		{"temperature no number", func(o *openai.Options) { o.Temperature = new(math.NaN()) }, "Temperature NaN"},
		{"retries", func(o *openai.Options) { o.Retries = new(-1) }, "Retries -1 is not in [0, 100]"},
		{"batch", func(o *openai.Options) { o.Batch = 2049 }, "Batch 2049 is not in [0, 2048]"},
		{"timeout", func(o *openai.Options) { o.Timeout = -1 }, "Timeout is negative"},
		{"price", func(o *openai.Options) { o.Price.Output = math.Inf(1) }, "Price.Output is negative or not finite"},
		{"limit without price", func(o *openai.Options) { o.MaxCost = 1 }, "MaxCost needs a Price"},
		{"limit", func(o *openai.Options) { o.MaxCost, o.Price.Output = 1, 1 }, ""},
		{"local address", func(o *openai.Options) { o.BaseURL, o.APIKey = "http://[::ffff:127.0.0.1]/v1", key }, ""},
		{"two faults", func(o *openai.Options) { o.MaxTokens, o.MaxCost = -1, -1 }, "MaxCost is negative or not finite\nopenai: MaxTokens is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ok
			c.change(&o)
			_, err := openai.New(o)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), escaped) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

// Nothing of the environment goes out: neither variables of the official client's nor a proxy, and not what the machine is.
func TestNothingOfTheEnvironment(t *testing.T) {
	proxied := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy of the environment was used") }))
	defer proxied.Close()
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET",
	} {
		t.Setenv(name, key)
	}
	t.Setenv("OPENAI_BASE_URL", proxied.URL)
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Marker: "+key)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"} {
		t.Setenv(name, proxied.URL)
	}
	both(t, func(t *testing.T, stream bool) {
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			for name, values := range r.Header {
				if name == "Authorization" || strings.HasPrefix(name, "Openai-") || strings.HasPrefix(name,
					"X-Stainless") || strings.Contains(strings.Join(values, " "), key) {
					t.Errorf("header %s: %v", name, values)
				}
			}
			return openaitest.Reply{Text: "hello"}
		}, nil)
		c := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream})
		if _, err := c.Generate(t.Context(), "hi"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Embed(t.Context(), []string{"hi"}); err != nil {
			t.Fatal(err)
		}
	})
}

// What the caller gives goes out: key, headers, and the user and the query of the address.
func TestCredentials(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"x"}}]}`)
	}))
	defer s.Close()
	for _, c := range []struct {
		name string
		o    openai.Options
		want func(r *http.Request) bool
	}{
		{"key", openai.Options{BaseURL: s.URL + "/v1", APIKey: key}, func(r *http.Request) bool {
			return r.Header.Get("Authorization") == "Bearer "+key && r.URL.Path == "/v1/chat/completions"
		}},
		{"headers", openai.Options{BaseURL: s.URL, Header: http.Header{"Api-Key": {key}, "X-Two": {"a", "b"}}}, func(r *http.Request) bool {
			return r.Header.Get("Api-Key") == key && len(r.Header.Values("X-Two")) == 2 && r.URL.Path == "/chat/completions"
		}},
		{"user", openai.Options{BaseURL: strings.Replace(s.URL, "//", "//amy:"+escaped+"@", 1)}, func(r *http.Request) bool {
			user, password, ok := r.BasicAuth()
			return ok && user == "amy" && password == key
		}},
		{"query", openai.Options{BaseURL: s.URL + "/v1/?api-version=1&sig=" + escaped}, func(r *http.Request) bool {
			return r.URL.Query().Get("sig") == key && r.URL.Query().Get("api-version") == "1" && r.URL.Path == "/v1/chat/completions"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := connect(t, c.o).Generate(t.Context(), "hi"); err != nil {
				t.Fatal(err)
			}
			if !c.want(got) {
				t.Errorf("%s %v", got.URL, got.Header)
			}
		})
	}
}

// A redirect is followed on the same server alone; nothing reaches another.
func TestRedirects(t *testing.T) {
	var other atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other.Add(1) }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same/chat/completions":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/get/chat/completions":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/loop/chat/completions":
			http.Redirect(w, r, r.URL.Path, http.StatusPermanentRedirect)
		case "/end":
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"x"}}]}`)
		default:
			http.Redirect(w, r, elsewhere.URL+"/?"+url.QueryEscape(r.Header.Get("Authorization")), http.StatusTemporaryRedirect)
		}
	}))
	defer s.Close()
	for path, want := range map[string]string{
		"/same": "", "/other": "redirected to another host", "/get": "another method", "/loop": "more than 3 times",
	} {
		_, err := connect(t, openai.Options{BaseURL: s.URL + path, APIKey: key, HTTPClient: &http.Client{}, Retries: new(0)}).Generate(t.Context(), "hi")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), key) || strings.Contains(err.Error(), escaped) || strings.Contains(err.Error(), "http://")) {
			t.Errorf("%s: the error tells too much: %v", path, err)
		}
	}
	if other.Load() > 0 {
		t.Error("another server was asked")
	}
}

// Each kind of answer is given what it deserves: another attempt, or none.
func TestRetries(t *testing.T) {
	good := openaitest.Reply{Text: "hello, world"}
	for _, c := range []struct {
		name  string
		reply openaitest.Reply
		again bool
	}{
		{"408", openaitest.Reply{Status: 408}, true},
		{"409", openaitest.Reply{Status: 409}, true},
		{"429", openaitest.Reply{Status: 429, Error: openaitest.Error{Code: "rate_limit_exceeded"}}, true},
		{"429 for money", openaitest.Reply{Status: 429, Error: openaitest.Error{Code: "insufficient_quota"}}, false},
		{"500", openaitest.Reply{Status: 500}, true},
		{"502 with a page", openaitest.Reply{Status: 502, Raw: []byte("<html>no</html>"), ContentType: "text/html"}, true},
		{"501", openaitest.Reply{Status: 501}, false},
		{"503", openaitest.Reply{Status: 503, RetryAfter: "1"}, true},
		{"503 that says no", openaitest.Reply{Status: 503, Header: http.Header{"X-Should-Retry": {"false"}}}, false},
		{"503 that asks for a day", openaitest.Reply{Status: 503, RetryAfter: "86400"}, false},
		{"400", openaitest.Reply{Status: 400}, false},
		{"401", openaitest.Reply{Status: 401}, false},
		{"403", openaitest.Reply{Status: 403}, false},
		{"404", openaitest.Reply{Status: 404}, false},
		{"422", openaitest.Reply{Status: 422}, false},
		{"cut before the header", openaitest.Reply{Text: "half", Cut: new(0)}, true},
		{"cut in the body", openaitest.Reply{Text: "half an answer is no answer", Cut: new(200)}, true},
		{"cut at the end", openaitest.Reply{Text: "half an answer is no answer", Cut: new(400)}, true},
		{"no JSON", openaitest.Reply{Raw: []byte("hello")}, false},
		{"JSON that ends", openaitest.Reply{Raw: []byte(`{"choices":[{"message":{"con`)}, true},
		{"nothing", openaitest.Reply{Raw: []byte{}}, true},
		{"no choices", openaitest.Reply{Raw: []byte(`{"choices":[]}`)}, false},
		{"too large", openaitest.Reply{Raw: []byte(`{"a":"` + strings.Repeat("x", 17<<20))}, false},
		{"deep", openaitest.Reply{Raw: []byte(`{"a":` + strings.Repeat("[", 1001))}, false},
		{"error with success", openaitest.Reply{Raw: []byte(`{"error":{"message":"busy","code":503}}`)}, true},
		{"bad request with success", openaitest.Reply{Raw: []byte(`{"error":{"message":"no","code":400}}`)}, false},
		{"stream without an end", openaitest.Reply{
			Raw: []byte("data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"), ContentType: "text/event-stream",
		}, true},
		{"error in a stream", openaitest.Reply{
			Raw: []byte("data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n" +
				"data: {\"error\":{\"message\":\"overloaded\"}}\n\ndata: [DONE]\n\n"),
			ContentType: "text/event-stream",
		}, true},
		{"error object in a stream", openaitest.Reply{
			Raw:         []byte("data: {\"object\":\"error\",\"message\":\"overloaded\",\"code\":503}\n\ndata: [DONE]\n\n"),
			ContentType: "text/event-stream",
		}, true},
		{"error event in a stream", openaitest.Reply{
			Raw: []byte("event: error\ndata: {\"message\":\"no\",\"type\":\"invalid_request_error\"}\n\n"), ContentType: "text/event-stream",
		}, false},
		{"no JSON in a stream", openaitest.Reply{Raw: []byte("data: hello\n\ndata: [DONE]\n\n"), ContentType: "text/event-stream"}, false},
		{"empty stream", openaitest.Reply{Raw: []byte("data: [DONE]\n\n"), ContentType: "text/event-stream"}, false},
		{"stream too large", openaitest.Reply{
			Raw:         []byte(strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\""+strings.Repeat("x", 1<<20)+"\"}}]}\n\n", 17)),
			ContentType: "text/event-stream",
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, stream bool) {
				s := serve(t, func(r openaitest.Request) openaitest.Reply {
					if r.Index == 0 {
						return c.reply
					}
					return good
				}, nil)
				client := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream})
				got, err := client.Generate(t.Context(), "hi")
				if c.again {
					if err != nil || got != good.Text {
						t.Fatalf("got %q, %v", got, err)
					}
					if u := client.Usage(); u.Requests != 2 || u.Retries != 1 {
						t.Errorf("usage %+v", u)
					}
					return
				}
				e, ok := errors.AsType[*openai.Error](err)
				if !ok || s.Requests() != 1 || e.Attempts != 1 {
					t.Fatalf("got %q, %v, after %d requests", got, err, s.Requests())
				}
				if e.Status != c.reply.Status && c.reply.Status != 0 {
					t.Errorf("status %d", e.Status)
				}
				if !errors.Is(err, envharness.ErrInfra) {
					t.Error("no failure of infrastructure:", err)
				}
			})
		})
	}
}

// The same holds for vectors.
func TestRetriesOfEmbeddings(t *testing.T) {
	for _, first := range []openaitest.Reply{{Status: 429}, {Cut: new(0)}, {Cut: new(30)}, {Raw: []byte(`{"data":[{"ind`)}} {
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			if r.Index == 0 {
				return first
			}
			return openaitest.Reply{}
		}, nil)
		v, err := connect(t, openai.Options{BaseURL: s.BaseURL}).Embed(t.Context(), []string{"a", "b"})
		if err != nil || len(v) != 2 {
			t.Errorf("%+v: %v %v", first, v, err)
		}
	}
}

// Waiting doubles from about Backoff to 16 times as much, is at least what the server asks for, and the same for the same request.
func TestBackoff(t *testing.T) {
	s := serve(t, func(r openaitest.Request) openaitest.Reply {
		if r.Index%7 == 6 {
			return openaitest.Reply{Status: 429, RetryAfter: "20"}
		}
		return openaitest.Reply{Status: 500}
	}, nil)
	waits := func() []time.Duration {
		var all []time.Duration
		c := connect(t, openai.Options{BaseURL: s.BaseURL, Retries: new(6), Backoff: time.Second})
		c.SetSleep(func(_ context.Context, d time.Duration) error { all = append(all, d); return nil })
		_, err := c.Generate(t.Context(), "hi")
		if e, ok := errors.AsType[*openai.Error](err); !ok || e.Attempts != 7 || !strings.Contains(err.Error(), "(after 7 attempts)") {
			t.Fatal(err)
		}
		return all
	}
	first, second := waits(), waits()
	if fmt.Sprint(first) != fmt.Sprint(second) || len(first) != 6 {
		t.Errorf("%v and %v", first, second)
	}
	for i, d := range first {
		most := time.Second << min(i, 4)
		if d > most || d < most/2 {
			t.Errorf("wait %d is %v", i, d)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	date := http.Header{"Date": {"Tue, 01 Dec 2026 10:00:00 GMT"}}
	ms := http.Header{"Retry-After-Ms": {"2500"}}
	for _, c := range []struct {
		after  string
		header http.Header
		want   time.Duration
	}{
		{"20", nil, 20 * time.Second}, {"1.5", nil, 1500 * time.Millisecond}, {"", ms, 2500 * time.Millisecond},
		{"Tue, 01 Dec 2026 10:00:30 GMT", date, 30 * time.Second}, {"Tue, 01 Dec 2026 09:00:30 GMT", date, 0},
		{"soon", nil, 0}, {"-5", nil, 0}, {"NaN", nil, 0},
	} {
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			if r.Index == 0 {
				return openaitest.Reply{Status: 429, RetryAfter: c.after, Header: c.header}
			}
			return openaitest.Reply{Text: "x"}
		}, nil)
		client := connect(t, openai.Options{BaseURL: s.BaseURL, Backoff: time.Nanosecond})
		var got time.Duration
		client.SetSleep(func(_ context.Context, d time.Duration) error { got = d; return nil })
		if _, err := client.Generate(t.Context(), "hi"); err != nil {
			t.Fatal(err)
		}
		if got.Truncate(time.Millisecond) != c.want {
			t.Errorf("%q: waited %v, want %v", c.after, got, c.want)
		}
	}
	for _, after := range []string{"61", "1e300", "1e999"} { // more than a minute is not waited for
		s := serve(t, always(openaitest.Reply{Status: 429, RetryAfter: after}), nil)
		if _, err := connect(t, openai.Options{BaseURL: s.BaseURL}).Generate(t.Context(), "hi"); err == nil || s.Requests() != 1 {
			t.Errorf("%s: %v after %d requests", after, err, s.Requests())
		}
	}
}

// A context that is done ends everything at once: a request, a wait and an answer that does not come.
func TestCancel(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		ctx, cancel := context.WithCancel(t.Context())
		s := serve(t, func(openaitest.Request) openaitest.Reply {
			cancel()
			return openaitest.Reply{Text: "never", Hang: true, Cut: new(10)}
		}, nil)
		c := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream})
		if _, err := c.Generate(ctx, "hi"); !errors.Is(err, context.Canceled) || s.Requests() != 1 {
			t.Errorf("%v after %d requests", err, s.Requests())
		}
		if _, err := c.Generate(ctx, "hi"); !errors.Is(err, context.Canceled) || s.Requests() != 1 {
			t.Errorf("%v after %d requests", err, s.Requests())
		}
		if _, err := c.Embed(ctx, []string{"hi"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Status: 500} }, nil)
	c, err := openai.New(openai.Options{BaseURL: s.BaseURL, Model: "m", Backoff: time.Hour, HTTPClient: &http.Client{
		Transport: afterAnswer{cancel}, // while it waits for the next attempt
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Generate(ctx, "hi"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type afterAnswer struct{ f func() }

func (a afterAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	a.f()
	return res, err
}

// An answer that does not come, or not to its end, is given up after Timeout, and asked for again. One that is whole counts, however long
// the server says nothing more and leaves the connection open.
func TestTimeout(t *testing.T) {
	const half = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"
	for _, c := range []struct {
		name, body string // what comes before nothing more does
		took       time.Duration
		answer     string
	}{
		{"nothing", "", 40 * time.Second, ""},
		{"half", half, 40 * time.Second, ""},
		{"all", half + "data: [DONE]\n\n", 100 * time.Millisecond, "half"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, asked := time.Now(), 0
				client := connect(t, openai.Options{Timeout: 20 * time.Second, Retries: new(1), Stream: true, HTTPClient: &http.Client{
					Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
						asked++
						if c.body == "" {
							<-r.Context().Done()
							return nil, r.Context().Err()
						}
						body := struct {
							io.Reader
							io.Closer
						}{io.MultiReader(strings.NewReader(c.body), until{r.Context()}), io.NopCloser(nil)}
						return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
					}),
				}})
				got, err := client.Generate(t.Context(), "hi")
				if got != c.answer || time.Since(start) != c.took {
					t.Errorf("%q, %v after %v, want %q after %v", got, err, time.Since(start), c.answer, c.took)
				}
				if c.answer == "" && (err == nil || asked != 2 || !strings.Contains(err.Error(), "no whole answer within 20s (after 2 attempts)")) {
					t.Errorf("%v after %d requests", err, asked)
				}
			})
		})
	}
}

// A server that takes a request piece by piece gets it; one that stops taking it, with the connection open, is given up after Timeout.
func TestServerReadsSlowly(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			client := connect(t, openai.Options{BaseURL: "http://pipe/v1", Timeout: 20 * time.Second, Retries: new(1), Stream: stream, HTTPClient: &http.Client{
				Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
					asked++
					ours, theirs := net.Pipe() // which has no buffer: what is not read cannot be sent
					go func(stuck bool) {
						defer theirs.Close()
						in := bufio.NewReaderSize(theirs, 16)
						if stuck {
							_, _ = in.ReadByte()
							time.Sleep(time.Minute)
							return
						}
						r, err := http.ReadRequest(in)
						if err != nil {
							t.Error(err)
							return
						}
						left := r.ContentLength
						for range 100 {
							time.Sleep(100 * time.Millisecond)
							n, _ := io.CopyN(io.Discard, r.Body, r.ContentLength/100+1)
							left -= n
						}
						body := fmt.Sprintf(`{"choices":[{"message":{"content":"%d left"},"finish_reason":"stop"}]}`, left)
						_, _ = fmt.Fprintf(theirs, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
					}(asked > 1)
					return ours, nil
				}},
			}})
			long := strings.Repeat("x", 100_000)
			if got, err := client.Generate(t.Context(), long); err != nil || got != "0 left" {
				t.Errorf("%q, %v, want that all of it was read", got, err)
			}
			start := time.Now()
			_, err := client.Generate(t.Context(), long)
			if !errors.Is(err, envharness.ErrInfra) || !strings.Contains(err.Error(), "no whole answer within 20s (after 2 attempts)") {
				t.Error(err)
			}
			if took := time.Since(start); took != 40*time.Second || asked != 3 {
				t.Errorf("took %v for %d attempts", took, asked-1)
			}
			time.Sleep(time.Minute)
		})
	})
}

// until reads nothing until a request is given up.
type until struct{ ctx context.Context }

func (u until) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, u.ctx.Err()
}

// An answer is read to the end of its body, which leaves the connection for the next request, but not far beyond its own end.
func TestRestIsRead(t *testing.T) {
	const all = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n"
	for _, c := range []struct {
		name  string
		rest  int // bytes
		whole bool
	}{{"nothing", 0, true}, {"a comment", 100, true}, {"no end", 1 << 20, false}} {
		rest := strings.NewReader(strings.Repeat(":", c.rest))
		body := &watchedBody{Reader: io.MultiReader(strings.NewReader(all), rest)}
		client := connect(t, openai.Options{Stream: true, HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
		})}})
		if got, err := client.Generate(t.Context(), "hi"); got != "x" || err != nil {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if body.ended != c.whole || !body.closed || !c.whole && rest.Len() < c.rest/2 {
			t.Errorf("%s: read to the end %v, closed %v, %d of %d bytes left", c.name, body.ended, body.closed, rest.Len(), c.rest)
		}
	}
}

type watchedBody struct {
	io.Reader
	ended, closed bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

func (b *watchedBody) Close() error { b.closed = true; return nil }

// A server that sends byte by byte is waited for.
func TestSlowServer(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		s := serve(t, always(openaitest.Reply{Text: "slowly, 世界", Piece: 1}), nil)
		c := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream})
		if got, err := c.Generate(t.Context(), "hi"); err != nil || got != "slowly, 世界" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestUsage(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		s := serve(t, openaitest.Script(
			openaitest.Reply{Status: 500},
			openaitest.Reply{Text: "x", Usage: &openaitest.Usage{Input: 1000, Cached: 600, Output: 200}},
			openaitest.Reply{Text: "x", Usage: &openaitest.Usage{Input: 500, Output: 100}},
			openaitest.Reply{Text: strings.Repeat("word ", 100), NoUsage: true},
		), nil)
		c := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream, Price: openai.Price{Input: 2, Cached: 0.5, Output: 10}, MaxCost: 0.0054})
		for range 2 {
			if _, err := c.Generate(t.Context(), "hi"); err != nil {
				t.Fatal(err)
			}
		}
		// 900 tokens at 2, 600 at 0.5 and 300 at 10, for a million
		want := openai.Usage{Requests: 3, Retries: 1, Input: 1500, Cached: 600, Output: 300, Cost: (900*2 + 600*0.5 + 300*10) / 1e6}
		if got := c.Usage(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if _, err := c.Generate(t.Context(), "hi"); err != nil { // 0.0051 is below the limit
			t.Fatal(err)
		}
		got := c.Usage()
		if got.Input <= 1500 || got.Output < 400 {
			t.Errorf("nothing was estimated: %+v", got)
		}
		if _, err := c.Generate(t.Context(), "hi"); !errors.Is(err, openai.ErrCost) || s.Requests() != 4 {
			t.Errorf("%v after %d requests", err, s.Requests())
		}
	})
	s := serve(t, always(openaitest.Reply{Text: "x", Usage: &openaitest.Usage{Input: 10, Cached: 10}}), nil)
	c := connect(t, openai.Options{BaseURL: s.BaseURL, Price: openai.Price{Input: 3}})
	if _, err := c.Generate(t.Context(), "hi"); err != nil || c.Usage().Cost != 30/1e6 {
		t.Errorf("%v, %+v", err, c.Usage())
	}
}

func TestGenerate(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply openaitest.Reply
		want  string // of the error
	}{
		{"refusal", openaitest.Reply{Refusal: "I cannot do that"}, "the model refuses: I cannot do that"},
		{"filter", openaitest.Reply{Text: "x", Finish: "content_filter"}, "withheld by a content filter"},
		{"length", openaitest.Reply{Text: "x", Finish: "length", Usage: &openaitest.Usage{Output: 7}}, "cut off after 7 tokens"},
		{"null", openaitest.Reply{}, "the answer is empty"},
		{"white space", openaitest.Reply{Text: " \n"}, "the answer is empty"},
		{"a call", openaitest.Reply{Calls: []openaitest.Call{{Name: "f", Args: "{}"}}}, "the answer is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, stream bool) {
				s := serve(t, always(c.reply), nil)
				got, err := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream}).Generate(t.Context(), "hi")
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%q, %v, want %q", got, err, c.want)
				}
			})
		})
	}
}

// All that is set goes out, under the name that the server knows.
func TestSettings(t *testing.T) {
	both(t, func(t *testing.T, stream bool) {
		s := serve(t, func(r openaitest.Request) openaitest.Reply {
			for _, want := range []string{`"temperature":0`, `"seed":-3`, `"max_tokens":50`} {
				if !strings.Contains(string(r.Body), want) {
					t.Errorf("no %s in %s", want, r.Body)
				}
			}
			if r.Stream != stream || r.Usage != stream || r.Model != "m" {
				t.Errorf("%s", r.Body)
			}
			return openaitest.Reply{Text: "x"}
		}, nil)
		c := connect(t, openai.Options{BaseURL: s.BaseURL, Stream: stream, Temperature: new(0.0), Seed: new(int64(-3)), MaxTokens: 50})
		if _, err := c.Generate(t.Context(), "<&> \u2028 \xff"); err != nil {
			t.Fatal(err)
		}
	})
	for url, want := range map[string]string{
		"": `"max_completion_tokens":50`, "https://eu.api.openai.com/v1": `"max_completion_tokens":50`,
		"https://x.OpenAI.azure.com/openai/v1": `"max_completion_tokens":50`, "https://openai.com.example.com": `"max_tokens":50`,
	} {
		var body []byte
		c := connect(t, openai.Options{BaseURL: url, MaxTokens: 50, HTTPClient: &http.Client{
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				body, _ = io.ReadAll(r.Body)
				answer := strings.NewReader(`{"choices":[{"message":{"content":"x"}}]}`)
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(answer)}, nil
			}),
		}})
		if _, err := c.Generate(t.Context(), "hi"); err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%q: %v: %s", url, err, body)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Where the path of the base URL is missing, a 404 says so; with a path, and for other failures, it does not.
func TestMissingPath(t *testing.T) {
	const hint = " (is /v1 missing in the BaseURL?)"
	for _, tt := range []struct {
		path   string
		status int
		want   string
	}{
		{"", 404, "openai: status 404: Not Found" + hint},
		{"/", 404, "openai: status 404: Not Found" + hint},
		{"?api-version=1", 404, "openai: status 404: Not Found" + hint},
		{"/v2", 404, "openai: status 404: Not Found"},
		{"/v1", 404, "openai: status 404: model_not_found: no such model"},
		{"", 403, "openai: status 403: Forbidden"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := ""
			if strings.HasPrefix(r.URL.Path, "/v1/") {
				body = `{"error":{"message":"no such model","code":"model_not_found"}}`
			}
			http.Error(w, body, tt.status)
		}))
		defer s.Close()
		client := connect(t, openai.Options{BaseURL: s.URL + tt.path})
		if _, err := client.Generate(t.Context(), "hi"); fmt.Sprint(err) != tt.want {
			t.Errorf("%q: %v, want %s", tt.path, err, tt.want)
		}
		if _, err := client.Embed(t.Context(), []string{"hi"}); fmt.Sprint(err) != tt.want {
			t.Errorf("%q: embeddings: %v, want %s", tt.path, err, tt.want)
		}
	}
}
