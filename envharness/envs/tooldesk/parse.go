package tooldesk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness/sim"
)

// A value is a validated argument; the zero value stands for an absent optional one. Its bytes may be those of the action: they are not kept.
type value struct {
	s []byte
	n int
}

// inputs are the arguments of a call in the order of params.
type inputs [3]value

// parse validates the arguments of a call. It returns the rule that they break, or "".
func (t *tool) parse(raw json.RawMessage, in *inputs) string {
	if len(raw) > maxArgs {
		return fmt.Sprintf("arguments of %d bytes are longer than %d", len(raw), maxArgs)
	}
	if t.parsePlain(raw, in) {
		return ""
	}
	return t.parseJSON(raw, in)
}

// parseJSON is parse for all that is not written plainly.
func (t *tool) parseJSON(raw json.RawMessage, in *inputs) string {
	*in = inputs{}
	var given map[string]any
	if len(raw) > 0 { // a log need not tell nil from empty
		if err := json.Unmarshal(raw, &given); err != nil || given == nil {
			return "arguments must be one JSON object"
		}
	}
	known := 0
	for i := range t.params {
		p := &t.params[i]
		v, ok := given[p.name]
		if !ok {
			if !p.optional {
				return "missing argument " + p.name
			}
			continue
		}
		known++
		var rule string
		if in[i], rule = p.check(v); rule != "" {
			return "argument " + p.name + " " + rule
		}
	}
	if known < len(given) {
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
				return fmt.Sprintf("unknown argument %q", sim.Clip(name))
			}
		}
	}
	return ""
}

// parsePlain reads arguments that are written as candidate calls are, which most are: in the order of params, without spaces, escapes or
// fractions. For others, and for arguments that break a rule, it is false and says nothing.
func (t *tool) parsePlain(raw json.RawMessage, in *inputs) bool {
	*in = inputs{}
	rest, mark := []byte(raw), byte('{')
	for i := range t.params {
		p := &t.params[i]
		if len(rest) < len(p.name)+4 || rest[0] != mark {
			return p.optional && i > 0 && i == len(t.params)-1 && string(rest) == "}"
		}
		end := 2 + len(p.name)
		if rest[1] != '"' || string(rest[2:end]) != p.name || rest[end] != '"' || rest[end+1] != ':' {
			return false
		}
		var ok bool
		if rest, ok = p.readPlain(rest[end+2:], &in[i]); !ok {
			return false
		}
		mark = ','
	}
	return string(rest) == "}"
}

// readPlain reads one argument that keeps the rules, and returns what comes after it.
func (p *param) readPlain(b []byte, v *value) (rest []byte, ok bool) {
	if p.integer {
		n := 0
		for n < len(b) && n < len("999999999") && '0' <= b[n] && b[n] <= '9' {
			v.n = 10*v.n + int(b[n]-'0')
			n++
		}
		return b[n:], n > 0 && b[0] != '0' && v.n <= p.max && v.n%p.multiple == 0
	}
	if len(b) == 0 || b[0] != '"' {
		return nil, false
	}
	n := bytes.IndexByte(b[1:], '"')
	if n < 1 || n > p.max && p.enum == nil || !plain(b[1:n+1]) {
		return nil, false
	}
	v.s, rest = b[1:n+1], b[n+2:]
	if p.enum == nil {
		return rest, true
	}
	if slices.Contains(p.enum, string(v.s)) {
		return rest, true
	}
	return nil, false
}

// check returns the validated argument, or the rule that it breaks.
func (p *param) check(v any) (value, string) {
	if p.integer {
		f, ok := v.(float64)
		if !ok || f != math.Trunc(f) {
			return value{}, "must be an integer"
		}
		if f < 1 || f > float64(p.max) {
			return value{}, fmt.Sprintf("must be from 1 to %d", p.max)
		}
		if int(f)%p.multiple != 0 {
			return value{}, fmt.Sprintf("must be a multiple of %d", p.multiple)
		}
		return value{n: int(f)}, ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		return value{}, "must be a string"
	case p.enum != nil:
		if !slices.Contains(p.enum, s) {
			return value{}, "must be one of: " + strings.Join(p.enum, ", ")
		}
	case s == "":
		return value{}, "must not be empty"
	case utf8.RuneCountInString(s) > p.max:
		return value{}, fmt.Sprintf("must not be longer than %d characters", p.max)
	}
	return value{s: []byte(s)}, ""
}
