package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// served starts a server that is closed, with its connections, at the end.
func served(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// secretive is a server that is reached with all kinds of secrets.
func secretive(address string) Server {
	return Server{
		URL:    strings.Replace(address, "http://", "http://user-"+marker+":pass-"+marker+"@", 1) + "/mcp?key=" + marker,
		Header: http.Header{"X-Api-Key": {marker}},
		Grace:  100 * time.Millisecond,
	}
}

// The SDK's own server, with answers as events and as JSON, with sessions and without: each session is ended by the client.
func TestHTTPAgainstSDK(t *testing.T) {
	noLeaks(t)
	for _, o := range []mcp.StreamableHTTPOptions{{}, {JSONResponse: true}, {Stateless: true}, {Stateless: true, JSONResponse: true}} {
		server := sdkServer(250, 100)
		inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &o)
		var methods sync.Map
		address := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := methods.LoadOrStore(r.Method, new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
			if r.Header.Get("X-Api-Key") != marker || r.URL.Query().Get("key") != marker {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if _, password, ok := r.BasicAuth(); !ok || password != "pass-"+marker {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			inner.ServeHTTP(w, r)
		}))
		s := connect(t, secretive(address))
		if name, _ := s.Name(); name != "sdk" {
			t.Errorf("%+v: the server is %q", o, name)
		}
		if texts, tools, err := pages(t.Context(), s); err != nil || tools != 250 || len(texts) != 3 {
			t.Errorf("%+v: %d tools on %d pages, %v", o, tools, len(texts), err)
		}
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				want := fmt.Sprintf(`{"n":%d}`, i)
				if r, err := s.Call(t.Context(), "tool_00007", json.RawMessage(want)); err != nil || r.Text != "got "+want {
					t.Errorf("%+v: call: %+v, %v", o, r, err)
				}
			})
		}
		calls.Wait()
		if r, err := s.Call(t.Context(), "no_such_tool", nil); err != nil || !r.BadArguments {
			t.Errorf("%+v: an unknown tool: %+v, %v", o, r, err)
		}
		s.Close()
		if _, asked := methods.Load(http.MethodGet); asked {
			t.Errorf("%+v: a stream of its own was asked for", o)
		}
		if _, ended := methods.Load(http.MethodDelete); ended == o.Stateless {
			t.Errorf("%+v: the session was ended: %v", o, ended)
		}
	}
}

// A message is one that the client sent.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// byHand is a server that answers the handshake, and everything else by f.
func byHand(f func(w http.ResponseWriter, r *http.Request, m message)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method == http.MethodDelete {
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "session-1")
			asJSON(w, result(m.ID, initialized))
		case "notifications/initialized", "notifications/cancelled":
			w.WriteHeader(http.StatusAccepted)
		default:
			f(w, r, m)
		}
	})
}

func asJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	io.WriteString(w, text)
}

func asEvents(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
	http.NewResponseController(w).Flush()
}

func status(code int) func(http.ResponseWriter, *http.Request, message) {
	return func(w http.ResponseWriter, _ *http.Request, _ message) { w.WriteHeader(code) }
}

