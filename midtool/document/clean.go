package document

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Fault says why one file or record gives no document, while those beside it can be read. A [Reader] returns it, or any other
// error with a method Reason.
type Fault struct {
	Code   string // a short snake_case reason, such as "invalid_utf8"
	Detail string // what was found; may be empty
}

// Error returns the code and the detail.
func (f *Fault) Error() string {
	if f.Detail == "" {
		return "document: " + f.Code
	}
	return "document: " + f.Code + ": " + f.Detail
}

// Reason returns the code.
func (f *Fault) Reason() string { return f.Code }

func fault(code, format string, args ...any) error { return &Fault{code, fmt.Sprintf(format, args...)} }

// reasonOf returns the reason and the detail of an error that is about one file alone.
func reasonOf(err error) (reason, detail string, ok bool) {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Code, f.Detail, true
	}
	if r, ok := errors.AsType[interface {
		error
		Reason() string
	}](err); ok {
		return r.Reason(), err.Error(), true
	}
	return "", "", false
}

const byteOrderMark = "\ufeff"

// clean makes the text of a document of what was read: no byte order mark, and lines that end in \n. A NUL (binary),
// invalid UTF-8 (invalid_utf8) and white space alone (no_text) are faults; nothing is replaced.
func clean(text string) (string, error) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", fault("binary", "a NUL at byte %d", i)
	}
	if !utf8.ValidString(text) {
		return "", fault("invalid_utf8", "byte %d", invalidAt(text))
	}
	text = strings.TrimPrefix(text, byteOrderMark)
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	if strings.TrimSpace(text) == "" {
		return "", fault("no_text", "")
	}
	return text, nil
}

// invalidAt returns the place of the first byte that is no UTF-8.
func invalidAt(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return len(text)
}
