package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill"
)

var clock = func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600)) }

// open opens a folder and loads it.
func open(t testing.TB, dir string, o storeOptions) (*store, []stored, []skill.Diagnostic) {
	t.Helper()
	if o.now == nil {
		o.now = clock
	}
	s, err := openDir(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	cur, _, diags, err := s.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, cur, diags
}

func commit(t testing.TB, s *store, name, text string, base int) stored {
	t.Helper()
	c, err := s.commit(t.Context(), document(name, text), base)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files returns the files of a tree by path, folders with a slash at the end.
func files(t testing.TB, tr tree) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := tr.list(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
			switch {
			case e.IsDir():
				all[name+"/"] = ""
				walk(name)
			case name == lockName:
			case e.Type().IsRegular():
				raw, err := readAll(tr, name, maxJournal)
				if err != nil {
					t.Fatal(err)
				}
				all[name] = string(raw)
			default:
				all[name] = e.Type().String()
			}
		}
	}
	walk(".")
	return all
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func file(name, metadata, body string) string {
	s := "---\nname: " + name + "\ndescription: Does it.\n"
	if metadata != "" {
		s += "metadata:\n  " + metadata + "\n"
	}
	return s + "---\n" + body + "\n"
}

// The files that a store makes are part of what it promises.
func TestLayout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "memory")
	s, _, _ := open(t, dir, storeOptions{})
	commit(t, s, "a", "one", 0)
	commit(t, s, "a", "two", 1)
	commit(t, s, "b", "other", 0)
	put(t, filepath.Join(dir, "skills", "b", "scripts", "run.sh"), "echo")
	if err := s.remove(t.Context(), []victim{{"b", 1, "it fails"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.appendUses(t.Context(), []Use{{"a", 2, "e1", new(true)}, {"a", 2, "e<2>", nil}}); err != nil {
		t.Fatal(err)
	}
	text := func(name, text, version string) string {
		return "---\nname: " + name + "\ndescription: Does " + text + ".\nmetadata:\n  throughline-time: \"2026-03-04T04:06:07Z\"\n" +
			"  throughline-version: \"" + version + "\"\n---\n" + text + "\n"
	}
	want := map[string]string{
		".tmp/": "", "skills/": "", "history/": "", "skills/a/": "", "history/a/": "", "history/b/": "",
		"skills/a/SKILL.md":              text("a", "two", "2"),
		"history/a/1.md":                 text("a", "one", "1"),
		"history/a/2.md":                 text("a", "two", "2"),
		"history/b/1.md":                 text("b", "other", "1"),
		"history/b/1.removed.json":       `{"reason":"it fails","time":"2026-03-04T04:06:07Z"}` + "\n",
		"history/b/1.dir/":               "",
		"history/b/1.dir/SKILL.md":       text("b", "other", "1"),
		"history/b/1.dir/scripts/":       "",
		"history/b/1.dir/scripts/run.sh": "echo",
		"usage.jsonl":                    `{"skill":"a","version":2,"episode":"e1","success":true}` + "\n" + `{"skill":"a","version":2,"episode":"e<2>"}` + "\n",
	}
	if diff := gocmp.Diff(want, files(t, s.t)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// What commit returns is what a later load does.
	c := commit(t, s, "c", "three", 0)
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	_, cur, diags := open(t, dir, storeOptions{})
	if len(diags) != 0 {
		t.Errorf("diagnostics %v", diags)
	}
	if len(cur) != 2 || cur[0].doc.Name() != "a" {
		t.Fatalf("loaded %v, want a and c", cur)
	}
	if diff := gocmp.Diff(c.doc, cur[1].doc); diff != "" {
		t.Errorf("document (-committed +loaded):\n%s", diff)
	}
	if diff := gocmp.Diff(c.rec, cur[1].rec); diff != "" {
		t.Errorf("record (-committed +loaded):\n%s", diff)
	}
}

// The same steps on a disk and in the process leave the same files and histories.
func TestTreesAgree(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		if n++; n > 25 {
			return // a disk is slow
		}
		dir := filepath.Join(t.TempDir(), fmt.Sprint(n))
		w := newWorld()
		d, err := openDir(context.Background(), dir, storeOptions{noSync: true, now: w.t.now})
		if err != nil {
			rt.Fatal(err)
		}
		defer d.close()
		p := w.open(w.t)
		for _, s := range []*store{d, p} {
			if _, _, _, err := s.load(context.Background()); err != nil {
				rt.Fatal(err)
			}
		}
		edited := false
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			w.tick()
			step := drawStep(rt, w.m)
			edited = edited || step.kind == "edit" || step.kind == "drop"
			if step.kind == "purge" && edited {
				step.n = 100 // an edit has the time of its file, which on the disk is not the test's
			}
			for _, s := range []*store{d, p} {
				if err := step.run(s, w.m); err != nil {
					rt.Fatalf("%v: %v", step, err)
				}
			}
			w.m.apply(step)
			if diff := gocmp.Diff(files(t, d.t), files(t, p.t)); diff != "" {
				rt.Fatalf("after %v (-disk +process):\n%s", step, diff)
			}
		}
	})
}

