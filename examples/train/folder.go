package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/internal/atomicfile"
	"github.com/throughline-go/throughline/rl/backbone"
	"github.com/throughline-go/throughline/rl/rollout"
	"github.com/throughline-go/throughline/rl/train"
)

const (
	metricsName     = "metrics.jsonl"
	checkpointsName = "checkpoints"
	curveName       = "curve.png"
	tokenizerName   = "tokenizer.json"
	modelName       = "model.bin"
	resultName      = "result.json"
)

// checkOut reports whether dir can take a run: it must be absent, empty, or hold an earlier run and nothing else, which is replaced; and files can be
// made where it is or will be.
func checkOut(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: -out: %w", errInput, err)
	}
	if len(entries) > 0 && !earlierRun(dir, entries) {
		return fmt.Errorf("%w: -out: %s is neither empty nor exactly what an earlier run wrote", errInput, dir)
	}
	at := filepath.Clean(dir)
	// Lstat, so that a dangling link counts as present.
	for _, err = os.Lstat(at); errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at; _, err = os.Lstat(at) {
		at = filepath.Dir(at)
	}
	probe, err := os.CreateTemp(at, ".probe-*")
	if err != nil {
		return fmt.Errorf("%w: -out: %w", errInput, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// earlierRun reports whether a folder holds a run, complete or not, and nothing else.
func earlierRun(dir string, entries []fs.DirEntry) bool {
	if _, err := readSettings(dir); err != nil {
		return false
	}
	files := []string{runName, metricsName, curveName, tokenizerName, modelName, resultName}
	for _, e := range entries {
		if e.Name() == checkpointsName && e.IsDir() {
			inside, err := os.ReadDir(filepath.Join(dir, checkpointsName))
			if err != nil || slices.ContainsFunc(inside, func(e fs.DirEntry) bool {
				return !e.Type().IsRegular() || checkpointNumber(e.Name()) < 0 && !leftOver(e.Name())
			}) {
				return false
			}
			continue
		}
		if !e.Type().IsRegular() || !slices.Contains(files, e.Name()) && !leftOver(e.Name()) {
			return false
		}
	}
	return true
}

// leftOver reports whether a name is that of a file that atomicfile was writing when the process was killed.
func leftOver(name string) bool {
	rest, dot := strings.CutPrefix(name, ".")
	random, tmp := strings.CutSuffix(rest, ".tmp")
	return dot && tmp && len(random) >= 26 && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// sweep removes what a kill left over in a folder.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && leftOver(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// begin makes dir, and removes the earlier run that checkOut has seen there. Its run.json stays to the last, to be replaced: whenever this
// is interrupted, the folder is that of a run.
func begin(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != runName {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

const checkpointFormat = "iteration-%06d.ckpt"

// checkpointNumber returns the iteration of the checkpoint with that name, or -1 if it is none.
func checkpointNumber(name string) int {
	var n int
	if _, err := fmt.Sscanf(name, checkpointFormat, &n); err != nil || n < 0 || fmt.Sprintf(checkpointFormat, n) != name {
		return -1
	}
	return n
}

// resume loads the latest checkpoint of the run in dir, cuts the metrics back to it, and returns what is left of them: nothing if there is no
// checkpoint, and the run begins anew.
func resume(dir string, t *train.Trainer) ([]train.Iteration, error) {
	path := filepath.Join(dir, metricsName)
	all, ends, err := readMetrics(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	n, err := t.LoadLatest()
	if errors.Is(err, train.ErrCheckpoint) {
		err = fmt.Errorf("%w: %w", errInput, err)
	}
	if err != nil {
		return nil, err
	}
	keep := 0
	if n > 0 {
		keep = 1 + slices.IndexFunc(all, func(it train.Iteration) bool { return it.Number == n })
		if keep == 0 { // the line of an iteration is written before its checkpoint
			return nil, fmt.Errorf("%w: there is a checkpoint of iteration %d, but no line of it in %s", errInput, n, path)
		}
	}
	if err := errors.Join(sweep(dir), sweep(filepath.Join(dir, checkpointsName))); err != nil {
		return nil, err
	}
	var data []byte
	if keep > 0 {
		if data, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		data = data[:ends[keep-1]]
	}
	return all[:keep], atomicfile.Write(path, data, 0o666)
}

// readMetrics returns the iterations in a file of metrics, and where the line of each ends. The last line may be cut short, and is left out
// then; what is otherwise no metrics, or not in order, is an error. A file that is absent holds nothing.
func readMetrics(path string) (all []train.Iteration, ends []int, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for it, err := range train.ReadMetrics(bytes.NewReader(data)) {
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if n := len(all); n > 0 && it.Number != all[n-1].Number+1 || n == 0 && it.Number > 1 {
			return nil, nil, fmt.Errorf("%s: line %d is of iteration %d, want them in order", path, n+1, it.Number)
		}
		all = append(all, it)
	}
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(ends) != len(all) {
		return nil, nil, fmt.Errorf("%s: %d lines hold %d iterations, want no empty lines", path, len(ends), len(all))
	}
	return all, ends, nil
}

// keep saves the state after the last iteration, for resume, if there is a folder and no such checkpoint in it.
func (r *result) keep(dir string, t *train.Trainer) error {
	n := r.iterations()
	if dir == "" || n == 0 {
		return nil
	}
	path := filepath.Join(dir, checkpointsName, fmt.Sprintf(checkpointFormat, n))
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return errors.Join(t.Save(path), r.draw(dir))
}

// A metricsFile takes the lines of metrics. It is opened after the trainer is made.
type metricsFile struct{ f *os.File }

func (m *metricsFile) open(dir string) (err error) {
	m.f, err = os.OpenFile(filepath.Join(dir, metricsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	return err
}

// Write writes a line, and waits until it is on the disk: its checkpoint must not be there before it.
func (m *metricsFile) Write(line []byte) (int, error) {
	n, err := m.f.Write(line)
	if err == nil {
		err = m.f.Sync()
	}
	return n, err
}

func (m *metricsFile) close() { m.f.Close() }

// saveModel writes model.bin, and before it the tokenizer without which its numbers mean nothing.
func saveModel(dir string, m *backbone.Model, words *rollout.Tokenizer) error {
	data, err := json.Marshal(words)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, tokenizerName), append(data, '\n'), 0o666); err != nil {
		return err
	}
	return m.Save(filepath.Join(dir, modelName))
}

// save writes result.json.
func (r *result) save(dir string) error {
	timeless := *r
	timeless.Seconds = 0
	data, err := json.MarshalIndent(&timeless, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, resultName), append(data, '\n'), 0o666)
}
