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
		name, want, failure, reason string
		script                      endpointtest.Script
	}{
		{"oracle", "100.0 % of 4", "", "it does what the oracle does", oracle.Answer},
		{"talker", "0.0 % of 4", "", "nothing is claimed of a model", endpointtest.Talk},
		{"once invalid", "100.0 % of 3, 1 invalid", "", "what the server spoils is not in the rate", func(q openaitest.Request) openaitest.Reply {
			if asked.Add(1) == 1 {
				return endpointtest.Fail(502)(q)
			}
			return oracle.Answer(q)
		}},
		{"broken", "- of 0, 4 invalid", "tooldesk_small: none of 4 episodes of the model could be judged", "there is no rate at all",
			endpointtest.Fail(500)},
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
			if failed := e.failure(); (failed != nil) != (tt.failure != "") || failed != nil && !strings.Contains(failed.Error(), tt.failure) {
				t.Errorf("got %v, want %q: %s", failed, tt.failure, tt.reason)
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
