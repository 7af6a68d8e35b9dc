package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/internal/calls"
)

// past is what lies in history/NAME.
type past struct {
	texts []int // N.md, ascending
	notes []int // N.removed.json
	dirs  []int // N.dir
	last  int   // highest number of them all
}

func (p *past) has(v int) bool     { return slices.Contains(p.texts, v) }
func (p *past) noted(v int) bool   { return slices.Contains(p.notes, v) }
func (p *past) removed(v int) bool { return slices.Contains(p.dirs, v) }

// drop leaves a text out.
func (p *past) drop(v int) {
	p.texts = slices.DeleteFunc(p.texts, func(n int) bool { return n == v })
	p.last = 0
	for _, ns := range [][]int{p.texts, p.notes, p.dirs} {
		for _, n := range ns {
			p.last = max(p.last, n)
		}
	}
}

// numbers returns all numbers in use, ascending.
func (p *past) numbers() []int {
	all := slices.Concat(p.texts, p.notes, p.dirs)
	slices.Sort(all)
	return slices.Compact(all)
}

// past lists history/NAME; other files there are left alone.
func (s *store) past(name string) (past, error) {
	var p past
	dir := pastDir(name)
	info, err := s.t.stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if !info.IsDir() {
		return p, fmt.Errorf("%s is not a folder (%v)", s.t.shown(dir), info.Mode())
	}
	entries, err := s.t.list(dir)
	if err != nil {
		return p, err
	}
	for _, e := range entries {
		digits, end, _ := strings.Cut(e.Name(), ".")
		v, err := strconv.Atoi(digits)
		if err != nil || v < 1 || v > maxNumber || strconv.Itoa(v) != digits {
			continue
		}
		switch {
		case end == "md" && e.Type().IsRegular():
			p.texts = append(p.texts, v)
		case "."+end == noteEnd && e.Type().IsRegular():
			p.notes = append(p.notes, v)
		case end == "dir" && e.Type().IsDir():
			p.dirs = append(p.dirs, v)
		default:
			continue
		}
		p.last = max(p.last, v)
	}
	slices.Sort(p.texts)
	return p, nil
}

// versions returns all versions of a name that are kept, oldest first. If some cannot be read, the others come with an error
// that names them. ErrNotFound says that there is none.
func (s *store) versions(ctx context.Context, name string) ([]Version, error) {
	fail := func(err error) ([]Version, error) { return nil, failed(fmt.Sprintf("history of %.80q", name), err) }
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	if !validName(name) {
		return fail(ErrNotFound)
	}
	pending := s.journaled()
	f, err := s.look(name, pending)
	if err != nil {
		return fail(err)
	}
	var all []Version
	var faults []error
	for _, v := range f.past.texts {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		one, err := s.read(name, v)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted since it was listed
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		one.Current = f.doc != nil && f.saved && f.rec.Version == v
		if f.past.removed(v) {
			one.Removed = s.reason(name, v)
		} else if p, ok := pending[name]; ok && p.version == v {
			one.Removed = p.reason
		}
		all = append(all, one)
	}
	if f.doc != nil && !f.saved {
		all = append(all, Version{Document: f.doc, Record: f.rec, Time: s.timeOf(skillPath(name)), Current: true})
	}
	if len(faults) > 0 {
		return all, fmt.Errorf("memory: history of %.80q: %w", name, errors.Join(faults...))
	}
	if len(all) == 0 {
		return fail(ErrNotFound)
	}
	return all, nil
}

// last returns the highest version of a name that there was, 0 if there was none or nobody can tell.
func (s *store) last(name string) int {
	if !validName(name) {
		return 0
	}
	f, err := s.look(name, nil)
	if err != nil {
		return 0
	}
	return f.past.last
}

// A removedFunction is what is known of a code skill that was removed.
type removedFunction struct {
	skill string
	calls []string
}

// removedFunctions returns the functions of the names that have no current skill, as their newest versions were; of one function in
// several skills the first by name. What cannot be read is left out.
func (s *store) removedFunctions(ctx context.Context) (map[string]removedFunction, error) {
	fail := func(err error) (map[string]removedFunction, error) {
		return nil, fmt.Errorf("memory: removed functions: %w", err)
	}
	entries, err := s.t.list(historyDir)
	if err != nil {
		return fail(err)
	}
	found := make(map[string]removedFunction)
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		name := e.Name()
		if _, current := s.known[name]; current || !e.IsDir() || !validName(name) {
			continue
		}
		p, err := s.past(name)
		if err != nil || len(p.texts) == 0 {
			continue
		}
		v, err := s.read(name, p.texts[len(p.texts)-1])
		if err != nil || v.Record.Format != skill.FormatCode || v.Record.Function == "" {
			continue
		}
		if _, ok := found[v.Record.Function]; !ok {
			lang, source, _ := skill.Code(v.Content)
			found[v.Record.Function] = removedFunction{name, calls.Of(lang, source)}
		}
	}
	return found, nil
}

