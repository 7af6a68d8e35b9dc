package components

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// maxNesting bounds the nesting of a specification and of parameters; more than anybody writes, less than what hurts.
const maxNesting = 200

// DecodeParams decodes the parameters of a component or world into a T, for the New of a [Kind] and for [Registry.AddWorld]; nil and empty
// are the empty object. Where encoding/json is lenient it is not: keys are known, in their exact case and given once, null is no value,
// nothing follows, and no number is rounded. A key that is no field of T is an [ErrUnknownParam]. An error begins with the place, a JSON
// pointer, where it has one. A type with an UnmarshalJSON of its own checks for itself. What is out of range is for the caller to see.
func DecodeParams[T any](raw json.RawMessage) (T, error) {
	var params T
	if len(bytes.TrimSpace(raw)) == 0 {
		return params, nil
	}
	v, err := parse(raw)
	if err != nil {
		return params, err
	}
	if err := (shape{unknown: ErrUnknownParam}).check(v, reflect.TypeFor[T]()); err != nil {
		return params, err
	}
	err = decodeCanonical(v, &params)
	return params, err
}

var errNoObject = errors.New("not a JSON object")

// decodeCanonical decodes what parse read. It goes through the canonical form, so that 7.0 and 7e0 are the integer 7.
func decodeCanonical(v, into any) error {
	raw, err := envharness.CanonicalJSON(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// A placeError is an error at a place in a JSON value.
type placeError struct {
	place string // a JSON pointer
	err   error
}

// Error shows the ends of a place that is too long to read.
func (e *placeError) Error() string {
	const limit = 300
	place := e.place
	if len(place) > limit {
		place = strings.ToValidUTF8(place[:limit/2], "") + "..." + strings.ToValidUTF8(place[len(place)-limit/2:], "")
	}
	return place + ": " + e.err.Error()
}

func (e *placeError) Unwrap() error { return e.err }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// under moves the place of an error below a step.
func under(step string, err error) error {
	if err == nil {
		return nil
	}
	step = "/" + pointerEscapes.Replace(shorten(step))
	if p, ok := err.(*placeError); ok { // not errors.As: only what stands outermost is a place in this value
		return &placeError{step + p.place, p.err}
	}
	return &placeError{step, err}
}

// shorten keeps errors and sentences readable whatever the keys are.
func shorten(s string) string { return shortened(s, 80) }

func shortened(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "..."
}

// parse reads the one JSON value of data, numbers as json.Number. Nested deeper than maxNesting, a key given twice, a number beyond the
// range of a float64 and text that is not UTF-8 are errors.
func parse(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	var whole json.RawMessage // finds what is wrong with the syntax, and what follows the value
	if err := json.Unmarshal(data, &whole); err != nil {
		if s, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("byte %d: %w", s.Offset, err)
		}
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return parseValue(dec, 1)
}

func parseValue(dec *json.Decoder, depth int) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if depth > maxNesting {
			return nil, fmt.Errorf("nested deeper than %d", maxNesting)
		}
		if tok == '[' {
			return parseArray(dec, depth)
		}
		return parseObject(dec, depth)
	case json.Number:
		if _, err := strconv.ParseFloat(tok.String(), 64); err != nil {
			return nil, fmt.Errorf("number %s is out of range", shorten(tok.String()))
		}
	}
	return tok, nil
}

func parseArray(dec *json.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, under(strconv.Itoa(len(list)), err)
		}
		list = append(list, v)
	}
	_, err := dec.Token() // the bracket
	return list, err
}

func parseObject(dec *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string) // the syntax was checked
		if _, twice := object[key]; twice {
			return nil, under(key, errors.New("the key is given twice"))
		}
		if object[key], err = parseValue(dec, depth+1); err != nil {
			return nil, under(key, err)
		}
	}
	_, err := dec.Token() // the brace
	return object, err
}

// A shape compares a parsed value with the Go type that it is to be decoded into, for all that encoding/json lets pass.
type shape struct {
	unknown error // for a key that is no field
	full    bool  // every field must be there, but those with omitempty, and those must not be empty: there is one way to write a value
}

func (s shape) check(v any, t reflect.Type) error {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil // it checks for itself
	}
	if t.Kind() == reflect.Interface {
		return checkNumbers(v)
	}
	if v == nil {
		return errors.New("null is no value")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.check(v, t.Elem())
	case reflect.Struct:
		object, ok := v.(map[string]any)
		if !ok {
			return errNoObject
		}
		return s.checkStruct(object, t)
	case reflect.Slice, reflect.Array, reflect.Map:
		return eachMember(v, func(member any) error { return s.check(member, t.Elem()) })
	}
	return nil // encoding/json sees to the rest
}

func (s shape) checkStruct(object map[string]any, t reflect.Type) error {
	fields := fieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		f, known := fields[key]
		if !known {
			return under(key, s.unknown)
		}
		if err := s.check(object[key], f.typ); err != nil {
			return under(key, err)
		}
		if s.full && f.optional && empty(object[key], f.typ) {
			return under(key, errors.New("empty: leave it out"))
		}
	}
	if !s.full {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if _, ok := object[key]; !ok && !fields[key].optional {
			return under(key, errors.New("missing"))
		}
	}
	return nil
}

// empty reports whether omitempty leaves out the value of a field of type t. It keeps numbers behind a pointer, and raw values.
func empty(v any, t reflect.Type) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case json.Number:
		f, err := v.Float64()
		return err == nil && f == 0 && t.Kind() != reflect.Pointer
	}
	return false
}

// checkNumbers refuses integers that a float64 cannot hold.
func checkNumbers(v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return eachMember(v, checkNumbers)
	}
	f, err := n.Float64()
	if err != nil || strings.ContainsAny(n.String(), ".eE") {
		return err
	}
	if s := strconv.FormatFloat(f, 'f', -1, 64); s != n.String() && n != "-0" {
		return fmt.Errorf("number %s would be rounded to %s", shorten(n.String()), shorten(s))
	}
	return nil
}

// eachMember calls check with the members of an array or object, and says where one fails. Other values have none.
func eachMember(v any, check func(member any) error) error {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if err := check(e); err != nil {
				return under(strconv.Itoa(i), err)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := check(v[key]); err != nil {
				return under(key, err)
			}
		}
	}
	return nil
}

type field struct {
	typ      reflect.Type
	optional bool
}

// fieldsOf returns the fields of a struct by their names in JSON, those of embedded structs among them.
func fieldsOf(t reflect.Type) map[string]field {
	fields := make(map[string]field)
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-" || f.Anonymous && name == "":
			continue
		case name == "":
			name = f.Name
		}
		fields[name] = field{f.Type, options == "omitempty" || options == "omitzero"}
	}
	return fields
}
