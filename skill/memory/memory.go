package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/internal/calls"
	"github.com/throughline-go/throughline/skill/internal/vector"
	"github.com/throughline-go/throughline/skill/scan"
)

// Errors that callers branch on.
var (
	ErrExists   = errors.New("memory: the name is taken")
	ErrNotFound = errors.New("memory: no such skill")
	ErrConflict = errors.New("memory: the skill has changed")
	ErrUnsafe   = error(unsafeError{}) // wraps skill.ErrUnsafe
	ErrLocked   = errors.New("memory: another process writes to the directory")
	ErrReadOnly = errors.New("memory: opened for reading only")
)

type unsafeError struct{}

func (unsafeError) Error() string { return "memory: the skill is unsafe" }
func (unsafeError) Unwrap() error { return skill.ErrUnsafe }

// Defaults of arXiv:2608.20274.
const (
	defaultTopK     = 5
	defaultMinSim   = 0.30
	defaultMergeSim = 0.85
)

// Options adjusts [Open] and [New]. A nil *Options equals &Options{}.
type Options struct {
	Embedder    skill.Embedder   // compares descriptions and queries; nil means skill.HashEmbedder{}
	Format      skill.Format     // of all its skills: text and code do not mix
	TopK        int              // most skills that a query selects; zero means 5, as in the paper
	MinSim      *float64         // similarity in [-1, 1] that a selected skill exceeds; nil means 0.30, as in the paper
	MergeSim    *float64         // similarity in [-1, 1] above which a new skill is the same as a stored one; nil means 0.85, as in the paper
	AllowUnsafe bool             // take and show skills with findings of severity scan.High; false refuses and quarantines them
	ReadOnly    bool             // Open: no lock, no write, and the directory must be there
	NoSync      bool             // do not wait for the disk: a crash of the machine, not of the process, can lose the last writes
	Now         func() time.Time // the clock of history, which must not call the memory; nil means time.Now
}

// An Entry is a current skill of a memory. It is not changed afterwards and must not be.
type Entry struct {
	*skill.Document
	Record      skill.Record
	Quarantined bool // not to be shown, nor retrieved or merged into: unsafe, or no skill of this memory; Diagnostics says why
}

// A Memory keeps skills of one format; [New] or [Open] makes one. It is safe for concurrent use: any number of goroutines read while one writes, and the others
// that want to write wait for it. Embedders and files are never waited for by a reader. A write that fails or is canceled leaves the
// memory as it was.
type Memory struct {
	o     Options // resolved
	store *store
	diags []skill.Diagnostic
	dim   atomic.Int64 // of the embedder; 0 until it is known
	pool  sync.Pool    // of *scratch

	writing chan struct{} // holds a value while a write is going on
	closed  bool          // of the writer

	mu       sync.RWMutex // of what follows, which only the writer changes
	items    map[string]*item
	sorted   []*item // by name
	index    index
	graph    graph
	isolated int // quarantined items
	usage    usage
	suffixes map[string]int // of the writer: by name, the smallest suffix that may be free
}

// An item is an entry and where the index keeps its vector.
type item struct {
	Entry
	slot int32   // -1 if it has no vector
	dims []int32 // of its vector in the lists; nil for a row
}

// New returns an empty memory that lives in the process alone. It has the same history and rules as one in a directory. The errors
// are those of the options, joined.
func New(ctx context.Context, o *Options) (*Memory, error) {
	opts, err := o.resolve()
	if opts.ReadOnly {
		err = errors.Join(err, errors.New("memory: ReadOnly needs a directory"))
	}
	if err != nil {
		return nil, err
	}
	return load(ctx, newInProcess(opts.storeOptions()), opts)
}

