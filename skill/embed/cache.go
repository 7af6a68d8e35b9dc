package embed

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/throughline-go/throughline/skill"
)

// maxBatch is the most texts in one call of the embedder: services limit the size of a request.
const maxBatch = 256

// CacheOptions adjusts [NewCache]. A nil *CacheOptions equals &CacheOptions{}.
type CacheOptions struct {
	ID          string // names the embedder and its version; empty means what its method ID() string returns
	MemoryBytes int64  // most bytes of vectors kept in memory, at least 0; zero means 256 MiB
}

// A Cache is a [skill.Embedder] that remembers the vectors of another one by the hash of the embedder's ID and the text. It is
// safe for concurrent use. Get one from [NewCache].
type Cache struct {
	embedder skill.Embedder
	id, dir  string
	memory   memo
	dim      atomic.Int64 // entries of every vector; 0 until one is known

	fromMemory, fromDisk, embedded, corrupt atomic.Int64
}

// NewCache returns a cache around e that keeps its files in the folder dir and below; the folder is made if there is none. With an
// empty dir vectors are kept in memory alone.
//
// Several processes and several embedders can use one folder at once. Every vector has a file of its own, which appears
// whole under its name and carries a checksum, so one that a crash or a fault of the disk has damaged is computed again and
// never returned. Numbers come back bit for bit. The cache does not wait for the disk and deletes nothing: a file in the folder may be
// deleted at any time, and ".tmp" files are what a crash left behind.
//
// A vector from disk costs the reading of a small file and a new one the writing of one: some 10 and 100 microseconds, far less than a
// model takes (go test -bench Cache ./skill/embed).
//
// No embedder is an error, also as a nil pointer or function, and one without an ID, since the vectors of two of them would mix, as are options out of range and a dir that
// is not a folder. Give a new version of a model a new ID.
func NewCache(e skill.Embedder, dir string, o *CacheOptions) (*Cache, error) {
	var opts CacheOptions
	if o != nil {
		opts = *o
	}
	var faults []error
	if v := reflect.ValueOf(e); e == nil || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
		e = nil
		faults = append(faults, errors.New("embed: cache: no embedder"))
	} else if n, ok := e.(interface{ ID() string }); ok && opts.ID == "" {
		opts.ID = n.ID()
	}
	if opts.ID == "" && e != nil {
		faults = append(faults, fmt.Errorf("embed: cache: the embedder %T has no ID, want one in the options or from its method", e))
	}
	if opts.MemoryBytes < 0 {
		faults = append(faults, fmt.Errorf("embed: cache: MemoryBytes is %d, want at least 0", opts.MemoryBytes))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if opts.MemoryBytes == 0 {
		opts.MemoryBytes = 256 << 20
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("embed: cache: %w", err)
		}
	}
	return &Cache{embedder: e, id: opts.ID, dir: dir, memory: memo{limit: opts.MemoryBytes}}, nil
}

// ID returns the name of the embedder: a cache changes no vector.
func (c *Cache) ID() string { return c.id }

// CacheStats counts the texts of all calls of [Cache.Embed] by where their vectors came from.
type CacheStats struct {
	Memory   int64
	Disk     int64
	Embedded int64
	Corrupt  int64 // files that could not be used; their texts are among Embedded
}

// Stats returns the counts so far. A text that repeats within a call counts once if it had to be embedded.
func (c *Cache) Stats() CacheStats {
	return CacheStats{c.fromMemory.Load(), c.fromDisk.Load(), c.embedded.Load(), c.corrupt.Load()}
}

// Embed returns one vector per text. Those that are not known are computed by the embedder: in order, each text once, at
// most 256 in a call. Calls at the same time may both compute a text.
//
// What the embedder fails with is returned, and an answer that cannot be used is a [*skill.VectorError] whose index is that
// of the text; nothing of that answer is kept, while earlier parts of the same call are. A vector of another length than the first
// that this Cache has returned or kept, from memory, disk or the embedder, is such an answer, and one of that kind from disk is an error
// as well: then the model was changed under its ID, and wants a new one. A file that cannot be written is an error: the vectors are then in memory, as far as they fit. A
// done ctx is an error.
func (c *Cache) Embed(ctx context.Context, texts []string) ([][]float64, error) {
	out := make([][]float64, len(texts))
	keys := make([]key, len(texts))
	unknown := map[key]int{} // the first text of each key that is not known
	var miss []int
	if c.embedder == nil {
		return nil, errors.New("embed: cache: no embedder; get a Cache from NewCache")
	}
	dim := int(c.dim.Load()) // that all must have; 0 if none is known
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed: cache: %w", err)
		}
		keys[i] = keyOf(c.id, s)
		if _, ok := unknown[keys[i]]; ok {
			continue
		}
		v := c.lookup(keys[i])
		if v == nil {
			unknown[keys[i]] = i
			miss = append(miss, i)
			continue
		}
		if dim = c.fix(len(v)); len(v) != dim {
			return nil, c.fault(i, len(texts), wrongLength(len(v), dim))
		}
		out[i] = v
	}
	for batch := range slices.Chunk(miss, maxBatch) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed: cache: %w", err)
		}
		part := make([]string, len(batch))
		for k, i := range batch {
			part[k] = texts[i]
		}
		vs, err := c.embedder.Embed(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("embed: cache: %w", err)
		}
		if len(vs) != len(batch) {
			return nil, c.fault(-1, len(texts), fmt.Sprintf("%d vectors for %d texts", len(vs), len(batch)))
		}
		for k, v := range vs {
			i := batch[k]
			if reason := unusable(v); reason != "" {
				return nil, c.fault(i, len(texts), reason)
			}
			if dim == 0 {
				dim = len(v)
			}
			if len(v) != dim {
				return nil, c.fault(i, len(texts), wrongLength(len(v), dim))
			}
			out[i] = v
		}
		if known := c.fix(dim); known != dim { // by a call at the same time
			return nil, c.fault(batch[0], len(texts), wrongLength(dim, known))
		}
		c.embedded.Add(int64(len(batch)))
		for _, i := range batch {
			c.memory.put(keys[i], out[i])
		}
		for _, i := range batch {
			if err := c.write(keys[i], out[i]); err != nil {
				return nil, fmt.Errorf("embed: cache: %w", err)
			}
		}
	}
	for i, v := range out {
		if v == nil {
			out[i] = slices.Clone(out[unknown[keys[i]]])
		}
	}
	return out, nil
}

