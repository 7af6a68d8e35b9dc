package rigger

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/filelock"
	"github.com/throughline-go/throughline/internal/jsonl"
)

// ErrLocked says that a journal is open already, in this process or another one.
var ErrLocked = errors.New("rigger: the journal is in use")

// A Journal keeps what was paid for, rollouts of policy and reference and answers of the designer, in a file, so that a run that was
// interrupted at any point, killed too, goes on without paying again: it is started anew with the same problem and options, and finds what it
// needs in the journal. Runs of other problems and options may use the same journal, one after the other; they share what they have in
// common, such as the rollouts of the baseline.
//
// # The file
//
// The file has JSON lines. The first is {"rigger_journal":true,"schema_version":1}; each of the others has a key, the SHA-256 of all that the
// value depends on, a checksum of both (CRC-32C), and the value, as it is or, if that is shorter, as base64 of its gzip form, for base64 -d
// and gunzip to read:
//
//	{"key":"9f86d0...","crc":"1c291ca3","value":{"candidate":{...}}}
//	{"key":"60303a...","crc":"c96a9d23","gzip":"H4sIAAAAAAAA..."}
//
// It only grows. A task of household_small with 15 rollouts of 8 turns takes 25 KB, one of household with 41 rollouts of 26 turns 153 KB; a
// rollout of 100 turns with a text of 1 KiB in each takes some 10 KB instead of 250, so that the 200 rollouts that [Budget] allows on a task
// take 2 MB. Nothing is ever dropped; delete the file when its runs are done. In memory are some 100 bytes for each record; values are read
// from the file when they are asked for. A value has at most 64 MiB.
//
// A record is on the disk (synced, as is the name of the file) before the run goes on. What a crash, or a loss of power, leaves of a last line
// is cut off when the journal is opened next. Any other damage is an error that names the line and what is wrong: nothing is thrown away.
type Journal struct {
	path string

	mu     sync.Mutex
	f      journalFile // nil after Close
	end    int64       // of the last whole line
	index  map[[sha256.Size]byte]span
	broken error // the first failure to write; there are no records after it

	packers sync.Pool // of *gzip.Writer, which take a megabyte to make
}

// journalFile is the part of an *os.File that a journal uses.
type journalFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// span is where the line of a record is, without its line break.
type span struct {
	start int64
	size  int
}

const (
	journalHeader = `{"rigger_journal":true,"schema_version":1}` + "\n"

	keyPart   = `{"key":"`
	crcPart   = `","crc":"`
	plainPart = `","value":`
	gzipPart  = `","gzip":"`
	keySize   = 2 * sha256.Size
	crcSize   = 2 * crc32.Size
	lineHead  = len(keyPart) + keySize + len(crcPart) + crcSize

	maxValue = 64 << 20 // bytes of JSON, as in a file of traces
	maxLine  = lineHead + len(plainPart) + maxValue + len(`}`)
	// shorter values are not worth the while, and can be read by people: designs and decisions
	minGzip = 1 << 10

	sectorSize = 512 // bytes that a disk writes together, or a part of those
)

