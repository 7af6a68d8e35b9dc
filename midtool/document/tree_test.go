package document

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
	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

const mitText = `MIT License

Copyright (c) 2027 The Desk

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files, to deal in it.
The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.
`

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

// told reads a source: "ID kind" for each document and "! locator reason" for each rejection, in order.
func told(t testing.TB, s Source) (lines []string, docs []Document) {
	t.Helper()
	reject := func(r midtool.Rejection) { lines = append(lines, fmt.Sprintf("! %s %s", r.Origin.Locator, r.Reason)) }
	for d, err := range s.Documents(context.Background(), reject) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(d.ID, " ", d.Kind))
		docs = append(docs, d)
	}
	return lines, docs
}

func TestTree(t *testing.T) {
	tree := Tree{Name: "t", FS: files(
		"README", "\ufeff\r\n# The desk\r\nText\r",
		"a/z.md", "x", "a-b.md", "x", "a.md", "x", // "-" and "." stand before "/"
		"page.HTML", "<title>P</title><p>x",
		"n.ipynb", `{"cells":[{"cell_type":"code","source":"x = 1"}]}`,
		"main.go", "package main\n", "Makefile", "all:\n", "go.mod", "module x\n",
		"LICENSE", mitText, "sub/COPYING", "All rights reserved.", "sub/x.md", "x", "sub/deep/y.md", "x",
		"head.py", "#!/usr/bin/env python\n# SPDX-License-Identifier: Apache-2.0\nx = 1\n",
		"key.txt", "id = AK"+"IAABCDEFGHIJKLMNOP",
		"weights.safetensors", "x", "photo.png", "x", "run.log", "x", "go.sum", "x", "x.lock", "x", "app.min.js", "x", ".env",
		"x", ".git/config", "x",
		"node_modules/a.js", "x", "Vendor/a.go", "x", "bfcl/q.md", "x", "src/ShishirPatil/gorilla/q.md", "x", "gorilla/mux.go",
		"package mux",
		"nul.md", "a\x00b", "bad.md", "a\xffb", "empty.md", " \n", "bad.ipynb", "{", "paper.pdf", "%PDF",
	)}
	want := []string{
		"! t/.env hidden", "! t/.git hidden", "! t/LICENSE license_file", "t/Makefile code", "t/README md", "! t/Vendor vendor_folder",
		"t/a-b.md md", "t/a.md md", "t/a/z.md md", "! t/app.min.js minified", "! t/bad.ipynb bad_notebook", "! t/bad.md invalid_utf8",
		"! t/bfcl blocked_name", "! t/empty.md no_text", "t/go.mod code", "! t/go.sum lock_file", "t/gorilla/mux.go code",
		"t/head.py code", "t/key.txt md", "t/main.go code", "t/n.ipynb code",
		"! t/node_modules vendor_folder", "! t/nul.md binary", "t/page.HTML web", "! t/paper.pdf unknown_type",
		"! t/photo.png unknown_type", "! t/run.log unknown_type",
		"! t/src/ShishirPatil/gorilla blocked_name", "! t/sub/COPYING license_file", "t/sub/deep/y.md md", "t/sub/x.md md",
		"! t/weights.safetensors unknown_type", "! t/x.lock lock_file",
	}
	got, docs := told(t, tree)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	at := func(id string) Document {
		i := slices.IndexFunc(docs, func(d Document) bool { return d.ID == "t/"+id })
		if i < 0 {
			t.Fatalf("no document %s", id)
		}
		return docs[i]
	}
	if d := at("README"); d.Text != "\n# The desk\nText\n" || d.Title != "The desk" || d.License != "MIT" || d.LicenseFrom != "file LICENSE" ||
		d.Origin.Kind != "file" || d.Origin.Locator != "t/README" || len(d.Origin.SHA256) != 64 {
		t.Errorf("README: %+v", d)
	}
	if d := at("sub/deep/y.md"); d.License != "unknown" || d.LicenseFrom != "file COPYING" {
		t.Errorf("the nearest license counts: %+v", d)
	}
	if d := at("head.py"); d.License != "Apache-2.0" || d.Syntax != "python" {
		t.Errorf("the head of a file counts more: %+v", d)
	}
	if d := at("key.txt"); d.Text != "id = <SECRET>" || d.Secrets != 1 {
		t.Errorf("secret: %+v", d)
	}
	if at("page.HTML").Title != "P" || at("go.mod").Syntax != "go" || at("Makefile").Syntax != "make" {
		t.Error("title or syntax")
	}
}

