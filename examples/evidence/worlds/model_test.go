package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

func TestMain(m *testing.M) { endpointtest.Main(m, main) }

// player returns a model with a script that plays the worlds that are named.
func player(t *testing.T, script endpointtest.Script, names string) *acting {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	f := endpoint.Register(set, 4, "tasks")
	args := []string{"-endpoint", endpointtest.Serve(t, script), "-model", "scripted", "-retries", "0", "-at-once", "1"}
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	m, err := f.Open(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a, err := choose(m, names)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The row of a model has what it passed of the tasks that could be judged, beside the oracle and those that know nothing.
func TestModel(t *testing.T) {
	w, err := worlds.Find("tooldesk_small")
	if err != nil {
		t.Fatal(err)
	}
	other, err := worlds.Find("deep_sea_short")
	if err != nil {
		t.Fatal(err)
	}
	test, err := w.Tasks(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := endpointtest.NewOracle(t.Context(), w, sample(test, 4, false)...)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	for _, tt := range []struct {
		name, want, reason string
		script             endpointtest.Script
	}{
		{"oracle", "100.0 % of 4", "it does what the oracle does", oracle.Answer},
		{"talker", "0.0 % of 4", "nothing is claimed of a model", endpointtest.Talk},
		{"once invalid", "100.0 % of 3, 1 invalid", "what the server spoils is not in the rate", func(q openaitest.Request) openaitest.Reply {
			if asked.Add(1) == 1 {
				return endpointtest.Fail(502)(q)
			}
			return oracle.Answer(q)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			some := tiny
			some.model = player(t, tt.script, "tooldesk_small")
			e, err := run(t.Context(), []worlds.World{w, other}, some, "", silent)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Worlds[w.Name].Model; got == nil || got.String() != tt.want || e.Endpoint == nil || e.Endpoint.Requests == 0 {
				t.Errorf("got %v, used %+v, want %s: %s", got, e.Endpoint, tt.want, tt.reason)
			}
			if e.Worlds[other.Name].Model != nil {
				t.Error("the model played a world that was not named")
			}
			if failed := e.failure(); failed != nil {
				t.Errorf("got %v: %s", failed, tt.reason)
			}
			var table, object bytes.Buffer
			if err := e.write(&table, false); err != nil {
				t.Fatal(err)
			}
			if err := e.write(&object, true); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tt.want, "invalid") != strings.Contains(table.String(), "first invalid episode in tooldesk_small: envharness: ") {
				t.Errorf("of the cause\n%s", &table)
			}
			if !strings.Contains(table.String(), tt.want) || !strings.Contains(table.String(), "scripted: ") {
				t.Errorf("want %s in\n%s", tt.want, &table)
			}
			var got struct {
				Endpoint endpoint.Usage
				Worlds   map[string]struct{ Model *endpoint.Tally }
			}
			if err := json.Unmarshal(object.Bytes(), &got); err != nil || got.Endpoint.Model != "scripted" || got.Worlds[w.Name].Model == nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// The first world that cannot be judged at all ends the run, before anything else is done in it; nothing is claimed then.
func TestModelNotJudged(t *testing.T) {
	var all []worlds.World
	for _, name := range []string{"tooldesk_small", "keydoor_small"} {
		w, err := worlds.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	some := tiny
	some.model = player(t, endpointtest.Fail(500), "tooldesk_small,keydoor_small")
	e, err := run(t.Context(), all, some, "", silent)
	if e != nil || err == nil || !strings.HasPrefix(err.Error(), "tooldesk_small: not judged: none of 4 episodes; the first: envharness: ") ||
		!strings.Contains(err.Error(), "status 500") {
		t.Errorf("got %v, %v", e, err)
	}
	if n := some.model.Usage().Requests; n != 4 {
		t.Errorf("%d requests, want one for each episode in the first world", n)
	}
}

// A run that fails tells what was used, and which worlds were finished; one that no attempt would mend, at once.
func TestModelAccount(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script endpointtest.Script
		want   []string
	}{
		{"refused", endpointtest.Fail(401), []string{"status 401", "-key-env", "finished before that: nothing", "scripted: 1 requests"}},
		{"later", endpointtest.FailAfter(14, 401, endpointtest.Talk), []string{
			"\nworlds: shop_small: not judged: none of 1 episodes", "finished before that: household_small 0.0 % of 1\n", "scripted: 15 requests",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "later" && testing.Short() {
				t.Skip("measures a world")
			}
			code, stdout, stderr := endpointtest.Run(t, tt.script, "-quick", "-tasks", "1", "-worlds", "household_small,shop_small")
			if code != 1 || stdout != "" {
				t.Errorf("exit code %d, printed %q", code, stdout)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("want %q in\n%s", want, stderr)
				}
			}
		})
	}
}

func TestChoose(t *testing.T) {
	a := player(t, endpointtest.Talk, "")
	if len(a.worlds) != 9 || slices.Contains(a.worlds, "deep_sea") || !slices.Contains(a.worlds, "keydoor") {
		t.Errorf("by default %v", a.worlds)
	}
	if a := player(t, endpointtest.Talk, "shop, deep_sea"); strings.Join(a.worlds, " ") != "shop deep_sea" {
		t.Errorf("named: %v", a.worlds)
	}
	if a, err := choose(nil, ""); a != nil || err != nil {
		t.Errorf("%v, %v", a, err)
	}
	if _, err := choose(nil, "shop"); err == nil || !strings.Contains(err.Error(), "-worlds") {
		t.Error(err)
	}
}

func TestModelFlags(t *testing.T) {
	for _, tt := range []struct {
		args         []string
		want, reason string
	}{
		{[]string{"-worlds", "bazaar"}, "-worlds", "there is no such world"},
		{[]string{"-model", ""}, "-endpoint needs", "a server may have several models"},
	} {
		code, stdout, stderr := endpointtest.Run(t, endpointtest.Talk, tt.args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit code %d, printed %q, want 2 and %s: %s", tt.args, code, stderr, tt.want, tt.reason)
		}
	}
}
