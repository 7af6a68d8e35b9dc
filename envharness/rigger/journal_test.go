package rigger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

var errDisk = errors.New("no space left on the device")

// memFile is a file in memory that can fail, and that knows what a loss of power leaves of it.
type memFile struct {
	mu           sync.Mutex
	data, synced []byte
	fail         string // of the operations "write", "sync" and "truncate", those that fail, which they do after half of their work
}

func (f *memFile) does(op string) bool { return !strings.Contains(f.fail, op) }

// set says which operations fail from now on.
func (f *memFile) set(fail string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

// bytes returns what is in the file.
func (f *memFile) bytes() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Clone(f.data)
}

func (f *memFile) Stat() (fs.FileInfo, error) { return memInfo(len(f.bytes())), nil }

func (f *memFile) ReadAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.NewReader(f.data).ReadAt(p, at)
}

func (f *memFile) WriteAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.does("write") {
		p = p[:len(p)/2]
	}
	f.data = append(f.data, make([]byte, max(0, int(at)+len(p)-len(f.data)))...)
	copy(f.data[at:], p)
	if !f.does("write") {
		return len(p), errDisk
	}
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.does("truncate") {
		return errDisk
	}
	f.data = f.data[:size]
	return nil
}

func (f *memFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.does("sync") {
		return errDisk
	}
	f.synced = bytes.Clone(f.data)
	return nil
}

func (f *memFile) Close() error { return nil }

type memInfo int64

func (i memInfo) Name() string     { return "memory" }
func (i memInfo) Size() int64      { return int64(i) }
func (memInfo) Mode() fs.FileMode  { return 0o644 }
func (memInfo) ModTime() time.Time { return time.Time{} }
func (memInfo) IsDir() bool        { return false }
func (memInfo) Sys() any           { return nil }

func inMemory(t journalTB, data []byte) (*Journal, *memFile) {
	t.Helper()
	f := &memFile{data: bytes.Clone(data), synced: bytes.Clone(data)}
	j, err := readJournal(f, "memory")
	if err != nil {
		t.Fatalf("open %q: %v", data, err)
	}
	return j, f
}

