package openenv_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openenv"
)

// patience is how long a test waits for what has to happen; one that passes does not use it up.
const patience = 20 * time.Second

// A toy is an environment each part of which a test can replace. Without that it shows its task and seed, counts turns, refuses "bad", and
// ends on "stop" with the reward 1.
type toy struct {
	onReset func(ctx context.Context, o envharness.ResetOptions) error
	onStep  func(ctx context.Context, a envharness.Action) error
	onState func() error
	onClose func() error
	shown   string // added to each text
	tools   []envharness.Tool

	task  string
	turn  int
	begun bool
	over  bool
}

func (e *toy) Reset(ctx context.Context, o envharness.ResetOptions) (envharness.Observation, error) {
	if e.onReset != nil {
		if err := e.onReset(ctx, o); err != nil {
			return envharness.Observation{}, err
		}
	}
	if o.Task == "nowhere" {
		return envharness.Observation{}, fmt.Errorf("toy: %w", envharness.ErrNoTask)
	}
	seed := "none"
	if o.Seed != nil {
		seed = fmt.Sprint(*o.Seed)
	}
	e.task, e.turn, e.begun, e.over = fmt.Sprintf("%q seed %s options %s", o.Task, seed, o.Options), 0, true, false
	return e.observe(), nil
}

func (e *toy) observe() envharness.Observation {
	return envharness.Observation{Text: fmt.Sprintf("%s turn %d%s", e.task, e.turn, e.shown), Data: map[string]any{"turn": float64(e.turn)}}
}

func (e *toy) Step(ctx context.Context, a envharness.Action) (envharness.Transition, error) {
	if e.onStep != nil {
		if err := e.onStep(ctx, a); err != nil {
			return envharness.Transition{}, err
		}
	}
	switch {
	case !e.begun:
		return envharness.Transition{}, envharness.ErrNeedReset
	case e.over:
		return envharness.Transition{}, envharness.ErrEpisodeOver
	}
	e.turn++
	t := envharness.Transition{Observation: e.observe()}
	switch a.Name {
	case "bad":
		t.Error = &envharness.ActionError{Class: envharness.ClassPermission, Message: "not you"}
	case "stop":
		e.over, t.Terminated, t.Reward = true, true, 1
	case "limit":
		e.over, t.Truncated, t.Reason = true, true, "max_turns"
	}
	return t, nil
}

func (e *toy) State(context.Context) (envharness.State, error) {
	if e.onState != nil {
		if err := e.onState(); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, `{"turn":%d,"goal":"secret goal"}`, e.turn), nil
}

func (e *toy) Describe() envharness.Description {
	tools := e.tools
	if tools == nil {
		tools = []envharness.Tool{{Name: "go", Description: "a turn", ReadOnly: true}, {Name: "stop", Submits: true}}
	}
	return envharness.Description{Name: "toy", About: "pass by a stop", Tools: tools, Graded: []string{"goal"}, Mutable: []string{"turn"}}
}

func (e *toy) Close() error {
	if e.onClose != nil {
		return e.onClose()
	}
	return nil
}

func toys(context.Context) (envharness.Environment, error) { return new(toy), nil }

// A watcher opens environments and waits until all of them are closed.
type watcher struct {
	opened, closed atomic.Int64
	ended          chan struct{} // one for each that was closed
}

func newWatcher() *watcher { return &watcher{ended: make(chan struct{}, 4096)} }

// watch counts the closing of an environment, once however often it is called.
func (w *watcher) watch(e *toy) *toy {
	w.opened.Add(1)
	var once atomic.Bool
	e.onClose = func() error {
		if once.CompareAndSwap(false, true) {
			w.closed.Add(1)
			w.ended <- struct{}{}
		}
		return nil
	}
	return e
}

// serve serves what open makes until the test ends, and fails it if something is left then.
func serve(t testing.TB, open func(context.Context) (envharness.Environment, error), o *openenv.ServerOptions) (*openenv.Server, string) {
	t.Helper()
	return serveHurried(t, open, o, time.Second, patience)
}

// serveHurried is serve with a server that grants less time for what has to end soon, and to a peer for a message.
func serveHurried(
	t testing.TB, open func(context.Context) (envharness.Environment, error), o *openenv.ServerOptions, grace, peer time.Duration,
) (*openenv.Server, string) {
	t.Helper()
	s, err := openenv.NewServer(open, o)
	if err != nil {
		t.Fatal(err)
	}
	openenv.Hurry(s, grace, peer)
	h := httptest.NewServer(s)
	before := descriptors()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		h.Close()
		leftNothing(t, before)
	})
	return s, h.URL
}

