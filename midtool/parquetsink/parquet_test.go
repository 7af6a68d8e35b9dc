package parquetsink

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/format"
)

// records makes n records: documents of all sizes and conversations, some with a mistake in them.
func records(n int) []format.Record {
	out := make([]format.Record, n)
	for i := range out {
		id := fmt.Sprintf("r%06d", i)
		if i%3 == 0 {
			text := strings.Repeat("Zürich 日本 😀 \u2028\n", i%50+1)
			out[i] = format.Record{ID: id, Source: "web", Text: text, Licenses: []string{"MIT", "ISC"}[:i%2*2], Meta: map[string]string{"title": id}}
			continue
		}
		call := midtool.Call{ID: "call_0001", Name: "f", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}
		out[i] = format.Record{ID: id, Source: "native", Licenses: []string{"MIT"}, Sample: &midtool.Sample{
			ID: id, Family: midtool.Single, Ability: midtool.Grounding, Source: "native",
			Tools: []midtool.Tool{{Name: "f", Description: "Does f.", Parameters: json.RawMessage(`{"type":"object"}`)}},
			Messages: []midtool.Message{
				{Role: midtool.RoleUser, Content: fmt.Sprintf("Do f for %d.", i)},
				{Role: midtool.RoleAssistant, Calls: []midtool.Call{call}, Untrained: i%5 == 0},
				{Role: midtool.RoleTool, CallID: "call_0001", Name: "f", Content: "ok"},
				{Role: midtool.RoleAssistant, Content: "Done."},
			},
		}}
	}
	return out
}