// journalTB is what *testing.T, *testing.B and *rapid.T have in common.
type journalTB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func openJournal(t journalTB, path string) *Journal {
	t.Helper()
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func keyOf(t journalTB, parts ...any) string {
	t.Helper()
	key, err := journalKey(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustRecord(t journalTB, j *Journal, key string, v any) {
	t.Helper()
	if err := j.record(key, v); err != nil {
		t.Fatal(err)
	}
}

// journalled returns what j has under the key, as JSON; "" if it has nothing.
func journalled(t journalTB, j *Journal, key string) string {
	t.Helper()
	var raw json.RawMessage
	ok, err := j.lookup(key, &raw)
	if err != nil {
		t.Fatal(err)
	}
	if ok != (len(raw) > 0) {
		t.Fatalf("lookup said %v of %q", ok, raw)
	}
	return string(raw)
}

// journalNoise has n bytes that do not compress.
func journalNoise(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range n {
		b.WriteByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+_=/?.,!@#$%^*(){}[]:;|~-"[rng.IntN(87)])
	}
	return b.String()
}

func TestJournalValues(t *testing.T) {
	for _, tt := range []struct {
		name   string
		value  any
		want   string // JSON
		gzip   bool
		reason string
	}{
		{"number", 1.5, `1.5`, false, "any JSON value"},
		{"null", nil, `null`, false, "is a value too"},
		{"text", "a\nb\x00\u2028<&>", `"a\nb\u0000\u2028<&>"`, false, "a line is a line, and tags stay as short as they are"},
		{"bad text", "a\xffb", `"a\ufffdb"`, false, "as encoding/json has it"},
		{"raw", json.RawMessage("{\"b\" : [1,\n2] , \"a\":\"\xff\"}"), `{"b":[1,2],"a":"` + "\uFFFD" + `"}`, false,
			"without spaces, keys in their order, in UTF-8"},
		{"struct", Tally{2, 3}, `{"pass":2,"valid":3}`, false, "as its tags say"},
		{"short", strings.Repeat("x", minGzip-3), `"` + strings.Repeat("x", minGzip-3) + `"`, false, "two quotes: one byte too short to be packed"},
		{"long", strings.Repeat("x", minGzip-2), `"` + strings.Repeat("x", minGzip-2) + `"`, true, "long enough"},
		{"noise", journalNoise(4000), `"` + journalNoise(4000) + `"`, false, "base64 takes 4/3, gzip saves about 1/5: packed it would be longer"},
		{"deep", json.RawMessage(strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999)), strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), true,
			"as deep as encoding/json reads"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		path := filepath.Join(t.TempDir(), "journal")
		j := openJournal(t, path)
		key := keyOf(t, tt.name)
		if got := journalled(t, j, key); got != "" {
			t.Errorf("%s: %.80q before", tt.name, got)
		}
		mustRecord(t, j, key, tt.value)
		for range 2 { // while it is open, and opened again
			if got := journalled(t, j, key); got != tt.want {
				t.Errorf("%s: got %.80q, want %.80q (%s)", tt.name, got, tt.want, tt.reason)
			}
			if got := journalled(t, j, keyOf(t, "other")); got != "" || j.Len() != 1 {
				t.Errorf("%s: another key has %.80q, and there are %d records", tt.name, got, j.Len())
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = openJournal(t, path)
		}
		j.Close()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")
		if len(lines) != 3 || lines[0] != journalHeader || lines[2] != "" || strings.Contains(lines[1], `"gzip":`) != tt.gzip {
			t.Errorf("%s: the file is %.200q, want a header and one line, packed %v (%s)", tt.name, data, tt.gzip, tt.reason)
		}
		for _, line := range lines[:2] {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: %.200q is not JSON", tt.name, line)
			}
		}
	}
}

func TestJournalRefuses(t *testing.T) {
	j, f := inMemory(t, nil)
	before := bytes.Clone(f.data)
	type cyclic map[string]any
	circle := cyclic{}
	circle["a"] = circle
	for _, tt := range []struct {
		name   string
		key    string
		value  any
		want   string
		reason string
	}{
		{"not JSON", keyOf(t, 1), math.NaN(), "unsupported value", "NaN"},
		{"circle", keyOf(t, 1), circle, "cycle", "it would have no end"},
		{"raw", keyOf(t, 1), json.RawMessage("{"), "unexpected end", "half a value"},
		{"too deep", keyOf(t, 1), json.RawMessage(strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)), "exceeded max depth",
			"nobody could read it"},
		{"no key", "", 1, `key "" has 0 characters, want 64`, "keys are made by journalKey"},
		{"short key", "abc", 1, "has 3 characters", "as above"},
		{"capitals", strings.ToUpper(keyOf(t, 1)), 1, "not lower-case hex", "one key, one form"},
		{"no hex", strings.Repeat("g", 64), 1, "not lower-case hex", "as above"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		err := j.record(tt.key, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "rigger: journal memory: record ") {
			t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
		if _, err := j.lookup(tt.key, new(any)); strings.Contains(tt.name, "key") && err == nil {
			t.Errorf("%s: such a key can be looked up", tt.name)
		}
	}
	if !bytes.Equal(f.data, before) || j.Len() != 0 {
		t.Errorf("refused values left %q", f.data[len(before):])
	}
	mustRecord(t, j, keyOf(t, 1), 1) // what could not be encoded has damaged nothing
	if _, err := journalKey("a", math.Inf(1)); err == nil || !strings.HasPrefix(err.Error(), "rigger: ") {
		t.Errorf("key of infinity: %v", err)
	}
}

// A value is bounded where it is written and where it is read, however small its packed form is.
func TestJournalSize(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 128 MiB")
	}
	j, _ := inMemory(t, nil)
	long := bytes.Repeat([]byte("1"), maxValue+1)
	if err := j.write(keyOf(t, "more"), long); err == nil || !strings.Contains(err.Error(), "67108865 bytes is longer than 67108864") {
		t.Errorf("one byte more: %v", err)
	}
	for n, want := range map[int]string{maxValue: "", maxValue + 1: "longer than 67108864 bytes"} {
		key := keyOf(t, n)
		k, _ := inMemory(t, append(j.appendRecord([]byte(journalHeader), key, long[:n]), '\n'))
		raw, err := k.read(key)
		if want == "" && (err != nil || len(raw) != n) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("a small line with %d bytes: %d, %v, want %q", n, len(raw), err, want)
		}
	}
	f := &memFile{data: slices.Concat([]byte(journalHeader), long, make([]byte, lineHead+20))}
	if _, err := readJournal(f, "memory"); err == nil || !strings.Contains(err.Error(), "memory line 2: longer than 67108") {
		t.Errorf("a long line: %v", err)
	}
}

func TestJournalLookupIsStrict(t *testing.T) {
	j, _ := inMemory(t, nil)
	key := keyOf(t, 1)
	mustRecord(t, j, key, map[string]int{"pass": 1, "valid": 2, "more": 3})
	var got Tally
	if ok, err := j.lookup(key, &got); ok || err == nil || !strings.Contains(err.Error(), `unknown field "more"`) || !strings.Contains(err.Error(), key) {
		t.Errorf("an unknown field: %v, %v", ok, err)
	}
	if ok, err := j.lookup(key, new(int)); ok || err == nil {
		t.Errorf("another type: %v, %v", ok, err)
	}
	for _, tt := range []struct{ rest, want, reason string }{
		{`","value":1}`, "", "right"},
		{`","value":}`, "no value", "empty"},
		{`","value":1,"x":2}`, "", "a second field, which JSON readers would see"},
		{`","value":1 2}`, "", "a second value"},
		{`","value":{]}`, "", "no JSON"},
		{`","value":1`, "neither", "no end"},
		{`","gzip":"H4sI`, "neither", "no end"},
		{`","gzip":"H4sI"}`, "gzip form", "cut short"},
		{`","gzip":"!!!!"}`, "gzip form", "no base64"},
		{`"}`, "neither", "no value"},
		{``, "neither", "nothing"},
	} {
		line := []byte(journalHeader + keyPart + key + crcPart + fmt.Sprintf("%x", lineSum(key, []byte(tt.rest))) + tt.rest + "\n")
		j, _ := inMemory(t, line) // the checksum is right
		var v int
		ok, err := j.lookup(key, &v)
		if ok != (tt.reason == "right") || ok == (err != nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want %q (%s)", tt.rest, ok, err, tt.want, tt.reason)
		}
		if _, ok, err := j.lookupTrace(key); ok || err == nil {
			t.Errorf("%s is a trace", tt.rest)
		}
	}
}

func TestJournalSameKey(t *testing.T) {
	j, f := inMemory(t, nil)
	key := keyOf(t, 1)
	mustRecord(t, j, key, map[string]any{"a": 1})
	size := len(f.data)
	for range 2 { // as it was recorded, and as it was read
		mustRecord(t, j, key, json.RawMessage(`{"a": 1}`))
		if err := j.record(key, map[string]any{"a": 2}); err == nil || !strings.Contains(err.Error(), "another value") {
			t.Errorf("another value: %v", err)
		}
		if got := journalled(t, j, key); got != `{"a":1}` || len(f.data) != size || j.Len() != 1 {
			t.Errorf("got %s in %d bytes, want the first value in %d", got, len(f.data), size)
		}
		mustRecord(t, j, keyOf(t, 2), 2) // none of this keeps others out
		f.data = f.data[:size]
		j, f = inMemory(t, f.data)
	}
	twice := append(new(Journal).appendRecord(bytes.Clone(f.data), key, []byte("3")), '\n')
	j, f = inMemory(t, twice)
	if got := journalled(t, j, key); got != `{"a":1}` || j.Len() != 1 || !bytes.Equal(f.data, twice) {
		t.Errorf("two lines of one key: %s, want the first", got)
	}
}

func TestNoJournal(t *testing.T) {
	var j *Journal
	if ok, err := j.lookup("", new(int)); ok || err != nil {
		t.Errorf("lookup: %v, %v", ok, err)
	}
	if _, ok, err := j.lookupTrace(""); ok || err != nil {
		t.Errorf("lookup of a trace: %v, %v", ok, err)
	}
	if err := errors.Join(j.record("", math.NaN()), j.Close()); err != nil || j.Len() != 0 {
		t.Errorf("record, close: %v; %d records", err, j.Len())
	}
}

func TestJournalClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := openJournal(t, path)
	key := keyOf(t, 1)
	mustRecord(t, j, key, 1)
	if _, err := OpenJournal(path); runtime.GOOS == "linux" && (!errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path)) {
		t.Errorf("opened twice: %v", err)
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		_, err1 := j.lookup(key, new(int))
		_, _, err2 := j.lookupTrace(key)
		err3 := j.record(key, 1)
		_, err4 := j.recordTrace(key, envharness.Trace{})
		for i, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), path) {
				t.Errorf("use %d after Close: %v", i, err)
			}
		}
	}
}