func TestHTTPCallFaults(t *testing.T) {
	noLeaks(t)
	var elsewhere atomic.Int64
	other := served(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	for _, tt := range []struct {
		name, want string
		answer     func(w http.ResponseWriter, r *http.Request, m message)
		reason     string
	}{
		{"refused", "status 401 Unauthorized", func(w http.ResponseWriter, r *http.Request, m message) {
			http.Error(w, "bad key "+r.Header.Get("X-Api-Key"), http.StatusUnauthorized)
		}, "what it says is not read"},
		{"broken", "status 500 Internal Server Error", status(500), "one call is lost"},
		{"unknown status", "status 599 ", status(599), "without words"},
		{"session is gone", "the server no longer knows the session", status(404), "404 with a session"},
		{"redirect", "status 307, a redirect to elsewhere", func(w http.ResponseWriter, r *http.Request, m message) {
			http.Redirect(w, r, other+"/"+marker, http.StatusTemporaryRedirect)
		}, "neither keys nor arguments go to another host"},
		{"redirect of method", "status 302, a redirect to elsewhere", func(w http.ResponseWriter, r *http.Request, m message) {
			http.Redirect(w, r, "/other", http.StatusFound)
		}, "a GET is no message"},
		{"cut off", "the answer was cut off", func(w http.ResponseWriter, r *http.Request, m message) {
			w.Header().Set("Content-Length", "1000")
			asJSON(w, `{"jsonrpc":"2.0",`)
		}, "shorter than it said"},
		{"cut connection", "EOF", func(w http.ResponseWriter, r *http.Request, m message) {
			c, _, _ := http.NewResponseController(w).Hijack()
			c.Close()
		}, "no response at all"},
		{"long", "an answer longer than 4096 bytes", func(w http.ResponseWriter, r *http.Request, m message) {
			asJSON(w, strings.Repeat(" ", 1<<20)+result(m.ID, said(marker)))
		}, "white space counts"},
		{"deep", "the answer: more than 80 nested values", func(w http.ResponseWriter, r *http.Request, m message) {
			asJSON(w, result(m.ID, strings.Repeat("[", 100)+strings.Repeat("]", 100)))
		}, "measured before it is decoded"},
		{"no JSON", "the answer: not a JSON-RPC message", func(w http.ResponseWriter, r *http.Request, m message) {
			asJSON(w, "<p>"+marker)
		}, "a page that calls itself JSON"},
		{"page", "neither JSON nor events", func(w http.ResponseWriter, r *http.Request, m message) {
			io.WriteString(w, "<p>"+marker)
		}, "a page as it is"},
		{"accepted", "neither JSON nor events", status(202), "no answer"},
		{"another id", "an answer to a request that was never made", func(w http.ResponseWriter, r *http.Request, m message) {
			asJSON(w, result(json.RawMessage("77"), said(marker)))
		}, "nobody asked"},
		{"an old id", "the answer is to another request", func(w http.ResponseWriter, r *http.Request, m message) {
			asJSON(w, result(json.RawMessage("1"), said(marker)))
		}, "asked and answered"},
		{"no event", "the events ended before the answer", func(w http.ResponseWriter, r *http.Request, m message) {
			asEvents(w, ": nothing\n\nid: 7\ndata:\n\n")
		}, "nothing is resumed"},
		{"half an event", "cut off before its line break", func(w http.ResponseWriter, r *http.Request, m message) {
			asEvents(w, "data: "+result(m.ID, said(marker)))
		}, "an event ends with a blank line"},
		{"long event", "event 2: longer than 4096 bytes", func(w http.ResponseWriter, r *http.Request, m message) {
			asEvents(w, ": first\n\n")
			for r.Context().Err() == nil {
				asEvents(w, "data: "+strings.Repeat("x", 1000)+"\n")
			}
		}, "its lines together"},
		{"long line", "event 1: longer than 4096 bytes", func(w http.ResponseWriter, r *http.Request, m message) {
			for r.Context().Err() == nil {
				asEvents(w, strings.Repeat("x", 1000))
			}
		}, "of any kind"},
		{"bad event", "event 1: not a JSON-RPC message", func(w http.ResponseWriter, r *http.Request, m message) {
			asEvents(w, "data: "+marker+"\n\n")
		}, "no JSON"},
	} {
		server := secretive(served(t, byHand(tt.answer)))
		server.MaxMessage = 4096
		s := connect(t, server)
		r, err := s.Call(t.Context(), "any", nil)
		if r != nil || !errors.Is(err, ErrNoAnswer) || !says(err, tt.want) {
			t.Errorf("%s: %+v, %v, want %q (%s)", tt.name, r, err, tt.want, tt.reason)
		}
		s.Close()
	}
	if elsewhere.Load() > 0 {
		t.Errorf("%d requests went to another host", elsewhere.Load())
	}
}

func TestHTTPConnectFails(t *testing.T) {
	noLeaks(t)
	echo := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		json.NewDecoder(r.Body).Decode(&m)
		asJSON(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32000,"message":"`+r.Header.Get("X-Api-Key")+" "+r.Header.Get("Authorization")+" "+
			r.URL.RawQuery+`"}}`)
	}))
	_, err := Connect(t.Context(), secretive(echo))
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != -32000 || e.Message != "[redacted] Basic [redacted] [redacted]" {
		t.Errorf("an error that echoes: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = Connect(t.Context(), secretive("http://"+l.Addr().String()))
	if !errors.Is(err, ErrNoAnswer) || !says(err, "connect: no answer: dial tcp") {
		t.Errorf("nobody there: %v", err)
	}
	notices := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		json.NewDecoder(r.Body).Decode(&m)
		if m.ID == nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		asJSON(w, result(m.ID, initialized))
	}))
	if _, err := Connect(t.Context(), secretive(notices)); !errors.Is(err, ErrNoAnswer) || !says(err, "status 502 Bad Gateway") {
		t.Errorf("a notice is refused: %v", err)
	}
}

