package skillsource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/internal/spdx"
	"github.com/throughline-go/throughline/skill"
)

// Source reads the skills below a folder. Documents makes it a [document.Source], which is a [document.Splitter] and a
// [document.Digester] too, and Tools a [midtool.Source].
//
// The license of a skill is that of its frontmatter; where that is missing or speaks of a file, that of a license file beside it, known by
// its words ("unknown" if it is not one of those that [document.Tree] knows); else License.
//
// The zero value is not useful: set Name, and Dir or FS.
type Source struct {
	Name     string // starts the IDs and locators, and is the group of the tools
	Dir      string // the folder on disk: no link leads out of it, and none is followed
	FS       fs.FS  // in place of Dir
	License  string // of skills that state none, an SPDX identifier; empty means unknown
	Revision string // version or commit, for the origin

	// Load says how strictly files are read and how far folders are searched, as for [skill.LoadFS], except that zero MaxDirs
	// means 200,000. Previous must be nil.
	Load skill.LoadOptions
}

const maxDirs = 200_000

// Documents yields one document of kind skill for each skill, in the order of paths, those that lost their name to another with other
// content included. The ID is Name + "/" + the path of the file, the title the name, and the text
//
//	# name
//
//	description
//
//	body
//
// with secrets replaced by [document.Redact]. A diagnostic by which something was not read is told to reject before the documents: reason is
// its code with "_" for "-", such as "invalid_yaml" or "unreadable"; a skill whose text tries to steer an agent is "quarantined", one equal to
// another "same_skill".
func (s Source) Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[document.Document, error] {
	return func(yield func(document.Document, error) bool) {
		l, err := s.load(ctx)
		if err != nil {
			yield(document.Document{}, err)
			return
		}
		defer l.close()
		l.reject(reject)
		for _, one := range l.documents() {
			if err := ctx.Err(); err != nil {
				yield(document.Document{}, err)
				return
			}
			if !yield(l.document(one), nil) {
				return
			}
		}
	}
}