// OpenJournal opens the journal in a file, which is made, with permissions 0644 before umask, if it is not there; its folder must be. A
// file that is empty becomes a journal; any other that is none is an error, as is a link, and left alone. The error is [ErrLocked] if the
// journal is open already; on a system without locks that end with their process (Plan 9, JS, WASI) nobody looks. All of the file is read once, to
// check it.
func OpenJournal(path string) (*Journal, error) {
	fail := func(err error) (*Journal, error) { return nil, fmt.Errorf("rigger: open journal: %w", err) }
	if path == "" {
		return fail(errors.New("the path is empty"))
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	f, err := filelock.Open(root, name)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	if err != nil {
		return fail(err)
	}
	j, err := readJournal(f, path)
	if err == nil {
		// Also if the file was there: a crash may have come between its making and this.
		err = syncFolder(root)
	}
	if err != nil {
		f.Close()
		return fail(err)
	}
	return j, nil
}

func syncFolder(root *os.Root) error {
	if runtime.GOOS == "windows" { // which has no such call for folders
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// readJournal finds the records of a file, and makes it end after the last whole one. An empty file gets a header.
func readJournal(f journalFile, path string) (*Journal, error) {
	j := &Journal{path: path, f: f, index: map[[sha256.Size]byte]span{}}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size, number := info.Size(), 0
	damaged := func(err error) (*Journal, error) {
		if errors.Is(err, jsonl.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes", maxLine)
		}
		return nil, fmt.Errorf("%s line %d: %w", path, number, err)
	}
	for line, err := range jsonl.Lines(io.NewSectionReader(f, 0, size), maxLine) {
		number++
		if err != nil {
			return damaged(err)
		}
		next := j.end + int64(len(line)) + 1
		torn := next > size // it has no line break
		if number == 1 {
			// The start of a header is all that may be cut here: another file is somebody else's.
			if torn && bytes.HasPrefix([]byte(journalHeader), line) {
				break
			}
			if err := checkHeader(line, torn); err != nil {
				return damaged(err)
			}
			j.end = next
			continue
		}
		if torn {
			break
		}
		key, _, err := splitRecord(line)
		if err != nil {
			if next == size && hasHole(line, j.end) {
				break
			}
			return damaged(err)
		}
		if _, ok := j.index[key]; !ok {
			j.index[key] = span{j.end, len(line)}
		}
		j.end = next
	}
	if j.end == 0 {
		if _, err := f.WriteAt([]byte(journalHeader), 0); err != nil {
			return nil, fmt.Errorf("write the header of %s: %w", path, err)
		}
		j.end = int64(len(journalHeader))
	}
	if j.end != size {
		if err := errors.Join(f.Truncate(j.end), f.Sync()); err != nil {
			return nil, fmt.Errorf("make %s end with a whole line: %w", path, err)
		}
	}
	return j, nil
}

// hasHole reports whether a sector of the line is all zeros. Where power went before all of a line was written, its end may be there and the
// zeros of a new file in place of some sectors before it. A byte that was changed afterwards is something else.
func hasHole(line []byte, start int64) bool {
	for len(line) > 0 {
		n := min(int(sectorSize-start%sectorSize), len(line))
		if len(bytes.Trim(line[:n], "\x00")) == 0 {
			return true
		}
		line, start = line[n:], start+int64(n)
	}
	return false
}

// checkHeader says what is wrong with the first line of a file.
func checkHeader(line []byte, torn bool) error {
	if !torn && string(line)+"\n" == journalHeader {
		return nil
	}
	var h struct {
		Journal bool `json:"rigger_journal"`
		Version int  `json:"schema_version"`
	}
	if json.Unmarshal(line, &h) == nil && h.Journal && h.Version != 1 {
		return fmt.Errorf("schema_version is %d, want 1", h.Version)
	}
	return fmt.Errorf("the file is no journal: it must begin with the line %s", journalHeader[:len(journalHeader)-1])
}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends the line of a record, without its line break.
func (j *Journal) appendRecord(b []byte, key string, value []byte) []byte {
	part, after := plainPart, "}"
	if packed := j.pack(value); packed != nil {
		value, part, after = packed, gzipPart, `"}`
	}
	rest := len(b) + lineHead // key and CRC go before it
	b = append(append(b, keyPart...), key...)
	b = append(append(b, crcPart...), make([]byte, crcSize)...)
	b = append(append(append(b, part...), value...), after...)
	hex.Encode(b[rest-crcSize:rest], lineSum(key, b[rest:]))
	return b
}

// lineSum is the checksum of a line: of its key, and of all that comes after the sum.
func lineSum[K string | []byte](key K, rest []byte) []byte {
	crc := crc32.Update(crc32.Checksum([]byte(key), crcTable), crcTable, rest)
	return []byte{byte(crc >> 24), byte(crc >> 16), byte(crc >> 8), byte(crc)}
}

// splitRecord returns what a line holds, which [unpack] reads. What it accepts is as appendRecord wrote it, byte by byte, as far as the
// checksum can tell.
func splitRecord(line []byte) (key [sha256.Size]byte, stored []byte, err error) {
	if len(line) < lineHead || string(line[:len(keyPart)]) != keyPart ||
		string(line[len(keyPart)+keySize:lineHead-crcSize]) != crcPart {
		return key, nil, fmt.Errorf("it is not a record, which begins with %s, %d digits, %s and %d digits", keyPart, keySize, crcPart, crcSize)
	}
	name, stored := line[len(keyPart):len(keyPart)+keySize], line[lineHead:]
	if want := hex.EncodeToString(lineSum(name, stored)); string(line[lineHead-crcSize:lineHead]) != want {
		return key, nil, fmt.Errorf("its checksum is %q, want %q, so something was changed", line[lineHead-crcSize:lineHead], want)
	}
	if key, err = parseKey(name); err != nil {
		return key, nil, err
	}
	return key, stored, nil
}

// parseKey reads a key, which has one form.
func parseKey[K string | []byte](text K) (key [sha256.Size]byte, err error) {
	if len(text) != keySize {
		return key, fmt.Errorf("key %.80q has %d characters, want %d", string(text), len(text), keySize)
	}
	if _, err := hex.Decode(key[:], []byte(text)); err != nil || hex.EncodeToString(key[:]) != string(text) {
		return key, fmt.Errorf("key %.80q is not lower-case hex", string(text))
	}
	return key, nil
}

// pack returns value as base64 of its gzip form, or nil if that is not shorter or value is short anyhow.
func (j *Journal) pack(value []byte) []byte {
	if len(value) < minGzip {
		return nil
	}
	var packed bytes.Buffer
	b64 := base64.NewEncoder(base64.StdEncoding, &packed)
	z, ok := j.packers.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(nil)
	}
	defer j.packers.Put(z)
	z.Reset(b64)
	if _, err := z.Write(value); err != nil || z.Close() != nil || b64.Close() != nil || packed.Len() >= len(value) {
		return nil // a buffer takes everything
	}
	return packed.Bytes()
}

// unpack returns the value that a line holds. The rule about its size keeps a small file from filling the memory.
func unpack(stored []byte) ([]byte, error) {
	if plain, ok := bytes.CutPrefix(stored, []byte(plainPart)); ok {
		if plain, ok = bytes.CutSuffix(plain, []byte("}")); ok {
			return plain, nil
		}
	} else if packed, ok := bytes.CutPrefix(stored, []byte(gzipPart)); ok {
		if packed, ok = bytes.CutSuffix(packed, []byte(`"}`)); ok {
			z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(packed)))
			if err != nil {
				return nil, fmt.Errorf("its gzip form: %w", err)
			}
			value, err := io.ReadAll(io.LimitReader(z, maxValue+1))
			if err != nil {
				return nil, fmt.Errorf("its gzip form: %w", err)
			}
			if len(value) > maxValue {
				return nil, fmt.Errorf("its value is longer than %d bytes", maxValue)
			}
			return value, nil
		}
	}
	return nil, fmt.Errorf(`it holds neither %s...} nor %s..."}`, plainPart, gzipPart)
}

