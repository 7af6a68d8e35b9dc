package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

func TestMain(m *testing.M) { endpointtest.Main(m, main) }

// With a model there is one seed, without and with skills, and what was used.
func TestModel(t *testing.T) {
	if testing.Short() {
		t.Skip("main jobs but for the training")
	}
	w, err := worlds.Find("tooldesk_small")
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := endpointtest.NewOracle(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := endpointtest.Run(t, oracle.Answer, "-tasks", "2", "-json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got modelEvidence
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Seeds) != 1 {
		t.Fatalf("%v: %s", err, stdout)
	}
	s := got.Seeds[0]
	if s.Seed != 1 || s.Test[0].Passed != 2 || s.Test[1].Passed != 2 || s.Validation[1].Passed != 2 || s.OOD[1].Passed != 2 || s.Rigged != 1 {
		t.Errorf("%+v", s)
	}
	if e := got.Endpoint; e.Model != "scripted" || e.Tasks != 2 || e.Episodes < 12 || e.Requests < e.Episodes || e.Invalid != 0 {
		t.Errorf("%+v", e)
	}
	code, stdout, stderr = endpointtest.Run(t, endpointtest.Talk, "-tasks", "1", "-seeds", "2")
	if code != 0 || strings.Count(stdout, "0.0 % of 1") != 12 || !strings.Contains(stdout, "not trained") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}

func TestModelFails(t *testing.T) {
	if code, stdout, stderr := endpointtest.Run(t, endpointtest.Talk, "-at-once", "0"); code != 2 || stdout != "" || !strings.Contains(stderr, "-at-once") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
	code, stdout, stderr := endpointtest.Run(t, endpointtest.Fail(401))
	if code != 1 || stdout != "" || !strings.Contains(stderr, "status 401") || !strings.Contains(stderr, "used: scripted: 1 requests") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
	if testing.Short() {
		t.Skip("main jobs up to the model")
	}
	if code, stdout, stderr := endpointtest.Run(t, endpointtest.Fail(500)); code != 1 || stdout != "" || !strings.Contains(stderr, "could be judged") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
	if code, stdout, stderr := endpointtest.Interrupt(t); code != 130 || stdout != "" {
		t.Errorf("interrupted: exit code %d, printed %q and %q", code, stdout, stderr)
	}
}