// A trace comes back as recordTrace returned it, also what JSON cannot hold; what it can hold comes back as it was.
func TestJournalTraces(t *testing.T) {
	well := longTrace(1)
	well.Turns = well.Turns[:5]
	well.Slot, well.Seed, well.Task = 3, 1<<63+1, envharness.Task{ID: "t", Seed: new(uint64(1<<63 + 1)), Options: json.RawMessage(`{"a":[1,"<"]}`)}
	odd := well
	odd.Cause = "\xff<b>"
	odd.Turns = []envharness.TurnTrace{
		{Proposed: &envharness.Action{Name: "go", Args: json.RawMessage(`{"to" : "h\u00e9re"}`)}},
		{Proposed: &envharness.Action{Name: "x", Args: json.RawMessage("{no")}},
	}
	var none *Journal
	if got, err := none.recordTrace("", odd); err != nil || !reflect.DeepEqual(got, odd) {
		t.Errorf("without a journal: %v, %v", got, err)
	}
	for name, trace := range map[string]envharness.Trace{"well": well, "odd": odd} {
		j, f := inMemory(t, nil)
		key := keyOf(t, name)
		if _, ok, err := j.lookupTrace(key); ok || err != nil {
			t.Fatalf("%s before: %v, %v", name, ok, err)
		}
		kept, err := j.recordTrace(key, trace)
		if err != nil {
			t.Fatal(err)
		}
		if name == "well" {
			if diff := cmp.Diff(trace, kept); diff != "" {
				t.Errorf("(-before +recorded):\n%s", diff)
			}
		} else if kept.Cause != "\uFFFD<b>" || kept.Seed != odd.Seed || string(kept.Turns[0].Proposed.Args) != `{"to":"h\u00e9re"}` ||
			string(kept.Turns[1].Proposed.Args) != `"{no"` {
			t.Errorf("recorded as %+v", kept)
		}
		j, _ = inMemory(t, f.data)
		back, ok, err := j.lookupTrace(key)
		if err != nil || !ok || !reflect.DeepEqual(back, kept) {
			t.Errorf("%s: %v, %v (-recorded +read):\n%s", name, ok, err, cmp.Diff(kept, back))
		}
		size := len(f.data)
		if again, err := j.recordTrace(key, back); err != nil || !reflect.DeepEqual(again, back) || len(f.data) != size {
			t.Errorf("%s, recorded once more: %v", name, err)
		}
		if _, err := j.recordTrace(keyOf(t, 2), envharness.Trace{Verdict: envharness.Verdict{Score: 2}}); err == nil || j.Len() != 1 {
			t.Errorf("a trace that cannot be read was recorded: %v", err)
		}
	}
}

