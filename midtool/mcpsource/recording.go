package mcpsource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/internal/atomicfile"
	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// A key is what the answer to a call is stored under.
type key struct {
	tool      string // ID
	after     string // hash of what the session changed before; empty for nothing
	arguments string // canonical JSON
	ordinal   int    // the 1-based number of the call among equal ones
}

func (k key) compare(l key) int {
	return cmp.Or(cmp.Compare(k.tool, l.tool), cmp.Compare(k.after, l.after), cmp.Compare(k.arguments, l.arguments),
		cmp.Compare(k.ordinal, l.ordinal))
}

// A record is a line of the file, after the first. All of it is compared and written as it is.
type record struct {
	Tool      string          `json:"tool"`
	Name      string          `json:"name"` // for readers of the file
	After     string          `json:"after,omitempty"`
	Arguments json.RawMessage `json:"arguments"`
	Ordinal   int             `json:"ordinal"`
	Value     json.RawMessage `json:"value"`
	IsError   bool            `json:"is_error,omitempty"`
}

// header is the first line of the file.
const header = `{"recording":"mcpsource","version":1}`

// maxRecord bounds a line of the file, in bytes: the largest value that package midtool reads.
const maxRecord = jsonval.MaxBytes

// records are the answers known, and those being asked for.
type records struct {
	mu      sync.Mutex
	known   map[key]record
	pending map[key]chan struct{} // closed when the one that asks is done
}

// writable finds out whether the recording can be written, before answers are paid for. What is no regular file is an error too: to open a
// pipe would wait for its other end.
func writable(file string) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file (%v)", file, info.Mode())
	}
	f, err := atomicfile.Create(file, 0o600)
	if err != nil {
		return err
	}
	f.Abort()
	return nil
}

// load reads a recording. One that is missing is empty if it may be.
func load(file string, mayBeMissing bool) (*records, error) {
	f, err := os.Open(file)
	if mayBeMissing && errors.Is(err, fs.ErrNotExist) {
		return &records{known: map[key]record{}, pending: map[key]chan struct{}{}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("mcpsource: recording: %w", err)
	}
	defer f.Close()
	return read(f, file)
}

// read reads a recording; place names it in errors, which hold nothing of what it says.
func read(f io.Reader, place string) (*records, error) {
	r := &records{known: map[key]record{}, pending: map[key]chan struct{}{}}
	begun := false
	lines := jsonl.Values(f, maxRecord, "mcpsource: "+place, func(line []byte, number int) (record, error) {
		if !begun {
			begun = true
			if string(bytes.TrimSpace(line)) != header {
				return record{}, errors.New("the file does not begin as a recording does: " + header)
			}
			return record{}, nil
		}
		return parseRecord(line)
	})
	for one, err := range lines {
		if err != nil {
			return nil, err
		}
		if one.Tool == "" {
			continue // the header
		}
		k := key{one.Tool, one.After, string(one.Arguments), one.Ordinal}
		if _, twice := r.known[k]; twice {
			return nil, fmt.Errorf("mcpsource: %s: two answers to one call of %q", place, one.Name)
		}
		r.known[k] = one
	}
	if !begun {
		return nil, fmt.Errorf("mcpsource: %s: empty, want a recording", place)
	}
	return r, nil
}

func parseRecord(line []byte) (record, error) {
	v, err := jsonval.ParseNested(line, jsonval.LineDepth)
	if err != nil {
		return record{}, err
	}
	one := record{Tool: jsonval.StringOf(v.Get("tool")), Name: jsonval.StringOf(v.Get("name")), After: jsonval.StringOf(v.Get("after"))}
	arguments, value := v.Get("arguments"), v.Get("value")
	ordinal, isCount := 0, false
	if n := v.Get("ordinal"); n != nil && n.Kind == jsonval.Number {
		ordinal, isCount = jsonval.Count(n.Text)
	}
	switch {
	case !isID(one.Tool):
		return record{}, errors.New(`"tool" is not the ID of a tool`)
	case one.After != "" && !isHex(one.After):
		return record{}, errors.New(`"after" is not 16 hex digits`)
	case arguments == nil || arguments.Kind != jsonval.Object:
		return record{}, errors.New(`"arguments" is not an object`)
	case !isCount || ordinal < 1:
		return record{}, errors.New(`"ordinal" is not a number of 1 or more`)
	case value == nil:
		return record{}, errors.New(`"value" is missing`)
	}
	if failed := v.Get("is_error"); failed != nil {
		if failed.Kind != jsonval.Bool {
			return record{}, errors.New(`"is_error" is not a boolean`)
		}
		one.IsError = failed.Text == "true"
	}
	one.Arguments, one.Ordinal, one.Value = arguments.Bytes(jsonval.Canonical), ordinal, value.Bytes(jsonval.Compact)
	return one, nil
}

func isID(s string) bool {
	digits, ok := strings.CutPrefix(s, "t_")
	return ok && isHex(digits)
}

// isHex holds for 16 hex digits in lower case.
func isHex(s string) bool {
	return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// answer returns what is stored under k, or asks and stores that. Of those that want one answer at a time one asks, and the others wait.
func (r *records) answer(ctx context.Context, k key, name string, ask func() (midtool.Result, error)) (midtool.Result, error) {
	for {
		r.mu.Lock()
		one, ok := r.known[k]
		asked := r.pending[k]
		if !ok && asked == nil {
			r.pending[k] = make(chan struct{})
		}
		r.mu.Unlock()
		switch {
		case ok:
			return midtool.Result{Value: bytes.Clone(one.Value), IsError: one.IsError}, nil
		case asked == nil:
			return r.store(k, name, ask)
		}
		select {
		case <-asked: // with an answer, or not, and then the next one asks
		case <-ctx.Done():
			return midtool.Result{}, ctx.Err()
		}
	}
}

func (r *records) store(k key, name string, ask func() (midtool.Result, error)) (midtool.Result, error) {
	result, err := ask()
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.pending[k])
	delete(r.pending, k)
	if err == nil {
		r.known[k] = record{k.tool, name, k.after, json.RawMessage(k.arguments), k.ordinal, bytes.Clone(result.Value), result.IsError}
	}
	return result, err
}

// save writes the recording, in the order of the keys.
func (r *records) save(file string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := make([]key, 0, len(r.known))
	for k := range r.known {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, key.compare)
	f, err := atomicfile.Create(file, 0o600)
	if err != nil {
		return fmt.Errorf("mcpsource: recording: %w", err)
	}
	defer f.Abort()
	if err := r.write(f, keys); err != nil {
		return fmt.Errorf("mcpsource: recording: %w", err)
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("mcpsource: recording: %w", err)
	}
	return nil
}

func (r *records) write(w io.Writer, keys []key) error {
	if _, err := io.WriteString(w, header+"\n"); err != nil {
		return err
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, k := range keys {
		if err := out.Encode(r.known[k]); err != nil {
			return err
		}
	}
	return nil
}
