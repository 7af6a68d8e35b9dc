package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schematest"
	"pgregory.net/rapid"
)

// An oracle is the validator written down as the rules stand: on what encoding/json reads, with rational numbers, without bounds, caches or
// compilation.
type oracle struct{ root any }

var errEndless = errors.New("recursion without end")

func number(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// plain replaces numbers by comparable text.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return [1]string{number(v).RatString()}
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, plain(e))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	}
	return v
}

func equal(a, b any) bool { return reflect.DeepEqual(plain(a), plain(b)) }

func hasType(word, v any) bool {
	switch v := v.(type) {
	case nil:
		return word == "null"
	case bool:
		return word == "boolean"
	case string:
		return word == "string"
	case []any:
		return word == "array"
	case map[string]any:
		return word == "object"
	default:
		return word == "number" || word == "integer" && number(v).IsInt()
	}
}

func (o oracle) valid(schema, v any, depth int) bool {
	if depth > 200 {
		panic(errEndless)
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return schema != false
	}
	sub := func(schema, v any) bool { return o.valid(schema, v, depth+1) }
	count := func(schemas any, v any) (n, of int) {
		list, _ := schemas.([]any)
		for _, x := range list {
			if sub(x, v) {
				n++
			}
		}
		return n, len(list)
	}
	isSchema := func(x any) bool {
		_, isMap := x.(map[string]any)
		_, isBool := x.(bool)
		return isMap || isBool
	}
	size := func(least, most string, n int) bool {
		for key, sign := range map[string]int{least: 1, most: -1} {
			if k := number(s[key]); k != nil && k.IsInt() && k.Sign() >= 0 && k.Cmp(big.NewRat(int64(n), 1))*sign > 0 {
				return false
			}
		}
		return true
	}
	known := []any{}
	switch t := s["type"].(type) {
	case string:
		known = append(known, t)
	case []any:
		known = append(known, t...)
	}
	words := []any{"null", "boolean", "string", "array", "object", "number", "integer"}
	known = slices.DeleteFunc(known, func(w any) bool { return !slices.Contains(words, w) })
	if len(known) > 0 && !slices.ContainsFunc(known, func(w any) bool { return hasType(w, v) }) {
		return false
	}
	if e, _ := s["enum"].([]any); len(e) > 0 && !slices.ContainsFunc(e, func(x any) bool { return equal(x, v) }) {
		return false
	}
	if c, ok := s["const"]; ok && !equal(c, v) {
		return false
	}
	if ref, ok := s["$ref"].(string); ok {
		target := o.root
		for part := range strings.SplitSeq(ref, "/") {
			if part != "#" {
				target = target.(map[string]any)[part]
			}
		}
		if !sub(target, v) {
			return false
		}
	}
	if n, of := count(s["allOf"], v); n != of {
		return false
	}
	if n, of := count(s["anyOf"], v); of > 0 && n == 0 {
		return false
	}
	if n, of := count(s["oneOf"], v); of > 0 && n != 1 {
		return false
	}
	if not, ok := s["not"]; ok && isSchema(not) && sub(not, v) {
		return false
	}
	switch v := v.(type) {
	case json.Number:
		x := number(v)
		for key, bad := range map[string]func(int) bool{"minimum": func(c int) bool { return c < 0 }, "maximum": func(c int) bool { return c > 0 },
			"exclusiveMinimum": func(c int) bool { return c <= 0 }, "exclusiveMaximum": func(c int) bool { return c >= 0 }} {
			if b := number(s[key]); b != nil && bad(x.Cmp(b)) {
				return false
			}
		}
		if m := number(s["multipleOf"]); m != nil && m.Sign() > 0 && !new(big.Rat).Quo(x, m).IsInt() {
			return false
		}
	case string:
		if !size("minLength", "maxLength", utf8.RuneCountInString(v)) {
			return false
		}
		if p, ok := s["pattern"].(string); ok {
			if re, err := regexp.Compile(p); err == nil && !re.MatchString(v) {
				return false
			}
		}
	case []any:
		if !size("minItems", "maxItems", len(v)) {
			return false
		}
		prefix, _ := s["prefixItems"].([]any)
		for i, e := range v {
			item, ok := s["items"]
			if i < len(prefix) {
				item, ok = prefix[i], true
			}
			if ok && isSchema(item) && !sub(item, e) {
				return false
			}
			if s["uniqueItems"] == true && slices.ContainsFunc(v[:i], func(x any) bool { return equal(x, e) }) {
				return false
			}
		}
	case map[string]any:
		if !size("minProperties", "maxProperties", len(v)) {
			return false
		}
		required, _ := s["required"].([]any)
		for _, name := range required {
			if name, ok := name.(string); ok {
				if _, ok := v[name]; !ok {
					return false
				}
			}
		}
		props, _ := s["properties"].(map[string]any)
		patterns, _ := s["patternProperties"].(map[string]any)
		for k, e := range v {
			if names, ok := s["propertyNames"]; ok && isSchema(names) && !sub(names, k) {
				return false
			}
			p, spoken := props[k]
			if spoken && !sub(p, e) {
				return false
			}
			for pattern, p := range patterns {
				re, err := regexp.Compile(pattern)
				if err != nil {
					spoken = true
				} else if re.MatchString(k) {
					spoken = true
					if !sub(p, e) {
						return false
					}
				}
			}
			if rest, ok := s["additionalProperties"]; ok && isSchema(rest) && !spoken && !sub(rest, e) {
				return false
			}
		}
	}
	return true
}