// Keys are equal where the parts are, and only there.
func TestJournalKey(t *testing.T) {
	seen := map[string]string{}
	for _, parts := range [][]any{
		{}, {nil}, {""}, {"a"}, {"a", "b"}, {"ab"}, {[]string{"a", "b"}}, {"a", []string{"b"}}, {0}, {1}, {"1"}, {false},
		{uint64(1 << 63)}, {uint64(1<<63 + 1)}, {uint64(math.MaxUint64)}, {uint64(math.MaxUint64 - 1)},
		{map[string]any{"a": 1}}, {map[string]any{"a": 1, "b": nil}}, {envharness.Task{ID: "a"}}, {envharness.Task{ID: "a", Seed: new(uint64(0))}},
		{json.RawMessage(`{"x":1e400}`)},
	} {
		name := fmt.Sprintf("%#v", parts)
		key, err := journalKey(parts...)
		if err != nil {
			if strings.Contains(name, "json.RawMessage") {
				continue // what cannot be told apart has no key
			}
			t.Fatalf("%s: %v", name, err)
		}
		if other, ok := seen[key]; ok || len(key) != 64 {
			t.Errorf("%s and %s have the key %q", name, other, key)
		}
		seen[key] = name
	}
	a := keyOf(t, json.RawMessage(`{"b":1.0,"a":[]}`), 2)
	b := keyOf(t, map[string]any{"a": []int{}, "b": 1}, json.Number("2"))
	// printf '[{"a":[],"b":1},2]' | sha256sum
	if want := "f5fcae8ad32317b9c9256f9123c664deb0de580663aab8c8ac6c6e313bbe8153"; a != want || b != want {
		t.Errorf("keys %s and %s, want %s", a, b, want)
	}
}

// sampleJournal returns a journal of three records, the second one packed, where each of its lines begins, and what it has.
func sampleJournal(t journalTB) (data []byte, starts []int, want map[string]string) {
	t.Helper()
	j, f := inMemory(t, nil)
	starts, want = []int{0}, map[string]string{}
	for i, v := range []any{Tally{1, 2}, strings.Repeat("again ", 400), []string{"the", "last"}} {
		starts = append(starts, len(f.data))
		key := keyOf(t, i)
		mustRecord(t, j, key, v)
		want[key] = journalled(t, j, key)
	}
	return f.data, starts, want
}

// A file that ends anywhere in its last line, or has zeros from there on, opens without it, and with it recorded again it is as it was.
func TestJournalTornTail(t *testing.T) {
	data, starts, want := sampleJournal(t)
	stride := 1
	if testing.Short() {
		stride = 5
	}
	for i, start := range starts { // each line has its turn to be the last
		end := len(data)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		whole := data[:end]
		for cut := start; cut < end; cut += stride {
			if i == 0 { // a journal without a header gets one
				if _, f := inMemory(t, whole[:cut]); string(f.data) != journalHeader || string(f.synced) != journalHeader {
					t.Fatalf("%q became %q, of which %q is safe", whole[:cut], f.data, f.synced)
				}
				continue
			}
			zeros := make([]byte, end-cut)
			for _, tail := range [][]byte{whole[:cut], slices.Concat(whole[:cut], zeros), slices.Concat(whole[:cut], zeros, zeros)} {
				j, f := inMemory(t, tail)
				if !bytes.Equal(f.data, data[:start]) || !bytes.Equal(f.synced, f.data) || j.Len() != i-1 {
					t.Fatalf("%d records in %q are left of %q, want those in %q", j.Len(), f.data, tail, data[:start])
				}
				for k := range 3 {
					key := keyOf(t, k)
					if got := journalled(t, j, key); k < i-1 && got != want[key] || k >= i-1 && got != "" {
						t.Fatalf("%q: record %d is %q", tail, k, got)
					}
				}
				key := keyOf(t, i-1)
				mustRecord(t, j, key, json.RawMessage(want[key]))
				if !bytes.Equal(f.data, whole) {
					t.Fatalf("%q became %q, want %q", tail, f.data, whole)
				}
			}
		}
	}
}

// losePower puts zeros in place of the sectors of the bytes from start on that are lost.
func losePower(data []byte, start int, lost func(n int) bool) []byte {
	data = bytes.Clone(data)
	for n := 0; start < len(data); n++ {
		end := min(start/sectorSize*sectorSize+sectorSize, len(data))
		if lost(n) {
			clear(data[start:end])
		}
		start = end
	}
	return data
}

