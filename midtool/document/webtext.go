package document

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/spdx"
)

// WebText is a [Source] of a JSON Lines file with one document a line, as web corpora are given:
//
//	{"text": "...", "id": "...", "url": "...", "date": "...", "language": "en", "language_score": 0.98}
//
// Only "text" is required. "title", "license" and "kind" (web, pdf, code, md or skill; else Kind) are read too, other keys are not. A null
// counts as absent. The ID is Name + "/" and the id, a string or a number; without one the first 16 hex digits of the SHA-256 of
// the text as the line gives it. Whether ids differ is the file's concern. The text ends its lines in \n and secrets in it are
// replaced by [Redact]. LicenseFrom is "record" or "file".
//
// Blank lines are skipped. A bad line is told to reject, with its number and a reason, and skipped: line_too_long, invalid_utf8 (half of
// a surrogate pair too), bad_json, bad_field (a value of the wrong type or out of range), no_text, binary (a NUL). If more than
// BadShare of the lines that are not blank are bad, the source fails: at its end, or after 1,000 lines if more than half of them are bad.
//
// A file whose Locator ends in .gz is decompressed. One line is held at a time, and of one that is too long MaxLine bytes. It is a
// [Splitter] and a [Digester].
//
// The zero value is not useful: set Name and Locator. The fields are those of FineWeb; bounds and reasons are ours.
type WebText struct {
	Name     string                        // starts the IDs
	Locator  string                        // names the file in errors and origins, and how it is compressed
	Open     func() (io.ReadCloser, error) // called for every range; nil opens the file named Locator
	Kind     Kind                          // of lines that state none; empty means Web
	License  string                        // of lines that state none, an SPDX identifier; empty means unknown
	Revision string                        // version of the file, for the origin
	MaxLine  int                           // longest line in bytes; zero means 64 MiB
	BadShare *float64                      // of the lines, in [0, 1]; nil means 0.01
}

// enough lines are there to call a source bad before its end.
const enough = 1000

// Documents yields the documents in the order of the lines.
func (t WebText) Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		var count badCount
		on := true
		err := t.each(ctx, part{}, func(l textLine) error {
			d, err := t.document(l)
			switch {
			case err != nil:
				t.reject(l.number, err, reject)
			case !yield(d, nil):
				on = false
				return errStop
			}
			return count.add(err != nil, t.badShare())
		})
		if err == nil {
			err = count.end(t.badShare())
		}
		if on && err != nil {
			yield(Document{}, t.fail(err))
		}
	}
}

var errStop = errors.New("stop")

func (t WebText) fail(err error) error { return fmt.Errorf("document: %s: %w", t.Locator, err) }

func (t WebText) reject(number int, err error, reject func(midtool.Rejection)) {
	if reject != nil {
		reason, detail, _ := reasonOf(err)
		reject(midtool.Rejection{Origin: t.origin(number), Reason: reason, Detail: detail})
	}
}

func (t WebText) origin(number int) midtool.Origin {
	return midtool.Origin{Kind: "jsonl", Locator: t.Locator, Line: number, Revision: t.Revision}
}

func (t WebText) badShare() float64 {
	if t.BadShare == nil {
		return 0.01
	}
	return *t.BadShare
}

// A badCount counts lines.
type badCount struct{ lines, bad int }

func (c *badCount) add(bad bool, share float64) error {
	if c.lines++; bad {
		c.bad++
	}
	if c.lines >= enough && 2*c.bad > c.lines && share < 0.5 {
		return fmt.Errorf("%d of the first %d lines are bad", c.bad, c.lines)
	}
	return nil
}

func (c *badCount) end(share float64) error {
	if float64(c.bad) > share*float64(c.lines) {
		return fmt.Errorf("%d of %d lines are bad, want a share of at most %v", c.bad, c.lines, share)
	}
	return nil
}

// A part is a run of lines of a file.
type part struct {
	offset int64 // of the first, in what is decompressed
	before int   // lines before it, blank ones too
	lines  int   // that are not blank; 0 means all
}

