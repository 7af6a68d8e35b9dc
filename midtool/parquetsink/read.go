package parquetsink

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/throughline-go/throughline/midtool/format"
)

// maxGroup is what a column of a row group may say that it has, in bytes, uncompressed.
const maxGroup = 1 << 30

// Read reads the records of a file of size bytes in their order, as [format.Row.Record] gives them back. Of a file of
// someone else the columns with the names of ours are read; what else it has is passed over, and what it lacks is empty, but
// for the text. The first error ends the sequence and names the row, from 0. The sequence can be ranged over more than
// once.
func Read(r io.ReaderAt, size int64) iter.Seq2[format.Record, error] {
	return func(yield func(format.Record, error) bool) {
		rows, err := open(r, size)
		if err != nil {
			yield(format.Record{}, fmt.Errorf("parquetsink: %w", err))
			return
		}
		defer guard(rows.Close)
		batch := make([]row, 16)
		for number := 0; ; {
			var n int
			err := guard(func() (err error) {
				clear(batch)
				n, err = rows.Read(batch)
				return err
			})
			for i := range n {
				record, bad := recordOf(&batch[i])
				if bad != nil {
					yield(format.Record{}, fmt.Errorf("parquetsink: row %d: %w", number, bad))
					return
				}
				if !yield(record, nil) {
					return
				}
				number++
			}
			switch {
			case errors.Is(err, io.EOF):
				return
			case err == nil && n == 0:
				err = io.ErrNoProgress
			}
			if err != nil {
				yield(format.Record{}, fmt.Errorf("parquetsink: row %d: %w", number, err))
				return
			}
		}
	}
}

// guard calls f and turns a panic of it into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("broken file: %v", p)
		}
	}()
	return f()
}

func open(r io.ReaderAt, size int64) (rows *parquet.GenericReader[row], err error) {
	err = guard(func() error {
		// The indexes serve searches only and are one more place for a broken file to lie.
		f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		if text, ok := f.Schema().Lookup("text"); !ok || text.Node.Type().Kind() != parquet.ByteArray {
			return errors.New(`no column "text" of strings`)
		}
		for i, group := range f.Metadata().RowGroups {
			for _, c := range group.Columns {
				if n := c.MetaData.TotalUncompressedSize; n < 0 || n > maxGroup {
					name := strings.Join(c.MetaData.PathInSchema, ".")
					return fmt.Errorf("row group %d: column %s has %d bytes, at most %d", i, name, n, maxGroup)
				}
			}
		}
		rows = parquet.NewGenericReader[row](f)
		return nil
	})
	return rows, err
}

// recordOf copies a row, whose memory belongs to the reader, and reads it.
func recordOf(r *row) (format.Record, error) {
	made := format.Row{ID: strings.Clone(r.ID), Text: strings.Clone(r.Text), Source: strings.Clone(r.Source),
		Ability: strings.Clone(r.Ability), Tokens: int(r.Tokens), Meta: r.Meta}
	for _, l := range r.License {
		made.License = append(made.License, strings.Clone(l))
	}
	return made.Record()
}
