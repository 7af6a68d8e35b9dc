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

// Read reads the records of a file of size bytes in their order, as [format.Row.Record] gives them back. Of a file of
// someone else the columns with the names of ours are read; what else it has is passed over, and what it lacks is empty, but
// for the text. The first error ends the sequence and names the row, from 0. The sequence can be ranged over more than
// once.
func Read(r io.ReaderAt, size int64) iter.Seq2[format.Record, error] {
	return func(yield func(format.Record, error) bool) {
		number := 0
		fail := func(err error) { yield(format.Record{}, fmt.Errorf("parquetsink: row %d: %w", number, err)) }
		f, err := open(r, size)
		if err != nil {
			yield(format.Record{}, fmt.Errorf("parquetsink: %w", err))
			return
		}
		checker, err := newPageChecker(r, size)
		if err != nil {
			fail(err)
			return
		}
		defer checker.zstd.Close()
		for i, group := range f.RowGroups() {
			if err := guard(func() error { return checker.group(&f.Metadata().RowGroups[i]) }); err != nil {
				fail(err)
				return
			}
			for made, err := range rowsOf(group) {
				var record format.Record
				if err == nil {
					record, err = recordOf(made)
				}
				if err != nil {
					fail(err)
					return
				}
				if !yield(record, nil) {
					return
				}
				number++
			}
		}
	}
}

// rowsOf reads a row group whose pages are sound. A row is valid until the next one.
func rowsOf(group parquet.RowGroup) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		var rows *parquet.GenericReader[row]
		err := guard(func() error {
			rows = parquet.NewGenericRowGroupReader[row](group)
			return nil
		})
		if err != nil {
			yield(nil, err)
			return
		}
		defer guard(rows.Close)
		batch := make([]row, 16)
		for {
			var n int
			err := guard(func() (err error) {
				clear(batch)
				n, err = rows.Read(batch)
				return err
			})
			for i := range n {
				if !yield(&batch[i], nil) {
					return
				}
			}
			switch {
			case errors.Is(err, io.EOF):
				return
			case err == nil && n == 0:
				err = io.ErrNoProgress
			}
			if err != nil {
				yield(nil, err)
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

func open(r io.ReaderAt, size int64) (f *parquet.File, err error) {
	err = guard(func() error {
		if err := checkFooter(r, size); err != nil {
			return err
		}
		// The indexes serve searches only and are one more place for a broken file to lie.
		f, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		if text, ok := f.Schema().Lookup("text"); !ok || text.Node.Type().Kind() != parquet.ByteArray {
			return errors.New(`no column "text" of strings`)
		}
		return nil
	})
	return f, err
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
