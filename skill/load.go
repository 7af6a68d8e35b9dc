package skill

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/skill/scan"
)

// Limits of one folder, so that a hostile one costs no more than it holds and is reported in a few lines.
const (
	maxEntries   = 1 << 18 // more, and more than MaxDirs, and the folder is not read
	maxResources = 1000    // names beside a SKILL.md that are scanned
	maxReports   = 100     // links of a folder, findings of a file
)

// A Source is a folder tree that holds skills. For a folder on disk open it with [os.OpenRoot] and take the FS method of
// the result: then no link leads out of the folder.
type Source struct {
	Label string // put before the paths of this source; may be empty. Two sources with one label are an error: nothing would tell their files apart
	FS    fs.FS
}

// LoadOptions adjusts [LoadFS]. A nil *LoadOptions equals &LoadOptions{}.
type LoadOptions struct {
	Parse       ParseOptions // how each file is read; Path and Dir are set by LoadFS and must be empty
	MaxDepth    int          // folders this far below the root of a source are read; zero means 5
	MaxDirs     int          // most folders read per source; zero means 2,000
	AllowUnsafe bool         // load skills with findings of severity scan.High, with a warning each; false puts them in Set.Quarantined

	// Previous is what an earlier call found, for loading again. A file of it that is still there but can no longer be read
	// or parsed keeps its last good version. Nil means that nothing is kept.
	Previous *Set
}

// A Loaded is a document and where it came from.
type Loaded struct {
	*Document
	Path string // of the file, with the label of its source
}

// A Set is what [LoadFS] found.
type Set struct {
	Skills      []Loaded     // one per name, sorted by name
	Shadowed    []Loaded     // valid skills that lost their name to another with other content, sorted by name, then precedence
	Quarantined []Loaded     // valid skills that must not reach a prompt, sorted by name, then precedence; a name can be in Skills too
	Diagnostics []Diagnostic // sorted by path, line and code
}

// LoadFS reads every skill of the sources; earlier ones take precedence. A skill is a folder that holds a regular file
// SKILL.md, or skill.md: that is a warning, an error if o.Parse.Strict is set. If both are there, SKILL.md is read, with a
// warning. Folders below a skill are not searched, nor are those named node_modules or with a leading dot. Links are not
// followed, and what is no regular file is never opened.
//
// Whatever is wrong with one file or folder becomes a diagnostic and hides no other: an unreadable or invalid file, a
// folder beyond the limits, a link. Of two skills with the same name the one of the earlier source stays, in one source
// the one with the smaller path; with equal content that is noted, else the other is in Shadowed and a warning names
// both. A file that does not load never takes a name.
//
// Every skill is scanned by [Document.Scan], together with the names of the files in its folder, up to 1,000. Each finding is a
// diagnostic with the code "scan-" and the rule's name, at most 100 for a file: an info for scan.Low, a warning for
// scan.Medium, an error for scan.High. A skill with a finding of that severity is in Quarantined and takes no name,
// unless o.AllowUnsafe is set.
//
// With o.Previous, a skill whose file is still there, under the same path, but cannot be read or parsed any more is taken
// from the earlier set, with the warning "kept-previous" beside the errors, and scanned again. A skill whose file is gone, is
// no regular file any more or lies beyond the limits is not kept, nor is one whose new version is unsafe.
//
// The error is for a canceled ctx, a source whose root cannot be read, two sources with one label, and options out of range; then the set is nil. The
// result depends only on the content of the sources and on o.
func LoadFS(ctx context.Context, sources []Source, o *LoadOptions) (*Set, error) {
	var opts LoadOptions
	if o != nil {
		opts = *o
	}
	if p := opts.Parse; p.Path != "" || p.Dir != "" {
		return nil, fmt.Errorf("skill: load: LoadOptions.Parse has Path %q and Dir %q, want both empty", p.Path, p.Dir)
	}
	if opts.MaxDepth < 0 || opts.MaxDirs < 0 {
		return nil, fmt.Errorf("skill: load: MaxDepth %d or MaxDirs %d is negative", opts.MaxDepth, opts.MaxDirs)
	}
	opts.MaxDepth = cmp.Or(opts.MaxDepth, 5)
	opts.MaxDirs = cmp.Or(opts.MaxDirs, 2000)
	l := loader{o: opts}
	labels := make(map[string]int)
	for i, src := range sources {
		if src.FS == nil {
			return nil, fmt.Errorf("skill: load: source %d (%q) has no file system", i, src.Label)
		}
		label := path.Clean(src.Label) // as it stands in paths
		if k, ok := labels[label]; ok {
			return nil, fmt.Errorf("skill: load: sources %d and %d have the label %q, want one each", k, i, src.Label)
		}
		labels[label] = i
	}
	for _, src := range sources {
		safe, unsafe := len(l.found), len(l.unsafe)
		if err := l.walk(ctx, src); err != nil {
			return nil, fmt.Errorf("skill: load: %w", err)
		}
		byPath := func(a, b Loaded) int { return cmp.Compare(a.Path, b.Path) }
		slices.SortStableFunc(l.found[safe:], byPath)
		slices.SortStableFunc(l.unsafe[unsafe:], byPath)
	}
	set := l.resolve()
	sortDiagnostics(l.diags)
	set.Diagnostics = l.diags
	return set, nil
}

