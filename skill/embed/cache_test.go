package embed

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill"
)

// A model is an embedder that writes down what it was asked.
type model struct {
	id   string
	dim  int
	fail func(texts []string) error // may be nil

	mu    sync.Mutex
	calls [][]string
}

func (m *model) ID() string { return m.id }

func (m *model) Embed(_ context.Context, texts []string) ([][]float64, error) {
	m.mu.Lock()
	m.calls = append(m.calls, slices.Clone(texts))
	m.mu.Unlock()
	if m.fail != nil {
		if err := m.fail(texts); err != nil {
			return nil, err
		}
	}
	out := make([][]float64, len(texts))
	for i, s := range texts {
		out[i] = m.vector(s)
	}
	return out, nil
}

// vector has numbers with every bit of the mantissa in use, and those that formatting would lose.
func (m *model) vector(s string) []float64 {
	h := fnv.New64a()
	h.Write([]byte(m.id + "/" + s))
	v := []float64{math.Copysign(0, -1), 5e-324, math.MaxFloat64}
	for len(v) < m.dim {
		h.Write([]byte{1})
		v = append(v, math.Float64frombits(h.Sum64()>>2)) // finite: the exponent's highest bits are 0
	}
	return v[:m.dim]
}

// check fails the test unless the cache returns exactly the vectors of the model.
func check(t interface{ Fatalf(string, ...any) }, c *Cache, m *model, texts ...string) {
	got, err := c.Embed(context.Background(), texts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if len(got) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(got), len(texts))
	}
	for i, s := range texts {
		if !sameBits(got[i], m.vector(s)) {
			t.Fatalf("text %d, %q: %v, want %v", i, s, got[i], m.vector(s))
		}
	}
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

func newCache(t interface{ Fatal(...any) }, e skill.Embedder, dir string, o *CacheOptions) *Cache {
	c, err := NewCache(e, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCache(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		m := &model{id: "m", dim: 5}
		c := newCache(t, m, dir, nil)
		check(t, c, m, "b", "a", "b", "", "b")
		check(t, c, m, "c", "a", "d", "c", "a")
		check(t, c, m)
		check(t, c, m, "d", "")
		want := [][]string{{"b", "a", ""}, {"c", "d"}}
		if diff := gocmp.Diff(want, m.calls); diff != "" {
			t.Errorf("dir %q: only misses, once, in order (-want +got):\n%s", dir, diff)
		}
		if got, want := c.Stats(), (CacheStats{Memory: 4, Embedded: 5}); got != want {
			t.Errorf("dir %q: %+v, want %+v", dir, got, want)
		}
		if c.ID() != "m" {
			t.Errorf("ID %q, want that of the embedder", c.ID())
		}
		if dir == "" {
			continue
		}
		// Another process.
		c = newCache(t, m, dir, nil)
		check(t, c, m, "a", "b", "c", "d", "", "a")
		if got, want := c.Stats(), (CacheStats{Memory: 1, Disk: 5}); got != want || len(m.calls) != 2 {
			t.Errorf("reopened: %+v after %d calls, want %+v after 2", got, len(m.calls), want)
		}
	}
}

// The vectors that a caller gets are its own, and so are those that an embedder keeps.
func TestCacheOwnership(t *testing.T) {
	m := &model{id: "m", dim: 4}
	for _, dir := range []string{"", t.TempDir()} {
		for range 2 {
			c := newCache(t, m, dir, nil)
			for range 3 {
				got, err := c.Embed(t.Context(), []string{"a", "a"})
				if err != nil {
					t.Fatal(err)
				}
				if !sameBits(got[0], m.vector("a")) || !sameBits(got[1], m.vector("a")) {
					t.Fatalf("%v, want %v twice", got, m.vector("a"))
				}
				got[0][0] = 7
				if got[1][0] == 7 {
					t.Fatal("two texts share a vector")
				}
			}
		}
	}
}

// Neither another embedder nor another split between its ID and the text finds a vector.
func TestCacheKeys(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"m", "m1", "m\x00", "m/a"} {
		m := &model{id: id, dim: 4}
		c := newCache(t, m, dir, nil)
		check(t, c, m, "a", "1a", "\x00a", "/aa")
		if got := c.Stats(); got.Embedded != 4 {
			t.Errorf("%q: %+v, want all 4 embedded", id, got)
		}
	}
	seen := map[key]string{}
	for _, parts := range [][2]string{{"ab", "c"}, {"a", "bc"}, {"", "abc"}, {"abc", ""}} {
		k := keyOf(parts[0], parts[1])
		if other, ok := seen[k]; ok {
			t.Errorf("%q has the key of %s", parts, other)
		}
		seen[k] = fmt.Sprintf("%q", parts)
	}
}

