package openapisource

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
	"os"
	"path"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
)

// A Source is a [midtool.Source] of the operations of OpenAPI documents. The zero value is not useful: set Locator.
type Source struct {
	Locator string // a file, or a folder whose files with the endings .json, .yaml and .yml are read; names both in errors and origins
	FS      fs.FS  // where Locator is a slash-separated path; nil means the file system, where a folder is not left through links

	Revision string // of the files, for [midtool.Origin]; empty means the version that a document gives itself
	Group    string // of the tools; empty means the API: its x-providerName and x-serviceName, or else its title
	License  string // of documents that state none; LicenseFrom is then "file"

	Deprecated  bool // deprecated operations are tools too
	AllVersions bool // older versions of an API are read too; see the package on how versions are told
	MaxBytes    int  // largest document; zero means 32 MiB

	// Skip is told what is left out, in a fixed order: an older version of an API, a document, or an operation (Tool is its
	// name, and Origin.Line where it stands). nil is not told.
	Skip func(midtool.Rejection)
}

const defaultMaxBytes = 32 << 20

// Tools yields the operations as normalized tools: documents by the bytes of their paths, paths as they are written, the
// methods of each in the order get, put, post, delete, patch, head, options, trace. The error is that of ctx or of the
// file system, or says that Locator is missing; for a Locator that is one file, a document that cannot be read is a
// [*midtool.Rejection] as well. In a folder it is told to Skip, and reading goes on. The files are opened anew for each
// range; several may run at once if Skip allows it.
func (s Source) Tools(ctx context.Context) iter.Seq2[midtool.Tool, error] {
	return func(yield func(midtool.Tool, error) bool) {
		if err := s.read(ctx, yield); err != nil {
			yield(midtool.Tool{}, err)
		}
	}
}

// errStop ends the reading without an error.
var errStop = errors.New("stopped")

