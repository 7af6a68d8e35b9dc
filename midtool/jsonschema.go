package midtool

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/throughline-go/throughline/midtool/internal/draw"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// A Schema is a compiled JSON Schema, made by [CompileSchema]: the engine with which [Validate] checks arguments and
// results. It is safe for concurrent use. The keywords that it knows are
//
//   - of any value: type, enum, const, anyOf, oneOf, allOf, not, $ref, and true and false in place of a schema;
//   - of objects: properties, patternProperties, additionalProperties, propertyNames, required, minProperties,
//     maxProperties;
//   - of arrays: items, prefixItems, minItems, maxItems, uniqueItems;
//   - of strings: minLength and maxLength, which count code points, and pattern, in the syntax of Go;
//   - of numbers: minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, all without rounding.
//
// All others refuse nothing, format among them, and neither does a keyword whose value is of the wrong kind. 5.0 is an
// integer, and 1 equals 1.0. A pattern outside Go's syntax is skipped; see [Schema.Unchecked]. Keywords of older drafts
// (nullable, a list of items) mean what they should after [Normalize].
type Schema struct{ s *schema.Schema }

// CompileSchema reads a schema: an object, true or false. References lead to any place in the same document, $defs or
// not, and may be recursive; unused definitions are read too. The error is a [*Rejection] with reason bad_schema (no
// JSON or no schema), too_deep (more than 64 levels of JSON, or references nested deeper than 512), remote_ref (a
// reference leaves the document) or bad_ref (it leads nowhere, or there are more than 4,096).
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	s, err := schema.CompileRaw(raw)
	if fault, ok := errors.AsType[*schema.Error](err); ok {
		return nil, &Rejection{Reason: fault.Reason, Detail: fault.Detail}
	}
	return &Schema{s}, err
}

// Check lists how a value breaks the schema, in the order of the schema: at most 32 violations, nil for a valid value.
// The Rule is the keyword that refuses the value, "false" where no value is allowed, "json" for what is no JSON, or is
// nested deeper than 64 levels, and "$ref" where a check would not end or would take too many steps. The Path is a JSON
// Pointer into the value. Branches of anyOf, oneOf and not count as a whole.
func (s *Schema) Check(value json.RawMessage) []Violation {
	v, err := jsonval.Parse(value)
	if err != nil {
		return []Violation{{Rule: "json", Detail: err.Error()}}
	}
	var found []Violation
	for _, f := range s.s.Faults(&v) {
		found = append(found, Violation{Rule: f.Keyword, Path: f.Path, Detail: clipped(f.Detail)})
	}
	return found
}

// Unchecked returns the first pattern outside Go's syntax, which [Schema.Check] passes over; empty if there is none.
func (s *Schema) Unchecked() string { return s.s.Unsupported }

// Instance makes a value that [Schema.Check] accepts. It prefers const, enum and examples, then follows formats,
// patterns and bounds, and else chooses by the name and the description of a property from built-in tables. The name is
// that of the value; like the seed it decides which choices are made, and equal ones give equal bytes. Optional members
// come with probability one half; if that makes nothing that is valid, with all of them, and then with none.
//
// The search is bounded and not complete. The error is a [*Rejection] with reason pattern_unsupported if it found nothing
// and the schema has a pattern outside Go's syntax, which is the Detail, and else with reason no_value: keywords that
// exclude each other or can hardly be met together, required members that have no schema, a format "binary", a recursion
// that must go on, or a "not".
func (s *Schema) Instance(seed uint64, name string) (json.RawMessage, error) {
	d := draw.New(seed, "instance", name)
	for _, optional := range []float64{0.5, 1, 0} {
		m := schema.Maker{D: d, Optional: optional}
		if v, ok := m.Value(s.s, name, 0); ok && v.Depth() <= jsonval.MaxDepth { // an example may be as deep as the document
			return v.Bytes(jsonval.Compact), nil
		}
	}
	if p := s.Unchecked(); p != "" {
		return nil, &Rejection{Reason: "pattern_unsupported", Detail: p}
	}
	return nil, &Rejection{Reason: "no_value", Detail: "none found for " + strconv.Quote(name)}
}
