// Package schema reads JSON Schemas of tools.
package schema

import (
	"encoding/json"
	"maps"
	"slices"
)

// Arguments returns the names of the arguments of a schema whose arguments can be changed one by one, sorted; none for any other, see
// [github.com/throughline-go/throughline/envharness/components.SchemaDrift].
func Arguments(schema json.RawMessage) []string {
	var s map[string]json.RawMessage
	var args map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || json.Unmarshal(s["properties"], &args) != nil {
		return nil
	}
	plain := []string{"title", "description", "$schema", "$id", "$comment", "$defs", "definitions", "properties"}
	for k, v := range s {
		ok := slices.Contains(plain, k)
		switch k {
		case "type":
			ok = string(v) == `"object"`
		case "additionalProperties":
			ok = string(v) == "true" || string(v) == "false"
		case "required":
			var required []string
			ok = json.Unmarshal(v, &required) == nil
			for _, name := range required {
				_, there := args[name]
				ok = ok && there
			}
		}
		if !ok {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(args))
}
