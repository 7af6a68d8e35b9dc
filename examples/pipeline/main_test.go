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
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBadInput(t *testing.T) {
	const good = `{"name":"ping","description":"Check that a host answers.","inputSchema":{"type":"object"}}`
	malformed := write(t, "tools.jsonl", good+"\n{\"name\": \"ping\",\n")
	empty := t.TempDir()
	foreign := filepath.Dir(write(t, "notes.txt", "mine"))
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.MkdirAll(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "SKILL.md"), []byte("---\nname: [\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good1 := write(t, "good.jsonl", good+"\n")
	gpl := write(t, "gpl.jsonl", `{"server":"s","licence":"GPL-3.0-only","tools":[`+good+`]}`+"\n")
	tests := []struct {
		name   string
		args   []string
		want   string // in what is printed to standard error
		reason string
	}{
		{"unknown flag", []string{"-nope"}, "-nope", "a flag that does not exist is named"},
		{"negative budget", []string{"-budget", "-1"}, "budget -1", "a budget cannot be negative"},
		{"budget no number", []string{"-budget", "many"}, "many", "a budget is a number"},
		{"negative seed", []string{"-seed", "-3"}, "-3", "seeds are unsigned"},
		{"no workers", []string{"-workers", "0"}, "0 workers", "someone has to do the work"},
		{"unknown algorithm", []string{"-algo", "magic"}, "reinforce++", "the names that there are, are listed"},
		{"argument", []string{"extra"}, "extra", "there are no arguments"},
		{"absent tools", []string{"-tools", filepath.Join(empty, "none.jsonl")}, "none.jsonl", "a file that cannot be read is named"},
		{"tools is a folder", []string{"-tools", empty}, empty, "a folder is no file of tools"},
		{"empty tools", []string{"-tools", write(t, "empty.jsonl", "")}, "empty.jsonl", "a file without a tool is useless"},
		{"malformed line", []string{"-tools", malformed}, malformed + ":2", "the line is named as file:line"},
		{"no usable tool", []string{"-quick", "-tools", gpl}, gpl + ":1", "why the only tool is left out is told"},
		{"absent openapi", []string{"-openapi", filepath.Join(empty, "none.yaml")}, "none.yaml", "a file that cannot be read is named"},
		{"openapi is none", []string{"-openapi", good1}, good1, "a file of tools is no OpenAPI document"},
		{"openapi without operations", []string{"-openapi", write(t, "api.yaml", "openapi: 3.0.0\npaths: {}\n")}, "api.yaml", "a document without an operation is useless"},
		{"unlicensed operations", []string{"-quick", "-openapi", write(t, "gpl.yaml", "openapi: 3.0.0\ninfo: {license: {name: GPL-3.0-only}}\npaths: {/a: {get: {}}}\n")},
			"gpl.yaml", "why the only tool is left out is told"},
		{"absent docs", []string{"-docs", filepath.Join(empty, "none")}, "none", "a folder that cannot be read is named"},
		{"empty docs", []string{"-docs", empty}, empty, "a folder without a document is useless"},
		{"absent skills", []string{"-skills", filepath.Join(empty, "none")}, "none", "a folder that cannot be read is named"},
		{"empty skills", []string{"-skills", empty}, empty, "a folder without a skill is useless"},
		{"only broken skills", []string{"-skills", filepath.Dir(broken)}, "SKILL.md", "the reason why nothing loads is told"},
		{"out holds other files", []string{"-out", foreign}, foreign, "files of the user are never mixed with artifacts"},
		{"out below a file", []string{"-out", filepath.Join(malformed, "x", "y")}, malformed, "the folder could not be made after the run"},
		{"out is a file", []string{"-out", malformed}, malformed, "artifacts need a folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			out := filepath.Join(t.TempDir(), "out")
			args := tt.args
			if args[0] != "-out" && args[0] != "extra" {
				args = append([]string{"-out", out}, args...)
			}
			var stdout, stderr bytes.Buffer
			if code := run(context.Background(), args, &stdout, &stderr, false); code != 2 {
				t.Errorf("exit code %d, want 2: %s", code, tt.reason)
			}
			if !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("printed %q, want it to name %q: %s", stderr.String(), tt.want, tt.reason)
			}
			if stdout.Len() > 0 {
				t.Errorf("printed %q on standard output", stdout.String())
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s was made", out)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"-quick", "-out", out}, &stdout, &stderr, false); code != 130 {
		t.Errorf("exit code %d, want 130; printed %q", code, stderr.String())
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("artifacts of an interrupted run were written")
	}
}

func TestJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole run")
	}
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), []string{"-quick", "-json", "-out", out}, &stdout, &stderr, false); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var got map[string]any
	dec := json.NewDecoder(&stdout)
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if dec.More() {
		t.Error("more than one value was printed")
	}
	want := map[string][]string{
		"seed": nil, "seconds": nil,
		"corpus": {"abilities", "documents", "duplicates", "families", "grounded", "native", "native_share", "recorded", "rejected", "samples",
			"tokens"},
		"skills":      {"count", "gated", "median_utility", "memory_level", "parts", "placebo"},
		"selection":   {"budget", "guarantee", "mean_tokens"},
		"environment": {"accepted", "candidates", "rollouts", "success_base", "success_wrapped", "tasks"},
		"training":    {"iterations", "success_after", "success_before"},
	}
	keys := map[string][]string{}
	for k, v := range got {
		keys[k] = nil
		if m, ok := v.(map[string]any); ok {
			for _, sub := range []string{"abilities", "accepted", "budget", "candidates", "count", "documents", "duplicates", "families", "gated", "grounded", "guarantee",
				"iterations", "mean_tokens", "median_utility", "memory_level", "native", "native_share", "parts", "placebo", "recorded", "rejected", "rollouts", "samples", "success_after", "success_base", "success_before", "success_wrapped", "tasks", "tokens"} {
				if _, ok := m[sub]; ok {
					keys[k] = append(keys[k], sub)
					delete(m, sub)
				}
			}
			if len(m) > 0 {
				t.Errorf("%s has further keys: %v", k, m)
			}
		}
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	for _, f := range []string{"corpus.jsonl", "documents.jsonl", "trajectories.jsonl", "metrics.json", "skills"} {
		if _, err := os.Stat(filepath.Join(out, f)); err != nil {
			t.Error(err)
		}
	}
	if lines := strings.Count(stderr.String(), "\n"); lines < 5 {
		t.Errorf("%d lines of progress, want one for each stage:\n%s", lines, stderr.String())
	}
}

