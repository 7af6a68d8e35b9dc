package teach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/internal/filelock"
	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// ErrAnswers says that the file of answers cannot be used: it is damaged, locked, closed or cannot be written. It ends a run:
// without the file, answers that were paid for would be lost.
var ErrAnswers = errors.New("midtool: file of answers")

const (
	answersHeader = `{"midtool_answers":1}` + "\n"
	// An answer of maxAnswer bytes, each escaped to six at most, and the rest of the record.
	maxRecord = 6*(maxAnswer+16) + 1024
)

// Remember returns a Generator that answers a prompt from a file of JSON lines if it is there, and else asks g and adds the
// answer to the file. The file, which is made if it is not there, starts with {"midtool_answers":1}; the other lines are
//
//	{"prompt":"<SHA-256 of the prompt, 64 hex digits>","answer":"..."}
//
// An answer is on the disk before it is returned. So a run that was stopped at any point goes on without asking twice, and a
// run over a complete file asks nothing and gives the same bytes. A failure of g is not kept: the same prompt is asked again.
//
// An answer is given back the same way each time: invalid UTF-8 as U+FFFD, and of one above 1 MiB so much that it stays above.
// What a crash left of a last line is cut off; any other damage is an error with the line. One Generator at a time has the
// file, which other systems than Plan 9, JS and WASI make sure of. In memory are some 100 bytes for each answer.
//
// The Generator is safe for concurrent use; all its errors but those of g are [ErrAnswers]. The Closer ends its use.
func Remember(g midtool.Generator, path string) (midtool.Generator, io.Closer, error) {
	fail := func(err error) (midtool.Generator, io.Closer, error) {
		return nil, nil, fmt.Errorf("%w: %w", ErrAnswers, err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	f, err := filelock.Open(root, filepath.Base(path))
	if err != nil {
		return fail(err)
	}
	a := &answers{path: path, file: f, at: make(map[[sha256.Size]byte]place)}
	if err := a.read(); err != nil {
		f.Close()
		return fail(err)
	}
	return func(ctx context.Context, prompt string) (string, error) { return a.answer(ctx, g, prompt) }, a, nil
}

// answers is an open file. Values are read from it when they are asked for.
type answers struct {
	path string

	mu   sync.Mutex
	file *os.File // nil after Close
	end  int64    // of the last whole line
	at   map[[sha256.Size]byte]place
	bad  error // the first failure to write
}

// place is where a line is, without its line break.
type place struct {
	start int64
	size  int
}

// read finds the records and cuts off a last line that is not whole.
func (a *answers) read() error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	size, number := info.Size(), 0
	for line, err := range jsonl.Lines(io.NewSectionReader(a.file, 0, size), maxRecord) {
		number++
		if errors.Is(err, jsonl.ErrTooLong) && number == 1 {
			return fmt.Errorf("%s is another kind of file", a.path)
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", a.path, number, err)
		}
		after := a.end + int64(len(line)) + 1
		whole := after <= size
		switch {
		case number > 1 && !whole, number == 1 && !whole && strings.HasPrefix(answersHeader, string(line)):
			continue // the last one
		case number == 1 && string(line)+"\n" != answersHeader:
			return fmt.Errorf("%s is another kind of file: the first line is not %s", a.path, answersHeader[:len(answersHeader)-1])
		case number > 1:
			key, _, err := readRecord(line)
			if err != nil && after == size && bytes.IndexByte(line, 0) >= 0 {
				continue // power went before all of the line was on the disk
			}
			if err != nil {
				return fmt.Errorf("%s line %d: %w", a.path, number, err)
			}
			if _, known := a.at[key]; !known {
				a.at[key] = place{a.end, len(line)}
			}
		}
		a.end = after
	}
	if a.end < size {
		if err := errors.Join(a.file.Truncate(a.end), a.file.Sync()); err != nil {
			return err
		}
	}
	if a.end == 0 {
		return a.append([]byte(answersHeader))
	}
	return nil
}

// append writes a line and waits until it is on the disk.
func (a *answers) append(line []byte) error {
	if _, err := a.file.WriteAt(line, a.end); err != nil {
		return err
	}
	if err := a.file.Sync(); err != nil {
		return err
	}
	a.end += int64(len(line))
	return nil
}

func (a *answers) answer(ctx context.Context, g midtool.Generator, prompt string) (string, error) {
	key := sha256.Sum256([]byte(prompt))
	if text, ok, err := a.known(key); ok || err != nil {
		return text, err
	}
	text, err := g(ctx, prompt)
	if err != nil {
		return "", err
	}
	return a.keep(key, strings.ToValidUTF8(cut(text, maxAnswer+4), "\uFFFD"))
}

func (a *answers) known(key [sha256.Size]byte) (string, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.look(key)
}

// look needs the lock.
func (a *answers) look(key [sha256.Size]byte) (string, bool, error) {
	if a.file == nil {
		return "", false, fmt.Errorf("%w: %s: %w", ErrAnswers, a.path, fs.ErrClosed)
	}
	p, ok := a.at[key]
	if !ok {
		return "", false, nil
	}
	line := make([]byte, p.size)
	if _, err := a.file.ReadAt(line, p.start); err != nil {
		return "", false, fmt.Errorf("%w: %w", ErrAnswers, err)
	}
	_, text, err := readRecord(line)
	if err != nil {
		return "", false, fmt.Errorf("%w: %s at byte %d: %w", ErrAnswers, a.path, p.start, err)
	}
	return text, true, nil
}

// keep adds an answer. Of two answers to one prompt, asked at the same time, the first one counts for both.
func (a *answers) keep(key [sha256.Size]byte, text string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok, err := a.look(key); ok || err != nil {
		return first, err
	}
	line := append(appendRecord(nil, key, text), '\n')
	start := a.end
	if a.bad == nil {
		a.bad = a.append(line)
	}
	if a.bad != nil { // what is in the file after its end is not known any more
		return "", fmt.Errorf("%w: %w", ErrAnswers, a.bad)
	}
	a.at[key] = place{start, len(line) - 1}
	return text, nil
}

// Close gives the file back. It does nothing the second time.
func (a *answers) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

func appendRecord(dst []byte, key [sha256.Size]byte, text string) []byte {
	prompt := jsonval.NewString(hex.EncodeToString(key[:]))
	v := jsonval.NewObject(jsonval.Pair("prompt", prompt), jsonval.Pair("answer", jsonval.NewString(text)))
	return v.Append(dst, jsonval.Compact)
}

func readRecord(line []byte) (key [sha256.Size]byte, text string, err error) {
	v, err := jsonval.Parse(line)
	if err != nil {
		return key, "", err
	}
	prompt, answer := v.Get("prompt"), v.Get("answer")
	if len(v.Members) != 2 || prompt == nil || answer == nil || prompt.Kind != jsonval.String || answer.Kind != jsonval.String {
		return key, "", errors.New(`want an object with strings "prompt" and "answer" alone`)
	}
	sum, err := hex.DecodeString(prompt.Text)
	if err != nil || len(sum) != len(key) {
		return key, "", errors.New(`"prompt": want 64 hex digits`)
	}
	return [sha256.Size]byte(sum), answer.Text, nil
}
