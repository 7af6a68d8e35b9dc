package mcptest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// child holds the options of a server, for a copy of this program that is one.
const child = "STOCKROOM"

func TestMain(m *testing.M) {
	raw, ok := os.LookupEnv(child)
	if !ok {
		os.Exit(m.Run())
	}
	var o mcptest.Options
	if err := errors.Join(json.Unmarshal([]byte(raw), &o), mcptest.Serve(context.Background(), &o)); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

func command(t *testing.T, o mcptest.Options) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), child+"="+string(raw), "GORACE=atexit_sleep_ms=0") // the race detector would wait a second
	return c
}

// connect connects a client of the SDK.
func connect(t *testing.T, to mcp.Transport) *mcp.ClientSession {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// inMemory connects to a server in this process.
func inMemory(t *testing.T, o *mcptest.Options) *mcp.ClientSession {
	t.Helper()
	s, err := mcptest.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	return connect(t, here)
}

// call returns the structured content, or "refused: " or "error: " and why.
func call(t *testing.T, s *mcp.ClientSession, tool, args string) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		if e.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: code %d", tool, e.Code)
		}
		return "error"
	}
	if err != nil {
		t.Fatal(err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return "refused: " + text
	}
	raw, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(raw, &a), json.Unmarshal([]byte(text), &b)); err != nil || !cmp.Equal(a, b) {
		t.Errorf("%s: text %s is not the structured content %s", tool, text, raw)
	}
	return text
}

func TestTools(t *testing.T) {
	s := inMemory(t, &mcptest.Options{Items: []mcptest.Item{{Name: "bolt", Shelf: "A1", Count: 40}}})
	const bolt, nut = `{"name":"bolt","shelf":"A1","count":40}`, `{"name":"nut","shelf":"B2","count":7}`
	for _, c := range []struct{ tool, args, want, reason string }{
		{"list_items", `{}`, `{"items":[` + bolt + `]}`, "the stock at the start"},
		{"create_item", nut, nut, "a new item"},
		{"create_item", nut, `refused: item "nut" exists`, "names are unique"},
		{"get_item", `{"name":"nut"}`, nut, "one item"},
		{"get_item", `{"name":"nail"}`, `refused: no item "nail"`, "no such item"},
		{"search_items", `{"query":"B"}`, `{"items":[` + bolt + `,` + nut + `]}`, "name or shelf, in any case"},
		{"search_items", `{"query":"nail"}`, `{"items":[]}`, "an empty list is a list"},
		{"list_items", `{"shelf":"B2"}`, `{"items":[` + nut + `]}`, "those of a shelf"},
		{"update_item", `{"name":"nut","count":0}`, `{"name":"nut","shelf":"B2","count":0}`, "none left is an item still"},
		{"update_item", `{"name":"nail","count":0}`, `refused: no item "nail"`, "no such item"},
		{"move_item", `{"name":"bolt","shelf":"B2"}`, `{"name":"bolt","shelf":"B2","count":40}`, "another shelf"},
		{"delete_item", `{"name":"bolt"}`, `{"name":"bolt","shelf":"B2","count":40}`, "shows what it was"},
		{"delete_item", `{"name":"bolt"}`, `refused: no item "bolt"`, "gone"},
		{"list_items", `{}`, `{"items":[{"name":"nut","shelf":"B2","count":0}]}`, "what is left"},
		{"get_item", `{}`, "error", "a required argument is missing"},
		{"get_item", `{"name":7}`, "error", "of another type"},
		{"get_item", `{"name":"nut","shelf":"B2"}`, "error", "one too many"},
		{"update_item", `{"name":"nut","count":-1}`, "error", "out of range"},
		{"create_item", `{"name":"","shelf":"B2","count":1}`, "error", "too short"},
		{"teleport", `{}`, "error", "no such tool"},
	} {
		if got := call(t, s, c.tool, c.args); got != c.want {
			t.Errorf("%s %s: %s, want %s: %s", c.tool, c.args, got, c.want, c.reason)
		}
	}
}