func TestCacheBatches(t *testing.T) {
	for _, n := range []int{255, 256, 257, 700} {
		m := &model{id: "m", dim: 3}
		c := newCache(t, m, "", nil)
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprint(i)
		}
		check(t, c, m, "3", "5")
		check(t, c, m, texts...)
		if got := slices.Concat(m.calls[1:]...); len(got) != n-2 {
			t.Errorf("%d texts were embedded, want %d", len(got), n-2)
		}
		for _, call := range m.calls {
			if len(call) > 256 || len(call) == 0 {
				t.Errorf("a call of %d texts, want 1 to 256", len(call))
			}
		}
	}
}

func TestCacheOptions(t *testing.T) {
	f := skill.EmbedderFunc(func(context.Context, []string) ([][]float64, error) { return [][]float64{{1}}, nil })
	_, err := NewCache(f, "", nil)
	wantError(t, err, "embed: cache", "skill.EmbedderFunc", "no ID")
	_, err = NewCache(&model{}, "", &CacheOptions{MemoryBytes: -1})
	wantError(t, err, "no ID", "MemoryBytes is -1")
	_, err = NewCache(nil, "", &CacheOptions{ID: "x"})
	wantError(t, err, "no embedder")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = NewCache(f, file, &CacheOptions{ID: "x"})
	wantError(t, err, "embed: cache", file)
	if c := newCache(t, f, "", &CacheOptions{ID: "x"}); c.ID() != "x" {
		t.Errorf("ID %q, want x", c.ID())
	}
	if c := newCache(t, &model{id: "m"}, "", &CacheOptions{ID: "x"}); c.ID() != "x" {
		t.Errorf("ID %q, want that of the options", c.ID())
	}
	deep := filepath.Join(t.TempDir(), "a", "b")
	m := &model{id: "m", dim: 3}
	check(t, newCache(t, m, deep, nil), m, "x")
}