// Whichever sectors of the last line are zeros, the line is cut off and no other.
func TestJournalHoles(t *testing.T) {
	for before := range 8 { // places of the line in its first sector
		j, f := inMemory(t, nil)
		mustRecord(t, j, keyOf(t, 0), strings.Repeat("x", before*sectorSize/8))
		safe := bytes.Clone(f.data)
		mustRecord(t, j, keyOf(t, 1), journalNoise(4*sectorSize))
		for set := 1; set < 1<<5; set++ {
			torn := losePower(f.data, len(safe), func(n int) bool { return set>>n&1 == 1 })
			if bytes.Equal(torn, f.data) {
				t.Fatalf("sectors %b: nothing was lost", set)
			}
			if j, f := inMemory(t, torn); !bytes.Equal(f.data, safe) || j.Len() != 1 {
				t.Fatalf("sectors %b: %d records", set, j.Len())
			}
			if torn[len(torn)-1] != '\n' {
				continue // it would be one line with what follows
			}
			middle := append(torn, new(Journal).appendRecord(nil, keyOf(t, 2), []byte("2"))...)
			middle = append(middle, '\n')
			if _, err := readJournal(&memFile{data: middle}, "memory"); err == nil || !strings.HasPrefix(err.Error(), "memory line 3: ") {
				t.Fatalf("sectors %b, and another line after them: %v", set, err)
			}
		}
	}
}

// A byte that is flipped is an error that names its line, and leaves the file as it is. The end of the last line is the exception: without its
// line break it is one that was cut short, and the others stay.
func TestJournalFlippedBytes(t *testing.T) {
	data, starts, want := sampleJournal(t)
	line := 0
	for i := range data {
		if line < len(starts) && i == starts[line] {
			line++
		}
		flips := []byte{0, '\n', data[i] ^ 0x20}
		for bit := range 8 {
			flips = append(flips, data[i]^1<<bit)
		}
		for _, b := range flips {
			if b == data[i] {
				continue
			}
			bad := bytes.Clone(data)
			bad[i] = b
			f := &memFile{data: bytes.Clone(bad)}
			j, err := readJournal(f, "memory")
			if i == len(data)-1 {
				if err != nil || j.Len() != 2 || !bytes.Equal(f.data, data[:starts[3]]) {
					t.Fatalf("byte %d to %q: %v, want the last line cut off", i, b, err)
				}
				for k := range 2 {
					if key := keyOf(t, k); journalled(t, j, key) != want[key] {
						t.Fatalf("byte %d to %q: record %d is %q", i, b, k, journalled(t, j, key))
					}
				}
				continue
			}
			if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("memory line %d: ", line)) {
				t.Fatalf("byte %d of line %d to %q: %v", i, line, b, err)
			}
			if !bytes.Equal(f.data, bad) {
				t.Fatalf("byte %d of line %d to %q: the file was changed", i, line, b)
			}
		}
	}
}

func TestJournalOpen(t *testing.T) {
	record := string(new(Journal).appendRecord(nil, keyOf(t, 1), []byte("1"))) + "\n"
	for _, tt := range []struct {
		name, data string
		left       string // "" means as it was
		err        string
		reason     string
	}{
		{"none", "", journalHeader, "", "an empty file is one that was just made"},
		{"header", journalHeader, "", "", "no records yet"},
		{"half a header", `{"rigger_jo`, journalHeader, "", "made when a crash came"},
		{"records", journalHeader + record, "", "", "one record"},
		{"half a record", journalHeader + record + record[:90], journalHeader + record, "", "a crash"},
		{"zeros", journalHeader + record + "\x00\x00", journalHeader + record, "", "a loss of power"},
		{"another file", "important", "", `line 1: the file is no journal: it must begin with the line {"rigger_journal":true,"schema_version":1}`, "must not be lost"},
		{"another file with a line break", "important\n", "", "line 1: the file is no journal", "as above"},
		{"zeros alone", "\x00\x00", "", "line 1: the file is no journal", "nothing says that it is ours"},
		{"traces", `{"schema_version":1,"slot":0}` + "\n", "", "line 1: the file is no journal", "another file of ours"},
		{"next version", `{"rigger_journal":true,"schema_version":2}` + "\n" + record, "", "line 1: schema_version is 2, want 1", "a later release"},
		{"no header", record, "", "line 1: the file is no journal", "its beginning was lost"},
		{"blank line", journalHeader + "\n" + record, "", "line 2: it is not a record", "we write none"},
		{"line break of Windows", journalHeader + strings.Replace(record, "\n", "\r\n", 1), "", "line 2: its checksum is", "an editor has changed it"},
		{"joined", journalHeader + record + journalHeader + record, "", "line 3: it is not a record", "two files in one"},
		{"another checksum", journalHeader + strings.Replace(record, `"crc":"`, `"crc":"0`, 1), "", "line 2: its checksum is", "nine digits"},
		{"capitals", journalHeader + capitals(record), "", "is not lower-case hex", "the checksum is right, the key is not in the one form of keys"},
	} {
		if tt.reason == "" {
			t.Fatalf("%s has no reason", tt.name)
		}
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, []byte(tt.data), 0o644); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time the file is as the first left it
			j, err := OpenJournal(path)
			if (err == nil) != (tt.err == "") || err != nil && (!strings.Contains(err.Error(), tt.err) ||
				!strings.HasPrefix(err.Error(), "rigger: open journal: "+path)) {
				t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.err, tt.reason)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			want := tt.left
			if want == "" {
				want = tt.data
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v is left, want %q (%s)", tt.name, got, err, want, tt.reason)
			}
		}
	}
	dir := t.TempDir()
	for _, tt := range []struct{ path, want, reason string }{
		{"", "the path is empty", "nothing to open"},
		{dir, dir, "a folder"},
		{filepath.Join(dir, "none", "journal"), "none", "its folder is not there"},
	} {
		if j, err := OpenJournal(tt.path); err == nil || !strings.Contains(err.Error(), tt.want) || j != nil || errors.Is(err, ErrLocked) {
			t.Errorf("%q: %v (%s)", tt.path, err, tt.reason)
		}
	}
}

