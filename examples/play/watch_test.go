package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness/openai/openaitest"
	"github.com/throughline-go/throughline/examples/internal/endpoint/endpointtest"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

const marker = "sk-MARKER-8102"

// A model plays in place of the person: what it is shown and does is told, and the verdict at the end.
func TestWatch(t *testing.T) {
	t.Setenv("PLAY_TEST_KEY", marker)
	w, err := worlds.Find("keydoor_small")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := w.Tasks(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := endpointtest.NewOracle(t.Context(), w, tasks[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, stdout, stderr, reason string
		script                       endpointtest.Script
		code                         int
		args                         []string
	}{
		{"oracle", "turns: pass, score 1.00", "", "it does what the oracle does", oracle.Answer, 0, nil},
		{"oracle shown", "played by scripted\n\nGoal: leave room 1.", "", "it starts with what the model is shown", oracle.Answer, 0, nil},
		{"oracle acts", "turn 1> right", "", "each action is told", oracle.Answer, 0, nil},
		{"talker", "turn 12> an answer that is no action", "", "an answer without a call takes a turn", endpointtest.Talk, 0, nil},
		{"control", "left \uFFFD[2J", "", "a model has no hold of the terminal", func(openaitest.Request) openaitest.Reply {
			return openaitest.Reply{Calls: []openaitest.Call{{Name: "left", Args: `{"x":"\u001b[2J"}`}}}
		}, 0, nil},
		{"broken", "turn 1> openai: status 500", "could be judged", "there is no verdict", endpointtest.Fail(500), 1, nil},
		{"no such task", "", "no such task", "the model is not blamed", endpointtest.Talk, 2, []string{"-task", "none"}},
		{"no such key", "", "-key-env", "it is asked for", endpointtest.Talk, 2, []string{"-key-env", "PLAY_TEST_NONE"}},
		{"no model", "", "-model", "a server may have several", endpointtest.Talk, 2, []string{"-model", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			args := append([]string{"-world", w.Name, "-split", "test", "-endpoint", endpointtest.Serve(t, tt.script), "-model", "scripted",
				"-key-env", "PLAY_TEST_KEY", "-retries", "0"}, tt.args...)
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), args, io.LimitReader(nil, 0), &stdout, &stderr, false)
			if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("exit code %d, printed %q and %q, want %d, %q and %q: %s", code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr, tt.reason)
			}
			if strings.Contains(stdout.String(), "refused (bad_args): the answer calls no tool") {
				t.Errorf("the world's text tells of a refusal, and it is told once more:\n%s", &stdout)
			}
			if strings.Contains(stdout.String()+stderr.String(), marker) {
				t.Error("the key was printed")
			}
		})
	}
}
