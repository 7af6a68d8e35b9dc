package pdfsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/klippa-app/go-pdfium"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// cacheVariable names the folder that PDFium is compiled into. Processes that fuzzing starts inherit it.
const cacheVariable = "PDFSOURCE_TEST_CACHE"

func TestMain(m *testing.M) {
	if os.Getenv(cacheVariable) != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "pdfsource")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv(cacheVariable, dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// newReader returns a reader that is closed when the test is over.
func newReader(tb testing.TB, o Options) *Reader {
	tb.Helper()
	o.CacheDir = os.Getenv(cacheVariable)
	r, err := NewReader(&o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func TestReadDocument(t *testing.T) {
	r := newReader(t, Options{})
	plain := textPDF("The \\(new\\)  manual", false, "Opening the valve\nA hyphen-\nated word, a pre-\nNew one", "Closing\n\nthe \\valve (2)")
	got, err := r.Read(t.Context(), "manuals/valve.pdf", plain)
	if err != nil {
		t.Fatal(err)
	}
	want := document.Document{
		ID: "manuals/valve.pdf", Kind: document.PDF, Title: "The (new) manual",
		Text:   "Opening the valve\nA hyphenated word, a pre-\nNew one\n\nClosing\nthe \\valve (2)",
		Origin: midtool.Origin{Kind: "pdf", Locator: "manuals/valve.pdf", SHA256: got.Origin.SHA256},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Origin.SHA256) != 64 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	packed, err := r.Read(t.Context(), "manuals/valve.pdf", textPDF("The \\(new\\)  manual", true,
		"Opening the valve\nA hyphen-\nated word, a pre-\nNew one", "Closing\n\nthe \\valve (2)"))
	if err != nil || packed.Text != want.Text {
		t.Errorf("compressed: %q, %v", packed.Text, err)
	}
	latin, err := r.Read(t.Context(), "x", textPDF("", false, "Gr\xf6\xdfe \x80 5"))
	if err != nil || latin.Text != "Größe € 5" {
		t.Errorf("encoded text: %q, %v", latin.Text, err)
	}
}

// Headers and footers go, page numbers among them; a line of the text that a few pages have stays.
func TestReadDropsHeaders(t *testing.T) {
	r := newReader(t, Options{})
	var pages, want []string
	for i := range 12 {
		text := "Step " + string(rune('a'+i)) + " is done."
		pages = append(pages, fmt.Sprintf("Pump manual\n%s\nWarning\n%s\nRevision 3, page %d of 12", text, strings.Repeat("z", i+1), i+1))
		want = append(want, text+"\nWarning\n"+strings.Repeat("z", i+1))
	}
	for i := range 7 {
		pages[i] = strings.Replace(pages[i], "Warning\n", "", 1)
		want[i] = strings.Replace(want[i], "Warning\n", "", 1)
	}
	got, err := r.Read(t.Context(), "x", textPDF("", true, pages...))
	if diff := cmp.Diff(strings.Join(want, "\n\n"), got.Text); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

const pageTree = "<< /Type /Catalog /Pages 2 0 R >>"

// Files that cannot be read or do harm: each ends with its reason, and the reader goes on.
func TestReadRejects(t *testing.T) {
	ordinary := textPDF("", true, "Hello")
	blanks := bytes.Repeat([]byte(" "), 40<<20)
	onePage := []string{pageTree, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 10 10] >>"}
	cases := []struct {
		name   string
		data   []byte
		o      Options
		want   string
		reason string
	}{
		{"empty", nil, Options{}, "bad_pdf", "no header"},
		{"text", []byte("Dear reader,\n"), Options{}, "bad_pdf", "no header"},
		{"garbage", append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0xde, 0xad, 0xbe, 0xef, '<', '<', '['}, 10_000)...), Options{},
			"bad_pdf", "no object"},
		{"nested", append([]byte("%PDF-1.7\n1 0 obj\n"), strings.Repeat("<<", 1<<19)...), Options{}, "bad_pdf", "nothing closes"},
		{"cut", ordinary[:len(ordinary)/2], Options{}, "bad_pdf", "the list of pages is lost"},
		{"large", ordinary, Options{MaxBytes: len(ordinary) - 1}, "too_large", "a byte too many"},
		{"long", textPDF("", false, "Hello", "Hello"), Options{MaxChars: 9}, "too_large", "10 characters"},
		{"pages", textPDF("", false, "1", "2", "3"), Options{MaxPages: 2}, "too_many_pages", "3 of 2"},
		{"a million pages", (&pdfFile{objects: []string{pageTree, "<< /Type /Pages /Count 1000000 /Kids [3 0 R] >>", onePage[2]}}).bytes(),
			Options{}, "too_many_pages", "so the file says"},
		{"pages that are not there", (&pdfFile{objects: []string{pageTree, "<< /Type /Pages /Count 9000 /Kids [3 0 R] >>", onePage[2]}}).bytes(),
			Options{}, "bad_pdf", "there is one"},
		{"loop", (&pdfFile{objects: []string{pageTree, "<< /Type /Pages /Count 4 /Kids [2 0 R 3 0 R] >>",
			"<< /Type /Pages /Parent 2 0 R /Count 2 /Kids [2 0 R 3 0 R] >>"}}).bytes(),
			Options{}, "bad_pdf", "pages that contain themselves"},
		{"password", (&pdfFile{objects: onePage, trailer: "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] " +
			"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + strings.Repeat("5a", 32) + "> /U <" + strings.Repeat("a5",
			32) + "> >>"}).bytes(),
			Options{}, "encrypted", "no key opens it"},
		{"unknown lock", (&pdfFile{objects: onePage, trailer: "/Encrypt << /Filter /Mystery /V 9 >>"}).bytes(), Options{}, "encrypted",
			"by an unknown method"},
		{"scan", contentPDF("", stream("", []byte("0 0 100 100 re f\n"))), Options{}, "no_text", "a picture alone"},
		{"no page", contentPDF(""), Options{}, "no_text", "no page"},
		{"bomb", contentPDF("", stream("/Filter /FlateDecode", deflated(blanks))), Options{MaxMemory: 32 << 20}, "bad_pdf",
			"40 MiB in a sandbox of 32"},
		{"bomb in a bomb", contentPDF("", stream("/Filter [/FlateDecode /FlateDecode]", deflated(deflated(blanks)))),
			Options{MaxMemory: 32 << 20},
			"bad_pdf", "the same, twice"},
		{"endless text", contentPDF("", stream("/Filter /FlateDecode",
			deflated(bytes.Repeat([]byte("BT /F1 9 Tf (Hello hello) Tj ET\n"), 100_000)))),
			Options{MaxMemory: 32 << 20}, "bad_pdf", "more characters than fit in the sandbox"},
		{"slow", ordinary, Options{Timeout: 1}, "timeout", "a nanosecond is over at once"},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Fatal("no reason")
			}
			r := newReader(t, tt.o)
			for range 2 { // what one file leaves must not reach the next
				d, err := r.Read(t.Context(), "x.pdf", tt.data)
				fault, ok := errors.AsType[*document.Fault](err)
				if !ok || fault.Code != tt.want || fault.Detail == "" || strings.Contains(fault.Detail, "\n") {
					t.Fatalf("%v, want %s (%s)", err, tt.want, tt.reason)
				}
				if diff := cmp.Diff(document.Document{}, d); diff != "" {
					t.Errorf("a document beside an error: %s", diff)
				}
			}
			if tt.o == (Options{MaxMemory: tt.o.MaxMemory}) {
				if d, err := r.Read(t.Context(), "y.pdf", ordinary); err != nil || d.Text != "Hello" {
					t.Errorf("the next file: %q, %v", d.Text, err)
				}
			}
		})
	}
}