// A file changed by hand is the truth at once, has a version that no other text has, and is not lost when it is replaced.
func TestHandEdits(t *testing.T) {
	for _, tt := range []struct {
		name    string
		edit    func(t *testing.T, dir string) // of a skill "a" with versions 1 and 2, and "gone", removed after 1
		of      string
		version int
		text    string
		codes   []string
		reason  string
	}{
		{"body", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", `throughline-version: "2"`, "edited"))
		}, "a", 3, "edited", []string{"changed-by-hand"}, "another text than version 2, so another number"},
		{"version raised", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", `throughline-version: "7"`, "edited"))
		}, "a", 7, "edited", nil, "a number that is free is taken as it is"},
		{"version lowered", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", `throughline-version: "1"`, "edited"))
		}, "a", 3, "edited", []string{"changed-by-hand"}, "version 1 is another text"},
		{"no version", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", "", "edited"))
		}, "a", 3, "edited", []string{"changed-by-hand"}, "the number follows from the history"},
		{"bad version", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", `throughline-version: "-3"`, "edited"))
		}, "a", 3, "edited", []string{"changed-by-hand", "record"}, "a version that is none counts as missing"},
		{"huge version", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", `throughline-version: "9223372036854775807"`, "edited"))
		}, "a", 3, "edited", []string{"changed-by-hand"}, "the next number would overflow"},
		{"older text put back", func(t *testing.T, dir string) {
			raw, err := os.ReadFile(filepath.Join(dir, "history/a/1.md"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), string(raw))
		}, "a", 3, "one", []string{"changed-by-hand"}, "version 2 was current, and must not pass for a write that never committed"},
		{"removed folder put back", func(t *testing.T, dir string) {
			if err := os.CopyFS(filepath.Join(dir, "skills/gone"), os.DirFS(filepath.Join(dir, "history/gone/1.dir"))); err != nil {
				t.Fatal(err)
			}
		}, "gone", 2, "bye", []string{"changed-by-hand"}, "version 1 stays removed; this is a new one"},
		{"history deleted", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "history/a")); err != nil {
				t.Fatal(err)
			}
		}, "a", 2, "two", nil, "the text alone says what is current"},
		{"new folder", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/new/SKILL.md"), file("new", "", "dropped in"))
		}, "new", 1, "dropped in", nil, "a skill from elsewhere has no version"},
		{"other name", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("b", `throughline-version: "2"`, "edited"))
		}, "a", 3, "edited", []string{"changed-by-hand", "name-mismatch"}, "the folder's name is the skill's: two skills cannot have one"},
		{"CRLF and BOM", func(t *testing.T, dir string) {
			text := "\ufeff" + strings.ReplaceAll(file("a", `throughline-version: "2"`, "edited"), "\n", "\r\n")
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), text)
		}, "a", 3, "edited", []string{"bom", "changed-by-hand"}, "an editor on another system"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			o := storeOptions{noSync: true}
			s, _, _ := open(t, dir, o)
			commit(t, s, "a", "one", 0)
			commit(t, s, "a", "two", 1)
			commit(t, s, "gone", "bye", 0)
			if err := s.remove(t.Context(), []victim{{"gone", 1, "x"}}); err != nil {
				t.Fatal(err)
			}
			s.close()
			tt.edit(t, dir)
			for _, readOnly := range []bool{true, false} {
				s, cur, diags := open(t, dir, storeOptions{noSync: true, readOnly: readOnly})
				i := slices.IndexFunc(cur, func(c stored) bool { return c.doc.Name() == tt.of })
				if i < 0 {
					t.Fatalf("%q is not loaded: %v, %v", tt.of, cur, diags)
				}
				rec, _ := cur[i].doc.ParseRecord()
				if cur[i].rec.Version != tt.version || rec.Version != tt.version || strings.TrimSpace(cur[i].doc.Content) != tt.text {
					t.Errorf("%s: loaded version %d (%d in the document), text %q; want %d and %q",
						tt.reason, cur[i].rec.Version, rec.Version, cur[i].doc.Content, tt.version, tt.text)
				}
				var codes []string
				for _, d := range diags {
					codes = append(codes, d.Code)
				}
				slices.Sort(codes)
				if diff := gocmp.Diff(tt.codes, codes); diff != "" {
					t.Errorf("diagnostics (-want +got):\n%s\n%v", diff, diags)
				}
				vs, err := s.versions(t.Context(), tt.of)
				if err != nil {
					t.Fatal(err)
				}
				if l := vs[len(vs)-1]; !l.Current || l.Record.Version != tt.version || l.Removed != "" {
					t.Errorf("last version in the history is %+v, want the current one, %d", l, tt.version)
				}
				if readOnly {
					s.close()
					continue
				}
				before := vs
				raw, err := os.ReadFile(filepath.Join(dir, "skills", tt.of, "SKILL.md"))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.commit(t.Context(), document(tt.of, "late"), tt.version-1); !errors.Is(err, ErrConflict) && tt.version > 1 {
					t.Errorf("superseding the version before: %v, want ErrConflict", err)
				}
				if c := commit(t, s, tt.of, "new", tt.version); c.rec.Version != tt.version+1 {
					t.Errorf("next version is %d, want %d", c.rec.Version, tt.version+1)
				}
				saved, err := os.ReadFile(filepath.Join(dir, "history", tt.of, fmt.Sprint(tt.version, ".md")))
				if err != nil || string(saved) != string(raw) {
					t.Errorf("history has %q (%v), want the file as it was: %q", saved, err, raw)
				}
				vs, err = s.versions(t.Context(), tt.of)
				if err != nil {
					t.Fatal(err)
				}
				if len(vs) != len(before)+1 {
					t.Fatalf("%d versions, want one more than %d", len(vs), len(before))
				}
				for i, b := range before {
					if b.Content != vs[i].Content || b.Record.Version != vs[i].Record.Version {
						t.Errorf("version %d has changed", b.Record.Version)
					}
				}
			}
		})
	}
}

