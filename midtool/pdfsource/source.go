package pdfsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// A Source reads the PDF files of a folder and the folders in it: regular files whose names end in ".pdf", in any case, in the byte
// order of their paths. Links are not followed, and secrets in a text are replaced; see [document.Redact]. It is a
// [document.Source], a [document.Splitter] and a [document.Digester].
//
// The ID of a document and the locator of its origin are Name, a slash and the path. A file that is rejected is told with the
// reasons of the package comment, or "unreadable" where the file system refuses.
type Source struct {
	Name string // of the folder in IDs; empty means that an ID is the path alone
	FS   fs.FS  // for example os.Root.FS, which no link leads out of

	License     string // of all files; empty if unknown
	LicenseFrom string // what states it

	// Reader reads the files; whoever made it closes it. Nil means that each sequence has one of its own with the default bounds, and
	// closes it: PDFium is then compiled once for each sequence.
	Reader *Reader

	paths []string // of the files in this part; nil means all
}

// A Source is all of these.
var (
	_ document.Source   = (*Source)(nil)
	_ document.Splitter = (*Source)(nil)
	_ document.Digester = (*Source)(nil)
)

// Documents yields the documents. Only an error of ctx, of the Reader or of the folder itself ends the sequence early.
func (s *Source) Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[document.Document, error] {
	if reject == nil {
		reject = func(midtool.Rejection) {}
	}
	return func(yield func(document.Document, error) bool) {
		paths, err := s.files(ctx, reject)
		if err != nil {
			yield(document.Document{}, err)
			return
		}
		r := s.Reader
		if r == nil && len(paths) > 0 {
			if r, err = NewReader(nil); err != nil {
				yield(document.Document{}, err)
				return
			}
			defer r.Close() // nothing is written that could be lost
		}
		for _, p := range paths {
			d, err := s.read(ctx, r, p)
			if f, ok := errors.AsType[*document.Fault](err); ok {
				reject(midtool.Rejection{Origin: s.origin(p), Reason: f.Code, Detail: f.Detail})
				continue
			}
			if err != nil {
				yield(document.Document{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Split returns parts of so many files. They use the same Reader.
func (s *Source) Split(ctx context.Context, size int) ([]document.Source, error) {
	if size < 1 {
		return nil, fmt.Errorf("pdfsource: size of a part is %d, want 1 or more", size)
	}
	var unlisted []midtool.Rejection
	paths, err := s.files(ctx, func(r midtool.Rejection) { unlisted = append(unlisted, r) })
	if err != nil {
		return nil, err
	}
	var parts []document.Source
	for chunk := range slices.Chunk(paths, size) {
		part := *s
		part.paths = chunk
		parts = append(parts, &part)
	}
	if len(unlisted) > 0 {
		parts = slices.Insert(parts, 0, document.Source(rejections(unlisted))) // where Documents tells them
	}
	return parts, nil
}

// rejections is a part of a source that has no document.
type rejections []midtool.Rejection

func (list rejections) Documents(_ context.Context, reject func(midtool.Rejection)) iter.Seq2[document.Document, error] {
	return func(func(document.Document, error) bool) {
		if reject == nil {
			return
		}
		for _, r := range list {
			reject(r)
		}
	}
}

// Digest returns a hash of the name, the license, the paths, the content of the files up to MaxBytes, and the bounds of the Reader but
// for those of time and parallelism.
func (s *Source) Digest(ctx context.Context) (string, error) {
	h := sha256.New()
	o := s.options()
	fmt.Fprintf(h, "%q %q %q %d %d %d %d\n", s.Name, s.License, s.LicenseFrom, o.MaxBytes, o.MaxPages, o.MaxChars, o.MaxMemory)
	paths, err := s.files(ctx, func(r midtool.Rejection) { fmt.Fprintf(h, "%q %q\n", r.Origin.Locator, r.Reason) })
	if err != nil {
		return "", err
	}
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		data, err := s.data(p, o.MaxBytes)
		if err != nil {
			data = nil
		}
		fmt.Fprintf(h, "%q %t %x\n", p, err == nil, sha256.Sum256(data))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (s *Source) options() Options {
	if s.Reader != nil {
		return s.Reader.o
	}
	o, _ := (*Options)(nil).checked() // the defaults have no fault
	return o
}

// files returns the paths of the files, and rejects the folders that cannot be listed.
func (s *Source) files(ctx context.Context, reject func(midtool.Rejection)) ([]string, error) {
	if s.paths != nil {
		return s.paths, nil
	}
	if s.FS == nil {
		return nil, errors.New("pdfsource: Source.FS is nil")
	}
	var paths []string
	err := fs.WalkDir(s.FS, ".", func(p string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if p == "." {
				return fmt.Errorf("pdfsource: %w", err)
			}
			reject(midtool.Rejection{Origin: s.origin(p), Reason: "unreadable", Detail: err.Error()})
			return nil
		}
		if entry.Type().IsRegular() && strings.EqualFold(path.Ext(p), ".pdf") {
			paths = append(paths, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(paths) // a walk puts what is in a folder before a sibling whose name goes on with a byte below the slash
	return paths, nil
}

func (s *Source) origin(p string) midtool.Origin {
	return midtool.Origin{Kind: "pdf", Locator: path.Join(s.Name, p)}
}

// read returns the document in a file.
func (s *Source) read(ctx context.Context, r *Reader, p string) (document.Document, error) {
	if err := ctx.Err(); err != nil {
		return document.Document{}, err
	}
	data, err := s.data(p, r.o.MaxBytes)
	if err != nil {
		return document.Document{}, fault("unreadable", "%v", err)
	}
	d, err := r.Read(ctx, s.origin(p).Locator, data)
	if err != nil {
		return document.Document{}, err
	}
	d.License, d.LicenseFrom = s.License, s.LicenseFrom
	d.Text, d.Secrets = document.Redact(d.Text)
	return d, nil
}

// data returns the bytes of a file, and of one that is too large one more than is allowed.
func (s *Source) data(p string, limit int) ([]byte, error) {
	f, err := s.FS.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // it has become something else since it was listed
		return nil, fmt.Errorf("%s is no regular file", p)
	}
	return io.ReadAll(io.LimitReader(f, int64(limit)+1))
}
