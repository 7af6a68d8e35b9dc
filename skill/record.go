package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Record is what is known about a skill beyond its text: where it comes from and, for code, how it is called. It is kept
// in the metadata of its SKILL.md file, so that it goes wherever the file goes: [Document.SetRecord] writes it there and
// [Document.ParseRecord] reads it. [Induce] and a memory fill it in. A field with its zero value has no key:
//
//	metadata:
//	  throughline-calls: get_order refund
//	  throughline-format: code
//	  throughline-function: refund_last_order
//	  throughline-inducer: rules-1
//	  throughline-level: subtask
//	  throughline-origins: '[{"trajectory":"e1","task":"t1","start":0,"end":5,"level":"subtask","reward":1}]'
//	  throughline-replaced: "2"
//	  throughline-version: "3"
//
// The keys and their form are ours. A memory adds throughline-time: when it stored the version.
type Record struct {
	Version int    // of the skill in its memory, from 1; 0 means that it is in none
	Level   Level  // "task" or "subtask"; empty means unknown
	Format  Format // of the body; text has no key

	// Replaced is the version whose place the present text took: the one that it revised or overwrote, that was current until
	// an old one was restored, or the last one of a removed skill whose name it has. A merge keeps it. What is known of that
	// version and those before, such as how often it helped, does not count for this one. 0 means that there is none.
	Replaced int

	Function string   // code: the identifier of the function, without white space or comma; empty for text
	Calls    []string // code: the functions that it calls, sorted, each once; those of the standard library and the environment too
	Inducer  string   // what made the skill, for example "rules-1"; empty means a person or unknown
	Origins  []Origin // the episodes that it was made of, oldest first
}

// An Origin is the part of an episode that a skill was made of. In the file it is a JSON object; Record.Origins is a list of
// them. A file holds about 10,000.
type Origin struct {
	Trajectory string   `json:"trajectory,omitempty"` // its ID; empty means unknown
	Task       string   `json:"task,omitempty"`       // ID of its task; empty means unknown
	Group      string   `json:"group,omitempty"`      // of its task; empty means none
	Start      int      `json:"start"`                // first step of the span, from 0
	End        int      `json:"end"`                  // the step after the last, at least Start
	Level      Level    `json:"level,omitempty"`      // "task" or "subtask"; empty means unknown
	Reward     *float64 `json:"reward,omitempty"`     // of the episode, finite; nil means unknown
	Inducer    string   `json:"inducer,omitempty"`    // what made the skill of it; empty means a person or unknown
	Tainted    bool     `json:"tainted,omitempty"`    // the scan had doubts about the episode's text
	SHA256     string   `json:"sha256,omitempty"`     // of the trajectory as it was given, as JSON, in hexadecimal digits; empty means unknown
}

// The keys of a Record in the metadata. The prefix keeps clear of a person's own, for example "version: 1.0".
const (
	keyVersion  = "throughline-version"
	keyReplaced = "throughline-replaced"
	keyLevel    = "throughline-level"
	keyFormat   = "throughline-format"
	keyFunction = "throughline-function"
	keyCalls    = "throughline-calls"
	keyInducer  = "throughline-inducer"
	keyOrigins  = "throughline-origins"
)

// ParseRecord returns what the metadata says about the skill; a document without such keys has the zero Record.
//
// The values may have been edited by hand. White space around them is dropped, calls may be separated by commas too and in
// any order, and unknown members of an origin are ignored. What cannot be read is an error that names the key, all of them
// joined; the field of that key is zero then, and the others are filled in.
func (d *Document) ParseRecord() (Record, error) {
	var r Record
	if d == nil {
		return r, errors.New("skill: record: document is nil")
	}
	var errs []error
	// read passes the trimmed value of key, if it is there, to take.
	read := func(key string, take func(s string) error) {
		s, ok := d.Frontmatter.Metadata[key]
		if !ok {
			return
		}
		if err := take(strings.TrimSpace(s)); err != nil {
			errs = append(errs, fmt.Errorf("skill: metadata %s of %.80q is %.80q: %w", key, d.Name(), s, err))
		}
	}
	number := func(dst *int) func(string) error {
		return func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 {
				return errors.New("want a whole number from 1")
			}
			*dst = n
			return nil
		}
	}
	read(keyVersion, number(&r.Version))
	read(keyReplaced, number(&r.Replaced))
	read(keyLevel, func(s string) error {
		if err := checkLevel(Level(s)); err != nil {
			return err
		}
		r.Level = Level(s)
		return nil
	})
	read(keyFormat, func(s string) error {
		switch s {
		case "", FormatText.String():
		case FormatCode.String():
			r.Format = FormatCode
		default:
			return fmt.Errorf("want %q or %q", FormatText, FormatCode)
		}
		return nil
	})
	read(keyFunction, func(s string) error {
		if strings.ContainsFunc(s, separatesCalls) {
			return errors.New("want one identifier")
		}
		r.Function = s
		return nil
	})
	read(keyCalls, func(s string) error {
		if calls := strings.FieldsFunc(s, separatesCalls); len(calls) > 0 {
			r.Calls = sortedSet(calls)
		}
		return nil
	})
	read(keyInducer, func(s string) error { r.Inducer = s; return nil })
	read(keyOrigins, func(s string) error {
		var origins []Origin
		if err := json.Unmarshal([]byte(s), &origins); err != nil {
			return err
		}
		for i, o := range origins {
			if err := o.check(); err != nil {
				return fmt.Errorf("origin %d: %w", i, err)
			}
		}
		if len(origins) > 0 {
			r.Origins = origins
		}
		return nil
	})
	return r, errors.Join(errs...)
}

