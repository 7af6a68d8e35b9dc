package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func skillFile(name, description string) *fstest.MapFile {
	return file(doc("name: "+name, "description: "+description))
}

// listing shows a set: names with paths, shadowed paths, then diagnostics as "path severity code".
func listing(s *Set) (loaded, shadowed, diags []string) {
	for _, l := range s.Skills {
		loaded = append(loaded, l.Name()+" "+l.Path)
	}
	for _, l := range s.Shadowed {
		shadowed = append(shadowed, l.Path)
	}
	for _, d := range s.Diagnostics {
		diags = append(diags, fmt.Sprintf("%s %v %s", d.Path, d.Severity, d.Code))
	}
	return
}

func TestLoadFS(t *testing.T) {
	link := &fstest.MapFile{Data: []byte("a"), Mode: fs.ModeSymlink | 0o777}
	for _, c := range []struct {
		name                    string
		sources                 []Source
		o                       *LoadOptions
		loaded, shadowed, diags []string
		reason                  string
	}{
		{"nothing", []Source{{"", fstest.MapFS{}}}, nil, nil, nil, nil, "an empty folder holds no skill"},
		{"tree", []Source{{"p", fstest.MapFS{
			"b/SKILL.md": skillFile("b", "x"), "x/y/a/SKILL.md": skillFile("a", "x"), "b/sub/c/SKILL.md": skillFile("c", "x"),
			".git/d/SKILL.md": skillFile("d", "x"), "node_modules/e/SKILL.md": skillFile("e", "x"), "readme.md": file("x"),
		}}}, nil, []string{"a p/x/y/a/SKILL.md", "b p/b/SKILL.md"}, nil, nil, "no descent below a skill, into dot folders or node_modules"},
		{"root", []Source{{"", fstest.MapFS{"SKILL.md": skillFile("any", "x")}}}, nil, []string{"any SKILL.md"}, nil, nil, "the root's name is not known"},
		{"one bad", []Source{{"", fstest.MapFS{
			"a/SKILL.md": skillFile("a", "x"), "b/SKILL.md": file("---\nname: b"), "c/SKILL.md": file(""), "d/SKILL.md": skillFile("d", "'x"), "e/SKILL.md": skillFile("e", "x"),
		}}}, nil, []string{"a a/SKILL.md", "e e/SKILL.md"}, nil,
			[]string{"b/SKILL.md error unclosed-frontmatter", "c/SKILL.md error no-frontmatter", "d/SKILL.md error invalid-yaml"}, "one bad file hides no other"},
		{"collision in a source", []Source{{"", fstest.MapFS{"z/a/SKILL.md": skillFile("a", "1"), "b/a/SKILL.md": skillFile("a", "2"), "a/SKILL.md": skillFile("a", "2")}}}, nil,
			[]string{"a a/SKILL.md"}, []string{"z/a/SKILL.md"}, []string{"b/a/SKILL.md info same-skill", "z/a/SKILL.md warning shadowed"}, "the smaller path wins"},
		{"precedence", []Source{{"p", fstest.MapFS{"z/a/SKILL.md": skillFile("a", "1")}}, {"u", fstest.MapFS{"a/SKILL.md": skillFile("a", "2")}}}, nil,
			[]string{"a p/z/a/SKILL.md"}, []string{"u/a/SKILL.md"}, []string{"u/a/SKILL.md warning shadowed"}, "the earlier source wins"},
		{"bad override", []Source{{"p", fstest.MapFS{"a/SKILL.md": skillFile("a", "'1")}}, {"u", fstest.MapFS{"a/SKILL.md": skillFile("a", "2")}}}, nil,
			[]string{"a u/a/SKILL.md"}, nil, []string{"p/a/SKILL.md error invalid-yaml"}, "a malformed file never shadows"},
		{"line ends", []Source{{"", fstest.MapFS{"a/SKILL.md": skillFile("a", "1"), "b/a/SKILL.md": file("---\r\nname: a\r\ndescription: 1\r\n---\r\nBody\r\n")}}}, nil,
			[]string{"a a/SKILL.md"}, nil, []string{"b/a/SKILL.md info same-skill"}, "line ends are no content"},
		{"lower case", []Source{{"", fstest.MapFS{"a/skill.md": skillFile("a", "x"), "b/skill.md": file("old"), "b/SKILL.md": skillFile("b", "x")}}}, nil,
			[]string{"a a/skill.md", "b b/SKILL.md"}, nil, []string{"a/skill.md warning file-name", "b/skill.md warning both-files"}, "table"},
		{"lower case, strict", []Source{{"", fstest.MapFS{"a/skill.md": skillFile("a", "x"), "b/skill.md": file("old"), "b/SKILL.md": skillFile("b", "x")}}}, &LoadOptions{Parse: ParseOptions{Strict: true}},
			[]string{"b b/SKILL.md"}, nil, []string{"a/skill.md error file-name", "b/skill.md warning both-files"}, "table"},
		{"links", []Source{{"", fstest.MapFS{"a/SKILL.md": link, "b": &fstest.MapFile{Data: []byte("c"), Mode: fs.ModeSymlink | 0o777}, "c/SKILL.md": skillFile("c", "x"), "SKILL.md/d/SKILL.md": skillFile("d", "x")}}}, nil,
			[]string{"c c/SKILL.md", "d SKILL.md/d/SKILL.md"}, nil, []string{"SKILL.md warning not-regular", "a/SKILL.md error not-regular", "b warning link"}, "only regular files are read; a folder may have any name"},
		{"folder named as the file", []Source{{"", fstest.MapFS{"a/SKILL.md/x": file("x"), "b/skill.md": &fstest.MapFile{Mode: fs.ModeDir | 0o755}, "b/SKILL.md": skillFile("b", "x")}}}, nil,
			[]string{"b b/SKILL.md"}, nil, []string{"a/SKILL.md warning not-regular", "b/skill.md warning not-regular"}, "a skill that is not found is named"},
		{"other letter case", []Source{{"", fstest.MapFS{"a/Skill.md": skillFile("a", "x"), "b/SKILL.MD": file("x"), "b/SKILL.md": skillFile("b", "x"), "a/c/SKILL.md": skillFile("c", "x")}}}, nil,
			[]string{"b b/SKILL.md", "c a/c/SKILL.md"}, nil, []string{"a/Skill.md warning file-name"}, "a file that nearly is one is named, not read"},
		{"depth", []Source{{"", fstest.MapFS{"1/2/SKILL.md": skillFile("2", "x"), "1/3/4/SKILL.md": skillFile("4", "x"), "1/5/6/SKILL.md": skillFile("6", "x")}}}, &LoadOptions{MaxDepth: 2},
			[]string{"2 1/2/SKILL.md"}, nil, []string{"1/3/4 warning depth-limit"}, "the excess is reported"},
		{"folders", []Source{{"", fstest.MapFS{"1/SKILL.md": skillFile("1", "x"), "2/SKILL.md": skillFile("2", "x"), "3/SKILL.md": skillFile("3", "x")}}}, &LoadOptions{MaxDirs: 2},
			[]string{"1 1/SKILL.md"}, nil, []string{"2 warning folder-limit"}, "the excess is reported"},
		{"folders by path", []Source{{"", fstest.MapFS{"a/x/SKILL.md": skillFile("x", "x"), "a-b/y/SKILL.md": skillFile("y", "x")}}}, &LoadOptions{MaxDirs: 4},
			[]string{"y a-b/y/SKILL.md"}, nil, []string{"a/x warning folder-limit"}, "of one depth the smaller path is read, and - is smaller than /"},
		{"too large", []Source{{"", fstest.MapFS{"a/SKILL.md": file(doc("name: a", "description: x") + strings.Repeat("x", maxFile+5))}}}, nil,
			nil, nil, []string{"a/SKILL.md error too-large"}, "2 MiB"},
	} {
		set, err := LoadFS(context.Background(), c.sources, c.o)
		if err != nil || c.reason == "" {
			t.Errorf("%s: %v (%s)", c.name, err, c.reason)
			continue
		}
		loaded, shadowed, diags := listing(set)
		for _, d := range []string{cmp.Diff(c.loaded, loaded), cmp.Diff(c.shadowed, shadowed), cmp.Diff(c.diags, diags)} {
			if d != "" {
				t.Errorf("%s (%s) (-want +got):\n%s", c.name, c.reason, d)
			}
		}
	}
}

