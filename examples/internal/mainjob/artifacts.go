package mainjob

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/throughline-go/throughline/internal/atomicfile"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/skill"
)

// The last file to be written: a folder that holds it holds a complete run.
const metricsFile = "metrics.json"

// CheckOut reports whether dir can take the artifacts: it must be absent, empty, or hold an earlier run and nothing else, which is replaced; none of
// the inputs, files or folders (empty: not given), may lie in it; and files can be made where it is or will be.
func CheckOut(dir string, inputs ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: out: %w", ErrInput, err)
	}
	if len(entries) > 0 && !earlierRun(entries) {
		return fmt.Errorf("%w: out: %s is neither empty nor exactly what an earlier run wrote", ErrInput, dir)
	}
	for _, in := range inputs {
		if in != "" && within(in, dir) {
			return fmt.Errorf("%w: out: %s would be replaced together with %s", ErrInput, in, dir)
		}
	}
	at := filepath.Clean(dir)
	// Lstat, so that a dangling link counts as present.
	for _, err = os.Lstat(at); errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at; _, err = os.Lstat(at) {
		at = filepath.Dir(at)
	}
	probe, err := os.CreateTemp(at, ".probe-*")
	if err != nil {
		return fmt.Errorf("%w: out: %w", ErrInput, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// earlierRun reports whether the entries are exactly those of a complete run. A metrics.json alone proves nothing: many tools write one, and the
// skills folder beside it would be deleted.
func earlierRun(entries []fs.DirEntry) bool {
	types := map[string]fs.FileMode{"corpus.jsonl": 0, "documents.jsonl": 0, metricsFile: 0, "skills": fs.ModeDir, "trajectories.jsonl": 0,
		"environments.json": 0}
	for _, e := range entries {
		if want, ok := types[e.Name()]; !ok || e.Type() != want {
			return false
		}
	}
	return len(entries) == len(types)
}

// within reports whether both exist and path is dir or lies below it.
func within(path, dir string) bool {
	path, errPath := resolve(path)
	dir, errDir := resolve(dir)
	if errPath != nil || errDir != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func resolve(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// Write puts the artifacts into dir, which [CheckOut] accepted. Every file is complete or absent; nothing in them depends on the time.
func (r *Result) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, metricsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	skills := filepath.Join(dir, "skills")
	if err := os.RemoveAll(skills); err != nil {
		return err
	}
	// The run is over: a late interrupt must not leave half of its results.
	if err := skill.WriteDir(context.Background(), skills, r.Skills); err != nil {
		return err
	}
	var corpus, documents, trajectories bytes.Buffer
	if err := midtool.WriteMessages(&corpus, r.Samples, nil); err != nil {
		return err
	}
	enc := json.NewEncoder(&documents)
	enc.SetEscapeHTML(false)
	for _, d := range r.Documents {
		if err := enc.Encode(d); err != nil {
			return err
		}
	}
	if err := rl.WriteTrajectories(&trajectories, r.Trajectories); err != nil {
		return err
	}
	report := r.Report
	report.Seconds = 0 // timings belong on standard output only
	metrics, err := json.MarshalIndent(struct {
		Report
		Seconds *float64 `json:"seconds,omitempty"` // hides the embedded field
		Curve   []Point  `json:"curve"`
		Table   []Row    `json:"table"`
	}{Report: report, Curve: r.Curve, Table: r.Rows}, "", "  ")
	if err != nil {
		return err
	}
	environments, err := json.MarshalIndent(r.Rigged, "", "  ")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"environments.json", append(environments, '\n')}, {"corpus.jsonl", corpus.Bytes()}, {"documents.jsonl", documents.Bytes()},
		{"trajectories.jsonl", trajectories.Bytes()}, {metricsFile, append(metrics, '\n')},
	} {
		if err := atomicfile.Write(filepath.Join(dir, f.name), f.data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