// A write never goes over what somebody else has written meanwhile.
func TestConflicts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		do     func(t *testing.T, dir string, s *store) error // "a" is loaded with versions 1 and 2
		want   error
		reload bool // and then it works
		reason string
	}{
		{"stale version", func(t *testing.T, _ string, s *store) error {
			_, err := s.commit(t.Context(), document("a", "x"), 1)
			return err
		}, ErrConflict, false, "version 2 is current"},
		{"future version", func(t *testing.T, _ string, s *store) error {
			_, err := s.commit(t.Context(), document("a", "x"), 3)
			return err
		}, ErrConflict, false, "version 2 is current"},
		{"taken", func(t *testing.T, _ string, s *store) error {
			_, err := s.commit(t.Context(), document("a", "x"), 0)
			return err
		}, ErrExists, false, "the name is not free"},
		{"unknown", func(t *testing.T, _ string, s *store) error {
			_, err := s.commit(t.Context(), document("z", "x"), 1)
			return err
		}, ErrNotFound, false, "there is nothing to replace"},
		{"edited", func(t *testing.T, dir string, s *store) error {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", `throughline-version: "2"`, "edited"))
			_, err := s.commit(t.Context(), document("a", "x"), 2)
			return err
		}, ErrConflict, true, "the edit is not known to the caller"},
		{"deleted", func(t *testing.T, dir string, s *store) error {
			if err := os.RemoveAll(filepath.Join(dir, "skills/a")); err != nil {
				t.Fatal(err)
			}
			_, err := s.commit(t.Context(), document("a", "x"), 2)
			return err
		}, ErrConflict, true, "a person removed it"},
		{"damaged", func(t *testing.T, dir string, s *store) error {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), "---\nname: a\n")
			_, err := s.commit(t.Context(), document("a", "x"), 2)
			return err
		}, ErrConflict, false, "somebody is at work on it"},
		{"damaged before", func(t *testing.T, dir string, s *store) error {
			put(t, filepath.Join(dir, "skills/new/SKILL.md"), "---\nname: new\n")
			_, err := s.commit(t.Context(), document("new", "x"), 0)
			return err
		}, ErrExists, false, "a file that cannot be read is not overwritten"},
		{"remove edited", func(t *testing.T, dir string, s *store) error {
			put(t, filepath.Join(dir, "skills/a/SKILL.md"), file("a", "", "edited"))
			return s.remove(t.Context(), []victim{{"b", 1, "x"}, {"a", 2, "x"}})
		}, ErrConflict, false, "the last victim has changed, so none is removed"},
		{"remove stale", func(t *testing.T, _ string, s *store) error {
			return s.remove(t.Context(), []victim{{"a", 1, "x"}})
		}, ErrConflict, false, "version 2 is current"},
		{"remove unknown", func(t *testing.T, _ string, s *store) error {
			return s.remove(t.Context(), []victim{{"z", 1, "x"}})
		}, ErrNotFound, false, "there is nothing to remove"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			s, _, _ := open(t, dir, storeOptions{noSync: true})
			commit(t, s, "a", "one", 0)
			commit(t, s, "a", "two", 1)
			commit(t, s, "b", "other", 0)
			past, _ := os.ReadDir(filepath.Join(dir, "history/a"))
			err := tt.do(t, dir, s)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: error %v, want %v", tt.reason, err, tt.want)
			}
			after, _ := os.ReadDir(filepath.Join(dir, "history/a"))
			if len(past) != len(after) {
				t.Errorf("history has changed: %v, want %v", after, past)
			}
			if _, err := os.Stat(filepath.Join(dir, "skills/b/SKILL.md")); err != nil {
				t.Errorf("the other skill: %v", err)
			}
			if left := files(t, s.t); left[".tmp/current"]+left[".tmp/other"] != "" {
				t.Errorf(".tmp is not empty: %v", left)
			}
			if tt.reload {
				c, _, err := s.reload(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				if got := commit(t, s, "a", "again", c.rec.Version); got.rec.Version < 3 {
					t.Errorf("version %d, want one that is free", got.rec.Version)
				}
			}
		})
	}
}

// Whatever is wrong with one folder hides no other skill, is reported, and is not written over.
func TestUnreadable(t *testing.T) {
	link := func(t *testing.T, to, name string) {
		if err := os.Symlink(to, name); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	for _, tt := range []struct {
		name   string
		make   func(t *testing.T, skills string) // of skills/bad
		as     string
		code   string // empty: no diagnostic
		taken  bool
		reason string
	}{
		{"malformed", func(t *testing.T, d string) { put(t, d+"/bad/SKILL.md", "---\nname: bad\n") }, "bad", "unclosed-frontmatter", true, "no end of the head"},
		{"NUL", func(t *testing.T, d string) { put(t, d+"/bad/SKILL.md", file("bad", "", "\x00")) }, "bad", "nul-byte", true, "no text"},
		{"not UTF-8", func(t *testing.T, d string) { put(t, d+"/bad/SKILL.md", file("bad", "", "\xff")) }, "bad", "invalid-utf8", true, "no text"},
		{"too large", func(t *testing.T, d string) { put(t, d+"/bad/SKILL.md", file("bad", "", strings.Repeat("x", 2<<20))) }, "bad", "unreadable", true, "over the limit"},
		{"empty", func(t *testing.T, d string) { put(t, d+"/bad/SKILL.md", "") }, "bad", "no-frontmatter", true, "what a crash of another program leaves"},
		{"folder as file", func(t *testing.T, d string) { put(t, d+"/bad/SKILL.md/x", "") }, "bad", "not-regular", true, "no file"},
		{"linked file", func(t *testing.T, d string) {
			put(t, d+"/bad/x.md", file("bad", "", "x"))
			link(t, "x.md", d+"/bad/SKILL.md")
		}, "bad", "not-regular", true, "links are refused, also inside"},
		{"linked folder", func(t *testing.T, d string) { link(t, "good", d+"/bad") }, "bad", "link", true, "one skill would have two names"},
		{"link out", func(t *testing.T, d string) { link(t, t.TempDir(), d+"/bad") }, "bad", "link", true, "it leads out of the memory"},
		{"link to nothing", func(t *testing.T, d string) { link(t, "none", d+"/bad") }, "bad", "link", true, "a write would make what it points to"},
		{"bad name", func(t *testing.T, d string) { put(t, d+"/Bad_Name/SKILL.md", file("Bad_Name", "", "x")) }, "Bad_Name", "invalid-name", false, "no name of a skill"},
		{"bad folder", func(t *testing.T, d string) { put(t, d+"/Bad/SKILL.md", file("fine", "", "x")) }, "Bad", "invalid-name", false, "the folder's name counts"},
		{"history is a file", func(t *testing.T, d string) {
			put(t, d+"/bad/SKILL.md", file("bad", "", "x"))
			put(t, d+"/../history/bad", "x")
		}, "bad", "unreadable", false, "its versions cannot be known"},
		{"lower case", func(t *testing.T, d string) { put(t, d+"/bad/skill.md", file("bad", "", "x")) }, "bad", "file-name", false, "not the name of the format"},
		{"no file", func(t *testing.T, d string) { put(t, d+"/bad/notes.txt", "") }, "bad", "", false, "a folder without SKILL.md is none"},
		{"plain file", func(t *testing.T, d string) { put(t, d+"/README", "") }, "readme", "", false, "not a folder"},
		{"hidden", func(t *testing.T, d string) { put(t, d+"/.git/SKILL.md", "") }, ".git", "", false, "folders of other programs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			dir := t.TempDir()
			s, _, _ := open(t, dir, storeOptions{noSync: true})
			commit(t, s, "good", "fine", 0)
			s.close()
			tt.make(t, filepath.Join(dir, "skills"))
			s, cur, diags := open(t, dir, storeOptions{noSync: true})
			if len(cur) != 1 || cur[0].doc.Name() != "good" {
				t.Errorf("%s: loaded %d skills, want the good one alone", tt.reason, len(cur))
			}
			if got := slices.ContainsFunc(diags, func(d skill.Diagnostic) bool {
				return d.Code == tt.code && strings.HasPrefix(d.Path, filepath.Join(dir, "skills"))
			}); got != (tt.code != "") || tt.code == "" && len(diags) > 0 {
				t.Errorf("%s: diagnostics %v, want %q", tt.reason, diags, tt.code)
			}
			before := files(t, s.t)
			_, err := s.commit(t.Context(), document(tt.as, "x"), 0)
			if tt.taken && !errors.Is(err, ErrExists) {
				t.Errorf("%s: a new skill of this name: %v, want ErrExists", tt.reason, err)
			}
			if diff := gocmp.Diff(before, files(t, s.t)); err != nil && diff != "" {
				t.Errorf("a refused write has changed files (-before +after):\n%s", diff)
			}
		})
	}
}