func TestTreeOptions(t *testing.T) {
	fsys := files("docs/a.md", "x", "pkg/a.go", "x", "pkg/example_test.go", "x", "src/Tutorials/b.md", "x", "c.pdf", "pdf!", "d.xyz", "y", "e.md", "long text", "bfcl/f.md", "x")
	got, docs := told(t, Tree{Name: "owner/repo", FS: fsys, HighQuality: true, License: "mit", Blocked: []string{}})
	want := []string{"! owner/repo/bfcl/f.md not_teaching", "! owner/repo/c.pdf unknown_type", "! owner/repo/d.xyz unknown_type", "owner/repo/docs/a.md md",
		"! owner/repo/e.md not_teaching", "! owner/repo/pkg/a.go not_teaching", "owner/repo/pkg/example_test.go code", "owner/repo/src/Tutorials/b.md md"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("high quality (-want +got)\n%s", d)
	}
	if docs[0].License != "MIT" || docs[0].LicenseFrom != "option" {
		t.Errorf("license %+v", docs[0])
	}
	if got, _ := told(t, Tree{Name: "ShishirPatil/gorilla", FS: fsys}); !slices.Equal(got, []string{"! ShishirPatil/gorilla blocked_name"}) {
		t.Errorf("a blocked tree: %q", got)
	}
	pdf := func(_ context.Context, name string, data []byte) (Document, error) {
		if string(data) == "y" {
			return Document{}, fmt.Errorf("outer: %w", &Fault{Code: "encrypted"})
		}
		return Document{Kind: PDF, Title: name, Text: "a\r\n" + string(data)}, nil
	}
	got, docs = told(t, Tree{Name: "t", FS: fsys, MaxBytes: 5, Readers: map[string]Reader{".pdf": pdf, ".xyz": pdf, ".go": nil}})
	want = []string{"! t/bfcl blocked_name", "t/c.pdf pdf", "! t/d.xyz encrypted", "t/docs/a.md md", "! t/e.md too_large", "! t/pkg/a.go unknown_type",
		"! t/pkg/example_test.go unknown_type", "t/src/Tutorials/b.md md"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("readers (-want +got)\n%s", d)
	}
	if docs[0].Title != "c.pdf" || docs[0].Text != "a\npdf!" {
		t.Errorf("reader: %+v", docs[0])
	}
	boom := errors.New("boom")
	for d, err := range (Tree{Name: "t", FS: files("a.md", "x", "b.pdf", "x", "c.md", "x"), Readers: map[string]Reader{
		".pdf": func(context.Context, string, []byte) (Document, error) { return Document{}, boom }}}).Documents(context.Background(), nil) {
		if err == nil && d.ID != "t/a.md" || err != nil && !errors.Is(err, boom) {
			t.Errorf("any other error ends the sequence: %v, %v", d.ID, err)
		}
	}
}

func TestTreeErrors(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		tree Tree
		want string
	}{
		{Tree{}, "Name is empty"}, {Tree{Name: "t"}, "want one of Dir and FS"}, {Tree{Name: "t", Dir: "x", FS: files()}, "want one of Dir and FS"},
		{Tree{Name: "t", FS: files(), MaxBytes: -1, MaxFiles: -2, MaxDepth: -3}, "MaxDepth is -3"},
		{Tree{Name: "t", FS: files(), Readers: map[string]Reader{"pdf": nil}}, `Readers has "pdf"`},
		{Tree{Name: "t", Dir: filepath.Join(t.TempDir(), "none")}, "none"},
		{Tree{Name: "t", FS: files("a.md", "x", "b.md", "x", "c/d.md", "x"), MaxFiles: 3}, "more than MaxFiles, 3"},
	} {
		var got error
		for _, err := range tt.tree.Documents(ctx, nil) {
			got = err
		}
		_, split := tt.tree.Split(ctx, 1)
		_, digest := tt.tree.Digest(ctx)
		for _, err := range []error{got, split, digest} {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: %v, want %q", tt.tree, err, tt.want)
			}
		}
	}
	if _, err := (Tree{Name: "t", FS: files()}).Split(ctx, 0); err == nil {
		t.Error("split by 0")
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range (Tree{Name: "t", FS: files("a.md", "x")}).Documents(canceled, nil) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	}
}

