package envtest

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// A schema is the part of JSON Schema that values are drawn from: type, enum, const, bounds, required and optional properties, items.
// Other keywords are ignored, so a value may break them.
type schema struct {
	Type       oneOrMore         `json:"type"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	MinItems   int               `json:"minItems"`
	MaxItems   *int              `json:"maxItems"`
	MinLength  int               `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
}

// oneOrMore reads a string or a list of strings.
type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMore) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(o))
}

// deepest bounds the nesting of values.
const deepest = 8

// value draws a JSON value.
func (s schema) value(r *rand.Rand, depth int) any {
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[r.IntN(len(s.Enum))]
	case depth > deepest:
		return nil
	}
	kind := "string"
	switch {
	case len(s.Type) > 0:
		kind = s.Type[r.IntN(len(s.Type))]
	case s.Properties != nil:
		kind = "object"
	}
	switch kind {
	case "object":
		return s.object(r, depth)
	case "array":
		return s.array(r, depth)
	case "integer":
		low, high := s.bounds()
		low, high = math.Ceil(low), math.Floor(high)
		return low + math.Floor(r.Float64()*(max(high-low, 0)+1))
	case "number":
		low, high := s.bounds()
		return low + r.Float64()*max(high-low, 0)
	case "boolean":
		return r.IntN(2) == 0
	case "null":
		return nil
	}
	return s.text(r)
}

// bounds returns the least and the largest number. Where the schema gives but one of them, the other is 10 away.
func (s schema) bounds() (low, high float64) {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return *s.Minimum, *s.Maximum
	case s.Minimum != nil:
		return *s.Minimum, *s.Minimum + 10
	case s.Maximum != nil:
		return *s.Maximum - 10, *s.Maximum
	}
	return 0, 10
}

// object draws all required properties and each other one with probability 1/2.
func (s schema) object(r *rand.Rand, depth int) map[string]any {
	out := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || r.IntN(2) == 0 {
			out[name] = s.Properties[name].value(r, depth+1)
		}
	}
	return out
}

func (s schema) array(r *rand.Rand, depth int) []any {
	most := s.MinItems + 3
	if s.MaxItems != nil {
		most = max(*s.MaxItems, s.MinItems)
	}
	out := make([]any, s.MinItems+r.IntN(min(most-s.MinItems, 3)+1))
	for i := range out {
		if s.Items != nil {
			out[i] = s.Items.value(r, depth+1)
		}
	}
	return out
}

func (s schema) text(r *rand.Rand) string {
	most := s.MinLength + 8
	if s.MaxLength != nil {
		most = max(min(most, *s.MaxLength), s.MinLength)
	}
	b := make([]byte, s.MinLength+r.IntN(most-s.MinLength+1))
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789 -"[r.IntN(38)]
	}
	return string(b)
}