// Close closes the file and gives its lock up. A second call does nothing. Records are on the disk without it.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil {
		return nil
	}
	f := j.f
	j.f = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("rigger: close journal: %w", err)
	}
	return nil
}

// Len returns the number of records; 0 for a nil journal. One that was to be resumed and has none is probably the wrong one.
func (j *Journal) Len() int {
	if j == nil {
		return 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.index)
}

// journalKey is the name of what depends on the parts and on nothing else. The first part says what it is. Parts are told apart by their canonical
// JSON (envharness.CanonicalJSON), so that 1 and 1.0 are one part.
func journalKey(parts ...any) (string, error) {
	b, err := envharness.CanonicalJSON(parts)
	if err != nil {
		return "", fmt.Errorf("rigger: key of the journal: %w", err)
	}
	key := sha256.Sum256(b)
	return hex.EncodeToString(key[:]), nil
}

func (j *Journal) failed(doing, key string, err error) error {
	return fmt.Errorf("rigger: journal %s: %s %.80s: %w", j.path, doing, key, err)
}

// lookup reads what was recorded under the key into the value, strictly: an unknown field is an error, as is a value of another type. A nil
// journal has nothing.
func (j *Journal) lookup(key string, value any) (bool, error) {
	raw, err := j.read(key)
	if err == nil && raw != nil {
		err = decodeStrict(raw, value)
		if err != nil {
			err = j.failed("value of", key, err)
		}
	}
	return raw != nil && err == nil, err
}

