package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool/build"
)

func command(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, &out, &errs, false); code != want {
		t.Fatalf("corpus %s: exit code %d, want %d: %s", strings.Join(args, " "), code, want, errs.String())
	}
	return out.String(), errs.String()
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// corpora reads what a trainer reads.
func corpora(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, filepath.Join(dir, "work")) {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Without inputs there is a small corpus, of all kinds of input; a second run has nothing left to do.
func TestSmall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	stdout, stderr := command(t, 0, "-out", dir, "-format", "plain, openai,parquet")
	for _, want := range []string{"docs ", "code ", "skills ", "web ", "native ", "parquet ", filepath.Join(dir, "report.md")} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for _, want := range []string{"read: ", "make: ", "compare: ", "write: "} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	first := corpora(t, dir)
	again, stderr := command(t, 0, "-out", dir, "-format", "plain, openai,parquet")
	if again != stdout || strings.Contains(stderr, "read: ") {
		t.Errorf("the second run prints other things, or reads again: %s%s", again, stderr)
	}
	if diff := cmp.Diff(first, corpora(t, dir)); diff != "" {
		t.Errorf("the second run changed files: %s", diff)
	}

	// The same in three processes, of which the first ones come too early.
	dir = filepath.Join(t.TempDir(), "ranks")
	args := []string{"-format", "plain, openai,parquet", "-out", dir, "-world", "3", "-workers", "1", "-rank"}
	for _, rank := range []string{"0", "1"} {
		if _, stderr := command(t, 3, append(args, rank)...); !strings.Contains(stderr, "other ranks") {
			t.Errorf("rank %s says %s", rank, stderr)
		}
	}
	command(t, 3, append(args, "2")...) // the files of the others are missing now
	command(t, 3, append(args, "1")...)
	command(t, 0, append(args, "0")...)
	if diff := cmp.Diff(first, corpora(t, dir)); diff != "" {
		t.Errorf("three ranks made other files: %s", diff)
	}
}

// Of the small input, what should be left out is.
func TestLeftOut(t *testing.T) {
	stdout, _ := command(t, 0, "-json")
	var r build.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]int{
		"ingest": {"bad_json": 1, "no_text": 1}, "filter": {"mean_word_length": 1},
		"dedup": {"exact_duplicate": 1, "near_duplicate": 1}, "decontaminate": {"n_gram": 1},
	}
	if diff := cmp.Diff(want, r.Inputs["web"].Drops); diff != "" {
		t.Errorf("web (-want +got):\n%s", diff)
	}
	if n := r.Inputs["docs"].Drops["filter"]["words"]; n != 1 {
		t.Errorf("docs: %v", r.Inputs["docs"].Drops)
	}
	for _, name := range []string{"docs", "code", "skills", "web", "native"} {
		if r.Inputs[name].Out == 0 {
			t.Errorf("nothing of %s", name)
		}
	}
	if r.Branches["context"].Records == 0 || r.Branches["native"].Records == 0 {
		t.Errorf("branches %+v", r.Branches)
	}
}

