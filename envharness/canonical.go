package envharness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of JSON values, so that a cyclic map is an error and not a crash.
const maxDepth = 1000

// CanonicalJSON returns the one byte form of v that hashes and comparisons use: keys sorted by bytes, no spaces, no HTML escaping,
// shortest float form, integers without exponent, UTF-8 (an invalid byte becomes U+FFFD). Of repeated keys the last one counts.
//
// JSON values as in [Observation].Data are written directly; anything else, such as a struct or a json.RawMessage, passes through
// encoding/json first. What is not JSON (NaN, infinity, funcs, nesting deeper than 1000) is an error.
func CanonicalJSON(v any) ([]byte, error) {
	b, err := appendCanonical(nil, v, 0)
	if err != nil {
		return nil, fmt.Errorf("envharness: canonical JSON: %w", err)
	}
	return b, nil
}

func appendCanonical(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case float64:
		return appendFloat(b, v)
	case json.Number:
		return appendNumber(b, v.String())
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendCanonical(b, e, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if slices.ContainsFunc(keys, func(k string) bool { return !utf8.ValidString(k) }) {
			valid := make(map[string]any, len(v)) // two keys may become one, and the order may change
			for _, k := range keys {
				valid[string([]rune(k))] = v[k]
			}
			return appendCanonical(b, valid, depth)
		}
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k), ':')
			var err error
			if b, err = appendCanonical(b, v[k], depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // integers beyond 2^53, such as seeds, must survive
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return nil, err
	}
	return appendCanonical(b, plain, depth)
}

func appendNumber(b []byte, s string) ([]byte, error) {
	if !strings.ContainsAny(s, ".eE") {
		if s == "-0" {
			s = "0"
		}
		if strings.Trim(s, "-0123456789") != "" || !json.Valid([]byte(s)) {
			return nil, fmt.Errorf("%q is not a number", s)
		}
		return append(b, s...), nil
	}
	if !json.Valid([]byte(s)) { // ParseFloat reads more than JSON allows
		return nil, fmt.Errorf("%q is not a number", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, err
	}
	return appendFloat(b, f)
}

func appendFloat(b []byte, f float64) ([]byte, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil, fmt.Errorf("%v is not a JSON number", f)
	case f == 0:
		return append(b, '0'), nil // also for -0
	case math.Abs(f) < 1e-6: // the limit of ECMAScript and encoding/json
		b = strconv.AppendFloat(b, f, 'e', -1, 64)
		if n := len(b); b[n-2] == '0' && b[n-3] == '-' { // e-07 is longer than e-7
			b = append(b[:n-2], b[n-1])
		}
		return b, nil
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64), nil
}

func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s { // an invalid byte arrives as utf8.RuneError
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