// Open opens the memory in a directory and makes it if there is none. The SKILL.md files below dir/skills are the truth, also when
// they were edited by hand; vectors and the graph of calls are made anew, with one call of the embedder for 256 descriptions.
//
// What is wrong with one skill is in [Memory.Diagnostics] and hides no other. A skill with a finding of severity scan.High, of the
// other format, without its function, or of a function that another skill has is in [Memory.Quarantined]. The error is for options out of range, a directory that cannot
// be read or, unless ReadOnly, locked ([ErrLocked]), an unusable answer of the embedder ([*skill.VectorError]), a done ctx, and a
// directory in which every skill has the other format. The caller closes the memory.
func Open(ctx context.Context, dir string, o *Options) (*Memory, error) {
	opts, err := o.resolve()
	if err != nil {
		return nil, err
	}
	s, err := openDir(ctx, dir, opts.storeOptions())
	if err != nil {
		return nil, err
	}
	m, err := load(ctx, s, opts)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return m, nil
}

// resolve checks the options and fills the defaults in.
func (o *Options) resolve() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	var errs []error
	if r.Format != skill.FormatText && r.Format != skill.FormatCode {
		errs = append(errs, fmt.Errorf("memory: Format is %v, want text or code", r.Format))
	}
	if r.TopK < 0 {
		errs = append(errs, fmt.Errorf("memory: TopK is %d, want at least 1", r.TopK))
	}
	r.TopK = cmp.Or(r.TopK, defaultTopK)
	similarity := func(name string, v *float64, unset float64) *float64 {
		if v == nil {
			return &unset
		}
		if !(*v >= -1 && *v <= 1) { // also for NaN
			errs = append(errs, fmt.Errorf("memory: %s is %g, want it in [-1, 1]", name, *v))
		}
		return new(*v)
	}
	r.MinSim = similarity("MinSim", r.MinSim, defaultMinSim)
	r.MergeSim = similarity("MergeSim", r.MergeSim, defaultMergeSim)
	if r.Embedder == nil {
		r.Embedder = skill.HashEmbedder{}
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	return r, errors.Join(errs...)
}

func (o *Options) storeOptions() storeOptions {
	return storeOptions{readOnly: o.ReadOnly, noSync: o.NoSync, now: o.Now}
}

// load builds the memory over a store.
func load(ctx context.Context, s *store, o Options) (*Memory, error) {
	current, uses, diags, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	m := &Memory{
		o: o, store: s, diags: diags,
		pool:    sync.Pool{New: func() any { return new(scratch) }},
		writing: make(chan struct{}, 1),
		items:   make(map[string]*item, len(current)),
		usage:   make(usage),
	}
	other := 0
	items := make([]*item, len(current))
	texts := make([]string, len(current))
	for i, c := range current {
		it, diag := m.newItem(c)
		if diag != nil {
			m.diags = append(m.diags, *diag)
		}
		if c.rec.Format != o.Format {
			other++
		}
		items[i] = it
		if !it.Quarantined {
			texts[i] = it.Description()
		}
	}
	if other > 0 && other == len(current) {
		return nil, fmt.Errorf("memory: open: Format is %v, but the skills in %s are %v", o.Format, s.t.shown("."), current[0].rec.Format)
	}
	vecs, err := m.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		if diag := m.put(it, vecs[i]); diag != nil {
			m.diags = append(m.diags, *diag)
		}
	}
	for _, u := range uses {
		m.usage.record(u)
	}
	return m, nil
}

// newItem returns the item of a stored skill, without a vector, and why it is quarantined if it is.
func (m *Memory) newItem(s stored) (*item, *skill.Diagnostic) {
	it := &item{Entry: Entry{Document: s.doc, Record: s.rec}, slot: -1}
	if s.rec.Format != m.o.Format {
		return it, it.quarantine("format", fmt.Sprintf("skill %q is %v, want %v", it.Name(), s.rec.Format, m.o.Format))
	}
	if m.o.Format == skill.FormatCode {
		lang, source, ok := skill.Code(s.doc.Content)
		if !ok || s.rec.Function == "" {
			return it, it.quarantine("no-function", fmt.Sprintf("skill %q has no code or no name of its function", it.Name()))
		}
		if !defines(lang, source, s.rec.Function) {
			return it, it.quarantine("no-function", fmt.Sprintf("skill %q: its code does not define the function %q", it.Name(), s.rec.Function))
		}
		it.Record.Calls = calls.Of(lang, source)
	}
	if f, ok := m.unsafe(s.doc); ok {
		return it, it.quarantine("unsafe", fmt.Sprintf("skill %q: rule %s matches in %s", it.Name(), f.Rule, f.Field))
	}
	return it, nil
}

