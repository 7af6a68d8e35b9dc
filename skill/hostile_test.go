package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkBounded fails if a report is longer than a person would read.
func checkBounded(t *testing.T, name string, diags []Diagnostic) {
	t.Helper()
	if len(diags) > maxRepairs+2*maxYAMLNodes {
		t.Errorf("%s: %d diagnostics", name, len(diags))
	}
	for _, d := range diags {
		if len(d.Msg) > 2000 || !utf8.ValidString(d.Msg) {
			t.Errorf("%s: a message of %d bytes [%s]: %.100s", name, len(d.Msg), d.Code, d.Msg)
			return
		}
	}
}

// Texts of a million bytes, in every place of a file, are read or refused with a short, clear diagnostic.
func TestParseHuge(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 200_000
	}
	const k = 100_000 // where nothing grows but time
	long, wide := strings.Repeat("x", n), strings.Repeat("x", k)
	for _, c := range []struct {
		name, in, want string // the codes of the lenient diagnostics
		reason         string
	}{
		{"description", doc("name: a", "description: "+long), "3 description-too-long", "kept whole"},
		{"quoted", doc("name: a", `description: "`+strings.Repeat(`\"`, n/2)+`"`), "3 description-too-long", "as many escapes"},
		{"block", doc("name: a", "description: |", strings.Repeat("  line\n", n/7)), "3 description-too-long", "as many lines"},
		{"folded", doc("name: a", "description: >-", strings.Repeat("  line\n", n/7)), "3 description-too-long", "as many lines"},
		{"wide", doc("name: a", "description: "+strings.Repeat("技", n/3)), "3 description-too-long", "as many bytes"},
		{"colons", doc("name: a", "description: "+strings.Repeat("a: ", n/3)), "3 description-too-long, 3 repaired-unquoted", "a repair of this size"},
		{"continued", doc("name: a", "description: a: b", strings.Repeat("  line\n", n/7)), "3 description-too-long, 3 repaired-unquoted", "a repair over as many lines"},
		{"compatibility", doc("name: a", "description: x", "compatibility: "+wide), "4 compatibility-too-long", "kept whole"},
		{"name", doc("name: "+wide, "description: x"), "2 invalid-name, 2 name-mismatch", "kept as it is"},
		{"name that leads elsewhere", doc("name: ../"+wide, "description: x"), "2 name-mismatch, 2 unsafe-name!", "refused"},
		{"license", doc("name: a", "description: x", "license: "+wide), "", "has no limit"},
		{"unknown value", doc("name: a", "description: x", "k: "+wide), "4 unknown-key", "kept"},
		{"unknown key", doc("name: a", "description: x", "? "+wide, ": y"), "4 unknown-key", "kept"},
		{"metadata key", doc("name: a", "description: x", "metadata:", "  ? "+wide, "  : [y]"), "5 metadata-not-a-text", "kept"},
		{"same keys", doc("name: a", "description: x", "? "+wide, ": y", "? "+wide, ": y"), "6 duplicate-key!", "named in short"},
		{"anchor", doc("name: a", "description: &"+wide+" x"), "3 yaml-anchor!", "named in short"},
		{"alias", doc("name: &"+wide+" a", "description: *"+wide), "2 yaml-anchor!, 3 yaml-alias!", "named in short"},
		{"unknown alias", doc("name: a", "license: *"+wide, "description: 'x"), "2 invalid-yaml!", "named in short; the library gives no line"},
		{"tag", doc("name: a", "description: !"+wide+" x"), "3 yaml-tag!", "named in short"},
		{"comment", doc("name: a", "description: x # "+wide), "3 comment-cut", "named in short"},
		{"tools", doc("name: a", "description: x", "allowed-tools: ("+wide), "4 tools-parentheses", "one tool"},
		{"many tools", doc("name: a", "description: x", "allowed-tools: "+strings.Repeat("a ", k/2)), "", "as many tools"},
		{"deep flow", doc("name: a", "description: x", "k: "+strings.Repeat("[", k)), "4 unknown-key, 4 repaired-unquoted", "no list: a text, kept"},
		{"deep closed flow", doc("name: a", "description: x", "k: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), "4 yaml-depth!", "the library reads it, we do not"},
		{"deep block", doc("name: a", "description: x", "k:", "  "+strings.Repeat("- ", k/2)), "4 invalid-yaml!", "too deep for the library"},
		{"many values", doc("name: a", "description: x", "k: ["+strings.Repeat("a,", k/2)+"]"), "4 yaml-size!", "too many"},
		{"lines", "---\n" + strings.Repeat("\n", k), "1 unclosed-frontmatter!", "never closed"},
		{"blank start", strings.Repeat("\n", k) + doc("name: a", "description: x"), "1 leading-blank", "skipped"},
		{"dashes", strings.Repeat("-", k), "1 no-frontmatter!", "no fence"},
		{"body of fences", doc("name: a", "description: x") + strings.Repeat("---\n", k/4), "", "all body"},
	} {
		_, diags, err := Parse([]byte(c.in), &ParseOptions{Dir: "a"})
		if got := codes(diags); c.want != strings.ReplaceAll(got, "4 repaired-unquoted, 4 unknown-key", "4 unknown-key, 4 repaired-unquoted") || c.reason == "" {
			t.Errorf("%s: %.300s, want %s (%s)", c.name, got, c.want, c.reason)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: error of %d bytes", c.name, len(err.Error()))
		}
		checkBounded(t, c.name, diags)
	}
}

// Aliases that would grow to billions are refused before they grow, under any key and in either mode.
func TestParseAliasBomb(t *testing.T) {
	for _, key := range []string{"metadata", "description", "allowed-tools", "x-y", "name"} {
		lines := []string{"name: a", "description: x", "l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"}
		for i := range 30 {
			lines = append(lines, fmt.Sprintf("l%d: &l%d [*l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d]", i+1, i+1, i, i, i, i, i, i, i, i, i))
		}
		lines = append(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") }), key+": *l30")
		for _, strict := range []bool{true, false} {
			d, diags, err := Parse([]byte(doc(lines...)), &ParseOptions{Dir: "a", Strict: strict})
			if d != nil || err == nil || !slices.ContainsFunc(diags, func(d Diagnostic) bool { return d.Code == "yaml-alias" }) {
				t.Errorf("%s, strict %v: %v", key, strict, err)
			}
			checkBounded(t, key, diags)
		}
	}
	d, _, err := Parse([]byte(doc("name: a", "description: x", "k: &k", "  - *k")), nil)
	if d != nil || err == nil {
		t.Errorf("a list that holds itself: %v, %v", d, err)
	}
}

// A byte that no text file has, anywhere in a file, is refused, and the line is that of the byte.
func TestParseBytes(t *testing.T) {
	valid := "\ufeff---\nname: ä\ndescription: >-\n  x\nmetadata:\n  k: \"v\"\n---\nBödy\r\n---\n"
	rapid.Check(t, func(t *rapid.T) {
		bad := rapid.SampledFrom([]struct{ bytes, code string }{
			{"\x00", "nul-byte"}, {"\xff", "invalid-utf8"}, {"\x80", "invalid-utf8"}, {"\xc0\xaf", "invalid-utf8"}, {"\xed\xa0\x80", "invalid-utf8"}, {"\xf4\x90\x80\x80", "invalid-utf8"},
		}).Draw(t, "bytes")
		var at []int // where a rune starts
		for i := range valid {
			at = append(at, i)
		}
		i := rapid.SampledFrom(append(at, len(valid))).Draw(t, "at")
		for _, strict := range []bool{true, false} {
			d, diags, err := Parse([]byte(valid[:i]+bad.bytes+valid[i:]), &ParseOptions{Strict: strict})
			want := fmt.Sprintf("%d %s!", 1+strings.Count(valid[:i], "\n"), bad.code)
			if d != nil || err == nil || codes(diags) != want {
				t.Fatalf("%v, want %s", diags, want)
			}
		}
	})
	for c := rune(1); c < 0x20; c++ {
		if c == '\t' || c == '\n' || c == '\r' {
			continue
		}
		if d, _, err := Parse([]byte(doc("name: a", "description: x"+string(c)+"y")), nil); err == nil {
			t.Errorf("%U in the frontmatter: read as %q", c, d.Description())
		}
		if d, _, err := Parse([]byte(doc("name: a", "description: x")+string(c)), nil); err != nil || d.Body() != "Body\n"+string(c) {
			t.Errorf("%U in the body: %v", c, err)
		}
	}
}

// genFile draws files of lines that meet in odd ways.
func genFile() *rapid.Generator[string] {
	line := rapid.OneOf(rapid.SampledFrom([]string{
		"name: a", "description: x", "description: Use when: x", "allowed-tools: Read", "allowed-tools:", "allowed-tools: [a, b]", "allowed-tools: Bash(a", "Allowed-Tools: x",
		"license: 'MIT", "license: MIT'", `compatibility: "x`, `y"`, "metadata:", "  k: v", "\tk: v", "  - a", "  allowed-tools: x", "homepage: [a", "  b]", "tags: {a: b}", "---", "--- ", "----", "...",
		"x: |", "  text", "  ---", "description: >-", "# note", "", "a: &b c", "d: *b", "<<: {e: f}", "? g", ": h", "!!str i: j", "\u2028k: l", "'description': z", `"allowed-tools": q`, "name: ../x",
		"- a", "@b: c", "description: @x", "description: `x`", "description: [y", "description: x # cut", "name: A b", "name:", "metadata: null", "metadata: {a: [b, {c: d}]}",
	}), rapid.StringMatching(`[a-z\-:#'"\[\]{}&*!|> \t]{0,12}`))
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(line, 0, 9).Draw(t, "lines")
		if rapid.Bool().Draw(t, "readable") || rapid.Bool().Draw(t, "readable too") { // but for at most two of the lines
			head := []string{"---", "name: a", "description: y"}
			if s := rapid.SampledFrom([]string{"allowed-tools: Read", "", "allowed-tools: [a, b]", "allowed-tools:", "Allowed-Tools: x"}).Draw(t, "tools"); s != "" {
				head = append(head, s)
			}
			if rapid.Bool().Draw(t, "with metadata") {
				head = append(head, "metadata:", "  k: v")
			}
			n := 0
			if rapid.Bool().Draw(t, "with others") {
				n = min(len(lines), 1+rapid.IntRange(0, 1).Draw(t, "others"))
			}
			lines = slices.Concat(head, lines[:n], []string{"---", "body"})
		} else if rapid.IntRange(0, 4).Draw(t, "whole") > 0 {
			lines = slices.Concat([]string{"---", "name: a", "description: y"}[:rapid.IntRange(1, 3).Draw(t, "head")], lines, []string{"---", "body"})
		}
		return strings.Join(lines, rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r"}).Draw(t, "end"))
	})
}

// Any file gives a document or an error. What is read strictly is read alike leniently. A file with a line allowed-tools in
// its frontmatter never gives a document without a statement on tools. Any document that is read without error is either written or
// refused, and what is written is read as it was.
func TestParseAnyFile(t *testing.T) {
	var loaded, failed, strictly, tools int
	rapid.Check(t, func(t *rapid.T) {
		src := genFile().Draw(t, "file")
		lenient, diags, err := Parse([]byte(src), &ParseOptions{Dir: "a"})
		if (lenient == nil) != (err != nil) {
			t.Fatalf("document %v, error %v", lenient, err)
		}
		for _, d := range diags {
			if n := 1 + strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src), "\n"); d.Line < 0 || d.Line > n {
				t.Fatalf("%v is beyond the %d lines", d, n)
			}
		}
		strict, _, _ := Parse([]byte(src), &ParseOptions{Dir: "a", Strict: true})
		if strict != nil {
			strictly++
			if diff := cmp.Diff(strict, lenient); diff != "" {
				t.Fatalf("(-strict +lenient):\n%s", diff)
			}
		}
		if lenient == nil {
			failed++
			return
		}
		loaded++
		fences := 0
		for _, l := range strings.FieldsFunc(src, func(r rune) bool { return r == '\r' || r == '\n' }) {
			if strings.TrimRight(l, " \t") == "---" {
				fences++
			}
			if fences == 1 && strings.HasPrefix(strings.ToLower(l), "allowed-tools:") {
				tools++
				if lenient.Frontmatter.AllowedTools == nil {
					t.Fatalf("restriction lost: %+v", lenient)
				}
			}
		}
		if b, err := Marshal(lenient); err == nil {
			again, _, err := Parse(b, nil)
			if diff := cmp.Diff(lenient, again); err != nil || diff != "" {
				t.Fatalf("written and read: %v (-want +got):\n%s", err, diff)
			}
		}
	})
	if !testing.Short() && (loaded == 0 || failed == 0 || strictly == 0 || tools == 0) {
		t.Errorf("%d files loaded, %d failed, %d strict ones, %d with tools", loaded, failed, strictly, tools)
	}
}