// No name leads out of the folder, in no call, and nothing is written for one that is refused.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := open(t, filepath.Join(dir, "m"), storeOptions{noSync: true})
	commit(t, s, "a", "one", 0)
	before := files(t, s.t)
	ctx := t.Context()
	for _, name := range []string{"", ".", "..", "../x", "a/b", "a/../../x", `a\b`, "/etc", "A", "a b", " a", "a ", "-a", "a--b", "con", "nul", "aux",
		"com1", "a\x00", "a\n", "a:b", ".hidden", "\xff", "e\u0301", strings.Repeat("a", 65), strings.Repeat("a", 1e6)} {
		if _, err := s.commit(ctx, document(name, "x"), 0); err == nil {
			t.Errorf("commit took the name %.80q", name)
		}
		if err := s.remove(ctx, []victim{{name, 1, ""}}); !errors.Is(err, ErrNotFound) {
			t.Errorf("remove %.80q: %v, want ErrNotFound", name, err)
		}
		if _, err := s.versions(ctx, name); !errors.Is(err, ErrNotFound) {
			t.Errorf("versions %.80q: %v, want ErrNotFound", name, err)
		}
		if _, err := s.version(ctx, name, 1); !errors.Is(err, ErrNotFound) {
			t.Errorf("version %.80q: %v, want ErrNotFound", name, err)
		}
		if _, ok, err := s.reload(ctx, name); ok || err != nil {
			t.Errorf("reload %.80q: %v, %v", name, ok, err)
		}
	}
	if diff := gocmp.Diff(before, files(t, s.t)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("files outside: %v", entries)
	}
	long := strings.Repeat("\u4e2d", 64) // 192 bytes: no temporary name may be longer than the folder's
	commit(t, s, long, "x", 0)
}

