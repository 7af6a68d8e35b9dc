package openenv_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openenv"
)

func TestNewServerRefuses(t *testing.T) {
	_, err := openenv.NewServer(nil, &openenv.ServerOptions{
		Sessions: -1, Idle: -1, StepTimeout: -1, MaxMessage: -1, Origins: []string{"[", ""},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"open is nil", "Sessions is -1", "Idle is -1", "StepTimeout is -1", "MaxMessage is -1", `"["`, `""`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not name %s", err, want)
		}
	}
}

// What a client sends wrongly costs at most its own session, and is told if the protocol of the transport can still be kept.
func TestHostileClient(t *testing.T) {
	deep := `{"type":"step","data":{"name":"x","args":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`
	for _, c := range []struct {
		name   string
		act    func(w *raw)
		status int // of the farewell; 0 for none
		reason string
	}{
		{"malformed JSON", func(w *raw) {
			for _, text := range []string{``, `{`, `{"type":"reset"`, `NaN`, `{"type":"close"} {}`, deep} {
				w.send(text)
				w.expectError("INVALID_JSON")
			}
			w.send(`{"type":"reset"}`)
			w.expect("observation")
			w.send(`{"type":"close"}`)
		}, 1000, "the session goes on after JSON that is none"},
		{"binary", func(w *raw) {
			_ = w.write(frame(opBinary, true, true, []byte(`{"type":"reset"}`)))
		}, 1003, "RFC 6455 section 7.4.1: data of a type that is not accepted"},
		{"not UTF-8", func(w *raw) { w.send("\xff") }, 1007, "RFC 6455 section 8.1"},
		{"unmasked", func(w *raw) {
			_ = w.write(frame(opText, true, false, []byte(`{"type":"reset"}`)))
		}, 1002, "RFC 6455 section 5.1: the server must close"},
		{"fragments", func(w *raw) {
			for i, part := range []string{`{"ty`, `pe":"re`, ``, `set"}`} {
				op := byte(opContinue)
				if i == 0 {
					op = opText
				}
				_ = w.write(frame(op, i == 3, true, []byte(part)))
				_ = w.write(frame(opPing, true, true, []byte("between")))
			}
			for range 3 { // the last ping follows the message: its answer may come after the answer to that
				if op, payload, err := w.next(); err != nil || op != opPong || string(payload) != "between" {
					w.t.Errorf("got opcode %d %q %v, want a pong", op, payload, err)
				}
			}
			pong, text := false, false
			for range 2 {
				switch op, _, _ := w.next(); op {
				case opPong:
					pong = true
				case opText:
					text = true
				}
			}
			if !pong || !text {
				w.t.Errorf("pong %v, answer %v", pong, text)
			}
			w.send(`{"type":"close"}`)
		}, 1000, "a message in parts is one message, and control frames may come between"},
		{"continuation of nothing", func(w *raw) { _ = w.write(frame(opContinue, true, true, []byte("x"))) }, 1002, "RFC 6455 section 5.4"},
		{"reserved opcode", func(w *raw) { _ = w.write(frame(5, true, true, nil)) }, 1002, "RFC 6455 section 5.2"},
		{"long control frame", func(w *raw) { _ = w.write(frame(opPing, true, true, make([]byte, 126))) }, 1002, "RFC 6455 section 5.5"},
		{"oversized", func(w *raw) { _ = w.write(frame(opText, true, true, make([]byte, 1<<14+1))) }, 1009, "above MaxMessage"},
		{"oversized in parts", func(w *raw) {
			_ = w.write(frame(opText, false, true, make([]byte, 10000)))
			_ = w.write(frame(opContinue, false, true, make([]byte, 10000)))
		}, 1009, "the limit is on the message, not on the frame"},
		{"a length that nobody has", func(w *raw) {
			_ = w.write([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
			_ = w.write(make([]byte, 17000))
		}, 1009, "nothing is allocated for what was only announced"},
		{"cut", func(w *raw) { _ = w.conn.Close() }, 0, "a client may vanish"},
		{"cut within a frame", func(w *raw) {
			_ = w.write([]byte{0x81, 0xfe, 0x01})
			_ = w.conn.Close()
		}, 0, "a client may vanish at any byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.reason == "" {
				t.Fatal("no reason")
			}
			seen := newWatcher()
			_, url := serveHurried(t, func(context.Context) (envharness.Environment, error) { return seen.watch(new(toy)), nil },
				&openenv.ServerOptions{Sessions: 2, MaxMessage: 1 << 14}, 100*time.Millisecond, patience)
			other := open(t, url, nil)
			w := dial(t, url)
			c.act(w)
			if got := w.expectEnd(); got != c.status {
				t.Errorf("farewell with status %d, want %d: %s", got, c.status, c.reason)
			}
			wait(t, seen.ended, "the environment of the session is closed")
			if _, err := other.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
				t.Errorf("another session suffers: %v", err)
			}
		})
	}
}

