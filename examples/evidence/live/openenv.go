package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/openenv"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// served lets use work with the address of a server of what open makes, and shuts the server down: every session must have ended then.
func served(ctx context.Context, open func(context.Context) (envharness.Environment, error), o *openenv.ServerOptions, use func(address string) error) error {
	server, err := openenv.NewServer(open, o)
	if err != nil {
		return err
	}
	h := httptest.NewServer(server)
	defer h.Close()
	return errors.Join(use(h.URL), server.Shutdown(ctx))
}

// openenvCases are cases of the wire of OpenEnv.
func openenvCases(quick bool) []testCase {
	var cases []testCase
	for _, name := range []string{"game24", "tooldesk", "household", "keydoor", "shop_small"} {
		cases = append(cases, testCase{"client and server: " + name + " leaves the same traces as in process", func(ctx context.Context) error {
			return sameTraces(ctx, name)
		}})
	}
	for _, x := range exchanges() {
		cases = append(cases, testCase{"server, frames of the reference: " + x.name, x.check})
	}
	for _, x := range requests() {
		cases = append(cases, testCase{"server, requests of the reference: " + x.name, x.check})
	}
	for _, x := range answers() {
		cases = append(cases, testCase{"client, " + x.name, x.check})
	}
	sessions := 1000
	if quick {
		sessions = 100
	}
	return append(cases,
		testCase{fmt.Sprintf("%d sessions at once, each an episode of its own", sessions), func(ctx context.Context) error { return sessionsAtOnce(ctx, sessions) }},
		testCase{"a message above the limit ends its session and no other", oversized},
		testCase{"what an environment says of its failure stays inside", failureStaysInside},
		testCase{"a shutdown ends a session that is idle", shutdownEnds},
	)
}

// sameTraces plays random admissible actions in process and over the wire.
func sameTraces(ctx context.Context, name string) error {
	world, err := worlds.Find(name)
	if err != nil {
		return err
	}
	tasks, err := world.Tasks(ctx, "validation")
	if err != nil {
		return err
	}
	tasks = tasks[:5]
	play := func(w envharness.World) ([]byte, error) {
		policy := func(slot int) (envharness.Policy, error) {
			r := envharness.RandStream(7, "policy/wire", uint64(slot))
			return envharness.PolicyFunc(func(_ context.Context, t envharness.Turn) (envharness.Action, error) {
				return t.Shown.Actions[r.IntN(len(t.Shown.Actions))], nil
			}), nil
		}
		traces, err := envharness.Rollouts(ctx, w, nil, policy, tasks, &envharness.RolloutOptions{Parallel: 2})
		if err != nil {
			return nil, err
		}
		for _, t := range traces {
			if t.Verdict.Status == envharness.Invalid {
				return nil, errors.New(t.Cause)
			}
		}
		var b bytes.Buffer
		err = envharness.WriteTraces(&b, traces)
		return b.Bytes(), err
	}
	want, err := play(world.World)
	if err != nil {
		return err
	}
	// Two episodes and their replays are open at once.
	return served(ctx, world.New, &openenv.ServerOptions{Sessions: 16, ExposeState: true}, func(address string) error {
		got, err := play(openenv.World(address, world.Verifier, nil))
		if err == nil && !bytes.Equal(got, want) {
			err = errors.New("the traces differ")
		}
		return err
	})
}

// An exchange is what a client of the reference writes to /ws, and what of the answers must come back.
type exchange struct {
	name  string
	lines []string // in turn what is sent, and what the answer must have, as JSON of which other keys are ignored
	ends  bool     // the server ends the session after them
}

