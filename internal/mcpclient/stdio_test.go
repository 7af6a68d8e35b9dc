package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// pages lists all pages and counts their tools.
func pages(ctx context.Context, s *Session) (texts []string, tools int, err error) {
	for raw, err := range s.Pages(ctx) {
		if err != nil {
			return texts, tools, err
		}
		var m struct{ Tools []struct{ Name string } }
		if err := json.Unmarshal(raw, &m); err != nil {
			return texts, tools, err
		}
		texts, tools = append(texts, string(raw)), tools+len(m.Tools)
	}
	return texts, tools, nil
}

// Every tool comes once, however the server cuts its list.
func TestPagesOfServer(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct {
		name              string
		tools, page, want int
		reason            string
	}{
		{"none", 0, 10, 1, "an empty list is a page"},
		{"one a page", 7, 1, 7, "the last page has no cursor"},
		{"many", 2500, 1000, 3, "1000, 1000 and 500"},
	} {
		s := connect(t, program(t, "sdk", sizeVariable+"="+strconv.Itoa(tt.tools)+" "+strconv.Itoa(tt.page)))
		if name, version := s.Name(); name != "sdk" || version != "1.2.3" {
			t.Errorf("the server is %s %s", name, version)
		}
		for range 2 {
			texts, tools, err := pages(t.Context(), s)
			if err != nil || tools != tt.tools || len(texts) != tt.want {
				t.Errorf("%s: %d tools on %d pages, %v, want %d on %d (%s)", tt.name, tools, len(texts), err, tt.tools, tt.want, tt.reason)
			}
		}
		for range s.Pages(t.Context()) {
			break
		}
		if r, err := s.Call(t.Context(), "tool_00003", json.RawMessage(` {"n": 9007199254740993} `)); tt.tools > 3 &&
			(err != nil || r.Text != `got {"n":9007199254740993}`) {
			t.Errorf("%s: call: %+v, %v", tt.name, r, err)
		}
		s.Close()
	}
}

func TestPagesAreExact(t *testing.T) {
	noLeaks(t)
	s := connect(t, program(t, "plain"))
	texts, _, err := pages(t.Context(), s)
	if err != nil || len(texts) != 1 || texts[0] != exactPage {
		t.Errorf("got %q, %v, want %q", texts, err, exactPage)
	}
	s.Close()
}

func TestPagesOfBrokenLists(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct {
		name, mode, size string
		pages            int
		want             string
		reason           string
	}{
		{"as many as allowed", "pages", "1000", 1000, "", "the last of 1,000 has no cursor"},
		{"one more", "pages", "1001", 999, "page 1000: no answer: another page follows, want at most 1000", "an endless list ends"},
		{"repeated cursor", "repeats", "", 3, "page 4: no answer: the cursor of an earlier page comes again", "1, 2, 0, 1"},
		{"cursor of another kind", "cursor", "", 0, "page 1: no answer: nextCursor is not a string", "a number is no cursor"},
		{"no object", "list", "", 0, "page 1: no answer: the result is not an object", "a list is no result"},
	} {
		s := connect(t, program(t, tt.mode, sizeVariable+"="+tt.size))
		texts, _, err := pages(t.Context(), s)
		if len(texts) != tt.pages || !says(err, tt.want) {
			t.Errorf("%s: %d pages, %v, want %d, %q (%s)", tt.name, len(texts), err, tt.pages, tt.want, tt.reason)
		}
		s.Close()
	}
}

// says reports whether err is as wanted, none for an empty text, and holds no secret.
func says(err error, want string) bool {
	if want == "" || err == nil {
		return want == "" && err == nil
	}
	return strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), marker)
}