// Pings are answered while the environment works, and keep no session alive in which nothing else happens.
func TestPings(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	_, url := serve(t, func(context.Context) (envharness.Environment, error) {
		return &toy{onStep: func(context.Context, envharness.Action) error { close(entered); <-leave; return nil }}, nil
	}, nil)
	w := dial(t, url)
	w.send(`{"type":"reset"}`)
	w.expect("observation")
	w.send(`{"type":"step","data":{"name":"go"}}`)
	wait(t, entered, "the step")
	_ = w.write(frame(opPing, true, true, []byte("there?")))
	if op, payload, err := w.next(); err != nil || op != opPong || string(payload) != "there?" {
		t.Errorf("got opcode %d %q %v, want the pong", op, payload, err)
	}
	close(leave)
	w.expect("observation")
}

// Endless pings and half a message are the same as silence: nothing happens, and the slot is taken back.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		name string
		act  func(w *raw) error // again and again until it fails
	}{
		{"pings", func(w *raw) error { return w.write(frame(opPing, true, true, []byte("x"))) }},
		{"empty parts", func(w *raw) error { return w.write(frame(opContinue, false, true, nil)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := newWatcher()
			_, url := serveHurried(t, func(context.Context) (envharness.Environment, error) { return seen.watch(new(toy)), nil },
				&openenv.ServerOptions{Idle: 20 * time.Millisecond}, 50*time.Millisecond, patience)
			w := dial(t, url)
			if c.name == "empty parts" {
				_ = w.write(frame(opText, false, true, []byte("{")))
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				for c.act(w) == nil {
					runtime.Gosched()
				}
			})
			for told := false; ; {
				op, payload, err := w.next()
				if op == opText && bytes.Contains(payload, []byte(`"SESSION_ERROR"`)) {
					told = true
				}
				if err != nil || op == opClose {
					if !told && c.name != "pings" { // the answers to which may have left no room for it
						t.Errorf("the client was not told why: opcode %d %v", op, err)
					}
					break
				}
			}
			wait(t, seen.ended, "the environment is closed")
			_ = w.conn.Close()
			wg.Wait()
		})
	}
}

// A client that takes no answers is cut off, and holds up nobody else.
func TestSlowReader(t *testing.T) {
	seen := newWatcher()
	_, url := serveHurried(t, func(context.Context) (envharness.Environment, error) {
		e := seen.watch(new(toy))
		if seen.opened.Load() > 1 {
			e.shown = strings.Repeat("x", 1<<20)
		}
		return e, nil
	}, &openenv.ServerOptions{Sessions: 2}, 50*time.Millisecond, 100*time.Millisecond)
	other := open(t, url, nil)
	w := dial(t, url)
	w.send(`{"type":"reset"}`)
	go func() {
		step := frame(opText, true, true, []byte(`{"type":"step","data":{"name":"go"}}`))
		for w.write(step) == nil {
		}
	}()
	for turn := 0; ; turn++ {
		select {
		case <-seen.ended:
			if turn == 0 {
				t.Error("the other session did nothing meanwhile")
			}
			return
		default:
		}
		if _, err := other.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
			t.Fatalf("another session suffers: %v", err)
		}
	}
}