type brokenFS struct{ fstest.MapFS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, "bad") {
		return nil, fs.ErrPermission
	}
	return b.MapFS.Open(name)
}

func (b brokenFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.HasPrefix(name, "bad-dir") {
		return nil, fs.ErrPermission
	}
	return b.MapFS.ReadDir(name)
}

func TestLoadFSErrors(t *testing.T) {
	set, err := LoadFS(context.Background(), []Source{{"", brokenFS{fstest.MapFS{
		"a/SKILL.md": skillFile("a", "x"), "bad-dir/b/SKILL.md": skillFile("b", "x"), "bad/SKILL.md": skillFile("bad", "x"),
	}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	loaded, _, diags := listing(set)
	if diff := cmp.Diff([]string{"a a/SKILL.md"}, loaded) + cmp.Diff([]string{"bad-dir error unreadable", "bad/SKILL.md error unreadable"}, diags); diff != "" {
		t.Errorf("unreadable parts hide nothing (-want +got):\n%s", diff)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LoadFS(ctx, []Source{{"", fstest.MapFS{}}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := LoadFS(context.Background(), []Source{{"x", os.DirFS(filepath.Join(t.TempDir(), "absent"))}}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent root: %v", err)
	}
	one := fstest.MapFS{"a/SKILL.md": skillFile("a", "1")}
	for _, c := range [][2]string{{"", ""}, {"", "."}, {"x", "x"}, {"x/y", "x//y/"}} {
		if _, err := LoadFS(context.Background(), []Source{{c[0], one}, {"other", one}, {c[1], one}}, nil); err == nil || !strings.Contains(err.Error(), "sources 0 and 2") {
			t.Errorf("labels %q: %v, want an error that names both sources", c, err)
		}
	}
	if _, err := LoadFS(context.Background(), []Source{{"x", nil}}, nil); err == nil {
		t.Error("no file system: no error")
	}
	if _, err := LoadFS(context.Background(), nil, &LoadOptions{MaxDepth: -1}); err == nil {
		t.Error("negative depth: no error")
	}
	for _, p := range []ParseOptions{{Path: "x"}, {Dir: "x"}} {
		if _, err := LoadFS(context.Background(), nil, &LoadOptions{Parse: p}); err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%+v: %v, want an error", p, err)
		}
	}
}

// Of k valid and m invalid files exactly k are loaded, with at least m errors.
func TestLoadFSCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fsys := fstest.MapFS{}
		k, m := rapid.IntRange(0, 10).Draw(t, "valid"), rapid.IntRange(0, 10).Draw(t, "invalid")
		for i := range k {
			name := fmt.Sprintf("v%d", i)
			fsys[rapid.SampledFrom([]string{"", "x/", "x/y/"}).Draw(t, "below")+name+"/SKILL.md"] = skillFile(name, "x")
		}
		bad := rapid.SampledFrom([]string{"", "---\n", "---\n---\n", "---\nname: [\n---\n", "---\nname: ../x\ndescription: y\n---\n", "\xff", "---\nname: a\n---\n"})
		for i := range m {
			fsys[fmt.Sprintf("%cw%d/SKILL.md", 'a'+rune(i*2), i)] = file(bad.Draw(t, "content"))
		}
		set, err := LoadFS(context.Background(), []Source{{"", fsys}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		failed := map[string]bool{}
		for _, d := range set.Diagnostics {
			if d.Severity == SeverityError {
				failed[d.Path] = true
			}
		}
		if len(set.Skills) != k || len(failed) != m {
			t.Fatalf("%d loaded, %d failed, want %d and %d: %v", len(set.Skills), len(failed), k, m, set.Diagnostics)
		}
	})
}

func TestWriteDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "skills")
	docs := []*Document{
		{Frontmatter: Frontmatter{Name: "b", Description: "x"}, Content: "1\n"},
		{Frontmatter: Frontmatter{Name: "a", Description: "y", AllowedTools: []string{}}, Content: "2\n"},
	}
	for range 2 { // the second time replaces
		if err := WriteDir(context.Background(), dir, docs); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		set, err := LoadFS(context.Background(), []Source{{"", root.FS()}}, &LoadOptions{Parse: ParseOptions{Strict: true}})
		root.Close()
		if err != nil || len(set.Diagnostics) > 0 {
			t.Fatal(err, set.Diagnostics)
		}
		want := []Loaded{{docs[1], "a/SKILL.md"}, {docs[0], "b/SKILL.md"}}
		if diff := cmp.Diff(want, set.Skills); diff != "" {
			t.Fatalf("written and loaded (-want +got):\n%s", diff)
		}
		docs[0].Content = "3\n"
	}
	for _, c := range []struct {
		docs   []*Document
		reason string
	}{
		{[]*Document{docs[0], {Frontmatter: Frontmatter{Name: "c"}}}, "an invalid document"},
		{[]*Document{docs[0], docs[1], docs[0]}, "two of one name"},
		{[]*Document{docs[0], nil}, "no document"},
	} {
		fresh := filepath.Join(t.TempDir(), "x")
		if err := WriteDir(context.Background(), fresh, c.docs); err == nil {
			t.Errorf("%s: no error", c.reason)
		}
		if _, err := os.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something was written", c.reason)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := WriteDir(ctx, t.TempDir(), docs); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	blocked := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteDir(context.Background(), blocked, docs); err == nil {
		t.Error("folder is a file: no error")
	}
}

// dataDir returns a folder of the shared test data, or skips.
func dataDir(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("THROUGHLINE_DATA")
	if root == "" {
		t.Skip("THROUGHLINE_DATA is not set: the test needs the public test data")
	}
	p := filepath.Join(root, name)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("test data absent: %v", err)
	}
	return p
}

// The 24 public files: all accounted for, with the departures counted in them by hand.
func TestLoadPublicSkills(t *testing.T) {
	fsys := os.DirFS(dataDir(t, "skills"))
	var files []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if d.Name() == "SKILL.md" {
			files = append(files, p)
		}
		return err
	})
	if err != nil || len(files) != 24 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, c := range []struct {
		o           LoadOptions
		loaded      int
		quarantined []string
		reason      string
	}{
		{LoadOptions{}, 23, []string{"letta/tools/slack/SKILL.md"}, "its body pipes a script from the network into a shell"},
		{LoadOptions{AllowUnsafe: true}, 24, nil, "all can be read"},
		{LoadOptions{AllowUnsafe: true, Parse: ParseOptions{Strict: true}}, 14, nil, "4 have another name than their folder, one of them an invalid one, 6 an unknown key"},
	} {
		set, err := LoadFS(context.Background(), []Source{{"", fsys}}, &c.o)
		if err != nil || c.reason == "" {
			t.Fatal(err, c.reason)
		}
		accounted, byCode, rules := map[string]bool{}, map[string]int{}, map[string]int{}
		for _, l := range slices.Concat(set.Skills, set.Shadowed, set.Quarantined) {
			accounted[l.Path] = true
		}
		for _, d := range set.Diagnostics {
			if rule, ok := strings.CutPrefix(d.Code, "scan-"); ok {
				rules[rule]++
				if d.Line < 2 {
					t.Errorf("%v has no line", d)
				}
				continue
			}
			byCode[d.Code]++
			if d.Severity == SeverityError {
				accounted[d.Path] = true
			}
		}
		if len(accounted) != 24 || len(set.Skills) != c.loaded {
			t.Errorf("%d of 24 files accounted for, %d loaded, want %d (%s)", len(accounted), len(set.Skills), c.loaded, c.reason)
		}
		if diff := cmp.Diff(map[string]int{"name-mismatch": 4, "invalid-name": 1, "unknown-key": 6}, byCode); diff != "" {
			t.Errorf("%s: diagnostics (-want +got):\n%s", c.reason, diff)
		}
		var unsafe []string
		for _, l := range set.Quarantined {
			unsafe = append(unsafe, l.Path)
		}
		if diff := cmp.Diff(c.quarantined, unsafe); diff != "" {
			t.Errorf("%s: quarantined (-want +got):\n%s", c.reason, diff)
		}
		if !c.o.Parse.Strict && rules["pipe-shell"] != 1 {
			t.Errorf("%s: findings %v", c.reason, rules)
		}
	}
	rules := 0 // bodies with a line ---
	set, err := LoadFS(context.Background(), []Source{{"", fsys}}, &LoadOptions{AllowUnsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set.Skills {
		if slices.Contains(strings.Split(s.Body(), "\n"), "---") {
			rules++
		}
		data, err := fs.ReadFile(fsys, s.Path)
		if err != nil || !strings.HasSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "---\n"+s.Body()) {
			t.Errorf("%s: the body is not the end of the file: %v", s.Path, err)
		}
	}
	if rules != 3 {
		t.Errorf("%d bodies have a line ---, want 3", rules)
	}
}

// The folders are on disk, with a body of 2 KB each, and read through os.Root as the doc of Source advises.
func BenchmarkLoadFS(b *testing.B) {
	for _, n := range []int{100, 1000, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			docs := make([]*Document, n)
			for i := range docs {
				docs[i] = typicalDocument(fmt.Sprintf("skill-%04d", i))
			}
			if err := WriteDir(context.Background(), dir, docs); err != nil {
				b.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				b.Fatal(err)
			}
			defer root.Close()
			b.ReportAllocs()
			for b.Loop() {
				set, err := LoadFS(context.Background(), []Source{{FS: root.FS()}}, &LoadOptions{MaxDirs: n + 1})
				if err != nil || len(set.Skills) != n {
					b.Fatal(len(set.Skills), err)
				}
			}
		})
	}
}

// typicalDocument has a body of about 2 KB.
func typicalDocument(name string) *Document {
	d := &Document{Frontmatter: Frontmatter{Name: name, Description: "Use when a customer wants money back for order 17 and the order has shipped.",
		License: "MIT", Metadata: map[string]string{"author": "someone", "version": "1.0"}}, Content: "# Refunds\n\n"}
	for i := 0; len(d.Content) < 2000; i++ {
		d.Content += fmt.Sprintf("%d. Look up the order by its number, then check what was paid: `get_order(order_id)`.\n", i+1)
	}
	return d
}
