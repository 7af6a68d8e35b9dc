// Package scan looks for text that tries to steer an agent: instructions to ignore instructions, forged roles, hidden
// characters, commands that fetch and run, secrets.
package scan

import "fmt"

// A Severity says what a [Finding] means.
type Severity int

const (
	Low    Severity = iota // worth knowing
	Medium                 // doubtful: honest text has it too
	High                   // must not reach a prompt
)

// String returns "low", "medium" or "high".
func (s Severity) String() string {
	switch s {
	case Low:
		return "low"
	case Medium:
		return "medium"
	case High:
		return "high"
	}
	return fmt.Sprintf("Severity(%d)", int(s))
}

// A Finding is one match of a rule.
type Finding struct {
	Rule     string // its name, for example "override"
	Severity Severity
	Field    string // where it was found, as given to [Text]
	Line     int    // in the text, from 1
	Excerpt  string // the match, shortened, on one line
}

// Text returns the findings in one text, sorted by line and rule; nil if there is none.
func Text(field, text string) []Finding {
	return nil
}
