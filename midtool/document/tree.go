package document

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/spdx"
)

// Tree is a [Source] of the files below a folder: Markdown and other prose (kind md), HTML (web; see [ReadHTML]), notebooks (code; see
// [ReadNotebook]), code (code, with Syntax by the name of the file), and whatever Readers has. It is a [Splitter] and a [Digester].
//
// The files come in the order of the bytes of their paths. The ID is Name + "/" + path with slashes, the locator of the origin is the same, and
// the origin has the SHA-256 of the file. The text ends its lines in \n, has no byte order mark, and secrets in it are replaced by
// [Redact]. The title is that of the page or the first heading.
//
// The license is what the head of the file states by "SPDX-License-Identifier:"; else that of the nearest folder above that has a file
// such as LICENSE or COPYING, known by its words ("unknown" if it is not one of MIT, Apache-2.0, BSD-2-Clause, BSD-3-Clause, ISC,
// CC0-1.0, MPL-2.0); else License.
//
// What is not read is told to reject, a folder as one, with the path as the locator and a reason:
//
//   - by name: hidden, vendor_folder, blocked_name, not_teaching (see HighQuality), lock_file, minified, license_file, unknown_type
//     (weights, archives, images, logs and all other extensions);
//   - by kind: link, not_regular; none is opened;
//   - by size: too_large, too_deep;
//   - by content: binary (a NUL in it), invalid_utf8, no_text, and the reasons of the readers;
//   - unreadable.
//
// One file is held at a time. Walking holds the names in the folders above. [Tree.Split] holds all names.
//
// The zero value is not useful: set Name, and Dir or FS. What is kept of a source tree follows MidTool and the filters of code corpora;
// the lists of names are ours.
type Tree struct {
	Name string // starts the IDs; for example the owner and the name of a repository, "owner/name"
	Dir  string // the folder on disk: no link leads out of it, and none is followed
	FS   fs.FS  // in place of Dir

	// HighQuality keeps only paths with docs, examples, tutorials, guides, samples or a cookbook in one of their names: for repositories
	// that are good but not about tools.
	HighQuality bool

	// Blocked has names of folders, or "folder/folder", that are left out, also in Name. Case and signs are not compared. Nil means
	// [DefaultBlocked].
	Blocked []string

	MaxBytes int    // of a file; zero means 16 MiB
	MaxFiles int    // names in the tree; more are an error; zero means 2,000,000
	MaxDepth int    // folders in one another; zero means 64
	License  string // of files that have none, an SPDX identifier; empty means unknown
	Revision string // version or commit, for the origin

	// Readers read files by extension, such as ".pdf", in lower case, before those that are built in. A nil Reader leaves the extension out.
	Readers map[string]Reader
}

// maxLicenses bounds the files of one folder that are looked at for its license.
const maxLicenses = 16

// An entry is a file that may be read, or something that is not.
type entry struct {
	path    string
	reason  string // not empty: it is not read
	detail  string
	license *treeLicense
}

type treeLicense struct{ id, from string }

// Documents yields the documents.
func (t Tree) Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		w, err := t.walker(ctx)
		if err != nil {
			yield(Document{}, err)
			return
		}
		defer w.close()
		err = w.walk(func(e entry) (bool, error) { return w.read(e, reject, yield) })
		if err != nil {
			yield(Document{}, err)
		}
	}
}

