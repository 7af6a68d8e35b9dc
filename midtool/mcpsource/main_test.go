package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throughline-go/throughline/midtool"
)

// marker is a secret that must not be in any error, tool or recording.
const marker = "s3cr3t-marker"

// modeVariable makes the test binary a server that the tests run.
const modeVariable = "MCPSOURCE_TEST_MODE"

func TestMain(m *testing.M) {
	mode, ok := os.LookupEnv(modeVariable)
	if !ok {
		os.Exit(m.Run())
	}
	s := notebook()
	if mode == "more" {
		var tools, page int
		fmt.Sscan(os.Getenv("MCPSOURCE_TEST_SIZE"), &tools, &page)
		s = mcp.NewServer(&mcp.Implementation{Name: "many", Version: "2"}, &mcp.ServerOptions{PageSize: page, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
		for i := range tools {
			s.AddTool(&mcp.Tool{Name: fmt.Sprintf("tool_%05d", i), InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
		}
	}
	if name := os.Getenv("MCPSOURCE_TEST_STARTS"); name != "" { // so that a test can count the processes
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			os.Exit(2)
		}
		f.WriteString("x")
		f.Close()
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
		os.Exit(1)
	}
	os.Exit(0)
}

// notebook is a server with a state: lines that are added and read, and a counter of reads, so that equal calls differ.
func notebook() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "notebook", Version: "1.4"}, &mcp.ServerOptions{PageSize: 2})
	var lines []string
	var reads atomic.Int64
	text := func(format string, a ...any) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
	}
	add := func(name, more string, f func(r *mcp.CallToolRequest) *mcp.CallToolResult) {
		var t mcp.Tool
		definition := `{"name":"` + name + `","description":"Does ` + name + `.",` +
			`"inputSchema":{"type":"object","properties":{"line":{"type":"string"}}}` + more + `}`
		if err := json.Unmarshal([]byte(definition), &t); err != nil {
			panic(err)
		}
		s.AddTool(&t, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return f(r), nil })
	}
	const reading = `,"annotations":{"readOnlyHint":true,"openWorldHint":false}`
	add("read", reading+`,"title":"Read","outputSchema":{"type":"object"}`, func(*mcp.CallToolRequest) *mcp.CallToolResult {
		r := text("unused")
		r.StructuredContent = json.RawMessage(`{"lines":"` + strings.Join(lines, ",") + `","big":9007199254740993}`)
		return r
	})
	add("count_reads", reading, func(*mcp.CallToolRequest) *mcp.CallToolResult { return text("%d", reads.Add(1)) })
	add("say", reading, func(*mcp.CallToolRequest) *mcp.CallToolResult { return text("plain words") })
	add("fail", reading, func(*mcp.CallToolRequest) *mcp.CallToolResult { r := text("no paper"); r.IsError = true; return r })
	add("exit", reading, func(*mcp.CallToolRequest) *mcp.CallToolResult { os.Exit(3); return nil })
	add("add_line", `,"annotations":{"destructiveHint":false,"idempotentHint":false}`, func(r *mcp.CallToolRequest) *mcp.CallToolResult {
		var a struct{ Line string }
		json.Unmarshal(r.Params.Arguments, &a)
		lines = append(lines, a.Line)
		return text("%d lines", len(lines))
	})
	return s
}

func program(t testing.TB, mode string, env ...string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under the race detector a program sleeps for a second before it exits, unless told otherwise.
	env = append(env, modeVariable+"="+mode, "GORACE=atexit_sleep_ms=0")
	return Server{Command: []string{self, "-key=" + marker}, Env: env, Grace: time.Second}
}

// toolsOf lists the tools of a server, by name, normalized.
func toolsOf(t *testing.T, s Server) map[string]midtool.Tool {
	t.Helper()
	tools := map[string]midtool.Tool{}
	for one, err := range (Source{Server: s, License: "MIT"}).Tools(t.Context()) {
		if err == nil {
			one, err = midtool.Normalize(one)
		}
		if err != nil {
			t.Fatal(err)
		}
		tools[one.Name] = one
	}
	return tools
}