// What fails or cannot be used leaves nothing behind: neither in memory nor on disk.
func TestCacheFailures(t *testing.T) {
	down := errors.New("service is down")
	answer := func(vs ...[]float64) skill.EmbedderFunc {
		return func(context.Context, []string) ([][]float64, error) { return vs, nil }
	}
	good := []float64{1, 2}
	for _, tt := range []struct {
		name   string
		e      skill.EmbedderFunc
		index  int
		want   string
		reason string
	}{
		{"down", func(context.Context, []string) ([][]float64, error) { return nil, down }, -2, "service is down", "the error of the service"},
		{"half", func(context.Context, []string) ([][]float64, error) { return [][]float64{good, good}, down }, -2, "service is down",
			"vectors beside an error do not count"},
		{"few", answer(good), -1, "1 vectors for 2 texts", "one is missing"},
		{"many", answer(good, good, good), -1, "3 vectors for 2 texts", "one too many"},
		{"none", answer(), -1, "0 vectors", "all are missing"},
		{"empty", answer(good, nil), 2, "has 0 entries", "no entries"},
		{"uneven", answer(good, good[:1]), 2, "has 1 entries, want 2", "another length"},
		{"NaN", answer(good, []float64{1, math.NaN()}), 2, "entry 1 = NaN", "no number"},
		{"Inf", answer([]float64{math.Inf(-1), 0}, good), 0, "entry 0 = -Inf", "infinite"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			c := newCache(t, tt.e, dir, &CacheOptions{ID: "x"})
			for range 2 { // the second time it is not remembered either
				vs, err := c.Embed(t.Context(), []string{"a", "a", "b"}) // b is the second text sent and the third given
				wantError(t, err, tt.want)
				if vs != nil {
					t.Errorf("vectors %v beside an error", vs)
				}
				fault, ok := errors.AsType[*skill.VectorError](err)
				if ok != (tt.index >= -1) || ok && (fault.Index != tt.index || fault.Embedder != "x") {
					t.Errorf("%+v, want index %d", fault, tt.index)
				}
				if !ok && !errors.Is(err, down) {
					t.Errorf("%v does not wrap the cause", err)
				}
			}
			if got := c.Stats(); got != (CacheStats{}) {
				t.Errorf("%+v, want nothing", got)
			}
			if files := entries(t, dir); len(files) > 0 {
				t.Errorf("files %v", files)
			}
		})
	}

	// What earlier parts of a call computed is kept.
	m := &model{id: "m", dim: 3, fail: func(texts []string) error {
		if slices.Contains(texts, "300") {
			return down
		}
		return nil
	}}
	c := newCache(t, m, "", nil)
	texts := make([]string, 400)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	if _, err := c.Embed(t.Context(), texts); !errors.Is(err, down) {
		t.Fatalf("%v, want the failure", err)
	}
	check(t, c, m, texts[:256]...)
	if got := c.Stats(); got.Memory != 256 || got.Embedded != 256 {
		t.Errorf("%+v, want the first 256 texts kept", got)
	}

	// A model that changed under its ID.
	dir := t.TempDir()
	old := &model{id: "m", dim: 3}
	check(t, newCache(t, old, dir, nil), old, "a")
	changed := newCache(t, &model{id: "m", dim: 4}, dir, nil)
	_, err := changed.Embed(t.Context(), []string{"b", "a"})
	wantError(t, err, "embed: cache: ", `"m"`, "text 0 of 2 has 4 entries, want 3", "a new ID")
	check(t, newCache(t, &model{id: "m", dim: 4}, dir, nil), &model{id: "m", dim: 4}, "b")
	_, err = changed.Embed(t.Context(), []string{"b", "a"})
	wantError(t, err, "text 0 of 2 has 4 entries, want 3", "a new ID")
	_, err = newCache(t, &model{id: "m", dim: 4}, dir, nil).Embed(t.Context(), []string{"b", "a"})
	wantError(t, err, "text 1 of 2 has 3 entries, want 4", "a new ID")

	// A model that errs once, in a call of its own: nothing of it is kept, in memory or on disk.
	for _, dir := range []string{"", t.TempDir()} {
		m := &model{id: "m", dim: 3}
		c := newCache(t, m, dir, nil)
		check(t, c, m, "a")
		m.dim = 4
		_, err := c.Embed(t.Context(), []string{"b"})
		wantError(t, err, "text 0 of 1 has 4 entries, want 3")
		if fault, ok := errors.AsType[*skill.VectorError](err); !ok || fault.Index != 0 || fault.Texts != 1 {
			t.Errorf("%v, want a VectorError of text 0 of 1", err)
		}
		m.dim = 3
		check(t, c, m, "b", "a")
	}

	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Embed(done, []string{"0"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a done context gives %v for a known text", err)
	}
	calls := 0
	stop, cancel := context.WithCancel(t.Context())
	c = newCache(t, skill.EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		calls++
		cancel()
		return slices.Repeat([][]float64{{1}}, len(texts)), nil
	}), "", &CacheOptions{ID: "x"})
	if _, err := c.Embed(stop, texts); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls, want the context's error after the first", err, calls)
	}
}