// Split returns sources of at most size lines each. It reads the whole file for that and fails where Documents would; then a part has no
// opinion about the share of its own bad lines. A part starts at its place if what is opened is an [io.Seeker]; else, and in a
// compressed file, it reads all before that.
func (t WebText) Split(ctx context.Context, size int) ([]Source, error) {
	if size < 1 {
		return nil, fmt.Errorf("document: %s: split by %d lines, want at least 1", t.Locator, size)
	}
	var parts []part
	var count badCount
	err := t.each(ctx, part{}, func(l textLine) error {
		if n := len(parts); n == 0 || parts[n-1].lines == size {
			parts = append(parts, part{offset: l.offset, before: l.number - 1})
		}
		parts[len(parts)-1].lines++
		_, err := t.record(l)
		return count.add(err != nil, t.badShare())
	})
	if err == nil {
		err = count.end(t.badShare())
	}
	if err != nil {
		return nil, t.fail(err)
	}
	out := make([]Source, len(parts))
	for i, p := range parts {
		out[i] = SourceFunc(func(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error] {
			return func(yield func(Document, error) bool) {
				on := true
				err := t.each(ctx, p, func(l textLine) error {
					switch d, err := t.document(l); {
					case err != nil:
						t.reject(l.number, err, reject)
					case !yield(d, nil):
						on = false
						return errStop
					}
					return nil
				})
				if on && err != nil {
					yield(Document{}, t.fail(err))
				}
			}
		})
	}
	return out, nil
}

// Digest hashes the bytes of the file, as it is compressed, and the options.
func (t WebText) Digest(ctx context.Context) (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	f, err := t.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	fmt.Fprintf(h, "webtext 1 %q %q %q %q %q %d %v\n", t.Name, t.Locator, t.Kind, t.License, t.Revision, t.MaxLine, t.badShare())
	if _, err := io.Copy(h, contextReader{ctx, f}); err != nil {
		return "", t.fail(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

func (t WebText) check() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("document: WebText %q: "+format, append([]any{t.Name}, args...)...))
	}
	if t.Name == "" {
		bad("Name is empty")
	}
	if t.Locator == "" {
		bad("Locator is empty")
	}
	if t.Kind != "" && !t.Kind.known() {
		bad("Kind is %q, want one of %v", t.Kind, kinds)
	}
	if t.MaxLine < 0 {
		bad("MaxLine is %d, want at least 0", t.MaxLine)
	}
	if s := t.badShare(); !(s >= 0 && s <= 1) {
		bad("BadShare is %v, want a number in [0, 1]", s)
	}
	return errors.Join(errs...)
}

var kinds = []Kind{Web, PDF, Code, Markdown, Skill}

func (k Kind) known() bool { return slices.Contains(kinds, k) }

func (t WebText) open() (io.ReadCloser, error) {
	if t.Open != nil {
		return t.Open()
	}
	f, err := os.Open(t.Locator)
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	return f, nil
}

// A textLine is a line that is not blank.
type textLine struct {
	text    []byte // valid until the next line
	tooLong bool
	number  int // from 1
	offset  int64
}

// each calls do for the lines of a part that are not blank. The error errStop ends it without one.
func (t WebText) each(ctx context.Context, p part, do func(textLine) error) error {
	if err := t.check(); err != nil {
		return err
	}
	f, err := t.open()
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = contextReader{ctx, f}
	switch seeker, ok := f.(io.Seeker); {
	case strings.HasSuffix(t.Locator, ".gz"):
		if r, err = gzip.NewReader(bufio.NewReader(r)); err != nil {
			return err
		}
		_, err = io.CopyN(io.Discard, r, p.offset)
	case p.offset == 0:
	case ok:
		_, err = seeker.Seek(p.offset, io.SeekStart)
	default:
		_, err = io.CopyN(io.Discard, r, p.offset)
	}
	if err != nil {
		return err
	}
	left := cmp.Or(p.lines, -1)
	lines := lineReader{in: bufio.NewReaderSize(r, 256<<10), most: cmp.Or(t.MaxLine, jsonval.MaxBytes), offset: p.offset, number: p.before}
	for left != 0 {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if l.number == 1 {
			l.text = bytes.TrimPrefix(l.text, []byte(byteOrderMark))
		}
		if !l.tooLong && len(bytes.TrimSpace(l.text)) == 0 {
			continue
		}
		if err := do(l); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
		left--
	}
	return nil
}