// A thousand sessions at once each play their own episode, and leave nothing.
func TestManySessions(t *testing.T) {
	const n = 1000
	_, url := serve(t, toys, &openenv.ServerOptions{Sessions: n})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	envs := make([]envharness.Environment, n)
	each(t, n, func(i int) (err error) {
		envs[i], err = openenv.Open(t.Context(), url, nil)
		if err != nil {
			return err
		}
		o, err := envs[i].Reset(t.Context(), envharness.ResetOptions{Task: fmt.Sprint("t", i), Seed: new(uint64(i))})
		if want := fmt.Sprintf(`"t%d" seed %d options  turn 0`, i, i); err != nil || o.Text != want {
			return fmt.Errorf("shown %q %v, want %q", o.Text, err, want)
		}
		return nil
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d KiB a session", (int64(after.HeapInuse)+int64(after.StackInuse)-int64(before.HeapInuse)-int64(before.StackInuse))>>10/n)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 256<<20 {
		t.Errorf("%d open sessions hold %d MiB on both sides", n, grown>>20)
	}
	_, err := openenv.Open(t.Context(), url, nil)
	if e, ok := errors.AsType[*openenv.Error](err); !ok || e.Code != "CAPACITY_REACHED" {
		t.Errorf("one too many: %v", err)
	}
	each(t, n, func(i int) error {
		tr, err := envs[i].Step(t.Context(), envharness.Action{Name: "go"})
		if want := fmt.Sprintf(`"t%d" seed %d options  turn 1`, i, i); err != nil || tr.Observation.Text != want {
			return fmt.Errorf("shown %q %v, want %q", tr.Observation.Text, err, want)
		}
		return envs[i].Close()
	})
}

// each calls f with 0 to n-1, on as many goroutines.
func each(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("%.2000v", err)
	}
}