// capitals returns a line with the key in capitals and the checksum for it.
func capitals(line string) string {
	key, rest := strings.ToUpper(line[len(keyPart):len(keyPart)+keySize]), strings.TrimSuffix(line[lineHead:], "\n")
	return keyPart + key + crcPart + fmt.Sprintf("%x", lineSum(key, []byte(rest))) + rest + "\n"
}

// After a failure to write nothing is recorded until the journal is opened again; what was there before stays, and no half line is
// left before a whole one.
func TestJournalFullDisk(t *testing.T) {
	for _, tt := range []struct {
		fail   string
		kept   bool // the record that failed is there when the journal is opened again
		reason string
	}{
		{"write", false, "half a line was written and taken back"},
		{"sync", false, "all of it was written and taken back"},
		{"write truncate", false, "half a line stays, and is cut off at the next opening"},
		{"sync truncate", true, "a whole line stays: it is what was to be recorded"},
	} {
		t.Run(tt.fail, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			data, _, want := sampleJournal(t)
			j, f := inMemory(t, data)
			f.fail = tt.fail
			if err := j.record(keyOf(t, "new"), "new"); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "memory") {
				t.Errorf("record: %v", err)
			}
			if !strings.Contains(tt.fail, "truncate") && !bytes.Equal(f.data, data) {
				t.Errorf("%q is left at the end", f.data[len(data):])
			}
			f.fail = ""
			left := bytes.Clone(f.data)
			if err := j.record(keyOf(t, "other"), 1); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "until it is opened again") {
				t.Errorf("record after a failure: %v", err)
			}
			if !bytes.Equal(f.data, left) || j.Len() != 3 || journalled(t, j, keyOf(t, "new")) != "" {
				t.Errorf("%q was written after a failure", f.data)
			}
			for key, value := range want { // reading goes on, and so does recording what is there
				if got := journalled(t, j, key); got != value {
					t.Errorf("%s has %q, want %q", key, got, value)
				}
				mustRecord(t, j, key, json.RawMessage(value))
			}
			j, f = inMemory(t, f.data)
			if got := journalled(t, j, keyOf(t, "new")); (got != "") != tt.kept {
				t.Errorf("opened again: %q (%s)", got, tt.reason)
			}
			mustRecord(t, j, keyOf(t, "new"), "new")
			j, _ = inMemory(t, f.data)
			if j.Len() != 4 {
				t.Errorf("%d records, want 4", j.Len())
			}
		})
	}
	for _, fail := range []string{"write", "sync", "truncate"} { // of a new file
		f := &memFile{fail: fail}
		if j, err := readJournal(f, "memory"); j != nil || !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %v", fail, err)
		}
		if j, _ := inMemory(t, f.data); j.Len() != 0 {
			t.Errorf("%s: %d records", fail, j.Len())
		}
	}
}

