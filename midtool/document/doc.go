// Package document reads the documents that a corpus is made of: Markdown, HTML, plain text, source trees, notebooks and
// web text in JSON Lines.
package document
