// Package schematest makes JSON Schemas for property tests, valid and broken ones.
package schematest

import "pgregory.net/rapid"

// Schema draws schemas as strangers write them: right, wrong and in other dialects.
func Schema(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 19).Draw(t, "odd") == 0 {
			return rapid.SampledFrom([]any{true, false, nil, "string", 5, []any{}}).Draw(t, "no schema")
		}
		s := map[string]any{}
		words := []any{"string", "integer", "number", "boolean", "array", "object", "null", "int", "List[int]", "Optional[str]", "Dict[str,any]",
			"Union[int,List[str]]", "date", "tuple[int,str]", "banana", "str, optional", "set", "int | None", "Map<str, int>", 7, []any{"string", "null"}, []any{"int", "any"}, []any{"date", "null"}, []any{}}
		if rapid.IntRange(0, 3).Draw(t, "typed") > 0 {
			s["type"] = rapid.SampledFrom(words).Draw(t, "type")
		}
		values := []any{nil, true, 0, 1.0, 2.5, "a", "", []any{1}, map[string]any{"a": 1}}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"enum", "const", "default", "minimum", "exclusiveMinimum", "maximum", "multipleOf",
			"minLength", "maxItems", "uniqueItems", "nullable", "pattern", "required", "description", "$ref", "examples",
			"minProperties", "maxProperties"}), 0, 3, rapid.ID).Draw(t, "keys") {
			switch key {
			case "enum", "examples":
				s[key] = rapid.SliceOfN(rapid.SampledFrom(values), 0, 4).Draw(t, key)
			case "required":
				if rapid.IntRange(0, 4).Draw(t, "draft 3") == 0 {
					s[key] = rapid.Bool().Draw(t, key)
				} else {
					s[key] = rapid.SliceOfN(rapid.SampledFrom([]any{"a", "b", "c", 5}), 0, 3).Draw(t, key)
				}
			case "$ref":
				s[key] = rapid.SampledFrom([]any{"#", "#/$defs/d", "#/properties/a", "#/nowhere", "other.json"}).Draw(t, key)
			case "minLength", "maxItems", "multipleOf", "minProperties", "maxProperties":
				s[key] = rapid.SampledFrom([]any{0, 1, 2, 3.0, -1, 0.5, "x"}).Draw(t, key)
			case "uniqueItems", "nullable":
				s[key] = rapid.Bool().Draw(t, key)
			case "pattern":
				s[key] = rapid.SampledFrom([]any{"^[a-z]+$", "(?=x)", "[", "^(ab|c){1,3}$"}).Draw(t, key)
			default:
				s[key] = rapid.SampledFrom(values).Draw(t, key)
			}
		}
		if depth > 0 {
			sub := Schema(depth - 1)
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "not",
				"additionalProperties", "patternProperties", "propertyNames", "additionalItems", "$defs"}), 0, 3, rapid.ID).Draw(t, "parts") {
				switch key {
				case "properties":
					s[key] = rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "type"}), sub, 0, 3).Draw(t, key)
				case "$defs":
					s[key] = map[string]any{"d": sub.Draw(t, key)}
				case "patternProperties":
					s[key] = rapid.MapOfN(rapid.SampledFrom([]string{"^[a-b]$", "c", "(?=x)"}), sub, 0, 2).Draw(t, key)
				case "items":
					if rapid.IntRange(0, 4).Draw(t, "draft 4") == 0 {
						s[key] = rapid.SliceOfN(sub, 0, 3).Draw(t, key)
					} else {
						s[key] = sub.Draw(t, key)
					}
				case "not", "additionalProperties", "propertyNames", "additionalItems":
					s[key] = sub.Draw(t, key)
				default:
					s[key] = rapid.SliceOfN(sub, 0, 3).Draw(t, key)
				}
			}
		}
		return s
	})
}
