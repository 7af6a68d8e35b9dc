package throughline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/throughline-go/throughline"

// The packages that never import one another.
var stages = []string{"bps", "envharness", "midtool", "rl", "skill"}

// Bridges, each with the one stage that it may import besides its own. A new bridge is named for what it joins and listed here.
var bridges = map[string]string{
	"envharness/budget":   "bps",
	"rl/linear/play":      "envharness",
	"rl/rollout":          "envharness",
	"rl/train":            "envharness",
	"midtool/skillsource": "skill",
	"skill/budget":        "bps",
}

// Modules that code outside tests may use; each is argued for where it is used.
var runtimeModules = []string{
	module,
	"go.yaml.in/yaml/v3",
	"golang.org/x/exp",
	"gonum.org/v1/gonum",
}

// Packages for tests alone: they may use what tests use, and no code outside tests may use them.
var testOnly = []string{"midtool/internal/schematest"}

// pkg is what the tests need of `go list -json`.
type pkg struct {
	ImportPath, Dir, Name              string
	Standard                           bool
	Module                             *struct{ Path string }
	Deps                               []string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// rel returns the path of p below the module, "." for the root.
func (p *pkg) rel() string { return relative(p.ImportPath) }

func relative(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// under reports whether a path below the module is dir or inside it.
func under(rel, dir string) bool { return rel == dir || strings.HasPrefix(rel, dir+"/") }

// stageOf returns the stage that an import path belongs to, or "".
func stageOf(importPath string) string {
	for _, s := range stages {
		if under(importPath, module+"/"+s) {
			return s
		}
	}
	return ""
}

// packages lists the packages of the root module and everything they depend on outside tests.
var packages = sync.OnceValues(func() (map[string]*pkg, error) {
	var out, stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-deps",
		"-json=ImportPath,Dir,Name,Standard,Module,Deps,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	all := map[string]*pkg{}
	for dec := json.NewDecoder(&out); ; {
		p := new(pkg)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = p
	}
})

// ours returns the packages of the root module in the order of their paths, and all that are known.
func ours(t *testing.T) (own []*pkg, all map[string]*pkg) {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Module != nil && p.Module.Path == module {
			own = append(own, p)
		}
	}
	slices.SortFunc(own, func(a, b *pkg) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return own, all
}

// Arrows point down only: bridges to stages to internal.
func TestImportGraph(t *testing.T) {
	own, all := ours(t)
	seen := map[string]bool{}
	for _, p := range own {
		stage := stageOf(p.ImportPath)
		seen[stage] = true
		for _, d := range p.Deps {
			dep := all[d]
			if dep == nil || dep.Standard {
				continue
			}
			name := ""
			if dep.Module != nil {
				name = dep.Module.Path
			}
			if slices.Contains(testOnly, relative(d)) {
				t.Errorf("%s depends on %s outside tests", p.rel(), relative(d))
			}
			if !slices.Contains(runtimeModules, name) && !slices.Contains(testOnly, p.rel()) {
				t.Errorf("%s depends on %s: its module is not among those allowed outside tests (%v)", p.rel(), d, runtimeModules)
			}
			other := stageOf(d)
			switch {
			case other == "" || other == stage:
			case under(p.rel(), "internal"):
				t.Errorf("%s depends on %s: internal packages import no stage", p.rel(), relative(d))
			case stage != "" && bridges[p.rel()] != other:
				t.Errorf("%s depends on %s: %v never import one another, except in the bridges %v",
					p.rel(), relative(d), stages, bridges)
			}
			if p.rel() == "bps" && name != "gonum.org/v1/gonum" && !under(relative(d), "internal") {
				t.Errorf("bps depends on %s: it may use the standard library, gonum and internal packages alone", d)
			}
		}
	}
	for _, s := range stages {
		if !seen[s] {
			t.Errorf("package %s is missing", s)
		}
	}
}

// parse reads files of one folder with their comments.
func parse(t *testing.T, fset *token.FileSet, dir string, names ...[]string) []*ast.File {
	t.Helper()
	var files []*ast.File
	for _, name := range slices.Concat(names...) {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// document reads the documentation of a package. It has the exported identifiers alone, methods and constructors below their types.
func document(t *testing.T, fset *token.FileSet, p *pkg) *doc.Package {
	t.Helper()
	d, err := doc.NewFromFiles(fset, parse(t, fset, p.Dir, p.GoFiles), p.ImportPath)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Every exported function, method and type has a comment that starts with its name; every exported constant and variable has one, or
// its group has; and every package has one.
func TestEveryExportedIdentifierIsDocumented(t *testing.T) {
	own, _ := ours(t)
	for _, p := range own {
		fset := token.NewFileSet()
		d := document(t, fset, p)
		if want := "Package " + p.Name + " "; p.Name != "main" && !strings.HasPrefix(d.Doc, want) {
			t.Errorf("%s: the package comment starts with %.30q, want %q", p.rel(), d.Doc, want)
		}
		named := func(pos token.Pos, prefix, name, comment string) {
			text := comment
			for _, article := range []string{"A ", "An ", "The "} {
				text = strings.TrimPrefix(text, article)
			}
			if rest, ok := strings.CutPrefix(text, name); !ok || !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\n") {
				t.Errorf("%s: %s%s: the comment of an exported identifier must start with its name, got %.30q",
					fset.Position(pos), prefix, name, comment)
			}
		}
		funcs := func(prefix string, list []*doc.Func) {
			for _, f := range list {
				if f.Level == 0 { // not promoted from an embedded field
					named(f.Decl.Pos(), prefix, f.Name, f.Doc)
				}
			}
		}
		here := p.rel() + "."
		values := func(list []*doc.Value) {
			for _, v := range list {
				for _, spec := range v.Decl.Specs {
					s := spec.(*ast.ValueSpec)
					for _, id := range s.Names {
						if id.IsExported() && strings.TrimSpace(v.Doc) == "" && s.Doc.Text() == "" && s.Comment.Text() == "" {
							t.Errorf("%s: %s%s: an exported %s must have a comment, or its group",
								fset.Position(id.Pos()), here, id.Name, v.Decl.Tok)
						}
					}
				}
			}
		}
		funcs(here, d.Funcs)
		values(d.Consts)
		values(d.Vars)
		for _, typ := range d.Types {
			named(typ.Decl.Pos(), here, typ.Name, typ.Doc)
			funcs(here, typ.Funcs)
			funcs(here+typ.Name+".", typ.Methods)
			values(typ.Consts)
			values(typ.Vars)
		}
	}
}

// An exported function of a public package is used in the body of an example whose output the test runner compares.
func TestEveryExportedFunctionHasAnExample(t *testing.T) {
	own, _ := ours(t)
	for _, p := range own {
		if p.Name == "main" || slices.Contains(strings.Split(p.rel(), "/"), "internal") {
			continue
		}
		fset := token.NewFileSet()
		d := document(t, fset, p)
		used := map[string]bool{}
		for _, f := range parse(t, fset, p.Dir, p.TestGoFiles, p.XTestGoFiles) {
			local := localName(f, p)
			for _, ex := range doc.Examples(f) {
				if ex.Output != "" || ex.EmptyOutput {
					collect(ex.Code, local, used)
				}
			}
		}
		funcs := slices.Clone(d.Funcs)
		for _, typ := range d.Types {
			funcs = append(funcs, typ.Funcs...)
		}
		for _, f := range funcs {
			if !used[f.Name] {
				t.Errorf("%s: %s.%s: an exported function must be used in an Example with an Output comment",
					fset.Position(f.Decl.Pos()), p.rel(), f.Name)
			}
		}
	}
}

// localName returns the name under which the test file f knows the package p: "" where it is part of it.
func localName(f *ast.File, p *pkg) string {
	if f.Name.Name == p.Name {
		return ""
	}
	for _, spec := range f.Imports {
		if ip, err := strconv.Unquote(spec.Path.Value); err == nil && ip == p.ImportPath && spec.Name != nil {
			return spec.Name.Name
		}
	}
	return p.Name
}

// collect adds the names in n that are qualified with local, or all names where local is "".
func collect(n ast.Node, local string, used map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := e.X.(*ast.Ident); ok && x.Name == local {
				used[e.Sel.Name] = true
			}
		case *ast.Ident:
			if local == "" {
				used[e.Name] = true
			}
		}
		return true
	})
}

// What must not stand in any file: folders where code is built and tried, which are another's on the next machine. Home folders may stand
// there, since paths of files are data too.
var forbidden = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"an absolute path of one machine", regexp.MustCompile("(?m)(?:^|[\\s\"'`(=,:])/(?:root|tmp|work)/[\\w.]")},
}