// Who comes when all sessions are in use is told so, and those that are in use do not notice.
func TestCapacity(t *testing.T) {
	const sessions, refused = 10, 990
	s, url := serve(t, toys, &openenv.ServerOptions{Sessions: sessions})
	envs := make([]envharness.Environment, sessions)
	for i := range envs {
		envs[i] = open(t, url, nil)
	}
	each(t, refused, func(int) error {
		env, err := openenv.Open(t.Context(), url, nil)
		if err == nil {
			return errors.Join(errors.New("a session too many"), env.Close())
		}
		if e, ok := errors.AsType[*openenv.Error](err); !ok || e.Code != "CAPACITY_REACHED" || !errors.Is(err, envharness.ErrInfra) {
			return err
		}
		return nil
	})
	w := dial(t, url)
	if data := w.expectError("CAPACITY_REACHED"); data["active_sessions"] != 10.0 || data["max_sessions"] != 10.0 {
		t.Errorf("told %v", data)
	}
	if got := w.expectEnd(); got != 1013 {
		t.Errorf("farewell with status %d", got)
	}
	for _, path := range []string{"/reset", "/step", "/mcp"} {
		status, body := post(t, url+path, `{}`)
		if status != http.StatusServiceUnavailable || !strings.Contains(body, `"max_sessions":10`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for _, env := range envs {
		if _, err := env.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
			t.Error(err)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
	for end := time.Now().Add(patience); openenv.Slots(s) != 0; runtime.Gosched() { // a client does not wait long for the farewell
		if time.Now().After(end) {
			t.Fatalf("%d slots in use after all were closed", openenv.Slots(s))
		}
	}
}

// A slot is free by the time that a client is told that its session, or its request, is over: the next may come at once.
func TestSlotIsFreeAtOnce(t *testing.T) {
	s, url := serve(t, toys, nil)
	for range 100 {
		w := dial(t, url)
		w.send(`{"type":"reset"}`)
		w.expect("observation")
		w.send(`{"type":"close"}`)
		for {
			op, _, err := w.next()
			if err != nil {
				t.Fatal(err)
			}
			if op == opClose {
				break
			}
		}
		if got := openenv.Slots(s); got != 0 {
			t.Fatalf("%d slots in use at the farewell", got)
		}
		_ = w.conn.Close()
		if status, body := post(t, url+"/reset", `{}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
}

// An episode that is over takes no steps until the next reset, whatever the environment would do with them.
func TestEpisodeOver(t *testing.T) {
	var steps atomic.Int64
	_, url := serve(t, func(context.Context) (envharness.Environment, error) { return &undead{steps: &steps}, nil }, nil)
	for _, last := range []string{"terminated", "truncated"} {
		w := dial(t, url)
		steps.Store(0)
		w.send(`{"type":"reset"}`)
		w.expect("observation")
		w.send(`{"type":"step","data":{"name":"` + last + `"}}`)
		if data := w.expect("observation"); data["done"] != true {
			t.Errorf("%s: %v", last, data)
		}
		w.send(`{"type":"step","data":{"name":"go"}}`)
		if data := w.expectError("EXECUTION_ERROR"); data["class"] != "episode_over" {
			t.Errorf("%s: told %v", last, data)
		}
		w.send(`{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"go"}}}`)
		if data := w.expect("mcp"); data["error"] == nil {
			t.Errorf("%s: told %v", last, data)
		}
		if got := steps.Load(); got != 1 {
			t.Errorf("%s: the environment was asked for %d steps", last, got)
		}
		w.send(`{"type":"reset"}`)
		w.expect("observation")
		w.send(`{"type":"step","data":{"name":"go"}}`)
		w.expect("observation")
		w.send(`{"type":"close"}`)
		w.expectEnd()
	}
}

// An undead environment goes on after the end of its episode.
type undead struct{ steps *atomic.Int64 }

func (u *undead) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	return envharness.Observation{}, nil
}

func (u *undead) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	u.steps.Add(1)
	return envharness.Transition{Terminated: a.Name == "terminated", Truncated: a.Name == "truncated"}, nil
}

func (u *undead) Close() error { return nil }

func post(t testing.TB, url, body string) (status int, answer string) {
	t.Helper()
	return postWith(t, http.DefaultClient, url, body)
}

func postWith(t testing.TB, client *http.Client, url, body string) (status int, answer string) {
	t.Helper()
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func get(t testing.TB, url string) (status int, answer string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A shutdown waits for the message under way, answers it, and says farewell; nobody new comes in.
func TestShutdown(t *testing.T) {
	seen := newWatcher()
	entered, leave := make(chan struct{}), make(chan struct{})
	s, url := serve(t, func(context.Context) (envharness.Environment, error) {
		return seen.watch(&toy{onStep: func(context.Context, envharness.Action) error { close(entered); <-leave; return nil }}), nil
	}, &openenv.ServerOptions{Sessions: 2})
	w, idle := dial(t, url), dial(t, url)
	w.send(`{"type":"reset"}`)
	w.expect("observation")
	w.send(`{"type":"step","data":{"name":"go"}}`)
	wait(t, entered, "the step")
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(context.Background()) }()
	if got := idle.expectEnd(); got != 1001 {
		t.Errorf("an idle session ends with status %d", got)
	}
	if status, body := get(t, url+"/health"); status != http.StatusServiceUnavailable || body != `{"status":"unhealthy"}` {
		t.Errorf("health: %d %s", status, body)
	}
	if status, _ := post(t, url+"/reset", ""); status != http.StatusServiceUnavailable {
		t.Errorf("reset: %d", status)
	}
	if _, err := openenv.Open(t.Context(), url, nil); !errors.Is(err, envharness.ErrInfra) || !strings.Contains(err.Error(), "503") {
		t.Errorf("open: %v", err)
	}
	select {
	case err := <-done:
		t.Fatalf("shutdown returned with a step under way: %v", err)
	default:
	}
	close(leave)
	w.expect("observation")
	if got := w.expectEnd(); got != 1001 {
		t.Errorf("farewell with status %d", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if seen.opened.Load() != 2 || seen.closed.Load() != 2 {
		t.Errorf("%d opened, %d closed", seen.opened.Load(), seen.closed.Load())
	}
}

// When the context of a shutdown ends, calls are canceled and connections cut.
func TestShutdownCutsOff(t *testing.T) {
	seen := newWatcher()
	entered := make(chan struct{})
	s, url := serve(t, func(context.Context) (envharness.Environment, error) {
		return seen.watch(&toy{onStep: untilCanceled(entered)}), nil
	}, nil)
	w := dial(t, url)
	w.send(`{"type":"reset"}`)
	w.expect("observation")
	w.send(`{"type":"step","data":{"name":"go"}}`)
	wait(t, entered, "the step")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := seen.closed.Load(); got != 1 {
		t.Errorf("%d environments were closed", got)
	}
	w.expectEnd()
}

// untilCanceled makes steps that say that they have begun, and go on until somebody cancels them.
func untilCanceled(entered chan<- struct{}) func(context.Context, envharness.Action) error {
	return func(ctx context.Context, _ envharness.Action) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}
}

// Sessions end with the context of their requests, as when the base context of the HTTP server does.
func TestBaseContext(t *testing.T) {
	seen := newWatcher()
	s, err := openenv.NewServer(func(context.Context) (envharness.Environment, error) { return seen.watch(new(toy)), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := httptest.NewUnstartedServer(s)
	h.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	h.Start()
	defer h.Close()
	w := dial(t, h.URL)
	w.send(`{"type":"reset"}`)
	w.expect("observation")
	cancel()
	wait(t, seen.ended, "the environment is closed")
	w.expectEnd()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A client that leaves in mid-step cancels it.
func TestClientLeaves(t *testing.T) {
	seen := newWatcher()
	entered := make(chan struct{})
	_, url := serve(t, func(context.Context) (envharness.Environment, error) {
		return seen.watch(&toy{onStep: untilCanceled(entered)}), nil
	}, nil)
	w := dial(t, url)
	w.send(`{"type":"reset"}`)
	w.expect("observation")
	w.send(`{"type":"step","data":{"name":"go"}}`)
	wait(t, entered, "the step")
	_ = w.conn.Close()
	wait(t, seen.ended, "the environment is closed")
}

// Nothing of an error, a panic or a stack reaches a client, whatever failed and however it is asked.
func TestNothingInside(t *testing.T) {
	const marker = "s3cr3t-m4rk3r"
	fail := map[string]func() error{
		"error":      func() error { return fmt.Errorf("reading /home/me/%s: %w", marker, io.ErrUnexpectedEOF) },
		"panic":      func() error { panic(marker) },
		"goexit":     func() error { runtime.Goexit(); return nil },
		"nil panic":  func() error { var p *toy; p.turn++; return nil },
		"infra":      func() error { return fmt.Errorf("%s: %w", marker, envharness.ErrInfra) },
		"need reset": func() error { return fmt.Errorf("%s: %w", marker, envharness.ErrNeedReset) },
		"bad error":  func() error { return hollow(marker) },
	}
	for how, failure := range fail {
		for _, where := range []string{"open", "reset", "step", "state", "close"} {
			t.Run(where+" "+how, func(t *testing.T) {
				var reported atomic.Bool
				at := func(here string) func() error {
					return func() error {
						if here == where {
							return failure()
						}
						return nil
					}
				}
				_, url := serve(t, func(context.Context) (envharness.Environment, error) {
					if err := at("open")(); err != nil {
						return nil, err
					}
					return &toy{
						onReset: func(context.Context, envharness.ResetOptions) error { return at("reset")() },
						onStep:  func(context.Context, envharness.Action) error { return at("step")() },
						onState: at("state"), onClose: at("close"),
					}, nil
				}, &openenv.ServerOptions{ExposeState: true, Failed: func(call string, err error) {
					if call != where {
						t.Errorf("told of a failure in %s: %v", call, err)
					}
					reported.Store(true)
				}})
				var all bytes.Buffer
				w := dial(t, url)
				w.r = bufio.NewReader(io.TeeReader(w.r, &all))
				for _, m := range []string{
					`{"type":"reset"}`, `{"type":"step","data":{"name":"go"}}`, `{"type":"state"}`,
					`{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"go"}}}`, `{"type":"close"}`,
				} {
					_ = w.write(frame(opText, true, true, []byte(m)))
				}
				w.expectEnd()
				for _, r := range []struct{ path, body string }{
					{"/reset", ``}, {"/step", `{"action":{"name":"go"}}`},
					{"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"go"}}`},
				} {
					_, body := post(t, url+r.path, r.body)
					all.WriteString(body)
				}
				for _, path := range []string{"/state", "/metadata", "/schema", "/health"} {
					_, body := get(t, url+path)
					all.WriteString(body)
				}
				text := all.String()
				for _, inside := range []string{
					marker, "panic", "goroutine", ".go:", "/home", "EOF", "errors.", "toy)", "openenv_test", "envharness:", "openenv:",
				} {
					if strings.Contains(text, inside) {
						t.Errorf("%q reached the client:\n%s", inside, text)
					}
				}
				if !reported.Load() && how != "need reset" {
					t.Error("the failure was not reported")
				}
			})
		}
	}
}

