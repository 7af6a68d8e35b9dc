package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/mcpsource"
)

// mcpResult counts what was done with servers.
type mcpResult struct {
	Servers  int         `json:"servers"`  // reached
	Tools    int         `json:"tools"`    // listed by all of them
	Episodes int         `json:"episodes"` // played
	Verified int         `json:"verified"` // judged as they must be: passed, failed or invalid
	Failed   int         `json:"failed"`   // servers with an error
	Rows     []serverRow `json:"rows"`
}

type serverRow struct {
	Server   string   `json:"server"`
	Skipped  string   `json:"skipped,omitempty"` // why it was left out
	Tools    int      `json:"tools"`
	Episodes int      `json:"episodes"`
	Verified int      `json:"verified"`
	Errors   []string `json:"errors,omitempty"`
}

// A liveServer is one server with the episodes that are played on it.
type liveServer struct {
	name    string
	program string // must be installed, else the server is skipped; empty means that this program brings it along
	tools   int    // that it lists; zero means any number, as what is installed may be of another version
	list    func(dir string) mcpenv.Server
	close   func()
	plays   []play
}

// A play is one episode and how it must be judged.
type play struct {
	name       string
	world      mcpenv.Config
	components []envharness.Component
	actions    []envharness.Action
	want       envharness.Status
}

// runMCP lists the tools of each server and plays its episodes. Whatever goes wrong with one is told in its row.
func runMCP(ctx context.Context) (mcpResult, error) {
	var r mcpResult
	for _, s := range []liveServer{stockroomByStreams(), stockroomByHTTP(), everything(), memory()} {
		row := serverRow{Server: s.name}
		if s.program != "" {
			if _, err := exec.LookPath(s.program); err != nil {
				row.Skipped = s.program + " is not installed"
				r.Rows = append(r.Rows, row)
				continue
			}
		}
		if err := s.run(ctx, &row); err != nil {
			row.Errors = append(row.Errors, err.Error())
		}
		if s.close != nil {
			s.close()
		}
		r.Servers++
		r.Tools += row.Tools
		r.Episodes += row.Episodes
		r.Verified += row.Verified
		if len(row.Errors) > 0 {
			r.Failed++
		}
		r.Rows = append(r.Rows, row)
		if err := ctx.Err(); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (s liveServer) run(ctx context.Context, row *serverRow) error {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tools, err := midtool.ReadTools(ctx, mcpsource.Source{Server: mcpsource.Server(s.list(dir)), License: "Apache-2.0"})
	if err != nil {
		return err
	}
	row.Tools = len(tools)
	if s.tools > 0 {
		if err := want("tools", len(tools), s.tools); err != nil {
			return err
		}
	}
	for _, p := range s.plays {
		row.Episodes++
		status, err := p.judge(ctx)
		switch {
		case err != nil:
			row.Errors = append(row.Errors, p.name+": "+err.Error())
		case status != p.want:
			row.Errors = append(row.Errors, fmt.Sprintf("%s: judged %v, want %v", p.name, status, p.want))
		default:
			row.Verified++
		}
	}
	return nil
}

// judge plays the episode once.
func (p play) judge(ctx context.Context) (envharness.Status, error) {
	world, err := mcpenv.World(p.world)
	if err != nil {
		return envharness.Invalid, err
	}
	policy := func(int) (envharness.Policy, error) {
		next := 0
		return envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
			if next == len(p.actions) {
				return envharness.Action{}, envharness.ErrStop
			}
			next++
			return p.actions[next-1], nil
		}), nil
	}
	traces, err := envharness.Rollouts(ctx, world, p.components, policy, []envharness.Task{{}},
		&envharness.RolloutOptions{Reruns: new(0), StepTimeout: p.timeout()})
	if err != nil {
		return envharness.Invalid, err
	}
	text, err := json.Marshal(traces)
	if err == nil && bytes.Contains(text, []byte(marker)) {
		err = errors.New("a secret is in the trace")
	}
	if t := traces[0]; err == nil && t.Verdict.Status == envharness.Invalid && p.want != envharness.Invalid {
		err = errors.New(t.Cause)
	}
	return traces[0].Verdict.Status, err
}

// timeout is short where the server is known to hang.
func (p play) timeout() time.Duration {
	if p.want == envharness.Invalid {
		return 3 * time.Second
	}
	return time.Minute
}

func act(name, args string) envharness.Action {
	return envharness.Action{Name: name, Args: json.RawMessage(args)}
}

// childArg makes this program a server; the argument after it has the options.
const childArg = "serve-stockroom"

// serveChild serves where this program was started as a server by itself.
func serveChild(args []string) bool {
	if len(args) != 2 || args[0] != childArg {
		return false
	}
	var o mcptest.Options
	err := json.Unmarshal([]byte(args[1]), &o)
	if err == nil {
		err = mcptest.Serve(context.Background(), &o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, marker, err)
		os.Exit(1)
	}
	return true
}