// A lineReader reads lines of which it holds at most some bytes.
type lineReader struct {
	in     *bufio.Reader
	most   int
	line   []byte
	offset int64
	number int
}

// next returns the next line without its break. The error is io.EOF after the last one.
func (r *lineReader) next() (textLine, error) {
	l := textLine{number: r.number + 1, offset: r.offset}
	r.line = r.line[:0]
	for {
		piece, err := r.in.ReadSlice('\n')
		r.offset += int64(len(piece))
		ended := len(piece) > 0 && piece[len(piece)-1] == '\n'
		if ended {
			piece = piece[:len(piece)-1]
		}
		if l.tooLong = l.tooLong || len(r.line)+len(piece) > r.most; !l.tooLong {
			r.line = append(r.line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !(errors.Is(err, io.EOF) && r.offset > l.offset):
			return l, err
		}
		r.number++
		l.text = r.line
		return l, nil
	}
}

// record reads a line; the text in it is clean and not redacted.
func (t WebText) record(l textLine) (Document, error) {
	if l.tooLong {
		return Document{}, fault("line_too_long", "more than %d bytes", cmp.Or(t.MaxLine, jsonval.MaxBytes))
	}
	if !utf8.Valid(l.text) {
		return Document{}, fault("invalid_utf8", "byte %d", invalidAt(string(l.text)))
	}
	v, err := jsonval.Parse(l.text)
	if err != nil {
		if bad, ok := errors.AsType[*jsonval.Error](err); ok && strings.Contains(bad.Rule, "surrogate") {
			return Document{}, fault("invalid_utf8", "%v", err)
		}
		return Document{}, fault("bad_json", "%v", err)
	}
	if v.Kind != jsonval.Object {
		return Document{}, fault("bad_json", "want an object, got %s", v.Kind)
	}
	d := Document{Kind: cmp.Or(t.Kind, Web), Origin: t.origin(l.number)}
	text, id := "", ""
	for i := range v.Members {
		key, value := v.Members[i].Key, &v.Members[i].Value
		if value.Kind == jsonval.Null {
			continue
		}
		var dst *string
		switch key {
		case "text":
			dst = &text
		case "url":
			dst = &d.URL
		case "date":
			dst = &d.Date
		case "language":
			dst = &d.Language
		case "title":
			dst = &d.Title
		case "license":
			dst = &d.License
		case "kind":
			if d.Kind = Kind(value.Text); value.Kind != jsonval.String || !d.Kind.known() {
				return Document{}, fault("bad_field", "kind: want one of %v", kinds)
			}
			continue
		case "id":
			if value.Kind != jsonval.String && value.Kind != jsonval.Number {
				return Document{}, fault("bad_field", "id: want a string or a number, got %s", value.Kind)
			}
			id = value.Text
			continue
		case "language_score":
			score, err := strconv.ParseFloat(value.Text, 64)
			if value.Kind != jsonval.Number || err != nil || score < 0 || score > 1 {
				return Document{}, fault("bad_field", "language_score: want a number in [0, 1]")
			}
			d.LanguageScore = &score
			continue
		default:
			continue
		}
		if value.Kind != jsonval.String {
			return Document{}, fault("bad_field", "%s: want a string, got %s", key, value.Kind)
		}
		*dst = value.Text
	}
	if d.Text, err = clean(text); err != nil {
		return Document{}, err
	}
	if id == "" {
		sum := sha256.Sum256([]byte(text))
		id = hex.EncodeToString(sum[:8])
	}
	d.ID = t.Name + "/" + id
	switch {
	case d.License != "":
		d.License, d.LicenseFrom = spdx.Name(d.License), "record"
	case t.License != "":
		d.License, d.LicenseFrom = spdx.Name(t.License), "file"
	}
	return d, nil
}

// document reads a line and makes its document.
func (t WebText) document(l textLine) (Document, error) {
	d, err := t.record(l)
	if err == nil {
		sum := sha256.Sum256(bytes.TrimSpace(l.text))
		d.Origin.SHA256 = hex.EncodeToString(sum[:])
		d.Text, d.Secrets = Redact(d.Text)
	}
	return d, err
}

var (
	_ Splitter = WebText{}
	_ Digester = WebText{}
)
