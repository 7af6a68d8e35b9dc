package openenv_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openenv"
)

// A peer is a server that a test writes: it answers each message as say says, and ends the connection when that returns an error.
type peer struct {
	say    func(c *websocket.Conn, message string) error
	schema string // of /schema; empty for none
}

func (p peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ws":
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		for {
			_, b, err := c.Read(r.Context())
			if err != nil || p.say(c, string(b)) != nil {
				return
			}
		}
	case "/schema":
		if p.schema != "" {
			_, _ = w.Write([]byte(p.schema))
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

func tell(c *websocket.Conn, format string, args ...any) error {
	return c.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, format, args...))
}

// noTools is what the reference answers to tools/list for an environment without.
const noTools = `{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}}`

// after makes a peer that is well-behaved until the first step, and then does as step does.
func after(step func(c *websocket.Conn) error) peer {
	return peer{say: func(c *websocket.Conn, m string) error {
		switch {
		case strings.Contains(m, `"mcp"`):
			return tell(c, "%s", noTools)
		case strings.Contains(m, `"reset"`):
			return tell(c, `{"type":"observation","data":{"observation":{"text":"begin"},"reward":null,"done":false}}`)
		case strings.Contains(m, `"close"`):
			return errors.New("closed")
		}
		return step(c)
	}}
}

func serveHTTP(t testing.TB, h http.Handler) string {
	t.Helper()
	before := descriptors()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		leftNothing(t, before)
	})
	return s.URL
}

// always passes: only the state of the connection can keep an episode from it.
var always = envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
	return envharness.Verdict{Status: envharness.Pass}, nil
})

// Whatever a server does wrong is a failure of the infrastructure, and makes an episode invalid: nobody's success and nobody's fault.
func TestHostileServer(t *testing.T) {
	send := func(kind websocket.MessageType, text string) func(*websocket.Conn) error {
		return func(c *websocket.Conn) error { return c.Write(context.Background(), kind, []byte(text)) }
	}
	text := func(s string) func(*websocket.Conn) error { return send(websocket.MessageText, s) }
	observation := func(s string) func(*websocket.Conn) error { return text(`{"type":"observation","data":` + s + `}`) }
	for _, c := range []struct {
		name string
		step func(c *websocket.Conn) error
	}{
		{"malformed JSON", text(`{"type":`)},
		{"no object", text(`[]`)},
		{"no type", text(`{"data":{}}`)},
		{"another type", text(`{"type":"state","data":{}}`)},
		{"no data", text(`{"type":"observation"}`)},
		{"no observation", observation(`{"reward":1,"done":true}`)},
		{"done is no flag", observation(`{"observation":{},"reward":1,"done":"yes"}`)},
		{"reward is no number", observation(`{"observation":{},"reward":"1","done":true}`)},
		{"reward is out of range", observation(`{"observation":{},"reward":1e999,"done":true}`)},
		{"data out of range", observation(`{"observation":{"x":1e999},"reward":1,"done":true}`)},
		{"flags differ", observation(`{"observation":{"text":"","terminated":false,"truncated":false},"reward":1,"done":true}`)},
		{"text is no text", observation(`{"observation":{"text":5,"terminated":true,"truncated":false},"reward":1,"done":true}`)},
		{"too deep", observation(`{"observation":{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `},"reward":1,"done":true}`)},
		{"not UTF-8", observation("{\"observation\":{\"text\":\"\xff\"},\"reward\":1,\"done\":true}")},
		{"binary", send(websocket.MessageBinary, `{"type":"observation","data":{"observation":{},"reward":1,"done":true}}`)},
		{"oversized", observation(`{"observation":{"text":"` + strings.Repeat("x", 1<<16) + `"},"reward":1,"done":true}`)},
		{"cut", func(c *websocket.Conn) error { return c.CloseNow() }},
		{"farewell", func(c *websocket.Conn) error { return c.Close(websocket.StatusGoingAway, "s3cr3t-m4rk3r") }},
		{"answer to nothing", func(c *websocket.Conn) error {
			step := `{"type":"observation","data":{"observation":{"text":"a"},"reward":0,"done":false}}`
			return errors.Join(tell(c, "%s", step), tell(c, "%s", step), tell(c, "%s", step))
		}},
		{"silence", func(*websocket.Conn) error { return nil }},
		{"execution error", text(`{"type":"error","data":{"message":"s3cr3t-m4rk3r","code":"EXECUTION_ERROR"}}`)},
		{"session error", text(`{"type":"error","data":{"message":"s3cr3t-m4rk3r","code":"SESSION_ERROR"}}`)},
		{"unknown error", text(`{"type":"error","data":{"message":"x","code":"s3cr3t-m4rk3r"}}`)},
		{"error of nothing", text(`{"type":"error","data":5}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := serveHTTP(t, after(c.step))
			o := &openenv.ClientOptions{MaxMessage: 1 << 15}
			world := openenv.World(address, always, o)
			if c.name == "silence" { // it is not long before a step is given up, whatever the opening takes
				world.New = func(ctx context.Context) (envharness.Environment, error) {
					env, err := openenv.Open(ctx, address, o)
					return impatient{env}, err
				}
			}
			rollouts := c.name != "answer to nothing" // it may come as early as to look like the answer to the next step
			act := envharness.PolicyFunc(func(context.Context, envharness.Turn) (envharness.Action, error) {
				return envharness.Action{Name: "stop"}, nil
			})
			if rollouts {
				traces, err := envharness.Rollouts(t.Context(), world, nil,
					func(int) (envharness.Policy, error) { return act, nil }, []envharness.Task{{ID: "t"}},
					&envharness.RolloutOptions{Reruns: new(0), MaxTurns: 5})
				if err != nil {
					t.Fatal(err)
				}
				tr := traces[0]
				if tr.Verdict.Status != envharness.Invalid || !tr.End.Infra() || strings.Contains(tr.Cause, "s3cr3t") {
					t.Errorf("verdict %v, end %s, cause %s", tr.Verdict, tr.End, tr.Cause)
				}
			}
			// The same without a harness: the error says what kind it is, and stays.
			env, err := world.New(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = env.Close() }()
			if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = env.Step(t.Context(), envharness.Action{Name: "stop"})
			}
			if !errors.Is(err, envharness.ErrInfra) {
				t.Errorf("got %v", err)
			}
			if _, err := env.Step(t.Context(), envharness.Action{Name: "stop"}); err == nil {
				t.Error("a step after a failure")
			}
		})
	}
}