// fix returns the number of entries that all vectors have, and makes it n if none was known.
func (c *Cache) fix(n int) int {
	c.dim.CompareAndSwap(0, int64(n))
	return int(c.dim.Load())
}

func (c *Cache) fault(index, texts int, reason string) error {
	return fmt.Errorf("embed: cache: %w", &skill.VectorError{Embedder: c.id, Index: index, Texts: texts, Reason: reason})
}

func wrongLength(n, want int) string {
	return fmt.Sprintf("has %d entries, want %d as those before; give an embedder that was changed a new ID", n, want)
}

// unusable says why a vector cannot be used; empty if it can.
func unusable(v []float64) string {
	if len(v) == 0 || len(v) > maxEntries {
		return fmt.Sprintf("has %d entries, want 1 to %d", len(v), maxEntries)
	}
	for j, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Sprintf("has entry %d = %g, want a finite number", j, x)
		}
	}
	return ""
}

// A key is the SHA-256 of an embedder's ID and a text.
type key [sha256.Size]byte

func keyOf(id, s string) key {
	b := make([]byte, 0, 8+len(id)+len(s))
	b = binary.BigEndian.AppendUint64(b, uint64(len(id))) // tells "a"+"bc" from "ab"+"c"
	b = append(b, id...)
	b = append(b, s...)
	return sha256.Sum256(b)
}

// lookup returns a copy of a known vector, or nil.
func (c *Cache) lookup(k key) []float64 {
	if v := c.memory.get(k); v != nil {
		c.fromMemory.Add(1)
		return slices.Clone(v)
	}
	if c.dir == "" {
		return nil
	}
	v, err := c.read(k)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.corrupt.Add(1)
		}
		return nil
	}
	c.fromDisk.Add(1)
	c.memory.put(k, v)
	return v
}

// path returns where the vector of a key is kept: in one of 256 folders, since some systems are slow with many files in one.
func (c *Cache) path(k key) string {
	name := hex.EncodeToString(k[:])
	return filepath.Join(c.dir, name[:2], name[2:])
}

func (c *Cache) read(k key) ([]float64, error) {
	path := c.path(k)
	info, err := os.Lstat(path) // opening a pipe could wait for ever
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > entrySize(maxEntries) {
		return nil, errCorrupt
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decodeEntry(k, b)
}

// write puts a whole file in place. It does not sync: the checksum tells what a sync would have saved, and the vector is computed again.
func (c *Cache) write(k key, v []float64) error {
	if c.dir == "" {
		return nil
	}
	path := c.path(k)
	folder := filepath.Dir(path)
	tmp := filepath.Join(folder, "."+rand.Text()+".tmp")
	create := func() (*os.File, error) { return os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) }
	f, err := create()
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		f, err = create()
	}
	if err != nil {
		return err
	}
	_, err = f.Write(encodeEntry(k, v))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		if _, e := c.read(k); e == nil {
			return nil // another process put it there, and some systems do not replace a file that is being read
		}
	}
	return err
}

// memo keeps the vectors used last within a limit: two generations, of which the older goes when the younger has half of it.
type memo struct {
	mu         sync.Mutex
	limit      int64
	young, old map[key][]float64
	bytes      int64 // of young
}

// get returns a vector that must not be changed, or nil.
func (m *memo) get(k key) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.young[k]; v != nil {
		return v
	}
	v := m.old[k]
	if v != nil {
		m.add(k, v)
	}
	return v
}

// put keeps a copy of v.
func (m *memo) put(k key, v []float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.young[k] == nil {
		m.add(k, slices.Clone(v))
	}
}

func (m *memo) add(k key, v []float64) {
	const overhead = 100 // of a key and a slice in a map, about
	size := int64(8*len(v) + overhead)
	if size > m.limit/2 {
		return
	}
	if m.bytes+size > m.limit/2 {
		m.old, m.young, m.bytes = m.young, nil, 0
	}
	if m.young == nil {
		m.young = map[key][]float64{}
	}
	m.young[k] = v
	m.bytes += size
}