// A hollow error panics when it is looked at.
type hollow string

func (h hollow) Error() string { panic(string(h)) }

func (h hollow) Is(error) bool { panic(string(h)) }

// A page of another site cannot reach the server, by whatever path; programs send no Origin.
func TestOrigins(t *testing.T) {
	_, url := serve(t, toys, &openenv.ServerOptions{Sessions: 4, Origins: []string{"lab.example.com", "*.example.org:8443"}})
	host := strings.TrimPrefix(url, "http://")
	for _, c := range []struct {
		origin string
		want   int
	}{
		{"", 200},
		{"http://" + host, 200},
		{"https://lab.example.com", 200},
		{"https://LAB.example.com", 200},
		{"https://a.example.org:8443", 200},
		{"https://a.example.org", 403},
		{"https://evil.example.com", 403},
		{"https://lab.example.com.evil.net", 403},
		{"null", 403},
		{"://", 403},
	} {
		for _, path := range []string{"/reset", "/ws"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if path == "/ws" {
				r.Method = http.MethodGet
				for k, v := range map[string]string{
					"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
				} {
					r.Header.Set(k, v)
				}
				if want == 200 {
					want = 101
				}
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s from %q: status %d, want %d", path, c.origin, resp.StatusCode, want)
			}
		}
	}
}

