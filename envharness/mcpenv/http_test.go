package mcpenv_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envtest"
	"github.com/throughline-go/throughline/envharness/mcpenv"
	"github.com/throughline-go/throughline/envharness/mcpenv/mcptest"
)

// farm is an HTTP server that has a stockroom for each path: as many worlds as episodes, in this process.
func farm(t testing.TB, o mcptest.Options) func(dir string) mcpenv.Server {
	t.Helper()
	var mu sync.Mutex
	rooms := map[string]http.Handler{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := rooms[r.URL.Path]
		if h == nil {
			h = must(mcptest.Handler(&o))
			rooms[r.URL.Path] = h
		}
		mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return func(dir string) mcpenv.Server {
		return mcpenv.Server{URL: srv.URL + "/" + filepath.Base(dir), MaxMessage: maxMessage}
	}
}

// serve serves a server of the SDK over HTTP.
func serve(t testing.TB, s *mcp.Server) func(string) mcpenv.Server {
	t.Helper()
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(srv.Close)
	return func(string) mcpenv.Server { return mcpenv.Server{URL: srv.URL} }
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	w := world(t, restock(farm(t, mcptest.Options{PageSize: 2})))
	traces, err := envharness.Rollouts(t.Context(), w, nil, script(solution()...), make([]envharness.Task, 16),
		&envharness.RolloutOptions{Parallel: 8, Reruns: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range traces {
		if tr.Verdict.Status != envharness.Pass || len(tr.Tools) != 7 {
			t.Errorf("%s, %d tools: %s", tr.Verdict.Status, len(tr.Tools), tr.Cause)
		}
	}
}

// Many episodes over HTTP at once, each in a world of its own, four fifths of which break off in as many ways, and nothing is left.
func TestManyEpisodesHTTP(t *testing.T) {
	check := leaks(t)
	n := 1000
	if testing.Short() { // the servers are what takes the time
		n = 100
	}
	t.Run("all", func(t *testing.T) {
		kinds := append(breaks, "")
		farms := make([]func(string) mcpenv.Server, len(kinds))
		for i, kind := range kinds {
			farms[i] = farm(t, mcptest.Options{Fault: mcptest.Fault{Kind: kind, Call: 5, Size: tooLong}})
		}
		var next atomic.Int64
		w := world(t, restock(func(dir string) mcpenv.Server {
			return farms[int(next.Add(1))%len(kinds)](dir)
		}))
		traces, err := envharness.Rollouts(t.Context(), w, nil, script(solution()...), make([]envharness.Task, n),
			&envharness.RolloutOptions{Parallel: n, Reruns: new(0)})
		if err != nil {
			t.Fatal(err)
		}
		passed, invalid := 0, 0
		for _, tr := range traces {
			switch tr.Verdict.Status {
			case envharness.Pass:
				passed++
			case envharness.Invalid:
				invalid++
			}
		}
		if passed != n/len(kinds) || invalid != n-passed {
			t.Errorf("%d passed and %d are invalid, want %d and the rest", passed, invalid, n/len(kinds))
		}
	})
	check()
}

// A session is no fresh world: the second start finds what the first has made. With Fresh it is for the caller to clear it.
func TestHTTPFresh(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var room http.Handler
	fresh := func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		var err error
		room, err = mcptest.Handler(nil)
		return err
	}
	if err := fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := room
		mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	c := restock(func(string) mcpenv.Server { return mcpenv.Server{URL: srv.URL} })
	twice := func(c mcpenv.Config) (traces [2]envharness.Trace) {
		w := world(t, c)
		for i := range traces {
			traces[i] = play(t, w, nil, solution()...)
		}
		return traces
	}
	got := twice(c)
	if got[0].Verdict.Status != envharness.Pass || got[1].Verdict.Status != envharness.Invalid ||
		!strings.Contains(got[1].Cause, `task "restock": start 0 create_item`) {
		t.Errorf("without: %s, then %s: %s", got[0].Verdict.Status, got[1].Verdict.Status, got[1].Cause)
	}
	c.Fresh = fresh
	got = twice(c)
	if got[0].Verdict.Status != envharness.Pass || got[1].Verdict.Status != envharness.Pass {
		t.Errorf("with: %s, then %s: %s", got[0].Verdict.Status, got[1].Verdict.Status, got[1].Cause)
	}
	c.Fresh = func(context.Context) error { return errors.New("no broom") }
	if tr := play(t, world(t, c), nil); tr.Verdict.Status != envharness.Invalid || !strings.Contains(tr.Cause, "no broom") {
		t.Errorf("%s: %s", tr.Verdict.Status, tr.Cause)
	}
}

// Faults over HTTP spoil an episode as those of a process do.
func TestHTTPBreaksOff(t *testing.T) {
	check := leaks(t)
	t.Run("all", func(t *testing.T) {
		for _, kind := range breaks {
			for _, at := range []mcptest.Fault{{Method: "initialize"}, {Method: "tools/list"}, {Call: 2}, {Call: 4}, {Call: 5}, {Call: 7}} {
				at.Kind, at.Size = kind, tooLong
				tr := play(t, world(t, restock(farm(t, mcptest.Options{Fault: at}))), nil, solution()...)
				if tr.Verdict.Status != envharness.Invalid || tr.End != envharness.EndEnvError {
					t.Errorf("%+v: %s, %s: %s", at, tr.Verdict.Status, tr.End, tr.Cause)
				}
			}
		}
	})
	check()
}

// The rules of environments that a server without seeds and without repetition can keep, kept by one that does repeat itself.
func TestConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a few hundred episodes")
	}
	c := restock(farm(t, mcptest.Options{}))
	c.Answer, c.MaxTurns, c.Deterministic = true, 12, true
	second := c.Tasks[0]
	second.ID, second.Start = "empty", nil
	c.Tasks = append(c.Tasks, second)
	w := world(t, c)
	envtest.Environment{
		New: w.New, Tasks: []envharness.Task{{ID: "restock"}, {ID: "empty"}}, SeedBlind: true, Steps: 60,
	}.Run(t)
	t.Run("verifier", func(t *testing.T) {
		envtest.Verifier{
			World: w, Tasks: []envharness.Task{{ID: "restock"}}, Episodes: 3,
			Plan: func(context.Context, envharness.Task, uint64) ([]envharness.Action, error) {
				return append(solution(), act("submit", `{"answer":"done"}`)), nil
			},
		}.Run(t)
	})
}