// Tools yields, in the order of names, a tool load_skill_<name> without parameters for each skill, whose description is that of the
// skill. A skill that lost its name to another gives none.
func (s Source) Tools(ctx context.Context) iter.Seq2[midtool.Tool, error] {
	return func(yield func(midtool.Tool, error) bool) {
		l, err := s.load(ctx)
		if err != nil {
			yield(midtool.Tool{}, err)
			return
		}
		defer l.close()
		for _, one := range l.set.Skills {
			if err := ctx.Err(); err != nil {
				yield(midtool.Tool{}, err)
				return
			}
			license, from := l.license(one)
			t := midtool.Tool{
				Name: "load_skill_" + one.Name(), Title: one.Name(), Description: one.Description(),
				Parameters: []byte(`{"type":"object","properties":{}}`),
				ReadOnly:   true, Group: s.Name, Origin: l.origin(one), License: license, LicenseFrom: from,
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Split returns sources of at most size skills each; the first also rejects what is not read. Each reads the whole folder, for which
// skill has which name depends on all.
func (s Source) Split(ctx context.Context, size int) ([]document.Source, error) {
	if size < 1 {
		return nil, fmt.Errorf("skillsource: %s: split by %d skills, want at least 1", s.Name, size)
	}
	l, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	defer l.close()
	n := len(l.documents())
	var parts []document.Source
	for from := 0; from < n || from == 0; from += size {
		parts = append(parts, document.SourceFunc(func(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[document.Document, error] {
			return s.run(ctx, from, from+size, reject)
		}))
	}
	return parts, nil
}

// run yields a run of the documents.
func (s Source) run(ctx context.Context, from, to int, reject func(midtool.Rejection)) iter.Seq2[document.Document, error] {
	if from > 0 {
		reject = nil
	}
	return func(yield func(document.Document, error) bool) {
		i := 0
		for d, err := range s.Documents(ctx, reject) {
			if err == nil {
				if i++; i <= from {
					continue
				}
				if i > to {
					return
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// Digest hashes what was read and what was not, with the licenses, and the options.
func (s Source) Digest(ctx context.Context) (string, error) {
	l, err := s.load(ctx)
	if err != nil {
		return "", err
	}
	defer l.close()
	h := sha256.New()
	fmt.Fprintf(h, "skills 1 %q %q %q %+v\n", s.Name, s.License, s.Revision, s.Load)
	l.reject(func(r midtool.Rejection) { fmt.Fprintf(h, "%q %q %q\n", r.Origin.Locator, r.Reason, r.Detail) })
	for _, one := range l.documents() {
		d := l.document(one)
		fmt.Fprintf(h, "%q %q %q %q %q\n", d.ID, d.Text, d.License, d.LicenseFrom, d.Origin.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A loaded is a Source that was read.
type loaded struct {
	Source
	fsys fs.FS
	root *os.Root // nil for a file system of the caller
	set  *skill.Set
}

func (s Source) load(ctx context.Context) (*loaded, error) {
	var errs []error
	if s.Name == "" {
		errs = append(errs, errors.New("skillsource: Name is empty"))
	}
	if (s.Dir == "") == (s.FS == nil) {
		errs = append(errs, fmt.Errorf("skillsource: %q: want one of Dir and FS, got Dir %q and FS %T", s.Name, s.Dir, s.FS))
	}
	if s.Load.Previous != nil {
		errs = append(errs, fmt.Errorf("skillsource: %q: Load.Previous is set, want nil", s.Name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	l := &loaded{Source: s, fsys: s.FS}
	if s.FS == nil {
		root, err := os.OpenRoot(s.Dir)
		if err != nil {
			return nil, fmt.Errorf("skillsource: %s: %w", s.Name, err)
		}
		l.root, l.fsys = root, root.FS()
	}
	o := s.Load
	o.MaxDirs = cmp.Or(o.MaxDirs, maxDirs)
	var err error
	if l.set, err = skill.LoadFS(ctx, []skill.Source{{FS: l.fsys}}, &o); err != nil {
		l.close()
		return nil, fmt.Errorf("skillsource: %s: %w", s.Name, err)
	}
	return l, nil
}

func (l *loaded) close() {
	if l.root != nil {
		l.root.Close()
	}
}

// documents returns the skills in the order of paths.
func (l *loaded) documents() []skill.Loaded {
	all := slices.Concat(l.set.Skills, l.set.Shadowed)
	slices.SortFunc(all, func(a, b skill.Loaded) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// Warnings and infos of [skill.LoadFS] by which something was not read; so was all that has an error.
var unread = map[string]bool{
	"depth-limit": true, "folder-limit": true, "file-name": true, "both-files": true, "link": true, "same-skill": true,
}

func (l *loaded) reject(reject func(midtool.Rejection)) {
	if reject == nil {
		return
	}
	quarantined := make(map[string]bool)
	for _, s := range l.set.Quarantined {
		quarantined[s.Path] = true
	}
	read := make(map[string]bool)
	for _, s := range l.documents() {
		read[s.Path] = true
	}
	told := make(map[string]bool) // of a file the first error says enough
	for _, d := range l.set.Diagnostics {
		wrong := d.Severity == skill.SeverityError
		if told[d.Path] || read[d.Path] || !wrong && !unread[d.Code] {
			continue
		}
		told[d.Path] = true
		r := midtool.Rejection{Reason: strings.ReplaceAll(d.Code, "-", "_"), Detail: d.Msg,
			Origin: midtool.Origin{Kind: "skill", Locator: path.Join(l.Name, d.Path), Revision: l.Revision}}
		if quarantined[d.Path] {
			r.Reason = "quarantined"
		}
		reject(r)
	}
}

func (l *loaded) origin(s skill.Loaded) midtool.Origin {
	o := midtool.Origin{Kind: "skill", Locator: path.Join(l.Name, s.Path), Revision: l.Revision}
	if sum, err := l.sum(s.Path); err == nil {
		o.SHA256 = sum
	}
	return o
}

// maxFile is what package skill reads of a file.
const maxFile = 2 << 20

func (l *loaded) sum(name string) (string, error) {
	f, err := l.fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxFile)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (l *loaded) document(s skill.Loaded) document.Document {
	d := document.Document{Kind: document.Skill, Title: s.Name(), Origin: l.origin(s)}
	d.ID = d.Origin.Locator
	d.License, d.LicenseFrom = l.license(s)
	text := "# " + s.Name() + "\n\n" + s.Description() + "\n\n" + strings.TrimLeft(s.Body(), "\n")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	d.Text, d.Secrets = document.Redact(strings.ReplaceAll(text, "\r", "\n"))
	return d
}

// license returns the license of a skill and what states it.
func (l *loaded) license(s skill.Loaded) (id, from string) {
	if id = spdx.Name(s.Frontmatter.License); id != "" {
		from = "frontmatter"
	}
	if !spdx.Known(id) && (id == "" || strings.Contains(strings.ToLower(id), "license.")) {
		dir := path.Dir(s.Path)
		if entries, err := fs.ReadDir(l.fsys, dir); err == nil {
			var names []string
			for _, e := range entries {
				if e.Type().IsRegular() && len(names) < 16 && spdx.IsFile(e.Name()) {
					names = append(names, e.Name())
				}
			}
			if file, where := spdx.Folder(l.fsys, dir, names); file != "" {
				return file, where
			}
		}
	}
	if id == "" && l.License != "" {
		return spdx.Name(l.License), "option"
	}
	return id, from
}

var (
	_ document.Splitter = Source{}
	_ document.Digester = Source{}
	_ midtool.Source    = Source{}
)