func TestConnectFails(t *testing.T) {
	noLeaks(t)
	missing := Server{Command: []string{"no-such-program-" + marker[:6]}}
	for _, tt := range []struct {
		name   string
		server Server
		want   string
		reason string
	}{
		{"no program", missing, "not found", "the name is looked up"},
		{"dies", program(t, "dies_first"), "exit status 3", "how it ended, and nothing of its standard error"},
		{"banner", program(t, "banner"), "line 1: not a JSON-RPC message (45 bytes, not shown): a server must print nothing else there",
			"what, where, and what to do"},
		{"another time", program(t, "old"), "unsupported protocol version", "no version in common"},
		{"odd result", program(t, "odd"), "no answer", "the SDK cannot read it"},
	} {
		s, err := Connect(t.Context(), tt.server)
		if s != nil || !errors.Is(err, ErrNoAnswer) || !says(err, tt.want) {
			t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Connect(ctx, program(t, "silent")); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNoAnswer) {
		t.Errorf("silent: %v, want the error of the context", err)
	}
}

func TestConnectChecks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server Server
		want   string
	}{
		{"neither", Server{}, "want one of Command and URL"},
		{"both", Server{Command: []string{"a"}, URL: "http://a"}, "want one of Command and URL"},
		{"empty program", Server{Command: []string{""}}, "the program, Command[0], is empty"},
		{"grace", Server{Command: []string{"a"}, Grace: -1}, "a Grace of -1ns, want 0 or more"},
		{"message", Server{Command: []string{"a"}, MaxMessage: -1}, "a MaxMessage of -1, want 0 or more"},
		{"scheme", Server{URL: "ftp://u:" + marker + "@a"}, "URL is not an address with http or https and a host"},
		{"no address", Server{URL: "http://u:" + marker + "@[a"}, "URL is not an address with http or https and a host"},
	} {
		if _, err := Connect(t.Context(), tt.server); !says(err, tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Connect(ctx, program(t, "plain")); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// A server that breaks the protocol breaks the session, with an error that names the fault and holds nothing of what it said.
func TestCallFaults(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct {
		mode, want string
		usable     bool // the session can go on
		reason     string
	}{
		{"dies", "exit status 3", false, "the program is gone"},
		{"closes", "signal: killed", false, "without output it is of no use, and killed"},
		{"long", "line 2: longer than 4096 bytes", false, "measured before it is decoded"},
		{"endless_line", "line 2: longer than 4096 bytes", false, "nor is it read to its end"},
		{"half_line", "line 2: cut off before its line break", false, "half a message is none"},
		{"malformed", "line 2: not a JSON-RPC message (", false, "no JSON"},
		{"no_version", "line 2: not a JSON-RPC message (", false, "no JSON-RPC"},
		{"wrong_id", "line 2: an answer to a request that was never made", false, "nobody asked"},
		{"text_id", "line 2: an answer to a request that was never made", false, "ids come back as they were"},
		{"no_id", "line 2: an error without id: code -32700", false, "it could not read us"},
		{"neither", "an answer with neither a result nor an error", true, "one call is lost"},
		{"deep", "line 2: more than 80 nested values", false, "measured before it is decoded"},
		{"bad_code", "line 2: an error that is no JSON-RPC error", false, "a code is a number"},
	} {
		server := program(t, tt.mode, "API_KEY="+marker)
		server.MaxMessage = 4096
		s := connect(t, server)
		r, err := s.Call(t.Context(), "any", nil)
		if r != nil || !errors.Is(err, ErrNoAnswer) || !says(err, tt.want) {
			t.Errorf("%s: %+v, %v, want %q (%s)", tt.mode, r, err, tt.want, tt.reason)
		}
		_, _, err = pages(t.Context(), s)
		if (err == nil) != tt.usable || err != nil && !errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: afterwards: %v", tt.mode, err)
		}
		s.Close()
	}
}

func TestCallAnswers(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct{ mode, want, reason string }{
		{"plain", `{}`, "no arguments are an empty object"},
		{"notices", "after them", "notifications are dropped"},
		{"crlf", "lines", "line breaks of other systems, and blank lines"},
		{"batch", "of two", "answers may come together"},
		{"twice", "once", "what nobody waits for any more is dropped"},
		{"case", "exact keys", "keys are matched as they are"},
		{"asks", `{"jsonrpc":"2.0","id":"p","result":{}} ` +
			`{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"method not found"}} ` +
			`{"jsonrpc":"2.0","id":-5,"error":{"code":-32601,"message":"method not found"}}`, "requests of the server are answered at once"},
	} {
		s := connect(t, program(t, tt.mode))
		r, err := s.Call(t.Context(), "any", nil)
		if err != nil || r.Text != tt.want || r.IsError {
			t.Errorf("%s: %+v, %v, want %q (%s)", tt.mode, r, err, tt.want, tt.reason)
		}
		if _, _, err := pages(t.Context(), s); err != nil {
			t.Errorf("%s: afterwards: %v", tt.mode, err)
		}
		s.Close()
	}
	s := connect(t, program(t, "structured"))
	if r, err := s.Call(t.Context(), "any", nil); err != nil || string(r.Structured) != `{"b":9007199254740993,"a":[1.50]}` {
		t.Errorf("structured: %+v, %v", r, err)
	}
	if _, err := s.Call(t.Context(), "any", json.RawMessage(`[1]`)); !says(err, "the arguments are no JSON object") {
		t.Errorf("arguments: %v", err)
	}
	s.Close()
}

func TestCallRefused(t *testing.T) {
	noLeaks(t)
	s := connect(t, program(t, "refuses", "API_KEY="+marker))
	_, err := s.Call(t.Context(), "any", nil)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != -32603 || !strings.HasPrefix(e.Message, "the key [redacted] is bad xxx") || len(e.Message) > 1100 || errors.Is(err, ErrNoAnswer) {
		t.Errorf("got %v, want an Error without the secret, on one line, cut", err)
	}
	s.Close()
	s = connect(t, program(t, "bad_arguments"))
	if r, err := s.Call(t.Context(), "any", nil); err != nil || !r.BadArguments || !r.IsError || r.Text != "unknown tool" {
		t.Errorf("got %+v, %v, want bad arguments", r, err)
	}
	s.Close()
}

// The context of a call ends the wait for it, whatever the server does, and the session can go on if the server can.
func TestCallContext(t *testing.T) {
	noLeaks(t)
	for _, mode := range []string{"mute", "deaf", "endless_notices"} {
		called := make(bell, 1)
		server := program(t, mode)
		server.Stderr = called
		s := connect(t, server)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-called; cancel() }()
		if _, err := s.Call(ctx, "any", nil); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: %v, want the error of the context", mode, err)
		}
		if mode == "deaf" { // more than a pipe holds
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			long := json.RawMessage(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)
			if _, err := s.Call(ctx, "any", long); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: a call that is not read: %v, want the error of the context", mode, err)
			}
		}
		if mode == "mute" {
			if _, _, err := pages(t.Context(), s); err != nil {
				t.Errorf("%s: afterwards: %v", mode, err)
			}
		}
		s.Close()
	}
}