// What a caller keeps secret is in no error and in no trace, whatever the server does with it.
func TestSecrets(t *testing.T) {
	const marker = "MARKER-5f1c-SECRET"
	looks := func(name string, traces ...envharness.Trace) {
		t.Helper()
		for _, tr := range traces {
			if raw := string(must(json.Marshal(tr))); strings.Contains(raw, marker) {
				t.Errorf("%s: the secret is in %.500s", name, raw)
			}
		}
	}
	// A program that has the secret in its environment and writes it to standard error.
	for _, kind := range append(breaks, "") {
		for _, call := range []int{1, 5} {
			server := stockroom(mcptest.Options{Fault: mcptest.Fault{Kind: kind, Call: call}})
			c := restock(func(dir string) mcpenv.Server {
				s := server(dir)
				s.Env = append(s.Env, "API_TOKEN="+marker)
				s.Command = append([]string{"sh", "-c", `echo "$API_TOKEN" >&2; exec "$0"`}, s.Command...)
				return s
			})
			looks(string(kind), play(t, world(t, c), nil, solution()...))
		}
	}
	c := restock(func(string) mcpenv.Server {
		return mcpenv.Server{Command: []string{"/nowhere/" + "program"}, Env: []string{"API_TOKEN=" + marker}}
	})
	looks("no program", play(t, world(t, c), nil))
	// A program whose refusals of the calls that are no part of the episode tell it; the policy's own are recorded as they are.
	told := `"result":{"content":[{"type":"text","text":"refused ` + marker + `"}],"isError":true}`
	tells := fake(t, `{"tools":[{"name":"go"},{"name":"read"}]}`, map[string]string{"go": told, "read": told})
	for _, start := range []int{0, 1} {
		c := goal(`{}`, nil)
		c.Tasks[0].Start = []envharness.Action{act("go", "")}[:start]
		c.Server = func(dir string) mcpenv.Server {
			s := tells(dir)
			s.Header = http.Header{"X-Key": {marker}}
			return s
		}
		tr := play(t, world(t, c), nil)
		looks("told", tr)
		if tr.Verdict.Status != envharness.Invalid || !strings.Contains(tr.Cause, "refused [redacted]") {
			t.Errorf("%s: %s", tr.Verdict.Status, tr.Cause)
		}
	}
	// A server that sends back what it got: headers, user, password and query.
	echo := func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		http.Error(w, strings.Join([]string{user, password, r.URL.String(), r.Header.Get("X-Key")}, " "), http.StatusInternalServerError)
	}
	moved := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/?key="+r.Header.Get("X-Key"), http.StatusTemporaryRedirect)
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, h := range map[string]http.HandlerFunc{"echo": echo, "moved": moved, "cut": cut} {
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		at := strings.Replace(srv.URL, "http://", "http://"+marker+":"+marker+"@", 1) + "/?key=" + marker
		for _, u := range []string{at, strings.Replace(at, srv.Listener.Addr().String(), "127.0.0.1:1", 1), "http://" + marker + "\x7f"} {
			c := restock(func(string) mcpenv.Server { return mcpenv.Server{URL: u, Header: http.Header{"X-Key": {marker}}} })
			looks(name, play(t, world(t, c), nil))
		}
	}
}
