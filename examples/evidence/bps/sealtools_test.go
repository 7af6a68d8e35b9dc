package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMcNemar(t *testing.T) {
	for _, tt := range []struct {
		b, c   int
		want   float64
		reason string
	}{
		{0, 0, 1, "no discordant pair"},
		{5, 5, 1, "2*(1/2 + half of the middle term) is over 1"},
		{0, 5, 2.0 / 32, "2/2^5"},
		{1, 9, 2 * 11.0 / 1024, "2*(1+10)/2^10"},
		{9, 1, 2 * 11.0 / 1024, "two-sided"},
	} {
		if got := mcnemar(tt.b, tt.c); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("mcnemar(%d, %d) = %v, want %v (%s)", tt.b, tt.c, got, tt.want, tt.reason)
		}
	}
}

func TestSplitClauses(t *testing.T) {
	for _, tt := range []struct {
		query            string
		parts, sentences [][]string
		reason           string
	}{
		{"Look up order 15 and email the customer.", [][]string{{"look", "up", "order", "15"}, {"email", "customer"}},
			[][]string{{"look", "up", "order", "15", "email", "customer"}}, "two parts of one sentence"},
		{"Convert currency. Then book hotel rooms", [][]string{{"convert", "currency"}, {"book", "hotel", "rooms"}}, nil,
			"sentences of one part"},
		{"weather", [][]string{{"weather"}}, nil, "no clause has two words: the whole request is one"},
	} {
		parts, sentences := splitClauses(tt.query)
		if diff := cmp.Diff([2][][]string{tt.parts, tt.sentences}, [2][][]string{parts, sentences}); diff != "" {
			t.Errorf("%q (%s) (-want +got):\n%s", tt.query, tt.reason, diff)
		}
	}
}

func TestSkipsWithoutData(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		seal, err := runSealTools(context.Background(), dir, "", true, func(string) {})
		if err != nil || seal.Skipped == "" || seal.Dev != nil {
			t.Errorf("Seal-Tools in %q: %+v, error %v", dir, seal, err)
		}
		bfcl, err := runBFCL(context.Background(), dir, true, func(string) {})
		if err != nil || bfcl.Skipped == "" || bfcl.Coverage != nil {
			t.Errorf("BFCL in %q: %+v, error %v", dir, bfcl, err)
		}
		var out strings.Builder
		if err := seal.print(&out); err != nil || !strings.Contains(out.String(), "skipped") {
			t.Errorf("printed %q, error %v", out.String(), err)
		}
	}
}

// Twenty tools with a word each; six tasks name two of them, which every method finds, and one does not.
func TestSealToolsOnToyData(t *testing.T) {
	words := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliett " +
		"kilo lima mike november oscar papa quebec romeo sierra tango")
	var tools, tasks strings.Builder
	for _, w := range words {
		line := fmt.Sprintf(`{"api_name":"get_%s","api_description":"Returns %s","field":"","parameters":{},"required":[],"responses":{}}`, w, w)
		fmt.Fprintln(&tools, line)
	}
	for i := range 6 {
		fmt.Fprintf(&tasks, `{"query":"Find some %s here. Then find some %s there.","calling":[{"api":"get_%s"},{"api":"get_%s"}]}`+"\n",
			words[i], words[i+7], words[i], words[i+7])
	}
	tasks.WriteString(`{"query":"Find alpha here.","calling":[{"api":"get_alpha"},{"api":"get_tango"}]}` + "\n") // nobody finds tango
	tasks.WriteString(`{"query":"Find alpha.","calling":[{"api":"get_alpha"}]}` + "\n")                          // one tool
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sealtools"), 0o755); err != nil {
		t.Fatal(err)
	}
	dev := filepath.Join(dir, "sealtools", "dev.jsonl")
	for name, data := range map[string]string{filepath.Join(dir, "sealtools", "tool.jsonl"): tools.String(), dev: tasks.String()} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := runSealTools(context.Background(), dir, dev, true, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if got.Tools != 20 || got.Dev.Tasks != 7 || got.Split.Tasks != 7 || got.Dev.Fit["500"] != 7 {
		t.Errorf("%d tools, %d and %d tasks, want 20, 7 and 7", got.Tools, got.Dev.Tasks, got.Split.Tasks)
	}
	for method, n := range got.Dev.Covered["500"] {
		if n != 6 {
			t.Errorf("%s completes %d tasks, want 6 of 7", method, n)
		}
	}
	if diff := cmp.Diff(got.Dev.Rows, got.Split.Rows); diff != "" {
		t.Errorf("the same file gives other rows (-dev +split):\n%s", diff)
	}
}