type loader struct {
	o        LoadOptions
	found    []Loaded // in order of precedence
	unsafe   []Loaded
	diags    []Diagnostic
	previous map[string]*Document // by path; made when first needed
}

func (l *loader) report(path string, s Severity, code, format string, args ...any) {
	l.diags = append(l.diags, Diagnostic{Path: path, Severity: s, Code: code, Msg: fmt.Sprintf(format, args...)})
}

// walk reads one source level by level, so that its limits cut off the deepest folders first.
func (l *loader) walk(ctx context.Context, src Source) error {
	level := []string{"."}
	dirs := 0
	for depth := 0; len(level) > 0; depth++ {
		if depth > l.o.MaxDepth {
			l.report(path.Join(src.Label, level[0]), SeverityWarning, "depth-limit",
				"%d folders lie deeper than %d and were not read; this is the first", len(level), l.o.MaxDepth)
			return nil
		}
		var next []string
		for i, dir := range level {
			if err := ctx.Err(); err != nil {
				return err
			}
			if dirs == l.o.MaxDirs {
				l.report(path.Join(src.Label, dir), SeverityWarning, "folder-limit",
					"%d folders were read; at least %d more were not, this is the first", dirs, len(level)-i+len(next))
				return nil
			}
			dirs++
			entries, err := l.readDir(src, dir)
			if err != nil {
				if dir == "." {
					return fmt.Errorf("source %q: %w", src.Label, err)
				}
				l.report(path.Join(src.Label, dir), SeverityError, "unreadable", "%v", err)
			}
			next = append(next, l.folder(ctx, src, dir, entries)...)
		}
		slices.Sort(next)
		level = next
	}
	return nil
}

