package main

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

func TestMain(m *testing.M) { endpointtest.Main(m, main) }

// knowing plays the worlds of the part as their oracles do.
func knowing(t *testing.T) endpointtest.Script {
	t.Helper()
	var all []*endpointtest.Oracle
	for _, name := range modelWorlds {
		w, err := worlds.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		o, err := endpointtest.NewOracle(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return func(q openaitest.Request) openaitest.Reply {
		for _, o := range all {
			if r := o.Answer(q); len(r.Calls) > 0 {
				return r
			}
		}
		return endpointtest.Talk(q)
	}
}

func decode(t *testing.T, stdout string) *modelResult {
	t.Helper()
	var got struct{ Model *modelResult }
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Model == nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return got.Model
}

// The model is the policy that is watched and rigged: one that passes everything is given harder candidates, and one that passes half of the
// time is left alone.
func TestModel(t *testing.T) {
	script := knowing(t)
	code, stdout, stderr := endpointtest.Run(t, script, "-json", "-tasks", "1")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	got := decode(t, stdout)
	if len(got.Tasks) != len(modelWorlds) || got.Designer != "rules" || got.Rollouts < 5*len(modelWorlds) || got.Endpoint.Requests < got.Turns {
		t.Errorf("%+v", got)
	}
	for _, row := range got.Tasks {
		if row.Baseline != (rigger.Tally{Pass: 5, Valid: 5}) || row.Candidates == 0 {
			t.Errorf("%s: %+v", row.World, row)
		}
	}

	var episodes atomic.Int32
	code, stdout, stderr = endpointtest.Run(t, func(q openaitest.Request) openaitest.Reply {
		if len(q.Messages) == 2 { // the first request of an episode
			switch n := episodes.Add(1); {
			case n == 1: // and this one is played again
				return endpointtest.Fail(500)(q)
			case n%2 == 0:
				return openaitest.Reply{Refusal: "Not today."}
			}
		}
		return script(q)
	}, "-json", "-tasks", "1", "-at-once", "1")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, row := range decode(t, stdout).Tasks {
		if row.Outcome != rigger.InBand || row.Candidates != 0 || row.Baseline.Valid != 5 {
			t.Errorf("%s: %+v", row.World, row)
		}
	}
}

// The table names the model, what it did and what it used.
func TestModelTable(t *testing.T) {
	code, stdout, stderr := endpointtest.Run(t, func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Refusal: "No."} }, "-tasks", "1")
	if code != 0 || !strings.Contains(stdout, "rigged for scripted, designed by rules") || !strings.Contains(stdout, "0 of 5") ||
		!strings.Contains(stdout, "scripted: ") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}

// With -design the model is asked for candidates too.
func TestModelDesigns(t *testing.T) {
	script := knowing(t)
	code, stdout, stderr := endpointtest.Run(t, func(q openaitest.Request) openaitest.Reply {
		if len(q.Tools) > 0 {
			return script(q)
		}
		return openaitest.Reply{Text: `{"components": [], "direction": "harder", "target_flaw": "F00", "rationale": "nothing comes to mind"}`}
	}, "-json", "-tasks", "1", "-design")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	got := decode(t, stdout)
	if got.Designer != "the model" {
		t.Errorf("designed by %s", got.Designer)
	}
	for _, row := range got.Tasks {
		if row.Outcome != rigger.NoCandidate {
			t.Errorf("%s: %+v: the designer has nothing to propose", row.World, row)
		}
	}
}

// A server that fails makes no task of the model's a failure: none can be judged, and the program says so.
func TestModelFails(t *testing.T) {
	code, stdout, stderr := endpointtest.Run(t, endpointtest.Fail(500), "-json", "-tasks", "1")
	if code != 1 || !strings.Contains(stderr, "no task could be judged") || !strings.Contains(stderr, "status 500") ||
		!strings.Contains(stderr, "keydoor_small 0 of 1 tasks changed, 1 not judged") || !strings.Contains(stderr, "used: scripted: ") {
		t.Errorf("exit code %d, printed %q", code, stderr)
	}
	for _, row := range decode(t, stdout).Tasks {
		if row.Outcome != rigger.Infra || row.Baseline.Valid != 0 {
			t.Errorf("%s: %+v", row.World, row)
		}
	}
}

// A key that is refused ends the program before its work.
func TestModelRefused(t *testing.T) {
	code, stdout, stderr := endpointtest.Run(t, endpointtest.Fail(403), "-json")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "status 403") || !strings.Contains(stderr, "used: scripted: 1 requests") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}

func TestModelInterrupted(t *testing.T) {
	if code, stdout, stderr := endpointtest.Interrupt(t, "-tasks", "1"); code != 130 || stdout != "" {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}

func TestModelFlags(t *testing.T) {
	for _, tt := range []struct {
		args         []string
		want, reason string
	}{
		{[]string{"-only", "gate"}, "-only gate", "a model has no known rate"},
		{[]string{"-tasks", "0"}, "-tasks", "nothing would be rigged"},
		{[]string{"-model", ""}, "-endpoint needs", "a server may have several models"},
		{[]string{"-model", "", "-endpoint", "", "-key-env", "", "-retries", "0"}, "-key-env", "it would do nothing"},
	} {
		code, stdout, stderr := endpointtest.Run(t, endpointtest.Talk, tt.args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit code %d, printed %q, want 2 and %s: %s", tt.args, code, stderr, tt.want, tt.reason)
		}
	}
}
