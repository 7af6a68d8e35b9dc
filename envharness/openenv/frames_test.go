package openenv_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openenv"
)

// A script is one dialog of a file in testdata.
type script struct {
	name  string
	lines []scriptLine
}

type scriptLine struct {
	op, text string // ">" of the client, "<" of the server, and what a test does and expects
	number   int
}

func readScripts(t *testing.T, path string) (scripts []script) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		op, text, _ := strings.Cut(line, " ")
		switch {
		case op == "":
		case op == "#":
			scripts = append(scripts, script{name: text})
		default:
			s := &scripts[len(scripts)-1]
			s.lines = append(s.lines, scriptLine{op, text, i + 1})
		}
	}
	return scripts
}

// sameJSON compares documents as values.
func sameJSON(t *testing.T, what string, line int, got, want string) {
	t.Helper()
	var g, w any
	if err := errors.Join(json.Unmarshal([]byte(got), &g), json.Unmarshal([]byte(want), &w)); err != nil {
		t.Fatalf("line %d: %s: %v\n got %s\nwant %s", line, what, err, got, want)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Fatalf("line %d: %s (-want +got):\n%s", line, what, diff)
	}
}

// Our server answers every type of message as written down.
func TestSessionFrames(t *testing.T) {
	for _, s := range readScripts(t, "testdata/sessions.txt") {
		t.Run(s.name, func(t *testing.T) {
			_, url := serve(t, toys, &openenv.ServerOptions{ExposeState: true})
			w := dial(t, url)
			for _, l := range s.lines {
				if l.op == ">" {
					w.send(l.text)
					continue
				}
				op, payload, err := w.next()
				if err != nil || op != opText {
					t.Fatalf("line %d: opcode %d %v", l.number, op, err)
				}
				sameJSON(t, "answer", l.number, string(payload), l.text)
			}
			if got := w.expectEnd(); got != 1000 {
				t.Errorf("farewell with status %d", got)
			}
		})
	}
}

// Where tools change, a client that calls them by the reference's form is not told in its answer, and any other is told in the next one.
func TestCalledToolsChange(t *testing.T) {
	_, url := serve(t, func(context.Context) (envharness.Environment, error) { return &growing{toy: new(toy)}, nil }, nil)
	w := dial(t, url)
	tools := func(message string) int {
		t.Helper()
		w.send(message)
		observation, _ := w.expect("observation")["observation"].(map[string]any)
		list, _ := observation["tools"].([]any)
		return len(list)
	}
	for _, c := range []struct {
		message string
		want    int
	}{
		{`{"type":"reset"}`, 1},
		{`{"type":"step","data":{"name":"go"}}`, 2},
		{`{"type":"step","data":{"type":"call_tool","tool_name":"go"}}`, 0},
		{`{"type":"step","data":{"type":"list_tools"}}`, 3},
		{`{"type":"step","data":{"name":"go"}}`, 3}, // the same as before, of which it was not told
		{`{"type":"step","data":{"name":"go"}}`, 0},
	} {
		if got := tools(c.message); got != c.want {
			t.Errorf("%s: told of %d tools, want %d", c.message, got, c.want)
		}
	}
	w.send(`{"type":"close"}`)
	w.expectEnd()
}

// A growing environment has one more tool after each of its first two turns.
type growing struct{ *toy }

func (g *growing) Tools() []envharness.Tool {
	var tools []envharness.Tool
	for i := range min(g.turn, 2) + 1 {
		tools = append(tools, envharness.Tool{Name: fmt.Sprint("tool", i)})
	}
	return tools
}