// Every page has as many tools as it should, and each tool its schemas and hints.
func TestToolsList(t *testing.T) {
	for _, size := range []int{-1, 0, 1, 3, 7} {
		s := inMemory(t, &mcptest.Options{PageSize: size})
		var names []string
		pages, cursor := 0, ""
		for {
			page, err := s.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			pages++
			for _, tool := range page.Tools {
				names = append(names, tool.Name)
				reads := strings.HasPrefix(tool.Name, "list") || strings.HasPrefix(tool.Name, "get") || strings.HasPrefix(tool.Name, "search")
				if tool.InputSchema == nil || tool.OutputSchema == nil || tool.Annotations.ReadOnlyHint != reads {
					t.Errorf("%s: %+v", tool.Name, tool)
				}
				if tool.Name == "delete_item" && !*tool.Annotations.DestructiveHint {
					t.Error("delete_item destroys")
				}
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		want := 1
		if size > 0 {
			want = (7 + size - 1) / size
		}
		if len(names) != 7 || pages != want {
			t.Errorf("page size %d: %d tools on %d pages", size, len(names), pages)
		}
	}
}

// A server on the same file goes on where the one before it ended; another file is another world.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	o := &mcptest.Options{File: filepath.Join(dir, "stock.json"), Items: []mcptest.Item{{Name: "bolt", Shelf: "A1", Count: 4}}}
	s := inMemory(t, o)
	call(t, s, "create_item", `{"name":"nut","shelf":"B2","count":7}`)
	before := call(t, s, "list_items", `{}`)
	if after := call(t, inMemory(t, o), "list_items", `{}`); after != before || !strings.Contains(after, "bolt") {
		t.Errorf("%s, want %s", after, before)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
	if err := os.WriteFile(o.File, []byte(`{"items":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mcptest.NewServer(o); err == nil {
		t.Error("a file of something else must not pass as a stock")
	}
	if _, err := mcptest.Handler(o); err == nil {
		t.Error("nor for a handler")
	}
	if _, err := mcptest.NewServer(&mcptest.Options{File: dir}); err == nil {
		t.Error("nor a folder")
	}
}

func TestServe(t *testing.T) {
	s := connect(t, &mcp.CommandTransport{Command: command(t, mcptest.Options{})})
	if got := call(t, s, "list_items", `{}`); got != `{"items":[]}` {
		t.Error(got)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the process ends with its input, and well: %v", err)
	}
}

// Sessions over HTTP share the stock.
func TestHandler(t *testing.T) {
	h, err := mcptest.Handler(nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	one := connect(t, &mcp.StreamableClientTransport{Endpoint: srv.URL})
	other := connect(t, &mcp.StreamableClientTransport{Endpoint: srv.URL})
	call(t, one, "create_item", `{"name":"nut","shelf":"B2","count":7}`)
	if got := call(t, other, "list_items", `{}`); !strings.Contains(got, "nut") {
		t.Error(got)
	}
}

// Each fault does at the second call what it says, and nothing at the first.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		kind   mcptest.Kind
		lines  int // that come after the second call, while the input is open; -1 means that the output ends
		status int
		ok     func(lines []string) bool
	}{
		{mcptest.Exit, -1, 3, func(l []string) bool { return len(l) == 0 }},
		{mcptest.Close, -1, 0, func(l []string) bool { return len(l) == 0 }},
		{mcptest.Malformed, 1, 0, func(l []string) bool { return !json.Valid([]byte(l[0])) }},
		{mcptest.Oversized, 1, 0, func(l []string) bool { return len(l[0]) == 5000 && json.Valid([]byte(l[0])) }},
		{mcptest.Flood, 51, 0, func(l []string) bool {
			return strings.Contains(l[49], "notifications/progress") && strings.Contains(l[50], `"items"`)
		}},
		{mcptest.Hang, 1, 0, func(l []string) bool { return strings.Contains(l[0], `"id":4`) }}, // the ping, which is not the call
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			size := 50
			if c.kind == mcptest.Oversized {
				size = 5000
			}
			cmd := command(t, mcptest.Options{Fault: mcptest.Fault{Kind: c.kind, Call: 2, Size: size}})
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			answers := bufio.NewReader(out)
			exchange := func(send string, n int) (lines []string) {
				t.Helper()
				if _, err := io.WriteString(in, send); err != nil {
					t.Fatal(err)
				}
				for n < 0 || len(lines) < n {
					line, err := answers.ReadString('\n')
					if err == io.EOF && n < 0 {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					lines = append(lines, strings.TrimSuffix(line, "\n"))
				}
				return lines
			}
			exchange(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
				`"capabilities":{},"clientInfo":{"name":"test","version":"0"}}}`+"\n", 1)
			exchange(`{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_items","arguments":{}}}
`, 1)
			second := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_items","arguments":{}}}` + "\n"
			if c.kind == mcptest.Hang {
				second += `{"jsonrpc":"2.0","id":4,"method":"ping"}` + "\n"
			}
			lines := exchange(second, c.lines)
			if c.kind == mcptest.Hang {
				_ = cmd.Process.Kill() // a server that hangs is not one that ends with its input
				_ = cmd.Wait()
			} else {
				_ = in.Close()
				_ = cmd.Wait()
				if got := cmd.ProcessState.ExitCode(); got != c.status {
					t.Errorf("status %d, want %d", got, c.status)
				}
			}
			if !c.ok(lines) {
				t.Errorf("lines %.300q", lines)
			}
		})
	}
}

// Over HTTP the faults of frames come as answers without a connection, without an end, or beyond all bounds.
func TestHandlerFaults(t *testing.T) {
	for _, kind := range []mcptest.Kind{mcptest.Exit, mcptest.Close, mcptest.Malformed, mcptest.Oversized} {
		h, err := mcptest.Handler(&mcptest.Options{Fault: mcptest.Fault{Kind: kind, Method: "initialize", Size: 5000}})
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewUnstartedServer(h)
		srv.Start()
		t.Cleanup(srv.Close)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader(`{"method":"initialize"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := srv.Client().Do(req)
		cut := kind == mcptest.Exit || kind == mcptest.Close
		if cut != (err != nil) {
			t.Fatalf("%s: %v", kind, err)
		}
		if cut {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || json.Valid(body) != (kind == mcptest.Oversized) || kind == mcptest.Oversized && len(body) != 5000 {
			t.Errorf("%s: %d bytes, %v", kind, len(body), err)
		}
	}
}