func (it *item) quarantine(code, msg string) *skill.Diagnostic {
	it.Quarantined = true
	return &skill.Diagnostic{Path: "skills/" + it.Name() + "/SKILL.md", Severity: skill.SeverityError, Code: code, Msg: msg}
}

// unsafe returns the first finding for which a document must not reach a prompt.
func (m *Memory) unsafe(d *skill.Document) (scan.Finding, bool) {
	if m.o.AllowUnsafe {
		return scan.Finding{}, false
	}
	for _, f := range d.Scan() {
		if f.Severity == scan.High {
			return f, true
		}
	}
	return scan.Finding{}, false
}

// embed returns the unit vectors of texts. The zero vector stands for an empty text, which is not embedded.
func (m *Memory) embed(ctx context.Context, texts []string) ([]vector.Vector, error) {
	full := make([]string, 0, len(texts))
	for _, s := range texts {
		if s != "" {
			full = append(full, s)
		}
	}
	vecs, err := vector.Embed(ctx, m.o.Embedder, full)
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	if len(vecs) > 0 {
		m.dim.CompareAndSwap(0, int64(vecs[0].Dim))
		if dim := m.dim.Load(); int64(vecs[0].Dim) != dim {
			reason := fmt.Sprintf("has %d entries, want %d as those before", vecs[0].Dim, dim)
			return nil, fmt.Errorf("memory: %w", &skill.VectorError{Embedder: vector.ID(m.o.Embedder), Texts: len(full), Reason: reason})
		}
	}
	out := make([]vector.Vector, len(texts))
	for i, s := range texts {
		if s != "" {
			out[i], vecs = vecs[0], vecs[1:]
		}
	}
	return out, nil
}

// put makes it the current skill of its name. It returns why it is quarantined if its function belongs to another skill.
func (m *Memory) put(it *item, v vector.Vector) *skill.Diagnostic {
	var diag *skill.Diagnostic
	if m.o.Format == skill.FormatCode && it.Record.Function != "" {
		if owner := m.graph.functions[it.Record.Function]; owner != nil && owner.Name() != it.Name() {
			diag = it.quarantine("same-function", fmt.Sprintf("skill %q has the function %q of skill %q", it.Name(), it.Record.Function, owner.Name()))
		}
	}
	m.unlink(it.Name())
	if !it.Quarantined && !v.Zero() {
		m.index.add(it, v)
	}
	m.link(it)
	return diag
}

// keep is put for an item with the vector of old, whose place it takes.
func (m *Memory) keep(it, old *item) {
	it.slot, it.dims = old.slot, old.dims
	if it.slot >= 0 {
		m.index.items[it.slot] = it
	}
	old.slot, old.dims = -1, nil
	m.unlink(it.Name())
	m.link(it)
}

func (m *Memory) link(it *item) {
	i, _ := slices.BinarySearchFunc(m.sorted, it.Name(), byName)
	m.sorted = slices.Insert(m.sorted, i, it)
	m.items[it.Name()] = it
	if it.Quarantined {
		m.isolated++
	}
	if m.o.Format == skill.FormatCode {
		m.graph.add(it)
	}
}

// unlink takes out the current skill of a name; there may be none.
func (m *Memory) unlink(name string) {
	it := m.items[name]
	if it == nil {
		return
	}
	m.index.remove(it)
	if it.Quarantined {
		m.isolated--
	}
	if m.o.Format == skill.FormatCode {
		m.graph.remove(it)
	}
	i, _ := slices.BinarySearchFunc(m.sorted, name, byName)
	m.sorted = slices.Delete(m.sorted, i, i+1)
	delete(m.items, name)
}

func byName(it *item, name string) int { return strings.Compare(it.Name(), name) }