// No name that is accepted leads out of the folder it is put in, whatever the system.
func TestNamesStayInside(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\:~a-c \-]{1,6}`),
			rapid.SampledFrom([]string{"..", ".", "../x", `..\x`, "/etc", `C:\x`, "c:x", "nul", "NUL.txt", "com1", "COM¹", "con ", "a/../../b", "...", "a\x00b", "conin$", "lpt0", "aux.md", "//x", "a\u0000", "..\u2215x"})).Draw(t, "name")
		quoted := fmt.Sprintf("%q", name)
		for _, strict := range []bool{true, false} {
			d, _, err := Parse([]byte("---\nname: "+quoted+"\ndescription: x\n---\nb\n"), &ParseOptions{Strict: strict})
			if err != nil {
				continue
			}
			n := d.Name()
			if !filepath.IsLocal(n) || strings.ContainsAny(n, "/\\:\x00") || strings.HasPrefix(n, ".") || filepath.Base(n) != n {
				t.Fatalf("strict %v: name %q was accepted", strict, n)
			}
		}
		if utf8.ValidString(name) {
			root := filepath.Join(os.TempDir(), "no", "such", "root")
			if why := unsafeName(name); why == "" && name != "" {
				if rel, err := filepath.Rel(root, filepath.Join(root, name)); err != nil || strings.Contains(rel, "..") && !strings.Contains(name, "..") || rel != filepath.Clean(name) {
					t.Fatalf("%q leads to %q: %v", name, rel, err)
				}
			} else {
				refused++
			}
		}
	})
	if !testing.Short() && refused == 0 {
		t.Error("no name was refused")
	}
	for _, name := range []string{".", "..", "../x", "/x", `\x`, "a/b", `a\b`, "a:b", ".git", "a\x00", "con", "PRN", "aux.txt", "nul ", "com1", "lpt9.x", "COM²", "a\nb", "CONIN$"} {
		if unsafeName(name) == "" {
			t.Errorf("%q is accepted", name)
		}
	}
	for _, name := range []string{"a", "console", "com", "com10", "null", "a.b", "技能", "lpt"} {
		if why := unsafeName(name); why != "" {
			t.Errorf("%q is refused: %s", name, why)
		}
	}
}

// A wideFS holds n folders at its root, each with a skill, and makes them when asked. Its root lists them in reverse.
type wideFS struct{ n int }

func (w wideFS) Open(name string) (fs.File, error) {
	if name == "." {
		return &wideDir{n: w.n}, nil
	}
	dir, file, _ := strings.Cut(name, "/")
	return fstest.MapFS{dir + "/SKILL.md": skillFile(dir, "x")}.Open(strings.TrimSuffix(dir+"/"+file, "/"))
}

type wideDir struct{ n int }

func (d *wideDir) Stat() (fs.FileInfo, error) { return wideEntry("."), nil }
func (d *wideDir) Read([]byte) (int, error)   { return 0, errors.New("a folder") }
func (d *wideDir) Close() error               { return nil }
func (d *wideDir) ReadDir(n int) (out []fs.DirEntry, err error) {
	for d.n > 0 && (n <= 0 || len(out) < n) {
		d.n--
		out = append(out, wideEntry(fmt.Sprintf("s%06d", d.n)))
	}
	if len(out) == 0 && n > 0 {
		return nil, io.EOF
	}
	return out, nil
}

type wideEntry string

func (e wideEntry) Name() string               { return string(e) }
func (e wideEntry) IsDir() bool                { return true }
func (e wideEntry) Type() fs.FileMode          { return fs.ModeDir }
func (e wideEntry) Info() (fs.FileInfo, error) { return e, nil }
func (e wideEntry) Size() int64                { return 0 }
func (e wideEntry) Mode() fs.FileMode          { return fs.ModeDir | 0o755 }
func (e wideEntry) ModTime() time.Time         { return time.Time{} }
func (e wideEntry) Sys() any                   { return nil }

// Of 100,000 skills as many are read as the limit allows, always the same ones, and the rest is reported.
func TestLoadFSWide(t *testing.T) {
	set := load(t, wideFS{100_000}, nil)
	if n := len(set.Skills); n != 1999 || set.Skills[n-1].Name() != "s001998" {
		t.Errorf("%d skills", n)
	}
	want := "s001999: warning: 2000 folders were read; at least 98001 more were not, this is the first [folder-limit]"
	if len(set.Diagnostics) != 1 || set.Diagnostics[0].Error() != want {
		t.Errorf("%v, want %s", set.Diagnostics, want)
	}
	set = load(t, wideFS{2500}, &LoadOptions{MaxDirs: 2501})
	if len(set.Skills) != 2500 || len(set.Diagnostics) > 0 {
		t.Errorf("%d skills with a higher limit: %v", len(set.Skills), set.Diagnostics)
	}
}

// An oddFS lists a folder against the rules.
type oddFS struct {
	fstest.MapFS
	list func(n int, call int) ([]fs.DirEntry, error)
}

func (o oddFS) ReadDir(string) ([]fs.DirEntry, error) { return nil, errors.New("not this way") }
func (o oddFS) Open(name string) (fs.File, error) {
	f, err := o.MapFS.Open(name)
	if err != nil || name != "odd" {
		return f, err
	}
	return &oddDir{f, o.list, 0}, nil
}

type oddDir struct {
	fs.File
	list func(n int, call int) ([]fs.DirEntry, error)
	call int
}

func (d *oddDir) ReadDir(n int) ([]fs.DirEntry, error) { d.call++; return d.list(n, d.call) }

func TestLoadFSOddFolders(t *testing.T) {
	files := fstest.MapFS{"a/SKILL.md": skillFile("a", "x"), "odd/b/SKILL.md": skillFile("b", "x")}
	for _, c := range []struct {
		list   func(n, call int) ([]fs.DirEntry, error)
		loaded int
		code   string
		reason string
	}{
		{func(n, call int) ([]fs.DirEntry, error) { return nil, nil }, 1, "", "an endless listing without entries ends"},
		{func(n, call int) ([]fs.DirEntry, error) {
			return slices.Repeat([]fs.DirEntry{wideEntry("b")}, n), nil
		}, 1, "folder-size", "an endless listing is cut off"},
		{func(n, call int) ([]fs.DirEntry, error) {
			if call == 1 {
				return []fs.DirEntry{wideEntry("b")}, nil
			}
			return nil, fs.ErrPermission
		}, 2, "unreadable", "what was listed before a failure is read"},
		{func(n, call int) ([]fs.DirEntry, error) { return []fs.DirEntry{wideEntry("b")}, io.EOF }, 2, "", "entries with the end"},
	} {
		set := load(t, oddFS{files, c.list}, nil)
		var got strings.Builder
		for _, d := range set.Diagnostics {
			got.WriteString(d.Code)
		}
		if len(set.Skills) != c.loaded || got.String() != c.code || c.reason == "" {
			t.Errorf("%s: %d loaded, want %d, %v", c.reason, len(set.Skills), c.loaded, set.Diagnostics)
		}
	}
}

// The order in which a file system lists its folders has no influence.
func TestLoadFSOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fsys := fstest.MapFS{}
		for range rapid.IntRange(0, 8).Draw(t, "files") {
			p := rapid.SampledFrom([]string{"a", "b", "a-b", "a/b", "b/a", "c/a", "c/b/a"}).Draw(t, "folder") + "/SKILL.md"
			fsys[p] = rapid.SampledFrom([]*fstest.MapFile{skillFile("a", "x"), skillFile("a", "y"), skillFile("b", "x"), file(""), skillWithBody("a", highText), {Mode: fs.ModeNamedPipe}}).Draw(t, "file")
		}
		want := load(t, fsys, nil)
		shuffle := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "order")
		if diff := cmp.Diff(want, load(t, shuffledFS{fsys, shuffle}, nil)); diff != "" {
			t.Fatalf("(-sorted +shuffled):\n%s", diff)
		}
	})
}

// A shuffledFS lists every folder in another order.
type shuffledFS struct {
	fstest.MapFS
	order []int
}

func (s shuffledFS) Open(name string) (fs.File, error) {
	f, err := s.MapFS.Open(name)
	if d, ok := f.(fs.ReadDirFile); ok && err == nil {
		all, _ := d.ReadDir(-1)
		var out []fs.DirEntry
		for _, i := range s.order {
			if i < len(all) {
				out = append(out, all[i])
			}
		}
		return &oddDir{f, func(int, int) ([]fs.DirEntry, error) { return out, io.EOF }, 0}, nil
	}
	return f, err
}

// The links of a folder are named up to a limit, and counted beyond it.
func TestLoadFSManyLinks(t *testing.T) {
	fsys := fstest.MapFS{"s/SKILL.md": skillFile("s", "x")}
	for i := range 5 * maxReports {
		fsys[fmt.Sprintf("l%04d", i)] = &fstest.MapFile{Data: []byte("s"), Mode: fs.ModeSymlink | 0o777}
	}
	set := load(t, fsys, nil)
	if len(set.Skills) != 1 || len(set.Diagnostics) != maxReports+1 || !strings.Contains(set.Diagnostics[0].Msg, fmt.Sprint(5*maxReports)) {
		t.Errorf("%d skills, %d diagnostics, the first is %v", len(set.Skills), len(set.Diagnostics), set.Diagnostics[0])
	}
	sameReversed(t, "links", fsys)
}

// sameReversed fails if a set depends on the order of its listings.
func sameReversed(t *testing.T, name string, fsys fstest.MapFS) {
	t.Helper()
	var reversed []int
	for range fsys {
		reversed = append([]int{len(reversed)}, reversed...)
	}
	if diff := cmp.Diff(load(t, fsys, nil), load(t, shuffledFS{fsys, reversed}, nil)); diff != "" {
		t.Errorf("%s, listed in reverse (-sorted +reversed):\n%s", name, diff)
	}
}

// A context that ends during a load ends it.
func TestLoadFSCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	opened := 0
	set, err := LoadFS(ctx, []Source{{"", countFS{wideFS{1000}, func() {
		if opened++; opened == 50 {
			cancel()
		}
	}}}}, nil)
	if set != nil || !errors.Is(err, context.Canceled) || opened > 60 {
		t.Errorf("%v after %d files and folders: %v", set, opened, err)
	}
}

type countFS struct {
	wideFS
	opened func()
}

func (c countFS) Open(name string) (fs.File, error) { c.opened(); return c.wideFS.Open(name) }
