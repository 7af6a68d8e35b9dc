// Package toolschema writes the parameters of tools as strict model endpoints take them.
package toolschema

import (
	"bytes"
	"encoding/json"
)

// None is the schema of a tool without arguments.
const None = `{"type":"object","properties":{}}`

// Object returns a schema that says of an object that it is one, and which properties it has: OpenAI refuses a whole request for one tool
// that does not, as those without arguments of many MCP servers do not. Both are added only where they are missing, and the rest stays byte
// for byte; no schema and null become [None]. What is no JSON object, or has another type, is returned as it is. O(n).
func Object(schema json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(schema)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return json.RawMessage(None)
	}
	var fields map[string]json.RawMessage
	if trimmed[0] != '{' || json.Unmarshal(trimmed, &fields) != nil {
		return schema
	}
	_, typed := fields["type"]
	_, listed := fields["properties"]
	if typed && string(fields["type"]) != `"object"` || typed && listed {
		return schema
	}
	b := []byte{'{'}
	if !typed {
		b = append(b, `"type":"object",`...)
	}
	if !listed {
		b = append(b, `"properties":{},`...)
	}
	if len(fields) == 0 {
		b = b[:len(b)-1]
	}
	return append(b, trimmed[1:]...)
}