// byStreams starts this program as a server, with the stock in the folder of the episode.
func byStreams(o mcptest.Options) func(dir string) mcpenv.Server {
	return func(dir string) mcpenv.Server {
		o := o
		o.File = filepath.Join(dir, "stock.json")
		options, err := json.Marshal(o)
		if err != nil {
			panic(err) // there is nothing in it that is not JSON
		}
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		return mcpenv.Server{
			Command: []string{self, childArg, string(options)}, Env: []string{"TOKEN=" + marker},
			Grace: time.Second, MaxMessage: 64 << 10,
		}
	}
}

// restock asks for more bolts and no nuts.
func restock(server func(dir string) mcpenv.Server) mcpenv.Config {
	return mcpenv.Config{
		Name: "stockroom", Server: server, Read: act("list_items", `{}`), Deterministic: true,
		Tasks: []mcpenv.Task{{
			Task: envharness.Task{ID: "restock"}, Prompt: "Set the bolts to 9 and remove the nuts.",
			Start: []envharness.Action{act("create_item", `{"name":"bolt","shelf":"A1","count":5}`), act("create_item", `{"name":"nut","shelf":"B2","count":1}`)},
			Goal:  json.RawMessage(`{"items":[{"name":"bolt","shelf":"A1","count":9}]}`),
		}},
	}
}

func restocked() []envharness.Action {
	return []envharness.Action{act("delete_item", `{"name":"nut"}`), act("update_item", `{"name":"bolt","count":9}`)}
}

// stockroomPlays are the episodes on a server of our own, which server makes with the given options.
func stockroomPlays(server func(mcptest.Options) func(dir string) mcpenv.Server) []play {
	sound := restock(server(mcptest.Options{PageSize: 2}))
	plays := []play{
		{"solved", sound, nil, restocked(), envharness.Pass},
		{"solved behind components", sound, []envharness.Component{components.ToolFail{Tools: []string{"delete_*"}}, components.StepBudget{Turns: 3}},
			append(restocked()[:1:1], restocked()...), envharness.Pass},
		{"a budget runs out", sound, []envharness.Component{components.StepBudget{Turns: 1}}, restocked(), envharness.Fail},
		{"half done", sound, nil, restocked()[:1], envharness.Fail},
		{"nothing done", sound, nil, nil, envharness.Fail},
		{"refused calls alone", sound, nil, []envharness.Action{act("delete_item", `{"name":"gear"}`), act("forget", `{}`), act("update_item", `[]`)}, envharness.Fail},
	}
	// The fourth call is the second of the policy: after the two of the start and the state that is read there.
	for _, f := range []struct {
		name  string
		fault mcptest.Fault
	}{
		{"the server dies in a call", mcptest.Fault{Kind: mcptest.Exit, Call: 4}},
		{"the server hangs", mcptest.Fault{Kind: mcptest.Hang, Call: 4}},
		{"the server closes its output and goes on", mcptest.Fault{Kind: mcptest.Close, Call: 4}},
		{"an answer that is no JSON", mcptest.Fault{Kind: mcptest.Malformed, Call: 4}},
		{"an answer without end", mcptest.Fault{Kind: mcptest.Oversized, Call: 4}},
	} {
		broken := restock(server(mcptest.Options{Fault: f.fault}))
		plays = append(plays, play{f.name, broken, nil, restocked(), envharness.Invalid})
	}
	flood := restock(server(mcptest.Options{Fault: mcptest.Fault{Kind: mcptest.Flood, Call: 4}}))
	return append(plays, play{"ten thousand notifications before an answer", flood, nil, restocked(), envharness.Pass})
}

func stockroomByStreams() liveServer {
	return liveServer{name: "stockroom, standard streams", tools: 7, list: byStreams(mcptest.Options{}), plays: stockroomPlays(byStreams)}
}

// stockroomByHTTP serves a stockroom for each episode, behind a key.
func stockroomByHTTP() liveServer {
	var mu sync.Mutex
	rooms := map[string]http.Handler{}
	options := map[string]mcptest.Options{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		room := rooms[r.URL.Path]
		if room == nil {
			o := options[r.URL.Path]
			var err error
			if room, err = mcptest.Handler(&o); err != nil {
				room = http.NotFoundHandler()
			}
			rooms[r.URL.Path] = room
		}
		mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+marker {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		room.ServeHTTP(w, r)
	}))
	byHTTP := func(o mcptest.Options) func(dir string) mcpenv.Server {
		return func(dir string) mcpenv.Server {
			path := "/" + filepath.Base(dir) // another world for each episode
			mu.Lock()
			options[path] = o
			mu.Unlock()
			return mcpenv.Server{URL: server.URL + path, Header: http.Header{"Authorization": {"Bearer " + marker}}, MaxMessage: 64 << 10}
		}
	}
	return liveServer{
		name: "stockroom, HTTP", tools: 7, list: byHTTP(mcptest.Options{}), close: func() { server.CloseClientConnections(); server.Close() },
		plays: stockroomPlays(byHTTP),
	}
}