// An impatient client gives a step next to no time.
type impatient struct{ envharness.Environment }

func (e impatient) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	openenv.HurryClient(e.Environment, time.Millisecond)
	return e.Environment.Step(ctx, a)
}

// Close ends a call that is under way.
func TestCloseDuringStep(t *testing.T) {
	entered := make(chan struct{})
	env := open(t, serveHTTP(t, after(func(*websocket.Conn) error { close(entered); return nil })), nil)
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := env.Step(context.Background(), envharness.Action{Name: "go"})
		done <- err
	}()
	wait(t, entered, "the step")
	if _, err := env.Step(t.Context(), envharness.Action{Name: "go"}); !errors.Is(err, envharness.ErrBusy) {
		t.Errorf("two steps at once: %v", err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, envharness.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// After a canceled step the next reset works, and does not take the late answer for its own.
func TestCanceledStep(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	_, address := serve(t, func(context.Context) (envharness.Environment, error) {
		return &toy{onStep: func(context.Context, envharness.Action) error { close(entered); <-leave; return nil }}, nil
	}, nil)
	env := open(t, address, nil)
	if _, err := env.Reset(t.Context(), envharness.ResetOptions{Task: "first"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if _, err := env.Step(ctx, envharness.Action{Name: "go"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := env.Step(t.Context(), envharness.Action{Name: "go"}); !errors.Is(err, envharness.ErrNeedReset) {
		t.Errorf("got %v", err)
	}
	close(leave)
	o, err := env.Reset(t.Context(), envharness.ResetOptions{Task: "second"})
	if err != nil || !strings.Contains(o.Text, `"second"`) {
		t.Errorf("got %q %v", o.Text, err)
	}
}

// What the caller knows, the server and the network may repeat; the errors do not.
func TestSecrets(t *testing.T) {
	const marker = "s3cr3t-m4rk3r"
	marked := []string{marker, base64.StdEncoding.EncodeToString([]byte("u:" + marker)), url.QueryEscape(marker)}
	o := &openenv.ClientOptions{Header: http.Header{"Authorization": {"Bearer " + marker}, "X-Key": {marker}}}
	refused := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+marker+".invalid/")
			http.Error(w, fmt.Sprint(r.Header), status)
		})
	}
	var visited bool
	elsewhere := serveHTTP(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited = true }))
	addresses := map[string]string{
		"refused":        serveHTTP(t, refused(http.StatusUnauthorized)),
		"redirected":     serveHTTP(t, http.RedirectHandler(elsewhere+"/ws", http.StatusTemporaryRedirect)),
		"query":          "http://127.0.0.1/?key=" + marker,
		"no URL":         "http://" + marker + "\x7f/",
		"no scheme":      "127.0.0.1:1/" + marker,
		"another scheme": "ftp://127.0.0.1/" + marker,
		"nobody there":   "http://u:" + marker + "@127.0.0.1:1/" + marker,
	}
	for name, address := range addresses {
		_, err := openenv.Open(t.Context(), address, o)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, m := range marked {
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), m) {
				t.Errorf("%s: the error tells %q: %v", name, m, err)
			}
		}
	}
	if visited {
		t.Error("the header went elsewhere")
	}
	if _, err := openenv.Open(t.Context(), "http://x", &openenv.ClientOptions{Timeout: -1, MaxMessage: -1}); err == nil ||
		!strings.Contains(err.Error(), "Timeout") || !strings.Contains(err.Error(), "MaxMessage") {
		t.Errorf("got %v", err)
	}
}