// begin waits for the turn to write, which end gives on.
func (m *Memory) begin(ctx context.Context) error {
	if m.writing == nil {
		return errors.New("memory: it is the zero Memory, made by neither New nor Open")
	}
	if m.o.ReadOnly {
		return ErrReadOnly
	}
	if err := ctx.Err(); err != nil { // select is fair where both can go on
		return fmt.Errorf("memory: %w", err)
	}
	select {
	case m.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("memory: %w", ctx.Err())
	}
	if m.closed {
		m.end()
		return fmt.Errorf("memory: %w", fs.ErrClosed)
	}
	return nil
}

func (m *Memory) end() { <-m.writing }

// resync makes the current skill of a name what the store says after a write that failed, and returns err, joined with what goes wrong.
func (m *Memory) resync(ctx context.Context, err error, names ...string) error {
	for _, name := range names {
		s, ok, e := m.store.reload(context.WithoutCancel(ctx), name) // what is true does not depend on who waits for it
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		old := m.items[name]
		if !ok {
			if old != nil {
				m.mu.Lock()
				m.unlink(name)
				clear(m.suffixes)
				m.mu.Unlock()
			}
			continue
		}
		if old != nil && reflect.DeepEqual(old.Document, s.doc) { // a version that is edited by hand again keeps its number
			continue
		}
		it, _ := m.newItem(s)
		text := it.Description()
		if it.Quarantined {
			text = ""
		}
		vecs, e := m.embed(ctx, []string{text}) // an embedder may wait for ctx, and others wait for the turn
		if e != nil {                           // better not found than found by a vector of another text
			it.Quarantined = true
			vecs = make([]vector.Vector, 1)
			err = errors.Join(err, e)
		}
		m.mu.Lock()
		m.put(it, vecs[0])
		m.mu.Unlock()
	}
	return err
}

// Close gives the directory free for another writer. Later writes are errors that wrap [fs.ErrClosed]; what is in the process can
// still be read. A second Close does nothing.
func (m *Memory) Close() error {
	if m.writing == nil { // the zero Memory
		return nil
	}
	m.writing <- struct{}{}
	defer m.end()
	if m.closed {
		return nil
	}
	m.closed = true
	return m.store.close()
}

// Diagnostics returns what [Open] found wrong, in the order in which it was found. The caller owns the result.
func (m *Memory) Diagnostics() []skill.Diagnostic { return slices.Clone(m.diags) }

// Get returns a current skill, also one in quarantine: see Entry.Quarantined.
func (m *Memory) Get(name string) (Entry, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if it := m.items[name]; it != nil {
		return it.Entry, true
	}
	return Entry{}, false
}

// Format returns the format of all skills of the memory.
func (m *Memory) Format() skill.Format { return m.o.Format }

// All ranges over the current skills by name, but for those in quarantine, so that all of them may be shown to a model. It shows the
// memory as it was when the range began, and the loop may write.
func (m *Memory) All() iter.Seq[Entry] { return m.each(false) }

// Quarantined ranges as [Memory.All] does over the current skills that must not be shown: see [Open]. Each can be replaced by
// [Memory.Supersede] and removed by [Memory.Remove].
func (m *Memory) Quarantined() iter.Seq[Entry] { return m.each(true) }

func (m *Memory) each(quarantined bool) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		m.mu.RLock()
		all := slices.Clone(m.sorted)
		m.mu.RUnlock()
		for _, it := range all {
			if it.Quarantined == quarantined && !yield(it.Entry) {
				return
			}
		}
	}
}

// Len returns the number of skills in [Memory.All]: those in quarantine do not count.
func (m *Memory) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.items) - m.isolated
}

// A Version is one version of a skill.
type Version struct {
	*skill.Document
	Record  skill.Record
	Time    time.Time // UTC, whole seconds
	Removed string    // why the skill was removed after this version; empty if it was not
	Current bool
}

// History returns the versions of a skill, oldest first, also of a removed one. A name that never was is [ErrNotFound]. If a version
// cannot be read, the others are returned with an error that names its file.
func (m *Memory) History(ctx context.Context, name string) ([]Version, error) {
	return m.store.versions(ctx, name)
}

// Purge deletes from history the old versions and removed skills of before a time. Current skills and the counts of uses stay, and no
// version number is used again.
func (m *Memory) Purge(ctx context.Context, before time.Time) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.end()
	return m.store.purge(ctx, before)
}
