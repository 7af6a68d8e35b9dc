package decontaminate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

// readBerkeley reads the single-turn questions of the Berkeley leaderboard.
func readBerkeley(t testing.TB) []Benchmark {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA does not name the folder of public data")
	}
	files, err := filepath.Glob(filepath.Join(dir, "bfcl", "BFCL_v4_*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out []Benchmark
	for _, file := range files {
		if strings.Contains(file, "multi_turn") {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Read(filepath.Base(file), f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// The questions in Python, with all that is said before them, and how many have fewer words than a run.
func TestBerkeleyQuestions(t *testing.T) {
	readBerkeley(t)
	files, err := filepath.Glob(filepath.Join(os.Getenv("THROUGHLINE_DATA"), "bfcl", "BFCL_v4_*.json"))
	if err != nil {
		t.Fatal(err)
	}
	rows, below, distinct := 0, make(map[int]int), make(map[string]bool)
	for _, file := range files {
		if strings.Contains(file, "multi_turn") || strings.Contains(file, "simple_java") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var row struct{ Question [][]struct{ Content string } }
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, turn := range row.Question {
				for _, m := range turn {
					texts = append(texts, m.Content)
				}
			}
			rows++
			text := Normalize(strings.Join(texts, " "))
			distinct[text] = true
			for _, n := range []int{8, 10, 13} {
				if len(strings.Fields(text)) < n {
					below[n]++
				}
			}
		}
	}
	if rows != 3491 || len(distinct) != 3234 || below[8] != 574 || below[10] != 837 || below[13] != 1313 {
		t.Errorf("%d questions, %d distinct, shorter than 8, 10, 13 words: %v; want 3491, 3234, 574, 837, 1313", rows, len(distinct), below)
	}
}

// Every question is found in itself, and every function of its own.
func TestBerkeley(t *testing.T) {
	benchmarks := readBerkeley(t)
	ix, err := NewIndex(benchmarks, nil)
	if err != nil {
		t.Fatal(err)
	}
	questions, functions := 0, 0
	for _, b := range benchmarks {
		for _, it := range b.Items {
			r := Record{Messages: []string{it.Text}}
			rules := []Rule{ShortItem, NGram}
			if it.Function != "" {
				functions++
				properties := make(map[string]any)
				for _, p := range it.Parameters {
					properties[p] = struct{}{}
				}
				schema, err := json.Marshal(map[string]any{"properties": properties})
				if err != nil {
					t.Fatal(err)
				}
				r = Record{Tools: []midtool.Tool{{Name: it.Function, Description: it.Description, Parameters: schema}}}
				rules = []Rule{SameTool}
			} else {
				questions++
			}
			if !slices.ContainsFunc(ix.Scan(&r), func(m Match) bool { return slices.Contains(rules, m.Rule) }) {
				t.Errorf("%s: %s is not found in itself", b.Name, it.ID)
			}
		}
	}
	t.Logf("%d messages, %d functions, %d runs of words", questions, functions, len(ix.grams.runs))
}