func decode(text string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

func value(depth int) *rapid.Generator[any] {
	scalars := rapid.SampledFrom([]any{nil, true, false, 0, 1, 2, 3, -1, 1.0, 2.5, 0.5, "a", "abab", "", "b", "日本"})
	if depth == 0 {
		return scalars
	}
	return rapid.OneOf(scalars, rapid.SliceOfN(value(depth-1), 0, 3).AsAny(),
		rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "type", "d"}), value(depth-1), 0, 4).AsAny())
}

// The validator agrees with the rules as they stand, on any schema and value, and says where it lists faults what it says without.
func TestSchemaAgreesWithOracle(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		raw := toJSON(schematest.Schema(3).Draw(t, "schema"))
		s, err := CompileRaw([]byte(raw))
		if err != nil {
			return
		}
		for range 8 {
			text := toJSON(value(3).Draw(t, "value"))
			want, endless := false, false
			func() {
				defer func() { endless = recover() == errEndless }()
				root := decode(raw)
				want = oracle{root}.valid(root, decode(text), 0)
			}()
			if endless {
				continue
			}
			v, err := jsonval.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Accepts(&v); got != want {
				t.Fatalf("%s with %s: %v, want %v", raw, text, got, want)
			}
			if faults := s.Faults(&v); (faults == nil) != want {
				t.Fatalf("%s with %s: faults %v, want some: %v", raw, text, faults, !want)
			}
			if want {
				accepted++
			}
		}
	})
	if accepted == 0 {
		t.Error("no value was accepted")
	}
}

func BenchmarkAccepts(b *testing.B) {
	s, err := CompileRaw([]byte(`{"type":"object","properties":{"city":{"type":"string","minLength":1},"units":{"type":"string","enum":["metric","imperial"]},
		"days":{"type":"integer","minimum":1,"maximum":16},"near":{"type":"array","items":{"type":"number"},"maxItems":2}},"required":["city"],"additionalProperties":false}`))
	if err != nil {
		b.Fatal(err)
	}
	v, err := jsonval.Parse([]byte(`{"city":"Zürich","units":"metric","days":7,"near":[47.37,8.54]}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if s.Faults(&v) != nil {
			b.Fatal("refused")
		}
	}
}
