//go:build unix

package skill

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A watchedFS notes what is opened and refuses to open what is no file or folder: that could wait for ever.
type watchedFS struct {
	fs.FS
	dir    string
	stat   bool // whether it can tell what a link leads to
	opened []string
}

func (w *watchedFS) Open(name string) (fs.File, error) {
	info, err := os.Stat(filepath.Join(w.dir, name))
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		w.opened = append(w.opened, name)
		return nil, fmt.Errorf("%s must not be opened", name)
	}
	return w.FS.Open(name)
}

type watchedStatFS struct{ *watchedFS }

func (w watchedStatFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(w.watchedFS.FS, name) }

// A pipe, socket, device, link or folder in place of a file is reported and never opened, and hides no skill.
func TestLoadFSSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "SKILL.md")
	write := func(name, content string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write("good/SKILL.md", doc("name: good", "description: x"))
	must(os.WriteFile(outside, []byte(doc("name: outside", "description: x")), 0o644))
	for _, d := range []string{"pipe", "lower", "zero", "link", "loop", "broken", "folder/SKILL.md", "both"} {
		must(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	must(syscall.Mkfifo(filepath.Join(dir, "pipe/SKILL.md"), 0o644))
	must(syscall.Mkfifo(filepath.Join(dir, "lower/skill.md"), 0o644))
	must(syscall.Mkfifo(filepath.Join(dir, "both/skill.md"), 0o644))
	write("both/SKILL.md", doc("name: both", "description: x"))
	must(syscall.Mkfifo(filepath.Join(dir, "good/res"), 0o644))
	must(syscall.Mkfifo(filepath.Join(dir, "alone"), 0o644))
	must(os.Symlink("alone", filepath.Join(dir, "to-pipe")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "zero/SKILL.md")))
	must(os.Symlink(outside, filepath.Join(dir, "link/SKILL.md")))
	must(os.Symlink("SKILL.md", filepath.Join(dir, "loop/SKILL.md")))
	must(os.Symlink("nowhere", filepath.Join(dir, "broken/SKILL.md")))
	must(os.Symlink("..", filepath.Join(dir, "up")))
	must(os.Symlink("good", filepath.Join(dir, "alias")))
	want := []string{
		"alias warning link", "both/skill.md error not-regular", "broken/SKILL.md error not-regular", "folder/SKILL.md warning not-regular", "link/SKILL.md error not-regular",
		"loop/SKILL.md error not-regular", "lower/skill.md error not-regular", "pipe/SKILL.md error not-regular", "up warning link", "zero/SKILL.md error not-regular",
	}
	root, err := os.OpenRoot(dir)
	must(err)
	defer root.Close()
	for _, c := range []struct {
		name string
		fsys *watchedFS
	}{
		{"root", &watchedFS{FS: root.FS(), dir: dir, stat: true}},
		{"dir", &watchedFS{FS: os.DirFS(dir), dir: dir, stat: true}},
		{"no stat", &watchedFS{FS: os.DirFS(dir), dir: dir}},
	} {
		var fsys fs.FS = c.fsys
		if c.fsys.stat {
			fsys = watchedStatFS{c.fsys}
		}
		set, err := LoadFS(context.Background(), []Source{{"", fsys}}, nil)
		must(err)
		_, _, diags := listing(set)
		expect := want
		if !c.fsys.stat {
			expect = append(slices.Clone(want), "to-pipe warning link") // it may lead to a folder
			slices.Sort(expect)
		}
		if diff := cmp.Diff([]string{"both/SKILL.md", "good/SKILL.md"}, paths(set.Skills)) + cmp.Diff(expect, diags) + cmp.Diff([]string(nil), c.fsys.opened); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Skills are written below their folder only, and to files only.
func TestWriteDirStaysInside(t *testing.T) {
	docs := []*Document{{Frontmatter: Frontmatter{Name: "a", Description: "x"}, Content: "1\n"}}
	for _, c := range []struct {
		make   func(dir, outside string) error
		fails  bool
		reason string
	}{
		{func(dir, outside string) error { return os.Symlink(outside, filepath.Join(dir, "a")) }, true, "a link out"},
		{func(dir, outside string) error { return os.Symlink("b", filepath.Join(dir, "a")) }, true, "a link to another skill"},
		{func(dir, outside string) error { return os.Symlink("nowhere", filepath.Join(dir, "a")) }, true, "a link to nowhere"},
		{func(dir, outside string) error { return os.WriteFile(filepath.Join(dir, "a"), nil, 0o644) }, true, "a file"},
		{func(dir, outside string) error {
			return os.Symlink(filepath.Join(outside, "SKILL.md"), mkdir(dir, "a", "SKILL.md"))
		}, false, "a link in place of the file is replaced"},
		{func(dir, outside string) error { return syscall.Mkfifo(mkdir(dir, "a", "SKILL.md"), 0o644) }, true, "a pipe"},
		{func(dir, outside string) error { return os.MkdirAll(mkdir(dir, "a", "SKILL.md"), 0o755) }, true, "a folder"},
	} {
		dir, outside := t.TempDir(), t.TempDir()
		mkdir(dir, "b", "")
		keep := filepath.Join(outside, "SKILL.md")
		if err := os.WriteFile(keep, []byte("keep"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := c.make(dir, outside); err != nil {
			t.Fatal(err)
		}
		err := WriteDir(context.Background(), dir, docs)
		if (err != nil) != c.fails || c.reason == "" || err != nil && !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("%s: %v", c.reason, err)
		}
		if data, err := os.ReadFile(keep); err != nil || string(data) != "keep" {
			t.Errorf("%s: the file outside is %q, %v", c.reason, data, err)
		}
		for _, d := range []string{outside, filepath.Join(dir, "a"), filepath.Join(dir, "b")} {
			entries, _ := os.ReadDir(d)
			for _, e := range entries {
				if e.Name() != "SKILL.md" || strings.HasSuffix(d, "b") {
					t.Errorf("%s: %s was left in %s", c.reason, e.Name(), filepath.Base(d))
				}
			}
		}
	}
}

// mkdir makes a folder and returns the path of a name in it.
func mkdir(dir, folder, name string) string {
	p := filepath.Join(dir, folder)
	_ = os.MkdirAll(p, 0o755)
	return filepath.Join(p, name)
}
