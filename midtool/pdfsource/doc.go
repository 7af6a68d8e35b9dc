// Package pdfsource reads the text of PDF files as documents of package document, without cgo.
//
// A [Reader] turns the bytes of one file into a document of kind "pdf": the texts of its pages joined by a blank line, without
// the lines that stand on most pages, and with words put together again that were hyphenated at the end of a line; see
// [Reader.Read], which is a [document.Reader] for the extension ".pdf". A [Source] reads a folder of PDF files alone.
//
// # How
//
// Pages are read by PDFium, the library in Chromium, compiled to WebAssembly and run by wazero (github.com/klippa-app/go-pdfium
// v1.21, MIT; PDFium BSD-3-Clause and Apache-2.0; wazero Apache-2.0). PDF is a format in which nearly everything is
// allowed and much of what is found is broken; PDFium has met most of it, keeps the order of reading and knows the fonts. The
// sandbox is what makes it safe to feed with files of strangers: it has no files, no network, no clock and no more memory
// than it is given, and it can be stopped at any instruction. The readers in pure Go that have a permissive license
// are smaller, but they trust the numbers in a file, lose the spaces between words, and give up on compressed tables of objects
// or on common fonts. Only the packages of the WebAssembly variant are built in; they add 10 MB to a program.
//
// # Bounds
//
// Every file is bounded in bytes, pages, characters of text, memory and time; see [Options]. What is beyond a bound, or no
// PDF at all, is rejected for one of these reasons:
//
//   - too_large: more bytes or characters than allowed
//   - too_many_pages
//   - encrypted: a password is needed
//   - timeout: the time for one file is over
//   - bad_pdf: PDFium cannot read it, or needs more memory than it may have, as for a stream that unpacks to gigabytes
//   - no_text: no page has text, as in a scan
//
// # Cost
//
// The first file waits until PDFium is compiled: some 3 s and 320 MB of memory, most of it garbage soon; with a CacheDir that
// is done once for all processes, and the start takes a tenth. A file then costs about 5 ms, and 5 ms for each page of dense text.
// While it is read, it holds 20 MB, and a hostile one up to the memory of [Options], three times as much until the garbage collector
// has seen it; a program for which that is too much sets a soft memory limit of the runtime.
//
// Each file has a sandbox of its own, so that nothing of one reaches the next. The same bytes give the same document, but for a
// file that is close to the limit of time.
package pdfsource
