package mainjob

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/mix"
)

// The budget is that in which the conversations with tools are their share, whatever other sources there are.
func TestBudgetFor(t *testing.T) {
	unit := func(source string, tokens int) mix.Unit { return mix.Unit{Source: source, Tokens: tokens} }
	for _, tt := range []struct {
		name   string
		units  []mix.Unit
		want   int
		reason string
	}{
		{"tools alone", []mix.Unit{unit(nativeSource, 100), unit(nativeSource, 82)}, 182, "nobody else has a share"},
		{"pages", []mix.Unit{unit(nativeSource, 182), unit("web", 5)}, 266, "182 (91 + 42) / 91"},
		{"everything", []mix.Unit{unit(nativeSource, 91), unit("web", 1), unit("code", 1), unit("pdf", 1)}, 182, "half is for documents"},
		{"rounded up", []mix.Unit{unit(nativeSource, 1), unit("web", 1)}, 2, "133/91, so that the one token fits"},
		{"documents alone", []mix.Unit{unit("web", 7)}, 0, "as much as there is"},
	} {
		if got := budgetFor(tt.units); got != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}

// Documents fill at most their share, repetitions are left out, and everything is counted once.
func TestMix(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 1)
	if err := j.readInput(ctx); err != nil {
		t.Fatal(err)
	}
	page := j.documents[0]
	again := page
	again.ID = "again"
	j.documents = append(j.documents, again)
	for i := range 400 {
		text := "# Notes\n\nNothing of use is said here, and that at some length.\n\n" + words(i)
		j.documents = append(j.documents, document.Document{ID: fmt.Sprint("notes", i), Kind: document.Markdown, Text: text})
	}
	if err := j.corpus(ctx); err != nil {
		t.Fatal(err)
	}
	r := j.result.Report.Corpus
	if r.Duplicates == 0 {
		t.Error("the page that was given twice is not counted")
	}
	if slices.ContainsFunc(j.result.Documents, func(d document.Document) bool { return d.ID == "again" }) &&
		slices.ContainsFunc(j.result.Documents, func(d document.Document) bool { return d.ID == page.ID }) {
		t.Error("the same page is in the mix twice")
	}
	if r.NativeShare < 91.0/133 || r.NativeShare > 0.7 || r.Documents >= len(j.documents)-1 {
		t.Errorf("%+v: documents fill more or less than their share", r)
	}
	if r.Samples != r.Native+r.Grounded+r.Recorded || r.Samples != len(j.result.Samples) || r.Documents != len(j.result.Documents) {
		t.Errorf("%+v: %d samples, %d documents", r, len(j.result.Samples), len(j.result.Documents))
	}
	ids := make(map[string]bool)
	for _, s := range j.result.Samples {
		if ids[s.ID] {
			t.Errorf("sample %s is in the mix twice", s.ID)
		}
		ids[s.ID] = true
	}
}

// words are some that no other number has.
func words(n int) string {
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	var out strings.Builder
	for range 60 {
		for range 3 + rng.IntN(5) {
			out.WriteByte(byte('a' + rng.IntN(26)))
		}
		out.WriteByte(' ')
	}
	return out.String()
}

// With tools of the caller's own the corpus has nothing of the desk, and the policy imitates its plans all the same.
func TestMixOfOwnTools(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 1)
	j.Tools = "own.jsonl"
	j.readOnly = map[string]bool{}
	tool := midtool.Tool{Name: "ping_host", Description: "Check whether a host answers to a ping.",
		Parameters: []byte(`{"type":"object","properties":{"host":{"type":"string"}},"required":["host"]}`)}
	j.tools = []midtool.Tool{tool}
	if err := errors.Join(j.readDocuments(ctx), j.corpus(ctx)); err != nil {
		t.Fatal(err)
	}
	r := j.result.Report.Corpus
	if r.Recorded != 0 || r.Documents != 0 || r.Native == 0 || r.NativeShare != 1 || len(j.imitated) != j.demos {
		t.Errorf("%+v, %d samples to imitate", r, len(j.imitated))
	}
}

// Documents and operations of the caller's own are read; what is left out of them is told.
func TestOwnDocuments(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	page, err := handbook.ReadFile("handbook/tickets.md")
	if err != nil {
		t.Fatal(err)
	}
	api := "openapi: 3.0.0\ninfo: {title: Beds, version: '1'}\npaths:\n  /beds/{bed}:\n" +
		"    get: {operationId: get_bed, description: Show one bed of the garden., parameters: [{name: bed, in: path, required: true, schema: {type: integer}}]}\n" +
		"    put: {operationId: dig_bed, deprecated: true}\n"
	for name, text := range map[string]string{
		"tickets.md": string(page), "short.md": "# Too short\n", "gpl.md": "SPDX-License-Identifier: GPL-3.0-only\n\n" + string(page),
		"photo.png": "\x89PNG", "beds.yaml": api,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := newJob(t, 1)
	j.perTool = 40 // so that documents have room beside the samples
	j.Docs, j.OpenAPI = dir, filepath.Join(dir, "beds.yaml")
	var told []string
	j.Warn = func(message string) { told = append(told, message) }
	if err := errors.Join(j.readInput(ctx), j.corpus(ctx)); err != nil {
		t.Fatal(err)
	}
	r := j.result.Report.Corpus
	own := slices.ContainsFunc(j.result.Documents, func(d document.Document) bool { return d.ID == "docs/tickets.md" })
	if r.Grounded == 0 || r.Native == 0 || r.Recorded != 0 || !own {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"dig_bed", "short.md", "photo.png", "GPL-3.0-only"} {
		if !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s is left out and not told: %q", want, told)
		}
	}
}