// A document that the format refuses is refused, and the caller's own is neither changed nor kept.
func TestCommitDocument(t *testing.T) {
	s := newInProcess(storeOptions{now: clock})
	d := document("a", "one")
	d.Frontmatter.Description = strings.Repeat("x", 1025)
	if _, err := s.commit(t.Context(), d, 0); err == nil {
		t.Error("a description that is too long was stored")
	}
	d = document("a", "one")
	d.Frontmatter.AllowedTools = []string{"Read"}
	d.Frontmatter.Metadata = map[string]string{"k": "v", "throughline-time": "yesterday", "throughline-version": "99"}
	copied := gocmp.Diff(nil, d)
	c, err := s.commit(t.Context(), d, 0)
	if err != nil {
		t.Fatal(err)
	}
	if gocmp.Diff(nil, d) != copied {
		t.Error("the document of the caller has changed")
	}
	if c.rec.Version != 1 {
		t.Errorf("version %d, want 1: what the document claims does not count", c.rec.Version)
	}
	d.Frontmatter.AllowedTools[0], d.Frontmatter.Metadata["k"] = "Write", "w"
	if c.doc.Frontmatter.AllowedTools[0] != "Read" || c.doc.Frontmatter.Metadata["k"] != "v" {
		t.Error("the store shares memory with its caller")
	}
	vs, err := s.versions(t.Context(), "a")
	if err != nil || !vs[0].Time.Equal(clock().Truncate(time.Second)) || vs[0].Time.Location() != time.UTC {
		t.Errorf("time %v (%v), want the clock's", vs[0].Time, err)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := open(t, dir, storeOptions{noSync: true})
	commit(t, s, "a", "one", 0)
	if _, err := openDir(t.Context(), dir, storeOptions{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second writer: %v, want ErrLocked with the folder", err)
	}
	r, cur, _ := open(t, dir, storeOptions{readOnly: true})
	if len(cur) != 1 {
		t.Errorf("a reader beside the writer sees %d skills, want 1", len(cur))
	}
	for range 2 {
		if err := s.close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := s.commit(t.Context(), document("b", "x"), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("commit after close: %v", err)
	}
	w, _, _ := open(t, dir, storeOptions{}) // free again, also beside a reader
	commit(t, w, "b", "two", 0)
	if _, ok, err := r.reload(t.Context(), "b"); !ok || err != nil {
		t.Errorf("the reader does not see the new skill: %v, %v", ok, err)
	}
}

// A reader changes nothing, not even what a crash has left, and yet sees the committed state.
func TestReadOnly(t *testing.T) {
	if _, err := openDir(t.Context(), filepath.Join(t.TempDir(), "none"), storeOptions{readOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	empty, cur, diags := open(t, t.TempDir(), storeOptions{readOnly: true})
	if len(cur)+len(diags) != 0 || len(files(t, empty.t)) != 0 {
		t.Errorf("an empty folder: %v, %v, %v", cur, diags, files(t, empty.t))
	}
	dir := t.TempDir()
	s, _, _ := open(t, dir, storeOptions{noSync: true})
	commit(t, s, "a", "one", 0)
	two := commit(t, s, "a", "two", 1)
	if err := s.appendUses(t.Context(), []Use{{"a", 1, "e", nil}}); err != nil {
		t.Fatal(err)
	}
	s.close()
	// The writer was killed before its last rename.
	raw, _ := os.ReadFile(filepath.Join(dir, "history/a/2.md"))
	put(t, filepath.Join(dir, ".tmp/current"), string(raw))
	raw, _ = os.ReadFile(filepath.Join(dir, "history/a/1.md"))
	put(t, filepath.Join(dir, "skills/a/SKILL.md"), string(raw))
	r, cur, diags := open(t, dir, storeOptions{readOnly: true})
	before := files(t, r.t)
	if len(cur) != 1 || cur[0].rec.Version != 1 || len(diags) != 0 {
		t.Errorf("loaded %v, %v; want version 1", cur, diags)
	}
	if vs, err := r.versions(t.Context(), "a"); err != nil || len(vs) != 1 || !vs[0].Current {
		t.Errorf("versions %v, %v; want the one that was current", vs, err)
	}
	if d, err := r.version(t.Context(), "a", 2); !errors.Is(err, ErrNotFound) {
		t.Errorf("version 2, which never was current: %v, %v", d, err)
	}
	for name, err := range map[string]error{
		"commit": second(r.commit(t.Context(), two.doc, 1)),
		"remove": r.remove(t.Context(), []victim{{"a", 1, ""}}),
		"uses":   r.appendUses(t.Context(), []Use{{"a", 1, "f", nil}}),
		"purge":  r.purge(t.Context(), time.Now()),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", name, err)
		}
	}
	if diff := gocmp.Diff(before, files(t, r.t)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	r.close()
	// The next writer takes the attempt back.
	s, _, _ = open(t, dir, storeOptions{noSync: true})
	if f := files(t, s.t); f["history/a/2.md"] != "" || f[".tmp/current"] != "" {
		t.Errorf("files %v", f)
	}
	if c := commit(t, s, "a", "other", 1); c.rec.Version != 2 {
		t.Errorf("next version %d, want 2", c.rec.Version)
	}
}

func second[T any](_ T, err error) error { return err }

// Folders of the memory itself that are no folders, and a root that is none, are errors that name them.
func TestOpenFaults(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		reason     string
	}{
		{"skills", "skills", "a file stands where the folder belongs"},
		{"history", "history", "a file stands where the folder belongs"},
		{"tmp", ".tmp", "a file stands where the folder belongs"},
		{"root", ".", "the folder is a file"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		dir := filepath.Join(t.TempDir(), "m")
		put(t, filepath.Join(dir, tt.path), "x")
		if tt.path == "." {
			os.RemoveAll(dir)
			put(t, dir, "x")
		}
		for range 2 { // the lock is free again
			_, err := openDir(t.Context(), dir, storeOptions{})
			if err == nil || errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), filepath.Join(dir, tt.path)) {
				t.Errorf("%s: %v, want an error that names %s", tt.reason, err, filepath.Join(dir, tt.path))
			}
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "skills")); err == nil {
		if _, err := openDir(t.Context(), dir, storeOptions{}); err == nil {
			t.Error("skills may be a link out of the folder")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, _, _ := open(t, t.TempDir(), storeOptions{noSync: true})
	commit(t, s, "a", "one", 0)
	before := files(t, s.t)
	cancel()
	_, _, _, lerr := s.load(ctx)
	for name, err := range map[string]error{
		"open": second(openDir(ctx, t.TempDir(), storeOptions{})), "load": lerr,
		"commit": second(s.commit(ctx, document("b", "x"), 0)), "remove": s.remove(ctx, []victim{{"a", 1, ""}}),
		"uses": s.appendUses(ctx, []Use{{"a", 1, "e", nil}}), "purge": s.purge(ctx, time.Now()),
		"versions": second(s.versions(ctx, "a")), "version": second(s.version(ctx, "a", 1)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a canceled context: %v", name, err)
		}
	}
	if diff := gocmp.Diff(before, files(t, s.t)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// An error of the system names the file as the caller can find it, and nothing half-written stays.
func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := open(t, dir, storeOptions{noSync: true})
	commit(t, s, "a", "one", 0)
	put(t, filepath.Join(dir, "history/b"), "no folder")
	before := files(t, s.t)
	_, err := s.commit(t.Context(), document("b", "x"), 0)
	if want := filepath.Join(dir, "history", "b"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that names %s", err, want)
	}
	put(t, filepath.Join(dir, "usage.jsonl", "x"), "no file")
	err = s.appendUses(t.Context(), []Use{{"a", 1, "e", nil}})
	if want := filepath.Join(dir, "usage.jsonl"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that names %s", err, want)
	}
	os.RemoveAll(filepath.Join(dir, "usage.jsonl"))
	if runtime.GOOS != "windows" {
		if err := os.Remove(filepath.Join(dir, ".tmp")); err != nil {
			t.Fatal(err)
		}
		_, err = s.commit(t.Context(), document("a", "x"), 1)
		if want := filepath.Join(dir, ".tmp", "current"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that names %s", err, want)
		}
		delete(before, ".tmp/")
	}
	if diff := gocmp.Diff(before, files(t, s.t)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// A file of the history that is damaged hides no other version.
func TestDamagedHistory(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := open(t, dir, storeOptions{noSync: true})
	for i, text := range []string{"one", "two", "three"} {
		commit(t, s, "a", text, i)
	}
	put(t, filepath.Join(dir, "history/a/2.md"), "---\n")
	for _, other := range []string{"04.md", "x.md", "-1.md", "0.md", "99999999999999999999.md", "4.md~", "5.dir", "6.removed.json/x", "7.md/x"} {
		put(t, filepath.Join(dir, "history/a", other), "x")
	}
	vs, err := s.versions(t.Context(), "a")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "history/a/2.md")) {
		t.Errorf("error %v, want one that names the file", err)
	}
	if len(vs) != 2 || vs[0].Record.Version != 1 || vs[1].Record.Version != 3 || !vs[1].Current {
		t.Errorf("versions %+v, want 1 and 3", vs)
	}
	if _, err := s.version(t.Context(), "a", 2); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("version 2: %v, want the error of its file", err)
	}
	if c := commit(t, s, "a", "four", 3); c.rec.Version != 4 {
		t.Errorf("version %d, want 4: files of other names do not count", c.rec.Version)
	}
}

// Only what is old, not current and not the holder of the highest number goes.
func TestPurge(t *testing.T) {
	now := new(int64(0))
	s := newInProcess(storeOptions{now: func() time.Time { return time.Unix(*now, 0) }})
	at := func(sec int64) { *now = sec }
	at(10)
	commit(t, s, "a", "a1", 0)
	commit(t, s, "gone", "g1", 0)
	commit(t, s, "lost", "l1", 0)
	commit(t, s, "lost", "l2", 1)
	at(20)
	commit(t, s, "a", "a2", 1)
	commit(t, s, "gone", "g2", 1)
	at(30)
	commit(t, s, "a", "a3", 2)
	if err := s.remove(t.Context(), []victim{{"gone", 2, "bad"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.appendUses(t.Context(), []Use{{"gone", 2, "e", nil}}); err != nil {
		t.Fatal(err)
	}
	must(t, s.t.write(pastPath("a", 3, noteEnd), []byte(`{"reason":"never done","time":"1970-01-01T00:00:20Z"}`)))
	must(t, s.t.remove(skillDir("lost")))
	if _, ok, err := s.reload(t.Context(), "lost"); ok || err != nil {
		t.Fatalf("a skill deleted by hand: %v, %v", ok, err)
	}
	for _, tt := range []struct {
		before int64
		a      []int
		gone   []int
		reason string
	}{
		{10, []int{1, 2, 3}, []int{1, 2}, "nothing is older"},
		{11, []int{2, 3}, []int{2}, "the first versions are"},
		{21, []int{3}, []int{2}, "version 2 of gone was removed at 30, which is what counts"},
		{30, []int{3}, []int{2}, "still not before"},
		{31, []int{3}, nil, "the removed one goes; a current one stays, however old"},
		{1000, []int{3}, nil, "a second time changes nothing"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		if err := s.purge(t.Context(), time.Unix(tt.before, 0)); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]int{"a": tt.a, "gone": tt.gone} {
			vs, err := s.versions(t.Context(), name)
			if err != nil && (want != nil || !errors.Is(err, ErrNotFound)) {
				t.Fatal(err)
			}
			var got []int
			for _, v := range vs {
				got = append(got, v.Record.Version)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("before %d, %s: %s (-want +got):\n%s", tt.before, name, tt.reason, diff)
			}
		}
	}
	if got := files(t, s.t); got["history/gone/2.removed.json"] == "" || got["history/gone/2.dir/SKILL.md"] != "" {
		t.Errorf("files %v, want the note alone of the removed skill", got)
	}
	if vs, err := s.versions(t.Context(), "lost"); err != nil || len(vs) != 1 || vs[0].Record.Version != 2 {
		t.Errorf("versions of a skill that was deleted by hand: %v, %v; want the last, which holds the number", vs, err)
	}
	if c := commit(t, s, "gone", "back", 0); c.rec.Version != 3 {
		t.Errorf("version %d, want 3: the uses of version 2 are not those of this text", c.rec.Version)
	}
}

// What a store does for one skill does not depend on how many others there are.
func TestCommitTouchesOneSkill(t *testing.T) {
	count := func(n int) int {
		s := newInProcess(storeOptions{now: clock})
		for i := range n {
			commit(t, s, fmt.Sprintf("s%d", i), "x", 0)
		}
		c := &counting{tree: s.t}
		s.t = c
		commit(t, s, "s1", "y", 1)
		commit(t, s, "new", "y", 0)
		if err := s.remove(t.Context(), []victim{{"s1", 2, "x"}}); err != nil {
			t.Fatal(err)
		}
		return c.n
	}
	if few, many := count(3), count(60); few != many {
		t.Errorf("%d operations among 3 skills, %d among 60", few, many)
	}
}

// counting counts how many entries and files are looked at.
type counting struct {
	tree
	n int
}

func (c *counting) list(dir string) ([]fs.DirEntry, error) {
	es, err := c.tree.list(dir)
	c.n += 1 + len(es)
	return es, err
}

func (c *counting) open(name string) (io.ReadCloser, error) { c.n++; return c.tree.open(name) }

func (c *counting) stat(name string) (fs.FileInfo, error) { c.n++; return c.tree.stat(name) }

// A reader beside a writer sees whole texts and versions that belong to them, at any moment.
func TestReaderBesideWriter(t *testing.T) {
	dir := t.TempDir()
	w, _, _ := open(t, dir, storeOptions{noSync: true})
	commit(t, w, "a", "text 1", 0)
	most := 80
	if testing.Short() {
		most = 30
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		rng := rand.New(rand.NewPCG(1, 2))
		for v := 1; v < most; {
			if rng.IntN(8) == 0 {
				if err := w.remove(t.Context(), []victim{{"a", v, "x"}}); err != nil {
					t.Error(err)
					return
				}
				v++
				commit(t, w, "a", fmt.Sprint("text ", v), 0)
				continue
			}
			v++
			if _, err := w.commit(t.Context(), document("a", fmt.Sprint("text ", v)), v-1); err != nil {
				t.Error(err)
				return
			}
		}
	})
	r, err := openDir(t.Context(), dir, storeOptions{readOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	newest := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		cur, _, diags, err := r.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range diags {
			t.Fatalf("the reader complains: %v", d)
		}
		for _, c := range cur {
			if want := fmt.Sprintf("text %d\n", c.rec.Version); c.doc.Content != want {
				t.Fatalf("version %d has the text %q", c.rec.Version, c.doc.Content)
			}
			if c.rec.Version < newest {
				t.Fatalf("version %d after %d", c.rec.Version, newest)
			}
			newest = c.rec.Version
		}
		vs, err := r.versions(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vs {
			if want := fmt.Sprintf("text %d\n", v.Record.Version); v.Content != want || i > 0 && vs[i-1].Record.Version >= v.Record.Version {
				t.Fatalf("version %d has the text %q", v.Record.Version, v.Content)
			}
		}
	}
	wg.Wait()
}

// A note that is not one costs its reason, not the history.
func FuzzParseNote(f *testing.F) {
	for _, s := range []string{`{"reason":"x","time":"2026-01-02T03:04:05Z"}`, `{}`, `null`, `[]`, `{"time":1}`, "", `{"reason":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := parseNote(data)
		if err != nil {
			return
		}
		if n.Reason == "" {
			t.Error("a removal without a reason would not show")
		}
		if n.Time.Location() != time.UTC || n.Time.Nanosecond() != 0 {
			t.Errorf("time %v, want whole seconds of UTC", n.Time)
		}
		again, err := json.Marshal(n)
		if err != nil {
			return // a year that JSON has no form for
		}
		if m, err := parseNote(again); err != nil || m != n {
			t.Errorf("%s is read as %v (%v), want %v", again, m, err, n)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			s, _, _ := open(b, dir, storeOptions{noSync: true})
			for i := range n {
				commit(b, s, fmt.Sprintf("skill-%d", i), "does something that takes a few words to say", 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				if cur, _, _, err := s.load(b.Context()); err != nil || len(cur) != n {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 100, 10000} {
		for _, sync := range []bool{false, true} {
			if sync && n > 1 {
				continue // the disk is the same
			}
			b.Run(fmt.Sprintf("skills=%d/sync=%v", n, sync), func(b *testing.B) {
				dir := b.TempDir()
				s, _, _ := open(b, dir, storeOptions{noSync: true})
				for i := range n {
					commit(b, s, fmt.Sprintf("skill-%d", i), "x", 0)
				}
				s.close()
				s, _, _ = open(b, dir, storeOptions{noSync: !sync})
				v := 1
				b.ReportAllocs()
				for b.Loop() {
					v = commit(b, s, "skill-0", "y", v).rec.Version
				}
			})
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hooked does something before its n-th look at a file or folder.
type hooked struct {
	tree
	n  int
	do func()
}

func (h *hooked) look() {
	if h.n--; h.n == -1 {
		h.do()
	}
}

func (h *hooked) list(dir string) ([]fs.DirEntry, error)  { h.look(); return h.tree.list(dir) }
func (h *hooked) open(name string) (io.ReadCloser, error) { h.look(); return h.tree.open(name) }
func (h *hooked) stat(name string) (fs.FileInfo, error)   { h.look(); return h.tree.stat(name) }

// Wherever between two looks of a reader a write falls, the reader takes neither half of it for a change by hand.
func TestReaderBetweenLooks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		write  func(t *testing.T, s *store)
		want   []int // versions of "a" that may be current; 0: none
		reason string
	}{
		{"supersede", func(t *testing.T, s *store) { commit(t, s, "a", "text 3", 2) }, []int{2, 3}, "the history grows before the text changes"},
		{"twice", func(t *testing.T, s *store) {
			commit(t, s, "a", "text 3", 2)
			commit(t, s, "a", "text 4", 3)
		}, []int{2, 4}, "two steps at once"},
		{"remove", func(t *testing.T, s *store) {
			if err := s.remove(t.Context(), []victim{{"a", 2, "x"}}); err != nil {
				t.Fatal(err)
			}
		}, []int{0, 2}, "the folder moves into the history"},
		{"replace", func(t *testing.T, s *store) {
			if err := s.remove(t.Context(), []victim{{"a", 2, "x"}}); err != nil {
				t.Fatal(err)
			}
			commit(t, s, "a", "text 3", 0)
		}, []int{0, 2, 3}, "another folder of the same name"},
		{"last rename", func(t *testing.T, s *store) { must(t, s.t.rename(tmpCurrent, skillPath("a"))) }, []int{2, 3}, "the attempt becomes the text"},
		{"taken back", func(t *testing.T, s *store) {
			must(t, s.t.remove(pastPath("a", 3, ".md")))
			must(t, s.t.remove(tmpCurrent))
		}, []int{2}, "the attempt vanishes"},
		{"purge", func(t *testing.T, s *store) {
			if err := s.purge(t.Context(), clock().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}, []int{2}, "versions vanish"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("case without a reason")
			}
			for n := 0; ; n++ {
				w := newInProcess(storeOptions{now: clock})
				commit(t, w, "a", "text 1", 0)
				commit(t, w, "a", "text 2", 1)
				if tt.name == "last rename" || tt.name == "taken back" { // the writer is before its last step
					old := w.t
					w.t = &inProcess{now: clock, root: cloneTree(old.(*inProcess)).root}
					commit(t, w, "a", "text 3", 2)
					raw, err := readAll(w.t, skillPath("a"), maxText)
					must(t, err)
					w.t = old
					must(t, w.t.write(pastPath("a", 3, ".md"), raw))
					must(t, w.t.write(tmpCurrent, raw))
				}
				h := &hooked{tree: w.t, n: n, do: func() { tt.write(t, w) }}
				r := &store{o: storeOptions{readOnly: true}, t: h, known: map[string]known{}}
				cur, _, diags, err := r.load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				version := 0
				for _, c := range cur {
					version = c.rec.Version
					if want := fmt.Sprintf("text %d\n", version); c.doc.Content != want {
						t.Errorf("look %d: version %d has the text %q", n, version, c.doc.Content)
					}
				}
				if len(diags) > 0 || !slices.Contains(tt.want, version) {
					t.Errorf("look %d: version %d, %v; want one of %v", n, version, diags, tt.want)
				}
				vs, err := r.versions(t.Context(), "a") // the write may fall here too
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range vs {
					if want := fmt.Sprintf("text %d\n", v.Record.Version); v.Content != want {
						t.Errorf("look %d: version %d of the history has the text %q", n, v.Record.Version, v.Content)
					}
				}
				if h.n >= 0 {
					break
				}
			}
		})
	}
}

// A leftover in .tmp of a version that was current is no reason to delete that version.
func TestLeftoverOfCommitted(t *testing.T) {
	for _, tt := range []struct {
		current string // SKILL.md, changed by hand
		version int    // 0: not loaded
		reason  string
	}{
		{file("a", `throughline-version: "2"`, "edited"), 3, "the edit was made from version 2"},
		{file("a", `throughline-version: "3"`, "edited"), 3, "and its number raised"},
		{"---\nname: a\n", 0, "somebody is at work on it"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		dir := t.TempDir()
		s, _, _ := open(t, dir, storeOptions{noSync: true})
		commit(t, s, "a", "one", 0)
		commit(t, s, "a", "two", 1)
		s.close()
		raw, err := os.ReadFile(filepath.Join(dir, "history/a/2.md"))
		if err != nil {
			t.Fatal(err)
		}
		// After a loss of power a file system may know a renamed file under both names.
		put(t, filepath.Join(dir, ".tmp/current"), string(raw))
		put(t, filepath.Join(dir, "skills/a/SKILL.md"), tt.current)
		s, cur, _ := open(t, dir, storeOptions{noSync: true})
		if got := len(cur); got > 0 && cur[0].rec.Version != tt.version || got == 0 && tt.version != 0 {
			t.Errorf("%s: loaded %+v, want version %d", tt.reason, cur, tt.version)
		}
		if d, err := s.version(t.Context(), "a", 2); err != nil || d.Content != "two\n" {
			t.Errorf("%s: version 2 is lost: %v", tt.reason, err)
		}
	}
}

// A journal that came back after a loss of power, or was damaged, removes nothing that is newer than it.
func TestStaleJournal(t *testing.T) {
	for _, tt := range []struct {
		journal string
		code    string
		reason  string
	}{
		{`[{"skill":"a","version":1,"reason":"x","time":"2026-01-01T00:00:00Z"}]`, "", "version 1 is not current any more"},
		{`[{"skill":"a","version":3},{"skill":"../skills","version":1},{"skill":"","version":2},{}]`, "", "no such version, no such names"},
		{`[]`, "", "nothing to do"},
		{`null`, "", "nothing to do"},
		{`[{"skill":"a","ver`, "journal", "no JSON"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		dir := t.TempDir()
		s, _, _ := open(t, dir, storeOptions{noSync: true})
		commit(t, s, "a", "one", 0)
		commit(t, s, "a", "two", 1)
		before := files(t, s.t)
		s.close()
		put(t, filepath.Join(dir, journal), tt.journal)
		for _, readOnly := range []bool{true, false} {
			s, cur, diags := open(t, dir, storeOptions{noSync: true, readOnly: readOnly})
			if len(cur) != 1 || cur[0].rec.Version != 2 {
				t.Errorf("%s: loaded %v, want version 2", tt.reason, cur)
			}
			if len(diags) > 0 != (tt.code != "") || len(diags) > 0 && diags[0].Code != tt.code {
				t.Errorf("%s: diagnostics %v, want %q", tt.reason, diags, tt.code)
			}
			if !readOnly {
				if diff := gocmp.Diff(before, files(t, s.t)); diff != "" {
					t.Errorf("%s: files (-before +after):\n%s", tt.reason, diff)
				}
			}
			s.close()
		}
	}
}

// An error names the package once, whatever it wraps.
func TestOnePrefix(t *testing.T) {
	s := newInProcess(storeOptions{now: clock})
	commit(t, s, "a", "x", 0)
	_, taken := s.commit(t.Context(), document("a", "x"), 0)
	_, conflict := s.commit(t.Context(), document("a", "x"), 7)
	_, none := s.versions(t.Context(), "b")
	_, past := s.version(t.Context(), "a", 3)
	for _, tt := range []struct {
		err, is error
		want    string
	}{
		{taken, ErrExists, `memory: store "a": the name is taken`},
		{conflict, ErrConflict, `memory: store "a": the skill has changed: version 1 is current, not 7`},
		{none, ErrNotFound, `memory: history of "b": no such skill`},
		{past, ErrNotFound, `memory: version 3 of "a": no such skill`},
		{s.remove(t.Context(), []victim{{"b", 1, ""}}), ErrNotFound, `memory: remove "b": no such skill`},
	} {
		if !errors.Is(tt.err, tt.is) || tt.err.Error() != tt.want {
			t.Errorf("%v, want %q", tt.err, tt.want)
		}
	}
}

// broken fails one rename, and all else works.
type broken struct {
	tree
	to string // empty: none
}

func (b *broken) rename(from, to string) error {
	if b.to != "" && to == b.to {
		b.to = ""
		return errors.New("disk full")
	}
	return b.tree.rename(from, to)
}

// Once several removals are decided on, a failure that the clean-up makes good is none: an error would say that nothing went.
func TestRemoveDecided(t *testing.T) {
	for _, tt := range []struct {
		at     string
		fails  bool
		reason string
	}{
		{journal, true, "not decided yet"},
		{pastPath("b", 1, noteEnd), false, "before the second one"},
		{pastPath("b", 1, ".dir"), false, "the second one itself"},
	} {
		if tt.reason == "" {
			t.Fatal("case without a reason")
		}
		b := &broken{tree: newTree(clock)}
		s, err := newStore(b, storeOptions{now: clock})
		must(t, err)
		commit(t, s, "a", "x", 0)
		commit(t, s, "b", "x", 0)
		b.to = tt.at
		err = s.remove(t.Context(), []victim{{"a", 1, "test"}, {"b", 1, "test"}})
		if (err != nil) != tt.fails || b.to != "" {
			t.Errorf("%s: %v", tt.reason, err)
		}
		for _, name := range []string{"a", "b"} {
			if _, ok, err := s.reload(t.Context(), name); ok != tt.fails || err != nil {
				t.Errorf("%s: %s is there: %v, %v", tt.reason, name, ok, err)
			}
		}
	}
}
