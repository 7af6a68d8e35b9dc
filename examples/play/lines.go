package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine is the most bytes of an answer.
const maxLine = 4096

// errLine says that a line cannot be an answer. It was read to its end.
var errLine = errors.New("a line must be UTF-8 text of at most 4096 bytes without control characters")

// lines reads answers without ever holding more than one of them.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, maxLine+2)} } // with its end, which may be two bytes

// next returns the next line without the spaces around it, errLine, or io.EOF after the last one.
func (l *lines) next() (string, error) {
	b, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", errLine
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(b) == 0) {
		return "", err
	}
	line := strings.TrimSpace(strings.ReplaceAll(string(b), "\t", " "))
	if len(line) > maxLine || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
		return "", errLine
	}
	return line, nil
}
