package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool/bfcl"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

func score(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

var (
	leaderboard = filepath.Join("testdata", "leaderboard")
	answers     = filepath.Join("testdata", "outputs.jsonl")
)

func TestGoldens(t *testing.T) {
	for _, tt := range []struct {
		name, reason, stderr string
		args                 []string
	}{
		{"outputs", "all forms of answers, ids that are unknown, repeated and missing", "bfcl: multi_turn_base is scored by running code and left out\n",
			[]string{"-outputs", answers, "-v", "9"}},
		{"category", "one category alone", "", []string{"-outputs", answers, "-category", "irrelevance"}},
		{"dots", "a function a.b that the model knows as a_b", "", []string{"-outputs", answers, "-category", "simple_python", "-dots", "-v", "1"}},
		{"gold", "gold and schema disagree in one row; a list is not written as source text", "", []string{"-gold"}},
		{"short", "gold without what may be left out", "", []string{"-gold", "-short", "-category", "simple_python"}},
	} {
		if tt.reason == "" {
			t.Fatal("no reason")
		}
		code, got, stderr := score(t, append(tt.args, "-data", leaderboard)...)
		if code != 0 || stderr != tt.stderr {
			t.Fatalf("%s: exit code %d, %q", tt.name, code, stderr)
		}
		file := filepath.Join("testdata", tt.name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestJSON(t *testing.T) {
	code, out, _ := score(t, "-data", leaderboard, "-outputs", answers, "-json")
	var r bfcl.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v", code, err)
	}
	if len(r.Scores) != 4 || len(r.Failures) != 3 || len(r.Unknown) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestBadInput(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{\"id\": \"simple_python_0\", \"result\": []}\n{\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("THROUGHLINE_DATA", "")
	for _, tt := range []struct {
		code int
		want string
		args []string
	}{
		{2, "-nope", []string{"-nope"}},
		{2, `"extra"`, []string{"extra"}},
		{2, "-data is missing", []string{"-gold"}},
		{2, "want one of", []string{"-data", leaderboard}},
		{2, "want one of", []string{"-data", leaderboard, "-gold", "-outputs", answers}},
		{2, "-short", []string{"-data", leaderboard, "-short", "-outputs", answers}},
		{2, "-v is -1", []string{"-data", leaderboard, "-gold", "-v", "-1"}},
		{1, "bad.jsonl line 2: byte 1", []string{"-data", leaderboard, "-outputs", bad}},
		{1, "no file of category", []string{"-data", leaderboard, "-gold", "-category", "none"}},
		{1, "running code", []string{"-data", leaderboard, "-gold", "-category", "multi_turn_base"}},
		{1, "no file BFCL", []string{"-data", "testdata", "-gold"}},
		{1, "nowhere", []string{"-data", "nowhere", "-gold"}},
		{1, "nothing.jsonl", []string{"-data", leaderboard, "-outputs", "nothing.jsonl"}},
	} {
		code, out, stderr := score(t, tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.want) || out != "" {
			t.Errorf("%q: exit code %d, %q, printed %q; want %d, %q", tt.args, code, stderr, out, tt.code, tt.want)
		}
	}
	if code, _, _ := score(t, "-help"); code != 0 {
		t.Errorf("-help: exit code %d", code)
	}
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestInterruptedAndBroken(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := run(ctx, []string{"-data", leaderboard, "-gold"}, io.Discard, io.Discard); code != 130 {
		t.Errorf("interrupted: exit code %d", code)
	}
	for _, args := range [][]string{{"-gold"}, {"-gold", "-json"}} {
		if code := run(t.Context(), append(args, "-data", leaderboard), broken{}, io.Discard); code != 1 {
			t.Errorf("%q to a broken pipe: exit code %d", args, code)
		}
	}
}