// SetRecord writes r into the metadata of d and leaves all keys but its own. The map is replaced, not changed, so that
// copies of d keep theirs.
//
// What a file could not hold is an error that joins all such faults, and d is unchanged then: a negative version, a level
// or format that is none, a span that ends before it starts, a reward that is not finite, a text that is not UTF-8, an
// inducer with white space around it, a function or call that is empty, where it must not be, or holds white space or a
// comma, and origins that fill a file. After success [Document.ParseRecord] gives r back, with Calls sorted and each once.
func (d *Document) SetRecord(r Record) error {
	var errs []error
	fault := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("skill: record of %.80q: %s: "+format, append([]any{d.Name(), key}, args...)...))
	}
	m := maps.Clone(d.Frontmatter.Metadata)
	if m == nil {
		m = make(map[string]string)
	}
	set := func(key, value string) {
		if !utf8.ValidString(value) {
			fault(key, "%.80q is not UTF-8", value)
		}
		if value == "" {
			delete(m, key)
		} else {
			m[key] = value
		}
	}
	number := func(key string, n int) {
		switch {
		case n < 0:
			fault(key, "%d is negative", n)
		case n == 0:
			delete(m, key)
		default:
			set(key, strconv.Itoa(n))
		}
	}
	number(keyVersion, r.Version)
	number(keyReplaced, r.Replaced)
	if err := checkLevel(r.Level); err != nil {
		fault(keyLevel, "%.80q: %w", r.Level, err)
	}
	set(keyLevel, string(r.Level))
	switch r.Format {
	case FormatText:
		delete(m, keyFormat)
	case FormatCode:
		set(keyFormat, r.Format.String())
	default:
		fault(keyFormat, "%v is unknown", r.Format)
	}
	if strings.ContainsFunc(r.Function, separatesCalls) {
		fault(keyFunction, "%.80q holds white space or a comma", r.Function)
	}
	set(keyFunction, r.Function)
	for i, c := range r.Calls {
		if c == "" || strings.ContainsFunc(c, separatesCalls) {
			fault(keyCalls, "call %d is %.80q, want a name without white space or comma", i, c)
		}
	}
	set(keyCalls, strings.Join(sortedSet(r.Calls), " "))
	if r.Inducer != strings.TrimSpace(r.Inducer) {
		fault(keyInducer, "%.80q has white space around it", r.Inducer)
	}
	set(keyInducer, r.Inducer)
	if s, err := originsText(r.Origins); err != nil {
		fault(keyOrigins, "%w", err)
	} else {
		set(keyOrigins, s)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(m) == 0 {
		m = nil
	}
	d.Frontmatter.Metadata = m
	return nil
}

// originsText returns the JSON of origins; empty for none.
func originsText(origins []Origin) (string, error) {
	if len(origins) == 0 {
		return "", nil
	}
	for i, o := range origins {
		if err := o.check(); err != nil {
			return "", fmt.Errorf("origin %d: %w", i, err)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the scan must see the texts as they are
	if err := enc.Encode(origins); err != nil {
		return "", err
	}
	if b.Len() > maxFile {
		return "", fmt.Errorf("%d origins take %d bytes, a file has at most %d", len(origins), b.Len(), maxFile)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func (o *Origin) check() error {
	if o.Start < 0 || o.End < o.Start {
		return fmt.Errorf("span [%d, %d) is none", o.Start, o.End)
	}
	if o.Reward != nil && (math.IsNaN(*o.Reward) || math.IsInf(*o.Reward, 0)) {
		return fmt.Errorf("reward %v is not finite", *o.Reward)
	}
	for _, s := range []string{o.Trajectory, o.Task, o.Group, o.Inducer, o.SHA256} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%.80q is not UTF-8", s)
		}
	}
	if err := checkLevel(o.Level); err != nil {
		return fmt.Errorf("level %.80q: %w", o.Level, err)
	}
	return nil
}

func checkLevel(l Level) error {
	switch l {
	case "", LevelTask, LevelSubtask:
		return nil
	}
	return fmt.Errorf("want %q or %q", LevelTask, LevelSubtask)
}

func separatesCalls(r rune) bool { return r == ',' || unicode.IsSpace(r) }

// sortedSet returns the different names, sorted.
func sortedSet(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// digest returns the SHA-256 of the trajectory's JSON, whose maps are sorted; empty if it has none.
func digest(t Trajectory) string {
	b, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
