package parquetsink

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/format"
)

// Bounds of a row group.
const (
	groupRows  = 10_000
	groupBytes = 64 << 20
)

// A row is a [format.Row] with the names and types of the columns.
type row struct {
	ID      string   `parquet:"id"`
	Text    string   `parquet:"text"`
	Source  string   `parquet:"source,dict"`
	Ability string   `parquet:"ability,dict"`
	Tokens  int64    `parquet:"tokens"`
	License []string `parquet:"license,list"`
	Meta    string   `parquet:"meta"`
}

// Options adjusts a [Writer]. A nil *Options equals &Options{}.
type Options struct {
	Tokens func(text string) int // counts those of a text; nil means [midtool.ApproxTokens]
}

// A Writer writes records as rows of one file. It has the methods of a [format.Writer] and is not safe for concurrent use.
type Writer struct {
	tokens  func(string) int
	out     *countedWriter
	rows    *parquet.GenericWriter[row]
	inGroup int // rows of the row group so far
	bytes   int // of their texts
	counts  format.Counts
	failure error // of the writer below, or that this one is closed
}

// New returns a Writer to w. It is an error if w is nil.
func New(w io.Writer, o *Options) (*Writer, error) {
	if w == nil {
		return nil, errors.New("parquetsink: no writer")
	}
	out := &countedWriter{w: w}
	s := &Writer{tokens: midtool.ApproxTokens, out: out, counts: format.Counts{Skipped: make(map[string]int)}}
	if o != nil && o.Tokens != nil {
		s.tokens = o.Tokens
	}
	s.rows = parquet.NewGenericWriter[row](out, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(groupRows),
		parquet.CreatedBy("throughline", "1", "")) // the default names the build
	return s, nil
}

// Write writes a record. A [*format.SkipError] with Format "parquet" says why there is no row of it; it is counted, and the
// next record can be written. Any other error comes from the writer below and is final.
func (w *Writer) Write(r *format.Record) error {
	if w.failure != nil {
		return w.failure
	}
	made, err := format.NewRow(r, w.tokens)
	if skipped, ok := errors.AsType[*format.SkipError](err); ok {
		skipped.Format = "parquet"
		w.counts.Skipped[skipped.Reason]++
		return skipped
	}
	if err == nil {
		err = w.add(made)
	}
	if err != nil {
		w.failure = fmt.Errorf("parquetsink: record %q: %w", r.ID, err)
		return w.failure
	}
	w.counts.Written++
	w.counts.Tokens += made.Tokens
	w.counts.Trained += made.Trained()
	return nil
}

func (w *Writer) add(r *format.Row) error {
	size := len(r.ID) + len(r.Text) + len(r.Meta)
	if w.inGroup == groupRows || w.inGroup > 0 && w.bytes+size > groupBytes {
		if err := w.rows.Flush(); err != nil {
			return err
		}
		w.inGroup, w.bytes = 0, 0
	}
	w.inGroup++
	w.bytes += size
	_, err := w.rows.Write([]row{{r.ID, r.Text, r.Source, r.Ability, int64(r.Tokens), r.License, r.Meta}})
	return err
}

// Close writes the last row group and the footer; the writer below stays open. It is an error if records were given and
// none was written, and it names the reasons. A file without a row is a valid file.
func (w *Writer) Close() error {
	if w.failure != nil {
		return w.failure
	}
	w.failure = errors.New("parquetsink: the writer is closed")
	if err := w.rows.Close(); err != nil {
		return fmt.Errorf("parquetsink: %w", err)
	}
	if len(w.counts.Skipped) > 0 && w.counts.Written == 0 {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(w.counts.Skipped)) {
			reasons = append(reasons, fmt.Sprintf("%s %d", reason, w.counts.Skipped[reason]))
		}
		return fmt.Errorf("parquetsink: no record was written: %s", strings.Join(reasons, ", "))
	}
	return nil
}

// Counts returns what was written and skipped so far. Bytes are those that have reached the writer below, all of the file
// after Close; Trained are learned bytes of the texts.
func (w *Writer) Counts() format.Counts {
	out := w.counts
	out.Bytes, out.Skipped = w.out.n, maps.Clone(out.Skipped)
	return out
}

// A countedWriter counts what goes through it.
type countedWriter struct {
	w io.Writer
	n int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