func TestOwnFiles(t *testing.T) {
	docs := t.TempDir()
	page := "# Boats\n\nThe harbor keeps a list of all boats, and the keeper of the harbor reads it aloud every morning. A boat that is not on the list has to leave before noon, and nobody knows why.\n"
	if err := os.WriteFile(filepath.Join(docs, "boats.md"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := write(t, "tools.jsonl", `{"server": "harbor", "tools": [{"name": "list_boats", "description": "Lists all boats in the harbor.", "inputSchema": {"type": "object", "properties": {"owner": {"type": "string"}}}}]}`)
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"-out", dir, "-docs", docs, "-tools", tools, "-samples", "20", "-shortfall", "under", "-budget", "5000"}
	stdout, _ := command(t, 0, args...)
	if !strings.Contains(stdout, "filter/license") || !strings.Contains(stdout, "the corpus is empty") {
		t.Errorf("nothing is told of the license:\n%s", stdout)
	}
	if _, stderr := command(t, 2, append(args, "-license", "MIT")...); !strings.Contains(stderr, "another configuration") {
		t.Errorf("other flags: %s", stderr)
	}
	args[1] = filepath.Join(t.TempDir(), "licensed")
	stdout, _ = command(t, 0, append(args, "-license", "MIT")...)
	if strings.Contains(stdout, "the corpus is empty") {
		t.Error(stdout)
	}
	args[len(args)-1] = "4000"
	if _, stderr := command(t, 2, append(args, "-license", "MIT")...); !strings.Contains(stderr, "Redo") {
		t.Errorf("another budget: %s", stderr)
	}
	command(t, 0, append(args, "-license", "MIT", "-redo")...)
}

func TestBadInput(t *testing.T) {
	empty := t.TempDir()
	none := filepath.Join(empty, "none")
	for _, tt := range []struct {
		name   string
		args   []string
		want   string // in what is printed to standard error
		reason string
	}{
		{"unknown flag", []string{"-nope"}, "-nope", "a flag that does not exist is named"},
		{"argument", []string{"extra"}, "extra", "there are no arguments"},
		{"format", []string{"-format", "plain,songs"}, "songs", "the names that there are, are listed"},
		{"format twice", []string{"-format", "plain,plain"}, "twice", "two outputs cannot have one folder"},
		{"tokenizer", []string{"-format", "pretokenized"}, "pretokenized", "it needs a tokenizer"},
		{"shortfall", []string{"-shortfall", "magic"}, "repeat", "the names that there are, are listed"},
		{"budget", []string{"-budget", "-1"}, "-budget is -1", "a budget cannot be negative"},
		{"rank", []string{"-rank", "2", "-world", "2"}, "-rank is 2", "ranks begin at 0"},
		{"no workers", []string{"-workers", "0"}, "-workers is 0", "someone has to do the work"},
		{"absent tools", []string{"-tools", none}, "none", "a file that cannot be read is named"},
		{"absent api", []string{"-openapi", none}, "none", "the same"},
		{"absent docs", []string{"-docs", none}, "none", "the same"},
		{"absent web", []string{"-web", none}, "none", "the same"},
		{"absent benchmark", []string{"-web", write(t, "web.jsonl", ""), "-benchmarks", none}, "none", "the same"},
		{"docs is a file", []string{"-docs", write(t, "x.md", "x")}, "no folder", "a tree is below a folder"},
		{"no tool", []string{"-tools", write(t, "tools.jsonl", "")}, "no tool", "a file without a tool is useless"},
		{"malformed tools", []string{"-tools", write(t, "tools.jsonl", "{\n")}, "tools.jsonl", "the file and line are named"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			out := filepath.Join(t.TempDir(), "out")
			stdout, stderr := command(t, 2, append([]string{"-out", out}, tt.args...)...)
			if !strings.Contains(stderr, tt.want) || stdout != "" {
				t.Errorf("printed %q and %q, want %q: %s", stdout, stderr, tt.want, tt.reason)
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s was made", out)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"-out", filepath.Join(t.TempDir(), "out")}, &stdout, &stderr, false); code != 130 || !strings.Contains(stderr.String(), "goes on from here") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

func TestProgress(t *testing.T) {
	var plain, bar bytes.Buffer
	for _, p := range []*progress{{w: &plain}, {w: &bar, bar: true}} {
		p.show("read", 150, 0)
		p.show("read", 250, 0)
		for i := range 3 {
			p.show("make", i+1, 3)
		}
		p.show("write", 1, 2)
		p.finish()
	}
	if got, want := plain.String(), "read: 250 done\nmake: 3 of 3 done\nwrite: 1 done\n"; got != want {
		t.Errorf("plain progress %q, want %q", got, want)
	}
	if got := bar.String(); !strings.Contains(got, "read       250 \n") || !strings.Contains(got, "[##########....................] 1/3") || !strings.HasSuffix(got, "\n") {
		t.Errorf("bar %q", got)
	}
}