// Split returns sources of at most size files each, those that are not read included. It walks the tree without reading the files;
// what is added to it afterwards is in none.
func (t Tree) Split(ctx context.Context, size int) ([]Source, error) {
	if size < 1 {
		return nil, fmt.Errorf("document: tree %s: split by %d files, want at least 1", t.Name, size)
	}
	w, err := t.walker(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	var parts []Source
	var part []entry
	cut := func() {
		if entries := part; len(entries) > 0 {
			parts = append(parts, SourceFunc(func(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error] {
				return t.entries(ctx, entries, reject)
			}))
		}
		part = nil
	}
	err = w.walk(func(e entry) (bool, error) {
		if part = append(part, e); len(part) == size {
			cut()
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	cut()
	return parts, nil
}

func (t Tree) entries(ctx context.Context, entries []entry, reject func(midtool.Rejection)) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		w, err := t.walker(ctx)
		if err != nil {
			yield(Document{}, err)
			return
		}
		defer w.close()
		for _, e := range entries {
			if on, err := w.read(e, reject, yield); err != nil {
				yield(Document{}, err)
				return
			} else if !on {
				return
			}
		}
	}
}

// Digest hashes the names and contents of the files that are read, the names of the others, and the options. Of Readers it hashes the extensions.
func (t Tree) Digest(ctx context.Context) (string, error) {
	w, err := t.walker(ctx)
	if err != nil {
		return "", err
	}
	defer w.close()
	h := sha256.New()
	fmt.Fprintf(h, "tree 1 %q %t %q %d %d %d %q %q",
		t.Name, t.HighQuality, w.t.Blocked, w.t.MaxBytes, w.t.MaxFiles, w.t.MaxDepth, t.License, t.Revision)
	for _, ext := range slices.Sorted(maps.Keys(t.Readers)) {
		fmt.Fprintf(h, " %q %t", ext, t.Readers[ext] != nil)
	}
	err = w.walk(func(e entry) (bool, error) {
		fmt.Fprintf(h, "\n%q %q %q %q", e.path, e.reason, e.license.id, e.license.from)
		if e.reason != "" {
			return true, nil
		}
		sum := sha256.New()
		n, err := w.copy(sum, e.path)
		fmt.Fprintf(h, " %d %x %t", n, sum.Sum(nil), err != nil)
		return true, nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A walker is a Tree that is open.
type walker struct {
	t       Tree // with defaults
	ctx     context.Context
	fsys    fs.FS
	root    *os.Root // nil for a file system of the caller
	blocked blockList
	names   int
}

func (t Tree) walker(ctx context.Context) (*walker, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("document: tree %q: "+format, append([]any{t.Name}, args...)...))
	}
	if t.Name == "" {
		bad("Name is empty")
	}
	if (t.Dir == "") == (t.FS == nil) {
		bad("want one of Dir and FS, got Dir %q and FS %T", t.Dir, t.FS)
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"MaxBytes", t.MaxBytes}, {"MaxFiles", t.MaxFiles}, {"MaxDepth", t.MaxDepth}} {
		if n.n < 0 {
			bad("%s is %d, want at least 0", n.name, n.n)
		}
	}
	for _, ext := range slices.Sorted(maps.Keys(t.Readers)) {
		if !strings.HasPrefix(ext, ".") || ext != strings.ToLower(ext) {
			bad("Readers has %q, want an extension in lower case with its dot", ext)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	t.MaxBytes = cmp.Or(t.MaxBytes, 16<<20)
	t.MaxFiles = cmp.Or(t.MaxFiles, 2_000_000)
	t.MaxDepth = cmp.Or(t.MaxDepth, 64)
	if t.Blocked == nil {
		t.Blocked = DefaultBlocked()
	}
	w := &walker{t: t, ctx: ctx, fsys: t.FS, blocked: newBlockList(t.Blocked)}
	if t.FS == nil {
		root, err := os.OpenRoot(t.Dir)
		if err != nil {
			return nil, fmt.Errorf("document: tree %q: %w", t.Name, err)
		}
		w.root, w.fsys = root, root.FS()
	}
	return w, nil
}

func (w *walker) close() {
	if w.root != nil {
		w.root.Close()
	}
}

// walk yields the entries in the order of their paths, until yield says false or fails.
func (w *walker) walk(yield func(entry) (bool, error)) error {
	license := &treeLicense{spdx.Name(w.t.License), ""}
	if w.t.License != "" {
		license.from = "option"
	}
	parent := ""
	for part := range strings.SplitSeq(w.t.Name, "/") {
		if w.blocked.has(parent, part) {
			_, err := yield(entry{path: ".", reason: "blocked_name", detail: part, license: license})
			return err
		}
		parent = part
	}
	_, err := w.folder(".", parent, 0, license, w.t.HighQuality && !teaches(w.t.Name), yield)
	return err
}

// folder yields the entries of a folder and says whether to go on. With teaching, only what teaches by a part of its path is read.
func (w *walker) folder(dir, name string, depth int, license *treeLicense, teaching bool, yield func(entry) (bool, error)) (bool, error) {
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	list, err := w.list(dir)
	if err != nil {
		if dir == "." || errors.Is(err, errTooMany) {
			return false, fmt.Errorf("document: tree %q: %s: %w", w.t.Name, dir, err)
		}
		if on, err := yield(entry{path: dir, reason: "unreadable", detail: err.Error(), license: license}); !on || err != nil {
			return on, err
		}
	}
	// Paths sort as names do if that of a folder has its slash.
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(sortKey(a), sortKey(b)) })
	var licenses []string
	for _, e := range list {
		if e.Type().IsRegular() && spdx.IsFile(e.Name()) && len(licenses) < maxLicenses {
			licenses = append(licenses, e.Name())
		}
	}
	if id, from := spdx.Folder(w.fsys, dir, licenses); id != "" {
		license = &treeLicense{id, from}
	}
	for _, e := range list {
		one := entry{path: path.Join(dir, e.Name()), license: license}
		if e.IsDir() {
			if one.reason = w.skipFolder(name, e.Name(), depth+1); one.reason == "" {
				on, err := w.folder(one.path, e.Name(), depth+1, license, teaching && !teaches(e.Name()), yield)
				if !on || err != nil {
					return on, err
				}
				continue
			}
		} else {
			one.reason = w.skip(e, teaching)
		}
		if on, err := yield(one); !on || err != nil {
			return on, err
		}
	}
	return true, nil
}

func sortKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

var errTooMany = errors.New("too many files")

// list reads the names in a folder.
func (w *walker) list(dir string) (list []fs.DirEntry, err error) {
	f, err := w.fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errors.New("cannot be listed")
	}
	for {
		batch, err := d.ReadDir(1024)
		list = append(list, batch...)
		if w.names += len(batch); w.names > w.t.MaxFiles {
			return nil, fmt.Errorf("%w: more than MaxFiles, %d", errTooMany, w.t.MaxFiles)
		}
		if err != nil || len(batch) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return list, err
		}
	}
}

