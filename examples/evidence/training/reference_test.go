package main

import (
	"bytes"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

func TestMain(m *testing.M) { endpointtest.Main(m, main) }

// The reference plays validation tasks of each world, and is written below the gains.
func TestReference(t *testing.T) {
	w, err := worlds.Find("tooldesk_small")
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := endpointtest.NewOracle(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	f := endpoint.Register(set, 10, "tasks")
	if err := set.Parse([]string{"-endpoint", endpointtest.Serve(t, oracle.Answer), "-model", "scripted", "-tasks", "3"}); err != nil {
		t.Fatal(err)
	}
	m, err := f.Open(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	r, err := refer(t.Context(), m, tiny())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Worlds) != 1 || r.Worlds[0].World != w.Name || r.Worlds[0].Passed != 3 || r.Endpoint.Requests == 0 {
		t.Errorf("%+v", r)
	}
	var table bytes.Buffer
	if err := (&evidence{Reference: r}).write(&table, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not trained", "validation success of scripted", "100.0 % of 3", "scripted: "} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("want %q in\n%s", want, &table)
		}
	}
	if r, err := refer(t.Context(), nil, tiny()); r != nil || err != nil {
		t.Errorf("without a model: %v, %v", r, err)
	}
}

// What a model cannot do is told before hours of training.
func TestReferenceFails(t *testing.T) {
	code, stdout, stderr := endpointtest.Run(t, endpointtest.Fail(500), "-quick")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "could be judged") || !strings.Contains(stderr, "status 500") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
	for _, tt := range []struct {
		script endpointtest.Script
		want   []string
	}{
		{endpointtest.Fail(401), []string{"status 401", "finished before that: nothing", "used: scripted: 1 requests"}},
		{endpointtest.FailAfter(13, 401, endpointtest.Talk), []string{ // of one for the start and 12 for a whole episode
			"tooldesk_small: none of 1 episodes", "finished before that: keydoor_small 0.0 % of 1\n", "used: scripted: 14 requests",
		}},
	} {
		code, stdout, stderr := endpointtest.Run(t, tt.script, "-quick", "-tasks", "1")
		for _, want := range tt.want {
			if code != 1 || stdout != "" || !strings.Contains(stderr, want) {
				t.Errorf("exit code %d, printed %q and %q, want %q", code, stdout, stderr, want)
			}
		}
	}
	if code, _, stderr := endpointtest.Run(t, endpointtest.Talk, "-quick", "-tasks", "0"); code != 2 || !strings.Contains(stderr, "-tasks") {
		t.Errorf("exit code %d, printed %q", code, stderr)
	}
	if code, _, stderr := endpointtest.Interrupt(t, "-quick"); code != 130 {
		t.Errorf("interrupted: exit code %d, printed %q", code, stderr)
	}
}