// Any number of goroutines may read, and all get what one gets.
func TestReadConcurrently(t *testing.T) {
	r := newReader(t, Options{Workers: 3})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			text := fmt.Sprintf("This is file %d", i)
			d, err := r.Read(t.Context(), "x", textPDF(text, i%2 == 0, text))
			if err != nil || d.Text != text || d.Title != text {
				t.Errorf("%d: %q, %q, %v", i, d.Title, d.Text, err)
			}
		})
	}
	wg.Wait()
}

func TestReadStops(t *testing.T) {
	r := newReader(t, Options{Timeout: time.Hour})
	data := textPDF("", true, "Hello")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(ctx, "x", data); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled before: %v", err)
	}
	if _, err := r.Read(t.Context(), "x", data); err != nil {
		t.Fatal(err)
	}
	// While it is read: PDFium is told to stop as it starts on a page that takes seconds.
	long := contentPDF("", stream("/Filter /FlateDecode", deflated(bytes.Repeat([]byte("BT /F1 9 Tf (Hello) Tj ET\n"), 100_000))))
	ctx, cancel = context.WithCancel(t.Context())
	err := r.engine.run(ctx, time.Hour, func(p pdfium.Pdfium) error {
		cancel()
		_, _, err := r.pages(p, long)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled while reading: %v", err)
	}
	if d, err := r.Read(t.Context(), "x", data); err != nil || d.Text != "Hello" {
		t.Errorf("afterward: %q, %v", d.Text, err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Read(t.Context(), "x", data); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A sandbox finds in its larger memory what it has written, and zeros behind it.
func TestMemoryGrows(t *testing.T) {
	m := newMemory(0, 100)
	written := 0
	for _, size := range []int{10, 11, 40, 90, 100} {
		b := m.Reallocate(uint64(size))
		if len(b) != size || cap(b) > 100 {
			t.Fatalf("%d bytes of %d, want %d of at most 100", len(b), cap(b), size)
		}
		for i := range b {
			if want := byte(i + 1); i < written && b[i] != want || i >= written && b[i] != 0 {
				t.Fatalf("byte %d of %d is %d, %d were written", i, size, b[i], written)
			}
		}
		for i := range b {
			b[i] = byte(i + 1)
		}
		written = size
	}
}

func TestNewReaderChecksOptions(t *testing.T) {
	_, err := NewReader(&Options{MaxBytes: -1, MaxPages: -1, MaxChars: -1, Timeout: -1, Workers: -1, MaxMemory: 1 << 20})
	const want = `pdfsource: MaxBytes is -1, want 0 or more
pdfsource: MaxPages is -1, want 0 or more
pdfsource: MaxChars is -1, want 0 or more
pdfsource: Timeout is -1, want 0 or more
pdfsource: Workers is -1, want 0 or more
pdfsource: MaxMemory is 1048576, want 0 or 33554432 to 2147483648`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want\n%s", err, want)
	}
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&Options{CacheDir: file})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if _, err := r.Read(t.Context(), "x", textPDF("", false, "Hello")); err == nil || !strings.Contains(err.Error(), "CacheDir") {
			t.Errorf("a cache that is no folder: %v", err)
		}
	}
}

