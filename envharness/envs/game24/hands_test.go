package game24

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
)

// data opens a file of the public test data.
func data(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("THROUGHLINE_DATA")
	if dir == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data (toy24)")
	}
	f, err := os.Open(filepath.Join(dir, "toy24", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the folder of THROUGHLINE_DATA has no toy24/" + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// The solver agrees with the list of solvable hands.
func TestSolvabilityOfAllHands(t *testing.T) {
	rows, err := csv.NewReader(data(t, "solve24_1to13.csv")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	solvable := 0
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		id := strings.Join(row[:4], ",")
		seen[id] = true
		g := open(nil)
		reset(t, g, id)
		_, err := g.Plan(ctx)
		if err != nil && !errors.Is(err, envharness.ErrNoPlan) {
			t.Fatal(err)
		}
		if got := err == nil; got != (row[4] == "1") {
			t.Errorf("%s: solvable %v, want %s", id, got, row[4])
		} else if got {
			solvable++
		}
	}
	if len(seen) != 1820 || solvable != 1362 {
		t.Errorf("%d hands, %d solvable, want 1,820 and 1,362", len(seen), solvable)
	}
}
