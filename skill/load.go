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
)

// A Source is a folder tree that holds skills. For a folder on disk open it with [os.OpenRoot] and take the FS method of
// the result: then no link leads out of the folder.
type Source struct {
	Label string // put before the paths of this source; may be empty
	FS    fs.FS
}

// LoadOptions adjusts [LoadFS]. A nil *LoadOptions equals &LoadOptions{}.
type LoadOptions struct {
	Parse    ParseOptions // how each file is read; Path and Dir are set by LoadFS and must be empty
	MaxDepth int          // folders this far below the root of a source are read; zero means 5
	MaxDirs  int          // most folders read per source; zero means 2,000
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
	Diagnostics []Diagnostic // sorted by path, line and code
}

// LoadFS reads every skill of the sources; earlier ones take precedence. A skill is a folder that holds a regular file
// SKILL.md (or skill.md, with a diagnostic); folders below it are not searched, nor are those named node_modules or with
// a leading dot. Links are not followed.
//
// Whatever is wrong with one file or folder becomes a diagnostic and hides no other: an unreadable or invalid file, a
// folder beyond the limits, a link. Of two skills with the same name the one of the earlier source stays, in one source
// the one with the smaller path; with equal content that is noted, else the other is in Shadowed and a warning names
// both. A file that does not load never takes a name.
//
// The error is for a canceled ctx, a source whose root cannot be read, and options out of range; then the set is nil. The
// result depends only on the content of the sources.
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
	for i, src := range sources {
		if src.FS == nil {
			return nil, fmt.Errorf("skill: load: source %d (%q) has no file system", i, src.Label)
		}
		start := len(l.found)
		if err := l.walk(ctx, src); err != nil {
			return nil, fmt.Errorf("skill: load: %w", err)
		}
		slices.SortStableFunc(l.found[start:], func(a, b Loaded) int { return cmp.Compare(a.Path, b.Path) })
	}
	set := l.resolve()
	sortDiagnostics(l.diags)
	set.Diagnostics = l.diags
	return set, nil
}

type loader struct {
	o     LoadOptions
	found []Loaded // in order of precedence
	diags []Diagnostic
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
			entries, err := fs.ReadDir(src.FS, dir)
			if err != nil {
				if dir == "." {
					return fmt.Errorf("source %q: %w", src.Label, err)
				}
				l.report(path.Join(src.Label, dir), SeverityError, "unreadable", "%v", err)
			}
			subs := l.folder(src, dir, entries)
			next = append(next, subs...)
		}
		slices.Sort(next)
		level = next
	}
	return nil
}

// folder reads the skill in a folder, or else returns the folders below to search.
func (l *loader) folder(src Source, dir string, entries []fs.DirEntry) (subs []string) {
	var upper, lower bool
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		isSkill := e.Name() == "SKILL.md" || e.Name() == "skill.md"
		switch mode := e.Type(); {
		case isSkill && mode.IsRegular():
			upper = upper || e.Name() == "SKILL.md"
			lower = lower || e.Name() == "skill.md"
		case isSkill && !mode.IsDir():
			l.report(path.Join(src.Label, p), SeverityError, "not-regular", "not a regular file (%v); it is not read", mode)
		case strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules":
		case mode.IsDir():
			subs = append(subs, p)
		case mode&fs.ModeSymlink != 0:
			if info, err := fs.Stat(src.FS, p); err != nil || info.IsDir() {
				l.report(path.Join(src.Label, p), SeverityWarning, "link", "links are not followed; skills behind it are not read")
			}
		}
	}
	if !upper && !lower {
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
	l.read(src, file, dir)
	return nil
}

func (l *loader) read(src Source, file, dir string) {
	shown := path.Join(src.Label, file)
	data, err := readFile(src.FS, file)
	if err != nil {
		l.report(shown, SeverityError, "unreadable", "%v", err)
		return
	}
	po := l.o.Parse
	po.Path = shown
	if dir != "." {
		po.Dir = path.Base(dir)
	}
	doc, diags, err := Parse(data, &po)
	l.diags = append(l.diags, diags...)
	if err == nil {
		l.found = append(l.found, Loaded{doc, shown})
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
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// resolve gives every name to its first holder.
func (l *loader) resolve() *Set {
	slices.SortStableFunc(l.found, func(a, b Loaded) int { return cmp.Compare(a.Name(), b.Name()) })
	set := &Set{}
	for _, s := range l.found {
		if n := len(set.Skills); n > 0 && set.Skills[n-1].Name() == s.Name() {
			winner := set.Skills[n-1]
			if equalContent(winner.Document, s.Document) {
				l.report(s.Path, SeverityInfo, "same-skill", "skill %q is the same as in %s", s.Name(), winner.Path)
				continue
			}
			l.report(s.Path, SeverityWarning, "shadowed", "skill %q has the name of the one in %s, which is used", s.Name(), winner.Path)
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