func file(t testing.TB, records []format.Record) ([]byte, format.Counts) {
	t.Helper()
	var b bytes.Buffer
	w, err := New(&b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.Counts()
}

// The rows are those of the form plain, in the same order, over several row groups, and so are the counts.
func TestRowsEqualLines(t *testing.T) {
	all := records(10_050)
	data, counts := file(t, all)
	var lines bytes.Buffer
	plain, err := format.NewWriter(&lines, "plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if err := plain.Write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	want := plain.Counts()
	if want.Bytes = int64(len(data)); want.Trained >= lines.Len() || !cmp.Equal(want, counts) {
		t.Errorf("counts (-want +got):\n%s", cmp.Diff(want, counts))
	}

	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if groups := f.RowGroups(); len(groups) != 2 || groups[0].NumRows() != 10_000 || groups[1].NumRows() != 50 {
		t.Errorf("%d row groups, want one of 10,000 rows and one of the rest", len(groups))
	}
	var columns []string
	for _, c := range f.Metadata().RowGroups[0].Columns {
		columns = append(columns, strings.Join(c.MetaData.PathInSchema, ".")+" "+c.MetaData.Codec.String())
	}
	wantColumns := []string{"id ZSTD", "text ZSTD", "source ZSTD", "ability ZSTD", "tokens ZSTD", "license.list.element ZSTD", "meta ZSTD"}
	if diff := cmp.Diff(wantColumns, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if got := f.Metadata().CreatedBy; !strings.HasPrefix(got, "throughline version 1") {
		t.Errorf("created by %q", got)
	}

	n := 0
	next := format.Read(&lines, "plain", "lines")
	rows := Read(bytes.NewReader(data), int64(len(data)))
	var fromLines []format.Record
	for r, err := range next {
		if err != nil {
			t.Fatal(err)
		}
		fromLines = append(fromLines, r)
	}
	for r, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		if n < len(fromLines) && !cmp.Equal(fromLines[n], r, cmpopts.EquateEmpty()) {
			t.Fatalf("row %d (-want +got):\n%s", n, cmp.Diff(fromLines[n], r, cmpopts.EquateEmpty()))
		}
		n++
	}
	if n != len(all) {
		t.Errorf("%d rows, want %d", n, len(all))
	}
}

// A group also ends before its texts have more than 64 MiB.
func TestLargeRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MiB")
	}
	all := make([]format.Record, 5)
	for i := range all {
		all[i] = format.Record{ID: fmt.Sprint(i), Text: strings.Repeat("x", 20<<20)}
	}
	var b bytes.Buffer
	w, err := New(&b, &Options{Tokens: func(s string) int { return len(s) }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if err := w.Write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || w.Counts().Tokens != 100<<20 {
		t.Fatal(err, w.Counts())
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(f.RowGroups()) != 2 || f.RowGroups()[0].NumRows() != 3 {
		t.Errorf("%v, %d row groups, want 2", err, len(f.RowGroups()))
	}
}

func TestSameBytes(t *testing.T) {
	all := records(500)
	first, _ := file(t, all)
	for range 3 {
		if again, _ := file(t, all); sha256.Sum256(first) != sha256.Sum256(again) {
			t.Error("the same records gave other bytes")
		}
	}
}

func TestEmptyFile(t *testing.T) {
	data, counts := file(t, nil)
	for r, err := range Read(bytes.NewReader(data), int64(len(data))) {
		t.Errorf("got %+v, %v", r, err)
	}
	if counts.Written != 0 || counts.Bytes != int64(len(data)) {
		t.Errorf("%+v", counts)
	}
}

func TestSkips(t *testing.T) {
	w, err := New(io.Discard, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Write(&format.Record{ID: "a"})
	if skipped, ok := errors.AsType[*format.SkipError](err); !ok || skipped.Format != "parquet" || skipped.Reason != "empty" {
		t.Errorf("got %v", err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "empty 1") {
		t.Errorf("got %v, want an error: nothing was written", err)
	}
	if w.Write(&format.Record{Text: "x"}) == nil || w.Close() == nil {
		t.Error("a closed writer takes records")
	}
	if _, err := New(nil, nil); err == nil {
		t.Error("no writer and no error")
	}
}

type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// An error of the writer below comes through at the latest in Close, whenever it happens.
func TestFailingWriter(t *testing.T) {
	full := errors.New("disk full")
	all := records(10_001)
	data, _ := file(t, all)
	for _, room := range []int{0, 3, 4, len(data) / 2, len(data) - 1} {
		w, err := New(&failing{room, full}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if err = w.Write(&all[i]); err != nil {
				break
			}
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, full) {
			t.Errorf("room for %d bytes: got %v", room, err)
		}
	}
}

// Files of others are read as far as they fit.
func TestForeign(t *testing.T) {
	type other struct {
		Extra int32  `parquet:"extra"`
		Text  string `parquet:"text"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []other{{1, "one"}, {2, "two"}}); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for r, err := range Read(bytes.NewReader(b.Bytes()), int64(b.Len())) {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, r.Text)
	}
	if diff := cmp.Diff([]string{"one", "two"}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	type none struct {
		Extra int32 `parquet:"extra"`
	}
	type wrong struct {
		Text int32 `parquet:"text"`
	}
	broken := []row{{ID: "a", Text: "x", Meta: "{}"}, {ID: "b", Text: "x", Meta: "{"}}
	for name, write := range map[string]func(io.Writer) error{
		"no text":     func(w io.Writer) error { return parquet.Write(w, []none{{1}}) },
		"text number": func(w io.Writer) error { return parquet.Write(w, []wrong{{1}}) },
		"row 1":       func(w io.Writer) error { return parquet.Write(w, broken) },
		"not UTF-8":   func(w io.Writer) error { return parquet.Write(w, []row{{ID: "a", Text: "\xff", Meta: "{}"}}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range Read(bytes.NewReader(b.Bytes()), int64(b.Len())) {
			last = err
		}
		if last == nil || slices.Contains([]string{"row 1", "not UTF-8"}, name) && !strings.Contains(last.Error(), name) {
			t.Errorf("%s: got %v", name, last)
		}
	}
}

// A sequence can be left early and ranged over again.
func TestReadTwice(t *testing.T) {
	data, _ := file(t, records(40))
	rows := Read(bytes.NewReader(data), int64(len(data)))
	for range 2 {
		n := 0
		for r, err := range rows {
			if err != nil || r.ID != fmt.Sprintf("r%06d", n) {
				t.Fatal(err, r.ID)
			}
			if n++; n == 20 {
				break
			}
		}
	}
}

// A broken file gives an error or fewer or other records, and never a panic.
func FuzzRead(f *testing.F) {
	data, _ := file(f, records(4))
	f.Add(data, uint16(0), byte(0))
	for _, at := range []int{4, 40, len(data) / 2, len(data) - 60, len(data) - 7} {
		f.Add(data[:at], uint16(0), byte(0))
		f.Add(data, uint16(at), byte(0x80))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, with byte) {
		if len(data) > 1<<16 {
			return
		}
		data = bytes.Clone(data)
		if int(at) < len(data) {
			data[at] ^= with
		}
		n := 0
		for _, err := range Read(bytes.NewReader(data), int64(len(data))) {
			if n++; err != nil || n == 1000 {
				return
			}
		}
	})
}

// BenchmarkWrite shows bytes of text a second.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			all := records(n)
			size := 0
			for i := range all {
				text, err := format.Plain(&all[i])
				if err != nil {
					b.Fatal(err)
				}
				size += len(text.Text)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				file(b, all)
			}
		})
	}
}

// BenchmarkRead shows bytes of the file a second.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			data, _ := file(b, records(n))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range Read(bytes.NewReader(data), int64(len(data))) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