// entries lists the files of a cache.
func entries(t interface{ Fatal(...any) }, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A file in which any bit is turned, that is cut anywhere, is longer, belongs to another text or is of another kind is computed
// again and replaced.
func TestCacheDamage(t *testing.T) {
	m := &model{id: "m", dim: 3}
	dir := t.TempDir()
	check(t, newCache(t, m, dir, nil), m, "a")
	file := entries(t, dir)[0]
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := encodeEntry(keyOf("m", "b"), m.vector("b"))
	var damaged [][]byte
	for i := range whole {
		damaged = append(damaged, whole[:i])
		for bit := range 8 {
			b := slices.Clone(whole)
			b[i] ^= 1 << bit
			damaged = append(damaged, b)
		}
	}
	if testing.Short() {
		damaged = damaged[len(damaged)-100:]
	}
	damaged = append(damaged, append(slices.Clone(whole), 0), append(slices.Clone(whole), whole...), other, make([]byte, len(whole)),
		encodeEntry(keyOf("m", "a"), []float64{1, math.NaN(), 2}), encodeEntry(keyOf("m", "a"), nil))
	// Whole by their checksum, but of another format or with a number of entries that is not theirs.
	for _, forge := range []func(body []byte) []byte{
		func(b []byte) []byte { b[6]++; return b },
		func(b []byte) []byte { b[headerSize-4]--; return b },
		func(b []byte) []byte { b[headerSize-4]++; return b },
		func(b []byte) []byte { b[headerSize-1] = 0xff; return b },
		func(b []byte) []byte { return append(b, 0) },
		func(b []byte) []byte { return append(b, make([]byte, 8)...) },
		func(b []byte) []byte { return b[:len(b)-8] },
	} {
		body := forge(slices.Clone(whole[:len(whole)-sha256.Size]))
		sum := sha256.Sum256(body)
		damaged = append(damaged, append(body, sum[:]...))
	}
	for i, b := range damaged {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c := newCache(t, m, dir, nil)
		check(t, c, m, "a")
		if got, want := c.Stats(), (CacheStats{Embedded: 1, Corrupt: 1}); got != want {
			t.Fatalf("damage %d: %+v, want %+v", i, got, want)
		}
		if b, err := os.ReadFile(file); err != nil || !slices.Equal(b, whole) {
			t.Fatalf("damage %d: the file was not put right (%v)", i, err)
		}
	}

	// Sizes that no vector has are not even read.
	if err := os.Truncate(file, entrySize(maxEntries)+1); err != nil {
		t.Fatal(err)
	}
	check(t, newCache(t, m, dir, nil), m, "a")
	// A link is replaced, not followed.
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err == nil {
		check(t, newCache(t, m, dir, nil), m, "a")
		if b, err := os.ReadFile(target); err != nil || string(b) != "mine" {
			t.Errorf("the target of a link is %q (%v)", b, err)
		}
	}
	// The whole folder may go while a cache is open.
	c := newCache(t, m, dir, nil)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	check(t, c, m, "a")
	if len(entries(t, dir)) != 1 {
		t.Error("the vector was not written again")
	}
	// What cannot be written is said, once; the vector is not lost.
	c = newCache(t, m, dir, nil)
	file = c.path(keyOf("m", "b"))
	if err := os.MkdirAll(filepath.Join(file, "occupied"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = c.Embed(t.Context(), []string{"b"})
	wantError(t, err, "embed: cache", file)
	check(t, c, m, "b")
	if got := c.Stats(); got.Memory != 1 {
		t.Errorf("%+v, want the vector in memory", got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", ".*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v (%v)", left, err)
	}
}

// However calls, new processes, small memories and damage follow each other, the answer is that of the model, which sees a text again
// only after its file was damaged.
func TestCacheModel(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		m := &model{id: fmt.Sprint("m", run), dim: rapid.IntRange(1, 6).Draw(t, "dim")}
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "é", "", "f"})
		onDisk := map[string]bool{}
		options := func() *CacheOptions {
			return &CacheOptions{MemoryBytes: rapid.SampledFrom([]int64{1, 600, 0}).Draw(t, "memory")}
		}
		c := newCache(t, m, dir, options())
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0: // a new process
				c = newCache(t, m, dir, options())
			case 1: // damage, seen by a new process
				s := name.Draw(t, "damaged")
				if onDisk[s] {
					if err := os.Truncate(c.path(keyOf(m.id, s)), int64(rapid.IntRange(0, 40).Draw(t, "size"))); err != nil {
						t.Fatal(err)
					}
					delete(onDisk, s)
				}
				c = newCache(t, m, dir, options())
			default:
				texts := rapid.SliceOfN(name, 0, 8).Draw(t, "texts")
				m.calls = nil
				var want []string
				for _, s := range texts {
					if !onDisk[s] {
						want = append(want, s)
						onDisk[s] = true
					}
				}
				check(t, c, m, texts...)
				if diff := gocmp.Diff(want, slices.Concat(m.calls...)); diff != "" {
					t.Fatalf("embedded (-want +got):\n%s", diff)
				}
			}
		}
	})
}