// A file is rejected, or has text that keeps what Read promises.
func FuzzRead(f *testing.F) {
	f.Add(textPDF("A title", false, "Hello wor-\nld", "Page 2"))
	f.Add(textPDF("A title", true, "Hello", "Page 2"))
	f.Add(contentPDF("", stream("/Filter [/ASCIIHexDecode /LZWDecode]", []byte("800B6050220C0C8501>"))))
	f.Add((&pdfFile{objects: []string{pageTree, "<< /Type /Pages /Count 2 /Kids [2 0 R] >>"}}).bytes())
	r := newReader(f, Options{MaxMemory: 32 << 20, MaxPages: 100, Timeout: time.Second})
	if _, err := r.Read(f.Context(), "x", textPDF("", false, "Hello")); err != nil { // compiles PDFium, for all processes
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := r.Read(t.Context(), "x", data)
		if err != nil {
			if _, ok := errors.AsType[*document.Fault](err); !ok {
				t.Fatal(err)
			}
			return
		}
		checkText(t, d.Text)
		if d.Text == "" || strings.ContainsFunc(d.Title, unicode.IsControl) || utf8.RuneCountInString(d.Title) > maxTitle {
			t.Errorf("title %q, text %q", d.Title, d.Text)
		}
	})
}

type errorer interface {
	Helper()
	Errorf(format string, args ...any)
}

func checkText(t errorer, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("not UTF-8: %q", text)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		t.Errorf("control characters: %q", text)
	}
	if strings.Contains(text, "\n\n\n") || strings.TrimSpace(text) != text {
		t.Errorf("blank lines: %q", text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimRightFunc(line, unicode.IsSpace) != line {
			t.Errorf("white space ends line %q", line)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	r := newReader(b, Options{})
	for _, pages := range []int{1, 10, 100} {
		texts := make([]string, pages)
		for i := range texts {
			for j := range 40 {
				texts[i] += fmt.Sprintf("Line %d of page %d says how the pump is opened, cleaned and closed again.\n", j, i)
			}
		}
		data := textPDF("", true, texts...)
		if _, err := r.Read(b.Context(), "x", data); err != nil { // compiles PDFium
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Read(b.Context(), "x", data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
