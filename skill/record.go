package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Record is what is known about a skill beyond its text: where it comes from and, for code, how it is called. It is kept
// in the metadata of its SKILL.md file, one key per field with the prefix "throughline-", so that it goes wherever the
// file goes. [Document.Record] reads it and [Document.SetRecord] writes it; [Induce] and a memory fill it in.
type Record struct {
	Version  int      // of the skill in its memory, from 1; 0 means that it is in none
	Level    Level    // empty means unknown
	Format   Format   // of the body
	Function string   // code: the identifier of the function; empty for text
	Calls    []string // code: the functions that it calls, sorted; those of the standard library and of the environment too
	Inducer  string   // what made the skill, for example "rules-1"; empty means a person or unknown
	Origins  []Origin // the episodes that it was made of, oldest first
}

// An Origin is the part of an episode that a skill was made of.
type Origin struct {
	Trajectory string   `json:"trajectory,omitempty"` // its ID
	Task       string   `json:"task,omitempty"`       // ID of its task
	Group      string   `json:"group,omitempty"`      // of its task
	Start      int      `json:"start"`                // the span
	End        int      `json:"end"`
	Level      Level    `json:"level"`
	Reward     *float64 `json:"reward,omitempty"`  // of the episode; nil means unknown
	Inducer    string   `json:"inducer,omitempty"` // what made the skill of it
	Tainted    bool     `json:"tainted,omitempty"` // the scan had doubts about the episode's text
	SHA256     string   `json:"sha256,omitempty"`  // of the trajectory as JSON, in hexadecimal digits
	Replaced   int      `json:"replaced,omitempty"`
}

const (
	recordPrefix  = "throughline-"
	keyVersion    = recordPrefix + "version"
	keyLevel      = recordPrefix + "level"
	keyFormat     = recordPrefix + "format"
	keyFunction   = recordPrefix + "function"
	keyCalls      = recordPrefix + "calls"
	keyInducer    = recordPrefix + "inducer"
	keyOrigins    = recordPrefix + "origins"
	formatCodeKey = "code"
)

// Record returns what the metadata says about the skill. A document without such keys has the zero Record. A value that
// cannot be read is an error that names its key; the other fields are filled in then.
func (d *Document) Record() (Record, error) {
	var r Record
	var err error
	m := d.Frontmatter.Metadata
	bad := func(key string, e error) {
		if err == nil {
			err = fmt.Errorf("skill: metadata %s of %q is %.80q: %w", key, d.Name(), m[key], e)
		}
	}
	if s, ok := m[keyVersion]; ok {
		n, e := strconv.Atoi(s)
		if e == nil && n < 1 {
			e = fmt.Errorf("want at least 1")
		}
		if e != nil {
			n = 0
			bad(keyVersion, e)
		}
		r.Version = n
	}
	switch l := Level(m[keyLevel]); l {
	case "", LevelTask, LevelSubtask:
		r.Level = l
	default:
		bad(keyLevel, fmt.Errorf("want %q or %q", LevelTask, LevelSubtask))
	}
	switch m[keyFormat] {
	case "", "text":
	case formatCodeKey:
		r.Format = FormatCode
	default:
		bad(keyFormat, fmt.Errorf("want text or code"))
	}
	r.Function, r.Inducer = m[keyFunction], m[keyInducer]
	r.Calls = strings.Fields(m[keyCalls])
	if s, ok := m[keyOrigins]; ok {
		if e := json.Unmarshal([]byte(s), &r.Origins); e != nil {
			r.Origins = nil
			bad(keyOrigins, e)
		}
	}
	return r, err
}

// SetRecord writes r into the metadata of d and leaves its other keys; a zero field has no key. The map is replaced, not
// changed, so that copies of d keep theirs.
func (d *Document) SetRecord(r Record) {
	m := maps.Clone(d.Frontmatter.Metadata)
	maps.DeleteFunc(m, func(k, _ string) bool { return strings.HasPrefix(k, recordPrefix) })
	set := func(key, value string) {
		if value == "" {
			return
		}
		if m == nil {
			m = make(map[string]string)
		}
		m[key] = value
	}
	if r.Version != 0 {
		set(keyVersion, strconv.Itoa(r.Version))
	}
	set(keyLevel, string(r.Level))
	if r.Format == FormatCode {
		set(keyFormat, formatCodeKey)
	}
	set(keyFunction, r.Function)
	set(keyCalls, strings.Join(slices.Sorted(slices.Values(r.Calls)), " "))
	set(keyInducer, r.Inducer)
	if len(r.Origins) > 0 {
		b, err := json.Marshal(r.Origins)
		if err == nil { // a reward that is not finite has no JSON
			set(keyOrigins, string(b))
		}
	}
	if len(m) == 0 {
		m = nil
	}
	d.Frontmatter.Metadata = m
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
