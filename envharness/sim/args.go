package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

const (
	maxArgs  = 8192 // bytes of arguments in one call
	maxQuote = 64   // characters of a call that a message repeats
)

// Args reads arguments that are one JSON object with exactly the named fields, as the schema of a tool without optional arguments asks.
// Anything else is refused as bad_args, and so are more than 8 kB.
func Args(raw json.RawMessage, names ...string) (map[string]any, *envharness.ActionError) {
	if len(raw) > maxArgs {
		return nil, Refuse(envharness.ClassBadArgs, "arguments of %d bytes are longer than %d", len(raw), maxArgs)
	}
	var args map[string]any
	if len(raw) > 0 { // a log need not tell nil from empty
		if err := json.Unmarshal(raw, &args); err != nil || args == nil {
			return nil, Refuse(envharness.ClassBadArgs, "arguments must be one JSON object")
		}
	}
	for _, name := range names {
		if _, ok := args[name]; !ok {
			return nil, Refuse(envharness.ClassBadArgs, "missing argument %s", name)
		}
	}
	if len(args) > len(names) {
		unknown := ""
		for name := range args { // the first by name, whatever the order of the map
			if !slices.Contains(names, name) && (unknown == "" || name < unknown) {
				unknown = name
			}
		}
		return nil, Refuse(envharness.ClassBadArgs, "unknown argument %q", Clip(unknown))
	}
	return args, nil
}

// StringArg reads arguments that are one JSON object with the one named field, a string; see [Args]. The usual form, without spaces and
// escapes, takes no allocation but the string.
func StringArg(raw json.RawMessage, name string) (string, *envharness.ActionError) {
	if s, ok := plainArg(raw, name); ok {
		return s, nil
	}
	args, refusal := Args(raw, name)
	if refusal != nil {
		return "", refusal
	}
	s, ok := args[name].(string)
	if !ok {
		return "", Refuse(envharness.ClassBadArgs, "argument %s must be a string", name)
	}
	return s, nil
}

// plainArg reads {"name":"value"} where name and value are ASCII without escapes.
func plainArg(raw []byte, name string) (string, bool) {
	const frame = len(`{"":""}`)
	if len(raw) < frame+len(name) || len(raw) > maxArgs || string(raw[:2]) != `{"` || string(raw[2:2+len(name)]) != name ||
		string(raw[2+len(name):5+len(name)]) != `":"` || string(raw[len(raw)-2:]) != `"}` {
		return "", false
	}
	value := raw[5+len(name) : len(raw)-2]
	if !plain(name) || !plain(value) {
		return "", false
	}
	return string(value), true
}

// plain reports whether s stands in JSON as it is.
func plain[S string | []byte](s S) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Refuse makes a refusal.
func Refuse(class envharness.ErrorClass, format string, args ...any) *envharness.ActionError {
	return &envharness.ActionError{Class: class, Message: fmt.Sprintf(format, args...)}
}

// Clip shortens what somebody sent before it is quoted, to 64 characters, and makes it valid UTF-8, as whatever is shown must be.
func Clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxQuote {
			s = s[:i] + "..."
			break
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