func exchanges() []exchange {
	const begun = `{"type":"observation","data":{"observation":{"text":"target=24, numbers=[3, 3, 8, 8]"},"done":false}}`
	return []exchange{
		{"reset, step, close", []string{
			`{"type":"reset","data":{"episode_id":"3,3,8,8"}}`, begun,
			`{"type":"step","data":{"name":"combine","args":{"i":2,"j":0,"op":"div"}}}`,
			`{"type":"observation","data":{"observation":{"text":"target=24, numbers=[3, 8, 8/3]","terminated":false,"truncated":false},"reward":0,"done":false}}`,
			`{"type":"step","data":{"name":"stop","args":{}}}`,
			`{"type":"observation","data":{"observation":{"terminated":true,"truncated":false},"reward":0,"done":true}}`,
			`{"type":"close"}`,
		}, true},
		{"reset without data", []string{`{"type":"reset"}`, `{"type":"observation","data":{"done":false}}`}, false},
		{"a step that is refused is an observation", []string{
			`{"type":"reset","data":{"episode_id":"3,3,8,8"}}`, begun,
			`{"type":"step","data":{"name":"combine","args":{"i":0,"j":0,"op":"add"}}}`, begun,
		}, false},
		{"tools by JSON-RPC", []string{
			`{"type":"mcp","data":{"jsonrpc":"2.0","id":7,"method":"tools/list"}}`,
			`{"type":"mcp","data":{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"combine"},{"name":"restart"},{"name":"stop"}]}}}`,
		}, false},
		{"tools by steps", []string{
			`{"type":"step","data":{"type":"list_tools"}}`,
			`{"type":"observation","data":{"observation":{"tools":[{"name":"combine"},{"name":"restart"},{"name":"stop"}]},"done":false}}`,
			`{"type":"reset","data":{"episode_id":"3,3,8,8"}}`, begun,
			`{"type":"step","data":{"type":"call_tool","tool_name":"combine","arguments":{"i":2,"j":0,"op":"div"}}}`,
			`{"type":"observation","data":{"observation":{"tool_name":"combine","result":{"data":"target=24, numbers=[3, 8, 8/3]"},"error":null},"done":false}}`,
		}, false},
		{"no JSON, then well", []string{`{"type":`, `{"type":"error","data":{"code":"INVALID_JSON"}}`, `{"type":"reset","data":{"episode_id":"3,3,8,8"}}`, begun}, false},
		{"an unknown type, then well", []string{`{"type":"grade"}`, `{"type":"error","data":{"code":"UNKNOWN_TYPE"}}`, `{"type":"reset","data":{"episode_id":"3,3,8,8"}}`, begun}, false},
		{"an unknown key, then well", []string{
			`{"type":"reset","data":{"episode_id":"3,3,8,8"},"extra":1}`, `{"type":"error","data":{"code":"VALIDATION_ERROR"}}`,
			`{"type":"reset","data":{"episode_id":"3,3,8,8"}}`, begun,
		}, false},
		{"a negative seed", []string{`{"type":"reset","data":{"seed":-1}}`, `{"type":"error","data":{"code":"VALIDATION_ERROR"}}`}, false},
		{"a step without a reset, then well", []string{
			`{"type":"step","data":{"name":"stop","args":{}}}`, `{"type":"error","data":{"code":"EXECUTION_ERROR"}}`,
			`{"type":"reset","data":{"episode_id":"3,3,8,8"}}`, begun,
		}, false},
		{"the state is not shown", []string{`{"type":"reset"}`, `{"type":"observation","data":{}}`, `{"type":"state"}`, `{"type":"error","data":{}}`}, false},
	}
}

func (x exchange) check(ctx context.Context) error {
	return served(ctx, game24.World(nil).New, nil, func(address string) error {
		c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(address, "http")+"/ws", nil)
		if err != nil {
			return err
		}
		defer c.CloseNow()
		for i, line := range x.lines {
			if i%2 == 0 {
				if err := c.Write(ctx, websocket.MessageText, []byte(line)); err != nil {
					return err
				}
				continue
			}
			_, got, err := c.Read(ctx)
			if err != nil {
				return err
			}
			if err := has(got, line); err != nil {
				return fmt.Errorf("answer to %s: %w", x.lines[i-1], err)
			}
		}
		if x.ends {
			if _, got, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
				return fmt.Errorf("after the last message came %q, %v, want the end", got, err)
			}
		}
		return nil
	})
}

// has compares JSON with what it must have: objects may have more keys than those wanted, all else is equal.
func has(got []byte, want string) error {
	var g, w any
	if err := errors.Join(json.Unmarshal(got, &g), json.Unmarshal([]byte(want), &w)); err != nil {
		return err
	}
	if !contains(g, w) {
		return fmt.Errorf("%.500s, want %s", got, want)
	}
	return nil
}

func contains(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for key, v := range w {
			ok = ok && contains(g[key], v)
		}
		return ok
	case []any:
		g, ok := got.([]any)
		ok = ok && len(g) == len(w)
		for i := 0; ok && i < len(w); i++ {
			ok = contains(g[i], w[i])
		}
		return ok
	}
	return got == want
}

// A request is one of the reference's over HTTP, and what the answer must be.
type request struct {
	name, method, path, body string
	status                   int
	answer                   string // what it must have
}

