// Package memory keeps skills: it adds and merges them, finds those that fit a task, remembers what was replaced, and
// survives a crash at any point.
package memory

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/throughline-go/throughline/skill"
)

// Errors that callers branch on.
var (
	ErrExists   = errors.New("memory: the name is taken")
	ErrNotFound = errors.New("memory: no such skill")
	ErrConflict = errors.New("memory: the skill has changed")
	ErrUnsafe   = errors.New("memory: the skill is unsafe")
	ErrLocked   = errors.New("memory: another process writes to the directory")
	ErrReadOnly = errors.New("memory: opened for reading only")
)

// Options adjusts [Open] and [New]. A nil *Options equals &Options{}.
type Options struct {
	Embedder    skill.Embedder   // compares descriptions and queries; nil means skill.HashEmbedder{}
	Format      skill.Format     // of all its skills: text and code do not mix
	TopK        int              // most skills that a query selects; zero means 5, as in the paper
	MinSim      *float64         // similarity in [-1, 1] that a selected skill exceeds; nil means 0.30, as in the paper
	MergeSim    *float64         // similarity in [-1, 1] above which a new skill is the same as a stored one; nil means 0.85, as in the paper
	AllowUnsafe bool             // take and show skills with findings of severity scan.High; false refuses and quarantines them
	ReadOnly    bool             // Open: no lock, no write
	NoSync      bool             // do not wait for the disk: a crash of the machine, not of the process, can lose the last writes
	Now         func() time.Time // the clock of history; nil means time.Now
}

// An Entry is a current skill of a memory. It is not changed afterwards and must not be.
type Entry struct {
	*skill.Document
	Record      skill.Record
	Quarantined bool // unsafe: listed, but neither retrieved nor in a catalog
}

// A Memory keeps skills of one format. It is safe for concurrent use.
type Memory struct{}

// New returns an empty memory that lives in the process alone.
func New(ctx context.Context, o *Options) (*Memory, error) { return nil, errors.New("memory: todo") }

// Open opens the memory in a directory and makes it if there is none.
func Open(ctx context.Context, dir string, o *Options) (*Memory, error) {
	return nil, errors.New("memory: todo")
}

// Close gives the directory free for another writer.
func (m *Memory) Close() error { return nil }

// Diagnostics returns what Open found wrong.
func (m *Memory) Diagnostics() []skill.Diagnostic { return nil }

// Get returns a current skill.
func (m *Memory) Get(name string) (Entry, bool) { return Entry{}, false }

// All ranges over the current skills by name.
func (m *Memory) All() iter.Seq[Entry] { return func(func(Entry) bool) {} }

// Len returns the number of current skills.
func (m *Memory) Len() int { return 0 }

// A Query asks for the skills that fit.
type Query struct {
	Task    string // the instruction
	Subtask string // of the task; empty means that the task is looked for
	By      QueryBy
}

// QueryBy says which text of a [Query] is compared.
type QueryBy int

const (
	BySubtask QueryBy = iota // the subtask, or the task where there is none
	ByTask                   // the task
	ByBoth                   // both: for each skill the larger similarity counts
)

// A Hit is a skill that a query selected.
type Hit struct {
	Entry
	Similarity float64
}

// A Retrieval is the answer to a query.
type Retrieval struct {
	Selected   []Hit   // most similar first, of equals by name
	Pulled     []Entry // code: functions that the selected ones call, callees first; they have no similarity
	EmptyQuery bool    // the query has no content, so nothing was compared
}

// Skills returns the pulled and the selected skills, in the order in which code can be read: callees first.
func (r *Retrieval) Skills() []Entry { return nil }

// Retrieve returns the skills that fit q. It changes nothing; note what was used by [Memory.RecordUse].
func (m *Memory) Retrieve(ctx context.Context, q Query) (*Retrieval, error) {
	return nil, errors.New("memory: todo")
}

// An Action says what [Memory.Add] did with a skill.
type Action int

const (
	Created     Action = iota // it is a new entry
	Merged                    // text: it became part of a similar skill
	Overwritten               // code: it replaced the function of the same name
	Dropped                   // code: a similar skill is there already
)

// Added is what [Memory.Add] did.
type Added struct {
	Action     Action
	Name       string  // of the entry that now holds the skill; of the similar one if it was dropped
	Version    int     // of that entry
	Similarity float64 // to the most similar stored skill before; 0 if there was none
	Removed    []string
}

// Add adds a skill as the paper does.
func (m *Memory) Add(ctx context.Context, d *skill.Document) (Added, error) {
	return Added{}, errors.New("memory: todo")
}

// Put stores a skill under its own name, which must be free.
func (m *Memory) Put(ctx context.Context, d *skill.Document) (Entry, error) {
	return Entry{}, errors.New("memory: todo")
}

// Supersede replaces a skill, whose version must be the current one.
func (m *Memory) Supersede(ctx context.Context, name string, version int, d *skill.Document) (Entry, error) {
	return Entry{}, errors.New("memory: todo")
}

// Remove removes a skill and, for code, all that call it.
func (m *Memory) Remove(ctx context.Context, name, reason string) (removed []string, err error) {
	return nil, errors.New("memory: todo")
}

// Check removes the code skills that load refuses and all that call them.
func (m *Memory) Check(ctx context.Context, load func(context.Context, Entry) error) (removed []string, err error) {
	return nil, errors.New("memory: todo")
}

// A Version is one version of a skill.
type Version struct {
	*skill.Document
	Record  skill.Record
	Time    time.Time // UTC, whole seconds
	Removed string    // why the skill was removed after this version; empty if it was not
	Current bool
}

// History returns the versions of a skill, oldest first.
func (m *Memory) History(ctx context.Context, name string) ([]Version, error) {
	return nil, errors.New("memory: todo")
}

// Restore makes an old version current again, as a new version.
func (m *Memory) Restore(ctx context.Context, name string, version int) (Entry, error) {
	return Entry{}, errors.New("memory: todo")
}

// Purge deletes the old versions and removed skills of before a time.
func (m *Memory) Purge(ctx context.Context, before time.Time) error {
	return errors.New("memory: todo")
}

// A Use is one use of a skill in one episode.
type Use struct {
	Skill   string `json:"skill"`
	Version int    `json:"version"`
	Episode string `json:"episode"`
	Success *bool  `json:"success,omitempty"` // nil means unknown
}

// RecordUse notes uses. A second record of one skill, version and episode replaces the first.
func (m *Memory) RecordUse(ctx context.Context, uses ...Use) error { return errors.New("memory: todo") }

// Usage counts the uses of a skill over all its versions.
type Usage struct {
	Uses, Known, Successes int
}

// Usage returns the counts of a skill.
func (m *Memory) Usage(name string) Usage { return Usage{} }

// PruneOptions adjusts [Memory.Prune].
type PruneOptions struct {
	MinUses int      // uses with a known outcome below which a skill stays; zero means 3
	Below   *float64 // share of successes below which it goes; nil means 0.5
}

// Prune removes skills that were used and failed, after Memp (arXiv:2508.06433). Nothing calls it by itself.
func (m *Memory) Prune(ctx context.Context, o *PruneOptions) (removed []string, err error) {
	return nil, errors.New("memory: todo")
}