// descriptors counts those of the process, -1 where that cannot be done.
func descriptors() int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(fds)
}

// leftNothing waits until no goroutine of the package is left, and no descriptor above those before and a few that the process keeps for
// itself.
func leftNothing(t testing.TB, before int) {
	t.Helper()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	end := time.Now().Add(patience)
	for {
		buf := make([]byte, 4<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		count := strings.Count(stacks, "envharness/openenv.(") + strings.Count(stacks, "coder/websocket.(")
		fds := descriptors()
		if count == 0 && fds <= before+4 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("left: %d frames of goroutines, %d descriptors of %d before\n%.4000s", count, fds, before, stacks)
			return
		}
		runtime.Gosched()
	}
}

func open(t testing.TB, url string, o *openenv.ClientOptions) envharness.Environment {
	t.Helper()
	env, err := openenv.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Close() })
	return env
}

func wait(t testing.TB, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
	}
}

// The opcodes of WebSocket frames.
const (
	opContinue = 0
	opText     = 1
	opBinary   = 2
	opClose    = 8
	opPing     = 9
	opPong     = 10
)

// A raw is a WebSocket connection without a library, so that it can break every rule.
type raw struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

// dial opens one at the path /ws of a server.
func dial(t testing.TB, url string) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return handshake(t, conn)
}

func handshake(t testing.TB, conn net.Conn) *raw {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err := io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	w := &raw{t: t, conn: conn, r: bufio.NewReader(conn)}
	resp, err := http.ReadResponse(w.r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("handshake: %v %v", resp, err)
	}
	return w
}

// frame makes a frame; masked ones have a mask of zeros.
func frame(op byte, final, masked bool, payload []byte) []byte {
	b := []byte{op, 0}
	if final {
		b[0] |= 0x80
	}
	switch n := len(payload); {
	case n < 126:
		b[1] = byte(n)
	case n < 1<<16:
		b[1] = 126
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	default:
		b[1] = 127
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	if masked {
		b[1] |= 0x80
		b = append(b, 0, 0, 0, 0)
	}
	return append(b, payload...)
}

func (w *raw) write(b []byte) error {
	_, err := w.conn.Write(b)
	return err
}

func (w *raw) send(text string) {
	w.t.Helper()
	if err := w.write(frame(opText, true, true, []byte(text))); err != nil {
		w.t.Fatal(err)
	}
}

// next reads a frame.
func (w *raw) next() (op byte, payload []byte, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(w.r, head); err != nil {
		return 0, nil, err
	}
	n := uint64(head[1] & 0x7f)
	switch n {
	case 126:
		var b [2]byte
		_, err = io.ReadFull(w.r, b[:])
		n = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		var b [8]byte
		_, err = io.ReadFull(w.r, b[:])
		n = binary.BigEndian.Uint64(b[:])
	}
	if err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(w.r, payload)
	return head[0] & 0x0f, payload, err
}

// expect reads a text frame and returns its type and data.
func (w *raw) expect(kind string) map[string]any {
	w.t.Helper()
	op, payload, err := w.next()
	if err != nil || op != opText {
		w.t.Fatalf("want a message of type %s, got opcode %d %q %v", kind, op, payload, err)
	}
	var m struct {
		Type string         `json:"type"`
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(payload, &m); err != nil || m.Type != kind {
		w.t.Fatalf("want a message of type %s, got %s %v", kind, payload, err)
	}
	return m.Data
}

// expectError reads an error with the code.
func (w *raw) expectError(code string) map[string]any {
	w.t.Helper()
	data := w.expect("error")
	if data["code"] != code {
		w.t.Fatalf("got %v, want code %s", data, code)
	}
	return data
}

// expectEnd reads until the server ends the connection, and returns the status that it gave, 0 for none.
func (w *raw) expectEnd() (status int) {
	w.t.Helper()
	for {
		op, payload, err := w.next()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				w.t.Fatal("the server does not end the connection")
			}
			return status
		}
		if op == opClose && len(payload) >= 2 {
			status = int(binary.BigEndian.Uint16(payload))
			_ = w.write(frame(opClose, true, true, payload[:2]))
		}
	}
}
