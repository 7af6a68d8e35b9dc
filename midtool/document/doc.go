// Package document reads the documents that a corpus is made of: Markdown, HTML, plain text, source trees, notebooks and
// web text in JSON Lines.
//
// # Sources
//
//   - [Tree] walks a folder: prose, pages, code and notebooks, and other formats through a [Reader].
//   - [WebText] reads JSON Lines with a text and its address a line.
//   - [Prescreen] keeps those of another source that may be about tools, by address and keywords.
//   - Package skillsource reads folders of skills, and the module pdfsource PDF files.
//
// Each is a [Source], whose sequence can be ranged over again; a [Splitter], so that a build can be resumed and shared; and a
// [Digester], so that it is known whether anything has changed.
//
// # What a text has gone through
//
// Every text is valid UTF-8 without a NUL; what is not is rejected, never patched. Lines end in \n, there is no byte order mark, and
// secrets are replaced by [Redact]. Nothing else is changed: what is fit for a corpus is for package quality to say.
//
// Whatever gives no document is told to the reject function with a short reason, in order with the documents. An error is for
// what concerns a source as a whole: a root that cannot be opened, options out of range, a canceled context, too many bad lines.
//
// # Source
//
// Which sources there are, that repositories of benchmarks are left out, that good repositories keep what teaches, that notebooks become
// code and that secrets are replaced is told of MidTool (arXiv:2608.20314). How, all lists, bounds and reasons are ours.
//
// # Cost
//
// Time is linear in the bytes read, whatever they hold. A Tree holds one file and the names in the folders above it, WebText one line;
// both bound them. Links are not followed, and nothing but regular files is opened.
//
// # Determinism
//
// The order is that of the bytes of paths, or of lines. No result depends on a clock, the order of maps or the network,
// and no goroutine is started.
package document