// Our client understands servers of the reference's make, as written down.
func TestPeerFrames(t *testing.T) {
	for _, s := range readScripts(t, "testdata/peers.txt") {
		t.Run(s.name, func(t *testing.T) {
			var dialog []scriptLine
			p := peer{}
			for _, l := range s.lines {
				switch l.op {
				case "schema":
					p.schema = l.text
				case ">", "<":
					dialog = append(dialog, l)
				}
			}
			p.say = func(c *websocket.Conn, message string) error {
				if strings.Contains(message, `"close"`) {
					return errors.New("closed")
				}
				if len(dialog) == 0 || dialog[0].op != ">" {
					t.Errorf("unexpected: %s", message)
					return errors.New("unexpected")
				}
				if message != dialog[0].text {
					sameJSON(t, "message", dialog[0].number, message, dialog[0].text)
				}
				for dialog = dialog[1:]; len(dialog) > 0 && dialog[0].op == "<"; dialog = dialog[1:] {
					if err := c.Write(context.Background(), websocket.MessageText, []byte(dialog[0].text)); err != nil {
						return err
					}
				}
				return nil
			}
			env, err := openenv.Open(t.Context(), serveHTTP(t, p), nil)
			if err == nil {
				defer func() { _ = env.Close() }()
			}
			var got any
			for _, l := range s.lines {
				switch l.op {
				case "tools":
					d, ok := envharness.As[envharness.Describer](env)
					if !ok {
						t.Fatal("no description")
					}
					b, _ := json.Marshal(d.Describe().Tools)
					sameJSON(t, "tools", l.number, string(b), l.text)
				case "reset":
					var o envharness.ResetOptions
					if err := json.Unmarshal([]byte(l.text), &o); err != nil {
						t.Fatal(err)
					}
					got, err = env.Reset(t.Context(), o)
				case "step":
					var a envharness.Action
					if err := json.Unmarshal([]byte(l.text), &a); err != nil {
						t.Fatal(err)
					}
					got, err = env.Step(t.Context(), a)
				case "=":
					if err != nil {
						t.Fatalf("line %d: %v", l.number, err)
					}
					b, _ := json.Marshal(got)
					sameJSON(t, "result", l.number, string(b), l.text)
				case "!":
					if err == nil || err.Error() != l.text {
						t.Fatalf("line %d: got %v, want %s", l.number, err, l.text)
					}
					if strings.HasPrefix(l.text, "openenv") && !errors.Is(err, envharness.ErrInfra) {
						t.Errorf("line %d: %v is no ErrInfra", l.number, err)
					}
				}
			}
		})
	}
}