func requests() []request {
	return []request{
		{"POST /reset", "POST", "/reset", `{"episode_id":"3,3,8,8"}`, 200, `{"observation":{"text":"target=24, numbers=[3, 3, 8, 8]"},"reward":null,"done":false}`},
		{"POST /reset without a body", "POST", "/reset", `{}`, 200, `{"done":false}`},
		{"POST /step, in an environment of its own", "POST", "/step", `{"action":{"name":"stop","args":{}},"timeout_s":30,"request_id":"r1"}`, 200, `{"reward":0,"done":true}`},
		{"POST /step without an action", "POST", "/step", `{}`, 422, `{"detail":[{"loc":["body","action"]}]}`},
		{"POST /step with a timeout of zero", "POST", "/step", `{"action":{"name":"stop","args":{}},"timeout_s":0}`, 422, `{"detail":[{"loc":["body","timeout_s"]}]}`},
		{"POST /reset with a long id", "POST", "/reset", `{"episode_id":"` + strings.Repeat("x", 256) + `"}`, 422, `{"detail":[{"loc":["body","episode_id"]}]}`},
		{"GET /health", "GET", "/health", "", 200, `{"status":"healthy"}`},
		{"GET /metadata", "GET", "/metadata", "", 200, `{"name":"game24"}`},
		{"GET /schema", "GET", "/schema", "", 200, `{"action":{},"observation":{},"state":{}}`},
		{"POST /mcp", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"combine"},{"name":"restart"},{"name":"stop"}]}}`},
	}
}

func (r request) check(ctx context.Context) error {
	return served(ctx, game24.World(nil).New, nil, func(address string) error {
		req, err := http.NewRequestWithContext(ctx, r.method, address+r.path, strings.NewReader(r.body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if resp.StatusCode != r.status {
			return fmt.Errorf("status %d, want %d: %.300s", resp.StatusCode, r.status, body)
		}
		return has(body, r.answer)
	})
}

// An answer is what a foreign server says to a step, and what must become of the episode.
type answer struct {
	name   string
	line   string // empty means that the connection is cut
	status envharness.Status
	end    envharness.EndReason
}

func answers() []answer {
	long := strings.Repeat("x", 1<<16)
	return []answer{
		{"frames of the reference: done alone", `{"type":"observation","data":{"observation":{"echoed_message":"bye","metadata":{}},"reward":1.0,"done":true}}`,
			envharness.Pass, envharness.EndTerminated},
		{"frames of the reference: an error", `{"type":"error","data":{"message":"` + marker + `","code":"EXECUTION_ERROR"}}`, envharness.Invalid, envharness.EndEnvError},
		{"frames of the reference: no room", `{"type":"error","data":{"message":"full","code":"CAPACITY_REACHED","active_sessions":1,"max_sessions":1}}`,
			envharness.Invalid, envharness.EndEnvError},
		{"hostile: no JSON", `{"type":`, envharness.Invalid, envharness.EndEnvError},
		{"hostile: no observation", `{"type":"observation","data":{"reward":1,"done":true}}`, envharness.Invalid, envharness.EndEnvError},
		{"hostile: another message", `{"type":"state","data":{}}`, envharness.Invalid, envharness.EndEnvError},
		{"hostile: a message above the limit", `{"type":"observation","data":{"observation":{"text":"` + long + `"},"reward":1,"done":true}}`,
			envharness.Invalid, envharness.EndEnvError},
		{"hostile: a cut connection", "", envharness.Invalid, envharness.EndEnvError},
	}
}

func (a answer) check(ctx context.Context) error {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ws" {
			http.NotFound(w, r)
			return
		}
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			_, message, err := c.Read(r.Context())
			if err != nil {
				return
			}
			line := a.line
			switch {
			case bytes.Contains(message, []byte(`"reset"`)):
				line = `{"type":"observation","data":{"observation":{"echoed_message":"hello","metadata":{}},"reward":null,"done":false}}`
			case bytes.Contains(message, []byte(`"mcp"`)):
				line = `{"type":"error","data":{"message":"no","code":"UNKNOWN_TYPE"}}`
			case bytes.Contains(message, []byte(`"close"`)):
				return
			}
			if line == "" || c.Write(r.Context(), websocket.MessageText, []byte(line)) != nil {
				return
			}
		}
	}))
	defer server.Close()
	pass := envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
		return envharness.Verdict{Status: envharness.Pass, Score: 1}, nil
	})
	world := openenv.World(server.URL, pass, &openenv.ClientOptions{MaxMessage: 1 << 15, Header: http.Header{"Authorization": {"Bearer " + marker}}})
	act := envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
		return envharness.Action{Name: "say"}, nil
	})
	traces, err := envharness.Rollouts(ctx, world, nil, func(int) (envharness.Policy, error) { return act, nil }, []envharness.Task{{ID: "e1"}},
		&envharness.RolloutOptions{Reruns: new(0)})
	if err != nil {
		return err
	}
	text, err := json.Marshal(traces)
	if err == nil && bytes.Contains(text, []byte(marker)) {
		err = errors.New("a secret is in the trace")
	}
	if t := traces[0]; err == nil && (t.Verdict.Status != a.status || t.End != a.end) {
		err = fmt.Errorf("judged %v, %s, want %v, %s: %s", t.Verdict.Status, t.End, a.status, a.end, t.Cause)
	}
	return err
}

// sessionsAtOnce holds n sessions open together; each plays the hand that it asked for.
func sessionsAtOnce(ctx context.Context, n int) error {
	world := game24.World(nil)
	tasks, err := worlds.Find("game24")
	if err != nil {
		return err
	}
	hands, err := tasks.Tasks(ctx, "ood")
	if err != nil {
		return err
	}
	return served(ctx, world.New, &openenv.ServerOptions{Sessions: n}, func(address string) error {
		errs := make([]error, n)
		var open, done sync.WaitGroup
		open.Add(n)
		for i := range n {
			done.Go(func() {
				env, err := openenv.Open(ctx, address, nil)
				open.Done()
				if err != nil {
					errs[i] = err
					return
				}
				open.Wait() // all are open now
				hand := hands[i%len(hands)].ID
				got, err := env.Reset(ctx, envharness.ResetOptions{Task: hand})
				if want := "[" + strings.ReplaceAll(hand, ",", ", ") + "]"; err == nil && !strings.Contains(got.Text, want) {
					err = fmt.Errorf("session %d asked for %s and got %s", i, hand, got.Text)
				}
				errs[i] = errors.Join(err, env.Close())
			})
		}
		done.Wait()
		return errors.Join(errs...)
	})
}

func oversized(ctx context.Context) error {
	return served(ctx, game24.World(nil).New, &openenv.ServerOptions{Sessions: 2, MaxMessage: 1 << 14}, func(address string) error {
		other, err := openenv.Open(ctx, address, nil)
		if err != nil {
			return err
		}
		defer other.Close()
		env, err := openenv.Open(ctx, address, nil)
		if err != nil {
			return err
		}
		defer env.Close()
		if _, err := env.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8"}); err != nil {
			return err
		}
		_, err = env.Step(ctx, act("combine", `"`+strings.Repeat("x", 1<<15)+`"`))
		if !errors.Is(err, envharness.ErrInfra) {
			return fmt.Errorf("the step returned %v", err)
		}
		_, err = other.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8"})
		return err
	})
}

// broken is an environment that fails with a secret in its error.
type broken struct{}

func (broken) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{}, errors.New("cannot open /srv/data: " + marker)
}

func (broken) Step(context.Context, envharness.Action) (envharness.Transition, error) {
	panic(marker)
}

func (broken) Close() error { return nil }

func failureStaysInside(ctx context.Context) error {
	open := func(context.Context) (envharness.Environment, error) { return broken{}, nil }
	return served(ctx, open, nil, func(address string) error {
		c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(address, "http")+"/ws", nil)
		if err != nil {
			return err
		}
		defer c.CloseNow()
		for _, line := range []string{`{"type":"reset"}`, `{"type":"step","data":{"name":"x","args":{}}}`} {
			if err := c.Write(ctx, websocket.MessageText, []byte(line)); err != nil {
				return err
			}
			_, got, err := c.Read(ctx)
			if err != nil {
				return err
			}
			if bytes.Contains(got, []byte(marker)) || bytes.Contains(got, []byte("/srv")) {
				return fmt.Errorf("the answer to %s tells %s", line, got)
			}
			if err := has(got, `{"type":"error","data":{"code":"EXECUTION_ERROR"}}`); err != nil {
				return err
			}
		}
		return nil
	})
}

func shutdownEnds(ctx context.Context) error {
	server, err := openenv.NewServer(game24.World(nil).New, nil)
	if err != nil {
		return err
	}
	h := httptest.NewServer(server)
	defer h.Close()
	env, err := openenv.Open(ctx, h.URL, nil)
	if err != nil {
		return err
	}
	defer env.Close()
	if _, err := env.Reset(ctx, envharness.ResetOptions{Task: "3,3,8,8"}); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := server.Shutdown(within); err != nil {
		return err
	}
	if _, err := env.Step(ctx, act("stop", `{}`)); !errors.Is(err, envharness.ErrInfra) {
		return fmt.Errorf("a step after the shutdown returned %v", err)
	}
	if _, err := openenv.Open(ctx, h.URL, nil); err == nil {
		return errors.New("a session was opened after the shutdown")
	}
	return nil
}