// The parts of a tree, of any size, yield and reject together what the tree does, in the order of the bytes of the paths; and the digest tells
// trees apart that differ in a name, a content or a license.
func TestTreeSplit(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		fsys := fstest.MapFS{}
		for range rapid.IntRange(1, 12).Draw(t, "files") {
			var parts []string
			for range rapid.IntRange(0, 3).Draw(t, "depth") {
				parts = append(parts, rapid.SampledFrom([]string{"a", "a-b", "a.b", "b", "vendor"}).Draw(t, "folder")+"d")
			}
			parts = append(parts, rapid.SampledFrom([]string{"a.md", "a-.md", "b.go", "c.png", "LICENSE", ".x"}).Draw(t, "file"))
			fsys[strings.Join(parts, "/")] = &fstest.MapFile{Data: []byte(rapid.SampledFrom([]string{"x", "", mitText}).Draw(t, "content"))}
		}
		tree := Tree{Name: "t", FS: fsys}
		var want, got []string
		collect := func(s Source, to *[]string) {
			for d, err := range s.Documents(ctx, func(r midtool.Rejection) { *to = append(*to, "! "+r.Origin.Locator+" "+r.Reason) }) {
				if err != nil {
					t.Fatal(err)
				}
				*to = append(*to, d.ID+" "+d.Text+" "+d.License)
			}
		}
		collect(tree, &want)
		paths := make([]string, len(want))
		for i, line := range want {
			paths[i] = strings.Fields(strings.TrimPrefix(line, "! "))[0]
		}
		if !slices.IsSorted(paths) {
			t.Fatalf("order %q", paths)
		}
		size := rapid.IntRange(1, 5).Draw(t, "size")
		parts, err := tree.Split(ctx, size)
		if err != nil || len(parts) != (len(want)+size-1)/size {
			t.Fatalf("%d parts of %d by %d, %v", len(parts), len(want), size, err)
		}
		for _, p := range parts {
			collect(p, &got)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("parts %q, want %q", got, want)
		}
		before, err := tree.Digest(ctx)
		again, _ := tree.Digest(ctx)
		if err != nil || before != again {
			t.Fatalf("digest %s, %s, %v", before, again, err)
		}
		fsys["e.md"] = &fstest.MapFile{Data: []byte("new")}
		if after, _ := tree.Digest(ctx); after == before {
			t.Fatal("a new file leaves the digest")
		}
		delete(fsys, "e.md")
		license := mitText
		if old := fsys["LICENSE"]; old != nil && string(old.Data) == mitText {
			license = "another"
		}
		fsys["LICENSE"] = &fstest.MapFile{Data: []byte(license)}
		if after, _ := tree.Digest(ctx); after == before {
			t.Fatal("a new license leaves the digest")
		}
	})
}

// Folders of any depth are walked to MaxDepth.
func TestTreeDeep(t *testing.T) {
	fsys := files(strings.Repeat("d/", 2000)+"a.md", "x", "d/b.md", "x")
	got, _ := told(t, Tree{Name: "t", FS: fsys, MaxDepth: 3})
	if want := []string{"t/d/b.md md", "! t/d/d/d/d too_deep"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file may be unreadable, of another kind or larger than its folder says.
func TestTreeBrokenFiles(t *testing.T) {
	fsys := brokenFS{files("a.md", "x", "b.md", "x", "c.md", strings.Repeat("x", 100), "z/d.md", "x")}
	got, _ := told(t, Tree{Name: "t", FS: fsys, MaxBytes: 50})
	if want := []string{"! t/a.md unreadable", "t/b.md md", "! t/c.md too_large", "! t/z unreadable"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// brokenFS does not open a.md and z, and says that files are empty.
type brokenFS struct{ fs.FS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if name == "a.md" || name == "z" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	f, err := b.FS.Open(name)
	if _, folder := f.(fs.ReadDirFile); folder || err != nil {
		return f, err
	}
	return emptyFile{f}, nil
}

type emptyFile struct{ fs.File }

func (f emptyFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return emptyInfo{info}, err
}

type emptyInfo struct{ fs.FileInfo }

func (emptyInfo) Size() int64 { return 0 }

// Links lead nowhere, in loops too, and a folder on disk is walked like any other.
func TestTreeOnDisk(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "a"), 0o755), os.WriteFile(filepath.Join(dir, "a", "x.md"), []byte("x"), 0o644),
		os.WriteFile(outside, []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"a/loop": "..", "out.md": outside, "self.md": "self.md", "LICENSE": outside} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	tree := Tree{Name: "t", Dir: dir}
	got, _ := told(t, tree)
	if want := []string{"! t/LICENSE link", "! t/a/loop link", "t/a/x.md md", "! t/out.md link", "! t/self.md link"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	first, err := tree.Digest(context.Background())
	second, err2 := Tree{Name: "t", Dir: dir}.Digest(context.Background())
	if first != second || err != nil || err2 != nil {
		t.Errorf("digests %s and %s, %v, %v", first, second, err, err2)
	}
}