// Requests without a session, as the reference answers them.
func TestHTTP(t *testing.T) {
	_, exposed := serve(t, toys, &openenv.ServerOptions{
		Name: "toy world", Description: "a toy", Version: "1.0", Author: "us", URL: "https://example.com", ExposeState: true, MaxMessage: 1 << 16,
	})
	_, plain := serve(t, toys, nil)
	shown := func(text, more string) string {
		return `{"observation":{"text":` + text + `,"data":{"turn":` + text[len(text)-2:len(text)-1] +
			`},"terminated":false,"truncated":false,"reason":""},` + more + `}`
	}
	for _, c := range []struct {
		name, method, url, body string
		status                  int
		want                    string // JSON; empty if only the status counts
	}{
		{"reset", "POST", exposed + "/reset", `{"seed":42,"episode_id":"e1"}`, 200,
			shown(`"\"e1\" seed 42 options  turn 0"`, `"reward":null,"done":false`)},
		{"reset without a body", "POST", exposed + "/reset", ``, 200, shown(`"\"\" seed none options  turn 0"`, `"reward":null,"done":false`)},
		{"step", "POST", exposed + "/step", `{"action":{"name":"go","args":{}},"timeout_s":30,"request_id":"r1"}`, 200,
			shown(`"\"\" seed none options  turn 1"`, `"reward":0,"done":false`)},
		{"step of a task", "POST", exposed + "/step", `{"action":{"name":"go"},"episode_id":"e1","seed":3,"render":true}`, 200,
			shown(`"\"e1\" seed 3 options {\"render\":true} turn 1"`, `"reward":0,"done":false`)},
		{"a tool", "POST", plain + "/step", `{"action":{"type":"call_tool","tool_name":"go","arguments":{}},"episode_id":"e1"}`, 200,
			`{"observation":{"tool_name":"go","text":"\"e1\" seed none options  turn 1","data":{"turn":1},"terminated":false,"truncated":false,"reason":"",
			"result":{"content":[{"type":"text","text":"\"e1\" seed none options  turn 1"}],"structured_content":{"turn":1},
			"data":"\"e1\" seed none options  turn 1","is_error":false},"error":null},"reward":0,"done":false}`},
		{"the list of tools", "POST", plain + "/step", `{"action":{"type":"list_tools"},"episode_id":"nowhere"}`, 200,
			`{"observation":{"tools":[{"name":"go","description":"a turn","input_schema":{"type":"object","properties":{}}},
			{"name":"stop","description":"","input_schema":{"type":"object","properties":{}}}]},"reward":null,"done":false}`},
		{"no such task", "POST", exposed + "/reset", `{"episode_id":"nowhere"}`, 500, `{"detail":"there is no such task","class":"no_task"}`},
		{"a seed below zero", "POST", exposed + "/reset", `{"seed":-1}`, 422,
			`{"detail":[{"type":"greater_than_equal","loc":["body","seed"],"msg":"seed is at least 0","input":-1}]}`},
		{"a long id", "POST", exposed + "/reset", `{"episode_id":"` + strings.Repeat("x", 256) + `"}`, 422,
			`{"detail":[{"type":"string_too_long","loc":["body","episode_id"],` +
				`"msg":"episode_id has at most 255 characters","input":"` + strings.Repeat("x", 256) + `"}]}`},
		{"a huge value", "POST", exposed + "/reset", `{"seed":"` + strings.Repeat("x", 5000) + `"}`, 422,
			`{"detail":[{"type":"int_type","loc":["body","seed"],"msg":"seed is an integer","input":"\"` + strings.Repeat("x", 1023) + `..."}]}`},
		{"no JSON", "POST", exposed + "/reset", `{`, 422,
			`{"detail":[{"type":"json_invalid","loc":["body"],"msg":"the message is not JSON","input":{}}]}`},
		{"no object", "POST", exposed + "/reset", `[]`, 422,
			`{"detail":[{"type":"dict_type","loc":["body"],"msg":"the body is an object","input":[]}]}`},
		{"no action", "POST", exposed + "/step", `{}`, 422,
			`{"detail":[{"type":"missing","loc":["body","action"],"msg":"action is required","input":{}}]}`},
		{"no body", "POST", exposed + "/step", ``, 422, `{"detail":[{"type":"missing","loc":["body"],"msg":"a body is required","input":null}]}`},
		{"an action that is none", "POST", exposed + "/step", `{"action":{"value":1},"timeout_s":0,"request_id":5}`, 422, `{"detail":[
			{"type":"extra_forbidden","loc":["body","action","value"],"msg":"no such field","input":1},
			{"type":"missing","loc":["body","action","name"],"msg":"name is required","input":{"value":1}},
			{"type":"greater_than","loc":["body","timeout_s"],"msg":"timeout_s is above 0","input":0},
			{"type":"string_type","loc":["body","request_id"],"msg":"request_id is a string","input":5}]}`},
		{"an action of the wrong type", "POST", exposed + "/step", `{"action":"go","timeout_s":"1"}`, 422, `{"detail":[
			{"type":"dict_type","loc":["body","action"],"msg":"action is an object","input":"go"},
			{"type":"float_type","loc":["body","timeout_s"],"msg":"timeout_s is a number","input":"1"}]}`},
		{"state", "GET", exposed + "/state", ``, 200, `{"episode_id":null,"step_count":0,"state":{"turn":0,"goal":"secret goal"}}`},
		{"state that is not exposed", "GET", plain + "/state", ``, 404, `{"detail":"Not Found"}`},
		{"health", "GET", plain + "/health", ``, 200, `{"status":"healthy"}`},
		{"metadata", "GET", exposed + "/metadata", ``, 200,
			`{"name":"toy world","description":"a toy","readme_content":null,` +
				`"version":"1.0","author":"us","documentation_url":"https://example.com"}`},
		{"metadata of the description", "GET", plain + "/metadata", ``, 200,
			`{"name":"toy","description":"toy","readme_content":null,"version":null,"author":null,"documentation_url":null}`},
		{"schema", "GET", plain + "/schema", ``, 200, ``},
		{"tools", "POST", plain + "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[
			{"name":"go","description":"a turn","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}},
			{"name":"stop","description":"","inputSchema":{"type":"object","properties":{}}}],"_meta":{"throughline-go/envharness":{"description":
			{"name":"toy","tools":[{"name":"go","description":"a turn","read_only":true},{"name":"stop","submits":true}]}}}}}`},
		{"a call", "POST", plain + "/mcp", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"go"}}`, 200,
			`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"\"\" seed none options  turn 1"}],"structuredContent":
			{"text":"\"\" seed none options  turn 1","data":{"turn":1},"terminated":false,"truncated":false,"reason":""},"isError":false}}`},
		{"a call that is no JSON", "POST", plain + "/mcp", `{`, 200,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not JSON"}}`},
		{"another path", "GET", plain + "/web", ``, 404, `{"detail":"Not Found"}`},
		{"another method", "GET", plain + "/step", ``, 405, `{"detail":"Method Not Allowed"}`},
		{"no upgrade", "GET", plain + "/ws", ``, 426, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, c.url, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			var got any
			err = json.NewDecoder(resp.Body).Decode(&got)
			if resp.StatusCode != c.status {
				t.Errorf("status %d, want %d: %v", resp.StatusCode, c.status, got)
			}
			if c.want != "" {
				if err != nil {
					t.Fatal(err)
				}
				b, _ := json.Marshal(got)
				sameJSON(t, "answer", 0, string(b), c.want)
			}
		})
	}
}