// Many servers in one process share nothing.
func TestManyServers(t *testing.T) {
	const n = 32
	urls := make([]string, n)
	for i := range n {
		_, urls[i] = serve(t, func(context.Context) (envharness.Environment, error) {
			return &toy{shown: fmt.Sprint(" of server ", i)}, nil
		}, nil)
	}
	each(t, n, func(i int) error {
		env, err := openenv.Open(t.Context(), urls[i], nil)
		if err != nil {
			return err
		}
		o, err := env.Reset(t.Context(), envharness.ResetOptions{})
		if want := fmt.Sprint(" of server ", i); err == nil && !strings.HasSuffix(o.Text, want) {
			err = fmt.Errorf("shown %q, want %q", o.Text, want)
		}
		return errors.Join(err, env.Close())
	})
}

// A message that is larger than allowed is not sent.
func TestLongAnswer(t *testing.T) {
	s, url := serve(t, func(context.Context) (envharness.Environment, error) {
		long := strings.Repeat("x", 5000)
		return &toy{shown: long, tools: []envharness.Tool{{Name: "go", Description: long}}}, nil
	}, &openenv.ServerOptions{MaxMessage: 4096})
	w := dial(t, url)
	for _, m := range []string{`{"type":"reset"}`, `{"type":"step","data":{"type":"list_tools"}}`} {
		w.send(m)
		if data := w.expectError("EXECUTION_ERROR"); data["class"] != "too_long" {
			t.Errorf("%s: told %v", m, data)
		}
	}
	w.send(`{"type":"close"}`)
	w.expectEnd()
	r := httptest.NewRequest(http.MethodPost, "/reset", strings.NewReader(strings.Repeat(" ", 5000)))
	rec := httptest.NewRecorder()
	if s.ServeHTTP(rec, r); rec.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: %d %s", rec.Code, rec.Body)
	}
}