// Memory stays below its limit and keeps what was used last.
func TestCacheMemory(t *testing.T) {
	m := &model{id: "m", dim: 10}
	const limit, size = 20 * 180, 180 // of a vector of ten
	c := newCache(t, m, "", &CacheOptions{MemoryBytes: limit})
	for i := range 200 {
		check(t, c, m, fmt.Sprint(i), "often")
		total := int64(0)
		for _, part := range []map[key][]float64{c.memory.young, c.memory.old} {
			total += int64(len(part)) * size
		}
		if total > limit {
			t.Fatalf("%d bytes after %d texts, want at most %d", total, i, limit)
		}
	}
	if got := c.Stats(); got.Embedded != 201 || got.Memory != 199 {
		t.Errorf("%+v, want a text that is asked for all the time to stay", got)
	}
	check(t, c, m, "199", "198", "0")
	if got := c.Stats(); got.Embedded != 202 {
		t.Errorf("%+v, want the last texts known and the first forgotten", got)
	}
	c = newCache(t, m, "", &CacheOptions{MemoryBytes: 2*180 - 1}) // of which half is too little for one
	check(t, c, m, "a")
	check(t, c, m, "a")
	if got := c.Stats(); got.Embedded != 2 {
		t.Errorf("%+v, want nothing kept", got)
	}
}

// Many goroutines and several caches on one folder never see a wrong or damaged vector.
func TestCacheConcurrent(t *testing.T) {
	dir := t.TempDir()
	m := &model{id: "m", dim: 50}
	var caches []*Cache
	var wg sync.WaitGroup
	for i := range 3 {
		c := newCache(t, m, dir, &CacheOptions{MemoryBytes: []int64{1, 5000, 0}[i]})
		caches = append(caches, c)
		for g := range 3 {
			wg.Go(func() {
				for k := range 20 {
					texts := []string{fmt.Sprint(k), fmt.Sprint(k * g % 7), fmt.Sprint(k)}
					got, err := c.Embed(context.Background(), texts)
					if err != nil {
						t.Error(err)
						return
					}
					for i, s := range texts {
						if !sameBits(got[i], m.vector(s)) {
							t.Errorf("%q: %v, want %v", s, got[i], m.vector(s))
						}
					}
				}
			})
		}
	}
	wg.Wait()
	for _, c := range caches {
		if got := c.Stats(); got.Corrupt > 0 {
			t.Errorf("%+v, want nothing damaged", got)
		}
	}
}

const killedDir = "THROUGHLINE_TEST_KILLED_CACHE"