// readDir returns the entries of a folder sorted by name. One with too many is reported and counts as empty.
func (l *loader) readDir(src Source, dir string) ([]fs.DirEntry, error) {
	limit := max(maxEntries, l.o.MaxDirs)
	entries, err := readEntries(src.FS, dir, limit)
	if len(entries) > limit {
		l.report(path.Join(src.Label, dir), SeverityError, "folder-size", "folder holds more than %d entries and is not read", limit)
		return nil, nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// readEntries returns the entries of a folder, or more than limit of them. Of a failure that comes late, what was read
// before stays.
func readEntries(fsys fs.FS, dir string, limit int) (entries []fs.DirEntry, err error) {
	f, err := fsys.Open(dir)
	if err != nil {
		return fs.ReadDir(fsys, dir) // the file system may list what it does not open
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return fs.ReadDir(fsys, dir)
	}
	for len(entries) <= limit {
		batch, err := d.ReadDir(1 << 12)
		entries = append(entries, batch...)
		switch {
		case errors.Is(err, io.EOF):
			return entries, nil
		case err != nil:
			return entries, err
		case len(batch) == 0:
			return entries, nil // against the rules of ReadDirFile; asking again could go on for ever
		}
	}
	return entries, nil
}

// folder reads the skill in a folder, or else returns the folders below to search.
func (l *loader) folder(ctx context.Context, src Source, dir string, entries []fs.DirEntry) (subs []string) {
	var upper, lower bool
	other := "" // a file that is named almost so
	links := 0
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		shown := path.Join(src.Label, p)
		isSkill := e.Name() == "SKILL.md" || e.Name() == "skill.md"
		mode := e.Type()
		switch {
		case isSkill && mode.IsRegular():
			upper = upper || e.Name() == "SKILL.md"
			lower = lower || e.Name() == "skill.md"
			continue
		case isSkill && mode.IsDir():
			l.report(shown, SeverityWarning, "not-regular", "a folder, not a file; it is searched for skills")
		case isSkill:
			l.report(shown, SeverityError, "not-regular", "not a regular file (%v); it is not read", mode)
			continue
		case mode.IsRegular() && other == "" && strings.EqualFold(e.Name(), "SKILL.md"):
			other = shown
		}
		switch {
		case !mode.IsDir() && mode&fs.ModeSymlink == 0 || !searched(e.Name()):
		case mode.IsDir():
			subs = append(subs, p)
		case mayLeadToFolder(src.FS, p):
			if links++; links <= maxReports {
				l.report(shown, SeverityWarning, "link", "links are not followed; skills behind it are not read")
			}
		}
	}
	if links > maxReports {
		l.report(path.Join(src.Label, dir), SeverityWarning, "link", "%d links were not followed; the first %d are named", links, maxReports)
	}
	if !upper && !lower {
		if other != "" {
			l.report(other, SeverityWarning, "file-name", "file is not read: only SKILL.md is a skill")
		}
		return subs
	}
	file := path.Join(dir, "SKILL.md")
	switch {
	case upper && lower:
		l.report(path.Join(src.Label, dir, "skill.md"), SeverityWarning, "both-files", "SKILL.md lies beside it and is read instead")
	case lower:
		file = path.Join(dir, "skill.md")
		if l.o.Parse.Strict {
			l.report(path.Join(src.Label, file), SeverityError, "file-name", "file is named skill.md, want SKILL.md")
			return nil
		}
		l.report(path.Join(src.Label, file), SeverityWarning, "file-name", "file is named skill.md, want SKILL.md")
	}
	l.read(src, file, dir, l.resources(ctx, src, dir, path.Base(file), entries))
	return nil
}

// searched reports whether folders of this name are.
func searched(name string) bool { return !strings.HasPrefix(name, ".") && name != "node_modules" }

// mayLeadToFolder reports whether a link leads to a folder or nowhere that is known. It does not open what the link leads to, as
// fs.Stat would where the file system cannot tell: opening a pipe waits for its other end.
func mayLeadToFolder(fsys fs.FS, link string) bool {
	s, ok := fsys.(fs.StatFS)
	if !ok {
		return true
	}
	info, err := s.Stat(link)
	return err != nil || info.IsDir()
}

// resources returns the names of what lies in the folder of a skill beside its file, relative to the folder, level by level.
func (l *loader) resources(ctx context.Context, src Source, dir, file string, entries []fs.DirEntry) (names []string) {
	level := []string{""}
	for depth := 0; len(level) > 0 && depth <= l.o.MaxDepth && ctx.Err() == nil; depth++ {
		var next []string
		for _, sub := range level {
			if sub != "" {
				var err error
				if entries, err = l.readDir(src, path.Join(dir, sub)); err != nil {
					l.report(path.Join(src.Label, dir, sub), SeverityWarning, "unreadable", "the names in it are not scanned: %v", err)
				}
			}
			for _, e := range entries {
				name := path.Join(sub, e.Name())
				if name == file {
					continue
				}
				if len(names) == maxResources {
					l.report(path.Join(src.Label, dir), SeverityWarning, "resource-limit",
						"folder holds more than %d files; the names of the rest are not scanned", maxResources)
					return names
				}
				names = append(names, name)
				if e.IsDir() && searched(e.Name()) {
					next = append(next, name)
				}
			}
		}
		level = next
	}
	return names
}

func (l *loader) read(src Source, file, dir string, resources []string) {
	shown := path.Join(src.Label, file)
	data, err := readFile(src.FS, file)
	if err != nil {
		l.report(shown, SeverityError, "unreadable", "%v", err)
		if !errors.Is(err, fs.ErrNotExist) {
			l.keep(shown, resources)
		}
		return
	}
	p := parser{o: l.o.Parse}
	p.o.Path = shown
	if dir != "." {
		p.o.Dir = path.Base(dir)
	}
	doc, diags, err := p.result(p.parse(data))
	l.diags = append(l.diags, diags...)
	if err != nil {
		l.keep(shown, resources)
		return
	}
	l.take(Loaded{doc, shown}, resources, &p)
}

// keep takes the skill that was loaded from a path before.
func (l *loader) keep(shown string, resources []string) {
	if l.o.Previous == nil {
		return
	}
	if l.previous == nil {
		l.previous = make(map[string]*Document)
		for _, list := range [][]Loaded{l.o.Previous.Skills, l.o.Previous.Shadowed} {
			for _, s := range list {
				l.previous[s.Path] = s.Document
			}
		}
	}
	if doc := l.previous[shown]; doc != nil {
		l.report(shown, SeverityWarning, "kept-previous", "the last good version of skill %.80q is kept", doc.Name())
		l.take(Loaded{doc, shown}, resources, nil)
	}
}

// take scans a skill and sorts it by the result. The parser that has read it knows the lines of its parts; nil means that
// they are not known.
func (l *loader) take(s Loaded, resources []string, p *parser) {
	findings := s.Scan(resources...)
	unsafe := false
	if len(findings) > 0 {
		slices.SortStableFunc(findings, func(a, b scan.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
		unsafe = findings[0].Severity >= scan.High && !l.o.AllowUnsafe
	}
	for i, f := range findings {
		if i == maxReports {
			l.report(s.Path, SeverityWarning, "scan-more", "%d further findings, none graver than those named", len(findings)-i)
			break
		}
		d := Diagnostic{Path: s.Path, Severity: SeverityInfo, Code: "scan-" + f.Rule, Field: f.Field,
			Msg: fmt.Sprintf("suspicious text in %.80s: %.200q", f.Field, f.Excerpt)}
		switch {
		case f.Severity >= scan.High && unsafe:
			d.Severity = SeverityError
			d.Msg += "; the skill is quarantined"
		case f.Severity >= scan.Medium:
			d.Severity = SeverityWarning
		}
		if p != nil {
			d.Line = p.locate(f.Field, f.Line)
		}
		l.diags = append(l.diags, d)
	}
	if unsafe {
		l.unsafe = append(l.unsafe, s)
	} else {
		l.found = append(l.found, s)
	}
}

// readFile reads at most one byte more than Parse accepts.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	var b bytes.Buffer
	b.Grow(int(min(max(info.Size(), 0), maxFile)) + bytes.MinRead) // the size may be wrong, the limit holds
	_, err = b.ReadFrom(io.LimitReader(f, maxFile+1))
	return b.Bytes(), err
}

// resolve gives every name to its first holder.
func (l *loader) resolve() *Set {
	byName := func(a, b Loaded) int { return cmp.Compare(a.Name(), b.Name()) }
	slices.SortStableFunc(l.found, byName)
	slices.SortStableFunc(l.unsafe, byName)
	set := &Set{Quarantined: l.unsafe}
	for _, s := range l.found {
		if n := len(set.Skills); n > 0 && set.Skills[n-1].Name() == s.Name() {
			winner := set.Skills[n-1]
			if equalContent(winner.Document, s.Document) {
				l.report(s.Path, SeverityInfo, "same-skill", "skill %.80q is the same as in %s", s.Name(), winner.Path)
				continue
			}
			l.report(s.Path, SeverityWarning, "shadowed", "skill %.80q has the name of the one in %s, which is used", s.Name(), winner.Path)
			set.Shadowed = append(set.Shadowed, s)
			continue
		}
		set.Skills = append(set.Skills, s)
	}
	return set
}

// equalContent compares the written forms, line ends aside.
func equalContent(a, b *Document) bool {
	x, y := *a, *b
	x.CRLF, y.CRLF = false, false
	p, err1 := encode(&x)
	q, err2 := encode(&y)
	return err1 == nil && err2 == nil && bytes.Equal(p, q)
}
