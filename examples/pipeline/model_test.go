package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

const marker = "sk-MARKER-3321"

// Flags for a model are checked before anything is done, and tell no secret.
func TestModelFlags(t *testing.T) {
	t.Setenv("PIPELINE_TEST_KEY", marker)
	for _, tt := range []struct {
		name, want, reason string
		args               []string
	}{
		{"no model", "-model", "both or none", []string{"-endpoint", "http://127.0.0.1:1/v1"}},
		{"no endpoint", "-endpoint", "both or none", []string{"-model", "m"}},
		{"no such key", "-key-env names PIPELINE_TEST_NONE", "a key that is asked for must be there",
			[]string{"-endpoint", "http://127.0.0.1:1/v1", "-model", "m", "-key-env", "PIPELINE_TEST_NONE"}},
		{"secret in the URL", "-key-env", "there is a better place",
			[]string{"-endpoint", "http://u:" + marker + "@127.0.0.1:1/v1", "-model", "m"}},
		{"unencrypted", "-allow-http", "anyone could read it",
			[]string{"-endpoint", "http://example.com/v1", "-model", "m", "-key-env", "PIPELINE_TEST_KEY"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(context.Background(), tt.args, &stdout, &stderr, false)
			if code != 2 || !strings.Contains(stderr.String(), tt.want) || strings.Contains(stderr.String(), marker) || stdout.Len() > 0 {
				t.Errorf("exit code %d, printed %q, want 2 and %s: %s", code, stderr.String(), tt.want, tt.reason)
			}
		})
	}
}

// pipeline runs the command with a scripted model.
func pipeline(t *testing.T, ctx context.Context, script endpointtest.Script, more ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("PIPELINE_TEST_KEY", marker)
	args := append([]string{"-quick", "-endpoint", endpointtest.Serve(t, script), "-model", "scripted", "-key-env", "PIPELINE_TEST_KEY",
		"-retries", "0", "-tasks", "2"}, more...)
	var out, diagnostics bytes.Buffer
	code = run(ctx, args, &out, &diagnostics, false)
	if strings.Contains(out.String()+diagnostics.String(), marker) {
		t.Error("the key was printed")
	}
	return code, out.String(), diagnostics.String()
}

// A run with a model has the keys of any other, and what the model used.
func TestModelJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole run but for the training")
	}
	w, err := worlds.Find("tooldesk_small")
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := endpointtest.NewOracle(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := pipeline(t, t.Context(), oracle.Answer, "-json", "-price", "1,1", "-out", out)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got map[string]map[string]any
	var seed struct{ Seed, Seconds float64 }
	if err := json.Unmarshal([]byte(stdout), &seed); err != nil || seed.Seed != 1 || !(seed.Seconds > 0) {
		t.Fatalf("%+v, %v", seed, err)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stdout), &parts); err != nil {
		t.Fatal(err)
	}
	delete(parts, "seed")
	delete(parts, "seconds")
	rest, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(rest, &got); err != nil || len(got) != 6 {
		t.Fatalf("%d parts, want those of any run and endpoint: %v", len(got), err)
	}
	for _, key := range []string{
		"model", "requests", "retries", "tokens", "input_tokens", "cached_tokens", "output_tokens", "cost", "tasks", "episodes", "invalid",
	} {
		if _, ok := got["endpoint"][key]; !ok {
			t.Errorf("endpoint has no %s", key)
		}
	}
	if e := got["endpoint"]; e["model"] != "scripted" || e["tasks"] != 2.0 || e["invalid"] != 0.0 {
		t.Errorf("endpoint %v", e)
	}
	splits, _ := got["endpoint"]["splits"].(map[string]any)
	for _, split := range []string{"validation", "test", "ood"} {
		for _, told := range []string{"without_skills", "with_skills"} {
			of, _ := splits[split].(map[string]any)
			if want := map[string]any{"passed": 2.0, "judged": 2.0, "invalid": 0.0}; !cmp.Equal(of[told], any(want)) {
				t.Errorf("%s %s: %v, want %v", split, told, of[told], want)
			}
		}
	}
	if env := got["environment"]; (env["success_wrapped"] == nil) != (env["accepted"] == 0.0) {
		t.Errorf("environment %v", env)
	}
	if r := got["training"]; r["success_after"] != 1.0 || r["iterations"] != 0.0 {
		t.Errorf("training %v", r)
	}
	if _, err := os.Stat(filepath.Join(out, "trajectories.jsonl")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(stderr, "model on test: 2 of 2 done") || !strings.Contains(stderr, "model on test, skills: 2 of 2 done") {
		t.Errorf("progress %q", stderr)
	}
}

// A key that is refused ends the run before its work, and tells what was asked.
func TestModelRefused(t *testing.T) {
	code, stdout, stderr := pipeline(t, t.Context(), endpointtest.Fail(401))
	if code != 1 || stdout != "" || !strings.Contains(stderr, "status 401") || !strings.Contains(stderr, "used: scripted: 1 requests") ||
		strings.Contains(stderr, "done") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}

// A run that a limit of costs ends tells what was finished, and what it cost.
func TestModelAccount(t *testing.T) {
	if testing.Short() {
		t.Skip("what comes before the model")
	}
	// An episode of 12 turns without a call, and some: the limit is reached while test tasks are played.
	code, stdout, stderr := pipeline(t, t.Context(), endpointtest.Talk, "-price", "1000000,1000000", "-max-cost", "100000", "-tasks", "1")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "finished before that: model on validation 0.0 % of 1; ") ||
		!strings.Contains(stderr, "the limit of costs is reached") || !strings.Contains(stderr, ", cost 1") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}

// A server that fails ends the run as failed, and an interrupt as interrupted; neither prints a rate.
func TestModelFails(t *testing.T) {
	if testing.Short() {
		t.Skip("what comes before the model")
	}
	code, stdout, stderr := pipeline(t, t.Context(), endpointtest.Fail(500))
	if code != 1 || stdout != "" || !strings.Contains(stderr, "none of 2 episodes of the model could be judged") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	code, stdout, stderr = pipeline(t, ctx, func(q openaitest.Request) openaitest.Reply {
		if endpointtest.IsPing(q) {
			return endpointtest.Talk(q)
		}
		cancel()
		return openaitest.Reply{Hang: true}
	})
	if code != 130 || stdout != "" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
	}
}
