package pdfsource

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// read collects what a source yields and rejects: IDs with texts, locators with reasons.
func read(t *testing.T, sources ...document.Source) (docs, rejected []string) {
	t.Helper()
	for _, s := range sources {
		reject := func(r midtool.Rejection) { rejected = append(rejected, r.Origin.Locator+" "+r.Reason) }
		for d, err := range s.Documents(t.Context(), reject) {
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, d.ID+" "+d.Text)
		}
	}
	return docs, rejected
}

func folder() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: textPDF("", true, text)} }
	return fstest.MapFS{
		"b/c.pdf": file("bc"), "b-a.PDF": file("b-a"), "a.pdf": file("a"), "b/d/e.pdf": file("bde AKIA" + strings.Repeat("X", 16)),
		"z.pdf":   file(""),
		"bad.pdf": {Data: []byte("%PDF-1.4")}, "large.pdf": {Data: make([]byte, 1<<20)}, "notes.txt": {Data: []byte("no")},
		"link.pdf": {Data: []byte("a.pdf"), Mode: fs.ModeSymlink}, "pipe.pdf": {Mode: fs.ModeNamedPipe}, "folder.pdf/x.txt": {Data: []byte("no")},
	}
}

func TestSourceDocuments(t *testing.T) {
	s := &Source{Name: "manuals", FS: folder(), License: "MIT", LicenseFrom: "file LICENSE", Reader: newReader(t,
		Options{MaxBytes: 1 << 16, Workers: 2})}
	docs, rejected := read(t, s)
	if diff := cmp.Diff([]string{"manuals/a.pdf a", "manuals/b-a.PDF b-a", "manuals/b/c.pdf bc", "manuals/b/d/e.pdf bde <SECRET>"},
		docs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"manuals/bad.pdf bad_pdf", "manuals/large.pdf too_large", "manuals/z.pdf no_text"}, rejected); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for d, err := range s.Documents(t.Context(), nil) { // a second time, without being told, and stopped
		if err != nil || d.License != "MIT" || d.LicenseFrom != "file LICENSE" {
			t.Errorf("%+v, %v", d, err)
		}
		break
	}
	for size := 1; size < 9; size++ {
		parts, err := s.Split(t.Context(), size)
		if err != nil {
			t.Fatal(err)
		}
		gotDocs, gotRejected := read(t, parts...)
		if diff := cmp.Diff([][]string{docs, rejected}, [][]string{gotDocs, gotRejected}); diff != "" || len(parts) != (7+size-1)/size {
			t.Errorf("%d parts of %d files (-want +got):\n%s", len(parts), size, diff)
		}
	}
	if _, err := s.Split(t.Context(), 0); err == nil {
		t.Error("parts of no file")
	}
}

func TestSourceErrors(t *testing.T) {
	first := func(s *Source, ctx context.Context) (err error) {
		for _, err = range s.Documents(ctx, nil) {
			break
		}
		return err
	}
	r := newReader(t, Options{})
	if err := first(&Source{Reader: r}, t.Context()); err == nil || !strings.Contains(err.Error(), "FS is nil") {
		t.Errorf("no folder: %v", err)
	}
	absent := &Source{FS: os.DirFS(filepath.Join(t.TempDir(), "absent")), Reader: r}
	if err := first(absent, t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
	if _, err := absent.Split(t.Context(), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder in parts: %v", err)
	}
	if _, err := absent.Digest(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("digest of an absent folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &Source{FS: folder(), Reader: r}
	parts, err := s.Split(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := first(s, ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if err := first(parts[0].(*Source), ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("part of what is canceled: %v", err)
	}
	if _, err := s.Digest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("digest of what is canceled: %v", err)
	}
	r.Close()
	if err := first(s, t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("closed reader: %v", err)
	}
}

// lockedFS refuses some names.
type lockedFS struct {
	fs.FS
	locked []string
}

func (f lockedFS) Open(name string) (fs.File, error) {
	if slices.Contains(f.locked, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

// A file or a folder that cannot be opened is told, in parts as in the whole.
func TestSourceTellsUnreadable(t *testing.T) {
	s := &Source{FS: lockedFS{folder(), []string{"b", "a.pdf"}}, Reader: newReader(t, Options{MaxBytes: 1 << 16})}
	want := []string{"b unreadable", "a.pdf unreadable", "bad.pdf bad_pdf", "large.pdf too_large", "z.pdf no_text"}
	docs, rejected := read(t, s)
	if diff := cmp.Diff(want, rejected); diff != "" || !slices.Equal(docs, []string{"b-a.PDF b-a"}) {
		t.Errorf("%q (-want +got):\n%s", docs, diff)
	}
	parts, err := s.Split(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, rejected = read(t, parts...); !slices.Equal(rejected, want) {
		t.Errorf("in parts: %q", rejected)
	}
	for d, err := range parts[0].Documents(t.Context(), nil) {
		t.Errorf("document of what cannot be read: %v, %v", d, err)
	}
}

// The digest tells apart whatever the documents depend on, and nothing else.
func TestSourceDigest(t *testing.T) {
	r := newReader(t, Options{MaxBytes: 1 << 16})
	digest := func(change func(s *Source, files fstest.MapFS)) string {
		files := folder()
		s := &Source{Name: "m", FS: files, Reader: r}
		change(s, files)
		d, err := s.Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	same := func(*Source, fstest.MapFS) {}
	want := digest(same)
	if got := digest(same); got != want {
		t.Errorf("the same folder: %s, want %s", got, want)
	}
	if got := digest(func(_ *Source, files fstest.MapFS) { files["notes.txt"].Data = nil }); got != want {
		t.Error("a file that is not read counts")
	}
	for name, change := range map[string]func(*Source, fstest.MapFS){
		"name":    func(s *Source, _ fstest.MapFS) { s.Name = "n" },
		"license": func(s *Source, _ fstest.MapFS) { s.License = "MIT" },
		"from":    func(s *Source, _ fstest.MapFS) { s.LicenseFrom = "x" },
		"bounds":  func(s *Source, _ fstest.MapFS) { s.Reader = nil },
		"content": func(_ *Source, files fstest.MapFS) { files["a.pdf"] = files["b/c.pdf"] },
		"path":    func(_ *Source, files fstest.MapFS) { files["a2.pdf"] = files["a.pdf"]; delete(files, "a.pdf") },
		"locked":  func(s *Source, files fstest.MapFS) { s.FS = lockedFS{files, []string{"a.pdf"}} },
		"folder":  func(s *Source, files fstest.MapFS) { s.FS = lockedFS{files, []string{"folder.pdf"}} },
	} {
		if digest(change) == want {
			t.Errorf("another %s does not count", name)
		}
	}
}

// In a real folder, links that lead in a circle or out of it are left alone.
func TestSourceFollowsNoLink(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	for name, data := range map[string][]byte{filepath.Join(outside, "secret.pdf"): textPDF("", false, "secret"), filepath.Join(dir,
		"a.pdf"): textPDF("", false, "a")} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"loop": dir, "out": outside, "out.pdf": filepath.Join(outside, "secret.pdf")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	docs, rejected := read(t, &Source{FS: root.FS(), Reader: newReader(t, Options{})})
	if !slices.Equal(docs, []string{"a.pdf a"}) || rejected != nil {
		t.Errorf("%q, rejected %q", docs, rejected)
	}
}
