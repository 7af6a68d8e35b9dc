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

// CheckOut reports whether dir can take the artifacts: it must be absent, empty, or hold an earlier run, whose skills are replaced; and files can be
// made where it is or will be.
func CheckOut(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: out: %w", ErrInput, err)
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, metricsFile)); err != nil {
			return fmt.Errorf("%w: out: %s is not empty and holds no %s of an earlier run", ErrInput, dir, metricsFile)
		}
	}
	at := filepath.Clean(dir)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at {
		at = filepath.Dir(at)
		_, err = os.Stat(at)
	}
	probe, err := os.CreateTemp(at, ".probe-*")
	if err != nil {
		return fmt.Errorf("%w: out: %w", ErrInput, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
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
	var corpus, trajectories bytes.Buffer
	if err := midtool.WriteMessages(&corpus, r.Samples, nil); err != nil {
		return err
	}
	if err := rl.WriteTrajectories(&trajectories, r.Trajectories); err != nil {
		return err
	}
	report := r.Report
	report.Seconds = 0 // timings belong on standard output only
	metrics, err := json.MarshalIndent(struct {
		Report
		Seconds *float64 `json:"seconds,omitempty"` // hides the embedded field
		Table   []Row    `json:"table"`
	}{Report: report, Table: r.Rows}, "", "  ")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{"corpus.jsonl", corpus.Bytes()}, {"trajectories.jsonl", trajectories.Bytes()}, {metricsFile, append(metrics, '\n')}} {
		if err := atomicfile.Write(filepath.Join(dir, f.name), f.data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