// TestCacheKilled kills a process that writes and looks at what it left.
func TestCacheKilled(t *testing.T) {
	m := &model{id: "m", dim: 2000}
	if dir := os.Getenv(killedDir); dir != "" { // the process that is killed
		c := newCache(t, m, dir, nil)
		for i := 0; ; i++ {
			check(t, c, m, fmt.Sprint(i))
			if _, err := fmt.Printf("\ncached %d\n", i); err != nil {
				t.Fatal(err) // whoever is to kill it is gone
			}
		}
	}
	if testing.Short() {
		t.Skip("starts a process")
	}
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self, "-test.run=^TestCacheKilled$")
	cmd.Env = append(os.Environ(), killedDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for cached := 0; cached < 20 && in.Scan(); {
		if strings.HasPrefix(in.Text(), "cached ") {
			cached++
		} else if in.Text() != "" {
			t.Errorf("the process says %q", in.Text())
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	n := 0
	for _, f := range entries(t, dir) {
		if !strings.HasPrefix(filepath.Base(f), ".") {
			n++
		}
	}
	if n < 20 {
		t.Fatalf("%d files, want those of the 20 texts that it said were cached", n)
	}
	c := newCache(t, m, dir, nil)
	for i := range n {
		check(t, c, m, fmt.Sprint(i))
	}
	if got, want := c.Stats(), (CacheStats{Disk: int64(n)}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What the reader accepts is exactly what the writer writes, of finite numbers.
func FuzzDecodeEntry(f *testing.F) {
	k := keyOf("m", "a")
	f.Add(encodeEntry(k, []float64{1, -0.5, 5e-324}))
	f.Add(encodeEntry(k, []float64{math.Inf(1)}))
	f.Add(encodeEntry(k, nil))
	f.Add(encodeEntry(keyOf("m", "b"), []float64{1}))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeEntry(k, b)
		if err != nil {
			if v != nil {
				t.Fatal("a vector beside an error")
			}
			return
		}
		if unusable(v) != "" || !slices.Equal(encodeEntry(k, v), b) {
			t.Fatalf("accepted %x as %v", b, v)
		}
	})
}

func BenchmarkCache(b *testing.B) {
	const dim = 384
	m := &model{id: "m", dim: dim}
	dir := b.TempDir()
	for _, n := range []int{1, 256} {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprint("a task of ordinary length, number ", i)
		}
		for _, tt := range []struct {
			name   string
			dir    string
			memory int64
		}{{"memory", "", 0}, {"disk", dir, 1}} {
			c := newCache(b, m, tt.dir, &CacheOptions{MemoryBytes: tt.memory})
			check(b, c, m, texts...)
			b.Run(fmt.Sprintf("hit/%s/n=%d", tt.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.Embed(b.Context(), texts)
				}
			})
		}
	}
	c := newCache(b, m, dir, &CacheOptions{MemoryBytes: 1})
	i := 0
	b.Run("miss/disk/n=256", func(b *testing.B) {
		texts := make([]string, 256)
		for b.Loop() {
			for k := range texts {
				i++
				texts[k] = fmt.Sprint("text ", i)
			}
			if _, err := c.Embed(b.Context(), texts); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The text that is named is the one whose vector differs from what was known before, not the first of its answer.
func TestCacheNamesTheWrongOne(t *testing.T) {
	c := newCache(t, skill.EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		vs := make([][]float64, len(texts))
		for i, s := range texts {
			vs[i] = make([]float64, len(s))
		}
		return vs, nil
	}), "", &CacheOptions{ID: "x"})
	if _, err := c.Embed(t.Context(), []string{"abc"}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Embed(t.Context(), []string{"abcd", "xyz"})
	wantError(t, err, "text 0 of 2 has 4 entries, want 3")
}

// What is no embedder is refused by name, and so is a Cache that NewCache has not made.
func TestCacheOfNothing(t *testing.T) {
	for _, e := range []skill.Embedder{nil, (*TFIDF)(nil), skill.EmbedderFunc(nil)} {
		for _, id := range []string{"", "x"} {
			if c, err := NewCache(e, "", &CacheOptions{ID: id}); c != nil || err == nil || !strings.Contains(err.Error(), "no embedder") {
				t.Errorf("%T: %v, %v", e, c, err)
			}
		}
	}
	_, err := new(Cache).Embed(t.Context(), []string{"a"})
	wantError(t, err, "NewCache")
}