func (w *walker) skipFolder(parent, name string, depth int) string {
	switch {
	case strings.HasPrefix(name, "."):
		return "hidden"
	case vendorNames[strings.ToLower(name)]:
		return "vendor_folder"
	case w.blocked.has(parent, name):
		return "blocked_name"
	case depth > w.t.MaxDepth:
		return "too_deep"
	}
	return ""
}

// skip returns the reason why a file is not read, without opening it.
func (w *walker) skip(e fs.DirEntry, teaching bool) string {
	name := e.Name()
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return "link"
	case !e.Type().IsRegular():
		return "not_regular"
	}
	if reason := skipFile(name); reason != "" {
		return reason
	}
	if spdx.IsFile(name) {
		return "license_file"
	}
	if read, _ := w.reader(name); read == nil {
		return "unknown_type"
	}
	if teaching && !teaches(name) {
		return "not_teaching"
	}
	return ""
}

// reader returns what reads a file of this name, nil if nothing does.
func (w *walker) reader(name string) (Reader, string) {
	low := strings.ToLower(name)
	ext := path.Ext(low)
	if r, ok := w.t.Readers[ext]; ok {
		return r, ""
	}
	switch ext {
	case ".html", ".htm", ".xhtml":
		return ReadHTML, ""
	case ".ipynb":
		return ReadNotebook, ""
	}
	syntax := cmp.Or(syntaxNames[low], syntaxes[ext])
	switch {
	case syntax != "":
		return readText, syntax
	case prose[ext] || proseNames[low]:
		return readText, ""
	}
	return nil, ""
}

func readText(_ context.Context, _ string, data []byte) (Document, error) {
	return Document{Text: string(data)}, nil
}

// read yields the document of an entry, or rejects it, and says whether to go on.
func (w *walker) read(e entry, reject func(midtool.Rejection), yield func(Document, error) bool) (bool, error) {
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	origin := midtool.Origin{Kind: "file", Locator: path.Join(w.t.Name, e.path), Revision: w.t.Revision}
	if e.reason == "" {
		d, err := w.document(e, origin)
		if err == nil {
			return yield(d, nil), nil
		}
		var ok bool
		if e.reason, e.detail, ok = reasonOf(err); !ok {
			return false, err
		}
	}
	if reject != nil {
		reject(midtool.Rejection{Origin: origin, Reason: e.reason, Detail: e.detail})
	}
	return true, nil
}

func (w *walker) document(e entry, origin midtool.Origin) (Document, error) {
	var data bytes.Buffer
	sum := sha256.New()
	if _, err := w.copy(io.MultiWriter(&data, sum), e.path); err != nil {
		return Document{}, err
	}
	read, syntax := w.reader(path.Base(e.path))
	d, err := read(w.ctx, e.path, data.Bytes())
	if err != nil {
		if done := w.ctx.Err(); done != nil {
			return Document{}, done
		}
		return Document{}, fmt.Errorf("document: %s: %w", origin.Locator, err)
	}
	if d.Text, err = clean(d.Text); err != nil {
		return Document{}, err
	}
	switch {
	case d.Kind != "":
	case syntax != "":
		d.Kind, d.Syntax = Code, syntax
	default:
		d.Kind, d.Title = Markdown, cmp.Or(d.Title, headingOf(d.Text))
	}
	origin.SHA256 = hex.EncodeToString(sum.Sum(nil))
	d.ID, d.Origin = origin.Locator, origin
	if d.Kind == Code || d.Kind == Markdown {
		if d.License = spdx.Head(d.Text); d.License != "" {
			d.LicenseFrom = "SPDX-License-Identifier"
		}
	}
	if d.License == "" {
		d.License, d.LicenseFrom = e.license.id, e.license.from
	}
	n := 0
	d.Text, n = Redact(d.Text)
	d.Secrets += n
	return d, nil
}

// copy writes the content of a file to dst. Its error is a fault of this file.
func (w *walker) copy(dst io.Writer, name string) (int64, error) {
	f, err := w.fsys.Open(name)
	if err != nil {
		return 0, fault("unreadable", "%v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, fault("unreadable", "%v", err)
	case !info.Mode().IsRegular():
		return 0, fault("not_regular", "")
	case info.Size() > int64(w.t.MaxBytes):
		return 0, fault("too_large", "%d bytes, more than %d", info.Size(), w.t.MaxBytes)
	}
	n, err := io.Copy(dst, io.LimitReader(f, int64(w.t.MaxBytes)+1))
	if err != nil {
		return n, fault("unreadable", "%v", err)
	}
	if n > int64(w.t.MaxBytes) { // the size was wrong
		return n, fault("too_large", "more than %d bytes", w.t.MaxBytes)
	}
	return n, nil
}

var (
	_ Splitter = Tree{}
	_ Digester = Tree{}
)
