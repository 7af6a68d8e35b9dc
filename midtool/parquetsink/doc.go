// Package parquetsink writes records of package format as Parquet files and reads them back: the rows of the form plain
// ([format.Row]), one column per field.
//
//   - id, text, source, ability: strings, the middle of these two with a dictionary;
//   - tokens: a 64-bit integer;
//   - license: a list of strings;
//   - meta: a string with a JSON object.
//
// Pages are compressed with Zstandard. A row group ends after 10,000 rows, or after 64 MiB of text where that comes
// first, which keeps the memory of a writer and of its readers within bounds; both numbers are ours. Rows stand in the
// order in which they were written, so they equal the lines of the form plain one by one.
//
// # Cost and determinism
//
// A [Writer] holds the pages of one row group, compressed, and the file's index. Equal records give equal bytes: the file
// has no date, no random mark and no build of this program in it. Another version of the Parquet library may compress
// or lay out the same rows otherwise.
//
// # Hostile files
//
// [Read] checks before the library does: the footer and the headers of pages, which must be whole and have no list longer than the bytes
// that follow; every page, which may have 256 MiB uncompressed and 16 million values; and the compression, of which Zstandard, Snappy and
// none are read, since the library unpacks the others without a bound. For this, what Zstandard packed is unpacked twice. Panics
// of the library become errors, and it may print a warning to the standard error. Memory is that of a page of each column, as it
// says that it is, and some hundred times the footer at most.
//
// # Library
//
// github.com/parquet-go/parquet-go (Apache-2.0), which needs no cgo. This is a module of its own so that no one else
// depends on it.
package parquetsink
