package diagnosis

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// maxDepth bounds the nesting of values, so that a cyclic one does no harm.
const maxDepth = 1000

// appendValue writes a JSON value so that equal ones give equal bytes. What is no JSON is written as its type. It reports whether the value
// was within the depth; what follows a place that is deeper is left out.
func appendValue(b []byte, v any, depth int) ([]byte, bool) {
	if depth > maxDepth {
		return append(b, '?'), false
	}
	ok := true
	switch v := v.(type) {
	case map[string]any:
		b = append(b, '{')
		for _, k := range sortedKeys(v) {
			b = append(strconv.AppendQuote(b, k), ':')
			if b, ok = appendValue(b, v[k], depth+1); !ok {
				return b, false
			}
			b = append(b, ',')
		}
		return append(b, '}'), true
	case []any:
		b = append(b, '[')
		for _, item := range v {
			if b, ok = appendValue(b, item, depth+1); !ok {
				return b, false
			}
			b = append(b, ',')
		}
		return append(b, ']'), true
	case string:
		return strconv.AppendQuote(b, v), true
	case nil:
		return append(b, "null"...), true
	case bool:
		return strconv.AppendBool(b, v), true
	}
	if n, ok := number(v); ok {
		return append(b, n...), true
	}
	return fmt.Appendf(b, "%T", v), true
}

// number writes a number without its sign in one form. What is no number is not ok.
func number(v any) (string, bool) {
	switch v := v.(type) {
	case float64:
		return numeral(v), true
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			return strings.TrimPrefix(string(v), "-"), true // an integer of any size
		}
		f, err := v.Float64()
		if err != nil {
			return string(v), true
		}
		return numeral(f), true
	}
	return "", false
}

func numeral(f float64) string {
	format := byte('f')
	if f = math.Abs(f); f >= 1e21 {
		format = 'e'
	}
	return strconv.FormatFloat(f, format, -1, 64)
}

// walk calls visit for every value below v, itself included, in the order of keys, with the name of its field, empty outside objects, the
// object that it is a field of, if any, and its place. It reports false if the value is nested too deep, and then leaves out the rest.
func walk(v any, visit func(field, place string, in map[string]any, v any)) bool {
	return walkAt(v, "", "", nil, 0, visit)
}

func walkAt(v any, field, place string, in map[string]any, depth int, visit func(field, place string, in map[string]any, v any)) bool {
	if depth > maxDepth {
		return false
	}
	visit(field, place, in, v)
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if !walkAt(v[k], k, place+"/"+k, v, depth+1, visit) {
				return false
			}
		}
	case []any:
		for i, item := range v {
			if !walkAt(item, field, place+"/"+strconv.Itoa(i), in, depth+1, visit) {
				return false
			}
		}
	}
	return true
}

// shownValues returns the JSON values of what turn i showed: the data, and the text if it is an object or a list.
func (e *episode) shownValues(i int) []any {
	if e.values == nil {
		e.values = make([][]any, len(e.turns))
		for k, u := range e.turns {
			e.values[k] = jsonOf(&e.trace.Turns[u.at].Shown.Observation)
		}
	}
	return e.values[i]
}

func jsonOf(o *envharness.Observation) []any {
	values := []any{nil, nil} // the data and the text each have their place
	if o.Data != nil {
		values[0] = o.Data
	}
	if text := strings.TrimLeft(o.Text, " \t\r\n"); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if dec.Decode(&values[1]) != nil {
			values[1] = nil
		}
	}
	return values
}