// Close ends calls that wait, and every later one.
func TestCloseEndsCalls(t *testing.T) {
	noLeaks(t)
	called := make(bell, 1)
	server := program(t, "mute")
	server.Stderr = called
	s := connect(t, server)
	var waiting sync.WaitGroup
	for range 20 {
		waiting.Go(func() {
			if _, err := s.Call(context.Background(), "any", nil); !errors.Is(err, ErrNoAnswer) || !says(err, "the session is closed") {
				t.Errorf("got %v", err)
			}
		})
	}
	<-called
	for range 3 {
		waiting.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	waiting.Wait()
	if _, err := s.Call(t.Context(), "any", nil); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("after Close: %v", err)
	}
}

// Answers find their calls, in whatever order they are made.
func TestCallConcurrently(t *testing.T) {
	noLeaks(t)
	s := connect(t, program(t, "plain"))
	var calls sync.WaitGroup
	for i := range 200 {
		calls.Go(func() {
			arguments := `{"n":` + strconv.Itoa(i) + `}`
			if r, err := s.Call(t.Context(), "any", json.RawMessage(arguments)); err != nil || r.Text != arguments {
				t.Errorf("%s: got %+v, %v", arguments, r, err)
			}
		})
	}
	calls.Wait()
	s.Close()
	if s.link.base().pending[0] != nil || len(s.link.base().pending) > 0 {
		t.Errorf("%d requests are remembered", len(s.link.base().pending))
	}
}

// The Node servers, as measured: 13 and 9 tools, and faults of arguments as text of a result.
func TestNodeServers(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct {
		program string
		tools   int
	}{{"mcp-server-everything", 13}, {"mcp-server-memory", 9}} {
		if _, err := exec.LookPath(tt.program); err != nil {
			t.Skipf("%s is not installed: npm's server is only used where it is on PATH", tt.program)
		}
		s := connect(t, Server{Command: []string{tt.program}, Dir: t.TempDir()})
		if _, tools, err := pages(t.Context(), s); err != nil || tools != tt.tools {
			t.Errorf("%s: %d tools, %v, want %d", tt.program, tools, err, tt.tools)
		}
		r, err := s.Call(t.Context(), "no_such_tool", nil)
		if err != nil || !r.IsError || !r.BadArguments {
			t.Errorf("%s: an unknown tool: %+v, %v", tt.program, r, err)
		}
		s.Close()
	}
}
