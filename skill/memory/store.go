package memory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throughline-go/throughline/skill"
)

// The files of a store. A name NAME is the skill's; numbers count its versions from 1 and are never used again.
//
//	skills/NAME/SKILL.md            the current text, the only truth about what is current; other files of the skill lie beside it
//	history/NAME/N.md               every version that was current
//	history/NAME/N.removed.json     why and when the skill was removed after version N
//	history/NAME/N.dir              the folder skills/NAME as it was then; that it is here is what makes the removal count
//	usage.jsonl                     one line per use, appended
//	.lock                           held by the process that writes
//	.tmp/                           the one write that is under way; empty at rest
//
// # One write
//
// The text goes to .tmp/current, then to .tmp/history, which becomes history/NAME/N.md, and last .tmp/current becomes
// skills/NAME/SKILL.md. That rename commits. As long as .tmp/current holds the text of version N, the file in history is only an
// attempt; a crash leaves just that, and the next writer takes it back. Otherwise every file in history was current once, also if
// a person has put an older text back by hand.
const (
	skillsDir  = "skills"
	historyDir = "history"
	usageFile  = "usage.jsonl"
	lockName   = ".lock"

	tmpDir     = ".tmp"
	tmpCurrent = tmpDir + "/current"
	tmpOther   = tmpDir + "/other"         // on its way to a folder of history, or to the journal
	tmpPurged  = tmpDir + "/purged"        // a removed skill that is being deleted
	journal    = tmpDir + "/removing.json" // the removals of several skills that are to happen as one

	skillFile = "SKILL.md"
	noteEnd   = ".removed.json"

	keyVersion = "throughline-version" // of the record of package skill
	keyTime    = "throughline-time"    // when the version was made, RFC 3339

	maxText    = 2 << 20       // bytes of a SKILL.md, as in package skill
	maxNote    = 1 << 20       // bytes of a removal note
	maxJournal = 64 << 20      // bytes
	maxRaised  = 1_000_000_000 // highest version that a file may claim by hand, so that there are numbers left above it
	maxNumber  = 1<<31 - 1
)

func skillDir(name string) string  { return skillsDir + "/" + name }
func skillPath(name string) string { return skillsDir + "/" + name + "/" + skillFile }
func pastDir(name string) string   { return historyDir + "/" + name }
func pastPath(name string, v int, e string) string {
	return historyDir + "/" + name + "/" + strconv.Itoa(v) + e
}

// stored is a current skill.
type stored struct {
	doc *skill.Document
	rec skill.Record
}

type storeOptions struct {
	readOnly bool
	noSync   bool
	now      func() time.Time // nil means time.Now
}

// A store keeps the texts, versions and uses of skills in one folder so that a crash at any point loses nothing that was
// acknowledged. One goroutine uses it at a time, but versions and version may run beside everything else.
type store struct {
	o      storeOptions
	t      tree
	lock   io.Closer // nil if there is none
	closed bool

	known map[string]known // the current skills as they were last read or written

	// unclean says that a write failed and could not clean up behind itself; the next one does so first.
	unclean bool

	usageSize int64 // of usage.jsonl when it was last whole; -1 if unknown
	usageOpen bool  // its last line is whole but has no line end
	usageSafe bool  // its name is known to be safe
}

// known is what the store remembers of a current skill.
type known struct {
	version int
	sum     [sha256.Size]byte // of the file
}

// failed says what was done when an error came, which may have the prefix of the package already.
func failed(doing string, err error) error { return &fault{doing, err} }

type fault struct {
	doing string
	err   error
}

func (f *fault) Error() string {
	return "memory: " + f.doing + ": " + strings.TrimPrefix(f.err.Error(), "memory: ")
}

func (f *fault) Unwrap() error { return f.err }