// What a journal has is what a map has to which everything is added that was recorded without an error, through failures, crashes and losses
// of power, except that a record that was under way may be there or not.
func TestJournalAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j, f := inMemory(t, nil)
		model := map[string]string{}
		broken := false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			key := keyOf(t, rapid.IntRange(0, 9).Draw(t, "key"))
			value := `"` + strings.Repeat(rapid.SampledFrom([]string{"a", "<", "é"}).Draw(t, "letter"), rapid.SampledFrom([]int{0, 1, 5, 2000}).Draw(t, "length")) + `"`
			what := rapid.SampledFrom([]string{"record", "record", "lookup", "fail", "reopen", "power"}).Draw(t, "what")
			switch what {
			case "lookup":
				if got := journalled(t, j, key); got != model[key] {
					t.Fatalf("%s has %q, want %q", key, got, model[key])
				}
			case "fail", "record":
				if what == "fail" {
					f.fail = rapid.SampledFrom([]string{"write", "sync", "write truncate"}).Draw(t, "failing")
				}
				err := j.record(key, json.RawMessage(value))
				f.fail = ""
				old, has := model[key]
				switch {
				case has && old == value:
					if err != nil {
						t.Fatalf("an equal value: %v", err)
					}
				case has || broken || what == "fail":
					if err == nil {
						t.Fatal("no error")
					}
					broken = broken || !has && what == "fail"
				case err != nil:
					t.Fatal(err)
				default:
					model[key] = value
				}
			case "reopen":
				j, f = inMemory(t, f.data)
				broken = false
			case "power":
				was, safe := bytes.Clone(f.data), bytes.Clone(f.synced)
				if !broken && !bytes.Equal(was, safe) {
					t.Fatalf("%q is not safe", was[len(safe):])
				}
				// A record is under way, and a part of it reaches the disk.
				after := append(append(bytes.Clone(safe), new(Journal).appendRecord(nil, keyOf(t, "new"), []byte(value))...), '\n')
				if rapid.Bool().Draw(t, "cut") {
					after = after[:rapid.IntRange(len(safe), len(after)-1).Draw(t, "length")]
				} else {
					first := rapid.IntRange(0, (len(after)-1)/sectorSize-len(safe)/sectorSize).Draw(t, "lost")
					after = losePower(after, len(safe), func(n int) bool { return n == first || rapid.Bool().Draw(t, "sector") })
				}
				j, f = inMemory(t, after)
				if !bytes.Equal(f.data, safe) {
					t.Fatalf("%q is left, want %q", f.data, safe)
				}
				broken = false
			}
			if j.Len() != len(model) {
				t.Fatalf("%s: %d records, want %d", what, j.Len(), len(model))
			}
		}
		j, _ = inMemory(t, f.data)
		got := map[string]string{}
		for key := range model {
			got[key] = journalled(t, j, key)
		}
		if !maps.Equal(got, model) || j.Len() != len(model) {
			t.Fatalf("in the end %v, want %v", got, model)
		}
	})
}

// Many at once record and look up; everything is there afterwards, once.
func TestJournalConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := openJournal(t, path)
	const workers, keys = 8, 40
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for _, i := range rng.Perm(keys) {
				key, err := journalKey(i)
				if err == nil {
					err = j.record(key, strings.Repeat(fmt.Sprint(i), 1000))
				}
				var got string
				ok, err2 := j.lookup(key, &got)
				if err != nil || err2 != nil || !ok || got != strings.Repeat(fmt.Sprint(i), 1000) {
					t.Errorf("%d: %v, %v, %v", i, err, err2, ok)
				}
				j.Len()
			}
		})
	}
	all.Wait()
	j.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(data, []byte("\n")); lines != keys+1 {
		t.Errorf("%d lines, want a header and %d records", lines, keys)
	}
	j = openJournal(t, path)
	defer j.Close()
	for i := range keys {
		if got := journalled(t, j, keyOf(t, i)); got != `"`+strings.Repeat(fmt.Sprint(i), 1000)+`"` {
			t.Errorf("%d: %.20q", i, got)
		}
	}
}

// A file that changes while it is open is an error where it shows, and never another value.
func TestJournalChangedMeanwhile(t *testing.T) {
	data, starts, _ := sampleJournal(t)
	for name, change := range map[string]func(f *memFile){
		"cut":     func(f *memFile) { f.data = f.data[:starts[1]+10] },
		"flipped": func(f *memFile) { f.data[starts[1]+lineHead+12] ^= 1 },
		"other": func(f *memFile) {
			copy(f.data[starts[1]:], new(Journal).appendRecord(nil, keyOf(t, "x"), []byte(`{"pass":1,"valid":2}`)))
		},
	} {
		j, f := inMemory(t, data)
		change(f)
		ok, err := j.lookup(keyOf(t, 0), new(Tally))
		if ok || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the line at byte %d", starts[1])) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if err := j.record(keyOf(t, 0), Tally{1, 2}); err == nil {
			t.Errorf("%s: recorded again without an error", name)
		}
	}
}

