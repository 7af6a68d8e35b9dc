package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// marker is a secret that must not be in any error.
const marker = "s3cr3t-marker"

// modeVariable makes the test binary a server that the tests run, and sizeVariable sets its tools and its page.
const (
	modeVariable = "MCPCLIENT_TEST_MODE"
	sizeVariable = "MCPCLIENT_TEST_SIZE"
)

func TestMain(m *testing.M) {
	mode, ok := os.LookupEnv(modeVariable)
	if !ok {
		os.Exit(m.Run())
	}
	if mode == "sdk" {
		var tools, page int
		fmt.Sscan(os.Getenv(sizeVariable), &tools, &page)
		if err := sdkServer(tools, page).Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
			os.Exit(1)
		}
		os.Exit(0)
	}
	play(mode)
}

func program(t *testing.T, mode string, env ...string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under the race detector a program sleeps for a second before it exits, unless told otherwise.
	return Server{Command: []string{self}, Env: append(env, modeVariable+"="+mode, "GORACE=atexit_sleep_ms=0"), Grace: 100 * time.Millisecond}
}

func connect(t *testing.T, s Server) *Session {
	t.Helper()
	session, err := Connect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// sdkServer has tools named tool_00000 and so on, and some that answer.
func sdkServer(tools, page int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1.2.3"}, &mcp.ServerOptions{PageSize: page, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	answer := func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "got " + string(r.Params.Arguments)}}}, nil
	}
	for i := range tools {
		s.AddTool(&mcp.Tool{Name: fmt.Sprintf("tool_%05d", i), InputSchema: json.RawMessage(`{"type":"object"}`)}, answer)
	}
	return s
}

// result is a JSON-RPC answer.
func result(id json.RawMessage, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, text)
}

