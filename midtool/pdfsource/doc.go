// Package pdfsource reads the text of PDF files as documents of package document, without cgo.
package pdfsource