// What is accepted is a beginning of what was there that ends with a line, or a header where there was a part of one; to open it again
// changes nothing; and it takes records.
func FuzzJournal(f *testing.F) {
	data, starts, _ := sampleJournal(f)
	f.Add(data)
	f.Add(data[:starts[2]+50])
	f.Add(data[:len(data)-1])
	f.Add(data[:20])
	f.Add([]byte(nil))
	f.Add([]byte(`{"rigger_journal":true,"schema_version":2}` + "\n"))
	f.Add(slices.Concat(data, data[starts[1]:]))
	f.Add(slices.Concat(data, make([]byte, 9), []byte("\n")))
	f.Add(append(new(Journal).appendRecord([]byte(journalHeader), strings.Repeat("0", 64), []byte(`1,"x":`)), '\n'))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := &memFile{data: bytes.Clone(data)}
		j, err := readJournal(file, "memory")
		if err != nil {
			if !bytes.Equal(file.data, data) || !strings.Contains(err.Error(), "memory line ") {
				t.Fatalf("%v; the file is %q, was %q", err, file.data, data)
			}
			return
		}
		left := bytes.Clone(file.data)
		if !bytes.HasPrefix(data, left) && !(string(left) == journalHeader && strings.HasPrefix(journalHeader, string(data))) {
			t.Fatalf("%q became %q", data, left)
		}
		if !bytes.HasPrefix(left, []byte(journalHeader)) || !bytes.HasSuffix(left, []byte("\n")) || j.end != int64(len(left)) {
			t.Fatalf("%q is left, and %d bytes of it are good", left, j.end)
		}
		again, file := inMemory(t, left)
		if !bytes.Equal(file.data, left) || !maps.Equal(again.index, j.index) {
			t.Fatalf("opened again %q became %q", left, file.data)
		}
		for key := range j.index {
			var raw json.RawMessage
			if ok, err := again.lookup(fmt.Sprintf("%x", key), &raw); ok != (err == nil) || ok && !json.Valid(raw) {
				t.Fatalf("%x: %v, %v, %q", key, ok, err, raw)
			}
		}
		key := keyOf(t, "new")
		mustRecord(t, again, key, "new")
		again, _ = inMemory(t, file.data)
		if got := journalled(t, again, key); got != `"new"` || !bytes.HasPrefix(file.data, left) {
			t.Fatalf("what was recorded then is %q", got)
		}
	})
}

// longTrace is like a rollout of 100 turns with a text of 1 KiB in each, most of which was there before.
func longTrace(seed uint64) envharness.Trace {
	rng := rand.New(rand.NewPCG(seed, 0))
	words := strings.Fields("you are in the middle of a room looking quickly around see cabinet drawer shelf fridge countertop sink microwave stove")
	var tr envharness.Trace
	parts := make([]string, 40)
	for range 100 {
		for range 4 {
			var s []string
			for range 5 {
				s = append(s, words[rng.IntN(len(words))])
			}
			parts[rng.IntN(len(parts))] = strings.Join(s, " ")
		}
		text := strings.Join(parts, ". ")
		o := envharness.Observation{Text: text}
		a := &envharness.Action{Name: words[rng.IntN(len(words))], Args: json.RawMessage(`{"to":"` + words[rng.IntN(len(words))] + `"}`)}
		raw := envharness.Transition{Observation: o}
		tr.Turns = append(tr.Turns, envharness.TurnTrace{Proposed: a, Applied: a, Raw: &raw, Shown: raw})
	}
	return tr
}

func BenchmarkJournal(b *testing.B) {
	fill := func(b *testing.B, path string, n int, v func(i int) any) *Journal {
		file, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		w := bufio.NewWriter(file)
		io.WriteString(w, journalHeader)
		for i := range n {
			raw, err := json.Marshal(v(i))
			if err != nil {
				b.Fatal(err)
			}
			w.Write(append(new(Journal).appendRecord(nil, keyOf(b, i), raw), '\n'))
		}
		if err := errors.Join(w.Flush(), file.Close()); err != nil {
			b.Fatal(err)
		}
		return openJournal(b, path)
	}
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		path := filepath.Join(b.TempDir(), "journal")
		j := openJournal(b, path)
		defer j.Close()
		traces := []envharness.Trace{longTrace(1), longTrace(2), longTrace(3)}
		n := 0
		for b.Loop() {
			if _, err := j.recordTrace(keyOf(b, n), traces[n%3]); err != nil {
				b.Fatal(err)
			}
			n++
		}
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/float64(n), "file-B/op")
		var plain bytes.Buffer
		if err := envharness.WriteTraces(&plain, traces); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(plain.Len())/3, "json-B/op")
	})
	b.Run("record/small", func(b *testing.B) {
		b.ReportAllocs()
		j := openJournal(b, filepath.Join(b.TempDir(), "journal"))
		defer j.Close()
		n := 0
		for b.Loop() {
			mustRecord(b, j, keyOf(b, n), Tally{1, 2})
			n++
		}
	})
	b.Run("lookup", func(b *testing.B) {
		b.ReportAllocs()
		j := openJournal(b, filepath.Join(b.TempDir(), "journal"))
		defer j.Close()
		key := keyOf(b, 0)
		if _, err := j.recordTrace(key, longTrace(1)); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, ok, err := j.lookupTrace(key); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("open/10000", func(b *testing.B) {
		b.ReportAllocs()
		path := filepath.Join(b.TempDir(), "journal")
		few := make([]json.RawMessage, 10)
		for i := range few {
			var buf bytes.Buffer
			if err := envharness.WriteTraces(&buf, []envharness.Trace{longTrace(uint64(i))}); err != nil {
				b.Fatal(err)
			}
			few[i] = bytes.TrimSpace(buf.Bytes())
		}
		fill(b, path, 10_000, func(i int) any { return few[i%10] }).Close()
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(info.Size())
		for b.Loop() {
			j := openJournal(b, path)
			if j.Len() != 10_000 {
				b.Fatal(j.Len())
			}
			j.Close()
		}
	})
}