func (s Source) read(ctx context.Context, yield func(midtool.Tool, error) bool) error {
	switch {
	case s.Locator == "":
		return errors.New("openapisource: Locator is empty")
	case s.MaxBytes < 0:
		return fmt.Errorf("openapisource: MaxBytes is %d, want 0 or more", s.MaxBytes)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f, done, err := s.open()
	if err != nil {
		return err
	}
	defer done()
	if f.single != "" {
		d, fault, err := f.document(f.single)
		if err == nil && fault != nil {
			err = s.rejection(&loaded{name: s.Locator}, fault)
		}
		if err == nil {
			err = s.tools(ctx, d, yield)
		}
		if err == errStop {
			return nil
		}
		return err
	}
	names, err := f.list(ctx)
	if err == nil && !s.AllVersions {
		names, err = f.newest(ctx, names)
	}
	for _, name := range names {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		var d *loaded
		var left *fault
		if d, left, err = f.document(name); left != nil {
			s.skip(*s.rejection(&loaded{name: f.join(name)}, left))
		} else if err == nil {
			err = s.tools(ctx, d, yield)
		}
	}
	if err == errStop {
		return nil
	}
	return err
}

func (s Source) skip(r midtool.Rejection) {
	if s.Skip != nil {
		s.Skip(r)
	}
}

// files are the documents below a Locator.
type files struct {
	source *Source
	fsys   fs.FS
	single string // the path in fsys of a Locator that is one file
	base   string // the path in fsys of a folder
}

// open finds what Locator names.
func (s *Source) open() (f files, done func(), err error) {
	f, done = files{source: s, fsys: s.FS, base: s.Locator}, func() {}
	if s.FS == nil {
		info, err := os.Stat(s.Locator)
		if err != nil {
			return f, done, fmt.Errorf("openapisource: %w", err)
		}
		if !info.IsDir() {
			dir, name := os.DirFS(cmp.Or(parent(s.Locator), ".")), info.Name()
			f.fsys, f.single = dir, name
			return f, done, nil
		}
		root, err := os.OpenRoot(s.Locator)
		if err != nil {
			return f, done, fmt.Errorf("openapisource: %w", err)
		}
		f.fsys, f.base = root.FS(), "."
		return f, func() { root.Close() }, nil
	}
	info, err := fs.Stat(s.FS, s.Locator)
	if err != nil {
		return f, done, fmt.Errorf("openapisource: %w", err)
	}
	if !info.IsDir() {
		f.single = s.Locator
	}
	return f, done, nil
}

// parent is the folder of a file of the operating system.
func parent(name string) string {
	i := len(name) - 1
	for i >= 0 && !os.IsPathSeparator(name[i]) {
		i--
	}
	return name[:i+1]
}

// join names a file of fsys as the caller would.
func (f *files) join(name string) string {
	if f.single != "" {
		return f.source.Locator
	}
	if f.source.FS != nil {
		return name
	}
	return strings.TrimSuffix(f.source.Locator, "/") + "/" + name
}

// list finds the files in the order of the bytes of their paths. What begins with a dot is nobody's API.
func (f *files) list(ctx context.Context) ([]string, error) {
	var names []string
	err := fs.WalkDir(f.fsys, f.base, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == f.base:
			return fmt.Errorf("openapisource: %w", err)
		case err != nil:
			f.source.skip(*f.source.rejection(&loaded{name: f.join(name)}, &fault{"unreadable", err.Error()}))
			return nil
		case name != f.base && strings.HasPrefix(path.Base(name), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		switch strings.ToLower(path.Ext(name)) {
		case ".json", ".yaml", ".yml":
		default:
			return nil
		}
		if !e.Type().IsRegular() {
			f.source.skip(*f.source.rejection(&loaded{name: f.join(name)}, &fault{"unreadable", "not a regular file"}))
			return nil
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

// A loaded document is one that can be walked, with what is known about it as a file.
type loaded struct {
	*document
	name   string
	sha256 string
}

// document reads a file. The fault is its own; the error is that of the file system.
func (f *files) document(name string) (*loaded, *fault, error) {
	most := cmp.Or(f.source.MaxBytes, defaultMaxBytes)
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("openapisource: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err != nil {
		return nil, nil, fmt.Errorf("openapisource: %s: %w", f.join(name), err)
	}
	if len(data) > most {
		return nil, &fault{"too_large", fmt.Sprintf("more than %d bytes", most)}, nil
	}
	d, fault := open(data)
	if fault != nil {
		return nil, fault, nil
	}
	sum := sha256.Sum256(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))))
	return &loaded{d, f.join(name), hex.EncodeToString(sum[:])}, nil, nil
}

// newest keeps of the files of one API that of the highest version. What cannot be read stays, to be told later.
func (f *files) newest(ctx context.Context, names []string) ([]string, error) {
	type version struct{ name, version string }
	apis := make(map[string][]string) // by where they are
	for _, name := range names {
		apis[place(name)] = append(apis[place(name)], name)
	}
	best := make(map[string]version) // by place and title
	keyOf := make(map[string]string)
	versionOf := make(map[string]string)
	for _, name := range names {
		where := place(name)
		if len(apis[where]) == 1 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, left, err := f.document(name)
		if err != nil {
			return nil, err
		}
		if left != nil {
			continue
		}
		info := d.root.get("info")
		key := where
		if !strings.HasSuffix(where, "/*") {
			key += "\x00" + info.get("title").string()
		}
		v := version{name, info.get("version").string()}
		keyOf[name], versionOf[name] = key, v.version
		// Names come in order, so that of equal versions the last path counts.
		if b, known := best[key]; !known || compareVersions(v.version, b.version) >= 0 {
			best[key] = v
		}
	}
	var kept []string
	for _, name := range names {
		if b := best[keyOf[name]]; keyOf[name] != "" && b.name != name {
			f.source.skip(*f.source.rejection(&loaded{name: f.join(name)},
				&fault{"older_version", fmt.Sprintf("%q; %s has %q", versionOf[name], f.join(b.name), b.version)}))
			continue
		}
		kept = append(kept, name)
	}
	return kept, nil
}

// place is the folder whose documents may be versions of one API: that of the file, or, with "/*" behind it, the folder
// above for a file named openapi or swagger in a folder that is named like a version.
func place(name string) string {
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if stem := strings.TrimSuffix(base, path.Ext(base)); (stem == "openapi" || stem == "swagger") && dotted.MatchString(path.Base(dir)) {
		return path.Dir(dir) + "/*"
	}
	return dir + "/"
}

// rejection says what is left out of a document, or that it is.
func (s *Source) rejection(d *loaded, f *fault) *midtool.Rejection {
	return &midtool.Rejection{Origin: s.origin(d), Reason: f.reason, Detail: f.detail}
}

func (s *Source) origin(d *loaded) midtool.Origin {
	o := midtool.Origin{Kind: "openapi", Locator: d.name, Revision: s.Revision, SHA256: d.sha256}
	if d.document != nil && o.Revision == "" {
		o.Revision = d.root.get("info").get("version").string()
	}
	return o
}

// Bounds of what is written for one document: operations that share definitions can ask for far more than its size.
const (
	workFactor = 64
	workExtra  = 64 << 20
	workEach   = 256 // for an operation, whatever it says
)

// tools yields the tools of a document.
func (s *Source) tools(ctx context.Context, d *loaded, yield func(midtool.Tool, error) bool) error {
	info := d.root.get("info")
	origin := s.origin(d)
	group := cmp.Or(s.Group, info.get("x-providerName").string())
	switch service := info.get("x-serviceName").string(); {
	case group == "":
		group = cmp.Or(info.get("title").string(), d.name)
	case s.Group == "" && service != "":
		group += ":" + service
	}
	license, from := licenseOf(info), "info.license"
	if license == "" {
		license, from = s.License, "file"
	}
	if license == "" {
		from = ""
	}
	skip := func(o operation, r *midtool.Rejection) {
		r.Group, r.Origin = group, origin
		if r.Tool == "" && o.node.is(object) && o.method != "" {
			r.Tool = o.name()
		}
		if o.node != nil {
			r.Origin.Line = o.node.line
		}
		s.skip(*r)
	}
	operations := d.operations(s.Deprecated, func(o operation, f *fault) {
		skip(o, &midtool.Rejection{Reason: f.reason, Detail: f.detail})
	})
	left := workFactor*d.size + workExtra
	for i := range operations {
		o := &operations[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if left < 0 {
			skip(*o, &midtool.Rejection{Reason: "too_large", Detail: "the operations of the document share too much"})
			continue
		}
		t, work, f := d.tool(o)
		left -= work + workEach
		if f != nil {
			skip(*o, &midtool.Rejection{Reason: f.reason, Detail: f.detail})
			continue
		}
		t.Group, t.License, t.LicenseFrom, t.Origin = group, license, from, origin
		t.Origin.Line = o.node.line
		t, err := midtool.Normalize(t)
		if r, ok := errors.AsType[*midtool.Rejection](err); ok {
			skip(*o, r)
			continue
		}
		if !yield(t, nil) {
			return errStop
		}
	}
	return nil
}