// openDir opens a folder, which it makes unless o.readOnly, and takes its lock unless o.readOnly.
func openDir(ctx context.Context, dir string, o storeOptions) (*store, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: open %s: %w", dir, err)
	}
	fail := func(err error) (*store, error) { return nil, fmt.Errorf("memory: open: %w", err) }
	if !o.readOnly {
		if err := makeDir(dir, o.noSync); err != nil {
			return fail(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail(err)
	}
	d := &disk{dir: dir, root: root, noSync: o.noSync}
	var l io.Closer
	if !o.readOnly {
		if l, err = lock(d); err != nil {
			root.Close()
			if errors.Is(err, ErrLocked) {
				return nil, fmt.Errorf("%w: %s", ErrLocked, dir)
			}
			return fail(err)
		}
	}
	s, err := newStore(d, o)
	if err != nil {
		if l != nil {
			l.Close()
		}
		root.Close()
		return fail(err)
	}
	s.lock = l
	return s, nil
}

// makeDir makes a folder and those above it that are missing, and makes their names safe.
func makeDir(dir string, noSync bool) error {
	var made []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil || noSync {
		return err
	}
	for _, d := range made {
		parent, err := os.OpenRoot(filepath.Dir(d))
		if err != nil {
			return nil // a folder that can be passed but not read cannot be synced either
		}
		err = (&disk{dir: filepath.Dir(d), root: parent}).sync(".")
		parent.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// newInProcess returns an empty store that lives in the process.
func newInProcess(o storeOptions) *store {
	if o.now == nil {
		o.now = time.Now
	}
	s, err := newStore(newTree(o.now), o)
	if err != nil {
		panic(err) // an empty tree takes three folders
	}
	return s
}

func newStore(t tree, o storeOptions) (*store, error) {
	if o.now == nil {
		o.now = time.Now
	}
	s := &store{o: o, t: t, known: map[string]known{}}
	for _, dir := range []string{skillsDir, historyDir, tmpDir} {
		info, err := t.stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return nil, fmt.Errorf("%s is not a folder (%v)", t.shown(dir), info.Mode())
		case err == nil || o.readOnly && errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, fs.ErrNotExist):
			if err := t.mkdir(dir); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	if !o.readOnly { // also if the folders were there: a crash may have come before this
		if err := t.sync("."); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// close gives the lock free. A second call does nothing.
func (s *store) close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.t.close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("memory: close: %w", err)
	}
	return nil
}

// load returns the current skills by name, and one use for each skill, version and episode. A writer first ends or takes back what
// a crash has left. What is wrong with one file is a diagnostic and hides no other.
func (s *store) load(ctx context.Context) (current []stored, uses []Use, diags []skill.Diagnostic, err error) {
	fail := func(err error) ([]stored, []Use, []skill.Diagnostic, error) {
		return nil, nil, nil, fmt.Errorf("memory: load: %w", err)
	}
	clear(s.known)
	if _, err := s.readJournal(); errors.Is(err, errDamaged) {
		diags = append(diags, s.report(journal, skill.SeverityWarning, "journal", "%v; it is left out", err))
	}
	if !s.o.readOnly {
		if err := s.recover(); err != nil {
			return fail(err)
		}
	}
	pending := s.journaled()
	entries, err := s.t.list(skillsDir)
	if err != nil && !(s.o.readOnly && errors.Is(err, fs.ErrNotExist)) {
		return fail(err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		name := e.Name()
		switch mode := e.Type(); {
		case strings.HasPrefix(name, "."):
		case mode&fs.ModeSymlink != 0:
			diags = append(diags, s.report(skillDir(name), skill.SeverityError, "link", "links are not followed; the skill is not read"))
		case mode.IsDir():
			f, err := s.look(name, pending)
			if err != nil {
				diags = append(diags, s.report(skillPath(name), skill.SeverityError, "unreadable", "%v", err))
				continue
			}
			diags = append(diags, f.diags...)
			if !f.taken {
				if other, _ := exists(s.t, skillDir(name)+"/skill.md"); other {
					diags = append(diags, s.report(skillDir(name)+"/skill.md", skill.SeverityWarning, "file-name",
						"file is named skill.md, want SKILL.md; it is not read"))
				}
			}
			if f.doc != nil {
				current = append(current, stored{f.doc, f.rec})
				s.known[name] = f.known()
			}
		}
	}
	uses, useDiags, err := s.loadUses()
	if err != nil {
		return fail(err)
	}
	diags = append(diags, useDiags...)
	slices.SortStableFunc(diags, func(a, b skill.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
	})
	return current, uses, diags, nil
}

// reload returns what the files say about one name now, and takes it as read; ok is false if there is no skill that can be read.
func (s *store) reload(ctx context.Context, name string) (cur stored, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return stored{}, false, fmt.Errorf("memory: read %.80q: %w", name, err)
	}
	if !validName(name) {
		return stored{}, false, nil
	}
	f, err := s.look(name, s.journaled())
	if err != nil {
		return stored{}, false, fmt.Errorf("memory: read %.80q: %w", name, err)
	}
	if f.doc == nil {
		delete(s.known, name)
		return stored{}, false, nil
	}
	s.known[name] = f.known()
	return stored{f.doc, f.rec}, true, nil
}

func (s *store) report(name string, sev skill.Severity, code, format string, args ...any) skill.Diagnostic {
	return skill.Diagnostic{Path: s.t.shown(name), Severity: sev, Code: code, Msg: fmt.Sprintf(format, args...)}
}

// found is what the files say about one name.
type found struct {
	past  past
	taken bool            // something stands where SKILL.md belongs, readable or not
	raw   []byte          // of SKILL.md
	doc   *skill.Document // nil if there is no current skill
	rec   skill.Record
	saved bool // history has raw under rec.Version, which is its last one
	diags []skill.Diagnostic
}

func (f *found) known() known { return known{f.rec.Version, sha256.Sum256(f.raw)} }

// next returns the number for a new version.
func (f *found) next() (int, error) {
	n := max(f.past.last, f.rec.Version)
	if n >= maxNumber {
		return 0, fmt.Errorf("version %d is the last one that there can be", n)
	}
	return n + 1, nil
}

// look reads one name. An error means that the answer is unknown; a skill that cannot be parsed is none, with diagnostics.
func (s *store) look(name string, pending map[string]victim) (found, error) {
	// A reader may see the files of a writer that is between two renames: what does not fit together is read again.
	for try := 0; ; try++ {
		f, doubt, err := s.glance(name)
		if err != nil || !doubt || try == 3 {
			if v, ok := pending[name]; ok && f.doc != nil && v.version == f.rec.Version {
				f.doc, f.rec, f.raw = nil, skill.Record{}, nil
			}
			return f, err
		}
		past, err := s.past(name)
		if err != nil {
			return f, err
		}
		if raw, err := s.readText(name); err == nil && bytes.Equal(raw, f.raw) && slices.Equal(past.texts, f.past.texts) {
			try = 2 // it has come to rest: what follows is sure
		}
	}
}

// glance reads one name once. doubt says that the text is not the newest one in history, which may be a change by hand or the
// glimpse of a write.
func (s *store) glance(name string) (f found, doubt bool, err error) {
	if f.past, err = s.past(name); err != nil {
		return f, false, err
	}
	f.raw, err = s.readText(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.hideAttempt(name, &f.past, 0)
		return f, false, nil
	case errors.Is(err, errNotRegular):
		f.taken = true
		f.diags = append(f.diags, s.report(skillPath(name), skill.SeverityError, "not-regular", "%v; it is not read", err))
		return f, false, nil
	case err != nil:
		// An error of the folder above all is no sign that this name is taken: then each name would be.
		f.taken, _ = exists(s.t, skillDir(name))
		return f, false, err
	}
	f.taken = true
	var perr error
	f.doc, f.diags, perr = skill.Parse(f.raw, &skill.ParseOptions{Path: s.t.shown(skillPath(name)), Dir: name})
	if perr != nil {
		f.doc = nil
		return f, false, nil
	}
	if f.doc.Name() != name || slices.ContainsFunc(f.diags, func(d skill.Diagnostic) bool { return d.Code == "invalid-name" }) {
		if !validName(name) {
			f.doc = nil
			f.diags = append(f.diags, s.report(skillDir(name), skill.SeverityError, "invalid-name", "the folder's name is not one of a skill"))
			return f, false, nil
		}
		f.doc.Frontmatter.Name = name
	}
	rec, rerr := f.doc.ParseRecord()
	if rerr != nil {
		f.diags = append(f.diags, s.report(skillPath(name), skill.SeverityWarning, "record", "%v", rerr))
	}
	f.rec = rec
	if f.rec.Version > maxRaised {
		f.rec.Version = 0
	}
	s.number(name, &f)
	if !f.saved {
		if s.hideAttempt(name, &f.past, f.rec.Version) {
			s.number(name, &f)
		}
	}
	if !f.saved && f.past.last >= f.rec.Version { // changed by hand, and its version was left as it was
		f.rec.Version = f.past.last + 1
		if len(f.past.texts) > 0 {
			f.diags = append(f.diags, s.report(skillPath(name), skill.SeverityInfo, "changed-by-hand",
				"the text is not the one that was stored; it counts as version %d", f.rec.Version))
		}
	}
	if !f.saved || f.doc.Frontmatter.Metadata[keyVersion] != strconv.Itoa(f.rec.Version) {
		renumber(f.doc, f.rec.Version)
	}
	return f, !f.saved && len(f.past.texts) > 0, nil
}

// number finds out whether the text is the last one in history. If so that number is its version, whatever it says itself.
func (s *store) number(name string, f *found) {
	v := f.past.last
	if !f.past.has(v) || f.past.removed(v) {
		return
	}
	raw, err := readAll(s.t, pastPath(name, v, ".md"), maxText)
	if err == nil && bytes.Equal(raw, f.raw) {
		f.rec.Version, f.saved = v, true
	}
}

// hideAttempt takes a version out of p that was written but never became current; cur is the version that is. It says whether
// there was one.
func (s *store) hideAttempt(name string, p *past, cur int) bool {
	a, ok := s.attempt()
	if !ok || a.name != name || a.version <= cur || a.version != p.last || !p.has(a.version) {
		return false
	}
	raw, err := readAll(s.t, pastPath(name, a.version, ".md"), maxText)
	if err != nil || !bytes.Equal(raw, a.raw) {
		return false
	}
	p.drop(a.version)
	return true
}

// An attempt is a write that has not committed.
type attempt struct {
	name    string
	version int
	raw     []byte
}

// attempt reads the write that is under way or was broken off; ok is false if there is none, or not yet all of it.
func (s *store) attempt() (a attempt, ok bool) {
	raw, err := readAll(s.t, tmpCurrent, maxText)
	if err != nil {
		return a, false
	}
	d, _, err := skill.Parse(raw, nil)
	if err != nil {
		return a, false
	}
	v, err := strconv.Atoi(d.Frontmatter.Metadata[keyVersion])
	return attempt{d.Name(), v, raw}, err == nil && v > 0
}

// readText reads the current text of a name. A link or anything else that is no file is errNotRegular.
func (s *store) readText(name string) ([]byte, error) {
	info, err := s.t.stat(skillDir(name))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: s.t.shown(skillDir(name)), Err: errNotRegular}
	}
	return readAll(s.t, skillPath(name), maxText)
}

// validName says whether a name is a skill's under the strict rules, and so may become the name of a folder.
func validName(name string) bool {
	if len(name) > 4*64 { // runes of at most four bytes
		return false
	}
	_, err := skill.Marshal(&skill.Document{Frontmatter: skill.Frontmatter{Name: name, Description: "x"}})
	return err == nil && strings.TrimSpace(name) == name
}

// setMetadata sets one key in a copy of the metadata.
func setMetadata(d *skill.Document, key, value string) {
	m := maps.Clone(d.Frontmatter.Metadata)
	if m == nil {
		m = make(map[string]string)
	}
	m[key] = value
	d.Frontmatter.Metadata = m
}

// renumber gives a text that was changed by hand its version. The time that it names is that of the version before.
func renumber(d *skill.Document, version int) {
	setMetadata(d, keyVersion, strconv.Itoa(version))
	delete(d.Frontmatter.Metadata, keyTime)
}

// settle is called before every write.
func (s *store) settle(ctx context.Context) error {
	switch {
	case s.o.readOnly:
		return ErrReadOnly
	case s.closed:
		return fs.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.unclean {
		return s.recover()
	}
	return nil
}

// recover ends or takes back the write that was broken off, and empties .tmp.
func (s *store) recover() error {
	s.unclean = true
	if err := s.finishRemovals(); err != nil {
		return err
	}
	if a, ok := s.attempt(); ok && validName(a.name) {
		if err := s.takeBack(a); err != nil {
			return err
		}
	}
	entries, err := s.t.list(tmpDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.t.remove(tmpDir + "/" + e.Name()); err != nil {
			return err
		}
	}
	s.unclean = false
	return nil
}

// takeBack deletes the history file of an attempt; the attempt itself goes last, so that a crash here changes nothing.
func (s *store) takeBack(a attempt) error {
	f, err := s.look(a.name, nil)
	if err != nil {
		return err
	}
	// look has left the attempt out if it is one. Of a text that cannot be parsed nobody knows the version: nothing is deleted.
	if past, err := s.past(a.name); err != nil {
		return err
	} else if past.has(a.version) && !f.past.has(a.version) {
		if err := s.t.remove(pastPath(a.name, a.version, ".md")); err != nil {
			return err
		}
		if err := s.t.sync(pastDir(a.name)); err != nil {
			return err
		}
	}
	// Folders that were made for a new skill; one that holds something stays.
	for _, dir := range []string{skillDir(a.name), pastDir(a.name)} {
		if entries, err := s.t.list(dir); err == nil && len(entries) == 0 {
			if err := s.t.rmdir(dir); err != nil {
				return err
			}
		}
	}
	return nil
}
