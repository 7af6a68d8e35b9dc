package endpoint_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

const marker = "sk-MARKER-0451"

func environment(name string) string {
	if name == "MODEL_KEY" {
		return marker
	}
	return ""
}

func open(t *testing.T, args ...string) (*endpoint.Model, error) {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	f := endpoint.Register(set, 3, "tasks")
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f.Open(environment)
}

// Bad flags are named, and no secret is.
func TestOpen(t *testing.T) {
	const url = "http://127.0.0.1:1/v1"
	for _, tt := range []struct {
		name, want, reason string
		args               []string
	}{
		{"none", "", "the default acts", nil},
		{"both", "", "a model", []string{"-endpoint", url, "-model", "m"}},
		{"everything", "", "all flags go together", []string{"-endpoint", "https://example.com/v1?api-version=2", "-model", "m", "-key-env", "MODEL_KEY",
			"-price", "0.5, 1", "-tasks", "1", "-at-once", "2", "-stream", "-retries", "0"}},
		{"no model", "-model", "a server may have several", []string{"-endpoint", url}},
		{"no endpoint", "-endpoint", "a name is no address", []string{"-model", "m"}},
		{"tasks alone", "-tasks", "it would do nothing", []string{"-tasks", "4"}},
		{"stream alone", "-stream", "it would do nothing", []string{"-stream"}},
		{"no scheme", "-endpoint", "not a URL", []string{"-endpoint", "localhost:8000/v1", "-model", "m"}},
		{"no host", "-endpoint", "not a URL", []string{"-endpoint", "http://", "-model", "m"}},
		{"broken", "-endpoint", "not a URL", []string{"-endpoint", "http://" + marker + ":x y", "-model", "m"}},
		{"user", "-key-env", "process lists show flags", []string{"-endpoint", "http://me:" + marker + "@127.0.0.1/v1", "-model", "m"}},
		{"no such variable", "-key-env", "a key that is given by mistake is not told", []string{"-endpoint", url, "-model", "m", "-key-env", marker}},
		{"a name", "names MODEL_KEY_2, an", "what is surely no key is told",
			[]string{"-endpoint", url, "-model", "m", "-key-env", "MODEL_KEY_2"}},
		{"unencrypted", "-allow-http", "a key would be read on the way",
			[]string{"-endpoint", "http://example.com/v1", "-model", "m", "-key-env", "MODEL_KEY"}},
		{"unencrypted, on demand", "", "as in a network of one's own",
			[]string{"-endpoint", "http://example.com/v1", "-model", "m", "-key-env", "MODEL_KEY", "-allow-http"}},
		{"no tasks", "-tasks", "nothing would be played", []string{"-endpoint", url, "-model", "m", "-tasks", "0"}},
		{"none at once", "-at-once", "nothing would be played", []string{"-endpoint", url, "-model", "m", "-at-once", "0"}},
		{"negative retries", "-retries", "there are no such", []string{"-endpoint", url, "-model", "m", "-retries", "-1"}},
		{"one price", "-price", "two are needed", []string{"-endpoint", url, "-model", "m", "-price", "1"}},
		{"negative price", "-price", "nobody pays", []string{"-endpoint", url, "-model", "m", "-price", "1,-1"}},
		{"a limit", "", "with a price", []string{"-endpoint", url, "-model", "m", "-price", "1,2", "-max-cost", "0.5"}},
		{"a limit alone", "-max-cost", "it would never be reached", []string{"-endpoint", url, "-model", "m", "-max-cost", "1"}},
		{"negative limit", "-max-cost", "nothing costs less", []string{"-endpoint", url, "-model", "m", "-price", "1,2", "-max-cost", "-1"}},
		{"no number", "-price", "not a number", []string{"-endpoint", url, "-model", "m", "-price", "NaN,1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			m, err := open(t, tt.args...)
			if tt.want == "" {
				if err != nil || (m != nil) != (len(tt.args) > 0) {
					t.Errorf("got %v, %v: %s", m, err, tt.reason)
				}
				return
			}
			if err == nil || m != nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), marker) {
				t.Errorf("got %v, %v, want an error that names %s: %s", m, err, tt.want, tt.reason)
			}
		})
	}
}

// Only what cannot be a key is told as the name of a variable.
func TestNamedVariable(t *testing.T) {
	for text, told := range map[string]bool{
		"OPENAI_API_KEY": true, "KEY": true, "_KEY2": true,
		"openai_api_key": false, "AKIAIOSFODNN7EXAMPLE": false, "GSK_4F09A2C81B": false, "2KEY": false, "MY-KEY": false, "SCHLÜSSEL": false,
		strings.Repeat("KEY_", 17): false,
	} {
		_, err := open(t, "-endpoint", "http://127.0.0.1:1/v1", "-model", "m", "-key-env", text)
		if err == nil || strings.Contains(err.Error(), text+",") != told || !told && strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want it told: %v", text, err, told)
		}
	}
}

