package document

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

// lines is a WebText of a text; it cannot seek.
func lines(text string) WebText {
	return WebText{Name: "w", Locator: "w.jsonl", BadShare: new(1.0), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// results reads a source: "line ID text" and "! line reason", and the error last.
func results(s Source) (out []string, docs []Document) {
	reject := func(r midtool.Rejection) { out = append(out, fmt.Sprintf("! %d %s", r.Origin.Line, r.Reason)) }
	for d, err := range s.Documents(context.Background(), reject) {
		if err != nil {
			return append(out, "error: "+err.Error()), docs
		}
		out = append(out, fmt.Sprintf("%d %s %s", d.Origin.Line, d.ID, d.Text))
		docs = append(docs, d)
	}
	return out, docs
}

func TestWebText(t *testing.T) {
	w := lines("\ufeff" + `{"text":"a\r\nb","id":"x","url":"http://e/x","date":"2027","language":"en","language_score":0.5,"license":"mit","title":"T","kind":"pdf","more":[1]}` + "\n\n" +
		` {"text":"c","id":12,"url":null,"language_score":null}` + "\r\n" + `{"text":"d"}` + "\n" + `{"text":"id AK` + `IAABCDEFGHIJKLMNOP"}` + "\n" +
		"nope\n[1]\n" + `{"text":"` + "\xff" + `"}` + "\n" + `{"text":"\ud800"}` + "\n" + `{"id":"x"}` + "\n" + `{"text":" \n"}` + "\n" + `{"text":7}` + "\n" +
		`{"text":"x","language_score":2}` + "\n" + `{"text":"x","kind":"song"}` + "\n" + `{"text":"x","id":[]}` + "\n" + `{"text":"a\u0000"}` + "\n" +
		`{"text":"` + strings.Repeat("x", 2000) + `"}` + "\n" + strings.Repeat("[", 1000) + "\n" + `{"text":"last"}`)
	w.MaxLine, w.License, w.Revision = 1500, "CC0", "v1"
	id := func(s string) string { sum := sha256.Sum256([]byte(s)); return "w/" + hex.EncodeToString(sum[:8]) }
	got, docs := results(w)
	want := []string{"1 w/x a\nb", "3 w/12 c", "4 " + id("d") + " d", "5 " + id("id AK"+"IAABCDEFGHIJKLMNOP") + " id <SECRET>", "! 6 bad_json", "! 7 bad_json", "! 8 invalid_utf8",
		"! 9 invalid_utf8", "! 10 no_text", "! 11 no_text", "! 12 bad_field", "! 13 bad_field", "! 14 bad_field",
		"! 15 bad_field", "! 16 binary", "! 17 line_too_long", "! 18 bad_json",
		"19 " + id("last") + " last"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	first := docs[0]
	if first.Origin.SHA256 == "" {
		t.Error("no hash of the record")
	}
	first.Origin.SHA256 = ""
	if d := cmp.Diff(Document{ID: "w/x", Kind: PDF, Title: "T", Text: "a\nb", URL: "http://e/x", Date: "2027", Language: "en", LanguageScore: new(0.5), License: "MIT",
		LicenseFrom: "record", Origin: midtool.Origin{Kind: "jsonl", Locator: "w.jsonl", Line: 1, Revision: "v1"}}, first); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if docs[1].License != "CC0-1.0" || docs[1].LicenseFrom != "file" || docs[1].Kind != Web || docs[3].Secrets != 1 {
		t.Errorf("%+v", docs[1])
	}
	if got, _ := results(lines("")); got != nil {
		t.Errorf("nothing: %q", got)
	}
}

func TestWebTextBadShare(t *testing.T) {
	good, bad := `{"text":"x"}`+"\n", "?\n"
	for _, tt := range []struct {
		name, in string
		share    *float64
		want     string // in the error; empty for none
		reason   string
	}{
		{"one in 100", strings.Repeat(good, 99) + bad, nil, "", "1 % is allowed"},
		{"one in 99", strings.Repeat(good, 98) + bad, nil, "1 of 99 lines are bad", "more is not"},
		{"blank lines", strings.Repeat("\n", 500) + good + bad, nil, "1 of 2 lines are bad", "they do not count"},
		{"none allowed", strings.Repeat(good, 1000) + bad, new(0.0), "1 of 1001", "an own share"},
		{"all allowed", strings.Repeat(bad, 3000), new(1.0), "", "an own share"},
		{"early", strings.Repeat(bad, 3000), nil, "1000 of the first 1000 lines are bad", "no need to read on"},
		{"not early", strings.Repeat(bad, 999), nil, "999 of 999 lines are bad", "too few for that"},
		{"late", strings.Repeat(good, 2000) + strings.Repeat(bad, 1500), nil, "1500 of 3500", "not half at any time"},
	} {
		w := lines(tt.in)
		w.BadShare = tt.share
		got, _ := results(w)
		last := ""
		if n := len(got); n > 0 && strings.HasPrefix(got[n-1], "error") {
			last = got[n-1]
		}
		_, err := w.Split(context.Background(), 7)
		if (last == "") != (tt.want == "") || !strings.Contains(last, tt.want) || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, split: %v, want %q (%s)", tt.name, last, err, tt.want, tt.reason)
		}
	}
}

// The parts of a file, of any size, yield and reject together what the file does, whether or not it can seek or is compressed; and what is read
// is what was written.
func TestWebTextSplit(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		var texts []string
		for i := range rapid.IntRange(0, 20).Draw(t, "lines") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				b.WriteString(rapid.SampledFrom([]string{"\n", "  \r\n", "bad\n", "\xff\n", `{"text":"` + strings.Repeat("x", 300) + "\"}\n"}).Draw(t, "other"))
			default:
				text := "x" + rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\"\\é漢😀\u2028<&")), 0, 30, -1).Draw(t, "text")
				raw, err := json.Marshal(map[string]any{"text": text, "id": fmt.Sprint(i)})
				if err != nil {
					t.Fatal(err)
				}
				b.Write(append(raw, '\n'))
				texts = append(texts, text)
			}
		}
		data := b.Bytes()
		if rapid.Bool().Draw(t, "no last break") {
			data = bytes.TrimSuffix(data, []byte("\n"))
		}
		w := lines(string(data))
		w.MaxLine = 200
		want, docs := results(w)
		var got []string
		for _, d := range docs {
			got = append(got, d.Text)
		}
		if !slices.Equal(got, texts) {
			t.Fatalf("read %q, want %q", got, texts)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(data)
		z.Close()
		size := rapid.IntRange(1, 6).Draw(t, "size")
		files := []WebText{w, w, w}
		for i, content := range [][]byte{nil, data, packed.Bytes()} {
			if content != nil {
				name := filepath.Join(dir, []string{"", "w.jsonl", "w.jsonl.gz"}[i])
				if err := os.WriteFile(name, content, 0o644); err != nil {
					t.Fatal(err)
				}
				files[i].Open, files[i].Locator = nil, name
			}
			parts, err := files[i].Split(context.Background(), size)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range parts {
				some, _ := results(p)
				if got = append(got, some...); len(some) > size || len(some) == 0 {
					t.Fatalf("a part of %d lines, want at most %d", len(some), size)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d: parts %q, want %q", i, got, want)
			}
		}
	})
}