// What is left out of the caller's own files is told, also where the rest is enough for a run.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"good":   "---\nname: good\ndescription: Water the plants.\n---\n- Procedure: fill → pour\n",
		"broken": "---\nname: broken\ndescription: [\n---\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var stdout bytes.Buffer
	stderr := stopAt{stage: "induce skills", cancel: cancel} // the warnings come before
	if code := run(ctx, []string{"-quick", "-skills", dir}, &stdout, &stderr, false); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if got := stderr.String(); !strings.Contains(got, "left out or repaired: ") || !strings.Contains(got, filepath.Join("broken", "SKILL.md")) {
		t.Errorf("printed %q, want a line on the broken skill", got)
	}
}

// stopAt cancels when a stage is named.
type stopAt struct {
	bytes.Buffer
	stage  string
	cancel func()
}

func (s *stopAt) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.stage)) {
		s.cancel()
	}
	return s.Buffer.Write(p)
}

func TestManyWarnings(t *testing.T) {
	var b bytes.Buffer
	p := progress{w: &b}
	for range mostWarnings + 3 {
		p.warn("x")
	}
	p.finish()
	if got := b.String(); strings.Count(got, "\n") != mostWarnings+1 || !strings.HasSuffix(got, "and 3 more left out or repaired\n") {
		t.Errorf("printed %q", got)
	}
}

func TestProgress(t *testing.T) {
	var plain, bar bytes.Buffer
	for _, p := range []*progress{{w: &plain}, {w: &bar, bar: true}} {
		for i := range 3 {
			p.show("count", i+1, 3)
		}
		p.show("next", 0, 0)
		p.end()
	}
	if got, want := plain.String(), "count: 3 of 3 done\nnext: 0 of 0 done\n"; got != want {
		t.Errorf("plain progress %q, want %q", got, want)
	}
	if got := bar.String(); !strings.Contains(got, "[##########....................] 1/3") || !strings.HasSuffix(got, "\n") {
		t.Errorf("bar %q", got)
	}
}