// What no further attempt would mend is an error at once, after a single request; what may pass is none.
func TestReach(t *testing.T) {
	limited := func(status int) endpointtest.Script {
		return func(q openaitest.Request) openaitest.Reply {
			if strings.Contains(string(q.Body), "max_tokens") {
				return endpointtest.Fail(status)(q)
			}
			return endpointtest.Talk(q)
		}
	}
	noMoney := func(openaitest.Request) openaitest.Reply {
		return openaitest.Reply{Status: 429, Error: openaitest.Error{Code: "insufficient_quota"}}
	}
	nonsense := func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Raw: []byte("<html>")} }
	for _, tt := range []struct {
		name, want, reason string
		script             endpointtest.Script
		requests           int
	}{
		{"answered", "", "there is a model", endpointtest.Talk, 1},
		{"cut off", "", "as is meant", func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Text: "p", Finish: "length"} }, 1},
		{"no key", "-key-env", "it stays so", endpointtest.Fail(401), 1},
		{"not this key", "-key-env", "it stays so", endpointtest.Fail(403), 1},
		{"not found", "/v1", "it stays so", endpointtest.Fail(404), 1},
		{"no such method", "status 405", "it stays so", endpointtest.Fail(405), 1},
		{"not paid for", "insufficient_quota", "it stays so", noMoney, 1},
		{"too many requests", "", "it may pass", endpointtest.Fail(429), 1},
		{"failure", "", "it may pass", endpointtest.Fail(500), 1},
		{"busy", "", "it may pass", endpointtest.Fail(503), 1},
		{"no limit taken", "", "one token is too few for some models", limited(400), 2},
		{"bad request", "status 400", "no request is taken", endpointtest.Fail(400), 2},
		{"nonsense", "the model does not answer", "it is another server", nonsense, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			m, err := open(t, "-endpoint", endpointtest.Serve(t, tt.script), "-model", "scripted", "-key-env", "MODEL_KEY", "-price", "1,1")
			if err != nil {
				t.Fatal(err)
			}
			err = m.Reach(t.Context())
			if (err != nil) != (tt.want != "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), marker)) {
				t.Errorf("got %v, want %q: %s", err, tt.want, tt.reason)
			}
			u := m.Usage()
			if u.Requests != tt.requests || u.Retries != 0 || u.Tokens != u.Input+u.Output || *u.Cost != float64(u.Tokens)/1e6 {
				t.Errorf("used %+v, want %d requests and no further attempts", u, tt.requests)
			}
		})
	}
	m, err := open(t, "-endpoint", "http://127.0.0.1:1/v1", "-model", "m")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Reach(t.Context()); err == nil || m.Usage().Requests != 1 {
		t.Errorf("nobody is there: %v after %d requests", err, m.Usage().Requests)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Reach(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := (*endpoint.Model)(nil).Reach(ctx); err != nil {
		t.Errorf("without a model: %v", err)
	}
}

// What is told of a run that failed has its parts and what they cost; where nothing was asked for there is nothing to tell.
func TestAccount(t *testing.T) {
	m, err := open(t, "-endpoint", endpointtest.Serve(t, endpointtest.Talk), "-model", "scripted", "-price", "1000000,1000000")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	m.Account(&b, "test")
	(*endpoint.Model)(nil).Account(&b, "test")
	if b.Len() > 0 {
		t.Errorf("without a request %q", &b)
	}
	if err := m.Reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.Account(&b, "test")
	m.Finished("first", endpoint.Tally{Played: 2, Passed: 1, Rate: 0.5})
	m.Finished("second", 3)
	m.Account(&b, "test")
	if m.Usage().Tokens == 0 {
		t.Error("the first request costs nothing")
	}
	used := "test: used: " + m.Usage().String() + "\n"
	if want := "test: finished before that: nothing\n" + used + "test: finished before that: first 50.0 % of 2; second 3\n" + used; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// Given tells flags that are set from those that are not.
func TestGiven(t *testing.T) {
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.Int("seeds", 1, "")
	f := endpoint.Register(set, 0, "")
	if err := set.Parse([]string{"-seeds", "1"}); err != nil {
		t.Fatal(err)
	}
	if !f.Given("seeds") || f.Given("model") {
		t.Error("seeds was given, model was not")
	}
	if set.Lookup("tasks") != nil || set.Lookup("at-once") != nil {
		t.Error("one episode has no number of tasks")
	}
}

func desk(t *testing.T) (worlds.World, []envharness.Task, *endpointtest.Oracle) {
	t.Helper()
	w, err := worlds.Find("tooldesk_small")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := w.Tasks(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	o, err := endpointtest.NewOracle(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return w, tasks, o
}

// A model that does the right thing passes, one that only talks fails, and one whose server fails is invalid.
func TestPlay(t *testing.T) {
	w, tasks, oracle := desk(t)
	for _, tt := range []struct {
		name   string
		script endpointtest.Script
		want   string
		cause  string
		reason string
	}{
		{"oracle", oracle.Answer, "100.0 % of 3", "", "each call is the oracle's"},
		{"talker", endpointtest.Talk, "0.0 % of 3", "", "an answer without a call is the model's own failure"},
		{"broken", endpointtest.Fail(500), "- of 0, 3 invalid", "status 500", "a failure of the server is not the model's"},
		{"no such key", endpointtest.Fail(401), "- of 0, 3 invalid", "status 401", "nor is a key that is refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			for _, stream := range []string{"-stream=false", "-stream"} {
				var episodes atomic.Int32
				url := endpointtest.Serve(t, func(q openaitest.Request) openaitest.Reply {
					if len(q.Messages) == 2 { // the first request of an episode
						episodes.Add(1)
					}
					return tt.script(q)
				})
				m, err := open(t, "-endpoint", url, "-model", "scripted", "-key-env", "MODEL_KEY",
					"-retries", "0", stream)
				if err != nil {
					t.Fatal(err)
				}
				traces, err := m.Play(t.Context(), endpoint.Play{World: w, Tasks: tasks[:3]})
				if err != nil {
					t.Fatal(err)
				}
				if n := episodes.Load(); n != 3 {
					t.Errorf("%s: %d episodes, want one for each task", stream, n)
				}
				got := endpoint.Count(traces)
				told := strings.Contains(got.Cause, tt.cause) && (got.Err() != nil) == (tt.cause != "")
				if got.String() != tt.want || !told || strings.Contains(got.Cause, marker) {
					t.Errorf("%s: got %v, %q, %v, want %s: %s", stream, got, got.Cause, got.Err(), tt.want, tt.reason)
				}
			}
		})
	}
}

// What is told first is about the world, with the instructions of the task; what was used is counted and priced.
func TestInstructionsAndUsage(t *testing.T) {
	w, tasks, oracle := desk(t)
	var systems []string
	url := endpointtest.Serve(t, func(q openaitest.Request) openaitest.Reply {
		if endpointtest.Calls(q) == 0 {
			systems = append(systems, endpointtest.System(q)) // one episode at a time
		}
		return oracle.Answer(q)
	})
	m, err := open(t, "-endpoint", url, "-model", "scripted", "-price", "1000000,2000000", "-at-once", "1")
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	_, err = m.Play(t.Context(), endpoint.Play{
		World: w, Tasks: tasks[:2], Instructions: func(t envharness.Task) string { return "skills for " + t.ID },
		Progress: func(n, _ int) { done = n },
	})
	if err != nil || done != 2 || len(systems) != 2 {
		t.Fatalf("%d of 2 done, %d conversations, %v", done, len(systems), err)
	}
	for i, s := range systems {
		if !strings.Contains(s, "service desk") || !strings.Contains(s, "skills for "+tasks[i].ID) {
			t.Errorf("told first: %q", s)
		}
	}
	u := m.Usage()
	if u.Cost == nil || u.Requests == 0 || u.Tokens != u.Input+u.Output || *u.Cost != float64(u.Input+2*u.Output) ||
		!strings.Contains(u.String(), "cost ") {
		t.Errorf("%+v %v", u, u)
	}
	u.Cost = nil
	if !strings.Contains(u.String(), "unknown") {
		t.Error(u)
	}
}

// Beyond the limit of costs nothing is asked for, and what is left is invalid.
func TestMaxCost(t *testing.T) {
	w, tasks, oracle := desk(t)
	url := endpointtest.Serve(t, oracle.Answer)
	m, err := open(t, "-endpoint", url, "-model", "scripted", "-price", "1,1", "-max-cost", "1e-12", "-at-once", "1")
	if err != nil {
		t.Fatal(err)
	}
	traces, err := m.Play(t.Context(), endpoint.Play{World: w, Tasks: tasks[:3]})
	if err != nil {
		t.Fatal(err)
	}
	if got := endpoint.Count(traces); got.Invalid != 3 || !strings.Contains(got.Cause, "limit of costs") || m.Usage().Requests != 1 {
		t.Errorf("%+v after %d requests", got, m.Usage().Requests)
	}
}

// Without an episode there is no rate, and nothing that failed.
func TestCountNothing(t *testing.T) {
	if s := (endpoint.Tally{}).String(); s != "-" {
		t.Errorf("%q is no rate", s)
	}
	if got := endpoint.Count(nil); got != (endpoint.Tally{}) || got.Err() != nil {
		t.Errorf("%+v, %v", got, got.Err())
	}
}