// An environment shows the abilities that the one at the server has, and no others.
func TestAbilities(t *testing.T) {
	_, hidden := serve(t, toys, nil)
	_, exposed := serve(t, toys, &openenv.ServerOptions{ExposeState: true})
	for _, address := range []string{hidden, exposed} {
		env := open(t, address, nil)
		d, ok := envharness.As[envharness.Describer](env)
		if !ok {
			t.Fatal("no description")
		}
		desc := d.Describe()
		if desc.Name != "toy" || desc.About != "" || len(desc.Tools) != 2 || !desc.Tools[0].ReadOnly || !desc.Tools[1].Submits {
			t.Errorf("described as %+v", desc)
		}
		_, stater := envharness.As[envharness.Stater](env)
		if want := address == exposed; stater != want || (len(desc.Graded) > 0) != want {
			t.Errorf("state %v, graded %v, want %v", stater, desc.Graded, want)
		}
		if _, ok := envharness.As[envharness.ToolLister](env); ok {
			t.Error("tools that change, though they do not")
		}
		if _, ok := envharness.As[envharness.Snapshotter](env); ok {
			t.Error("snapshots from nowhere")
		}
		for _, task := range []struct {
			id   string
			want error
		}{{"nowhere", envharness.ErrNoTask}, {strings.Repeat("ä", 300), nil}} {
			o, err := env.Reset(t.Context(), envharness.ResetOptions{Task: task.id})
			if !errors.Is(err, task.want) || err == nil && !strings.Contains(o.Text, task.id) {
				t.Errorf("task %.10q: %.40q %v", task.id, o.Text, err)
			}
		}
		for _, options := range []string{`{"seed":1}`, `{"task":1}`, `{"episode_id":1}`, `[]`, `{`} {
			_, err := env.Reset(t.Context(), envharness.ResetOptions{Options: []byte(options)})
			if err == nil || errors.Is(err, envharness.ErrInfra) {
				t.Errorf("options %s: %v", options, err)
			}
		}
		o, err := env.Reset(t.Context(), envharness.ResetOptions{Seed: new(^uint64(0)), Options: []byte(`{"size":3}`)})
		if err != nil || !strings.Contains(o.Text, `seed 18446744073709551615 options {"size":3}`) {
			t.Errorf("got %q %v", o.Text, err)
		}
	}
}

// A harness is served with its components: the policy's client sees what they let through, and the verdict stays inside.
func TestHarness(t *testing.T) {
	w := envharness.World{New: toys, Verifier: always}
	spec := envharness.ComponentSpec{Tag: "hide", Axis: envharness.AxisObservation}
	hide := envharness.Rules(spec, func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
		return envharness.Hooks{
			Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
				o.Text = "hidden"
				return o, nil
			},
			Tools: func(_ context.Context, ts []envharness.Tool) ([]envharness.Tool, error) { return ts[1:], nil },
		}, nil
	})
	_, address := serve(t, func(context.Context) (envharness.Environment, error) { return envharness.New(w, hide) },
		&openenv.ServerOptions{ExposeState: true})
	env := open(t, address, nil)
	o, err := env.Reset(t.Context(), envharness.ResetOptions{})
	if err != nil || o.Text != "hidden" {
		t.Errorf("got %q %v", o.Text, err)
	}
	l, ok := envharness.As[envharness.ToolLister](env)
	if !ok || len(l.Tools()) != 1 || l.Tools()[0].Name != "stop" {
		t.Errorf("tools %v", l)
	}
	if _, ok := envharness.As[envharness.Stater](env); ok {
		t.Error("a harness told its state")
	}
	tr, err := env.Step(t.Context(), envharness.Action{Name: "stop"})
	if err != nil || !tr.Terminated {
		t.Errorf("got %+v %v", tr, err)
	}
	if _, err := env.Step(t.Context(), envharness.Action{Name: "stop"}); !errors.Is(err, envharness.ErrEpisodeOver) {
		t.Errorf("got %v", err)
	}
}
