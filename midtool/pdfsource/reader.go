package pdfsource

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// ErrClosed says that a [Reader] is used after Close.
var ErrClosed = errors.New("pdfsource: the reader is closed")

// A Reader reads PDF files. It is safe for concurrent use, and has to be closed.
type Reader struct {
	o Options

	mu      sync.Mutex
	started bool
	closed  bool
	engine  *engine
	failed  error // why there is no engine
	reading sync.WaitGroup
}

// NewReader returns a reader with the given bounds. PDFium starts with the first file.
func NewReader(o *Options) (*Reader, error) {
	c, err := o.checked()
	if err != nil {
		return nil, err
	}
	return &Reader{o: c}, nil
}

// Close waits for the files that are being read and gives back all memory. A second call does nothing.
func (r *Reader) Close() error {
	r.mu.Lock()
	closed := r.closed
	r.closed = true
	r.mu.Unlock()
	r.reading.Wait()
	if closed || r.engine == nil {
		return nil
	}
	return r.engine.close()
}

// Read returns the document that is in the bytes of a PDF file. Its ID and the locator of its origin are name; the title is that
// of the file's metadata; what the file says about a license is not looked for.
//
// The text has the pages with text in order, joined by a blank line. A line that stands on at least half of them, if there
// are 4 or more, is left out, wherever it stands; of the first two and the last two lines of a page those that differ
// in numbers alone count as the same, so that page numbers go too. A hyphen between a letter and the end of a line is left
// out if the next line begins with a lower-case letter, and the lines are joined: also where the hyphen belongs to the word,
// which the page does not tell. White space at the ends of lines, control characters and more than one blank line go.
//
// A file that cannot be read, or is beyond a bound, is a *[document.Fault]; the package comment has the codes.
// Other errors are those of ctx, of a closed Reader and of an engine that does not start; they say nothing about the file.
func (r *Reader) Read(ctx context.Context, name string, data []byte) (document.Document, error) {
	if err := ctx.Err(); err != nil {
		return document.Document{}, err
	}
	sum := sha256.Sum256(data)
	origin := midtool.Origin{Kind: "pdf", Locator: name, SHA256: hex.EncodeToString(sum[:])}
	if len(data) > r.o.MaxBytes {
		return document.Document{}, fault("too_large", "more than %d bytes", r.o.MaxBytes)
	}
	// Readers agree that the header may stand anywhere in the first 1,024 bytes.
	if !bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) {
		return document.Document{}, fault("bad_pdf", "no header")
	}

	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return document.Document{}, ErrClosed
	}
	if !r.started {
		r.started = true
		r.engine, r.failed = startEngine(&r.o)
	}
	engine, err := r.engine, r.failed
	if err == nil {
		r.reading.Add(1)
		defer r.reading.Done()
	}
	r.mu.Unlock()
	if err != nil {
		return document.Document{}, err
	}

	d := document.Document{ID: name, Kind: document.PDF, Origin: origin}
	err = engine.run(ctx, r.o.Timeout, func(p pdfium.Pdfium) error {
		title, pages, err := r.pages(p, data)
		if err != nil {
			return err
		}
		d.Title, d.Text = title, joinPages(pages)
		return nil
	})
	if errors.Is(err, errTimeout) {
		err = fault("timeout", "more than %v", r.o.Timeout)
	} else if err == nil && d.Text == "" {
		err = fault("no_text", "no page has text")
	}
	if err != nil {
		return document.Document{}, err
	}
	return d, nil
}

func fault(code, format string, args ...any) error {
	return &document.Fault{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// bad is a fault that PDFium has found or run into. The error can have a whole stack in it; its first line says what.
func bad(where string, err error) error {
	if errors.Is(err, pdferrors.ErrPassword) || errors.Is(err, pdferrors.ErrSecurity) {
		return fault("encrypted", "a password or a key is needed")
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	if strings.HasSuffix(message, "wasm error: unreachable") {
		message = "PDFium gave up, as it does for lack of memory"
	}
	return fault("bad_pdf", "%s: %s", where, message)
}

// pages returns the title and the text of each page of a file.
func (r *Reader) pages(p pdfium.Pdfium, data []byte) (title string, pages []string, err error) {
	file, err := p.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return "", nil, bad("opening", err)
	}
	count, err := p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: file.Document})
	if err != nil {
		return "", nil, bad("counting pages", err)
	}
	if count.PageCount > r.o.MaxPages {
		return "", nil, fault("too_many_pages", "%d pages, limit %d", count.PageCount, r.o.MaxPages)
	}
	if meta, err := p.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: file.Document, Tag: "Title"}); err == nil {
		title = cleanTitle(meta.Value)
	}
	chars := 0
	for i := range count.PageCount {
		text, err := r.page(p, file.Document, i, &chars)
		if err != nil {
			return "", nil, err
		}
		pages = append(pages, text)
	}
	return title, pages, nil
}

// page returns the text of a page, counted from 0, and adds its characters to chars.
func (r *Reader) page(p pdfium.Pdfium, file references.FPDF_DOCUMENT, i int, chars *int) (string, error) {
	where := fmt.Sprintf("page %d", i+1)
	page, err := p.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: file, Index: i}}})
	if err != nil {
		return "", bad(where, err)
	}
	count, err := p.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: page.TextPage})
	if err != nil {
		return "", bad(where, err)
	}
	if *chars += max(count.Count, 0); *chars > r.o.MaxChars {
		return "", fault("too_large", "more than %d characters up to page %d", r.o.MaxChars, i+1)
	}
	var text string
	if count.Count > 0 {
		got, err := p.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: page.TextPage, Count: count.Count})
		if err != nil {
			return "", bad(where, err)
		}
		text = got.Text
	}
	if _, err := p.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: page.TextPage}); err != nil {
		return "", bad(where, err)
	}
	return text, nil
}

// maxTitle is the longest title that is taken over, in code points; a longer one is no title.
const maxTitle = 300

func cleanTitle(title string) string {
	title = strings.Join(strings.Fields(cleanPage(title)), " ")
	if utf8.RuneCountInString(title) > maxTitle {
		return ""
	}
	return title
}