func TestWebTextErrors(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("cable cut")
	bad := WebText{Kind: "song", MaxLine: -1, BadShare: new(2.0)}
	got, _ := results(bad)
	for _, want := range []string{"Name is empty", "Locator is empty", `Kind is "song"`, "MaxLine is -1", "BadShare is 2"} {
		_, digest := bad.Digest(ctx)
		if !strings.Contains(got[0], want) || digest == nil {
			t.Errorf("%q, %v, want %q", got, digest, want)
		}
	}
	for name, w := range map[string]WebText{
		"none":   {Name: "w", Locator: filepath.Join(t.TempDir(), "none.jsonl")},
		"broken": {Name: "w", Locator: "w", Open: func() (io.ReadCloser, error) { return nil, broken }},
		"gzip":   {Name: "w", Locator: "w.gz", Open: lines("no gzip").Open},
	} {
		if got, _ := results(w); len(got) != 1 || !strings.HasPrefix(got[0], "error: document: ") {
			t.Errorf("%s: %q", name, got)
		}
		if _, err := w.Split(ctx, 1); err == nil {
			t.Errorf("%s: split", name)
		}
	}
	if _, err := lines("").Split(ctx, 0); err == nil {
		t.Error("split by 0")
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range lines(`{"text":"x"}`).Documents(canceled, nil) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	}
	for range lines(strings.Repeat("bad\n", 5)+`{"text":"x"}`+"\n"+`{"text":"y"}`).Documents(ctx, nil) {
		break // must not be called again
	}
	a, _ := lines("x").Digest(ctx)
	b, _ := lines("y").Digest(ctx)
	other := lines("x")
	other.License = "MIT"
	if c, err := other.Digest(ctx); a == b || a == c || err != nil {
		t.Errorf("digests %s, %s, %s, %v", a, b, c, err)
	}
}

// endless gives a line of n bytes.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= n
	return n, nil
}

// Of a line of 100 MB no more is held than the limit, and reading goes on after it.
func TestWebTextLongLine(t *testing.T) {
	w := lines("")
	w.MaxLine = 1 << 20
	w.Open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("{\"text\":\"a\",\"id\":1}\n"), &endless{100 << 20}, strings.NewReader("\n{\"text\":\"b\",\"id\":2}\n"))), nil
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, _ := results(w)
	runtime.ReadMemStats(&after)
	if want := []string{"1 w/1 a", "! 2 line_too_long", "3 w/2 b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

// FuzzWebText: any bytes give clean documents and rejections, as many as lines that are not blank.
func FuzzWebText(f *testing.F) {
	f.Add([]byte(`{"text":"a","id":"b","language_score":0.5}` + "\n\n" + `{"text":1}` + "\nx\n"))
	f.Add([]byte("\ufeff{\"text\":\"\\ud83d\\ude00\\r\"}\r\n{\"text\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		want := 0
		for line := range bytes.Lines(bytes.TrimPrefix(data, []byte(byteOrderMark))) {
			if len(bytes.TrimSpace(line)) > 0 {
				want++
			}
		}
		got, docs := results(lines(string(data)))
		if len(got) != want && want < enough {
			t.Fatalf("%q for %d lines", got, want)
		}
		for _, d := range docs {
			if again, err := clean(d.Text); err != nil || strings.TrimPrefix(d.Text, byteOrderMark) != again {
				t.Fatalf("text %q: %v", d.Text, err)
			}
		}
	})
}

func BenchmarkWebText(b *testing.B) {
	line := `{"text":"` + strings.Repeat(`Call the endpoint with a \"city\" and read the result.\n`, 40) + `","url":"https://example.com/x","language":"en","language_score":0.97}` + "\n"
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := strings.Repeat(line, n)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range lines(text).Documents(context.Background(), nil) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
