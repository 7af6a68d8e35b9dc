// Package scan looks for text that tries to steer an agent: orders to ignore its instructions, forged roles, hidden
// characters, commands that fetch and run, secrets. It is made for what others wrote and a model will read: skills,
// trajectories, replies.
//
// [Text] applies these rules; "a … b" means that b follows a. The three words of a rule stand within 60 runes, first and
// last word counted.
//
//	override      high    (ignore, disregard, forget) … (previous, prior, above, all) … (instruction, rule, prompt)
//	conceal       high    (do not, don't, never) … (tell, mention, reveal, inform) … user
//	role-marker   high    <|im_start|>  <|im_end|>  [INST]  [/INST]  <system>  </system>  </skill
//	pipe-shell    high    curl, wget or base64 -d … | … (sh, bash, zsh, python) in one line
//	secret-read   high    .ssh/id_  .aws/credentials  /etc/shadow, and a file .env in one line with curl, wget, nc, post or upload
//	invisible     high    bidirectional controls; tag characters outside an emoji flag; zero-width ones between ASCII letters
//	role-line     medium  a line that starts with "system:" or "assistant:"
//	html-comment  medium  <!--
//	judge         medium  (rate, score, grade) … (this, the) … (highest, maximum, 10/10, 100)
//	secret-text   medium  the head of a PEM private key; AKIA and 16 capitals or digits; password= or token= with a value of 8 runes
//	blob          low     200 characters of base64 in a row
//
// # What does not hide a match
//
// All rules but invisible, secret-text and blob see the text folded: in lower case, with full-width forms as ASCII,
// without invisible and control characters, and with any run of white space as one blank, so that 60 runes are 60 runes
// of content. Words are whole words: letters and digits of ASCII end them, so "install" is no "all"; instruction, rule,
// prompt and user may have a plural s. The three other rules see the text as it is.
//
// What honest text has all the time is let through: "don't forget to tell the user", a negation in the sentence or list
// item before ("never guess; tell the user"), a pipe into "python -m json.tool", "||" instead of a pipe, and a value that
// is a variable or a placeholder (token=$TOKEN, token=<token>).
//
// # Limits
//
// The rules are a filter, no proof: text in other words, other languages or look-alike letters passes, and honest text
// about these matters is found. The rules are ours.
//
// Time is linear in the text whatever it holds, and memory is one byte per rune. The result depends on the arguments
// alone. Text need not be valid UTF-8.
package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
	Line     int    // on which the match starts, from 1; "\n" ends a line

	// Excerpt is the match on one line of at most 80 runes, and an ellipsis where it was longer. White space is one blank,
	// and what does not show is escaped as in Go ("\u202e"). A secret is left out.
	Excerpt string
}

// maxPerRule is the number of findings that a rule can have in one text: a reader needs no more, and text made to match
// everywhere must not fill a report. As each rule has its own, none hides another.
const maxPerRule = 10

// Text returns what the rules find in one text, sorted by line and rule; nil if nothing. A rule has at most one finding a
// line, the first, and ten in all, the first ones. Field is copied to the findings; empty is fine.
func Text(field, text string) []Finding {
	if text == "" {
		return nil
	}
	hits := append(unfold(text, matchWords(fold(text, nil, nil))), matchRaw(text)...)
	if len(hits) == 0 {
		return nil
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.start, b.start) })
	findings := make([]Finding, len(hits))
	line, pos := 1, 0
	for i, h := range hits {
		line += strings.Count(text[pos:h.start], "\n")
		pos = h.start
		findings[i] = Finding{
			Rule:     rules[h.rule].name,
			Severity: rules[h.rule].severity,
			Field:    field,
			Line:     line,
			Excerpt:  excerpt(text[h.start:h.end], h.cut),
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	return slices.CompactFunc(findings, func(a, b Finding) bool { return a.Line == b.Line && a.Rule == b.Rule })
}

// A rule is an index of rules.
type rule int

const (
	override rule = iota
	conceal
	roleMarker
	pipeShell
	secretRead
	invisible
	roleLine
	htmlComment
	judge
	secretText
	blob
	numRules
)

var rules = [numRules]struct {
	name     string
	severity Severity
}{
	override:    {"override", High},
	conceal:     {"conceal", High},
	roleMarker:  {"role-marker", High},
	pipeShell:   {"pipe-shell", High},
	secretRead:  {"secret-read", High},
	invisible:   {"invisible", High},
	roleLine:    {"role-line", Medium},
	htmlComment: {"html-comment", Medium},
	judge:       {"judge", Medium},
	secretText:  {"secret-text", Medium},
	blob:        {"blob", Low},
}

// A hit is a match in the text or in its folded view.
type hit struct {
	rule       rule
	start, end int
	cut        bool // the match goes on after end
}

// hitList collects hits, at most one a line and maxPerRule for each rule.
type hitList struct {
	list  []hit
	count [numRules]int
	line  [numRules]int // of the last hit
}

// add notes a hit that starts on a line; the numbers of lines grow and start at 1.
func (l *hitList) add(h hit, line int) {
	if l.count[h.rule] == maxPerRule || l.line[h.rule] == line {
		return
	}
	l.count[h.rule]++
	l.line[h.rule] = line
	l.list = append(l.list, h)
}
