package skill

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A Severity says what a [Diagnostic] means for its file.
type Severity int

const (
	SeverityInfo    Severity = iota // worth knowing; nothing was changed or lost
	SeverityWarning                 // read, but repaired or doubtful
	SeverityError                   // not read, or not used as it must not reach a prompt
)

// String returns "info", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case SeverityInfo:
		return "info"
	case SeverityWarning:
		return "warning"
	case SeverityError:
		return "error"
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// A Diagnostic is one finding about a file or folder. It is an error value, so that errors.As finds it in the error of
// [Parse].
type Diagnostic struct {
	Path     string // file or folder, as given by ParseOptions.Path or found by LoadFS
	Line     int    // in the file, from 1; zero means the file or folder as a whole
	Severity Severity
	Code     string // stable name of the rule, for example "invalid-yaml"
	Field    string // frontmatter key, or the field of [Document.Scan] for a finding; empty if none
	Msg      string // what is wrong, with at most the first 80 runes of a key or name and 200 of a value
}

// Error returns the diagnostic as "path:line: severity: message [code]"; a zero line is left out.
func (d Diagnostic) Error() string {
	if d.Line == 0 {
		return fmt.Sprintf("%s: %s: %s [%s]", d.Path, d.Severity, d.Msg, d.Code)
	}
	return fmt.Sprintf("%s:%d: %s: %s [%s]", d.Path, d.Line, d.Severity, d.Msg, d.Code)
}

func sortDiagnostics(ds []Diagnostic) {
	slices.SortFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Msg, b.Msg))
	})
}

// joinErrors joins the diagnostics of severity SeverityError; nil if there is none.
func joinErrors(ds []Diagnostic) error {
	var errs []error
	for _, d := range ds {
		if d.Severity == SeverityError {
			errs = append(errs, d)
		}
	}
	return errors.Join(errs...)
}