// installed starts a program with a secret and what env says among its variables.
func installed(program string, maxMessage int, env func(dir string) []string) func(dir string) mcpenv.Server {
	return func(dir string) mcpenv.Server {
		vars := append(env(dir), "TOKEN="+marker)
		return mcpenv.Server{Command: []string{program}, Env: vars, MaxMessage: maxMessage}
	}
}

// everything is the reference server that has a tool of every kind.
func everything() liveServer {
	const program = "mcp-server-everything"
	nothing := func(string) []string { return nil }
	sum := mcpenv.Config{
		Name: "everything", Server: installed(program, 0, nothing), Answer: true,
		Tasks: []mcpenv.Task{{Task: envharness.Task{ID: "sum"}, Prompt: "Submit the sum of 19 and 23."}},
		Judge: func(_ mcpenv.Task, _ json.RawMessage, answer string) (envharness.Verdict, error) {
			if answer == "42" {
				return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
			}
			return envharness.Verdict{Status: envharness.Fail}, nil
		},
	}
	narrow := sum
	narrow.Server = installed(program, 64<<10, nothing)
	long := act("echo", `{"message":"`+string(bytes.Repeat([]byte("x"), 100<<10))+`"}`)
	added := act("get-sum", `{"a":19,"b":23}`)
	return liveServer{
		name: "everything", program: program, list: installed(program, 0, nothing),
		plays: []play{
			{"submitted", sum, nil, []envharness.Action{added, act("get-structured-content", `{"location":"New York"}`), act("submit", `{"answer":"42"}`)}, envharness.Pass},
			{"submitted after refused calls", sum, nil, []envharness.Action{act("get-sum", `{"a":"x"}`), act("nothing", `{}`), act("submit", `{"answer":"42"}`)}, envharness.Pass},
			{"another answer", sum, nil, []envharness.Action{added, act("submit", `{"answer":"41"}`)}, envharness.Fail},
			{"not submitted", sum, nil, []envharness.Action{added}, envharness.Fail},
			{"an answer beyond the bound", narrow, nil, []envharness.Action{long, act("submit", `{"answer":"42"}`)}, envharness.Invalid},
		},
	}
}

// memory is the reference server that keeps a graph.
func memory() liveServer {
	const program = "mcp-server-memory"
	own := func(dir string) []string { return []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.json")} }
	move := mcpenv.Config{
		Name: "memory", Server: installed(program, 0, own), Read: act("read_graph", `{}`),
		Unordered: []string{"/entities", "/entities/*/observations", "/relations"},
		Tasks: []mcpenv.Task{{
			Task: envharness.Task{ID: "move"}, Prompt: "Ada has moved from Turin to Oslo, and nobody lives in Turin any more.",
			Start: []envharness.Action{
				act("create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["paints"]},{"name":"Turin","entityType":"city","observations":[]}]}`),
				act("create_relations", `{"relations":[{"from":"Ada","to":"Turin","relationType":"lives in"}]}`),
			},
			Goal: json.RawMessage(`{"entities":[{"name":"Oslo","entityType":"city","observations":[]},{"name":"Ada","entityType":"person","observations":["paints"]}],
				"relations":[{"from":"Ada","to":"Oslo","relationType":"lives in"}]}`),
		}},
	}
	moved := []envharness.Action{
		act("delete_entities", `{"entityNames":["Turin"]}`),
		act("create_entities", `{"entities":[{"name":"Oslo","entityType":"city","observations":[]}]}`),
		act("create_relations", `{"relations":[{"from":"Ada","to":"Oslo","relationType":"lives in"}]}`),
	}
	return liveServer{
		name: "memory", program: program, list: installed(program, 0, own),
		plays: []play{
			{"solved", move, nil, moved, envharness.Pass},
			{"solved behind components", move, []envharness.Component{components.ToolFail{Tools: []string{"create_*"}}}, append(append(moved[:1:1], moved[1]), moved[1:]...), envharness.Pass},
			{"half done", move, nil, moved[:2], envharness.Fail},
			{"too much done", move, nil, append(moved[:3:3], act("create_relations", `{"relations":[{"from":"Oslo","to":"Ada","relationType":"holds"}]}`)), envharness.Fail},
			{"nothing done", move, nil, nil, envharness.Fail},
		},
	}
}