// version returns one version of a name, or ErrNotFound.
func (s *store) version(ctx context.Context, name string, v int) (*skill.Document, error) {
	fail := func(err error) (*skill.Document, error) {
		return nil, failed(fmt.Sprintf("version %d of %.80q", v, name), err)
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	if !validName(name) {
		return fail(ErrNotFound)
	}
	f, err := s.look(name, s.journaled())
	switch {
	case err != nil:
		return fail(err)
	case f.doc != nil && f.rec.Version == v:
		return f.doc, nil
	case !f.past.has(v):
		return fail(ErrNotFound)
	}
	one, err := s.read(name, v)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(ErrNotFound)
	}
	if err != nil {
		return fail(err)
	}
	return one.Document, nil
}

// read reads one file of history. Its number counts, not the one in its text: a person may have changed a text and left its version.
func (s *store) read(name string, v int) (Version, error) {
	path := pastPath(name, v, ".md")
	raw, err := readAll(s.t, path, maxText)
	if err != nil {
		return Version{}, err
	}
	d, _, err := skill.Parse(raw, &skill.ParseOptions{Path: s.t.shown(path), Dir: name})
	if err != nil {
		return Version{}, err
	}
	d.Frontmatter.Name = name
	claimed := d.Frontmatter.Metadata[keyVersion]
	at, err := time.Parse(time.RFC3339, d.Frontmatter.Metadata[keyTime])
	if err != nil || claimed != strconv.Itoa(v) {
		at = s.timeOf(path)
	}
	if claimed != strconv.Itoa(v) {
		renumber(d, v)
	}
	rec, _ := d.ParseRecord() // what cannot be read of it is left out
	return Version{Document: d, Record: rec, Time: at.UTC().Truncate(time.Second)}, nil
}

// timeOf returns when a file was written; zero if that is unknown.
func (s *store) timeOf(path string) time.Time {
	info, err := s.t.stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime().UTC().Truncate(time.Second)
}

// note reads why and when a skill was removed after version v.
func (s *store) note(name string, v int) (note, error) {
	data, err := readAll(s.t, pastPath(name, v, noteEnd), maxNote)
	if err != nil {
		return note{}, err
	}
	return parseNote(data)
}

func (s *store) reason(name string, v int) string {
	n, err := s.note(name, v)
	if err != nil {
		return "the reason cannot be read"
	}
	return n.Reason
}

// purge deletes the versions that were written, and the removed skills that were removed, before a time. Current skills stay, and so
// does the highest number of each name, be it only as the note of its removal.
func (s *store) purge(ctx context.Context, before time.Time) (err error) {
	fail := func(err error) error { return fmt.Errorf("memory: purge: %w", err) }
	if err := s.settle(ctx); err != nil {
		return fail(err)
	}
	entries, err := s.t.list(historyDir)
	if err != nil {
		return fail(err)
	}
	s.unclean = true
	defer func() {
		if err != nil {
			_ = s.recover() // if that fails too, the next write tries again
		}
	}()
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		if !e.IsDir() || !validName(e.Name()) {
			continue
		}
		if err := s.purgeOne(e.Name(), before); err != nil {
			return fail(err)
		}
	}
	s.unclean = false
	return nil
}

func (s *store) purgeOne(name string, before time.Time) error {
	p, err := s.past(name)
	if err != nil {
		return err
	}
	cur := s.known[name]
	changed := false
	remove := func(v int, end string) error {
		changed = true
		return s.t.remove(pastPath(name, v, end))
	}
	for _, v := range p.numbers() {
		if v == cur.version || !s.age(name, v, p).Before(before) {
			continue
		}
		if p.has(v) && (v != p.last || p.noted(v)) {
			if err := remove(v, ".md"); err != nil {
				return err
			}
		}
		if p.removed(v) {
			changed = true
			// Renamed first: a folder half deleted must not be found here.
			if err := s.t.rename(pastPath(name, v, ".dir"), tmpPurged); err != nil {
				return err
			}
			if err := s.t.remove(tmpPurged); err != nil {
				return err
			}
		}
		if p.noted(v) && v != p.last {
			if err := remove(v, noteEnd); err != nil {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	return s.t.sync(pastDir(name))
}

// age returns when version v came to its end or, if it was not removed, when it was written; the latest time that is known.
func (s *store) age(name string, v int, p past) time.Time {
	var at time.Time
	if p.has(v) {
		one, err := s.read(name, v)
		at = one.Time
		if err != nil {
			at = s.timeOf(pastPath(name, v, ".md"))
		}
	}
	if p.noted(v) || p.removed(v) {
		n, _ := s.note(name, v)
		if n.Time.IsZero() && p.noted(v) {
			n.Time = s.timeOf(pastPath(name, v, noteEnd))
		} else if n.Time.IsZero() {
			n.Time = s.timeOf(pastPath(name, v, ".dir"))
		}
		if n.Time.After(at) {
			at = n.Time
		}
	}
	return at
}
