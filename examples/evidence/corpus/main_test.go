package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func silent(string) {}

// Names of the environment of a process that builds instead of testing.
const childDir, childDocuments = "THROUGHLINE_TEST_CORPUS_DIR", "THROUGHLINE_TEST_CORPUS_DOCUMENTS"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	documents, err := strconv.Atoi(os.Getenv(childDocuments))
	if err == nil {
		err = buildLoudly(context.Background(), dir, documents)
	}
	exit(err)
}

// child builds in a process of this test.
func child(ctx context.Context, dir string, documents int) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprintf("%s=%d", childDocuments, documents))
	return cmd, nil
}

// small does a little of everything.
var small = effort{quick: true, texts: 1000, copies: 100, leaks: 50, sound: 50, units: 20_000, samples: 200, corpus: 80, kills: 10}

// Every claim holds, with the public data where it is there, and the JSON has the keys that others read.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a dozen corpora")
	}
	data := os.Getenv("THROUGHLINE_DATA")
	e, err := run(t.Context(), data, small, child, silent)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range e.Failures {
		t.Error(f)
	}
	var out bytes.Buffer
	if err := e.write(&out, true); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	paths := "dedup.planted_found dedup.false_removed dedup.largest_cluster dedup.by_similarity dedup.regression.json_words_removed.got " +
		"decontamination.planted_found decontamination.false_hits decontamination.leaks.equal_tool.found quality.web.planted quality.web.caught " +
		"quality.pdf.clean_rejected quality.code.caught quality.md.caught mix.share_error writers.formats.plain.written writers.read_back_failed " +
		"resume.kills resume.identical workers.identical quick"
	for path := range strings.FieldsSeq(paths) {
		var at any = got
		for key := range strings.SplitSeq(path, ".") {
			m, _ := at.(map[string]any)
			at = m[key]
		}
		if at == nil && (data != "" || !strings.HasPrefix(path, "dedup.regression")) {
			t.Errorf("%s is missing", path)
		}
	}
	// The whole JSON is off by more than a point, and that is said.
	if r, ok := e.Dedup.Regression["json_words_removed"]; ok && !r.Within && !slices.ContainsFunc(e.Differences, func(d string) bool {
		return strings.Contains(d, "json_words_removed") && strings.Contains(d, "off by more than 1")
	}) {
		t.Errorf("%+v, and the differences are %q", r, e.Differences)
	}
	out.Reset()
	err = e.write(&out, false)
	if err != nil || strings.Contains(out.String(), "skipped:") != (data == "") || strings.Contains(out.String(), "FAILED") {
		t.Errorf("%v, table:\n%s", err, out.String())
	}
}

func TestFailureIsNamed(t *testing.T) {
	e := new(evidence)
	e.claim(true, "nothing")
	if err := e.failure(); err != nil {
		t.Error(err)
	}
	e.claim(false, "%d of them", 7)
	var out bytes.Buffer
	err := e.write(&out, false)
	if err != nil || e.failure() == nil || !strings.Contains(out.String(), "FAILED 7 of them") {
		t.Errorf("%v, %v, %q", err, e.failure(), out.String())
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, "", small, child, silent); err == nil {
		t.Error("an interrupted run gave a result")
	}
}

// Data that is named and not there is an error: nothing is skipped by mistake.
func TestMissingData(t *testing.T) {
	if _, err := run(t.Context(), t.TempDir(), small, child, silent); err == nil {
		t.Error("a run without the data that it was told of gave a result")
	}
}

// A form that loses something is found out: the comparison sees every part of a conversation.
func TestEssence(t *testing.T) {
	records, err := everyRecord(t.Context(), effort{samples: 30})
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		s := records[i].Sample
		if s == nil || len(s.Tools) == 0 || len(s.Messages) < 3 || len(s.Messages[1].Calls) == 0 {
			continue
		}
		before, err := essence("openai", &records[i])
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(){
			"tool":   func() { s.Tools[0].Description += "!" },
			"user":   func() { s.Messages[0].Content += "!" },
			"call":   func() { s.Messages[1].Calls[0].Arguments = json.RawMessage(`{"x":1.50}`) },
			"result": func() { s.Messages[2].Content += "!" },
		} {
			change()
			after, err := essence("openai", &records[i])
			if err != nil || after == before {
				t.Errorf("%s: %v, nothing is seen of the change", name, err)
			}
			before = after
		}
		return
	}
	t.Error("no conversation has a call")
}