func TestHTTPAnswers(t *testing.T) {
	noLeaks(t)
	replies := make(chan message, 3)
	for _, tt := range []struct {
		name, want string
		answer     func(w http.ResponseWriter, r *http.Request, m message)
		reason     string
	}{
		{"never ends", "yes", func(w http.ResponseWriter, r *http.Request, m message) {
			asEvents(w, "event: message\r\ndata: "+result(m.ID, said("yes"))+"\r\n\r\n")
			<-r.Context().Done()
		}, "the client lets go after the answer"},
		{"many lines", "lines", func(w http.ResponseWriter, r *http.Request, m message) {
			asEvents(w, "event: ping\ndata: no JSON\n\n")
			asEvents(w, "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":"+string(m.ID)+",\ndata: \"result\":"+said("lines")+"}\n\n")
		}, "data over several lines, after an event of another kind"},
		{"same host", "moved", func(w http.ResponseWriter, r *http.Request, m message) {
			if r.URL.Path != "/moved" {
				http.Redirect(w, r, "/moved", http.StatusPermanentRedirect)
				return
			}
			asJSON(w, result(m.ID, said(strings.TrimPrefix(r.URL.Path, "/"))))
		}, "a redirect on the same host is followed"},
		{"headers", "2025-06-18 session-1 " + "application/json, text/event-stream", func(w http.ResponseWriter, r *http.Request, m message) {
			asJSON(w, result(m.ID, said(r.Header.Get("Mcp-Protocol-Version")+" "+r.Header.Get("Mcp-Session-Id")+" "+r.Header.Get("Accept"))))
		}, "as the transport asks for"},
		{"asks", "{} ", func(w http.ResponseWriter, r *http.Request, m message) {
			if m.Method == "" { // a reply
				replies <- m
				w.WriteHeader(http.StatusAccepted)
				return
			}
			asEvents(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
			asEvents(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n")
			reply := <-replies
			asEvents(w, "data: "+result(m.ID, said(string(reply.Result)+" "+string(reply.Error)))+"\n\n")
		}, "a ping is answered before the call"},
	} {
		s := connect(t, Server{URL: served(t, byHand(tt.answer)), Grace: 100 * time.Millisecond})
		r, err := s.Call(t.Context(), "any", nil)
		if err != nil || r.Text != tt.want {
			t.Errorf("%s: %+v, %v, want %q (%s)", tt.name, r, err, tt.want, tt.reason)
		}
		s.Close()
	}
}

// The context of a call, and Close, end one that hangs before its answer, in it, or between events.
func TestHTTPCallEnds(t *testing.T) {
	noLeaks(t)
	called := make(chan struct{}, 1)
	hanging := map[string]func(w http.ResponseWriter, r *http.Request, m message){
		"no response": func(w http.ResponseWriter, r *http.Request, m message) { called <- struct{}{}; <-r.Context().Done() },
		"half an answer": func(w http.ResponseWriter, r *http.Request, m message) {
			asJSON(w, `{"jsonrpc":`)
			http.NewResponseController(w).Flush()
			called <- struct{}{}
			<-r.Context().Done()
		},
		"only comments": func(w http.ResponseWriter, r *http.Request, m message) {
			asEvents(w, ": still here\n\n")
			called <- struct{}{}
			for r.Context().Err() == nil {
				asEvents(w, ": still here\n\n")
			}
		},
	}
	for name, answer := range hanging {
		server := Server{URL: served(t, byHand(answer)), Grace: 100 * time.Millisecond}
		s := connect(t, server)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-called; cancel() }()
		if _, err := s.Call(ctx, "any", nil); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: %v, want the error of the context", name, err)
		}
		go func() { <-called; s.Close() }()
		if _, err := s.Call(t.Context(), "any", nil); !errors.Is(err, ErrNoAnswer) || !says(err, "the session is closed") {
			t.Errorf("%s: %v, want that the session is closed", name, err)
		}
		s.Close()
	}
}

// A client of the caller is used with its own transport, and is not changed.
func TestHTTPClientOfCaller(t *testing.T) {
	address := served(t, byHand(func(w http.ResponseWriter, r *http.Request, m message) { asJSON(w, result(m.ID, said("yes"))) }))
	var used atomic.Int64
	own := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		used.Add(1)
		return http.DefaultTransport.RoundTrip(r)
	})}
	s := connect(t, Server{URL: address, HTTPClient: own})
	if _, err := s.Call(t.Context(), "any", nil); err != nil || used.Load() != 3 || own.CheckRedirect != nil {
		t.Errorf("%v, %d requests, want 3", err, used.Load())
	}
	s.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if e := dial(Server{URL: address}, mustURL(t, address), newConn(1, nil)); e.own.Proxy != nil || e.client.Jar != nil {
		t.Error("a client of its own has a proxy or cookies")
	}
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