func decodeStrict(raw []byte, value any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(value); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// lookupTrace is lookup for what recordTrace has kept.
func (j *Journal) lookupTrace(key string) (envharness.Trace, bool, error) {
	raw, err := j.read(key)
	if err != nil || raw == nil {
		return envharness.Trace{}, false, err
	}
	t, err := decodeTrace(raw)
	if err != nil {
		return envharness.Trace{}, false, j.failed("value of", key, err)
	}
	return t, true, nil
}

// read returns the JSON value under the key, nil if there is none.
func (j *Journal) read(key string) ([]byte, error) {
	if j == nil {
		return nil, nil
	}
	k, err := parseKey(key)
	if err != nil {
		return nil, j.failed("look up", key, err)
	}
	j.mu.Lock()
	f := j.f
	at, ok := j.index[k]
	j.mu.Unlock()
	if f == nil {
		return nil, j.failed("look up", key, fs.ErrClosed)
	}
	if !ok {
		return nil, nil
	}
	raw, err := readSpan(f, k, at)
	if err != nil {
		return nil, j.failed("look up", key, err)
	}
	return raw, nil
}

// readSpan returns the value of a record, which is checked again: the file may have changed meanwhile.
func readSpan(f io.ReaderAt, key [sha256.Size]byte, at span) ([]byte, error) {
	line := make([]byte, at.size)
	if n, err := f.ReadAt(line, at.start); n < len(line) {
		return nil, fmt.Errorf("read the line at byte %d: %w", at.start, err)
	}
	got, stored, err := splitRecord(line)
	if err == nil && got != key {
		err = errors.New("it has another key")
	}
	var raw []byte
	if err == nil {
		raw, err = unpack(stored)
	}
	if err == nil && len(raw) == 0 {
		err = errors.New("it has no value")
	}
	if err != nil {
		return nil, fmt.Errorf("the line at byte %d: %w", at.start, err)
	}
	return raw, nil
}

// record keeps a value under a key, and returns when it is safe on disk. A value that is equal in JSON to the one that is there is well, and
// another one is an error. After a failure to write there are no more records until the journal is opened again, as nobody knows
// what is on the disk; other errors change nothing. A nil journal does nothing. It is safe for concurrent use.
func (j *Journal) record(key string, value any) error {
	if j == nil {
		return nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // it would make texts with tags twice as long
	if err := enc.Encode(value); err != nil {
		return j.failed("record", key, err)
	}
	return j.write(key, bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
}

// recordTrace is record for a trace, and returns it as lookupTrace will return it, changed where JSON cannot hold it as it is (see
// [envharness.WriteTraces]): to go on with that is to go on as one that resumes. Without a journal it returns the trace itself.
func (j *Journal) recordTrace(key string, t envharness.Trace) (envharness.Trace, error) {
	if j == nil {
		return t, nil
	}
	var buf bytes.Buffer
	if err := envharness.WriteTraces(&buf, []envharness.Trace{t}); err != nil {
		return envharness.Trace{}, j.failed("record", key, err)
	}
	raw := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	back, err := decodeTrace(raw)
	if err != nil {
		return envharness.Trace{}, j.failed("record", key, err)
	}
	return back, j.write(key, raw)
}

func decodeTrace(raw []byte) (envharness.Trace, error) {
	for t, err := range envharness.ReadTraces(bytes.NewReader(raw)) {
		return t, err
	}
	return envharness.Trace{}, errors.New("there is no trace")
}

// sameJSON returns an error unless two texts are equal as JSON: what was read and is written again may have other escapes.
func sameJSON(a, b json.RawMessage) error {
	ca, err1 := envharness.CanonicalJSON(a)
	cb, err2 := envharness.CanonicalJSON(b)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(ca, cb) {
		return errors.Join(errors.New("there is another value under this key"), err)
	}
	return nil
}

// write keeps a JSON value in UTF-8 that has no line break.
func (j *Journal) write(key string, raw []byte) error {
	k, err := parseKey(key)
	if err == nil && len(raw) > maxValue {
		err = fmt.Errorf("a value of %d bytes is longer than %d", len(raw), maxValue)
	}
	if err != nil {
		return j.failed("record", key, err)
	}
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD")) // raw JSON may hold anything within strings
	line := append(j.appendRecord(nil, key, raw), '\n')

	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil {
		return j.failed("record", key, fs.ErrClosed)
	}
	if at, ok := j.index[k]; ok {
		old, err := readSpan(j.f, k, at)
		if err == nil && !bytes.Equal(old, raw) {
			err = sameJSON(old, raw)
		}
		if err != nil {
			return j.failed("record", key, err)
		}
		return nil
	}
	if j.broken != nil {
		return j.failed("record", key, fmt.Errorf("no more records until it is opened again: %w", j.broken))
	}
	if _, err = j.f.WriteAt(line, j.end); err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		j.broken = errors.Join(err, j.f.Truncate(j.end))
		return j.failed("record", key, j.broken)
	}
	j.index[k] = span{j.end, len(line) - 1}
	j.end += int64(len(line))
	return nil
}