func TestNoFileNamesThisMachine(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		for _, f := range forbidden {
			if at := f.pattern.FindIndex(b); at != nil {
				line := 1 + bytes.Count(b[:at[1]], []byte("\n"))
				t.Errorf("%s:%d: %q is %s, which no file may contain", filepath.ToSlash(name), line, b[at[0]:at[1]], f.what)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("no file was read")
	}
}

// The patterns see what they are for and leave alone what looks like it.
func TestForbiddenPatterns(t *testing.T) {
	for _, tt := range []struct {
		text   string
		want   bool
		reason string
	}{
		{"see " + path.Join("/root", "x"), true, "the home folder of one user"},
		{`os.Open("` + path.Join("/tmp", "x") + `")`, true, "a temporary folder that is not t.TempDir"},
		{path.Join("/work", "x"), true, "at the start of a line"},
		{"https://example.com" + path.Join("/work", "page"), false, "a path of a URL"},
		{path.Join("/home", "kim", "reports"), false, "data of a sample"},
		{"go test work", false, "the pattern of the go command"},
		{"../shared/root/x", false, "a relative path"},
	} {
		if tt.reason == "" {
			t.Errorf("%q: case without a reason", tt.text)
		}
		got := false
		for _, f := range forbidden {
			got = got || f.pattern.MatchString(tt.text)
		}
		if got != tt.want {
			t.Errorf("%q: forbidden is %v, want %v (%s)", tt.text, got, tt.want, tt.reason)
		}
	}
}