const initialized = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"9"}}`

func said(text string) string {
	return `{"content":[{"type":"text","text":` + strconv.Quote(text) + `}]}`
}

// exactPage has what is lost when it is decoded and encoded again.
const exactPage = `{"tools":[{"name":"z","inputSchema":{"type":"object","properties":{"b":{"maximum":9007199254740993},"a":{"const":1.0}}},` +
	`"x-more":123456789012345678901234567890}] , "_meta":{}}`

// play is a server that keeps to the protocol but for one fault. It answers each call with its arguments.
func play(mode string) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	say := func(lines ...string) {
		for _, l := range lines {
			fmt.Println(l)
		}
	}
	if mode == "banner" {
		say("Server is listening, the key is " + marker)
	}
	for page := 0; ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments    json.RawMessage `json:"arguments"`
				Capabilities json.RawMessage `json:"capabilities"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil {
			os.Exit(4)
		}
		switch m.Method {
		case "initialize":
			if string(m.Params.Capabilities) != "{}" { // no roots, sampling or elicitation
				os.Exit(5)
			}
			switch mode {
			case "silent":
				hang()
			case "dies_first":
				fmt.Fprintln(os.Stderr, marker)
				os.Exit(3)
			case "old":
				say(result(m.ID, `{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"`+marker+`","version":""}}`))
			case "odd":
				say(result(m.ID, `{"protocolVersion":7}`))
			default:
				say(result(m.ID, initialized))
			}
		case "tools/list":
			page++
			switch mode {
			case "repeats":
				say(result(m.ID, `{"tools":[],"nextCursor":"`+strconv.Itoa(page%3)+`"}`))
			case "pages":
				next := `,"nextCursor":"` + strconv.Itoa(page) + `"`
				if most, _ := strconv.Atoi(os.Getenv(sizeVariable)); page == most {
					next = ""
				}
				say(result(m.ID, `{"tools":[]`+next+`}`))
			case "cursor":
				say(result(m.ID, `{"tools":[],"nextCursor":7}`))
			case "list":
				say(result(m.ID, `["`+marker+`"]`))
			default:
				say(result(m.ID, exactPage))
			}
		case "tools/call":
			os.Stderr.WriteString("called\n")
			switch mode {
			case "dies":
				os.Exit(3)
			case "closes": // its output, and lives on
				os.Stdout.Close()
				hang()
			case "mute":
			case "deaf":
				hang()
			case "long":
				say(result(m.ID, said(strings.Repeat("x", 8192))))
			case "endless_line":
				for {
					os.Stdout.WriteString(strings.Repeat("x", 1<<16))
				}
			case "endless_notices":
				for {
					say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 500) + `"}}`)
				}
			case "notices":
				for range 20_000 {
					say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				}
				say(result(m.ID, said("after them")))
			case "half_line":
				fmt.Print(`{"jsonrpc":"2.0","id":` + string(m.ID))
				os.Exit(0)
			case "malformed":
				say(`{"jsonrpc":"2.0","id":` + marker)
			case "no_version":
				say(`{"id":` + string(m.ID) + `,"result":{}}`)
			case "wrong_id":
				say(result(json.RawMessage("999"), said(marker)))
			case "text_id":
				say(result(json.RawMessage(strconv.Quote(string(m.ID))), said(marker)))
			case "no_id":
				say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no ` + marker + `"}}`)
			case "twice":
				say(result(m.ID, said("once")), result(m.ID, said("again")), result(json.RawMessage("1"), said("first again")))
			case "neither":
				say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `}`)
			case "deep":
				say(result(m.ID, strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200)))
			case "crlf":
				fmt.Print("\r\n  \r\n" + result(m.ID, said("lines")) + "\r\n\n")
			case "batch":
				say("[" + result(m.ID, said("of two")) + `,{"jsonrpc":"2.0","method":"notifications/message"}]`)
			case "case":
				say(`{"jsonrpc":"2.0","ID":7,"id":` + string(m.ID) + `,"Result":{},"result":` + said("exact keys") + `}`)
			case "refuses":
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the key %s is\nbad %s"}}`, m.ID, os.Getenv("API_KEY"),
					strings.Repeat("x", 5000)))
			case "bad_code":
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":"%s"}}`, m.ID, marker))
			case "bad_arguments":
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool"}}`, m.ID))
			case "asks":
				say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`, `{"jsonrpc":"2.0","id":0,"method":"roots/list"}`,
					`{"jsonrpc":"2.0","id":-5,"method":"sampling/createMessage","params":{}}`)
				var replies []string
				for range 3 {
					reply, _ := in.ReadString('\n')
					replies = append(replies, strings.TrimSpace(reply))
				}
				say(result(m.ID, said(strings.Join(replies, " "))))
			case "structured":
				say(result(m.ID, `{"content":[],"structuredContent":{"b":9007199254740993,"a":[1.50]}}`))
			default:
				say(result(m.ID, said(string(m.Params.Arguments))))
			}
		}
	}
}

func hang() {
	for {
		time.Sleep(time.Hour) // a channel would be a deadlock to the runtime
	}
}

// noLeaks fails the test if it leaves goroutines of this package, of the SDK or of package child, or descriptors.
func noLeaks(t *testing.T) {
	t.Helper()
	r, w, err := os.Pipe() // the first of a process makes the runtime open descriptors that stay
	if err = errors.Join(err, r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	before := descriptors()
	t.Cleanup(func() {
		deadline := time.Now().Add(5 * time.Second)
		for {
			left := goroutines()
			if left == "" && descriptors() <= before {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("left behind: %d descriptors, before %d; goroutines:\n%s", descriptors(), before, left)
				return
			}
			runtime.Gosched()
		}
	})
}

func goroutines() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left []string
	for one := range strings.SplitSeq(string(buf), "\n\n") {
		for _, p := range []string{"/internal/mcpclient.", "/internal/child.", "go-sdk/"} {
			if strings.Contains(one, p) && !strings.Contains(one, "mcpclient.goroutines(") && !strings.Contains(one, "testing.(*T).Run(") {
				left = append(left, one)
				break
			}
		}
	}
	return strings.Join(left, "\n\n")
}

// descriptors counts those that are open; 0 where that cannot be told.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// A bell rings once when something is written.
type bell chan struct{}

func (b bell) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("called")) {
		select {
		case b <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}
